#include "host.h"

#include "inference.h"
#include "model_index.h"

// ---- Models -----------------------------------------------------------------------------------------------

static void os_host__write_dim(os_text *out, os_arena *arena, const os_dims *dims, op_dim dim) {
  if (dim == OP_DIM_UNKNOWN) {
    os_text_puts(out, "null");
    return;
  }
  if (op_dim_is_number(dim)) {
    os_text_format(out, "%lld", (long long)dim);
    return;
  }
  os_json_write_string(out, os_dims_print(dims, arena, dim));
}

static void os_host__write_fact(opspec_model *self, const os_inferring *inferring, os_str name,
                                os_fact fact) {
  os_text *out = &self->env->output;
  os_arena *scratch = &self->env->scratch;
  os_host_write_member(out, "name", name);
  os_text_char(out, ',');
  os_host_write_member(out, "type",
                       fact.type == 0 ? OS_STR("") : os_types_print(self->env->types, scratch, fact.type));
  os_text_puts(out, ",\"shape\":");
  if (fact.rank < 0) {
    os_text_puts(out, "null");
    return;
  }
  os_text_char(out, '[');
  for (int32_t i = 0; i < fact.rank; i++) {
    if (i > 0) os_text_char(out, ',');
    os_host__write_dim(out, scratch, inferring->dims, fact.dims[i]);
  }
  os_text_char(out, ']');
}

static os_status os_host__write_value(opspec_model *self, os_inferring *inferring,
                                      const Onnx__ValueInfoProto *declared, bool initialized) {
  os_text *out = &self->env->output;
  os_text_char(out, '{');
  os_host__write_fact(self, inferring, os_bytes_str(declared->name),
                      os_inference_declared(inferring, declared));
  if (initialized) os_text_puts(out, ",\"initialized\":true");
  os_text_char(out, '}');
  return OS_OK;
}

static os_status os_host__write_values(opspec_model *self, const os_map *initializers,
                                       Onnx__ValueInfoProto *const *values, size_t count) {
  os_inferring inferring;
  os_inference_init(&inferring, &self->env->scratch, NULL, self->env->registry, NULL);
  os_text *out = &self->env->output;
  bool first = true;
  os_text_char(out, '[');
  for (size_t i = 0; i < count; i++) {
    os_str name = os_bytes_str(values[i]->name);
    if (name.len == 0) continue;
    if (!first) os_text_char(out, ',');
    first = false;
    OS_TRY(os_host__write_value(self, &inferring, values[i], os_map_get(initializers, name) != NULL));
  }
  os_text_char(out, ']');
  return OS_OK;
}

static os_status os_host__initializers(const Onnx__GraphProto *graph, os_map *names) {
  for (size_t i = 0; i < graph->n_initializer; i++)
    OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->initializer[i]->name), NULL));
  for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
    const Onnx__TensorProto *values = graph->sparse_initializer[i]->values;
    if (values != NULL) OS_TRY_ALLOC(os_map_put(names, os_bytes_str(values->name), NULL));
  }
  return OS_OK;
}

const Onnx__GraphProto *os_host_graph(const opspec_model *self) {
  static const Onnx__GraphProto none = ONNX__GRAPH_PROTO__INIT;
  const Onnx__GraphProto *graph = os_document_graph(self->document);
  return graph == NULL ? &none : graph;
}

// From the document's outline alone: its index is made when somebody asks for more.
os_status os_host_describe(opspec_model *self) {
  const os_document *document = self->document;
  const Onnx__GraphProto *graph = os_host_graph(self);
  os_text *out = &self->env->output;
  os_map initializers;
  os_map_init(&initializers, &self->env->scratch);
  OS_TRY(os_host__initializers(graph, &initializers));
  for (size_t i = 0; i < document->initializers.count; i++)
    OS_TRY_ALLOC(os_map_put(&initializers, document->initializers.items[i], NULL));
  os_text_char(out, '{');
  os_host_write_member(out, "kind", os_str_of(os_kind_name(document->kind)));
  os_text_puts(out, ",\"inputs\":");
  OS_TRY(os_host__write_values(self, &initializers, graph->input, graph->n_input));
  os_text_puts(out, ",\"outputs\":");
  OS_TRY(os_host__write_values(self, &initializers, graph->output, graph->n_output));
  os_text_char(out, '}');
  return os_host_end(self->env);
}

