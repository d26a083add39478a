/* f32 reductions: along a contiguous axis row by row, along outer axes in tiles of columns. */
#include "reduce.h"
#include "reduce_kit.h"
#include "row_sums.h"

enum { COLUMNS = 256, LEVEL = 64 };

typedef enum column_step {
  COLUMN_SUM,
  COLUMN_ABS,
  COLUMN_SQUARE,
  COLUMN_EXP,
  COLUMN_MAX,
  COLUMN_MIN,
  COLUMN_PROD
} column_step;

SIMD_INLINE f32x4 reduce__mapped(const column_step step, f32x4 x, f32x4 shift) {
  switch (step) {
  case COLUMN_ABS: return f32x4_abs(x);
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

static float reduce__start(column_step step) {
  switch (step) {
  case COLUMN_MAX: return -__builtin_inff();
  case COLUMN_MIN: return __builtin_inff();
  case COLUMN_PROD: return 1;
  default: return 0;
  }
}

/* Adds rows [begin, end) of `width` columns to acc (width rounded up to vectors), four rows at a time. */
SIMD_INLINE void reduce__rows(const column_step step, float *acc, const float *shift, const float *src,
                              size_t stride, size_t begin, size_t end, size_t width) {
  for (size_t i = begin; i < end; i += 4) {
    const float *row = src + i * stride;
    size_t rows = end - i < 4 ? end - i : 4;
    for (size_t j = 0; j < width; j += 4) {
      size_t left = width - j;
      f32x4 by = f32x4_load(shift + j);
      f32x4 v = f32x4_load(acc + j);
      if (rows == 4 && left >= 4) {
        f32x4 a = reduce__mapped(step, f32x4_load(row + j), by),
              b = reduce__mapped(step, f32x4_load(row + stride + j), by);
        f32x4 c = reduce__mapped(step, f32x4_load(row + 2 * stride + j), by);
        f32x4 d = reduce__mapped(step, f32x4_load(row + 3 * stride + j), by);
        v = reduce__joined(step, v,
                           reduce__joined(step, reduce__joined(step, a, b), reduce__joined(step, c, d)));
      } else {
        f32x4 part[4];
        for (size_t r = 0; r < rows; r++) {
          const float *p = row + r * stride + j;
          part[r] = reduce__mapped(step, left >= 4 ? f32x4_load(p) : f32x4_load_part(p, left), by);
        }
        if (rows == 4) {
          v = reduce__joined(step, v,
                             reduce__joined(step, reduce__joined(step, part[0], part[1]),
                                            reduce__joined(step, part[2], part[3])));
        } else {
          for (size_t r = 0; r < rows; r++) v = reduce__joined(step, v, part[r]);
        }
      }
      f32x4_store(acc + j, v);
    }
  }
}

/* Two levels of partial results, so that long sums do not lose their small terms. */
SIMD_INLINE void reduce__columns(const column_step step, float *total, const float *shift, const float *src,
                                 size_t n, size_t stride, size_t width) {
  float acc[COLUMNS + 4];
  const float start = reduce__start(step);
  size_t level = LEVEL;
  while (level * level < n) level *= 2;
  for (size_t j = 0; j < width + 4; j++) total[j] = start;
  for (size_t i = 0; i < n; i += level) {
    for (size_t j = 0; j < width + 4; j++) acc[j] = start;
    reduce__rows(step, acc, shift, src, stride, i, n - i < level ? n : i + level, width);
    for (size_t j = 0; j < width; j += 4)
      f32x4_store(total + j, reduce__joined(step, f32x4_load(total + j), f32x4_load(acc + j)));
  }
}

static void reduce__columns_of(column_step step, float *total, const float *shift, const float *src, size_t n,
                               size_t stride, size_t width) {
  switch (step) {
  case COLUMN_SUM: reduce__columns(COLUMN_SUM, total, shift, src, n, stride, width); break;
  case COLUMN_ABS: reduce__columns(COLUMN_ABS, total, shift, src, n, stride, width); break;
  case COLUMN_SQUARE: reduce__columns(COLUMN_SQUARE, total, shift, src, n, stride, width); break;
  case COLUMN_EXP: reduce__columns(COLUMN_EXP, total, shift, src, n, stride, width); break;
  case COLUMN_MAX: reduce__columns(COLUMN_MAX, total, shift, src, n, stride, width); break;
  case COLUMN_MIN: reduce__columns(COLUMN_MIN, total, shift, src, n, stride, width); break;
  case COLUMN_PROD: reduce__columns(COLUMN_PROD, total, shift, src, n, stride, width); break;
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
  case MATH_REDUCE_MAX: return row_extreme(x, n, 1);
  case MATH_REDUCE_MIN: return row_extreme(x, n, -1);
  case MATH_REDUCE_PROD: return reduce__prod(x, n);
  case MATH_REDUCE_L1: return (float)row_sum(ROW_ABS, x, n, 0);
  case MATH_REDUCE_SUM_SQUARE:
  case MATH_REDUCE_L2: return (float)reduce__finish(r, row_sum(ROW_SQUARE, x, n, 0), 0, n);
  case MATH_REDUCE_LOG_SUM_EXP: {
    float largest = row_extreme(x, n, 1), shift = reduce__shift(largest);
    if (shift != largest) return largest;
    return (float)reduce__finish(r, row_sum(ROW_EXP, x, n, shift), (double)shift, n);
  }
  default: return (float)reduce__finish(r, row_sum(ROW_PLAIN, x, n, 0), 0, n);
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
