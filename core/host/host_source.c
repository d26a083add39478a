#include "host.h"

#include "tensor_field.h"
#include "walk.h"

// Bytes that stay outside: read through windows, or brought in range by range.

enum { WINDOW = 1 << 16 };

// The range that holds the byte at `offset`, or the first one behind it.
static size_t os_host__range(const os_host_source *self, uint64_t offset) {
  size_t low = 0, high = self->ranges.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const os_host_range *range = &self->ranges.items[middle];
    if (range->offset + range->bytes.len <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static const uint8_t *os_host__find(void *context, uint64_t offset, uint64_t n) {
  const os_host_source *self = context;
  size_t at = os_host__range(self, offset);
  if (at == self->ranges.count) return NULL;
  const os_host_range *range = &self->ranges.items[at];
  if (offset < range->offset || n > range->bytes.len - (offset - range->offset)) return NULL;
  return (const uint8_t *)range->bytes.data + (size_t)(offset - range->offset);
}

static os_status os_host__read(void *context, uint64_t offset, size_t n, void *to) {
  os_host_source *self = context;
  const opspec_host *host = &self->env->host;
  if (host->read == NULL) return OS_UNSUPPORTED;
  if (n > WINDOW / 4) return host->read(host->context, self->number, offset, n, to);
  if (offset < self->window_at || offset + n > self->window_at + self->window_size) {
    uint64_t left = self->source.length - offset;
    size_t size = left < WINDOW ? (size_t)left : WINDOW;
    if (self->window == NULL) self->window = os_memory_alloc(&self->env->memory, WINDOW);
    OS_TRY_ALLOC(self->window);
    self->window_size = 0;
    OS_TRY(host->read(host->context, self->number, offset, size, self->window));
    self->window_at = offset;
    self->window_size = size;
  }
  memcpy(to, self->window + (size_t)(offset - self->window_at), n);
  return OS_OK;
}

void os_host_source_init(os_host_source *self, opspec_env *env, opspec_far far) {
  *self = (os_host_source){.env = env, .number = far.number};
  self->source =
      (os_source){.length = far.length, .read = os_host__read, .find = os_host__find, .context = self};
}

void os_host_source_close(os_host_source *self) {
  if (self->env == NULL) return;
  os_memory *memory = &self->env->memory;
  for (size_t i = 0; i < self->ranges.count; i++)
    os_memory_free(memory, (void *)(uintptr_t)self->ranges.items[i].bytes.data);
  os_memory_free(memory, self->ranges.items);
  os_memory_free(memory, self->window);
  *self = (os_host_source){0};
}

static os_status os_host__put(os_host_source *self, uint64_t offset, os_str bytes) {
  size_t at = os_host__range(self, offset);
  if (self->ranges.count == self->ranges.room) {
    size_t room = self->ranges.room == 0 ? 16 : 2 * self->ranges.room;
    os_host_range *items =
        os_memory_realloc(&self->env->memory, self->ranges.items, room * sizeof *self->ranges.items);
    if (items == NULL) return OS_OUT_OF_MEMORY;
    self->ranges.items = items;
    self->ranges.room = room;
  }
  os_host_range *to = &self->ranges.items[at];
  memmove(to + 1, to, (self->ranges.count++ - at) * sizeof *to);
  *to = (os_host_range){offset, bytes};
  return OS_OK;
}

// ---- External data ----------------------------------------------------------------------------------------

static os_host_external *os_host__new_external(os_host_files *self, os_str location) {
  os_host_external *file = OS_ARENA_NEW(self->arena, os_host_external);
  if (file == NULL) return NULL;
  *file = (os_host_external){.next = self->opened};
  self->opened = file;
  os_map_entry *entry = os_map_put(&self->locations, os_arena_copy(self->arena, location), NULL);
  if (entry == NULL) return NULL;
  entry->value.pointer = file;
  return file;
}

os_status os_host_open_external(void *context, os_str location, os_source *out, os_external_state *state) {
  os_host_files *self = context;
  const os_map_entry *known = os_map_get(&self->locations, location);
  os_host_external *file = known == NULL ? NULL : known->value.pointer;
  if (file == NULL) {
    opspec_file answer;
    opspec_far far;
    os_str bytes = {NULL, 0};
    OS_TRY(os_host_ask(self, location, &bytes, &far, &answer));
    file = os_host__new_external(self, location);
    OS_TRY_ALLOC(file);
    bool there = answer == OPSPEC_FILE_FOUND || answer == OPSPEC_FILE_FAR;
    file->state = there                           ? OS_EXTERNAL_FOUND
                  : answer == OPSPEC_FILE_MISSING ? OS_EXTERNAL_MISSING
                                                  : OS_EXTERNAL_UNREADABLE;
    file->source = os_source_memory(bytes.data, bytes.len);
    if (answer == OPSPEC_FILE_FAR) {
      os_host_source_init(&file->far, self->env, far);
      file->source = file->far.source;
    }
  }
  *out = file->source;
  *state = file->state;
  return OS_OK;
}

// ---- Payloads ---------------------------------------------------------------------------------------------

typedef struct os_host__listing {
  opspec_model *model;
  os_text *out;
  bool all;
  os_walk walk;
} os_host__listing;

static void os_host__list(const os_host__listing *self, const os_source *source, uint64_t offset,
                          uint64_t length) {
  if (length == 0 || os_source_find(source, offset, length) != NULL) return;
  const os_host_source *far = source->context;
  os_text_format(self->out, "%s[%u,%llu,%llu]", self->out->len == 1 ? "" : ",", far->number,
                 (unsigned long long)offset, (unsigned long long)length);
}

static void os_host__list_bytes(const os_host__listing *self, ProtobufCBinaryData bytes) {
  if (!os_bytes_is_far(bytes)) return;
  const os_far *far = (const os_far *)(const void *)bytes.data;
  os_host__list(self, &self->model->document->source, far->offset, far->length);
}

// `indices`: of a sparse tensor.
static void os_host__list_tensor(const os_host__listing *self, const Onnx__TensorProto *tensor,
                                 bool indices) {
  os_tensor_reader reader;
  os_status status = os_tensor_open(&reader, tensor, os_document_origin(self->model->document));
  bool wanted = self->all || indices || tensor->data_type == OP_BOOL;
  if (wanted && status == OS_OK && reader.storage == OS_STORED_EXTERNAL && reader.file.data == NULL &&
      (self->all || indices))
    os_host__list(self, &reader.file, reader.offset, os_tensor_raw_size(reader.elem, reader.count));
  if (wanted) os_host__list_bytes(self, tensor->raw_data);
  for (os_tensor_storage storage = OS_STORED_FLOAT; storage <= OS_STORED_UINT64; storage++) {
    const os_far_list *far = os_tensor_far_list(tensor, storage);
    bool ranged = (storage == OS_STORED_INT32 && tensor->data_type != OP_INT32) ||
                  (storage == OS_STORED_UINT64 && tensor->data_type == OP_UINT32);
    if (far != NULL && (wanted || ranged || storage == OS_STORED_STRING))
      os_host__list(self, &self->model->document->source, far->bytes.offset, far->bytes.length);
  }
  for (size_t i = 0; i < tensor->n_string_data; i++) os_host__list_bytes(self, tensor->string_data[i]);
}

static os_status os_host__list_message(void *context, const void *message) {
  os_host__listing *self = context;
  os_walk *walk = &self->walk;
  os_walk_event event = OS_WALK_OPEN;
  bool root = true;
  os_status status = os_walk_root(walk, message);
  for (; status == OS_OK && event != OS_WALK_END; root = false) {
    const ProtobufCMessage *top = os_walk_top(walk)->message;
    for (unsigned i = 0; self->all && event == OS_WALK_OPEN && i < top->n_unknown_fields; i++)
      os_host__list_bytes(self,
                          (ProtobufCBinaryData){top->unknown_fields[i].len, top->unknown_fields[i].data});
    if (event == OS_WALK_OPEN && top->descriptor == &onnx__tensor_proto__descriptor)
      os_host__list_tensor(self, (const Onnx__TensorProto *)(const void *)top,
                           !root && strcmp(walk->field->field->name, "indices") == 0);
    status = os_walk_next(walk, &event);
  }
  return status;
}

os_status opspec_model_payloads(opspec_model *self, bool all) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_host__listing listing = {.model = self, .out = &env->output, .all = all};
  os_text_char(&env->output, '[');
  os_walk_init(&listing.walk, &env->memory);
  os_status status = os_document_each(self->document, os_host__list_message, &listing);
  os_walk_free(&listing.walk);
  os_text_char(&env->output, ']');
  return status == OS_OK ? os_host_end(env)
                         : os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
}

os_status opspec_model_put(opspec_model *self, uint32_t number, uint64_t offset, os_str bytes) {
  os_host_source *to = NULL;
  for (opspec_model *model = self; to == NULL && model != NULL; model = model->base) {
    if (model->bytes.env != NULL && model->bytes.number == number) to = &model->bytes;
    for (os_host_external *file = model->files.opened; to == NULL && file != NULL; file = file->next)
      if (file->far.env != NULL && file->far.number == number) to = &file->far;
  }
  os_status status = to == NULL ? OS_INVALID_ARGUMENT : os_host__put(to, offset, bytes);
  if (status != OS_OK) opspec_free(self->env, (void *)(uintptr_t)bytes.data);
  return status;
}

// ---- Opening ----------------------------------------------------------------------------------------------

static os_status os_host__opened(opspec_model **model, os_status status) {
  opspec_model *self = *model;
  if (status == OS_NEEDS_HOST) return status;
  self->decoded = self->report.findings.count;
  if (status == OS_OK) status = os_host_describe(self);
  if (status == OS_OK) return OS_OK;
  *model = NULL;
  return os_host_not_opened(self, status);
}

os_status opspec_model_open(opspec_env *env, opspec_far bytes, os_str as, const opspec_files *files,
                            opspec_model **out) {
  os_host_begin(env);
  *out = NULL;
  os_document_options options = {.as = os_kind_find(as), .limits = &env->limits};
  if (as.len > 0 && os_kind_type(options.as) == NULL) {
    os_str message =
        os_arena_format(&env->scratch, "as: \"%.*s\" is no message that can be opened", OS_ARG(as));
    return os_host_fail(env, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
  }
  opspec_model *self;
  OS_TRY(os_host_new_model(env, files, &self));
  if (files->given) options.external = self->files.external;
  options.outline = bytes.length >= OS_HOST_OUTLINE;
  os_host_source_init(&self->bytes, env, bytes);
  *out = self;
  return os_host__opened(
      out, os_document_open(&env->memory, &self->bytes.source, &options, &self->report, &self->document));
}

os_status opspec_model_resume(opspec_model **model) {
  os_host_begin((*model)->env);
  return os_host__opened(model, os_document_resume((*model)->document, &(*model)->report));
}
