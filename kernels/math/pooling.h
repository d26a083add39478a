/* Pooling over planes of up to three axes. Axes as in conv.h; a plane is one channel of one image. Ranges of planes may be
 * split anywhere. Windows are clipped to the plane; a window that touches no element gives the type's lowest value (max) or
 * 0 (average). */
#ifndef OPSPEC_POOLING_H
#define OPSPEC_POOLING_H

#include "loops.h"

typedef struct math_pool_shape {
  size_t in[3], kernel[3], out[3];
  size_t stride[3], dilation[3];
  ptrdiff_t pad_begin[3], pad_end[3];
  bool
      count_include_pad; /* average: divide by the elements of the window within plane and pads, not those in the plane */
  bool column_major; /* max: indices count with the first axis fastest (storage_order 1) */
} math_pool_shape;

/* Output length of one axis. ceil: round up, but drop a last window that begins in the end pad. */
size_t math_pool_out(size_t in, size_t kernel, size_t stride, size_t dilation, ptrdiff_t pad_begin,
                     ptrdiff_t pad_end, bool ceil);

/* type: f32, f64, i8, u8. indices, if not NULL, gets each maximum's place, counted over the whole tensor (plane number
 * included; first of equals; the first NaN). x and y point to plane 0. False for another type. */
bool math_max_pool(const math_pool_shape *s, int type, void *y, int64_t *indices, const void *x,
                   size_t plane_begin, size_t plane_end);
/* type: f32, f64. */
bool math_average_pool(const math_pool_shape *s, int type, void *y, const void *x, size_t plane_begin,
                       size_t plane_end);
/* (sum |x|^p)^(1/p) over the window. type: f32, f64. */
bool math_lp_pool(const math_pool_shape *s, int type, double p, void *y, const void *x, size_t plane_begin,
                  size_t plane_end);

#endif
