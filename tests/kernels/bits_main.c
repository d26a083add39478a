// Prints one digest a loop, of its results on fixed random operands: builds that promise the same bits print the same lines
// (bits.test.js compares them). On its own it checks that results do not depend on how the work is cut.

#include "check.h"
#include "conv.h"
#include "loop_rows.h"
#include "move.h"
#include "pooling.h"
#include "reduce.h"
#include "rows.h"
#include "sample.h"

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return digest;
}

// NaN has one face here: its sign and payload are the engine's affair.
static uint64_t digest(int type, const void *p, size_t n) {
  uint64_t d = 0xcbf29ce484222325u;
  size_t width = math_type_width(type);
  for (size_t i = 0; i < n; i++) {
    const char *at = (const char *)p + i * width;
    float f = 0;
    double g = 0;
    if (type == MATH_F32) memcpy(&f, at, 4);
    if (type == MATH_F64) memcpy(&g, at, 8);
    d = f != f || g != g ? digest_add(d, "nan", 3) : digest_add(d, at, width);
  }
  return d;
}

static void show(const char *name, int type, const void *p, size_t n) {
  printf("%s %016llx\n", name, (unsigned long long)digest(type, p, n));
}

enum { N = 1003 };

static void show_loops(sample_random *r) {
  static const math_params shared = {{0.6, 1.7, 0, 0}, {1, 1}}, bounds = {{-2.5, 3.25, 0, 0}, {3, 90}};
  void *a = sample_alloc(N * 8), *b = sample_alloc(N * 8), *y = sample_alloc(N * 8), *z = sample_alloc(N * 8);
  for (size_t row = 0; row < LOOP_ROWS; row++) {
    const math_loop_id id = loop_rows[row].id;
    const math_loop loop = math_loop_at(id);
    const math_params *p = loop.op == MATH_OP_clip ? &bounds : &shared;
    size_t in = math_type_width(loop.in), out = math_type_width(loop.out), cut = 501;
    sample_fill(r, loop.in, a, N);
    sample_fill(r, loop.in, b, N);
    loop_run(id, y, a, b, N, MATH_VV, p);
    loop_run(id, z, a, b, cut, MATH_VV, p);
    loop_run(id, (char *)z + cut * out, (char *)a + cut * in, (char *)b + cut * in, N - cut, MATH_VV, p);
    CHECK(digest(loop.out, y, N) == digest(loop.out, z, N));
    show(loop_rows[row].name, loop.out, y, N);
  }
  free(a), free(b), free(y), free(z);
}

static void show_casts(sample_random *r) {
  char name[32];
  void *x = sample_alloc(N * 8), *y = sample_alloc(N * 8);
  for (int from = 1; from < MATH_TYPE_COUNT; from++) {
    uint64_t all = 0;
    if (!math_type_width(from)) continue;
    for (int to = 1; to < MATH_TYPE_COUNT; to++) {
      for (int saturate = 0; saturate < 2; saturate++) {
        math_params p = {{0, 0, 0, 0}, {saturate, saturate * 2}};
        sample_fill(r, from, x, N);
        if (!math_cast(y, to, x, from, N, &p)) continue;
        uint64_t d = digest(to, y, N);
        all = digest_add(all, &d, sizeof d);
      }
    }
    snprintf(name, sizeof name, "cast_from_%d", from);
    show(name, MATH_U64, &all, 1);
  }
  free(x), free(y);
}

