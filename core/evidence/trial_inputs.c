#include "trial_inputs.h"

#include "evidence_value.h"
#include "inference.h"
#include "single_node.h"
#include "value_proto.h"

enum { OS_TRIAL_FILES = 4096 };

#define OS_TRIAL_FAULT(self, ...) ((self)->fault = os_arena_format((self)->arena, __VA_ARGS__), OS_MALFORMED)

typedef struct os_trial__list {
  op_value **items;
  size_t count, room;
} os_trial__list;

// ---- Values of an evidence document -----------------------------------------------------------------------

static os_status os_trial__read_document(os_trial_values *self, const char *member, op_value ***items,
                                         size_t *count) {
  const os_json_document *document = &self->item->document;
  const os_json *list = os_json_member(document->root, member);
  os_types *types = os_registry_types(self->registry);
  if (!os_json_is(list, OS_JSON_ARRAY)) return OS_OK;
  *items = OS_ARENA_ARRAY(self->arena, (size_t)list->length + 1, op_value *);
  OS_TRY_ALLOC(*items);
  OS_JSON_EACH(node, list) {
    os_evidence_fault fault;
    os_status status =
        os_evidence_value(self->memory, self->arena, types, document, node, &(*items)[*count], &fault);
    if (status == OS_MALFORMED) {
      os_str where = os_json_pointer(self->arena, fault.node);
      return OS_TRIAL_FAULT(self, "%.*s: %.*s", OS_ARG(where), OS_ARG(fault.message));
    }
    OS_TRY(status);
    (*count)++;
  }
  return OS_OK;
}

// ---- Values of a data set ---------------------------------------------------------------------------------

static os_kind os_trial__kind_of(const os_types *types, op_type type) {
  switch (os_types_get(types, type).kind) {
  case OS_TYPE_TENSOR: return OS_KIND_TENSOR;
  case OS_TYPE_SPARSE: return OS_KIND_SPARSE_TENSOR;
  case OS_TYPE_SEQUENCE: return OS_KIND_SEQUENCE;
  case OS_TYPE_MAP: return OS_KIND_MAP;
  case OS_TYPE_OPTIONAL: return OS_KIND_OPTIONAL;
  default: return OS_KIND_UNKNOWN;
  }
}

static os_status os_trial__open_beside(void *context, os_str location, os_source *out,
                                       os_external_state *state) {
  const os_trial_beside *self = context;
  size_t end = self->name.len;
  while (end > 0 && self->name.data[end - 1] != '/') end--;
  os_str name = os_arena_format(self->arena, "%.*s%.*s", (int)end, self->name.data, OS_ARG(location));
  os_file file;
  OS_TRY(os_bundle_find(self->files, name, &file));
  *state = file.state == OS_FILE_BYTES     ? OS_EXTERNAL_FOUND
           : file.state == OS_FILE_MISSING ? OS_EXTERNAL_MISSING
                                           : OS_EXTERNAL_UNREADABLE;
  *out = os_source_memory(file.bytes.data, file.bytes.len);
  return OS_OK;
}

os_external os_trial_external(os_trial_beside *beside) {
  return (os_external){beside->files == NULL ? NULL : os_trial__open_beside, beside};
}

// type 0: the kind is found by content.
static os_status os_trial__read_file(os_trial_values *self, const os_file *file, op_type type,
                                     op_value **out) {
  os_types *types = os_registry_types(self->registry);
  os_source source = os_source_memory(file->bytes.data, file->bytes.len);
  os_trial_beside beside = {self->arena, self->item->files, file->name};
  os_document_options options = {.as = os_trial__kind_of(types, type),
                                 .external = os_trial_external(&beside)};
  os_report report;
  os_report_init(&report, self->arena, false, 0);
  os_document *document;
  os_str trouble = {"", 0};
  os_status status = os_document_open(self->memory, &source, &options, &report, &document);
  if (status == OS_OK) {
    status = os_value_read(document, self->memory, types, type, out, &trouble);
    if (trouble.len > 0) trouble = os_arena_copy(self->arena, trouble);
    os_document_close(document);
  } else if (report.findings.count > 0) {
    trouble = report.findings.items[0]->message;
  }
  if (status == OS_OK || status == OS_OUT_OF_MEMORY) return status;
  return OS_TRIAL_FAULT(self, "%.*s: %.*s", OS_ARG(file->name), OS_ARG(trouble));
}

