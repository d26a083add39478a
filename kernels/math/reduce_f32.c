/* f32 reductions: along a contiguous axis row by row, along outer axes in tiles of columns. */
#include "reduce.h"
#include "reduce_kit.h"
#include "row_sums.h"

#include <string.h>

enum { COLUMNS = 256, LEVEL = 64 };

float row_largest(const float *x, size_t n) { return row_extreme(x, n, 1); }

double row_total(row_map map, const float *x, size_t n, float shift) {
  switch (map) {
  case ROW_SQUARE: return row_sum(ROW_SQUARE, x, n, shift);
  case ROW_EXP: return row_sum(ROW_EXP, x, n, shift);
  case ROW_ABS: return row_sum(ROW_ABS, x, n, shift);
  default: return row_sum(ROW_PLAIN, x, n, shift);
  }
}

typedef enum column_step {
  COLUMN_SUM,
  COLUMN_ABS, /* SUM of what is left of the sign */
  COLUMN_SQUARE,
  COLUMN_EXP,
  COLUMN_MAX,
  COLUMN_MIN,
  COLUMN_PROD
} column_step;

SIMD_INLINE f32x4 reduce__mapped(const column_step step, f32x4 x, f32x4 shift, f32x4 keep) {
  switch (step) {
  case COLUMN_SUM: return (f32x4)((i32x4)x & (i32x4)keep);
  case COLUMN_SQUARE: return x * x;
  case COLUMN_EXP: return vec_exp_negative(x - shift);
  default: return x;
  }
}

SIMD_INLINE f32x4 reduce__joined(const column_step step, f32x4 a, f32x4 b) {
  switch (step) {
  case COLUMN_MAX: return f32x4_max(a, b);
  case COLUMN_MIN: return f32x4_min(a, b);
  case COLUMN_PROD: return a * b;
  default: return a + b;
  }
}

/* `width` (1 to 3) columns of up to four rows, as rows of four. */
static __attribute__((noinline, minsize)) void reduce__copy_part(float part[16], const float *src,
                                                                 size_t stride, size_t rows, size_t width) {
  memset(part, 0, 16 * sizeof *part);
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < width; j++) part[4 * r + j] = src[r * stride + j];
  }
}

static float reduce__start(column_step step) {
  switch (step) {
  case COLUMN_MAX: return -__builtin_inff();
  case COLUMN_MIN: return __builtin_inff();
  case COLUMN_PROD: return 1;
  default: return 0;
  }
}

/* Adds rows [begin, end) of `width` columns to acc (width rounded up to vectors), four rows at a time. */
SIMD_INLINE void reduce__rows(const column_step step, float *acc, const float *shift, f32x4 keep,
                              const float *src, size_t stride, size_t begin, size_t end, size_t width) {
  for (size_t i = begin; i < end; i += 4) {
    const float *row = src + i * stride;
    size_t rows = end - i < 4 ? end - i : 4;
    for (size_t j = 0; j < width; j += 4) {
      const float *at = row + j;
      size_t pitch = stride;
      float part[16];
      if (width - j < 4) {
        reduce__copy_part(part, at, stride, rows, width - j);
        at = part;
        pitch = 4;
      }
      f32x4 by = f32x4_load(shift + j), v = f32x4_load(acc + j), x[4];
      if (rows == 4) {
        if (step == COLUMN_EXP) {
#pragma clang loop unroll(disable)
          for (size_t r = 0; r < 4; r++)
            f32x4_store(part + 4 * r, vec_exp_negative(f32x4_load(at + r * pitch) - by));
          at = part;
          pitch = 4;
        }
#pragma clang loop unroll(full)
        for (size_t r = 0; r < 4; r++)
          x[r] = step == COLUMN_EXP ? f32x4_load(at + r * pitch)
                                    : reduce__mapped(step, f32x4_load(at + r * pitch), by, keep);
        v = reduce__joined(
            step, v,
            reduce__joined(step, reduce__joined(step, x[0], x[1]), reduce__joined(step, x[2], x[3])));
      } else {
#pragma clang loop unroll(disable)
        for (size_t r = 0; r < rows; r++)
          v = reduce__joined(step, v, reduce__mapped(step, f32x4_load(at + r * pitch), by, keep));
      }
      f32x4_store(acc + j, v);
    }
  }
}

static void reduce__rows_of(column_step step, float *acc, const float *shift, const float *src, size_t stride,
                            size_t begin, size_t end, size_t width) {
  const f32x4 keep = (f32x4)i32x4_splat(step == COLUMN_ABS ? 0x7fffffff : -1);
#define STEP(s) \
  case s: reduce__rows(s, acc, shift, keep, src, stride, begin, end, width); break;
  switch (step) {
    STEP(COLUMN_SQUARE)
    STEP(COLUMN_EXP)
    STEP(COLUMN_MAX)
    STEP(COLUMN_MIN)
    STEP(COLUMN_PROD)
  default: reduce__rows(COLUMN_SUM, acc, shift, keep, src, stride, begin, end, width); break;
  }
#undef STEP
}

