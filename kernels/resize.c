// Resize and Upsample. Interpolation is done axis by axis: each output place along an axis is a weighted sum of a few input
// places (taps). Coordinates are computed in double; a scale that is the quotient of two lengths is taken as that quotient,
// so that ties stay ties.

#include "floats.h"
#include "kit.h"

#include <math.h>

// ---- Attributes -------------------------------------------------------------------------------------------

typedef enum resize_mode {
  RESIZE_NEAREST,
  RESIZE_LINEAR,
  RESIZE_CUBIC,
  RESIZE_BILINEAR /* Upsample 1 */,
  RESIZE_MODES
} resize_mode;
typedef enum resize_space {
  RESIZE_HALF_PIXEL,
  RESIZE_HALF_PIXEL_SYMMETRIC,
  RESIZE_PYTORCH_HALF_PIXEL,
  RESIZE_ALIGN_CORNERS,
  RESIZE_ASYMMETRIC,
  RESIZE_TF_HALF_PIXEL,
  RESIZE_TF_CROP,
  RESIZE_SPACES
} resize_space;
typedef enum resize_round {
  RESIZE_PREFER_FLOOR,
  RESIZE_PREFER_CEIL,
  RESIZE_FLOOR,
  RESIZE_CEIL,
  RESIZE_ROUNDS
} resize_round;
typedef enum resize_ratio {
  RESIZE_STRETCH,
  RESIZE_NOT_LARGER,
  RESIZE_NOT_SMALLER,
  RESIZE_RATIOS
} resize_ratio;

typedef struct resize_options {
  resize_mode mode;
  resize_space space;
  resize_round round;
  resize_ratio ratio;
  bool antialias, exclude_outside;
  double cubic_a, extrapolation;
} resize_options;

// Upsample and Resize 10 have no say in coordinates: asymmetric, floor.
static bool resize__old(const op_node *node) {
  return op_node_type(node).data[0] == 'U' || op_node_since(node) < 11;
}

static resize_options resize__options(const op_node *node) {
  resize_options options = {
      .mode = (resize_mode)kit_word(node, "mode", "nearest\0linear\0cubic\0bilinear\0"),
      .space = (resize_space)kit_word(node, "coordinate_transformation_mode",
                                      "half_pixel\0half_pixel_symmetric\0pytorch_half_pixel\0align_corners\0"
                                      "asymmetric\0tf_half_pixel_for_nn\0tf_crop_and_resize\0"),
      .round = (resize_round)kit_word(node, "nearest_mode",
                                      "round_prefer_floor\0round_prefer_ceil\0floor\0ceil\0"),
      .ratio = (resize_ratio)kit_word(node, "keep_aspect_ratio_policy", "stretch\0not_larger\0not_smaller\0"),
      .antialias = op_attr_int(node, "antialias", 0) != 0,
      .exclude_outside = op_attr_int(node, "exclude_outside", 0) != 0,
      .cubic_a = op_attr_float(node, "cubic_coeff_a", -0.75),
      .extrapolation = op_attr_float(node, "extrapolation_value", 0),
  };
  if (options.mode == RESIZE_BILINEAR) options.mode = RESIZE_LINEAR;
  if (resize__old(node)) {
    options.space = RESIZE_ASYMMETRIC;
    options.round = RESIZE_FLOOR;
  }
  return options;
}

// ---- Lengths and scales -----------------------------------------------------------------------------------

// Where scales and sizes come from; NULL when they are not given or empty. Lists of old versions lie in the struct.
typedef struct resize_sizes {
  const op_tensor *roi, *scales, *sizes;
  op_tensor listed;
  int64_t listed_dim;
  float pair[4];
} resize_sizes;

static const op_tensor *resize__filled(const op_tensor *tensor) {
  return tensor && tensor->count > 0 ? tensor : NULL;
}

// Scales that are attributes (Upsample 1 and 7).
static void resize__attribute_scales(const op_node *node, resize_sizes *sizes) {
  size_t count = 0;
  const float *scales = op_attr_floats(node, "scales", &count);
  if (op_attr_has(node, "height_scale")) {
    sizes->pair[0] = sizes->pair[1] = 1;
    sizes->pair[2] = (float)op_attr_float(node, "height_scale", 1);
    sizes->pair[3] = (float)op_attr_float(node, "width_scale", 1);
    scales = sizes->pair;
    count = 4;
  }
  if (count == 0) return;
  sizes->listed_dim = (int64_t)count;
  sizes->listed = (op_tensor){.elem = OP_FLOAT,
                              .rank = 1,
                              .dims = &sizes->listed_dim,
                              .count = (int64_t)count,
                              .data = (void *)(uintptr_t)scales};
  sizes->scales = &sizes->listed;
}

