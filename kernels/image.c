// GridSample, AffineGrid, Col2Im.

#include "floats.h"
#include "kit.h"

#include <math.h>

// ---- GridSample: where and how much ------------------------------------------------------------------------

typedef enum sample_mode { SAMPLE_LINEAR, SAMPLE_NEAREST, SAMPLE_CUBIC, SAMPLE_MODES } sample_mode;
typedef enum sample_padding {
  SAMPLE_ZEROS,
  SAMPLE_BORDER,
  SAMPLE_REFLECTION,
  SAMPLE_PADDINGS
} sample_padding;

// Version 16 says bilinear and bicubic for what is linear and cubic later.
static sample_mode sample__mode(const op_node *node) {
  static const uint8_t modes[] = {SAMPLE_LINEAR, SAMPLE_NEAREST, SAMPLE_CUBIC,
                                  SAMPLE_LINEAR, SAMPLE_CUBIC,   SAMPLE_MODES};
  return (sample_mode)modes[kit_word(node, "mode", "linear\0nearest\0cubic\0bilinear\0bicubic\0")];
}

static sample_padding sample__padding(const op_node *node) {
  return (sample_padding)kit_word(node, "padding_mode", "zeros\0border\0reflection\0");
}

enum { SAMPLE_AXES = 4, SAMPLE_TAPS = 256 }; // spatial axes at most, and 4 taps on each

typedef struct sample_axis {
  int64_t dim;
  double low, high; // borders: centres or edges of the outer pixels
} sample_axis;

typedef struct sample_taps {
  size_t count;
  size_t offsets[SAMPLE_TAPS];
  double weights[SAMPLE_TAPS];
} sample_taps;

static double sample__reflect(double x, double low, double high) {
  double range = high - low;
  if (!(range > 0)) return low < 0 ? 0 : low;
  double past = x < low ? low - x : x > high ? x - high : -1;
  if (past < 0) return x;
  double turns = floor(past / range), rest = past - turns * range;
  bool back = fmod(turns, 2) == 0;
  return (x < low) == back ? low + rest : high - rest;
}

// The pixel for place i, or -1 where it counts as 0.
static int64_t sample__pixel(const sample_axis *axis, double place, sample_padding padding) {
  if (padding == SAMPLE_ZEROS && (place < 0 || place >= (double)axis->dim)) return -1;
  if (padding == SAMPLE_REFLECTION) place = trunc(sample__reflect(place, axis->low, axis->high));
  return place < 0 ? 0 : place >= (double)axis->dim ? axis->dim - 1 : (int64_t)place;
}

