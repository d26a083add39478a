#include "host.h"

#include "report_json.h"
#include "zip.h"

// ---- What a bundle holds ----------------------------------------------------------------------------------

static void os_host__write_kernels(opspec_test *self, const os_spec *spec) {
  static const char *const names[] = {"kernel.wasm", "kernel.js", "kernel.mjs", "kernel.onnx"};
  os_text *out = &self->env->output;
  bool first = true;
  os_text_char(out, '[');
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    os_str name = os_arena_format(&self->env->scratch, "%.*s%s", OS_ARG(spec->folder), names[i]);
    os_file file;
    if (os_bundle_find(&self->files.bundle, name, &file) != OS_OK || file.state == OS_FILE_MISSING) continue;
    if (!first) os_text_char(out, ',');
    first = false;
    os_json_write_string(out, name);
  }
  os_text_char(out, ']');
}

static void os_host__write_spec(opspec_test *self, const os_spec *spec) {
  os_text *out = &self->env->output;
  os_text_char(out, '{');
  os_host_write_member(out, "file", spec->document.file);
  os_text_char(out, ',');
  os_host_write_member(out, "name", spec->name);
  os_text_char(out, ',');
  os_host_write_member(out, "domain", spec->domain);
  os_text_char(out, ',');
  os_host_write_member(out, "opType", spec->op_type);
  os_text_puts(out, ",\"kernels\":");
  os_host__write_kernels(self, spec);
  os_text_char(out, '}');
}

static size_t os_host__spec_index(const opspec_test *self, const os_spec *spec) {
  size_t index = 0;
  while (index < self->specs.count && self->specs.items[index] != spec) index++;
  return index;
}

static os_status os_host__write_test(opspec_test *self) {
  os_text *out = &self->env->output;
  os_text_puts(out, "{\"specs\":[");
  for (size_t i = 0; i < self->specs.count; i++) {
    if (i > 0) os_text_char(out, ',');
    os_host__write_spec(self, self->specs.items[i]);
  }
  os_text_puts(out, "],\"cases\":[");
  for (size_t i = 0; i < self->cases.count; i++) {
    const os_case *item = &self->cases.items[i];
    os_text_puts(out, i > 0 ? ",{" : "{");
    if (item->spec != NULL) os_text_format(out, "\"spec\":%zu,", os_host__spec_index(self, item->spec));
    os_host_write_member(out, "path", item->path);
    os_text_char(out, ',');
    os_host_write_member(out, "name", item->name);
    os_text_char(out, '}');
  }
  os_text_puts(out, "]}");
  return os_host_end(self->env);
}

static os_status os_host__open_test(opspec_test *self, os_str zip, const opspec_files *files) {
  opspec_env *env = self->env;
  const os_spec_checker *checker;
  OS_TRY(os_host_checker(env, &checker));
  OS_TRY(os_host_files_open(&self->files, env, &self->arena, files));
  if (zip.data != NULL) {
    os_str trouble;
    os_status status = os_zip_read(&self->arena, zip, env->limits.bytes, &self->files.bundle, &trouble);
    if (status != OS_OK) return os_host_fail(env, status, trouble, (os_str){"", 0}, NULL);
  }
  // The host offers its files during this call only.
  for (size_t i = 0; i < self->files.bundle.count; i++) {
    os_file file;
    OS_TRY(os_bundle_read(&self->files.bundle, i, &file));
  }
  // Which of the files are documents; their evidence is checked when the cases are looked for.
  os_spec_options options = {
      .depth = env->limits.depth, .bundle = &self->files.bundle, .skip_evidence = true};
  OS_TRY(os_bundle_check(checker, &self->arena, &options, &self->report, &self->specs));
  OS_TRY(
      os_cases_find(checker, &self->arena, &self->files.bundle, &self->specs, &self->report, &self->cases));
  return os_host__write_test(self);
}

