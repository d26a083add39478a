#include "json.h"

#include "check.h"
#include "json_index.h"
#include "json_write.h"
#include "report_json.h"
#include "rule_texts.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

static os_memory memory;
static os_arena arena;
static os_report report;
static os_json_document document;

static void parse_with(os_str text, bool duplicate_keys, uint32_t depth) {
  os_arena_clear(&arena);
  os_report_init(&report, &arena, false, 0);
  os_json_options options = {.duplicate_keys = duplicate_keys, .depth = depth};
  CHECK_EQ(os_json_parse(&document, &arena, OS_STR(""), text, &options, &report), OS_OK);
  CHECK_EQ(os_report_finish(&report), OS_OK);
}

static void parse(const char *text) { parse_with(os_str_of(text), false, 0); }

// The only finding is `rule` at line and column (0: anywhere).
static void expect(const char *rule, unsigned line, unsigned column) {
  if (!CHECK(report.findings.count == 1)) return;
  const os_finding *finding = report.findings.items[0];
  CHECK_STR(os_str_of(finding->rule->id), rule);
  if (line == 0) return;
  CHECK_EQ(finding->where.from.line, line);
  CHECK_EQ(finding->where.from.column, column);
}

static void wrong(const char *text, unsigned line, unsigned column) {
  parse(text);
  CHECK(document.root == NULL);
  expect("json.syntax", line, column);
}

static void test_syntax_places(void) {
  wrong("", 1, 1);
  wrong("[1,]", 1, 4);
  wrong("{\"a\":1,\n}", 2, 1);
  wrong("[1 2]", 1, 4);
  wrong("[01]", 1, 3);
  wrong("[1.]", 1, 4);
  wrong("[-]", 1, 3);
  wrong("[+1]", 1, 2);
  wrong("[1e]", 1, 4);
  wrong("tru", 1, 4);
  wrong("nul!", 1, 4);
  wrong("[NaN]", 1, 2);
  wrong("{'a':1}", 1, 2);
  wrong("{\"a\" 1}", 1, 6);
  wrong("[1", 1, 3);
  wrong("\"a", 1, 3);
  wrong("\"a\\x\"", 1, 4);
  wrong("\"\\u12G4\"", 1, 6);
  wrong("\"a\tb\"", 1, 3);
  wrong("1 // one", 1, 3);
  wrong("\"\xc3\xa4\xf0\x9f\x98\x80\" x", 1, 6); // columns count code points
  wrong("[1}", 1, 3);
}

static void test_trailing_comma_fix(void) {
  parse("[1, 2 , ]");
  const os_fix *fix = report.findings.items[0]->fix;
  if (!CHECK(fix != NULL)) return;
  CHECK_EQ(fix->edits.items[0].byte_start, 6);
  CHECK_EQ(fix->edits.items[0].byte_end, 7);
}

static void test_encoding(void) {
  parse("[\"caf\xe9\"]");
  expect("json.encoding", 1, 6);
  parse("[1,}\xff");
  expect("json.syntax", 1, 4);
  parse("1\xff");
  expect("json.encoding", 1, 2);
  parse("\xef\xbb\xbf[1]");
  expect("json.bom", 1, 1);
  CHECK(document.root != NULL);
}

static void test_strings(void) {
  parse("[\"plain\", \"a\\n\\\"\\u00e4\\ud83d\\ude00\\u0000z\", \"\"]");
  CHECK_EQ(report.findings.count, 0);
  CHECK_STR(os_json_string(os_json_at(document.root, 0)), "plain");
  CHECK_BYTES(os_json_string(os_json_at(document.root, 1)).data,
              os_json_string(os_json_at(document.root, 1)).len, "a\n\"\xc3\xa4\xf0\x9f\x98\x80\0z", 11);
  CHECK_EQ(os_json_at(document.root, 2)->length, 0);
  CHECK(os_json_at(document.root, 3) == NULL);
}

static void test_surrogates(void) {
  parse("{\"k\": [\"ab\\ud83d\"]}");
  expect("json.surrogate", 1, 11);
  CHECK_STR(report.findings.items[0]->where.pointer, "/k/0");
  CHECK_STR(os_json_string(os_json_first(os_json_member(document.root, "k"))), "ab\xef\xbf\xbd");
  parse("\"\\udc00\"");
  expect("json.surrogate", 1, 2);
  parse("\"\\ud800\\u0041\"");
  expect("json.surrogate", 1, 2);
  CHECK_STR(os_json_string(document.root), "\xef\xbf\xbd"
                                           "A");
}

