// Operators of one operand, element by element, activations included.

#include "broadcast.h"
#include "kit.h"
#include "travel.h"

#include <string.h>

// One parameter of a loop: an attribute.
typedef struct unary_parameter {
  const char *name; // NULL: always the fallback
  double fallback;
} unary_parameter;

// How an operator's attributes become a loop's parameters.
typedef struct unary_kind {
  uint16_t op;    // math_op
  bool predicate; // the result is bool
  uint8_t count;  // parameters f[0 .. count - 1]
  const unary_parameter *parameters;
} unary_kind;

static const unary_kind *unary__kind(const op_node *node) { return op_node_user(node); }

static void unary__params(const op_node *node, math_params *params) {
  const unary_kind *kind = unary__kind(node);
  *params = (math_params){0};
  for (uint8_t i = 0; i < kind->count; i++) {
    const char *name = kind->parameters[i].name;
    double fallback = kind->parameters[i].fallback;
    params->f[i] = name ? op_attr_float(node, name, fallback) : fallback;
  }
}

static os_status unary__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  if (unary__kind(op_infer_node(ctx))->predicate) op_infer_set_elem(ctx, 0, OP_BOOL);
  return OS_OK;
}

static void unary__set_loop(op_loop *loop, math_loop_id id, op_elem out, const math_params *params) {
  loop->id = (uint32_t)id;
  loop->out = out;
  loop->count = 1;
  memcpy(loop->params, params, sizeof *params);
}

static void unary__loop(const op_node *node, const op_elem *elems, const op_tensor *const *constants,
                        uint32_t count, op_loop *loop) {
  (void)constants;
  if (count == 0) return;
  const unary_kind *kind = unary__kind(node);
  math_params params;
  unary__params(node, &params);
  unary__set_loop(loop, elem_loop(kind->op, elems[0]), kind->predicate ? OP_BOOL : elems[0], &params);
}

static os_status unary__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  math_params params;
  unary__params(node, &params);
  return broadcast_unary(ctx, elem_loop(unary__kind(node)->op, x->elem), op_run_output(ctx, 0), x, &params);
}

// ---- Abs, Neg of travelling values --------------------------------------------------------------------------

static os_status unary__infer_neg(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  size_t count;
  const op_dim *small = op_infer_small(ctx, 0, &count);
  op_dim values[TRAVEL_MAX];
  if (small == NULL || count > TRAVEL_MAX) return OS_OK;
  for (size_t i = 0; i < count; i++) values[i] = op_dim_sub(ctx, 0, small[i]);
  op_infer_set_small(ctx, 0, values, count, op_infer_rank(ctx, 0) == 0);
  return OS_OK;
}

// ---- Erf of integers (operator sets 9 to 12): in double, truncated --------------------------------------------

static os_status unary__compute_erf(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  if (!elem_is_integer(x->elem)) return unary__compute(ctx);
  op_tensor *y = op_run_output(ctx, 0);
  enum { TILE = 256 };
  double tile[TILE];
  size_t size = op_elem_size(x->elem);
  for (size_t i = 0; i < (size_t)x->count; i += TILE) {
    size_t n = (size_t)x->count - i < TILE ? (size_t)x->count - i : TILE;
    math_cast(tile, MATH_F64, (const char *)x->data + i * size, (int)x->elem, n, NULL);
    math_run_unary(LOOP_erf_f64, MATH_F64, tile, tile, n, NULL);
    math_cast((char *)y->data + i * size, (int)x->elem, tile, MATH_F64, n, NULL);
  }
  return OS_OK;
}

// ---- IsInf --------------------------------------------------------------------------------------------------

static void unary__isinf_params(const op_node *node, math_params *params) {
  *params = (math_params){
      .i = {op_attr_int(node, "detect_negative", 1) != 0, op_attr_int(node, "detect_positive", 1) != 0}};
}

static void unary__loop_isinf(const op_node *node, const op_elem *elems, const op_tensor *const *constants,
                              uint32_t count, op_loop *loop) {
  (void)constants;
  math_params params;
  unary__isinf_params(node, &params);
  if (count > 0) unary__set_loop(loop, elem_loop(MATH_OP_is_inf, elems[0]), OP_BOOL, &params);
}

