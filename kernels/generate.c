// Constant, ConstantOfShape, Range, EyeLike: tensors out of nothing much.

#include "floats.h"
#include "kit.h"

// ---- Constant ---------------------------------------------------------------------------------------------

// The forms of a Constant other than `value`: attribute, element type, whether it is a list.
static const struct constant_form {
  const char *name;
  op_elem elem;
  bool list;
} constant_forms[] = {
    {"value_float", OP_FLOAT, false}, {"value_floats", OP_FLOAT, true},   {"value_int", OP_INT64, false},
    {"value_ints", OP_INT64, true},   {"value_string", OP_STRING, false}, {"value_strings", OP_STRING, true},
};

static const struct constant_form *constant__form(const op_node *node) {
  for (size_t i = 0; i < sizeof constant_forms / sizeof *constant_forms; i++) {
    if (op_attr_has(node, constant_forms[i].name)) return &constant_forms[i];
  }
  return NULL;
}

static size_t constant__count(const op_node *node, const struct constant_form *form) {
  size_t count = 1;
  if (form->list && form->elem == OP_FLOAT) op_attr_floats(node, form->name, &count);
  if (form->list && form->elem == OP_INT64) op_attr_ints(node, form->name, &count);
  if (form->list && form->elem == OP_STRING) op_attr_strings(node, form->name, &count);
  return count;
}

static os_status constant__check_one(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  size_t given = (size_t)op_attr_has(node, "value") + (size_t)op_attr_has(node, "sparse_value");
  for (size_t i = 0; i < sizeof constant_forms / sizeof *constant_forms; i++) {
    given += op_attr_has(node, constant_forms[i].name);
  }
  if (given == 1) return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                       "exactly one of value, sparse_value, value_* must be given, not %zu", given);
}

static os_status constant__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  OS_TRY(constant__check_one(ctx));
  const op_tensor *value = op_attr_tensor(node, "value");
  if (value) {
    op_infer_set_value(ctx, 0, value);
    return OS_OK;
  }
  const op_value *sparse = op_attr_sparse(node, "sparse_value");
  if (sparse) {
    const op_tensor *shape = op_sparse_shape(sparse);
    op_infer_set_elem(ctx, 0, shape->elem);
    op_infer_set_shape(ctx, 0, shape->rank, shape->dims);
    return OS_OK;
  }
  const struct constant_form *form = constant__form(node);
  if (!form) return OS_OK;
  op_infer_set_elem(ctx, 0, form->elem);
  op_dim count = (op_dim)constant__count(node, form);
  op_infer_set_shape(ctx, 0, form->list ? 1 : 0, &count);
  if (form->elem == OP_INT64 && count <= KIT_NUMBERS) {
    size_t n = 1;
    op_dim small[KIT_NUMBERS] = {kit_dim_from(op_attr_int(node, "value_int", 0))};
    const int64_t *ints = op_attr_ints(node, "value_ints", &n);
    for (op_dim i = 0; form->list && i < count; i++) small[i] = kit_dim_from(ints[i]);
    op_infer_set_small(ctx, 0, small, (size_t)count, !form->list);
  }
  return OS_OK;
}

// Indices are linear, or one row of coordinates each.
static os_status constant__densify(op_run *ctx, op_tensor *out, const op_value *sparse) {
  const op_tensor *values = op_sparse_values(sparse), *indices = op_sparse_indices(sparse);
  kit_zero(out);
  size_t columns = indices->rank == 2 ? (size_t)indices->dims[1] : 1, width = op_elem_size(out->elem);
  if (values->elem != out->elem || (size_t)indices->count != (size_t)values->count * columns ||
      (indices->rank == 2 && columns != (size_t)out->rank)) {
    return op_run_fail(ctx, "the indices of sparse_value do not fit its values");
  }
  for (int64_t i = 0; i < values->count; i++) {
    int64_t at = columns == 1 && indices->rank != 2 ? kit_int(indices, i) : 0;
    for (size_t k = 0; indices->rank == 2 && k < columns; k++) {
      int64_t index = kit_int(indices, i * (int64_t)columns + (int64_t)k);
      if (index < 0 || index >= out->dims[k])
        return op_run_fail(ctx, "an index of sparse_value is out of range");
      at = at * out->dims[k] + index;
    }
    if (at < 0 || at >= out->count) return op_run_fail(ctx, "an index of sparse_value is out of range");
    memcpy(kit_at(out, (size_t)at), kit_at(values, (size_t)i), width);
  }
  return kit_keep(out, values);
}

