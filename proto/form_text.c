#include "form_read.h"
#include "wire.h"
#include "wire_rules.h"

// Reads protobuf's text format.

#define NEXT(lexer)                                     \
  do {                                                  \
    if (!os_lexer_next(lexer)) return OS_OUT_OF_MEMORY; \
  } while (0)

os_status os_form_unexpected(os_form_reader *self, const os_lexer *lexer, const char *wanted) {
  if (lexer->token == OS_TOKEN_FAULT)
    return os_form_fault(self, &os_rule_form_syntax, NULL, lexer->start, lexer->end, "%s", lexer->fault);
  size_t end = lexer->end - lexer->start > 40 ? lexer->start + 40 : lexer->end;
  os_str found = os_str_slice(lexer->text, lexer->start, end);
  if (lexer->token == OS_TOKEN_END)
    return os_form_fault(self, &os_rule_form_syntax, NULL, lexer->start, lexer->end,
                         "the text ends where %s should stand", wanted);
  return os_form_fault(self, &os_rule_form_syntax, NULL, lexer->start, lexer->end,
                       "%s should stand here, found %.*s", wanted, OS_ARG(found));
}

// A value in the parts that a string may have, each in quotation marks. The lexer is at its first token, then behind it.
static os_status os_form__value(os_form_reader *self, os_lexer *lexer, os_form_scalar *scalar) {
  *scalar = (os_form_scalar){.text = lexer->value};
  if (lexer->sign == '-') {
    scalar->negative = true;
    NEXT(lexer);
    if (lexer->token == OS_TOKEN_STRING) return os_form_unexpected(self, lexer, "a number");
    scalar->text = lexer->value;
  }
  scalar->kind = lexer->token == OS_TOKEN_WORD     ? OS_FORM_WORD
                 : lexer->token == OS_TOKEN_NUMBER ? OS_FORM_NUMBER
                                                   : OS_FORM_STRING;
  if (scalar->kind == OS_FORM_STRING && lexer->token != OS_TOKEN_STRING)
    return os_form_unexpected(self, lexer, "a value");
  NEXT(lexer);
  if (scalar->kind != OS_FORM_STRING) return OS_OK;
  size_t room = 0;
  char *whole = NULL;
  while (lexer->token == OS_TOKEN_STRING) {
    os_str part = lexer->value;
    size_t len = scalar->text.len, all = len + part.len;
    if (part.len > SIZE_MAX / 4 - len) return OS_OUT_OF_MEMORY;
    if (whole == NULL || all > room) {
      room = all * 2;
      whole = os_arena_alloc(self->input.arena, room);
      OS_TRY_ALLOC(whole);
      if (len > 0) memcpy(whole, scalar->text.data, len);
    }
    if (part.len > 0) memcpy(whole + len, part.data, part.len);
    scalar->text = (os_str){whole, all};
    NEXT(lexer);
  }
  return OS_OK;
}

static os_status os_form__scalar(os_form_reader *self, os_lexer *lexer, const os_plan_field *field) {
  os_form_frame *frame = os_form_top(self);
  size_t start = lexer->start;
  os_form_scalar scalar;
  OS_TRY(os_form__value(self, lexer, &scalar));
  void *slot = os_form_slot(self, frame->plan, field, frame->message);
  OS_TRY_ALLOC(slot);
  const char *wanted = os_form_put(field, &scalar, slot);
  if (wanted == NULL) return OS_OK;
  return os_form_fault(self, &os_rule_form_value, field, start, lexer->end, "%s of %s must be %s",
                       field->field->name, frame->plan->type->short_name, wanted);
}

static os_status os_form__enter(os_form_reader *self, os_lexer *lexer, const os_plan_field *field,
                                bool list) {
  char open = lexer->sign;
  if (open != '{' && open != '<') return os_form_unexpected(self, lexer, "{ of a message");
  os_form_frame *frame = os_form_top(self);
  ProtobufCMessage *child = os_form_child(self, frame->plan, field, frame->message);
  OS_TRY_ALLOC(child);
  OS_TRY(os_form_push(self, field, child, lexer->start, lexer->end));
  os_form_top(self)->close = open == '{' ? '}' : '>';
  os_form_top(self)->list = list;
  NEXT(lexer);
  return OS_OK;
}

