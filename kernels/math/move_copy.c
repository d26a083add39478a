/* Strided copies by element width. Axes are merged until the copy is rows of bytes, a transposition of two axes, or a plain
 * strided loop, under a counter over the rest. */
#include "move.h"
#include "simd.h"

#include <string.h>

typedef struct move__wide {
  uint64_t half[2];
} move__wide;

void math_strides(size_t rank, const size_t *dims, ptrdiff_t *strides) {
  size_t step = 1;
  for (size_t d = rank; d-- > 0;) {
    strides[d] = (ptrdiff_t)step;
    step *= dims[d];
  }
}

void math_fill(void *dst, const void *value, size_t n, size_t width) {
  unsigned char pattern[64];
  if (width == 1) {
    memset(dst, *(const unsigned char *)value, n);
    return;
  }
  for (size_t i = 0; i < sizeof pattern; i += width) memcpy(pattern + i, value, width);
  unsigned char *d = dst;
  size_t bytes = n * width;
  for (; bytes >= sizeof pattern; bytes -= sizeof pattern, d += sizeof pattern)
    memcpy(d, pattern, sizeof pattern);
  memcpy(d, pattern, bytes);
}

ptrdiff_t math_gather_rows(void *dst, const void *src, const int64_t *indices, size_t count, size_t rows,
                           size_t row_bytes) {
  char *d = dst;
  const char *s = src;
  for (size_t i = 0; i < count; i++, d += row_bytes) {
    int64_t at = indices[i] < 0 ? indices[i] + (int64_t)rows : indices[i];
    if (at < 0 || at >= (int64_t)rows) return (ptrdiff_t)i;
    const char *row = s + (size_t)at * row_bytes;
    switch (row_bytes) {
    case 4: memcpy(d, row, 4); break;
    case 8: memcpy(d, row, 8); break;
    default: simd_copy(d, row, row_bytes); break;
    }
  }
  return -1;
}

/* Two axes of a copy: [0] the outer, [1] the inner; strides in bytes. */
typedef struct move__plane {
  size_t n[2];
  ptrdiff_t d[2], s[2];
} move__plane;

#define STRIDED(T)                                                       \
  for (size_t i = 0; i < p->n[0]; i++, dst += p->d[0], src += p->s[0]) { \
    char *d = dst;                                                       \
    const char *s = src;                                                 \
    for (size_t j = 0; j < p->n[1]; j++, d += p->d[1], s += p->s[1]) {   \
      T v;                                                               \
      memcpy(&v, s, sizeof v);                                           \
      memcpy(d, &v, sizeof v);                                           \
    }                                                                    \
  }

static void move__strided(const move__plane *p, char *dst, const char *src, size_t width) {
  switch (width) {
  case 1: STRIDED(uint8_t) break;
  case 2: STRIDED(uint16_t) break;
  case 4: STRIDED(uint32_t) break;
  case 8: STRIDED(uint64_t) break;
  default: STRIDED(move__wide) break;
  }
}

static void move__transpose_4x4(char *dst, ptrdiff_t d, const char *src, ptrdiff_t s) {
  f32x4 a = f32x4_load(src), b = f32x4_load(src + s), c = f32x4_load(src + 2 * s),
        e = f32x4_load(src + 3 * s);
  f32x4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
        ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  f32x4 ce_low = __builtin_shufflevector(c, e, 0, 4, 1, 5),
        ce_high = __builtin_shufflevector(c, e, 2, 6, 3, 7);
  f32x4_store(dst, __builtin_shufflevector(ab_low, ce_low, 0, 1, 4, 5));
  f32x4_store(dst + d, __builtin_shufflevector(ab_low, ce_low, 2, 3, 6, 7));
  f32x4_store(dst + 2 * d, __builtin_shufflevector(ab_high, ce_high, 0, 1, 4, 5));
  f32x4_store(dst + 3 * d, __builtin_shufflevector(ab_high, ce_high, 2, 3, 6, 7));
}

/* The outer axis is adjacent in src and the inner one in dst: in bands of 64 bytes of src, so that both sides use whole
 * cache lines. */
static void move__transpose(const move__plane *p, char *dst, const char *src, size_t width) {
  const size_t band = width < 64 ? 64 / width : 1;
  for (size_t i = 0; i < p->n[0]; i += band) {
    size_t rows = p->n[0] - i < band ? p->n[0] - i : band;
    char *d = dst + (ptrdiff_t)i * p->d[0];
    const char *s = src + (ptrdiff_t)i * p->s[0];
    size_t j = 0;
    if (width == 4) {
      for (; j + 4 <= p->n[1]; j += 4) {
        size_t r = 0;
        for (; r + 4 <= rows; r += 4) {
          move__transpose_4x4(d + (ptrdiff_t)r * p->d[0] + j * 4, p->d[0], s + (ptrdiff_t)j * p->s[1] + r * 4,
                              p->s[1]);
        }
        if (r < rows) {
          move__plane rest = {{rows - r, 4}, {p->d[0], 4}, {4, p->s[1]}};
          move__strided(&rest, d + (ptrdiff_t)r * p->d[0] + j * 4, s + (ptrdiff_t)j * p->s[1] + r * 4, 4);
        }
      }
    }
    for (; j < p->n[1]; j += 8) {
      size_t columns = p->n[1] - j < 8 ? p->n[1] - j : 8;
      move__plane part = {{rows, columns}, {p->d[0], p->d[1]}, {p->s[0], p->s[1]}};
      move__strided(&part, d + (ptrdiff_t)j * p->d[1], s + (ptrdiff_t)j * p->s[1], width);
    }
  }
}

