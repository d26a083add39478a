#include "travel.h"

static op_dim travel__from(int64_t value) { return op_dim_is_number(value) ? value : OP_DIM_UNKNOWN; }

bool travel_is_natural(op_infer *ctx, op_dim dim) {
  if (op_dim_is_number(dim)) return dim >= 0;
  return dim != OP_DIM_UNKNOWN && op_dim_max(ctx, dim, 0) == dim;
}

op_dim travel_div(op_infer *ctx, op_dim a, op_dim b) {
  if (!op_dim_is_number(b) || b == 0) return OP_DIM_UNKNOWN;
  if (op_dim_is_number(a)) return travel__from(a / b);
  return b > 0 ? op_dim_floordiv(ctx, a, b) : OP_DIM_UNKNOWN;
}

op_dim travel_mod(op_infer *ctx, op_dim a, op_dim b) {
  if (!op_dim_is_number(b) || b == 0) return OP_DIM_UNKNOWN;
  if (op_dim_is_number(a)) {
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
  return b > 0 ? op_dim_sub(ctx, a, op_dim_mul(ctx, op_dim_floordiv(ctx, a, b), b)) : OP_DIM_UNKNOWN;
}

// -1, 0, 1 as a is below, equal to, above b; 2 when that is not known.
static int travel__order(op_infer *ctx, op_dim a, op_dim b) {
  if (a == OP_DIM_UNKNOWN || b == OP_DIM_UNKNOWN) return 2;
  if (a == b) return 0;
  bool a_number = op_dim_is_number(a), b_number = op_dim_is_number(b);
  if (a_number && b_number) return a < b ? -1 : 1;
  if (a_number && a < 0 && travel_is_natural(ctx, b)) return -1;
  if (b_number && b < 0 && travel_is_natural(ctx, a)) return 1;
  return 2;
}

op_dim travel_equal(op_infer *ctx, op_dim a, op_dim b) {
  int order = travel__order(ctx, a, b);
  return order == 2 ? OP_DIM_UNKNOWN : order == 0;
}

op_dim travel_less(op_infer *ctx, op_dim a, op_dim b) {
  int order = travel__order(ctx, a, b);
  return order == 2 ? OP_DIM_UNKNOWN : order < 0;
}

op_dim travel_greater(op_infer *ctx, op_dim a, op_dim b) { return travel_less(ctx, b, a); }

op_dim travel_less_equal(op_infer *ctx, op_dim a, op_dim b) {
  int order = travel__order(ctx, a, b);
  return order == 2 ? OP_DIM_UNKNOWN : order <= 0;
}

op_dim travel_greater_equal(op_infer *ctx, op_dim a, op_dim b) { return travel_less_equal(ctx, b, a); }

void travel_binary(op_infer *ctx, uint32_t first, travel_fn fn) {
  size_t a_count, b_count;
  const op_dim *a = op_infer_small(ctx, first, &a_count);
  const op_dim *b = op_infer_small(ctx, first + 1, &b_count);
  if (fn == NULL || a == NULL || b == NULL) return;
  if (a_count != b_count && a_count != 1 && b_count != 1) return;
  size_t count = a_count == 1 ? b_count : a_count;
  op_dim values[TRAVEL_MAX];
  if (count > TRAVEL_MAX) return;
  for (size_t i = 0; i < count; i++) values[i] = fn(ctx, a[a_count == 1 ? 0 : i], b[b_count == 1 ? 0 : i]);
  bool scalar = op_infer_rank(ctx, first) == 0 && op_infer_rank(ctx, first + 1) == 0;
  op_infer_set_small(ctx, 0, values, count, scalar);
}

void travel_copy(op_infer *ctx) {
  size_t count;
  const op_dim *values = op_infer_small(ctx, 0, &count);
  if (values != NULL) op_infer_set_small(ctx, 0, values, count, op_infer_rank(ctx, 0) == 0);
}

void travel_where(op_infer *ctx) {
  size_t counts[3], count = 1;
  const op_dim *operands[3];
  bool scalar = true;
  for (uint32_t i = 0; i < 3; i++) {
    operands[i] = op_infer_small(ctx, i, &counts[i]);
    if (operands[i] == NULL) return;
    if (counts[i] != 1) {
      if (count != 1 && count != counts[i]) return;
      count = counts[i];
    }
    scalar = scalar && op_infer_rank(ctx, i) == 0;
  }
  op_dim values[TRAVEL_MAX];
  if (count > TRAVEL_MAX) return;
  for (size_t i = 0; i < count; i++) {
    op_dim condition = operands[0][counts[0] == 1 ? 0 : i];
    op_dim a = operands[1][counts[1] == 1 ? 0 : i], b = operands[2][counts[2] == 1 ? 0 : i];
    if (a == b || (op_dim_is_number(condition) && condition != 0))
      values[i] = a;
    else
      values[i] = condition == 0 ? b : OP_DIM_UNKNOWN;
  }
  op_infer_set_small(ctx, 0, values, count, scalar);
}

void travel_fold(op_infer *ctx, travel_fn fn, op_dim start, bool scalar) {
  size_t count;
  const op_dim *values = op_infer_small(ctx, 0, &count);
  if (values == NULL || (count == 0 && start == OP_DIM_UNKNOWN)) return;
  op_dim all = count > 0 ? values[0] : start;
  for (size_t i = 1; i < count; i++) all = fn(ctx, all, values[i]);
  op_infer_set_small(ctx, 0, &all, 1, scalar);
}
