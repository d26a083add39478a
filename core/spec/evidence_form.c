// Values of evidence documents against their own types.
#include "decimal.h"
#include "map.h"
#include "scalar.h"
#include "spec_check.h"
#include "type_expr.h"
#include "utf8.h"

#include <math.h>

// Values that are still to be looked at: sequences, maps and optionals hold others.
typedef struct os_pending {
  const os_json *node;
  op_type wanted; // 0 = any
} os_pending;

typedef struct os_forming {
  os_checking *checking;
  os_types *types;
  struct {
    os_pending *items;
    size_t count, room;
  } pending;
} os_forming;

static os_finding *os_form__wrong(os_forming *self, const os_json *node, const char *expected) {
  const os_json_document *document = &self->checking->spec->document;
  os_str found = os_json_excerpt(document, self->checking->arena, node);
  os_finding *finding = os_checking_add(self->checking, &os_rule_evidence_form, node,
                                        "Expected %s here, found %.*s.", expected, OS_ARG(found));
  finding->expected = os_arena_format(self->checking->arena, "%s", expected);
  finding->actual = found;
  return finding;
}

static void os_form__missing(os_forming *self, const os_json *node, const char *member, const char *kind) {
  os_finding *finding = os_checking_add(self->checking, &os_rule_evidence_form, node,
                                        "The member \"%s\" of %s is missing here.", member, kind);
  finding->expected = os_str_of(member);
}

static void os_form__push(os_forming *self, const os_json *node, op_type wanted) {
  os_pending *slot = OS_PUSH(self->checking->arena, &self->pending);
  if (slot == NULL)
    self->checking->status = OS_OUT_OF_MEMORY;
  else
    *slot = (os_pending){node, wanted};
}

// ---- Elements ---------------------------------------------------------------------------------------------

static bool os_form__float(const os_json *node, op_elem elem) {
  if (os_json_is(node, OS_JSON_NUMBER)) {
    op_elem part = os_scalar_part(elem);
    double room;
    os_scalar_put_float(part, &room, 0, node->item.valuedouble);
    return isfinite(os_scalar_float(part, &room, 0)) != 0;
  }
  os_str text = os_json_string(node);
  return os_json_is(node, OS_JSON_STRING) &&
         (os_str_is(text, "NaN") || os_str_is(text, "Infinity") || os_str_is(text, "-Infinity"));
}

static bool os_form__is_decimal(os_str text) {
  size_t at = text.len > 0 && text.data[0] == '-';
  if (at == text.len) return false;
  for (size_t i = at; i < text.len; i++)
    if (text.data[i] < '0' || text.data[i] > '9') return false;
  return true;
}

// The text of a number, which may be written as a string.
static os_str os_form__digits(const os_forming *self, const os_json *node) {
  return os_json_is(node, OS_JSON_STRING) ? os_json_string(node)
                                          : os_json_source(&self->checking->spec->document, node);
}

static bool os_form__integer(os_forming *self, const os_json *node, const os_elem_info *info) {
  os_str text = os_form__digits(self, node);
  bool number =
      os_json_is(node, OS_JSON_NUMBER) || (os_json_is(node, OS_JSON_STRING) && os_form__is_decimal(text));
  if (!number) return false;
  os_decimal value = os_decimal_of(text);
  if (info->kind == 'u') {
    uint64_t whole;
    return os_decimal_uint64(&value, &whole) && (info->bits == 64 || whole >> info->bits == 0);
  }
  int64_t whole;
  if (!os_decimal_int64(&value, &whole)) return false;
  if (info->bits == 64) return true;
  int64_t half = (int64_t)1 << (info->bits - 1);
  return whole >= -half && whole < half;
}

static bool os_form__element(os_forming *self, const os_json *node, const os_elem_info *info, op_elem elem) {
  switch (info->kind) {
  case 's': return os_json_is(node, OS_JSON_STRING);
  case 'l': return os_json_is(node, OS_JSON_BOOL);
  case 'i':
  case 'u': return os_form__integer(self, node, info);
  default: return os_form__float(node, elem);
  }
}

