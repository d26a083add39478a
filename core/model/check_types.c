#include "checking.h"

#include "format.h"

// Types, of values and in attributes (onnx.proto, TypeProto).

// What one level of a type says, whatever kind it is.
typedef struct os_type_level {
  const char *field; // of TypeProto; NULL = the type says nothing
  bool is_tensor, has_elem, is_map, has_key, has_inner;
  int32_t elem; // or key
  const Onnx__TensorShapeProto *shape;
  const char *inner_field;
  const Onnx__TypeProto *inner;
} os_type_level;

#define TENSOR_LEVEL(name)                                                                                   \
  (os_type_level) {                                                                                          \
    .field = #name, .is_tensor = true, .has_elem = type->name->has_elem_type, .elem = type->name->elem_type, \
    .shape = type->name->shape                                                                               \
  }

static os_type_level os_type__level(const Onnx__TypeProto *type) {
  switch (type->value_case) {
  case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE: return TENSOR_LEVEL(tensor_type);
  case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE: return TENSOR_LEVEL(sparse_tensor_type);
  case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
    return (os_type_level){.field = "sequence_type",
                           .has_inner = true,
                           .inner_field = "elem_type",
                           .inner = type->sequence_type->elem_type};
  case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
    return (os_type_level){.field = "optional_type",
                           .has_inner = true,
                           .inner_field = "elem_type",
                           .inner = type->optional_type->elem_type};
  case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
    return (os_type_level){.field = "map_type",
                           .is_map = true,
                           .has_key = type->map_type->has_key_type,
                           .elem = type->map_type->key_type,
                           .has_inner = true,
                           .inner_field = "value_type",
                           .inner = type->map_type->value_type};
  case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE: return (os_type_level){.field = "opaque_type"};
  default: return (os_type_level){0};
  }
}

const char *os_type_lacks(const Onnx__TypeProto *type) {
  if (type == NULL) return "no type";
  os_type_level level = os_type__level(type);
  if (level.field == NULL) return "no type";
  if (level.is_tensor && !level.has_elem) return "no element type";
  if (level.is_map && !level.has_key) return "no key type of the map";
  if (!level.has_inner || level.inner != NULL) return NULL;
  if (level.is_map) return "no value type of the map";
  return type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE ? "no element type of the sequence"
                                                                   : "no element type of the optional";
}

// Where a level of the type is, cut when it is nested very deep.
static void os_type__place(const os_type_check *self, os_finding *finding, const Onnx__TypeProto *at,
                           const char *last, const void *message) {
  char path[140];
  size_t room = sizeof path;
  size_t len = (size_t)(self->field == NULL
                            ? os_format(path, room, "%s", self->rest)
                            : os_format(path, room, "%s[%zu]%s", self->field, self->index, self->rest));
  if (self->part > 0) len += (size_t)os_format(path + len, room - len, "[%zu]", self->part - 1);
  for (const Onnx__TypeProto *type = self->type; type != NULL && len + 60 < room;) {
    os_type_level level = os_type__level(type);
    if (level.field == NULL) break;
    if (type == at && last[0] == 0) break;
    if (type == at) {
      os_format(path + len, room - len, ".%s%s", level.field, last);
      break;
    }
    len += (size_t)os_format(path + len, room - len, ".%s.%s", level.field, level.inner_field);
    type = level.inner;
  }
  os_spot spot = self->spot;
  if (message != NULL) spot.message = message;
  os_finding_place(self->checking->report, finding, spot, "%s", path);
}

enum { MOST_SOUGHT = 20 }; // findings after which no search through all nodes is worth it

static bool os_type__is_read(const os_type_check *self, int32_t value) {
  const op_graph *graph = &self->spot.graph->graph;
  if (self->checking->report->findings.count > MOST_SOUGHT) return true;
  for (uint32_t i = 0; i < graph->node_count; i++)
    for (uint32_t j = 0; j < graph->nodes[i].input_count; j++)
      if (graph->nodes[i].inputs[j] == value) return true;
  return false;
}

