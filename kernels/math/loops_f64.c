/* f64 loops: a function of one element each; sums, differences, products and quotients have loops of their own. */
#include "loop_kit.h"
#include "scalars.h"

#include <math.h>

typedef double f64__plain(double x);
typedef double f64__with(double x, double a, double b);
typedef double f64__pair(double x, double y);

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

#define PLAIN(op, expression) \
  static double f64__##op(double x) { return expression; }

#define WITH(op, expression)                              \
  static double f64__##op(double x, double a, double b) { \
    (void)a, (void)b;                                     \
    return expression;                                    \
  }

PLAIN(neg, -x)
PLAIN(sign, x > 0 ? 1 : x < 0 ? -1 : x + 0)
PLAIN(relu, x < 0 ? 0 : x)
PLAIN(reciprocal, 1 / x)
PLAIN(softsign, x / (1 + fabs(x)))
PLAIN(hard_swish, x *f64__hard_sigmoid(x, 1.0 / 6, 0.5))
WITH(affine, x *a + b)
WITH(leaky_relu, x < 0 ? x * a : x)
WITH(thresholded_relu, x > a ? x : 0)
WITH(shrink, x<-b ? x + a : x> b ? x - a : 0)
PLAIN(gelu, 0.5 * x * (1 + math_erf(x * 0.70710678118654757)))
PLAIN(gelu_tanh, 0.5 * x * (1 + math_tanh(0.79788456080286541 * (x + 0.044715 * x * x * x))))
WITH(swish, x *math_sigmoid(x *a))
WITH(elu, x < 0 ? a * math_expm1(x) : x)
WITH(selu, b *(x < 0 ? a * math_expm1(x) : x))
WITH(celu, x < 0 ? a * math_expm1(x / a) : x)

static f64__plain *const PLAIN_LOOPS[MATH_OP_COUNT] = {
    [MATH_OP_abs] = fabs,
    [MATH_OP_neg] = f64__neg,
    [MATH_OP_sign] = f64__sign,
    [MATH_OP_relu] = f64__relu,
    [MATH_OP_sqrt] = sqrt,
    [MATH_OP_reciprocal] = f64__reciprocal,
    [MATH_OP_floor] = floor,
    [MATH_OP_ceil] = ceil,
    [MATH_OP_round] = rint,
    [MATH_OP_softsign] = f64__softsign,
    [MATH_OP_hard_swish] = f64__hard_swish,
    [MATH_OP_exp] = math_exp,
    [MATH_OP_log] = math_log,
    [MATH_OP_sin] = math_sin,
    [MATH_OP_cos] = math_cos,
    [MATH_OP_tan] = math_tan,
    [MATH_OP_asin] = math_asin,
    [MATH_OP_acos] = math_acos,
    [MATH_OP_atan] = math_atan,
    [MATH_OP_sinh] = math_sinh,
    [MATH_OP_cosh] = math_cosh,
    [MATH_OP_tanh] = math_tanh,
    [MATH_OP_asinh] = math_asinh,
    [MATH_OP_acosh] = math_acosh,
    [MATH_OP_atanh] = math_atanh,
    [MATH_OP_erf] = math_erf,
    [MATH_OP_sigmoid] = math_sigmoid,
    [MATH_OP_softplus] = math_softplus,
    [MATH_OP_mish] = f64__mish,
    [MATH_OP_gelu] = f64__gelu,
    [MATH_OP_gelu_tanh] = f64__gelu_tanh,
};

static f64__with *const WITH_LOOPS[MATH_OP_COUNT] = {
    [MATH_OP_clip] = f64__clip,
    [MATH_OP_affine] = f64__affine,
    [MATH_OP_leaky_relu] = f64__leaky_relu,
    [MATH_OP_thresholded_relu] = f64__thresholded_relu,
    [MATH_OP_hard_sigmoid] = f64__hard_sigmoid,
    [MATH_OP_shrink] = f64__shrink,
    [MATH_OP_swish] = f64__swish,
    [MATH_OP_elu] = f64__elu,
    [MATH_OP_selu] = f64__selu,
    [MATH_OP_celu] = f64__celu,
};

static void f64__predicate(math_op op, uint8_t *d, const double *s, size_t n, const math_params *p) {
  const bool nan = op == MATH_OP_is_nan;
  const double above = !nan && p->i[1] ? __builtin_inf() : __builtin_nan("");
  const double below = !nan && p->i[0] ? -__builtin_inf() : __builtin_nan("");
  for (size_t i = 0; i < n; i++) d[i] = (nan & (s[i] != s[i])) | (s[i] == above) | (s[i] == below);
}

void math_unary_f64(math_op op, void *dst, const void *src, size_t n, const math_params *p) {
  if (op == MATH_OP_is_nan || op == MATH_OP_is_inf) {
    f64__predicate(op, dst, src, n, p);
    return;
  }
  const double a = p ? p->f[0] : 0, b = p ? p->f[1] : 0;
  double *d = dst;
  const double *s = src;
  f64__plain *plain = PLAIN_LOOPS[op];
  for (size_t i = 0; i < n; i++) d[i] = plain ? plain(s[i]) : WITH_LOOPS[op](s[i], a, b);
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

static double f64__prelu(double x, double y) { return x < 0 ? x * y : x; }
static double f64__equal(double x, double y) { return x == y; }
static double f64__less(double x, double y) { return x < y; }
static double f64__less_equal(double x, double y) { return x <= y; }

static f64__pair *const PAIR_LOOPS[MATH_OP_COUNT] = {
    [MATH_OP_max] = f64__max,     [MATH_OP_min] = f64__min,   [MATH_OP_prelu] = f64__prelu,
    [MATH_OP_pow] = math_pow,     [MATH_OP_fmod] = fmod,      [MATH_OP_mod] = f64__floored,
    [MATH_OP_equal] = f64__equal, [MATH_OP_less] = f64__less, [MATH_OP_less_equal] = f64__less_equal,
};

/* A single operand is read before anything is written: dst may be the other one only, but its address may be the same. */
#define EACH(D, expression)                                                                 \
  _Pragma("clang loop vectorize(disable) unroll(disable)") for (size_t i = 0; i < n; i++) { \
    const double x = mode == MATH_SV ? s0 : s[i], y = mode == MATH_VS ? t0 : t[i];          \
    ((D *)dst)[i] = (D)(expression);                                                        \
  }                                                                                         \
  break;

void math_binary_f64(math_op op, void *dst, const void *a, const void *b, size_t n, int mode) {
  const bool mirrored = math_mirror(&op);
  const double *s = mirrored ? b : a, *t = mirrored ? a : b;
  const double s0 = s[0], t0 = t[0];
  if (mirrored && mode != MATH_VV) mode = MATH_VS + MATH_SV - mode;
  switch (op) {
  case MATH_OP_add: EACH(double, x + y)
  case MATH_OP_sub: EACH(double, x - y)
  case MATH_OP_mul: EACH(double, x *y)
  case MATH_OP_div: EACH(double, x / y)
  case MATH_OP_equal:
  case MATH_OP_less:
  case MATH_OP_less_equal: EACH(uint8_t, PAIR_LOOPS[op](x, y))
  default: EACH(double, PAIR_LOOPS[op](x, y))
  }
}
