/* Reductions of the types other than f32, arg max/min, running sums, and the choice among them. */
#include "reduce.h"
#include "reduce_kit.h"
#include "scalars.h"
#include "simd.h"

/* The template asks of every type whether it is NaN. */
#pragma clang diagnostic ignored "-Wtautological-compare"

enum { ARG_COLUMNS = 128 };

#define INT_HELPERS(type, T, LOW, HIGH)           \
  static T reduce__from_double_##type(double x) { \
    if (x != x) return 0;                         \
    if (x >= (double)(HIGH)) return HIGH;         \
    if (x <= (double)(LOW)) return LOW;           \
    return (T)x;                                  \
  }

INT_HELPERS(i32, int32_t, INT32_MIN, INT32_MAX)
INT_HELPERS(u32, uint32_t, 0, UINT32_MAX)
INT_HELPERS(i64, int64_t, INT64_MIN, INT64_MAX)
INT_HELPERS(u64, uint64_t, 0, UINT64_MAX)
static double reduce__from_double_f64(double x) { return x; }

static int32_t reduce__mean_i32(uint64_t sum, size_t n) {
  return n ? (int32_t)((int64_t)sum / (int64_t)n) : 0;
}
static uint32_t reduce__mean_u32(uint64_t sum, size_t n) { return n ? (uint32_t)(sum / n) : 0; }
static int64_t reduce__mean_i64(uint64_t sum, size_t n) { return n ? (int64_t)sum / (int64_t)n : 0; }
static uint64_t reduce__mean_u64(uint64_t sum, size_t n) { return n ? sum / n : 0; }
static double reduce__mean_f64(double sum, size_t n) { return sum / (double)n; }

#define T double
#define A double
#define TN f64
#define LOWEST (-(double)__builtin_inf())
#define HIGHEST ((double)__builtin_inf())
#define FULL 1
#include "reduce_any.inc"

#define T int32_t
#define A uint64_t
#define TN i32
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define FULL 1
#include "reduce_any.inc"

#define T uint32_t
#define A uint64_t
#define TN u32
#define LOWEST 0
#define HIGHEST UINT32_MAX
#define FULL 1
#include "reduce_any.inc"

#define T int64_t
#define A uint64_t
#define TN i64
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define FULL 1
#include "reduce_any.inc"

#define T uint64_t
#define A uint64_t
#define TN u64
#define LOWEST 0
#define HIGHEST UINT64_MAX
#define FULL 1
#include "reduce_any.inc"

#define T int8_t
#define TN i8
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#define FULL 0
#include "reduce_any.inc"

#define T uint8_t
#define TN u8
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define FULL 0
#include "reduce_any.inc"

#define T uint8_t
#define TN b8
#define LOWEST 0
#define HIGHEST 1
#define FULL 0
#include "reduce_any.inc"

#define T int16_t
#define TN i16
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#define FULL 0
#include "reduce_any.inc"

#define T uint16_t
#define TN u16
#define LOWEST 0
#define HIGHEST UINT16_MAX
#define FULL 0
#include "reduce_any.inc"

#define T float
#define TN f32
#define LOWEST (-__builtin_inff())
#define HIGHEST (__builtin_inff())
#define FULL -1
#include "reduce_any.inc"

bool math_reduce(math_reduction r, int type, void *dst, const void *src, size_t outer, size_t n,
                 size_t inner) {
  switch (type) {
  case MATH_F32: math_reduce_f32(r, dst, src, outer, n, inner); return true;
  case MATH_F64: reduce__all_f64(r, dst, src, outer, n, inner); return true;
  case MATH_I32: reduce__all_i32(r, dst, src, outer, n, inner); return true;
  case MATH_U32: reduce__all_u32(r, dst, src, outer, n, inner); return true;
  case MATH_I64: reduce__all_i64(r, dst, src, outer, n, inner); return true;
  case MATH_U64: reduce__all_u64(r, dst, src, outer, n, inner); return true;
  default: break;
  }
  if (r != MATH_REDUCE_MAX && r != MATH_REDUCE_MIN) return false;
  switch (type) {
  case MATH_I8: reduce__all_i8(r, dst, src, outer, n, inner); return true;
  case MATH_U8: reduce__all_u8(r, dst, src, outer, n, inner); return true;
  case MATH_BOOL: reduce__all_b8(r, dst, src, outer, n, inner); return true;
  case MATH_I16: reduce__all_i16(r, dst, src, outer, n, inner); return true;
  case MATH_U16: reduce__all_u16(r, dst, src, outer, n, inner); return true;
  default: return false;
  }
}

