#include "edit_scopes.h"
#include "rare.h"

#include <stdlib.h>

// Constants: which part of a model gives a node's outputs, and what becomes of it afterwards. A node in a graph inside may take
// what the graphs around it have; what a function gets from its calls is not known.

typedef struct os_folding {
  os_model_edit *edit;
  os_scopes *scopes;
  os_map taken; // by name, to os_named
  struct {
    os_scoped_node **items;
    size_t count, room;
  } nodes;
  struct {
    os_named **items;
    size_t count, room;
  } constants;
} os_folding;

static os_status os_fold__refuse(os_model_edit *self, const Onnx__NodeProto *node, const char *why) {
  return os_edit_refuse(self, OS_UNSUPPORTED, os_edit_node_path(self, node), "%.*s cannot be folded: %s",
                        OS_ARG(os_edit_node_label(self, node)), why);
}

// In the part all names are in one graph.
static os_status os_fold__name(os_folding *self, os_named *named, const Onnx__NodeProto *node) {
  bool added;
  os_map_entry *entry = os_map_put(&self->taken, named->text, &added);
  OS_TRY_ALLOC(entry);
  if (added) entry->value.pointer = named;
  return entry->value.pointer == named
             ? OS_OK
             : os_fold__refuse(
                   self->edit, node,
                   "two values of one name, of a graph and of one around it, are in what it needs");
}

static os_status os_fold__take(os_folding *self, os_scoped_node *node) {
  const Onnx__NodeProto *proto = node->proto;
  if (node->mark == self->scopes->mark) return OS_OK;
  for (size_t i = 0; i < proto->n_attribute; i++) {
    const Onnx__AttributeProto__Rare *rare = os_attribute_rare(proto->attribute[i]);
    if (rare->g != NULL || rare->n_graphs > 0)
      return os_fold__refuse(self->edit, proto, "it has graphs inside");
    if (rare->ref_attr_name.len > 0)
      return os_fold__refuse(self->edit, proto, "its attributes are those of the function's calls");
  }
  for (size_t i = 0; i < proto->n_output; i++)
    if (proto->output[i].len > 0) OS_TRY(os_fold__name(self, os_scopes_output(node, i), proto));
  node->mark = self->scopes->mark;
  os_scoped_node **taken = OS_PUSH(self->edit->arena, &self->nodes);
  OS_TRY_ALLOC(taken);
  *taken = node;
  return OS_OK;
}

static os_status os_fold__input(os_folding *self, const os_scoped_node *node, size_t index) {
  os_named *named = node->proto->input[index].len == 0 ? NULL : os_scopes_input(node, index);
  if (named == NULL) return OS_OK;
  if (named->input || !os_named_is_made(named)) {
    const char *what = !named->input                    ? "no value of the graph"
                       : named->scope->function != NULL ? "an input of the function"
                       : named->initializer ? "an input of the graph whose initializer is a default"
                                            : "an input of the graph";
    return os_edit_refuse(self->edit, OS_INVALID_ARGUMENT,
                          os_arena_format(self->edit->arena, "%.*s.input[%zu]",
                                          OS_ARG(os_edit_node_path(self->edit, node->proto)), index),
                          "\"%.*s\" is not constant: it is %s", OS_ARG(named->text), what);
  }
  if (named->node >= 0) return os_fold__take(self, &named->scope->nodes[named->node]);
  if (named->mark == self->scopes->mark) return OS_OK;
  named->mark = self->scopes->mark;
  OS_TRY(os_fold__name(self, named, node->proto));
  os_named **constant = OS_PUSH(self->edit->arena, &self->constants);
  OS_TRY_ALLOC(constant);
  *constant = named;
  return OS_OK;
}

