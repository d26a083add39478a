/* Reductions of the types other than f32, arg max/min, running sums, and the choice among them. */
#include "reduce.h"
#include "reduce_kit.h"
#include "scalars.h"
#include "simd.h"

#include <string.h>

enum { TILE = 128 };

static const uint64_t HALF = (uint64_t)1 << 63;

/* A part of [n, inner] as 64-bit elements that hold every type's values: doubles, or integers, of uint64 with the upper bit
 * turned when they are to be ordered. Its columns are `width` adjacent ones; what short rows leave free holds more rows. */
typedef union reduce__tile {
  int64_t i[TILE];
  uint64_t u[TILE];
  double f[TILE];
} reduce__tile_of;

static void reduce__load(void *dst, bool as_double, const void *src, int type, size_t at, size_t n,
                         bool turned) {
  math_cast(dst,
            as_double          ? MATH_F64
            : type == MATH_U64 ? MATH_U64
                               : MATH_I64,
            (const char *)src + at * math_type_width(type), type, n, NULL);
  if (turned) {
    for (size_t i = 0; i < n; i++) ((uint64_t *)dst)[i] ^= HALF;
  }
}

static bool reduce__is_signed(int type) {
  return type == MATH_I8 || type == MATH_I16 || type == MATH_I32 || type == MATH_I64;
}

static bool reduce__is_number(int type) {
  return (type >= MATH_F32 && type <= MATH_I64) || type == MATH_BOOL || type == MATH_F64 ||
         type == MATH_U32 || type == MATH_U64;
}

/* The lowest value of an integer type (uint64: turned), or the highest: what a maximum or minimum starts from. */
static int64_t reduce__bound(int type, bool highest) {
  size_t bits = type == MATH_BOOL ? 1 : 8 * math_type_width(type);
  if (bits == 64) return highest ? INT64_MAX : INT64_MIN;
  bool is_signed = reduce__is_signed(type);
  if (!highest) return is_signed ? -((int64_t)1 << (bits - 1)) : 0;
  return ((int64_t)1 << (bits - is_signed)) - 1;
}

#define EACH(T, x, expression)                                                                         \
  _Pragma("clang loop vectorize(disable) unroll(disable)") for (size_t e = 0, j = 0; e < n;            \
                                                                e++, j = j + 1 == width ? 0 : j + 1) { \
    const T x = tile->x[e];                                                                            \
    expression;                                                                                        \
  }                                                                                                    \
  break;

static void reduce__join_ints(math_reduction r, bool is_signed, reduce__tile_of *acc,
                              const reduce__tile_of *tile, size_t n, size_t width) {
  switch (r) {
  case MATH_REDUCE_MAX: EACH(int64_t, i, acc->i[j] = i > acc->i[j] ? i : acc->i[j])
  case MATH_REDUCE_MIN: EACH(int64_t, i, acc->i[j] = i < acc->i[j] ? i : acc->i[j])
  case MATH_REDUCE_PROD: EACH(uint64_t, u, acc->u[j] *= u)
  case MATH_REDUCE_SUM_SQUARE: EACH(uint64_t, u, acc->u[j] += u * u)
  case MATH_REDUCE_L1: EACH(uint64_t, u, acc->u[j] += is_signed && u >> 63 ? 0 - u : u)
  default: EACH(uint64_t, u, acc->u[j] += u)
  }
}

static void reduce__join_doubles(math_reduction r, reduce__tile_of *acc, const double *largest,
                                 const reduce__tile_of *tile, size_t n, size_t width) {
  switch (r) {
  case MATH_REDUCE_MAX:
    EACH(double, f, if (acc->f[j] == acc->f[j] && (f != f || f > acc->f[j])) acc->f[j] = f)
  case MATH_REDUCE_MIN:
    EACH(double, f, if (acc->f[j] == acc->f[j] && (f != f || f < acc->f[j])) acc->f[j] = f)
  case MATH_REDUCE_PROD: EACH(double, f, acc->f[j] *= f)
  case MATH_REDUCE_SUM_SQUARE:
  case MATH_REDUCE_L2: EACH(double, f, acc->f[j] += f * f)
  case MATH_REDUCE_L1: EACH(double, f, acc->f[j] += f < 0 ? 0 - f : f)
  case MATH_REDUCE_LOG_SUM_EXP: EACH(double, f, acc->f[j] += math_exp(f - largest[j]))
  default: EACH(double, f, acc->f[j] += f)
  }
}

