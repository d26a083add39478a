// Conv. Up to three spatial axes of float, float16 and bfloat16 are math's; double and more axes take the plain way.

#include "convolution.h"

#include "fused.h"
#include "kit.h"
#include "staging.h"

#include <stdlib.h>

enum { CONVOLUTION_PIECES = 8 };

// ---- Shared: inference, shapes --------------------------------------------------------------------------------

static os_status convolution__check_channels(op_infer *ctx, op_dim channels, op_dim filters, op_dim depth,
                                             op_dim *out) {
  int64_t group = op_attr_int(op_infer_node(ctx), "group", 1);
  if (group < 1 || group > INT32_MAX)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`group` is %lld, expected at least 1", (long long)group);
  if (channels >= 0 && depth >= 0 && channels != op_dim_mul(ctx, depth, group))
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has %lld channels, W takes %lld in %lld groups",
                         (long long)channels, (long long)depth, (long long)group);
  if (filters >= 0 && filters % group != 0)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "W has %lld filters, which %lld groups do not divide",
                         (long long)filters, (long long)group);
  *out = filters;
  return OS_OK;
}

os_status convolution_infer(op_infer *ctx, uint32_t x_input, uint32_t w_input) {
  int32_t x_rank, w_rank;
  const op_dim *x = op_infer_dims(ctx, x_input, &x_rank), *w = op_infer_dims(ctx, w_input, &w_rank);
  if ((x_rank >= 0 && x_rank < 3) || (w_rank >= 0 && w_rank < 3))
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank %d, expected 3 or more",
                         x_rank >= 0 && x_rank < 3 ? "X" : "W",
                         (int)(x_rank >= 0 && x_rank < 3 ? x_rank : w_rank));
  if (x_rank >= 0 && w_rank >= 0 && x_rank != w_rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, W rank %d", (int)x_rank, (int)w_rank);
  int32_t rank = x_rank >= 0 ? x_rank : w_rank;
  if (rank < 0) return OS_OK;
  windows frame;
  const char *wrong = windows_read(&frame, op_infer_node(ctx), rank - 2, w_rank >= 0 ? w + 2 : NULL);
  if (wrong) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s", wrong);
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (out == NULL) return OS_OK;
  op_dim filters;
  OS_TRY(convolution__check_channels(ctx, x_rank >= 0 ? x[1] : OP_DIM_UNKNOWN,
                                     w_rank >= 0 ? w[0] : OP_DIM_UNKNOWN, w_rank >= 0 ? w[1] : OP_DIM_UNKNOWN,
                                     &filters));
  out[0] = x_rank >= 0 ? x[0] : OP_DIM_UNKNOWN;
  out[1] = filters;
  for (int32_t i = 0; i < rank - 2; i++)
    out[2 + i] = x_rank >= 0 ? windows_out(&frame, ctx, i, x[2 + i]) : OP_DIM_UNKNOWN;
  return OS_OK;
}

bool convolution_describe(const op_node *node, const op_tensor *x, const op_tensor *w, const op_tensor *y,
                          math_conv_shape *shape) {
  windows frame;
  if (x->rank < 3 || x->rank > 5 || w->rank != x->rank || y->rank != x->rank) return false;
  if (windows_read(&frame, node, x->rank - 2, w->dims + 2)) return false;
  int64_t group = op_attr_int(node, "group", 1);
  if (group < 1 || w->dims[1] * group != x->dims[1] || w->dims[0] % group != 0) return false;
  if (y->dims[0] != x->dims[0] || y->dims[1] != w->dims[0]) return false;
  *shape =
      (math_conv_shape){(size_t)x->dims[0], (size_t)x->dims[1], (size_t)w->dims[0], (size_t)group, {1, 1, 1},
                        {1, 1, 1},          {1, 1, 1},          {1, 1, 1},          {1, 1, 1},     {0}};
  for (int32_t i = 0, at = 5 - x->rank; i < x->rank - 2; i++, at++) {
    int64_t begin, end;
    windows_pads(&frame, i, x->dims[2 + i], y->dims[2 + i], &begin, &end);
    shape->in[at] = (size_t)x->dims[2 + i];
    shape->out[at] = (size_t)y->dims[2 + i];
    shape->kernel[at] = (size_t)frame.kernel[i];
    shape->stride[at] = (size_t)frame.stride[i];
    shape->dilation[at] = (size_t)frame.dilation[i];
    shape->pad_begin[at] = (ptrdiff_t)begin;
  }
  return true;
}