math_reduce_passes math_reduce_steps(math_reduction r) {
  switch (r) {
  case MATH_REDUCE_SUM_SQUARE:
  case MATH_REDUCE_L1: return (math_reduce_passes){r, MATH_REDUCE_SUM, MATH_REDUCE_SUM};
  case MATH_REDUCE_LOG_SUM: return (math_reduce_passes){MATH_REDUCE_SUM, MATH_REDUCE_SUM, r};
  default: return (math_reduce_passes){r, r, r};
  }
}

/* A long contiguous row of floats: its extreme by the vector loop, then the place of it. */
static int64_t reduce__arg_row(const float *x, size_t n, bool largest, bool select_last) {
  float best;
  math_reduce_f32(largest ? MATH_REDUCE_MAX : MATH_REDUCE_MIN, &best, x, 1, n, 1);
  const f32x4 wanted = f32x4_splat(best);
  const bool nan = best != best;
  for (size_t step = 0; step < n; step += 4) {
    size_t i = select_last ? (n - 1) / 4 * 4 - step : step;
    if (n - i >= 4) {
      f32x4 v = f32x4_load(x + i);
      if (!i32x4_any(nan ? v != v : v == wanted)) continue;
    }
    for (size_t k = 0; k < 4; k++) {
      size_t j = select_last ? i + 3 - k : i + k;
      if (j < n && (nan ? x[j] != x[j] : x[j] == best)) return (int64_t)j;
    }
  }
  return 0;
}

bool math_arg_extreme(int type, bool largest, bool select_last, int64_t *dst, const void *src, size_t outer,
                      size_t n, size_t inner) {
  switch (type) {
  case MATH_F32:
    if (inner == 1 && n >= 16) {
      for (size_t o = 0; o < outer; o++)
        dst[o] = reduce__arg_row((const float *)src + o * n, n, largest, select_last);
    } else {
      reduce__arg_f32(largest, select_last, dst, src, outer, n, inner);
    }
    return true;
  case MATH_F64: reduce__arg_f64(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_I8: reduce__arg_i8(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_U8: reduce__arg_u8(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_BOOL: reduce__arg_b8(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_I16: reduce__arg_i16(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_U16: reduce__arg_u16(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_I32: reduce__arg_i32(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_U32: reduce__arg_u32(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_I64: reduce__arg_i64(largest, select_last, dst, src, outer, n, inner); return true;
  case MATH_U64: reduce__arg_u64(largest, select_last, dst, src, outer, n, inner); return true;
  default: return false;
  }
}

#define CUMULATE(type, T)                                                                               \
  static void reduce__cumulate_##type(bool product, bool exclusive, bool reverse, T *dst, const T *src, \
                                      size_t outer, size_t n, size_t inner) {                           \
    T acc[ARG_COLUMNS];                                                                                 \
    for (size_t o = 0; o < outer; o++, src += n * inner, dst += n * inner) {                            \
      for (size_t begin = 0; begin < inner; begin += ARG_COLUMNS) {                                     \
        size_t width = inner - begin < ARG_COLUMNS ? inner - begin : ARG_COLUMNS;                       \
        for (size_t j = 0; j < width; j++) acc[j] = product ? 1 : 0;                                    \
        for (size_t i = 0; i < n; i++) {                                                                \
          size_t row = (reverse ? n - 1 - i : i) * inner + begin;                                       \
          for (size_t j = 0; j < width; j++) {                                                          \
            T x = src[row + j], next = product ? acc[j] * x : acc[j] + x;                               \
            dst[row + j] = exclusive ? acc[j] : next;                                                   \
            acc[j] = next;                                                                              \
          }                                                                                             \
        }                                                                                               \
      }                                                                                                 \
    }                                                                                                   \
  }

CUMULATE(f32, float)
CUMULATE(f64, double)
CUMULATE(u32, uint32_t)
CUMULATE(u64, uint64_t)

bool math_cumulate(int type, bool product, bool exclusive, bool reverse, void *dst, const void *src,
                   size_t outer, size_t n, size_t inner) {
  switch (type) {
  case MATH_F32: reduce__cumulate_f32(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  case MATH_F64: reduce__cumulate_f64(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  case MATH_I32:
  case MATH_U32: reduce__cumulate_u32(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  case MATH_I64:
  case MATH_U64: reduce__cumulate_u64(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  default: return false;
  }
}
