#include "decimal.h"

#include "bignum.h"
#include "digits.h"

#include <math.h>

// Digits in order; the point inside is skipped.
typedef struct os_digits {
  const char *p;
  size_t left;
} os_digits;

static inline os_digits os_digits__of(const os_decimal *a) { return (os_digits){a->digits.data, a->count}; }

static inline unsigned os_digits__next(os_digits *self) {
  if (*self->p == '.') self->p++;
  self->left--;
  return (unsigned)(*self->p++ - '0');
}

static const int64_t EXPONENT_LIMIT = (int64_t)1 << 60;

// The exponent that stands in [p, end), which begins with its 'e'.
static int64_t os_decimal__exponent(os_decimal *self, const char *p, const char *end) {
  if (p >= end) return 0;
  p++;
  bool minus = *p == '-';
  if (*p == '-' || *p == '+') p++;
  while (p < end && *p == '0') p++;
  int64_t value = 0;
  self->power = (os_str){p, (size_t)(end - p)};
  for (; p < end && value <= EXPONENT_LIMIT / 16; p++) value = value * 10 + (*p - '0');
  if (p < end) {
    self->overflowed = true;
    value = EXPONENT_LIMIT;
  }
  return minus ? -value : value;
}

// How far the exponent of a is above b's; no further than some 2^60, which no count of digits comes near.
static int64_t os_decimal__above(const os_decimal *a, const os_decimal *b) {
  if (!(a->overflowed || b->overflowed) || (a->exponent < 0) != (b->exponent < 0))
    return a->exponent - b->exponent;
  size_t length = a->power.len > b->power.len ? a->power.len : b->power.len;
  int64_t powers = 0;
  for (size_t left = length; left > 0 && powers < EXPONENT_LIMIT / 16 && powers > -EXPONENT_LIMIT / 16;
       left--)
    powers = powers * 10 + (left > a->power.len ? 0 : a->power.data[a->power.len - left] - '0') -
             (left > b->power.len ? 0 : b->power.data[b->power.len - left] - '0');
  return a->shift - b->shift + (a->exponent < 0 ? -powers : powers);
}

os_decimal os_decimal_of(os_str text) {
  const char *p = text.data, *end = p + text.len;
  os_decimal self = {.negative = *p == '-'};
  if (*p == '-') p++;
  const char *first = NULL, *last = NULL, *mantissa_end = p;
  int64_t whole = 0, before = 0; // digits before the point; digits before the first that is not 0
  bool point = false;
  for (; mantissa_end < end && (*mantissa_end | 0x20) != 'e'; mantissa_end++) {
    if (*mantissa_end == '.') {
      point = true;
      continue;
    }
    whole += !point;
    if (*mantissa_end != '0') {
      if (first == NULL) first = mantissa_end;
      last = mantissa_end;
    }
    before += first == NULL;
  }
  if (first == NULL) return self;
  self.shift = whole - before;
  self.exponent = self.shift + os_decimal__exponent(&self, mantissa_end, end);
  self.digits = (os_str){first, (size_t)(last + 1 - first)};
  self.count = self.digits.len - (memchr(first, '.', self.digits.len) != NULL);
  return self;
}

static int os_decimal__compare_size(const os_decimal *a, const os_decimal *b) {
  int64_t above = os_decimal__above(a, b);
  if (above != 0) return above < 0 ? -1 : 1;
  os_digits x = os_digits__of(a), y = os_digits__of(b);
  while (x.left > 0 && y.left > 0) {
    unsigned i = os_digits__next(&x), j = os_digits__next(&y);
    if (i != j) return i < j ? -1 : 1;
  }
  return x.left > 0 ? 1 : y.left > 0 ? -1 : 0;
}

int os_decimal_compare(const os_decimal *a, const os_decimal *b) {
  int a_sign = a->count == 0 ? 0 : a->negative ? -1 : 1, b_sign = b->count == 0 ? 0 : b->negative ? -1 : 1;
  if (a_sign != b_sign) return a_sign < b_sign ? -1 : 1;
  if (a_sign == 0) return 0;
  int order = os_decimal__compare_size(a, b);
  return a_sign < 0 ? -order : order;
}

bool os_decimal_is_integer(const os_decimal *a) { return a->count == 0 || a->exponent >= (int64_t)a->count; }

uint64_t os_decimal_hash(const os_decimal *a) {
  if (a->count == 0) return 0x5bd1e995;
  uint64_t exponent = (uint64_t)a->exponent;
  if (a->overflowed) { // modulo 2^64
    uint64_t power = 0;
    for (size_t i = 0; i < a->power.len; i++) power = power * 10 + (uint64_t)(a->power.data[i] - '0');
    exponent = (uint64_t)a->shift + (a->exponent < 0 ? 0 - power : power);
  }
  uint64_t h = exponent * 2 + a->negative;
  os_digits x = os_digits__of(a);
  while (x.left > 0) h = (h ^ os_digits__next(&x)) * 0x9e3779b97f4a7c15u + (h >> 29);
  return h ^ h >> 32;
}

