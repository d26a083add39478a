#ifndef OPSPEC_FUSED_H
#define OPSPEC_FUSED_H

// The loops that the executor fused behind a product or convolution, laid onto the epilogue that math applies while a
// tile is hot.

#include "gemm.h"

#include <opspec/operator.h>

typedef struct fused {
  math_epilogue epilogue; // the caller may have set alpha, bias, residual before fused_take
  math_params params;     // of epilogue.loop
  uint32_t taken;         // items before this one are done or in `epilogue`
} fused;

// Adds as many of the items from `self->taken` on as the epilogue has room for. channel_kind: MATH_BIAS_ROW where a
// channel is a row of the result, MATH_BIAS_COLUMN where it is a column. self must stay where it is.
void fused_take(fused *self, const op_epilogue *items, const op_tensor *out, int channel_kind);

// Applies the items that are left to the finished output.
os_status fused_finish(op_run *ctx, const fused *self, op_tensor *out);

#endif
