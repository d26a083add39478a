#include "exec_plan.h"

#include "execute.h"
#include "guard.h"
#include "text.h"

enum { PLANS_MOST = 8 };

os_fact os_fact_of_value(const op_value *value) {
  if (value == NULL) return (os_fact){.rank = -1, .absent = true};
  os_fact fact = {.type = value->type, .rank = -1};
  if (value->kind != OP_TENSOR) return fact;
  fact.rank = value->tensor.rank;
  fact.dims = value->tensor.dims;
  fact.value = &value->tensor;
  if (value->tensor.elem == OP_INT64 && value->tensor.rank <= 1 && value->tensor.count <= 64) {
    fact.small = value->tensor.data;
    fact.small_count = (uint32_t)value->tensor.count;
    fact.small_scalar = value->tensor.rank == 0;
    for (uint32_t i = 0; i < fact.small_count; i++)
      if (!op_dim_is_number(fact.small[i])) fact.small = NULL, fact.small_count = 0;
  }
  return fact;
}

bool os_fact_known(const os_fact *fact) {
  if (!op_type_is_tensor(fact->type) || fact->rank < 0) return false;
  for (int32_t i = 0; i < fact->rank; i++)
    if (fact->dims[i] < 0) return false;
  return true;
}

// ---- Signature --------------------------------------------------------------------------------------------

static void os_plan__sign(os_text *text, const op_value *value) {
  int64_t head[2] = {-1, 0};
  if (value != NULL) {
    head[0] = value->type;
    head[1] = value->kind == OP_TENSOR ? value->tensor.rank : -1;
  }
  os_text_put(text, (os_str){(const char *)head, sizeof head});
  if (value != NULL && value->kind == OP_TENSOR)
    os_text_put(text,
                (os_str){(const char *)value->tensor.dims, (size_t)value->tensor.rank * sizeof(int64_t)});
}

static os_str os_plan__signature(const os_program *program, op_value *const *values, const int32_t *results,
                                 uint32_t result_count, os_text *text) {
  text->len = 0;
  os_text_put(text, (os_str){(const char *)results, result_count * sizeof *results});
  for (uint32_t i = 0; i < program->graph->input_count; i++)
    if (program->graph->inputs[i] >= 0) os_plan__sign(text, values[program->graph->inputs[i]]);
  for (uint32_t i = 0; i < program->captured_count; i++) os_plan__sign(text, values[program->captured[i]]);
  return os_text_str(text);
}

// ---- Facts ------------------------------------------------------------------------------------------------

// Copies dims: the value that they belong to may be gone when the plan is used again. Values themselves differ from run
// to run, so nothing of them stays.
static os_status os_plan__input_fact(os_plan *self, int32_t v, const op_value *value) {
  if (v < 0) return OS_OK;
  os_fact fact = os_fact_of_value(value);
  fact.value = NULL;
  fact.small = NULL;
  fact.small_count = 0;
  if (fact.rank > 0) {
    op_dim *dims = OS_ARENA_ARRAY(&self->arena, (size_t)fact.rank, op_dim);
    OS_TRY_ALLOC(dims);
    memcpy(dims, fact.dims, (size_t)fact.rank * sizeof *dims);
    fact.dims = dims;
  }
  self->facts[v] = fact;
  return OS_OK;
}

static os_status os_plan__infer(os_plan *self, op_value *const *values) {
  os_program *program = self->program;
  const op_graph *graph = program->graph;
  for (uint32_t v = 0; v < graph->value_count; v++) self->facts[v].rank = -1;
  for (uint32_t i = 0; i < graph->input_count; i++)
    if (graph->inputs[i] >= 0) OS_TRY(os_plan__input_fact(self, graph->inputs[i], values[graph->inputs[i]]));
  for (uint32_t i = 0; i < program->captured_count; i++)
    OS_TRY(os_plan__input_fact(self, program->captured[i], values[program->captured[i]]));
  os_inferring inferring;
  os_inference_init(&inferring, &self->arena, program->session->model, program->session->registry, NULL);
  os_status status = os_inference_run(&inferring, program->session->model, graph, self->facts);
  // A fault may lie in a branch that is never taken; the step that has it will say so when it runs.
  return status == OS_OPERATOR_FAILED ? OS_OK : status;
}

