#include "form_rest.h"
#include "rare.h"
#include "syntax.h"
#include "syntax_rows.h"
#include "text_class.h"
#include "utf8.h"
#include "walk.h"

#include <inttypes.h>

// A list of attributes, and a body of nodes, of which some have graphs: these are pushed on top.
typedef struct os_syntax_frame {
  const Onnx__FunctionProto *function; // whose body it is; NULL = a graph's
  Onnx__NodeProto *const *nodes;
  size_t node_count, node; // next
  bool listing;            // the attributes of the last node, or of the function, are being written
  bool signature;          // what stands around them: inputs and outputs are written already
  Onnx__AttributeProto *const *attributes;
  size_t attribute_count, attribute, element; // next
  size_t node_size, attribute_size;           // of the text of the last one
} os_syntax_frame;

typedef struct os_syntax_writer {
  os_text *out;
  const os_source *source;
  os_arena arena, scratch; // of all, of a tensor
  os_status status;        // the first trouble; what is written after it does not matter
  os_plans plans;          // of all types
  struct {
    os_syntax_frame *items;
    size_t count, room;
  } frames;
} os_syntax_writer;

// ---- Words ------------------------------------------------------------------------------------------------

// NUL and what is no UTF-8 become U+FFFD.
static void os_syntax__quote(os_text *out, ProtobufCBinaryData bytes) {
  os_str text = os_bytes_str(bytes);
  os_text_char(out, '"');
  while (text.len > 0) {
    size_t valid = os_utf8_valid(text), plain = 0;
    for (size_t i = 0; i < valid; i++) {
      char c = text.data[i];
      if (c != '"' && c != '\\' && c != 0) continue;
      os_text_put(out, os_str_slice(text, plain, i));
      os_text_puts(out, c == 0 ? "\xef\xbf\xbd" : "\\");
      plain = i + (c == 0);
    }
    os_text_put(out, os_str_slice(text, plain, valid));
    if (valid < text.len) os_text_puts(out, "\xef\xbf\xbd");
    text = os_str_slice(text, valid + (valid < text.len), text.len);
  }
  os_text_char(out, '"');
}

static bool os_syntax__is_plain(ProtobufCBinaryData name) {
  return os_is_identifier(os_bytes_str(name)) && !os_syntax_is_type(os_bytes_str(name));
}

static void os_syntax__id(os_text *out, ProtobufCBinaryData name) {
  if (os_syntax__is_plain(name))
    os_text_put(out, os_bytes_str(name));
  else
    os_syntax__quote(out, name);
}

// Where no quotes may be: another name in place of one that needs them.
static void os_syntax__plain_id(os_text *out, ProtobufCBinaryData name) {
  os_text_put(out, os_is_identifier(os_bytes_str(name)) ? os_bytes_str(name) : OS_STR("_"));
}

static void os_syntax__ids(os_text *out, const char *open, const ProtobufCBinaryData *names, size_t count,
                           const char *close) {
  os_text_puts(out, open);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) os_text_puts(out, ", ");
    os_syntax__id(out, names[i]);
  }
  os_text_puts(out, close);
}

// How many elements of a list from `at` on are empty as the one before them is. Their text is the last `size` bytes, the text
// of that one and of what stands before it, and it is written here. Not for the first two: before the first one stands something else.
static size_t os_syntax__again(os_text *out, const void *list, size_t at, size_t count, size_t size) {
  const ProtobufCMessage *const *messages = list;
  enum { NEAR = 1 << 13 };
  size_t end = at, all;
  if (at < 2 || !os_proto_is_blank(messages[at - 1])) return 0;
  while (end < count && (messages[end] == messages[at - 1] || os_proto_is_blank(messages[end]))) end++;
  if (end == at) return 0;
  char *to = os_size_mul(end - at, size, &all) ? os_text_extend(out, all) : NULL;
  out->failed |= to == NULL;
  if (to == NULL) return end - at;
  for (size_t done = size, left = all; left > 0;) { // what is there doubles, as long as it is in a near cache
    size_t n = left < done ? left : done;
    os_bytes_copy(to, to - done, n);
    to += n;
    left -= n;
    if (done < NEAR) done += n;
  }
  return end - at;
}

// The elements of a list of messages one after the other, but for runs of empty ones, whose text is written at once.
typedef struct os_syntax_each {
  const void *list;
  size_t count;
  size_t at, next, start; // at: the one to be written, whose text begins at `start`
} os_syntax_each;

