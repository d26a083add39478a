#include "tensor_field.h"

const os_far_list *os_tensor_far_list(const Onnx__TensorProto *proto, os_tensor_storage storage) {
  const Onnx__TensorProto__Rare *rare = os_tensor_rare(proto);
  switch (storage) {
#define FAR(STORAGE, of, field) \
  case STORAGE: return of->n_##field == 0 ? (const os_far_list *)(const void *)of->field : NULL;
    FAR(OS_STORED_FLOAT, proto, float_data)
    FAR(OS_STORED_INT32, proto, int32_data)
    FAR(OS_STORED_STRING, proto, string_data)
    FAR(OS_STORED_INT64, proto, int64_data)
    FAR(OS_STORED_DOUBLE, rare, double_data)
    FAR(OS_STORED_UINT64, rare, uint64_data)
#undef FAR
  default: return NULL;
  }
}

uint64_t os_tensor_field_count(const Onnx__TensorProto *proto, os_tensor_storage storage) {
  const os_far_list *far = os_tensor_far_list(proto, storage);
  if (far != NULL) return far->count;
  switch (storage) {
  case OS_STORED_RAW: return os_bytes_length(proto->raw_data);
  case OS_STORED_FLOAT: return proto->n_float_data;
  case OS_STORED_INT32: return proto->n_int32_data;
  case OS_STORED_STRING: return proto->n_string_data;
  case OS_STORED_INT64: return proto->n_int64_data;
  case OS_STORED_DOUBLE: return os_tensor_rare(proto)->n_double_data;
  case OS_STORED_UINT64: return os_tensor_rare(proto)->n_uint64_data;
  default: return 0;
  }
}

os_tensor_fields os_tensor_fields_of(const Onnx__TensorProto *proto) {
  os_tensor_fields self = {0};
  if (os_proto_is_blank(proto)) return self;
  for (os_tensor_storage storage = OS_STORED_RAW; storage <= OS_STORED_UINT64; storage++) {
    if (os_tensor_field_count(proto, storage) == 0) continue;
    if (self.used == 0) self.first = storage;
    if (self.used == 1) self.second = storage;
    self.used++;
  }
  return self;
}

const char *os_tensor_field_name(os_tensor_storage storage) {
  static const char *const names[] = {"no field",    "raw_data",    "float_data",
                                      "int32_data",  "string_data", "int64_data",
                                      "double_data", "uint64_data", "external_data"};
  return names[storage];
}

os_tensor_storage os_tensor_field_for(op_elem elem) {
  switch (elem) {
  case OP_NONE: return OS_STORED_NOWHERE;
  case OP_FLOAT:
  case OP_COMPLEX64: return OS_STORED_FLOAT;
  case OP_DOUBLE:
  case OP_COMPLEX128: return OS_STORED_DOUBLE;
  case OP_INT64: return OS_STORED_INT64;
  case OP_UINT32:
  case OP_UINT64: return OS_STORED_UINT64;
  case OP_STRING: return OS_STORED_STRING;
  default: return OS_STORED_INT32;
  }
}

uint64_t os_tensor_field_need(op_elem elem, int64_t count) {
  const os_elem_info *info = os_elem_info_of((int)elem);
  uint64_t n = (uint64_t)count;
  if (info->kind == 'c') return n * 2;
  return info->bits == 4 ? n / 2 + n % 2 : info->bits == 2 ? n / 4 + (n % 4 != 0) : n;
}

uint64_t os_tensor_raw_size(op_elem elem, int64_t count) {
  const os_elem_info *info = os_elem_info_of((int)elem);
  uint64_t n = (uint64_t)count, size;
  if (info->bits < 8) return os_tensor_field_need(elem, count);
  return __builtin_mul_overflow(n, info->bits / 8, &size) ? UINT64_MAX : size;
}
