#include "execute.h"

#include "chain.h"
#include "guard.h"

// ---- Facts at run time ------------------------------------------------------------------------------------

// A message of inference without the operator and node that it begins with: the run names them itself.
static os_str os_exec__bare(os_str message) {
  for (size_t i = 0; i + 1 < message.len; i++)
    if (message.data[i] == ':' && message.data[i + 1] == ' ')
      return (os_str){message.data + i + 2, message.len - i - 2};
  return message;
}

// Facts of the step's outputs from the values of its inputs. Answers in run->fact_slots, valid until the next step.
static os_status os_exec__infer(os_run *run, os_frame *frame, const os_exec *exec) {
  os_session *session = run->session;
  const os_graph_node *source = exec->step->source;
  os_arena *arena = &run->step_arena;
  uint32_t inputs = source->input_count, outputs = source->output_count, given = 0;
  const op_fact **in = OS_ARENA_ARRAY(arena, inputs + 1, const op_fact *);
  op_fact **out = OS_ARENA_ARRAY(arena, outputs + 1, op_fact *);
  os_fact *facts = OS_ARENA_ARRAY(arena, inputs + outputs + 1, os_fact);
  OS_TRY_ALLOC(in);
  OS_TRY_ALLOC(out);
  OS_TRY_ALLOC(facts);
  for (uint32_t i = 0; i < inputs; i++) {
    const op_value *value = source->inputs[i] < 0 ? NULL : frame->values[source->inputs[i]];
    if (value == NULL) continue;
    facts[i] = os_fact_of_value(value);
    in[i] = &facts[i];
    given = i + 1;
  }
  for (uint32_t o = 0; o < outputs; o++) {
    if (source->outputs[o] < 0) continue;
    facts[inputs + o].rank = -1;
    out[o] = &facts[inputs + o];
  }
  run->out_facts = (const os_fact *const *)out;
  if (exec->step->row == NULL || exec->step->row->infer == NULL) return OS_OK;
  session->inferring.arena = arena;
  session->inferring.message = (os_str){NULL, 0};
  op_infer context = {.inferring = &session->inferring,
                      .node = &source->node,
                      .inputs = in,
                      .input_count = given,
                      .outputs = out,
                      .output_count = outputs};
  os_status status = exec->step->row->infer(&context);
  if (status == OS_OK && context.failed) status = OS_OPERATOR_FAILED;
  if (status == OS_OK || status == OS_OUT_OF_MEMORY) return status;
  os_str message = os_exec__bare(session->inferring.message);
  return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "%.*s", OS_ARG(message));
}

static os_status os_exec__create(os_run *run, os_frame *frame, const os_exec *exec) {
  const os_graph_node *source = exec->step->source;
  if (exec->step->created || exec->step->row == NULL) return OS_OK;
  op_elem *elems = OS_ARENA_ARRAY(&run->step_arena, source->input_count + 1, op_elem);
  OS_TRY_ALLOC(elems);
  for (uint32_t i = 0; i < source->input_count; i++) {
    const op_value *value = source->inputs[i] < 0 ? NULL : frame->values[source->inputs[i]];
    elems[i] = value != NULL && value->kind == OP_TENSOR ? value->tensor.elem : OP_NONE;
  }
  return os_step_create(frame->plan->program, exec->step, elems, &run->trouble);
}

op_value *os_exec_tensor(os_run *run, op_elem elem, int32_t rank, const int64_t *dims) {
  int64_t count;
  size_t bytes;
  if (!os_tensor_count(elem, rank, dims, &count, &bytes)) return NULL;
  if (run->fold_limit > 0 && bytes > run->fold_limit) return NULL;
  return os_value_tensor(run->session->memory, elem, rank, dims);
}

// Whether the kernel chooses shapes, and so types, itself.
static bool os_exec__allocates(const os_exec *exec) {
  return (exec->step->row->traits & (OP_DATA_SHAPE | OP_OPEN_SHAPE | OP_ANY_VALUE)) != 0;
}

