// A document as an operator schema: what the registry takes.
#include "spec_check.h"

static os_status os_spec__schema_parameters(os_arena *arena, const os_spec_parameter *from, size_t count,
                                            const op_parameter **out, uint16_t *least, uint16_t *most) {
  op_parameter *list = OS_ARENA_ARRAY(arena, count + 1, op_parameter);
  OS_TRY_ALLOC(list);
  *least = 0;
  *most = (uint16_t)count;
  for (size_t i = 0; i < count; i++) {
    bool typed = from[i].type_parameter >= 0;
    list[i] = (op_parameter){.name = from[i].name,
                             .option = from[i].option,
                             .homogeneous = typed,
                             .constraint = (int16_t)from[i].type_parameter};
    if (from[i].option == OP_SINGLE) *least = (uint16_t)(i + 1);
    if (from[i].option == OP_VARIADIC) *most = UINT16_MAX;
  }
  *out = list;
  return OS_OK;
}

static os_status os_spec__schema_allowed(os_arena *arena, const os_spec *self, os_types *types,
                                         const os_spec_attribute *from, op_attribute_schema *to) {
  if (from->allowed == NULL) return OS_OK;
  op_attribute *list = OS_ARENA_ARRAY(arena, from->allowed->length + 1, op_attribute);
  OS_TRY_ALLOC(list);
  to->allowed = list;
  OS_JSON_EACH(value, from->allowed)
  if (to->allowed_count < UINT16_MAX &&
      os_spec_attribute_value(arena, types, &self->document, value, from->kind, &list[to->allowed_count]))
    to->allowed_count++;
  return OS_OK;
}

static os_status os_spec__schema_attributes(os_arena *arena, const os_spec *self, os_types *types,
                                            op_schema *schema) {
  op_attribute_schema *list = OS_ARENA_ARRAY(arena, self->attribute_count + 1, op_attribute_schema);
  OS_TRY_ALLOC(list);
  for (size_t i = 0; i < self->attribute_count; i++) {
    const os_spec_attribute *from = &self->attributes[i];
    list[i] = (op_attribute_schema){.name = from->name, .kind = from->kind, .required = from->required};
    if (from->fallback != NULL)
      list[i].has_default = os_spec_attribute_value(arena, types, &self->document, from->fallback, from->kind,
                                                    &list[i].fallback);
    list[i].fallback.name = from->name;
    OS_TRY(os_spec__schema_allowed(arena, self, types, from, &list[i]));
  }
  schema->attributes = list;
  schema->attribute_count = (uint16_t)self->attribute_count;
  return OS_OK;
}

os_status os_spec_schema(const os_spec *self, os_arena *arena, os_types *types, int since,
                         const op_schema **out) {
  size_t most = self->input_count > self->output_count ? self->input_count : self->output_count;
  if (self->attribute_count > most) most = self->attribute_count;
  if (self->type_parameter_count > most) most = self->type_parameter_count;
  if (most > INT16_MAX) return OS_LIMIT;
  op_schema *schema = OS_ARENA_NEW(arena, op_schema);
  op_type_parameter *parameters = OS_ARENA_ARRAY(arena, self->type_parameter_count + 1, op_type_parameter);
  OS_TRY_ALLOC(schema);
  OS_TRY_ALLOC(parameters);
  *schema = (op_schema){.domain = os_str_is(self->domain, "ai.onnx") ? OS_STR("") : self->domain,
                        .op_type = self->op_type,
                        .overload = self->overload,
                        .since = since > 0 ? since : self->since,
                        .input_count = (uint16_t)self->input_count,
                        .output_count = (uint16_t)self->output_count,
                        .type_parameters = parameters,
                        .type_parameter_count = (uint16_t)self->type_parameter_count,
                        .source = "spec"};
  for (size_t i = 0; i < self->type_parameter_count; i++) {
    const os_spec_type_parameter *from = &self->type_parameters[i];
    size_t count = from->count > UINT16_MAX ? UINT16_MAX : from->count;
    parameters[i] = (op_type_parameter){.label = from->name, .types = from->types, .count = (uint16_t)count};
  }
  OS_TRY(os_spec__schema_parameters(arena, self->inputs, self->input_count, &schema->inputs,
                                    &schema->min_inputs, &schema->max_inputs));
  OS_TRY(os_spec__schema_parameters(arena, self->outputs, self->output_count, &schema->outputs,
                                    &schema->min_outputs, &schema->max_outputs));
  OS_TRY(os_spec__schema_attributes(arena, self, types, schema));
  *out = schema;
  return OS_OK;
}
