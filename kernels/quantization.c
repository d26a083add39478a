// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.

#include "floats.h"
#include "kit.h"
#include "reduce.h"
#include "staging.h"

#include <math.h>

// ---- Which scale an element has ---------------------------------------------------------------------------------

// x seen as [outer, length, inner] along the axis; runs of elements whose scales are one, or lie side by side.
typedef struct quant_layout {
  enum { QUANT_TENSOR, QUANT_AXIS, QUANT_AXIS_LAST, QUANT_BLOCKS, QUANT_BLOCKS_LAST } kind;
  size_t count, outer, length, inner, block, blocks;
  size_t runs;
} quant_layout;

enum { QUANT_TILE = 512, QUANT_CHUNK = 1 << 14 };

typedef struct quant_run {
  size_t first, length; // elements of x
  size_t scale, step;   // of element i: scale + i step
} quant_run;

static quant_run quant__run(const quant_layout *l, size_t i) {
  size_t row, at;
  switch (l->kind) {
  case QUANT_TENSOR:
    at = i * QUANT_CHUNK;
    return (quant_run){at, l->count - at < QUANT_CHUNK ? l->count - at : QUANT_CHUNK, 0, 0};
  case QUANT_AXIS: return (quant_run){i * l->inner, l->inner, i % l->length, 0};
  case QUANT_AXIS_LAST: return (quant_run){i * l->length, l->length, 0, 1};
  case QUANT_BLOCKS:
    return (quant_run){i * l->inner, l->inner,
                       (i / l->length * l->blocks + i % l->length / l->block) * l->inner, 1};
  case QUANT_BLOCKS_LAST:
    row = i / l->blocks, at = i % l->blocks * l->block;
    return (quant_run){row * l->length + at, l->length - at < l->block ? l->length - at : l->block, i, 0};
  }
  return (quant_run){0, 0, 0, 0};
}

// False when the scale's shape does not fit x.
static bool quant__layout(const op_node *node, const op_tensor *x, const op_tensor *scale, quant_layout *l) {
  *l = (quant_layout){.kind = QUANT_TENSOR, .count = (size_t)x->count};
  l->runs = (l->count + QUANT_CHUNK - 1) / QUANT_CHUNK;
  int64_t axis = op_attr_int(node, "axis", 1), block = op_attr_int(node, "block_size", 0);
  if (scale->count == 1 && block <= 0) return true;
  if (x->rank == 1 && axis == 1) axis = 0; // the default, where there is one axis only
  if (axis < -x->rank || axis >= x->rank) return false;
  int32_t at = kit_axis(axis, x->rank);
  l->outer = kit_extent(x, 0, at), l->length = (size_t)x->dims[at], l->inner = kit_extent(x, at + 1, x->rank);
  if (block <= 0) {
    if (scale->rank != 1 || (size_t)scale->count != l->length) return false;
    l->kind = l->inner == 1 ? QUANT_AXIS_LAST : QUANT_AXIS;
    l->runs = l->inner == 1 ? l->outer : l->outer * l->length;
    return true;
  }
  l->block = (size_t)block;
  l->blocks = l->length == 0 ? 0 : (l->length - 1) / l->block + 1;
  if (scale->rank != x->rank || (size_t)scale->dims[at] != l->blocks) return false;
  for (int32_t d = 0; d < x->rank; d++)
    if (d != at && scale->dims[d] != x->dims[d]) return false;
  l->kind = l->inner == 1 ? QUANT_BLOCKS_LAST : QUANT_BLOCKS;
  l->runs = l->outer * (l->inner == 1 ? l->blocks : l->length);
  return true;
}

// ---- Inference ----------------------------------------------------------------------------------------------------

