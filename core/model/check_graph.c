#include "checking.h"

#include "format.h"

// Graphs and what they declare (checker rules B and C). Names that are defined twice or not at all are problems of the
// index (problems.c).

os_status os_check_pause(os_checking *self) {
  if ((++self->work & 255) != 0) return OS_OK;
  OS_TRY(os_progress_tell(self->progress, self->work * self->each));
  return os_report_overfull(self->report) ? OS_LIMIT : os_stop_check(self->stop);
}

// ---- Inputs and outputs ------------------------------------------------------------------------------------

// NULL, or what the type of an input or output of the main graph lacks. There a tensor has a shape, too.
static const char *os_check__type_lacks(const Onnx__TypeProto *type) {
  const char *lacks = os_type_lacks(type);
  if (lacks != NULL) return lacks;
  switch (type->value_case) {
  case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE: return type->tensor_type->shape == NULL ? "no shape" : NULL;
  case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
    return type->sparse_tensor_type->shape == NULL ? "no shape" : NULL;
  case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
    return type->opaque_type->name.len == 0 ? "no name of the opaque type" : NULL;
  default: return NULL;
  }
}

static os_status os_check__info_metadata(os_checking *self, const Onnx__ValueInfoProto *info, os_spot spot,
                                         const char *field, size_t index) {
  if (info->n_metadata_props < 2) return OS_OK;
  char where[64];
  os_format(where, sizeof where, "%s[%zu].", field, index);
  return os_check_metadata(self, info->metadata_props, info->n_metadata_props, spot, where, OS_WARNING);
}

static os_status os_check__value_info(os_checking *self, const os_graph_index *graph,
                                      const Onnx__ValueInfoProto *info, const char *field, size_t index,
                                      bool typed) {
  os_str name = os_bytes_str(info->name);
  os_spot spot = {graph, NULL, info};
  if (name.len == 0) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_value_name, "%s %zu has no name", field, index);
    os_finding_place(self->report, finding, spot, "%s[%zu].name", field, index);
  }
  const char *lacks = typed ? os_check__type_lacks(info->type) : NULL;
  if (lacks != NULL) {
    os_finding *finding = os_report_add(self->report, &os_rule_model_value_type, "%s \"%.*s\" says %s", field,
                                        OS_ARG(name), lacks);
    os_finding_place(self->report, finding, spot, "%s[%zu].type", field, index);
  }
  os_check_type(&(os_type_check){self, info->type, name, spot, field, index, ".type", 0, lacks != NULL});
  return os_check__info_metadata(self, info, spot, field, index);
}

os_status os_check_value_infos(os_checking *self, const os_graph_index *graph) {
  size_t count = graph->proto != NULL ? graph->proto->n_value_info : graph->function->proto->n_value_info;
  Onnx__ValueInfoProto **infos =
      graph->proto != NULL ? graph->proto->value_info : graph->function->proto->value_info;
  os_map seen;
  os_map_init(&seen, self->report->arena);
  for (size_t i = 0; i < count; i++) {
    OS_TRY(os_check_pause(self));
    os_str name = os_bytes_str(infos[i]->name);
    os_spot spot = {graph, NULL, infos[i]};
    bool added;
    os_map_entry *entry = os_map_put(&seen, name, &added);
    OS_TRY_ALLOC(entry);
    if (name.len == 0) {
      os_finding *finding = os_report_add_as(self->report, &os_rule_model_value_name, OS_WARNING,
                                             "value_info %zu names no value", i);
      os_finding_place(self->report, finding, spot, "value_info[%zu].name", i);
    } else if (!added) {
      os_finding *finding = os_report_add(self->report, &os_rule_model_value_info_duplicate,
                                          "\"%.*s\" is described twice in value_info", OS_ARG(name));
      os_finding_place(self->report, finding, spot, "value_info[%zu]", i);
      os_related *related = os_finding_relate(self->report, finding, "first here");
      if (related != NULL)
        os_where_message(
            &related->where,
            os_model_path(self->report->arena, graph->graph.path, "value_info[%zu]", entry->value.number),
            infos[entry->value.number]);
    } else {
      entry->value.number = i;
      if (os_graph_find_value(&graph->graph, name) == OS_ABSENT) {
        bool function = graph->function != NULL;
        os_finding *finding =
            os_report_add_as(self->report, &os_rule_model_value_info_unknown, function ? OS_WARNING : OS_INFO,
                             "value_info describes \"%.*s\", which is no value of the %s", OS_ARG(name),
                             function ? "function" : "graph");
        os_finding_place(self->report, finding, spot, "value_info[%zu]", i);
      }
    }
    os_check_type(&(os_type_check){self, infos[i]->type, name, spot, "value_info", i, ".type", 0, false});
    OS_TRY(os_check__info_metadata(self, infos[i], spot, "value_info", i));
  }
  return OS_OK;
}

