#include "numbers_text.h"

#include "elements.h"
#include "floats.h"
#include "kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Printing ---------------------------------------------------------------------------------------------

// Whether a printed number reads back as the same element.
static bool numbers__same(op_elem elem, double x, const char *text) {
  if (elem == OP_DOUBLE) return strtod(text, NULL) == x;
  if (elem == OP_FLOAT) return strtof(text, NULL) == (float)x;
  return math_float_decode((int)elem, math_float_encode((int)elem, strtod(text, NULL), true, 2)) == x;
}

static size_t numbers__positional(char *room, int sign, const char *digits, int count, int exponent) {
  size_t n = 0;
  if (sign) room[n++] = '-';
  if (exponent < 0) {
    room[n++] = '0';
    room[n++] = '.';
    for (int i = -1; i > exponent; i--) room[n++] = '0';
    for (int i = 0; i < count; i++) room[n++] = digits[i];
    return n;
  }
  for (int i = 0; i <= exponent || i < count; i++) {
    if (i == exponent + 1) room[n++] = '.';
    room[n++] = i < count ? digits[i] : '0';
  }
  if (count <= exponent + 1) {
    room[n++] = '.';
    room[n++] = '0';
  }
  return n;
}

static size_t numbers__scientific(char *room, int sign, const char *digits, int count, int exponent) {
  size_t n = 0;
  if (sign) room[n++] = '-';
  room[n++] = digits[0];
  if (count > 1) room[n++] = '.';
  for (int i = 1; i < count; i++) room[n++] = digits[i];
  return n + (size_t)snprintf(room + n, NUMBERS_TEXT_ROOM - n, "e%c%02d", exponent < 0 ? '-' : '+',
                              abs(exponent));
}

static size_t numbers__print_float(op_elem elem, double x, char room[NUMBERS_TEXT_ROOM]) {
  if (!(x == x)) return (size_t)snprintf(room, NUMBERS_TEXT_ROOM, "nan");
  bool negative = (math_f64_bits(x) >> 63) != 0;
  double size = negative ? -x : x;
  if (size > 1.7976931348623157e308)
    return (size_t)snprintf(room, NUMBERS_TEXT_ROOM, negative ? "-inf" : "inf");
  if (size == 0) return (size_t)snprintf(room, NUMBERS_TEXT_ROOM, negative ? "-0.0" : "0.0");
  char text[NUMBERS_TEXT_ROOM], digits[20];
  int precision = 0, count = 0;
  do snprintf(text, sizeof text, "%.*e", precision, size);
  while (++precision < 17 && !numbers__same(elem, size, text));
  const char *at = text;
  for (; *at != 'e'; at++)
    if (*at != '.') digits[count++] = *at;
  int exponent = atoi(at + 1);
  while (count > 1 && digits[count - 1] == '0') count--;
  double limit = elem == OP_DOUBLE ? 1e16 : elem == OP_FLOAT || elem == OP_BFLOAT16 ? 1e6 : 1e3;
  if (size >= 1e-4 && size < limit) return numbers__positional(room, negative, digits, count, exponent);
  return numbers__scientific(room, negative, digits, count, exponent);
}

os_str numbers_print(const op_tensor *tensor, int64_t index, char room[NUMBERS_TEXT_ROOM]) {
  size_t length;
  if (tensor->elem == OP_BOOL)
    length = (size_t)snprintf(room, NUMBERS_TEXT_ROOM, kit_int(tensor, index) ? "True" : "False");
  else if (tensor->elem == OP_UINT64)
    length = (size_t)snprintf(room, NUMBERS_TEXT_ROOM, "%" PRIu64, ((const uint64_t *)tensor->data)[index]);
  else if (elem_is_float(tensor->elem))
    length = numbers__print_float(tensor->elem, kit_double(tensor, index), room);
  else
    length = (size_t)snprintf(room, NUMBERS_TEXT_ROOM, "%" PRId64, kit_int(tensor, index));
  return (os_str){room, length};
}

