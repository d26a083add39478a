/* Pooling. f32 maxima and averages are separable: the window's lines are joined first, whole vectors at a time, then the
 * columns of the joined line. Everything else visits the window of each output. */
#include "pooling.h"
#include "scalars.h"
#include "simd.h"

#include <math.h>

size_t math_pool_out(size_t in, size_t kernel, size_t stride, size_t dilation, ptrdiff_t pad_begin,
                     ptrdiff_t pad_end, bool ceil) {
  ptrdiff_t room = (ptrdiff_t)in + pad_begin + pad_end - (ptrdiff_t)(dilation * (kernel - 1) + 1);
  if (room < 0) return 0;
  size_t out = ((size_t)room + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (ptrdiff_t)((out - 1) * stride) >= (ptrdiff_t)in + pad_begin) out--;
  return out;
}

/* The kernel elements of one axis that lie in the plane for an output: first, one past the last; and where the first is. */
typedef struct pool__window {
  size_t begin[3], end[3];
  ptrdiff_t from[3]; /* place of kernel element 0, perhaps outside */
  size_t divisor;
} pool__window;

static void pool__axis(const math_pool_shape *s, int d, size_t o, pool__window *w) {
  ptrdiff_t from = (ptrdiff_t)(o * s->stride[d]) - s->pad_begin[d], step = (ptrdiff_t)s->dilation[d];
  ptrdiff_t last = (ptrdiff_t)s->in[d] - 1 - from;
  size_t begin = from >= 0 ? 0 : (size_t)((-from + step - 1) / step);
  size_t end = last < 0 ? 0 : (size_t)(last / step) + 1;
  if (end > s->kernel[d]) end = s->kernel[d];
  w->from[d] = from;
  w->begin[d] = begin < end ? begin : end;
  w->end[d] = end;
}

/* Kernel elements of one axis that count: those in the plane, or also those in the pads (not the overhang of a rounded-up
 * last window). */
static size_t pool__count(const math_pool_shape *s, int d, const pool__window *w) {
  if (!s->count_include_pad) return w->end[d] - w->begin[d];
  ptrdiff_t last = (ptrdiff_t)s->in[d] + s->pad_end[d] - 1 - w->from[d];
  size_t end = last < 0 ? 0 : (size_t)last / s->dilation[d] + 1;
  return end < s->kernel[d] ? end : s->kernel[d];
}

static void pool__find(const math_pool_shape *s, size_t p, pool__window *w) {
  pool__axis(s, 2, p % s->out[2], w);
  pool__axis(s, 1, p / s->out[2] % s->out[1], w);
  pool__axis(s, 0, p / s->out[2] / s->out[1], w);
  w->divisor = pool__count(s, 0, w) * pool__count(s, 1, w) * pool__count(s, 2, w);
}

#define EACH(s, w, at)                                                                       \
  for (size_t kz = (w).begin[0]; kz < (w).end[0]; kz++)                                      \
    for (size_t ky = (w).begin[1]; ky < (w).end[1]; ky++)                                    \
      for (size_t kx = (w).begin[2], at = pool__place(s, &(w), kz, ky, kx); kx < (w).end[2]; \
           kx++, at += (s)->dilation[2])

static size_t pool__place(const math_pool_shape *s, const pool__window *w, size_t kz, size_t ky, size_t kx) {
  ptrdiff_t z = w->from[0] + (ptrdiff_t)(kz * s->dilation[0]),
            y = w->from[1] + (ptrdiff_t)(ky * s->dilation[1]);
  ptrdiff_t x = w->from[2] + (ptrdiff_t)(kx * s->dilation[2]);
  return (size_t)((z * (ptrdiff_t)s->in[1] + y) * (ptrdiff_t)s->in[2] + x);
}

/* The index that max pooling reports for a place in plane `plane`. */
static int64_t pool__index(const math_pool_shape *s, size_t plane, size_t place) {
  size_t volume = s->in[0] * s->in[1] * s->in[2];
  if (s->column_major) {
    size_t x = place % s->in[2], y = place / s->in[2] % s->in[1], z = place / s->in[2] / s->in[1];
    place = z + s->in[0] * (y + s->in[1] * x);
  }
  return (int64_t)(plane * volume + place);
}

static double pool__read(int type, const void *x, size_t at) {
  switch (type) {
  case MATH_F32: return (double)((const float *)x)[at];
  case MATH_F64: return ((const double *)x)[at];
  case MATH_I8: return ((const int8_t *)x)[at];
  default: return ((const uint8_t *)x)[at];
  }
}

static void pool__write(int type, void *y, size_t at, double value) {
  switch (type) {
  case MATH_F32: ((float *)y)[at] = (float)value; break;
  case MATH_F64: ((double *)y)[at] = value; break;
  default: ((uint8_t *)y)[at] = (uint8_t)(int32_t)value; break;
  }
}

/* The largest element of nothing. */
static double pool__lowest(int type) {
  return type == MATH_I8 ? INT8_MIN : type == MATH_U8 ? 0 : -(double)__builtin_inf();
}

static double pool__power(double x, double p) {
  double a = fabs(x);
  return p == 2 ? a * a : p == 1 ? a : math_pow(a, p);
}

