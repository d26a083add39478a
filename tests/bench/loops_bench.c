// How fast each loop of kernels/math is, on one thread: billions of elements or operations a second, best of several runs.
// Usage: bench_math [part of a name]. `npm run bench -- loops` runs the WebAssembly build.

#include "conv.h"
#include "floats.h"
#include "loop_rows.h"
#include "move.h"
#include "pooling.h"
#include "reduce.h"
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *wanted = "";

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

typedef void (*work)(void *context);

// Seconds of one call: batches of at least 40 ms (clocks count milliseconds), the best of eight.
static void measure(const char *name, double operations, const char *unit, work run, void *context) {
  if (!strstr(name, wanted)) return;
  int batch = 1;
  double best = 1e9;
  for (int i = 0; i < 8; i++) {
    double begin = now(), spent = 0;
    for (int k = 0; k < batch; k++) run(context);
    spent = now() - begin;
    if (spent < 0.04) {
      batch *= 2;
      i--;
      continue;
    }
    if (spent / batch < best) best = spent / batch;
  }
  printf("%-28s %9.3f %s %10.4f ms\n", name, operations / best * 1e-9, unit, best * 1e3);
}

static void *block(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!p) exit(2);
  return p;
}

static float *floats(size_t n) {
  float *p = block(n * sizeof(float));
  uint32_t state = 1;
  for (size_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    p[i] = (float)(state >> 8) * 0x1p-22f - 2;
  }
  return p;
}

enum { N = 1 << 15 }; // fits the second-level cache

typedef struct loop_work {
  math_loop_id loop;
  void *a, *b, *y;
} loop_work;

static void run_loop(void *context) {
  static const math_params p = {{0.6, 1.7, 0, 0}, {1, 1}};
  const loop_work *w = context;
  loop_run(w->loop, w->y, w->a, w->b, N, MATH_VV, &p);
}

static void loops(void) {
  loop_work w = {LOOP_NONE, floats(N * 2), floats(N * 2), block(N * 8)};
  for (size_t i = 0; i < N; i++) {
    if (((float *)w.a)[i] == 0) ((float *)w.a)[i] = 1;
  }
  for (size_t i = 0; i < LOOP_ROWS; i++) {
    w.loop = loop_rows[i].id;
    measure(loop_rows[i].name, N, "G/s", run_loop, &w);
  }
  free(w.a), free(w.b), free(w.y);
}

typedef struct gemm_work {
  math_gemm g;
  void *packed, *scratch;
} gemm_work;

static void run_gemm(void *context) {
  gemm_work *w = context;
  math_gemm_f32(&w->g, 0, w->g.m, 0, w->g.n, w->scratch);
}

static void run_pack(void *context) {
  gemm_work *w = context;
  math_gemm_pack_b(w->packed, w->g.b, w->g.b_row_stride, 1, w->g.k, w->g.n, 0, w->g.n);
}

static void product(size_t m, size_t n, size_t k) {
  char name[64];
  gemm_work w = {.g = {.m = m,
                       .n = n,
                       .k = k,
                       .a = floats(m * k),
                       .a_row_stride = (ptrdiff_t)k,
                       .a_col_stride = 1,
                       .b = floats(k * n),
                       .b_row_stride = (ptrdiff_t)n,
                       .b_col_stride = 1,
                       .c = floats(m * n),
                       .c_row_stride = (ptrdiff_t)n},
                 .packed = block(math_gemm_packed_b_bytes(k, n)),
                 .scratch = block(math_gemm_scratch_bytes(m, n, k))};
  double operations = 2.0 * (double)m * (double)n * (double)k;
  snprintf(name, sizeof name, "gemm_pack_%zux%zu", k, n);
  measure(name, (double)(k * n), "G/s", run_pack, &w);
  run_pack(&w);
  if (m <= 4) {
    snprintf(name, sizeof name, "gemm_rows_%zux%zux%zu", m, n, k);
    measure(name, operations, "GFLOP/s", run_gemm, &w);
    w.g.b_row_stride = 1, w.g.b_col_stride = (ptrdiff_t)k;
    snprintf(name, sizeof name, "gemm_columns_%zux%zux%zu", m, n, k);
    measure(name, operations, "GFLOP/s", run_gemm, &w);
  }
  w.g.b_packed = w.packed;
  snprintf(name, sizeof name, "gemm_%zux%zux%zu", m, n, k);
  measure(name, operations, "GFLOP/s", run_gemm, &w);
  free((void *)(uintptr_t)w.g.a), free((void *)(uintptr_t)w.g.b), free(w.g.c), free(w.packed),
      free(w.scratch);
}

