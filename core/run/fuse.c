#include "exec_plan.h"

#include "execute.h"

// Groups the needed steps: element-wise ones into chains, chains behind a step with an epilogue into that step. A group
// runs where its last step stood, so that all of its operands are there.

typedef struct os_fuser {
  os_plan *plan;
  const bool *needed;
  uint32_t *uses;    // per value: reads by needed steps, and 1 more for a result
  int32_t *consumer; // per value: index of the last needed step that reads it
  bool *absorbed;    // per step
  os_exec *at;       // per step: the exec that runs there, if step is set
} os_fuser;

static const os_step *os_fuser__step(const os_fuser *self, uint32_t index) {
  return &self->plan->program->steps[index];
}

static void os_fuser__count(os_fuser *self, uint32_t s, int32_t v) {
  if (v < 0) return;
  self->uses[v]++;
  self->consumer[v] = (int32_t)s;
}

static void os_fuser__uses(os_fuser *self) {
  const os_program *program = self->plan->program;
  for (uint32_t s = 0; s < program->step_count; s++) {
    if (!self->needed[s]) continue;
    const os_step *step = &program->steps[s];
    for (uint32_t i = 0; i < step->source->input_count; i++)
      os_fuser__count(self, s, step->source->inputs[i]);
    for (uint32_t b = 0; b < step->body_count && step->kind != OS_STEP_CALL; b++)
      for (uint32_t c = 0; c < step->bodies[b]->captured_count; c++)
        os_fuser__count(self, s, step->bodies[b]->graph->values[step->bodies[b]->captured[c]].outer);
  }
  for (uint32_t i = 0; i < self->plan->result_count; i++)
    if (self->plan->results[i] >= 0) self->uses[self->plan->results[i]] += 2;
}

static const op_tensor *os_plan__constant(const os_plan *self, int32_t v) {
  if (v < 0) return NULL;
  const op_value *value = self->initial[v] != NULL ? self->initial[v] : self->program->constants[v];
  if (value != NULL) return op_value_tensor(value);
  return self->facts[v].value;
}

enum { OPERANDS_MOST = 8 };

// Element types and constants of a step's inputs, for row->loop and row->affine.
static uint32_t os_plan__operands(const os_plan *self, const os_step *step, op_elem *elems,
                                  const op_tensor **constants) {
  uint32_t count = step->source->input_count < OPERANDS_MOST ? step->source->input_count : OPERANDS_MOST;
  for (uint32_t i = 0; i < count; i++) {
    int32_t v = step->source->inputs[i];
    op_type type = v < 0 ? 0 : self->facts[v].type;
    elems[i] = op_type_is_tensor(type) ? (op_elem)type : OP_NONE;
    constants[i] = os_plan__constant(self, v);
  }
  return count;
}

void os_plan_loop(const os_plan *self, const os_step *step, op_loop *loop) {
  *loop = (op_loop){0};
  if (step->kind != OS_STEP_COMPUTE || step->row->loop == NULL || (step->row->traits & OP_ELEMENTWISE) == 0)
    return;
  op_elem elems[OPERANDS_MOST];
  const op_tensor *constants[OPERANDS_MOST];
  uint32_t count = os_plan__operands(self, step, elems, constants);
  if (count == 0 || elems[0] == OP_NONE) return;
  step->row->loop(&step->source->node, elems, constants, count, loop);
}

static os_chain_item os_chain__item(const os_step *step, const op_loop *loop, int type) {
  os_chain_item item = {.loop = (math_loop_id)loop->id,
                        .type = type,
                        .unary = loop->count < 2,
                        .operand = OS_ABSENT,
                        .step = step};
  _Static_assert(sizeof item.params == sizeof loop->params, "a loop carries the bytes of math_params");
  memcpy(&item.params, loop->params, sizeof item.params);
  return item;
}

os_chain os_chain_of(const os_step *step, const op_loop *loop, op_elem elem) {
  os_chain chain = {.head = step->source->inputs[0], .count = 1};
  chain.items[0] = os_chain__item(step, loop, (int)elem);
  if (!chain.items[0].unary) chain.items[0].operand = step->source->inputs[1];
  return chain;
}

