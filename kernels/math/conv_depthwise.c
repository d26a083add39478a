/* Depthwise convolution: the plane is copied with its padding, columns sorted by their remainder modulo the stride, so that
 * every tap of every stride reads adjacent floats and no tap needs a bound. */
#include "conv_kit.h"
#include "simd.h"

enum { TAPS = 16 }; /* longest kernel line with offsets in an array */

typedef struct depthwise__layout {
  size_t rows, phases, length; /* length of one phase of a row, with room for whole vectors */
} depthwise__layout;

static depthwise__layout depthwise__lay_out(const math_conv_shape *s) {
  size_t columns = (s->out[2] - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1;
  size_t phases = s->stride[2];
  return (depthwise__layout){(s->out[1] - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1, phases,
                             ((columns + phases - 1) / phases + 8 + 3) / 4 * 4};
}

size_t conv_depthwise_scratch_bytes(const math_conv_shape *s) {
  if (conv_volume(s->out) == 0) return 0;
  depthwise__layout l = depthwise__lay_out(s);
  return l.rows * l.phases * l.length * sizeof(float);
}

/* Every phases-th float of a line. */
static void depthwise__pick(float *dst, const float *line, size_t phases, size_t n) {
  size_t i = 0;
  if (phases == 1) {
    simd_copy(dst, line, n * sizeof(float));
    return;
  }
  if (phases == 2) {
    for (; i + 5 <= n; i += 4, line += 8) {
      f32x4_store(dst + i, __builtin_shufflevector(f32x4_load(line), f32x4_load(line + 4), 0, 2, 4, 6));
    }
  }
  for (; i < n; i++, line += phases) dst[i] = *line;
}

static void depthwise__fill(const math_conv_shape *s, const depthwise__layout *l, float *padded,
                            const float *plane) {
  for (size_t r = 0; r < l->rows; r++) {
    ptrdiff_t iy = (ptrdiff_t)r - s->pad_begin[1];
    for (size_t phase = 0; phase < l->phases; phase++, padded += l->length) {
      size_t begin = 0, end = 0;
      ptrdiff_t shift = (ptrdiff_t)phase - s->pad_begin[2];
      if (iy >= 0 && iy < (ptrdiff_t)s->in[1])
        conv_range(shift, l->phases, s->in[2], l->length, &begin, &end);
      simd_fill(padded, 0, begin);
      if (begin < end) {
        const float *line = plane + iy * (ptrdiff_t)s->in[2] + shift;
        depthwise__pick(padded + begin, line + begin * l->phases, l->phases, end - begin);
      }
      simd_fill(padded + end, 0, l->length - end);
    }
  }
}

static __attribute__((noinline, minsize)) void depthwise__store_part(float *out, f32x4 a, f32x4 b,
                                                                     size_t count) {
  float both[8];
  f32x4_store(both, a);
  f32x4_store(both + 4, b);
  for (size_t i = 0; i < count; i++) out[i] = both[i];
}

/* `lines` lines of output at once, `step` input lines apart, so that an input line is loaded once for both. rows is the
 * distance between input lines, offsets the place of each kernel column. An output's sum runs over the kernel in order,
 * however many lines go together. */
SIMD_INLINE void depthwise__lines(const size_t kh, const size_t kw, const size_t step, const size_t lines,
                                  float *y, size_t y_stride, const float *from, size_t rows,
                                  const size_t *offsets, const float *weights, size_t n) {
  for (size_t o = 0; o < n; o += 8) {
    f32x4 sum[2][2] = {{{0}}};
    const float *line = from + o;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < kh + (lines - 1) * step; r++, line += rows) {
#pragma clang loop unroll(full)
      for (size_t kx = 0; kx < kw; kx++) {
        f32x4 a = f32x4_load(line + offsets[kx]), b = f32x4_load(line + offsets[kx] + 4);
#pragma clang loop unroll(full)
        for (size_t l = 0; l < lines; l++) {
          if (r < l * step || r - l * step >= kh) continue;
          f32x4 w = f32x4_splat(weights[(r - l * step) * kw + kx]);
          sum[l][0] = f32x4_madd(w, a, sum[l][0]);
          sum[l][1] = f32x4_madd(w, b, sum[l][1]);
        }
      }
    }
    size_t left = n - o;
#pragma clang loop unroll(full)
    for (size_t l = 0; l < lines; l++) {
      float *out = y + l * y_stride + o;
      if (left >= 8) {
        f32x4_store(out, sum[l][0]);
        f32x4_store(out + 4, sum[l][1]);
      } else {
        depthwise__store_part(out, sum[l][0], sum[l][1], left);
      }
    }
  }
}

/* Kernel lines longer than the array of offsets. */
static void depthwise__line_any(const math_conv_shape *s, const depthwise__layout *l, float *y,
                                const float *from, size_t rows, const float *weights) {
  for (size_t o = 0; o < s->out[2]; o++) {
    f32x4 sum = f32x4_splat(0);
    for (size_t ky = 0; ky < s->kernel[1]; ky++) {
      for (size_t kx = 0; kx < s->kernel[2]; kx++) {
        size_t place = kx * s->dilation[2];
        float x = from[ky * rows + place % l->phases * l->length + place / l->phases + o];
        sum = f32x4_madd(f32x4_splat(weights[ky * s->kernel[2] + kx]), f32x4_splat(x), sum);
      }
    }
    y[o] = sum[0];
  }
}

static void depthwise__plane(const math_conv_shape *s, const depthwise__layout *l, float *y,
                             const float *padded, const float *weights) {
  const size_t kh = s->kernel[1], kw = s->kernel[2], line = l->phases * l->length;
  size_t offsets[TAPS];
  for (size_t kx = 0; kx < kw && kx < TAPS; kx++) {
    size_t place = kx * s->dilation[2];
    offsets[kx] = place % l->phases * l->length + place / l->phases;
  }
  const size_t rows = s->dilation[1] * line, width = s->out[2];
  const size_t step =
      s->dilation[1] == 1 ? s->stride[1] : 0; /* pairs of lines only where they share input lines */
  for (size_t o = 0; o < s->out[1];) {
    const float *from = padded + o * s->stride[1] * line;
    float *out = y + o * width;
    bool pair = o + 2 <= s->out[1];
    if (pair && kh == 3 && kw == 3 && step == 1) {
      depthwise__lines(3, 3, 1, 2, out, width, from, rows, offsets, weights, width);
    } else if (pair && kh == 3 && kw == 3 && step == 2) {
      depthwise__lines(3, 3, 2, 2, out, width, from, rows, offsets, weights, width);
    } else if (pair && kh == 5 && kw == 5 && step == 1) {
      depthwise__lines(5, 5, 1, 2, out, width, from, rows, offsets, weights, width);
    } else {
      pair = false;
      if (kw <= TAPS) {
        depthwise__lines(kh, kw, 1, 1, out, width, from, rows, offsets, weights, width);
      } else {
        depthwise__line_any(s, l, out, from, rows, weights);
      }
    }
    o += pair ? 2 : 1;
  }
}

void conv_depthwise_run(const math_conv_shape *s, float *y, const float *x, const float *weights,
                        const math_epilogue *epilogue, size_t task, void *scratch) {
  depthwise__layout l = depthwise__lay_out(s);
  size_t in = conv_volume(s->in), out = conv_volume(s->out), volume = conv_volume(s->kernel);
  size_t image = task / s->groups, channel = task % s->groups, per_channel = s->filters / s->groups;
  float *images = y + image * s->filters * out;
  depthwise__fill(s, &l, scratch, x + task * in);
  for (size_t f = channel * per_channel; f < (channel + 1) * per_channel; f++) {
    depthwise__plane(s, &l, images + f * out, scratch, weights + f * volume);
    if (!epilogue) continue;
    math_epilogue own = conv_epilogue(s, epilogue, image);
    math_epilogue_apply(&own, images, (ptrdiff_t)out, f, f + 1, 0, out);
  }
}
