#ifndef OPSPEC_TEXT_CLASS_H
#define OPSPEC_TEXT_CLASS_H

#include "bytes.h"

// Classes of ASCII characters, without a locale.
static inline bool os_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool os_is_alpha(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static inline bool os_is_alnum(int c) { return os_is_digit(c) || os_is_alpha(c); }
// Value of a hexadecimal digit, or -1.
static inline int os_hex_digit(int c) {
  if (os_is_digit(c)) return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
// [A-Za-z_][A-Za-z0-9_]*
bool os_is_identifier(os_str text);
// Whether "%" and two hexadecimal digits stand at `at`.
static inline bool os_is_escape(os_str text, size_t at) {
  return at + 2 < text.len && text.data[at] == '%' && os_hex_digit(text.data[at + 1]) >= 0 &&
         os_hex_digit(text.data[at + 2]) >= 0;
}

#endif
