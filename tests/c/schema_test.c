#include "schema.h"

#include "check.h"

#include <stdlib.h>

static os_memory memory;
static os_arena arena;
static os_report report;
static os_json_document schema_document, document;
static os_schema *schema;
static bool valid;

static void compile(const char *text) {
  os_arena_clear(&arena);
  os_report_init(&report, &arena, false, 0);
  CHECK_EQ(os_json_parse(&schema_document, &arena, OS_STR("schema"), os_str_of(text), NULL, &report), OS_OK);
  if (!CHECK(schema_document.root != NULL)) exit(1);
  CHECK_EQ(os_schema_compile(&schema, &arena, &schema_document, NULL, &report), OS_OK);
}

static os_status validate(const char *text, const os_schema_options *options) {
  os_report_init(&report, &arena, false, 0);
  CHECK_EQ(os_json_parse(&document, &arena, OS_STR(""), os_str_of(text), NULL, &report), OS_OK);
  if (!CHECK(schema != NULL) || !CHECK(document.root != NULL)) exit(1);
  bool quiet;
  os_status status = os_schema_validate(schema, &arena, &document, NULL, options, NULL, &quiet);
  CHECK_EQ(os_schema_validate(schema, &arena, &document, NULL, options, &report, &valid), OS_OK);
  CHECK_EQ(quiet, valid);
  CHECK_EQ(valid, report.counts[OS_ERROR] == 0 && report.incomplete.count == 0);
  CHECK_EQ(os_report_finish(&report), OS_OK);
  return status;
}

static void passes(const char *schema_text, const char *text) {
  compile(schema_text);
  CHECK_EQ(validate(text, NULL), OS_OK);
  if (!CHECK(valid)) printf("  %s\n  %s\n", schema_text, text);
}

static const os_finding *only(void) {
  static const os_finding nothing;
  return CHECK(report.findings.count == 1) ? report.findings.items[0] : &nothing;
}

// Exactly one finding, with that rule, pointer and column.
static void fails(const char *schema_text, const char *text, const char *rule, const char *pointer,
                  unsigned column) {
  compile(schema_text);
  validate(text, NULL);
  CHECK(!valid);
  if (!CHECK(report.findings.count == 1)) {
    printf("  %s\n  %s\n", schema_text, text);
    for (size_t i = 0; i < report.findings.count; i++)
      printf("    %s %.*s\n", report.findings.items[i]->rule->id, OS_ARG(report.findings.items[i]->message));
    return;
  }
  const os_finding *finding = report.findings.items[0];
  CHECK_STR(os_str_of(finding->rule->id), rule);
  CHECK_STR(finding->where.pointer, pointer);
  CHECK_EQ(finding->where.from.column, column);
  CHECK(finding->message.len > 0);
}

static void test_types(void) {
  passes("{\"type\":\"integer\"}", "1.0");
  passes("{\"type\":\"integer\"}", "1e3");
  passes("{\"type\":[\"string\",\"null\"]}", "null");
  fails("{\"type\":\"integer\"}", "1.5", "schema.type", "", 1);
  fails("{\"type\":\"number\"}", "true", "schema.type", "", 1);
  CHECK_STR(only()->expected, "number");
  CHECK_STR(only()->actual, "boolean");
  fails("{\"type\":[\"string\",\"boolean\"],\"enum\":[\"a\",true]}", "1", "schema.type", "", 1);
}

static void test_numbers(void) {
  passes("{\"multipleOf\":0.01}", "4.35");
  passes("{\"multipleOf\":1}", "1e21");
  fails("{\"multipleOf\":0.01}", "4.355", "schema.multipleOf", "", 1);
  passes("{\"maximum\":9007199254740993}", "9007199254740993");
  fails("{\"maximum\":9007199254740992}", "9007199254740993", "schema.maximum", "", 1);
  fails("{\"exclusiveMinimum\":0}", "-0.0", "schema.exclusiveMinimum", "", 1);
  passes("{\"minimum\":-1e1000000000}", "0");
  fails("{\"const\":9007199254740992}", "9007199254740993", "schema.const", "", 1);
  passes("{\"const\":100}", "1.0e2");
  passes("{\"uniqueItems\":true}", "[1e9223372036854775808,1e9223372036854775809]");
  fails("{\"uniqueItems\":true}", "[1e9223372036854775809,10e9223372036854775808]", "schema.uniqueItems", "",
        1);
  fails("{\"const\":1e9223372036854775808}", "1e9223372036854775809", "schema.const", "", 1);
  fails("{\"maximum\":1e9223372036854775808}", "1e9223372036854775809", "schema.maximum", "", 1);
  fails("{\"enum\":[1e9223372036854775808]}", "1e9223372036854775807", "schema.enum", "", 1);
}

