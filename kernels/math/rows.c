/* Softmax, layer normalisation and their kin. */
#include "rows.h"
#include "row_sums.h"

#include <math.h>

static __attribute__((noinline, minsize)) void rows__store_part(float *p, f32x4 v, size_t count) {
  f32x4_store_part(p, v, count);
}

/* dst = e^(x - largest); returns the sum. */
static float rows__exp(float *dst, const float *src, size_t n, float largest) {
  const f32x4 by = f32x4_splat(largest);
  f32x4 s0 = f32x4_splat(0), s1 = s0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    f32x4 a = vec_exp_negative(f32x4_load(src + i) - by), b = vec_exp_negative(f32x4_load(src + i + 4) - by);
    f32x4_store(dst + i, a);
    f32x4_store(dst + i + 4, b);
    s0 += a;
    s1 += b;
  }
  for (; i < n; i += 4) {
    size_t left = n - i;
    f32x4 a = vec_exp_negative((left >= 4 ? f32x4_load(src + i) : row_load_part(src + i, left)) - by);
    if (left >= 4) {
      f32x4_store(dst + i, a);
    } else {
      rows__store_part(dst + i, a, left);
      a = row_load_part(dst + i, left);
    }
    s0 += a;
  }
  return f32x4_sum(s0 + s1);
}

static __attribute__((noinline)) void rows__affine(float *dst, const float *src, size_t n, float scale,
                                                   float shift) {
  const f32x4 s = f32x4_splat(scale), t = f32x4_splat(shift);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) f32x4_store(dst + i, f32x4_load(src + i) * s + t);
  for (; i < n; i++) dst[i] = src[i] * scale + shift;
}

static __attribute__((noinline)) void rows__scale(float *dst, const float *src, size_t n, float scale) {
  const f32x4 s = f32x4_splat(scale);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) f32x4_store(dst + i, f32x4_load(src + i) * s);
  for (; i < n; i++) dst[i] = src[i] * scale;
}

static void rows__subtract(float *dst, const float *src, size_t n, float largest, float log_sum) {
  const f32x4 s = f32x4_splat(largest), t = f32x4_splat(log_sum);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) f32x4_store(dst + i, (f32x4_load(src + i) - s) - t);
  for (; i < n; i++) dst[i] = (src[i] - largest) - log_sum;
}

static void rows__softmax(float *dst, const float *src, size_t n, bool logarithm) {
  float largest = row_largest(src, n);
  if (logarithm) {
    double sum = row_total(ROW_EXP, src, n, largest);
    rows__subtract(dst, src, n, largest, (float)math_log(sum));
  } else {
    float sum = rows__exp(dst, src, n, largest);
    rows__scale(dst, dst, n, 1.0f / sum);
  }
}

enum { COLUMN_BLOCK = 64 };

SIMD_INLINE f32x4 rows__load(const float *p, size_t lanes) {
  return lanes >= 4 ? f32x4_load(p) : row_load_part(p, lanes);
}

SIMD_INLINE void rows__store(float *p, f32x4 v, size_t lanes) {
  if (lanes >= 4) {
    f32x4_store(p, v);
  } else {
    rows__store_part(p, v, lanes);
  }
}

/* The same down adjacent columns, a lane each: `vectors` whole vectors, or one of `lanes` lanes. Sums are joined in blocks. */
static void rows__softmax_columns(int vectors, float *dst, const float *src, size_t n, size_t stride,
                                  size_t lanes, bool logarithm) {
  f32x4 largest[4], sum[4], block[4];
  for (int v = 0; v < vectors; v++) {
    largest[v] = f32x4_splat(-__builtin_inff());
    sum[v] = block[v] = f32x4_splat(0);
  }
  for (size_t i = 0; i < n; i++) {
    for (int v = 0; v < vectors; v++) {
      largest[v] = f32x4_max(largest[v], rows__load(src + i * stride + 4 * v, lanes));
    }
  }
  for (size_t i = 0; i < n; i++) {
    for (int v = 0; v < vectors; v++) {
      f32x4 e = vec_exp_negative(rows__load(src + i * stride + 4 * v, lanes) - largest[v]);
      block[v] += e;
      if (!logarithm) rows__store(dst + i * stride + 4 * v, e, lanes);
    }
    if ((i + 1) % COLUMN_BLOCK == 0 || i + 1 == n) {
      for (int v = 0; v < vectors; v++) {
        sum[v] += block[v];
        block[v] = f32x4_splat(0);
      }
    }
  }
  for (int v = 0; v < vectors; v++) sum[v] = logarithm ? vec_log(sum[v]) : f32x4_splat(1) / sum[v];
  for (size_t i = 0; i < n; i++) {
    for (int v = 0; v < vectors; v++) {
      float *out = dst + i * stride + 4 * v;
      f32x4 x = rows__load(logarithm ? src + i * stride + 4 * v : out, lanes);
      rows__store(out, logarithm ? (x - largest[v]) - sum[v] : x * sum[v], lanes);
    }
  }
}

