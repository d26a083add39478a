// unevaluatedProperties and unevaluatedItems: schemas for what no other part of a schema that fits has looked at. What was
// looked at stands in os_eval.evaluated; it is kept only for schemas that such a keyword can ask about.
#include "schema_rows.h"

// Where a member stands in the table, or would.
static const os_json **os_unevaluated__place(const os_frame *frame, const os_json *member) {
  uint32_t at = (uint32_t)((uintptr_t)member / sizeof *member) * 0x9e3779b1u >> 7;
  for (at &= frame->mask; frame->known[at] != NULL && frame->known[at] != member;)
    at = (at + 1) & frame->mask;
  return &frame->known[at];
}

// Elements are marked by their index, members by their address.
static bool os_unevaluated__known(os_eval *self, os_frame *frame) {
  size_t count = self->evaluated.count - frame->evaluated, length = frame->value->length;
  const os_json **items = count == 0 ? NULL : self->evaluated.items + frame->evaluated;
  bool array = os_json_is(frame->value, OS_JSON_ARRAY);
  os_eval_work(self, count);
  frame->known = NULL;
  frame->mask = 1;
  while (frame->mask < 2 * (count < length ? count : length)) frame->mask = 2 * frame->mask + 1;
  if (array)
    frame->marks = OS_ARENA_ARRAY(self->arena, length + 1, uint8_t);
  else
    frame->known = OS_ARENA_ARRAY(self->arena, (size_t)frame->mask + 1, const os_json *);
  if (array ? frame->marks == NULL : frame->known == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    bool name = !array && items[i]->key_end == 0; // of a member, asked as a value
    if (items[i]->parent != frame->value || name) continue;
    if (array)
      frame->marks[items[i]->order] = 1;
    else
      *os_unevaluated__place(frame, items[i]) = items[i];
  }
  return true;
}

static bool os_unevaluated__is_known(const os_frame *frame, const os_json *child) {
  return frame->known == NULL ? frame->marks[child->order] != 0
                              : *os_unevaluated__place(frame, child) == child;
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
     .compile = os_compile_one,
     .next = os_unevaluated__next,
     .holds = OS_HOLDS_NODE,
     .vocabulary = OS_VOCABULARY_UNEVALUATED,
     .annotates = OS_ANNOTATES_CHILDREN},
    {.name = "unevaluatedProperties",
     .types = cJSON_Object,
     .rule = &os_rule_schema_unevaluated_properties,
     .compile = os_compile_one,
     .next = os_unevaluated__next,
     .holds = OS_HOLDS_NODE,
     .vocabulary = OS_VOCABULARY_UNEVALUATED,
     .annotates = OS_ANNOTATES_CHILDREN},
};
const os_schema_table os_schema_unevaluated = {unevaluated, sizeof unevaluated / sizeof *unevaluated};
