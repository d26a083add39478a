// Values of attributes as JSON.
#include "decimal.h"
#include "json_equal.h"
#include "message_json.h"
#include "spec_check.h"
#include "type_expr.h"

#include <math.h>

static const struct {
  os_str name;
  op_attr_kind kind, element; // element: of a list
} kinds[] = {
    {OS_STR_INIT("int"), OP_ATTR_INT, OP_ATTR_NONE},
    {OS_STR_INIT("ints"), OP_ATTR_INTS, OP_ATTR_INT},
    {OS_STR_INIT("float"), OP_ATTR_FLOAT, OP_ATTR_NONE},
    {OS_STR_INIT("floats"), OP_ATTR_FLOATS, OP_ATTR_FLOAT},
    {OS_STR_INIT("string"), OP_ATTR_STRING, OP_ATTR_NONE},
    {OS_STR_INIT("strings"), OP_ATTR_STRINGS, OP_ATTR_STRING},
    {OS_STR_INIT("tensor"), OP_ATTR_TENSOR, OP_ATTR_NONE},
    {OS_STR_INIT("tensors"), OP_ATTR_TENSORS, OP_ATTR_TENSOR},
    {OS_STR_INIT("sparse_tensor"), OP_ATTR_SPARSE, OP_ATTR_NONE},
    {OS_STR_INIT("sparse_tensors"), OP_ATTR_SPARSES, OP_ATTR_SPARSE},
    {OS_STR_INIT("graph"), OP_ATTR_GRAPH, OP_ATTR_NONE},
    {OS_STR_INIT("graphs"), OP_ATTR_GRAPHS, OP_ATTR_GRAPH},
    {OS_STR_INIT("type"), OP_ATTR_TYPE, OP_ATTR_NONE},
    {OS_STR_INIT("types"), OP_ATTR_TYPES, OP_ATTR_TYPE},
};

op_attr_kind os_attr_kind_of(os_str name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (name.len == kinds[i].name.len && os_str_eq(name, kinds[i].name)) return kinds[i].kind;
  return OP_ATTR_NONE;
}

bool os_attr_kind_is_list(op_attr_kind kind, op_attr_kind *element) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].kind != kind) continue;
    *element = kinds[i].element;
    return kinds[i].element != OP_ATTR_NONE;
  }
  return false;
}

// ---- Protobuf JSON: an object is taken for a message when all its members are fields of it -----------------

static const char *const tensor_fields[] = {
    "dims",          "dataType",      "data_type",      "segment",     "floatData",   "float_data",
    "int32Data",     "int32_data",    "stringData",     "string_data", "int64Data",   "int64_data",
    "name",          "docString",     "doc_string",     "rawData",     "raw_data",    "externalData",
    "external_data", "dataLocation",  "data_location",  "doubleData",  "double_data", "uint64Data",
    "uint64_data",   "metadataProps", "metadata_props", NULL};
static const char *const sparse_fields[] = {"values", "indices", "dims", NULL};
static const char *const graph_fields[] = {"node",
                                           "name",
                                           "initializer",
                                           "sparseInitializer",
                                           "sparse_initializer",
                                           "docString",
                                           "doc_string",
                                           "input",
                                           "output",
                                           "valueInfo",
                                           "value_info",
                                           "quantizationAnnotation",
                                           "quantization_annotation",
                                           "metadataProps",
                                           "metadata_props",
                                           NULL};
static const char *const type_fields[] = {"tensorType",       "tensor_type",
                                          "sequenceType",     "sequence_type",
                                          "mapType",          "map_type",
                                          "optionalType",     "optional_type",
                                          "sparseTensorType", "sparse_tensor_type",
                                          "opaqueType",       "opaque_type",
                                          "denotation",       NULL};

static bool os_value__is_message(const os_json *value, const char *const *fields) {
  if (!os_json_is(value, OS_JSON_OBJECT) || value->length == 0) return false;
  OS_JSON_EACH(member, value) {
    const char *const *field = fields;
    while (*field != NULL && !os_str_is(os_json_key(member), *field)) field++;
    if (*field == NULL) return false;
  }
  return true;
}

bool os_is_evidence_value(const os_json *node) {
  return os_json_is(os_json_member(node, "type"), OS_JSON_STRING);
}

