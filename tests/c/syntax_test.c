#include "syntax.h"

#include "form_fixture.h"

#include <stdio.h>

// Reads to the message that `line` says; written, it is `again` (NULL = the same).
static void syntax(const char *type, const char *text, const char *line, const char *again) {
  fixture self;
  read_as(&self, os_syntax_read, type, text);
  for (size_t i = 0; i < self.report.findings.count; i++)
    printf("%.*s\n", OS_ARG(self.report.findings.items[i]->message));
  os_text out;
  os_text_init(&out, &self.memory);
  CHECK_EQ(self.status, OS_OK);
  if (self.status == OS_OK) {
    CHECK_EQ(os_form_write(&out, OS_FORM_LINE, NULL, self.message, NULL), OS_OK);
    CHECK_STR(out, line);
    out.len = 0;
    CHECK_EQ(os_syntax_write(&out, NULL, self.message, &self.report), OS_OK);
    CHECK_STR(out, again == NULL ? text : again);
  }
  os_text_clear(&out);
  finish(&self);
}

static void test_models(void) {
  syntax(
      "ModelProto",
      "<\n  ir_version: 8,\n  opset_import: [\"\" : 17, \"a.b\" : 1],\n  doc_string: \"say \\\"x\\\"\\\\\",\n"
      "  metadata_props: [\"k\" : \"v\"]\n>\n"
      "g (float[N,3,?] x) => (float[] y) {\n  [first] y = a.b.Op:o <k: int = -3> (x, \"\")\n}",
      "ir_version: 8 doc_string: \"say \\\"x\\\"\\\\\" graph {node {input: [\"x\", \"\"] output: [\"y\"] "
      "name: \"first\" op_type: "
      "\"Op\" attribute {name: \"k\" i: -3 type: INT} domain: \"a.b\" overload: \"o\"} name: \"g\" input "
      "{name: \"x\" type "
      "{tensor_type {elem_type: 1 shape {dim {dim_param: \"N\"} dim {dim_value: 3} dim {}}}}} output {name: "
      "\"y\" type "
      "{tensor_type {elem_type: 1}}}} opset_import {domain: \"\" version: 17} opset_import {domain: \"a.b\" "
      "version: 1} "
      "metadata_props {key: \"k\" value: \"v\"}",
      NULL);
  syntax("ModelProto",
         "g () => () { } <domain: \"d\", opset_import: [\"\" : 1]> f <a, b: int = 2> (x) => (float y) "
         "<int64[2] z> { y = A(x) = B() <c = 1> }",
         "graph {name: \"g\"} functions {name: \"f\" input: [\"x\"] output: [\"y\"] attribute: [\"a\"] node "
         "{input: [\"x\"] output: [\"y\"] op_type: \"A\"} "
         "node {op_type: \"B\" attribute {name: \"c\" i: 1 type: INT}} opset_import {domain: \"\" version: "
         "1} domain: \"d\" "
         "attribute_proto {name: \"b\" i: 2 type: INT} value_info {name: \"y\" type {tensor_type {elem_type: "
         "1 shape {}}}} "
         "value_info {name: \"z\" type {tensor_type {elem_type: 7 shape {dim {dim_value: 2}}}}}}",
         "g () => () {\n}\n<\n  domain: \"d\",\n  opset_import: [\"\" : 1]\n>\nf <a, b: int = 2> (x) => (y) "
         "<float y, int64[2] z> {\n  y = A (x)\n   = B "
         "<c: int = 1> ()\n}");
}

