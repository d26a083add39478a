// Documents and bundles from their bytes.
#include "spec_check.h"
#include "spec_schemas.h"

static os_status os_spec__compile(os_schema **out, os_arena *arena, os_str text) {
  os_json_document *document = OS_ARENA_NEW(arena, os_json_document);
  OS_TRY_ALLOC(document);
  OS_TRY(os_json_parse(document, arena, OS_STR(""), text, NULL, NULL));
  os_report report;
  os_report_init(&report, arena, false, 0);
  if (document->root == NULL) return OS_CRASHED; // the embedded text is ours
  OS_TRY(os_schema_compile(out, arena, document, NULL, &report));
  return *out == NULL ? OS_CRASHED : OS_OK;
}

struct os_spec_later {
  os_arena *arena;
  os_schema *evidence;
};

os_status os_spec_checker_init(os_spec_checker *self, os_arena *arena, const os_registry *registry) {
  *self = (os_spec_checker){.registry = registry, .types = os_registry_types(registry)};
  os_checking_list(self);
  self->later = OS_ARENA_NEW(arena, struct os_spec_later);
  OS_TRY_ALLOC(self->later);
  *self->later = (struct os_spec_later){.arena = arena};
  return os_spec__compile(&self->extension, arena, embedded_operator_extension_schema);
}

os_status os_spec_evidence_schema(const os_spec_checker *self, const os_schema **out) {
  struct os_spec_later *later = self->later;
  if (later->evidence == NULL)
    OS_TRY(os_spec__compile(&later->evidence, later->arena, embedded_evidence_schema));
  *out = later->evidence;
  return OS_OK;
}

// What stands before a file's name, with its '/'.
static os_str os_spec__folder(os_str file) {
  size_t end = file.len;
  while (end > 0 && file.data[end - 1] != '/') end--;
  return os_str_slice(file, 0, end);
}

static bool os_spec__is_json_name(os_str name) {
  return name.len > 5 && memcmp(name.data + name.len - 5, ".json", 5) == 0;
}

bool os_file_is_spec(const os_file *file) {
  if (file->state != OS_FILE_BYTES) return false;
  const char *kind = os_json_kind(file->bytes);
  os_str end = OS_STR(".opspec.json");
  bool named =
      file->name.len > end.len && memcmp(file->name.data + file->name.len - end.len, end.data, end.len) == 0;
  return strcmp(kind, "spec") == 0 || (named && strcmp(kind, "evidence") != 0);
}

// The folder of a document that came as a text without a name: where the bundle has it.
static os_status os_spec__find_folder(const os_bundle *bundle, os_str text, os_str *folder) {
  bool any = false;
  for (size_t i = 0; i < bundle->count; i++) {
    os_file file;
    if (!os_spec__is_json_name(bundle->files[i].name)) continue;
    OS_TRY(os_bundle_read(bundle, i, &file));
    if (!os_file_is_spec(&file)) continue;
    bool same = os_str_eq(file.bytes, text);
    if (same || !any) *folder = os_spec__folder(file.name);
    if (same) return OS_OK;
    any = true;
  }
  return OS_OK;
}

// Findings of evidence carry the name of its file.
static os_status os_spec__evidence(os_checking *self) {
  const os_spec_options *options = self->options;
  if (options->bundle == NULL || options->skip_evidence) return OS_OK;
  OS_JSON_EACH(test, self->spec->tests) {
    os_file file;
    bool folder;
    if (!os_json_is(test, OS_JSON_STRING) || test->length == 0) continue;
    OS_TRY(os_stop_check(options->stop));
    OS_TRY(os_evidence_find(options->bundle, self->arena, self->spec->folder, os_json_string(test), &file,
                            &folder));
    if (file.state == OS_FILE_UNREADABLE)
      os_report_incomplete(self->report, "%.*s cannot be read in a synchronous call; use open or test",
                           OS_ARG(file.name));
    if (file.state != OS_FILE_BYTES) continue;
    OS_TRY(os_evidence_check_file(self, &file, folder));
  }
  return OS_OK;
}

