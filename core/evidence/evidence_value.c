#include "evidence_value.h"

#include "base64.h"
#include "decimal.h"
#include "scalar.h"
#include "type_expr.h"

#include <math.h>

typedef struct os_evidence__reader {
  os_memory *memory;
  os_arena *arena;
  os_types *types;
  const os_json_document *document;
  os_evidence_fault *fault;
} os_evidence__reader;

#define OS_EVIDENCE_FAIL(self, at, ...) \
  (*(self)->fault = (os_evidence_fault){os_arena_format((self)->arena, __VA_ARGS__), (at)}, OS_MALFORMED)

// ---- Single elements --------------------------------------------------------------------------------------

// Optional minus and digits, as int64 may be written in a string.
static bool os_evidence__is_integer_text(os_str text) {
  size_t i = text.len > 0 && text.data[0] == '-' ? 1 : 0;
  if (i == text.len || (text.data[i] == '0' && text.len > i + 1)) return false;
  for (; i < text.len; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
  }
  return true;
}

static bool os_evidence__put_int(op_elem elem, void *data, int64_t index, os_str text) {
  os_decimal number = os_decimal_of(text);
  int64_t value;
  uint64_t bits;
  if (os_decimal_int64(&number, &value))
    return os_scalar_put_int(elem, data, index, value < 0, (uint64_t)value);
  return os_decimal_uint64(&number, &bits) && os_scalar_put_int(elem, data, index, false, bits);
}

static bool os_evidence__float(op_elem part, os_str text, double *out) {
  *out = part == OP_FLOAT ? (double)os_decimal_float(text) : os_decimal_double(text);
  return !isinf(*out);
}

// A number of a float type: a JSON number, or one of three words.
static bool os_evidence__put_float(const os_evidence__reader *self, op_elem part, void *data, int64_t index,
                                   const os_json *node) {
  double value;
  if (os_json_is(node, OS_JSON_STRING)) {
    os_str word = os_json_string(node);
    if (os_str_is(word, "NaN"))
      value = (double)NAN;
    else if (os_str_is(word, "Infinity"))
      value = (double)INFINITY;
    else if (os_str_is(word, "-Infinity"))
      value = -(double)INFINITY;
    else
      return false;
  } else if (!os_json_is(node, OS_JSON_NUMBER) ||
             !os_evidence__float(part, os_json_source(self->document, node), &value)) {
    return false;
  }
  os_scalar_put_float(part, data, index, value);
  // An ordinary number must not have become an infinity of a narrow type.
  return isnan(value) || isinf(value) || !isinf(os_scalar_float(part, data, index));
}

static const char *os_evidence__wanted(op_elem elem) {
  if (elem == OP_STRING) return "a string";
  if (elem == OP_BOOL) return "true or false";
  if (os_scalar_is_float(elem)) return "a number of its range, \"NaN\", \"Infinity\" or \"-Infinity\"";
  return "an integer of its range";
}

static os_status os_evidence__element(const os_evidence__reader *self, op_value *value, int64_t index,
                                      const os_json *node) {
  op_tensor *tensor = op_value_edit(value);
  op_elem elem = tensor->elem;
  bool right;
  if (elem == OP_STRING) {
    right = os_json_is(node, OS_JSON_STRING);
    if (right) OS_TRY(op_string_set(tensor, index, os_json_string(node)));
  } else if (elem == OP_BOOL) {
    right = os_json_is(node, OS_JSON_BOOL);
    ((uint8_t *)tensor->data)[index] = os_json_is(node, OS_JSON_TRUE) ? 1 : 0;
  } else if (os_scalar_is_float(elem)) {
    right = os_evidence__put_float(self, os_scalar_part(elem), tensor->data, index, node);
  } else if (os_json_is(node, OS_JSON_NUMBER)) {
    right = os_evidence__put_int(elem, tensor->data, index, os_json_source(self->document, node));
  } else {
    os_str text = os_json_string(node);
    right = os_evidence__is_integer_text(text) && os_evidence__put_int(elem, tensor->data, index, text);
  }
  if (right) return OS_OK;
  os_str found = os_json_excerpt(self->document, self->arena, node);
  return OS_EVIDENCE_FAIL(self, node, "an element of a tensor(%s) is %s, not %.*s", op_elem_name(elem),
                          os_evidence__wanted(elem), OS_ARG(found));
}