static bool os_value__is_type(os_types *types, os_arena *arena, const os_json *value, op_type *type) {
  os_type_fault fault;
  *type = 0;
  if (!os_json_is(value, OS_JSON_STRING)) return false;
  return os_type_parse(types, arena, os_json_string(value), type, &fault) == OS_OK && *type != 0;
}

// Members of the evidence form that are there have to be what its schema says.
static bool os_value__has_form(const os_json *value) {
  const os_json *shape = os_json_member(value, "shape"), *data = os_json_member(value, "data");
  if (shape != NULL && !os_json_is(shape, OS_JSON_ARRAY)) return false;
  OS_JSON_EACH(axis, shape)
  if (!os_json_is(axis, OS_JSON_NUMBER) || !(axis->flags & OS_JSON_INTEGER) || axis->item.valuedouble < 0)
    return false;
  return data == NULL || os_json_is(data, OS_JSON_ARRAY) ||
         os_json_is(os_json_member(data, "base64"), OS_JSON_STRING);
}

// A tensor or sparse tensor in the evidence form: the type has to say so.
static bool os_value__is_evidence(os_checking *self, const os_json *value, os_type_kind kind) {
  op_type type;
  if (!os_is_evidence_value(value) || !os_value__has_form(value)) return false;
  if (!os_value__is_type(self->checker->types, self->arena, os_json_member(value, "type"), &type))
    return false;
  return os_types_get(self->checker->types, type).kind == kind;
}

// ---- One value --------------------------------------------------------------------------------------------

static os_value_trouble os_value__int(const os_json_document *document, const os_json *value) {
  os_value_trouble trouble = {OS_VALUE_KIND, value, "an integer"};
  int64_t exact;
  if (!os_json_is(value, OS_JSON_NUMBER)) return trouble;
  trouble.fault = OS_VALUE_OK;
  if (value->flags & OS_JSON_INTEGER && value->end - value->start < 19) return trouble;
  trouble.fault = OS_VALUE_KIND;
  os_decimal number = os_decimal_of(os_json_source(document, value));
  if (!os_decimal_is_integer(&number)) return trouble;
  trouble.fault = os_decimal_int64(&number, &exact) ? OS_VALUE_OK : OS_VALUE_INT_RANGE;
  return trouble;
}

static os_value_trouble os_value__float(const os_json_document *document, const os_json *value) {
  os_value_trouble trouble = {OS_VALUE_KIND, value, "a number"};
  if (!os_json_is(value, OS_JSON_NUMBER)) return trouble;
  trouble.fault = OS_VALUE_OK;
  double wide = value->item.valuedouble;
  if (fabs(wide) < 3e38 && fabs(wide) > 1e-30) return trouble;
  os_str source = os_json_source(document, value);
  os_decimal number = os_decimal_of(source);
  float narrow = os_decimal_float(source);
  if (isinf(narrow))
    trouble.fault = OS_VALUE_INFINITE;
  else if (narrow == 0 && number.count > 0)
    trouble.fault = OS_VALUE_ZERO;
  return trouble;
}

static os_value_trouble os_value__one(os_checking *self, const os_json *value, op_attr_kind kind) {
  const os_json_document *document = &self->spec->document;
  op_type type;
  bool ok;
  switch (kind) {
  case OP_ATTR_INT: return os_value__int(document, value);
  case OP_ATTR_FLOAT: return os_value__float(document, value);
  case OP_ATTR_STRING:
    return (os_value_trouble){os_json_is(value, OS_JSON_STRING) ? OS_VALUE_OK : OS_VALUE_KIND, value,
                              "a string"};
  case OP_ATTR_TENSOR:
    ok = os_value__is_evidence(self, value, OS_TYPE_TENSOR) || os_value__is_message(value, tensor_fields);
    return (os_value_trouble){ok ? OS_VALUE_OK : OS_VALUE_KIND, value,
                              "a tensor: { type, shape, data } or a TensorProto"};
  case OP_ATTR_SPARSE:
    ok = os_value__is_evidence(self, value, OS_TYPE_SPARSE) || os_value__is_message(value, sparse_fields);
    return (os_value_trouble){ok ? OS_VALUE_OK : OS_VALUE_KIND, value,
                              "a sparse tensor: { type, shape, values, indices } or a SparseTensorProto"};
  case OP_ATTR_GRAPH:
    return (os_value_trouble){os_value__is_message(value, graph_fields) ? OS_VALUE_OK : OS_VALUE_KIND, value,
                              "a graph: a GraphProto"};
  default:
    ok = os_value__is_type(self->checker->types, self->arena, value, &type) ||
         os_value__is_message(value, type_fields);
    return (os_value_trouble){ok ? OS_VALUE_OK : OS_VALUE_KIND, value,
                              "a type: a type expression or a TypeProto"};
  }
}

