#include "base64.h"
#include "decimal.h"
#include "form.h"
#include "format.h"
#include "json_write.h"
#include "utf8.h"
#include "walk.h"
#include "wire.h"
#include "wire_rules.h"

#include <inttypes.h>
#include <math.h>

// A number as it was printed before.
typedef struct os_form_number {
  uint64_t bits;
  size_t len; // 0 = none
  bool narrow;
  char digits[OS_DOUBLE_ROOM];
} os_form_number;
typedef struct os_form_writer {
  os_text *out;
  os_form form;
  bool json, lines; // not the text format; broken into lines
  bool special;     // has written an object that begins with '$'
  size_t start, depth;
  const os_source *source;
  os_report *report;
  os_walk walk;
  os_form_number *numbers;
  size_t number_count;
} os_form_writer;

static void os_form__lost(os_form_writer *self, const os_plan_field *field, int64_t index, const char *what) {
  if (self->report == NULL) return;
  os_str path = os_walk_path(&self->walk, self->report->arena, field, index);
  os_finding *finding = os_report_add(self->report, &os_rule_form_lost, "%.*s: %s",
                                      OS_ARG(path.len > 0 ? path : OS_STR("the message")), what);
  finding->where.path = path;
}

// ---- Layout -----------------------------------------------------------------------------------------------

static void os_form__line(os_form_writer *self) {
  os_text *out = self->out;
  if (out->len == self->start || out->failed) return;
  if (!self->lines && !self->json && out->data[out->len - 1] != '{') os_text_char(out, ' ');
  if (!self->lines) return;
  os_text_char(out, '\n');
  for (size_t i = 0; i < self->depth; i++) os_text_puts(out, "  ");
}

static void os_form__open(os_form_writer *self, char bracket) {
  os_text_char(self->out, bracket);
  self->depth++;
}

static void os_form__close(os_form_writer *self, char bracket, bool any) {
  self->depth--;
  if (any && self->lines) os_form__line(self);
  os_text_char(self->out, bracket);
}

// Begins a member: float_data becomes floatData in JSON; a name never begins with '_'.
static void os_form__name(os_form_writer *self, bool *any, const char *name) {
  os_text *out = self->out;
  if (*any && self->json) os_text_char(out, ',');
  *any = true;
  os_form__line(self);
  if (!self->json) {
    os_text_puts(out, name);
    return;
  }
  char member[64];
  size_t n = 0;
  member[n++] = '"';
  for (; *name != 0 && n < sizeof member - 4; name++) {
    if (*name == '_' && name[1] >= 'a' && name[1] <= 'z')
      member[n++] = (char)(*++name - 'a' + 'A');
    else if (*name != '_')
      member[n++] = *name;
  }
  member[n++] = '"';
  member[n++] = ':';
  if (self->lines) member[n++] = ' ';
  os_text_put(out, (os_str){member, n});
}

// ---- Scalars ----------------------------------------------------------------------------------------------

// Around 64-bit integers, and around NaN and infinities.
static void os_form__wrap(os_form_writer *self, char kind, const char *text) {
  self->special = true;
  if (self->form == OS_FORM_SCRIPT)
    os_text_format(self->out, "{\"$%c\":\"%s\"}", kind, text);
  else
    os_text_format(self->out, self->json ? "\"%s\"" : "%s", text);
}

static void os_form__float(os_form_writer *self, double value, bool narrow) {
  os_text *out = self->out;
  if (isfinite(value)) {
    bool short_one = narrow && self->form != OS_FORM_SCRIPT;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    // Attributes of a graph are mostly the same few numbers, and printing one takes a while.
    os_form_number *known = &self->numbers[(bits ^ bits >> 29 ^ bits >> 45) % self->number_count];
    if (known->len == 0 || known->bits != bits || known->narrow != short_one) {
      known->len =
          short_one ? os_float_print((float)value, known->digits) : os_double_print(value, known->digits);
      known->bits = bits;
      known->narrow = short_one;
    }
    if (value == 0 && signbit(value)) os_text_char(out, '-');
    os_text_put(out, (os_str){known->digits, known->len});
    return;
  }
  if (isnan(value))
    os_form__wrap(self, 'n', self->json ? "NaN" : signbit(value) ? "-nan" : "nan");
  else
    os_form__wrap(self, 'n', (self->json ? "-Infinity" : "-inf") + !signbit(value));
}

