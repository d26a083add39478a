#include "form_read.h"

#include "decimal.h"
#include "format.h"
#include "text_class.h"
#include "walk.h"
#include "wire_rules.h"

#include <math.h>
#include <stdarg.h>

void os_form_stop(os_form_reader *self, os_status status) {
  if (self->status == OS_OK) self->status = status;
  self->lexer = (os_lexer){.text = {"", 0}, .token = OS_TOKEN_END, .value = {"", 0}};
}

void os_form_begin(os_form_reader *self, const os_form_input *input, bool onnx, void **message) {
  *self = (os_form_reader){.input = *input, .plans = {.arena = input->arena}};
  if (self->input.depth == 0) self->input.depth = OS_PROTO_DEPTH_DEFAULT;
  self->lexer = (os_lexer){.text = input->text, .arena = input->arena, .onnx = onnx};
  if (os_str_starts(input->text, OS_STR("\xef\xbb\xbf"))) self->lexer.end = 3; // a byte-order mark
  ((ProtobufCMessage *)(void *)self->spare)->descriptor = input->type;
  *message = os_proto_new(input->arena, input->type, NULL);
  if (*message == NULL || !os_plans_all(&self->plans, input->type))
    os_form_stop(self, OS_OUT_OF_MEMORY);
  else
    os_form_push(self, NULL, *message, 0, 0);
}

void os_form_push(os_form_reader *self, const os_plan_field *field, ProtobufCMessage *message, size_t start,
                  size_t end) {
  if (self->frames.count >= self->input.depth) os_form_too_deep(self, start, end);
  if (self->status != OS_OK) return;
  size_t index = 0;
  if (field != NULL && field->repeated) index = *os_plan_count(field, os_form_top(self)->message) - 1;
  os_form_frame *frame = OS_PUSH(self->input.arena, &self->frames);
  if (frame == NULL) {
    os_form_stop(self, OS_OUT_OF_MEMORY);
    return;
  }
  const os_plan *plan = field == NULL ? os_form_plan(self, message) : os_plans_child(&self->plans, field);
  *frame = (os_form_frame){.plan = plan, .message = message, .field = field, .index = index};
}

bool os_form_home(os_arena *arena, const os_plan *plan, const os_plan_field *field, void *message) {
  if (field->aside == 0) return true;
  void **rare = (void **)(void *)((char *)message + field->aside);
  if (*rare == NULL) *rare = os_arena_zalloc(arena, plan->rare->sizeof_message);
  return *rare != NULL;
}

// The list with room for `more` elements, at least one, which are zeros; NULL when memory is exhausted. The room is a power of two.
static char *os_form__grow(os_arena *arena, void *list, size_t had, size_t more, size_t size) {
  size_t all, bytes;
  if (!os_size_add(had, more, &all) || all > SIZE_MAX / 4) return NULL;
  if (all <= os_size_power(had)) return list;
  if (!os_size_mul(os_size_power(all), size, &bytes)) return NULL;
  char *grown = os_arena_grow(arena, list, had * size, bytes);
  if (grown != NULL) memset(grown + had * size, 0, bytes - had * size);
  return grown;
}

static bool os_form__has_home(os_form_reader *self, const os_plan_field *field, void *message) {
  return self->status == OS_OK &&
         (field->aside == 0 || os_form_home(self->input.arena, os_form_plan(self, message), field, message));
}

void *os_form_slots(os_form_reader *self, const os_plan_field *field, void *message, size_t more) {
  if (os_form__has_home(self, field, message)) {
    size_t *count = os_plan_count(field, message), had = *count;
    char **list = (char **)os_plan_member(field, message);
    char *grown = os_form__grow(self->input.arena, *list, had, more, field->size);
    if (grown != NULL) {
      *list = grown;
      *count = had + more;
      return grown + had * field->size;
    }
  }
  os_form_stop(self, OS_OUT_OF_MEMORY);
  return NULL;
}

void *os_form_slot(os_form_reader *self, const os_plan_field *field, void *message) {
  void *slot = NULL;
  if (self->status == OS_OK && field->repeated) { // once reading has stopped there may be no field
    slot = os_form_slots(self, field, message, 1);
  } else if (os_form__has_home(self, field, message)) {
    slot = os_plan_member(field, message);
    memset(slot, 0, field->size);
    os_plan_set_has(field, message);
  } else {
    os_form_stop(self, OS_OUT_OF_MEMORY);
  }
  return slot != NULL ? slot : self->spare_slot;
}