static void sample__cubic(double x, double weights[4]) {
  const double a = -0.75;
  weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  weights[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  weights[3] = ((a * (2 - x) - 5 * a) * (2 - x) + 8 * a) * (2 - x) - 4 * a;
}

// Places and weights along one axis for a normalised coordinate; answers how many.
static size_t sample__along(const sample_axis *axis, double n, bool corners, sample_mode mode,
                            sample_padding padding, int64_t pixels[4], double weights[4]) {
  double dim = (double)axis->dim, x = corners ? (n + 1) / 2 * (dim - 1) : ((n + 1) * dim - 1) / 2;
  if (x != x) x = -1; // as if outside
  if (mode == SAMPLE_NEAREST) x = rint(x);
  if (x < axis->low || x > axis->high) {
    if (padding == SAMPLE_BORDER)
      x = x < 0 ? 0 : x > dim - 1 ? dim - 1 : x;
    else if (padding == SAMPLE_REFLECTION)
      x = sample__reflect(x, axis->low, axis->high);
  }
  if (x > 1e15) x = 1e15; // far outside; keeps neighbours apart
  if (x < -1e15) x = -1e15;
  if (mode == SAMPLE_NEAREST) {
    pixels[0] = sample__pixel(axis, trunc(x), padding);
    weights[0] = 1;
    return 1;
  }
  double base = floor(x), part = x - base;
  size_t count = mode == SAMPLE_CUBIC ? 4 : 2;
  if (mode == SAMPLE_CUBIC) {
    sample__cubic(part, weights);
    base -= 1;
  } else {
    weights[0] = 1 - part;
    weights[1] = part;
  }
  for (size_t k = 0; k < count; k++) pixels[k] = sample__pixel(axis, base + (double)k, padding);
  return count;
}

// All taps of one output place; `grid` lists coordinates from the innermost axis on.
static void sample__taps(const sample_axis *axes, int32_t rank, const op_tensor *grid, size_t at,
                         bool corners, sample_mode mode, sample_padding padding, sample_taps *taps) {
  taps->count = 1;
  taps->offsets[0] = 0;
  taps->weights[0] = 1;
  for (int32_t d = 0; d < rank; d++) {
    int64_t pixels[4];
    double weights[4], n = kit_double(grid, (int64_t)at + rank - 1 - d);
    size_t along = sample__along(&axes[d], n, corners, mode, padding, pixels, weights), before = taps->count,
           count = 0;
    size_t offsets[SAMPLE_TAPS];
    double products[SAMPLE_TAPS];
    for (size_t t = 0; t < before; t++) {
      for (size_t k = 0; k < along; k++) {
        if (pixels[k] < 0) continue;
        offsets[count] = taps->offsets[t] * (size_t)axes[d].dim + (size_t)pixels[k];
        products[count++] = taps->weights[t] * weights[k];
      }
    }
    taps->count = count;
    memcpy(taps->offsets, offsets, count * sizeof *offsets);
    memcpy(taps->weights, products, count * sizeof *products);
  }
}

// ---- GridSample: the operator -----------------------------------------------------------------------------

static os_status sample__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  if (sample__mode(node) == SAMPLE_MODES || sample__padding(node) == SAMPLE_PADDINGS) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "mode or padding_mode has an unknown value");
  }
  int32_t rank, grid_rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank), *grid = op_infer_dims(ctx, 1, &grid_rank);
  if (rank < 0 || grid_rank < 0) return OS_OK;
  if (rank < 3 || grid_rank != rank) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d and grid %d; they must be equal and 3 or more",
                         (int)rank, (int)grid_rank);
  }
  if (grid[rank - 1] >= 0 && grid[rank - 1] != rank - 2) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "grid has %lld coordinates for %d spatial axes",
                         (long long)grid[rank - 1], (int)(rank - 2));
  }
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!out) return OS_OK;
  OS_TRY(op_infer_merge_dim(ctx, dims[0], grid[0], "batch of X and grid", &out[0]));
  out[1] = dims[1];
  for (int32_t i = 2; i < rank; i++) out[i] = grid[i - 1];
  return OS_OK;
}

static void sample__store(op_tensor *out, size_t at, const op_tensor *in, size_t plane,
                          const sample_taps *taps) {
  double sum = 0;
  if (in->elem == OP_FLOAT) {
    const float *from = (const float *)in->data + plane;
    for (size_t t = 0; t < taps->count; t++) sum += taps->weights[t] * (double)from[taps->offsets[t]];
    ((float *)out->data)[at] = (float)sum;
    return;
  }
  for (size_t t = 0; t < taps->count; t++) {
    sum += taps->weights[t] * kit_double(in, (int64_t)(plane + taps->offsets[t]));
  }
  kit_put(out, at, sum);
}

