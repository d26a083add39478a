// Moving whole tensors: permuted, joined, cut into parts, repeated.

#include "kit.h"

// ---- Transpose --------------------------------------------------------------------------------------------

// perm of a node, by default the reversal. False when it is no permutation of 0..rank-1.
static bool transpose__perm(const op_node *node, int32_t rank, size_t *perm) {
  size_t count = 0;
  const int64_t *listed = op_attr_ints(node, "perm", &count);
  if (!op_attr_has(node, "perm")) {
    for (int32_t i = 0; i < rank; i++) perm[i] = (size_t)(rank - 1 - i);
    return true;
  }
  uint32_t seen = 0;
  if (count != (size_t)rank) return false;
  for (int32_t i = 0; i < rank; i++) {
    if (listed[i] < 0 || listed[i] >= rank || (seen >> listed[i] & 1)) return false;
    seen |= UINT32_C(1) << listed[i];
    perm[i] = (size_t)listed[i];
  }
  return true;
}

static os_status transpose__infer(op_infer *ctx) {
  int32_t rank;
  const op_dim *dims = kit_infer_same_type(ctx, &rank);
  size_t count = 0, perm[OP_MAX_RANK];
  const op_node *node = op_infer_node(ctx);
  op_attr_ints(node, "perm", &count);
  if (rank < 0) {
    if (op_attr_has(node, "perm") && count <= OP_MAX_RANK) op_infer_set_rank(ctx, 0, (int32_t)count);
    return OS_OK;
  }
  if (!transpose__perm(node, rank, perm)) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "perm (%zu entries) is no permutation of the %d axes of the input", count,
                         (int)rank);
  }
  op_dim out[OP_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) out[i] = dims[perm[i]];
  op_infer_set_shape(ctx, 0, rank, out);
  const op_dim *small = rank <= 1 ? op_infer_small(ctx, 0, &count) : NULL;
  if (small) op_infer_set_small(ctx, 0, small, count, rank == 0);
  return OS_OK;
}

static os_status transpose__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  size_t dims[OP_MAX_RANK], perm[OP_MAX_RANK];
  size_t rank = kit_shape(in, dims);
  if (!transpose__perm(op_run_node(ctx), in->rank, perm) || out->count != in->count) {
    return kit_shape_broken(ctx, "the permuted input");
  }
  if (in->count == 0) return OS_OK;
  math_transpose(out->data, in->data, op_elem_size(in->elem), rank, dims, perm);
  return kit_keep(out, in);
}

// ---- Concat -----------------------------------------------------------------------------------------------

static void concat__small(op_infer *ctx, uint32_t inputs) {
  op_dim joined[KIT_NUMBERS];
  size_t total = 0;
  for (uint32_t i = 0; i < inputs; i++) {
    size_t count = 0;
    const op_dim *small = op_infer_small(ctx, i, &count);
    op_dim length = small ? (op_dim)count : op_infer_dim(ctx, i, 0);
    if (length < 0 || total + (size_t)length > KIT_NUMBERS) return;
    for (op_dim k = 0; k < length; k++) joined[total++] = small ? small[k] : OP_DIM_UNKNOWN;
  }
  op_elem elem = op_infer_elem(ctx, 0);
  if (elem == OP_INT64 || elem == OP_INT32) op_infer_set_small(ctx, 0, joined, total, false);
}

static os_status concat__infer(op_infer *ctx) {
  uint32_t inputs = op_infer_input_count(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  int64_t axis_written = op_attr_int(op_infer_node(ctx), "axis", 1);
  op_dim out[OP_MAX_RANK];
  int32_t rank = -1, axis = 0;
  bool all = true;
  for (uint32_t i = 0; i < inputs; i++) {
    int32_t this_rank;
    const op_dim *dims = op_infer_dims(ctx, i, &this_rank);
    if (!op_infer_has_input(ctx, i))
      return op_infer_fail(ctx, OP_FAULT_VALUE, "input %u is missing", (unsigned)i);
    if (this_rank < 0) {
      all = false;
      continue;
    }
    if (rank < 0) {
      OS_TRY(op_infer_axis(ctx, axis_written, this_rank, "axis", &axis));
      rank = this_rank;
      for (int32_t k = 0; k < rank; k++) out[k] = dims[k];
      continue;
    }
    if (this_rank != rank) {
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "input %u has rank %d, another has rank %d", (unsigned)i,
                           (int)this_rank, (int)rank);
    }
    for (int32_t k = 0; k < rank; k++) {
      if (k == axis)
        out[k] = op_dim_add(ctx, out[k], dims[k]);
      else
        OS_TRY(op_infer_merge_dim(ctx, out[k], dims[k], "inputs of Concat", &out[k]));
    }
  }
  if (rank < 0) return OS_OK;
  if (!all) out[axis] = OP_DIM_UNKNOWN;
  op_infer_set_shape(ctx, 0, rank, out);
  if (all && rank == 1) concat__small(ctx, inputs);
  return OS_OK;
}