// Whether `bits` are a NaN that its word does not say.
static bool os_form__odd_nan(const os_form_writer *self, uint64_t bits, bool narrow) {
  unsigned fraction = narrow ? 23 : 52, width = narrow ? 32 : 64;
  uint64_t sign = (uint64_t)1 << (width - 1), magnitude = bits & (sign - 1),
           quiet = (sign - 1) >> (fraction - 1) << (fraction - 1);
  if (magnitude <= (quiet & ~((uint64_t)1 << (fraction - 1)))) return false; // a number or infinite
  return magnitude != quiet || (self->json && magnitude != bits);
}

static const char *os_form__enum_name(const os_plan_field *field, int32_t value) {
  const ProtobufCEnumDescriptor *type = field->field->descriptor;
  for (unsigned i = 0; i < type->n_values; i++)
    if (type->values[i].value == value) return type->values[i].name;
  return NULL;
}

// Our .proto files have no other types than these.
static void os_form__number(os_form_writer *self, const os_plan_field *field, int64_t index,
                            const char *element) {
  uint64_t large = 0;
  uint32_t small = 0;
  double value;
  float narrow;
  memcpy(field->size == 8 ? (void *)&large : (void *)&small, element, field->size == 8 ? 8 : 4);
  const char *name = NULL;
  char text[24];
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64:
    os_format(text, sizeof text, field->type == PROTOBUF_C_TYPE_INT64 ? "%" PRId64 : "%" PRIu64, large);
    os_form__wrap(self, 'i', text);
    return;
  case PROTOBUF_C_TYPE_DOUBLE:
  case PROTOBUF_C_TYPE_FLOAT:
    memcpy(&value, &large, 8);
    memcpy(&narrow, &small, 4);
    if (field->size == 4) value = (double)narrow;
    os_form__float(self, value, field->size == 4);
    if (self->report != NULL && os_form__odd_nan(self, field->size == 4 ? small : large, field->size == 4))
      os_form__lost(self, field, index, "what this NaN carries; it becomes the usual one");
    return;
  case PROTOBUF_C_TYPE_ENUM:
    if (self->form != OS_FORM_SCRIPT) name = os_form__enum_name(field, (int32_t)small);
    break;
  default: break;
  }
  if (name == NULL)
    os_text_format(self->out, "%" PRId32, (int32_t)small);
  else
    os_text_format(self->out, self->json ? "\"%s\"" : "%s", name);
}

void os_form_write_number(os_text *out, const os_plan_field *field, const char *element) {
  os_form_number number = {0};
  os_form_writer self = {.out = out, .form = OS_FORM_LINE, .numbers = &number, .number_count = 1};
  os_form__number(&self, field, -1, element);
}

// A string of the text format. UTF-8 stays as it is in texts, everything else that is not ASCII is escaped.
static void os_form__quote(os_text *out, os_str bytes, bool text) {
  static const char from[] = "\n\r\t\"\\", into[] = "nrt\"\\";
  text = text && os_utf8_valid(bytes) == bytes.len;
  os_text_char(out, '"');
  for (size_t i = 0; i < bytes.len; i++) {
    unsigned char c = (unsigned char)bytes.data[i];
    const char *known = c == 0 ? NULL : strchr(from, c);
    if (known != NULL) {
      os_text_char(out, '\\');
      os_text_char(out, into[known - from]);
    } else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !text)) {
      os_text_char(out, '\\');
      for (int shift = 6; shift >= 0; shift -= 3) os_text_char(out, (char)('0' + (c >> shift & 7)));
    } else {
      os_text_char(out, (char)c);
    }
  }
  os_text_char(out, '"');
}

static void os_form__reference(os_form_writer *self, ProtobufCBinaryData bytes) {
  const os_source *source = self->source;
  uint64_t length = os_bytes_length(bytes);
  if (os_bytes_is_far(bytes)) {
    os_text_format(self->out, "{\"$b\":[%" PRIu64 ",%" PRIu64 "]}",
                   ((const os_far *)(const void *)bytes.data)->offset, length);
  } else if (source != NULL && source->data != NULL && (uintptr_t)bytes.data >= (uintptr_t)source->data &&
             (uintptr_t)bytes.data - (uintptr_t)source->data < source->length) {
    os_text_format(self->out, "{\"$b\":[%zu,%" PRIu64 "]}", (size_t)(bytes.data - source->data), length);
  } else {
    os_text_format(self->out, "{\"$m\":[%" PRIuPTR ",%" PRIu64 "]}", (uintptr_t)bytes.data, length);
  }
}

