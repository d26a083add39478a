#include "fact.h"
#include "format.h"
#include "op_rules.h"

#include <stdarg.h>

// ---- Faults -----------------------------------------------------------------------------------------------

static os_str os_inferring__format(os_arena *arena, const char *format, va_list arguments) {
  os_str text = os_arena_format_list(arena, format, arguments);
  return text.data == NULL ? OS_STR("") : text;
}

void os_finding_set_node(os_report *report, os_finding *finding, const op_node *node) {
  finding->has_node = true;
  finding->node.index = node->index;
  finding->node.name = os_arena_copy(report->arena, node->name);
  finding->node.op_type = os_arena_copy(report->arena, node->op_type);
  finding->node.domain = os_arena_copy(report->arena, node->domain);
}

static os_finding *os_inferring__fault(os_inferring *self, const op_node *node, const os_rule *rule,
                                       const char *format, va_list arguments) {
  os_str text = os_inferring__format(self->arena, format, arguments);
  if (self->report == NULL) {
    if (self->message.len > 0) return NULL;
    if (node->name.len > 0)
      self->message = os_arena_format(self->arena, "%.*s (node \"%.*s\"): %.*s", OS_ARG(node->op_type),
                                      OS_ARG(node->name), OS_ARG(text));
    else if (self->path.len > 0)
      self->message = os_arena_format(self->arena, "%.*s (%.*s): %.*s", OS_ARG(node->op_type),
                                      OS_ARG(self->path), OS_ARG(text));
    else
      self->message = os_arena_format(self->arena, "%.*s: %.*s", OS_ARG(node->op_type), OS_ARG(text));
    return NULL;
  }
  os_finding *finding = os_report_add(self->report, rule, "%.*s: %.*s", OS_ARG(node->op_type), OS_ARG(text));
  finding->where.path = os_arena_copy(self->report->arena, self->path);
  if (self->range.start != self->range.end) {
    os_where_range(&finding->where, self->range.start, self->range.end);
    finding->where.binary = true;
  }
  os_finding_set_node(self->report, finding, node);
  return finding;
}

os_finding *os_inferring_fault(os_inferring *self, const op_node *node, const os_rule *rule,
                               const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_finding *finding = os_inferring__fault(self, node, rule, format, arguments);
  va_end(arguments);
  return finding;
}

// Bodies may be inferred more than once; what was found in them the first time is not said again.
static bool os_inferring__told(const os_inferring *self, const os_rule *rule, os_str text) {
  enum { LOOK_BACK = 256 };
  size_t count = self->report == NULL || self->path.len == 0 ? 0 : self->report->findings.count;
  for (size_t i = count; i > 0 && count - i < LOOK_BACK; i--) {
    const os_finding *finding = self->report->findings.items[i - 1];
    if (finding->rule != rule || !os_str_eq(finding->where.path, self->path)) continue;
    os_str message = finding->message;
    if (message.len < text.len) continue;
    if (os_str_eq((os_str){message.data + message.len - text.len, text.len}, text)) return true;
  }
  return false;
}

os_status op_infer_fail(op_infer *ctx, op_fault fault, const char *format, ...) {
  static const os_rule *const rules[] = {
      [OP_FAULT_TYPE] = &os_rule_infer_type_operator,
      [OP_FAULT_SHAPE] = &os_rule_infer_shape_operator,
      [OP_FAULT_ATTRIBUTE] = &os_rule_infer_attribute_value,
      [OP_FAULT_VALUE] = &os_rule_infer_input_value,
  };
  ctx->failed = true;
  os_inferring *self = ctx->inferring;
  va_list arguments;
  va_start(arguments, format);
  os_str text = os_inferring__format(self->arena, format, arguments);
  va_end(arguments);
  if (!os_inferring__told(self, rules[fault], text))
    os_inferring_fault(self, ctx->node, rules[fault], "%.*s", OS_ARG(text));
  return OS_OPERATOR_FAILED;
}

os_status os_infer_run(op_infer *ctx, const op_row *row) {
  os_status status = row->infer(ctx);
  if (ctx->trouble != OS_OK) return ctx->trouble;
  if (status == OS_OK || status != OS_OPERATOR_FAILED || !ctx->failed) return status;
  return ctx->inferring->report == NULL ? status : OS_OK;
}

