#include "attribute_fit.h"
#include "checking.h"
#include "format.h"
#include "utf8.h"

// Attributes (checker rules G, and D10 to D14).

// The field of each type, as in onnx.proto, AttributeProto.
typedef struct os_attribute_field {
  const char *name;
  bool (*is_set)(const Onnx__AttributeProto *proto, const Onnx__AttributeProto__Rare *rare);
} os_attribute_field;

#define FIELD(name, condition)                                                                              \
  static bool os_field__##name(const Onnx__AttributeProto *proto, const Onnx__AttributeProto__Rare *rare) { \
    (void)proto, (void)rare;                                                                                \
    return (condition);                                                                                     \
  }
FIELD(f, proto->has_f)
FIELD(i, proto->has_i)
FIELD(s, proto->has_s)
FIELD(t, proto->t != NULL)
FIELD(g, rare->g != NULL)
FIELD(floats, rare->n_floats > 0)
FIELD(ints, proto->n_ints > 0)
FIELD(strings, rare->n_strings > 0)
FIELD(tensors, rare->n_tensors > 0)
FIELD(graphs, rare->n_graphs > 0)
FIELD(sparse_tensor, rare->sparse_tensor != NULL)
FIELD(sparse_tensors, rare->n_sparse_tensors > 0)
FIELD(tp, rare->tp != NULL)
FIELD(type_protos, rare->n_type_protos > 0)
#undef FIELD

static const os_attribute_field os_attribute__fields[] = {
    [OP_ATTR_FLOAT] = {"f", os_field__f},
    [OP_ATTR_INT] = {"i", os_field__i},
    [OP_ATTR_STRING] = {"s", os_field__s},
    [OP_ATTR_TENSOR] = {"t", os_field__t},
    [OP_ATTR_GRAPH] = {"g", os_field__g},
    [OP_ATTR_FLOATS] = {"floats", os_field__floats},
    [OP_ATTR_INTS] = {"ints", os_field__ints},
    [OP_ATTR_STRINGS] = {"strings", os_field__strings},
    [OP_ATTR_TENSORS] = {"tensors", os_field__tensors},
    [OP_ATTR_GRAPHS] = {"graphs", os_field__graphs},
    [OP_ATTR_SPARSE] = {"sparse_tensor", os_field__sparse_tensor},
    [OP_ATTR_SPARSES] = {"sparse_tensors", os_field__sparse_tensors},
    [OP_ATTR_TYPE] = {"tp", os_field__tp},
    [OP_ATTR_TYPES] = {"type_protos", os_field__type_protos},
};
enum { FIELD_COUNT = sizeof os_attribute__fields / sizeof *os_attribute__fields };

typedef struct os_attribute_check {
  os_checking *checking;
  os_report *report;
  os_spot spot; // of the attribute
  const Onnx__AttributeProto *proto;
  os_str name;
  size_t index;
} os_attribute_check;

static const char *os_attribute__list(const os_attribute_check *self) {
  return self->spot.node == NULL ? "attribute_proto" : "attribute";
}

static void os_attribute__find(const os_attribute_check *self, os_finding *finding) {
  os_finding_place(self->report, finding, self->spot, "%s[%zu]", os_attribute__list(self), self->index);
}

// ---- Type and value ---------------------------------------------------------------------------------------

static void os_attribute__fields_agree(const os_attribute_check *self) {
  const Onnx__AttributeProto *proto = self->proto;
  int set[2] = {0, 0}, count = 0;
  for (int kind = 1; kind < FIELD_COUNT; kind++)
    if (os_attribute__fields[kind].is_set(proto, os_attribute_rare(proto)) && count++ < 2)
      set[count - 1] = kind;
  if (count > 1)
    os_attribute__find(self,
                       os_report_add(self->report, &os_rule_model_attribute_type,
                                     "the attribute \"%.*s\" has both %s and %s", OS_ARG(self->name),
                                     os_attribute__fields[set[0]].name, os_attribute__fields[set[1]].name));
  else if (count == 1 && proto->has_type && (int)proto->type != set[0])
    os_attribute__find(self,
                       os_report_add(self->report, &os_rule_model_attribute_type,
                                     "the attribute \"%.*s\" is of type %s, and its value is in the field %s",
                                     OS_ARG(self->name), op_attr_kind_name((op_attr_kind)proto->type),
                                     os_attribute__fields[set[0]].name));
  else if (count == 0 && proto->has_type && proto->type == 0)
    os_attribute__find(self,
                       os_report_add_as(self->report, &os_rule_model_attribute_type, OS_WARNING,
                                        "the attribute \"%.*s\" is of type UNDEFINED", OS_ARG(self->name)));
}

