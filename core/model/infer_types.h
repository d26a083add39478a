#ifndef OPSPEC_INFER_TYPES_H
#define OPSPEC_INFER_TYPES_H

#include "fact.h"

// Types of a node's values against the schema: allowed types, and one type for each type parameter (ONNX IR specification,
// operator type constraints).

enum { OS_TYPES_BOUND = 32 }; // type parameters beyond are not bound

typedef struct os_types_bound {
  op_type types[OS_TYPES_BOUND]; // by type parameter; 0 = not yet
} os_types_bound;

void os_types_check_inputs(op_infer *ctx, os_types_bound *bound);
// Also gives outputs without a type the only one that they can have.
void os_types_check_outputs(op_infer *ctx, os_types_bound *bound);

#endif
