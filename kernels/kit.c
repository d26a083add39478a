#include "kit.h"

#include "floats.h"

// ---- Inference --------------------------------------------------------------------------------------------

op_dim kit_dim_from(int64_t value) { return op_dim_is_number(value) ? value : OP_DIM_UNKNOWN; }

// Room for `count` elements; false when they are too many.
static bool kit__begin_list(kit_list *list, bool known, size_t count) {
  list->present = known && count <= KIT_NUMBERS;
  list->scalar = false;
  list->count = list->present ? count : 0;
  for (size_t i = 0; i < KIT_NUMBERS; i++) list->at[i] = OP_DIM_UNKNOWN;
  return list->present;
}

static op_dim kit__number(int64_t value) { return op_dim_is_number(value) ? value : INT64_MIN / 2 + 1; }

void kit_infer_list(op_infer *ctx, uint32_t input, kit_list *out) {
  const op_tensor *value = op_infer_value(ctx, input);
  if (value && value->rank <= 1 && value->elem != OP_STRING) {
    if (!kit__begin_list(out, true, (size_t)value->count)) return;
    for (size_t i = 0; i < out->count; i++) out->at[i] = kit__number(kit_int(value, (int64_t)i));
  } else {
    size_t count = 0;
    const op_dim *small = op_infer_small(ctx, input, &count);
    if (!kit__begin_list(out, small != NULL, count)) return;
    for (size_t i = 0; i < count; i++) out->at[i] = small[i];
  }
  out->scalar = op_infer_rank(ctx, input) == 0;
}

void kit_attr_list(const op_node *node, const char *name, kit_list *out) {
  size_t count = 0;
  const int64_t *ints = op_attr_ints(node, name, &count);
  if (!kit__begin_list(out, op_attr_has(node, name), count)) return;
  for (size_t i = 0; i < count; i++) out->at[i] = kit__number(ints[i]);
}

void kit_either_list(op_infer *ctx, uint32_t input, const char *attribute, kit_list *out, bool *written) {
  if (op_infer_has_input(ctx, input)) {
    kit_infer_list(ctx, input, out);
    *written = true;
  } else {
    kit_attr_list(op_infer_node(ctx), attribute, out);
    *written = op_attr_has(op_infer_node(ctx), attribute);
  }
}

op_dim kit_infer_number(op_infer *ctx, uint32_t input) {
  kit_list list;
  kit_infer_list(ctx, input, &list);
  return list.count == 1 ? list.at[0] : OP_DIM_UNKNOWN;
}

bool kit_all_known(const kit_list *list) {
  bool known = list->present;
  for (size_t i = 0; known && i < list->count; i++) known = op_dim_is_number(list->at[i]);
  return known;
}

os_status kit_want_natural(op_infer *ctx, const kit_list *list, const char *what) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->at[i] < 0 && op_dim_is_number(list->at[i]))
      return op_infer_fail(ctx, OP_FAULT_VALUE, "%s[%zu] is %lld", what, i, (long long)list->at[i]);
  }
  return OS_OK;
}

os_status kit_infer_axes(op_infer *ctx, const kit_list *list, int32_t rank, const char *what, int32_t *axes) {
  uint32_t seen = 0;
  if (list->count > (size_t)rank) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "%s: %zu axes for a tensor of rank %d", what, list->count,
                         (int)rank);
  }
  for (size_t i = 0; i < list->count; i++) {
    OS_TRY(op_infer_axis(ctx, list->at[i], rank, what, &axes[i]));
    if (seen >> axes[i] & 1) {
      return op_infer_fail(ctx, OP_FAULT_VALUE, "%s: axis %d is listed twice", what, (int)axes[i]);
    }
    seen |= UINT32_C(1) << axes[i];
  }
  return OS_OK;
}

op_dim kit_product(op_infer *ctx, const op_dim *dims, int32_t first, int32_t last) {
  op_dim product = 1;
  for (int32_t i = first; i < last; i++) product = op_dim_mul(ctx, product, dims[i]);
  return product;
}

os_status kit_want_rank(op_infer *ctx, uint32_t input, int32_t rank, const char *what) {
  int32_t found = op_infer_rank(ctx, input);
  if (found < 0 || found == rank) return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank %d, expected %d", what, (int)found, (int)rank);
}

