// Products and convolutions of 8-bit integers: MatMulInteger, QLinearMatMul, ConvInteger, QLinearConv.

#include "convolution.h"
#include "elements.h"
#include "kit.h"
#include "products.h"

#include <math.h>

static bool quantized__is_byte(op_elem elem) { return elem == OP_INT8 || elem == OP_UINT8; }

static size_t quantized__round(size_t bytes) { return (bytes + 63) / 64 * 64; }

static const op_tensor *quantized__optional(op_run *ctx, uint32_t input) {
  return input < op_run_input_count(ctx) ? op_run_input(ctx, input) : NULL;
}

// ---- Where the operands lie ---------------------------------------------------------------------------------------

typedef struct product_inputs {
  uint32_t a, a_scale, a_zero, b, b_scale, b_zero;
} product_inputs;

static const product_inputs inputs_integer = {0, 0, 2, 1, 0, 3}, inputs_linear = {0, 1, 2, 3, 4, 5};

// ---- Inference ----------------------------------------------------------------------------------------------------

static os_status quantized__infer_integer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT32);
  return product_infer(ctx, 0, 1);
}

static os_status quantized__infer_linear(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 7));
  return product_infer(ctx, 0, 3);
}

static os_status quantized__infer_conv_integer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT32);
  return convolution_infer(ctx, 0, 1);
}

static os_status quantized__infer_conv_linear(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 7));
  return convolution_infer(ctx, 0, 3);
}

// ---- A value per tensor, row or column -----------------------------------------------------------------------------

// Element of matrix `matrix`, row or column `at`: one for all, one per place, or one per place of every matrix.
typedef struct quantized_vector {
  const op_tensor *tensor; // NULL: the default
  size_t step, matrix_step;
} quantized_vector;

static bool quantized__vector(const op_tensor *tensor, size_t places, size_t matrices,
                              quantized_vector *out) {
  *out = (quantized_vector){tensor, 0, 0};
  if (tensor == NULL || tensor->count == 1) return true;
  out->step = 1;
  if ((size_t)tensor->count == places) return true;
  out->matrix_step = places;
  return (size_t)tensor->count == places * matrices;
}

static double quantized__at(const quantized_vector *v, size_t matrix, size_t at, double fallback) {
  return v->tensor ? kit_double(v->tensor, (int64_t)(matrix * v->matrix_step + at * v->step)) : fallback;
}

static const void *quantized__bytes(const quantized_vector *v, size_t matrix) {
  return v->tensor ? kit_at(v->tensor, matrix * v->matrix_step) : NULL;
}

// ---- From sums to the output's type ----------------------------------------------------------------------------------

// round(sum scale) + zero, saturated.
static void quantized__requantize(op_tensor *y, size_t at, double sum, double scale, double zero) {
  double value = sum * scale;
  if (y->elem == OP_INT8 || y->elem == OP_UINT8) {
    double low = y->elem == OP_INT8 ? -128 : 0, high = low + 255;
    value = value == value ? rint(value) + zero : zero;
    value = value < low ? low : value > high ? high : value;
    ((uint8_t *)y->data)[at] = (uint8_t)(int32_t)value;
    return;
  }
  value += zero;
  kit_put(y, at, value);
}

// ---- Products -------------------------------------------------------------------------------------------------------

typedef struct quantized_product {
  product p;
  quantized_vector a_zero, b_zero, a_scale, b_scale;
  size_t a_count;
} quantized_product;

static size_t quantized__a_matrices(const op_tensor *a) {
  return kit_extent(a, 0, a->rank > 2 ? a->rank - 2 : 0);
}

