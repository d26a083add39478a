// Attention and RotaryEmbedding.

#include "floats.h"
#include "gemm.h"
#include "kit.h"
#include "rows.h"
#include "scalars.h"

#include <math.h>

// ---- Shapes -----------------------------------------------------------------------------------------------

enum { AT_Q, AT_K, AT_V, AT_MASK, AT_PAST_KEY, AT_PAST_VALUE, AT_VALID, AT_INPUTS };

// Batch, heads, rows, width of a tensor [B, heads, S, D] or [B, S, heads D].
typedef struct heads_view {
  op_dim batch, heads, rows, width;
} heads_view;

static os_status heads__view(op_infer *ctx, uint32_t input, const char *attribute, heads_view *out) {
  static const char *const names[] = {"Q", "K", "V"};
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, input, &rank);
  *out = (heads_view){OP_DIM_UNKNOWN, OP_DIM_UNKNOWN, OP_DIM_UNKNOWN, OP_DIM_UNKNOWN};
  if (rank < 0) return OS_OK;
  if (rank == 4) {
    *out = (heads_view){dims[0], dims[1], dims[2], dims[3]};
    return OS_OK;
  }
  int64_t heads = op_attr_int(op_infer_node(ctx), attribute, 0);
  if (rank != 3)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank %d, expected 3 or 4", names[input], (int)rank);
  if (heads < 1) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s is %lld; %s of rank 3 needs it", attribute,
                         (long long)heads, names[input]);
  }
  if (dims[2] >= 0 && dims[2] % heads != 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has a width of %lld, no multiple of %lld heads",
                         names[input], (long long)dims[2], (long long)heads);
  }
  *out = (heads_view){dims[0], heads, dims[1], op_dim_floordiv(ctx, dims[2], heads)};
  return OS_OK;
}

static os_status attention__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  heads_view q, k, v;
  OS_TRY(heads__view(ctx, AT_Q, "q_num_heads", &q));
  OS_TRY(heads__view(ctx, AT_K, "kv_num_heads", &k));
  OS_TRY(heads__view(ctx, AT_V, "kv_num_heads", &v));
  OS_TRY(op_infer_merge_dim(ctx, q.width, k.width, "head size of Q and K", NULL));
  OS_TRY(op_infer_merge_dim(ctx, k.rows, v.rows, "length of K and V", NULL));
  OS_TRY(op_infer_merge_dim(ctx, k.heads, v.heads, "heads of K and V", NULL));
  if (q.heads >= 0 && k.heads > 0 && q.heads % k.heads != 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%lld query heads are no multiple of %lld key heads",
                         (long long)q.heads, (long long)k.heads);
  }
  if (op_infer_has_input(ctx, AT_PAST_KEY) != op_infer_has_input(ctx, AT_PAST_VALUE)) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "past_key and past_value are given together or not at all");
  }
  int64_t mode = op_attr_int(node, "qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "qk_matmul_output_mode is %lld", (long long)mode);
  }
  op_dim total = k.rows;
  if (op_infer_has_input(ctx, AT_PAST_KEY))
    total = op_dim_add(ctx, op_infer_dim(ctx, AT_PAST_KEY, 2), k.rows);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  op_infer_set_type(ctx, 1, op_infer_type(ctx, AT_K));
  op_infer_set_type(ctx, 2, op_infer_type(ctx, AT_V));
  op_infer_set_type(ctx, 3, op_infer_type(ctx, 0));
  op_dim four[] = {q.batch, q.heads, q.rows, v.width},
         three[] = {q.batch, q.rows, op_dim_mul(ctx, q.heads, v.width)};
  if (op_infer_rank(ctx, AT_Q) == 4) op_infer_set_shape(ctx, 0, 4, four);
  if (op_infer_rank(ctx, AT_Q) == 3) op_infer_set_shape(ctx, 0, 3, three);
  op_dim key[] = {k.batch, k.heads, total, k.width}, value[] = {v.batch, v.heads, total, v.width};
  op_dim scores[] = {q.batch, q.heads, q.rows, total};
  op_infer_set_shape(ctx, 1, 4, key);
  op_infer_set_shape(ctx, 2, 4, value);
  op_infer_set_shape(ctx, 3, 4, scores);
  return OS_OK;
}