static os_status os_spec__rules(os_checking *self) {
  OS_TRY(os_spec_build(self));
  os_checking_run(self);
  OS_TRY(self->status);
  return os_spec__evidence(self);
}

// The operator that another document of the bundle defines, without its findings.
static os_status os_spec__glance(const os_checking *like, const os_file *file, os_spec **out) {
  os_arena *arena = like->arena;
  os_spec *spec = OS_ARENA_NEW(arena, os_spec);
  OS_TRY_ALLOC(spec);
  *out = spec;
  os_json_options json = {.depth = like->options->depth};
  OS_TRY(os_json_parse(&spec->document, arena, file->name, file->bytes, &json, NULL));
  if (spec->document.root == NULL) return OS_OK;
  os_report silent;
  os_report_init(&silent, arena, false, 1);
  os_checking checking = *like;
  checking.spec = spec;
  checking.report = &silent;
  return os_spec_build(&checking);
}

// Of a text without a name: whether another document among its files defines the same operator.
static os_status os_spec__others(os_checking *self) {
  const os_bundle *bundle = self->options->bundle;
  bool own = false; // the first file of the same bytes is the document itself
  if (bundle == NULL || self->spec->document.file.len > 0) return OS_OK;
  for (size_t i = 0; i < bundle->count; i++) {
    os_file file;
    if (!os_spec__is_json_name(bundle->files[i].name)) continue;
    OS_TRY(os_bundle_read(bundle, i, &file));
    if (!os_file_is_spec(&file)) continue;
    if (!own && os_str_eq(file.bytes, self->spec->document.text)) {
      own = true;
      continue;
    }
    os_spec *pair[2] = {NULL, self->spec};
    OS_TRY(os_spec__glance(self, &file, &pair[0]));
    os_report_text(self->report, file.name, file.bytes);
    OS_TRY(os_specs_compare(self->arena, pair, 2, self->report));
  }
  return OS_OK;
}

os_status os_spec_check(const os_spec_checker *self, os_arena *arena, os_str file, os_str text,
                        const os_spec_options *options, os_report *report, os_spec **out) {
  static const os_spec_options nothing;
  if (options == NULL) options = &nothing;
  if (out != NULL) *out = NULL;
  report->kind = OS_STR("spec");
  os_spec *spec = OS_ARENA_NEW(arena, os_spec);
  OS_TRY_ALLOC(spec);
  uint32_t errors = report->counts[OS_ERROR];
  os_json_options json = {.depth = options->depth, .duplicate_keys = true};
  OS_TRY(os_json_parse(&spec->document, arena, file, text, &json, report));
  if (spec->document.root == NULL) return OS_OK;
  os_schema_options schema = {.stop = options->stop};
  OS_TRY(
      os_schema_validate(self->extension, arena, &spec->document, NULL, &schema, report, &spec->well_formed));
  if (!os_json_is(spec->document.root, OS_JSON_OBJECT)) return OS_OK;
  os_spec_options own = *options;
  os_bundle bundle;
  if (options->bundle != NULL) {
    bundle = *options->bundle;
    if (bundle.by_name == NULL) OS_TRY(os_bundle_index(&bundle, arena));
    own.bundle = &bundle;
    spec->folder = os_spec__folder(file);
    if (file.len == 0) OS_TRY(os_spec__find_folder(&bundle, text, &spec->folder));
  }
  os_checking checking = {
      .checker = self, .options = &own, .spec = spec, .arena = arena, .report = report, .suggestions = 20000};
  OS_TRY(os_spec__rules(&checking));
  OS_TRY(os_spec__others(&checking));
  spec->valid = report->counts[OS_ERROR] == errors;
  if (out != NULL) *out = spec;
  return OS_OK;
}

// ---- Bundles ----------------------------------------------------------------------------------------------

static void os_bundle__nothing(os_report *report) {
  os_report_add(report, &os_rule_spec_bundle_missing_file,
                "The bundle has no operator-extension document: a JSON file whose kind is \"" OS_SPEC_KIND
                "\".");
}