// ---- Unknown fields ---------------------------------------------------------------------------------------

static void os_form__varint(os_text *out, uint64_t value) {
  uint8_t bytes[OS_VARINT_MAX];
  os_text_put(out, (os_str){(const char *)bytes, os_varint_write(bytes, value)});
}

// The lexer is behind the number of the field. *wire and what follows the tag; of a group nothing.
static os_status os_form__unknown_value(os_form_reader *self, os_lexer *lexer, os_text *out, uint32_t *wire) {
  os_form_scalar scalar;
  bool colon = lexer->sign == ':';
  if (colon) NEXT(lexer);
  *wire = OS_WIRE_GROUP;
  if (lexer->sign == '{') return OS_OK;
  size_t start = lexer->start;
  if (!colon || lexer->sign == '-' || lexer->token == OS_TOKEN_WORD)
    return os_form_unexpected(self, lexer, "the value of a field without a name");
  OS_TRY(os_form__value(self, lexer, &scalar));
  if (scalar.kind == OS_FORM_STRING) {
    *wire = OS_WIRE_BYTES;
    os_form__varint(out, scalar.text.len);
    os_text_put(out, scalar.text);
    return OS_OK;
  }
  uint64_t value;
  if (!os_form_natural(scalar.text, &value))
    return os_form_fault(self, &os_rule_form_value, NULL, start, lexer->start,
                         "an unknown field's number must have 64 bits");
  bool hex = scalar.text.len > 1 && (scalar.text.data[1] | 0x20) == 'x';
  size_t fixed = !hex ? 0 : scalar.text.len == 10 ? 4 : scalar.text.len == 18 ? 8 : 0;
  *wire = fixed == 0 ? OS_WIRE_VARINT : fixed == 4 ? OS_WIRE_32 : OS_WIRE_64;
  if (fixed == 0)
    os_form__varint(out, value);
  else
    os_text_put(out, (os_str){(const char *)&value, fixed});
  return OS_OK;
}

static os_status os_form__unknown_number(os_form_reader *self, os_lexer *lexer, uint32_t *number) {
  uint64_t value = 0;
  if (lexer->token != OS_TOKEN_NUMBER || !os_form_natural(lexer->value, &value) || value == 0 ||
      value > OS_FIELD_MAX)
    return os_form_unexpected(self, lexer, "a number of a field");
  *number = (uint32_t)value;
  NEXT(lexer);
  return OS_OK;
}

// What follows the tag of the group whose { is the current token, its end tag included.
static os_status os_form__group(os_form_reader *self, os_lexer *lexer, os_text *out, uint32_t number) {
  struct {
    uint32_t *items;
    size_t count, room;
  } open = {0};
  for (uint32_t wire = OS_WIRE_GROUP;;) {
    if (wire == OS_WIRE_GROUP) {
      if (self->frames.count + open.count >= self->input.depth)
        return os_form_too_deep(self, lexer->start, lexer->end);
      uint32_t *top = OS_PUSH(self->input.arena, &open);
      OS_TRY_ALLOC(top);
      *top = number;
      NEXT(lexer);
    }
    while (lexer->sign == '}') {
      os_form__varint(out, (uint64_t)open.items[--open.count] << 3 | OS_WIRE_END);
      NEXT(lexer);
      if (open.count == 0) return OS_OK;
    }
    OS_TRY(os_form__unknown_number(self, lexer, &number));
    size_t at = out->len;
    OS_TRY(os_form__unknown_value(self, lexer, out, &wire));
    uint8_t tag[OS_VARINT_MAX];
    size_t size = os_varint_write(tag, (uint64_t)number << 3 | wire), body = out->len - at;
    char *to = os_text_extend(out, size);
    if (to == NULL) return OS_OUT_OF_MEMORY;
    memmove(out->data + at + size, out->data + at, body);
    memcpy(out->data + at, tag, size);
    if (lexer->sign == ',' || lexer->sign == ';') NEXT(lexer);
  }
}

