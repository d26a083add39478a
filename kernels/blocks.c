// Moves inside matrices, blocks and sequences: Trilu, DepthToSpace, SpaceToDepth, ReverseSequence.

#include "kit.h"

// ---- Trilu ------------------------------------------------------------------------------------------------

static os_status trilu__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  return kit_want_least(ctx, 0, 2, "input");
}

static os_status trilu__plan(op_plan *ctx) {
  op_plan_in_place(ctx, 0, 0);
  return OS_OK;
}

// Clears columns [first, last) of a row.
static void trilu__clear(char *row, int64_t first, int64_t last, size_t width) {
  if (last > first) memset(row + (size_t)first * width, 0, (size_t)(last - first) * width);
}

static os_status trilu__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0), *shift = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  OS_TRY(kit_copy(out, in));
  if (out->count == 0) return OS_OK;
  int64_t rows = out->dims[out->rank - 2], columns = out->dims[out->rank - 1];
  int64_t k = shift && shift->count > 0 ? kit_int(shift, 0) : 0;
  if (k > columns) k = columns;
  if (k < -rows) k = -rows;
  bool upper = op_attr_int(op_run_node(ctx), "upper", 1) != 0;
  size_t width = op_elem_size(out->elem), matrices = (size_t)(out->count / (rows * columns));
  char *row = out->data;
  for (size_t m = 0; m < matrices; m++) {
    for (int64_t r = 0; r < rows; r++, row += (size_t)columns * width) {
      int64_t edge = upper ? r + k : r + k + 1; // columns below it are kept by "lower", the others by "upper"
      edge = edge < 0 ? 0 : edge > columns ? columns : edge;
      if (upper)
        trilu__clear(row, 0, edge, width);
      else
        trilu__clear(row, edge, columns, width);
    }
  }
  return OS_OK;
}

// ---- DepthToSpace, SpaceToDepth ---------------------------------------------------------------------------

typedef enum blocks_order { BLOCKS_DEPTH_FIRST, BLOCKS_COLUMN_FIRST, BLOCKS_ORDERS } blocks_order;

static blocks_order blocks__order(const op_node *node) {
  return (blocks_order)kit_word(node, "mode", "DCR\0CRD\0");
}

static os_status blocks__begin(op_infer *ctx, int64_t *block) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  *block = op_attr_int(op_infer_node(ctx), "blocksize", 0);
  if (*block < 1 || *block > INT32_MAX) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "blocksize is %lld", (long long)*block);
  }
  if (blocks__order(op_infer_node(ctx)) == BLOCKS_ORDERS)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "mode must be DCR or CRD");
  return kit_want_rank(ctx, 0, 4, "input");
}

static os_status blocks__indivisible(op_infer *ctx, const char *what, op_dim dim, int64_t by) {
  return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s of %lld is no multiple of %lld", what, (long long)dim,
                       (long long)by);
}

static os_status depth_to_space__infer(op_infer *ctx) {
  int64_t block;
  OS_TRY(blocks__begin(ctx, &block));
  op_dim *out = op_infer_set_rank(ctx, 0, 4);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0 || !out) return OS_OK;
  if (dims[1] >= 0 && dims[1] % (block * block) != 0) {
    return blocks__indivisible(ctx, "a depth", dims[1], block * block);
  }
  out[0] = dims[0];
  out[1] = op_dim_floordiv(ctx, dims[1], block * block);
  out[2] = op_dim_mul(ctx, dims[2], block);
  out[3] = op_dim_mul(ctx, dims[3], block);
  return OS_OK;
}

static os_status space_to_depth__infer(op_infer *ctx) {
  int64_t block;
  OS_TRY(blocks__begin(ctx, &block));
  op_dim *out = op_infer_set_rank(ctx, 0, 4);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0 || !out) return OS_OK;
  for (int i = 2; i < 4; i++) {
    if (dims[i] >= 0 && dims[i] % block != 0)
      return blocks__indivisible(ctx, "a height or width", dims[i], block);
  }
  out[0] = dims[0];
  out[1] = op_dim_mul(ctx, dims[1], block * block);
  out[2] = op_dim_floordiv(ctx, dims[2], block);
  out[3] = op_dim_floordiv(ctx, dims[3], block);
  return OS_OK;
}

