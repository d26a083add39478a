// A document, and behind a NUL a file that its first test may name: checking ends, and its fixes lie inside the text.
#include "spec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static os_memory memory;
static os_arena home;
static os_spec_checker checker;

static void prepare(void) {
  static const op_family *const none[] = {NULL};
  if (checker.extension != NULL) return;
  os_arena_init(&home, &memory);
  os_types *types = os_types_new(&home);
  if (os_spec_checker_init(&checker, &home, os_registry_new(&home, types, none)) != OS_OK) abort();
}

static void check_fixes(const os_report *report, os_str text) {
  for (size_t i = 0; i < report->findings.count; i++) {
    const os_finding *finding = report->findings.items[i];
    if (finding->where.has_range && finding->where.file.len == 0 && finding->where.range.end > text.len)
      abort();
    for (size_t j = 0; finding->fix != NULL && j < finding->fix->edits.count; j++) {
      const os_edit *edit = &finding->fix->edits.items[j];
      if (edit->byte_start > edit->byte_end || (edit->file.len == 0 && edit->byte_end > text.len)) abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  prepare();
  const uint8_t *end = size == 0 ? NULL : memchr(data, 0, size);
  os_str text = {(const char *)data, end == NULL ? size : (size_t)(end - data)}, second = {NULL, 0};
  if (end != NULL) second = (os_str){(const char *)end + 1, size - text.len - 1};
  os_file files[] = {{OS_STR("one.json"), second, OS_FILE_BYTES},
                     {OS_STR("kernel.js"), {NULL, 0}, OS_FILE_BYTES}};
  os_bundle bundle = {.files = files, .count = 2, .complete = true};
  os_spec_options options = {.bundle = end == NULL ? NULL : &bundle, .depth = 64};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report;
  os_report_init(&report, &arena, false, 50);
  os_spec *spec;
  if (os_spec_check(&checker, &arena, OS_STR(""), text, &options, &report, &spec) != OS_OK) abort();
  const op_schema *schema;
  if (spec != NULL && spec->valid && os_spec_schema(spec, &arena, checker.types, 0, &schema) != OS_OK)
    abort();
  if (os_report_finish(&report) != OS_OK) abort();
  check_fixes(&report, text);
  os_arena_clear(&arena);
  return 0;
}
