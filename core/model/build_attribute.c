#include "model_find.h"
#include "value_proto.h"

#include <stdlib.h>

// ---- Tensors, decoded when asked for ----------------------------------------------------------------------

static op_value *os_lazy__decode(const os_model_lazy *self) {
  os_model *model = self->model;
  os_tensor_origin origin = os_document_origin(model->document);
  op_value *value = NULL;
  if (self->sparse) {
    os_status status =
        os_value_read_message(self->proto, OS_KIND_SPARSE_TENSOR, origin, model->memory, model->arena,
                              os_registry_types(model->registry), 0, &value, NULL);
    return status == OS_OK ? value : NULL;
  }
  os_tensor_reader reader;
  origin.quiet = true;
  if (os_tensor_open(&reader, self->proto, origin) != OS_OK) return NULL;
  const void *in_place = os_tensor_in_place(&reader);
  if (in_place != NULL)
    return os_value_borrow(model->memory, reader.elem, reader.rank, reader.dims, (void *)(uintptr_t)in_place);
  return os_tensor_value(&reader, model->memory, &value) == OS_OK ? value : NULL;
}

static op_value *os_lazy__load(op_lazy_value *lazy) {
  os_model_lazy *self = (os_model_lazy *)lazy;
  if (self->lazy.value == NULL && !self->failed) {
    self->lazy.value = os_lazy__decode(self);
    self->failed = self->lazy.value == NULL;
  }
  return self->lazy.value;
}

// Type checking and inference get along without the elements of large tensors, and leave those that are outside there.
static const op_tensor *os_lazy__head(op_lazy_value *lazy) {
  enum { MOST = 1024 };
  os_model_lazy *self = (os_model_lazy *)lazy;
  const Onnx__TensorProto *proto = self->proto;
  os_tensor_reader reader;
  if (self->sparse || self->model->document->source.data != NULL) return NULL;
  if (self->head != NULL) return self->head;
  if (os_tensor_open(&reader, proto, os_document_origin(self->model->document)) != OS_OK) return NULL;
  if (reader.count <= MOST || !os_tensor_is_outside(&reader)) return NULL;
  self->head = OS_ARENA_NEW(self->model->arena, op_tensor);
  if (self->head != NULL)
    *self->head =
        (op_tensor){.elem = reader.elem, .rank = reader.rank, .dims = reader.dims, .count = reader.count};
  return self->head;
}

bool os_node_is_readable(const op_node *node) {
  for (uint32_t i = 0; i < node->attribute_count; i++) {
    op_lazy_value *lazy = node->attributes[i].lazy;
    os_model_lazy *self = (os_model_lazy *)lazy;
    os_tensor_reader reader;
    if (self == NULL || self->sparse) continue;
    os_status status = os_tensor_open(&reader, self->proto, os_document_origin(self->model->document));
    if (status == OS_MALFORMED ||
        (status == OS_OK && os_tensor_is_outside(&reader) && lazy->load(lazy) == NULL))
      return false;
  }
  return true;
}

static op_lazy_value *os_lazy__new(os_model *model, const void *proto, bool sparse) {
  os_model_lazy *self = OS_ARENA_NEW(model->arena, os_model_lazy);
  if (self == NULL) return NULL;
  *self = (os_model_lazy){.lazy = {NULL, os_lazy__load, os_lazy__head},
                          .model = model,
                          .proto = proto,
                          .sparse = sparse,
                          .next = model->lazies};
  model->lazies = self;
  return &self->lazy;
}

static os_status os_attribute__values(os_model *model, const void *const *protos, size_t count, bool sparse,
                                      op_attribute *out) {
  const op_value **values = OS_ARENA_ARRAY(model->arena, count, const op_value *);
  OS_TRY_ALLOC(values);
  for (size_t i = 0; i < count; i++) {
    op_lazy_value *lazy = os_lazy__new(model, protos[i], sparse);
    OS_TRY_ALLOC(lazy);
    values[i] = lazy->load(lazy);
  }
  out->as.values = values;
  out->count = (uint32_t)count;
  return OS_OK;
}

// ---- Bodies -----------------------------------------------------------------------------------------------

typedef struct os_attribute_place {
  os_model *model;
  os_graph_index *graph; // NULL: a function's default, which has no place for bodies
  uint32_t node, attribute;
} os_attribute_place;

static os_status os_attribute__body(const os_attribute_place *place, const Onnx__GraphProto *proto,
                                    int64_t index, const op_node *call, const op_graph **out) {
  os_arena *arena = place->model->arena;
  os_str path = place->graph->graph.path;
  path = index < 0 ? os_model_path(arena, path, "node[%u].attribute[%u].g", place->node, place->attribute)
                   : os_model_path(arena, path, "node[%u].attribute[%u].graphs[%lld]", place->node,
                                   place->attribute, (long long)index);
  os_graph_index *body;
  OS_TRY(os_index_new(place->model, place->graph, path, &body));
  body->proto = proto;
  body->owner = place->node;
  body->call = call;
  *out = &body->graph;
  return OS_OK;
}

