// ConvTranspose: the product of the weights' columns with the input, scattered onto the output.

#include "conv.h"
#include "kit.h"
#include "products.h"
#include "staging.h"
#include "windows.h"

// ---- Shapes ---------------------------------------------------------------------------------------------------

// One axis: what the attributes say, and the pads that follow for a length of the output.
typedef struct transposed_axis {
  int64_t kernel, stride, dilation, extra; // extra: output_padding
  int64_t wanted;                          // output_shape, -1 = none
  int64_t pads;                            // both together
} transposed_axis;

typedef struct transposed {
  windows frame;
  transposed_axis axes[OP_MAX_RANK];
} transposed;

// As windows_read, with output_padding and output_shape. The latter may list batch and channels too, as old models do.
static const char *transposed__read(transposed *self, const op_node *node, int32_t axes,
                                    const op_dim *kernel) {
  const char *wrong = windows_read(&self->frame, node, axes, kernel);
  if (wrong) return wrong;
  size_t extra_count, shape_count;
  const int64_t *extra = op_attr_ints(node, "output_padding", &extra_count);
  const int64_t *shape = op_attr_ints(node, "output_shape", &shape_count);
  if (extra_count != 0 && extra_count != (size_t)axes)
    return "`output_padding` must hold one number per spatial axis";
  if (shape_count == (size_t)axes + 2) shape += 2, shape_count -= 2;
  if (shape_count != 0 && shape_count != (size_t)axes)
    return "`output_shape` must hold one number per spatial axis";
  for (int32_t i = 0; i < axes; i++) {
    transposed_axis *axis = &self->axes[i];
    *axis = (transposed_axis){self->frame.kernel[i],
                              self->frame.stride[i],
                              self->frame.dilation[i],
                              0,
                              -1,
                              self->frame.pad_begin[i] + self->frame.pad_end[i]};
    if (extra_count != 0) axis->extra = extra[i];
    if (shape_count != 0) axis->wanted = shape[i];
    if (axis->extra < 0 || axis->extra > INT32_MAX) return "`output_padding` must not be negative";
    if (shape_count != 0 && (axis->wanted < 0 || axis->wanted > INT32_MAX))
      return "`output_shape` must not be negative";
  }
  return NULL;
}

static bool transposed__same(const transposed *self) {
  return self->frame.padding == WINDOWS_SAME_UPPER || self->frame.padding == WINDOWS_SAME_LOWER;
}

static op_dim transposed__out(const transposed *self, op_infer *ctx, int32_t i, op_dim in) {
  const transposed_axis *axis = &self->axes[i];
  if (axis->wanted >= 0) return axis->wanted;
  if (transposed__same(self)) return op_dim_mul(ctx, in, axis->stride);
  if (axis->kernel == 0 || in == OP_DIM_UNKNOWN) return OP_DIM_UNKNOWN;
  int64_t reach = axis->dilation * (axis->kernel - 1) + 1;
  op_dim grown = op_dim_mul(ctx, op_dim_sub(ctx, in, 1), axis->stride);
  op_dim out = op_dim_add(ctx, grown, axis->extra + reach - axis->pads);
  return op_dim_is_number(out) && out < 0 ? 0 : out;
}

// First padding of an axis; negative where the output begins before the scattered input.
static int64_t transposed__begin(const transposed *self, int32_t i, int64_t in, int64_t out) {
  const transposed_axis *axis = &self->axes[i];
  if (axis->wanted < 0 && !transposed__same(self)) return self->frame.pad_begin[i];
  int64_t total = axis->stride * (in - 1) + axis->extra + axis->dilation * (axis->kernel - 1) + 1 - out;
  int64_t half = total >= 0 ? total / 2 : -((1 - total) / 2);
  return self->frame.padding == WINDOWS_SAME_UPPER ? half : total - half;
}

