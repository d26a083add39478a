#include "regex.h"
#include "check.h"

#include <stdlib.h>

enum { ROOM = 20000 };
static regex machine;
static uint32_t sets[4 * (ROOM + 1)];

static os_str str(const char *text) { return (os_str){text, strlen(text)}; }

static const struct {
  const char *pattern, *text;
  bool matches;
} cases[] = {
    {"", "", true},
    {"", "a", false},
    {"a|", "", true},
    {"a|bc", "bc", true},
    {"(a|b)*c", "ababc", true},
    {"(a|b)*c", "ababd", false},
    {"a{2,3}", "aa", true},
    {"a{2,3}", "aaaa", false},
    {"a{2,}?", "aaaaa", true},
    {"a{,2}", "a{,2}", true},
    {"(?:a{0}b)+", "bb", true},
    {".", "\n", false},
    {"(?s).", "\n", true},
    {"(?s:.)(?-s:.)", "\n\n", false},
    {"(?i)stra\xc3\x9f"
     "e",
     "STRA\xc3\x9f"
     "E",
     true},
    {"((?i)a)b", "AB", false},
    {"(?P<word>\\w+) (?<rest>.*)", "one two", true},
    {"[^a-c]", "d", true},
    {"[^a-c]", "b", false},
    {"[]a]+", "]a", true},
    {"[\\d-x]+", "1-x", true},
    {"[[:^alpha:]_]+", "1_", true},
    {"[\xc5\x82-\xc5\xbc]", "\xc5\xbb", true},
    {"\\x{1F600}+", "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", true},
    {"\\Qa.b\\E*", "a.bbb", true},
    {"\\Qa.b\\E*", "aXb", false},
    {"^a$|\\Ab\\z", "b", true},
    {"a\\bb", "ab", false},
    {"a\\Bb", "ab", true},
    {"\\B", "", true},
    {"(?m)^a$\n^b$", "a\nb", true},
    {"\\d\\s\\W\\D", "1 !x", true},
    {"\\w+@\\w+\\.(com|org)", "me@example.org", true},
};

static void test_matching(void) {
  bool too_large;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *wrong = regex_compile(&machine, str(cases[i].pattern), &too_large);
    if (!CHECK(wrong == NULL))
      printf("  %s: %s\n", cases[i].pattern, wrong);
    else if (!CHECK(regex_matches(&machine, str(cases[i].text), sets) == cases[i].matches)) {
      printf("  %s on %s\n", cases[i].pattern, cases[i].text);
    }
  }
}

static void test_faults(void) {
  static const char *const patterns[] = {
      "(",  "a)",  "[a",     "[b-a]", "*",       "x**",         "a{1001}", "a{3,2}", "(?=a)", "(?a)",
      "\\", "\\8", "(a)\\1", "\\pL",  "[[:x:]]", "\\x{110000}", "\\xg",    "(?i",    "(?<a",  "[a\\q]"};
  bool too_large;
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    if (!CHECK(regex_compile(&machine, str(patterns[i]), &too_large) != NULL && !too_large))
      printf("  %s\n", patterns[i]);
  }
  CHECK(regex_compile(&machine, str("((a{100}){100}){100}"), &too_large) != NULL && too_large);
}

// Patterns that blow up where matching goes back and forth.
static void test_time(void) {
  char text[20001];
  bool too_large;
  memset(text, 'a', sizeof text);
  text[20000] = 'b';
  CHECK(regex_compile(&machine, str("(a*)*(a|aa)*c?"), &too_large) == NULL);
  CHECK(regex_matches(&machine, (os_str){text, 20000}, sets));
  CHECK(!regex_matches(&machine, (os_str){text, 20001}, sets));
}

int main(void) {
  machine = (regex){.step_room = ROOM, .range_room = ROOM, .part_room = ROOM, .task_room = ROOM};
  machine.steps = malloc(ROOM * sizeof *machine.steps);
  machine.ranges = malloc(ROOM * sizeof *machine.ranges);
  machine.parts = malloc(ROOM * sizeof *machine.parts);
  machine.tasks = malloc(ROOM * sizeof *machine.tasks);
  test_matching();
  test_faults();
  test_time();
  return CHECK_END();
}
