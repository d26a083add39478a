#include "names.h"

#include "rare.h"

static os_status os_names__say(os_names *self, os_name_role role, const char *field, size_t index,
                               void *message, protobuf_c_boolean *has, ProtobufCBinaryData *at) {
  self->field = field;
  self->index = index;
  return at->len == 0 ? OS_OK : self->name(self, role, message, has, at);
}

static os_status os_names__infos(os_names *self, os_name_role role, const char *field,
                                 Onnx__ValueInfoProto **infos, size_t count) {
  for (size_t i = 0; i < count; i++)
    OS_TRY(os_names__say(self, role, field, i, infos[i], &infos[i]->has_name, &infos[i]->name));
  return OS_OK;
}

static os_status os_names__texts(os_names *self, os_name_role role, const char *field, void *message,
                                 ProtobufCBinaryData *texts, size_t count) {
  for (size_t i = 0; i < count; i++) OS_TRY(os_names__say(self, role, field, i, message, NULL, &texts[i]));
  return OS_OK;
}

static os_status os_names__node_outputs(os_names *self, Onnx__NodeProto *const *nodes, size_t count) {
  self->in_node = true;
  for (size_t i = 0; i < count; i++) {
    Onnx__NodeProto *node = nodes[i];
    os_names_top(self)->node = i;
    if (node != NULL)
      OS_TRY(os_names__texts(self, OS_NAME_DEFINED, "output", node, node->output, node->n_output));
  }
  self->in_node = false;
  os_names_top(self)->node = 0;
  return OS_OK;
}

static os_status os_names__function(os_names *self, Onnx__FunctionProto *function) {
  OS_TRY(os_names__texts(self, OS_NAME_DEFINED, "input", function, function->input, function->n_input));
  OS_TRY(os_names__node_outputs(self, function->node, function->n_node));
  OS_TRY(os_names__texts(self, OS_NAME_USED, "output", function, function->output, function->n_output));
  return os_names__infos(self, OS_NAME_TOLD, "value_info", function->value_info, function->n_value_info);
}

static os_status os_names__definitions(os_names *self, Onnx__GraphProto *graph) {
  OS_TRY(os_names__infos(self, OS_NAME_DEFINED, "input", graph->input, graph->n_input));
  for (size_t i = 0; i < graph->n_initializer; i++) {
    Onnx__TensorProto *tensor = graph->initializer[i];
    OS_TRY(os_names__say(self, OS_NAME_DEFINED, "initializer", i, tensor, &tensor->has_name, &tensor->name));
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
    Onnx__TensorProto *values = graph->sparse_initializer[i]->values;
    if (values == NULL) continue;
    OS_TRY(os_names__say(self, OS_NAME_DEFINED, "sparse_initializer", i, values, &values->has_name,
                         &values->name));
  }
  return os_names__node_outputs(self, graph->node, graph->n_node);
}

static os_status os_names__entries(os_names *self, const char *list, Onnx__StringStringEntryProto **entries,
                                   size_t count, bool keys, bool values) {
  for (size_t i = 0; i < count; i++) {
    if (keys)
      OS_TRY(os_names__say(self, OS_NAME_USED, list, i, entries[i], &entries[i]->has_key, &entries[i]->key));
    if (values)
      OS_TRY(
          os_names__say(self, OS_NAME_USED, list, i, entries[i], &entries[i]->has_value, &entries[i]->value));
  }
  return OS_OK;
}

static os_status os_names__annotations(os_names *self, Onnx__GraphProto *graph) {
  for (size_t i = 0; i < graph->n_quantization_annotation; i++) {
    Onnx__TensorAnnotation *annotation = graph->quantization_annotation[i];
    for (size_t k = 0; k < annotation->n_quant_parameter_tensor_names; k++) {
      Onnx__StringStringEntryProto *entry = annotation->quant_parameter_tensor_names[k];
      self->inner = "quant_parameter_tensor_names";
      self->inner_index = k;
      OS_TRY(os_names__say(self, OS_NAME_USED, "quantization_annotation", i, entry, &entry->has_value,
                           &entry->value));
    }
    self->inner = NULL;
    OS_TRY(os_names__say(self, OS_NAME_TOLD, "quantization_annotation", i, annotation,
                         &annotation->has_tensor_name, &annotation->tensor_name));
  }
  return OS_OK;
}

static os_status os_names__bindings(os_names *self, const Onnx__TrainingInfoProto *training,
                                    const Onnx__GraphProto *graph) {
  bool algorithm = graph == training->algorithm;
  OS_TRY(os_names__entries(self, "initialization_binding", training->initialization_binding,
                           training->n_initialization_binding, algorithm, !algorithm));
  if (!algorithm) return OS_OK;
  return os_names__entries(self, "update_binding", training->update_binding, training->n_update_binding, true,
                           true);
}

static os_status os_names__begin(os_names *self, os_names_frame frame) {
  os_names_top(self)->begun = true;
  if (self->enter != NULL) OS_TRY(self->enter(self));
  if (frame.function != NULL) return os_names__function(self, frame.function);
  OS_TRY(os_names__definitions(self, frame.graph));
  OS_TRY(os_names__infos(self, OS_NAME_USED, "output", frame.graph->output, frame.graph->n_output));
  OS_TRY(os_names__annotations(self, frame.graph));
  OS_TRY(
      os_names__infos(self, OS_NAME_TOLD, "value_info", frame.graph->value_info, frame.graph->n_value_info));
  return frame.training == NULL ? OS_OK : os_names__bindings(self, frame.training, frame.graph);
}

