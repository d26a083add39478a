// Shortest decimal of a binary64 (free-format printing of Steele and White, in the form of Burger and Dybvig), exact for
// every value; laid out as ECMAScript's Number::toString does.
#include "double_print.h"

#include "bignum.h"
#include "digits.h"

#include <math.h>

typedef struct os_shortest {
  math_bignum r, s, up, down; // the value is r / s; half the gaps to its neighbours are up / s and down / s
  bool even;                  // the ends of the gap read back as the value, too
  int exponent;
} os_shortest;

static void os_shortest__init(os_shortest *self, uint64_t mantissa, int e, bool narrow_below) {
  uint32_t extra = narrow_below ? 2 : 1;
  uint32_t up = e > 0 ? (uint32_t)e : 0, down = e < 0 ? (uint32_t)-e : 0;
  math_bignum_set(&self->r, mantissa);
  math_bignum_shift(&self->r, up + extra);
  math_bignum_set(&self->s, 1);
  math_bignum_shift(&self->s, down + extra);
  math_bignum_set(&self->down, 1);
  math_bignum_shift(&self->down, up);
  math_bignum_set(&self->up, 1);
  math_bignum_shift(&self->up, up + extra - 1);
  self->even = (mantissa & 1) == 0;
}

// r + up against s: > 0 when the value's upper end lies beyond.
static bool os_shortest__beyond(const os_shortest *self) {
  math_bignum sum = self->r;
  math_bignum_add(&sum, &self->up);
  int order = math_bignum_compare(&sum, &self->s);
  return self->even ? order >= 0 : order > 0;
}

static void os_shortest__next(os_shortest *self) {
  math_bignum_scale(&self->r, 10, 0);
  math_bignum_scale(&self->up, 10, 0);
  math_bignum_scale(&self->down, 10, 0);
}

static void os_shortest__normalise(os_shortest *self, double value) {
  int k = math_decimal_exponent(value); // right or one too small
  if (k >= 0)
    math_bignum_power10(&self->s, (uint32_t)k);
  else {
    math_bignum_power10(&self->r, (uint32_t)-k);
    math_bignum_power10(&self->up, (uint32_t)-k);
    math_bignum_power10(&self->down, (uint32_t)-k);
  }
  if (os_shortest__beyond(self))
    k++;
  else
    os_shortest__next(self);
  self->exponent = k;
}

static size_t os_shortest__digits(os_shortest *self, char *digits) {
  size_t count = 0;
  for (;;) {
    int digit = 0;
    while (math_bignum_compare(&self->r, &self->s) >= 0) {
      math_bignum_subtract(&self->r, &self->s);
      digit++;
    }
    int order = math_bignum_compare(&self->r, &self->down);
    bool low = self->even ? order <= 0 : order < 0, high = os_shortest__beyond(self);
    if (!low && !high) {
      digits[count++] = (char)('0' + digit);
      os_shortest__next(self);
      continue;
    }
    if (low && high) {
      math_bignum_scale(&self->r, 2, 0);
      int half = math_bignum_compare(&self->r, &self->s);
      high = half > 0 || (half == 0 && digit % 2 == 1);
    }
    digits[count++] = (char)('0' + digit + (high ? 1 : 0));
    return count;
  }
}

static char *os_double__exponent(char *to, int exponent) {
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
  if (size >= 100) *to++ = (char)('0' + size / 100);
  if (size >= 10) *to++ = (char)('0' + size / 10 % 10);
  *to++ = (char)('0' + size % 10);
  return to;
}

size_t os_double_layout(bool negative, const char *digits, size_t count, int exponent, char *to) {
  char *start = to;
  int n = (int)count;
  if (negative) *to++ = '-';
  if (exponent > 0 && exponent <= 21) {
    for (int i = 0; i < exponent || i < n; i++) {
      if (i == exponent) *to++ = '.';
      *to++ = i < n ? digits[i] : '0';
    }
  } else if (exponent > -6 && exponent <= 0) {
    *to++ = '0';
    *to++ = '.';
    for (int i = exponent; i < 0; i++) *to++ = '0';
    for (int i = 0; i < n; i++) *to++ = digits[i];
  } else {
    *to++ = digits[0];
    if (n > 1) *to++ = '.';
    for (int i = 1; i < n; i++) *to++ = digits[i];
    to = os_double__exponent(to, exponent - 1);
  }
  return (size_t)(to - start);
}

// `digits`: bits of the mantissa that is stored; `least`: exponent of the smallest numbers' last bit.
static size_t os_double__print(double value, int digits, int least, char *to) {
  if (value == 0) {
    *to = '0';
    return 1;
  }
  int exponent;
  uint64_t mantissa = (uint64_t)ldexp(frexp(value < 0 ? -value : value, &exponent), digits + 1);
  exponent -= digits + 1;
  if (exponent < least) {
    mantissa >>= least - exponent;
    exponent = least;
  }
  os_shortest shortest;
  os_shortest__init(&shortest, mantissa, exponent, mantissa == (uint64_t)1 << digits && exponent > least);
  os_shortest__normalise(&shortest, value < 0 ? -value : value);
  char text[24];
  size_t count = os_shortest__digits(&shortest, text);
  return os_double_layout(value < 0, text, count, shortest.exponent, to);
}

size_t os_double_print(double value, char *to) { return os_double__print(value, 52, -1074, to); }

size_t os_float_print(float value, char *to) { return os_double__print((double)value, 23, -149, to); }

size_t os_decimal_print_shortest(const os_decimal *a, os_str text, char *to) {
  // With at most 15 digits the decimal that was read is the shortest one that reads back.
  if (a->count > 0 && a->count <= 15 && a->exponent > -290 && a->exponent < 290) {
    char digits[16];
    size_t count = 0;
    for (size_t i = 0; i < a->digits.len; i++)
      if (a->digits.data[i] != '.') digits[count++] = a->digits.data[i];
    return os_double_layout(a->negative, digits, count, (int)a->exponent, to);
  }
  double value = os_decimal_double(text);
  return isfinite(value) ? os_double_print(value, to) : 0;
}