// ---- Execution --------------------------------------------------------------------------------------------

// Rows of one head lie row_stride floats apart, heads head_stride, batches batch_stride.
typedef struct head_rows {
  const float *data;
  size_t batch_stride, head_stride, row_stride;
} head_rows;

typedef struct attention_run {
  size_t batch, heads, key_heads, rows, past, keys, size, value_size; // keys with those of the past
  double scale, softcap;
  bool causal;
  int64_t left, right, mode;
  kit_floats in[AT_INPUTS], out[4];
  const op_tensor *mask, *valid;
  head_rows q, k, v;
  op_value *key_owner, *value_owner, *room;
  float *scores, *bias;
  void *packed, *scratch;
} attention_run;

static head_rows head__rows(const op_tensor *tensor, const float *data, size_t heads, size_t width) {
  if (tensor->rank == 4) {
    size_t rows = (size_t)tensor->dims[2];
    return (head_rows){data, heads * rows * width, rows * width, width};
  }
  return (head_rows){data, (size_t)tensor->dims[1] * heads * width, width, heads * width};
}

static const float *head__at(const head_rows *rows, size_t batch, size_t head) {
  return rows->data + batch * rows->batch_stride + head * rows->head_stride;
}

// Past and new rows one after the other: into the output's room, or into memory of its own (*owner).
static os_status attention__extend(op_run *ctx, const attention_run *run, head_rows *rows, const float *past,
                                   size_t width, float *to, op_value **owner) {
  if (!past && !to) return OS_OK;
  if (!to) {
    int64_t dims[4] = {(int64_t)run->batch, (int64_t)run->key_heads, (int64_t)run->keys, (int64_t)width};
    *owner = op_run_new_tensor(ctx, OP_FLOAT, 4, dims);
    if (!*owner) return OS_OUT_OF_MEMORY;
    to = op_value_edit(*owner)->data;
  }
  size_t fresh = run->keys - run->past, row = width * sizeof(float);
  for (size_t h = 0; h < run->batch * run->key_heads; h++) {
    const float *from = head__at(rows, h / run->key_heads, h % run->key_heads);
    float *at = to + h * run->keys * width;
    if (run->past > 0) memcpy(at, past + h * run->past * width, run->past * row);
    for (size_t r = 0; width > 0 && r < fresh; r++)
      memcpy(at + (run->past + r) * width, from + r * rows->row_stride, row);
  }
  *rows = (head_rows){to, run->key_heads * run->keys * width, run->keys * width, width};
  return OS_OK;
}

// Offset of the mask's row for (batch, head, row), all of its axes broadcast but the last.
static size_t attention__mask_row(const op_tensor *mask, size_t batch, size_t head, size_t row) {
  size_t place[3] = {batch, head, row}, at = 0;
  for (int32_t i = 0; i + 1 < mask->rank; i++) {
    size_t dim = (size_t)mask->dims[i], index = place[3 - (mask->rank - 1) + i];
    at = at * dim + (dim == 1 ? 0 : index);
  }
  return mask->rank > 0 ? at * (size_t)mask->dims[mask->rank - 1] : 0;
}

static bool attention__mask_fits(const attention_run *run) {
  const op_tensor *mask = run->mask;
  size_t wanted[3] = {run->batch, run->heads, run->rows};
  if (!mask) return true;
  if (mask->rank > 4) return false;
  for (int32_t i = 0; i + 1 < mask->rank; i++) {
    size_t dim = (size_t)mask->dims[i];
    if (dim != 1 && dim != wanted[3 - (mask->rank - 1) + i]) return false;
  }
  return mask->rank == 0 || (size_t)mask->dims[mask->rank - 1] <= run->keys;
}

