#ifndef OPSPEC_SCHEMA_BUILD_H
#define OPSPEC_SCHEMA_BUILD_H

#include "arena.h"
#include "signature.h"
#include "signature_data.h"

os_status os_signatures_read(os_signatures *self, os_arena *arena);
// An op_schema from a row of the generated tables; NULL when memory is exhausted. `sets` has a place for each of
// os_signature_set_count type sets, filled as they are first used.
op_schema *os_schema_build(os_arena *arena, const os_signatures *data, const os_signature *signature,
                           const op_type **sets);
// String of the pool.
static inline os_str os_signature_string(const os_signatures *self, uint32_t place) {
  return (os_str){(const char *)&self->pool[place + 1], self->pool[place]};
}

#endif
