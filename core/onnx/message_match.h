#ifndef OPSPEC_MESSAGE_MATCH_H
#define OPSPEC_MESSAGE_MATCH_H

#include "walk.h"

// Which element of a list of messages is which one of another list: by what names it (a node by its name, then by its first
// output), then by equal bytes; what nothing names by its place among what is left. So an element more or less shifts
// nothing.

// A message's names, as numbers of fields: those that tell it from others, a list whose first text does so as well, and a
// field to add in brackets for a reader. 0 = none.
typedef struct os_naming {
  const ProtobufCMessageDescriptor *type;
  uint8_t key[3], list, note;
} os_naming;
// NULL: nothing names such messages.
const os_naming *os_naming_of(const ProtobufCMessageDescriptor *type);
// "conv1", "Relu 6": what the key fields say; empty when they say nothing.
os_str os_naming_key(const os_naming *self, const os_plan *plan, const void *message, os_arena *arena);

typedef struct os_match {
  size_t a, b;
} os_match;

typedef struct os_matching {
  os_match *pairs; // ascending in a; those that were found to be the same bytes at once are left out
  size_t *removed, *added;
  size_t pair_count, removed_count, added_count;
  bool moved; // pairs stand in another order
} os_matching;

typedef struct os_matcher {
  os_arena *arena; // takes the results
  os_arena work;
  const os_source *a, *b; // in memory
  uint64_t budget;        // bytes that may still be compared or hashed before messages are walked instead
  // Where tensors of a begin whose elements lie in other files, ascending: equal bytes do not say that these are the same.
  struct {
    uint64_t *items;
    size_t count, room;
  } apart;
} os_matcher;

typedef struct os_match_list {
  ProtobufCMessage *const *items;
  size_t count;
} os_match_list;

// Fills `apart`; before anything else.
os_status os_match_begin(os_matcher *self, os_memory *memory, const void *root);
// The messages are the same bytes, and all that they are. False also when the budget is spent.
bool os_match_same(os_matcher *self, const void *a, const void *b);
// `plan`: of the elements.
os_status os_match_lists(os_matcher *self, const os_plan *plan, os_match_list a, os_match_list b,
                         os_matching *out);

#endif
