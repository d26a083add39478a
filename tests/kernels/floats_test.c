#include "floats.h"

#include "check.h"
#include "sample.h"

static const int small_types[] = {MATH_F8E4M3FN, MATH_F8E4M3FNUZ, MATH_F8E5M2, MATH_F8E5M2FNUZ,
                                  MATH_F4E2M1,   MATH_F8E8M0,     MATH_F16,    MATH_BF16};
static const int every_type[] = {MATH_F32,    MATH_U8,         MATH_I8,   MATH_U16,      MATH_I16,
                                 MATH_I32,    MATH_I64,        MATH_BOOL, MATH_F16,      MATH_F64,
                                 MATH_U32,    MATH_U64,        MATH_BF16, MATH_F8E4M3FN, MATH_F8E4M3FNUZ,
                                 MATH_F8E5M2, MATH_F8E5M2FNUZ, MATH_U4,   MATH_I4,       MATH_F4E2M1,
                                 MATH_F8E8M0, MATH_U2,         MATH_I2};
enum { SMALL = sizeof small_types / sizeof *small_types, EVERY = sizeof every_type / sizeof *every_type };

static uint32_t code_count(int type) {
  return type == MATH_F4E2M1 ? 16 : math_type_width(type) == 1 ? 256 : 65536;
}

// Every code of every format survives decoding and encoding (NaN's codes fold into one).
static void check_round_trips(void) {
  for (int t = 0; t < SMALL; t++) {
    int type = small_types[t];
    for (uint32_t code = 0; code < code_count(type); code++) {
      double x = math_float_decode(type, code);
      uint32_t back = math_float_encode(type, x, false, 0);
      double again = math_float_decode(type, back);
      bool same = x != x ? again != again : back == code;
      if (!CHECK(same)) printf("  type %d code %x: %g, %x\n", type, code, x, back);
    }
  }
  for (uint32_t code = 0; code < 65536; code++) {
    double half = math_float_decode(MATH_F16, code), brain = math_float_decode(MATH_BF16, code);
    float h = math_f16_to_f32((uint16_t)code), b = math_bf16_to_f32((uint16_t)code);
    CHECK(half != half ? h != h : (double)h == half && signbit(h) == signbit(half));
    CHECK(brain != brain ? b != b : (double)b == brain && signbit(b) == signbit(brain));
  }
}

// The nearest finite code by trying all of them, ties to the even one.
static uint32_t nearest_code(int type, double x) {
  uint32_t best = 0;
  double distance = HUGE_VAL;
  for (uint32_t code = 0; code < code_count(type); code++) {
    double v = math_float_decode(type, code);
    if (!isfinite(v) || (signbit(v) != signbit(x) && v != 0)) continue;
    double d = fabs(v - x);
    if (d < distance || (d == distance && code % 2 == 0)) {
      best = code;
      distance = d;
    }
  }
  return best;
}

static void check_nearest(sample_random *r) {
  for (int t = 0; t < SMALL; t++) {
    int type = small_types[t];
    if (type == MATH_F8E8M0 || code_count(type) > 256) continue;
    for (int i = 0; i < 4000; i++) {
      double x = ldexp(sample_uniform(r, -1, 1), (int)sample_below(r, 30) - 16);
      if (i % 3 == 0) x = (double)(float)x;
      if (i % 7 == 0) x = rint(x * 64) / 64;
      uint32_t got = math_float_encode(type, x, true, 0), want = nearest_code(type, x);
      bool zero = math_float_decode(type, want) == 0 && math_float_decode(type, got) == 0;
      if (!CHECK(got == want || zero)) printf("  type %d, %.17g: %x, want %x\n", type, x, got, want);
    }
  }
  for (int i = 0; i < 200000; i++) {
    float x = i % 2 ? math_f32_from_bits((uint32_t)sample_bits(r))
                    : (float)ldexp(sample_uniform(r, -1, 1), (int)sample_below(r, 50) - 30);
    CHECK_EQ(math_f32_to_f16(x), math_float_encode(MATH_F16, (double)x, false, 0));
    CHECK_EQ(math_f32_to_bf16(x), math_float_encode(MATH_BF16, (double)x, false, 0));
  }
}

static uint32_t encoded(int type, double x, bool saturate) { return math_float_encode(type, x, saturate, 0); }

