// Any bytes: the scanner ends, finds a place for what is wrong, and what it accepts can be written and read again.
#include "json.h"
#include "json_write.h"
#include "report_json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report;
  os_report_init(&report, &arena, false, 20);
  os_json_document document, again;
  os_json_options options = {.depth = 20};
  os_text out;
  os_text_init(&out, &memory);
  if (os_json_parse(&document, &arena, OS_STR(""), (os_str){(const char *)data, size}, &options, &report) !=
      OS_OK)
    abort();
  if (os_report_finish(&report) != OS_OK) abort();
  if (document.root == NULL && report.counts[OS_ERROR] == 0) abort();
  if (document.root != NULL && report.counts[OS_ERROR] == 0) {
    if (os_json_write_canonical(&out, &arena, &document, document.root) != OS_OK) abort();
    if (os_json_parse(&again, &arena, OS_STR(""), os_text_str(&out), NULL, NULL) != OS_OK ||
        again.root == NULL)
      abort();
    if (again.nodes > document.nodes) abort();
    os_text_clear(&out);
  }
  if (os_report_write(&out, &report) != OS_OK) abort();
  if (os_json_parse(&again, &arena, OS_STR(""), os_text_str(&out), NULL, NULL) != OS_OK || again.root == NULL)
    abort();
  os_text_clear(&out);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
