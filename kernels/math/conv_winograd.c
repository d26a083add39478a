/* 3x3 convolution by Winograd's F(2x2, 3x3): two by two outputs from a patch of four by four with 16 products instead of 36.
 * Patches and kernels are transformed (sums and halves only, so that the error stays that of the direct way), each of the 16
 * positions is a matrix product over the channels, and the products are transformed back. */
#include "conv_kit.h"
#include "gemm_kit.h"
#include "simd.h"

enum { TILES = 32, DEPTH = 128, ROWS = 64, POSITIONS = 16, SPAN = 2 * TILES + 2 + 8 };

bool conv_winograd_fits(const math_conv_shape *s) {
  size_t rows = s->filters / s->groups, k = s->channels / s->groups;
  if (s->kernel[0] != 1 || s->kernel[1] != 3 || s->kernel[2] != 3 || s->in[0] != 1 || s->out[0] != 1)
    return false;
  if (s->pad_begin[0] != 0 || k < 16 || rows < 16 || s->out[1] < 4 || s->out[2] < 4) return false;
  return s->stride[1] == 1 && s->stride[2] == 1 && s->dilation[1] == 1 && s->dilation[2] == 1;
}

static size_t winograd__depth(size_t k) {
  size_t blocks = (k + DEPTH - 1) / DEPTH;
  return (k + blocks - 1) / blocks;
}

static size_t winograd__columns(const math_conv_shape *s) { return (s->out[2] + 1) / 2; }

static size_t winograd__tiles(const math_conv_shape *s) { return (s->out[1] + 1) / 2 * winograd__columns(s); }

size_t conv_winograd_packed_bytes(const math_conv_shape *s) {
  return POSITIONS * s->filters * (s->channels / s->groups) * sizeof(float);
}

size_t conv_winograd_tasks(const math_conv_shape *s) {
  return s->batch * s->groups * ((winograd__tiles(s) + TILES - 1) / TILES);
}

typedef struct winograd__scratch {
  float *patches;  /* [position][panel][depth][8] */
  float *products; /* [position][filter][TILES] */
  float *lines;    /* [position][TILES], of one channel; or two lines of outputs */
} winograd__scratch;

static winograd__scratch winograd__lay_out(const math_conv_shape *s, void *scratch) {
  winograd__scratch w;
  w.patches = scratch;
  w.products = w.patches + POSITIONS * winograd__depth(s->channels / s->groups) * TILES;
  w.lines = w.products + POSITIONS * (s->filters / s->groups) * TILES;
  return w;
}

size_t conv_winograd_scratch_bytes(const math_conv_shape *s) {
  size_t k = winograd__depth(s->channels / s->groups), rows = s->filters / s->groups;
  return (POSITIONS * (k + rows) * TILES + POSITIONS * TILES) * sizeof(float);
}

/* G g G' with G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1]. */
static void winograd__kernel(double out[POSITIONS], const float g[9]) {
  double half[4][3];
  for (int x = 0; x < 3; x++) {
    double a = (double)g[x], b = (double)g[3 + x], c = (double)g[6 + x];
    half[0][x] = a;
    half[1][x] = 0.5 * (a + b + c);
    half[2][x] = 0.5 * (a - b + c);
    half[3][x] = c;
  }
  for (int y = 0; y < 4; y++) {
    double a = half[y][0], b = half[y][1], c = half[y][2];
    out[y * 4] = a;
    out[y * 4 + 1] = 0.5 * (a + b + c);
    out[y * 4 + 2] = 0.5 * (a - b + c);
    out[y * 4 + 3] = c;
  }
}

/* Of each group, block of depth by block of depth, position by position: the strips of gemm_kit.h. */
void conv_winograd_pack(const math_conv_shape *s, float *packed, const float *weights) {
  size_t k = s->channels / s->groups, rows = s->filters / s->groups, step = winograd__depth(k);
  for (size_t g = 0; g < s->groups; g++) {
    for (size_t p = 0; p < k; p += step) {
      size_t depth = k - p < step ? k - p : step;
      for (size_t f = 0; f < rows; f++) {
        size_t strip = f / GEMM_MR * GEMM_MR, height = rows - strip < GEMM_MR ? rows - strip : GEMM_MR;
        for (size_t c = 0; c < depth; c++) {
          double u[POSITIONS];
          winograd__kernel(u, weights + ((g * rows + f) * k + p + c) * 9);
          float *out = packed + strip * depth + c * height + f % GEMM_MR;
          for (size_t i = 0; i < POSITIONS; i++) out[i * rows * depth] = (float)u[i];
        }
      }
      packed += POSITIONS * rows * depth;
    }
  }
}

