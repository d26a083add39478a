// Slice, Pad and CenterCropPad: parts of a tensor, and more than it.

#include "floats.h"
#include "kit.h"

// ---- Slice ------------------------------------------------------------------------------------------------

enum { SLICE_HUGE = INT32_MAX };                   // what models write for "to the end"
static const int64_t SLICE_FAR = INT64_C(1) << 48; // beyond any tensor

// One axis of a slice with exact bounds: where it begins and how many elements it has.
static int64_t slice__exact(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first) {
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  if (start < 0) start = start < -dim ? -1 : start + dim;
  if (end < 0) end = end < -dim ? -1 : end + dim;
  if (start < 0) start = low < 0 ? low : 0;
  if (end < low) end = low;
  if (start > high) start = high;
  if (end > high) end = high;
  *first = start;
  if (step > 0) return end > start ? (int64_t)(((uint64_t)(end - start) - 1) / (uint64_t)step + 1) : 0;
  uint64_t back = (uint64_t)0 - (uint64_t)step;
  return start > end ? (int64_t)(((uint64_t)(start - end) - 1) / back + 1) : 0;
}

// Where a bound lies on a symbolic axis when stepping forward.
static op_dim slice__bound(op_infer *ctx, op_dim dim, op_dim bound) {
  if (bound == dim) return dim;
  if (!op_dim_is_number(bound)) return op_dim_min(ctx, bound, dim);
  if (bound >= SLICE_HUGE) return dim;
  if (bound < -SLICE_HUGE || bound == 0) return 0;
  return bound < 0 ? op_dim_max(ctx, op_dim_add(ctx, dim, bound), 0) : op_dim_min(ctx, bound, dim);
}

static op_dim slice__dim(op_infer *ctx, op_dim dim, op_dim start, op_dim end, op_dim step) {
  int64_t first;
  bool from = op_dim_is_number(start), to = op_dim_is_number(end);
  if (!op_dim_is_number(step)) return OP_DIM_UNKNOWN;
  if (dim >= 0 && from && to) return slice__exact(dim, start, end, step, &first);
  if (step < 0) {
    bool whole = from && (start == -1 || start >= SLICE_HUGE) && to && end <= -SLICE_HUGE;
    return whole ? op_dim_ceildiv(ctx, dim, step <= -SLICE_HUGE ? SLICE_HUGE : -step) : OP_DIM_UNKNOWN;
  }
  // The last k elements: as many as there are.
  if (from && start < 0 && start >= -SLICE_HUGE && to && end >= SLICE_HUGE) {
    return op_dim_ceildiv(ctx, op_dim_min(ctx, dim, -start), step);
  }
  op_dim length = op_dim_sub(ctx, slice__bound(ctx, dim, end), slice__bound(ctx, dim, start));
  if (start != 0) length = op_dim_max(ctx, length, 0);
  return op_dim_ceildiv(ctx, length, step);
}

// The four lists of a Slice: attributes of version 1, or inputs.
typedef struct slice_lists {
  kit_list starts, ends, axes, steps;
  bool has_axes, has_steps;
} slice_lists;

static void slice__lists(op_infer *ctx, slice_lists *out) {
  bool written = false;
  kit_either_list(ctx, 1, "starts", &out->starts, &written);
  kit_either_list(ctx, 2, "ends", &out->ends, &written);
  kit_either_list(ctx, 3, "axes", &out->axes, &out->has_axes);
  kit_infer_list(ctx, 4, &out->steps);
  out->has_steps = op_infer_has_input(ctx, 4);
}

static os_status slice__check_counts(op_infer *ctx, const slice_lists *lists) {
  const kit_list *others[] = {&lists->ends, &lists->axes, &lists->steps};
  static const char *const names[] = {"ends", "axes", "steps"};
  for (size_t i = 0; lists->starts.present && i < 3; i++) {
    if (others[i]->present && others[i]->count != lists->starts.count) {
      return op_infer_fail(ctx, OP_FAULT_VALUE, "starts has %zu entries, %s has %zu", lists->starts.count,
                           names[i], others[i]->count);
    }
  }
  for (size_t i = 0; i < lists->steps.count; i++) {
    if (lists->steps.at[i] == 0) return op_infer_fail(ctx, OP_FAULT_VALUE, "steps[%zu] is 0", i);
  }
  return OS_OK;
}

