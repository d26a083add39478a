#include "execute.h"

#include "format.h"

#include <stdarg.h>

void os_frame_set(os_frame *frame, int32_t value, op_value *reference) {
  op_value *old = frame->values[value];
  frame->values[value] = reference;
  if (old != NULL) op_value_release(old);
}

void os_frame_free(os_frame *frame) {
  os_plan *plan = frame->plan;
  os_memory *memory = plan->program->session->memory;
  uint32_t count = plan->program->graph->value_count;
  for (uint32_t v = 0; frame->headers != NULL && v < count; v++) op_value_release(frame->headers[v]);
  os_memory_free(memory, frame->headers);
  os_memory_free(memory, frame->values);
  os_memory_free(memory, frame->block);
  os_memory_free(memory, frame);
}

// The values of the block as borrowed tensors, once per frame.
static os_status os_frame__headers(os_frame *self) {
  const os_plan *plan = self->plan;
  os_memory *memory = plan->program->session->memory;
  for (uint32_t v = 0; v < plan->program->graph->value_count; v++) {
    if (plan->offsets[v] == SIZE_MAX) continue;
    const os_fact *fact = &plan->facts[v];
    self->headers[v] =
        os_value_borrow(memory, (op_elem)fact->type, fact->rank, fact->dims, self->block + plan->offsets[v]);
    OS_TRY_ALLOC(self->headers[v]);
  }
  return OS_OK;
}

static os_status os_frame__new(os_plan *plan, os_frame **out) {
  os_memory *memory = plan->program->session->memory;
  size_t values = (plan->program->graph->value_count + 1) * sizeof(op_value *);
  os_frame *self = os_memory_calloc(memory, sizeof *self);
  OS_TRY_ALLOC(self);
  *out = self;
  self->plan = plan;
  self->values = os_memory_calloc(memory, values);
  self->headers = os_memory_calloc(memory, values);
  self->block = plan->block_size == 0 ? NULL : os_memory_alloc(memory, plan->block_size);
  OS_TRY_ALLOC(self->values);
  OS_TRY_ALLOC(self->headers);
  if (plan->block_size > 0) OS_TRY_ALLOC(self->block);
  return os_frame__headers(self);
}

static os_status os_frame__take(os_plan *plan, os_frame **out) {
  os_frame *frame = plan->free_frames;
  if (frame != NULL) {
    plan->free_frames = frame->next;
  } else {
    os_status status = os_frame__new(plan, &frame);
    if (status != OS_OK) {
      if (frame != NULL) os_frame_free(frame);
      return status;
    }
  }
  plan->frames_in_use++;
  *out = frame;
  return OS_OK;
}

// Every slot holds a reference of its own, whichever way it was filled, so that release needs no cases.
static void os_frame__fill(os_frame *self) {
  const os_plan *plan = self->plan;
  for (uint32_t v = 0; v < plan->program->graph->value_count; v++) {
    op_value *value = self->headers[v] != NULL ? self->headers[v] : plan->initial[v];
    if (value != NULL && self->values[v] == NULL) self->values[v] = op_value_retain(value);
  }
}

os_status os_frame_push(os_run *run, os_program *program, op_value *const *inputs, size_t count,
                        const int32_t *results, uint32_t result_count) {
  const op_graph *graph = program->graph;
  os_frame *parent = run->top;
  os_memory *memory = run->session->memory;
  op_value **values = program->arguments; // room for one set, all NULL between pushes
  if (values == NULL) {
    values = program->arguments = os_memory_calloc(memory, (graph->value_count + 1) * sizeof *values);
    if (values == NULL) {
      for (size_t i = 0; i < count; i++) op_value_release(inputs[i]);
      return OS_OUT_OF_MEMORY;
    }
  }
  for (size_t i = 0; i < count; i++) {
    int32_t v = i < graph->input_count ? graph->inputs[i] : OS_ABSENT;
    if (inputs[i] == NULL) continue;
    if (v < 0 || values[v] != NULL)
      op_value_release(inputs[i]);
    else
      values[v] = inputs[i];
  }
  for (uint32_t i = 0; i < program->captured_count && parent != NULL; i++) {
    int32_t v = program->captured[i], outer = graph->values[v].outer;
    if (outer >= 0 && parent->values[outer] != NULL && values[v] == NULL)
      values[v] = op_value_retain(parent->values[outer]);
  }
  os_plan *plan;
  os_frame *frame = NULL;
  os_status status = os_plan_get(program, values, results, result_count, &run->trouble, &plan);
  if (status == OS_OK) status = os_frame__take(plan, &frame);
  for (uint32_t i = 0; i < graph->input_count + program->captured_count; i++) {
    int32_t v = i < graph->input_count ? graph->inputs[i] : program->captured[i - graph->input_count];
    if (v < 0) continue;
    if (status == OS_OK && frame->values[v] == NULL)
      frame->values[v] = values[v];
    else
      op_value_release(values[v]);
    values[v] = NULL;
  }
  if (status != OS_OK) return status;
  os_frame__fill(frame);
  frame->at = 0;
  frame->parent = parent;
  run->top = frame;
  return OS_OK;
}

void os_frame_pop(os_run *run) {
  os_frame *frame = run->top;
  os_plan *plan = frame->plan;
  os_flow_end(frame);
  for (uint32_t v = 0; v < plan->program->graph->value_count; v++) {
    op_value_release(frame->values[v]);
    frame->values[v] = NULL;
  }
  run->top = frame->parent;
  frame->parent = NULL;
  frame->next = plan->free_frames;
  plan->free_frames = frame;
  plan->frames_in_use--;
}

os_str os_step_message(os_arena *arena, const os_step *step, os_str text) {
  const op_node *node = &step->source->node;
  return node->name.len > 0 ? os_arena_format(arena, "%.*s '%.*s': %.*s", OS_ARG(node->op_type),
                                              OS_ARG(node->name), OS_ARG(text))
                            : os_arena_format(arena, "%.*s: %.*s", OS_ARG(node->op_type), OS_ARG(text));
}

os_status os_run_trouble_at(os_run *run, const os_frame *frame, const os_exec *exec, os_status status,
                            const char *format, ...) {
  if (run->trouble.message.data != NULL) return run->trouble.status;
  char text[640];
  va_list arguments;
  va_start(arguments, format);
  int len = os_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  if (len < 0) len = 0;
  if ((size_t)len >= sizeof text) len = sizeof text - 1;
  run->trouble.status = status;
  run->trouble.message = os_step_message(&run->arena, exec->step, (os_str){text, (size_t)len});
  run->trouble.path = os_step_path(&run->arena, frame->plan->program, exec->step);
  return status;
}

void *os_run_scratch(os_run *run, size_t bytes) {
  if (bytes <= run->scratch_size) return run->scratch_aligned;
  os_memory_free(run->session->memory, run->scratch);
  run->scratch = bytes > SIZE_MAX - 64 ? NULL : os_memory_alloc(run->session->memory, bytes + 64);
  run->scratch_size = run->scratch == NULL ? 0 : bytes;
  run->scratch_aligned =
      run->scratch == NULL ? NULL : (char *)(((uintptr_t)run->scratch + 63) & ~(uintptr_t)63);
  return run->scratch_aligned;
}
