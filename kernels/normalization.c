// LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization, MeanVarianceNormalization,
// LpNormalization, LRN. (batch_norm.c has BatchNormalization.)

#include "broadcast.h"
#include "kit.h"
#include "reduce.h"
#include "rows.h"
#include "scalars.h"
#include "staging.h"

#include <math.h>

enum { ROW_WORK = 1 << 13 }; // elements of a piece

static size_t norm__grain(size_t n) { return n >= ROW_WORK ? 1 : ROW_WORK / (n ? n : 1); }

// ---- Standardising rows: zero mean, unit variance -------------------------------------------------------------

typedef struct norm_job {
  float *y;
  const float *x;
  double *wide_y;
  const double *wide_x; // instead of x for double
  size_t n, period;
  double epsilon;
  const float *scale, *shift;
  float *mean, *inverse;
  bool rms;
} norm_job;

static void norm__standardize_wide(const norm_job *job, size_t begin, size_t end) {
  for (size_t r = begin; r < end; r++) {
    const double *x = job->wide_x + r * job->n;
    double *y = job->wide_y + r * job->n, sum = 0, squares = 0;
    for (size_t i = 0; i < job->n; i++) sum += x[i];
    double mean = sum / (double)job->n;
    for (size_t i = 0; i < job->n; i++) squares += (x[i] - mean) * (x[i] - mean);
    double inverse = 1 / sqrt(squares / (double)job->n + job->epsilon);
    for (size_t i = 0; i < job->n; i++) y[i] = (x[i] - mean) * inverse;
  }
}

static void norm__standardize_piece(void *argument, size_t begin, size_t end) {
  const norm_job *job = argument;
  if (job->wide_x) {
    norm__standardize_wide(job, begin, end);
    return;
  }
  float *y = job->y + begin * job->n;
  const float *x = job->x + begin * job->n;
  if (job->rms)
    math_rms_norm_f32(y, x, end - begin, job->n, (float)job->epsilon, job->scale);
  else
    math_layer_norm_f32(y, x, end - begin, job->n, (float)job->epsilon, job->scale, job->shift,
                        job->mean ? job->mean + begin : NULL, job->inverse ? job->inverse + begin : NULL);
}

static void norm__standardize(op_run *ctx, norm_job *job, size_t rows) {
  op_parallel_for(ctx, rows, norm__grain(job->n), norm__standardize_piece, job);
}

// ---- LayerNormalization, RMSNormalization -----------------------------------------------------------------------

static op_elem norm__stash(const op_node *node) {
  int64_t stash = op_attr_int(node, "stash_type", 1);
  return stash > 0 && stash < OP_ELEM_COUNT ? (op_elem)stash : OP_NONE;
}

static os_status norm__infer_scale(op_infer *ctx, uint32_t input, const char *what) {
  int32_t rank, scale_rank;
  const op_dim *x = op_infer_dims(ctx, 0, &rank);
  const op_dim *scale = op_infer_dims(ctx, input, &scale_rank);
  if (scale == NULL || rank < 0) return OS_OK;
  if (scale_rank > rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank %d, more than X's %d", what, (int)scale_rank,
                         (int)rank);
  for (int32_t d = 0; d < scale_rank; d++) {
    op_dim to = x[rank - scale_rank + d];
    if (scale[d] >= 0 && scale[d] != 1 && to >= 0 && scale[d] != to)
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has %lld elements on axis %d, X %lld", what,
                           (long long)scale[d], (int)d, (long long)to);
  }
  return OS_OK;
}

static os_status norm__infer_layer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  op_elem stash = norm__stash(node);
  if (!elem_is_float(stash))
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`stash_type` is %lld, which is no float type",
                         (long long)op_attr_int(node, "stash_type", 1));
  for (uint32_t o = 1; o < 3; o++) op_infer_set_elem(ctx, o, stash);
  int32_t rank, axis;
  const op_dim *x = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, -1, rank, &axis));
  op_dim kept[OP_MAX_RANK];
  for (int32_t d = 0; d < rank; d++) kept[d] = d < axis ? x[d] : 1;
  for (uint32_t o = 1; o < 3; o++) op_infer_set_shape(ctx, o, rank, kept);
  OS_TRY(norm__infer_scale(ctx, 1, "Scale"));
  return norm__infer_scale(ctx, 2, "B");
}

