#include "arena.h"

#include "format.h"
#include "simd.h"

#include <stdarg.h>

typedef struct os_arena_chunk {
  struct os_arena_chunk *next;
  size_t size;
} os_arena_chunk;

enum { ALIGN = 16, FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 18 };

static size_t os_arena__round(size_t size) { return (size + (ALIGN - 1)) & ~(size_t)(ALIGN - 1); }

void os_arena_init(os_arena *self, os_memory *memory) {
  *self = (os_arena){.memory = memory, .grow = FIRST_CHUNK};
}

void os_arena_clear(os_arena *self) {
  os_arena_chunk *chunk = self->chunks;
  while (chunk != NULL) {
    os_arena_chunk *next = chunk->next;
    os_memory_free(self->memory, chunk);
    chunk = next;
  }
  os_arena_init(self, self->memory);
}

void os_arena_rewind(os_arena *self) {
  if (self->chunks == NULL) return;
  if (self->chunks->size > LARGEST_CHUNK + sizeof(os_arena_chunk)) {
    os_arena_clear(self);
    return;
  }
  os_arena_chunk *chunk = self->chunks->next;
  while (chunk != NULL) {
    os_arena_chunk *next = chunk->next;
    os_memory_free(self->memory, chunk);
    chunk = next;
  }
  self->chunks->next = NULL;
  self->next = (char *)(self->chunks + 1);
  self->end = (char *)self->chunks + self->chunks->size;
}

static void *os_arena__chunk(os_arena *self, size_t size) {
  size_t whole;
  bool own = size > self->grow / 2; // a large block gets a chunk of its own and leaves the current one open
  if (!os_size_add(own ? size : self->grow, sizeof(os_arena_chunk), &whole)) return NULL;
  os_arena_chunk *chunk = os_memory_alloc(self->memory, whole);
  if (chunk == NULL) return NULL;
  chunk->size = whole;
  char *start = (char *)(chunk + 1);
  if (own && self->chunks != NULL) {
    chunk->next = self->chunks->next;
    self->chunks->next = chunk;
    return start;
  }
  chunk->next = self->chunks;
  self->chunks = chunk;
  self->next = start + size;
  self->end = (char *)chunk + whole;
  if (self->grow < LARGEST_CHUNK) self->grow *= 2;
  return start;
}

void *os_arena_alloc(os_arena *self, size_t size) {
  if (size > SIZE_MAX - ALIGN) return NULL;
  size = os_arena__round(size == 0 ? 1 : size);
  if (size <= (size_t)(self->end - self->next)) {
    void *block = self->next;
    self->next += size;
    return block;
  }
  return os_arena__chunk(self, size);
}

// By stores of its own, which must not become a memset: V8 leaves WebAssembly for memory.fill and zeroes byte by byte there.
__attribute__((no_builtin("memset"))) static void os_arena__zero(void *block, size_t size) {
  char *to = block, *end = to + size;
  for (; end - to >= 64; to += 64)
    for (int i = 0; i < 64; i += 16) i32x4_store(to + i, (i32x4){0});
  for (; end - to >= 16; to += 16) i32x4_store(to, (i32x4){0});
  for (; end - to >= 8; to += 8) memcpy(to, &(uint64_t){0}, 8);
  while (to < end) *to++ = 0;
}

void *os_arena_zalloc(os_arena *self, size_t size) {
  void *block = os_arena_alloc(self, size);
  if (block != NULL) os_arena__zero(block, size);
  return block;
}

void *os_arena_array(os_arena *self, size_t count, size_t size) {
  size_t whole;
  return os_size_mul(count, size, &whole) ? os_arena_zalloc(self, whole) : NULL;
}

void *os_arena_grow(os_arena *self, void *block, size_t old_size, size_t new_size) {
  if (new_size > SIZE_MAX - ALIGN) return NULL;
  size_t old = os_arena__round(old_size == 0 ? 1 : old_size), new = os_arena__round(new_size);
  bool last = block != NULL && (char *)block + old == self->next;
  if (last && new >= old &&new - old <= (size_t)(self->end - self->next)) {
    self->next += new - old;
    return block;
  }
  void *copy = os_arena_alloc(self, new_size);
  if (copy != NULL && old_size > 0) memcpy(copy, block, old_size < new_size ? old_size : new_size);
  return copy;
}

os_str os_arena_copy(os_arena *self, os_str text) {
  char *data = os_arena_alloc(self, text.len);
  if (data == NULL) return (os_str){NULL, 0};
  if (text.len > 0) os_bytes_copy(data, text.data, text.len);
  return (os_str){data, text.len};
}

os_str os_arena_format(os_arena *self, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_str text = os_arena_format_list(self, format, arguments);
  va_end(arguments);
  return text.data == NULL ? OS_STR("") : text;
}

bool os_arena_room(os_arena *self, void **items, size_t count, size_t *room, size_t size) {
  if (count == *room) {
    size_t more = *room == 0 ? 8 : *room * 2, whole;
    if (more <= *room || !os_size_mul(more, size, &whole)) return false;
    void *grown = os_arena_grow(self, *items, *room * size, whole);
    if (grown == NULL) return false;
    *items = grown;
    *room = more;
  }
  os_arena__zero((char *)*items + count * size, size);
  return true;
}
