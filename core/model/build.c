#include "model_find.h"
#include "model_index.h"
#include "model_rules.h"
#include "signature_data.h"

// ---- Imports ----------------------------------------------------------------------------------------------

bool os_imports_find(const os_imports *self, os_str domain, int *version) {
  *version = INT32_MAX;
  if (self->newest) return true;
  const os_map_entry *entry = os_map_get(&self->versions, domain);
  if (entry == NULL && domain.len == 0) entry = os_map_get(&self->versions, OS_STR("ai.onnx"));
  if (entry == NULL) return false;
  *version = (int)(int32_t)(uint32_t)entry->value.number;
  return true;
}

os_status os_imports_read(os_model *model, Onnx__OperatorSetIdProto *const *protos, size_t count,
                          os_imports *out) {
  os_map_init(&out->versions, model->arena);
  for (size_t i = 0; i < count; i++) {
    int64_t version = protos[i]->version;
    if (version > INT32_MAX) version = INT32_MAX; // the checker says so
    if (version < INT32_MIN) version = INT32_MIN;
    os_map_entry *entry = os_map_put(&out->versions, os_bytes_str(protos[i]->domain), NULL);
    OS_TRY_ALLOC(entry);
    entry->value.number = (uint32_t)(int32_t)version;
  }
  return OS_OK;
}

static os_status os_model__imports(os_model *self) {
  os_map_init(&self->imports.versions, self->arena);
  if (self->proto == NULL) {
    self->imports.newest = true;
    return OS_OK;
  }
  if (self->ir_version >= 3)
    return os_imports_read(self, self->proto->opset_import, self->proto->n_opset_import, &self->imports);
  os_map_entry *entry = os_map_put(&self->imports.versions, OS_STR(""), NULL);
  OS_TRY_ALLOC(entry);
  entry->value.number = 1; // what such a model may not write down
  return OS_OK;
}

int os_model_opset(const os_model *self, os_str domain) {
  const os_imports *imports = &self->imports;
  if (self->proto == NULL && self->function_count > 0) imports = &self->functions[0].imports;
  int version;
  if (os_imports_find(imports, domain, &version) ||
      (os_str_is(domain, "ai.onnx") && os_imports_find(imports, OS_STR(""), &version)))
    return imports->newest ? os_registry_domain_version(self->registry, domain) : version;
  return 0;
}

// ---- Building ---------------------------------------------------------------------------------------------

// A graph without nodes, so that callers always find one.
static const Onnx__GraphProto os_model__nothing = ONNX__GRAPH_PROTO__INIT;

bool os_graph_is_nothing(const os_graph_index *self) { return self->proto == &os_model__nothing; }

static os_status os_model__main(os_model *self) {
  if (self->document->kind == OS_KIND_FUNCTION) {
    self->main = self->functions[0].body;
    return OS_OK;
  }
  const Onnx__GraphProto *proto = self->proto != NULL                            ? self->proto->graph
                                  : self->document->kind == OS_KIND_OPERATOR_SET ? NULL
                                                                                 : self->document->graph;
  OS_TRY(os_index_new(self, NULL, self->proto != NULL ? OS_STR("graph") : OS_STR(""), &self->main));
  self->main->proto = proto != NULL ? proto : &os_model__nothing;
  self->main->imports = &self->imports;
  return OS_OK;
}

// A small file can ask for very many graphs.
static os_status os_model__stopped(size_t graph, const os_stop *stop) {
  return (graph & 63) == 63 ? os_stop_check(stop) : OS_OK;
}

static os_status os_model__fill(os_model *self, const os_stop *stop, os_report *report) {
  enum { MOST_FUNCTIONS = 1 << 16 }; // each has an index of its own
  self->proto = self->document->kind == OS_KIND_MODEL ? self->document->model : NULL;
  self->ir_version = self->proto != NULL ? self->proto->ir_version : OS_IR_NEWEST;
  if (self->proto != NULL && self->proto->n_functions > MOST_FUNCTIONS) {
    os_finding *finding = os_report_add(report, &os_rule_model_function_count,
                                        "the model has %zu functions; more than %d are not looked at",
                                        self->proto->n_functions, MOST_FUNCTIONS);
    os_where_message(&finding->where, OS_STR("functions"), NULL);
    return OS_LIMIT;
  }
  OS_TRY(os_model__imports(self));
  if (self->document->kind == OS_KIND_FUNCTION) {
    Onnx__FunctionProto *const function = self->document->function;
    OS_TRY(os_functions_build(self, &function, 1));
    self->functions[0].imports.newest = function->n_opset_import == 0;
  } else if (self->document->kind == OS_KIND_OPERATOR_SET) {
    const Onnx__OperatorSetProto *set = self->document->operator_set;
    OS_TRY(os_functions_build(self, set->functions, set->n_functions));
  } else if (self->proto != NULL && self->ir_version >= 8) { // before that, `functions` has no meaning
    OS_TRY(os_functions_build(self, self->proto->functions, self->proto->n_functions));
  }
  OS_TRY(os_model__main(self));
  // Bodies and instances join the list while it is walked.
  for (size_t i = 0; i < self->graphs.count; i++) {
    OS_TRY(os_model__stopped(i, stop));
    OS_TRY(os_index_fill(self, self->graphs.items[i]));
  }
  for (size_t i = 0; i < self->graphs.count; i++) {
    OS_TRY(os_model__stopped(i, stop));
    OS_TRY(os_index_order(self, self->graphs.items[i]));
  }
  return OS_OK;
}

