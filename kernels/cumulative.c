// CumSum, CumProd.

#include "elements.h"
#include "floats.h"
#include "kit.h"
#include "reduce.h"

static os_status cumulative__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0), axis_rank = op_infer_rank(ctx, 1), axis;
  if (axis_rank > 1)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "axis has rank %d, expected 0", (int)axis_rank);
  op_dim number = kit_infer_number(ctx, 1);
  if (rank < 0 || !op_dim_is_number(number)) return OS_OK;
  return op_infer_axis(ctx, number, rank, "axis", &axis);
}

static os_status cumulative__plan(op_plan *ctx) {
  op_plan_in_place(ctx, 0, 0);
  return OS_OK;
}

static os_status cumulative__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0), *at = op_run_input(ctx, 1);
  op_tensor *y = op_run_output(ctx, 0);
  if (at->count != 1) return op_run_fail(ctx, "axis has %lld elements, expected 1", (long long)at->count);
  int64_t axis = kit_int(at, 0);
  size_t outer = 1, n = 1, inner = 1;
  if (x->rank > 0) {
    if (axis < -x->rank || axis >= x->rank)
      return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)axis, (int)x->rank);
    int32_t where = kit_axis(axis, x->rank);
    outer = kit_extent(x, 0, where), n = (size_t)x->dims[where], inner = kit_extent(x, where + 1, x->rank);
  }
  bool product = op_node_user(node) != NULL, exclusive = op_attr_int(node, "exclusive", 0) != 0;
  bool reverse = op_attr_int(node, "reverse", 0) != 0;
  if (!elem_is_narrow(x->elem)) {
    if (math_cumulate((int)x->elem, product, exclusive, reverse, y->data, x->data, outer, n, inner))
      return OS_OK;
    return op_run_fail(ctx, "%s cannot be accumulated", op_elem_name(x->elem));
  }
  op_value *wide = op_run_new_tensor(ctx, OP_FLOAT, x->rank, x->dims);
  OS_TRY_ALLOC(wide);
  float *data = op_value_edit(wide)->data;
  math_load_f32(data, x->data, (int)x->elem, (size_t)x->count);
  math_cumulate(MATH_F32, product, exclusive, reverse, data, data, outer, n, inner);
  math_store_f32(y->data, data, (int)y->elem, (size_t)y->count);
  op_value_release(wide);
  return OS_OK;
}

// `user` tells products from sums.
static const char cumulative_product;

static const op_row rows[] = {
    {.op_type = "CumSum",
     .since = 11,
     .traits = OP_PURE,
     .infer = cumulative__infer,
     .plan = cumulative__plan,
     .compute = cumulative__compute},
    {.op_type = "CumProd",
     .since = 26,
     .traits = OP_PURE,
     .infer = cumulative__infer,
     .plan = cumulative__plan,
     .compute = cumulative__compute,
     .user = (void *)&cumulative_product},
};

OP_FAMILY(cumulative, rows);
