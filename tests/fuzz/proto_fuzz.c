// Bytes as a message of some type: decoded, written as JSON, encoded anew and decoded again. The first byte says which
// type, and whether the bytes come piece by piece.

#include "decode.h"
#include "form_bytes.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static os_status read_piece(void *context, uint64_t offset, size_t n, void *to) {
  return os_source_read(context, offset, n, to);
}

static os_status decode(os_arena *arena, const os_source *source, const ProtobufCMessageDescriptor *type,
                        void **message) {
  os_report report;
  os_report_init(&report, arena, false, 20);
  os_decoding decoding = {.arena = arena, .source = source, .type = type, .report = &report};
  os_status status = os_proto_decode(&decoding, message);
  if (status == OS_MALFORMED && report.counts[OS_ERROR] == 0) abort();
  return status;
}

// What a source gives piece by piece is what it gives as a whole.
static void compare(os_memory *memory, os_arena *arena, const os_source *whole, const os_source *pieces,
                    const ProtobufCMessageDescriptor *type, void *message) {
  static const os_form forms[] = {OS_FORM_TEXT, OS_FORM_JSON, OS_FORM_LINE};
  void *other;
  os_text texts[2];
  if (decode(arena, whole, type, &other) != OS_OK) abort();
  os_text_init(&texts[0], memory);
  os_text_init(&texts[1], memory);
  for (size_t i = 0; i < 4; i++) {
    os_status status = i < 3 ? OS_OK : os_proto_load_lists(memory, arena, pieces, message);
    if (status == OS_OUT_OF_MEMORY) break;
    if (status != OS_OK) abort();
    texts[0].len = texts[1].len = 0;
    if (os_form_write(&texts[0], forms[i % 3], whole, other, NULL) == OS_OK &&
        os_form_write(&texts[1], forms[i % 3], pieces, message, NULL) == OS_OK &&
        os_str_cmp(os_text_str(&texts[0]), os_text_str(&texts[1])) != 0)
      abort();
  }
  os_text_clear(&texts[0]);
  os_text_clear(&texts[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const ProtobufCMessageDescriptor *type = fuzzed_type(data[0] & 127);
  os_memory memory = {.limit = (size_t)256 << 20};
  os_source whole = os_source_memory(data + 1, size - 1), source = whole;
  if (data[0] & 128) source = (os_source){.length = size - 1, .read = read_piece, .context = &whole};
  os_arena arena;
  os_arena_init(&arena, &memory);
  void *message, *again;
  os_text text;
  os_text_init(&text, &memory);
  if (decode(&arena, &source, type, &message) == OS_OK) {
    os_form_write(&text, OS_FORM_SCRIPT, &source, message, NULL);
    text.len = 0;
    os_sink sink = os_sink_text(&text);
    if (os_proto_detach(&memory, message) == OS_OK &&
        os_proto_encode(&memory, &source, message, &sink) == OS_OK) {
      os_source written = os_source_memory(text.data, text.len);
      if (decode(&arena, &written, type, &again) == OS_MALFORMED) abort();
      if (source.data == NULL) compare(&memory, &arena, &whole, &source, type, message);
    }
  }
  os_text_clear(&text);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