static void os_host__free_model(opspec_model *self) {
  opspec_env *env = self->env;
  if (self->previous != NULL)
    self->previous->next = self->next;
  else if (env->models == self)
    env->models = self->next;
  if (self->next != NULL) self->next->previous = self->previous;
  if (self->model != NULL) os_model_free(self->model);
  os_document_close(self->document);
  os_host_files_close(&self->files);
  os_host_source_close(&self->bytes);
  os_arena_clear(&self->arena);
  opspec_model *base = self->base;
  os_memory_free(&env->memory, self);
  os_host_sweep(env);
  opspec_model_free(base);
}

void opspec_model_free(opspec_model *self) {
  if (self != NULL && --self->refs == 0) os_host__free_model(self);
}

static os_status os_host__open_model(opspec_model *self, os_str bytes, bool files) {
  opspec_env *env = self->env;
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = OS_KIND_MODEL, .limits = &env->limits};
  if (files) options.external = self->files.external;
  options.outline = bytes.len >= OS_HOST_OUTLINE;
  OS_TRY(os_document_open(&env->memory, &source, &options, &self->report, &self->document));
  self->decoded = self->report.findings.count;
  os_document_own(self->document, (void *)(uintptr_t)bytes.data);
  return OS_OK;
}

// The index, made when first asked for.
static os_status os_host__index(opspec_model *self, const os_stop *stop) {
  if (self->model != NULL) return OS_OK;
  OS_TRY(os_document_whole(self->document));
  return os_model_build(self->document, self->env->registry, stop, &self->report, &self->model);
}

// It takes more memory than the document, and that more than its outline, so they are kept for sessions only.
static void os_host__end_index(opspec_model *self) {
  if (self->refs > 1 || self->model == NULL) return;
  os_model_free(self->model);
  self->model = NULL;
  if (!self->edited) os_document_forget(self->document);
}

os_status os_host_new_model(opspec_env *env, const opspec_files *files, opspec_model **out) {
  opspec_model *self = os_memory_calloc(&env->memory, sizeof *self);
  *out = self;
  if (self == NULL) return os_host_fail(env, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  self->env = env;
  self->refs = 1;
  self->serial = ++env->serial;
  os_arena_init(&self->arena, &env->memory);
  self->next = env->models;
  if (self->next != NULL) self->next->previous = self;
  env->models = self;
  os_report_init(&self->report, &self->arena, false, env->limits.findings);
  os_status status = os_host_files_open(&self->files, env, &self->arena, files);
  return status == OS_OK ? OS_OK : os_host_not_opened(self, status);
}

os_status os_host_not_opened(opspec_model *self, os_status status) {
  opspec_env *env = self->env;
  const os_report *report = &self->report;
  os_str why = report->findings.count > 0     ? report->findings.items[0]->message
               : report->incomplete.count > 0 ? report->incomplete.items[0]
                                              : (os_str){"", 0};
  os_host_fail(env, status, why, (os_str){"", 0}, &self->report);
  opspec_model_free(self);
  return status;
}

os_status opspec_model_load(opspec_env *env, os_str bytes, const opspec_files *files, opspec_model **out) {
  os_host_begin(env);
  *out = NULL;
  opspec_model *self;
  os_status status = os_host_new_model(env, files, &self);
  if (status != OS_OK) {
    opspec_free(env, (void *)(uintptr_t)bytes.data);
    return status;
  }
  status = os_host__open_model(self, bytes, files->given);
  if (self->document == NULL) opspec_free(env, (void *)(uintptr_t)bytes.data);
  if (status == OS_OK) status = os_host_describe(self);
  if (status != OS_OK) return os_host_not_opened(self, status);
  *out = self;
  return OS_OK;
}

os_status os_host_add_findings(os_report *to, const os_report *from, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const os_finding *finding = from->findings.items[i];
    os_finding *copy =
        os_report_add_as(to, finding->rule, finding->severity, "%.*s", OS_ARG(finding->message));
    os_severity severity = copy->severity;
    os_str message = copy->message;
    *copy = *finding;
    copy->severity = severity;
    copy->message = message;
  }
  return to->status;
}

