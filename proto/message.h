#ifndef OPSPEC_MESSAGE_H
#define OPSPEC_MESSAGE_H

#include "arena.h"
#include "source.h"

#include <protobuf-c/protobuf-c.h>

// Messages are protoc-c's structs. Strings and bytes are views {len, data}; they are not NUL-ended and may hold NUL.
// Each struct that our decoder or os_proto_new makes has a head before it. Structs are read freely; whoever changes one
// calls os_proto_edited on it, so that it is not written from its old bytes.

typedef struct os_proto_head {
  uint32_t offset, length; // lower halves
  uintptr_t parent; // message around it, 0 for the root; messages are 8-byte aligned: the low bits are flags
} os_proto_head;

enum {
  OS_PROTO_RANGED =
      1, // offset and length are the message's bytes in its source, tag and length prefix excluded
  // The struct says more than the bytes do; so it is for all messages around it, up to one that was merged of several parts.
  // With a range: in what was encoded last, counted on from the end of the source.
  OS_PROTO_EDITED = 2,
  OS_PROTO_LARGE = 4, // upper halves of offset and length stand before the head
  OS_PROTO_FLAGS = 7,
};

static inline os_proto_head *os_proto_head_of(const void *message) {
  return (os_proto_head *)(uintptr_t)message - 1;
}
// Size of the head of a message whose bytes end at `end`.
static inline size_t os_proto_head_size(uint64_t end) {
  return sizeof(os_proto_head) + (end >> 32 == 0 ? 0 : 2 * sizeof(uint32_t));
}
static inline bool os_proto_is(const void *message, unsigned flag) {
  return (os_proto_head_of(message)->parent & flag) != 0;
}
static inline void *os_proto_parent(const void *message) {
  return (void *)(os_proto_head_of(message)->parent & ~(uintptr_t)OS_PROTO_FLAGS);
}
static inline void os_proto_set(void *message, unsigned flags, unsigned not_flags) {
  os_proto_head *head = os_proto_head_of(message);
  head->parent = (head->parent | flags) & ~(uintptr_t)not_flags;
}
// There is nothing in it, as there was nothing in the bytes; the struct is not looked at.
static inline bool os_proto_is_blank(const void *message) {
  const os_proto_head *head = os_proto_head_of(message);
  return head->length == 0 && (head->parent & OS_PROTO_FLAGS) == OS_PROTO_RANGED;
}
uint64_t os_proto_offset(const void *message);
uint64_t os_proto_length(const void *message);
// Sets a length, of any message that is not copied from its bytes. False: the message was not made for one that large.
bool os_proto_set_length(void *message, uint64_t length);
bool os_proto_set_offset(void *message, uint64_t offset);
// The message in a block of os_proto_head_size(end) + type->sizeof_message zeroed bytes, with its range.
void *os_proto_place(void *block, const ProtobufCMessageDescriptor *type, void *parent, uint64_t start,
                     uint64_t end);

// An empty message, marked as edited. It still has to be put into a field of `parent` (NULL = a root). NULL when memory is
// exhausted.
void *os_proto_new(os_arena *arena, const ProtobufCMessageDescriptor *type, void *parent);
#define OS_PROTO_NEW(arena, type, descriptor, parent) ((type *)os_proto_new((arena), &(descriptor), (parent)))
// The message was changed: it and all messages around it are encoded anew.
void os_proto_edited(void *message);
// Marks the message and everything below it as edited and forgets their ranges; what was decoded from another source can
// then be put into this one. Views still point to the other source's bytes.
os_status os_proto_detach(os_memory *memory, void *message);

// A bytes field. With a source that is not in memory, those over OS_PROTO_NEAR bytes stay in the source: `data` then points
// to an os_far and `len` is 0, so that code that does not know sees no bytes rather than wrong ones.
typedef struct os_far {
  uint64_t offset, length;
} os_far;
enum { OS_PROTO_NEAR = 1024 };

static inline bool os_bytes_is_far(ProtobufCBinaryData bytes) { return bytes.len == 0 && bytes.data != NULL; }
static inline uint64_t os_bytes_length(ProtobufCBinaryData bytes) {
  return os_bytes_is_far(bytes) ? ((const os_far *)(const void *)bytes.data)->length : bytes.len;
}
// So it is with a list of numbers or bytes that is payload (os_proto_field_is_payload) and lies in one place: its count is 0
// then, and the list points to this.
typedef struct os_far_list {
  os_far bytes; // of the packed record, or of all elements with their tags
  uint64_t count;
  bool tagged;
} os_far_list;

// Copies [from, from + n) of the field. OS_MALFORMED beyond its end.
os_status os_bytes_read(const os_source *source, ProtobufCBinaryData bytes, uint64_t from, size_t n,
                        void *to);
// The field's bytes: a view on what is in memory, or a copy in the arena. *out stays valid as long as both.
os_status os_bytes_load(const os_source *source, os_arena *arena, ProtobufCBinaryData bytes, os_str *out);
// A string field (never far) as a view.
static inline os_str os_bytes_str(ProtobufCBinaryData bytes) {
  return (os_str){(const char *)bytes.data, bytes.len};
}
static inline ProtobufCBinaryData os_bytes_of(os_str text) {
  return (ProtobufCBinaryData){text.len, text.len == 0 ? NULL : (uint8_t *)(uintptr_t)text.data};
}

// Zeros to read in place of a struct that is not there.
enum { OS_PROTO_NOTHING = 48 };
extern const uint64_t os_proto_nothing[OS_PROTO_NOTHING];

// Which BYTES fields of our descriptors hold text: protoc-c makes both kinds look the same.
bool os_proto_field_is_text(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field);
// BYTES fields that are left outside where they are long: the data of tensors, which nobody reads but through what knows of it.
bool os_proto_field_is_far(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field);
// Repeated fields that may be large and that nobody reads but through what knows of far lists: the data of tensors.
bool os_proto_field_is_payload(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field);
// Repeated messages of which a model may have very many: nodes, initializers, what is said of values, functions.
bool os_proto_field_is_long(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field);
// A message type of onnx.proto, onnx-data.proto or onnx-operators.proto by name ("TensorProto"); NULL when unknown.
const ProtobufCMessageDescriptor *os_proto_type_find(os_str name);

// A path being built on the stack while something is walked: printed only when a finding needs it.
typedef struct os_path {
  const struct os_path *parent; // NULL = the root
  os_str field;                 // one or several steps ("graph.node[3]"); may be empty
  int64_t index;                // of a repeated field, -1 = none
} os_path;
// "graph.node[3].attribute[0]"; empty for the root.
os_str os_path_print(const os_path *self, os_arena *arena);

#endif
