// The public probes of onnx.checker: small models with its verdicts, without and with inference. Arguments: their folder.
// Prints how many verdicts are the same; the ones that differ on purpose are listed here.

#include "check.h"
#include "families.h"
#include "model.h"

#include <stdlib.h>

typedef struct difference {
  const char *file;
  bool full;
  const char *why;
} difference;

static const difference differences[] = {
    {"enum_attr_bad_value.onnx", true,
     "onnx's inference does not look at this attribute, and no run could use it"},
};

static const char *expected_difference(const char *file, bool full) {
  for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
    if (strcmp(differences[i].file, file) == 0 && differences[i].full == full) return differences[i].why;
  return NULL;
}

static os_status missing(void *context, os_str location, os_source *out, os_external_state *state) {
  (void)context, (void)location, (void)out;
  *state = OS_EXTERNAL_MISSING;
  return OS_OK;
}

static char *read_file(const char *folder, const char *name, size_t *size) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *data = malloc(1 << 20);
  *size = data == NULL ? 0 : fread(data, 1, (1 << 20) - 1, file);
  fclose(file);
  if (data != NULL) data[*size] = 0;
  return data;
}

// Whether the check finds no error. *found = the first finding at error level.
static bool passes(const char *data, size_t size, bool full, char *found, size_t room) {
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_report report;
  os_report_init(&report, &arena, false, 0);
  os_types *types = os_types_new(&arena);
  os_registry *registry = os_registry_new(&arena, types, op_families);
  os_source source = os_source_memory(data, size);
  os_document_options options = {.as = OS_KIND_MODEL, .external = {.open = missing}};
  os_document *document = NULL;
  os_model *model = NULL;
  os_status status = os_document_open(&memory, &source, &options, &report, &document);
  if (status == OS_OK) status = os_model_build(document, registry, NULL, &report, &model);
  if (status == OS_OK) {
    os_check_options check = {.infer = full};
    status = os_model_check(model, &check, &report);
    os_model_free(model);
  }
  CHECK(status == OS_OK || status == OS_MALFORMED);
  snprintf(found, room, "%s", status == OS_OK ? "" : "malformed");
  for (size_t i = 0; i < report.findings.count; i++) {
    const os_finding *finding = report.findings.items[i];
    if (finding->severity != OS_ERROR) continue;
    snprintf(found, room, "%s at %.*s: %.*s", finding->rule->id, OS_ARG(finding->where.path),
             OS_ARG(finding->message));
    break;
  }
  bool ok = status == OS_OK && report.counts[OS_ERROR] == 0;
  os_document_close(document);
  os_arena_clear(&arena);
  CHECK_EQ(memory.used, 0);
  return ok;
}

static int same[2], total;

static void compare(const char *folder, const char *file, bool full, bool accepted) {
  size_t size;
  char *data = read_file(folder, file, &size);
  if (!CHECK(data != NULL)) return;
  char found[512];
  bool ok = passes(data, size, full, found, sizeof found);
  free(data);
  same[full] += ok == accepted;
  const char *why = expected_difference(file, full);
  bool as_expected = (ok == accepted) == (why == NULL);
  if (!CHECK(as_expected))
    printf("  %s%s: onnx %s; here %s %s\n", file, full ? " (full)" : "", accepted ? "accepts" : "refuses",
           ok ? "accepted" : "refused:", found);
}

// Every row of the kernels serves an operator that the standard declares.
static void test_rows(void) {
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_registry *registry = os_registry_new(&arena, os_types_new(&arena), op_families);
  const op_row *row = NULL;
  if (!CHECK(os_registry_unplaced(registry, &row) == 0))
    printf("  %s %s %d\n", row->domain, row->op_type, row->since);
  os_arena_clear(&arena);
}

int main(int count, char **arguments) {
  test_rows();
  size_t size;
  char *table = count < 2 ? NULL : read_file(arguments[1], "verdicts.tsv", &size);
  if (table == NULL) {
    printf("skipped: the checker probes are not there\n");
    return CHECK_END();
  }
  for (char *line = strtok(table, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    char *check = strchr(line, '\t'), *full = check == NULL ? NULL : strchr(check + 1, '\t');
    if (full == NULL || strncmp(line, "file\t", 5) == 0) continue;
    *check++ = 0;
    *full++ = 0;
    total++;
    compare(arguments[1], line, false, strncmp(check, "ok", 2) == 0);
    compare(arguments[1], line, true, strncmp(full, "ok", 2) == 0);
  }
  free(table);
  printf("%d probes: %d verdicts of check and %d of full_check are the same\n", total, same[0], same[1]);
  return CHECK_END();
}
