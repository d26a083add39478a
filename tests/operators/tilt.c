// Tilt: Y = X where X >= 0, else Slope * X / (1 + softness * |X|). Slope broadcasts to X. As a row: linked into a build, or
// in a plug-in (tilt_plugin.c).
#include <opspec/operator.h>

static os_status tilt_infer(op_infer *ctx) {
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(op_infer_broadcast(ctx, 0, 1, dims, &rank));
  if (rank >= 0) op_infer_set_shape(ctx, 0, rank, dims);
  return OS_OK;
}

// Index in a tensor of the element that broadcasts to place `at` of the output.
static int64_t tilt_place(const op_tensor *tensor, const op_tensor *out, int64_t at) {
  int64_t place = 0, step = 1;
  for (int32_t axis = out->rank - 1, own = tensor->rank - 1; axis >= 0 && own >= 0; axis--, own--) {
    if (tensor->dims[own] != 1) place += at % out->dims[axis] * step;
    step *= tensor->dims[own];
    at /= out->dims[axis];
  }
  return place;
}

static os_status tilt_compute(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0), *slope = op_run_input(ctx, 1);
  const float softness = (float)op_attr_float(op_run_node(ctx), "softness", 0);
  op_tensor *y = op_run_output(ctx, 0);
  const float *from = x->data, *slopes = slope->data;
  float *to = y->data;
  for (int64_t i = 0; i < y->count; i++) {
    float v = from[tilt_place(x, y, i)];
    float bent = slopes[tilt_place(slope, y, i)] * v;
    float size = v < 0 ? -v : v;
    float soft = softness * size;
    to[i] = v < 0 ? bent / (1 + soft) : v;
  }
  return OS_OK;
}

static const op_row tilt_rows[] = {{
    .domain = "org.test",
    .op_type = "Tilt",
    .since = 1,
    .traits = OP_PURE,
    .infer = tilt_infer,
    .compute = tilt_compute,
}};
OP_FAMILY(tilt, tilt_rows);
