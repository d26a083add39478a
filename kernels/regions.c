// NonMaxSuppression, RoiAlign, MaxRoiPool.

#include "floats.h"
#include "kit.h"

#include <math.h>

// ---- NonMaxSuppression ------------------------------------------------------------------------------------

typedef struct nms_box {
  float y1, x1, y2, x2; // sorted corners
} nms_box;

static nms_box nms__box(const float *at, bool centre) {
  if (centre) {
    float half_width = at[2] / 2, half_height = at[3] / 2;
    return (nms_box){at[1] - half_height, at[0] - half_width, at[1] + half_height, at[0] + half_width};
  }
  bool y_first = at[0] <= at[2], x_first = at[1] <= at[3];
  return (nms_box){y_first ? at[0] : at[2], x_first ? at[1] : at[3], y_first ? at[2] : at[0],
                   x_first ? at[3] : at[1]};
}

static bool nms__suppresses(const float *a, const float *b, bool centre, float threshold) {
  nms_box p = nms__box(a, centre), q = nms__box(b, centre);
  float height = (p.y2 < q.y2 ? p.y2 : q.y2) - (p.y1 > q.y1 ? p.y1 : q.y1);
  float width = (p.x2 < q.x2 ? p.x2 : q.x2) - (p.x1 > q.x1 ? p.x1 : q.x1);
  if (!(height > 0) || !(width > 0)) return false;
  float area_p = (p.y2 - p.y1) * (p.x2 - p.x1), area_q = (q.y2 - q.y1) * (q.x2 - q.x1), both = height * width;
  if (!(area_p > 0) || !(area_q > 0)) return false;
  return both / (area_p + area_q - both) > threshold;
}

static os_status nms__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT64);
  op_dim *out = op_infer_set_rank(ctx, 0, 2);
  if (out) out[1] = 3;
  OS_TRY(kit_want_rank(ctx, 0, 3, "boxes"));
  OS_TRY(kit_want_rank(ctx, 1, 3, "scores"));
  if (op_infer_rank(ctx, 0) < 0 || op_infer_rank(ctx, 1) < 0) return OS_OK;
  OS_TRY(op_infer_merge_dim(ctx, op_infer_dim(ctx, 0, 2), 4, "coordinates of boxes", NULL));
  OS_TRY(op_infer_merge_dim(ctx, op_infer_dim(ctx, 0, 0), op_infer_dim(ctx, 1, 0),
                            "batch of boxes and scores", NULL));
  return op_infer_merge_dim(ctx, op_infer_dim(ctx, 0, 1), op_infer_dim(ctx, 1, 2),
                            "number of boxes and scores", NULL);
}

// Scratch: order, spare, selected.
static os_status nms__plan(op_plan *ctx) {
  const op_tensor *boxes = op_plan_input(ctx, 0);
  if (boxes && boxes->rank == 3) op_plan_scratch(ctx, 3 * ((size_t)boxes->dims[1] + 1) * sizeof(size_t));
  return OS_OK;
}

static bool nms__higher(const void *scores, size_t a, size_t b) {
  return ((const float *)scores)[a] > ((const float *)scores)[b];
}

typedef struct nms_options {
  bool centre, filtered;
  float overlap, score;
  size_t most;
} nms_options;

static nms_options nms__options(op_run *ctx) {
  const op_tensor *most = op_run_input(ctx, 2), *overlap = op_run_input(ctx, 3),
                  *score = op_run_input(ctx, 4);
  int64_t count = most && most->count > 0 ? kit_int(most, 0) : 0;
  return (nms_options){.centre = op_attr_int(op_run_node(ctx), "center_point_box", 0) != 0,
                       .filtered = score && score->count > 0,
                       .overlap = overlap && overlap->count > 0 ? (float)kit_double(overlap, 0) : 0,
                       .score = score && score->count > 0 ? (float)kit_double(score, 0) : 0,
                       .most = count < 0                    ? 0
                               : (uint64_t)count > SIZE_MAX ? SIZE_MAX
                                                            : (size_t)count};
}

// Boxes of one class, best first, into `selected`; answers how many.
static size_t nms__select(const nms_options *options, const float *boxes, const float *scores, size_t n,
                          size_t *order, size_t *spare, size_t *selected) {
  size_t candidates = 0, count = 0;
  for (size_t i = 0; i < n; i++) {
    if (!options->filtered || scores[i] > options->score) order[candidates++] = i;
  }
  kit_sort(order, spare, candidates, nms__higher, scores);
  for (size_t i = 0; i < candidates && count < options->most; i++) {
    bool kept = true;
    for (size_t k = 0; kept && k < count; k++) {
      kept =
          !nms__suppresses(boxes + 4 * order[i], boxes + 4 * selected[k], options->centre, options->overlap);
    }
    if (kept) selected[count++] = order[i];
  }
  return count;
}

