#ifndef OPSPEC_SCHEMA_BUILD_H
#define OPSPEC_SCHEMA_BUILD_H

#include "arena.h"
#include "signature.h"
#include "signature_data.h"

// An op_schema from a row of the generated tables; NULL when memory is exhausted. `sets` has a place for each of
// os_signature_set_count type sets, filled as they are first used.
op_schema *os_schema_build(os_arena *arena, const os_signature *signature, const op_type **sets);
// String of the pool.
static inline os_str os_signature_string(uint32_t place) {
  return (os_str){(const char *)&os_signature_pool[place + 1], os_signature_pool[place]};
}

#endif