static os_status quantized__describe(op_run *ctx, const product_inputs *in, quantized_product *q) {
  const op_tensor *a = op_run_input(ctx, in->a), *b = op_run_input(ctx, in->b), *y = op_run_output(ctx, 0);
  const op_tensor *a_zero = quantized__optional(ctx, in->a_zero),
                  *b_zero = quantized__optional(ctx, in->b_zero);
  if (!product_describe(&q->p, a, b, false) || (size_t)y->count != q->p.batches * q->p.m * q->p.n)
    return op_run_fail(ctx, "the shapes of A and B do not match");
  if ((a_zero && a_zero->elem != a->elem) || (b_zero && b_zero->elem != b->elem))
    return op_run_fail(ctx, "a zero point has another type than its operand");
  q->a_count = quantized__a_matrices(a);
  bool linear = in->a_scale != in->b_scale;
  if (!quantized__vector(a_zero, q->p.m, q->a_count, &q->a_zero) ||
      !quantized__vector(b_zero, q->p.n, q->p.b_count, &q->b_zero) ||
      !quantized__vector(linear ? op_run_input(ctx, in->a_scale) : NULL, q->p.m, q->a_count, &q->a_scale) ||
      !quantized__vector(linear ? op_run_input(ctx, in->b_scale) : NULL, q->p.n, q->p.b_count, &q->b_scale))
    return op_run_fail(ctx,
                       "a scale or zero point is neither one value, nor one per row of A or column of B");
  return OS_OK;
}

typedef struct rows_job {
  const math_gemm_int8 *gemm;
  char *scratch;
  size_t scratch_bytes, grain;
} rows_job;

static void quantized__rows(void *argument, size_t begin, size_t end) {
  const rows_job *job = argument;
  math_gemm_int8_run(job->gemm, begin, end, job->scratch + begin / job->grain * job->scratch_bytes);
}

enum { QUANTIZED_PIECES = 8 };

// Multiples of 16 rows, and at most QUANTIZED_PIECES pieces.
static size_t quantized__grain(size_t m) {
  size_t grain = (m + QUANTIZED_PIECES - 1) / QUANTIZED_PIECES;
  return (grain + 15) / 16 * 16 + (grain == 0) * 16;
}

static size_t quantized__gemm_bytes(size_t m, size_t n, size_t k) {
  size_t grain = quantized__grain(m), pieces = (m + grain - 1) / grain;
  return pieces * quantized__round(math_gemm_int8_scratch_bytes(m, n, k));
}

static void quantized__gemm(op_run *ctx, const math_gemm_int8 *g, char *scratch) {
  if (g->m == 0 || g->n == 0) return;
  rows_job job = {g, scratch, quantized__round(math_gemm_int8_scratch_bytes(g->m, g->n, g->k)),
                  quantized__grain(g->m)};
  op_parallel_for(ctx, g->m, job.grain, quantized__rows, &job);
}

// Scratch: one packed matrix of b, the sums of one product (QLinearMatMul), then that of the gemm.
static os_status quantized__plan_product(op_plan *ctx) {
  const product_inputs *in = op_node_user(op_plan_node(ctx));
  const op_tensor *a = op_plan_input(ctx, in->a), *b = op_plan_input(ctx, in->b);
  product p;
  if (a == NULL || b == NULL || !quantized__is_byte(a->elem) || !quantized__is_byte(b->elem)) return OS_OK;
  if (!product_describe(&p, a, b, false)) return OS_OK;
  size_t bytes = quantized__round(math_gemm_int8_packed_b_bytes(p.k, p.n)) +
                 quantized__round(p.m * p.n * sizeof(int32_t));
  op_plan_scratch(ctx, bytes + quantized__gemm_bytes(p.m, p.n, p.k));
  return OS_OK;
}

