/* f32 loops: an expression over four lanes each, applied to whole vectors and, padded, to the last 1 to 3 elements. */
#include "loops.h"
#include "vecmath.h"

#include <math.h>

/* Cheap expressions get a loop of whole vectors; costly ones are emitted once, for vectors and tail alike. */
#define F32__CHEAP(expression)                  \
  float *d = dst;                               \
  const float *s = src;                         \
  size_t i = 0;                                 \
  for (; i + 4 <= n; i += 4) {                  \
    f32x4 x = f32x4_load(s + i);                \
    f32x4_store(d + i, expression);             \
  }                                             \
  if (i < n) {                                  \
    f32x4 x = f32x4_load_part(s + i, n - i);    \
    f32x4_store_part(d + i, expression, n - i); \
  }

#define F32__COSTLY(expression)                                          \
  float *d = dst;                                                        \
  const float *s = src;                                                  \
  for (size_t i = 0; i < n; i += 4) {                                    \
    bool whole = n - i >= 4;                                             \
    f32x4 x = whole ? f32x4_load(s + i) : f32x4_load_part(s + i, n - i); \
    f32x4 y = expression;                                                \
    if (whole) {                                                         \
      f32x4_store(d + i, y);                                             \
    } else {                                                             \
      f32x4_store_part(d + i, y, n - i);                                 \
    }                                                                    \
  }

#define F32__HEAD(op) void math_##op##_f32(void *dst, const void *src, size_t n, const math_params *p)

#define CHEAP(op, expression) \
  F32__HEAD(op) {             \
    (void)p;                  \
    F32__CHEAP(expression)    \
  }

#define COSTLY(op, expression) \
  F32__HEAD(op) {              \
    (void)p;                   \
    F32__COSTLY(expression)    \
  }

/* With parameters a and b in every lane. */
#define CHEAP_AB(op, expression)                                                  \
  F32__HEAD(op) {                                                                 \
    const f32x4 a = f32x4_splat((float)p->f[0]), b = f32x4_splat((float)p->f[1]); \
    (void)b;                                                                      \
    F32__CHEAP(expression)                                                        \
  }

#define COSTLY_AB(op, expression)                                                 \
  F32__HEAD(op) {                                                                 \
    const f32x4 a = f32x4_splat((float)p->f[0]), b = f32x4_splat((float)p->f[1]); \
    (void)b;                                                                      \
    F32__COSTLY(expression)                                                       \
  }

/* Through the double function: right to half a unit, and slower. */
#define BY_DOUBLE(op)                                                     \
  F32__HEAD(op) {                                                         \
    (void)p;                                                              \
    float *d = dst;                                                       \
    const float *s = src;                                                 \
    for (size_t i = 0; i < n; i++) d[i] = (float)math_##op((double)s[i]); \
  }

#define SPLAT f32x4_splat
#define SELECT f32x4_select

CHEAP(abs, f32x4_abs(x))
CHEAP(neg, -x)
CHEAP(sign, SELECT(x > SPLAT(0), SPLAT(1), SELECT(x < SPLAT(0), SPLAT(-1), x + SPLAT(0))))
CHEAP(relu, f32x4_pmax(x, SPLAT(0)))
CHEAP(sqrt, f32x4_sqrt(x))
CHEAP(reciprocal, SPLAT(1) / x)
CHEAP(floor, f32x4_floor(x))
CHEAP(ceil, f32x4_ceil(x))
CHEAP(round, f32x4_nearest(x))
CHEAP(softsign, x / (SPLAT(1) + f32x4_abs(x)))
CHEAP(hard_swish, x *f32x4_pmin(f32x4_pmax(x *SPLAT(1.0f / 6) + SPLAT(0.5f), SPLAT(0)), SPLAT(1)))
CHEAP_AB(clip, f32x4_pmin(f32x4_pmax(x, a), b))
CHEAP_AB(affine, x *a + b)
CHEAP_AB(leaky_relu, SELECT(x < SPLAT(0), x *a, x))
CHEAP_AB(thresholded_relu, SELECT(x > a, x, SPLAT(0)))
CHEAP_AB(hard_sigmoid, f32x4_pmin(f32x4_pmax(x *a + b, SPLAT(0)), SPLAT(1)))
CHEAP_AB(shrink, SELECT(x < -b, x + a, SELECT(x > b, x - a, SPLAT(0))))

COSTLY(exp, vec_exp(x))
COSTLY(log, vec_log(x))
COSTLY(sin, vec_sin_quarter(x, 0, math_sin))
COSTLY(cos, vec_sin_quarter(x, 1, math_cos))
COSTLY(tan, vec_tan(x))
COSTLY(asin, vec_asin(x))
COSTLY(acos, vec_acos(x))
COSTLY(atan, vec_atan(x))
COSTLY(sinh, vec_sinh(x))
COSTLY(cosh, vec_cosh(x))
COSTLY(tanh, vec_tanh(x))
COSTLY(erf, vec_erf(x))
COSTLY(sigmoid, vec_sigmoid(x))
COSTLY(softplus, f32x4_pmax(x, SPLAT(0)) + vec_log1p_unit(vec_exp(-f32x4_abs(x))))
COSTLY(gelu, SPLAT(0.5f) * x * (SPLAT(1) + vec_erf(x * SPLAT(0.707106781f))))
COSTLY(gelu_tanh,
       SPLAT(0.5f) * x * (SPLAT(1) + vec_tanh(SPLAT(0.797884561f) * (x + SPLAT(0.044715f) * x * x * x))))
COSTLY_AB(swish, x *vec_sigmoid(x *a))
COSTLY_AB(elu, SELECT(x < SPLAT(0), a *vec_expm1_negative(x), x))
COSTLY_AB(selu, b *SELECT(x < SPLAT(0), a *vec_expm1_negative(x), x))

