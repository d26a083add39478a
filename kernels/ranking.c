// ArgMax, ArgMin, TopK.

#include "elements.h"
#include "floats.h"
#include "kit.h"
#include "reduce.h"

#include <string.h>

// ---- ArgMax, ArgMin -----------------------------------------------------------------------------------------

static os_status ranking__infer_arg(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_elem(ctx, 0, OP_INT64);
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  // A scalar has one element, whose index is 0 along the only axis that it could have.
  if (rank == 0) {
    op_infer_set_rank(ctx, 0, 0);
    return OS_OK;
  }
  OS_TRY(kit_infer_axis(ctx, 0, rank, &axis));
  if (dims[axis] == 0) return op_infer_fail(ctx, OP_FAULT_SHAPE, "axis %d of the input is empty", (int)axis);
  bool keep = op_attr_int(node, "keepdims", 1) == 1;
  op_dim out[OP_MAX_RANK];
  int32_t out_rank = 0;
  for (int32_t d = 0; d < rank; d++)
    if (d != axis || keep) out[out_rank++] = d == axis ? 1 : dims[d];
  op_infer_set_shape(ctx, 0, out_rank, out);
  return OS_OK;
}

typedef struct ranking_job {
  int type;
  bool largest, last;
  int64_t *out;
  const char *in;
  size_t n, inner, size;
} ranking_job;

static void ranking__arg_piece(void *argument, size_t begin, size_t end) {
  const ranking_job *job = argument;
  math_arg_extreme(job->type, job->largest, job->last, job->out + begin * job->inner,
                   job->in + begin * job->n * job->inner * job->size, end - begin, job->n, job->inner);
}

static os_status ranking__compute_arg(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) return OS_OK;
  int64_t axis = op_attr_int(node, "axis", 0);
  size_t outer = 1, n = 1, inner = 1;
  if (x->rank > 0) {
    if (axis < -x->rank || axis >= x->rank)
      return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)axis, (int)x->rank);
    int32_t at = kit_axis(axis, x->rank);
    outer = kit_extent(x, 0, at), n = (size_t)x->dims[at], inner = kit_extent(x, at + 1, x->rank);
  }
  if (n == 0) return op_run_fail(ctx, "axis %lld of the input is empty", (long long)axis);
  if (outer * inner != (size_t)y->count) return kit_shape_broken(ctx, "the reduced shape");
  op_value *wide = elem_is_narrow(x->elem) ? op_run_new_tensor(ctx, OP_FLOAT, x->rank, x->dims) : NULL;
  if (elem_is_narrow(x->elem)) {
    OS_TRY_ALLOC(wide);
    math_load_f32(op_value_edit(wide)->data, x->data, (int)x->elem, (size_t)x->count);
    x = op_value_tensor(wide);
  }
  ranking_job job = {(int)x->elem,
                     op_node_user(node) != NULL,
                     op_attr_int(node, "select_last_index", 0) != 0,
                     y->data,
                     x->data,
                     n,
                     inner,
                     op_elem_size(x->elem)};
  bool known = math_arg_extreme(job.type, job.largest, job.last, job.out, job.in, 0, n, inner);
  size_t work = n * inner, grain = work >= 1 << 15 ? 1 : (size_t)(1 << 15) / (work ? work : 1);
  if (known) op_parallel_for(ctx, outer, grain, ranking__arg_piece, &job);
  op_value_release(wide);
  return known ? OS_OK : op_run_fail(ctx, "%s has no order", op_elem_name(op_run_input(ctx, 0)->elem));
}

// ---- TopK ---------------------------------------------------------------------------------------------------

static os_status ranking__infer_top(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  op_infer_set_elem(ctx, 1, OP_INT64);
  int32_t rank, axis;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  OS_TRY(kit_infer_axis(ctx, -1, rank, &axis));
  op_dim k = OP_DIM_UNKNOWN;
  if (op_attr_has(node, "k"))
    k = op_attr_int(node, "k", 0);
  else
    k = kit_infer_number(ctx, 1);
  if (op_dim_is_number(k) && k < 0) return op_infer_fail(ctx, OP_FAULT_VALUE, "k is %lld", (long long)k);
  if (op_dim_is_number(k) && dims[axis] >= 0 && k > dims[axis])
    return op_infer_fail(ctx, OP_FAULT_VALUE, "k is %lld, axis %d has %lld elements", (long long)k, (int)axis,
                         (long long)dims[axis]);
  op_dim out[OP_MAX_RANK];
  for (int32_t d = 0; d < rank; d++) out[d] = d == axis ? k : dims[d];
  for (uint32_t i = 0; i < 2; i++) op_infer_set_shape(ctx, i, rank, out);
  return OS_OK;
}

