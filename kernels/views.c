// Operators that change the shape and not the bytes, and those that answer a shape.

#include "kit.h"

// Rank-0 and rank-1 results keep what is known of a small integer input.
static void views__pass_small(op_infer *ctx, int32_t rank) {
  size_t count = 0;
  const op_dim *small = rank <= 1 ? op_infer_small(ctx, 0, &count) : NULL;
  if (small && (rank == 1 || count == 1)) op_infer_set_small(ctx, 0, small, count, rank == 0);
}

// For when bytes must move after all: the output is memory of its own.
static os_status views__compute(op_run *ctx) {
  const op_tensor *from = op_run_input(ctx, 0);
  op_tensor *to = op_run_output(ctx, 0);
  if (to->count != from->count) return kit_shape_broken(ctx, "the input");
  return kit_copy(to, from);
}

// ---- Identity ---------------------------------------------------------------------------------------------

static os_status identity__infer(op_infer *ctx) {
  op_infer_set_fact(ctx, 0, op_infer_input(ctx, 0));
  return OS_OK;
}

static os_status identity__compute(op_run *ctx) {
  op_value *value = op_run_input_value(ctx, 0);
  if (op_value_kind(value) == OP_TENSOR) return views__compute(ctx);
  op_run_set_output(ctx, 0, op_value_retain(value));
  return OS_OK;
}

// ---- Reshape ----------------------------------------------------------------------------------------------

// The target of a Reshape while it is being worked out. `copied` axes repeat the input's dim of the same place.
typedef struct reshape_target {
  int32_t rank;
  op_dim dims[OP_MAX_RANK];
  bool copied[OP_MAX_RANK];
  int32_t free_axis; // where -1 stands, or -1
  bool zero;         // a literal 0 (allowzero)
} reshape_target;

static os_status reshape__read(op_infer *ctx, const kit_list *shape, bool allow_zero, reshape_target *out) {
  int32_t in_rank;
  const op_dim *in = op_infer_dims(ctx, 0, &in_rank);
  out->rank = (int32_t)shape->count;
  out->free_axis = -1;
  for (int32_t i = 0; i < out->rank; i++) {
    op_dim number = out->dims[i] = shape->at[i];
    if (!op_dim_is_number(number)) continue;
    if (number < -1) {
      return op_infer_fail(ctx, OP_FAULT_VALUE, "shape[%d] is %lld; it must be -1 or more", (int)i,
                           (long long)number);
    }
    if (number == -1) {
      if (out->free_axis >= 0) {
        return op_infer_fail(ctx, OP_FAULT_VALUE, "shape has -1 twice, at %d and at %d", (int)out->free_axis,
                             (int)i);
      }
      out->free_axis = i;
      out->dims[i] = OP_DIM_UNKNOWN;
    } else if (number == 0 && allow_zero) {
      out->zero = true;
    } else if (number == 0) {
      if (in_rank >= 0 && i >= in_rank) {
        return op_infer_fail(ctx, OP_FAULT_VALUE, "shape[%d] is 0, but the input has rank %d", (int)i,
                             (int)in_rank);
      }
      out->copied[i] = in_rank >= 0;
      out->dims[i] = in_rank >= 0 ? in[i] : OP_DIM_UNKNOWN;
    }
  }
  if (out->zero && out->free_axis >= 0) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "with allowzero, shape cannot hold both 0 and -1");
  }
  return OS_OK;
}

// Products of the input's dims and of the target's other dims, with the copied ones left out of both; a copied 0 counts.
static void reshape__products(op_infer *ctx, const op_dim *in, int32_t in_rank, const reshape_target *target,
                              int32_t skip, op_dim *total, op_dim *rest) {
  *total = *rest = 1;
  for (int32_t i = 0; i < in_rank; i++) {
    bool copied = i < target->rank && target->copied[i] && in[i] != 0;
    if (!copied) *total = op_dim_mul(ctx, *total, in[i]);
  }
  for (int32_t i = 0; i < target->rank; i++) {
    bool copied = target->copied[i] && in[i] != 0;
    if (!copied && i != skip) *rest = op_dim_mul(ctx, *rest, target->dims[i]);
  }
}

static os_status reshape__fill_free(op_infer *ctx, const op_dim *in, int32_t in_rank,
                                    reshape_target *target) {
  op_dim total, rest;
  reshape__products(ctx, in, in_rank, target, target->free_axis, &total, &rest);
  if (rest == 0) {
    return op_infer_fail(ctx, OP_FAULT_VALUE,
                         "the -1 in shape can be anything: the other dims have a product of 0");
  }
  if (total >= 0 && rest > 0 && total % rest != 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE,
                         "%lld elements cannot be reshaped: the dims of shape other than -1 hold %lld",
                         (long long)total, (long long)rest);
  }
  target->dims[target->free_axis] = op_dim_floordiv(ctx, total, rest);
  return OS_OK;
}

