#ifndef OPSPEC_PATTERN_SIMPLE_H
#define OPSPEC_PATTERN_SIMPLE_H

#include "arena.h"

#include <opspec/status.h>

// Patterns that are one run of ASCII character sets with counts between ^ and $, and that never need to go back: the
// names of most formats. Decides as the full engine does, some twenty times faster.
typedef struct os_pattern_simple os_pattern_simple;

// *out is NULL when the pattern is not of that kind.
os_status os_pattern_simple_compile(os_pattern_simple **out, os_arena *arena, os_str source);
bool os_pattern_simple_match(const os_pattern_simple *self, os_str text);

#endif
