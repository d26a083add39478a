#include "column.h"
#include "host.h"
#include "utf8.h"
#include "walk.h"

#include <math.h>

// A message as a tape, out of which JavaScript makes objects (wasm/src/objects.js): faster than a text would be.
//
//   words    an operation in the lower 4 bits, above them the number of a field's name; then what it says:
//            END, CLOSE                            the message ends
//            OPEN, FIRST, NEXT                     a message begins: alone, as the first of a list, as another one
//            EMPTY count                           so many more of the list, with nothing in them
//            TEXT, TEXTS count                     length of each in UTF-16 units; they stand one after the other
//            NUMBER, NUMBERS count                 so do the numbers, 8 bytes each: binary64
//            INTEGER, INTEGERS count               int64
//            UNSIGNED, UNSIGNEDS count             uint64
//            BYTES, BYTESES count                  address and length of each
//   names    of the fields, each ended by a zero
//
// What is left: address and count of words, numbers, text and names, whether the text is ASCII.

enum {
  END,
  CLOSE,
  OPEN,
  FIRST,
  NEXT,
  TEXT,
  TEXTS,
  NUMBER,
  NUMBERS,
  INTEGER,
  INTEGERS,
  UNSIGNED,
  UNSIGNEDS,
  BYTES,
  BYTESES,
  EMPTY
};
enum { NAMES = 256 };

typedef struct os_tape {
  os_arena *arena;
  os_walk walk;
  os_column words, numbers, text, names;
  const ProtobufCFieldDescriptor *fields[NAMES]; // slots by address, and the number of each
  uint32_t known[NAMES], count;
  bool plain, failed;
} os_tape;

static void os_tape__word(os_tape *self, uint32_t word) {
  self->failed |= !os_column_room(self->arena, &self->words, 1, 4);
  if (!self->failed) ((uint32_t *)(void *)self->words.data)[self->words.count++] = word;
}

// Numbers of names are given as they come; lowerCamelCase.
static uint32_t os_tape__name(os_tape *self, const ProtobufCFieldDescriptor *field) {
  uint32_t slot = (uint32_t)((uintptr_t)field / sizeof *field) % NAMES;
  while (self->fields[slot] != NULL && self->fields[slot] != field) slot = (slot + 1) % NAMES;
  if (self->fields[slot] == field) return self->known[slot];
  size_t length = strlen(field->name) + 1;
  self->failed |= self->count + 1 >= NAMES || !os_column_room(self->arena, &self->names, length, 1);
  if (self->failed) return 0;
  for (const char *c = field->name; *c != 0; c++) {
    bool upper = *c == '_' && c[1] >= 'a' && c[1] <= 'z';
    if (upper) c++;
    self->names.data[self->names.count++] = (char)(upper ? *c - 'a' + 'A' : *c);
  }
  self->names.data[self->names.count++] = 0;
  self->fields[slot] = field;
  return self->known[slot] = self->count++;
}

static void os_tape__text(os_tape *self, os_str text) {
  uint32_t units = 0;
  self->failed |= !os_column_room(self->arena, &self->text, 3 * text.len, 1);
  if (self->failed) return;
  char *to = self->text.data + self->text.count, *start = to;
  while (text.len > 0) { // bytes that are no UTF-8 become U+FFFD
    size_t valid = os_utf8_valid(text);
    if (valid > 0) os_bytes_copy(to, text.data, valid);
    to += valid;
    if (valid == text.len) break;
    memcpy(to, "\xef\xbf\xbd", 3);
    to += 3;
    text = os_str_slice(text, valid + 1, text.len);
  }
  uint8_t all = 0;
  for (const char *c = start; c < to; c++) all |= (uint8_t)*c;
  if (all < 0x80) {
    units = (uint32_t)(to - start);
  } else {
    self->plain = false;
    for (const char *c = start; c < to; c++)
      units += ((uint8_t)*c & 0xc0) != 0x80, units += (uint8_t)*c >= 0xf0;
  }
  self->text.count += (size_t)(to - start);
  os_tape__word(self, units);
}

static void os_tape__number(os_tape *self, const void *bits) {
  self->failed |= !os_column_room(self->arena, &self->numbers, 1, 8);
  if (!self->failed) memcpy(self->numbers.data + 8 * self->numbers.count++, bits, 8);
}