static os_status os_host__check(opspec_model *self, const os_check_options *check, os_report *report) {
  os_host_moving moving;
  OS_TRY(os_document_whole(self->document));
  OS_TRY(os_host_begin_moving(self, &moving));
  OS_TRY(os_host_add_findings(report, &self->report, self->decoded));
  bool indexed = os_model_is_of(self->document->kind);
  os_status status = os_document_check_data(self->document, report);
  if (status == OS_OK && indexed) status = os_host__index(self, check->stop);
  if (status == OS_OK && indexed) status = os_model_check(self->model, check, report);
  os_host_move(self, &moving, report);
  return status;
}

os_status opspec_model_check(opspec_model *self, const opspec_check_options *options) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_report report;
  os_report_init(&report, &env->scratch, options->strict, env->limits.findings);
  report.kind = os_str_of(os_kind_name(self->document->kind));
  os_stop stop = os_host_stop(env, options->timeout_ms);
  os_progress progress = os_host_progress(env, options);
  os_check_options check = {
      .strict = options->strict, .infer = options->full, .stop = &stop, .progress = &progress};
  os_status status = os_host__check(self, &check, &report);
  if (status == OS_LIMIT || status == OS_TIMEOUT || status == OS_ABORTED || status == OS_UNSUPPORTED)
    os_report_incomplete(&report, "%s", os_status_text(status));
  else if (status != OS_OK)
    return os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  status = os_host_report(env, &report, false);
  os_host__end_index(self);
  return status;
}

static void os_host__write_facts(opspec_model *self, const os_inferring *inferring, const op_graph *graph,
                                 const os_fact *facts, bool outer) {
  os_text *out = &self->env->output;
  bool first = true;
  for (uint32_t i = 0; i < graph->value_count; i++) {
    const os_graph_value *value = &graph->values[i];
    if (facts[i].type == 0 || value->name.len == 0 || (!outer && value->origin == OS_FROM_OUTER)) continue;
    os_text_puts(out, first ? "{" : ",{");
    first = false;
    os_host__write_fact(self, inferring, value->name, facts[i]);
    os_text_char(out, '}');
  }
}

// What is known of the values of a graph inside, or of a function, wherever it is run.
typedef struct os_host_body {
  const op_graph *graph;
  os_fact *facts;
} os_host_body;

// What both say.
static os_status os_host__join(os_inferring *self, os_fact *known, const os_fact *other) {
  if (known->type != other->type) {
    known->type = 0;
    return OS_OK;
  }
  if (known->rank != other->rank) known->rank = -1;
  op_dim *dims = NULL;
  for (int32_t i = 0; i < known->rank; i++) {
    if (known->dims[i] == other->dims[i]) continue;
    if (dims == NULL) {
      dims = OS_ARENA_ARRAY(self->arena, (size_t)known->rank, op_dim);
      OS_TRY_ALLOC(dims);
      memcpy(dims, known->dims, (size_t)known->rank * sizeof *dims);
      known->dims = dims;
    }
    dims[i] = OP_DIM_UNKNOWN;
  }
  return OS_OK;
}

