#include "edit_scopes.h"

#include "names.h"

// ---- Building ---------------------------------------------------------------------------------------------

typedef struct os_scoping {
  os_names names; // first
  os_scopes *out;
  os_scope *main;
  struct {
    os_scope **items;
    size_t count, room;
  } stack;
} os_scoping;

static os_scope *os_scoping__top(const os_scoping *self) {
  return self->stack.count == 0 ? NULL : self->stack.items[self->stack.count - 1];
}

static os_status os_scoping__nodes(os_scoping *self, os_scope *scope, Onnx__NodeProto *const *nodes,
                                   size_t count) {
  scope->nodes = OS_ARENA_ARRAY(&self->out->arena, count, os_scoped_node);
  OS_TRY_ALLOC(scope->nodes);
  scope->node_count = count;
  for (size_t i = 0; i < count; i++) {
    os_scoped_node *node = &scope->nodes[i];
    *node = (os_scoped_node){.proto = nodes[i], .scope = scope, .number = i};
    if (nodes[i] == NULL) continue;
    os_map_entry *entry =
        os_map_put(&self->out->nodes, (os_str){(const char *)&node->proto, sizeof node->proto}, NULL);
    OS_TRY_ALLOC(entry);
    entry->value.pointer = node;
  }
  return OS_OK;
}

static os_status os_scoping__enter(os_names *names) {
  os_scoping *self = (os_scoping *)names;
  os_arena *arena = &self->out->arena;
  const os_names_frame *frame = os_names_top(names);
  os_scope *scope = OS_ARENA_NEW(arena, os_scope), *around = os_scoping__top(self);
  OS_TRY_ALLOC(scope);
  *scope = (os_scope){.graph = frame->graph, .function = frame->function};
  os_map_init(&scope->names, arena);
  scope->last_added = &scope->added;
  scope->parent = around != NULL ? around : names->training > 0 ? self->main : NULL;
  if (around != NULL) {
    scope->owner = &around->nodes[names->frames.items[names->frames.count - 2].node];
    scope->next = scope->owner->inside;
    scope->owner->inside = scope;
  }
  if (scope->parent != NULL) scope->depth = scope->parent->depth + 1;
  if (scope->parent == NULL && scope->graph != NULL) self->main = scope;
  os_scope **item = OS_PUSH(arena, &self->out->list), **top = OS_PUSH(arena, &self->stack);
  if (item == NULL || top == NULL) return OS_OUT_OF_MEMORY;
  *item = *top = scope;
  return scope->graph != NULL
             ? os_scoping__nodes(self, scope, scope->graph->node, scope->graph->n_node)
             : os_scoping__nodes(self, scope, scope->function->node, scope->function->n_node);
}

static void os_scoping__leave(os_names *names) { ((os_scoping *)names)->stack.count--; }

static os_status os_scoping__named(os_scoping *self, os_scope *scope, os_str text, os_named **out) {
  bool added;
  os_map_entry *entry = os_map_put(&scope->names, text, &added);
  OS_TRY_ALLOC(entry);
  if (added) {
    os_named *named = entry->value.pointer = OS_ARENA_NEW(&self->out->arena, os_named);
    OS_TRY_ALLOC(named);
    *named = (os_named){.text = text, .scope = scope, .node = -1};
  }
  *out = entry->value.pointer;
  return OS_OK;
}

static os_status os_scoping__say(os_scoping *self, const os_scope *scope, os_named *named) {
  const os_names *names = &self->names;
  os_said *said = OS_ARENA_NEW(&self->out->arena, os_said);
  OS_TRY_ALLOC(said);
  bool info = strcmp(names->field, "value_info") == 0;
  void **list = !info                  ? (void **)scope->graph->quantization_annotation
                : scope->graph != NULL ? (void **)scope->graph->value_info
                                       : (void **)scope->function->value_info;
  *said = (os_said){named->said, &list[names->index]};
  named->said = said;
  if (named->last_said == NULL) named->last_said = said;
  return OS_OK;
}