// ---- Which steps ------------------------------------------------------------------------------------------

static bool os_plan__is_constant(const os_plan *self, int32_t v) {
  return self->initial[v] != NULL || os_program_is_constant(self->program, v);
}

// A small integer value that inference knows whole is a constant of this plan.
static os_status os_plan__small(os_plan *self, const os_step *step, int32_t v) {
  const os_fact *fact = &self->facts[v];
  if (fact->small == NULL || !os_fact_known(fact) || step->kind != OS_STEP_COMPUTE ||
      (step->row->traits & OP_PURE) == 0)
    return OS_OK;
  if (fact->type != OP_INT64 && fact->type != OP_INT32) return OS_OK;
  for (uint32_t i = 0; i < fact->small_count; i++)
    if (!op_dim_is_number(fact->small[i])) return OS_OK;
  op_value *value =
      os_value_tensor(self->program->session->memory, (op_elem)fact->type, fact->rank, fact->dims);
  op_value **slot = OS_PUSH(&self->arena, &self->owned);
  OS_TRY_ALLOC(value);
  if (slot == NULL || value->tensor.count != fact->small_count) {
    op_value_release(value);
    if (slot != NULL) self->owned.count--;
    return slot == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  }
  for (uint32_t i = 0; i < fact->small_count; i++) {
    if (fact->type == OP_INT64)
      ((int64_t *)value->tensor.data)[i] = fact->small[i];
    else
      ((int32_t *)value->tensor.data)[i] = (int32_t)fact->small[i];
  }
  self->initial[v] = *slot = value;
  return OS_OK;
}

static void os_plan__want(os_plan *self, bool *wanted, int32_t v) {
  if (v >= 0 && !os_plan__is_constant(self, v)) wanted[v] = true;
}

static os_status os_plan__needed(os_plan *self, bool *needed) {
  os_program *program = self->program;
  bool *wanted = OS_ARENA_ARRAY(&self->arena, program->graph->value_count + 1, bool);
  OS_TRY_ALLOC(wanted);
  for (uint32_t i = 0; i < self->result_count; i++)
    if (self->results[i] >= 0) wanted[self->results[i]] = true;
  for (uint32_t s = program->step_count; s-- > 0;) {
    const os_step *step = &program->steps[s];
    if (step->folded) continue;
    for (uint32_t o = 0; o < step->source->output_count; o++) {
      int32_t v = step->source->outputs[o];
      if (v < 0 || !wanted[v]) continue;
      OS_TRY(os_plan__small(self, step, v));
      needed[s] |= self->initial[v] == NULL;
    }
    if (!needed[s]) continue;
    for (uint32_t i = 0; i < step->source->input_count; i++)
      os_plan__want(self, wanted, step->source->inputs[i]);
    for (uint32_t b = 0; b < step->body_count && step->kind != OS_STEP_CALL; b++)
      for (uint32_t c = 0; c < step->bodies[b]->captured_count; c++)
        os_plan__want(self, wanted, step->bodies[b]->graph->values[step->bodies[b]->captured[c]].outer);
  }
  return OS_OK;
}

// ---- Constants and releases -------------------------------------------------------------------------------

// Makes a constant that an exec reads ready in the frame's initial values.
static os_status os_plan__supply(os_plan *self, int32_t v) {
  if (v < 0 || self->initial[v] != NULL || !os_plan__is_constant(self, v)) return OS_OK;
  return os_program_constant(self->program, v, &self->initial[v]);
}

static bool os_plan__packed_only(const os_plan *self, const os_exec *exec, int32_t v) {
  return exec->packed_input >= 0 && exec->step->source->inputs[exec->packed_input] == v &&
         self->program->use_counts[v] == 1;
}