os_status kit_want_least(op_infer *ctx, uint32_t input, int32_t rank, const char *what) {
  int32_t found = op_infer_rank(ctx, input);
  if (found < 0 || found >= rank) return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank %d, expected %d or more", what, (int)found,
                       (int)rank);
}

os_status kit_infer_axis(op_infer *ctx, int64_t fallback, int32_t rank, int32_t *axis) {
  return op_infer_axis(ctx, op_attr_int(op_infer_node(ctx), "axis", fallback), rank, "axis", axis);
}

const op_dim *kit_infer_same_type(op_infer *ctx, int32_t *rank) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  return op_infer_dims(ctx, 0, rank);
}

// ---- Words ------------------------------------------------------------------------------------------------

bool kit_text_is(os_str text, const char *word) {
  return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

int kit_word(const op_node *node, const char *attribute, const char *words) {
  os_str word = op_attr_string(node, attribute, words);
  int index = 0;
  for (; *words && !kit_text_is(word, words); words += strlen(words) + 1) index++;
  return index;
}

// ---- Running ----------------------------------------------------------------------------------------------

static int64_t kit__truncate(double x) {
  if (!(x == x)) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  if (x <= -9223372036854775808.0) return INT64_MIN;
  return (int64_t)x;
}

int64_t kit_int(const op_tensor *tensor, int64_t index) {
  const void *data = tensor->data;
  switch (tensor->elem) {
  case OP_INT64: return ((const int64_t *)data)[index];
  case OP_INT32: return ((const int32_t *)data)[index];
  case OP_INT16: return ((const int16_t *)data)[index];
  case OP_INT8:
  case OP_INT4:
  case OP_INT2: return ((const int8_t *)data)[index];
  case OP_UINT8:
  case OP_BOOL:
  case OP_UINT4:
  case OP_UINT2: return ((const uint8_t *)data)[index];
  case OP_UINT16: return ((const uint16_t *)data)[index];
  case OP_UINT32: return ((const uint32_t *)data)[index];
  case OP_UINT64: {
    uint64_t value = ((const uint64_t *)data)[index];
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
  }
  default: return kit__truncate(kit_double(tensor, index));
  }
}

double kit_double(const op_tensor *tensor, int64_t index) {
  const void *data = tensor->data;
  switch (tensor->elem) {
  case OP_FLOAT: return ((const float *)data)[index];
  case OP_DOUBLE: return ((const double *)data)[index];
  case OP_FLOAT16:
  case OP_BFLOAT16: return math_float_decode((int)tensor->elem, ((const uint16_t *)data)[index]);
  case OP_FLOAT8E4M3FN:
  case OP_FLOAT8E4M3FNUZ:
  case OP_FLOAT8E5M2:
  case OP_FLOAT8E5M2FNUZ:
  case OP_FLOAT4E2M1:
  case OP_FLOAT8E8M0: return math_float_decode((int)tensor->elem, ((const uint8_t *)data)[index]);
  case OP_UINT64: return (double)((const uint64_t *)data)[index];
  case OP_NONE:
  case OP_STRING:
  case OP_COMPLEX64:
  case OP_COMPLEX128:
  case OP_ELEM_COUNT: return 0;
  default: return (double)kit_int(tensor, index);
  }
}

bool kit_put(const op_tensor *tensor, size_t index, double value) {
  return math_cast(kit_at(tensor, index), (int)tensor->elem, &value, MATH_F64, 1, NULL);
}

int32_t kit_run_axis(const op_run *ctx, int64_t fallback, int32_t rank) {
  return kit_axis(op_attr_int(op_run_node(ctx), "axis", fallback), rank);
}

size_t kit_ints(const op_tensor *tensor, int64_t *out, size_t room) {
  for (int64_t i = 0; i < tensor->count && (size_t)i < room; i++) out[i] = kit_int(tensor, i);
  return (size_t)tensor->count;
}

size_t kit_shape(const op_tensor *tensor, size_t dims[OP_MAX_RANK]) {
  for (int32_t i = 0; i < tensor->rank; i++) dims[i] = (size_t)tensor->dims[i];
  return (size_t)tensor->rank;
}

size_t kit_extent(const op_tensor *tensor, int32_t first, int32_t last) {
  size_t product = 1;
  for (int32_t i = first; i < last; i++) product *= (size_t)tensor->dims[i];
  return product;
}

bool kit_same_shape(const op_tensor *tensor, int32_t rank, const int64_t *dims) {
  return tensor->rank == rank && (rank == 0 || memcmp(tensor->dims, dims, (size_t)rank * sizeof *dims) == 0);
}

os_status kit_keep(op_tensor *to, const op_tensor *from) {
  return to->elem == OP_STRING ? op_strings_share(to, from) : OS_OK;
}

os_status kit_copy(op_tensor *to, const op_tensor *from) {
  if (to->data == from->data || from->count == 0) return OS_OK;
  memcpy(to->data, from->data, (size_t)from->count * op_elem_size(from->elem));
  return kit_keep(to, from);
}

void kit_zero(op_tensor *tensor) {
  if (tensor->count > 0) memset(tensor->data, 0, (size_t)tensor->count * op_elem_size(tensor->elem));
}

static void kit__pick(char *dst, const char *src, const size_t *places, size_t n, size_t width) {
  switch (width) {
  case 1:
    for (size_t i = 0; i < n; i++) dst[i] = src[places[i]];
    break;
  case 2:
    for (size_t i = 0; i < n; i++) ((uint16_t *)dst)[i] = ((const uint16_t *)src)[places[i]];
    break;
  case 4:
    for (size_t i = 0; i < n; i++) ((uint32_t *)dst)[i] = ((const uint32_t *)src)[places[i]];
    break;
  case 8:
    for (size_t i = 0; i < n; i++) ((uint64_t *)dst)[i] = ((const uint64_t *)src)[places[i]];
    break;
  default:
    for (size_t i = 0; i < n; i++) memcpy(dst + i * width, src + places[i] * width, width);
  }
}

void kit_pick_axes(op_tensor *out, const op_tensor *in, const size_t *const *places) {
  size_t dims[OP_MAX_RANK], index[OP_MAX_RANK] = {0}, rank = kit_shape(out, dims),
                            width = op_elem_size(in->elem);
  if (rank == 0) {
    memcpy(out->data, in->data, width);
    return;
  }
  char *dst = out->data;
  size_t n = dims[rank - 1];
  do {
    size_t base = 0;
    for (size_t i = 0; i + 1 < rank; i++) base += places[i][index[i]];
    kit__pick(dst, (const char *)in->data + base * width, places[rank - 1], n, width);
    dst += n * width;
  } while (kit_next(rank - 1, dims, index));
}

os_status kit_room_floats(op_run *ctx, const op_tensor *tensor, kit_floats *out) {
  *out = (kit_floats){0};
  if (!tensor) return OS_OK;
  if (tensor->elem == OP_FLOAT) {
    out->data = tensor->data;
    return OS_OK;
  }
  float probe;
  if (!math_load_f32(&probe, &probe, (int)tensor->elem, 0)) {
    return op_run_fail(ctx, "there is no kernel for elements of type %s", op_elem_name(tensor->elem));
  }
  out->owner = op_run_new_tensor(ctx, OP_FLOAT, tensor->rank, tensor->dims);
  if (!out->owner) return OS_OUT_OF_MEMORY;
  out->data = op_value_edit(out->owner)->data;
  return OS_OK;
}

os_status kit_read_floats(op_run *ctx, const op_tensor *tensor, kit_floats *out) {
  OS_TRY(kit_room_floats(ctx, tensor, out));
  if (out->owner) math_load_f32(out->data, tensor->data, (int)tensor->elem, (size_t)tensor->count);
  return OS_OK;
}

void kit_write_floats(op_tensor *tensor, const kit_floats *from) {
  if (from->owner) math_store_f32(tensor->data, from->data, (int)tensor->elem, (size_t)tensor->count);
}

os_status kit_shape_broken(op_run *ctx, const char *what) {
  return op_run_fail(ctx, "%s does not fit the output's shape", what);
}

void kit_sort(size_t *order, size_t *spare, size_t n, bool (*less)(const void *context, size_t a, size_t b),
              const void *context) {
  size_t *from = order, *to = spare;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * width) {
      size_t middle = begin + width < n ? begin + width : n;
      size_t end = middle + width < n ? middle + width : n;
      size_t left = begin, right = middle;
      for (size_t i = begin; i < end; i++) {
        bool take_right = left == middle || (right < end && less(context, from[right], from[left]));
        to[i] = from[take_right ? right++ : left++];
      }
    }
    size_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != order) memcpy(order, from, n * sizeof *order);
}
