#include "model_index.h"

os_status os_index_new(os_model *model, const os_graph_index *parent, os_str path, os_graph_index **out) {
  os_graph_index *self = OS_ARENA_NEW(model->arena, os_graph_index);
  OS_TRY_ALLOC(self);
  os_graph_index **slot = OS_PUSH(model->arena, &model->graphs);
  OS_TRY_ALLOC(slot);
  *slot = *out = self;
  self->graph.model = model;
  self->graph.path = path;
  self->scope = model;
  os_map_init(&self->names, model->arena);
  if (parent == NULL) return OS_OK;
  self->graph.parent = &parent->graph;
  self->imports = parent->imports;
  self->scope = parent->scope;
  self->in_function = parent->in_function;
  self->instance = parent->instance;
  self->call = parent->call;
  self->call_depth = parent->call_depth;
  return OS_OK;
}

os_problem *os_index_problem(os_model *model, os_problem_kind kind, const os_graph_index *graph, int32_t node,
                             int32_t slot, int32_t value) {
  if (graph != NULL && graph->instance) return &model->spare; // told of the function's body already
  os_problem *problem = OS_PUSH(model->arena, &model->problems);
  if (problem == NULL) return &model->spare;
  *problem = (os_problem){kind, graph, node, slot, value, NULL, NULL, 0};
  return problem;
}

// ---- Values -----------------------------------------------------------------------------------------------

// A new value; its name must not be in `names` yet, or be the entry that was just put there.
static os_status os_index__new(os_model *model, os_graph_index *self, os_map_entry *entry, os_str name,
                               os_graph_value value, int32_t *out) {
  size_t count = self->graph.value_count;
  if (count >= INT32_MAX) return OS_LIMIT;
  if (!os_arena_room(model->arena, (void **)&self->values, count, &self->value_room, sizeof *self->values))
    return OS_OUT_OF_MEMORY;
  entry->value.number = count;
  value.name = name;
  self->values[count] = value;
  self->graph.values = self->values;
  self->graph.value_count = (uint32_t)count + 1;
  *out = (int32_t)count;
  return OS_OK;
}

static os_status os_index__add(os_model *model, os_graph_index *self, os_str name, os_graph_value value,
                               int32_t *out) {
  os_map_entry *entry = os_map_put(&self->names, name, NULL);
  OS_TRY_ALLOC(entry);
  return os_index__new(model, self, entry, name, value, out);
}

static int32_t os_index__find(const os_graph_index *self, os_str name) {
  const os_map_entry *entry = os_map_get(&self->names, name);
  return entry == NULL ? OS_ABSENT : (int32_t)entry->value.number;
}

static const os_graph_value os_index__blank = {.producer = OS_ABSENT, .outer = OS_ABSENT};

static os_status os_index__input(os_model *model, os_graph_index *self, os_str name, int32_t slot,
                                 const Onnx__ValueInfoProto *declared, int32_t *out) {
  *out = OS_ABSENT;
  if (name.len == 0) return OS_OK;
  int32_t known = os_index__find(self, name);
  if (known != OS_ABSENT) {
    os_index_problem(model, OS_PROBLEM_INPUT_TWICE, self, OS_ABSENT, slot, known);
    *out = known;
    return OS_OK;
  }
  os_graph_value value = os_index__blank;
  value.origin = OS_FROM_INPUT;
  value.is_input = true;
  value.slot = slot;
  value.declared = declared;
  return os_index__add(model, self, name, value, out);
}

static os_status os_index__inputs(os_model *model, os_graph_index *self) {
  size_t count = self->proto != NULL ? self->proto->n_input : self->function->proto->n_input;
  int32_t *inputs = OS_ARENA_ARRAY(model->arena, count, int32_t);
  OS_TRY_ALLOC(inputs);
  for (size_t i = 0; i < count; i++) {
    const Onnx__ValueInfoProto *declared = self->proto != NULL ? self->proto->input[i] : NULL;
    os_str name = os_bytes_str(declared != NULL ? declared->name : self->function->proto->input[i]);
    OS_TRY(os_index__input(model, self, name, (int32_t)i, declared, &inputs[i]));
  }
  self->graph.inputs = inputs;
  self->graph.input_count = (uint32_t)count;
  return OS_OK;
}

