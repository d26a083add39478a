// Reduce*: sums, means, extremes, norms over axes.

#include "elements.h"
#include "floats.h"
#include "kit.h"
#include "reduce.h"
#include "travel.h"

typedef struct reduction_kind {
  math_reduction reduction;
  travel_fn small; // what one-dimensional values that travel fold with
  op_dim start;
} reduction_kind;

static const reduction_kind *reduction__kind(const op_node *node) { return op_node_user(node); }

// ---- Inference ----------------------------------------------------------------------------------------------

// Axes as listed: of input 1 where the operator set has it, else of the attribute.
static void reduction__list(op_infer *ctx, kit_list *list, bool *written) {
  kit_either_list(ctx, 1, "axes", list, written);
  if (list->present && list->count == 0) *written = false;
}

static os_status reduction__infer_unknown_axes(op_infer *ctx, const kit_list *list, int32_t rank, bool keep) {
  if (keep) {
    op_infer_set_rank(ctx, 0, rank);
    return OS_OK;
  }
  int32_t axes_rank;
  const op_dim *axes = op_infer_dims(ctx, 1, &axes_rank);
  int64_t count = list->present ? (int64_t)list->count : axes && axes_rank == 1 ? axes[0] : -1;
  if (count > 0 && count <= rank) op_infer_set_rank(ctx, 0, rank - (int32_t)count);
  return OS_OK;
}

static os_status reduction__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  int32_t rank;
  const op_dim *dims = kit_infer_same_type(ctx, &rank);
  if (rank < 0) return OS_OK;
  bool keep = op_attr_int(node, "keepdims", 1) == 1, written;
  kit_list list;
  reduction__list(ctx, &list, &written);
  if (written && !kit_all_known(&list)) return reduction__infer_unknown_axes(ctx, &list, rank, keep);
  uint32_t mask = (uint32_t)((UINT64_C(1) << rank) - 1);
  if (written) {
    mask = 0;
    for (size_t i = 0; i < list.count; i++) {
      int32_t axis;
      OS_TRY(op_infer_axis(ctx, list.at[i], rank, "axes", &axis));
      mask |= UINT32_C(1) << axis;
    }
  } else if (op_attr_int(node, "noop_with_empty_axes", 0) != 0)
    mask = 0;
  op_dim out[OP_MAX_RANK];
  int32_t out_rank = 0;
  for (int32_t d = 0; d < rank; d++) {
    bool reduced = (mask >> d & 1) != 0;
    if (!reduced)
      out[out_rank++] = dims[d];
    else if (keep)
      out[out_rank++] = 1;
  }
  op_infer_set_shape(ctx, 0, out_rank, out);
  const reduction_kind *kind = reduction__kind(node);
  if (rank == 1 && mask == 1 && kind->small) travel_fold(ctx, kind->small, kind->start, !keep);
  return OS_OK;
}

// ---- Computing ----------------------------------------------------------------------------------------------

// Neighbouring axes that are all kept or all reduced are one group.
typedef struct reduction_groups {
  size_t count, reduced_count;
  size_t sizes[OP_MAX_RANK];
  bool reduced[OP_MAX_RANK];
} reduction_groups;

static void reduction__group(const op_tensor *x, uint32_t mask, reduction_groups *groups) {
  *groups = (reduction_groups){0};
  for (int32_t d = 0; d < x->rank; d++) {
    bool reduced = (mask >> d & 1) != 0;
    if (x->dims[d] == 1) continue;
    if (groups->count == 0 || groups->reduced[groups->count - 1] != reduced) {
      groups->reduced[groups->count] = reduced;
      groups->sizes[groups->count++] = 1;
      groups->reduced_count += reduced;
    }
    groups->sizes[groups->count - 1] *= (size_t)x->dims[d];
  }
}

static size_t reduction__extent(const reduction_groups *groups, size_t first, size_t last) {
  size_t product = 1;
  for (size_t i = first; i < last; i++) product *= groups->sizes[i];
  return product;
}

static void reduction__drop(reduction_groups *groups, size_t at) {
  groups->count--;
  for (size_t i = at; i < groups->count; i++) {
    groups->sizes[i] = groups->sizes[i + 1];
    groups->reduced[i] = groups->reduced[i + 1];
  }
  groups->reduced_count--;
}

typedef struct reduction_job {
  math_reduction reduction;
  int type;
  char *out;
  const char *in;
  size_t n, inner, size;
} reduction_job;

