// Compress, NonZero, Unique, OneHot: what to keep is decided by the data.

#include "floats.h"
#include "kit.h"

// ---- Compress ---------------------------------------------------------------------------------------------

// Number of true entries.
static int64_t compress__kept(const op_tensor *condition) {
  int64_t kept = 0;
  for (int64_t i = 0; i < condition->count; i++) kept += ((const uint8_t *)condition->data)[i] != 0;
  return kept;
}

static os_status compress__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(kit_want_rank(ctx, 1, 1, "condition"));
  const op_tensor *condition = op_infer_value(ctx, 1);
  op_dim kept = condition && condition->elem == OP_BOOL ? compress__kept(condition) : OP_DIM_UNKNOWN;
  const op_node *node = op_infer_node(ctx);
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (!op_attr_has(node, "axis")) {
    op_infer_set_shape(ctx, 0, 1, &kept);
    return OS_OK;
  }
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  for (int32_t i = 0; out && i < rank; i++) out[i] = i == axis ? kept : dims[i];
  return OS_OK;
}

static os_status compress__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0), *condition = op_run_input(ctx, 1);
  const op_node *node = op_run_node(ctx);
  bool flat = !op_attr_has(node, "axis");
  int32_t axis = flat ? 0 : kit_run_axis(ctx, 0, in->rank);
  int64_t places = flat ? in->count : in->dims[axis], kept = compress__kept(condition), dims[OP_MAX_RANK];
  for (int64_t i = places; i < condition->count; i++) {
    if (((const uint8_t *)condition->data)[i]) {
      return op_run_fail(ctx, "condition[%lld] is true, but there are only %lld places", (long long)i,
                         (long long)places);
    }
  }
  for (int32_t i = 0; !flat && i < in->rank; i++) dims[i] = in->dims[i];
  dims[axis] = kept;
  op_tensor *out = op_run_allocate(ctx, 0, in->elem, flat ? 1 : in->rank, dims);
  if (!out) return OS_OUT_OF_MEMORY;
  if (out->count == 0) return OS_OK;
  size_t outer = flat ? 1 : kit_extent(in, 0, axis), inner = flat ? 1 : kit_extent(in, axis + 1, in->rank);
  size_t bytes = inner * op_elem_size(in->elem);
  char *to = out->data;
  for (size_t o = 0; o < outer; o++) {
    for (int64_t i = 0; i < condition->count && i < places; i++) {
      if (!((const uint8_t *)condition->data)[i]) continue;
      memcpy(to, kit_at(in, (o * (size_t)places + (size_t)i) * inner), bytes);
      to += bytes;
    }
  }
  return kit_keep(out, in);
}

// ---- NonZero ----------------------------------------------------------------------------------------------

static os_status nonzero__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT64);
  op_dim *out = op_infer_set_rank(ctx, 0, 2);
  if (out && op_infer_rank(ctx, 0) >= 0) out[0] = op_infer_rank(ctx, 0);
  return OS_OK;
}

// Is element i other than zero? Of strings: not empty.
static bool nonzero__test(const op_tensor *in, size_t i) {
  const unsigned char *at = (const unsigned char *)kit_at(in, i);
  switch (in->elem) {
  case OP_FLOAT: return *(const float *)(const void *)at != 0;
  case OP_DOUBLE: return *(const double *)(const void *)at != 0;
  case OP_COMPLEX64:
    return ((const float *)(const void *)at)[0] != 0 || ((const float *)(const void *)at)[1] != 0;
  case OP_COMPLEX128:
    return ((const double *)(const void *)at)[0] != 0 || ((const double *)(const void *)at)[1] != 0;
  case OP_STRING: return ((const os_str *)(const void *)at)->len != 0;
  case OP_FLOAT16:
  case OP_BFLOAT16: return (at[0] | (at[1] & 0x7f)) != 0;
  default: break;
  }
  size_t width = op_elem_size(in->elem);
  for (size_t k = 0; k < width; k++) {
    if (at[k]) return true;
  }
  return false;
}

static os_status nonzero__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  size_t count = (size_t)in->count, found = 0, dims[OP_MAX_RANK], rank = kit_shape(in, dims);
  for (size_t i = 0; i < count; i++) found += nonzero__test(in, i);
  int64_t shape[2] = {in->rank, (int64_t)found};
  op_tensor *out = op_run_allocate(ctx, 0, OP_INT64, 2, shape);
  if (!out) return OS_OUT_OF_MEMORY;
  if (out->count == 0) return OS_OK;
  size_t index[OP_MAX_RANK] = {0}, n = 0;
  int64_t *places = out->data;
  for (size_t i = 0; i < count; i++) {
    if (nonzero__test(in, i)) {
      for (size_t k = 0; k < rank; k++) places[k * found + n] = (int64_t)index[k];
      n++;
    }
    kit_next(rank, dims, index);
  }
  return OS_OK;
}

// ---- Unique -----------------------------------------------------------------------------------------------

// The input as `outer` x `places` x `inner`: what is compared are the places along one axis.
typedef struct unique_view {
  const op_tensor *in;
  size_t outer, places, inner;
} unique_view;

