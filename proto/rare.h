#ifndef OPSPEC_RARE_H
#define OPSPEC_RARE_H

#include "message.h"
#include "onnx.pb-c.h"

// Fields that few messages use (rare.js), to be read whether the message has any of them or not.

_Static_assert(sizeof(Onnx__AttributeProto__Rare) <= sizeof os_proto_nothing &&
                   sizeof(Onnx__NodeProto__Rare) <= sizeof os_proto_nothing &&
                   sizeof(Onnx__TensorProto__Rare) <= sizeof os_proto_nothing,
               "zeros for all of it");

static inline const Onnx__AttributeProto__Rare *os_attribute_rare(const Onnx__AttributeProto *self) {
  return self->rare != NULL ? self->rare : (const void *)os_proto_nothing;
}
static inline const Onnx__NodeProto__Rare *os_node_rare(const Onnx__NodeProto *self) {
  return self->rare != NULL ? self->rare : (const void *)os_proto_nothing;
}
static inline const Onnx__TensorProto__Rare *os_tensor_rare(const Onnx__TensorProto *self) {
  return self->rare != NULL ? self->rare : (const void *)os_proto_nothing;
}

#endif