// Of an element type that does not exist, 0 for one that is not said. onnx.checker looks at it only when it infers, and then
// only at that of a value which a node reads or makes; where a node makes the value, 0 is no fault.
static os_severity os_type__severity(const os_type_check *self, int32_t elem) {
  const os_graph_index *graph = self->spot.graph;
  if (!self->checking->full || self->field == NULL) return OS_WARNING;
  int32_t number = os_graph_find_value(&graph->graph, self->name);
  if (number == OS_ABSENT) return OS_WARNING;
  const os_graph_value *value = &graph->graph.values[number];
  if (value->declared == NULL || value->declared->type != self->type) return OS_WARNING;
  if (value->origin == OS_FROM_NODE) return elem == 0 ? OS_WARNING : OS_ERROR;
  if (elem == 0 && graph != self->checking->top) return OS_WARNING;
  return os_type__is_read(self, number) ? OS_ERROR : OS_WARNING;
}

static void os_type__elem(const os_type_check *self, const Onnx__TypeProto *type,
                          const os_type_level *level) {
  os_report *report = self->checking->report;
  const os_elem_info *info = os_elem_info_of(level->elem);
  const char *last = level->is_map ? ".key_type" : ".elem_type";
  if (info == NULL) {
    os_finding *finding =
        os_report_add_as(report, &os_rule_model_value_elem_type, os_type__severity(self, level->elem),
                         "element type %d of \"%.*s\" does not exist", level->elem, OS_ARG(self->name));
    os_type__place(self, finding, type, last, NULL);
  } else if (level->is_map && !os_elem_is_key(level->elem)) {
    os_finding *finding = os_report_add(report, &os_rule_model_type_key, "keys of a map of \"%.*s\" are %s",
                                        OS_ARG(self->name), info->onnx);
    finding->expected = OS_STR("an integer type of 8 to 64 bits, or string");
    finding->actual = os_str_of(info->onnx);
    os_type__place(self, finding, type, last, NULL);
  }
}

static void os_type__shape(const os_type_check *self, const Onnx__TypeProto *type,
                           const Onnx__TensorShapeProto *shape) {
  for (size_t i = 0; shape != NULL && i < shape->n_dim; i++) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    bool negative =
        dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dim->dim_value < 0;
    bool star = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                os_str_is(os_bytes_str(dim->dim_param), "*");
    if (!negative && !star) continue;
    os_report *report = self->checking->report;
    os_finding *finding =
        negative ? os_report_add(report, &os_rule_model_value_dim, "dim %zu of \"%.*s\" is %lld", i,
                                 OS_ARG(self->name), (long long)dim->dim_value)
                 : os_report_add(report, &os_rule_model_value_dim,
                                 "dim %zu of \"%.*s\" is called \"*\", and a number of dims cannot be left "
                                 "open by a name; without `shape` the rank is not known",
                                 i, OS_ARG(self->name));
    char last[40];
    os_format(last, sizeof last, ".shape.dim[%zu]", i);
    os_type__place(self, finding, type, last, dim);
  }
}

// Types nest no deeper than the decoder lets messages nest.
void os_check_type(const os_type_check *self) {
  bool told = self->told;
  for (const Onnx__TypeProto *type = self->type; type != NULL; told = false) {
    os_type_level level = os_type__level(type);
    // A value may have no type at all, but a type that is there says what it is.
    const char *lacks = told || (level.field == NULL && type == self->type) ? NULL : os_type_lacks(type);
    if (lacks != NULL) {
      os_finding *finding =
          os_report_add_as(self->checking->report, &os_rule_model_type_incomplete, os_type__severity(self, 0),
                           "the type of \"%.*s\" says %s", OS_ARG(self->name), lacks);
      os_type__place(self, finding, type, "", NULL);
    }
    if (level.has_elem || level.has_key) os_type__elem(self, type, &level);
    if (level.shape != NULL) os_type__shape(self, type, level.shape);
    if (type->value_case == ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE &&
        type->opaque_type->base.n_unknown_fields > 0) {
      os_spot spot = self->spot;
      spot.message = type->opaque_type;
      os_check_reserved(self->checking, &type->opaque_type->base, spot,
                        self->field == NULL ? "" : self->field, (int64_t)self->index);
    }
    type = level.inner;
  }
}
