#include "checking.h"

// Fields of early versions of the format (onnx.proto, reserved numbers). They decode as unknown fields, which are kept.

static const struct {
  const ProtobufCMessageDescriptor *type;
  const char *name;
  uint32_t numbers; // a bit each
} os_reserved__rows[] = {
    {&onnx__attribute_proto__descriptor, "AttributeProto", 1u << 12 | 0xFu << 16},
    {&onnx__graph_proto__descriptor, "GraphProto", 1u << 3 | 1u << 4 | 0xFu << 6},
    {&onnx__function_proto__descriptor, "FunctionProto", 1u << 2 | 1u << 3},
    {&onnx__type_proto__opaque__descriptor, "TypeProto.Opaque", 1u << 3},
};

void os_check_reserved(os_checking *self, const ProtobufCMessage *message, os_spot spot, const char *field,
                       int64_t index) {
  if (message->n_unknown_fields == 0) return;
  for (size_t i = 0; i < sizeof os_reserved__rows / sizeof *os_reserved__rows; i++) {
    if (os_reserved__rows[i].type != message->descriptor) continue;
    for (unsigned j = 0; j < message->n_unknown_fields; j++) {
      uint32_t number = message->unknown_fields[j].tag;
      if (number > 31 || (os_reserved__rows[i].numbers >> number & 1) == 0) continue;
      os_finding *finding =
          os_report_add(self->report, &os_rule_model_field_reserved, "field %u of %s is of an early version",
                        number, os_reserved__rows[i].name);
      if (index == OS_ABSENT)
        os_finding_place(self->report, finding, spot, "%s", field);
      else
        os_finding_place(self->report, finding, spot, "%s[%zu]", field, (size_t)index);
    }
  }
}
