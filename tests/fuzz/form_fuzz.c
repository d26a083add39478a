// A text as a message of some type, in protobuf's JSON or text format: what is read is written, read again and the same. The
// first byte says which type and form.

#include "form_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const ProtobufCMessageDescriptor *type = fuzzed_type(data[0] & 15);
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