static void check_edges(void) {
  const double inf = INFINITY;
  CHECK_EQ(encoded(MATH_F8E4M3FN, 464, false), 0x7e); // ties to 448
  CHECK_EQ(encoded(MATH_F8E4M3FN, 465, false), 0x7f);
  CHECK_EQ(encoded(MATH_F8E4M3FN, 465, true), 0x7e);
  CHECK_EQ(encoded(MATH_F8E4M3FN, -inf, true), 0xfe);
  CHECK_EQ(encoded(MATH_F8E4M3FN, inf, false), 0x7f);
  CHECK_EQ(encoded(MATH_F8E5M2, 61440, false), 0x7c);
  CHECK_EQ(encoded(MATH_F8E5M2, 61439, false), 0x7b);
  CHECK_EQ(encoded(MATH_F8E5M2, -inf, true), 0xfb);
  CHECK_EQ(encoded(MATH_F8E4M3FNUZ, -0.0, true), 0);
  CHECK_EQ(encoded(MATH_F8E4M3FNUZ, NAN, true), 0x80);
  CHECK_EQ(encoded(MATH_F8E4M3FNUZ, 1e9, false), 0x80);
  CHECK_EQ(encoded(MATH_F8E5M2FNUZ, inf, true), 0x7f);
  CHECK_EQ(encoded(MATH_F4E2M1, 2.5, false), 4); // 2, the even neighbour
  CHECK_EQ(encoded(MATH_F4E2M1, 5, false), 6);   // 4
  CHECK_EQ(encoded(MATH_F4E2M1, -inf, false), 15);
  CHECK_EQ(encoded(MATH_F16, 65520, false), 0x7c00);
  CHECK_EQ(encoded(MATH_F16, 65519.99, false), 0x7bff);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, 3, true, 0), 127 + 2);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, 3, true, 1), 127 + 1);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, 3, true, 2), 127 + 2);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, 2.9, true, 2), 127 + 1);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, 0, true, 0), 0);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, -4, true, 0), 129);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, inf, true, 0), 0xff);
  CHECK_EQ(math_float_encode(MATH_F8E8M0, 1e300, true, 0), 0xfe);
}

static void check_packing(sample_random *r) {
  for (int bits = 2; bits <= 4; bits += 2) {
    for (size_t n = 0; n < 20; n++) {
      uint8_t src[20], packed[11], back[20];
      for (int sign = 0; sign < 2; sign++) {
        sample_fill(r, bits == 4 ? (sign ? MATH_I4 : MATH_U4) : sign ? MATH_I2 : MATH_U2, src, n);
        size_t bytes = math_packed_bytes(n, bits);
        CHECK_EQ(bytes, (n * (size_t)bits + 7) / 8);
        memset(packed, 0xff, sizeof packed);
        math_pack_bits(packed, src, n, bits);
        CHECK_EQ(packed[bytes], 0xff);
        math_unpack_bits(back, packed, n, bits, sign);
        CHECK(memcmp(back, src, n) == 0);
      }
    }
  }
  const uint8_t two[3] = {1, 2, 3};
  uint8_t packed[2];
  math_pack_bits(packed, two, 3, 4);
  CHECK_EQ(packed[0], 0x21);
  CHECK_EQ(packed[1], 0x03);
}

static bool is_float(int type) {
  return type == MATH_F32 || type == MATH_F64 || type == MATH_F16 || type == MATH_BF16 ||
         (type >= MATH_F8E4M3FN && type <= MATH_F8E5M2FNUZ) || type == MATH_F4E2M1 || type == MATH_F8E8M0;
}

static uint32_t code_at(int type, const void *p) {
  uint32_t code = 0;
  memcpy(&code, p, math_type_width(type) < 4 ? math_type_width(type) : 4);
  return code;
}

static double double_at(int type, const void *p) {
  double x;
  memcpy(&x, p, type == MATH_F64 ? 8 : 0);
  return type == MATH_F64 ? x : math_float_decode(type, code_at(type, p));
}

static __int128 integer_at(int type, const void *p) {
  switch (type) {
  case MATH_I8:
  case MATH_I4:
  case MATH_I2: return *(const int8_t *)p;
  case MATH_I16: return *(const int16_t *)p;
  case MATH_U16: return *(const uint16_t *)p;
  case MATH_I32: return *(const int32_t *)p;
  case MATH_U32: return *(const uint32_t *)p;
  case MATH_I64: return *(const int64_t *)p;
  case MATH_U64: {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
  }
  default: return *(const uint8_t *)p;
  }
}