static void test_strings(void) {
  passes("{\"maxLength\":2}", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"");
  fails("{\"minLength\":3}", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"", "schema.minLength", "", 1);
  passes("{\"pattern\":\"^\\\\p{L}+$\"}", "\"\xc3\xa4\xe6\x97\xa5\"");
  passes("{\"pattern\":\"^.$\"}", "\"\xf0\x9f\x98\x80\"");
  fails("{\"pattern\":\"^[a-z]{2,3}$\"}", "\"abcd\"", "schema.pattern", "", 1);
  fails("{\"pattern\":\"^[a-z]{2,3}$\"}", "\"ab\\n\"", "schema.pattern", "", 1);
  passes("{\"pattern\":\"b\"}", "\"abc\"");
}

// The simple form of patterns decides as the full engine does: (?:) in front keeps a pattern from being simple.
static void test_simple_patterns(void) {
  static const char *const patterns[] = {"^[A-Za-z][A-Za-z0-9_.-]{0,4}$",
                                         "^a?b*c+$",
                                         "^[a-c]{2}-x$",
                                         "^\\\\.[0-9]*z$",
                                         "^[+*]{1,}$",
                                         "^(?:a|b{2,3}|)c*(?![\\\\s\\\\S])",
                                         "^(a+)+b?$",
                                         "^((a|bc)*-)?x{0}[a-z]{2}$",
                                         "^a{2,}?b??$",
                                         "^(?:ab|a)(c|bcd)?$",
                                         "^[^a]$",
                                         "^a|b$",
                                         "^(?=a)a$",
                                         "^(a)\\\\1$",
                                         "^\\\\d+$",
                                         "^ab\\\\$",
                                         "^[^a]{2}b?$",
                                         "^(?:[^b-]+|b)*$"};
  static const char *const texts[] = {"",
                                      "bb",
                                      "bbb",
                                      "bbbb",
                                      "aaaa",
                                      "aaab",
                                      "abcd",
                                      "abc",
                                      "a-xy",
                                      "bca-ab",
                                      "aa",
                                      "12",
                                      "ab$",
                                      "a",
                                      "ab",
                                      "abcde",
                                      "abcdef",
                                      "1a",
                                      "bcc",
                                      "abbc",
                                      "ac",
                                      "c",
                                      "ab-x",
                                      "abb-x",
                                      ".12z",
                                      ".z",
                                      "+*+",
                                      "a\\n",
                                      "\xc3\xa4",
                                      "\xc3\xa4\xe2\x82\xac",
                                      "\xf0\x9f\x98\x80xb",
                                      "\xc3\xa4-"};
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
      char schema_text[128], text[64];
      bool answers[2];
      for (int full = 0; full < 2; full++) {
        snprintf(schema_text, sizeof schema_text, "{\"pattern\":\"%s%s\"}", full ? "(?:)" : "", patterns[p]);
        snprintf(text, sizeof text, "\"%s\"", texts[t]);
        compile(schema_text);
        validate(text, NULL);
        answers[full] = valid;
      }
      if (!CHECK(answers[0] == answers[1])) printf("  %s on %s\n", patterns[p], texts[t]);
    }
  }
}

static void test_runaway_pattern(void) {
  compile("{\"pattern\":\"^(.+)+c$\"}");
  os_schema_options options = {.pattern_steps = 100000};
  CHECK_EQ(validate("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", &options), OS_LIMIT);
  CHECK(!valid);
  CHECK_EQ(report.incomplete.count, 1);
}

static void test_arrays(void) {
  fails("{\"items\":{\"type\":\"string\"}}", "[\"a\",1]", "schema.type", "/1", 6);
  passes("{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"number\"}}", "[\"a\",1,2]");
  fails("{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\",1]", "schema.false", "/1", 6);
  fails("{\"uniqueItems\":true}", "[1,2,1.0]", "schema.uniqueItems", "", 1);
  CHECK_STR(only()->related.items[0].where.pointer, "/2");
  passes("{\"uniqueItems\":true}", "[1,true,\"1\",[1],[true],{\"a\":1},{\"a\":2}]");
  fails("{\"uniqueItems\":true}", "[{\"a\":1,\"b\":[2]},3,4,5,6,7,8,9,10,{\"b\":[2.0],\"a\":1e0}]",
        "schema.uniqueItems", "", 1);
  passes("{\"uniqueItems\":true}", "[[[1]],[[2]],[[3]],[[4]],[[5]],[[6]],[[7]],[[8]],[[9]],[[10]]]");
  fails("{\"minItems\":1}", "[]", "schema.minItems", "", 1);
  passes("{\"contains\":{\"type\":\"string\"},\"maxContains\":1}", "[1,\"a\"]");
  fails("{\"contains\":{\"type\":\"string\"},\"maxContains\":1}", "[\"b\",\"a\"]", "schema.contains", "", 1);
}