static void slice__small(op_infer *ctx, op_dim start, op_dim end, op_dim step) {
  size_t count = 0;
  const op_dim *small = op_infer_small(ctx, 0, &count);
  if (!small || !op_dim_is_number(start) || !op_dim_is_number(end) || !op_dim_is_number(step)) return;
  op_dim picked[KIT_NUMBERS];
  int64_t first, n = slice__exact((int64_t)count, start, end, step, &first);
  if (n > KIT_NUMBERS) return;
  for (int64_t i = 0; i < n; i++) picked[i] = small[first + (n > 1 ? i * step : 0)];
  op_infer_set_small(ctx, 0, picked, (size_t)n, false);
}

static os_status slice__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  slice_lists lists;
  slice__lists(ctx, &lists);
  OS_TRY(slice__check_counts(ctx, &lists));
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  const kit_list *starts = &lists.starts;
  int32_t axes[OP_MAX_RANK];
  bool axes_known = kit_all_known(&lists.axes);
  if (axes_known) OS_TRY(kit_infer_axes(ctx, &lists.axes, rank, "axes", axes));
  for (int32_t i = 0; !lists.has_axes && i < rank; i++) axes[i] = i;
  if (!lists.has_axes && starts->present && starts->count > (size_t)rank) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "starts has %zu entries for an input of rank %d", starts->count,
                         (int)rank);
  }
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!out || (lists.has_axes && !axes_known)) return OS_OK;
  if (!starts->present && !axes_known) return OS_OK;
  for (int32_t i = 0; i < rank; i++) out[i] = dims[i];
  size_t count = starts->present ? starts->count : lists.axes.count;
  for (size_t i = 0; i < count; i++) {
    op_dim start = starts->at[i], end = lists.ends.at[i], step = lists.has_steps ? lists.steps.at[i] : 1;
    out[axes[i]] = slice__dim(ctx, dims[axes[i]], start, end, step);
    if (rank == 1) slice__small(ctx, start, end, step);
  }
  return OS_OK;
}

// Integer i of an input or, in version 1, of the attribute.
static int64_t slice__param(const op_run *ctx, uint32_t input, const char *name, size_t i, size_t *count) {
  const op_tensor *tensor = op_run_input(ctx, input);
  if (tensor) {
    *count = (size_t)tensor->count;
    return i < *count ? kit_int(tensor, (int64_t)i) : 0;
  }
  const int64_t *ints = op_attr_ints(op_run_node(ctx), name, count);
  return i < *count ? ints[i] : 0;
}

static os_status slice__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (out->rank != in->rank) return kit_shape_broken(ctx, "the slice");
  size_t in_dims[OP_MAX_RANK], dims[OP_MAX_RANK], rank = kit_shape(in, in_dims), count = 0, other = 0;
  ptrdiff_t to[OP_MAX_RANK], from[OP_MAX_RANK], offset = 0;
  kit_shape(out, dims);
  math_strides(rank, in_dims, from);
  math_strides(rank, dims, to);
  slice__param(ctx, 1, "starts", 0, &count);
  for (size_t i = 0; i < count; i++) {
    int64_t start = slice__param(ctx, 1, "starts", i, &other), end = slice__param(ctx, 2, "ends", i, &other);
    int64_t listed = slice__param(ctx, 3, "axes", i, &other), first;
    int32_t axis = kit_axis(other ? listed : (int64_t)i, in->rank);
    int64_t step = op_run_input(ctx, 4) ? slice__param(ctx, 4, "steps", i, &other) : 1;
    if (axis < 0 || axis >= in->rank || step == 0) return op_run_fail(ctx, "axes or steps are out of range");
    if (slice__exact(in->dims[axis], start, end, step, &first) != out->dims[axis]) {
      return kit_shape_broken(ctx, "the slice");
    }
    if (out->count == 0) continue;
    offset += (ptrdiff_t)first * from[axis];
    from[axis] = out->dims[axis] > 1 ? from[axis] * (ptrdiff_t)step : 0;
  }
  if (out->count == 0) return OS_OK;
  size_t width = op_elem_size(in->elem);
  math_copy_strided(out->data, (const char *)in->data + offset * (ptrdiff_t)width, width, rank, dims, to,
                    from);
  return kit_keep(out, in);
}

