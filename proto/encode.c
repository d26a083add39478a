#include "encode.h"

#include "walk.h"
#include "wire.h"

enum { BUFFER = 4096, CHUNK = 1 << 16 };

// A message being measured or written: which element of which field is next.
typedef struct os_encode_frame {
  const os_plan *plan;
  ProtobufCMessage *message;
  uint32_t field;
  size_t element;
  uint64_t size;
} os_encode_frame;

// Elements of a list that lie in the source one after the other, as they are written: found when they are measured.
typedef struct os_encode_run {
  const void *list;
  size_t first, count;
  uint64_t from, length;
} os_encode_run;

typedef struct os_encoder {
  os_arena arena; // frames and plans
  os_plans plans;
  struct {
    os_encode_frame *items;
    size_t count, room;
  } frames;
  struct { // in the order in which they are written
    os_encode_run *items;
    size_t count, room;
  } runs;
  size_t run; // the next one that is written
  const os_source *source;
  const os_sink *sink;
  uint8_t *chunk;      // for copies from a source that is not in memory
  uint64_t from, left; // a range of the source to be copied next, to which what follows it may be added
  uint64_t written;    // to the sink
  size_t used;         // of buffer
  uint8_t buffer[BUFFER];
} os_encoder;

static bool os_encode__copied(const ProtobufCMessage *message) {
  return os_proto_is(message, OS_PROTO_RANGED) && !os_proto_is(message, OS_PROTO_EDITED);
}

static os_status os_encode__push(os_encoder *self, ProtobufCMessage *message) {
  os_encode_frame *frame = OS_PUSH(&self->arena, &self->frames);
  OS_TRY_ALLOC(frame);
  *frame = (os_encode_frame){.plan = os_plans_get(&self->plans, message->descriptor), .message = message};
  OS_TRY_ALLOC(frame->plan);
  return OS_OK;
}

// Number that a varint type is written as.
static uint64_t os_encode__number(uint8_t type, const void *from) {
  int32_t small;
  uint64_t large;
  switch (type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64: memcpy(&large, from, 8); return large;
  case PROTOBUF_C_TYPE_SINT64: memcpy(&large, from, 8); return os_zigzag((int64_t)large);
  default: break;
  }
  memcpy(&small, from, 4);
  if (type == PROTOBUF_C_TYPE_UINT32) return (uint32_t)small;
  if (type == PROTOBUF_C_TYPE_SINT32) return (uint32_t)os_zigzag(small);
  if (type == PROTOBUF_C_TYPE_BOOL) return small != 0;
  return (uint64_t)(int64_t)small; // negative ones take ten bytes
}

static uint64_t os_encode__bytes_size(ProtobufCBinaryData bytes) {
  uint64_t n = os_bytes_length(bytes);
  return n + os_varint_size(n);
}

static uint64_t os_encode__tag_size(const os_plan_field *field) {
  return os_varint_size((uint64_t)field->field->id << 3);
}

// One element without its tag; not for messages.
static uint64_t os_encode__element_size(const os_plan_field *field, const char *element) {
  if (field->wire == OS_WIRE_VARINT) return os_varint_size(os_encode__number(field->type, element));
  if (field->wire != OS_WIRE_BYTES) return field->size;
  ProtobufCBinaryData bytes;
  memcpy(&bytes, element, sizeof bytes);
  return os_encode__bytes_size(bytes);
}

static uint64_t os_encode__elements_size(const os_plan_field *field, const ProtobufCMessage *message,
                                         size_t count) {
  const char *list = os_plan_list(field, message);
  if (field->packable && field->wire != OS_WIRE_VARINT) return (uint64_t)count * field->size;
  uint64_t size = 0;
  for (size_t i = 0; i < count; i++) size += os_encode__element_size(field, list + i * field->size);
  return size;
}

static uint64_t os_encode__field_size(const os_plan_field *field, const ProtobufCMessage *message,
                                      size_t count) {
  const os_far_list *far = os_plan_far(field, message);
  if (far != NULL && far->tagged) return far->bytes.length;
  uint64_t tag = os_encode__tag_size(field),
           size = far != NULL ? far->bytes.length : os_encode__elements_size(field, message, count);
  return field->packed ? tag + os_varint_size(size) + size : tag * count + size;
}

static ProtobufCBinaryData os_encode__unknown(const ProtobufCMessageUnknownField *unknown) {
  return (ProtobufCBinaryData){unknown->len, unknown->data};
}

static uint64_t os_encode__unknown_size(const ProtobufCMessage *message) {
  uint64_t size = 0;
  for (unsigned i = 0; i < message->n_unknown_fields; i++)
    size += os_varint_size((uint64_t)message->unknown_fields[i].tag << 3) +
            os_bytes_length(os_encode__unknown(&message->unknown_fields[i]));
  return size;
}

