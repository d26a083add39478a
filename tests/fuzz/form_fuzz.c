// A text as a message of some type, in protobuf's JSON or text format: what is read is written, read again and the same. The
// first byte says which type and form.

#include "form.h"
#include "encode.h"
#include "onnx-data.pb-c.h"
#include "onnx-operators.pb-c.h"
#include "onnx.pb-c.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The bytes of the message that the text says; false when it is none.
static bool bytes_of(os_arena *arena, const ProtobufCMessageDescriptor *type, os_form form, os_str text,
                     os_text *out, void **message) {
  os_report report;
  os_report_init(&report, arena, false, 20);
  os_form_input input = {.arena = arena, .type = type, .report = &report, .text = text};
  os_status status =
      form == OS_FORM_JSON ? os_form_read_json(&input, message) : os_form_read_text(&input, message);
  if (status == OS_MALFORMED && report.counts[OS_ERROR] == 0) abort();
  os_sink sink = os_sink_text(out);
  return status == OS_OK && os_proto_encode(arena->memory, NULL, *message, &sink) == OS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ProtobufCMessageDescriptor *const types[] = {
      &onnx__model_proto__descriptor,        &onnx__tensor_proto__descriptor,
      &onnx__sequence_proto__descriptor,     &onnx__map_proto__descriptor,
      &onnx__operator_set_proto__descriptor, &onnx__type_proto__descriptor,
      &onnx__attribute_proto__descriptor};
  if (size == 0) return 0;
  const ProtobufCMessageDescriptor *type = types[(data[0] & 15) % (sizeof types / sizeof *types)];
  os_form forms[] = {data[0] & 16 ? OS_FORM_JSON : OS_FORM_TEXT, OS_FORM_LINE, OS_FORM_JSON};
  os_memory memory = {.limit = (size_t)256 << 20};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_text first, again, text;
  os_text_init(&first, &memory);
  os_text_init(&again, &memory);
  os_text_init(&text, &memory);
  void *message, *other;
  if (bytes_of(&arena, type, forms[0], (os_str){(const char *)data + 1, size - 1}, &first, &message)) {
    for (size_t i = 0; i < 3; i++) {
      os_report lost;
      os_report_init(&lost, &arena, false, 20);
      text.len = again.len = 0;
      if (os_form_write(&text, forms[i], NULL, message, &lost) != OS_OK) continue;
      if (!bytes_of(&arena, type, forms[i], os_text_str(&text), &again, &other)) {
        if (memory.used < memory.limit / 2) abort();
      } else if (lost.findings.count == 0 && !os_str_eq(os_text_str(&first), os_text_str(&again))) {
        abort();
      }
    }
  }
  os_text_clear(&first);
  os_text_clear(&again);
  os_text_clear(&text);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
