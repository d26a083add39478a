#ifndef OPSPEC_ARENA_H
#define OPSPEC_ARENA_H

#include "bytes.h"
#include "memory.h"

// Bump allocator: everything is freed at once, so early returns need no clean-up. Blocks are 16-byte aligned.
typedef struct os_arena {
  os_memory *memory;
  struct os_arena_chunk *chunks; // newest first
  char *next, *end;              // free part of the newest chunk
  size_t grow;                   // size of the next chunk
} os_arena;

void os_arena_init(os_arena *self, os_memory *memory);
// Frees all blocks; the arena can be used again.
void os_arena_clear(os_arena *self);
// Takes all blocks back but keeps the newest chunk unless it is a large block's own: small jobs in a row allocate nothing.
void os_arena_rewind(os_arena *self);
// Uninitialised / zeroed memory, or NULL when memory is exhausted.
void *os_arena_alloc(os_arena *self, size_t size);
void *os_arena_zalloc(os_arena *self, size_t size);
// `count` times `size` zeroed bytes with the product checked.
void *os_arena_array(os_arena *self, size_t count, size_t size);
// Grows the block that was allocated last in place if it can, else copies. old_size 0 with NULL starts one.
void *os_arena_grow(os_arena *self, void *block, size_t old_size, size_t new_size);
// A copy of the bytes in the arena; data is NULL when memory is exhausted and len was not 0.
os_str os_arena_copy(os_arena *self, os_str text);
// printf into the arena; an empty string when memory is exhausted.
os_str os_arena_format(os_arena *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define OS_ARENA_NEW(arena, type) ((type *)os_arena_zalloc((arena), sizeof(type)))
#define OS_ARENA_ARRAY(arena, count, type) ((type *)os_arena_array((arena), (count), sizeof(type)))

// A growing array in an arena: declare `struct { T *items; size_t count, room; }` and push with OS_PUSH.
// Evaluates to a pointer to the new, zeroed element, or NULL when memory is exhausted.
#define OS_PUSH(arena, list)                                                                            \
  (os_arena_room((arena), (void **)&(list)->items, (list)->count, &(list)->room, sizeof *(list)->items) \
       ? &(list)->items[(list)->count++]                                                                \
       : NULL)
bool os_arena_room(os_arena *self, void **items, size_t count, size_t *room, size_t size);

#endif
