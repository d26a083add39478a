#ifndef OPSPEC_PLUGIN_ROWS_H
#define OPSPEC_PLUGIN_ROWS_H

// Implementation of plugin.h: operator.h over structs that the host fills (wasm/src/plugin.js knows their layout; a change
// of it is a new OP_PLUGIN_ABI). Included by it.

#include <opspec/plugin_memory.h>

#define OP_PLUGIN__IMPORT(name) __attribute__((import_module("opspec"), import_name(#name)))

// ---- What crosses the border ------------------------------------------------------------------------------

struct os_value {
  op_tensor tensor;
  op_kind kind;
  op_type type;
  op_value **items; // of a sequence; of an optional none or one
  uint32_t count, room, refs;
  bool lent; // the host's memory
};

struct os_fact {
  op_type type;
  int32_t rank;
  op_dim *dims;
  const op_dim *small;
  uint32_t small_count;
  const op_tensor *value;
  uint32_t present;
};

typedef struct op_plugin__attribute {
  os_str name;
  uint32_t kind, count; // onnx.proto's number
  union {
    int64_t i;
    float f;
    os_str s;
    const void *list;
    op_type type;
  } as;
} op_plugin__attribute;

struct op_node {
  os_str op_type, domain;
  int32_t since;
  uint32_t attribute_count;
  const op_plugin__attribute *attributes;
  const op_row *row;
};

typedef struct op_plugin__answer {
  const char *text;
  size_t length;
} op_plugin__answer;

struct op_infer {
  op_plugin__answer message;
  const op_node *node;
  uint32_t input_count, output_count;
  const op_fact *inputs;
  op_fact *outputs;
};

// One node: `state` and scratch, as long as it lives.
typedef struct op_plugin__instance {
  const op_node *node;
  void *state, *scratch, *packed;
  size_t scratch_bytes, packed_bytes;
} op_plugin__instance;

struct op_create {
  op_plugin__answer message;
  const op_node *node;
};

struct op_run {
  op_plugin__answer message;
  op_plugin__instance *instance;
  uint32_t input_count, output_count;
  op_value **inputs, **outputs; // outputs: what inference knows of; NULL otherwise
  const uint8_t *wanted;
  uint32_t fresh; // shapes are not those of the call before
  uint32_t more;  // out: blocks wait for opspec_plugin_end
};

struct op_plan {
  op_run *run;
  bool failed;
};

typedef struct op_plugin__registration {
  const op_row *row;
  os_str domain, op_type;
  int32_t since;
  uint32_t flags; // OPSPEC_KERNEL...
  os_str document;
  const void *schema; // MLOperatorSchemaDescription, NULL = none
} op_plugin__registration;

OP_PLUGIN__IMPORT(register) int op_plugin__register(op_plugin *registry, const op_plugin__registration *what);
OP_PLUGIN__IMPORT(type_of)
op_type op_plugin__type(int kind, op_type element); // 0 sequence, 1 optional, 2 element of

const uint32_t *OP_PLUGIN__EXPORT(opspec_plugin_abi)(void);
const uint32_t *opspec_plugin_abi(void) {
  static const uint32_t sizes[] = {OP_PLUGIN_ABI,
                                   9,
                                   sizeof(op_tensor),
                                   sizeof(struct os_value),
                                   sizeof(struct os_fact),
                                   sizeof(op_plugin__attribute),
                                   sizeof(struct op_node),
                                   sizeof(struct op_infer),
                                   sizeof(struct op_run),
                                   sizeof(struct op_create),
                                   sizeof(op_plugin__registration)};
  return sizes;
}

// ---- Registering ------------------------------------------------------------------------------------------

static os_str op_plugin__str(const char *text) {
  return text == NULL ? (os_str){"", 0} : (os_str){text, strlen(text)};
}

