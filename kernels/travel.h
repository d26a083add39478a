#ifndef OPSPEC_TRAVEL_H
#define OPSPEC_TRAVEL_H

// Values that travel with shapes: small integer tensors whose elements are dims (op_infer_small).

#include "kit.h"

enum { TRAVEL_MAX = 64 };

typedef op_dim (*travel_fn)(op_infer *ctx, op_dim a, op_dim b);

// Certainly not negative.
bool travel_is_natural(op_infer *ctx, op_dim dim);

// Division and remainder as the operators define them on integers: towards zero, and with the divisor's sign.
op_dim travel_div(op_infer *ctx, op_dim a, op_dim b);
op_dim travel_mod(op_infer *ctx, op_dim a, op_dim b);
op_dim travel_equal(op_infer *ctx, op_dim a, op_dim b);
op_dim travel_less(op_infer *ctx, op_dim a, op_dim b);
op_dim travel_greater(op_infer *ctx, op_dim a, op_dim b);
op_dim travel_less_equal(op_infer *ctx, op_dim a, op_dim b);
op_dim travel_greater_equal(op_infer *ctx, op_dim a, op_dim b);

// Output 0 holds fn of inputs first and first + 1, broadcast. Does nothing where an operand is not known to be small.
void travel_binary(op_infer *ctx, uint32_t first, travel_fn fn);
// Output 0 holds what input 0 holds.
void travel_copy(op_infer *ctx);
// Output 0 holds condition ? a : b of inputs 0, 1, 2.
void travel_where(op_infer *ctx);
// Output 0 holds the fold of all elements of input 0; an empty one gives `start`.
void travel_fold(op_infer *ctx, travel_fn fn, op_dim start, bool scalar);

#endif
