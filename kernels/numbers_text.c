#include "numbers_text.h"

#include "digits.h"
#include "elements.h"
#include "floats.h"
#include "kit.h"

#include <stdlib.h>

// ---- Printing ---------------------------------------------------------------------------------------------

// The fewest digits, up to 17, that read back as the same element. Answers their number.
static int numbers__shortest(op_elem elem, double size, char digits[20], int *exponent) {
  char all[20];
  int first;
  bool more = math_to_digits(size, 18, all, &first);
  for (int keep = 1;; keep++) {
    memcpy(digits, all, sizeof all);
    *exponent = first;
    int count = math_round_digits(digits, 18, more, keep, exponent);
    double back = math_from_digits(digits, (size_t)count, *exponent, elem == OP_FLOAT ? 24 : 53);
    bool narrow = elem != OP_DOUBLE && elem != OP_FLOAT;
    if (narrow) back = math_float_decode((int)elem, math_float_encode((int)elem, back, true, 2));
    if (back != size && keep < 17) continue;
    while (count > 1 && digits[count - 1] == '0') count--;
    return count;
  }
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

// Decimal digits, at least so many.
static size_t numbers__whole(char *room, uint64_t value, int least) {
  char digits[20];
  size_t count = 0, n = 0;
  for (; value > 0 || (int)count < least; value /= 10) digits[count++] = (char)('0' + value % 10);
  while (count > 0) room[n++] = digits[--count];
  return n;
}

static size_t numbers__put(char *room, const char *word) {
  size_t length = strlen(word);
  memcpy(room, word, length);
  return length;
}

static size_t numbers__scientific(char *room, int sign, const char *digits, int count, int exponent) {
  size_t n = 0;
  if (sign) room[n++] = '-';
  room[n++] = digits[0];
  if (count > 1) room[n++] = '.';
  for (int i = 1; i < count; i++) room[n++] = digits[i];
  room[n++] = 'e';
  room[n++] = exponent < 0 ? '-' : '+';
  return n + numbers__whole(room + n, (uint64_t)abs(exponent), 2);
}

static size_t numbers__print_float(op_elem elem, double x, char room[NUMBERS_TEXT_ROOM]) {
  if (!(x == x)) return numbers__put(room, "nan");
  bool negative = (math_f64_bits(x) >> 63) != 0;
  double size = negative ? -x : x;
  if (size > 1.7976931348623157e308) return numbers__put(room, negative ? "-inf" : "inf");
  if (size == 0) return numbers__put(room, negative ? "-0.0" : "0.0");
  char digits[20];
  int exponent, count = numbers__shortest(elem, size, digits, &exponent);
  exponent--;
  double limit = elem == OP_DOUBLE ? 1e16 : elem == OP_FLOAT || elem == OP_BFLOAT16 ? 1e6 : 1e3;
  if (size >= 1e-4 && size < limit) return numbers__positional(room, negative, digits, count, exponent);
  return numbers__scientific(room, negative, digits, count, exponent);
}

os_str numbers_print(const op_tensor *tensor, int64_t index, char room[NUMBERS_TEXT_ROOM]) {
  size_t length = 0;
  if (tensor->elem == OP_BOOL)
    length = numbers__put(room, kit_int(tensor, index) ? "True" : "False");
  else if (tensor->elem == OP_UINT64)
    length = numbers__whole(room, ((const uint64_t *)tensor->data)[index], 1);
  else if (elem_is_float(tensor->elem))
    length = numbers__print_float(tensor->elem, kit_double(tensor, index), room);
  else {
    int64_t value = kit_int(tensor, index);
    if (value < 0) room[length++] = '-';
    length += numbers__whole(room + length, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
  }
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

// Digits, point, exponent; nothing hexadecimal, no words.
static bool numbers__decimal(os_str text, double *wide, float *narrow) {
  const char *p = text.data, *end = p + text.len, *first = NULL;
  int64_t exponent = 0, power = 0;
  size_t digits = 0, zeros = 0; // of them 0 before the first other
  bool point = false;
  for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
    if (*p == '.') {
      point = true;
      continue;
    }
    digits++;
    exponent += !point;
    if (first == NULL && *p != '0') first = p;
    if (first == NULL) zeros++;
  }
  if (digits == 0) return false;
  if (p < end && (*p | 0x20) == 'e') {
    bool minus = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
      if (power < INT64_MAX / 20) power = power * 10 + (*p - '0');
    if (minus) power = -power;
  }
  exponent += power - (int64_t)zeros;
  *wide = math_from_digits(first, digits - zeros, exponent, 53);
  *narrow = (float)math_from_digits(first, digits - zeros, exponent, 24);
  return p == end;
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
  else
    return numbers__decimal(text, wide, narrow);
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
