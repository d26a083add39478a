#ifndef MATH_BIGNUM_H
#define MATH_BIGNUM_H

#include <stdbool.h>
#include <stdint.h>

// Natural numbers of up to 4,160 bits: enough for a fraction of 1,150 digits by which a binary64 is read. Callers
// keep inside; what would not fit is dropped.
enum { MATH_BIGNUM_LIMBS = 130 };

typedef struct math_bignum {
  uint32_t limbs[MATH_BIGNUM_LIMBS]; // least significant first
  uint32_t count;                    // limbs in use; 0 = zero
} math_bignum;

void math_bignum_set(math_bignum *self, uint64_t value);
// self = self * factor + add
void math_bignum_scale(math_bignum *self, uint32_t factor, uint32_t add);
void math_bignum_shift(math_bignum *self, uint32_t bits);
void math_bignum_power10(math_bignum *self, uint32_t exponent); // multiplies by 10^exponent
void math_bignum_add(math_bignum *self, const math_bignum *other);
// other must not be larger
void math_bignum_subtract(math_bignum *self, const math_bignum *other);
int math_bignum_compare(const math_bignum *a, const math_bignum *b);
// self / divisor when that leaves no remainder, else false and self as it was.
bool math_bignum_divide(math_bignum *self, uint32_t divisor);
uint32_t math_bignum_bits(const math_bignum *self);           // 0 for zero
uint32_t math_bignum_trailing_zeros(const math_bignum *self); // not for zero

#endif