/* Adjacent tiles of one row of tiles: `at` counts within the task. */
typedef struct winograd__run {
  size_t at, count, row, column;
} winograd__run;

static size_t winograd__find_runs(const math_conv_shape *s, winograd__run *runs, size_t begin, size_t count) {
  size_t columns = winograd__columns(s), found = 0;
  for (size_t at = 0; at < count;) {
    size_t column = (begin + at) % columns, left = columns - column,
           n = left < count - at ? left : count - at;
    runs[found++] = (winograd__run){at, n, (begin + at) / columns, column};
    at += n;
  }
  return found;
}

/* The four input lines behind a run, with zeros outside of the plane and behind the end. */
static void winograd__load_lines(const math_conv_shape *s, float lines[4][SPAN], const winograd__run *run,
                                 const float *plane) {
  ptrdiff_t left = (ptrdiff_t)(2 * run->column) - s->pad_begin[2];
  size_t width = 2 * run->count + 2, begin, end;
  conv_range(left, 1, s->in[2], width, &begin, &end);
  for (size_t y = 0; y < 4; y++) {
    ptrdiff_t iy = (ptrdiff_t)(2 * run->row + y) - s->pad_begin[1];
    bool inside = iy >= 0 && iy < (ptrdiff_t)s->in[1] && begin < end;
    size_t from = inside ? begin : 0, to = inside ? end : 0;
    simd_fill(lines[y], 0, from);
    if (inside)
      simd_copy(lines[y] + from, plane + iy * (ptrdiff_t)s->in[2] + left + (ptrdiff_t)from,
                (to - from) * sizeof(float));
    simd_fill(lines[y] + to, 0, width + 8 - to);
  }
}

/* B' d B down the lines and then along them, four tiles a time: position (y, x) of tile t goes to out[(4 y + x) TILES + t]. */
static void winograd__patches(float *out, float lines[4][SPAN], size_t tiles) {
  for (size_t i = 0; i < 2 * tiles + 2; i += 4) {
    f32x4 a = f32x4_load(lines[0] + i), b = f32x4_load(lines[1] + i), c = f32x4_load(lines[2] + i),
          d = f32x4_load(lines[3] + i);
    f32x4_store(lines[0] + i, a - c);
    f32x4_store(lines[1] + i, b + c);
    f32x4_store(lines[2] + i, c - b);
    f32x4_store(lines[3] + i, b - d);
  }
  for (size_t y = 0; y < 4; y++) {
    float *row = out + y * 4 * TILES;
    for (size_t t = 0; t < tiles; t += 4) {
      const float *p = lines[y] + 2 * t;
      f32x4 p0 = f32x4_load(p), p1 = f32x4_load(p + 4), q0 = f32x4_load(p + 2), q1 = f32x4_load(p + 6);
      f32x4 even = __builtin_shufflevector(p0, p1, 0, 2, 4, 6),
            odd = __builtin_shufflevector(p0, p1, 1, 3, 5, 7);
      f32x4 next_even = __builtin_shufflevector(q0, q1, 0, 2, 4, 6),
            next_odd = __builtin_shufflevector(q0, q1, 1, 3, 5, 7);
      f32x4 v[4] = {even - next_even, odd + next_even, next_even - odd, odd - next_odd};
      size_t left = tiles - t;
#pragma clang loop unroll(full)
      for (size_t x = 0; x < 4; x++) {
        if (left >= 4) {
          f32x4_store(row + x * TILES + t, v[x]);
        } else {
          f32x4_store_part(row + x * TILES + t, v[x], left);
        }
      }
    }
  }
}

static void winograd__fill(const math_conv_shape *s, const winograd__scratch *w, const winograd__run *runs,
                           size_t run_count, const float *x, size_t depth) {
  float lines[4][SPAN];
  for (size_t c = 0; c < depth; c++, x += conv_volume(s->in)) {
    for (size_t r = 0; r < run_count; r++) {
      winograd__load_lines(s, lines, &runs[r], x);
      winograd__patches(w->lines + runs[r].at, lines, runs[r].count);
    }
    for (size_t i = 0; i < POSITIONS; i++) {
      float *out = w->patches + i * depth * TILES + c * GEMM_NR;
      for (size_t t = 0; t < TILES; t += GEMM_NR, out += depth * GEMM_NR) {
        f32x4_store(out, f32x4_load(w->lines + i * TILES + t));
        f32x4_store(out + 4, f32x4_load(w->lines + i * TILES + t + 4));
      }
    }
  }
}

