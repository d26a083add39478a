#include "digits.h"

#include "bignum.h"

#include <math.h>
#include <string.h>

enum { SIGNIFICANT = 800 }; // no halfway case of binary64 needs more than 767 digits

static inline unsigned digits__next(const char **at) {
  if (**at == '.') (*at)++;
  return (unsigned)(*(*at)++ - '0');
}

// ---- Digits to binary -------------------------------------------------------------------------------------

// Up to 15 digits and a power of ten are both exact, so that one operation rounds once. Binary32 gets there through binary64,
// which has more than twice its bits: the second rounding then changes nothing.
static bool digits__read_small(const char *digits, size_t count, int64_t exponent, int precision,
                               double *value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  bool wide = precision == 53;
  int64_t scale = exponent - (int64_t)count, most = wide ? 22 : 10;
  if (count > (wide ? 15 : 7) || scale > most || scale < -most) return false;
  uint64_t whole = 0;
  while (count-- > 0) whole = whole * 10 + digits__next(&digits);
  *value = scale < 0 ? (double)whole / powers[-scale] : (double)whole * powers[scale];
  if (!wide) *value = (float)*value;
  return true;
}

// n / d = quotient * 2^*exponent with 63 or 64 bits; a lowest bit of 1 also stands for a remainder.
static uint64_t digits__divide(math_bignum *n, math_bignum *d, int *exponent) {
  int shift = (int)math_bignum_bits(d) - (int)math_bignum_bits(n);
  math_bignum_shift(shift > 0 ? n : d, (uint32_t)(shift > 0 ? shift : -shift));
  uint64_t quotient = 0;
  for (int i = 0; i < 64; i++) {
    bool bit = math_bignum_compare(n, d) >= 0;
    if (bit) math_bignum_subtract(n, d);
    math_bignum_scale(n, 2, 0);
    quotient = quotient << 1 | bit;
  }
  *exponent = -63 - shift;
  return quotient | (n->count > 0);
}

double math_from_digits(const char *digits, size_t count, int64_t exponent, int precision) {
  double value;
  if (count == 0 || exponent < -330) return 0;
  if (exponent > 400) return INFINITY;
  if (digits__read_small(digits, count, exponent, precision, &value)) return value;
  math_bignum n, d;
  math_bignum_set(&n, 0);
  math_bignum_set(&d, 1);
  int used = count < SIGNIFICANT ? (int)count : SIGNIFICANT;
  for (int i = 0; i < used;) {
    uint32_t piece = 0, unit = 1;
    for (; i < used && unit < 1000000000; i++, unit *= 10) piece = piece * 10 + digits__next(&digits);
    math_bignum_scale(&n, unit, piece);
  }
  if (count > SIGNIFICANT) { // what cannot decide beyond being there
    math_bignum_scale(&n, 10, 1);
    used++;
  }
  int scale = (int)exponent - used;
  math_bignum_power10(scale < 0 ? &d : &n, (uint32_t)(scale < 0 ? -scale : scale));
  if (n.count == 0) return 0;
  int power;
  uint64_t quotient = digits__divide(&n, &d, &power);
  int bits = 64 - __builtin_clzll(quotient), least = precision == 53 ? -1022 : -126;
  int drop = bits - precision, below = least - (bits - 1 + power);
  if (below > 0) drop += below;
  if (drop > 64) return 0;
  uint64_t half = (uint64_t)1 << (drop - 1), rest = quotient & ((half << 1) - 1),
           kept = quotient >> (drop - 1) >> 1;
  if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
  value = ldexp((double)kept, power + drop);
  return precision == 53 ? value : (double)(float)value;
}

// ---- Binary to digits -------------------------------------------------------------------------------------

int math_decimal_exponent(double value) {
  int power;
  (void)frexp(value, &power);
  return ((power - 1) * 78913 >> 18) + 1; // log10(2) = 78913 / 2^18 as far as binary64 reaches
}

bool math_to_digits(double value, int count, char *digits, int *exponent) {
  int power, k = math_decimal_exponent(value);
  uint64_t mantissa = (uint64_t)ldexp(frexp(value, &power), 53);
  power -= 53;
  math_bignum r, s;
  math_bignum_set(&r, mantissa);
  math_bignum_set(&s, 1);
  math_bignum_shift(power < 0 ? &s : &r, (uint32_t)(power < 0 ? -power : power));
  math_bignum_power10(k < 0 ? &r : &s, (uint32_t)(k < 0 ? -k : k));
  if (math_bignum_compare(&r, &s) >= 0) {
    math_bignum_scale(&s, 10, 0);
    k++;
  }
  for (int i = 0; i < count; i++) {
    math_bignum_scale(&r, 10, 0);
    digits[i] = '0';
    for (; math_bignum_compare(&r, &s) >= 0; digits[i]++) math_bignum_subtract(&r, &s);
  }
  *exponent = k;
  return r.count > 0;
}

int math_round_digits(char *digits, int count, bool more, int keep, int *exponent) {
  for (int i = keep + 1; i < count && !more; i++) more = digits[i] != '0';
  bool odd = keep > 0 && (digits[keep - 1] & 1) != 0;
  if (digits[keep] < '5' || (digits[keep] == '5' && !more && !odd)) return keep;
  int i = keep;
  while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
  if (i > 0) {
    digits[i - 1]++;
    return keep;
  }
  digits[0] = '1'; // all nines
  (*exponent)++;
  return keep > 0 ? keep : 1;
}
