#include "gemm.h"

#include "check.h"
#include "sample.h"

typedef struct problem {
  size_t m, n, k;
  bool a_transposed, b_transposed;
  float *a, *b, *c, *bias, *residual;
  double *exact, *magnitude; // a b, and |a| |b| for the error bound
} problem;

static ptrdiff_t row_stride(bool transposed, size_t rows, size_t cols) {
  return (ptrdiff_t)(transposed ? rows : cols) * !transposed + transposed;
}
static ptrdiff_t col_stride(bool transposed, size_t rows) { return transposed ? (ptrdiff_t)rows : 1; }

static problem make(sample_random *r, size_t m, size_t n, size_t k, int transposed) {
  problem p = {.m = m, .n = n, .k = k, .a_transposed = transposed & 1, .b_transposed = transposed & 2};
  p.a = sample_alloc(m * k * 4), p.b = sample_alloc(k * n * 4), p.c = sample_alloc(m * n * 4);
  p.bias = sample_alloc((m + n + 1) * 4), p.residual = sample_alloc(m * n * 4);
  p.exact = sample_alloc(m * n * 8), p.magnitude = sample_alloc(m * n * 8);
  sample_floats(r, p.a, m * k, -1, 1);
  sample_floats(r, p.b, k * n, -1, 1);
  sample_floats(r, p.bias, m + n + 1, -1, 1);
  sample_floats(r, p.residual, m * n, -1, 1);
  ptrdiff_t ar = row_stride(p.a_transposed, m, k), ac = col_stride(p.a_transposed, m);
  ptrdiff_t br = row_stride(p.b_transposed, k, n), bc = col_stride(p.b_transposed, k);
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0, size = 0;
      for (size_t q = 0; q < k; q++) {
        double x = (double)p.a[(ptrdiff_t)i * ar + (ptrdiff_t)q * ac] *
                   (double)p.b[(ptrdiff_t)q * br + (ptrdiff_t)j * bc];
        sum += x;
        size += fabs(x);
      }
      p.exact[i * n + j] = sum;
      p.magnitude[i * n + j] = size;
    }
  }
  return p;
}

static void drop(problem *p) {
  free(p->a), free(p->b), free(p->c), free(p->bias), free(p->residual), free(p->exact), free(p->magnitude);
}

static math_gemm describe(const problem *p, const void *packed, const math_epilogue *epilogue) {
  return (math_gemm){.m = p->m,
                     .n = p->n,
                     .k = p->k,
                     .a = p->a,
                     .a_row_stride = row_stride(p->a_transposed, p->m, p->k),
                     .a_col_stride = col_stride(p->a_transposed, p->m),
                     .b = packed ? NULL : p->b,
                     .b_row_stride = row_stride(p->b_transposed, p->k, p->n),
                     .b_col_stride = col_stride(p->b_transposed, p->k),
                     .b_packed = packed,
                     .c = p->c,
                     .c_row_stride = (ptrdiff_t)p->n,
                     .epilogue = epilogue};
}

static double expected(const problem *p, const math_epilogue *e, size_t i, size_t j) {
  double x = p->exact[i * p->n + j];
  if (!e) return x;
  x *= (double)e->alpha;
  double residual = e->residual ? (double)e->residual_scale * (double)e->residual[i * p->n + j] : 0;
  if (e->bias_kind != MATH_BIAS_NONE) {
    size_t at = e->bias_kind == MATH_BIAS_COLUMN ? j : e->bias_kind == MATH_BIAS_ROW ? i : 0;
    x += (double)e->bias_scale * (double)e->bias[at];
  }
  if (!e->residual_last) x += residual;
  if (e->loop == LOOP_relu_f32) x = x < 0 ? 0 : x;
  if (e->loop == LOOP_clip_f32)
    x = x < e->params->f[0] ? e->params->f[0] : x > e->params->f[1] ? e->params->f[1] : x;
  return e->residual_last ? x + residual : x;
}

