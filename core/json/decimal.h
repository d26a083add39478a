#ifndef OPSPEC_DECIMAL_H
#define OPSPEC_DECIMAL_H

#include "bytes.h"

#include <opspec/status.h>

// Exact arithmetic on the texts of JSON numbers. No digit is ever expanded: 1e1000000000 costs what it is long.

// A number as digits: its value is 0.d1 d2 d3 ... * 10^exponent, without leading or trailing zeros.
typedef struct os_decimal {
  os_str digits; // slice of the text; may have one '.' inside
  size_t count;  // digits in it, without the '.'; 0 = zero
  int64_t exponent;
  bool negative;   // also of -0
  bool overflowed; // the exponent does not fit; it stands for one of its sign and some 2^60 then
  int64_t shift;   // what the place of the point adds to the exponent that is written
  os_str power;    // digits of that one, without leading zeros
} os_decimal;

// `text` must be a number by the grammar of RFC 8259.
os_decimal os_decimal_of(os_str text);
// -1, 0, 1. -0 equals 0.
int os_decimal_compare(const os_decimal *a, const os_decimal *b);
bool os_decimal_is_integer(const os_decimal *a);
// Equal numbers have equal hashes, however they are written (1, 1.0, 10e-1).
uint64_t os_decimal_hash(const os_decimal *a);
// Whether a / b is an integer. b must not be 0 and may have up to OS_DECIMAL_DIVISOR digits: else OS_LIMIT.
enum { OS_DECIMAL_DIVISOR = 600 };
os_status os_decimal_divides(const os_decimal *a, const os_decimal *b, bool *answer);
// The exact value when it is an integer inside int64 (1.0 and 1e3 are); else false.
bool os_decimal_int64(const os_decimal *a, int64_t *out);
bool os_decimal_uint64(const os_decimal *a, uint64_t *out);
// Nearest binary64 of a number's text, ties to even; infinite beyond its range.
double os_decimal_double(os_str text);
// Nearest binary32, rounded once from the text.
float os_decimal_float(os_str text);
// Whether the integer that `text` spells is exactly a binary64.
bool os_decimal_exact_double(const os_decimal *a, double value);

// Shortest text that reads back as the same binary64, in the form of ECMAScript's Number::toString (RFC 8785).
// Not for NaN and infinities. Answers the length; `to` must have room for OS_DOUBLE_ROOM bytes.
enum { OS_DOUBLE_ROOM = 32 };
size_t os_double_print(double value, char *to);
// The same for a binary32.
size_t os_float_print(float value, char *to);

#endif
