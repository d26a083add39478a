#include "scalar.h"

#include "decimal.h"
#include "format.h"
#include "json_write.h"

#include <math.h>
#include <stdlib.h>

// How a float of up to 16 bits is laid out: sign (if any), exponent, fraction.
typedef struct os_scalar__format {
  uint8_t bits, exponent, fraction;
  int16_t bias;
  enum { OS_SCALAR_IEEE, OS_SCALAR_FN, OS_SCALAR_FNUZ, OS_SCALAR_FINITE, OS_SCALAR_SCALE } kind;
} os_scalar__format;

static const os_scalar__format os_scalar__formats[OP_ELEM_COUNT] = {
    [OP_FLOAT16] = {16, 5, 10, 15, OS_SCALAR_IEEE},   [OP_BFLOAT16] = {16, 8, 7, 127, OS_SCALAR_IEEE},
    [OP_FLOAT8E4M3FN] = {8, 4, 3, 7, OS_SCALAR_FN},   [OP_FLOAT8E4M3FNUZ] = {8, 4, 3, 8, OS_SCALAR_FNUZ},
    [OP_FLOAT8E5M2] = {8, 5, 2, 15, OS_SCALAR_IEEE},  [OP_FLOAT8E5M2FNUZ] = {8, 5, 2, 16, OS_SCALAR_FNUZ},
    [OP_FLOAT4E2M1] = {4, 2, 1, 1, OS_SCALAR_FINITE}, [OP_FLOAT8E8M0] = {8, 8, 0, 127, OS_SCALAR_SCALE},
};

bool os_scalar_is_float(op_elem elem) {
  return elem == OP_FLOAT || elem == OP_DOUBLE || elem == OP_COMPLEX64 || elem == OP_COMPLEX128 ||
         os_scalar__formats[elem].bits > 0;
}

op_elem os_scalar_part(op_elem elem) {
  return elem == OP_COMPLEX64 ? OP_FLOAT : elem == OP_COMPLEX128 ? OP_DOUBLE : elem;
}

static uint32_t os_scalar__bits(const os_scalar__format *format, const void *data, int64_t index) {
  return format->bits == 16 ? ((const uint16_t *)data)[index] : ((const uint8_t *)data)[index];
}

static double os_scalar__decode(const os_scalar__format *format, uint32_t bits) {
  if (format->kind == OS_SCALAR_SCALE) return bits == 255 ? (double)NAN : ldexp(1.0, (int)bits - 127);
  uint32_t magnitude = bits & ((1u << (format->bits - 1)) - 1);
  uint32_t sign = bits >> (format->bits - 1) & 1;
  uint32_t fraction = magnitude & ((1u << format->fraction) - 1);
  uint32_t exponent = magnitude >> format->fraction;
  uint32_t top = (1u << format->exponent) - 1;
  if (format->kind == OS_SCALAR_IEEE && exponent == top)
    return fraction != 0 ? (double)NAN : sign != 0 ? -(double)INFINITY : (double)INFINITY;
  if (format->kind == OS_SCALAR_FN && magnitude == (1u << (format->bits - 1)) - 1) return (double)NAN;
  if (format->kind == OS_SCALAR_FNUZ && sign != 0 && magnitude == 0) return (double)NAN;
  double value = exponent == 0 ? ldexp((double)fraction, 1 - format->bias - format->fraction)
                               : ldexp((double)(fraction | 1u << format->fraction),
                                       (int)exponent - format->bias - format->fraction);
  return sign != 0 ? -value : value;
}

// Largest magnitude bits that are a finite number.
static uint32_t os_scalar__largest(const os_scalar__format *format) {
  uint32_t all = (1u << (format->bits - 1)) - 1;
  if (format->kind == OS_SCALAR_IEEE) return all - (1u << format->fraction);
  return format->kind == OS_SCALAR_FN ? all - 1 : all;
}

static uint32_t os_scalar__scale(double value) {
  if (!(value > 0)) return 255;
  int exponent;
  double half = frexp(value, &exponent); // value = half * 2^exponent, half in [0.5, 1)
  int power = exponent - 1 + (half > 0.75 || (half == 0.75 && ((exponent - 1) & 1) != 0) ? 1 : 0);
  return (uint32_t)(power < -127 ? 0 : power > 127 ? 254 : power + 127);
}

