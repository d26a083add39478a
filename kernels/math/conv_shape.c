/* Convolution: choice of the way, the definition, and columns of patches. */
#include "conv.h"
#include "conv_kit.h"

#include <string.h>

size_t math_conv_out(size_t in, size_t kernel, size_t stride, size_t dilation, ptrdiff_t pad_begin,
                     ptrdiff_t pad_end) {
  ptrdiff_t room = (ptrdiff_t)in + pad_begin + pad_end - (ptrdiff_t)(dilation * (kernel - 1) + 1);
  return room < 0 || kernel == 0 ? 0 : (size_t)room / stride + 1;
}

math_conv_algorithm math_conv_choose(const math_conv_shape *s) {
  bool pointwise = true;
  for (int d = 0; d < 3; d++) {
    if (s->kernel[d] != 1 || s->stride[d] != 1 || s->pad_begin[d] != 0 || s->out[d] != s->in[d])
      pointwise = false;
  }
  if (pointwise && s->channels > s->groups) return MATH_CONV_POINTWISE;
  bool flat = s->kernel[0] == 1 && s->in[0] == 1 && s->out[0] == 1 && s->pad_begin[0] == 0;
  if (s->channels == s->groups && flat) return MATH_CONV_DEPTHWISE;
  if (conv_winograd_fits(s)) return MATH_CONV_WINOGRAD;
  return pointwise ? MATH_CONV_POINTWISE : MATH_CONV_GEMM;
}

size_t math_conv_packed_bytes(const math_conv_shape *s) {
  if (math_conv_choose(s) == MATH_CONV_WINOGRAD) return conv_winograd_packed_bytes(s);
  return s->filters * conv_depth(s) * sizeof(float);
}

void math_conv_pack(const math_conv_shape *s, void *packed, const float *weights) {
  switch (math_conv_choose(s)) {
  case MATH_CONV_DEPTHWISE: memcpy(packed, weights, s->filters * conv_depth(s) * sizeof(float)); break;
  case MATH_CONV_WINOGRAD: conv_winograd_pack(s, packed, weights); break;
  default: conv_dense_pack(s, packed, weights); break;
  }
}

size_t math_conv_scratch_bytes(const math_conv_shape *s) {
  switch (math_conv_choose(s)) {
  case MATH_CONV_DEPTHWISE: return conv_depthwise_scratch_bytes(s);
  case MATH_CONV_WINOGRAD: return conv_winograd_scratch_bytes(s);
  default: return conv_dense_scratch_bytes(s);
  }
}

size_t math_conv_tasks(const math_conv_shape *s) {
  if (conv_volume(s->out) == 0 || s->filters == 0) return 0;
  switch (math_conv_choose(s)) {
  case MATH_CONV_DEPTHWISE: return s->batch * s->groups;
  case MATH_CONV_WINOGRAD: return conv_winograd_tasks(s);
  default: return conv_dense_tasks(s);
  }
}

void math_conv_f32(const math_conv_shape *s, float *y, const float *x, const void *packed,
                   const math_epilogue *epilogue, size_t task_begin, size_t task_end, void *scratch) {
  math_conv_algorithm way = math_conv_choose(s);
  for (size_t task = task_begin; task < task_end; task++) {
    switch (way) {
    case MATH_CONV_DEPTHWISE: conv_depthwise_run(s, y, x, packed, epilogue, task, scratch); break;
    case MATH_CONV_WINOGRAD: conv_winograd_run(s, y, x, packed, epilogue, task, scratch); break;
    default: conv_dense_run(s, y, x, packed, epilogue, task, scratch); break;
    }
  }
}

/* Place in one plane of what kernel element k of output o reads, or -1 in the padding. */
static ptrdiff_t conv__place(const math_conv_shape *s, const size_t o[3], const size_t k[3]) {
  ptrdiff_t place = 0;
  for (int d = 0; d < 3; d++) {
    ptrdiff_t i = (ptrdiff_t)(o[d] * s->stride[d] + k[d] * s->dilation[d]) - s->pad_begin[d];
    if (i < 0 || i >= (ptrdiff_t)s->in[d]) return -1;
    place = place * (ptrdiff_t)s->in[d] + i;
  }
  return place;
}