static void winograd__multiply(const winograd__scratch *w, const float *packed, size_t rows, size_t depth,
                               size_t count, bool add) {
  for (size_t i = 0; i < POSITIONS; i++) {
    for (size_t r = 0; r < rows; r += ROWS) {
      size_t height = rows - r < ROWS ? rows - r : ROWS;
      for (size_t t = 0; t < count; t += GEMM_NR) {
        gemm_multiply(height, depth, packed + i * rows * depth + r * depth,
                      w->patches + (i * TILES + t) * depth, w->products + (i * rows + r) * TILES + t, TILES,
                      add, GEMM_NR);
      }
    }
  }
}

/* A' m A for the tiles of one filter: two lines of 2 TILES outputs. */
static void winograd__outputs(float *lines, const float *products, size_t position_stride, size_t count) {
  for (size_t t = 0; t < count; t += 4) {
    f32x4 top[4], bottom[4];
#pragma clang loop unroll(full)
    for (size_t x = 0; x < 4; x++) {
      const float *m = products + x * position_stride + t;
      f32x4 a = f32x4_load(m), b = f32x4_load(m + 4 * position_stride),
            c = f32x4_load(m + 8 * position_stride);
      f32x4 d = f32x4_load(m + 12 * position_stride);
      top[x] = a + b + c;
      bottom[x] = b - c - d;
    }
    f32x4 a = top[0] + top[1] + top[2], b = top[1] - top[2] - top[3];
    f32x4 c = bottom[0] + bottom[1] + bottom[2], d = bottom[1] - bottom[2] - bottom[3];
    f32x4_store(lines + 2 * t, __builtin_shufflevector(a, b, 0, 4, 1, 5));
    f32x4_store(lines + 2 * t + 4, __builtin_shufflevector(a, b, 2, 6, 3, 7));
    f32x4_store(lines + 2 * TILES + 2 * t, __builtin_shufflevector(c, d, 0, 4, 1, 5));
    f32x4_store(lines + 2 * TILES + 2 * t + 4, __builtin_shufflevector(c, d, 2, 6, 3, 7));
  }
}

/* Writes what of the two lines lies in the output, run by run, and applies the epilogue to it. */
static void winograd__write(const math_conv_shape *s, float *images, size_t filter, const float *lines,
                            const winograd__run *runs, size_t run_count, const math_epilogue *epilogue) {
  size_t out = conv_volume(s->out);
  for (size_t r = 0; r < run_count; r++) {
    const winograd__run *run = &runs[r];
    size_t column = 2 * run->column, width = 2 * run->count;
    if (column + width > s->out[2]) width = s->out[2] - column;
    for (size_t y = 0; y < 2 && 2 * run->row + y < s->out[1]; y++) {
      size_t at = (2 * run->row + y) * s->out[2] + column;
      simd_copy(images + filter * out + at, lines + y * 2 * TILES + 2 * run->at, width * sizeof(float));
      if (epilogue) math_epilogue_apply(epilogue, images, (ptrdiff_t)out, filter, filter + 1, at, at + width);
    }
  }
}

void conv_winograd_run(const math_conv_shape *s, float *y, const float *x, const float *packed,
                       const math_epilogue *epilogue, size_t task, void *scratch) {
  winograd__scratch w = winograd__lay_out(s, scratch);
  winograd__run runs[TILES];
  size_t k = s->channels / s->groups, rows = s->filters / s->groups, step = winograd__depth(k);
  size_t tiles = winograd__tiles(s), blocks = (tiles + TILES - 1) / TILES;
  size_t begin = task % blocks * TILES, group = task / blocks % s->groups, image = task / blocks / s->groups;
  size_t count = tiles - begin < TILES ? tiles - begin : TILES;
  size_t run_count = winograd__find_runs(s, runs, begin, count);
  const float *from = x + (image * s->channels + group * k) * conv_volume(s->in);
  float *images = y + image * s->filters * conv_volume(s->out);
  packed += POSITIONS * group * rows * k;
  simd_fill(w.lines, 0, POSITIONS * TILES); /* tiles behind the last are multiplied too */
  for (size_t p = 0; p < k; p += step) {
    size_t depth = k - p < step ? k - p : step;
    winograd__fill(s, &w, runs, run_count, from + p * conv_volume(s->in), depth);
    winograd__multiply(&w, packed, rows, depth, count, p > 0);
    packed += POSITIONS * rows * depth;
  }
  math_epilogue own = MATH_EPILOGUE_NONE;
  if (epilogue) own = conv_epilogue(s, epilogue, image);
  for (size_t f = 0; f < rows; f++) {
    winograd__outputs(w.lines, w.products + f * TILES, rows * TILES, count);
    winograd__write(s, images, group * rows + f, w.lines, runs, run_count, epilogue ? &own : NULL);
  }
}
