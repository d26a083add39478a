#include "model_index.h"

// ---- Names ------------------------------------------------------------------------------------------------

// "domain\0name\0overload" in the arena.
static os_str os_function__key(os_arena *arena, char *buffer, size_t room, os_str domain, os_str name,
                               os_str overload) {
  size_t len = domain.len + name.len + overload.len + 2;
  char *key = len <= room ? buffer : os_arena_alloc(arena, len);
  if (key == NULL) return (os_str){NULL, 0};
  const os_str parts[] = {domain, name, overload};
  char *to = key;
  for (size_t i = 0; i < 3; i++) {
    if (parts[i].len > 0) memcpy(to, parts[i].data, parts[i].len);
    to += parts[i].len;
    if (i < 2) *to++ = 0;
  }
  return (os_str){key, len};
}

os_function *os_function_find(const os_model *model, os_str domain, os_str name, os_str overload) {
  if (model->function_count == 0) return NULL;
  char buffer[256];
  os_str key = os_function__key(model->arena, buffer, sizeof buffer, domain, name, overload);
  const os_map_entry *entry = key.data == NULL ? NULL : os_map_get(&model->function_names, key);
  return entry == NULL ? NULL : entry->value.pointer;
}

// ---- Who calls whom ---------------------------------------------------------------------------------------

typedef struct os_function__walk {
  struct {
    struct os_function__nodes {
      Onnx__NodeProto *const *nodes;
      size_t count;
    } *items;
    size_t count, room;
  } pending;
} os_function__walk;

static os_status os_function__visit(os_arena *arena, os_function__walk *walk, const Onnx__GraphProto *graph) {
  struct os_function__nodes *slot = OS_PUSH(arena, &walk->pending);
  OS_TRY_ALLOC(slot);
  *slot = (struct os_function__nodes){graph->node, graph->n_node};
  return OS_OK;
}

// All functions that the nodes of a function name, bodies at any depth included.
static os_status os_function__calls(os_model *model, os_function *self, os_function__walk *walk) {
  os_arena *arena = model->arena;
  walk->pending.count = 0;
  struct os_function__nodes *first = OS_PUSH(arena, &walk->pending);
  OS_TRY_ALLOC(first);
  *first = (struct os_function__nodes){self->proto->node, self->proto->n_node};
  while (walk->pending.count > 0) {
    struct os_function__nodes nodes = walk->pending.items[--walk->pending.count];
    os_str domain = {"", 0}, name = {"", 0}, overload = {"", 0}; // of the last one
    os_function *called = NULL;
    for (size_t i = 0; i < nodes.count; i++) {
      const Onnx__NodeProto *node = nodes.nodes[i];
      os_str version = os_bytes_str(os_node_rare(node)->overload);
      bool same = i > 0 && os_str_eq(name, os_bytes_str(node->op_type)) &&
                  os_str_eq(domain, os_bytes_str(node->domain)) && os_str_eq(overload, version);
      domain = os_bytes_str(node->domain);
      name = os_bytes_str(node->op_type);
      overload = version;
      if (!same) called = os_function_find(model, domain, name, overload);
      if (called != NULL) {
        os_function **slot = OS_PUSH(arena, &self->calls);
        OS_TRY_ALLOC(slot);
        *slot = called;
      }
      for (size_t j = 0; j < node->n_attribute; j++) {
        const Onnx__AttributeProto__Rare *rare = os_attribute_rare(node->attribute[j]);
        if (rare->g != NULL) OS_TRY(os_function__visit(arena, walk, rare->g));
        for (size_t k = 0; k < rare->n_graphs; k++) OS_TRY(os_function__visit(arena, walk, rare->graphs[k]));
      }
    }
  }
  return OS_OK;
}

typedef struct os_function__step {
  os_function *function;
  size_t next; // call to look at
} os_function__step;

typedef struct os_function__search {
  os_function__step *stack;
  uint32_t depth, cycles;
  uint8_t *state; // per function: 0 new, 1 on the stack, 2 done
} os_function__search;