// ---- Initializers -----------------------------------------------------------------------------------------

static void os_check__initializer_name(os_checking *self, const os_graph_index *graph, os_str name,
                                       const void *message, const char *field, size_t index) {
  os_spot spot = {graph, NULL, message};
  if (name.len == 0) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_initializer_name, "%s %zu has no name", field, index);
    os_finding_place(self->report, finding, spot, "%s[%zu]", field, index);
    return;
  }
  if (self->model->proto == NULL || self->model->ir_version >= 4) return;
  int32_t value = os_graph_find_value(&graph->graph, name);
  if (value != OS_ABSENT && graph->graph.values[value].is_input) return;
  os_finding *finding = os_report_add(self->report, &os_rule_model_initializer_not_input,
                                      "\"%.*s\" must be a graph input too, because ir_version is %lld",
                                      OS_ARG(name), (long long)self->model->ir_version);
  os_finding_place(self->report, finding, spot, "%s[%zu]", field, index);
}

static os_status os_check__initializers(os_checking *self, const os_graph_index *graph) {
  const Onnx__GraphProto *proto = graph->proto;
  os_path base = {NULL, graph->graph.path, -1};
  for (size_t i = 0; i < proto->n_initializer; i++) {
    OS_TRY(os_check_pause(self));
    const Onnx__TensorProto *tensor = proto->initializer[i];
    os_check__initializer_name(self, graph, os_bytes_str(tensor->name), tensor, "initializer", i);
    os_path path = {&base, OS_STR("initializer"), (int64_t)i};
    OS_TRY(os_tensor_check(&self->data, tensor, &path));
  }
  for (size_t i = 0; i < proto->n_sparse_initializer; i++) {
    OS_TRY(os_check_pause(self));
    const Onnx__SparseTensorProto *sparse = proto->sparse_initializer[i];
    os_str name = sparse->values == NULL ? OS_STR("") : os_bytes_str(sparse->values->name);
    os_check__initializer_name(self, graph, name, sparse, "sparse_initializer", i);
    os_path path = {&base, OS_STR("sparse_initializer"), (int64_t)i};
    OS_TRY(os_sparse_check(&self->data, sparse, &path));
  }
  return OS_OK;
}

// ---- Quantization annotations -----------------------------------------------------------------------------

static os_status os_check__annotation(os_checking *self, const os_graph_index *graph, size_t index) {
  const Onnx__TensorAnnotation *annotation = graph->proto->quantization_annotation[index];
  os_spot spot = {graph, NULL, annotation};
  os_str tensor = os_bytes_str(annotation->tensor_name);
  if (os_graph_find_value(&graph->graph, tensor) == OS_ABSENT) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_quantization_annotation,
                      "the annotation is for \"%.*s\", which is no value of the graph", OS_ARG(tensor));
    os_finding_place(self->report, finding, spot, "quantization_annotation[%zu]", index);
  }
  for (size_t i = 0; i < annotation->n_quant_parameter_tensor_names; i++) {
    const Onnx__StringStringEntryProto *entry = annotation->quant_parameter_tensor_names[i];
    os_str key = os_bytes_str(entry->key), value = os_bytes_str(entry->value);
    bool known = os_str_is(key, "SCALE_TENSOR") || os_str_is(key, "ZERO_POINT_TENSOR");
    if (known && os_graph_find_value(&graph->graph, value) != OS_ABSENT) continue;
    os_finding *finding =
        known ? os_report_add(self->report, &os_rule_model_quantization_annotation,
                              "%.*s is \"%.*s\", which is no value of the graph", OS_ARG(key), OS_ARG(value))
              : os_report_add(self->report, &os_rule_model_quantization_annotation,
                              "the key \"%.*s\" is neither SCALE_TENSOR nor ZERO_POINT_TENSOR", OS_ARG(key));
    os_finding_place(self->report, finding, spot,
                     "quantization_annotation[%zu].quant_parameter_tensor_names[%zu]", index, i);
  }
  char list[80];
  os_format(list, sizeof list, "quantization_annotation[%zu].quant_parameter_tensor_names", index);
  return os_check_keys(self, &os_rule_onnx_entry_duplicate, OS_WARNING,
                       annotation->quant_parameter_tensor_names, annotation->n_quant_parameter_tensor_names,
                       spot, list);
}

// ---- Nodes ------------------------------------------------------------------------------------------------

