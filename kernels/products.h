#ifndef OPSPEC_PRODUCTS_H
#define OPSPEC_PRODUCTS_H

// Batches of matrix products: shapes as MatMul has them, and float products given out to threads.

#include "gemm.h"

#include <opspec/operator.h>

// Shape of output 0 from two inputs; leading dims broadcast. Sets no type.
os_status product_infer(op_infer *ctx, uint32_t a, uint32_t b);

// c[batch] = a[..] b[..]: each batch takes the matrix of a and of b that batch strides (in matrices, 0 = repeated) say.
typedef struct product {
  size_t m, n, k;
  size_t batches; // product of batch_dims
  size_t batch_rank;
  size_t batch_dims[OP_MAX_RANK];
  size_t a_strides[OP_MAX_RANK], b_strides[OP_MAX_RANK];
  size_t b_count; // matrices of b
  ptrdiff_t a_row, a_col, b_row, b_col;
  const float *a, *b;
  const char *packed; // all matrices of b, product_packed_bytes each; NULL = b is not packed
  float *c;
  const math_epilogue *epilogue; // its residual is c's shape
} product;

// Fills all but pointers from shapes [.., m, k] and [.., k, n], of rank 1 or more each as MatMul takes them. False when they
// do not match.
// merge: several matrices of a that meet one b become one tall matrix.
bool product_describe(product *self, const op_tensor *a, const op_tensor *b, bool merge);
// Bytes of one packed matrix of b, and packing of all of them.
size_t product_packed_bytes(const product *self);
void product_pack(const product *self, void *packed, const float *b);
// Scratch for product_run; b_packed tells whether `packed` will be there.
size_t product_scratch_bytes(const product *self, bool b_packed);
void product_run(op_run *ctx, const product *self, void *scratch);

// Which matrices of a and b a batch takes.
void product_matrices(const product *self, size_t batch, size_t *a, size_t *b);

// The same for other types (double and 32- or 64-bit integers); false for types that have no product.
bool product_run_plain(op_run *ctx, const product *self, op_elem elem, void *c, const void *a, const void *b);

#endif