/* acc[j] = the reduction of column j, of `width` columns from `src`. */
static void reduce__columns(math_reduction r, int type, bool as_double, reduce__tile_of *acc,
                            const double *largest, const char *src, size_t n, size_t inner, size_t width) {
  const bool extreme = r == MATH_REDUCE_MAX || r == MATH_REDUCE_MIN;
  const size_t rows = width == inner ? TILE / width : 1;
  for (size_t j = 0; j < width; j++) {
    if (as_double) {
      acc->f[j] = r == MATH_REDUCE_PROD  ? 1
                  : r == MATH_REDUCE_MAX ? -(double)__builtin_inf()
                  : r == MATH_REDUCE_MIN ? (double)__builtin_inf()
                                         : 0;
    } else {
      acc->i[j] = extreme ? reduce__bound(type, r == MATH_REDUCE_MIN) : r == MATH_REDUCE_PROD;
    }
  }
  for (size_t i = 0; i < n; i += rows) {
    reduce__tile_of tile;
    size_t count = (n - i < rows ? n - i : rows) * width;
    reduce__load(&tile, as_double, src, type, i * inner, count, extreme && !as_double && type == MATH_U64);
    if (as_double) {
      reduce__join_doubles(r, acc, largest, &tile, count, width);
    } else {
      reduce__join_ints(r, reduce__is_signed(type), acc, &tile, count, width);
    }
  }
}

static double reduce__finish_double(math_reduction r, double total, double largest, size_t n) {
  switch (r) {
  case MATH_REDUCE_MEAN: return total / (double)n;
  case MATH_REDUCE_L2: return sqrt(total);
  case MATH_REDUCE_LOG_SUM: return math_log(total);
  case MATH_REDUCE_LOG_SUM_EXP: return n == 0 || largest - largest != 0 ? largest : largest + math_log(total);
  default: return total;
  }
}

static void reduce__any(math_reduction r, int type, char *dst, const char *src, size_t n, size_t inner,
                        size_t width) {
  reduce__tile_of acc, largest;
  const bool as_double = type == MATH_F64 || r == MATH_REDUCE_L2 || r == MATH_REDUCE_LOG_SUM_EXP;
  const int wide = type == MATH_U64 ? MATH_U64 : MATH_I64;
  for (size_t j = 0; j < width; j++) largest.f[j] = 0;
  if (r == MATH_REDUCE_LOG_SUM_EXP)
    reduce__columns(MATH_REDUCE_MAX, type, true, &largest, NULL, src, n, inner, width);
  reduce__columns(r, type, as_double, &acc, largest.f, src, n, inner, width);
  if (!as_double) {
    for (size_t j = 0; j < width; j++) {
      if ((r == MATH_REDUCE_MAX || r == MATH_REDUCE_MIN) && type == MATH_U64) acc.u[j] ^= HALF;
      if (r != MATH_REDUCE_MEAN) continue;
      if (n == 0) {
        acc.i[j] = 0;
      } else if (reduce__is_signed(type)) {
        acc.i[j] /= (int64_t)n;
      } else {
        acc.u[j] /= n;
      }
    }
    math_cast(dst, type, &acc, wide, width, NULL);
    if (r != MATH_REDUCE_LOG_SUM) return;
    math_cast(&acc, MATH_F64, dst, type, width, NULL);
  }
  for (size_t j = 0; j < width; j++) acc.f[j] = reduce__finish_double(r, acc.f[j], largest.f[j], n);
  math_cast(dst, type, &acc, MATH_F64, width, NULL);
}

bool math_reduce(math_reduction r, int type, void *dst, const void *src, size_t outer, size_t n,
                 size_t inner) {
  const size_t size = math_type_width(type);
  if (!reduce__is_number(type) || (size < 4 && r != MATH_REDUCE_MAX && r != MATH_REDUCE_MIN)) return false;
  if (type == MATH_F32) {
    math_reduce_f32(r, dst, src, outer, n, inner);
    return true;
  }
  char *d = dst;
  const char *s = src;
  for (size_t o = 0; o < outer; o++, s += n * inner * size) {
    for (size_t begin = 0, width; begin < inner; begin += width, d += width * size) {
      width = inner - begin < TILE ? inner - begin : TILE;
      reduce__any(r, type, d, s + begin * size, n, inner, width);
    }
  }
  return true;
}

math_reduce_passes math_reduce_steps(math_reduction r) {
  switch (r) {
  case MATH_REDUCE_SUM_SQUARE:
  case MATH_REDUCE_L1: return (math_reduce_passes){r, MATH_REDUCE_SUM, MATH_REDUCE_SUM};
  case MATH_REDUCE_LOG_SUM: return (math_reduce_passes){MATH_REDUCE_SUM, MATH_REDUCE_SUM, r};
  default: return (math_reduce_passes){r, r, r};
  }
}

