#include "letters.h"

#include <stdint.h>

// Upper-case letters first, first + step, ..., last; the lower-case one is `distance` further.
static const struct letters_range {
  uint32_t first, last;
  int32_t distance;
  uint32_t step;
} letters_ranges[] = {
    {0x41, 0x5a, 32, 1},    {0xc0, 0xd6, 32, 1},     {0xd8, 0xde, 32, 1},   {0x100, 0x12e, 1, 2},
    {0x132, 0x136, 1, 2},   {0x139, 0x147, 1, 2},    {0x14a, 0x176, 1, 2},  {0x178, 0x178, -121, 1},
    {0x179, 0x17d, 1, 2},   {0x1cd, 0x1db, 1, 2},    {0x1de, 0x1ee, 1, 2},  {0x1f8, 0x21e, 1, 2},
    {0x222, 0x232, 1, 2},   {0x386, 0x386, 38, 1},   {0x388, 0x38a, 37, 1}, {0x38c, 0x38c, 64, 1},
    {0x38e, 0x38f, 63, 1},  {0x391, 0x3a1, 32, 1},   {0x3a3, 0x3ab, 32, 1}, {0x3d8, 0x3ee, 1, 2},
    {0x400, 0x40f, 80, 1},  {0x410, 0x42f, 32, 1},   {0x460, 0x480, 1, 2},  {0x48a, 0x4be, 1, 2},
    {0x4c1, 0x4cd, 1, 2},   {0x4d0, 0x52e, 1, 2},    {0x531, 0x556, 48, 1}, {0x1e00, 0x1e94, 1, 2},
    {0x1ea0, 0x1efe, 1, 2}, {0xff21, 0xff3a, 32, 1},
};

static const uint32_t letters_blanks[][2] = {
    {0x9, 0xd},       {0x1c, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
    {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

// The code point that the text begins with and its length; a stray byte is itself, marked by `*valid` false.
static size_t letters__read(os_str text, uint32_t *code, bool *valid) {
  const unsigned char *at = (const unsigned char *)text.data;
  size_t length = at[0] < 0x80                    ? 1
                  : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                  : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                                                  : 4;
  *valid = length <= text.len && at[0] < 0xf5 && (at[0] < 0x80 || at[0] >= 0xc2);
  *code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
  for (size_t i = 1; *valid && i < length; i++) {
    *valid = (at[i] & 0xc0) == 0x80;
    *code = *code << 6 | (at[i] & 0x3f);
  }
  if (*valid) return length;
  *code = at[0];
  return 1;
}

static size_t letters__write(char *to, uint32_t code) {
  if (code < 0x80) {
    to[0] = (char)code;
    return 1;
  }
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = length; i-- > 1; code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
  to[0] = (char)(marks[length] | code);
  return length;
}

uint32_t letters_case(uint32_t code, bool upper) {
  if (upper && code == 0xb5) return 0x39c;  // micro sign
  if (upper && code == 0x3c2) return 0x3a3; // final sigma
  if (upper && code == 0x17f) return 'S';   // long s
  for (size_t i = 0; i < sizeof letters_ranges / sizeof *letters_ranges; i++) {
    const struct letters_range *range = &letters_ranges[i];
    uint32_t capital = upper ? code - (uint32_t)range->distance : code;
    if (capital < range->first || capital > range->last || (capital - range->first) % range->step != 0)
      continue;
    return upper ? capital : code + (uint32_t)range->distance;
  }
  return code;
}

size_t letters_next(os_str text, uint32_t *code) {
  bool valid;
  size_t length = letters__read(text, code, &valid);
  if (!valid) *code = 0xfffd;
  return length;
}

// No pair needs more bytes for one letter than for the other, but the sharp s, which becomes two.
size_t letters_changed_room(os_str text) { return text.len * 2; }

size_t letters_change(char *to, os_str text, bool upper) {
  char *begin = to;
  while (text.len > 0) {
    uint32_t code;
    bool valid;
    size_t length = letters__read(text, &code, &valid);
    if (!valid)
      *to++ = text.data[0];
    else if (upper && code == 0xdf) {
      *to++ = 'S';
      *to++ = 'S';
    } else {
      to += letters__write(to, letters_case(code, upper));
    }
    text = (os_str){text.data + length, text.len - length};
  }
  return (size_t)(to - begin);
}

size_t letters_blank(os_str text) {
  uint32_t code;
  bool valid;
  if (text.len == 0) return 0;
  size_t length = letters__read(text, &code, &valid);
  for (size_t i = 0; valid && i < sizeof letters_blanks / sizeof *letters_blanks; i++) {
    if (code >= letters_blanks[i][0] && code <= letters_blanks[i][1]) return length;
  }
  return 0;
}