static os_status transposed__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int32_t x_rank, w_rank;
  const op_dim *x = op_infer_dims(ctx, 0, &x_rank), *w = op_infer_dims(ctx, 1, &w_rank);
  if ((x_rank >= 0 && x_rank < 3) || (w_rank >= 0 && w_rank < 3))
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank %d, expected 3 or more",
                         x_rank >= 0 && x_rank < 3 ? "X" : "W",
                         (int)(x_rank >= 0 && x_rank < 3 ? x_rank : w_rank));
  if (x_rank >= 0 && w_rank >= 0 && x_rank != w_rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, W rank %d", (int)x_rank, (int)w_rank);
  int32_t rank = x_rank >= 0 ? x_rank : w_rank;
  if (rank < 0) return OS_OK;
  transposed self;
  const char *wrong = transposed__read(&self, node, rank - 2, w_rank >= 0 ? w + 2 : NULL);
  if (wrong) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s", wrong);
  int64_t group = op_attr_int(node, "group", 1);
  if (group < 1 || group > INT32_MAX)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`group` is %lld, expected at least 1", (long long)group);
  op_dim channels;
  OS_TRY(op_infer_merge_dim(ctx, x_rank >= 0 ? x[1] : OP_DIM_UNKNOWN, w_rank >= 0 ? w[0] : OP_DIM_UNKNOWN,
                            "channels of X and W", &channels));
  if (channels >= 0 && channels % group != 0)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has %lld channels, which %lld groups do not divide",
                         (long long)channels, (long long)group);
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (out == NULL) return OS_OK;
  out[0] = x_rank >= 0 ? x[0] : OP_DIM_UNKNOWN;
  out[1] = w_rank >= 0 ? op_dim_mul(ctx, w[1], group) : OP_DIM_UNKNOWN;
  for (int32_t i = 0; i < rank - 2; i++)
    out[2 + i] = transposed__out(&self, ctx, i, x_rank >= 0 ? x[2 + i] : OP_DIM_UNKNOWN);
  if (!op_infer_has_input(ctx, 2)) return OS_OK;
  OS_TRY(kit_want_rank(ctx, 2, 1, "B"));
  op_dim bias = op_infer_rank(ctx, 2) == 1 ? op_infer_dim(ctx, 2, 0) : OP_DIM_UNKNOWN;
  return op_infer_merge_dim(ctx, out[1], bias, "filters of W and B", NULL);
}

// ---- Up to three axes, float --------------------------------------------------------------------------------

// One group of one image: col[m, in] = w'[m, channels] x[channels, in], then onto y. `scatter` is the shape of the
// convolution that this turns around: its input is our output.
typedef struct transposed_shape {
  size_t batch, groups, channels, filters; // channels and filters of a group
  size_t in_size, out_size, kernel_size;
  math_conv_shape scatter;
} transposed_shape;

static bool transposed__describe(const op_node *node, const op_tensor *x, const op_tensor *w,
                                 const op_tensor *y, transposed *self, transposed_shape *s) {
  int64_t group = op_attr_int(node, "group", 1);
  if (x->rank < 3 || w->rank != x->rank || y->rank != x->rank || group < 1) return false;
  if (transposed__read(self, node, x->rank - 2, w->dims + 2)) return false;
  if (w->dims[0] != x->dims[1] || x->dims[1] % group != 0 || y->dims[0] != x->dims[0] ||
      y->dims[1] != w->dims[1] * group)
    return false;
  *s = (transposed_shape){(size_t)x->dims[0],
                          (size_t)group,
                          (size_t)(x->dims[1] / group),
                          (size_t)w->dims[1],
                          1,
                          1,
                          1,
                          {0, 0, 0, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}}};
  s->scatter.batch = 1;
  s->scatter.channels = s->filters;
  for (int32_t i = 0, at = 5 - x->rank; i < x->rank - 2; i++, at++) {
    s->in_size *= (size_t)x->dims[2 + i];
    s->out_size *= (size_t)y->dims[2 + i];
    s->kernel_size *= (size_t)self->axes[i].kernel;
    if (x->rank > 5) continue;
    s->scatter.in[at] = (size_t)y->dims[2 + i];
    s->scatter.out[at] = (size_t)x->dims[2 + i];
    s->scatter.kernel[at] = (size_t)self->axes[i].kernel;
    s->scatter.stride[at] = (size_t)self->axes[i].stride;
    s->scatter.dilation[at] = (size_t)self->axes[i].dilation;
    s->scatter.pad_begin[at] = (ptrdiff_t)transposed__begin(self, i, x->dims[2 + i], y->dims[2 + i]);
  }
  return true;
}

