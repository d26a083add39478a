// Gather, GatherElements, GatherND: reading by index.

#include "kit.h"

// An index of an axis, negative ones counted from the end; `dim` or more when it is out of range.
static inline uint64_t gather__place(int64_t index, int64_t dim) {
  uint64_t place = (uint64_t)(index < 0 ? index + dim : index);
  return place < (uint64_t)dim ? place : UINT64_MAX;
}

static os_status gather__out_of_range(op_run *ctx, int64_t index, int64_t at, int32_t axis, int64_t dim) {
  return op_run_fail(ctx, "indices: element %lld is %lld, outside of axis %d with %lld places", (long long)at,
                     (long long)index, (int)axis, (long long)dim);
}

// ---- Gather -----------------------------------------------------------------------------------------------

static void gather__small(op_infer *ctx, int32_t rank) {
  size_t count = 0;
  const op_dim *data = op_infer_small(ctx, 0, &count);
  kit_list indices;
  kit_infer_list(ctx, 1, &indices);
  if (!data || rank > 1 || !kit_all_known(&indices)) return;
  op_dim picked[KIT_NUMBERS];
  for (size_t i = 0; i < indices.count; i++) {
    uint64_t place = gather__place(indices.at[i], (int64_t)count);
    if (place == UINT64_MAX) return;
    picked[i] = data[place];
  }
  op_infer_set_small(ctx, 0, picked, indices.count, rank == 0);
}

static os_status gather__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int32_t rank, index_rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *index_dims = op_infer_dims(ctx, 1, &index_rank);
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  if (index_rank < 0) return OS_OK;
  int32_t out_rank = rank + index_rank - 1;
  op_dim *out = op_infer_set_rank(ctx, 0, out_rank);
  if (!out) return OS_OK;
  for (int32_t i = 0; i < axis; i++) *out++ = dims[i];
  for (int32_t i = 0; i < index_rank; i++) *out++ = index_dims[i];
  for (int32_t i = axis + 1; i < rank; i++) *out++ = dims[i];
  if (rank == 1) gather__small(ctx, out_rank);
  const op_tensor *indices = dims[axis] >= 0 ? op_infer_value(ctx, 1) : NULL;
  for (int64_t i = 0; indices && i < indices->count; i++) {
    int64_t index = kit_int(indices, i);
    if (gather__place(index, dims[axis]) == UINT64_MAX) {
      return op_infer_fail(ctx, OP_FAULT_VALUE,
                           "indices: element %lld is %lld, outside of axis %d with %lld places", (long long)i,
                           (long long)index, (int)axis, (long long)dims[axis]);
    }
  }
  return OS_OK;
}

static os_status gather__plan(op_plan *ctx) {
  const op_tensor *indices = op_plan_input(ctx, 1);
  if (indices && indices->elem != OP_INT64) op_plan_scratch(ctx, (size_t)indices->count * sizeof(int64_t));
  return OS_OK;
}

static os_status gather__compute(op_run *ctx) {
  const op_tensor *data = op_run_input(ctx, 0), *indices = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  int32_t axis = kit_run_axis(ctx, 0, data->rank);
  if (out->rank != data->rank + indices->rank - 1) return kit_shape_broken(ctx, "the gathered data");
  if (out->count == 0) return OS_OK;
  size_t rows = (size_t)data->dims[axis], outer = kit_extent(data, 0, axis), count = (size_t)indices->count;
  size_t row_bytes = kit_extent(data, axis + 1, data->rank) * op_elem_size(data->elem);
  const int64_t *places = indices->data;
  if (indices->elem != OP_INT64) {
    int64_t *wide = op_run_scratch(ctx);
    kit_ints(indices, wide, count);
    places = wide;
  }
  for (size_t o = 0; o < outer; o++) {
    ptrdiff_t wrong =
        math_gather_rows((char *)out->data + o * count * row_bytes,
                         (const char *)data->data + o * rows * row_bytes, places, count, rows, row_bytes);
    if (wrong >= 0) return gather__out_of_range(ctx, places[wrong], wrong, axis, (int64_t)rows);
  }
  return kit_keep(out, data);
}

// ---- GatherElements ---------------------------------------------------------------------------------------

static os_status gather_elements__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int32_t rank, index_rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *index_dims = op_infer_dims(ctx, 1, &index_rank);
  if (index_rank >= 0) op_infer_set_shape(ctx, 0, index_rank, index_dims);
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  if (index_rank < 0) return OS_OK;
  OS_TRY(kit_want_rank(ctx, 1, rank, "indices"));
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis && dims[i] >= 0 && index_dims[i] > dims[i]) {
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "axis %d: indices has %lld places, data has %lld", (int)i,
                           (long long)index_dims[i], (long long)dims[i]);
    }
  }
  return OS_OK;
}

// dst[i] = src[i * step + place(indices, begin + i) * stride] for n elements; answers the first bad one, or n.
static size_t gather__row(char *dst, const char *src, const op_tensor *indices, size_t begin, size_t n,
                          size_t step, size_t stride, int64_t dim, size_t width) {
  for (size_t i = 0; i < n; i++) {
    uint64_t place = gather__place(kit_int(indices, (int64_t)(begin + i)), dim);
    if (place == UINT64_MAX) return i;
    const char *from = src + (i * step + (size_t)place * stride) * width;
    switch (width) {
    case 1: dst[i] = *from; break;
    case 2: memcpy(dst + 2 * i, from, 2); break;
    case 4: memcpy(dst + 4 * i, from, 4); break;
    case 8: memcpy(dst + 8 * i, from, 8); break;
    default: memcpy(dst + width * i, from, width);
    }
  }
  return n;
}