static os_status os_host__seen(os_inferring *self, const op_graph *graph, const os_fact *facts) {
  os_map *bodies = self->seen_context;
  const os_graph_index *index = os_graph_index_of(graph);
  if (os_graph_is_foreign(index) || os_str_is(graph->path, "graph")) return OS_OK;
  bool added;
  os_map_entry *entry = os_map_put(bodies, graph->path, &added);
  OS_TRY_ALLOC(entry);
  if (added) {
    os_host_body *body = OS_ARENA_NEW(self->arena, os_host_body);
    OS_TRY_ALLOC(body);
    *body = (os_host_body){graph, OS_ARENA_ARRAY(self->arena, (size_t)graph->value_count + 1, os_fact)};
    OS_TRY_ALLOC(body->facts);
    memcpy(body->facts, facts, graph->value_count * sizeof *facts);
    entry->value.pointer = body;
    return OS_OK;
  }
  // Calls of one function see the same nodes, and so the same values in the same order.
  const os_host_body *body = entry->value.pointer;
  for (uint32_t i = 0; i < body->graph->value_count; i++) {
    bool same = i < graph->value_count && os_str_eq(body->graph->values[i].name, graph->values[i].name);
    if (!same)
      body->facts[i].type = 0;
    else
      OS_TRY(os_host__join(self, &body->facts[i], &facts[i]));
  }
  return OS_OK;
}

static void os_host__write_bodies(opspec_model *self, const os_inferring *inferring, const os_map *bodies) {
  os_text *out = &self->env->output;
  for (size_t i = 0; i < bodies->count; i++) {
    const os_host_body *body = bodies->entries[i].value.pointer;
    os_text_puts(out, i == 0 ? "{" : ",{");
    os_host_write_member(out, "path", bodies->entries[i].key);
    os_text_puts(out, ",\"values\":[");
    os_host__write_facts(self, inferring, body->graph, body->facts, false);
    os_text_puts(out, "]}");
  }
}

static os_status os_host__infer(opspec_model *self, os_inferring *inferring, bool bodies) {
  const op_graph *graph = os_model_graph(self->model);
  OS_TRY_ALLOC(inferring->dims);
  OS_TRY_ALLOC(inferring->context);
  os_fact *facts = OS_ARENA_ARRAY(inferring->arena, (size_t)graph->value_count + 1, os_fact);
  OS_TRY_ALLOC(facts);
  os_map seen;
  os_map_init(&seen, inferring->arena);
  if (bodies) {
    inferring->seen = os_host__seen;
    inferring->seen_context = &seen;
  }
  OS_TRY(os_inference_run(inferring, self->model, graph, facts));
  os_host__write_facts(self, inferring, graph, facts, true);
  os_text_puts(&self->env->output, "],\"graphs\":[");
  os_host__write_bodies(self, inferring, &seen);
  return OS_OK;
}

os_status opspec_model_infer(opspec_model *self, bool bodies, double timeout_ms) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_report report;
  os_report_init(&report, &env->scratch, false, env->limits.findings);
  os_stop stop = os_host_stop(env, timeout_ms);
  os_text_puts(&env->output, "{\"values\":[");
  os_status status = os_host__index(self, &stop);
  if (status == OS_OK) {
    os_arena arena;
    os_arena_init(&arena, &env->memory);
    os_inferring inferring;
    os_inference_init(&inferring, &arena, self->model, env->registry, &report);
    inferring.stop = &stop;
    status = os_host__infer(self, &inferring, bodies);
    os_arena_clear(&arena);
  }
  os_host__end_index(self);
  if (status != OS_OK) return os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, &report);
  bool complete = report.incomplete.count == 0 && report.counts[OS_ERROR] == 0;
  os_text_puts(&env->output, complete ? "],\"complete\":true}" : "],\"complete\":false}");
  return os_host_end(env);
}

// ---- Sessions ---------------------------------------------------------------------------------------------

// A model that cannot be made ready is told of with what the checker finds wrong in it.
static os_status os_host__tell_fault(opspec_model *model, os_status status, os_trouble *trouble) {
  opspec_env *env = model->env;
  // The status's own text says nothing about this model.
  if (trouble->message.data == os_status_text(status)) trouble->message.len = 0;
  os_report report;
  os_report_init(&report, &env->scratch, false, env->limits.findings);
  os_check_options check = {0};
  os_host_moving moving;
  if (os_host_begin_moving(model, &moving) != OS_OK ||
      (model->model != NULL && os_model_check(model->model, &check, &report) == OS_OUT_OF_MEMORY))
    status = OS_OUT_OF_MEMORY;
  os_host_move(model, &moving, &report);
  // Some of what onnx.checker lets pass cannot be read all the same.
  for (os_severity severity = OS_ERROR; severity <= OS_WARNING; severity++)
    for (size_t i = 0; i < report.findings.count && trouble->message.len == 0; i++) {
      const os_finding *finding = report.findings.items[i];
      if (finding->severity != severity) continue;
      trouble->message = finding->message;
      trouble->path = finding->where.path;
    }
  return os_host_fail(env, status, trouble->message, trouble->path, &report);
}