static os_status convolution__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(convolution_infer(ctx, 0, 1));
  if (!op_infer_has_input(ctx, 2)) return OS_OK;
  OS_TRY(kit_want_rank(ctx, 2, 1, "B"));
  op_dim filters = op_infer_rank(ctx, 1) > 0 ? op_infer_dim(ctx, 1, 0) : OP_DIM_UNKNOWN, merged;
  op_dim bias = op_infer_rank(ctx, 2) == 1 ? op_infer_dim(ctx, 2, 0) : OP_DIM_UNKNOWN;
  return op_infer_merge_dim(ctx, filters, bias, "filters of W and B", &merged);
}

// ---- Plan: weights packed, what follows channel by channel folded into them -----------------------------------

// What plan leaves for compute, which need not see W again: `bias_at` 0 = none, else where its floats lie; packed weights
// follow the struct.
typedef struct convolution_packed {
  _Alignas(16) math_conv_shape shape;
  size_t bias_at;
  uint32_t folded; // items of the epilogue that are in the weights and the bias
} convolution_packed;

// One value per filter, or one for all, of a fused item; NULL when it is not that or not constant.
static const float *convolution__channel_operand(const op_epilogue *items, uint32_t i, size_t filters,
                                                 size_t *stride) {
  const op_tensor *operand = items->items[i].operand;
  if (items->items[i].loop.count != 2 || operand == NULL || operand->data == NULL ||
      operand->elem != OP_FLOAT)
    return NULL;
  if (operand->count != 1 && operand->count != (int64_t)filters) return NULL;
  *stride = operand->count == 1 ? 0 : 1;
  return operand->data;
}

// Folds scale and shift into w [filters, per_filter] and bias as far as they come first. Answers how many items.
static uint32_t convolution__fold(const op_epilogue *items, size_t filters, size_t per_filter, float *w,
                                  float *bias, bool *has_bias) {
  uint32_t i = 0;
  for (; items && i < items->count; i++) {
    size_t stride;
    uint32_t loop = items->items[i].loop.id;
    const float *by = convolution__channel_operand(items, i, filters, &stride);
    bool subtracts = loop == LOOP_sub_f32 && !items->items[i].operand_first;
    if (by == NULL || (loop != LOOP_mul_f32 && loop != LOOP_add_f32 && !subtracts)) break;
    for (size_t f = 0; f < filters; f++) {
      float value = by[f * stride];
      if (loop == LOOP_mul_f32) {
        for (size_t j = 0; j < per_filter; j++) w[f * per_filter + j] *= value;
        bias[f] *= value;
      } else
        bias[f] += subtracts ? -value : value;
    }
    *has_bias = *has_bias || loop != LOOP_mul_f32;
  }
  return i;
}

static os_status convolution__pack(op_plan *ctx, const math_conv_shape *shape) {
  const op_tensor *w = op_plan_constant(ctx, 1), *b = op_plan_input(ctx, 2) ? op_plan_constant(ctx, 2) : NULL;
  bool may_fold = op_plan_input(ctx, 2) == NULL || b != NULL, has_bias = b != NULL;
  size_t bytes = (math_conv_packed_bytes(shape) + 63) / 64 * 64,
         bias_bytes = (shape->filters + 16) * sizeof(float);
  convolution_packed *packed = op_plan_pack(ctx, 1, sizeof *packed + bytes + bias_bytes);
  OS_TRY_ALLOC(packed);
  float *copy = malloc(((size_t)w->count + 1) * sizeof *copy),
        *bias = (float *)((char *)(packed + 1) + bytes);
  OS_TRY_ALLOC(copy);
  math_load_f32(copy, w->data, (int)w->elem, (size_t)w->count);
  if (b && b->count == (int64_t)shape->filters)
    math_load_f32(bias, b->data, (int)b->elem, (size_t)b->count);
  else
    memset(bias, 0, shape->filters * sizeof *bias);
  *packed = (convolution_packed){.shape = *shape};
  if (may_fold && shape->filters > 0)
    packed->folded = convolution__fold(op_plan_epilogue(ctx), shape->filters,
                                       (size_t)w->count / shape->filters, copy, bias, &has_bias);
  if (has_bias) packed->bias_at = sizeof *packed + bytes;
  math_conv_pack(shape, packed + 1, copy);
  free(copy);
  return OS_OK;
}

static size_t convolution__grain(size_t tasks) {
  size_t grain = (tasks + CONVOLUTION_PIECES - 1) / CONVOLUTION_PIECES;
  return grain ? grain : 1;
}

static size_t convolution__piece_bytes(const math_conv_shape *shape) {
  return (math_conv_scratch_bytes(shape) + 63) / 64 * 64;
}

static bool convolution__is_fast(op_elem elem, int32_t rank) {
  return rank <= 5 && (elem == OP_FLOAT || elem_is_narrow(elem));
}

