/* Dense convolution as a matrix product without the matrix: for a tile of output positions, patches are laid into packed
 * panels (a block of depth at a time) and multiplied by the weights, which are the packed rows. */
#include "conv_kit.h"
#include "gemm_kit.h"
#include "simd.h"

#include <string.h>

enum { TILE = 128, ROWS = 64 }; /* positions of a tile, filters of a block of rows */

/* Tiles of nearly equal length, in whole panels. */
static size_t dense__tile(const math_conv_shape *s) {
  size_t plane = conv_volume(s->out), tiles = (plane + TILE - 1) / TILE;
  size_t panels = (plane + GEMM_NR - 1) / GEMM_NR;
  return tiles ? (panels + tiles - 1) / tiles * GEMM_NR : GEMM_NR;
}

static size_t dense__tiles(const math_conv_shape *s) {
  size_t tile = dense__tile(s);
  return (conv_volume(s->out) + tile - 1) / tile;
}

/* Positions of a tile that lie in one line of the output: `at` counts from the tile's begin. */
typedef struct dense__run {
  size_t at, length;
  size_t o[3];
} dense__run;

typedef struct dense__scratch {
  float *panels; /* depth x tile */
  float *line;   /* tile */
  dense__run *runs;
} dense__scratch;

static size_t dense__align(size_t bytes) { return (bytes + 15) / 16 * 16; }

size_t conv_dense_scratch_bytes(const math_conv_shape *s) {
  size_t tile = dense__tile(s);
  return dense__align(gemm_depth(conv_depth(s)) * tile * sizeof(float)) + dense__align(tile * sizeof(float)) +
         dense__align(tile * sizeof(dense__run));
}

static dense__scratch dense__lay_out(const math_conv_shape *s, void *scratch) {
  size_t tile = dense__tile(s);
  char *p = scratch;
  dense__scratch out;
  out.panels = (float *)(void *)p;
  p += dense__align(gemm_depth(conv_depth(s)) * tile * sizeof(float));
  out.line = (float *)(void *)p;
  p += dense__align(tile * sizeof(float));
  out.runs = (dense__run *)(void *)p;
  return out;
}

size_t conv_dense_tasks(const math_conv_shape *s) { return s->batch * s->groups * dense__tiles(s); }

/* Of each group, block of depth by block of depth, the strips of all its filters. */
void conv_dense_pack(const math_conv_shape *s, float *packed, const float *weights) {
  size_t k = conv_depth(s), step = gemm_depth(k), rows = s->filters / s->groups;
  for (size_t g = 0; g < s->groups; g++) {
    for (size_t p = 0; p < k; p += step) {
      size_t depth = k - p < step ? k - p : step;
      gemm_pack_strips(packed, weights + g * rows * k + p, (ptrdiff_t)k, 1, rows, depth);
      packed += rows * depth;
    }
  }
}

static size_t dense__find_runs(const math_conv_shape *s, dense__run *runs, size_t begin, size_t count) {
  size_t found = 0;
  for (size_t at = 0; at < count;) {
    size_t p = begin + at, x = p % s->out[2];
    size_t left = s->out[2] - x, length = left < count - at ? left : count - at;
    runs[found++] = (dense__run){at, length, {p / s->out[2] / s->out[1], p / s->out[2] % s->out[1], x}};
    at += length;
  }
  return found;
}

/* What one kernel element of one channel sees from a run of positions. */
static void dense__fill_run(const math_conv_shape *s, float *line, const dense__run *run, const float *plane,
                            const size_t k[3]) {
  ptrdiff_t iz = (ptrdiff_t)(run->o[0] * s->stride[0] + k[0] * s->dilation[0]) - s->pad_begin[0];
  ptrdiff_t iy = (ptrdiff_t)(run->o[1] * s->stride[1] + k[1] * s->dilation[1]) - s->pad_begin[1];
  size_t begin = 0, end = 0;
  ptrdiff_t shift = (ptrdiff_t)(run->o[2] * s->stride[2] + k[2] * s->dilation[2]) - s->pad_begin[2];
  if (iz >= 0 && iz < (ptrdiff_t)s->in[0] && iy >= 0 && iy < (ptrdiff_t)s->in[1]) {
    conv_range(shift, s->stride[2], s->in[2], run->length, &begin, &end);
  }
  simd_fill(line, 0, begin);
  if (begin < end) {
    const float *from = plane + (iz * (ptrdiff_t)s->in[1] + iy) * (ptrdiff_t)s->in[2] + shift;
    const size_t step = s->stride[2];
    if (step == 1) {
      simd_copy(line + begin, from + begin, (end - begin) * sizeof(float));
    } else {
      for (size_t i = begin; i < end; i++) line[i] = from[i * step];
    }
  }
  simd_fill(line + end, 0, run->length - end);
}

