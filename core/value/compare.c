#include "compare.h"

#include "scalar.h"

#include <math.h>

os_tolerance os_tolerance_default(void) { return (os_tolerance){.rtol = -1, .atol = -1}; }

static os_tolerance os_compare__resolve(const os_tolerance *given, op_elem part) {
  static const struct {
    op_elem part;
    double rtol, atol;
  } defaults[] = {
      {OP_DOUBLE, 1e-9, 1e-12}, {OP_FLOAT, 1e-5, 1e-7}, {OP_FLOAT16, 2e-3, 1e-4}, {OP_BFLOAT16, 1e-2, 1e-3}};
  os_tolerance out = *given;
  double rtol = 0, atol = 0;
  for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
    if (defaults[i].part != part) continue;
    rtol = defaults[i].rtol;
    atol = defaults[i].atol;
  }
  if (!(out.rtol >= 0)) out.rtol = rtol;
  if (!(out.atol >= 0)) out.atol = atol;
  return out;
}

// Two numbers of a float type; measures into `out` when they differ.
static bool os_compare__floats(const os_tolerance *tolerance, op_elem part, const void *actual,
                               const void *expected, int64_t index, os_difference *out) {
  double a = os_scalar_float(part, actual, index), e = os_scalar_float(part, expected, index);
  if (isnan(a) && isnan(e)) return true;
  if (a == e && (a != 0 || tolerance->unsigned_zero || !signbit(e) || signbit(a))) return true;
  bool odd = isnan(a) || isnan(e) || isinf(a) || isinf(e);
  double distance = odd ? (double)INFINITY : fabs(a - e);
  uint64_t ulps = os_scalar_ulps(part, actual, expected, index);
  if (a != e && !odd) {
    if (tolerance->has_ulp ? ulps <= tolerance->ulp : distance <= tolerance->atol + tolerance->rtol * fabs(e))
      return true;
  }
  if (distance > out->max_abs) out->max_abs = distance;
  double relative = odd             ? (double)INFINITY
                    : distance == 0 ? 0
                    : e == 0        ? (double)INFINITY
                                    : distance / fabs(e);
  if (relative > out->max_rel) out->max_rel = relative;
  if (ulps > out->max_ulp) out->max_ulp = ulps;
  return false;
}

static bool os_compare__element(const os_tolerance *tolerance, op_elem elem, const op_tensor *actual,
                                const op_tensor *expected, int64_t index, os_difference *out) {
  if (elem == OP_STRING) {
    return os_str_eq(((const os_str *)actual->data)[index], ((const os_str *)expected->data)[index]);
  }
  op_elem part = os_scalar_part(elem);
  if (!os_scalar_is_float(elem)) {
    return os_scalar_int(elem, actual->data, index) == os_scalar_int(elem, expected->data, index);
  }
  if (part == elem) return os_compare__floats(tolerance, part, actual->data, expected->data, index, out);
  bool re = os_compare__floats(tolerance, part, actual->data, expected->data, 2 * index, out);
  bool im = os_compare__floats(tolerance, part, actual->data, expected->data, 2 * index + 1, out);
  return re && im;
}

static bool os_compare__bits(op_elem elem, const op_tensor *actual, const op_tensor *expected,
                             int64_t index) {
  size_t size = op_elem_size(elem);
  return memcmp((const char *)actual->data + (size_t)index * size,
                (const char *)expected->data + (size_t)index * size, size) == 0;
}

