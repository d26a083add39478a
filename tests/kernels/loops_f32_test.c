#include "check.h"
#include "loops.h"
#include "sample.h"

// Errors of the f32 loops against the same function in double, in units in the last place of the result.

typedef struct function {
  const char *name;
  math_loop_id loop;
  double (*exact)(double);
  double low, high, bound;
} function;

static double gelu(double x) { return 0.5 * x * erfc(-x * 0.70710678118654757); }
static double mish(double x) { return x * tanh(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x))); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double swish(double x) { return x / (1 + exp(-x)); }
static double elu(double x) { return x < 0 ? expm1(x) : x; }
static double softsign(double x) { return x / (1 + fabs(x)); }
static double reciprocal(double x) { return 1 / x; }
static double relu(double x) { return x < 0 ? 0 : x; }
static double negate(double x) { return -x; }

static const function functions[] = {
    {"exp", LOOP_exp_f32, exp, -87, 88.7, 1.1},
    {"exp", LOOP_exp_f32, exp, -104, -87, 1.1}, // subnormal results
    {"log", LOOP_log_f32, log, 0, 1e30, 1.1},
    {"log", LOOP_log_f32, log, 0.5, 2, 1.1},
    {"log", LOOP_log_f32, log, 0, 1e-38, 1.1},
    {"tanh", LOOP_tanh_f32, tanh, -10, 10, 2.6},
    {"tanh", LOOP_tanh_f32, tanh, -0.01, 0.01, 2.6},
    {"erf", LOOP_erf_f32, erf, -5, 5, 7.5},
    {"erf", LOOP_erf_f32, erf, -0.01, 0.01, 3.5},
    {"sigmoid", LOOP_sigmoid_f32, sigmoid, -87, 30, 3.6},
    {"sin", LOOP_sin_f32, sin, -100, 100, 2.5},
    {"sin", LOOP_sin_f32, sin, -300, 300, 2.5},
    {"sin", LOOP_sin_f32, sin, -1e5, 1e5, 2.5},
    {"cos", LOOP_cos_f32, cos, -300, 300, 2.5},
    {"sin", LOOP_sin_f32, sin, -1e6, 1e6, 2.5},
    {"sin", LOOP_sin_f32, sin, -1e38, 1e38, 2.5},
    {"cos", LOOP_cos_f32, cos, -100, 100, 2.5},
    {"cos", LOOP_cos_f32, cos, -1e7, 1e7, 2.5},
    {"tan", LOOP_tan_f32, tan, -100, 100, 4},
    {"tan", LOOP_tan_f32, tan, -1e9, 1e9, 4},
    {"asin", LOOP_asin_f32, asin, -1, 1, 2.5},
    {"acos", LOOP_acos_f32, acos, -1, 1, 1.5},
    {"atan", LOOP_atan_f32, atan, -30, 30, 3},
    {"sinh", LOOP_sinh_f32, sinh, -80, 80, 3},
    {"cosh", LOOP_cosh_f32, cosh, -80, 80, 2.5},
    {"sinh", LOOP_sinh_f32, sinh, -89.4, 89.4, 3},
    {"sinh", LOOP_sinh_f32, sinh, -2, 2, 3},
    {"cosh", LOOP_cosh_f32, cosh, -89.4, 89.4, 2.5},
    {"atan", LOOP_atan_f32, atan, -2, 2, 3},
    {"asinh", LOOP_asinh_f32, asinh, -100, 100, 0.51},
    {"acosh", LOOP_acosh_f32, acosh, 1, 100, 0.51},
    {"atanh", LOOP_atanh_f32, atanh, -1, 1, 0.51},
    {"softplus", LOOP_softplus_f32, softplus, -80, 80, 2},
    {"softsign", LOOP_softsign_f32, softsign, -9, 9, 1.5},
    {"mish", LOOP_mish_f32, mish, -80, 80, 4.5},
    {"sqrt", LOOP_sqrt_f32, sqrt, 0, 1e9, 0.5},
    {"reciprocal", LOOP_reciprocal_f32, reciprocal, -9, 9, 0.5},
    {"abs", LOOP_abs_f32, fabs, -9, 9, 0},
    {"neg", LOOP_neg_f32, negate, -9, 9, 0},
    {"relu", LOOP_relu_f32, relu, -9, 9, 0},
    {"floor", LOOP_floor_f32, floor, -9, 9, 0},
    {"ceil", LOOP_ceil_f32, ceil, -9, 9, 0},
    {"round", LOOP_round_f32, rint, -9, 9, 0},
};

