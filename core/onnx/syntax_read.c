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

// The text of an element of a list and what came of it. Where the same text stands next, the same comes of it.
typedef struct os_syntax_seen {
  size_t start, end;
  size_t after;     // behind the word that follows and one character more, which say that it ends there
  void *one, *more; // messages; `one` NULL = nothing was seen
} os_syntax_seen;

typedef struct os_syntax_frame {
  os_syntax_state state;
  void *body;        // a GraphProto or FunctionProto
  void *node;        // whose attributes are read; NULL = the function's
  void *attribute;   // NULL: a name without a value
  int32_t kind;      // of AttributeProto.type as declared; 0 = not
  bool list, inputs; // [ has been read; so have the node's inputs
  size_t start;      // of the attribute
  os_syntax_seen seen_node, seen_attribute;
} os_syntax_frame;

typedef struct os_syntax_reader {
  os_form_reader form;
  struct {
    os_syntax_frame *items;
    size_t count, room;
  } frames;
} os_syntax_reader;

// ---- Words ------------------------------------------------------------------------------------------------

static bool os_syntax__is_name(const os_form_reader *self) {
  return self->lexer.token == OS_TOKEN_WORD || self->lexer.token == OS_TOKEN_STRING;
}

static os_str os_syntax__name(os_form_reader *self) {
  os_str name = self->lexer.value;
  if (!os_syntax__is_name(self)) os_form_unexpected(self, "a name");
  os_form_next(self);
  return name;
}

// Behind an element of a list that ends with the sign: another follows. Without a comma the end has to be there.
static bool os_syntax__more(os_form_reader *self, char close) {
  if (os_form_take(self, ',')) return true;
  os_form_match(self, close);
  return false;
}

// Behind an element that began at `start`.
static os_syntax_seen os_syntax__see(const os_form_reader *self, size_t start, void *one, void *more) {
  const os_lexer *lexer = &self->lexer;
  bool good = self->input.shared && self->status == OS_OK && lexer->end < lexer->text.len;
  return (os_syntax_seen){start, lexer->before, lexer->end + 1, good ? one : NULL, more};
}

// ---- Putting values into messages -------------------------------------------------------------------------

static void *os_syntax__slot(os_form_reader *self, void *message, uint32_t number) {
  return os_form_slot(self, os_plan_find(os_form_plan(self, message), number), message);
}

static void *os_syntax__child(os_form_reader *self, void *message, uint32_t number) {
  return os_form_child(self, os_plan_find(os_form_plan(self, message), number), message);
}

// Whether the element at the lexer is the one seen, which stands directly before it. Puts it into the field of `owner` once more,
// and as often as those behind it are the same; goes behind them.
static bool os_syntax__again(os_form_reader *self, os_syntax_seen *seen, void *owner, uint32_t number) {
  os_str text = self->lexer.text;
  size_t at = self->lexer.start, size = seen->after - seen->start, step = at - seen->start;
  if (seen->one == NULL || size > text.len - at ||
      !os_bytes_eq(text.data + at, text.data + seen->start, size))
    return false;
  size_t count = 1;
  for (size_t left = text.len - at; step <= left && size <= left - step; left -= step, count++) {
    const char *last =
        text.data + text.len - left; // what lies between it and the one before it follows it, too
    if (!os_bytes_eq(last - step, last, step) || !os_bytes_eq(last, last + step, size)) break;
  }
  seen->end += count * step;
  seen->after += count * step;
  seen->start += count * step;
  self->lexer.end = seen->end;
  os_form_next(self);
  void **slots = os_form_slots(self, os_plan_find(os_form_plan(self, owner), number), owner, count);
  for (size_t i = 0; slots != NULL && i < count; i++) slots[i] = seen->one;
  return true;
}

static void os_syntax__put_text(os_form_reader *self, void *message, uint32_t number, os_str text) {
  *(ProtobufCBinaryData *)os_syntax__slot(self, message, number) = os_bytes_of(text);
}

