#ifndef OPSPEC_WIRE_H
#define OPSPEC_WIRE_H

#include <stddef.h>
#include <stdint.h>

// The wire format's smallest parts.

enum { OS_WIRE_VARINT, OS_WIRE_64, OS_WIRE_BYTES, OS_WIRE_GROUP, OS_WIRE_END, OS_WIRE_32 };
enum { OS_VARINT_MAX = 10, OS_FIELD_MAX = 536870911 };

// Number of bytes read; 0 = the bytes end before the varint does, -1 = longer than ten bytes. Bits above 64 are dropped.
static inline int os_varint_read(const uint8_t *p, const uint8_t *end, uint64_t *out) {
  if (p < end && *p < 0x80) {
    *out = *p;
    return 1;
  }
  uint64_t value = 0;
  for (int i = 0; i < OS_VARINT_MAX; i++) {
    if (p + i >= end) return 0;
    value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
    if (p[i] < 0x80) {
      *out = value;
      return i + 1;
    }
  }
  return -1;
}

static inline unsigned os_varint_size(uint64_t value) {
  unsigned n = 1;
  while (value >= 0x80) {
    value >>= 7;
    n++;
  }
  return n;
}

// Writes up to ten bytes and answers how many.
static inline unsigned os_varint_write(uint8_t *p, uint64_t value) {
  unsigned n = 0;
  while (value >= 0x80) {
    p[n++] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  p[n++] = (uint8_t)value;
  return n;
}

static inline uint64_t os_zigzag(int64_t value) { return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63); }
static inline int64_t os_unzigzag(uint64_t value) { return (int64_t)(value >> 1) ^ -(int64_t)(value & 1); }

#endif
