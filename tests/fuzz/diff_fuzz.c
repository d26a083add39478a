// Two messages of one kind, compared both ways: the first byte says the kind, the next two where the second begins. What
// differs one way differs the other way, and a message does not differ from itself.

#include "message_diff.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static os_document *open_part(os_memory *memory, os_arena *arena, os_kind kind, const uint8_t *data,
                              size_t n) {
  os_report report;
  os_report_init(&report, arena, false, 20);
  os_source source = os_source_memory(data, n);
  os_document_options options = {.as = kind};
  os_document *document;
  return os_document_open(memory, &source, &options, &report, &document) == OS_OK ? document : NULL;
}

static size_t differences(os_memory *memory, const os_document *a, const os_document *b) {
  os_arena arena;
  os_arena_init(&arena, memory);
  os_message_diff diff = {.memory = memory, .arena = &arena, .types = os_types_new(&arena), .limit = 100};
  if (diff.types == NULL || os_message_diff_run(&diff, a, b) != OS_OK) abort();
  size_t count = diff.changes.count + diff.left;
  os_arena_clear(&arena);
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  os_memory memory = {.limit = (size_t)256 << 20};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_kind kind = (os_kind)(1 + data[0] % (OS_KIND_PROTO_END - 1));
  size_t first = (data[1] | (size_t)data[2] << 8) % (size - 2);
  os_document *a = open_part(&memory, &arena, kind, data + 3, first);
  os_document *b = open_part(&memory, &arena, kind, data + 3 + first, size - 3 - first);
  if (a != NULL && b != NULL) {
    if ((differences(&memory, a, b) == 0) != (differences(&memory, b, a) == 0)) abort();
    if (differences(&memory, a, a) != 0) abort();
  }
  os_document_close(a);
  os_document_close(b);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
