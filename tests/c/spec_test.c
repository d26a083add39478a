#include "spec.h"

#include "check.h"
#include "text.h"

#include <stdlib.h>

// A document without any finding; each case below changes one piece of it.
static const char base[] =
    "{\n"
    "  \"kind\": \"runlocal.operator-extension\",\n"
    "  \"protocol_version\": \"1.0\",\n"
    "  \"name\": \"soft-gate\",\n"
    "  \"version\": \"1.0.0\",\n"
    "  \"authority\": \"specification\",\n"
    "  \"operator\": { \"domain\": \"com.example\", \"op_type\": \"SoftGate\", \"overload\": \"\" },\n"
    "  \"inputs\": [\n"
    "    { \"name\": \"X\", \"cardinality\": \"single\", \"type_parameter\": \"T\", \"description\": \"The "
    "values.\" },\n"
    "    { \"name\": \"mask\", \"cardinality\": \"optional\", \"type_parameter\": \"M\", \"description\": "
    "\"Where to act.\" }\n"
    "  ],\n"
    "  \"outputs\": [{ \"name\": \"Y\", \"cardinality\": \"single\", \"type_parameter\": \"T\", "
    "\"description\": \"The result.\" }],\n"
    "  \"type_parameters\": {\n"
    "    \"T\": { \"allowed_types\": [\"tensor(double)\", \"tensor(float)\"], \"description\": \"Element "
    "types.\" },\n"
    "    \"M\": { \"allowed_types\": [\"tensor(bool)\"], \"description\": \"Truth.\" }\n"
    "  },\n"
    "  \"attributes\": {\n"
    "    \"alpha\": { \"kind\": \"float\", \"required\": false, \"default\": 0.5, \"allowed_values\": null, "
    "\"description\": \"Slope.\" },\n"
    "    \"mode\": { \"kind\": \"int\", \"required\": true, \"default\": null, \"allowed_values\": [0, 1, "
    "2], \"description\": \"How.\" }\n"
    "  },\n"
    "  \"input_conditions\": [\"`mask` has the shape of `X`.\"],\n"
    "  \"shape_rules\": [\"`Y` has the shape of `X`.\"],\n"
    "  \"boundary_behavior\": \"NaN gives NaN.\",\n"
    "  \"numerical_behavior\": \"Exact.\",\n"
    "  \"nondeterminism\": \"None.\",\n"
    "  \"state_effects\": \"None.\",\n"
    "  \"reference\": {\n"
    "    \"kind\": \"onnx.reference_python\", \"interface_version\": \"1\", \"adapter\": \"adapter.py\", "
    "\"class_name\": \"SoftGate\",\n"
    "    \"implementation\": [\"gate.py\"],\n"
    "    \"environment\": { \"kind\": \"python\", \"python\": \"3.11.7\", \"packages\": { \"numpy\": "
    "\"2.0.1\", \"onnx\": \"1.20.0\" } }\n"
    "  },\n"
    "  \"tests\": [\"one.json\", \"two.json\"]\n"
    "}\n";

static const char python_reference[] =
    "\"kind\": \"onnx.reference_python\", \"interface_version\": \"1\", \"adapter\": \"adapter.py\", "
    "\"class_name\": \"SoftGate\",\n    \"implementation\": [\"gate.py\"],\n    \"environment\": { "
    "\"kind\": \"python\", \"python\": \"3.11.7\", \"packages\": { \"numpy\": \"2.0.1\", \"onnx\": "
    "\"1.20.0\" } }\n";
#define LIBRARY(file, system, machine, libraries)                                                       \
  "\"kind\": \"onnxruntime.custom_library\", \"interface_version\": \"1\", \"library\": \"" file "\", " \
  "\"registration_symbol\": \"RegisterCustomOps\", \"environment\": { \"kind\": \"native\", "           \
  "\"operating_system\": \"" system "\", \"architecture\": \"" machine "\", \"libraries\": {" libraries \
  "} }\n"

static os_memory memory;
static os_arena home, arena;
static os_spec_checker checker;
static os_report report;
static os_spec *spec;

static void check_text(os_str text, const os_spec_options *options) {
  os_arena_clear(&arena);
  os_report_init(&report, &arena, false, 0);
  CHECK_EQ(os_spec_check(&checker, &arena, OS_STR(""), text, options, &report, &spec), OS_OK);
  CHECK_EQ(os_report_finish(&report), OS_OK);
}

static void print_findings(void) {
  for (size_t i = 0; i < report.findings.count; i++)
    printf("    %s %.*s %.*s\n", report.findings.items[i]->rule->id,
           OS_ARG(report.findings.items[i]->where.pointer), OS_ARG(report.findings.items[i]->message));
}