static bool os_syntax__each(os_text *out, os_syntax_each *self) {
  self->next += os_syntax__again(out, self->list, self->next, self->count, out->len - self->start);
  self->start = out->len;
  self->at = self->next++;
  return self->at < self->count;
}

static void os_syntax__line(os_syntax_writer *self, size_t more) {
  os_text_char(self->out, '\n');
  for (size_t i = 0; i < self->frames.count + more; i++) os_text_puts(self->out, "  ");
}

// ---- Types ------------------------------------------------------------------------------------------------

static void os_syntax__elem(os_text *out, int32_t number) {
  const os_elem_info *info = os_elem_info_of(number);
  os_text_puts(out, info == NULL ? OS_SYNTAX_UNDEFINED : info->onnx);
}

static void os_syntax__shape(os_text *out, const Onnx__TensorShapeProto *shape) {
  if (shape == NULL) os_text_puts(out, "[]");
  if (shape == NULL || shape->n_dim == 0) return;
  for (os_syntax_each each = {.list = shape->dim, .count = shape->n_dim}; os_syntax__each(out, &each);) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[each.at];
    os_text_char(out, each.at == 0 ? '[' : ',');
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      os_text_format(out, "%" PRId64, dim->dim_value);
    else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
      os_syntax__id(out, dim->dim_param);
    else
      os_text_char(out, '?');
  }
  os_text_char(out, ']');
}

static void os_syntax__opaque(os_text *out, const Onnx__TypeProto__Opaque *opaque) {
  os_text_puts(out, "opaque(");
  if (opaque->domain.len > 0) {
    os_syntax__plain_id(out, opaque->domain);
    os_text_char(out, ',');
  }
  if (opaque->name.len > 0) os_syntax__plain_id(out, opaque->name);
  os_text_char(out, ')');
}

static void os_syntax__type(os_text *out, const Onnx__TypeProto *type) {
  size_t open = 0;
  while (type != NULL) {
    const Onnx__TypeProto *inner = NULL;
    switch (type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
      os_syntax__elem(out, type->tensor_type->elem_type);
      os_syntax__shape(out, type->tensor_type->shape);
      break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
      os_text_puts(out, "sparse_tensor(");
      os_syntax__elem(out, type->sparse_tensor_type->elem_type);
      os_syntax__shape(out, type->sparse_tensor_type->shape);
      os_text_char(out, ')');
      break;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
      os_text_puts(out, "seq(");
      inner = type->sequence_type->elem_type;
      open++;
      break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
      os_text_puts(out, "optional(");
      inner = type->optional_type->elem_type;
      open++;
      break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
      os_text_puts(out, "map(");
      os_syntax__elem(out, type->map_type->key_type);
      os_text_puts(out, ", ");
      inner = type->map_type->value_type;
      open++;
      break;
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE: os_syntax__opaque(out, type->opaque_type); break;
    default: os_text_puts(out, OS_SYNTAX_UNDEFINED "[]"); break;
    }
    type = inner;
  }
  while (open-- > 0) os_text_char(out, ')');
}

static void os_syntax__value_info(os_text *out, const Onnx__ValueInfoProto *info) {
  if (info->type != NULL && info->type->value_case != 0) {
    os_syntax__type(out, info->type);
    os_text_char(out, ' ');
  }
  os_syntax__id(out, info->name);
}

static void os_syntax__value_infos(os_text *out, Onnx__ValueInfoProto *const *infos, size_t count) {
  os_text_char(out, '(');
  for (os_syntax_each each = {.list = infos, .count = count}; os_syntax__each(out, &each);) {
    if (each.at > 0) os_text_puts(out, ", ");
    os_syntax__value_info(out, infos[each.at]);
  }
  os_text_char(out, ')');
}

// ---- Tensors and lists ------------------------------------------------------------------------------------

// One element of a scalar field.
static void os_syntax__element(os_text *out, const os_plan_field *field, const char *element) {
  if (field->type == PROTOBUF_C_TYPE_BYTES)
    os_syntax__quote(out, *(const ProtobufCBinaryData *)(const void *)element);
  else
    os_form_write_number(out, field, element);
}

static void os_syntax__list(os_syntax_writer *self, const void *message, uint32_t number, char open,
                            char close) {
  const os_plan *plan = os_plans_get(&self->plans, ((const ProtobufCMessage *)message)->descriptor);
  const os_plan_field *field = os_plan_find(plan, number);
  size_t count = os_plan_elements(field, message);
  const char *list = os_plan_list(field, message);
  bool integers = field->plain;
  os_text_char(self->out, open);
  if (integers) os_form_write_integers(self->out, field, list, count, 0);
  for (size_t i = 0; i < count && !integers; i++) {
    if (i > 0) os_text_puts(self->out, ", ");
    os_syntax__element(self->out, field, list + i * field->size);
  }
  os_text_char(self->out, close);
}

