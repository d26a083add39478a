#include "dim_sum.h"

#include <string.h>

static int os_sum__order(const os_term *a, const os_term *b) {
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  for (uint32_t i = 0; i < a->degree; i++)
    if (a->atoms[i] != b->atoms[i]) return a->atoms[i] < b->atoms[i] ? -1 : 1;
  return 0;
}

void os_sum_constant(os_sum *self, int64_t value) {
  self->count = value != 0;
  self->terms[0].coefficient = value;
  self->terms[0].degree = 0;
}

void os_sum_atom(os_sum *self, uint32_t atom) {
  self->count = 1;
  self->terms[0].coefficient = 1;
  self->terms[0].degree = 1;
  self->terms[0].atoms[0] = atom;
}

// Adds factor * term.
static bool os_sum__add_term(os_sum *self, const os_term *term, int64_t factor) {
  int64_t coefficient;
  if (__builtin_mul_overflow(term->coefficient, factor, &coefficient)) return false;
  if (coefficient == 0) return true;
  uint32_t i = 0;
  int order = 1;
  while (i < self->count && (order = os_sum__order(&self->terms[i], term)) < 0) i++;
  if (i < self->count && order == 0) {
    if (__builtin_add_overflow(self->terms[i].coefficient, coefficient, &self->terms[i].coefficient))
      return false;
    if (self->terms[i].coefficient != 0) return true;
    self->count--;
    memmove(&self->terms[i], &self->terms[i + 1], (self->count - i) * sizeof *self->terms);
    return true;
  }
  if (self->count == OS_SUM_TERMS) return false;
  memmove(&self->terms[i + 1], &self->terms[i], (self->count - i) * sizeof *self->terms);
  self->terms[i] = *term;
  self->terms[i].coefficient = coefficient;
  self->count++;
  return true;
}

static void os_sum__copy(os_sum *self, const os_sum *from) {
  self->count = from->count;
  memcpy(self->terms, from->terms, from->count * sizeof *from->terms);
}

bool os_sum_add(os_sum *self, const os_sum *a, const os_sum *b, int64_t factor) {
  if (self != a) os_sum__copy(self, a);
  for (uint32_t i = 0; i < b->count; i++)
    if (!os_sum__add_term(self, &b->terms[i], factor)) return false;
  return true;
}

static bool os_sum__mul_terms(os_term *self, const os_term *a, const os_term *b) {
  if (a->degree + b->degree > OS_SUM_DEGREE) return false;
  if (__builtin_mul_overflow(a->coefficient, b->coefficient, &self->coefficient)) return false;
  self->degree = a->degree + b->degree;
  for (uint32_t i = 0, j = 0, k = 0; k < self->degree; k++) {
    bool left = j == b->degree || (i < a->degree && a->atoms[i] <= b->atoms[j]);
    self->atoms[k] = left ? a->atoms[i++] : b->atoms[j++];
  }
  return true;
}

bool os_sum_mul(os_sum *self, const os_sum *a, const os_sum *b) {
  self->count = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    for (uint32_t j = 0; j < b->count; j++) {
      os_term product;
      if (!os_sum__mul_terms(&product, &a->terms[i], &b->terms[j])) return false;
      if (!os_sum__add_term(self, &product, 1)) return false;
    }
  }
  return true;
}

bool os_sum_is_constant(const os_sum *self, int64_t *value) {
  if (self->count > 1 || (self->count == 1 && self->terms[0].degree > 0)) return false;
  *value = self->count == 0 ? 0 : self->terms[0].coefficient;
  return true;
}

int64_t os_sum_constant_part(const os_sum *self) {
  if (self->count == 0 || self->terms[self->count - 1].degree > 0) return 0;
  return self->terms[self->count - 1].coefficient;
}

// The atoms of a without those of b; false when b has others.
static bool os_sum__cancel(os_term *self, const os_term *a, const os_term *b) {
  uint32_t j = 0;
  self->degree = 0;
  for (uint32_t i = 0; i < a->degree; i++) {
    if (j < b->degree && a->atoms[i] == b->atoms[j])
      j++;
    else
      self->atoms[self->degree++] = a->atoms[i];
  }
  return j == b->degree;
}

static int64_t os_sum__floor(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

bool os_sum_divide(const os_sum *a, const os_sum *b, os_sum *quotient, os_sum *rest) {
  const os_term *leading = &b->terms[0];
  os_sum__copy(rest, a);
  quotient->count = 0;
  for (uint32_t i = 0; i < rest->count;) {
    os_term part;
    if (!os_sum__cancel(&part, &rest->terms[i], leading)) {
      i++;
      continue;
    }
    if (rest->terms[i].coefficient == INT64_MIN || leading->coefficient == INT64_MIN) return false;
    part.coefficient = os_sum__floor(rest->terms[i].coefficient, leading->coefficient);
    if (part.coefficient == 0) {
      i++;
      continue;
    }
    os_sum one, product;
    one.count = 1;
    one.terms[0] = part;
    if (!os_sum__add_term(quotient, &part, 1) || !os_sum_mul(&product, &one, b)) return false;
    // What is subtracted lies at or behind term i, so the terms before it stand as they were.
    if (!os_sum_add(rest, rest, &product, -1)) return false;
  }
  return true;
}
