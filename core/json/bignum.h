#ifndef OPSPEC_BIGNUM_H
#define OPSPEC_BIGNUM_H

#include <stdbool.h>
#include <stdint.h>

// Natural numbers of up to 2,560 bits: enough for every binary64 as a fraction and for divisors of 600 digits. Callers
// keep inside; what would not fit is dropped.
enum { OS_BIGNUM_LIMBS = 80 };

typedef struct os_bignum {
  uint32_t limbs[OS_BIGNUM_LIMBS]; // least significant first
  uint32_t count;                  // limbs in use; 0 = zero
} os_bignum;

void os_bignum_set(os_bignum *self, uint64_t value);
// self = self * factor + add
void os_bignum_scale(os_bignum *self, uint32_t factor, uint32_t add);
void os_bignum_shift(os_bignum *self, uint32_t bits);
void os_bignum_power10(os_bignum *self, uint32_t exponent); // multiplies by 10^exponent
void os_bignum_add(os_bignum *self, const os_bignum *other);
// other must not be larger
void os_bignum_subtract(os_bignum *self, const os_bignum *other);
int os_bignum_compare(const os_bignum *a, const os_bignum *b);
// self / divisor when that leaves no remainder, else false and self as it was.
bool os_bignum_divide(os_bignum *self, uint32_t divisor);
uint32_t os_bignum_bits(const os_bignum *self);           // 0 for zero
uint32_t os_bignum_trailing_zeros(const os_bignum *self); // not for zero

#endif