ProtobufCMessage *os_form_child(os_form_reader *self, const os_plan_field *field, void *message) {
  void *slot = os_form_slot(self, field, message);
  ProtobufCMessage *child = NULL;
  if (self->status == OS_OK) child = os_proto_new(self->input.arena, field->field->descriptor, message);
  if (child != NULL) return *(ProtobufCMessage **)slot = child;
  os_form_stop(self, OS_OUT_OF_MEMORY);
  return (ProtobufCMessage *)(void *)self->spare;
}

void os_form_keep(os_form_reader *self, ProtobufCMessage *message, uint32_t number, uint32_t wire,
                  os_str body) {
  unsigned n = message->n_unknown_fields;
  ProtobufCMessageUnknownField *list = NULL;
  if (self->status == OS_OK)
    list = (void *)os_form__grow(self->input.arena, message->unknown_fields, n, 1, sizeof *list);
  if (list == NULL) {
    os_form_stop(self, OS_OUT_OF_MEMORY);
    return;
  }
  message->unknown_fields = list;
  list[n] = (ProtobufCMessageUnknownField){.tag = number,
                                           .wire_type = (ProtobufCWireType)wire,
                                           .len = body.len,
                                           .data = (uint8_t *)(uintptr_t)body.data};
  message->n_unknown_fields = n + 1;
}

bool os_form_is_name(const char *name, os_str text, bool camel) {
  if (!camel || os_str_is(text, name)) return os_str_is(text, name);
  size_t i = 0;
  for (; *name != 0; name++, i++) {
    char c = *name == '_' ? (char)(*++name - 'a' + 'A') : *name;
    if (i >= text.len || text.data[i] != c) return false;
  }
  return i == text.len;
}

const os_plan_field *os_form_find(const os_plan *plan, os_str name, bool camel) {
  for (uint32_t i = 0; i < plan->count; i++)
    if (os_form_is_name(plan->fields[i].field->name, name, camel)) return &plan->fields[i];
  return NULL;
}

void os_form_once(os_form_reader *self, const os_plan_field *field, const void *message, size_t start,
                  size_t end) {
  uint32_t which = 0;
  if (field->oneof) memcpy(&which, os_plan_home(field, message) + field->quantifier, sizeof which);
  if (which != 0 || os_plan_elements(field, message) > 0)
    os_form_fault(self, &os_rule_form_field, field, start, end,
                  "%s of %s, or another member of its oneof, stands here twice", field->field->name,
                  os_form_plan(self, message)->type->short_name);
}

// ---- Scalars ----------------------------------------------------------------------------------------------

bool os_form_natural(os_str text, uint64_t *out) {
  uint64_t base = 10;
  size_t i = 0;
  if (text.len > 1 && text.data[0] == '0') {
    i = (text.data[1] | 0x20) == 'x' ? 2 : 1;
    base = i == 2 ? 16 : 8;
  }
  *out = 0;
  bool good = i < text.len;
  for (; good && i < text.len; i++) {
    uint64_t digit = (uint64_t)os_hex_digit(text.data[i]);
    good =
        digit < base && !__builtin_mul_overflow(*out, base, out) && !__builtin_add_overflow(*out, digit, out);
  }
  return good;
}

// Words for NaN and infinities.
static bool os_form__special(const os_form_scalar *scalar, double *out) {
  static const char *const words[] = {"NaN", "Infinity", "inf"};
  os_str text = scalar->text;
  for (size_t i = 0; i < (scalar->json ? 2 : 3); i++) {
    bool same = strlen(words[i]) == text.len;
    for (size_t j = 0; same && j < text.len; j++)
      same = scalar->json ? text.data[j] == words[i][j] : (text.data[j] | 0x20) == (words[i][j] | 0x20);
    if (!same) continue;
    uint64_t nan = (uint64_t)0x7ff8 << 48;
    *out = INFINITY;
    if (i == 0) memcpy(out, &nan, 8);
    return true;
  }
  return false;
}

static const char *os_form__put_float(const os_plan_field *field, const os_form_scalar *scalar, void *to) {
  double value;
  os_str text = scalar->text;
  bool single = field->type == PROTOBUF_C_TYPE_FLOAT, good = os_form__special(scalar, &value);
  if (scalar->kind == OS_FORM_NUMBER) {
    if ((text.data[text.len - 1] | 0x20) == 'f') text.len--;
    bool c = text.len > 1 && text.data[0] == '0' && text.data[1] != '.' && (text.data[1] | 0x20) != 'e';
    value = c ? 0 : single ? (double)os_decimal_float(text) : os_decimal_double(text);
    good = !c && !(isinf(value) && scalar->json); // texts let it become infinite
  }
  if (!good) return "a number that the type can hold, nan or infinity";
  uint64_t bits;
  memcpy(&bits, &value, 8); // the sign of a NaN, too, whatever an engine makes of it
  bits ^= (uint64_t)scalar->negative << 63;
  if (!single) {
    memcpy(to, &bits, 8);
    return NULL;
  }
  float narrow = (float)value;
  uint32_t half;
  memcpy(&half, &narrow, 4);
  if (isnan(value)) half = 0x7fc00000;
  half ^= (uint32_t)scalar->negative << 31;
  memcpy(to, &half, 4);
  return NULL;
}

