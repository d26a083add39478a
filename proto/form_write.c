#include "base64.h"
#include "decimal.h"
#include "form.h"
#include "format.h"
#include "json_write.h"
#include "utf8.h"
#include "walk.h"
#include "wire.h"
#include "wire_rules.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

// A number as it was printed before.
typedef struct os_form_number {
  uint64_t bits;
  size_t len; // 0 = none
  bool narrow;
  char digits[OS_DOUBLE_ROOM];
} os_form_number;
struct os_form_writer {
  os_text *out;
  os_form form;
  bool json, lines; // not the text format; broken into lines
  bool special;     // has written an object that begins with '$'
  bool begun;
  size_t depth;
  const os_source *source;
  os_report *report;
  os_walk walk;
  os_form_number *numbers;
  size_t number_count;
  char *piece; // OS_FORM_PIECE bytes of what is outside; NULL = not yet needed
};

enum { NUMBERS = 64, OS_FORM_PIECE = 3 << 14 }; // base64 takes three bytes at a time

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
  bool first = !self->begun;
  self->begun = true;
  if (first || out->failed) return;
  if (!self->lines && !self->json && (out->len == 0 || out->data[out->len - 1] != '{'))
    os_text_char(out, ' ');
  if (!self->lines) return;
  static const char blank[] = "\n                                ";
  size_t n = 1 + 2 * self->depth, most = sizeof blank - 1;
  os_text_put(out, (os_str){blank, n < most ? n : most});
  for (; n > most; n -= 2) os_text_puts(out, "  ");
}

static void os_form__open(os_form_writer *self, char bracket) {
  self->begun = true;
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
static void os_form__wrap(os_form_writer *self, char kind, os_str text) {
  os_text *out = self->out;
  self->special = true;
  if (self->form == OS_FORM_SCRIPT) {
    char head[] = "{\"$i\":";
    head[3] = kind;
    os_text_puts(out, head);
  }
  if (self->json) os_text_char(out, '"');
  os_text_put(out, text);
  if (self->json) os_text_char(out, '"');
  if (self->form == OS_FORM_SCRIPT) os_text_char(out, '}');
}

enum { INTEGER = 20 }; // most characters of an integer of 64 bits

// Lists hold very many: not by a format.
static os_str os_form__integer(uint64_t value, bool negative, char *text) {
  size_t at = INTEGER;
  if (negative) value = 0 - value;
  for (; value > UINT32_MAX; value /= 10) text[--at] = (char)('0' + value % 10);
  uint32_t low = (uint32_t)value; // which is divided faster
  do text[--at] = (char)('0' + low % 10);
  while ((low /= 10) > 0);
  if (negative) text[--at] = '-';
  return (os_str){text + at, INTEGER - at};
}

void os_form_write_integers(os_text *out, const os_plan_field *field, const char *list, size_t count,
                            char quote) {
  enum { PART = 256, MOST = INTEGER + 4 }; // elements at a time, and what one may take
  for (size_t i = 0; i < count;) {
    size_t n = count - i < PART ? count - i : PART;
    char *to = os_text_extend(out, MOST * n), *end = to + MOST * n, text[INTEGER];
    if (to == NULL) return;
    for (n += i; i < n; i++) {
      uint64_t value;
      int32_t small;
      memcpy(field->size == 8 ? (void *)&value : (void *)&small, list + i * field->size, field->size);
      if (field->size == 4)
        value = field->type == PROTOBUF_C_TYPE_UINT32 ? (uint32_t)small : (uint64_t)(int64_t)small;
      bool negative = field->type != PROTOBUF_C_TYPE_UINT64 && (int64_t)value < 0;
      if (i > 0) {
        memcpy(to, ", ", 2);
        to += 2;
      }
      if (quote != 0) *to++ = quote;
      if (value < 10) {
        *to++ = (char)('0' + value);
      } else {
        os_str digits = os_form__integer(value, negative, text);
        os_bytes_copy(to, digits.data, digits.len);
        to += digits.len;
      }
      if (quote != 0) *to++ = quote;
    }
    out->len -= (size_t)(end - to);
  }
}

static void os_form__float(os_form_writer *self, double value, bool narrow) {
  os_text *out = self->out;
  if (self->json && narrow && fabs(value) == FLT_MAX && self->form != OS_FORM_SCRIPT) {
    // Its nearest decimal of that length is above it, and readers that compare before they round refuse that.
    os_text_puts(out, value < 0 ? "-3.4028234e+38" : "3.4028234e+38");
    return;
  }
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
    bool negative_zero = value == 0 && signbit(value);
    if (negative_zero) os_text_char(out, '-');
    os_text_put(out, (os_str){known->digits, known->len});
    if (negative_zero && self->json)
      os_text_puts(out, ".0"); // -0 is an integer to some readers of JSON, and those have no sign
    return;
  }
  const char *word = self->json ? "-Infinity" : isnan(value) ? "-nan" : "-inf";
  if (!signbit(value)) word++;
  if (self->json && isnan(value)) word = "NaN";
  os_form__wrap(self, 'n', os_str_of(word));
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
  char text[INTEGER];
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64:
    os_form__wrap(self, 'i',
                  os_form__integer(large, field->type == PROTOBUF_C_TYPE_INT64 && (int64_t)large < 0, text));
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
  if (name == NULL) {
    os_text_put(self->out, os_form__integer((uint64_t)(int32_t)small, (int32_t)small < 0, text));
    return;
  }
  if (self->json) os_text_char(self->out, '"');
  os_text_puts(self->out, name);
  if (self->json) os_text_char(self->out, '"');
}

