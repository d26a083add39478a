#ifndef OPSPEC_JSON_EQUAL_H
#define OPSPEC_JSON_EQUAL_H

#include "json.h"

// Exact equality as JSON Schema defines it: numbers by value, objects without order, strings by code points.
bool os_json_equal(const os_json_document *a_document, const os_json *a, const os_json_document *b_document,
                   const os_json *b);
// Equal values have equal hashes. `arena` holds what deep values need; *status gets OS_OUT_OF_MEMORY without it.
uint64_t os_json_hash(os_arena *arena, const os_json_document *document, const os_json *node,
                      os_status *status);
// The children of an array, to be looked up.
typedef struct os_json_set {
  const os_json_document *document;
  struct os_json_hashed *items; // in order of their hashes
  size_t count;
} os_json_set;
os_status os_json_set_init(os_json_set *self, os_arena *arena, const os_json_document *document,
                           const os_json *array);
// Whether one of them equals the value. *status as below.
bool os_json_set_has(const os_json_set *self, os_arena *arena, const os_json_document *document,
                     const os_json *value, os_status *status);
// The first child of an array that equals an earlier one, which goes to *earlier; NULL when all differ. *status gets
// OS_LIMIT when too many different ones have one hash, which only somebody can make.
const os_json *os_json_repeated(os_arena *arena, const os_json_document *document, const os_json *array,
                                const os_json **earlier, os_status *status);

#endif
