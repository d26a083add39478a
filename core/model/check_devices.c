#include "checking.h"

// Device configurations (onnx.proto, DeviceConfigurationProto and NodeDeviceConfigurationProto, from IR version 11 on), which
// onnx.checker does not look at: all findings are warnings.

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

// ---- Shardings that do not fit ----------------------------------------------------------------------------

typedef struct os_sharding_check {
  os_checking *checking;
  os_spot spot;
  const Onnx__ShardingSpecProto *sharding;
  size_t device, index; // of the configuration and of the sharding
  size_t devices;       // how many there are, 0 = not known
} os_sharding_check;

static void os_sharding__tell(const os_sharding_check *self, os_finding *finding, const char *field,
                              size_t index) {
  os_finding_place(self->checking->report, finding, self->spot,
                   "device_configurations[%zu].sharding_spec[%zu].%s[%zu]", self->device, self->index, field,
                   index);
}

// The rank of a value that the node reads or makes; false when the file does not say it.
static bool os_sharding__rank(const os_graph_index *graph, os_str name, int64_t *rank) {
  int32_t number = os_graph_find_value(&graph->graph, name);
  while (number != OS_ABSENT && graph->graph.values[number].origin == OS_FROM_OUTER) {
    number = graph->graph.values[number].outer;
    graph = os_graph_index_parent(graph);
  }
  if (number == OS_ABSENT) return false;
  const os_graph_value *value = &graph->graph.values[number];
  const Onnx__TypeProto *type = value->declared == NULL ? NULL : value->declared->type;
  if (value->initializer != NULL)
    *rank = (int64_t)value->initializer->n_dims;
  else if (type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
           type->tensor_type->shape != NULL)
    *rank = (int64_t)type->tensor_type->shape->n_dim;
  else
    return false;
  return true;
}

static void os_sharding__dims(const os_sharding_check *self) {
  int64_t rank;
  os_report *report = self->checking->report;
  bool ranked = os_sharding__rank(self->spot.graph, os_bytes_str(self->sharding->tensor_name), &rank);
  for (size_t i = 0; i < self->sharding->n_sharded_dim; i++) {
    const Onnx__ShardedDimProto *dim = self->sharding->sharded_dim[i];
    if (ranked && dim->has_axis && (dim->axis < -rank || dim->axis >= rank)) {
      os_finding *finding = os_report_add(
          report, &os_rule_model_device_sharding, "axis %lld is none of \"%.*s\", whose rank is %lld",
          (long long)dim->axis, OS_ARG(os_bytes_str(self->sharding->tensor_name)), (long long)rank);
      finding->expected =
          os_arena_format(report->arena, "%lld to %lld", (long long)-rank, (long long)rank - 1);
      finding->actual = os_arena_format(report->arena, "%lld", (long long)dim->axis);
      os_sharding__tell(self, finding, "sharded_dim", i);
    }
    for (size_t j = 0; j < dim->n_simple_sharding; j++) {
      const Onnx__SimpleShardedDimProto *simple = dim->simple_sharding[j];
      if (!simple->has_num_shards || simple->num_shards >= 1) continue;
      os_sharding__tell(self,
                        os_report_add(report, &os_rule_model_device_sharding, "a dim is cut into %lld shards",
                                      (long long)simple->num_shards),
                        "sharded_dim", i);
    }
  }
}

static void os_sharding__device(const os_sharding_check *self, int64_t device, const char *field,
                                size_t index) {
  if (device >= 0 && (self->devices == 0 || (uint64_t)device < self->devices)) return;
  os_finding *finding = device < 0 ? os_report_add(self->checking->report, &os_rule_model_device_sharding,
                                                   "device %lld does not exist", (long long)device)
                                   : os_report_add(self->checking->report, &os_rule_model_device_sharding,
                                                   "device %lld does not exist: the configuration has %zu",
                                                   (long long)device, self->devices);
  os_sharding__tell(self, finding, field, index);
}