static int os_fold__order(const void *a, const void *b) {
  const os_scoped_node *x = *(os_scoped_node *const *)a, *y = *(os_scoped_node *const *)b;
  if (x->scope->depth != y->scope->depth) return x->scope->depth < y->scope->depth ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static os_status os_fold__outputs_of_part(os_folding *self, Onnx__GraphProto *graph,
                                          const os_constant_part *part) {
  os_arena *arena = self->edit->arena;
  graph->output = OS_ARENA_ARRAY(arena, part->output_count, Onnx__ValueInfoProto *);
  OS_TRY_ALLOC(graph->output);
  for (size_t i = 0; i < part->output_count; i++) {
    Onnx__ValueInfoProto *info =
        OS_PROTO_NEW(arena, Onnx__ValueInfoProto, onnx__value_info_proto__descriptor, graph);
    OS_TRY_ALLOC(info);
    info->has_name = true;
    info->name = os_bytes_of(part->outputs[i]);
    graph->output[graph->n_output++] = info;
  }
  return OS_OK;
}

// The part as a model of its own, whose messages are those of the document.
static os_status os_fold__model(os_folding *self, const os_scoped_node *node, os_constant_part *out) {
  os_arena *arena = self->edit->arena;
  Onnx__ModelProto *model = OS_PROTO_NEW(arena, Onnx__ModelProto, onnx__model_proto__descriptor, NULL);
  OS_TRY_ALLOC(model);
  Onnx__GraphProto *graph = OS_PROTO_NEW(arena, Onnx__GraphProto, onnx__graph_proto__descriptor, model);
  OS_TRY_ALLOC(graph);
  const Onnx__ModelProto *whole = self->edit->model;
  const Onnx__FunctionProto *function = os_scope_root(node->scope)->function;
  model->has_ir_version = whole->has_ir_version;
  model->ir_version = whole->ir_version;
  model->n_opset_import = function != NULL ? function->n_opset_import : whole->n_opset_import;
  model->opset_import = function != NULL ? function->opset_import : whole->opset_import;
  model->n_functions = whole->n_functions;
  model->functions = whole->functions;
  model->graph = graph;
  graph->has_name = true;
  graph->name = os_bytes_of(OS_STR("constants"));
  graph->node = OS_ARENA_ARRAY(arena, out->node_count, Onnx__NodeProto *);
  graph->initializer = OS_ARENA_ARRAY(arena, out->constant_count, Onnx__TensorProto *);
  graph->sparse_initializer = OS_ARENA_ARRAY(arena, out->constant_count, Onnx__SparseTensorProto *);
  OS_TRY_ALLOC(graph->node);
  OS_TRY_ALLOC(graph->initializer);
  OS_TRY_ALLOC(graph->sparse_initializer);
  for (size_t i = 0; i < out->node_count; i++) graph->node[graph->n_node++] = out->nodes[i]->proto;
  for (size_t i = 0; i < out->constant_count; i++) {
    ProtobufCMessage *constant = *out->constants[i]->constant;
    if (constant->descriptor == &onnx__tensor_proto__descriptor)
      graph->initializer[graph->n_initializer++] = (Onnx__TensorProto *)(void *)constant;
    else
      graph->sparse_initializer[graph->n_sparse_initializer++] = (Onnx__SparseTensorProto *)(void *)constant;
  }
  out->model = model;
  return os_fold__outputs_of_part(self, graph, out);
}

static bool os_fold__is_idle(const os_named *named) { return named->uses == 0 && !named->output; }

static os_status os_fold__outputs(os_folding *self, const os_scoped_node *node, os_constant_part *out) {
  out->outputs = OS_ARENA_ARRAY(self->edit->arena, node->proto->n_output, os_str);
  OS_TRY_ALLOC(out->outputs);
  for (size_t i = 0; i < node->proto->n_output; i++) {
    const os_named *named = node->proto->output[i].len == 0 ? NULL : os_scopes_output(node, i);
    if (named != NULL && !os_fold__is_idle(named)) out->outputs[out->output_count++] = named->text;
  }
  if (out->output_count > 0) return OS_OK;
  return os_edit_refuse(self->edit, OS_INVALID_ARGUMENT, os_edit_node_path(self->edit, node->proto),
                        "nothing uses the outputs of %.*s: there is nothing to fold",
                        OS_ARG(os_edit_node_label(self->edit, node->proto)));
}

static bool os_fold__has_constant(const Onnx__FunctionProto *function) {
  for (size_t i = 0; i < function->n_opset_import; i++) {
    os_str domain = os_bytes_str(function->opset_import[i]->domain);
    if (domain.len == 0 || os_str_is(domain, "ai.onnx")) return true;
  }
  return false;
}

// Whether initializers, or Constants, may stand where the node is.
static os_status os_fold__check_place(os_model_edit *self, const os_scoped_node *node) {
  const os_scope *root = os_scope_root(node->scope);
  const ProtobufCMessage *message = os_proto_parent(node->proto);
  for (; message != NULL; message = os_proto_parent(message))
    if (message->descriptor == &onnx__training_info_proto__descriptor)
      return os_fold__refuse(self, node->proto, "it is in a training graph, where initializers change");
  if (node->scope->function != NULL && !os_fold__has_constant(root->function))
    return os_fold__refuse(
        self, node->proto,
        "a Constant would take its place, whose operator set the function does not import");
  if (root->function == NULL && self->model->ir_version < 4)
    return os_edit_refuse(self, OS_UNSUPPORTED, OS_STR("ir_version"),
                          "folding needs IR version 4 or later: before it, initializers are inputs, too");
  return OS_OK;
}

os_status os_edit_constant_part(os_model_edit *self, Onnx__NodeProto *proto, os_constant_part *out) {
  os_folding folding = {.edit = self};
  *out = (os_constant_part){0};
  if (self->scopes != NULL && self->scopes->stale) OS_TRY(os_scopes_write(self));
  OS_TRY(os_scopes_of(self, &folding.scopes));
  os_scoped_node *node = os_scopes_node(folding.scopes, proto);
  if (node == NULL)
    return os_fold__refuse(self, proto, "it is in a graph that is the default of an attribute");
  OS_TRY(os_fold__check_place(self, node));
  os_map_init(&folding.taken, self->arena);
  folding.scopes->mark++;
  OS_TRY(os_fold__take(&folding, node));
  for (size_t i = 0; i < folding.nodes.count; i++) {
    const os_scoped_node *next = folding.nodes.items[i];
    for (size_t k = 0; k < next->proto->n_input; k++) OS_TRY(os_fold__input(&folding, next, k));
  }
  qsort(folding.nodes.items, folding.nodes.count, sizeof *folding.nodes.items, os_fold__order);
  out->nodes = folding.nodes.items;
  out->node_count = folding.nodes.count;
  out->constants = folding.constants.items;
  out->constant_count = folding.constants.count;
  OS_TRY(os_fold__outputs(&folding, node, out));
  return os_fold__model(&folding, node, out);
}

// ---- Afterwards -------------------------------------------------------------------------------------------

// What only the folded node needed, from its end to its beginning.
static os_status os_fold__clear(os_model_edit *self, const os_constant_part *part,
                                const os_scoped_node *folded) {
  for (size_t i = part->node_count; i-- > 0;) {
    os_scoped_node *node = part->nodes[i];
    const Onnx__NodeProto *proto = node->proto;
    bool idle = node != folded;
    for (size_t k = 0; idle && k < proto->n_output; k++)
      idle = proto->output[k].len == 0 || os_fold__is_idle(os_scopes_output(node, k));
    if (!idle) continue;
    for (size_t k = 0; k < proto->n_output; k++)
      if (proto->output[k].len > 0) os_scopes_replace(self->scopes, os_scopes_output(node, k), NULL, false);
    os_edit_forget_node(self, proto);
    OS_TRY(os_scopes_drop(self, node));
  }
  for (size_t i = 0; i < part->constant_count; i++)
    if (os_fold__is_idle(part->constants[i])) OS_TRY(os_scopes_drop_constant(self, part->constants[i]));
  return OS_OK;
}

os_status os_edit_put_constants(os_model_edit *self, Onnx__NodeProto *proto, const os_constant_part *part,
                                Onnx__TensorProto **tensors) {
  os_scoped_node *node = os_scopes_node(self->scopes, proto);
  size_t next = 0;
  os_edit_forget_node(self, proto);
  for (size_t i = 0; i < proto->n_output; i++) {
    os_named *named = proto->output[i].len == 0 ? NULL : os_scopes_output(node, i);
    if (named == NULL) continue;
    if (os_fold__is_idle(named))
      os_scopes_replace(self->scopes, named, NULL, false);
    else
      OS_TRY(os_scopes_define(self, named, tensors[next++]));
  }
  OS_TRY(os_scopes_drop(self, node));
  return os_fold__clear(self, part, node);
}
