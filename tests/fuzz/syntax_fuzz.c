// A text in ONNX's syntax, or (first byte odd) any message in the text format: written in the syntax and read again it is the
// same.

#include "syntax.h"
#include "encode.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool bytes_of(os_arena *arena, void *message, os_text *out) {
  os_sink sink = os_sink_text(out);
  return os_proto_encode(arena->memory, NULL, message, &sink) == OS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ProtobufCMessageDescriptor *const types[] = {
      &onnx__model_proto__descriptor, &onnx__graph_proto__descriptor, &onnx__function_proto__descriptor};
  if (size == 0) return 0;
  os_memory memory = {.limit = (size_t)256 << 20};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report, lost;
  os_report_init(&report, &arena, false, 20);
  os_report_init(&lost, &arena, false, 20);
  os_form_input input = {.arena = &arena,
                         .type = types[(data[0] >> 1) % 3],
                         .report = &report,
                         .text = {(const char *)data + 1, size - 1}};
  os_text first, again, text;
  os_text_init(&first, &memory);
  os_text_init(&again, &memory);
  os_text_init(&text, &memory);
  void *message, *other;
  os_status status = data[0] & 1 ? os_form_read_text(&input, &message) : os_syntax_read(&input, &message);
  if (status == OS_MALFORMED && report.counts[OS_ERROR] == 0) abort();
  if (status == OS_OK && bytes_of(&arena, message, &first)) {
    status = os_syntax_write(&text, NULL, message, &lost);
    if (status == OS_UNSUPPORTED) { // it cannot read what it wrote
      fprintf(stderr, "%.*s\n", OS_ARG(os_text_str(&text)));
      abort();
    }
    input.text = os_text_str(&text);
    if (status == OS_OK) status = os_syntax_read(&input, &other);
    if (status == OS_MALFORMED) abort();
    if (status == OS_OK && bytes_of(&arena, other, &again) && lost.findings.count == 0 &&
        !os_str_eq(os_text_str(&first), os_text_str(&again)))
      abort();
  }
  os_text_clear(&first);
  os_text_clear(&again);
  os_text_clear(&text);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
