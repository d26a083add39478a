#include "message.h"
#include "onnx-data.pb-c.h"
#include "onnx-operators.pb-c.h"
#include "onnx.pb-c.h"

// The fields that are `bytes` in the .proto files; every other BYTES field is a string there.
static const struct {
  const ProtobufCMessageDescriptor *type;
  uint32_t number;
} bytes_fields[] = {
    {&onnx__attribute_proto__descriptor, 4},       // s
    {&onnx__attribute_proto__rare__descriptor, 9}, // strings
    {&onnx__tensor_proto__descriptor, 6},          // string_data
    {&onnx__tensor_proto__descriptor, 9},          // raw_data
    {&onnx__map_proto__descriptor, 4},             // string_keys
};

bool os_proto_field_is_text(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field) {
  if (field->type != PROTOBUF_C_TYPE_BYTES) return field->type == PROTOBUF_C_TYPE_STRING;
  for (size_t i = 0; i < sizeof bytes_fields / sizeof *bytes_fields; i++)
    if (bytes_fields[i].type == type && bytes_fields[i].number == field->id) return false;
  return true;
}

static const struct {
  const ProtobufCMessageDescriptor *type;
  uint32_t numbers[5];
} long_fields[] = {
    {&onnx__graph_proto__descriptor, {1, 5, 13, 14, 15}}, // nodes, initializers, values, quantization, sparse
    {&onnx__function_proto__descriptor, {7, 12}},         // nodes, values
    {&onnx__model_proto__descriptor, {25}},               // functions
};

bool os_proto_field_is_long(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field) {
  for (size_t i = 0; i < sizeof long_fields / sizeof *long_fields; i++)
    for (size_t k = 0; k < 5 && long_fields[i].type == type; k++)
      if (long_fields[i].numbers[k] == field->id) return true;
  return false;
}

bool os_proto_field_is_far(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field) {
  return type == &onnx__tensor_proto__descriptor && field->type == PROTOBUF_C_TYPE_BYTES &&
         !os_proto_field_is_text(type, field);
}

bool os_proto_field_is_payload(const ProtobufCMessageDescriptor *type,
                               const ProtobufCFieldDescriptor *field) {
  return field->label == PROTOBUF_C_LABEL_REPEATED &&
         (os_proto_field_is_far(type, field) || (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0);
}

static const ProtobufCMessageDescriptor *const types[] = {
    &onnx__attribute_proto__descriptor,
    &onnx__device_configuration_proto__descriptor,
    &onnx__function_proto__descriptor,
    &onnx__graph_proto__descriptor,
    &onnx__int_int_list_entry_proto__descriptor,
    &onnx__map_proto__descriptor,
    &onnx__model_proto__descriptor,
    &onnx__node_device_configuration_proto__descriptor,
    &onnx__node_proto__descriptor,
    &onnx__operator_proto__descriptor,
    &onnx__operator_set_id_proto__descriptor,
    &onnx__operator_set_proto__descriptor,
    &onnx__optional_proto__descriptor,
    &onnx__sequence_proto__descriptor,
    &onnx__sharded_dim_proto__descriptor,
    &onnx__sharding_spec_proto__descriptor,
    &onnx__simple_sharded_dim_proto__descriptor,
    &onnx__sparse_tensor_proto__descriptor,
    &onnx__string_string_entry_proto__descriptor,
    &onnx__tensor_annotation__descriptor,
    &onnx__tensor_proto__descriptor,
    &onnx__tensor_proto__segment__descriptor,
    &onnx__tensor_shape_proto__descriptor,
    &onnx__tensor_shape_proto__dimension__descriptor,
    &onnx__training_info_proto__descriptor,
    &onnx__type_proto__descriptor,
    &onnx__type_proto__map__descriptor,
    &onnx__type_proto__opaque__descriptor,
    &onnx__type_proto__optional__descriptor,
    &onnx__type_proto__sequence__descriptor,
    &onnx__type_proto__sparse_tensor__descriptor,
    &onnx__type_proto__tensor__descriptor,
    &onnx__value_info_proto__descriptor,
};

const ProtobufCMessageDescriptor *os_proto_type_find(os_str name) {
  size_t package = os_str_starts(name, OS_STR("onnx.")) ? 0 : 5;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (os_str_is(name, types[i]->name + package)) return types[i];
  return NULL;
}