// Number of the input that holds scales; sizes follow it from version 11 on.
static uint32_t resize__scales_input(const op_node *node) { return resize__old(node) ? 1 : 2; }

typedef struct resize_axis {
  int64_t in, out;
  double scale;
  bool quotient;     // scale is out / in
  bool active;       // something happens along this axis
  double start, end; // region of interest
} resize_axis;

static void resize__set_scale(resize_axis *axis, float scale) {
  axis->active = true;
  axis->scale = scale;
  double out = floorf((float)axis->in * scale);
  axis->out = out >= 9e18 ? INT64_MAX : (int64_t)out;
  axis->quotient = axis->in > 0 && (float)((double)axis->out / (double)axis->in) == scale;
}

static void resize__set_size(resize_axis *axis, int64_t size) {
  axis->active = true;
  axis->out = size;
  axis->quotient = true;
  axis->scale = axis->in > 0 ? (double)size / (double)axis->in : 1;
}

// The axes that the entries of scales and sizes are for. False when an axis is out of range.
static bool resize__listed_axes(const op_node *node, int32_t rank, int32_t *axes, size_t *count) {
  const int64_t *listed = op_attr_ints(node, "axes", count);
  if (!op_attr_has(node, "axes")) *count = (size_t)rank;
  for (size_t i = 0; i < *count; i++) {
    int64_t axis = op_attr_has(node, "axes") ? listed[i] : (int64_t)i;
    if (*count > (size_t)rank || axis < -rank || axis >= rank) return false;
    axes[i] = kit_axis(axis, rank);
  }
  return true;
}

// One scale for all axes that `sizes` names.
static void resize__keep_ratio(resize_axis *axes, const int32_t *listed, size_t count, const op_tensor *sizes,
                               bool smaller) {
  double best = 0;
  for (size_t i = 0; i < count; i++) {
    double scale = (double)kit_int(sizes, (int64_t)i) / (double)axes[listed[i]].in;
    if (i == 0 || (smaller ? scale < best : scale > best)) best = scale;
  }
  for (size_t i = 0; i < count; i++) {
    resize_axis *axis = &axes[listed[i]];
    double exact = best * (double)axis->in;
    resize__set_size(axis, exact >= 9e18 ? INT64_MAX : (int64_t)(exact + 0.5));
    axis->scale = best;
    axis->quotient = best == (double)axis->out / (double)axis->in;
  }
}

// Fills the axes of a tensor with these dims; answers what is wrong, or NULL.
static const char *resize__axes(const op_node *node, const resize_sizes *sizes, int32_t rank,
                                const int64_t *dims, resize_axis *axes) {
  int32_t listed[OP_MAX_RANK];
  size_t count;
  resize_options options = resize__options(node);
  if (!resize__listed_axes(node, rank, listed, &count)) return "axes do not fit the rank";
  for (int32_t i = 0; i < rank; i++)
    axes[i] = (resize_axis){.in = dims[i], .out = dims[i], .scale = 1, .quotient = true, .end = 1};
  if (sizes->scales && sizes->sizes) return "scales and sizes are both given";
  if (!sizes->scales && !sizes->sizes) return "neither scales nor sizes are given";
  const op_tensor *given = sizes->scales ? sizes->scales : sizes->sizes;
  if ((size_t)given->count != count)
    return sizes->scales ? "scales do not match the axes" : "sizes do not match the axes";
  for (size_t i = 0; i < count; i++) {
    double number = kit_double(given, (int64_t)i);
    if (sizes->scales ? !(number > 0) : number < 0)
      return sizes->scales ? "a scale is not above 0" : "a size is below 0";
    if (sizes->scales)
      resize__set_scale(&axes[listed[i]], (float)number);
    else
      resize__set_size(&axes[listed[i]], kit_int(given, (int64_t)i));
    if (axes[listed[i]].in == 0 && axes[listed[i]].out > 0) return "an empty axis cannot be enlarged";
  }
  if (sizes->sizes && options.ratio != RESIZE_STRETCH) {
    resize__keep_ratio(axes, listed, count, sizes->sizes, options.ratio == RESIZE_NOT_LARGER);
  }
  if (options.space == RESIZE_TF_CROP) {
    if (!sizes->roi || (size_t)sizes->roi->count != 2 * count) return "roi does not match the axes";
    for (size_t i = 0; i < count; i++) {
      axes[listed[i]].start = kit_double(sizes->roi, (int64_t)i);
      axes[listed[i]].end = kit_double(sizes->roi, (int64_t)(count + i));
    }
  }
  return NULL;
}