static os_status unary__compute_isinf(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  math_params params;
  unary__isinf_params(op_run_node(ctx), &params);
  return broadcast_unary(ctx, elem_loop(MATH_OP_is_inf, x->elem), op_run_output(ctx, 0), x, &params);
}

// ---- Gelu ---------------------------------------------------------------------------------------------------

enum { GELU_EXACT, GELU_TANH };

static int unary__gelu(const op_node *node) { return kit_word(node, "approximate", "none\0tanh\0"); }

static math_op unary__gelu_op(const op_node *node) {
  return unary__gelu(node) == GELU_TANH ? MATH_OP_gelu_tanh : MATH_OP_gelu;
}

static os_status unary__infer_gelu(op_infer *ctx) {
  os_str how = op_attr_string(op_infer_node(ctx), "approximate", "none");
  if (unary__gelu(op_infer_node(ctx)) > GELU_TANH)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`approximate` is \"%.*s\", expected \"none\" or \"tanh\"",
                         (int)how.len, how.data ? how.data : "");
  op_infer_copy(ctx, 0, 0);
  return OS_OK;
}

static void unary__loop_gelu(const op_node *node, const op_elem *elems, const op_tensor *const *constants,
                             uint32_t count, op_loop *loop) {
  (void)constants;
  static const math_params none = {0};
  if (count > 0) unary__set_loop(loop, elem_loop(unary__gelu_op(node), elems[0]), elems[0], &none);
}

static os_status unary__compute_gelu(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  return broadcast_unary(ctx, elem_loop(unary__gelu_op(op_run_node(ctx)), x->elem), op_run_output(ctx, 0), x,
                         NULL);
}

// ---- Clip ---------------------------------------------------------------------------------------------------

// Bounds that let every number of the type pass.
static void unary__clip_open(op_elem elem, math_params *params) {
  int bits = (int)op_elem_size(elem) * 8;
  *params = (math_params){.f = {-__builtin_inf(), __builtin_inf()}};
  if (elem_is_unsigned(elem)) params->i[1] = bits == 64 ? -1 : (INT64_C(1) << bits) - 1; // uint64: all bits
  if (!elem_is_signed(elem)) return;
  params->i[1] = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
  params->i[0] = -params->i[1] - 1;
}

static void unary__clip_bound(const op_tensor *bound, int which, math_params *params) {
  if (bound == NULL || bound->count != 1) return;
  params->f[which] = kit_double(bound, 0);
  params->i[which] = kit_int(bound, 0);
  if (bound->elem == OP_UINT64) memcpy(&params->i[which], bound->data, sizeof(int64_t));
}

// Operator sets 1 and 6: bounds are attributes, of float tensors only.
static void unary__clip_attributes(const op_node *node, math_params *params) {
  unary__clip_open(OP_FLOAT, params);
  if (op_attr_has(node, "min")) params->f[0] = op_attr_float(node, "min", 0);
  if (op_attr_has(node, "max")) params->f[1] = op_attr_float(node, "max", 0);
}

static void unary__loop_clip_attributes(const op_node *node, const op_elem *elems,
                                        const op_tensor *const *constants, uint32_t count, op_loop *loop) {
  (void)constants;
  math_params params;
  unary__clip_attributes(node, &params);
  if (count > 0) unary__set_loop(loop, elem_loop(MATH_OP_clip, elems[0]), elems[0], &params);
}

static os_status unary__compute_clip_attributes(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  math_params params;
  unary__clip_attributes(op_run_node(ctx), &params);
  return broadcast_unary(ctx, elem_loop(MATH_OP_clip, x->elem), op_run_output(ctx, 0), x, &params);
}

static os_status unary__infer_clip(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  for (uint32_t i = 1; i < 3; i++) {
    int32_t rank;
    const op_dim *dims = op_infer_dims(ctx, i, &rank);
    if (dims == NULL || rank <= 0) continue;
    // The text asks for rank 0; exporters write one element of rank 1, which nobody refuses.
    for (int32_t d = 0; d < rank; d++)
      if (dims[d] >= 0 && dims[d] != 1)
        return op_infer_fail(ctx, OP_FAULT_SHAPE, "`%s` has a dim of %lld, expected a scalar",
                             i == 1 ? "min" : "max", (long long)dims[d]);
  }
  return OS_OK;
}

