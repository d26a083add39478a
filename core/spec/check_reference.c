// Authority, reference implementation and its environment; names of tests.
#include "spec_check.h"
#include "spec_versions.h"
#include "text_class.h"

static bool os_reference__ends(os_str text, const char *suffix) {
  size_t len = strlen(suffix);
  return text.len >= len && os_bytes_eq(text.data + text.len - len, suffix, len);
}

static bool os_reference__contains(os_str text, const char *part) {
  size_t len = strlen(part);
  for (size_t i = 0; i + len <= text.len; i++)
    if (memcmp(text.data + i, part, len) == 0) return true;
  return false;
}

// ---- Authority --------------------------------------------------------------------------------------------

static void os_reference__authority(os_checking *self) {
  const os_json *reference = self->spec->members[OS_SPEC_REFERENCE];
  if (!os_json_is(reference, OS_JSON_NULL)) return;
  if (self->spec->reference_authority) {
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_authority_reference_missing, reference,
                        "The reference implementation is the authority, but there is none; add it.");
    os_checking_relate(self, finding, self->spec->members[OS_SPEC_AUTHORITY], "who decides");
  }
  if (self->spec->tests != NULL && self->spec->tests->length == 0) {
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_authority_no_evidence, self->spec->tests,
                        "There is neither a reference nor a test: nothing can check an implementation.");
    os_checking_relate(self, finding, reference, "there is no reference");
  }
}

// ---- Packages and versions --------------------------------------------------------------------------------

static void os_reference__need(os_checking *self, const os_json *packages, const char *name,
                               os_severity severity) {
  if (!os_json_is(packages, OS_JSON_OBJECT) || os_json_member(packages, name) != NULL) return;
  os_finding *finding = os_checking_add_as(self, &os_rule_spec_reference_package_missing, severity, packages,
                                           "The reference runs on \"%s\"; pin its version here.", name);
  finding->expected = os_str_of(name);
}

static bool os_reference__is_normal(os_str name) {
  for (size_t i = 0; i < name.len; i++) {
    char c = name.data[i];
    if (c == '_' || c == '.' || (c == '-' && i > 0 && name.data[i - 1] == '-')) return false;
  }
  return true;
}

static os_str os_reference__normal_name(os_checking *self, os_str name) {
  char *to = os_arena_alloc(self->arena, name.len + 1);
  if (to == NULL) return name;
  size_t len = 0;
  for (size_t i = 0; i < name.len; i++) {
    char c = name.data[i];
    bool separator = c == '-' || c == '_' || c == '.';
    if (separator && len > 0 && to[len - 1] == '-') continue;
    to[len++] = separator ? '-' : c;
  }
  return (os_str){to, len};
}

static void os_reference__version(os_checking *self, const os_json *version) {
  os_release release = os_release_of(os_json_string(version));
  if (!release.development && !release.local) return;
  os_finding *finding = os_checking_add(self, &os_rule_spec_reference_unobtainable_version, version,
                                        "%.*s is a %s version that others cannot install; pin a release.",
                                        OS_ARG(os_json_quote_head(self->arena, os_json_string(version))),
                                        release.development ? "development" : "local");
  finding->actual = os_json_string(version);
  finding->expected = OS_STR("a published release");
}

static void os_reference__packages(os_checking *self, const os_json *packages) {
  if (!os_json_is(packages, OS_JSON_OBJECT)) return;
  OS_JSON_EACH(version, packages) {
    os_reference__version(self, version);
    os_str name = os_json_key(version);
    if (os_reference__is_normal(name)) continue;
    os_str normal = os_reference__normal_name(self, name);
    os_finding *finding = os_checking_add(self, &os_rule_spec_reference_package_name, version,
                                          "The normal form of the package name %.*s is %.*s.",
                                          OS_ARG(os_json_quote_head(self->arena, name)),
                                          OS_ARG(os_json_quote_head(self->arena, normal)));
    finding->actual = name;
    finding->expected = normal;
    if (os_json_get(packages, normal) == NULL) os_checking_fix_key(self, finding, true, version, normal);
  }
}

static void os_reference__python(os_checking *self, const os_json *environment) {
  const os_json *python = os_json_member(environment, "python");
  if (!os_json_is(python, OS_JSON_STRING)) return;
  os_release release = os_release_of(os_json_string(python));
  os_reference__version(self, python);
  if (release.parts == 0) return;
  bool other = release.major != 3;
  if (!other && release.parts >= 3) return;
  os_str text = os_json_quote_head(self->arena, os_json_string(python));
  os_finding *finding =
      os_checking_add_as(self, &os_rule_spec_reference_python_version, other ? OS_ERROR : OS_WARNING, python,
                         other ? "References run on Python 3, not on %.*s."
                               : "%.*s is not exact: name the patch release, such as 3.11.7.",
                         OS_ARG(text));
  finding->actual = text;
  finding->expected = OS_STR("an exact release of Python 3");
}

// ---- Names ------------------------------------------------------------------------------------------------

static const char *const python_keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    NULL};

