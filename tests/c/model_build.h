#ifndef OS_MODEL_BUILD_H
#define OS_MODEL_BUILD_H

// Models in a few words, on wire_build.h. Field numbers are those of onnx.proto.

#include "wire_build.h"

#include <stdlib.h>

// Field of each space-separated name; "_" is the empty name.
static inline wire names(uint32_t field, const char *list) {
  wire all = {"", 0};
  while (*list != 0) {
    size_t len = strcspn(list, " ");
    wire name = {list, len == 1 && *list == '_' ? 0 : len};
    all = JOIN(all, MSG(field, name));
    list += len + (list[len] == ' ');
  }
  return all;
}

// node(operator, "a b", "c", attributes and other fields)
static inline wire node_bare(const char *op_type, const char *inputs, const char *outputs, wire more) {
  return JOIN(names(1, inputs), names(2, outputs), STR(4, op_type), more);
}
static inline wire node(const char *op_type, const char *inputs, const char *outputs, wire more) {
  return MSG(1, node_bare(op_type, inputs, outputs, more)); // as a field of a graph
}
#define NONE ((wire){"", 0})
static inline wire domain(const char *name) { return STR(7, name); }
static inline wire attr_int(const char *name, int64_t value) {
  return MSG(5, JOIN(STR(1, name), INT(3, value), INT(20, 2)));
}
static inline wire attr_float(const char *name, float value) {
  return MSG(5, JOIN(STR(1, name), F32(2, value), INT(20, 1)));
}
static inline wire attr_graph(const char *name, wire graph) {
  return MSG(5, JOIN(STR(1, name), MSG(6, graph), INT(20, 5)));
}
static inline wire attr_ref(const char *name, int type, const char *of) {
  return MSG(5, JOIN(STR(1, name), INT(20, type), STR(21, of)));
}
static inline wire attr_tensor(const char *name, wire tensor) {
  return MSG(5, JOIN(STR(1, name), MSG(5, tensor), INT(20, 4)));
}

// A tensor type; shape "2 N ?" or NULL for unknown rank.
static inline wire tensor_type(int elem, const char *shape) {
  wire dims = NONE;
  for (const char *at = shape; at != NULL && *at != 0;) {
    size_t len = strcspn(at, " ");
    wire text = {at, len};
    bool number = (*at >= '0' && *at <= '9') || *at == '-';
    wire dim = *at == '?' ? NONE : number ? INT(1, strtoll(at, NULL, 10)) : MSG(2, text);
    dims = JOIN(dims, MSG(1, dim));
    at += len + (at[len] == ' ');
  }
  return MSG(1, shape == NULL ? INT(1, elem) : JOIN(INT(1, elem), MSG(2, dims)));
}
static inline wire info(uint32_t field, const char *name, int elem, const char *shape) {
  return MSG(field, JOIN(STR(1, name), MSG(2, tensor_type(elem, shape))));
}
static inline wire input(const char *name, int elem, const char *shape) {
  return info(11, name, elem, shape);
}
static inline wire output(const char *name, int elem, const char *shape) {
  return info(12, name, elem, shape);
}
static inline wire value_info(const char *name, int elem, const char *shape) {
  return info(13, name, elem, shape);
}
static inline wire untyped(uint32_t field, const char *name) { return MSG(field, STR(1, name)); }

// int64 tensor of rank 1, or of rank 0 with count -1.
static inline wire ints_tensor(const char *name, int count, const int64_t *values) {
  wire all = count < 0 ? NONE : INT(1, count);
  for (int i = 0; i < (count < 0 ? 1 : count); i++) all = JOIN(all, INT(7, values[i]));
  return JOIN(all, INT(2, 7), STR(8, name));
}
static inline wire initializer(wire tensor) { return MSG(5, tensor); }

static inline wire graph(wire fields) { return JOIN(fields, STR(2, "g")); }
static inline wire opset(const char *name, int64_t version) {
  return MSG(8, JOIN(STR(1, name), INT(2, version)));
}
// IR 10, opset 21, and the fields given (functions, further imports).
static inline wire model_with(wire graph_fields, wire more) {
  return JOIN(INT(1, 10), opset("", 21), MSG(7, graph(graph_fields)), more);
}
static inline wire model(wire graph_fields) { return model_with(graph_fields, NONE); }
// A function of the domain "loc" that imports opset 21 and loc.
static inline wire function(const char *name, const char *inputs, const char *outputs, wire nodes) {
  wire moved = NONE; // nodes are field 7 here and field 1 in graphs: callers give messages of field 7
  moved = JOIN(STR(1, name), names(4, inputs), names(5, outputs), nodes, MSG(9, JOIN(STR(1, ""), INT(2, 21))),
               MSG(9, JOIN(STR(1, "loc"), INT(2, 1))), STR(10, "loc"));
  return MSG(25, moved);
}
static inline wire fnode(const char *op_type, const char *inputs, const char *outputs, wire more) {
  return MSG(7, node_bare(op_type, inputs, outputs, more));
}

#endif
