#include "execute.h"

#include "format.h"

#include <stdarg.h>

// What a run begins with: inputs checked against what the model declares, outputs by name.

typedef struct os_binding { // what a run's inputs make of a symbolic dim
  op_dim symbol;
  int64_t size;
  os_str input;
} os_binding;

typedef struct os_starter {
  os_run *run;
  const op_graph *graph;
  op_value **values; // per input of the graph
  bool *overridden;  // per value; any_overridden tells whether it says something
  bool any_overridden;
  struct {
    os_binding *items;
    size_t count, room;
  } bindings;
} os_starter;

static os_status os_starter__refuse(os_starter *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static os_status os_starter__refuse(os_starter *self, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  os_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  self->run->trouble.status = OS_INVALID_ARGUMENT;
  self->run->trouble.message = os_arena_copy(&self->run->arena, os_str_of(text));
  return OS_INVALID_ARGUMENT;
}

// Equal symbols ask for equal sizes (IR specification, "Static tensor shapes").
static os_status os_starter__bind(os_starter *self, os_str input, int32_t axis, op_dim dim, int64_t size) {
  if (dim == OP_DIM_UNKNOWN) return OS_OK;
  if (op_dim_is_number(dim)) {
    if (dim == size) return OS_OK;
    return os_starter__refuse(self, "input '%.*s': axis %d must be %lld long, not %lld", OS_ARG(input), axis,
                              (long long)dim, (long long)size);
  }
  for (size_t i = 0; i < self->bindings.count; i++) {
    const os_binding *binding = &self->bindings.items[i];
    if (binding->symbol != dim) continue;
    if (binding->size == size) return OS_OK;
    os_str symbol = os_dims_print(self->run->session->inferring.dims, &self->run->arena, dim);
    return os_starter__refuse(self, "input '%.*s': axis %d is %lld long, but input '%.*s' makes %.*s %lld",
                              OS_ARG(input), axis, (long long)size, OS_ARG(binding->input), OS_ARG(symbol),
                              (long long)binding->size);
  }
  os_binding *binding = OS_PUSH(&self->run->arena, &self->bindings);
  OS_TRY_ALLOC(binding);
  *binding = (os_binding){dim, size, input};
  return OS_OK;
}

static os_status os_starter__check(os_starter *self, os_str name, const os_fact *fact,
                                   const op_value *value) {
  os_types *types = os_registry_types(self->run->session->registry);
  if (fact->type != 0 && fact->type != value->type) {
    os_str want = os_types_print(types, &self->run->arena, fact->type),
           got = os_types_print(types, &self->run->arena, value->type);
    return os_starter__refuse(self, "input '%.*s' must be %.*s, not %.*s", OS_ARG(name), OS_ARG(want),
                              OS_ARG(got));
  }
  if (value->kind != OP_TENSOR || fact->rank < 0) return OS_OK;
  if (fact->rank != value->tensor.rank)
    return os_starter__refuse(self, "input '%.*s' must have %d axes, not %d", OS_ARG(name), fact->rank,
                              value->tensor.rank);
  for (int32_t i = 0; i < fact->rank; i++)
    OS_TRY(os_starter__bind(self, name, i, fact->dims[i], value->tensor.dims[i]));
  return OS_OK;
}

static os_status os_starter__input(os_starter *self, const os_run_input *input) {
  for (uint32_t i = 0; i < self->graph->input_count; i++) {
    int32_t v = self->graph->inputs[i];
    if (v < 0 || !os_str_eq(self->graph->values[v].name, input->name)) continue;
    if (self->values[i] != NULL)
      return os_starter__refuse(self, "input '%.*s' is given twice", OS_ARG(input->name));
    OS_TRY(os_starter__check(self, input->name, &self->run->session->input_facts[i], input->value));
    self->values[i] = input->value;
    if (self->graph->values[v].origin == OS_FROM_INITIALIZER)
      self->any_overridden = self->overridden[v] = true;
    return OS_OK;
  }
  return os_starter__refuse(self, "the model has no input '%.*s'", OS_ARG(input->name));
}

static os_status os_starter__missing(os_starter *self) {
  for (uint32_t i = 0; i < self->graph->input_count; i++) {
    int32_t v = self->graph->inputs[i];
    if (v < 0 || self->values[i] != NULL || self->graph->values[v].origin == OS_FROM_INITIALIZER) continue;
    os_type type = os_types_get(os_registry_types(self->run->session->registry),
                                self->run->session->input_facts[i].type);
    if (type.kind == OS_TYPE_OPTIONAL) continue;
    return os_starter__refuse(self, "input '%.*s' is missing", OS_ARG(self->graph->values[v].name));
  }
  return OS_OK;
}

static os_status os_starter__outputs(os_starter *self, const os_str *names, size_t count, int32_t **out) {
  int32_t *results = OS_ARENA_ARRAY(&self->run->arena, count + 1, int32_t);
  OS_TRY_ALLOC(results);
  *out = results;
  for (size_t i = 0; i < count; i++) {
    results[i] = OS_ABSENT;
    for (uint32_t v = 0; v < self->graph->value_count && results[i] < 0; v++)
      if (os_str_eq(self->graph->values[v].name, names[i])) results[i] = (int32_t)v;
    if (results[i] < 0) return os_starter__refuse(self, "the model has no value '%.*s'", OS_ARG(names[i]));
  }
  return OS_OK;
}

static os_status os_run__begin(os_run *self, const os_run_input *inputs, size_t input_count,
                               const os_str *outputs, size_t output_count) {
  const op_graph *graph = os_model_graph(self->session->model);
  os_starter starter = {.run = self, .graph = graph};
  starter.values = OS_ARENA_ARRAY(&self->arena, graph->input_count + 1, op_value *);
  starter.overridden = OS_ARENA_ARRAY(&self->arena, graph->value_count + 1, bool);
  OS_TRY_ALLOC(starter.values);
  OS_TRY_ALLOC(starter.overridden);
  for (size_t i = 0; i < input_count; i++) OS_TRY(os_starter__input(&starter, &inputs[i]));
  OS_TRY(os_starter__missing(&starter));
  const int32_t *results = graph->outputs;
  uint32_t result_count = graph->output_count;
  if (output_count > 0) {
    int32_t *named;
    OS_TRY(os_starter__outputs(&starter, outputs, output_count, &named));
    results = named;
    result_count = (uint32_t)output_count;
  }
  os_program *program;
  OS_TRY(os_session_main(self->session, starter.any_overridden ? starter.overridden : NULL, &program));
  for (uint32_t i = 0; i < graph->input_count; i++)
    if (starter.values[i] != NULL) op_value_retain(starter.values[i]);
  return os_frame_push(self, program, starter.values, graph->input_count, results, result_count);
}

os_status os_run_start(os_session *session, const os_run_input *inputs, size_t input_count,
                       const os_str *outputs, size_t output_count, os_run **out) {
  os_run *self = os_memory_calloc(session->memory, sizeof *self);
  *out = self;
  os_status status = OS_OUT_OF_MEMORY;
  if (self != NULL) {
    self->session = session;
    os_arena_init(&self->arena, session->memory);
    os_arena_init(&self->step_arena, session->memory);
    self->trouble.arena = &self->arena;
    self->number = session->runs++;
    self->random = os_str_hash((os_str){(const char *)&self->number, sizeof self->number}, session->seed);
    status = os_run__begin(self, inputs, input_count, outputs, output_count);
    if (status != OS_OK && self->trouble.status == OS_OK) self->trouble.status = status;
  }
  for (size_t i = 0; i < input_count; i++) op_value_release(inputs[i].value);
  return status;
}
