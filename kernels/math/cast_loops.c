/* Conversion between any two element types. Pairs that models use have a loop; all others go through tiles of a hub type
 * that holds the source exactly: int64 (or its bits, for uint64) for integers and bool, double for floats. */
#include "floats.h"
#include "simd.h"

#include <string.h>

enum { TILE = 128 };

static int64_t cast__f64_to_i64(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  if (x < -0x1p63) return INT64_MIN;
  return (int64_t)x;
}

static uint64_t cast__f64_to_u64(double x) {
  if (!(x > 0)) return 0;
  if (x >= 0x1p64) return UINT64_MAX;
  return (uint64_t)x;
}

static int32_t cast__f64_to_i32(double x) {
  if (x != x) return 0;
  if (x >= 0x1p31) return INT32_MAX;
  if (x <= -0x1p31) return INT32_MIN;
  return (int32_t)x;
}

static uint32_t cast__f64_to_u32(double x) {
  if (!(x > 0)) return 0;
  if (x >= 0x1p32) return UINT32_MAX;
  return (uint32_t)x;
}

/* An integer's magnitude as a double whose last bit says whether anything was cut off: rounding that to any narrower
 * format gives what rounding the integer would have. */
static double cast__odd_double(uint64_t magnitude) {
  if (magnitude >> 53 == 0) return (double)magnitude;
  int drop = 11 - __builtin_clzll(magnitude);
  uint64_t kept = magnitude >> drop;
  if (kept << drop != magnitude) kept |= 1;
  return (double)kept * (double)((uint64_t)1 << drop);
}

static bool cast__is_float(int type) {
  switch (type) {
  case MATH_F32:
  case MATH_F64:
  case MATH_F16:
  case MATH_BF16:
  case MATH_F8E4M3FN:
  case MATH_F8E4M3FNUZ:
  case MATH_F8E5M2:
  case MATH_F8E5M2FNUZ:
  case MATH_F8E8M0:
  case MATH_F4E2M1: return true;
  default: return false;
  }
}

/* Loops between two types of C: D d = (expression of S x). The rarer pairs: small code rather than vectors. */
#define COPY(D, S, expression)                                                              \
  _Pragma("clang loop vectorize(disable) unroll(disable)") for (size_t i = 0; i < n; i++) { \
    const S x = ((const S *)src)[i];                                                        \
    ((D *)dst)[i] = (D)(expression);                                                        \
  }                                                                                         \
  break;

static void cast__load_i64(void *dst, const void *src, int from, size_t n) {
  switch (from) {
  case MATH_I8:
  case MATH_I4:
  case MATH_I2: COPY(int64_t, int8_t, x)
  case MATH_U8:
  case MATH_U4:
  case MATH_U2: COPY(int64_t, uint8_t, x)
  case MATH_BOOL: COPY(int64_t, uint8_t, x != 0)
  case MATH_I16: COPY(int64_t, int16_t, x)
  case MATH_U16: COPY(int64_t, uint16_t, x)
  case MATH_I32: COPY(int64_t, int32_t, x)
  case MATH_U32: COPY(int64_t, uint32_t, x)
  default: memcpy(dst, src, n * sizeof(int64_t)); break;
  }
}

static void cast__load_f64(void *dst, const void *src, int from, size_t n) {
  switch (from) {
  case MATH_F32: COPY(double, float, x)
  case MATH_F64: memcpy(dst, src, n * sizeof(double)); break;
  case MATH_F16: COPY(double, uint16_t, math_f16_to_f32(x))
  case MATH_BF16: COPY(double, uint16_t, math_bf16_to_f32(x))
  default: COPY(double, uint8_t, math_float_decode(from, x))
  }
}

static void cast__store_i64(void *dst, const void *src, int to, size_t n) {
  switch (to) {
  case MATH_I8:
  case MATH_U8: COPY(uint8_t, int64_t, x)
  case MATH_U4: COPY(uint8_t, int64_t, x & 15)
  case MATH_U2: COPY(uint8_t, int64_t, x & 3)
  case MATH_I4: COPY(uint8_t, int64_t, ((x & 15) ^ 8) - 8)
  case MATH_I2: COPY(uint8_t, int64_t, ((x & 3) ^ 2) - 2)
  case MATH_BOOL: COPY(uint8_t, int64_t, x != 0)
  case MATH_I16:
  case MATH_U16: COPY(uint16_t, int64_t, x)
  case MATH_I32:
  case MATH_U32: COPY(uint32_t, int64_t, x)
  default: memcpy(dst, src, n * sizeof(int64_t)); break;
  }
}

