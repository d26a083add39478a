#include "data_check.h"
#include "host.h"
#include "zip.h"

// One check: where it writes, and what it was asked.
typedef struct os_host__check {
  opspec_env *env;
  const opspec_check_options *options;
  os_report report;
  os_host_files files;
  os_stop stop;
  const os_spec_checker *checker;
  os_document *document; // findings may point into it until the report is written
  os_model *model;
} os_host__check;

static os_status os_host__check_open(os_host__check *self, opspec_env *env,
                                     const opspec_check_options *options) {
  os_host_begin(env);
  *self = (os_host__check){.env = env, .options = options, .stop = os_host_stop(env, options->timeout_ms)};
  os_report_init(&self->report, &env->scratch, options->strict, env->limits.findings);
  OS_TRY(os_host_checker(env, &self->checker));
  return os_host_files_open(&self->files, env, &env->scratch, &options->files);
}

static void os_host__check_free(os_host__check *self) {
  if (self->model != NULL) os_model_free(self->model);
  os_document_close(self->document);
  os_host_files_close(&self->files);
}

// What cut the check short becomes a reason in the report; what is no fault of the document stays a status.
static os_status os_host__check_close(os_host__check *self, os_status status) {
  opspec_env *env = self->env;
  switch (status) {
  case OS_OK:
  case OS_MALFORMED: break; // the findings say it
  case OS_LIMIT:
  case OS_UNSUPPORTED:
  case OS_TIMEOUT:
  case OS_ABORTED: os_report_incomplete(&self->report, "%s", os_status_text(status)); break;
  default:
    os_host__check_free(self);
    return os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  }
  if (self->report.kind.len == 0) self->report.kind = OS_STR("unknown");
  status = os_host_report(env, &self->report, self->options->packed);
  os_host__check_free(self);
  return status;
}

static os_spec_options os_host__spec_options(os_host__check *self) {
  return (os_spec_options){
      .depth = self->env->limits.depth,
      .bundle = self->options->files.given ? &self->files.bundle : NULL,
      .stop = &self->stop,
  };
}

static os_status os_host__check_zip(os_host__check *self, os_str bytes) {
  os_bundle bundle;
  os_str trouble;
  os_spec_options options = os_host__spec_options(self);
  options.bundle = &bundle;
  self->report.kind = OS_STR("bundle");
  os_status status = os_zip_read(&self->env->scratch, bytes, self->env->limits.bytes, &bundle, &trouble);
  if (status == OS_OK)
    return os_bundle_check(self->checker, &self->env->scratch, &options, &self->report, NULL);
  if (status == OS_OUT_OF_MEMORY) return status;
  os_report_incomplete(&self->report, "%.*s", OS_ARG(trouble));
  return OS_OK;
}

static os_status os_host__check_json(os_host__check *self, os_str bytes, os_str as) {
  os_spec_options options = os_host__spec_options(self);
  os_str file = {"", 0};
  os_arena *arena = &self->env->scratch;
  if (os_str_is(as, "spec"))
    return os_spec_check(self->checker, arena, file, bytes, &options, &self->report, NULL);
  if (os_str_is(as, "evidence")) {
    os_json_document document;
    self->report.kind = OS_STR("evidence");
    return os_evidence_check(self->checker, arena, file, bytes, NULL, &options, &self->report, &document,
                             NULL);
  }
  if (os_str_is(as, "json")) {
    os_json_document document;
    os_json_options json = {.depth = options.depth};
    self->report.kind = OS_STR("json");
    os_report_text(&self->report, file, bytes);
    return os_json_parse(&document, arena, file, bytes, &json, &self->report);
  }
  return os_json_check(self->checker, arena, file, bytes, &options, &self->report);
}

static os_status os_host__check_model(os_host__check *self) {
  os_progress progress = os_host_progress(self->env, self->options);
  os_check_options options = {.strict = self->options->strict,
                              .infer = self->options->full,
                              .stop = &self->stop,
                              .progress = &progress};
  OS_TRY(os_model_build(self->document, self->env->registry, &self->stop, &self->report, &self->model));
  return os_model_check(self->model, &options, &self->report);
}