// types NULL: none are known.
static os_status os_trial__read_set(os_trial_values *self, const char *stem, const op_type *types,
                                    size_t type_count, os_trial__list *out) {
  for (size_t i = 0; i < OS_TRIAL_FILES; i++) {
    os_file file;
    OS_TRY(os_case_file(self->item, self->arena, stem, i, &file));
    if (file.state == OS_FILE_MISSING) return OS_OK;
    if (file.state != OS_FILE_BYTES) return OS_TRIAL_FAULT(self, "%.*s cannot be read", OS_ARG(file.name));
    if (types != NULL && i >= type_count)
      return OS_TRIAL_FAULT(self, "%.*s: the model has only %zu %ss", OS_ARG(file.name), type_count, stem);
    op_value **item = OS_PUSH(self->arena, out);
    OS_TRY_ALLOC(item);
    OS_TRY(os_trial__read_file(self, &file, types == NULL ? 0 : types[i], item));
  }
  return OS_OK;
}

// ---- The model of one node --------------------------------------------------------------------------------

static bool os_trial__integer(os_str text, int *out) {
  int64_t value = 0;
  for (size_t i = 0; i < text.len; i++) {
    if (text.data[i] < '0' || text.data[i] > '9' || value > 1000000) return false;
    value = value * 10 + (text.data[i] - '0');
  }
  *out = (int)value;
  return text.len > 0 && value > 0;
}

// Version of the operator set that the node's domain is imported with.
static int os_trial__version(const os_trial_values *self) {
  const os_case *item = self->item;
  int version, standard = os_registry_domain_version(self->registry, item->domain);
  if (standard == 0) return item->spec != NULL ? item->spec->since : 1;
  return item->spec != NULL && os_trial__integer(item->spec->version, &version) ? version : standard;
}

static op_attr_kind os_trial__guess_kind(const os_json *value) {
  const os_json *first = os_json_is(value, OS_JSON_ARRAY) ? os_json_first(value) : value;
  bool list = os_json_is(value, OS_JSON_ARRAY);
  if (os_json_is(first, OS_JSON_STRING)) return list ? OP_ATTR_STRINGS : OP_ATTR_STRING;
  if (os_json_is(first, OS_JSON_NUMBER) && (first->flags & OS_JSON_INTEGER) == 0)
    return list ? OP_ATTR_FLOATS : OP_ATTR_FLOAT;
  if (os_json_is(first, OS_JSON_OBJECT)) return list ? OP_ATTR_TENSORS : OP_ATTR_TENSOR;
  return list ? OP_ATTR_INTS : OP_ATTR_INT;
}

// Attributes of the kinds that the operator declares; what it does not declare, or has another kind, as the JSON looks:
// the checker then refuses it.
static os_status os_trial__attributes(os_trial_values *self, const op_schema *schema, os_single_node *node) {
  const os_json_document *document = &self->item->document;
  const os_json *attributes = os_json_member(document->root, "attributes");
  os_types *types = os_registry_types(self->registry);
  if (!os_json_is(attributes, OS_JSON_OBJECT)) return OS_OK;
  op_attribute *items = OS_ARENA_ARRAY(self->arena, (size_t)attributes->length + 1, op_attribute);
  OS_TRY_ALLOC(items);
  node->attributes = items;
  OS_JSON_EACH(value, attributes) {
    op_attribute *item = &items[node->attribute_count];
    os_str name = os_json_key(value);
    op_attr_kind kind = OP_ATTR_NONE;
    for (uint16_t i = 0; schema != NULL && i < schema->attribute_count; i++) {
      if (os_str_eq(schema->attributes[i].name, name)) kind = schema->attributes[i].kind;
    }
    bool right =
        kind != OP_ATTR_NONE && os_spec_attribute_value(self->arena, types, document, value, kind, item);
    if (!right &&
        !os_spec_attribute_value(self->arena, types, document, value, os_trial__guess_kind(value), item))
      return OS_TRIAL_FAULT(self, "attribute %.*s: this value cannot be written", OS_ARG(name));
    item->name = name;
    node->attribute_count++;
  }
  return OS_OK;
}

static op_type os_trial__input_type(const os_trial_values *self, const op_schema *schema, int constraint) {
  for (size_t i = 0; i < self->input_count; i++) {
    if (self->inputs[i] == NULL || schema->input_count == 0) continue;
    size_t parameter = i < schema->input_count ? i : (size_t)schema->input_count - 1;
    if (schema->inputs[parameter].constraint == constraint) return self->inputs[i]->type;
  }
  const op_type_parameter *types = &schema->type_parameters[constraint];
  return types->count > 0 ? types->types[0] : op_type_tensor(OP_FLOAT);
}

// Types of the node's outputs: those of the evidence, or where it expects an error those that the signature gives.
static os_status os_trial__output_types(os_trial_values *self, const op_schema *schema,
                                        os_single_node *node) {
  size_t count = self->output_count;
  if (count == 0) count = schema == NULL || schema->min_outputs == 0 ? 1 : schema->min_outputs;
  op_type *types = OS_ARENA_ARRAY(self->arena, count, op_type);
  OS_TRY_ALLOC(types);
  for (size_t i = 0; i < count; i++) {
    if (self->output_count > 0) {
      types[i] = self->outputs[i] == NULL ? 0 : self->outputs[i]->type;
    } else if (schema != NULL && i < schema->output_count && schema->outputs[i].constraint >= 0) {
      types[i] = os_trial__input_type(self, schema, schema->outputs[i].constraint);
    } else {
      types[i] = op_type_tensor(OP_FLOAT);
    }
  }
  node->outputs = types;
  node->output_count = count;
  return OS_OK;
}