// The base with the first `from` replaced; malloc'ed.
static os_str changed(const char *from, const char *to) {
  const char *place = strstr(base, from);
  if (!CHECK(place != NULL)) {
    printf("  not in the base: %s\n", from);
    exit(1);
  }
  size_t head = (size_t)(place - base), len = sizeof base - 1 - strlen(from) + strlen(to);
  char *text = malloc(len + 1);
  memcpy(text, base, head);
  memcpy(text + head, to, strlen(to));
  strcpy(text + head + strlen(to), place + strlen(from));
  return (os_str){text, len};
}

static size_t count_of(const char *rule) {
  size_t count = 0;
  for (size_t i = 0; i < report.findings.count; i++)
    count += strcmp(report.findings.items[i]->rule->id, rule) == 0;
  return count;
}

// Applies the fixes of all findings of a rule; malloc'ed.
static os_str fixed(os_str text, const char *rule) {
  os_edit edits[64];
  size_t count = 0;
  for (size_t i = 0; i < report.findings.count; i++) {
    const os_finding *finding = report.findings.items[i];
    if (strcmp(finding->rule->id, rule) != 0 || finding->fix == NULL) continue;
    for (size_t j = 0; j < finding->fix->edits.count && count < 64; j++)
      edits[count++] = finding->fix->edits.items[j];
  }
  os_text out;
  os_text_init(&out, &memory);
  size_t at = 0;
  for (size_t done = 0; done < count; done++) {
    const os_edit *next = NULL;
    for (size_t i = 0; i < count; i++)
      if (edits[i].byte_start >= at && (next == NULL || edits[i].byte_start < next->byte_start))
        next = &edits[i];
    if (next == NULL) break;
    os_text_put(&out, os_str_slice(text, at, next->byte_start));
    os_text_put(&out, next->text);
    at = next->byte_end;
  }
  os_text_put(&out, os_str_slice(text, at, text.len));
  char *copy = malloc(out.len + 1);
  memcpy(copy, out.data, out.len);
  os_str answer = {copy, out.len};
  os_text_clear(&out);
  return answer;
}

typedef struct spec_case {
  const char *rule;
  os_severity severity;
  const char *pointer;
  const char *from, *to;
  bool fix; // a fix is offered, and after it the rule is silent
} spec_case;