static os_status os_index__initializer(os_model *model, os_graph_index *self, os_str name, size_t slot,
                                       const Onnx__TensorProto *dense,
                                       const Onnx__SparseTensorProto *sparse) {
  if (name.len == 0) return OS_OK;
  int32_t number = os_index__find(self, name);
  if (number == OS_ABSENT) OS_TRY(os_index__add(model, self, name, os_index__blank, &number));
  os_graph_value *value = &self->values[number];
  if (value->initializer != NULL || value->sparse_initializer != NULL) {
    os_index_problem(model, OS_PROBLEM_INITIALIZER_TWICE, self, OS_ABSENT, (int32_t)slot, number);
    return OS_OK;
  }
  value->origin = OS_FROM_INITIALIZER;
  if (!value->is_input) value->slot = (int32_t)slot;
  value->initializer = dense;
  value->sparse_initializer = sparse;
  return OS_OK;
}

static os_status os_index__initializers(os_model *model, os_graph_index *self) {
  if (self->proto == NULL) return OS_OK;
  const Onnx__GraphProto *proto = self->proto;
  for (size_t i = 0; i < proto->n_initializer; i++)
    OS_TRY(os_index__initializer(model, self, os_bytes_str(proto->initializer[i]->name), i,
                                 proto->initializer[i], NULL));
  for (size_t i = 0; i < proto->n_sparse_initializer; i++) {
    const Onnx__SparseTensorProto *sparse = proto->sparse_initializer[i];
    if (sparse->values == NULL) continue;
    OS_TRY(os_index__initializer(model, self, os_bytes_str(sparse->values->name), proto->n_initializer + i,
                                 NULL, sparse));
  }
  return OS_OK;
}

const os_graph_index *os_index_shadowed(const os_graph_index *self, os_str name, int32_t *value) {
  for (const os_graph_index *graph = self, *outer; (outer = os_graph_index_parent(graph)) != NULL;
       graph = outer) {
    *value = os_index__find(outer, name);
    if (*value == OS_ABSENT) continue;
    const os_graph_value *known = &outer->values[*value];
    if (known->origin == OS_FROM_NODE && known->producer >= (int32_t)graph->owner) continue;
    return outer;
  }
  return NULL;
}

static os_status os_index__output(os_model *model, os_graph_index *self, uint32_t node, uint32_t slot,
                                  os_str name, int32_t *out) {
  *out = OS_ABSENT;
  if (name.len == 0) return OS_OK;
  bool added;
  os_map_entry *entry = os_map_put(&self->names, name, &added);
  OS_TRY_ALLOC(entry);
  int32_t known = added ? OS_ABSENT : (int32_t)entry->value.number;
  const os_graph_index *where = added ? os_index_shadowed(self, name, &known) : self;
  if (where != NULL)
    os_index_problem(model, OS_PROBLEM_SSA, self, (int32_t)node, (int32_t)slot, known)->other = where;
  if (!added) return OS_OK;
  self->shadows |= where != NULL;
  os_graph_value value = os_index__blank;
  value.origin = OS_FROM_NODE;
  value.producer = (int32_t)node;
  return os_index__new(model, self, entry, name, value, out);
}

// ---- Names of enclosing scopes ----------------------------------------------------------------------------

os_status os_index_capture(os_model *model, os_graph_index *self, os_str name, int32_t *value) {
  model->chain.count = 0;
  os_graph_index *graph = self;
  *value = OS_ABSENT;
  while (*value == OS_ABSENT) { // up to the graph that knows the name
    os_graph_index **slot = OS_PUSH(model->arena, &model->chain);
    OS_TRY_ALLOC(slot);
    *slot = graph;
    graph = os_graph_index_parent(graph);
    if (graph == NULL) return OS_OK;
    *value = os_index__find(graph, name);
  }
  for (size_t i = model->chain.count; i-- > 0;) { // and down again
    struct os_capture *capture = OS_PUSH(model->arena, &graph->captures);
    OS_TRY_ALLOC(capture);
    *capture = (struct os_capture){model->chain.items[i]->owner, *value};
    graph = model->chain.items[i];
    os_graph_value captured = os_index__blank;
    captured.origin = OS_FROM_OUTER;
    captured.outer = *value;
    OS_TRY(os_index__add(model, graph, name, captured, value));
  }
  return OS_OK;
}

// ---- Nodes ------------------------------------------------------------------------------------------------

