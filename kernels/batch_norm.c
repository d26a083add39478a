// BatchNormalization. Which mode it runs in: operator set 14 and later say so in an attribute, earlier ones by how many
// outputs the node has. Before 9, `spatial` 0 gives every place of the plane statistics of its own.

#include "kit.h"
#include "rows.h"
#include "staging.h"

#include <math.h>

static bool batch__training(const op_node *node, uint32_t outputs) {
  return op_node_since(node) >= 14 ? op_attr_int(node, "training_mode", 0) != 0 : outputs > 1;
}

static bool batch__spatial(const op_node *node) {
  return op_node_since(node) >= 9 || op_attr_int(node, "spatial", 1) != 0;
}

// ---- Inference ------------------------------------------------------------------------------------------------

static os_status batch__infer(op_infer *ctx) {
  static const char *const names[] = {"scale", "B", "mean", "var"};
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0);
  bool spatial = batch__spatial(node);
  if (rank == 0) return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank 0, expected 1 or more");
  op_dim channels = rank == 1 ? 1 : rank > 1 ? op_infer_dim(ctx, 0, 1) : OP_DIM_UNKNOWN;
  for (uint32_t i = 1; i < 5 && spatial; i++) {
    OS_TRY(kit_want_rank(ctx, i, 1, names[i - 1]));
    if (op_infer_rank(ctx, i) != 1) continue;
    OS_TRY(op_infer_merge_dim(ctx, channels, op_infer_dim(ctx, i, 0), names[i - 1], &channels));
  }
  if (op_node_since(node) >= 14 && !batch__training(node, 0)) {
    for (uint32_t o = 1; o < 3; o++)
      if (op_infer_has_output(ctx, o))
        return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "output %u is asked for, but `training_mode` is 0", o);
  }
  for (uint32_t o = 1; o < 5; o++) {
    if (!op_infer_has_output(ctx, o)) continue;
    op_infer_set_type(ctx, o, op_infer_type(ctx, op_node_since(node) >= 14 ? 3 : 1));
    if (spatial) op_infer_set_shape(ctx, o, 1, &channels);
  }
  return OS_OK;
}

// ---- As scale and shift -------------------------------------------------------------------------------------------

// y = a x + b for a channel; p: scale, B, mean, var.
static void batch__channel(const op_tensor *const *p, size_t channel, double epsilon, double *a, double *b) {
  int64_t at = (int64_t)channel;
  *a = kit_double(p[0], at) / sqrt(kit_double(p[3], at) + epsilon);
  *b = kit_double(p[1], at) - kit_double(p[2], at) * *a;
}

static bool batch__fits(const op_tensor *const *p, size_t period) {
  for (size_t i = 0; i < 4; i++)
    if (p[i] == NULL || (size_t)p[i]->count != period || !elem_is_float(p[i]->elem)) return false;
  return true;
}

static bool batch__affine(const op_node *node, const op_tensor *const *constants, uint32_t count,
                          size_t channels, float *scale, float *shift) {
  if (count < 5 || (op_node_since(node) >= 14 && batch__training(node, 1)) || !batch__spatial(node))
    return false;
  if (!batch__fits(constants + 1, channels)) return false;
  double epsilon = op_attr_float(node, "epsilon", 1e-5), a, b;
  for (size_t c = 0; c < channels; c++) {
    batch__channel(constants + 1, c, epsilon, &a, &b);
    scale[c] = (float)a;
    shift[c] = (float)b;
  }
  return true;
}

// ---- Layout of x: [batch, period, n] ------------------------------------------------------------------------------

typedef struct batch_shape {
  size_t batch, period, n;
} batch_shape;

static batch_shape batch__shape(const op_node *node, const op_tensor *x) {
  batch_shape s = {(size_t)(x->rank > 0 ? x->dims[0] : 1), 1, 1};
  if (!batch__spatial(node))
    s.period = kit_extent(x, 1, x->rank);
  else if (x->rank > 1)
    s.period = (size_t)x->dims[1], s.n = kit_extent(x, 2, x->rank);
  return s;
}

static size_t batch__round(size_t n) { return (n + 15) / 16 * 16; }

// Scratch: coefficients and statistics in double, then the same in float, then a float copy of narrow elements.
static os_status batch__plan(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0);
  if (x == NULL) return OS_OK;
  op_plan_in_place(ctx, 0, 0);
  size_t period = batch__round(batch__shape(op_plan_node(ctx), x).period);
  op_plan_scratch(ctx, period * (4 * sizeof(double) + 2 * sizeof(float)) + stage_floats(x) * sizeof(float));
  return OS_OK;
}

// ---- Computing ------------------------------------------------------------------------------------------------------

typedef struct batch_job {
  batch_shape shape;
  float *y;
  const float *x;
  const float *scale, *shift;
} batch_job;

static void batch__piece(void *argument, size_t begin, size_t end) {
  const batch_job *job = argument;
  size_t at = begin * job->shape.period * job->shape.n;
  math_scale_rows_f32(job->y + at, job->x + at, (end - begin) * job->shape.period, job->shape.n,
                      job->shape.period, job->scale, job->shift);
}