static os_status convolution__plan(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0), *w = op_plan_input(ctx, 1), *b = op_plan_input(ctx, 2);
  const op_tensor *y = op_plan_output(ctx, 0), *constant = op_plan_constant(ctx, 1);
  math_conv_shape shape;
  if (x == NULL || w == NULL || y == NULL || !convolution__is_fast(x->elem, x->rank)) return OS_OK;
  if (w->elem != x->elem || !convolution_describe(op_plan_node(ctx), x, w, y, &shape)) return OS_OK;
  size_t tasks = math_conv_tasks(&shape), grain = convolution__grain(tasks),
         pieces = (tasks + grain - 1) / grain;
  size_t bytes = pieces * convolution__piece_bytes(&shape);
  bytes += (stage_floats(x) + stage_floats(y) + stage_floats(b)) * sizeof(float);
  if (constant)
    OS_TRY(convolution__pack(ctx, &shape));
  else
    bytes += (math_conv_packed_bytes(&shape) + 63) / 64 * 64 + stage_floats(w) * sizeof(float);
  op_plan_scratch(ctx, bytes + 64);
  return OS_OK;
}

// ---- Compute ------------------------------------------------------------------------------------------------

typedef struct convolution_job {
  const math_conv_shape *shape;
  float *y;
  const float *x;
  const void *packed;
  const math_epilogue *epilogue;
  char *scratch;
  size_t piece_bytes, grain;
} convolution_job;

static void convolution__piece(void *argument, size_t begin, size_t end) {
  const convolution_job *job = argument;
  math_conv_f32(job->shape, job->y, job->x, job->packed, job->epilogue, begin, end,
                job->scratch + begin / job->grain * job->piece_bytes);
}

static os_status convolution__run(op_run *ctx, const math_conv_shape *shape,
                                  const convolution_packed *packed) {
  const op_tensor *x = op_run_input(ctx, 0), *b = op_run_input_count(ctx) > 2 ? op_run_input(ctx, 2) : NULL;
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  float *scratch = op_run_scratch(ctx);
  fused tail = {.epilogue = MATH_EPILOGUE_NONE, .taken = packed ? packed->folded : 0};
  convolution_job job = {.shape = shape, .epilogue = &tail.epilogue};
  job.x = stage_read(x, &scratch);
  job.y = stage_result(y, &scratch);
  if (packed) {
    job.packed = packed + 1;
    if (packed->bias_at) tail.epilogue.bias = (const float *)((const char *)packed + packed->bias_at);
  } else {
    const float *w = stage_read(op_run_input(ctx, 1), &scratch);
    math_conv_pack(shape, scratch, w);
    job.packed = scratch;
    scratch = (float *)((char *)scratch + (math_conv_packed_bytes(shape) + 63) / 64 * 64);
  }
  if (b && tail.epilogue.bias == NULL) tail.epilogue.bias = stage_read(b, &scratch);
  if (tail.epilogue.bias) tail.epilogue.bias_kind = MATH_BIAS_ROW;
  fused_take(&tail, op_run_epilogue(ctx), y, MATH_BIAS_ROW);
  size_t tasks = math_conv_tasks(shape);
  job.scratch = (char *)scratch;
  job.piece_bytes = convolution__piece_bytes(shape);
  job.grain = convolution__grain(tasks);
  op_parallel_for(ctx, tasks, job.grain, convolution__piece, &job);
  stage_write(y, job.y);
  return fused_finish(ctx, &tail, y);
}

// ---- The plain way: any rank, in double -----------------------------------------------------------------------

typedef struct convolution_plain {
  windows frame;
  size_t groups, channels, filters; // of a group
  size_t in[OP_MAX_RANK], out[OP_MAX_RANK], kernel[OP_MAX_RANK];
  ptrdiff_t pad[OP_MAX_RANK];
  size_t rank, in_size, out_size, kernel_size;
} convolution_plain;

// Sum over the window at `place` of the plane x with the weights w of one channel.
static double convolution__window(const convolution_plain *s, const double *x, const double *w,
                                  const size_t *place) {
  size_t tap[OP_MAX_RANK] = {0}, at = 0;
  double sum = 0;
  do {
    size_t from = 0;
    bool inside = true;
    for (size_t d = 0; d < s->rank; d++) {
      int64_t i = (int64_t)place[d] * s->frame.stride[d] + (int64_t)tap[d] * s->frame.dilation[d] - s->pad[d];
      inside = inside && i >= 0 && i < (int64_t)s->in[d];
      from = from * s->in[d] + (size_t)(inside ? i : 0);
    }
    if (inside) sum += x[from] * w[at];
    at++;
  } while (kit_next(s->rank, s->kernel, tap));
  return sum;
}

static void convolution__plain_image(const convolution_plain *s, double *y, const double *x,
                                     const double *w) {
  for (size_t f = 0; f < s->groups * s->filters; f++) {
    size_t group = f / s->filters, place[OP_MAX_RANK] = {0}, at = 0;
    do {
      double sum = 0;
      for (size_t c = 0; c < s->channels; c++)
        sum += convolution__window(s, x + (group * s->channels + c) * s->in_size,
                                   w + (f * s->channels + c) * s->kernel_size, place);
      y[f * s->out_size + at++] = sum;
    } while (kit_next(s->rank, s->out, place));
  }
}