static double pool__root(double x, double p) { return p == 2 ? sqrt(x) : p == 1 ? x : math_pow(x, 1 / p); }

typedef enum pool__way { POOL_LARGEST, POOL_AVERAGE, POOL_POWER } pool__way;

/* Window by window, in double, which holds every element exactly. */
static void pool__windows(pool__way way, const math_pool_shape *s, int type, double power, void *y,
                          int64_t *indices, const void *x, size_t begin, size_t end) {
  size_t in = s->in[0] * s->in[1] * s->in[2], out = s->out[0] * s->out[1] * s->out[2];
  for (size_t i = begin * out; i < end * out; i++) {
    const size_t plane = i / out;
    pool__window w;
    pool__find(s, i % out, &w);
    double total = way == POOL_LARGEST ? pool__lowest(type) : 0;
    size_t place = 0;
    bool any = false;
    EACH(s, w, at) {
      const double v = pool__read(type, x, plane * in + at);
      if (way == POOL_AVERAGE) {
        total += v;
      } else if (way == POOL_POWER) {
        total += pool__power(v, power);
      } else if (!any || v > total || (v != v && total == total)) {
        total = v;
        place = at;
        any = true;
      }
    }
    if (way == POOL_AVERAGE) total = w.divisor ? total / (double)w.divisor : 0;
    if (way == POOL_POWER) total = pool__root(total, power);
    pool__write(type, y, i, total);
    if (indices) indices[i] = pool__index(s, plane, place);
  }
}

enum { LINE = 2048, CHUNK = 256 }; /* floats of the joined line; outputs that one such line serves at most */

typedef struct pool__chunk {
  size_t begin, count; /* outputs of the last axis */
  size_t width;        /* floats of the line behind them */
} pool__chunk;

typedef enum pool__kind { POOL_SUM, POOL_MAX } pool__kind;

/* Maxima that need not look out for NaN are one instruction: planes with NaN go window by window. */
SIMD_INLINE f32x4 pool__joined(const pool__kind kind, f32x4 a, f32x4 b) {
  return kind == POOL_SUM ? a + b : f32x4_pmax(a, b);
}

SIMD_INLINE float pool__identity(const pool__kind kind) { return kind == POOL_SUM ? 0 : -__builtin_inff(); }

static bool pool__has_nan(const float *x, size_t n) {
  i32x4 nan = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    f32x4 v = f32x4_load(x + i);
    nan |= v != v;
  }
  for (; i < n; i++) nan |= f32x4_splat(x[i]) != f32x4_splat(x[i]);
  return i32x4_any(nan);
}

/* line[i] = the window's lines at column (begin stride - pad + i), joined; the identity outside of the plane. */
SIMD_INLINE void pool__join_lines(const pool__kind kind, const math_pool_shape *s, const pool__window *w,
                                  const float *plane, const pool__chunk *c, float *line) {
  const ptrdiff_t left = (ptrdiff_t)(c->begin * s->stride[2]) - s->pad_begin[2];
  ptrdiff_t begin = left < 0 ? -left : 0, end = (ptrdiff_t)s->in[2] - left;
  if (end > (ptrdiff_t)c->width) end = (ptrdiff_t)c->width;
  bool empty = w->begin[0] >= w->end[0] || w->begin[1] >= w->end[1] || begin >= end;
  if (empty) begin = end = 0;
  simd_fill(line, pool__identity(kind), (size_t)begin);
  simd_fill(line + end, pool__identity(kind), c->width + 16 - (size_t)end);
  if (empty) return;
  for (size_t kz = w->begin[0]; kz < w->end[0]; kz++) {
    for (size_t ky = w->begin[1]; ky < w->end[1]; ky++) {
      ptrdiff_t z = w->from[0] + (ptrdiff_t)(kz * s->dilation[0]),
                y = w->from[1] + (ptrdiff_t)(ky * s->dilation[1]);
      const float *row = plane + (z * (ptrdiff_t)s->in[1] + y) * (ptrdiff_t)s->in[2] + left;
      ptrdiff_t i = begin;
      if (kz == w->begin[0] && ky == w->begin[1]) {
        simd_copy(line + i, row + i, (size_t)(end - begin) * sizeof(float));
        continue;
      }
      for (; i + 4 <= end; i += 4)
        f32x4_store(line + i, pool__joined(kind, f32x4_load(line + i), f32x4_load(row + i)));
      for (; i < end; i++) line[i] = pool__joined(kind, f32x4_splat(line[i]), f32x4_splat(row[i]))[0];
    }
  }
}

/* Four outputs from the joined line, which goes on for 16 floats behind the last one needed. */
SIMD_INLINE f32x4 pool__join_columns(const pool__kind kind, const float *line, size_t kernel,
                                     const size_t stride, size_t dilation) {
  f32x4 sum = f32x4_splat(pool__identity(kind));
  for (size_t k = 0; k < kernel; k++, line += dilation) {
    f32x4 v;
    if (stride == 1) {
      v = f32x4_load(line);
    } else if (stride == 2) {
      v = __builtin_shufflevector(f32x4_load(line), f32x4_load(line + 4), 0, 2, 4, 6);
    } else {
      v = (f32x4){line[0], line[stride], line[2 * stride], line[3 * stride]};
    }
    sum = pool__joined(kind, sum, v);
  }
  return sum;
}