// Room for `rows` results at least; what is there moves along.
static bool nms__grow(op_run *ctx, op_value **results, size_t rows) {
  const op_tensor *old = *results ? op_value_tensor(*results) : NULL;
  if (old && (size_t)old->dims[0] >= rows) return true;
  int64_t dims[2] = {(int64_t)rows * 2 + 16, 3};
  op_value *grown = op_run_new_tensor(ctx, OP_INT64, 2, dims);
  if (!grown) return false;
  if (old) memcpy(op_value_edit(grown)->data, old->data, (size_t)old->count * sizeof(int64_t));
  op_value_release(*results);
  *results = grown;
  return true;
}

static os_status nms__compute(op_run *ctx) {
  const op_tensor *boxes = op_run_input(ctx, 0), *scores = op_run_input(ctx, 1);
  if (boxes->elem != OP_FLOAT || scores->elem != OP_FLOAT || boxes->rank != 3 || scores->rank != 3 ||
      boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2]) {
    return op_run_fail(ctx, "the shapes of boxes and scores do not match");
  }
  nms_options options = nms__options(ctx);
  size_t batches = (size_t)scores->dims[0], classes = (size_t)scores->dims[1], n = (size_t)boxes->dims[1],
         total = 0;
  size_t *order = op_run_scratch(ctx), *spare = order + n, *selected = spare + n;
  op_value *results = NULL;
  for (size_t b = 0; options.most > 0 && n > 0 && b < batches; b++) {
    for (size_t c = 0; c < classes; c++) {
      const float *class_scores = (const float *)scores->data + (b * classes + c) * n;
      size_t count = nms__select(&options, (const float *)boxes->data + b * n * 4, class_scores, n, order,
                                 spare, selected);
      if (!nms__grow(ctx, &results, total + count)) {
        op_value_release(results);
        return OS_OUT_OF_MEMORY;
      }
      int64_t *to = (int64_t *)op_value_edit(results)->data + 3 * total;
      for (size_t i = 0; i < count; i++, to += 3) {
        to[0] = (int64_t)b;
        to[1] = (int64_t)c;
        to[2] = (int64_t)selected[i];
      }
      total += count;
    }
  }
  int64_t dims[2] = {(int64_t)total, 3};
  op_tensor *out = op_run_allocate(ctx, 0, OP_INT64, 2, dims);
  if (out && total > 0) memcpy(out->data, op_value_tensor(results)->data, 3 * total * sizeof(int64_t));
  op_value_release(results);
  return out ? OS_OK : OS_OUT_OF_MEMORY;
}

// ---- Regions ----------------------------------------------------------------------------------------------

// X as doubles where it is no float tensor: *value owns them and is released by the caller.
static const float *regions__floats(op_run *ctx, const op_tensor *in, op_value **value) {
  *value = NULL;
  if (in->elem == OP_FLOAT) return in->data;
  *value = op_run_new_tensor(ctx, OP_FLOAT, in->rank, in->dims);
  if (!*value) return NULL;
  float *floats = op_value_edit(*value)->data;
  math_cast(floats, MATH_F32, in->data, (int)in->elem, (size_t)in->count, NULL);
  return floats;
}

static os_status regions__infer(op_infer *ctx, op_dim columns, op_dim height, op_dim width) {
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(kit_want_rank(ctx, 0, 4, "X"));
  OS_TRY(kit_want_rank(ctx, 1, 2, "rois"));
  if (height < 1 || width < 1) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "the pooled shape is %lld x %lld", (long long)height,
                         (long long)width);
  }
  op_dim *out = op_infer_set_rank(ctx, 0, 4);
  if (!out) return OS_OK;
  out[0] = op_infer_dim(ctx, 1, 0);
  out[1] = op_infer_dim(ctx, 0, 1);
  out[2] = height;
  out[3] = width;
  return op_infer_merge_dim(ctx, op_infer_dim(ctx, 1, 1), columns, "columns of rois", NULL);
}

// ---- RoiAlign ---------------------------------------------------------------------------------------------

enum { ALIGN_AVERAGE, ALIGN_MAXIMUM };

