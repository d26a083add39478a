// Sequences and optionals.

#include "kit.h"

// A position among `count` elements (or count + 1 places to insert at); negative ones count from the end.
static bool sequence__place(const op_tensor *position, size_t count, size_t places, size_t fallback,
                            size_t *out) {
  if (!position || position->count == 0) {
    *out = fallback;
    return fallback < places;
  }
  int64_t at = kit_int(position, 0);
  if (at < 0) at += (int64_t)count;
  *out = (size_t)at;
  return at >= 0 && (uint64_t)at < places;
}

static os_status sequence__misplaced(op_run *ctx, const op_tensor *position, size_t count) {
  if (!position || position->count == 0) return op_run_fail(ctx, "the sequence is empty");
  return op_run_fail(ctx, "position %lld is outside of a sequence of %zu elements",
                     (long long)kit_int(position, 0), count);
}

// A sequence of the same elements without the one at `skip`.
static op_value *sequence__copy(op_run *ctx, const op_value *from, op_type element, size_t skip) {
  op_value *to = op_run_new_sequence(ctx, element);
  for (size_t i = 0; to && i < op_sequence_count(from); i++) {
    if (i == skip) continue;
    if (op_sequence_insert(to, op_sequence_count(to), op_value_retain(op_sequence_at(from, i))) == OS_OK)
      continue;
    op_value_release(to);
    return NULL;
  }
  return to;
}

// The type of a sequence's elements, and what is known of them (NULL = nothing).
static op_type sequence__element(const op_infer *ctx, uint32_t input, const op_fact **fact) {
  const op_fact *sequence = op_infer_input(ctx, input);
  *fact = sequence ? op_fact_element(sequence) : NULL;
  return op_infer_element_of(ctx, op_infer_type(ctx, input));
}

// ---- SequenceEmpty, SequenceConstruct ---------------------------------------------------------------------

static os_status empty__infer(op_infer *ctx) {
  int64_t dtype = op_attr_int(op_infer_node(ctx), "dtype", OP_FLOAT);
  if (dtype < 1 || dtype >= OP_ELEM_COUNT) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "dtype is %lld", (long long)dtype);
  }
  op_infer_set_type(ctx, 0, op_infer_sequence_of(ctx, op_type_tensor((op_elem)dtype)));
  return OS_OK;
}

static os_status empty__compute(op_run *ctx) {
  int64_t dtype = op_attr_int(op_run_node(ctx), "dtype", OP_FLOAT);
  op_value *sequence = op_run_new_sequence(ctx, op_type_tensor((op_elem)dtype));
  if (!sequence) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, 0, sequence);
  return OS_OK;
}

static os_status construct__infer(op_infer *ctx) {
  const op_fact *element = op_infer_input(ctx, 0);
  if (!element) return OS_OK;
  op_infer_set_type(ctx, 0, op_infer_sequence_of(ctx, op_fact_type(element)));
  for (uint32_t i = 1; i < op_infer_input_count(ctx); i++) {
    const op_fact *other = op_infer_input(ctx, i);
    if (other) OS_TRY(op_infer_union(ctx, element, other, &element));
  }
  op_infer_set_element(ctx, 0, element);
  return OS_OK;
}

static os_status construct__compute(op_run *ctx) {
  const op_value *first = op_run_input_value(ctx, 0);
  if (!first) return op_run_fail(ctx, "input 0 is missing");
  op_type element = op_value_type(first);
  op_value *sequence = op_run_new_sequence(ctx, element);
  if (!sequence) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, 0, sequence);
  for (uint32_t i = 0; i < op_run_input_count(ctx); i++) {
    op_value *value = op_run_input_value(ctx, i);
    if (!value || op_value_type(value) != element)
      return op_run_fail(ctx, "input %u has another type", (unsigned)i);
    OS_TRY(op_sequence_insert(sequence, i, op_value_retain(value)));
  }
  return OS_OK;
}

// ---- SequenceInsert, SequenceErase ------------------------------------------------------------------------

static os_status insert__infer(op_infer *ctx) {
  const op_fact *element, *value = op_infer_input(ctx, 1);
  op_type type = sequence__element(ctx, 0, &element);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  if (!value) return OS_OK;
  if (type != 0 && op_fact_type(value) != 0 && type != op_fact_type(value)) {
    return op_infer_fail(ctx, OP_FAULT_TYPE, "the tensor has another type than the sequence's elements");
  }
  if (!element) return OS_OK;
  OS_TRY(op_infer_union(ctx, element, value, &element));
  op_infer_set_element(ctx, 0, element);
  return OS_OK;
}

