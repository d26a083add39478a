/* Small float formats. One description a format serves the exact decoding and the once-rounded encoding of all of them; f16
 * and bf16 rows have loops of their own. */
#include "floats.h"

#include <math.h>

typedef struct float__format {
  uint8_t exponent_bits, fraction_bits;
  int16_t bias;
  uint16_t largest;  /* code of the largest finite number */
  uint16_t overflow; /* code of what is beyond, sign aside: infinity or NaN */
  uint16_t nan;
  bool signed_nan; /* NaN's code is the one of minus zero: no minus zero */
  bool has_infinity;
  bool always_saturates;
} float__format;

static const float__format FORMATS[MATH_TYPE_COUNT] = {
    [MATH_F16] = {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false, true, false},
    [MATH_BF16] = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false, true, false},
    [MATH_F8E4M3FN] = {4, 3, 7, 0x7e, 0x7f, 0x7f, false, false, false},
    [MATH_F8E4M3FNUZ] = {4, 3, 8, 0x7f, 0x80, 0x80, true, false, false},
    [MATH_F8E5M2] = {5, 2, 15, 0x7b, 0x7c, 0x7f, false, true, false},
    [MATH_F8E5M2FNUZ] = {5, 2, 16, 0x7f, 0x80, 0x80, true, false, false},
    [MATH_F4E2M1] = {2, 1, 1, 0x7, 0x7, 0x8, false, false, true},
};

static const double INFINITE = (double)__builtin_inf(), NOT_A_NUMBER = (double)__builtin_nan("");

static double float__pow2(int e) { return math_f64_from_bits((uint64_t)(e + 1023) << 52); }

double math_float_decode(int type, uint32_t code) {
  if (type == MATH_F8E8M0)
    return (code & 0xff) == 0xff ? NOT_A_NUMBER : float__pow2((int)(code & 0xff) - 127);
  if (type == MATH_F32) return (double)math_f32_from_bits(code);
  const float__format *f = &FORMATS[type];
  int width = 1 + f->exponent_bits + f->fraction_bits;
  uint32_t sign = code >> (width - 1) & 1, magnitude = code & ((1u << (width - 1)) - 1);
  if (f->signed_nan && sign && magnitude == 0) return NOT_A_NUMBER;
  if (magnitude > f->largest)
    return f->has_infinity && magnitude == f->overflow ? (sign ? -INFINITE : INFINITE) : NOT_A_NUMBER;
  uint32_t exponent = magnitude >> f->fraction_bits, fraction = magnitude & ((1u << f->fraction_bits) - 1);
  uint32_t significand = exponent ? fraction | 1u << f->fraction_bits : fraction;
  double value =
      (double)significand * float__pow2((int)(exponent ? exponent : 1) - f->bias - f->fraction_bits);
  return sign ? -value : value;
}

/* Powers of two only. Exponents below the range give 2^-127, above it 2^127 or NaN. */
static uint32_t float__encode_e8m0(double x, bool saturate, int round) {
  double a = fabs(x);
  if (!(a < INFINITE)) return 0xff;
  if (a <= float__pow2(-127)) return 0;
  uint64_t bits = math_f64_bits(a);
  int e = (int)(bits >> 52) - 1023;
  uint64_t fraction = bits & 0xfffffffffffffu;
  if (round == 0 ? fraction != 0 : round == 2 && fraction >= (uint64_t)1 << 51) e++;
  if (e > 127) return saturate ? 0xfe : 0xff;
  return (uint32_t)(e + 127);
}

uint32_t math_float_encode(int type, double x, bool saturate, int round) {
  if (type == MATH_F8E8M0) return float__encode_e8m0(x, saturate, round);
  if (type == MATH_F32) return math_f32_bits((float)x);
  const float__format *f = &FORMATS[type];
  if (x != x) return f->nan;
  uint32_t sign = (uint32_t)(math_f64_bits(x) >> 63) << (f->exponent_bits + f->fraction_bits);
  if (f->always_saturates) saturate = true;
  if (type == MATH_F16 || type == MATH_BF16) saturate = false;
  double a = fabs(x);
  uint32_t magnitude = f->overflow;
  if (a < float__pow2(200)) {
    int e = (int)(math_f64_bits(a) >> 52) - 1023, smallest = 1 - f->bias;
    if (e < smallest) e = smallest;
    /* Counting in units of the last place; a carry out of the significand lands in the exponent by itself. */
    double units = rint(a * float__pow2(f->fraction_bits - e));
    magnitude = ((uint32_t)(e - smallest) << f->fraction_bits) + (uint32_t)units;
  }
  if (magnitude > f->largest || a == INFINITE) {
    if (!saturate && f->signed_nan) return f->nan;
    magnitude = saturate ? f->largest : f->overflow;
  }
  if (magnitude == 0 && f->signed_nan) return 0;
  return sign | magnitude;
}

/* Normal halves move their exponent by 112. Subnormal ones are put behind the leading 1 of 2^-14, which is then taken off:
 * no subnormal float takes part, which processors are slow at. */
