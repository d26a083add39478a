/* What the files of scalars.h share: polynomials and exact scaling. */
#ifndef OPSPEC_SCALAR_KIT_H
#define OPSPEC_SCALAR_KIT_H

#include "floats.h"

/* Hints to unroll or vectorise are wishes: sanitizers and lower levels of optimisation may refuse them. */
#pragma clang diagnostic ignored "-Wpass-failed"

#define KIT_INLINE static inline __attribute__((always_inline, unused))

/* c[0] + c[1] x + ... by Horner's rule; count is a constant of the call. */
KIT_INLINE double kit_poly(const double *c, const int count, double x) {
  double sum = c[count - 1];
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; i--) sum = c[i] + x * sum;
  return sum;
}

#define KIT_POLY(x, ...) \
  kit_poly((const double[]){__VA_ARGS__}, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), x)

KIT_INLINE double kit_pow2(int64_t k) { return math_f64_from_bits((uint64_t)(k + 1023) << 52); }

/* x 2^k for k in [-2040, 2046], rounded once where the result is subnormal and x is in [0.5, 2]. */
KIT_INLINE double kit_scale(double x, int64_t k) {
  int64_t half = k >> 1;
  return x * kit_pow2(half) * kit_pow2(k - half);
}

/* x with the low 27 bits of its significand cleared: products of two such halves are exact. */
KIT_INLINE double kit_high(double x) { return math_f64_from_bits(math_f64_bits(x) & ~(uint64_t)0x7ffffff); }

#define KIT_INFINITY ((double)__builtin_inf())
#define KIT_NAN ((double)__builtin_nan(""))
#define KIT_LOG2E 1.4426950408889634
#define KIT_LN2_HIGH 0.69314718036912382 /* 32 bits: exact times an exponent */
#define KIT_LN2_LOW 1.9082149292705877e-10

/* (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, relative error of e^r - 1 below 2^-61. */
#define KIT_EXP_POLY(r)                                                                                     \
  KIT_POLY(r, 0.5, 0.16666666666666677, 0.041666666666666699, 0.0083333333333215319, 0.0013888888888866748, \
           0.00019841269886400556, 2.4801587360760034e-05, 2.7557243912063955e-06, 2.7557242563925077e-07,  \
           2.5109147286353974e-08, 2.0924509510445761e-09)

#endif
