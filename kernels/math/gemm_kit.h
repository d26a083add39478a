/* The micro-kernel of gemm_f32.c for those who pack operands themselves (convolution). */
#ifndef OPSPEC_GEMM_KIT_H
#define OPSPEC_GEMM_KIT_H

#include "gemm.h"

enum {
  /* Rows of a in one packed strip, columns of b in one packed panel. 4 x 8 keeps eight accumulators, two vectors of b, one
   * of a and a product in the 15 registers that engines leave on x86; 5 x 8 and 6 x 8 spill and were slower (28 GFLOP/s
   * against 14 and 20). */
  GEMM_MR = 4,
  GEMM_NR = 8,
  GEMM_DEPTH = 256 /* a panel of this depth stays in the first-level cache */
};

/* Depth of the blocks that k is cut into: equal ones of at most GEMM_DEPTH, depending on k alone. 0 for 0. */
size_t gemm_depth(size_t k);

/* Rows of a in strips of GEMM_MR, depth-major within a strip; the last strip holds rows % GEMM_MR rows. */
void gemm_pack_strips(float *dst, const float *a, ptrdiff_t row_stride, ptrdiff_t col_stride, size_t rows,
                      size_t depth);

/* c[rows, width] = or += strips times one panel (GEMM_NR columns, depth-major, of which width count). */
void gemm_multiply(size_t rows, size_t depth, const float *strips, const float *panel, float *c,
                   ptrdiff_t c_stride, bool add, size_t width);

#endif
