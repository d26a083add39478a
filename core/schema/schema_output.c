// What the standard's outputs (core, section 12) are made of: while values are validated a unit is kept for each schema and
// each keyword that was applied. A unit stands behind its parent.
#include "json_write.h"
#include "schema_rows.h"

enum { UNITS = 50000, TEXT = 1 << 23 }; // no more units, and no more text of them

static os_unit *os_record__add(os_eval *self, os_unit *parent, os_schema_node *node, const os_json *value) {
  os_record *record = self->record;
  bool lost = parent == NULL && record->units.count > 0; // there was no room for the parent
  os_unit *unit = NULL, **slot = NULL;
  if (!lost && record->units.count < UNITS) unit = OS_ARENA_NEW(self->arena, os_unit);
  if (unit != NULL) slot = OS_PUSH(self->arena, &record->units);
  if (slot == NULL) {
    self->status = OS_LIMIT;
    return NULL;
  }
  *unit = (os_unit){.parent = parent,
                    .index = (uint32_t)record->units.count - 1,
                    .node = node,
                    .value = value,
                    .valid = true};
  return *slot = unit;
}

os_unit *os_record_schema(os_eval *self, const os_frame *above, os_schema_node *node, const os_json *value) {
  if (above == NULL) return os_record__add(self, NULL, node, value);
  const os_json *json = node->json, *holder = json->parent;
  const os_schema_row *row = &above->node->rows[above->row];
  bool own = holder == above->node->json && json != row->value; // then and else stand beside if
  os_unit *unit = os_record__add(self, own ? above->unit : above->row_unit, node, value);
  bool reference = row->keyword->name[0] == '$';
  if (unit == NULL || reference || (holder != row->value && !own)) return unit;
  os_str key =
      os_json_is(holder, OS_JSON_ARRAY) ? os_arena_format(self->arena, "%u", json->order) : os_json_key(json);
  unit->token = os_json_pointer_add(self->arena, OS_STR(""), key);
  return unit;
}

os_unit *os_record_row(os_eval *self, const os_frame *frame, const os_schema_row *row) {
  os_unit *unit = os_record__add(self, frame->unit, frame->node, frame->value);
  if (unit == NULL) return NULL;
  unit->row = row;
  unit->token = os_arena_format(self->arena, "/%s", row->keyword->name);
  return unit;
}

static bool os_record__annotates(const os_frame *frame, const os_json *member) {
  os_str name = os_json_key(member);
  if (name.len > 0 && name.data[0] == '$') return false;
  for (uint32_t i = 0; i < frame->node->row_count; i++)
    if (frame->node->rows[i].value == member) return false;
  for (size_t i = 0; i < OS_SCHEMA_TABLES; i++) {
    for (size_t j = 0; j < os_schema_tables[i]->count; j++) {
      const os_schema_keyword *keyword = &os_schema_tables[i]->rows[j];
      if (!os_str_is(name, keyword->name)) continue;
      bool content =
          os_str_is(name, "contentSchema") && os_json_member(frame->node->json, "contentMediaType") == NULL;
      return keyword->annotates == OS_ANNOTATES_VALUE && !content &&
             (keyword->compile != NULL || keyword->types == 0 ||
              os_json_is(frame->value, (os_json_type)keyword->types));
    }
  }
  return true;
}

void os_record_annotations(os_eval *self, const os_frame *frame) {
  if (frame->unit == NULL) return;
  frame->unit->valid = frame->passed;
  if (!frame->passed || !os_json_is(frame->node->json, OS_JSON_OBJECT)) return;
  if (os_schema_is_name(frame->value)) return;
  OS_JSON_EACH(member, frame->node->json) {
    if (!os_record__annotates(frame, member)) continue;
    os_unit *unit = os_record__add(self, frame->unit, frame->node, frame->value);
    if (unit == NULL) return;
    unit->keyword = member;
    unit->token = os_json_pointer_add(self->arena, OS_STR(""), os_json_key(member));
  }
}

// ---- Writing --------------------------------------------------------------------------------------------------

static void os_record__string(os_text *out, os_str value) {
  os_text_char(out, ',');
  os_json_write_string(out, value);
}

bool os_record_write(const os_record *self, os_arena *arena, os_text *out) {
  os_text_char(out, '[');
  size_t i = 0;
  for (; i < self->units.count && out->len < TEXT; i++) {
    const os_unit *unit = self->units.items[i];
    const os_resource *resource = unit->node->resource;
    os_str place = os_json_pointer(arena, unit->node->json), root = os_json_pointer(arena, resource->root);
    const os_json *annotation = unit->keyword;
    int kind = annotation != NULL  ? 2 + OS_ANNOTATES_VALUE
               : unit->row == NULL ? 0
                                   : 2 + (int)unit->row->keyword->annotates;
    if (kind == 2 + OS_ANNOTATES_VALUE && annotation == NULL) annotation = unit->row->value;
    os_text_format(out, "%s[%d,%d,%d,%u", i == 0 ? "" : ",",
                   unit->parent == NULL ? -1 : (int)unit->parent->index, unit->valid, kind,
                   unit->value->length);
    os_record__string(out, unit->token);
    os_record__string(out, resource->uri);
    os_record__string(out, os_str_slice(place, root.len, place.len));
    os_record__string(out, os_json_pointer(arena, unit->value));
    os_record__string(out, unit->error);
    if (annotation != NULL) {
      os_text_char(out, ',');
      os_json_write_plain(out, resource->document, annotation);
    }
    os_text_char(out, ']');
  }
  os_text_char(out, ']');
  return i == self->units.count;
}