static os_status os_encode__add_run(os_encoder *self, os_encode_run run) {
  os_encode_run *added = OS_PUSH(&self->arena, &self->runs);
  OS_TRY_ALLOC(added);
  *added = run;
  return OS_OK;
}

// Tag and length of a message; how many bytes they take.
static inline size_t os_encode__head(const os_plan_field *field, uint64_t length, uint8_t *head) {
  size_t n = os_varint_write(head, (uint64_t)field->field->id << 3 | OS_WIRE_BYTES);
  return n + os_varint_write(head + n, length);
}

// The message stands in the source behind this head.
static inline bool os_encode__stands(const os_encoder *self, uint64_t at, const uint8_t *head, size_t n) {
  const uint8_t *data = self->source == NULL ? NULL : self->source->data;
  if (data == NULL || at < n || at > self->source->length) return false;
  size_t i = 0;
  while (i < n && data[at - n + i] == head[i]) i++;
  return i == n;
}

// Measures elements that are copied, from frame->element on; those that stand in the source one after the other are a run.
static os_status os_encode__measure_copied(os_encoder *self, os_encode_frame *frame,
                                           const os_plan_field *field, size_t count) {
  ProtobufCMessage *const *list =
      (ProtobufCMessage *const *)(const void *)os_plan_list(field, frame->message);
  os_encode_run run = {.list = list};
  size_t at = frame->element;
  uint64_t size = 0;
  for (; at < count && os_encode__copied(list[at]); at++) {
    uint8_t head[2 * OS_VARINT_MAX];
    uint64_t length = os_proto_length(list[at]), start = os_proto_offset(list[at]);
    size_t n = os_encode__head(field, length, head);
    size += n + length;
    bool stands = os_encode__stands(self, start, head, n);
    if (run.count > 0 && stands && start - n == run.from + run.length) {
      run.count++;
      run.length += n + length;
      continue;
    }
    if (run.count > 1) OS_TRY(os_encode__add_run(self, run));
    run = (os_encode_run){list, at, stands, start - n, n + length};
  }
  if (run.count > 1) OS_TRY(os_encode__add_run(self, run));
  frame->element = at;
  frame->size += size;
  return OS_OK;
}

// Adds what the top frame's fields take, until a message inside it has to be measured first.
static os_status os_encode__measure(os_encoder *self) {
  os_encode_frame *frame = &self->frames.items[self->frames.count - 1];
  for (; frame->field < frame->plan->count; frame->field++, frame->element = 0) {
    const os_plan_field *field = &frame->plan->fields[frame->field];
    size_t count = os_plan_elements(field, frame->message);
    if (count == 0 && os_plan_far(field, frame->message) == NULL) continue;
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
      frame->size += os_encode__field_size(field, frame->message, count);
      continue;
    }
    OS_TRY(os_encode__measure_copied(self, frame, field, count));
    if (frame->element == count) continue;
    ProtobufCMessage *const *list =
        (ProtobufCMessage *const *)(const void *)os_plan_list(field, frame->message);
    return os_encode__push(self, list[frame->element++]);
  }
  uint64_t size = frame->size + os_encode__unknown_size(frame->message);
  os_proto_set(frame->message, OS_PROTO_EDITED, OS_PROTO_RANGED);
  if (!os_proto_set_length(frame->message, size)) return OS_LIMIT;
  if (--self->frames.count == 0) return OS_OK;
  os_encode_frame *outer = &self->frames.items[self->frames.count - 1];
  outer->size += os_encode__tag_size(&outer->plan->fields[outer->field]) + os_varint_size(size) + size;
  return OS_OK;
}

static os_status os_encode__sizes(os_encoder *self, ProtobufCMessage *message) {
  if (os_encode__copied(message)) return OS_OK;
  OS_TRY(os_encode__push(self, message));
  while (self->frames.count > 0) OS_TRY(os_encode__measure(self));
  return OS_OK;
}

static os_status os_encode__flush(os_encoder *self) {
  size_t n = self->used;
  self->used = 0;
  self->written += n;
  return n == 0 ? OS_OK : self->sink->write(self->sink->context, self->buffer, n);
}

static os_status os_encode__write_bytes(os_encoder *self, const void *data, size_t n) {
  if (n > BUFFER - self->used) OS_TRY(os_encode__flush(self));
  if (n > BUFFER) {
    self->written += n;
    return self->sink->write(self->sink->context, data, n);
  }
  if (n > 0) os_bytes_copy((char *)self->buffer + self->used, data, n);
  self->used += n;
  return OS_OK;
}

