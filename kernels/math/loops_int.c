/* Integer loops: elements of every type are widened to 64 bits, a tile at a time, and cut to their type again, which is how
 * they wrap. uint64 stands for itself there; where its upper half would count as negative, operands and result are shifted
 * by half the range. */
#include "loop_kit.h"

#include <string.h>

enum { TILE = 128 };

static const uint64_t HALF = (uint64_t)1 << 63;

static bool int__is_signed(int type) {
  return type == MATH_I8 || type == MATH_I16 || type == MATH_I32 || type == MATH_I64;
}

/* Results that depend on the order of operands, which is wrong for the upper half of uint64. */
static bool int__is_ordered(math_op op) {
  return op == MATH_OP_max || op == MATH_OP_min || op == MATH_OP_less || op == MATH_OP_less_equal ||
         op == MATH_OP_clip;
}

static void int__shift(uint64_t *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] ^= HALF;
}

static int64_t int__pow(int64_t x, int64_t y, bool is_signed) {
  if (is_signed && y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  uint64_t result = 1, base = (uint64_t)x;
  for (uint64_t e = (uint64_t)y; e; e >>= 1, base *= base) {
    if (e & 1) result *= base;
  }
  return (int64_t)result;
}

/* Quotient, or remainder with the sign of the dividend (fmod) or of the divisor (mod). */
static int64_t int__divide(math_op op, int64_t x, int64_t y, bool is_signed) {
  const uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
  if (!is_signed) return (int64_t)(op == MATH_OP_div ? ux / uy : ux % uy);
  if (y == -1) return op == MATH_OP_div ? (int64_t)(0 - ux) : 0;
  if (op == MATH_OP_div) return x / y;
  int64_t r = x % y;
  return op == MATH_OP_mod && r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static ptrdiff_t int__divide_all(math_op op, int64_t *d, const int64_t *s, const int64_t *t, size_t n,
                                 bool is_signed) {
  ptrdiff_t bad = -1;
  for (size_t i = 0; i < n; i++) {
    if (t[i] == 0 && bad < 0) bad = (ptrdiff_t)i;
    d[i] = t[i] == 0 ? 0 : int__divide(op, s[i], t[i], is_signed);
  }
  return bad;
}

#define EACH(expression)                                                                    \
  _Pragma("clang loop vectorize(disable) unroll(disable)") for (size_t i = 0; i < n; i++) { \
    const int64_t x = s[i], y = t[i];                                                       \
    const uint64_t ux = (uint64_t)x, uy = (uint64_t)y;                                      \
    (void)y, (void)uy, (void)ux;                                                            \
    d[i] = (int64_t)(expression);                                                           \
  }                                                                                         \
  return -1;

static ptrdiff_t int__binary(math_op op, int type, int64_t *d, const int64_t *s, const int64_t *t, size_t n) {
  const bool is_signed = int__is_signed(type);
  const uint64_t bits = 8 * math_type_width(type);
  switch (op) {
  case MATH_OP_add: EACH(ux + uy)
  case MATH_OP_sub: EACH(ux - uy)
  case MATH_OP_mul: EACH(ux * uy)
  case MATH_OP_max: EACH(x > y ? x : y)
  case MATH_OP_min: EACH(x < y ? x : y)
  case MATH_OP_pow: EACH(int__pow(x, y, is_signed))
  case MATH_OP_prelu: EACH(is_signed && x < 0 ? ux * uy : ux)
  case MATH_OP_shl: EACH(uy >= bits ? 0 : ux << uy)
  case MATH_OP_shr: EACH(uy >= bits ? 0 : ux >> uy)
  case MATH_OP_bitand: EACH(x & y)
  case MATH_OP_bitor: EACH(x | y)
  case MATH_OP_bitxor: EACH(x ^ y)
  case MATH_OP_equal: EACH(x == y)
  case MATH_OP_less: EACH(x < y)
  case MATH_OP_less_equal: EACH(x <= y)
  default: return int__divide_all(op, d, s, t, n, is_signed);
  }
}

/* x - bias or x + bias in double, truncated and held in the range of the type. */
static int64_t int__shrink(int64_t x, int type, double bias, double lambda) {
  const bool is_signed = int__is_signed(type);
  const uint64_t half = (uint64_t)1 << (8 * math_type_width(type) - 1);
  const uint64_t highest = is_signed ? half - 1 : half - 1 + half;
  double v = is_signed ? (double)x : (double)(uint64_t)x;
  double r = v < -lambda ? v + bias : v > lambda ? v - bias : 0;
  if (!(r >= (is_signed ? -(double)half : 0))) return is_signed ? (int64_t)(0 - half) : 0;
  if (r >= (double)highest) return (int64_t)highest;
  return is_signed ? (int64_t)r : (int64_t)(uint64_t)r;
}

/* The elements themselves where they have 64 bits, or widened in `tile`. */
static const void *int__load(void *tile, const char *src, int type, size_t n) {
  if (type == MATH_I64 || type == MATH_U64) return src;
  math_cast(tile, MATH_I64, src, type, n, NULL);
  return tile;
}

ptrdiff_t math_binary_int(math_op op, int type, void *dst, const void *a, const void *b, size_t n, int mode) {
  if (math_mirror(&op)) {
    const void *c = a;
    a = b, b = c;
    mode = mode == MATH_SV ? MATH_VS : mode == MATH_VS ? MATH_SV : MATH_VV;
  }
  const bool flags = op == MATH_OP_equal || op == MATH_OP_less || op == MATH_OP_less_equal;
  const bool shifted = type == MATH_U64 && int__is_ordered(op);
  const int out = flags ? MATH_U8 : type;
  const size_t width = math_type_width(type), out_width = math_type_width(out);
  uint64_t tiles[3][TILE];
  const void *operands[2] = {a, b};
  ptrdiff_t bad = -1;
  for (int o = 0; o < 2; o++) {
    if (mode != (o ? MATH_VS : MATH_SV)) continue;
    uint64_t value;
    memcpy(&value, int__load(tiles[2], operands[o], type, 1), sizeof value);
    for (size_t i = 0; i < TILE; i++) tiles[o][i] = shifted ? value ^ HALF : value;
  }
  for (size_t i = 0; i < n; i += TILE) {
    const size_t count = n - i < TILE ? n - i : TILE;
    const void *x[2] = {tiles[0], tiles[1]};
    for (int o = 0; o < 2; o++) {
      if (mode == (o ? MATH_VS : MATH_SV)) continue;
      x[o] = int__load(tiles[o], (const char *)operands[o] + i * width, type, count);
      if (!shifted) continue;
      if (x[o] != tiles[o]) memcpy(tiles[o], x[o], count * 8);
      int__shift(tiles[o], count);
      x[o] = tiles[o];
    }
    char *d = (char *)dst + i * out_width;
    const bool direct = out_width == 8 && !shifted;
    int64_t *y = direct ? (int64_t *)(void *)d : (int64_t *)tiles[2];
    const ptrdiff_t first = int__binary(op, type, y, x[0], x[1], count);
    if (first >= 0 && bad < 0) bad = (ptrdiff_t)i + first;
    if (shifted && !flags) int__shift(tiles[2], count);
    if (!direct) math_cast(d, out, y, MATH_I64, count, NULL);
  }
  return bad;
}

static int64_t int__clip(int64_t x, int64_t low, int64_t high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

static void int__unary_each(math_op op, int type, int64_t *d, const int64_t *s, size_t n,
                            const int64_t *bounds, const math_params *p) {
  const bool is_signed = int__is_signed(type);
  for (size_t i = 0; i < n; i++) {
    int64_t x = s[i];
    const bool negative = is_signed && x < 0;
    switch (op) {
    case MATH_OP_abs: x = negative ? (int64_t)(0 - (uint64_t)x) : x; break;
    case MATH_OP_neg: x = (int64_t)(0 - (uint64_t)x); break;
    case MATH_OP_sign: x = negative ? -1 : x != 0; break;
    case MATH_OP_relu: x = negative ? 0 : x; break;
    case MATH_OP_bitnot: x = ~x; break;
    case MATH_OP_clip: x = int__clip(x, bounds[0], bounds[1]); break;
    default: x = int__shrink(x, type, p->f[0], p->f[1]); break;
    }
    d[i] = x;
  }
}

void math_unary_int(math_op op, int type, void *dst, const void *src, size_t n, const math_params *p) {
  const size_t width = math_type_width(type);
  const bool shifted = type == MATH_U64 && op == MATH_OP_clip;
  uint64_t tile[TILE];
  int64_t bounds[2] = {0, 0};
  for (int b = 0; b < 2 && op == MATH_OP_clip; b++) {
    int64_t cut;
    math_cast(&cut, type, &p->i[b], MATH_I64, 1, NULL);
    memcpy(&bounds[b], int__load(tile, (const char *)&cut, type, 1), sizeof bounds[b]);
    if (shifted) bounds[b] = (int64_t)((uint64_t)bounds[b] ^ HALF);
  }
  for (size_t i = 0; i < n; i += TILE) {
    const size_t count = n - i < TILE ? n - i : TILE;
    math_cast(tile, width == 8 ? type : MATH_I64, (const char *)src + i * width, type, count, NULL);
    if (shifted) int__shift(tile, count);
    int__unary_each(op, type, (int64_t *)tile, (const int64_t *)tile, count, bounds, p);
    if (shifted) int__shift(tile, count);
    math_cast((char *)dst + i * width, type, tile, width == 8 ? type : MATH_I64, count, NULL);
  }
}