static void check_functions(sample_random *r) {
  enum { N = 20003 };
  float *x = sample_alloc(N * sizeof(float)), *y = sample_alloc(N * sizeof(float));
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    const function *fn = &functions[f];
    sample_floats(r, x, N, fn->low, fn->high);
    math_run_unary(fn->loop, MATH_F32, y, x, N, NULL);
    double worst = 0;
    float at = 0;
    for (int i = 0; i < N; i++) {
      double error = sample_ulp_f32(y[i], fn->exact((double)x[i]));
      if (error > worst) {
        worst = error;
        at = x[i];
      }
    }
    if (!CHECK(worst <= fn->bound)) printf("  %s(%.9g): %g units\n", fn->name, (double)at, worst);
  }
  free(x), free(y);
}

// The floats next to multiples of pi/2, where the reduction cancels.
static void check_near_multiples(void) {
  for (int k = 1; k < 20000; k++) {
    float x = (float)(k * 1.5707963267948966), y[2];
    math_run_unary(LOOP_sin_f32, MATH_F32, y, &x, 1, NULL);
    math_run_unary(LOOP_cos_f32, MATH_F32, y + 1, &x, 1, NULL);
    CHECK(sample_ulp_f32(y[0], sin((double)x)) <= 2.5 && sample_ulp_f32(y[1], cos((double)x)) <= 2.5);
  }
}

// Where a product cancels or a tail vanishes, the error is small against the operand, not the result.
static void check_absolute(sample_random *r) {
  enum { N = 20003 };
  static const math_params one = {{1, 1, 0, 0}, {0, 0}};
  static const function loose[] = {{"gelu", LOOP_gelu_f32, gelu, -9, 9, 3e-7},
                                   {"swish", LOOP_swish_f32, swish, -80, 80, 3e-7},
                                   {"elu", LOOP_elu_f32, elu, -30, 3, 2e-7}};
  float *x = sample_alloc(N * sizeof(float)), *y = sample_alloc(N * sizeof(float));
  for (size_t f = 0; f < sizeof loose / sizeof *loose; f++) {
    sample_floats(r, x, N, loose[f].low, loose[f].high);
    math_run_unary(loose[f].loop, MATH_F32, y, x, N, &one);
    double worst = 0;
    for (int i = 0; i < N; i++) {
      double error = fabs((double)y[i] - loose[f].exact((double)x[i])) / (1 + fabs((double)x[i]));
      worst = error > worst ? error : worst;
    }
    if (!CHECK(worst <= loose[f].bound)) printf("  %s: %g\n", loose[f].name, worst);
  }
  free(x), free(y);
}

static float one_of(math_loop_id loop, float x, const math_params *p) {
  float y;
  math_run_unary(loop, MATH_F32, &y, &x, 1, p);
  return y;
}

