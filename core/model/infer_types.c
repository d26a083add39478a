#include "infer_types.h"

#include "model_rules.h"
#include "op_rules.h"

static bool os_types__allow(const op_type_parameter *parameter, op_type type) {
  for (uint16_t i = 0; i < parameter->count; i++)
    if (parameter->types[i] == type) return true;
  return parameter->count == 0; // nothing said: anything goes
}

static os_str os_types__list(const op_infer *ctx, const op_type_parameter *parameter) {
  os_arena *arena = ctx->inferring->arena;
  os_str list = OS_STR("");
  for (uint16_t i = 0; i < parameter->count && i < 8; i++)
    list = os_arena_format(arena, "%.*s%s%.*s", OS_ARG(list), i == 0 ? "" : ", ",
                           OS_ARG(os_types_print(ctx->inferring->types, arena, parameter->types[i])));
  return parameter->count > 8 ? os_arena_format(arena, "%.*s, ...", OS_ARG(list)) : list;
}

static void os_types__not_allowed(op_infer *ctx, const op_parameter *formal,
                                  const op_type_parameter *parameter, op_type type, const char *what) {
  os_inferring *self = ctx->inferring;
  os_str name = os_types_print(self->types, self->arena, type), list = os_types__list(ctx, parameter);
  os_finding *finding = os_inferring_fault(self, ctx->node, &os_rule_model_node_type,
                                           "the %s \"%.*s\" is %.*s, which version %d does not allow", what,
                                           OS_ARG(formal->name), OS_ARG(name), ctx->node->schema->since);
  ctx->failed = true;
  if (finding == NULL) return;
  finding->expected = os_arena_copy(self->report->arena, list);
  finding->actual = os_arena_copy(self->report->arena, name);
}

static void os_types__not_equal(op_infer *ctx, const op_parameter *formal, const op_type_parameter *parameter,
                                op_type bound, op_type type, const char *what) {
  os_inferring *self = ctx->inferring;
  os_str first = os_types_print(self->types, self->arena, bound),
         second = os_types_print(self->types, self->arena, type);
  os_finding *finding = os_inferring_fault(
      self, ctx->node, &os_rule_infer_type_binding, "the %s \"%.*s\" is %.*s, but %.*s is already %.*s", what,
      OS_ARG(formal->name), OS_ARG(second), OS_ARG(parameter->label), OS_ARG(first));
  ctx->failed = true;
  if (finding == NULL) return;
  finding->expected = os_arena_copy(self->report->arena, first);
  finding->actual = os_arena_copy(self->report->arena, second);
}

static const op_type_parameter *os_types__parameter(const op_schema *schema, const op_parameter *formal) {
  if (formal == NULL || formal->constraint < 0 || formal->constraint >= schema->type_parameter_count)
    return NULL;
  return &schema->type_parameters[formal->constraint];
}

static void os_types__check(op_infer *ctx, os_types_bound *bound, const op_parameter *formal, op_type type,
                            const char *what) {
  const op_type_parameter *parameter = os_types__parameter(ctx->node->schema, formal);
  if (parameter == NULL || type == 0) return;
  if (!os_types__allow(parameter, type)) {
    os_types__not_allowed(ctx, formal, parameter, type, what);
    return;
  }
  bool binds = (formal->option != OP_VARIADIC || formal->homogeneous) && formal->constraint < OS_TYPES_BOUND;
  if (!binds) return;
  op_type *slot = &bound->types[formal->constraint];
  if (*slot == 0)
    *slot = type;
  else if (*slot != type)
    os_types__not_equal(ctx, formal, parameter, *slot, type, what);
}

void os_types_check_inputs(op_infer *ctx, os_types_bound *bound) {
  const op_schema *schema = ctx->node->schema;
  for (uint32_t i = 0; i < ctx->input_count; i++)
    if (ctx->inputs[i] != NULL)
      os_types__check(ctx, bound, op_schema_parameter(schema->inputs, schema->input_count, i),
                      ctx->inputs[i]->type, "input");
}

void os_types_check_outputs(op_infer *ctx, os_types_bound *bound) {
  const op_schema *schema = ctx->node->schema;
  for (uint32_t i = 0; i < ctx->output_count; i++) {
    op_fact *fact = ctx->outputs[i];
    const op_parameter *formal = op_schema_parameter(schema->outputs, schema->output_count, i);
    const op_type_parameter *parameter = os_types__parameter(schema, formal);
    if (fact == NULL || parameter == NULL) continue;
    bool mixed = formal->option == OP_VARIADIC && !formal->homogeneous;
    if (fact->type == 0 && !mixed && formal->constraint < OS_TYPES_BOUND)
      fact->type = bound->types[formal->constraint];
    if (fact->type == 0 && parameter->count == 1) fact->type = parameter->types[0];
    if (!ctx->failed) os_types__check(ctx, bound, formal, fact->type, "output");
  }
}