static os_status constant__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  op_tensor *out = op_run_output(ctx, 0);
  const op_tensor *value = op_attr_tensor(node, "value");
  if (value) return kit_copy(out, value);
  const op_value *sparse = op_attr_sparse(node, "sparse_value");
  if (sparse) return constant__densify(ctx, out, sparse);
  const struct constant_form *form = constant__form(node);
  if (!form || out->count != (int64_t)constant__count(node, form)) return kit_shape_broken(ctx, "the value");
  size_t count = 0;
  for (int64_t i = 0; i < out->count; i++) {
    if (form->elem == OP_FLOAT) {
      ((float *)out->data)[i] = form->list ? op_attr_floats(node, form->name, &count)[i]
                                           : (float)op_attr_float(node, form->name, 0);
    } else if (form->elem == OP_INT64) {
      ((int64_t *)out->data)[i] =
          form->list ? op_attr_ints(node, form->name, &count)[i] : op_attr_int(node, form->name, 0);
    } else {
      OS_TRY(op_string_set(out, i,
                           form->list ? op_attr_strings(node, form->name, &count)[i]
                                      : op_attr_string(node, form->name, "")));
    }
  }
  return OS_OK;
}

// ---- ConstantOfShape --------------------------------------------------------------------------------------

static os_status fill__infer(op_infer *ctx) {
  const op_tensor *value = op_attr_tensor(op_infer_node(ctx), "value");
  op_infer_set_elem(ctx, 0, value ? value->elem : OP_FLOAT);
  if (value && value->count != 1) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "value has %lld elements, expected 1",
                         (long long)value->count);
  }
  OS_TRY(kit_want_rank(ctx, 0, 1, "input"));
  kit_list shape;
  kit_infer_list(ctx, 0, &shape);
  if (!shape.present) {
    op_dim length = op_infer_rank(ctx, 0) == 1 ? op_infer_dim(ctx, 0, 0) : -1;
    if (length >= 0 && length <= OP_MAX_RANK) op_infer_set_rank(ctx, 0, (int32_t)length);
    return OS_OK;
  }
  op_dim *out = op_infer_set_rank(ctx, 0, (int32_t)shape.count);
  OS_TRY(kit_want_natural(ctx, &shape, "input"));
  for (size_t i = 0; out && i < shape.count; i++) out[i] = shape.at[i];
  bool integer = value && (value->elem == OP_INT64 || value->elem == OP_INT32);
  op_dim count = !out ? -1 : shape.count == 0 ? 1 : shape.count == 1 ? out[0] : -1;
  if (integer && count >= 0 && count <= KIT_NUMBERS) {
    op_dim small[KIT_NUMBERS];
    for (op_dim i = 0; i < count; i++) small[i] = kit_dim_from(kit_int(value, 0));
    op_infer_set_small(ctx, 0, small, (size_t)count, shape.count == 0);
  }
  return OS_OK;
}

static os_status fill__compute(op_run *ctx) {
  const op_tensor *value = op_attr_tensor(op_run_node(ctx), "value");
  op_tensor *out = op_run_output(ctx, 0);
  if (!value)
    kit_zero(out);
  else
    math_fill(out->data, value->data, (size_t)out->count, op_elem_size(out->elem));
  return value ? kit_keep(out, value) : OS_OK;
}

// ---- Range ------------------------------------------------------------------------------------------------

