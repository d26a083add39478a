#include "compare.h"
#include "check.h"
#include "scalar.h"

#include <math.h>

static os_memory memory;
static os_arena arena;
static os_types *types;

static op_value *tensor(op_elem elem, int64_t count) { return os_value_tensor(&memory, elem, 1, &count); }

static op_value *floats(int64_t count, const float *data) {
  op_value *value = tensor(OP_FLOAT, count);
  memcpy(value->tensor.data, data, (size_t)count * sizeof *data);
  return value;
}

static os_difference compare(op_value *actual, op_value *expected, os_tolerance tolerance) {
  os_difference out;
  CHECK_EQ(os_value_compare(&arena, actual, expected, &tolerance, &out), OS_OK);
  return out;
}

static void test_floats(void) {
  float e[] = {1, 0, -0.0f, NAN, INFINITY}, a[] = {1.000001f, 0, -0.0f, NAN, INFINITY};
  op_value *expected = floats(5, e), *actual = floats(5, a);
  CHECK_EQ(compare(actual, expected, os_tolerance_default()).kind, OS_SAME);
  float *data = actual->tensor.data;
  data[2] = 0;
  os_difference d = compare(actual, expected, os_tolerance_default());
  CHECK_EQ(d.kind, OS_DIFFERS_VALUE);
  CHECK_EQ(d.first, 2);
  CHECK_STR(os_difference_print(&d, &arena, types),
            "element [2] is 0, expected -0; 1 of 5 differ, at most by 0 (relative 0, 0 ULP)");
  os_tolerance loose = os_tolerance_default();
  loose.unsigned_zero = true;
  CHECK_EQ(compare(actual, expected, loose).kind, OS_SAME);
  data[0] = 1.5f;
  data[4] = -INFINITY;
  d = compare(actual, expected, loose);
  CHECK_EQ(d.first, 0);
  CHECK_EQ(d.differing, 2);
  CHECK(isinf(d.max_abs));
  data[4] = INFINITY;
  d = compare(actual, expected, loose);
  CHECK_STR(os_difference_print(&d, &arena, types),
            "element [0] is 1.5, expected 1; 1 of 5 differ, at most by 0.5 (relative 0.5, 4194304 ULP)");
  loose.rtol = 0.6;
  CHECK_EQ(compare(actual, expected, loose).kind, OS_SAME);
  loose = (os_tolerance){.has_ulp = true, .ulp = 4194304, .unsigned_zero = true};
  CHECK_EQ(compare(actual, expected, loose).kind, OS_SAME);
  loose.ulp--;
  CHECK_EQ(compare(actual, expected, loose).kind, OS_DIFFERS_VALUE);
  loose.shape_only = true;
  CHECK_EQ(compare(actual, expected, loose).kind, OS_SAME);
  data[3] = 7;
  CHECK_EQ(compare(actual, expected, os_tolerance_default()).kind, OS_DIFFERS_VALUE);
  op_value_release(expected);
  op_value_release(actual);
}

static void test_types_and_shapes(void) {
  op_value *a = tensor(OP_INT32, 2), *b = tensor(OP_INT64, 2), *c = tensor(OP_INT32, 3);
  memset(a->tensor.data, 0, 8);
  memset(b->tensor.data, 0, 16);
  memset(c->tensor.data, 0, 12);
  os_difference d = compare(a, b, os_tolerance_default());
  CHECK_STR(os_difference_print(&d, &arena, types), "has type tensor(int32), expected tensor(int64)");
  d = compare(a, c, os_tolerance_default());
  CHECK_STR(os_difference_print(&d, &arena, types), "has shape [2], expected [3]");
  op_type of = os_types_intern(types, (os_type){.kind = OS_TYPE_SEQUENCE, .of = OP_INT32});
  op_value *s = os_value_sequence(&memory, of, 2), *t = os_value_sequence(&memory, of, 2);
  s->items[s->count++] = op_value_retain(a);
  s->items[s->count++] = op_value_retain(a);
  t->items[t->count++] = op_value_retain(a);
  d = compare(s, t, os_tolerance_default());
  CHECK_STR(os_difference_print(&d, &arena, types), "has 2 items, expected 1");
  t->items[t->count++] = op_value_retain(c);
  d = compare(s, t, os_tolerance_default());
  CHECK_STR(os_difference_print(&d, &arena, types), "item [1] has shape [2], expected [3]");
  d = compare(s, a, os_tolerance_default());
  CHECK_STR(os_difference_print(&d, &arena, types), "is a sequence, expected a tensor");
  ((int32_t *)c->tensor.data)[1] = 4;
  op_value *values[] = {a, b, c, s, t};
  for (size_t i = 0; i < 5; i++) op_value_release(values[i]);
}

