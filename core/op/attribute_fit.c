#include "attribute_fit.h"

static bool op_attribute__equal(const op_attribute *a, const op_attribute *b) {
  bool same = a->count == b->count;
  switch (a->kind) {
  case OP_ATTR_FLOAT: return a->as.f == b->as.f;
  case OP_ATTR_INT: return a->as.i == b->as.i;
  case OP_ATTR_STRING: return os_str_eq(a->as.s, b->as.s);
  case OP_ATTR_FLOATS:
    for (uint32_t i = 0; same && i < a->count; i++) same = a->as.floats[i] == b->as.floats[i];
    return same;
  case OP_ATTR_INTS:
    for (uint32_t i = 0; same && i < a->count; i++) same = a->as.ints[i] == b->as.ints[i];
    return same;
  case OP_ATTR_STRINGS:
    for (uint32_t i = 0; same && i < a->count; i++) same = os_str_eq(a->as.strings[i], b->as.strings[i]);
    return same;
  default: return true; // documents list no others
  }
}

bool op_attribute_allowed(const op_attribute_schema *self, const op_attribute *value) {
  for (uint16_t i = 0; i < self->allowed_count; i++)
    if (op_attribute__equal(&self->allowed[i], value)) return true;
  return self->allowed_count == 0;
}

os_str op_attributes_fault(const op_node *node, os_arena *arena) {
  const op_schema *schema = node->schema;
  if (schema == NULL || schema->standard) return OS_STR("");
  for (uint32_t i = 0; i < node->attribute_count; i++) {
    const op_attribute *attribute = &node->attributes[i];
    const op_attribute_schema *declared = op_schema_attribute(schema, attribute->name);
    if (declared == NULL && os_str_starts(attribute->name, OS_STR("__"))) continue;
    if (declared == NULL)
      return os_arena_format(arena, "%.*s has no attribute \"%.*s\"", OS_ARG(node->op_type),
                             OS_ARG(attribute->name));
    if (declared->kind != attribute->kind)
      return os_arena_format(arena, "the attribute \"%.*s\" of %.*s is %s, and must be %s",
                             OS_ARG(attribute->name), OS_ARG(node->op_type),
                             op_attr_kind_name(attribute->kind), op_attr_kind_name(declared->kind));
    if (!op_attribute_allowed(declared, attribute))
      return os_arena_format(arena, "the attribute \"%.*s\" of %.*s has a value that is not allowed",
                             OS_ARG(attribute->name), OS_ARG(node->op_type));
  }
  for (uint16_t i = 0; i < schema->attribute_count; i++)
    if (schema->attributes[i].required && os_node_attribute(node, schema->attributes[i].name) == NULL)
      return os_arena_format(arena, "%.*s needs the attribute \"%.*s\"", OS_ARG(node->op_type),
                             OS_ARG(schema->attributes[i].name));
  return OS_STR("");
}