static uint32_t os_scalar__encode(const os_scalar__format *format, double value) {
  if (format->kind == OS_SCALAR_SCALE) return os_scalar__scale(value);
  uint32_t sign = signbit(value) ? 1u << (format->bits - 1) : 0;
  uint32_t largest = os_scalar__largest(format);
  if (isnan(value)) {
    if (format->kind == OS_SCALAR_FNUZ) return 1u << (format->bits - 1);
    if (format->kind == OS_SCALAR_FINITE) return 0;
    return format->kind == OS_SCALAR_FN ? largest + 1 : largest + 1 + (1u << (format->fraction - 1));
  }
  double magnitude = fabs(value);
  uint32_t beyond = format->kind == OS_SCALAR_IEEE ? largest + 1 : largest;
  if (isinf(magnitude)) return sign | beyond;
  int exponent;
  (void)frexp(magnitude, &exponent);
  int step = magnitude == 0 || exponent - 1 < 1 - format->bias ? 1 - format->bias : exponent - 1;
  double units = nearbyint(ldexp(magnitude, format->fraction - step)); // in units of the last place
  uint32_t bits;
  if (units > (double)(4u << format->fraction)) {
    bits = beyond;
  } else {
    // A sum, so that rounding up to the next power of two carries into the exponent.
    bits = ((uint32_t)(step + format->bias - 1) << format->fraction) + (uint32_t)units;
    if (step + format->bias > (1 << format->exponent) || bits > largest) bits = beyond;
  }
  if (bits == 0 && format->kind == OS_SCALAR_FNUZ) return 0;
  return sign | bits;
}

double os_scalar_float(op_elem part, const void *data, int64_t index) {
  if (part == OP_FLOAT) return (double)((const float *)data)[index];
  if (part == OP_DOUBLE) return ((const double *)data)[index];
  const os_scalar__format *format = &os_scalar__formats[part];
  return os_scalar__decode(format, os_scalar__bits(format, data, index));
}

void os_scalar_put_float(op_elem part, void *data, int64_t index, double value) {
  const os_scalar__format *format = &os_scalar__formats[part];
  if (part == OP_FLOAT)
    ((float *)data)[index] = (float)value;
  else if (part == OP_DOUBLE)
    ((double *)data)[index] = value;
  else if (format->bits == 16)
    ((uint16_t *)data)[index] = (uint16_t)os_scalar__encode(format, value);
  else
    ((uint8_t *)data)[index] = (uint8_t)os_scalar__encode(format, value);
}

int64_t os_scalar_int(op_elem elem, const void *data, int64_t index) {
  switch (elem) {
  case OP_INT8:
  case OP_INT4:
  case OP_INT2: return ((const int8_t *)data)[index];
  case OP_BOOL: return ((const uint8_t *)data)[index] != 0;
  case OP_UINT8:
  case OP_UINT4:
  case OP_UINT2: return ((const uint8_t *)data)[index];
  case OP_INT16: return ((const int16_t *)data)[index];
  case OP_UINT16: return ((const uint16_t *)data)[index];
  case OP_INT32: return ((const int32_t *)data)[index];
  case OP_UINT32: return ((const uint32_t *)data)[index];
  default: return ((const int64_t *)data)[index];
  }
}

// Bits of an integer type and whether it is signed.
static int os_scalar__width(op_elem elem, bool *is_signed) {
  *is_signed = elem == OP_INT2 || elem == OP_INT4 || elem == OP_INT8 || elem == OP_INT16 ||
               elem == OP_INT32 || elem == OP_INT64;
  switch (elem) {
  case OP_BOOL: return 1;
  case OP_INT2:
  case OP_UINT2: return 2;
  case OP_INT4:
  case OP_UINT4: return 4;
  default: return (int)op_elem_size(elem) * 8;
  }
}

bool os_scalar_put_int(op_elem elem, void *data, int64_t index, bool negative, uint64_t bits) {
  bool is_signed;
  int width = os_scalar__width(elem, &is_signed);
  if (negative && !is_signed) return false;
  if (negative && width < 64 && (int64_t)bits < -(INT64_C(1) << (width - 1))) return false;
  if (!negative) {
    int room = is_signed ? width - 1 : width;
    if (room < 64 && bits >> room != 0) return false;
  }
  switch (op_elem_size(elem)) {
  case 1: ((uint8_t *)data)[index] = (uint8_t)bits; break;
  case 2: ((uint16_t *)data)[index] = (uint16_t)bits; break;
  case 4: ((uint32_t *)data)[index] = (uint32_t)bits; break;
  default: ((uint64_t *)data)[index] = bits; break;
  }
  return true;
}

