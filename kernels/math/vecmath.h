/* Elementary functions of four floats. Bounds are in units in the last place of the result, measured by
 * tests/kernels/loops_f32_test.c over random and special operands. Each lane depends on its own operands alone. */
#ifndef OPSPEC_VECMATH_H
#define OPSPEC_VECMATH_H

#include "scalars.h"
#include "simd.h"

/* A constant in every lane. Engines build a v128.const anew from integers wherever it stands; the empty asm makes the number
 * a local that a loop keeps (5 to 10 % faster). */
SIMD_INLINE f32x4 vec_const(float x) {
#ifdef __wasm_simd128__
  __asm__("" : "+r"(x));
#endif
  return f32x4_splat(x);
}

/* c[0] + c[1] x + ... */
SIMD_INLINE f32x4 vec_poly(const float *c, const int count, f32x4 x) {
  f32x4 sum = vec_const(c[count - 1]);
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; i--) sum = vec_const(c[i]) + x * sum;
  return sum;
}

#define VEC_POLY(x, ...) \
  vec_poly((const float[]){__VA_ARGS__}, (int)(sizeof((const float[]){__VA_ARGS__}) / sizeof(float)), x)

#define VEC_LN2_HIGH 0.693145752f /* 15 bits: exact times an exponent */
#define VEC_LN2_LOW 1.42860677e-06f
#define VEC_ROUND 12582912.0f /* 1.5 2^23: adding it rounds to an integer, which its bits then hold */

/* 2^k for k in [-126, 127]. */
SIMD_INLINE f32x4 vec_pow2(i32x4 k) { return (f32x4)((k + 127) << 23); }

/* x = k ln 2 + r with |r| <= ln(2) / 2; returns e^r - 1. x within [-110, 110], or NaN. */
SIMD_INLINE f32x4 vec_exp_reduced(f32x4 x, i32x4 *k) {
  f32x4 rounded = x * vec_const(1.44269504f) + vec_const(VEC_ROUND);
  f32x4 kf = rounded - vec_const(VEC_ROUND);
  f32x4 r = (x - kf * vec_const(VEC_LN2_HIGH)) - kf * vec_const(VEC_LN2_LOW);
  *k = (i32x4)rounded - (i32x4)vec_const(VEC_ROUND);
  return r + r * r * VEC_POLY(r, 0.5f, 0.16666542f, 0.0416662805f, 0.00836664252f, 0.00139465125f);
}

/* 1.1 units; subnormal results are right. */
SIMD_INLINE f32x4 vec_exp(f32x4 x) {
  i32x4 k;
  f32x4 p = vec_exp_reduced(f32x4_pmin(f32x4_pmax(x, vec_const(-105.0f)), vec_const(90.0f)), &k);
  i32x4 half = k >> 1;
  return (vec_const(1.0f) + p) * vec_pow2(half) * vec_pow2(k - half);
}

/* e^x for x <= 0, with results below 2^-126 as 0: 2.5 units. One term shorter and scaled once. */
SIMD_INLINE f32x4 vec_exp_negative(f32x4 x) {
  f32x4 t = f32x4_pmax(x, vec_const(-88.0f));
  f32x4 rounded = t * vec_const(1.44269504f) + vec_const(VEC_ROUND);
  f32x4 kf = rounded - vec_const(VEC_ROUND);
  f32x4 r = (t - kf * vec_const(VEC_LN2_HIGH)) - kf * vec_const(VEC_LN2_LOW);
  f32x4 p = VEC_POLY(r, 1.0f, 0.999999702f, 0.499991447f, 0.166676432f, 0.0418984108f, 0.00829012692f);
  f32x4 result = p * (f32x4)(((i32x4)rounded << 23) + (i32x4)vec_const(1.0f));
  return (f32x4)(~(x < vec_const(-87.33654f)) & (i32x4)result);
}

/* e^x - 1 for x <= 0 (the loops use nothing else): 1.5 units. */
SIMD_INLINE f32x4 vec_expm1_negative(f32x4 x) {
  i32x4 k;
  f32x4 p = vec_exp_reduced(f32x4_pmax(x, vec_const(-20.0f)), &k);
  f32x4 scale = vec_pow2(k);
  return scale * p + (scale - vec_const(1.0f));
}

