/* Elementary functions of one double, with the same bits on every platform (libm's differ). Kernels use these, never
 * libm's transcendental functions; sqrt, fabs, floor, ceil, trunc, rint, copysign and fmod of libm are exact and fine.
 * Errors are below 2.5 units in the last place unless a bound is given; special values follow C's Annex F. */
#ifndef OPSPEC_SCALARS_H
#define OPSPEC_SCALARS_H

double math_exp(double x);
double math_expm1(double x);
double math_log(double x);
double math_log1p(double x);
double math_log2(double x);
double math_log10(double x);
double math_pow(double x, double y);
double math_sin(double x);
double math_cos(double x);
double math_tan(double x);
double math_asin(double x);
double math_acos(double x);
double math_atan(double x);
double math_atan2(double y, double x);
double math_sinh(double x);
double math_cosh(double x);
double math_tanh(double x);
double math_asinh(double x);
double math_acosh(double x);
double math_atanh(double x);
double math_erf(double x);
double math_erfc(double x); /* 8 units */
double math_sigmoid(double x);
double math_softplus(double x);

#endif
