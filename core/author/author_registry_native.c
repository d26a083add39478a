#include "author_registry_native.h"

#include "host_operator.h"
#include "node.h"

#define OPSPEC_AUTHOR_IMPLEMENTATION
#include <opspec/author_registry.h>
#include <opspec/author_roles.h>
#include <string.h>

// Schemas of the author's roles as the core has them, and rows that infer types by signature first.

typedef struct os_author {
  os_arena *arena;
  os_registry *registry;
} os_author;

static op_attr_kind os_author__kind(MLOperatorAttributeType type) {
  static const uint8_t kinds[] = {0, 0, OP_ATTR_FLOAT,  OP_ATTR_INT,  OP_ATTR_STRING,
                                  0, 0, OP_ATTR_FLOATS, OP_ATTR_INTS, OP_ATTR_STRINGS};
  return (op_attr_kind)kinds[type];
}

static op_type os_author__type(os_author *self, const MLOperatorEdgeDescription *edge) {
  op_type type = (op_type)edge->tensorDataType;
  if (edge->edgeType == MLOperatorEdgeType_Tensor) return type;
  return os_types_intern(os_registry_types(self->registry), (os_type){.kind = OS_TYPE_SEQUENCE, .of = type});
}

static os_status os_author__type_parameter(os_author *self, op_type_parameter *out, os_str label,
                                           const MLOperatorEdgeDescription *edges, uint32_t count) {
  op_type *types = OS_ARENA_ARRAY(self->arena, count, op_type);
  OS_TRY_ALLOC(types);
  for (uint32_t i = 0; i < count; i++) types[i] = os_author__type(self, &edges[i]);
  *out = (op_type_parameter){.label = label, .types = types, .count = (uint16_t)count};
  return OS_OK;
}

// A parameter described by an edge gets a type parameter of its own, behind the labelled ones.
static os_status os_author__parameters(os_author *self, op_schema *schema, op_type_parameter *types,
                                       const MLOperatorSchemaDescription *from,
                                       const MLOperatorSchemaEdgeDescription *edges, uint32_t count,
                                       const op_parameter **out, uint16_t *least, uint16_t *most) {
  op_parameter *list = OS_ARENA_ARRAY(self->arena, count + 1, op_parameter);
  OS_TRY_ALLOC(list);
  *least = 0;
  *most = (uint16_t)count;
  for (uint32_t i = 0; i < count; i++) {
    bool input = edges == from->inputs;
    list[i] = (op_parameter){.name = os_arena_format(self->arena, "%s%u", input ? "X" : "Y", i),
                             .option = (op_option)edges[i].options,
                             .homogeneous = true};
    if (edges[i].options == MLOperatorParameterOptions_Single) *least = (uint16_t)(i + 1);
    if (edges[i].options == MLOperatorParameterOptions_Variadic) *most = UINT16_MAX;
    if (edges[i].typeFormat == MLOperatorSchemaEdgeTypeFormat_Label) {
      for (uint32_t j = 0; j < from->typeConstraintCount; j++)
        if (strcmp(from->typeConstraints[j].typeLabel, edges[i].typeLabel) == 0)
          list[i].constraint = (int16_t)j;
      continue;
    }
    list[i].constraint = (int16_t)schema->type_parameter_count;
    OS_TRY(os_author__type_parameter(self, &types[schema->type_parameter_count++], list[i].name,
                                     &edges[i].edgeDescription, 1));
  }
  *out = list;
  return OS_OK;
}

static os_status os_author__default(os_author *self, const MLOperatorAttributeNameValue *value,
                                    op_attribute_schema *to) {
  op_attribute *out = &to->fallback;
  to->has_default = true;
  *out = (op_attribute){.name = to->name, .kind = to->kind, .count = value->valueCount};
  switch (to->kind) {
  case OP_ATTR_INT: out->as.i = value->ints[0]; return OS_OK;
  case OP_ATTR_FLOAT: out->as.f = value->floats[0]; return OS_OK;
  case OP_ATTR_STRING: out->as.s = os_str_of(value->strings[0]); return OS_OK;
  case OP_ATTR_INTS: out->as.ints = value->ints; return OS_OK;
  case OP_ATTR_FLOATS: out->as.floats = value->floats; return OS_OK;
  default: break;
  }
  os_str *strings = OS_ARENA_ARRAY(self->arena, value->valueCount, os_str);
  OS_TRY_ALLOC(strings);
  for (uint32_t i = 0; i < value->valueCount; i++) strings[i] = os_str_of(value->strings[i]);
  out->as.strings = strings;
  return OS_OK;
}

