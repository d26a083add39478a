#ifndef OPSPEC_CHECKING_H
#define OPSPEC_CHECKING_H

#include "data_check.h"
#include "model_find.h"
#include "onnx_rules.h"

// Inside of the checker: one pass over the documents with the index at hand.
typedef struct os_checking {
  os_model *model;
  const os_graph_index *top; // the graph whose inputs and outputs say their types: the main one
  os_report *report;
  bool full; // inference is on
  const os_stop *stop;
  const os_progress *progress;
  double each; // part of the whole check that a unit of work is
  uint32_t work;
  os_data_check data;
  os_map configurations; // the model's device configurations by name: numbers of devices, 0 = not told
  os_map declared;       // operators of the operator set whose functions are checked
  os_imports imports;    // the model's, and of domains that only functions import the first
} os_checking;

// In loops over what a model may have many of: OS_OK to go on.
os_status os_check_pause(os_checking *self);
os_status os_check_model_header(os_checking *self);
os_status os_check_graph(os_checking *self, const os_graph_index *graph);
os_status os_check_function(os_checking *self, const os_function *function);
os_status os_check_node(os_checking *self, const os_graph_index *graph, const os_graph_node *node);
os_status os_check_node_attributes(os_checking *self, const os_graph_index *graph, const os_graph_node *node);
os_status os_check_function_defaults(os_checking *self, const os_function *function);
os_status os_check_training(os_checking *self);
os_status os_check_configurations(os_checking *self); // before os_check_devices
os_status os_check_devices(os_checking *self, const os_graph_index *graph, const os_graph_node *node);
// A type wherever it stands. The place is field[index]rest, or rest alone when field is NULL; behind it [part - 1], unless
// part is 0.
typedef struct os_type_check {
  os_checking *checking;
  const Onnx__TypeProto *type; // NULL = none, which is no fault
  os_str name;                 // of the value, for messages
  os_spot spot;
  const char *field;
  size_t index;
  const char *rest;
  size_t part;
  bool told; // that the outermost level lacks something has been told
} os_type_check;
void os_check_type(const os_type_check *self);
// NULL, or what the outermost level of a type does not say: "no element type".
const char *os_type_lacks(const Onnx__TypeProto *type);

// Fields that early versions of the format had and that nobody may write any more. The place is field[index], field alone
// when index is OS_ABSENT.
void os_check_reserved(os_checking *self, const ProtobufCMessage *message, os_spot spot, const char *field,
                       int64_t index);

// Keys that come twice in a list that stands for a map.
os_status os_check_keys(os_checking *self, const os_rule *rule, os_severity severity,
                        Onnx__StringStringEntryProto *const *entries, size_t count, os_spot spot,
                        const char *list);
// Keys that come twice in metadata_props.
os_status os_check_metadata(os_checking *self, Onnx__StringStringEntryProto *const *entries, size_t count,
                            os_spot spot, const char *where, os_severity severity);
// Names that a function lists twice, or a value_info describes twice.
os_status os_check_value_infos(os_checking *self, const os_graph_index *graph);

#endif
