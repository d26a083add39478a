/* The catalogue of loops, the choice among them, booleans, selection, and loops for the small float types. */
#include "loops.h"
#include "floats.h"
#include "loop_kit.h"

#include <string.h>

enum {
#define BIT(op, type) | 1u << MATH__##type
#define MATH_SET(set) SET_##set = 0u MATH_FOR_##set(BIT, )
  MATH_SET(BOOL),
  MATH_SET(FLOAT),
  MATH_SET(UNSIGNED),
  MATH_SET(INTEGER),
  MATH_SET(NUMERIC),
  MATH_SET(NUMERIC_BOOL),
  MATH_SET(WIDE)
#undef MATH_SET
#undef BIT
};

static const struct {
  uint32_t types; /* a bit each */
  uint8_t cls;
} operations[MATH_OP_COUNT] = {
#define MATH_OP(op, cls, set) [MATH_OP_##op] = {SET_##set, MATH_##cls},
#include "math.def"
#undef MATH_OP
};

math_loop_id math_loop_find(math_op op, int type) {
  if ((unsigned)op >= MATH_OP_COUNT || (unsigned)type >= MATH_TYPE_COUNT) return LOOP_NONE;
  return operations[op].types >> type & 1 ? (math_loop_id)MATH_LOOP_ID(op, type) : LOOP_NONE;
}

math_loop math_loop_at(math_loop_id id) {
  math_op op = (math_op)(id / MATH_LOOP_TYPES);
  math_type type = (math_type)(id % MATH_LOOP_TYPES);
  if (id == LOOP_NONE || math_loop_find(op, (int)type) != id) return (math_loop){0};
  math_class cls = (math_class)operations[op].cls;
  bool flags = cls == MATH_PREDICATE || cls == MATH_COMPARE;
  return (math_loop){op, cls, type, flags ? MATH_BOOL : type, cls == MATH_UNARY || cls == MATH_PREDICATE};
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

bool math_mirror(math_op *op) {
  if (*op == MATH_OP_greater) {
    *op = MATH_OP_less;
  } else if (*op == MATH_OP_greater_equal) {
    *op = MATH_OP_less_equal;
  } else {
    return false;
  }
  return true;
}

/* Bit 2 x + y of an operation's truth table is its result; `not` sees its operand twice. */
static void loops__bool(math_op op, uint8_t *d, const uint8_t *s, const uint8_t *t, size_t n, int mode) {
  const unsigned truth = op == MATH_OP_and     ? 8
                         : op == MATH_OP_or    ? 14
                         : op == MATH_OP_xor   ? 6
                         : op == MATH_OP_equal ? 9
                                               : 1;
  const uint8_t s0 = s[0], t0 = t[0];
  for (size_t i = 0; i < n; i++) {
    const uint8_t x = mode == MATH_SV ? s0 : s[i], y = mode == MATH_VS ? t0 : t[i];
    d[i] = truth >> ((x != 0) * 2 + (y != 0)) & 1;
  }
}

static void loops__unary(const math_loop *loop, void *dst, const void *src, size_t n, const math_params *p) {
  switch (loop->in) {
  case MATH_F32: math_unary_f32(loop->op, dst, src, n, p); break;
  case MATH_F64: math_unary_f64(loop->op, dst, src, n, p); break;
  case MATH_BOOL: loops__bool(loop->op, dst, src, src, n, MATH_VV); break;
  default: math_unary_int(loop->op, (int)loop->in, dst, src, n, p); break;
  }
}

static ptrdiff_t loops__binary(const math_loop *loop, void *dst, const void *a, const void *b, size_t n,
                               int mode) {
  switch (loop->in) {
  case MATH_F32: math_binary_f32(loop->op, dst, a, b, n, mode); return -1;
  case MATH_F64: math_binary_f64(loop->op, dst, a, b, n, mode); return -1;
  case MATH_BOOL: loops__bool(loop->op, dst, a, b, n, mode); return -1;
  case MATH_I32:
    if (math_binary_i32(loop->op, dst, a, b, n, mode)) return -1;
    break;
  default: break;
  }
  return math_binary_int(loop->op, (int)loop->in, dst, a, b, n, mode);
}

/* Elements of the small types go through this many floats at a time. */
enum { TILE = 256 };

void math_run_unary(math_loop_id id, int type, void *dst, const void *src, size_t n, const math_params *p) {
  const math_loop loop = math_loop_at(id);
  if (n == 0) return;
  if (type == (int)loop.in) {
    loops__unary(&loop, dst, src, n, p);
    return;
  }
  size_t width = math_type_width(type);
  float x[TILE], y[TILE];
  for (size_t i = 0; i < n; i += TILE) {
    size_t count = n - i < TILE ? n - i : TILE;
    math_load_f32(x, (const char *)src + i * width, type, count);
    if (loop.out == MATH_BOOL) {
      loops__unary(&loop, (uint8_t *)dst + i, x, count, p);
    } else {
      loops__unary(&loop, y, x, count, p);
      math_store_f32((char *)dst + i * width, y, type, count);
    }
  }
}

ptrdiff_t math_run_binary(math_loop_id id, int type, void *dst, const void *a, const void *b, size_t n,
                          int mode, const math_params *p) {
  (void)p;
  const math_loop loop = math_loop_at(id);
  if (n == 0) return -1;
  if (type == (int)loop.in) return loops__binary(&loop, dst, a, b, n, mode);
  size_t width = math_type_width(type);
  float x[TILE], y[TILE], z[TILE];
  if (mode == MATH_SV) math_load_f32(x, a, type, 1);
  if (mode == MATH_VS) math_load_f32(y, b, type, 1);
  for (size_t i = 0; i < n; i += TILE) {
    size_t count = n - i < TILE ? n - i : TILE;
    if (mode != MATH_SV) math_load_f32(x, (const char *)a + i * width, type, count);
    if (mode != MATH_VS) math_load_f32(y, (const char *)b + i * width, type, count);
    if (loop.out == MATH_BOOL) {
      loops__binary(&loop, (uint8_t *)dst + i, x, y, count, mode);
    } else {
      loops__binary(&loop, z, x, y, count, mode);
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