enum { MOST_CYCLES = 10 }; // told; there can be very many in a small file

static os_status os_function__cycle(os_model *model, os_function__search *search, os_function *again) {
  again->recursive = true;
  search->stack[search->depth - 1].function->recursive = true; // and those below it on the way back
  if (search->cycles++ >= MOST_CYCLES) return OS_OK;
  uint32_t start = search->depth - 1;
  while (search->stack[start].function != again) start--;
  uint32_t *numbers = OS_ARENA_ARRAY(model->arena, search->depth - start, uint32_t);
  OS_TRY_ALLOC(numbers);
  for (uint32_t i = start; i < search->depth; i++) numbers[i - start] = search->stack[i].function->index;
  os_problem *problem = os_index_problem(model, OS_PROBLEM_RECURSION, NULL, OS_ABSENT, OS_ABSENT, OS_ABSENT);
  problem->numbers = numbers;
  problem->count = search->depth - start;
  return OS_OK;
}

static void os_function__push(os_function__search *search, os_function *function) {
  search->state[function->index] = 1;
  search->stack[search->depth++] = (os_function__step){function, 0};
}

// Depth-first from one function: finds cycles, then, on the way back, how deep calls go.
static os_status os_function__descend(os_model *model, os_function__search *search, os_function *from) {
  os_function__push(search, from);
  while (search->depth > 0) {
    os_function__step *top = &search->stack[search->depth - 1];
    os_function *self = top->function;
    if (top->next < self->calls.count) {
      os_function *called = self->calls.items[top->next++];
      if (search->state[called->index] == 0)
        os_function__push(search, called);
      else if (search->state[called->index] == 1)
        OS_TRY(os_function__cycle(model, search, called));
      continue;
    }
    self->depth = 1;
    for (size_t i = 0; i < self->calls.count; i++) {
      const os_function *called = self->calls.items[i];
      self->recursive |= called->recursive;
      if (called->depth >= self->depth) self->depth = called->depth + 1;
    }
    if (self->depth == OS_CALL_DEPTH + 1) {
      os_problem *problem =
          os_index_problem(model, OS_PROBLEM_CALL_DEPTH, NULL, OS_ABSENT, OS_ABSENT, OS_ABSENT);
      problem->numbers = &self->index;
      problem->count = 1;
    }
    search->state[self->index] = 2;
    search->depth--;
  }
  return OS_OK;
}

static os_status os_functions__cycles(os_model *model) {
  os_function__walk walk = {0};
  for (uint32_t i = 0; i < model->function_count; i++)
    OS_TRY(os_function__calls(model, &model->functions[i], &walk));
  os_function__search search = {.stack =
                                    OS_ARENA_ARRAY(model->arena, model->function_count, os_function__step),
                                .state = OS_ARENA_ARRAY(model->arena, model->function_count, uint8_t)};
  OS_TRY_ALLOC(search.stack);
  OS_TRY_ALLOC(search.state);
  for (uint32_t i = 0; i < model->function_count; i++)
    if (search.state[i] == 0) OS_TRY(os_function__descend(model, &search, &model->functions[i]));
  return OS_OK;
}

// ---- Building ---------------------------------------------------------------------------------------------

static os_status os_function__body(os_model *model, os_function *function) {
  os_str path = model->document->kind == OS_KIND_FUNCTION
                    ? OS_STR("")
                    : os_arena_format(model->arena, "functions[%u]", function->index);
  OS_TRY(os_index_new(model, NULL, path, &function->body));
  function->body->function = function;
  function->body->imports = &function->imports;
  function->body->in_function = true;
  return OS_OK;
}

