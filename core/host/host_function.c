#include "host.h"

// Function operators: what a node of them runs is a document.

// It brings its data along: there are no files beside it.
static os_status os_host__no_file(void *context, os_str location, os_source *out, os_external_state *state) {
  (void)context;
  (void)location;
  *out = os_source_memory(NULL, 0);
  *state = OS_EXTERNAL_MISSING;
  return OS_OK;
}

static os_status os_host__open_body(opspec_operator *self, os_str bytes, os_report *report) {
  opspec_env *env = self->env;
  bytes = os_arena_copy(&self->arena, bytes);
  OS_TRY_ALLOC(bytes.data);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_sniff sniff;
  OS_TRY(os_onnx_sniff(&source, &env->scratch, &sniff));
  os_document_options options = {.as = sniff.kind == OS_KIND_MODEL ? OS_KIND_MODEL : OS_KIND_FUNCTION,
                                 .limits = &env->limits,
                                 .external = {os_host__no_file, NULL}};
  return os_document_open(&env->memory, &source, &options, report, &self->document);
}

os_status os_host_function(opspec_operator *self, op_schema *schema, os_str bytes, os_report *report) {
  os_check_options options = {.infer = true};
  OS_TRY(os_host__open_body(self, bytes, report));
  OS_TRY(os_model_build(self->document, self->env->registry, NULL, report, &self->model));
  OS_TRY(os_model_check(self->model, &options, report));
  if (report->counts[OS_ERROR] > 0) return OS_MALFORMED;
  schema->body = os_model_graph(self->model);
  schema->function = true;
  return report->status;
}
