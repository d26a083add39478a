#include "host.h"

#include "report_json.h"

#include <string.h>

enum { OS_HOST_KEEP = 1 << 20 }; // room that the output keeps between calls

os_status opspec_env_new(const opspec_options *options, opspec_env **out) {
  os_memory memory = {.limit = (size_t)options->memory};
  opspec_env *self = os_memory_calloc(&memory, sizeof *self);
  *out = self;
  OS_TRY_ALLOC(self);
  self->memory = memory;
  self->limits = (os_limits){options->bytes, options->memory, options->findings, options->depth};
  self->host = options->host;
  os_arena_init(&self->arena, &self->memory);
  os_arena_init(&self->scratch, &self->memory);
  os_text_init(&self->output, &self->memory);
  self->types = os_types_new(&self->arena);
  if (self->types != NULL) self->registry = os_registry_new(&self->arena, self->types, options->families);
  if (self->registry != NULL) return OS_OK;
  opspec_env_free(self);
  *out = NULL;
  return OS_OUT_OF_MEMORY;
}

void os_host_free_operator(opspec_operator *operator) {
  opspec_env *env = operator->env;
  uint32_t kernel = operator->operator.kernel;
  if (operator->model != NULL) os_model_free(operator->model);
  os_document_close(operator->document);
  os_arena_clear(&operator->arena);
  os_memory_free(&env->memory, operator);
  if (kernel != 0 && env->host.forget != NULL) env->host.forget(env->host.context, kernel);
}

void opspec_env_free(opspec_env *self) {
  if (self == NULL) return;
  opspec_decode_end(self);
  while (self->models != NULL) {
    self->models->refs = 1; // sessions go with their Env
    opspec_model_free(self->models);
  }
  for (opspec_operator *next; self->retired != NULL; self->retired = next) {
    next = self->retired->next;
    os_host_free_operator(self->retired);
  }
  os_text_clear(&self->output);
  os_arena_clear(&self->scratch);
  os_arena_clear(&self->arena);
  os_memory memory = self->memory;
  os_memory_free(&memory, self);
}

// A model can refer to an operator only if it was loaded before the operator was taken back.
void os_host_sweep(opspec_env *self) {
  uint64_t oldest = UINT64_MAX;
  for (const opspec_model *model = self->models; model != NULL; model = model->next) {
    if (model->serial < oldest) oldest = model->serial;
  }
  opspec_operator **at = &self->retired;
  while (*at != NULL) {
    opspec_operator *operator= * at;
    if (operator->retired_at> oldest) {
      at = &operator->next;
      continue;
    }
    *at = operator->next;
    os_host_free_operator(operator);
  }
}

os_str opspec_output(const opspec_env *self) { return os_text_str(&self->output); }
size_t opspec_memory_used(const opspec_env *self) { return self->memory.used; }
void *opspec_alloc(opspec_env *self, size_t size) { return os_memory_alloc(&self->memory, size); }
void opspec_free(opspec_env *self, void *block) { os_memory_free(&self->memory, block); }

// ---- Calls ------------------------------------------------------------------------------------------------

void os_host_begin(opspec_env *self) {
  if (self->output.room > OS_HOST_KEEP || self->output.failed) os_text_clear(&self->output);
  self->output.len = 0;
  self->output.take = NULL;
  os_arena_rewind(&self->scratch);
}

os_status os_host_end(opspec_env *self) { return self->output.failed ? OS_OUT_OF_MEMORY : OS_OK; }

void os_host_write_member(os_text *out, const char *name, os_str value) {
  os_text_char(out, '"');
  os_text_puts(out, name);
  os_text_puts(out, "\":");
  os_json_write_string(out, value);
}

os_status os_host_fail(opspec_env *self, os_status status, os_str message, os_str path, os_report *report) {
  os_text *out = &self->output;
  out->len = 0;
  out->take = NULL;
  os_text_char(out, '{');
  os_host_write_member(out, "message", message.len == 0 ? os_str_of(os_status_text(status)) : message);
  if (path.len > 0) {
    os_text_char(out, ',');
    os_host_write_member(out, "path", path);
  }
  if (report != NULL) {
    os_report_finish(report);
    os_text_puts(out, ",\"findings\":");
    os_report_write_findings(out, report);
  }
  os_text_char(out, '}');
  return status;
}