static void check_result(const problem *p, const math_epilogue *e) {
  int good = 1;
  for (size_t i = 0; i < p->m; i++) {
    for (size_t j = 0; j < p->n; j++) {
      double bound = (p->magnitude[i * p->n + j] * sqrt((double)p->k + 4) + 4) * 2e-7;
      good &= fabs((double)p->c[i * p->n + j] - expected(p, e, i, j)) <= bound;
    }
  }
  if (!CHECK(good))
    printf("  %zu x %zu x %zu, transposed %d %d\n", p->m, p->n, p->k, p->a_transposed, p->b_transposed);
}

static void *pack(const problem *p) {
  void *packed = sample_alloc(math_gemm_packed_b_bytes(p->k, p->n));
  size_t half = p->n / 2 / math_gemm_panel() * math_gemm_panel();
  ptrdiff_t rs = row_stride(p->b_transposed, p->k, p->n), cs = col_stride(p->b_transposed, p->k);
  math_gemm_pack_b(packed, p->b, rs, cs, p->k, p->n, half, p->n);
  math_gemm_pack_b(packed, p->b, rs, cs, p->k, p->n, 0, half);
  return packed;
}

// The same bits however rows and columns are shared out.
static void check_splits(const problem *p, const math_gemm *g, void *scratch, sample_random *r) {
  size_t bytes = p->m * p->n * 4;
  float *whole = sample_alloc(bytes);
  memcpy(whole, p->c, bytes);
  memset(p->c, 0xff, bytes);
  size_t column = p->n / 2 / math_gemm_panel() * math_gemm_panel();
  for (size_t row = 0; row < p->m;) {
    size_t next = row + 1 + sample_below(r, p->m);
    if (next > p->m) next = p->m;
    math_gemm_f32(g, row, next, 0, column, scratch);
    math_gemm_f32(g, row, next, column, p->n, scratch);
    row = next;
  }
  CHECK(memcmp(whole, p->c, bytes) == 0);
  free(whole);
}

static void check_f32(sample_random *r) {
  static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 70};
  static const size_t depths[] = {0, 1, 2, 5, 16, 255, 257, 600};
  static const math_params limits = {{-0.5, 0.75, 0, 0}, {0, 0}};
  for (int i = 0; i < 260; i++) {
    problem p = make(r, sizes[sample_below(r, 13)], sizes[sample_below(r, 13)], depths[sample_below(r, 8)],
                     (int)sample_below(r, 4));
    math_epilogue e = MATH_EPILOGUE_NONE;
    e.bias_kind = (int)sample_below(r, 4);
    e.bias = e.bias_kind ? p.bias : NULL;
    e.residual = i % 3 ? p.residual : NULL;
    e.residual_stride = (ptrdiff_t)p.n;
    e.residual_last = i % 2;
    e.loop = i % 5 == 0 ? LOOP_NONE : i % 5 == 1 ? LOOP_clip_f32 : LOOP_relu_f32;
    e.params = &limits;
    if (i % 4 == 0) e.alpha = 0.5f, e.bias_scale = -2.0f, e.residual_scale = 3.0f;
    const math_epilogue *used = i % 7 ? &e : NULL;
    void *packed = pack(&p), *scratch = sample_alloc(math_gemm_scratch_bytes(p.m, p.n, p.k));
    for (int form = 0; form < 2; form++) {
      math_gemm g = describe(&p, form ? packed : NULL, used);
      memset(p.c, 0xff, p.m * p.n * 4);
      math_gemm_f32(&g, 0, p.m, 0, p.n, scratch);
      check_result(&p, used);
      if (p.m && p.n) check_splits(&p, &g, scratch, r);
    }
    drop(&p), free(packed), free(scratch);
  }
}

static int32_t byte_at(const uint8_t *p, size_t i, bool is_signed) { return is_signed ? (int8_t)p[i] : p[i]; }