// A list of entries with two fields: "key": value.
static void os_syntax__pairs(os_syntax_writer *self, const os_plan_field *field, const void *message) {
  size_t count = os_plan_elements(field, message);
  os_text_char(self->out, '[');
  for (os_syntax_each each = {.list = os_plan_list(field, message), .count = count};
       os_syntax__each(self->out, &each);) {
    const ProtobufCMessage *entry = os_plan_child(field, message, each.at);
    const os_plan *plan = os_plans_get(&self->plans, entry->descriptor);
    if (each.at > 0) os_text_puts(self->out, ", ");
    os_syntax__element(self->out, &plan->fields[0], os_plan_member(&plan->fields[0], entry));
    os_text_puts(self->out, " : ");
    os_syntax__element(self->out, &plan->fields[1], os_plan_member(&plan->fields[1], entry));
  }
  os_text_char(self->out, ']');
}

static void os_syntax__raw(os_syntax_writer *self, const Onnx__TensorProto *tensor) {
  os_str raw;
  const os_plan *plan = os_plans_get(&self->plans, tensor->base.descriptor);
  os_arena_rewind(&self->scratch);
  os_status status = os_bytes_load(self->source, &self->scratch, tensor->raw_data, &raw);
  if (status != OS_OK) self->status = status;
  const os_elem_info *info = os_elem_info_of(tensor->data_type);
  size_t width = os_syntax_raw_width(tensor->data_type);
  uint32_t field = os_syntax_data_field(tensor->data_type);
  bool is_signed = info != NULL && info->bits >= 8 && info->kind == 'i';
  if (field == 6 || raw.len % width != 0) raw.len = 0; // stands behind
  // As an entry of the field that has room for all of them.
  const os_plan_field *as = os_plan_find(plan, field == 4 || field == 10 ? field : is_signed ? 7 : 11);
  os_text_puts(self->out, "{#raw\n");
  for (size_t i = 0; i < raw.len; i += width) {
    uint64_t bits = 0;
    memcpy(&bits, raw.data + i, width);
    if (is_signed) bits = (uint64_t)((int64_t)(bits << (64 - 8 * width)) >> (64 - 8 * width));
    if (i > 0) os_text_puts(self->out, ", ");
    os_form_write_number(self->out, as, (const char *)&bits);
  }
  os_text_char(self->out, '}');
}

// `named`: the name is written in any case, as initializers have it. In attributes other programs read none in quotes: such a
// name stands behind.
static void os_syntax__tensor(os_syntax_writer *self, const Onnx__TensorProto *tensor, bool named) {
  os_text *out = self->out;
  os_syntax__elem(out, tensor->data_type);
  if (tensor->n_dims > 0) os_syntax__list(self, tensor, 1, '[', ']');
  os_text_char(out, ' ');
  if (named || os_syntax__is_plain(tensor->name)) {
    os_syntax__id(out, tensor->name);
    os_text_puts(out, " = ");
  }
  if (tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
    const os_plan *plan = os_plans_get(&self->plans, tensor->base.descriptor);
    os_syntax__pairs(self, os_plan_find(plan, 13), tensor);
  } else if (tensor->has_raw_data) {
    os_syntax__raw(self, tensor);
  } else {
    os_syntax__list(self, tensor, os_syntax_data_field(tensor->data_type), '{', '}');
  }
}

// ---- Graphs, attributes, nodes ----------------------------------------------------------------------------

static os_syntax_frame *os_syntax__push(os_syntax_writer *self, const Onnx__FunctionProto *function,
                                        Onnx__NodeProto *const *nodes, size_t count) {
  os_syntax_frame *frame = OS_PUSH(&self->arena, &self->frames);
  if (frame == NULL)
    self->status = OS_OUT_OF_MEMORY;
  else
    *frame = (os_syntax_frame){.function = function, .nodes = nodes, .node_count = count};
  return frame;
}