static const char *os_form__put_enum(const os_plan_field *field, os_str name, void *to) {
  const ProtobufCEnumDescriptor *type = field->field->descriptor;
  for (unsigned i = 0; i < type->n_values; i++)
    if (os_str_is(name, type->values[i].name)) {
      int32_t value = type->values[i].value;
      memcpy(to, &value, 4);
      return NULL;
    }
  return "one of its names";
}

static bool os_form__enum_has(const os_plan_field *field, uint64_t value) {
  const ProtobufCEnumDescriptor *type = field->field->descriptor;
  for (unsigned i = 0; i < type->n_values; i++)
    if ((uint64_t)(int64_t)type->values[i].value == value) return true;
  return false;
}

static const char *os_form__put_integer(const os_plan_field *field, const os_form_scalar *scalar, void *to) {
  static const char small[] = "an integer from -2147483648 to 2147483647", large[] = "an integer of 64 bits",
                    natural[] = "an integer of 64 bits that is not negative";
  const char *wanted = field->size == 4 ? small : field->type == PROTOBUF_C_TYPE_UINT64 ? natural : large;
  if (field->type == PROTOBUF_C_TYPE_ENUM) {
    if (scalar->kind == OS_FORM_WORD) return os_form__put_enum(field, scalar->text, to);
    wanted = "one of its names or numbers";
  }
  bool negative = scalar->negative;
  if (scalar->kind != OS_FORM_NUMBER) return wanted;
  uint64_t value, most = field->size == 4 ? INT32_MAX : INT64_MAX;
  os_decimal number = {0};
  if (scalar->json) number = os_decimal_of(scalar->text);
  if (!(scalar->json ? os_decimal_uint64(&number, &value) : os_form_natural(scalar->text, &value)))
    return wanted;
  if (field->type == PROTOBUF_C_TYPE_UINT64) most = negative ? 0 : UINT64_MAX;
  if (value > most + (negative && field->type != PROTOBUF_C_TYPE_UINT64)) return wanted;
  if (negative) value = 0 - value;
  if (field->type == PROTOBUF_C_TYPE_ENUM && !os_form__enum_has(field, value)) return wanted;
  uint32_t half = (uint32_t)value;
  if (field->size == 4)
    memcpy(to, &half, 4);
  else
    memcpy(to, &value, 8);
  return NULL;
}

static size_t os_form__digits(os_str text, size_t at) {
  while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9') at++;
  return at;
}

static bool os_form__is_number(os_str text) {
  size_t at = text.len > 0 && text.data[0] == '-', start = at;
  at = os_form__digits(text, at);
  if (at == start || (at > start + 1 && text.data[start] == '0')) return false;
  if (at < text.len && text.data[at] == '.') {
    start = at + 1;
    at = os_form__digits(text, start);
    if (at == start) return false;
  }
  if (at < text.len && (text.data[at] | 0x20) == 'e') {
    at++;
    if (at < text.len && (text.data[at] == '-' || text.data[at] == '+')) at++;
    start = at;
    at = os_form__digits(text, start);
    if (at == start) return false;
  }
  return at == text.len;
}

const char *os_form_put(const os_plan_field *field, const os_form_scalar *scalar, void *to) {
  os_form_scalar self = *scalar;
  if (field->type == PROTOBUF_C_TYPE_BYTES) {
    if (scalar->kind != OS_FORM_STRING) return "a string";
    *(ProtobufCBinaryData *)to = os_bytes_of(scalar->text);
    return NULL;
  }
  if (self.json && self.kind == OS_FORM_STRING)
    self.kind = os_form__is_number(self.text) ? OS_FORM_NUMBER : OS_FORM_WORD;
  if (self.json && self.text.len > 0 && self.text.data[0] == '-') {
    self.negative = true;
    self.text = os_str_slice(self.text, 1, self.text.len);
  }
  bool floating = field->type == PROTOBUF_C_TYPE_FLOAT || field->type == PROTOBUF_C_TYPE_DOUBLE;
  return (floating ? os_form__put_float : os_form__put_integer)(field, &self, to);
}

// ---- Words ------------------------------------------------------------------------------------------------

