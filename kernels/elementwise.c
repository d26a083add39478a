// Operators of two operands, element by element: arithmetic, comparison, logic, bits. And Where.

#include "broadcast.h"
#include "kit.h"
#include "travel.h"

#include <string.h>

typedef struct binary_kind {
  math_op op;
  bool compare;    // the result is bool
  travel_fn small; // NULL: values do not travel
} binary_kind;

static const binary_kind *elementwise__kind(const op_node *node) { return op_node_user(node); }

// ---- Inference --------------------------------------------------------------------------------------------

static void elementwise__infer_elem(op_infer *ctx, bool compare) {
  op_type type = op_infer_type(ctx, 0);
  if (type == 0) type = op_infer_type(ctx, 1);
  if (compare) type = op_type_tensor(OP_BOOL);
  op_infer_set_type(ctx, 0, type);
}

static os_status elementwise__infer(op_infer *ctx) {
  const binary_kind *kind = elementwise__kind(op_infer_node(ctx));
  elementwise__infer_elem(ctx, kind->compare);
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  OS_TRY(op_infer_broadcast(ctx, 0, 1, dims, &rank));
  if (rank >= 0) op_infer_set_shape(ctx, 0, rank, dims);
  travel_binary(ctx, 0, kind->small);
  return OS_OK;
}

// Shapes of operator sets before 7: equal ones, or with `broadcast` B's dims lie under A's from `axis` on (by default the
// last ones); a 1 in B repeats.
static os_status elementwise__infer_legacy_shape(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  int32_t a_rank, b_rank;
  const op_dim *a = op_infer_dims(ctx, 0, &a_rank), *b = op_infer_dims(ctx, 1, &b_rank);
  if (a_rank < 0) return OS_OK;
  if (b_rank < 0) {
    op_infer_set_shape(ctx, 0, a_rank, a);
    return OS_OK;
  }
  bool broadcast = op_attr_int(node, "broadcast", 0) != 0;
  if (!broadcast && a_rank != b_rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "A has rank %d and B rank %d, but `broadcast` is 0",
                         (int)a_rank, (int)b_rank);
  if (b_rank > a_rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "B has rank %d, more than A's %d", (int)b_rank, (int)a_rank);
  int32_t axis = a_rank - b_rank;
  if (broadcast && op_attr_has(node, "axis")) {
    OS_TRY(kit_infer_axis(ctx, 0, a_rank + 1, &axis));
    if (axis + b_rank > a_rank)
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "B of rank %d does not fit under A of rank %d from axis %d",
                           (int)b_rank, (int)a_rank, (int)axis);
  }
  for (int32_t d = 0; d < b_rank; d++) {
    if (broadcast && b[d] == 1) continue;
    OS_TRY(op_infer_merge_dim(ctx, a[axis + d], b[d], "dims of A and B", NULL));
  }
  // Last: a step whose shape is set runs as it is.
  op_infer_set_shape(ctx, 0, a_rank, a);
  return OS_OK;
}

static os_status elementwise__infer_legacy(op_infer *ctx) {
  elementwise__infer_elem(ctx, elementwise__kind(op_infer_node(ctx))->compare);
  return elementwise__infer_legacy_shape(ctx);
}

// ---- Loops ------------------------------------------------------------------------------------------------

static void elementwise__set_loop(op_loop *loop, math_loop_id id, uint32_t operands,
                                  const math_params *params) {
  loop->id = (uint32_t)id;
  loop->out = id == LOOP_NONE ? OP_NONE : (op_elem)math_loop_at(id).out;
  loop->count = operands;
  if (params) memcpy(loop->params, params, sizeof *params);
}

static void elementwise__loop(const op_node *node, const op_elem *elems, const op_tensor *const *constants,
                              uint32_t count, op_loop *loop) {
  (void)constants;
  if (count != 2 || elems[0] != elems[1]) return;
  const binary_kind *kind = elementwise__kind(node);
  elementwise__set_loop(loop, elem_loop(kind->op, elems[0]), 2, NULL);
  if (loop->id != LOOP_NONE && !kind->compare) loop->out = elems[0];
}