static os_status quant__infer_blocks(op_infer *ctx, int64_t block, const op_dim *x, int32_t rank,
                                     const op_dim *scale, int32_t scale_rank, int32_t axis) {
  if (scale_rank != rank)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "the scale has rank %d, blocks of rank %d need the same",
                         (int)scale_rank, (int)rank);
  for (int32_t d = 0; d < rank; d++) {
    op_dim want = d == axis ? op_dim_ceildiv(ctx, x[d], block) : x[d];
    OS_TRY(op_infer_merge_dim(ctx, want, scale[d], "dims of x, in blocks, and of the scale", NULL));
  }
  return OS_OK;
}

// The scale of input 1 fits x.
static os_status quant__infer_scale(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  int64_t block = op_attr_int(node, "block_size", 0);
  if (block < 0) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`block_size` is %lld", (long long)block);
  int32_t rank, scale_rank, axis;
  const op_dim *x = op_infer_dims(ctx, 0, &rank), *scale = op_infer_dims(ctx, 1, &scale_rank);
  if (rank < 0 || scale_rank < 0) return OS_OK;
  if (block == 0 && (scale_rank == 0 || (scale_rank == 1 && scale[0] == 1))) return OS_OK;
  if (block == 0 && scale_rank != 1)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "the scale has rank %d, expected 0 or 1 without `block_size`",
                         (int)scale_rank);
  // A single axis has one scale for all where that is all there is.
  if (block == 0 && rank == 1 && !op_attr_has(node, "axis") && scale[0] < 0) return OS_OK;
  if (op_node_since(node) < 13)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "the scale has %lld elements, expected 1", (long long)scale[0]);
  if (block == 0 && rank == 1 && op_attr_int(node, "axis", 1) == 1)
    axis = 0;
  else
    OS_TRY(kit_infer_axis(ctx, 1, rank, &axis));
  if (block > 0) return quant__infer_blocks(ctx, block, x, rank, scale, scale_rank, axis);
  return op_infer_merge_dim(ctx, x[axis], scale[0], "the axis of x and the scale", NULL);
}

static os_status quant__infer_zero(op_infer *ctx) {
  if (!op_infer_has_input(ctx, 2)) return OS_OK;
  int32_t rank, zero_rank;
  const op_dim *scale = op_infer_dims(ctx, 1, &rank), *zero = op_infer_dims(ctx, 2, &zero_rank);
  if (rank < 0 || zero_rank < 0) return OS_OK;
  if (rank != zero_rank) {
    // One element is one element, whatever its rank.
    bool single =
        (rank == 0 || (rank == 1 && scale[0] == 1)) && (zero_rank == 0 || (zero_rank == 1 && zero[0] == 1));
    if (single) return OS_OK;
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "the scale has rank %d, the zero point rank %d", (int)rank,
                         (int)zero_rank);
  }
  for (int32_t d = 0; d < rank; d++) {
    OS_TRY(op_infer_merge_dim(ctx, scale[d], zero[d], "dims of scale and zero point", NULL));
  }
  return OS_OK;
}

static os_status quant__infer_quantize(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int64_t wanted = op_attr_int(node, "output_dtype", 0);
  op_elem zero = op_infer_has_input(ctx, 2) ? op_infer_elem(ctx, 2) : OP_NONE;
  if (wanted < 0 || wanted >= OP_ELEM_COUNT)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`output_dtype` is %lld, which is no element type",
                         (long long)wanted);
  if (wanted != 0 && zero != OP_NONE && wanted != (int64_t)zero)
    return op_infer_fail(ctx, OP_FAULT_TYPE, "`output_dtype` is %s, the zero point %s",
                         op_elem_name((op_elem)wanted), op_elem_name(zero));
  if (op_infer_has_input(ctx, 2) && zero == OP_NONE)
    op_infer_set_type(ctx, 0, op_type_tensor((op_elem)wanted));
  else
    op_infer_set_elem(ctx, 0, wanted != 0 ? (op_elem)wanted : zero != OP_NONE ? zero : OP_UINT8);
  OS_TRY(quant__infer_scale(ctx));
  return quant__infer_zero(ctx);
}

