#ifndef OPSPEC_NUMBERS_TEXT_H
#define OPSPEC_NUMBERS_TEXT_H

// Numbers as the text of string tensors and back.

#include <opspec/operator.h>

enum { NUMBERS_TEXT_ROOM = 40 };

// Element `index` of a tensor of numbers or bools as text: the fewest digits that give the same element back, with an
// exponent from 10^16 (double), 10^6 (float and bfloat16), 10^3 (float16 and narrower) on and below 10^-4, as NumPy writes.
os_str numbers_print(const op_tensor *tensor, int64_t index, char room[NUMBERS_TEXT_ROOM]);

// Parses a decimal number, "inf", "infinity" or "nan", in any case, with a sign and blanks around, into element `index`.
// Integers are exact when the text is one, otherwise the number is truncated as Cast does. False when the text is no number.
bool numbers_parse(op_tensor *tensor, int64_t index, os_str text);

#endif
