#ifndef OPSPEC_TYPE_H
#define OPSPEC_TYPE_H

#include "arena.h"

#include <opspec/operator.h>

// Types of values (onnx.proto, TypeProto). A type is interned in a table, so that two types are equal exactly when
// their ids are: 0 unknown, 1..26 tensor of that element type, then the types that the standard's signatures name
// (generated), then what documents bring.
typedef enum os_type_kind {
  OS_TYPE_UNKNOWN,
  OS_TYPE_TENSOR,   // elem
  OS_TYPE_SPARSE,   // elem
  OS_TYPE_SEQUENCE, // of
  OS_TYPE_MAP,      // elem = key, of = value
  OS_TYPE_OPTIONAL, // of
  OS_TYPE_OPAQUE,   // domain, name
} os_type_kind;

typedef struct os_type {
  os_type_kind kind;
  op_elem elem;
  op_type of;
  os_str domain, name;
} os_type;

typedef struct os_types os_types;

// The table starts with the standard's types. Lives in the arena. NULL when memory is exhausted.
os_types *os_types_new(os_arena *arena);
// Id of the type, new or known; 0 when memory is exhausted. Strings are copied.
op_type os_types_intern(os_types *self, os_type type);
// id must be of this table; 0 gives OS_TYPE_UNKNOWN.
os_type os_types_get(const os_types *self, op_type id);
// Canonical spelling (must-rules E): tensor(float), map(int64, float), seq(tensor(string)). "?" for 0.
os_str os_types_print(const os_types *self, os_arena *arena, op_type id);

static inline bool op_type_is_tensor(op_type type) { return type >= 1 && type < OP_ELEM_COUNT; }

// Facts of an element type; the table of element_types.def. NULL for OP_NONE and numbers outside 1..26.
typedef struct os_elem_info {
  const char *name, *onnx, *js;
  uint8_t bits;
  char kind; // as in element_types.def
} os_elem_info;
const os_elem_info *os_elem_info_of(int number);
// Whether keys of a map may be of it: integers of 8 to 64 bits and strings.
bool os_elem_is_key(int number);
// By ONNX name ("float") or JS name ("float32"); OP_NONE when unknown.
op_elem os_elem_by_onnx_name(os_str name);
op_elem os_elem_by_js_name(os_str name);

#endif