// `inner`: of an attribute, where other programs read no name in quotes. What has no name keeps its empty quotes.
static void os_syntax__graph(os_syntax_writer *self, const Onnx__GraphProto *graph, bool inner) {
  os_text *out = self->out;
  if (inner && graph->name.len > 0 && !os_syntax__is_plain(graph->name))
    os_text_char(out, '_');
  else
    os_syntax__id(out, graph->name);
  os_text_char(out, ' ');
  os_syntax__value_infos(out, graph->input, graph->n_input);
  os_text_puts(out, " => ");
  os_syntax__value_infos(out, graph->output, graph->n_output);
  const char *separator = " <";
  for (os_syntax_each each = {.list = graph->initializer, .count = graph->n_initializer};
       os_syntax__each(out, &each);) {
    os_text_puts(out, separator);
    os_syntax__line(self, 2);
    os_syntax__tensor(self, graph->initializer[each.at], true);
    separator = ",";
  }
  for (os_syntax_each each = {.list = graph->value_info, .count = graph->n_value_info};
       os_syntax__each(out, &each);) {
    os_text_puts(out, separator);
    os_syntax__line(self, 2);
    os_syntax__value_info(out, graph->value_info[each.at]);
    separator = ",";
  }
  os_text_puts(out, separator[0] == ',' ? "> {" : " {");
  os_syntax__push(self, NULL, graph->node, graph->n_node);
}

// The elements of an attribute that are no graphs.
static void os_syntax__values(os_syntax_writer *self, const os_plan_field *field, const void *attribute,
                              size_t count) {
  if (field->plain && count > 0) {
    os_form_write_integers(self->out, field, os_plan_list(field, attribute), count, 0);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const char *element = os_plan_list(field, attribute) + i * field->size;
    if (i > 0) os_text_puts(self->out, ", ");
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
      os_syntax__element(self->out, field, element);
    else if (field->field->descriptor == &onnx__type_proto__descriptor)
      os_syntax__type(self->out, *(Onnx__TypeProto *const *)(const void *)element);
    else
      os_syntax__tensor(self, *(Onnx__TensorProto *const *)(const void *)element, false);
  }
}

// Goes on with the attribute that is next, until a graph in it begins or it ends. What the syntax has no words for becomes
// `= 0` and stands behind.
static void os_syntax__attribute(os_syntax_writer *self, os_syntax_frame *frame) {
  os_text *out = self->out;
  size_t more = frame->element > 0 ? 0
                                   : os_syntax__again(out, frame->attributes, frame->attribute,
                                                      frame->attribute_count, frame->attribute_size);
  frame->attribute += more;
  if (more > 0) return;
  size_t start = out->len;
  const Onnx__AttributeProto *attribute = frame->attributes[frame->attribute];
  const os_syntax_kind *kind = &os_syntax_kinds[attribute->type];
  const os_plan *plan = os_plans_get(&self->plans, attribute->base.descriptor);
  const os_plan_field *field = kind->field == 0 ? NULL : os_plan_find(plan, kind->field);
  size_t count = field == NULL ? 0 : os_plan_elements(field, attribute);
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(attribute);
  bool list = kind->one != 0, graph = kind->field == 6 || kind->field == 11;
  bool held = rare->has_ref_attr_name || (kind->field != 0 && kind->field < 22 && (list || count > 0));
  if (rare->has_ref_attr_name || !held) count = 0;
  if (frame->element == 0) {
    if (frame->attribute > 0) os_text_puts(out, ", ");
    os_syntax__plain_id(out, attribute->name);
    if (kind->field != 0 && held) os_text_format(out, ": %s", kind->name);
    os_text_puts(out, held ? " = " : " = 0");
    if (rare->has_ref_attr_name) {
      os_text_char(out, '@');
      os_syntax__id(out, rare->ref_attr_name);
    } else if (held && list) {
      os_text_char(out, '[');
    }
    if (!graph && count > 0) os_syntax__values(self, field, attribute, count);
  }
  if (graph && frame->element < count) {
    if (frame->element > 0) os_text_puts(out, ", ");
    const char *graphs = os_plan_list(field, attribute);
    os_syntax__graph(self, ((Onnx__GraphProto *const *)(const void *)graphs)[frame->element++], true);
    return;
  }
  if (held && list && !rare->has_ref_attr_name) os_text_char(out, ']');
  frame->attribute++;
  frame->element = 0;
  frame->attribute_size = out->len - start;
}

static void os_syntax__inputs(os_syntax_writer *self, os_syntax_frame *frame) {
  const Onnx__NodeProto *node = frame->nodes[frame->node - 1];
  os_syntax__ids(self->out, " (", node->input, node->n_input, ")");
}