// A device is a number below the configuration's, or a key of the map, whose value lists such numbers.
static os_status os_sharding__devices(const os_sharding_check *self) {
  const Onnx__ShardingSpecProto *sharding = self->sharding;
  os_map groups;
  os_map_init(&groups, self->checking->report->arena);
  for (size_t i = 0; i < sharding->n_index_to_device_group_map; i++) {
    const Onnx__IntIntListEntryProto *entry = sharding->index_to_device_group_map[i];
    bool added;
    OS_TRY_ALLOC(os_map_put(&groups, (os_str){(const char *)&entry->key, sizeof entry->key}, &added));
    if (!added)
      os_sharding__tell(self,
                        os_report_add(self->checking->report, &os_rule_model_device_sharding,
                                      "the group %lld is listed twice", (long long)entry->key),
                        "index_to_device_group_map", i);
    for (size_t j = 0; j < entry->n_value; j++)
      os_sharding__device(self, entry->value[j], "index_to_device_group_map", i);
  }
  for (size_t i = 0; i < sharding->n_device; i++)
    if (os_map_get(&groups, (os_str){(const char *)&sharding->device[i], sizeof sharding->device[i]}) == NULL)
      os_sharding__device(self, sharding->device[i], "device", i);
  return OS_OK;
}

// ---- Those of a node --------------------------------------------------------------------------------------

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
    const os_map_entry *known = os_map_get(&self->configurations, id);
    if (known == NULL) {
      os_finding *finding =
          os_report_add(self->report, &os_rule_model_device_configuration,
                        "the configuration \"%.*s\" is not listed in the model", OS_ARG(id));
      os_finding_place(self->report, finding, spot, "device_configurations[%zu]", i);
    }
    for (size_t j = 0; j < device->n_sharding_spec; j++) {
      os_sharding_check check = {.checking = self,
                                 .spot = {graph, node, device->sharding_spec[j]},
                                 .sharding = device->sharding_spec[j],
                                 .device = i,
                                 .index = j,
                                 .devices = known == NULL ? 0 : known->value.number};
      os_sharding__dims(&check);
      OS_TRY(os_sharding__devices(&check));
      const char *fault = os_device__sharding(&values, device->sharding_spec[j]);
      if (fault == NULL) continue;
      os_finding *finding = os_report_add(self->report, &os_rule_model_device_configuration, "%s", fault);
      os_finding_place(self->report, finding, spot, "device_configurations[%zu].sharding_spec[%zu]", i, j);
    }
  }
  return OS_OK;
}

// ---- Those of the model -----------------------------------------------------------------------------------

os_status os_check_configurations(os_checking *self) {
  const Onnx__ModelProto *model = self->model->proto;
  os_map_init(&self->configurations, self->report->arena);
  for (size_t i = 0; model != NULL && i < model->n_configuration; i++) {
    const Onnx__DeviceConfigurationProto *configuration = model->configuration[i];
    OS_TRY(os_check_pause(self));
    os_map_entry *entry = os_map_put(&self->configurations, os_bytes_str(configuration->name), NULL);
    OS_TRY_ALLOC(entry);
    entry->value.number = configuration->num_devices > 0 ? (size_t)configuration->num_devices : 0;
    const char *fault =
        configuration->name.len == 0      ? "a device configuration has no name"
        : !configuration->has_num_devices ? "a device configuration does not say how many devices it has"
        : configuration->n_device > 0 && configuration->num_devices != (int64_t)configuration->n_device
            ? "a device configuration lists another number of devices than it says"
            : NULL;
    if (fault == NULL) continue;
    os_finding *finding = os_report_add(self->report, &os_rule_model_device_configuration, "%s", fault);
    if (!os_report_keeps(self->report, finding)) continue;
    os_where_message(&finding->where, os_arena_format(self->report->arena, "configuration[%zu]", i),
                     configuration);
  }
  return OS_OK;
}
