#include "form.h"

#include "decode.h"
#include "encode.h"
#include "form_fixture.h"
#include "form_rest.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>

// The text as the other forms have it.
static void written(fixture *self, os_form form, const char *expected) {
  os_text out;
  os_text_init(&out, &self->memory);
  CHECK_EQ(self->status, OS_OK);
  if (self->status == OS_OK) {
    CHECK_EQ(os_form_write(&out, form, NULL, self->message, NULL), OS_OK);
    CHECK_STR(out, expected);
  }
  os_text_clear(&out);
}

static void json(const char *type, const char *text, const char *line) {
  fixture self;
  read_as(&self, os_form_read_json, type, text);
  for (size_t i = 0; i < self.report.findings.count; i++)
    printf("%.*s\n", OS_ARG(self.report.findings.items[i]->message));
  written(&self, OS_FORM_LINE, line);
  finish(&self);
}

static void text(const char *type, const char *given, const char *line) {
  fixture self;
  read_as(&self, os_form_read_text, type, given);
  for (size_t i = 0; i < self.report.findings.count; i++)
    printf("%.*s\n", OS_ARG(self.report.findings.items[i]->message));
  written(&self, OS_FORM_LINE, line);
  finish(&self);
}

static void fault(reader read, const char *type, const char *given, const char *rule, const char *path,
                  uint32_t line, uint32_t column) {
  fixture self;
  read_as(&self, read, type, given);
  CHECK_EQ(self.status, OS_MALFORMED);
  if (CHECK(self.report.findings.count > 0)) {
    os_report_finish(&self.report);
    const os_finding *finding = self.report.findings.items[0];
    int failed = os_check_failures;
    CHECK_STR(os_str_of(finding->rule->id), rule);
    CHECK_STR(finding->where.path, path);
    CHECK_EQ(finding->where.from.line, line);
    CHECK_EQ(finding->where.from.column, column);
    if (os_check_failures != failed) printf("  in %s: %.*s\n", given, OS_ARG(finding->message));
  }
  finish(&self);
}

static void test_json(void) {
  json("ModelProto",
       "{\"irVersion\": \"8\", \"opset_import\": [{\"domain\": \"\", \"version\": 17}, {}], \"graph\": null}",
       "ir_version: 8 opset_import {domain: \"\" version: 17} opset_import {}");
  json("AttributeProto", "{\"i\": -9223372036854775808, \"type\": \"INTS\", \"ints\": [1e3, \"-5\", 2.0]}",
       "i: -9223372036854775808 ints: [1000, -5, 2] type: INTS");
}

static void test_json_values(void) {
  json("AttributeProto",
       "{\"f\": -0.0, \"floats\": [\"NaN\", \"Infinity\", \"-Infinity\", 0.1, \"1e-45\"], \"type\": 6}",
       "f: -0 floats: [nan, inf, -inf, 0.1, 1e-45] type: FLOATS");
  json("TensorProto",
       "{\"rawData\": \"AP/+\", \"stringData\": [\"\", \"_-8\"], \"uint64Data\": [\"18446744073709551615\"]}",
       "string_data: [\"\", \"\\377\\357\"] raw_data: \"\\000\\377\\376\" uint64_data: "
       "[18446744073709551615]");
  json("TypeProto", "{\"tensorType\": {\"shape\": {\"dim\": [{\"dimParam\": \"N\\u00e9\"}, {}]}}}",
       "tensor_type {shape {dim {dim_param: \"N\xc3\xa9\"} dim {}}}");
}