static void reduction__piece(void *argument, size_t begin, size_t end) {
  const reduction_job *job = argument;
  math_reduce(job->reduction, job->type, job->out + begin * job->inner * job->size,
              job->in + begin * job->n * job->inner * job->size, end - begin, job->n, job->inner);
}

static os_status reduction__pass(op_run *ctx, math_reduction reduction, op_elem elem, void *out,
                                 const void *in, size_t outer, size_t n, size_t inner) {
  // Asks whether there is such a reduction before the pieces, which cannot complain.
  if (!math_reduce(reduction, (int)elem, out, in, 0, n, inner))
    return op_run_fail(ctx, "there is no such reduction of %s", op_elem_name(elem));
  reduction_job job = {reduction, (int)elem, out, in, n, inner, op_elem_size(elem)};
  size_t work = n * inner, grain = work >= 1 << 15 ? 1 : (size_t)(1 << 15) / (work ? work : 1);
  op_parallel_for(ctx, outer, grain, reduction__piece, &job);
  return OS_OK;
}

// Whether reducing one group after another is the same as all at once: not where integers are rounded at the end.
static bool reduction__in_passes(math_reduction reduction, op_elem elem) {
  if (elem_is_float(elem)) return true;
  return reduction != MATH_REDUCE_MEAN && reduction != MATH_REDUCE_L2 && reduction != MATH_REDUCE_LOG_SUM &&
         reduction != MATH_REDUCE_LOG_SUM_EXP;
}

static os_status reduction__transposed(op_run *ctx, math_reduction reduction, op_elem elem, void *out,
                                       const void *in, const reduction_groups *groups) {
  size_t perm[OP_MAX_RANK], at = 0, kept = 1, reduced = 1;
  for (size_t i = 0; i < groups->count; i++)
    if (!groups->reduced[i]) perm[at++] = i, kept *= groups->sizes[i];
  for (size_t i = 0; i < groups->count; i++)
    if (groups->reduced[i]) perm[at++] = i, reduced *= groups->sizes[i];
  op_value *copy = op_run_new_tensor(ctx, elem, 1, (const int64_t[]){(int64_t)(kept * reduced)});
  OS_TRY_ALLOC(copy);
  void *moved = op_value_edit(copy)->data;
  math_transpose(moved, in, op_elem_size(elem), groups->count, groups->sizes, perm);
  os_status status = reduction__pass(ctx, reduction, elem, out, moved, kept, reduced, 1);
  op_value_release(copy);
  return status;
}

static os_status reduction__run(op_run *ctx, math_reduction reduction, op_elem elem, void *out,
                                const void *in, reduction_groups *groups) {
  if (groups->reduced_count == 0) {
    // Nothing to fold, but squares, logarithms and absolute values are still taken.
    return reduction__pass(ctx, reduction, elem, out, in, reduction__extent(groups, 0, groups->count), 1, 1);
  }
  if (groups->reduced_count > 1 && !reduction__in_passes(reduction, elem))
    return reduction__transposed(ctx, reduction, elem, out, in, groups);
  math_reduce_passes passes = math_reduce_steps(reduction);
  op_value *held = NULL;
  os_status status = OS_OK;
  bool first = true, single = groups->reduced_count == 1;
  while (groups->reduced_count > 0 && status == OS_OK) {
    size_t at = groups->count - 1;
    while (!groups->reduced[at]) at--;
    size_t outer = reduction__extent(groups, 0, at), inner = reduction__extent(groups, at + 1, groups->count);
    size_t n = groups->sizes[at];
    bool last = groups->reduced_count == 1;
    op_value *next =
        last ? NULL : op_run_new_tensor(ctx, elem, 1, (const int64_t[]){(int64_t)(outer * inner)});
    if (!last && next == NULL)
      status = OS_OUT_OF_MEMORY;
    else
      status = reduction__pass(ctx,
                               single  ? reduction
                               : first ? passes.first
                               : last  ? passes.last
                                       : passes.middle,
                               elem, last ? out : op_value_edit(next)->data,
                               held ? op_value_tensor(held)->data : in, outer, n, inner);
    op_value_release(held);
    held = next;
    first = false;
    reduction__drop(groups, at);
  }
  op_value_release(held);
  return status;
}