static os_status sample__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *in = op_run_input(ctx, 0), *grid = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  int32_t rank = in->rank - 2;
  if (rank < 1 || grid->rank != in->rank || grid->dims[rank + 1] != rank)
    return kit_shape_broken(ctx, "grid");
  if (rank > SAMPLE_AXES) return op_run_fail(ctx, "%d spatial axes are more than %d", (int)rank, SAMPLE_AXES);
  if (out->count == 0) return OS_OK;
  sample_mode mode = sample__mode(node);
  sample_padding padding = sample__padding(node);
  bool corners = op_attr_int(node, "align_corners", 0) != 0, copied = mode == SAMPLE_NEAREST;
  if (!copied && math_type_width((int)in->elem) == 0) {
    return op_run_fail(ctx, "elements of type %s cannot be interpolated", op_elem_name(in->elem));
  }
  sample_axis axes[SAMPLE_AXES];
  for (int32_t d = 0; d < rank; d++) {
    axes[d] =
        (sample_axis){in->dims[2 + d], corners ? 0 : -0.5, (double)in->dims[2 + d] - (corners ? 1 : 0.5)};
    if (axes[d].dim == 0) return op_run_fail(ctx, "an empty image cannot be sampled");
  }
  size_t batches = (size_t)out->dims[0], channels = (size_t)out->dims[1], width = op_elem_size(in->elem);
  size_t points = kit_extent(out, 2, out->rank), plane = kit_extent(in, 2, in->rank);
  if ((size_t)grid->count != batches * points * (size_t)rank) return kit_shape_broken(ctx, "grid");
  sample_taps taps;
  for (size_t b = 0; b < batches; b++) {
    for (size_t p = 0; p < points; p++) {
      sample__taps(axes, rank, grid, (b * points + p) * (size_t)rank, corners, mode, padding, &taps);
      for (size_t c = 0; c < channels; c++) {
        size_t to = (b * channels + c) * points + p, from = (b * channels + c) * plane;
        if (!copied)
          sample__store(out, to, in, from, &taps);
        else if (taps.count == 0)
          memset(kit_at(out, to), 0, width);
        else
          memcpy(kit_at(out, to), kit_at(in, from + taps.offsets[0]), width);
      }
    }
  }
  return kit_keep(out, in);
}

// ---- AffineGrid -------------------------------------------------------------------------------------------

static os_status affine__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(kit_want_rank(ctx, 0, 3, "theta"));
  OS_TRY(kit_want_rank(ctx, 1, 1, "size"));
  kit_list size;
  kit_infer_list(ctx, 1, &size);
  op_dim length = size.present ? (op_dim)size.count : op_infer_dim(ctx, 1, 0);
  if (length < 0) return OS_OK;
  if (length != 4 && length != 5) {
    return op_infer_fail(ctx, OP_FAULT_VALUE, "size has %lld entries, expected 4 or 5", (long long)length);
  }
  op_dim rows = op_infer_dim(ctx, 0, 1), columns = op_infer_dim(ctx, 0, 2);
  OS_TRY(op_infer_merge_dim(ctx, rows, length - 2, "rows of theta", NULL));
  OS_TRY(op_infer_merge_dim(ctx, columns, length - 1, "columns of theta", NULL));
  op_dim *out = op_infer_set_rank(ctx, 0, (int32_t)length);
  if (!out) return OS_OK;
  out[length - 1] = length - 2;
  out[0] = op_infer_dim(ctx, 0, 0);
  if (!size.present) return OS_OK;
  OS_TRY(kit_want_natural(ctx, &size, "size"));
  OS_TRY(op_infer_merge_dim(ctx, out[0], size.at[0], "batch of theta and size", &out[0]));
  for (op_dim i = 2; i < length; i++) out[i - 1] = size.at[i];
  return OS_OK;
}

// Position of place i of n between -1 and 1: of pixel centres, or with -1 and 1 at the outer centres.
static double affine__position(size_t i, size_t n, bool corners) {
  if (corners) return n == 1 ? 0 : -1 + 2 * (double)i / (double)(n - 1);
  return (2 * (double)i + 1) / (double)n - 1;
}

static os_status affine__compute(op_run *ctx) {
  const op_tensor *theta = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  bool corners = op_attr_int(op_run_node(ctx), "align_corners", 0) != 0;
  size_t dims[OP_MAX_RANK], index[OP_MAX_RANK] = {0}, rank = kit_shape(out, dims) - 2, at = 0;
  if (out->count == 0) return OS_OK;
  if ((size_t)theta->count != dims[0] * rank * (rank + 1)) return kit_shape_broken(ctx, "theta");
  do {
    for (size_t row = 0; row < rank; row++) {
      int64_t first = (int64_t)((index[0] * rank + row) * (rank + 1));
      double sum = kit_double(theta, first + (int64_t)rank);
      for (size_t d = 0; d < rank; d++) {
        // Coordinates go from the innermost axis outwards.
        size_t axis = rank - d;
        sum += kit_double(theta, first + (int64_t)d) * affine__position(index[axis], dims[axis], corners);
      }
      kit_put(out, at++, sum);
    }
  } while (kit_next(rank + 1, dims, index));
  return OS_OK;
}