static os_status concat__compute(op_run *ctx) {
  op_tensor *out = op_run_output(ctx, 0);
  int32_t axis = kit_run_axis(ctx, 1, out->rank);
  size_t inner = kit_extent(out, axis + 1, out->rank) * op_elem_size(out->elem);
  size_t outer = kit_extent(out, 0, axis), row = inner * (size_t)out->dims[axis], offset = 0;
  for (uint32_t i = 0; i < op_run_input_count(ctx); i++) {
    const op_tensor *in = op_run_input(ctx, i);
    if (!in) return op_run_fail(ctx, "input %u is missing", (unsigned)i);
    bool alike = in->elem == out->elem && in->rank == out->rank;
    size_t bytes = alike ? inner * (size_t)in->dims[axis] : 0;
    if (!alike || offset + bytes > row || in->count * out->dims[axis] != out->count * in->dims[axis])
      return kit_shape_broken(ctx, "an input");
    if (in->count == 0) continue;
    for (size_t o = 0; o < outer; o++) {
      memcpy((char *)out->data + o * row + offset, (const char *)in->data + o * bytes, bytes);
    }
    offset += bytes;
    OS_TRY(kit_keep(out, in));
  }
  return offset == row || out->count == 0 ? OS_OK : kit_shape_broken(ctx, "the sum of the inputs");
}

// ---- Split ------------------------------------------------------------------------------------------------

// Sizes of the parts: listed somewhere, or equal ones of which the last may differ.
typedef struct split_sizes {
  const int64_t *attribute;
  const op_tensor *value;
  const op_dim *small;
  size_t count; // listed
  op_dim chunk, last;
} split_sizes;

static op_dim split__size(const split_sizes *self, uint32_t part, uint32_t parts) {
  if (self->attribute) return kit_dim_from(self->attribute[part]);
  if (self->value) return kit_dim_from(kit_int(self->value, part));
  if (self->small) return self->small[part];
  return part + 1 == parts ? self->last : self->chunk;
}

static os_status split__check_listed(op_infer *ctx, const split_sizes *sizes, op_dim dim, uint32_t parts) {
  if (sizes->count != parts) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "split has %zu entries for %u outputs", sizes->count,
                         (unsigned)parts);
  }
  op_dim sum = 0;
  for (uint32_t i = 0; i < parts; i++) {
    op_dim part = split__size(sizes, i, parts);
    if (op_dim_is_number(part) && part < 0) {
      return op_infer_fail(ctx, OP_FAULT_VALUE, "split[%u] is %lld", (unsigned)i, (long long)part);
    }
    sum = op_dim_add(ctx, sum, part);
  }
  if (sum >= 0 && dim >= 0 && sum != dim) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "split adds up to %lld, but the dim is %lld", (long long)sum,
                         (long long)dim);
  }
  return OS_OK;
}

// Equal parts; from 18 on the last one may be smaller, down to nothing.
static os_status split__equal(op_infer *ctx, split_sizes *sizes, op_dim dim, uint32_t parts) {
  bool uneven = op_node_since(op_infer_node(ctx)) >= 18;
  if (!uneven && dim >= 0 && dim % parts != 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "a dim of %lld cannot be split into %u equal parts",
                         (long long)dim, (unsigned)parts);
  }
  sizes->chunk = uneven ? op_dim_ceildiv(ctx, dim, parts) : op_dim_floordiv(ctx, dim, parts);
  sizes->last = uneven ? op_dim_sub(ctx, dim, op_dim_mul(ctx, sizes->chunk, parts - 1)) : sizes->chunk;
  if (dim >= 0 && sizes->last < 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE,
                         "a dim of %lld in %u parts of %lld leaves %lld for the last one", (long long)dim,
                         (unsigned)parts, (long long)sizes->chunk, (long long)sizes->last);
  }
  return OS_OK;
}

// What is known of the sizes; OS_OK with unknown ones when they come with the run.
static os_status split__sizes(op_infer *ctx, split_sizes *sizes, op_dim dim, uint32_t parts) {
  const op_node *node = op_infer_node(ctx);
  *sizes = (split_sizes){.chunk = OP_DIM_UNKNOWN, .last = OP_DIM_UNKNOWN};
  bool input = op_infer_has_input(ctx, 1), attribute = !input && op_attr_has(node, "split");
  if ((input || attribute) && op_attr_has(node, "num_outputs")) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "split and num_outputs are both given");
  }
  if (attribute) sizes->attribute = op_attr_ints(node, "split", &sizes->count);
  if (input) sizes->value = op_infer_value(ctx, 1);
  if (sizes->value)
    sizes->count = (size_t)sizes->value->count;
  else if (input)
    sizes->small = op_infer_small(ctx, 1, &sizes->count);
  if (attribute || sizes->value || sizes->small) return split__check_listed(ctx, sizes, dim, parts);
  return input ? OS_OK : split__equal(ctx, sizes, dim, parts);
}