static void check_int8(sample_random *r) {
  static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 17, 66};
  for (int i = 0; i < 120; i++) {
    size_t m = sizes[sample_below(r, 9)], n = sizes[sample_below(r, 9)],
           k = i % 10 == 0   ? 0
               : i % 10 == 1 ? 700
                             : sizes[sample_below(r, 9)];
    bool as = i & 1, bs = i & 2, transposed = i & 4;
    uint8_t *a = sample_alloc(m * k), *b = sample_alloc(k * n), *az = sample_alloc(m), *bz = sample_alloc(n);
    for (size_t q = 0; q < m * k; q++) a[q] = (uint8_t)sample_bits(r);
    for (size_t q = 0; q < k * n; q++) b[q] = (uint8_t)sample_bits(r);
    for (size_t q = 0; q < m; q++) az[q] = (uint8_t)sample_bits(r);
    for (size_t q = 0; q < n; q++) bz[q] = (uint8_t)sample_bits(r);
    int32_t *c = sample_alloc(m * n * 4);
    void *packed = sample_alloc(math_gemm_int8_packed_b_bytes(k, n)),
         *scratch = sample_alloc(math_gemm_int8_scratch_bytes(m, n, k));
    bool az_used = i % 3 != 0, bz_used = i % 3 != 1;
    ptrdiff_t az_step = i % 5 == 0 ? 0 : 1, bz_step = i % 7 == 0 ? 0 : 1;
    math_gemm_int8_pack_b(packed, b, bs, transposed ? 1 : (ptrdiff_t)n, transposed ? (ptrdiff_t)k : 1,
                          bz_used ? bz : NULL, bz_step, k, n);
    math_gemm_int8 g = {.m = m,
                        .n = n,
                        .k = k,
                        .a = a,
                        .a_signed = as,
                        .a_row_stride = (ptrdiff_t)k,
                        .a_col_stride = 1,
                        .a_zero = az_used ? az : NULL,
                        .a_zero_stride = az_step,
                        .b_packed = packed,
                        .c = c,
                        .c_row_stride = (ptrdiff_t)n};
    math_gemm_int8_run(&g, m / 3, m, scratch);
    math_gemm_int8_run(&g, 0, m / 3, scratch);
    int good = 1;
    for (size_t row = 0; row < m; row++) {
      for (size_t col = 0; col < n; col++) {
        int32_t sum = 0;
        for (size_t q = 0; q < k; q++) {
          int32_t x = byte_at(a, row * k + q, as) - (az_used ? byte_at(az, az_step ? row : 0, as) : 0);
          int32_t y = byte_at(b, transposed ? col * k + q : q * n + col, bs) -
                      (bz_used ? byte_at(bz, bz_step ? col : 0, bs) : 0);
          sum += x * y;
        }
        good &= c[row * n + col] == sum;
      }
    }
    CHECK(good);
    free(a), free(b), free(az), free(bz), free(c), free(packed), free(scratch);
  }
}

static void check_plain(sample_random *r) {
  enum { M = 5, N = 70, K = 9 };
  int64_t a[M * K], b[K * N], c[M * N];
  double x[M * K], y[K * N], z[M * N];
  sample_fill(r, MATH_I64, a, M * K);
  sample_fill(r, MATH_I64, b, K * N);
  for (size_t i = 0; i < M * K; i++) x[i] = sample_uniform(r, -1, 1);
  for (size_t i = 0; i < K * N; i++) y[i] = sample_uniform(r, -1, 1);
  for (int transposed = 0; transposed < 2; transposed++) {
    ptrdiff_t br = transposed ? 1 : N, bc = transposed ? K : 1;
    CHECK(math_matmul(MATH_I64, c, N, a, K, 1, b, br, bc, M, N, K));
    CHECK(math_matmul(MATH_F64, z, N, x, K, 1, y, br, bc, M, N, K));
    for (size_t i = 0; i < M; i++) {
      for (size_t j = 0; j < N; j++) {
        uint64_t sum = 0;
        double real = 0;
        for (size_t q = 0; q < K; q++) {
          size_t at = transposed ? j * K + q : q * N + j;
          sum += (uint64_t)a[i * K + q] * (uint64_t)b[at];
          real += x[i * K + q] * y[at];
        }
        CHECK_EQ(c[i * N + j], (int64_t)sum);
        CHECK(fabs(z[i * N + j] - real) < 1e-14);
      }
    }
  }
  CHECK(!math_matmul(MATH_F16, c, N, a, K, 1, b, N, 1, M, N, K));
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_f32(&r);
  check_int8(&r);
  check_plain(&r);
  return CHECK_END();
}
