#include "checking.h"

// What onnx.checker does not look at, though onnx.proto has rules for it: training information, device configurations.
// All findings are warnings.

// ---- Training (onnx.proto, TrainingInfoProto) -------------------------------------------------------------

static os_status os_names__of_outputs(os_map *names, const Onnx__GraphProto *graph) {
  for (size_t i = 0; graph != NULL && i < graph->n_output; i++)
    OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->output[i]->name), NULL));
  return OS_OK;
}

static os_status os_names__of_initializers(os_map *names, const Onnx__GraphProto *graph) {
  for (size_t i = 0; graph != NULL && i < graph->n_initializer; i++)
    OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->initializer[i]->name), NULL));
  for (size_t i = 0; graph != NULL && i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL)
      OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->sparse_initializer[i]->values->name), NULL));
  return OS_OK;
}

typedef struct os_bindings {
  Onnx__StringStringEntryProto *const *entries;
  size_t count;
  const char *field;
  os_map *targets, *sources; // initializers that may be bound, outputs that may be taken
  os_map *updated;           // targets so far; NULL = they may repeat
} os_bindings;

static os_status os_training__bindings(os_checking *self, size_t training, const os_bindings *bindings) {
  for (size_t i = 0; i < bindings->count; i++) {
    const Onnx__StringStringEntryProto *entry = bindings->entries[i];
    os_str key = os_bytes_str(entry->key), value = os_bytes_str(entry->value);
    os_finding *finding = NULL;
    bool added = true;
    if (bindings->updated != NULL) OS_TRY_ALLOC(os_map_put(bindings->updated, key, &added));
    if (!added)
      finding = os_report_add(self->report, &os_rule_model_training_binding, "\"%.*s\" is updated twice",
                              OS_ARG(key));
    else if (os_map_get(bindings->targets, key) == NULL)
      finding = os_report_add(self->report, &os_rule_model_training_binding,
                              "\"%.*s\" is bound, but is no initializer", OS_ARG(key));
    else if (os_map_get(bindings->sources, value) == NULL)
      finding = os_report_add(self->report, &os_rule_model_training_binding,
                              "\"%.*s\" takes \"%.*s\", which is no output of the graph", OS_ARG(key),
                              OS_ARG(value));
    if (finding == NULL) continue;
    os_where_message(
        &finding->where,
        os_arena_format(self->report->arena, "training_info[%zu].%s[%zu]", training, bindings->field, i),
        entry);
  }
  return OS_OK;
}

os_status os_check_training(os_checking *self) {
  const Onnx__ModelProto *model = self->model->proto;
  if (model == NULL || model->n_training_info == 0) return OS_OK;
  os_arena *arena = self->report->arena;
  os_map updated;
  os_map_init(&updated, arena);
  for (size_t i = 0; i < model->n_training_info; i++) {
    const Onnx__TrainingInfoProto *info = model->training_info[i];
    os_map targets, initial, results;
    os_map_init(&targets, arena);
    os_map_init(&initial, arena);
    os_map_init(&results, arena);
    OS_TRY(os_names__of_initializers(&targets, model->graph));
    OS_TRY(os_names__of_initializers(&targets, info->algorithm));
    OS_TRY(os_names__of_outputs(&initial, info->initialization));
    OS_TRY(os_names__of_outputs(&results, info->algorithm));
    OS_TRY(os_names__of_outputs(&results, model->graph));
    if (info->initialization != NULL && info->initialization->n_input > 0) {
      os_finding *finding = os_report_add(self->report, &os_rule_model_training_binding,
                                          "the initialization has %zu inputs, and must have none",
                                          info->initialization->n_input);
      os_where_message(&finding->where, os_arena_format(arena, "training_info[%zu].initialization", i),
                       info->initialization);
    }
    os_bindings first = {info->initialization_binding,
                         info->n_initialization_binding,
                         "initialization_binding",
                         &targets,
                         &initial,
                         NULL};
    os_bindings update = {
        info->update_binding, info->n_update_binding, "update_binding", &targets, &results, &updated};
    OS_TRY(os_training__bindings(self, i, &first));
    OS_TRY(os_training__bindings(self, i, &update));
  }
  return OS_OK;
}