// Every bit pattern of the narrow types reads back as itself, and halves round to even.
static void test_narrow_floats(void) {
  static const op_elem elems[] = {OP_FLOAT16,    OP_BFLOAT16,       OP_FLOAT8E4M3FN, OP_FLOAT8E4M3FNUZ,
                                  OP_FLOAT8E5M2, OP_FLOAT8E5M2FNUZ, OP_FLOAT4E2M1,   OP_FLOAT8E8M0};
  for (size_t e = 0; e < sizeof elems / sizeof *elems; e++) {
    uint32_t count = elems[e] == OP_FLOAT4E2M1 ? 16 : op_elem_size(elems[e]) == 1 ? 256 : 65536;
    uint32_t wrong = 0;
    for (uint32_t bits = 0; bits < count; bits++) {
      uint16_t in = (uint16_t)bits, out = 0;
      double value = os_scalar_float(elems[e], &in, 0);
      os_scalar_put_float(elems[e], &out, 0, value);
      if (isnan(value) ? !isnan(os_scalar_float(elems[e], &out, 0)) : in != out) wrong++;
    }
    CHECK_EQ(wrong, 0);
  }
  uint16_t half = 0;
  os_scalar_put_float(OP_FLOAT16, &half, 0, 2049); // between 2048 and 2050
  CHECK_EQ(half, 0x6800);
  os_scalar_put_float(OP_FLOAT16, &half, 0, 65520);
  CHECK_EQ(half, 0x7c00);
  os_scalar_put_float(OP_FLOAT16, &half, 0, ldexp(3, -26)); // three quarters of the smallest subnormal
  CHECK_EQ(half, 1);
  uint8_t byte = 0;
  os_scalar_put_float(OP_FLOAT8E4M3FN, &byte, 0, 1000);
  CHECK_EQ(byte, 0x7e);
  os_scalar_put_float(OP_FLOAT8E5M2, &byte, 0, -INFINITY);
  CHECK_EQ(byte, 0xfc);
  os_scalar_put_float(OP_FLOAT8E4M3FNUZ, &byte, 0, -0.0);
  CHECK_EQ(byte, 0);
  os_scalar_put_float(OP_FLOAT8E8M0, &byte, 0, 2);
  CHECK_EQ(byte, 128);
}

static void test_ints(void) {
  int8_t narrow = 0;
  CHECK(os_scalar_put_int(OP_INT4, &narrow, 0, true, (uint64_t)-8));
  CHECK_EQ(narrow, -8);
  CHECK(!os_scalar_put_int(OP_INT4, &narrow, 0, false, 8));
  CHECK(!os_scalar_put_int(OP_UINT8, &narrow, 0, true, (uint64_t)-1));
  uint64_t wide;
  CHECK(os_scalar_put_int(OP_UINT64, &wide, 0, false, UINT64_MAX));
  CHECK_STR(os_scalar_print(&arena, OP_UINT64, &wide, 0), "18446744073709551615");
  CHECK(!os_scalar_put_int(OP_INT64, &wide, 0, false, UINT64_MAX));
  CHECK(os_scalar_put_int(OP_INT64, &wide, 0, true, (uint64_t)INT64_MIN));
  CHECK_STR(os_scalar_print(&arena, OP_INT64, &wide, 0), "-9223372036854775808");
}

static void test_print(void) {
  float f[] = {0.1f, -2.5e-8f, 16777216};
  CHECK_STR(os_scalar_print(&arena, OP_FLOAT, f, 0), "0.1");
  CHECK_STR(os_scalar_print(&arena, OP_FLOAT, f, 1), "-2.5e-08");
  CHECK_STR(os_scalar_print(&arena, OP_FLOAT, f, 2), "16777216");
  CHECK_STR(os_scalar_print(&arena, OP_COMPLEX64, f, 0), "0.1-2.5e-08i");
  double d = 0.1;
  CHECK_STR(os_scalar_print(&arena, OP_DOUBLE, &d, 0), "0.1");
  os_str s = OS_STR("a\"b");
  CHECK_STR(os_scalar_print(&arena, OP_STRING, &s, 0), "\"a\\\"b\"");
  int64_t dims[] = {2, 3};
  op_tensor shape = {.elem = OP_FLOAT, .rank = 2, .dims = dims, .count = 6};
  CHECK_STR(os_index_print(&arena, &shape, 5), "[1, 2]");
}

int main(void) {
  os_arena_init(&arena, &memory);
  types = os_types_new(&arena);
  test_floats();
  test_types_and_shapes();
  test_narrow_floats();
  test_ints();
  test_print();
  os_arena_clear(&arena);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