static bool convolution__describe_plain(const op_node *node, const op_tensor *x, const op_tensor *w,
                                        const op_tensor *y, convolution_plain *s) {
  *s = (convolution_plain){.rank = (size_t)x->rank - 2, .in_size = 1, .out_size = 1, .kernel_size = 1};
  int64_t group = op_attr_int(node, "group", 1);
  if (x->rank < 3 || w->rank != x->rank || y->rank != x->rank ||
      windows_read(&s->frame, node, x->rank - 2, w->dims + 2))
    return false;
  if (group < 1 || w->dims[1] * group != x->dims[1] || w->dims[0] % group != 0) return false;
  s->groups = (size_t)group, s->channels = (size_t)w->dims[1], s->filters = (size_t)(w->dims[0] / group);
  for (size_t d = 0; d < s->rank; d++) {
    int64_t begin, end;
    windows_pads(&s->frame, (int32_t)d, x->dims[2 + d], y->dims[2 + d], &begin, &end);
    s->in[d] = (size_t)x->dims[2 + d], s->out[d] = (size_t)y->dims[2 + d],
    s->kernel[d] = (size_t)s->frame.kernel[d];
    s->pad[d] = (ptrdiff_t)begin;
    s->in_size *= s->in[d], s->out_size *= s->out[d], s->kernel_size *= s->kernel[d];
  }
  return true;
}

static os_status convolution__run_plain(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0), *w = op_run_input(ctx, 1);
  const op_tensor *b = op_run_input_count(ctx) > 2 ? op_run_input(ctx, 2) : NULL;
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  convolution_plain s;
  if (!elem_is_float(x->elem) || w->elem != x->elem ||
      !convolution__describe_plain(op_run_node(ctx), x, w, y, &s))
    return op_run_fail(ctx, "the shapes or types of X and W do not match");
  if (y->count == 0) return OS_OK;
  op_value *wide[3] = {op_run_new_tensor(ctx, OP_DOUBLE, x->rank, x->dims),
                       op_run_new_tensor(ctx, OP_DOUBLE, w->rank, w->dims),
                       op_run_new_tensor(ctx, OP_DOUBLE, y->rank, y->dims)};
  os_status status = wide[0] && wide[1] && wide[2] ? OS_OK : OS_OUT_OF_MEMORY;
  if (status == OS_OK) {
    double *xs = op_value_edit(wide[0])->data, *ws = op_value_edit(wide[1])->data,
           *ys = op_value_edit(wide[2])->data;
    math_cast(xs, MATH_F64, x->data, (int)x->elem, (size_t)x->count, NULL);
    math_cast(ws, MATH_F64, w->data, (int)w->elem, (size_t)w->count, NULL);
    size_t filters = s.groups * s.filters;
    for (size_t n = 0; n < (size_t)x->dims[0]; n++)
      convolution__plain_image(&s, ys + n * filters * s.out_size, xs + n * s.groups * s.channels * s.in_size,
                               ws);
    for (size_t i = 0; b && b->count == (int64_t)filters && i < (size_t)y->count; i++)
      ys[i] += kit_double(b, (int64_t)(i / s.out_size % filters));
    math_cast(y->data, (int)y->elem, ys, MATH_F64, (size_t)y->count, NULL);
  }
  for (size_t i = 0; i < 3; i++) op_value_release(wide[i]);
  OS_TRY(status);
  fused tail = {.epilogue = MATH_EPILOGUE_NONE};
  return fused_finish(ctx, &tail, y);
}

static os_status convolution__compute(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0), *w = op_run_input(ctx, 1);
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  const convolution_packed *packed = op_run_packed(ctx);
  if (!convolution__is_fast(x->elem, x->rank)) return convolution__run_plain(ctx);
  math_conv_shape shape;
  if (packed)
    shape = packed->shape;
  else if (w->elem != x->elem || !convolution_describe(op_run_node(ctx), x, w, y, &shape))
    return op_run_fail(ctx, "the shapes or types of X and W do not match");
  if (y->count == 0) return OS_OK;
  return convolution__run(ctx, &shape, packed);
}

static const op_row rows[] = {
    {.domain = "",
     .op_type = "Conv",
     .since = 1,
     .traits = OP_PURE,
     .infer = convolution__infer,
     .plan = convolution__plan,
     .compute = convolution__compute,
     .epilogue = OP_EPILOGUE_UNARY | OP_EPILOGUE_CHANNEL | OP_EPILOGUE_RESIDUAL},
};

OP_FAMILY(convolution, rows);