// The result has the type of the scale.
static os_status norm__infer_rms(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 1));
  if (!elem_is_float(norm__stash(node)))
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`stash_type` is %lld, which is no float type",
                         (long long)op_attr_int(node, "stash_type", 1));
  int32_t rank = op_infer_rank(ctx, 0), axis;
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, -1, rank, &axis));
  return norm__infer_scale(ctx, 1, "scale");
}

static bool norm__is_rms(const op_node *node) { return op_node_user(node) != NULL; }

// Scratch: a float copy of x unless all is float, and the two statistics in float.
static os_status norm__plan_layer(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0), *y = op_plan_output(ctx, 0);
  if (x == NULL) return OS_OK;
  if (y && y->elem == x->elem) op_plan_in_place(ctx, 0, 0);
  size_t copy = x->elem == OP_FLOAT && y && y->elem == OP_FLOAT ? 0 : ((size_t)x->count + 15) / 16 * 16;
  size_t rows = norm__is_rms(op_plan_node(ctx)) ? 0 : kit_extent(x, 0, x->rank > 0 ? x->rank - 1 : 0);
  int64_t axis = op_attr_int(op_plan_node(ctx), "axis", -1);
  if (axis >= -x->rank && axis < x->rank) rows = kit_extent(x, 0, kit_axis(axis, x->rank));
  op_plan_scratch(ctx, (copy + 2 * (rows + 16)) * sizeof(float));
  return OS_OK;
}

static os_status norm__scale(op_run *ctx, op_tensor *y, const op_tensor *scale, const op_tensor *shift) {
  if (scale) OS_TRY(broadcast_binary(ctx, elem_loop(MATH_OP_mul, y->elem), y, y, scale, -1, NULL));
  if (shift) OS_TRY(broadcast_binary(ctx, elem_loop(MATH_OP_add, y->elem), y, y, shift, -1, NULL));
  return OS_OK;
}

// Scale and shift lie under the last axes, the normalised ones or more; exactly those are math's.
static bool norm__covers(const op_tensor *tensor, const op_tensor *x, int32_t axis) {
  if (tensor == NULL) return true;
  int32_t shift = x->rank - tensor->rank;
  if (shift < 0 || tensor->elem != OP_FLOAT) return false;
  for (int32_t d = axis; d < x->rank; d++)
    if ((d < shift ? 1 : tensor->dims[d - shift]) != x->dims[d]) return false;
  return (size_t)tensor->count == kit_extent(x, axis, x->rank);
}

static void norm__give(op_run *ctx, uint32_t output, const float *values) {
  op_tensor *to = op_run_output(ctx, output);
  if (to) math_cast(to->data, (int)to->elem, values, MATH_F32, (size_t)to->count, NULL);
}

