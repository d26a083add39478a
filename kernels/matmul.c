// MatMul and Gemm.

#include "fused.h"
#include "kit.h"
#include "products.h"
#include "staging.h"

#include <stdlib.h>

// ---- MatMul -------------------------------------------------------------------------------------------------

static os_status matmul__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  return product_infer(ctx, 0, 1);
}

static bool matmul__is_float(op_elem elem) { return elem == OP_FLOAT || elem_is_narrow(elem); }

// What plan leaves for compute, which need not see b again; b's packed matrices follow.
typedef struct matmul_packed {
  _Alignas(16) product p;
} matmul_packed;

// A constant b is packed, but not for a single row, which reads it once anyway.
static os_status matmul__pack(op_plan *ctx, const product *p, bool *packed) {
  const op_tensor *b = op_plan_constant(ctx, 1);
  *packed = false;
  if (b == NULL || !matmul__is_float(b->elem) || b->count == 0 || (p->m == 1 && b->elem == OP_FLOAT))
    return OS_OK;
  matmul_packed *head = op_plan_pack(ctx, 1, sizeof *head + p->b_count * product_packed_bytes(p));
  OS_TRY_ALLOC(head);
  head->p = *p;
  *packed = true;
  if (b->elem == OP_FLOAT) {
    product_pack(p, head + 1, b->data);
    return OS_OK;
  }
  float *wide = malloc((size_t)b->count * sizeof *wide);
  OS_TRY_ALLOC(wide);
  math_load_f32(wide, b->data, (int)b->elem, (size_t)b->count);
  product_pack(p, head + 1, wide);
  free(wide);
  return OS_OK;
}

// c: Gemm's third input.
static os_status matmul__plan_product(op_plan *ctx, const product *p, const op_tensor *c) {
  const op_tensor *a = op_plan_input(ctx, 0), *b = op_plan_input(ctx, 1), *y = op_plan_output(ctx, 0);
  if (!matmul__is_float(a->elem)) return OS_OK;
  bool packed;
  OS_TRY(matmul__pack(ctx, p, &packed));
  size_t floats = stage_floats(a) + (packed ? 0 : stage_floats(b)) + stage_floats(c) + stage_floats(y);
  op_plan_scratch(ctx, product_scratch_bytes(p, packed) + floats * sizeof(float) + 64);
  return OS_OK;
}

static os_status matmul__plan(op_plan *ctx) {
  const op_tensor *a = op_plan_input(ctx, 0), *b = op_plan_input(ctx, 1);
  product p;
  if (a == NULL || b == NULL || op_plan_output(ctx, 0) == NULL || !product_describe(&p, a, b, true))
    return OS_OK;
  return matmul__plan_product(ctx, &p, NULL);
}

// Runs a described product of floats, staging narrow types in scratch; `tail` is what follows it.
static os_status matmul__run(op_run *ctx, product *p, fused *tail, float *scratch) {
  op_tensor *y = op_run_output(ctx, 0);
  const matmul_packed *head = op_run_packed(ctx);
  p->packed = head ? (const char *)(head + 1) : NULL;
  p->a = stage_read(op_run_input(ctx, 0), &scratch);
  if (head == NULL) p->b = stage_read(op_run_input(ctx, 1), &scratch);
  p->c = stage_result(y, &scratch);
  fused_take(tail, op_run_epilogue(ctx), y, MATH_BIAS_COLUMN);
  p->epilogue = &tail->epilogue;
  product_run(ctx, p, scratch);
  stage_write(y, p->c);
  return fused_finish(ctx, tail, y);
}

static os_status matmul__compute(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  op_tensor *y = op_run_output(ctx, 0);
  const matmul_packed *head = op_run_packed(ctx);
  product p;
  if (head)
    p = head->p;
  else if (!product_describe(&p, a, b, true) || a->elem != b->elem)
    return op_run_fail(ctx, "the shapes or types of A and B do not match");
  if ((size_t)y->count != p.batches * p.m * p.n) return kit_shape_broken(ctx, "the product");
  if (!matmul__is_float(y->elem)) {
    if (product_run_plain(ctx, &p, y->elem, y->data, a->data, b->data)) return OS_OK;
    return op_run_fail(ctx, "there is no product of %s", op_elem_name(a->elem));
  }
  fused tail = {.epilogue = MATH_EPILOGUE_NONE};
  return matmul__run(ctx, &p, &tail, op_run_scratch(ctx));
}