static void os_syntax__domain(os_text *out, os_str domain) {
  size_t from = 0;
  bool good = domain.len > 0;
  for (size_t i = 0; i <= domain.len; i++) {
    if (i < domain.len && domain.data[i] != '.') continue;
    good = good && os_is_identifier(os_str_slice(domain, from, i));
    from = i + 1;
  }
  if (!good) return;
  os_text_put(out, domain);
  os_text_char(out, '.');
}

static void os_syntax__begin_list(os_syntax_frame *frame, Onnx__AttributeProto *const *attributes,
                                  size_t count) {
  frame->attributes = attributes;
  frame->attribute_count = count;
  frame->attribute = frame->element = 0;
  frame->listing = true;
}

static void os_syntax__node(os_syntax_writer *self, os_syntax_frame *frame) {
  os_text *out = self->out;
  size_t more = os_syntax__again(out, frame->nodes, frame->node, frame->node_count, frame->node_size);
  frame->node += more;
  if (more > 0) return;
  const Onnx__NodeProto *node = frame->nodes[frame->node++];
  size_t start = out->len;
  os_syntax__line(self, 0);
  if (node->has_name) {
    os_text_char(out, '[');
    os_syntax__id(out, node->name);
    os_text_puts(out, "] ");
  }
  os_syntax__ids(out, "", node->output, node->n_output, " = ");
  os_syntax__domain(out, os_bytes_str(node->domain));
  os_syntax__plain_id(out, node->op_type);
  const Onnx__NodeProto__Rare *rare = os_node_rare(node);
  if (os_is_identifier(os_bytes_str(rare->overload))) {
    os_text_char(out, ':');
    os_text_put(out, os_bytes_str(rare->overload));
  }
  frame->signature = node->n_attribute == 0;
  for (size_t i = 0; i < node->n_attribute; i++) {
    const Onnx__AttributeProto__Rare *attribute = os_attribute_rare(node->attribute[i]);
    if (attribute->g != NULL || attribute->n_graphs > 0) frame->signature = true;
  }
  if (frame->signature) os_syntax__inputs(self, frame);
  frame->node_size = out->len - start;
  if (node->n_attribute == 0) return;
  os_text_puts(out, " <");
  os_syntax__begin_list(frame, node->attribute, node->n_attribute);
}

// Behind the attributes of a function: its inputs and outputs, and the beginning of its body.
static void os_syntax__function_signature(os_syntax_writer *self, os_syntax_frame *frame) {
  os_text *out = self->out;
  const Onnx__FunctionProto *function = frame->function;
  os_syntax__ids(out, " (", function->input, function->n_input, ")");
  os_syntax__ids(out, " => (", function->output, function->n_output, ")");
  for (os_syntax_each each = {.list = function->value_info, .count = function->n_value_info};
       os_syntax__each(out, &each);) {
    os_text_puts(out, each.at == 0 ? " <" : ", ");
    os_syntax__value_info(out, function->value_info[each.at]);
  }
  os_text_puts(out, function->n_value_info > 0 ? "> {" : " {");
  frame->signature = true;
}

static void os_syntax__end(os_syntax_writer *self, os_syntax_frame *frame) {
  if (frame->listing) {
    frame->listing = false;
    os_text_char(self->out, '>');
    if (!frame->signature) (frame->node > 0 ? os_syntax__inputs : os_syntax__function_signature)(self, frame);
  } else {
    self->frames.count--;
    os_syntax__line(self, 0);
    os_text_char(self->out, '}');
  }
}

static void os_syntax__body(os_syntax_writer *self) {
  static void (*const steps[])(os_syntax_writer *self, os_syntax_frame *frame) = {
      os_syntax__node, os_syntax__attribute, os_syntax__end};
  while (self->frames.count > 0 && self->status == OS_OK) {
    os_syntax_frame *frame = &self->frames.items[self->frames.count - 1];
    bool more = frame->listing ? frame->attribute < frame->attribute_count : frame->node < frame->node_count;
    steps[more ? frame->listing : 2](self, frame);
  }
}

// <name: value, ...> of the fields that the message has.
static void os_syntax__header(os_syntax_writer *self, const void *message, const uint8_t *numbers) {
  const char *separator = "<";
  const os_plan *plan = os_plans_get(&self->plans, ((const ProtobufCMessage *)message)->descriptor);
  for (; *numbers != 0; numbers++) {
    const os_plan_field *field = os_plan_find(plan, *numbers);
    if (os_plan_elements(field, message) == 0) continue;
    os_text_puts(self->out, separator);
    separator = ",";
    os_syntax__line(self, 1);
    os_text_puts(self->out, field->field->name);
    os_text_puts(self->out, ": ");
    if (field->repeated)
      os_syntax__pairs(self, field, message);
    else
      os_syntax__element(self->out, field, os_plan_member(field, message));
  }
  if (separator[0] == ',') os_text_puts(self->out, "\n>\n");
}

