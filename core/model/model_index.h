#ifndef OPSPEC_MODEL_INDEX_H
#define OPSPEC_MODEL_INDEX_H

#include "map.h"
#include "model.h"
#include "tensor_proto.h"

// Inside of core/model: how the index is built and what checking needs beyond graph.h.

// Versions that a model or function imports, by domain as written; the last of two wins.
typedef struct os_imports {
  os_map versions;
  bool newest; // of a lone graph: every domain, in its newest version
} os_imports;

// Version for a node of this domain; false when it is not imported. An import of "ai.onnx" serves the domain "" too.
bool os_imports_find(const os_imports *self, os_str domain, int *version);
os_status os_imports_read(struct os_model *model, Onnx__OperatorSetIdProto *const *protos, size_t count,
                          os_imports *out);

typedef struct os_function {
  const Onnx__FunctionProto *proto;
  os_imports imports;
  struct os_graph_index *body;  // as written, no attribute bound
  const op_attribute *defaults; // of attribute_proto, sorted
  uint32_t default_count;
  os_map attributes; // names that it declares, with or without a default
  uint32_t index;
  uint32_t depth; // calls below it, itself counted; 0 = not yet known
  bool recursive; // part of a cycle, or calls into one
  struct {
    struct os_function **items;
    size_t count, room;
  } calls; // functions that its nodes, bodies included, name
} os_function;

// A graph while it is built and after. What a call of a function instantiates is an instance: the same nodes again, with
// attributes bound.
typedef struct os_graph_index {
  op_graph graph;                // first: an op_graph of a model is one of these
  const Onnx__GraphProto *proto; // NULL for a function
  os_function *function;         // of a function, else NULL
  const os_imports *imports;
  os_map names; // number of the value
  size_t value_room;
  os_graph_value *values; // graph.values, to be written
  os_graph_node *nodes;
  int32_t *outputs;
  uint32_t owner;      // node of graph.parent that has it
  const op_node *call; // inside an instance: the node whose attributes are bound
  const struct os_model
      *scope; // whose functions its nodes call; of a function operator's body another model than its own
  bool in_function;     // in a function's body, or below one
  bool shadows;         // an output has the name of an outer value: a fault, after which order means little
  bool instance;        // of a function's body, or below one
  uint32_t call_depth;  // functions around it
  op_value **constants; // per value, made when the first is asked for
  struct {
    struct os_capture {
      uint32_t node; // of this graph, whose body reads
      int32_t value; // of this graph
    } *items;
    size_t count, room;
  } captures;
} os_graph_index;

static inline os_graph_index *os_graph_index_of(const op_graph *graph) {
  return (os_graph_index *)(uintptr_t)graph;
}
static inline os_graph_index *os_graph_index_parent(const os_graph_index *self) {
  return self->graph.parent == NULL ? NULL : os_graph_index_of(self->graph.parent);
}

// What keeps the index from being true. Told as findings by os_problems_tell.
typedef enum os_problem_kind {
  OS_PROBLEM_INPUT_UNKNOWN,     // node, slot: no value of this name
  OS_PROBLEM_ORDER,             // node, slot (-1: a body of the node), value: made later
  OS_PROBLEM_CYCLE,             // numbers: its nodes, each reading from the one before
  OS_PROBLEM_SSA,               // node, slot, value: defined already, in `other`
  OS_PROBLEM_INPUT_TWICE,       // slot: graph input, value
  OS_PROBLEM_INITIALIZER_TWICE, // slot: initializer (sparse ones after the others), value
  OS_PROBLEM_OUTPUT_UNKNOWN,    // slot: graph output
  OS_PROBLEM_RECURSION,         // functions
  OS_PROBLEM_FUNCTION_TWICE,    // functions: two of them
  OS_PROBLEM_CALL_DEPTH,        // functions: one whose calls go too deep
} os_problem_kind;

typedef struct os_problem {
  os_problem_kind kind;
  const os_graph_index *graph;
  int32_t node, slot, value;
  const os_graph_index *other;
  const uint32_t *numbers; // nodes or functions
  uint32_t count;
} os_problem;

