#ifndef OPSPEC_ELEMENTS_H
#define OPSPEC_ELEMENTS_H

// Questions about element types that many families ask.

#include "loops.h"

#include <opspec/operator.h>

// Stored in fewer bits than float and computed in float.
static inline bool elem_is_narrow(op_elem elem) {
  switch (elem) {
  case OP_FLOAT16:
  case OP_BFLOAT16:
  case OP_FLOAT8E4M3FN:
  case OP_FLOAT8E4M3FNUZ:
  case OP_FLOAT8E5M2:
  case OP_FLOAT8E5M2FNUZ:
  case OP_FLOAT4E2M1:
  case OP_FLOAT8E8M0: return true;
  default: return false;
  }
}

static inline bool elem_is_float(op_elem elem) {
  return elem == OP_FLOAT || elem == OP_DOUBLE || elem_is_narrow(elem);
}

static inline bool elem_is_signed(op_elem elem) {
  return elem == OP_INT8 || elem == OP_INT16 || elem == OP_INT32 || elem == OP_INT64 || elem == OP_INT4 ||
         elem == OP_INT2;
}

static inline bool elem_is_unsigned(op_elem elem) {
  return elem == OP_UINT8 || elem == OP_UINT16 || elem == OP_UINT32 || elem == OP_UINT64 ||
         elem == OP_UINT4 || elem == OP_UINT2;
}

static inline bool elem_is_integer(op_elem elem) { return elem_is_signed(elem) || elem_is_unsigned(elem); }

// The type whose loops serve elements of this type.
static inline op_elem elem_compute(op_elem elem) { return elem_is_narrow(elem) ? OP_FLOAT : elem; }

static inline math_loop_id elem_loop(math_op op, op_elem elem) {
  return math_loop_find(op, (int)elem_compute(elem));
}

#endif
