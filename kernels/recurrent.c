// RNN, GRU and LSTM: one machine. The products with the inputs are done for all steps at once, those with the hidden state
// step by step; the rest of a step is a row function of the cell.

#include "floats.h"
#include "gemm.h"
#include "kit.h"

typedef enum cell_kind { CELL_RNN, CELL_GRU, CELL_LSTM } cell_kind;

// ---- Attributes -------------------------------------------------------------------------------------------

typedef struct cell_activation {
  math_loop_id first, second, third; // LOOP_NONE = nothing
  math_params params[3];
} cell_activation;

static const struct activation_name {
  const char *name;
  math_loop_id loop;
  bool alpha, beta;
  double alpha_default, beta_default;
} activation_names[] = {
    {"Relu", LOOP_relu_f32, false, false, 0, 0},
    {"Tanh", LOOP_tanh_f32, false, false, 0, 0},
    {"Sigmoid", LOOP_sigmoid_f32, false, false, 0, 0},
    {"Affine", LOOP_affine_f32, true, true, 1, 0},
    {"LeakyRelu", LOOP_leaky_relu_f32, true, false, 0.01, 0},
    {"ThresholdedRelu", LOOP_thresholded_relu_f32, true, false, 1, 0},
    {"ScaledTanh", LOOP_tanh_f32, true, true, 1, 1},
    {"HardSigmoid", LOOP_hard_sigmoid_f32, true, true, 0.2, 0.5},
    {"Elu", LOOP_elu_f32, true, false, 1, 0},
    {"Softsign", LOOP_softsign_f32, false, false, 0, 0},
    {"Softplus", LOOP_softplus_f32, false, false, 0, 0},
};
enum { ACTIVATION_NAMES = sizeof activation_names / sizeof *activation_names, CELL_ACTIVATIONS = 6 };

static bool cell__letter_equal(char a, char b) { return (a | 32) == (b | 32); }

// Names are compared without regard to case, as exporters write them in any.
static const struct activation_name *cell__activation_name(os_str name) {
  for (size_t i = 0; i < ACTIVATION_NAMES; i++) {
    const char *known = activation_names[i].name;
    size_t k = 0;
    while (k < name.len && known[k] && cell__letter_equal(name.data[k], known[k])) k++;
    if (k == name.len && !known[k]) return &activation_names[i];
  }
  return NULL;
}

typedef struct cell_options {
  cell_kind kind;
  size_t gates, directions;
  bool backward, batch_first, linear_before_reset, coupled;
  double clip; // 0 = none
  cell_activation activations[CELL_ACTIVATIONS];
  size_t per_direction; // activations
} cell_options;

static cell_kind cell__kind(const op_node *node) {
  os_str type = op_node_type(node);
  return type.data[0] == 'L' ? CELL_LSTM : type.data[0] == 'G' ? CELL_GRU : CELL_RNN;
}

static cell_activation cell__activation(const struct activation_name *name, double alpha, double beta) {
  cell_activation out = {.first = name->loop, .params[0].f = {alpha, beta}};
  if (name->loop != LOOP_tanh_f32 || !name->alpha) return out;
  // ScaledTanh: alpha tanh(beta x).
  out.first = out.third = LOOP_affine_f32;
  out.second = LOOP_tanh_f32;
  out.params[0] = (math_params){.f = {beta, 0}};
  out.params[2] = (math_params){.f = {alpha, 0}};
  return out;
}

// Fills the activations; false for an unknown name or a wrong number of them.
static bool cell__activations(const op_node *node, cell_options *options) {
  static const char *const defaults[][3] = {{"Tanh"}, {"Sigmoid", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}};
  size_t count, alphas, betas, alpha = 0, beta = 0, wanted = options->per_direction * options->directions;
  const os_str *names = op_attr_strings(node, "activations", &count);
  const float *alpha_list = op_attr_floats(node, "activation_alpha", &alphas);
  const float *beta_list = op_attr_floats(node, "activation_beta", &betas);
  if (count != 0 && count < wanted) return false;
  for (size_t i = 0; i < wanted; i++) {
    const char *fallback = defaults[options->kind][i % options->per_direction];
    os_str name = count ? names[i] : (os_str){fallback, strlen(fallback)};
    const struct activation_name *known = cell__activation_name(name);
    if (!known) return false;
    double a = known->alpha && alpha < alphas ? (double)alpha_list[alpha++] : known->alpha_default;
    double b = known->beta && beta < betas ? (double)beta_list[beta++] : known->beta_default;
    options->activations[i] = cell__activation(known, a, b);
  }
  return true;
}

