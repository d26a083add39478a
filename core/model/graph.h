#ifndef OPSPEC_GRAPH_H
#define OPSPEC_GRAPH_H

#include "node.h"
#include "onnx.pb-c.h"
#include "rare.h"
#include "report.h"

// The index of a model: names resolved to numbers, operators found, bodies and functions attached. Checking, inference and
// lowering read it; the protobuf structs stay the truth for what was written.

enum { OS_ABSENT = -1 };

typedef enum os_value_origin {
  OS_FROM_INPUT,
  OS_FROM_INITIALIZER, // perhaps also an input (IR < 4)
  OS_FROM_NODE,
  OS_FROM_OUTER, // captured from the enclosing graph: value `outer` of graph->parent
} os_value_origin;

typedef struct os_graph_value {
  os_str name;
  int32_t producer; // node index, OS_FROM_NODE
  union {
    int32_t outer; // OS_FROM_OUTER
    int32_t
        slot; // of the others but nodes: which input of the graph, or initializer (sparse ones after the others)
  };
  uint8_t origin; // os_value_origin
  bool is_input, is_output;
  const Onnx__TensorProto *initializer;              // NULL = none
  const Onnx__SparseTensorProto *sparse_initializer; // NULL = none
  const Onnx__ValueInfoProto *declared;              // input, output or value_info; NULL = none
} os_graph_value;

// Why the function that a node calls was not put in its place.
typedef enum os_cut {
  OS_CUT_NOT,
  OS_CUT_CIRCLE, // the checker has an error for it
  OS_CUT_DEPTH,
  OS_CUT_NODES,
} os_cut;
const char *os_cut_text(os_cut cut); // "functions call each other in a circle"

typedef struct os_graph_node {
  op_node node;
  const Onnx__NodeProto *proto;
  const int32_t *inputs, *outputs; // value numbers, OS_ABSENT = left out
  uint32_t input_count, output_count;
  const op_graph *
      function; // a model-local function (or a standard one without kernel), its attributes bound for this call
  os_cut cut;
} os_graph_node;

// False: an attribute is a tensor that is malformed, for which the checker has an error. A kernel would take it for absent.
bool os_node_is_readable(const op_node *node);

struct os_graph {
  struct os_model *model;
  const op_graph *parent; // NULL for the main graph and functions
  os_str name;
  os_str path; // "graph", "graph.node[3].attribute[0].g", "functions[1]"
  const os_graph_value *values;
  uint32_t value_count;
  const os_graph_node *nodes;
  uint32_t node_count;
  const uint32_t *order; // nodes sorted so that producers come first; as written where that is sorted
  const int32_t *inputs, *outputs;
  uint32_t input_count, output_count;
};

// Number of the value of this name, OS_ABSENT when the graph has none.
int32_t os_graph_find_value(const op_graph *self, os_str name);

#endif