void os_form_write_number(os_text *out, const os_plan_field *field, const char *element) {
  if (field->type == PROTOBUF_C_TYPE_INT64 || field->type == PROTOBUF_C_TYPE_UINT64) {
    uint64_t value;
    char text[INTEGER];
    memcpy(&value, element, sizeof value);
    bool negative = field->type == PROTOBUF_C_TYPE_INT64 && (int64_t)value < 0;
    os_text_put(out, os_form__integer(value, negative, text));
    return;
  }
  os_form_number number = {0};
  os_form_writer self = {.out = out, .form = OS_FORM_LINE, .numbers = &number, .number_count = 1};
  os_form__number(&self, field, -1, element);
}

// The inside of a string of the text format. UTF-8 stays as it is in texts, everything else that is not ASCII is escaped.
static void os_form__escape(os_text *out, os_str bytes, bool text) {
  enum { PART = 1024, MOST = 4 }; // bytes at a time, and what one of them may take
  static const char from[] = "\n\r\t\"\\", into[] = "nrt\"\\";
  text = text && os_utf8_valid(bytes) == bytes.len;
  for (size_t at = 0; at < bytes.len;) {
    size_t n = bytes.len - at < PART ? bytes.len - at : PART;
    char *to = os_text_extend(out, MOST * n), *end = to + MOST * n;
    if (to == NULL) return;
    for (size_t i = 0; i < n; i++) {
      unsigned char c = (unsigned char)bytes.data[at + i];
      bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
      if (plain || (text && c >= 0x80)) {
        *to++ = (char)c;
        continue;
      }
      const char *known = c == 0 ? NULL : strchr(from, c);
      *to++ = '\\';
      if (known != NULL) {
        *to++ = into[known - from];
        continue;
      }
      for (int shift = 6; shift >= 0; shift -= 3) *to++ = (char)('0' + (c >> shift & 7));
    }
    out->len -= (size_t)(end - to);
    at += n;
  }
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

static os_status os_form__piece(os_form_writer *self) {
  if (self->piece == NULL) self->piece = os_arena_alloc(&self->walk.arena, OS_FORM_PIECE);
  return self->piece == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

// Bytes that are no text, piece by piece.
static os_status os_form__payload(os_form_writer *self, ProtobufCBinaryData bytes) {
  uint64_t length = os_bytes_length(bytes);
  bool far = os_bytes_is_far(bytes);
  if (far) OS_TRY(os_form__piece(self));
  os_text_char(self->out, '"');
  for (uint64_t at = 0; at < length && !self->out->failed; at += OS_FORM_PIECE) {
    size_t n = length - at < OS_FORM_PIECE ? (size_t)(length - at) : OS_FORM_PIECE;
    if (far) OS_TRY(os_bytes_read(self->source, bytes, at, n, self->piece));
    os_str piece = {far ? self->piece : (const char *)bytes.data + (size_t)at, n};
    if (self->json)
      os_base64_write(self->out, piece);
    else
      os_form__escape(self->out, piece, false);
  }
  os_text_char(self->out, '"');
  return OS_OK;
}

static os_status os_form__bytes(os_form_writer *self, const os_plan_field *field, int64_t index,
                                ProtobufCBinaryData bytes) {
  if (!field->text) {
    if (self->form != OS_FORM_SCRIPT) return os_form__payload(self, bytes);
    self->special = true;
    os_form__reference(self, bytes);
    return OS_OK;
  }
  os_str text = os_bytes_str(bytes);
  if (!self->json) {
    os_text_char(self->out, '"');
    os_form__escape(self->out, text, true);
    os_text_char(self->out, '"');
    return OS_OK;
  }
  os_json_write_string(self->out, text);
  if (self->report != NULL && os_utf8_valid(text) < text.len)
    os_form__lost(self, field, index, "bytes that are no UTF-8; they become U+FFFD");
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

// A list that is outside: for JavaScript its place, else its elements, piece by piece.
static os_status os_form__far(os_form_writer *self, const os_plan_field *field, const os_far_list *far) {
  uint64_t at = far->bytes.offset, number;
  if (self->form == OS_FORM_SCRIPT) {
    self->special = true;
    os_text_format(self->out, "{\"$f\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]}", far->bytes.offset,
                   far->bytes.length, far->count);
    return OS_OK;
  }
  OS_TRY(os_form__piece(self));
  size_t room = field->type == PROTOBUF_C_TYPE_BYTES ? 1 : OS_FORM_PIECE / field->size;
  for (uint64_t i = 0; i < far->count && !self->out->failed;) {
    size_t n = far->count - i < room ? (size_t)(far->count - i) : room;
    os_far bytes;
    if (field->type == PROTOBUF_C_TYPE_BYTES)
      OS_TRY(os_far_next(self->source, far, &at, &bytes, &number));
    else
      OS_TRY(os_far_list_read(self->source, field->type, far, i, n, &at, self->piece));
    for (size_t j = 0; j < n; j++) {
      os_text_puts(self->out, i + j == 0 ? "[" : ", ");
      if (field->type == PROTOBUF_C_TYPE_BYTES)
        OS_TRY(
            os_form__payload(self, (ProtobufCBinaryData){0, bytes.length == 0 ? NULL : (uint8_t *)&bytes}));
      else
        os_form__number(self, field, (int64_t)(i + j), self->piece + j * field->size);
    }
    i += n;
  }
  os_text_char(self->out, ']');
  return OS_OK;
}

static os_status os_form__field(os_form_writer *self) {
  const os_plan_field *field = self->walk.field;
  const char *list = os_plan_list(field, os_walk_top(&self->walk)->message), *array = NULL;
  size_t count = self->walk.count;
  os_form__name(self, &os_walk_top(&self->walk)->any, field->field->name);
  if (!self->json) os_text_puts(self->out, ": ");
  if (!field->repeated) return os_form__element(self, field, -1, list);
  if (count == 0) return os_form__far(self, field, os_plan_far(field, os_walk_top(&self->walk)->message));
  if (self->form == OS_FORM_SCRIPT) array = os_form__array(field->type);
  if (array != NULL) {
    self->special = true;
    os_text_format(self->out, "{\"$a\":[\"%s\",%" PRIuPTR ",%zu]}", array, (uintptr_t)list, count);
    return OS_OK;
  }
  if (field->plain) {
    os_text_char(self->out, '[');
    os_form_write_integers(self->out, field, list, count, self->json && field->size == 8 ? '"' : 0);
    os_text_char(self->out, ']');
    return self->out->failed ? OS_OUT_OF_MEMORY : OS_OK;
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
  char text[INTEGER];
  uint64_t value = 0;
  if (wire == OS_WIRE_END) {
    os_form__close(self, '}', true);
    return p;
  }
  *any = true;
  os_form__line(self);
  os_text_put(self->out, os_form__integer(number, false, text));
  if (wire == OS_WIRE_GROUP) {
    os_text_char(self->out, ' ');
    os_form__open(self, '{');
    return p;
  }
  os_text_puts(self->out, ": ");
  if (wire == OS_WIRE_VARINT || wire == OS_WIRE_BYTES) {
    p += os_varint_read(p, end, &value);
    if (wire == OS_WIRE_VARINT) {
      os_text_put(self->out, os_form__integer(value, false, text));
      return p;
    }
    os_text_char(self->out, '"');
    os_form__escape(self->out, (os_str){(const char *)p, (size_t)value}, false);
    os_text_char(self->out, '"');
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

// What was written last from `start` on, so many times more.
static void os_form__again(os_form_writer *self, size_t start, size_t times) {
  enum { PART = 1 << 13 };
  os_text *out = self->out;
  size_t size = out->len - start, copies = size < PART ? PART / size : 1;
  if (out->failed || times == 0) return;
  if (copies > times) copies = times;
  char *part = os_arena_alloc(&self->walk.arena, copies * size);
  out->failed |= part == NULL;
  if (part == NULL) return;
  for (size_t i = 0; i < copies; i++) memcpy(part + i * size, out->data + start, size);
  for (; times > 0; times -= copies) {
    if (copies > times) copies = times;
    os_text_put(out, (os_str){part, copies * size});
  }
}

// Further empty messages of a list. The current one is the last of them afterwards.
static void os_form__blanks(os_form_writer *self, os_walk_frame *outer) {
  size_t more = os_walk_pass(&self->walk);
  if (more == 0) return;
  os_text *out = self->out;
  const char *name = self->walk.field->field->name;
  // Room first, so that what is written stays until it is copied.
  size_t room = strlen(name) + 2 * self->depth + 8;
  if (os_text_extend(out, room) == NULL) return;
  size_t start = out->len -= room;
  if (self->json) {
    os_text_char(out, ',');
    os_form__line(self);
  } else {
    os_form__name(self, &outer->any, name);
    os_text_char(out, ' ');
  }
  os_text_puts(out, "{}");
  os_form__again(self, start, more - 1);
}

static os_status os_form__message(os_form_writer *self) {
  os_walk *walk = &self->walk;
  os_walk_frame *outer = os_walk_top(walk) - 1;
  if (walk->index > 0) os_form__blanks(self, outer);
  if (!self->json || walk->index == 0) {
    os_form__name(self, &outer->any, walk->field->field->name);
    if (!self->json) os_text_char(self->out, ' ');
    if (self->json && walk->field->repeated) os_form__open(self, '[');
  } else {
    os_text_char(self->out, ',');
  }
  if (self->json && walk->field->repeated) os_form__line(self);
  os_form__open(self, '{');
  return OS_OK;
}

static os_status os_form__end(os_form_writer *self) {
  os_walk *walk = &self->walk;
  bool root = walk->frames.count == 1;
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

static os_status (*const os_form__events[])(os_form_writer *self) = {
    [OS_WALK_FIELD] = os_form__field,
    [OS_WALK_OPEN] = os_form__message,
    [OS_WALK_CLOSE] = os_form__end,
    [OS_WALK_END] = os_form__end,
};

os_form_writer *os_form_writer_new(os_text *out, os_form form, const os_source *source, os_report *report) {
  os_form_writer *self = os_memory_alloc(out->memory, sizeof *self);
  if (self == NULL) return NULL;
  *self = (os_form_writer){.out = out, .form = form, .source = source, .report = report};
  self->json = form == OS_FORM_SCRIPT || form == OS_FORM_JSON;
  self->lines = form == OS_FORM_JSON || form == OS_FORM_TEXT;
  os_walk_init(&self->walk, out->memory);
  self->numbers = OS_ARENA_ARRAY(&self->walk.arena, NUMBERS, os_form_number);
  self->number_count = NUMBERS;
  if (self->numbers != NULL) return self;
  os_form_writer_free(self);
  return NULL;
}

os_status os_form_writer_put(os_form_writer *self, const void *message) {
  os_status status = os_walk_root(&self->walk, message);
  self->begun = self->special = false;
  self->depth = 0;
  if (self->json) os_form__open(self, '{');
  for (os_walk_event event = OS_WALK_OPEN; status == OS_OK && event != OS_WALK_END;) {
    status = os_walk_next(&self->walk, &event);
    if (status == OS_OK) status = os_form__events[event](self);
  }
  if (self->form == OS_FORM_SCRIPT && !self->special) os_text_char(self->out, '\n');
  return self->out->failed ? OS_OUT_OF_MEMORY : status;
}

void os_form_writer_free(os_form_writer *self) {
  if (self == NULL) return;
  os_walk_free(&self->walk);
  os_memory_free(self->out->memory, self);
}

os_status os_form_write(os_text *out, os_form form, const os_source *source, const void *message,
                        os_report *report) {
  os_form_writer *self = os_form_writer_new(out, form, source, report);
  OS_TRY_ALLOC(self);
  os_status status = os_form_writer_put(self, message);
  os_form_writer_free(self);
  return status;
}
