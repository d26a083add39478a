#include "execute.h"

// Constant folding: a pure step whose inputs are constant is computed once, on a frame of its own, when the session is made.

enum { KEEP_ANYWAY = 1 << 16, GROWTH = 4 };

typedef struct os_folder {
  os_program *program;
  os_plan plan; // facts of the step's operands only
  os_frame frame;
  os_run run;
} os_folder;

static bool os_folder__foldable(const os_program *program, const os_step *step) {
  const uint32_t never = OP_RANDOM | OP_SUBGRAPHS;
  if (step->kind != OS_STEP_COMPUTE || step->folded) return false;
  if ((step->row->traits & OP_PURE) == 0 || (step->row->traits & never) != 0) return false;
  for (uint32_t i = 0; i < step->source->input_count; i++)
    if (step->source->inputs[i] >= 0 && !os_program_is_constant(program, step->source->inputs[i]))
      return false;
  return true;
}

static os_status os_folder__operands(os_folder *self, const os_step *step) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < step->source->input_count; i++) {
    int32_t v = step->source->inputs[i];
    if (v < 0) continue;
    op_value *value = NULL;
    OS_TRY(os_program_constant(self->program, v, &value));
    if (value == NULL) return OS_MALFORMED;
    if (self->frame.values[v] == NULL) self->frame.values[v] = op_value_retain(value);
    self->plan.facts[v] = os_fact_of_value(value);
    if (value->kind == OP_TENSOR) bytes += os_tensor_bytes(&value->tensor);
  }
  self->run.fold_limit = KEEP_ANYWAY + GROWTH * bytes;
  return OS_OK;
}

static os_exec os_folder__exec(const os_folder *self, os_step *step, os_chain *chain) {
  os_exec exec = {
      .step = step, .kind = OS_EXEC_COMPUTE, .output = step->source->outputs[0], .packed_input = OS_ABSENT};
  op_loop loop;
  os_plan_loop(&self->plan, step, &loop);
  if ((step->row->traits & OP_VIEW) != 0) exec.kind = OS_EXEC_VIEW;
  if (loop.id == LOOP_NONE) return exec;
  *chain = os_chain_of(step, &loop, (op_elem)self->plan.facts[step->source->inputs[0]].type);
  exec.kind = OS_EXEC_CHAIN;
  exec.chain = chain;
  return exec;
}

static void os_folder__keep(os_folder *self, os_step *step) {
  for (uint32_t o = 0; o < step->source->output_count; o++) {
    int32_t v = step->source->outputs[o];
    if (v < 0) continue;
    self->program->constants[v] = self->frame.values[v];
    self->frame.values[v] = NULL;
  }
  step->folded = true;
}

static os_status os_folder__step(os_folder *self, os_step *step) {
  if (step->source->output_count == 0 || step->source->outputs[0] < 0) return OS_OK;
  os_chain chain;
  os_status status = os_folder__operands(self, step);
  if (status == OS_OK) {
    os_exec exec = os_folder__exec(self, step, &chain);
    status = os_exec_step(&self->run, &self->frame, &exec);
  }
  if (status == OS_OK) os_folder__keep(self, step);
  for (uint32_t i = 0; i < step->source->input_count; i++)
    if (step->source->inputs[i] >= 0) os_frame_set(&self->frame, step->source->inputs[i], NULL);
  for (uint32_t o = 0; o < step->source->output_count; o++)
    if (step->source->outputs[o] >= 0) os_frame_set(&self->frame, step->source->outputs[o], NULL);
  os_arena_rewind(&self->run.step_arena);
  os_arena_clear(&self->run.arena);
  self->run.trouble = (os_trouble){.arena = &self->run.arena};
  return OS_OK; // what failed here fails again, with its place, when it runs
}

// Constants of the enclosing graph are constants here too.
static void os_program__inherit(os_program *self) {
  for (uint32_t i = 0; i < self->captured_count && self->parent != NULL; i++) {
    int32_t v = self->captured[i], outer = self->graph->values[v].outer;
    op_value *value = NULL;
    if (outer < 0 || !os_program_is_constant(self->parent, outer)) continue;
    if (os_program_constant(self->parent, outer, &value) == OS_OK && value != NULL &&
        self->constants[v] == NULL)
      self->constants[v] = op_value_retain(value);
  }
}

os_status os_program_fold(os_program *self) {
  os_session *session = self->session;
  os_program__inherit(self);
  bool any = false;
  for (uint32_t s = 0; s < self->step_count && !any; s++) any = os_folder__foldable(self, &self->steps[s]);
  if (!any) return OS_OK;
  os_folder folder = {.program = self};
  size_t values = self->graph->value_count + 1;
  folder.plan.program = self;
  os_arena_init(&folder.plan.arena, session->memory);
  os_arena_init(&folder.run.arena, session->memory);
  os_arena_init(&folder.run.step_arena, session->memory);
  folder.plan.facts = OS_ARENA_ARRAY(&folder.plan.arena, values, os_fact);
  folder.plan.initial = OS_ARENA_ARRAY(&folder.plan.arena, values, op_value *);
  folder.frame.values = OS_ARENA_ARRAY(&folder.plan.arena, values, op_value *);
  folder.frame.plan = &folder.plan;
  folder.run.session = session;
  folder.run.trouble.arena = &folder.run.arena;
  os_status status = folder.plan.facts == NULL || folder.plan.initial == NULL || folder.frame.values == NULL
                         ? OS_OUT_OF_MEMORY
                         : OS_OK;
  for (uint32_t s = 0; status == OS_OK && s < self->step_count; s++) {
    if (!os_folder__foldable(self, &self->steps[s])) continue;
    status = os_stop_check(session->stop);
    if (status == OS_OK) status = os_folder__step(&folder, &self->steps[s]);
  }
  os_memory_free(session->memory, folder.run.scratch);
  os_arena_clear(&folder.run.step_arena);
  os_arena_clear(&folder.run.arena);
  os_arena_clear(&folder.plan.arena);
  return status;
}