typedef struct os_model_lazy {
  op_lazy_value lazy; // first
  struct os_model *model;
  const void *proto; // Onnx__TensorProto or Onnx__SparseTensorProto
  bool sparse, failed;
  op_tensor *head;
  struct os_model_lazy *next;
} os_model_lazy;

struct os_model {
  os_document *document;
  os_registry *registry;
  os_arena own, *arena; // arena: own
  os_memory *memory;
  const Onnx__ModelProto *proto; // NULL for a lone graph or function
  int64_t ir_version;
  os_imports imports;
  os_graph_index *main;
  os_function *functions;
  uint32_t function_count;
  os_map function_names; // "domain\0name\0overload"
  struct {
    os_graph_index **items;
    size_t count, room;
  } graphs; // parents before children
  struct {
    os_problem *items;
    size_t count, room;
  } problems;
  os_problem spare; // takes what is not kept
  os_model_lazy *lazies;
  struct os_resolved { // the last operators looked up: nodes repeat few of them
    const os_imports *imports;
    os_str domain, op_type, overload;
    os_operator op;
    const os_function *function;
  } resolved[64];
  struct {
    os_graph_index **items;
    size_t count, room;
  } chain; // scratch of os_index_capture
  uint64_t instance_nodes;
  bool expanded_too_far;
};

enum {
  OS_IR_NEWEST = 14,
  OS_CALL_DEPTH = 100,        // as onnx.checker
  OS_INSTANCE_NODES = 250000, // functions are instantiated per call, so a small file can ask for very many
};

// build_graph.c: creates the index of a graph or function body and queues it; os_index_fill does one of the queue.
os_status os_index_new(os_model *model, const os_graph_index *parent, os_str path, os_graph_index **out);
os_status os_index_fill(os_model *model, os_graph_index *self);
// The value that a name of an enclosing scope means, captured through every graph between; OS_ABSENT when there is none.
os_status os_index_capture(os_model *model, os_graph_index *self, os_str name, int32_t *value);
os_problem *os_index_problem(os_model *model, os_problem_kind kind, const os_graph_index *graph, int32_t node,
                             int32_t slot, int32_t value);

// An enclosing graph where the name means a value that is there before the nodes of `self` run; NULL when there is none.
const os_graph_index *os_index_shadowed(const os_graph_index *self, os_str name, int32_t *value);

// build_attribute.c
os_status os_index_attributes(os_model *model, os_graph_index *graph, os_graph_node *node,
                              const os_function *function);
os_status os_attributes_defaults(os_model *model, os_function *function);

// The graph of a model that has none, and of an operator set.
bool os_graph_is_nothing(const os_graph_index *self);

// build_function.c
os_status os_functions_build(os_model *model, Onnx__FunctionProto *const *protos, size_t count);
os_function *os_function_find(const os_model *model, os_str domain, os_str name, os_str overload);
// An instance of the body, as a function or a function operator has it, for this node, queued; NULL where it must not be
// (recursive, too deep, too many).
os_status os_function_instantiate(os_model *model, os_graph_index *graph, uint32_t node,
                                  const os_graph_index *body, os_graph_index **out);
// The graph belongs to a function operator's document, not to the model's: its places say nothing about the model.
static inline bool os_graph_is_foreign(const os_graph_index *self) {
  return self->scope != self->graph.model;
}

// sparse.c
os_status os_model_densify(os_model *model, const Onnx__SparseTensorProto *proto, op_value **out);

// order.c
os_status os_index_order(os_model *model, os_graph_index *self);

// problems.c: the structure's findings, unless the report has been told them.
void os_problems_tell(os_model *model, os_report *report);
void os_problems_tell_all(os_model *model, os_report *report); // told or not

// check_inference.c: inference of the whole, declarations compared.
os_status os_model_check_inference(os_model *model, const os_check_options *options, os_report *report);

#endif