static void split__part(op_infer *ctx, uint32_t output, int32_t axis, op_dim begin, op_dim length) {
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  op_dim *out = op_infer_set_rank(ctx, output, rank);
  if (!out) return;
  for (int32_t k = 0; k < rank; k++) out[k] = k == axis ? length : dims[k];
  size_t count = 0;
  const op_dim *small = rank == 1 ? op_infer_small(ctx, 0, &count) : NULL;
  bool inside = begin >= 0 && length >= 0 && (size_t)begin + (size_t)length <= count;
  if (small && inside) op_infer_set_small(ctx, output, small + begin, (size_t)length, false);
}

static os_status split__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  uint32_t parts = op_infer_output_count(ctx);
  for (uint32_t i = 0; i < parts; i++) op_infer_set_type(ctx, i, op_infer_type(ctx, 0));
  int64_t wanted = op_attr_int(node, "num_outputs", parts);
  if (wanted != parts) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "num_outputs is %lld, the node has %u outputs",
                         (long long)wanted, (unsigned)parts);
  }
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0 || parts == 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  split_sizes sizes;
  OS_TRY(split__sizes(ctx, &sizes, dims[axis], parts));
  op_dim begin = 0;
  for (uint32_t i = 0; i < parts; i++) {
    op_dim length = split__size(&sizes, i, parts);
    split__part(ctx, i, axis, begin, length);
    begin = op_dim_add(ctx, begin, length);
  }
  return OS_OK;
}

static os_status split__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  int32_t axis = kit_run_axis(ctx, 0, in->rank);
  size_t inner = kit_extent(in, axis + 1, in->rank) * op_elem_size(in->elem);
  size_t outer = kit_extent(in, 0, axis), row = inner * (size_t)in->dims[axis], offset = 0;
  for (uint32_t i = 0; i < op_run_output_count(ctx); i++) {
    if (!op_run_has_output(ctx, i)) return op_run_fail(ctx, "output %u is left out", (unsigned)i);
    op_tensor *out = op_run_output(ctx, i);
    if (!out) return OS_OUT_OF_MEMORY;
    size_t bytes = inner * (size_t)out->dims[axis];
    if (offset + bytes > row) return kit_shape_broken(ctx, "the sum of split");
    for (size_t o = 0; out->count > 0 && o < outer; o++) {
      memcpy((char *)out->data + o * bytes, (const char *)in->data + o * row + offset, bytes);
    }
    offset += bytes;
    OS_TRY(kit_keep(out, in));
  }
  return OS_OK;
}

// ---- Expand, Tile -----------------------------------------------------------------------------------------

static os_status expand__dim(op_infer *ctx, int32_t axis, op_dim in, op_dim to, op_dim *out) {
  if (in == 1 || in == to)
    *out = to;
  else if (to == 1)
    *out = in;
  else if (in >= 0 && to >= 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "axis %d: a dim of %lld does not broadcast to %lld", (int)axis,
                         (long long)in, (long long)to);
  } else if (in > 1 || to > 1)
    *out = in > to ? in : to;
  else
    *out = OP_DIM_UNKNOWN;
  return OS_OK;
}

static os_status expand__infer(op_infer *ctx) {
  int32_t rank;
  const op_dim *dims = kit_infer_same_type(ctx, &rank);
  kit_list shape;
  kit_infer_list(ctx, 1, &shape);
  OS_TRY(kit_want_rank(ctx, 1, 1, "shape"));
  if (rank < 0) return OS_OK;
  if (!shape.present) {
    op_dim length = op_infer_rank(ctx, 1) == 1 ? op_infer_dim(ctx, 1, 0) : -1;
    if (length >= 0 && length <= OP_MAX_RANK)
      op_infer_set_rank(ctx, 0, length > rank ? (int32_t)length : rank);
    return OS_OK;
  }
  if (shape.count > OP_MAX_RANK) {
    op_infer_set_rank(ctx, 0, (int32_t)shape.count);
    return OS_OK;
  }
  OS_TRY(kit_want_natural(ctx, &shape, "shape"));
  int32_t wanted = (int32_t)shape.count, out_rank = wanted > rank ? wanted : rank;
  op_dim out[OP_MAX_RANK];
  for (int32_t i = 0; i < out_rank; i++) {
    int32_t from = i - (out_rank - rank), to = i - (out_rank - wanted);
    OS_TRY(expand__dim(ctx, i, from >= 0 ? dims[from] : 1, to >= 0 ? shape.at[to] : 1, &out[i]));
  }
  op_infer_set_shape(ctx, 0, out_rank, out);
  return OS_OK;
}