static os_status norm__compute_layer(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0), *scale = op_run_input(ctx, 1);
  const op_tensor *shift = op_run_input(ctx, 2);
  op_tensor *y = op_run_output(ctx, 0);
  int64_t written = op_attr_int(node, "axis", -1);
  if (written < -x->rank || written >= x->rank || !elem_is_float(x->elem))
    return op_run_fail(ctx, "axis %lld of %s is out of range for rank %d", (long long)written,
                       op_elem_name(x->elem), (int)x->rank);
  int32_t axis = kit_axis(written, x->rank);
  size_t rows = kit_extent(x, 0, axis), n = kit_extent(x, axis, x->rank);
  if (x->elem == OP_DOUBLE && op_attr_int(node, "stash_type", 1) == OP_DOUBLE && y->elem == OP_DOUBLE &&
      !norm__is_rms(node) && op_run_output_count(ctx) == 1) {
    norm_job wide = {
        .wide_x = x->data, .wide_y = y->data, .n = n, .epsilon = op_attr_float(node, "epsilon", 1e-5)};
    norm__standardize(ctx, &wide, rows);
    return norm__scale(ctx, y, scale, shift);
  }
  norm_job job = {.n = n, .epsilon = op_attr_float(node, "epsilon", 1e-5), .rms = norm__is_rms(node)};
  bool direct = x->elem == OP_FLOAT && y->elem == OP_FLOAT;
  float *scratch = op_run_scratch(ctx);
  job.x = job.y = scratch;
  if (direct)
    job.x = x->data, job.y = y->data;
  else {
    math_load_f32(scratch, x->data, (int)x->elem, (size_t)x->count);
    scratch += ((size_t)x->count + 15) / 16 * 16;
  }
  if (!job.rms) job.mean = scratch, job.inverse = scratch + (rows + 15) / 16 * 16;
  bool scaled = direct && norm__covers(scale, x, axis) && norm__covers(shift, x, axis);
  if (scaled) job.scale = scale ? scale->data : NULL, job.shift = shift ? shift->data : NULL;
  if (x->count > 0) norm__standardize(ctx, &job, rows);
  if (!direct) math_store_f32(y->data, job.y, (int)y->elem, (size_t)y->count);
  if (!job.rms) {
    norm__give(ctx, 1, job.mean);
    norm__give(ctx, 2, job.inverse);
  }
  return scaled ? OS_OK : norm__scale(ctx, y, scale, shift);
}

// ---- InstanceNormalization, GroupNormalization --------------------------------------------------------------------

// Checks a tensor of one value per channel (or group).
static os_status norm__infer_vector(op_infer *ctx, uint32_t input, op_dim count, const char *what) {
  OS_TRY(kit_want_rank(ctx, input, 1, what));
  if (op_infer_rank(ctx, input) != 1) return OS_OK;
  return op_infer_merge_dim(ctx, count, op_infer_dim(ctx, input, 0), what, NULL);
}

static os_status norm__infer_instance(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0);
  if (rank >= 0 && rank < 2)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "the input has rank %d, expected 3 or more", (int)rank);
  op_dim channels = rank > 1 ? op_infer_dim(ctx, 0, 1) : OP_DIM_UNKNOWN;
  OS_TRY(norm__infer_vector(ctx, 1, channels, "scale"));
  return norm__infer_vector(ctx, 2, channels, "B");
}

static os_status norm__infer_group(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int64_t groups = op_attr_int(node, "num_groups", 0);
  if (groups < 1)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`num_groups` is %lld, expected at least 1",
                         (long long)groups);
  int32_t rank = op_infer_rank(ctx, 0);
  OS_TRY(kit_want_least(ctx, 0, 2, "X"));
  op_dim channels = rank > 1 ? op_infer_dim(ctx, 0, 1) : OP_DIM_UNKNOWN;
  if (channels >= 0 && channels % groups != 0)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has %lld channels, which %lld groups do not divide",
                         (long long)channels, (long long)groups);
  op_dim count = op_node_since(node) < 21 ? groups : channels;
  OS_TRY(norm__infer_vector(ctx, 1, count, "scale"));
  return norm__infer_vector(ctx, 2, count, "bias");
}

static os_status norm__plan_groups(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0), *scale = op_plan_input(ctx, 1), *shift = op_plan_input(ctx, 2);
  if (x == NULL) return OS_OK;
  op_plan_in_place(ctx, 0, 0);
  op_plan_scratch(ctx, (stage_floats(x) + stage_floats(scale) + stage_floats(shift)) * sizeof(float) + 64);
  return OS_OK;
}

static void norm__scale_piece(void *argument, size_t begin, size_t end) {
  const norm_job *job = argument;
  // A piece begins at a whole period.
  size_t at = begin * job->period * job->n;
  math_scale_rows_f32(job->y + at, job->y + at, (end - begin) * job->period, job->n, job->period, job->scale,
                      job->shift);
}