static void os_tape__element(os_tape *self, uint8_t type, const char *element) {
  double value;
  float small;
  int32_t integer;
  switch (type) {
  case PROTOBUF_C_TYPE_FLOAT:
    memcpy(&small, element, sizeof small);
    value = (double)small;
    break;
  default: memcpy(&integer, element, sizeof integer); value = integer;
  }
  if (isnan(value)) value = (double)NAN;
  os_tape__number(self, &value);
}

static uint32_t os_tape__kind(const os_plan_field *field) {
  if (field->type == PROTOBUF_C_TYPE_BYTES) return field->text ? TEXT : BYTES;
  return field->type == PROTOBUF_C_TYPE_INT64    ? INTEGER
         : field->type == PROTOBUF_C_TYPE_UINT64 ? UNSIGNED
                                                 : NUMBER;
}

static void os_tape__field(os_tape *self) {
  const os_plan_field *field = self->walk.field;
  size_t count = self->walk.count;
  const char *list = os_plan_list(field, os_walk_top(&self->walk)->message);
  uint32_t kind = os_tape__kind(field);
  os_tape__word(self, os_tape__name(self, field->field) << 4 | (kind + field->repeated));
  if (field->repeated) os_tape__word(self, (uint32_t)count);
  if (field->size == 8 && field->type != PROTOBUF_C_TYPE_BYTES) {
    self->failed |= !os_column_room(self->arena, &self->numbers, count, 8);
    if (self->failed) return;
    memcpy(self->numbers.data + 8 * self->numbers.count, list, 8 * count);
    self->numbers.count += count;
    return;
  }
  for (size_t i = 0; i < count && !self->failed; i++) {
    const char *element = list + i * field->size;
    if (field->type != PROTOBUF_C_TYPE_BYTES) {
      os_tape__element(self, field->type, element);
      continue;
    }
    ProtobufCBinaryData bytes;
    memcpy(&bytes, element, sizeof bytes);
    if (field->text) {
      os_tape__text(self, os_bytes_str(bytes));
    } else {
      os_tape__word(self, (uint32_t)(uintptr_t)bytes.data);
      os_tape__word(self, (uint32_t)bytes.len);
    }
  }
}

static void os_tape__event(os_tape *self, os_walk_event event) {
  if (event == OS_WALK_FIELD) {
    os_tape__field(self);
  } else if (event == OS_WALK_OPEN) {
    uint32_t open = !self->walk.field->repeated ? OPEN : self->walk.index == 0 ? FIRST : NEXT;
    size_t more = open == NEXT ? os_walk_pass(&self->walk) : 0;
    uint32_t name = os_tape__name(self, self->walk.field->field) << 4;
    if (more > 0) {
      os_tape__word(self, name | EMPTY);
      os_tape__word(self, (uint32_t)more);
    }
    os_tape__word(self, name | open);
  } else {
    os_tape__word(self, event == OS_WALK_CLOSE ? CLOSE : END);
  }
}

os_status os_host_write_objects(opspec_env *env, const void *message, size_t size) {
  os_tape *self = OS_ARENA_NEW(&env->scratch, os_tape);
  OS_TRY_ALLOC(self);
  self->arena = &env->scratch;
  self->plain = true;
  if (!os_column_room(self->arena, &self->words, size / 8, 4) ||
      !os_column_room(self->arena, &self->text, size / 4, 1))
    return OS_OUT_OF_MEMORY;
  os_status status = os_walk_begin(&self->walk, &env->memory, message);
  for (os_walk_event event = OS_WALK_OPEN; status == OS_OK && event != OS_WALK_END && !self->failed;) {
    status = os_walk_next(&self->walk, &event);
    if (status == OS_OK) os_tape__event(self, event);
  }
  os_walk_free(&self->walk);
  const os_column *columns[] = {&self->words, &self->numbers, &self->text, &self->names};
  uint32_t head[9];
  for (size_t i = 0; i < 4; i++) {
    head[2 * i] = (uint32_t)(uintptr_t)columns[i]->data;
    head[2 * i + 1] = (uint32_t)columns[i]->count;
  }
  head[8] = self->plain;
  os_text_put(&env->output, (os_str){(const char *)head, sizeof head});
  return self->failed ? OS_OUT_OF_MEMORY : status;
}
