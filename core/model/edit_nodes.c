#include "edit_scopes.h"
#include "format.h"
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

// Of any message of the model.
static os_str os_edit__path(os_model_edit *self, const void *message) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  os_str path = {"", 0};
  os_status status = os_walk_begin(&walk, self->memory, self->model);
  while (status == OS_OK && event != OS_WALK_END) {
    if (event == OS_WALK_OPEN && os_walk_top(&walk)->message == message) {
      path = os_walk_path(&walk, self->arena, NULL, -1);
      break;
    }
    status = os_walk_next(&walk, &event);
  }
  os_walk_free(&walk);
  return path;
}

os_str os_edit_node_path(os_model_edit *self, const Onnx__NodeProto *node) {
  if (self->model->graph == NULL || os_proto_parent(node) != self->model->graph)
    return os_edit__path(self, node);
  return os_arena_format(self->arena, "graph.node[%zu]", os_edit__number(self->model->graph, node));
}

os_str os_edit_node_label(os_model_edit *self, const Onnx__NodeProto *node) {
  os_str type = os_bytes_str(node->op_type), name = os_bytes_str(node->name);
  if (name.len == 0) return os_arena_format(self->arena, "the node (%.*s)", OS_ARG(type));
  return os_arena_format(self->arena, "the node \"%.*s\" (%.*s)", OS_ARG(name), OS_ARG(type));
}

typedef struct os_node_name {
  Onnx__NodeProto *main, *other; // the first in the main graph, in any other
  size_t mains, others;
  const Onnx__NodeProto *second; // of the others
} os_node_name;

static os_status os_edit__index_node(os_model_edit *self, Onnx__NodeProto *node) {
  os_str name = os_bytes_str(node->name);
  bool added;
  os_map_entry *entry = name.len == 0 ? NULL : os_map_put(&self->nodes, name, &added);
  if (name.len == 0) return OS_OK;
  OS_TRY_ALLOC(entry);
  if (added) entry->value.pointer = OS_ARENA_NEW(self->arena, os_node_name);
  os_node_name *at = entry->value.pointer;
  OS_TRY_ALLOC(at);
  bool main = os_proto_parent(node) == self->model->graph;
  if (main && at->mains++ == 0) at->main = node;
  if (main) return OS_OK;
  if (at->others++ == 0)
    at->other = node;
  else if (at->second == NULL)
    at->second = node;
  return OS_OK;
}

// Of all graphs, functions and training graphs.
static os_status os_edit__index_names(os_model_edit *self) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  os_map_init(&self->nodes, self->arena);
  if (!os_map_reserve(&self->nodes, self->model->graph->n_node)) return OS_OUT_OF_MEMORY;
  os_status status = os_walk_begin(&walk, self->memory, self->model);
  while (status == OS_OK && event != OS_WALK_END) {
    ProtobufCMessage *message = os_walk_top(&walk)->message;
    if (event == OS_WALK_OPEN && message->descriptor == &onnx__node_proto__descriptor)
      status = os_edit__index_node(self, (Onnx__NodeProto *)(void *)message);
    if (status == OS_OK) status = os_walk_next(&walk, &event);
  }
  os_walk_free(&walk);
  self->named = status == OS_OK;
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
  const os_node_name *found = entry == NULL ? NULL : entry->value.pointer;
  if (found == NULL || found->mains + found->others == 0)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere, "there is no node \"%.*s\"", OS_ARG(name));
  if (found->mains > 1)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere,
                          "several nodes have the name \"%.*s\"; give the number of one", OS_ARG(name));
  if (found->mains == 0 && found->others > 1)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, found->second),
                          "several nodes have the name \"%.*s\"", OS_ARG(name));
  *out = found->mains == 1 ? found->main : found->other;
  return OS_OK;
}

void os_edit_forget_node(os_model_edit *self, const Onnx__NodeProto *node) {
  const os_map_entry *entry = self->named ? os_map_get(&self->nodes, os_bytes_str(node->name)) : NULL;
  if (entry == NULL) return;
  os_node_name *found = entry->value.pointer;
  bool main = os_proto_parent(node) == self->model->graph;
  if (*(main ? &found->mains : &found->others) > 1)
    self->named = false; // which one is left is found out when it is asked for
  else if (main)
    found->mains = 0;
  else
    found->others = 0;
}