/* log(2^k (1 + f)) for f in [sqrt(1/2) - 1, sqrt(2) - 1]. */
SIMD_INLINE f32x4 vec_log_reduced(f32x4 f, f32x4 k) {
  f32x4 z = f * f;
  f32x4 p = VEC_POLY(f, 0.333333105f, -0.249999866f, 0.200022236f, -0.166692629f, 0.142187104f, -0.123841837f,
                     0.11872524f, -0.117905699f, 0.0691710562f);
  f32x4 tail = f * z * p + k * vec_const(VEC_LN2_LOW);
  return k * vec_const(VEC_LN2_HIGH) + (f + (tail - vec_const(0.5f) * z));
}

/* log of positive normal finite lanes; anything for others. */
SIMD_INLINE f32x4 vec_log_normal(f32x4 x, f32x4 shift) {
  i32x4 bits = (i32x4)x;
  i32x4 e = (bits - 0x3f3504f3) >> 23;
  f32x4 m = (f32x4)(bits - (e << 23));
  return vec_log_reduced(m - vec_const(1.0f), f32x4_from_i32x4(e) - shift);
}

/* 1.1 units. */
SIMD_INLINE f32x4 vec_log(f32x4 x) {
  const f32x4 zero = vec_const(0.0f), infinity = vec_const(__builtin_inff());
  i32x4 tiny = ~(x >= vec_const(0x1p-126f)), odd = tiny | (x == infinity);
  if (!i32x4_any(odd)) return vec_log_normal(x, zero);
  f32x4 scaled = f32x4_select(tiny, x * vec_const(0x1p23f), x);
  f32x4 result = vec_log_normal(scaled, f32x4_select(tiny, vec_const(23.0f), zero));
  result = f32x4_select(x == zero, -infinity, result);
  result = f32x4_select(x < zero, vec_const(__builtin_nanf("")), result);
  return f32x4_select(x < infinity, result, x);
}

/* log(1 + u) for u in [0, 1]: 1.5 units. */
SIMD_INLINE f32x4 vec_log1p_unit(f32x4 u) {
  i32x4 upper = u > vec_const(0.41421356f);
  f32x4 f = f32x4_select(upper, (u - vec_const(1.0f)) * vec_const(0.5f), u);
  return vec_log_reduced(f, f32x4_select(upper, vec_const(1.0f), vec_const(0.0f)));
}

/* 1 / (1 + e^-x): 3.6 units; 0 below -87.33. */
SIMD_INLINE f32x4 vec_sigmoid(f32x4 x) {
  f32x4 e = vec_exp_negative((f32x4)((i32x4)x | ~0x7fffffff));
  return f32x4_select(x < vec_const(0.0f), e, vec_const(1.0f)) / (vec_const(1.0f) + e);
}

SIMD_INLINE f32x4 vec_with_sign_of(f32x4 magnitude, f32x4 x) {
  return (f32x4)(((i32x4)magnitude & 0x7fffffff) | ((i32x4)x & ~0x7fffffff));
}

/* -t / (2 + t) with t = e^(-2|x|) - 1: 2.6 units. */
SIMD_INLINE f32x4 vec_tanh(f32x4 x) {
  f32x4 t = vec_expm1_negative(vec_const(-2.0f) * f32x4_abs(x));
  return vec_with_sign_of(t / (vec_const(2.0f) + t), x);
}

/* x P(x^2) / Q(x^2), and 1 from where it rounds to 1: 7.5 units (4.5e-7 absolute). */
SIMD_INLINE f32x4 vec_erf(f32x4 x) {
  f32x4 a = f32x4_abs(x), t = f32x4_pmin(a, vec_const(3.92f)), z = t * t;
  f32x4 p =
      VEC_POLY(z, 1.12837917f, 0.192491642f, 0.055593586f, 0.00419677698f, 0.000406087575f, 6.60121783e-06f);
  f32x4 q = VEC_POLY(z, 1.0f, 0.503924698f, 0.117242855f, 0.0162187827f, 0.00140843767f, 7.12010067e-05f,
                     2.49719912e-07f);
  f32x4 one = vec_const(1.0f);
  return vec_with_sign_of(f32x4_select(a >= vec_const(3.92f), one, f32x4_pmin(t * p / q, one)), x);
}

/* The angle within pi/4 of the nearest multiple of pi/2, and which multiple: pi/2 in three pieces, of which two are short
 * enough that their products are exact up to |x| = 256. */
