#include "single_node.h"

#include "format.h"
#include "value.h"
#include "value_proto.h"
#include "wire_write.h"

// Field numbers of onnx.proto.
enum {
  MODEL_IR_VERSION = 1,
  MODEL_PRODUCER = 2,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8,
  OPSET_DOMAIN = 1,
  OPSET_VERSION = 2,
  GRAPH_NODE = 1,
  GRAPH_NAME = 2,
  GRAPH_INPUT = 11,
  GRAPH_OUTPUT = 12,
  NODE_INPUT = 1,
  NODE_OUTPUT = 2,
  NODE_OP_TYPE = 4,
  NODE_ATTRIBUTE = 5,
  NODE_DOMAIN = 7,
  NODE_OVERLOAD = 8,
  INFO_NAME = 1,
  INFO_TYPE = 2,
  ATTRIBUTE_NAME = 1,
  ATTRIBUTE_TYPE = 20,
  ATTRIBUTE_TYPE_PROTO = 14,
  ATTRIBUTE_TYPE_PROTOS = 15,
  IR_VERSION_WRITTEN = 13, // overloads came with 10, 2-bit types with 13
};

static os_str os_single_node__name(char *to, const char *stem, size_t index) {
  return (os_str){to, (size_t)os_format(to, 32, "%s_%zu", stem, index)};
}

static os_status os_single_node__value(os_text *out, os_memory *memory, const os_types *types, uint32_t field,
                                       const op_value *value) {
  os_text bytes;
  os_text_init(&bytes, memory);
  os_status status = os_value_write(&bytes, memory, types, value, OS_STR(""));
  if (status == OS_OK) os_wire_bytes(out, field, os_text_str(&bytes));
  os_text_clear(&bytes);
  return status;
}

// onnx.proto, AttributeProto: each kind has a field of its own.
static os_status os_single_node__content(os_text *out, os_memory *memory, const os_types *types,
                                         const op_attribute *a) {
  switch (a->kind) {
  case OP_ATTR_FLOAT: os_wire_float(out, 2, a->as.f); break;
  case OP_ATTR_INT: os_wire_int(out, 3, (uint64_t)a->as.i); break;
  case OP_ATTR_STRING: os_wire_bytes(out, 4, a->as.s); break;
  case OP_ATTR_TENSOR: return os_single_node__value(out, memory, types, 5, a->as.value);
  case OP_ATTR_SPARSE: return os_single_node__value(out, memory, types, 22, a->as.value);
  case OP_ATTR_TYPE: os_wire_type(out, types, ATTRIBUTE_TYPE_PROTO, a->as.type, -1, NULL); break;
  default: break;
  }
  for (uint32_t i = 0; i < a->count; i++) {
    switch (a->kind) {
    case OP_ATTR_FLOATS: os_wire_float(out, 7, a->as.floats[i]); break;
    case OP_ATTR_INTS: os_wire_int(out, 8, (uint64_t)a->as.ints[i]); break;
    case OP_ATTR_STRINGS: os_wire_bytes(out, 9, a->as.strings[i]); break;
    case OP_ATTR_TENSORS: OS_TRY(os_single_node__value(out, memory, types, 10, a->as.values[i])); break;
    case OP_ATTR_SPARSES: OS_TRY(os_single_node__value(out, memory, types, 23, a->as.values[i])); break;
    case OP_ATTR_TYPES: os_wire_type(out, types, ATTRIBUTE_TYPE_PROTOS, a->as.types[i], -1, NULL); break;
    default: break;
    }
  }
  return OS_OK;
}

static os_status os_single_node__node(os_text *out, os_memory *memory, const os_types *types,
                                      const os_single_node *node) {
  char name[32];
  size_t mark = os_wire_open(out, GRAPH_NODE);
  for (size_t i = 0; i < node->input_count; i++) {
    bool there = node->inputs[i] != NULL;
    os_wire_bytes(out, NODE_INPUT, there ? os_single_node__name(name, "input", i) : (os_str){"", 0});
  }
  for (size_t i = 0; i < node->output_count; i++) {
    os_wire_bytes(out, NODE_OUTPUT,
                  node->outputs[i] != 0 ? os_single_node__name(name, "output", i) : (os_str){"", 0});
  }
  os_wire_bytes(out, NODE_OP_TYPE, node->op_type);
  os_wire_bytes(out, NODE_DOMAIN, node->domain);
  if (node->overload.len > 0) os_wire_bytes(out, NODE_OVERLOAD, node->overload);
  for (size_t i = 0; i < node->attribute_count; i++) {
    size_t attribute = os_wire_open(out, NODE_ATTRIBUTE);
    os_wire_bytes(out, ATTRIBUTE_NAME, node->attributes[i].name);
    OS_TRY(os_single_node__content(out, memory, types, &node->attributes[i]));
    os_wire_int(out, ATTRIBUTE_TYPE, (uint64_t)node->attributes[i].kind);
    os_wire_close(out, attribute);
  }
  os_wire_close(out, mark);
  return OS_OK;
}

static void os_single_node__info(os_text *out, const os_types *types, uint32_t field, os_str name,
                                 op_type type, const op_tensor *shape) {
  size_t mark = os_wire_open(out, field);
  os_wire_bytes(out, INFO_NAME, name);
  os_wire_type(out, types, INFO_TYPE, type, shape == NULL ? -1 : shape->rank,
               shape == NULL ? NULL : shape->dims);
  os_wire_close(out, mark);
}

os_status os_single_node_write(os_text *out, os_memory *memory, const os_types *types,
                               const os_single_node *node) {
  char name[32];
  os_wire_int(out, MODEL_IR_VERSION, IR_VERSION_WRITTEN);
  os_wire_bytes(out, MODEL_PRODUCER, OS_STR("opspec"));
  size_t graph = os_wire_open(out, MODEL_GRAPH);
  OS_TRY(os_single_node__node(out, memory, types, node));
  os_wire_bytes(out, GRAPH_NAME, node->op_type);
  for (size_t i = 0; i < node->input_count; i++) {
    const op_value *value = node->inputs[i];
    if (value == NULL) continue;
    bool shaped = value->kind == OP_TENSOR || value->kind == OP_SPARSE;
    os_single_node__info(out, types, GRAPH_INPUT, os_single_node__name(name, "input", i), value->type,
                         shaped ? &value->tensor : NULL);
  }
  for (size_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] == 0) continue;
    os_single_node__info(out, types, GRAPH_OUTPUT, os_single_node__name(name, "output", i), node->outputs[i],
                         NULL);
  }
  os_wire_close(out, graph);
  size_t opset = os_wire_open(out, MODEL_OPSET);
  os_wire_bytes(out, OPSET_DOMAIN, node->domain);
  os_wire_int(out, OPSET_VERSION, (uint64_t)node->version);
  os_wire_close(out, opset);
  return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}