static int align__mode(const op_node *node) { return kit_word(node, "mode", "avg\0max\0"); }

static os_status align__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  if (align__mode(node) > ALIGN_MAXIMUM) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "mode must be avg or max");
  }
  OS_TRY(kit_want_rank(ctx, 2, 1, "batch_indices"));
  OS_TRY(regions__infer(ctx, 4, op_attr_int(node, "output_height", 1), op_attr_int(node, "output_width", 1)));
  return op_infer_merge_dim(ctx, op_infer_dim(ctx, 1, 0), op_infer_dim(ctx, 2, 0),
                            "number of rois and batch_indices", NULL);
}

typedef struct align_grid {
  double start[2], bin[2]; // along height, width
  size_t samples[2];       // of a bin
  int64_t dims[2];
} align_grid;

// Pixels on both sides of a coordinate and the weight of the second; false when it lies outside of the image.
static bool align__between(double at, int64_t dim, int64_t pixels[2], double *part) {
  if (at < -1 || at > (double)dim || at != at) return false;
  if (at < 0) at = 0;
  int64_t low = (int64_t)at;
  bool last = low >= dim - 1;
  pixels[0] = last ? dim - 1 : low;
  pixels[1] = last ? dim - 1 : low + 1;
  *part = last ? 0 : at - (double)low;
  return true;
}

static double align__bin(const align_grid *grid, const float *plane, size_t row, size_t column,
                         bool maximum) {
  double sum = 0, highest = 0;
  bool first = true;
  for (size_t y = 0; y < grid->samples[0]; y++) {
    for (size_t x = 0; x < grid->samples[1]; x++) {
      double at[2] = {
          grid->start[0] + ((double)row + ((double)y + 0.5) / (double)grid->samples[0]) * grid->bin[0],
          grid->start[1] + ((double)column + ((double)x + 0.5) / (double)grid->samples[1]) * grid->bin[1]};
      int64_t ys[2], xs[2];
      double v, u, value[4] = {0};
      if (align__between(at[0], grid->dims[0], ys, &v) && align__between(at[1], grid->dims[1], xs, &u)) {
        value[0] = (1 - v) * (1 - u) * (double)plane[ys[0] * grid->dims[1] + xs[0]];
        value[1] = (1 - v) * u * (double)plane[ys[0] * grid->dims[1] + xs[1]];
        value[2] = v * (1 - u) * (double)plane[ys[1] * grid->dims[1] + xs[0]];
        value[3] = v * u * (double)plane[ys[1] * grid->dims[1] + xs[1]];
      }
      sum += value[0] + value[1] + value[2] + value[3];
      for (int k = 0; k < 4; k++) {
        if (first || value[k] > highest) highest = value[k];
        first = false;
      }
    }
  }
  size_t count = grid->samples[0] * grid->samples[1];
  return maximum ? highest : sum / (double)(count > 0 ? count : 1);
}

static align_grid align__grid(const op_node *node, const op_tensor *in, const op_tensor *out,
                              const op_tensor *rois, size_t r) {
  bool half =
      op_node_since(node) >= 16 && kit_word(node, "coordinate_transformation_mode", "half_pixel\0") == 0;
  double scale = op_attr_float(node, "spatial_scale", 1), offset = half ? 0.5 : 0;
  int64_t ratio = op_attr_int(node, "sampling_ratio", 0);
  align_grid grid;
  for (int d = 0; d < 2; d++) {
    int64_t column = (int64_t)(r * 4) + 1 - d; // rois are x1, y1, x2, y2
    grid.start[d] = kit_double(rois, column) * scale - offset;
    double length = kit_double(rois, column + 2) * scale - offset - grid.start[d];
    if (!half && length < 1) length = 1;
    grid.bin[d] = length / (double)out->dims[2 + d];
    double samples = ratio > 0 ? (double)ratio : ceil(grid.bin[d]);
    grid.samples[d] = !(samples > 0) ? 0 : samples > 4096 ? 4096 : (size_t)samples;
    grid.dims[d] = in->dims[2 + d];
  }
  return grid;
}

