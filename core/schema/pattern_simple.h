#ifndef OPSPEC_PATTERN_SIMPLE_H
#define OPSPEC_PATTERN_SIMPLE_H

#include "arena.h"

#include <opspec/status.h>

// Patterns of ASCII characters, sets of them (or of all others), groups, alternatives and counts between ^ and $ (or
// (?![\s\S])): names, versions, most formats. They become a table of states that takes one step a byte, forward only; it
// decides as the full engine does, many times faster, and never runs away. What it takes the full engine takes, too: it need
// not be asked.
typedef struct os_pattern_simple os_pattern_simple;

// *out is NULL when the pattern is not of that kind, or its table would be large.
os_status os_pattern_simple_compile(os_pattern_simple **out, os_arena *arena, os_str source);
bool os_pattern_simple_match(const os_pattern_simple *self, os_str text);

#endif
