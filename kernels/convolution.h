#ifndef OPSPEC_CONVOLUTION_H
#define OPSPEC_CONVOLUTION_H

// What the float and the quantized convolutions share.

#include "conv.h"
#include "windows.h"

#include <opspec/operator.h>

// Shape of output 0 from input x [N, C, ...] and weights w [M, C / group, ...]. Sets no type.
os_status convolution_infer(op_infer *ctx, uint32_t x, uint32_t w);

// The shapes of a convolution as math wants them; false for more than three spatial axes and for shapes that do not match.
bool convolution_describe(const op_node *node, const op_tensor *x, const op_tensor *w, const op_tensor *y,
                          math_conv_shape *shape);

#endif