static os_status os_form__bytes(os_form_writer *self, const os_plan_field *field, int64_t index,
                                ProtobufCBinaryData bytes) {
  os_str loaded;
  if (self->form == OS_FORM_SCRIPT && !field->text) {
    self->special = true;
    os_form__reference(self, bytes);
    return OS_OK;
  }
  OS_TRY(os_bytes_load(self->source, &self->walk.arena, bytes, &loaded));
  if (!self->json) {
    os_form__quote(self->out, loaded, field->text);
  } else if (field->text) {
    os_json_write_string(self->out, loaded);
    if (self->report != NULL && os_utf8_valid(loaded) < loaded.len)
      os_form__lost(self, field, index, "bytes that are no UTF-8; they become U+FFFD");
  } else {
    os_text_char(self->out, '"');
    os_base64_write(self->out, loaded);
    os_text_char(self->out, '"');
  }
  return OS_OK;
}

static os_status os_form__element(os_form_writer *self, const os_plan_field *field, int64_t index,
                                  const char *element) {
  ProtobufCBinaryData bytes;
  if (field->wire != OS_WIRE_BYTES) {
    os_form__number(self, field, index, element);
    return OS_OK;
  }
  memcpy(&bytes, element, sizeof bytes);
  return os_form__bytes(self, field, index, bytes);
}

// Name of the typed array that holds a list of this type; NULL for lists that are written out.
static const char *os_form__array(uint8_t type) {
  switch (type) {
  case PROTOBUF_C_TYPE_FLOAT: return "f32";
  case PROTOBUF_C_TYPE_DOUBLE: return "f64";
  case PROTOBUF_C_TYPE_INT64: return "i64";
  case PROTOBUF_C_TYPE_UINT64: return "u64";
  case PROTOBUF_C_TYPE_BYTES: return NULL;
  default: return "i32";
  }
}

// A list that is outside, by its place.
static os_status os_form__far(os_form_writer *self, const os_far_list *far) {
  if (self->form != OS_FORM_SCRIPT) return OS_INVALID_ARGUMENT; // os_proto_load_lists has brought it in
  self->special = true;
  os_text_format(self->out, "{\"$f\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]}", far->bytes.offset,
                 far->bytes.length, far->count);
  return OS_OK;
}