// Position of a number on the line of all numbers of its type, 0 for both zeros.
static int64_t os_scalar__ordinal(op_elem part, const void *data, int64_t index) {
  uint64_t bits;
  int width;
  if (part == OP_FLOAT) {
    bits = ((const uint32_t *)data)[index];
    width = 32;
  } else if (part == OP_DOUBLE) {
    bits = ((const uint64_t *)data)[index];
    width = 64;
  } else {
    bits = os_scalar__bits(&os_scalar__formats[part], data, index);
    width = os_scalar__formats[part].bits;
    if (os_scalar__formats[part].kind == OS_SCALAR_SCALE) return (int64_t)bits;
  }
  uint64_t magnitude = bits & ((UINT64_C(1) << (width - 1)) - 1);
  return bits >> (width - 1) != 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

uint64_t os_scalar_ulps(op_elem part, const void *a, const void *b, int64_t index) {
  if (isnan(os_scalar_float(part, a, index)) || isnan(os_scalar_float(part, b, index))) return UINT64_MAX;
  int64_t x = os_scalar__ordinal(part, a, index), y = os_scalar__ordinal(part, b, index);
  return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static void os_scalar__print_float(op_elem part, double value, char *to) {
  if (isnan(value))
    strcpy(to, "NaN");
  else if (isinf(value))
    strcpy(to, value < 0 ? "-Infinity" : "Infinity");
  else if (value == 0)
    strcpy(to, signbit(value) ? "-0" : "0");
  else if (part == OP_DOUBLE)
    to[os_double_print(value, to)] = '\0';
  else {
    // The shortest of few digits that reads back: 6 to 9 do for binary32, fewer for the narrow types.
    for (int digits = part == OP_FLOAT ? 6 : 3; digits <= 9; digits++) {
      os_format(to, OS_DOUBLE_ROOM, "%.*g", digits, value);
      double back = os_decimal_double(os_str_of(to));
      uint64_t as_is = 0, again = 0;
      os_scalar_put_float(part, &as_is, 0, value);
      os_scalar_put_float(part, &again, 0, back);
      if (as_is == again) return;
    }
  }
}

static os_str os_scalar__print_string(os_arena *arena, os_str text) {
  enum { MOST = 60 };
  bool cut = text.len > MOST;
  os_text out;
  os_text_init(&out, arena->memory);
  os_str head = {text.data, cut ? MOST : text.len};
  // Not in the middle of a character.
  while (cut && head.len > MOST - 3 && ((unsigned char)text.data[head.len] & 0xc0) == 0x80) head.len--;
  os_json_write_string(&out, head);
  if (cut) os_text_format(&out, "... (%zu bytes)", text.len);
  os_str copy = os_arena_copy(arena, os_text_str(&out));
  os_text_clear(&out);
  return copy.data == NULL ? (os_str){"", 0} : copy;
}

os_str os_scalar_print(os_arena *arena, op_elem elem, const void *data, int64_t index) {
  char text[2 * OS_DOUBLE_ROOM + 4], imaginary[OS_DOUBLE_ROOM + 1];
  if (elem == OP_STRING) return os_scalar__print_string(arena, ((const os_str *)data)[index]);
  op_elem part = os_scalar_part(elem);
  if (part != elem) {
    os_scalar__print_float(part, os_scalar_float(part, data, 2 * index), text);
    os_scalar__print_float(part, os_scalar_float(part, data, 2 * index + 1), imaginary);
    return os_arena_format(arena, "%s%s%si", text, imaginary[0] == '-' ? "" : "+", imaginary);
  }
  if (os_scalar_is_float(elem)) {
    os_scalar__print_float(elem, os_scalar_float(elem, data, index), text);
    return os_arena_format(arena, "%s", text);
  }
  if (elem == OP_BOOL) return ((const uint8_t *)data)[index] != 0 ? OS_STR("true") : OS_STR("false");
  int64_t value = os_scalar_int(elem, data, index);
  return elem == OP_UINT64 ? os_arena_format(arena, "%llu", (unsigned long long)value)
                           : os_arena_format(arena, "%lld", (long long)value);
}