/* Two levels of partial results, so that long sums do not lose their small terms. */
static void reduce__columns_of(column_step step, float *total, const float *shift, const float *src, size_t n,
                               size_t stride, size_t width) {
  float acc[COLUMNS + 4];
  const float start = reduce__start(step);
  size_t level = LEVEL;
  while (level * level < n) level *= 2;
  for (size_t j = 0; j < width + 4; j++) total[j] = start;
  for (size_t i = 0; i < n; i += level) {
    for (size_t j = 0; j < width + 4; j++) acc[j] = start;
    reduce__rows_of(step, acc, shift, src, stride, i, n - i < level ? n : i + level, width);
    for (size_t j = 0; j < width; j += 4) {
      f32x4 a = f32x4_load(total + j), b = f32x4_load(acc + j);
      f32x4_store(total + j, step == COLUMN_MAX    ? f32x4_max(a, b)
                             : step == COLUMN_MIN  ? f32x4_min(a, b)
                             : step == COLUMN_PROD ? a * b
                                                   : a + b);
    }
  }
}

static double reduce__finish(math_reduction r, double total, double largest, size_t n) {
  switch (r) {
  case MATH_REDUCE_MEAN: return total / (double)n;
  case MATH_REDUCE_L2: return sqrt(total);
  case MATH_REDUCE_LOG_SUM: return math_log(total);
  case MATH_REDUCE_LOG_SUM_EXP: return largest + math_log(total);
  default: return total;
  }
}

static column_step reduce__step(math_reduction r) {
  switch (r) {
  case MATH_REDUCE_MAX: return COLUMN_MAX;
  case MATH_REDUCE_MIN: return COLUMN_MIN;
  case MATH_REDUCE_PROD: return COLUMN_PROD;
  case MATH_REDUCE_L1: return COLUMN_ABS;
  case MATH_REDUCE_SUM_SQUARE:
  case MATH_REDUCE_L2: return COLUMN_SQUARE;
  case MATH_REDUCE_LOG_SUM_EXP: return COLUMN_EXP;
  default: return COLUMN_SUM;
  }
}

/* Infinities as a shift would give NaN: a row whose maximum is infinite is shifted by nothing. */
static float reduce__shift(float largest) { return largest - largest == 0 ? largest : 0; }

static void reduce__tile(math_reduction r, float *dst, const float *src, size_t n, size_t stride,
                         size_t width) {
  float total[COLUMNS + 4], shift[COLUMNS + 4] = {0}, largest[COLUMNS + 4] = {0};
  if (r == MATH_REDUCE_LOG_SUM_EXP) {
    reduce__columns_of(COLUMN_MAX, largest, shift, src, n, stride, width);
    for (size_t j = 0; j < width; j++) shift[j] = reduce__shift(largest[j]);
  }
  reduce__columns_of(reduce__step(r), total, shift, src, n, stride, width);
  for (size_t j = 0; j < width; j++) {
    bool infinite = r == MATH_REDUCE_LOG_SUM_EXP && shift[j] != largest[j];
    dst[j] = infinite ? largest[j] : (float)reduce__finish(r, (double)total[j], (double)shift[j], n);
  }
}

static float reduce__prod(const float *x, size_t n) {
  f32x4 p = f32x4_splat(1), q = p;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    p *= f32x4_load(x + i);
    q *= f32x4_load(x + i + 4);
  }
  p *= q;
  float product = (p[0] * p[2]) * (p[1] * p[3]);
  for (; i < n; i++) product *= x[i];
  return product;
}

static float reduce__row(math_reduction r, const float *x, size_t n) {
  switch (r) {
  case MATH_REDUCE_MAX: return row_largest(x, n);
  case MATH_REDUCE_MIN: return row_extreme(x, n, -1);
  case MATH_REDUCE_PROD: return reduce__prod(x, n);
  case MATH_REDUCE_L1: return (float)row_total(ROW_ABS, x, n, 0);
  case MATH_REDUCE_SUM_SQUARE:
  case MATH_REDUCE_L2: return (float)reduce__finish(r, row_total(ROW_SQUARE, x, n, 0), 0, n);
  case MATH_REDUCE_LOG_SUM_EXP: {
    float largest = row_largest(x, n), shift = reduce__shift(largest);
    if (shift != largest) return largest;
    return (float)reduce__finish(r, row_total(ROW_EXP, x, n, shift), (double)shift, n);
  }
  default: return (float)reduce__finish(r, row_total(ROW_PLAIN, x, n, 0), 0, n);
  }
}

void math_reduce_f32(math_reduction r, float *dst, const float *src, size_t outer, size_t n, size_t inner) {
  for (size_t o = 0; o < outer; o++, src += n * inner, dst += inner) {
    if (inner == 1) {
      dst[0] = reduce__row(r, src, n);
      continue;
    }
    for (size_t j = 0; j < inner; j += COLUMNS) {
      reduce__tile(r, dst + j, src + j, n, inner, inner - j < COLUMNS ? inner - j : COLUMNS);
    }
  }
}