static os_status op_plugin__add(op_plugin *registry, const op_row *row, const char *document,
                                const void *schema) {
  enum { KERNEL = 1, INFERS = 2, SHAPES = 4 };
  op_plugin__registration what = {.row = row,
                                  .domain = op_plugin__str(row->domain),
                                  .op_type = op_plugin__str(row->op_type),
                                  .since = row->since,
                                  .document = op_plugin__str(document),
                                  .schema = schema};
  if (row->compute != NULL) what.flags |= KERNEL;
  if (row->infer != NULL) what.flags |= INFERS;
  if (row->infer != NULL && (row->traits & OP_DATA_SHAPE) == 0) what.flags |= SHAPES;
  return (os_status)op_plugin__register(registry, &what);
}

os_status op_plugin_add(op_plugin *registry, const op_row *row, const char *document) {
  return op_plugin__add(registry, row, document, NULL);
}

os_status op_plugin_add_family(op_plugin *registry, const op_family *family) {
  for (size_t i = 0; i < family->count; i++) OS_TRY(op_plugin_add(registry, &family->rows[i], NULL));
  return OS_OK;
}

#ifdef OPSPEC_AUTHOR_H
static void *op_plugin__zeroed(void *context, size_t bytes) {
  (void)context;
  void *block = op_plugin__grab(bytes);
  return block == NULL ? NULL : memset(block, 0, bytes);
}
static os_status op_plugin__add_schema(void *context, const MLOperatorSchemaDescription *schema,
                                       const op_row *row) {
  return op_plugin__add(context, row, NULL, schema);
}
static inline os_status op_plugin__roles(op_plugin *plugin,
                                         MLStatus (*author)(MLOperatorRegistry *registry)) {
  MLOperatorRegistrar registrar = {plugin, op_plugin__zeroed, op_plugin__add_schema};
  MLOperatorRegistry *registry = MLCreateRegistry(&registrar);
  OS_TRY_ALLOC(registry);
  MLStatus status = author(registry);
  os_status committed = status == ML_OK ? MLCommitRegistry(registry) : OS_INVALID_ARGUMENT;
  if (*MLGetRegistryMessage(registry) == '\0') return committed;
  op_plugin__registration refused = {.document = op_plugin__str(MLGetRegistryMessage(registry))};
  op_plugin__register(plugin, &refused); // no row: the reason
  return OS_INVALID_ARGUMENT;
}
#endif

// ---- Failing ----------------------------------------------------------------------------------------------

#define OP_PLUGIN__FAIL(ctx)                                                                   \
  va_list arguments;                                                                           \
  va_start(arguments, format);                                                                 \
  (ctx)->message = (op_plugin__answer){op_plugin__text, op_plugin__format(format, arguments)}; \
  va_end(arguments);                                                                           \
  return OS_OPERATOR_FAILED

os_status op_infer_fail(op_infer *ctx, op_fault fault, const char *format, ...) {
  (void)fault;
  OP_PLUGIN__FAIL(ctx);
}
os_status op_create_fail(op_create *ctx, const char *format, ...) { OP_PLUGIN__FAIL(ctx); }
os_status op_run_fail(op_run *ctx, const char *format, ...) { OP_PLUGIN__FAIL(ctx); }

// ---- Elements, values -------------------------------------------------------------------------------------

size_t op_elem_size(op_elem elem) {
  static const uint8_t bits[] = {
      0,
#define OPSPEC_ELEMENT(name, number, onnx, js, size, kind) size,
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
  };
  if ((uint32_t)elem >= OP_ELEM_COUNT || elem == OP_NONE) return 0;
  return elem == OP_STRING ? sizeof(os_str) : (size_t)(bits[elem] + 7) / 8;
}

const char *op_elem_name(op_elem elem) {
  static const char *const names[] = {
      "undefined",
#define OPSPEC_ELEMENT(name, number, onnx, js, bits, kind) onnx,
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
  };
  return (uint32_t)elem < OP_ELEM_COUNT ? names[elem] : names[0];
}