// Calls `done` with the sums of each product; they lie in y itself where y is int32.
static void quantized__multiply(op_run *ctx, const product_inputs *in, const quantized_product *q,
                                void (*done)(op_run *ctx, const quantized_product *q, size_t batch, size_t a,
                                             size_t b, const int32_t *sums)) {
  const op_tensor *a = op_run_input(ctx, in->a), *b = op_run_input(ctx, in->b);
  op_tensor *y = op_run_output(ctx, 0);
  char *packed = op_run_scratch(ctx),
       *sums = packed + quantized__round(math_gemm_int8_packed_b_bytes(q->p.k, q->p.n));
  char *scratch = sums + quantized__round(q->p.m * q->p.n * sizeof(int32_t));
  size_t held = SIZE_MAX;
  for (size_t batch = 0; batch < q->p.batches; batch++) {
    size_t a_matrix, b_matrix;
    product_matrices(&q->p, batch, &a_matrix, &b_matrix);
    if (b_matrix != held)
      math_gemm_int8_pack_b(packed, (const char *)b->data + b_matrix * q->p.k * q->p.n, b->elem == OP_INT8,
                            q->p.b_row, q->p.b_col, quantized__bytes(&q->b_zero, b_matrix),
                            (ptrdiff_t)q->b_zero.step, q->p.k, q->p.n);
    held = b_matrix;
    math_gemm_int8 g = {
        .m = q->p.m, .n = q->p.n, .k = q->p.k, .a_signed = a->elem == OP_INT8, .b_packed = packed};
    g.a = (const char *)a->data + a_matrix * q->p.m * q->p.k;
    g.a_row_stride = q->p.a_row, g.a_col_stride = q->p.a_col;
    g.a_zero = quantized__bytes(&q->a_zero, a_matrix), g.a_zero_stride = (ptrdiff_t)q->a_zero.step;
    g.c = done ? (int32_t *)sums : (int32_t *)y->data + batch * q->p.m * q->p.n;
    g.c_row_stride = (ptrdiff_t)q->p.n;
    quantized__gemm(ctx, &g, scratch);
    if (done) done(ctx, q, batch, a_matrix, b_matrix, (const int32_t *)sums);
  }
}

static os_status quantized__compute_integer(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  quantized_product q;
  if (op_run_output(ctx, 0) == NULL) return OS_OK;
  if (!quantized__is_byte(a->elem) || !quantized__is_byte(b->elem))
    return op_run_fail(ctx, "there is no product of %s and %s", op_elem_name(a->elem), op_elem_name(b->elem));
  OS_TRY(quantized__describe(ctx, &inputs_integer, &q));
  quantized__multiply(ctx, &inputs_integer, &q, NULL);
  return OS_OK;
}

// The factor of a sum, computed in float as the operator's definition does.
static double quantized__factor(const quantized_product *q, size_t a, size_t row, size_t b, size_t column,
                                float y_scale) {
  float a_scale = (float)quantized__at(&q->a_scale, a, row, 1),
        b_scale = (float)quantized__at(&q->b_scale, b, column, 1);
  return (double)(a_scale * b_scale / y_scale);
}

static void quantized__finish(op_run *ctx, const quantized_product *q, size_t batch, size_t a, size_t b,
                              const int32_t *sums) {
  op_tensor *y = op_run_output(ctx, 0);
  float y_scale = (float)kit_double(op_run_input(ctx, 6), 0);
  double zero = kit_double(op_run_input(ctx, 7), 0);
  for (size_t i = 0; i < q->p.m; i++)
    for (size_t j = 0; j < q->p.n; j++)
      quantized__requantize(y, (batch * q->p.m + i) * q->p.n + j, sums[i * q->p.n + j],
                            quantized__factor(q, a, i, b, j, y_scale), zero);
}

// float8 operands: few, and nobody's hot path.
static void quantized__plain(op_run *ctx, const quantized_product *q) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 3);
  op_tensor *y = op_run_output(ctx, 0);
  float y_scale = (float)kit_double(op_run_input(ctx, 6), 0);
  double zero = kit_double(op_run_input(ctx, 7), 0);
  for (size_t at = 0; at < (size_t)y->count; at++) {
    size_t column = at % q->p.n, row = at / q->p.n % q->p.m, a_matrix, b_matrix;
    product_matrices(&q->p, at / q->p.n / q->p.m, &a_matrix, &b_matrix);
    double a_zero = quantized__at(&q->a_zero, a_matrix, row, 0),
           b_zero = quantized__at(&q->b_zero, b_matrix, column, 0), sum = 0;
    for (size_t k = 0; k < q->p.k; k++) {
      size_t i = (a_matrix * q->p.m + row) * q->p.k + k;
      size_t j = b_matrix * q->p.k * q->p.n + k * (size_t)q->p.b_row + column * (size_t)q->p.b_col;
      sum += (kit_double(a, (int64_t)i) - a_zero) * (kit_double(b, (int64_t)j) - b_zero);
    }
    quantized__requantize(y, at, sum, quantized__factor(q, a_matrix, row, b_matrix, column, y_scale), zero);
  }
}

