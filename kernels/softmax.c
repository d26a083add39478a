// Softmax, LogSoftmax, Hardmax. Up to operator set 12 they see the input as two axes, split at `axis`; from 13 on they work
// along one axis.

#include "kit.h"
#include "reduce.h"
#include "rows.h"
#include "staging.h"

typedef enum softmax_kind { SOFTMAX_PLAIN, SOFTMAX_LOG, SOFTMAX_HARD } softmax_kind;

static const softmax_kind kind_plain = SOFTMAX_PLAIN, kind_log = SOFTMAX_LOG, kind_hard = SOFTMAX_HARD;

static os_status softmax__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0), axis;
  bool flat = op_node_since(node) < 13;
  if (rank < 0) return OS_OK;
  // The flat form may split behind the last axis; a scalar has no axis to name but passes.
  int64_t fallback = flat ? 1 : -1, written = op_attr_int(node, "axis", fallback);
  if (flat && written == rank) return OS_OK;
  if (rank == 0 && (written == 0 || written == -1)) return OS_OK;
  return op_infer_axis(ctx, written, rank, "axis", &axis);
}

static os_status softmax__plan(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0);
  if (x == NULL) return OS_OK;
  op_plan_in_place(ctx, 0, 0);
  op_plan_scratch(ctx, stage_floats(x) * sizeof(float));
  return OS_OK;
}

typedef struct softmax_job {
  softmax_kind kind;
  op_elem elem;
  char *y;
  const char *x;
  size_t n, inner;
} softmax_job;

static void softmax__hard(const softmax_job *job, size_t begin, size_t end) {
  size_t block = job->n * job->inner;
  for (size_t o = begin; o < end; o++) {
    for (size_t i = 0; i < job->inner; i++) {
      // One column at a time, so that y may be x.
      size_t best = 0, first = o * block + i;
      double top = 0;
      for (size_t j = 0; j < job->n; j++) {
        size_t at = first + j * job->inner;
        double value = job->elem == OP_DOUBLE ? ((const double *)job->x)[at] : ((const float *)job->x)[at];
        bool better = j == 0 || value > top || (value != value && top == top);
        if (better) best = j, top = value;
      }
      for (size_t j = 0; j < job->n; j++) {
        size_t at = first + j * job->inner;
        double one = j == best;
        if (job->elem == OP_DOUBLE)
          ((double *)job->y)[at] = one;
        else
          ((float *)job->y)[at] = (float)one;
      }
    }
  }
}

static void softmax__piece(void *argument, size_t begin, size_t end) {
  const softmax_job *job = argument;
  size_t at = begin * job->n * job->inner;
  if (job->kind == SOFTMAX_HARD)
    softmax__hard(job, begin, end);
  else if (job->elem == OP_DOUBLE)
    math_softmax_f64((double *)job->y + at, (const double *)job->x + at, end - begin, job->n, job->inner,
                     job->kind == SOFTMAX_LOG);
  else
    math_softmax_f32((float *)job->y + at, (const float *)job->x + at, end - begin, job->n, job->inner,
                     job->kind == SOFTMAX_LOG);
}

static os_status softmax__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  bool flat = op_node_since(node) < 13;
  int64_t axis = op_attr_int(node, "axis", flat ? 1 : -1);
  if (axis < 0) axis += x->rank;
  if (x->rank == 0)
    axis = 0;
  else if (axis < 0 || axis >= x->rank + flat)
    return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)axis, (int)x->rank);
  if (!elem_is_float(x->elem)) return op_run_fail(ctx, "%s has no exponential", op_elem_name(x->elem));
  if (x->count == 0) return OS_OK;
  int32_t split = (int32_t)axis;
  size_t outer = kit_extent(x, 0, split), n, inner;
  if (flat || x->rank == 0)
    n = kit_extent(x, split, x->rank), inner = 1;
  else
    n = (size_t)x->dims[split], inner = kit_extent(x, split + 1, x->rank);
  softmax_job job = {
      *(const softmax_kind *)op_node_user(node), elem_compute(x->elem), y->data, x->data, n, inner};
  float *wide = op_run_scratch(ctx);
  if (elem_is_narrow(x->elem)) {
    math_load_f32(wide, x->data, (int)x->elem, (size_t)x->count);
    job.x = job.y = (char *)wide;
  }
  size_t work = n * inner;
  op_parallel_for(ctx, outer, work >= 1 << 13 ? 1 : (size_t)(1 << 13) / work, softmax__piece, &job);
  if (elem_is_narrow(x->elem)) math_store_f32(y->data, wide, (int)y->elem, (size_t)y->count);
  return OS_OK;
}

#define SOFTMAX(name, kind_name) \
  {.op_type = name,              \
   .since = 1,                   \
   .traits = OP_PURE,            \
   .infer = softmax__infer,      \
   .plan = softmax__plan,        \
   .compute = softmax__compute,  \
   .user = (void *)&kind_##kind_name}

static const op_row rows[] = {
    SOFTMAX("Softmax", plain),
    SOFTMAX("LogSoftmax", log),
    SOFTMAX("Hardmax", hard),
};

OP_FAMILY(softmax, rows);
