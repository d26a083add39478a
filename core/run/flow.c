#include "execute.h"

#include "format.h"

#include <stdarg.h>

// Control flow and calls: a body is a frame of its own on the run's stack; the node that asked for it waits in its frame.

const op_node *op_flow_node(const op_flow *ctx) { return &ctx->exec->step->source->node; }
void *op_flow_state(const op_flow *ctx) { return ctx->state; }
uint32_t op_flow_input_count(const op_flow *ctx) { return ctx->exec->step->source->input_count; }
uint32_t op_flow_output_count(const op_flow *ctx) { return ctx->exec->step->source->output_count; }

const op_fact *op_flow_output(const op_flow *ctx, uint32_t output) {
  const os_graph_node *source = ctx->exec->step->source;
  if (output >= source->output_count || source->outputs[output] < 0) return NULL;
  return &ctx->frame->plan->facts[source->outputs[output]];
}

op_value *op_flow_input(const op_flow *ctx, uint32_t input) {
  const os_graph_node *source = ctx->exec->step->source;
  if (input >= source->input_count || source->inputs[input] < 0) return NULL;
  return ctx->frame->values[source->inputs[input]];
}

static bool op_flow__room(op_flow *ctx, op_value ***list, size_t *room, size_t count) {
  if (count <= *room) return true;
  op_value **grown = os_memory_realloc(ctx->run->session->memory, *list, count * sizeof *grown);
  if (grown == NULL) return false;
  *list = grown;
  *room = count;
  return true;
}

os_status op_flow_call(op_flow *ctx, const op_graph *body, op_value *const *inputs, size_t count) {
  os_program *callee = os_step_body(ctx->exec->step, body);
  bool ready = callee != NULL && ctx->callee == NULL &&
               op_flow__room(ctx, &ctx->arguments, &ctx->argument_room, count);
  for (size_t i = 0; i < count; i++) {
    if (ready)
      ctx->arguments[i] = inputs[i];
    else
      op_value_release(inputs[i]);
  }
  if (callee == NULL || ctx->callee != NULL)
    return op_flow_fail(ctx, "asks for a graph that is not one of its bodies");
  if (!ready) return OS_OUT_OF_MEMORY;
  ctx->callee = callee;
  ctx->argument_count = count;
  return OS_OK;
}

op_value *op_flow_take_result(op_flow *ctx, size_t index) {
  if (index >= ctx->result_count) return NULL;
  op_value *value = ctx->results[index];
  ctx->results[index] = NULL;
  return value;
}

void op_flow_set_output(op_flow *ctx, uint32_t output, op_value *value) {
  const os_graph_node *source = ctx->exec->step->source;
  if (output >= source->output_count || source->outputs[output] < 0)
    op_value_release(value);
  else
    os_frame_set(ctx->frame, source->outputs[output], value);
}

op_value *op_flow_new_tensor(op_flow *ctx, op_elem elem, int32_t rank, const int64_t *dims) {
  return os_value_tensor(ctx->run->session->memory, elem, rank, dims);
}

op_value *op_flow_new_sequence(op_flow *ctx, op_type element) {
  op_type type = os_types_intern(os_registry_types(ctx->run->session->registry),
                                 (os_type){.kind = OS_TYPE_SEQUENCE, .of = element});
  return os_value_sequence(ctx->run->session->memory, type, 0);
}

void *op_flow_realloc(op_flow *ctx, void *block, size_t bytes) {
  if (bytes > 0) return os_memory_realloc(ctx->run->session->memory, block, bytes);
  os_memory_free(ctx->run->session->memory, block);
  return NULL;
}

os_status op_flow_fail(op_flow *ctx, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  os_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  return os_run_trouble_at(ctx->run, ctx->frame, ctx->exec, OS_OPERATOR_FAILED, "%s", text);
}

static void os_flow__drop_results(op_flow *flow) {
  for (size_t i = 0; i < flow->result_count; i++) op_value_release(flow->results[i]);
  flow->result_count = 0;
}

