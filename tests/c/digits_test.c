// Exact digits against the C library of the machine that runs the test.
#include "digits.h"
#include "check.h"
#include "format.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// `digits` without zeros in front, as 0.digits * 10^exponent.
static void read_both(const char *digits, int exponent) {
  static char text[4096];
  snprintf(text, sizeof text, "0.%se%d", digits, exponent);
  size_t count = strlen(digits);
  CHECK_EQ(bits_of(math_from_digits(digits, count, exponent, 53)), bits_of(strtod(text, NULL)));
  CHECK_EQ(bits_of(math_from_digits(digits, count, exponent, 24)), bits_of((double)strtof(text, NULL)));
}

static void test_random_reads(void) {
  char digits[64];
  for (int i = 0; i < 60000; i++) {
    int count = 1 + (int)(next_random() % 40);
    for (int d = 0; d < count; d++) digits[d] = (char)('0' + next_random() % 10);
    if (digits[0] == '0') digits[0] = '1';
    digits[count] = 0;
    int spread = i % 3 == 0 ? 700 : i % 3 == 1 ? 90 : 24;
    read_both(digits, (int)(next_random() % (unsigned)spread) - spread / 2);
  }
}

// The exact middle of two neighbours, and it with one digit more or less far behind.
static void read_halfway(double low, double high) {
  static char text[1200];
  long double middle = ((long double)low + (long double)high) / 2;
  snprintf(text, sizeof text, "%.1099Le", middle);
  char *mark = strchr(text, 'e');
  int exponent = atoi(mark + 1) + 1;
  *mark = 0;
  memmove(text + 1, text + 2, strlen(text + 2) + 1); // the point
  size_t count = strlen(text);
  while (count > 1 && text[count - 1] == '0') text[--count] = 0;
  read_both(text, exponent);
  strcpy(text + count, "0000000000000000000000000000000000000000001");
  read_both(text, exponent);
  text[count] = 0;
  text[count - 1]--;
  strcpy(text + count, "99999999999999999999");
  read_both(text, exponent);
}

static void test_hard_reads(void) {
  for (int i = 0; i < 3000; i++) {
    uint64_t bits = next_random() >> 1;
    if (i % 4 == 0) bits &= ((uint64_t)1 << 52) - 1; // subnormal
    if (i % 4 == 1) bits &= ~(((uint64_t)1 << 52) - 1);
    double low = double_of(bits);
    if (!isfinite(low) || low == 0) continue;
    double high = nextafter(low, INFINITY);
    if (isfinite(high)) read_halfway(low, high);
    float narrow = (float)low;
    if (isfinite(narrow) && narrow != 0 && isfinite(nextafterf(narrow, INFINITY)))
      read_halfway(narrow, nextafterf(narrow, INFINITY));
    narrow = (float)ldexp((double)(next_random() % 16777216), -150 + (int)(next_random() % 20));
    if (narrow != 0) read_halfway(narrow, nextafterf(narrow, INFINITY));
  }
  static char many[3001];
  memset(many, '9', 3000);
  for (int exponent = -340; exponent < 420; exponent += 7) read_both(many, exponent);
  memset(many + 1, '0', 2998);
  many[2999] = '1';
  for (int exponent = -340; exponent < 420; exponent += 7) read_both(many, exponent);
  read_both("17976931348623157", 309);
  read_both("17976931348623158", 309);
  read_both("179769313486231580793", 309);
  read_both("179769313486231580794", 309);
  read_both("49406564584124654", -323);
  read_both("24703282292062327208", -323);
  read_both("24703282292062327209", -323);
  read_both("34028235677973366163", 39);
  read_both("34028235677973366164", 39);
  read_both("1", 400);
  read_both("1", 401);
  CHECK(math_from_digits("1", 1, INT64_MAX, 53) == INFINITY);
  CHECK(math_from_digits("1", 1, INT64_MIN, 53) == 0);
  CHECK(math_from_digits("1.5", 2, 1, 53) == 1.5);
}

static void print_both(const char *format, double value, int precision) {
  char mine[512], theirs[512];
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  int len = os_format(mine, sizeof mine, format, precision, value);
  int expected = snprintf(theirs, sizeof theirs, format, precision, value);
#pragma clang diagnostic pop
  CHECK_EQ(len, expected);
  CHECK_STR(os_str_of(mine), theirs);
}

static void test_prints(void) {
  for (int i = 0; i < 40000; i++) {
    double value = double_of(next_random());
    if (i % 2 == 0) value = ((double)(int64_t)(next_random() % 2000001) - 1e6) / (double)(1 << (i % 16));
    if (isnan(value)) continue;
    print_both("%.*e", value, (int)(next_random() % 20));
    print_both("%.*g", value, (int)(next_random() % 20));
    print_both("%+.*f", value, (int)(next_random() % 8));
  }
  static const double some[] = {0,      -0.0,    0.5,      1.5,         2.5,     0.25,    9.5,
                                99.95,  0.05,    1e21,     1e22,        1e23,    5e-324,  1e-5,
                                0.0001, 99999.5, 999999.5, 0.000099999, 123456., 1234567.};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    for (int precision = 0; precision < 18; precision++) {
      print_both("%.*e", some[i], precision);
      print_both("%.*g", some[i], precision);
      print_both("%.*f", some[i], precision);
    }
  print_both("% 0*f|", -INFINITY, 12);
  print_both("%-*g|", 1.5, 12);
  print_both("%0*g|", -1.5, 12);
}

#define SAME(...)                                                                                      \
  do {                                                                                                 \
    char mine[256], theirs[256];                                                                       \
    volatile size_t few = 5;                                                                           \
    CHECK_EQ(os_format(mine, sizeof mine, __VA_ARGS__), snprintf(theirs, sizeof theirs, __VA_ARGS__)); \
    CHECK_STR(os_str_of(mine), theirs);                                                                \
    CHECK_EQ(os_format(mine, few, __VA_ARGS__), snprintf(theirs, few, __VA_ARGS__));                   \
    CHECK_STR(os_str_of(mine), theirs);                                                                \
  } while (0)

static void test_words(void) {
  SAME("plain");
  SAME("%%|%c|%5c|%-5c|", 'a', 'b', 'c');
  SAME("%s|%8s|%-8s|%.2s|%.*s|", "one", "two", "three", "four", 3, "fives");
  SAME("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%.0d|", -7, 42, 42, -42, 3, 3, 5, 0);
  SAME("%lld %llu %zu %u %x %X %02x %016llx", LLONG_MIN, ULLONG_MAX, (size_t)7, 4000000000u, 0xbeefu, 0xBEEFu,
       10u, 0x123456789abcdefull);
  SAME("%ld %lu %hd %hhx", -5L, 5UL, 3, 200);
  CHECK_EQ(os_format(NULL, 0, "%d", 123), 3);
}

int main(void) {
  test_random_reads();
  test_hard_reads();
  test_prints();
  test_words();
  return CHECK_END();
}
