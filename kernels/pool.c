// MaxPool, AveragePool, LpPool, their global forms, MaxUnpool.

#include "kit.h"
#include "pooling.h"
#include "reduce.h"
#include "staging.h"
#include "windows.h"

// ---- Inference ------------------------------------------------------------------------------------------------

static os_status pool__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  if (op_infer_has_output(ctx, 1)) op_infer_set_elem(ctx, 1, OP_INT64);
  int32_t rank;
  const op_dim *x = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  if (rank < 3) return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, expected 3 or more", (int)rank);
  windows frame;
  const char *wrong = windows_read(&frame, node, rank - 2, NULL);
  if (wrong) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s", wrong);
  op_dim out[OP_MAX_RANK];
  out[0] = x[0], out[1] = x[1];
  for (int32_t i = 0; i < rank - 2; i++) {
    // LpPool 1 may do without a kernel: its window is one element then.
    if (frame.kernel[i] == 0) frame.kernel[i] = 1;
    out[2 + i] = windows_out(&frame, ctx, i, x[2 + i]);
  }
  for (uint32_t o = 0; o < 2; o++)
    if (op_infer_has_output(ctx, o)) op_infer_set_shape(ctx, o, rank, out);
  return OS_OK;
}

static os_status pool__infer_global(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int32_t rank;
  const op_dim *x = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  if (rank < 2) return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, expected 2 or more", (int)rank);
  op_dim out[OP_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) out[i] = i < 2 ? x[i] : 1;
  op_infer_set_shape(ctx, 0, rank, out);
  return OS_OK;
}

// ---- Windows ----------------------------------------------------------------------------------------------------

typedef enum pool_kind { POOL_MAX, POOL_AVERAGE, POOL_LP } pool_kind;

static const pool_kind kind_max = POOL_MAX, kind_average = POOL_AVERAGE, kind_lp = POOL_LP;

static bool pool__describe(const op_node *node, const op_tensor *x, const op_tensor *y,
                           math_pool_shape *shape) {
  windows frame;
  if (x->rank < 3 || x->rank > 5 || y->rank != x->rank || windows_read(&frame, node, x->rank - 2, NULL))
    return false;
  if (y->dims[0] != x->dims[0] || y->dims[1] != x->dims[1]) return false;
  *shape = (math_pool_shape){{1, 1, 1},
                             {1, 1, 1},
                             {1, 1, 1},
                             {1, 1, 1},
                             {1, 1, 1},
                             {0},
                             {0},
                             op_attr_int(node, "count_include_pad", 0) != 0,
                             op_attr_int(node, "storage_order", 0) != 0};
  for (int32_t i = 0, at = 5 - x->rank; i < x->rank - 2; i++, at++) {
    int64_t begin, end;
    if (frame.kernel[i] == 0) frame.kernel[i] = 1;
    windows_pads(&frame, i, x->dims[2 + i], y->dims[2 + i], &begin, &end);
    shape->in[at] = (size_t)x->dims[2 + i];
    shape->out[at] = (size_t)y->dims[2 + i];
    shape->kernel[at] = (size_t)frame.kernel[i];
    shape->stride[at] = (size_t)frame.stride[i];
    shape->dilation[at] = (size_t)frame.dilation[i];
    shape->pad_begin[at] = (ptrdiff_t)begin;
    shape->pad_end[at] = (ptrdiff_t)end;
  }
  return true;
}

typedef struct pool_job {
  math_pool_shape shape;
  pool_kind kind;
  int type;
  double p;
  void *y;
  int64_t *indices;
  const void *x;
} pool_job;

static bool pool__planes(const pool_job *job, size_t begin, size_t end) {
  switch (job->kind) {
  case POOL_MAX: return math_max_pool(&job->shape, job->type, job->y, job->indices, job->x, begin, end);
  case POOL_AVERAGE: return math_average_pool(&job->shape, job->type, job->y, job->x, begin, end);
  case POOL_LP: return math_lp_pool(&job->shape, job->type, job->p, job->y, job->x, begin, end);
  }
  return false;
}

static void pool__piece(void *argument, size_t begin, size_t end) { pool__planes(argument, begin, end); }

static os_status pool__plan(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0), *y = op_plan_output(ctx, 0);
  if (x == NULL) return OS_OK;
  op_plan_scratch(ctx, (stage_floats(x) + (y ? stage_floats(y) : 0)) * sizeof(float));
  return OS_OK;
}

