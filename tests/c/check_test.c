#include "check.h"

typedef struct {
  const char *data;
  size_t len;
} view;

// Counts what a failing check would add, then takes it back: the failures are on purpose.
static int failures_of(void (*body)(void)) {
  int before = os_check_failures;
  printf("(the next failure is meant)\n");
  body();
  int added = os_check_failures - before;
  os_check_failures = before;
  return added;
}

static void fail_condition(void) { CHECK(1 == 2); }
static void fail_integer(void) { CHECK_EQ(-1, 1); }
static void fail_text(void) {
  view text = {"abcd", 4};
  CHECK_STR(text, "abc");
}
static void fail_bytes(void) { CHECK_BYTES("ab", 2, "ac", 2); }

int main(void) {
  view text = {"abcd", 3};
  CHECK(1 + 1 == 2);
  CHECK_EQ(INT64_MIN, INT64_MIN);
  CHECK_STR(text, "abc");
  CHECK_BYTES("a\0b", 3, "a\0b", 3);
  CHECK_EQ(failures_of(fail_condition), 1);
  CHECK_EQ(failures_of(fail_integer), 1);
  CHECK_EQ(failures_of(fail_text), 1);
  CHECK_EQ(failures_of(fail_bytes), 1);
  return CHECK_END();
}