// ---- Devices (onnx.proto, NodeDeviceConfigurationProto, from IR version 11 on) ----------------------------

static const char *os_device__sharding(const os_map *values, const Onnx__ShardingSpecProto *sharding) {
  if (sharding->tensor_name.len == 0) return "the sharding names no tensor";
  if (os_map_get(values, os_bytes_str(sharding->tensor_name)) == NULL)
    return "the sharding names a tensor that is neither input nor output of the node";
  for (size_t i = 0; i < sharding->n_sharded_dim; i++) {
    if (!sharding->sharded_dim[i]->has_axis) return "a sharded dim has no axis";
    for (size_t j = 0; j < sharding->sharded_dim[i]->n_simple_sharding; j++)
      if (!sharding->sharded_dim[i]->simple_sharding[j]->has_num_shards)
        return "a sharded dim has no number of shards";
  }
  return NULL;
}

static os_status os_device__values(os_map *values, const Onnx__NodeProto *node) {
  for (size_t i = 0; i < node->n_input; i++)
    OS_TRY_ALLOC(os_map_put(values, os_bytes_str(node->input[i]), NULL));
  for (size_t i = 0; i < node->n_output; i++)
    OS_TRY_ALLOC(os_map_put(values, os_bytes_str(node->output[i]), NULL));
  return OS_OK;
}

os_status os_check_devices(os_checking *self, const os_graph_index *graph, const os_graph_node *node) {
  const Onnx__NodeProto *proto = node->proto;
  const Onnx__NodeProto__Rare *rare = os_node_rare(proto);
  if (rare->n_device_configurations == 0) return OS_OK;
  os_map values;
  os_map_init(&values, self->report->arena);
  OS_TRY(os_device__values(&values, proto));
  for (size_t i = 0; i < rare->n_device_configurations; i++) {
    const Onnx__NodeDeviceConfigurationProto *device = rare->device_configurations[i];
    os_str id = os_bytes_str(device->configuration_id);
    os_spot spot = {graph, node, device};
    if (os_map_get(&self->configurations, id) == NULL) {
      os_finding *finding =
          os_report_add(self->report, &os_rule_model_device_configuration,
                        "the configuration \"%.*s\" is not listed in the model", OS_ARG(id));
      os_finding_place(self->report, finding, spot, "device_configurations[%zu]", i);
    }
    for (size_t j = 0; j < device->n_sharding_spec; j++) {
      const char *fault = os_device__sharding(&values, device->sharding_spec[j]);
      if (fault == NULL) continue;
      os_finding *finding = os_report_add(self->report, &os_rule_model_device_configuration, "%s", fault);
      os_finding_place(self->report, finding, spot, "device_configurations[%zu].sharding_spec[%zu]", i, j);
    }
  }
  return OS_OK;
}

os_status os_check_configurations(os_checking *self) {
  const Onnx__ModelProto *model = self->model->proto;
  os_map_init(&self->configurations, self->report->arena);
  for (size_t i = 0; model != NULL && i < model->n_configuration; i++) {
    const Onnx__DeviceConfigurationProto *configuration = model->configuration[i];
    OS_TRY_ALLOC(os_map_put(&self->configurations, os_bytes_str(configuration->name), NULL));
    const char *fault =
        configuration->name.len == 0      ? "a device configuration has no name"
        : !configuration->has_num_devices ? "a device configuration does not say how many devices it has"
        : configuration->n_device > 0 && configuration->num_devices != (int64_t)configuration->n_device
            ? "a device configuration lists another number of devices than it says"
            : NULL;
    if (fault == NULL) continue;
    os_finding *finding = os_report_add(self->report, &os_rule_model_device_configuration, "%s", fault);
    os_where_message(&finding->where, os_arena_format(self->report->arena, "configuration[%zu]", i),
                     configuration);
  }
  return OS_OK;
}
