/* The tail of a product or convolution, applied to a tile that is still in the cache. */
#include "gemm.h"
#include "simd.h"

static void epilogue__scale(float *c, size_t n, float alpha) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) f32x4_store(c + j, f32x4_load(c + j) * f32x4_splat(alpha));
  for (; j < n; j++) c[j] *= alpha;
}

static void epilogue__shift(float *c, size_t n, float by) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) f32x4_store(c + j, f32x4_load(c + j) + f32x4_splat(by));
  for (; j < n; j++) c[j] += by;
}

static void epilogue__add(float *c, const float *x, size_t n, float scale) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) f32x4_store(c + j, f32x4_load(c + j) + f32x4_load(x + j) * f32x4_splat(scale));
  for (; j < n; j++) c[j] += x[j] * scale;
}

void math_epilogue_apply(const math_epilogue *e, float *c, ptrdiff_t c_row_stride, size_t row_begin,
                         size_t row_end, size_t col_begin, size_t col_end) {
  size_t n = col_end - col_begin;
  for (size_t i = row_begin; i < row_end; i++) {
    float *row = c + (ptrdiff_t)i * c_row_stride + col_begin;
    const float *residual = e->residual ? e->residual + (ptrdiff_t)i * e->residual_stride + col_begin : NULL;
    if (e->alpha != 1.0f) epilogue__scale(row, n, e->alpha);
    if (e->bias && e->bias_kind == MATH_BIAS_COLUMN)
      epilogue__add(row, e->bias + col_begin, n, e->bias_scale);
    if (e->bias && e->bias_kind == MATH_BIAS_ROW) epilogue__shift(row, n, e->bias[i] * e->bias_scale);
    if (e->bias && e->bias_kind == MATH_BIAS_SCALAR) epilogue__shift(row, n, e->bias[0] * e->bias_scale);
    if (residual && !e->residual_last) epilogue__add(row, residual, n, e->residual_scale);
    if (e->loop != LOOP_NONE) math_run_unary(e->loop, MATH_F32, row, row, n, e->params);
    if (residual && e->residual_last) epilogue__add(row, residual, n, e->residual_scale);
  }
}