// ---- Inference --------------------------------------------------------------------------------------------

static os_status resize__check_names(op_infer *ctx) {
  resize_options options = resize__options(op_infer_node(ctx));
  const char *wrong = options.mode == RESIZE_MODES     ? "mode"
                      : options.space == RESIZE_SPACES ? "coordinate_transformation_mode"
                      : options.round == RESIZE_ROUNDS ? "nearest_mode"
                      : options.ratio == RESIZE_RATIOS ? "keep_aspect_ratio_policy"
                                                       : NULL;
  return wrong ? op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s has an unknown value", wrong) : OS_OK;
}

// Neither absent nor known to be empty.
static bool resize__given(const op_infer *ctx, uint32_t input) {
  return op_infer_has_input(ctx, input) && op_infer_dim(ctx, input, 0) != 0;
}

// Dims are symbolic, or scales or sizes are not constant: axis by axis, what can be said.
static void resize__infer_loosely(op_infer *ctx, const resize_sizes *sizes, int32_t rank, op_dim *out) {
  const op_node *node = op_infer_node(ctx);
  int32_t listed[OP_MAX_RANK];
  size_t count;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (!resize__listed_axes(node, rank, listed, &count)) return;
  kit_list list = {0};
  if (!resize__old(node)) kit_infer_list(ctx, 3, &list);
  for (int32_t i = 0; op_attr_has(node, "axes") && i < rank; i++) out[i] = dims[i];
  for (size_t i = 0; i < count; i++) {
    op_dim *dim = &out[listed[i]];
    *dim = OP_DIM_UNKNOWN;
    if (sizes->scales && (size_t)sizes->scales->count == count) {
      double scale = kit_double(sizes->scales, (int64_t)i);
      resize_axis axis = {.in = dims[listed[i]]};
      if (axis.in >= 0) resize__set_scale(&axis, (float)scale);
      if (axis.in >= 0)
        *dim = axis.out;
      else if (scale >= 1 && scale < 1e6 && scale == floor(scale))
        *dim = op_dim_mul(ctx, axis.in, (int64_t)scale);
    } else if (list.present && list.count == count && resize__options(node).ratio == RESIZE_STRETCH) {
      *dim = list.at[i];
    }
  }
}

static os_status resize__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  OS_TRY(resize__check_names(ctx));
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  if (rank < 0) return OS_OK;
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!out) return OS_OK;
  resize_sizes sizes = {0};
  resize__attribute_scales(node, &sizes);
  uint32_t input = resize__scales_input(node);
  bool open = false; // something is given, but not known
  if (!sizes.scales && resize__given(ctx, input)) {
    sizes.scales = resize__filled(op_infer_value(ctx, input));
    open = !sizes.scales;
  }
  if (input == 2) {
    bool given = resize__given(ctx, 3);
    sizes.sizes = given ? resize__filled(op_infer_value(ctx, 3)) : NULL;
    open |= given && !sizes.sizes;
    sizes.roi = resize__given(ctx, 1) ? resize__filled(op_infer_value(ctx, 1)) : NULL;
    open |= resize__given(ctx, 1) && !sizes.roi && resize__options(node).space == RESIZE_TF_CROP;
  }
  for (int32_t i = 0; i < rank; i++) open |= dims[i] < 0;
  if (open) {
    resize__infer_loosely(ctx, &sizes, rank, out);
    return OS_OK;
  }
  resize_axis axes[OP_MAX_RANK];
  const char *wrong = resize__axes(node, &sizes, rank, dims, axes);
  if (wrong) {
    long long entries = (long long)(sizes.scales  ? sizes.scales->count
                                    : sizes.sizes ? sizes.sizes->count
                                                  : 0);
    return op_infer_fail(ctx, OP_FAULT_VALUE, "%s (%lld entries, rank %d)", wrong, entries, (int)rank);
  }
  for (int32_t i = 0; i < rank; i++) out[i] = axes[i].out;
  return OS_OK;
}

// ---- Taps -------------------------------------------------------------------------------------------------