static void conv__split(size_t index, const size_t axes[3], size_t at[3]) {
  at[2] = index % axes[2];
  at[1] = index / axes[2] % axes[1];
  at[0] = index / axes[2] / axes[1];
}

static double conv__element(const math_conv_shape *s, const float *x, const float *weights,
                            const size_t o[3]) {
  size_t plane = conv_volume(s->in), volume = conv_volume(s->kernel);
  double sum = 0;
  for (size_t c = 0; c < s->channels / s->groups; c++) {
    for (size_t i = 0; i < volume; i++) {
      size_t k[3];
      conv__split(i, s->kernel, k);
      ptrdiff_t place = conv__place(s, o, k);
      if (place >= 0) sum += (double)x[c * plane + (size_t)place] * (double)weights[c * volume + i];
    }
  }
  return sum;
}

void math_conv_reference(const math_conv_shape *s, float *y, const float *x, const float *weights,
                         const float *bias) {
  size_t in = conv_volume(s->in), out = conv_volume(s->out);
  size_t per_group = s->filters / s->groups, channels = s->channels / s->groups;
  for (size_t image = 0; image < s->batch; image++) {
    for (size_t f = 0; f < s->filters; f++) {
      const float *group = x + (image * s->channels + f / per_group * channels) * in;
      for (size_t p = 0; p < out; p++) {
        size_t o[3];
        conv__split(p, s->out, o);
        double sum = conv__element(s, group, weights + f * conv_depth(s), o);
        y[(image * s->filters + f) * out + p] = (float)(sum + (bias ? (double)bias[f] : 0));
      }
    }
  }
}

/* Row (c, k) of the columns against channel c: fn copies one way or adds the other, along runs of the last axis. */
static void conv__columns(const math_conv_shape *s, float *col, float *plane, size_t k_index, bool back) {
  size_t k[3], begin, end;
  conv__split(k_index, s->kernel, k);
  ptrdiff_t shift = (ptrdiff_t)(k[2] * s->dilation[2]) - s->pad_begin[2];
  conv_range(shift, s->stride[2], s->in[2], s->out[2], &begin, &end);
  for (size_t row = 0; row < s->out[0] * s->out[1]; row++, col += s->out[2]) {
    size_t oz = row / s->out[1], oy = row % s->out[1];
    ptrdiff_t iz = (ptrdiff_t)(oz * s->stride[0] + k[0] * s->dilation[0]) - s->pad_begin[0];
    ptrdiff_t iy = (ptrdiff_t)(oy * s->stride[1] + k[1] * s->dilation[1]) - s->pad_begin[1];
    bool inside = iz >= 0 && iz < (ptrdiff_t)s->in[0] && iy >= 0 && iy < (ptrdiff_t)s->in[1] && begin < end;
    if (!inside) {
      if (!back) memset(col, 0, s->out[2] * sizeof(float));
      continue;
    }
    float *line = plane + (iz * (ptrdiff_t)s->in[1] + iy) * (ptrdiff_t)s->in[2];
    const ptrdiff_t step = (ptrdiff_t)s->stride[2];
    if (back) {
      for (size_t o = begin; o < end; o++) line[(ptrdiff_t)o * step + shift] += col[o];
    } else {
      memset(col, 0, begin * sizeof(float));
      for (size_t o = begin; o < end; o++) col[o] = line[(ptrdiff_t)o * step + shift];
      memset(col + end, 0, (s->out[2] - end) * sizeof(float));
    }
  }
}

void math_im2col_f32(const math_conv_shape *s, float *col, const float *x) {
  size_t volume = conv_volume(s->kernel), in = conv_volume(s->in), out = conv_volume(s->out);
  for (size_t i = 0; i < s->channels * volume; i++) {
    /* Only read through: the other direction is what writes to the plane. */
    conv__columns(s, col + i * out, (float *)(uintptr_t)x + i / volume * in, i % volume, false);
  }
}

void math_col2im_f32(const math_conv_shape *s, float *y, const float *col) {
  size_t volume = conv_volume(s->kernel), in = conv_volume(s->in), out = conv_volume(s->out);
  for (size_t i = 0; i < s->channels * volume; i++) {
    conv__columns(s, (float *)(uintptr_t)col + i * out, y + i / volume * in, i % volume, true);
  }
}