// Constant bounds make it a loop. elems lists an absent input as OP_NONE.
static void unary__loop_clip(const op_node *node, const op_elem *elems, const op_tensor *const *constants,
                             uint32_t count, op_loop *loop) {
  (void)node;
  if (count == 0) return;
  math_params params;
  unary__clip_open(elems[0], &params);
  for (uint32_t i = 1; i < count && i < 3; i++) {
    if (elems[i] == OP_NONE) continue;
    if (constants == NULL || constants[i] == NULL || constants[i]->count != 1 || elems[i] != elems[0]) return;
    unary__clip_bound(constants[i], (int)i - 1, &params);
  }
  unary__set_loop(loop, elem_loop(MATH_OP_clip, elems[0]), elems[0], &params);
}

static os_status unary__compute_clip(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  math_params params;
  unary__clip_open(x->elem, &params);
  for (uint32_t i = 1; i < 3; i++) {
    const op_tensor *bound = op_run_input(ctx, i);
    if (bound == NULL) continue;
    if (bound->count != 1 || bound->elem != x->elem)
      return op_run_fail(ctx, "`%s` has %lld elements of %s, expected 1 of %s", i == 1 ? "min" : "max",
                         (long long)bound->count, op_elem_name(bound->elem), op_elem_name(x->elem));
    unary__clip_bound(bound, (int)i - 1, &params);
  }
  return broadcast_unary(ctx, elem_loop(MATH_OP_clip, x->elem), op_run_output(ctx, 0), x, &params);
}

// ---- SwiGLU: two operands of one shape ------------------------------------------------------------------------

static os_status unary__infer_swiglu(op_infer *ctx) {
  op_infer_copy(ctx, 0, op_infer_rank(ctx, 0) < 0 ? 1 : 0);
  int32_t a_rank, b_rank;
  const op_dim *a = op_infer_dims(ctx, 0, &a_rank), *b = op_infer_dims(ctx, 1, &b_rank);
  if (a_rank < 0 || b_rank < 0) return OS_OK;
  if (a_rank != b_rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "A has rank %d, B %d: they must have one shape", (int)a_rank,
                         (int)b_rank);
  op_dim *dims = op_infer_set_rank(ctx, 0, a_rank);
  for (int32_t d = 0; d < a_rank && dims; d++)
    OS_TRY(op_infer_merge_dim(ctx, a[d], b[d], "dims of A and B", &dims[d]));
  return OS_OK;
}

static os_status unary__compute_swiglu(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  op_tensor *y = op_run_output(ctx, 0);
  math_params params = {.f = {op_attr_float(op_run_node(ctx), "alpha", 1.0)}};
  OS_TRY(broadcast_unary(ctx, elem_loop(MATH_OP_swish, a->elem), y, a, &params));
  return broadcast_binary(ctx, elem_loop(MATH_OP_mul, a->elem), y, y, b, -1, NULL);
}

// ---- Rows ---------------------------------------------------------------------------------------------------

#define KIND(name) static const unary_kind kind_##name = {MATH_OP_##name, false, 0, NULL}
KIND(abs);
KIND(neg);
KIND(sign);
KIND(sqrt);
KIND(reciprocal);
KIND(exp);
KIND(log);
KIND(sin);
KIND(cos);
KIND(tan);
KIND(asin);
KIND(acos);
KIND(atan);
KIND(sinh);
KIND(cosh);
KIND(tanh);
KIND(asinh);
KIND(acosh);
KIND(atanh);
KIND(erf);
KIND(floor);
KIND(ceil);
KIND(round);
KIND(not);
KIND(bitnot);
KIND(relu);
KIND(sigmoid);
KIND(hard_swish);
KIND(softplus);
KIND(softsign);
KIND(mish);
static const unary_kind kind_is_nan = {MATH_OP_is_nan, true, 0, NULL};
static const unary_kind kind_is_inf = {MATH_OP_is_inf, true, 0, NULL};
static const unary_kind kind_leaky_relu = {MATH_OP_leaky_relu, false, 1,
                                           (const unary_parameter[]){{"alpha", 0.01f}}};
static const unary_kind kind_thresholded_relu = {MATH_OP_thresholded_relu, false, 1,
                                                 (const unary_parameter[]){{"alpha", 1.0}}};
