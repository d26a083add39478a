#ifndef OPSPEC_PLACE_H
#define OPSPEC_PLACE_H

#include "arena.h"

// A place in a text as a person and as programs count it.
typedef struct os_position {
  uint32_t line, column; // 1-based; column in code points
  uint64_t byte;         // offset in the text's bytes, a byte-order mark counted
  uint64_t utf16;        // offset in UTF-16 code units, as editors and JavaScript count
} os_position;

// Finds positions by byte offset in one text. The text is walked as far as somebody asks, once; each look-up then scans
// about a kilobyte at most.
typedef struct os_place_index {
  os_str text;
  struct os_place_mark *marks;
  size_t count;
  os_position reached;
} os_place_index;

// The text is borrowed. It may be malformed UTF-8: a byte that starts no sequence counts as one character.
// Lines end at LF, CR LF or CR. False when memory is exhausted.
bool os_place_index_build(os_place_index *self, os_arena *arena, os_str text);
// Offsets beyond the text give its end; one inside a character gives the character's start.
os_position os_place_find(os_place_index *self, uint64_t byte);

#endif