op_kind op_value_kind(const op_value *value) { return value->kind; }
op_type op_value_type(const op_value *value) {
  return value->kind == OP_TENSOR ? op_type_tensor(value->tensor.elem) : value->type;
}
const op_tensor *op_value_tensor(const op_value *value) {
  return value->kind == OP_TENSOR ? &value->tensor : NULL;
}
op_tensor *op_value_edit(op_value *tensor) { return &tensor->tensor; }
op_value *op_value_retain(op_value *value) {
  value->refs++;
  return value;
}
void op_value_release(op_value *value) {
  if (value == NULL || value->lent || --value->refs > 0) return;
  for (uint32_t i = 0; i < value->count; i++) op_value_release(value->items[i]);
  op_plugin__give(value->items);
  op_plugin__give(value);
}
size_t op_sequence_count(const op_value *sequence) { return sequence->count; }
op_value *op_sequence_at(const op_value *sequence, size_t index) {
  return index < sequence->count ? sequence->items[index] : NULL;
}
op_value *op_optional_value(const op_value *optional) {
  return optional->count > 0 ? optional->items[0] : NULL;
}

static op_value *op_plugin__tensor(op_elem elem, int32_t rank, const int64_t *dims) {
  uint64_t bytes = op_elem_size(elem);
  if (rank < 0 || rank > OP_MAX_RANK || bytes == 0) return NULL;
  int64_t count = 1;
  for (int32_t i = 0; i < rank; i++) {
    if (dims[i] < 0 || dims[i] > UINT32_MAX) return NULL;
    count *= dims[i];
    if (count > UINT32_MAX / 16) return NULL;
  }
  bytes *= (uint64_t)count;
  size_t head = (sizeof(op_value) + (size_t)rank * sizeof(int64_t) + 15) & ~(size_t)15;
  char *memory = bytes > SIZE_MAX / 8 ? NULL : op_plugin__take(head + (size_t)bytes);
  if (memory == NULL) return NULL;
  op_value *value = (op_value *)(void *)memory;
  int64_t *own = (int64_t *)(void *)(value + 1);
  for (int32_t i = 0; i < rank; i++) own[i] = dims[i];
  value->kind = OP_TENSOR;
  value->refs = 1;
  value->tensor = (op_tensor){elem, rank, own, count, memory + head};
  return value;
}

static op_value *op_plugin__list(op_kind kind, op_type type) {
  op_value *value = op_plugin__take(sizeof *value);
  if (value == NULL) return NULL;
  value->kind = kind;
  value->type = type;
  value->refs = 1;
  return value;
}

os_status op_sequence_insert(op_value *sequence, size_t index, op_value *element) {
  if (sequence->count == sequence->room) {
    uint32_t room = sequence->room * 2 + 4;
    op_value **items = op_plugin__take(room * sizeof *items);
    if (items == NULL) op_value_release(element);
    OS_TRY_ALLOC(items);
    for (uint32_t i = 0; i < sequence->count; i++) items[i] = sequence->items[i];
    op_plugin__give(sequence->items);
    sequence->items = items;
    sequence->room = room;
  }
  if (index > sequence->count) index = sequence->count;
  for (size_t i = sequence->count++; i > index; i--) sequence->items[i] = sequence->items[i - 1];
  sequence->items[index] = element;
  return OS_OK;
}

void op_sequence_remove(op_value *sequence, size_t index) {
  if (index >= sequence->count) return;
  op_value_release(sequence->items[index]);
  sequence->count--;
  for (size_t i = index; i < sequence->count; i++) sequence->items[i] = sequence->items[i + 1];
}

os_status op_string_set(op_tensor *tensor, int64_t index, os_str text) {
  char *bytes = op_plugin__take(text.len);
  OS_TRY_ALLOC(bytes);
  memcpy(bytes, text.data, text.len);
  ((os_str *)tensor->data)[index] = (os_str){bytes, text.len};
  return OS_OK;
}
// Bytes live until the call has ended, whoever points to them.
os_status op_strings_share(op_tensor *to, const op_tensor *from) {
  (void)to;
  (void)from;
  return OS_OK;
}

// ---- Attributes -------------------------------------------------------------------------------------------