typedef struct int8_work {
  math_gemm_int8 g;
  void *scratch;
} int8_work;

static void run_int8(void *context) {
  int8_work *w = context;
  math_gemm_int8_run(&w->g, 0, w->g.m, w->scratch);
}

static void product_int8(void) {
  enum { S = 512 };
  int8_work w = {.g = {.m = S,
                       .n = S,
                       .k = S,
                       .a = floats(S * S),
                       .a_row_stride = S,
                       .a_col_stride = 1,
                       .c = block(S * S * 4),
                       .c_row_stride = S},
                 .scratch = block(math_gemm_int8_scratch_bytes(S, S, S))};
  void *packed = block(math_gemm_int8_packed_b_bytes(S, S));
  math_gemm_int8_pack_b(packed, w.g.a, true, S, 1, NULL, 0, S, S);
  w.g.b_packed = packed;
  measure("gemm_int8_512", 2.0 * S * S * S, "GOP/s", run_int8, &w);
  free((void *)(uintptr_t)w.g.a), free(w.g.c), free(w.scratch), free(packed);
}

typedef struct conv_work {
  math_conv_shape s;
  float *x, *y;
  void *packed, *scratch;
} conv_work;

static void run_conv(void *context) {
  conv_work *w = context;
  math_conv_f32(&w->s, w->y, w->x, w->packed, NULL, 0, math_conv_tasks(&w->s), w->scratch);
}

static void convolution(const char *name, size_t channels, size_t filters, size_t groups, size_t side,
                        size_t kernel, size_t stride) {
  conv_work w = {.s = {1,
                       channels,
                       filters,
                       groups,
                       {1, side, side},
                       {1, kernel, kernel},
                       {1, 0, 0},
                       {1, stride, stride},
                       {1, 1, 1},
                       {0, (ptrdiff_t)kernel / 2, (ptrdiff_t)kernel / 2}}};
  for (int d = 1; d < 3; d++)
    w.s.out[d] = math_conv_out(side, kernel, stride, 1, w.s.pad_begin[d], w.s.pad_begin[d]);
  size_t out = w.s.out[1] * w.s.out[2], depth = channels / groups * kernel * kernel;
  w.x = floats(channels * side * side), w.y = floats(filters * out);
  w.packed = block(math_conv_packed_bytes(&w.s)), w.scratch = block(math_conv_scratch_bytes(&w.s));
  float *weights = floats(filters * depth);
  math_conv_pack(&w.s, w.packed, weights);
  measure(name, 2.0 * (double)(filters * out) * (double)depth, "GFLOP/s", run_conv, &w);
  free(w.x), free(w.y), free(w.packed), free(w.scratch), free(weights);
}

typedef struct row_work {
  float *x, *y;
  size_t rows, n;
  int what;
} row_work;

enum {
  SOFTMAX,
  SOFTMAX_COLUMNS,
  LAYER_NORM,
  SUM,
  SUM_COLUMNS,
  MAX,
  ARG_MAX,
  TRANSPOSE,
  TRANSPOSE_CHANNELS,
  MAX_POOL,
  BROADCAST_ROW,
  TO_F16,
  FROM_F16
};

