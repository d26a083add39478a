/* Products of the rarer types: rows of b are added to a row of c, a tile of columns at a time. */
#include "gemm.h"

#include <string.h>

enum { COLUMNS = 64 };

#define MATMUL(name, T)                                                                        \
  static void plain__##name(T *c, ptrdiff_t c_row_stride, const T *a, ptrdiff_t a_row_stride,  \
                            ptrdiff_t a_col_stride, const T *b, ptrdiff_t b_row_stride,        \
                            ptrdiff_t b_col_stride, size_t m, size_t n, size_t k) {            \
    for (size_t i = 0; i < m; i++, a += a_row_stride, c += c_row_stride) {                     \
      for (size_t j = 0; j < n; j += COLUMNS) {                                                \
        size_t width = n - j < COLUMNS ? n - j : COLUMNS;                                      \
        T sum[COLUMNS] = {0};                                                                  \
        for (size_t p = 0; p < k; p++) {                                                       \
          const T x = a[(ptrdiff_t)p * a_col_stride];                                          \
          const T *row = b + (ptrdiff_t)p * b_row_stride + (ptrdiff_t)j * b_col_stride;        \
          if (b_col_stride == 1) {                                                             \
            for (size_t q = 0; q < width; q++) sum[q] += x * row[q];                           \
          } else {                                                                             \
            for (size_t q = 0; q < width; q++) sum[q] += x * row[(ptrdiff_t)q * b_col_stride]; \
          }                                                                                    \
        }                                                                                      \
        memcpy(c + j, sum, width * sizeof(T));                                                 \
      }                                                                                        \
    }                                                                                          \
  }

MATMUL(f64, double)
MATMUL(u32, uint32_t)
MATMUL(u64, uint64_t)

bool math_matmul(int type, void *c, ptrdiff_t c_row_stride, const void *a, ptrdiff_t a_row_stride,
                 ptrdiff_t a_col_stride, const void *b, ptrdiff_t b_row_stride, ptrdiff_t b_col_stride,
                 size_t m, size_t n, size_t k) {
  switch (type) {
  case MATH_F64:
    plain__f64(c, c_row_stride, a, a_row_stride, a_col_stride, b, b_row_stride, b_col_stride, m, n, k);
    return true;
  case MATH_I32:
  case MATH_U32:
    plain__u32(c, c_row_stride, a, a_row_stride, a_col_stride, b, b_row_stride, b_col_stride, m, n, k);
    return true;
  case MATH_I64:
  case MATH_U64:
    plain__u64(c, c_row_stride, a, a_row_stride, a_col_stride, b, b_row_stride, b_col_stride, m, n, k);
    return true;
  default: return false;
  }
}
