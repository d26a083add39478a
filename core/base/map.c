#include "map.h"

// Not a secret: it only has to differ from what somebody would guess when they build colliding names.
enum { SEED = 0x5bd1e995 };
enum { FEW = 16 }; // entries up to which keys are compared one by one: no hashes, no slots

void os_map_init(os_map *self, os_arena *arena) { *self = (os_map){.arena = arena}; }

static uint32_t os_map__hash(os_str key) {
  uint64_t hash = os_str_hash(key, SEED);
  return (uint32_t)(hash ^ hash >> 32);
}

// Where the key's entry is told, or has to be. Entries are looked at only where the hash is the same: they are far apart.
static uint64_t *os_map__slot(const os_map *self, os_str key, uint32_t hash) {
  size_t mask = self->slot_count - 1;
  for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
    uint64_t slot = self->slots[i];
    if (slot == 0) return &self->slots[i];
    if (slot >> 32 == hash && os_str_eq(self->entries[(uint32_t)slot - 1].key, key)) return &self->slots[i];
  }
}

static os_map_entry *os_map__find(const os_map *self, os_str key, uint32_t hash) {
  if (self->slot_count > 0) {
    uint32_t slot = (uint32_t)*os_map__slot(self, key, hash);
    return slot == 0 ? NULL : &self->entries[slot - 1];
  }
  for (size_t i = 0; i < self->count; i++)
    if (os_str_eq(self->entries[i].key, key)) return &self->entries[i];
  return NULL;
}

os_map_entry *os_map_get(const os_map *self, os_str key) {
  return os_map__find(self, key, self->slot_count == 0 ? 0 : os_map__hash(key));
}

static bool os_map__slots(os_map *self, size_t slot_count) {
  uint64_t *slots = OS_ARENA_ARRAY(self->arena, slot_count, uint64_t);
  if (slots == NULL) return false;
  bool first = self->slot_count == 0;
  self->slots = slots;
  self->slot_count = slot_count;
  for (size_t i = 0; i < self->count; i++) { // no two keys are the same
    os_map_entry *entry = &self->entries[i];
    if (first) entry->hash = os_map__hash(entry->key);
    size_t at = (size_t)entry->hash & (slot_count - 1);
    while (slots[at] != 0) at = (at + 1) & (slot_count - 1);
    slots[at] = (uint64_t)entry->hash << 32 | (i + 1);
  }
  return true;
}

bool os_map_reserve(os_map *self, size_t count) {
  if (count >= UINT32_MAX / 2) return false;
  if (count > self->room) {
    os_map_entry *entries = os_arena_alloc(self->arena, count * sizeof *entries);
    if (entries == NULL) return false;
    if (self->count > 0) memcpy(entries, self->entries, self->count * sizeof *entries);
    self->entries = entries;
    self->room = count;
  }
  size_t slot_count = 2 * FEW;
  while (slot_count < count * 2) slot_count *= 2;
  return count <= FEW || slot_count <= self->slot_count || os_map__slots(self, slot_count);
}

static bool os_map__reserve(os_map *self) {
  if (!os_arena_room(self->arena, (void **)&self->entries, self->count, &self->room, sizeof *self->entries))
    return false;
  if (self->count < FEW || (self->count + 1) * 2 <= self->slot_count) return true;
  return os_map__slots(self, self->slot_count == 0 ? 4 * FEW : self->slot_count * 2);
}

os_map_entry *os_map_put(os_map *self, os_str key, bool *added) {
  uint32_t hash = self->slot_count == 0 ? 0 : os_map__hash(key);
  uint64_t *slot = self->slot_count == 0 ? NULL : os_map__slot(self, key, hash);
  os_map_entry *entry = slot == NULL ? os_map__find(self, key, hash)
                        : *slot == 0 ? NULL
                                     : &self->entries[(uint32_t)*slot - 1];
  if (added != NULL) *added = false;
  if (entry != NULL) return entry;
  size_t slots = self->slot_count;
  if (self->count >= UINT32_MAX - 1 || !os_map__reserve(self)) return NULL;
  if (self->slot_count > 0 && self->count == FEW) hash = os_map__hash(key);
  if (self->slot_count != slots) slot = os_map__slot(self, key, hash);
  entry = &self->entries[self->count++];
  *entry = (os_map_entry){.key = key, .hash = hash};
  if (self->slot_count > 0) *slot = (uint64_t)hash << 32 | self->count;
  if (added != NULL) *added = true;
  return entry;
}