// In place when this node is the sequence's last user: inserting in a loop costs what it looks like.
static os_status insert__compute(op_run *ctx) {
  const op_tensor *position = op_run_input(ctx, 2);
  op_value *from = op_run_input_value(ctx, 0), *value = op_run_input_value(ctx, 1);
  size_t count = op_sequence_count(from), at;
  if (!sequence__place(position, count, count + 1, count, &at))
    return sequence__misplaced(ctx, position, count);
  if (count > 0 && op_value_type(op_sequence_at(from, 0)) != op_value_type(value)) {
    return op_run_fail(ctx, "the tensor has another type than the sequence's elements");
  }
  op_value *sequence = op_run_take(ctx, 0);
  if (!sequence) sequence = sequence__copy(ctx, from, op_value_type(value), SIZE_MAX);
  if (!sequence) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, 0, sequence);
  return op_sequence_insert(sequence, at, op_value_retain(value));
}

static os_status erase__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  return OS_OK;
}

static os_status erase__compute(op_run *ctx) {
  const op_tensor *position = op_run_input(ctx, 1);
  op_value *from = op_run_input_value(ctx, 0);
  size_t count = op_sequence_count(from), at;
  if (!sequence__place(position, count, count, count - 1, &at))
    return sequence__misplaced(ctx, position, count);
  op_value *sequence = op_run_take(ctx, 0);
  if (sequence)
    op_sequence_remove(sequence, at);
  else
    sequence = sequence__copy(ctx, from, op_value_type(op_sequence_at(from, 0)), at);
  if (!sequence) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, 0, sequence);
  return OS_OK;
}

// ---- SequenceAt, SequenceLength ---------------------------------------------------------------------------

static os_status at__infer(op_infer *ctx) {
  const op_fact *element;
  op_type type = sequence__element(ctx, 0, &element);
  if (element)
    op_infer_set_fact(ctx, 0, element);
  else
    op_infer_set_type(ctx, 0, type);
  return OS_OK;
}

static os_status at__compute(op_run *ctx) {
  const op_value *sequence = op_run_input_value(ctx, 0);
  const op_tensor *position = op_run_input(ctx, 1);
  size_t count = op_sequence_count(sequence), at;
  if (!position || !sequence__place(position, count, count, count, &at))
    return sequence__misplaced(ctx, position, count);
  op_run_set_output(ctx, 0, op_value_retain(op_sequence_at(sequence, at)));
  return OS_OK;
}

static os_status length__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT64);
  op_infer_set_rank(ctx, 0, 0);
  return OS_OK;
}

static os_status length__compute(op_run *ctx) {
  op_tensor *out = op_run_allocate(ctx, 0, OP_INT64, 0, NULL);
  if (!out) return OS_OUT_OF_MEMORY;
  *(int64_t *)out->data = (int64_t)op_sequence_count(op_run_input_value(ctx, 0));
  return OS_OK;
}

// ---- ConcatFromSequence -----------------------------------------------------------------------------------

static os_status join__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  const op_fact *element;
  op_infer_set_type(ctx, 0, sequence__element(ctx, 0, &element));
  int64_t new_axis = op_attr_int(node, "new_axis", 0);
  if (new_axis != 0 && new_axis != 1) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "new_axis is %lld; it must be 0 or 1", (long long)new_axis);
  }
  if (!element || op_fact_rank(element) < 0) return OS_OK;
  int32_t rank = op_fact_rank(element) + (int32_t)new_axis, axis;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  const op_dim *dims = op_fact_dims(element);
  for (int32_t i = 0; out && i < rank; i++) {
    if (i != axis) out[i] = dims[new_axis && i > axis ? i - 1 : i];
  }
  return OS_OK;
}

// The joined shape; fails when the elements do not fit.
static os_status join__shape(op_run *ctx, const op_value *sequence, bool new_axis, int32_t *axis,
                             int32_t *rank, int64_t *dims) {
  const op_tensor *first = op_value_tensor(op_sequence_at(sequence, 0));
  if (!first) return op_run_fail(ctx, "the elements are no tensors");
  *rank = first->rank + new_axis;
  int64_t written = op_attr_int(op_run_node(ctx), "axis", 0), length = 0;
  *axis = kit_axis(written, *rank);
  if (*rank > OP_MAX_RANK || *axis < 0 || *axis >= *rank) {
    return op_run_fail(ctx, "axis is %lld; the result has rank %d", (long long)written, (int)*rank);
  }
  for (size_t i = 0; i < op_sequence_count(sequence); i++) {
    const op_tensor *part = op_value_tensor(op_sequence_at(sequence, i));
    bool fits = part && part->elem == first->elem && part->rank == first->rank;
    for (int32_t k = 0; fits && k < part->rank; k++) {
      fits = part->dims[k] == first->dims[k] || (!new_axis && k == *axis);
    }
    if (!fits) return op_run_fail(ctx, "element %zu has another type or shape than element 0", i);
    length += new_axis ? 1 : part->dims[*axis];
  }
  for (int32_t k = 0; k < *rank; k++)
    dims[k] = k == *axis ? length : first->dims[new_axis && k > *axis ? k - 1 : k];
  return OS_OK;
}

