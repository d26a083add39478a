#ifndef OPSPEC_SIGNATURE_H
#define OPSPEC_SIGNATURE_H

#include <opspec/operator.h>

// What an operator set declares of an operator: a schema. The standard's are generated from specs/ as constants;
// custom ones are built from spec documents.

typedef enum op_option { OP_SINGLE, OP_OPTIONAL_PARAMETER, OP_VARIADIC } op_option;

typedef struct op_parameter {
  os_str name;
  op_option option;
  bool homogeneous;   // of a variadic: all values have one type
  uint16_t min_arity; // of a variadic
  int16_t constraint; // index in type_parameters; -1 = none: any type
} op_parameter;

typedef struct op_type_parameter {
  os_str label;
  const op_type *types; // allowed
  uint16_t count;
} op_type_parameter;

// onnx.proto, AttributeProto.AttributeType
typedef enum op_attr_kind {
  OP_ATTR_NONE = 0,
  OP_ATTR_FLOAT = 1,
  OP_ATTR_INT = 2,
  OP_ATTR_STRING = 3,
  OP_ATTR_TENSOR = 4,
  OP_ATTR_GRAPH = 5,
  OP_ATTR_FLOATS = 6,
  OP_ATTR_INTS = 7,
  OP_ATTR_STRINGS = 8,
  OP_ATTR_TENSORS = 9,
  OP_ATTR_GRAPHS = 10,
  OP_ATTR_SPARSE = 11,
  OP_ATTR_SPARSES = 12,
  OP_ATTR_TYPE = 13,
  OP_ATTR_TYPES = 14,
} op_attr_kind;

// A tensor or sparse tensor of a document, decoded when first asked for.
typedef struct op_lazy_value {
  op_value *value; // NULL until then, and when it cannot be decoded
  op_value *(*load)(struct op_lazy_value *self);
  // Type and shape alone (data NULL) of what is large and outside; NULL of everything else.
  const op_tensor *(*head)(struct op_lazy_value *self);
} op_lazy_value;

// A value of an attribute, of a node or as a default. Which member holds depends on `kind`.
typedef struct op_attribute {
  os_str name;
  op_attr_kind kind;
  uint32_t count; // of lists
  union {
    int64_t i;
    float f;
    os_str s;
    const int64_t *ints;
    const float *floats;
    const os_str *strings;
    const op_value *value; // TENSOR, SPARSE
    const op_graph *graph;
    op_type type;
    const op_value *const *values; // TENSORS, SPARSES
    const op_graph *const *graphs;
    const op_type *types;
  } as;
  op_lazy_value *lazy; // TENSOR, SPARSE: where as.value is NULL; op_attribute_value looks at both
} op_attribute;

typedef struct op_attribute_schema {
  os_str name;
  op_attr_kind kind;
  bool required;
  bool has_default;
  op_attribute fallback;       // the default, if has_default
  const op_attribute *allowed; // values that it may have
  uint16_t allowed_count;      // 0 = any
} op_attribute_schema;

struct op_schema {
  os_str domain; // "" = ai.onnx
  os_str op_type;
  os_str overload;
  int since;
  bool deprecated;
  bool function;                                             // the standard gives a body
  bool standard;                                             // else custom
  uint16_t min_inputs, max_inputs, min_outputs, max_outputs; // UINT16_MAX = no bound
  const op_parameter *inputs, *outputs;
  uint16_t input_count, output_count;
  const op_type_parameter *type_parameters;
  uint16_t type_parameter_count;
  const op_attribute_schema *attributes;
  uint16_t attribute_count;
  const op_graph *body; // of a function operator: what a node of it runs; else NULL
  const char *source;   // "onnx", or where a custom one came from
};

// Value of a TENSOR or SPARSE attribute; NULL for other kinds and when it cannot be decoded. Borrowed.
const op_value *op_attribute_value(const op_attribute *self);
// NULL when the schema has no such attribute.
const op_attribute_schema *op_schema_attribute(const op_schema *self, os_str name);
// The formal parameter of an actual one: the last serves all that follow when it is variadic. NULL beyond.
const op_parameter *op_schema_parameter(const op_parameter *parameters, uint16_t count, uint32_t index);
// Name as in onnx.proto, lower case: "ints", "sparse_tensor". Never NULL.
const char *op_attr_kind_name(op_attr_kind kind);

#endif
