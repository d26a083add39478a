// Runs files of JSON-Schema-Test-Suite natively and under sanitizers: schema_driver FOLDER [--formats] FILE... prints how
// many cases pass, and each that does not. FOLDER is the suite's `remotes`. Units of outputs are written, too; what is in
// them is tests/suites/json-schema.test.js's to compare.
#include "json.h"
#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static os_memory memory;
static const char *remotes;

static os_status read_file(os_arena *arena, const char *path, os_str *out) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return OS_INVALID_ARGUMENT;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *data = os_arena_alloc(arena, size + 1);
  if (data == NULL || fread(data, 1, size, file) != size) exit(2);
  fclose(file);
  *out = (os_str){data, size};
  return OS_OK;
}

static os_status find(void *context, os_str uri, os_str *text) {
  static const char server[] = "http://localhost:1234/";
  char path[4096];
  size_t skip = sizeof server - 1;
  if (!os_str_starts(uri, OS_STR(server))) return OS_INVALID_ARGUMENT;
  snprintf(path, sizeof path, "%s/%.*s", remotes, (int)(uri.len - skip), uri.data + skip);
  return read_file(context, path, text);
}

static os_str member_source(const os_json_document *document, const os_json *group, const char *name) {
  return os_json_source(document, os_json_member(group, name));
}

static bool run_case(const os_schema *schema, os_str data, bool expected) {
  os_arena arena;
  os_json_document document;
  os_report report;
  bool valid = false;
  os_arena_init(&arena, &memory);
  os_report_init(&report, &arena, false, 0);
  if (os_json_parse(&document, &arena, OS_STR(""), data, NULL, &report) != OS_OK) exit(2);
  if (os_schema_validate(schema, &arena, &document, NULL, NULL, &report, &valid) != OS_OK) exit(2);
  bool right =
      valid == expected && (report.counts[OS_ERROR] == 0) == expected && report.incomplete.count == 0;
  os_text text;
  os_text_init(&text, &memory);
  os_status status = os_schema_write_units(schema, &arena, &document, NULL, valid, &text);
  right &=
      status == OS_OK && os_str_starts(os_text_str(&text), expected ? OS_STR("[[-1,1") : OS_STR("[[-1,0"));
  os_text_clear(&text);
  os_arena_clear(&arena);
  return right;
}

static void run_group(const os_json_document *suite, const os_json *group, bool formats, const char *path,
                      int counts[2]) {
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report;
  os_json_document document;
  os_schema *schema = NULL;
  os_schema_options options = {.foreign = true, .formats = formats, .find = find, .context = &arena};
  os_report_init(&report, &arena, false, 0);
  if (os_json_parse(&document, &arena, OS_STR(""), member_source(suite, group, "schema"), NULL, &report) !=
      OS_OK)
    exit(2);
  if (os_schema_compile(&schema, &arena, &document, &options, &report) != OS_OK) exit(2);
  OS_JSON_EACH(test, os_json_member(group, "tests")) {
    bool expected = os_json_is(os_json_member(test, "valid"), OS_JSON_TRUE);
    bool right = schema != NULL && run_case(schema, member_source(suite, test, "data"), expected);
    counts[0] += right;
    counts[1]++;
    os_str name = os_json_string(os_json_member(group, "description")),
           what = os_json_string(os_json_member(test, "description"));
    if (!right) printf("%s: %.*s: %.*s\n", path, OS_ARG(name), OS_ARG(what));
  }
  os_arena_clear(&arena);
}

int main(int argc, char **argv) {
  bool formats = false;
  int counts[2] = {0};
  remotes = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; i++) {
    os_arena arena;
    os_report report;
    os_json_document suite;
    os_str text;
    if (strcmp(argv[i], "--formats") == 0) {
      formats = true;
      continue;
    }
    os_arena_init(&arena, &memory);
    os_report_init(&report, &arena, false, 0);
    if (read_file(&arena, argv[i], &text) != OS_OK) return 2;
    if (os_json_parse(&suite, &arena, OS_STR(""), text, NULL, &report) != OS_OK) return 2;
    OS_JSON_EACH(group, suite.root) run_group(&suite, group, formats, argv[i], counts);
    os_arena_clear(&arena);
  }
  printf("%d of %d pass\n", counts[0], counts[1]);
  return counts[0] < counts[1];
}