os_str op_node_type(const op_node *node) { return node->op_type; }
int op_node_since(const op_node *node) { return node->since; }
void *op_node_user(const op_node *node) { return node->row->user; }

static const op_plugin__attribute *op_plugin__find(const op_node *node, const char *name, uint32_t kind) {
  size_t length = strlen(name);
  for (uint32_t i = 0; i < node->attribute_count; i++) {
    const op_plugin__attribute *a = &node->attributes[i];
    if ((kind == 0 || a->kind == kind) && a->name.len == length && memcmp(a->name.data, name, length) == 0)
      return a;
  }
  return NULL;
}

static const void *op_plugin__items(const op_node *node, const char *name, uint32_t kind, size_t *count) {
  const op_plugin__attribute *a = op_plugin__find(node, name, kind);
  *count = a == NULL ? 0 : a->count;
  return a == NULL ? NULL : a->as.list;
}

bool op_attr_has(const op_node *node, const char *name) { return op_plugin__find(node, name, 0) != NULL; }
int64_t op_attr_int(const op_node *node, const char *name, int64_t fallback) {
  const op_plugin__attribute *a = op_plugin__find(node, name, 2);
  return a == NULL ? fallback : a->as.i;
}
double op_attr_float(const op_node *node, const char *name, double fallback) {
  const op_plugin__attribute *a = op_plugin__find(node, name, 1);
  return a == NULL ? fallback : (double)a->as.f;
}
os_str op_attr_string(const op_node *node, const char *name, const char *fallback) {
  const op_plugin__attribute *a = op_plugin__find(node, name, 3);
  return a == NULL ? op_plugin__str(fallback) : a->as.s;
}
const float *op_attr_floats(const op_node *node, const char *name, size_t *count) {
  return op_plugin__items(node, name, 6, count);
}
const int64_t *op_attr_ints(const op_node *node, const char *name, size_t *count) {
  return op_plugin__items(node, name, 7, count);
}
const os_str *op_attr_strings(const op_node *node, const char *name, size_t *count) {
  return op_plugin__items(node, name, 8, count);
}
const op_tensor *op_attr_tensor(const op_node *node, const char *name) {
  const op_plugin__attribute *a = op_plugin__find(node, name, 4);
  return a == NULL ? NULL : op_value_tensor(a->as.list);
}
op_type op_attr_type(const op_node *node, const char *name) {
  const op_plugin__attribute *a = op_plugin__find(node, name, 13);
  return a == NULL ? 0 : a->as.type;
}

// ---- Inference --------------------------------------------------------------------------------------------

const op_node *op_infer_node(const op_infer *ctx) { return ctx->node; }
uint32_t op_infer_input_count(const op_infer *ctx) { return ctx->input_count; }
uint32_t op_infer_output_count(const op_infer *ctx) { return ctx->output_count; }
const op_fact *op_infer_input(const op_infer *ctx, uint32_t input) {
  return input < ctx->input_count && ctx->inputs[input].present ? &ctx->inputs[input] : NULL;
}
static op_fact *op_plugin__output(op_infer *ctx, uint32_t output) {
  return output < ctx->output_count && ctx->outputs[output].present ? &ctx->outputs[output] : NULL;
}
bool op_infer_has_input(const op_infer *ctx, uint32_t input) { return op_infer_input(ctx, input) != NULL; }
bool op_infer_has_output(const op_infer *ctx, uint32_t output) {
  return output < ctx->output_count && ctx->outputs[output].present;
}
op_type op_infer_type(const op_infer *ctx, uint32_t input) {
  const op_fact *fact = op_infer_input(ctx, input);
  return fact == NULL ? 0 : fact->type;
}
op_elem op_infer_elem(const op_infer *ctx, uint32_t input) {
  op_type type = op_infer_type(ctx, input);
  return type < OP_ELEM_COUNT ? (op_elem)type : OP_NONE;
}
const op_dim *op_infer_dims(const op_infer *ctx, uint32_t input, int32_t *rank) {
  const op_fact *fact = op_infer_input(ctx, input);
  *rank = fact == NULL ? -1 : fact->rank;
  return *rank < 0 ? NULL : fact->dims;
}
int32_t op_infer_rank(const op_infer *ctx, uint32_t input) {
  int32_t rank;
  op_infer_dims(ctx, input, &rank);
  return rank;
}
op_dim op_infer_dim(const op_infer *ctx, uint32_t input, int32_t axis) {
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, input, &rank);
  return axis >= 0 && axis < rank ? dims[axis] : OP_DIM_UNKNOWN;
}
const op_tensor *op_infer_value(const op_infer *ctx, uint32_t input) {
  const op_fact *fact = op_infer_input(ctx, input);
  return fact == NULL ? NULL : fact->value;
}
const op_dim *op_infer_small(const op_infer *ctx, uint32_t input, size_t *count) {
  const op_fact *fact = op_infer_input(ctx, input);
  *count = fact == NULL ? 0 : fact->small_count;
  return fact == NULL ? NULL : fact->small;
}

