/* Moving elements by width (1, 2, 4, 8 or 16 bytes), and shape arithmetic for broadcasting. Strides are in elements and may
 * be 0 (source only) or negative. Ranks up to MATH_RANK. Source and destination must not overlap. */
#ifndef OPSPEC_MOVE_H
#define OPSPEC_MOVE_H

#include "loops.h"

enum { MATH_RANK = 32 };

/* dst[i0 ds0 + i1 ds1 + ...] = src[i0 ss0 + i1 ss1 + ...] for all i within dims. Transposition, slices, concatenation,
 * expansion, tiling, flips are all this; adjacent axes are merged and the best inner loop chosen inside. */
void math_copy_strided(void *dst, const void *src, size_t width, size_t rank, const size_t *dims,
                       const ptrdiff_t *dst_strides, const ptrdiff_t *src_strides);

/* dst in row-major order = src with its axes permuted: axis d of dst is axis perm[d] of src. dims are the source's. */
void math_transpose(void *dst, const void *src, size_t width, size_t rank, const size_t *dims,
                    const size_t *perm);

/* Row-major strides of dims. */
void math_strides(size_t rank, const size_t *dims, ptrdiff_t *strides);

/* n copies of the element at value. */
void math_fill(void *dst, const void *value, size_t n, size_t width);

/* dst[i] = row indices[i] of src, row_bytes each. Negative indices count from `rows`. Returns the place of the first index
 * out of range (what came before is written), -1 if there is none. */
ptrdiff_t math_gather_rows(void *dst, const void *src, const int64_t *indices, size_t count, size_t rows,
                           size_t row_bytes);

/* Broadcast of up to three operands to one result, with axes merged as far as all strides allow. After it, axis rank - 1
 * is the inner loop, and each operand's inner stride is 1 or 0. Strides in elements; 0 where an operand repeats. */
typedef struct math_broadcast {
  size_t rank;            /* at least 1 */
  size_t dims[MATH_RANK]; /* merged */
  ptrdiff_t strides[3][MATH_RANK];
  size_t count; /* elements of the result */
} math_broadcast;

/* ranks[o], dims[o] of each contiguous row-major operand; out_dims (MATH_RANK entries) and out_rank get the result's shape
 * before merging. False if the shapes do not broadcast or a rank is too large. */
bool math_broadcast_plan(math_broadcast *plan, size_t operands, const size_t *ranks,
                         const size_t *const *dims, size_t *out_rank, size_t *out_dims);

/* Runs a binary loop over elements [begin, end) of the result; dst, a, b point to element 0. `type` as in math_run_binary.
 * Returns the element index of the first one without a result, or -1. dst may be an operand whose shape is the result's. */
ptrdiff_t math_broadcast_binary(const math_broadcast *plan, math_loop_id loop, int type, void *dst,
                                const void *a, const void *b, size_t begin, size_t end, const math_params *p);
/* The same for math_where: operand 0 is the condition. */
void math_broadcast_where(const math_broadcast *plan, void *dst, const uint8_t *condition, const void *a,
                          const void *b, size_t width, size_t begin, size_t end);

#endif
