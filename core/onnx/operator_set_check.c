#include "data_check_parts.h"
#include "map.h"

#include <inttypes.h>

// Rules of OperatorSetProto. Nothing else checks such files; so what makes one unreadable is an error, and the rest of what
// the text asks for a warning.

enum { STATUS_STABLE = 1 };

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
    REPORT(self, onnx_opset_header, set, NULL, "ir_version", "ir_version is absent or below 1");
  if (!set->has_opset_version || set->opset_version < 1)
    REPORT(self, onnx_opset_header, set, NULL, "opset_version", "opset_version is absent or below 1");
}

static void os_opset__domain(const os_data_check *self, const Onnx__OperatorSetProto *set) {
  os_str domain = os_bytes_str(set->domain);
  if (domain.len == 0)
    REPORT(self, onnx_opset_domain, set, NULL, "domain", "the operator set names no domain");
  for (size_t i = 0; i < set->n_functions; i++) {
    os_path path = {NULL, OS_STR("functions"), (int64_t)i};
    os_str other = os_bytes_str(set->functions[i]->domain);
    if (!os_str_eq(domain, other))
      REPORT(self, onnx_opset_domain, set->functions[i], &path, "domain",
             "the function is of domain \"%.*s\", the set of \"%.*s\"", OS_ARG(other), OS_ARG(domain));
  }
}

static os_status os_opset__unique(const os_data_check *self, os_map *seen,
                                  const Onnx__OperatorProto *operator, size_t index, const os_path *path) {
  os_str name = os_bytes_str(operator->op_type);
  os_str key = os_arena_format(self->arena, "%" PRId64 " %.*s", operator->since_version, OS_ARG(name));
  bool added;
  os_map_entry *entry = os_map_put(seen, key, &added);
  OS_TRY_ALLOC(entry);
  if (added)
    entry->value.number = index;
  else
    REPORT(self, onnx_opset_duplicate, operator, path, "op_type",
           "%.*s since version %" PRId64 " is also operator[%zu]", OS_ARG(name), operator->since_version,
           entry->value.number);
  return OS_OK;
}

static os_status os_opset__operator(const os_data_check *self, const Onnx__OperatorSetProto *set,
                                    os_map *seen, size_t index) {
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
  if (operator->has_status &&(operator->status<0 || operator->status> STATUS_STABLE))
    REPORT(self, onnx_opset_status, operator, & path, "status", "status is %d", (int)operator->status);
  return named && versioned ? os_opset__unique(self, seen, operator, index, &path) : OS_OK;
}

os_status os_operator_set_check(const os_data_check *self, const Onnx__OperatorSetProto *set) {
  os_map seen;
  os_map_init(&seen, self->arena);
  os_opset__header(self, set);
  os_opset__domain(self, set);
  for (size_t i = 0; i < set->n_operator_; i++) OS_TRY(os_opset__operator(self, set, &seen, i));
  if (set->n_functions > 0)
    os_report_incomplete(self->report, "the bodies of the operator set's %zu functions were not checked",
                         set->n_functions);
  return OS_OK;
}
