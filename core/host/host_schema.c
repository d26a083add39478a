// Schemas that somebody gives, and documents against them.
#include "host.h"
#include "schema.h"

struct opspec_schema {
  opspec_env *env;
  os_arena arena;
  os_host_files files; // texts of other schemas
  void *text;
  os_json_document document;
  os_schema *schema;
};

static os_status os_host__schema_find(void *context, os_str uri, os_str *text) {
  os_host_files *files = context;
  os_file file = {.state = OS_FILE_MISSING};
  if (files->bundle.read == NULL) return OS_INVALID_ARGUMENT;
  OS_TRY(files->bundle.read(files->bundle.context, uri, &file));
  *text = file.bytes;
  return file.state == OS_FILE_BYTES ? OS_OK : OS_INVALID_ARGUMENT;
}

static os_status os_host__schema_open(opspec_schema *self, os_str text, bool formats, os_report *report) {
  opspec_env *env = self->env;
  os_stop stop = os_host_stop(env, 0);
  os_schema_options options = {.stop = &stop,
                               .foreign = true,
                               .formats = formats,
                               .depth = env->limits.depth,
                               .find = os_host__schema_find,
                               .context = &self->files};
  os_json_options json = {.depth = options.depth};
  os_str name = OS_STR("schema");
  os_report_text(report, name, text);
  OS_TRY(os_json_parse(&self->document, &self->arena, name, text, &json, report));
  if (self->document.root == NULL) return OS_MALFORMED;
  OS_TRY(os_schema_compile(&self->schema, &self->arena, &self->document, &options, report));
  if (self->schema == NULL || report->counts[OS_ERROR] > 0) return OS_MALFORMED;
  return report->incomplete.count > 0 ? OS_LIMIT : OS_OK;
}

os_status opspec_schema_compile(opspec_env *env, os_str text, bool formats, bool others,
                                opspec_schema **out) {
  os_host_begin(env);
  *out = NULL;
  opspec_schema *self = os_memory_calloc(&env->memory, sizeof *self);
  if (self == NULL) {
    opspec_free(env, (void *)(uintptr_t)text.data);
    return os_host_fail(env, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  }
  self->env = env;
  self->text = (void *)(uintptr_t)text.data;
  os_arena_init(&self->arena, &env->memory);
  os_report report;
  os_report_init(&report, &env->scratch, false, env->limits.findings);
  report.kind = OS_STR("json");
  opspec_files files = {.given = others};
  os_status status = os_host_files_open(&self->files, env, &self->arena, &files);
  if (status == OS_OK) status = os_host__schema_open(self, text, formats, &report);
  if (status == OS_OK && report.findings.count > 0) status = os_host_report(env, &report, false);
  if (status == OS_OK) {
    *out = self;
    return OS_OK;
  }
  if (status == OS_MALFORMED || status == OS_LIMIT)
    os_host_report(env, &report, false);
  else
    os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  opspec_schema_free(self);
  return status;
}

os_status opspec_schema_validate(opspec_schema *self, os_str bytes, bool units) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_stop stop = os_host_stop(env, 0);
  os_schema_options options = {.stop = &stop};
  os_json_options json = {.depth = env->limits.depth};
  os_json_document document;
  os_report report;
  os_text written;
  os_str file = {"", 0};
  bool valid = false;
  os_report_init(&report, &env->scratch, false, env->limits.findings);
  report.kind = OS_STR("json");
  os_report_text(&report, file, bytes);
  OS_TRY(os_json_parse(&document, &env->scratch, file, bytes, &json, &report));
  bool readable = document.root != NULL && report.counts[OS_ERROR] == 0;
  if (readable)
    OS_TRY(os_schema_validate(self->schema, &env->scratch, &document, NULL, &options, &report, &valid));
  os_text_init(&written, &env->memory);
  os_status status = OS_OK;
  bool told = report.incomplete.count > 0 && report.findings.count == 0; // it would end the same way
  if (readable && units && !told)
    status = os_schema_write_units(self->schema, &env->scratch, &document, &options, valid, &written);
  if (status == OS_LIMIT) {
    os_report_incomplete(&report, "the output was cut");
    status = OS_OK;
  }
  if (status == OS_OK) status = os_host_report(env, &report, false);
  if (status == OS_OK) {
    env->output.len--; // the closing brace
    os_text_format(&env->output,
                   ",\"valid\":%s,\"units\":", valid && report.counts[OS_ERROR] == 0 ? "true" : "false");
    os_text_put(&env->output, written.len > 0 ? os_text_str(&written) : OS_STR("[]"));
    os_text_char(&env->output, '}');
    status = os_host_end(env);
  }
  os_text_clear(&written);
  return status;
}

void opspec_schema_free(opspec_schema *self) {
  if (self == NULL) return;
  opspec_env *env = self->env;
  os_host_files_close(&self->files);
  os_arena_clear(&self->arena);
  opspec_free(env, self->text);
  os_memory_free(&env->memory, self);
}