static const spec_case cases[] = {
    {"json.number-precision", OS_WARNING, "/attributes/alpha/default", "0.5", "9007199254740993", false},
    {"spec.operator.domain-reserved", OS_ERROR, "/operator/op_type", "\"com.example\"", "\"ai.onnx.ml\"",
     false},
    {"spec.operator.domain-form", OS_WARNING, "/operator/domain", "com.example", "com example", false},
    {"spec.operator.domain-form", OS_ERROR, "/operator/domain", "com.example", "com.\\texample", false},
    {"spec.operator.domain-form", OS_INFO, "/operator/domain", "com.example", "Com.example", false},
    {"spec.operator.domain-form", OS_INFO, "/operator/domain", "com.example", "example", false},
    {"spec.operator.op-type-form", OS_WARNING, "/operator/op_type", "\"op_type\": \"SoftGate\"",
     "\"op_type\": \"Soft-Gate\"", true},
    {"spec.operator.op-type-form", OS_WARNING, "/operator/overload", "\"overload\": \"\"",
     "\"overload\": \"2d\"", true},
    {"spec.version.form", OS_WARNING, "/version", "\"1.0.0\"", "\"the first\"", false},
    {"spec.parameter.duplicate-name", OS_ERROR, "/inputs/1/name", "\"name\": \"mask\"", "\"name\": \"X\"",
     false},
    {"spec.parameter.input-output-name", OS_WARNING, "/outputs/0/name", "\"name\": \"Y\"", "\"name\": \"X\"",
     false},
    {"spec.parameter.variadic-not-last", OS_ERROR, "/inputs/0/cardinality", "\"single\"", "\"variadic\"",
     false},
    {"spec.parameter.optional-before-single", OS_INFO, "/inputs/0/cardinality",
     "\"single\", \"type_parameter\": \"T\", \"description\": \"The values.\" },\n    { \"name\": \"mask\", "
     "\"cardinality\": \"optional\"",
     "\"optional\", \"type_parameter\": \"T\", \"description\": \"The values.\" },\n    { \"name\": "
     "\"mask\", \"cardinality\": \"single\"",
     false},
    {"spec.output.none", OS_ERROR, "/outputs",
     "[{ \"name\": \"Y\", \"cardinality\": \"single\", \"type_parameter\": \"T\", \"description\": \"The "
     "result.\" }]",
     "[]", false},
    {"spec.parameter.type-parameter-unknown", OS_ERROR, "/inputs/1/type_parameter",
     "\"type_parameter\": \"M\"", "\"type_parameter\": \"Q\"", true},
    {"spec.parameter.untyped", OS_INFO, "/inputs/1/type_parameter", "\"type_parameter\": \"M\"",
     "\"type_parameter\": null", false},
    {"spec.type-parameter.unused", OS_WARNING, "/type_parameters/M", "\"type_parameter\": \"M\"",
     "\"type_parameter\": \"T\"", true},
    {"spec.type-parameter.undetermined", OS_WARNING, "/type_parameters/T",
     "\"single\", \"type_parameter\": \"T\", \"description\": \"The values.\"",
     "\"single\", \"type_parameter\": \"M\", \"description\": \"The values.\"", false},
    {"spec.type-parameter.name-clash", OS_WARNING, "/type_parameters/float",
     "\"M\": { \"allowed_types\": [\"tensor(bool)\"]", "\"float\": { \"allowed_types\": [\"tensor(bool)\"]",
     false},
    {"spec.type-parameter.name-clash", OS_WARNING, "/type_parameters/X", "\"M\": { \"allowed_types\"",
     "\"X\": { \"allowed_types\"", false},
    {"spec.type.syntax", OS_ERROR, "/type_parameters/T/allowed_types/0", "tensor(double)", "double[]", true},
    {"spec.type.syntax", OS_ERROR, "/type_parameters/T/allowed_types/0", "tensor(double)", "tensor(", false},
    {"spec.type.element", OS_ERROR, "/type_parameters/T/allowed_types/0", "tensor(double)", "tensor(float64)",
     true},
    {"spec.type.map-key", OS_ERROR, "/type_parameters/T/allowed_types/0", "tensor(double)",
     "map(float, int64)", false},
    {"spec.type.nesting", OS_ERROR, "/type_parameters/T/allowed_types/0", "tensor(double)",
     "optional(optional(tensor(double)))", false},
    {"spec.type.duplicate", OS_WARNING, "/type_parameters/T/allowed_types/1", "tensor(double)",
     "tensor(float)", true},
    {"spec.type.spelling", OS_WARNING, "/type_parameters/T/allowed_types/0", "tensor(double)",
     "tensor( double )", true},
    {"spec.type.spelling", OS_WARNING, "/type_parameters/T/allowed_types/0", "tensor(double)",
     "map(string,tensor(int64))", true},
    {"spec.attribute.name-form", OS_WARNING, "/attributes/al-pha", "\"alpha\": {", "\"al-pha\": {", true},
    {"spec.attribute.required-with-default", OS_ERROR, "/attributes/mode/default", "\"default\": null",
     "\"default\": 1", true},
    {"spec.attribute.optional-without-default", OS_INFO, "/attributes/alpha/default", "\"default\": 0.5",
     "\"default\": null", false},
    {"spec.attribute.default-type", OS_ERROR, "/attributes/alpha/default", "\"default\": 0.5",
     "\"default\": \"0.5\"", false},
    {"spec.attribute.default-type", OS_ERROR, "/attributes/alpha/default/1",
     "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
     "\"kind\": \"floats\", \"required\": false, \"default\": [1, null]", false},
    {"spec.attribute.default-type", OS_ERROR, "/attributes/alpha/default",
     "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
     "\"kind\": \"int\", \"required\": false, \"default\": 0.5", false},
    {"spec.attribute.default-type", OS_ERROR, "/attributes/alpha/default",
     "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
     "\"kind\": \"tensor\", \"required\": false, \"default\": { \"shape\": [1], \"data\": [2] }", false},
    {"spec.attribute.default-type", OS_ERROR, "/attributes/alpha/default",
     "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
     "\"kind\": \"type\", \"required\": false, \"default\": \"tensor(f)\"", false},
    {"spec.attribute.value-type", OS_ERROR, "/attributes/mode/allowed_values/0", "[0, 1, 2]", "[\"0\", 1, 2]",
     false},
    {"spec.attribute.int-range", OS_ERROR, "/attributes/mode/allowed_values/2", "[0, 1, 2]",
     "[0, 1, 9223372036854775808]", false},
    {"spec.attribute.float-range", OS_ERROR, "/attributes/alpha/default", "0.5", "3.5e38", false},
    {"spec.attribute.float-range", OS_WARNING, "/attributes/alpha/default", "0.5", "1e-60", false},
    {"spec.attribute.default-not-allowed", OS_ERROR, "/attributes/alpha/default",
     "\"default\": 0.5, \"allowed_values\": null", "\"default\": 0.5, \"allowed_values\": [0.25, 1]", false},
    {"spec.set.order", OS_ERROR, "/attributes/mode/allowed_values", "[0, 1, 2]", "[16, 128,  32]", true},
    {"spec.set.order", OS_ERROR, "/reference/implementation", "[\"gate.py\"]", "[\"gate.py\", \"base.py\"]",
     true},
    {"spec.set.unique", OS_ERROR, "/attributes/mode/allowed_values", "[0, 1, 2]",
     "[9007199254740992, 9007199254740993]", false},
    {"spec.attribute.parameter-clash", OS_WARNING, "/attributes/X", "\"alpha\": {", "\"X\": {", false},
    {"spec.attribute.single-allowed", OS_INFO, "/attributes/mode/allowed_values", "[0, 1, 2]", "[2]", false},
    {"spec.text.blank", OS_WARNING, "/boundary_behavior", "NaN gives NaN.", "TBD", false},
    {"spec.text.blank", OS_WARNING, "/boundary_behavior", "NaN gives NaN.", " \\n ", false},
    {"spec.text.blank", OS_WARNING, "/attributes/alpha/description", "Slope.", "\\u2026 ...", false},
    {"spec.text.blank", OS_WARNING, "/attributes/alpha/description", "Slope.", "N/A.", false},
    {"spec.text.repeated", OS_WARNING, "/input_conditions/1", "[\"`mask` has the shape of `X`.\"]",
     "[\"`mask` has the shape of `X`.\", \"`mask` has  the shape of `X`\"]", true},
    {"spec.text.unknown-name", OS_INFO, "/attributes/alpha/description", "Slope.",
     "Slope of `aplha` in `float`.", true},
    {"spec.shape.output-unmentioned", OS_WARNING, "/shape_rules", "`Y` has the shape of `X`.",
     "Yes, that of `X`.", false},
    {"spec.reference.package-missing", OS_ERROR, "/reference/environment/packages",
     "\"numpy\": \"2.0.1\", \"onnx\": \"1.20.0\"", "\"numpy\": \"2.0.1\"", false},
    {"spec.reference.package-missing", OS_WARNING, "/reference/environment/packages",
     "\"numpy\": \"2.0.1\", ", "", false},
    {"spec.reference.python-version", OS_WARNING, "/reference/environment/python", "3.11.7", "3.11", false},
    {"spec.reference.python-version", OS_ERROR, "/reference/environment/python", "3.11.7", "2.7.18", false},
    {"spec.reference.class-name", OS_ERROR, "/reference/class_name", "\"class_name\": \"SoftGate\"",
     "\"class_name\": \"lambda\"", false},
    {"spec.reference.class-name", OS_ERROR, "/reference/class_name", "\"class_name\": \"SoftGate\"",
     "\"class_name\": \"a.b\"", false},
    {"spec.reference.file-name", OS_WARNING, "/reference/adapter", "adapter.py", "adapter.txt", false},
    {"spec.reference.file-name", OS_WARNING, "/reference/implementation/0", "gate.py", "gate.c", false},
    {"spec.reference.adapter-repeated", OS_WARNING, "/reference/implementation/0", "gate.py", "adapter.py",
     true},
    {"spec.reference.unobtainable-version", OS_WARNING, "/reference/environment/packages/onnx", "1.20.0",
     "1.20.0.dev3", false},
    {"spec.reference.unobtainable-version", OS_WARNING, "/reference/environment/packages/onnx", "1.20.0",
     "1.20.0+cpu", false},
    {"spec.reference.package-name", OS_WARNING, "/reference/environment/packages/a--b", "\"numpy\"",
     "\"a--b\": \"1\", \"numpy\"", true},
    {"spec.reference.package-missing", OS_ERROR, "/reference/environment/libraries", python_reference,
     LIBRARY("ops.so", "linux", "x86_64", ""), false},
    {"spec.tests.duplicate", OS_ERROR, "/tests/1", "\"two.json\"", "\"one\"", true},
    {"spec.tests.case", OS_WARNING, "/tests/1", "\"two.json\"", "\"One.json\"", false},
    {"spec.tests.case", OS_WARNING, "/tests/1", "\"two.json\"", "\"aux.json\"", false},
    {"spec.tests.case", OS_WARNING, "/tests/1", "\"two.json\"", "\"two.\"", false},
};