static os_status os_form__unknown(os_form_reader *self, os_lexer *lexer) {
  uint32_t number, wire = 0;
  os_text body;
  os_text_init(&body, self->input.arena->memory);
  OS_TRY(os_form__unknown_number(self, lexer, &number));
  os_status status = os_form__unknown_value(self, lexer, &body, &wire);
  if (status == OS_OK && wire == OS_WIRE_GROUP) status = os_form__group(self, lexer, &body, number);
  os_str kept = os_arena_copy(self->input.arena, os_text_str(&body));
  if (status == OS_OK && (body.failed || kept.len != body.len)) status = OS_OUT_OF_MEMORY;
  os_text_clear(&body);
  return status == OS_OK ? os_form_keep(self, os_form_top(self)->message, number, wire, kept) : status;
}

// ---- Fields -----------------------------------------------------------------------------------------------

static os_status os_form__field(os_form_reader *self, os_lexer *lexer, bool over) {
  os_form_frame *frame = os_form_top(self);
  if (lexer->token == OS_TOKEN_NUMBER) return os_form__unknown(self, lexer);
  if (lexer->token != OS_TOKEN_WORD) return os_form_unexpected(self, lexer, "the name of a field");
  const os_plan_field *field = os_form_find(frame->plan, lexer->value, false);
  if (field == NULL)
    return os_form_fault(self, &os_rule_form_field, NULL, lexer->start, lexer->end, "%s has no field %.*s",
                         frame->plan->type->short_name, OS_ARG(lexer->value));
  if (!field->repeated && !over && os_form_taken(field, frame->message))
    return os_form_fault(self, &os_rule_form_field, field, lexer->start, lexer->end,
                         "%s of %s, or another member of its oneof, stands here twice", field->field->name,
                         frame->plan->type->short_name);
  NEXT(lexer);
  bool message = field->type == PROTOBUF_C_TYPE_MESSAGE;
  if (lexer->sign == ':')
    NEXT(lexer);
  else if (!message)
    return os_form_unexpected(self, lexer, ":");
  if (!field->repeated || lexer->sign != '[')
    return message ? os_form__enter(self, lexer, field, false) : os_form__scalar(self, lexer, field);
  NEXT(lexer);
  if (message && lexer->sign != ']') return os_form__enter(self, lexer, field, true);
  while (lexer->sign != ']') {
    OS_TRY(os_form__scalar(self, lexer, field));
    if (lexer->sign != ',' && lexer->sign != ']') return os_form_unexpected(self, lexer, ", or ]");
    if (lexer->sign == ',') NEXT(lexer);
  }
  NEXT(lexer);
  return OS_OK;
}

os_status os_form_fill(os_form_reader *self, os_lexer *lexer, char close, bool over) {
  size_t base = self->frames.count;
  os_form_top(self)->close = close;
  while (self->frames.count >= base) {
    os_form_frame *frame = os_form_top(self);
    bool done = frame->close == 0 ? lexer->token == OS_TOKEN_END : lexer->sign == frame->close;
    if (!done) {
      size_t depth = self->frames.count;
      OS_TRY(os_form__field(self, lexer, over));
      if (self->frames.count > depth) continue;
    } else {
      const os_plan_field *field = frame->field;
      bool list = frame->list;
      self->frames.count--;
      NEXT(lexer);
      if (list && lexer->sign == ',') {
        NEXT(lexer);
        OS_TRY(os_form__enter(self, lexer, field, true));
        continue;
      }
      if (list && lexer->sign != ']') return os_form_unexpected(self, lexer, ", or ]");
      if (list) NEXT(lexer);
      if (self->frames.count < base) return OS_OK;
    }
    if (lexer->sign == ',' || lexer->sign == ';') NEXT(lexer);
  }
  return OS_OK;
}

os_status os_form_read_text(const os_form_input *input, void **message) {
  os_form_reader self;
  os_lexer lexer = {.text = input->text, .arena = input->arena};
  OS_TRY(os_form_begin(&self, input, message));
  if (!os_lexer_next(&lexer)) return OS_OUT_OF_MEMORY;
  return os_form_fill(&self, &lexer, 0, false);
}
