#ifndef OPSPEC_STANDARD_TYPES_H
#define OPSPEC_STANDARD_TYPES_H

#include <stdint.h>

// The types beyond tensors that the standard's signatures name, generated from specs/onnx-signatures.json: the type of
// entry i has the id OP_ELEM_COUNT + i. `of` is the id of a tensor type or of an earlier entry.
typedef struct os_standard_type {
  uint8_t kind; // os_type_kind
  uint8_t elem;
  uint8_t of;
} os_standard_type;

extern const os_standard_type os_standard_types[];
extern const uint32_t os_standard_type_count;

#endif