// Where output place x lies in the input. `extrapolate`: outside of the input, for the one mode that minds.
static double resize__source(const resize_options *options, const resize_axis *axis, double x,
                             bool *extrapolate) {
  double in = (double)axis->in, out = (double)axis->out, width = axis->quotient ? out : axis->scale * in, at;
  // (x + 0.5) / scale: exact up to one rounding when the scale is a quotient.
  double half = axis->quotient ? (x + 0.5) * in / out : (x + 0.5) / axis->scale;
  switch (options->space) {
  case RESIZE_ALIGN_CORNERS: return width == 1 ? 0 : x * (in - 1) / (width - 1);
  case RESIZE_ASYMMETRIC: return axis->quotient ? x * in / out : x / axis->scale;
  case RESIZE_TF_HALF_PIXEL: return half;
  case RESIZE_PYTORCH_HALF_PIXEL: return axis->out == 1 ? -0.5 : half - 0.5;
  case RESIZE_HALF_PIXEL_SYMMETRIC: return in / 2 * (1 - out / width) + half - 0.5;
  case RESIZE_TF_CROP:
    at = axis->out > 1 ? axis->start * (in - 1) + x * (axis->end - axis->start) * (in - 1) / (width - 1)
                       : 0.5 * (axis->start + axis->end) * (in - 1);
    *extrapolate = at < 0 || at > in - 1;
    return at;
  default: return half - 0.5;
  }
}

static int64_t resize__clamp(double place, int64_t in) {
  return !(place > 0) ? 0 : place >= (double)in ? in - 1 : (int64_t)place;
}

static int64_t resize__nearest(const resize_options *options, double at, int64_t in) {
  double low = floor(at), part = at - low;
  bool up =
      part > 0 && (options->round == RESIZE_CEIL || (options->round == RESIZE_PREFER_FLOOR && part > 0.5) ||
                   (options->round == RESIZE_PREFER_CEIL && part >= 0.5));
  return resize__clamp(up ? low + 1 : low, in);
}

static double resize__cubic(double x, double a) {
  x = fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// Taps of one axis: `taps` (place, weight) pairs per output place.
typedef struct resize_table {
  size_t taps;
  int64_t *places;   // out * taps
  double *weights;   // out * taps
  bool *extrapolate; // out
} resize_table;

// How much the filter is stretched, at most 1, and how many taps lie on either side.
static double resize__stretch(const resize_options *options, const resize_axis *axis, size_t *half_taps) {
  double reach = options->mode == RESIZE_CUBIC ? 2 : 1;
  double stretch = options->antialias && axis->scale < 1 ? axis->scale : 1;
  double taps = -floor(-reach / stretch);
  double most = 4 * (double)axis->in + 4; // no filter of an output of one place or more is wider
  if (taps > most) taps = most;
  *half_taps = (size_t)taps;
  return stretch;
}

static void resize__fill_table(const resize_options *options, const resize_axis *axis,
                               const resize_table *table) {
  size_t half;
  double stretch = resize__stretch(options, axis, &half);
  for (int64_t x = 0; x < axis->out; x++) {
    table->extrapolate[x] = false;
    double at = resize__source(options, axis, (double)x, &table->extrapolate[x]), base = ceil(at) - 1,
           sum = 0;
    int64_t *places = table->places + (size_t)x * table->taps;
    double *weights = table->weights + (size_t)x * table->taps;
    for (size_t k = 0; k < table->taps; k++) {
      double place = base + (double)k - (double)half + 1, distance = (place - at) * stretch;
      bool outside = place < 0 || place >= (double)axis->in;
      double triangle = 1 - fabs(distance);
      weights[k] = options->mode == RESIZE_CUBIC ? resize__cubic(distance, options->cubic_a)
                   : triangle > 0                ? triangle
                                                 : 0;
      if (outside && options->exclude_outside) weights[k] = 0;
      places[k] = resize__clamp(place, axis->in);
      sum += weights[k];
    }
    bool normalise = options->exclude_outside || stretch < 1;
    for (size_t k = 0; normalise && sum != 0 && k < table->taps; k++) weights[k] /= sum;
  }
}

// ---- Passes -----------------------------------------------------------------------------------------------

// One axis of [outer, in, inner] -> [outer, out, inner].
#define RESIZE_PASS(type)                                                                            \
  static void resize__pass_##type(type *dst, const type *src, size_t outer, const resize_axis *axis, \
                                  size_t inner, const resize_table *table) {                         \
    size_t in = (size_t)axis->in, out = (size_t)axis->out, taps = table->taps;                       \
    for (size_t o = 0; o < outer; o++, src += in * inner) {                                          \
      for (size_t x = 0; x < out; x++, dst += inner) {                                               \
        const int64_t *places = table->places + x * taps;                                            \
        const double *weights = table->weights + x * taps;                                           \
        const type *a = src + (size_t)places[0] * inner, *b = src + (size_t)places[1] * inner;       \
        type u = (type)weights[0], v = (type)weights[1];                                             \
        for (size_t i = 0; i < inner; i++) dst[i] = u * a[i] + v * b[i];                             \
        for (size_t k = 2; k < taps; k++) {                                                          \
          const type *c = src + (size_t)places[k] * inner, w = (type)weights[k];                     \
          for (size_t i = 0; i < inner; i++) dst[i] += w * c[i];                                     \
        }                                                                                            \
      }                                                                                              \
    }                                                                                                \
  }