static bool os_fact__same_shape(const os_fact *a, const os_fact *b) {
  return a->rank == b->rank &&
         (a->rank <= 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

// ---- Affine operators -------------------------------------------------------------------------------------

// A float tensor [channels, 1, ...] that lines up with axis 1 of a value of this rank.
static op_value *os_plan__channel(os_plan *self, int64_t channels, int32_t rank) {
  int64_t dims[OP_MAX_RANK];
  dims[0] = channels;
  for (int32_t i = 1; i < rank - 1; i++) dims[i] = 1;
  op_value **slot = OS_PUSH(&self->arena, &self->owned);
  if (slot == NULL) return NULL;
  *slot = os_value_tensor(self->program->session->memory, OP_FLOAT, rank - 1, dims);
  if (*slot == NULL) self->owned.count--;
  return self->owned.count == 0 ? NULL : *slot;
}

// y = scale x + shift as two items; 0 when the step is no such operator here.
static uint32_t os_plan__affine(os_plan *self, const os_step *step, os_chain_item *items) {
  if (step->kind != OS_STEP_COMPUTE || step->row->affine == NULL) return 0;
  op_elem elems[OPERANDS_MOST];
  const op_tensor *constants[OPERANDS_MOST];
  uint32_t count = os_plan__operands(self, step, elems, constants);
  const os_fact *x = count == 0 || step->source->inputs[0] < 0 ? NULL : &self->facts[step->source->inputs[0]];
  if (x == NULL || elems[0] != OP_FLOAT || !os_fact_known(x) || x->rank < 2) return 0;
  for (uint32_t o = 1; o < step->source->output_count; o++)
    if (step->source->outputs[o] >= 0) return 0;
  for (uint32_t i = 1; i < count; i++) { // bigger than what inference looks at, but small beside the data
    int32_t v = step->source->inputs[i];
    op_value *value = NULL;
    if (constants[i] != NULL || v < 0) continue;
    if (self->program->graph->values[v].origin != OS_FROM_INITIALIZER) return 0;
    if (os_program_constant(self->program, v, &value) != OS_OK) return 0;
    constants[i] = op_value_tensor(value);
  }
  op_value *scale = os_plan__channel(self, x->dims[1], x->rank),
           *shift = os_plan__channel(self, x->dims[1], x->rank);
  if (scale == NULL || shift == NULL) return 0;
  if (!step->row->affine(&step->source->node, constants, count, (size_t)x->dims[1], scale->tensor.data,
                         shift->tensor.data))
    return 0;
  for (int i = 0; i < 2; i++)
    items[i] = (os_chain_item){.loop = i == 0 ? LOOP_mul_f32 : LOOP_add_f32,
                               .type = MATH_F32,
                               .operand = OS_ABSENT,
                               .fixed = i == 0 ? scale : shift,
                               .step = step};
  return 2;
}

// ---- Chains -----------------------------------------------------------------------------------------------

// What step `s` does to value `v`, as items behind a chain; 0 when it cannot follow.
static uint32_t os_fuser__follow(os_fuser *self, const os_step *step, int32_t v, os_chain_item *items) {
  os_plan *plan = self->plan;
  uint32_t affine =
      step->source->input_count > 0 && step->source->inputs[0] == v ? os_plan__affine(plan, step, items) : 0;
  if (affine > 0) return affine;
  op_loop loop;
  os_plan_loop(plan, step, &loop);
  int type = (int)plan->facts[v].type;
  if (loop.id == LOOP_NONE || (int)loop.out != type || (type != OP_FLOAT && type != OP_DOUBLE)) return 0;
  int32_t out = step->source->outputs[0];
  if (out < 0 || !os_fact_known(&plan->facts[out]) ||
      !os_fact__same_shape(&plan->facts[out], &plan->facts[v]))
    return 0;
  items[0] = os_chain__item(step, &loop, type);
  if (items[0].unary) return step->source->inputs[0] == v;
  int32_t a = step->source->inputs[0], b = step->source->inputs[1];
  if (a == v && b == v) return 0;
  items[0].operand_first = b == v;
  items[0].operand = b == v ? a : b;
  return items[0].operand >= 0 && os_fact_known(&plan->facts[items[0].operand]);
}

// The single step that may go on with value v; -1 when there is none.
static int32_t os_fuser__next(const os_fuser *self, int32_t v) {
  if (v < 0 || self->uses[v] != 1) return -1;
  int32_t s = self->consumer[v];
  return s >= 0 && !self->absorbed[s] && os_fuser__step(self, (uint32_t)s)->kind == OS_STEP_COMPUTE ? s : -1;
}

// Extends a list of items as far as steps follow one another; *v and *last become the last step's.
static uint32_t os_fuser__extend(
    os_fuser *self, os_chain_item *items, uint32_t count, uint32_t most, int32_t *v, uint32_t *last,
    bool (*admit)(const os_fuser *, const os_chain_item *, int32_t, const void *), const void *context) {
  for (int32_t s = os_fuser__next(self, *v); s >= 0 && count + 2 <= most; s = os_fuser__next(self, *v)) {
    const os_step *step = os_fuser__step(self, (uint32_t)s);
    uint32_t more = os_fuser__follow(self, step, *v, items + count);
    bool fits = more > 0;
    for (uint32_t i = 0; fits && admit != NULL && i < more; i++)
      fits = admit(self, &items[count + i], *v, context);
    if (!fits) break;
    count += more;
    self->absorbed[s] = true;
    *v = step->source->outputs[0];
    *last = (uint32_t)s;
  }
  return count;
}

static os_status os_fuser__chain(os_fuser *self, uint32_t s, const op_loop *loop, bool known) {
  os_plan *plan = self->plan;
  const os_step *step = os_fuser__step(self, s);
  os_chain *chain = OS_ARENA_NEW(&plan->arena, os_chain);
  OS_TRY_ALLOC(chain);
  uint32_t last = s;
  int32_t v = step->source->outputs[0];
  if (loop->id != LOOP_NONE) {
    *chain = os_chain_of(step, loop, (op_elem)plan->facts[step->source->inputs[0]].type);
  } else {
    chain->head = step->source->inputs[0];
    chain->count = os_plan__affine(plan, step, chain->items);
  }
  bool grows = known && (plan->facts[v].type == OP_FLOAT || plan->facts[v].type == OP_DOUBLE);
  if (grows)
    chain->count = os_fuser__extend(self, chain->items, chain->count, OS_CHAIN_MOST, &v, &last, NULL, NULL);
  os_exec *exec = &self->at[last];
  *exec = (os_exec){.step = (os_step *)step, .kind = OS_EXEC_CHAIN, .known = known, .output = v};
  exec->chain = chain;
  return OS_OK;
}

// ---- Epilogues --------------------------------------------------------------------------------------------

// Whether the tensor is one value, or one per index of `axis` of `out`, once broadcast to it.
static bool os_fact__along(const os_fact *operand, const os_fact *out, int32_t axis) {
  for (int32_t i = 0; i < operand->rank; i++) {
    int32_t on = out->rank - operand->rank + i;
    if (on < 0 || (operand->dims[i] != 1 && (on != axis || operand->dims[i] != out->dims[axis])))
      return false;
  }
  return true;
}

static bool os_fuser__admit(const os_fuser *self, const os_chain_item *item, int32_t v, const void *context) {
  uint32_t flags = *(const uint32_t *)context;
  if (item->type != MATH_F32) return false;
  if (item->unary) return (flags & OP_EPILOGUE_UNARY) != 0;
  const os_fact *out = &self->plan->facts[v];
  os_fact fixed = item->fixed != NULL ? os_fact_of_value(item->fixed) : self->plan->facts[item->operand];
  if (out->rank < 2) return false;
  if ((flags & OP_EPILOGUE_CHANNEL) != 0 && os_fact__along(&fixed, out, 1)) return true;
  if ((flags & OP_EPILOGUE_COLUMN) != 0 && os_fact__along(&fixed, out, out->rank - 1)) return true;
  bool add = item->loop == LOOP_add_f32;
  return add && (flags & OP_EPILOGUE_RESIDUAL) != 0 && os_fact__same_shape(&fixed, out);
}

static os_status os_fuser__epilogue(os_fuser *self, uint32_t s) {
  os_plan *plan = self->plan;
  const os_step *step = os_fuser__step(self, s);
  int32_t v = step->source->output_count > 0 ? step->source->outputs[0] : OS_ABSENT;
  uint32_t last = s, count = 0;
  os_chain_item items[OS_CHAIN_MOST];
  bool known = v >= 0 && os_fact_known(&plan->facts[v]);
  if (known && step->row->epilogue != 0 && plan->facts[v].type == OP_FLOAT)
    count = os_fuser__extend(self, items, 0, 4, &v, &last, os_fuser__admit, &step->row->epilogue);
  os_exec *exec = &self->at[last];
  *exec = (os_exec){.step = (os_step *)step, .kind = OS_EXEC_COMPUTE, .output = v};
  if (count == 0) return OS_OK;
  exec->epilogue = OS_ARENA_NEW(&plan->arena, op_epilogue);
  exec->epilogue_operands = OS_ARENA_ARRAY(&plan->arena, count, int32_t);
  OS_TRY_ALLOC(exec->epilogue);
  OS_TRY_ALLOC(exec->epilogue_operands);
  exec->epilogue->count = count;
  for (uint32_t i = 0; i < count; i++) {
    op_loop *loop = &exec->epilogue->items[i].loop;
    *loop = (op_loop){.id = items[i].loop, .out = OP_FLOAT, .count = items[i].unary ? 1 : 2};
    memcpy(loop->params, &items[i].params, sizeof loop->params);
    exec->epilogue->items[i].operand_first = items[i].operand_first;
    exec->epilogue_operands[i] = items[i].operand;
    if (items[i].fixed != NULL)
      exec->epilogue->items[i].operand = &items[i].fixed->tensor;
    else if (items[i].operand >= 0)
      exec->epilogue->items[i].operand = os_plan__constant(plan, items[i].operand);
  }
  return OS_OK;
}

// ---- All steps --------------------------------------------------------------------------------------------

static os_status os_fuser__exec(os_fuser *self, uint32_t s) {
  os_plan *plan = self->plan;
  const os_step *step = os_fuser__step(self, s);
  int32_t out = step->source->output_count > 0 ? step->source->outputs[0] : OS_ABSENT;
  bool known = out >= 0 && os_fact_known(&plan->facts[out]);
  op_loop loop;
  os_plan_loop(plan, step, &loop);
  os_chain_item spare[2];
  bool affine = known && loop.id == LOOP_NONE && os_plan__affine(plan, step, spare) > 0;
  if (out >= 0 && (loop.id != LOOP_NONE || affine)) return os_fuser__chain(self, s, &loop, known);
  if (step->kind == OS_STEP_COMPUTE && (step->row->traits & OP_VIEW) == 0) return os_fuser__epilogue(self, s);
  os_exec_kind kind = step->kind == OS_STEP_FLOW   ? OS_EXEC_FLOW
                      : step->kind == OS_STEP_CALL ? OS_EXEC_CALL
                                                   : OS_EXEC_VIEW;
  self->at[s] = (os_exec){.step = (os_step *)step, .kind = kind, .known = known, .output = out};
  return OS_OK;
}

static os_status os_fuser__run(os_fuser *self) {
  os_program *program = self->plan->program;
  os_fuser__uses(self);
  for (uint32_t s = 0; s < program->step_count; s++)
    if (self->needed[s] && !self->absorbed[s]) OS_TRY(os_fuser__exec(self, s));
  uint32_t count = 0;
  for (uint32_t s = 0; s < program->step_count; s++)
    if (self->at[s].step != NULL) self->at[count++] = self->at[s];
  self->plan->execs = self->at;
  self->plan->exec_count = count;
  return OS_OK;
}

os_status os_plan_fuse(os_plan *self, const bool *needed) {
  size_t values = self->program->graph->value_count + 1, steps = self->program->step_count + 1;
  os_fuser fuser = {.plan = self, .needed = needed};
  fuser.uses = OS_ARENA_ARRAY(&self->arena, values, uint32_t);
  fuser.consumer = OS_ARENA_ARRAY(&self->arena, values, int32_t);
  fuser.absorbed = OS_ARENA_ARRAY(&self->arena, steps, bool);
  fuser.at = OS_ARENA_ARRAY(&self->arena, steps, os_exec);
  OS_TRY_ALLOC(fuser.uses);
  OS_TRY_ALLOC(fuser.consumer);
  OS_TRY_ALLOC(fuser.absorbed);
  OS_TRY_ALLOC(fuser.at);
  return os_fuser__run(&fuser);
}