static os_status os_form__field(os_form_writer *self) {
  const os_plan_field *field = self->walk.field;
  const char *list = os_plan_list(field, os_walk_top(&self->walk)->message), *array = NULL;
  size_t count = self->walk.count;
  os_form__name(self, &os_walk_top(&self->walk)->any, field->field->name);
  if (!self->json) os_text_puts(self->out, ": ");
  if (!field->repeated) return os_form__element(self, field, -1, list);
  if (count == 0) return os_form__far(self, os_plan_far(field, os_walk_top(&self->walk)->message));
  if (self->form == OS_FORM_SCRIPT) array = os_form__array(field->type);
  if (array != NULL) {
    self->special = true;
    os_text_format(self->out, "{\"$a\":[\"%s\",%" PRIuPTR ",%zu]}", array, (uintptr_t)list, count);
    return OS_OK;
  }
  for (size_t i = 0; i < count; i++) {
    os_text_puts(self->out, i == 0 ? "[" : self->form == OS_FORM_SCRIPT ? "," : ", ");
    OS_TRY(os_form__element(self, field, (int64_t)i, list + i * field->size));
  }
  os_text_char(self->out, ']');
  return self->out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

// ---- Unknown fields of the text format --------------------------------------------------------------------

// One field whose content begins at `p`; answers where it ends. Decoding has seen that it is well-formed.
static const uint8_t *os_form__unknown(os_form_writer *self, bool *any, uint32_t number, uint32_t wire,
                                       const uint8_t *p, const uint8_t *end) {
  char name[12];
  uint64_t value = 0;
  os_format(name, sizeof name, "%" PRIu32, number);
  if (wire == OS_WIRE_END) {
    os_form__close(self, '}', true);
    return p;
  }
  os_form__name(self, any, name);
  if (wire == OS_WIRE_GROUP) {
    os_text_char(self->out, ' ');
    os_form__open(self, '{');
    return p;
  }
  os_text_puts(self->out, ": ");
  if (wire == OS_WIRE_VARINT || wire == OS_WIRE_BYTES) {
    p += os_varint_read(p, end, &value);
    if (wire == OS_WIRE_VARINT) {
      os_text_format(self->out, "%" PRIu64, value);
      return p;
    }
    os_form__quote(self->out, (os_str){(const char *)p, (size_t)value}, false);
    return p + value;
  }
  size_t size = wire == OS_WIRE_64 ? 8 : 4;
  memcpy(&value, p, size);
  os_text_format(self->out, size == 8 ? "0x%016" PRIx64 : "0x%08" PRIx64, value);
  return p + size;
}

static os_status os_form__unknown_fields(os_form_writer *self) {
  os_walk_frame *frame = os_walk_top(&self->walk);
  for (unsigned i = 0; i < frame->message->n_unknown_fields; i++) {
    const ProtobufCMessageUnknownField *unknown = &frame->message->unknown_fields[i];
    uint32_t number = unknown->tag, wire = (uint32_t)unknown->wire_type;
    os_str bytes;
    OS_TRY(os_bytes_load(self->source, &self->walk.arena, (ProtobufCBinaryData){unknown->len, unknown->data},
                         &bytes));
    const uint8_t *p = (const uint8_t *)bytes.data, *end = p + bytes.len;
    for (;;) { // a group brings fields of its own
      uint64_t tag;
      p = os_form__unknown(self, &frame->any, number, wire, p, end);
      if (p >= end) break;
      p += os_varint_read(p, end, &tag);
      number = (uint32_t)(tag >> 3);
      wire = (uint32_t)(tag & 7);
    }
  }
  return OS_OK;
}

// ---- Messages ---------------------------------------------------------------------------------------------

static void os_form__message(os_form_writer *self) {
  os_walk *walk = &self->walk;
  os_walk_frame *outer = os_walk_top(walk) - 1;
  if (!self->json || walk->index == 0) {
    os_form__name(self, &outer->any, walk->field->field->name);
    if (!self->json) os_text_char(self->out, ' ');
    if (self->json && walk->field->repeated) os_form__open(self, '[');
  } else {
    os_text_char(self->out, ',');
  }
  if (self->json && walk->field->repeated) os_form__line(self);
  os_form__open(self, '{');
}

static os_status os_form__end(os_form_writer *self, bool root) {
  os_walk *walk = &self->walk;
  os_walk_frame *frame = os_walk_top(walk);
  if (!self->json) {
    OS_TRY(os_form__unknown_fields(self));
    if (root) return OS_OK;
  } else if (self->form == OS_FORM_JSON && frame->message->n_unknown_fields > 0) {
    os_form__lost(self, NULL, -1, "fields that its definition does not have");
  }
  os_form__close(self, '}', frame->any);
  if (!root && self->json && walk->field->repeated && walk->index + 1 == walk->count)
    os_form__close(self, ']', true);
  return self->out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_status os_form__event(os_form_writer *self, os_walk_event event) {
  if (event == OS_WALK_FIELD) return os_form__field(self);
  if (event == OS_WALK_OPEN) os_form__message(self);
  return event == OS_WALK_OPEN ? OS_OK : os_form__end(self, event == OS_WALK_END);
}

os_status os_form_write(os_text *out, os_form form, const os_source *source, const void *message,
                        os_report *report) {
  os_form_number numbers[64] = {0};
  os_form_writer self = {.out = out, .form = form, .source = source, .report = report, .start = out->len};
  self.numbers = numbers;
  self.number_count = sizeof numbers / sizeof *numbers;
  self.json = form == OS_FORM_SCRIPT || form == OS_FORM_JSON;
  self.lines = form == OS_FORM_JSON || form == OS_FORM_TEXT;
  os_status status = os_walk_begin(&self.walk, out->memory, message);
  if (self.json) os_form__open(&self, '{');
  for (os_walk_event event = OS_WALK_OPEN; status == OS_OK && event != OS_WALK_END;) {
    status = os_walk_next(&self.walk, &event);
    if (status == OS_OK) status = os_form__event(&self, event);
  }
  if (form == OS_FORM_SCRIPT && !self.special) os_text_char(out, '\n');
  os_walk_free(&self.walk);
  return out->failed ? OS_OUT_OF_MEMORY : status;
}