static void run_case(const spec_case *c) {
  os_str text = changed(c->from, c->to);
  check_text(text, NULL);
  const os_finding *found = NULL;
  for (size_t i = 0; i < report.findings.count; i++)
    if (strcmp(report.findings.items[i]->rule->id, c->rule) == 0 &&
        os_str_is(report.findings.items[i]->where.pointer, c->pointer))
      found = report.findings.items[i];
  if (!CHECK(found != NULL)) {
    printf("  %s at %s: %s\n", c->rule, c->pointer, c->to);
    print_findings();
  } else {
    CHECK_EQ(found->severity, c->severity);
    CHECK(found->where.located);
    if (!CHECK((found->fix != NULL) == c->fix)) printf("  %s\n", c->rule);
    if (c->fix) {
      os_str better = fixed(text, c->rule);
      check_text(better, NULL);
      if (!CHECK(count_of(c->rule) == 0)) {
        printf("  after the fix of %s:\n%.*s\n", c->rule, OS_ARG(better));
        print_findings();
      }
      free((void *)better.data);
    }
  }
  free((void *)text.data);
}

static void test_base(void) {
  check_text(OS_STR(base), NULL);
  if (!CHECK(report.findings.count == 0)) print_findings();
  CHECK(spec->valid && spec->well_formed);
  CHECK_EQ(spec->input_count, 2);
  CHECK_EQ(spec->since, 1);
  CHECK_EQ(spec->attributes[1].required, true);
}

