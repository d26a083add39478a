#ifndef OPSPEC_NAMES_H
#define OPSPEC_NAMES_H

#include "message.h"
#include "onnx.pb-c.h"

// All places of a model where a value's name stands, graph by graph: of each first what it defines, then the rest and the
// graphs inside. Training graphs come last, as if they were inside of the main graph: they see its values. Elements of
// GraphProto.node that are NULL are passed over.

typedef enum os_name_role {
  OS_NAME_DEFINED, // input, initializer, output of a node
  OS_NAME_USED,    // input of a node, output of a graph, binding of a training graph
  OS_NAME_TOLD,    // what is said of a value: type, quantization, sharding
} os_name_role;

typedef struct os_names_frame {
  Onnx__GraphProto *graph;
  Onnx__FunctionProto *function;           // a function's body: then graph is NULL
  const Onnx__TrainingInfoProto *training; // whose graph it is, else NULL
  bool begun;
  size_t node, attribute, inner; // next
} os_names_frame;

typedef struct os_names os_names;
struct os_names {
  // `has`: flag of the field, NULL in a list. Another status than OS_OK ends the walk.
  os_status (*name)(os_names *self, os_name_role role, void *message, protobuf_c_boolean *has,
                    ProtobufCBinaryData *at);
  os_status (*enter)(os_names *self); // a graph begins, the innermost one now; may be NULL, so the next
  void (*leave)(os_names *self);      // the innermost graph ends
  os_str root;                        // how places begin; empty: "graph"
  // Where the walk is.
  os_arena arena;
  struct {
    os_names_frame *items;
    size_t count, room;
  } frames;
  size_t training; // number of the training information + 1, 0 = in the main graph
  bool in_node;    // the field is one of a node
  const char *field, *inner;
  size_t index, inner_index;
};

// One of `model` and `graph` is NULL: a model, or a graph and what is inside of it.
os_status os_names_walk(os_names *self, os_memory *memory, Onnx__ModelProto *model, Onnx__GraphProto *graph);
static inline os_names_frame *os_names_top(const os_names *self) {
  return &self->frames.items[self->frames.count - 1];
}
// A function's body and what is inside of it.
os_status os_names_walk_function(os_names *self, os_memory *memory, Onnx__FunctionProto *function);
// The graph that the walk was asked for, not one inside.
static inline bool os_names_at_root(const os_names *self) {
  return self->frames.count == 1 && self->training == 0;
}
// "graph.node[3].attribute[0].g.node[1].input[0]"; of a walk of a graph or function, the path begins in it.
os_str os_names_place(const os_names *self, os_arena *arena);

#endif