static const unary_kind kind_elu = {MATH_OP_elu, false, 1, (const unary_parameter[]){{"alpha", 1.0}}};
static const unary_kind kind_celu = {MATH_OP_celu, false, 1, (const unary_parameter[]){{"alpha", 1.0}}};
static const unary_kind kind_swish = {MATH_OP_swish, false, 1, (const unary_parameter[]){{"alpha", 1.0}}};
static const unary_kind kind_selu_1 = {MATH_OP_selu, false, 2,
                                       (const unary_parameter[]){{"alpha", 1.6732f}, {"gamma", 1.0507f}}};
static const unary_kind kind_selu = {
    MATH_OP_selu, false, 2,
    (const unary_parameter[]){{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}};
static const unary_kind kind_hard_sigmoid = {MATH_OP_hard_sigmoid, false, 2,
                                             (const unary_parameter[]){{"alpha", 0.2f}, {"beta", 0.5}}};
static const unary_kind kind_shrink = {MATH_OP_shrink, false, 2,
                                       (const unary_parameter[]){{"bias", 0.0}, {"lambd", 0.5}}};

#define UNARY_ROW(name, version, kind_name, infer_fn, loop_fn, compute_fn) \
  {.op_type = name,                                                        \
   .since = version,                                                       \
   .traits = OP_PURE | OP_ELEMENTWISE,                                     \
   .infer = infer_fn,                                                      \
   .loop = loop_fn,                                                        \
   .compute = compute_fn,                                                  \
   .user = (void *)&kind_##kind_name}
#define UNARY(name, version, kind_name) \
  UNARY_ROW(name, version, kind_name, unary__infer, unary__loop, unary__compute)

static const op_row rows[] = {
    UNARY("Abs", 1, abs),
    UNARY_ROW("Neg", 1, neg, unary__infer_neg, unary__loop, unary__compute),
    UNARY("Sign", 9, sign),
    UNARY("Sqrt", 1, sqrt),
    UNARY("Reciprocal", 1, reciprocal),
    UNARY("Exp", 1, exp),
    UNARY("Log", 1, log),
    UNARY("Sin", 7, sin),
    UNARY("Cos", 7, cos),
    UNARY("Tan", 7, tan),
    UNARY("Asin", 7, asin),
    UNARY("Acos", 7, acos),
    UNARY("Atan", 7, atan),
    UNARY("Sinh", 9, sinh),
    UNARY("Cosh", 9, cosh),
    UNARY("Tanh", 1, tanh),
    UNARY("Asinh", 9, asinh),
    UNARY("Acosh", 9, acosh),
    UNARY("Atanh", 9, atanh),
    UNARY_ROW("Erf", 9, erf, unary__infer, unary__loop, unary__compute_erf),
    UNARY("Floor", 1, floor),
    UNARY("Ceil", 1, ceil),
    UNARY("Round", 11, round),
    UNARY("IsNaN", 9, is_nan),
    UNARY_ROW("IsInf", 10, is_inf, unary__infer, unary__loop_isinf, unary__compute_isinf),
    UNARY("Not", 1, not),
    UNARY("BitwiseNot", 18, bitnot),
    UNARY("Relu", 1, relu),
    UNARY("LeakyRelu", 1, leaky_relu),
    UNARY("ThresholdedRelu", 10, thresholded_relu),
    UNARY("Elu", 1, elu),
    UNARY("Selu", 1, selu_1),
    UNARY("Selu", 6, selu),
    UNARY("Celu", 12, celu),
    UNARY("Sigmoid", 1, sigmoid),
    UNARY("HardSigmoid", 1, hard_sigmoid),
    UNARY("HardSwish", 14, hard_swish),
    UNARY("Softplus", 1, softplus),
    UNARY("Softsign", 1, softsign),
    UNARY("Shrink", 9, shrink),
    UNARY("Mish", 18, mish),
    UNARY("Swish", 24, swish),
    UNARY_ROW("Gelu", 20, abs, unary__infer_gelu, unary__loop_gelu, unary__compute_gelu),
    UNARY_ROW("Clip", 1, abs, unary__infer, unary__loop_clip_attributes, unary__compute_clip_attributes),
    {.op_type = "Clip",
     .since = 11,
     .traits = OP_PURE | OP_ELEMENTWISE,
     .infer = unary__infer_clip,
     .loop = unary__loop_clip,
     .compute = unary__compute_clip},
    OP_ROW("SwiGLU", 28, OP_PURE, unary__infer_swiglu, unary__compute_swiglu),
};

OP_FAMILY(unary, rows);