// Calls `each` for every value that the exec reads.
static os_status os_plan__reads(os_plan *self, uint32_t e, os_status (*each)(os_plan *, uint32_t, int32_t)) {
  os_exec *exec = &self->execs[e];
  const os_step *step = exec->step;
  if (exec->chain != NULL) {
    OS_TRY(each(self, e, exec->chain->head));
    for (uint32_t i = 0; i < exec->chain->count; i++) OS_TRY(each(self, e, exec->chain->items[i].operand));
    return OS_OK;
  }
  for (uint32_t i = 0; i < step->source->input_count; i++) OS_TRY(each(self, e, step->source->inputs[i]));
  for (uint32_t i = 0; exec->epilogue != NULL && i < exec->epilogue->count; i++)
    OS_TRY(each(self, e, exec->epilogue_operands[i]));
  for (uint32_t b = 0; b < step->body_count && step->kind != OS_STEP_CALL; b++) {
    const os_program *body = step->bodies[b];
    for (uint32_t c = 0; c < body->captured_count; c++)
      OS_TRY(each(self, e, body->graph->values[body->captured[c]].outer));
  }
  return OS_OK;
}

// Another plan of the program reads the constant itself: one for a single row, where packing does not pay.
static bool os_plan__held(const os_program *program, int32_t v) {
  for (const os_plan *plan = program->plans; plan != NULL; plan = plan->next)
    if (plan->initial[v] != NULL) return true;
  return false;
}

static os_status os_plan__supply_read(os_plan *self, uint32_t e, int32_t v) {
  if (v >= 0 && os_plan__packed_only(self, &self->execs[e], v)) {
    if (!os_plan__held(self->program, v)) os_program_drop_constant(self->program, v);
    return OS_OK;
  }
  return os_plan__supply(self, v);
}

static os_status os_plan__touch(os_plan *self, uint32_t e, int32_t v) {
  if (v >= 0) self->last_use[v] = (int32_t)e;
  return OS_OK;
}

bool os_plan_is_result(const os_plan *self, int32_t value) {
  for (uint32_t i = 0; i < self->result_count; i++)
    if (self->results[i] == value) return true;
  return false;
}

static os_status os_plan__last_uses(os_plan *self) {
  for (uint32_t v = 0; v < self->program->graph->value_count; v++) self->last_use[v] = -1;
  for (uint32_t e = 0; e < self->exec_count; e++) {
    const os_exec *exec = &self->execs[e];
    OS_TRY(os_plan__touch(self, e, exec->output));
    for (uint32_t o = 1; exec->chain == NULL && o < exec->step->source->output_count; o++)
      OS_TRY(os_plan__touch(self, e, exec->step->source->outputs[o]));
    OS_TRY(os_plan__reads(self, e, os_plan__touch));
  }
  return OS_OK;
}

// Each exec lets go of the values that end at it: those that are made at run time and are no results.
static os_status os_plan__releases(os_plan *self) {
  const op_graph *graph = self->program->graph;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
      int32_t last = self->last_use[v];
      bool stays = last < 0 || self->initial[v] != NULL || self->offsets[v] != SIZE_MAX ||
                   os_plan_is_result(self, (int32_t)v);
      if (stays) continue;
      os_exec *exec = &self->execs[last];
      if (pass == 1) exec->release[exec->release_count] = (int32_t)v;
      exec->release_count++;
    }
    for (uint32_t e = 0; pass == 0 && e < self->exec_count; e++) {
      os_exec *exec = &self->execs[e];
      exec->release = OS_ARENA_ARRAY(&self->arena, exec->release_count + 1, int32_t);
      OS_TRY_ALLOC(exec->release);
      exec->release_count = 0;
    }
  }
  return OS_OK;
}

// ---- Making and finding -----------------------------------------------------------------------------------

