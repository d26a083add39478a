// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss: x [N, C, ...] of scores or logarithms, labels [N, ...].

#include "kit.h"
#include "rows.h"
#include "staging.h"

typedef enum loss_reduction { LOSS_MEAN, LOSS_NONE, LOSS_SUM, LOSS_UNKNOWN } loss_reduction;

static loss_reduction loss__reduction(const op_node *node) {
  return (loss_reduction)kit_word(node, "reduction", "mean\0none\0sum\0");
}

// ---- Inference ------------------------------------------------------------------------------------------------

static os_status loss__infer_labels(op_infer *ctx, const op_dim *x, int32_t rank, op_dim *out) {
  int32_t label_rank;
  const op_dim *labels = op_infer_dims(ctx, 1, &label_rank);
  out[0] = x[0];
  for (int32_t d = 2; d < rank; d++) out[d - 1] = x[d];
  if (label_rank < 0) return OS_OK;
  if (label_rank != rank - 1)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "labels have rank %d, scores rank %d: one less is expected",
                         (int)label_rank, (int)rank);
  for (int32_t d = 0; d < label_rank; d++)
    OS_TRY(op_infer_merge_dim(ctx, out[d], labels[d], "dims of scores and labels", &out[d]));
  return OS_OK;
}

static os_status loss__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  op_infer_copy(ctx, 1, 0);
  loss_reduction reduction = loss__reduction(node);
  if (reduction == LOSS_UNKNOWN) {
    os_str how = op_attr_string(node, "reduction", "mean");
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "`reduction` is \"%.*s\", expected \"none\", \"sum\" or \"mean\"", (int)how.len,
                         how.data ? how.data : "");
  }
  int32_t rank;
  const op_dim *x = op_infer_dims(ctx, 0, &rank);
  OS_TRY(kit_want_least(ctx, 0, 2, "scores"));
  if (op_infer_has_input(ctx, 2)) {
    OS_TRY(kit_want_rank(ctx, 2, 1, "weights"));
    op_dim classes = rank > 1 ? x[1] : OP_DIM_UNKNOWN,
           weights = op_infer_rank(ctx, 2) == 1 ? op_infer_dim(ctx, 2, 0) : OP_DIM_UNKNOWN;
    OS_TRY(op_infer_merge_dim(ctx, classes, weights, "classes of scores and weights", &classes));
  }
  op_dim out[OP_MAX_RANK];
  if (rank >= 0) OS_TRY(loss__infer_labels(ctx, x, rank, out));
  if (reduction != LOSS_NONE)
    op_infer_set_rank(ctx, 0, 0);
  else if (rank >= 0)
    op_infer_set_shape(ctx, 0, rank - 1, out);
  return OS_OK;
}

// ---- Computing --------------------------------------------------------------------------------------------------

typedef struct loss_shape {
  size_t batch, classes, inner;
} loss_shape;

// The loss of every label; to y where that is asked for, and summed.
static os_status loss__sum(op_run *ctx, const loss_shape *s, const op_tensor *logs, op_tensor *y,
                           double *loss, double *weight) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *labels = op_run_input(ctx, 1), *weights = op_run_input(ctx, 2);
  bool ignores = op_attr_has(node, "ignore_index");
  int64_t ignored = op_attr_int(node, "ignore_index", 0);
  *loss = *weight = 0;
  for (size_t i = 0; i < s->batch * s->inner; i++) {
    int64_t label = kit_int(labels, (int64_t)i);
    double value = 0;
    if (!ignores || label != ignored) {
      if (label < 0 || label >= (int64_t)s->classes)
        return op_run_fail(ctx, "label %lld at element %zu is out of range for %zu classes", (long long)label,
                           i, s->classes);
      double w = weights ? kit_double(weights, label) : 1;
      size_t at = (i / s->inner * s->classes + (size_t)label) * s->inner + i % s->inner;
      value = -kit_double(logs, (int64_t)at) * w;
      *weight += w;
    }
    *loss += value;
    if (y) kit_put(y, i, value);
  }
  return OS_OK;
}

static os_status loss__reduce(op_run *ctx, const loss_shape *s, const op_tensor *logs) {
  loss_reduction reduction = loss__reduction(op_run_node(ctx));
  op_tensor *y = op_run_output(ctx, 0);
  double loss, weight;
  OS_TRY(loss__sum(ctx, s, logs, reduction == LOSS_NONE ? y : NULL, &loss, &weight));
  if (y == NULL || reduction == LOSS_NONE) return OS_OK;
  double result = reduction == LOSS_MEAN ? loss / weight : loss;
  math_cast(y->data, (int)y->elem, &result, MATH_F64, 1, NULL);
  return OS_OK;
}

static os_status loss__shape(op_run *ctx, loss_shape *s) {
  const op_tensor *x = op_run_input(ctx, 0), *labels = op_run_input(ctx, 1);
  const op_tensor *weights = op_run_input(ctx, 2);
  if (x->rank < 2 || !elem_is_float(x->elem) || !elem_is_integer(labels->elem))
    return op_run_fail(ctx, "scores must be floats of rank 2 or more, labels integers");
  *s = (loss_shape){(size_t)x->dims[0], (size_t)x->dims[1], kit_extent(x, 2, x->rank)};
  if ((size_t)labels->count != s->batch * s->inner) return op_run_fail(ctx, "labels do not match the scores");
  if (weights && (size_t)weights->count != s->classes)
    return op_run_fail(ctx, "there are %lld weights for %zu classes", (long long)weights->count, s->classes);
  return OS_OK;
}

static os_status loss__compute(op_run *ctx) {
  loss_shape s;
  OS_TRY(loss__shape(ctx, &s));
  return loss__reduce(ctx, &s, op_run_input(ctx, 0));
}

static os_status loss__compute_entropy(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *log_prob = op_run_output(ctx, 1);
  loss_shape s;
  OS_TRY(loss__shape(ctx, &s));
  op_elem wide = elem_compute(x->elem);
  op_value *logs = op_run_new_tensor(ctx, wide, x->rank, x->dims);
  OS_TRY_ALLOC(logs);
  void *data = op_value_edit(logs)->data;
  math_cast(data, (int)wide, x->data, (int)x->elem, (size_t)x->count, NULL);
  if (wide == OP_DOUBLE)
    math_softmax_f64(data, data, s.batch, s.classes, s.inner, true);
  else
    math_softmax_f32(data, data, s.batch, s.classes, s.inner, true);
  if (log_prob) math_cast(log_prob->data, (int)log_prob->elem, data, (int)wide, (size_t)x->count, NULL);
  os_status status = loss__reduce(ctx, &s, op_value_tensor(logs));
  op_value_release(logs);
  return status;
}

static const op_row rows[] = {
    OP_ROW("NegativeLogLikelihoodLoss", 12, OP_PURE, loss__infer, loss__compute),
    OP_ROW("SoftmaxCrossEntropyLoss", 12, OP_PURE, loss__infer, loss__compute_entropy),
};

OP_FAMILY(loss, rows);
