#ifndef OPSPEC_VALUE_H
#define OPSPEC_VALUE_H

#include "memory.h"
#include "type.h"

// Values at run time, reference counted. A tensor's bytes are its own block, another value's (view), or memory that the
// planner owns (borrowed).

// Bytes of strings that several tensors may point into.
typedef struct os_pool {
  uint32_t refs;
  os_memory *memory;
  size_t len, room;
  struct os_pool *next_chunk; // older part of the same pool
  char data[];
} os_pool;

struct os_value {
  op_tensor tensor; // first: an op_tensor of a value is the value. Only elem, rank, dims for OP_SPARSE
  uint32_t refs;
  op_kind kind;
  op_type type;
  os_memory *memory;
  bool borrowed;   // data belongs to the planner: gone when the run ends
  op_value *owner; // of a view: keeps the bytes alive
  os_pool **pools; // strings: what the elements point into
  uint32_t pool_count;
  op_value *
      *items; // sequence elements; optional: items[0]; map: values in key order; sparse: values, indices
  size_t count, room;
  op_value *keys;        // map: tensor of keys, rank 1
  int64_t inline_dims[]; // rank of them, then the tensor's own data
};

// All answer NULL when memory is exhausted or a size overflows. Data is uninitialised, but strings are empty.
op_value *os_value_tensor(os_memory *memory, op_elem elem, int32_t rank, const int64_t *dims);
// A tensor on memory that the caller keeps for as long as the value lives (borrowed).
op_value *os_value_borrow(os_memory *memory, op_elem elem, int32_t rank, const int64_t *dims, void *data);
// The same bytes with another shape of equal count; retains `of`.
op_value *os_value_view(op_value *of, int32_t rank, const int64_t *dims);
op_value *os_value_sequence(os_memory *memory, op_type type, size_t room);
// Takes the reference of `inner`, which may be NULL.
op_value *os_value_optional(os_memory *memory, op_type type, op_value *inner);
// Takes the references. keys: tensor of rank 1; `count` values.
op_value *os_value_map(os_memory *memory, op_type type, op_value *keys, op_value *const *values,
                       size_t count);
// Takes the references; dims of the dense shape.
op_value *os_value_sparse(os_memory *memory, op_type type, op_value *values, op_value *indices, int32_t rank,
                          const int64_t *dims);
// A deep copy that owns all of its bytes (a borrowed tensor must not outlive its run).
op_value *os_value_copy(os_memory *memory, const op_value *value);
// Product of dims and its size in bytes; false when negative or beyond size_t.
bool os_tensor_count(op_elem elem, int32_t rank, const int64_t *dims, int64_t *count, size_t *bytes);
static inline size_t os_tensor_bytes(const op_tensor *tensor) {
  return (size_t)tensor->count * op_elem_size(tensor->elem);
}

#endif
