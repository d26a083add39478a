/* f32 matrix product after BLIS: b lies in panels of NR columns, a block of a is packed in strips of MR rows, and one
 * micro-kernel multiplies a strip by a panel in registers. */
#include "gemm_kit.h"
#include "simd.h"

#include <string.h>

enum {
  MR = GEMM_MR,
  NR = GEMM_NR,
  MC = 64, /* rows of a in one packed block */
  EPILOGUE_COLUMNS = 128
};

size_t gemm_depth(size_t k) {
  size_t blocks = (k + GEMM_DEPTH - 1) / GEMM_DEPTH;
  return blocks ? (k + blocks - 1) / blocks : 0;
}

size_t math_gemm_panel(void) { return NR; }

size_t math_gemm_row_block(void) { return MC; }

size_t math_gemm_packed_b_bytes(size_t k, size_t n) { return (n + NR - 1) / NR * NR * k * sizeof(float); }

size_t math_gemm_scratch_bytes(size_t m, size_t n, size_t k) {
  (void)n;
  size_t rows = m < MC ? (m + MR - 1) / MR * MR : MC;
  return rows * gemm_depth(k) * sizeof(float);
}

bool math_gemm_wants_packing(size_t m, size_t n, size_t k) { return m >= 8 && n >= 2 && k >= 4; }

void math_gemm_pack_b(void *packed, const float *b, ptrdiff_t row_stride, ptrdiff_t col_stride, size_t k,
                      size_t n, size_t col_begin, size_t col_end) {
  for (size_t j = col_begin; j < col_end; j += NR) {
    float *dst = (float *)packed + j * k;
    const float *src = b + (ptrdiff_t)j * col_stride;
    size_t width = n - j < NR ? n - j : NR;
    for (size_t p = 0; p < k; p++, dst += NR, src += row_stride) {
      if (width == NR && col_stride == 1) {
        f32x4_store(dst, f32x4_load(src));
        f32x4_store(dst + 4, f32x4_load(src + 4));
      } else {
        for (size_t c = 0; c < width; c++) dst[c] = src[(ptrdiff_t)c * col_stride];
        for (size_t c = width; c < NR; c++) dst[c] = 0.0f;
      }
    }
  }
}

void gemm_pack_strips(float *dst, const float *a, ptrdiff_t row_stride, ptrdiff_t col_stride, size_t rows,
                      size_t depth) {
  for (size_t i = 0; i < rows; i += MR) {
    size_t height = rows - i < MR ? rows - i : MR;
    for (size_t r = 0; r < height; r++) {
      const float *src = a + (ptrdiff_t)(i + r) * row_stride;
      float *out = dst + r;
#pragma clang loop unroll_count(4)
      for (size_t p = 0; p < depth; p++, src += col_stride, out += height) *out = *src;
    }
    dst += height * depth;
  }
}

/* The columns of a tile that lie in c, from memory: [rows][NR]. */
static __attribute__((noinline, minsize)) void gemm__store_part(const float *tile, int rows, float *c,
                                                                ptrdiff_t c_stride, bool add, size_t width) {
  for (int r = 0; r < rows; r++, c += c_stride, tile += NR) {
    for (size_t j = 0; j < width; j++) c[j] = add ? tile[j] + c[j] : tile[j];
  }
}

/* c[rows, 8] (+)= a strip times a panel. */
SIMD_INLINE void gemm__tile(const int rows, size_t depth, const float *a, const float *b, float *c,
                            ptrdiff_t c_stride, bool add, size_t width) {
  f32x4 acc[MR][2];
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = f32x4_splat(0.0f);
#pragma clang loop unroll_count(2)
  for (size_t p = 0; p < depth; p++, a += rows, b += NR) {
    f32x4 b0 = f32x4_load(b), b1 = f32x4_load(b + 4);
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; r++) {
      f32x4 x = f32x4_splat(a[r]);
      acc[r][0] = f32x4_madd(x, b0, acc[r][0]);
      acc[r][1] = f32x4_madd(x, b1, acc[r][1]);
    }
  }
  if (width < NR) {
    float tile[MR * NR];
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; r++) {
      f32x4_store(tile + r * NR, acc[r][0]);
      f32x4_store(tile + r * NR + 4, acc[r][1]);
    }
    gemm__store_part(tile, rows, c, c_stride, add, width);
    return;
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++, c += c_stride) {
    if (add) {
      acc[r][0] += f32x4_load(c);
      acc[r][1] += f32x4_load(c + 4);
    }
    f32x4_store(c, acc[r][0]);
    f32x4_store(c + 4, acc[r][1]);
  }
}