// Standardises groups of channels, then scales and shifts channel by channel; `period` values in scale and shift.
static os_status norm__groups(op_run *ctx, size_t groups, size_t period, double epsilon) {
  const op_tensor *x = op_run_input(ctx, 0), *scale = op_run_input(ctx, 1), *shift = op_run_input(ctx, 2);
  op_tensor *y = op_run_output(ctx, 0);
  if (!elem_is_float(x->elem) || scale->elem != x->elem || shift->elem != x->elem ||
      (size_t)scale->count != period || (size_t)shift->count != period)
    return op_run_fail(ctx, "scale and bias must have %zu elements of %s", period, op_elem_name(x->elem));
  if (x->count == 0) return OS_OK;
  size_t batch = (size_t)x->dims[0], n = (size_t)x->count / batch / period;
  norm_job job = {.n = (size_t)x->count / batch / groups, .epsilon = epsilon, .period = period};
  if (x->elem == OP_DOUBLE) {
    job.wide_x = x->data, job.wide_y = y->data;
    norm__standardize(ctx, &job, batch * groups);
    const double *a = scale->data, *b = shift->data;
    for (size_t i = 0; i < (size_t)y->count; i++)
      job.wide_y[i] = job.wide_y[i] * a[i / n % period] + b[i / n % period];
    return OS_OK;
  }
  float *scratch = op_run_scratch(ctx);
  const float *scales = stage_read(scale, &scratch), *shifts = stage_read(shift, &scratch);
  job.x = stage_read(x, &scratch);
  job.y = elem_is_narrow(x->elem) ? (float *)job.x : y->data;
  norm__standardize(ctx, &job, batch * groups);
  job.n = n, job.scale = scales, job.shift = shifts;
  op_parallel_for(ctx, batch, 1, norm__scale_piece, &job);
  stage_write(y, job.y);
  return OS_OK;
}

static os_status norm__compute_instance(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  if (x->rank < 2) return op_run_fail(ctx, "the input has rank %d, expected 3 or more", (int)x->rank);
  return norm__groups(ctx, (size_t)x->dims[1], (size_t)x->dims[1],
                      op_attr_float(op_run_node(ctx), "epsilon", 1e-5));
}

static os_status norm__compute_group(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  int64_t groups = op_attr_int(node, "num_groups", 0);
  if (x->rank < 2 || groups < 1 || x->dims[1] % groups != 0)
    return op_run_fail(ctx, "%lld groups do not divide the channels of X", (long long)groups);
  size_t period = (size_t)(op_node_since(node) < 21 ? groups : x->dims[1]);
  return norm__groups(ctx, (size_t)groups, period, op_attr_float(node, "epsilon", 1e-5));
}

// ---- MeanVarianceNormalization ------------------------------------------------------------------------------------

static os_status norm__mvn_mask(const op_node *node, int32_t rank, uint32_t *mask, int64_t *bad) {
  static const int64_t standard[] = {0, 2, 3};
  size_t count;
  const int64_t *axes = op_attr_ints(node, "axes", &count);
  if (!op_attr_has(node, "axes")) axes = standard, count = 3;
  *mask = 0;
  for (size_t i = 0; i < count; i++) {
    *bad = axes[i];
    if (axes[i] < -rank || axes[i] >= rank) return OS_INVALID_ARGUMENT;
    *mask |= UINT32_C(1) << kit_axis(axes[i], rank);
  }
  return OS_OK;
}

static os_status norm__infer_mvn(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0);
  uint32_t mask;
  int64_t bad;
  if (rank < 0 || norm__mvn_mask(op_infer_node(ctx), rank, &mask, &bad) == OS_OK) return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`axes` names axis %lld of a tensor of rank %d",
                       (long long)bad, (int)rank);
}

// In double, on a copy whose normalised axes are the last ones: (x - mean) / (deviation + 1e-9), as the definition's body.
static void norm__mvn(double *x, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; r++, x += n) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    double deviation = sqrt(squares / (double)n) + 1e-9;
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - mean) / deviation;
  }
}