// What looks wrong and is not.
static void test_silence(void) {
  static const struct {
    const char *rule, *from, *to;
  } silent[] = {
      {"spec.version.form", "\"1.0.0\"", "\"12\""},
      {"spec.version.form", "\"1.0.0\"", "\"1.2.0-rc.1+build.5\""},
      {"spec.version.form", "\"1.0.0\"", "\"2024.1rc1.post2.dev3\""},
      {"spec.attribute.default-type", "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
       "\"kind\": \"int\", \"required\": false, \"default\": 1.0"},
      {"spec.attribute.default-not-allowed",
       "\"kind\": \"float\", \"required\": false, \"default\": 0.5, \"allowed_values\": null",
       "\"kind\": \"int\", \"required\": false, \"default\": 1.0, \"allowed_values\": [1, 2]"},
      {"spec.attribute.default-type", "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
       "\"kind\": \"tensor\", \"required\": false, \"default\": { \"type\": \"tensor(float)\", \"shape\": "
       "[1], \"data\": [2] }"},
      {"spec.attribute.default-type", "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
       "\"kind\": \"tensor\", \"required\": false, \"default\": { \"dims\": [\"1\"], \"dataType\": 1, "
       "\"floatData\": [2] }"},
      {"spec.attribute.default-type", "\"kind\": \"float\", \"required\": false, \"default\": 0.5",
       "\"kind\": \"types\", \"required\": false, \"default\": [\"tensor(float)\", { \"tensorType\": { "
       "\"elemType\": 1 } }]"},
      {"json.number-precision", "\"default\": 0.5", "\"default\": 0.1000000000000000055511151231257827"},
      {"spec.set.order", "[0, 1, 2]", "[-1, 0.5, 1e+21, 1e-07, 20]"},
      {"spec.type.spelling", "tensor(double)", "map(string, int64)"},
      {"spec.reference.file-name", python_reference,
       LIBRARY("libops.so.1", "linux", "aarch64", "\"onnxruntime\": \"1.20.0\"")},
      {"spec.reference.architecture", python_reference,
       LIBRARY("ops.dylib", "macos", "arm64", "\"onnxruntime\": \"1.20.0\"")},
      {"spec.output.none", "\"None.\",\n  \"reference\"", "\"Writes a log.\",\n  \"reference\""},
  };
  for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
    os_str text = changed(silent[i].from, silent[i].to);
    check_text(text, NULL);
    if (!CHECK(count_of(silent[i].rule) == 0)) print_findings();
    free((void *)text.data);
  }
}

static void test_libraries(void) {
  static const struct {
    const char *rule, *to;
    bool fix;
  } libraries[] = {
      {"spec.reference.file-name", LIBRARY("ops.dll", "linux", "x86_64", "\"onnxruntime\": \"1.20.0\""),
       false},
      {"spec.reference.architecture", LIBRARY("ops.so", "linux", "amd64", "\"onnxruntime\": \"1.20.0\""),
       true},
      {"spec.reference.architecture", LIBRARY("ops.so", "linux", "arm64", "\"onnxruntime\": \"1.20.0\""),
       true},
      {"spec.reference.architecture", LIBRARY("ops.dll", "windows", "z80", "\"onnxruntime\": \"1.20.0\""),
       false},
  };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    os_str text = changed(python_reference, libraries[i].to);
    check_text(text, NULL);
    if (!CHECK(count_of(libraries[i].rule) == 1)) print_findings();
    if (libraries[i].fix) {
      os_str better = fixed(text, libraries[i].rule);
      check_text(better, NULL);
      CHECK_EQ(count_of(libraries[i].rule), 0);
      free((void *)better.data);
    }
    free((void *)text.data);
  }
}

