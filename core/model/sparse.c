#include "model_index.h"
#include "value_proto.h"

// A sparse initializer stands for the dense tensor (onnx.proto, GraphProto.sparse_initializer): operators see that.

// Place of element `i` in the dense tensor, or -1 when the indices point outside.
static int64_t os_sparse__place(const op_tensor *indices, int64_t i, int32_t rank, const int64_t *dims,
                                int64_t count) {
  const int64_t *index = (const int64_t *)indices->data;
  if (indices->rank == 1) return index[i] >= 0 && index[i] < count ? index[i] : -1;
  int64_t place = 0;
  for (int32_t axis = 0; axis < rank; axis++) {
    int64_t at = index[i * rank + axis];
    if (at < 0 || at >= dims[axis]) return -1;
    place = place * dims[axis] + at;
  }
  return place;
}

static os_status os_sparse__fill(const op_tensor *values, const op_tensor *indices, op_tensor *dense) {
  size_t size = op_elem_size(dense->elem);
  if (values->rank != 1 || values->elem != dense->elem) return OS_MALFORMED;
  if (values->count == 0) return OS_OK;
  if (indices == NULL || indices->elem != OP_INT64) return OS_MALFORMED;
  bool linear = indices->rank == 1 && indices->count == values->count;
  bool by_axis = indices->rank == 2 && indices->dims[0] == values->count && indices->dims[1] == dense->rank;
  if (!linear && !by_axis) return OS_MALFORMED;
  for (int64_t i = 0; i < values->count; i++) {
    int64_t place = os_sparse__place(indices, i, dense->rank, dense->dims, dense->count);
    if (place < 0) return OS_MALFORMED;
    memcpy((char *)dense->data + (size_t)place * size, (const char *)values->data + (size_t)i * size, size);
  }
  return OS_OK;
}

os_status os_model_densify(os_model *model, const Onnx__SparseTensorProto *proto, op_value **out) {
  *out = NULL;
  os_tensor_origin origin = os_document_origin(model->document);
  if (proto->values == NULL || proto->n_dims > OP_MAX_RANK) return OS_MALFORMED;
  if (proto->values->data_type == OP_STRING) return OS_UNSUPPORTED;
  op_value *values = NULL, *indices = NULL;
  os_tensor_reader reader;
  os_status status = os_tensor_open(&reader, proto->values, origin);
  if (status == OS_OK) status = os_tensor_value(&reader, model->memory, &values);
  if (status == OS_OK && proto->indices != NULL) {
    status = os_tensor_open(&reader, proto->indices, origin);
    if (status == OS_OK) status = os_tensor_value(&reader, model->memory, &indices);
  }
  int64_t count;
  size_t bytes;
  if (status == OS_OK &&
      !os_tensor_count(values->tensor.elem, (int32_t)proto->n_dims, proto->dims, &count, &bytes))
    status = OS_MALFORMED;
  if (status == OS_OK) {
    *out = os_value_tensor(model->memory, values->tensor.elem, (int32_t)proto->n_dims, proto->dims);
    if (*out == NULL) status = OS_OUT_OF_MEMORY;
  }
  if (status == OS_OK) {
    memset((*out)->tensor.data, 0, bytes);
    status = os_sparse__fill(&values->tensor, indices == NULL ? NULL : &indices->tensor, &(*out)->tensor);
  }
  op_value_release(values);
  op_value_release(indices);
  if (status != OS_OK) {
    op_value_release(*out);
    *out = NULL;
  }
  return status;
}