static __int128 clamped(double x, double low, double high, __int128 lowest, __int128 highest) {
  return x != x ? 0 : x <= low ? lowest : x >= high ? highest : (__int128)x;
}

// Bytes that casting one element must give, by the rules; as many as the target is wide.
static __int128 cast_to_integer(int to, int from, const void *p) {
  __int128 v;
  if (!is_float(from)) {
    v = integer_at(from, p);
  } else {
    double x = double_at(from, p);
    if (to == MATH_BOOL) return x != 0;
    if (to == MATH_I64)
      v = clamped(x, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX);
    else if (to == MATH_U64)
      v = clamped(x, 0, 0x1p64, 0, UINT64_MAX);
    else if (to == MATH_U32)
      v = clamped(x, 0, 0x1p32, 0, UINT32_MAX);
    else
      v = clamped(x, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX);
  }
  switch (to) {
  case MATH_BOOL: return v != 0;
  case MATH_U4: return v & 15;
  case MATH_U2: return v & 3;
  case MATH_I4: return ((v & 15) ^ 8) - 8;
  case MATH_I2: return ((v & 3) ^ 2) - 2;
  default: return v;
  }
}

static bool cast_is_right(int to, int from, const void *src, const void *dst) {
  if (!is_float(to)) {
    __int128 want = cast_to_integer(to, from, src);
    return memcmp(dst, &want, math_type_width(to)) == 0;
  }
  long double exact = is_float(from) ? (long double)double_at(from, src) : (long double)integer_at(from, src);
  if (to == MATH_F64) return double_at(to, dst) == (double)exact || exact != exact;
  if (to == MATH_F32) {
    float f;
    memcpy(&f, dst, 4);
    return f == (float)exact || exact != exact;
  }
  double x = (double)exact;
  if (!is_float(from) && (long double)x != exact) return true; // a double cannot tell how it rounds
  return code_at(to, dst) == math_float_encode(to, x, true, 0);
}

static void check_casts(sample_random *r) {
  enum { N = 301 };
  unsigned char src[N * 8], dst[N * 8];
  for (int f = 0; f < EVERY; f++) {
    for (int t = 0; t < EVERY; t++) {
      int from = every_type[f], to = every_type[t];
      sample_fill(r, from, src, N);
      CHECK(math_cast(dst, to, src, from, N, NULL));
      for (size_t i = 0; i < N && from != to; i++) {
        const unsigned char *s = src + i * math_type_width(from), *d = dst + i * math_type_width(to);
        if (!CHECK(cast_is_right(to, from, s, d))) printf("  element %zu, %d to %d\n", i, from, to);
      }
      if (from == to) CHECK(memcmp(src, dst, N * math_type_width(from)) == 0);
    }
  }
  CHECK(!math_cast(dst, 8, src, MATH_F32, N, NULL));
  CHECK(!math_cast(dst, MATH_F32, src, 14, N, NULL));
}

// Integers that a detour over double or float would round twice.
static void check_single_rounding(void) {
  const int64_t x[3] = {((int64_t)1 << 60) + ((int64_t)1 << 52) + 1, INT64_MAX,
                        -(((int64_t)1 << 60) + ((int64_t)1 << 52) + 1)};
  uint16_t brain[3];
  float single[3];
  math_cast(brain, MATH_BF16, x, MATH_I64, 3, NULL);
  CHECK_EQ(brain[0], 0x5d81); // just above the tie between 2^60 and the next
  CHECK_EQ(brain[2], 0xdd81);
  math_cast(single, MATH_F32, x, MATH_I64, 3, NULL);
  CHECK(single[1] == 0x1p63f);
  const float nine = 9, many = 300, huge = 1e10f;
  int8_t small;
  math_cast(&small, MATH_I4, &nine, MATH_F32, 1, NULL);
  CHECK_EQ(small, -7);
  math_cast(&small, MATH_I8, &many, MATH_F32, 1, NULL);
  CHECK_EQ(small, 44);
  math_cast(&small, MATH_I8, &huge, MATH_F32, 1, NULL);
  CHECK_EQ(small, -1);
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_round_trips();
  check_nearest(&r);
  check_edges();
  check_packing(&r);
  check_casts(&r);
  check_single_rounding();
  return CHECK_END();
}