static product transposed__product(const transposed_shape *s) {
  product p = {.batches = 1, .b_count = 1};
  p.m = s->filters * s->kernel_size, p.n = s->in_size, p.k = s->channels;
  p.a_row = 1, p.a_col = (ptrdiff_t)p.m;
  p.b_row = (ptrdiff_t)p.n, p.b_col = 1;
  return p;
}

static size_t transposed__col_floats(const product *p) { return (p->m * p->n + 15) / 16 * 16; }

static bool transposed__is_fast(op_elem elem, int32_t rank) {
  return rank <= 5 && (elem == OP_FLOAT || elem_is_narrow(elem));
}

static os_status transposed__plan(op_plan *ctx) {
  const op_tensor *x = op_plan_input(ctx, 0), *w = op_plan_input(ctx, 1), *y = op_plan_output(ctx, 0);
  transposed self;
  transposed_shape s;
  if (x == NULL || w == NULL || y == NULL || !transposed__is_fast(x->elem, x->rank)) return OS_OK;
  if (!transposed__describe(op_plan_node(ctx), x, w, y, &self, &s)) return OS_OK;
  product p = transposed__product(&s);
  size_t floats = stage_floats(x) + stage_floats(w) + stage_floats(y) + stage_floats(op_plan_input(ctx, 2));
  op_plan_scratch(ctx, (floats + transposed__col_floats(&p)) * sizeof(float) +
                           product_scratch_bytes(&p, false) + 64);
  return OS_OK;
}

static void transposed__run(op_run *ctx, const transposed_shape *s) {
  const op_tensor *b = op_run_input(ctx, 2);
  op_tensor *y = op_run_output(ctx, 0);
  float *scratch = op_run_scratch(ctx);
  const float *x = stage_read(op_run_input(ctx, 0), &scratch),
              *w = stage_read(op_run_input(ctx, 1), &scratch);
  const float *bias = stage_read(b, &scratch);
  float *out = stage_result(y, &scratch);
  product p = transposed__product(s);
  p.c = scratch;
  scratch += transposed__col_floats(&p);
  for (size_t i = 0; i < s->batch * s->groups; i++) {
    float *to = out + i * s->filters * s->out_size;
    size_t group = i % s->groups;
    for (size_t f = 0; f < s->filters; f++)
      for (size_t j = 0; j < s->out_size; j++)
        to[f * s->out_size + j] = bias ? bias[group * s->filters + f] : 0.0f;
    p.a = w + group * s->channels * p.m;
    p.b = x + i * s->channels * s->in_size;
    product_run(ctx, &p, scratch);
    math_col2im_f32(&s->scatter, to, p.c);
  }
  stage_write(y, out);
}

// ---- The plain way: any rank, in double -----------------------------------------------------------------------

// Adds x times the kernel w of one pair of channels onto the plane y.
static void transposed__scatter(const transposed *self, const size_t *in, const size_t *out,
                                const int64_t *begin, size_t rank, double *y, const double *x,
                                const double *w) {
  size_t place[OP_MAX_RANK] = {0}, kernel[OP_MAX_RANK], at = 0;
  for (size_t d = 0; d < rank; d++) kernel[d] = (size_t)self->axes[d].kernel;
  do {
    size_t tap[OP_MAX_RANK] = {0}, k = 0;
    do {
      size_t to = 0;
      bool inside = true;
      for (size_t d = 0; d < rank; d++) {
        int64_t i =
            (int64_t)place[d] * self->axes[d].stride + (int64_t)tap[d] * self->axes[d].dilation - begin[d];
        inside = inside && i >= 0 && i < (int64_t)out[d];
        to = to * out[d] + (size_t)(inside ? i : 0);
      }
      if (inside) y[to] += x[at] * w[k];
      k++;
    } while (kit_next(rank, kernel, tap));
    at++;
  } while (kit_next(rank, in, place));
}

