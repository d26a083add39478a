/* The table of loops, look-up, comparisons of floats, booleans, selection, and loops for the small float types. */
#include "loops.h"
#include "floats.h"

#include <string.h>

/* Hints to unroll or vectorise are wishes: sanitizers and lower levels of optimisation may refuse them. */
#pragma clang diagnostic ignored "-Wpass-failed"

enum { MATH__f32 = MATH_F32, MATH__f64 = MATH_F64, MATH__b8 = MATH_BOOL };
enum { MATH__i8 = MATH_I8, MATH__i16 = MATH_I16, MATH__i32 = MATH_I32, MATH__i64 = MATH_I64 };
enum { MATH__u8 = MATH_U8, MATH__u16 = MATH_U16, MATH__u32 = MATH_U32, MATH__u64 = MATH_U64 };

#define ROW(op, type, cls, result, one, two) \
  [LOOP_##op##_##type] = {#op "_" #type, MATH_OP_##op, cls, MATH__##type, result, one, two},
#define ROW_UNARY(op, type) ROW(op, type, MATH_UNARY, MATH__##type, math_##op##_##type, NULL)
#define ROW_PREDICATE(op, type) ROW(op, type, MATH_PREDICATE, MATH_BOOL, math_##op##_##type, NULL)
#define ROW_BINARY(op, type) ROW(op, type, MATH_BINARY, MATH__##type, NULL, math_##op##_##type)
#define ROW_COMPARE(op, type) ROW(op, type, MATH_COMPARE, MATH_BOOL, NULL, math_##op##_##type)

const math_loop math_loops[LOOP_COUNT] = {
#define MATH_OP(op, cls, set) MATH_FOR_##set(ROW_##cls, op)
#include "math.def"
#undef MATH_OP
};

math_loop_id math_loop_find(math_op op, int type) {
  static const uint16_t ids[MATH_OP_COUNT][MATH_TYPE_COUNT] = {
#define FIND(op, type) [MATH_OP_##op][MATH__##type] = LOOP_##op##_##type,
#define MATH_OP(op, cls, set) MATH_FOR_##set(FIND, op)
#include "math.def"
#undef MATH_OP
  };
  if ((unsigned)op >= MATH_OP_COUNT || (unsigned)type >= MATH_TYPE_COUNT) return LOOP_NONE;
  return (math_loop_id)ids[op][type];
}

size_t math_type_width(int type) {
  static const uint8_t widths[MATH_TYPE_COUNT] = {
      [MATH_F32] = 4,    [MATH_U8] = 1,         [MATH_I8] = 1,   [MATH_U16] = 2,      [MATH_I16] = 2,
      [MATH_I32] = 4,    [MATH_I64] = 8,        [MATH_BOOL] = 1, [MATH_F16] = 2,      [MATH_F64] = 8,
      [MATH_U32] = 4,    [MATH_U64] = 8,        [MATH_BF16] = 2, [MATH_F8E4M3FN] = 1, [MATH_F8E4M3FNUZ] = 1,
      [MATH_F8E5M2] = 1, [MATH_F8E5M2FNUZ] = 1, [MATH_U4] = 1,   [MATH_I4] = 1,       [MATH_F4E2M1] = 1,
      [MATH_F8E8M0] = 1, [MATH_U2] = 1,         [MATH_I2] = 1,
  };
  return (unsigned)type < MATH_TYPE_COUNT ? widths[type] : 0;
}

#define LOOP(hint, x_is, y_is, expression)       \
  _Pragma(hint) for (size_t i = 0; i < n; i++) { \
    const T x = x_is, y = y_is;                  \
    d[i] = (uint8_t)(expression);                \
  }
#define VECTORS "clang loop vectorize(assume_safety) unroll(disable)"
#define SCALARS "clang loop vectorize(disable) unroll(disable)"

/* Bytes from two operands of type T. */
#define BINARY(name, type, expression)                                                                       \
  ptrdiff_t math_##name(void *dst, const void *a, const void *b, size_t n, int mode, const math_params *p) { \
    typedef type T;                                                                                          \
    (void)p;                                                                                                 \
    if (n == 0) return -1;                                                                                   \
    uint8_t *d = dst;                                                                                        \
    const T *s = a, *t = b;                                                                                  \
    const T s0 = s[0], t0 = t[0];                                                                            \
    if (mode == MATH_VV && sizeof(T) < 8) {                                                                  \
      LOOP(VECTORS, s[i], t[i], expression)                                                                  \
    } else if (mode == MATH_VS && sizeof(T) == 4) {                                                          \
      LOOP(VECTORS, s[i], t0, expression)                                                                    \
    } else {                                                                                                 \
      LOOP(SCALARS, mode == MATH_SV ? s0 : s[i], mode == MATH_VS ? t0 : t[i], expression)                    \
    }                                                                                                        \
    return -1;                                                                                               \
  }