static inline float float__from_f16(uint16_t code) {
  uint32_t magnitude = (code & 0x7fffu) << 13, sign = (uint32_t)(code & 0x8000u) << 16;
  uint32_t small = math_f32_bits(math_f32_from_bits(magnitude + 0x38800000u) - 0x1p-14f);
  uint32_t large = magnitude + (magnitude >= 0x0f800000u ? 0x70000000u : 0x38000000u);
  return math_f32_from_bits(sign | (magnitude < 0x00800000u ? small : large));
}

/* Below the smallest normal half, adding 1/2 rounds at the right place and leaves the code in the low bits. */
static inline uint16_t float__to_f16(float x) {
  uint32_t bits = math_f32_bits(x), magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t small = math_f32_bits(math_f32_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t code = magnitude < 0x38800000u ? small : normal;
  code = magnitude >= 0x477ff000u ? 0x7c00u : code;
  uint32_t sign = bits >> 16 & 0x8000u;
  return (uint16_t)(magnitude > 0x7f800000u ? 0x7e00u : sign | code);
}

static inline float float__from_bf16(uint16_t code) { return math_f32_from_bits((uint32_t)code << 16); }

static inline uint16_t float__to_bf16(float x) {
  uint32_t bits = math_f32_bits(x);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

float math_f16_to_f32(uint16_t code) { return float__from_f16(code); }
uint16_t math_f32_to_f16(float x) { return float__to_f16(x); }
float math_bf16_to_f32(uint16_t code) { return float__from_bf16(code); }
uint16_t math_f32_to_bf16(float x) { return float__to_bf16(x); }

void math_f32_from_f16(float *restrict dst, const uint16_t *restrict src, size_t n) {
  for (size_t i = 0; i < n; i++) dst[i] = float__from_f16(src[i]);
}

void math_f16_from_f32(uint16_t *restrict dst, const float *restrict src, size_t n) {
  for (size_t i = 0; i < n; i++) dst[i] = float__to_f16(src[i]);
}

void math_f32_from_bf16(float *restrict dst, const uint16_t *restrict src, size_t n) {
  for (size_t i = 0; i < n; i++) dst[i] = float__from_bf16(src[i]);
}

void math_bf16_from_f32(uint16_t *restrict dst, const float *restrict src, size_t n) {
  for (size_t i = 0; i < n; i++) dst[i] = float__to_bf16(src[i]);
}

bool math_load_f32(float *dst, const void *src, int type, size_t n) {
  switch (type) {
  case MATH_F32: memcpy(dst, src, n * sizeof(float)); return true;
  case MATH_F16: math_f32_from_f16(dst, src, n); return true;
  case MATH_BF16: math_f32_from_bf16(dst, src, n); return true;
  case MATH_F64:
    for (size_t i = 0; i < n; i++) dst[i] = (float)((const double *)src)[i];
    return true;
  case MATH_F8E4M3FN:
  case MATH_F8E4M3FNUZ:
  case MATH_F8E5M2:
  case MATH_F8E5M2FNUZ:
  case MATH_F8E8M0:
  case MATH_F4E2M1:
    for (size_t i = 0; i < n; i++) dst[i] = (float)math_float_decode(type, ((const uint8_t *)src)[i]);
    return true;
  default: return false;
  }
}

bool math_store_f32(void *dst, const float *src, int type, size_t n) {
  switch (type) {
  case MATH_F32: memcpy(dst, src, n * sizeof(float)); return true;
  case MATH_F16: math_f16_from_f32(dst, src, n); return true;
  case MATH_BF16: math_bf16_from_f32(dst, src, n); return true;
  case MATH_F64:
    for (size_t i = 0; i < n; i++) ((double *)dst)[i] = (double)src[i];
    return true;
  case MATH_F8E4M3FN:
  case MATH_F8E4M3FNUZ:
  case MATH_F8E5M2:
  case MATH_F8E5M2FNUZ:
  case MATH_F8E8M0:
  case MATH_F4E2M1:
    for (size_t i = 0; i < n; i++)
      ((uint8_t *)dst)[i] = (uint8_t)math_float_encode(type, (double)src[i], true, 0);
    return true;
  default: return false;
  }
}

size_t math_packed_bytes(size_t n, int bits) {
  size_t per_byte = 8 / (size_t)bits;
  return n / per_byte + (n % per_byte != 0);
}

void math_unpack_bits(uint8_t *dst, const uint8_t *packed, size_t n, int bits, bool sign_extend) {
  const size_t per_byte = 8 / (size_t)bits;
  const unsigned mask = (1u << bits) - 1, sign = sign_extend ? 1u << (bits - 1) : 0;
  for (size_t i = 0; i < n; i++) {
    unsigned v = (unsigned)packed[i / per_byte] >> (i % per_byte * (size_t)bits) & mask;
    dst[i] = (uint8_t)((v ^ sign) - sign);
  }
}

void math_pack_bits(uint8_t *packed, const uint8_t *src, size_t n, int bits) {
  const size_t per_byte = 8 / (size_t)bits;
  const unsigned mask = (1u << bits) - 1;
  for (size_t i = 0; i < n; i += per_byte) {
    unsigned byte = 0;
    for (size_t j = 0; j < per_byte && i + j < n; j++) byte |= (src[i + j] & mask) << (j * (size_t)bits);
    packed[i / per_byte] = (uint8_t)byte;
  }
}