// What is added to a row of scores. False when no key may be attended to.
static bool attention__bias(const attention_run *run, size_t batch, size_t head, size_t row, float *bias) {
  const op_tensor *mask = run->mask;
  int64_t valid = run->valid ? kit_int(run->valid, (int64_t)batch) : (int64_t)run->keys;
  int64_t offset = run->valid && run->past == 0 ? valid - (int64_t)run->rows : (int64_t)run->past;
  int64_t place = (int64_t)row + offset;
  size_t first = mask ? attention__mask_row(mask, batch, head, row) : 0;
  size_t masked = mask && mask->rank > 0 ? (size_t)mask->dims[mask->rank - 1] : SIZE_MAX;
  bool any = false;
  for (size_t j = 0; j < run->keys; j++) {
    int64_t key = (int64_t)j;
    bool open = key < valid && !(run->causal && key > place) &&
                !(run->left >= 0 && key < place - run->left) &&
                !(run->right >= 0 && key > place + run->right);
    bias[j] = 0;
    if (mask && j < masked) {
      int64_t at = (int64_t)(mask->rank == 0 ? first : first + j);
      if (mask->elem == OP_BOOL)
        open &= ((const uint8_t *)mask->data)[at] != 0;
      else
        bias[j] = mask->elem == OP_FLOAT ? ((const float *)mask->data)[at] : (float)kit_double(mask, at);
    } else if (mask) {
      open = false; // a shorter mask, also one of a single key, leaves the other keys out
    }
    if (!open) bias[j] = -INFINITY;
    any |= bias[j] != -INFINITY;
  }
  return any;
}

static void attention__cap(float *row, size_t n, double cap) {
  math_params down = {.f = {1 / cap, 0}}, up = {.f = {cap, 0}};
  math_run_unary(LOOP_affine_f32, MATH_F32, row, row, n, &down);
  math_run_unary(LOOP_tanh_f32, MATH_F32, row, row, n, NULL);
  math_run_unary(LOOP_affine_f32, MATH_F32, row, row, n, &up);
}

// Scores of one head, ready to weigh values with; `shown` gets them at the stage that the mode names.
static void attention__weigh(const attention_run *run, size_t batch, size_t head, float *shown) {
  size_t n = run->keys;
  for (size_t row = 0; row < run->rows; row++) {
    float *scores = run->scores + row * n;
    if (shown && run->mode == 0) memcpy(shown + row * n, scores, n * sizeof *scores);
    if (run->softcap > 0) attention__cap(scores, n, run->softcap);
    if (shown && run->mode == 1) memcpy(shown + row * n, scores, n * sizeof *scores);
    bool any = attention__bias(run, batch, head, row, run->bias);
    for (size_t j = 0; j < n; j++) scores[j] += run->bias[j];
    if (shown && run->mode == 2) memcpy(shown + row * n, scores, n * sizeof *scores);
    if (any)
      math_softmax_f32(scores, scores, 1, n, 1, false);
    else
      memset(scores, 0, n * sizeof *scores);
    if (shown && run->mode == 3) memcpy(shown + row * n, scores, n * sizeof *scores);
  }
}

static void attention__multiply(const attention_run *run, math_gemm gemm) {
  if (math_gemm_wants_packing(gemm.m, gemm.n, gemm.k)) {
    math_gemm_pack_b(run->packed, gemm.b, gemm.b_row_stride, gemm.b_col_stride, gemm.k, gemm.n, 0, gemm.n);
    gemm.b = NULL;
    gemm.b_packed = run->packed;
  }
  math_gemm_f32(&gemm, 0, gemm.m, 0, gemm.n, run->scratch);
}

static void attention__head(const attention_run *run, size_t batch, size_t head, head_rows *y) {
  size_t key_head = head / (run->heads / run->key_heads);
  math_epilogue scaled = MATH_EPILOGUE_NONE;
  scaled.alpha = (float)run->scale;
  attention__multiply(run, (math_gemm){.m = run->rows,
                                       .n = run->keys,
                                       .k = run->size,
                                       .a = head__at(&run->q, batch, head),
                                       .a_row_stride = (ptrdiff_t)run->q.row_stride,
                                       .a_col_stride = 1,
                                       .b = head__at(&run->k, batch, key_head),
                                       .b_row_stride = 1,
                                       .b_col_stride = (ptrdiff_t)run->k.row_stride,
                                       .c = run->scores,
                                       .c_row_stride = (ptrdiff_t)run->keys,
                                       .epilogue = &scaled});
  size_t plane = run->rows * run->keys;
  attention__weigh(run, batch, head,
                   run->out[3].data ? run->out[3].data + (batch * run->heads + head) * plane : NULL);
  float *to = run->out[0].data + batch * y->batch_stride + head * y->head_stride;
  attention__multiply(run, (math_gemm){.m = run->rows,
                                       .n = run->value_size,
                                       .k = run->keys,
                                       .a = run->scores,
                                       .a_row_stride = (ptrdiff_t)run->keys,
                                       .a_col_stride = 1,
                                       .b = head__at(&run->v, batch, key_head),
                                       .b_row_stride = (ptrdiff_t)run->v.row_stride,
                                       .b_col_stride = 1,
                                       .c = to,
                                       .c_row_stride = (ptrdiff_t)y->row_stride});
}

