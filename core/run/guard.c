#include "guard.h"

enum { PARAMETERS_MOST = 32, INPUTS_FEW = 16 };

static const op_parameter *os_guard__formal(const op_parameter *formals, uint32_t count, uint32_t index) {
  if (index < count) return &formals[index];
  const op_parameter *last = count == 0 ? NULL : &formals[count - 1];
  return last != NULL && last->option == OP_VARIADIC ? last : NULL;
}

// What a loop carries may begin as an optional and go on as its content: where one is allowed, so is the other.
static bool os_guard__allowed(const os_types *types, const op_type_parameter *parameter, op_type type) {
  for (uint16_t i = 0; i < parameter->count; i++) {
    if (parameter->types[i] == type) return true;
    os_type allowed = os_types_get(types, parameter->types[i]);
    if (allowed.kind == OS_TYPE_OPTIONAL && allowed.of == type) return true;
  }
  return false;
}

// The same of a list of no elements: what would be in it cannot be told, but that it is a list can.
static bool os_guard__allows_kind(const os_types *types, const op_type_parameter *parameter, op_type type) {
  os_type_kind kind = os_types_get(types, type).kind;
  for (uint16_t i = 0; i < parameter->count; i++) {
    os_type allowed = os_types_get(types, parameter->types[i]);
    if (allowed.kind == kind) return true;
    if (allowed.kind == OS_TYPE_OPTIONAL && os_types_get(types, allowed.of).kind == kind) return true;
  }
  return false;
}

typedef struct os_guard__check {
  os_arena *arena;
  const os_types *types;
  const op_schema *schema;
  op_type bound[PARAMETERS_MOST]; // by type parameter; 0 = not yet
  os_str *message;
} os_guard__check;

static bool os_guard__type(os_guard__check *self, const op_parameter *formal, const char *side,
                           uint32_t index, op_type type) {
  if (type == 0 || formal->constraint < 0) return true;
  const op_type_parameter *parameter = &self->schema->type_parameters[formal->constraint];
  if (!os_guard__allowed(self->types, parameter, type)) {
    os_str got = os_types_print(self->types, self->arena, type);
    *self->message = os_arena_format(self->arena, "%s %u (%.*s) cannot be %.*s", side, index,
                                     OS_ARG(formal->name), OS_ARG(got));
    return false;
  }
  bool binds = formal->option != OP_VARIADIC || formal->homogeneous;
  if (!binds || formal->constraint >= PARAMETERS_MOST) return true;
  op_type *bound = &self->bound[formal->constraint];
  if (*bound == 0) *bound = type;
  if (*bound == type) return true;
  os_str got = os_types_print(self->types, self->arena, type),
         before = os_types_print(self->types, self->arena, *bound);
  *self->message =
      os_arena_format(self->arena, "%s %u (%.*s) is %.*s, but %.*s is %.*s already", side, index,
                      OS_ARG(formal->name), OS_ARG(got), OS_ARG(parameter->label), OS_ARG(before));
  return false;
}

static bool os_guard__input(os_guard__check *self, uint32_t input, op_type type) {
  const op_schema *schema = self->schema;
  const op_parameter *formal = os_guard__formal(schema->inputs, schema->input_count, input);
  if (formal == NULL) {
    *self->message =
        os_arena_format(self->arena, "it takes %u inputs at most", (unsigned)schema->input_count);
    return false;
  }
  if (type != OS_GUARD_ABSENT) return os_guard__type(self, formal, "input", input, type);
  if (formal->option == OP_OPTIONAL_PARAMETER) return true;
  *self->message = os_arena_format(self->arena, "input %u (%.*s) is missing", input, OS_ARG(formal->name));
  return false;
}

static bool os_guard__inputs(os_guard__check *self, const os_step *step, const op_type *inputs) {
  const op_schema *schema = self->schema;
  os_arena *arena = self->arena;
  os_str *message = self->message;
  uint32_t count = step->source->input_count;
  while (count > 0 && inputs[count - 1] == OS_GUARD_ABSENT) count--;
  for (uint32_t i = 0; i < count; i++)
    if (!os_guard__input(self, i, inputs[i])) return false;
  for (uint32_t i = count; i < schema->input_count && schema->inputs[i].option == OP_SINGLE; i++)
    return os_guard__input(self, i, OS_GUARD_ABSENT);
  if (count < schema->min_inputs) {
    *message =
        os_arena_format(arena, "it takes %u inputs at least, not %u", (unsigned)schema->min_inputs, count);
    return false;
  }
  if (step->source->output_count < schema->min_outputs || step->source->output_count > schema->max_outputs) {
    *message = os_arena_format(arena, "it cannot have %u outputs", step->source->output_count);
    return false;
  }
  return true;
}

