#ifndef OPSPEC_WINDOWS_H
#define OPSPEC_WINDOWS_H

// The attributes of convolution and pooling: kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.

#include <opspec/operator.h>

typedef enum windows_padding {
  WINDOWS_EXPLICIT,
  WINDOWS_SAME_UPPER,
  WINDOWS_SAME_LOWER,
  WINDOWS_VALID
} windows_padding;

typedef struct windows {
  int32_t axes; // spatial ones
  windows_padding padding;
  bool ceil;
  int64_t kernel[OP_MAX_RANK]; // 0 = unknown yet
  int64_t stride[OP_MAX_RANK], dilation[OP_MAX_RANK], pad_begin[OP_MAX_RANK], pad_end[OP_MAX_RANK];
} windows;

// Reads the attributes for so many spatial axes. The answer is NULL, or says which attribute is wrong. kernel: dims of the
// weights, or NULL; they must agree with kernel_shape where both are known (>= 0).
const char *windows_read(windows *self, const op_node *node, int32_t axes, const op_dim *kernel);

// Number of spatial axes that the attributes speak of; -1 when none does.
int32_t windows_axes(const op_node *node);

// Output length of an axis, 0 where no window fits; symbolic as the input's.
op_dim windows_out(const windows *self, op_infer *ctx, int32_t axis, op_dim in);

// Explicit pads of an axis for these lengths: resolves auto_pad.
void windows_pads(const windows *self, int32_t axis, int64_t in, int64_t out, int64_t *begin, int64_t *end);

#endif