/* Doubles to integers, by way of the saturated 32 bits for narrow ones. */
static void cast__store_f64_as_int(void *dst, const void *src, int to, size_t n) {
  switch (to) {
  case MATH_I64: COPY(int64_t, double, cast__f64_to_i64(x))
  case MATH_U64: COPY(uint64_t, double, cast__f64_to_u64(x))
  case MATH_I32: COPY(int32_t, double, cast__f64_to_i32(x))
  case MATH_U32: COPY(uint32_t, double, cast__f64_to_u32(x))
  case MATH_BOOL: COPY(uint8_t, double, x != 0)
  default: {
    int64_t tile[TILE];
    for (size_t i = 0; i < n; i++) tile[i] = cast__f64_to_i32(((const double *)src)[i]);
    cast__store_i64(dst, tile, to, n);
  }
  }
}

static void cast__store_f64(void *dst, const void *src, int to, size_t n, bool saturate, int round) {
  switch (to) {
  case MATH_F32: COPY(float, double, x)
  case MATH_F64: memcpy(dst, src, n * sizeof(double)); break;
  case MATH_F16:
  case MATH_BF16: COPY(uint16_t, double, math_float_encode(to, x, saturate, round))
  default: COPY(uint8_t, double, math_float_encode(to, x, saturate, round))
  }
}

static void cast__store_int_as_float(void *dst, const int64_t *src, bool is_unsigned, int to, size_t n,
                                     bool saturate, int round) {
  double tile[TILE];
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = (uint64_t)src[i];
    if (to == MATH_F64) {
      tile[i] = is_unsigned ? (double)bits : (double)src[i];
    } else {
      bool negative = !is_unsigned && src[i] < 0;
      double magnitude = cast__odd_double(negative ? 0 - bits : bits);
      tile[i] = negative ? -magnitude : magnitude;
    }
  }
  cast__store_f64(dst, tile, to, n, saturate, round);
}

static void cast__tiles(char *dst, int to, const char *src, int from, size_t n, bool saturate, int round) {
  size_t from_width = math_type_width(from), to_width = math_type_width(to);
  for (size_t i = 0; i < n; i += TILE) {
    size_t count = n - i < TILE ? n - i : TILE;
    char *d = dst + i * to_width;
    if (cast__is_float(from)) {
      double tile[TILE];
      cast__load_f64(tile, src + i * from_width, from, count);
      if (cast__is_float(to)) {
        cast__store_f64(d, tile, to, count, saturate, round);
      } else {
        cast__store_f64_as_int(d, tile, to, count);
      }
    } else {
      int64_t tile[TILE];
      cast__load_i64(tile, src + i * from_width, from, count);
      if (cast__is_float(to)) {
        cast__store_int_as_float(d, tile, from == MATH_U64, to, count, saturate, round);
      } else {
        cast__store_i64(d, tile, to, count);
      }
    }
  }
}

typedef void (*cast__fn)(void *dst, const void *src, size_t n);

#define DIRECT(name, D, S, expression)                             \
  static void cast__##name(void *dst, const void *src, size_t n) { \
    D *d = dst;                                                    \
    const S *s = src;                                              \
    for (size_t i = 0; i < n; i++) {                               \
      const S x = s[i];                                            \
      d[i] = (D)(expression);                                      \
    }                                                              \
  }

