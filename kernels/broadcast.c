#include "broadcast.h"

#include "kit.h"

enum { BROADCAST_GRAIN = 1 << 15 };

typedef struct broadcast_job {
  math_broadcast plan;
  math_loop_id loop;
  int type;
  void *out;
  const void *a, *b;
  const math_params *params;
} broadcast_job;

static void broadcast__piece(void *argument, size_t begin, size_t end) {
  const broadcast_job *job = argument;
  math_broadcast_binary(&job->plan, job->loop, job->type, job->out, job->a, job->b, begin, end, job->params);
}

os_status broadcast_plan(op_run *ctx, math_broadcast *plan, size_t count, const op_tensor *const *operands,
                         const op_tensor *out) {
  size_t dims[3][OP_MAX_RANK], ranks[3], rank, shape[MATH_RANK];
  const size_t *const views[] = {dims[0], dims[1], dims[2]};
  for (size_t i = 0; i < count; i++) ranks[i] = kit_shape(operands[i], dims[i]);
  if (math_broadcast_plan(plan, count, ranks, views, &rank, shape) && plan->count == (size_t)out->count)
    return OS_OK;
  return kit_shape_broken(ctx, "the broadcast of the operands");
}

ptrdiff_t broadcast_at(const math_broadcast *plan, size_t operand, const size_t *place) {
  ptrdiff_t at = 0;
  for (size_t d = 0; d < plan->rank; d++) at += (ptrdiff_t)place[d] * plan->strides[operand][d];
  return at;
}

os_status broadcast_binary(op_run *ctx, math_loop_id loop, op_tensor *out, const op_tensor *a,
                           const op_tensor *b, int64_t b_axis, const math_params *params) {
  if (out == NULL) return OS_OK;
  if (math_loop_at(loop).in == MATH_NONE || math_loop_at(loop).unary || a->elem != b->elem)
    return op_run_fail(ctx, "there is no loop for %s and %s", op_elem_name(a->elem), op_elem_name(b->elem));
  broadcast_job job = {.loop = loop, .type = (int)a->elem, .out = out->data, .a = a->data, .b = b->data};
  job.params = params;
  size_t dims[3][MATH_RANK],
      ranks[3] = {kit_shape(a, dims[0]), kit_shape(b, dims[1]), kit_shape(out, dims[2])};
  if (b_axis >= 0)
    while (ranks[1] + (size_t)b_axis < ranks[0] && ranks[1] < OP_MAX_RANK) dims[1][ranks[1]++] = 1;
  const size_t *const views[3] = {dims[0], dims[1], dims[2]};
  size_t out_rank, out_dims[MATH_RANK];
  if (!math_broadcast_plan(&job.plan, 3, ranks, views, &out_rank, out_dims) ||
      job.plan.count != (size_t)out->count)
    return op_run_fail(ctx, "the shapes of the operands do not broadcast to that of the result");
  math_op op = math_loop_at(loop).op;
  bool may_fail = op == MATH_OP_div || op == MATH_OP_mod || op == MATH_OP_fmod;
  if (may_fail && elem_is_integer(a->elem)) {
    ptrdiff_t bad =
        math_broadcast_binary(&job.plan, loop, job.type, job.out, job.a, job.b, 0, job.plan.count, params);
    if (bad >= 0) return op_run_fail(ctx, "integer division by zero at element %lld", (long long)bad);
    return OS_OK;
  }
  op_parallel_for(ctx, job.plan.count, BROADCAST_GRAIN, broadcast__piece, &job);
  return OS_OK;
}

typedef struct unary_job {
  math_loop_id loop;
  int type;
  char *out;
  const char *a;
  size_t out_size, size;
  const math_params *params;
} unary_job;

static void broadcast__unary_piece(void *argument, size_t begin, size_t end) {
  const unary_job *job = argument;
  math_run_unary(job->loop, job->type, job->out + begin * job->out_size, job->a + begin * job->size,
                 end - begin, job->params);
}

os_status broadcast_unary(op_run *ctx, math_loop_id loop, op_tensor *out, const op_tensor *a,
                          const math_params *params) {
  if (out == NULL) return OS_OK;
  if (!math_loop_at(loop).unary || out->count != a->count)
    return op_run_fail(ctx, "there is no loop for %s", op_elem_name(a->elem));
  unary_job job = {loop,  (int)a->elem, out->data, a->data, op_elem_size(out->elem), op_elem_size(a->elem),
                   params};
  op_parallel_for(ctx, (size_t)a->count, BROADCAST_GRAIN, broadcast__unary_piece, &job);
  return OS_OK;
}

os_status broadcast_infer_dim(op_infer *ctx, op_dim a, op_dim b, const char *what, op_dim *out) {
  if (a == 1 || a == b)
    *out = b;
  else if (b == 1)
    *out = a;
  else if (a >= 0 && b >= 0)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s: %lld and %lld do not broadcast", what, (long long)a,
                         (long long)b);
  else if (a >= 0)
    *out = a; // the other is 1 or the same
  else if (b >= 0)
    *out = b;
  else
    *out = OP_DIM_UNKNOWN;
  return OS_OK;
}
