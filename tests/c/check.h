#ifndef OS_CHECK_H
#define OS_CHECK_H

// Checks for unit tests, one test program per main: CHECK records and goes on, CHECK_END is what main returns.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int os_check_count;
static int os_check_failures;

static inline int os_check__note(int passed, const char *file, int line, const char *what) {
  os_check_count++;
  if (!passed) {
    os_check_failures++;
    printf("%s:%d: failed: %s\n", file, line, what);
  }
  return passed;
}

static inline void os_check__int(int64_t actual, int64_t expected, const char *file, int line,
                                 const char *what) {
  if (!os_check__note(actual == expected, file, line, what))
    printf("  actual %lld, expected %lld\n", (long long)actual, (long long)expected);
}

static inline void os_check__bytes(const void *actual, size_t actual_size, const void *expected,
                                   size_t expected_size, const char *file, int line, const char *what) {
  int same = actual_size == expected_size &&
             (expected_size == 0 || (actual != NULL && memcmp(actual, expected, expected_size) == 0));
  if (!os_check__note(same, file, line, what))
    printf("  actual   (%zu) %.*s\n  expected (%zu) %.*s\n", actual_size, (int)actual_size,
           actual == NULL ? "" : (const char *)actual, expected_size, (int)expected_size,
           (const char *)expected);
}

static inline int os_check__end(void) {
  printf("%d checks", os_check_count);
  if (os_check_failures > 0) printf(", %d failed", os_check_failures);
  printf("\n");
  return os_check_failures > 0 || os_check_count == 0;
}

// True when it holds, so that a test can leave early: if (!CHECK(p != NULL)) return;
#define CHECK(condition) os_check__note((condition) ? 1 : 0, __FILE__, __LINE__, #condition)
// Integers, enums, booleans.
#define CHECK_EQ(actual, expected) \
  os_check__int((int64_t)(actual), (int64_t)(expected), __FILE__, __LINE__, #actual " == " #expected)
// An os_str, or anything with data and len, against a C string.
#define CHECK_STR(actual, expected)                                                              \
  os_check__bytes((actual).data, (actual).len, (expected), strlen(expected), __FILE__, __LINE__, \
                  #actual " == " #expected)
#define CHECK_BYTES(actual, actual_size, expected, expected_size)                           \
  os_check__bytes((actual), (actual_size), (expected), (expected_size), __FILE__, __LINE__, \
                  #actual " == " #expected)
// Prints the count; a program that checked nothing has failed.
#define CHECK_END() os_check__end()

#endif