static os_status os_names__node(os_names *self, Onnx__NodeProto *node) {
  const Onnx__NodeProto__Rare *rare = os_node_rare(node);
  self->in_node = true;
  OS_TRY(os_names__texts(self, OS_NAME_USED, "input", node, node->input, node->n_input));
  self->inner = "sharding_spec";
  for (size_t i = 0; i < rare->n_device_configurations; i++) {
    Onnx__NodeDeviceConfigurationProto *devices = rare->device_configurations[i];
    for (size_t k = 0; k < devices->n_sharding_spec; k++) {
      Onnx__ShardingSpecProto *spec = devices->sharding_spec[k];
      self->inner_index = k;
      OS_TRY(os_names__say(self, OS_NAME_TOLD, "device_configurations", i, spec, &spec->has_tensor_name,
                           &spec->tensor_name));
    }
  }
  self->inner = NULL;
  self->in_node = false;
  return OS_OK;
}

static os_status os_names__push(os_names *self, Onnx__GraphProto *graph,
                                const Onnx__TrainingInfoProto *training) {
  os_names_frame *frame = OS_PUSH(&self->arena, &self->frames);
  OS_TRY_ALLOC(frame);
  frame->graph = graph;
  frame->training = training;
  return OS_OK;
}

// Goes on until a graph inside begins or the innermost one ends.
static os_status os_names__step(os_names *self) {
  os_names_frame *frame = os_names_top(self);
  if (!frame->begun) OS_TRY(os_names__begin(self, *frame));
  size_t count = frame->function != NULL ? frame->function->n_node : frame->graph->n_node;
  Onnx__NodeProto *const *nodes = frame->function != NULL ? frame->function->node : frame->graph->node;
  for (; frame->node < count; frame->node++, frame->attribute = 0) {
    Onnx__NodeProto *node = nodes[frame->node];
    if (node == NULL) continue;
    if (frame->attribute == 0 && frame->inner == 0) OS_TRY(os_names__node(self, node));
    for (; frame->attribute < node->n_attribute; frame->attribute++, frame->inner = 0) {
      const Onnx__AttributeProto__Rare *rare = os_attribute_rare(node->attribute[frame->attribute]);
      while (frame->inner <= rare->n_graphs) {
        size_t k = frame->inner++;
        Onnx__GraphProto *graph = k == 0 ? rare->g : rare->graphs[k - 1];
        if (graph != NULL) return os_names__push(self, graph, NULL);
      }
    }
  }
  if (self->leave != NULL) self->leave(self);
  self->frames.count--;
  return OS_OK;
}

static os_status os_names__tree(os_names *self, Onnx__GraphProto *graph,
                                const Onnx__TrainingInfoProto *training) {
  if (graph == NULL) return OS_OK;
  OS_TRY(os_names__push(self, graph, training));
  while (self->frames.count > 0) OS_TRY(os_names__step(self));
  return OS_OK;
}

static void os_names__start(os_names *self, os_memory *memory) {
  os_arena_init(&self->arena, memory);
  self->frames.items = NULL;
  self->frames.count = self->frames.room = self->training = 0;
  self->in_node = false;
  self->inner = NULL;
}

os_status os_names_walk_function(os_names *self, os_memory *memory, Onnx__FunctionProto *function) {
  os_names__start(self, memory);
  os_status status = os_names__push(self, NULL, NULL);
  if (status == OS_OK) os_names_top(self)->function = function;
  while (status == OS_OK && self->frames.count > 0) status = os_names__step(self);
  os_arena_clear(&self->arena);
  return status;
}

os_status os_names_walk(os_names *self, os_memory *memory, Onnx__ModelProto *model, Onnx__GraphProto *graph) {
  os_names__start(self, memory);
  os_status status = os_names__tree(self, model == NULL ? graph : model->graph, NULL);
  for (size_t i = 0; status == OS_OK && model != NULL && i < model->n_training_info; i++) {
    const Onnx__TrainingInfoProto *training = model->training_info[i];
    self->training = i + 1;
    status = os_names__tree(self, training->initialization, training);
    if (status == OS_OK) status = os_names__tree(self, training->algorithm, training);
  }
  os_arena_clear(&self->arena);
  return status;
}

os_str os_names_place(const os_names *self, os_arena *arena) {
  const os_names_frame *frames = self->frames.items;
  os_str path = self->root.len > 0 ? self->root : OS_STR("graph");
  if (self->training > 0) {
    bool binding = strstr(self->field, "_binding") != NULL,
         algorithm = frames[0].graph == frames[0].training->algorithm;
    path = os_arena_format(arena, "training_info[%zu]%s", self->training - 1,
                           binding     ? ""
                           : algorithm ? ".algorithm"
                                       : ".initialization");
  }
  for (size_t i = 0; i + 1 < self->frames.count; i++) {
    const os_names_frame *frame = &frames[i];
    path = os_arena_format(arena, "%.*s.node[%zu].attribute[%zu].%s", OS_ARG(path), frame->node,
                           frame->attribute, frame->inner == 1 ? "g" : "graphs");
    if (frame->inner > 1) path = os_arena_format(arena, "%.*s[%zu]", OS_ARG(path), frame->inner - 2);
  }
  if (self->in_node) path = os_arena_format(arena, "%.*s.node[%zu]", OS_ARG(path), os_names_top(self)->node);
  path = os_arena_format(arena, "%.*s.%s[%zu]", OS_ARG(path), self->field, self->index);
  if (self->inner != NULL)
    path = os_arena_format(arena, "%.*s.%s[%zu]", OS_ARG(path), self->inner, self->inner_index);
  return path;
}
