#include "value.h"

#include <string.h>

static op_value *os_value__copy_tensor(os_memory *memory, const op_tensor *tensor) {
  op_value *copy = os_value_tensor(memory, tensor->elem, tensor->rank, tensor->dims);
  if (copy == NULL || tensor->count == 0) return copy;
  if (tensor->elem != OP_STRING) {
    memcpy(copy->tensor.data, tensor->data, os_tensor_bytes(tensor));
    return copy;
  }
  const os_str *strings = tensor->data;
  for (int64_t i = 0; i < tensor->count; i++) {
    if (op_string_set(&copy->tensor, i, strings[i]) == OS_OK) continue;
    op_value_release(copy);
    return NULL;
  }
  return copy;
}

// Copies the elements of a sequence or optional, the values of a map, or the parts of a sparse tensor. Values nest no
// deeper than their type is written, which the decoder's depth limit bounds.
static op_value *os_value__copy_items(os_memory *memory, const op_value *value) {
  op_value *copy = os_value_sequence(memory, value->type, value->count);
  if (copy == NULL) return NULL;
  copy->kind = value->kind;
  for (size_t i = 0; i < value->count; i++) {
    op_value *item = os_value_copy(memory, value->items[i]);
    if (item == NULL) {
      op_value_release(copy);
      return NULL;
    }
    copy->items[copy->count++] = item;
  }
  if (value->keys == NULL) return copy;
  copy->keys = os_value_copy(memory, value->keys);
  if (copy->keys != NULL) return copy;
  op_value_release(copy);
  return NULL;
}

op_value *os_value_copy(os_memory *memory, const op_value *value) {
  if (value->kind == OP_TENSOR) return os_value__copy_tensor(memory, &value->tensor);
  if (value->kind != OP_SPARSE) return os_value__copy_items(memory, value);
  op_value *values = os_value_copy(memory, value->items[0]);
  op_value *indices = values == NULL ? NULL : os_value_copy(memory, value->items[1]);
  if (indices == NULL) {
    op_value_release(values);
    return NULL;
  }
  return os_value_sparse(memory, value->type, values, indices, value->tensor.rank, value->tensor.dims);
}