static void test_authority(void) {
  os_str text = changed("\"specification\"", "\"reference_implementation\"");
  check_text(text, NULL);
  CHECK_EQ(report.findings.count, 0);
  char *reference = strstr((char *)(uintptr_t)text.data, "\"reference\": {");
  strcpy(reference, "\"reference\": null, \"tests\": [] }");
  check_text(os_str_of(text.data), NULL);
  CHECK_EQ(count_of("spec.authority.reference-missing"), 1);
  CHECK_EQ(count_of("spec.authority.no-evidence"), 1);
  free((void *)text.data);
}

static void test_strict(void) {
  os_str text = changed("\"1.0.0\"", "\"the first\"");
  os_arena_clear(&arena);
  os_report_init(&report, &arena, true, 0);
  CHECK_EQ(os_spec_check(&checker, &arena, OS_STR(""), text, NULL, &report, &spec), OS_OK);
  CHECK_EQ(report.counts[OS_ERROR], 1);
  CHECK(!spec->valid);
  free((void *)text.data);
}

static void test_schema_of_operator(void) {
  check_text(OS_STR(base), NULL);
  const op_schema *schema = NULL;
  CHECK_EQ(os_spec_schema(spec, &arena, checker.types, 7, &schema), OS_OK);
  if (!CHECK(schema != NULL)) return;
  CHECK_STR(schema->op_type, "SoftGate");
  CHECK_EQ(schema->since, 7);
  CHECK_EQ(schema->min_inputs, 1);
  CHECK_EQ(schema->max_inputs, 2);
  const op_attribute_schema *alpha = op_schema_attribute(schema, OS_STR("alpha"));
  CHECK(alpha != NULL && alpha->has_default && alpha->fallback.as.f == 0.5f);
  CHECK_EQ(schema->type_parameters[0].count, 2);
}

// ---- Bundles and evidence ---------------------------------------------------------------------------------

static const char evidence[] =
    "{ \"kind\": \"opspec.evidence\", \"version\": \"1\", \"attributes\": { \"mode\": 1 },\n"
    "  \"inputs\": [{ \"type\": \"tensor(float)\", \"shape\": [2], \"data\": [1, \"NaN\"] }],\n"
    "  \"outputs\": [{ \"type\": \"tensor(float)\", \"shape\": [2], \"data\": [1, \"NaN\"] }] }";

static void check_bundle(const char *first, const char *second) {
  static os_file files[8];
  static const char *const names[] = {"soft-gate.json", "one.json", "two.json", "adapter.py", "gate.py"};
  const char *const texts[] = {base, first, second, "", ""};
  for (size_t i = 0; i < 5; i++)
    files[i] = (os_file){os_str_of(names[i]), os_str_of(texts[i]), OS_FILE_BYTES};
  os_bundle bundle = {.files = files, .count = 5, .complete = true};
  os_spec_options options = {.bundle = &bundle};
  os_arena_clear(&arena);
  os_report_init(&report, &arena, false, 0);
  CHECK_EQ(os_bundle_check(&checker, &arena, &options, &report, NULL), OS_OK);
  CHECK_EQ(os_report_finish(&report), OS_OK);
}

static void evidence_case(const char *rule, const char *pointer, const char *from, const char *to) {
  char text[1024];
  const char *place = strstr(evidence, from);
  if (!CHECK(place != NULL)) return;
  snprintf(text, sizeof text, "%.*s%s%s", (int)(place - evidence), evidence, to, place + strlen(from));
  check_bundle(text, evidence);
  size_t wanted = rule == NULL ? 0 : 1;
  if (!CHECK(report.findings.count == wanted)) {
    printf("  %s: %s\n", rule == NULL ? "none" : rule, to);
    print_findings();
    return;
  }
  if (rule == NULL) return;
  const os_finding *finding = report.findings.items[0];
  CHECK_STR(os_str_of(finding->rule->id), rule);
  CHECK_STR(finding->where.pointer, pointer);
  CHECK_STR(finding->where.file, "one.json");
  CHECK(finding->where.located);
}

