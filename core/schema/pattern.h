#ifndef OPSPEC_PATTERN_H
#define OPSPEC_PATTERN_H

#include "arena.h"

#include <opspec/status.h>

// A regular expression of ECMA-262 with the u flag.
typedef struct os_pattern os_pattern;

// *out is NULL when `source` is no pattern; *message then says why.
os_status os_pattern_compile(os_pattern **out, os_arena *arena, os_str source, os_str *message);
// Whether it matches somewhere in the text (well-formed UTF-8). OS_LIMIT after about *steps steps or without the memory
// that backtracking wants; `memory` is only used during the call. *steps gets about what was taken, 0 for less than 10,000.
os_status os_pattern_match(const os_pattern *self, os_memory *memory, os_str text, uint64_t *steps,
                           bool *matches);

#endif