// ---- Pad --------------------------------------------------------------------------------------------------

typedef enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP, PAD_MODES } pad_mode;

static pad_mode pad__mode(const op_node *node) {
  return (pad_mode)kit_word(node, "mode", "constant\0reflect\0edge\0wrap\0");
}

static const char *pad__attribute(const op_node *node) {
  return op_node_since(node) < 2 ? "paddings" : "pads";
}

// Pads and axes as inference knows them. `begin` and `end` have one entry per axis.
static os_status pad__read(op_infer *ctx, int32_t rank, op_dim *begin, op_dim *end, bool *known) {
  kit_list pads, axes_list;
  bool written = false;
  kit_either_list(ctx, 1, pad__attribute(op_infer_node(ctx)), &pads, &written);
  kit_infer_list(ctx, 3, &axes_list);
  int32_t axes[OP_MAX_RANK];
  size_t count = (size_t)rank;
  *known = false;
  for (int32_t i = 0; i < rank; i++) {
    axes[i] = i;
    begin[i] = end[i] = 0;
  }
  if (op_infer_has_input(ctx, 3)) {
    if (!kit_all_known(&axes_list)) return OS_OK;
    OS_TRY(kit_infer_axes(ctx, &axes_list, rank, "axes", axes));
    count = axes_list.count;
  }
  if (!pads.present) return OS_OK;
  if (pads.count != 2 * count) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "%s has %zu entries for %zu axes, expected %zu",
                         pad__attribute(op_infer_node(ctx)), pads.count, count, 2 * count);
  }
  for (size_t i = 0; i < count; i++) {
    begin[axes[i]] = pads.at[i];
    end[axes[i]] = pads.at[count + i];
  }
  *known = true;
  return OS_OK;
}

static os_status pad__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  pad_mode mode = pad__mode(op_infer_node(ctx));
  os_str name = op_attr_string(op_infer_node(ctx), "mode", "constant");
  if (mode == PAD_MODES) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "mode is \"%.*s\"; it must be constant, reflect, edge or wrap", (int)name.len,
                         name.data);
  }
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!out) return OS_OK;
  op_dim begin[OP_MAX_RANK], end[OP_MAX_RANK];
  bool known;
  OS_TRY(pad__read(ctx, rank, begin, end, &known));
  for (int32_t i = 0; known && i < rank; i++) {
    out[i] = op_dim_add(ctx, op_dim_add(ctx, dims[i], begin[i]), end[i]);
    if (dims[i] < 0 || !op_dim_is_number(begin[i]) || !op_dim_is_number(end[i])) continue;
    if (out[i] < 0 && out[i] != OP_DIM_UNKNOWN) {
      return op_infer_fail(ctx, OP_FAULT_VALUE,
                           "axis %d: pads %lld and %lld leave less than nothing of a dim of %lld", (int)i,
                           (long long)begin[i], (long long)end[i], (long long)dims[i]);
    }
    if (mode != PAD_CONSTANT && dims[i] == 0 && out[i] > 0) {
      return op_infer_fail(ctx, OP_FAULT_VALUE, "axis %d is empty; mode %.*s has nothing to repeat", (int)i,
                           (int)name.len, name.data);
    }
  }
  return OS_OK;
}

static os_status pad__plan(op_plan *ctx) {
  const op_tensor *out = op_plan_output(ctx, 0);
  size_t places = 0;
  for (int32_t i = 0; out && i < out->rank; i++) places += (size_t)out->dims[i];
  if (pad__mode(op_plan_node(ctx)) != PAD_CONSTANT) op_plan_scratch(ctx, places * sizeof(size_t));
  return OS_OK;
}

