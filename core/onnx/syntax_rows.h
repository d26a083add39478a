#ifndef OPSPEC_SYNTAX_ROWS_H
#define OPSPEC_SYNTAX_ROWS_H

#include "tensor_field.h"

// What the writer and the reader of ONNX's syntax share.

// Kinds of attributes by the number of AttributeProto.type.
typedef struct os_syntax_kind {
  const char *name;
  uint8_t field; // that holds the value
  uint8_t one;   // number of the kind of a list's elements; 0 = no list
} os_syntax_kind;
enum {
  OS_SYNTAX_FLOAT = 1,
  OS_SYNTAX_INT = 2,
  OS_SYNTAX_STRING = 3,
  OS_SYNTAX_TENSOR = 4,
  OS_SYNTAX_GRAPH = 5,
  OS_SYNTAX_TYPE = 13,
  OS_SYNTAX_KINDS = 15
};
// The kind of a list of such values, or the same.
static inline int32_t os_syntax_kind_of(int32_t one, bool list) {
  return one + (!list ? 0 : one <= 5 ? 5 : 1);
}
extern const os_syntax_kind os_syntax_kinds[OS_SYNTAX_KINDS];

// Words that begin a type.
bool os_syntax_is_type(os_str word);
// The word for an element type that the syntax has none for.
#define OS_SYNTAX_UNDEFINED "undefined"
// Number of the field with the elements, other than raw_data, of tensors of this type.
uint32_t os_syntax_data_field(int32_t data_type);
// Bytes of one element in raw_data, as the list of elements has it: packed types by bytes, complex ones by parts.
size_t os_syntax_raw_width(int32_t data_type);

#endif
