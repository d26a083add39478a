// RandomUniform, RandomNormal and their Like forms, Bernoulli, Multinomial.

#include "kit.h"
#include "loops.h"
#include "scalars.h"

#include <math.h>

// ---- Numbers ----------------------------------------------------------------------------------------------

// A stream of 64-bit numbers (splitmix64). With a seed attribute it is the same in every run.
static uint64_t random__next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t random__stream(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  if (!op_attr_has(node, "seed")) return op_run_random(ctx);
  double seed = op_attr_float(node, "seed", 0);
  uint64_t state;
  memcpy(&state, &seed, sizeof state);
  return random__next(&state);
}

// In [0, 1), 53 bits.
static double random__uniform(uint64_t *state) { return (double)(random__next(state) >> 11) * 0x1p-53; }

// Box and Muller; one of the pair is thrown away so that an element needs its own two numbers only.
static double random__normal(uint64_t *state) {
  double radius = math_log(1 - random__uniform(state)), angle = 6.283185307179586 * random__uniform(state);
  return sqrt(-2 * radius) * math_cos(angle);
}

// ---- Shapes and types -------------------------------------------------------------------------------------

static os_status random__set_dtype(op_infer *ctx, op_elem fallback) {
  int64_t dtype = op_attr_int(op_infer_node(ctx), "dtype", 0);
  if (dtype < 0 || dtype >= OP_ELEM_COUNT || dtype == OP_STRING) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "dtype is %lld", (long long)dtype);
  }
  op_infer_set_elem(ctx, 0, dtype > 0 ? (op_elem)dtype : fallback);
  return OS_OK;
}

static os_status random__infer_like(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  return random__set_dtype(ctx, op_infer_elem(ctx, 0));
}

static os_status random__infer_shape(op_infer *ctx) {
  size_t count;
  const int64_t *shape = op_attr_ints(op_infer_node(ctx), "shape", &count);
  OS_TRY(random__set_dtype(ctx, OP_FLOAT));
  op_dim *out = op_infer_set_rank(ctx, 0, count > INT32_MAX ? INT32_MAX : (int32_t)count);
  for (size_t i = 0; out && i < count; i++) {
    if (shape[i] < 0)
      return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "shape[%zu] is %lld", i, (long long)shape[i]);
    out[i] = shape[i];
  }
  return OS_OK;
}

static os_status random__store(op_run *ctx, op_tensor *out, int64_t index, double x) {
  if (kit_put(out, index, x)) return OS_OK;
  return op_run_fail(ctx, "random numbers of type %s are not defined", op_elem_name(out->elem));
}

// ---- Operators --------------------------------------------------------------------------------------------

static os_status uniform__compute(op_run *ctx) {
  op_tensor *out = op_run_output(ctx, 0);
  uint64_t state = random__stream(ctx);
  double low = op_attr_float(op_run_node(ctx), "low", 0), high = op_attr_float(op_run_node(ctx), "high", 1);
  for (int64_t i = 0; i < out->count; i++) {
    OS_TRY(random__store(ctx, out, i, low + (high - low) * random__uniform(&state)));
  }
  return OS_OK;
}

static os_status normal__compute(op_run *ctx) {
  op_tensor *out = op_run_output(ctx, 0);
  uint64_t state = random__stream(ctx);
  double mean = op_attr_float(op_run_node(ctx), "mean", 0),
         scale = op_attr_float(op_run_node(ctx), "scale", 1);
  for (int64_t i = 0; i < out->count; i++) {
    OS_TRY(random__store(ctx, out, i, mean + scale * random__normal(&state)));
  }
  return OS_OK;
}

static os_status bernoulli__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  uint64_t state = random__stream(ctx);
  for (int64_t i = 0; i < out->count; i++) {
    OS_TRY(random__store(ctx, out, i, random__uniform(&state) < kit_double(in, i)));
  }
  return OS_OK;
}

static os_status multinomial__infer(op_infer *ctx) {
  OS_TRY(random__set_dtype(ctx, OP_INT32));
  OS_TRY(kit_want_rank(ctx, 0, 2, "input"));
  int64_t samples = op_attr_int(op_infer_node(ctx), "sample_size", 1);
  if (samples < 0) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "sample_size is %lld", (long long)samples);
  op_dim *out = op_infer_set_rank(ctx, 0, 2);
  if (!out) return OS_OK;
  out[0] = op_infer_rank(ctx, 0) == 2 ? op_infer_dim(ctx, 0, 0) : OP_DIM_UNKNOWN;
  out[1] = samples;
  return OS_OK;
}

// One class drawn from unnormalised log-probabilities: the first whose running sum passes a random part of the whole.
static int64_t multinomial__draw(const op_tensor *in, int64_t begin, int64_t classes, double highest,
                                 double whole, uint64_t *state) {
  double wanted = random__uniform(state) * whole, sum = 0;
  for (int64_t c = 0; c < classes; c++) {
    sum += math_exp(kit_double(in, begin + c) - highest);
    if (wanted < sum) return c;
  }
  return classes - 1;
}

static os_status multinomial__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  int64_t classes = in->dims[1], samples = out->dims[1];
  if (out->count > 0 && classes == 0) return op_run_fail(ctx, "there are no classes to draw from");
  uint64_t state = random__stream(ctx);
  for (int64_t b = 0; samples > 0 && b < out->dims[0]; b++) {
    double highest = -INFINITY, whole = 0;
    for (int64_t c = 0; c < classes; c++) {
      double x = kit_double(in, b * classes + c);
      if (x > highest) highest = x;
    }
    for (int64_t c = 0; c < classes; c++) whole += math_exp(kit_double(in, b * classes + c) - highest);
    for (int64_t s = 0; s < samples; s++) {
      int64_t drawn = multinomial__draw(in, b * classes, classes, highest, whole, &state);
      OS_TRY(random__store(ctx, out, b * samples + s, (double)drawn));
    }
  }
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

#define RANDOM(name, version, infer_function, compute_function) \
  {.op_type = name,                                             \
   .since = version,                                            \
   .traits = OP_RANDOM,                                         \
   .infer = infer_function,                                     \
   .compute = compute_function}

static const op_row rows[] = {
    RANDOM("RandomUniform", 1, random__infer_shape, uniform__compute),
    RANDOM("RandomUniformLike", 1, random__infer_like, uniform__compute),
    RANDOM("RandomNormal", 1, random__infer_shape, normal__compute),
    RANDOM("RandomNormalLike", 1, random__infer_like, normal__compute),
    RANDOM("Bernoulli", 15, random__infer_like, bernoulli__compute),
    RANDOM("Multinomial", 7, multinomial__infer, multinomial__compute),
};

OP_FAMILY(random, rows);
