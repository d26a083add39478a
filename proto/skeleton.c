#include "skeleton.h"

enum { BLOCK = (1 << 16) - 16 }; // some of them fill a chunk of the arena
enum { FIRST_BLOCK = 1024 };

void os_skeleton_init(os_skeleton *self, os_memory *memory) {
  *self = (os_skeleton){0};
  os_arena_init(&self->arena, memory);
  os_arena_init(&self->far, memory);
}

void os_skeleton_drop(os_skeleton *self) {
  os_memory *memory = self->arena.memory;
  os_arena far = self->far;
  if (memory == NULL) return; // never begun
  os_memory_free(memory, self->pieces.items);
  os_memory_free(memory, self->lists.items);
  os_arena_clear(&self->arena);
  os_skeleton_init(self, memory);
  self->far = far;
}

void os_skeleton_clear(os_skeleton *self) {
  os_skeleton_drop(self);
  if (self->arena.memory != NULL) os_arena_clear(&self->far);
}

static bool os_skeleton__resize(os_skeleton *self, void **items, size_t *room, size_t size, size_t count) {
  void *resized = os_memory_realloc(self->arena.memory, *items, count * size);
  if (resized == NULL) return false;
  *items = resized;
  *room = count;
  return true;
}

static bool os_skeleton__room(os_skeleton *self, void **items, size_t *room, size_t size, size_t count) {
  return count < *room || os_skeleton__resize(self, items, room, size, *room < 8 ? 8 : *room + *room / 2);
}

void os_skeleton_trim(os_skeleton *self) {
  if (self->pieces.count > 0)
    os_skeleton__resize(self, (void **)&self->pieces.items, &self->pieces.room, sizeof *self->pieces.items,
                        self->pieces.count);
  if (self->lists.count > 0)
    os_skeleton__resize(self, (void **)&self->lists.items, &self->lists.room, sizeof *self->lists.items,
                        self->lists.count);
}

// The first piece that ends behind `offset`.
static size_t os_skeleton__search(const os_skeleton *self, uint64_t offset) {
  size_t low = 0, high = self->pieces.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const os_skeleton_piece *piece = &self->pieces.items[middle];
    if (piece->offset + piece->length <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const os_skeleton_piece *os_skeleton_find(const os_skeleton *self, uint64_t offset) {
  size_t at = os_skeleton__search(self, offset);
  const os_skeleton_piece *piece = at == self->pieces.count ? NULL : &self->pieces.items[at];
  return piece == NULL || piece->offset > offset ? NULL : piece;
}

// Room behind what was written last, at least a byte.
static bool os_skeleton__block(os_skeleton *self) {
  if (self->next < self->end) return true;
  size_t size = self->arena.chunks == NULL ? FIRST_BLOCK : BLOCK;
  self->next = os_arena_alloc(&self->arena, size);
  self->end = self->next == NULL ? NULL : self->next + size;
  return self->next != NULL;
}

// Up to n bytes that are not there; *taken: how many. `at`: of the first piece behind them.
static bool os_skeleton__take(os_skeleton *self, size_t at, uint64_t offset, const char *bytes, size_t n,
                              size_t *taken) {
  if (!os_skeleton__block(self)) return false;
  size_t room = (size_t)(self->end - self->next);
  *taken = n < room ? n : room;
  os_skeleton_piece *last = self->pieces.count == 0 ? NULL : &self->pieces.items[self->last];
  if (last == NULL || last->offset + last->length != offset || last->bytes + last->length != self->next) {
    if (!os_skeleton__room(self, (void **)&self->pieces.items, &self->pieces.room, sizeof *self->pieces.items,
                           self->pieces.count))
      return false;
    last = &self->pieces.items[at];
    memmove(last + 1, last, (self->pieces.count++ - at) * sizeof *last);
    *last = (os_skeleton_piece){offset, self->next, 0};
    self->last = at;
  }
  os_bytes_copy(self->next, bytes, *taken);
  last->length += (uint32_t)*taken;
  self->next += *taken;
  return true;
}

bool os_skeleton_put(os_skeleton *self, uint64_t offset, const void *bytes, size_t n) {
  const char *from = bytes;
  while (n > 0) {
    size_t count = self->pieces.count, at = count, step = n;
    const os_skeleton_piece *back = count == 0 ? NULL : &self->pieces.items[count - 1];
    if (back != NULL && offset < back->offset + back->length) at = os_skeleton__search(self, offset);
    const os_skeleton_piece *piece = at == count ? NULL : &self->pieces.items[at];
    if (piece != NULL && piece->offset <= offset) { // there already
      uint64_t left = piece->offset + piece->length - offset;
      if (left < step) step = (size_t)left;
    } else {
      if (piece != NULL && piece->offset - offset < step) step = (size_t)(piece->offset - offset);
      if (!os_skeleton__take(self, at, offset, from, step, &step)) return false;
    }
    offset += step;
    from += step;
    n -= step;
  }
  return true;
}

static size_t os_skeleton__list_at(const os_skeleton *self, uint64_t start) {
  size_t low = 0, high = self->lists.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (self->lists.items[middle].start < start)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const os_far_list *os_skeleton_list(const os_skeleton *self, uint64_t start) {
  size_t at = os_skeleton__list_at(self, start);
  return at < self->lists.count && self->lists.items[at].start == start ? self->lists.items[at].far : NULL;
}

const os_far_list *os_skeleton_put_list(os_skeleton *self, uint64_t start, os_far_list list) {
  os_far_list *far = os_arena_alloc(&self->far, sizeof *far);
  if (far == NULL || !os_skeleton__room(self, (void **)&self->lists.items, &self->lists.room,
                                        sizeof *self->lists.items, self->lists.count))
    return NULL;
  *far = list;
  struct os_skeleton_list *to = &self->lists.items[os_skeleton__list_at(self, start)];
  memmove(to + 1, to, (size_t)(&self->lists.items[self->lists.count++] - to) * sizeof *to);
  *to = (struct os_skeleton_list){start, far};
  return far;
}
