#include "format.h"
#include "model_edit.h"
#include "names.h"
#include "rare.h"
#include "walk.h"

#include <inttypes.h>
#include <stdarg.h>

os_status os_edit_refuse(os_model_edit *self, os_status status, os_str path, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  self->message = os_arena_format_list(self->arena, format, arguments);
  va_end(arguments);
  self->path = path;
  return status;
}

// ---- Finding ----------------------------------------------------------------------------------------------

static size_t os_edit__number(const Onnx__GraphProto *graph, const Onnx__NodeProto *node) {
  size_t i = 0;
  while (i < graph->n_node && graph->node[i] != node) i++;
  return i;
}

os_str os_edit_node_path(os_model_edit *self, const Onnx__NodeProto *node) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  os_str path = {"", 0};
  if (self->model->graph != NULL && os_proto_parent(node) == self->model->graph)
    return os_arena_format(self->arena, "graph.node[%zu]", os_edit__number(self->model->graph, node));
  os_status status = os_walk_begin(&walk, self->memory, self->model);
  while (status == OS_OK && event != OS_WALK_END) {
    if (event == OS_WALK_OPEN && os_walk_top(&walk)->message == (const void *)node) {
      path = os_walk_path(&walk, self->arena, NULL, -1);
      break;
    }
    status = os_walk_next(&walk, &event);
  }
  os_walk_free(&walk);
  return path;
}

os_str os_edit_node_label(os_model_edit *self, const Onnx__NodeProto *node) {
  os_str type = os_bytes_str(node->op_type), name = os_bytes_str(node->name);
  if (name.len == 0) return os_arena_format(self->arena, "the node (%.*s)", OS_ARG(type));
  return os_arena_format(self->arena, "the node \"%.*s\" (%.*s)", OS_ARG(name), OS_ARG(type));
}

static os_status os_edit__index_names(os_model_edit *self) {
  const Onnx__GraphProto *graph = self->model->graph;
  os_map_init(&self->nodes, self->arena);
  if (!os_map_reserve(&self->nodes, graph->n_node)) return OS_OUT_OF_MEMORY;
  for (size_t i = 0; i < graph->n_node; i++) {
    os_str name = graph->node[i] == NULL ? (os_str){"", 0} : os_bytes_str(graph->node[i]->name);
    bool added;
    os_map_entry *entry = name.len == 0 ? NULL : os_map_put(&self->nodes, name, &added);
    if (entry != NULL) entry->value.number = added ? i + 1 : 0; // 0: there are several
  }
  self->named = true;
  return OS_OK;
}

// In graphs inside, functions and training graphs.
static os_status os_edit__search(os_model_edit *self, os_str name, Onnx__NodeProto **out) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  *out = NULL;
  os_status status = os_walk_begin(&walk, self->memory, self->model);
  while (status == OS_OK && event != OS_WALK_END) {
    ProtobufCMessage *message = os_walk_top(&walk)->message;
    Onnx__NodeProto *node = (Onnx__NodeProto *)(void *)message;
    if (event == OS_WALK_OPEN && message->descriptor == &onnx__node_proto__descriptor &&
        os_str_eq(os_bytes_str(node->name), name)) {
      if (*out != NULL) {
        status = os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node),
                                "several nodes have the name \"%.*s\"", OS_ARG(name));
        break;
      }
      *out = node;
    }
    status = os_walk_next(&walk, &event);
  }
  os_walk_free(&walk);
  return status;
}

os_status os_edit_find_node(os_model_edit *self, int64_t number, os_str name, Onnx__NodeProto **out) {
  const Onnx__GraphProto *graph = self->model->graph;
  os_str nowhere = {"", 0};
  if (number >= 0) {
    if ((uint64_t)number >= graph->n_node)
      return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere,
                            "the graph has no node %" PRId64 ", but %zu nodes", number, graph->n_node);
    *out = graph->node[number];
    if (*out != NULL) return OS_OK;
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere,
                          "node %" PRId64 " was removed by an edit before this one", number);
  }
  if (!self->named) OS_TRY(os_edit__index_names(self));
  const os_map_entry *entry = os_map_get(&self->nodes, name);
  if (entry != NULL && entry->value.number == 0)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere,
                          "several nodes have the name \"%.*s\"; give the number of one", OS_ARG(name));
  *out = entry == NULL ? NULL : graph->node[entry->value.number - 1];
  if (*out != NULL && os_str_eq(os_bytes_str((*out)->name), name)) return OS_OK;
  OS_TRY(os_edit__search(self, name, out));
  if (*out != NULL) return OS_OK;
  return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere, "there is no node \"%.*s\"", OS_ARG(name));
}