static void test_json_faults(void) {
  reader read = os_form_read_json;
  fault(read, "ModelProto", "{\"irversion\": 1}", "form.field", "", 1, 2);
  fault(read, "ModelProto", "{\"irVersion\": 1, \"ir_version\": 2}", "form.field", "ir_version", 1, 18);
  fault(read, "ModelProto", "{\"irVersion\": 1.5}", "form.value", "ir_version", 1, 15);
  fault(read, "ModelProto", "{\"irVersion\": 9223372036854775808}", "form.value", "ir_version", 1, 15);
  fault(read, "ModelProto", "{\"irVersion\": true}", "form.value", "ir_version", 1, 15);
  fault(read, "ModelProto", "{\"irVersion\": \"\"}", "form.value", "ir_version", 1, 15);
  fault(read, "ModelProto", "[]", "form.value", "", 1, 1);
  fault(read, "ModelProto", "{\n \"graph\": {\"node\": [{}, {\"opType\": 5}]}}", "form.value",
        "graph.node[1].op_type", 2, 36);
  fault(read, "GraphProto", "{\"node\": {}}", "form.value", "node", 1, 10);
  fault(read, "GraphProto", "{\"node\": [null]}", "form.value", "node", 1, 11);
  fault(read, "GraphProto", "{\"name\": [\"a\"]}", "form.value", "name", 1, 10);
  fault(read, "AttributeProto", "{\"type\": \"INTEGER\"}", "form.value", "type", 1, 10);
  fault(read, "AttributeProto", "{\"type\": 99}", "form.value", "type", 1, 10);
  fault(read, "AttributeProto", "{\"f\": 1e39}", "form.value", "f", 1, 7);
  fault(read, "AttributeProto", "{\"f\": \"nan\"}", "form.value", "f", 1, 7);
  fault(read, "AttributeProto", "{\"s\": \"a\"}", "form.value", "s", 1, 7);
  fault(read, "TensorProto", "{\"int32Data\": [2147483648]}", "form.value", "int32_data", 1, 16);
  fault(read, "TensorProto", "{\"uint64Data\": [-1]}", "form.value", "uint64_data", 1, 17);
  fault(read, "TypeProto", "{\"tensorType\": {}, \"mapType\": {}}", "form.field", "map_type", 1, 20);
  fault(read, "ModelProto", "{\"irVersion\": 1,}", "json.syntax", "", 1, 17);
}

static void test_text(void) {
  text("ModelProto", "\xef\xbb\xbf# with a byte-order mark\nir_version: 8", "ir_version: 8");
  text("ModelProto",
       "ir_version: 0x08, opset_import: [{domain: '' version: 017}, <>]; graph { } # end\nmodel_version: -1",
       "ir_version: 8 model_version: -1 graph {} opset_import {domain: \"\" version: 15} opset_import {}");
  text("AttributeProto", "f: -inf floats: 1 floats: [.5, 2., 3f, -nan, INFINITY, 1e99] type: 6",
       "f: -inf floats: [1, 0.5, 2, 3, -nan, inf, inf] type: FLOATS");
  text("AttributeProto", "name: \"a\" 'b\\\"' \"\\u00e9\\U0001F600\" s: \"\\x41\\101\\n\\t\\?\" strings: []",
       "name: \"ab\\\"\xc3\xa9\xf0\x9f\x98\x80\" s: \"AA\\n\\t?\"");
  text("AttributeProto", "sparse_tensor { values { float_data: [ ] dims: 2 } }",
       "sparse_tensor {values {dims: [2]}}");
  text("NodeProto",
       "99: 5 99: 0x00000005 99: 0x0000000000000005 99: \"a\\0\" 99 { 1: 2 3 { 4: \"\" } } op_type: 'x'",
       "op_type: \"x\" 99: 5 99: 0x00000005 99: 0x0000000000000005 99: \"a\\000\" 99 {1: 2 3 {4: \"\"}}");
}

