#ifndef OPSPEC_COLUMN_H
#define OPSPEC_COLUMN_H

#include "arena.h"

// A list in an arena for the host to read, whose room is made before elements are written.
typedef struct os_column {
  char *data;
  size_t count, room; // elements
} os_column;

static inline bool os_column_grow(os_arena *arena, os_column *self, size_t more, size_t size) {
  size_t room = self->count * 2 + more + 64, bytes;
  if (!os_size_mul(room, size, &bytes)) return false;
  char *data = os_arena_alloc(arena, bytes);
  if (data == NULL) return false;
  if (self->count > 0) memcpy(data, self->data, self->count * size);
  self->data = data;
  self->room = room;
  return true;
}
// False: memory is exhausted.
static inline bool os_column_room(os_arena *arena, os_column *self, size_t more, size_t size) {
  return more <= self->room - self->count || os_column_grow(arena, self, more, size);
}

#endif