static void elementwise__loop_legacy(const op_node *node, const op_elem *elems,
                                     const op_tensor *const *constants, uint32_t count, op_loop *loop) {
  if (!op_attr_has(node, "axis")) elementwise__loop(node, elems, constants, count, loop);
}

// ---- Computing --------------------------------------------------------------------------------------------

static void elementwise__equal_strings(uint8_t *out, const op_tensor *a, const op_tensor *b,
                                       const math_broadcast *plan) {
  size_t index[MATH_RANK] = {0}, at = 0;
  const os_str *x = a->data, *y = b->data;
  if (plan->count == 0) return;
  do {
    ptrdiff_t i = broadcast_at(plan, 0, index), j = broadcast_at(plan, 1, index);
    out[at++] = x[i].len == y[j].len && (x[i].len == 0 || memcmp(x[i].data, y[j].data, x[i].len) == 0);
  } while (kit_next(plan->rank, plan->dims, index));
}

static os_status elementwise__compute(op_run *ctx) {
  const binary_kind *kind = elementwise__kind(op_run_node(ctx));
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  if (a->elem == OP_STRING && b->elem == OP_STRING && kind->op == MATH_OP_equal) {
    math_broadcast plan;
    OS_TRY(broadcast_plan(ctx, &plan, 2, (const op_tensor *const[]){a, b}, out));
    elementwise__equal_strings(out->data, a, b, &plan);
    return OS_OK;
  }
  return broadcast_binary(ctx, elem_loop(kind->op, a->elem), out, a, b, -1, NULL);
}

static os_status elementwise__compute_legacy(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  int64_t axis = -1;
  if (op_attr_has(node, "axis") && op_attr_int(node, "broadcast", 0) != 0 && b->count != 1) {
    axis = op_attr_int(node, "axis", 0);
    if (axis < 0) axis += a->rank + 1;
  }
  return broadcast_binary(ctx, elem_loop(elementwise__kind(node)->op, a->elem), op_run_output(ctx, 0), a, b,
                          axis, NULL);
}

// ---- Mod: fmod takes the dividend's sign --------------------------------------------------------------------

static math_op elementwise__mod_op(const op_node *node) {
  return op_attr_int(node, "fmod", 0) != 0 ? MATH_OP_fmod : MATH_OP_mod;
}

static void elementwise__loop_mod(const op_node *node, const op_elem *elems,
                                  const op_tensor *const *constants, uint32_t count, op_loop *loop) {
  (void)constants;
  if (count != 2 || elems[0] != elems[1]) return;
  elementwise__set_loop(loop, elem_loop(elementwise__mod_op(node), elems[0]), 2, NULL);
  if (loop->id != LOOP_NONE) loop->out = elems[0];
}

static os_status elementwise__compute_mod(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0);
  math_loop_id loop = elem_loop(elementwise__mod_op(op_run_node(ctx)), a->elem);
  return broadcast_binary(ctx, loop, op_run_output(ctx, 0), a, op_run_input(ctx, 1), -1, NULL);
}

static os_status elementwise__infer_mod(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  int64_t mode = op_attr_int(node, "fmod", 0);
  if (mode != 0 && mode != 1)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`fmod` is %lld, expected 0 or 1", (long long)mode);
  OS_TRY(elementwise__infer(ctx));
  if (mode == 0) travel_binary(ctx, 0, travel_mod);
  return OS_OK;
}

// ---- BitShift -----------------------------------------------------------------------------------------------

static bool elementwise__shift_left(const op_node *node) {
  return kit_text_is(op_attr_string(node, "direction", ""), "LEFT");
}

static os_status elementwise__infer_shift(op_infer *ctx) {
  os_str direction = op_attr_string(op_infer_node(ctx), "direction", "");
  if (!kit_text_is(direction, "RIGHT") && !kit_text_is(direction, "LEFT"))
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`direction` is \"%.*s\", expected \"LEFT\" or \"RIGHT\"",
                         (int)direction.len, direction.data ? direction.data : "");
  return elementwise__infer(ctx);
}