os_status opspec_test_open(opspec_env *env, os_str zip, const opspec_files *files, opspec_test **out) {
  os_host_begin(env);
  *out = NULL;
  opspec_test *self = os_memory_calloc(&env->memory, sizeof *self);
  if (self == NULL) {
    opspec_free(env, (void *)(uintptr_t)zip.data);
    return os_host_fail(env, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  }
  self->env = env;
  self->zip = (void *)(uintptr_t)zip.data;
  os_arena_init(&self->arena, &env->memory);
  os_report_init(&self->report, &self->arena, false, env->limits.findings);
  self->report.kind = OS_STR("bundle");
  os_status status = os_host__open_test(self, zip, files);
  if (status == OS_OK) {
    *out = self;
    return OS_OK;
  }
  if (env->output.len == 0 || env->output.data[0] != '{' || self->specs.count > 0)
    os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  opspec_test_free(self);
  return status;
}

os_status opspec_test_file(opspec_test *self, os_str name) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_file file;
  OS_TRY(os_bundle_find(&self->files.bundle, name, &file));
  if (file.state != OS_FILE_BYTES) {
    os_str message = os_arena_format(&env->scratch, "the bundle has no file \"%.*s\"", OS_ARG(name));
    return os_host_fail(env, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
  }
  os_text_put(&env->output, file.bytes);
  return os_host_end(env);
}

os_status opspec_test_names(opspec_test *self) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_text_char(&env->output, '[');
  for (size_t i = 0; i < self->files.bundle.count; i++) {
    if (i > 0) os_text_char(&env->output, ',');
    os_json_write_string(&env->output, self->files.bundle.files[i].name);
  }
  os_text_char(&env->output, ']');
  return os_host_end(env);
}

void opspec_test_free(opspec_test *self) {
  if (self == NULL) return;
  os_memory *memory = &self->env->memory;
  os_host_files_close(&self->files);
  os_memory_free(memory, self->zip);
  os_arena_clear(&self->arena);
  os_memory_free(memory, self);
}

// ---- One case ---------------------------------------------------------------------------------------------

os_status opspec_trial_start(opspec_test *test, size_t index, bool check, opspec_trial **out) {
  opspec_env *env = test->env;
  os_host_begin(env);
  *out = NULL;
  if (index >= test->cases.count)
    return os_host_fail(env, OS_INVALID_ARGUMENT, OS_STR("there is no such case"), (os_str){"", 0}, NULL);
  opspec_trial *self = os_memory_calloc(&env->memory, sizeof *self);
  if (self == NULL) return os_host_fail(env, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  self->env = env;
  os_trial_setting setting = {&env->memory, env->registry, &env->limits, check};
  os_status status = os_trial_new(&setting, &test->cases.items[index], &self->trial);
  if (status == OS_OK) {
    *out = self;
    return OS_OK;
  }
  os_memory_free(&env->memory, self);
  return os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
}

os_status opspec_trial_step(opspec_trial *self, uint64_t budget) {
  os_status status = os_trial_step(self->trial, budget);
  if (status == OS_OK || status == OS_YIELD || status == OS_NEEDS_HOST) return status;
  os_host_begin(self->env);
  return os_host_fail(self->env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
}

void opspec_trial_answer(opspec_trial *self, os_status status, os_str message) {
  os_trial_answer(self->trial, status, message);
}

os_status opspec_trial_end(opspec_trial *self, bool misbehaved) {
  static const char *const verdicts[] = {"passed", "failed", "skipped", "error"};
  opspec_env *env = self->env;
  os_host_begin(env);
  os_str message;
  const os_report *report;
  os_verdict verdict = os_trial_end(self->trial, misbehaved, &message, &report);
  os_text *out = &env->output;
  os_text_format(out, "{\"status\":\"%s\"", verdicts[verdict]);
  if (message.len > 0) {
    os_text_char(out, ',');
    os_host_write_member(out, "message", message);
  }
  os_text_puts(out, ",\"findings\":");
  OS_TRY(os_report_write_findings(out, report));
  os_text_char(out, '}');
  return os_host_end(env);
}

void opspec_trial_free(opspec_trial *self) {
  if (self == NULL) return;
  os_trial_free(self->trial);
  os_memory_free(&self->env->memory, self);
}
