/* x^y in double: the logarithm as an unevaluated sum of two doubles (about 68 bits), because an error in it is multiplied by
 * up to 709 on the way out. */
#include "scalar_kit.h"
#include "scalars.h"

#include <math.h>

/* Of each thirty-second of [0.695, 1.39): a reciprocal with few bits, so that m reciprocal - 1 is exact in two pieces, and
 * minus its logarithm in two pieces (the first on a grid of 2^-42). The piece around 1 has reciprocal 1. */
static const struct {
  double reciprocal, log_high, log_low;
} POW_TABLE[32] = {
    {1.421875, -0.35197642315711164, -6.6544916433247948e-14},
    {1.390625, -0.32975328637257917, 1.1118671389559323e-13},
    {1.36328125, -0.30989447772276435, -1.0033796982039214e-13},
    {1.33203125, -0.28670503280386583, -8.8481096040068212e-14},
    {1.3046875, -0.26596354849721138, 7.3435913698677971e-14},
    {1.28125, -0.24783616390459429, 1.3029797173308663e-14},
    {1.25390625, -0.22626367865041175, -4.1641267302872263e-14},
    {1.23046875, -0.20739519434596332, -1.0726867577289733e-13},
    {1.20703125, -0.18816383241824042, 5.743078393200756e-14},
    {1.18359375, -0.16855536102980295, -3.7143977541704719e-15},
    {1.1640625, -0.15191604202573217, -1.0980754099855238e-13},
    {1.14453125, -0.13499516453748583, -1.8996158041578768e-14},
    {1.12109375, -0.11430477128010352, 4.4889533522386993e-14},
    {1.1015625, -0.096729626458454732, -9.6380676585522774e-14},
    {1.0859375, -0.082443669210988446, -8.6145129360878145e-14},
    {1.06640625, -0.064294350705495162, 9.7905185119902161e-14},
    {1.05078125, -0.049533935122326511, 4.9880309107981426e-14},
    {1.03125, -0.03077165866670839, -4.5298142577909288e-14},
    {1.015625, -0.015504186535963527, -1.7274567499706107e-15},
    {1, 0, 0},
    {0.96875, 0.031748698314686408, -1.0610652735224087e-13},
    {0.94140625, 0.060380510988807146, 1.0033424888676119e-13},
    {0.9140625, 0.089856329121857925, 3.1218748807418837e-15},
    {0.890625, 0.11583181552509814, 2.3568822182038756e-14},
    {0.86328125, 0.14701474296180095, 8.7107837961224781e-15},
    {0.84375, 0.16989903679541385, -1.6376276414097503e-14},
    {0.8203125, 0.19806991376208316, 1.0634128304268335e-14},
    {0.80078125, 0.22216746534104459, 1.0970699320566433e-13},
    {0.78125, 0.2468600779316148, -8.8998513565604442e-14},
    {0.76171875, 0.27217788591588032, -6.4651030640052555e-14},
    {0.74609375, 0.29290401643288533, 4.7274529405144063e-14},
    {0.7265625, 0.31943077076630289, 5.8343574200909236e-14},
};
static const uint64_t POW_TABLE_BEGIN = 0x3fe6400000000000u;
static const double POW_LN2_HIGH = 0.69314718055989033; /* on the same grid */
static const double POW_LN2_LOW = 5.4979230187083712e-14;

/* Adds x to the pair (*high, *low) and keeps what rounding loses. */
static void pow__add(double *high, double *low, double x) {
  double sum = *high + x;
  double back = sum - *high;
  *low += (*high - (sum - back)) + (x - back);
  *high = sum;
}

/* log(x) of a positive finite x as high + low. */
static double pow__log(double x, double *low) {
  int64_t shift = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54;
  }
  uint64_t bits = math_f64_bits(x);
  uint64_t from_begin = bits - POW_TABLE_BEGIN;
  size_t row = (from_begin >> 47) & 31;
  int64_t e = (int64_t)from_begin >> 52;
  double m = math_f64_from_bits(bits - ((uint64_t)e << 52));
  double reciprocal = POW_TABLE[row].reciprocal;
  double k = (double)(e + shift);

  double m_high = kit_high(m);
  double r_first = m_high * reciprocal - 1.0, r_second = (m - m_high) * reciprocal;
  double r = r_first + r_second;
  double r_rest = r_second - (r - r_first);
  double r_high = kit_high(r), r_low = r - r_high;

  double high = k * POW_LN2_HIGH + POW_TABLE[row].log_high;
  double rest = k * POW_LN2_LOW + POW_TABLE[row].log_low;
  pow__add(&high, &rest, r);
  pow__add(&high, &rest, -0.5 * r_high * r_high);
  rest += r_rest - r_rest * r - r_low * (r_high + 0.5 * r_low);
  rest +=
      r * r * r * KIT_POLY(r, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9, -1.0 / 10);
  double sum = high + rest;
  *low = rest - (sum - high);
  return sum;
}

/* exp(high + low) for |low| far below |high|. */
static double pow__exp(double high, double low) {
  if (high > 710.0) return KIT_INFINITY;
  if (high < -746.0) return 0.0;
  double k = rint(high * KIT_LOG2E);
  double first = high - k * KIT_LN2_HIGH, second = k * KIT_LN2_LOW - low;
  double r = first - second;
  double rest = (first - r) - second;
  return kit_scale(1.0 + (r + (r * r * KIT_EXP_POLY(r) + rest)), (int64_t)k);
}

/* 0: not an integer, 1: odd, 2: even. */
static int pow__parity(double y) {
  if (fabs(y) >= 0x1p53) return 2;
  if (y != rint(y)) return 0;
  return fmod(fabs(y), 2.0) == 1.0 ? 1 : 2;
}

/* The cases of C's Annex F in which an operand is 0 or not finite. */
static double pow__special(double x, double y) {
  double a = fabs(x);
  if (y == KIT_INFINITY || y == -KIT_INFINITY) {
    if (a == 1.0) return 1.0;
    return (a > 1.0) == (y > 0.0) ? KIT_INFINITY : 0.0;
  }
  double result = (a == 0.0) == (y < 0.0) ? KIT_INFINITY : 0.0;
  return pow__parity(y) == 1 ? copysign(result, x) : result;
}

double math_pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return KIT_NAN;
  if (x == 0.0 || fabs(x) == KIT_INFINITY || fabs(y) == KIT_INFINITY) return pow__special(x, y);
  double sign = 1.0;
  if (x < 0.0) {
    int parity = pow__parity(y);
    if (parity == 0) return KIT_NAN;
    if (parity == 1) sign = -1.0;
    x = -x;
    if (x == 1.0) return sign;
  }
  double low, high = pow__log(x, &low);
  if (fabs(y) > 0x1p80) return sign * ((high > 0.0) == (y > 0.0) ? KIT_INFINITY : 0.0);
  double product = y * high;
  if (fabs(product) > 1000.0) return sign * (product > 0.0 ? KIT_INFINITY : 0.0);
  double y_high = kit_high(y), y_low = y - y_high;
  double log_high = kit_high(high), log_low = high - log_high;
  double rest =
      ((y_high * log_high - product) + y_high * log_low + y_low * log_high) + y_low * log_low + y * low;
  return sign * pow__exp(product, rest);
}