static void os_syntax__put_int(os_form_reader *self, void *message, uint32_t number, int32_t value) {
  *(int32_t *)os_syntax__slot(self, message, number) = value;
}

static void os_syntax__put_name(os_form_reader *self, void *message, uint32_t number) {
  os_syntax__put_text(self, message, number, os_syntax__name(self));
}

static os_form_scalar os_syntax__literal(os_form_reader *self) {
  os_form_scalar out = os_form_literal(self, false);
  // Integers are decimal here, whatever they begin with.
  while (out.kind == OS_FORM_NUMBER && out.text.len > 1 && out.text.data[0] == '0' &&
         out.text.data[1] >= '0' && out.text.data[1] <= '9')
    out.text = os_str_slice(out.text, 1, out.text.len);
  return out;
}

static void os_syntax__put(os_form_reader *self, void *message, uint32_t number, const os_form_scalar *scalar,
                           size_t start) {
  if (self->status != OS_OK) return;
  const os_plan *plan = os_form_plan(self, message);
  const os_plan_field *field = os_plan_find(plan, number);
  const char *wanted = os_form_put(field, scalar, os_form_slot(self, field, message));
  if (wanted != NULL)
    os_form_fault(self, &os_rule_form_value, NULL, start, self->lexer.start, "%s of %s must be %s",
                  field->field->name, plan->type->short_name, wanted);
}

static void os_syntax__put_literal(os_form_reader *self, void *message, uint32_t number) {
  size_t start = self->lexer.start;
  os_form_scalar scalar = os_syntax__literal(self);
  os_syntax__put(self, message, number, &scalar, start);
}

// [key : value, ...] into a field of entries with two fields.
static void os_syntax__pairs(os_form_reader *self, void *message, uint32_t number) {
  os_form_match(self, '[');
  if (os_form_take(self, ']')) return;
  os_syntax_seen seen = {.one = NULL};
  do {
    size_t start = self->lexer.start;
    if (os_syntax__again(self, &seen, message, number)) continue;
    void *entry = os_syntax__child(self, message, number);
    if (self->lexer.token != OS_TOKEN_STRING) os_form_unexpected(self, "a text in quotation marks");
    os_syntax__put_literal(self, entry, 1);
    os_form_match(self, ':');
    os_syntax__put_literal(self, entry, 2);
    seen = os_syntax__see(self, start, entry, NULL);
  } while (os_syntax__more(self, ']'));
}

// ---- Types ------------------------------------------------------------------------------------------------

static op_elem os_syntax__elem(const os_form_reader *self) {
  return self->lexer.token == OS_TOKEN_WORD ? os_elem_by_onnx_name(self->lexer.value) : OP_NONE;
}

// An element type into field 1; one that the syntax has no word for is left out.
static void os_syntax__put_elem(os_form_reader *self, void *type) {
  op_elem elem = os_syntax__elem(self);
  if (elem != OP_NONE)
    os_syntax__put_int(self, type, 1, (int32_t)elem);
  else if (self->lexer.token != OS_TOKEN_WORD || !os_str_is(self->lexer.value, OS_SYNTAX_UNDEFINED))
    os_form_unexpected(self, "an element type");
  os_form_next(self);
}

// An element type and its shape into a tensor's or sparse tensor's type.
static void os_syntax__tensor_type(os_form_reader *self, void *type) {
  os_syntax__put_elem(self, type);
  bool bracket = os_form_take(self, '[');
  if (bracket && os_form_take(self, ']')) return; // of any rank
  void *shape = os_syntax__child(self, type, 2);
  if (!bracket) return;
  os_syntax_seen seen = {.one = NULL};
  do {
    size_t start = self->lexer.start;
    if (os_syntax__again(self, &seen, shape, 1)) continue;
    void *dim = os_syntax__child(self, shape, 1);
    if (os_syntax__is_name(self))
      os_syntax__put_name(self, dim, 2);
    else if (!os_form_take(self, '?'))
      os_syntax__put_literal(self, dim, 1);
    seen = os_syntax__see(self, start, dim, NULL);
  } while (os_syntax__more(self, ']'));
}

