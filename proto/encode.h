#ifndef OPSPEC_ENCODE_H
#define OPSPEC_ENCODE_H

#include "message.h"
#include "text.h"

// Takes bytes as they come.
typedef struct os_sink {
  os_status (*write)(void *context, const void *data, size_t n);
  void *context;
  // Takes [offset, offset + n) of the source, where it is not in memory or the range is long; NULL: such bytes are read and
  // written as others are.
  os_status (*copy)(void *context, uint64_t offset, uint64_t n);
  bool every; // short ones, too
} os_sink;

// Structs to wire bytes. A message that was not edited is copied from its range, byte for byte; an edited one is written
// by field number, then its unknown fields. `source` is what the message was decoded from; NULL when all of it is new.
// Sizes and places of edited messages are kept in their heads, so `message` must not be in use elsewhere during the call.
os_status os_proto_encode(os_memory *memory, const os_source *source, void *message, const os_sink *sink);
// How many bytes that will be.
os_status os_proto_encoded_size(os_memory *memory, void *message, uint64_t *size);
os_sink os_sink_text(os_text *text);

#endif
