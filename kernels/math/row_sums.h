/* Sums along contiguous floats with one order of summation for every user: sixteen partial sums over blocks, whose totals
 * are added in double. */
#ifndef OPSPEC_ROW_SUMS_H
#define OPSPEC_ROW_SUMS_H

#include "vecmath.h"

enum { ROW_BLOCK = 1024 };

typedef enum row_map { ROW_PLAIN, ROW_ABS, ROW_SQUARE, ROW_EXP } row_map;

/* x, |x - shift|, (x - shift)^2, e^(x - shift); the shift of PLAIN and ABS is not applied. */
SIMD_INLINE f32x4 row_mapped(const row_map map, f32x4 x, f32x4 shift) {
  switch (map) {
  case ROW_ABS: return f32x4_abs(x);
  case ROW_SQUARE: return (x - shift) * (x - shift);
  case ROW_EXP: return vec_exp_negative(x - shift);
  default: return x;
  }
}

/* f32x4_load_part as a call. */
static __attribute__((noinline, minsize, unused)) f32x4 row_load_part(const float *p, size_t count) {
  return f32x4_load_part(p, count);
}

/* Lanes from count on become 0. */
SIMD_INLINE f32x4 row_keep(f32x4 v, size_t count) {
  float lanes[4];
  f32x4_store(lanes, v);
  return row_load_part(lanes, count);
}

SIMD_INLINE double row_sum(const row_map map, const float *x, size_t n, float shift) {
  const f32x4 by = f32x4_splat(shift);
  double total = 0;
  for (size_t begin = 0; begin < n; begin += ROW_BLOCK) {
    size_t end = n - begin < ROW_BLOCK ? n : begin + ROW_BLOCK, i = begin;
    f32x4 s0 = f32x4_splat(0), s1 = s0, s2 = s0, s3 = s0;
    if (map == ROW_EXP) { /* one exponential in the code: the sums take turns */
      const size_t whole = begin + (end - begin) / 16 * 16;
      for (; i < whole; i += 4) {
        f32x4 next = s0 + row_mapped(map, f32x4_load(x + i), by);
        s0 = s1, s1 = s2, s2 = s3, s3 = next;
      }
    } else {
      for (; i + 16 <= end; i += 16) {
        s0 += row_mapped(map, f32x4_load(x + i), by);
        s1 += row_mapped(map, f32x4_load(x + i + 4), by);
        s2 += row_mapped(map, f32x4_load(x + i + 8), by);
        s3 += row_mapped(map, f32x4_load(x + i + 12), by);
      }
    }
    for (; i < end; i += 4) {
      size_t left = end - i;
      f32x4 v = left >= 4 ? f32x4_load(x + i) : row_load_part(x + i, left);
      v = row_mapped(map, v, by);
      s0 += left >= 4 ? v : row_keep(v, left);
    }
    total += (double)f32x4_sum((s0 + s1) + (s2 + s3));
  }
  return total;
}

/* Largest element, -inf for none, NaN if any is: comparisons drop NaN, so it is looked for beside them. sign -1: the
 * smallest, as the negative of the largest negative. */
SIMD_INLINE float row_extreme(const float *x, size_t n, const float sign) {
  const f32x4 s = f32x4_splat(sign);
  f32x4 m0 = f32x4_splat(-__builtin_inff()), m1 = m0, m2 = m0, m3 = m0;
  i32x4 nan = {0};
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    f32x4 a = f32x4_load(x + i) * s, b = f32x4_load(x + i + 4) * s, c = f32x4_load(x + i + 8) * s,
          d = f32x4_load(x + i + 12) * s;
    m0 = f32x4_pmax(m0, a);
    m1 = f32x4_pmax(m1, b);
    m2 = f32x4_pmax(m2, c);
    m3 = f32x4_pmax(m3, d);
    nan |= ((a != a) | (b != b)) | ((c != c) | (d != d));
  }
  for (; i < n; i++) {
    f32x4 a = f32x4_splat(x[i]) * s;
    m0 = f32x4_pmax(m0, a);
    nan |= a != a;
  }
  m0 = f32x4_pmax(f32x4_pmax(m0, m1), f32x4_pmax(m2, m3));
  if (i32x4_any(nan)) return __builtin_nanf("");
  float best = m0[0];
  for (int j = 1; j < 4; j++) best = m0[j] > best ? m0[j] : best;
  return best * sign;
}

/* row_sum and row_extreme as calls. */
double row_total(row_map map, const float *x, size_t n, float shift);
float row_largest(const float *x, size_t n);

#endif
