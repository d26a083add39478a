// Max, Min, Sum, Mean of any number of tensors. Before operator set 8 all have one shape, which broadcasting covers.

#include "broadcast.h"
#include "kit.h"
#include "travel.h"

#include <string.h>

typedef struct variadic_kind {
  math_op op;
  bool mean;
  travel_fn small;
} variadic_kind;

static const variadic_kind *variadic__kind(const op_node *node) { return op_node_user(node); }

static os_status variadic__infer(op_infer *ctx) {
  uint32_t count = op_infer_input_count(ctx);
  if (count == 0) return op_infer_fail(ctx, OP_FAULT_VALUE, "there are no inputs, at least 1 is expected");
  op_type type = 0;
  for (uint32_t i = 0; i < count && type == 0; i++) type = op_infer_type(ctx, i);
  op_infer_set_type(ctx, 0, type);
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  OS_TRY(op_infer_broadcast(ctx, 0, count - 1, dims, &rank));
  if (rank >= 0) op_infer_set_shape(ctx, 0, rank, dims);
  if (count == 1) travel_copy(ctx);
  if (count == 2) travel_binary(ctx, 0, variadic__kind(op_infer_node(ctx))->small);
  return OS_OK;
}

static os_status variadic__infer_equal(op_infer *ctx) {
  int32_t first_rank, rank;
  const op_dim *first = op_infer_dims(ctx, 0, &first_rank);
  for (uint32_t i = 1; i < op_infer_input_count(ctx); i++) {
    const op_dim *dims = op_infer_dims(ctx, i, &rank);
    if (rank < 0 || first_rank < 0) continue;
    if (rank != first_rank)
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "input 0 has rank %d, input %u rank %d", (int)first_rank, i,
                           (int)rank);
    for (int32_t d = 0; d < rank; d++) {
      OS_TRY(op_infer_merge_dim(ctx, first[d], dims[d], "dims of the inputs", NULL));
    }
  }
  return variadic__infer(ctx);
}

static void variadic__loop(const op_node *node, const op_elem *elems, const op_tensor *const *constants,
                           uint32_t count, op_loop *loop) {
  (void)constants;
  const variadic_kind *kind = variadic__kind(node);
  if (count != 2 || elems[0] != elems[1] || kind->mean) return;
  loop->id = (uint32_t)elem_loop(kind->op, elems[0]);
  loop->out = elems[0];
  loop->count = 2;
}

static os_status variadic__divide(op_run *ctx, op_tensor *out, uint32_t count) {
  static const int64_t no_dims[1] = {1};
  op_value *divisor = op_run_new_tensor(ctx, out->elem, 0, no_dims);
  OS_TRY_ALLOC(divisor);
  double number = count;
  math_cast(op_value_edit(divisor)->data, (int)out->elem, &number, MATH_F64, 1, NULL);
  os_status status =
      broadcast_binary(ctx, elem_loop(MATH_OP_div, out->elem), out, out, op_value_tensor(divisor), -1, NULL);
  op_value_release(divisor);
  return status;
}

static os_status variadic__compute(op_run *ctx) {
  const variadic_kind *kind = variadic__kind(op_run_node(ctx));
  uint32_t count = op_run_input_count(ctx);
  op_tensor *out = op_run_output(ctx, 0);
  for (uint32_t i = 0; i < count; i++)
    if (op_run_input(ctx, i) == NULL || op_run_input(ctx, i)->elem != out->elem)
      return op_run_fail(ctx, "input %u is not a tensor of %s", i, op_elem_name(out->elem));
  math_loop_id loop = elem_loop(kind->op, out->elem);
  if (count == 1) return kit_copy(out, op_run_input(ctx, 0));
  for (uint32_t i = 1; i < count; i++) {
    const op_tensor *first = i == 1 ? op_run_input(ctx, 0) : out;
    OS_TRY(broadcast_binary(ctx, loop, out, first, op_run_input(ctx, i), -1, NULL));
  }
  return kind->mean ? variadic__divide(ctx, out, count) : OS_OK;
}

static const variadic_kind kind_max = {MATH_OP_max, false, op_dim_max};
static const variadic_kind kind_min = {MATH_OP_min, false, op_dim_min};
static const variadic_kind kind_sum = {MATH_OP_add, false, NULL};
static const variadic_kind kind_mean = {MATH_OP_add, true, NULL};

#define VARIADIC_ROW(name, version, infer_fn, kind_name) \
  {.op_type = name,                                      \
   .since = version,                                     \
   .traits = OP_PURE | OP_ELEMENTWISE,                   \
   .infer = infer_fn,                                    \
   .loop = variadic__loop,                               \
   .compute = variadic__compute,                         \
   .user = (void *)&kind_##kind_name}
#define VARIADIC(name, kind_name) \
  VARIADIC_ROW(name, 1, variadic__infer_equal, kind_name), VARIADIC_ROW(name, 8, variadic__infer, kind_name)

static const op_row rows[] = {
    VARIADIC("Max", max),
    VARIADIC("Min", min),
    VARIADIC("Sum", sum),
    VARIADIC("Mean", mean),
};

OP_FAMILY(variadic, rows);