static void run_row(void *context) {
  row_work *w = context;
  const size_t dims[3] = {w->rows, w->n, 1}, swap[2] = {1, 0};
  switch (w->what) {
  case SOFTMAX: math_softmax_f32(w->y, w->x, w->rows, w->n, 1, false); break;
  case SOFTMAX_COLUMNS: math_softmax_f32(w->y, w->x, 1, w->n, w->rows, false); break;
  case LAYER_NORM: math_layer_norm_f32(w->y, w->x, w->rows, w->n, 1e-5f, w->x, w->x, NULL, NULL); break;
  case SUM: math_reduce(MATH_REDUCE_SUM, MATH_F32, w->y, w->x, w->rows, w->n, 1); break;
  case SUM_COLUMNS: math_reduce(MATH_REDUCE_SUM, MATH_F32, w->y, w->x, 1, w->rows, w->n); break;
  case MAX: math_reduce(MATH_REDUCE_MAX, MATH_F32, w->y, w->x, w->rows, w->n, 1); break;
  case ARG_MAX:
    math_arg_extreme(MATH_F32, true, false, (int64_t *)(void *)w->y, w->x, w->rows, w->n, 1);
    break;
  case TRANSPOSE: math_transpose(w->y, w->x, 4, 2, dims, swap); break;
  case TRANSPOSE_CHANNELS: {
    const size_t image[3] = {3, w->rows, w->n / 3}, perm[3] = {1, 2, 0};
    math_transpose(w->y, w->x, 4, 3, image, perm);
    break;
  }
  case MAX_POOL: {
    size_t side = 112;
    const math_pool_shape s = {{1, side, side}, {1, 3, 3}, {1, 56, 56}, {1, 2, 2}, {1, 1, 1},
                               {0, 1, 1},       {0, 1, 1}, false,       false};
    math_max_pool(&s, MATH_F32, w->y, NULL, w->x, 0, w->rows * w->n / (side * side));
    break;
  }
  case BROADCAST_ROW: {
    const size_t ranks[2] = {2, 1}, row[1] = {w->n}, *shapes[2] = {dims, row};
    size_t out_rank, out_dims[MATH_RANK];
    math_broadcast plan;
    math_broadcast_plan(&plan, 2, ranks, shapes, &out_rank, out_dims);
    math_broadcast_binary(&plan, LOOP_add_f32, MATH_F32, w->y, w->x, w->x, 0, plan.count, NULL);
    break;
  }
  case TO_F16: math_f16_from_f32((uint16_t *)(void *)w->y, w->x, w->rows * w->n); break;
  default: math_f32_from_f16(w->y, (const uint16_t *)(const void *)w->x, w->rows * w->n); break;
  }
}

static void rows(void) {
  row_work w = {floats(1 << 20), floats(1 << 20), 512, 768, 0};
  static const char *const names[] = {
      "softmax",       "softmax_columns", "layer_norm",  "reduce_sum",         "reduce_sum_columns",
      "reduce_max",    "arg_max",         "transpose",   "transpose_channels", "max_pool",
      "broadcast_row", "f16_from_f32",    "f32_from_f16"};
  for (w.what = SOFTMAX; w.what <= FROM_F16; w.what++)
    measure(names[w.what], (double)(w.rows * w.n), "G/s", run_row, &w);
  w.rows = 1 << 17, w.n = 3, w.what = BROADCAST_ROW;
  measure("broadcast_short_row", (double)(w.rows * w.n), "G/s", run_row, &w);
  free(w.x), free(w.y);
}

int main(int argc, char **argv) {
  if (argc > 1) wanted = argv[1];
  loops();
  rows();
  product(512, 512, 512);
  product(1024, 1024, 1024);
  product(128, 768, 768);
  product(1, 1024, 1024);
  product(4, 1024, 1024);
  product_int8();
  convolution("conv3x3_64_56", 64, 64, 1, 56, 3, 1);
  convolution("conv3x3_256_14", 256, 256, 1, 14, 3, 1);
  convolution("conv1x1_256_64_56", 256, 64, 1, 56, 1, 1);
  convolution("conv7x7s2_3_64_224", 3, 64, 1, 224, 7, 2);
  convolution("depthwise3x3_128_56", 128, 128, 128, 56, 3, 1);
  convolution("depthwise3x3s2_128_56", 128, 128, 128, 56, 3, 2);
  convolution("depthwise5x5_128_28", 128, 128, 128, 28, 5, 1);
  return 0;
}
