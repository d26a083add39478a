#include "value_proto.h"

// The type inside this one, NULL where it ends.
static const Onnx__TypeProto *os_type__inner(const Onnx__TypeProto *proto) {
  switch (proto->value_case) {
  case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE: return proto->sequence_type->elem_type;
  case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE: return proto->optional_type->elem_type;
  case ONNX__TYPE_PROTO__VALUE_MAP_TYPE: return proto->map_type->value_type;
  default: return NULL;
  }
}

static op_elem os_type__elem(protobuf_c_boolean has, int32_t number) {
  return has && number > 0 && number < OP_ELEM_COUNT ? (op_elem)number : OP_NONE;
}

// The type of one level, given the type inside it (0 = unknown or none).
static op_type os_type__level(os_types *types, const Onnx__TypeProto *proto, op_type inner) {
  os_type type = {.of = inner};
  switch (proto->value_case) {
  case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
    return op_type_tensor(os_type__elem(proto->tensor_type->has_elem_type, proto->tensor_type->elem_type));
  case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
    type.kind = OS_TYPE_SPARSE;
    type.elem = os_type__elem(proto->sparse_tensor_type->has_elem_type, proto->sparse_tensor_type->elem_type);
    return type.elem == OP_NONE ? 0 : os_types_intern(types, type);
  case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
    type.kind = OS_TYPE_MAP;
    type.elem = os_type__elem(proto->map_type->has_key_type, proto->map_type->key_type);
    return type.elem == OP_NONE || inner == 0 ? 0 : os_types_intern(types, type);
  case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
    type.kind = OS_TYPE_SEQUENCE;
    return inner == 0 ? 0 : os_types_intern(types, type);
  case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
    type.kind = OS_TYPE_OPTIONAL;
    return inner == 0 ? 0 : os_types_intern(types, type);
  case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
    type.kind = OS_TYPE_OPAQUE;
    type.domain = os_bytes_str(proto->opaque_type->domain);
    type.name = os_bytes_str(proto->opaque_type->name);
    return os_types_intern(types, type);
  default: return 0;
  }
}

op_type os_type_from_proto(os_types *types, const Onnx__TypeProto *proto) {
  unsigned depth = 0;
  for (const Onnx__TypeProto *at = proto; at != NULL; at = os_type__inner(at)) depth++;
  op_type type = 0;
  while (depth > 0) { // from the innermost outwards
    depth--;
    const Onnx__TypeProto *at = proto;
    for (unsigned i = 0; i < depth; i++) at = os_type__inner(at);
    type = os_type__level(types, at, type);
    if (type == 0) return 0;
  }
  return type;
}

#define NEW(Type, descriptor, parent) \
  OS_PROTO_NEW(arena, Onnx__TypeProto__##Type, onnx__type_proto__##descriptor##__descriptor, parent)

// Fills one level; *inner is where the type inside it goes, NULL when there is none.
static bool os_type__fill(os_arena *arena, os_type type, Onnx__TypeProto *proto, Onnx__TypeProto ***inner,
                          void **parent) {
  *inner = NULL;
  switch (type.kind) {
  case OS_TYPE_TENSOR:
    proto->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    proto->tensor_type = NEW(Tensor, tensor, proto);
    if (proto->tensor_type == NULL) return false;
    proto->tensor_type->has_elem_type = 1;
    proto->tensor_type->elem_type = (int32_t)type.elem;
    return true;
  case OS_TYPE_SPARSE:
    proto->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
    proto->sparse_tensor_type = NEW(SparseTensor, sparse_tensor, proto);
    if (proto->sparse_tensor_type == NULL) return false;
    proto->sparse_tensor_type->has_elem_type = 1;
    proto->sparse_tensor_type->elem_type = (int32_t)type.elem;
    return true;
  case OS_TYPE_SEQUENCE:
    proto->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
    proto->sequence_type = NEW(Sequence, sequence, proto);
    if (proto->sequence_type != NULL) *inner = &proto->sequence_type->elem_type;
    *parent = proto->sequence_type;
    return *inner != NULL;
  case OS_TYPE_OPTIONAL:
    proto->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
    proto->optional_type = NEW(Optional, optional, proto);
    if (proto->optional_type != NULL) *inner = &proto->optional_type->elem_type;
    *parent = proto->optional_type;
    return *inner != NULL;
  case OS_TYPE_MAP:
    proto->value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
    proto->map_type = NEW(Map, map, proto);
    if (proto->map_type == NULL) return false;
    proto->map_type->has_key_type = 1;
    proto->map_type->key_type = (int32_t)type.elem;
    *inner = &proto->map_type->value_type;
    *parent = proto->map_type;
    return true;
  case OS_TYPE_OPAQUE:
    proto->value_case = ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE;
    proto->opaque_type = NEW(Opaque, opaque, proto);
    if (proto->opaque_type == NULL) return false;
    proto->opaque_type->has_domain = type.domain.len > 0;
    proto->opaque_type->domain = os_bytes_of(type.domain);
    proto->opaque_type->has_name = type.name.len > 0;
    proto->opaque_type->name = os_bytes_of(type.name);
    return true;
  default: return false;
  }
}

Onnx__TypeProto *os_type_to_proto(const os_types *types, os_arena *arena, op_type type, void *parent) {
  Onnx__TypeProto *root = NULL, **slot = &root;
  while (slot != NULL) {
    os_type level = os_types_get(types, type);
    *slot = OS_PROTO_NEW(arena, Onnx__TypeProto, onnx__type_proto__descriptor, parent);
    if (*slot == NULL || !os_type__fill(arena, level, *slot, &slot, &parent)) return NULL;
    type = level.of;
  }
  return root;
}