static void move__plane_copy(const move__plane *p, char *dst, const char *src, size_t width) {
  const ptrdiff_t w = (ptrdiff_t)width;
  if (p->d[1] == w && p->s[1] == w && p->n[1] * width > 16) {
    for (size_t i = 0; i < p->n[0]; i++)
      simd_copy(dst + (ptrdiff_t)i * p->d[0], src + (ptrdiff_t)i * p->s[0], p->n[1] * width);
  } else if (p->d[1] == w && p->s[1] == 0 && p->n[1] > 4) {
    for (size_t i = 0; i < p->n[0]; i++)
      math_fill(dst + (ptrdiff_t)i * p->d[0], src + (ptrdiff_t)i * p->s[0], p->n[1], width);
  } else if (p->d[1] == w && p->s[0] == w && p->n[0] > 1) {
    move__transpose(p, dst, src, width);
  } else {
    move__strided(p, dst, src, width);
  }
}

/* Axes of a copy, strides in bytes. */
typedef struct move__axes {
  size_t rank;
  size_t n[MATH_RANK];
  ptrdiff_t d[MATH_RANK], s[MATH_RANK];
} move__axes;

/* Axes of length 1 go, neighbours that step alike on both sides become one. False if there is nothing to copy. */
static bool move__merge(move__axes *a, size_t width, size_t rank, const size_t *dims, const ptrdiff_t *ds,
                        const ptrdiff_t *ss) {
  a->rank = 0;
  for (size_t k = 0; k < rank; k++) {
    if (dims[k] == 0) return false;
    if (dims[k] == 1) continue;
    ptrdiff_t d = ds[k] * (ptrdiff_t)width, s = ss[k] * (ptrdiff_t)width, n = (ptrdiff_t)dims[k];
    size_t last = a->rank - 1;
    if (a->rank && a->d[last] == d * n && a->s[last] == s * n) {
      a->n[last] *= dims[k];
      a->d[last] = d;
      a->s[last] = s;
    } else {
      a->n[a->rank] = dims[k];
      a->d[a->rank] = d;
      a->s[a->rank++] = s;
    }
  }
  return true;
}

/* Pairs of adjacent elements are copied as one wider element. */
static size_t move__widen(move__axes *a, size_t width) {
  while (a->rank && width <= 8) {
    size_t last = a->rank - 1;
    ptrdiff_t w = (ptrdiff_t)width;
    if (a->d[last] != w || a->s[last] != w || a->n[last] % 2) break;
    if (a->n[last] * width > 16) break;
    width *= 2;
    a->n[last] /= 2;
    a->d[last] = a->s[last] = (ptrdiff_t)width;
    if (a->n[last] == 1) a->rank--;
  }
  return width;
}

/* The axis that is adjacent in src, if it is not the innermost, becomes the one before it: those two make a transposition. */
static void move__pair(move__axes *a, size_t width) {
  size_t last = a->rank - 1, k = last;
  while (k > 0 && a->s[k - 1] != (ptrdiff_t)width) k--;
  if (k == 0 || a->s[last] == (ptrdiff_t)width) return;
  size_t n = a->n[k - 1];
  ptrdiff_t d = a->d[k - 1], s = a->s[k - 1];
  for (size_t i = k - 1; i + 2 < a->rank; i++) {
    a->n[i] = a->n[i + 1];
    a->d[i] = a->d[i + 1];
    a->s[i] = a->s[i + 1];
  }
  a->n[last - 1] = n;
  a->d[last - 1] = d;
  a->s[last - 1] = s;
}

void math_copy_strided(void *dst, const void *src, size_t width, size_t rank, const size_t *dims,
                       const ptrdiff_t *dst_strides, const ptrdiff_t *src_strides) {
  move__axes a;
  if (!move__merge(&a, width, rank, dims, dst_strides, src_strides)) return;
  width = move__widen(&a, width);
  char *d = dst;
  const char *s = src;
  if (a.rank == 0) {
    memcpy(d, s, width);
    return;
  }
  move__pair(&a, width);
  move__plane plane = {{1, a.n[a.rank - 1]}, {0, a.d[a.rank - 1]}, {0, a.s[a.rank - 1]}};
  size_t outer = a.rank - 1;
  if (outer) {
    outer--;
    plane.n[0] = a.n[outer];
    plane.d[0] = a.d[outer];
    plane.s[0] = a.s[outer];
  }
  size_t index[MATH_RANK] = {0};
  for (;;) {
    move__plane_copy(&plane, d, s, width);
    size_t k = outer;
    while (k > 0) {
      k--;
      d += a.d[k];
      s += a.s[k];
      if (++index[k] < a.n[k]) break;
      d -= a.d[k] * (ptrdiff_t)a.n[k];
      s -= a.s[k] * (ptrdiff_t)a.n[k];
      index[k] = 0;
      if (k == 0) return;
    }
    if (outer == 0) return;
  }
}

void math_transpose(void *dst, const void *src, size_t width, size_t rank, const size_t *dims,
                    const size_t *perm) {
  size_t out[MATH_RANK];
  ptrdiff_t strides[MATH_RANK], ss[MATH_RANK], ds[MATH_RANK];
  math_strides(rank, dims, strides);
  for (size_t d = 0; d < rank; d++) {
    out[d] = dims[perm[d]];
    ss[d] = strides[perm[d]];
  }
  math_strides(rank, out, ds);
  math_copy_strided(dst, src, width, rank, out, ds, ss);
}