static const Onnx__NodeProto *const *os_index__protos(const os_graph_index *self, size_t *count) {
  *count = self->proto != NULL ? self->proto->n_node : self->function->proto->n_node;
  Onnx__NodeProto **nodes = self->proto != NULL ? self->proto->node : self->function->proto->node;
  return (const Onnx__NodeProto *const *)nodes;
}

// places: inputs and outputs of all of them.
static os_status os_index__nodes(os_model *model, os_graph_index *self, size_t places) {
  size_t count;
  const Onnx__NodeProto *const *protos = os_index__protos(self, &count);
  if (count > INT32_MAX) return OS_LIMIT;
  size_t bytes, all;
  if (!os_size_mul(count, sizeof *self->nodes, &bytes) || !os_size_mul(places, sizeof(int32_t), &all))
    return OS_OUT_OF_MEMORY;
  self->nodes = os_arena_alloc(model->arena, bytes); // each is assigned below
  int32_t *numbers = os_arena_alloc(model->arena, all);
  OS_TRY_ALLOC(self->nodes);
  OS_TRY_ALLOC(numbers);
  self->graph.nodes = self->nodes;
  self->graph.node_count = (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    const Onnx__NodeProto *proto = protos[i];
    os_graph_node *node = &self->nodes[i];
    // One by one: a copy of all is not made by stores (os_arena_zalloc says why).
    node->node.name = os_bytes_str(proto->name);
    node->node.op_type = os_bytes_str(proto->op_type);
    node->node.domain = os_bytes_str(proto->domain);
    node->node.overload = os_bytes_str(os_node_rare(proto)->overload);
    node->node.index = (uint32_t)i;
    node->node.schema = NULL;
    node->node.row = NULL;
    node->node.attributes = NULL;
    node->node.attribute_count = 0;
    node->proto = proto;
    node->inputs = numbers;
    node->outputs = numbers + proto->n_input;
    node->input_count = (uint32_t)proto->n_input;
    node->output_count = (uint32_t)proto->n_output;
    node->function = NULL;
    node->cut = OS_CUT_NOT;
    int32_t *to = numbers + proto->n_input;
    for (size_t j = 0; j < proto->n_output; j++)
      OS_TRY(os_index__output(model, self, (uint32_t)i, (uint32_t)j, os_bytes_str(proto->output[j]), &to[j]));
    numbers = to + proto->n_output;
  }
  return OS_OK;
}

static os_status os_index__wire(os_model *model, os_graph_index *self, const os_graph_node *node) {
  int32_t *inputs = (int32_t *)(uintptr_t)node->inputs;
  for (uint32_t i = 0; i < node->input_count; i++) {
    os_str name = os_bytes_str(node->proto->input[i]);
    inputs[i] = OS_ABSENT;
    if (name.len == 0) continue;
    inputs[i] = os_index__find(self, name);
    if (inputs[i] == OS_ABSENT && self->graph.parent != NULL)
      OS_TRY(os_index_capture(model, self, name, &inputs[i]));
    if (inputs[i] == OS_ABSENT)
      os_index_problem(model, OS_PROBLEM_INPUT_UNKNOWN, self, (int32_t)node->node.index, (int32_t)i,
                       OS_ABSENT);
  }
  return OS_OK;
}

// The operator and function that a node means.
static const struct os_resolved *os_index__resolve(os_model *model, const os_graph_index *self,
                                                   const op_node *node) {
  struct os_resolved *slot = &model->resolved[os_str_hash(node->op_type, node->domain.len) & 63];
  if (slot->imports == self->imports && os_str_eq(slot->op_type, node->op_type) &&
      os_str_eq(slot->domain, node->domain) && os_str_eq(slot->overload, node->overload))
    return slot;
  int version;
  *slot =
      (struct os_resolved){self->imports, node->domain, node->op_type, node->overload, {NULL, NULL}, NULL};
  if (os_imports_find(self->imports, node->domain, &version))
    slot->op = os_registry_find(model->registry, node->domain, node->op_type, node->overload, version);
  slot->function = os_function_find(self->scope, node->domain, node->op_type, node->overload);
  return slot;
}

