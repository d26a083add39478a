#include "scalars.h"

#include "check.h"
#include "sample.h"

typedef struct function {
  const char *name;
  double (*ours)(double), (*libm)(double);
  double low, high, bound; // units in the last place, libm's own error included
} function;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static const function functions[] = {
    {"exp", math_exp, exp, -745, 709, 2},
    {"expm1", math_expm1, expm1, -40, 700, 2.5},
    {"expm1", math_expm1, expm1, -1, 1, 2.5},
    {"log", math_log, log, 0, 1e6, 2},
    {"log", math_log, log, 0.5, 2, 2},
    {"log1p", math_log1p, log1p, -1, 3, 2},
    {"log2", math_log2, log2, 0, 100, 3},
    {"log10", math_log10, log10, 0, 100, 3},
    {"sin", math_sin, sin, -10, 10, 2},
    {"sin", math_sin, sin, -1e6, 1e6, 2},
    {"sin", math_sin, sin, -1e300, 1e300, 2},
    {"cos", math_cos, cos, -10, 10, 2},
    {"cos", math_cos, cos, -1e9, 1e9, 2},
    {"tan", math_tan, tan, -10, 10, 3},
    {"tan", math_tan, tan, -1e12, 1e12, 3},
    {"asin", math_asin, asin, -1, 1, 2},
    {"acos", math_acos, acos, -1, 1, 2},
    {"atan", math_atan, atan, -4, 4, 2.5},
    {"atan", math_atan, atan, -1e9, 1e9, 2.5},
    {"sinh", math_sinh, sinh, -3, 3, 3},
    {"sinh", math_sinh, sinh, -710, 710, 4},
    {"cosh", math_cosh, cosh, -3, 3, 3},
    {"cosh", math_cosh, cosh, -710, 710, 4},
    {"tanh", math_tanh, tanh, -3, 3, 3.5},
    {"tanh", math_tanh, tanh, -30, 30, 3.5},
    {"asinh", math_asinh, asinh, -3, 3, 3},
    {"asinh", math_asinh, asinh, -1e10, 1e10, 3},
    {"acosh", math_acosh, acosh, 1, 3, 3},
    {"acosh", math_acosh, acosh, 1, 1e10, 3},
    {"atanh", math_atanh, atanh, -1, 1, 3},
    {"erf", math_erf, erf, -7, 7, 3},
    {"erfc", math_erfc, erfc, -7, 26, 8},
    {"sigmoid", math_sigmoid, sigmoid, -40, 40, 5},
    {"softplus", math_softplus, softplus, -40, 40, 3},
};

static const double specials[] = {0,    -0.0,  1,      -1,     2,      -2,         3,        -3,        0.5,
                                  -0.5, 1e300, -1e300, 1e-310, 0x1p53, 0x1p53 + 2, INFINITY, -INFINITY, NAN};
enum { SPECIALS = sizeof specials / sizeof *specials };

// The same value, sign of zero included, or finite ones within the bound.
static int agrees(double got, double want, double bound) {
  if (want == 0 || !isfinite(want))
    return (got != got && want != want) || (got == want && signbit(got) == signbit(want));
  return sample_ulp_f64(got, want) <= bound;
}

static void check_functions(sample_random *r) {
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    const function *fn = &functions[f];
    double worst = 0, at = 0;
    for (int i = 0; i < 20000; i++) {
      double x = sample_uniform(r, fn->low, fn->high);
      double error = sample_ulp_f64(fn->ours(x), fn->libm(x));
      if (error > worst) {
        worst = error;
        at = x;
      }
    }
    if (!CHECK(worst <= fn->bound)) printf("  %s(%.17g): %g units\n", fn->name, at, worst);
    if (fn->libm == sigmoid || fn->libm == softplus) continue;
    for (int i = 0; i < SPECIALS; i++) {
      if (!CHECK(agrees(fn->ours(specials[i]), fn->libm(specials[i]), fn->bound)))
        printf("  %s(%g) = %g\n", fn->name, specials[i], fn->ours(specials[i]));
    }
  }
}

static void check_two_operands(sample_random *r) {
  for (int i = 0; i < SPECIALS; i++) {
    for (int j = 0; j < SPECIALS; j++) {
      double x = specials[i], y = specials[j];
      if (!CHECK(agrees(math_pow(x, y), pow(x, y), 1))) printf("  pow(%g, %g) = %g\n", x, y, math_pow(x, y));
      if (x != x || y != y) continue;
      if (!CHECK(agrees(math_atan2(x, y), atan2(x, y), 3)))
        printf("  atan2(%g, %g) = %g\n", x, y, math_atan2(x, y));
    }
  }
  for (int i = 0; i < 20000; i++) {
    double x = sample_uniform(r, 0, 4), y = sample_uniform(r, -400, 400);
    if (!CHECK(agrees(math_pow(x, y), pow(x, y), 2))) printf("  pow(%.17g, %.17g)\n", x, y);
    double n = rint(sample_uniform(r, -9, 9));
    if (!CHECK(agrees(math_pow(-x, n), pow(-x, n), 2))) printf("  pow(%.17g, %g)\n", -x, n);
    double a = sample_uniform(r, -4, 4), b = sample_uniform(r, -4, 4);
    if (!CHECK(agrees(math_atan2(a, b), atan2(a, b), 3))) printf("  atan2(%.17g, %.17g)\n", a, b);
  }
}

// The doubles that lie closest to multiples of pi/2, where a reduction that is a little short fails altogether.
static void check_hard_angles(void) {
  const double x = ldexp(6381956970095103.0, 797);
  CHECK(agrees(math_cos(x), -4.6871659242546276e-19, 1)); // not every libm is right here
  CHECK(agrees(math_sin(x), 1, 1));
  for (int k = 1; k < 3000; k += 7) {
    double near = k * 1.5707963267948966;
    CHECK(agrees(math_sin(near), sin(near), 2));
    CHECK(agrees(math_cos(near), cos(near), 2));
  }
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_functions(&r);
  check_two_operands(&r);
  check_hard_angles();
  return CHECK_END();
}