static os_status quantized__compute_linear(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 3), *y_scale = op_run_input(ctx, 6),
                  *y_zero = op_run_input(ctx, 7);
  op_tensor *y = op_run_output(ctx, 0);
  if (y_scale->count != 1 || y_zero->count != 1 || y_zero->elem != y->elem)
    return op_run_fail(ctx, "y_scale and y_zero_point must be scalars of the right type");
  bool bytes = quantized__is_byte(a->elem) && quantized__is_byte(b->elem);
  if (!bytes && (elem_is_integer(a->elem) != elem_is_integer(b->elem) || !elem_is_narrow(a->elem)))
    return op_run_fail(ctx, "there is no product of %s and %s", op_elem_name(a->elem), op_elem_name(b->elem));
  quantized_product q;
  OS_TRY(quantized__describe(ctx, &inputs_linear, &q));
  if (bytes)
    quantized__multiply(ctx, &inputs_linear, &q, quantized__finish);
  else
    quantized__plain(ctx, &q);
  return OS_OK;
}

// ---- Convolutions -----------------------------------------------------------------------------------------------------

typedef struct conv_inputs {
  uint32_t x, x_zero, w, w_zero;
  bool linear;
} conv_inputs;

static const conv_inputs conv_integer = {0, 2, 1, 3, false}, conv_linear = {0, 2, 3, 5, true};

static size_t quantized__volume(const size_t *dims) { return dims[0] * dims[1] * dims[2]; }

// Scratch: columns of one group of an image, packed; the sums of a group; then that of the gemm.
static os_status quantized__plan_conv(op_plan *ctx) {
  const conv_inputs *in = op_node_user(op_plan_node(ctx));
  const op_tensor *x = op_plan_input(ctx, in->x), *w = op_plan_input(ctx, in->w), *y = op_plan_output(ctx, 0);
  math_conv_shape s;
  if (x == NULL || w == NULL || y == NULL || !convolution_describe(op_plan_node(ctx), x, w, y, &s))
    return OS_OK;
  size_t k = s.channels / s.groups * quantized__volume(s.kernel), n = quantized__volume(s.out),
         m = s.filters / s.groups;
  op_plan_scratch(ctx, quantized__round(k * n) + quantized__round(math_gemm_int8_packed_b_bytes(k, n)) +
                           quantized__round(m * n * sizeof(int32_t)) + quantized__gemm_bytes(m, n, k));
  return OS_OK;
}

// The row of the columns for one tap: what each place of the output reads there, `pad` outside.
static void quantized__tap(const math_conv_shape *s, uint8_t *col, const uint8_t *x, const size_t *tap,
                           uint8_t pad) {
  for (size_t d = 0; d < s->out[0]; d++) {
    ptrdiff_t z = (ptrdiff_t)(d * s->stride[0] + tap[0] * s->dilation[0]) - s->pad_begin[0];
    for (size_t h = 0; h < s->out[1]; h++) {
      ptrdiff_t row = (ptrdiff_t)(h * s->stride[1] + tap[1] * s->dilation[1]) - s->pad_begin[1];
      bool inside = z >= 0 && (size_t)z < s->in[0] && row >= 0 && (size_t)row < s->in[1];
      const uint8_t *from = x + (inside ? ((size_t)z * s->in[1] + (size_t)row) * s->in[2] : 0);
      for (size_t i = 0; i < s->out[2]; i++) {
        ptrdiff_t column = (ptrdiff_t)(i * s->stride[2] + tap[2] * s->dilation[2]) - s->pad_begin[2];
        *col++ = inside && column >= 0 && (size_t)column < s->in[2] ? from[column] : pad;
      }
    }
  }
}

