#include "reduce.h"

#include "check.h"
#include "sample.h"

static double value_at(int type, const void *p, size_t i) {
  switch (type) {
  case MATH_F32: return (double)((const float *)p)[i];
  case MATH_F64: return ((const double *)p)[i];
  case MATH_I8: return ((const int8_t *)p)[i];
  case MATH_I16: return ((const int16_t *)p)[i];
  case MATH_U16: return ((const uint16_t *)p)[i];
  case MATH_I32: return ((const int32_t *)p)[i];
  case MATH_U32: return ((const uint32_t *)p)[i];
  case MATH_I64: return (double)((const int64_t *)p)[i];
  case MATH_U64: return (double)((const uint64_t *)p)[i];
  default: return ((const uint8_t *)p)[i];
  }
}

static void store(int type, void *p, size_t i, double x) {
  switch (type) {
  case MATH_F32: ((float *)p)[i] = (float)x; break;
  case MATH_F64: ((double *)p)[i] = x; break;
  case MATH_I8: ((int8_t *)p)[i] = (int8_t)x; break;
  case MATH_I16: ((int16_t *)p)[i] = (int16_t)x; break;
  case MATH_U16: ((uint16_t *)p)[i] = (uint16_t)fabs(x); break;
  case MATH_I32: ((int32_t *)p)[i] = (int32_t)x; break;
  case MATH_U32: ((uint32_t *)p)[i] = (uint32_t)fabs(x); break;
  case MATH_I64: ((int64_t *)p)[i] = (int64_t)x; break;
  case MATH_U64: ((uint64_t *)p)[i] = (uint64_t)fabs(x); break;
  case MATH_BOOL: ((uint8_t *)p)[i] = x > 0; break;
  default: ((uint8_t *)p)[i] = (uint8_t)fabs(x); break;
  }
}

static double reduced(math_reduction r, int type, const void *src, size_t begin, size_t n, size_t stride) {
  double sum = 0, absolute = 0, squares = 0, product = 1, largest = -HUGE_VAL, smallest = HUGE_VAL,
         exponentials = 0;
  bool nan = false;
  for (size_t i = 0; i < n; i++) {
    double x = value_at(type, src, begin + i * stride);
    nan |= x != x;
    sum += x, absolute += fabs(x), squares += x * x, product *= x;
    largest = x > largest ? x : largest, smallest = x < smallest ? x : smallest;
  }
  for (size_t i = 0; i < n; i++)
    exponentials += exp(value_at(type, src, begin + i * stride) - (isfinite(largest) ? largest : 0));
  switch (r) {
  case MATH_REDUCE_SUM: return sum;
  case MATH_REDUCE_MEAN: return sum / (double)n;
  case MATH_REDUCE_MAX: return nan ? NAN : largest;
  case MATH_REDUCE_MIN: return nan ? NAN : smallest;
  case MATH_REDUCE_PROD: return product;
  case MATH_REDUCE_SUM_SQUARE: return squares;
  case MATH_REDUCE_L1: return absolute;
  case MATH_REDUCE_L2: return sqrt(squares);
  case MATH_REDUCE_LOG_SUM: return log(sum);
  default: return nan ? NAN : (isfinite(largest) ? largest : 0) + log(exponentials);
  }
}

static int close_to(double got, double want, double bound) {
  if (want != want) return got != got;
  return got == want || fabs(got - want) <= bound;
}