static os_status quant__infer_dequantize(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int64_t wanted = op_attr_int(node, "output_dtype", 0);
  if (wanted < 0 || wanted >= OP_ELEM_COUNT)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`output_dtype` is %lld, which is no element type",
                         (long long)wanted);
  if (wanted != 0)
    op_infer_set_elem(ctx, 0, (op_elem)wanted);
  else
    op_infer_set_type(ctx, 0, op_node_since(node) < 19 ? op_type_tensor(OP_FLOAT) : op_infer_type(ctx, 1));
  OS_TRY(quant__infer_scale(ctx));
  return quant__infer_zero(ctx);
}

// ---- Scales and zero points as floats -------------------------------------------------------------------------------

static size_t quant__round(int64_t count) { return ((size_t)count + 15) / 16 * 16; }

static os_status quant__plan(op_plan *ctx) {
  const op_tensor *scale = op_plan_input(ctx, 1);
  if (scale) op_plan_scratch(ctx, 2 * quant__round(scale->count) * sizeof(float) + 64);
  return OS_OK;
}

typedef struct quant_job {
  quant_layout layout;
  const op_tensor *x;
  op_tensor *y;
  const float *scale, *zero;
  op_elem division; // the type that quotients are rounded to
  bool saturate;
} quant_job;

static os_status quant__prepare(op_run *ctx, quant_job *job, op_elem zero_elem) {
  const op_tensor *scale = op_run_input(ctx, 1), *zero = op_run_input(ctx, 2);
  float *scales = op_run_scratch(ctx), *zeros = scales + quant__round(scale->count);
  job->x = op_run_input(ctx, 0);
  job->y = op_run_output(ctx, 0);
  if (!quant__layout(op_run_node(ctx), job->x, scale, &job->layout))
    return op_run_fail(ctx, "the scale's shape does not fit x");
  if (zero && (zero->count != scale->count || zero->elem != zero_elem))
    return op_run_fail(ctx, "the zero point has %lld elements of %s, expected %lld of %s",
                       (long long)zero->count, op_elem_name(zero->elem), (long long)scale->count,
                       op_elem_name(zero_elem));
  if (!math_cast(scales, MATH_F32, scale->data, (int)scale->elem, (size_t)scale->count, NULL))
    return op_run_fail(ctx, "%s cannot be a scale", op_elem_name(scale->elem));
  if (zero)
    math_cast(zeros, MATH_F32, zero->data, (int)zero->elem, (size_t)zero->count, NULL);
  else
    memset(zeros, 0, (size_t)scale->count * sizeof *zeros);
  job->scale = scales;
  job->zero = zeros;
  return OS_OK;
}

// ---- QuantizeLinear ---------------------------------------------------------------------------------------------------

static bool quant__range(op_elem elem, float *low, float *high) {
  static const struct {
    op_elem elem;
    float low, high;
  } ranges[] = {{OP_UINT8, 0, 255}, {OP_INT8, -128, 127}, {OP_UINT16, 0, 65535}, {OP_INT16, -32768, 32767},
                {OP_UINT4, 0, 15},  {OP_INT4, -8, 7},     {OP_UINT2, 0, 3},      {OP_INT2, -2, 1}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    if (ranges[i].elem != elem) continue;
    *low = ranges[i].low;
    *high = ranges[i].high;
    return true;
  }
  return false;
}

static void quant__divide(float *tile, size_t n, const float *scale, size_t step) {
  if (step == 0) {
    float by = scale[0];
    for (size_t i = 0; i < n; i++) tile[i] /= by;
  } else {
    for (size_t i = 0; i < n; i++) tile[i] /= scale[i];
  }
}

// Rounds halves to even, adds the zero point, saturates; NaN counts as 0.
static void quant__round_tile(int32_t *out, const float *tile, size_t n, const float *zero, size_t step,
                              float low, float high) {
  for (size_t i = 0; i < n; i++) {
    float value = tile[i] == tile[i] ? rintf(tile[i]) : 0.0f;
    value += zero[i * step];
    value = value < low ? low : value;
    out[i] = (int32_t)(value > high ? high : value);
  }
}