// ---- The operator -----------------------------------------------------------------------------------------

static size_t attention__heads(const op_tensor *tensor, int64_t heads) {
  return (size_t)(tensor->rank == 4 ? tensor->dims[1] : heads);
}

static bool attention__measure(const op_run *ctx, attention_run *run) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *q = op_run_input(ctx, AT_Q), *k = op_run_input(ctx, AT_K), *v = op_run_input(ctx, AT_V);
  const op_tensor *past = op_run_input(ctx, AT_PAST_KEY), *past_value = op_run_input(ctx, AT_PAST_VALUE);
  if (q->rank != k->rank || q->rank != v->rank || (q->rank != 3 && q->rank != 4)) return false;
  run->batch = (size_t)q->dims[0];
  run->heads = attention__heads(q, op_attr_int(node, "q_num_heads", 0));
  run->key_heads = attention__heads(k, op_attr_int(node, "kv_num_heads", 0));
  if (run->heads == 0 || run->key_heads == 0 || run->heads % run->key_heads != 0) return false;
  int32_t rows = q->rank == 4 ? 2 : 1;
  run->rows = (size_t)q->dims[rows];
  run->size = (size_t)q->dims[rows + 1] / (q->rank == 4 ? 1 : run->heads);
  run->value_size = (size_t)v->dims[rows + 1] / (q->rank == 4 ? 1 : run->key_heads);
  run->past = past ? (size_t)past->dims[2] : 0;
  size_t fresh = (size_t)k->dims[rows], states = run->batch * run->key_heads;
  run->keys = fresh + run->past;
  run->mask = op_run_input(ctx, AT_MASK);
  run->valid = op_run_input(ctx, AT_VALID);
  return (size_t)q->count == run->batch * run->heads * run->rows * run->size &&
         (size_t)k->count == states * fresh * run->size &&
         (size_t)v->count == states * fresh * run->value_size &&
         (!past || (size_t)past->count == states * run->past * run->size) && !past == !past_value &&
         (!past_value || (size_t)past_value->count == states * run->past * run->value_size) &&
         (!run->valid || (size_t)run->valid->count == run->batch) && attention__mask_fits(run);
}

static size_t attention__round(size_t bytes) { return (bytes + 63) / 64 * 64; }

static os_status attention__make_room(op_run *ctx, attention_run *run) {
  size_t packed = math_gemm_packed_b_bytes(run->size, run->keys),
         values = math_gemm_packed_b_bytes(run->keys, run->value_size);
  size_t scratch = math_gemm_scratch_bytes(run->rows, run->keys, run->size);
  size_t more = math_gemm_scratch_bytes(run->rows, run->value_size, run->keys);
  size_t scores = attention__round(run->rows * run->keys * sizeof(float)),
         bias = attention__round(run->keys * sizeof(float));
  packed = attention__round(packed > values ? packed : values);
  int64_t dim = (int64_t)(scores + bias + packed + (scratch > more ? scratch : more) + 64);
  run->room = op_run_new_tensor(ctx, OP_UINT8, 1, &dim);
  if (!run->room) return OS_OUT_OF_MEMORY;
  char *at = op_value_edit(run->room)->data;
  run->scores = (float *)(void *)at;
  run->bias = (float *)(void *)(at + scores);
  run->packed = at + scores + bias;
  run->scratch = at + scores + bias + packed;
  return OS_OK;
}