static bool cell__options(const op_node *node, cell_options *options) {
  os_str direction = op_attr_string(node, "direction", "forward");
  *options = (cell_options){.kind = cell__kind(node)};
  options->gates = options->kind == CELL_LSTM ? 4 : options->kind == CELL_GRU ? 3 : 1;
  options->per_direction = options->kind == CELL_LSTM ? 3 : options->kind == CELL_GRU ? 2 : 1;
  options->directions = direction.len == 13 ? 2 : 1; // "bidirectional"
  options->backward = direction.len == 7 && direction.data[0] == 'r';
  options->batch_first = op_attr_int(node, "layout", 0) != 0;
  options->linear_before_reset = op_attr_int(node, "linear_before_reset", 0) != 0;
  options->coupled = op_attr_int(node, "input_forget", 0) != 0;
  options->clip = op_attr_float(node, "clip", 0);
  return cell__activations(node, options);
}

// ---- Inference --------------------------------------------------------------------------------------------

static os_status cell__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  cell_options options;
  if (!cell__options(node, &options)) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "activations must be %zu known names",
                         options.per_direction * options.directions);
  }
  for (uint32_t i = 0; i < 3; i++) {
    static const char *const names[] = {"X", "W", "R"};
    OS_TRY(kit_want_rank(ctx, i, 3, names[i]));
  }
  op_dim hidden = op_attr_has(node, "hidden_size") ? op_attr_int(node, "hidden_size", 0) : OP_DIM_UNKNOWN;
  OS_TRY(op_infer_merge_dim(ctx, hidden, op_infer_dim(ctx, 2, 2), "hidden_size", &hidden));
  op_dim rows = op_dim_mul(ctx, hidden, (op_dim)options.gates);
  for (uint32_t i = 1; i < 3; i++) {
    OS_TRY(op_infer_merge_dim(ctx, op_infer_dim(ctx, i, 0), (op_dim)options.directions,
                              "the number of directions", NULL));
    OS_TRY(op_infer_merge_dim(ctx, op_infer_dim(ctx, i, 1), rows, "rows of the weights", NULL));
  }
  OS_TRY(op_infer_merge_dim(ctx, op_infer_dim(ctx, 0, 2), op_infer_dim(ctx, 1, 2), "the input size", NULL));
  op_dim steps = op_infer_dim(ctx, 0, options.batch_first ? 1 : 0);
  op_dim batch = op_infer_dim(ctx, 0, options.batch_first ? 0 : 1), directions = (op_dim)options.directions;
  for (uint32_t i = 0; i < op_infer_output_count(ctx); i++) {
    op_infer_set_type(ctx, i, op_infer_type(ctx, 0));
    op_dim flat[] = {steps, directions, batch, hidden}, first[] = {batch, steps, directions, hidden};
    op_dim last[] = {directions, batch, hidden}, last_first[] = {batch, directions, hidden};
    if (i == 0)
      op_infer_set_shape(ctx, i, 4, options.batch_first ? first : flat);
    else
      op_infer_set_shape(ctx, i, 3, options.batch_first ? last_first : last);
  }
  return OS_OK;
}

// ---- Execution --------------------------------------------------------------------------------------------

enum { CELL_X, CELL_W, CELL_R, CELL_B, CELL_LENGTHS, CELL_H, CELL_C, CELL_P, CELL_INPUTS };

typedef struct cell_run {
  cell_options options;
  size_t steps, batch, inputs, hidden, columns; // columns = gates * hidden
  kit_floats in[CELL_INPUTS];
  kit_floats out[3]; // Y, Y_h, Y_c
  const op_tensor *lengths;
  // Of the direction in progress; memory of `room`.
  op_value *room;
  float *from_input;                      // steps * batch rows of columns, in X's row order
  float *from_hidden;                     // batch rows of columns
  float *h, *c, *reset;                   // batch * hidden
  float *bias;                            // columns
  const float *recurrent_bias, *peephole; // NULL = 0
  void *packed, *packed_last, *scratch;
} cell_run;