static void check_reductions(sample_random *r) {
  static const int types[] = {MATH_F32, MATH_F64, MATH_I32, MATH_U32, MATH_I64, MATH_U64,
                              MATH_I8,  MATH_U8,  MATH_I16, MATH_U16, MATH_BOOL};
  static const size_t lengths[] = {1, 2, 3, 5, 16, 17, 66, 131, 5000}, inners[] = {1, 1, 2, 4, 7, 33, 300};
  for (int i = 0; i < 900; i++) {
    int type = types[i % 11];
    math_reduction op = (math_reduction)(i / 11 % MATH_REDUCTION_COUNT);
    if (i % 11 > 5) op = i % 2 ? MATH_REDUCE_MAX : MATH_REDUCE_MIN;
    size_t outer = 1 + sample_below(r, 3), n = lengths[sample_below(r, 9)],
           inner = inners[sample_below(r, 7)];
    if (op == MATH_REDUCE_PROD && n > 7) n = 6;
    if (n * inner > 50000) inner = 4;
    bool whole = type != MATH_F32 && type != MATH_F64;
    void *src = sample_alloc(outer * n * inner * 8), *dst = sample_alloc(outer * inner * 8);
    for (size_t e = 0; e < outer * n * inner; e++)
      store(type, src, e, whole ? rint(sample_uniform(r, -9, 9)) : sample_uniform(r, -2, 2));
    if (!whole && i % 5 == 0) store(type, src, sample_below(r, outer * n * inner), i % 2 ? NAN : INFINITY);
    CHECK(math_reduce(op, type, dst, src, outer, n, inner));
    int good = 1;
    for (size_t e = 0; e < outer * inner; e++) {
      double want = reduced(op, type, src, e / inner * n * inner + e % inner, n, inner),
             got = value_at(type, dst, e);
      double bound =
          type == MATH_F64 ? 1e-11 * (1 + fabs(want)) : 4e-7 * (double)(n + 4) / (double)(n > 500 ? 20 : 1);
      // The logarithm of a sum near zero, and products, carry the error of the sum on.
      if (op == MATH_REDUCE_LOG_SUM && !whole) bound = bound / fmax(fabs(exp(want)), 1e-3) * 4;
      if (op == MATH_REDUCE_PROD || op == MATH_REDUCE_SUM_SQUARE || op == MATH_REDUCE_L1)
        bound += 1e-6 * fabs(want);
      if (whole) {
        want = want != want || (want < 0 && (type == MATH_U32 || type == MATH_U64)) ? got
               : want < -1e9                                                        ? got
                                                                                    : trunc(want);
        bound = op >= MATH_REDUCE_L2 ? 1 : 0; // truncation just above or below an integer
      }
      if (!close_to(got, want, bound)) {
        printf("  type %d reduction %d [%zu, %zu, %zu]: %.9g, want %.9g\n", type, op, outer, n, inner, got,
               want);
        good = 0;
      }
    }
    CHECK(good);
    free(src), free(dst);
  }
  float x = 0;
  CHECK(!math_reduce(MATH_REDUCE_SUM, MATH_F16, &x, &x, 1, 1, 1));
  CHECK(!math_reduce(MATH_REDUCE_SUM, MATH_U8, &x, &x, 1, 1, 1));
}

static float of_nothing(math_reduction op, size_t inner) {
  float y[8], x[1] = {0};
  math_reduce(op, MATH_F32, y, x, 1, 0, inner);
  return y[inner - 1];
}

static void check_empty(void) {
  for (size_t inner = 1; inner < 9; inner++) {
    CHECK(of_nothing(MATH_REDUCE_SUM, inner) == 0 && of_nothing(MATH_REDUCE_PROD, inner) == 1);
    CHECK(of_nothing(MATH_REDUCE_MAX, inner) == -INFINITY && of_nothing(MATH_REDUCE_MIN, inner) == INFINITY);
    CHECK(isnan(of_nothing(MATH_REDUCE_MEAN, inner)) && of_nothing(MATH_REDUCE_LOG_SUM, inner) == -INFINITY);
    CHECK(of_nothing(MATH_REDUCE_LOG_SUM_EXP, inner) == -INFINITY && of_nothing(MATH_REDUCE_L2, inner) == 0);
  }
  int32_t lowest;
  math_reduce(MATH_REDUCE_MAX, MATH_I32, &lowest, &lowest, 1, 0, 1);
  CHECK_EQ(lowest, INT32_MIN);
}

// A million tenths: sums that lose small terms are far off.
static void check_long_sums(void) {
  enum { N = 1 << 20 };
  float *x = sample_alloc(N * 4), y[4];
  for (size_t i = 0; i < N; i++) x[i] = 0.1f;
  math_reduce(MATH_REDUCE_SUM, MATH_F32, y, x, 1, N, 1);
  CHECK(fabs((double)y[0] - N * (double)0.1f) < 1);
  math_reduce(MATH_REDUCE_SUM, MATH_F32, y, x, 1, N / 4, 4);
  CHECK(fabs((double)y[3] - N / 4 * (double)0.1f) < 0.5);
  free(x);
}