// ---- Gemm: inference ------------------------------------------------------------------------------------------

static os_status gemm__infer_c(op_infer *ctx, op_dim m, op_dim n) {
  const op_node *node = op_infer_node(ctx);
  int32_t rank = -1;
  const op_dim *c = op_infer_dims(ctx, 2, &rank);
  if (rank < 0) return OS_OK;
  if (rank > 2) return op_infer_fail(ctx, OP_FAULT_SHAPE, "C has rank %d, expected 2 or less", (int)rank);
  bool stretch = op_node_since(node) >= 7 || op_attr_int(node, "broadcast", 0) != 0;
  if (!stretch && rank != 2)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "C has rank %d, expected 2 as `broadcast` is 0", (int)rank);
  for (int32_t d = 0; d < rank; d++) {
    op_dim want = d == rank - 1 ? n : m;
    if (c[d] >= 0 && want >= 0 && c[d] != want && !(stretch && c[d] == 1))
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "axis %d of C has %lld elements, the product has %lld",
                           (int)d, (long long)c[d], (long long)want);
  }
  return OS_OK;
}

static os_status gemm__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(kit_want_rank(ctx, 0, 2, "A"));
  OS_TRY(kit_want_rank(ctx, 1, 2, "B"));
  int32_t a_rank, b_rank;
  const op_dim *a = op_infer_dims(ctx, 0, &a_rank), *b = op_infer_dims(ctx, 1, &b_rank);
  bool a_turned = op_attr_int(node, "transA", 0) != 0, b_turned = op_attr_int(node, "transB", 0) != 0;
  op_dim m = a_rank == 2 ? a[a_turned ? 1 : 0] : OP_DIM_UNKNOWN,
         n = b_rank == 2 ? b[b_turned ? 0 : 1] : OP_DIM_UNKNOWN;
  if (a_rank == 2 && b_rank == 2) {
    op_dim inner;
    OS_TRY(
        op_infer_merge_dim(ctx, a[a_turned ? 0 : 1], b[b_turned ? 1 : 0], "inner dims of A and B", &inner));
  }
  op_infer_set_shape(ctx, 0, 2, (const op_dim[]){m, n});
  return gemm__infer_c(ctx, m, n);
}

// ---- Gemm: plan and compute -----------------------------------------------------------------------------------

static bool gemm__describe(const op_node *node, const op_tensor *a, const op_tensor *b, product *p) {
  if (a->rank != 2 || b->rank != 2) return false;
  bool a_turned = op_attr_int(node, "transA", 0) != 0, b_turned = op_attr_int(node, "transB", 0) != 0;
  *p = (product){.batches = 1, .b_count = 1};
  p->m = (size_t)a->dims[a_turned ? 1 : 0];
  p->k = (size_t)a->dims[a_turned ? 0 : 1];
  p->n = (size_t)b->dims[b_turned ? 0 : 1];
  if ((size_t)b->dims[b_turned ? 1 : 0] != p->k) return false;
  p->a_row = a_turned ? 1 : (ptrdiff_t)p->k;
  p->a_col = a_turned ? (ptrdiff_t)p->m : 1;
  p->b_row = b_turned ? 1 : (ptrdiff_t)p->n;
  p->b_col = b_turned ? (ptrdiff_t)p->k : 1;
  return true;
}

static os_status gemm__plan(op_plan *ctx) {
  const op_tensor *a = op_plan_input(ctx, 0), *b = op_plan_input(ctx, 1);
  product p;
  if (a == NULL || b == NULL || op_plan_output(ctx, 0) == NULL) return OS_OK;
  if (!gemm__describe(op_plan_node(ctx), a, b, &p)) return OS_OK;
  return matmul__plan_product(ctx, &p, op_plan_input(ctx, 2));
}

// beta C as bias or residual of the epilogue.
static void gemm__add_c(math_epilogue *e, const op_tensor *c, const float *data, float beta,
                        const product *p) {
  size_t rows = c->rank == 2 ? (size_t)c->dims[0] : 1,
         columns = c->rank > 0 ? (size_t)c->dims[c->rank - 1] : 1;
  if (rows == p->m && columns == p->n && rows > 1 && columns > 1) {
    e->residual = data;
    e->residual_stride = (ptrdiff_t)p->n;
    e->residual_scale = beta;
    return;
  }
  e->bias = data;
  e->bias_scale = beta;
  e->bias_kind = columns > 1 ? MATH_BIAS_COLUMN : rows > 1 ? MATH_BIAS_ROW : MATH_BIAS_SCALAR;
}