static os_status align__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *in = op_run_input(ctx, 0), *rois = op_run_input(ctx, 1), *batches = op_run_input(ctx, 2);
  op_tensor *out = op_run_output(ctx, 0);
  if (rois->count != out->dims[0] * 4 || batches->count != out->dims[0]) return kit_shape_broken(ctx, "rois");
  if (out->count == 0) return OS_OK;
  size_t plane = kit_extent(in, 2, 4), at = 0;
  if (plane == 0) return op_run_fail(ctx, "an empty image has no regions");
  bool maximum = align__mode(node) == ALIGN_MAXIMUM;
  op_value *owner;
  const float *image = regions__floats(ctx, in, &owner);
  if (!image) return OS_OUT_OF_MEMORY;
  for (size_t r = 0; r < (size_t)out->dims[0]; r++) {
    int64_t batch = kit_int(batches, (int64_t)r);
    if (batch < 0 || batch >= in->dims[0]) {
      op_value_release(owner);
      return op_run_fail(ctx, "batch_indices[%zu] is %lld, the batch has %lld images", r, (long long)batch,
                         (long long)in->dims[0]);
    }
    align_grid grid = align__grid(node, in, out, rois, r);
    for (size_t c = 0; c < (size_t)out->dims[1]; c++) {
      const float *from = image + ((size_t)batch * (size_t)in->dims[1] + c) * plane;
      for (size_t row = 0; row < (size_t)out->dims[2]; row++) {
        for (size_t column = 0; column < (size_t)out->dims[3]; column++) {
          double value = align__bin(&grid, from, row, column, maximum);
          kit_put(out, at++, value);
        }
      }
    }
  }
  op_value_release(owner);
  return OS_OK;
}

// ---- MaxRoiPool -------------------------------------------------------------------------------------------

static os_status pool__infer(op_infer *ctx) {
  size_t count;
  const int64_t *shape = op_attr_ints(op_infer_node(ctx), "pooled_shape", &count);
  if (count != 2)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "pooled_shape has %zu entries, expected 2", count);
  return regions__infer(ctx, 5, shape[0], shape[1]);
}

// First and last + 1 pixel of bin i of n along an axis, cut to the image.
static void pool__bin(double start, double length, int64_t i, int64_t n, int64_t dim, int64_t *first,
                      int64_t *last) {
  double bin = length / (double)n, low = floor((double)i * bin) + start,
         high = ceil((double)(i + 1) * bin) + start;
  *first = low<0 ? 0 : low>(double) dim ? dim : (int64_t)low;
  *last = high<0 ? 0 : high>(double) dim ? dim : (int64_t)high;
}

static os_status pool__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0), *rois = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  if (rois->count != out->dims[0] * 5) return kit_shape_broken(ctx, "rois");
  double scale = op_attr_float(op_run_node(ctx), "spatial_scale", 1);
  size_t at = 0, plane = kit_extent(in, 2, 4);
  for (int64_t r = 0; out->count > 0 && r < out->dims[0]; r++) {
    double corner[4];
    int64_t batch = kit_int(rois, r * 5);
    if (batch < 0 || batch >= in->dims[0]) {
      return op_run_fail(ctx, "rois[%lld] is of image %lld, the batch has %lld", (long long)r,
                         (long long)batch, (long long)in->dims[0]);
    }
    for (int k = 0; k < 4; k++) corner[k] = floor(kit_double(rois, r * 5 + 1 + k) * scale + 0.5);
    double height = fmax(corner[3] - corner[1] + 1, 1), width = fmax(corner[2] - corner[0] + 1, 1);
    for (int64_t c = 0; c < out->dims[1]; c++) {
      int64_t base = (batch * in->dims[1] + c) * (int64_t)plane;
      for (int64_t place = 0; place < out->dims[2] * out->dims[3]; place++, at++) {
        int64_t y, y_end, x, x_begin, x_end;
        pool__bin(corner[1], height, place / out->dims[3], out->dims[2], in->dims[2], &y, &y_end);
        pool__bin(corner[0], width, place % out->dims[3], out->dims[3], in->dims[3], &x_begin, &x_end);
        double highest = y_end > y && x_end > x_begin ? -INFINITY : 0;
        for (; y < y_end; y++) {
          for (x = x_begin; x < x_end; x++) {
            double value = kit_double(in, base + y * in->dims[3] + x);
            if (value > highest || value != value) highest = value;
          }
        }
        kit_put(out, at, highest);
      }
    }
  }
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    {.op_type = "NonMaxSuppression",
     .since = 10,
     .traits = OP_PURE | OP_DATA_SHAPE,
     .infer = nms__infer,
     .plan = nms__plan,
     .compute = nms__compute},
    OP_ROW("RoiAlign", 10, OP_PURE, align__infer, align__compute), // 16: half_pixel
    OP_ROW("MaxRoiPool", 1, OP_PURE, pool__infer, pool__compute),
};

OP_FAMILY(regions, rows);
