#include "cursor.h"

os_status os_cursor_init(os_cursor *self, os_arena *arena, const os_source *source) {
  *self = (os_cursor){.source = source};
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

os_status os_cursor_move(os_cursor *self, uint64_t at, size_t n) {
  if (self->source->data != NULL) return OS_MALFORMED; // all there is has been there from the start
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
