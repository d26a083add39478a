#include "rows.h"

#include "check.h"
#include "sample.h"

static void check_softmax(sample_random *r) {
  static const size_t lengths[] = {1, 2, 3, 4, 7, 16, 33, 100, 4100}, inners[] = {1, 1, 2, 3, 4, 9};
  for (int i = 0; i < 200; i++) {
    size_t outer = 1 + sample_below(r, 3), n = lengths[sample_below(r, 9)],
           inner = inners[sample_below(r, 6)], count = outer * n * inner;
    bool logarithm = i & 1;
    float *x = sample_alloc(count * 4), *y = sample_alloc(count * 4);
    double *xd = sample_alloc(count * 8), *yd = sample_alloc(count * 8);
    sample_floats(r, x, count, i % 4 == 0 ? -500 : -10, i % 4 == 0 ? 500 : 10);
    for (size_t e = 0; e < count; e++) xd[e] = (double)x[e];
    math_softmax_f32(y, x, outer, n, inner, logarithm);
    math_softmax_f64(yd, xd, outer, n, inner, logarithm);
    double worst = 0, worst_double = 0;
    for (size_t e = 0; e < outer * inner; e++) {
      size_t begin = e / inner * n * inner + e % inner;
      double largest = -HUGE_VAL, sum = 0;
      for (size_t k = 0; k < n; k++) largest = fmax(largest, xd[begin + k * inner]);
      for (size_t k = 0; k < n; k++) sum += exp(xd[begin + k * inner] - largest);
      for (size_t k = 0; k < n; k++) {
        double v = xd[begin + k * inner] - largest, want = logarithm ? v - log(sum) : exp(v) / sum;
        double scale = logarithm ? 1 + fabs(want) : want + 1e-30;
        worst = fmax(worst, fabs((double)y[begin + k * inner] - want) / scale);
        worst_double = fmax(worst_double, fabs(yd[begin + k * inner] - want) / scale);
      }
    }
    if (!CHECK(worst < 6e-6)) printf("  [%zu, %zu, %zu] log %d: %g\n", outer, n, inner, logarithm, worst);
    CHECK(worst_double < 1e-12);
    math_softmax_f32(x, x, outer, n, inner, logarithm);
    CHECK(memcmp(x, y, count * 4) == 0);
    free(x), free(y), free(xd), free(yd);
  }
  float masked[5] = {-INFINITY, 0, -INFINITY, 0, -INFINITY},
        none[5] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY}, y[5];
  math_softmax_f32(y, masked, 1, 5, 1, false);
  CHECK(y[0] == 0 && y[1] == 0.5f && y[2] == 0 && y[3] == 0.5f && y[4] == 0);
  math_softmax_f32(y, none, 1, 5, 1, false);
  CHECK(isnan(y[0]) && isnan(y[4]));
}

static void check_norms(sample_random *r) {
  static const size_t lengths[] = {1, 2, 3, 4, 5, 15, 16, 17, 768, 5000};
  for (int i = 0; i < 80; i++) {
    size_t rows = 1 + sample_below(r, 4), n = lengths[sample_below(r, 10)];
    float *x = sample_alloc(rows * n * 4), *y = sample_alloc(rows * n * 4), *z = sample_alloc(rows * n * 4);
    float *scale = sample_alloc(n * 4), *bias = sample_alloc(n * 4), mean[4], factor[4], variance[4];
    sample_floats(r, x, rows * n, 3, 5); // a mean that is large against the deviation
    sample_floats(r, scale, n, -1, 1);
    sample_floats(r, bias, n, -1, 1);
    const float *s = i % 3 ? scale : NULL, *b = i % 2 ? bias : NULL;
    math_layer_norm_f32(y, x, rows, n, 1e-5f, s, b, mean, factor);
    math_rms_norm_f32(z, x, rows, n, 1e-5f, s);
    math_moments_f32(NULL, variance, x, rows, n);
    double worst = 0;
    for (size_t row = 0; row < rows; row++) {
      double m = 0, v = 0, square = 0;
      for (size_t j = 0; j < n; j++) m += (double)x[row * n + j] / (double)n;
      for (size_t j = 0; j < n; j++) {
        double d = (double)x[row * n + j];
        v += (d - m) * (d - m) / (double)n;
        square += d * d / (double)n;
      }
      double f = 1 / sqrt(v + (double)1e-5f), g = 1 / sqrt(square + (double)1e-5f);
      worst = fmax(worst, fmax(fabs((double)mean[row] - m), fabs((double)variance[row] - v)));
      worst = fmax(worst, fabs((double)factor[row] - f) / f);
      for (size_t j = 0; j < n; j++) {
        double d = (double)x[row * n + j], w = s ? (double)s[j] : 1;
        double e = fabs((double)y[row * n + j] - ((d - m) * f * w + (b ? (double)b[j] : 0)));
        worst = fmax(worst, n > 1 ? e / (1 + f * 0.5) : 0); // the mean's rounding counts f-fold
        worst = fmax(worst, fabs((double)z[row * n + j] - d * g * w));
      }
    }
    if (!CHECK(worst < 2e-6)) printf("  %zu rows of %zu: %g\n", rows, n, worst);
    math_scale_rows_f32(z, x, rows, n, 2, scale, NULL);
    math_scale_rows_f32(y, x, rows, n, 2, NULL, bias);
    int good = 1;
    for (size_t e = 0; e < rows * n; e++) {
      size_t k = n > 1 ? e / n % 2 : 0;
      if (n == 1) continue;
      good &= z[e] == x[e] * scale[k] && y[e] == x[e] * 1.0f + bias[k];
    }
    CHECK(good);
    free(x), free(y), free(z), free(scale), free(bias);
  }
}

static void check_dot(sample_random *r) {
  float a[5003], b[5003];
  for (size_t n = 0; n < 5003; n = n * 2 + 1) {
    sample_floats(r, a, n, -1, 1);
    sample_floats(r, b, n, -1, 1);
    double want = 0;
    for (size_t i = 0; i < n; i++) want += (double)a[i] * (double)b[i];
    CHECK(fabs((double)math_dot_f32(a, b, n) - want) < 1e-5);
  }
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_softmax(&r);
  check_norms(&r);
  check_dot(&r);
  return CHECK_END();
}