static void quant__store(op_tensor *y, size_t first, const int32_t *values, size_t n) {
  switch (op_elem_size(y->elem)) {
  case 1: {
    uint8_t *to = (uint8_t *)y->data + first;
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)values[i];
    break;
  }
  case 2: {
    uint16_t *to = (uint16_t *)y->data + first;
    for (size_t i = 0; i < n; i++) to[i] = (uint16_t)values[i];
    break;
  }
  default: break;
  }
}

static void quant__quantize_run(const quant_job *job, quant_run run) {
  float tile[QUANT_TILE], low, high;
  int32_t rounded[QUANT_TILE];
  uint16_t narrow[QUANT_TILE];
  bool whole = quant__range(job->y->elem, &low, &high),
       coarse = job->division == OP_FLOAT16 || job->division == OP_BFLOAT16;
  math_params params = {.i = {job->saturate, 0}};
  for (size_t i = 0; i < run.length; i += QUANT_TILE) {
    size_t n = run.length - i < QUANT_TILE ? run.length - i : QUANT_TILE;
    const float *scale = job->scale + run.scale + i * run.step, *zero = job->zero + run.scale + i * run.step;
    math_cast(tile, MATH_F32, kit_at(job->x, run.first + i), (int)job->x->elem, n, NULL);
    for (int pass = 0; pass < 2; pass++) {
      if (pass == 1) quant__divide(tile, n, scale, run.step);
      if (!coarse) continue;
      math_store_f32(narrow, tile, (int)job->division, n);
      math_load_f32(tile, narrow, (int)job->division, n);
    }
    if (whole) {
      quant__round_tile(rounded, tile, n, zero, run.step, low, high);
      quant__store(job->y, run.first + i, rounded, n);
    } else {
      for (size_t j = 0; j < n; j++) tile[j] += zero[j * run.step];
      math_cast(kit_at(job->y, run.first + i), (int)job->y->elem, tile, MATH_F32, n, &params);
    }
  }
}

static void quant__quantize_piece(void *argument, size_t begin, size_t end) {
  const quant_job *job = argument;
  for (size_t i = begin; i < end; i++) quant__quantize_run(job, quant__run(&job->layout, i));
}

static size_t quant__grain(const quant_layout *l) {
  size_t length = l->runs ? l->count / l->runs + 1 : 1;
  return length >= QUANT_CHUNK ? 1 : QUANT_CHUNK / length;
}

static os_status quant__quantize(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  op_tensor *y = op_run_output(ctx, 0);
  quant_job job = {.saturate = op_attr_int(node, "saturate", 1) != 0};
  OS_TRY(quant__prepare(ctx, &job, y->elem));
  float low, high;
  if ((!quant__range(y->elem, &low, &high) && !elem_is_narrow(y->elem)) || job.x->elem == OP_STRING)
    return op_run_fail(ctx, "%s cannot be quantized to %s", op_elem_name(job.x->elem), op_elem_name(y->elem));
  int64_t precision = op_attr_int(node, "precision", 0);
  job.division = precision > 0 && precision < OP_ELEM_COUNT ? (op_elem)precision : op_run_input(ctx, 1)->elem;
  op_parallel_for(ctx, job.layout.runs, quant__grain(&job.layout), quant__quantize_piece, &job);
  return OS_OK;
}

// ---- DequantizeLinear ---------------------------------------------------------------------------------------------------

static void quant__dequantize_run(const quant_job *job, quant_run run) {
  float tile[QUANT_TILE];
  for (size_t i = 0; i < run.length; i += QUANT_TILE) {
    size_t n = run.length - i < QUANT_TILE ? run.length - i : QUANT_TILE;
    const float *scale = job->scale + run.scale + i * run.step, *zero = job->zero + run.scale + i * run.step;
    bool direct = job->y->elem == OP_FLOAT;
    float *to = direct ? (float *)kit_at(job->y, run.first + i) : tile;
    math_cast(to, MATH_F32, kit_at(job->x, run.first + i), (int)job->x->elem, n, NULL);
    if (run.step == 0) {
      float by = scale[0], shift = zero[0];
      for (size_t j = 0; j < n; j++) to[j] = (to[j] - shift) * by;
    } else {
      for (size_t j = 0; j < n; j++) to[j] = (to[j] - zero[j]) * scale[j];
    }
    if (!direct) math_store_f32(kit_at(job->y, run.first + i), to, (int)job->y->elem, n);
  }
}

