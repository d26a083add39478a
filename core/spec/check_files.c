// What the document names against what the bundle holds.
#include "spec_check.h"

static bool os_files__ends(os_str name, const char *suffix) {
  size_t len = strlen(suffix);
  return name.len >= len && memcmp(name.data + name.len - len, suffix, len) == 0;
}

static bool os_files__starts(os_str name, const char *prefix) {
  return os_str_starts(name, os_str_of(prefix));
}

os_status os_evidence_find(const os_bundle *bundle, os_arena *arena, os_str folder_of_spec, os_str test,
                           os_file *file, bool *folder) {
  static const char *const suffixes[] = {"", ".json", ".zip", ".onnx"};
  *folder = false;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    os_str name = os_arena_format(arena, "%.*s%.*s%s", OS_ARG(folder_of_spec), OS_ARG(test), suffixes[i]);
    OS_TRY(os_bundle_find(bundle, name, file));
    if (file->state != OS_FILE_MISSING) return OS_OK;
  }
  os_str name = os_arena_format(arena, "%.*s%.*s/", OS_ARG(folder_of_spec), OS_ARG(test));
  *folder = os_bundle_has_folder(bundle, name);
  if (*folder) *file = (os_file){.name = name, .state = OS_FILE_BYTES};
  return OS_OK;
}

static void os_files__missing(os_checking *self, const os_json *node, const char *what) {
  os_str name = os_json_quote_head(self->arena, os_json_string(node));
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_bundle_missing_file, node,
                      "The %s %.*s is not in the bundle; add the file.", what, OS_ARG(name));
  finding->expected = os_json_string(node);
}

static void os_files__use(os_checking *self, os_map *used, os_str name) {
  if (os_map_put(used, name, NULL) == NULL) self->status = OS_OUT_OF_MEMORY;
}

static void os_files__need(os_checking *self, os_map *used, const os_json *node, const char *what) {
  os_file file;
  if (!os_json_is(node, OS_JSON_STRING) || node->length == 0) return;
  os_str name =
      os_arena_format(self->arena, "%.*s%.*s", OS_ARG(self->spec->folder), OS_ARG(os_json_string(node)));
  self->status = os_bundle_find(self->options->bundle, name, &file);
  if (self->status != OS_OK) return;
  if (file.state == OS_FILE_MISSING)
    os_files__missing(self, node, what);
  else
    os_files__use(self, used, name);
}

static void os_files__tests(os_checking *self, os_map *used) {
  OS_JSON_EACH(test, self->spec->tests) {
    os_file file;
    bool folder;
    if (!os_json_is(test, OS_JSON_STRING) || test->length == 0) continue;
    self->status = os_evidence_find(self->options->bundle, self->arena, self->spec->folder,
                                    os_json_string(test), &file, &folder);
    if (self->status != OS_OK) return;
    if (file.state == OS_FILE_MISSING)
      os_files__missing(self, test, "test");
    else
      os_files__use(self, used, file.name);
  }
}

// Files that a bundle has by their role: nobody needs to name them. `name` is what stands behind the document's folder.
static bool os_files__has_role(os_checking *self, os_str name) {
  size_t base = 0;
  for (size_t i = 0; i < name.len; i++) {
    if (i != base || (i > 0 && name.data[i - 1] != '/')) {
      if (name.data[i] == '/') base = i + 1;
      continue;
    }
    os_str part = os_str_slice(name, i, name.len);
    if (part.data[0] == '.' || os_files__starts(part, "__MACOSX") || os_files__starts(part, "test_data_set_"))
      return true;
  }
  os_str file = os_str_slice(name, base, name.len);
  if (os_files__starts(name, "src/") || os_files__starts(file, "README") || os_files__starts(file, "LICENSE"))
    return true;
  if (base == 0) return os_files__starts(file, "kernel.");
  os_str data = os_arena_format(self->arena, "%.*s%.*stest_data_set_0/", OS_ARG(self->spec->folder),
                                (int)base, name.data);
  return os_str_is(file, "model.onnx") && os_bundle_has_folder(self->options->bundle, data);
}

static bool os_files__is_used(const os_map *used, os_str name) {
  if (os_map_get(used, name) != NULL) return true;
  for (size_t i = 0; i < name.len && i < 4096; i++)
    if (name.data[i] == '/' && os_map_get(used, os_str_slice(name, 0, i + 1)) != NULL) return true;
  return false;
}

// What lies in the folder of a document further inside is that one's.
static void os_files__inner(os_checking *self, os_map *used) {
  const os_bundle *bundle = self->options->bundle;
  size_t own = self->spec->folder.len;
  for (size_t i = 0; i < bundle->count && bundle->complete && self->status == OS_OK; i++) {
    os_str name = bundle->files[i].name;
    size_t end = name.len;
    while (end > own && name.data[end - 1] != '/') end--;
    if (end <= own || !os_str_starts(name, self->spec->folder) || !os_files__ends(name, ".json")) continue;
    os_file file;
    self->status = os_bundle_read(bundle, i, &file);
    if (self->status == OS_OK && os_file_is_spec(&file))
      os_files__use(self, used, os_str_slice(name, 0, end));
  }
}

static void os_files__unused(os_checking *self, const os_map *used) {
  const os_bundle *bundle = self->options->bundle;
  os_str folder = self->spec->folder;
  for (size_t i = 0; i < bundle->count && bundle->complete; i++) {
    os_str name = bundle->files[i].name;
    if (!os_str_starts(name, folder) || os_str_eq(name, self->spec->document.file) ||
        os_files__ends(name, "/"))
      continue;
    os_str inner = os_str_slice(name, folder.len, name.len);
    if (os_files__is_used(used, name) || os_files__has_role(self, inner)) continue;
    if (os_files__ends(name, ".json")) {
      os_file file;
      self->status = os_bundle_read(bundle, i, &file);
      if (self->status != OS_OK) return;
      if (os_file_is_spec(&file)) continue;
    }
    os_finding *finding =
        os_report_add(self->report, &os_rule_spec_bundle_unused_file,
                      "Nothing in the document names this file; name it, or take it out of the bundle.");
    finding->where.file = name;
  }
}

void os_check_files(os_checking *self) {
  if (self->options->bundle == NULL) return;
  os_map used;
  os_map_init(&used, self->arena);
  const os_json *reference = self->spec->reference;
  const os_json *implementation = os_json_member(reference, "implementation");
  os_files__tests(self, &used);
  if (self->status == OS_OK) os_files__need(self, &used, os_json_member(reference, "adapter"), "adapter");
  if (self->status == OS_OK) os_files__need(self, &used, os_json_member(reference, "library"), "library");
  OS_JSON_EACH(file, os_json_is(implementation, OS_JSON_ARRAY) ? implementation : NULL)
  if (self->status == OS_OK) os_files__need(self, &used, file, "implementation file");
  if (self->status == OS_OK) os_files__inner(self, &used);
  if (self->status == OS_OK) os_files__unused(self, &used);
}
