#ifndef OPSPEC_COMPARE_H
#define OPSPEC_COMPARE_H

#include "arena.h"
#include "value.h"

// Whether a value is the expected one. Equal: same type and shape; integers, bools and strings exact; floats
// |actual - expected| <= atol + rtol |expected|, NaN equals NaN, infinities equal themselves, an expected -0 asks for -0.

typedef struct os_tolerance {
  double rtol, atol; // < 0 = the default of the element type
  uint64_t ulp;      // used instead when has_ulp
  bool has_ulp;
  bool unsigned_zero; // +0 may stand for an expected -0
  bool shape_only;    // random results: type and shape only
  bool bits;          // the same bits, for two runs of one kernel
} os_tolerance;
// Defaults of the element type: float64 1e-9/1e-12, float32 1e-5/1e-7, float16 2e-3/1e-4, bfloat16 1e-2/1e-3, narrower
// types exact.
os_tolerance os_tolerance_default(void);

typedef enum os_difference_kind {
  OS_SAME,
  OS_DIFFERS_KIND, // a tensor where a sequence was expected...
  OS_DIFFERS_TYPE,
  OS_DIFFERS_SHAPE,
  OS_DIFFERS_COUNT, // items of a sequence or map
  OS_DIFFERS_EMPTY, // one optional is empty
  OS_DIFFERS_KEY,   // of a map
  OS_DIFFERS_VALUE,
} os_difference_kind;

typedef struct os_difference {
  os_difference_kind kind;
  os_str path; // inside the value, "", "[2]" (item of a sequence) or "[\"a\"]" (value of a map's key)
  const op_value *actual, *expected; // the innermost pair
  int64_t first;            // OS_DIFFERS_VALUE: index of the first differing element; KEY: of the key
  int64_t differing, count; // elements that differ, of how many
  double max_abs, max_rel;  // over differing elements; infinite with NaN or infinity on one side
  uint64_t max_ulp;
  bool has_metrics; // the three above mean something: floats
  // The pair is a piece of two longer tensors, from element `base` on; `first` is an index of theirs. NULL: it is whole.
  const op_tensor *whole;
  int64_t base;
} os_difference;

// The first difference inside the value, with the figures of its tensor. Strings live in the arena. *out is filled always.
os_status os_value_compare(os_arena *arena, const op_value *actual, const op_value *expected,
                           const os_tolerance *tolerance, os_difference *out);

// Takes in what the next piece of two tensors differs in, of elements from `base` on; the first of the pieces that differ stays the pair.
// `self` is { .whole } at first.
void os_difference_add(os_difference *self, const os_difference *piece, int64_t base);

// One sentence without a full stop: "element [1, 3] is 2.5, expected 2; 4 of 12 differ, at most by 0.5 (relative 0.25,
// 2097152 ULP)". `types` prints the types of what is no tensor.
os_str os_difference_print(const os_difference *self, os_arena *arena, const os_types *types);
// "[1, 3]" for an element's index; "" for rank 0.
os_str os_index_print(os_arena *arena, const op_tensor *tensor, int64_t index);
// "[2, 3]"
os_str os_dims_list_print(os_arena *arena, int32_t rank, const int64_t *dims);

#endif
