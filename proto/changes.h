#ifndef OPSPEC_CHANGES_H
#define OPSPEC_CHANGES_H

#include "message.h"

// Changes of messages that can be taken back. What is new lives in the document's arena. A change marks its message as
// edited, and so all messages around it.
typedef struct os_changes {
  os_arena *arena;
  os_arena own;
  struct {
    struct os_change *items;
    size_t count, room;
  } changes;
} os_changes;

void os_changes_begin(os_changes *self, os_memory *memory, os_arena *arena);
// Takes all changes back, the last one first.
void os_changes_undo(os_changes *self);
void os_changes_end(os_changes *self);

// Puts `n` bytes (at most 16) to `at`, which is part of `message` or of a list of its.
os_status os_changes_put(os_changes *self, void *message, void *at, const void *value, size_t n);
// The text is copied. `has`: the flag of an optional field, else NULL.
os_status os_changes_text(os_changes *self, void *message, protobuf_c_boolean *has, ProtobufCBinaryData *at,
                          os_str text);
// Adds one message to a list, or takes those out that are NULL. `list` is the field, a pointer to pointers.
os_status os_changes_append(os_changes *self, void *message, void *list, size_t *count, void *item);
os_status os_changes_compact(os_changes *self, void *message, void *list, size_t *count);

// Another list, of the document's arena.
os_status os_changes_list(os_changes *self, void *message, void *list, size_t *count, void **items, size_t n);

// A copy of the message and of all below it, which may be changed apart from it. Views and lists of numbers are shared.
os_status os_proto_clone(os_memory *memory, os_arena *arena, const void *message, void **out);

#endif