static os_status os_encode__copy_now(os_encoder *self) {
  uint64_t from = self->from, n = self->left;
  self->left = 0;
  if (n == 0) return OS_OK;
  if (self->sink->copy != NULL && (self->source->data == NULL || n > BUFFER || self->sink->every)) {
    OS_TRY(os_encode__flush(self));
    self->written += n;
    return self->sink->copy(self->sink->context, from, n);
  }
  if (self->source->data != NULL) return os_encode__write_bytes(self, self->source->data + from, (size_t)n);
  if (self->chunk == NULL) self->chunk = os_arena_alloc(&self->arena, CHUNK);
  OS_TRY_ALLOC(self->chunk);
  while (n > 0) {
    size_t piece = n < CHUNK ? (size_t)n : CHUNK;
    OS_TRY(os_source_read(self->source, from, piece, self->chunk));
    OS_TRY(os_encode__write_bytes(self, self->chunk, piece));
    from += piece;
    n -= piece;
  }
  return OS_OK;
}

static os_status os_encode__put(os_encoder *self, const void *data, size_t n) {
  if (self->left > 0) OS_TRY(os_encode__copy_now(self));
  return os_encode__write_bytes(self, data, n);
}

static os_status os_encode__varint(os_encoder *self, uint64_t value) {
  uint8_t bytes[OS_VARINT_MAX];
  return os_encode__put(self, bytes, os_varint_write(bytes, value));
}

static os_status os_encode__copy(os_encoder *self, uint64_t from, uint64_t n) {
  if (self->source == NULL || from > self->source->length || n > self->source->length - from)
    return OS_INVALID_ARGUMENT;
  if (self->left > 0 && self->from + self->left == from) {
    self->left += n;
    return OS_OK;
  }
  OS_TRY(os_encode__copy_now(self));
  self->from = from;
  self->left = n;
  return OS_OK;
}

static os_status os_encode__bytes(os_encoder *self, ProtobufCBinaryData bytes) {
  if (!os_bytes_is_far(bytes)) return os_encode__put(self, bytes.data, bytes.len);
  const os_far *far = (const os_far *)(const void *)bytes.data;
  return os_encode__copy(self, far->offset, far->length);
}

static os_status os_encode__element(os_encoder *self, const os_plan_field *field, const char *element) {
  if (field->wire == OS_WIRE_VARINT) return os_encode__varint(self, os_encode__number(field->type, element));
  if (field->wire != OS_WIRE_BYTES) return os_encode__put(self, element, field->size);
  ProtobufCBinaryData bytes;
  memcpy(&bytes, element, sizeof bytes);
  OS_TRY(os_encode__varint(self, os_bytes_length(bytes)));
  return os_encode__bytes(self, bytes);
}

static os_status os_encode__tag(os_encoder *self, uint32_t number, uint32_t wire) {
  return os_encode__varint(self, (uint64_t)number << 3 | wire);
}

static os_status os_encode__field(os_encoder *self, const os_plan_field *field,
                                  const ProtobufCMessage *message, size_t count) {
  const char *list = os_plan_list(field, message);
  const os_far_list *far = os_plan_far(field, message);
  bool packed = field->packed;
  if (far != NULL) {
    if (!far->tagged) {
      OS_TRY(os_encode__tag(self, field->field->id, OS_WIRE_BYTES));
      OS_TRY(os_encode__varint(self, far->bytes.length));
    }
    return os_encode__copy(self, far->bytes.offset, far->bytes.length);
  }
  if (packed) {
    OS_TRY(os_encode__tag(self, field->field->id, OS_WIRE_BYTES));
    OS_TRY(os_encode__varint(self, os_encode__elements_size(field, message, count)));
    if (field->wire != OS_WIRE_VARINT) return os_encode__put(self, list, count * field->size);
  }
  for (size_t i = 0; i < count; i++) {
    if (!packed) OS_TRY(os_encode__tag(self, field->field->id, field->wire));
    OS_TRY(os_encode__element(self, field, list + i * field->size));
  }
  return OS_OK;
}

// An edited message begins: where it is from now on is known.
static os_status os_encode__begin(os_encoder *self, ProtobufCMessage *message) {
  uint64_t before = self->source == NULL ? 0 : self->source->length;
  if (os_proto_set_offset(message, before + self->written + self->used))
    os_proto_set(message, OS_PROTO_RANGED, 0);
  return os_encode__push(self, message);
}