void op_infer_set_type(op_infer *ctx, uint32_t output, op_type type) {
  op_fact *fact = op_plugin__output(ctx, output);
  if (fact != NULL) fact->type = type;
}
op_dim *op_infer_set_rank(op_infer *ctx, uint32_t output, int32_t rank) {
  op_fact *fact = op_plugin__output(ctx, output);
  if (rank < 0 || rank > OP_MAX_RANK) return NULL;
  op_dim *dims = op_plugin__take(OP_MAX_RANK * sizeof *dims);
  for (int32_t i = 0; dims != NULL && i < rank; i++) dims[i] = OP_DIM_UNKNOWN;
  if (fact != NULL && dims != NULL) {
    fact->rank = rank;
    fact->dims = dims;
  }
  return dims;
}
void op_infer_set_shape(op_infer *ctx, uint32_t output, int32_t rank, const op_dim *dims) {
  op_dim *to = op_infer_set_rank(ctx, output, rank);
  for (int32_t i = 0; to != NULL && i < rank; i++) to[i] = dims[i];
}
void op_infer_set_fact(op_infer *ctx, uint32_t output, const op_fact *fact) {
  if (fact == NULL) return;
  op_infer_set_type(ctx, output, fact->type);
  if (fact->rank >= 0) op_infer_set_shape(ctx, output, fact->rank, fact->dims);
}
void op_infer_copy(op_infer *ctx, uint32_t output, uint32_t input) {
  op_infer_set_fact(ctx, output, op_infer_input(ctx, input));
}
void op_infer_set_value(op_infer *ctx, uint32_t output, const op_tensor *value) {
  op_infer_set_elem(ctx, output, value->elem);
  op_infer_set_shape(ctx, output, value->rank, value->dims);
}
void op_infer_set_small(op_infer *ctx, uint32_t output, const op_dim *values, size_t count, bool scalar) {
  (void)values;
  op_dim dim = (op_dim)count;
  op_infer_set_shape(ctx, output, scalar ? 0 : 1, &dim);
}
void op_infer_set_element(op_infer *ctx, uint32_t output, const op_fact *element) {
  (void)ctx;
  (void)output;
  (void)element;
}
op_type op_infer_sequence_of(op_infer *ctx, op_type element) {
  (void)ctx;
  return op_plugin__type(0, element);
}
op_type op_infer_optional_of(op_infer *ctx, op_type element) {
  (void)ctx;
  return op_plugin__type(1, element);
}
op_type op_infer_element_of(const op_infer *ctx, op_type type) {
  (void)ctx;
  return op_plugin__type(2, type);
}
op_type op_fact_type(const op_fact *fact) { return fact->type; }
int32_t op_fact_rank(const op_fact *fact) { return fact->rank; }
const op_dim *op_fact_dims(const op_fact *fact) { return fact->dims; }

