#ifndef OPSPEC_BROADCAST_H
#define OPSPEC_BROADCAST_H

// Element-wise work that a kernel does itself because the executor cannot.

#include "elements.h"
#include "move.h"

// out = loop(a, b), broadcast to out's shape. b_axis >= 0: axis 0 of b lies under this axis of out, as in operator sets
// before 7; -1: the last axes lie under each other. out may be an operand of its own shape. An element without a result
// (integer division by zero) and shapes that do not fit end the run. A NULL `out` is left alone.
os_status broadcast_binary(op_run *ctx, math_loop_id loop, op_tensor *out, const op_tensor *a,
                           const op_tensor *b, int64_t b_axis, const math_params *params);

// out = loop(a), of the same count, in pieces.
os_status broadcast_unary(op_run *ctx, math_loop_id loop, op_tensor *out, const op_tensor *a,
                          const math_params *params);

// The dim that two dims broadcast to. Two that cannot meet fail with a finding that names `what`.
os_status broadcast_infer_dim(op_infer *ctx, op_dim a, op_dim b, const char *what, op_dim *out);

// A plan of these operands' broadcast to out's shape. Shapes that do not fit end the run.
os_status broadcast_plan(op_run *ctx, math_broadcast *plan, size_t count, const op_tensor *const *operands,
                         const op_tensor *out);
// Where the operand's element for a place of the output lies.
ptrdiff_t broadcast_at(const math_broadcast *plan, size_t operand, const size_t *place);

#endif