static os_status os_author__attributes(os_author *self, op_schema *schema,
                                       const MLOperatorSchemaDescription *from) {
  op_attribute_schema *list = OS_ARENA_ARRAY(self->arena, from->attributeCount + 1, op_attribute_schema);
  OS_TRY_ALLOC(list);
  for (uint32_t i = 0; i < from->attributeCount; i++) {
    const MLOperatorAttribute *attribute = &from->attributes[i];
    list[i] = (op_attribute_schema){.name = os_str_of(attribute->name),
                                    .kind = os_author__kind(attribute->type),
                                    .required = attribute->required};
    for (uint32_t j = 0; j < from->defaultAttributeCount; j++)
      if (strcmp(from->defaultAttributes[j].name, attribute->name) == 0)
        OS_TRY(os_author__default(self, &from->defaultAttributes[j], &list[i]));
  }
  schema->attributes = list;
  schema->attribute_count = (uint16_t)from->attributeCount;
  return OS_OK;
}

static os_status os_author__schema(os_author *self, const MLOperatorSchemaDescription *from,
                                   const op_row *row, op_schema **out) {
  uint32_t most = from->typeConstraintCount + from->inputCount + from->outputCount;
  if (most > INT16_MAX || from->attributeCount > INT16_MAX) return OS_LIMIT;
  op_schema *schema = OS_ARENA_NEW(self->arena, op_schema);
  op_type_parameter *types = OS_ARENA_ARRAY(self->arena, most + 1, op_type_parameter);
  OS_TRY_ALLOC(schema);
  OS_TRY_ALLOC(types);
  *schema = (op_schema){.domain = os_str_of(row->domain),
                        .op_type = os_str_of(row->op_type),
                        .since = row->since,
                        .input_count = (uint16_t)from->inputCount,
                        .output_count = (uint16_t)from->outputCount,
                        .type_parameters = types,
                        .type_parameter_count = (uint16_t)from->typeConstraintCount,
                        .source = "author"};
  for (uint32_t i = 0; i < from->typeConstraintCount; i++) {
    const MLOperatorEdgeTypeConstraint *constraint = &from->typeConstraints[i];
    OS_TRY(os_author__type_parameter(self, &types[i], os_str_of(constraint->typeLabel),
                                     constraint->allowedTypes, constraint->allowedTypeCount));
  }
  OS_TRY(os_author__parameters(self, schema, types, from, from->inputs, from->inputCount, &schema->inputs,
                               &schema->min_inputs, &schema->max_inputs));
  OS_TRY(os_author__parameters(self, schema, types, from, from->outputs, from->outputCount, &schema->outputs,
                               &schema->min_outputs, &schema->max_outputs));
  *out = schema;
  return os_author__attributes(self, schema, from);
}

static os_status os_author__infer(op_infer *ctx) {
  os_infer_by_signature(ctx, op_infer_node(ctx)->schema);
  return MLOperatorInfer__(ctx);
}

static os_status os_author__add(void *context, const MLOperatorSchemaDescription *from, const op_row *row) {
  os_author *self = context;
  op_row *own = OS_ARENA_NEW(self->arena, op_row);
  OS_TRY_ALLOC(own);
  *own = *row;
  own->infer = os_author__infer;
  const op_schema *schema = NULL;
  if (from != NULL) {
    op_schema *made = NULL;
    OS_TRY(os_author__schema(self, from, row, &made));
    schema = made;
  } else {
    schema = os_registry_find(self->registry, os_str_of(row->domain), os_str_of(row->op_type), OS_STR(""),
                              row->since)
                 .schema;
    if (schema == NULL) return OS_UNSUPPORTED;
  }
  own->schema = schema;
  return os_registry_add(self->registry, schema, own);
}

static void *os_author__allocate(void *context, size_t bytes) {
  return os_arena_zalloc(((os_author *)context)->arena, bytes);
}

MLOperatorRegistry *os_author_registry(os_arena *arena, os_registry *registry) {
  os_author *self = OS_ARENA_NEW(arena, os_author);
  if (self == NULL) return NULL;
  *self = (os_author){arena, registry};
  return MLCreateRegistry(
      &(MLOperatorRegistrar){.context = self, .allocate = os_author__allocate, .add = os_author__add});
}
