#include "model_edit.h"

#include "rare.h"

// Constants: which part of the main graph gives a node's outputs, and what becomes of it afterwards.

typedef struct os_fold_maker { // of a name
  Onnx__NodeProto *node;
  size_t number; // of the node, or of the initializer
  bool input, initializer, sparse;
} os_fold_maker;

typedef struct os_folding {
  os_model_edit *edit;
  Onnx__GraphProto *graph;
  os_map makers;
  bool *nodes, *initializers, *sparse; // part of it
  struct {
    size_t *items;
    size_t count, room;
  } left; // nodes whose inputs have to be looked at
} os_folding;

static os_status os_fold__maker(os_folding *self, os_str name, os_fold_maker **out) {
  bool added;
  *out = NULL;
  if (name.len == 0) return OS_OK;
  os_map_entry *entry = os_map_put(&self->makers, name, &added);
  OS_TRY_ALLOC(entry);
  if (added) entry->value.pointer = OS_ARENA_NEW(self->edit->arena, os_fold_maker);
  *out = entry->value.pointer;
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_status os_fold__makers(os_folding *self) {
  const Onnx__GraphProto *graph = self->graph;
  os_fold_maker *maker;
  os_map_init(&self->makers, self->edit->arena);
  for (size_t i = 0; i < graph->n_input; i++) {
    OS_TRY(os_fold__maker(self, os_bytes_str(graph->input[i]->name), &maker));
    if (maker != NULL) maker->input = true;
  }
  for (size_t i = 0; i < graph->n_initializer; i++) {
    OS_TRY(os_fold__maker(self, os_bytes_str(graph->initializer[i]->name), &maker));
    if (maker == NULL) continue;
    maker->initializer = true;
    maker->number = i;
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
    const Onnx__TensorProto *values = graph->sparse_initializer[i]->values;
    OS_TRY(os_fold__maker(self, values == NULL ? (os_str){"", 0} : os_bytes_str(values->name), &maker));
    if (maker == NULL) continue;
    maker->initializer = maker->sparse = true;
    maker->number = i;
  }
  for (size_t i = 0; i < graph->n_node; i++) {
    Onnx__NodeProto *node = graph->node[i];
    for (size_t k = 0; node != NULL && k < node->n_output; k++) {
      OS_TRY(os_fold__maker(self, os_bytes_str(node->output[k]), &maker));
      if (maker == NULL) continue;
      maker->node = node;
      maker->number = i;
    }
  }
  return OS_OK;
}

static os_status os_fold__take(os_folding *self, size_t number) {
  if (self->nodes[number]) return OS_OK;
  const Onnx__NodeProto *node = self->graph->node[number];
  for (size_t i = 0; i < node->n_attribute; i++) {
    const Onnx__AttributeProto__Rare *rare = os_attribute_rare(node->attribute[i]);
    if (rare->g != NULL || rare->n_graphs > 0)
      return os_edit_refuse(self->edit, OS_UNSUPPORTED, os_edit_node_path(self->edit, node),
                            "%.*s has graphs inside and is not folded",
                            OS_ARG(os_edit_node_label(self->edit, node)));
  }
  self->nodes[number] = true;
  size_t *left = OS_PUSH(self->edit->arena, &self->left);
  OS_TRY_ALLOC(left);
  *left = number;
  return OS_OK;
}

static os_status os_fold__input(os_folding *self, const Onnx__NodeProto *node, size_t index) {
  os_str name = os_bytes_str(node->input[index]);
  if (name.len == 0) return OS_OK;
  const os_map_entry *entry = os_map_get(&self->makers, name);
  const os_fold_maker *maker = entry == NULL ? NULL : entry->value.pointer;
  if (maker == NULL || maker->input)
    return os_edit_refuse(self->edit, OS_INVALID_ARGUMENT,
                          os_arena_format(self->edit->arena, "%.*s.input[%zu]",
                                          OS_ARG(os_edit_node_path(self->edit, node)), index),
                          "\"%.*s\" is not constant: it is %s", OS_ARG(name),
                          maker == NULL        ? "no value of the graph"
                          : maker->initializer ? "an input of the graph whose initializer is a default"
                                               : "an input of the graph");
  if (maker->node != NULL) return os_fold__take(self, maker->number);
  (maker->sparse ? self->sparse : self->initializers)[maker->number] = true;
  return OS_OK;
}

// The part as a model of its own, whose messages are those of the document.
static os_status os_fold__model(os_folding *self, os_constant_part *out) {
  const Onnx__GraphProto *from = self->graph;
  os_arena *arena = self->edit->arena;
  Onnx__ModelProto *model = OS_PROTO_NEW(arena, Onnx__ModelProto, onnx__model_proto__descriptor, NULL);
  OS_TRY_ALLOC(model);
  Onnx__GraphProto *graph = OS_PROTO_NEW(arena, Onnx__GraphProto, onnx__graph_proto__descriptor, model);
  OS_TRY_ALLOC(graph);
  const Onnx__ModelProto *whole = self->edit->model;
  model->has_ir_version = whole->has_ir_version;
  model->ir_version = whole->ir_version;
  model->n_opset_import = whole->n_opset_import;
  model->opset_import = whole->opset_import;
  model->n_functions = whole->n_functions;
  model->functions = whole->functions;
  model->graph = graph;
  graph->has_name = true;
  graph->name = os_bytes_of(OS_STR("constants"));
  graph->node = OS_ARENA_ARRAY(arena, from->n_node, Onnx__NodeProto *);
  graph->initializer = OS_ARENA_ARRAY(arena, from->n_initializer, Onnx__TensorProto *);
  graph->sparse_initializer = OS_ARENA_ARRAY(arena, from->n_sparse_initializer, Onnx__SparseTensorProto *);
  graph->output = OS_ARENA_ARRAY(arena, out->output_count, Onnx__ValueInfoProto *);
  OS_TRY_ALLOC(graph->node);
  OS_TRY_ALLOC(graph->initializer);
  OS_TRY_ALLOC(graph->sparse_initializer);
  OS_TRY_ALLOC(graph->output);
  for (size_t i = 0; i < from->n_node; i++)
    if (self->nodes[i]) graph->node[graph->n_node++] = from->node[i];
  for (size_t i = 0; i < from->n_initializer; i++)
    if (self->initializers[i]) graph->initializer[graph->n_initializer++] = from->initializer[i];
  for (size_t i = 0; i < from->n_sparse_initializer; i++)
    if (self->sparse[i])
      graph->sparse_initializer[graph->n_sparse_initializer++] = from->sparse_initializer[i];
  for (size_t i = 0; i < out->output_count; i++) {
    Onnx__ValueInfoProto *info =
        OS_PROTO_NEW(arena, Onnx__ValueInfoProto, onnx__value_info_proto__descriptor, graph);
    OS_TRY_ALLOC(info);
    info->has_name = true;
    info->name = os_bytes_of(out->outputs[i]);
    graph->output[graph->n_output++] = info;
  }
  out->model = model;
  return OS_OK;
}

static os_status os_fold__outputs(os_folding *self, const Onnx__NodeProto *node, os_constant_part *out) {
  os_map uses;
  os_map_init(&uses, self->edit->arena);
  for (size_t i = 0; i < node->n_output; i++)
    if (node->output[i].len > 0) OS_TRY_ALLOC(os_map_put(&uses, os_bytes_str(node->output[i]), NULL));
  OS_TRY(os_edit_count_uses(self->edit, self->graph, &uses));
  out->outputs = OS_ARENA_ARRAY(self->edit->arena, uses.count, os_str);
  OS_TRY_ALLOC(out->outputs);
  for (size_t i = 0; i < uses.count; i++)
    if (uses.entries[i].value.number > 0) out->outputs[out->output_count++] = uses.entries[i].key;
  if (out->output_count > 0) return OS_OK;
  return os_edit_refuse(self->edit, OS_INVALID_ARGUMENT, os_edit_node_path(self->edit, node),
                        "nothing uses the outputs of %.*s: there is nothing to fold",
                        OS_ARG(os_edit_node_label(self->edit, node)));
}

os_status os_edit_constant_part(os_model_edit *self, Onnx__NodeProto *node, os_constant_part *out) {
  os_folding folding = {.edit = self, .graph = self->model->graph};
  *out = (os_constant_part){0};
  if (os_proto_parent(node) != self->model->graph)
    return os_edit_refuse(self, OS_UNSUPPORTED, os_edit_node_path(self, node),
                          "only nodes of the main graph are folded");
  if (self->model->ir_version < 4)
    return os_edit_refuse(self, OS_UNSUPPORTED, OS_STR("ir_version"),
                          "folding needs IR version 4 or later: before it, initializers are inputs, too");
  folding.nodes = OS_ARENA_ARRAY(self->arena, folding.graph->n_node, bool);
  folding.initializers = OS_ARENA_ARRAY(self->arena, folding.graph->n_initializer, bool);
  folding.sparse = OS_ARENA_ARRAY(self->arena, folding.graph->n_sparse_initializer, bool);
  OS_TRY_ALLOC(folding.nodes);
  OS_TRY_ALLOC(folding.initializers);
  OS_TRY_ALLOC(folding.sparse);
  OS_TRY(os_fold__makers(&folding));
  size_t number = 0;
  while (folding.graph->node[number] != node) number++;
  OS_TRY(os_fold__take(&folding, number));
  while (folding.left.count > 0) {
    const Onnx__NodeProto *next = folding.graph->node[folding.left.items[--folding.left.count]];
    for (size_t i = 0; i < next->n_input; i++) OS_TRY(os_fold__input(&folding, next, i));
  }
  OS_TRY(os_fold__outputs(&folding, node, out));
  return os_fold__model(&folding, out);
}

// ---- Afterwards -------------------------------------------------------------------------------------------

static size_t *os_fold__uses(os_map *uses, ProtobufCBinaryData name) {
  os_map_entry *entry = name.len == 0 ? NULL : os_map_get(uses, os_bytes_str(name));
  return entry == NULL ? NULL : &entry->value.number;
}

static bool os_fold__idle(os_map *uses, const Onnx__NodeProto *node) {
  for (size_t i = 0; i < node->n_output; i++) {
    const size_t *count = os_fold__uses(uses, node->output[i]);
    if (count != NULL && *count > 0) return false;
  }
  return true;
}

// What only the folded node needed, from its end to its beginning.
static os_status os_fold__clear(os_model_edit *self, const os_constant_part *part) {
  Onnx__GraphProto *graph = self->model->graph;
  const Onnx__GraphProto *used = part->model->graph;
  os_map uses;
  os_map_init(&uses, self->arena);
  for (size_t i = 0; i < used->n_node; i++)
    for (size_t k = 0; k < used->node[i]->n_output; k++)
      OS_TRY_ALLOC(os_map_put(&uses, os_bytes_str(used->node[i]->output[k]), NULL));
  for (size_t i = 0; i < used->n_initializer; i++)
    OS_TRY_ALLOC(os_map_put(&uses, os_bytes_str(used->initializer[i]->name), NULL));
  OS_TRY(os_edit_count_uses(self, graph, &uses));
  os_map gone;
  os_map_init(&gone, self->arena);
  for (size_t i = used->n_node; i-- > 0;) {
    Onnx__NodeProto *node = used->node[i];
    if (!os_fold__idle(&uses, node)) continue;
    for (size_t k = 0; k < node->n_output; k++) // the folded node is gone already
      OS_TRY_ALLOC(os_map_put(&gone, os_bytes_str(node->output[k]), NULL));
    OS_TRY(os_edit_take_out(self, node));
    for (size_t k = 0; k < node->n_input; k++) {
      size_t *count = os_fold__uses(&uses, node->input[k]);
      if (count != NULL) --*count;
    }
  }
  void *nothing = NULL;
  for (size_t i = 0; i < graph->n_initializer; i++) {
    const size_t *count = os_fold__uses(&uses, graph->initializer[i]->name);
    if (count == NULL || *count > 0) continue;
    OS_TRY_ALLOC(os_map_put(&gone, os_bytes_str(graph->initializer[i]->name), NULL));
    OS_TRY(os_changes_put(&self->edit, graph, &graph->initializer[i], &nothing, sizeof nothing));
  }
  OS_TRY(os_changes_compact(&self->edit, graph, &graph->initializer, &graph->n_initializer));
  os_replacement *items = OS_ARENA_ARRAY(self->arena, gone.count, os_replacement);
  OS_TRY_ALLOC(items);
  for (size_t i = 0; i < gone.count; i++) items[i].from = gone.entries[i].key;
  return gone.count == 0 ? OS_OK : os_edit_replace(self, graph, items, gone.count);
}

os_status os_edit_put_constants(os_model_edit *self, Onnx__NodeProto *node, const os_constant_part *part,
                                Onnx__TensorProto **tensors) {
  Onnx__GraphProto *graph = self->model->graph;
  OS_TRY(os_edit_take_out(self, node));
  // In place of the node: what is left of the part is counted without it.
  Onnx__GraphProto *rest = part->model->graph;
  size_t n = 0;
  for (size_t i = 0; i < rest->n_node; i++)
    if (rest->node[i] != node) rest->node[n++] = rest->node[i];
  rest->n_node = n;
  OS_TRY(os_fold__clear(self, part));
  for (size_t i = 0; i < part->output_count; i++) {
    os_proto_head *head = os_proto_head_of(tensors[i]);
    head->parent = (uintptr_t)graph | (head->parent & OS_PROTO_FLAGS);
    OS_TRY(os_changes_append(&self->edit, graph, &graph->initializer, &graph->n_initializer, tensors[i]));
  }
  return OS_OK;
}
