#ifndef OPSPEC_ATTRIBUTE_FIT_H
#define OPSPEC_ATTRIBUTE_FIT_H

#include "arena.h"
#include "node.h"

// Is the value among those that the schema lists, or lists it none? Both of the same kind.
bool op_attribute_allowed(const op_attribute_schema *self, const op_attribute *value);
// Why a node of a custom operator cannot be run with the attributes that it has: one is missing, unknown, of another kind or
// of a value that is not allowed. "" when it can; always for operators of the standard, whose kernels look themselves.
os_str op_attributes_fault(const op_node *node, os_arena *arena);

#endif