// ---- Tensors ----------------------------------------------------------------------------------------------

static bool os_evidence__base64(os_arena *arena, os_str text, os_str *out) {
  char *to = os_arena_alloc(arena, text.len / 4 * 3 + 3);
  out->data = to;
  return to != NULL && os_base64_read(text, to, &out->len);
}

// Elements from the bytes of raw_data: little-endian; 4- and 2-bit ones packed, the first in the lowest bits.
static void os_evidence__unpack(op_tensor *tensor, os_str bytes, unsigned width) {
  if (width >= 8) {
    memcpy(tensor->data, bytes.data, bytes.len);
    return;
  }
  unsigned per_byte = 8 / width, mask = (1u << width) - 1;
  bool extend = tensor->elem == OP_INT4 || tensor->elem == OP_INT2;
  for (int64_t i = 0; i < tensor->count; i++) {
    unsigned byte = (unsigned char)bytes.data[(size_t)i / per_byte];
    unsigned value = byte >> ((size_t)i % per_byte * width) & mask;
    if (extend && (value >> (width - 1)) != 0) value |= ~mask;
    ((uint8_t *)tensor->data)[i] = (uint8_t)value;
  }
}

static os_status os_evidence__raw(const os_evidence__reader *self, op_value *value, const os_json *data) {
  op_tensor *tensor = op_value_edit(value);
  const os_json *text = os_json_member(data, "base64");
  os_str bytes;
  if (tensor->elem == OP_STRING) return OS_EVIDENCE_FAIL(self, data, "strings cannot be given as base64");
  if (!os_json_is(text, OS_JSON_STRING) || !os_evidence__base64(self->arena, os_json_string(text), &bytes))
    return OS_EVIDENCE_FAIL(self, text != NULL ? text : data,
                            "data is neither a list nor { \"base64\": text }");
  unsigned width = os_elem_info_of((int)tensor->elem)->bits;
  uint64_t need = ((uint64_t)tensor->count * width + 7) / 8;
  if (bytes.len != need)
    return OS_EVIDENCE_FAIL(self, text, "the shape needs %llu bytes, base64 gives %zu",
                            (unsigned long long)need, bytes.len);
  os_evidence__unpack(tensor, bytes, width);
  return OS_OK;
}

static os_status os_evidence__shape(const os_evidence__reader *self, const os_json *node,
                                    const os_json *owner, int32_t *rank, int64_t *dims) {
  if (!os_json_is(node, OS_JSON_ARRAY))
    return OS_EVIDENCE_FAIL(self, node != NULL ? node : owner, "shape must be a list of dimensions");
  if (node->length > OP_MAX_RANK)
    return OS_EVIDENCE_FAIL(self, node, "shape has %u dimensions, at most %d are possible", node->length,
                            OP_MAX_RANK);
  *rank = 0;
  OS_JSON_EACH(dim, node) {
    os_decimal number;
    bool right = os_json_is(dim, OS_JSON_NUMBER);
    if (right) {
      number = os_decimal_of(os_json_source(self->document, dim));
      right = os_decimal_int64(&number, &dims[*rank]) && dims[*rank] >= 0;
    }
    if (!right) return OS_EVIDENCE_FAIL(self, dim, "a dimension is an integer that is not negative");
    (*rank)++;
  }
  return OS_OK;
}

// Elements from a flat list; complex ones take two numbers each.
static os_status os_evidence__list(const os_evidence__reader *self, op_value *value, const os_json *data) {
  op_tensor *tensor = op_value_edit(value);
  int64_t parts = os_scalar_part(tensor->elem) == tensor->elem ? 1 : 2;
  if ((int64_t)data->length != tensor->count * parts)
    return OS_EVIDENCE_FAIL(self, data, "the shape needs %lld numbers, the list has %u",
                            (long long)(tensor->count * parts), data->length);
  int64_t index = 0;
  OS_JSON_EACH(element, data) OS_TRY(os_evidence__element(self, value, index++, element));
  return OS_OK;
}

