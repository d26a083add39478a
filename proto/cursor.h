#ifndef OPSPEC_CURSOR_H
#define OPSPEC_CURSOR_H

#include "skeleton.h"

// A window on a source: all of it when it is in memory, else a buffer that follows what is asked for. Small after a jump,
// larger while it moves on steadily. A request that failed with OS_NEEDS_HOST is repeated as it was. With a skeleton of the
// source the window is a piece of that.

enum { OS_WINDOW_LEAST = 4096, OS_WINDOW_MOST = 1 << 16 };

typedef struct os_cursor {
  const os_source *source;
  const uint8_t *bytes; // the window
  uint64_t start;       // its place in the source
  size_t len;
  size_t step; // how much was read last
  uint8_t *buffer;
  const os_skeleton *skeleton;
  bool piece; // the window is a piece of the skeleton
} os_cursor;

// The buffer, if one is needed, lies in the arena. `skeleton` may be NULL.
os_status os_cursor_init(os_cursor *self, os_arena *arena, const os_source *source,
                         const os_skeleton *skeleton);
os_status os_cursor_move(os_cursor *self, uint64_t at, size_t n);

// Makes [at, at + n) part of the window; it is inside the source and n <= OS_WINDOW_LEAST.
static inline os_status os_cursor_need(os_cursor *self, uint64_t at, size_t n) {
  if (at >= self->start && at - self->start <= self->len && n <= self->len - (size_t)(at - self->start))
    return OS_OK;
  return os_cursor_move(self, at, n);
}
// There are windows that stay where they are, and maybe this is one.
static inline bool os_cursor_is_lasting(const os_cursor *self) {
  return self->source->data != NULL || self->skeleton != NULL;
}
static inline bool os_cursor_stays(const os_cursor *self) {
  return self->source->data != NULL || self->piece;
}
static inline const uint8_t *os_cursor_at(const os_cursor *self, uint64_t at) {
  return self->bytes + (size_t)(at - self->start);
}
// End of what can be read without a move, at most `end`.
static inline uint64_t os_cursor_limit(const os_cursor *self, uint64_t end) {
  uint64_t limit = self->start + self->len;
  return limit < end ? limit : end;
}

#endif