/* x tanh(log(1 + e^x)) = x t / (t + 2) with t = e^x (e^x + 2); from 20 on the quotient is 1. */
static f32x4 f32__mish(f32x4 x) {
  f32x4 e = vec_exp(f32x4_pmin(x, SPLAT(20)));
  f32x4 t = e * (e + SPLAT(2));
  return x * (t / (t + SPLAT(2)));
}

COSTLY(mish, f32__mish(x))

BY_DOUBLE(asinh)
BY_DOUBLE(acosh)
BY_DOUBLE(atanh)

/* With a negative alpha the exponent is positive for negative x. */
static void f32__celu_any(float *d, const float *s, size_t n, double alpha) {
  for (size_t i = 0; i < n; i++) {
    double x = (double)s[i], below = alpha * math_expm1(x / alpha);
    d[i] = (float)(x != x ? x : (x > 0 ? x : 0) + (below < 0 ? below : 0));
  }
}

F32__HEAD(celu) {
  const f32x4 a = SPLAT((float)p->f[0]);
  if (!(p->f[0] > 0)) {
    f32__celu_any(dst, src, n, p->f[0]);
    return;
  }
  F32__COSTLY(SELECT(x < SPLAT(0), a * vec_expm1_negative(x / a), x))
}

void math_is_nan_f32(void *dst, const void *src, size_t n, const math_params *p) {
  (void)p;
  uint8_t *d = dst;
  const float *s = src;
  for (size_t i = 0; i < n; i++) d[i] = s[i] != s[i];
}

void math_is_inf_f32(void *dst, const void *src, size_t n, const math_params *p) {
  uint8_t *d = dst;
  const float *s = src;
  const uint8_t negative = p->i[0] != 0, positive = p->i[1] != 0;
  for (size_t i = 0; i < n; i++) {
    d[i] = (uint8_t)((positive & (s[i] == __builtin_inff())) | (negative & (s[i] == -__builtin_inff())));
  }
}

/* Operands of which one may be a single element: its step is 0 and its vector the same all along. */
#define F32__BINARY(load_x, load_y, part_x, part_y, expression) \
  {                                                             \
    size_t i = 0;                                               \
    for (; i + 4 <= n; i += 4) {                                \
      f32x4 x = load_x, y = load_y;                             \
      f32x4_store(d + i, expression);                           \
    }                                                           \
    if (i < n) {                                                \
      f32x4 x = part_x, y = part_y;                             \
      f32x4_store_part(d + i, expression, n - i);               \
    }                                                           \
  }

#define BINARY_HEAD(op) \
  ptrdiff_t math_##op##_f32(void *dst, const void *a, const void *b, size_t n, int mode, const math_params *p)

#define BINARY(op, expression)                                                          \
  BINARY_HEAD(op) {                                                                     \
    (void)p;                                                                            \
    if (n == 0) return -1;                                                              \
    float *d = dst;                                                                     \
    const float *s = a, *t = b;                                                         \
    const f32x4 s0 = SPLAT(s[0]), t0 = SPLAT(t[0]);                                     \
    if (mode == MATH_VV) {                                                              \
      F32__BINARY(f32x4_load(s + i), f32x4_load(t + i), f32x4_load_part(s + i, n - i),  \
                  f32x4_load_part(t + i, n - i), expression)                            \
    } else if (mode == MATH_VS) {                                                       \
      F32__BINARY(f32x4_load(s + i), t0, f32x4_load_part(s + i, n - i), t0, expression) \
    } else {                                                                            \
      F32__BINARY(s0, f32x4_load(t + i), s0, f32x4_load_part(t + i, n - i), expression) \
    }                                                                                   \
    return -1;                                                                          \
  }

BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, x *y)
BINARY(div, x / y)
BINARY(max, f32x4_max(x, y))
BINARY(min, f32x4_min(x, y))
BINARY(prelu, SELECT(x < SPLAT(0), x *y, x))

static f32x4 f32__operand(const float *p, size_t i, size_t n) {
  return n - i >= 4 ? f32x4_load(p + i) : f32x4_load_part(p + i, n - i);
}

BINARY_HEAD(pow) {
  (void)p;
  float *d = dst;
  if (n == 0) return -1;
  const float s0 = *(const float *)a, t0 = *(const float *)b;
  if (mode == MATH_VS && t0 == 2.0f) return math_mul_f32(dst, a, a, n, MATH_VV, NULL);
  for (size_t i = 0; i < n; i += 4) {
    f32x4 x = mode == MATH_SV ? SPLAT(s0) : f32__operand(a, i, n);
    f32x4 y = mode == MATH_VS ? SPLAT(t0) : f32__operand(b, i, n);
    f32x4 result = vec_pow(x, y);
    if (n - i >= 4) {
      f32x4_store(d + i, result);
    } else {
      f32x4_store_part(d + i, result, n - i);
    }
  }
  return -1;
}

static float f32__floored(float x, float y) {
  float r = fmodf(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

#define SCALAR_BINARY(op, fn)                                                                           \
  BINARY_HEAD(op) {                                                                                     \
    (void)p;                                                                                            \
    if (n == 0) return -1;                                                                              \
    float *d = dst;                                                                                     \
    const float *s = a, *t = b;                                                                         \
    const float s0 = s[0], t0 = t[0];                                                                   \
    for (size_t i = 0; i < n; i++) d[i] = fn(mode == MATH_SV ? s0 : s[i], mode == MATH_VS ? t0 : t[i]); \
    return -1;                                                                                          \
  }

SCALAR_BINARY(fmod, fmodf)
SCALAR_BINARY(mod, f32__floored)