static os_status attention__prepare(op_run *ctx, attention_run *run) {
  const op_node *node = op_run_node(ctx);
  if (!attention__measure(ctx, run)) return op_run_fail(ctx, "the shapes of the inputs do not match");
  run->scale = op_attr_has(node, "scale") ? op_attr_float(node, "scale", 1) : 1 / sqrt((double)run->size);
  run->softcap = op_attr_float(node, "softcap", 0);
  run->causal = op_attr_int(node, "is_causal", 0) != 0;
  run->left = op_attr_int(node, "left_window_size", -1);
  run->right = op_attr_int(node, "right_window_size", -1);
  run->mode = op_attr_int(node, "qk_matmul_output_mode", 0);
  for (uint32_t i = 0; i < AT_VALID; i++) {
    if (i != AT_MASK) OS_TRY(kit_read_floats(ctx, op_run_input(ctx, i), &run->in[i]));
  }
  for (uint32_t i = 0; i < 4; i++) {
    if (!op_run_has_output(ctx, i)) continue;
    op_tensor *out = op_run_output(ctx, i);
    if (!out) return OS_OUT_OF_MEMORY;
    OS_TRY(kit_room_floats(ctx, out, &run->out[i]));
  }
  run->q = head__rows(op_run_input(ctx, AT_Q), run->in[AT_Q].data, run->heads, run->size);
  run->k = head__rows(op_run_input(ctx, AT_K), run->in[AT_K].data, run->key_heads, run->size);
  run->v = head__rows(op_run_input(ctx, AT_V), run->in[AT_V].data, run->key_heads, run->value_size);
  OS_TRY(attention__extend(ctx, run, &run->k, run->in[AT_PAST_KEY].data, run->size, run->out[1].data,
                           &run->key_owner));
  OS_TRY(attention__extend(ctx, run, &run->v, run->in[AT_PAST_VALUE].data, run->value_size, run->out[2].data,
                           &run->value_owner));
  return attention__make_room(ctx, run);
}

static os_status attention__compute(op_run *ctx) {
  attention_run run = {0};
  os_status status = attention__prepare(ctx, &run);
  if (status == OS_OK && run.out[0].data) {
    op_tensor *out = op_run_output(ctx, 0);
    head_rows y = head__rows(out, run.out[0].data, run.heads, run.value_size);
    if ((size_t)out->count != run.batch * run.heads * run.rows * run.value_size)
      status = kit_shape_broken(ctx, "Y");
    for (size_t b = 0; status == OS_OK && b < run.batch; b++) {
      for (size_t h = 0; h < run.heads; h++) attention__head(&run, b, h, &y);
    }
  }
  for (uint32_t i = 0; i < 4; i++) {
    if (status == OS_OK && run.out[i].owner) kit_write_floats(op_run_output(ctx, i), &run.out[i]);
    kit_free_floats(&run.out[i]);
  }
  for (size_t i = 0; i < AT_INPUTS; i++) kit_free_floats(&run.in[i]);
  op_value_release(run.key_owner);
  op_value_release(run.value_owner);
  op_value_release(run.room);
  return status;
}

// ---- RotaryEmbedding --------------------------------------------------------------------------------------

static os_status rotary__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  int32_t rank = op_infer_rank(ctx, 0);
  int64_t heads = op_attr_int(op_infer_node(ctx), "num_heads", 0);
  if (rank >= 0 && rank != 3 && rank != 4) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, expected 3 or 4", (int)rank);
  }
  if (rank == 3 && heads < 1) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "num_heads is %lld; X of rank 3 needs it",
                         (long long)heads);
  }
  bool positions = op_infer_has_input(ctx, 3);
  OS_TRY(kit_want_rank(ctx, 1, positions ? 2 : 3, "cos_cache"));
  return kit_want_rank(ctx, 2, positions ? 2 : 3, "sin_cache");
}

typedef struct rotary_run {
  size_t batch, rows, heads, size, turned; // turned: how many elements of a head are rotated
  bool interleaved;
  const float *cos, *sin;
  const op_tensor *positions;
  size_t table; // rows of the caches
} rotary_run;

static void rotary__turn(const rotary_run *run, float *to, const float *from, const float *cos,
                         const float *sin) {
  size_t half = run->turned / 2;
  for (size_t i = 0; i < half; i++) {
    size_t a = run->interleaved ? 2 * i : i, b = run->interleaved ? 2 * i + 1 : half + i;
    float x = from[a], y = from[b];
    to[a] = cos[i] * x - sin[i] * y;
    to[b] = sin[i] * x + cos[i] * y;
  }
  for (size_t i = run->turned; i < run->size; i++) to[i] = from[i];
}

