/* Trigonometric functions in double. Angles are reduced to r + tail within pi/4 of a multiple of pi/2: up to 2^20 quarter
 * turns with pi/2 in four pieces, beyond with as many bits of 2/pi as the exponent calls for (Payne and Hanek). */
#include "scalar_kit.h"
#include "scalars.h"

#include <math.h>

static const double PI_2 = 1.5707963267948966, PI_2_LOW = 6.123233995736766e-17;
static const double PI_4 = 0.78539816339744828, PI_4_LOW = 3.061616997868383e-17;

/* Bits of 2/pi after the point, with one word of zeros before them. */
static const uint64_t TWO_OVER_PI[21] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

static uint64_t trig__window(size_t bit) {
  size_t word = bit / 64, shift = bit % 64;
  uint64_t high = TWO_OVER_PI[word] << shift;
  return shift ? high | TWO_OVER_PI[word + 1] >> (64 - shift) : high;
}

/* High word of a product of 64-bit words. */
static uint64_t trig__mul_high(uint64_t a, uint64_t b, uint64_t *low) {
  uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  uint64_t mid = a1 * b0 + (a0 * b0 >> 32);
  uint64_t mid2 = a0 * b1 + (mid & 0xffffffffu);
  *low = a * b;
  return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

/* x = m 2^e with a 53-bit m: of m (2/pi) 2^e only the bits below 4 matter, so a 192-bit window of 2/pi that begins where
 * 2^e makes its bits count 2 is multiplied, modulo 2^192; its top two bits are the quadrant. */
static int trig__reduce_large(double a, double *r, double *tail) {
  uint64_t bits = math_f64_bits(a);
  int64_t e = (int64_t)(bits >> 52) - 1075;
  uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  size_t bit = (size_t)(e - 2 + 64);
  uint64_t low0, low1, low2;
  (void)trig__mul_high(trig__window(bit), m, &low2);
  uint64_t high1 = trig__mul_high(trig__window(bit + 64), m, &low1);
  uint64_t high0 = trig__mul_high(trig__window(bit + 128), m, &low0);
  uint64_t w1 = low1 + high0;
  uint64_t w2 = low2 + high1 + (w1 < low1);
  int quadrant = (int)(w2 >> 62);

  /* The fraction of a quarter turn, as 126 bits; above one half it counts down from the next. */
  uint64_t top = w2 << 2 | w1 >> 62, bottom = w1 << 2 | low0 >> 62;
  double sign = 1.0;
  if (top >> 63) {
    quadrant++;
    sign = -1.0;
    bottom = ~bottom + 1;
    top = ~top + (bottom == 0);
  }
  int zeros = top ? __builtin_clzll(top) : 64;
  if (zeros == 64) {
    top = bottom;
    bottom = 0;
  } else if (zeros) {
    top = top << zeros | bottom >> (64 - zeros);
    bottom <<= zeros;
  }
  double first = (double)(top >> 11);
  double second = (double)((top & 0x7ff) << 42 | bottom >> 22) * 0x1p-42;
  double scale = sign * kit_pow2(-53 - zeros);
  first *= scale;
  second *= scale * 0x1p-11;

  double f_high = kit_high(first), f_low = first - f_high;
  double p_high = kit_high(PI_2), p_low = PI_2 - p_high;
  double product = first * PI_2;
  double lost = ((f_high * p_high - product) + f_high * p_low + f_low * p_high) + f_low * p_low;
  lost += first * PI_2_LOW + second * PI_2;
  *r = product + lost;
  *tail = lost - (*r - product);
  return quadrant;
}

static void trig__subtract(double *high, double *low, double x) {
  double sum = *high - x;
  double back = sum - *high;
  *low += (*high - (sum - back)) - (x + back);
  *high = sum;
}

/* |x| = (quadrant pi/2 + r + tail) modulo 2 pi, for a finite x; signs of r and tail are for |x|. */
static int trig__reduce(double a, double *r, double *tail) {
  if (a <= PI_4) {
    *r = a;
    *tail = 0.0;
    return 0;
  }
  if (a > 1647099.0) return trig__reduce_large(a, r, tail);
  double k = rint(a * 0.63661977236758138);
  double high = a - k * 1.5707963267341256, low = 0.0;
  trig__subtract(&high, &low, k * 6.077100506303966e-11);
  trig__subtract(&high, &low, k * 2.0222662487111665e-21);
  low -= k * 8.4784276603688996e-32;
  *r = high + low;
  *tail = low - (*r - high);
  return (int)((int64_t)k & 3);
}

static double trig__sin(double r, double tail) {
  double z = r * r;
  double p = KIT_POLY(z, -0.16666666666666666, 0.0083333333333333228, -0.00019841269841255083,
                      2.7557319214196695e-06, -2.5052104912844904e-08, 1.6058366744868826e-10,
                      -7.5787018442022572e-13);
  return r + (r * z * p + tail * (1.0 - 0.5 * z));
}

static double trig__cos(double r, double tail) {
  double z = r * r;
  double p = KIT_POLY(z, 0.041666666666666602, -0.0013888888888874071, 2.4801587289445836e-05,
                      -2.7557314341190153e-07, 2.0875721680306687e-09, -1.135956163596629e-11);
  double half = 0.5 * z, w = 1.0 - half;
  return w + (((1.0 - w) - half) + (z * z * p - r * tail));
}

double math_sin(double x) {
  double a = fabs(x), r, tail;
  if (!(a < KIT_INFINITY)) return KIT_NAN;
  if (a < 0x1p-27) return x;
  int quadrant = trig__reduce(a, &r, &tail);
  double result = quadrant & 1 ? trig__cos(r, tail) : trig__sin(r, tail);
  return ((quadrant >> 1) & 1) != (x < 0.0) ? -result : result;
}

double math_cos(double x) {
  double a = fabs(x), r, tail;
  if (!(a < KIT_INFINITY)) return KIT_NAN;
  int quadrant = trig__reduce(a, &r, &tail);
  double result = quadrant & 1 ? trig__sin(r, tail) : trig__cos(r, tail);
  return ((quadrant + 1) >> 1) & 1 ? -result : result;
}

double math_tan(double x) {
  double a = fabs(x), r, tail;
  if (!(a < KIT_INFINITY)) return KIT_NAN;
  if (a < 0x1p-27) return x;
  int quadrant = trig__reduce(a, &r, &tail);
  double s = trig__sin(r, tail), c = trig__cos(r, tail);
  double result = quadrant & 1 ? -c / s : s / c;
  return x < 0.0 ? -result : result;
}

/* (asin(x) - x) / x for z = x^2 <= 1/4. */
static double trig__asin_rest(double z) {
  return z * KIT_POLY(z, 0.16666666666666763, 0.074999999999700903, 0.04464285717529206, 0.030381942675032726,
                      0.022372215911959713, 0.017351595405227772, 0.01398101952482133, 0.011397286029817251,
                      0.010789355173771905, 0.0036720742315901772, 0.021790878986152881,
                      -0.021116999892787189, 0.03270231101223893);
}

/* asin(sqrt(z)) for z <= 1/4 as high + low, with the rounding of the root made good. */
static double trig__asin_root(double z, double *low) {
  double s = sqrt(z);
  double high = kit_high(s);
  double lost = high > 0.0 ? (z - high * high) / (s + high) : 0.0;
  *low = s * trig__asin_rest(z) + lost;
  return high;
}

double math_asin(double x) {
  double a = fabs(x), low;
  if (!(a <= 1.0)) return KIT_NAN;
  if (a <= 0.5) return x + x * trig__asin_rest(x * x);
  double high = trig__asin_root((1.0 - a) * 0.5, &low);
  double result = PI_4 - (2.0 * low - PI_2_LOW - (PI_4 - 2.0 * high));
  return copysign(result, x);
}

double math_acos(double x) {
  double a = fabs(x), low;
  if (!(a <= 1.0)) return KIT_NAN;
  if (a <= 0.5) return PI_2 - (x - (PI_2_LOW - x * trig__asin_rest(x * x)));
  double high = trig__asin_root((1.0 - a) * 0.5, &low);
  if (x > 0.0) return 2.0 * (high + low);
  return 2.0 * (PI_2 - (high + (low - PI_2_LOW)));
}

double math_atan(double x) {
  double a = fabs(x), t = a, base = 0.0, base_low = 0.0;
  if (a > 2.4142135623730951) {
    t = -1.0 / a;
    base = PI_2;
    base_low = PI_2_LOW;
  } else if (a > 0.4142135623730951) {
    t = (a - 1.0) / (a + 1.0);
    base = PI_4;
    base_low = PI_4_LOW;
  }
  double z = t * t;
  double p =
      KIT_POLY(z, -0.33333333333333326, 0.1999999999999767, -0.14285714285388154, 0.11111111088186162,
               -0.090909081448076925, 0.076922827645389019, -0.066662268385273518, 0.058770225423459811,
               -0.052184088752773881, 0.045035664810192437, -0.033474827077450996, 0.01519550250152926);
  double result = base + (t + (t * z * p + base_low));
  return x != x ? x : copysign(result, x);
}

double math_atan2(double y, double x) {
  if (x != x || y != y) return KIT_NAN;
  double ay = fabs(y), ax = fabs(x), result;
  if (ay == 0.0) {
    result = 0.0;
  } else if (ax == KIT_INFINITY && ay == KIT_INFINITY) {
    result = PI_4;
  } else {
    result = math_atan(ay / ax);
  }
  if (math_f64_bits(x) >> 63) result = 2.0 * PI_2 - (result - 2.0 * PI_2_LOW);
  return copysign(result, y);
}
