#ifndef OPSPEC_PLAN_H
#define OPSPEC_PLAN_H

#include "message.h"

// A message descriptor prepared for walking: what protoc-c's descriptor says, in the form in which it is asked.

typedef struct os_plan os_plan;

typedef struct os_plan_field {
  const ProtobufCFieldDescriptor *field;
  const os_plan *child; // of a message field; set when first needed
  uint32_t offset, quantifier;
  uint32_t
      aside;    // where in the message the pointer to its Rare is that has this field; 0 = the message has it
  uint8_t type; // ProtobufCType
  uint8_t wire; // wire type of one element
  uint8_t size; // of one element in the struct
  bool repeated, oneof;
  bool text;      // a BYTES field that holds text
  bool far;       // one that stays outside where it is long (os_proto_field_is_far)
  uint64_t small; // enums: which values below 64 are defined
  bool plain;     // an integer that is written as it is: no enum, bool or zigzag
  bool packable;  // repeated scalars: a length-delimited record holds many
  bool packed;    // such a record is how they are written
  bool payload;
  bool is_long; // os_proto_field_is_long
} os_plan_field;

struct os_plan {
  const ProtobufCMessageDescriptor *type;
  const ProtobufCMessageDescriptor *rare; // of the fields that are aside; NULL = none
  struct os_plan *next;
  void *blank;           // for the decoder: an empty message of the type that may stand in many places
  uint8_t by_number[64]; // field number to index + 1, or 0
  uint32_t count;
  bool has_long; // one of the fields is long
  os_plan_field fields[];
};

// Plans made so far. Starts zeroed but for the arena.
typedef struct os_plans {
  os_arena *arena;
  os_plan *first;
  os_plan *recent[16]; // by type
} os_plans;

// NULL when memory is exhausted.
os_plan *os_plans_get(os_plans *self, const ProtobufCMessageDescriptor *type);
// The plan of a message field's messages; NULL when memory is exhausted.
const os_plan *os_plans_child(os_plans *self, const os_plan_field *field);

// Prepares the type and all types of fields below it: os_plans_get of these cannot fail any more. False: memory is exhausted.
bool os_plans_all(os_plans *self, const ProtobufCMessageDescriptor *type);

static inline const os_plan_field *os_plan_find(const os_plan *self, uint32_t number) {
  if (number < 64) {
    unsigned at = self->by_number[number];
    return at == 0 ? NULL : &self->fields[at - 1];
  }
  for (uint32_t i = self->count; i-- > 0 && self->fields[i].field->id >= number;)
    if (self->fields[i].field->id == number) return &self->fields[i];
  return NULL;
}

// The struct that has the field. Whoever writes makes sure that it is there (os_decoder_home).
static inline char *os_plan_home(const os_plan_field *self, const void *message) {
  if (self->aside == 0) return (char *)(uintptr_t)message;
  const char *rare = *(char *const *)(const void *)((const char *)message + self->aside);
  return (char *)(uintptr_t)(rare != NULL ? rare : (const char *)os_proto_nothing);
}
// Access to a field of a struct.
static inline void *os_plan_member(const os_plan_field *self, const void *message) {
  return os_plan_home(self, message) + self->offset;
}
static inline size_t *os_plan_count(const os_plan_field *self, const void *message) {
  return (size_t *)(void *)(os_plan_home(self, message) + self->quantifier);
}
// The list stays in the source; NULL: it does not.
static inline const os_far_list *os_plan_far(const os_plan_field *self, const void *message) {
  return self->payload && *os_plan_count(self, message) == 0
             ? *(const os_far_list *const *)os_plan_member(self, message)
             : NULL;
}
// Singular fields only.
static inline bool os_plan_has(const os_plan_field *self, const void *message) {
  const char *quantifier = os_plan_home(self, message) + self->quantifier;
  uint32_t value; // of a has flag, or which member of a oneof
  if (self->type == PROTOBUF_C_TYPE_MESSAGE && !self->oneof)
    return *(void *const *)os_plan_member(self, message) != NULL;
  memcpy(&value, quantifier, sizeof value);
  if (!self->oneof) return value != 0;
  return value == self->field->id &&
         (self->type != PROTOBUF_C_TYPE_MESSAGE || *(void *const *)os_plan_member(self, message) != NULL);
}
static inline void os_plan_set_has(const os_plan_field *self, void *message) {
  uint32_t value = self->oneof ? self->field->id : 1;
  if (self->oneof || self->type != PROTOBUF_C_TYPE_MESSAGE)
    memcpy(os_plan_home(self, message) + self->quantifier, &value, sizeof value);
}

#endif