DIRECT(f32_f64, double, float, x)
DIRECT(f64_f32, float, double, x)
DIRECT(f32_bool, uint8_t, float, x != 0)
DIRECT(f32_i64, int64_t, float, cast__f64_to_i64(x))
DIRECT(i32_f32, float, int32_t, x)
DIRECT(i64_f32, float, int64_t, x)
DIRECT(u8_f32, float, uint8_t, x)
DIRECT(i8_f32, float, int8_t, x)
DIRECT(bool_f32, float, uint8_t, x != 0)
DIRECT(i64_i32, int32_t, int64_t, x)
DIRECT(i32_i64, int64_t, int32_t, x)
DIRECT(u8_i32, int32_t, uint8_t, x)
DIRECT(i8_i32, int32_t, int8_t, x)
DIRECT(bool_i32, int32_t, uint8_t, x != 0)
DIRECT(bool_i64, int64_t, uint8_t, x != 0)
DIRECT(i32_bool, uint8_t, int32_t, x != 0)
DIRECT(i64_bool, uint8_t, int64_t, x != 0)

static void cast__f32_i32(void *dst, const void *src, size_t n) {
  int32_t *d = dst;
  const float *s = src;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) i32x4_store(d + i, i32x4_trunc_sat(f32x4_load(s + i)));
  for (; i < n; i++) d[i] = i32x4_trunc_sat(f32x4_splat(s[i]))[0];
}

/* To int8 or uint8: the low byte of the saturated int32. */
static void cast__f32_byte(void *dst, const void *src, size_t n) {
  uint8_t *d = dst;
  const float *s = src;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    i32x4 v = i32x4_trunc_sat(f32x4_load(s + i));
    for (size_t j = 0; j < 4; j++) d[i + j] = (uint8_t)v[j];
  }
  for (; i < n; i++) d[i] = (uint8_t)i32x4_trunc_sat(f32x4_splat(s[i]))[0];
}

static void cast__f16_f32(void *dst, const void *src, size_t n) { math_f32_from_f16(dst, src, n); }
static void cast__f32_f16(void *dst, const void *src, size_t n) { math_f16_from_f32(dst, src, n); }
static void cast__bf16_f32(void *dst, const void *src, size_t n) { math_f32_from_bf16(dst, src, n); }
static void cast__f32_bf16(void *dst, const void *src, size_t n) { math_bf16_from_f32(dst, src, n); }

static const cast__fn DIRECT_LOOPS[MATH_BF16 + 1][MATH_BF16 + 1] = {
    [MATH_F32] = {[MATH_F64] = cast__f32_f64,
                  [MATH_BOOL] = cast__f32_bool,
                  [MATH_I64] = cast__f32_i64,
                  [MATH_I32] = cast__f32_i32,
                  [MATH_I8] = cast__f32_byte,
                  [MATH_U8] = cast__f32_byte,
                  [MATH_F16] = cast__f32_f16,
                  [MATH_BF16] = cast__f32_bf16},
    [MATH_F64] = {[MATH_F32] = cast__f64_f32},
    [MATH_F16] = {[MATH_F32] = cast__f16_f32},
    [MATH_BF16] = {[MATH_F32] = cast__bf16_f32},
    [MATH_I32] = {[MATH_F32] = cast__i32_f32, [MATH_I64] = cast__i32_i64, [MATH_BOOL] = cast__i32_bool},
    [MATH_I64] = {[MATH_F32] = cast__i64_f32, [MATH_I32] = cast__i64_i32, [MATH_BOOL] = cast__i64_bool},
    [MATH_U8] = {[MATH_F32] = cast__u8_f32, [MATH_I32] = cast__u8_i32},
    [MATH_I8] = {[MATH_F32] = cast__i8_f32, [MATH_I32] = cast__i8_i32},
    [MATH_BOOL] = {[MATH_F32] = cast__bool_f32, [MATH_I32] = cast__bool_i32, [MATH_I64] = cast__bool_i64},
};

bool math_cast(void *dst, int to, const void *src, int from, size_t n, const math_params *p) {
  size_t width = math_type_width(to);
  if (!width || !math_type_width(from)) return false;
  if (from == to) {
    if (dst != src) memcpy(dst, src, n * width);
    return true;
  }
  const int rows = (int)(sizeof DIRECT_LOOPS / sizeof DIRECT_LOOPS[0]);
  cast__fn direct = from < rows && to < rows ? DIRECT_LOOPS[from][to] : NULL;
  if (direct) {
    direct(dst, src, n);
  } else {
    cast__tiles(dst, to, src, from, n, !p || p->i[0] != 0, p ? (int)p->i[1] : 0);
  }
  return true;
}