static void test_text_faults(void) {
  reader read = os_form_read_text;
  fault(read, "ModelProto", "ir_version = 8", "form.syntax", "", 1, 12);
  fault(read, "ModelProto", "ir_version: 8 ir_version: 9", "form.field", "ir_version", 1, 15);
  fault(read, "ModelProto", "graph {\n  node { op_type 5 }\n}", "form.syntax", "graph.node[0]", 2, 18);
  fault(read, "ModelProto", "graph { node { opType: 'a' } }", "form.field", "graph.node[0]", 1, 16);
  fault(read, "ModelProto", "graph {", "form.syntax", "graph", 1, 8);
  fault(read, "ModelProto", "}", "form.syntax", "", 1, 1);
  fault(read, "ModelProto", "ir_version: 1.0", "form.value", "ir_version", 1, 13);
  fault(read, "ModelProto", "ir_version: 08", "form.value", "ir_version", 1, 13);
  fault(read, "ModelProto", "ir_version: \"8\"", "form.value", "ir_version", 1, 13);
  fault(read, "ModelProto", "ir_version: 1x", "form.syntax", "", 1, 13);
  fault(read, "ModelProto", "domain: \"a\nb\"", "form.syntax", "", 1, 9);
  fault(read, "ModelProto", "domain: \"\\q\"", "form.syntax", "", 1, 10);
  fault(read, "ModelProto", "domain: \"\\ud800\"", "form.syntax", "", 1, 14);
  fault(read, "ModelProto", "domain: \"a", "form.syntax", "", 1, 9);
  fault(read, "ModelProto", "opset_import: [{} {}]", "form.syntax", "", 1, 19);
  fault(read, "AttributeProto", "f: 0x10", "form.value", "f", 1, 4);
  fault(read, "AttributeProto", "i: -", "form.syntax", "", 1, 5);
  fault(read, "AttributeProto", "i: - \"5\"", "form.syntax", "", 1, 6);
  fault(read, "AttributeProto", "name: abc", "form.value", "name", 1, 7);
  fault(read, "NodeProto", "99: abc", "form.syntax", "", 1, 5);
  fault(read, "NodeProto", "99: 18446744073709551616", "form.value", "", 1, 5);
  fault(read, "NodeProto", "0: 1", "form.syntax", "", 1, 1);
  fault(read, "NodeProto", "99 { 1: \"a\" { 2: 3 } }", "form.syntax", "", 1, 13);
  fault(read, "NodeProto", "99 { name: 1 }", "form.syntax", "", 1, 6);
}

static void deep(reader read, const char *open, const char *close, size_t levels, os_status status) {
  fixture self;
  os_text out;
  start(&self);
  os_text_init(&out, &self.memory);
  os_text_puts(&out, read == os_form_read_json ? "{" : "");
  for (size_t i = 0; i < levels; i++) os_text_puts(&out, open);
  for (size_t i = 0; i < levels; i++) os_text_puts(&out, close);
  os_text_puts(&out, read == os_form_read_json ? "}" : "");
  os_form_input input = input_of(&self, "TypeProto", os_text_str(&out));
  CHECK_EQ(read(&input, &self.message), status);
  CHECK_EQ(self.report.findings.count, status != OS_OK);
  if (status != OS_OK && self.report.findings.count > 0)
    CHECK_STR(os_str_of(self.report.findings.items[0]->rule->id),
              levels > 500 && read == os_form_read_json ? "json.depth" : "form.depth");
  os_text_clear(&out);
  finish(&self);
}

static void test_depth(void) {
  deep(os_form_read_text, "sequence_type {elem_type {", "}}", 127, OS_OK);
  deep(os_form_read_text, "sequence_type {elem_type {", "}}", 128, OS_LIMIT);
  deep(os_form_read_json, "\"sequenceType\": {\"elemType\": {", "}}", 127, OS_OK);
  deep(os_form_read_json, "\"sequenceType\": {\"elemType\": {", "}}", 128, OS_LIMIT);
}