os_status os_edit_rename_node(os_model_edit *self, Onnx__NodeProto *node, os_str to) {
  os_edit_forget_node(self, node);
  OS_TRY(os_changes_text(&self->edit, node, &node->has_name, &node->name, to));
  return self->named ? os_edit__index_node(self, node) : OS_OK;
}

// ---- Taking nodes out -------------------------------------------------------------------------------------

os_status os_edit_settle(os_model_edit *self) { return os_scopes_write(self); }

os_status os_edit_finish(os_model_edit *self) {
  OS_TRY(os_scopes_write(self));
  // It is the main graph alone that has gaps.
  Onnx__GraphProto *graph = self->model->graph;
  return graph == NULL || !self->removed
             ? OS_OK
             : os_changes_compact(&self->edit, graph, &graph->node, &graph->n_node);
}

void os_edit_end(os_model_edit *self) { os_scopes_free(self); }

// First use of a name that keeps a node from being removed.
typedef struct os_use {
  os_names names; // first
  os_arena *arena;
  os_str name, place;
  size_t shadowed;
} os_use;

static os_status os_use__name(os_names *names, os_name_role role, void *message, protobuf_c_boolean *has,
                              ProtobufCBinaryData *at) {
  os_use *self = (os_use *)names;
  (void)message, (void)has;
  if (!os_str_eq(os_bytes_str(*at), self->name)) return OS_OK;
  bool root = os_names_at_root(names);
  if (role == OS_NAME_DEFINED && !root && self->shadowed == 0) self->shadowed = names->frames.count;
  if (role != OS_NAME_USED || self->shadowed > 0 || self->place.len > 0) return OS_OK;
  if (!root || names->in_node || strcmp(names->field, "output") != 0)
    self->place = os_names_place(names, self->arena);
  return OS_OK;
}

static void os_use__leave(os_names *names) {
  os_use *self = (os_use *)names;
  if (self->shadowed == names->frames.count) self->shadowed = 0;
}

// The names are those that stand in the messages.
static os_status os_edit__use(os_model_edit *self, const os_scope *scope, os_str name, os_str *place) {
  os_use use = {.names = {.name = os_use__name, .leave = os_use__leave}, .arena = self->arena, .name = name};
  use.names.root = os_edit__path(self, os_scope_message(scope));
  if (scope->graph == NULL)
    OS_TRY(os_names_walk_function(&use.names, self->memory, scope->function));
  else
    OS_TRY(os_edit_walk(self, scope->graph, &use.names));
  *place = use.place;
  return OS_OK;
}

// Whether the value is there before the node runs: one of its graph that is made by an earlier node, or one that the graph
// around it sees.
static bool os_edit__is_early(const os_scoped_node *node, const os_named *value) {
  const os_scoped_node *reader = node;
  for (const os_scope *scope = node->scope; scope != NULL && scope != value->scope; scope = scope->parent)
    reader = scope->owner; // NULL: a training graph, which sees all
  return reader == NULL || value->node < (int64_t)reader->number;
}

// What takes the place of output `index`: *to is NULL when nothing does.
static os_status os_edit__stand_in(os_model_edit *self, const os_scoped_node *node, size_t index, bool bypass,
                                   const os_replacement *replacements, size_t count, os_named **to) {
  const Onnx__NodeProto *proto = node->proto;
  const os_named *from = os_scopes_output(node, index);
  os_str name = {"", 0};
  *to = bypass && index == 0 && proto->n_input > 0 ? os_scopes_input(node, 0) : NULL;
  for (size_t i = 0; i < count; i++)
    if (os_str_eq(replacements[i].from, from->text)) name = replacements[i].to;
  if (name.len == 0) return OS_OK;
  *to = os_scopes_find(node->scope, name);
  for (size_t i = 0; *to != NULL && i < proto->n_input; i++)
    if (os_scopes_input(node, i) == *to) return OS_OK;
  if (*to == NULL || !os_named_is_made(*to))
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, proto),
                          "\"%.*s\" cannot take the place of \"%.*s\": the graph has no such value",
                          OS_ARG(name), OS_ARG(from->text));
  if (!os_edit__is_early(node, *to))
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, proto),
                          "\"%.*s\" cannot take the place of \"%.*s\": it is made later", OS_ARG(name),
                          OS_ARG(from->text));
  return OS_OK;
}