static double pool__p(const op_node *node) {
  return op_node_since(node) < 2 ? op_attr_float(node, "p", 2) : (double)op_attr_int(node, "p", 2);
}

static os_status pool__run(op_run *ctx, pool_job *job, const op_tensor *x, op_tensor *y) {
  size_t planes = (size_t)x->dims[0] * (size_t)x->dims[1];
  float *scratch = op_run_scratch(ctx), *result = NULL;
  job->type = (int)elem_compute(x->elem);
  job->x = elem_is_narrow(x->elem) ? stage_read(x, &scratch) : x->data;
  job->y = y->data;
  if (elem_is_narrow(x->elem)) job->y = result = stage_result(y, &scratch);
  if (!pool__planes(job, 0, 0)) return op_run_fail(ctx, "%s cannot be pooled", op_elem_name(x->elem));
  size_t work =
      job->shape.out[0] * job->shape.out[1] * job->shape.out[2] * job->shape.kernel[1] * job->shape.kernel[2];
  op_parallel_for(ctx, planes, work >= 1 << 14 ? 1 : (size_t)(1 << 14) / (work + 1) + 1, pool__piece, job);
  if (result) stage_write(y, result);
  return OS_OK;
}

static os_status pool__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0),
            *indices = op_run_output_count(ctx) > 1 ? op_run_output(ctx, 1) : NULL;
  pool_job job = {.kind = *(const pool_kind *)op_node_user(node), .indices = indices ? indices->data : NULL};
  if (y == NULL) return op_run_fail(ctx, "output 0 is left out");
  if (x->rank > 5) return op_run_fail(ctx, "%d spatial axes, at most 3 can be pooled", (int)x->rank - 2);
  if (x->elem == OP_STRING || !pool__describe(node, x, y, &job.shape))
    return op_run_fail(ctx, "the attributes do not match the shape of X");
  job.p = pool__p(node);
  if (job.kind == POOL_LP && !(job.p > 0)) return op_run_fail(ctx, "`p` is %g, expected more than 0", job.p);
  if (y->count == 0) return OS_OK;
  return pool__run(ctx, &job, x, y);
}

// ---- Whole planes -----------------------------------------------------------------------------------------------

static os_status pool__compute_global(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  pool_kind kind = *(const pool_kind *)op_node_user(node);
  if (x->rank < 2 || y->count != x->dims[0] * x->dims[1] || x->elem == OP_STRING)
    return kit_shape_broken(ctx, "X");
  size_t planes = (size_t)y->count, size = kit_extent(x, 2, x->rank);
  if (kind == POOL_LP) {
    pool_job job = {.kind = kind, .p = pool__p(node)};
    job.shape = (math_pool_shape){{1, 1, size}, {1, 1, size}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1},
                                  {0},          {0},          false,     false};
    if (!(job.p > 0)) return op_run_fail(ctx, "`p` is %g, expected more than 0", job.p);
    return planes > 0 ? pool__run(ctx, &job, x, y) : OS_OK;
  }
  bool narrow = elem_is_narrow(x->elem);
  float *scratch = op_run_scratch(ctx);
  const void *in = narrow ? stage_read(x, &scratch) : x->data;
  void *out = narrow ? stage_result(y, &scratch) : y->data;
  math_reduction reduction = kind == POOL_MAX ? MATH_REDUCE_MAX : MATH_REDUCE_MEAN;
  if (!math_reduce(reduction, (int)elem_compute(x->elem), out, in, planes, size, 1))
    return op_run_fail(ctx, "%s cannot be pooled", op_elem_name(x->elem));
  if (narrow) stage_write(y, out);
  return OS_OK;
}

// ---- MaxUnpool --------------------------------------------------------------------------------------------------

// Length of one axis that the attributes alone give.
static op_dim pool__unpooled(op_infer *ctx, const windows *frame, int32_t i, op_dim in) {
  if (in == OP_DIM_UNKNOWN) return in;
  op_dim grown = op_dim_mul(ctx, op_dim_sub(ctx, in, 1), frame->stride[i]);
  op_dim out = op_dim_add(ctx, grown, frame->kernel[i] - frame->pad_begin[i] - frame->pad_end[i]);
  return op_dim_is_number(out) && out < 0 ? 0 : out;
}