// col[channels kernel, out] of one group.
static void quantized__columns(const math_conv_shape *s, uint8_t *col, const uint8_t *x, uint8_t pad) {
  size_t plane = quantized__volume(s->in), places = quantized__volume(s->out);
  for (size_t c = 0; c < s->channels / s->groups; c++) {
    size_t tap[3] = {0};
    do {
      quantized__tap(s, col, x + c * plane, tap, pad);
      col += places;
    } while (kit_next(3, s->kernel, tap));
  }
}

typedef struct conv_zeros {
  const op_tensor *x, *w; // NULL: 0
} conv_zeros;

static os_status quantized__conv_check(op_run *ctx, const conv_inputs *in, math_conv_shape *s,
                                       conv_zeros *zeros) {
  const op_tensor *x = op_run_input(ctx, in->x), *w = op_run_input(ctx, in->w), *y = op_run_output(ctx, 0);
  *zeros = (conv_zeros){quantized__optional(ctx, in->x_zero), quantized__optional(ctx, in->w_zero)};
  if (x->rank > 5) return op_run_fail(ctx, "%d spatial axes, at most 3 are supported", (int)x->rank - 2);
  if (!quantized__is_byte(x->elem) || !quantized__is_byte(w->elem) ||
      !convolution_describe(op_run_node(ctx), x, w, y, s))
    return op_run_fail(ctx, "the shapes or types of x and w do not match");
  if (zeros->x && (zeros->x->count != 1 || zeros->x->elem != x->elem))
    return op_run_fail(ctx, "x_zero_point must be a scalar of x's type");
  if (zeros->w &&
      (zeros->w->elem != w->elem || (zeros->w->count != 1 && (size_t)zeros->w->count != s->filters)))
    return op_run_fail(ctx, "w_zero_point must be one value or one per filter");
  return OS_OK;
}

static os_status quantized__conv_run(op_run *ctx, const conv_inputs *in,
                                     void (*done)(op_run *ctx, const math_conv_shape *s, size_t first_filter,
                                                  size_t at, const int32_t *sums)) {
  const op_tensor *x = op_run_input(ctx, in->x), *w = op_run_input(ctx, in->w);
  op_tensor *y = op_run_output(ctx, 0);
  math_conv_shape s;
  conv_zeros zeros;
  OS_TRY(quantized__conv_check(ctx, in, &s, &zeros));
  if (y->count == 0) return OS_OK;
  size_t depth = s.channels / s.groups, k = depth * quantized__volume(s.kernel), n = quantized__volume(s.out);
  size_t m = s.filters / s.groups, plane = quantized__volume(s.in);
  uint8_t *col = op_run_scratch(ctx), pad = zeros.x ? *(const uint8_t *)zeros.x->data : 0;
  char *packed = (char *)col + quantized__round(k * n);
  char *sums = packed + quantized__round(math_gemm_int8_packed_b_bytes(k, n));
  char *scratch = sums + quantized__round(m * n * sizeof(int32_t));
  for (size_t i = 0; i < s.batch * s.groups; i++) {
    size_t group = i % s.groups, at = i * m * n;
    quantized__columns(&s, col, (const uint8_t *)x->data + i * depth * plane, pad);
    math_gemm_int8_pack_b(packed, col, x->elem == OP_INT8, (ptrdiff_t)n, 1, zeros.x ? zeros.x->data : NULL, 0,
                          k, n);
    math_gemm_int8 g = {.m = m, .n = n, .k = k, .a_signed = w->elem == OP_INT8, .b_packed = packed};
    g.a = (const uint8_t *)w->data + group * m * k;
    g.a_row_stride = (ptrdiff_t)k, g.a_col_stride = 1;
    if (zeros.w) {
      g.a_zero_stride = zeros.w->count == 1 ? 0 : 1;
      g.a_zero = (const uint8_t *)zeros.w->data + (g.a_zero_stride ? group * m : 0);
    }
    g.c = done ? (int32_t *)sums : (int32_t *)y->data + at;
    g.c_row_stride = (ptrdiff_t)n;
    quantized__gemm(ctx, &g, scratch);
    if (done) done(ctx, &s, group * m, at, (const int32_t *)sums);
  }
  return OS_OK;
}