os_status os_bundle_check(const os_spec_checker *self, os_arena *arena, const os_spec_options *options,
                          os_report *report, os_spec_list *specs) {
  os_spec_list own = {0};
  if (options == NULL || options->bundle == NULL) return OS_INVALID_ARGUMENT;
  if (specs == NULL) specs = &own;
  os_bundle bundle = *options->bundle;
  OS_TRY(os_bundle_index(&bundle, arena));
  os_spec_options with_index = *options;
  with_index.bundle = &bundle;
  bool any = false;
  for (size_t i = 0; i < bundle.count; i++) {
    os_file file;
    if (!os_spec__is_json_name(bundle.files[i].name)) continue;
    OS_TRY(os_stop_check(options->stop));
    OS_TRY(os_bundle_read(&bundle, i, &file));
    if (file.state == OS_FILE_UNREADABLE)
      os_report_incomplete(report, "%.*s cannot be read in a synchronous call; use open or test",
                           OS_ARG(file.name));
    if (!os_file_is_spec(&file)) continue;
    any = true;
    os_spec *spec;
    OS_TRY(os_spec_check(self, arena, file.name, file.bytes, &with_index, report, &spec));
    if (spec == NULL) continue;
    os_spec **slot = OS_PUSH(arena, specs);
    OS_TRY_ALLOC(slot);
    *slot = spec;
  }
  report->kind = OS_STR("bundle");
  if (!any) os_bundle__nothing(report);
  return os_specs_compare(arena, specs->items, specs->count, report);
}

static os_str os_spec__domain(os_str domain) { return os_str_is(domain, "ai.onnx") ? OS_STR("") : domain; }

os_status os_specs_compare(os_arena *arena, os_spec *const *specs, size_t count, os_report *report) {
  os_map seen;
  os_map_init(&seen, arena);
  for (size_t i = 0; i < count; i++) {
    os_spec *spec = specs[i];
    bool added;
    if (spec->op_type.len == 0) continue;
    // Lengths before the parts: no two operators give one key.
    os_str domain = os_spec__domain(spec->domain);
    os_str key = os_arena_format(arena, "%d:%zu:%zu:%.*s%.*s%.*s", spec->since, domain.len, spec->op_type.len,
                                 OS_ARG(domain), OS_ARG(spec->op_type), OS_ARG(spec->overload));
    os_map_entry *entry = os_map_put(&seen, key, &added);
    OS_TRY_ALLOC(entry);
    if (added) {
      entry->value.pointer = spec;
      continue;
    }
    const os_spec *first = entry->value.pointer;
    os_finding *finding =
        os_report_add(report, &os_rule_spec_bundle_conflict,
                      "%.*s defines the same operator (%.*s, %.*s, since version %d); give one of them "
                      "another version.",
                      OS_ARG(first->document.file), OS_ARG(spec->domain), OS_ARG(spec->op_type), spec->since);
    os_json_where(&spec->document, arena, spec->members[OS_SPEC_OPERATOR], &finding->where);
    os_related *related = os_finding_relate(report, finding, "the other definition");
    os_json_where(&first->document, arena, first->members[OS_SPEC_OPERATOR], &related->where);
    spec->valid = false;
  }
  return OS_OK;
}

// ---- Any JSON ---------------------------------------------------------------------------------------------

os_status os_json_check(const os_spec_checker *self, os_arena *arena, os_str file, os_str text,
                        const os_spec_options *options, os_report *report) {
  const char *kind = os_json_kind(text);
  if (strcmp(kind, "spec") == 0) return os_spec_check(self, arena, file, text, options, report, NULL);
  if (strcmp(kind, "evidence") == 0)
    return os_evidence_check(self, arena, file, text, NULL, options, report, NULL, NULL);
  os_json_document document;
  os_json_options json = {.depth = options == NULL ? 0 : options->depth};
  report->kind = OS_STR("json");
  return os_json_parse(&document, arena, file, text, &json, report);
}