/* Rows [p, p + depth) of the patches for `count` positions, as panels. */
static void dense__fill_panels(const math_conv_shape *s, const dense__scratch *scratch, size_t runs,
                               const float *x, size_t p, size_t depth, size_t count) {
  size_t volume = conv_volume(s->kernel), plane = conv_volume(s->in);
  size_t padded = (count + GEMM_NR - 1) / GEMM_NR * GEMM_NR;
  for (size_t i = count; i < padded; i++) scratch->line[i] = 0;
  for (size_t i = 0; i < depth; i++) {
    size_t row = p + i, e = row % volume;
    size_t k[3] = {e / s->kernel[2] / s->kernel[1], e / s->kernel[2] % s->kernel[1], e % s->kernel[2]};
    for (size_t r = 0; r < runs; r++) {
      dense__fill_run(s, scratch->line + scratch->runs[r].at, &scratch->runs[r], x + row / volume * plane, k);
    }
    float *out = scratch->panels + i * GEMM_NR;
    for (size_t j = 0; j < padded; j += GEMM_NR, out += depth * GEMM_NR) {
      f32x4_store(out, f32x4_load(scratch->line + j));
      f32x4_store(out + 4, f32x4_load(scratch->line + j + 4));
    }
  }
}

void conv_dense_run(const math_conv_shape *s, float *y, const float *x, const float *packed,
                    const math_epilogue *epilogue, size_t task, void *scratch_memory) {
  dense__scratch scratch = dense__lay_out(s, scratch_memory);
  size_t tile = dense__tile(s), tiles = dense__tiles(s), k = conv_depth(s), step = gemm_depth(k);
  size_t rows = s->filters / s->groups, in = conv_volume(s->in), out = conv_volume(s->out);
  size_t begin = task % tiles * tile, group = task / tiles % s->groups, image = task / tiles / s->groups;
  size_t count = out - begin < tile ? out - begin : tile;
  bool pointwise = math_conv_choose(s) == MATH_CONV_POINTWISE;
  const float *from = x + (image * s->channels + group * (s->channels / s->groups)) * in;
  float *images = y + image * s->filters * out;
  float *c = images + group * rows * out + begin;
  packed += group * rows * k;
  size_t runs = pointwise ? 0 : dense__find_runs(s, scratch.runs, begin, count);
  if (k == 0) {
    for (size_t r = 0; r < rows; r++) memset(c + r * out, 0, count * sizeof(float));
  }
  for (size_t p = 0; p < k; p += step) {
    size_t depth = k - p < step ? k - p : step;
    if (pointwise) {
      math_gemm_pack_b(scratch.panels, from + p * in + begin, (ptrdiff_t)in, 1, depth, count, 0, count);
    } else {
      dense__fill_panels(s, &scratch, runs, from, p, depth, count);
    }
    for (size_t r = 0; r < rows; r += ROWS) {
      size_t height = rows - r < ROWS ? rows - r : ROWS;
      for (size_t j = 0; j < count; j += GEMM_NR) {
        size_t width = count - j < GEMM_NR ? count - j : GEMM_NR;
        gemm_multiply(height, depth, packed + r * depth, scratch.panels + j * depth, c + r * out + j,
                      (ptrdiff_t)out, p > 0, width);
      }
    }
    packed += rows * depth;
  }
  if (!epilogue) return;
  math_epilogue own = conv_epilogue(s, epilogue, image);
  math_epilogue_apply(&own, images, (ptrdiff_t)out, group * rows, (group + 1) * rows, begin, begin + count);
}
