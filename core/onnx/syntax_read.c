#include "form_rest.h"
#include "syntax.h"
#include "syntax_rows.h"
#include "wire_rules.h"

// What is being read where a graph or a function has begun.
typedef enum os_syntax_state {
  AT_NODE,      // a node, or the end of the body
  AT_ATTRIBUTE, // its name
  AT_VALUE,     // one of its values
  BEHIND_VALUE,
} os_syntax_state;

typedef struct os_syntax_frame {
  os_syntax_state state;
  ProtobufCMessage *body;      // a GraphProto or FunctionProto
  ProtobufCMessage *node;      // whose attributes are read; NULL = the function's
  ProtobufCMessage *attribute; // NULL: a name without a value
  int32_t kind;                // of AttributeProto.type as declared; 0 = not
  bool list, inputs;           // [ has been read; so have the node's inputs
} os_syntax_frame;

typedef struct os_syntax_reader {
  os_form_reader form;
  os_lexer lexer;
  struct {
    os_syntax_frame *items;
    size_t count, room;
  } frames;
} os_syntax_reader;

enum { GRAPH = 5, TENSOR = 4, STRING = 3, INT = 2, FLOAT = 1, TYPE = 13 }; // of AttributeProto.type

// ---- Words ------------------------------------------------------------------------------------------------

#define NEXT(self)                                               \
  do {                                                           \
    if (!os_lexer_next(&(self)->lexer)) return OS_OUT_OF_MEMORY; \
  } while (0)

static os_status os_syntax__unexpected(os_syntax_reader *self, const char *wanted) {
  return os_form_unexpected(&self->form, &self->lexer, wanted);
}

// Goes behind the sign, which has to be there.
static os_status os_syntax__match(os_syntax_reader *self, char sign) {
  char wanted[2] = {sign, 0};
  if (self->lexer.sign != sign) return os_syntax__unexpected(self, wanted);
  NEXT(self);
  return OS_OK;
}

// Goes behind the sign if it is there.
static os_status os_syntax__take(os_syntax_reader *self, char sign, bool *there) {
  *there = self->lexer.sign == sign;
  if (*there) NEXT(self);
  return OS_OK;
}

static bool os_syntax__is_name(const os_syntax_reader *self) {
  return self->lexer.token == OS_TOKEN_WORD || self->lexer.token == OS_TOKEN_STRING;
}

static os_status os_syntax__name(os_syntax_reader *self, os_str *out) {
  if (!os_syntax__is_name(self)) return os_syntax__unexpected(self, "a name");
  *out = self->lexer.value;
  NEXT(self);
  return OS_OK;
}

// ---- Putting values into messages -------------------------------------------------------------------------

static const os_plan_field *os_syntax__field(os_syntax_reader *self, ProtobufCMessage *message,
                                             uint32_t number, const os_plan **plan) {
  *plan = os_plans_get(&self->form.plans, message->descriptor);
  return *plan == NULL ? NULL : os_plan_find(*plan, number);
}

static void *os_syntax__slot(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number) {
  const os_plan *plan;
  const os_plan_field *field = os_syntax__field(self, message, number, &plan);
  return field == NULL ? NULL : os_form_slot(&self->form, plan, field, message);
}

