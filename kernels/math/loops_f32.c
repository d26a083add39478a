/* f32 loops: an expression over four lanes each, applied to whole vectors and, padded with zeros, to the last 1 to 3
 * elements; and the int32 loops that models run over large tensors, which take the same way. */
#include "loop_kit.h"
#include "vecmath.h"

#include <math.h>
#include <string.h>

/* n is a multiple of 4. */
typedef void f32__unary(float *d, const float *s, size_t n, const math_params *p);

#define F32__EACH(hint, op, parameters, expression)                                 \
  static void f32__##op(float *d, const float *s, size_t n, const math_params *p) { \
    (void)p;                                                                        \
    parameters;                                                                     \
    _Pragma(hint) for (size_t i = 0; i < n; i += 4) {                               \
      const f32x4 x = f32x4_load(s + i);                                            \
      f32x4_store(d + i, expression);                                               \
    }                                                                               \
  }

/* Of one or two instructions, or of many. With parameters a and b in every lane. */
#define FEW "clang loop unroll_count(4)"
#define MANY "clang loop unroll(disable)"
#define F32__AB                                                                 \
  const f32x4 a = f32x4_splat((float)p->f[0]), b = f32x4_splat((float)p->f[1]); \
  (void)b
#define EACH(op, expression) F32__EACH(MANY, op, , expression)
#define EACH_AB(op, expression) F32__EACH(MANY, op, F32__AB, expression)
#define CHEAP(op, expression) F32__EACH(FEW, op, , expression)
#define CHEAP_AB(op, expression) F32__EACH(FEW, op, F32__AB, expression)

/* Through the double function: right to half a unit, and slower. */
#define BY_DOUBLE(op)                                                               \
  static void f32__##op(float *d, const float *s, size_t n, const math_params *p) { \
    (void)p;                                                                        \
    for (size_t i = 0; i < n; i++) d[i] = (float)math_##op((double)s[i]);           \
  }

#define SPLAT f32x4_splat
#define SELECT f32x4_select

CHEAP(abs, f32x4_abs(x))
CHEAP(neg, -x)
EACH(sign, SELECT(x > SPLAT(0), SPLAT(1), SELECT(x < SPLAT(0), SPLAT(-1), x + SPLAT(0))))
CHEAP(relu, f32x4_pmax(x, SPLAT(0)))
EACH(sqrt, f32x4_sqrt(x))
EACH(reciprocal, SPLAT(1) / x)
EACH(floor, f32x4_floor(x))
EACH(ceil, f32x4_ceil(x))
EACH(round, f32x4_nearest(x))
EACH(softsign, x / (SPLAT(1) + f32x4_abs(x)))
EACH(hard_swish, x *f32x4_pmin(f32x4_pmax(x *SPLAT(1.0f / 6) + SPLAT(0.5f), SPLAT(0)), SPLAT(1)))
CHEAP_AB(clip, f32x4_pmin(f32x4_pmax(x, a), b))
CHEAP_AB(affine, x *a + b)
CHEAP_AB(leaky_relu, SELECT(x < SPLAT(0), x *a, x))
EACH_AB(thresholded_relu, SELECT(x > a, x, SPLAT(0)))
EACH_AB(hard_sigmoid, f32x4_pmin(f32x4_pmax(x *a + b, SPLAT(0)), SPLAT(1)))
EACH_AB(shrink, SELECT(x < -b, x + a, SELECT(x > b, x - a, SPLAT(0))))

EACH(exp, vec_exp(x))
EACH(log, vec_log(x))
EACH(tan, vec_tan(x))
EACH(asin, vec_asin(x))
EACH(acos, vec_acos(x))
EACH(atan, vec_atan(x))
EACH(sinh, vec_sinh(x))
EACH(cosh, vec_cosh(x))
EACH(tanh, vec_tanh(x))
EACH(erf, vec_erf(x))
EACH(sigmoid, vec_sigmoid(x))
EACH(softplus, f32x4_pmax(x, SPLAT(0)) + vec_log1p_unit(vec_exp(-f32x4_abs(x))))
EACH(gelu, SPLAT(0.5f) * x * (SPLAT(1) + vec_erf(x * SPLAT(0.707106781f))))
EACH(gelu_tanh,
     SPLAT(0.5f) * x * (SPLAT(1) + vec_tanh(SPLAT(0.797884561f) * (x + SPLAT(0.044715f) * x * x * x))))