// Pads at the begin of every axis. False when they do not give the output's shape.
static bool pad__begins(const op_run *ctx, const op_tensor *in, const op_tensor *out, int64_t *begin) {
  const op_tensor *pads = op_run_input(ctx, 1), *axes = op_run_input(ctx, 3);
  size_t listed = 0;
  const int64_t *attribute = op_attr_ints(op_run_node(ctx), pad__attribute(op_run_node(ctx)), &listed);
  if (pads) listed = (size_t)pads->count;
  size_t count = axes ? (size_t)axes->count : (size_t)in->rank;
  if (listed != 2 * count || out->rank != in->rank) return false;
  int64_t end[OP_MAX_RANK] = {0};
  for (int32_t i = 0; i < in->rank; i++) begin[i] = 0;
  for (size_t i = 0; i < count; i++) {
    int32_t axis = kit_axis(axes ? kit_int(axes, (int64_t)i) : (int64_t)i, in->rank);
    if (axis < 0 || axis >= in->rank) return false;
    begin[axis] = pads ? kit_int(pads, (int64_t)i) : attribute[i];
    end[axis] = pads ? kit_int(pads, (int64_t)(count + i)) : attribute[count + i];
  }
  for (int32_t i = 0; i < in->rank; i++) {
    if (begin[i] < -SLICE_FAR || begin[i] > SLICE_FAR || end[i] < -SLICE_FAR || end[i] > SLICE_FAR)
      return false;
    if (in->dims[i] + begin[i] + end[i] != out->dims[i]) return false;
  }
  return true;
}

// The constant in the element type: an input of one element, the attribute of old versions, or zero.
static os_status pad__fill(op_run *ctx, op_tensor *out) {
  size_t width = op_elem_size(out->elem);
  const op_tensor *value = op_run_input(ctx, 2);
  if (value && value->count > 0) {
    if (value->elem != out->elem) return op_run_fail(ctx, "constant_value has another type than data");
    math_fill(out->data, value->data, (size_t)out->count, width);
    return kit_keep(out, value);
  }
  double number = op_attr_float(op_run_node(ctx), "value", 0);
  uint64_t element = 0;
  if (number != 0 && math_cast(&element, (int)out->elem, &number, MATH_F64, 1, NULL)) {
    math_fill(out->data, &element, (size_t)out->count, width);
  } else {
    kit_zero(out);
  }
  return OS_OK;
}

static os_status pad__constant(op_run *ctx, op_tensor *out, const op_tensor *in, const int64_t *begin) {
  OS_TRY(pad__fill(ctx, out));
  size_t in_dims[OP_MAX_RANK], out_dims[OP_MAX_RANK], dims[OP_MAX_RANK], rank = kit_shape(in, in_dims);
  ptrdiff_t to[OP_MAX_RANK], from[OP_MAX_RANK], to_offset = 0, from_offset = 0;
  kit_shape(out, out_dims);
  math_strides(rank, in_dims, from);
  math_strides(rank, out_dims, to);
  for (size_t i = 0; i < rank; i++) {
    int64_t first = begin[i] < 0 ? -begin[i] : 0, last = out->dims[i] - begin[i];
    if (last > in->dims[i]) last = in->dims[i];
    if (last <= first) return OS_OK;
    dims[i] = (size_t)(last - first);
    from_offset += (ptrdiff_t)first * from[i];
    to_offset += (ptrdiff_t)(first + begin[i]) * to[i];
  }
  ptrdiff_t width = (ptrdiff_t)op_elem_size(in->elem);
  math_copy_strided((char *)out->data + to_offset * width, (const char *)in->data + from_offset * width,
                    (size_t)width, rank, dims, to, from);
  return kit_keep(out, in);
}

