#ifndef OPSPEC_CHECKING_H
#define OPSPEC_CHECKING_H

#include "data_check.h"
#include "model_find.h"

// Inside of the checker: one pass over the documents with the index at hand.
typedef struct os_checking {
  os_model *model;
  os_report *report;
  bool full; // inference is on
  const os_stop *stop;
  uint32_t work;
  os_data_check data;
  os_map configurations; // names of the model's device configurations
} os_checking;

// In loops over what a model may have many of: OS_OK to go on.
os_status os_check_pause(os_checking *self);
os_status os_check_model_header(os_checking *self);
os_status os_check_graph(os_checking *self, const os_graph_index *graph);
os_status os_check_function(os_checking *self, const os_function *function);
os_status os_check_node(os_checking *self, const os_graph_index *graph, const os_graph_node *node);
os_status os_check_node_attributes(os_checking *self, const os_graph_index *graph, const os_graph_node *node);
os_status os_check_training(os_checking *self);
os_status os_check_configurations(os_checking *self); // before os_check_devices
os_status os_check_devices(os_checking *self, const os_graph_index *graph, const os_graph_node *node);
// Keys that come twice in metadata_props.
os_status os_check_metadata(os_checking *self, Onnx__StringStringEntryProto *const *entries, size_t count,
                            os_spot spot, const char *where, os_severity severity);
// Names that a function lists twice, or a value_info describes twice.
os_status os_check_value_infos(os_checking *self, const os_graph_index *graph);

#endif
