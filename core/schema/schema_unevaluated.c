// unevaluatedProperties and unevaluatedItems: schemas for what no other part of a schema that fits has looked at. What was
// looked at stands in os_eval.evaluated; it is kept only for schemas that such a keyword can ask about.
#include "schema_rows.h"

static os_status os_unevaluated__compile(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  row->as.one.node = os_compile_node(self, row->value);
  return row->as.one.node == NULL && !self->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

// Elements are marked by their index, members by their address.
static bool os_unevaluated__known(os_eval *self, os_frame *frame) {
  size_t count = self->evaluated.count - frame->evaluated;
  const os_json **items = count == 0 ? NULL : self->evaluated.items + frame->evaluated;
  os_eval_work(self, 4 * count);
  frame->known = NULL;
  if (os_json_is(frame->value, OS_JSON_ARRAY)) {
    frame->marks = OS_ARENA_ARRAY(self->arena, frame->value->length + 1, uint8_t);
    for (size_t i = 0; i < count && frame->marks != NULL; i++)
      if (items[i]->parent == frame->value) frame->marks[items[i]->order] = 1;
    return frame->marks != NULL;
  }
  frame->known = OS_ARENA_NEW(self->arena, os_map);
  if (frame->known == NULL) return false;
  os_map_init(frame->known, self->arena);
  for (size_t i = 0; i < count; i++)
    if (os_map_put(frame->known, (os_str){(const char *)&items[i], sizeof *items}, NULL) == NULL)
      return false;
  return true;
}

static bool os_unevaluated__is_known(const os_frame *frame, const os_json *child) {
  if (frame->known == NULL) return frame->marks[child->order] != 0;
  return os_map_get(frame->known, (os_str){(const char *)&child, sizeof child}) != NULL;
}

static os_step os_unevaluated__next(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step == 0) {
    if (!os_unevaluated__known(self, frame)) self->status = OS_OUT_OF_MEMORY;
  } else if (!passed)
    frame->passed = false;
  while ((frame->passed || frame->report != NULL) && self->status == OS_OK) {
    const os_json *child = os_frame_next_child(frame);
    if (child == NULL) break;
    if (os_unevaluated__is_known(frame, child)) continue;
    if (!row->as.one.node->never || self->record != NULL)
      return os_eval_call(self, row->as.one.node, child, frame->report);
    const os_schema_row *properties = os_schema_row_of(frame->node, "properties");
    os_eval_surplus(self, frame, row, properties == NULL ? NULL : &properties->as.list.entries, child);
  }
  return OS_STEP_DONE;
}

static const os_schema_keyword unevaluated[] = {
    {.name = "unevaluatedItems",
     .types = cJSON_Array,
     .rule = &os_rule_schema_unevaluated_items,
     .compile = os_unevaluated__compile,
     .next = os_unevaluated__next,
     .holds = OS_HOLDS_NODE,
     .vocabulary = OS_VOCABULARY_UNEVALUATED,
     .annotates = OS_ANNOTATES_CHILDREN},
    {.name = "unevaluatedProperties",
     .types = cJSON_Object,
     .rule = &os_rule_schema_unevaluated_properties,
     .compile = os_unevaluated__compile,
     .next = os_unevaluated__next,
     .holds = OS_HOLDS_NODE,
     .vocabulary = OS_VOCABULARY_UNEVALUATED,
     .annotates = OS_ANNOTATES_CHILDREN},
};
const os_schema_table os_schema_unevaluated = {unevaluated, sizeof unevaluated / sizeof *unevaluated};