void os_form_next(os_form_reader *self) {
  os_lexer_next(&self->lexer);
  if (self->lexer.failed) os_form_stop(self, OS_OUT_OF_MEMORY);
}

bool os_form_take(os_form_reader *self, char sign) {
  if (self->lexer.sign != sign) return false;
  os_form_next(self);
  return true;
}

void os_form_match(os_form_reader *self, char sign) {
  char wanted[2] = {sign, 0};
  if (!os_form_take(self, sign)) os_form_unexpected(self, wanted);
}

// The string at the lexer behind `text`.
static os_str os_form__join(os_form_reader *self, os_str text, char **room, size_t *size) {
  os_str part = self->lexer.value;
  size_t all = text.len + part.len;
  if (*room == NULL || all > *size) {
    *size = all * 2;
    char *grown = os_arena_alloc(self->input.arena, *size);
    if (grown == NULL) {
      os_form_stop(self, OS_OUT_OF_MEMORY);
      return text;
    }
    if (text.len > 0) memcpy(grown, text.data, text.len);
    *room = grown;
  }
  if (part.len > 0) memcpy(*room + text.len, part.data, part.len);
  return (os_str){*room, all};
}

os_form_scalar os_form_literal(os_form_reader *self, bool parts) {
  os_form_scalar out = {.negative = os_form_take(self, '-')};
  os_token token = self->lexer.token;
  out.text = self->lexer.value;
  out.kind = token == OS_TOKEN_WORD     ? OS_FORM_WORD
             : token == OS_TOKEN_NUMBER ? OS_FORM_NUMBER
                                        : OS_FORM_STRING;
  if (out.kind == OS_FORM_STRING && (token != OS_TOKEN_STRING || out.negative))
    os_form_unexpected(self, out.negative ? "a number" : "a value");
  os_form_next(self);
  char *room = NULL;
  size_t size = 0;
  for (; parts && out.kind == OS_FORM_STRING && self->lexer.token == OS_TOKEN_STRING; os_form_next(self))
    out.text = os_form__join(self, out.text, &room, &size);
  return out;
}

// ---- Faults -----------------------------------------------------------------------------------------------

static os_str os_form__path(const os_form_reader *self, const os_plan_field *field) {
  os_arena *arena = self->input.report->arena;
  size_t count = self->frames.count;
  os_path *steps = OS_ARENA_ARRAY(arena, count + 1, os_path);
  if (steps == NULL) return (os_str){"", 0};
  const os_path *last = NULL;
  for (size_t i = 1; i <= count; i++) {
    const os_form_frame *frame = i < count ? &self->frames.items[i] : NULL;
    const os_plan_field *step = frame == NULL ? field : frame->field;
    if (step == NULL) continue;
    int64_t index = frame != NULL && step->repeated ? (int64_t)frame->index : -1;
    steps[i] = (os_path){last, os_str_of(step->field->name), index};
    last = &steps[i];
  }
  return os_path_print(last, arena);
}

void os_form_fault(os_form_reader *self, const os_rule *rule, const os_plan_field *field, size_t start,
                   size_t end, const char *format, ...) {
  if (self->status != OS_OK) return;
  os_report *report = self->input.report;
  va_list arguments;
  va_start(arguments, format);
  os_str message = os_arena_format_list(report->arena, format, arguments);
  va_end(arguments);
  os_finding *finding = os_report_add(report, rule, "%.*s", OS_ARG(message));
  finding->where.path = os_form__path(self, field);
  os_where_range(&finding->where, start, end);
  os_form_stop(self, OS_MALFORMED);
}

void os_form_unexpected(os_form_reader *self, const char *wanted) {
  const os_lexer *lexer = &self->lexer;
  size_t end = lexer->end - lexer->start > 40 ? lexer->start + 40 : lexer->end;
  os_str found = os_str_slice(lexer->text, lexer->start, end);
  if (lexer->token == OS_TOKEN_FAULT)
    os_form_fault(self, &os_rule_form_syntax, NULL, lexer->start, lexer->end, "%s", lexer->fault);
  else if (lexer->token == OS_TOKEN_END)
    os_form_fault(self, &os_rule_form_syntax, NULL, lexer->start, lexer->end,
                  "the text ends where %s should stand", wanted);
  else
    os_form_fault(self, &os_rule_form_syntax, NULL, lexer->start, lexer->end,
                  "%s should stand here, found %.*s", wanted, OS_ARG(found));
}

void os_form_too_deep(os_form_reader *self, size_t start, size_t end) {
  os_form_fault(self, &os_rule_form_depth, NULL, start, end, "messages are nested more than %u deep",
                self->input.depth);
  if (self->status == OS_MALFORMED) self->status = OS_LIMIT;
}
