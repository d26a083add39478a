/* f64 loops: one expression an element. */
#include "loops.h"
#include "scalars.h"

#include <math.h>

/* Hints to unroll or vectorise are wishes: sanitizers and lower levels of optimisation may refuse them. */
#pragma clang diagnostic ignored "-Wpass-failed"

#define UNARY(op, expression)                                                        \
  void math_##op##_f64(void *dst, const void *src, size_t n, const math_params *p) { \
    const double a = p ? p->f[0] : 0, b = p ? p->f[1] : 0;                           \
    (void)a, (void)b;                                                                \
    double *d = dst;                                                                 \
    const double *s = src;                                                           \
    _Pragma("clang loop unroll(disable)") for (size_t i = 0; i < n; i++) {           \
      const double x = s[i];                                                         \
      d[i] = expression;                                                             \
    }                                                                                \
  }

static double f64__clip(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

static double f64__hard_sigmoid(double x, double alpha, double beta) {
  return f64__clip(x * alpha + beta, 0, 1);
}

static double f64__mish(double x) {
  double e = math_exp(x > 40 ? 40 : x);
  double t = e * (e + 2);
  return x * (t / (t + 2));
}

UNARY(abs, fabs(x))
UNARY(neg, -x)
UNARY(sign, x > 0 ? 1 : x < 0 ? -1 : x + 0)
UNARY(relu, x < 0 ? 0 : x)
UNARY(sqrt, sqrt(x))
UNARY(reciprocal, 1 / x)
UNARY(floor, floor(x))
UNARY(ceil, ceil(x))
UNARY(round, rint(x))
UNARY(softsign, x / (1 + fabs(x)))
UNARY(hard_swish, x *f64__hard_sigmoid(x, 1.0 / 6, 0.5))
UNARY(clip, f64__clip(x, a, b))
UNARY(affine, x *a + b)
UNARY(leaky_relu, x < 0 ? x * a : x)
UNARY(thresholded_relu, x > a ? x : 0)
UNARY(hard_sigmoid, f64__hard_sigmoid(x, a, b))
UNARY(shrink, x<-b ? x + a : x> b ? x - a : 0)
UNARY(exp, math_exp(x))
UNARY(log, math_log(x))
UNARY(sin, math_sin(x))
UNARY(cos, math_cos(x))
UNARY(tan, math_tan(x))
UNARY(asin, math_asin(x))
UNARY(acos, math_acos(x))
UNARY(atan, math_atan(x))
UNARY(sinh, math_sinh(x))
UNARY(cosh, math_cosh(x))
UNARY(tanh, math_tanh(x))
UNARY(asinh, math_asinh(x))
UNARY(acosh, math_acosh(x))
UNARY(atanh, math_atanh(x))
UNARY(erf, math_erf(x))
UNARY(sigmoid, math_sigmoid(x))
UNARY(softplus, math_softplus(x))
UNARY(mish, f64__mish(x))
UNARY(gelu, 0.5 * x * (1 + math_erf(x * 0.70710678118654757)))
UNARY(gelu_tanh, 0.5 * x * (1 + math_tanh(0.79788456080286541 * (x + 0.044715 * x * x * x))))
UNARY(swish, x *math_sigmoid(x *a))
UNARY(elu, x < 0 ? a * math_expm1(x) : x)
UNARY(selu, b *(x < 0 ? a * math_expm1(x) : x))
UNARY(celu, x < 0 ? a * math_expm1(x / a) : x)

void math_is_nan_f64(void *dst, const void *src, size_t n, const math_params *p) {
  (void)p;
  uint8_t *d = dst;
  const double *s = src;
  for (size_t i = 0; i < n; i++) d[i] = s[i] != s[i];
}

void math_is_inf_f64(void *dst, const void *src, size_t n, const math_params *p) {
  uint8_t *d = dst;
  const double *s = src;
  const double infinity = (double)__builtin_inf();
  const uint8_t negative = p->i[0] != 0, positive = p->i[1] != 0;
  for (size_t i = 0; i < n; i++)
    d[i] = (uint8_t)((positive & (s[i] == infinity)) | (negative & (s[i] == -infinity)));
}

static double f64__max(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return copysign(1, x) < 0 ? y : x;
  return x > y ? x : y;
}

static double f64__min(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return copysign(1, x) < 0 ? x : y;
  return x < y ? x : y;
}

static double f64__floored(double x, double y) {
  double r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* A single operand is read before anything is written: dst may be the other one only, but its address may be the same. */
#define BINARY(op, expression)                                                           \
  ptrdiff_t math_##op##_f64(void *dst, const void *a, const void *b, size_t n, int mode, \
                            const math_params *p) {                                      \
    (void)p;                                                                             \
    if (n == 0) return -1;                                                               \
    double *d = dst;                                                                     \
    const double *s = a, *t = b;                                                         \
    const double s0 = s[0], t0 = t[0];                                                   \
    if (mode == MATH_VV) {                                                               \
      _Pragma("clang loop unroll(disable)") for (size_t i = 0; i < n; i++) {             \
        const double x = s[i], y = t[i];                                                 \
        d[i] = expression;                                                               \
      }                                                                                  \
    } else {                                                                             \
      for (size_t i = 0; i < n; i++) {                                                   \
        const double x = mode == MATH_SV ? s0 : s[i], y = mode == MATH_VS ? t0 : t[i];   \
        d[i] = expression;                                                               \
      }                                                                                  \
    }                                                                                    \
    return -1;                                                                           \
  }

BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, x *y)
BINARY(div, x / y)
BINARY(max, f64__max(x, y))
BINARY(min, f64__min(x, y))
BINARY(prelu, x < 0 ? x * y : x)
BINARY(pow, math_pow(x, y))
BINARY(fmod, fmod(x, y))
BINARY(mod, f64__floored(x, y))
