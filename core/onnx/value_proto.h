#ifndef OPSPEC_VALUE_PROTO_H
#define OPSPEC_VALUE_PROTO_H

#include "tensor_proto.h"
#include "text.h"
#include "type.h"

// Values of any kind and the messages that hold them.

// The value that a document of kind tensor, sparse-tensor, sequence, map or optional holds. Types are interned in `types`.
// OS_MALFORMED with a sentence in `trouble` (may be NULL). An empty sequence or optional without an element type gets
// `expected` (0 = unknown), which is what a graph declares for it.
os_status os_value_read(os_document *document, os_memory *memory, os_types *types, op_type expected,
                        op_value **out, os_str *trouble);
// Lone messages; the same contract. `message` is of the kind's type.
os_status os_value_read_message(const void *message, os_kind kind, os_tensor_origin origin, os_memory *memory,
                                os_arena *scratch, os_types *types, op_type expected, op_value **out,
                                os_str *trouble);

// OS_MALFORMED: the first fault of such data that keeps it from being read, as a sentence in `trouble`.
os_status os_data_fault(os_arena *arena, const void *message, os_kind kind, os_tensor_origin origin,
                        os_str *trouble);

// Kind of the message that holds such a value.
os_kind os_value_message_kind(const op_value *value);
// Appends the value's message. `name` may be empty.
os_status os_value_write(os_text *out, os_memory *memory, const os_types *types, const op_value *value,
                         os_str name);

// TypeProto <-> type. 0 when the message does not say a type (unset, unknown element type) or memory is exhausted.
op_type os_type_from_proto(os_types *types, const Onnx__TypeProto *proto);
// Without shapes. NULL when memory is exhausted or the type is 0.
Onnx__TypeProto *os_type_to_proto(const os_types *types, os_arena *arena, op_type type, void *parent);

#endif