static os_status os_scoping__name(os_names *names, os_name_role role, void *message, protobuf_c_boolean *has,
                                  ProtobufCBinaryData *at) {
  os_scoping *self = (os_scoping *)names;
  os_scope *scope = os_scoping__top(self);
  os_str text = os_bytes_str(*at);
  os_named *named = role == OS_NAME_DEFINED ? NULL : os_scopes_find(scope, text);
  if (named == NULL)
    OS_TRY(os_scoping__named(self, role == OS_NAME_DEFINED ? scope : os_scope_root(scope), text, &named));
  bool own = named->scope == scope && !names->in_node;
  if (role == OS_NAME_TOLD && own) return os_scoping__say(self, scope, named);
  os_place *place = OS_ARENA_NEW(&self->out->arena, os_place);
  OS_TRY_ALLOC(place);
  *place = (os_place){.next = self->out->places, .name = named, .message = message, .has = has, .at = at};
  self->out->places = place;
  os_place **list = names->in_node ? &scope->nodes[os_names_top(names)->node].places : &scope->places;
  place->next_of_node = *list;
  *list = place;
  bool output = strcmp(names->field, "output") == 0;
  if (role == OS_NAME_DEFINED) {
    named->input |= own && strcmp(names->field, "input") == 0;
    if (own && strcmp(names->field, "input") != 0) {
      bool sparse = strcmp(names->field, "sparse_initializer") == 0;
      named->initializer = true;
      named->constant = sparse ? (void **)&scope->graph->sparse_initializer[names->index]
                               : (void **)&scope->graph->initializer[names->index];
    }
    if (!own && named->node < 0) named->node = (int64_t)os_names_top(names)->node;
  } else if (own && output) {
    named->output = true;
  } else if (role == OS_NAME_USED) {
    place->used = true;
    named->uses++;
  }
  return OS_OK;
}

os_status os_scopes_of(os_model_edit *self, os_scopes **out) {
  *out = self->scopes;
  if (self->scopes != NULL) return OS_OK;
  os_scopes *scopes = OS_ARENA_NEW(self->arena, os_scopes);
  OS_TRY_ALLOC(scopes);
  *out = self->scopes = scopes;
  *scopes = (os_scopes){0};
  os_arena_init(&scopes->arena, self->memory);
  os_map_init(&scopes->nodes, &scopes->arena);
  os_scoping scoping = {
      .names = {.enter = os_scoping__enter, .name = os_scoping__name, .leave = os_scoping__leave},
      .out = scopes};
  OS_TRY(os_names_walk(&scoping.names, self->memory, self->model, NULL));
  for (size_t i = 0; i < self->model->n_functions; i++) {
    scoping.main = NULL;
    scoping.stack.count = 0;
    OS_TRY(os_names_walk_function(&scoping.names, self->memory, self->model->functions[i]));
  }
  return OS_OK;
}

// ---- Asking -----------------------------------------------------------------------------------------------

static os_named *os_named__now(os_named *self) {
  os_named *now = self;
  while (now->merged != NULL) now = now->merged;
  while (self->merged != NULL) {
    os_named *next = self->merged;
    self->merged = now == self ? NULL : now;
    self = next;
  }
  return now;
}

os_scoped_node *os_scopes_node(const os_scopes *self, const Onnx__NodeProto *node) {
  const os_map_entry *entry = os_map_get(&self->nodes, (os_str){(const char *)&node, sizeof node});
  return entry == NULL ? NULL : entry->value.pointer;
}

os_named *os_scopes_find(const os_scope *scope, os_str name) {
  for (; scope != NULL; scope = scope->parent) {
    const os_map_entry *entry = os_map_get(&scope->names, name);
    os_named *named = entry == NULL ? NULL : entry->value.pointer;
    // A name that went is none; one that took another's stands in that other's entry.
    if (named == NULL || named->gone) continue;
    os_named *now = os_named__now(named);
    if (os_str_eq(now->text, name)) return now;
  }
  return NULL;
}

static os_named *os_scopes__at(const os_scoped_node *node, const ProtobufCBinaryData *at) {
  for (const os_place *place = node->places; place != NULL; place = place->next_of_node)
    if (place->at == at) return os_named__now(place->name);
  return NULL;
}

os_named *os_scopes_input(const os_scoped_node *node, size_t index) {
  return os_scopes__at(node, &node->proto->input[index]);
}
os_named *os_scopes_output(const os_scoped_node *node, size_t index) {
  return os_scopes__at(node, &node->proto->output[index]);
}

// ---- Noting -----------------------------------------------------------------------------------------------

// What is said of a name that goes is taken out.
static void os_scopes__unsay(os_named *named) {
  if (named->said == NULL) return;
  named->last_said->next = named->scope->unsaid;
  named->scope->unsaid = named->said;
  named->said = named->last_said = NULL;
}

static bool os_scopes__is_run(os_scope *scope) {
  return os_scope_root(scope)->function != NULL; // with whatever calls it
}

void os_scopes_replace(os_scopes *self, os_named *from, os_named *to, bool keep) {
  self->stale |= to != NULL;
  if (to == NULL) {
    os_scopes__unsay(from);
    from->gone = true;
    return;
  }
  os_scopes__unsay(keep ? to : from);
  if (keep) {
    to->text = from->text;
    to->said = from->said;
    to->last_said = from->last_said;
  }
  to->uses += from->uses;
  to->output |= from->output;
  from->merged = to;
}