static os_status os_trial__make_model(os_trial_values *self) {
  const os_case *item = self->item;
  os_single_node node = {.domain = item->domain, .op_type = item->op_type, .overload = item->overload};
  node.version = os_trial__version(self);
  node.inputs = self->inputs;
  node.input_count = self->input_count;
  const op_schema *schema =
      os_registry_find(self->registry, item->domain, item->op_type, item->overload, node.version).schema;
  OS_TRY(os_trial__attributes(self, schema, &node));
  OS_TRY(os_trial__output_types(self, schema, &node));
  os_text out;
  os_text_init(&out, self->memory);
  os_status status = os_single_node_write(&out, self->memory, os_registry_types(self->registry), &node);
  if (status == OS_OK) self->model = os_arena_copy(self->arena, os_text_str(&out));
  os_text_clear(&out);
  return status != OS_OK ? status : self->model.data == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_trial_values_begin(os_trial_values *self, const os_case *item) {
  self->item = item;
  if (item->document.root != NULL) {
    OS_TRY(os_trial__read_document(self, "inputs", &self->inputs, &self->input_count));
    OS_TRY(os_trial__read_document(self, "outputs", &self->outputs, &self->output_count));
    return os_trial__make_model(self);
  }
  if (item->model.state == OS_FILE_BYTES) {
    self->model = item->model.bytes;
    return OS_OK;
  }
  os_trial__list inputs = {0}, outputs = {0};
  os_status status = os_trial__read_set(self, "input", NULL, 0, &inputs);
  if (status == OS_OK) status = os_trial__read_set(self, "output", NULL, 0, &outputs);
  self->inputs = inputs.items;
  self->input_count = inputs.count;
  self->outputs = outputs.items;
  self->output_count = outputs.count;
  return status != OS_OK ? status : os_trial__make_model(self);
}

// ---- Values for a given model -----------------------------------------------------------------------------

static os_status os_trial__declared(os_trial_values *self, os_model *model, const int32_t *numbers,
                                    size_t count, op_type **types) {
  const op_graph *graph = os_model_graph(model);
  os_inferring inferring;
  os_inference_init(&inferring, self->arena, model, self->registry, NULL);
  *types = OS_ARENA_ARRAY(self->arena, count + 1, op_type);
  OS_TRY_ALLOC(*types);
  for (size_t i = 0; i < count; i++) {
    const os_graph_value *value = numbers[i] == OS_ABSENT ? NULL : &graph->values[numbers[i]];
    if (value == NULL || value->declared == NULL) continue;
    (*types)[i] = os_inference_declared(&inferring, value->declared).type;
  }
  return OS_OK;
}

static os_status os_trial__read_sets(os_trial_values *self, os_model *model, const op_graph *graph) {
  os_trial__list inputs = {0}, outputs = {0};
  op_type *types;
  OS_TRY(os_trial__declared(self, model, graph->inputs, graph->input_count, &types));
  os_status status = os_trial__read_set(self, "input", types, graph->input_count, &inputs);
  self->inputs = inputs.items;
  self->input_count = inputs.count;
  OS_TRY(status);
  OS_TRY(os_trial__declared(self, model, graph->outputs, graph->output_count, &types));
  status = os_trial__read_set(self, "output", types, graph->output_count, &outputs);
  self->outputs = outputs.items;
  self->output_count = outputs.count;
  return status;
}

os_status os_trial_values_finish(os_trial_values *self, os_model *model) {
  const op_graph *graph = os_model_graph(model);
  bool given = self->item->document.root == NULL && self->item->model.state == OS_FILE_BYTES;
  if (given) OS_TRY(os_trial__read_sets(self, model, graph));
  self->input_names = OS_ARENA_ARRAY(self->arena, self->input_count + 1, os_str);
  OS_TRY_ALLOC(self->input_names);
  uint32_t next = 0;
  for (size_t i = 0; i < self->input_count; i++) {
    // In a model of one node, inputs that are left out have no graph input.
    if (self->inputs[i] == NULL || next >= graph->input_count || graph->inputs[next] == OS_ABSENT) continue;
    self->input_names[i] = graph->values[graph->inputs[next++]].name;
  }
  return OS_OK;
}

void os_trial_values_release(os_trial_values *self) {
  for (size_t i = 0; i < self->input_count; i++) op_value_release(self->inputs[i]);
  for (size_t i = 0; i < self->output_count; i++) op_value_release(self->outputs[i]);
}
