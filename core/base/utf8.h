#ifndef OPSPEC_UTF8_H
#define OPSPEC_UTF8_H

#include "bytes.h"

// Length of the well-formed UTF-8 beginning of `text`, in bytes: text.len when all of it is well-formed
// (Unicode table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
size_t os_utf8_valid(os_str text);
// Whether no byte is above 0x7f. Inlined: decoders ask for each name.
static inline bool os_utf8_is_ascii(os_str text) {
  uint64_t bits = 0, word;
  uint32_t half;
  if (text.len >= 8) {
    for (size_t i = 0; i + 8 < text.len; i += 8) {
      memcpy(&word, text.data + i, 8);
      bits |= word;
    }
    memcpy(&word, text.data + text.len - 8, 8); // overlaps what was seen
    bits |= word;
  } else if (text.len >= 4) {
    memcpy(&half, text.data, 4);
    bits = half;
    memcpy(&half, text.data + text.len - 4, 4);
    bits |= half;
  } else {
    for (size_t i = 0; i < text.len; i++) bits |= (unsigned char)text.data[i];
  }
  return (bits & 0x8080808080808080u) == 0;
}
// Code point at *at, which is moved behind it. The text must be well-formed and *at inside it.
uint32_t os_utf8_next(os_str text, size_t *at);
// Number of code points of a well-formed text.
size_t os_utf8_count(os_str text);
// As many whole characters from its beginning as have room in `most` bytes.
os_str os_utf8_head(os_str text, size_t most);
// Writes the code point's 1 to 4 bytes to `to` and answers how many.
size_t os_utf8_put(char *to, uint32_t code_point);

#endif