// ---- Col2Im -----------------------------------------------------------------------------------------------

enum { FOLD_AXES = OP_MAX_RANK - 2 };

typedef struct fold_geometry {
  size_t rank;
  int64_t image[FOLD_AXES], block[FOLD_AXES], stride[FOLD_AXES], dilation[FOLD_AXES], begin[FOLD_AXES],
      end[FOLD_AXES];
  int64_t places[FOLD_AXES]; // of the block
} fold_geometry;

// What is wrong, or NULL.
static const char *fold__geometry(const op_node *node, const int64_t *image, size_t images,
                                  const int64_t *block, size_t blocks, fold_geometry *out) {
  size_t strides, dilations, pads;
  const int64_t *stride = op_attr_ints(node, "strides", &strides), *pad = op_attr_ints(node, "pads", &pads);
  const int64_t *dilation = op_attr_ints(node, "dilations", &dilations);
  if (images == 0 || images > FOLD_AXES || blocks != images)
    return "image_shape and block_shape do not match";
  if ((strides && strides != images) || (dilations && dilations != images) || (pads && pads != 2 * images)) {
    return "strides, dilations or pads do not match image_shape";
  }
  out->rank = images;
  for (size_t i = 0; i < images; i++) {
    out->image[i] = image[i];
    out->block[i] = block[i];
    out->stride[i] = strides ? stride[i] : 1;
    out->dilation[i] = dilations ? dilation[i] : 1;
    out->begin[i] = pads ? pad[i] : 0;
    out->end[i] = pads ? pad[images + i] : 0;
    const int64_t most = INT32_MAX;
    bool sane = image[i] >= 0 && image[i] <= most && block[i] >= 1 && block[i] <= most &&
                out->stride[i] >= 1 && out->dilation[i] >= 1 && out->dilation[i] <= most &&
                out->begin[i] >= 0 && out->begin[i] <= most && out->end[i] >= 0 && out->end[i] <= most;
    if (!sane) return "a shape, stride, dilation or pad is out of range";
    int64_t room = image[i] + out->begin[i] + out->end[i] - out->dilation[i] * (block[i] - 1) - 1;
    out->places[i] = room < 0 ? 0 : room / out->stride[i] + 1;
  }
  return NULL;
}

static os_status fold__infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(kit_want_rank(ctx, 0, 3, "input"));
  kit_list image, block;
  kit_infer_list(ctx, 1, &image);
  kit_infer_list(ctx, 2, &block);
  if (!image.present || image.count == 0 || image.count > FOLD_AXES) {
    op_dim length = op_infer_rank(ctx, 1) == 1 ? op_infer_dim(ctx, 1, 0) : -1;
    if (length > 0 && length <= FOLD_AXES) op_infer_set_rank(ctx, 0, (int32_t)length + 2);
    return OS_OK;
  }
  op_dim *out = op_infer_set_rank(ctx, 0, (int32_t)image.count + 2);
  if (!out) return OS_OK;
  op_dim size = 1;
  for (size_t i = 0; i < image.count; i++) out[2 + i] = image.at[i];
  for (size_t i = 0; i < block.count; i++) size = op_dim_mul(ctx, size, block.at[i]);
  bool ranked = op_infer_rank(ctx, 0) == 3;
  op_dim columns = ranked ? op_infer_dim(ctx, 0, 1) : OP_DIM_UNKNOWN;
  out[0] = ranked ? op_infer_dim(ctx, 0, 0) : OP_DIM_UNKNOWN;
  if (!block.present) return OS_OK;
  if (columns >= 0 && size > 0 && columns % size != 0) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "input has %lld columns, no multiple of the block's %lld",
                         (long long)columns, (long long)size);
  }
  out[1] = op_dim_floordiv(ctx, columns, size);
  if (!kit_all_known(&image) || !kit_all_known(&block)) return OS_OK;
  fold_geometry geometry;
  const char *wrong =
      fold__geometry(op_infer_node(ctx), image.at, image.count, block.at, block.count, &geometry);
  if (wrong)
    return op_infer_fail(ctx, OP_FAULT_VALUE, "%s (%zu and %zu entries)", wrong, image.count, block.count);
  op_dim blocks = 1;
  for (size_t i = 0; i < geometry.rank; i++) blocks = op_dim_mul(ctx, blocks, geometry.places[i]);
  return op_infer_merge_dim(ctx, op_infer_dim(ctx, 0, 2), blocks, "the number of blocks", NULL);
}