static void os_reference__class(os_checking *self) {
  const os_json *node = os_json_member(self->spec->reference, "class_name");
  os_str name = os_json_string(node);
  bool keyword = os_str_in(name, python_keywords);
  if (name.len == 0 || (os_is_identifier(name) && !keyword)) return;
  os_finding *finding = os_checking_add(self, &os_rule_spec_reference_class_name, node,
                                        "%.*s is %s, so no class can be called so.",
                                        OS_ARG(os_json_quote_head(self->arena, name)),
                                        keyword ? "a keyword of Python" : "no identifier of Python");
  finding->actual = name;
  finding->expected = OS_STR("an identifier");
}

static void os_reference__python_file(os_checking *self, const os_json *node) {
  os_str name = os_json_string(node);
  if (name.len == 0 || os_reference__ends(name, ".py")) return;
  os_finding *finding = os_checking_add(self, &os_rule_spec_reference_file_name, node,
                                        "%.*s should be a Python file and end in .py.",
                                        OS_ARG(os_json_quote_head(self->arena, name)));
  finding->actual = name;
  finding->expected = OS_STR("*.py");
}

static void os_reference__library(os_checking *self, const os_json *environment) {
  static const struct {
    const char *system, *suffix;
  } systems[] = {{"linux", ".so"}, {"macos", ".dylib"}, {"windows", ".dll"}};
  const os_json *library = os_json_member(self->spec->reference, "library");
  const os_json *system = os_json_member(environment, "operating_system");
  os_str name = os_json_string(library);
  for (size_t i = 0; i < sizeof systems / sizeof *systems && name.len > 0; i++) {
    if (!os_str_is(os_json_string(system), systems[i].system) || os_reference__ends(name, systems[i].suffix))
      continue;
    if (i == 0 && os_reference__contains(name, ".so.")) continue; // libops.so.1
    os_finding *finding = os_checking_add_as(self, &os_rule_spec_reference_file_name, OS_ERROR, library,
                                             "%.*s cannot be loaded on %s, where libraries end in %s.",
                                             OS_ARG(os_json_quote_head(self->arena, name)), systems[i].system,
                                             systems[i].suffix);
    finding->actual = name;
    finding->expected = os_arena_format(self->arena, "*%s", systems[i].suffix);
    os_checking_relate(self, finding, system, "the operating system");
  }
}

static const struct {
  const char *system, *alias, *name;
} aliases[] = {{NULL, "amd64", "x86_64"},     {NULL, "x64", "x86_64"},       {NULL, "x86-64", "x86_64"},
               {"linux", "arm64", "aarch64"}, {"macos", "aarch64", "arm64"}, {"windows", "aarch64", "arm64"},
               {NULL, "i386", "i686"},        {NULL, "x86", "i686"},         {NULL, "armv8", "aarch64"}};

static os_str os_reference__small(os_checking *self, os_str text) {
  size_t capital = 0;
  while (capital < text.len && !(text.data[capital] >= 'A' && text.data[capital] <= 'Z')) capital++;
  if (capital == text.len) return text;
  os_str copy = os_arena_copy(self->arena, text);
  for (size_t i = 0; copy.data != NULL && i < copy.len; i++)
    if (copy.data[i] >= 'A' && copy.data[i] <= 'Z') ((char *)copy.data)[i] |= 0x20;
  return copy.data == NULL ? text : copy;
}

static void os_reference__architecture(os_checking *self, const os_json *environment) {
  static const char *const known[] = {"x86_64",  "aarch64", "arm64",   "i686",        "armv7l", "armv6l",
                                      "ppc64le", "s390x",   "riscv64", "loongarch64", NULL};
  const os_json *node = os_json_member(environment, "architecture");
  os_str name = os_json_string(node),
         system = os_json_string(os_json_member(environment, "operating_system"));
  if (name.len == 0) return;
  os_str small = os_reference__small(self, name), better = {0};
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases && better.len == 0; i++)
    if (os_str_is(small, aliases[i].alias) &&
        (aliases[i].system == NULL || os_str_is(system, aliases[i].system)))
      better = os_str_of(aliases[i].name);
  if (better.len == 0 && os_str_in(small, known)) better = small;
  if (os_str_eq(better, name)) return;
  os_finding *finding = os_checking_add(self, &os_rule_spec_reference_architecture, node,
                                        "%.*s is not what %.*s calls a machine.%s%.*s",
                                        OS_ARG(os_json_quote_head(self->arena, name)),
                                        OS_ARG(system.len > 0 ? system : OS_STR("the operating system")),
                                        better.len > 0 ? " Probably meant: " : "", OS_ARG(better));
  finding->actual = name;
  finding->expected = better.len > 0 ? better : OS_STR("x86_64, aarch64, arm64, ...");
  if (better.len > 0) os_checking_fix_string(self, finding, true, node, better);
}