bool os_decimal_uint64(const os_decimal *a, uint64_t *out) {
  *out = 0;
  if (a->count == 0) return true;
  if (a->negative || !os_decimal_is_integer(a) || a->exponent > 20) return false;
  os_digits x = os_digits__of(a);
  for (int64_t i = 0; i < a->exponent; i++) {
    uint64_t digit = x.left > 0 ? os_digits__next(&x) : 0;
    if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, digit, out)) return false;
  }
  return true;
}

bool os_decimal_int64(const os_decimal *a, int64_t *out) {
  os_decimal size = *a;
  size.negative = false;
  uint64_t value;
  *out = 0;
  if (!os_decimal_uint64(&size, &value)) return false;
  if (value > (uint64_t)INT64_MAX + (a->negative && a->count > 0)) return false;
  *out = a->negative ? (int64_t)(0 - value) : (int64_t)value;
  return true;
}

// ---- Divisibility -----------------------------------------------------------------------------------------
// a / b with a = A * 10^x, b = B * 10^y and A, B integers that do not end in 0; k = x - y. Where k < 0 the quotient is
// no integer. Else 10^k covers up to k factors 2 and k factors 5 of B, and what remains of B must divide A.

static bool os_decimal__divides_small(const os_decimal *a, uint64_t divisor, int64_t k) {
  for (int64_t i = 0; i < k && divisor % 2 == 0; i++) divisor /= 2;
  for (int64_t i = 0; i < k && divisor % 5 == 0; i++) divisor /= 5;
  uint64_t rest = 0;
  os_digits x = os_digits__of(a);
  while (x.left > 0) rest = (rest * 10 + os_digits__next(&x)) % divisor;
  return rest == 0;
}

static bool os_decimal__divides_large(const os_decimal *a, const os_decimal *b, int64_t k) {
  math_bignum divisor, rest;
  math_bignum_set(&divisor, 0);
  math_bignum_set(&rest, 0);
  for (os_digits y = os_digits__of(b); y.left > 0;) math_bignum_scale(&divisor, 10, os_digits__next(&y));
  for (int64_t i = 0; i < k && math_bignum_divide(&divisor, 2);) i++;
  for (int64_t i = 0; i < k && math_bignum_divide(&divisor, 5);) i++;
  for (os_digits x = os_digits__of(a); x.left > 0;) {
    math_bignum_scale(&rest, 10, os_digits__next(&x));
    while (math_bignum_compare(&rest, &divisor) >= 0) math_bignum_subtract(&rest, &divisor);
  }
  return rest.count == 0;
}

os_status os_decimal_divides(const os_decimal *a, const os_decimal *b, bool *answer) {
  if (b->count > OS_DECIMAL_DIVISOR || b->count == 0) return OS_LIMIT;
  *answer = true;
  if (a->count == 0) return OS_OK;
  int64_t k = os_decimal__above(a, b) - (int64_t)a->count + (int64_t)b->count;
  if (k < 0)
    *answer = false;
  else if (b->count <= 18) {
    uint64_t divisor = 0;
    for (os_digits y = os_digits__of(b); y.left > 0;) divisor = divisor * 10 + os_digits__next(&y);
    *answer = os_decimal__divides_small(a, divisor, k);
  } else
    *answer = os_decimal__divides_large(a, b, k);
  return OS_OK;
}

// ---- To binary floating point -----------------------------------------------------------------------------

static double os_decimal__binary(os_str text, int precision) {
  os_decimal a = os_decimal_of(text);
  double size = math_from_digits(a.digits.data, a.count, a.exponent, precision);
  return a.negative ? -size : size;
}

double os_decimal_double(os_str text) { return os_decimal__binary(text, 53); }

float os_decimal_float(os_str text) { return (float)os_decimal__binary(text, 24); }

bool os_decimal_exact_double(const os_decimal *a, double value) {
  if (a->count == 0) return value == 0;
  if (!isfinite(value) || !os_decimal_is_integer(a) || a->exponent > 310) return false;
  math_bignum whole;
  math_bignum_set(&whole, 0);
  for (os_digits x = os_digits__of(a); x.left > 0;) math_bignum_scale(&whole, 10, os_digits__next(&x));
  math_bignum_power10(&whole, (uint32_t)(a->exponent - (int64_t)a->count));
  return math_bignum_bits(&whole) - math_bignum_trailing_zeros(&whole) <= 53;
}
