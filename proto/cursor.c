#include "cursor.h"

os_status os_cursor_init(os_cursor *self, os_arena *arena, const os_source *source,
                         const os_skeleton *skeleton) {
  *self = (os_cursor){.source = source, .skeleton = source->data == NULL ? skeleton : NULL};
  if (source->data != NULL || source->length == 0) {
    if (source->length > SIZE_MAX) return OS_INVALID_ARGUMENT;
    self->bytes = source->data;
    self->len = (size_t)source->length;
    return OS_OK;
  }
  size_t room = source->length < OS_WINDOW_MOST ? (size_t)source->length : OS_WINDOW_MOST;
  self->buffer = os_arena_alloc(arena, room);
  OS_TRY_ALLOC(self->buffer);
  self->bytes = self->buffer;
  return OS_OK;
}

// The piece that has `at`, or a copy of it and of what follows it; what does not follow is zeros.
static bool os_cursor__skeleton(os_cursor *self, uint64_t at, size_t n) {
  const os_skeleton_piece *piece = os_skeleton_find(self->skeleton, at);
  if (piece == NULL) return false;
  self->piece = n <= piece->length - (size_t)(at - piece->offset);
  self->start = self->piece ? piece->offset : at;
  self->len = self->piece ? piece->length : n;
  self->bytes = self->piece ? (const uint8_t *)piece->bytes : self->buffer;
  if (self->piece) return true;
  memset(self->buffer, 0, n);
  for (size_t done = 0; done < n && piece != NULL; piece = os_skeleton_find(self->skeleton, at + done)) {
    size_t from = (size_t)(at + done - piece->offset), left = piece->length - from;
    if (left > n - done) left = n - done;
    memcpy(self->buffer + done, piece->bytes + from, left);
    done += left;
  }
  return true;
}

os_status os_cursor_move(os_cursor *self, uint64_t at, size_t n) {
  if (self->source->data != NULL) return OS_MALFORMED; // all there is has been there from the start
  if (self->skeleton != NULL) {
    if (n <= OS_WINDOW_LEAST && os_cursor__skeleton(self, at, n)) return OS_OK;
    self->piece = false;
    self->bytes = self->buffer;
  }
  bool steady = at >= self->start && at <= self->start + self->len;
  size_t step = steady && self->step > 0 ? self->step * 4 : OS_WINDOW_LEAST;
  if (step > OS_WINDOW_MOST) step = OS_WINDOW_MOST;
  if (step < n) step = n;
  if (step > self->source->length - at) step = (size_t)(self->source->length - at);
  if (n > step) return OS_MALFORMED;
  os_status status = os_source_read(self->source, at, step, self->buffer);
  if (status != OS_OK) { // the buffer may be half written
    if (status != OS_NEEDS_HOST) self->len = 0;
    return status;
  }
  self->start = at;
  self->len = step;
  self->step = step;
  return OS_OK;
}