static void test_values(void) {
  syntax("GraphProto",
         "g (float x = {1}) => () <int8[2] w = {-1, 2}, string s = {\"a\"}, float[1] e = [\"location\" : "
         "\"f\"], bool v> { }",
         "name: \"g\" initializer {data_type: 1 float_data: [1] name: \"x\"} initializer {dims: [2] "
         "data_type: 3 int32_data: [-1, 2] name: \"w\"} "
         "initializer {data_type: 8 string_data: [\"a\"] name: \"s\"} initializer {dims: [1] data_type: 1 "
         "name: \"e\" external_data {key: \"location\" value: \"f\"} "
         "data_location: EXTERNAL} input {name: \"x\" type {tensor_type {elem_type: 1 shape {}}}} value_info "
         "{name: \"v\" type {tensor_type {elem_type: 9 shape {}}}}",
         "g (float x) => () <\n    float x = {1},\n    int8[2] w = {-1, 2},\n    string s = {\"a\"},\n    "
         "float[1] e = [\"location\" : \"f\"],\n    bool v> {\n}");
  syntax("GraphProto",
         "g () => () <float[2] w = {#raw\n1, -nan}, int16 i = {#raw\n-2}, uint4[3] p = {#raw\n33, 3}> { }",
         "name: \"g\" initializer {dims: [2] data_type: 1 name: \"w\" raw_data: "
         "\"\\000\\000\\200?\\000\\000\\300\\377\"} "
         "initializer {data_type: 5 name: \"i\" raw_data: \"\\376\\377\"} initializer {dims: [3] data_type: "
         "21 name: \"p\" raw_data: \"!\\003\"}",
         "g () => () <\n    float[2] w = {#raw\n1, -nan},\n    int16 i = {#raw\n-2},\n    uint4[3] p = "
         "{#raw\n33, 3}> {\n}");
  syntax("GraphProto",
         "g (seq(map(int64, optional(float[]))) a, sparse_tensor(float[2]) b, opaque(x, y) c, opaque(z) d) "
         "=> (e) { }",
         "name: \"g\" input {name: \"a\" type {sequence_type {elem_type {map_type {key_type: 7 value_type "
         "{optional_type {elem_type {tensor_type {elem_type: 1}}}}}}}}} "
         "input {name: \"b\" type {sparse_tensor_type {elem_type: 1 shape {dim {dim_value: 2}}}}} input "
         "{name: \"c\" type {opaque_type {domain: \"x\" name: \"y\"}}} "
         "input {name: \"d\" type {opaque_type {name: \"z\"}}} output {name: \"e\"}",
         "g (seq(map(int64, optional(float[]))) a, sparse_tensor(float[2]) b, opaque(x,y) c, opaque(z) d) => "
         "(e) {\n}");
}

static void test_attributes(void) {
  syntax("GraphProto",
         "g () => () { = A <a = [1, 2], b = [1.5, -inf], c = [\"x\"], d = 1e3, e = float[1] {2}, f: "
         "type_proto = float, h = @r, i: ints = [], k = nan> () }",
         "node {op_type: \"A\" attribute {name: \"a\" ints: [1, 2] type: INTS} attribute {name: \"b\" "
         "floats: [1.5, -inf] type: FLOATS} "
         "attribute {name: \"c\" strings: [\"x\"] type: STRINGS} attribute {name: \"d\" f: 1000 type: FLOAT} "
         "attribute {name: \"e\" t {dims: [1] data_type: 1 float_data: [2]} type: TENSOR} "
         "attribute {name: \"f\" tp {tensor_type {elem_type: 1 shape {}}} type: TYPE_PROTO} attribute {name: "
         "\"h\" ref_attr_name: \"r\"} attribute {name: \"i\" type: INTS} "
         "attribute {name: \"k\" f: nan type: FLOAT}} name: \"g\"",
         "g () => () {\n   = A <a: ints = [1, 2], b: floats = [1.5, -inf], c: strings = [\"x\"], d: float = "
         "1000, e: tensor = float[1] {2}, "
         "f: type_proto = float, h = @r, i: ints = [], k: float = nan> ()\n}");
}

static void test_graphs(void) {
  syntax("GraphProto",
         "g () => () { y = If (c) <t = a () => (z) { z = B <s = b () => () { }, k = 1> () } , l: graphs = [d "
         "() => () {}, \"e e\" () => () {}]> }",
         "node {input: [\"c\"] output: [\"y\"] op_type: \"If\" attribute {name: \"t\" g {node {output: "
         "[\"z\"] op_type: \"B\" attribute {name: \"s\" g {name: \"b\"} type: GRAPH} "
         "attribute {name: \"k\" i: 1 type: INT}} name: \"a\" output {name: \"z\"}} type: GRAPH} attribute "
         "{name: \"l\" graphs {name: \"d\"} graphs {name: \"e e\"} type: GRAPHS}} name: \"g\"",
         "g () => () {\n  y = If (c) <t: graph = a () => (z) {\n    z = B () <s: graph = b () => () {\n    "
         "}, k: int = 1>\n  }, l: graphs = [d () => () {\n  }, _ () => () {\n  }]>\n}\n"
         "#: node[0].attribute[1].graphs[1] {name: \"e e\"}");
}

