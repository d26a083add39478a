#ifndef OPSPEC_BYTES_H
#define OPSPEC_BYTES_H

#include <opspec/str.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// For printf's "%.*s".
#define OS_ARG(str) (int)(str).len, (str).data

// Always inlined: the length of a literal is a constant then.
__attribute__((always_inline)) static inline os_str os_str_of(const char *text) {
  return (os_str){text, text == NULL ? 0 : strlen(text)};
}
// memcmp(a, b, len) == 0 without a call for what is short: most names are.
static inline bool os_bytes_eq(const char *a, const char *b, size_t len) {
  uint64_t x, y;
  uint32_t v, w;
  if (len < 4) {
    for (size_t i = 0; i < len; i++)
      if (a[i] != b[i]) return false;
    return true;
  }
  if (len < 8) { // the first and the last four, which may overlap
    memcpy(&v, a, 4);
    memcpy(&w, b, 4);
    if (v != w) return false;
    memcpy(&v, a + len - 4, 4);
    memcpy(&w, b + len - 4, 4);
    return v == w;
  }
  if (len > 32) return memcmp(a, b, len) == 0;
  for (size_t i = 0; i < len; i += 8) {
    if (i + 8 > len) i = len - 8;
    memcpy(&x, a + i, 8);
    memcpy(&y, b + i, 8);
    if (x != y) return false;
  }
  return true;
}
// memcpy without a call for what is short.
void os_bytes_copy(char *to, const char *from, size_t len);
static inline bool os_str_eq(os_str a, os_str b) {
  return a.len == b.len && os_bytes_eq(a.data, b.data, a.len);
}
__attribute__((always_inline)) static inline bool os_str_is(os_str a, const char *text) {
  return os_str_eq(a, os_str_of(text));
}
// Whether it is one of the texts of a list that NULL ends.
bool os_str_in(os_str a, const char *const *list);
static inline bool os_str_starts(os_str a, os_str prefix) {
  return a.len >= prefix.len && memcmp(a.data, prefix.data, prefix.len) == 0;
}
static inline os_str os_str_slice(os_str a, size_t start, size_t end) {
  return (os_str){a.data + start, end - start};
}
// Place of the first such byte from `from` on; a.len when there is none.
size_t os_str_find(os_str a, size_t from, char c);
// Order by bytes, shorter first where one is the other's beginning.
int os_str_cmp(os_str a, os_str b);
// 64-bit hash; equal bytes and seed give equal hashes on every platform.
uint64_t os_str_hash(os_str a, uint64_t seed);
// Number of single-character edits (insert, delete, replace, swap neighbours) from a to b, or `most` + 1 when
// there are more. Strings over 64 bytes are taken as too far apart. Feeds "did you mean".
unsigned os_str_distance(os_str a, os_str b, unsigned most);

#endif
