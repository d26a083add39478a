#include "walk.h"

#include "wire.h"

const char *os_plan_list(const os_plan_field *field, const void *message) {
  void *member = os_plan_member(field, message);
  return field->repeated ? *(const char *const *)member : (const char *)member;
}

static os_status os_walk__push(os_walk *self, const os_plan *plan, ProtobufCMessage *message) {
  os_walk_frame *frame = OS_PUSH(&self->arena, &self->frames);
  if (frame == NULL || plan == NULL) return OS_OUT_OF_MEMORY;
  frame->plan = plan;
  frame->message = message;
  if (os_proto_is_blank(message)) frame->field = plan->count;
  return OS_OK;
}

void os_walk_init(os_walk *self, os_memory *memory) {
  *self = (os_walk){0};
  os_arena_init(&self->arena, memory);
  self->plans.arena = &self->arena;
}

os_status os_walk_begin(os_walk *self, os_memory *memory, const void *message) {
  os_walk_init(self, memory);
  return os_walk_root(self, message);
}

os_status os_walk_root(os_walk *self, const void *message) {
  self->frames.count = 0;
  self->closing = false;
  ProtobufCMessage *root = (ProtobufCMessage *)(uintptr_t)message;
  return os_walk__push(self, os_plans_get(&self->plans, root->descriptor), root);
}

void os_walk_free(os_walk *self) { os_arena_clear(&self->arena); }

os_status os_walk_next(os_walk *self, os_walk_event *event) {
  if (self->closing) {
    self->closing = false;
    self->frames.count--;
  }
  os_walk_frame *frame = os_walk_top(self);
  for (; frame->field < frame->plan->count; frame->field++, frame->element = 0) {
    self->field = &frame->plan->fields[frame->field];
    self->count = os_plan_elements(self->field, frame->message);
    if (frame->element >= self->count) {
      if (frame->element > 0 || os_plan_far(self->field, frame->message) == NULL) continue;
      frame->element = 1;
      *event = OS_WALK_FIELD;
      return OS_OK;
    }
    self->index = frame->element;
    if (self->field->type != PROTOBUF_C_TYPE_MESSAGE) {
      frame->element = self->count;
      *event = OS_WALK_FIELD;
      return OS_OK;
    }
    ProtobufCMessage *child = os_plan_child(self->field, frame->message, frame->element++);
    while (child == NULL && frame->element < self->count)
      child = os_plan_child(self->field, frame->message, frame->element++);
    if (child == NULL) continue;
    self->index = frame->element - 1;
    *event = OS_WALK_OPEN;
    return os_walk__push(self, os_plans_child(&self->plans, self->field), child);
  }
  self->closing = true;
  *event = self->frames.count == 1 ? OS_WALK_END : OS_WALK_CLOSE;
  if (*event == OS_WALK_END) return OS_OK;
  const os_walk_frame *outer = frame - 1;
  self->field = &outer->plan->fields[outer->field];
  self->count = os_plan_elements(self->field, outer->message);
  self->index = outer->element - 1;
  return OS_OK;
}

size_t os_walk_pass(os_walk *self) {
  os_walk_frame *frame = os_walk_top(self), *outer = frame - 1;
  size_t first = outer->element, at = first;
  if (!self->field->repeated || !os_proto_is_blank(frame->message)) return 0;
  ProtobufCMessage *const *list =
      (ProtobufCMessage *const *)(const void *)os_plan_list(self->field, outer->message);
  while (at < self->count && list[at] != NULL && (list[at] == frame->message || os_proto_is_blank(list[at])))
    at++;
  if (at == first) return 0;
  outer->element = at;
  self->index = at - 1;
  frame->message = list[at - 1];
  return at - first;
}

os_str os_walk_path(const os_walk *self, os_arena *arena, const os_plan_field *field, int64_t index) {
  os_path *steps = OS_ARENA_ARRAY(arena, self->frames.count, os_path);
  if (steps == NULL) return (os_str){"", 0};
  const os_path *last = NULL;
  for (size_t i = 0; i < self->frames.count; i++) {
    const os_walk_frame *frame = &self->frames.items[i];
    bool top = i + 1 == self->frames.count;
    const os_plan_field *step = top ? field : &frame->plan->fields[frame->field];
    if (step == NULL) break;
    int64_t at = top ? index : step->repeated ? (int64_t)frame->element - 1 : -1;
    steps[i] = (os_path){last, os_str_of(step->field->name), at};
    last = &steps[i];
  }
  return os_path_print(last, arena);
}

// ---- Lists that are outside -------------------------------------------------------------------------------

static bool os_far__large(uint8_t type) {
  return type == PROTOBUF_C_TYPE_INT64 || type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_SINT64 ||
         type == PROTOBUF_C_TYPE_DOUBLE;
}

static void os_far__scalar(uint8_t type, uint64_t value, void *to) {
  uint32_t small = type == PROTOBUF_C_TYPE_BOOL ? value != 0 : (uint32_t)value;
  if (type == PROTOBUF_C_TYPE_SINT64) value = (uint64_t)os_unzigzag(value);
  if (type == PROTOBUF_C_TYPE_SINT32) small = (uint32_t)os_unzigzag((uint32_t)value);
  memcpy(to, os_far__large(type) ? (const void *)&value : (const void *)&small, os_far__large(type) ? 8 : 4);
}

