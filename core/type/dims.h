#ifndef OPSPEC_DIMS_H
#define OPSPEC_DIMS_H

#include "arena.h"

#include <opspec/operator.h>

// Symbolic dims of one inference: symbols (dim_param) and expressions over them, interned in a normal form (linear
// sums of products, then floordiv, min, max), so that equal expressions have equal ids and (a*b*6)/(a*b) is 6.
//
// An op_dim is a number, an id of this table, or OP_DIM_UNKNOWN. Symbols are taken to be >= 0 and divisors to be > 0, as
// dims are. What overflows, or has grown beyond what anybody can use, is OP_DIM_UNKNOWN.
typedef struct os_dims os_dims;

os_dims *os_dims_new(os_arena *arena);
op_dim os_dims_symbol(os_dims *self, os_str name); // same name, same dim
// From now on the symbol of this name is `value`. False when memory is exhausted.
bool os_dims_bind(os_dims *self, os_str name, op_dim value);
op_dim os_dims_add(os_dims *self, op_dim a, op_dim b);
op_dim os_dims_sub(os_dims *self, op_dim a, op_dim b);
op_dim os_dims_mul(os_dims *self, op_dim a, op_dim b);
op_dim os_dims_floordiv(os_dims *self, op_dim a, op_dim b);
op_dim os_dims_ceildiv(os_dims *self, op_dim a, op_dim b);
op_dim os_dims_min(os_dims *self, op_dim a, op_dim b);
op_dim os_dims_max(os_dims *self, op_dim a, op_dim b);
// "7", "N", "2*N + 1", "floor((N + 1)/2)", "?" for unknown.
os_str os_dims_print(const os_dims *self, os_arena *arena, op_dim dim);
// "[2, N, ?]"; "?" for rank -1.
os_str os_dims_print_shape(const os_dims *self, os_arena *arena, int32_t rank, const op_dim *dims);

#endif
