#include "program.h"

#include "exec_plan.h"

// Which of the node's attributes hold bodies, in order.
static uint32_t os_program__bodies(const op_node *node, const op_graph **bodies, uint32_t room) {
  uint32_t count = 0;
  for (uint32_t a = 0; a < node->attribute_count; a++) {
    const op_attribute *attribute = &node->attributes[a];
    if (attribute->kind == OP_ATTR_GRAPH) {
      if (count < room) bodies[count] = attribute->as.graph;
      count++;
    } else if (attribute->kind == OP_ATTR_GRAPHS) {
      for (uint32_t g = 0; g < attribute->count; g++, count++)
        if (count < room) bodies[count] = attribute->as.graphs[g];
    }
  }
  return count;
}

static os_status os_program__step(os_program *self, os_step *step, const os_graph_node *source) {
  os_arena *arena = self->session->arena;
  if (!os_node_is_readable(&source->node)) return OS_MALFORMED;
  step->source = source;
  step->row = source->node.row;
  const op_graph *single[1] = {source->function};
  const op_graph **bodies = single;
  bool call = (step->row == NULL || (step->row->compute == NULL && step->row->enter == NULL &&
                                     step->row->loop == NULL && (step->row->traits & OP_VIEW) == 0)) &&
              source->function != NULL;
  step->kind = call                                            ? OS_STEP_CALL
               : step->row != NULL && step->row->enter != NULL ? OS_STEP_FLOW
                                                               : OS_STEP_COMPUTE;
  step->body_count = call ? 1 : os_program__bodies(&source->node, NULL, 0);
  if (call) step->row = NULL;
  if (step->body_count == 0) return OS_OK;
  if (!call) {
    bodies = OS_ARENA_ARRAY(arena, step->body_count, const op_graph *);
    OS_TRY_ALLOC(bodies);
    os_program__bodies(&source->node, bodies, step->body_count);
  }
  step->bodies = OS_ARENA_ARRAY(arena, step->body_count, os_program *);
  OS_TRY_ALLOC(step->bodies);
  for (uint32_t i = 0; i < step->body_count; i++) {
    OS_TRY(os_program_new(self->session, bodies[i], NULL, &step->bodies[i]));
    step->bodies[i]->parent = call ? NULL : self;
  }
  return OS_OK;
}

// A value must be on the heap when somebody may keep it: other than plain tensor kernels, bodies, and the caller.
static void os_program__escapes(os_program *self) {
  const op_graph *graph = self->graph;
  for (uint32_t i = 0; i < graph->output_count; i++)
    if (graph->outputs[i] >= 0) self->escapes[graph->outputs[i]] = true;
  for (uint32_t s = 0; s < self->step_count; s++) {
    const os_step *step = &self->steps[s];
    bool keeps =
        step->kind != OS_STEP_COMPUTE || step->row == NULL || (step->row->traits & OP_ANY_VALUE) != 0;
    for (uint32_t i = 0; keeps && i < step->source->input_count; i++)
      if (step->source->inputs[i] >= 0) self->escapes[step->source->inputs[i]] = true;
    for (uint32_t i = 0; keeps && i < step->source->output_count; i++)
      if (step->source->outputs[i] >= 0) self->escapes[step->source->outputs[i]] = true;
    for (uint32_t b = 0; b < step->body_count; b++) {
      const os_program *body = step->bodies[b];
      for (uint32_t c = 0; c < body->captured_count && step->kind != OS_STEP_CALL; c++) {
        int32_t outer = body->graph->values[body->captured[c]].outer;
        if (outer < 0) continue;
        self->escapes[outer] = true;
        self->use_counts[outer]++;
      }
    }
  }
}

