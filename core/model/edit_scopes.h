#ifndef OPSPEC_EDIT_SCOPES_H
#define OPSPEC_EDIT_SCOPES_H

#include "model_edit.h"

// What names mean in all graphs and functions of a model, and where they stand, so that nodes can be taken out one after the
// other without a look at the whole. What takes a name's place is noted first; os_scopes_write puts it into the messages.

typedef struct os_place {
  struct os_place *next, *next_of_node;
  struct os_named *name;
  void *message;
  protobuf_c_boolean *has; // NULL in a list
  ProtobufCBinaryData *at;
  bool used, dead; // used: counts in `uses`
} os_place;

// Something that is said of a value in the graph itself.
typedef struct os_said {
  struct os_said *next;
  void **slot; // its element of the list
} os_said;

typedef struct os_named {
  struct os_named *merged; // in another name, NULL: it stands for itself
  os_str text;
  struct os_scope *scope;
  os_said *said, *last_said;
  size_t uses;     // but as an output of the scope itself
  void **constant; // the element of a list that is its tensor or sparse tensor
  uint32_t mark;
  int64_t node; // that makes it, -1: none
  bool input, initializer, output, gone;
} os_named;

typedef struct os_scoped_node {
  Onnx__NodeProto *proto;
  struct os_scope *scope, *inside; // inside: graphs of its attributes, the last one first
  size_t number;
  uint32_t mark;
  os_place *places; // in the node itself
} os_scoped_node;

// A tensor that is to be in a graph's initializers, or in a function's body as a Constant.
typedef struct os_added {
  struct os_added *next;
  Onnx__TensorProto *tensor; // NULL: not any more
} os_added;

typedef struct os_scope {
  struct os_scope *parent, *next; // next: of one node
  os_scoped_node *owner;          // NULL of a root
  Onnx__GraphProto *graph;        // or
  Onnx__FunctionProto *function;
  os_map names; // to os_named
  os_scoped_node *nodes;
  size_t node_count;
  os_place *places; // of no node
  os_said *unsaid;  // to be taken out
  os_added *added, **last_added;
  uint32_t depth;
  bool gaps, constant_gaps;
} os_scope;

// The main graph or function around it; a training graph's is the main graph.
static inline os_scope *os_scope_root(os_scope *self) {
  while (self->parent != NULL) self = self->parent;
  return self;
}
static inline void *os_scope_message(const os_scope *self) {
  return self->graph != NULL ? (void *)self->graph : self->function;
}

typedef struct os_scopes {
  os_arena arena;
  os_map nodes; // by their address, to os_scoped_node
  struct {
    os_scope **items;
    size_t count, room;
  } list;
  os_place *places; // all
  uint32_t mark;    // of the last search
  bool stale;       // messages that could be run say something else than what is noted
} os_scopes;

// Made when first needed.
os_status os_scopes_of(os_model_edit *self, os_scopes **out);
os_scoped_node *os_scopes_node(const os_scopes *self, const Onnx__NodeProto *node);
// What the name means in the scope, NULL when it stands nowhere.
os_named *os_scopes_find(const os_scope *scope, os_str name);
// What input or output `index` of a node is now; NULL when it is left out.
os_named *os_scopes_input(const os_scoped_node *node, size_t index);
os_named *os_scopes_output(const os_scoped_node *node, size_t index);
static inline bool os_named_is_made(const os_named *self) {
  return self->input || self->initializer || self->node >= 0;
}
// `to` takes the place of `from`, under its own name or, `keep`, under that of `from`; NULL: nothing does.
void os_scopes_replace(os_scopes *self, os_named *from, os_named *to, bool keep);
// The node is gone with all in it.
os_status os_scopes_drop(os_model_edit *self, os_scoped_node *node);
// The tensor, a message of the document, gives the value from now on.
os_status os_scopes_define(os_model_edit *self, os_named *named, Onnx__TensorProto *tensor);
// The constant is gone, and its name with it.
os_status os_scopes_drop_constant(os_model_edit *self, os_named *named);
// Writes all that is noted, and forgets the scopes. Lists of nodes lose their gaps, but for the main graph.
os_status os_scopes_write(os_model_edit *self);
void os_scopes_free(os_model_edit *self);

#endif
