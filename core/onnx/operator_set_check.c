#include "data_check_parts.h"
#include "map.h"
#include "text_class.h"

#include <inttypes.h>

// Rules of OperatorSetProto. Nothing else checks such files; so what makes one unreadable is an error, and the rest of what
// the text asks for a warning.

enum { STATUS = 3, STATUS_STABLE = 1 };

#define REPORT(self, rule, message, path, field, ...)                                                   \
  os_data_place((self), os_report_add((self)->report, &os_rule_##rule, __VA_ARGS__), (message), (path), \
                OS_STR(field))

static void os_opset__header(const os_data_check *self, const Onnx__OperatorSetProto *set) {
  os_str magic = os_bytes_str(set->magic);
  if (!set->has_magic)
    REPORT(self, onnx_opset_header, set, NULL, "magic", "magic is absent, expected ONNXOPSET");
  else if (!os_str_is(magic, "ONNXOPSET"))
    REPORT(self, onnx_opset_header, set, NULL, "magic", "magic is \"%.*s\", expected ONNXOPSET",
           (int)(magic.len < 40 ? magic.len : 40), magic.data);
  if (!set->has_ir_version || set->ir_version < 1)
    REPORT(self, onnx_opset_ir_version, set, NULL, "ir_version", "ir_version is absent or below 1");
  if (set->has_ir_version && set->ir_version > ONNX__VERSION__IR_VERSION)
    REPORT(self, onnx_opset_newer, set, NULL, "ir_version",
           "ir_version is %" PRId64 "; the newest known is %d", set->ir_version,
           (int)ONNX__VERSION__IR_VERSION);
  if (!set->has_opset_version || set->opset_version < 1)
    REPORT(self, onnx_opset_version, set, NULL, "opset_version", "opset_version is absent or below 1");
}

// Identifiers of letters, digits and hyphens with dots between; numbers without leading zeros where `numbers` (semver.org,
// sections 9 and 10).
static bool os_opset__is_semver(os_str text, bool numbers) {
  for (size_t at = 0; at <= text.len;) {
    size_t end = at;
    bool number = true;
    for (; end < text.len && text.data[end] != '.'; end++) {
      char c = text.data[end];
      if (!os_is_alnum(c) && c != '-') return false;
      number = number && os_is_digit(c);
    }
    if (end == at || (numbers && number && end - at > 1 && text.data[at] == '0')) return false;
    at = end + 1;
  }
  return true;
}

static void os_opset__semver(const os_data_check *self, const Onnx__OperatorSetProto *set) {
  os_str prerelease = os_bytes_str(set->ir_version_prerelease), build = os_bytes_str(set->ir_build_metadata);
  if (prerelease.len > 0 && !os_opset__is_semver(prerelease, true))
    REPORT(self, onnx_opset_semver, set, NULL, "ir_version_prerelease",
           "\"%.*s\" is no pre-release of SemVer", OS_ARG(prerelease));
  if (build.len > 0 && !os_opset__is_semver(build, false))
    REPORT(self, onnx_opset_semver, set, NULL, "ir_build_metadata", "\"%.*s\" is no build metadata of SemVer",
           OS_ARG(build));
}

// Labels of letters, digits, '-' and '_' with dots between.
static bool os_opset__is_domain(os_str text) {
  char before = '.';
  for (size_t i = 0; i < text.len; i++) {
    char c = text.data[i];
    bool plain = os_is_alnum(c) || c == '-' || c == '_';
    if (!plain && (c != '.' || before == '.')) return false;
    before = c;
  }
  return before != '.';
}

static void os_opset__domain(const os_data_check *self, const Onnx__OperatorSetProto *set) {
  os_str domain = os_bytes_str(set->domain);
  if (domain.len == 0)
    REPORT(self, onnx_opset_domain, set, NULL, "domain", "the operator set names no domain");
  else if (!os_opset__is_domain(domain))
    REPORT(self, onnx_opset_domain, set, NULL, "domain", "\"%.*s\" is no domain name in reverse order",
           OS_ARG(domain));
  for (size_t i = 0; i < set->n_functions; i++) {
    os_path path = {NULL, OS_STR("functions"), (int64_t)i};
    os_str other = os_bytes_str(set->functions[i]->domain);
    if (!os_str_eq(domain, other))
      REPORT(self, onnx_opset_domain, set->functions[i], &path, "domain",
             "the function is of domain \"%.*s\", the set of \"%.*s\"", OS_ARG(other), OS_ARG(domain));
  }
}

// What is known of the operators, by name.
typedef struct os_opset_names {
  os_map versions; // "2 Foo": number of the operator
  os_map names;    // "Foo": number of the first
  os_map stable;   // "Foo": the least version in which it is stable
} os_opset_names;

static os_status os_opset__unique(const os_data_check *self, os_opset_names *names,
                                  const Onnx__OperatorProto *operator, size_t index, const os_path *path) {
  os_str name = os_bytes_str(operator->op_type);
  os_str key = os_arena_format(self->arena, "%" PRId64 " %.*s", operator->since_version, OS_ARG(name));
  bool added;
  os_map_entry *entry = os_map_put(&names->versions, key, &added);
  OS_TRY_ALLOC(entry);
  if (!added) {
    REPORT(self, onnx_opset_duplicate, operator, path, "op_type",
           "%.*s since version %" PRId64 " is also operator[%zu]", OS_ARG(name), operator->since_version,
           entry->value.number);
    return OS_OK;
  }
  entry->value.number = index;
  OS_TRY_ALLOC(entry = os_map_put(&names->names, name, &added));
  if (added)
    entry->value.number = index;
  else
    REPORT(self, onnx_opset_versions, operator, path, "op_type",
           "%.*s is also operator[%zu], in another version", OS_ARG(name), entry->value.number);
  if (!operator->has_status || operator->status != STATUS_STABLE) return OS_OK;
  OS_TRY_ALLOC(entry = os_map_put(&names->stable, name, &added));
  if (added || (uint64_t)operator->since_version<entry->value.number)
    entry->value.number = (size_t)operator->since_version;
  return OS_OK;
}

// What was stable once is not experimental again; functions do not take an operator's name and version.
static void os_opset__others(const os_data_check *self, const Onnx__OperatorSetProto *set,
                             const os_opset_names *names) {
  for (size_t i = 0; i < set->n_operator_; i++) {
    const Onnx__OperatorProto *operator= set->operator_[i];
    os_path path = {NULL, OS_STR("operator"), (int64_t)i};
    if (!operator->has_status || operator->status != 0 || operator->since_version<1) continue;
    const os_map_entry *stable = os_map_get(&names->stable, os_bytes_str(operator->op_type));
    if (stable != NULL && stable->value.number < (uint64_t)operator->since_version)
      REPORT(self, onnx_opset_promotion, operator, & path, "status",
             "%.*s is stable since version %zu, and experimental since %" PRId64,
             OS_ARG(os_bytes_str(operator->op_type)), stable->value.number, operator->since_version);
  }
  for (size_t i = 0; i < set->n_functions; i++) {
    os_path path = {NULL, OS_STR("functions"), (int64_t)i};
    os_str name = os_bytes_str(set->functions[i]->name);
    os_str key = os_arena_format(self->arena, "%" PRId64 " %.*s", set->opset_version, OS_ARG(name));
    const os_map_entry *entry = os_map_get(&names->versions, key);
    if (entry != NULL && set->functions[i]->overload.len == 0)
      REPORT(self, onnx_opset_function, set->functions[i], &path, "name",
             "%.*s is also operator[%zu], since version %" PRId64, OS_ARG(name), entry->value.number,
             set->opset_version);
  }
}

static os_status os_opset__operator(const os_data_check *self, const Onnx__OperatorSetProto *set,
                                    os_opset_names *names, size_t index) {
  const Onnx__OperatorProto *operator= set->operator_[index];
  os_path path = {NULL, OS_STR("operator"), (int64_t)index};
  bool named = operator->op_type.len> 0,
       versioned = operator->has_since_version && operator->since_version >= 1;
  if (!named) REPORT(self, onnx_opset_operator, operator, & path, "op_type", "the operator has no op_type");
  if (!versioned)
    REPORT(self, onnx_opset_operator, operator, & path, "since_version",
           "since_version is absent or below 1");
  if (versioned && set->has_opset_version && operator->since_version> set->opset_version)
    REPORT(self, onnx_opset_since, operator, & path, "since_version",
           "since_version is %" PRId64 ", opset_version %" PRId64, operator->since_version,
           set->opset_version);
  // A value that the enumeration does not have decodes as an unknown field.
  for (unsigned i = 0; i < operator->base.n_unknown_fields; i++)
    if (operator->base.unknown_fields[i].tag == STATUS)
      REPORT(self, onnx_opset_status, operator, & path, "status",
             "status is neither EXPERIMENTAL (0) nor STABLE (1)");
  return named && versioned ? os_opset__unique(self, names, operator, index, &path) : OS_OK;
}

os_status os_operator_set_check(const os_data_check *self, const Onnx__OperatorSetProto *set) {
  os_opset_names names;
  os_map_init(&names.versions, self->arena);
  os_map_init(&names.names, self->arena);
  os_map_init(&names.stable, self->arena);
  os_opset__header(self, set);
  os_opset__semver(self, set);
  os_opset__domain(self, set);
  for (size_t i = 0; i < set->n_operator_; i++) OS_TRY(os_opset__operator(self, set, &names, i));
  os_opset__others(self, set, &names);
  return OS_OK;
}