os_status os_host_trouble(opspec_env *self, const os_trouble *trouble) {
  return os_host_fail(self, trouble->status, trouble->message, trouble->path, NULL);
}

os_status os_host_report(opspec_env *self, os_report *report, bool packed) {
  OS_TRY(os_report_finish(report));
  if (packed && os_report_pack(&self->output, report)) return os_host_end(self);
  OS_TRY(os_report_write(&self->output, report));
  return os_host_end(self);
}

os_status os_host_checker(opspec_env *self, const os_spec_checker **out) {
  if (!self->checker_ready) OS_TRY(os_spec_checker_init(&self->checker, &self->arena, self->registry));
  self->checker_ready = true;
  *out = &self->checker;
  return OS_OK;
}

os_stop os_host_stop(opspec_env *self, double timeout_ms) {
  os_stop stop = {.now = self->host.now, .context = self->host.context};
  if (timeout_ms > 0 && stop.now != NULL) stop.deadline = stop.now(stop.context) + timeout_ms;
  return stop;
}

os_progress os_host_progress(const opspec_env *self, const opspec_check_options *options) {
  return (os_progress){options->progress ? self->host.progress : NULL, self->host.context};
}

// ---- Files ------------------------------------------------------------------------------------------------

static os_status os_host__keep(os_host_files *self, void *block) {
  if (self->block_count == self->block_room) {
    size_t room = self->block_room == 0 ? 8 : 2 * self->block_room;
    void **blocks = os_memory_realloc(&self->env->memory, self->blocks, room * sizeof *blocks);
    if (blocks == NULL) {
      os_memory_free(&self->env->memory, block);
      return OS_OUT_OF_MEMORY;
    }
    self->blocks = blocks;
    self->block_room = room;
  }
  self->blocks[self->block_count++] = block;
  return OS_OK;
}

os_status os_host_ask(os_host_files *self, os_str name, os_str *bytes, opspec_far *far, opspec_file *state) {
  const opspec_host *host = &self->env->host;
  if (self->side != 0) name = os_arena_format(self->arena, "%c/%.*s", self->side, OS_ARG(name));
  *state = host->file == NULL ? OPSPEC_FILE_MISSING : host->file(host->context, name, bytes, far);
  return *state == OPSPEC_FILE_FOUND ? os_host__keep(self, (void *)(uintptr_t)bytes->data) : OS_OK;
}

static os_status os_host__read_file(void *context, os_str name, os_file *file) {
  opspec_file state;
  opspec_far far;
  OS_TRY(os_host_ask(context, name, &file->bytes, &far, &state));
  file->name = name;
  file->state = state == OPSPEC_FILE_FOUND     ? OS_FILE_BYTES
                : state == OPSPEC_FILE_MISSING ? OS_FILE_MISSING
                                               : OS_FILE_UNREADABLE;
  return OS_OK;
}

os_status os_host_files_open(os_host_files *self, opspec_env *env, os_arena *arena,
                             const opspec_files *files) {
  *self = (os_host_files){.env = env, .arena = arena};
  os_map_init(&self->locations, arena);
  if (!files->given) return OS_OK;
  self->bundle.files = OS_ARENA_ARRAY(arena, files->count + 1, os_file);
  OS_TRY_ALLOC(self->bundle.files);
  for (size_t i = 0; i < files->count; i++) {
    os_str name = os_arena_copy(arena, files->names[i]);
    self->bundle.files[i] = (os_file){.name = name, .state = OS_FILE_UNREAD};
  }
  self->bundle.count = files->count;
  self->bundle.complete = files->complete;
  self->bundle.read = os_host__read_file;
  self->bundle.context = self;
  self->external = (os_external){os_host_open_external, self};
  return os_bundle_index(&self->bundle, arena);
}

void os_host_files_close(os_host_files *self) {
  if (self->env == NULL) return;
  for (os_host_external *file = self->opened; file != NULL; file = file->next)
    os_host_source_close(&file->far);
  for (size_t i = 0; i < self->block_count; i++) os_memory_free(&self->env->memory, self->blocks[i]);
  os_memory_free(&self->env->memory, self->blocks);
  *self = (os_host_files){0};
}