static void os_syntax__opaque(os_form_reader *self, void *opaque) {
  size_t start = self->lexer.start, end = start;
  os_str text = self->lexer.text;
  while (self->lexer.token == OS_TOKEN_WORD) { // names with points between them
    end = self->lexer.end;
    os_form_next(self);
    if (!os_form_take(self, '.')) break;
  }
  os_str first = os_str_slice(text, start, end), second = {"", 0};
  bool comma = os_form_take(self, ',');
  if (comma && os_syntax__is_name(self)) second = os_syntax__name(self);
  if (comma) os_syntax__put_text(self, opaque, 1, first);
  if (comma || first.len > 0) os_syntax__put_text(self, opaque, 2, comma ? second : first);
}

// Reads a type into the TypeProto.
static void os_syntax__type(os_form_reader *self, void *type) {
  static const struct {
    const char *word;
    uint8_t field, inner; // of TypeProto; of the message there, what is inside
  } rows[] = {{"seq", 4, 1}, {"map", 5, 2}, {"optional", 9, 1}, {"sparse_tensor", 8, 0}, {"opaque", 7, 0}};
  enum { ROWS = sizeof rows / sizeof *rows, MAP = 1, SPARSE = 3 };
  size_t open = 0;
  while (open == 0 || self->lexer.sign != ')') { // else a type without what is inside
    size_t row = 0;
    while (row < ROWS &&
           !(self->lexer.token == OS_TOKEN_WORD && os_str_is(self->lexer.value, rows[row].word)))
      row++;
    if (row == ROWS) {
      os_syntax__tensor_type(self, os_syntax__child(self, type, 1));
      break;
    }
    os_form_next(self);
    os_form_match(self, '(');
    void *inner = os_syntax__child(self, type, rows[row].field);
    open++;
    if (rows[row].inner == 0) {
      (row == SPARSE ? os_syntax__tensor_type : os_syntax__opaque)(self, inner);
      break;
    }
    if (row == MAP) {
      os_syntax__put_elem(self, inner);
      os_form_match(self, ',');
    }
    if (self->lexer.sign == ')') break;
    if (open * 2 >= self->input.depth) os_form_too_deep(self, self->lexer.start, self->lexer.end);
    type = os_syntax__child(self, inner, rows[row].inner);
  }
  while (open-- > 0) os_form_match(self, ')');
}

static bool os_syntax__at_type(const os_form_reader *self) {
  return self->lexer.token == OS_TOKEN_WORD && os_syntax_is_type(self->lexer.value);
}

// A type that is not yet known to be one of a value or of a tensor's elements.
static Onnx__TypeProto *os_syntax__loose_type(os_form_reader *self) {
  void *type = os_proto_new(self->input.arena, &onnx__type_proto__descriptor, NULL);
  if (type == NULL) {
    os_form_stop(self, OS_OUT_OF_MEMORY);
    type = self->spare;
  }
  os_syntax__type(self, type);
  return type;
}

// ---- Tensors ----------------------------------------------------------------------------------------------

static void os_syntax__raw_element(os_form_reader *self, os_text *raw, int32_t data_type) {
  size_t start = self->lexer.start, width = os_syntax_raw_width(data_type);
  uint32_t field = os_syntax_data_field(data_type);
  os_form_scalar scalar = os_syntax__literal(self);
  // As an entry of the field that has room for all of them.
  uint32_t as = field == 4 || field == 10 ? field : scalar.negative ? 7 : 11;
  uint64_t bits = 0;
  const os_plan *plan = os_plans_get(&self->plans, &onnx__tensor_proto__descriptor);
  const char *wanted = field == 6 ? "no string" : os_form_put(os_plan_find(plan, as), &scalar, &bits);
  uint64_t beyond = width < 8 ? bits >> (8 * width) : 0;
  if (beyond != 0 && (!scalar.negative || (int64_t)bits >> (8 * width - 1) != -1))
    wanted = "as wide as its type";
  if (wanted != NULL)
    os_form_fault(self, &os_rule_form_value, NULL, start, self->lexer.start, "an element must be %s", wanted);
  os_text_put(raw, (os_str){(const char *)&bits, width});
}

