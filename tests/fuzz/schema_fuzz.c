// A schema, a NUL, and a document: compiling and validating end, and both ways of validating agree. The schema is compiled
// as the library's own and as somebody's, whose formats assert and which other schemas can refer to as "other"; then the
// units of outputs are written, too.
#include "schema.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static os_status find(void *context, os_str uri, os_str *text) {
  if (!os_str_is(uri, "other")) return OS_INVALID_ARGUMENT;
  *text = *(const os_str *)context;
  return OS_OK;
}

static void run(os_str schema_text, os_str text, bool foreign) {
  os_memory memory = {.limit = 1u << 28};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report;
  os_report_init(&report, &arena, false, 20);
  os_json_document schema_document, document;
  os_schema *schema = NULL;
  os_schema_options given = {.foreign = true, .formats = true, .find = find, .context = &schema_text};
  if (os_json_parse(&schema_document, &arena, OS_STR("schema"), schema_text, NULL, &report) != OS_OK) abort();
  if (os_json_parse(&document, &arena, OS_STR(""), text, NULL, &report) != OS_OK) abort();
  if (schema_document.root != NULL && document.root != NULL) {
    os_status status = os_schema_compile(&schema, &arena, &schema_document, foreign ? &given : NULL, &report);
    if (status != OS_OK && status != OS_OUT_OF_MEMORY) abort();
    if (status == OS_OK && schema == NULL && report.counts[OS_ERROR] == 0 && report.incomplete.count == 0)
      abort();
  }
  if (schema != NULL) {
    bool quiet = false, told = false;
    os_schema_options options = {.pattern_steps = 10000};
    os_report_init(&report, &arena, false, 20);
    os_status status = os_schema_validate(schema, &arena, &document, NULL, &options, NULL, &quiet);
    if (os_schema_validate(schema, &arena, &document, NULL, &options, &report, &told) == OS_OK &&
        quiet != told)
      abort();
    if (status == OS_OK && quiet != (report.counts[OS_ERROR] == 0) && report.incomplete.count == 0) abort();
    os_text units;
    os_text_init(&units, &memory);
    if (foreign) os_schema_write_units(schema, &arena, &document, &options, told, &units);
    os_text_clear(&units);
  }
  os_report_finish(&report);
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = size == 0 ? NULL : memchr(data, 0, size);
  if (end == NULL) return 0;
  os_str schema = {(const char *)data, (size_t)(end - data)};
  os_str text = {(const char *)end + 1, size - schema.len - 1};
  run(schema, text, false);
  run(schema, text, true);
  return 0;
}