static os_status os_plan__arrays(os_plan *self, const int32_t *results, uint32_t result_count) {
  size_t values = self->program->graph->value_count + 1;
  self->facts = OS_ARENA_ARRAY(&self->arena, values, os_fact);
  self->initial = OS_ARENA_ARRAY(&self->arena, values, op_value *);
  self->offsets = OS_ARENA_ARRAY(&self->arena, values, size_t);
  self->last_use = OS_ARENA_ARRAY(&self->arena, values, int32_t);
  self->results = OS_ARENA_ARRAY(&self->arena, result_count + 1, int32_t);
  self->result_count = result_count;
  OS_TRY_ALLOC(self->facts);
  OS_TRY_ALLOC(self->initial);
  OS_TRY_ALLOC(self->offsets);
  OS_TRY_ALLOC(self->last_use);
  OS_TRY_ALLOC(self->results);
  if (result_count > 0) memcpy(self->results, results, result_count * sizeof *results);
  for (size_t v = 0; v < values; v++) self->offsets[v] = SIZE_MAX;
  return OS_OK;
}

static os_status os_plan__make(os_plan *self, op_value *const *values, const int32_t *results,
                               uint32_t result_count, os_trouble *trouble) {
  OS_TRY(os_plan__arrays(self, results, result_count));
  OS_TRY(os_plan__infer(self, values));
  bool *needed = OS_ARENA_ARRAY(&self->arena, self->program->step_count + 1, bool);
  OS_TRY_ALLOC(needed);
  OS_TRY(os_plan__needed(self, needed));
  for (uint32_t s = 0; s < self->program->step_count; s++)
    if (needed[s]) OS_TRY(os_guard_plan(self, &self->program->steps[s], trouble));
  OS_TRY(os_plan_fuse(self, needed));
  for (uint32_t e = 0; e < self->exec_count; e++) OS_TRY(os_exec_prepare(self, &self->execs[e], trouble));
  for (uint32_t e = 0; e < self->exec_count; e++) OS_TRY(os_plan__reads(self, e, os_plan__supply_read));
  for (uint32_t i = 0; i < result_count; i++) OS_TRY(os_plan__supply(self, results[i]));
  OS_TRY(os_plan__last_uses(self));
  OS_TRY(os_plan_place(self));
  return os_plan__releases(self);
}

// The oldest plan that no frame uses goes when there are too many.
static void os_plan__evict(os_program *program) {
  os_plan **victim = NULL;
  for (os_plan **at = &program->plans; *at != NULL; at = &(*at)->next)
    if ((*at)->frames_in_use == 0) victim = at;
  if (victim == NULL) return;
  os_plan *plan = *victim;
  *victim = plan->next;
  program->plan_count--;
  os_plan_free(plan);
}

os_status os_plan_get(os_program *program, op_value *const *values, const int32_t *results,
                      uint32_t result_count, os_trouble *trouble, os_plan **out) {
  os_text *text = &program->session->signature;
  os_str signature = os_plan__signature(program, values, results, result_count, text);
  if (text->failed) return OS_OUT_OF_MEMORY;
  uint64_t key = os_str_hash(signature, 0);
  for (os_plan **at = &program->plans; *at != NULL; at = &(*at)->next) {
    os_plan *plan = *at;
    if (plan->key != key || !os_str_eq(plan->signature, signature)) continue;
    if (at != &program->plans) { // most recently used first
      *at = plan->next;
      plan->next = program->plans;
      program->plans = plan;
    }
    *out = plan;
    return OS_OK;
  }
  if (program->plan_count >= PLANS_MOST) os_plan__evict(program);
  os_plan *plan = os_memory_calloc(program->session->memory, sizeof *plan);
  OS_TRY_ALLOC(plan);
  plan->program = program;
  plan->key = key;
  os_arena_init(&plan->arena, program->session->memory);
  plan->signature = os_arena_copy(&plan->arena, signature);
  os_status status = os_plan__make(plan, values, results, result_count, trouble);
  if (status != OS_OK) {
    os_plan_free(plan);
    return status;
  }
  plan->next = program->plans;
  program->plans = plan;
  program->plan_count++;
  *out = plan;
  return OS_OK;
}

void os_plan_free(os_plan *self) {
  while (self->free_frames != NULL) {
    os_frame *frame = self->free_frames;
    self->free_frames = frame->next;
    os_frame_free(frame);
  }
  for (size_t i = 0; i < self->owned.count; i++) op_value_release(self->owned.items[i]);
  os_memory *memory = self->arena.memory;
  os_arena_clear(&self->arena);
  os_memory_free(memory, self);
}