os_str os_fact_print(const os_inferring *self, const op_fact *fact) {
  os_str type = os_types_print(self->types, self->arena, fact->type);
  if (fact->rank < 0) return type;
  os_str shape = os_dims_print_shape(self->dims, self->arena, fact->rank, fact->dims);
  return os_arena_format(self->arena, "%.*s %.*s", OS_ARG(type), OS_ARG(shape));
}

// ---- What is known of inputs ------------------------------------------------------------------------------

const op_node *op_infer_node(const op_infer *ctx) { return ctx->node; }
uint32_t op_infer_input_count(const op_infer *ctx) { return ctx->input_count; }
uint32_t op_infer_output_count(const op_infer *ctx) { return ctx->output_count; }

const op_fact *op_infer_input(const op_infer *ctx, uint32_t input) {
  return input < ctx->input_count ? ctx->inputs[input] : NULL;
}

static op_fact *op_infer__output(const op_infer *ctx, uint32_t output) {
  return output < ctx->output_count ? ctx->outputs[output] : NULL;
}

bool op_infer_has_input(const op_infer *ctx, uint32_t input) { return op_infer_input(ctx, input) != NULL; }
bool op_infer_has_output(const op_infer *ctx, uint32_t output) {
  return op_infer__output(ctx, output) != NULL;
}

op_type op_infer_type(const op_infer *ctx, uint32_t input) {
  const op_fact *fact = op_infer_input(ctx, input);
  return fact == NULL ? 0 : fact->type;
}

op_elem op_infer_elem(const op_infer *ctx, uint32_t input) {
  op_type type = op_infer_type(ctx, input);
  return op_type_is_tensor(type) ? (op_elem)type : OP_NONE;
}

int32_t op_infer_rank(const op_infer *ctx, uint32_t input) {
  const op_fact *fact = op_infer_input(ctx, input);
  return fact == NULL ? -1 : fact->rank;
}

op_dim op_infer_dim(const op_infer *ctx, uint32_t input, int32_t axis) {
  const op_fact *fact = op_infer_input(ctx, input);
  return fact == NULL || axis < 0 || axis >= fact->rank ? OP_DIM_UNKNOWN : fact->dims[axis];
}

const op_dim *op_infer_dims(const op_infer *ctx, uint32_t input, int32_t *rank) {
  static const op_dim none[1] = {0};
  *rank = op_infer_rank(ctx, input);
  if (*rank < 0) return NULL;
  return *rank == 0 ? none : op_infer_input(ctx, input)->dims;
}

const op_tensor *op_infer_value(const op_infer *ctx, uint32_t input) {
  const op_fact *fact = op_infer_input(ctx, input);
  if (fact == NULL || fact->value != NULL) return fact == NULL ? NULL : fact->value;
  if (fact->constant_of == NULL || ctx->inferring->load == NULL) return NULL;
  return ctx->inferring->load(ctx->inferring, fact->constant_of, fact->constant);
}

// Longer tensors do not travel as dims: nothing that becomes a shape is that long.
enum { MOST_SMALL = 1024 };

static op_dim op_infer__number(const op_tensor *tensor, int64_t index) {
  if (tensor->elem == OP_BOOL) return ((const uint8_t *)tensor->data)[index] != 0;
  int64_t number = tensor->elem == OP_INT32 ? ((const int32_t *)tensor->data)[index]
                                            : ((const int64_t *)tensor->data)[index];
  return op_dim_is_number(number) ? number : OP_DIM_UNKNOWN;
}

const op_dim *op_infer_small(const op_infer *ctx, uint32_t input, size_t *count) {
  *count = 0;
  const op_fact *fact = op_infer_input(ctx, input);
  if (fact == NULL) return NULL;
  if (fact->small != NULL) {
    *count = fact->small_count;
    return fact->small;
  }
  const op_tensor *value = fact->value;
  if (value == NULL || value->rank > 1 || value->count > MOST_SMALL) return NULL;
  if (value->elem != OP_INT64 && value->elem != OP_INT32 && value->elem != OP_BOOL) return NULL;
  op_dim *dims = os_arena_alloc(ctx->inferring->arena, (size_t)(value->count + 1) * sizeof *dims);
  if (dims == NULL) return NULL;
  for (int64_t i = 0; i < value->count; i++) dims[i] = op_infer__number(value, i);
  *count = (size_t)value->count;
  return dims;
}

// ---- What becomes known of outputs ------------------------------------------------------------------------