static bool os_attribute__needs_message(op_attr_kind kind) {
  return kind == OP_ATTR_TENSOR || kind == OP_ATTR_SPARSE || kind == OP_ATTR_GRAPH || kind == OP_ATTR_TYPE;
}

static bool os_attribute__has_value(const Onnx__AttributeProto *proto) {
  for (int kind = 1; kind < FIELD_COUNT; kind++)
    if (os_attribute__fields[kind].is_set(proto, os_attribute_rare(proto))) return true;
  return false;
}

// Names that the function around the node declares.
static bool os_attribute__declared(const os_graph_index *graph, os_str name) {
  const os_function *function = NULL;
  for (; graph != NULL && function == NULL; graph = os_graph_index_parent(graph)) function = graph->function;
  return function != NULL && os_map_get(&function->attributes, name) != NULL;
}

static void os_attribute__reference(const os_attribute_check *self) {
  const os_graph_index *graph = self->spot.graph;
  os_str name = os_bytes_str(os_attribute_rare(self->proto)->ref_attr_name);
  bool inside = graph->in_function || graph->graph.parent != NULL;
  if (inside && os_attribute__has_value(self->proto))
    os_attribute__find(self,
                       os_report_add_as(self->report, &os_rule_model_attribute_reference,
                                        graph->graph.parent != NULL ? OS_ERROR : OS_WARNING,
                                        "the attribute \"%.*s\" refers to \"%.*s\" and has a value as well",
                                        OS_ARG(self->name), OS_ARG(name)));
  else if (!graph->in_function)
    os_attribute__find(
        self, os_report_add_as(self->report, &os_rule_model_attribute_reference, OS_WARNING,
                               "the attribute \"%.*s\" refers to \"%.*s\" of a call, but there is no "
                               "function around it",
                               OS_ARG(self->name), OS_ARG(name)));
  else if (!os_attribute__declared(graph, name))
    os_attribute__find(
        self, os_report_add_as(self->report, &os_rule_model_attribute_reference, OS_WARNING,
                               "the attribute \"%.*s\" refers to \"%.*s\", which the function does not "
                               "declare",
                               OS_ARG(self->name), OS_ARG(name)));
}

static void os_attribute__type(const os_attribute_check *self) {
  const Onnx__AttributeProto *proto = self->proto;
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto);
  bool reference = rare->ref_attr_name.len > 0;
  bool lone = self->checking->model->proto == NULL;
  if (!proto->has_type && (lone || self->checking->model->ir_version >= 2)) {
    os_attribute__find(self,
                       os_report_add(self->report, &os_rule_model_attribute_type,
                                     "the attribute \"%.*s\" does not say its type", OS_ARG(self->name)));
    return;
  }
  os_attribute__fields_agree(self);
  if (rare->has_ref_attr_name && (reference || self->spot.graph->in_function)) os_attribute__reference(self);
  const op_schema *schema = self->spot.node == NULL ? NULL : self->spot.node->node.schema;
  const op_attribute_schema *declared = schema == NULL ? NULL : op_schema_attribute(schema, self->name);
  op_attr_kind kind = (op_attr_kind)proto->type;
  if (declared != NULL && proto->has_type && declared->kind != kind) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_attribute_type,
                      "the attribute \"%.*s\" of %.*s is %s, and must be %s", OS_ARG(self->name),
                      OS_ARG(schema->op_type), op_attr_kind_name(kind), op_attr_kind_name(declared->kind));
    finding->expected = os_str_of(op_attr_kind_name(declared->kind));
    finding->actual = os_str_of(op_attr_kind_name(kind));
    os_attribute__find(self, finding);
    return;
  }
  if (declared != NULL && !reference && os_attribute__needs_message(kind) &&
      !os_attribute__fields[kind].is_set(proto, os_attribute_rare(proto)))
    os_attribute__find(self, os_report_add(self->report, &os_rule_model_attribute_value,
                                           "the attribute \"%.*s\" is of type %s and has no field %s",
                                           OS_ARG(self->name), op_attr_kind_name(kind),
                                           os_attribute__fields[kind].name));
  const op_attribute *value = declared == NULL || reference || declared->allowed_count == 0
                                  ? NULL
                                  : os_node_attribute(&self->spot.node->node, self->name);
  if (value != NULL && !op_attribute_allowed(declared, value))
    os_attribute__find(self, os_report_add(self->report, &os_rule_model_attribute_value,
                                           "the attribute \"%.*s\" of %.*s has a value that is not allowed",
                                           OS_ARG(self->name), OS_ARG(schema->op_type)));
}

