#ifndef OPSPEC_TENSOR_FIELD_H
#define OPSPEC_TENSOR_FIELD_H

#include "tensor_proto.h"

// Which field of a TensorProto holds which element types, and how many entries it needs.

typedef struct os_tensor_fields {
  unsigned used; // value fields that are not empty
  os_tensor_storage first, second;
} os_tensor_fields;
os_tensor_fields os_tensor_fields_of(const Onnx__TensorProto *proto);
// Of a typed field whose entries are outside; else NULL.
const os_far_list *os_tensor_far_list(const Onnx__TensorProto *proto, os_tensor_storage storage);
const char *os_tensor_field_name(os_tensor_storage storage);
// Entries of the field; bytes of raw_data.
uint64_t os_tensor_field_count(const Onnx__TensorProto *proto, os_tensor_storage storage);
// The typed field for an element type.
os_tensor_storage os_tensor_field_for(op_elem elem);
// Entries that `count` elements take in it (onnx.proto): complex two each; two 4-bit or four 2-bit ones share an entry.
uint64_t os_tensor_field_need(op_elem elem, int64_t count);
// Bytes of `count` elements in raw_data. Saturates.
uint64_t os_tensor_raw_size(op_elem elem, int64_t count);

#endif
