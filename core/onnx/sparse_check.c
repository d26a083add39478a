#include "data_check_parts.h"

#include <inttypes.h>

#define REPORT(rule, field, ...) \
  os_data_place(self, os_report_add(self->report, &os_rule_##rule, __VA_ARGS__), sparse, path, OS_STR(field))

enum { PIECE = 512 }; // indices read at once

// Linear indices: inside [0, size), ascending.
static os_status os_sparse__check_linear(const os_data_check *self, const Onnx__SparseTensorProto *sparse,
                                         os_tensor_reader *reader, const os_path *path) {
  int64_t size, piece[PIECE], last = -1;
  if (!os_data_product(sparse->dims, sparse->n_dims, &size)) size = INT64_MAX;
  for (int64_t at = 0; at < reader->count; at += PIECE) {
    int64_t n = reader->count - at < PIECE ? reader->count - at : PIECE;
    OS_TRY(os_tensor_read(reader, at, n, piece));
    for (int64_t i = 0; i < n; i++) {
      if (piece[i] < 0 || piece[i] >= size) {
        REPORT(onnx_sparse_indices, "indices", "index %" PRId64 " is %" PRId64 ", outside 0 to %" PRId64,
               at + i, piece[i], size - 1);
        return OS_OK;
      }
      if (piece[i] <= last) {
        REPORT(onnx_sparse_order, "indices", "index %" PRId64 " is %" PRId64 " after %" PRId64, at + i,
               piece[i], last);
        return OS_OK;
      }
      last = piece[i];
    }
  }
  return OS_OK;
}

// Rows with an index for each axis: inside the dims, lexicographically ascending.
static os_status os_sparse__check_rows(const os_data_check *self, const Onnx__SparseTensorProto *sparse,
                                       os_tensor_reader *reader, const os_path *path) {
  size_t rank = sparse->n_dims;
  int64_t *last = OS_ARENA_ARRAY(self->arena, rank, int64_t),
          *row = OS_ARENA_ARRAY(self->arena, rank, int64_t);
  if (last == NULL || row == NULL) return OS_OUT_OF_MEMORY;
  int64_t rows = reader->count / (int64_t)rank;
  for (int64_t i = 0; i < rows; i++) {
    OS_TRY(os_tensor_read(reader, i * (int64_t)rank, (int64_t)rank, row));
    int order = i == 0 ? 1 : 0;
    for (size_t j = 0; j < rank; j++) {
      if (row[j] < 0 || row[j] >= sparse->dims[j]) {
        REPORT(onnx_sparse_indices, "indices",
               "row %" PRId64 " has %" PRId64 " for axis %zu of size %" PRId64, i, row[j], j,
               sparse->dims[j]);
        return OS_OK;
      }
      if (order == 0) order = row[j] > last[j] ? 1 : row[j] < last[j] ? -1 : 0;
    }
    if (order <= 0) {
      REPORT(onnx_sparse_order, "indices", "row %" PRId64 " %s the one before it", i,
             order == 0 ? "equals" : "comes before");
      return OS_OK;
    }
    int64_t *swap = last;
    last = row;
    row = swap;
  }
  return OS_OK;
}

static os_status os_sparse__check_indices(const os_data_check *self, const Onnx__SparseTensorProto *sparse,
                                          int64_t count, const os_path *path) {
  const Onnx__TensorProto *indices = sparse->indices;
  os_path inner = {path, OS_STR("indices"), -1};
  OS_TRY(os_tensor_check(self, indices, &inner));
  if (indices->data_type != OP_INT64) {
    REPORT(onnx_sparse_indices, "indices", "indices have data_type %d, not INT64 (7)",
           (int)indices->data_type);
    return OS_OK;
  }
  bool linear = indices->n_dims == 1, rows = indices->n_dims == 2;
  if ((!linear && !rows) || indices->dims[0] != count ||
      (rows && (uint64_t)indices->dims[1] != sparse->n_dims)) {
    REPORT(onnx_sparse_indices, "indices",
           "indices have dims %s; for %" PRId64 " values of a tensor of rank %zu they are [%" PRId64
           "] or [%" PRId64 ", %zu]",
           os_data_dims(self, indices->dims, indices->n_dims), count, sparse->n_dims, count, count,
           sparse->n_dims);
    return OS_OK;
  }
  os_tensor_reader reader;
  if (os_tensor_open(&reader, indices, self->origin) != OS_OK) return OS_OK; // said by the tensor's own check
  return os_data_not_here(self,
                          linear ? os_sparse__check_linear(self, sparse, &reader, path)
                                 : os_sparse__check_rows(self, sparse, &reader, path),
                          sparse->values->name);
}

os_status os_sparse_check(const os_data_check *self, const Onnx__SparseTensorProto *sparse,
                          const os_path *path) {
  if (sparse->values == NULL) {
    REPORT(onnx_sparse_values, "values", "values is missing");
    return OS_OK;
  }
  os_path inner = {path, OS_STR("values"), -1};
  OS_TRY(os_tensor_check(self, sparse->values, &inner));
  bool good = sparse->values->n_dims == 1;
  if (!good)
    REPORT(onnx_sparse_values, "values", "values have dims %s, not one dim",
           os_data_dims(self, sparse->values->dims, sparse->values->n_dims));
  if (sparse->n_dims == 0) {
    REPORT(onnx_sparse_dims, "dims", "dims are missing: a sparse tensor has rank 1 or more");
    good = false;
  }
  for (size_t i = 0; i < sparse->n_dims && good; i++) {
    if (sparse->dims[i] > 0) continue;
    REPORT(onnx_sparse_dims, "dims", "dim %zu is %" PRId64, i, sparse->dims[i]);
    good = false;
  }
  if (!good) return OS_OK;
  int64_t count = sparse->values->dims[0];
  if (sparse->indices == NULL) {
    if (count != 0)
      REPORT(onnx_sparse_indices, "indices", "indices are missing for %" PRId64 " values", count);
    return OS_OK;
  }
  return os_sparse__check_indices(self, sparse, count, path);
}