static os_status os_function__declare(os_model *model, os_function *self) {
  const Onnx__FunctionProto *proto = self->proto;
  os_str key = os_function__key(model->arena, NULL, 0, os_bytes_str(proto->domain), os_bytes_str(proto->name),
                                os_bytes_str(proto->overload));
  OS_TRY_ALLOC(key.data);
  bool added;
  os_map_entry *entry = os_map_put(&model->function_names, key, &added);
  OS_TRY_ALLOC(entry);
  if (added) {
    entry->value.pointer = self;
  } else {
    uint32_t *numbers = OS_ARENA_ARRAY(model->arena, 2, uint32_t);
    OS_TRY_ALLOC(numbers);
    numbers[0] = ((const os_function *)entry->value.pointer)->index;
    numbers[1] = self->index;
    os_problem *problem =
        os_index_problem(model, OS_PROBLEM_FUNCTION_TWICE, NULL, OS_ABSENT, OS_ABSENT, OS_ABSENT);
    problem->numbers = numbers;
    problem->count = 2;
  }
  os_map_init(&self->attributes, model->arena);
  for (size_t i = 0; i < proto->n_attribute; i++)
    OS_TRY_ALLOC(os_map_put(&self->attributes, os_bytes_str(proto->attribute[i]), NULL));
  for (size_t i = 0; i < proto->n_attribute_proto; i++)
    OS_TRY_ALLOC(os_map_put(&self->attributes, os_bytes_str(proto->attribute_proto[i]->name), NULL));
  return os_imports_read(model, proto->opset_import, proto->n_opset_import, &self->imports);
}

os_status os_functions_build(os_model *model, Onnx__FunctionProto *const *protos, size_t count) {
  os_map_init(&model->function_names, model->arena);
  model->functions = OS_ARENA_ARRAY(model->arena, count, os_function);
  OS_TRY_ALLOC(model->functions);
  for (size_t i = 0; i < count; i++) {
    model->functions[i].proto = protos[i];
    model->functions[i].index = (uint32_t)i;
    OS_TRY(os_function__declare(model, &model->functions[i]));
  }
  model->function_count = (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    OS_TRY(os_attributes_defaults(model, &model->functions[i]));
    OS_TRY(os_function__body(model, &model->functions[i]));
  }
  return os_functions__cycles(model);
}

static_assert(OS_CALL_DEPTH == 100 && OS_INSTANCE_NODES == 250000, "the texts say so");

const char *os_cut_text(os_cut cut) {
  static const char *const texts[] = {
      [OS_CUT_NOT] = "",
      [OS_CUT_CIRCLE] = "functions call each other in a circle",
      [OS_CUT_DEPTH] = "calls of functions are more than 100 deep",
      [OS_CUT_NODES] = "calls of functions expand to more than 250000 nodes",
  };
  return texts[cut];
}

// Function operators may come to call each other, which nothing but the depth tells.
static os_cut os_function__cut(const os_model *model, const os_graph_index *graph,
                               const os_function *function) {
  if (function != NULL && function->recursive) return OS_CUT_CIRCLE;
  if (graph->call_depth >= OS_CALL_DEPTH || (function != NULL && function->depth > OS_CALL_DEPTH))
    return OS_CUT_DEPTH;
  return model->instance_nodes >= OS_INSTANCE_NODES ? OS_CUT_NODES : OS_CUT_NOT;
}

os_status os_function_instantiate(os_model *model, os_graph_index *graph, uint32_t node,
                                  const os_graph_index *body, os_graph_index **out) {
  *out = NULL;
  if (graph->in_function && !graph->instance) return OS_OK; // a body as written: nothing is bound
  os_cut cut = graph->nodes[node].cut = os_function__cut(model, graph, body->function);
  model->expanded_too_far |= cut == OS_CUT_NODES;
  if (cut != OS_CUT_NOT) return OS_OK;
  OS_TRY(os_index_new(model, NULL, body->graph.path, out));
  os_graph_index *self = *out;
  self->proto = body->proto;
  self->function = body->function;
  self->imports = body->imports;
  self->scope = body->scope;
  self->in_function = self->instance = true;
  self->call = &graph->nodes[node].node;
  self->call_depth = graph->call_depth + 1;
  return OS_OK;
}