// Tag and length, and the message where it is copied: most stand in the source as they are written here.
static os_status os_encode__child(os_encoder *self, const os_plan_field *field, const void *child,
                                  bool copied) {
  uint8_t head[2 * OS_VARINT_MAX];
  uint64_t length = os_proto_length(child), at = copied ? os_proto_offset(child) : 0;
  size_t n = os_encode__head(field, length, head);
  if (!copied) return os_encode__put(self, head, n);
  if (os_encode__stands(self, at, head, n)) return os_encode__copy(self, at - n, n + length);
  OS_TRY(os_encode__put(self, head, n));
  return os_encode__copy(self, at, length);
}

// Writes the field's messages from frame->element on, until one of them has to be begun. *begun: so it was; `frame` is void.
static os_status os_encode__messages(os_encoder *self, os_encode_frame *frame, const os_plan_field *field,
                                     size_t count, bool *begun) {
  ProtobufCMessage *const *list =
      (ProtobufCMessage *const *)(const void *)os_plan_list(field, frame->message);
  *begun = false;
  while (frame->element < count) {
    const os_encode_run *run = self->run < self->runs.count ? &self->runs.items[self->run] : NULL;
    if (run != NULL && run->list == list && run->first == frame->element) {
      self->run++;
      frame->element += run->count;
      OS_TRY(os_encode__copy(self, run->from, run->length));
      continue;
    }
    ProtobufCMessage *child = list[frame->element++];
    bool copied = os_encode__copied(child);
    OS_TRY(os_encode__child(self, field, child, copied));
    if (copied) continue;
    *begun = true;
    return os_encode__begin(self, child);
  }
  return OS_OK;
}

// Writes the top frame's fields, until an edited message inside it has to be written.
static os_status os_encode__write(os_encoder *self) {
  os_encode_frame *frame = &self->frames.items[self->frames.count - 1];
  for (; frame->field < frame->plan->count; frame->field++, frame->element = 0) {
    const os_plan_field *field = &frame->plan->fields[frame->field];
    size_t count = os_plan_elements(field, frame->message);
    if (count == 0 && os_plan_far(field, frame->message) == NULL) continue;
    bool begun = false;
    OS_TRY(field->type == PROTOBUF_C_TYPE_MESSAGE ? os_encode__messages(self, frame, field, count, &begun)
                                                  : os_encode__field(self, field, frame->message, count));
    if (begun) return OS_OK;
  }
  for (unsigned i = 0; i < frame->message->n_unknown_fields; i++) {
    const ProtobufCMessageUnknownField *unknown = &frame->message->unknown_fields[i];
    OS_TRY(os_encode__tag(self, unknown->tag, (uint32_t)unknown->wire_type));
    OS_TRY(os_encode__bytes(self, os_encode__unknown(unknown)));
  }
  self->frames.count--;
  return OS_OK;
}

static os_status os_encode__run(os_encoder *self, ProtobufCMessage *message) {
  OS_TRY(os_encode__sizes(self, message));
  if (os_encode__copied(message))
    OS_TRY(os_encode__copy(self, os_proto_offset(message), os_proto_length(message)));
  else
    OS_TRY(os_encode__begin(self, message));
  while (self->frames.count > 0) OS_TRY(os_encode__write(self));
  OS_TRY(os_encode__copy_now(self));
  return os_encode__flush(self);
}

static os_encoder *os_encode__new(os_memory *memory, const os_source *source, const os_sink *sink) {
  os_encoder *self = os_memory_calloc(memory, sizeof *self);
  if (self == NULL) return NULL;
  os_arena_init(&self->arena, memory);
  self->plans.arena = &self->arena;
  self->source = source;
  self->sink = sink;
  return self;
}

static void os_encode__free(os_encoder *self) {
  os_memory *memory = self->arena.memory;
  os_arena_clear(&self->arena);
  os_memory_free(memory, self);
}

os_status os_proto_encode(os_memory *memory, const os_source *source, void *message, const os_sink *sink) {
  os_encoder *self = os_encode__new(memory, source, sink);
  OS_TRY_ALLOC(self);
  os_status status = os_encode__run(self, message);
  os_encode__free(self);
  return status;
}

os_status os_proto_encoded_size(os_memory *memory, void *message, uint64_t *size) {
  os_encoder *self = os_encode__new(memory, NULL, NULL);
  OS_TRY_ALLOC(self);
  os_status status = os_encode__sizes(self, message);
  *size = os_proto_length(message);
  os_encode__free(self);
  return status;
}

static os_status os_encode__to_text(void *context, const void *data, size_t n) {
  os_text *text = context;
  os_text_put(text, (os_str){data, n});
  return text->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

os_sink os_sink_text(os_text *text) { return (os_sink){.write = os_encode__to_text, .context = text}; }