// What a form cannot hold, in a message that is all of it.
static void test_lost(void) {
  static const uint8_t bytes[] = {0x0a, 1, 0xff, 0x15, 1, 0, 0xc0, 0x7f, 0x98, 6, 1}; // name, f, field 99
  fixture self;
  start(&self);
  os_source source = os_source_memory(bytes, sizeof bytes);
  os_report decoding;
  os_report_init(&decoding, &self.arena, false, 0);
  os_decoding ask = {.arena = &self.arena,
                     .source = &source,
                     .type = &onnx__attribute_proto__descriptor,
                     .report = &decoding};
  CHECK_EQ(os_proto_decode(&ask, &self.message), OS_OK);
  os_text out;
  os_text_init(&out, &self.memory);
  CHECK_EQ(os_form_write(&out, OS_FORM_JSON, &source, self.message, &self.report), OS_OK);
  CHECK_STR(out, "{\n  \"name\": \"\xef\xbf\xbd\",\n  \"f\": \"NaN\"\n}");
  CHECK_EQ(self.report.findings.count, 3);
  for (size_t i = 0; i < self.report.findings.count; i++)
    CHECK_STR(os_str_of(self.report.findings.items[i]->rule->id), "form.lost");
  if (self.report.findings.count == 3) {
    CHECK_STR(self.report.findings.items[0]->where.path, "name");
    CHECK_STR(self.report.findings.items[1]->where.path, "f");
    CHECK_STR(self.report.findings.items[2]->where.path, "");
  }
  out.len = 0;
  os_report_init(&self.report, &self.arena, false, 0);
  CHECK_EQ(os_form_write(&out, OS_FORM_TEXT, &source, self.message, &self.report), OS_OK);
  CHECK_STR(out, "name: \"\\377\"\nf: nan\n99: 1");
  CHECK_EQ(self.report.findings.count, 1);
  os_text_clear(&out);
  finish(&self);
}

static bool collect(void *context, os_str written) {
  os_text_put(context, written);
  return written.len <= (size_t)1 << 20;
}

static os_status read_piece(void *context, uint64_t offset, size_t n, void *to) {
  return os_source_read(context, offset, n, to);
}

// A tensor whose data stays outside, to a text that does not stay: the same as in memory, and never in memory as a whole.
static void pieces(const char *field, const char *element, int count, bool quoted) {
  fixture self;
  os_text said, bytes, whole, far;
  os_text *all[] = {&said, &bytes, &whole, &far};
  start(&self);
  for (size_t i = 0; i < 4; i++) os_text_init(all[i], &self.memory);
  os_text_puts(&said, "dims: 3 name: \"t\" ");
  if (quoted) os_text_format(&said, "%s: \"", field);
  for (int i = 0; i < count; i++)
    if (quoted)
      os_text_puts(&said, element);
    else
      os_text_format(&said, "%s: %s ", field, element);
  if (quoted) os_text_char(&said, '"');
  os_text_puts(&said, " dims: 4");
  os_form_input input = input_of(&self, "TensorProto", os_text_str(&said));
  CHECK_EQ(os_form_read_text(&input, &self.message), OS_OK);
  os_sink sink = os_sink_text(&bytes);
  CHECK_EQ(os_proto_encode(&self.memory, NULL, self.message, &sink), OS_OK);
  os_source near = os_source_memory(bytes.data, bytes.len);
  os_source source = {.length = bytes.len, .read = read_piece, .context = &near};
  os_decoding ask = {.arena = &self.arena,
                     .source = &source,
                     .type = &onnx__tensor_proto__descriptor,
                     .report = &self.report};
  void *outside;
  CHECK_EQ(os_proto_decode(&ask, &outside), OS_OK);
  static const os_form forms[] = {OS_FORM_JSON, OS_FORM_TEXT, OS_FORM_LINE};
  for (size_t i = 0; i < 3; i++) {
    os_text out;
    os_text_init(&out, &self.memory);
    out.take = collect;
    out.context = &far;
    whole.len = far.len = 0;
    CHECK_EQ(os_form_write(&whole, forms[i], NULL, self.message, NULL), OS_OK);
    CHECK_EQ(os_form_write(&out, forms[i], &source, outside, NULL), OS_OK);
    CHECK(out.room < 4 * OS_TEXT_PIECE);
    collect(&far, os_text_str(&out));
    CHECK(os_str_eq(os_text_str(&whole), os_text_str(&far)));
    os_text_clear(&out);
  }
  for (size_t i = 0; i < 4; i++) os_text_clear(all[i]);
  finish(&self);
}