SIMD_INLINE f32x4 vec_reduce_small(f32x4 x, i32x4 *quadrant) {
  f32x4 rounded = x * vec_const(0.636619772f) + vec_const(VEC_ROUND);
  f32x4 k = rounded - vec_const(VEC_ROUND);
  *quadrant = (i32x4)rounded; /* the low bits count */
  return ((x - k * vec_const(1.57077026f)) - k * vec_const(2.60630623e-05f)) - k * vec_const(6.07710063e-11f);
}

/* The same by way of double, up to |x| = 2^17. */
SIMD_INLINE f32x4 vec_reduce_large(f32x4 x, i32x4 *quadrant) {
  f32x4 rounded = x * vec_const(0.636619772f) + vec_const(VEC_ROUND);
  f32x4 k = rounded - vec_const(VEC_ROUND);
  *quadrant = (i32x4)rounded;
  f64x2 k_low = f64x2_from_low(k), k_high = f64x2_from_high(k);
  const f64x2 first = f64x2_splat(1.570796325802803), second = f64x2_splat(9.9209357968054043e-10);
  f64x2 low = (f64x2_from_low(x) - k_low * first) - k_low * second;
  f64x2 high = (f64x2_from_high(x) - k_high * first) - k_high * second;
  return f32x4_from_f64x2(low, high);
}

/* Each lane by its own size alone; lanes from 2^17 on, or not finite, are marked in *hard and count as 0. */
SIMD_INLINE f32x4 vec_reduce_angle(f32x4 x, i32x4 *quadrant, i32x4 *hard) {
  i32x4 large = ~(f32x4_abs(x) < vec_const(256.0f));
  f32x4 r = vec_reduce_small(x, quadrant);
  *hard = large;
  if (!i32x4_any(large)) return r;
  i32x4 other;
  *hard = ~(f32x4_abs(x) < vec_const(0x1p17f));
  f32x4 by_double = vec_reduce_large(f32x4_select(*hard, vec_const(0.0f), x), &other);
  *quadrant = i32x4_select(large, other, *quadrant);
  return f32x4_select(large, by_double, r);
}

SIMD_INLINE f32x4 vec_sin_reduced(f32x4 r, f32x4 z) {
  return r + r * z * VEC_POLY(z, -0.166666552f, 0.00833217613f, -0.000195169763f);
}

SIMD_INLINE f32x4 vec_cos_reduced(f32x4 z) {
  f32x4 one = vec_const(1.0f), half = vec_const(0.5f) * z, w = one - half;
  return w + (((one - w) - half) + z * z * VEC_POLY(z, 0.0416666456f, -0.00138873653f, 2.44381317e-05f));
}

/* Lanes that the vector code cannot do, one by one. */
SIMD_INLINE f32x4 vec_patch(f32x4 result, i32x4 where, f32x4 x, double (*fn)(double)) {
  float out[4], in[4];
  int32_t mask[4];
  f32x4_store(out, result);
  f32x4_store(in, x);
  i32x4_store(mask, where);
  for (int i = 0; i < 4; i++) {
    if (mask[i]) out[i] = (float)fn((double)in[i]);
  }
  return f32x4_load(out);
}

/* sin(x + quarter pi/2): 2.5 units, for every finite x. */
SIMD_INLINE f32x4 vec_sin_quarter(f32x4 x, int quarter, double (*fn)(double)) {
  i32x4 quadrant, hard;
  f32x4 r = vec_reduce_angle(x, &quadrant, &hard);
  quadrant += quarter;
  f32x4 z = r * r;
  i32x4 odd = (quadrant & 1) != 0;
  i32x4 flip = (quadrant & 2) << 30;
  f32x4 result = (f32x4)((i32x4)f32x4_select(odd, vec_cos_reduced(z), vec_sin_reduced(r, z)) ^ flip);
  return i32x4_any(hard) ? vec_patch(result, hard, x, fn) : result;
}

/* 4 units, for every finite x. */
SIMD_INLINE f32x4 vec_tan(f32x4 x) {
  i32x4 quadrant, hard;
  f32x4 r = vec_reduce_angle(x, &quadrant, &hard);
  f32x4 z = r * r;
  f32x4 s = vec_sin_reduced(r, z), c = vec_cos_reduced(z);
  i32x4 odd = (quadrant & 1) != 0;
  f32x4 result = f32x4_select(odd, -c, s) / f32x4_select(odd, s, c);
  return i32x4_any(hard) ? vec_patch(result, hard, x, math_tan) : result;
}