// ---- Content ----------------------------------------------------------------------------------------------

static void os_attribute__text(const os_attribute_check *self, ProtobufCBinaryData bytes) {
  os_str text = os_bytes_str(bytes);
  size_t valid = os_utf8_valid(text);
  if (valid == text.len) return;
  char hex[3 * 16 + 1] = "";
  for (size_t i = 0, at = 0; i < 16 && i < text.len; i++)
    at +=
        (size_t)os_format(hex + at, sizeof hex - at, i == 0 ? "%02x" : " %02x", (unsigned char)text.data[i]);
  os_attribute__find(self, os_report_add(self->report, &os_rule_model_attribute_utf8,
                                         "the attribute \"%.*s\" is not UTF-8 from byte %zu on: %s%s",
                                         OS_ARG(self->name), valid, hex, text.len > 16 ? " ..." : ""));
}

static void os_attribute__types(const os_attribute_check *self) {
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(self->proto);
  char where[80];
  os_format(where, sizeof where, "%s[%zu].tp", os_attribute__list(self), self->index);
  os_type_check check = {.checking = self->checking, .name = self->name, .spot = self->spot, .rest = where};
  if (rare->tp != NULL) {
    check.type = rare->tp;
    os_check_type(&check);
  }
  os_format(where, sizeof where, "%s[%zu].type_protos", os_attribute__list(self), self->index);
  for (size_t i = 0; i < rare->n_type_protos; i++) {
    check.part = i + 1;
    check.type = rare->type_protos[i];
    os_check_type(&check);
  }
}

static os_status os_attribute__content(const os_attribute_check *self) {
  const Onnx__AttributeProto *proto = self->proto;
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto);
  os_data_check *data = &self->checking->data;
  os_attribute__text(self, proto->s);
  for (size_t i = 0; i < rare->n_strings; i++) os_attribute__text(self, rare->strings[i]);
  if (rare->tp != NULL || rare->n_type_protos > 0) os_attribute__types(self);
  if (proto->t == NULL && rare->sparse_tensor == NULL && rare->n_tensors == 0 && rare->n_sparse_tensors == 0)
    return OS_OK;
  os_str where = self->spot.graph->graph.path;
  if (self->spot.node != NULL)
    where = os_model_path(self->report->arena, where, "node[%u].attribute[%zu]", self->spot.node->node.index,
                          self->index);
  else
    where = os_model_path(self->report->arena, where, "attribute_proto[%zu]", self->index);
  os_path base = {NULL, where, -1};
  if (proto->t != NULL) OS_TRY(os_tensor_check(data, proto->t, &(os_path){&base, OS_STR("t"), -1}));
  if (rare->sparse_tensor != NULL)
    OS_TRY(os_sparse_check(data, rare->sparse_tensor, &(os_path){&base, OS_STR("sparse_tensor"), -1}));
  for (size_t i = 0; i < rare->n_tensors; i++)
    OS_TRY(os_tensor_check(data, rare->tensors[i], &(os_path){&base, OS_STR("tensors"), (int64_t)i}));
  for (size_t i = 0; i < rare->n_sparse_tensors; i++)
    OS_TRY(os_sparse_check(data, rare->sparse_tensors[i],
                           &(os_path){&base, OS_STR("sparse_tensors"), (int64_t)i}));
  return OS_OK;
}

static os_status os_attribute__check(const os_attribute_check *self) {
  if (self->name.len == 0)
    os_attribute__find(
        self, os_report_add(self->report, &os_rule_model_attribute_name, "an attribute has no name"));
  os_check_reserved(self->checking, &self->proto->base, self->spot, os_attribute__list(self),
                    (int64_t)self->index);
  os_attribute__type(self);
  return os_attribute__content(self);
}

// ---- Those of a node --------------------------------------------------------------------------------------

static os_str os_attribute__near(const op_schema *schema, os_str name) {
  os_str nearest = OS_STR("");
  unsigned best = name.len < 5 ? 1 : 2;
  for (uint16_t i = 0; i < schema->attribute_count; i++) {
    unsigned distance = os_str_distance(name, schema->attributes[i].name, best);
    if (distance > best || (distance == best && nearest.len > 0)) continue;
    nearest = schema->attributes[i].name;
    best = distance;
  }
  return nearest;
}