static void check_parameters(void) {
  math_params p = {{0.1, 0.5, 0, 0}, {1, 0}};
  CHECK(one_of(LOOP_leaky_relu_f32, -2, &p) == -0.2f && one_of(LOOP_leaky_relu_f32, 2, &p) == 2);
  CHECK(one_of(LOOP_affine_f32, 3, &p) == 3 * 0.1f + 0.5f);
  CHECK(one_of(LOOP_thresholded_relu_f32, 0.1f, &p) == 0 &&
        one_of(LOOP_thresholded_relu_f32, 0.2f, &p) == 0.2f);
  CHECK(one_of(LOOP_hard_sigmoid_f32, 100, &p) == 1 && one_of(LOOP_hard_sigmoid_f32, -100, &p) == 0);
  CHECK(one_of(LOOP_shrink_f32, 0.4f, &p) == 0 && one_of(LOOP_shrink_f32, 0.6f, &p) == 0.6f - 0.1f);
  CHECK(one_of(LOOP_shrink_f32, -0.6f, &p) == -0.6f + 0.1f);
  CHECK(one_of(LOOP_clip_f32, 2, &p) == 0.5f && one_of(LOOP_clip_f32, -2, &p) == 0.1f);
  CHECK(isnan(one_of(LOOP_clip_f32, NAN, &p)) && isnan(one_of(LOOP_relu_f32, NAN, NULL)));
  math_params crossed = {{5, 1, 0, 0}, {0, 0}};
  CHECK(one_of(LOOP_clip_f32, 3, &crossed) == 1);
  math_params alpha = {{-2, 0, 0, 0}, {0, 0}};
  CHECK(sample_ulp_f32(one_of(LOOP_celu_f32, 1, &alpha), 1 + 0 * expm1(-0.5)) <= 1);
  CHECK(sample_ulp_f32(one_of(LOOP_celu_f32, -1, &alpha), -2 * expm1(0.5)) <= 1);
  uint8_t flags[4];
  const float x[4] = {INFINITY, -INFINITY, NAN, 1};
  math_run_unary(LOOP_is_inf_f32, MATH_F32, flags, x, 4, &p);
  CHECK(flags[0] == 0 && flags[1] == 1 && flags[2] == 0 && flags[3] == 0);
  math_run_unary(LOOP_is_nan_f32, MATH_F32, flags, x, 4, NULL);
  CHECK(flags[0] == 0 && flags[1] == 0 && flags[2] == 1 && flags[3] == 0);
}

// Far out, saturation is exact: what multiplies 1 + erf or 1 + tanh there must vanish.
static void check_saturation(void) {
  CHECK(one_of(LOOP_erf_f32, 4, NULL) == 1 && one_of(LOOP_erf_f32, -50, NULL) == -1);
  CHECK(one_of(LOOP_tanh_f32, 12, NULL) == 1 && one_of(LOOP_tanh_f32, -1e30f, NULL) == -1);
  CHECK(one_of(LOOP_gelu_f32, -100, NULL) == 0 && one_of(LOOP_gelu_tanh_f32, -100, NULL) == 0);
  CHECK(signbit(one_of(LOOP_tanh_f32, -0.0f, NULL)) && !signbit(one_of(LOOP_tanh_f32, 0.0f, NULL)));
  CHECK(one_of(LOOP_exp_f32, 100, NULL) == INFINITY && one_of(LOOP_exp_f32, -200, NULL) == 0);
  CHECK(one_of(LOOP_log_f32, 0, NULL) == -INFINITY && isnan(one_of(LOOP_log_f32, -1, NULL)));
}

static void check_extremes(void) {
  const float a[6] = {NAN, 1, -0.0f, 0.0f, -INFINITY, 2}, b[6] = {1, NAN, 0.0f, -0.0f, 3, 2};
  float y[6];
  math_run_binary(LOOP_max_f32, MATH_F32, y, a, b, 6, MATH_VV, NULL);
  CHECK(isnan(y[0]) && isnan(y[1]) && !signbit(y[2]) && !signbit(y[3]) && y[4] == 3 && y[5] == 2);
  math_run_binary(LOOP_min_f32, MATH_F32, y, a, b, 6, MATH_VV, NULL);
  CHECK(isnan(y[0]) && isnan(y[1]) && signbit(y[2]) && signbit(y[3]) && y[4] == -INFINITY && y[5] == 2);
}

static void check_pow(sample_random *r) {
  enum { N = 8000 };
  float *x = sample_alloc(N * sizeof(float)), *y = sample_alloc(N * sizeof(float)),
        *z = sample_alloc(N * sizeof(float));
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 0) {
      sample_floats(r, x, N, 0, 20);
      sample_floats(r, y, N, -30, 30);
    } else {
      sample_fill(r, MATH_F32, x, N);
      sample_fill(r, MATH_F32, y, N);
    }
    math_run_binary(LOOP_pow_f32, MATH_F32, z, x, y, N, MATH_VV, NULL);
    for (int i = 0; i < N; i++) {
      double want = pow((double)x[i], (double)y[i]);
      if (!CHECK(sample_ulp_f32(z[i], want) <= 1))
        printf("  pow(%.9g, %.9g) = %.9g\n", (double)x[i], (double)y[i], (double)z[i]);
    }
  }
  free(x), free(y), free(z);
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_functions(&r);
  check_near_multiples();
  check_absolute(&r);
  check_parameters();
  check_saturation();
  check_extremes();
  check_pow(&r);
  return CHECK_END();
}