EACH_AB(swish, x *vec_sigmoid(x *a))

static __attribute__((noinline)) void f32__sine(float *d, const float *s, size_t n, int quarter,
                                                double (*fn)(double)) {
  for (size_t i = 0; i < n; i += 4) f32x4_store(d + i, vec_sin_quarter(f32x4_load(s + i), quarter, fn));
}

static void f32__sin(float *d, const float *s, size_t n, const math_params *p) {
  (void)p;
  f32__sine(d, s, n, 0, math_sin);
}

static void f32__cos(float *d, const float *s, size_t n, const math_params *p) {
  (void)p;
  f32__sine(d, s, n, 1, math_cos);
}

/* gamma x, or gamma alpha (e^(x / width) - 1) below 0. */
static __attribute__((noinline)) void f32__exponential(float *d, const float *s, size_t n, double alpha,
                                                       double gamma, double width) {
  const f32x4 a = f32x4_splat((float)alpha), b = f32x4_splat((float)gamma), w = f32x4_splat((float)width);
  for (size_t i = 0; i < n; i += 4) {
    const f32x4 x = f32x4_load(s + i);
    f32x4_store(d + i, b * SELECT(x < SPLAT(0), a * vec_expm1_negative(x / w), x));
  }
}

static void f32__elu(float *d, const float *s, size_t n, const math_params *p) {
  f32__exponential(d, s, n, p->f[0], 1, 1);
}

static void f32__selu(float *d, const float *s, size_t n, const math_params *p) {
  f32__exponential(d, s, n, p->f[0], p->f[1], 1);
}

/* With a negative alpha the exponent is positive for negative x. */
static void f32__celu(float *d, const float *s, size_t n, const math_params *p) {
  const double alpha = p->f[0];
  if (alpha > 0) {
    f32__exponential(d, s, n, alpha, 1, alpha);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    double x = (double)s[i], below = alpha * math_expm1(x / alpha);
    d[i] = (float)(x != x ? x : (x > 0 ? x : 0) + (below < 0 ? below : 0));
  }
}

/* x tanh(log(1 + e^x)) = x t / (t + 2) with t = e^x (e^x + 2); from 20 on the quotient is 1. */
SIMD_INLINE f32x4 f32__mish_of(f32x4 x) {
  f32x4 e = vec_exp(f32x4_pmin(x, SPLAT(20)));
  f32x4 t = e * (e + SPLAT(2));
  return x * (t / (t + SPLAT(2)));
}

EACH(mish, f32__mish_of(x))

BY_DOUBLE(asinh)
BY_DOUBLE(acosh)
BY_DOUBLE(atanh)

static f32__unary *const UNARY[MATH_OP_COUNT] = {
#define ROW(op) [MATH_OP_##op] = f32__##op,
    ROW(abs) ROW(neg) ROW(sign) ROW(relu) ROW(sqrt) ROW(reciprocal) ROW(floor) ROW(ceil) ROW(round)
        ROW(softsign) ROW(hard_swish) ROW(clip) ROW(affine) ROW(leaky_relu) ROW(thresholded_relu)
            ROW(hard_sigmoid) ROW(shrink) ROW(exp) ROW(log) ROW(sin) ROW(cos) ROW(tan) ROW(asin) ROW(acos)
                ROW(atan) ROW(sinh) ROW(cosh) ROW(tanh) ROW(erf) ROW(sigmoid) ROW(softplus) ROW(gelu)
                    ROW(gelu_tanh) ROW(swish) ROW(elu) ROW(selu) ROW(celu) ROW(mish) ROW(asinh) ROW(acosh)
                        ROW(atanh)
#undef ROW
};