static os_status os_program__values(os_program *self) {
  const op_graph *graph = self->graph;
  os_arena *arena = self->session->arena;
  self->constants = OS_ARENA_ARRAY(arena, graph->value_count + 1, op_value *);
  self->use_counts = OS_ARENA_ARRAY(arena, graph->value_count + 1, uint32_t);
  self->escapes = OS_ARENA_ARRAY(arena, graph->value_count + 1, bool);
  OS_TRY_ALLOC(self->constants);
  OS_TRY_ALLOC(self->use_counts);
  OS_TRY_ALLOC(self->escapes);
  for (uint32_t n = 0; n < graph->node_count; n++)
    for (uint32_t i = 0; i < graph->nodes[n].input_count; i++)
      if (graph->nodes[n].inputs[i] >= 0) self->use_counts[graph->nodes[n].inputs[i]]++;
  for (uint32_t i = 0; i < graph->output_count; i++)
    if (graph->outputs[i] >= 0) self->use_counts[graph->outputs[i]]++;
  for (uint32_t v = 0; v < graph->value_count; v++)
    self->captured_count += graph->values[v].origin == OS_FROM_OUTER;
  self->captured = OS_ARENA_ARRAY(arena, self->captured_count + 1, int32_t);
  OS_TRY_ALLOC(self->captured);
  uint32_t at = 0;
  for (uint32_t v = 0; v < graph->value_count; v++)
    if (graph->values[v].origin == OS_FROM_OUTER) self->captured[at++] = (int32_t)v;
  return OS_OK;
}

// Nesting of graphs is bounded by the decoder's depth limit, and functions cannot be recursive, so this recursion is too.
os_status os_program_new(os_session *session, const op_graph *graph, const bool *overridden,
                         os_program **out) {
  os_program *self = OS_ARENA_NEW(session->arena, os_program);
  os_program **slot = OS_PUSH(session->arena, &session->programs);
  OS_TRY_ALLOC(self);
  OS_TRY_ALLOC(slot);
  *slot = *out = self;
  self->session = session;
  self->graph = graph;
  self->overridden = overridden;
  self->steps = OS_ARENA_ARRAY(session->arena, graph->node_count + 1, os_step);
  OS_TRY_ALLOC(self->steps);
  OS_TRY(os_program__values(self));
  for (uint32_t i = 0; i < graph->node_count; i++)
    OS_TRY(os_program__step(self, &self->steps[self->step_count++], &graph->nodes[graph->order[i]]));
  os_program__escapes(self);
  return OS_OK;
}

os_program *os_step_body(const os_step *step, const op_graph *body) {
  for (uint32_t i = 0; i < step->body_count; i++)
    if (step->bodies[i]->graph == body) return step->bodies[i];
  return NULL;
}

os_str os_step_path(os_arena *arena, const os_program *program, const os_step *step) {
  return os_arena_format(arena, "%.*s.node[%u]", OS_ARG(program->graph->path), step->source->node.index);
}

bool os_program_is_constant(const os_program *self, int32_t value) {
  if (self->constants[value] != NULL) return true;
  return self->graph->values[value].origin == OS_FROM_INITIALIZER &&
         (self->overridden == NULL || !self->overridden[value]);
}

os_status os_program_constant(os_program *self, int32_t value, op_value **out) {
  *out = self->constants[value];
  if (*out != NULL || !os_program_is_constant(self, value)) return OS_OK;
  const op_tensor *tensor = NULL;
  OS_TRY(os_model_constant(self->session->model, self->graph, value, &tensor));
  if (tensor == NULL) return OS_MALFORMED;
  self->constants[value] =
      os_value_borrow(self->session->memory, tensor->elem, tensor->rank, tensor->dims, tensor->data);
  OS_TRY_ALLOC(self->constants[value]);
  *out = self->constants[value];
  return OS_OK;
}

void os_program_drop_constant(os_program *self, int32_t value) {
  if (self->graph->values[value].origin != OS_FROM_INITIALIZER) return;
  op_value_release(self->constants[value]);
  self->constants[value] = NULL;
  os_model_drop_constant(self->session->model, self->graph, value);
}

void os_program_clear(os_program *self) {
  while (self->plans != NULL) {
    os_plan *plan = self->plans;
    self->plans = plan->next;
    os_plan_free(plan);
  }
  for (uint32_t v = 0; self->constants != NULL && v < self->graph->value_count; v++)
    op_value_release(self->constants[v]);
  for (uint32_t s = 0; s < self->step_count; s++) {
    const os_step *step = &self->steps[s];
    if (step->created && step->row->destroy != NULL) step->row->destroy(step->state);
  }
  os_memory_free(self->session->memory, self->arguments);
}
