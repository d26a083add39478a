#ifndef OPSPEC_MESSAGE_DIFF_H
#define OPSPEC_MESSAGE_DIFF_H

#include "document.h"
#include "type.h"

// What differs between two messages of one type, field by field. A scalar that is absent is the same as one that has the
// default, unless it is a member of a oneof. Tensors are compared by their elements, whatever field or file has them. Work is
// bounded by the size of both, and of those files.

typedef enum os_change_kind {
  OS_CHANGE_ADDED,
  OS_CHANGE_REMOVED,
  OS_CHANGE_CHANGED,
  OS_CHANGE_ORDER, // of a list's elements
} os_change_kind;

typedef struct os_change {
  os_change_kind kind;
  os_str path;    // in the second message; of what was removed in the first
  os_str message; // a sentence
} os_change;

typedef struct os_message_diff {
  os_memory *memory;
  os_arena *arena; // takes the changes
  const os_types *types;
  const os_stop *stop; // may be NULL
  size_t limit;        // of changes that are kept
  uint32_t skip;       // number of a field of the roots that is not looked at; 0 = none
  struct {
    os_change *items;
    size_t count, room;
  } changes;
  size_t left; // changes beyond the limit
  // Tensors whose elements lie in files that are not there, or cannot be read; not among the changes. Of the first: its path,
  // and why, for a person.
  size_t unread;
  os_str unread_path, unread_why;
} os_message_diff;

// The members up to `skip` are given. Both documents are in memory and of one kind; their files need not be.
os_status os_message_diff_run(os_message_diff *self, const os_document *a, const os_document *b);

#endif
