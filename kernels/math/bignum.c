#include "bignum.h"

#include <string.h>

void math_bignum_set(math_bignum *self, uint64_t value) {
  self->limbs[0] = (uint32_t)value;
  self->limbs[1] = (uint32_t)(value >> 32);
  self->count = self->limbs[1] != 0 ? 2 : self->limbs[0] != 0;
}

static void math_bignum__push(math_bignum *self, uint32_t limb) {
  if (limb != 0 && self->count < MATH_BIGNUM_LIMBS) self->limbs[self->count++] = limb;
}

static void math_bignum__trim(math_bignum *self) {
  while (self->count > 0 && self->limbs[self->count - 1] == 0) self->count--;
}

void math_bignum_scale(math_bignum *self, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t i = 0; i < self->count; i++) {
    carry += (uint64_t)self->limbs[i] * factor;
    self->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  math_bignum__push(self, (uint32_t)carry);
}

void math_bignum_shift(math_bignum *self, uint32_t bits) {
  uint32_t whole = bits / 32, rest = bits % 32;
  if (rest > 0) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < self->count; i++) {
      carry |= (uint64_t)self->limbs[i] << rest;
      self->limbs[i] = (uint32_t)carry;
      carry >>= 32;
    }
    math_bignum__push(self, (uint32_t)carry);
  }
  if (whole == 0 || self->count == 0) return;
  if (self->count + whole > MATH_BIGNUM_LIMBS) return;
  memmove(self->limbs + whole, self->limbs, self->count * sizeof *self->limbs);
  memset(self->limbs, 0, whole * sizeof *self->limbs);
  self->count += whole;
}

void math_bignum_power10(math_bignum *self, uint32_t exponent) {
  for (; exponent >= 9; exponent -= 9) math_bignum_scale(self, 1000000000u, 0);
  static const uint32_t small[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  math_bignum_scale(self, small[exponent], 0);
}

void math_bignum_add(math_bignum *self, const math_bignum *other) {
  uint64_t carry = 0;
  uint32_t most = self->count > other->count ? self->count : other->count;
  for (uint32_t i = 0; i < most; i++) {
    carry += i < self->count ? self->limbs[i] : 0;
    carry += i < other->count ? other->limbs[i] : 0;
    self->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  self->count = most;
  math_bignum__push(self, (uint32_t)carry);
}

void math_bignum_subtract(math_bignum *self, const math_bignum *other) {
  int64_t borrow = 0;
  for (uint32_t i = 0; i < self->count; i++) {
    borrow += (int64_t)self->limbs[i] - (i < other->count ? other->limbs[i] : 0);
    self->limbs[i] = (uint32_t)borrow;
    borrow >>= 32;
  }
  math_bignum__trim(self);
}

int math_bignum_compare(const math_bignum *a, const math_bignum *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (uint32_t i = a->count; i-- > 0;)
    if (a->limbs[i] != b->limbs[i]) return a->limbs[i] < b->limbs[i] ? -1 : 1;
  return 0;
}

bool math_bignum_divide(math_bignum *self, uint32_t divisor) {
  math_bignum quotient = {.count = self->count};
  uint64_t rest = 0;
  for (uint32_t i = self->count; i-- > 0;) {
    rest = rest << 32 | self->limbs[i];
    quotient.limbs[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  if (rest != 0) return false;
  math_bignum__trim(&quotient);
  *self = quotient;
  return true;
}

uint32_t math_bignum_bits(const math_bignum *self) {
  if (self->count == 0) return 0;
  return self->count * 32 - (uint32_t)__builtin_clz(self->limbs[self->count - 1]);
}

uint32_t math_bignum_trailing_zeros(const math_bignum *self) {
  uint32_t i = 0;
  while (self->limbs[i] == 0) i++;
  return i * 32 + (uint32_t)__builtin_ctz(self->limbs[i]);
}