// ---- Parsing ----------------------------------------------------------------------------------------------

static os_str numbers__trim(os_str text) {
  while (text.len > 0 && (text.data[0] == ' ' || (text.data[0] >= '\t' && text.data[0] <= '\r'))) {
    text.data++;
    text.len--;
  }
  while (text.len > 0 && (text.data[text.len - 1] == ' ' ||
                          (text.data[text.len - 1] >= '\t' && text.data[text.len - 1] <= '\r')))
    text.len--;
  return text;
}

static bool numbers__word(os_str text, const char *word) {
  size_t length = strlen(word);
  if (text.len != length) return false;
  for (size_t i = 0; i < length; i++)
    if ((text.data[i] | 0x20) != word[i]) return false;
  return true;
}

// digits, point, exponent: what strtod may see, so that it never reads hexadecimal or words.
static bool numbers__is_decimal(os_str text) {
  size_t i = 0, digits = 0;
  for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++) digits++;
  if (i < text.len && text.data[i] == '.')
    for (i++; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++) digits++;
  if (digits == 0) return false;
  if (i < text.len && (text.data[i] | 0x20) == 'e') {
    i++;
    if (i < text.len && (text.data[i] == '+' || text.data[i] == '-')) i++;
    size_t first = i;
    while (i < text.len && text.data[i] >= '0' && text.data[i] <= '9') i++;
    if (i == first) return false;
  }
  return i == text.len;
}

static bool numbers__all_digits(os_str text, uint64_t *value) {
  *value = 0;
  for (size_t i = 0; i < text.len; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    if (__builtin_mul_overflow(*value, 10, value)) return false;
    if (__builtin_add_overflow(*value, (uint64_t)(text.data[i] - '0'), value)) return false;
  }
  return text.len > 0;
}

static bool numbers__to_double(os_str text, double *wide, float *narrow) {
  if (numbers__word(text, "nan"))
    *wide = __builtin_nan("");
  else if (numbers__word(text, "inf") || numbers__word(text, "infinity"))
    *wide = __builtin_inf();
  else if (numbers__is_decimal(text)) {
    char short_room[128], *room = text.len < sizeof short_room ? short_room : malloc(text.len + 1);
    if (room == NULL) return false;
    memcpy(room, text.data, text.len);
    room[text.len] = 0;
    *wide = strtod(room, NULL);
    *narrow = strtof(room, NULL);
    if (room != short_room) free(room);
    return true;
  } else
    return false;
  *narrow = (float)*wide;
  return true;
}

bool numbers_parse(op_tensor *tensor, int64_t index, os_str text) {
  text = numbers__trim(text);
  bool negative = text.len > 0 && text.data[0] == '-';
  os_str bare = text;
  if (bare.len > 0 && (bare.data[0] == '-' || bare.data[0] == '+')) bare.data++, bare.len--;
  char *to = (char *)tensor->data + (size_t)index * op_elem_size(tensor->elem);
  uint64_t whole;
  if (!elem_is_float(tensor->elem) && numbers__all_digits(bare, &whole)) {
    if (tensor->elem == OP_UINT64 || tensor->elem == OP_BOOL || whole <= INT64_MAX) {
      uint64_t bits = negative ? 0 - whole : whole;
      return math_cast(to, (int)tensor->elem, &bits, MATH_U64, 1, NULL);
    }
  }
  if (tensor->elem == OP_BOOL && (numbers__word(bare, "true") || numbers__word(bare, "false")) &&
      bare.len == text.len) {
    *to = bare.len == 4;
    return true;
  }
  double wide;
  float narrow;
  if (!numbers__to_double(bare, &wide, &narrow)) return false;
  if (negative) wide = -wide, narrow = -narrow;
  if (tensor->elem == OP_FLOAT)
    memcpy(to, &narrow, sizeof narrow);
  else
    return math_cast(to, (int)tensor->elem, &wide, MATH_F64, 1, NULL);
  return true;
}
