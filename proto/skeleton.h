#ifndef OPSPEC_SKELETON_H
#define OPSPEC_SKELETON_H

#include "message.h"

// The bytes of a file that is not in memory without those that stay outside (os_far): what is needed to decode it later.

typedef struct os_skeleton_piece {
  uint64_t offset; // in the file
  char *bytes;
  uint32_t length;
} os_skeleton_piece;

typedef struct os_skeleton {
  os_arena arena, far; // of the bytes; of the lists
  struct {             // ascending, none touches another in the file and in memory
    os_skeleton_piece *items;
    size_t count, room;
  } pieces;
  size_t last;      // the piece that was added to last
  char *next, *end; // room behind it
  struct {          // lists that stay outside, by where their first tag is
    struct os_skeleton_list {
      uint64_t start;
      const os_far_list *far;
    } *items;
    size_t count, room;
  } lists;
} os_skeleton;

void os_skeleton_init(os_skeleton *self, os_memory *memory);
void os_skeleton_clear(os_skeleton *self);
// Forgets all but the lists, to which messages point.
void os_skeleton_drop(os_skeleton *self);
// Gives back the room that lists have beyond what they hold.
void os_skeleton_trim(os_skeleton *self);
// Takes [offset, offset + n) unless it is there. False: memory is exhausted.
bool os_skeleton_put(os_skeleton *self, uint64_t offset, const void *bytes, size_t n);
// The piece that has the byte at `offset`, or NULL. Bytes stay where they are as long as the skeleton.
const os_skeleton_piece *os_skeleton_find(const os_skeleton *self, uint64_t offset);
// A copy of the list; NULL: memory is exhausted.
const os_far_list *os_skeleton_put_list(os_skeleton *self, uint64_t start, os_far_list list);
const os_far_list *os_skeleton_list(const os_skeleton *self, uint64_t start);

#endif