static os_status os_evidence__new_tensor(const os_evidence__reader *self, op_elem elem, int32_t rank,
                                         const int64_t *dims, const os_json *at, op_value **out) {
  int64_t count;
  size_t bytes;
  if (!os_tensor_count(elem, rank, dims, &count, &bytes))
    return OS_EVIDENCE_FAIL(self, at, "the shape is too large");
  *out = os_value_tensor(self->memory, elem, rank, dims);
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_status os_evidence__fill(const os_evidence__reader *self, op_value *value, const os_json *data,
                                   const os_json *owner) {
  if (os_json_is(data, OS_JSON_ARRAY)) return os_evidence__list(self, value, data);
  if (os_json_is(data, OS_JSON_OBJECT)) return os_evidence__raw(self, value, data);
  return OS_EVIDENCE_FAIL(self, data != NULL ? data : owner,
                          "data must be a list of elements or { \"base64\": text }");
}

static os_status os_evidence__tensor(const os_evidence__reader *self, op_elem elem, const os_json *node,
                                     op_value **out) {
  int32_t rank;
  int64_t dims[OP_MAX_RANK];
  OS_TRY(os_evidence__shape(self, os_json_member(node, "shape"), node, &rank, dims));
  OS_TRY(os_evidence__new_tensor(self, elem, rank, dims, os_json_member(node, "shape"), out));
  return os_evidence__fill(self, *out, os_json_member(node, "data"), node);
}

// ---- Sparse tensors ---------------------------------------------------------------------------------------

static os_status os_evidence__sparse(const os_evidence__reader *self, os_type type, op_type id,
                                     const os_json *node, op_value **out) {
  int32_t rank;
  int64_t dims[OP_MAX_RANK];
  OS_TRY(os_evidence__shape(self, os_json_member(node, "shape"), node, &rank, dims));
  const os_json *values = os_json_member(node, "values"), *indices = os_json_member(node, "indices");
  if (!os_json_is(values, OS_JSON_ARRAY) || !os_json_is(indices, OS_JSON_ARRAY))
    return OS_EVIDENCE_FAIL(self, node, "a sparse tensor has lists values and indices");
  int64_t count = values->length / (os_scalar_part(type.elem) == type.elem ? 1 : 2);
  bool linear = indices->length == (uint64_t)count && rank != 1;
  int64_t index_dims[2] = {count, rank};
  op_value *value, *index;
  OS_TRY(os_evidence__new_tensor(self, type.elem, 1, &count, values, &value));
  os_status status =
      os_evidence__new_tensor(self, OP_INT64, linear || rank == 1 ? 1 : 2, index_dims, indices, &index);
  if (status != OS_OK) {
    op_value_release(value);
    return status;
  }
  status = os_evidence__list(self, value, values);
  if (status == OS_OK) status = os_evidence__list(self, index, indices);
  if (status != OS_OK) {
    op_value_release(value);
    op_value_release(index);
    return status;
  }
  *out = os_value_sparse(self->memory, id, value, index, rank, dims);
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

// ---- Values that hold values ------------------------------------------------------------------------------

static os_status os_evidence__read(const os_evidence__reader *self, const os_json *node, op_type wanted,
                                   op_value **out);

static os_status os_evidence__sequence(const os_evidence__reader *self, os_type type, op_type id,
                                       const os_json *node, op_value **out) {
  const os_json *items = os_json_member(node, "items");
  if (!os_json_is(items, OS_JSON_ARRAY)) return OS_EVIDENCE_FAIL(self, node, "a sequence has a list items");
  *out = os_value_sequence(self->memory, id, items->length);
  OS_TRY_ALLOC(*out);
  OS_JSON_EACH(item, items) {
    op_value *value = NULL;
    os_status status = os_evidence__read(self, item, type.of, &value);
    if (status == OS_OK && value == NULL)
      status = OS_EVIDENCE_FAIL(self, item, "an item of a sequence cannot be null");
    if (status != OS_OK) {
      op_value_release(value);
      return status;
    }
    (*out)->items[(*out)->count++] = value;
  }
  return OS_OK;
}

static os_status os_evidence__optional(const os_evidence__reader *self, os_type type, op_type id,
                                       const os_json *node, op_value **out) {
  const os_json *inner = os_json_member(node, "value");
  op_value *value = NULL;
  if (inner == NULL)
    return OS_EVIDENCE_FAIL(self, node, "an optional has a member value, null when it is empty");
  os_status status = os_evidence__read(self, inner, type.of, &value);
  if (status != OS_OK) {
    op_value_release(value);
    return status;
  }
  *out = os_value_optional(self->memory, id, value);
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

// Order of keys: integers by value, strings by bytes. Both were read into `keys`.
static bool os_evidence__key_less(const op_tensor *keys, uint32_t a, uint32_t b) {
  if (keys->elem == OP_STRING)
    return os_str_cmp(((const os_str *)keys->data)[a], ((const os_str *)keys->data)[b]) < 0;
  int64_t x = os_scalar_int(keys->elem, keys->data, a), y = os_scalar_int(keys->elem, keys->data, b);
  return keys->elem == OP_UINT64 ? (uint64_t)x < (uint64_t)y : x < y;
}

// Bottom-up merge sort of `order`.
static void os_evidence__sort(const op_tensor *keys, uint32_t *order, uint32_t *scratch, uint32_t count) {
  for (uint64_t width = 1; width < count; width *= 2) {
    for (uint64_t start = 0; start < count; start += 2 * width) {
      uint64_t middle = start + width < count ? start + width : count;
      uint64_t end = start + 2 * width < count ? start + 2 * width : count;
      uint64_t a = start, b = middle;
      for (uint64_t i = start; i < end; i++) {
        bool right = a == middle || (b < end && os_evidence__key_less(keys, order[b], order[a]));
        scratch[i] = right ? order[b++] : order[a++];
      }
    }
    memcpy(order, scratch, count * sizeof *order);
  }
}

static os_status os_evidence__entry_value(const os_evidence__reader *self, op_type of, const os_json *node,
                                          op_value **out) {
  if (!op_type_is_tensor(of) || os_json_is(node, OS_JSON_OBJECT))
    return os_evidence__read(self, node, of, out);
  OS_TRY(os_evidence__new_tensor(self, (op_elem)of, 0, NULL, node, out));
  return os_evidence__element(self, *out, 0, node);
}

static os_status os_evidence__read_keys(const os_evidence__reader *self, const os_json *entries,
                                        op_value *keys, const os_json **values) {
  uint32_t index = 0;
  OS_JSON_EACH(entry, entries) {
    if (!os_json_is(entry, OS_JSON_ARRAY) || entry->length != 2)
      return OS_EVIDENCE_FAIL(self, entry, "an entry of a map is a list of a key and a value");
    OS_TRY(os_evidence__element(self, keys, index, os_json_at(entry, 0)));
    values[index++] = os_json_at(entry, 1);
  }
  return OS_OK;
}

static os_status os_evidence__read_entries(const os_evidence__reader *self, os_type type, op_value *keys,
                                           const os_json *entries, op_value *sorted, op_value **items) {
  uint32_t count = entries->length;
  const os_json **values = OS_ARENA_ARRAY(self->arena, count + 1, const os_json *);
  uint32_t *order = OS_ARENA_ARRAY(self->arena, 2 * (size_t)count + 1, uint32_t);
  if (values == NULL || order == NULL) return OS_OUT_OF_MEMORY;
  OS_TRY(os_evidence__read_keys(self, entries, keys, values));
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  os_evidence__sort(&keys->tensor, order, order + count, count);
  size_t size = op_elem_size(type.elem);
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && !os_evidence__key_less(&keys->tensor, order[i - 1], order[i]))
      return OS_EVIDENCE_FAIL(self, os_json_at(entries, order[i]), "this key stands twice");
    if (type.elem == OP_STRING)
      OS_TRY(op_string_set(op_value_edit(sorted), i, ((const os_str *)keys->tensor.data)[order[i]]));
    else
      memcpy((char *)sorted->tensor.data + i * size, (const char *)keys->tensor.data + order[i] * size, size);
    OS_TRY(os_evidence__entry_value(self, type.of, values[order[i]], &items[i]));
    if (items[i] == NULL) return OS_EVIDENCE_FAIL(self, values[order[i]], "a value of a map cannot be null");
  }
  return OS_OK;
}

static os_status os_evidence__map(const os_evidence__reader *self, os_type type, op_type id,
                                  const os_json *node, op_value **out) {
  const os_json *entries = os_json_member(node, "entries");
  if (!os_json_is(entries, OS_JSON_ARRAY)) return OS_EVIDENCE_FAIL(self, node, "a map has a list entries");
  int64_t count = entries->length;
  op_value **items = OS_ARENA_ARRAY(self->arena, (size_t)count + 1, op_value *);
  op_value *keys = os_value_tensor(self->memory, type.elem, 1, &count);
  op_value *sorted = os_value_tensor(self->memory, type.elem, 1, &count);
  os_status status = OS_OUT_OF_MEMORY;
  if (items != NULL && keys != NULL && sorted != NULL)
    status = os_evidence__read_entries(self, type, keys, entries, sorted, items);
  op_value_release(keys);
  if (status == OS_OK) {
    *out = os_value_map(self->memory, id, sorted, items, (size_t)count);
    return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  }
  op_value_release(sorted);
  for (uint32_t i = 0; items != NULL && i < (uint32_t)count; i++) op_value_release(items[i]);
  return status;
}

// ---- Any value --------------------------------------------------------------------------------------------

// Nesting is bounded: the type of what is inside must be the one that the outer type names.
static os_status os_evidence__read(const os_evidence__reader *self, const os_json *node, op_type wanted,
                                   op_value **out) {
  if (os_json_is(node, OS_JSON_NULL)) return OS_OK;
  const os_json *expression = os_json_member(node, "type");
  if (!os_json_is(expression, OS_JSON_STRING))
    return OS_EVIDENCE_FAIL(self, node, "a value is an object with a type, or null");
  op_type id;
  os_type_fault fault;
  OS_TRY(os_type_parse(self->types, self->arena, os_json_string(expression), &id, &fault));
  if (id == 0)
    return OS_EVIDENCE_FAIL(self, expression, "not a type expression: %s expected", fault.expected);
  if (wanted != 0 && id != wanted) {
    os_str text = os_types_print(self->types, self->arena, wanted);
    return OS_EVIDENCE_FAIL(self, expression, "the type around it asks for %.*s", OS_ARG(text));
  }
  os_type type = os_types_get(self->types, id);
  switch (type.kind) {
  case OS_TYPE_TENSOR: return os_evidence__tensor(self, type.elem, node, out);
  case OS_TYPE_SPARSE: return os_evidence__sparse(self, type, id, node, out);
  case OS_TYPE_SEQUENCE: return os_evidence__sequence(self, type, id, node, out);
  case OS_TYPE_OPTIONAL: return os_evidence__optional(self, type, id, node, out);
  case OS_TYPE_MAP: return os_evidence__map(self, type, id, node, out);
  default: return OS_EVIDENCE_FAIL(self, expression, "values of this type cannot be written");
  }
}

os_status os_evidence_value(os_memory *memory, os_arena *arena, os_types *types,
                            const os_json_document *document, const os_json *node, op_value **out,
                            os_evidence_fault *fault) {
  os_evidence__reader self = {memory, arena, types, document, fault};
  *out = NULL;
  *fault = (os_evidence_fault){{"", 0}, node};
  os_status status = os_evidence__read(&self, node, 0, out);
  if (status != OS_OK) {
    op_value_release(*out);
    *out = NULL;
  }
  return status;
}