static void test_evidence(void) {
  check_bundle(evidence, evidence);
  if (!CHECK(report.findings.count == 0)) print_findings();
  evidence_case("evidence.form", "/kind", "opspec.evidence", "other");
  evidence_case("evidence.form", "", "\"outputs\"", "\"recorded\"");
  evidence_case("evidence.form", "/inputs/0/data", "[1, \"NaN\"] }],\n  \"outputs\"",
                "[1] }],\n  \"outputs\"");
  evidence_case("evidence.form", "/inputs/0/data/1", "[1, \"NaN\"] }],\n  \"outputs\"",
                "[1, true] }],\n  \"outputs\"");
  evidence_case("evidence.form", "/inputs/0/data/base64", "[1, \"NaN\"] }],\n  \"outputs\"",
                "{ \"base64\": \"AAAA\" } }],\n  \"outputs\"");
  evidence_case(NULL, "", "[1, \"NaN\"] }],\n  \"outputs\"",
                "{ \"base64\": \"AACAPwAAwH8=\" } }],\n  \"outputs\"");
  evidence_case("evidence.form", "/inputs/0", "\"shape\": [2], ", "");
  evidence_case("evidence.arity", "/inputs",
                "[{ \"type\": \"tensor(float)\", \"shape\": [2], \"data\": [1, \"NaN\"] }],\n  \"outputs\"",
                "[],\n  \"outputs\"");
  evidence_case("evidence.arity", "/inputs/0",
                "{ \"type\": \"tensor(float)\", \"shape\": [2], \"data\": [1, \"NaN\"] }],\n  \"outputs\"",
                "null],\n  \"outputs\"");
  evidence_case("evidence.arity", "/inputs/2", "\"NaN\"] }],\n  \"outputs\"",
                "\"NaN\"] }, null, null],\n  \"outputs\"");
  evidence_case(NULL, "", "\"NaN\"] }],\n  \"outputs\"", "\"NaN\"] }, null],\n  \"outputs\"");
  evidence_case("evidence.type", "/outputs/0/type", "\"outputs\": [{ \"type\": \"tensor(float)\"",
                "\"outputs\": [{ \"type\": \"tensor(double)\"");
  evidence_case("evidence.type", "/inputs/0/type", "\"inputs\": [{ \"type\": \"tensor(float)\"",
                "\"inputs\": [{ \"type\": \"tensor(float16)\"");
  evidence_case("evidence.type", "/inputs/0/type", "\"inputs\": [{ \"type\": \"tensor(float)\"",
                "\"inputs\": [{ \"type\": \"tensor(float32)\"");
  evidence_case("evidence.attribute", "/attributes", "\"mode\": 1", "");
  evidence_case("evidence.attribute", "/attributes/mode", "\"mode\": 1", "\"mode\": 3");
  evidence_case("evidence.attribute", "/attributes/mode", "\"mode\": 1", "\"mode\": 1.5");
  evidence_case("evidence.attribute", "/attributes/bate", "\"mode\": 1", "\"mode\": 1, \"bate\": 1");
  evidence_case("json.duplicate-key", "/version", "\"version\": \"1\"",
                "\"version\": \"1\", \"version\": \"1\"");
}

// Evidence that expects an error may break the signature.
static void test_expected_errors(void) {
  check_bundle("{ \"kind\": \"opspec.evidence\", \"version\": \"1\", \"attributes\": {}, \"inputs\": [],\n"
               "  \"expect_error\": { \"stage\": \"check\", \"contains\": \"single\" } }",
               evidence);
  CHECK_EQ(report.findings.count, 0);
  check_bundle("{ \"kind\": \"opspec.evidence\", \"version\": \"1\", \"attributes\": { \"mode\": 1 }, "
               "\"inputs\": [],\n"
               "  \"expect_error\": \"something else\" }",
               evidence);
  CHECK_EQ(count_of("evidence.arity"), 1);
}