static os_status expand__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (out->rank < in->rank) return kit_shape_broken(ctx, "the input");
  size_t dims[OP_MAX_RANK], in_dims[OP_MAX_RANK];
  ptrdiff_t to[OP_MAX_RANK], from[OP_MAX_RANK] = {0}, in_strides[OP_MAX_RANK];
  size_t rank = kit_shape(out, dims), lead = rank - kit_shape(in, in_dims);
  math_strides(rank, dims, to);
  math_strides(rank - lead, in_dims, in_strides);
  for (size_t i = lead; i < rank; i++) {
    if (in_dims[i - lead] != 1 && in_dims[i - lead] != dims[i]) return kit_shape_broken(ctx, "the input");
    from[i] = in_dims[i - lead] == 1 ? 0 : in_strides[i - lead];
  }
  if (out->count == 0) return OS_OK;
  math_copy_strided(out->data, in->data, op_elem_size(in->elem), rank, dims, to, from);
  return kit_keep(out, in);
}

static os_status tile__infer(op_infer *ctx) {
  int32_t rank;
  const op_dim *dims = kit_infer_same_type(ctx, &rank);
  OS_TRY(kit_want_rank(ctx, 1, 1, "repeats"));
  kit_list repeats;
  kit_infer_list(ctx, 1, &repeats);
  if (rank < 0) return OS_OK;
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!repeats.present || !out) return OS_OK;
  if (repeats.count != (size_t)rank) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "repeats has %zu entries for an input of rank %d",
                         repeats.count, (int)rank);
  }
  OS_TRY(kit_want_natural(ctx, &repeats, "repeats"));
  for (int32_t i = 0; i < rank; i++) out[i] = op_dim_mul(ctx, dims[i], repeats.at[i]);
  return OS_OK;
}

// Version 1: one axis is repeated; both are scalars of the input's own type.
static os_status tile__infer_axis(op_infer *ctx) {
  int32_t rank, axis;
  const op_dim *dims = kit_infer_same_type(ctx, &rank);
  if (rank < 0) return OS_OK;
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  op_dim tiles = kit_infer_number(ctx, 1), place = kit_infer_number(ctx, 2);
  if (!out || tiles == OP_DIM_UNKNOWN || !op_dim_is_number(place)) return OS_OK;
  OS_TRY(op_infer_axis(ctx, place, rank, "axis", &axis));
  if (op_dim_is_number(tiles) && tiles < 0) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "tiles is %lld", (long long)tiles);
  }
  for (int32_t i = 0; i < rank; i++) out[i] = i == axis ? op_dim_mul(ctx, dims[i], tiles) : dims[i];
  return OS_OK;
}

static os_status tile__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (out->rank != in->rank) return kit_shape_broken(ctx, "the repeated input");
  if (out->count == 0) return OS_OK;
  // Each axis becomes two: which copy, and where in it.
  size_t rank = (size_t)in->rank, dims[2 * OP_MAX_RANK], in_dims[OP_MAX_RANK], out_dims[OP_MAX_RANK];
  ptrdiff_t to[2 * OP_MAX_RANK], from[2 * OP_MAX_RANK], in_strides[OP_MAX_RANK], out_strides[OP_MAX_RANK];
  kit_shape(in, in_dims);
  kit_shape(out, out_dims);
  math_strides(rank, in_dims, in_strides);
  math_strides(rank, out_dims, out_strides);
  for (size_t i = 0; i < rank; i++) {
    if (out_dims[i] % in_dims[i] != 0) return kit_shape_broken(ctx, "the repeated input");
    dims[2 * i] = out_dims[i] / in_dims[i];
    dims[2 * i + 1] = in_dims[i];
    to[2 * i] = out_strides[i] * (ptrdiff_t)in_dims[i];
    to[2 * i + 1] = out_strides[i];
    from[2 * i] = 0;
    from[2 * i + 1] = in_strides[i];
  }
  math_copy_strided(out->data, in->data, op_elem_size(in->elem), 2 * rank, dims, to, from);
  return kit_keep(out, in);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("Transpose", 1, OP_PURE, transpose__infer, transpose__compute),
    OP_ROW("Concat", 1, OP_PURE, concat__infer, concat__compute), // axis 1 unless said otherwise
    OP_ROW("Split", 1, OP_PURE, split__infer,
           split__compute), // 1: an attribute or input; 2: attribute; 18: uneven parts
    OP_ROW("Expand", 8, OP_PURE, expand__infer, expand__compute),
    OP_ROW("Tile", 1, OP_PURE, tile__infer_axis, tile__compute),
    OP_ROW("Tile", 6, OP_PURE, tile__infer, tile__compute),
};

OP_FAMILY(layout, rows);