static os_status reshape__check_count(op_infer *ctx, const op_dim *in, int32_t in_rank,
                                      reshape_target *target) {
  int32_t unknown = -1, unknowns = 0;
  for (int32_t i = 0; i < target->rank; i++) {
    if (target->dims[i] == OP_DIM_UNKNOWN && !target->copied[i]) unknown = i, unknowns++;
  }
  op_dim total, rest;
  reshape__products(ctx, in, in_rank, target, unknown, &total, &rest);
  if (unknowns == 0 && total >= 0 && rest >= 0 && total != rest) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%lld elements cannot take a shape of %lld elements",
                         (long long)total, (long long)rest);
  }
  bool exact = total > 0 && rest > 0 && total % rest == 0;
  if (unknowns == 1 && exact) target->dims[unknown] = total / rest;
  return OS_OK;
}

// Only the length of `shape` is known.
static void reshape__of_length(op_infer *ctx, op_dim length) {
  int32_t in_rank;
  const op_dim *in = op_infer_dims(ctx, 0, &in_rank);
  if (length < 0 || length > OP_MAX_RANK) return;
  op_dim *dims = op_infer_set_rank(ctx, 0, (int32_t)length);
  if (dims && length == 1 && in_rank >= 0) dims[0] = kit_product(ctx, in, 0, in_rank);
}

static os_status reshape__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(op_infer_rank(ctx, 1) > 1 ? kit_want_rank(ctx, 1, 1, "shape") : OS_OK);
  kit_list shape;
  bool written = false;
  kit_either_list(ctx, 1, "shape", &shape, &written);
  if (!shape.present) {
    if (written && op_infer_rank(ctx, 1) == 1) reshape__of_length(ctx, op_infer_dim(ctx, 1, 0));
    return OS_OK;
  }
  if (shape.count > OP_MAX_RANK) {
    op_infer_set_rank(ctx, 0, (int32_t)shape.count);
    return OS_OK;
  }
  reshape_target target = {0};
  OS_TRY(reshape__read(ctx, &shape, op_attr_int(node, "allowzero", 0) != 0, &target));
  int32_t in_rank;
  const op_dim *in = op_infer_dims(ctx, 0, &in_rank);
  if (in_rank >= 0) {
    OS_TRY(target.free_axis >= 0 ? reshape__fill_free(ctx, in, in_rank, &target)
                                 : reshape__check_count(ctx, in, in_rank, &target));
  }
  op_infer_set_shape(ctx, 0, target.rank, target.dims);
  views__pass_small(ctx, target.rank);
  return OS_OK;
}

// ---- Squeeze, Unsqueeze, Flatten --------------------------------------------------------------------------

static os_status squeeze__drop(op_infer *ctx, const kit_list *list, bool *drop) {
  int32_t rank, axes[OP_MAX_RANK];
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  OS_TRY(kit_infer_axes(ctx, list, rank, "axes", axes));
  for (size_t i = 0; i < list->count; i++) {
    drop[axes[i]] = true;
    if (dims[axes[i]] >= 0 && dims[axes[i]] != 1) {
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "axis %d cannot be squeezed: its dim is %lld, not 1",
                           (int)axes[i], (long long)dims[axes[i]]);
    }
  }
  return OS_OK;
}

static os_status squeeze__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  kit_list list;
  bool written = false;
  kit_either_list(ctx, 1, "axes", &list, &written);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  bool drop[OP_MAX_RANK] = {false};
  if (kit_all_known(&list)) {
    OS_TRY(squeeze__drop(ctx, &list, drop));
  } else if (written) {
    op_dim count = op_infer_rank(ctx, 1) == 1 ? op_infer_dim(ctx, 1, 0) : op_infer_rank(ctx, 1) == 0 ? 1 : -1;
    if (count >= 0 && count <= rank) op_infer_set_rank(ctx, 0, rank - (int32_t)count);
    return OS_OK;
  } else {
    for (int32_t i = 0; i < rank; i++) {
      if (dims[i] < 0) return OS_OK;
      drop[i] = dims[i] == 1;
    }
  }
  op_dim out[OP_MAX_RANK];
  int32_t kept = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (!drop[i]) out[kept++] = dims[i];
  }
  op_infer_set_shape(ctx, 0, kept, out);
  views__pass_small(ctx, kept);
  return OS_OK;
}

