#include "form_read.h"
#include "wire.h"
#include "wire_rules.h"

// Reads protobuf's text format.

static void os_form__scalar(os_form_reader *self, const os_plan_field *field) {
  os_form_frame *frame = os_form_top(self);
  size_t start = self->lexer.start;
  os_form_scalar scalar = os_form_literal(self, true);
  const char *wanted = os_form_put(field, &scalar, os_form_slot(self, field, frame->message));
  if (wanted != NULL)
    os_form_fault(self, &os_rule_form_value, field, start, self->lexer.start, "%s of %s must be %s",
                  field->field->name, frame->plan->type->short_name, wanted);
}

static void os_form__enter(os_form_reader *self, const os_plan_field *field, bool list) {
  char open = self->lexer.sign;
  if (open != '{' && open != '<') os_form_unexpected(self, "{ of a message");
  ProtobufCMessage *child = os_form_child(self, field, os_form_top(self)->message);
  os_form_push(self, field, child, self->lexer.start, self->lexer.end);
  os_form_top(self)->close = open == '{' ? '}' : '>';
  os_form_top(self)->list = list;
  os_form_next(self);
}

// ---- Unknown fields ---------------------------------------------------------------------------------------

static void os_form__varint(os_text *out, uint64_t value) {
  uint8_t bytes[OS_VARINT_MAX];
  os_text_put(out, (os_str){(const char *)bytes, os_varint_write(bytes, value)});
}

// The lexer is behind the number of the field. Its wire type, and to `out` what follows the tag; of a group nothing.
static uint32_t os_form__unknown_value(os_form_reader *self, os_text *out) {
  bool colon = os_form_take(self, ':');
  if (self->lexer.sign == '{') return OS_WIRE_GROUP;
  size_t start = self->lexer.start;
  if (!colon || self->lexer.sign == '-' || self->lexer.token == OS_TOKEN_WORD)
    os_form_unexpected(self, "the value of a field without a name");
  os_form_scalar scalar = os_form_literal(self, true);
  if (scalar.kind == OS_FORM_STRING) {
    os_form__varint(out, scalar.text.len);
    os_text_put(out, scalar.text);
    return OS_WIRE_BYTES;
  }
  uint64_t value;
  if (!os_form_natural(scalar.text, &value))
    os_form_fault(self, &os_rule_form_value, NULL, start, self->lexer.start,
                  "an unknown field's number must have 64 bits");
  bool hex = scalar.text.len > 1 && (scalar.text.data[1] | 0x20) == 'x';
  size_t fixed = !hex ? 0 : scalar.text.len == 10 ? 4 : scalar.text.len == 18 ? 8 : 0;
  if (fixed == 0)
    os_form__varint(out, value);
  else
    os_text_put(out, (os_str){(const char *)&value, fixed});
  return fixed == 0 ? OS_WIRE_VARINT : fixed == 4 ? OS_WIRE_32 : OS_WIRE_64;
}

static uint32_t os_form__unknown_number(os_form_reader *self) {
  uint64_t value = 0;
  if (self->lexer.token != OS_TOKEN_NUMBER || !os_form_natural(self->lexer.value, &value) || value == 0 ||
      value > OS_FIELD_MAX)
    os_form_unexpected(self, "a number of a field");
  os_form_next(self);
  return (uint32_t)value;
}

// What follows the tag of the group whose { is the current token, its end tag included.
static void os_form__group(os_form_reader *self, os_text *out, uint32_t number) {
  struct {
    uint32_t *items;
    size_t count, room;
  } open = {0};
  uint32_t wire = OS_WIRE_GROUP;
  while (self->status == OS_OK) {
    if (wire == OS_WIRE_GROUP) {
      uint32_t *top = OS_PUSH(self->input.arena, &open);
      if (top == NULL) os_form_stop(self, OS_OUT_OF_MEMORY);
      if (top != NULL) *top = number;
      if (self->frames.count + open.count > self->input.depth)
        os_form_too_deep(self, self->lexer.start, self->lexer.end);
      os_form_next(self);
    }
    while (os_form_take(self, '}')) {
      os_form__varint(out, (uint64_t)open.items[--open.count] << 3 | OS_WIRE_END);
      if (open.count == 0) return;
    }
    number = os_form__unknown_number(self);
    size_t at = out->len;
    wire = os_form__unknown_value(self, out);
    uint8_t tag[OS_VARINT_MAX];
    size_t size = os_varint_write(tag, (uint64_t)number << 3 | wire), body = out->len - at;
    if (os_text_extend(out, size) == NULL) return;
    memmove(out->data + at + size, out->data + at, body);
    memcpy(out->data + at, tag, size);
    if (!os_form_take(self, ',')) os_form_take(self, ';');
  }
}

