#ifndef OPSPEC_MODEL_EDIT_H
#define OPSPEC_MODEL_EDIT_H

#include "changes.h"
#include "document.h"
#include "map.h"
#include "names.h"

// Edits of a model's messages. Each either does all that it is for or says why not; what it has done by then is taken back
// by whoever called (os_changes_undo).

typedef struct os_model_edit {
  os_memory *memory;
  os_arena *arena; // of this call: messages and paths of trouble
  Onnx__ModelProto *model;
  os_changes edit;
  os_map nodes;             // by name, to os_node_name; filled when first needed
  bool named, removed;      // removed: nodes of the main graph
  struct os_scopes *scopes; // NULL: nothing is noted
  os_str message, path;     // of OS_INVALID_ARGUMENT and OS_UNSUPPORTED
} os_model_edit;

// Says why an edit cannot be made.
os_status os_edit_refuse(os_model_edit *self, os_status status, os_str path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// "graph.node[3]", of a node in any graph or function of the model.
os_str os_edit_node_path(os_model_edit *self, const Onnx__NodeProto *node);
// "node 3 (Relu "act")"
os_str os_edit_node_label(os_model_edit *self, const Onnx__NodeProto *node);

// A node by its number in the main graph, as it was before the first edit, or, with number -1, by its name in any graph.
os_status os_edit_find_node(os_model_edit *self, int64_t number, os_str name, Onnx__NodeProto **out);

// The name finds this node no more.
void os_edit_forget_node(os_model_edit *self, const Onnx__NodeProto *node);

// ---- Names ------------------------------------------------------------------------------------------------

// Walks the names of a graph and what is inside of it, of the main graph those of the whole model.
os_status os_edit_walk(os_model_edit *self, Onnx__GraphProto *graph, os_names *names);

typedef enum os_rename_kind { OS_RENAME_INPUT, OS_RENAME_OUTPUT, OS_RENAME_VALUE } os_rename_kind;
typedef struct os_rename {
  os_rename_kind kind;
  os_str from, to;
} os_rename;
// Values of the main graph, one after the other, wherever their names stand. *failed: which one was refused.
os_status os_edit_rename(os_model_edit *self, const os_rename *renames, size_t count, size_t *failed);
os_status os_edit_rename_node(os_model_edit *self, Onnx__NodeProto *node, os_str to);

// ---- Nodes ------------------------------------------------------------------------------------------------

// What takes the place of an output.
typedef struct os_replacement {
  os_str from, to;
} os_replacement;
// bypass: what the first input is takes the place of the first output.
os_status os_edit_remove_node(os_model_edit *self, Onnx__NodeProto *node, bool bypass,
                              const os_replacement *replacements, size_t count);
// Writes what removals have noted, before messages are looked at or changed by other edits.
os_status os_edit_settle(os_model_edit *self);
os_status os_edit_finish(os_model_edit *self);
// Frees what is noted.
void os_edit_end(os_model_edit *self);

// What a node gives from constants alone.
typedef struct os_constant_part {
  Onnx__ModelProto *model; // to be run: the nodes and constants that it takes
  os_str *outputs;         // of the node, those that are used
  size_t output_count;
  struct os_scoped_node **nodes; // values before those that need them
  struct os_named **constants;
  size_t node_count, constant_count;
} os_constant_part;
os_status os_edit_constant_part(os_model_edit *self, Onnx__NodeProto *node, os_constant_part *out);
// `tensors`: of the outputs. Takes out nodes and constants of the part that nobody uses any more.
os_status os_edit_put_constants(os_model_edit *self, Onnx__NodeProto *node, const os_constant_part *part,
                                Onnx__TensorProto **tensors);

// ---- The model --------------------------------------------------------------------------------------------

// value.data NULL takes it away.
os_status os_edit_metadata(os_model_edit *self, os_str key, os_str value);
os_status os_edit_opset(os_model_edit *self, os_str domain, bool remove, int64_t version);
// A scalar field of ModelProto by its name in JSON or in the .proto file; neither text nor number: it is taken away.
os_status os_edit_field(os_model_edit *self, os_str name, const os_str *text, const int64_t *number);

#endif
