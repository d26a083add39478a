#include "fact.h"

op_dim op_dim_add(op_infer *ctx, op_dim a, op_dim b) { return os_dims_add(ctx->inferring->dims, a, b); }
op_dim op_dim_sub(op_infer *ctx, op_dim a, op_dim b) { return os_dims_sub(ctx->inferring->dims, a, b); }
op_dim op_dim_mul(op_infer *ctx, op_dim a, op_dim b) { return os_dims_mul(ctx->inferring->dims, a, b); }
op_dim op_dim_floordiv(op_infer *ctx, op_dim a, op_dim b) {
  return os_dims_floordiv(ctx->inferring->dims, a, b);
}
op_dim op_dim_ceildiv(op_infer *ctx, op_dim a, op_dim b) {
  return os_dims_ceildiv(ctx->inferring->dims, a, b);
}
op_dim op_dim_min(op_infer *ctx, op_dim a, op_dim b) { return os_dims_min(ctx->inferring->dims, a, b); }
op_dim op_dim_max(op_infer *ctx, op_dim a, op_dim b) { return os_dims_max(ctx->inferring->dims, a, b); }

static os_str op_infer__shape(op_infer *ctx, int32_t rank, const op_dim *dims) {
  return os_dims_print_shape(ctx->inferring->dims, ctx->inferring->arena, rank, dims);
}

// The dim of a broadcast from the dims of two operands; false when they contradict.
static bool op_dim__broadcast(op_dim a, op_dim b, op_dim *out) {
  if (a == b || b == 1)
    *out = a;
  else if (a == 1)
    *out = b;
  else if (a >= 0 && b >= 0)
    return false;
  else if (a >= 0)
    *out = a; // the other one must turn out to be 1 or the same
  else if (b >= 0)
    *out = b;
  else
    *out = OP_DIM_UNKNOWN;
  return true;
}

os_status op_infer_broadcast(op_infer *ctx, uint32_t first, uint32_t last, op_dim *dims, int32_t *rank) {
  *rank = 0;
  for (uint32_t i = first; i <= last && i < ctx->input_count; i++) {
    const op_fact *fact = ctx->inputs[i];
    if (fact == NULL) continue;
    if (fact->rank < 0) {
      *rank = -1;
      return OS_OK;
    }
    if (fact->rank > *rank) { // all shapes stand at the right end
      int32_t more = fact->rank - *rank;
      memmove(dims + more, dims, (size_t)*rank * sizeof *dims);
      for (int32_t j = 0; j < more; j++) dims[j] = 1;
      *rank = fact->rank;
    }
    int32_t shift = *rank - fact->rank;
    for (int32_t j = 0; j < fact->rank; j++) {
      op_dim merged;
      if (!op_dim__broadcast(dims[shift + j], fact->dims[j], &merged)) {
        os_str so_far = op_infer__shape(ctx, *rank, dims),
               this_one = op_infer__shape(ctx, fact->rank, fact->dims);
        return op_infer_fail(
            ctx, OP_FAULT_SHAPE, "input %u of shape %.*s does not broadcast with %.*s: %lld against %lld", i,
            OS_ARG(this_one), OS_ARG(so_far), (long long)fact->dims[j], (long long)dims[shift + j]);
      }
      dims[shift + j] = merged;
    }
  }
  return OS_OK;
}

os_status op_infer_axis(op_infer *ctx, int64_t axis, int32_t rank, const char *what, int32_t *out) {
  if (rank < 0) { // nothing to compare with
    *out = axis >= INT32_MIN && axis <= INT32_MAX ? (int32_t)axis : -1;
    return OS_OK;
  }
  if (axis < -(int64_t)rank || axis >= rank) {
    *out = 0;
    if (rank == 0)
      return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s is %lld, but a tensor of rank 0 has no axis", what,
                           (long long)axis);
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s is %lld, which is outside of [%d, %d] for rank %d",
                         what, (long long)axis, -rank, rank - 1, rank);
  }
  *out = (int32_t)(axis < 0 ? axis + rank : axis);
  return OS_OK;
}

os_status op_infer_merge_dim(op_infer *ctx, op_dim a, op_dim b, const char *what, op_dim *out) {
  // A number says more than a symbol, and a symbol more than nothing.
  if (out != NULL) *out = a >= 0 || b == OP_DIM_UNKNOWN ? a : b >= 0 || a == OP_DIM_UNKNOWN ? b : a;
  if (a < 0 || b < 0 || a == b) return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s is %lld in one place and %lld in another", what, (long long)a,
                       (long long)b);
}
