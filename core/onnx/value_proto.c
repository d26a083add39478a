#include "value_proto.h"

#include "encode.h"

// Messages whose elements are still to be made.
typedef struct os_value_item {
  const op_value *value;
  void *message;
} os_value_item;

typedef struct os_value_writing {
  os_arena *arena;
  const os_types *types;
  struct {
    os_value_item *items;
    size_t count, room;
  } later;
} os_value_writing;

os_kind os_value_message_kind(const op_value *value) {
  switch (op_value_kind(value)) {
  case OP_TENSOR: return OS_KIND_TENSOR;
  case OP_SPARSE: return OS_KIND_SPARSE_TENSOR;
  case OP_SEQUENCE: return OS_KIND_SEQUENCE;
  case OP_MAP: return OS_KIND_MAP;
  case OP_OPTIONAL: return OS_KIND_OPTIONAL;
  }
  return OS_KIND_UNKNOWN;
}

// elem_type of SequenceProto and OptionalProto.
static int32_t os_value__number(os_kind kind) {
  static const os_kind order[] = {OS_KIND_UNKNOWN,  OS_KIND_TENSOR, OS_KIND_SPARSE_TENSOR,
                                  OS_KIND_SEQUENCE, OS_KIND_MAP,    OS_KIND_OPTIONAL};
  for (int32_t i = 1; i <= 5; i++)
    if (order[i] == kind) return i;
  return 0;
}

static int32_t os_value__number_of_type(os_type_kind kind) {
  switch (kind) {
  case OS_TYPE_TENSOR: return 1;
  case OS_TYPE_SPARSE: return 2;
  case OS_TYPE_SEQUENCE: return 3;
  case OS_TYPE_MAP: return 4;
  case OS_TYPE_OPTIONAL: return 5;
  default: return 0;
  }
}

static os_status os_value__sparse_message(os_value_writing *self, const op_value *value,
                                          Onnx__SparseTensorProto *proto) {
  proto->n_dims = (size_t)value->tensor.rank;
  proto->dims = (int64_t *)(uintptr_t)value->tensor.dims;
  OS_TRY(
      os_tensor_proto_new(self->arena, op_value_tensor(value->items[0]), OS_STR(""), proto, &proto->values));
  return os_tensor_proto_new(self->arena, op_value_tensor(value->items[1]), OS_STR(""), proto,
                             &proto->indices);
}

// The message of a value, its elements left for later.
static os_status os_value__message(os_value_writing *self, const op_value *value, os_str name, void *parent,
                                   void **out) {
  os_kind kind = os_value_message_kind(value);
  if (kind == OS_KIND_TENSOR) {
    Onnx__TensorProto *tensor;
    os_status status = os_tensor_proto_new(self->arena, op_value_tensor(value), name, parent, &tensor);
    *out = tensor;
    return status;
  }
  *out = os_proto_new(self->arena, os_kind_type(kind), parent);
  OS_TRY_ALLOC(*out);
  if (kind == OS_KIND_SPARSE_TENSOR) return os_value__sparse_message(self, value, *out);
  if (kind == OS_KIND_SEQUENCE) {
    Onnx__SequenceProto *proto = *out;
    proto->has_name = name.len > 0;
    proto->name = os_bytes_of(name);
  } else if (kind == OS_KIND_OPTIONAL) {
    Onnx__OptionalProto *proto = *out;
    proto->has_name = name.len > 0;
    proto->name = os_bytes_of(name);
  } else {
    Onnx__MapProto *proto = *out;
    proto->has_name = name.len > 0;
    proto->name = os_bytes_of(name);
  }
  os_value_item *item = OS_PUSH(self->arena, &self->later);
  OS_TRY_ALLOC(item);
  *item = (os_value_item){value, *out};
  return OS_OK;
}

// Elements into the list of a SequenceProto; `type` = what they are when there are none.
static os_status os_value__elements(os_value_writing *self, op_value *const *items, size_t count,
                                    op_type type, Onnx__SequenceProto *proto) {
  int32_t number = count > 0 ? os_value__number(os_value_message_kind(items[0]))
                             : os_value__number_of_type(os_types_get(self->types, type).kind);
  proto->has_elem_type = 1;
  proto->elem_type =
      number == 0 ? 1
                  : number; // UNDEFINED is not allowed: of an empty sequence without a type, nothing is lost
  void **list = OS_ARENA_ARRAY(self->arena, count, void *);
  OS_TRY_ALLOC(list);
  for (size_t i = 0; i < count; i++) {
    if (os_value__number(os_value_message_kind(items[i])) != number) return OS_INVALID_ARGUMENT;
    OS_TRY(os_value__message(self, items[i], OS_STR(""), proto, &list[i]));
  }
  if (count == 0) return OS_OK;
  switch (number) {
  case 1:
    proto->n_tensor_values = count;
    proto->tensor_values = (Onnx__TensorProto **)list;
    break;
  case 2:
    proto->n_sparse_tensor_values = count;
    proto->sparse_tensor_values = (Onnx__SparseTensorProto **)list;
    break;
  case 3:
    proto->n_sequence_values = count;
    proto->sequence_values = (Onnx__SequenceProto **)list;
    break;
  case 4:
    proto->n_map_values = count;
    proto->map_values = (Onnx__MapProto **)list;
    break;
  default:
    proto->n_optional_values = count;
    proto->optional_values = (Onnx__OptionalProto **)list;
    break;
  }
  return OS_OK;
}