RESIZE_PASS(float)
RESIZE_PASS(double)

// A block of `bytes` that lives as long as the answered value.
static void *resize__room(op_run *ctx, size_t bytes, op_value **value) {
  int64_t dim = (int64_t)bytes + 1;
  *value = op_run_new_tensor(ctx, OP_UINT8, 1, &dim);
  return *value ? op_value_edit(*value)->data : NULL;
}

static bool resize__new_table(op_run *ctx, const resize_options *options, const resize_axis *axis,
                              resize_table *table, op_value **room) {
  size_t half;
  resize__stretch(options, axis, &half);
  size_t out = (size_t)axis->out;
  table->taps = 2 * half;
  if (out > SIZE_MAX / 32 / (table->taps + 1)) return false;
  char *block =
      resize__room(ctx, out * (table->taps * (sizeof(int64_t) + sizeof(double)) + sizeof(bool)), room);
  if (!block) return false;
  table->places = (int64_t *)(void *)block;
  table->weights = (double *)(void *)(table->places + out * table->taps);
  table->extrapolate = (bool *)(table->weights + out * table->taps);
  resize__fill_table(options, axis, table);
  return true;
}

// Where any axis says so, the output is the extrapolation value.
static void resize__extrapolate(op_tensor *out, int32_t axis, const bool *flags, double value) {
  uint64_t element[2] = {0};
  size_t width = op_elem_size(out->elem), n = (size_t)out->dims[axis];
  size_t outer = kit_extent(out, 0, axis), inner = kit_extent(out, axis + 1, out->rank);
  math_cast(element, (int)out->elem, &value, MATH_F64, 1, NULL);
  for (size_t o = 0; o < outer; o++) {
    for (size_t x = 0; x < n; x++) {
      if (flags[x]) math_fill(kit_at(out, (o * n + x) * inner), element, inner, width);
    }
  }
}

static os_status resize__pick(op_run *ctx, const resize_options *options, const resize_axis *axes,
                              op_tensor *out, const op_tensor *in) {
  size_t total = 0, in_dims[OP_MAX_RANK], rank = kit_shape(in, in_dims);
  const size_t *places[OP_MAX_RANK];
  ptrdiff_t strides[OP_MAX_RANK];
  math_strides(rank, in_dims, strides);
  for (size_t i = 0; i < rank; i++) total += (size_t)out->dims[i];
  op_value *room;
  size_t *at = resize__room(ctx, total * (sizeof(size_t) + sizeof(bool)), &room);
  if (!at) return OS_OUT_OF_MEMORY;
  bool *flags = (bool *)(at + total), *flag = flags;
  for (size_t i = 0; i < rank; i++) {
    places[i] = at;
    for (int64_t x = 0; x < axes[i].out; x++) {
      *flag = false;
      double source = axes[i].active ? resize__source(options, &axes[i], (double)x, flag) : (double)x;
      *at++ = (size_t)resize__nearest(options, source, axes[i].in) * (size_t)strides[i];
      flag++;
    }
  }
  kit_pick_axes(out, in, places);
  for (size_t i = 0; options->space == RESIZE_TF_CROP && i < rank; i++) {
    if (axes[i].active) resize__extrapolate(out, (int32_t)i, flags, options->extrapolation);
    flags += axes[i].out;
  }
  op_value_release(room);
  return kit_keep(out, in);
}

