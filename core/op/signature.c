#include "signature.h"

#include "bytes.h"

const op_attribute_schema *op_schema_attribute(const op_schema *self, os_str name) {
  for (uint16_t i = 0; i < self->attribute_count; i++)
    if (os_str_eq(self->attributes[i].name, name)) return &self->attributes[i];
  return NULL;
}

const op_parameter *op_schema_parameter(const op_parameter *parameters, uint16_t count, uint32_t index) {
  if (index < count) return &parameters[index];
  return count > 0 && parameters[count - 1].option == OP_VARIADIC ? &parameters[count - 1] : NULL;
}

const char *op_attr_kind_name(op_attr_kind kind) {
  static const char *const names[] = {
      [OP_ATTR_NONE] = "undefined",         [OP_ATTR_FLOAT] = "float",   [OP_ATTR_INT] = "int",
      [OP_ATTR_STRING] = "string",          [OP_ATTR_TENSOR] = "tensor", [OP_ATTR_GRAPH] = "graph",
      [OP_ATTR_FLOATS] = "floats",          [OP_ATTR_INTS] = "ints",     [OP_ATTR_STRINGS] = "strings",
      [OP_ATTR_TENSORS] = "tensors",        [OP_ATTR_GRAPHS] = "graphs", [OP_ATTR_SPARSE] = "sparse_tensor",
      [OP_ATTR_SPARSES] = "sparse_tensors", [OP_ATTR_TYPE] = "type",     [OP_ATTR_TYPES] = "types",
  };
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}