static os_status norm__compute_mvn(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  uint32_t mask;
  int64_t bad;
  if (norm__mvn_mask(op_run_node(ctx), x->rank, &mask, &bad) != OS_OK || !elem_is_float(x->elem))
    return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)bad, (int)x->rank);
  if (x->count == 0) return OS_OK;
  size_t dims[OP_MAX_RANK], moved[OP_MAX_RANK], perm[OP_MAX_RANK], back[OP_MAX_RANK],
      rank = kit_shape(x, dims), at = 0, n = 1;
  for (size_t d = 0; d < rank; d++)
    if (!(mask >> d & 1)) perm[at++] = d;
  for (size_t d = 0; d < rank; d++)
    if (mask >> d & 1) perm[at++] = d, n *= dims[d];
  for (size_t d = 0; d < rank; d++) moved[d] = dims[perm[d]], back[perm[d]] = d;
  op_value *one = op_run_new_tensor(ctx, OP_DOUBLE, x->rank, x->dims),
           *two = op_run_new_tensor(ctx, OP_DOUBLE, x->rank, x->dims);
  bool room = one && two;
  if (room) {
    double *a = op_value_edit(one)->data, *b = op_value_edit(two)->data;
    math_cast(a, MATH_F64, x->data, (int)x->elem, (size_t)x->count, NULL);
    math_transpose(b, a, sizeof *a, rank, dims, perm);
    norm__mvn(b, (size_t)x->count / n, n);
    math_transpose(a, b, sizeof *a, rank, moved, back);
    math_cast(y->data, (int)y->elem, a, MATH_F64, (size_t)y->count, NULL);
  }
  op_value_release(one);
  op_value_release(two);
  return room ? OS_OK : OS_OUT_OF_MEMORY;
}

// ---- LpNormalization ------------------------------------------------------------------------------------------------

static os_status norm__infer_lp(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int64_t p = op_attr_int(node, "p", 2);
  if (p != 1 && p != 2)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`p` is %lld, expected 1 or 2", (long long)p);
  int32_t rank = op_infer_rank(ctx, 0), axis;
  if (rank < 0) return OS_OK;
  return kit_infer_axis(ctx, -1, rank, &axis);
}

// One column of n elements `stride` apart; all zeros stay.
static void norm__lp_column(const op_tensor *x, op_tensor *y, size_t first, size_t n, size_t stride,
                            bool squares) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    double value = kit_double(x, (int64_t)(first + i * stride));
    sum += squares ? value * value : fabs(value);
  }
  double norm = squares ? sqrt(sum) : sum;
  for (size_t i = 0; i < n; i++) {
    size_t at = first + i * stride;
    double value = norm == 0 ? 0 : kit_double(x, (int64_t)at) / norm;
    kit_put(y, at, value);
  }
}

static os_status norm__compute_lp(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  int64_t axis = op_attr_int(node, "axis", -1);
  if (axis < -x->rank || axis >= x->rank || !elem_is_float(x->elem))
    return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)axis, (int)x->rank);
  int32_t at = kit_axis(axis, x->rank);
  size_t outer = kit_extent(x, 0, at), n = (size_t)x->dims[at], inner = kit_extent(x, at + 1, x->rank);
  for (size_t o = 0; o < outer; o++)
    for (size_t i = 0; i < inner; i++)
      norm__lp_column(x, y, o * n * inner + i, n, inner, op_attr_int(node, "p", 2) == 2);
  return OS_OK;
}

// ---- LRN --------------------------------------------------------------------------------------------------------------

static os_status norm__infer_lrn(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int64_t size = op_attr_int(op_infer_node(ctx), "size", 0);
  if (size < 1)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`size` is %lld, expected at least 1", (long long)size);
  return kit_want_least(ctx, 0, 2, "X");
}

typedef struct lrn_job {
  const op_tensor *x;
  op_tensor *y;
  size_t channels, plane, before, after;
  double alpha, beta, bias; // alpha by size
} lrn_job;

typedef struct lrn_window {
  size_t first, last; // channels
} lrn_window;

static lrn_window norm__lrn_window(const lrn_job *job, size_t c) {
  return (lrn_window){c > job->before ? c - job->before : 0,
                      job->after < job->channels - 1 - c ? c + job->after : job->channels - 1};
}