static void os_syntax__function(os_syntax_writer *self, const Onnx__FunctionProto *function) {
  static const uint8_t header[] = {10, 13, 9, 8, 0};
  os_syntax__header(self, function, header);
  os_syntax__id(self->out, function->name);
  if (function->n_attribute + function->n_attribute_proto > 0)
    os_syntax__ids(self->out, " <", function->attribute, function->n_attribute,
                   function->n_attribute > 0 && function->n_attribute_proto > 0 ? ", " : "");
  os_syntax_frame *frame = os_syntax__push(self, function, function->node, function->n_node);
  if (frame == NULL) return;
  if (function->n_attribute + function->n_attribute_proto > 0)
    os_syntax__begin_list(frame, function->attribute_proto, function->n_attribute_proto);
  else
    os_syntax__function_signature(self, frame);
  os_syntax__body(self);
}

static void os_syntax__message(os_syntax_writer *self, const ProtobufCMessage *message) {
  static const uint8_t header[] = {1, 8, 2, 3, 4, 5, 6, 14, 0};
  static const Onnx__GraphProto nothing = {.n_node = 0};
  if (message->descriptor == &onnx__function_proto__descriptor) {
    os_syntax__function(self, (const Onnx__FunctionProto *)(const void *)message);
    return;
  }
  const Onnx__ModelProto *model = (const void *)message;
  const Onnx__GraphProto *graph = (const void *)message;
  if (message->descriptor == &onnx__model_proto__descriptor) {
    os_syntax__header(self, model, header);
    graph = model->graph == NULL ? &nothing : model->graph;
  }
  os_syntax__graph(self, graph, false);
  os_syntax__body(self);
  if (message->descriptor != &onnx__model_proto__descriptor) return;
  for (os_syntax_each each = {.list = model->functions, .count = model->n_functions};
       os_syntax__each(self->out, &each);) {
    os_text_char(self->out, '\n');
    os_syntax__function(self, model->functions[each.at]);
  }
}

// Reads what was written and adds what it does not say.
static os_status os_syntax__rest(os_syntax_writer *self, const void *message, os_str text,
                                 os_report *report) {
  os_report own;
  os_report_init(&own, &self->arena, false, 1);
  os_form_input input = {.arena = &self->arena,
                         .type = ((const ProtobufCMessage *)message)->descriptor,
                         .depth = UINT32_MAX,
                         .report = &own,
                         .text = text,
                         .shared = true};
  void *other;
  os_status status = os_syntax_read(&input, &other);
  if (status != OS_OK) return status == OS_MALFORMED ? OS_UNSUPPORTED : status;
  os_text rest; // of its own: `other` has views of what was written, which must not move
  os_text_init(&rest, self->out->memory);
  status = os_form_rest_write(&rest, self->source, message, other, report);
  self->out->failed |= rest.failed;
  os_text_put(self->out, os_text_str(&rest));
  os_text_clear(&rest);
  return status;
}

bool os_syntax_has(const ProtobufCMessageDescriptor *type) {
  return type == &onnx__model_proto__descriptor || type == &onnx__graph_proto__descriptor ||
         type == &onnx__function_proto__descriptor;
}

os_status os_syntax_write(os_text *out, const os_source *source, const void *message, os_report *report) {
  os_syntax_writer self = {.out = out, .source = source};
  size_t start = out->len;
  os_arena_init(&self.arena, out->memory);
  os_arena_init(&self.scratch, out->memory);
  self.plans.arena = &self.arena;
  if (os_plans_all(&self.plans, ((const ProtobufCMessage *)message)->descriptor))
    os_syntax__message(&self, message);
  else
    self.status = OS_OUT_OF_MEMORY;
  if (out->failed) self.status = OS_OUT_OF_MEMORY;
  if (self.status == OS_OK)
    self.status = os_syntax__rest(&self, message, (os_str){out->data + start, out->len - start}, report);
  os_arena_clear(&self.scratch);
  os_arena_clear(&self.arena);
  return out->failed ? OS_OUT_OF_MEMORY : self.status;
}