static os_status pool__infer_unpool(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int32_t rank, index_rank = op_infer_rank(ctx, 1);
  const op_dim *x = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  if (rank < 3) return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, expected 3 or more", (int)rank);
  if (index_rank >= 0 && index_rank != rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "I has rank %d, X rank %d", (int)index_rank, (int)rank);
  windows frame;
  const char *wrong = windows_read(&frame, op_infer_node(ctx), rank - 2, NULL);
  if (wrong) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s", wrong);
  op_dim out[OP_MAX_RANK];
  kit_list shape = {0};
  if (op_infer_has_input(ctx, 2)) {
    kit_infer_list(ctx, 2, &shape);
    if (shape.present && shape.count != (size_t)rank)
      return op_infer_fail(ctx, OP_FAULT_VALUE, "`output_shape` has %zu elements, X has rank %d", shape.count,
                           (int)rank);
  }
  for (int32_t i = 0; i < rank; i++) {
    if (!op_infer_has_input(ctx, 2))
      out[i] = i < 2 ? x[i] : pool__unpooled(ctx, &frame, i - 2, x[i]);
    else
      out[i] = shape.at[i];
    if (op_dim_is_number(out[i]) && out[i] < 0)
      return op_infer_fail(ctx, OP_FAULT_VALUE, "`output_shape` has %lld at %d", (long long)out[i], (int)i);
  }
  op_infer_set_shape(ctx, 0, rank, out);
  return OS_OK;
}

// Indices count over the tensor that the attributes alone give; it lies at the origin of the output.
static os_status pool__compute_unpool(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0), *places = op_run_input(ctx, 1);
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  windows frame;
  if (x->rank < 3 || places->elem != OP_INT64 || places->count != x->count || y->rank != x->rank ||
      x->elem == OP_STRING || windows_read(&frame, op_run_node(ctx), x->rank - 2, NULL))
    return op_run_fail(ctx, "the attributes or I do not match X");
  uint64_t dims[OP_MAX_RANK], total = 1;
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t dim = x->dims[d];
    if (d >= 2)
      dim = (dim - 1) * frame.stride[d - 2] + frame.kernel[d - 2] - frame.pad_begin[d - 2] -
            frame.pad_end[d - 2];
    dims[d] = dim > 0 ? (uint64_t)dim : 0;
    if (__builtin_mul_overflow(total, dims[d], &total))
      return op_run_fail(ctx, "the unpooled tensor is too large");
  }
  kit_zero(y);
  size_t width = op_elem_size(x->elem);
  const int64_t *at = places->data;
  for (int64_t i = 0; i < x->count; i++) {
    uint64_t rest = (uint64_t)at[i], to = 0, scale = 1;
    if (at[i] < 0 || rest >= total)
      return op_run_fail(ctx, "index %lld at element %lld is out of range", (long long)at[i], (long long)i);
    bool inside = true;
    for (int32_t d = x->rank; d-- > 0;) {
      uint64_t place = rest % dims[d];
      rest /= dims[d];
      inside = inside && place < (uint64_t)y->dims[d];
      to += place * scale;
      scale *= (uint64_t)y->dims[d];
    }
    if (inside) memcpy((char *)y->data + to * width, (const char *)x->data + (size_t)i * width, width);
  }
  return OS_OK;
}

#define POOL(name, kind_name) \
  {.domain = "",              \
   .op_type = name,           \
   .since = 1,                \
   .traits = OP_PURE,         \
   .infer = pool__infer,      \
   .plan = pool__plan,        \
   .compute = pool__compute,  \
   .user = (void *)&kind_##kind_name}
#define GLOBAL_POOL(name, kind_name) \
  {.domain = "",                     \
   .op_type = name,                  \
   .since = 1,                       \
   .traits = OP_PURE,                \
   .infer = pool__infer_global,      \
   .plan = pool__plan,               \
   .compute = pool__compute_global,  \
   .user = (void *)&kind_##kind_name}

static const op_row rows[] = {
    POOL("MaxPool", max),
    POOL("AveragePool", average),
    POOL("LpPool", lp),
    GLOBAL_POOL("GlobalMaxPool", max),
    GLOBAL_POOL("GlobalAveragePool", average),
    GLOBAL_POOL("GlobalLpPool", lp),
    {.domain = "",
     .op_type = "MaxUnpool",
     .since = 9,
     .traits = OP_PURE,
     .infer = pool__infer_unpool,
     .compute = pool__compute_unpool},
};

OP_FAMILY(pool, rows);
