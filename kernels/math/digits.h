#ifndef MATH_DIGITS_H
#define MATH_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exact decimal digits of binary floating point, both ways. A number is 0.d1 d2 d3 ... * 10^exponent.

// The binary floating point number nearest to `count` digits, ties to even, infinite beyond its range. `digits` may have
// points among them: they are skipped and not counted. The first digit should not be 0. `precision` is 53 (binary64) or 24
// (binary32; the result converts to float without a change).
double math_from_digits(const char *digits, size_t count, int64_t exponent, int precision);

// The first `count` digits of a finite `value` above 0, cut off, and whether any that is not 0 follows.
bool math_to_digits(double value, int count, char *digits, int *exponent);

// Rounds what math_to_digits wrote to `keep` digits, 0 <= keep < count, ties to even, and answers how many there are now: 1
// instead of 0 when nothing was kept and the number rounds up.
int math_round_digits(char *digits, int count, bool more, int keep, int *exponent);

// The power of ten k for which value / 10^k lies below 1 or below 10 and at or above 0.1.
int math_decimal_exponent(double value);

#endif
