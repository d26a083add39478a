/* Integer loops, a type at a time. */
#include "loops.h"

/* Some of the loops that are offered for vectorisation cannot be (pow). */
#pragma clang diagnostic ignored "-Wpass-failed"

#define T int8_t
#define UT uint8_t
#define TN i8
#define SIGNED_TYPE 1
#define VECTORISED 0
#define WIDE_TYPE 0
#include "loops_int.inc"

#define T uint8_t
#define UT uint8_t
#define TN u8
#define SIGNED_TYPE 0
#define VECTORISED 0
#define WIDE_TYPE 0
#include "loops_int.inc"

#define T int16_t
#define UT uint16_t
#define TN i16
#define SIGNED_TYPE 1
#define VECTORISED 0
#define WIDE_TYPE 0
#include "loops_int.inc"

#define T uint16_t
#define UT uint16_t
#define TN u16
#define SIGNED_TYPE 0
#define VECTORISED 0
#define WIDE_TYPE 0
#include "loops_int.inc"

#define T int32_t
#define UT uint32_t
#define TN i32
#define SIGNED_TYPE 1
#define VECTORISED 1
#define WIDE_TYPE 1
#include "loops_int.inc"

#define T uint32_t
#define UT uint32_t
#define TN u32
#define SIGNED_TYPE 0
#define VECTORISED 0
#define WIDE_TYPE 1
#include "loops_int.inc"

#define T int64_t
#define UT uint64_t
#define TN i64
#define SIGNED_TYPE 1
#define VECTORISED 0
#define WIDE_TYPE 1
#include "loops_int.inc"

#define T uint64_t
#define UT uint64_t
#define TN u64
#define SIGNED_TYPE 0
#define VECTORISED 0
#define WIDE_TYPE 1
#include "loops_int.inc"