static void test_numbers(void) {
  parse("[0, -0, 1.5e3, 123456789012345678901234567890, 1e400, 5e-324, 0.1, 2147483648]");
  const double expected[] = {0,      -0.0, 1500,        123456789012345678901234567890.0, (double)INFINITY,
                             5e-324, 0.1,  2147483648.0};
  for (size_t i = 0; i < 8; i++) CHECK(os_json_at(document.root, i)->item.valuedouble == expected[i]);
  CHECK_EQ(os_json_at(document.root, 7)->item.valueint, 2147483647);
  CHECK_STR(os_json_source(&document, os_json_at(document.root, 3)), "123456789012345678901234567890");
  CHECK(os_json_at(document.root, 3)->flags & OS_JSON_INTEGER);
  CHECK(!(os_json_at(document.root, 2)->flags & OS_JSON_INTEGER));
}

static void test_duplicate_keys(void) {
  parse_with(OS_STR("{\"a\": 1,\n \"b\": 2, \"\\u0061\": 3}"), true, 0);
  expect("json.duplicate-key", 2, 10);
  CHECK_EQ(report.findings.items[0]->severity, OS_ERROR);
  CHECK_STR(report.findings.items[0]->where.pointer, "/a");
  CHECK_EQ(report.findings.items[0]->related.items[0].where.from.column, 2);
  CHECK_EQ(document.root->length, 2);
  CHECK(os_json_member(document.root, "a")->item.valuedouble == 3);
  parse_with(OS_STR("{\"a\": 1, \"a\": 3}"), false, 0);
  CHECK_EQ(report.findings.items[0]->severity, OS_WARNING);
}

// Many members: the index, its duplicates, and keys whose hashes agree.
static void test_large_objects(void) {
  os_text text;
  os_text_init(&text, &memory);
  for (int i = 0; i < 1000; i++) os_text_format(&text, "%c\"k%d\":%d", i == 0 ? '{' : ',', i, i);
  os_text_puts(&text, ",\"k500\":-1}");
  parse_with(os_text_str(&text), false, 0);
  expect("json.duplicate-key", 0, 0);
  CHECK_EQ(document.root->length, 1000);
  CHECK(os_json_member(document.root, "k500")->item.valuedouble == -1);
  CHECK(os_json_member(document.root, "k999")->item.valuedouble == 999);
  CHECK(os_json_member(document.root, "k1000") == NULL);
  os_text_clear(&text);
}

// Keys chosen so that their hashes agree in the low bits, as somebody hostile would choose them.
static void test_hostile_keys(void) {
  os_text text;
  os_text_init(&text, &memory);
  unsigned found = 0;
  char key[16];
  for (unsigned i = 0; found < 300; i++) {
    int len = snprintf(key, sizeof key, "k%u", i);
    if ((os_str_hash((os_str){key, (size_t)len}, 0) & 0x3ff) != 0) continue;
    os_text_format(&text, "%c\"%s\":%u", found == 0 ? '{' : ',', key, found);
    found++;
  }
  os_text_format(&text, ",\"%s\":-5}", key);
  parse_with(os_text_str(&text), false, 0);
  expect("json.duplicate-key", 0, 0);
  CHECK_EQ(document.root->length, 300);
  CHECK(os_json_member(document.root, key)->item.valuedouble == -5);
  CHECK(os_json_member(document.root, "nothing") == NULL);
  os_text_clear(&text);
}

static void test_depth(void) {
  parse_with(OS_STR("{\"a\":[[[[1,{\"b\":[\"x\"]}]]]]}"), false, 3);
  expect("json.depth", 1, 1);
  CHECK(os_json_resolve(document.root, OS_STR("/a/0"))->flags == 0);
  CHECK(os_json_resolve(document.root, OS_STR("/a/0/0"))->flags & OS_JSON_CUT);
  parse_with(OS_STR("{\"x\":1,\"a\":[[[[1,}]]]]}"), false, 2);
  CHECK_EQ(report.findings.count, 2); // what is not kept is still checked
  size_t deep = 200000;
  char *text = malloc(deep);
  memset(text, '[', deep);
  parse_with((os_str){text, deep}, false, 0);
  CHECK_EQ(report.findings.count, 2);
  for (size_t i = 0; i < deep / 2; i++) text[deep - 1 - i] = ']';
  parse_with((os_str){text, deep}, false, 0);
  expect("json.depth", 1, 1);
  CHECK_STR(report.findings.items[0]->where.pointer, "");
  free(text);
}

