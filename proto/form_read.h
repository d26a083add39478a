#ifndef OPSPEC_FORM_READ_H
#define OPSPEC_FORM_READ_H

#include "form.h"
#include "lexer.h"
#include "plan.h"

// What the readers of all forms share: the words of texts, putting values into messages, and faults with the path of the
// field. Trouble is sticky: from the first fault on, or when memory runs out, `status` says so, the text has ended, and every
// call does nothing that matters. So only loops look at it, and only those that do not follow the words of the text.

// A message being filled.
typedef struct os_form_frame {
  const os_plan *plan;
  ProtobufCMessage *message;
  const os_plan_field *field; // of the message around it; NULL for the root
  size_t index;               // in that field's list
  // Of the form: the message's object and its next member; what ends it in a text, and whether it is an element of a list.
  const os_json *node, *next;
  bool list;
  char close;
} os_form_frame;

enum { OS_FORM_SPARE = 768 }; // bytes, more than any message takes

typedef struct os_form_reader {
  os_form_input input;
  os_status status;
  os_plans plans; // of the root's type and all below it
  os_lexer lexer; // of texts
  struct {
    os_form_frame *items;
    size_t count, room;
  } frames;
  // What stands for messages and takes values once there is trouble.
  uint64_t spare[OS_FORM_SPARE / 8], spare_slot[4];
} os_form_reader;

// Begins with an empty root, which goes to *message; it is the only frame.
void os_form_begin(os_form_reader *self, const os_form_input *input, bool onnx, void **message);
void os_form_stop(os_form_reader *self, os_status status);

static inline os_form_frame *os_form_top(const os_form_reader *self) {
  return &self->frames.items[self->frames.count - 1];
}
static inline const os_plan *os_form_plan(os_form_reader *self, const void *message) {
  return os_plans_get(&self->plans, ((const ProtobufCMessage *)message)->descriptor);
}
// Begins `message`, which has been put into `field` of the top (NULL = elsewhere). Too deep is a finding at [start, end).
void os_form_push(os_form_reader *self, const os_plan_field *field, ProtobufCMessage *message, size_t start,
                  size_t end);

// ---- Messages ---------------------------------------------------------------------------------------------

// The struct that has the field is there from now on. False: memory is exhausted.
bool os_form_home(os_arena *arena, const os_plan *plan, const os_plan_field *field, void *message);
// Place for one more element of a repeated field, or for the value of a singular one, zeroed.
void *os_form_slot(os_form_reader *self, const os_plan_field *field, void *message);
// Places for so many more elements of a repeated field, which the caller fills; NULL when memory is exhausted.
void *os_form_slots(os_form_reader *self, const os_plan_field *field, void *message, size_t more);
// A new message in the field.
ProtobufCMessage *os_form_child(os_form_reader *self, const os_plan_field *field, void *message);
// Keeps a field that the definition does not know; `body` is what follows the tag.
void os_form_keep(os_form_reader *self, ProtobufCMessage *message, uint32_t number, uint32_t wire,
                  os_str body);

// A field by its name as in the .proto file, or also in lowerCamelCase; NULL = none.
const os_plan_field *os_form_find(const os_plan *plan, os_str name, bool camel);
// Whether the text names the field: as the .proto file does or, where `camel`, in lowerCamelCase.
bool os_form_is_name(const char *name, os_str text, bool camel);
// A finding at [start, end) when the field is singular and it, or another member of its oneof, has a value already.
void os_form_once(os_form_reader *self, const os_plan_field *field, const void *message, size_t start,
                  size_t end);

// A scalar as it is written.
typedef enum os_form_kind { OS_FORM_WORD, OS_FORM_NUMBER, OS_FORM_STRING } os_form_kind;
typedef struct os_form_scalar {
  os_form_kind kind;
  bool negative; // what follows is the text without its sign
  bool
      json; // strings may be numbers, 1.0 may be an integer; else 0x10 and 010 are numbers, and words have any case
  os_str text; // of a string: decoded
} os_form_scalar;
// NULL, or what should stand there ("an integer from -2147483648 to 2147483647"). Bytes become views of the text. `to` is
// os_form_slot's.
const char *os_form_put(const os_plan_field *field, const os_form_scalar *scalar, void *to);
// An integer as texts write it (10, 0x1f, 017); false when it is none of 64 bits.
bool os_form_natural(os_str text, uint64_t *out);

// ---- Words ------------------------------------------------------------------------------------------------

void os_form_next(os_form_reader *self);
// Goes behind the sign if it is there.
bool os_form_take(os_form_reader *self, char sign);
// Goes behind the sign, which has to be there.
void os_form_match(os_form_reader *self, char sign);
// Reads a sign and a word, number or string. `parts`: strings that follow each other are one.
os_form_scalar os_form_literal(os_form_reader *self, bool parts);
// Fills the top, which ends, from the text format: up to the sign `close`, or the end of the text (0). The lexer is at the
// first token of it, and then behind. `over`: what stands in the message already may be set anew.
void os_form_fill(os_form_reader *self, char close, bool over);

// ---- Faults -----------------------------------------------------------------------------------------------

// A finding at [start, end) of the text about `field` (may be NULL) of the top.
void os_form_fault(os_form_reader *self, const os_rule *rule, const os_plan_field *field, size_t start,
                   size_t end, const char *format, ...) __attribute__((format(printf, 6, 7)));
// The current token cannot be there: says what could ("a name of a field").
void os_form_unexpected(os_form_reader *self, const char *wanted);
// The nesting at [start, end) is too deep.
void os_form_too_deep(os_form_reader *self, size_t start, size_t end);

#endif
