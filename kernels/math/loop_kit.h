/* Between the files of loops.h: the loops of each kind of element. n >= 1; modes and results as in math_run_binary. */
#ifndef OPSPEC_LOOP_KIT_H
#define OPSPEC_LOOP_KIT_H

#include "loops.h"

void math_unary_f32(math_op op, void *dst, const void *src, size_t n, const math_params *p);
void math_binary_f32(math_op op, void *dst, const void *a, const void *b, size_t n, int mode);

void math_unary_f64(math_op op, void *dst, const void *src, size_t n, const math_params *p);
void math_binary_f64(math_op op, void *dst, const void *a, const void *b, size_t n, int mode);

/* Every integer type. */
void math_unary_int(math_op op, int type, void *dst, const void *src, size_t n, const math_params *p);
ptrdiff_t math_binary_int(math_op op, int type, void *dst, const void *a, const void *b, size_t n, int mode);

/* int32 by whole vectors. False for an operation that is not done this way. */
bool math_binary_i32(math_op op, void *dst, const void *a, const void *b, size_t n, int mode);

/* A comparison whose operands are to change sides, as its mirror image: sets *op. */
bool math_mirror(math_op *op);

#endif