os_status op_infer_axis(op_infer *ctx, int64_t axis, int32_t rank, const char *what, int32_t *out) {
  *out = (int32_t)axis;
  if (rank < 0) return OS_OK;
  if (axis < -rank || axis >= rank)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s is %lld, of a tensor of rank %d", what, (long long)axis,
                         (int)rank);
  *out = (int32_t)(axis < 0 ? axis + rank : axis);
  return OS_OK;
}
os_status op_infer_merge_dim(op_infer *ctx, op_dim a, op_dim b, const char *what, op_dim *out) {
  *out = op_dim_is_number(a) || b == OP_DIM_UNKNOWN ? a : b;
  if (!op_dim_is_number(a) || !op_dim_is_number(b) || a == b) return OS_OK;
  return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s is %lld and %lld", what, (long long)a, (long long)b);
}

static os_status op_plugin__broadcast(op_infer *ctx, op_dim a, op_dim b, op_dim *out) {
  if (a == b && a != OP_DIM_UNKNOWN)
    *out = a;
  else if (a == 1)
    *out = b;
  else if (b == 1)
    *out = a;
  else if (op_dim_is_number(a) && op_dim_is_number(b))
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "dimensions %lld and %lld do not broadcast", (long long)a,
                         (long long)b);
  else
    *out = op_dim_is_number(a) ? a : op_dim_is_number(b) ? b : OP_DIM_UNKNOWN;
  return OS_OK;
}

os_status op_infer_broadcast(op_infer *ctx, uint32_t first, uint32_t last, op_dim *dims, int32_t *rank) {
  *rank = 0;
  for (uint32_t i = first; i <= last; i++) {
    if (!op_infer_has_input(ctx, i)) continue;
    int32_t own = op_infer_rank(ctx, i);
    if (own < 0) *rank = -1;
    if (*rank < 0) return OS_OK;
    if (own > *rank) *rank = own;
  }
  for (int32_t axis = 0; axis < *rank; axis++) {
    dims[axis] = 1;
    for (uint32_t i = first; i <= last; i++) {
      if (!op_infer_has_input(ctx, i)) continue;
      int32_t at = axis - (*rank - op_infer_rank(ctx, i));
      if (at >= 0) OS_TRY(op_plugin__broadcast(ctx, dims[axis], op_infer_dim(ctx, i, at), &dims[axis]));
    }
  }
  return OS_OK;
}

#define OP_PLUGIN__DIM(name, same, number)                                                  \
  op_dim op_dim_##name(op_infer *ctx, op_dim a, op_dim b) {                                 \
    (void)ctx;                                                                              \
    op_dim out = OP_DIM_UNKNOWN;                                                            \
    if (op_dim_is_number(a) && op_dim_is_number(b)) return (number) ? OP_DIM_UNKNOWN : out; \
    return (same);                                                                          \
  }
OP_PLUGIN__DIM(add, b == 0 ? a : a == 0 ? b : out, __builtin_add_overflow(a, b, &out))
OP_PLUGIN__DIM(sub, b == 0 ? a : a == b && a != out ? 0 : out, __builtin_sub_overflow(a, b, &out))
OP_PLUGIN__DIM(mul, b == 1 ? a : a == 1 ? b : a == 0 || b == 0 ? 0 : out, __builtin_mul_overflow(a, b, &out))
OP_PLUGIN__DIM(floordiv, b == 1 ? a : out,
               b == 0 || (out = a / b - (a % b != 0 && (a < 0) != (b < 0)), false))
OP_PLUGIN__DIM(ceildiv, b == 1 ? a : out, b == 0 || (out = a / b + (a % b != 0 && (a < 0) == (b < 0)), false))
OP_PLUGIN__DIM(min, a == b ? a : out, (out = a < b ? a : b, false))
OP_PLUGIN__DIM(max, a == b ? a : out, (out = a > b ? a : b, false))

// ---- Creating, planning, computing ------------------------------------------------------------------------

const op_node *op_create_node(const op_create *ctx) { return ctx->node; }
op_elem op_create_elem(const op_create *ctx, uint32_t input) {
  (void)ctx;
  (void)input;
  return OP_NONE;
}