static void batch__statistics(const batch_shape *s, const op_tensor *x, const float *wide, double *mean,
                              double *variance) {
  double count = (double)(s->batch * s->n);
  for (size_t c = 0; c < s->period; c++) {
    for (int pass = 0; pass < 2; pass++) {
      double sum = 0;
      for (size_t b = 0; b < s->batch; b++) {
        size_t first = (b * s->period + c) * s->n;
        for (size_t i = first; i < first + s->n; i++) {
          double value = wide ? (double)wide[i] : ((const double *)x->data)[i];
          sum += pass == 0 ? value : (value - mean[c]) * (value - mean[c]);
        }
      }
      if (pass == 0)
        mean[c] = sum / count;
      else
        variance[c] = sum / count;
    }
  }
}

// What running statistics become: old momentum + new (1 - momentum).
static void batch__give(op_run *ctx, uint32_t output, const op_tensor *old, const double *now, size_t period,
                        double momentum) {
  op_tensor *to = op_run_output(ctx, output);
  for (size_t c = 0; to && c < period && c < (size_t)to->count; c++) {
    double value = old ? kit_double(old, (int64_t)c) * momentum + now[c] * (1 - momentum) : now[c];
    kit_put(to, c, value);
  }
}

static os_status batch__train(op_run *ctx, const batch_shape *s, const float *wide, double *a, double *b,
                              double *mean, double *variance) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *scale = op_run_input(ctx, 1), *bias = op_run_input(ctx, 2);
  if ((size_t)scale->count != s->period || (size_t)bias->count != s->period)
    return op_run_fail(ctx, "scale and B must have %zu elements", s->period);
  double momentum = op_attr_float(node, "momentum", 0.9), epsilon = op_attr_float(node, "epsilon", 1e-5);
  batch__statistics(s, op_run_input(ctx, 0), wide, mean, variance);
  for (size_t c = 0; c < s->period; c++) {
    a[c] = kit_double(scale, (int64_t)c) / sqrt(variance[c] + epsilon);
    b[c] = kit_double(bias, (int64_t)c) - mean[c] * a[c];
  }
  batch__give(ctx, 1, op_run_input(ctx, 3), mean, s->period, momentum);
  batch__give(ctx, 2, op_run_input(ctx, 4), variance, s->period, momentum);
  batch__give(ctx, 3, NULL, mean, s->period, momentum);
  batch__give(ctx, 4, NULL, variance, s->period, momentum);
  return OS_OK;
}

static void batch__scale_wide(const batch_shape *s, double *y, const double *x, const double *a,
                              const double *b) {
  for (size_t row = 0; row < s->batch * s->period; row++)
    for (size_t i = row * s->n; i < (row + 1) * s->n; i++)
      y[i] = x[i] * a[row % s->period] + b[row % s->period];
}

static os_status batch__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  batch_shape s = batch__shape(node, x);
  size_t room = batch__round(s.period);
  double *a = op_run_scratch(ctx), *b = a + room, *mean = b + room, *variance = mean + room;
  float *scale = (float *)(variance + room), *shift = scale + room, *scratch = shift + room;
  if (!elem_is_float(x->elem)) return op_run_fail(ctx, "%s cannot be normalized", op_elem_name(x->elem));
  const float *wide = x->elem == OP_DOUBLE ? NULL : stage_read(x, &scratch);
  if (batch__training(node, op_run_output_count(ctx)))
    OS_TRY(batch__train(ctx, &s, wide, a, b, mean, variance));
  else {
    const op_tensor *p[4];
    for (uint32_t i = 0; i < 4; i++) p[i] = op_run_input(ctx, i + 1);
    if (!batch__fits(p, s.period))
      return op_run_fail(ctx, "scale, B, mean and var must have %zu elements", s.period);
    double epsilon = op_attr_float(node, "epsilon", 1e-5);
    for (size_t c = 0; c < s.period; c++) batch__channel(p, c, epsilon, &a[c], &b[c]);
  }
  if (x->count == 0) return OS_OK;
  if (x->elem == OP_DOUBLE) {
    batch__scale_wide(&s, y->data, x->data, a, b);
    return OS_OK;
  }
  for (size_t c = 0; c < s.period; c++) scale[c] = (float)a[c], shift[c] = (float)b[c];
  batch_job job = {s, elem_is_narrow(x->elem) ? (float *)wide : y->data, wide, scale, shift};
  op_parallel_for(ctx, s.batch, 1, batch__piece, &job);
  stage_write(y, job.y);
  return OS_OK;
}

static const op_row rows[] = {
    {.op_type = "BatchNormalization",
     .since = 1,
     .traits = OP_PURE,
     .infer = batch__infer,
     .plan = batch__plan,
     .compute = batch__compute,
     .affine = batch__affine},
};

OP_FAMILY(batch_norm, rows);