void op_infer_set_type(op_infer *ctx, uint32_t output, op_type type) {
  op_fact *fact = op_infer__output(ctx, output);
  if (fact != NULL) fact->type = type;
}

op_dim *op_infer_set_rank(op_infer *ctx, uint32_t output, int32_t rank) {
  if (rank < 0 || rank > OP_MAX_RANK) {
    ctx->trouble = OS_LIMIT;
    return NULL;
  }
  op_dim *dims = os_arena_alloc(ctx->inferring->arena, (size_t)(rank + 1) * sizeof *dims);
  if (dims == NULL) {
    ctx->trouble = OS_OUT_OF_MEMORY;
    return NULL;
  }
  for (int32_t i = 0; i < rank; i++) dims[i] = OP_DIM_UNKNOWN;
  op_fact *fact = op_infer__output(ctx, output);
  if (fact != NULL) {
    fact->rank = rank;
    fact->dims = dims;
  }
  return dims; // of an output that is left out: filled for nobody
}

void op_infer_set_shape(op_infer *ctx, uint32_t output, int32_t rank, const op_dim *dims) {
  if (rank < 0) return;
  op_dim *to = op_infer_set_rank(ctx, output, rank);
  if (to != NULL && rank > 0) memcpy(to, dims, (size_t)rank * sizeof *to);
}

void op_infer_copy(op_infer *ctx, uint32_t output, uint32_t input) {
  op_fact *to = op_infer__output(ctx, output);
  const op_fact *from = op_infer_input(ctx, input);
  if (to != NULL && from != NULL)
    *to = (op_fact){.type = from->type, .rank = from->rank, .dims = from->dims, .element = from->element};
}

void op_infer_set_small(op_infer *ctx, uint32_t output, const op_dim *values, size_t count, bool scalar) {
  op_fact *fact = op_infer__output(ctx, output);
  if (fact == NULL || count > MOST_SMALL) return;
  op_dim *small = os_arena_alloc(ctx->inferring->arena, (count + 1) * sizeof *small);
  if (small == NULL) {
    ctx->trouble = OS_OUT_OF_MEMORY;
    return;
  }
  if (count > 0) memcpy(small, values, count * sizeof *small);
  fact->small = small;
  fact->small_count = (uint32_t)count;
  fact->small_scalar = scalar;
}

void op_infer_set_value(op_infer *ctx, uint32_t output, const op_tensor *value) {
  op_fact *fact = op_infer__output(ctx, output);
  if (fact == NULL) return;
  fact->type = op_type_tensor(value->elem);
  op_infer_set_shape(ctx, output, value->rank, value->dims);
  if (value->data != NULL || value->count == 0) fact->value = value;
}

void op_infer_set_fact(op_infer *ctx, uint32_t output, const op_fact *fact) {
  op_fact *to = op_infer__output(ctx, output);
  if (to != NULL && fact != NULL) *to = *fact;
}

// ---- Facts as a whole -------------------------------------------------------------------------------------

op_type op_fact_type(const op_fact *fact) { return fact->type; }
int32_t op_fact_rank(const op_fact *fact) { return fact->rank; }
const op_dim *op_fact_dims(const op_fact *fact) { return fact->dims; }
const op_fact *op_fact_element(const op_fact *fact) { return fact->element; }

const op_fact *op_infer_make(op_infer *ctx, op_type type, int32_t rank, const op_dim *dims) {
  op_fact *fact = OS_ARENA_NEW(ctx->inferring->arena, op_fact);
  if (fact == NULL) return NULL;
  *fact = (op_fact){.type = type, .rank = rank < 0 || rank > OP_MAX_RANK ? -1 : rank};
  if (fact->rank <= 0) return fact;
  op_dim *own = os_arena_alloc(ctx->inferring->arena, (size_t)rank * sizeof *own);
  if (own == NULL) return NULL;
  memcpy(own, dims, (size_t)rank * sizeof *own);
  fact->dims = own;
  return fact;
}

void op_infer_set_element(op_infer *ctx, uint32_t output, const op_fact *element) {
  op_fact *fact = op_infer__output(ctx, output);
  if (fact != NULL) fact->element = element;
}

op_type op_infer_sequence_of(op_infer *ctx, op_type element) {
  if (element == 0) return 0;
  return os_types_intern(ctx->inferring->types, (os_type){.kind = OS_TYPE_SEQUENCE, .of = element});
}

