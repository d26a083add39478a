#include "evidence_value.h"
#include "host.h"
#include "type_expr.h"
#include "value_proto.h"

op_type opspec_type(opspec_env *self, os_str expression) {
  op_type type = 0;
  os_type_fault fault;
  return os_type_parse(self->types, &self->scratch, expression, &type, &fault) == OS_OK ? type : 0;
}

os_str opspec_type_name(opspec_env *self, op_type type) {
  return os_types_print(self->types, &self->arena, type);
}

static os_status os_host__read_value(opspec_env *self, os_str bytes, os_str kind, os_external external,
                                     op_value **out) {
  os_report report;
  os_report_init(&report, &self->scratch, false, self->limits.findings);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = os_kind_find(kind), .limits = &self->limits, .external = external};
  os_document *document;
  os_str trouble = {"", 0};
  os_status status = os_document_open(&self->memory, &source, &options, &report, &document);
  if (status == OS_OK) {
    status = os_value_read(document, &self->memory, self->types, 0, out, &trouble);
    if (status != OS_OK) os_host_fail(self, status, trouble, (os_str){"", 0}, &report);
    os_document_close(document);
    return status;
  }
  if (report.findings.count > 0) trouble = report.findings.items[0]->message;
  return os_host_fail(self, status, trouble, (os_str){"", 0}, &report);
}

os_status opspec_value_read(opspec_env *self, os_str bytes, os_str kind, bool files, op_value **out) {
  os_host_files beside;
  os_host_begin(self);
  os_status status = os_host_files_open(&beside, self, &self->scratch, &(opspec_files){.given = files});
  if (status == OS_OK) status = os_host__read_value(self, bytes, kind, beside.external, out);
  os_host_files_close(&beside);
  return status;
}

os_status opspec_value_write(opspec_env *self, const op_value *value, os_str name) {
  os_host_begin(self);
  os_status status = os_value_write(&self->output, &self->memory, self->types, value, name);
  if (status == OS_OK) return os_host_end(self);
  return os_host_fail(self, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
}

os_status opspec_value_parse(opspec_env *self, os_str json, op_value **out) {
  os_host_begin(self);
  os_json_document document;
  os_json_options options = {.duplicate_keys = true};
  os_report report;
  os_report_init(&report, &self->scratch, false, 1);
  OS_TRY(os_json_parse(&document, &self->scratch, (os_str){"", 0}, json, &options, &report));
  if (document.root == NULL || report.counts[OS_ERROR] > 0)
    return os_host_fail(self, OS_MALFORMED, report.findings.items[0]->message, (os_str){"", 0}, &report);
  os_evidence_fault fault;
  os_status status =
      os_evidence_value(&self->memory, &self->scratch, self->types, &document, document.root, out, &fault);
  if (status == OS_OK) return OS_OK;
  os_str where = os_json_pointer(&self->scratch, fault.node);
  return os_host_fail(self, status, fault.message, where, NULL);
}

// ---- Making and reading -----------------------------------------------------------------------------------

op_value *opspec_tensor(opspec_env *self, op_elem elem, int32_t rank, const int64_t *dims) {
  return os_value_tensor(&self->memory, elem, rank, dims);
}

op_value *opspec_sequence(opspec_env *self, op_type type) {
  return os_value_sequence(&self->memory, type, 0);
}

os_status opspec_sequence_add(op_value *sequence, op_value *item) {
  return op_sequence_insert(sequence, sequence->count, item);
}

op_value *opspec_optional(opspec_env *self, op_type type, op_value *inner) {
  return os_value_optional(&self->memory, type, inner);
}

op_value *opspec_map(opspec_env *self, op_type type, op_value *keys, op_value *const *values, size_t count) {
  return os_value_map(&self->memory, type, keys, values, count);
}

op_value *opspec_sparse(opspec_env *self, op_elem elem, op_value *values, op_value *indices, int32_t rank,
                        const int64_t *dims) {
  op_type type = os_types_intern(self->types, (os_type){.kind = OS_TYPE_SPARSE, .elem = elem});
  return os_value_sparse(&self->memory, type, values, indices, rank, dims);
}

size_t opspec_value_count(const op_value *value) { return value->count; }
op_value *opspec_value_at(const op_value *value, size_t index) {
  return index < value->count ? value->items[index] : NULL;
}
const op_tensor *opspec_value_keys(const op_value *map) {
  return map->keys == NULL ? NULL : &map->keys->tensor;
}
const op_tensor *opspec_value_head(const op_value *value) { return &value->tensor; }
