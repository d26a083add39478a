/* Between the files of reduce.h. */
#ifndef OPSPEC_REDUCE_KIT_H
#define OPSPEC_REDUCE_KIT_H

#include "reduce.h"

#include <math.h>

void math_reduce_f32(math_reduction r, float *dst, const float *src, size_t outer, size_t n, size_t inner);

#endif