// What the syntax has no words for, in lines behind it.
static void test_rest(void) {
  syntax("GraphProto",
         "g () => () {\n   = _ <_: int = 1> ()\n}\n#: node[0] {op_type: \"a b\" doc_string: \"d\"}\n#: "
         "node[0].attribute[0] {name: \"c-d\"}\n#: {doc_string: \"D\"}",
         "node {op_type: \"a b\" attribute {name: \"c-d\" i: 1 type: INT} doc_string: \"d\"} name: \"g\" "
         "doc_string: \"D\"",
         "g () => () {\n   = _ <_: int = 1> ()\n}\n#: {doc_string: \"D\"}\n#: node[0] {op_type: \"a b\" "
         "doc_string: \"d\"}\n#: node[0].attribute[0] {name: \"c-d\"}");
  syntax("GraphProto",
         "g () => () {\n   = A <s = 0> ()\n}\n#: node[0].attribute[0] = {name: \"s\" type: SPARSE_TENSOR "
         "sparse_tensor {}}",
         "node {op_type: \"A\" attribute {name: \"s\" type: SPARSE_TENSOR sparse_tensor {}}} name: \"g\"",
         NULL);
}

static void fault(const char *type, const char *text, const char *rule, uint32_t line, uint32_t column) {
  fixture self;
  read_as(&self, os_syntax_read, type, text);
  CHECK_EQ(self.status, OS_MALFORMED);
  if (CHECK(self.report.findings.count > 0)) {
    os_report_finish(&self.report);
    const os_finding *finding = self.report.findings.items[0];
    int failed = os_check_failures;
    CHECK_STR(os_str_of(finding->rule->id), rule);
    CHECK_EQ(finding->where.from.line, line);
    CHECK_EQ(finding->where.from.column, column);
    if (os_check_failures != failed) printf("  in %s: %.*s\n", text, OS_ARG(finding->message));
  }
  finish(&self);
}

static void test_faults(void) {
  fault("ModelProto", "", "form.syntax", 1, 1);
  fault("ModelProto", "g () => () {\n  y = A (x\n}", "form.syntax", 3, 1);
  fault("ModelProto", "<ir: 7> g () => () {}", "form.syntax", 1, 2);
  fault("ModelProto", "<ir_version: \"7\"> g () => () {}", "form.value", 1, 14);
  fault("GraphProto", "g () = () {}", "form.syntax", 1, 8);
  fault("GraphProto", "g (floot x) => () {}", "form.syntax", 1, 10);
  fault("GraphProto", "g () => () <float[N] w = {1}> {}", "form.value", 1, 13);
  fault("GraphProto", "g () => () <int64 w = {1.5}> {}", "form.value", 1, 24);
  fault("GraphProto", "g () => () <int8 w = {#raw\n300}> {}", "form.value", 2, 1);
  fault("GraphProto", "g () => () { = A <a: int = 1.5> () }", "form.value", 1, 28);
  fault("GraphProto", "g () => () { = A <a = [1, \"x\"]> () }", "form.value", 1, 27);
  fault("GraphProto", "g () => () { = A <a = []> () }", "form.syntax", 1, 25);
  fault("GraphProto", "g () => () { = A <a: integer = 1> () }", "form.syntax", 1, 22);
  fault("GraphProto", "g () => () { = A \"x }", "form.syntax", 1, 18);
  fault("GraphProto", "g () => () { } }", "form.syntax", 1, 16);
  fault("GraphProto", "g () => () { }\n#: node[0] {}", "form.value", 2, 12);
  fault("GraphProto", "g () => () { }\n#: {} x", "form.syntax", 2, 7);
}

int main(void) {
  test_models();
  test_values();
  test_attributes();
  test_graphs();
  test_rest();
  test_faults();
  return CHECK_END();
}
