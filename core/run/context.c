#include "execute.h"

#include "format.h"
#include "scalar.h"

#include <stdarg.h>

// What operator.h promises to kernels: create, plan and compute contexts.

// ---- create -----------------------------------------------------------------------------------------------

struct op_create {
  os_program *program;
  const os_step *step;
  const op_elem *elems;
  os_trouble *trouble;
};

const op_node *op_create_node(const op_create *ctx) { return &ctx->step->source->node; }

op_elem op_create_elem(const op_create *ctx, uint32_t input) {
  return input < ctx->step->source->input_count ? ctx->elems[input] : OP_NONE;
}

static os_str os_context__format(os_arena *arena, const char *format, va_list arguments) {
  char text[512];
  int len = os_format_list(text, sizeof text, format, arguments);
  if (len < 0) len = 0;
  size_t kept = (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
  return os_arena_copy(arena, (os_str){text, kept});
}

os_status op_create_fail(op_create *ctx, const char *format, ...) {
  if (ctx->trouble == NULL) return OS_OPERATOR_FAILED;
  va_list arguments;
  va_start(arguments, format);
  os_str text = os_context__format(ctx->trouble->arena, format, arguments);
  va_end(arguments);
  ctx->trouble->message = os_step_message(ctx->trouble->arena, ctx->step, text);
  ctx->trouble->status = OS_OPERATOR_FAILED;
  ctx->trouble->path = os_step_path(ctx->trouble->arena, ctx->program, ctx->step);
  return OS_OPERATOR_FAILED;
}

os_status os_step_create(os_program *program, os_step *step, const op_elem *elems, os_trouble *trouble) {
  if (step->created || step->row == NULL) return OS_OK;
  if (step->row->state_size > 0) {
    step->state = os_arena_zalloc(program->session->arena, step->row->state_size);
    OS_TRY_ALLOC(step->state);
  }
  op_create context = {.program = program, .step = step, .elems = elems, .trouble = trouble};
  if (step->row->create != NULL) OS_TRY(step->row->create(&context, step->state));
  step->created = true;
  return OS_OK;
}

// ---- plan -------------------------------------------------------------------------------------------------

struct op_plan {
  os_plan *plan;   // NULL at run time
  os_frame *frame; // NULL when planning ahead
  os_exec *exec;
  os_arena *arena;
  const os_fact *const *out_facts; // at run time
  bool failed;
};

const op_node *op_plan_node(const op_plan *ctx) { return &ctx->exec->step->source->node; }
void *op_plan_state(op_plan *ctx) { return ctx->exec->step->state; }
const op_epilogue *op_plan_epilogue(const op_plan *ctx) { return ctx->exec->epilogue; }

static const op_tensor *op_plan__tensor(const op_plan *ctx, const os_fact *fact) {
  if (fact == NULL || !os_fact_known(fact)) return NULL;
  op_tensor *tensor = OS_ARENA_NEW(ctx->arena, op_tensor);
  size_t bytes;
  if (tensor == NULL) return NULL;
  *tensor = (op_tensor){.elem = (op_elem)fact->type, .rank = fact->rank, .dims = fact->dims};
  return os_tensor_count(tensor->elem, tensor->rank, tensor->dims, &tensor->count, &bytes) ? tensor : NULL;
}

const op_tensor *op_plan_input(const op_plan *ctx, uint32_t input) {
  const os_graph_node *source = ctx->exec->step->source;
  if (input >= source->input_count || source->inputs[input] < 0) return NULL;
  int32_t v = source->inputs[input];
  if (ctx->frame == NULL) return op_plan__tensor(ctx, &ctx->plan->facts[v]);
  return ctx->frame->values[v] == NULL ? NULL : op_value_tensor(ctx->frame->values[v]);
}

const op_tensor *op_plan_output(const op_plan *ctx, uint32_t output) {
  const os_graph_node *source = ctx->exec->step->source;
  if (output >= source->output_count || source->outputs[output] < 0) return NULL;
  if (ctx->frame != NULL) return op_plan__tensor(ctx, ctx->out_facts[output]);
  return op_plan__tensor(ctx, &ctx->plan->facts[source->outputs[output]]);
}

const op_tensor *op_plan_constant(const op_plan *ctx, uint32_t input) {
  const os_graph_node *source = ctx->exec->step->source;
  if (input >= source->input_count || source->inputs[input] < 0) return NULL;
  int32_t v = source->inputs[input];
  os_program *program = ctx->frame != NULL ? ctx->frame->plan->program : ctx->plan->program;
  if (ctx->plan != NULL && ctx->plan->initial[v] != NULL) return op_value_tensor(ctx->plan->initial[v]);
  op_value *value = NULL;
  if (os_program_constant(program, v, &value) != OS_OK || value == NULL) return NULL;
  return op_value_tensor(value);
}

void op_plan_scratch(op_plan *ctx, size_t bytes) { ctx->exec->scratch = bytes; }

void *op_plan_pack(op_plan *ctx, uint32_t input, size_t bytes) {
  char *raw = bytes > SIZE_MAX - 64 ? NULL : os_arena_alloc(ctx->arena, bytes + 64);
  if (raw == NULL) {
    ctx->failed = true;
    return NULL;
  }
  void *packed = (char *)(((uintptr_t)raw + 63) & ~(uintptr_t)63);
  ctx->exec->packed = packed;
  ctx->exec->packed_input = (int32_t)input;
  return packed;
}

void op_plan_in_place(op_plan *ctx, uint32_t output, uint32_t input) {
  if (output < 4 && input < 127) ctx->exec->in_place[output] = (int8_t)input;
}

static os_status op_plan__ask(op_plan *ctx) {
  os_exec *exec = ctx->exec;
  exec->packed = NULL;
  exec->packed_input = OS_ABSENT;
  exec->scratch = 0;
  memset(exec->in_place, -1, sizeof exec->in_place);
  if (exec->step->row == NULL || exec->step->row->plan == NULL) return OS_OK;
  os_status status = exec->step->row->plan(ctx);
  return ctx->failed ? OS_OUT_OF_MEMORY : status;
}

// Whether every output that the node writes has a known shape, or the kernel allocates it.
static bool os_exec__known(const os_plan *plan, const os_exec *exec) {
  const os_graph_node *source = exec->step->source;
  for (uint32_t i = 0; i < source->input_count; i++) {
    int32_t v = source->inputs[i];
    if (v >= 0 && op_type_is_tensor(plan->facts[v].type) && !os_fact_known(&plan->facts[v])) return false;
    if (v >= 0 && plan->facts[v].type == 0) return false;
  }
  bool allocates = (exec->step->row->traits & OP_DATA_SHAPE) != 0;
  for (uint32_t o = 0; o < source->output_count; o++) {
    if (source->outputs[o] < 0) continue;
    // A type at least: none is what remains of a fault, which inference at run time is to name.
    const os_fact *fact = &plan->facts[source->outputs[o]];
    if (allocates ? fact->type == 0 : !os_fact_known(fact)) return false;
  }
  return !allocates || exec->step->row->compute != NULL;
}

os_status os_exec_prepare(os_plan *plan, os_exec *exec, os_trouble *trouble) {
  exec->packed_input = OS_ABSENT;
  memset(exec->in_place, -1, sizeof exec->in_place);
  if (exec->kind != OS_EXEC_COMPUTE) return OS_OK;
  exec->known = os_exec__known(plan, exec);
  if (!exec->known) return OS_OK;
  const os_graph_node *source = exec->step->source;
  op_elem *elems = OS_ARENA_ARRAY(&plan->arena, source->input_count + 1, op_elem);
  OS_TRY_ALLOC(elems);
  for (uint32_t i = 0; i < source->input_count; i++) {
    op_type type = source->inputs[i] < 0 ? 0 : plan->facts[source->inputs[i]].type;
    elems[i] = op_type_is_tensor(type) ? (op_elem)type : OP_NONE;
  }
  OS_TRY(os_step_create(plan->program, exec->step, elems, trouble));
  op_plan context = {.plan = plan, .exec = exec, .arena = &plan->arena};
  OS_TRY(op_plan__ask(&context));
  if (exec->scratch > plan->scratch) plan->scratch = exec->scratch;
  exec->planned = true;
  return OS_OK;
}

os_status os_exec_plan_now(os_run *run, os_frame *frame, os_exec *exec, const os_fact *const *out_facts) {
  op_plan context = {.frame = frame, .exec = exec, .arena = &run->step_arena, .out_facts = out_facts};
  return op_plan__ask(&context);
}

// ---- compute ----------------------------------------------------------------------------------------------

static int32_t op_run__output_value(const op_run *ctx, uint32_t output) {
  const os_graph_node *source = ctx->exec->step->source;
  if (output >= source->output_count) return OS_ABSENT;
  return output == 0 ? ctx->exec->output : source->outputs[output];
}

const op_node *op_run_node(const op_run *ctx) { return &ctx->exec->step->source->node; }
void *op_run_state(const op_run *ctx) { return ctx->exec->step->state; }
void *op_run_scratch(const op_run *ctx) { return ctx->scratch; }
const void *op_run_packed(const op_run *ctx) { return ctx->packed; }
uint32_t op_run_input_count(const op_run *ctx) { return ctx->exec->step->source->input_count; }
uint32_t op_run_output_count(const op_run *ctx) { return ctx->exec->step->source->output_count; }
bool op_run_has_output(const op_run *ctx, uint32_t output) { return op_run__output_value(ctx, output) >= 0; }

op_value *op_run_input_value(const op_run *ctx, uint32_t input) {
  const os_graph_node *source = ctx->exec->step->source;
  if (input >= source->input_count || source->inputs[input] < 0) return NULL;
  return ctx->frame->values[source->inputs[input]];
}

const op_tensor *op_run_input(const op_run *ctx, uint32_t input) {
  const op_value *value = op_run_input_value(ctx, input);
  return value == NULL ? NULL : op_value_tensor(value);
}

op_tensor *op_run_output(op_run *ctx, uint32_t output) {
  int32_t v = op_run__output_value(ctx, output);
  if (v < 0) return NULL;
  op_value *value = ctx->frame->values[v];
  if (value != NULL) return &value->tensor;
  const os_fact *fact = ctx->out_facts == NULL ? &ctx->frame->plan->facts[v] : ctx->out_facts[output];
  if (fact == NULL || !os_fact_known(fact)) return NULL;
  return op_run_allocate(ctx, output, (op_elem)fact->type, fact->rank, fact->dims);
}

// Folding wants no large values, so that is none there.
static void op_run__no_room(op_run *ctx, uint32_t output, op_elem elem, int32_t rank, const int64_t *dims) {
  char text[OP_MAX_RANK * 22 + 1];
  size_t len = 0;
  ctx->failed = true;
  if (ctx->run->fold_limit > 0) return;
  text[0] = '\0';
  for (int32_t i = 0; i < rank && len + 22 < sizeof text; i++) {
    int more = os_format(text + len, sizeof text - len, i == 0 ? "%lld" : ", %lld", (long long)dims[i]);
    len += more > 0 ? (size_t)more : 0;
  }
  const os_elem_info *info = os_elem_info_of(elem);
  os_run_trouble_at(ctx->run, ctx->frame, ctx->exec, OS_OUT_OF_MEMORY,
                    "there is no memory for output %u, tensor(%s) [%s]", output,
                    info == NULL ? "?" : info->onnx, text);
}

op_tensor *op_run_allocate(op_run *ctx, uint32_t output, op_elem elem, int32_t rank, const int64_t *dims) {
  int32_t v = op_run__output_value(ctx, output);
  if (v < 0) return NULL;
  op_value *value = os_exec_tensor(ctx->run, elem, rank, dims);
  if (value == NULL) {
    op_run__no_room(ctx, output, elem, rank, dims);
    return NULL;
  }
  os_frame_set(ctx->frame, v, value);
  return &value->tensor;
}

bool os_run_starved(const op_run *ctx) { return ctx->failed; }

void op_run_set_output(op_run *ctx, uint32_t output, op_value *value) {
  int32_t v = op_run__output_value(ctx, output);
  if (v < 0)
    op_value_release(value);
  else
    os_frame_set(ctx->frame, v, value);
}

os_status op_run_view(op_run *ctx, uint32_t output, uint32_t input, int32_t rank, const int64_t *dims) {
  op_value *of = op_run_input_value(ctx, input);
  if (of == NULL || of->kind != OP_TENSOR) return op_run_fail(ctx, "input %u is no tensor", input);
  op_value *view = os_value_view(of, rank, dims);
  if (view == NULL) return OS_OUT_OF_MEMORY;
  op_run_set_output(ctx, output, view);
  return OS_OK;
}

op_value *op_run_take(op_run *ctx, uint32_t input) {
  op_value *value = op_run_input_value(ctx, input);
  const os_graph_node *source = ctx->exec->step->source;
  if (value == NULL || value->refs != 1 || value->borrowed || value->owner != NULL) return NULL;
  int32_t v = source->inputs[input];
  for (uint32_t i = 0; i < ctx->exec->release_count; i++) {
    if (ctx->exec->release[i] != v) continue;
    ctx->frame->values[v] = NULL;
    return value;
  }
  return NULL;
}

op_value *op_run_new_tensor(op_run *ctx, op_elem elem, int32_t rank, const int64_t *dims) {
  return os_value_tensor(ctx->run->session->memory, elem, rank, dims);
}

op_value *op_run_new_sequence(op_run *ctx, op_type element) {
  op_type type = os_types_intern(os_registry_types(ctx->run->session->registry),
                                 (os_type){.kind = OS_TYPE_SEQUENCE, .of = element});
  return os_value_sequence(ctx->run->session->memory, type, 0);
}

op_value *op_run_new_optional(op_run *ctx, op_type element, op_value *value_or_null) {
  op_type type = os_types_intern(os_registry_types(ctx->run->session->registry),
                                 (os_type){.kind = OS_TYPE_OPTIONAL, .of = element});
  return os_value_optional(ctx->run->session->memory, type, value_or_null);
}

static int os_run__compare_keys(const op_tensor *keys, int64_t a, int64_t b) {
  if (keys->elem == OP_STRING)
    return os_str_cmp(((const os_str *)keys->data)[a], ((const os_str *)keys->data)[b]);
  int64_t x = os_scalar_int(keys->elem, keys->data, a), y = os_scalar_int(keys->elem, keys->data, b);
  if (keys->elem == OP_UINT64) return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
  return (x > y) - (x < y);
}

static const char *os_run__keys_fault(const op_tensor *keys) {
  if (keys->rank != 1 || !os_elem_is_key((int)keys->elem))
    return "keys of a map must be a list of integers or strings";
  for (int64_t i = 1; i < keys->count; i++)
    if (os_run__compare_keys(keys, i - 1, i) >= 0) return "keys of a map must ascend, each once";
  return NULL;
}

op_value *op_run_new_map(op_run *ctx, op_type value, op_value *keys, op_value *const *values) {
  const op_tensor *tensor = &keys->tensor;
  const char *fault = keys->kind == OP_TENSOR ? os_run__keys_fault(tensor) : "keys of a map must be a tensor";
  if (fault != NULL) {
    size_t count = keys->kind == OP_TENSOR ? (size_t)tensor->count : 0;
    for (size_t i = 0; i < count; i++) op_value_release(values[i]);
    op_value_release(keys);
    op_run_fail(ctx, "%s", fault);
    return NULL;
  }
  op_type type = os_types_intern(os_registry_types(ctx->run->session->registry),
                                 (os_type){.kind = OS_TYPE_MAP, .elem = tensor->elem, .of = value});
  return os_value_map(ctx->run->session->memory, type, keys, values, (size_t)tensor->count);
}

op_value *op_run_new_sparse(op_run *ctx, int32_t rank, const int64_t *dims, op_value *values,
                            op_value *indices) {
  op_type type = os_types_intern(os_registry_types(ctx->run->session->registry),
                                 (os_type){.kind = OS_TYPE_SPARSE, .elem = values->tensor.elem});
  return os_value_sparse(ctx->run->session->memory, type, values, indices, rank, dims);
}

// SplitMix64: a counter through a mixing function, so that equal seeds give equal runs.
uint64_t op_run_random(op_run *ctx) {
  uint64_t z = (ctx->run->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

os_status op_run_fail(op_run *ctx, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_str message = os_context__format(&ctx->run->arena, format, arguments);
  va_end(arguments);
  return os_run_trouble_at(ctx->run, ctx->frame, ctx->exec, OS_OPERATOR_FAILED, "%.*s", OS_ARG(message));
}

const op_epilogue *op_run_epilogue(const op_run *ctx) {
  static const op_epilogue none = {0};
  return ctx->epilogue == NULL ? &none : ctx->epilogue;
}

void op_parallel_for(op_run *ctx, size_t n, size_t grain,
                     void (*fn)(void *argument, size_t begin, size_t end), void *argument) {
  (void)ctx;
  if (grain == 0) grain = 1;
  for (size_t begin = 0; begin < n; begin += grain)
    fn(argument, begin, n - begin < grain ? n : begin + grain);
}