static os_status os_check__node_names(os_checking *self, const os_graph_index *graph) {
  os_map names;
  os_map_init(&names, self->report->arena);
  OS_TRY_ALLOC(os_map_reserve(&names, graph->graph.node_count) ? self : NULL);
  uint32_t unnamed = 0;
  for (uint32_t i = 0; i < graph->graph.node_count; i++) {
    const os_graph_node *node = &graph->nodes[i];
    if (node->node.name.len == 0) {
      unnamed++;
      continue;
    }
    bool added;
    os_map_entry *entry = os_map_put(&names, node->node.name, &added);
    OS_TRY_ALLOC(entry);
    if (added) {
      entry->value.number = i;
      continue;
    }
    os_finding *finding = os_report_add(self->report, &os_rule_model_node_name_duplicate,
                                        "two nodes are called \"%.*s\"", OS_ARG(node->node.name));
    os_finding_place(self->report, finding, (os_spot){graph, node, NULL}, "name");
    os_related *related = os_finding_relate(self->report, finding, "the other one");
    if (related != NULL)
      os_where_message(
          &related->where,
          os_model_path(self->report->arena, graph->graph.path, "node[%zu]", entry->value.number),
          graph->nodes[entry->value.number].proto);
  }
  if (unnamed > 0 && unnamed < graph->graph.node_count) {
    os_finding *finding = os_report_add(self->report, &os_rule_model_node_unnamed,
                                        "%u of %u nodes have no name", unnamed, graph->graph.node_count);
    os_finding_place(self->report, finding, (os_spot){graph, NULL, NULL}, "node");
  }
  return OS_OK;
}

// Names of a body's inputs and initializers that mean a value around it already. (Outputs of its nodes are told by the
// index.)
static void os_check__shadow(os_checking *self, const os_graph_index *graph, os_str name, const void *message,
                             const char *field, size_t index) {
  int32_t value;
  const os_graph_index *outer = name.len == 0 ? NULL : os_index_shadowed(graph, name, &value);
  if (outer == NULL) return;
  os_finding *finding =
      os_report_add(self->report, &os_rule_model_graph_shadow,
                    "\"%.*s\" is the name of a value around the graph already", OS_ARG(name));
  os_finding_place(self->report, finding, (os_spot){graph, NULL, message}, "%s[%zu]", field, index);
  if (!self->report->full) os_finding_define(self->report, finding, "defined here", outer, value);
}

static void os_check__shadows(os_checking *self, const os_graph_index *graph) {
  const Onnx__GraphProto *proto = graph->proto;
  if (graph->graph.parent == NULL) return;
  for (size_t i = 0; i < proto->n_input; i++)
    os_check__shadow(self, graph, os_bytes_str(proto->input[i]->name), proto->input[i], "input", i);
  for (size_t i = 0; i < proto->n_initializer; i++) {
    os_str name = os_bytes_str(proto->initializer[i]->name);
    int32_t value = os_graph_find_value(&graph->graph, name);
    if (value != OS_ABSENT && graph->graph.values[value].is_input) continue;
    os_check__shadow(self, graph, name, proto->initializer[i], "initializer", i);
  }
  for (size_t i = 0; i < proto->n_sparse_initializer; i++)
    if (proto->sparse_initializer[i]->values != NULL)
      os_check__shadow(self, graph, os_bytes_str(proto->sparse_initializer[i]->values->name),
                       proto->sparse_initializer[i], "sparse_initializer", i);
}

static os_status os_check__interface(os_checking *self, const os_graph_index *graph) {
  const Onnx__GraphProto *proto = graph->proto;
  bool typed = graph == self->top;
  if (proto->name.len == 0) {
    os_finding *finding = os_report_add(self->report, &os_rule_model_graph_name, "the graph has no name");
    os_finding_place(self->report, finding, (os_spot){graph, NULL, proto}, "name");
  }
  for (size_t i = 0; i < proto->n_input; i++) {
    OS_TRY(os_check_pause(self));
    OS_TRY(os_check__value_info(self, graph, proto->input[i], "input", i, typed));
  }
  for (size_t i = 0; i < proto->n_output; i++) {
    OS_TRY(os_check_pause(self));
    OS_TRY(os_check__value_info(self, graph, proto->output[i], "output", i, typed));
  }
  OS_TRY(os_check__initializers(self, graph));
  for (size_t i = 0; i < proto->n_quantization_annotation; i++) {
    OS_TRY(os_check_pause(self));
    OS_TRY(os_check__annotation(self, graph, i));
  }
  os_check__shadows(self, graph);
  os_check_reserved(self, &proto->base, (os_spot){graph, NULL, proto}, "", OS_ABSENT);
  return os_check_metadata(self, proto->metadata_props, proto->n_metadata_props, (os_spot){graph, NULL, NULL},
                           "", OS_WARNING);
}

os_status os_check_graph(os_checking *self, const os_graph_index *graph) {
  if (graph->proto != NULL) OS_TRY(os_check__interface(self, graph));
  OS_TRY(os_check_value_infos(self, graph));
  for (uint32_t i = 0; i < graph->graph.node_count; i++) {
    OS_TRY(os_check_pause(self));
    OS_TRY(os_check_node(self, graph, &graph->nodes[i]));
  }
  return os_check__node_names(self, graph);
}
