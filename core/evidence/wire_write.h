#ifndef OPSPEC_WIRE_WRITE_H
#define OPSPEC_WIRE_WRITE_H

#include "text.h"
#include "type.h"

// Protobuf wire bytes, for the few messages that evidence needs to make.

void os_wire_int(os_text *out, uint32_t field, uint64_t value);
void os_wire_float(os_text *out, uint32_t field, float value);
void os_wire_bytes(os_text *out, uint32_t field, os_str bytes);
// A message of unknown length: everything written up to the close is inside. Answers a mark for the close.
size_t os_wire_open(os_text *out, uint32_t field);
void os_wire_close(os_text *out, size_t mark);
// A TypeProto in `field`, with this shape when it is a tensor and rank >= 0.
void os_wire_type(os_text *out, const os_types *types, uint32_t field, op_type type, int32_t rank,
                  const int64_t *dims);

#endif
