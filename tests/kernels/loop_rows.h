// Every loop of math.def with its name, and one call for all of them.
#ifndef OPSPEC_LOOP_ROWS_H
#define OPSPEC_LOOP_ROWS_H

#include "loops.h"

typedef struct loop_row {
  const char *name; // "add_f32"
  math_loop_id id;
} loop_row;

static const loop_row loop_rows[] = {
#define LOOP_ROW(op, type) {#op "_" #type, LOOP_##op##_##type},
#define MATH_OP(op, cls, set) MATH_FOR_##set(LOOP_ROW, op)
#include "math.def"
#undef MATH_OP
#undef LOOP_ROW
};

enum { LOOP_ROWS = sizeof loop_rows / sizeof *loop_rows };

// b and mode are for loops of two operands.
static inline ptrdiff_t loop_run(math_loop_id id, void *dst, const void *a, const void *b, size_t n, int mode,
                                 const math_params *p) {
  const math_loop loop = math_loop_at(id);
  if (!loop.unary) return math_run_binary(id, (int)loop.in, dst, a, b, n, mode, p);
  math_run_unary(id, (int)loop.in, dst, a, n, p);
  return -1;
}

#endif