os_status os_far_next(const os_source *source, const os_far_list *far, uint64_t *at, os_far *element,
                      uint64_t *number) {
  enum { HEAD = 2 * OS_VARINT_MAX };
  uint8_t head[HEAD];
  uint64_t end = far->bytes.offset + far->bytes.length, tag, value = 0;
  size_t n = end - *at < HEAD ? (size_t)(end - *at) : HEAD;
  OS_TRY(os_source_read(source, *at, n, head));
  int size = os_varint_read(head, head + n, &tag), more = 0;
  uint32_t wire = (uint32_t)(tag & 7);
  if (size <= 0) return OS_MALFORMED;
  if (wire == OS_WIRE_VARINT || wire == OS_WIRE_BYTES) more = os_varint_read(head + size, head + n, &value);
  if (more < 0 || (wire == OS_WIRE_VARINT && more == 0)) return OS_MALFORMED;
  *number = value;
  *element = (os_far){*at + (uint64_t)(size + more), wire == OS_WIRE_BYTES    ? value
                                                     : wire == OS_WIRE_VARINT ? 0
                                                     : wire == OS_WIRE_64     ? 8
                                                                              : 4};
  *at = element->offset + element->length;
  return *at <= end ? OS_OK : OS_MALFORMED;
}

static os_status os_far__tagged(const os_source *source, uint8_t type, const os_far_list *far, size_t count,
                                uint64_t *at, char *to) {
  size_t width = os_far__large(type) ? 8 : 4;
  for (size_t i = 0; i < count; i++) {
    os_far element;
    uint64_t number;
    OS_TRY(os_far_next(source, far, at, &element, &number));
    if (element.length == 0)
      os_far__scalar(type, number, to + i * width);
    else
      OS_TRY(os_source_read(source, element.offset, width, to + i * width));
  }
  return OS_OK;
}

os_status os_far_list_read(const os_source *source, uint8_t type, const os_far_list *far, uint64_t first,
                           size_t count, uint64_t *at, void *to) {
  uint64_t end = far->bytes.offset + far->bytes.length;
  size_t width = os_far__large(type) ? 8 : 4;
  if (first > far->count || count > far->count - first) return OS_MALFORMED;
  if (first == 0) *at = far->bytes.offset;
  if (far->tagged) return os_far__tagged(source, type, far, count, at, to);
  if (type == PROTOBUF_C_TYPE_FLOAT || type == PROTOBUF_C_TYPE_DOUBLE)
    return os_source_read(source, far->bytes.offset + first * width, count * width, to);
  enum { PIECE = 1024 };
  uint8_t piece[PIECE];
  uint64_t next = *at;
  for (char *out = to; count > 0;) {
    size_t n = end - next < PIECE ? (size_t)(end - next) : PIECE;
    OS_TRY(os_source_read(source, next, n, piece));
    const uint8_t *p = piece, *limit = piece + n;
    while (count > 0) {
      uint64_t value;
      int size = os_varint_read(p, limit, &value);
      if (size <= 0) break;
      os_far__scalar(type, value, out);
      out += width;
      p += size;
      count--;
    }
    if (p == piece) return OS_MALFORMED;
    next += (uint64_t)(p - piece);
  }
  *at = next;
  return OS_OK;
}

static os_status os_far__load_bytes(os_arena *arena, const os_source *source, const os_far_list *far,
                                    ProtobufCBinaryData *to) {
  uint64_t at = far->bytes.offset, number;
  for (uint64_t i = 0; i < far->count; i++) {
    os_far element;
    OS_TRY(os_far_next(source, far, &at, &element, &number));
    uint8_t *copy = element.length > SIZE_MAX ? NULL : os_arena_alloc(arena, (size_t)element.length);
    OS_TRY_ALLOC(copy);
    OS_TRY(os_source_read(source, element.offset, (size_t)element.length, copy));
    to[i] = (ProtobufCBinaryData){(size_t)element.length, element.length == 0 ? NULL : copy};
  }
  return OS_OK;
}

os_status os_proto_load_lists(os_memory *memory, os_arena *arena, const os_source *source, void *message) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  if (source == NULL || source->data != NULL) return OS_OK;
  os_status status = os_walk_begin(&walk, memory, message);
  while (status == OS_OK && event != OS_WALK_END) {
    status = os_walk_next(&walk, &event);
    if (status != OS_OK || event != OS_WALK_FIELD || walk.count > 0) continue;
    ProtobufCMessage *top = os_walk_top(&walk)->message;
    const os_far_list *far = os_plan_far(walk.field, top);
    size_t bytes;
    uint64_t at = 0;
    void *list = far->count > SIZE_MAX || !os_size_mul((size_t)far->count, walk.field->size, &bytes)
                     ? NULL
                     : os_arena_alloc(arena, bytes);
    status = list == NULL ? OS_OUT_OF_MEMORY
             : walk.field->type == PROTOBUF_C_TYPE_BYTES
                 ? os_far__load_bytes(arena, source, far, list)
                 : os_far_list_read(source, walk.field->type, far, 0, (size_t)far->count, &at, list);
    if (status != OS_OK) continue;
    *(void **)os_plan_member(walk.field, top) = list;
    *os_plan_count(walk.field, top) = (size_t)far->count;
  }
  os_walk_free(&walk);
  return status;
}
