/* Small float formats: conversion of single elements and of rows. All conversions to a narrower format round to nearest
 * even. float4e2m1 and the float8 types are codes in a byte. */
#ifndef OPSPEC_FLOATS_H
#define OPSPEC_FLOATS_H

#include "loops.h"

#include <string.h>

static inline uint32_t math_f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float math_f32_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t math_f64_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double math_f64_from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

float math_f16_to_f32(uint16_t code);
uint16_t math_f32_to_f16(float x);
float math_bf16_to_f32(uint16_t code);
uint16_t math_f32_to_bf16(float x);

/* Any of the float types of math_type from and to double. Decoding is exact, encoding rounds once.
 * saturate: for the float8 types, out of range and infinity go to the largest number instead of NaN or infinity.
 * round (float8e8m0 only): 0 up, 1 down, 2 nearest with ties up. Other types give 0. */
double math_float_decode(int type, uint32_t code);
uint32_t math_float_encode(int type, double x, bool saturate, int round);

/* Rows; f16 and bf16 are the fast ones. dst and src must not overlap. */
void math_f32_from_f16(float *dst, const uint16_t *src, size_t n);
void math_f16_from_f32(uint16_t *dst, const float *src, size_t n);
void math_f32_from_bf16(float *dst, const uint16_t *src, size_t n);
void math_bf16_from_f32(uint16_t *dst, const float *src, size_t n);

/* Any float type (f64 included, rounded) to f32 and back; saturating. False when the type is not a float type. */
bool math_load_f32(float *dst, const void *src, int type, size_t n);
bool math_store_f32(void *dst, const float *src, int type, size_t n);

/* Packed sub-byte elements, first element in the low bits, as on the wire. bits: 2 or 4. n counts elements; a last partial
 * byte is padded with 0. Packed and unpacked memory must not overlap. Unsigned types and float4 codes are zero-extended. */
size_t math_packed_bytes(size_t n, int bits);
void math_unpack_bits(uint8_t *dst, const uint8_t *packed, size_t n, int bits, bool sign_extend);
void math_pack_bits(uint8_t *packed, const uint8_t *src, size_t n, int bits);

#endif