static void test_objects(void) {
  fails("{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "schema.required", "", 1);
  fails("{\"properties\":{\"name\":{}},\"additionalProperties\":false}", "{\"nmae\":1}",
        "schema.additionalProperties", "/nmae", 9);
  const os_fix *fix = report.findings.items[0]->fix;
  if (CHECK(fix != NULL)) CHECK_STR(fix->edits.items[0].text, "\"name\"");
  fails("{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}", "schema.type", "/a", 6);
  passes("{\"patternProperties\":{\"^x\":{\"type\":\"string\"}},\"additionalProperties\":false}",
         "{\"x1\":\"\"}");
  fails("{\"patternProperties\":{\"^x\":{\"type\":\"string\"}},\"additionalProperties\":false}",
        "{\"y\":\"\"}", "schema.additionalProperties", "/y", 6);
  compile("{\"propertyNames\":{\"pattern\":\"^[a-z]+$\"}}");
  validate("{\"ok\":1,\"Not\":2}", NULL);
  CHECK_EQ(report.findings.count, 2); // the name, and what is wrong with it
  CHECK_STR(report.findings.items[1]->where.pointer, "/Not");
  fails("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "schema.dependentRequired", "", 1);
  passes("{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}}}", "{\"c\":1}");
  fails("{\"maxProperties\":1}", "{\"a\":1,\"b\":2}", "schema.maxProperties", "", 1);
}

// Shapes by a naming member, by JSON type, by the fewest findings.
static void test_branches(void) {
  const char *tagged =
      "{\"oneOf\":["
      "{\"properties\":{\"k\":{\"const\":\"circle\"},\"r\":{\"type\":\"number\"}},\"required\":[\"k\",\"r\"]}"
      ","
      "{\"properties\":{\"k\":{\"const\":\"box\"},\"w\":{\"type\":\"number\"}},\"required\":[\"k\",\"w\"]}]}";
  fails(tagged, "{\"k\":\"circle\",\"r\":\"x\"}", "schema.type", "/r", 19);
  fails(tagged, "{\"k\":\"cube\"}", "schema.oneOf", "/k", 6);
  CHECK_STR(only()->expected, "\"circle\", \"box\"");
  fails(tagged, "{}", "schema.oneOf", "", 1);
  passes(tagged, "{\"k\":\"box\",\"w\":1}");
  const char *typed = "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"array\",\"minItems\":1}]}";
  fails(typed, "[]", "schema.minItems", "", 1);
  fails(typed, "\"a\"", "schema.anyOf", "", 1);
  CHECK_STR(only()->expected, "array or null");
  const char *closest = "{\"anyOf\":[{\"required\":[\"a\",\"b\",\"c\"]},{\"required\":[\"a\",\"d\"]}]}";
  fails(closest, "{\"a\":1}", "schema.required", "", 1);
  CHECK_STR(only()->expected, "\"d\"");
  fails("{\"oneOf\":[{\"minimum\":1},{\"maximum\":5}]}", "3", "schema.oneOf", "", 1);
  const char *discriminator =
      "{\"oneOf\":[{\"$ref\":\"#/$defs/A\"},{\"$ref\":\"#/$defs/"
      "B\"}],\"discriminator\":{\"propertyName\":\"kind\","
      "\"mapping\":{\"a\":\"#/$defs/A\",\"b\":\"#/$defs/B\"}},\"$defs\":{\"A\":{\"required\":[\"x\"]},"
      "\"B\":{\"required\":[\"y\"]}}}";
  fails(discriminator, "{\"kind\":\"b\"}", "schema.required", "", 1);
  CHECK_STR(only()->expected, "\"y\"");
}

static void test_combinations(void) {
  passes("{\"allOf\":[{\"minimum\":1},{\"maximum\":5}]}", "3");
  fails("{\"allOf\":[{\"minimum\":1},{\"maximum\":5}]}", "9", "schema.maximum", "", 1);
  fails("{\"not\":{\"type\":\"string\"}}", "\"a\"", "schema.not", "", 1);
  passes("{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1},\"else\":{\"minimum\":1}}", "\"a\"");
  fails("{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1},\"else\":{\"minimum\":1}}", "0",
        "schema.minimum", "", 1);
}

static void test_references(void) {
  passes("{\"$ref\":\"#/$defs/a~1b\",\"$defs\":{\"a/b\":{\"type\":\"string\"}}}", "\"x\"");
  passes("{\"items\":{\"$ref\":\"#here\"},\"$defs\":{\"x\":{\"$anchor\":\"here\",\"type\":\"string\"}}}",
         "[\"x\"]");
  compile("{\"$ref\":\"#/$defs/none\"}");
  CHECK(schema == NULL);
  CHECK_STR(os_str_of(report.findings.items[0]->rule->id), "schema.ref");
  compile("{\"$ref\":\"#\"}");
  CHECK(schema == NULL);
  compile("{\"allOf\":[{\"$ref\":\"#\"}]}");
  CHECK_EQ(validate("1", NULL), OS_LIMIT);
  CHECK(!valid);
  compile("{\"pattern\":\"[\"}");
  CHECK(schema == NULL);
  CHECK_STR(os_str_of(report.findings.items[0]->rule->id), "schema.pattern-syntax");
  compile("{\"minItems\":-1}");
  CHECK(schema == NULL);
}

// As deep as one likes: neither the machine nor equality uses the C stack.
static void test_depth(void) {
  enum { DEEP = 200000 };
  char *text = malloc(DEEP * 2 + 2);
  memset(text, '[', DEEP);
  text[DEEP] = '1';
  memset(text + DEEP + 1, ']', DEEP);
  text[DEEP * 2 + 1] = 0;
  compile("{\"type\":[\"array\",\"number\"],\"items\":{\"$ref\":\"#\"},\"uniqueItems\":true}");
  os_json_options options = {.depth = DEEP + 1};
  os_report_init(&report, &arena, false, 0);
  CHECK_EQ(os_json_parse(&document, &arena, OS_STR(""), os_str_of(text), &options, &report), OS_OK);
  CHECK_EQ(os_schema_validate(schema, &arena, &document, NULL, NULL, &report, &valid), OS_OK);
  CHECK(valid);
  free(text);
}

// What begins and ends as the simple ones do and is wrong all the same.
static void test_wrong_patterns(void) {
  static const char *const patterns[] = {"^a\\\\-b$",  "^a{2,1}$", "^a{,3}$",  "^a{2$",  "^[b-a]$",
                                         "^[a$",       "^(a$",     "^a)$",     "^(?:a$", "^a]$",
                                         "^}$",        "^{1}$",    "^*$",      "^a**$",  "^a{2}+$",
                                         "^(?:a)??+$", "^\\\\_$",  "^[\\\\_]$"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    char text[64];
    snprintf(text, sizeof text, "{\"pattern\":\"%s\"}", patterns[i]);
    compile(text);
    if (!CHECK(schema == NULL))
      printf("  %s\n", patterns[i]);
    else
      CHECK_STR(os_str_of(report.findings.items[0]->rule->id), "schema.pattern-syntax");
  }
}

// A pattern nested so deeply that its compiler would use up the stack is refused.
static void test_deep_patterns(void) {
  enum { DEEP = 100000 };
  static const char *const openings[] = {"(", "(?=", "[^a](?:"};
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
    size_t len = strlen(openings[i]), at = 12;
    char *text = malloc(DEEP * (len + 1) + 32);
    memcpy(text, "{\"pattern\":\"", 12);
    for (size_t j = 0; j < DEEP; j++, at += len) memcpy(text + at, openings[i], len);
    memset(text + at, ')', DEEP);
    memcpy(text + at + DEEP, "\"}", 3);
    compile(text);
    CHECK(schema == NULL);
    CHECK_STR(os_str_of(report.findings.items[0]->rule->id), "schema.pattern-syntax");
    free(text);
  }
}

static bool stopped(void *context) {
  (void)context;
  return true;
}

static void test_stop(void) {
  size_t size = 60000;
  char *text = malloc(size * 2 + 2);
  text[0] = '[';
  for (size_t i = 0; i < size; i++) memcpy(text + 1 + i * 2, "1,", 2);
  memcpy(text + size * 2, "]", 2);
  compile("{\"items\":{\"type\":\"number\"}}");
  os_stop stop = {.aborted = stopped};
  os_schema_options options = {.stop = &stop};
  CHECK_EQ(validate(text, &options), OS_ABORTED);
  free(text);
}

static void test_rules_have_texts(void) {
  for (size_t i = 0; i < os_schema_rules.count; i++) {
    const os_rule *rule = os_schema_rules.rules[i];
    CHECK(strncmp(rule->id, "schema.", 7) == 0);
  }
}

int main(void) {
  os_arena_init(&arena, &memory);
  test_types();
  test_numbers();
  test_strings();
  test_simple_patterns();
  test_runaway_pattern();
  test_arrays();
  test_objects();
  test_branches();
  test_combinations();
  test_references();
  test_depth();
  test_wrong_patterns();
  test_deep_patterns();
  test_stop();
  test_rules_have_texts();
  os_arena_clear(&arena);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
