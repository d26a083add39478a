#include "data_check_parts.h"
#include "map.h"
#include "utf8.h"

#include <inttypes.h>

// Messages that are still to be looked at; paths live in the check's arena.
typedef struct os_data_item {
  const void *message;
  os_kind kind;
  const os_path *path;
} os_data_item;

typedef struct os_data_list {
  os_data_item *items;
  size_t count, room;
} os_data_list;

static os_status os_data__later(const os_data_check *self, os_data_list *list, const void *message,
                                os_kind kind, const os_path *parent, os_str field, int64_t index) {
  os_path *path = OS_ARENA_NEW(self->arena, os_path);
  os_data_item *item = OS_PUSH(self->arena, list);
  if (path == NULL || item == NULL) return OS_OUT_OF_MEMORY;
  *path = (os_path){parent, field, index};
  *item = (os_data_item){message, kind, path};
  return OS_OK;
}

#define REPORT(self, rule, message, path, field, ...)                                                   \
  os_data_place((self), os_report_add((self)->report, &os_rule_##rule, __VA_ARGS__), (message), (path), \
                OS_STR(field))

#define REPORT_AS(self, rule, severity, message, path, field, ...)                                  \
  os_data_place((self), os_report_add_as((self)->report, &os_rule_##rule, (severity), __VA_ARGS__), \
                (message), (path), OS_STR(field))

// Names of SequenceProto's and OptionalProto's element kinds, by number.
static const struct {
  const char *name, *list, *field;
  os_kind kind;
} elems[] = {
    {"UNDEFINED", "", "", OS_KIND_UNKNOWN},
    {"TENSOR", "tensor_values", "tensor_value", OS_KIND_TENSOR},
    {"SPARSE_TENSOR", "sparse_tensor_values", "sparse_tensor_value", OS_KIND_SPARSE_TENSOR},
    {"SEQUENCE", "sequence_values", "sequence_value", OS_KIND_SEQUENCE},
    {"MAP", "map_values", "map_value", OS_KIND_MAP},
    {"OPTIONAL", "optional_values", "optional_value", OS_KIND_OPTIONAL},
};
enum { ELEMS = 6 };

// A list of SequenceProto by elem_type.
static size_t os_data__elements(const Onnx__SequenceProto *proto, int elem, const void *const **list) {
  switch (elem) {
  case 1: *list = (const void *const *)proto->tensor_values; return proto->n_tensor_values;
  case 2: *list = (const void *const *)proto->sparse_tensor_values; return proto->n_sparse_tensor_values;
  case 3: *list = (const void *const *)proto->sequence_values; return proto->n_sequence_values;
  case 4: *list = (const void *const *)proto->map_values; return proto->n_map_values;
  case 5: *list = (const void *const *)proto->optional_values; return proto->n_optional_values;
  default: *list = NULL; return 0;
  }
}

static const void *os_data__optional(const Onnx__OptionalProto *proto, int elem) {
  switch (elem) {
  case 1: return proto->tensor_value;
  case 2: return proto->sparse_tensor_value;
  case 3: return proto->sequence_value;
  case 4: return proto->map_value;
  case 5: return proto->optional_value;
  default: return NULL;
  }
}

// What a value says of its type at its outermost level, and the first value inside it, when there is one.
typedef struct os_data_facet {
  const char *field;
  int type;
  const void *inner;
  os_kind kind;
} os_data_facet;

static os_data_facet os_data__facet(const void *message, os_kind kind) {
  switch (kind) {
  case OS_KIND_TENSOR:
    return (os_data_facet){"data_type", ((const Onnx__TensorProto *)message)->data_type, NULL, kind};
  case OS_KIND_SPARSE_TENSOR:
    return (os_data_facet){"", 0, ((const Onnx__SparseTensorProto *)message)->values, OS_KIND_TENSOR};
  case OS_KIND_MAP: {
    const Onnx__MapProto *map = message;
    return (os_data_facet){"key_type", map->key_type, map->values, OS_KIND_SEQUENCE};
  }
  case OS_KIND_SEQUENCE: {
    const Onnx__SequenceProto *sequence = message;
    const void *const *list;
    if (os_data__elements(sequence, sequence->elem_type, &list) == 0)
      return (os_data_facet){"elem_type", sequence->elem_type, NULL, kind};
    return (os_data_facet){"elem_type", sequence->elem_type, list[0], elems[sequence->elem_type].kind};
  }
  default: {
    const Onnx__OptionalProto *optional = message;
    const void *value = os_data__optional(optional, optional->elem_type);
    return (os_data_facet){"elem_type", optional->elem_type, value,
                           value == NULL ? kind : elems[optional->elem_type].kind};
  }
  }
}

// Whether two values of one kind differ in type, as far as both say it: what is empty leaves the rest open. *a and *b
// then are where they do.
static bool os_data__differ(const void *first, const void *other, os_kind kind, os_data_facet *a,
                            os_data_facet *b) {
  for (; first != NULL && other != NULL; first = a->inner, other = b->inner, kind = a->kind) {
    *a = os_data__facet(first, kind);
    *b = os_data__facet(other, kind);
    if (kind == OS_KIND_OPTIONAL && (a->type == 0 || b->type == 0)) return false;
    if (a->type != b->type) return true;
  }
  return false;
}

static void os_data__check_sequence_types(const os_data_check *self, const Onnx__SequenceProto *proto,
                                          int elem, const os_path *path) {
  const void *const *list;
  size_t count = os_data__elements(proto, elem, &list);
  for (size_t i = 1; i < count; i++) {
    os_data_facet first, other;
    if (!os_data__differ(list[0], list[i], elems[elem].kind, &first, &other)) continue;
    os_data_place(self,
                  os_report_add(self->report, &os_rule_onnx_sequence_types,
                                "element 0 has %s %d, element %zu has %d", first.field, first.type, i,
                                other.type),
                  proto, path, os_str_of(elems[elem].list));
    return;
  }
}

static os_status os_data__check_sequence(const os_data_check *self, const Onnx__SequenceProto *proto,
                                         const os_path *path, os_data_list *later) {
  int elem = proto->has_elem_type ? proto->elem_type : 0;
  if (elem <= 0 || elem >= ELEMS) {
    REPORT(self, onnx_sequence_elem_type, proto, path, "elem_type", "elem_type is %d%s, not one of 1 to 5",
           elem, proto->has_elem_type ? "" : " (missing)");
    return OS_OK;
  }
  if (elem == 5) // onnx.checker does not know it yet
    REPORT_AS(self, onnx_sequence_elem_type, OS_WARNING, proto, path, "elem_type",
              "elem_type is OPTIONAL (5), which onnx.checker refuses");
  for (int other = 1; other < ELEMS; other++) {
    const void *const *list;
    size_t count = os_data__elements(proto, other, &list);
    if (other != elem && count > 0)
      REPORT(self, onnx_sequence_field, proto, path, "elem_type", "elem_type is %s, but %s has %zu element%s",
             elems[elem].name, elems[other].list, count, count == 1 ? "" : "s");
    for (size_t i = 0; other == elem && i < count; i++)
      OS_TRY(os_data__later(self, later, list[i], elems[elem].kind, path, os_str_of(elems[elem].list),
                            (int64_t)i));
  }
  os_data__check_sequence_types(self, proto, elem, path);
  return OS_OK;
}

static os_status os_data__check_optional(const os_data_check *self, const Onnx__OptionalProto *proto,
                                         const os_path *path, os_data_list *later) {
  int elem = proto->elem_type;
  if (!proto->has_elem_type || elem < 0 || elem >= ELEMS) {
    REPORT(self, onnx_optional_elem_type, proto, path, "elem_type", "elem_type is %d%s, not one of 0 to 5",
           elem, proto->has_elem_type ? "" : " (missing)");
    return OS_OK;
  }
  if (elem == 5)
    REPORT_AS(self, onnx_optional_elem_type, OS_WARNING, proto, path, "elem_type",
              "elem_type is OPTIONAL (5), which onnx.checker refuses");
  for (int other = 1; other < ELEMS; other++)
    if (other != elem && os_data__optional(proto, other) != NULL)
      REPORT(self, onnx_optional_field, proto, path, "elem_type", "elem_type is %s, but %s is there",
             elems[elem].name, elems[other].field);
  const void *value = os_data__optional(proto, elem);
  return value == NULL
             ? OS_OK
             : os_data__later(self, later, value, elems[elem].kind, path, os_str_of(elems[elem].field), -1);
}

static bool os_data__key_fits(int type, int64_t key) {
  const os_elem_info *info = os_elem_info_of(type);
  if (info->bits == 64) return true; // UINT64 keys above 2^63 lie there as negative numbers
  if (info->kind == 'u') return key >= 0 && key >> info->bits == 0;
  return key >= -((int64_t)1 << (info->bits - 1)) && key < (int64_t)1 << (info->bits - 1);
}

static os_status os_data__check_map_keys(const os_data_check *self, const Onnx__MapProto *proto,
                                         const os_path *path) {
  bool text = proto->key_type == OP_STRING, told = false;
  size_t count = text ? proto->n_string_keys : proto->n_keys;
  os_map seen;
  os_map_init(&seen, self->arena);
  for (size_t i = 0; i < count; i++) {
    os_str key = {NULL, 0};
    if (!text)
      key = (os_str){(const char *)&proto->keys[i], sizeof proto->keys[0]};
    else
      OS_TRY(os_bytes_load(self->origin.source, self->arena, proto->string_keys[i], &key));
    if (text && !told && os_utf8_valid(key) < key.len) {
      REPORT(self, onnx_map_key_text, proto, path, "string_keys", "key %zu is not UTF-8", i);
      told = true;
    }
    bool added;
    OS_TRY_ALLOC(os_map_put(&seen, key, &added));
    if (!added && text)
      REPORT_AS(self, onnx_map_keys, OS_WARNING, proto, path, "string_keys", "the key \"%.*s\" comes twice",
                OS_ARG(key));
    else if (!added)
      REPORT_AS(self, onnx_map_keys, OS_WARNING, proto, path, "keys", "the key %" PRId64 " comes twice",
                proto->keys[i]);
    if (!text && !os_data__key_fits(proto->key_type, proto->keys[i]))
      REPORT_AS(self, onnx_map_keys, OS_WARNING, proto, path, "keys", "the key %" PRId64 " does not fit %s",
                proto->keys[i], op_elem_name((op_elem)proto->key_type));
  }
  return OS_OK;
}

// onnx.checker refuses these types of keys by name and lets all others pass.
static bool os_data__refused_keys(int type) {
  return type == 0 || type == OP_FLOAT || type == OP_BOOL || type == OP_FLOAT16 || type == OP_COMPLEX64 ||
         type == OP_COMPLEX128;
}

static os_status os_data__check_map(const os_data_check *self, const Onnx__MapProto *proto,
                                    const os_path *path, os_data_list *later) {
  const os_elem_info *info = os_elem_info_of(proto->has_key_type ? proto->key_type : 0);
  bool typed = proto->has_key_type && os_elem_is_key(proto->key_type), integer = typed && info->kind != 's';
  if (!typed)
    os_data_place(self,
                  os_report_add_as(
                      self->report, &os_rule_onnx_map_key_type,
                      !proto->has_key_type || os_data__refused_keys(proto->key_type) ? OS_ERROR : OS_WARNING,
                      "key_type is %d%s, neither an integer type nor STRING", (int)proto->key_type,
                      proto->has_key_type ? "" : " (missing)"),
                  proto, path, OS_STR("key_type"));
  if (proto->n_keys > 0 && proto->n_string_keys > 0)
    REPORT(self, onnx_map_keys, proto, path, "keys", "both keys and string_keys are in use");
  else if (typed && (integer ? proto->n_string_keys > 0 : proto->n_keys > 0))
    REPORT_AS(self, onnx_map_keys, OS_WARNING, proto, path, "key_type", "%s keys are in %s", info->onnx,
              integer ? "string_keys" : "keys");
  else if (typed)
    OS_TRY(os_data__check_map_keys(self, proto, path));
  if (proto->values == NULL) {
    REPORT(self, onnx_map_values, proto, path, "values", "values is missing");
    return OS_OK;
  }
  const void *const *list;
  size_t keys = proto->n_keys + proto->n_string_keys,
         values = os_data__elements(proto->values, proto->values->elem_type, &list);
  if (keys != values)
    REPORT(self, onnx_map_values, proto, path, "values", "%zu keys, but %zu values", keys, values);
  return os_data__later(self, later, proto->values, OS_KIND_SEQUENCE, path, OS_STR("values"), -1);
}

os_status os_data_check_message(const os_data_check *self, const void *message, os_kind kind,
                                const os_path *path) {
  os_data_list later = {0};
  os_data_item item = {message, kind, path};
  for (;;) {
    switch (item.kind) {
    case OS_KIND_TENSOR: OS_TRY(os_tensor_check(self, item.message, item.path)); break;
    case OS_KIND_SPARSE_TENSOR: OS_TRY(os_sparse_check(self, item.message, item.path)); break;
    case OS_KIND_SEQUENCE: OS_TRY(os_data__check_sequence(self, item.message, item.path, &later)); break;
    case OS_KIND_OPTIONAL: OS_TRY(os_data__check_optional(self, item.message, item.path, &later)); break;
    case OS_KIND_MAP: OS_TRY(os_data__check_map(self, item.message, item.path, &later)); break;
    default: return OS_INVALID_ARGUMENT;
    }
    if (later.count == 0) return OS_OK;
    item = later.items[--later.count];
  }
}