static os_status join__compute(op_run *ctx) {
  const op_value *sequence = op_run_input_value(ctx, 0);
  bool new_axis = op_attr_int(op_run_node(ctx), "new_axis", 0) != 0;
  size_t count = op_sequence_count(sequence), offset = 0;
  if (count == 0) return op_run_fail(ctx, "the sequence is empty");
  int32_t axis, rank;
  int64_t dims[OP_MAX_RANK];
  OS_TRY(join__shape(ctx, sequence, new_axis, &axis, &rank, dims));
  op_tensor *out = op_run_allocate(ctx, 0, op_value_tensor(op_sequence_at(sequence, 0))->elem, rank, dims);
  if (!out) return OS_OUT_OF_MEMORY;
  if (out->count == 0) return OS_OK;
  size_t outer = kit_extent(out, 0, axis), inner = kit_extent(out, axis + 1, rank) * op_elem_size(out->elem);
  size_t row = (size_t)dims[axis] * inner;
  for (size_t i = 0; i < count; i++) {
    const op_tensor *part = op_value_tensor(op_sequence_at(sequence, i));
    size_t bytes = new_axis ? inner : (size_t)part->dims[axis] * inner;
    for (size_t o = 0; bytes > 0 && o < outer; o++) {
      memcpy((char *)out->data + o * row + offset, (const char *)part->data + o * bytes, bytes);
    }
    offset += bytes;
    OS_TRY(kit_keep(out, part));
  }
  return OS_OK;
}

// ---- SplitToSequence --------------------------------------------------------------------------------------

// The dim that all parts have along the split axis, OP_DIM_UNKNOWN when they differ or are unknown.
static op_dim cut__part(const kit_list *split, op_dim dim) {
  op_dim part = split->count > 0 ? split->at[0] : OP_DIM_UNKNOWN;
  if (part < 0) return OP_DIM_UNKNOWN;
  if (split->scalar) return dim >= 0 && part > 0 && dim % part == 0 ? part : OP_DIM_UNKNOWN;
  for (size_t i = 1; i < split->count; i++) {
    if (split->at[i] != part) return OP_DIM_UNKNOWN;
  }
  return part;
}

static os_status cut__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_sequence_of(ctx, op_infer_type(ctx, 0)));
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  kit_list split;
  kit_infer_list(ctx, 1, &split);
  bool given = op_infer_has_input(ctx, 1), drop = !given && op_attr_int(node, "keepdims", 1) == 0;
  for (size_t i = 0; i < split.count; i++) {
    if (op_dim_is_number(split.at[i]) && split.at[i] < split.scalar) {
      return op_infer_fail(ctx, OP_FAULT_VALUE, "split is %lld", (long long)split.at[i]);
    }
  }
  op_dim out[OP_MAX_RANK];
  int32_t out_rank = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis)
      out[out_rank++] = dims[i];
    else if (!drop)
      out[out_rank++] = given ? cut__part(&split, dims[i]) : 1;
  }
  const op_fact *element = op_infer_make(ctx, op_infer_type(ctx, 0), out_rank, out);
  if (!element) return OS_OUT_OF_MEMORY;
  op_infer_set_element(ctx, 0, element);
  return OS_OK;
}

// Length of part i, or -1 after the last.
static int64_t cut__length(const op_tensor *split, int64_t i, int64_t begin, int64_t dim) {
  int64_t left = dim - begin;
  if (split && split->rank > 0) return i < split->count ? kit_int(split, i) : -1;
  int64_t part = split ? kit_int(split, 0) : 1;
  return left <= 0 ? -1 : part < left ? part : left;
}