bool os_model_is_of(os_kind kind) {
  return kind == OS_KIND_MODEL || kind == OS_KIND_GRAPH || kind == OS_KIND_FUNCTION ||
         kind == OS_KIND_OPERATOR_SET;
}

os_status os_model_build(os_document *document, os_registry *registry, const os_stop *stop, os_report *report,
                         os_model **out) {
  *out = NULL;
  if (!os_model_is_of(document->kind)) return OS_INVALID_ARGUMENT;
  os_model *self = os_memory_calloc(document->memory, sizeof *self);
  OS_TRY_ALLOC(self);
  os_arena_init(&self->own, document->memory);
  self->document = document;
  self->registry = registry;
  self->arena = &self->own;
  self->memory = document->memory;
  os_status status = os_model__fill(self, stop, report);
  if (status != OS_OK) {
    os_model_free(self);
    return status;
  }
  os_problems_tell(self, report);
  *out = self;
  return OS_OK;
}

const op_graph *os_model_graph(const os_model *self) { return &self->main->graph; }

void os_model_free(os_model *self) {
  if (self == NULL) return;
  for (size_t i = 0; i < self->graphs.count; i++) {
    os_graph_index *graph = self->graphs.items[i];
    for (uint32_t v = 0; graph->constants != NULL && v < graph->graph.value_count; v++)
      op_value_release(graph->constants[v]);
    graph->constants = NULL;
  }
  for (os_model_lazy *lazy = self->lazies; lazy != NULL; lazy = lazy->next) {
    op_value_release(lazy->lazy.value);
    lazy->lazy.value = NULL;
  }
  os_arena_clear(&self->own);
  os_memory_free(self->memory, self);
}

// ---- Initializers -----------------------------------------------------------------------------------------

static os_status os_model__decode(os_model *self, const os_graph_value *value, op_value **out) {
  os_tensor_origin origin = os_document_origin(self->document);
  if (value->sparse_initializer != NULL) return os_model_densify(self, value->sparse_initializer, out);
  os_tensor_reader reader;
  OS_TRY(os_tensor_open(&reader, value->initializer, origin));
  const void *in_place = os_tensor_in_place(&reader);
  if (in_place == NULL) return os_tensor_value(&reader, self->memory, out);
  *out = os_value_borrow(self->memory, reader.elem, reader.rank, reader.dims, (void *)(uintptr_t)in_place);
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_model_constant(os_model *self, const op_graph *graph, int32_t number, const op_tensor **out) {
  *out = NULL;
  os_graph_index *index = os_graph_index_of(graph);
  if (number < 0 || (uint32_t)number >= graph->value_count) return OS_INVALID_ARGUMENT;
  const os_graph_value *value = &graph->values[number];
  if (value->initializer == NULL && value->sparse_initializer == NULL) return OS_INVALID_ARGUMENT;
  if (index->constants == NULL) {
    index->constants = OS_ARENA_ARRAY(self->arena, graph->value_count, op_value *);
    OS_TRY_ALLOC(index->constants);
  }
  if (index->constants[number] == NULL) OS_TRY(os_model__decode(self, value, &index->constants[number]));
  *out = op_value_tensor(index->constants[number]);
  return *out == NULL ? OS_MALFORMED : OS_OK;
}

void os_model_drop_constant(os_model *self, const op_graph *graph, int32_t number) {
  (void)self;
  os_graph_index *index = os_graph_index_of(graph);
  if (index->constants == NULL || number < 0 || (uint32_t)number >= graph->value_count) return;
  op_value_release(index->constants[number]);
  index->constants[number] = NULL;
}
