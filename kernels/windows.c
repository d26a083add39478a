#include "windows.h"

#include "kit.h"

#include <string.h>

// A list attribute of `count` values from `low` to 2^31 - 1 into `out`; false when it is something else.
static bool windows__list(const op_node *node, const char *name, size_t count, int64_t low, int64_t fallback,
                          int64_t *out) {
  size_t found;
  const int64_t *values = op_attr_ints(node, name, &found);
  if (values == NULL || found == 0) {
    for (size_t i = 0; i < count; i++) out[i] = fallback;
    return true;
  }
  if (found != count) return false;
  for (size_t i = 0; i < count; i++) {
    if (values[i] < low || values[i] > INT32_MAX) return false;
    out[i] = values[i];
  }
  return true;
}

static const char *windows__kernel(windows *self, const op_node *node, const op_dim *kernel) {
  if (!windows__list(node, "kernel_shape", (size_t)self->axes, 1, 0, self->kernel))
    return "`kernel_shape` must hold one positive number per spatial axis";
  for (int32_t i = 0; kernel && i < self->axes; i++) {
    if (kernel[i] < 0) continue;
    if (self->kernel[i] != 0 && self->kernel[i] != kernel[i])
      return "`kernel_shape` differs from the dims of W";
    if (kernel[i] == 0 || kernel[i] > INT32_MAX) return "a spatial dim of W is 0 or too large";
    self->kernel[i] = kernel[i];
  }
  return NULL;
}

const char *windows_read(windows *self, const op_node *node, int32_t axes, const op_dim *kernel) {
  *self = (windows){.axes = axes};
  size_t count = (size_t)axes;
  const char *wrong = windows__kernel(self, node, kernel);
  if (wrong) return wrong;
  static const uint8_t paddings[] = {WINDOWS_EXPLICIT, WINDOWS_SAME_UPPER, WINDOWS_SAME_LOWER, WINDOWS_VALID};
  int how = kit_word(node, "auto_pad", "NOTSET\0SAME_UPPER\0SAME_LOWER\0VALID\0");
  if (how < 4)
    self->padding = paddings[how];
  else if (op_attr_string(node, "auto_pad", "").len > 0)
    return "`auto_pad` must be NOTSET, SAME_UPPER, SAME_LOWER or VALID";
  if (!windows__list(node, "strides", count, 1, 1, self->stride))
    return "`strides` must hold one positive number per spatial axis";
  if (!windows__list(node, "dilations", count, 1, 1, self->dilation))
    return "`dilations` must hold one positive number per spatial axis";
  int64_t pads[2 * OP_MAX_RANK];
  if (!windows__list(node, "pads", 2 * count, 0, 0, pads))
    return "`pads` must hold two numbers, 0 or more, per spatial axis";
  for (size_t i = 0; i < count && self->padding == WINDOWS_EXPLICIT; i++) {
    self->pad_begin[i] = pads[i];
    self->pad_end[i] = pads[count + i];
  }
  self->ceil = op_attr_int(node, "ceil_mode", 0) == 1;
  return NULL;
}

int32_t windows_axes(const op_node *node) {
  static const char *const names[] = {"kernel_shape", "strides", "dilations"};
  size_t count;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (op_attr_ints(node, names[i], &count) && count > 0 && count + 2 <= OP_MAX_RANK) return (int32_t)count;
  if (op_attr_ints(node, "pads", &count) && count > 0 && count / 2 + 2 <= OP_MAX_RANK)
    return (int32_t)(count / 2);
  return -1;
}

op_dim windows_out(const windows *self, op_infer *ctx, int32_t axis, op_dim in) {
  int64_t stride = self->stride[axis];
  if (in == OP_DIM_UNKNOWN) return in;
  if (self->padding == WINDOWS_SAME_UPPER || self->padding == WINDOWS_SAME_LOWER)
    return op_dim_ceildiv(ctx, in, stride);
  if (self->kernel[axis] == 0) return OP_DIM_UNKNOWN;
  int64_t reach = self->dilation[axis] * (self->kernel[axis] - 1) + 1; // below 2^62
  int64_t pads = self->pad_begin[axis] + self->pad_end[axis];
  op_dim room = op_dim_sub(ctx, op_dim_add(ctx, in, pads), reach), out;
  if (self->ceil && self->padding == WINDOWS_EXPLICIT) {
    // A last window that would begin in the end pad is dropped.
    out = op_dim_add(ctx, op_dim_ceildiv(ctx, room, stride), 1);
    out = op_dim_min(ctx, out, op_dim_ceildiv(ctx, op_dim_add(ctx, in, self->pad_begin[axis]), stride));
  } else
    out = op_dim_add(ctx, op_dim_floordiv(ctx, room, stride), 1);
  return op_dim_is_number(out) && out < 0 ? 0 : out;
}

void windows_pads(const windows *self, int32_t axis, int64_t in, int64_t out, int64_t *begin, int64_t *end) {
  *begin = self->pad_begin[axis];
  *end = self->pad_end[axis];
  if (self->padding != WINDOWS_SAME_UPPER && self->padding != WINDOWS_SAME_LOWER) return;
  int64_t total = (out - 1) * self->stride[axis] + self->dilation[axis] * (self->kernel[axis] - 1) + 1 - in;
  if (total < 0) total = 0;
  *begin = self->padding == WINDOWS_SAME_UPPER ? total / 2 : total - total / 2;
  *end = total - *begin;
}
