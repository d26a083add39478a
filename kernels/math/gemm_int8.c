/* Integer product of bytes. Zero points are subtracted while packing, which takes nine bits: operands are packed as pairs of
 * int16, two steps of depth side by side, for the instruction that multiplies and adds such pairs into int32. */
#include "gemm.h"
#include "simd.h"

#include <string.h>

enum { MR = 4, NR = 8, MC = 64, PAIRS = 256 }; /* PAIRS: depth of a block, in pairs */

static size_t int8__pairs(size_t k) { return (k + 1) / 2; }

static int32_t int8__value(const void *p, ptrdiff_t at, bool is_signed) {
  return is_signed ? ((const int8_t *)p)[at] : ((const uint8_t *)p)[at];
}

size_t math_gemm_int8_packed_b_bytes(size_t k, size_t n) {
  return (n + NR - 1) / NR * NR * int8__pairs(k) * 2 * sizeof(int16_t);
}

void math_gemm_int8_pack_b(void *packed, const void *b, bool b_signed, ptrdiff_t row_stride,
                           ptrdiff_t col_stride, const void *b_zero, ptrdiff_t b_zero_stride, size_t k,
                           size_t n) {
  int16_t *dst = packed;
  for (size_t j = 0; j < n; j += NR) {
    for (size_t p = 0; p < int8__pairs(k) * 2; p += 2) {
      for (size_t c = 0; c < NR; c++) {
        for (size_t h = 0; h < 2; h++) {
          int32_t v = 0;
          if (j + c < n && p + h < k) {
            ptrdiff_t column = (ptrdiff_t)(j + c);
            v = int8__value(b, (ptrdiff_t)(p + h) * row_stride + column * col_stride, b_signed);
            if (b_zero) v -= int8__value(b_zero, column * b_zero_stride, b_signed);
          }
          *dst++ = (int16_t)v;
        }
      }
    }
  }
}

size_t math_gemm_int8_scratch_bytes(size_t m, size_t n, size_t k) {
  (void)n;
  size_t rows = m < MC ? (m + MR - 1) / MR * MR : MC;
  size_t depth = int8__pairs(k) < PAIRS ? int8__pairs(k) : PAIRS;
  return rows * depth * 2 * sizeof(int16_t);
}

/* `pairs` pairs of adjacent bytes less zero, each pair to one int32 slot every MR. */
#define PACK_ROW(name, T)                                                                   \
  static void int8__pack_row_##name(int16_t *out, const T *a, int32_t zero, size_t pairs) { \
    for (size_t p = 0; p < pairs; p++, a += 2, out += MR * 2) {                             \
      out[0] = (int16_t)(a[0] - zero);                                                      \
      out[1] = (int16_t)(a[1] - zero);                                                      \
    }                                                                                       \
  }
PACK_ROW(i8, int8_t)
PACK_ROW(u8, uint8_t)

/* One row of a strip: whole pairs by the fast loop when they are adjacent, otherwise byte by byte with zeros past the end. */
static void int8__pack_row(int16_t *out, const math_gemm_int8 *g, ptrdiff_t row, size_t pair, size_t pairs) {
  int32_t zero = g->a_zero ? int8__value(g->a_zero, row * g->a_zero_stride, g->a_signed) : 0;
  size_t whole = g->k / 2 > pair ? g->k / 2 - pair : 0, p = 0;
  if (g->a_col_stride == 1) {
    const char *a = (const char *)g->a + row * g->a_row_stride + (ptrdiff_t)pair * 2;
    p = whole < pairs ? whole : pairs;
    if (g->a_signed) {
      int8__pack_row_i8(out, (const int8_t *)a, zero, p);
    } else {
      int8__pack_row_u8(out, (const uint8_t *)a, zero, p);
    }
    out += p * MR * 2;
  }
  for (; p < pairs; p++, out += MR * 2) {
    for (size_t h = 0; h < 2; h++) {
      size_t at = (pair + p) * 2 + h;
      ptrdiff_t from = row * g->a_row_stride + (ptrdiff_t)at * g->a_col_stride;
      out[h] = at < g->k ? (int16_t)(int8__value(g->a, from, g->a_signed) - zero) : 0;
    }
  }
}

