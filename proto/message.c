#include "message.h"

#include "plan.h"

void *os_proto_new(os_arena *arena, const ProtobufCMessageDescriptor *type, void *parent) {
  os_proto_head *head = os_arena_zalloc(arena, sizeof *head + type->sizeof_message);
  if (head == NULL) return NULL;
  head->edited = 1;
  head->parent = parent;
  ProtobufCMessage *message = (ProtobufCMessage *)(void *)(head + 1);
  message->descriptor = type;
  return message;
}

void os_proto_edited(void *message) {
  while (message != NULL) {
    os_proto_head *head = os_proto_head_of(message);
    head->edited = 1;
    message = head->parent;
  }
}

typedef struct os_message_list {
  ProtobufCMessage **items;
  size_t count, room;
} os_message_list;

static os_status os_message__children(os_arena *arena, os_message_list *list, os_plans *plans,
                                      ProtobufCMessage *message) {
  const os_plan *plan = os_plans_get(plans, message->descriptor);
  OS_TRY_ALLOC(plan);
  for (uint32_t i = 0; i < plan->count; i++) {
    const os_plan_field *field = &plan->fields[i];
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    size_t count = field->repeated ? *os_plan_count(field, message) : os_plan_has(field, message);
    void *member = os_plan_member(field, message);
    ProtobufCMessage **children =
        field->repeated ? *(ProtobufCMessage ***)member : (ProtobufCMessage **)member;
    for (size_t j = 0; j < count; j++) {
      ProtobufCMessage **slot = OS_PUSH(arena, list);
      OS_TRY_ALLOC(slot);
      *slot = children[j];
    }
  }
  return OS_OK;
}

os_status os_proto_detach(os_memory *memory, void *message) {
  os_arena arena;
  os_arena_init(&arena, memory);
  os_plans plans = {.arena = &arena};
  os_message_list list = {0};
  ProtobufCMessage *next = message;
  os_status status = OS_OK;
  while (status == OS_OK && next != NULL) {
    os_proto_head *head = os_proto_head_of(next);
    head->ranged = 0;
    head->edited = 1;
    status = os_message__children(&arena, &list, &plans, next);
    next = list.count > 0 ? list.items[--list.count] : NULL;
  }
  os_arena_clear(&arena);
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
