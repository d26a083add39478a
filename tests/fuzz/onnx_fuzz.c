// Bytes as any ONNX document: the kind is found by content or said by the first byte, data is checked and read as a value,
// and what was read is written and read again.

#include "value_proto.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_and_write(os_document *document, os_memory *memory, os_arena *arena) {
  os_types *types = os_types_new(arena);
  os_str trouble;
  op_value *value, *again;
  if (types == NULL || os_value_read(document, memory, types, 0, &value, &trouble) != OS_OK) return;
  os_text text;
  os_text_init(&text, memory);
  if (os_value_write(&text, memory, types, value, OS_STR("v")) == OS_OK) {
    os_source source = os_source_memory(text.data, text.len);
    os_report report;
    os_report_init(&report, arena, false, 20);
    os_document_options options = {.as = os_value_message_kind(value)};
    os_document *written;
    os_status status = os_document_open(memory, &source, &options, &report, &written);
    if (status == OS_MALFORMED) abort();
    if (status == OS_OK) {
      status = os_value_read(written, memory, types, op_value_type(value), &again, &trouble);
      if (status == OS_MALFORMED) abort();
      if (status == OS_OK) op_value_release(again);
      os_document_close(written);
    }
  }
  os_text_clear(&text);
  op_value_release(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  os_memory memory = {.limit = (size_t)256 << 20};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report;
  os_report_init(&report, &arena, false, 20);
  os_source source = os_source_memory(data + 1, size - 1);
  os_document_options options = {.as = (os_kind)(data[0] % OS_KIND_PROTO_END)};
  os_document *document;
  if (os_document_open(&memory, &source, &options, &report, &document) == OS_OK) {
    os_document_check_data(document, &report);
    if (document->kind >= OS_KIND_TENSOR && document->kind <= OS_KIND_OPTIONAL)
      read_and_write(document, &memory, &arena);
    os_document_close(document);
  }
  os_report_finish(&report);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
