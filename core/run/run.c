#include "execute.h"

static void os_run__release(os_frame *frame, const os_exec *exec) {
  for (uint32_t i = 0; i < exec->release_count; i++) {
    int32_t v = exec->release[i];
    op_value_release(frame->values[v]);
    frame->values[v] = NULL;
  }
  frame->at++;
}

// Results leave the run with bytes of their own.
static os_status os_run__collect(os_run *self) {
  os_frame *frame = self->top;
  uint32_t count = frame->plan->result_count;
  self->results = OS_ARENA_ARRAY(&self->arena, count + 1, op_value *);
  OS_TRY_ALLOC(self->results);
  for (uint32_t i = 0; i < count; i++) {
    int32_t v = frame->plan->results[i];
    op_value *value = v < 0 ? NULL : frame->values[v];
    if (value == NULL) {
      self->trouble.message = os_arena_format(&self->arena, "output %u has no value", i);
      return OS_OPERATOR_FAILED;
    }
    self->results[i] = value->borrowed ? os_value_copy(self->session->memory, value) : op_value_retain(value);
    OS_TRY_ALLOC(self->results[i]);
    self->result_count++;
  }
  os_frame_pop(self);
  self->done = true;
  return OS_OK;
}

static os_status os_run__one(os_run *self) {
  os_frame *frame = self->top;
  if (frame->at == frame->plan->exec_count) {
    if (frame->parent == NULL) return os_run__collect(self);
    frame = frame->parent;
    OS_TRY(os_flow_after(self, frame));
  } else {
    const os_exec *exec = &frame->plan->execs[frame->at];
    OS_TRY(self->waiting ? os_exec_resume(self) : os_exec_step(self, frame, exec));
    if (!exec->known) os_arena_rewind(&self->step_arena);
  }
  if (self->top == frame) os_run__release(frame, &frame->plan->execs[frame->at]);
  return OS_OK;
}

os_status os_run_step(os_run *self, uint64_t budget) {
  if (self->done) return OS_OK;
  if (self->trouble.status != OS_OK) return self->trouble.status;
  while (budget-- > 0) {
    os_status status = os_run__one(self);
    if (status == OS_NEEDS_HOST) return status;
    if (status != OS_OK) {
      self->trouble.status = status;
      if (self->trouble.message.data == NULL) self->trouble.message = os_str_of(os_status_text(status));
      return status;
    }
    if (self->done) return OS_OK;
  }
  return OS_YIELD;
}

void os_run_answer(os_run *self, os_status status, os_str message) {
  self->answered = true;
  self->answer = status;
  self->answer_message = os_arena_copy(&self->arena, message);
}

size_t os_run_result_count(const os_run *self) { return self->done ? self->result_count : 0; }
op_value *os_run_result(const os_run *self, size_t index) { return self->done ? self->results[index] : NULL; }
const os_trouble *os_run_trouble(const os_run *self) { return &self->trouble; }

void os_run_free(os_run *self) {
  if (self == NULL) return;
  while (self->top != NULL) os_frame_pop(self);
  for (size_t i = 0; i < self->result_count; i++) op_value_release(self->results[i]);
  os_memory *memory = self->session->memory;
  os_memory_free(memory, self->scratch);
  os_arena_clear(&self->step_arena);
  os_arena_clear(&self->arena);
  os_memory_free(memory, self);
}