static void elementwise__loop_shift(const op_node *node, const op_elem *elems,
                                    const op_tensor *const *constants, uint32_t count, op_loop *loop) {
  (void)constants;
  if (count != 2 || elems[0] != elems[1]) return;
  elementwise__set_loop(
      loop, math_loop_find(elementwise__shift_left(node) ? MATH_OP_shl : MATH_OP_shr, (int)elems[0]), 2,
      NULL);
}

// Signed types: an amount below 0 or of the width and more leaves what the sign fills in.
static int64_t elementwise__shift(int64_t x, int64_t by, int bits, bool left) {
  bool out = by < 0 || by >= bits;
  if (left) return out ? 0 : (int64_t)((uint64_t)x << by);
  return out ? (x < 0 ? -1 : 0) : x >> by;
}

static os_status elementwise__compute_shift(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  bool left = elementwise__shift_left(op_run_node(ctx));
  if (elem_is_unsigned(a->elem))
    return broadcast_binary(ctx, math_loop_find(left ? MATH_OP_shl : MATH_OP_shr, (int)a->elem), out, a, b,
                            -1, NULL);
  size_t index[MATH_RANK] = {0}, at = 0;
  math_broadcast plan;
  OS_TRY(broadcast_plan(ctx, &plan, 2, (const op_tensor *const[]){a, b}, out));
  int bits = (int)op_elem_size(a->elem) * 8;
  if (plan.count == 0) return OS_OK;
  do {
    int64_t result = elementwise__shift(kit_int(a, broadcast_at(&plan, 0, index)),
                                        kit_int(b, broadcast_at(&plan, 1, index)), bits, left);
    memcpy((char *)out->data + at++ * (size_t)(bits / 8), &result, (size_t)(bits / 8)); // little-endian
  } while (kit_next(plan.rank, plan.dims, index));
  return OS_OK;
}

// ---- Pow: the exponent may have a type of its own -----------------------------------------------------------

// Base and exponent of different types: both in the base's float type, or in double, and then as Cast does; integers
// exactly.
static os_status elementwise__compute_pow(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  if (a->elem == b->elem) return elementwise__compute(ctx);
  op_elem wide = elem_is_integer(a->elem) && elem_is_integer(b->elem) ? OP_INT64 : OP_DOUBLE;
  if (elem_is_float(a->elem)) wide = elem_compute(a->elem);
  op_value *x = op_run_new_tensor(ctx, wide, a->rank, a->dims),
           *y = op_run_new_tensor(ctx, wide, b->rank, b->dims);
  op_value *z = op_run_new_tensor(ctx, wide, out->rank, out->dims);
  os_status status = x && y && z ? OS_OK : OS_OUT_OF_MEMORY;
  if (status == OS_OK) {
    op_tensor *xs = op_value_edit(x), *ys = op_value_edit(y), *zs = op_value_edit(z);
    bool known = math_cast(xs->data, (int)wide, a->data, (int)a->elem, (size_t)a->count, NULL) &&
                 math_cast(ys->data, (int)wide, b->data, (int)b->elem, (size_t)b->count, NULL);
    status = known ? broadcast_binary(ctx, elem_loop(MATH_OP_pow, wide), zs, xs, ys, -1, NULL)
                   : op_run_fail(ctx, "cannot raise %s to %s", op_elem_name(a->elem), op_elem_name(b->elem));
    if (status == OS_OK) math_cast(out->data, (int)out->elem, zs->data, (int)wide, (size_t)out->count, NULL);
  }
  op_value_release(x);
  op_value_release(y);
  op_value_release(z);
  return status;
}

static os_status elementwise__infer_first_elem(op_infer *ctx) {
  OS_TRY(elementwise__infer(ctx));
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  return OS_OK;
}

// ---- PRelu: the slope repeats under x -----------------------------------------------------------------------

