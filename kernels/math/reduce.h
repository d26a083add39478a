/* Reductions, arg max/min, running sums over one axis of a tensor seen as [outer, n, inner] (row-major, contiguous).
 *
 * Adjacent axes are merged by the caller; reducing axes that are apart is several calls (math_reduce_steps names the
 * operation of each) or one after a transposition. Order of summation is fixed by n and inner alone, so outer may be split
 * among threads. Sums of f32 keep 16 partial sums or more and join blocks in double or pairs. dst must not overlap src. */
#ifndef OPSPEC_REDUCE_H
#define OPSPEC_REDUCE_H

#include "loops.h"

typedef enum math_reduction {
  MATH_REDUCE_SUM,
  MATH_REDUCE_MEAN, /* of nothing: NaN, 0 for integers; integers truncate */
  MATH_REDUCE_MAX,  /* NaN wins; of nothing: -inf or the lowest value */
  MATH_REDUCE_MIN,
  MATH_REDUCE_PROD,
  MATH_REDUCE_SUM_SQUARE,
  MATH_REDUCE_L1,
  MATH_REDUCE_L2,
  MATH_REDUCE_LOG_SUM,
  MATH_REDUCE_LOG_SUM_EXP, /* safe against overflow */
  MATH_REDUCTION_COUNT
} math_reduction;

/* dst[outer, inner]. type: f32, f64, i32, i64, u32, u64 for all; i8, u8, i16, u16, bool for MAX and MIN. Integers wrap;
 * L2 and the logarithms of integers are computed in double and truncated. False for another type. */
bool math_reduce(math_reduction r, int type, void *dst, const void *src, size_t outer, size_t n,
                 size_t inner);

/* Reducing several separate axes one after another: what the first pass does, the ones between, and the last. */
typedef struct math_reduce_passes {
  math_reduction first, middle, last;
} math_reduce_passes;
math_reduce_passes math_reduce_steps(math_reduction r);

/* dst[outer, inner] int64 index of the largest (largest = true) or smallest element: first NaN if there is one, otherwise
 * the first of equals, or the last of equals with select_last (the last NaN then). n >= 1. All numeric types and bool. */
bool math_arg_extreme(int type, bool largest, bool select_last, int64_t *dst, const void *src, size_t outer,
                      size_t n, size_t inner);

/* Running sum or product along n. type: f32, f64, i32, i64, u32, u64. In place is allowed. */
bool math_cumulate(int type, bool product, bool exclusive, bool reverse, void *dst, const void *src,
                   size_t outer, size_t n, size_t inner);

#endif