os_value_trouble os_spec_value_trouble(os_checking *self, const os_json *value, op_attr_kind kind) {
  op_attr_kind element;
  if (!os_attr_kind_is_list(kind, &element)) return os_value__one(self, value, kind);
  os_value_trouble trouble = {OS_VALUE_KIND, value, "a list"};
  if (!os_json_is(value, OS_JSON_ARRAY) || (value->flags & OS_JSON_CUT)) return trouble;
  trouble.fault = OS_VALUE_OK;
  OS_JSON_EACH(child, value) {
    os_value_trouble one = os_value__one(self, child, element);
    if (one.fault == OS_VALUE_OK) continue;
    // A value that becomes 0 is the least of troubles: an error behind it counts more.
    if (one.fault != OS_VALUE_ZERO) return one;
    if (trouble.fault == OS_VALUE_OK) trouble = one;
  }
  return trouble;
}

void os_spec_value_mend(os_checking *self, os_finding *finding, const os_json *value, op_attr_kind kind) {
  os_type_fault fault = {0};
  op_type type;
  if ((kind != OP_ATTR_TYPE && kind != OP_ATTR_TYPES) || !os_json_is(value, OS_JSON_STRING)) return;
  if (self->suggestions == 0 || self->report->full) return;
  self->suggestions--;
  if (os_type_parse(self->checker->types, self->arena, os_json_string(value), &type, &fault) != OS_OK)
    self->status = OS_OUT_OF_MEMORY;
  else if (fault.suggestion.len > 0)
    os_checking_fix_string(self, finding, false, value, fault.suggestion);
}

static os_status os_value__form(os_checking *self, const os_json *value, const os_rule *rule) {
  os_report scratch, *report = self->report;
  op_type type;
  os_report_init(&scratch, self->arena, report->strict, 10);
  self->report = &scratch;
  os_check_evidence_value(self, value, &type);
  self->report = report;
  for (size_t i = 0; i < scratch.findings.count; i++) {
    const os_finding *from = scratch.findings.items[i];
    os_finding *to = os_report_add(report, rule, "%.*s", OS_ARG(from->message));
    to->where = from->where;
    to->expected = from->expected;
    to->actual = from->actual;
  }
  return scratch.status;
}

// What stands at a byte of the document, in `node`.
static const os_json *os_value__at(const os_json *node, uint64_t byte) {
  const os_json *child = os_json_first(node);
  while (child != NULL) {
    uint32_t start = child->key_end > 0 ? child->key_start : child->start;
    if (byte < start) break;
    if (byte < child->end) {
      node = child;
      child = os_json_first(node);
    } else {
      child = os_json_next(child);
    }
  }
  return node;
}

static os_status os_value__message(os_checking *self, const os_json *value, const char *message,
                                   const os_rule *rule) {
  os_str fault;
  os_range range;
  OS_TRY(os_message_json_fault(self->arena, self->checker->types, message,
                               os_json_source(&self->spec->document, value), &fault, &range));
  if (fault.len == 0) return OS_OK;
  const os_json *at = os_value__at(value, value->start + range.start);
  os_finding *finding = os_checking_add(self, rule, at, "This %s is faulty: %.*s.", message, OS_ARG(fault));
  finding->actual = os_json_excerpt(&self->spec->document, self->arena, at);
  finding->expected = os_arena_format(self->arena, "a %s", message);
  return OS_OK;
}

