#include "check_operator_set.h"

#include "registry.h"
#include "text_class.h"

#include <inttypes.h>

// What an operator set says beside its own messages' rules (core/onnx/operator_set_check.c): names, what the functions
// import, and whether a set of the standard's is the standard's.

// list[index].field
static void os_check__set_place(os_checking *self, os_finding *finding, const char *list, size_t index,
                                os_str field, const void *message) {
  os_str path = os_arena_format(self->report->arena, "%s[%zu].%.*s", list, index, OS_ARG(field));
  os_where_message(&finding->where, path, message);
}

static void os_check__operator_name(os_checking *self, const Onnx__OperatorProto *operator, size_t index) {
  os_str name = os_bytes_str(operator->op_type);
  if (name.len == 0 || os_is_identifier(name)) return;
  os_finding *finding = os_report_add(self->report, &os_rule_onnx_opset_name, "\"%.*s\" is no C identifier",
                                      (int)(name.len < 80 ? name.len : 80), name.data);
  os_check__set_place(self, finding, "operator", index, OS_STR("op_type"), operator);
}

// `newest`: version of the domain here, 0 = it is none of the standard's.
static void os_check__operator_standard(os_checking *self, const Onnx__OperatorSetProto *set, int newest,
                                        size_t index) {
  const Onnx__OperatorProto *operator= set->operator_[index];
  os_str name = os_bytes_str(operator->op_type), domain = os_bytes_str(set->domain);
  int64_t since = operator->since_version;
  if (newest == 0 || name.len == 0 || since < 1 || since > newest) return;
  const op_schema *schema =
      os_registry_find_standard(self->model->registry, domain, name, (os_str){"", 0}, (int)since).schema;
  if (schema != NULL && schema->since == since) return;
  os_finding *finding =
      schema == NULL
          ? os_report_add(self->report, &os_rule_onnx_opset_standard,
                          "the standard's domain has no %.*s in version %" PRId64, OS_ARG(name), since)
          : os_report_add(self->report, &os_rule_onnx_opset_standard,
                          "%.*s did not change in version %" PRId64 ": it is there since %d", OS_ARG(name),
                          since, schema->since);
  os_check__set_place(self, finding, "operator", index,
                      os_str_of(schema == NULL ? "op_type" : "since_version"), operator);
}

// A body cannot need what a later version of its own set brings.
static void os_check__function_import(os_checking *self, const Onnx__OperatorSetProto *set, size_t index) {
  const Onnx__FunctionProto *function = set->functions[index];
  for (size_t i = 0; i < function->n_opset_import; i++) {
    const Onnx__OperatorSetIdProto *import = function->opset_import[i];
    if (!os_str_eq(os_bytes_str(import->domain), os_bytes_str(set->domain)) ||
        import->version <= set->opset_version)
      continue;
    os_finding *finding = os_report_add(self->report, &os_rule_onnx_opset_import,
                                        "the function imports version %" PRId64
                                        " of the set's own domain, the set is version %" PRId64,
                                        import->version, set->opset_version);
    os_str field = os_arena_format(self->report->arena, "opset_import[%zu]", i);
    os_check__set_place(self, finding, "functions", index, field, function);
  }
}

os_status os_check_operator_set(os_checking *self) {
  const os_document *document = self->model->document;
  if (document->kind != OS_KIND_OPERATOR_SET) return OS_OK;
  const Onnx__OperatorSetProto *set = document->operator_set;
  // That a domain is missing is told where the set's own fields are checked.
  int newest =
      set->domain.len == 0 ? 0 : os_registry_domain_version(self->model->registry, os_bytes_str(set->domain));
  if (set->n_operator_ == 0 && set->n_functions == 0) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_onnx_opset_empty, "the set has neither operators nor functions");
    os_where_message(&finding->where, OS_STR("operator"), set);
  }
  if (newest > 0 && set->opset_version > newest) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_onnx_opset_standard,
                      "the newest version of the standard's domain here is %d, this is %" PRId64, newest,
                      set->opset_version);
    os_where_message(&finding->where, OS_STR("opset_version"), set);
  }
  for (size_t i = 0; i < set->n_operator_; i++) {
    OS_TRY(os_check_pause(self));
    os_check__operator_name(self, set->operator_[i], i);
    os_check__operator_standard(self, set, newest, i);
  }
  for (size_t i = 0; i < set->n_functions; i++) os_check__function_import(self, set, i);
  return OS_OK;
}