static int64_t range__count_int(int64_t start, int64_t limit, int64_t delta) {
  bool up = delta > 0;
  if (up ? limit <= start : limit >= start) return 0;
  uint64_t way = up ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
  uint64_t step = up ? (uint64_t)delta : (uint64_t)0 - (uint64_t)delta;
  uint64_t count = (way - 1) / step + 1;
  return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

// INT64_MAX for what no memory holds; NaN gives 0.
static int64_t range__count_float(double start, double limit, double delta) {
  double count = (limit - start) / delta;
  if (!(count > 0)) return 0;
  if (count >= 9e18) return INT64_MAX;
  int64_t whole = (int64_t)count;
  return (double)whole < count ? whole + 1 : whole;
}

static bool range__is_float(op_elem elem) {
  return elem == OP_FLOAT || elem == OP_DOUBLE || elem == OP_FLOAT16 || elem == OP_BFLOAT16;
}

// Symbols are never negative, differences may be.
static op_dim range__symbolic(op_infer *ctx, op_dim start, op_dim limit, op_dim delta) {
  if (!op_dim_is_number(delta) || start == OP_DIM_UNKNOWN || limit == OP_DIM_UNKNOWN) return OP_DIM_UNKNOWN;
  op_dim from = delta > 0 ? start : limit, way = op_dim_sub(ctx, delta > 0 ? limit : start, from);
  if (from != 0 || op_dim_is_number(way)) way = op_dim_max(ctx, way, 0);
  return op_dim_ceildiv(ctx, way, delta > 0 ? delta : -delta);
}

static void range__small(op_infer *ctx, op_dim count, int64_t start, int64_t delta) {
  op_elem elem = op_infer_elem(ctx, 0);
  if (count < 0 || count > KIT_NUMBERS || (elem != OP_INT64 && elem != OP_INT32)) return;
  op_dim small[KIT_NUMBERS];
  for (op_dim i = 0; i < count; i++) {
    small[i] = kit_dim_from((int64_t)((uint64_t)start + (uint64_t)i * (uint64_t)delta));
  }
  op_infer_set_small(ctx, 0, small, (size_t)count, false);
}

static os_status range__infer_integers(op_infer *ctx, const op_tensor *const *values, op_dim *count) {
  op_dim start = kit_infer_number(ctx, 0), limit = kit_infer_number(ctx, 1), delta = kit_infer_number(ctx, 2);
  if (delta == 0) return op_infer_fail(ctx, OP_FAULT_VALUE, "delta is 0");
  *count = values ? range__count_int(kit_int(values[0], 0), kit_int(values[1], 0), kit_int(values[2], 0))
                  : range__symbolic(ctx, start, limit, delta);
  if (op_dim_is_number(start) && op_dim_is_number(delta)) range__small(ctx, *count, start, delta);
  return OS_OK;
}

static os_status range__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  op_dim *out = op_infer_set_rank(ctx, 0, 1);
  if (!out) return OS_OK;
  const op_tensor *values[3];
  bool known = true;
  for (uint32_t i = 0; i < 3; i++) {
    if (op_infer_rank(ctx, i) > 1 || (op_infer_rank(ctx, i) == 1 && op_infer_dim(ctx, i, 0) > 1)) {
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "input %u must be a scalar, its rank is %d", (unsigned)i,
                           (int)op_infer_rank(ctx, i));
    }
    values[i] = op_infer_value(ctx, i);
    known &= values[i] && values[i]->count == 1;
  }
  if (!range__is_float(op_infer_elem(ctx, 0))) {
    OS_TRY(range__infer_integers(ctx, known ? values : NULL, out));
  } else if (known) {
    double delta = kit_double(values[2], 0);
    if (delta == 0) return op_infer_fail(ctx, OP_FAULT_VALUE, "delta is 0");
    out[0] = range__count_float(kit_double(values[0], 0), kit_double(values[1], 0), delta);
  }
  if (out[0] == INT64_MAX)
    return op_infer_fail(ctx, OP_FAULT_VALUE, "the range has more elements than can be counted");
  return OS_OK;
}

static os_status range__compute(op_run *ctx) {
  const op_tensor *start = op_run_input(ctx, 0), *delta = op_run_input(ctx, 2);
  op_tensor *out = op_run_output(ctx, 0);
  if (out->count == 0) return OS_OK;
  if (range__is_float(out->elem)) {
    double first = kit_double(start, 0), step = kit_double(delta, 0);
    for (int64_t i = 0; i < out->count; i++) {
      double x = first + (double)i * step;
      kit_put(out, i, x);
    }
    return OS_OK;
  }
  uint64_t x = (uint64_t)kit_int(start, 0), step = (uint64_t)kit_int(delta, 0);
  for (int64_t i = 0; i < out->count; i++, x += step) {
    if (out->elem == OP_INT64)
      ((int64_t *)out->data)[i] = (int64_t)x;
    else if (out->elem == OP_INT32)
      ((int32_t *)out->data)[i] = (int32_t)x;
    else if (out->elem == OP_INT16)
      ((int16_t *)out->data)[i] = (int16_t)x;
    else
      return op_run_fail(ctx, "a range of %s is not defined", op_elem_name(out->elem));
  }
  return OS_OK;
}

// ---- EyeLike ----------------------------------------------------------------------------------------------

static os_status eye__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int64_t dtype = op_attr_int(op_infer_node(ctx), "dtype", 0);
  if (dtype < 0 || dtype >= OP_ELEM_COUNT) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "dtype is %lld", (long long)dtype);
  }
  if (dtype > 0) op_infer_set_elem(ctx, 0, (op_elem)dtype);
  return kit_want_rank(ctx, 0, 2, "input");
}

static os_status eye__compute(op_run *ctx) {
  op_tensor *out = op_run_output(ctx, 0);
  double one = 1;
  uint64_t element = 0;
  if (!math_cast(&element, (int)out->elem, &one, MATH_F64, 1, NULL)) {
    return op_run_fail(ctx, "there is no 1 of type %s", op_elem_name(out->elem));
  }
  kit_zero(out);
  if (out->count == 0) return OS_OK;
  int64_t rows = out->dims[0], columns = out->dims[1], k = op_attr_int(op_run_node(ctx), "k", 0);
  if (k >= columns || k <= -rows) return OS_OK;
  for (int64_t row = k < 0 ? -k : 0; row < rows && row + k < columns; row++) {
    memcpy(kit_at(out, (size_t)(row * columns + row + k)), &element, op_elem_size(out->elem));
  }
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("Constant", 1, OP_PURE, constant__infer, constant__compute), // 11: sparse_value; 12: value_*
    OP_ROW("ConstantOfShape", 9, OP_PURE, fill__infer, fill__compute),
    OP_ROW("Range", 11, OP_PURE, range__infer, range__compute),
    OP_ROW("EyeLike", 9, OP_PURE, eye__infer, eye__compute),
};

OP_FAMILY(generate, rows);