static void test_pieces(void) {
  pieces("raw_data", "\\000a\\377\\n", 100000, true);
  pieces("raw_data", "a", 1, true);
  pieces("float_data", "0.1", 60000, false);
  pieces("int64_data", "-1", 60000, false);
  pieces("double_data", "2.5", 30000, false);
  pieces("string_data", "\"a\\377\"", 30000, false);
}

// What makes one message of another, and back.
static void rest(const char *of, const char *to, const char *lines) {
  fixture self;
  read_as(&self, os_form_read_text, "ModelProto", of);
  void *message = self.message, *other;
  os_form_input input = input_of(&self, "ModelProto", os_str_of(to));
  CHECK_EQ(os_form_read_text(&input, &other), OS_OK);
  os_text out, again;
  os_text_init(&out, &self.memory);
  os_text_init(&again, &self.memory);
  CHECK_EQ(os_form_rest_write(&out, NULL, other, message, NULL), OS_OK);
  CHECK_STR(out, lines);
  os_form_reader reader;
  void *root;
  input.text = os_text_str(&out);
  os_form_begin(&reader, &input, false, &root);
  os_form_rest_read(&reader, message, 0);
  CHECK_EQ(reader.status, OS_OK);
  CHECK_EQ(os_form_write(&again, OS_FORM_LINE, NULL, message, NULL), OS_OK);
  CHECK_STR(again, to);
  os_text_clear(&out);
  os_text_clear(&again);
  finish(&self);
}

static void test_rest(void) {
  rest("", "", "");
  rest("ir_version: 7", "ir_version: 8 domain: \"a\\nb\"", "\n#: {ir_version: 8 domain: \"a\\nb\"}");
  rest("ir_version: 7", "domain: \"a\"", "\n#: = {domain: \"a\"}");
  rest("graph {node {op_type: \"a\"} node {}}", "graph {node {op_type: \"a\"} node {input: [\"x\"] 99: 1}}",
       "\n#: graph.node[1] {input: [\"x\"] 99: 1}");
  rest("graph {node {input: [\"x\"]}}", "graph {node {input: [\"y\"]}}",
       "\n#: graph.node[0] = {input: [\"y\"]}");
  rest("graph {node {} node {}}", "graph {node {}}", "\n#: graph = {node {}}");
  rest("functions {}", "functions {attribute_proto {ints: [1] ref_attr_name: \"r\"}}",
       "\n#: functions[0] {attribute_proto {ints: [1] ref_attr_name: \"r\"}}");
}

// Our definitions have the types alone that the forms know.
static void test_types(void) {
  static const char *const names[] = {
      "ModelProto",    "TensorProto",       "AttributeProto", "SequenceProto",     "MapProto",
      "OptionalProto", "OperatorSetProto",  "OperatorProto",  "TrainingInfoProto", "DeviceConfigurationProto",
      "FunctionProto", "SparseTensorProto", "NodeProto"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const ProtobufCMessageDescriptor *type = os_proto_type_find(os_str_of(names[i]));
    if (!CHECK(type != NULL)) continue;
    for (unsigned j = 0; j < type->n_fields; j++) {
      ProtobufCType is = type->fields[j].type;
      CHECK(is == PROTOBUF_C_TYPE_INT32 || is == PROTOBUF_C_TYPE_INT64 || is == PROTOBUF_C_TYPE_UINT64 ||
            is == PROTOBUF_C_TYPE_FLOAT || is == PROTOBUF_C_TYPE_DOUBLE || is == PROTOBUF_C_TYPE_ENUM ||
            is == PROTOBUF_C_TYPE_BYTES || is == PROTOBUF_C_TYPE_MESSAGE);
    }
  }
}

int main(void) {
  test_json();
  test_json_values();
  test_json_faults();
  test_text();
  test_text_faults();
  test_depth();
  test_lost();
  test_pieces();
  test_rest();
  test_types();
  return CHECK_END();
}
