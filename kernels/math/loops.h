/* Element-wise loops on contiguous memory: ids, table, declarations.
 *
 * A loop knows pointers and counts; shapes, broadcasting and threads belong to its callers (move.h has a broadcast helper).
 * Rules of every loop:
 * - an element's result depends on its operands alone: not on n, on alignment, or on its place. A range may be split anywhere.
 * - dst may be the very pointer of an operand of the same width; any other overlap is forbidden. n = 0 is fine.
 * - no byte outside the n elements is read or written.
 * - pointers are aligned to their element type.
 * - native and simd128 builds give the same bits, NaN payloads aside. */
#ifndef OPSPEC_LOOPS_H
#define OPSPEC_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Element types by their ONNX numbers. Sub-byte types are one element a byte here: integers sign- or zero-extended,
 * float4e2m1 as its code in the low four bits. bool is a byte, 0 or 1. */
typedef enum math_type {
  MATH_NONE = 0,
  MATH_F32 = 1,
  MATH_U8 = 2,
  MATH_I8 = 3,
  MATH_U16 = 4,
  MATH_I16 = 5,
  MATH_I32 = 6,
  MATH_I64 = 7,
  MATH_BOOL = 9,
  MATH_F16 = 10,
  MATH_F64 = 11,
  MATH_U32 = 12,
  MATH_U64 = 13,
  MATH_BF16 = 16,
  MATH_F8E4M3FN = 17,
  MATH_F8E4M3FNUZ = 18,
  MATH_F8E5M2 = 19,
  MATH_F8E5M2FNUZ = 20,
  MATH_U4 = 21,
  MATH_I4 = 22,
  MATH_F4E2M1 = 23,
  MATH_F8E8M0 = 24,
  MATH_U2 = 25,
  MATH_I2 = 26,
  MATH_TYPE_COUNT = 27
} math_type;

/* Bytes of one element in memory; 0 for types that loops do not know (string, complex). */
size_t math_type_width(int type);

/* Parameters of a loop: f for the float types (an f32 loop rounds each to float once), i for integers and flags
 * (uint64 as its bits). Which ones a loop reads stands in math.def; others are ignored. Loops without parameters take NULL. */
typedef struct math_params {
  double f[4];
  int64_t i[2];
} math_params;

/* Operands of a binary loop: two vectors, or one of them a single element that is used for all. */
typedef enum math_mode { MATH_VV = 0, MATH_VS = 1, MATH_SV = 2 } math_mode;

typedef enum math_class { MATH_UNARY = 1, MATH_PREDICATE, MATH_BINARY, MATH_COMPARE } math_class;

/* Sets of element types that math.def names (b8 is bool, which is a macro). */
#define MATH_FOR_BOOL(X, op) X(op, b8)
#define MATH_FOR_FLOAT(X, op) X(op, f32) X(op, f64)
#define MATH_FOR_SIGNED(X, op) X(op, i8) X(op, i16) X(op, i32) X(op, i64)
#define MATH_FOR_UNSIGNED(X, op) X(op, u8) X(op, u16) X(op, u32) X(op, u64)
#define MATH_FOR_INTEGER(X, op) MATH_FOR_SIGNED(X, op) MATH_FOR_UNSIGNED(X, op)
#define MATH_FOR_NUMERIC(X, op) MATH_FOR_FLOAT(X, op) MATH_FOR_INTEGER(X, op)
#define MATH_FOR_NUMERIC_BOOL(X, op) MATH_FOR_NUMERIC(X, op) MATH_FOR_BOOL(X, op)
#define MATH_FOR_WIDE(X, op) MATH_FOR_FLOAT(X, op) X(op, i32) X(op, i64) X(op, u32) X(op, u64)

/* MATH_OP_add, MATH_OP_sub, ... */
typedef enum math_op {
  MATH_OP_NONE = 0,
#define MATH_OP(op, cls, set) MATH_OP_##op,
#include "math.def"
#undef MATH_OP
  MATH_OP_COUNT
} math_op;

/* LOOP_add_f32, LOOP_add_f64, ...: an operation and the type of its operands in one number. Hold within one build only. */
enum { MATH_LOOP_TYPES = 32 };
#define MATH_LOOP_ID(op, type) ((int)(op) * MATH_LOOP_TYPES + (int)(type))
enum { MATH__f32 = MATH_F32, MATH__f64 = MATH_F64, MATH__b8 = MATH_BOOL };
enum { MATH__i8 = MATH_I8, MATH__i16 = MATH_I16, MATH__i32 = MATH_I32, MATH__i64 = MATH_I64 };
enum { MATH__u8 = MATH_U8, MATH__u16 = MATH_U16, MATH__u32 = MATH_U32, MATH__u64 = MATH_U64 };
typedef enum math_loop_id {
  LOOP_NONE = 0,
#define MATH_ID(op, type) LOOP_##op##_##type = MATH_LOOP_ID(MATH_OP_##op, MATH__##type),
#define MATH_OP(op, cls, set) MATH_FOR_##set(MATH_ID, op)
#include "math.def"
#undef MATH_OP
#undef MATH_ID
  LOOP_COUNT = MATH_LOOP_ID(MATH_OP_COUNT, 0)
} math_loop_id;

typedef struct math_loop {
  math_op op;
  math_class cls;
  math_type in, out; /* of operands and result */
  bool unary;        /* one operand: UNARY and PREDICATE */
} math_loop;

/* All zero for LOOP_NONE and for numbers that are no loop. */
math_loop math_loop_at(math_loop_id id);

/* The loop of an operation for an element type; LOOP_NONE when there is none. f16, bf16 and float8 have no loops of their
 * own: see math_run_unary. */
math_loop_id math_loop_find(math_op op, int type);

/* Run a loop. `type` is that of the operands, and of the result unless the loop answers bool: the loop's own, or, for an f32
 * loop, another float type (f16, bf16, float8, float4e2m1), which goes through f32 tiles on the stack. Rounding to `type` is
 * nearest even, saturating where the type has no infinity. dst == an operand is allowed.
 *
 * math_run_binary returns the index of the first element that has no result, -1 if all have one. Only div, mod and fmod of
 * integers ever report one (divisor 0); that element is set to 0 and the rest is computed. */
void math_run_unary(math_loop_id loop, int type, void *dst, const void *src, size_t n, const math_params *p);
ptrdiff_t math_run_binary(math_loop_id loop, int type, void *dst, const void *a, const void *b, size_t n,
                          int mode, const math_params *p);

/* dst[i] = condition[i] ? a[i] : b[i] for elements of width 1, 2, 4, 8 or 16 bytes. scalars: any of the MATH_SCALAR_ bits
 * for operands that are one element. */
enum { MATH_SCALAR_CONDITION = 1, MATH_SCALAR_A = 2, MATH_SCALAR_B = 4 };
void math_where(void *dst, const uint8_t *condition, const void *a, const void *b, size_t n, int scalars,
                size_t width);

/* Convert n elements between any two of the math_types. Returns false, and writes nothing, for a type it does not know.
 * - float to integer: NaN gives 0, truncated, saturated to 32 or 64 bits; narrower types keep the low bits of that int32.
 * - integer to narrower integer keeps the low bits; anything to bool is x != 0 (NaN: true).
 * - to a float type: nearest even, once (no double rounding). To float8/float4: Cast's tables; p->i[0] != 0 saturates.
 * - to float8e8m0: sign dropped, p->i[1] rounds 0 up, 1 down, 2 nearest (ties up).
 * p = NULL means saturate and round up. dst == src is allowed for equal widths. */
bool math_cast(void *dst, int to, const void *src, int from, size_t n, const math_params *p);

#endif