// One plane of floats, tile by tile: the sum of squares, its power, the quotient.
static void norm__lrn_plane(const lrn_job *job, size_t row) {
  enum { TILE = 256 };
  float sums[TILE], beta = (float)job->beta, alpha = (float)job->alpha, bias = (float)job->bias;
  size_t c = row % job->channels;
  lrn_window window = norm__lrn_window(job, c);
  const float *x = (const float *)job->x->data + row * job->plane;
  float *y = (float *)job->y->data + row * job->plane;
  for (size_t i = 0; i < job->plane; i += TILE) {
    size_t n = job->plane - i < TILE ? job->plane - i : TILE;
    for (size_t j = 0; j < n; j++) sums[j] = 0;
    for (size_t k = window.first; k <= window.last; k++) {
      const float *other = (const float *)job->x->data + (row - c + k) * job->plane + i;
      for (size_t j = 0; j < n; j++) sums[j] += other[j] * other[j];
    }
    for (size_t j = 0; j < n; j++) sums[j] = bias + alpha * sums[j];
    math_run_binary(LOOP_pow_f32, MATH_F32, sums, sums, &beta, n, MATH_VS, NULL);
    for (size_t j = 0; j < n; j++) y[i + j] = x[i + j] / sums[j];
  }
}

// A piece of the N C planes.
static void norm__lrn_piece(void *argument, size_t begin, size_t end) {
  const lrn_job *job = argument;
  for (size_t row = begin; row < end; row++) {
    if (job->x->elem == OP_FLOAT) {
      norm__lrn_plane(job, row);
      continue;
    }
    size_t c = row % job->channels;
    lrn_window window = norm__lrn_window(job, c);
    for (size_t i = 0; i < job->plane; i++) {
      double sum = 0;
      for (size_t k = window.first; k <= window.last; k++) {
        double value = kit_double(job->x, (int64_t)((row - c + k) * job->plane + i));
        sum += value * value;
      }
      size_t at = row * job->plane + i;
      double result = kit_double(job->x, (int64_t)at) / math_pow(job->bias + job->alpha * sum, job->beta);
      kit_put(job->y, at, result);
    }
  }
}

static os_status norm__compute_lrn(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  int64_t size = op_attr_int(node, "size", 0);
  if (x->rank < 2 || size < 1 || !elem_is_float(x->elem))
    return op_run_fail(ctx, "X must be of rank 2 or more, `size` positive");
  lrn_job job = {x,
                 y,
                 (size_t)x->dims[1],
                 kit_extent(x, 2, x->rank),
                 (size_t)(size - 1) / 2,
                 (size_t)(size - 1) - (size_t)(size - 1) / 2,
                 op_attr_float(node, "alpha", 0.0001) / (double)size,
                 op_attr_float(node, "beta", 0.75),
                 op_attr_float(node, "bias", 1)};
  op_parallel_for(ctx, (size_t)x->dims[0] * job.channels, norm__grain(job.plane), norm__lrn_piece, &job);
  return OS_OK;
}

// ---- Rows ---------------------------------------------------------------------------------------------------------------

// `user` tells RMSNormalization from LayerNormalization.
static const char norm_rms;

static const op_row rows[] = {
    {.op_type = "LayerNormalization",
     .since = 17,
     .traits = OP_PURE,
     .infer = norm__infer_layer,
     .plan = norm__plan_layer,
     .compute = norm__compute_layer},
    {.op_type = "RMSNormalization",
     .since = 23,
     .traits = OP_PURE,
     .infer = norm__infer_rms,
     .plan = norm__plan_layer,
     .compute = norm__compute_layer,
     .user = (void *)&norm_rms},
    {.op_type = "InstanceNormalization",
     .since = 1,
     .traits = OP_PURE,
     .infer = norm__infer_instance,
     .plan = norm__plan_groups,
     .compute = norm__compute_instance},
    {.op_type = "GroupNormalization",
     .since = 18,
     .traits = OP_PURE,
     .infer = norm__infer_group,
     .plan = norm__plan_groups,
     .compute = norm__compute_group},
    OP_ROW("MeanVarianceNormalization", 9, OP_PURE, norm__infer_mvn, norm__compute_mvn),
    OP_ROW("LpNormalization", 1, OP_PURE, norm__infer_lp, norm__compute_lp),
    OP_ROW("LRN", 1, OP_PURE, norm__infer_lrn, norm__compute_lrn),
};

OP_FAMILY(normalization, rows);