BINARY(equal_f32, float, x == y)
BINARY(less_f32, float, x < y)
BINARY(greater_f32, float, x > y)
BINARY(less_equal_f32, float, x <= y)
BINARY(greater_equal_f32, float, x >= y)
BINARY(equal_f64, double, x == y)
BINARY(less_f64, double, x < y)
BINARY(greater_f64, double, x > y)
BINARY(less_equal_f64, double, x <= y)
BINARY(greater_equal_f64, double, x >= y)
BINARY(equal_b8, uint8_t, (x != 0) == (y != 0))
BINARY(and_b8, uint8_t, (x != 0) & (y != 0))
BINARY(or_b8, uint8_t, (x != 0) | (y != 0))
BINARY(xor_b8, uint8_t, (x != 0) ^ (y != 0))

void math_not_b8(void *dst, const void *src, size_t n, const math_params *p) {
  (void)p;
  uint8_t *d = dst;
  const uint8_t *s = src;
  for (size_t i = 0; i < n; i++) d[i] = s[i] == 0;
}

/* Elements of the small types go through this many floats at a time. */
enum { TILE = 256 };

void math_run_unary(math_loop_id loop, int type, void *dst, const void *src, size_t n, const math_params *p) {
  const math_loop *row = &math_loops[loop];
  if (type == row->in) {
    row->unary(dst, src, n, p);
    return;
  }
  size_t width = math_type_width(type);
  float x[TILE], y[TILE];
  for (size_t i = 0; i < n; i += TILE) {
    size_t count = n - i < TILE ? n - i : TILE;
    math_load_f32(x, (const char *)src + i * width, type, count);
    if (row->out == MATH_BOOL) {
      row->unary((uint8_t *)dst + i, x, count, p);
    } else {
      row->unary(y, x, count, p);
      math_store_f32((char *)dst + i * width, y, type, count);
    }
  }
}

ptrdiff_t math_run_binary(math_loop_id loop, int type, void *dst, const void *a, const void *b, size_t n,
                          int mode, const math_params *p) {
  const math_loop *row = &math_loops[loop];
  if (type == row->in) return row->binary(dst, a, b, n, mode, p);
  size_t width = math_type_width(type);
  float x[TILE], y[TILE], z[TILE];
  if (n && mode == MATH_SV) math_load_f32(x, a, type, 1);
  if (n && mode == MATH_VS) math_load_f32(y, b, type, 1);
  for (size_t i = 0; i < n; i += TILE) {
    size_t count = n - i < TILE ? n - i : TILE;
    if (mode != MATH_SV) math_load_f32(x, (const char *)a + i * width, type, count);
    if (mode != MATH_VS) math_load_f32(y, (const char *)b + i * width, type, count);
    if (row->out == MATH_BOOL) {
      row->binary((uint8_t *)dst + i, x, y, count, mode, p);
    } else {
      row->binary(z, x, y, count, mode, p);
      math_store_f32((char *)dst + i * width, z, type, count);
    }
  }
  return -1;
}

#define WHERE(T)                                                                                 \
  {                                                                                              \
    T *d = dst;                                                                                  \
    const T *s = a, *t = b;                                                                      \
    for (size_t i = 0; i < n; i++) d[i] = condition[i * step_c] ? s[i * step_a] : t[i * step_b]; \
  }

typedef struct math__wide {
  uint64_t half[2];
} math__wide;

void math_where(void *dst, const uint8_t *condition, const void *a, const void *b, size_t n, int scalars,
                size_t width) {
  const size_t step_c = !(scalars & MATH_SCALAR_CONDITION), step_a = !(scalars & MATH_SCALAR_A),
               step_b = !(scalars & MATH_SCALAR_B);
  switch (width) {
  case 1: WHERE(uint8_t) break;
  case 2: WHERE(uint16_t) break;
  case 4: WHERE(uint32_t) break;
  case 8: WHERE(uint64_t) break;
  case 16: WHERE(math__wide) break;
  default: break;
  }
}