// { elements } into the tensor, whose data_type is known.
static void os_syntax__elements(os_form_reader *self, void *tensor, int32_t data_type) {
  os_text raw;
  os_text_init(&raw, self->input.arena->memory);
  os_form_match(self, '{');
  bool is_raw = self->lexer.raw;
  if (!os_form_take(self, '}')) {
    do {
      if (is_raw)
        os_syntax__raw_element(self, &raw, data_type);
      else
        os_syntax__put_literal(self, tensor, os_syntax_data_field(data_type));
    } while (os_syntax__more(self, '}'));
  }
  os_str kept = os_arena_copy(self->input.arena, os_text_str(&raw));
  if (raw.failed || kept.len != raw.len) os_form_stop(self, OS_OUT_OF_MEMORY);
  if (is_raw) os_syntax__put_text(self, tensor, 9, kept);
  os_text_clear(&raw);
}

// What is behind the type, the name and =.
static void os_syntax__tensor(os_form_reader *self, void *tensor, const Onnx__TypeProto *type, size_t start) {
  const Onnx__TypeProto__Tensor *of =
      type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type : NULL;
  bool good = self->status == OS_OK && of != NULL && of->shape != NULL;
  int32_t data_type = good && of->has_elem_type ? of->elem_type : 0;
  if (data_type != 0) os_syntax__put_int(self, tensor, 2, data_type);
  const os_plan_field *dims = os_plan_find(os_form_plan(self, tensor), 1);
  int64_t *to = good && of->shape->n_dim > 0 ? os_form_slots(self, dims, tensor, of->shape->n_dim) : NULL;
  for (size_t i = 0; good && to != NULL && i < of->shape->n_dim; i++) {
    good = of->shape->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    to[i] = good ? of->shape->dim[i]->dim_value : 0;
  }
  if (!good)
    os_form_fault(self, &os_rule_form_value, NULL, start, self->lexer.start,
                  "a tensor needs a type with a shape of numbers");
  if (self->lexer.sign == '[') {
    os_syntax__put_int(self, tensor, 14, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
    os_syntax__pairs(self, tensor, 13);
  } else {
    os_syntax__elements(self, tensor, data_type);
  }
}

// ---- Values -----------------------------------------------------------------------------------------------

enum { INITIALIZER = 5, VALUE_INFO = 13 }; // fields of GraphProto

// A value with or without its type; with `initializers` (a field of the graph) = begins a tensor.
static void os_syntax__value_info(os_form_reader *self, void *owner, uint32_t number, uint32_t initializers,
                                  os_syntax_seen *seen) {
  size_t start = self->lexer.start;
  void *tensor = NULL;
  Onnx__TypeProto *type = os_syntax__at_type(self) ? os_syntax__loose_type(self) : NULL;
  os_str name = os_syntax__name(self);
  if (initializers != 0 && type != NULL && os_form_take(self, '=')) {
    tensor = os_syntax__child(self, owner, initializers);
    os_syntax__put_text(self, tensor, 8, name);
    os_syntax__tensor(self, tensor, type, start);
  }
  if (tensor != NULL && number == VALUE_INFO) { // only inputs are values, too
    *seen = os_syntax__see(self, start, tensor, NULL);
    return;
  }
  void *info = os_syntax__child(self, owner, number);
  os_syntax__put_text(self, info, 1, name);
  if (type != NULL) *(Onnx__TypeProto **)os_syntax__slot(self, info, 2) = type;
  *seen = os_syntax__see(self, start, tensor == NULL ? info : NULL, owner);
}

// A list of values that ends with the sign.
static void os_syntax__value_infos(os_form_reader *self, void *owner, char close, uint32_t number,
                                   uint32_t initializers) {
  if (os_form_take(self, close)) return;
  os_syntax_seen seen = {.one = NULL}; // `more` says that it is no tensor
  do {
    if (!os_syntax__again(self, &seen, owner, seen.more == NULL ? initializers : number))
      os_syntax__value_info(self, owner, number, initializers, &seen);
  } while (os_syntax__more(self, close));
}

// Names with commas between them; one that is left out is empty, and a comma at the end changes nothing.
static void os_syntax__ids(os_form_reader *self, void *owner, uint32_t number) {
  while (os_syntax__is_name(self) || self->lexer.sign == ',') {
    os_syntax__put_text(self, owner, number,
                        os_syntax__is_name(self) ? os_syntax__name(self) : (os_str){"", 0});
    if (!os_form_take(self, ',')) return;
  }
}

// ---- Graphs and functions ---------------------------------------------------------------------------------

static void os_syntax__push(os_syntax_reader *self, void *body, os_syntax_state state) {
  os_form_reader *form = &self->form;
  if (self->frames.count * 3 >= form->input.depth) os_form_too_deep(form, form->lexer.start, form->lexer.end);
  os_syntax_frame *frame = OS_PUSH(form->input.arena, &self->frames);
  if (frame == NULL)
    os_form_stop(form, OS_OUT_OF_MEMORY);
  else
    *frame = (os_syntax_frame){.state = state, .body = body};
}

static void os_syntax__arrow(os_form_reader *self) {
  os_form_match(self, '=');
  os_form_match(self, '>');
}

static void os_syntax__graph(os_syntax_reader *reader, void *graph) {
  os_form_reader *self = &reader->form;
  os_syntax__put_name(self, graph, 2);
  os_form_match(self, '(');
  os_syntax__value_infos(self, graph, ')', 11, INITIALIZER);
  os_syntax__arrow(self);
  os_form_match(self, '(');
  os_syntax__value_infos(self, graph, ')', 12, 0);
  if (os_form_take(self, '<')) os_syntax__value_infos(self, graph, '>', VALUE_INFO, INITIALIZER);
  os_form_match(self, '{');
  os_syntax__push(reader, graph, AT_NODE);
}

// Inputs or outputs of a function: names, some with types.
static void os_syntax__function_names(os_form_reader *self, void *function, uint32_t number) {
  os_form_match(self, '(');
  if (os_form_take(self, ')')) return;
  do {
    Onnx__TypeProto *type = os_syntax__at_type(self) ? os_syntax__loose_type(self) : NULL;
    os_str name = os_syntax__name(self);
    os_syntax__put_text(self, function, number, name);
    if (type == NULL) continue;
    void *info = os_syntax__child(self, function, 12);
    os_syntax__put_text(self, info, 1, name);
    *(Onnx__TypeProto **)os_syntax__slot(self, info, 2) = type;
  } while (os_syntax__more(self, ')'));
}

static void os_syntax__signature(os_form_reader *self, void *function) {
  os_syntax__function_names(self, function, 4);
  os_syntax__arrow(self);
  os_syntax__function_names(self, function, 5);
  if (os_form_take(self, '<')) os_syntax__value_infos(self, function, '>', 12, 0);
  os_form_match(self, '{');
}

// A property of a model or a function into the field of its name.
static void os_syntax__property(os_form_reader *self, void *message) {
  const os_plan *plan = os_form_plan(self, message);
  const os_plan_field *field =
      self->lexer.token == OS_TOKEN_WORD ? os_form_find(plan, self->lexer.value, false) : NULL;
  const ProtobufCMessageDescriptor *entry =
      field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->field->descriptor : NULL;
  bool pairs = entry == &onnx__operator_set_id_proto__descriptor ||
               entry == &onnx__string_string_entry_proto__descriptor;
  if (field == NULL || field->repeated != pairs || (entry != NULL && !pairs)) {
    os_form_unexpected(self, "a property such as opset_import");
    return;
  }
  if (!pairs) os_form_once(self, field, message, self->lexer.start, self->lexer.end);
  os_form_next(self);
  os_form_match(self, ':');
  (pairs ? os_syntax__pairs : os_syntax__put_literal)(self, message, field->field->id);
}

static void os_syntax__header(os_form_reader *self, void *message) {
  if (!os_form_take(self, '<')) return;
  do os_syntax__property(self, message);
  while (os_syntax__more(self, '>'));
}

static void os_syntax__function(os_syntax_reader *reader, void *function) {
  os_form_reader *self = &reader->form;
  os_syntax__header(self, function);
  os_syntax__put_name(self, function, 1);
  bool attributes = os_form_take(self, '<');
  if (!attributes) os_syntax__signature(self, function);
  os_syntax__push(reader, function, attributes ? AT_ATTRIBUTE : AT_NODE);
}

// ---- Nodes and attributes ---------------------------------------------------------------------------------

static void os_syntax__operator(os_form_reader *self, void *node) {
  size_t start = self->lexer.start, end = start, last = start;
  os_str text = self->lexer.text, type = {"", 0};
  do {
    last = end; // of the part before
    type = self->lexer.value;
    end = self->lexer.end;
    if (self->lexer.token != OS_TOKEN_WORD) os_form_unexpected(self, "the name of an operator");
    os_form_next(self);
  } while (os_form_take(self, '.'));
  if (last > start) os_syntax__put_text(self, node, 7, os_str_slice(text, start, last));
  os_syntax__put_text(self, node, 4, type);
}

static void os_syntax__inputs(os_form_reader *self, void *node) {
  os_form_match(self, '(');
  os_syntax__ids(self, node, 1);
  os_form_match(self, ')');
}

static void os_syntax__node(os_syntax_reader *reader, os_syntax_frame *frame) {
  os_form_reader *self = &reader->form;
  if (os_form_take(self, '}')) {
    reader->frames.count--;
    return;
  }
  bool graph = ((ProtobufCMessage *)frame->body)->descriptor == &onnx__graph_proto__descriptor;
  if (os_syntax__again(self, &frame->seen_node, frame->body, graph ? 1 : 7)) return;
  frame->seen_node.one = frame->seen_attribute.one = NULL;
  size_t start = self->lexer.start;
  void *node = os_syntax__child(self, frame->body, graph ? 1 : 7);
  if (os_form_take(self, '[')) {
    if (os_syntax__is_name(self)) os_syntax__put_name(self, node, 3);
    os_form_match(self, ']');
  }
  os_syntax__ids(self, node, 2);
  os_form_match(self, '=');
  os_syntax__operator(self, node);
  if (os_form_take(self, ':')) os_syntax__put_name(self, node, 8);
  frame->inputs = self->lexer.sign == '(';
  if (frame->inputs) os_syntax__inputs(self, node);
  frame->node = NULL;
  if (os_form_take(self, '<')) {
    frame->node = node;
    frame->state = AT_ATTRIBUTE;
    return;
  }
  if (!frame->inputs) os_form_unexpected(self, "( or <");
  frame->seen_node = os_syntax__see(self, start, node, NULL);
}

static void os_syntax__attribute(os_syntax_reader *reader, os_syntax_frame *frame) {
  os_form_reader *self = &reader->form;
  void *owner = frame->node == NULL ? frame->body : frame->node;
  frame->kind = 0;
  frame->list = false;
  frame->state = BEHIND_VALUE;
  frame->start = self->lexer.start;
  frame->attribute = NULL;
  if (os_syntax__again(self, &frame->seen_attribute, owner, frame->node == NULL ? 11 : 5)) {
    frame->start = frame->seen_attribute.start;
    frame->attribute = frame->seen_attribute.one;
    return;
  }
  os_str name = os_syntax__name(self);
  if (frame->node == NULL && self->lexer.sign != ':' && self->lexer.sign != '=') {
    os_syntax__put_text(self, owner, 6, name);
    return;
  }
  frame->attribute = os_syntax__child(self, owner, frame->node == NULL ? 11 : 5);
  os_syntax__put_text(self, frame->attribute, 1, name);
  if (os_form_take(self, ':')) {
    for (int32_t i = 1; i < OS_SYNTAX_KINDS; i++)
      if (os_str_is(self->lexer.value, os_syntax_kinds[i].name)) frame->kind = i;
    if (self->lexer.token != OS_TOKEN_WORD || frame->kind == 0)
      os_form_unexpected(self, "a type of attributes");
    os_form_next(self);
    os_syntax__put_int(self, frame->attribute, 20, frame->kind);
  }
  os_form_match(self, '=');
  bool list = os_form_take(self, '[');
  if (list && os_form_take(self, ']')) {
    if (os_syntax_kinds[frame->kind].one == 0)
      os_form_unexpected(self, "the type of an empty list before it");
    return;
  }
  frame->list = list;
  frame->state = AT_VALUE;
}

static bool os_syntax__is_special(os_str word) {
  static const char *const words[] = {"nan", "inf", "infinity"};
  for (size_t i = 0; i < 3; i++) {
    bool same = strlen(words[i]) == word.len;
    for (size_t j = 0; same && j < word.len; j++) same = (word.data[j] | 0x20) == words[i][j];
    if (same) return true;
  }
  return false;
}

// Kind of the value at the lexer, which is behind its sign.
static int32_t os_syntax__value_kind(const os_form_reader *self, int32_t wanted) {
  const os_lexer *lexer = &self->lexer;
  if (wanted == OS_SYNTAX_GRAPH && os_syntax__is_name(self)) return OS_SYNTAX_GRAPH;
  if (lexer->token == OS_TOKEN_STRING) return OS_SYNTAX_STRING;
  if (os_syntax__at_type(self)) return wanted == OS_SYNTAX_TYPE ? OS_SYNTAX_TYPE : OS_SYNTAX_TENSOR;
  bool special = wanted == OS_SYNTAX_FLOAT;
  if (lexer->token == OS_TOKEN_WORD) {
    if (!os_syntax__is_special(lexer->value)) return OS_SYNTAX_GRAPH;
    special = true;
  }
  for (size_t i = 0; lexer->token == OS_TOKEN_NUMBER && i < lexer->value.len; i++) {
    char c = lexer->value.data[i];
    special = special || c == '.' || c == 'e' || c == 'E';
  }
  return special ? OS_SYNTAX_FLOAT : OS_SYNTAX_INT;
}

// A type, or a tensor that begins with its type, as `kind` says; which of the two it is.
static int32_t os_syntax__typed(os_form_reader *self, os_syntax_frame *frame, int32_t kind) {
  size_t start = self->lexer.start;
  Onnx__TypeProto *type = os_syntax__loose_type(self);
  char sign = self->lexer.sign;
  bool tensor = kind == OS_SYNTAX_TENSOR &&
                (frame->kind != 0 || sign == '{' || sign == '=' || os_syntax__is_name(self));
  kind = tensor ? OS_SYNTAX_TENSOR : OS_SYNTAX_TYPE;
  uint32_t number = os_syntax_kinds[os_syntax_kind_of(kind, frame->list)].field;
  if (!tensor) {
    *(Onnx__TypeProto **)os_syntax__slot(self, frame->attribute, number) = type;
    return kind;
  }
  void *value = os_syntax__child(self, frame->attribute, number);
  if (os_syntax__is_name(self)) os_syntax__put_name(self, value, 8);
  os_form_take(self, '=');
  os_syntax__tensor(self, value, type, start);
  return kind;
}

static void os_syntax__value(os_syntax_reader *reader, os_syntax_frame *frame) {
  os_form_reader *self = &reader->form;
  size_t start = self->lexer.start;
  const Onnx__AttributeProto *attribute = frame->attribute;
  frame->state = BEHIND_VALUE;
  if (!frame->list && os_form_take(self, '@')) {
    os_syntax__put_name(self, frame->attribute, 21);
    return;
  }
  bool negative = os_form_take(self, '-');
  // The first element says what the others are.
  int32_t wanted = frame->list && attribute->has_type ? (int32_t)attribute->type : frame->kind;
  int32_t kind = os_syntax__value_kind(self, frame->list ? os_syntax_kinds[wanted].one : wanted);
  bool typed = kind == OS_SYNTAX_TYPE || kind == OS_SYNTAX_TENSOR;
  if (typed) kind = os_syntax__typed(self, frame, kind);
  int32_t all = os_syntax_kind_of(kind, frame->list);
  bool fits = !attribute->has_type || (int32_t)attribute->type == all;
  if (!fits || (negative && kind != OS_SYNTAX_INT && kind != OS_SYNTAX_FLOAT))
    os_form_fault(self, &os_rule_form_value, NULL, start, self->lexer.end, "a value of type %s stands here",
                  os_syntax_kinds[all].name);
  if (!attribute->has_type) os_syntax__put_int(self, frame->attribute, 20, all);
  if (typed || self->status != OS_OK) return;
  uint32_t field = os_syntax_kinds[all].field;
  if (kind == OS_SYNTAX_GRAPH) {
    os_syntax__graph(reader, os_syntax__child(self, frame->attribute, field));
    return;
  }
  if (self->lexer.sign == '-') os_form_unexpected(self, "a number");
  os_form_scalar scalar = os_syntax__literal(self);
  scalar.negative = negative;
  os_syntax__put(self, frame->attribute, field, &scalar, start);
}

static void os_syntax__behind_value(os_syntax_reader *reader, os_syntax_frame *frame) {
  os_form_reader *self = &reader->form;
  if (!frame->list) frame->seen_attribute = os_syntax__see(self, frame->start, frame->attribute, NULL);
  if (os_form_take(self, ',')) {
    frame->state = frame->list ? AT_VALUE : AT_ATTRIBUTE;
  } else if (frame->list) {
    frame->list = false;
    os_form_match(self, ']');
  } else {
    os_form_match(self, '>');
    frame->state = AT_NODE;
    if (frame->node == NULL)
      os_syntax__signature(self, frame->body);
    else if (!frame->inputs)
      os_syntax__inputs(self, frame->node);
  }
}

static void os_syntax__body(os_syntax_reader *self) {
  static void (*const steps[])(os_syntax_reader *self, os_syntax_frame *frame) = {
      [AT_NODE] = os_syntax__node,
      [AT_ATTRIBUTE] = os_syntax__attribute,
      [AT_VALUE] = os_syntax__value,
      [BEHIND_VALUE] = os_syntax__behind_value,
  };
  while (self->frames.count > 0 && self->form.status == OS_OK) {
    os_syntax_frame *frame = &self->frames.items[self->frames.count - 1];
    steps[frame->state](self, frame);
  }
}

static void os_syntax__message(os_syntax_reader *self, void *message) {
  os_form_reader *form = &self->form;
  const ProtobufCMessageDescriptor *type = form->input.type;
  bool model = type == &onnx__model_proto__descriptor;
  if (type == &onnx__function_proto__descriptor) {
    os_syntax__function(self, message);
  } else {
    if (model) os_syntax__header(form, message);
    os_syntax__graph(self, model ? os_syntax__child(form, message, 7) : message);
  }
  os_syntax__body(self);
  os_syntax_seen seen = {.one = NULL};
  while (model && form->status == OS_OK && form->lexer.token != OS_TOKEN_END) {
    size_t start = form->lexer.start;
    if (os_syntax__again(form, &seen, message, 25)) continue;
    void *function = os_syntax__child(form, message, 25);
    os_syntax__function(self, function);
    os_syntax__body(self);
    seen = os_syntax__see(form, start, function, NULL);
  }
  if (form->lexer.token != OS_TOKEN_END) os_form_unexpected(form, "the end of the text");
}

os_status os_syntax_read(const os_form_input *input, void **message) {
  os_syntax_reader self = {.frames = {0}};
  if (!os_syntax_has(input->type)) return OS_UNSUPPORTED;
  os_form_begin(&self.form, input, true, message);
  os_form_next(&self.form);
  if (self.form.status == OS_OK) os_syntax__message(&self, *message);
  if (self.form.status == OS_OK) os_form_rest_read(&self.form, *message, self.form.lexer.note);
  return self.form.status;
}