static void test_files(void) {
  static os_file files[] = {{OS_STR_INIT("a/soft-gate.opspec.json"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/one.json"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/README.md"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/kernel.js"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/extra.txt"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/src/x.c"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/two.json/x"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("a/.hidden"), {0}, OS_FILE_BYTES}};
  files[0].bytes = OS_STR(base);
  files[1].bytes = os_str_of(evidence);
  os_bundle bundle = {.files = files, .count = 8, .complete = true};
  os_spec_options options = {.bundle = &bundle};
  os_arena_clear(&arena);
  os_report_init(&report, &arena, false, 0);
  CHECK_EQ(os_bundle_check(&checker, &arena, &options, &report, NULL), OS_OK);
  CHECK_EQ(os_report_finish(&report), OS_OK);
  CHECK_EQ(count_of("spec.bundle.missing-file"), 2); // adapter.py, gate.py
  CHECK_EQ(count_of("spec.bundle.unused-file"), 1);  // extra.txt
  CHECK_EQ(count_of("evidence.form"), 1);            // two.json is a folder without data sets
  if (!CHECK(report.findings.count == 4)) print_findings();
}

static void test_conflict(void) {
  static os_file files[] = {{OS_STR_INIT("a/x.json"), {0}, OS_FILE_BYTES},
                            {OS_STR_INIT("b/y.json"), {0}, OS_FILE_BYTES}};
  files[0].bytes = files[1].bytes = OS_STR(base);
  os_bundle bundle = {.files = files, .count = 2, .complete = false};
  os_spec_options options = {.bundle = &bundle, .skip_evidence = true};
  os_arena_clear(&arena);
  os_report_init(&report, &arena, false, 0);
  os_spec_list list = {0};
  CHECK_EQ(os_bundle_check(&checker, &arena, &options, &report, &list), OS_OK);
  CHECK_EQ(list.count, 2);
  CHECK_EQ(count_of("spec.bundle.conflict"), 1);
}

static void test_kinds(void) {
  CHECK_STR(os_str_of(os_json_kind(OS_STR(base))), "spec");
  CHECK_STR(os_str_of(os_json_kind(os_str_of(evidence))), "evidence");
  CHECK_STR(os_str_of(os_json_kind(OS_STR("{\"a\": {\"kind\": \"opspec.evidence\"}, \"b\": \"kind\"}"))),
            "json");
  CHECK_STR(os_str_of(os_json_kind(OS_STR("{\"a\\\"kind\": [{}], \"kind\" : \"opspec.evidence\"}"))),
            "evidence");
  CHECK_STR(os_str_of(os_json_kind(OS_STR(" [1]"))), "json");
  CHECK_STR(os_str_of(os_json_kind(OS_STR("<html>"))), "unknown");
  CHECK_STR(os_str_of(os_json_kind(OS_STR(""))), "unknown");
}

// Rules that need what this test does not have: the standard's operators, or a run.
static void test_every_rule_is_tried(void) {
  static const char *const elsewhere[] = {"spec.operator.standard-mismatch",
                                          "spec.authority.reference-missing",
                                          "spec.authority.no-evidence",
                                          "spec.reference.architecture",
                                          "spec.bundle.missing-file",
                                          "spec.bundle.unused-file",
                                          "spec.bundle.conflict"};
  for (size_t i = 0; i < os_spec_rules.count; i++) {
    const os_rule *rule = os_spec_rules.rules[i];
    bool tried = false;
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) tried |= strcmp(cases[j].rule, rule->id) == 0;
    for (size_t j = 0; j < sizeof elsewhere / sizeof *elsewhere; j++)
      tried |= strcmp(elsewhere[j], rule->id) == 0;
    if (!CHECK(tried)) printf("  %s\n", rule->id);
  }
}

// A standard operator that is described as the standard has it, and with one thing changed.
static void test_standard(void) {
  static const char flatten[] = "{ \"kind\": \"runlocal.operator-extension\", \"protocol_version\": \"1.0\", "
                                "\"name\": \"flatten\", \"version\": \"1\", "
                                "\"authority\": \"specification\", \"operator\": { \"domain\": \"\", "
                                "\"op_type\": \"Flatten\", \"overload\": \"\" }, "
                                "\"inputs\": [{ \"name\": \"input\", \"cardinality\": \"single\", "
                                "\"type_parameter\": \"T\", \"description\": \"A.\" }], "
                                "\"outputs\": [{ \"name\": \"output\", \"cardinality\": \"single\", "
                                "\"type_parameter\": \"T\", \"description\": \"B.\" }], "
                                "\"type_parameters\": { \"T\": { \"allowed_types\": [\"tensor(double)\", "
                                "\"tensor(float)\", \"tensor(float16)\"], "
                                "\"description\": \"C.\" } }, \"attributes\": { \"axis\": { \"kind\": "
                                "\"int\", \"required\": false, \"default\": %s, "
                                "\"allowed_values\": null, \"description\": \"D.\" } }, "
                                "\"input_conditions\": [], \"shape_rules\": [\"`output` has rank 2.\"], "
                                "\"boundary_behavior\": \"E.\", \"numerical_behavior\": \"F.\", "
                                "\"nondeterminism\": \"None.\", \"state_effects\": \"None.\", "
                                "\"reference\": null, \"tests\": [\"one\"] }";
  char text[4096];
  snprintf(text, sizeof text, flatten, "1");
  check_text(os_str_of(text), NULL);
  if (!CHECK(report.findings.count == 0)) print_findings();
  snprintf(text, sizeof text, flatten, "0");
  check_text(os_str_of(text), NULL);
  CHECK_EQ(count_of("spec.operator.standard-mismatch"), 1);
  if (report.findings.count == 1)
    CHECK_STR(report.findings.items[0]->where.pointer, "/attributes/axis/default");
}

int main(void) {
  static const op_family *const none[] = {NULL};
  os_arena_init(&home, &memory);
  os_arena_init(&arena, &memory);
  os_types *types = os_types_new(&home);
  os_registry *registry = os_registry_new(&home, types, none);
  CHECK_EQ(os_spec_checker_init(&checker, &home, registry), OS_OK);
  test_base();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i]);
  test_silence();
  test_libraries();
  test_authority();
  test_strict();
  test_schema_of_operator();
  test_evidence();
  test_expected_errors();
  test_files();
  test_conflict();
  test_kinds();
  test_standard();
  test_every_rule_is_tried();
  os_arena_clear(&arena);
  os_arena_clear(&home);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