bool os_guard_types(os_arena *arena, const os_types *types, const os_step *step, const op_type *inputs,
                    os_str *message) {
  os_guard__check check = {
      .arena = arena, .types = types, .schema = step->source->node.schema, .message = message};
  return check.schema == NULL || os_guard__inputs(&check, step, inputs);
}

os_status os_guard_plan(os_plan *plan, const os_step *step, os_trouble *trouble) {
  const os_graph_node *source = step->source;
  op_type few[INPUTS_FEW], *types = few;
  if (step->kind == OS_STEP_CALL) return OS_OK;
  if (source->input_count > INPUTS_FEW) types = OS_ARENA_ARRAY(&plan->arena, source->input_count, op_type);
  OS_TRY_ALLOC(types);
  for (uint32_t i = 0; i < source->input_count; i++) {
    int32_t v = source->inputs[i];
    types[i] = v < 0 || plan->facts[v].absent ? OS_GUARD_ABSENT : plan->facts[v].type;
  }
  os_str message;
  if (os_guard_types(&plan->arena, os_registry_types(plan->program->session->registry), step, types,
                     &message))
    return OS_OK;
  if (trouble != NULL && trouble->message.data == NULL) {
    trouble->status = OS_OPERATOR_FAILED;
    trouble->message =
        os_arena_format(trouble->arena, "%.*s: %.*s", OS_ARG(source->node.op_type), OS_ARG(message));
    trouble->path = os_step_path(trouble->arena, plan->program, step);
  }
  return OS_OPERATOR_FAILED;
}

// inputs: as in os_guard_types; what the kernel has taken is absent by now, and binds no type.
static bool os_guard__outputs(os_guard__check *self, const os_frame *frame, const os_exec *exec,
                              const op_type *inputs) {
  const os_graph_node *source = exec->step->source;
  for (uint32_t i = 0; i < source->input_count; i++)
    if (inputs[i] != OS_GUARD_ABSENT && !os_guard__input(self, i, inputs[i])) return false;
  for (uint32_t o = 0; o < source->output_count; o++) {
    int32_t v = o == 0 ? exec->output : source->outputs[o];
    const op_value *value = v < 0 ? NULL : frame->values[v];
    const op_parameter *formal = os_guard__formal(self->schema->outputs, self->schema->output_count, o);
    if (value == NULL || formal == NULL) continue;
    bool empty = value->kind != OP_TENSOR && value->count == 0;
    if (empty &&
        (formal->constraint < 0 ||
         os_guard__allows_kind(self->types, &self->schema->type_parameters[formal->constraint], value->type)))
      continue;
    if (!os_guard__type(self, formal, "output", o, value->type)) return false;
  }
  return true;
}

os_status os_guard_values(os_run *run, const os_frame *frame, const os_exec *exec, bool outputs) {
  const os_graph_node *source = exec->step->source;
  op_type few[INPUTS_FEW], *types = few;
  os_str message;
  os_guard__check check = {.arena = &run->step_arena,
                           .types = os_registry_types(run->session->registry),
                           .schema = source->node.schema,
                           .message = &message};
  if (exec->step->kind == OS_STEP_CALL || check.schema == NULL) return OS_OK;
  if (source->input_count > INPUTS_FEW)
    types = OS_ARENA_ARRAY(&run->step_arena, source->input_count, op_type);
  OS_TRY_ALLOC(types);
  for (uint32_t i = 0; i < source->input_count; i++) {
    const op_value *value = source->inputs[i] < 0 ? NULL : frame->values[source->inputs[i]];
    types[i] = value == NULL ? OS_GUARD_ABSENT : value->type;
  }
  if (outputs ? os_guard__outputs(&check, frame, exec, types) : os_guard__inputs(&check, exec->step, types)) {
    if (outputs) os_arena_rewind(&run->step_arena); // the step has ended
    return OS_OK;
  }
  return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "%.*s", OS_ARG(message));
}
