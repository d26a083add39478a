#ifndef OPSPEC_STAGING_H
#define OPSPEC_STAGING_H

// Kernels that exist for float only serve float16, bfloat16 and float8 through float copies of whole tensors.

#include "elements.h"
#include "floats.h"

#include <opspec/operator.h>

// Floats of scratch that staging a tensor takes: 0 when it can be read or written as it is. A multiple of 16, so that what
// follows stays aligned.
static inline size_t stage_floats(const op_tensor *tensor) {
  return tensor && elem_is_narrow(tensor->elem) ? ((size_t)tensor->count + 15) / 16 * 16 : 0;
}

// The elements as floats: the tensor's own, or a copy at *scratch, which moves on. NULL for an absent tensor.
static inline const float *stage_read(const op_tensor *tensor, float **scratch) {
  if (tensor == NULL || tensor->elem == OP_FLOAT) return tensor ? tensor->data : NULL;
  float *copy = *scratch;
  math_load_f32(copy, tensor->data, (int)tensor->elem, (size_t)tensor->count);
  *scratch += stage_floats(tensor);
  return copy;
}

// Where to write the result as floats; stage_write then converts it.
static inline float *stage_result(const op_tensor *tensor, float **scratch) {
  if (tensor == NULL || tensor->elem == OP_FLOAT) return tensor ? tensor->data : NULL;
  float *copy = *scratch;
  *scratch += stage_floats(tensor);
  return copy;
}

static inline void stage_write(op_tensor *tensor, const float *result) {
  if (tensor == NULL || tensor->elem == OP_FLOAT) return;
  math_store_f32(tensor->data, result, (int)tensor->elem, (size_t)tensor->count);
}

#endif