static const char *os_form__element_words(os_forming *self, const os_elem_info *info) {
  switch (info->kind) {
  case 's': return "a string";
  case 'l': return "true or false";
  case 'i':
  case 'u':
    return os_arena_format(self->checking->arena, "an integer of %s", info->onnx).data; // ends in a NUL
  default:
    return os_arena_format(self->checking->arena,
                           "a number of the range of %s, \"NaN\", \"Infinity\" or \"-Infinity\"", info->onnx)
        .data;
  }
}

// ---- Tensors ----------------------------------------------------------------------------------------------

static bool os_form__shape(os_forming *self, const os_json *value, uint64_t *count) {
  const os_json *shape = os_json_member(value, "shape");
  *count = 1;
  if (shape == NULL) {
    os_form__missing(self, value, "shape", "a tensor");
    return false;
  }
  if (!os_json_is(shape, OS_JSON_ARRAY)) return false; // the schema has said so
  OS_JSON_EACH(axis, shape) {
    uint64_t length;
    os_decimal number = {0};
    if (!os_json_is(axis, OS_JSON_NUMBER)) return false;
    number = os_decimal_of(os_json_source(&self->checking->spec->document, axis));
    if (!os_decimal_uint64(&number, &length)) return false;
    if (__builtin_mul_overflow(*count, length, count)) {
      os_form__wrong(self, shape, "a shape with fewer elements");
      return false;
    }
  }
  return true;
}

static bool os_form__is_base64(os_str text, size_t *bytes) {
  size_t len = text.len;
  if (len % 4 != 0) return false;
  size_t padding = len > 0 && text.data[len - 1] == '=' ? (text.data[len - 2] == '=' ? 2 : 1) : 0;
  for (size_t i = 0; i < len - padding; i++) {
    char c = text.data[i];
    bool digit =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (!digit) return false;
  }
  *bytes = len / 4 * 3 - padding;
  return true;
}

static void os_form__bytes(os_forming *self, const os_json *node, const os_elem_info *info, uint64_t count) {
  size_t bytes = 0;
  if (info->kind == 's') {
    os_form__wrong(self, node->parent, "a list of strings");
    return;
  }
  if (!os_form__is_base64(os_json_string(node), &bytes)) {
    os_form__wrong(self, node, "base64");
    return;
  }
  uint64_t bits, wanted;
  if (__builtin_mul_overflow(count, (uint64_t)info->bits, &bits)) return;
  wanted = bits / 8 + (bits % 8 > 0);
  if (bytes == wanted) return;
  os_finding *finding = os_checking_add(self->checking, &os_rule_evidence_form, node,
                                        "The shape needs %llu bytes of %s; there are %zu here.",
                                        (unsigned long long)wanted, info->onnx, bytes);
  finding->expected = os_arena_format(self->checking->arena, "%llu bytes", (unsigned long long)wanted);
  finding->actual = os_arena_format(self->checking->arena, "%zu bytes", bytes);
}

static void os_form__tensor(os_forming *self, const os_json *value, op_elem elem) {
  const os_elem_info *info = os_elem_info_of(elem);
  const os_json *data = os_json_member(value, "data");
  uint64_t count;
  if (data == NULL) os_form__missing(self, value, "data", "a tensor");
  if (!os_form__shape(self, value, &count) || data == NULL || info == NULL) return;
  if (os_json_is(data, OS_JSON_OBJECT)) {
    const os_json *text = os_json_member(data, "base64");
    if (os_json_is(text, OS_JSON_STRING)) os_form__bytes(self, text, info, count);
    return;
  }
  if (!os_json_is(data, OS_JSON_ARRAY)) return;
  if (info->kind == 'c' && __builtin_mul_overflow(count, (uint64_t)2, &count)) return;
  if (data->length != count) {
    os_finding *finding = os_checking_add(self->checking, &os_rule_evidence_form, data,
                                          "The shape needs %llu values; there are %u here.",
                                          (unsigned long long)count, data->length);
    finding->expected = os_arena_format(self->checking->arena, "%llu", (unsigned long long)count);
    finding->actual = os_arena_format(self->checking->arena, "%u", data->length);
    return;
  }
  OS_JSON_EACH(element, data) {
    if (os_form__element(self, element, info, elem)) continue;
    os_form__wrong(self, element, os_form__element_words(self, info)); // the first one tells enough
    return;
  }
}