static os_status elementwise__infer_prelu(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank, slope_rank, all_rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (op_infer_dims(ctx, 1, &slope_rank) == NULL && slope_rank < 0) return OS_OK;
  if (rank < 0) return OS_OK;
  if (slope_rank > rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "slope has rank %d, more than x's %d", (int)slope_rank,
                         (int)rank);
  op_dim all[OP_MAX_RANK];
  OS_TRY(op_infer_broadcast(ctx, 0, 1, all, &all_rank));
  for (int32_t d = 0; d < rank && all_rank == rank; d++)
    if (dims[d] >= 0 && all[d] >= 0 && dims[d] != all[d])
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "slope would stretch axis %d of x from %lld to %lld", (int)d,
                           (long long)dims[d], (long long)all[d]);
  return OS_OK;
}

// Operator sets 1 and 6: one slope, or one per channel.
static os_status elementwise__infer_prelu_legacy(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank, slope_rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *slope = op_infer_dims(ctx, 1, &slope_rank);
  if (rank < 2 || slope_rank != 1 || slope[0] < 0 || slope[0] == 1 || dims[1] < 0 || slope[0] == dims[1])
    return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_SHAPE, "slope has %lld elements, x has %lld channels",
                       (long long)slope[0], (long long)dims[1]);
}

static os_status elementwise__compute_prelu_legacy(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0), *slope = op_run_input(ctx, 1);
  int64_t axis = slope->rank == 1 && slope->count > 1 && x->rank > 1 ? 1 : -1;
  return broadcast_binary(ctx, elem_loop(MATH_OP_prelu, x->elem), op_run_output(ctx, 0), x, slope, axis,
                          NULL);
}

// ---- Where --------------------------------------------------------------------------------------------------

static os_status elementwise__infer_where(op_infer *ctx) {
  op_type type = op_infer_type(ctx, 1);
  op_infer_set_type(ctx, 0, type != 0 ? type : op_infer_type(ctx, 2));
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  OS_TRY(op_infer_broadcast(ctx, 0, 2, dims, &rank));
  if (rank >= 0) op_infer_set_shape(ctx, 0, rank, dims);
  travel_where(ctx);
  return OS_OK;
}

typedef struct where_job {
  math_broadcast plan;
  void *out;
  const uint8_t *condition;
  const void *a, *b;
  size_t width;
} where_job;

static void elementwise__where_piece(void *argument, size_t begin, size_t end) {
  const where_job *job = argument;
  math_broadcast_where(&job->plan, job->out, job->condition, job->a, job->b, job->width, begin, end);
}

static os_status elementwise__compute_where(op_run *ctx) {
  const op_tensor *inputs[3] = {op_run_input(ctx, 0), op_run_input(ctx, 1), op_run_input(ctx, 2)};
  op_tensor *out = op_run_output(ctx, 0);
  if (inputs[0]->elem != OP_BOOL || inputs[1]->elem != inputs[2]->elem)
    return op_run_fail(ctx, "condition is %s, X %s, Y %s; expected bool and two equal types",
                       op_elem_name(inputs[0]->elem), op_elem_name(inputs[1]->elem),
                       op_elem_name(inputs[2]->elem));
  where_job job = {
      .out = out->data, .condition = inputs[0]->data, .a = inputs[1]->data, .b = inputs[2]->data};
  job.width = op_elem_size(out->elem);
  OS_TRY(broadcast_plan(ctx, &job.plan, 3, inputs, out));
  op_parallel_for(ctx, job.plan.count, 1 << 15, elementwise__where_piece, &job);
  OS_TRY(kit_keep(out, inputs[1]));
  return kit_keep(out, inputs[2]);
}

// ---- Rows ---------------------------------------------------------------------------------------------------