// An element as an integer that is the larger the higher it ranks; NaN above all numbers, -0 = +0.
typedef struct ranked {
  uint64_t key;
  int64_t index;
} ranked;

static uint64_t ranking__float_key(double x) {
  if (!(x == x)) return UINT64_MAX;
  if (x == 0) x = 0;
  uint64_t bits = math_f64_bits(x);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static void ranking__keys(ranked *keys, const op_tensor *x, size_t first, size_t n, size_t stride,
                          bool largest) {
  for (size_t i = 0; i < n; i++) {
    int64_t at = (int64_t)(first + i * stride);
    uint64_t key;
    if (x->elem == OP_UINT64)
      key = ((const uint64_t *)x->data)[at];
    else if (elem_is_float(x->elem))
      key = ranking__float_key(kit_double(x, at));
    else
      key = (uint64_t)kit_int(x, at) ^ UINT64_C(1) << 63;
    keys[i] = (ranked){largest ? key : ~key, (int64_t)i};
  }
}

static bool ranking__before(ranked a, ranked b) { return a.key != b.key ? a.key > b.key : a.index < b.index; }

// A heap of the k best so far whose top is the worst of them; `keys` holds them and then is sorted.
static void ranking__sift(ranked *heap, size_t n, size_t at) {
  ranked moved = heap[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= n) break;
    if (child + 1 < n && ranking__before(heap[child], heap[child + 1])) child++;
    if (!ranking__before(moved, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

static void ranking__select(ranked *keys, size_t n, size_t k) {
  if (k == 0) return;
  for (size_t i = k / 2; i-- > 0;) ranking__sift(keys, k, i);
  for (size_t i = k; i < n; i++) {
    if (!ranking__before(keys[i], keys[0])) continue;
    keys[0] = keys[i];
    ranking__sift(keys, k, 0);
  }
  for (size_t i = k; i-- > 1;) {
    ranked worst = keys[0];
    keys[0] = keys[i];
    keys[i] = worst;
    ranking__sift(keys, i, 0);
  }
}

static os_status ranking__compute_top(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *values = op_run_output(ctx, 0), *indices = op_run_output(ctx, 1);
  const op_tensor *shaped = values ? values : indices;
  int64_t attribute = op_attr_int(node, "axis", -1);
  if (shaped == NULL || attribute < -x->rank || attribute >= x->rank || shaped->rank != x->rank)
    return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)attribute, (int)x->rank);
  int32_t axis = kit_axis(attribute, x->rank);
  bool largest = op_attr_int(node, "largest", 1) != 0;
  size_t outer = kit_extent(x, 0, axis), n = (size_t)x->dims[axis], inner = kit_extent(x, axis + 1, x->rank);
  size_t k = (size_t)shaped->dims[axis], width = op_elem_size(x->elem);
  if (k > n || shaped->count != (int64_t)(outer * k * inner))
    return op_run_fail(ctx, "k is %zu of %zu elements", k, n);
  op_value *room = op_run_new_tensor(ctx, OP_COMPLEX128, 1, (const int64_t[]){(int64_t)n});
  OS_TRY_ALLOC(room);
  ranked *keys = op_value_edit(room)->data;
  for (size_t o = 0; o < outer && k > 0; o++) {
    for (size_t i = 0; i < inner; i++) {
      size_t first = o * n * inner + i;
      ranking__keys(keys, x, first, n, inner, largest);
      ranking__select(keys, n, k);
      for (size_t j = 0; j < k; j++) {
        size_t to = (o * k + j) * inner + i, from = first + (size_t)keys[j].index * inner;
        if (values) memcpy((char *)values->data + to * width, (const char *)x->data + from * width, width);
        if (indices) ((int64_t *)indices->data)[to] = keys[j].index;
      }
    }
  }
  op_value_release(room);
  return OS_OK;
}

// `user` tells the largest from the smallest.
static const char ranking_largest;

static const op_row rows[] = {
    {.op_type = "ArgMax",
     .since = 1,
     .traits = OP_PURE,
     .infer = ranking__infer_arg,
     .compute = ranking__compute_arg,
     .user = (void *)&ranking_largest},
    OP_ROW("ArgMin", 1, OP_PURE, ranking__infer_arg, ranking__compute_arg),
    OP_ROW("TopK", 1, OP_PURE, ranking__infer_top, ranking__compute_top),
};

OP_FAMILY(ranking, rows);