// Where place `at` of the padded axis comes from; `at` counts from the input's first element and may be negative. Pads that
// crop only move the window: what is repeated is the whole input.
static int64_t pad__source(pad_mode mode, int64_t at, int64_t dim) {
  if (mode == PAD_EDGE) return at < 0 ? 0 : at >= dim ? dim - 1 : at;
  int64_t period = mode == PAD_WRAP ? dim : 2 * (dim - 1);
  if (period == 0) return 0;
  int64_t place = at % period;
  if (place < 0) place += period;
  return place < dim ? place : period - place;
}

static os_status pad__repeat(op_run *ctx, op_tensor *out, const op_tensor *in, const int64_t *begin,
                             pad_mode mode) {
  // For each axis and place in the output, the input's offset.
  size_t *places = op_run_scratch(ctx), in_dims[OP_MAX_RANK], rank = kit_shape(in, in_dims);
  const size_t *axis_places[OP_MAX_RANK];
  ptrdiff_t strides[OP_MAX_RANK];
  if (in->count == 0) return op_run_fail(ctx, "an empty input has nothing to repeat");
  math_strides(rank, in_dims, strides);
  for (size_t i = 0; i < rank; i++) {
    axis_places[i] = places;
    for (int64_t k = 0; k < out->dims[i]; k++) {
      *places++ = (size_t)pad__source(mode, k - begin[i], in->dims[i]) * (size_t)strides[i];
    }
  }
  kit_pick_axes(out, in, axis_places);
  return kit_keep(out, in);
}

static os_status pad__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  int64_t begin[OP_MAX_RANK];
  pad_mode mode = pad__mode(op_run_node(ctx));
  if (!pad__begins(ctx, in, out, begin)) return kit_shape_broken(ctx, "the padded input");
  if (out->count == 0) return OS_OK;
  return mode == PAD_CONSTANT ? pad__constant(ctx, out, in, begin) : pad__repeat(ctx, out, in, begin, mode);
}

// ---- CenterCropPad ----------------------------------------------------------------------------------------

static os_status crop__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  const op_node *node = op_infer_node(ctx);
  int32_t rank, axes[OP_MAX_RANK];
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  OS_TRY(kit_want_rank(ctx, 1, 1, "shape"));
  if (rank < 0) return OS_OK;
  kit_list listed, shape;
  kit_attr_list(node, "axes", &listed);
  kit_infer_list(ctx, 1, &shape);
  size_t count = (size_t)rank;
  for (int32_t i = 0; i < rank; i++) axes[i] = i;
  if (op_attr_has(node, "axes")) {
    OS_TRY(kit_infer_axes(ctx, &listed, rank, "axes", axes));
    count = listed.count;
  }
  if (shape.present && shape.count != count) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "shape has %zu entries for %zu axes", shape.count, count);
  }
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!out) return OS_OK;
  for (int32_t i = 0; i < rank; i++) out[i] = dims[i];
  OS_TRY(kit_want_natural(ctx, &shape, "shape"));
  for (size_t i = 0; i < count; i++) out[axes[i]] = shape.at[i];
  return OS_OK;
}

// Both cropping and padding begin with the smaller half of the difference.
static os_status crop__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (out->rank != in->rank) return kit_shape_broken(ctx, "the input");
  int64_t begin[OP_MAX_RANK];
  for (int32_t i = 0; i < in->rank; i++) {
    int64_t more = out->dims[i] - in->dims[i];
    begin[i] = more >= 0 ? more / 2 : -(-more / 2);
  }
  return out->count == 0 ? OS_OK : pad__constant(ctx, out, in, begin);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("Slice", 1, OP_PURE, slice__infer, slice__compute), // 1: attributes; 10: inputs, steps
    // 1: paddings; 2: pads; 11: inputs; 18: axes; 19: wrap
    {.op_type = "Pad",
     .since = 1,
     .traits = OP_PURE,
     .infer = pad__infer,
     .plan = pad__plan,
     .compute = pad__compute},
    OP_ROW("CenterCropPad", 18, OP_PURE, crop__infer, crop__compute),
};

OP_FAMILY(slice, rows);
