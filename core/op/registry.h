#ifndef OPSPEC_REGISTRY_H
#define OPSPEC_REGISTRY_H

#include "arena.h"
#include "signature.h"
#include "type.h"

// The operators of one Env: the standard's schemas, the built-in rows, and what was registered.
typedef struct os_registry os_registry;

// A schema and the row that executes it; row is NULL where there is no kernel (infer may still be there).
typedef struct os_operator {
  const op_schema *schema;
  const op_row *row;
} os_operator;

// families: the built-in rows, a NULL-ended list that outlives the registry (wasm/ hands kernels' over: core names none).
os_registry *os_registry_new(os_arena *arena, os_types *types, const op_family *const *families);
os_types *os_registry_types(const os_registry *self);
// Highest since_version <= version; both members NULL when the operator is not known. "ai.onnx" equals "".
os_operator os_registry_find(const os_registry *self, os_str domain, os_str op_type, os_str overload,
                             int version);
// The same, as if nothing had been registered.
os_operator os_registry_find_standard(const os_registry *self, os_str domain, os_str op_type, os_str overload,
                                      int version);
bool os_registry_knows_domain(const os_registry *self, os_str domain);
// Highest version that a domain of the standard has here; 0 for others.
int os_registry_domain_version(const os_registry *self, os_str domain);
// Registers a custom operator. Schema and row are borrowed and must live until it is taken back. OS_INVALID_ARGUMENT when
// one for the same (domain, op_type, overload, since) is there.
os_status os_registry_add(os_registry *self, const op_schema *schema, const op_row *row);
// The row that is linked into the build for the schema's domain, name and version without a schema of its own; NULL = none.
// So an operator of a domain that the standard does not have gets its schema from a document.
const op_row *os_registry_linked_row(const os_registry *self, const op_schema *schema);
void os_registry_remove(os_registry *self, const op_schema *schema);
// All operators in order of domain, name, since version: `index` from 0 until schema is NULL.
os_operator os_registry_at(const os_registry *self, size_t index);
// How many built-in rows found no operator of the standard to serve (and bring no schema): should be 0. The first of them
// into *row, which may be NULL.
size_t os_registry_unplaced(const os_registry *self, const op_row **row);
// Nearest known names for a message, at most `room`; answers how many.
size_t os_registry_suggest(const os_registry *self, os_str domain, os_str op_type, os_str *names,
                           size_t room);

// Is it one of the names that early exporters wrote in the standard's domain, and that no operator set ever declared?
bool os_registry_is_legacy(const os_registry *self, os_str domain, os_str op_type);
// Domains, at most `room`, that have an operator of this name; answers how many.
size_t os_registry_domains_of(const os_registry *self, os_str op_type, os_str *domains, size_t room);

#endif
