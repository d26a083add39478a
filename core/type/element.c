#include "type.h"

static const os_elem_info os_elem__infos[OP_ELEM_COUNT] = {
#define OPSPEC_ELEMENT(name, number, onnx, js, bits, kind) [number] = {#name, onnx, js, bits, kind},
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
};

static const os_str os_elem__onnx_names[OP_ELEM_COUNT] = {
#define OPSPEC_ELEMENT(name, number, onnx, js, bits, kind) [number] = OS_STR_INIT(onnx),
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
};

static const uint8_t os_elem__sizes[OP_ELEM_COUNT] = {
#define OPSPEC_ELEMENT(name, number, onnx, js, bits, kind) \
  [number] = (kind) == 's' ? sizeof(os_str) : (bits) < 8 ? 1 : (bits) / 8,
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
};

const os_elem_info *os_elem_info_of(int number) {
  return number > OP_NONE && number < OP_ELEM_COUNT ? &os_elem__infos[number] : NULL;
}

bool os_elem_is_key(int number) {
  const os_elem_info *info = os_elem_info_of(number);
  return info != NULL && (info->kind == 's' || ((info->kind == 'i' || info->kind == 'u') && info->bits >= 8));
}

size_t op_elem_size(op_elem elem) { return (unsigned)elem < OP_ELEM_COUNT ? os_elem__sizes[elem] : 0; }

const char *op_elem_name(op_elem elem) {
  const os_elem_info *info = os_elem_info_of((int)elem);
  return info == NULL ? "undefined" : info->onnx;
}

op_elem os_elem_by_onnx_name(os_str name) {
  for (int i = 1; i < OP_ELEM_COUNT; i++)
    if (name.len == os_elem__onnx_names[i].len && os_str_eq(name, os_elem__onnx_names[i])) return (op_elem)i;
  return OP_NONE;
}

op_elem os_elem_by_js_name(os_str name) {
  for (int i = 1; i < OP_ELEM_COUNT; i++)
    if (os_str_is(name, os_elem__infos[i].js)) return (op_elem)i;
  return OP_NONE;
}