static void os_form__unknown(os_form_reader *self) {
  os_text body;
  os_text_init(&body, self->input.arena->memory);
  uint32_t number = os_form__unknown_number(self), wire = os_form__unknown_value(self, &body);
  if (wire == OS_WIRE_GROUP) os_form__group(self, &body, number);
  os_str kept = os_arena_copy(self->input.arena, os_text_str(&body));
  if (body.failed || kept.len != body.len) os_form_stop(self, OS_OUT_OF_MEMORY);
  os_text_clear(&body);
  os_form_keep(self, os_form_top(self)->message, number, wire, kept);
}

// ---- Fields -----------------------------------------------------------------------------------------------

static void os_form__known(os_form_reader *self, bool over) {
  os_form_frame *frame = os_form_top(self);
  const os_lexer *lexer = &self->lexer;
  if (lexer->token != OS_TOKEN_WORD) os_form_unexpected(self, "the name of a field");
  const os_plan_field *field = os_form_find(frame->plan, lexer->value, false);
  if (field == NULL)
    os_form_fault(self, &os_rule_form_field, NULL, lexer->start, lexer->end, "%s has no field %.*s",
                  frame->plan->type->short_name, OS_ARG(lexer->value));
  if (self->status != OS_OK) return;
  if (!field->repeated && !over) os_form_once(self, field, frame->message, lexer->start, lexer->end);
  os_form_next(self);
  bool message = field->type == PROTOBUF_C_TYPE_MESSAGE;
  if (!os_form_take(self, ':') && !message) os_form_unexpected(self, ":");
  bool list = field->repeated && os_form_take(self, '[');
  if (list && os_form_take(self, ']')) return;
  if (message) {
    os_form__enter(self, field, list);
    return;
  }
  do os_form__scalar(self, field);
  while (list && os_form_take(self, ','));
  if (list) os_form_match(self, ']');
}

static void os_form__field(os_form_reader *self) { os_form__known(self, false); }
static void os_form__over(os_form_reader *self) { os_form__known(self, true); }

// Behind a message: its list ends, or goes on (true).
static bool os_form__leave(os_form_reader *self) {
  os_form_frame frame = *os_form_top(self);
  self->frames.count--;
  os_form_next(self);
  bool more = frame.list && os_form_take(self, ',');
  if (more) os_form__enter(self, frame.field, true);
  if (frame.list && !more) os_form_match(self, ']');
  return more;
}

void os_form_fill(os_form_reader *self, char close, bool over) {
  size_t base = self->frames.count;
  os_form_top(self)->close = close;
  while (self->status == OS_OK) {
    size_t depth = self->frames.count;
    char end = os_form_top(self)->close;
    bool began = false;
    if (end != 0 ? self->lexer.sign == end : self->lexer.token == OS_TOKEN_END) {
      began = os_form__leave(self);
      if (self->frames.count < base) return;
    } else {
      (self->lexer.token == OS_TOKEN_NUMBER ? os_form__unknown : over ? os_form__over : os_form__field)(self);
      began = self->frames.count > depth;
    }
    if (!began && !os_form_take(self, ',')) os_form_take(self, ';');
  }
}

os_status os_form_read_text(const os_form_input *input, void **message) {
  os_form_reader self;
  os_form_begin(&self, input, false, message);
  os_form_next(&self);
  if (self.status == OS_OK) os_form_fill(&self, 0, false);
  return self.status;
}
