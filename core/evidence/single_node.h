#ifndef OPSPEC_SINGLE_NODE_H
#define OPSPEC_SINGLE_NODE_H

#include "signature.h"
#include "text.h"
#include "type.h"

// A model that is one node, so that evidence goes the way of every model: checked, inferred, run.
typedef struct os_single_node {
  os_str domain, op_type, overload;
  int version;             // of the domain's operator set
  op_value *const *inputs; // NULL = left out
  size_t input_count;
  const op_attribute *attributes;
  size_t attribute_count;
  const op_type *outputs; // 0 = left out
  size_t output_count;
} os_single_node;

// Appends a ModelProto whose graph has inputs input_0... and outputs output_0...
os_status os_single_node_write(os_text *out, os_memory *memory, const os_types *types,
                               const os_single_node *node);

#endif