static os_status cut__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0), *split = op_run_input(ctx, 1);
  const op_node *node = op_run_node(ctx);
  int32_t axis = kit_run_axis(ctx, 0, in->rank);
  bool drop = !split && op_attr_int(node, "keepdims", 1) == 0;
  op_value *sequence = op_run_new_sequence(ctx, op_type_tensor(in->elem));
  if (!sequence) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, 0, sequence);
  int64_t dims[OP_MAX_RANK], begin = 0, dim = in->dims[axis], length;
  size_t outer = kit_extent(in, 0, axis), inner = kit_extent(in, axis + 1, in->rank) * op_elem_size(in->elem);
  if (split && split->rank == 0 && kit_int(split, 0) < 1)
    return op_run_fail(ctx, "split is %lld", (long long)kit_int(split, 0));
  for (int64_t i = 0; (length = cut__length(split, i, begin, dim)) >= 0; i++, begin += length) {
    if (length > dim - begin)
      return op_run_fail(ctx, "the parts of split add up to more than %lld", (long long)dim);
    int32_t rank = 0;
    for (int32_t k = 0; k < in->rank; k++) {
      if (k != axis)
        dims[rank++] = in->dims[k];
      else if (!drop)
        dims[rank++] = length;
    }
    op_value *part = op_run_new_tensor(ctx, in->elem, rank, dims);
    if (!part) return OS_OUT_OF_MEMORY;
    OS_TRY(op_sequence_insert(sequence, op_sequence_count(sequence), part));
    op_tensor *to = op_value_edit(part);
    size_t bytes = (size_t)length * inner;
    for (size_t o = 0; to->count > 0 && o < outer; o++) {
      memcpy((char *)to->data + o * bytes, (const char *)in->data + (o * (size_t)dim + (size_t)begin) * inner,
             bytes);
    }
    OS_TRY(kit_keep(to, in));
  }
  if (begin != dim)
    return op_run_fail(ctx, "split adds up to %lld, but the dim is %lld", (long long)begin, (long long)dim);
  return OS_OK;
}

// ---- Optionals --------------------------------------------------------------------------------------------

// The type that an optional holds, 0 when the type is no optional.
static op_type optional__of(op_infer *ctx, op_type type) {
  op_type element = op_infer_element_of(ctx, type);
  return element != 0 && op_infer_optional_of(ctx, element) == type ? element : 0;
}

static os_status optional__infer(op_infer *ctx) {
  const op_fact *value = op_infer_input(ctx, 0);
  op_type type = value ? op_fact_type(value) : op_attr_type(op_infer_node(ctx), "type");
  if (type == 0 && !value)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "neither an input nor the attribute type is given");
  op_infer_set_type(ctx, 0, op_infer_optional_of(ctx, type));
  if (value) op_infer_set_element(ctx, 0, value);
  return OS_OK;
}

static os_status optional__compute(op_run *ctx) {
  op_value *value = op_run_input_value(ctx, 0);
  op_type type = value ? op_value_type(value) : op_attr_type(op_run_node(ctx), "type");
  op_value *optional = op_run_new_optional(ctx, type, value ? op_value_retain(value) : NULL);
  if (!optional) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, 0, optional);
  return OS_OK;
}

static os_status has_element__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_BOOL);
  op_infer_set_rank(ctx, 0, 0);
  return OS_OK;
}

// What is no optional is there.
static os_status has_element__compute(op_run *ctx) {
  const op_value *value = op_run_input_value(ctx, 0);
  op_tensor *out = op_run_allocate(ctx, 0, OP_BOOL, 0, NULL);
  if (!out) return OS_OUT_OF_MEMORY;
  *(uint8_t *)out->data = value && (op_value_kind(value) != OP_OPTIONAL || op_optional_value(value));
  return OS_OK;
}

static os_status get_element__infer(op_infer *ctx) {
  const op_fact *value = op_infer_input(ctx, 0);
  op_type type = op_infer_type(ctx, 0), element = optional__of(ctx, type);
  if (element == 0)
    op_infer_set_fact(ctx, 0, value);
  else if (op_fact_element(value))
    op_infer_set_fact(ctx, 0, op_fact_element(value));
  else
    op_infer_set_type(ctx, 0, element);
  return OS_OK;
}

static os_status get_element__compute(op_run *ctx) {
  op_value *value = op_run_input_value(ctx, 0);
  if (op_value_kind(value) == OP_OPTIONAL) value = op_optional_value(value);
  if (!value) return op_run_fail(ctx, "the optional is empty");
  op_run_set_output(ctx, 0, op_value_retain(value));
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

// Shapes inside of sequences are known to compute alone.

#define SEQUENCE(name, version, family) \
  OP_ROW(name, version, OP_PURE | OP_ANY_VALUE | OP_DATA_SHAPE, family##__infer, family##__compute)

static const op_row rows[] = {
    SEQUENCE("SequenceEmpty", 11, empty),
    SEQUENCE("SequenceConstruct", 11, construct),
    SEQUENCE("SequenceInsert", 11, insert),
    SEQUENCE("SequenceErase", 11, erase),
    SEQUENCE("SequenceAt", 11, at),
    SEQUENCE("SequenceLength", 11, length),
    SEQUENCE("ConcatFromSequence", 11, join),
    SEQUENCE("SplitToSequence", 11, cut),
    SEQUENCE("Optional", 15, optional),
    SEQUENCE("OptionalHasElement", 15, has_element), // 18: other than optionals; no input
    SEQUENCE("OptionalGetElement", 15, get_element),
};

OP_FAMILY(sequence, rows);