static void os_scopes__drop_places(os_place *place) {
  for (; place != NULL; place = place->next_of_node) {
    if (place->dead) continue;
    place->dead = true;
    if (place->used) os_named__now(place->name)->uses--;
  }
}

os_status os_scopes_drop(os_model_edit *self, os_scoped_node *node) {
  os_scope *scope = node->scope;
  void *nothing = NULL, *message = os_scope_message(scope);
  Onnx__NodeProto **list = scope->graph != NULL ? scope->graph->node : scope->function->node;
  OS_TRY(os_changes_put(&self->edit, message, &list[node->number], &nothing, sizeof nothing));
  scope->gaps = true;
  self->scopes->stale |= os_scopes__is_run(scope);
  os_scopes__drop_places(node->places);
  // Graphs inside, and those inside of their nodes: each is put behind the last one.
  os_scope *next = node->inside, *last = next;
  while (last != NULL && last->next != NULL) last = last->next;
  for (; next != NULL; next = next->next) {
    os_scopes__drop_places(next->places);
    next->gaps = next->constant_gaps = false;
    next->unsaid = NULL;
    next->added = NULL;
    for (size_t i = 0; i < next->node_count; i++) {
      os_scopes__drop_places(next->nodes[i].places);
      if (next->nodes[i].proto != NULL) os_edit_forget_node(self, next->nodes[i].proto);
      last->next = next->nodes[i].inside;
      next->nodes[i].inside = NULL;
      while (last->next != NULL) last = last->next;
    }
  }
  node->inside = NULL;
  return OS_OK;
}

os_status os_scopes_define(os_model_edit *self, os_named *named, Onnx__TensorProto *tensor) {
  os_scope *scope = named->scope;
  os_added *added = OS_ARENA_NEW(&self->scopes->arena, os_added);
  OS_TRY_ALLOC(added);
  *added = (os_added){.tensor = tensor};
  *scope->last_added = added;
  scope->last_added = &added->next;
  named->node = -1;
  named->initializer = true;
  named->constant = (void **)&added->tensor;
  self->scopes->stale |= os_scopes__is_run(scope);
  os_place *place = OS_ARENA_NEW(&self->scopes->arena, os_place);
  OS_TRY_ALLOC(place);
  *place =
      (os_place){self->scopes->places, NULL, named, tensor, &tensor->has_name, &tensor->name, false, false};
  self->scopes->places = place;
  return OS_OK;
}

os_status os_scopes_drop_constant(os_model_edit *self, os_named *named) {
  void *nothing = NULL;
  os_scope *scope = named->scope;
  os_scopes_replace(self->scopes, named, NULL, false);
  scope->constant_gaps = true;
  self->scopes->stale |= os_scopes__is_run(scope);
  if (scope->graph != NULL)
    return os_changes_put(&self->edit, scope->graph, named->constant, &nothing, sizeof nothing);
  *named->constant = NULL; // in a function there are only those that were added
  return OS_OK;
}

// ---- Writing ----------------------------------------------------------------------------------------------

static os_status os_scopes__write_place(os_model_edit *self, const os_place *place) {
  const os_named *now = os_named__now(place->name);
  if (place->dead || os_str_eq(os_bytes_str(*place->at), now->text)) return OS_OK;
  const protobuf_c_boolean yes = 1;
  ProtobufCBinaryData text = os_bytes_of(now->text);
  if (place->has != NULL) OS_TRY(os_changes_put(&self->edit, place->message, place->has, &yes, sizeof yes));
  return os_changes_put(&self->edit, place->message, place->at, &text, sizeof text);
}

static size_t os_scopes__count_added(const os_scope *scope) {
  size_t count = 0;
  for (const os_added *added = scope->added; added != NULL; added = added->next)
    count += added->tensor != NULL;
  return count;
}

static void os_scopes__adopt(void *message, void *parent) {
  os_proto_head *head = os_proto_head_of(message);
  head->parent = (uintptr_t)parent | (head->parent & OS_PROTO_FLAGS);
}

static os_status os_scopes__write_constants(os_model_edit *self, os_scope *scope) {
  Onnx__GraphProto *graph = scope->graph;
  size_t n = 0;
  void **items =
      OS_ARENA_ARRAY(self->edit.arena, graph->n_initializer + os_scopes__count_added(scope), void *);
  OS_TRY_ALLOC(items);
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (graph->initializer[i] != NULL) items[n++] = graph->initializer[i];
  for (const os_added *added = scope->added; added != NULL; added = added->next) {
    if (added->tensor == NULL) continue;
    os_scopes__adopt(added->tensor, graph);
    items[n++] = added->tensor;
  }
  OS_TRY(os_changes_list(&self->edit, graph, &graph->initializer, &graph->n_initializer, items, n));
  return os_changes_compact(&self->edit, graph, &graph->sparse_initializer, &graph->n_sparse_initializer);
}

