#include "decimal.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

static os_decimal of(const char *text) { return os_decimal_of(os_str_of(text)); }

static int compare(const char *a, const char *b) {
  os_decimal x = of(a), y = of(b);
  return os_decimal_compare(&x, &y);
}

static void test_compare(void) {
  CHECK_EQ(compare("1", "1.0"), 0);
  CHECK_EQ(compare("1e2", "100"), 0);
  CHECK_EQ(compare("-0", "0.0e5"), 0);
  CHECK_EQ(compare("9007199254740993", "9007199254740992"), 1);
  CHECK_EQ(compare("0.1", "0.10000000000000000001"), -1);
  CHECK_EQ(compare("-2", "-1"), -1);
  CHECK_EQ(compare("-2", "1"), -1);
  CHECK_EQ(compare("1e1000000000", "9e999999999"), 1);
  CHECK_EQ(compare("1e-1000000000", "0"), 1);
  CHECK_EQ(compare("1e99999999999999999999999", "1e5"), 1);
  CHECK_EQ(compare("1e-99999999999999999999999", "1e-5"), -1);
  CHECK_EQ(compare("0.001e3", "1"), 0);
  os_decimal a = of("100"), b = of("1.00e2");
  CHECK(os_decimal_hash(&a) == os_decimal_hash(&b));
}

// Exponents beyond 64 bits, and on both sides of where they stop being read as numbers.
static void test_large_exponents(void) {
  static const char *const ascending[] = {
      "-1e9223372036854775809",     "-1e9223372036854775808",   "0",
      "1e-92233720368547758080",    "1e-9223372036854775809",   "10e-9223372036854775809",
      "0.0001e720575940379279360",  "1e720575940379279357",     "1e720575940379279359",
      "0.00001e720575940379279370", "1e9223372036854775808",    "2e9223372036854775808",
      "1e9223372036854775809",      "10.1e9223372036854775808", "1e92233720368547758080"};
  enum { COUNT = sizeof ascending / sizeof *ascending };
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) CHECK_EQ(compare(ascending[i], ascending[j]), (i > j) - (i < j));
  static const char *const same[][2] = {
      {"1e9223372036854775808", "10.0e9223372036854775807"},
      {"1e+9223372036854775808", "0.001e0009223372036854775811"},
      {"-1e-9223372036854775808", "-100e-9223372036854775810"},
      {"1e720575940379279360", "100000e720575940379279355"},
      {"1e7205759403792793609", "10e7205759403792793608"},
      {"1e99999999999999999999999999999999999999", "0.1e100000000000000000000000000000000000000"},
      {"0e9223372036854775808", "0"}};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    os_decimal a = of(same[i][0]), b = of(same[i][1]);
    CHECK_EQ(os_decimal_compare(&a, &b), 0);
    CHECK(os_decimal_hash(&a) == os_decimal_hash(&b));
  }
}

static bool divides(const char *a, const char *b) {
  os_decimal x = of(a), y = of(b);
  bool answer = false;
  CHECK_EQ(os_decimal_divides(&x, &y, &answer), OS_OK);
  return answer;
}

static void test_divides(void) {
  CHECK(divides("4.35", "0.01"));
  CHECK(divides("1658529657949", "0.01"));
  CHECK(divides("1e21", "1"));
  CHECK(divides("1e1000000000", "3") == false);
  CHECK(divides("3e1000000000", "3"));
  CHECK(divides("1e1000000000", "1024"));
  CHECK(!divides("1e3", "1024e1"));
  CHECK(divides("1024e1", "5"));
  CHECK(!divides("0.0075", "0.01"));
  CHECK(divides("0.0075", "0.0001"));
  CHECK(divides("1e9223372036854775809", "1e9223372036854775808"));
  CHECK(!divides("1e9223372036854775808", "1e9223372036854775809"));
  CHECK(divides("1e9223372036854775809", "4e9223372036854775807"));
  CHECK(!divides("1e9223372036854775808", "4e9223372036854775807"));
  CHECK(divides("0", "17"));
  CHECK(!divides("7", "2"));
  CHECK(divides("-9", "3"));
  CHECK(divides("246913578024691357802469135780", "123456789012345678901234567890"));
  CHECK(!divides("246913578024691357802469135781", "123456789012345678901234567890"));
  CHECK(divides("123456789012345678901e40", "123456789012345678901"));
  CHECK(divides("123456789012345678901e80",
                "1234567890123456789010000000000000000000000000000000000000000000000000000000000001") ==
        false);
}

static void test_integers(void) {
  int64_t value = 1;
  uint64_t large = 1;
  os_decimal a = of("9223372036854775807");
  CHECK(os_decimal_int64(&a, &value) && value == INT64_MAX);
  a = of("-9223372036854775808");
  CHECK(os_decimal_int64(&a, &value) && value == INT64_MIN);
  a = of("9223372036854775808");
  CHECK(!os_decimal_int64(&a, &value));
  a = of("-9223372036854775809");
  CHECK(!os_decimal_int64(&a, &value));
  a = of("1.50e1");
  CHECK(os_decimal_int64(&a, &value) && value == 15);
  a = of("1.5");
  CHECK(!os_decimal_int64(&a, &value));
  a = of("-0");
  CHECK(os_decimal_int64(&a, &value) && value == 0);
  a = of("18446744073709551615");
  CHECK(os_decimal_uint64(&a, &large) && large == UINT64_MAX);
  a = of("18446744073709551616");
  CHECK(!os_decimal_uint64(&a, &large));
}