static os_status rotary__rows(op_run *ctx, const rotary_run *run, const op_tensor *in, float *to,
                              const float *from) {
  for (size_t b = 0; b < run->batch; b++) {
    for (size_t s = 0; s < run->rows; s++) {
      int64_t place = (int64_t)(b * run->rows + s),
              row = run->positions ? kit_int(run->positions, place) : place;
      if (row < 0) row += (int64_t)run->table;
      if (row < 0 || (size_t)row >= run->table) {
        return op_run_fail(ctx, "position_ids: element %lld is outside of a cache of %zu rows",
                           (long long)place, run->table);
      }
      size_t cached = (size_t)row * (run->turned / 2);
      for (size_t h = 0; h < run->heads; h++) {
        size_t at =
            in->rank == 4 ? (b * run->heads + h) * run->rows + s : (b * run->rows + s) * run->heads + h;
        rotary__turn(run, to + at * run->size, from + at * run->size, run->cos + cached, run->sin + cached);
      }
    }
  }
  return OS_OK;
}

static os_status rotary__measure(op_run *ctx, rotary_run *run) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *in = op_run_input(ctx, 0), *cos = op_run_input(ctx, 1), *sin = op_run_input(ctx, 2);
  run->positions = op_run_input(ctx, 3);
  bool four = in->rank == 4;
  run->batch = (size_t)in->dims[0];
  run->rows = (size_t)in->dims[four ? 2 : 1];
  run->heads = four ? (size_t)in->dims[1] : (size_t)op_attr_int(node, "num_heads", 1);
  run->size = four ? (size_t)in->dims[3] : run->heads > 0 ? (size_t)in->dims[2] / run->heads : 0;
  int64_t turned = op_attr_int(node, "rotary_embedding_dim", 0);
  run->turned = turned > 0 ? (size_t)turned : run->size;
  run->interleaved = op_attr_int(node, "interleaved", 0) != 0;
  size_t half = run->turned / 2;
  if (run->turned > run->size || run->turned % 2 != 0 ||
      run->batch * run->rows * run->heads * run->size != (size_t)in->count) {
    return op_run_fail(ctx, "heads of %zu elements cannot be rotated by %zu", run->size, run->turned);
  }
  if (cos->count != sin->count || cos->rank < 1 || (size_t)cos->dims[cos->rank - 1] != half ||
      (size_t)sin->dims[sin->rank - 1] != half) {
    return op_run_fail(ctx, "the caches must have %zu columns", half);
  }
  run->table = half > 0 ? (size_t)cos->count / half : 0;
  if (run->positions && (size_t)run->positions->count != run->batch * run->rows) {
    return op_run_fail(ctx, "position_ids has %lld elements, expected %zu", (long long)run->positions->count,
                       run->batch * run->rows);
  }
  return OS_OK;
}

static os_status rotary__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (in->count == 0) return OS_OK;
  rotary_run run = {0};
  OS_TRY(rotary__measure(ctx, &run));
  kit_floats from = {0}, cos = {0}, sin = {0}, to = {0};
  os_status status = kit_read_floats(ctx, in, &from);
  if (status == OS_OK) status = kit_read_floats(ctx, op_run_input(ctx, 1), &cos);
  if (status == OS_OK) status = kit_read_floats(ctx, op_run_input(ctx, 2), &sin);
  if (status == OS_OK) status = kit_room_floats(ctx, out, &to);
  run.cos = cos.data;
  run.sin = sin.data;
  if (status == OS_OK) status = rotary__rows(ctx, &run, in, to.data, from.data);
  if (status == OS_OK) kit_write_floats(out, &to);
  kit_free_floats(&from);
  kit_free_floats(&cos);
  kit_free_floats(&sin);
  kit_free_floats(&to);
  return status;
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("Attention", 23, OP_PURE, attention__infer,
           attention__compute), // 24: nonpad_kv_seqlen; 25: windows
    OP_ROW("RotaryEmbedding", 23, OP_PURE, rotary__infer, rotary__compute),
};

OP_FAMILY(attention, rows);