static void f32__predicate(math_op op, uint8_t *d, const float *s, size_t n, const math_params *p) {
  const bool nan = op == MATH_OP_is_nan;
  const float above = !nan && p->i[1] ? __builtin_inff() : __builtin_nanf("");
  const float below = !nan && p->i[0] ? -__builtin_inff() : __builtin_nanf("");
  for (size_t i = 0; i < n; i++) d[i] = (nan & (s[i] != s[i])) | (s[i] == above) | (s[i] == below);
}

void math_unary_f32(math_op op, void *dst, const void *src, size_t n, const math_params *p) {
  if (op == MATH_OP_is_nan || op == MATH_OP_is_inf) {
    f32__predicate(op, dst, src, n, p);
    return;
  }
  const size_t whole = n / 4 * 4, rest = n % 4;
  if (whole) UNARY[op](dst, src, whole, p);
  if (rest == 0) return;
  float lanes[4] = {0};
  memcpy(lanes, (const float *)src + whole, rest * sizeof *lanes);
  UNARY[op](lanes, lanes, 4, p);
  memcpy((float *)dst + whole, lanes, rest * sizeof *lanes);
}

/* An operand that is a single element stands in four lanes, over which its step does not lead. */
typedef void f32__binary(void *dst, const float *s, const float *t, size_t n, size_t s_step, size_t t_step);

#define F32__EACH2(name, D, expression)                                                       \
  static void f32__##name(void *dst, const float *s, const float *t, size_t n, size_t s_step, \
                          size_t t_step) {                                                    \
    D *d = dst;                                                                               \
    _Pragma("clang loop unroll(disable)") for (const D *end = d + n; d < end;                 \
                                               d += 4, s += s_step, t += t_step) {            \
      const f32x4 x = f32x4_load(s), y = f32x4_load(t);                                       \
      const i32x4 i = (i32x4)x, j = (i32x4)y;                                                 \
      (void)i, (void)j;                                                                       \
      expression;                                                                             \
    }                                                                                         \
  }

#define EACH2(op, expression) F32__EACH2(op, float, f32x4_store(d, (f32x4)(expression)))
#define COMPARE(op, expression) F32__EACH2(op, uint8_t, f32__store_flags(d, expression))

typedef uint8_t f32__bytes __attribute__((vector_size(4)));

SIMD_INLINE void f32__store_flags(uint8_t *d, i32x4 mask) {
  const f32__bytes flags = __builtin_convertvector(mask & 1, f32__bytes);
  memcpy(d, &flags, sizeof flags);
}

EACH2(add, x + y)
EACH2(sub, x - y)
EACH2(mul, x *y)
EACH2(div, x / y)
EACH2(max, f32x4_max(x, y))
EACH2(min, f32x4_min(x, y))
EACH2(prelu, SELECT(x < SPLAT(0), x *y, x))
EACH2(pow, vec_pow(x, y))
COMPARE(equal, x == y)
COMPARE(less, x < y)
COMPARE(less_equal, x <= y)
EACH2(add_i32, (u32x4)i + (u32x4)j)
EACH2(sub_i32, (u32x4)i - (u32x4)j)
EACH2(mul_i32, (u32x4)i *(u32x4)j)
EACH2(max_i32, i32x4_select(i > j, i, j))
EACH2(min_i32, i32x4_select(i < j, i, j))
COMPARE(equal_i32, i == j)
COMPARE(less_i32, i < j)
COMPARE(less_equal_i32, i <= j)

/* The remainder of two floats is a float, and so is the rounded sum that the other sign takes. */
static double f32__floored(double x, double y) {
  double r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? (double)(float)(r + y) : r;
}

static void f32__remainder(double (*fn)(double, double), float *d, const float *s, const float *t, size_t n,
                           size_t s_step, size_t t_step) {
  for (size_t i = 0; i < n; i++)
    d[i] = (float)fn((double)s[s_step ? i : i & 3], (double)t[t_step ? i : i & 3]);
}