// Reducing two axes that are apart, one after the other, is reducing both.
static void check_passes(sample_random *r) {
  enum { A = 5, B = 3, C = 4 };
  float x[A * B * C], middle[A * B], y[B], moved[B * A * C], want[B];
  sample_floats(r, x, A * B * C, 0.1, 2);
  for (size_t a = 0; a < A; a++)
    for (size_t b = 0; b < B; b++)
      for (size_t c = 0; c < C; c++) moved[(b * A + a) * C + c] = x[(a * B + b) * C + c];
  for (int op = 0; op < MATH_REDUCTION_COUNT; op++) {
    math_reduce_passes p = math_reduce_steps((math_reduction)op);
    math_reduce(p.first, MATH_F32, middle, x, A * B, C, 1);
    math_reduce(p.last, MATH_F32, y, middle, 1, A, B);
    math_reduce((math_reduction)op, MATH_F32, want, moved, B, A * C, 1);
    for (int b = 0; b < B; b++) CHECK(fabs((double)y[b] - (double)want[b]) <= 1e-5 * fabs((double)want[b]));
  }
}

static void check_extremes(sample_random *r) {
  static const int types[] = {MATH_F32, MATH_F64, MATH_I8,  MATH_U8,  MATH_I16, MATH_U16,
                              MATH_I32, MATH_U32, MATH_I64, MATH_U64, MATH_BOOL};
  for (int i = 0; i < 440; i++) {
    int type = types[i % 11];
    bool largest = i & 1, last = i & 2;
    size_t outer = 1 + sample_below(r, 3), n = 1 + sample_below(r, 40),
           inner = i % 3 ? 1 + sample_below(r, 200) : 1;
    void *src = sample_alloc(outer * n * inner * 8);
    int64_t *dst = sample_alloc(outer * inner * 8);
    for (size_t e = 0; e < outer * n * inner; e++) {
      double x = rint(sample_uniform(r, -3, 3));
      store(type, src, e, i % 11 < 2 && sample_below(r, 60) == 0 ? NAN : x);
    }
    CHECK(math_arg_extreme(type, largest, last, dst, src, outer, n, inner));
    int good = 1;
    for (size_t e = 0; e < outer * inner; e++) {
      size_t begin = e / inner * n * inner + e % inner, want = 0;
      for (size_t k = 1; k < n; k++) {
        double x = value_at(type, src, begin + k * inner), best = value_at(type, src, begin + want * inner);
        bool better = largest ? x > best : x < best;
        if (x != x ? last || best == best : best == best && (better || (last && x == best))) want = k;
      }
      good &= dst[e] == (int64_t)want;
    }
    CHECK(good);
    free(src), free(dst);
  }
}

static void check_running(sample_random *r) {
  static const int types[] = {MATH_F32, MATH_F64, MATH_I32, MATH_U32, MATH_I64, MATH_U64};
  for (int i = 0; i < 192; i++) {
    int type = types[i % 6];
    bool product = i / 6 & 1, exclusive = i / 12 & 1, reverse = i / 24 & 1;
    size_t outer = 1 + sample_below(r, 3), n = 1 + sample_below(r, 8), inner = 1 + sample_below(r, 150);
    void *x = sample_alloc(outer * n * inner * 8), *y = sample_alloc(outer * n * inner * 8);
    for (size_t e = 0; e < outer * n * inner; e++) store(type, x, e, rint(sample_uniform(r, 1, 3)));
    CHECK(math_cumulate(type, product, exclusive, reverse, y, x, outer, n, inner));
    int good = 1;
    for (size_t o = 0; o < outer; o++) {
      for (size_t j = 0; j < inner; j++) {
        double acc = product ? 1 : 0;
        for (size_t k = 0; k < n; k++) {
          size_t at = (o * n + (reverse ? n - 1 - k : k)) * inner + j;
          double v = value_at(type, x, at), next = product ? acc * v : acc + v;
          good &= value_at(type, y, at) == (exclusive ? acc : next);
          acc = next;
        }
      }
    }
    CHECK(good);
    CHECK(math_cumulate(type, product, exclusive, reverse, x, x, outer, n, inner));
    CHECK(memcmp(x, y, outer * n * inner * math_type_width(type)) == 0);
    free(x), free(y);
  }
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_reductions(&r);
  check_empty();
  check_long_sums();
  check_passes(&r);
  check_extremes(&r);
  check_running(&r);
  return CHECK_END();
}
