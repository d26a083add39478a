#include "host_operator.h"

#include "fact.h"

#include <string.h>

static const os_host_operator *os_host_operator__of(const op_node *node) {
  return (const os_host_operator *)op_node_user(node);
}

// ---- Types by signature -----------------------------------------------------------------------------------

// Parameter that position `index` belongs to; the last one where it is variadic. NULL beyond the signature.
static const op_parameter *os_host_operator__parameter(const op_parameter *list, uint16_t count,
                                                       uint32_t index) {
  if (index < count) return &list[index];
  return count > 0 && list[count - 1].option == OP_VARIADIC ? &list[count - 1] : NULL;
}

static op_type os_host_operator__bound(op_infer *ctx, const op_schema *schema, int constraint) {
  for (uint32_t i = 0; i < op_infer_input_count(ctx); i++) {
    const op_parameter *parameter = os_host_operator__parameter(schema->inputs, schema->input_count, i);
    bool counts = parameter != NULL && parameter->constraint == constraint &&
                  (parameter->option != OP_VARIADIC || parameter->homogeneous);
    if (counts && op_infer_type(ctx, i) != 0) return op_infer_type(ctx, i);
  }
  const op_type_parameter *types = &schema->type_parameters[constraint];
  return types->count == 1 ? types->types[0] : 0;
}

void os_infer_by_signature(op_infer *ctx, const op_schema *schema) {
  for (uint32_t i = 0; i < op_infer_output_count(ctx); i++) {
    const op_parameter *parameter = os_host_operator__parameter(schema->outputs, schema->output_count, i);
    if (parameter == NULL || parameter->constraint < 0 || !op_infer_has_output(ctx, i)) continue;
    op_type type = os_host_operator__bound(ctx, schema, parameter->constraint);
    if (type != 0) op_infer_set_type(ctx, i, type);
  }
}

// ---- The row's functions ----------------------------------------------------------------------------------

static os_status os_host_operator__infer(op_infer *ctx) {
  const os_host_operator *self = os_host_operator__of(op_infer_node(ctx));
  os_infer_by_signature(ctx, self->schema);
  if ((self->flags & OPSPEC_KERNEL_INFERS) == 0 || self->host->infer == NULL) return OS_OK;
  return self->host->infer(self->host->context, self->kernel, ctx);
}

typedef struct os_host_operator__state {
  const os_host_operator *self;
  uint32_t instance;
} os_host_operator__state;

static os_status os_host_operator__create(op_create *ctx, void *memory) {
  os_host_operator__state *state = memory;
  const os_host_operator *self = os_host_operator__of(op_create_node(ctx));
  OS_TRY(self->host->create(self->host->context, self->kernel, ctx, &state->instance));
  state->self = self;
  return OS_OK;
}

static void os_host_operator__destroy(void *memory) {
  os_host_operator__state *state = memory;
  if (state->self != NULL) state->self->host->destroy(state->self->host->context, state->instance);
  state->self = NULL;
}

static os_status os_host_operator__compute(op_run *ctx) {
  const os_host_operator__state *state = op_run_state(ctx);
  return state->self->host->compute(state->self->host->context, state->instance, ctx);
}

// ---- The row ----------------------------------------------------------------------------------------------

static bool os_host_operator__only_tensors(const op_schema *schema) {
  for (uint16_t i = 0; i < schema->type_parameter_count; i++) {
    const op_type_parameter *parameter = &schema->type_parameters[i];
    for (uint16_t j = 0; j < parameter->count; j++) {
      if (parameter->types[j] == 0 || parameter->types[j] >= OP_ELEM_COUNT) return false;
    }
  }
  for (uint16_t i = 0; i < schema->input_count; i++) {
    if (schema->inputs[i].constraint < 0) return false;
  }
  for (uint16_t i = 0; i < schema->output_count; i++) {
    if (schema->outputs[i].constraint < 0) return false;
  }
  return true;
}

static const char *os_host_operator__name(char **names, os_str text) {
  char *start = *names;
  if (text.len > 0) memcpy(start, text.data, text.len);
  start[text.len] = '\0';
  *names += text.len + 1;
  return start;
}

void os_host_operator_init(os_host_operator *self, const op_schema *schema, const opspec_host *host,
                           uint32_t kernel, uint32_t flags, char *names) {
  *self = (os_host_operator){.schema = schema, .host = host, .kernel = kernel, .flags = flags};
  self->row = (op_row){
      .domain = os_host_operator__name(&names, schema->domain),
      .op_type = os_host_operator__name(&names, schema->op_type),
      .since = schema->since,
      .schema = schema,
      .infer = os_host_operator__infer,
      .user = self,
  };
  if ((flags & OPSPEC_KERNEL) == 0) return;
  self->row.traits = (flags & OPSPEC_KERNEL_SHAPES) != 0 ? OP_OPEN_SHAPE : OP_DATA_SHAPE;
  if (!os_host_operator__only_tensors(schema)) self->row.traits |= OP_ANY_VALUE;
  self->row.create = os_host_operator__create;
  self->row.compute = os_host_operator__compute;
  self->row.destroy = os_host_operator__destroy;
  self->row.state_size = sizeof(os_host_operator__state);
}