static os_status unsqueeze__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  kit_list list;
  bool written = false;
  kit_either_list(ctx, 1, "axes", &list, &written);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  if (!kit_all_known(&list)) {
    op_dim count = list.present                 ? (op_dim)list.count
                   : op_infer_rank(ctx, 1) == 1 ? op_infer_dim(ctx, 1, 0)
                                                : -1;
    if (count >= 0 && count <= OP_MAX_RANK) op_infer_set_rank(ctx, 0, rank + (int32_t)count);
    return OS_OK;
  }
  int32_t out_rank = rank + (int32_t)list.count;
  if (out_rank > OP_MAX_RANK) {
    op_infer_set_rank(ctx, 0, out_rank);
    return OS_OK;
  }
  int32_t axes[OP_MAX_RANK];
  OS_TRY(kit_infer_axes(ctx, &list, out_rank, "axes", axes));
  bool added[OP_MAX_RANK] = {false};
  for (size_t i = 0; i < list.count; i++) added[axes[i]] = true;
  op_dim out[OP_MAX_RANK];
  for (int32_t i = 0, from = 0; i < out_rank; i++) out[i] = added[i] ? 1 : dims[from++];
  op_infer_set_shape(ctx, 0, out_rank, out);
  views__pass_small(ctx, out_rank);
  return OS_OK;
}

static os_status flatten__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  op_dim *out = op_infer_set_rank(ctx, 0, 2);
  int64_t axis = op_attr_int(op_infer_node(ctx), "axis", 1);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0 || !out) return OS_OK;
  if (axis < -rank || axis > rank) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "axis is %lld; for rank %d it must be in %d..%d",
                         (long long)axis, (int)rank, -(int)rank, (int)rank);
  }
  int32_t split = kit_axis(axis, rank);
  out[0] = kit_product(ctx, dims, 0, split);
  out[1] = kit_product(ctx, dims, split, rank);
  return OS_OK;
}

// ---- Shape, Size ------------------------------------------------------------------------------------------

static int32_t shape__clamp(int64_t place, int32_t rank) {
  if (place < 0) place = place < -rank ? 0 : place + rank;
  return place > rank ? rank : (int32_t)place;
}

// The axes first..last-1 that Shape answers. Its attributes are clamped, never out of range.
static void shape__range(const op_node *node, int32_t rank, int32_t *first, int32_t *last) {
  *first = shape__clamp(op_attr_int(node, "start", 0), rank);
  *last = op_attr_has(node, "end") ? shape__clamp(op_attr_int(node, "end", 0), rank) : rank;
  if (*last < *first) *last = *first;
}

static os_status shape__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT64);
  op_dim *out = op_infer_set_rank(ctx, 0, 1);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0 || !out) return OS_OK;
  int32_t first, last;
  shape__range(op_infer_node(ctx), rank, &first, &last);
  out[0] = last - first;
  op_infer_set_small(ctx, 0, dims + first, (size_t)(last - first), false);
  return OS_OK;
}

static os_status shape__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  int32_t first, last;
  shape__range(op_run_node(ctx), in->rank, &first, &last);
  if (out->count != last - first) return kit_shape_broken(ctx, "the list of dims");
  for (int32_t i = first; i < last; i++) ((int64_t *)out->data)[i - first] = in->dims[i];
  return OS_OK;
}

static os_status size__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT64);
  op_infer_set_rank(ctx, 0, 0);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  op_dim size = kit_product(ctx, dims, 0, rank);
  op_infer_set_small(ctx, 0, &size, 1, true);
  return OS_OK;
}

static os_status size__compute(op_run *ctx) {
  op_tensor *out = op_run_output(ctx, 0);
  *(int64_t *)out->data = op_run_input(ctx, 0)->count;
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("Identity", 1, OP_PURE | OP_VIEW | OP_ANY_VALUE, identity__infer, identity__compute),
    OP_ROW("Reshape", 1, OP_PURE | OP_VIEW, reshape__infer,
           views__compute), // 1: shape as an attribute; 14: allowzero
    OP_ROW("Squeeze", 1, OP_PURE | OP_VIEW, squeeze__infer, views__compute), // 1: axes as an attribute
    OP_ROW("Unsqueeze", 1, OP_PURE | OP_VIEW, unsqueeze__infer, views__compute),
    OP_ROW("Flatten", 1, OP_PURE | OP_VIEW, flatten__infer, views__compute),
    OP_ROW("Shape", 1, OP_PURE, shape__infer, shape__compute),
    OP_ROW("Size", 1, OP_PURE, size__infer, size__compute),
};

OP_FAMILY(views, rows);