static bool os_compare__same_dims(const op_tensor *a, const op_tensor *b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

static void os_compare__tensor(const op_tensor *actual, const op_tensor *expected, const os_tolerance *given,
                               os_difference *out) {
  if (actual->elem != expected->elem) {
    out->kind = OS_DIFFERS_TYPE;
    return;
  }
  if (!os_compare__same_dims(actual, expected)) {
    out->kind = OS_DIFFERS_SHAPE;
    return;
  }
  if (given->shape_only) return;
  os_tolerance tolerance = os_compare__resolve(given, os_scalar_part(actual->elem));
  out->count = expected->count;
  out->has_metrics = os_scalar_is_float(actual->elem) && !given->bits;
  for (int64_t i = 0; i < expected->count; i++) {
    if (given->bits && actual->elem != OP_STRING) {
      if (os_compare__bits(actual->elem, actual, expected, i)) continue;
    } else if (os_compare__element(&tolerance, actual->elem, actual, expected, i, out)) {
      continue;
    }
    if (out->differing++ == 0) out->first = i;
  }
  if (out->differing > 0) out->kind = OS_DIFFERS_VALUE;
}

static os_str os_compare__key(os_arena *arena, const op_value *map, size_t index) {
  const op_tensor *keys = &map->keys->tensor;
  return os_scalar_print(arena, keys->elem, keys->data, (int64_t)index);
}

// Order of two keys, as maps hold them.
static int os_compare__key_order(const op_tensor *a, size_t i, const op_tensor *b, size_t j) {
  if (a->elem == OP_STRING) return os_str_cmp(((const os_str *)a->data)[i], ((const os_str *)b->data)[j]);
  int64_t x = os_scalar_int(a->elem, a->data, (int64_t)i), y = os_scalar_int(b->elem, b->data, (int64_t)j);
  if (a->elem == OP_UINT64) return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
  return (x > y) - (x < y);
}

// The first key that one of two maps alone has, in words.
static os_str os_compare__odd_key(os_arena *arena, const op_value *actual, const op_value *expected) {
  size_t i = 0;
  int order = 0;
  for (; i < actual->count && i < expected->count && order == 0; i++)
    order = os_compare__key_order(&actual->keys->tensor, i, &expected->keys->tensor, i);
  if (order != 0)
    i--;
  else
    order = i < actual->count ? -1 : 1;
  os_str key = os_compare__key(arena, order < 0 ? actual : expected, i);
  return os_arena_format(arena, order < 0 ? "has the key %.*s, which is not expected" : "lacks the key %.*s",
                         OS_ARG(key));
}

// Pairs still to be looked at; values nest as deep as a document says, so there is no recursion.
typedef struct os_compare__pair {
  const op_value *actual, *expected;
  os_str path;
} os_compare__pair;

typedef struct os_compare__stack {
  os_compare__pair *items;
  size_t count, room;
} os_compare__stack;

// Puts the items on the stack so that the first is looked at first.
static os_status os_compare__push_items(os_arena *arena, os_compare__stack *stack,
                                        const os_compare__pair *pair) {
  for (size_t i = pair->expected->count; i-- > 0;) {
    os_compare__pair *next = OS_PUSH(arena, stack);
    OS_TRY_ALLOC(next);
    os_str path = pair->path;
    if (pair->expected->kind == OP_MAP)
      path = os_arena_format(arena, "%.*s[%.*s]", OS_ARG(path),
                             OS_ARG(os_compare__key(arena, pair->expected, i)));
    else if (pair->expected->kind != OP_OPTIONAL)
      path = os_arena_format(arena, "%.*s[%zu]", OS_ARG(path), i);
    *next = (os_compare__pair){pair->actual->items[i], pair->expected->items[i], path};
  }
  return OS_OK;
}

static bool os_compare__keys(const op_value *actual, const op_value *expected, os_difference *out) {
  os_tolerance exact = {0};
  os_difference keys = {0};
  os_compare__tensor(&actual->keys->tensor, &expected->keys->tensor, &exact, &keys);
  if (keys.kind == OS_SAME) return true;
  out->kind = OS_DIFFERS_KEY;
  out->first = keys.first;
  return false;
}

static os_status os_compare__pair_of(os_arena *arena, os_compare__stack *stack, const os_compare__pair *pair,
                                     const os_tolerance *tolerance, os_difference *out) {
  const op_value *a = pair->actual, *e = pair->expected;
  out->actual = a;
  out->expected = e;
  out->path = pair->path;
  if (a == NULL && e == NULL) return OS_OK;
  if (a == NULL || e == NULL) {
    out->kind = OS_DIFFERS_EMPTY;
    return OS_OK;
  }
  if (a->kind != e->kind) {
    out->kind = OS_DIFFERS_KIND;
    return OS_OK;
  }
  if (e->kind == OP_TENSOR) {
    os_compare__tensor(&a->tensor, &e->tensor, tolerance, out);
    return OS_OK;
  }
  if (a->type != e->type && a->type != 0 && e->type != 0)
    out->kind = OS_DIFFERS_TYPE;
  else if (e->kind == OP_SPARSE && !os_compare__same_dims(&a->tensor, &e->tensor))
    out->kind = OS_DIFFERS_SHAPE;
  else if (a->count != e->count)
    out->kind = e->kind == OP_OPTIONAL ? OS_DIFFERS_EMPTY : OS_DIFFERS_COUNT;
  else if (e->kind == OP_MAP && !os_compare__keys(a, e, out))
    return OS_OK;
  else if (!tolerance->shape_only || e->kind != OP_SPARSE)
    return os_compare__push_items(arena, stack, pair);
  return OS_OK;
}

os_status os_value_compare(os_arena *arena, const op_value *actual, const op_value *expected,
                           const os_tolerance *tolerance, os_difference *out) {
  *out = (os_difference){.actual = actual, .expected = expected};
  os_compare__stack stack = {0};
  os_compare__pair pair = {actual, expected, {"", 0}};
  for (;;) {
    OS_TRY(os_compare__pair_of(arena, &stack, &pair, tolerance, out));
    if (out->kind != OS_SAME || stack.count == 0) return OS_OK;
    pair = stack.items[--stack.count];
  }
}

void os_difference_add(os_difference *self, const os_difference *piece, int64_t base) {
  if (piece->kind == OS_SAME) return;
  const op_tensor *whole = self->whole;
  if (self->kind == OS_SAME) {
    *self = *piece;
    self->whole = whole;
    self->base = base;
    self->first += base;
    self->count = whole->count;
    return;
  }
  self->differing += piece->differing;
  if (piece->max_abs > self->max_abs) self->max_abs = piece->max_abs;
  if (piece->max_rel > self->max_rel) self->max_rel = piece->max_rel;
  if (piece->max_ulp > self->max_ulp) self->max_ulp = piece->max_ulp;
}

os_str os_dims_list_print(os_arena *arena, int32_t rank, const int64_t *dims) {
  os_str out = {"[", 1};
  for (int32_t i = 0; i < rank; i++) {
    out = os_arena_format(arena, "%.*s%s%lld", OS_ARG(out), i == 0 ? "" : ", ", (long long)dims[i]);
  }
  return os_arena_format(arena, "%.*s]", OS_ARG(out));
}

os_str os_index_print(os_arena *arena, const op_tensor *tensor, int64_t index) {
  if (tensor->rank == 0) return (os_str){"", 0};
  int64_t at[OP_MAX_RANK];
  for (int32_t i = tensor->rank; i-- > 0;) {
    at[i] = index % tensor->dims[i];
    index /= tensor->dims[i];
  }
  return os_dims_list_print(arena, tensor->rank, at);
}

static const char *os_compare__kind_name(const op_value *value) {
  static const char *const names[] = {"nothing",    "a tensor", "a sparse tensor",
                                      "a sequence", "a map",    "an optional"};
  return names[value == NULL ? 0 : value->kind];
}

static os_str os_compare__print_values(const os_difference *self, os_arena *arena) {
  const op_tensor *a = &self->actual->tensor, *e = &self->expected->tensor;
  os_str index = os_index_print(arena, self->whole == NULL ? e : self->whole, self->first);
  os_str is = os_scalar_print(arena, a->elem, a->data, self->first - self->base);
  os_str wanted = os_scalar_print(arena, e->elem, e->data, self->first - self->base);
  os_str out = os_arena_format(arena, "element%s%.*s is %.*s, expected %.*s", index.len == 0 ? "" : " ",
                               OS_ARG(index), OS_ARG(is), OS_ARG(wanted));
  if (self->count > 1) {
    out = os_arena_format(arena, "%.*s; %lld of %lld differ", OS_ARG(out), (long long)self->differing,
                          (long long)self->count);
  }
  if (!self->has_metrics || isinf(self->max_abs)) return out;
  out = os_arena_format(arena, "%.*s, at most by %.3g (", OS_ARG(out), self->max_abs);
  if (!isinf(self->max_rel)) out = os_arena_format(arena, "%.*srelative %.3g, ", OS_ARG(out), self->max_rel);
  return os_arena_format(arena, "%.*s%llu ULP)", OS_ARG(out), (unsigned long long)self->max_ulp);
}

os_str os_difference_print(const os_difference *self, os_arena *arena, const os_types *types) {
  const op_value *a = self->actual, *e = self->expected;
  os_str out = {"", 0};
  switch (self->kind) {
  case OS_SAME: return OS_STR("no difference");
  case OS_DIFFERS_KIND:
    out = os_arena_format(arena, "is %s, expected %s", os_compare__kind_name(a), os_compare__kind_name(e));
    break;
  case OS_DIFFERS_TYPE: {
    os_str is = os_types_print(types, arena, op_value_type(a)),
           wanted = os_types_print(types, arena, op_value_type(e));
    out = os_arena_format(arena, "has type %.*s, expected %.*s", OS_ARG(is), OS_ARG(wanted));
    break;
  }
  case OS_DIFFERS_SHAPE: {
    os_str is = os_dims_list_print(arena, a->tensor.rank, a->tensor.dims);
    os_str wanted = os_dims_list_print(arena, e->tensor.rank, e->tensor.dims);
    out = os_arena_format(arena, "has shape %.*s, expected %.*s", OS_ARG(is), OS_ARG(wanted));
    break;
  }
  case OS_DIFFERS_COUNT:
    out = os_arena_format(arena, "has %zu items, expected %zu", a->count, e->count);
    if (e->kind == OP_MAP)
      out = os_arena_format(arena, "%.*s, and %.*s", OS_ARG(out), OS_ARG(os_compare__odd_key(arena, a, e)));
    break;
  case OS_DIFFERS_EMPTY: {
    bool empty = a == NULL || (a->kind == OP_OPTIONAL && a->count == 0);
    out = empty ? OS_STR("is empty, expected a value") : OS_STR("has a value, expected none");
    break;
  }
  case OS_DIFFERS_KEY: out = os_compare__odd_key(arena, a, e); break;
  case OS_DIFFERS_VALUE: out = os_compare__print_values(self, arena); break;
  }
  return self->path.len == 0 ? out
                             : os_arena_format(arena, "item %.*s %.*s", OS_ARG(self->path), OS_ARG(out));
}