static os_status os_index__operators(os_model *model, os_graph_index *self) {
  for (uint32_t i = 0; i < self->graph.node_count; i++) {
    os_graph_node *node = &self->nodes[i];
    OS_TRY(os_index__wire(model, self, node));
    const struct os_resolved *found = os_index__resolve(model, self, &node->node);
    const os_function *function = found->function;
    const op_schema *schema = node->node.schema = found->op.schema;
    node->node.row = found->op.row;
    OS_TRY(os_index_attributes(model, self, node, function));
    const os_graph_index *body = function != NULL                         ? function->body
                                 : schema != NULL && schema->body != NULL ? os_graph_index_of(schema->body)
                                                                          : NULL;
    if (body == NULL) continue;
    os_graph_index *instance = NULL;
    OS_TRY(os_function_instantiate(model, self, i, body, &instance));
    node->function = instance == NULL ? NULL : &instance->graph;
  }
  return OS_OK;
}

// ---- The whole --------------------------------------------------------------------------------------------

static os_status os_index__outputs(os_model *model, os_graph_index *self) {
  size_t count = self->proto != NULL ? self->proto->n_output : self->function->proto->n_output;
  self->outputs = OS_ARENA_ARRAY(model->arena, count, int32_t);
  OS_TRY_ALLOC(self->outputs);
  for (size_t i = 0; i < count; i++) {
    const Onnx__ValueInfoProto *declared = self->proto != NULL ? self->proto->output[i] : NULL;
    os_str name = os_bytes_str(declared != NULL ? declared->name : self->function->proto->output[i]);
    int32_t number = name.len == 0 ? OS_ABSENT : os_index__find(self, name);
    if (number != OS_ABSENT && self->values[number].origin == OS_FROM_OUTER) number = OS_ABSENT;
    self->outputs[i] = number;
    if (number == OS_ABSENT) {
      if (name.len > 0)
        os_index_problem(model, OS_PROBLEM_OUTPUT_UNKNOWN, self, OS_ABSENT, (int32_t)i, OS_ABSENT);
      continue;
    }
    self->values[number].is_output = true;
    if (self->values[number].declared == NULL) self->values[number].declared = declared;
  }
  self->graph.outputs = self->outputs;
  self->graph.output_count = (uint32_t)count;
  return OS_OK;
}

static void os_index__declared(os_graph_index *self) {
  size_t count = self->proto != NULL ? self->proto->n_value_info : self->function->proto->n_value_info;
  Onnx__ValueInfoProto **infos =
      self->proto != NULL ? self->proto->value_info : self->function->proto->value_info;
  for (size_t i = 0; i < count; i++) {
    int32_t number = os_index__find(self, os_bytes_str(infos[i]->name));
    if (number != OS_ABSENT && self->values[number].origin != OS_FROM_OUTER &&
        self->values[number].declared == NULL)
      self->values[number].declared = infos[i];
  }
}

// All values but those captured later, so that nothing has to grow. *places: of inputs and outputs of nodes.
static os_status os_index__reserve(os_model *model, os_graph_index *self, size_t *places) {
  size_t count, values = self->proto != NULL ? self->proto->n_input + self->proto->n_initializer
                                             : self->function->proto->n_input;
  const Onnx__NodeProto *const *protos = os_index__protos(self, &count);
  *places = 0;
  for (size_t i = 0; i < count; i++) {
    values += protos[i]->n_output;
    *places += protos[i]->n_input + protos[i]->n_output;
  }
  if (values >= INT32_MAX) return OS_LIMIT;
  self->values = OS_ARENA_ARRAY(model->arena, values, os_graph_value);
  self->value_room = values;
  return self->values != NULL && os_map_reserve(&self->names, values) ? OS_OK : OS_OUT_OF_MEMORY;
}

os_status os_index_fill(os_model *model, os_graph_index *self) {
  if (self->instance)
    model->instance_nodes += self->proto != NULL ? self->proto->n_node : self->function->proto->n_node;
  self->graph.name = os_bytes_str(self->proto != NULL ? self->proto->name : self->function->proto->name);
  size_t places;
  OS_TRY(os_index__reserve(model, self, &places));
  OS_TRY(os_index__inputs(model, self));
  OS_TRY(os_index__initializers(model, self));
  OS_TRY(os_index__nodes(model, self, places));
  OS_TRY(os_index__outputs(model, self)); // before the nodes' inputs: a captured value is no output
  os_index__declared(self);
  return os_index__operators(model, self);
}

int32_t os_graph_find_value(const op_graph *self, os_str name) {
  return name.len == 0 ? OS_ABSENT : os_index__find(os_graph_index_of(self), name);
}

size_t op_graph_input_count(const op_graph *graph) { return graph->input_count; }
size_t op_graph_output_count(const op_graph *graph) { return graph->output_count; }
