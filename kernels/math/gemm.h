/* Matrix products: packed panels, one register-blocked micro-kernel, epilogue while the tile is hot.
 *
 * Matrices are addressed by row and column strides in elements, so that transposed operands cost nothing extra but their
 * packing. Work is given out by blocks of the result, and an element's bits do not depend on how it was cut. m, n, k may be 0 (k = 0: the product is 0, the epilogue still runs).
 *
 * Constant weights are packed once (math_gemm_pack_b) and used by any number of calls. Scratch belongs to one call at a
 * time: threads need one each. Packed and scratch memory is 16-byte aligned. c must not overlap any operand, nor the residual. */
#ifndef OPSPEC_GEMM_H
#define OPSPEC_GEMM_H

#include "loops.h"

enum { MATH_BIAS_NONE = 0, MATH_BIAS_COLUMN = 1, MATH_BIAS_ROW = 2, MATH_BIAS_SCALAR = 3 };

/* What happens to a finished element x in row i, column j, in this order:
 *   x = alpha x                                    (alpha 1: skipped)
 *   x = x + bias_scale bias[j, i or 0]             (bias NULL: skipped)
 *   x = x + residual_scale residual[i rs + j]      (residual NULL or residual_last: skipped)
 *   x = loop(x)                                    (any unary f32 loop; LOOP_NONE: skipped)
 *   x = x + residual_scale residual[i rs + j]      (if residual_last)
 * Start from MATH_EPILOGUE_NONE. */
typedef struct math_epilogue {
  float alpha;
  float bias_scale, residual_scale;
  int bias_kind;
  const float *bias;
  const float *residual;
  ptrdiff_t residual_stride; /* rs, in elements */
  bool residual_last;
  math_loop_id loop;
  const math_params *params;
} math_epilogue;

#define MATH_EPILOGUE_NONE ((math_epilogue){.alpha = 1.0f, .bias_scale = 1.0f, .residual_scale = 1.0f})

/* c[m, n] = epilogue(a[m, k] b[k, n]). Exactly one of b_packed and b is set. Unpacked b is meant for few rows (see
 * math_gemm_wants_packing) and is right for any. epilogue NULL: none. */
typedef struct math_gemm {
  size_t m, n, k;
  const float *a;
  ptrdiff_t a_row_stride, a_col_stride;
  const float *b;
  ptrdiff_t b_row_stride, b_col_stride;
  const void *b_packed;
  float *c;
  ptrdiff_t c_row_stride; /* columns of c are adjacent */
  const math_epilogue *epilogue;
} math_gemm;

/* Whether packing a b that is used only once pays for m rows. Constant b: pack whenever m can be > 1. */
bool math_gemm_wants_packing(size_t m, size_t n, size_t k);

/* Columns of a panel; column ranges given to math_gemm_pack_b begin at multiples of it. */
size_t math_gemm_panel(void);
size_t math_gemm_packed_b_bytes(size_t k, size_t n);
/* Packs columns [col_begin, col_end) of b into the buffer for all n columns. */
void math_gemm_pack_b(void *packed, const float *b, ptrdiff_t row_stride, ptrdiff_t col_stride, size_t k,
                      size_t n, size_t col_begin, size_t col_end);

/* Bytes of scratch for one call. */
size_t math_gemm_scratch_bytes(size_t m, size_t n, size_t k);
/* Good row counts to hand to one thread are multiples of this. */
size_t math_gemm_row_block(void);
/* Computes rows [row_begin, row_end) of columns [col_begin, col_end) of c; col_begin is a multiple of math_gemm_panel() (for
 * a single row, columns are what threads share). */
void math_gemm_f32(const math_gemm *g, size_t row_begin, size_t row_end, size_t col_begin, size_t col_end,
                   void *scratch);

/* Applies an epilogue to rows [row_begin, row_end) of c on its own. */
void math_epilogue_apply(const math_epilogue *e, float *c, ptrdiff_t c_row_stride, size_t row_begin,
                         size_t row_end, size_t col_begin, size_t col_end);

/* Plain products without packing for the rarer types, c = a b; integers wrap. type: MATH_F64, MATH_I32, MATH_U32, MATH_I64,
 * MATH_U64; strides in elements; columns of c adjacent. False for another type. */
bool math_matmul(int type, void *c, ptrdiff_t c_row_stride, const void *a, ptrdiff_t a_row_stride,
                 ptrdiff_t a_col_stride, const void *b, ptrdiff_t b_row_stride, ptrdiff_t b_col_stride,
                 size_t m, size_t n, size_t k);

/* c[i, j] = sum over k of (a[i, k] - a_zero[i]) (b[k, j] - b_zero[j]) in int32 that wraps. a and b are int8 or uint8 each.
 * Zero points are absent (NULL), one (stride 0) or one per row of a or column of b (stride 1), in the operand's type. */
typedef struct math_gemm_int8 {
  size_t m, n, k;
  const void *a;
  bool a_signed;
  ptrdiff_t a_row_stride, a_col_stride;
  const void *a_zero;
  ptrdiff_t a_zero_stride;
  const void *b_packed; /* from math_gemm_int8_pack_b: zero points are in it */
  int32_t *c;
  ptrdiff_t c_row_stride;
} math_gemm_int8;

size_t math_gemm_int8_packed_b_bytes(size_t k, size_t n);
void math_gemm_int8_pack_b(void *packed, const void *b, bool b_signed, ptrdiff_t row_stride,
                           ptrdiff_t col_stride, const void *b_zero, ptrdiff_t b_zero_stride, size_t k,
                           size_t n);
size_t math_gemm_int8_scratch_bytes(size_t m, size_t n, size_t k);
void math_gemm_int8_run(const math_gemm_int8 *g, size_t row_begin, size_t row_end, void *scratch);

#endif