/* Strips of MR rows (zeros below the last), each step of depth an adjacent pair. */
static void int8__pack_a(int16_t *dst, const math_gemm_int8 *g, size_t row, size_t rows, size_t pair,
                         size_t pairs) {
  for (size_t i = 0; i < rows; i += MR, dst += MR * pairs * 2) {
    for (size_t r = 0; r < MR; r++) {
      if (i + r < rows) {
        int8__pack_row(dst + r * 2, g, (ptrdiff_t)(row + i + r), pair, pairs);
      } else {
        for (size_t p = 0; p < pairs; p++) memset(dst + (p * MR + r) * 2, 0, 2 * sizeof(int16_t));
      }
    }
  }
}

static void int8__tile(size_t pairs, const int16_t *a, const int16_t *b, int32_t *c, ptrdiff_t c_stride,
                       bool add, size_t rows, size_t width) {
  i32x4 acc[MR][2] = {{{0}}};
#pragma clang loop unroll_count(2)
  for (size_t p = 0; p < pairs; p++, a += MR * 2, b += NR * 2) {
    i16x8 b0 = i16x8_load(b), b1 = i16x8_load(b + 8);
#pragma clang loop unroll(full)
    for (int r = 0; r < MR; r++) {
      int32_t both;
      memcpy(&both, a + r * 2, sizeof both);
      i16x8 x = (i16x8)i32x4_splat(both);
      acc[r][0] += i32x4_dot_i16x8(x, b0);
      acc[r][1] += i32x4_dot_i16x8(x, b1);
    }
  }
#pragma clang loop unroll(full)
  for (size_t r = 0; r < MR; r++, c += c_stride) {
    if (r >= rows) break;
    if (width == NR) {
      i32x4_store(c, add ? i32x4_load(c) + acc[r][0] : acc[r][0]);
      i32x4_store(c + 4, add ? i32x4_load(c + 4) + acc[r][1] : acc[r][1]);
      continue;
    }
    uint32_t out[NR];
    i32x4_store(out, acc[r][0]);
    i32x4_store(out + 4, acc[r][1]);
    for (size_t j = 0; j < width; j++) c[j] = (int32_t)((add ? (uint32_t)c[j] : 0) + out[j]);
  }
}

void math_gemm_int8_run(const math_gemm_int8 *g, size_t row_begin, size_t row_end, void *scratch) {
  size_t pairs = int8__pairs(g->k);
  if (pairs == 0) {
    for (size_t i = row_begin; i < row_end; i++)
      memset(g->c + (ptrdiff_t)i * g->c_row_stride, 0, g->n * sizeof(int32_t));
  }
  for (size_t i = row_begin; i < row_end; i += MC) {
    size_t rows = row_end - i < MC ? row_end - i : MC;
    for (size_t p = 0; p < pairs; p += PAIRS) {
      size_t depth = pairs - p < PAIRS ? pairs - p : PAIRS;
      int8__pack_a(scratch, g, i, rows, p, depth);
      for (size_t j = 0; j < g->n; j += NR) {
        const int16_t *panel = (const int16_t *)g->b_packed + (j * pairs + p * NR) * 2;
        size_t width = g->n - j < NR ? g->n - j : NR;
        for (size_t r = 0; r < rows; r += MR) {
          int32_t *c = g->c + (ptrdiff_t)(i + r) * g->c_row_stride + j;
          int8__tile(depth, (const int16_t *)scratch + r * depth * 2, panel, c, g->c_row_stride, p > 0,
                     rows - r < MR ? rows - r : MR, width);
        }
      }
    }
  }
}
