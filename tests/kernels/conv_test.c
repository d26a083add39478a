#include "conv.h"

#include "check.h"
#include "sample.h"

static size_t volume(const size_t axes[3]) { return axes[0] * axes[1] * axes[2]; }

static bool random_shape(sample_random *r, math_conv_shape *s, int kind) {
  memset(s, 0, sizeof *s);
  s->batch = 1 + sample_below(r, 2);
  s->groups = 1 + sample_below(r, kind == 0 ? 6 : 3);
  s->channels = s->groups * (kind == 0 ? 1 : kind == 1 ? 40 : 1 + sample_below(r, 6));
  s->filters = s->groups * (kind == 1 ? 5 + sample_below(r, 70) : 1 + sample_below(r, 9));
  size_t rank = 1 + sample_below(r, 3);
  for (size_t d = 0; d < 3; d++) {
    s->in[d] = s->kernel[d] = s->out[d] = s->stride[d] = s->dilation[d] = 1;
    if (d < 3 - rank) continue;
    s->in[d] = 1 + sample_below(r, rank == 3 ? 7 : 21);
    s->kernel[d] = kind == 2 ? 1 : kind == 3 ? 3 : 1 + sample_below(r, 5);
    s->stride[d] = kind == 2 ? 1 : 1 + sample_below(r, 3);
    s->dilation[d] = 1 + sample_below(r, 2);
    s->pad_begin[d] = kind == 2 ? 0 : (ptrdiff_t)sample_below(r, 5) - 1;
    ptrdiff_t pad_end = kind == 2 ? 0 : (ptrdiff_t)sample_below(r, 4);
    s->out[d] = math_conv_out(s->in[d], s->kernel[d], s->stride[d], s->dilation[d], s->pad_begin[d], pad_end);
    if (s->out[d] == 0) return false;
  }
  if (kind == 5) { // what Winograd's way takes: 3 x 3, dense steps
    const math_conv_shape square = {s->batch,
                                    s->groups * (16 + sample_below(r, 20)),
                                    s->groups * (16 + sample_below(r, 9)),
                                    s->groups,
                                    {1, 4 + sample_below(r, 12), 4 + sample_below(r, 12)},
                                    {1, 3, 3},
                                    {1, 0, 0},
                                    {1, 1, 1},
                                    {1, 1, 1},
                                    {0, (ptrdiff_t)sample_below(r, 3), (ptrdiff_t)sample_below(r, 4) - 1}};
    *s = square;
    for (int d = 1; d < 3; d++)
      s->out[d] = math_conv_out(s->in[d], 3, 1, 1, s->pad_begin[d], (ptrdiff_t)sample_below(r, 3));
    return math_conv_choose(s) == MATH_CONV_WINOGRAD;
  }
  return true;
}

static void check_shape(sample_random *r, const math_conv_shape *s, int with_epilogue) {
  size_t k = s->channels / s->groups * volume(s->kernel), nx = s->batch * s->channels * volume(s->in);
  size_t ny = s->batch * s->filters * volume(s->out), nw = s->filters * k;
  float *x = sample_alloc(nx * 4), *y = sample_alloc(ny * 4), *z = sample_alloc(ny * 4),
        *w = sample_alloc(nw * 4);
  float *want = sample_alloc(ny * 4), *bias = sample_alloc(s->filters * 4), *residual = sample_alloc(ny * 4);
  sample_floats(r, x, nx, -1, 1);
  sample_floats(r, w, nw, -1, 1);
  sample_floats(r, bias, s->filters, -1, 1);
  sample_floats(r, residual, ny, -1, 1);
  void *packed = sample_alloc(math_conv_packed_bytes(s)), *scratch = sample_alloc(math_conv_scratch_bytes(s));
  math_conv_pack(s, packed, w);
  math_epilogue e = MATH_EPILOGUE_NONE;
  e.bias = bias, e.bias_kind = MATH_BIAS_ROW, e.residual = residual, e.loop = LOOP_relu_f32;
  const math_epilogue *used = with_epilogue ? &e : NULL;
  size_t tasks = math_conv_tasks(s), cut = tasks / 3;
  math_conv_f32(s, y, x, packed, used, 0, tasks, scratch);
  math_conv_f32(s, z, x, packed, used, cut, tasks, scratch);
  math_conv_f32(s, z, x, packed, used, 0, cut, scratch);
  CHECK(memcmp(y, z, ny * 4) == 0);
  math_conv_reference(s, want, x, w, with_epilogue ? bias : NULL);
  double worst = 0;
  for (size_t i = 0; i < ny; i++) {
    double v = (double)want[i];
    if (with_epilogue) v = v + (double)residual[i] > 0 ? v + (double)residual[i] : 0;
    worst = fmax(worst, fabs(v - (double)y[i]));
  }
  if (!CHECK(worst <= 3e-7 * ((double)k + 4)))
    printf("  way %d, depth %zu, error %g\n", math_conv_choose(s), k, worst);
  free(x), free(y), free(z), free(w), free(want), free(bias), free(residual), free(packed), free(scratch);
}