// ---- Compute ----------------------------------------------------------------------------------------------

static os_status os_exec__finish_compute(os_run *run, os_frame *frame, const os_exec *exec,
                                         os_status status) {
  const os_graph_node *source = exec->step->source;
  if (run->kernel.failed) return OS_OUT_OF_MEMORY;
  if (status == OS_NEEDS_HOST) {
    run->waiting = true;
    return status;
  }
  if (status == OS_OPERATOR_FAILED && run->trouble.message.data == NULL)
    return os_run_trouble_at(run, frame, exec, status, "failed");
  OS_TRY(status);
  for (uint32_t o = 0; o < source->output_count; o++) {
    int32_t v = o == 0 ? exec->output : source->outputs[o];
    if (v >= 0 && frame->values[v] == NULL)
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "the kernel gave no output %u", o);
  }
  return os_exec__allocates(exec) ? os_guard_values(run, frame, exec, true) : OS_OK;
}

static os_status os_exec__epilogue(os_run *run, os_frame *frame, const os_exec *exec) {
  run->kernel.epilogue = exec->epilogue;
  for (uint32_t i = 0; exec->epilogue != NULL && i < exec->epilogue->count; i++) {
    int32_t v = exec->epilogue_operands[i];
    if (v < 0) continue;
    const op_value *value = frame->values[v];
    if (value == NULL || value->kind != OP_TENSOR)
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "an operand is missing");
    exec->epilogue->items[i].operand = &value->tensor;
  }
  return OS_OK;
}

// The loop of an element-wise step whose element types only the run knows; false when there is none.
static bool os_exec__late_loop(os_frame *frame, const os_exec *exec, os_chain *chain) {
  enum { MOST = 8 };
  const os_step *step = exec->step;
  if (step->row->loop == NULL || exec->output < 0 || step->source->input_count > MOST) return false;
  op_elem elems[MOST] = {OP_NONE};
  const op_tensor *constants[MOST] = {NULL};
  for (uint32_t i = 0; i < step->source->input_count; i++) {
    int32_t v = step->source->inputs[i];
    const op_value *value = v < 0 ? NULL : frame->values[v];
    if (value == NULL || value->kind != OP_TENSOR) continue;
    elems[i] = value->tensor.elem;
    constants[i] = &value->tensor; // for this one run it is constant
  }
  op_loop loop = {0};
  if (elems[0] != OP_NONE)
    step->row->loop(&step->source->node, elems, constants, step->source->input_count, &loop);
  if (loop.id == LOOP_NONE) return false;
  *chain = os_chain_of(step, &loop, elems[0]);
  return true;
}

static os_status os_exec__late_chain(os_run *run, os_frame *frame, const os_exec *exec, os_chain *chain) {
  os_exec late = *exec;
  late.kind = OS_EXEC_CHAIN;
  late.chain = chain;
  const os_fact *fact = run->out_facts[0];
  op_value *out = os_exec_tensor(run, (op_elem)fact->type, fact->rank, fact->dims);
  OS_TRY_ALLOC(out);
  os_frame_set(frame, exec->output, out);
  return os_chain_run(run, frame, &late, &out->tensor);
}