static void show_products(sample_random *r) {
  enum { M = 37, K = 300, COLUMNS = 45 };
  float *a = sample_alloc(M * K * 4), *b = sample_alloc(K * COLUMNS * 4), *c = sample_alloc(M * COLUMNS * 4);
  sample_floats(r, a, M * K, -1, 1);
  sample_floats(r, b, K * COLUMNS, -1, 1);
  void *packed = sample_alloc(math_gemm_packed_b_bytes(K, COLUMNS)),
       *scratch = sample_alloc(math_gemm_scratch_bytes(M, COLUMNS, K));
  math_epilogue e = MATH_EPILOGUE_NONE;
  e.bias = a, e.bias_kind = MATH_BIAS_COLUMN, e.loop = LOOP_gelu_f32;
  math_gemm_pack_b(packed, b, COLUMNS, 1, K, COLUMNS, 0, COLUMNS);
  math_gemm g = {.m = M,
                 .n = COLUMNS,
                 .k = K,
                 .a = a,
                 .a_row_stride = K,
                 .a_col_stride = 1,
                 .b_row_stride = COLUMNS,
                 .b_col_stride = 1,
                 .b_packed = packed,
                 .c = c,
                 .c_row_stride = COLUMNS,
                 .epilogue = &e};
  math_gemm_f32(&g, 0, M, 0, COLUMNS, scratch);
  uint64_t whole = digest(MATH_F32, c, M * COLUMNS);
  math_gemm_f32(&g, 0, 7, 0, 16, scratch);
  math_gemm_f32(&g, 7, M, 16, COLUMNS, scratch);
  CHECK(digest(MATH_F32, c, M * COLUMNS) == whole);
  show("gemm_packed", MATH_F32, c, M * COLUMNS);
  g.b_packed = NULL, g.b = b;
  math_gemm_f32(&g, 0, M, 0, COLUMNS, scratch);
  show("gemm_rows", MATH_F32, c, M * COLUMNS);
  g.b_row_stride = 1, g.b_col_stride = K;
  math_gemm_f32(&g, 0, M, 0, COLUMNS, scratch);
  show("gemm_columns", MATH_F32, c, M * COLUMNS);
  math_gemm_int8_pack_b(b, a, true, COLUMNS, 1, NULL, 0, K, COLUMNS / 2);
  math_gemm_int8 q = {.m = M,
                      .n = COLUMNS / 2,
                      .k = K,
                      .a = a,
                      .a_row_stride = K,
                      .a_col_stride = 1,
                      .b_packed = b,
                      .c = (int32_t *)(void *)c,
                      .c_row_stride = COLUMNS / 2};
  math_gemm_int8_run(&q, 0, M, scratch);
  show("gemm_int8", MATH_I32, c, M * (COLUMNS / 2));
  free(a), free(b), free(c), free(packed), free(scratch);
}

static void show_convolution(sample_random *r, const char *name, const math_conv_shape *s) {
  size_t nx = s->batch * s->channels * s->in[1] * s->in[2],
         ny = s->batch * s->filters * s->out[1] * s->out[2];
  size_t nw = s->filters * (s->channels / s->groups) * s->kernel[1] * s->kernel[2];
  float *x = sample_alloc(nx * 4), *y = sample_alloc(ny * 4), *w = sample_alloc(nw * 4);
  sample_floats(r, x, nx, -1, 1);
  sample_floats(r, w, nw, -1, 1);
  void *packed = sample_alloc(math_conv_packed_bytes(s)), *scratch = sample_alloc(math_conv_scratch_bytes(s));
  math_conv_pack(s, packed, w);
  math_conv_f32(s, y, x, packed, NULL, 0, math_conv_tasks(s), scratch);
  show(name, MATH_F32, y, ny);
  free(x), free(y), free(w), free(packed), free(scratch);
}

