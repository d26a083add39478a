#ifndef OPSPEC_WALK_H
#define OPSPEC_WALK_H

#include "plan.h"

// Goes through a message, field by field in the order of their numbers and depth first, without recursion. Fields that are
// absent are passed over; so are unknown fields, which whoever needs them reads at the end of a message, and messages in lists
// that are NULL, as an edit under way leaves them.

typedef enum os_walk_event {
  OS_WALK_FIELD, // scalars: `count` of them in `field` of os_walk_top's message; 0 of a list that is outside
  OS_WALK_OPEN,  // a message begins, element `index` of `count` in `field`; it is os_walk_top's now
  OS_WALK_CLOSE, // it ends; os_walk_top is still it
  OS_WALK_END,   // the root ends; os_walk_top is still it
} os_walk_event;

typedef struct os_walk_frame {
  const os_plan *plan;
  ProtobufCMessage *message;
  uint32_t field; // being walked through
  size_t element; // next in it
  bool any;       // for whoever walks; false at first
} os_walk_frame;

typedef struct os_walk {
  os_arena arena; // may be used as long as the walk
  os_plans plans;
  struct {
    os_walk_frame *items;
    size_t count, room;
  } frames;
  bool closing;
  const os_plan_field *field;
  size_t index, count;
} os_walk;

os_status os_walk_begin(os_walk *self, os_memory *memory, const void *message);
// The same in two steps; another root may follow when a walk has ended.
void os_walk_init(os_walk *self, os_memory *memory);
os_status os_walk_root(os_walk *self, const void *message);
void os_walk_free(os_walk *self);
// Not to be called after OS_WALK_END.
os_status os_walk_next(os_walk *self, os_walk_event *event);
// At OS_WALK_OPEN: how many more messages behind this one are as empty as it is. They are passed over: it is the last of them
// from now on.
size_t os_walk_pass(os_walk *self);
static inline os_walk_frame *os_walk_top(const os_walk *self) {
  return &self->frames.items[self->frames.count - 1];
}
// The path of `field` (may be NULL) of os_walk_top's message, element `index` (-1 = the field).
os_str os_walk_path(const os_walk *self, os_arena *arena, const os_plan_field *field, int64_t index);

// Elements [first, first + count) of a list that is outside, of a ProtobufCType, as the struct would hold them. *at: where element `first` lies,
// if first is not 0; where the next one does, afterwards.
os_status os_far_list_read(const os_source *source, uint8_t type, const os_far_list *far, uint64_t first,
                           size_t count, uint64_t *at, void *to);
// The next element of a list whose elements have tags: bytes or 4 or 8 of them in *element, or (length 0) a varint in *number.
// *at starts at the list's offset.
os_status os_far_next(const os_source *source, const os_far_list *far, uint64_t *at, os_far *element,
                      uint64_t *number);
// Brings all lists in that are outside, to the arena.
os_status os_proto_load_lists(os_memory *memory, os_arena *arena, const os_source *source, void *message);

// Elements of a field: 0 or 1 of a singular one.
static inline size_t os_plan_elements(const os_plan_field *field, const void *message) {
  return field->repeated ? *os_plan_count(field, message) : os_plan_has(field, message);
}
// The first of them. Not for fields without elements.
const char *os_plan_list(const os_plan_field *field, const void *message);
static inline ProtobufCMessage *os_plan_child(const os_plan_field *field, const void *message, size_t i) {
  return ((ProtobufCMessage *const *)(const void *)os_plan_list(field, message))[i];
}

#endif