static os_status os_value__optional(os_value_writing *self, const op_value *value,
                                    Onnx__OptionalProto *proto) {
  op_value *inner = op_optional_value(value);
  int32_t number = inner != NULL
                       ? os_value__number(os_value_message_kind(inner))
                       : os_value__number_of_type(
                             os_types_get(self->types, os_types_get(self->types, value->type).of).kind);
  proto->has_elem_type = 1;
  proto->elem_type = number;
  if (inner == NULL) return OS_OK;
  void *message;
  OS_TRY(os_value__message(self, inner, OS_STR(""), proto, &message));
  switch (number) {
  case 1: proto->tensor_value = message; break;
  case 2: proto->sparse_tensor_value = message; break;
  case 3: proto->sequence_value = message; break;
  case 4: proto->map_value = message; break;
  default: proto->optional_value = message; break;
  }
  return OS_OK;
}

static int64_t os_value__key(const op_tensor *keys, size_t index) {
  const char *at = (const char *)keys->data + index * op_elem_size(keys->elem);
  const os_elem_info *info = os_elem_info_of((int)keys->elem);
  uint64_t value = 0;
  memcpy(&value, at, info->bits / 8); // little-endian
  unsigned shift = 64u - info->bits;
  return info->kind == 'i' ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

static os_status os_value__map(os_value_writing *self, const op_value *value, Onnx__MapProto *proto) {
  const op_tensor *keys = op_value_tensor(value->keys);
  size_t count = (size_t)keys->count;
  proto->has_key_type = 1;
  proto->key_type = (int32_t)keys->elem;
  // A list without elements stays NULL: os_plan_far takes another pointer for that of a far list.
  if (count > 0 && keys->elem == OP_STRING) {
    proto->string_keys = OS_ARENA_ARRAY(self->arena, count, ProtobufCBinaryData);
    OS_TRY_ALLOC(proto->string_keys);
    for (size_t i = 0; i < count; i++) proto->string_keys[i] = os_bytes_of(((const os_str *)keys->data)[i]);
    proto->n_string_keys = count;
  } else if (count > 0) {
    proto->keys = OS_ARENA_ARRAY(self->arena, count, int64_t);
    OS_TRY_ALLOC(proto->keys);
    for (size_t i = 0; i < count; i++) proto->keys[i] = os_value__key(keys, i);
    proto->n_keys = count;
  }
  proto->values = OS_PROTO_NEW(self->arena, Onnx__SequenceProto, onnx__sequence_proto__descriptor, proto);
  OS_TRY_ALLOC(proto->values);
  return os_value__elements(self, value->items, value->count, os_types_get(self->types, value->type).of,
                            proto->values);
}

static os_status os_value__build(os_value_writing *self, const op_value *value, os_str name, void **root) {
  OS_TRY(os_value__message(self, value, name, NULL, root));
  while (self->later.count > 0) {
    os_value_item item = self->later.items[--self->later.count];
    switch (op_value_kind(item.value)) {
    case OP_SEQUENCE:
      OS_TRY(os_value__elements(self, item.value->items, item.value->count,
                                os_types_get(self->types, item.value->type).of, item.message));
      break;
    case OP_MAP: OS_TRY(os_value__map(self, item.value, item.message)); break;
    default: OS_TRY(os_value__optional(self, item.value, item.message)); break;
    }
  }
  return OS_OK;
}

os_status os_value_write(os_text *out, os_memory *memory, const os_types *types, const op_value *value,
                         os_str name) {
  os_arena arena;
  os_arena_init(&arena, memory);
  os_value_writing self = {.arena = &arena, .types = types};
  os_sink sink = os_sink_text(out);
  void *root;
  os_status status = os_value__build(&self, value, name, &root);
  if (status == OS_OK) status = os_proto_encode(memory, NULL, root, &sink);
  os_arena_clear(&arena);
  return status;
}