static void gemm__tile_full(size_t depth, const float *a, const float *b, float *c, ptrdiff_t c_stride,
                            bool add, size_t width) {
  gemm__tile(MR, depth, a, b, c, c_stride, add, width);
}

static void gemm__tile_edge(size_t rows, size_t depth, const float *a, const float *b, float *c,
                            ptrdiff_t c_stride, bool add, size_t width) {
  switch (rows) {
  case 1: gemm__tile(1, depth, a, b, c, c_stride, add, width); break;
  case 2: gemm__tile(2, depth, a, b, c, c_stride, add, width); break;
  case 3: gemm__tile(3, depth, a, b, c, c_stride, add, width); break;
  default: break;
  }
}

void gemm_multiply(size_t rows, size_t depth, const float *a, const float *b, float *c, ptrdiff_t c_stride,
                   bool add, size_t width) {
  size_t i = 0;
  for (; i + MR <= rows; i += MR, a += MR * depth, c += MR * c_stride)
    gemm__tile_full(depth, a, b, c, c_stride, add, width);
  if (i < rows) gemm__tile_edge(rows - i, depth, a, b, c, c_stride, add, width);
}

static void gemm__clear(float *c, ptrdiff_t stride, size_t row_begin, size_t row_end, size_t col_begin,
                        size_t col_end) {
  for (size_t i = row_begin; i < row_end; i++) {
    memset(c + (ptrdiff_t)i * stride + col_begin, 0, (col_end - col_begin) * sizeof(float));
  }
}

static void gemm__packed(const math_gemm *g, size_t row_begin, size_t row_end, size_t col_begin,
                         size_t col_end, float *scratch) {
  size_t step = gemm_depth(g->k);
  for (size_t i = row_begin; i < row_end; i += MC) {
    size_t rows = row_end - i < MC ? row_end - i : MC;
    for (size_t p = 0; p < g->k; p += step) {
      size_t depth = g->k - p < step ? g->k - p : step;
      bool last = p + depth == g->k;
      gemm_pack_strips(scratch, g->a + (ptrdiff_t)i * g->a_row_stride + (ptrdiff_t)p * g->a_col_stride,
                       g->a_row_stride, g->a_col_stride, rows, depth);
      size_t done = col_begin;
      for (size_t j = col_begin; j < col_end; j += NR) {
        size_t width = col_end - j < NR ? col_end - j : NR;
        const float *panel = (const float *)g->b_packed + j * g->k + p * NR;
        gemm_multiply(rows, depth, scratch, panel, g->c + (ptrdiff_t)i * g->c_row_stride + j, g->c_row_stride,
                      p > 0, width);
        size_t ready = j + width;
        if (last && g->epilogue && (ready == col_end || ready - done >= EPILOGUE_COLUMNS)) {
          math_epilogue_apply(g->epilogue, g->c, g->c_row_stride, i, i + rows, done, ready);
          done = ready;
        }
      }
    }
  }
}

/* One row of a times columns [j, j + 4 vectors) of a row-major b, in the packed kernel's order of summation. */
SIMD_INLINE void gemm__row_strip(const math_gemm *g, size_t i, size_t j, const int vectors, size_t begin,
                                 size_t end) {
  f32x4 acc[8];
#pragma clang loop unroll(full)
  for (int v = 0; v < vectors; v++) acc[v] = f32x4_splat(0.0f);
  const float *a = g->a + (ptrdiff_t)i * g->a_row_stride;
  const float *b = g->b + j;
  for (size_t p = begin; p < end; p++) {
    f32x4 x = f32x4_splat(a[(ptrdiff_t)p * g->a_col_stride]);
    const float *row = b + (ptrdiff_t)p * g->b_row_stride;
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) acc[v] = f32x4_madd(x, f32x4_load(row + 4 * v), acc[v]);
  }
  float *c = g->c + (ptrdiff_t)i * g->c_row_stride + j;
#pragma clang loop unroll(full)
  for (int v = 0; v < vectors; v++) f32x4_store(c + 4 * v, begin ? f32x4_load(c + 4 * v) + acc[v] : acc[v]);
}