static void show_convolutions(sample_random *r) {
  const math_conv_shape dense = {1,         40,          9,         1,         {1, 13, 17},
                                 {1, 3, 3}, {1, 13, 17}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
  const math_conv_shape winograd = {1,         40,          19,        1,         {1, 13, 17},
                                    {1, 3, 3}, {1, 13, 17}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
  const math_conv_shape strided = {1,         3,           9,         1,         {1, 23, 21},
                                   {1, 7, 7}, {1, 12, 11}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}};
  const math_conv_shape point = {2,         20,        9,         1,         {1, 5, 7},
                                 {1, 1, 1}, {1, 5, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  const math_conv_shape depth = {1,         5,          10,        5,         {1, 9, 11},
                                 {1, 3, 3}, {1, 9, 11}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
  const math_conv_shape half = {1,         5,           5,         5,         {1, 19, 21},
                                {1, 5, 5}, {1, 10, 11}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}};
  show_convolution(r, "conv_dense", &dense);
  show_convolution(r, "conv_winograd", &winograd);
  show_convolution(r, "conv_strided", &strided);
  show_convolution(r, "conv_pointwise", &point);
  show_convolution(r, "conv_depthwise", &depth);
  show_convolution(r, "conv_depthwise_strided", &half);
  const math_pool_shape pool = {{1, 17, 19}, {1, 3, 3}, {1, 9, 10}, {1, 2, 2}, {1, 1, 1},
                                {0, 1, 1},   {0, 1, 1}, false,      false};
  float x[2 * 17 * 19], y[2 * 90];
  sample_fill(r, MATH_F32, x, 2 * 17 * 19);
  math_max_pool(&pool, MATH_F32, y, NULL, x, 0, 2);
  show("max_pool", MATH_F32, y, 180);
  math_average_pool(&pool, MATH_F32, y, x, 0, 2);
  show("average_pool", MATH_F32, y, 180);
  math_lp_pool(&pool, MATH_F32, 3, y, x, 0, 2);
  show("lp_pool", MATH_F32, y, 180);
}

static void show_rows(sample_random *r) {
  enum { ROWS = 3, INNER = 7, LENGTH = 1111 };
  char name[32];
  size_t count = ROWS * LENGTH * INNER;
  double *x = sample_alloc(count * 8), *y = sample_alloc(count * 8);
  for (int type = 1; type < MATH_TYPE_COUNT; type++) {
    if (!math_type_width(type)) continue;
    for (int op = 0; op < MATH_REDUCTION_COUNT; op++) {
      sample_fill(r, type, x, count);
      if (type == MATH_F32 && op) sample_floats(r, (float *)(void *)x, count, -3, 4);
      if (!math_reduce((math_reduction)op, type, y, x, ROWS, LENGTH, INNER)) continue;
      snprintf(name, sizeof name, "reduce_%d_type_%d", op, type);
      show(name, type, y, ROWS * INNER);
      math_reduce((math_reduction)op, type, y, x, ROWS * INNER, LENGTH, 1);
      snprintf(name, sizeof name, "reduce_%d_type_%d_rows", op, type);
      show(name, type, y, ROWS * INNER);
    }
  }
  float *f = (float *)(void *)x, *g = (float *)(void *)y;
  sample_floats(r, f, count, -9, 9);
  for (int logarithm = 0; logarithm < 2; logarithm++) {
    math_softmax_f32(g, f, ROWS, LENGTH, INNER, logarithm);
    show(logarithm ? "log_softmax_columns" : "softmax_columns", MATH_F32, g, count);
    math_softmax_f32(g, f, ROWS * INNER, LENGTH, 1, logarithm);
    show(logarithm ? "log_softmax" : "softmax", MATH_F32, g, count);
  }
  math_layer_norm_f32(g, f, ROWS * INNER, LENGTH, 1e-5f, NULL, NULL, NULL, NULL);
  show("layer_norm", MATH_F32, g, count);
  math_rms_norm_f32(g, f, ROWS * INNER, LENGTH, 1e-5f, NULL);
  show("rms_norm", MATH_F32, g, count);
  math_cumulate(MATH_F32, false, true, true, g, f, ROWS, LENGTH, INNER);
  show("running_sum", MATH_F32, g, count);
  sample_fill(r, MATH_F32, f, count);
  math_arg_extreme(MATH_F32, true, false, (int64_t *)(void *)y, f, ROWS, LENGTH, INNER);
  show("arg_max", MATH_I64, y, ROWS * INNER);
  free(x), free(y);
}

int main(void) {
  sample_random r = {88172645463325252u};
  show_loops(&r);
  show_casts(&r);
  show_products(&r);
  show_convolutions(&r);
  show_rows(&r);
  return CHECK_END();
}