static const binary_kind kind_add = {MATH_OP_add, false, op_dim_add};
static const binary_kind kind_sub = {MATH_OP_sub, false, op_dim_sub};
static const binary_kind kind_mul = {MATH_OP_mul, false, op_dim_mul};
static const binary_kind kind_div = {MATH_OP_div, false, travel_div};
static const binary_kind kind_mod = {MATH_OP_mod, false, NULL};
static const binary_kind kind_pow = {MATH_OP_pow, false, NULL};
static const binary_kind kind_prelu = {MATH_OP_prelu, false, NULL};
static const binary_kind kind_shift = {MATH_OP_shl, false, NULL};
static const binary_kind kind_bitand = {MATH_OP_bitand, false, NULL};
static const binary_kind kind_bitor = {MATH_OP_bitor, false, NULL};
static const binary_kind kind_bitxor = {MATH_OP_bitxor, false, NULL};
static const binary_kind kind_and = {MATH_OP_and, true, op_dim_min};
static const binary_kind kind_or = {MATH_OP_or, true, op_dim_max};
static const binary_kind kind_xor = {MATH_OP_xor, true, NULL};
static const binary_kind kind_equal = {MATH_OP_equal, true, travel_equal};
static const binary_kind kind_less = {MATH_OP_less, true, travel_less};
static const binary_kind kind_greater = {MATH_OP_greater, true, travel_greater};
static const binary_kind kind_less_equal = {MATH_OP_less_equal, true, travel_less_equal};
static const binary_kind kind_greater_equal = {MATH_OP_greater_equal, true, travel_greater_equal};

#define ELEMENTWISE_ROW(name, version, kind_name, infer_fn, loop_fn, compute_fn) \
  {.op_type = name,                                                              \
   .since = version,                                                             \
   .traits = OP_PURE | OP_ELEMENTWISE,                                           \
   .infer = infer_fn,                                                            \
   .loop = loop_fn,                                                              \
   .compute = compute_fn,                                                        \
   .user = (void *)&kind_##kind_name}
#define MODERN(name, version, kind_name) \
  ELEMENTWISE_ROW(name, version, kind_name, elementwise__infer, elementwise__loop, elementwise__compute)
#define LEGACY(name, kind_name)                                                            \
  ELEMENTWISE_ROW(name, 1, kind_name, elementwise__infer_legacy, elementwise__loop_legacy, \
                  elementwise__compute_legacy)

static const op_row rows[] = {
    LEGACY("Add", add),
    MODERN("Add", 7, add),
    LEGACY("Sub", sub),
    MODERN("Sub", 7, sub),
    LEGACY("Mul", mul),
    MODERN("Mul", 7, mul),
    LEGACY("Div", div),
    MODERN("Div", 7, div),
    LEGACY("And", and),
    MODERN("And", 7, and),
    LEGACY("Or", or),
    MODERN("Or", 7, or),
    LEGACY("Xor", xor),
    MODERN("Xor", 7, xor),
    LEGACY("Equal", equal),
    MODERN("Equal", 7, equal),
    LEGACY("Less", less),
    MODERN("Less", 7, less),
    LEGACY("Greater", greater),
    MODERN("Greater", 7, greater),
    MODERN("LessOrEqual", 12, less_equal),
    MODERN("GreaterOrEqual", 12, greater_equal),
    MODERN("BitwiseAnd", 18, bitand),
    MODERN("BitwiseOr", 18, bitor),
    MODERN("BitwiseXor", 18, bitxor),
    ELEMENTWISE_ROW("BitShift", 11, shift, elementwise__infer_shift, elementwise__loop_shift,
                    elementwise__compute_shift),
    ELEMENTWISE_ROW("Mod", 10, mod, elementwise__infer_mod, elementwise__loop_mod, elementwise__compute_mod),
    LEGACY("Pow", pow),
    ELEMENTWISE_ROW("Pow", 7, pow, elementwise__infer_first_elem, elementwise__loop,
                    elementwise__compute_pow),
    OP_ROW("PRelu", 1, OP_PURE, elementwise__infer_prelu_legacy, elementwise__compute_prelu_legacy),
    ELEMENTWISE_ROW("PRelu", 7, prelu, elementwise__infer_prelu, elementwise__loop, elementwise__compute),
    OP_ROW("Where", 9, OP_PURE, elementwise__infer_where, elementwise__compute_where),
};

OP_FAMILY(elementwise, rows);
