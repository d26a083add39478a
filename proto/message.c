#include "message.h"

#include "walk.h"

const uint64_t os_proto_nothing[OS_PROTO_NOTHING] = {0};

static uint32_t *os_proto__upper(const void *message) {
  return (uint32_t *)(void *)os_proto_head_of(message) - 2;
}

static uint64_t os_proto__whole(const void *message, uint32_t low, unsigned which) {
  return os_proto_is(message, OS_PROTO_LARGE) ? (uint64_t)os_proto__upper(message)[which] << 32 | low : low;
}

uint64_t os_proto_offset(const void *message) {
  return os_proto__whole(message, os_proto_head_of(message)->offset, 0);
}

uint64_t os_proto_length(const void *message) {
  return os_proto__whole(message, os_proto_head_of(message)->length, 1);
}

static bool os_proto__put(void *message, uint32_t *low, unsigned which, uint64_t value) {
  *low = (uint32_t)value;
  if (!os_proto_is(message, OS_PROTO_LARGE)) return value >> 32 == 0;
  os_proto__upper(message)[which] = (uint32_t)(value >> 32);
  return true;
}

bool os_proto_set_offset(void *message, uint64_t offset) {
  return os_proto__put(message, &os_proto_head_of(message)->offset, 0, offset);
}

bool os_proto_set_length(void *message, uint64_t length) {
  return os_proto__put(message, &os_proto_head_of(message)->length, 1, length);
}

void *os_proto_place(void *block, const ProtobufCMessageDescriptor *type, void *parent, uint64_t start,
                     uint64_t end) {
  ProtobufCMessage *message = (ProtobufCMessage *)(void *)((char *)block + os_proto_head_size(end));
  message->descriptor = type;
  os_proto_head *head = os_proto_head_of(message);
  head->parent = (uintptr_t)parent | OS_PROTO_RANGED;
  head->offset = (uint32_t)start;
  head->length = (uint32_t)(end - start);
  if (end >> 32 != 0) {
    head->parent |= OS_PROTO_LARGE;
    os_proto__upper(message)[0] = (uint32_t)(start >> 32);
    os_proto__upper(message)[1] = (uint32_t)((end - start) >> 32);
  }
  return message;
}

void *os_proto_new(os_arena *arena, const ProtobufCMessageDescriptor *type, void *parent) {
  size_t head = os_proto_head_size(UINT64_MAX), lead = (8 - head % 8) % 8; // it may become large
  char *block = os_arena_zalloc(arena, lead + head + type->sizeof_message);
  if (block == NULL) return NULL;
  void *message = os_proto_place(block + lead, type, parent, UINT64_MAX, UINT64_MAX);
  os_proto_set(message, OS_PROTO_EDITED, OS_PROTO_RANGED);
  return message;
}

void os_proto_edited(void *message) {
  for (; message != NULL; message = os_proto_parent(message)) os_proto_set(message, OS_PROTO_EDITED, 0);
}

os_status os_proto_detach(os_memory *memory, void *message) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  os_status status = os_walk_begin(&walk, memory, message);
  while (status == OS_OK && event != OS_WALK_END) {
    if (event == OS_WALK_OPEN) os_proto_set(os_walk_top(&walk)->message, OS_PROTO_EDITED, OS_PROTO_RANGED);
    status = os_walk_next(&walk, &event);
  }
  os_walk_free(&walk);
  return status;
}

os_status os_bytes_read(const os_source *source, ProtobufCBinaryData bytes, uint64_t from, size_t n,
                        void *to) {
  uint64_t length = os_bytes_length(bytes);
  if (from > length || n > length - from) return OS_MALFORMED;
  if (n == 0) return OS_OK;
  if (os_bytes_is_far(bytes)) {
    const os_far *far = (const os_far *)(const void *)bytes.data;
    return source == NULL ? OS_INVALID_ARGUMENT : os_source_read(source, far->offset + from, n, to);
  }
  memcpy(to, bytes.data + from, n);
  return OS_OK;
}

os_status os_bytes_load(const os_source *source, os_arena *arena, ProtobufCBinaryData bytes, os_str *out) {
  *out = (os_str){(const char *)bytes.data, bytes.len};
  if (!os_bytes_is_far(bytes)) return OS_OK;
  uint64_t length = os_bytes_length(bytes);
  *out = (os_str){NULL, 0};
  if (length > SIZE_MAX) return OS_OUT_OF_MEMORY;
  char *copy = os_arena_alloc(arena, (size_t)length);
  OS_TRY_ALLOC(copy);
  OS_TRY(os_bytes_read(source, bytes, 0, (size_t)length, copy));
  *out = (os_str){copy, (size_t)length};
  return OS_OK;
}

os_str os_path_print(const os_path *self, os_arena *arena) {
  size_t len = 0;
  for (const os_path *at = self; at != NULL; at = at->parent) len += at->field.len + 24;
  char *text = os_arena_alloc(arena, len + 1);
  if (text == NULL) return OS_STR("");
  size_t start = len; // filled from its end
  for (const os_path *at = self; at != NULL; at = at->parent) {
    if (at->field.len == 0 && at->index < 0) continue;
    if (start < len && text[start] != '[') text[--start] = '.';
    if (at->index >= 0) {
      uint64_t index = (uint64_t)at->index;
      text[--start] = ']';
      do text[--start] = (char)('0' + index % 10);
      while ((index /= 10) > 0);
      text[--start] = '[';
    }
    start -= at->field.len;
    if (at->field.len > 0) memcpy(text + start, at->field.data, at->field.len);
  }
  return (os_str){text + start, len - start};
}