static os_status os_attribute__bodies(const os_attribute_place *place, Onnx__GraphProto **protos,
                                      size_t count, op_attribute *out) {
  const op_graph **graphs = OS_ARENA_ARRAY(place->model->arena, count, const op_graph *);
  OS_TRY_ALLOC(graphs);
  for (size_t i = 0; i < count; i++)
    OS_TRY(os_attribute__body(place, protos[i], (int64_t)i, place->graph->call, &graphs[i]));
  out->as.graphs = graphs;
  out->count = (uint32_t)count;
  return OS_OK;
}

// ---- One attribute ----------------------------------------------------------------------------------------

// Files of IR version 1 say no type; the field that is set does.
static op_attr_kind os_attribute__kind(const Onnx__AttributeProto *proto) {
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto);
  if (proto->has_type) return (op_attr_kind)proto->type;
  if (proto->has_f) return OP_ATTR_FLOAT;
  if (proto->has_i) return OP_ATTR_INT;
  if (proto->has_s) return OP_ATTR_STRING;
  if (proto->t != NULL) return OP_ATTR_TENSOR;
  if (rare->g != NULL) return OP_ATTR_GRAPH;
  if (rare->n_floats > 0) return OP_ATTR_FLOATS;
  if (proto->n_ints > 0) return OP_ATTR_INTS;
  if (rare->n_strings > 0) return OP_ATTR_STRINGS;
  if (rare->n_tensors > 0) return OP_ATTR_TENSORS;
  return rare->n_graphs > 0 ? OP_ATTR_GRAPHS : OP_ATTR_NONE;
}

static os_status os_attribute__strings(os_model *model, const Onnx__AttributeProto *proto,
                                       op_attribute *out) {
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto);
  os_str *strings = OS_ARENA_ARRAY(model->arena, rare->n_strings, os_str);
  OS_TRY_ALLOC(strings);
  for (size_t i = 0; i < rare->n_strings; i++) strings[i] = os_bytes_str(rare->strings[i]);
  out->as.strings = strings;
  out->count = (uint32_t)rare->n_strings;
  return OS_OK;
}

static os_status os_attribute__types(os_model *model, const Onnx__AttributeProto *proto, op_attribute *out) {
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto);
  op_type *types = OS_ARENA_ARRAY(model->arena, rare->n_type_protos, op_type);
  OS_TRY_ALLOC(types);
  for (size_t i = 0; i < rare->n_type_protos; i++)
    types[i] = os_type_from_proto(os_registry_types(model->registry), rare->type_protos[i]);
  out->as.types = types;
  out->count = (uint32_t)rare->n_type_protos;
  return OS_OK;
}

// *out stays of kind OP_ATTR_NONE where the attribute holds nothing that could be used.
static os_status os_attribute__read(const os_attribute_place *place, const Onnx__AttributeProto *proto,
                                    op_attribute *out) {
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto);
  os_model *model = place->model;
  op_attr_kind kind = os_attribute__kind(proto);
  *out = (op_attribute){.name = os_bytes_str(proto->name)};
  switch (kind) {
  case OP_ATTR_FLOAT: out->as.f = proto->f; break;
  case OP_ATTR_INT: out->as.i = proto->i; break;
  case OP_ATTR_STRING: out->as.s = os_bytes_str(proto->s); break;
  case OP_ATTR_TENSOR:
  case OP_ATTR_SPARSE: {
    const void *message = kind == OP_ATTR_TENSOR ? (const void *)proto->t : (const void *)rare->sparse_tensor;
    if (message == NULL) return OS_OK;
    out->lazy = os_lazy__new(model, message, kind == OP_ATTR_SPARSE);
    OS_TRY_ALLOC(out->lazy);
    break;
  }
  case OP_ATTR_GRAPH:
    if (rare->g == NULL || place->graph == NULL) return OS_OK;
    OS_TRY(os_attribute__body(place, rare->g, -1, place->graph->call, &out->as.graph));
    break;
  case OP_ATTR_FLOATS:
    out->as.floats = rare->floats;
    out->count = (uint32_t)rare->n_floats;
    break;
  case OP_ATTR_INTS:
    out->as.ints = proto->ints;
    out->count = (uint32_t)proto->n_ints;
    break;
  case OP_ATTR_STRINGS: OS_TRY(os_attribute__strings(model, proto, out)); break;
  case OP_ATTR_TENSORS:
    OS_TRY(os_attribute__values(model, (const void *const *)rare->tensors, rare->n_tensors, false, out));
    break;
  case OP_ATTR_SPARSES:
    OS_TRY(os_attribute__values(model, (const void *const *)rare->sparse_tensors, rare->n_sparse_tensors,
                                true, out));
    break;
  case OP_ATTR_GRAPHS:
    if (place->graph == NULL) return OS_OK;
    OS_TRY(os_attribute__bodies(place, rare->graphs, rare->n_graphs, out));
    break;
  case OP_ATTR_TYPE:
    if (rare->tp != NULL) out->as.type = os_type_from_proto(os_registry_types(model->registry), rare->tp);
    break;
  case OP_ATTR_TYPES: OS_TRY(os_attribute__types(model, proto, out)); break;
  default: return OS_OK;
  }
  out->kind = kind;
  return OS_OK;
}