// Brackets beyond the depth limit are counted many at a time: each number of them, with objects between.
static void test_cut_brackets(void) {
  enum { MOST = 40 };
  for (size_t deep = 4; deep <= MOST; deep++) {
    for (size_t object = 0; object <= deep; object++) { // the array before which one stands; `deep`: none
      char text[3 * MOST + 8], *p = text;
      for (size_t i = 0; i < deep; i++) {
        if (i == object) p += sprintf(p, "{\"\":");
        *p++ = '[';
      }
      *p++ = '1';
      char *inner = p;
      for (size_t i = deep; i-- > 0;) {
        *p++ = ']';
        if (i == object) *p++ = '}';
      }
      parse_with((os_str){text, (size_t)(p - text)}, false, 2);
      expect("json.depth", 1, 1);
      *inner = '}';
      parse_with((os_str){text, (size_t)(p - text)}, false, 2);
      if (!CHECK(report.findings.count == 2)) return;
      CHECK_EQ(report.findings.items[1]->where.from.column, inner - text + 1);
    }
  }
}

// Names as people number them: their hashes spread, so that an object stays a table and need not be sorted.
static void test_numbered_keys(void) {
  static const char *const forms[] = {
      "k%u", "%u", "%u_bias", "factor_%u", "layers.%u.weight", "encoder/block_%u/attention/output"};
  enum { COUNT = 40000 };
  char *text = malloc(COUNT * 64);
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    char *p = text;
    for (unsigned i = 0; i < COUNT; i++) {
      *p++ = i == 0 ? '{' : ',';
      *p++ = '"';
      p += sprintf(p, forms[f], i);
      p += sprintf(p, "\":%u", i);
    }
    *p++ = '}';
    parse_with((os_str){text, (size_t)(p - text)}, false, 0);
    CHECK_EQ(report.findings.count, 0);
    CHECK(!document.root->index->crowded);
    char key[64];
    sprintf(key, forms[f], 12345);
    CHECK(os_json_get(document.root, os_str_of(key))->item.valuedouble == 12345);
  }
  free(text);
}

static void test_pointers(void) {
  parse("{\"a/b\": {\"~\": [10, {\"\": 5}]}}");
  os_json *node = os_json_resolve(document.root, OS_STR("/a~1b/~0/1/"));
  if (!CHECK(node != NULL)) return;
  CHECK(node->item.valuedouble == 5);
  CHECK_STR(os_json_pointer(&arena, node), "/a~1b/~0/1/");
  CHECK_STR(os_json_pointer(&arena, document.root), "");
  CHECK(os_json_resolve(document.root, OS_STR("a")) == NULL);
  CHECK(os_json_resolve(document.root, OS_STR("/a~1b/~0/01")) == NULL);
  CHECK(os_json_resolve(document.root, OS_STR("/a~1b/~0/2")) == NULL);
  CHECK_STR(os_json_pointer_add(&arena, OS_STR("/x"), OS_STR("a/~")), "/x/a~1~0");
}

static void check_written(const char *text, const char *plain, const char *canonical) {
  parse(text);
  os_text out;
  os_text_init(&out, &memory);
  os_json_write_plain(&out, &document, document.root);
  CHECK_STR(os_text_str(&out), plain);
  os_text_clear(&out);
  CHECK_EQ(os_json_write_canonical(&out, &arena, &document, document.root), OS_OK);
  CHECK_STR(os_text_str(&out), canonical);
  os_text_clear(&out);
}

