#include "loops.h"

#include "check.h"
#include "loop_rows.h"
#include "sample.h"

// What holds for every line of math.def: an element's result depends on its operands alone, whatever the length, the place,
// the mode or the sharing of memory; nothing outside of the elements is touched.

enum { LENGTH = 67, GUARD = 32 };

typedef struct buffers {
  unsigned char *a, *b, *out, *expected;
} buffers;

static const math_params *params_of(const loop_row *row) {
  static const math_params shared = {{0.6, 1.7, 0, 0}, {1, 1}};
  static const math_params bounds = {{-2.5, 3.25, 0, 0}, {3, 90}};
  return math_loop_at(row->id).op == MATH_OP_clip ? &bounds : &shared;
}

static int same_elements(int type, const void *x, const void *y, size_t n) {
  size_t width = math_type_width(type);
  for (size_t i = 0; i < n; i++) {
    const char *p = (const char *)x + i * width, *q = (const char *)y + i * width;
    float f, g;
    double d, e;
    memcpy(&f, p, width < 4 ? 0 : 4), memcpy(&g, q, width < 4 ? 0 : 4);
    memcpy(&d, p, width < 8 ? 0 : 8), memcpy(&e, q, width < 8 ? 0 : 8);
    if (type == MATH_F32 && f != f && g != g) continue;
    if (type == MATH_F64 && d != d && e != e) continue;
    if (memcmp(p, q, width) != 0) return 0;
  }
  return 1;
}

static void run(const loop_row *row, void *out, const void *a, const void *b, size_t n, int mode) {
  loop_run(row->id, out, a, b, n, mode, params_of(row));
}

// One element at a time.
static void run_single(const loop_row *row, void *out, const void *a, const void *b, size_t n, int mode) {
  const math_loop loop = math_loop_at(row->id);
  size_t in = math_type_width(loop.in), width = math_type_width(loop.out);
  for (size_t i = 0; i < n; i++) {
    run(row, (char *)out + i * width, (const char *)a + (mode == MATH_SV ? 0 : i * in),
        (const char *)b + (mode == MATH_VS ? 0 : i * in), 1, MATH_VV);
  }
}

static void check_length(const loop_row *row, const buffers *t, size_t n, size_t shift, int mode) {
  const math_loop loop = math_loop_at(row->id);
  size_t in = math_type_width(loop.in), width = math_type_width(loop.out);
  const unsigned char *a = t->a + shift * in, *b = t->b + shift * in;
  unsigned char *out = t->out + GUARD + shift * width;
  run_single(row, t->expected, a, b, n, mode);
  memset(t->out, 0xa5, GUARD * 2 + (LENGTH + 4) * 8);
  run(row, out, a, b, n, mode);
  int clean = 1;
  for (size_t i = 0; i < GUARD; i++) clean &= out[-1 - (ptrdiff_t)i] == 0xa5 && out[n * width + i] == 0xa5;
  if (!CHECK(clean)) printf("  %s writes outside, n = %zu\n", row->name, n);
  if (!CHECK(same_elements(loop.out, out, t->expected, n)))
    printf("  %s, n = %zu, mode %d\n", row->name, n, mode);
  if (in != width) return;
  // In place over each operand that is a vector.
  if (mode != MATH_SV) {
    memcpy(out, a, n * in);
    run(row, out, out, b, n, mode);
    if (!CHECK(same_elements(loop.out, out, t->expected, n)))
      printf("  %s in place of a, n = %zu\n", row->name, n);
  }
  if (!loop.unary && mode != MATH_VS) {
    memcpy(out, b, n * in);
    run(row, out, a, out, n, mode);
    if (!CHECK(same_elements(loop.out, out, t->expected, n)))
      printf("  %s in place of b, n = %zu\n", row->name, n);
  }
}

static void check_loop(const loop_row *row, const buffers *t, sample_random *r) {
  const math_loop loop = math_loop_at(row->id);
  sample_fill(r, loop.in, t->a, LENGTH + 4);
  sample_fill(r, loop.in, t->b, LENGTH + 4);
  for (size_t n = 0; n <= LENGTH; n += n < 20 ? 1 : 23) {
    for (int mode = MATH_VV; mode <= (!loop.unary ? MATH_SV : MATH_VV); mode++)
      check_length(row, t, n, n % 4, mode);
  }
}

