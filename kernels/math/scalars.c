/* Exponentials, logarithms, hyperbolic functions and erf in double. Polynomials are minimax fits of the named remainder;
 * constants with _HIGH have enough trailing zero bits that the products below are exact. */
#include "scalars.h"
#include "scalar_kit.h"

#include <math.h>

static const double LARGE_EXPONENT = 710.0, SMALL_EXPONENT = -746.0;

double math_exp(double x) {
  if (x != x) return x;
  if (x > LARGE_EXPONENT) return KIT_INFINITY;
  if (x < SMALL_EXPONENT) return 0.0;
  double k = rint(x * KIT_LOG2E);
  double high = x - k * KIT_LN2_HIGH, low = k * KIT_LN2_LOW;
  double r = high - low;
  double rest = (high - r) - low;
  return kit_scale(1.0 + (r + (r * r * KIT_EXP_POLY(r) + rest)), (int64_t)k);
}

double math_expm1(double x) {
  if (x != x) return x;
  if (x > LARGE_EXPONENT) return KIT_INFINITY;
  if (x < -40.0) return -1.0;
  double k = rint(x * KIT_LOG2E);
  double high = x - k * KIT_LN2_HIGH, low = k * KIT_LN2_LOW;
  double r = high - low;
  double p = r + (r * r * KIT_EXP_POLY(r) + ((high - r) - low));
  if (k == 0.0) return x == 0.0 ? x : p;
  if (k > 54.0) return kit_scale(1.0 + p, (int64_t)k);
  return kit_scale((1.0 - kit_pow2(-(int64_t)k)) + p, (int64_t)k);
}

/* log(2^k (1 + f)) with f in [sqrt(1/2) - 1, sqrt(2) - 1] and a correction to f: with s = f / (2 + f) the logarithm is
 * 2 s + s R(s^2), arranged so that the leading f is added last. */
static double scalars__log(double f, double k, double correction) {
  double half = 0.5 * f * f;
  double s = f / (2.0 + f);
  double z = s * s;
  double r = z * KIT_POLY(z, 0.66666666666667351, 0.39999999999410568, 0.28571428743426719,
                          0.22222198453826569, 0.18183571178663524, 0.15313859150146325, 0.14798019284268818);
  return k * KIT_LN2_HIGH - ((half - (s * (half + r) + (k * KIT_LN2_LOW + correction))) - f);
}

/* Splits a positive normal x into 2^k m with m in [sqrt(1/2), sqrt(2)). */
static double scalars__split(double x, double *k) {
  uint64_t bits = math_f64_bits(x);
  int64_t e = (int64_t)(bits - 0x3fe6a09e667f3bcdu) >> 52;
  *k = (double)e;
  return math_f64_from_bits(bits - ((uint64_t)e << 52));
}

double math_log(double x) {
  if (x != x || x == KIT_INFINITY) return x;
  if (x == 0.0) return -KIT_INFINITY;
  if (x < 0.0) return KIT_NAN;
  double k, shift = 0.0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54.0;
  }
  double m = scalars__split(x, &k);
  return scalars__log(m - 1.0, k + shift, 0.0);
}

double math_log1p(double x) {
  if (x != x || x == KIT_INFINITY) return x;
  if (x == -1.0) return -KIT_INFINITY;
  if (x < -1.0) return KIT_NAN;
  if (fabs(x) < 0x1p-54) return x;
  if (x > -0.29 && x < 0.41) return scalars__log(x, 0.0, 0.0);
  double u = 1.0 + x, k;
  double lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  double m = scalars__split(u, &k);
  return scalars__log(m - 1.0, k, lost / u);
}

double math_log2(double x) {
  if (!(x > 0.0) || x == KIT_INFINITY) return math_log(x);
  double k, shift = 0.0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54.0;
  }
  double m = scalars__split(x, &k);
  return (k + shift) + scalars__log(m - 1.0, 0.0, 0.0) * KIT_LOG2E;
}

double math_log10(double x) {
  static const double LOG10_2_HIGH = 0.30102999566383914, LOG10_2_LOW = 1.4205023227266099e-13;
  static const double LOG10_E = 0.43429448190325182;
  if (!(x > 0.0) || x == KIT_INFINITY) return math_log(x);
  double k, shift = 0.0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54.0;
  }
  double m = scalars__split(x, &k);
  k += shift;
  return k * LOG10_2_HIGH + (scalars__log(m - 1.0, 0.0, 0.0) * LOG10_E + k * LOG10_2_LOW);
}

double math_sinh(double x) {
  double a = fabs(x), result;
  if (a < 22.0) {
    double t = math_expm1(a);
    result = a < 1.0 ? 0.5 * (2.0 * t - t * t / (t + 1.0)) : 0.5 * (t + t / (t + 1.0));
  } else {
    double root = math_exp(0.5 * a);
    result = 0.5 * root * root;
    if (a < LARGE_EXPONENT - 1.0) result = 0.5 * math_exp(a);
  }
  return copysign(result, x);
}