// Runs the passes; *value (float or double, owned) goes from the input's shape to the output's.
static os_status resize__passes(op_run *ctx, const resize_options *options, const resize_axis *axes,
                                op_value **value) {
  int64_t dims[OP_MAX_RANK];
  int32_t rank = op_value_tensor(*value)->rank;
  for (int32_t i = 0; i < rank; i++) dims[i] = axes[i].in;
  for (int32_t i = 0; i < rank; i++) {
    if (!axes[i].active ||
        (axes[i].quotient && axes[i].in == axes[i].out && options->space != RESIZE_TF_CROP))
      continue;
    resize_table table;
    op_value *room;
    if (!resize__new_table(ctx, options, &axes[i], &table, &room)) return OS_OUT_OF_MEMORY;
    dims[i] = axes[i].out;
    op_value *next = op_run_new_tensor(ctx, op_value_tensor(*value)->elem, rank, dims);
    if (!next) {
      op_value_release(room);
      return OS_OUT_OF_MEMORY;
    }
    op_tensor *to = op_value_edit(next), *from = op_value_edit(*value);
    size_t outer = kit_extent(to, 0, i), inner = kit_extent(to, i + 1, rank);
    if (to->elem == OP_FLOAT)
      resize__pass_float(to->data, from->data, outer, &axes[i], inner, &table);
    else
      resize__pass_double(to->data, from->data, outer, &axes[i], inner, &table);
    op_value_release(room);
    op_value_release(*value);
    *value = next;
  }
  return OS_OK;
}

static os_status resize__extrapolate_all(op_run *ctx, const resize_options *options, const resize_axis *axes,
                                         op_tensor *out) {
  for (int32_t i = 0; options->space == RESIZE_TF_CROP && i < out->rank; i++) {
    op_value *room;
    bool *flags = axes[i].active ? resize__room(ctx, (size_t)axes[i].out, &room) : NULL;
    if (!axes[i].active) continue;
    if (!flags) return OS_OUT_OF_MEMORY;
    for (int64_t x = 0; x < axes[i].out; x++) {
      flags[x] = false;
      resize__source(options, &axes[i], (double)x, &flags[x]);
    }
    resize__extrapolate(out, i, flags, options->extrapolation);
    op_value_release(room);
  }
  return OS_OK;
}

static os_status resize__interpolate(op_run *ctx, const resize_options *options, const resize_axis *axes,
                                     op_tensor *out, const op_tensor *in) {
  // 32-bit integers and more do not fit into a float.
  bool wide = op_elem_size(in->elem) >= 4 && in->elem != OP_FLOAT;
  op_elem elem = wide ? OP_DOUBLE : OP_FLOAT;
  op_value *value = op_run_new_tensor(ctx, elem, in->rank, in->dims);
  if (!value) return OS_OUT_OF_MEMORY;
  if (!math_cast(op_value_edit(value)->data, (int)elem, in->data, (int)in->elem, (size_t)in->count, NULL)) {
    op_value_release(value);
    return op_run_fail(ctx, "elements of type %s cannot be interpolated", op_elem_name(in->elem));
  }
  os_status status = resize__passes(ctx, options, axes, &value);
  if (status == OS_OK) {
    math_cast(out->data, (int)out->elem, op_value_tensor(value)->data, (int)elem, (size_t)out->count, NULL);
    status = resize__extrapolate_all(ctx, options, axes, out);
  }
  op_value_release(value);
  return status;
}

static os_status resize__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  resize_sizes sizes = {0};
  resize__attribute_scales(node, &sizes);
  uint32_t input = resize__scales_input(node);
  if (!sizes.scales) sizes.scales = resize__filled(op_run_input(ctx, input));
  if (input == 2) {
    sizes.sizes = resize__filled(op_run_input(ctx, 3));
    sizes.roi = resize__filled(op_run_input(ctx, 1));
  }
  resize_axis axes[OP_MAX_RANK];
  const char *wrong = resize__axes(node, &sizes, in->rank, in->dims, axes);
  if (wrong) return op_run_fail(ctx, "%s", wrong);
  for (int32_t i = 0; i < in->rank; i++) {
    if (out->rank != in->rank || axes[i].out != out->dims[i])
      return kit_shape_broken(ctx, "the resized input");
  }
  if (out->count == 0) return OS_OK;
  resize_options options = resize__options(node);
  if (options.mode == RESIZE_NEAREST) return resize__pick(ctx, &options, axes, out, in);
  return resize__interpolate(ctx, &options, axes, out, in);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    // 1: height_scale, width_scale; 7: scales as an attribute; 9: as an input
    OP_ROW("Upsample", 1, OP_PURE, resize__infer, resize__compute),
    // 11: coordinate modes, sizes; 18: antialias, axes, aspect ratio; 19: half_pixel_symmetric
    OP_ROW("Resize", 10, OP_PURE, resize__infer, resize__compute),
};

OP_FAMILY(resize, rows);