static float gemm__element(const float *a, ptrdiff_t a_step, const float *b, ptrdiff_t b_step, size_t count) {
  float sum = 0.0f;
  for (size_t p = 0; p < count; p++) {
    f32x4 v = f32x4_madd(f32x4_splat(a[(ptrdiff_t)p * a_step]), f32x4_splat(b[(ptrdiff_t)p * b_step]),
                         f32x4_splat(sum));
    sum = v[0];
  }
  return sum;
}

static void gemm__rows_of_b(const math_gemm *g, size_t row_begin, size_t row_end, size_t col_begin,
                            size_t col_end) {
  size_t step = gemm_depth(g->k);
  for (size_t i = row_begin; i < row_end; i++) {
    for (size_t p = 0; p < g->k; p += step) {
      size_t end = g->k - p < step ? g->k : p + step;
      size_t j = col_begin;
      for (; j + 32 <= col_end; j += 32) gemm__row_strip(g, i, j, 8, p, end);
      for (; j + 4 <= col_end; j += 4) gemm__row_strip(g, i, j, 1, p, end);
      for (; j < col_end; j++) {
        float sum = gemm__element(g->a + (ptrdiff_t)i * g->a_row_stride + (ptrdiff_t)p * g->a_col_stride,
                                  g->a_col_stride, g->b + (ptrdiff_t)p * g->b_row_stride + j, g->b_row_stride,
                                  end - p);
        float *c = g->c + (ptrdiff_t)i * g->c_row_stride + j;
        *c = p ? *c + sum : sum;
      }
    }
  }
}

/* Sixteen partial sums of adjacent a and adjacent columns of b. */
static float gemm__dot(const float *a, const float *b, size_t n) {
  f32x4 s0 = f32x4_splat(0.0f), s1 = s0, s2 = s0, s3 = s0;
  size_t p = 0;
  for (; p + 16 <= n; p += 16) {
    s0 = f32x4_madd(f32x4_load(a + p), f32x4_load(b + p), s0);
    s1 = f32x4_madd(f32x4_load(a + p + 4), f32x4_load(b + p + 4), s1);
    s2 = f32x4_madd(f32x4_load(a + p + 8), f32x4_load(b + p + 8), s2);
    s3 = f32x4_madd(f32x4_load(a + p + 12), f32x4_load(b + p + 12), s3);
  }
  for (; p + 4 <= n; p += 4) s0 = f32x4_madd(f32x4_load(a + p), f32x4_load(b + p), s0);
  if (p < n) s1 = f32x4_madd(f32x4_load_part(a + p, n - p), f32x4_load_part(b + p, n - p), s1);
  return f32x4_sum((s0 + s1) + (s2 + s3));
}

static void gemm__columns_of_b(const math_gemm *g, size_t row_begin, size_t row_end, size_t col_begin,
                               size_t col_end) {
  for (size_t i = row_begin; i < row_end; i++) {
    const float *a = g->a + (ptrdiff_t)i * g->a_row_stride;
    float *c = g->c + (ptrdiff_t)i * g->c_row_stride;
    for (size_t j = col_begin; j < col_end; j++) {
      const float *b = g->b + (ptrdiff_t)j * g->b_col_stride;
      bool adjacent = g->a_col_stride == 1 && g->b_row_stride == 1;
      c[j] = adjacent ? gemm__dot(a, b, g->k) : gemm__element(a, g->a_col_stride, b, g->b_row_stride, g->k);
    }
  }
}

void math_gemm_f32(const math_gemm *g, size_t row_begin, size_t row_end, size_t col_begin, size_t col_end,
                   void *scratch) {
  if (row_begin >= row_end || col_begin >= col_end) return;
  if (g->k == 0) {
    gemm__clear(g->c, g->c_row_stride, row_begin, row_end, col_begin, col_end);
  } else if (g->b_packed) {
    gemm__packed(g, row_begin, row_end, col_begin, col_end, scratch);
    return;
  } else if (g->b_col_stride == 1 && g->b_row_stride != 1) {
    gemm__rows_of_b(g, row_begin, row_end, col_begin, col_end);
  } else {
    gemm__columns_of_b(g, row_begin, row_end, col_begin, col_end);
  }
  if (g->epilogue)
    math_epilogue_apply(g->epilogue, g->c, g->c_row_stride, row_begin, row_end, col_begin, col_end);
}
