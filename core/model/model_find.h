#ifndef OPSPEC_MODEL_FIND_H
#define OPSPEC_MODEL_FIND_H

#include "fact.h"
#include "model_index.h"
#include "model_rules.h"

// Writing findings about parts of a model. Everything is copied to the report's arena, because the report outlives the
// document.

// base and the printed rest, with a dot between when base is not empty.
os_str os_model_path(os_arena *arena, os_str base, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Where the finding is: `path` (of the report's arena) and the bytes of the message (NULL = unknown).
void os_where_message(os_where *where, os_str path, const void *message);
// A finding at a place below a graph.
typedef struct os_spot {
  const os_graph_index *graph;
  const os_graph_node *node; // NULL = none
  const void *message;       // whose bytes are meant; NULL = the node's
} os_spot;
// Path of the spot: "graph.node[3]" and the printed rest (may be "").
void os_finding_place(os_report *report, os_finding *finding, os_spot spot, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// "Relu", "com.acme Gelu", with the name in quotes when there is one: for messages.
os_str os_node_label(os_arena *arena, const op_node *node);
// Adds the definition of a value as a related place.
void os_finding_define(os_report *report, os_finding *finding, const char *title, const os_graph_index *graph,
                       int32_t value);
// The report is incomplete, because nothing can be inferred from this node on.
void os_report_unknown_operator(os_report *report, const op_node *node);
// "loc:A"
os_str os_function_label(os_arena *arena, const os_function *function);

#endif