/* Two lanes of m^y 2^(k y) for m in [sqrt(1/2), sqrt(2)), in double with about 40 bits of logarithm. */
SIMD_INLINE f64x2 vec_pow_half(f64x2 m, f64x2 k, f64x2 y) {
  const f64x2 one = f64x2_splat(1.0), round = f64x2_splat(6755399441055744.0); /* 1.5 2^52 */
  f64x2 f = m - one;
  f64x2 s = f / (f + f64x2_splat(2.0));
  f64x2 z = s * s;
  f64x2 p = f64x2_splat(0.15313859150146325);
  p = f64x2_splat(0.18183571178663524) + z * p;
  p = f64x2_splat(0.22222198453826569) + z * p;
  p = f64x2_splat(0.28571428743426719) + z * p;
  p = f64x2_splat(0.39999999999410568) + z * p;
  p = f64x2_splat(0.66666666666667351) + z * p;
  f64x2 log2_m = (s * f64x2_splat(2.0) + s * z * p) * f64x2_splat(1.4426950408889634);
  f64x2 t = (k + log2_m) * y;
  /* Beyond these the result is 0 or infinity whatever t is. */
  t = (f64x2)(((t > f64x2_splat(200.0)) & (i64x2)f64x2_splat(200.0)) |
              (~(t > f64x2_splat(200.0)) & (i64x2)t));
  t = (f64x2)(((t < f64x2_splat(-200.0)) & (i64x2)f64x2_splat(-200.0)) |
              (~(t < f64x2_splat(-200.0)) & (i64x2)t));
  f64x2 rounded = t + round;
  f64x2 r = (t - (rounded - round)) * f64x2_splat(0.69314718055994531);
  f64x2 e = f64x2_splat(2.7557243912063955e-06);
  e = f64x2_splat(2.4801587360760034e-05) + r * e;
  e = f64x2_splat(0.00019841269886400556) + r * e;
  e = f64x2_splat(0.0013888888888866748) + r * e;
  e = f64x2_splat(0.0083333333333215319) + r * e;
  e = f64x2_splat(0.041666666666666699) + r * e;
  e = f64x2_splat(0.16666666666666677) + r * e;
  e = f64x2_splat(0.5) + r * e;
  e = one + (r + r * r * e);
  return (f64x2)((i64x2)e + (((i64x2)rounded - (i64x2)round) << 52));
}

/* 1 unit; x and y as pow of C takes them. */
SIMD_INLINE f32x4 vec_pow(f32x4 x, f32x4 y) {
  const f32x4 infinity = vec_const(__builtin_inff()), zero = vec_const(0.0f), half = vec_const(0.5f);
  f32x4 a = f32x4_abs(x);
  i32x4 easy = (a >= vec_const(0x1p-126f)) & (a < infinity) & (f32x4_abs(y) < vec_const(0x1p100f));
  i32x4 bits = (i32x4)f32x4_select(easy, a, vec_const(1.0f));
  f32x4 exponent = f32x4_select(easy, y, zero);
  i32x4 e = (bits - 0x3f3504f3) >> 23;
  f32x4 m = (f32x4)(bits - (e << 23)), k = f32x4_from_i32x4(e);
  f64x2 low = vec_pow_half(f64x2_from_low(m), f64x2_from_low(k), f64x2_from_low(exponent));
  f64x2 high = vec_pow_half(f64x2_from_high(m), f64x2_from_high(k), f64x2_from_high(exponent));
  f32x4 result = f32x4_from_f64x2(low, high);
  i32x4 negative = x < zero;
  if (i32x4_any(negative)) {
    i32x4 whole = f32x4_nearest(y) == y, odd = whole & (f32x4_nearest(y * half) != y * half);
    result = f32x4_select(negative & odd, -result, result);
    result = f32x4_select(negative & ~whole, vec_const(__builtin_nanf("")), result);
  }
  if (!i32x4_any(~easy)) return result;
  float out[4], base[4], power[4];
  int32_t done[4];
  f32x4_store(out, result);
  f32x4_store(base, x);
  f32x4_store(power, y);
  i32x4_store(done, easy);
  for (int i = 0; i < 4; i++) {
    if (!done[i]) out[i] = (float)math_pow((double)base[i], (double)power[i]);
  }
  return f32x4_load(out);
}

