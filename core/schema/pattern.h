#ifndef OPSPEC_PATTERN_H
#define OPSPEC_PATTERN_H

#include "arena.h"

#include <opspec/status.h>

// A regular expression of ECMA-262 with the u flag.
typedef struct os_pattern os_pattern;

// *out is NULL when `source` is no pattern; *message then says why.
os_status os_pattern_compile(os_pattern **out, os_arena *arena, os_str source, os_str *message);
// About what os_pattern_compile takes, in steps of a match.
uint64_t os_pattern_work(os_str source);
// Whether it matches somewhere in the text (well-formed UTF-8). OS_LIMIT after *steps steps of backtracking or without the
// memory that it wants; `memory` is only used during the call. *steps gets what was taken, and what reading the text took.
os_status os_pattern_match(const os_pattern *self, os_memory *memory, os_str text, uint64_t *steps,
                           bool *matches);

#endif