os_status opspec_session_new(opspec_model *model, uint64_t seed, double timeout_ms, opspec_session **out) {
  opspec_env *env = model->env;
  os_host_begin(env);
  *out = NULL;
  opspec_session *self = os_memory_calloc(&env->memory, sizeof *self);
  if (self == NULL) return os_host_fail(env, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  self->model = model;
  os_trouble trouble = {.arena = &env->scratch};
  os_stop stop = os_host_stop(env, timeout_ms);
  os_session_options options = {.seed = seed, .stop = &stop};
  os_status status = os_host__index(model, &stop);
  if (status == OS_OK)
    status = os_session_new(&env->memory, env->registry, model->model, &options, &trouble, &self->session);
  if (status == OS_OK) status = os_host_describe(model);
  if (status == OS_OK) {
    model->refs++;
    *out = self;
    return OS_OK;
  }
  os_memory_free(&env->memory, self);
  bool faulty = status == OS_MALFORMED || status == OS_INVALID_ARGUMENT;
  return faulty ? os_host__tell_fault(model, status, &trouble)
                : os_host_fail(env, status, trouble.message, trouble.path, NULL);
}

void opspec_session_free(opspec_session *self) {
  if (self == NULL) return;
  opspec_model *model = self->model;
  os_session_free(self->session);
  os_memory_free(&model->env->memory, self);
  opspec_model_free(model);
}

// ---- Runs -------------------------------------------------------------------------------------------------

static os_status os_host__run_trouble(opspec_model *model, os_status status, const os_run *run) {
  os_trouble trouble = {0};
  if (run != NULL) trouble = *os_run_trouble(run);
  if (status == OS_MALFORMED) return os_host__tell_fault(model, status, &trouble);
  return os_host_fail(model->env, status, trouble.message, trouble.path, NULL);
}

os_status opspec_run_start(opspec_session *session, const opspec_input *inputs, size_t input_count,
                           const os_str *outputs, size_t output_count, opspec_run **out) {
  _Static_assert(sizeof(opspec_input) == sizeof(os_run_input), "the same struct under two names");
  opspec_env *env = session->model->env;
  *out = NULL;
  os_run *run = NULL;
  os_status status = os_run_start(session->session, (const os_run_input *)(const void *)inputs, input_count,
                                  outputs, output_count, &run);
  opspec_run *self = status == OS_OK ? os_memory_alloc(&env->memory, sizeof *self) : NULL;
  if (self != NULL) {
    *self = (opspec_run){session->model, run};
    *out = self;
    return OS_OK;
  }
  os_host_begin(env);
  status = os_host__run_trouble(session->model, status == OS_OK ? OS_OUT_OF_MEMORY : status, run);
  os_run_free(run);
  return status;
}

os_status opspec_run_step(opspec_run *self, uint64_t budget) {
  os_status status = os_run_step(self->run, budget);
  if (status == OS_OK || status == OS_YIELD || status == OS_NEEDS_HOST) return status;
  os_host_begin(self->model->env);
  return os_host__run_trouble(self->model, status, self->run);
}

void opspec_run_answer(opspec_run *self, os_status status, os_str message) {
  os_run_answer(self->run, status, message);
}
op_value *opspec_run_result(const opspec_run *self, size_t index) { return os_run_result(self->run, index); }

void opspec_run_free(opspec_run *self) {
  if (self == NULL) return;
  os_run_free(self->run);
  os_memory_free(&self->model->env->memory, self);
}
