#ifndef OPSPEC_MAP_H
#define OPSPEC_MAP_H

#include "arena.h"

// Hash map from byte strings to pointers or numbers. Keys are borrowed: they must outlive the map. Entries are
// kept in the order of insertion in `entries[0..count)`.
typedef struct os_map_entry {
  os_str key;
  uint32_t hash;
  union {
    void *pointer;
    size_t number;
  } value;
} os_map_entry;

typedef struct os_map {
  os_arena *arena;
  os_map_entry *entries;
  uint64_t *slots; // an entry's hash, and below it its index + 1; or 0
  size_t count, room, slot_count;
} os_map;

void os_map_init(os_map *self, os_arena *arena);
// Room for `count` keys at once, so that filling does not grow step by step. False when memory is exhausted.
bool os_map_reserve(os_map *self, size_t count);
// NULL when the key is not there.
os_map_entry *os_map_get(const os_map *self, os_str key);
// The key's entry, new (value zero, *added true) or already there. NULL when memory is exhausted. Pointers to
// entries stay valid until the next put. `added` may be NULL.
os_map_entry *os_map_put(os_map *self, os_str key, bool *added);

#endif