os_status os_edit_rename_node(os_model_edit *self, Onnx__NodeProto *node, os_str to) {
  return os_changes_text(&self->edit, node, &node->has_name, &node->name, to);
}

// ---- Taking nodes out -------------------------------------------------------------------------------------

static Onnx__GraphProto *os_edit__graph_of(const Onnx__NodeProto *node) {
  ProtobufCMessage *parent = os_proto_parent(node);
  return parent->descriptor == &onnx__graph_proto__descriptor ? (Onnx__GraphProto *)(void *)parent : NULL;
}

os_status os_edit_take_out(os_model_edit *self, Onnx__NodeProto *node) {
  Onnx__GraphProto *graph = os_edit__graph_of(node);
  void *nothing = NULL;
  self->removed = true;
  return os_changes_put(&self->edit, graph, &graph->node[os_edit__number(graph, node)], &nothing,
                        sizeof nothing);
}

os_status os_edit_finish(os_model_edit *self) {
  // Nodes inside of other graphs are taken out at once, so that it is the main graph alone that has gaps.
  Onnx__GraphProto *graph = self->model->graph;
  return graph == NULL || !self->removed
             ? OS_OK
             : os_changes_compact(&self->edit, graph, &graph->node, &graph->n_node);
}

// First use of a name that keeps a node from being removed.
typedef struct os_use {
  os_names names; // first
  os_arena *arena;
  os_str name, place;
  bool output; // of the graph itself
  size_t shadowed;
} os_use;

static os_status os_use__name(os_names *names, os_name_role role, void *message, protobuf_c_boolean *has,
                              ProtobufCBinaryData *at) {
  os_use *self = (os_use *)names;
  (void)message, (void)has;
  if (!os_str_eq(os_bytes_str(*at), self->name)) return OS_OK;
  bool root = os_names_at_root(names);
  if (role == OS_NAME_DEFINED && !root && self->shadowed == 0) self->shadowed = names->frames.count;
  if (role != OS_NAME_USED || self->shadowed > 0) return OS_OK;
  if (root && !names->in_node && strcmp(names->field, "output") == 0)
    self->output = true;
  else if (self->place.len == 0)
    self->place = os_names_place(names, self->arena);
  return OS_OK;
}

static void os_use__leave(os_names *names) {
  os_use *self = (os_use *)names;
  if (self->shadowed == names->frames.count) self->shadowed = 0;
}

static os_status os_edit__use(os_model_edit *self, Onnx__GraphProto *graph, os_str name, os_use *out) {
  *out =
      (os_use){.names = {.name = os_use__name, .leave = os_use__leave}, .arena = self->arena, .name = name};
  return os_edit_walk(self, graph, &out->names);
}

// Where a graph defines a name.
typedef struct os_definition {
  bool input, initializer;
  int64_t node; // -1: none
} os_definition;

static os_definition os_edit__definition(const Onnx__GraphProto *graph, os_str name) {
  os_definition found = {.node = -1};
  for (size_t i = 0; i < graph->n_input; i++)
    found.input |= os_str_eq(os_bytes_str(graph->input[i]->name), name);
  for (size_t i = 0; i < graph->n_initializer; i++)
    found.initializer |= os_str_eq(os_bytes_str(graph->initializer[i]->name), name);
  for (size_t i = 0; i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL)
      found.initializer |= os_str_eq(os_bytes_str(graph->sparse_initializer[i]->values->name), name);
  for (size_t i = 0; i < graph->n_node && found.node < 0; i++)
    for (size_t k = 0; graph->node[i] != NULL && k < graph->node[i]->n_output; k++)
      if (os_str_eq(os_bytes_str(graph->node[i]->output[k]), name)) found.node = (int64_t)i;
  return found;
}

static bool os_edit__is_output(const Onnx__GraphProto *graph, os_str name) {
  for (size_t i = 0; i < graph->n_output; i++)
    if (os_str_eq(os_bytes_str(graph->output[i]->name), name)) return true;
  return false;
}