/* 3 units. */
SIMD_INLINE f32x4 vec_atan(f32x4 x) {
  const f32x4 one = vec_const(1.0f), zero = vec_const(0.0f);
  f32x4 a = f32x4_abs(x);
  i32x4 large = a > vec_const(2.41421366f), middle = ~large & (a > vec_const(0.414213568f));
  f32x4 above = f32x4_select(large, -one, f32x4_select(middle, a - one, a));
  f32x4 below = f32x4_select(large, a, f32x4_select(middle, a + one, one));
  f32x4 base =
      f32x4_select(large, vec_const(1.57079637f), f32x4_select(middle, vec_const(0.785398185f), zero));
  f32x4 t = above / below, z = t * t;
  f32x4 p = VEC_POLY(z, -0.333333164f, 0.199984848f, -0.142437503f, 0.105951883f, -0.0608120896f);
  return vec_with_sign_of(base + (t + t * z * p), x);
}

/* (asin(s) - s) / s for z = s^2 <= 1/4. */
SIMD_INLINE f32x4 vec_asin_rest(f32x4 z) {
  return z * VEC_POLY(z, 0.166667536f, 0.0749523491f, 0.0454781502f, 0.0241416749f, 0.042229753f);
}

/* asin (2.5 units), or acos (1.5 units): from asin(|x|) up to 1/2, from pi/2 - 2 asin(sqrt((1 - |x|) / 2)) above it. */
SIMD_INLINE f32x4 vec_asin(f32x4 x) {
  const f32x4 half = vec_const(0.5f), one = vec_const(1.0f);
  f32x4 a = f32x4_abs(x);
  i32x4 outer = a > half;
  f32x4 z = f32x4_select(outer, (one - a) * half, a * a);
  f32x4 s = f32x4_select(outer, f32x4_sqrt(z), a);
  f32x4 r = s + s * vec_asin_rest(z);
  return vec_with_sign_of(f32x4_select(outer, vec_const(1.57079637f) - (r + r), r), x);
}

SIMD_INLINE f32x4 vec_acos(f32x4 x) {
  const f32x4 half = vec_const(0.5f), one = vec_const(1.0f), zero = vec_const(0.0f);
  f32x4 a = f32x4_abs(x);
  i32x4 outer = a > half;
  f32x4 z = f32x4_select(outer, (one - a) * half, a * a);
  f32x4 s = f32x4_select(outer, f32x4_sqrt(z), x);
  f32x4 rest = s * vec_asin_rest(z), r = s + rest;
  f32x4 far = f32x4_select(x < zero, vec_const(3.14159274f) - (r + r), r + r);
  return f32x4_select(outer, far, vec_const(1.57079637f) - (s - (vec_const(-4.37113883e-08f) - rest)));
}

/* e^a / 2 + sign e^-a / 2 for a in [0, 89.5], without overflow before the result does. */
SIMD_INLINE f32x4 vec_exp_pair(f32x4 a, f32x4 sign) {
  i32x4 k;
  f32x4 p = vec_exp_reduced(f32x4_pmin(a, vec_const(90.0f)), &k) + vec_const(1.0f);
  f32x4 half = p * vec_pow2(k - 2); /* a quarter of e^a: k reaches 130 */
  f32x4 rest = vec_const(0.0625f) / half;
  return (half + sign * rest) * vec_const(2.0f);
}

/* 2 units. */
SIMD_INLINE f32x4 vec_cosh(f32x4 x) { return vec_exp_pair(f32x4_abs(x), vec_const(1.0f)); }

/* 2 units. */
SIMD_INLINE f32x4 vec_sinh(f32x4 x) {
  f32x4 a = f32x4_abs(x), z = x * x;
  f32x4 small = a + a * z * VEC_POLY(z, 0.166666672f, 0.00833335053f, 0.000198360562f, 2.81750044e-06f);
  f32x4 large = vec_exp_pair(a, vec_const(-1.0f));
  return vec_with_sign_of(f32x4_select(a < vec_const(1.0f), small, large), x);
}

#endif