static void quant__dequantize_piece(void *argument, size_t begin, size_t end) {
  const quant_job *job = argument;
  for (size_t i = begin; i < end; i++) quant__dequantize_run(job, quant__run(&job->layout, i));
}

static os_status quant__dequantize(op_run *ctx) {
  op_tensor *y = op_run_output(ctx, 0);
  quant_job job = {0};
  OS_TRY(quant__prepare(ctx, &job, op_run_input(ctx, 0)->elem));
  if (!elem_is_float(y->elem) || job.x->elem == OP_STRING)
    return op_run_fail(ctx, "%s cannot be dequantized to %s", op_elem_name(job.x->elem),
                       op_elem_name(y->elem));
  op_parallel_for(ctx, job.layout.runs, quant__grain(&job.layout), quant__dequantize_piece, &job);
  return OS_OK;
}

// ---- DynamicQuantizeLinear ------------------------------------------------------------------------------------------------

static os_status quant__infer_dynamic(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  op_infer_set_elem(ctx, 0, OP_UINT8);
  if (op_infer_has_output(ctx, 1)) {
    op_infer_set_elem(ctx, 1, OP_FLOAT);
    op_infer_set_rank(ctx, 1, 0);
  }
  if (op_infer_has_output(ctx, 2)) {
    op_infer_set_elem(ctx, 2, OP_UINT8);
    op_infer_set_rank(ctx, 2, 0);
  }
  return OS_OK;
}

// The range always holds 0; where all is 0 the scale is 1/255, so that nothing divides by 0.
static os_status quant__dynamic(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0), *scale = op_run_output(ctx, 1), *zero = op_run_output(ctx, 2);
  if (x->elem != OP_FLOAT) return op_run_fail(ctx, "x is %s, expected float", op_elem_name(x->elem));
  float high = 0, low = 0;
  if (x->count > 0) {
    math_reduce(MATH_REDUCE_MAX, MATH_F32, &high, x->data, 1, (size_t)x->count, 1);
    math_reduce(MATH_REDUCE_MIN, MATH_F32, &low, x->data, 1, (size_t)x->count, 1);
  }
  high = high > 0 ? high : 0;
  low = low < 0 ? low : 0;
  float step = (high == low ? 1.0f : high - low) / 255.0f, origin = 0.0f - low / step;
  origin = rintf(origin < 0 ? 0 : origin > 255 ? 255 : origin);
  if (scale) *(float *)scale->data = step;
  if (zero) *(uint8_t *)zero->data = (uint8_t)origin;
  quant_job job = {.x = x, .y = y, .scale = &step, .zero = &origin, .division = OP_FLOAT};
  job.layout = (quant_layout){.kind = QUANT_TENSOR, .count = (size_t)x->count};
  job.layout.runs = (job.layout.count + QUANT_CHUNK - 1) / QUANT_CHUNK;
  op_parallel_for(ctx, job.layout.runs, 1, quant__quantize_piece, &job);
  return OS_OK;
}

static const op_row rows[] = {
    {.op_type = "QuantizeLinear",
     .since = 10,
     .traits = OP_PURE,
     .infer = quant__infer_quantize,
     .plan = quant__plan,
     .compute = quant__quantize},
    {.op_type = "DequantizeLinear",
     .since = 10,
     .traits = OP_PURE,
     .infer = quant__infer_dequantize,
     .plan = quant__plan,
     .compute = quant__dequantize},
    OP_ROW("DynamicQuantizeLinear", 11, OP_PURE, quant__infer_dynamic, quant__dynamic),
};

OP_FAMILY(quantization, rows);
