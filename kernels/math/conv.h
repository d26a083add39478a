/* Convolution of f32 in NC[D][H]W layout, one to three spatial axes, groups, strides, dilations, any pads.
 *
 * Spatial axes are always three, [depth, height, width]; absent ones are leading 1s (stride 1, dilation 1, pad 0).
 * pad_begin may be negative (crops); the end pad follows from out. Weights are [filters, channels / groups, kernel...].
 * Work is given out in tasks 0 .. math_conv_tasks - 1, in any split, with one scratch per thread; results do not depend on
 * the split. Prepacked weights are 16-byte aligned, as is scratch. */
#ifndef OPSPEC_CONV_H
#define OPSPEC_CONV_H

#include "gemm.h"

typedef struct math_conv_shape {
  size_t batch, channels, filters, groups;
  size_t in[3], kernel[3], out[3];
  size_t stride[3], dilation[3];
  ptrdiff_t pad_begin[3];
} math_conv_shape;

typedef enum math_conv_algorithm {
  MATH_CONV_GEMM,
  MATH_CONV_POINTWISE,
  MATH_CONV_DEPTHWISE,
  MATH_CONV_WINOGRAD /* packed weights are 16/9 of the weights */
} math_conv_algorithm;

/* Output length of one axis: floor((in + pads - (dilation (kernel - 1) + 1)) / stride) + 1, 0 if the window does not fit. */
size_t math_conv_out(size_t in, size_t kernel, size_t stride, size_t dilation, ptrdiff_t pad_begin,
                     ptrdiff_t pad_end);

/* Which way a shape is computed; the other functions choose the same by themselves. */
math_conv_algorithm math_conv_choose(const math_conv_shape *s);

size_t math_conv_packed_bytes(const math_conv_shape *s);
void math_conv_pack(const math_conv_shape *s, void *packed, const float *weights);
size_t math_conv_scratch_bytes(const math_conv_shape *s);
size_t math_conv_tasks(const math_conv_shape *s);

/* epilogue rows are filters (bias_kind ROW is the convolution's bias), columns are the positions of one image's plane;
 * residual has y's layout and its stride is ignored. NULL: none. y must not overlap x or the residual. */
void math_conv_f32(const math_conv_shape *s, float *y, const float *x, const void *packed,
                   const math_epilogue *epilogue, size_t task_begin, size_t task_end, void *scratch);

/* The definition, slow: for tests. bias may be NULL. Sums in double. */
void math_conv_reference(const math_conv_shape *s, float *y, const float *x, const float *weights,
                         const float *bias);

/* col[channels kernel..., out...] from one image x[channels, in...] and back (adding onto y, which the caller clears).
 * `channels` of the shape counts; batch, filters, groups do not. col2im is what ConvTranspose and Col2Im need: there `in`
 * is the larger, scattered-to side. Element width 4. */
void math_im2col_f32(const math_conv_shape *s, float *col, const float *x);
void math_col2im_f32(const math_conv_shape *s, float *y, const float *col);

#endif
