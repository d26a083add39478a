// ScatterElements, ScatterND, TensorScatter: writing by index.

#include "kit.h"

// ---- Reductions -------------------------------------------------------------------------------------------

typedef struct scatter_reduction {
  bool none; // the update replaces
  math_loop_id loop;
  int type;
} scatter_reduction;

// Which loop joins old and new value; false for a reduction that is unknown or has no meaning for the element type.
static bool scatter__reduction(const op_node *node, op_elem elem, scatter_reduction *out) {
  static const struct {
    math_op op, of_bool;
  } known[] = {{MATH_OP_add, MATH_OP_or},
               {MATH_OP_mul, MATH_OP_and},
               {MATH_OP_max, MATH_OP_or},
               {MATH_OP_min, MATH_OP_and}};
  int how = kit_word(node, "reduction", "none\0add\0mul\0max\0min\0") - 1;
  *out = (scatter_reduction){.none = how < 0, .type = (int)elem};
  if (how < 0) return true;
  if (how == 4) return false;
  math_op op = elem == OP_BOOL ? known[how].of_bool : known[how].op;
  // The narrow floats go through the f32 loop.
  bool narrow =
      elem != OP_BOOL && math_type_width((int)elem) > 0 && math_loop_find(op, (int)elem) == LOOP_NONE;
  out->loop = math_loop_find(op, narrow ? MATH_F32 : (int)elem);
  return out->loop != LOOP_NONE;
}

static void scatter__put(const scatter_reduction *how, char *to, const char *from, size_t n, size_t width) {
  if (how->none)
    memcpy(to, from, n * width);
  else
    math_run_binary(how->loop, how->type, to, to, from, n, MATH_VV, NULL);
}

static os_status scatter__out_of_range(op_run *ctx, int64_t index, int64_t at, int32_t axis, int64_t dim) {
  return op_run_fail(ctx, "indices: element %lld is %lld, outside of axis %d with %lld places", (long long)at,
                     (long long)index, (int)axis, (long long)dim);
}

static os_status scatter__plan(op_plan *ctx) {
  op_plan_in_place(ctx, 0, 0);
  return OS_OK;
}

// The output as a copy of the data, and the reduction.
static os_status scatter__begin(op_run *ctx, op_tensor **out, scatter_reduction *how) {
  const op_tensor *data = op_run_input(ctx, 0), *updates = op_run_input(ctx, 2);
  *out = op_run_output(ctx, 0);
  if (!*out) return OS_OUT_OF_MEMORY;
  if (updates->elem != data->elem) return op_run_fail(ctx, "updates has another type than data");
  if (!scatter__reduction(op_run_node(ctx), data->elem, how)) {
    return op_run_fail(ctx, "this reduction is not defined for %s", op_elem_name(data->elem));
  }
  OS_TRY(kit_copy(*out, data));
  return kit_keep(*out, updates);
}

// ---- ScatterElements --------------------------------------------------------------------------------------

static os_status scatter_elements__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0), axis, index_rank, update_rank;
  const op_dim *index_dims = op_infer_dims(ctx, 1, &index_rank),
               *update_dims = op_infer_dims(ctx, 2, &update_rank);
  if (rank >= 0) {
    OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
    OS_TRY(kit_want_rank(ctx, 1, rank, "indices"));
    OS_TRY(kit_want_rank(ctx, 2, rank, "updates"));
  }
  for (int32_t i = 0; i < index_rank && index_rank == update_rank; i++) {
    OS_TRY(op_infer_merge_dim(ctx, index_dims[i], update_dims[i], "indices and updates", NULL));
  }
  return OS_OK;
}

static os_status scatter_elements__row(op_run *ctx, const scatter_reduction *how, op_tensor *out, size_t base,
                                       size_t begin, size_t n, size_t step, size_t stride, int32_t axis) {
  const op_tensor *indices = op_run_input(ctx, 1), *updates = op_run_input(ctx, 2);
  int64_t dim = out->dims[axis];
  size_t width = op_elem_size(out->elem);
  for (size_t i = 0; i < n; i++) {
    int64_t index = kit_int(indices, (int64_t)(begin + i)), place = index < 0 ? index + dim : index;
    if (place < 0 || place >= dim) return scatter__out_of_range(ctx, index, (int64_t)(begin + i), axis, dim);
    scatter__put(how, kit_at(out, base + i * step + (size_t)place * stride), kit_at(updates, begin + i), 1,
                 width);
  }
  return OS_OK;
}

