#include "check.h"
#include "loop_rows.h"
#include "sample.h"

// Integer loops against 128-bit arithmetic cut to the type.

typedef __int128 wide;

static wide load(int type, const void *p) {
  switch (type) {
  case MATH_I8: return *(const int8_t *)p;
  case MATH_U8: return *(const uint8_t *)p;
  case MATH_I16: return *(const int16_t *)p;
  case MATH_U16: return *(const uint16_t *)p;
  case MATH_I32: return *(const int32_t *)p;
  case MATH_U32: return *(const uint32_t *)p;
  case MATH_I64: return *(const int64_t *)p;
  default: return *(const uint64_t *)p;
  }
}

static wide floored(wide x, wide y) {
  wide r = x % y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static wide power(int type, wide x, wide y) {
  size_t bits = 8 * math_type_width(type);
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  unsigned __int128 result = 1, base = (unsigned __int128)x, mask = ((unsigned __int128)1 << bits) - 1;
  for (; y; y >>= 1, base = (base & mask) * (base & mask)) {
    if (y & 1) result = (result & mask) * (base & mask);
  }
  return (wide)result;
}

static wide expected(int op, int type, wide x, wide y) {
  wide width = (wide)(8 * math_type_width(type));
  switch (op) {
  case MATH_OP_add: return x + y;
  case MATH_OP_sub: return x - y;
  case MATH_OP_mul: return (wide)((unsigned __int128)x * (unsigned __int128)y);
  case MATH_OP_div: return y == 0 ? 0 : x / y;
  case MATH_OP_mod: return y == 0 ? 0 : floored(x, y);
  case MATH_OP_fmod: return y == 0 ? 0 : x % y;
  case MATH_OP_max: return x > y ? x : y;
  case MATH_OP_min: return x < y ? x : y;
  case MATH_OP_pow: return power(type, x, y);
  case MATH_OP_prelu: return x < 0 ? x * y : x;
  case MATH_OP_shl: return y >= width ? 0 : x << y;
  case MATH_OP_shr: return y >= width ? 0 : x >> y;
  case MATH_OP_bitand: return x & y;
  case MATH_OP_bitor: return x | y;
  case MATH_OP_bitxor: return x ^ y;
  case MATH_OP_equal: return x == y;
  case MATH_OP_less: return x < y;
  case MATH_OP_greater: return x > y;
  case MATH_OP_less_equal: return x <= y;
  case MATH_OP_greater_equal: return x >= y;
  case MATH_OP_abs: return x < 0 ? -x : x;
  case MATH_OP_neg: return -x;
  case MATH_OP_sign: return (x > 0) - (x < 0);
  case MATH_OP_relu: return x < 0 ? 0 : x;
  case MATH_OP_bitnot: return ~x;
  case MATH_OP_clip: return x < 3 ? 3 : x > 90 ? 90 : x;
  default: return x < -7 ? x + 2 : x > 7 ? x - 2 : 0; // shrink by small amounts
  }
}

static void check_loop(const loop_row *row, sample_random *r) {
  const math_loop loop = math_loop_at(row->id);
  enum { N = 400 };
  static const math_params clip = {{0, 0, 0, 0}, {3, 90}}, shrink = {{2, 7, 0, 0}, {0, 0}};
  uint64_t a[N], b[N], out[N];
  size_t width = math_type_width(loop.in), out_width = math_type_width(loop.out);
  sample_fill(r, loop.in, a, N);
  sample_fill(r, loop.in, b, N);
  ptrdiff_t first_zero = -1;
  ptrdiff_t bad = loop_run(row->id, out, a, b, N, MATH_VV, loop.op == MATH_OP_clip ? &clip : &shrink);
  bool division = loop.op == MATH_OP_div || loop.op == MATH_OP_mod || loop.op == MATH_OP_fmod;
  for (size_t i = 0; i < N; i++) {
    wide x = load(loop.in, (const char *)a + i * width), y = load(loop.in, (const char *)b + i * width);
    if (division && y == 0 && first_zero < 0) first_zero = (ptrdiff_t)i;
    // Doubles carry shrink: beyond their 53 bits and at the ends of the type it is not exact.
    if (loop.op == MATH_OP_shrink && (x > 1000000 || x < -1000000)) continue;
    wide want = expected(loop.op, loop.in, x, y);
    if (!CHECK(memcmp(&want, (const char *)out + i * out_width, out_width) == 0))
      printf("  %s of %lld, %lld\n", row->name, (long long)x, (long long)y);
  }
  CHECK_EQ(bad, first_zero);
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  for (size_t i = 0; i < LOOP_ROWS; i++) {
    const math_type in = math_loop_at(loop_rows[i].id).in;
    if (in != MATH_F32 && in != MATH_F64 && in != MATH_BOOL) check_loop(&loop_rows[i], &r);
  }
  return CHECK_END();
}