static int os_attribute__order(const void *left, const void *right) {
  return os_str_cmp(((const op_attribute *)left)->name, ((const op_attribute *)right)->name);
}

// An attribute of a function's node that takes its value from the call. What the call passes as a body belongs to the
// caller: its names are looked up again from here, as if it had been written in place.
static os_status os_attribute__bound(const os_attribute_place *place, const Onnx__AttributeProto *proto,
                                     op_attribute *out) {
  const op_node *call = place->graph == NULL ? NULL : place->graph->call;
  *out = (op_attribute){.name = os_bytes_str(proto->name)};
  if (call == NULL) return OS_OK;
  const op_attribute *bound = os_node_attribute(call, os_bytes_str(os_attribute_rare(proto)->ref_attr_name));
  if (bound == NULL) return OS_OK;
  out->kind = bound->kind;
  out->count = bound->count;
  out->as = bound->as;
  out->lazy = bound->lazy;
  if (out->kind == OP_ATTR_GRAPH) {
    const os_graph_index *body = os_graph_index_of(out->as.graph);
    OS_TRY(os_attribute__body(place, body->proto, -1, body->call, &out->as.graph));
  }
  if (out->kind == OP_ATTR_GRAPHS) out->kind = OP_ATTR_NONE;
  return OS_OK;
}

// ---- Those of a node --------------------------------------------------------------------------------------

static bool os_attribute__has(const op_attribute *attributes, uint32_t count, os_str name) {
  op_attribute wanted = {.name = name};
  return bsearch(&wanted, attributes, count, sizeof *attributes, os_attribute__order) != NULL;
}

// Appends the defaults of what is not written.
static uint32_t os_attribute__defaults(op_attribute *attributes, uint32_t count, const op_schema *schema,
                                       const os_function *function) {
  uint32_t written = count;
  for (uint16_t i = 0; schema != NULL && i < schema->attribute_count; i++)
    if (schema->attributes[i].has_default &&
        !os_attribute__has(attributes, written, schema->attributes[i].name))
      attributes[count++] = schema->attributes[i].fallback;
  for (uint32_t i = 0; schema == NULL && function != NULL && i < function->default_count; i++)
    if (!os_attribute__has(attributes, written, function->defaults[i].name))
      attributes[count++] = function->defaults[i];
  return count;
}

os_status os_index_attributes(os_model *model, os_graph_index *graph, os_graph_node *node,
                              const os_function *function) {
  const Onnx__NodeProto *proto = node->proto;
  const op_schema *schema = node->node.schema;
  size_t room = proto->n_attribute;
  if (schema != NULL)
    room += schema->attribute_count;
  else if (function != NULL)
    room += function->default_count;
  if (room == 0) return OS_OK;
  op_attribute *attributes = OS_ARENA_ARRAY(model->arena, room, op_attribute);
  OS_TRY_ALLOC(attributes);
  uint32_t count = 0;
  os_attribute_place place = {model, graph, node->node.index, 0};
  for (size_t i = 0; i < proto->n_attribute; i++) {
    const Onnx__AttributeProto *attribute = proto->attribute[i];
    place.attribute = (uint32_t)i;
    bool bound = graph->in_function && os_attribute_rare(attribute)->ref_attr_name.len > 0;
    OS_TRY(bound ? os_attribute__bound(&place, attribute, &attributes[count])
                 : os_attribute__read(&place, attribute, &attributes[count]));
    if (attributes[count].kind != OP_ATTR_NONE && attributes[count].name.len > 0) count++;
  }
  if (count > 1) qsort(attributes, count, sizeof *attributes, os_attribute__order);
  uint32_t all = os_attribute__defaults(attributes, count, schema, function);
  if (all > count && all > 1) qsort(attributes, all, sizeof *attributes, os_attribute__order);
  node->node.attributes = attributes;
  node->node.attribute_count = all;
  return OS_OK;
}

os_status os_attributes_defaults(os_model *model, os_function *function) {
  const Onnx__FunctionProto *proto = function->proto;
  if (proto->n_attribute_proto == 0) return OS_OK;
  op_attribute *attributes = OS_ARENA_ARRAY(model->arena, proto->n_attribute_proto, op_attribute);
  OS_TRY_ALLOC(attributes);
  os_attribute_place place = {model, NULL, 0, 0};
  for (size_t i = 0; i < proto->n_attribute_proto; i++) {
    OS_TRY(os_attribute__read(&place, proto->attribute_proto[i], &attributes[function->default_count]));
    function->default_count += attributes[function->default_count].kind != OP_ATTR_NONE;
  }
  qsort(attributes, function->default_count, sizeof *attributes, os_attribute__order);
  function->defaults = attributes;
  return OS_OK;
}