static os_status scatter_elements__compute(op_run *ctx) {
  op_tensor *out;
  scatter_reduction how;
  OS_TRY(scatter__begin(ctx, &out, &how));
  const op_tensor *indices = op_run_input(ctx, 1), *updates = op_run_input(ctx, 2);
  if (!kit_same_shape(indices, updates->rank, updates->dims) || indices->rank != out->rank ||
      out->rank == 0) {
    return kit_shape_broken(ctx, "updates");
  }
  if (indices->count == 0) return OS_OK;
  int32_t axis = kit_run_axis(ctx, 0, out->rank);
  size_t dims[OP_MAX_RANK], out_dims[OP_MAX_RANK], index[OP_MAX_RANK] = {0}, rank = kit_shape(indices, dims);
  ptrdiff_t strides[OP_MAX_RANK];
  kit_shape(out, out_dims);
  math_strides(rank, out_dims, strides);
  for (size_t i = 0; i < rank; i++) {
    if (i != (size_t)axis && dims[i] > out_dims[i]) {
      return op_run_fail(ctx, "axis %zu: indices has %zu places, data has %zu", i, dims[i], out_dims[i]);
    }
  }
  size_t n = dims[rank - 1], begin = 0, step = (size_t)axis == rank - 1 ? 0 : 1;
  do {
    size_t base = 0;
    for (size_t i = 0; i + 1 < rank; i++) base += i == (size_t)axis ? 0 : index[i] * (size_t)strides[i];
    OS_TRY(scatter_elements__row(ctx, &how, out, base, begin, n, step, (size_t)strides[axis], axis));
    begin += n;
  } while (kit_next(rank - 1, dims, index));
  return OS_OK;
}

// ---- ScatterND --------------------------------------------------------------------------------------------

static os_status scatter_nd__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank, index_rank, update_rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *index_dims = op_infer_dims(ctx, 1, &index_rank);
  const op_dim *update_dims = op_infer_dims(ctx, 2, &update_rank);
  if (rank < 0 || index_rank < 0) return OS_OK;
  if (rank < 1 || index_rank < 1) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "data has rank %d and indices %d; both must be 1 or more",
                         (int)rank, (int)index_rank);
  }
  op_dim depth = index_dims[index_rank - 1];
  if (depth < 0) return OS_OK;
  if (depth > rank) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "indices name %lld axes of data, which has rank %d",
                         (long long)depth, (int)rank);
  }
  OS_TRY(kit_want_rank(ctx, 2, index_rank - 1 + rank - (int32_t)depth, "updates"));
  for (int32_t i = 0; i < update_rank; i++) {
    op_dim wanted = i < index_rank - 1 ? index_dims[i] : dims[i - (index_rank - 1) + (int32_t)depth];
    OS_TRY(op_infer_merge_dim(ctx, wanted, update_dims[i], "updates", NULL));
  }
  return OS_OK;
}

static os_status scatter_nd__compute(op_run *ctx) {
  op_tensor *out;
  scatter_reduction how;
  OS_TRY(scatter__begin(ctx, &out, &how));
  const op_tensor *indices = op_run_input(ctx, 1), *updates = op_run_input(ctx, 2);
  int64_t depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : -1;
  if (depth < 0 || depth > out->rank) return kit_shape_broken(ctx, "indices");
  size_t row = kit_extent(out, (int32_t)depth, out->rank), width = op_elem_size(out->elem);
  size_t tuples = kit_extent(indices, 0, indices->rank - 1);
  if ((size_t)updates->count != tuples * row) return kit_shape_broken(ctx, "updates");
  if (updates->count == 0) return OS_OK;
  for (size_t t = 0; t < tuples; t++) {
    size_t at = 0;
    for (int64_t k = 0; k < depth; k++) {
      int64_t element = (int64_t)t * depth + k, index = kit_int(indices, element), dim = out->dims[k];
      int64_t place = index < 0 ? index + dim : index;
      if (place < 0 || place >= dim) return scatter__out_of_range(ctx, index, element, (int32_t)k, dim);
      at = at * (size_t)dim + (size_t)place;
    }
    scatter__put(&how, kit_at(out, at * row), kit_at(updates, t * row), row, width);
  }
  return OS_OK;
}