static int unique__compare_strings(os_str a, os_str b) {
  size_t n = a.len < b.len ? a.len : b.len;
  int order = n ? memcmp(a.data, b.data, n) : 0;
  return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

// NaN equals NaN and stands last.
static int unique__compare_doubles(double a, double b) {
  if (a != a || b != b) return (a != a) - (b != b);
  return (a > b) - (a < b);
}

static int unique__compare_elements(const op_tensor *in, size_t a, size_t b) {
  const void *data = in->data;
  switch (in->elem) {
  case OP_STRING: return unique__compare_strings(((const os_str *)data)[a], ((const os_str *)data)[b]);
  case OP_UINT64:
    return (((const uint64_t *)data)[a] > ((const uint64_t *)data)[b]) -
           (((const uint64_t *)data)[a] < ((const uint64_t *)data)[b]);
  case OP_COMPLEX64:
  case OP_COMPLEX128: {
    bool wide = in->elem == OP_COMPLEX128;
    for (size_t k = 0; k < 2; k++) {
      double x = wide ? ((const double *)data)[2 * a + k] : ((const float *)data)[2 * a + k];
      double y = wide ? ((const double *)data)[2 * b + k] : ((const float *)data)[2 * b + k];
      int order = unique__compare_doubles(x, y);
      if (order != 0) return order;
    }
    return 0;
  }
  case OP_FLOAT:
  case OP_DOUBLE:
  case OP_FLOAT16:
  case OP_BFLOAT16: return unique__compare_doubles(kit_double(in, (int64_t)a), kit_double(in, (int64_t)b));
  default: {
    int64_t x = kit_int(in, (int64_t)a), y = kit_int(in, (int64_t)b);
    return (x > y) - (x < y);
  }
  }
}

static int unique__compare(const unique_view *view, size_t a, size_t b) {
  for (size_t o = 0; o < view->outer; o++) {
    size_t base = o * view->places * view->inner;
    for (size_t i = 0; i < view->inner; i++) {
      int order = unique__compare_elements(view->in, base + a * view->inner + i, base + b * view->inner + i);
      if (order != 0) return order;
    }
  }
  return 0;
}

static bool unique__less(const void *view, size_t a, size_t b) { return unique__compare(view, a, b) < 0; }

static os_status unique__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  const op_node *node = op_infer_node(ctx);
  op_dim unknown = OP_DIM_UNKNOWN;
  for (uint32_t i = 1; i < op_infer_output_count(ctx); i++) {
    if (!op_infer_has_output(ctx, i)) continue;
    op_infer_set_elem(ctx, i, OP_INT64);
    op_infer_set_shape(ctx, i, 1, &unknown);
  }
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (!op_attr_has(node, "axis")) {
    op_infer_set_shape(ctx, 0, 1, &unknown);
    if (rank >= 0 && op_infer_has_output(ctx, 2)) {
      op_dim all = kit_product(ctx, dims, 0, rank);
      op_infer_set_shape(ctx, 2, 1, &all);
    }
    return OS_OK;
  }
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  for (int32_t i = 0; out && i < rank; i++) out[i] = i == axis ? unknown : dims[i];
  op_infer_set_shape(ctx, 2, 1, &dims[axis]);
  return OS_OK;
}

static unique_view unique__view(const op_node *node, const op_tensor *in) {
  if (!op_attr_has(node, "axis")) return (unique_view){in, 1, (size_t)in->count, 1};
  int32_t axis = kit_axis(op_attr_int(node, "axis", 0), in->rank);
  return (unique_view){in, kit_extent(in, 0, axis), (size_t)in->dims[axis],
                       kit_extent(in, axis + 1, in->rank)};
}

// Scratch: order, spare, group of each place, first place and count of each group.
enum { UNIQUE_ARRAYS = 5 };

static os_status unique__plan(op_plan *ctx) {
  const op_tensor *in = op_plan_input(ctx, 0);
  if (in)
    op_plan_scratch(ctx, UNIQUE_ARRAYS * (unique__view(op_plan_node(ctx), in).places + 1) * sizeof(size_t));
  return OS_OK;
}

typedef struct unique_groups {
  size_t count;
  size_t *of_place, *first, *sizes;
} unique_groups;

// Sorts the places, then numbers the groups of equal ones: in sorted order, or by their first place.
static unique_groups unique__group(const unique_view *view, size_t *scratch, bool sorted) {
  size_t n = view->places, *order = scratch, *spare = scratch + n;
  unique_groups groups = {.of_place = scratch + 2 * n, .first = scratch + 3 * n, .sizes = scratch + 4 * n};
  for (size_t i = 0; i < n; i++) order[i] = i;
  kit_sort(order, spare, n, unique__less, view);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || unique__compare(view, order[i - 1], order[i]) != 0) {
      groups.first[groups.count] = order[i]; // stable: the first of its equals
      groups.sizes[groups.count++] = 0;
    }
    groups.of_place[order[i]] = groups.count - 1;
    groups.sizes[groups.count - 1]++;
  }
  if (sorted) return groups;
  // spare: new number of each group; order: sizes by new number.
  size_t next = 0;
  for (size_t i = 0; i < n; i++) {
    size_t group = groups.of_place[i];
    if (groups.first[group] == i) {
      spare[group] = next;
      order[next++] = groups.sizes[group];
    }
    groups.of_place[i] = spare[group];
  }
  for (size_t i = n; i-- > 0;) groups.first[groups.of_place[i]] = i;
  memcpy(groups.sizes, order, groups.count * sizeof *order);
  return groups;
}