const op_node *op_run_node(const op_run *ctx) { return ctx->instance->node; }
void *op_run_state(const op_run *ctx) { return ctx->instance->state; }
void *op_run_scratch(const op_run *ctx) {
  return (void *)(((uintptr_t)ctx->instance->scratch + 63) & ~(uintptr_t)63);
}
const void *op_run_packed(const op_run *ctx) {
  return ctx->instance->packed == NULL ? NULL
                                       : (void *)(((uintptr_t)ctx->instance->packed + 63) & ~(uintptr_t)63);
}
uint32_t op_run_input_count(const op_run *ctx) { return ctx->input_count; }
uint32_t op_run_output_count(const op_run *ctx) { return ctx->output_count; }
bool op_run_has_output(const op_run *ctx, uint32_t output) {
  return output < ctx->output_count && ctx->wanted[output] != 0;
}
op_value *op_run_input_value(const op_run *ctx, uint32_t input) {
  return input < ctx->input_count ? ctx->inputs[input] : NULL;
}
const op_tensor *op_run_input(const op_run *ctx, uint32_t input) {
  const op_value *value = op_run_input_value(ctx, input);
  return value == NULL ? NULL : op_value_tensor(value);
}
void op_run_set_output(op_run *ctx, uint32_t output, op_value *value) {
  if (!op_run_has_output(ctx, output)) {
    op_value_release(value);
    return;
  }
  if (ctx->outputs[output] != value) op_value_release(ctx->outputs[output]);
  ctx->outputs[output] = value;
}
op_tensor *op_run_output(op_run *ctx, uint32_t output) {
  if (!op_run_has_output(ctx, output) || ctx->outputs[output] == NULL) return NULL;
  return &ctx->outputs[output]->tensor;
}
op_tensor *op_run_allocate(op_run *ctx, uint32_t output, op_elem elem, int32_t rank, const int64_t *dims) {
  if (!op_run_has_output(ctx, output)) return NULL;
  op_value *value = op_plugin__tensor(elem, rank, dims);
  if (value == NULL) return NULL;
  op_run_set_output(ctx, output, value);
  return &value->tensor;
}
os_status op_run_view(op_run *ctx, uint32_t output, uint32_t input, int32_t rank, const int64_t *dims) {
  const op_tensor *from = op_run_input(ctx, input);
  if (from == NULL) return op_run_fail(ctx, "input %u is no tensor", (unsigned)input);
  op_value *value = op_plugin__tensor(from->elem, rank, dims);
  OS_TRY_ALLOC(value);
  memcpy(value->tensor.data, from->data, (size_t)from->count * op_elem_size(from->elem));
  op_run_set_output(ctx, output, value);
  return OS_OK;
}
op_value *op_run_take(op_run *ctx, uint32_t input) {
  (void)ctx;
  (void)input;
  return NULL;
}
op_value *op_run_new_tensor(op_run *ctx, op_elem elem, int32_t rank, const int64_t *dims) {
  (void)ctx;
  return op_plugin__tensor(elem, rank, dims);
}
op_value *op_run_new_sequence(op_run *ctx, op_type element) {
  (void)ctx;
  return op_plugin__list(OP_SEQUENCE, op_plugin__type(0, element));
}
op_value *op_run_new_optional(op_run *ctx, op_type element, op_value *value_or_null) {
  (void)ctx;
  op_value *optional = op_plugin__list(OP_OPTIONAL, op_plugin__type(1, element));
  if (optional == NULL || value_or_null == NULL) return optional;
  return op_sequence_insert(optional, 0, value_or_null) == OS_OK ? optional : NULL;
}
uint64_t op_run_random(op_run *ctx) {
  static uint64_t state = 1;
  (void)ctx;
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
void op_parallel_for(op_run *ctx, size_t n, size_t grain,
                     void (*fn)(void *argument, size_t begin, size_t end), void *argument) {
  (void)ctx;
  if (grain == 0) grain = 1;
  for (size_t begin = 0; begin < n; begin += grain)
    fn(argument, begin, n - begin < grain ? n : begin + grain);
}

const op_node *op_plan_node(const op_plan *ctx) { return ctx->run->instance->node; }
void *op_plan_state(op_plan *ctx) { return ctx->run->instance->state; }
const op_tensor *op_plan_input(const op_plan *ctx, uint32_t input) { return op_run_input(ctx->run, input); }
const op_tensor *op_plan_output(const op_plan *ctx, uint32_t output) {
  return op_run_output(ctx->run, output);
}
const op_tensor *op_plan_constant(const op_plan *ctx, uint32_t input) {
  (void)ctx;
  (void)input;
  return NULL;
}
static void *op_plugin__keep(op_plan *ctx, void **block, size_t *room, size_t bytes) {
  if (*block != NULL) op_plugin__drop(*block, *room);
  *room = bytes + 64;
  *block = bytes > SIZE_MAX / 4 ? NULL : op_plugin__grab(*room);
  if (*block == NULL) ctx->failed = true;
  return *block == NULL ? NULL : (void *)(((uintptr_t)*block + 63) & ~(uintptr_t)63);
}
void op_plan_scratch(op_plan *ctx, size_t bytes) {
  op_plugin__keep(ctx, &ctx->run->instance->scratch, &ctx->run->instance->scratch_bytes, bytes);
}
void *op_plan_pack(op_plan *ctx, uint32_t input, size_t bytes) {
  (void)input;
  return op_plugin__keep(ctx, &ctx->run->instance->packed, &ctx->run->instance->packed_bytes, bytes);
}
void op_plan_in_place(op_plan *ctx, uint32_t output, uint32_t input) {
  (void)ctx;
  (void)output;
  (void)input;
}

// ---- What the host calls ----------------------------------------------------------------------------------

int OP_PLUGIN__EXPORT(opspec_plugin_infer)(op_infer *ctx);
int opspec_plugin_infer(op_infer *ctx) { return ctx->node->row->infer(ctx); }

op_plugin__instance *OP_PLUGIN__EXPORT(opspec_plugin_create)(op_create *ctx);
op_plugin__instance *opspec_plugin_create(op_create *ctx) {
  const op_row *row = ctx->node->row;
  size_t head = (sizeof(op_plugin__instance) + 15) & ~(size_t)15;
  char *memory = row->state_size > SIZE_MAX / 4 ? NULL : op_plugin__grab(head + row->state_size);
  if (memory == NULL) {
    op_create_fail(ctx, "the plug-in has no memory left for its state");
    return NULL;
  }
  memset(memory, 0, head + row->state_size);
  op_plugin__instance *self = (op_plugin__instance *)(void *)memory;
  self->node = ctx->node;
  self->state = row->state_size > 0 ? memory + head : NULL;
  if (row->create == NULL || row->create(ctx, self->state) == OS_OK) return self;
  op_plugin__drop(memory, head + row->state_size);
  return NULL;
}

void OP_PLUGIN__EXPORT(opspec_plugin_destroy)(op_plugin__instance *self);
void opspec_plugin_destroy(op_plugin__instance *self) {
  const op_row *row = self->node->row;
  if (row->destroy != NULL) row->destroy(self->state);
  if (self->scratch != NULL) op_plugin__drop(self->scratch, self->scratch_bytes);
  if (self->packed != NULL) op_plugin__drop(self->packed, self->packed_bytes);
  op_plugin__drop(self, ((sizeof *self + 15) & ~(size_t)15) + row->state_size);
}

int OP_PLUGIN__EXPORT(opspec_plugin_compute)(op_run *ctx);
int opspec_plugin_compute(op_run *ctx) {
  const op_row *row = ctx->instance->node->row;
  os_status status = OS_OK;
  if (ctx->fresh && row->plan != NULL) {
    op_plan plan = {.run = ctx};
    status = row->plan(&plan);
    if (plan.failed) status = OS_OUT_OF_MEMORY;
  }
  if (status == OS_OK) status = row->compute(ctx);
  ctx->more = op_plugin__blocks != NULL;
  return status;
}

#endif