static void os_reference__implementation(os_checking *self, const os_json *adapter) {
  const os_json *list = os_json_member(self->spec->reference, "implementation");
  OS_JSON_EACH(file, os_json_is(list, OS_JSON_ARRAY) ? list : NULL) {
    os_reference__python_file(self, file);
    os_str name = os_json_string(file);
    if (name.len == 0 || !os_str_eq(name, os_json_string(adapter))) continue;
    os_finding *finding = os_checking_add(self, &os_rule_spec_reference_adapter_repeated, file,
                                          "%.*s is the adapter; list only the files that it wraps.",
                                          OS_ARG(os_json_quote_head(self->arena, name)));
    os_checking_relate(self, finding, adapter, "the adapter");
    os_checking_fix_remove(self, finding, true, file);
  }
}

void os_check_reference(os_checking *self) {
  os_reference__authority(self);
  const os_json *reference = self->spec->reference;
  if (reference == NULL) return;
  const os_json *environment = os_json_member(reference, "environment");
  os_str kind = os_json_string(os_json_member(reference, "kind"));
  if (os_str_is(kind, "onnx.reference_python")) {
    const os_json *packages = os_json_member(environment, "packages"),
                  *adapter = os_json_member(reference, "adapter");
    os_reference__need(self, packages, "onnx", OS_ERROR);
    os_reference__need(self, packages, "numpy", OS_WARNING);
    os_reference__packages(self, packages);
    os_reference__python(self, environment);
    os_reference__class(self);
    os_reference__python_file(self, adapter);
    os_reference__implementation(self, adapter);
  } else if (os_str_is(kind, "onnxruntime.custom_library")) {
    const os_json *libraries = os_json_member(environment, "libraries");
    os_reference__need(self, libraries, "onnxruntime", OS_ERROR);
    os_reference__packages(self, libraries);
    os_reference__library(self, environment);
    os_reference__architecture(self, environment);
  }
}

// ---- Names of tests ---------------------------------------------------------------------------------------

static os_str os_tests__stem(os_str name) {
  return os_reference__ends(name, ".json") ? os_str_slice(name, 0, name.len - 5) : name;
}

// CON, NUL, COM1, ..., also with a suffix.
static bool os_tests__is_device(os_str small) {
  static const char *const devices[] = {"con", "prn", "aux", "nul", NULL};
  size_t end = 0;
  while (end < small.len && small.data[end] != '.') end++;
  os_str stem = os_str_slice(small, 0, end);
  if (end == 3) return os_str_in(stem, devices);
  bool port = stem.len == 4 && (memcmp(stem.data, "com", 3) == 0 || memcmp(stem.data, "lpt", 3) == 0);
  return port && stem.data[3] >= '1' && stem.data[3] <= '9';
}

// The first test of this name before the node, or NULL. `near`: the first one with the same small letters; the names of
// those that follow it are in `exact`.
static const os_json *os_tests__same(os_checking *self, os_map *exact, const os_json *near,
                                     const os_json *node) {
  os_str stem = os_tests__stem(os_json_string(node));
  bool added;
  if (os_str_eq(os_tests__stem(os_json_string(near)), stem)) return near;
  os_map_entry *entry = os_map_put(exact, stem, &added);
  if (entry == NULL)
    self->status = OS_OUT_OF_MEMORY;
  else if (added)
    entry->value.pointer = (void *)node;
  return entry == NULL || added ? NULL : entry->value.pointer;
}

static void os_tests__one(os_checking *self, os_map *exact, os_map *folded, const os_json *node,
                          os_str stem) {
  bool new_folded;
  os_str small = os_reference__small(self, stem);
  os_map_entry *near = os_map_put(folded, small, &new_folded);
  if (near == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return;
  }
  if (new_folded) near->value.pointer = (void *)node;
  const os_json *same = new_folded ? NULL : os_tests__same(self, exact, near->value.pointer, node);
  if (same != NULL) {
    os_finding *finding = os_checking_add(self, &os_rule_spec_tests_duplicate, node,
                                          "The test %.*s is listed twice; remove one.",
                                          OS_ARG(os_json_quote_head(self->arena, os_json_string(node))));
    os_checking_relate(self, finding, same, "the first one");
    os_checking_fix_remove(self, finding, true, node);
    return;
  }
  const char *why = !new_folded                      ? "differs from another one in capitals only"
                    : stem.data[stem.len - 1] == '.' ? "ends in a dot, which Windows drops"
                    : os_tests__is_device(small)     ? "is the name of a device on Windows"
                                                     : NULL;
  if (why == NULL) return;
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_tests_case, node, "The test name %.*s %s; rename it.",
                      OS_ARG(os_json_quote_head(self->arena, os_json_string(node))), why);
  if (!new_folded) os_checking_relate(self, finding, near->value.pointer, "the other one");
}

void os_check_tests(os_checking *self) {
  os_map exact, folded;
  os_map_init(&exact, self->arena);
  os_map_init(&folded, self->arena);
  size_t count = 0;
  OS_JSON_EACH(node, self->spec->tests) {
    if (!os_checking_few(self, ++count, "tests")) return;
    os_str stem = os_tests__stem(os_json_string(node)); // empty of what is no string
    if (stem.len > 0 && self->status == OS_OK) os_tests__one(self, &exact, &folded, node, stem);
  }
}
