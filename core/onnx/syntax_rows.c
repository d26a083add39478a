#include "syntax_rows.h"

const os_syntax_kind os_syntax_kinds[OS_SYNTAX_KINDS] = {
    {"undefined", 0, 0},        {"float", 2, 0},       {"int", 3, 0},           {"string", 4, 0},
    {"tensor", 5, 0},           {"graph", 6, 0},       {"floats", 7, 1},        {"ints", 8, 2},
    {"strings", 9, 3},          {"tensors", 10, 4},    {"graphs", 11, 5},       {"sparse_tensor", 22, 0},
    {"sparse_tensors", 23, 11}, {"type_proto", 14, 0}, {"type_protos", 15, 13},
};

bool os_syntax_is_type(os_str word) {
  static const char *const others[] = {
      "seq", "map", "optional", "sparse_tensor", "opaque", OS_SYNTAX_UNDEFINED, NULL};
  return os_str_in(word, others) || os_elem_by_onnx_name(word) != OP_NONE;
}

uint32_t os_syntax_data_field(int32_t data_type) {
  static const uint8_t numbers[] = {
      [OS_STORED_NOWHERE] = 5, [OS_STORED_FLOAT] = 4,   [OS_STORED_INT32] = 5,  [OS_STORED_STRING] = 6,
      [OS_STORED_INT64] = 7,   [OS_STORED_DOUBLE] = 10, [OS_STORED_UINT64] = 11};
  return numbers[os_tensor_field_for((op_elem)data_type)];
}

size_t os_syntax_raw_width(int32_t data_type) {
  const os_elem_info *info = os_elem_info_of(data_type);
  size_t bits = info == NULL ? 8 : info->bits;
  if (data_type == OP_COMPLEX64 || data_type == OP_COMPLEX128) bits /= 2;
  return bits < 8 ? 1 : bits / 8;
}