static void f32__fmod(void *dst, const float *s, const float *t, size_t n, size_t s_step, size_t t_step) {
  f32__remainder(fmod, dst, s, t, n, s_step, t_step);
}

static void f32__mod(void *dst, const float *s, const float *t, size_t n, size_t s_step, size_t t_step) {
  f32__remainder(f32__floored, dst, s, t, n, s_step, t_step);
}

static f32__binary *const BINARY[MATH_OP_COUNT] = {
    [MATH_OP_add] = f32__add,
    [MATH_OP_sub] = f32__sub,
    [MATH_OP_mul] = f32__mul,
    [MATH_OP_div] = f32__div,
    [MATH_OP_max] = f32__max,
    [MATH_OP_min] = f32__min,
    [MATH_OP_prelu] = f32__prelu,
    [MATH_OP_pow] = f32__pow,
    [MATH_OP_fmod] = f32__fmod,
    [MATH_OP_mod] = f32__mod,
    [MATH_OP_equal] = f32__equal,
    [MATH_OP_less] = f32__less,
    [MATH_OP_less_equal] = f32__less_equal,
};

static f32__binary *const BINARY_I32[MATH_OP_COUNT] = {
    [MATH_OP_add] = f32__add_i32,   [MATH_OP_sub] = f32__sub_i32,
    [MATH_OP_mul] = f32__mul_i32,   [MATH_OP_max] = f32__max_i32,
    [MATH_OP_min] = f32__min_i32,   [MATH_OP_equal] = f32__equal_i32,
    [MATH_OP_less] = f32__less_i32, [MATH_OP_less_equal] = f32__less_equal_i32,
};

/* A single element is read before anything is written: dst may be the other operand. */
static void f32__run(f32__binary *loop, void *dst, size_t width, const float *a, const float *b, size_t n,
                     int mode) {
  const size_t whole = n / 4 * 4, rest = n % 4, a_step = mode == MATH_SV ? 0 : 4,
               b_step = mode == MATH_VS ? 0 : 4;
  float x[4], y[4], z[4];
  int32_t bits[2];
  memcpy(&bits[0], a, sizeof bits[0]);
  memcpy(&bits[1], b, sizeof bits[1]);
  i32x4_store(x, i32x4_splat(bits[0]));
  i32x4_store(y, i32x4_splat(bits[1]));
  if (whole) loop(dst, a_step ? a : x, b_step ? b : y, whole, a_step, b_step);
  if (rest == 0) return;
  if (a_step) memcpy(x, a + whole, rest * sizeof *x);
  if (b_step) memcpy(y, b + whole, rest * sizeof *y);
  loop(z, x, y, 4, 0, 0);
  memcpy((char *)dst + whole * width, z, rest * width);
}

static bool f32__find(f32__binary *const *loops, math_op op, void *dst, const void *a, const void *b,
                      size_t n, int mode) {
  const bool mirrored = math_mirror(&op);
  if (loops[op] == NULL) return false;
  const size_t width = op == MATH_OP_equal || op == MATH_OP_less || op == MATH_OP_less_equal ? 1 : 4;
  if (mirrored) {
    f32__run(loops[op], dst, width, b, a, n, mode == MATH_VV ? MATH_VV : MATH_VS + MATH_SV - mode);
  } else {
    f32__run(loops[op], dst, width, a, b, n, mode);
  }
  return true;
}

void math_binary_f32(math_op op, void *dst, const void *a, const void *b, size_t n, int mode) {
  if (op == MATH_OP_pow && mode == MATH_VS && *(const float *)b == 2.0f) {
    f32__find(BINARY, MATH_OP_mul, dst, a, a, n, MATH_VV);
  } else {
    f32__find(BINARY, op, dst, a, b, n, mode);
  }
}

bool math_binary_i32(math_op op, void *dst, const void *a, const void *b, size_t n, int mode) {
  return f32__find(BINARY_I32, op, dst, a, b, n, mode);
}