static os_status unique__list(op_run *ctx, uint32_t output, const size_t *values, size_t count) {
  if (!op_run_has_output(ctx, output)) return OS_OK;
  int64_t dim = (int64_t)count;
  op_tensor *out = op_run_allocate(ctx, output, OP_INT64, 1, &dim);
  if (!out) return OS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; i++) ((int64_t *)out->data)[i] = (int64_t)values[i];
  return OS_OK;
}

static os_status unique__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  const op_node *node = op_run_node(ctx);
  unique_view view = unique__view(node, in);
  unique_groups groups = unique__group(&view, op_run_scratch(ctx), op_attr_int(node, "sorted", 1) != 0);
  if (op_run_has_output(ctx, 0)) {
    int64_t dims[OP_MAX_RANK];
    bool flat = !op_attr_has(node, "axis");
    for (int32_t i = 0; i < in->rank; i++) dims[i] = in->dims[i];
    dims[flat ? 0 : kit_run_axis(ctx, 0, in->rank)] = (int64_t)groups.count;
    op_tensor *out = op_run_allocate(ctx, 0, in->elem, flat ? 1 : in->rank, dims);
    if (!out) return OS_OUT_OF_MEMORY;
    size_t bytes = view.inner * op_elem_size(in->elem);
    for (size_t o = 0; out->count > 0 && o < view.outer; o++) {
      for (size_t g = 0; g < groups.count; g++) {
        memcpy(kit_at(out, (o * groups.count + g) * view.inner),
               kit_at(in, (o * view.places + groups.first[g]) * view.inner), bytes);
      }
    }
    OS_TRY(kit_keep(out, in));
  }
  OS_TRY(unique__list(ctx, 1, groups.first, groups.count));
  OS_TRY(unique__list(ctx, 2, groups.of_place, view.places));
  return unique__list(ctx, 3, groups.sizes, groups.count);
}

// ---- OneHot -----------------------------------------------------------------------------------------------

static os_status onehot__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 2));
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  OS_TRY(kit_want_rank(ctx, 2, 1, "values"));
  if (op_infer_rank(ctx, 2) == 1 && op_infer_dim(ctx, 2, 0) >= 0 && op_infer_dim(ctx, 2, 0) != 2) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "values has %lld elements, expected 2",
                         (long long)op_infer_dim(ctx, 2, 0));
  }
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, -1, rank + 1, &axis));
  op_dim *out = op_infer_set_rank(ctx, 0, rank + 1);
  op_dim depth = kit_infer_number(ctx, 1);
  if (op_dim_is_number(depth) && depth < 0)
    return op_infer_fail(ctx, OP_FAULT_VALUE, "depth is %lld", (long long)depth);
  for (int32_t i = 0; out && i <= rank; i++) out[i] = i < axis ? dims[i] : i == axis ? depth : dims[i - 1];
  return OS_OK;
}

static os_status onehot__compute(op_run *ctx) {
  const op_tensor *indices = op_run_input(ctx, 0), *values = op_run_input(ctx, 2);
  op_tensor *out = op_run_output(ctx, 0);
  if (values->count != 2 || values->elem != out->elem || out->rank != indices->rank + 1) {
    return kit_shape_broken(ctx, "values");
  }
  if (out->count == 0) return OS_OK;
  int32_t axis = kit_run_axis(ctx, -1, out->rank);
  int64_t depth = out->dims[axis];
  size_t inner = kit_extent(out, axis + 1, out->rank), width = op_elem_size(out->elem);
  math_fill(out->data, values->data, (size_t)out->count, width);
  for (size_t i = 0; i < (size_t)indices->count; i++) {
    int64_t index = kit_int(indices, (int64_t)i), place = index < 0 ? index + depth : index;
    if (place < 0 || place >= depth) continue; // all off
    size_t at = (i / inner * (size_t)depth + (size_t)place) * inner + i % inner;
    memcpy(kit_at(out, at), kit_at(values, 1), width);
  }
  return kit_keep(out, values);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("Compress", 9, OP_PURE | OP_DATA_SHAPE, compress__infer, compress__compute),
    OP_ROW("NonZero", 9, OP_PURE | OP_DATA_SHAPE, nonzero__infer, nonzero__compute),
    {.op_type = "Unique",
     .since = 11,
     .traits = OP_PURE | OP_DATA_SHAPE,
     .infer = unique__infer,
     .plan = unique__plan,
     .compute = unique__compute},
    OP_ROW("OneHot", 9, OP_PURE, onehot__infer, onehot__compute),
};

OP_FAMILY(select, rows);