static os_status os_host__check_proto(os_host__check *self, os_str bytes, os_kind as) {
  opspec_env *env = self->env;
  os_source source = os_source_memory(bytes.data, bytes.len);
  // Of messages that are alike the first ones fill the report; later ones need no place.
  uint32_t limit = self->report.limit;
  os_document_options options = {.as = as,
                                 .limits = &env->limits,
                                 .stop = &self->stop,
                                 .shared = limit < UINT32_MAX / 4 ? 2 * limit + 2 : 0};
  if (self->options->files.given) options.external = self->files.external;
  if (as != OS_KIND_UNKNOWN) self->report.kind = os_str_of(os_kind_name(as));
  os_status status = os_document_open(&env->memory, &source, &options, &self->report, &self->document);
  if (status != OS_OK) {
    self->document = NULL;
    return status;
  }
  os_kind kind = self->document->kind;
  self->report.kind = os_str_of(os_kind_name(kind));
  OS_TRY(os_document_check_data(self->document, &self->report));
  return os_model_is_of(kind) ? os_host__check_model(self) : OS_OK;
}

bool os_host_is_json_kind(os_str as) {
  return os_str_is(as, "spec") || os_str_is(as, "evidence") || os_str_is(as, "json");
}

static os_status os_host__check_any(os_host__check *self, os_str bytes) {
  os_str as = self->options->as;
  if (os_host_is_json_kind(as)) return os_host__check_json(self, bytes, as);
  if (os_str_is(as, "bundle")) return os_host__check_zip(self, bytes);
  if (as.len > 0) return os_host__check_proto(self, bytes, os_kind_find(as));
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_sniff sniff;
  OS_TRY(os_onnx_sniff(&source, &self->env->scratch, &sniff));
  if (sniff.kind == OS_KIND_JSON) return os_host__check_json(self, bytes, as);
  if (sniff.kind == OS_KIND_ZIP) return os_host__check_zip(self, bytes);
  return os_host__check_proto(self, bytes, OS_KIND_UNKNOWN);
}

os_status opspec_check(opspec_env *self, os_str bytes, const opspec_check_options *options) {
  os_host__check check;
  OS_TRY(os_host__check_open(&check, self, options));
  os_str as = options->as;
  if (as.len > 0 && !os_host_is_json_kind(as) && !os_str_is(as, "bundle") &&
      os_kind_find(as) == OS_KIND_UNKNOWN) {
    os_host__check_free(&check);
    os_str message = os_arena_format(&self->scratch, "as: \"%.*s\" is no kind of document", OS_ARG(as));
    return os_host_fail(self, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
  }
  if (self->limits.bytes != 0 && bytes.len > self->limits.bytes) {
    os_report_incomplete(&check.report, "the document has %zu bytes, the limit is %llu", bytes.len,
                         (unsigned long long)self->limits.bytes);
    return os_host__check_close(&check, OS_OK);
  }
  return os_host__check_close(&check, os_host__check_any(&check, bytes));
}

os_status opspec_check_bundle(opspec_env *self, const opspec_check_options *options) {
  os_host__check check;
  OS_TRY(os_host__check_open(&check, self, options));
  os_spec_options spec = os_host__spec_options(&check);
  check.report.kind = OS_STR("bundle");
  return os_host__check_close(&check,
                              os_bundle_check(check.checker, &self->scratch, &spec, &check.report, NULL));
}

// ---- Kinds ------------------------------------------------------------------------------------------------

os_status opspec_sniff(opspec_env *self, os_str bytes) {
  os_host_begin(self);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_sniff sniff;
  OS_TRY(os_onnx_sniff(&source, &self->scratch, &sniff));
  os_str kind = os_str_of(sniff.kind == OS_KIND_JSON ? os_json_kind(bytes) : os_kind_name(sniff.kind));
  os_text *out = &self->output;
  os_text_char(out, '{');
  os_host_write_member(out, "kind", kind);
  os_text_char(out, ',');
  os_host_write_member(out, "evidence", sniff.evidence);
  os_text_char(out, ',');
  os_host_write_member(out, "candidates", sniff.candidates);
  os_text_char(out, '}');
  return os_host_end(self);
}