static void transposed__plain(const transposed *self, const transposed_shape *s, const op_tensor *x,
                              const op_tensor *y, double *ys, const double *xs, const double *ws) {
  size_t rank = (size_t)x->rank - 2, in[OP_MAX_RANK], out[OP_MAX_RANK];
  int64_t begin[OP_MAX_RANK];
  for (size_t d = 0; d < rank; d++) {
    in[d] = (size_t)x->dims[2 + d], out[d] = (size_t)y->dims[2 + d];
    begin[d] = transposed__begin(self, (int32_t)d, x->dims[2 + d], y->dims[2 + d]);
  }
  for (size_t i = 0; i < s->batch * s->groups; i++)
    for (size_t c = 0; c < s->channels; c++)
      for (size_t f = 0; f < s->filters; f++)
        transposed__scatter(self, in, out, begin, rank, ys + (i * s->filters + f) * s->out_size,
                            xs + (i * s->channels + c) * s->in_size,
                            ws + ((i % s->groups * s->channels + c) * s->filters + f) * s->kernel_size);
}

static os_status transposed__run_plain(op_run *ctx, const transposed *self, const transposed_shape *s) {
  const op_tensor *x = op_run_input(ctx, 0), *w = op_run_input(ctx, 1);
  const op_tensor *b = op_run_input(ctx, 2);
  op_tensor *y = op_run_output(ctx, 0);
  op_value *wide[3] = {op_run_new_tensor(ctx, OP_DOUBLE, x->rank, x->dims),
                       op_run_new_tensor(ctx, OP_DOUBLE, w->rank, w->dims),
                       op_run_new_tensor(ctx, OP_DOUBLE, y->rank, y->dims)};
  bool room = wide[0] && wide[1] && wide[2];
  if (room) {
    double *xs = op_value_edit(wide[0])->data, *ws = op_value_edit(wide[1])->data,
           *ys = op_value_edit(wide[2])->data;
    math_cast(xs, MATH_F64, x->data, (int)x->elem, (size_t)x->count, NULL);
    math_cast(ws, MATH_F64, w->data, (int)w->elem, (size_t)w->count, NULL);
    size_t filters = s->groups * s->filters;
    for (size_t i = 0; i < (size_t)y->count; i++)
      ys[i] = b ? kit_double(b, (int64_t)(i / s->out_size % filters)) : 0;
    if (x->count > 0) transposed__plain(self, s, x, y, ys, xs, ws);
    math_cast(y->data, (int)y->elem, ys, MATH_F64, (size_t)y->count, NULL);
  }
  for (size_t i = 0; i < 3; i++) op_value_release(wide[i]);
  return room ? OS_OK : OS_OUT_OF_MEMORY;
}

static os_status transposed__compute(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0), *w = op_run_input(ctx, 1);
  const op_tensor *b = op_run_input(ctx, 2);
  op_tensor *y = op_run_output(ctx, 0);
  transposed self;
  transposed_shape s;
  if (!elem_is_float(x->elem) || w->elem != x->elem ||
      !transposed__describe(op_run_node(ctx), x, w, y, &self, &s))
    return op_run_fail(ctx, "the shapes or types of X and W do not match");
  if (b && (b->elem != x->elem || (size_t)b->count != s.groups * s.filters))
    return op_run_fail(ctx, "B has %lld elements of %s, expected %zu", (long long)b->count,
                       op_elem_name(b->elem), s.groups * s.filters);
  if (y->count == 0) return OS_OK;
  if (!transposed__is_fast(x->elem, x->rank)) return transposed__run_plain(ctx, &self, &s);
  transposed__run(ctx, &s);
  return OS_OK;
}

static const op_row rows[] = {
    {.op_type = "ConvTranspose",
     .since = 1,
     .traits = OP_PURE,
     .infer = transposed__infer,
     .plan = transposed__plan,
     .compute = transposed__compute},
};

OP_FAMILY(conv_transpose, rows);