op_type op_infer_optional_of(op_infer *ctx, op_type element) {
  if (element == 0) return 0;
  return os_types_intern(ctx->inferring->types, (os_type){.kind = OS_TYPE_OPTIONAL, .of = element});
}

op_type op_infer_map_of(op_infer *ctx, op_elem key, op_type value) {
  if (value == 0) return 0;
  return os_types_intern(ctx->inferring->types, (os_type){.kind = OS_TYPE_MAP, .elem = key, .of = value});
}

op_type op_infer_sparse_of(op_infer *ctx, op_elem elem) {
  return os_types_intern(ctx->inferring->types, (os_type){.kind = OS_TYPE_SPARSE, .elem = elem});
}

op_type op_infer_element_of(const op_infer *ctx, op_type type) {
  os_type of = os_types_get(ctx->inferring->types, type);
  return of.kind == OS_TYPE_SEQUENCE || of.kind == OS_TYPE_OPTIONAL ? of.of : 0;
}

os_status op_infer_body(op_infer *ctx, const op_graph *body, const op_fact *const *inputs, size_t count,
                        const op_fact *const **outputs, size_t *output_count) {
  *outputs = NULL;
  *output_count = 0;
  os_inferring *inferring = ctx->inferring;
  if (inferring->body == NULL) return OS_UNSUPPORTED;
  os_str path = inferring->path;
  os_range range = inferring->range;
  os_status status = inferring->body(inferring, body, inputs, count, outputs, output_count);
  inferring->path = path;
  inferring->range = range;
  ctx->failed |= status == OS_OPERATOR_FAILED;
  return status;
}

// Inner sequences and optionals of types nest; what lies deeper than this is not compared.
enum { DEEPEST_ELEMENT = 4 };

static const op_fact *op_infer__union(op_infer *ctx, const op_fact *a, const op_fact *b, int depth) {
  op_fact *fact = OS_ARENA_NEW(ctx->inferring->arena, op_fact);
  if (fact == NULL) return NULL;
  *fact = (op_fact){.type = a->type != 0 ? a->type : b->type, .rank = a->rank == b->rank ? a->rank : -1};
  if (fact->rank > 0) {
    op_dim *dims = os_arena_alloc(ctx->inferring->arena, (size_t)fact->rank * sizeof *dims);
    if (dims == NULL) return NULL;
    for (int32_t i = 0; i < fact->rank; i++) dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : OP_DIM_UNKNOWN;
    fact->dims = dims;
  }
  if (a->value == b->value) fact->value = a->value;
  if (a->small != NULL && b->small != NULL && a->small_count == b->small_count &&
      a->small_scalar == b->small_scalar &&
      memcmp(a->small, b->small, a->small_count * sizeof *a->small) == 0) {
    fact->small = a->small;
    fact->small_count = a->small_count;
    fact->small_scalar = a->small_scalar;
  }
  if (a->element != NULL && b->element != NULL && depth < DEEPEST_ELEMENT)
    fact->element =
        a->element == b->element ? a->element : op_infer__union(ctx, a->element, b->element, depth + 1);
  return fact;
}

static bool op_infer__optional_of(const op_infer *ctx, op_type optional, op_type inner) {
  os_type type = os_types_get(ctx->inferring->types, optional);
  return type.kind == OS_TYPE_OPTIONAL && type.of == inner;
}

os_status op_infer_union(op_infer *ctx, const op_fact *a, const op_fact *b, const op_fact **out) {
  bool either = a->type != 0 && (op_infer__optional_of(ctx, b->type, a->type) ||
                                 op_infer__optional_of(ctx, a->type, b->type));
  if (a->type != 0 && b->type != 0 && a->type != b->type && !either)
    return op_infer_fail(ctx, OP_FAULT_TYPE, "one way gives %.*s, the other %.*s",
                         OS_ARG(os_types_print(ctx->inferring->types, ctx->inferring->arena, a->type)),
                         OS_ARG(os_types_print(ctx->inferring->types, ctx->inferring->arena, b->type)));
  if (either) { // what a loop carries may begin as an optional and go on as its content
    *out = op_infer_make(ctx, 0, -1, NULL);
    return *out == NULL ? ctx->trouble = OS_OUT_OF_MEMORY : OS_OK;
  }
  *out = op_infer__union(ctx, a, b, 0);
  if (*out == NULL) ctx->trouble = OS_OUT_OF_MEMORY;
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}