static os_status os_syntax__child(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number,
                                  ProtobufCMessage **child) {
  const os_plan *plan;
  const os_plan_field *field = os_syntax__field(self, message, number, &plan);
  *child = field == NULL ? NULL : os_form_child(&self->form, plan, field, message);
  return *child == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_status os_syntax__put_text(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number,
                                     os_str text) {
  ProtobufCBinaryData *slot = os_syntax__slot(self, message, number);
  OS_TRY_ALLOC(slot);
  *slot = os_bytes_of(text);
  return OS_OK;
}

static os_status os_syntax__put_int(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number,
                                    int32_t value) {
  void *slot = os_syntax__slot(self, message, number);
  OS_TRY_ALLOC(slot);
  memcpy(slot, &value, sizeof value);
  return OS_OK;
}

// A name into a field of texts.
static os_status os_syntax__put_name(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number) {
  os_str name;
  OS_TRY(os_syntax__name(self, &name));
  return os_syntax__put_text(self, message, number, name);
}

// The literal at the lexer; then behind it.
static os_status os_syntax__literal(os_syntax_reader *self, os_form_scalar *out) {
  *out = (os_form_scalar){.negative = self->lexer.sign == '-'};
  if (out->negative) NEXT(self);
  switch (self->lexer.token) {
  case OS_TOKEN_NUMBER: out->kind = OS_FORM_NUMBER; break;
  case OS_TOKEN_WORD: out->kind = OS_FORM_WORD; break;
  case OS_TOKEN_STRING: out->kind = OS_FORM_STRING; break;
  default: return os_syntax__unexpected(self, "a value");
  }
  if (out->negative && out->kind == OS_FORM_STRING) return os_syntax__unexpected(self, "a number");
  out->text = self->lexer.value;
  // Integers are decimal here, whatever they begin with.
  while (out->kind == OS_FORM_NUMBER && out->text.len > 1 && out->text.data[0] == '0' &&
         out->text.data[1] >= '0' && out->text.data[1] <= '9')
    out->text = os_str_slice(out->text, 1, out->text.len);
  NEXT(self);
  return OS_OK;
}

static os_status os_syntax__put(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number,
                                const os_form_scalar *scalar, size_t start) {
  const os_plan *plan;
  const os_plan_field *field = os_syntax__field(self, message, number, &plan);
  void *slot = field == NULL ? NULL : os_form_slot(&self->form, plan, field, message);
  OS_TRY_ALLOC(slot);
  const char *wanted = os_form_put(field, scalar, slot);
  if (wanted == NULL) return OS_OK;
  return os_form_fault(&self->form, &os_rule_form_value, NULL, start, self->lexer.start,
                       "%s of %s must be %s", field->field->name, plan->type->short_name, wanted);
}

static os_status os_syntax__put_literal(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number) {
  size_t start = self->lexer.start;
  os_form_scalar scalar;
  OS_TRY(os_syntax__literal(self, &scalar));
  return os_syntax__put(self, message, number, &scalar, start);
}

// [key : value, ...] into a field of entries with two fields.
static os_status os_syntax__pairs(os_syntax_reader *self, ProtobufCMessage *message, uint32_t number) {
  bool more;
  OS_TRY(os_syntax__match(self, '['));
  OS_TRY(os_syntax__take(self, ']', &more));
  for (more = !more; more;) {
    ProtobufCMessage *entry;
    OS_TRY(os_syntax__child(self, message, number, &entry));
    if (self->lexer.token != OS_TOKEN_STRING) return os_syntax__unexpected(self, "a text in quotation marks");
    OS_TRY(os_syntax__put_literal(self, entry, 1));
    OS_TRY(os_syntax__match(self, ':'));
    OS_TRY(os_syntax__put_literal(self, entry, 2));
    OS_TRY(os_syntax__take(self, ',', &more));
    if (!more) OS_TRY(os_syntax__match(self, ']'));
  }
  return OS_OK;
}

// ---- Types ------------------------------------------------------------------------------------------------

static os_status os_syntax__dims(os_syntax_reader *self, ProtobufCMessage *shape) {
  for (bool more = true; more;) {
    ProtobufCMessage *dim;
    bool unknown;
    OS_TRY(os_syntax__child(self, shape, 1, &dim));
    OS_TRY(os_syntax__take(self, '?', &unknown));
    if (!unknown)
      OS_TRY(os_syntax__is_name(self) ? os_syntax__put_name(self, dim, 2)
                                      : os_syntax__put_literal(self, dim, 1));
    OS_TRY(os_syntax__take(self, ',', &more));
  }
  return os_syntax__match(self, ']');
}

// An element type and its shape into a tensor's or sparse tensor's type.
static os_status os_syntax__tensor_type(os_syntax_reader *self, ProtobufCMessage *type) {
  op_elem elem = os_elem_by_onnx_name(self->lexer.value);
  if (self->lexer.token != OS_TOKEN_WORD ||
      (elem == OP_NONE && !os_str_is(self->lexer.value, OS_SYNTAX_UNDEFINED)))
    return os_syntax__unexpected(self, "an element type");
  NEXT(self);
  if (elem != OP_NONE) OS_TRY(os_syntax__put_int(self, type, 1, (int32_t)elem));
  bool bracket, empty = false;
  OS_TRY(os_syntax__take(self, '[', &bracket));
  if (bracket) OS_TRY(os_syntax__take(self, ']', &empty));
  if (empty) return OS_OK; // of any rank
  ProtobufCMessage *shape;
  OS_TRY(os_syntax__child(self, type, 2, &shape));
  return bracket ? os_syntax__dims(self, shape) : OS_OK;
}

static os_status os_syntax__opaque(os_syntax_reader *self, ProtobufCMessage *opaque) {
  os_str first = {"", 0}, second = {"", 0};
  bool comma = false;
  size_t start = self->lexer.start, end = start;
  while (self->lexer.token == OS_TOKEN_WORD) { // names with points between them
    end = self->lexer.end;
    NEXT(self);
    if (self->lexer.sign != '.') break;
    NEXT(self);
  }
  first = os_str_slice(self->lexer.text, start, end);
  OS_TRY(os_syntax__take(self, ',', &comma));
  if (comma && os_syntax__is_name(self)) OS_TRY(os_syntax__name(self, &second));
  if (comma) OS_TRY(os_syntax__put_text(self, opaque, 1, first));
  if (comma || first.len > 0) OS_TRY(os_syntax__put_text(self, opaque, 2, comma ? second : first));
  return OS_OK;
}

// Reads a type into the TypeProto.
static os_status os_syntax__type(os_syntax_reader *self, ProtobufCMessage *type) {
  static const struct {
    const char *word;
    uint8_t field, inner; // of TypeProto; of the message there, what is inside
  } rows[] = {{"seq", 4, 1}, {"map", 5, 2}, {"optional", 9, 1}, {"sparse_tensor", 8, 0}, {"opaque", 7, 0}};
  enum { ROWS = sizeof rows / sizeof *rows, MAP = 1, SPARSE = 3 };
  size_t open = 0;
  for (;;) {
    size_t row = 0;
    ProtobufCMessage *inner;
    if (self->lexer.sign == ')' && open > 0) break; // a type without what is inside
    while (row < ROWS &&
           !(self->lexer.token == OS_TOKEN_WORD && os_str_is(self->lexer.value, rows[row].word)))
      row++;
    if (row == ROWS) {
      OS_TRY(os_syntax__child(self, type, 1, &inner));
      OS_TRY(os_syntax__tensor_type(self, inner));
      break;
    }
    NEXT(self);
    OS_TRY(os_syntax__match(self, '('));
    OS_TRY(os_syntax__child(self, type, rows[row].field, &inner));
    open++;
    if (rows[row].inner == 0) {
      OS_TRY(row == SPARSE ? os_syntax__tensor_type(self, inner) : os_syntax__opaque(self, inner));
      break;
    }
    if (row == MAP) {
      op_elem key = self->lexer.token == OS_TOKEN_WORD ? os_elem_by_onnx_name(self->lexer.value) : OP_NONE;
      if (key != OP_NONE) OS_TRY(os_syntax__put_int(self, inner, 1, (int32_t)key));
      if (!os_syntax__is_name(self)) return os_syntax__unexpected(self, "the type of keys");
      NEXT(self);
      OS_TRY(os_syntax__match(self, ','));
    }
    if (self->lexer.sign == ')') break;
    OS_TRY(os_syntax__child(self, inner, rows[row].inner, &type));
    if (open * 2 >= self->form.input.depth)
      return os_form_too_deep(&self->form, self->lexer.start, self->lexer.end);
  }
  while (open-- > 0) OS_TRY(os_syntax__match(self, ')'));
  return OS_OK;
}

static bool os_syntax__at_type(const os_syntax_reader *self) {
  return self->lexer.token == OS_TOKEN_WORD && os_syntax_is_type(self->lexer.value);
}

// A type that is not yet known to be one of a value or of a tensor's elements.
static os_status os_syntax__loose_type(os_syntax_reader *self, Onnx__TypeProto **out) {
  *out = os_proto_new(self->form.input.arena, &onnx__type_proto__descriptor, NULL);
  OS_TRY_ALLOC(*out);
  return os_syntax__type(self, (ProtobufCMessage *)*out);
}

// ---- Tensors ----------------------------------------------------------------------------------------------

static os_status os_syntax__raw_element(os_syntax_reader *self, os_text *raw, int32_t data_type) {
  size_t start = self->lexer.start, width = os_syntax_raw_width(data_type);
  uint32_t field = os_syntax_data_field(data_type);
  os_form_scalar scalar;
  OS_TRY(os_syntax__literal(self, &scalar));
  const os_plan *plan = os_plans_get(&self->form.plans, &onnx__tensor_proto__descriptor);
  OS_TRY_ALLOC(plan);
  // As an entry of the field that has room for all of them.
  bool floats = field == 4 || field == 10;
  const os_plan_field *as = os_plan_find(plan, floats ? field : scalar.negative ? 7 : 11);
  uint64_t bits = 0;
  const char *wanted = field == 6 ? "no string" : os_form_put(as, &scalar, &bits);
  uint64_t beyond = width < 8 ? bits >> (8 * width) : 0;
  if (beyond != 0 && (!scalar.negative || (int64_t)bits >> (8 * width - 1) != -1))
    wanted = "as wide as its type";
  if (wanted != NULL)
    return os_form_fault(&self->form, &os_rule_form_value, NULL, start, self->lexer.start,
                         "an element must be %s", wanted);
  os_text_put(raw, (os_str){(const char *)&bits, width});
  return OS_OK;
}

// { elements } into the tensor, whose data_type is known.
static os_status os_syntax__elements(os_syntax_reader *self, ProtobufCMessage *tensor, int32_t data_type,
                                     os_text *raw) {
  bool more, is_raw = self->lexer.raw;
  OS_TRY(os_syntax__take(self, '}', &more));
  for (more = !more; more;) {
    OS_TRY(is_raw ? os_syntax__raw_element(self, raw, data_type)
                  : os_syntax__put_literal(self, tensor, os_syntax_data_field(data_type)));
    OS_TRY(os_syntax__take(self, ',', &more));
    if (!more) OS_TRY(os_syntax__match(self, '}'));
  }
  if (!is_raw) return OS_OK;
  os_str kept = os_arena_copy(self->form.input.arena, os_text_str(raw));
  if (raw->failed || kept.len != raw->len) return OS_OUT_OF_MEMORY;
  return os_syntax__put_text(self, tensor, 9, kept);
}

// What is behind the type, the name and =.
static os_status os_syntax__tensor(os_syntax_reader *self, ProtobufCMessage *tensor,
                                   const Onnx__TypeProto *type, size_t start) {
  const Onnx__TypeProto__Tensor *of =
      type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type : NULL;
  if (of == NULL || (of->shape == NULL && of->has_elem_type))
    return os_form_fault(&self->form, &os_rule_form_value, NULL, start, self->lexer.start,
                         "a tensor needs a type with a shape of numbers");
  int32_t data_type = of->has_elem_type ? of->elem_type : 0;
  if (of->has_elem_type) OS_TRY(os_syntax__put_int(self, tensor, 2, data_type));
  for (size_t i = 0; of->shape != NULL && i < of->shape->n_dim; i++) {
    const Onnx__TensorShapeProto__Dimension *dim = of->shape->dim[i];
    int64_t *slot = os_syntax__slot(self, tensor, 1);
    OS_TRY_ALLOC(slot);
    if (dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      return os_form_fault(&self->form, &os_rule_form_value, NULL, start, self->lexer.start,
                           "the dims of a tensor must be numbers");
    *slot = dim->dim_value;
  }
  if (self->lexer.sign == '[') {
    OS_TRY(os_syntax__put_int(self, tensor, 14, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL));
    return os_syntax__pairs(self, tensor, 13);
  }
  OS_TRY(os_syntax__match(self, '{'));
  os_text raw;
  os_text_init(&raw, self->form.input.arena->memory);
  os_status status = os_syntax__elements(self, tensor, data_type, &raw);
  os_text_clear(&raw);
  return status;
}

// ---- Values -----------------------------------------------------------------------------------------------

// A value with or without its type; with `initializers` (a field of the graph) = begins a tensor.
static os_status os_syntax__value_info(os_syntax_reader *self, ProtobufCMessage *owner, uint32_t number,
                                       uint32_t initializers) {
  Onnx__TypeProto *type = NULL;
  size_t start = self->lexer.start;
  os_str name;
  bool equals = false;
  if (os_syntax__at_type(self)) OS_TRY(os_syntax__loose_type(self, &type));
  OS_TRY(os_syntax__name(self, &name));
  if (initializers != 0 && type != NULL) OS_TRY(os_syntax__take(self, '=', &equals));
  ProtobufCMessage *info;
  if (equals) {
    ProtobufCMessage *tensor;
    OS_TRY(os_syntax__child(self, owner, initializers, &tensor));
    OS_TRY(os_syntax__put_text(self, tensor, 8, name));
    OS_TRY(os_syntax__tensor(self, tensor, type, start));
    if (number == 13) return OS_OK; // in the list of initializers it is no input
  }
  OS_TRY(os_syntax__child(self, owner, number, &info));
  OS_TRY(os_syntax__put_text(self, info, 1, name));
  if (type == NULL) return OS_OK;
  void *slot = os_syntax__slot(self, info, 2);
  OS_TRY_ALLOC(slot);
  *(Onnx__TypeProto **)slot = type;
  return OS_OK;
}

// A list of values between two signs.
static os_status os_syntax__value_infos(os_syntax_reader *self, ProtobufCMessage *owner, char close,
                                        uint32_t number, uint32_t initializers) {
  bool more;
  OS_TRY(os_syntax__take(self, close, &more));
  for (more = !more; more;) {
    OS_TRY(os_syntax__value_info(self, owner, number, initializers));
    OS_TRY(os_syntax__take(self, ',', &more));
    if (!more) OS_TRY(os_syntax__match(self, close));
  }
  return OS_OK;
}

// Names with commas between them; one that is left out is empty, and a comma at the end changes nothing.
static os_status os_syntax__ids(os_syntax_reader *self, ProtobufCMessage *owner, uint32_t number) {
  while (os_syntax__is_name(self) || self->lexer.sign == ',') {
    os_str name = {"", 0};
    bool comma;
    if (os_syntax__is_name(self)) OS_TRY(os_syntax__name(self, &name));
    OS_TRY(os_syntax__put_text(self, owner, number, name));
    OS_TRY(os_syntax__take(self, ',', &comma));
    if (!comma) return OS_OK;
  }
  return OS_OK;
}

static os_status os_syntax__arrow(os_syntax_reader *self) {
  OS_TRY(os_syntax__match(self, '='));
  return os_syntax__match(self, '>');
}

// ---- Graphs and functions ---------------------------------------------------------------------------------

static os_status os_syntax__push(os_syntax_reader *self, ProtobufCMessage *body, os_syntax_state state) {
  if (self->frames.count * 3 >= self->form.input.depth)
    return os_form_too_deep(&self->form, self->lexer.start, self->lexer.end);
  os_syntax_frame *frame = OS_PUSH(self->form.input.arena, &self->frames);
  OS_TRY_ALLOC(frame);
  *frame = (os_syntax_frame){.state = state, .body = body};
  return OS_OK;
}

static os_status os_syntax__graph(os_syntax_reader *self, ProtobufCMessage *graph) {
  bool angle;
  OS_TRY(os_syntax__put_name(self, graph, 2));
  OS_TRY(os_syntax__match(self, '('));
  OS_TRY(os_syntax__value_infos(self, graph, ')', 11, 5));
  OS_TRY(os_syntax__arrow(self));
  OS_TRY(os_syntax__match(self, '('));
  OS_TRY(os_syntax__value_infos(self, graph, ')', 12, 0));
  OS_TRY(os_syntax__take(self, '<', &angle));
  if (angle) OS_TRY(os_syntax__value_infos(self, graph, '>', 13, 5));
  OS_TRY(os_syntax__match(self, '{'));
  return os_syntax__push(self, graph, AT_NODE);
}

// Inputs or outputs of a function: names, some with types.
static os_status os_syntax__function_names(os_syntax_reader *self, ProtobufCMessage *function,
                                           uint32_t number) {
  bool more;
  OS_TRY(os_syntax__match(self, '('));
  OS_TRY(os_syntax__take(self, ')', &more));
  for (more = !more; more;) {
    const Onnx__FunctionProto *has = (const void *)function;
    if (os_syntax__at_type(self)) {
      OS_TRY(os_syntax__value_info(self, function, 12, 0));
      OS_TRY(os_syntax__put_text(self, function, number,
                                 os_bytes_str(has->value_info[has->n_value_info - 1]->name)));
    } else {
      OS_TRY(os_syntax__put_name(self, function, number));
    }
    OS_TRY(os_syntax__take(self, ',', &more));
    if (!more) OS_TRY(os_syntax__match(self, ')'));
  }
  return OS_OK;
}

static os_status os_syntax__function_signature(os_syntax_reader *self, ProtobufCMessage *function) {
  bool angle;
  OS_TRY(os_syntax__function_names(self, function, 4));
  OS_TRY(os_syntax__arrow(self));
  OS_TRY(os_syntax__function_names(self, function, 5));
  OS_TRY(os_syntax__take(self, '<', &angle));
  if (angle) OS_TRY(os_syntax__value_infos(self, function, '>', 12, 0));
  return os_syntax__match(self, '{');
}

// <name: value, ...> if it is there.
static os_status os_syntax__header(os_syntax_reader *self, ProtobufCMessage *message) {
  bool more;
  OS_TRY(os_syntax__take(self, '<', &more));
  while (more) {
    const os_plan *plan = os_plans_get(&self->form.plans, message->descriptor);
    OS_TRY_ALLOC(plan);
    const os_plan_field *field =
        self->lexer.token == OS_TOKEN_WORD ? os_form_find(plan, self->lexer.value, false) : NULL;
    bool pairs = field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE;
    uint32_t number = field == NULL ? 0 : field->field->id;
    const ProtobufCMessageDescriptor *entry = pairs ? field->field->descriptor : NULL;
    if (pairs && entry != &onnx__operator_set_id_proto__descriptor &&
        entry != &onnx__string_string_entry_proto__descriptor)
      field = NULL;
    if (field == NULL || field->repeated != pairs)
      return os_syntax__unexpected(self, "a property such as opset_import");
    if (!pairs && os_form_taken(field, message)) return os_syntax__unexpected(self, "another property");
    NEXT(self);
    OS_TRY(os_syntax__match(self, ':'));
    OS_TRY(pairs ? os_syntax__pairs(self, message, number) : os_syntax__put_literal(self, message, number));
    OS_TRY(os_syntax__take(self, ',', &more));
    if (!more) OS_TRY(os_syntax__match(self, '>'));
  }
  return OS_OK;
}

static os_status os_syntax__function(os_syntax_reader *self, ProtobufCMessage *function) {
  bool angle;
  OS_TRY(os_syntax__header(self, function));
  OS_TRY(os_syntax__put_name(self, function, 1));
  OS_TRY(os_syntax__take(self, '<', &angle));
  if (angle) return os_syntax__push(self, function, AT_ATTRIBUTE);
  OS_TRY(os_syntax__function_signature(self, function));
  return os_syntax__push(self, function, AT_NODE);
}

// ---- Nodes and attributes ---------------------------------------------------------------------------------

static os_status os_syntax__operator(os_syntax_reader *self, ProtobufCMessage *node) {
  size_t start = self->lexer.start, end = start, last = start;
  os_str type = {"", 0};
  while (self->lexer.token == OS_TOKEN_WORD) {
    last = end; // of the part before
    type = self->lexer.value;
    end = self->lexer.end;
    NEXT(self);
    if (self->lexer.sign != '.') break;
    NEXT(self);
    if (self->lexer.token != OS_TOKEN_WORD) return os_syntax__unexpected(self, "the name of an operator");
  }
  if (last > start) OS_TRY(os_syntax__put_text(self, node, 7, os_str_slice(self->lexer.text, start, last)));
  if (type.len == 0) return os_syntax__unexpected(self, "the name of an operator");
  return os_syntax__put_text(self, node, 4, type);
}

static os_status os_syntax__inputs(os_syntax_reader *self, ProtobufCMessage *node) {
  OS_TRY(os_syntax__match(self, '('));
  OS_TRY(os_syntax__ids(self, node, 1));
  return os_syntax__match(self, ')');
}

static os_status os_syntax__node(os_syntax_reader *self, os_syntax_frame *frame) {
  bool there;
  ProtobufCMessage *node;
  OS_TRY(os_syntax__child(self, frame->body,
                          frame->body->descriptor == &onnx__graph_proto__descriptor ? 1 : 7, &node));
  OS_TRY(os_syntax__take(self, '[', &there));
  if (there) {
    if (os_syntax__is_name(self)) OS_TRY(os_syntax__put_name(self, node, 3));
    OS_TRY(os_syntax__match(self, ']'));
  }
  OS_TRY(os_syntax__ids(self, node, 2));
  OS_TRY(os_syntax__match(self, '='));
  OS_TRY(os_syntax__operator(self, node));
  OS_TRY(os_syntax__take(self, ':', &there));
  if (there) OS_TRY(os_syntax__put_name(self, node, 8));
  frame->inputs = self->lexer.sign == '(';
  if (frame->inputs) OS_TRY(os_syntax__inputs(self, node));
  OS_TRY(os_syntax__take(self, '<', &there));
  if (!there && !frame->inputs) return os_syntax__unexpected(self, "( or <");
  frame->node = there ? node : NULL;
  if (there) frame->state = AT_ATTRIBUTE;
  return OS_OK;
}

static os_status os_syntax__attribute_kind(os_syntax_reader *self, os_syntax_frame *frame) {
  for (int32_t i = 1; i < OS_SYNTAX_KINDS; i++)
    if (os_str_is(self->lexer.value, os_syntax_kinds[i].name)) frame->kind = i;
  if (self->lexer.token != OS_TOKEN_WORD || frame->kind == 0)
    return os_syntax__unexpected(self, "a type of attributes");
  NEXT(self);
  return os_syntax__put_int(self, frame->attribute, 20, frame->kind);
}

static os_status os_syntax__attribute(os_syntax_reader *self, os_syntax_frame *frame) {
  os_str name;
  bool colon, empty = false;
  ProtobufCMessage *owner = frame->node == NULL ? frame->body : frame->node;
  frame->attribute = NULL;
  frame->kind = 0;
  frame->list = false;
  OS_TRY(os_syntax__name(self, &name));
  if (frame->node == NULL && self->lexer.sign != ':' && self->lexer.sign != '=') {
    frame->state = BEHIND_VALUE;
    return os_syntax__put_text(self, owner, 6, name);
  }
  OS_TRY(os_syntax__child(self, owner, frame->node == NULL ? 11 : 5, &frame->attribute));
  OS_TRY(os_syntax__put_text(self, frame->attribute, 1, name));
  OS_TRY(os_syntax__take(self, ':', &colon));
  if (colon) OS_TRY(os_syntax__attribute_kind(self, frame));
  OS_TRY(os_syntax__match(self, '='));
  OS_TRY(os_syntax__take(self, '[', &frame->list));
  if (frame->list) OS_TRY(os_syntax__take(self, ']', &empty));
  frame->state = empty ? BEHIND_VALUE : AT_VALUE;
  if (!empty) return OS_OK;
  frame->list = false;
  return frame->kind != 0 && os_syntax_kinds[frame->kind].one != 0
             ? OS_OK
             : os_syntax__unexpected(self, "the type of an empty list before it");
}

// Kind of the value at the lexer, when it is no reference.
static int32_t os_syntax__value_kind(const os_syntax_reader *self, int32_t wanted) {
  const os_lexer *lexer = &self->lexer;
  if (wanted == GRAPH && os_syntax__is_name(self)) return GRAPH;
  if (lexer->token == OS_TOKEN_STRING) return STRING;
  if (os_syntax__at_type(self)) return wanted == TYPE ? TYPE : TENSOR;
  os_str word = lexer->value;
  bool special = false, number = lexer->token == OS_TOKEN_NUMBER;
  for (size_t i = 0; lexer->token == OS_TOKEN_WORD && i < 3; i++) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    bool same = strlen(words[i]) == word.len;
    for (size_t j = 0; same && j < word.len; j++) same = (word.data[j] | 0x20) == words[i][j];
    special = special || same;
  }
  if (lexer->token == OS_TOKEN_WORD && !special) return GRAPH;
  for (size_t i = 0; number && i < word.len; i++)
    special = special || word.data[i] == '.' || (word.data[i] | 0x20) == 'e';
  return special || wanted == FLOAT ? FLOAT : INT;
}

// A type, or a tensor that begins with its type.
static os_status os_syntax__typed(os_syntax_reader *self, os_syntax_frame *frame, int32_t *kind) {
  size_t start = self->lexer.start;
  Onnx__TypeProto *type;
  OS_TRY(os_syntax__loose_type(self, &type));
  char sign = self->lexer.sign;
  bool tensor =
      *kind == TENSOR && (frame->kind != 0 || sign == '{' || sign == '=' || os_syntax__is_name(self));
  *kind = tensor ? TENSOR : TYPE;
  uint32_t number = os_syntax_kinds[*kind + (!frame->list ? 0 : tensor ? 5 : 1)].field;
  if (!tensor) {
    void *slot = os_syntax__slot(self, frame->attribute, number);
    OS_TRY_ALLOC(slot);
    *(Onnx__TypeProto **)slot = type;
    return OS_OK;
  }
  ProtobufCMessage *value;
  bool equals;
  OS_TRY(os_syntax__child(self, frame->attribute, number, &value));
  if (os_syntax__is_name(self)) OS_TRY(os_syntax__put_name(self, value, 8));
  OS_TRY(os_syntax__take(self, '=', &equals));
  return os_syntax__tensor(self, value, type, start);
}

static os_status os_syntax__value(os_syntax_reader *self, os_syntax_frame *frame) {
  size_t start = self->lexer.start;
  bool reference;
  frame->state = BEHIND_VALUE;
  OS_TRY(os_syntax__take(self, '@', &reference));
  if (reference)
    return frame->list ? os_syntax__unexpected(self, "a value")
                       : os_syntax__put_name(self, frame->attribute, 21);
  int32_t wanted = frame->list ? os_syntax_kinds[frame->kind].one : frame->kind;
  os_form_scalar scalar = {OS_FORM_NUMBER, false, false, {"", 0}};
  int32_t kind;
  ProtobufCMessage *graph;
  if (self->lexer.sign == '-') { // the sign, then as if it were not there
    OS_TRY(os_syntax__match(self, '-'));
    scalar.negative = true;
  }
  kind = os_syntax__value_kind(self, wanted);
  if (kind == TYPE || kind == TENSOR) OS_TRY(os_syntax__typed(self, frame, &kind));
  int32_t all = kind + (!frame->list ? 0 : kind <= 5 ? 5 : 1);
  const Onnx__AttributeProto *attribute = (const void *)frame->attribute;
  bool fits = frame->kind == 0
                  ? !attribute->has_type || attribute->type == (Onnx__AttributeProto__AttributeType)all
                  : frame->kind == all;
  if (!fits || (scalar.negative && kind != INT && kind != FLOAT))
    return os_form_fault(&self->form, &os_rule_form_value, NULL, start, self->lexer.end,
                         "a value of type %s stands here", os_syntax_kinds[all].name);
  if (!attribute->has_type) OS_TRY(os_syntax__put_int(self, frame->attribute, 20, all));
  if (kind == TYPE || kind == TENSOR) return OS_OK;
  if (kind == GRAPH) {
    OS_TRY(os_syntax__child(self, frame->attribute, os_syntax_kinds[all].field, &graph));
    return os_syntax__graph(self, graph);
  }
  bool negative = scalar.negative;
  OS_TRY(os_syntax__literal(self, &scalar));
  if (negative && scalar.negative) return os_syntax__unexpected(self, "a number");
  scalar.negative = negative;
  return os_syntax__put(self, frame->attribute, os_syntax_kinds[all].field, &scalar, start);
}

static os_status os_syntax__behind_value(os_syntax_reader *self, os_syntax_frame *frame) {
  bool comma;
  OS_TRY(os_syntax__take(self, ',', &comma));
  if (comma) {
    frame->state = frame->list ? AT_VALUE : AT_ATTRIBUTE;
    return OS_OK;
  }
  if (frame->list) {
    frame->list = false;
    return os_syntax__match(self, ']');
  }
  OS_TRY(os_syntax__match(self, '>'));
  frame->state = AT_NODE;
  if (frame->node == NULL) return os_syntax__function_signature(self, frame->body);
  ProtobufCMessage *node = frame->node;
  frame->node = NULL;
  return frame->inputs ? OS_OK : os_syntax__inputs(self, node);
}

static os_status os_syntax__body(os_syntax_reader *self) {
  while (self->frames.count > 0) {
    os_syntax_frame *frame = &self->frames.items[self->frames.count - 1];
    switch (frame->state) {
    case AT_NODE:
      if (self->lexer.sign != '}') {
        OS_TRY(os_syntax__node(self, frame));
        break;
      }
      NEXT(self);
      self->frames.count--;
      break;
    case AT_ATTRIBUTE: OS_TRY(os_syntax__attribute(self, frame)); break;
    case AT_VALUE: OS_TRY(os_syntax__value(self, frame)); break;
    case BEHIND_VALUE: OS_TRY(os_syntax__behind_value(self, frame)); break;
    }
  }
  return OS_OK;
}

static os_status os_syntax__message(os_syntax_reader *self, ProtobufCMessage *message) {
  bool model = message->descriptor == &onnx__model_proto__descriptor;
  ProtobufCMessage *inner = message;
  if (message->descriptor == &onnx__function_proto__descriptor) {
    OS_TRY(os_syntax__function(self, message));
  } else {
    if (model) OS_TRY(os_syntax__header(self, message));
    if (model) OS_TRY(os_syntax__child(self, message, 7, &inner));
    OS_TRY(os_syntax__graph(self, inner));
  }
  OS_TRY(os_syntax__body(self));
  while (model && self->lexer.token != OS_TOKEN_END) {
    OS_TRY(os_syntax__child(self, message, 25, &inner));
    OS_TRY(os_syntax__function(self, inner));
    OS_TRY(os_syntax__body(self));
  }
  return self->lexer.token == OS_TOKEN_END ? OS_OK : os_syntax__unexpected(self, "the end of the text");
}

os_status os_syntax_read(const os_form_input *input, void **message) {
  os_syntax_reader self = {.lexer = {.text = input->text, .arena = input->arena, .onnx = true}};
  if (!os_syntax_has(input->type)) return OS_UNSUPPORTED;
  OS_TRY(os_form_begin(&self.form, input, message));
  NEXT(&self);
  OS_TRY(os_syntax__message(&self, *message));
  return os_form_rest_read(&self.form, *message, self.lexer.note);
}