// Both operators are one permutation of [batch, depth, row in block, column in block, height, width] on the deep side and
// [batch, depth, height, row in block, width, column in block] on the wide one. Strides of the six axes on both sides:
static void blocks__strides(size_t depth, size_t height, size_t width, size_t block, bool column_first,
                            ptrdiff_t *deep, ptrdiff_t *wide) {
  ptrdiff_t d = (ptrdiff_t)depth, h = (ptrdiff_t)height, w = (ptrdiff_t)width, b = (ptrdiff_t)block,
            plane = h * w;
  deep[0] = wide[0] = d * b * b * plane;
  deep[1] = column_first ? b * b * plane : plane;
  deep[2] = column_first ? b * plane : b * d * plane;
  deep[3] = column_first ? plane : d * plane;
  deep[4] = w;
  deep[5] = 1;
  wide[1] = b * b * plane;
  wide[2] = w * b;
  wide[3] = 1;
  wide[4] = b * w * b;
  wide[5] = b;
}

static os_status blocks__move(op_run *ctx, bool to_space) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (in->count != out->count || in->rank != 4 || out->rank != 4) return kit_shape_broken(ctx, "the input");
  if (in->count == 0) return OS_OK;
  const op_tensor *wide_side = to_space ? out : in, *deep_side = to_space ? in : out;
  size_t block = (size_t)op_attr_int(op_run_node(ctx), "blocksize", 1), depth = (size_t)wide_side->dims[1];
  size_t height = (size_t)deep_side->dims[2], width = (size_t)deep_side->dims[3];
  ptrdiff_t deep[6], wide[6];
  blocks__strides(depth, height, width, block, blocks__order(op_run_node(ctx)) == BLOCKS_COLUMN_FIRST, deep,
                  wide);
  size_t dims[6] = {(size_t)in->dims[0], depth, block, block, height, width};
  math_copy_strided(out->data, in->data, op_elem_size(in->elem), 6, dims, to_space ? wide : deep,
                    to_space ? deep : wide);
  return kit_keep(out, in);
}

static os_status depth_to_space__compute(op_run *ctx) { return blocks__move(ctx, true); }
static os_status space_to_depth__compute(op_run *ctx) { return blocks__move(ctx, false); }

// ---- ReverseSequence --------------------------------------------------------------------------------------

static os_status reverse__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_copy(ctx, 0, 0);
  int64_t batch = op_attr_int(node, "batch_axis", 1), time = op_attr_int(node, "time_axis", 0);
  if (batch < 0 || batch > 1 || time < 0 || time > 1 || batch == time) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "batch_axis is %lld and time_axis %lld; one must be 0, the other 1",
                         (long long)batch, (long long)time);
  }
  int32_t rank = op_infer_rank(ctx, 0);
  OS_TRY(kit_want_least(ctx, 0, 2, "input"));
  OS_TRY(kit_want_rank(ctx, 1, 1, "sequence_lens"));
  if (rank < 0 || op_infer_rank(ctx, 1) < 0) return OS_OK;
  return op_infer_merge_dim(ctx, op_infer_dim(ctx, 0, (int32_t)batch), op_infer_dim(ctx, 1, 0),
                            "batch and sequence_lens", NULL);
}

static os_status reverse__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0), *lengths = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  if (in->count == 0) return OS_OK;
  int32_t batch_axis = (int32_t)op_attr_int(op_run_node(ctx), "batch_axis", 1);
  size_t batches = (size_t)in->dims[batch_axis], times = (size_t)in->dims[1 - batch_axis];
  size_t row = kit_extent(in, 2, in->rank) * op_elem_size(in->elem);
  size_t batch_step = batch_axis == 0 ? times * row : row, time_step = batch_axis == 0 ? row : batches * row;
  if ((size_t)lengths->count != batches) return kit_shape_broken(ctx, "sequence_lens");
  for (size_t b = 0; b < batches; b++) {
    int64_t length = kit_int(lengths, (int64_t)b);
    if (length < 0 || (size_t)length > times) {
      return op_run_fail(ctx, "sequence_lens[%zu] is %lld; the time axis has %zu places", b,
                         (long long)length, times);
    }
    for (size_t t = 0; t < times; t++) {
      size_t from = t < (size_t)length ? (size_t)length - 1 - t : t;
      memcpy((char *)out->data + b * batch_step + t * time_step,
             (const char *)in->data + b * batch_step + from * time_step, row);
    }
  }
  return kit_keep(out, in);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    {.op_type = "Trilu",
     .since = 14,
     .traits = OP_PURE,
     .infer = trilu__infer,
     .plan = trilu__plan,
     .compute = trilu__compute},
    OP_ROW("DepthToSpace", 1, OP_PURE, depth_to_space__infer, depth_to_space__compute), // 11: mode
    OP_ROW("SpaceToDepth", 1, OP_PURE, space_to_depth__infer, space_to_depth__compute), // 28: mode
    OP_ROW("ReverseSequence", 10, OP_PURE, reverse__infer, reverse__compute),
};

OP_FAMILY(blocks, rows);
