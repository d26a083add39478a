#ifndef OPSPEC_DOUBLE_PRINT_H
#define OPSPEC_DOUBLE_PRINT_H

#include "decimal.h"

// Lays out 0.d1 d2 ... * 10^exponent as ECMAScript does. `to` must have room for OS_DOUBLE_ROOM bytes.
size_t os_double_layout(bool negative, const char *digits, size_t count, int exponent, char *to);
// os_double_print of the binary64 nearest to a number's text; 0 when that is infinite.
size_t os_decimal_print_shortest(const os_decimal *a, os_str text, char *to);

#endif