// ---- TensorScatter ----------------------------------------------------------------------------------------

enum { TENSOR_SCATTER_LINEAR, TENSOR_SCATTER_CIRCULAR };

static int tensor_scatter__mode(const op_node *node) { return kit_word(node, "mode", "linear\0circular\0"); }

static os_status tensor_scatter__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank, update_rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *update_dims = op_infer_dims(ctx, 1, &update_rank);
  if (tensor_scatter__mode(op_infer_node(ctx)) > TENSOR_SCATTER_CIRCULAR) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "mode must be linear or circular");
  }
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, -2, rank, &axis));
  if (axis == 0) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "axis is 0, the batch axis");
  OS_TRY(kit_want_rank(ctx, 1, rank, "update"));
  for (int32_t i = 0; i < update_rank; i++) {
    if (i != axis)
      OS_TRY(op_infer_merge_dim(ctx, dims[i], update_dims[i], "past_cache and update", NULL));
    else if (dims[i] >= 0 && update_dims[i] > dims[i]) {
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "update has %lld places on axis %d, past_cache %lld",
                           (long long)update_dims[i], (int)axis, (long long)dims[i]);
    }
  }
  return OS_OK;
}

static os_status tensor_scatter__compute(op_run *ctx) {
  const op_tensor *cache = op_run_input(ctx, 0), *update = op_run_input(ctx, 1),
                  *starts = op_run_input(ctx, 2);
  op_tensor *out = op_run_output(ctx, 0);
  int32_t axis = kit_run_axis(ctx, -2, out->rank);
  if (update->elem != out->elem || update->rank != out->rank || axis < 1)
    return kit_shape_broken(ctx, "update");
  OS_TRY(kit_copy(out, cache));
  if (update->count == 0) return OS_OK;
  OS_TRY(kit_keep(out, update));
  bool circular = tensor_scatter__mode(op_run_node(ctx)) == TENSOR_SCATTER_CIRCULAR;
  int64_t room = out->dims[axis], length = update->dims[axis];
  size_t batches = (size_t)out->dims[0], prefixes = kit_extent(out, 0, axis),
         row = kit_extent(out, axis + 1, out->rank);
  size_t bytes = row * op_elem_size(out->elem);
  if (starts && (size_t)starts->count != batches) return kit_shape_broken(ctx, "write_indices");
  if ((size_t)update->count != prefixes * (size_t)length * row) return kit_shape_broken(ctx, "update");
  for (size_t p = 0; p < prefixes; p++) {
    size_t batch = p / (prefixes / batches);
    int64_t start = starts ? kit_int(starts, (int64_t)batch) : 0;
    if (start < 0 || start >= room || (!circular && start + length > room) || length > room) {
      return op_run_fail(ctx, "write_indices[%zu] is %lld; the cache has %lld places, the update %lld", batch,
                         (long long)start, (long long)room, (long long)length);
    }
    for (int64_t t = 0; t < length; t++) {
      size_t place = (size_t)((start + t) % room);
      memcpy(kit_at(out, (p * (size_t)room + place) * row),
             kit_at(update, (p * (size_t)length + (size_t)t) * row), bytes);
    }
  }
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

#define SCATTER(name, version, family) \
  {.op_type = name,                    \
   .since = version,                   \
   .traits = OP_PURE,                  \
   .infer = family##__infer,           \
   .plan = scatter__plan,              \
   .compute = family##__compute}

static const op_row rows[] = {
    SCATTER("Scatter", 9, scatter_elements),
    SCATTER("ScatterElements", 11, scatter_elements), // 16: reduction add, mul; 18: max, min
    SCATTER("ScatterND", 11, scatter_nd),
    SCATTER("TensorScatter", 24, tensor_scatter),
};

OP_FAMILY(scatter, rows);