// y = alpha y + beta c for double and integers; integers by 1 stay integers.
static void gemm__tail(const product *p, op_tensor *y, const op_tensor *c, double alpha, double beta) {
  size_t rows = c && c->rank == 2 ? (size_t)c->dims[0] : 1,
         columns = c && c->rank > 0 ? (size_t)c->dims[c->rank - 1] : 1;
  size_t size = op_elem_size(y->elem);
  bool whole = y->elem != OP_DOUBLE && alpha == 1 && beta == 1;
  for (size_t i = 0; i < p->m; i++) {
    for (size_t j = 0; j < p->n; j++) {
      int64_t at = (int64_t)(i * p->n + j),
              from = (int64_t)((rows > 1 ? i : 0) * columns + (columns > 1 ? j : 0));
      char *to = (char *)y->data + (size_t)at * size;
      if (whole) {
        uint64_t sum = (uint64_t)kit_int(y, at) + (c ? (uint64_t)kit_int(c, from) : 0);
        if (y->elem == OP_UINT64)
          sum = ((uint64_t *)y->data)[at] + (c ? ((const uint64_t *)c->data)[from] : 0);
        memcpy(to, &sum, size); // little-endian
      } else {
        double sum = kit_double(y, at) * alpha + (c ? kit_double(c, from) * beta : 0);
        math_cast(to, (int)y->elem, &sum, MATH_F64, 1, NULL);
      }
    }
  }
}

static os_status gemm__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  const op_tensor *c = op_run_input(ctx, 2);
  op_tensor *y = op_run_output(ctx, 0);
  const matmul_packed *head = op_run_packed(ctx);
  product p;
  if (head)
    p = head->p;
  else if (!gemm__describe(node, a, b, &p) || a->elem != b->elem)
    return op_run_fail(ctx, "the shapes or types of A and B do not match");
  if ((size_t)y->count != p.m * p.n) return kit_shape_broken(ctx, "the product");
  if (c &&
      (c->elem != y->elem || c->rank > 2 || (c->rank == 2 && c->dims[0] != 1 && (size_t)c->dims[0] != p.m) ||
       (c->rank > 0 && c->dims[c->rank - 1] != 1 && (size_t)c->dims[c->rank - 1] != p.n)))
    return op_run_fail(ctx, "C does not broadcast to [%zu, %zu]", p.m, p.n);
  double alpha = op_attr_float(node, "alpha", 1), beta = op_attr_float(node, "beta", 1);
  if (beta == 0) c = NULL;
  if (matmul__is_float(y->elem)) {
    float *scratch = op_run_scratch(ctx);
    fused tail = {.epilogue = MATH_EPILOGUE_NONE};
    tail.epilogue.alpha = (float)alpha;
    if (c) gemm__add_c(&tail.epilogue, c, stage_read(c, &scratch), (float)beta, &p);
    return matmul__run(ctx, &p, &tail, scratch);
  }
  if (!product_run_plain(ctx, &p, y->elem, y->data, a->data, b->data))
    return op_run_fail(ctx, "there is no product of %s", op_elem_name(a->elem));
  if (c || alpha != 1) gemm__tail(&p, y, c, alpha, beta);
  return OS_OK;
}

enum { MATMUL_EPILOGUE = OP_EPILOGUE_UNARY | OP_EPILOGUE_COLUMN | OP_EPILOGUE_RESIDUAL };

static const op_row rows[] = {
    {.op_type = "MatMul",
     .since = 1,
     .traits = OP_PURE,
     .infer = matmul__infer,
     .plan = matmul__plan,
     .compute = matmul__compute,
     .epilogue = MATMUL_EPILOGUE},
    {.op_type = "Gemm",
     .since = 1,
     .traits = OP_PURE,
     .infer = gemm__infer,
     .plan = gemm__plan,
     .compute = gemm__compute,
     .epilogue = MATMUL_EPILOGUE},
};

OP_FAMILY(matmul, rows);