static void test_exact_doubles(void) {
  const struct {
    const char *text;
    bool exact;
  } cases[] = {{"9007199254740992", true},        {"9007199254740993", false},
               {"9007199254740994", true},        {"18446744073709551616", true},
               {"18446744073709551617", false},   {"100000000000000000000000", false},
               {"10000000000000000000000", true}, {"0", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    os_decimal a = of(cases[i].text);
    CHECK_EQ(os_decimal_exact_double(&a, os_decimal_double(os_str_of(cases[i].text))), cases[i].exact);
  }
}

static void print(double value, const char *expected) {
  char room[OS_DOUBLE_ROOM];
  size_t len = os_double_print(value, room);
  CHECK_BYTES(room, len, expected, strlen(expected));
}

// The examples that come with RFC 8785, and the ends of binary64.
static void test_print(void) {
  print(0, "0");
  print(-0.0, "0");
  print(5e-324, "5e-324");
  print(-5e-324, "-5e-324");
  print(1.7976931348623157e308, "1.7976931348623157e+308");
  print(9007199254740992, "9007199254740992");
  print(295147905179352830000.0, "295147905179352830000");
  print(9.999999999999997e22, "9.999999999999997e+22");
  print(1e23, "1e+23");
  print(1.0000000000000001e23, "1.0000000000000001e+23");
  print(999999999999999700000.0, "999999999999999700000");
  print(999999999999999900000.0, "999999999999999900000");
  print(1e21, "1e+21");
  print(9.999999999999997e-7, "9.999999999999997e-7");
  print(0.000001, "0.000001");
  print(333333333.3333332, "333333333.3333332");
  print(333333333.33333325, "333333333.33333325");
  print(333333333.3333334, "333333333.3333334");
  print(-0.0000033333333333333333, "-0.0000033333333333333333");
  print(1424953923781206.2, "1424953923781206.2");
  print(2.2250738585072014e-308, "2.2250738585072014e-308");
  print(4.9406564584124654e-324, "5e-324");
  print(123.456, "123.456");
}

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// What is printed reads back, is no longer than 17 digits, and one digit less would not do.
static void test_print_random(void) {
  int wrong = 0;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = next();
    if (i % 4 == 0) bits &= ~(((uint64_t)1 << 52) - 1); // powers of two: the gap below is half as wide
    double value;
    memcpy(&value, &bits, 8);
    if (!isfinite(value)) continue;
    char room[OS_DOUBLE_ROOM + 1], shorter[40];
    size_t len = os_double_print(value, room);
    room[len] = 0;
    double back = os_decimal_double((os_str){room, len});
    wrong += back != value || strtod(room, NULL) != value;
    os_decimal a = os_decimal_of((os_str){room, len});
    if (a.count > 1) {
      snprintf(shorter, sizeof shorter, "%.*e", (int)a.count - 2, value);
      wrong += strtod(shorter, NULL) == value;
    }
    snprintf(shorter, sizeof shorter, "%.*e", (int)a.count > 0 ? (int)a.count - 1 : 0, value);
    if (strtod(shorter, NULL) == value) wrong += strtod(shorter, NULL) != back;
  }
  CHECK_EQ(wrong, 0);
}

static void test_rounding(void) {
  CHECK(os_decimal_float(OS_STR("16777217")) == 16777216.0f);
  CHECK(os_decimal_float(OS_STR("16777217.000000000000000001")) == 16777218.0f); // not rounded twice
  CHECK(isinf(os_decimal_float(OS_STR("3.5e38"))));
  CHECK(os_decimal_float(OS_STR("1e-60")) == 0);
  CHECK(isinf(os_decimal_double(OS_STR("-1e99999999999999999999"))));
  char text[3000] = "1.";
  memset(text + 2, '0', 2000);
  memcpy(text + 2002, "1e-5", 5);
  CHECK(os_decimal_double(os_str_of(text)) == 1e-5);
}

static void print_float(float value, const char *expected) {
  char room[OS_DOUBLE_ROOM];
  size_t len = os_float_print(value, room);
  CHECK_BYTES(room, len, expected, strlen(expected));
}

static void test_print_float(void) {
  print_float(0.1f, "0.1");
  print_float(16777216, "16777216");
  print_float(3.4028235e38f, "3.4028235e+38");
  print_float(1.1754944e-38f, "1.1754944e-38");
  print_float(1e-45f, "1e-45");
  print_float(-9.8607613e-32f, "-9.8607613e-32"); // a power of two
  int wrong = 0;
  for (int i = 0; i < 20000; i++) {
    uint32_t bits = (uint32_t)next();
    if (i % 4 == 0) bits &= ~(((uint32_t)1 << 23) - 1);
    float value;
    memcpy(&value, &bits, 4);
    if (!isfinite(value)) continue;
    char room[OS_DOUBLE_ROOM + 1], shorter[40];
    size_t len = os_float_print(value, room);
    room[len] = 0;
    wrong += strtof(room, NULL) != value || os_decimal_float((os_str){room, len}) != value;
    os_decimal a = os_decimal_of((os_str){room, len});
    if (a.count <= 1) continue;
    snprintf(shorter, sizeof shorter, "%.*e", (int)a.count - 2, (double)value);
    wrong += strtof(shorter, NULL) == value;
  }
  CHECK_EQ(wrong, 0);
}

int main(void) {
  test_compare();
  test_large_exponents();
  test_divides();
  test_integers();
  test_exact_doubles();
  test_print();
  test_print_random();
  test_print_float();
  test_rounding();
  return CHECK_END();
}