static void pool__divide(const math_pool_shape *s, pool__window *w, float *y, const pool__chunk *c) {
  size_t outer = pool__count(s, 0, w) * pool__count(s, 1, w);
  for (size_t i = 0; i < c->count; i++) {
    pool__axis(s, 2, c->begin + i, w);
    size_t divisor = outer * pool__count(s, 2, w);
    y[i] = divisor ? y[i] / (float)divisor : 0;
  }
}

SIMD_INLINE void pool__chunk_run(const pool__kind kind, const math_pool_shape *s, pool__window *w, float *y,
                                 const float *plane, const pool__chunk *c) {
  float line[LINE + 16];
  const size_t stride = s->stride[2];
  pool__join_lines(kind, s, w, plane, c, line);
  size_t i = 0;
  for (; i + 4 <= c->count; i += 4) {
    const float *at = line + i * stride;
    f32x4_store(y + i, stride == 1   ? pool__join_columns(kind, at, s->kernel[2], 1, s->dilation[2])
                       : stride == 2 ? pool__join_columns(kind, at, s->kernel[2], 2, s->dilation[2])
                                     : pool__join_columns(kind, at, s->kernel[2], stride, s->dilation[2]));
  }
  for (; i < c->count; i++) {
    f32x4 sum = f32x4_splat(pool__identity(kind));
    for (size_t k = 0; k < s->kernel[2]; k++)
      sum = pool__joined(kind, sum, f32x4_splat(line[i * stride + k * s->dilation[2]]));
    y[i] = sum[0];
  }
  if (kind == POOL_SUM) pool__divide(s, w, y, c);
}

static void pool__plane(const pool__kind kind, const math_pool_shape *s, float *y, const float *plane,
                        size_t chunk, size_t reach) {
  for (size_t row = 0; row < s->out[0] * s->out[1]; row++, y += s->out[2]) {
    pool__window w;
    pool__axis(s, 0, row / s->out[1], &w);
    pool__axis(s, 1, row % s->out[1], &w);
    for (size_t o = 0; o < s->out[2]; o += chunk) {
      pool__chunk c = {o, s->out[2] - o < chunk ? s->out[2] - o : chunk, 0};
      c.width = (c.count - 1) * s->stride[2] + reach;
      if (kind == POOL_SUM) {
        pool__chunk_run(POOL_SUM, s, &w, y + o, plane, &c);
      } else {
        pool__chunk_run(POOL_MAX, s, &w, y + o, plane, &c);
      }
    }
  }
}

static void pool__separable(bool largest, const math_pool_shape *s, float *y, const float *x, size_t begin,
                            size_t end) {
  size_t in = s->in[0] * s->in[1] * s->in[2], out = s->out[0] * s->out[1] * s->out[2];
  size_t reach = (s->kernel[2] - 1) * s->dilation[2] + 1, chunk = (LINE - reach) / s->stride[2] + 1;
  if (chunk > CHUNK) chunk = CHUNK;
  for (size_t plane = begin; plane < end; plane++) {
    if (largest && pool__has_nan(x + plane * in, in)) {
      pool__windows(POOL_LARGEST, s, MATH_F32, 0, y, NULL, x, plane, plane + 1);
      continue;
    }
    pool__plane(largest ? POOL_MAX : POOL_SUM, s, y + plane * out, x + plane * in, chunk, reach);
  }
}

static bool pool__fits(const math_pool_shape *s) {
  return (s->kernel[2] - 1) * s->dilation[2] + 1 <= LINE / 2;
}

bool math_max_pool(const math_pool_shape *s, int type, void *y, int64_t *indices, const void *x,
                   size_t plane_begin, size_t plane_end) {
  if (type != MATH_F32 && type != MATH_F64 && type != MATH_I8 && type != MATH_U8) return false;
  if (type == MATH_F32 && !indices && pool__fits(s)) {
    pool__separable(true, s, y, x, plane_begin, plane_end);
  } else {
    pool__windows(POOL_LARGEST, s, type, 0, y, indices, x, plane_begin, plane_end);
  }
  return true;
}

bool math_average_pool(const math_pool_shape *s, int type, void *y, const void *x, size_t plane_begin,
                       size_t plane_end) {
  if (type != MATH_F32 && type != MATH_F64) return false;
  if (type == MATH_F32 && pool__fits(s)) {
    pool__separable(false, s, y, x, plane_begin, plane_end);
  } else {
    pool__windows(POOL_AVERAGE, s, type, 0, y, NULL, x, plane_begin, plane_end);
  }
  return true;
}

bool math_lp_pool(const math_pool_shape *s, int type, double p, void *y, const void *x, size_t plane_begin,
                  size_t plane_end) {
  if (type != MATH_F32 && type != MATH_F64) return false;
  pool__windows(POOL_POWER, s, type, p, y, NULL, x, plane_begin, plane_end);
  return true;
}