static os_status gather_elements__compute(op_run *ctx) {
  const op_tensor *data = op_run_input(ctx, 0), *indices = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  if (indices->rank != data->rank || out->count != indices->count || data->rank == 0) {
    return kit_shape_broken(ctx, "indices");
  }
  if (out->count == 0) return OS_OK;
  int32_t axis = kit_run_axis(ctx, 0, data->rank);
  size_t dims[OP_MAX_RANK], in_dims[OP_MAX_RANK], index[OP_MAX_RANK] = {0}, rank = kit_shape(indices, dims);
  ptrdiff_t strides[OP_MAX_RANK];
  kit_shape(data, in_dims);
  math_strides(rank, in_dims, strides);
  for (size_t i = 0; i < rank; i++) {
    if (i != (size_t)axis && dims[i] > in_dims[i]) return kit_shape_broken(ctx, "indices");
  }
  size_t n = dims[rank - 1], begin = 0, width = op_elem_size(data->elem);
  size_t step = (size_t)axis == rank - 1 ? 0 : 1;
  do {
    size_t base = 0;
    for (size_t i = 0; i + 1 < rank; i++) base += i == (size_t)axis ? 0 : index[i] * (size_t)strides[i];
    size_t done = gather__row((char *)out->data + begin * width, (const char *)data->data + base * width,
                              indices, begin, n, step, (size_t)strides[axis], data->dims[axis], width);
    if (done < n) {
      int64_t at = (int64_t)(begin + done);
      return gather__out_of_range(ctx, kit_int(indices, at), at, axis, data->dims[axis]);
    }
    begin += n;
  } while (kit_next(rank - 1, dims, index));
  return kit_keep(out, data);
}

// ---- GatherND ---------------------------------------------------------------------------------------------

static os_status gather_nd__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int32_t rank, index_rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *index_dims = op_infer_dims(ctx, 1, &index_rank);
  int64_t batch = op_attr_int(op_infer_node(ctx), "batch_dims", 0);
  if (rank < 0 || index_rank < 0) return OS_OK;
  if (rank < 1 || index_rank < 1) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "data has rank %d and indices %d; both must be 1 or more",
                         (int)rank, (int)index_rank);
  }
  int32_t smaller = rank < index_rank ? rank : index_rank;
  if (batch < 0 || batch >= smaller) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "batch_dims is %lld; it must be below the smaller rank, %d",
                         (long long)batch, (int)smaller);
  }
  op_dim merged[OP_MAX_RANK], depth = index_dims[index_rank - 1];
  for (int32_t i = 0; i < batch; i++) {
    OS_TRY(op_infer_merge_dim(ctx, dims[i], index_dims[i], "batch dims of data and indices", &merged[i]));
  }
  if (depth < 0) return OS_OK;
  if (depth < 1 || depth > rank - batch) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "indices name %lld axes; data has %d after the batch ones",
                         (long long)depth, (int)(rank - batch));
  }
  int32_t first = (int32_t)(batch + depth);
  op_dim *out = op_infer_set_rank(ctx, 0, index_rank - 1 + rank - first);
  if (!out) return OS_OK;
  for (int32_t i = 0; i < index_rank - 1; i++) *out++ = i < batch ? merged[i] : index_dims[i];
  for (int32_t i = first; i < rank; i++) *out++ = dims[i];
  return OS_OK;
}

static os_status gather_nd__compute(op_run *ctx) {
  const op_tensor *data = op_run_input(ctx, 0), *indices = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  int32_t batch = (int32_t)op_attr_int(op_run_node(ctx), "batch_dims", 0);
  if (indices->rank < 1) return kit_shape_broken(ctx, "indices");
  int64_t depth = indices->dims[indices->rank - 1];
  int32_t first = batch + (int32_t)depth;
  if (out->count == 0) return OS_OK;
  if (depth < 1 || first > data->rank || out->rank != indices->rank - 1 + data->rank - first) {
    return kit_shape_broken(ctx, "indices");
  }
  size_t row_bytes = kit_extent(data, first, data->rank) * op_elem_size(data->elem);
  size_t batches = kit_extent(data, 0, batch),
         batch_bytes = kit_extent(data, batch, data->rank) * op_elem_size(data->elem);
  size_t tuples = (size_t)(indices->count / depth), per_batch = tuples / batches;
  char *dst = out->data;
  for (size_t t = 0; t < tuples; t++, dst += row_bytes) {
    size_t row = 0;
    for (int64_t k = 0; k < depth; k++) {
      int64_t at = (int64_t)t * depth + k, index = kit_int(indices, at), dim = data->dims[batch + k];
      uint64_t place = gather__place(index, dim);
      if (place == UINT64_MAX) return gather__out_of_range(ctx, index, at, batch + (int32_t)k, dim);
      row = row * (size_t)dim + (size_t)place;
    }
    memcpy(dst, (const char *)data->data + t / per_batch * batch_bytes + row * row_bytes, row_bytes);
  }
  return kit_keep(out, data);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    {.op_type = "Gather",
     .since = 1,
     .traits = OP_PURE,
     .infer = gather__infer,
     .plan = gather__plan,
     .compute = gather__compute},
    OP_ROW("GatherElements", 11, OP_PURE, gather_elements__infer, gather_elements__compute),
    OP_ROW("GatherND", 11, OP_PURE, gather_nd__infer, gather_nd__compute), // 12: batch_dims
};

OP_FAMILY(gather, rows);