// What takes the place of output `index`: *to is empty when nothing does.
static os_status os_edit__stand_in(os_model_edit *self, const Onnx__NodeProto *node, size_t index,
                                   bool bypass, const os_replacement *replacements, size_t count,
                                   os_str *to) {
  os_str name = os_bytes_str(node->output[index]), first = {"", 0};
  *to = (os_str){"", 0};
  if (bypass && index == 0 && node->n_input > 0) first = *to = os_bytes_str(node->input[0]);
  for (size_t i = 0; i < count; i++)
    if (os_str_eq(replacements[i].from, name)) *to = replacements[i].to;
  if (to->len == 0 || os_str_eq(*to, first)) return OS_OK;
  const Onnx__GraphProto *graph = os_edit__graph_of(node);
  for (size_t i = 0; i < node->n_input; i++)
    if (os_str_eq(os_bytes_str(node->input[i]), *to)) return OS_OK;
  os_definition made = os_edit__definition(graph, *to);
  if (!made.input && !made.initializer && made.node < 0)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node),
                          "\"%.*s\" cannot take the place of \"%.*s\": the graph has no such value",
                          OS_ARG(*to), OS_ARG(name));
  if (made.node >= (int64_t)os_edit__number(graph, node))
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node),
                          "\"%.*s\" cannot take the place of \"%.*s\": it is made later", OS_ARG(*to),
                          OS_ARG(name));
  return OS_OK;
}

// The output keeps its name where the graph gives it out: then what stands in gets that name.
static os_status os_edit__turn(os_model_edit *self, const Onnx__GraphProto *graph,
                               const Onnx__NodeProto *node, os_replacement *item) {
  os_definition made = os_edit__definition(graph, item->to);
  bool output = os_edit__is_output(graph, item->to);
  if (made.input || output || (!made.initializer && made.node < 0))
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node),
                          "%.*s cannot be removed: the graph gives its output \"%.*s\" out, and \"%.*s\", "
                          "which would have to take that name, is %s",
                          OS_ARG(os_edit_node_label(self, node)), OS_ARG(item->from), OS_ARG(item->to),
                          made.input ? "an input"
                          : output   ? "an output itself"
                                     : "a value of another graph");
  *item = (os_replacement){item->to, item->from};
  return OS_OK;
}

os_status os_edit_remove_node(os_model_edit *self, Onnx__NodeProto *node, bool bypass,
                              const os_replacement *replacements, size_t count) {
  Onnx__GraphProto *graph = os_edit__graph_of(node);
  if (graph == NULL)
    return os_edit_refuse(self, OS_UNSUPPORTED, os_edit_node_path(self, node),
                          "nodes of functions cannot be removed");
  for (size_t i = 0; i < count; i++) {
    bool known = false;
    for (size_t k = 0; k < node->n_output; k++)
      known |= os_str_eq(os_bytes_str(node->output[k]), replacements[i].from);
    if (!known)
      return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node),
                            "%.*s has no output \"%.*s\"", OS_ARG(os_edit_node_label(self, node)),
                            OS_ARG(replacements[i].from));
  }
  os_replacement *items = OS_ARENA_ARRAY(self->arena, node->n_output, os_replacement);
  OS_TRY_ALLOC(items);
  size_t used = 0;
  for (size_t i = 0; i < node->n_output; i++) {
    os_str name = os_bytes_str(node->output[i]);
    if (name.len == 0) continue;
    os_replacement *item = &items[used++];
    os_use use;
    *item = (os_replacement){.from = name};
    OS_TRY(os_edit__stand_in(self, node, i, bypass, replacements, count, &item->to));
    OS_TRY(os_edit__use(self, graph, name, &use));
    if (item->to.len == 0 && (use.output || use.place.len > 0))
      return os_edit_refuse(
          self, OS_INVALID_ARGUMENT, use.place.len > 0 ? use.place : os_edit_node_path(self, node),
          "%.*s cannot be removed: its output \"%.*s\" is %s%.*s; `replace` says what takes its place, "
          "`bypass` takes the node's input",
          OS_ARG(os_edit_node_label(self, node)), OS_ARG(name),
          use.place.len > 0 ? "used by " : "an output of the graph", OS_ARG(use.place));
    if (use.output) OS_TRY(os_edit__turn(self, graph, node, item));
  }
  OS_TRY(os_edit_take_out(self, node));
  if (used > 0) OS_TRY(os_edit_replace(self, graph, items, used));
  return graph == self->model->graph ? OS_OK
                                     : os_changes_compact(&self->edit, graph, &graph->node, &graph->n_node);
}
