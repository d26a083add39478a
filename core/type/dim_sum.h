#ifndef OPSPEC_DIM_SUM_H
#define OPSPEC_DIM_SUM_H

#include <opspec/status.h>
#include <stdbool.h>
#include <stdint.h>

// Sums of products of atoms, the arithmetic below dims.h. An atom is a number >= 0 that stands for a symbol or a
// function. Terms are ordered by degree, highest first, then by atoms; none has the coefficient 0. The constant is the
// term of degree 0. Room is fixed: every function answers false when a result has no room or overflows.
enum { OS_SUM_TERMS = 32, OS_SUM_DEGREE = 12 };

typedef struct os_term {
  int64_t coefficient;
  uint32_t degree;
  uint32_t atoms[OS_SUM_DEGREE]; // ascending
} os_term;

typedef struct os_sum {
  uint32_t count;
  os_term terms[OS_SUM_TERMS];
} os_sum;

void os_sum_constant(os_sum *self, int64_t value);
void os_sum_atom(os_sum *self, uint32_t atom);
// a + factor * b. self may be a.
bool os_sum_add(os_sum *self, const os_sum *a, const os_sum *b, int64_t factor);
// self must be neither a nor b.
bool os_sum_mul(os_sum *self, const os_sum *a, const os_sum *b);
// Is it a constant? 0 terms are the constant 0.
bool os_sum_is_constant(const os_sum *self, int64_t *value);
// The constant part.
int64_t os_sum_constant_part(const os_sum *self);
// a = quotient * b + rest with integer coefficients, the rest 0 where b divides a. b must not be 0. Divides by the
// leading term of b; the quotient is meant for a rest of 0, or for a b of one term (then the rest has no multiple of it,
// and its coefficients at multiples of b's atoms lie in 0..|b|-1).
bool os_sum_divide(const os_sum *a, const os_sum *b, os_sum *quotient, os_sum *rest);

#endif