static void test_writers(void) {
  check_written(" [ ] ", "[]", "[]");
  check_written("{\"b\": 1.0, \"a\": [true, null, {}]}", "{\"b\":1.0,\"a\":[true,null,{}]}",
                "{\"a\":[true,null,{}],\"b\":1}");
  check_written("[1e21, 1E-7, 0.000001, 123456789012345680000, 333333333.33333329, 1E30, 4.50, 2e-3, -0]",
                "[1e21,1E-7,0.000001,123456789012345680000,333333333.33333329,1E30,4.50,2e-3,-0]",
                "[1e+21,1e-7,0.000001,123456789012345680000,333333333.3333333,1e+30,4.5,0.002,0]");
  check_written("{\"\\ufb33\":1,\"\xf0\x9f\x98\x82\":2,\"\\r\":3}",
                "{\"\xef\xac\xb3\":1,\"\xf0\x9f\x98\x82\":2,\"\\r\":3}",
                "{\"\\r\":3,\"\xf0\x9f\x98\x82\":2,\"\xef\xac\xb3\":1}");
  check_written("[1e-400, -1e-400, 5e-324, 1.7976931348623157e308, 9007199254740993, 0.1e1, -0.0, 1e400]",
                "[1e-400,-1e-400,5e-324,1.7976931348623157e308,9007199254740993,0.1e1,-0.0,1e400]",
                "[0,0,5e-324,1.7976931348623157e+308,9007199254740992,1,0,1e400]");
  check_written("\"\\/\\u001f\\u007f\"", "\"/\\u001f\x7f\"", "\"/\\u001f\x7f\"");
  parse("{\"a\":[1,{}],\"b\":{}}");
  os_text out;
  os_text_init(&out, &memory);
  os_json_write_pretty(&out, &document, document.root, 1);
  CHECK_STR(os_text_str(&out), "{\n    \"a\": [\n      1,\n      {}\n    ],\n    \"b\": {}\n  }");
  os_text_clear(&out);
}

static void test_report_form(void) {
  parse("{\"a\": 1, \"a\": 3}");
  report.kind = OS_STR("json");
  os_text out;
  os_text_init(&out, &memory);
  CHECK_EQ(os_report_write(&out, &report), OS_OK);
  os_json_document written;
  CHECK_EQ(os_json_parse(&written, &arena, OS_STR(""), os_text_str(&out), NULL, NULL), OS_OK);
  if (CHECK(written.root != NULL)) {
    CHECK(os_json_is(os_json_member(written.root, "ok"), OS_JSON_TRUE));
    CHECK(os_json_resolve(written.root, OS_STR("/counts/warning"))->item.valuedouble == 1);
    CHECK(os_json_resolve(written.root, OS_STR("/findings/0/range/start/column"))->item.valuedouble == 10);
    CHECK_STR(os_json_string(os_json_resolve(written.root, OS_STR("/findings/0/pointer"))), "/a");
    CHECK_EQ(os_json_string(os_json_resolve(written.root, OS_STR("/findings/0/fingerprint"))).len, 16);
    CHECK_STR(os_json_string(os_json_resolve(written.root, OS_STR("/findings/0/related/0/pointer"))), "/a");
  }
  os_text_clear(&out);
}

static void test_excerpts(void) {
  parse("[[1,   2],\n {\"a  b\": null}, \"a\\\"  b\"]");
  CHECK_STR(os_json_excerpt(&document, &arena, document.root), "[[1, 2], {\"a  b\": null}, \"a\\\"  b\"]");
  CHECK_STR(os_json_quote(&arena, OS_STR("a\"\n\x01")), "\"a\\\"\\n\\u0001\"");
}

static void test_rules_have_texts(void) {
  static const char *const members[] = {"title", "why", "good", "bad", "source"};
  CHECK(os_rule_texts.data[os_rule_texts.len - 1] == 0);
  CHECK_EQ(os_json_rules.rules[0]->text, OS_RULE_TEXT_json_syntax);
  os_text out;
  os_text_init(&out, &memory);
  for (size_t i = 0; i < os_json_rules.count; i++) {
    const os_rule *rule = os_json_rules.rules[i];
    CHECK(strncmp(rule->id, "json.", 5) == 0);
    out.len = 0;
    CHECK_EQ(os_rule_write(&out, rule, os_rule_texts.data), OS_OK);
    os_json_document written;
    CHECK_EQ(os_json_parse(&written, &arena, OS_STR(""), os_text_str(&out), NULL, NULL), OS_OK);
    CHECK_STR(os_json_string(os_json_member(written.root, "rule")), rule->id);
    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
      CHECK(os_json_string(os_json_member(written.root, members[m])).len > 0);
    if (i == 0) CHECK_STR(os_json_string(os_json_member(written.root, "title")), "The text is not JSON");
  }
  os_text_clear(&out);
}

int main(void) {
  os_arena_init(&arena, &memory);
  test_syntax_places();
  test_trailing_comma_fix();
  test_encoding();
  test_strings();
  test_surrogates();
  test_numbers();
  test_duplicate_keys();
  test_large_objects();
  test_hostile_keys();
  test_depth();
  test_cut_brackets();
  test_numbered_keys();
  test_pointers();
  test_writers();
  test_report_form();
  test_excerpts();
  test_rules_have_texts();
  os_arena_clear(&arena);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