/* A long contiguous row of floats: its extreme by the vector loop, then the place of it. */
static int64_t reduce__arg_row(const float *x, size_t n, bool largest, bool select_last) {
  float best;
  math_reduce_f32(largest ? MATH_REDUCE_MAX : MATH_REDUCE_MIN, &best, x, 1, n, 1);
  const f32x4 wanted = f32x4_splat(best);
  const bool nan = best != best;
  for (size_t step = 0; step < n; step += 4) {
    size_t i = select_last ? (n - 1) / 4 * 4 - step : step;
    if (n - i >= 4) {
      f32x4 v = f32x4_load(x + i);
      if (!i32x4_any(nan ? v != v : v == wanted)) continue;
    }
    for (size_t k = 0; k < 4; k++) {
      size_t j = select_last ? i + 3 - k : i + k;
      if (j < n && (nan ? x[j] != x[j] : x[j] == best)) return (int64_t)j;
    }
  }
  return 0;
}

/* Whether v takes the place of best: a larger (or smaller) one, NaN before all, later equals only if asked. */
static bool reduce__beats(double v, double best, bool largest, bool select_last) {
  if (v != v) return select_last || best == best;
  if (best != best) return false;
  if (v == best) return select_last;
  return largest ? v > best : v < best;
}

static void reduce__arg(int type, bool largest, bool select_last, int64_t *dst, const void *src, size_t n,
                        size_t inner, size_t width) {
  const bool as_double = type != MATH_I64 && type != MATH_U64;
  const size_t rows = width == inner ? TILE / width : 1;
  reduce__tile_of best, tile;
  memset(dst, 0, width * sizeof *dst);
  for (size_t i = 0; i < n; i += rows) {
    size_t count = (n - i < rows ? n - i : rows) * width;
    reduce__load(&tile, as_double, src, type, i * inner, count, type == MATH_U64);
    for (size_t e = 0; e < count; e++) {
      size_t j = e % width, row = i + e / width;
      bool wins = row == 0;
      if (as_double) {
        wins = wins || reduce__beats(tile.f[e], best.f[j], largest, select_last);
      } else if (!wins) {
        int64_t v = tile.i[e], b = best.i[j];
        wins = v == b ? select_last : (v > b) == largest;
      }
      if (!wins) continue;
      best.u[j] = tile.u[e];
      dst[j] = (int64_t)row;
    }
  }
}

bool math_arg_extreme(int type, bool largest, bool select_last, int64_t *dst, const void *src, size_t outer,
                      size_t n, size_t inner) {
  const size_t size = math_type_width(type);
  if (!reduce__is_number(type)) return false;
  const char *s = src;
  for (size_t o = 0; o < outer; o++, s += n * inner * size) {
    if (type == MATH_F32 && inner == 1 && n >= 16) {
      *dst++ = reduce__arg_row((const float *)(const void *)s, n, largest, select_last);
      continue;
    }
    for (size_t begin = 0, width; begin < inner; begin += width, dst += width) {
      width = inner - begin < TILE ? inner - begin : TILE;
      reduce__arg(type, largest, select_last, dst, s + begin * size, n, inner, width);
    }
  }
  return true;
}

#define CUMULATE(type, T)                                                                               \
  static void reduce__cumulate_##type(bool product, bool exclusive, bool reverse, T *dst, const T *src, \
                                      size_t outer, size_t n, size_t inner) {                           \
    T acc[TILE];                                                                                        \
    for (size_t o = 0; o < outer; o++, src += n * inner, dst += n * inner) {                            \
      for (size_t begin = 0; begin < inner; begin += TILE) {                                            \
        size_t width = inner - begin < TILE ? inner - begin : TILE;                                     \
        for (size_t j = 0; j < width; j++) acc[j] = product ? 1 : 0;                                    \
        for (size_t i = 0; i < n; i++) {                                                                \
          size_t row = (reverse ? n - 1 - i : i) * inner + begin;                                       \
          for (size_t j = 0; j < width; j++) {                                                          \
            T x = src[row + j], next = product ? acc[j] * x : acc[j] + x;                               \
            dst[row + j] = exclusive ? acc[j] : next;                                                   \
            acc[j] = next;                                                                              \
          }                                                                                             \
        }                                                                                               \
      }                                                                                                 \
    }                                                                                                   \
  }

CUMULATE(f32, float)
CUMULATE(f64, double)
CUMULATE(u32, uint32_t)
CUMULATE(u64, uint64_t)

bool math_cumulate(int type, bool product, bool exclusive, bool reverse, void *dst, const void *src,
                   size_t outer, size_t n, size_t inner) {
  switch (type) {
  case MATH_F32: reduce__cumulate_f32(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  case MATH_F64: reduce__cumulate_f64(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  case MATH_I32:
  case MATH_U32: reduce__cumulate_u32(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  case MATH_I64:
  case MATH_U64: reduce__cumulate_u64(product, exclusive, reverse, dst, src, outer, n, inner); return true;
  default: return false;
  }
}
