/* Between the files of conv.h. */
#ifndef OPSPEC_CONV_KIT_H
#define OPSPEC_CONV_KIT_H

#include "conv.h"

static inline size_t conv_volume(const size_t axes[3]) { return axes[0] * axes[1] * axes[2]; }

/* Length of the sum behind one output element. */
static inline size_t conv_depth(const math_conv_shape *s) {
  return s->channels / s->groups * conv_volume(s->kernel);
}

/* Outputs o of one axis for which o stride + offset lies in [0, in): [begin, end). */
static inline void conv_range(ptrdiff_t offset, size_t stride, size_t in, size_t out, size_t *begin,
                              size_t *end) {
  ptrdiff_t step = (ptrdiff_t)stride, last = (ptrdiff_t)in - 1 - offset;
  ptrdiff_t first = offset >= 0 ? 0 : (-offset + step - 1) / step;
  ptrdiff_t stop = last < 0 ? 0 : last / step + 1;
  if (stop > (ptrdiff_t)out) stop = (ptrdiff_t)out;
  if (first > stop) first = stop;
  *begin = (size_t)first;
  *end = (size_t)stop;
}

/* The epilogue for one image: rows are filters, the residual is that image's. */
static inline math_epilogue conv_epilogue(const math_conv_shape *s, const math_epilogue *e, size_t image) {
  math_epilogue own = *e;
  size_t plane = conv_volume(s->out);
  own.residual_stride = (ptrdiff_t)plane;
  if (own.residual) own.residual += image * s->filters * plane;
  return own;
}

size_t conv_dense_scratch_bytes(const math_conv_shape *s);
size_t conv_dense_tasks(const math_conv_shape *s);
void conv_dense_pack(const math_conv_shape *s, float *packed, const float *weights);
void conv_dense_run(const math_conv_shape *s, float *y, const float *x, const float *packed,
                    const math_epilogue *epilogue, size_t task, void *scratch);

bool conv_winograd_fits(const math_conv_shape *s);
size_t conv_winograd_packed_bytes(const math_conv_shape *s);
size_t conv_winograd_scratch_bytes(const math_conv_shape *s);
size_t conv_winograd_tasks(const math_conv_shape *s);
void conv_winograd_pack(const math_conv_shape *s, float *packed, const float *weights);
void conv_winograd_run(const math_conv_shape *s, float *y, const float *x, const float *packed,
                       const math_epilogue *epilogue, size_t task, void *scratch);

size_t conv_depthwise_scratch_bytes(const math_conv_shape *s);
void conv_depthwise_run(const math_conv_shape *s, float *y, const float *x, const float *weights,
                        const math_epilogue *epilogue, size_t task, void *scratch);

#endif