static os_status reduction__mask(op_run *ctx, const op_tensor *x, uint32_t *mask) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *input = op_run_input(ctx, 1);
  size_t count;
  const int64_t *attribute = op_attr_ints(node, "axes", &count);
  if (input) count = (size_t)input->count;
  *mask = 0;
  if (count == 0 && op_attr_int(node, "noop_with_empty_axes", 0) == 0)
    *mask = (uint32_t)((UINT64_C(1) << x->rank) - 1);
  for (size_t i = 0; i < count; i++) {
    int64_t axis = input ? kit_int(input, (int64_t)i) : attribute[i];
    if (axis < -x->rank || axis >= x->rank)
      return op_run_fail(ctx, "axis %lld is out of range for rank %d", (long long)axis, (int)x->rank);
    *mask |= UINT32_C(1) << kit_axis(axis, x->rank);
  }
  return OS_OK;
}

static os_status reduction__compute(op_run *ctx) {
  math_reduction reduction = reduction__kind(op_run_node(ctx))->reduction;
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  uint32_t mask;
  OS_TRY(reduction__mask(ctx, x, &mask));
  reduction_groups groups;
  reduction__group(x, mask, &groups);
  size_t kept = 1;
  for (size_t i = 0; i < groups.count; i++) kept *= groups.reduced[i] ? 1 : groups.sizes[i];
  if (kept != (size_t)y->count || x->elem != y->elem) return kit_shape_broken(ctx, "the reduced shape");
  if (!elem_is_narrow(x->elem)) return reduction__run(ctx, reduction, x->elem, y->data, x->data, &groups);
  op_value *in = op_run_new_tensor(ctx, OP_FLOAT, x->rank, x->dims),
           *out = op_run_new_tensor(ctx, OP_FLOAT, y->rank, y->dims);
  os_status status = in && out ? OS_OK : OS_OUT_OF_MEMORY;
  if (status == OS_OK) {
    op_tensor *wide_in = op_value_edit(in), *wide_out = op_value_edit(out);
    math_load_f32(wide_in->data, x->data, (int)x->elem, (size_t)x->count);
    status = reduction__run(ctx, reduction, OP_FLOAT, wide_out->data, wide_in->data, &groups);
    math_store_f32(y->data, wide_out->data, (int)y->elem, (size_t)y->count);
  }
  op_value_release(in);
  op_value_release(out);
  return status;
}

// ---- Rows ---------------------------------------------------------------------------------------------------

static const reduction_kind kind_sum = {MATH_REDUCE_SUM, op_dim_add, 0};
static const reduction_kind kind_mean = {MATH_REDUCE_MEAN, NULL, 0};
static const reduction_kind kind_max = {MATH_REDUCE_MAX, op_dim_max, OP_DIM_UNKNOWN};
static const reduction_kind kind_min = {MATH_REDUCE_MIN, op_dim_min, OP_DIM_UNKNOWN};
static const reduction_kind kind_prod = {MATH_REDUCE_PROD, op_dim_mul, 1};
static const reduction_kind kind_sum_square = {MATH_REDUCE_SUM_SQUARE, NULL, 0};
static const reduction_kind kind_l1 = {MATH_REDUCE_L1, NULL, 0};
static const reduction_kind kind_l2 = {MATH_REDUCE_L2, NULL, 0};
static const reduction_kind kind_log_sum = {MATH_REDUCE_LOG_SUM, NULL, 0};
static const reduction_kind kind_log_sum_exp = {MATH_REDUCE_LOG_SUM_EXP, NULL, 0};

// One row serves all versions: where axes are an attribute there is no second input, and the other way round.
#define REDUCTION(name, kind_name) \
  {.op_type = name,                \
   .since = 1,                     \
   .traits = OP_PURE,              \
   .infer = reduction__infer,      \
   .compute = reduction__compute,  \
   .user = (void *)&kind_##kind_name}

static const op_row rows[] = {
    REDUCTION("ReduceSum", sum),        REDUCTION("ReduceMean", mean),
    REDUCTION("ReduceMax", max),        REDUCTION("ReduceMin", min),
    REDUCTION("ReduceProd", prod),      REDUCTION("ReduceSumSquare", sum_square),
    REDUCTION("ReduceL1", l1),          REDUCTION("ReduceL2", l2),
    REDUCTION("ReduceLogSum", log_sum), REDUCTION("ReduceLogSumExp", log_sum_exp),
};

OP_FAMILY(reduction, rows);