os_status os_exec_compute(os_run *run, os_frame *frame, const os_exec *exec) {
  const op_row *row = exec->step->row;
  os_chain chain;
  run->kernel = (op_run){.run = run, .frame = frame, .exec = exec};
  OS_TRY(os_exec__epilogue(run, frame, exec));
  if (!exec->known) {
    OS_TRY(os_exec__create(run, frame, exec));
    OS_TRY(os_exec__infer(run, frame, exec));
    run->kernel.out_facts = run->out_facts;
    if (exec->epilogue == NULL && run->out_facts[0] != NULL && os_fact_known(run->out_facts[0]) &&
        os_exec__late_loop(frame, exec, &chain))
      return os_exec__late_chain(run, frame, exec, &chain);
    os_status status = os_exec_plan_now(run, frame, (os_exec *)exec, run->out_facts);
    if (status == OS_OPERATOR_FAILED)
      return os_run_trouble_at(run, frame, exec, status, "cannot be planned for these shapes");
    OS_TRY(status);
  }
  run->kernel.packed = exec->packed;
  if (exec->scratch > 0) {
    run->kernel.scratch = os_run_scratch(run, exec->scratch);
    OS_TRY_ALLOC(run->kernel.scratch);
  }
  if (row->compute == NULL)
    return os_run_trouble_at(run, frame, exec, OS_UNSUPPORTED, "there is no kernel for these element types");
  bool ready = exec->output >= 0 ? os_exec__allocates(exec) || op_run_output(&run->kernel, 0) != NULL
                                 : exec->step->source->output_count > 1;
  return os_exec__finish_compute(run, frame, exec, ready ? row->compute(&run->kernel) : OS_OK);
}

os_status os_exec_resume(os_run *run) {
  os_frame *frame = run->kernel.frame;
  const os_exec *exec = run->kernel.exec;
  if (!run->answered) return OS_NEEDS_HOST;
  run->waiting = run->answered = false;
  if (run->answer == OS_OPERATOR_FAILED)
    return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "%.*s", OS_ARG(run->answer_message));
  return os_exec__finish_compute(run, frame, exec, run->answer);
}

// ---- Chains and views -------------------------------------------------------------------------------------

static os_status os_exec__chain(os_run *run, os_frame *frame, const os_exec *exec) {
  op_value *out = frame->values[exec->output];
  const os_fact *fact = &frame->plan->facts[exec->output];
  if (!exec->known) {
    OS_TRY(os_exec__infer(run, frame, exec));
    fact = run->out_facts[0];
    if (!os_fact_known(fact)) return os_exec_compute(run, frame, exec);
  }
  if (out == NULL) {
    out = os_exec_tensor(run, (op_elem)fact->type, fact->rank, fact->dims);
    OS_TRY_ALLOC(out);
    os_frame_set(frame, exec->output, out);
  }
  return os_chain_run(run, frame, exec, &out->tensor);
}

static os_status os_exec__view(os_run *run, os_frame *frame, const os_exec *exec) {
  int32_t in = exec->step->source->inputs[0];
  if (exec->output < 0 || frame->values[exec->output] != NULL) return OS_OK; // lies on its input already
  op_value *value = in < 0 ? NULL : frame->values[in];
  if (value == NULL) return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "its input is missing");
  if (value->kind != OP_TENSOR) {
    os_frame_set(frame, exec->output, op_value_retain(value));
    return OS_OK;
  }
  const os_fact *fact = &frame->plan->facts[exec->output];
  if (!exec->known) {
    OS_TRY(os_exec__create(run, frame, exec));
    OS_TRY(os_exec__infer(run, frame, exec));
    fact = run->out_facts[0];
    if (!os_fact_known(fact))
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "its shape cannot be told");
  }
  op_value *view = os_value_view(value, fact->rank, fact->dims);
  if (view == NULL)
    return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED,
                             "the new shape does not hold %lld elements", (long long)value->tensor.count);
  os_frame_set(frame, exec->output, view);
  return OS_OK;
}

os_status os_exec_step(os_run *run, os_frame *frame, const os_exec *exec) {
  if (!exec->known) OS_TRY(os_guard_values(run, frame, exec, false));
  switch (exec->kind) {
  case OS_EXEC_COMPUTE: return os_exec_compute(run, frame, exec);
  case OS_EXEC_CHAIN: return os_exec__chain(run, frame, exec);
  case OS_EXEC_VIEW: return os_exec__view(run, frame, exec);
  case OS_EXEC_FLOW:
  case OS_EXEC_CALL: return os_flow_begin(run, frame, exec);
  }
  return OS_CRASHED;
}
