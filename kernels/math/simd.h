/* Vectors of 16 bytes: the one file with wasm intrinsics.
 *
 * Arithmetic, comparison and shifts are the compiler's vector operators, which mean the same on every target; what has no
 * operator, or means something else elsewhere (minimum and maximum, rounding, saturating conversion), is a function here
 * with the semantics of the wasm instruction. Comparisons give lanes of 0 or -1. */
#ifndef OPSPEC_SIMD_H
#define OPSPEC_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#else
#include <math.h>
#endif

/* Hints to unroll or vectorise are wishes: sanitizers and lower levels of optimisation may refuse them. */
#pragma clang diagnostic ignored "-Wpass-failed"

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef int8_t i8x16 __attribute__((vector_size(16)));
typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef int64_t i64x2 __attribute__((vector_size(16)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef uint64_t u64x2 __attribute__((vector_size(16)));

#define SIMD_INLINE static inline __attribute__((always_inline, unused))

SIMD_INLINE f32x4 f32x4_load(const void *p) {
  f32x4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

SIMD_INLINE void f32x4_store(void *p, f32x4 v) { memcpy(p, &v, sizeof v); }

SIMD_INLINE i32x4 i32x4_load(const void *p) {
  i32x4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

SIMD_INLINE void i32x4_store(void *p, i32x4 v) { memcpy(p, &v, sizeof v); }

SIMD_INLINE i16x8 i16x8_load(const void *p) {
  i16x8 v;
  memcpy(&v, p, sizeof v);
  return v;
}

/* The first `count` (1 to 3) lanes; the others are 0. */
SIMD_INLINE f32x4 f32x4_load_part(const float *p, size_t count) {
  float lanes[4] = {0};
  for (size_t i = 0; i < count; i++) lanes[i] = p[i];
  return f32x4_load(lanes);
}

SIMD_INLINE void f32x4_store_part(float *p, f32x4 v, size_t count) {
  float lanes[4];
  f32x4_store(lanes, v);
  for (size_t i = 0; i < count; i++) p[i] = lanes[i];
}

SIMD_INLINE f32x4 f32x4_splat(float x) { return (f32x4){x, x, x, x}; }
SIMD_INLINE f64x2 f64x2_splat(double x) { return (f64x2){x, x}; }
SIMD_INLINE i32x4 i32x4_splat(int32_t x) { return (i32x4){x, x, x, x}; }

/* mask lane -1: yes, 0: no. */
SIMD_INLINE f32x4 f32x4_select(i32x4 mask, f32x4 yes, f32x4 no) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_v128_bitselect((v128_t)yes, (v128_t)no, (v128_t)mask);
#else
  return (f32x4)((mask & (i32x4)yes) | (~mask & (i32x4)no));
#endif
}

SIMD_INLINE i32x4 i32x4_select(i32x4 mask, i32x4 yes, i32x4 no) {
  return (i32x4)f32x4_select(mask, (f32x4)yes, (f32x4)no);
}

SIMD_INLINE int i32x4_any(i32x4 mask) {
#ifdef __wasm_simd128__
  return wasm_v128_any_true((v128_t)mask);
#else
  u64x2 m = (u64x2)mask;
  return (m[0] | m[1]) != 0;
#endif
}

SIMD_INLINE u8x16 u8x16_load(const void *p) {
  u8x16 v;
  memcpy(&v, p, sizeof v);
  return v;
}

/* The highest bit of each lane, that of the first lane lowest. */
SIMD_INLINE uint32_t u8x16_highs(u8x16 v) {
#ifdef __wasm_simd128__
  return wasm_i8x16_bitmask((v128_t)v);
#elif defined __SSE2__
  return (uint32_t)__builtin_ia32_pmovmskb128((__attribute__((vector_size(16))) char)v);
#else
  u64x2 m = ((u64x2)v >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56;
  return (uint32_t)(m[0] | m[1] << 8);
#endif
}

SIMD_INLINE f32x4 f32x4_abs(f32x4 x) { return (f32x4)((i32x4)x & 0x7fffffff); }

/* b < a ? b : a, and a < b ? b : a: a when either is NaN, a when both are zeros. One instruction on most machines. */
SIMD_INLINE f32x4 f32x4_pmin(f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_pmin((v128_t)a, (v128_t)b);
#else
  return f32x4_select(b < a, b, a);
#endif
}

SIMD_INLINE f32x4 f32x4_pmax(f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_pmax((v128_t)a, (v128_t)b);
#else
  return f32x4_select(a < b, b, a);
#endif
}

/* NaN when either is, -0 below +0. */
SIMD_INLINE f32x4 f32x4_min(f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_min((v128_t)a, (v128_t)b);
#else
  f32x4 r = f32x4_select(a < b, a, b);
  r = f32x4_select(a == b, (f32x4)((i32x4)a | (i32x4)b), r);
  return f32x4_select((a == a) & (b == b), r, a + b);
#endif
}

SIMD_INLINE f32x4 f32x4_max(f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_max((v128_t)a, (v128_t)b);
#else
  f32x4 r = f32x4_select(a > b, a, b);
  r = f32x4_select(a == b, (f32x4)((i32x4)a & (i32x4)b), r);
  return f32x4_select((a == a) & (b == b), r, a + b);
#endif
}

#ifdef __wasm_simd128__
SIMD_INLINE f32x4 f32x4_sqrt(f32x4 x) { return (f32x4)wasm_f32x4_sqrt((v128_t)x); }
SIMD_INLINE f32x4 f32x4_floor(f32x4 x) { return (f32x4)wasm_f32x4_floor((v128_t)x); }
SIMD_INLINE f32x4 f32x4_ceil(f32x4 x) { return (f32x4)wasm_f32x4_ceil((v128_t)x); }
SIMD_INLINE f32x4 f32x4_trunc(f32x4 x) { return (f32x4)wasm_f32x4_trunc((v128_t)x); }
SIMD_INLINE f32x4 f32x4_nearest(f32x4 x) { return (f32x4)wasm_f32x4_nearest((v128_t)x); }
SIMD_INLINE i32x4 i32x4_trunc_sat(f32x4 x) { return (i32x4)wasm_i32x4_trunc_sat_f32x4((v128_t)x); }
SIMD_INLINE i32x4 i32x4_dot_i16x8(i16x8 a, i16x8 b) {
  return (i32x4)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b);
}
#else
SIMD_INLINE f32x4 f32x4_sqrt(f32x4 x) { return (f32x4){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])}; }
SIMD_INLINE f32x4 f32x4_floor(f32x4 x) {
  return (f32x4){floorf(x[0]), floorf(x[1]), floorf(x[2]), floorf(x[3])};
}
SIMD_INLINE f32x4 f32x4_ceil(f32x4 x) { return (f32x4){ceilf(x[0]), ceilf(x[1]), ceilf(x[2]), ceilf(x[3])}; }
SIMD_INLINE f32x4 f32x4_trunc(f32x4 x) {
  return (f32x4){truncf(x[0]), truncf(x[1]), truncf(x[2]), truncf(x[3])};
}
SIMD_INLINE f32x4 f32x4_nearest(f32x4 x) {
  return (f32x4){rintf(x[0]), rintf(x[1]), rintf(x[2]), rintf(x[3])};
}

SIMD_INLINE int32_t simd__trunc_sat(float x) {
  if (!(x == x)) return 0;
  if (x >= 2147483648.0f) return INT32_MAX;
  if (x <= -2147483648.0f) return INT32_MIN;
  return (int32_t)x;
}

/* NaN gives 0, out of range saturates. */
SIMD_INLINE i32x4 i32x4_trunc_sat(f32x4 x) {
  return (i32x4){simd__trunc_sat(x[0]), simd__trunc_sat(x[1]), simd__trunc_sat(x[2]), simd__trunc_sat(x[3])};
}

/* Lane i: a[2i] b[2i] + a[2i+1] b[2i+1], wrapping. */
SIMD_INLINE i32x4 i32x4_dot_i16x8(i16x8 a, i16x8 b) {
  i32x4 r;
  for (int i = 0; i < 4; i++) {
    r[i] = (int32_t)((uint32_t)(a[2 * i] * b[2 * i]) + (uint32_t)(a[2 * i + 1] * b[2 * i + 1]));
  }
  return r;
}
#endif

/* x * y + z: two roundings, or one in relaxed builds. */
SIMD_INLINE f32x4 f32x4_madd(f32x4 x, f32x4 y, f32x4 z) {
#if defined(OPSPEC_RELAXED_SIMD) && defined(__wasm_relaxed_simd__)
  return (f32x4)wasm_f32x4_relaxed_madd((v128_t)x, (v128_t)y, (v128_t)z);
#else
  return x * y + z;
#endif
}

SIMD_INLINE f64x2 f64x2_from_low(f32x4 x) { return (f64x2){(double)x[0], (double)x[1]}; }
SIMD_INLINE f64x2 f64x2_from_high(f32x4 x) { return (f64x2){(double)x[2], (double)x[3]}; }
SIMD_INLINE f32x4 f32x4_from_f64x2(f64x2 low, f64x2 high) {
  return (f32x4){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}

SIMD_INLINE f32x4 f32x4_from_i32x4(i32x4 x) { return __builtin_convertvector(x, f32x4); }

/* memcpy and memset for the lengths of rows: a call costs more there than the copy. The empty asm keeps the compiler from
 * making a call of the loop again. */
SIMD_INLINE void simd_copy(void *dst, const void *src, size_t bytes) {
  if (bytes >= 2048) {
    memcpy(dst, src, bytes);
    return;
  }
  char *d = dst;
  const char *s = src;
  for (; bytes >= 16; bytes -= 16, d += 16, s += 16) {
    f32x4_store(d, f32x4_load(s));
    __asm__ volatile("");
  }
  if (bytes & 8) {
    memcpy(d, s, 8);
    d += 8, s += 8;
  }
  if (bytes & 4) {
    memcpy(d, s, 4);
    d += 4, s += 4;
  }
  for (bytes &= 3; bytes; bytes--) {
    *d++ = *s++;
    __asm__ volatile("");
  }
}

SIMD_INLINE void simd_fill(float *dst, float value, size_t n) {
  const f32x4 v = {value, value, value, value};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    f32x4_store(dst + i, v);
    __asm__ volatile("");
  }
  for (; i < n; i++) {
    dst[i] = value;
    __asm__ volatile("");
  }
}

/* ((x0 + x2) + (x1 + x3)): the order that every horizontal sum here uses. */
SIMD_INLINE float f32x4_sum(f32x4 x) { return (x[0] + x[2]) + (x[1] + x[3]); }

#endif
