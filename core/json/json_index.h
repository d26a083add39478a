#ifndef OPSPEC_JSON_INDEX_H
#define OPSPEC_JSON_INDEX_H

#include "json.h"

enum { OS_JSON_INDEX_FROM = 25 }; // members from which an object has an index

// A member with its hash, so that looking for another one does not touch it.
typedef struct os_json_slot {
  os_json *member; // NULL: none
  uint32_t hash;
} os_json_slot;

// Members of an object by key: a hash table, or, where many keys share a hash, a list sorted by hash and key.
typedef struct os_json_index {
  os_json_slot *slots;
  uint32_t mask;
  bool crowded;     // too many keys shared a place: sorted when the object ends
  os_json **sorted; // not NULL: used instead of slots
  uint32_t count;
  struct { // keys that stand twice, in order: unlinked when the object ends
    struct os_json_pair {
      os_json *early, *late;
    } *items;
    size_t count, room;
  } repeated;
} os_json_index;

#endif