static void rows__softmax_inner(float *dst, const float *src, size_t n, size_t inner, bool logarithm) {
  size_t j = 0;
  for (; j + 16 <= inner; j += 16) rows__softmax_columns(4, dst + j, src + j, n, inner, 4, logarithm);
  for (; j < inner; j += 4) rows__softmax_columns(1, dst + j, src + j, n, inner, inner - j, logarithm);
}

void math_softmax_f32(float *dst, const float *src, size_t outer, size_t n, size_t inner, bool logarithm) {
  for (size_t o = 0; o < outer; o++, src += n * inner, dst += n * inner) {
    if (inner == 1) {
      rows__softmax(dst, src, n, logarithm);
    } else {
      rows__softmax_inner(dst, src, n, inner, logarithm);
    }
  }
}

void math_softmax_f64(double *dst, const double *src, size_t outer, size_t n, size_t inner, bool logarithm) {
  for (size_t o = 0; o < outer; o++, src += n * inner, dst += n * inner) {
    for (size_t j = 0; j < inner; j++) {
      double largest = -(double)__builtin_inf(), sum = 0;
      for (size_t i = 0; i < n; i++) {
        double x = src[i * inner + j];
        if (x > largest || x != x) largest = x;
      }
      for (size_t i = 0; i < n; i++) sum += math_exp(src[i * inner + j] - largest);
      double log_sum = math_log(sum);
      for (size_t i = 0; i < n; i++) {
        double x = src[i * inner + j] - largest;
        dst[i * inner + j] = logarithm ? x - log_sum : math_exp(x) / sum;
      }
    }
  }
}

/* y = (x - mean) factor scale[j] + bias[j] */
static void rows__normalise(float *dst, const float *src, size_t n, float mean, float factor,
                            const float *scale, const float *bias) {
  const f32x4 m = f32x4_splat(mean), f = f32x4_splat(factor);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    f32x4 y = (f32x4_load(src + i) - m) * f;
    if (scale) y *= f32x4_load(scale + i);
    if (bias) y += f32x4_load(bias + i);
    f32x4_store(dst + i, y);
  }
  for (; i < n; i++) {
    float y = (src[i] - mean) * factor;
    if (scale) y *= scale[i];
    if (bias) y += bias[i];
    dst[i] = y;
  }
}

void math_layer_norm_f32(float *dst, const float *src, size_t rows, size_t n, float epsilon,
                         const float *scale, const float *bias, float *mean, float *inverse_deviation) {
  for (size_t r = 0; r < rows; r++, src += n, dst += n) {
    float m = (float)(row_total(ROW_PLAIN, src, n, 0) / (double)n);
    double variance = row_total(ROW_SQUARE, src, n, m) / (double)n;
    float factor = (float)(1.0 / sqrt(variance + (double)epsilon));
    rows__normalise(dst, src, n, m, factor, scale, bias);
    if (mean) mean[r] = m;
    if (inverse_deviation) inverse_deviation[r] = factor;
  }
}

void math_rms_norm_f32(float *dst, const float *src, size_t rows, size_t n, float epsilon,
                       const float *scale) {
  for (size_t r = 0; r < rows; r++, src += n, dst += n) {
    double square = row_total(ROW_SQUARE, src, n, 0) / (double)n;
    rows__normalise(dst, src, n, 0, (float)(1.0 / sqrt(square + (double)epsilon)), scale, NULL);
  }
}

void math_moments_f32(float *mean, float *variance, const float *src, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; r++, src += n) {
    float m = (float)(row_total(ROW_PLAIN, src, n, 0) / (double)n);
    if (mean) mean[r] = m;
    if (variance) variance[r] = (float)(row_total(ROW_SQUARE, src, n, m) / (double)n);
  }
}

void math_scale_rows_f32(float *dst, const float *src, size_t rows, size_t n, size_t period,
                         const float *scale, const float *shift) {
  for (size_t r = 0; r < rows; r++, src += n, dst += n) {
    size_t k = r % period;
    if (shift) {
      rows__affine(dst, src, n, scale ? scale[k] : 1.0f, shift[k]);
    } else {
      rows__scale(dst, src, n, scale ? scale[k] : 1.0f);
    }
  }
}

float math_dot_f32(const float *a, const float *b, size_t n) {
  double total = 0;
  for (size_t begin = 0; begin < n; begin += ROW_BLOCK) {
    size_t end = n - begin < ROW_BLOCK ? n : begin + ROW_BLOCK, i = begin;
    f32x4 s0 = f32x4_splat(0), s1 = s0, s2 = s0, s3 = s0;
    for (; i + 16 <= end; i += 16) {
      s0 += f32x4_load(a + i) * f32x4_load(b + i);
      s1 += f32x4_load(a + i + 4) * f32x4_load(b + i + 4);
      s2 += f32x4_load(a + i + 8) * f32x4_load(b + i + 8);
      s3 += f32x4_load(a + i + 12) * f32x4_load(b + i + 12);
    }
    for (; i + 4 <= end; i += 4) s0 += f32x4_load(a + i) * f32x4_load(b + i);
    if (i < end) s1 += f32x4_load_part(a + i, end - i) * f32x4_load_part(b + i, end - i);
    total += (double)f32x4_sum((s0 + s1) + (s2 + s3));
  }
  return (float)total;
}