void os_flow_end(os_frame *frame) {
  op_flow *flow = &frame->flow;
  if (!flow->entered) return;
  const op_row *row = flow->exec->step->row;
  if (flow->state != NULL && row->leave != NULL) row->leave(flow);
  os_memory *memory = flow->run->session->memory;
  os_flow__drop_results(flow);
  if (flow->callee != NULL)
    for (size_t i = 0; i < flow->argument_count; i++) op_value_release(flow->arguments[i]);
  os_memory_free(memory, flow->arguments);
  os_memory_free(memory, flow->results);
  os_memory_free(memory, flow->state);
  *flow = (op_flow){0};
}

// Pushes the body that was asked for; without one the node is done.
static os_status os_flow__next(os_run *run, os_frame *frame) {
  op_flow *flow = &frame->flow;
  if (flow->callee != NULL) {
    os_program *callee = flow->callee;
    flow->callee = NULL;
    return os_frame_push(run, callee, flow->arguments, flow->argument_count, callee->graph->outputs,
                         callee->graph->output_count);
  }
  const os_exec *exec = flow->exec;
  const os_graph_node *source = exec->step->source;
  os_flow_end(frame);
  for (uint32_t o = 0; o < source->output_count; o++)
    if (source->outputs[o] >= 0 && frame->values[source->outputs[o]] == NULL)
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "it gave no output %u", o);
  return OS_OK;
}

static os_status os_flow__call(os_run *run, os_frame *frame, const os_exec *exec) {
  op_flow *flow = &frame->flow;
  const os_graph_node *source = exec->step->source;
  if (!op_flow__room(flow, &flow->arguments, &flow->argument_room, source->input_count))
    return OS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < source->input_count; i++) {
    op_value *value = op_flow_input(flow, i);
    flow->arguments[i] = value == NULL ? NULL : op_value_retain(value);
  }
  flow->callee = exec->step->bodies[0];
  flow->argument_count = source->input_count;
  return os_flow__next(run, frame);
}

os_status os_flow_begin(os_run *run, os_frame *frame, const os_exec *exec) {
  op_flow *flow = &frame->flow;
  *flow = (op_flow){.run = run, .frame = frame, .exec = exec, .entered = true};
  if (exec->kind == OS_EXEC_CALL) return os_flow__call(run, frame, exec);
  const op_row *row = exec->step->row;
  OS_TRY(os_step_create(frame->plan->program, exec->step, NULL, &run->trouble));
  flow->state = os_memory_calloc(run->session->memory, row->flow_size);
  OS_TRY_ALLOC(flow->state);
  OS_TRY(row->enter(flow));
  return os_flow__next(run, frame);
}

// The body of the top frame has ended: its results go to the frame below.
static os_status os_flow__collect(os_run *run, op_flow *flow) {
  os_frame *body = run->top;
  const os_plan *plan = body->plan;
  os_flow__drop_results(flow);
  if (!op_flow__room(flow, &flow->results, &flow->result_room, plan->result_count)) return OS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < plan->result_count; i++) {
    op_value *value = plan->results[i] < 0 ? NULL : body->values[plan->results[i]];
    flow->results[flow->result_count++] = value == NULL ? NULL : op_value_retain(value);
  }
  return OS_OK;
}

os_status os_flow_after(os_run *run, os_frame *frame) {
  op_flow *flow = &frame->flow;
  OS_TRY(os_flow__collect(run, flow));
  os_frame_pop(run);
  if (flow->exec->kind == OS_EXEC_CALL) {
    for (uint32_t o = 0; o < op_flow_output_count(flow); o++) {
      op_value *value = op_flow_take_result(flow, o);
      if (value != NULL) op_flow_set_output(flow, o, value);
    }
  } else {
    OS_TRY(flow->exec->step->row->after(flow));
  }
  return os_flow__next(run, frame);
}