// One index a value: the element's number, or as many numbers as there are axes, one behind the other.
static void os_form__indices(os_forming *self, const os_json *indices, const os_json *shape, uint64_t count,
                             uint64_t elements) {
  bool linear = indices->length == count;
  if (!linear && indices->length != count * shape->length) {
    os_form__wrong(self, indices, "an index for each value, or one for each axis of each value");
    return;
  }
  const os_json *axis = NULL;
  OS_JSON_EACH(index, indices) {
    axis = axis == NULL || os_json_next(axis) == NULL ? os_json_first(shape) : os_json_next(axis);
    uint64_t length = elements, whole;
    os_decimal number = os_decimal_of(os_form__digits(self, index));
    if (!linear) {
      os_decimal size = os_decimal_of(os_form__digits(self, axis));
      if (!os_decimal_uint64(&size, &length)) return;
    }
    if (os_form__integer(self, index, os_elem_info_of(OP_INT64)) && os_decimal_uint64(&number, &whole) &&
        whole < length)
      continue;
    os_form__wrong(self, index,
                   os_arena_format(self->checking->arena, "an index below %llu", (unsigned long long)length)
                       .data); // ends in a NUL
    return;                    // the first one tells enough
  }
}

static void os_form__sparse(os_forming *self, const os_json *value, op_elem elem) {
  uint64_t elements;
  const os_elem_info *info = os_elem_info_of(elem);
  const os_json *values = os_json_member(value, "values"), *indices = os_json_member(value, "indices");
  if (values == NULL) os_form__missing(self, value, "values", "a sparse tensor");
  if (indices == NULL) os_form__missing(self, value, "indices", "a sparse tensor");
  bool shaped = os_form__shape(self, value, &elements);
  if (info == NULL || !os_json_is(values, OS_JSON_ARRAY)) return;
  OS_JSON_EACH(element, values) {
    if (os_form__element(self, element, info, elem)) continue;
    os_form__wrong(self, element, os_form__element_words(self, info));
    return;
  }
  uint64_t parts = info->kind == 'c' ? 2 : 1;
  if (values->length % parts != 0)
    os_form__wrong(self, values, "a real and an imaginary part for each value");
  else if (shaped && os_json_is(indices, OS_JSON_ARRAY))
    os_form__indices(self, indices, os_json_member(value, "shape"), values->length / parts, elements);
}

// ---- Containers -------------------------------------------------------------------------------------------

static void os_form__sequence(os_forming *self, const os_json *value, op_type of) {
  const os_json *items = os_json_member(value, "items");
  if (items == NULL) os_form__missing(self, value, "items", "a sequence");
  OS_JSON_EACH(item, os_json_is(items, OS_JSON_ARRAY) ? items : NULL) os_form__push(self, item, of);
}

// What tells a key from others: a string's bytes, an integer's value however it is written.
static os_str os_form__key(os_forming *self, const os_json *node, const os_elem_info *info) {
  os_str text = os_form__digits(self, node);
  if (info->kind == 's') return text;
  os_decimal number = os_decimal_of(text);
  int64_t whole;
  uint64_t large;
  if (os_decimal_int64(&number, &whole))
    return os_arena_format(self->checking->arena, "%lld", (long long)whole);
  if (os_decimal_uint64(&number, &large))
    return os_arena_format(self->checking->arena, "%llu", (unsigned long long)large);
  return text;
}

static void os_form__map_key(os_forming *self, const os_json *node, const os_elem_info *info, op_elem elem,
                             os_map *keys) {
  if (!os_form__element(self, node, info, elem)) {
    os_form__wrong(self, node, os_form__element_words(self, info));
    return;
  }
  bool added = false;
  os_map_entry *entry = os_map_put(keys, os_form__key(self, node, info), &added);
  if (entry == NULL)
    self->checking->status = OS_OUT_OF_MEMORY;
  else if (!added)
    os_checking_add(self->checking, &os_rule_evidence_form, node,
                    "This key stands in the map twice; remove one of the entries.");
}

