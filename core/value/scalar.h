#ifndef OPSPEC_SCALAR_H
#define OPSPEC_SCALAR_H

#include "arena.h"

#include <opspec/operator.h>

// Single elements of tensors of any numeric type, for comparing, printing and reading them from text. Not for loops.

// Whether elements have a fraction (floats of any width); complex types count as pairs of such.
bool os_scalar_is_float(op_elem elem);
// Type of one number of an element: FLOAT of COMPLEX64, DOUBLE of COMPLEX128, otherwise the type itself.
op_elem os_scalar_part(op_elem elem);

// The number at `index` (of parts) of a float type. Exact.
double os_scalar_float(op_elem part, const void *data, int64_t index);
// Rounds to nearest, ties to even. Beyond the range: infinity, or the largest number where the type has none.
void os_scalar_put_float(op_elem part, void *data, int64_t index, double value);
// The number of an integer type or bool; of UINT64 its two's complement.
int64_t os_scalar_int(op_elem elem, const void *data, int64_t index);
// False when the type cannot hold it. `negative` false: `bits` is the unsigned value.
bool os_scalar_put_int(op_elem elem, void *data, int64_t index, bool negative, uint64_t bits);
// Number of representable values between two numbers of a float type; UINT64_MAX when one of them is NaN.
uint64_t os_scalar_ulps(op_elem part, const void *a, const void *b, int64_t index);

// An element for a person: numbers so that they read back as the same, strings quoted and cut at about 60 bytes, complex
// ones as "1+2i".
os_str os_scalar_print(os_arena *arena, op_elem elem, const void *data, int64_t index);

#endif