// Multiplies rows by weights[n, k] transposed. `packed` has them packed, or is NULL.
static void cell__multiply(const cell_run *run, float *c, size_t c_stride, const float *a, size_t a_stride,
                           size_t m, const float *weights, size_t n, size_t k, const void *packed,
                           const math_epilogue *epilogue) {
  math_gemm gemm = {.m = m,
                    .n = n,
                    .k = k,
                    .a = a,
                    .a_row_stride = (ptrdiff_t)a_stride,
                    .a_col_stride = 1,
                    .c = c,
                    .c_row_stride = (ptrdiff_t)c_stride,
                    .b_packed = packed,
                    .epilogue = epilogue};
  if (!packed) {
    gemm.b = weights;
    gemm.b_row_stride = 1;
    gemm.b_col_stride = (ptrdiff_t)k;
  }
  math_gemm_f32(&gemm, 0, m, 0, n, run->scratch);
}

static size_t cell__round(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t cell__most(size_t a, size_t b) { return a > b ? a : b; }

// Lays out the room; with base NULL only measures it.
static size_t cell__lay_out(cell_run *run, char *base) {
  size_t rows = run->steps * run->batch, wide = run->columns, hidden = run->hidden, at = 0;
  size_t packed =
      cell__most(math_gemm_packed_b_bytes(run->inputs, wide), math_gemm_packed_b_bytes(hidden, wide));
  size_t scratch = cell__most(math_gemm_scratch_bytes(rows, wide, run->inputs),
                              math_gemm_scratch_bytes(run->batch, wide, hidden));
  struct {
    void **to;
    size_t bytes;
  } parts[] = {{(void **)&run->from_input, rows * wide * sizeof(float)},
               {(void **)&run->from_hidden, run->batch * wide * sizeof(float)},
               {(void **)&run->h, run->batch * hidden * sizeof(float)},
               {(void **)&run->c, run->batch * hidden * sizeof(float)},
               {(void **)&run->reset, run->batch * hidden * sizeof(float)},
               {(void **)&run->bias, wide * sizeof(float)},
               {&run->packed, packed},
               {&run->packed_last, math_gemm_packed_b_bytes(hidden, hidden)},
               {&run->scratch, scratch}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (base) *parts[i].to = base + at;
    at += cell__round(parts[i].bytes);
  }
  return at;
}

static void cell__apply(const cell_activation *how, float *x, size_t n, double clip) {
  if (clip > 0) {
    math_params bounds = {.f = {-clip, clip}};
    math_run_unary(LOOP_clip_f32, MATH_F32, x, x, n, &bounds);
  }
  math_run_unary(how->first, MATH_F32, x, x, n, &how->params[0]);
  if (how->second != LOOP_NONE) math_run_unary(how->second, MATH_F32, x, x, n, &how->params[1]);
  if (how->third != LOOP_NONE) math_run_unary(how->third, MATH_F32, x, x, n, &how->params[2]);
}

// Rows of cells: `gates` holds W x + R h + bias of one sequence and is overwritten; h and c are its states.
static void cell__lstm(const cell_run *run, const cell_activation *activations, float *gates, float *h,
                       float *c) {
  size_t n = run->hidden;
  float *in = gates, *out = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
  const float *p = run->peephole;
  for (size_t i = 0; p && i < n; i++) {
    in[i] += p[i] * c[i];
    forget[i] += p[2 * n + i] * c[i];
  }
  cell__apply(&activations[0], in, n, run->options.clip);
  if (run->options.coupled) {
    for (size_t i = 0; i < n; i++) forget[i] = 1 - in[i];
  } else {
    cell__apply(&activations[0], forget, n, run->options.clip);
  }
  cell__apply(&activations[1], cell, n, run->options.clip);
  for (size_t i = 0; i < n; i++) c[i] = forget[i] * c[i] + in[i] * cell[i];
  for (size_t i = 0; p && i < n; i++) out[i] += p[n + i] * c[i];
  cell__apply(&activations[0], out, n, run->options.clip);
  memcpy(cell, c, n * sizeof *c);
  cell__apply(&activations[2], cell, n, 0);
  for (size_t i = 0; i < n; i++) h[i] = out[i] * cell[i];
}

static void cell__rnn(const cell_run *run, const cell_activation *activations, float *gates, float *h) {
  cell__apply(&activations[0], gates, run->hidden, run->options.clip);
  memcpy(h, gates, run->hidden * sizeof *h);
}

// Place of a sequence's step in X's rows and in Y.
static size_t cell__row(const cell_run *run, size_t t, size_t b) {
  return run->options.batch_first ? b * run->steps + t : t * run->batch + b;
}

static float *cell__place(const cell_run *run, size_t t, size_t direction, size_t b) {
  size_t d = run->options.directions;
  size_t row =
      run->options.batch_first ? (b * run->steps + t) * d + direction : (t * d + direction) * run->batch + b;
  return run->out[0].data + row * run->hidden;
}

static size_t cell__length(const cell_run *run, size_t b) {
  return run->lengths ? (size_t)kit_int(run->lengths, (int64_t)b) : run->steps;
}

// GRU without linear_before_reset: the hidden gate sees the state that the reset gate let through.
static void cell__gru_reset(const cell_run *run, const cell_activation *activations, const float *weights,
                            size_t step, bool backward) {
  size_t n = run->hidden, wide = run->columns;
  for (size_t b = 0; b < run->batch; b++) {
    size_t length = cell__length(run, b);
    if (step >= length) continue;
    float *gates = run->from_hidden + b * wide;
    const float *x = run->from_input + cell__row(run, backward ? length - 1 - step : step, b) * wide;
    for (size_t i = 0; i < 2 * n; i++) gates[i] += x[i];
    cell__apply(&activations[0], gates, 2 * n, run->options.clip);
    for (size_t i = 0; i < n; i++) run->reset[b * n + i] = gates[n + i] * run->h[b * n + i];
  }
  cell__multiply(run, run->from_hidden + 2 * n, wide, run->reset, n, run->batch, weights + 2 * n * n, n, n,
                 run->packed_last, NULL);
}

static void cell__gru(const cell_run *run, const cell_activation *activations, float *gates, const float *x,
                      float *h) {
  size_t n = run->hidden;
  float *update = gates, *reset = gates + n, *hidden = gates + 2 * n;
  if (run->options.linear_before_reset) {
    for (size_t i = 0; i < 2 * n; i++) gates[i] += x[i];
    cell__apply(&activations[0], gates, 2 * n, run->options.clip);
    for (size_t i = 0; i < n; i++) {
      float bias = run->recurrent_bias ? run->recurrent_bias[2 * n + i] : 0;
      hidden[i] = x[2 * n + i] + reset[i] * (hidden[i] + bias);
    }
  } else {
    for (size_t i = 0; i < n; i++) hidden[i] += x[2 * n + i];
  }
  cell__apply(&activations[1], hidden, n, run->options.clip);
  for (size_t i = 0; i < n; i++) h[i] = (1 - update[i]) * hidden[i] + update[i] * h[i];
}

// One step of all sequences that are not over.
static void cell__step(cell_run *run, size_t direction, bool backward, const float *weights, size_t step) {
  size_t n = run->hidden, wide = run->columns;
  const cell_activation *activations = run->options.activations + direction * run->options.per_direction;
  bool two_products = run->options.kind == CELL_GRU && !run->options.linear_before_reset;
  cell__multiply(run, run->from_hidden, wide, run->h, n, run->batch, weights, two_products ? 2 * n : wide, n,
                 run->packed, NULL);
  if (two_products) cell__gru_reset(run, activations, weights, step, backward);
  for (size_t b = 0; b < run->batch; b++) {
    size_t length = cell__length(run, b);
    if (step >= length) continue;
    size_t t = backward ? length - 1 - step : step;
    float *gates = run->from_hidden + b * wide, *h = run->h + b * n;
    const float *x = run->from_input + cell__row(run, t, b) * wide;
    if (run->options.kind == CELL_GRU) {
      cell__gru(run, activations, gates, x, h);
    } else {
      for (size_t i = 0; i < wide; i++) gates[i] += x[i];
      if (run->options.kind == CELL_LSTM)
        cell__lstm(run, activations, gates, h, run->c + b * n);
      else
        cell__rnn(run, activations, gates, h);
    }
    if (run->out[0].data) memcpy(cell__place(run, t, direction, b), h, n * sizeof *h);
  }
}

// Initial states, biases and the products with the inputs.
static void cell__begin_direction(cell_run *run, size_t direction) {
  size_t n = run->hidden, wide = run->columns, d = run->options.directions;
  const float *b = run->in[CELL_B].data ? run->in[CELL_B].data + direction * 2 * wide : NULL;
  const float *initial[2] = {run->in[CELL_H].data,
                             run->options.kind == CELL_LSTM ? run->in[CELL_C].data : NULL};
  float *states[2] = {run->h, run->c};
  for (int s = 0; s < 2; s++) {
    for (size_t i = 0; i < run->batch; i++) {
      size_t row = run->options.batch_first ? i * d + direction : direction * run->batch + i;
      if (initial[s])
        memcpy(states[s] + i * n, initial[s] + row * n, n * sizeof(float));
      else
        memset(states[s] + i * n, 0, n * sizeof(float));
    }
  }
  run->recurrent_bias = b ? b + wide : NULL;
  run->peephole = run->in[CELL_P].data ? run->in[CELL_P].data + direction * 3 * n : NULL;
  // The hidden gate's recurrent bias stays inside of the reset when asked.
  size_t joined = run->options.kind == CELL_GRU && run->options.linear_before_reset ? 2 * n : wide;
  for (size_t i = 0; i < wide; i++) run->bias[i] = b ? b[i] + (i < joined ? b[wide + i] : 0) : 0;
  math_epilogue epilogue = MATH_EPILOGUE_NONE;
  epilogue.bias = run->bias;
  epilogue.bias_kind = MATH_BIAS_COLUMN;
  const float *weights = run->in[CELL_W].data + direction * wide * run->inputs;
  size_t rows = run->steps * run->batch;
  const void *packed = NULL;
  if (math_gemm_wants_packing(rows, wide, run->inputs)) {
    math_gemm_pack_b(run->packed, weights, 1, (ptrdiff_t)run->inputs, run->inputs, wide, 0, wide);
    packed = run->packed;
  }
  cell__multiply(run, run->from_input, wide, run->in[CELL_X].data, run->inputs, rows, weights, wide,
                 run->inputs, packed, &epilogue);
}

static void cell__direction(cell_run *run, size_t direction) {
  size_t n = run->hidden, wide = run->columns, d = run->options.directions;
  bool backward = run->options.backward || direction == 1;
  const float *weights = run->in[CELL_R].data + direction * wide * n;
  cell__begin_direction(run, direction);
  bool two_products = run->options.kind == CELL_GRU && !run->options.linear_before_reset;
  size_t first = two_products ? 2 * n : wide;
  math_gemm_pack_b(run->packed, weights, 1, (ptrdiff_t)n, n, first, 0, first);
  if (two_products) math_gemm_pack_b(run->packed_last, weights + 2 * n * n, 1, (ptrdiff_t)n, n, n, 0, n);
  for (size_t step = 0; step < run->steps; step++) cell__step(run, direction, backward, weights, step);
  for (int s = 0; s < 2; s++) {
    float *to = run->out[1 + s].data;
    const float *from = s == 0 ? run->h : run->c;
    for (size_t b = 0; to && b < run->batch; b++) {
      size_t row = run->options.batch_first ? b * d + direction : direction * run->batch + b;
      memcpy(to + row * n, from + b * n, n * sizeof *from);
    }
  }
}

// ---- The operator -----------------------------------------------------------------------------------------

static bool cell__counts(const op_run *ctx, const cell_run *run) {
  size_t d = run->options.directions, n = run->hidden, wide = run->columns, states = d * run->batch * n;
  size_t wanted[CELL_INPUTS] = {run->steps * run->batch * run->inputs,
                                d * wide * run->inputs,
                                d * wide * n,
                                d * 2 * wide,
                                run->batch,
                                states,
                                states,
                                d * 3 * n};
  uint32_t inputs = run->options.kind == CELL_LSTM ? CELL_INPUTS : CELL_C;
  for (uint32_t i = 0; i < inputs; i++) {
    const op_tensor *tensor = op_run_input(ctx, i);
    if (tensor && (size_t)tensor->count != wanted[i]) return false;
  }
  for (int64_t b = 0; run->lengths && b < run->lengths->count; b++) {
    int64_t length = kit_int(run->lengths, b);
    if (length < 0 || (uint64_t)length > run->steps) return false;
  }
  return true;
}

static os_status cell__prepare(op_run *ctx, cell_run *run) {
  const op_tensor *x = op_run_input(ctx, CELL_X), *r = op_run_input(ctx, CELL_R);
  if (!cell__options(op_run_node(ctx), &run->options) || x->rank != 3 || r->rank != 3) {
    return kit_shape_broken(ctx, "an attribute or weight");
  }
  run->steps = (size_t)x->dims[run->options.batch_first ? 1 : 0];
  run->batch = (size_t)x->dims[run->options.batch_first ? 0 : 1];
  run->inputs = (size_t)x->dims[2];
  run->hidden = (size_t)r->dims[2];
  run->columns = run->options.gates * run->hidden;
  run->lengths = op_run_input(ctx, CELL_LENGTHS);
  if (!cell__counts(ctx, run))
    return op_run_fail(ctx, "the shapes of X, weights, states and sequence_lens do not match");
  uint32_t inputs = run->options.kind == CELL_LSTM ? CELL_INPUTS : CELL_C;
  for (uint32_t i = 0; i < inputs; i++) {
    if (i != CELL_LENGTHS) OS_TRY(kit_read_floats(ctx, op_run_input(ctx, i), &run->in[i]));
  }
  uint32_t outputs = run->options.kind == CELL_LSTM ? 3 : 2;
  for (uint32_t i = 0; i < outputs; i++) {
    if (!op_run_has_output(ctx, i)) continue;
    op_tensor *out = op_run_output(ctx, i);
    if (!out) return OS_OUT_OF_MEMORY;
    size_t rows = run->options.directions * run->batch * (i == 0 ? run->steps : 1);
    if ((size_t)out->count != rows * run->hidden) return kit_shape_broken(ctx, "an output");
    OS_TRY(kit_room_floats(ctx, out, &run->out[i]));
    if (out->count > 0)
      memset(run->out[i].data, 0, (size_t)out->count * sizeof(float)); // past a sequence's end: 0
  }
  int64_t dim = (int64_t)cell__lay_out(run, NULL) + 1;
  run->room = op_run_new_tensor(ctx, OP_UINT8, 1, &dim);
  if (!run->room) return OS_OUT_OF_MEMORY;
  cell__lay_out(run, op_value_edit(run->room)->data);
  return OS_OK;
}

static os_status cell__compute(op_run *ctx) {
  cell_run run = {0};
  os_status status = cell__prepare(ctx, &run);
  if (status == OS_OK && run.batch > 0 && run.hidden > 0) {
    for (size_t d = 0; d < run.options.directions; d++) cell__direction(&run, d);
    for (uint32_t i = 0; i < 3; i++) {
      if (run.out[i].owner) kit_write_floats(op_run_output(ctx, i), &run.out[i]);
    }
  }
  for (size_t i = 0; i < CELL_INPUTS; i++) kit_free_floats(&run.in[i]);
  for (size_t i = 0; i < 3; i++) kit_free_floats(&run.out[i]);
  op_value_release(run.room);
  return status;
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("RNN", 1, OP_PURE, cell__infer, cell__compute), // 14: layout
    OP_ROW("GRU", 1, OP_PURE, cell__infer, cell__compute), // 3: linear_before_reset; 14: layout
    OP_ROW("LSTM", 1, OP_PURE, cell__infer, cell__compute),
};

OP_FAMILY(recurrent, rows);