os_status os_spec_value_form(os_checking *self, const os_json *value, op_attr_kind kind,
                             const os_rule *rule) {
  op_attr_kind element;
  bool list = os_attr_kind_is_list(kind, &element);
  if (!list) element = kind;
  const char *message = element == OP_ATTR_TENSOR   ? "TensorProto"
                        : element == OP_ATTR_SPARSE ? "SparseTensorProto"
                        : element == OP_ATTR_GRAPH  ? "GraphProto"
                        : element == OP_ATTR_TYPE   ? "TypeProto"
                                                    : NULL;
  if (message == NULL) return OS_OK;
  for (const os_json *one = list ? os_json_first(value) : value; one != NULL;
       one = list ? os_json_next(one) : NULL) {
    if (os_is_evidence_value(one))
      OS_TRY(os_value__form(self, one, rule));
    else if (os_json_is(one, OS_JSON_OBJECT))
      OS_TRY(os_value__message(self, one, message, rule));
  }
  return OS_OK;
}

static bool os_value__same(const os_json_document *a_document, const os_json *a,
                           const os_json_document *b_document, const os_json *b, op_attr_kind kind) {
  if (kind == OP_ATTR_INT && a->end - a->start < 16 && b->end - b->start < 16)
    return a->item.valuedouble == b->item.valuedouble && os_json_type_of(a) == os_json_type_of(b);
  if (kind == OP_ATTR_FLOAT && os_json_is(a, OS_JSON_NUMBER) && os_json_is(b, OS_JSON_NUMBER))
    return os_decimal_float(os_json_source(a_document, a)) == os_decimal_float(os_json_source(b_document, b));
  return os_json_equal(a_document, a, b_document, b);
}

bool os_spec_same_value(os_checking *self, const os_json_document *a_document, const os_json *a,
                        const os_json *b, op_attr_kind kind) {
  const os_json_document *document = &self->spec->document;
  op_attr_kind element;
  if (!os_attr_kind_is_list(kind, &element)) return os_value__same(a_document, a, document, b, kind);
  if (!os_json_is(a, OS_JSON_ARRAY) || !os_json_is(b, OS_JSON_ARRAY) || a->length != b->length) return false;
  const os_json *other = os_json_first(b);
  OS_JSON_EACH(child, a) {
    if (!os_value__same(a_document, child, document, other, element)) return false;
    other = os_json_next(other);
  }
  return true;
}

// ---- Into op_attribute ------------------------------------------------------------------------------------

static bool os_value__read(os_arena *arena, os_types *types, const os_json_document *document,
                           const os_json *value, op_attr_kind kind, op_attribute *out) {
  if (kind == OP_ATTR_STRING) {
    out->as.s = os_json_string(value);
    return os_json_is(value, OS_JSON_STRING);
  }
  if (kind == OP_ATTR_TYPE) return os_value__is_type(types, arena, value, &out->as.type);
  if (!os_json_is(value, OS_JSON_NUMBER)) return false;
  os_str source = os_json_source(document, value);
  if (kind == OP_ATTR_FLOAT) {
    out->as.f = os_decimal_float(source);
    return isfinite(out->as.f);
  }
  os_decimal number = os_decimal_of(source);
  return kind == OP_ATTR_INT && os_decimal_int64(&number, &out->as.i);
}

bool os_spec_attribute_value(os_arena *arena, os_types *types, const os_json_document *document,
                             const os_json *value, op_attr_kind kind, op_attribute *out) {
  op_attr_kind element;
  *out = (op_attribute){.kind = kind};
  if (!os_attr_kind_is_list(kind, &element)) return os_value__read(arena, types, document, value, kind, out);
  if (!os_json_is(value, OS_JSON_ARRAY)) return false;
  size_t size = kind == OP_ATTR_INTS      ? sizeof(int64_t)
                : kind == OP_ATTR_FLOATS  ? sizeof(float)
                : kind == OP_ATTR_STRINGS ? sizeof(os_str)
                                          : sizeof(op_type);
  char *items = os_arena_array(arena, value->length + 1, size);
  if (items == NULL) return false;
  size_t count = 0;
  OS_JSON_EACH(child, value) {
    op_attribute one = {0};
    if (!os_value__read(arena, types, document, child, element, &one)) return false;
    memcpy(items + count++ * size, &one.as, size);
  }
  out->count = (uint32_t)count;
  out->as.ints = (const int64_t *)(void *)items;
  return true;
}