// Whether the output can keep its name, which the graph gives out: then what stands in gets that name.
static os_status os_edit__turn(os_model_edit *self, const os_scoped_node *node, const os_named *from,
                               const os_named *to) {
  if (to->scope == node->scope && !to->input && !to->output && os_named_is_made(to)) return OS_OK;
  bool function = node->scope->function != NULL;
  return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node->proto),
                        "%.*s cannot be removed: the %s gives its output \"%.*s\" out, and \"%.*s\", "
                        "which would have to take that name, is %s",
                        OS_ARG(os_edit_node_label(self, node->proto)), function ? "function" : "graph",
                        OS_ARG(from->text), OS_ARG(to->text),
                        to->scope != node->scope ? "a value of another graph"
                        : to->input              ? "an input"
                        : to->output             ? "an output itself"
                                                 : "made by nothing in it");
}

static os_status os_edit__is_used(os_model_edit *self, const os_scoped_node *node, const os_named *value) {
  Onnx__NodeProto *proto = node->proto;
  const os_scope *scope = node->scope; // lives until the next edit
  os_str name = value->text, place = {"", 0};
  const char *what = scope->function != NULL ? "an output of the function" : "an output of the graph";
  size_t uses = value->uses;
  os_scope home = *scope;
  OS_TRY(os_edit_settle(self));
  if (uses > 0) OS_TRY(os_edit__use(self, &home, name, &place));
  return os_edit_refuse(
      self, OS_INVALID_ARGUMENT, place.len > 0 ? place : os_edit_node_path(self, proto),
      "%.*s cannot be removed: its output \"%.*s\" is %s%.*s; `replace` says what takes its "
      "place, `bypass` takes the node's input",
      OS_ARG(os_edit_node_label(self, proto)), OS_ARG(name), place.len > 0 ? "used by " : what,
      OS_ARG(place));
}

static os_status os_edit__check_replacements(os_model_edit *self, const os_scoped_node *node,
                                             const os_replacement *replacements, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool known = false;
    for (size_t k = 0; k < node->proto->n_output; k++) {
      const os_named *output = os_scopes_output(node, k);
      known |= output != NULL && os_str_eq(output->text, replacements[i].from);
    }
    if (!known)
      return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_edit_node_path(self, node->proto),
                            "%.*s has no output \"%.*s\"", OS_ARG(os_edit_node_label(self, node->proto)),
                            OS_ARG(replacements[i].from));
  }
  return OS_OK;
}

os_status os_edit_remove_node(os_model_edit *self, Onnx__NodeProto *proto, bool bypass,
                              const os_replacement *replacements, size_t count) {
  os_scopes *scopes;
  OS_TRY(os_scopes_of(self, &scopes));
  os_scoped_node *node = os_scopes_node(scopes, proto);
  if (node == NULL)
    return os_edit_refuse(self, OS_UNSUPPORTED, os_edit_node_path(self, proto),
                          "%.*s cannot be removed: it is in a graph that is the default of an attribute",
                          OS_ARG(os_edit_node_label(self, proto)));
  OS_TRY(os_edit__check_replacements(self, node, replacements, count));
  os_named **to = OS_ARENA_ARRAY(self->arena, proto->n_output, os_named *);
  OS_TRY_ALLOC(to);
  for (size_t i = 0; i < proto->n_output; i++) {
    if (proto->output[i].len == 0) continue;
    os_named *from = os_scopes_output(node, i);
    OS_TRY(os_edit__stand_in(self, node, i, bypass, replacements, count, &to[i]));
    if (to[i] == NULL && (from->output || from->uses > 0)) return os_edit__is_used(self, node, from);
    if (from->output) OS_TRY(os_edit__turn(self, node, from, to[i]));
  }
  os_edit_forget_node(self, proto);
  for (size_t i = 0; i < proto->n_output; i++) {
    os_named *from = proto->output[i].len == 0 ? NULL : os_scopes_output(node, i);
    if (from != NULL && from != to[i]) os_scopes_replace(scopes, from, to[i], from->output);
  }
  return os_scopes_drop(self, node);
}