// Columns of patches against the definition of a convolution with one weight set, and back against their transposition.
static void check_columns(sample_random *r, math_conv_shape s) {
  s.batch = s.groups = 1;
  size_t k = volume(s.kernel), in = volume(s.in), out = volume(s.out), rows = s.channels * k;
  float *x = sample_alloc(s.channels * in * 4), *col = sample_alloc(rows * out * 4),
        *y = sample_alloc(out * 4);
  float *w = sample_alloc(rows * 4), *back = sample_alloc(s.channels * in * 4);
  sample_floats(r, x, s.channels * in, -1, 1);
  math_im2col_f32(&s, col, x);
  s.filters = 1;
  for (size_t row = 0; row < rows; row++) {
    memset(w, 0, rows * 4);
    w[row] = 1;
    math_conv_reference(&s, y, x, w, NULL);
    int good = 1;
    for (size_t i = 0; i < out; i++) good &= y[i] == col[row * out + i];
    CHECK(good);
  }
  // <col2im(c), x> = <c, im2col(x)>
  float *c = sample_alloc(rows * out * 4);
  sample_floats(r, c, rows * out, -1, 1);
  memset(back, 0, s.channels * in * 4);
  math_col2im_f32(&s, back, c);
  double left = 0, right = 0;
  for (size_t i = 0; i < s.channels * in; i++) left += (double)back[i] * (double)x[i];
  for (size_t i = 0; i < rows * out; i++) right += (double)c[i] * (double)col[i];
  CHECK(fabs(left - right) <= 1e-5 * (1 + sqrt((double)(rows * out))));
  free(x), free(col), free(y), free(w), free(back), free(c);
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  int ways[4] = {0};
  for (int i = 0; i < 360; i++) {
    math_conv_shape s;
    if (!random_shape(&r, &s, i % 6)) continue;
    ways[math_conv_choose(&s)]++;
    check_shape(&r, &s, i % 3 != 0);
    if (i % 12 == 4) check_columns(&r, s);
  }
  CHECK(ways[MATH_CONV_GEMM] > 20 && ways[MATH_CONV_POINTWISE] > 20 && ways[MATH_CONV_DEPTHWISE] > 20 &&
        ways[MATH_CONV_WINOGRAD] > 5);
  // A kernel line longer than the depthwise loop keeps offsets for, and an empty output.
  math_conv_shape longer = {1, 3, 3, 3, {1, 1, 40}, {1, 1, 19}, {1, 1, 22}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  check_shape(&r, &longer, 1);
  // More channels than one block of depth, more tiles than one task.
  math_conv_shape deep = {1, 150, 18, 1, {1, 5, 45}, {1, 3, 3}, {1, 5, 45}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
  CHECK_EQ(math_conv_choose(&deep), MATH_CONV_WINOGRAD);
  check_shape(&r, &deep, 1);
  longer.out[2] = 0;
  CHECK_EQ(math_conv_tasks(&longer), 0);
  CHECK_EQ(math_conv_out(3, 5, 1, 1, 0, 0), 0);
  CHECK_EQ(math_conv_out(5, 3, 2, 1, 1, 1), 3);
  return CHECK_END();
}
