#ifndef OPSPEC_TENSOR_PROTO_H
#define OPSPEC_TENSOR_PROTO_H

#include "document.h"
#include "rare.h"
#include "value.h"

// Reading the elements of a TensorProto, wherever they are stored: raw_data, a typed field, another file.

// Where bytes come from.
typedef struct os_tensor_origin {
  const os_source *source;     // of the document around the tensor; NULL when all of it is in memory
  const os_external *external; // NULL = there are no other files
  bool quiet;                  // nobody reads what is wrong with a tensor
} os_tensor_origin;
static inline os_tensor_origin os_document_origin(const os_document *document) {
  return (os_tensor_origin){&document->source, document->external.open == NULL ? NULL : &document->external,
                            false};
}

typedef enum os_tensor_storage {
  OS_STORED_NOWHERE, // no elements
  OS_STORED_RAW,
  OS_STORED_FLOAT,
  OS_STORED_INT32,
  OS_STORED_STRING,
  OS_STORED_INT64,
  OS_STORED_DOUBLE,
  OS_STORED_UINT64,
  OS_STORED_EXTERNAL,
} os_tensor_storage;

typedef struct os_tensor_reader {
  const Onnx__TensorProto *proto;
  os_tensor_origin origin;
  os_tensor_storage storage;
  op_elem elem;
  int32_t rank;
  const int64_t *dims; // of the proto
  int64_t count;
  os_source file;  // OS_STORED_EXTERNAL
  uint64_t offset; // in it
  uint64_t next,
      next_at;       // entry behind the last one that was read of a list that is outside, and where it lies
  char trouble[200]; // a sentence without a full stop, when opening failed
} os_tensor_reader;

// Its elements lie in another file.
static inline bool os_tensor_is_external(const Onnx__TensorProto *proto) {
  return proto->has_data_location && proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}
// What the tensor declares. OS_MALFORMED with `trouble` when its elements are not there as declared (data type, dims, none
// or several value fields, too few elements, external data missing or cut); OS_UNSUPPORTED with `trouble` for a rank over
// OP_MAX_RANK or a file that is not for synchronous calls. Extra bytes are let go.
os_status os_tensor_open(os_tensor_reader *self, const Onnx__TensorProto *proto, os_tensor_origin origin);
// Elements [first, first + count) as an op_tensor holds them: 4- and 2-bit ones in a byte each (signed ones extended),
// float16 and narrower floats as bits. Not for strings. With a source that is not in memory any piece can be asked for.
os_status os_tensor_read(os_tensor_reader *self, int64_t first, int64_t count, void *to);
// Entries [first, first + count) of the typed field that holds them, as they are.
os_status os_tensor_entries(os_tensor_reader *self, uint64_t first, size_t count, void *to);
// Element `index` of a tensor of strings; of those that are outside the one behind the last that was asked for, or the first.
// In memory, or copied to the arena.
os_status os_tensor_string(os_tensor_reader *self, os_arena *arena, uint64_t index, os_str *out);
// The bytes as they are in memory, when they are the elements of an op_tensor (raw or external, no narrow type, aligned to
// the element); NULL otherwise.
const void *os_tensor_in_place(const os_tensor_reader *self);
// The elements have to be read from a source that is not in memory.
bool os_tensor_is_outside(const os_tensor_reader *self);
// A new tensor with all elements; strings are copied too.
os_status os_tensor_value(os_tensor_reader *self, os_memory *memory, op_value **out);

// Rules I of external data (onnx.proto, TensorProto.external_data; ONNX external data documentation): the location is a
// relative path with '/' that stays inside the model's folder.
typedef struct os_external_entry {
  os_str location;
  uint64_t offset, length;
  bool has_length;
  const char *fault; // NULL, or what is wrong ("location is absolute")
  const char *key;   // the entry with the fault
} os_external_entry;
os_external_entry os_external_read(const Onnx__TensorProto *proto);
// NULL, or what is wrong with such a location.
const char *os_external_location_fault(os_str location);

// A TensorProto with the tensor's elements in raw_data (strings: string_data). Its bytes are those of `tensor`, which must
// outlive it, but for 4- and 2-bit types, which are packed into the arena. `name` may be empty: then it is left out.
os_status os_tensor_proto_new(os_arena *arena, const op_tensor *tensor, os_str name, void *parent,
                              Onnx__TensorProto **out);

#endif
