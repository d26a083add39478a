#ifndef OPSPEC_FORM_H
#define OPSPEC_FORM_H

#include "json.h"
#include "message.h"
#include "report.h"
#include "text.h"

// Forms of a message as text.
typedef enum os_form {
  // For JavaScript: JSON with the names of protobuf's JSON mapping, absent fields absent, empty lists absent, enums as
  // numbers, unknown fields left out. What JSON cannot carry is an object with one member that begins with '$' (no field
  // does):
  //   {"$i":"-9007199254740993"}     a 64-bit integer, to become a bigint
  //   {"$b":[offset,length]}         bytes, a range of the source
  //   {"$m":[address,length]}        bytes in memory, where they are no part of the source
  //   {"$a":["f32",address,count]}   a list of numbers in memory, little-endian; f32, f64, i32, i64, u64. The last two
  //                                  become bigints. The address is aligned to the element.
  //   {"$f":[offset,length,count]}   a list of `count` numbers that is outside, packed in a range of the source
  //   {"$n":"NaN"}                   a float: NaN, Infinity, -Infinity
  // A line end follows where there is no such object. Addresses are valid as long as the message. Bytes of a text field that are no UTF-8 become U+FFFD.
  OS_FORM_SCRIPT,
  // Protobuf's JSON mapping (https://protobuf.dev/programming-guides/json), indented.
  OS_FORM_JSON,
  // Protobuf's text format (https://protobuf.dev/reference/protobuf/textformat-spec). Unknown fields stand as numbers:
  // `99: 5` a varint, `99: 0x00000005` four bytes, with 16 digits eight, `99: "..."` length-delimited, `99 { ... }` a
  // group; they are read back so.
  OS_FORM_TEXT,
  OS_FORM_LINE, // the same without line breaks
} os_form;

// `source`: what the message was decoded from, NULL = all of it is in memory. What the form cannot hold is told as form.lost,
// unless `report` is NULL: unknown fields and bytes that are no UTF-8 (JSON), what NaNs carry.
os_status os_form_write(os_text *out, os_form form, const os_source *source, const void *message,
                        os_report *report);

// The same for many messages in turn, so that what their types need is made ready once. NULL: memory is exhausted.
typedef struct os_form_writer os_form_writer;
os_form_writer *os_form_writer_new(os_text *out, os_form form, const os_source *source, os_report *report);
os_status os_form_writer_put(os_form_writer *self, const void *message);
void os_form_writer_free(os_form_writer *self);

// One number as the text format has it.
struct os_plan_field;
// `list`: of a plain field (plan.h); with commas between them, each in `quote` unless that is 0.
void os_form_write_integers(os_text *out, const struct os_plan_field *field, const char *list, size_t count,
                            char quote);
void os_form_write_number(os_text *out, const struct os_plan_field *field, const char *element);

// A message being read from a form. Everything in it lives in `arena`, views may point into the text.
typedef struct os_form_input {
  os_arena *arena;
  const ProtobufCMessageDescriptor *type;
  uint32_t depth; // messages within each other; 0 = OS_PROTO_DEPTH_DEFAULT
  os_report *report;
  os_str text;
  os_str bytes; // what {"$b":[offset,length]} in JSON is a range of; data NULL: such an object is none
  bool shared; // the message is only read: parts of it that the text says the same of may be one and the same
} os_form_input;

// JSON mapping: names in lowerCamelCase or as in the .proto file. OS_MALFORMED: with the finding that says where and why
// (json.*, form.field, form.value, form.depth).
os_status os_form_read_json(const os_form_input *input, void **message);
// Text format (form.syntax, form.field, form.value, form.depth).
os_status os_form_read_text(const os_form_input *input, void **message);

#endif