static void os_form__map(os_forming *self, const os_json *value, const os_type *type) {
  const os_json *entries = os_json_member(value, "entries");
  const os_elem_info *key = os_elem_info_of(type->elem), *scalar = os_elem_info_of((int)type->of);
  os_map keys;
  os_map_init(&keys, self->checking->arena);
  if (entries == NULL) os_form__missing(self, value, "entries", "a map");
  OS_JSON_EACH(entry, os_json_is(entries, OS_JSON_ARRAY) ? entries : NULL) {
    if (!os_json_is(entry, OS_JSON_ARRAY) || entry->length != 2) continue; // the schema has said so
    const os_json *first = os_json_first(entry), *second = os_json_next(first);
    if (key != NULL) os_form__map_key(self, first, key, type->elem, &keys);
    if (os_is_evidence_value(second))
      os_form__push(self, second, type->of);
    else if (scalar == NULL)
      os_form__wrong(self, second, "a value with its type");
    else if (!os_form__element(self, second, scalar, (op_elem)type->of))
      os_form__wrong(self, second, os_form__element_words(self, scalar));
  }
}

static void os_form__optional(os_forming *self, const os_json *value, op_type of) {
  const os_json *inner = os_json_member(value, "value");
  if (inner == NULL)
    os_form__missing(self, value, "value", "an optional");
  else if (os_json_is(inner, OS_JSON_OBJECT))
    os_form__push(self, inner, of);
}

// ---- A value ----------------------------------------------------------------------------------------------

static op_type os_form__type(os_forming *self, const os_json *value) {
  os_checking *checking = self->checking;
  const os_json *node = os_json_member(value, "type");
  os_type_fault fault = {0};
  op_type type = 0;
  if (!os_json_is(node, OS_JSON_STRING)) return 0;
  if (os_type_parse(self->types, checking->arena, os_json_string(node), &type, &fault) != OS_OK) {
    checking->status = OS_OUT_OF_MEMORY;
    return 0;
  }
  if (type != 0) return type;
  os_str text = os_json_quote_head(checking->arena, os_json_string(node));
  os_finding *finding = os_checking_add(
      checking, &os_rule_evidence_type, node, "%.*s is no ONNX type: expected %s at character %zu.%s%.*s",
      OS_ARG(text), fault.expected, os_utf8_count(os_str_slice(os_json_string(node), 0, fault.offset)) + 1,
      fault.suggestion.len > 0 ? " Probably meant: " : "", OS_ARG(fault.suggestion));
  finding->actual = text;
  finding->expected = os_str_of(fault.expected);
  if (fault.suggestion.len > 0) os_checking_fix_string(checking, finding, false, node, fault.suggestion);
  return 0;
}

static op_type os_form__value(os_forming *self, const os_pending *pending) {
  const os_json *value = pending->node;
  if (!os_is_evidence_value(value)) {
    if (pending->wanted != 0) os_form__wrong(self, value, "a value with its type");
    return 0;
  }
  op_type type = os_form__type(self, value);
  if (type == 0) return 0;
  if (pending->wanted != 0 && type != pending->wanted) {
    os_str wanted = os_types_print(self->types, self->checking->arena, pending->wanted);
    os_str found = os_types_print(self->types, self->checking->arena, type);
    os_finding *finding =
        os_checking_add(self->checking, &os_rule_evidence_type, os_json_member(value, "type"),
                        "What holds this value takes %.*s, not %.*s.", OS_ARG(wanted), OS_ARG(found));
    finding->expected = wanted;
    finding->actual = found;
  }
  os_type what = os_types_get(self->types, type);
  switch (what.kind) {
  case OS_TYPE_TENSOR: os_form__tensor(self, value, what.elem); break;
  case OS_TYPE_SPARSE: os_form__sparse(self, value, what.elem); break;
  case OS_TYPE_SEQUENCE: os_form__sequence(self, value, what.of); break;
  case OS_TYPE_MAP: os_form__map(self, value, &what); break;
  case OS_TYPE_OPTIONAL: os_form__optional(self, value, what.of); break;
  default: break;
  }
  return type;
}

void os_check_evidence_value(os_checking *checking, const os_json *node, op_type *type) {
  os_forming self = {.checking = checking, .types = checking->checker->types};
  os_pending first = {node, 0};
  *type = os_form__value(&self, &first);
  for (size_t i = 0; i < self.pending.count && checking->status == OS_OK; i++) {
    os_pending next = self.pending.items[i];
    os_form__value(&self, &next);
  }
}
