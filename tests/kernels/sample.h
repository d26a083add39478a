#ifndef OS_SAMPLE_H
#define OS_SAMPLE_H

// Random operands with the values that break kernels mixed in, and distances in units in the last place.

#include "floats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sample_random {
  uint64_t state;
} sample_random;

// The seed is printed, and taken from the first argument of the program when there is one.
static inline sample_random sample_begin(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20240229;
  printf("seed %llu\n", (unsigned long long)seed);
  return (sample_random){seed * 2654435761u + 88172645463325252u};
}

static inline uint64_t sample_bits(sample_random *r) {
  r->state ^= r->state << 13;
  r->state ^= r->state >> 7;
  r->state ^= r->state << 17;
  return r->state * 0x2545f4914f6cdd1du;
}

static inline size_t sample_below(sample_random *r, size_t n) { return (size_t)((sample_bits(r) >> 11) % n); }

static inline double sample_uniform(sample_random *r, double low, double high) {
  return low + (high - low) * ((double)(sample_bits(r) >> 11) * 0x1p-53);
}

static inline double sample_double(sample_random *r) {
  static const double special[] = {0,      -0.0,   1,       -1,     0.5,    -0.5, 2,     -2,   3,
                                   1e-30,  -1e-30, 88.7,    -88.7,  -104,   710,  -746,  1e10, -1e10,
                                   0x1p23, 0x1p31, -0x1p31, 0x1p32, 0x1p63, 1e38, -1e38, 6.5};
  size_t kind = sample_below(r, 16);
  if (kind == 0) return (double)NAN;
  if (kind == 1) return sample_below(r, 2) ? (double)INFINITY : -(double)INFINITY;
  if (kind <= 4) return special[sample_below(r, sizeof special / sizeof *special)];
  if (kind <= 6) return (double)math_f32_from_bits((uint32_t)sample_bits(r));
  if (kind == 7) return rint(sample_uniform(r, -20, 20));
  if (kind == 8) return sample_uniform(r, -1, 1);
  return sample_uniform(r, -12, 12);
}

static inline uint64_t sample_integer(sample_random *r) {
  static const int64_t special[] = {0,         1,          -1,        2,        -2,    127,
                                    -128,      255,        32767,     -32768,   65535, INT32_MAX,
                                    INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
  size_t kind = sample_below(r, 4);
  if (kind == 0) return (uint64_t)special[sample_below(r, sizeof special / sizeof *special)];
  if (kind == 1) return sample_bits(r);
  return (uint64_t)((int64_t)sample_below(r, 41) - 20);
}

// n elements of any element type.
static inline void sample_fill(sample_random *r, int type, void *dst, size_t n) {
  size_t width = math_type_width(type);
  for (size_t i = 0; i < n; i++) {
    char *d = (char *)dst + i * width;
    uint64_t bits = sample_integer(r);
    double x = sample_double(r);
    float single = (float)x;
    switch (type) {
    case MATH_F32: memcpy(d, &single, 4); break;
    case MATH_F64: memcpy(d, &x, 8); break;
    case MATH_BOOL: *d = (char)(bits & 1); break;
    case MATH_U4: *d = (char)(bits & 15); break;
    case MATH_U2: *d = (char)(bits & 3); break;
    case MATH_I4: *d = (char)((int)(bits & 15) - 8); break;
    case MATH_I2: *d = (char)((int)(bits & 3) - 2); break;
    case MATH_F4E2M1: *d = (char)(bits & 15); break;
    case MATH_F16:
    case MATH_BF16: {
      uint16_t code = (uint16_t)math_float_encode(type, x, false, 0);
      memcpy(d, &code, 2);
      break;
    }
    default: memcpy(d, &bits, width); break;
    }
  }
}

static inline void sample_floats(sample_random *r, float *dst, size_t n, double low, double high) {
  for (size_t i = 0; i < n; i++) dst[i] = (float)sample_uniform(r, low, high);
}

static inline void *sample_alloc(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!p) abort();
  return p;
}

// Distance from want in units in the last place of the float (double) nearest to want; 0 when both are NaN, or the same.
static inline double sample_ulp_f32(float got, double want) {
  if (want != want) return got != got ? 0 : HUGE_VAL;
  float nearest = (float)want;
  if (got == nearest)
    return fabs((double)nearest) < HUGE_VAL
               ? fabs((double)got - want) /
                     ((double)nextafterf(fabsf(nearest), INFINITY) - (double)fabsf(nearest))
               : 0;
  if (!isfinite(nearest) || !isfinite(got)) return HUGE_VAL;
  return fabs((double)got - want) / ((double)nextafterf(fabsf(nearest), INFINITY) - (double)fabsf(nearest));
}

static inline double sample_ulp_f64(double got, double want) {
  if (want != want) return got != got ? 0 : HUGE_VAL;
  if (got == want) return 0;
  if (!isfinite(want) || !isfinite(got)) return HUGE_VAL;
  return fabs(got - want) / (nextafter(fabs(want), HUGE_VAL) - fabs(want));
}

#endif