double math_cosh(double x) {
  double a = fabs(x);
  if (a < 0.35) {
    double t = math_expm1(a);
    return 1.0 + t * t / (2.0 * (1.0 + t));
  }
  if (a < 22.0) {
    double e = math_exp(a);
    return 0.5 * e + 0.5 / e;
  }
  if (a < LARGE_EXPONENT - 1.0) return 0.5 * math_exp(a);
  double root = math_exp(0.5 * a);
  return 0.5 * root * root;
}

double math_tanh(double x) {
  double a = fabs(x), result;
  if (a > 22.0) {
    result = 1.0;
  } else if (a >= 1.0) {
    result = 1.0 - 2.0 / (math_expm1(2.0 * a) + 2.0);
  } else {
    double t = math_expm1(-2.0 * a);
    result = -t / (t + 2.0);
  }
  return x != x ? x : copysign(result, x);
}

double math_asinh(double x) {
  double a = fabs(x), result;
  if (a > 0x1p28) {
    result = math_log(a) + 0.69314718055994531;
  } else if (a > 2.0) {
    result = math_log(2.0 * a + 1.0 / (sqrt(a * a + 1.0) + a));
  } else {
    result = math_log1p(a + a * a / (1.0 + sqrt(1.0 + a * a)));
  }
  return x != x ? x : copysign(result, x);
}

double math_acosh(double x) {
  if (x < 1.0) return KIT_NAN;
  if (x > 0x1p28) return math_log(x) + 0.69314718055994531;
  if (x > 2.0) return math_log(2.0 * x - 1.0 / (x + sqrt(x * x - 1.0)));
  double t = x - 1.0;
  return math_log1p(t + sqrt(2.0 * t + t * t));
}

double math_atanh(double x) {
  double a = fabs(x);
  if (a > 1.0) return KIT_NAN;
  if (a == 1.0) return copysign(KIT_INFINITY, x);
  double result =
      a < 0.5 ? 0.5 * math_log1p(2.0 * a + 2.0 * a * a / (1.0 - a)) : 0.5 * math_log1p(2.0 * a / (1.0 - a));
  if (a < 0x1p-28) result = a;
  return x != x ? x : copysign(result, x);
}

/* erf(x) for |x| < 0.84: 2/sqrt(pi) is 1 + 0.128..., so that the leading x stays exact. */
static double scalars__erf_small(double x) {
  double z = x * x;
  double p = KIT_POLY(z, -0.37612638903183748, 0.11283791670954674, -0.026866170645015168,
                      0.005223977623896532, -0.00085483269017619064, 0.00012055326894085412,
                      -1.4925449296337104e-05, 1.6457666384302422e-06, -1.6300423346739664e-07,
                      1.4189344413816654e-08, -8.8370639504017276e-10);
  return x + x * (0.1283791670955126 + z * p);
}

/* erfc(x) for x in [0.84, 28]: exp(-x^2) / (1 + 2 x) times a polynomial in (x - 3) / (x + 3). */
static double scalars__erfc_large(double x) {
  double t = (x - 3.0) / (x + 3.0);
  double p = KIT_POLY(t, 1.2530080582697296, -0.13562110612458786, -0.047562294353467774, 0.129645158703659,
                      -0.1192736634145122, 0.068308027308361205, -0.023770514923966053, 0.0025293924557671572,
                      0.0018886901386456997, -0.00077983839145513592, -0.00010515529312422242,
                      0.00012513236501033407, 4.9135153846950214e-06, -2.0198953822606922e-05,
                      -5.8577206983315386e-07, 3.6106527470664949e-06, 5.5513126490570496e-08,
                      -6.4049105586475415e-07, 1.2578957746280606e-07);
  double high = kit_high(x);
  double low = (x - high) * (x + high);
  return math_exp(-high * high) * math_exp(-low) * (p / (1.0 + 2.0 * x));
}

double math_erf(double x) {
  double a = fabs(x);
  if (x != x) return x;
  if (a < 0.84) return scalars__erf_small(x);
  return copysign(a > 6.0 ? 1.0 : 1.0 - scalars__erfc_large(a), x);
}

double math_erfc(double x) {
  if (x != x) return x;
  if (fabs(x) < 0.84) return 1.0 - scalars__erf_small(x);
  if (x > 28.0) return 0.0;
  return x > 0.0 ? scalars__erfc_large(x) : 2.0 - (x < -6.0 ? 0.0 : scalars__erfc_large(-x));
}

double math_sigmoid(double x) {
  double e = math_exp(-fabs(x));
  return x != x ? x : (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

double math_softplus(double x) { return x != x ? x : (x > 0.0 ? x : 0.0) + math_log1p(math_exp(-fabs(x))); }