static void os_attribute__known(const os_attribute_check *self, const op_schema *schema) {
  if (self->name.len == 0 || os_str_starts(self->name, OS_STR("__"))) return;
  if (op_schema_attribute(schema, self->name) != NULL) return;
  os_str near = os_attribute__near(schema, self->name);
  os_finding *finding =
      near.len > 0 ? os_report_add(self->report, &os_rule_model_attribute_unknown,
                                   "%.*s of version %d has no attribute \"%.*s\"; did you mean \"%.*s\"?",
                                   OS_ARG(schema->op_type), schema->since, OS_ARG(self->name), OS_ARG(near))
                   : os_report_add(self->report, &os_rule_model_attribute_unknown,
                                   "%.*s of version %d has no attribute \"%.*s\"", OS_ARG(schema->op_type),
                                   schema->since, OS_ARG(self->name));
  os_attribute__find(self, finding);
}

static void os_attribute__required(os_checking *self, const os_graph_index *graph,
                                   const os_graph_node *node) {
  const op_schema *schema = node->node.schema;
  for (uint16_t i = 0; i < schema->attribute_count; i++) {
    if (!schema->attributes[i].required) continue;
    bool there = false;
    for (size_t j = 0; j < node->proto->n_attribute && !there; j++)
      there = os_str_eq(os_bytes_str(node->proto->attribute[j]->name), schema->attributes[i].name);
    if (there) continue;
    os_finding *finding = os_report_add(
        self->report, &os_rule_model_attribute_required, "%.*s needs the attribute \"%.*s\"",
        OS_ARG(os_node_label(self->report->arena, &node->node)), OS_ARG(schema->attributes[i].name));
    os_finding_place(self->report, finding, (os_spot){graph, node, NULL}, "%s", "");
  }
}

enum { FEW = 16 };

// Does an attribute before `index` have the same name? With many attributes names go through a map.
static os_status os_attribute__twice(const os_attribute_check *self, os_map *names, bool *twice) {
  *twice = false;
  const Onnx__NodeProto *node = self->spot.node->proto;
  if (node->n_attribute <= FEW) {
    for (size_t i = 0; i < self->index && !*twice; i++)
      *twice = os_str_eq(os_bytes_str(node->attribute[i]->name), self->name);
    return OS_OK;
  }
  bool added;
  OS_TRY_ALLOC(os_map_put(names, self->name, &added));
  *twice = !added;
  return OS_OK;
}

os_status os_check_node_attributes(os_checking *self, const os_graph_index *graph,
                                   const os_graph_node *node) {
  const Onnx__NodeProto *proto = node->proto;
  const op_schema *schema = node->node.schema;
  os_map names;
  os_map_init(&names, self->report->arena);
  for (size_t i = 0; i < proto->n_attribute; i++) {
    OS_TRY(os_check_pause(self));
    os_attribute_check check = {self,
                                self->report,
                                {graph, node, proto->attribute[i]},
                                proto->attribute[i],
                                os_bytes_str(proto->attribute[i]->name),
                                i};
    bool twice;
    OS_TRY(os_attribute__twice(&check, &names, &twice));
    if (twice)
      os_attribute__find(&check, os_report_add(self->report, &os_rule_model_attribute_duplicate,
                                               "the attribute \"%.*s\" comes twice", OS_ARG(check.name)));
    if (schema != NULL && !schema->deprecated) os_attribute__known(&check, schema);
    OS_TRY(os_attribute__check(&check));
  }
  if (schema != NULL && !schema->deprecated) os_attribute__required(self, graph, node);
  return OS_OK;
}

// ---- Those that a function declares -----------------------------------------------------------------------

// onnx.checker does not look at them.
os_status os_check_function_defaults(os_checking *self, const os_function *function) {
  const Onnx__FunctionProto *proto = function->proto;
  os_severity gravest = self->report->gravest;
  os_status status = OS_OK;
  self->report->gravest = OS_WARNING;
  for (size_t i = 0; i < proto->n_attribute_proto && status == OS_OK; i++) {
    const Onnx__AttributeProto *attribute = proto->attribute_proto[i];
    os_attribute_check check = {
        self, self->report, {function->body, NULL, attribute}, attribute, os_bytes_str(attribute->name), i};
    status = os_attribute__check(&check);
  }
  self->report->gravest = gravest;
  return status;
}
