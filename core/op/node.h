#ifndef OPSPEC_NODE_H
#define OPSPEC_NODE_H

#include "registry.h"

// A node as kernels see it. Built by the model's index; attributes are sorted by name and have defaults applied.
struct op_node {
  os_str name, op_type, domain, overload;
  uint32_t index;          // in its graph, as written
  const op_schema *schema; // NULL = operator unknown
  const op_row *row;       // NULL = no kernel
  const op_attribute *attributes;
  uint32_t attribute_count;
};

// NULL when there is none.
const op_attribute *op_node_attribute(const op_node *self, const char *name);
const op_attribute *os_node_attribute(const op_node *self, os_str name);

#endif
