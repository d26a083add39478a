#ifndef OS_WIRE_BUILD_H
#define OS_WIRE_BUILD_H

// Builds small protobuf messages by hand, so that tests need neither files nor the encoder that they may be testing.

#include "arena.h"

static os_arena *os_wire_arena; // set first

typedef os_str wire; // a run of fields

static inline wire wire_join(const wire *parts, size_t count) {
  size_t len = 0;
  for (size_t i = 0; i < count; i++) len += parts[i].len;
  char *data = os_arena_alloc(os_wire_arena, len), *to = data;
  for (size_t i = 0; i < count; i++)
    if (parts[i].len > 0) memcpy(to, parts[i].data, parts[i].len), to += parts[i].len;
  return (wire){data, len};
}
#define JOIN(...) wire_join((const wire[]){__VA_ARGS__}, sizeof((const wire[]){__VA_ARGS__}) / sizeof(wire))

static inline wire wire_varint(uint64_t value) {
  char *data = os_arena_alloc(os_wire_arena, 10);
  size_t len = 0;
  do {
    data[len++] = (char)((value & 127) | (value > 127 ? 128 : 0));
    value >>= 7;
  } while (value > 0);
  return (wire){data, len};
}

static inline wire INT(uint32_t field, int64_t value) {
  return JOIN(wire_varint(field << 3), wire_varint((uint64_t)value));
}
static inline wire MSG(uint32_t field, wire content) {
  return JOIN(wire_varint(field << 3 | 2), wire_varint(content.len), content);
}
static inline wire STR(uint32_t field, const char *text) { return MSG(field, (wire){text, strlen(text)}); }
static inline wire F32(uint32_t field, float value) {
  char *data = os_arena_alloc(os_wire_arena, 4);
  memcpy(data, &value, 4);
  return JOIN(wire_varint(field << 3 | 5), ((wire){data, 4}));
}

#endif