// y = Constant <value = ...>()
static os_status os_scopes__constant(os_model_edit *self, Onnx__FunctionProto *function,
                                     Onnx__TensorProto *tensor, void **out) {
  os_arena *arena = self->edit.arena;
  Onnx__NodeProto *node = OS_PROTO_NEW(arena, Onnx__NodeProto, onnx__node_proto__descriptor, function);
  OS_TRY_ALLOC(node);
  Onnx__AttributeProto *value =
      OS_PROTO_NEW(arena, Onnx__AttributeProto, onnx__attribute_proto__descriptor, node);
  OS_TRY_ALLOC(value);
  node->output = OS_ARENA_NEW(arena, ProtobufCBinaryData);
  node->attribute = OS_ARENA_NEW(arena, Onnx__AttributeProto *);
  if (node->output == NULL || node->attribute == NULL) return OS_OUT_OF_MEMORY;
  node->n_output = node->n_attribute = 1;
  node->output[0] = tensor->name;
  node->attribute[0] = value;
  node->has_op_type = value->has_name = value->has_type = 1;
  node->op_type = os_bytes_of(OS_STR("Constant"));
  value->name = os_bytes_of(OS_STR("value"));
  value->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
  value->t = tensor;
  os_scopes__adopt(tensor, value);
  *out = node;
  return OS_OK;
}

// The constants first: they need nothing.
static os_status os_scopes__write_nodes(os_model_edit *self, os_scope *scope) {
  Onnx__FunctionProto *function = scope->function;
  size_t n = 0;
  void **items = OS_ARENA_ARRAY(self->edit.arena, function->n_node + os_scopes__count_added(scope), void *);
  OS_TRY_ALLOC(items);
  for (const os_added *added = scope->added; added != NULL; added = added->next)
    if (added->tensor != NULL) OS_TRY(os_scopes__constant(self, function, added->tensor, &items[n++]));
  for (size_t i = 0; i < function->n_node; i++)
    if (function->node[i] != NULL) items[n++] = function->node[i];
  return os_changes_list(&self->edit, function, &function->node, &function->n_node, items, n);
}

static os_status os_scopes__write_scope(os_model_edit *self, os_scope *scope) {
  Onnx__GraphProto *graph = scope->graph;
  Onnx__FunctionProto *function = scope->function;
  void *nothing = NULL, *message = os_scope_message(scope);
  os_changes *edit = &self->edit;
  for (const os_said *said = scope->unsaid; said != NULL; said = said->next)
    OS_TRY(os_changes_put(edit, message, said->slot, &nothing, sizeof nothing));
  if (graph == NULL) {
    if (scope->added != NULL) OS_TRY(os_scopes__write_nodes(self, scope));
    if (scope->unsaid != NULL)
      OS_TRY(os_changes_compact(edit, function, &function->value_info, &function->n_value_info));
    return scope->gaps ? os_changes_compact(edit, function, &function->node, &function->n_node) : OS_OK;
  }
  if (scope->unsaid != NULL) {
    OS_TRY(os_changes_compact(edit, graph, &graph->value_info, &graph->n_value_info));
    OS_TRY(
        os_changes_compact(edit, graph, &graph->quantization_annotation, &graph->n_quantization_annotation));
  }
  if (scope->added != NULL || scope->constant_gaps) OS_TRY(os_scopes__write_constants(self, scope));
  self->removed |= scope->gaps && graph == self->model->graph;
  return scope->gaps && graph != self->model->graph
             ? os_changes_compact(edit, graph, &graph->node, &graph->n_node)
             : OS_OK;
}

os_status os_scopes_write(os_model_edit *self) {
  os_scopes *scopes = self->scopes;
  os_status status = OS_OK;
  if (scopes == NULL) return OS_OK;
  for (const os_place *place = scopes->places; status == OS_OK && place != NULL; place = place->next)
    status = os_scopes__write_place(self, place);
  for (size_t i = 0; status == OS_OK && i < scopes->list.count; i++)
    status = os_scopes__write_scope(self, scopes->list.items[i]);
  os_scopes_free(self);
  return status;
}

void os_scopes_free(os_model_edit *self) {
  if (self->scopes != NULL) os_arena_clear(&self->scopes->arena);
  self->scopes = NULL;
}