static void check_table(void) {
  CHECK_EQ(math_loop_at(LOOP_NONE).cls, 0);
  int count = 0;
  for (int id = 0; id < LOOP_COUNT; id++) count += math_loop_at((math_loop_id)id).cls != 0;
  CHECK_EQ(count, LOOP_ROWS);
  for (size_t i = 0; i < LOOP_ROWS; i++) {
    const math_loop loop = math_loop_at(loop_rows[i].id);
    CHECK_EQ(math_loop_find(loop.op, (int)loop.in), loop_rows[i].id);
    CHECK_EQ(loop.unary, loop.cls == MATH_UNARY || loop.cls == MATH_PREDICATE);
  }
  CHECK_EQ(math_loop_find(MATH_OP_add, MATH_F16), LOOP_NONE);
  CHECK_EQ(math_loop_find(MATH_OP_add, 99), LOOP_NONE);
  CHECK_EQ(math_loop_find(MATH_OP_exp, MATH_I32), LOOP_NONE);
  CHECK_EQ(math_loop_at(LOOP_less_i64).out, MATH_BOOL);
}

// An f32 loop on the other float types: as if every element were converted, computed and rounded.
static void check_small_floats(sample_random *r) {
  static const int types[] = {MATH_F16, MATH_BF16, MATH_F8E4M3FN, MATH_F8E5M2FNUZ, MATH_F64};
  enum { N = 300 };
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    int type = types[t];
    size_t width = math_type_width(type);
    double a[N], b[N], out[N], expected[N];
    float x[N], y[N], z[N];
    uint8_t flags[N], wanted[N];
    sample_fill(r, type, a, N);
    sample_fill(r, type, b, N);
    math_load_f32(x, a, type, N);
    math_load_f32(y, b, type, N);
    math_run_unary(LOOP_sigmoid_f32, MATH_F32, z, x, N, NULL);
    math_store_f32(expected, z, type, N);
    math_run_unary(LOOP_sigmoid_f32, type, out, a, N, NULL);
    CHECK(memcmp(out, expected, N * width) == 0);
    for (int mode = MATH_VV; mode <= MATH_SV; mode++) {
      math_run_binary(LOOP_mul_f32, MATH_F32, z, x, y, N, mode, NULL);
      math_store_f32(expected, z, type, N);
      CHECK_EQ(math_run_binary(LOOP_mul_f32, type, out, a, b, N, mode, NULL), -1);
      CHECK(memcmp(out, expected, N * width) == 0);
      math_run_binary(LOOP_less_f32, MATH_F32, wanted, x, y, N, mode, NULL);
      math_run_binary(LOOP_less_f32, type, flags, a, b, N, mode, NULL);
      CHECK(memcmp(flags, wanted, N) == 0);
    }
  }
}

static void check_where(sample_random *r) {
  static const size_t widths[] = {1, 2, 4, 8, 16};
  uint8_t condition[LENGTH], a[LENGTH * 16], b[LENGTH * 16], out[LENGTH * 16];
  sample_fill(r, MATH_BOOL, condition, LENGTH);
  sample_fill(r, MATH_U8, a, sizeof a);
  sample_fill(r, MATH_U8, b, sizeof b);
  for (size_t w = 0; w < 5; w++) {
    size_t width = widths[w];
    for (int scalars = 0; scalars < 8; scalars++) {
      math_where(out, condition, a, b, LENGTH, scalars, width);
      int good = 1;
      for (size_t i = 0; i < LENGTH; i++) {
        const uint8_t *want = condition[scalars & MATH_SCALAR_CONDITION ? 0 : i]
                                  ? a + (scalars & MATH_SCALAR_A ? 0 : i * width)
                                  : b + (scalars & MATH_SCALAR_B ? 0 : i * width);
        good &= memcmp(out + i * width, want, width) == 0;
      }
      CHECK(good);
    }
  }
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  size_t bytes = GUARD * 2 + (LENGTH + 4) * 8;
  buffers t = {sample_alloc(bytes), sample_alloc(bytes), sample_alloc(bytes + GUARD), sample_alloc(bytes)};
  check_table();
  for (size_t i = 0; i < LOOP_ROWS; i++) check_loop(&loop_rows[i], &t, &r);
  check_small_floats(&r);
  check_where(&r);
  free(t.a), free(t.b), free(t.out), free(t.expected);
  return CHECK_END();
}
