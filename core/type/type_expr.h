#ifndef OPSPEC_TYPE_EXPR_H
#define OPSPEC_TYPE_EXPR_H

#include "type.h"

// Type expressions, the text form of types (ONNX, defs/data_type_utils): tensor(E), sparse_tensor(E), seq(T),
// map(K, V), optional(T), opaque(domain,name), where a map's V may be a bare element name. Blanks may stand between
// the words; os_types_print gives the one spelling without them.

typedef enum os_type_fault_kind {
  OS_TYPE_FAULT_NONE,
  OS_TYPE_FAULT_SYNTAX,
  OS_TYPE_FAULT_ELEMENT, // no element type has this name
  OS_TYPE_FAULT_MAP_KEY, // neither an integer type nor string
  OS_TYPE_FAULT_NESTING, // an optional of an optional, a tensor of anything but elements, too deep
} os_type_fault_kind;

typedef struct os_type_fault {
  os_type_fault_kind kind;
  size_t offset, len;   // the place in the text, in bytes
  const char *expected; // what should stand there; never NULL with a fault
  os_str suggestion; // the whole expression as it was probably meant, canonical; empty when that is unclear
} os_type_fault;

enum { OS_TYPE_DEPTH = 64 };

// The type that the text names, or *out 0 and a fault. OS_OUT_OF_MEMORY is the only trouble.
os_status os_type_parse(os_types *types, os_arena *arena, os_str text, op_type *out, os_type_fault *fault);
// Whether a text that means the type is the spelling of os_types_print.
bool os_type_is_canonical(const os_types *types, os_arena *arena, os_str text, op_type type);
// The element type that a name probably means ("fp16", "float32", "Int64", "flaot"); OP_NONE when none is near.
op_elem os_elem_guess(os_str name);

#endif