static os_status quantized__compute_conv_integer(op_run *ctx) {
  return quantized__conv_run(ctx, &conv_integer, NULL);
}

static void quantized__conv_finish(op_run *ctx, const math_conv_shape *s, size_t first_filter, size_t at,
                                   const int32_t *sums) {
  const op_tensor *w_scale = op_run_input(ctx, 4), *bias = quantized__optional(ctx, 8);
  float x_scale = (float)kit_double(op_run_input(ctx, 1), 0),
        y_scale = (float)kit_double(op_run_input(ctx, 6), 0);
  double zero = kit_double(op_run_input(ctx, 7), 0);
  size_t places = quantized__volume(s->out);
  for (size_t f = 0; f < s->filters / s->groups; f++) {
    int64_t filter = (int64_t)(first_filter + f);
    double factor =
        (double)(x_scale * (float)kit_double(w_scale, w_scale->count == 1 ? 0 : filter) / y_scale);
    uint32_t shift = bias ? (uint32_t)kit_int(bias, filter) : 0;
    for (size_t i = f * places; i < (f + 1) * places; i++)
      quantized__requantize(op_run_output(ctx, 0), at + i, (int32_t)((uint32_t)sums[i] + shift), factor,
                            zero);
  }
}

static os_status quantized__compute_conv_linear(op_run *ctx) {
  const op_tensor *w = op_run_input(ctx, 3), *w_scale = op_run_input(ctx, 4),
                  *bias = quantized__optional(ctx, 8);
  const op_tensor *y = op_run_output(ctx, 0);
  if (op_run_input(ctx, 1)->count != 1 || op_run_input(ctx, 6)->count != 1 ||
      op_run_input(ctx, 7)->count != 1)
    return op_run_fail(ctx, "scales and zero points of x and y must be scalars");
  if (!quantized__is_byte(y->elem) || op_run_input(ctx, 7)->elem != y->elem || w->rank < 1 ||
      (w_scale->count != 1 && w_scale->count != w->dims[0]) || (bias && bias->count != w->dims[0]))
    return op_run_fail(ctx, "w_scale and B must have one value per filter");
  return quantized__conv_run(ctx, &conv_linear, quantized__conv_finish);
}

static const op_row rows[] = {
    {.op_type = "MatMulInteger",
     .since = 10,
     .traits = OP_PURE,
     .infer = quantized__infer_integer,
     .plan = quantized__plan_product,
     .compute = quantized__compute_integer,
     .user = (void *)&inputs_integer},
    {.op_type = "QLinearMatMul",
     .since = 10,
     .traits = OP_PURE,
     .infer = quantized__infer_linear,
     .plan = quantized__plan_product,
     .compute = quantized__compute_linear,
     .user = (void *)&inputs_linear},
    {.op_type = "ConvInteger",
     .since = 10,
     .traits = OP_PURE,
     .infer = quantized__infer_conv_integer,
     .plan = quantized__plan_conv,
     .compute = quantized__compute_conv_integer,
     .user = (void *)&conv_integer},
    {.op_type = "QLinearConv",
     .since = 10,
     .traits = OP_PURE,
     .infer = quantized__infer_conv_linear,
     .plan = quantized__plan_conv,
     .compute = quantized__compute_conv_linear,
     .user = (void *)&conv_linear},
};

OP_FAMILY(quantized, rows);