// Adds the places of one column (one offset inside the block) onto an image.
static void fold__add(const fold_geometry *g, math_loop_id add, op_tensor *out, size_t image_at,
                      const op_tensor *in, size_t at, const size_t *offset) {
  size_t index[FOLD_AXES] = {0}, places[FOLD_AXES];
  for (size_t i = 0; i < g->rank; i++) places[i] = (size_t)g->places[i];
  do {
    size_t to = 0;
    bool inside = true;
    for (size_t i = 0; inside && i < g->rank; i++) {
      int64_t place = (int64_t)index[i] * g->stride[i] + (int64_t)offset[i] * g->dilation[i] - g->begin[i];
      inside = place >= 0 && place < g->image[i];
      to = to * (size_t)g->image[i] + (size_t)place;
    }
    if (inside && out->elem == OP_FLOAT)
      ((float *)out->data)[image_at + to] += ((const float *)in->data)[at];
    else if (inside) {
      math_run_binary(add, (int)out->elem, kit_at(out, image_at + to), kit_at(out, image_at + to),
                      kit_at(in, at), 1, MATH_VV, NULL);
    }
    at++;
  } while (kit_next(g->rank, places, index));
}

static os_status fold__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0), *image = op_run_input(ctx, 1), *block = op_run_input(ctx, 2);
  op_tensor *out = op_run_output(ctx, 0);
  int64_t image_dims[FOLD_AXES], block_dims[FOLD_AXES];
  size_t images = kit_ints(image, image_dims, FOLD_AXES), blocks = kit_ints(block, block_dims, FOLD_AXES);
  fold_geometry g;
  const char *wrong = fold__geometry(op_run_node(ctx), image_dims, images, block_dims, blocks, &g);
  if (wrong) return op_run_fail(ctx, "%s", wrong);
  math_loop_id add = math_loop_find(MATH_OP_add, (int)out->elem);
  if (add == LOOP_NONE) add = math_type_width((int)out->elem) > 0 ? LOOP_add_f32 : LOOP_NONE;
  if (add == LOOP_NONE || out->elem == OP_BOOL) {
    return op_run_fail(ctx, "elements of type %s cannot be added", op_elem_name(out->elem));
  }
  size_t planes = kit_extent(out, 0, 2), plane = kit_extent(out, 2, out->rank), size = 1, places = 1;
  for (size_t i = 0; i < g.rank; i++) {
    size *= (size_t)g.block[i];
    places *= (size_t)g.places[i];
  }
  if ((size_t)in->count != planes * size * places)
    return kit_shape_broken(ctx, "the number of columns or blocks");
  kit_zero(out);
  if (in->count == 0 || out->count == 0) return OS_OK;
  size_t block_sizes[FOLD_AXES], offset[FOLD_AXES] = {0}, at = 0;
  for (size_t i = 0; i < g.rank; i++) block_sizes[i] = (size_t)g.block[i];
  for (size_t p = 0; p < planes; p++) {
    do {
      fold__add(&g, add, out, p * plane, in, at, offset);
      at += places;
    } while (kit_next(g.rank, block_sizes, offset));
  }
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    OP_ROW("GridSample", 16, OP_PURE, sample__infer, sample__compute), // 20: any number of axes
    OP_ROW("AffineGrid", 20, OP_PURE, affine__infer, affine__compute),
    OP_ROW("Col2Im", 18, OP_PURE, fold__infer, fold__compute),
};

OP_FAMILY(image, rows);
