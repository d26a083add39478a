/* Broadcasting: shape arithmetic, and running a loop over the merged axes. */
#include "move.h"

#include <string.h>

/* Result's shape: the larger of each pair of dims, from the right; a dim of 1 gives way. */
static bool broadcast__shape(size_t operands, const size_t *ranks, const size_t *const *dims,
                             size_t *out_rank, size_t *out_dims) {
  size_t rank = 0;
  for (size_t o = 0; o < operands; o++) rank = ranks[o] > rank ? ranks[o] : rank;
  if (rank > MATH_RANK) return false;
  for (size_t d = 0; d < rank; d++) {
    size_t n = 1;
    for (size_t o = 0; o < operands; o++) {
      if (d + ranks[o] < rank) continue;
      size_t dim = dims[o][d + ranks[o] - rank];
      if (dim == 1 || dim == n) continue;
      if (n != 1) return false;
      n = dim;
    }
    out_dims[d] = n;
  }
  *out_rank = rank;
  return true;
}

bool math_broadcast_plan(math_broadcast *plan, size_t operands, const size_t *ranks,
                         const size_t *const *dims, size_t *out_rank, size_t *out_dims) {
  if (!broadcast__shape(operands, ranks, dims, out_rank, out_dims)) return false;
  size_t rank = *out_rank, kept = 0;
  ptrdiff_t step[3] = {1, 1, 1}, strides[3][MATH_RANK] = {{0}};
  plan->count = 1;
  for (size_t d = rank; d-- > 0;) {
    plan->count *= out_dims[d];
    for (size_t o = 0; o < operands; o++) {
      size_t dim = d + ranks[o] < rank ? 1 : dims[o][d + ranks[o] - rank];
      strides[o][d] = dim == 1 && out_dims[d] != 1 ? 0 : step[o];
      step[o] *= (ptrdiff_t)dim;
    }
  }
  for (size_t d = 0; d < rank; d++) {
    if (out_dims[d] == 1) continue;
    bool merge = kept > 0;
    for (size_t o = 0; o < operands && merge; o++) {
      merge = plan->strides[o][kept - 1] == strides[o][d] * (ptrdiff_t)out_dims[d];
    }
    if (merge) {
      kept--;
      plan->dims[kept] *= out_dims[d];
    } else {
      plan->dims[kept] = out_dims[d];
    }
    for (size_t o = 0; o < 3; o++) plan->strides[o][kept] = strides[o][d];
    kept++;
  }
  if (kept == 0 || plan->count == 0) {
    kept = 1;
    plan->dims[0] = plan->count;
    for (size_t o = 0; o < 3; o++) plan->strides[o][0] = 1;
  }
  plan->rank = kept;
  return true;
}

/* Offsets of operand elements for the `row`th combination of the first `axes` axes. */
static void broadcast__offsets(const math_broadcast *plan, size_t axes, size_t row, ptrdiff_t *offsets) {
  offsets[0] = offsets[1] = offsets[2] = 0;
  for (size_t d = axes; d-- > 0;) {
    ptrdiff_t i = (ptrdiff_t)(row % plan->dims[d]);
    row /= plan->dims[d];
    for (size_t o = 0; o < 3; o++) offsets[o] += i * plan->strides[o][d];
  }
}

typedef struct broadcast__call {
  math_loop_id loop;
  int type;
  size_t width, out_width;
  const math_params *p;
} broadcast__call;

/* Bytes of the short rows that are written out repeatedly, to make one long operand of them. */
enum { REPEAT_BYTES = 4096, SHORT_ROW = 64 };

/* Which operand is a short row used for every step of the axis before it while the other runs on: 0, 1, or -1. */
static int broadcast__repeated(const math_broadcast *plan, size_t width) {
  size_t last = plan->rank - 1;
  if (plan->rank < 2 || plan->dims[last] > SHORT_ROW || width > 8) return -1;
  ptrdiff_t n = (ptrdiff_t)plan->dims[last];
  for (int o = 0; o < 2; o++) {
    bool row = plan->strides[o][last] == 1 && plan->strides[o][last - 1] == 0;
    bool other = plan->strides[1 - o][last] == 1 && plan->strides[1 - o][last - 1] == n;
    if (row && other) return o;
  }
  return -1;
}

static ptrdiff_t broadcast__run_repeated(const math_broadcast *plan, const broadcast__call *call,
                                         int repeated, char *dst, const char *operands[2], size_t begin,
                                         size_t end) {
  _Alignas(16) char rows[REPEAT_BYTES + SHORT_ROW * 8];
  size_t last = plan->rank - 1, inner = plan->dims[last], span = inner * plan->dims[last - 1];
  size_t chunk = REPEAT_BYTES / call->width / inner * inner, row_bytes = inner * call->width;
  ptrdiff_t bad = -1;
  for (size_t at = begin; at < end;) {
    ptrdiff_t offsets[3];
    broadcast__offsets(plan, last - 1, at / span, offsets);
    size_t from = at % span, left = span - from < end - at ? span - from : end - at;
    const char *row = operands[repeated] + offsets[repeated] * (ptrdiff_t)call->width;
    for (size_t i = 0; i < (chunk + inner) * call->width; i += row_bytes) memcpy(rows + i, row, row_bytes);
    while (left) {
      size_t n = left < chunk ? left : chunk;
      const char *args[2];
      args[repeated] = rows + from % inner * call->width;
      args[1 - repeated] =
          operands[1 - repeated] + (offsets[1 - repeated] + (ptrdiff_t)from) * (ptrdiff_t)call->width;
      ptrdiff_t r = math_run_binary(call->loop, call->type, dst + at * call->out_width, args[0], args[1], n,
                                    MATH_VV, call->p);
      if (r >= 0 && bad < 0) bad = (ptrdiff_t)at + r;
      at += n;
      from += n;
      left -= n;
    }
  }
  return bad;
}

ptrdiff_t math_broadcast_binary(const math_broadcast *plan, math_loop_id loop, int type, void *dst,
                                const void *a, const void *b, size_t begin, size_t end,
                                const math_params *p) {
  size_t width = math_type_width(type);
  broadcast__call call = {loop, type, width, math_loop_at(loop).out == MATH_BOOL ? 1 : width, p};
  const char *operands[2] = {a, b};
  int repeated = broadcast__repeated(plan, width);
  if (repeated >= 0) return broadcast__run_repeated(plan, &call, repeated, dst, operands, begin, end);
  size_t last = plan->rank - 1, inner = plan->dims[last];
  ptrdiff_t step_a = plan->strides[0][last], step_b = plan->strides[1][last], bad = -1;
  for (size_t at = begin; at < end;) {
    ptrdiff_t offsets[3];
    broadcast__offsets(plan, last, at / inner, offsets);
    size_t from = at % inner, n = inner - from < end - at ? inner - from : end - at;
    const char *x = operands[0] + (offsets[0] + (ptrdiff_t)from * step_a) * (ptrdiff_t)width;
    const char *y = operands[1] + (offsets[1] + (ptrdiff_t)from * step_b) * (ptrdiff_t)width;
    int mode = step_a && step_b ? MATH_VV : step_a ? MATH_VS : MATH_SV;
    ptrdiff_t r = math_run_binary(loop, type, (char *)dst + at * call.out_width, x, y, n, mode, p);
    if (r >= 0 && bad < 0) bad = (ptrdiff_t)at + r;
    at += n;
  }
  return bad;
}

void math_broadcast_where(const math_broadcast *plan, void *dst, const uint8_t *condition, const void *a,
                          const void *b, size_t width, size_t begin, size_t end) {
  size_t last = plan->rank - 1, inner = plan->dims[last];
  const ptrdiff_t w = (ptrdiff_t)width;
  ptrdiff_t steps[3];
  int scalars = 0;
  for (size_t o = 0; o < 3; o++) {
    steps[o] = plan->strides[o][last];
    if (!steps[o]) scalars |= 1 << o;
  }
  for (size_t at = begin; at < end;) {
    ptrdiff_t offsets[3];
    broadcast__offsets(plan, last, at / inner, offsets);
    ptrdiff_t from = (ptrdiff_t)(at % inner);
    size_t n = inner - (size_t)from < end - at ? inner - (size_t)from : end - at;
    math_where((char *)dst + at * width, condition + offsets[0] + from * steps[0],
               (const char *)a + (offsets[1] + from * steps[1]) * w,
               (const char *)b + (offsets[2] + from * steps[2]) * w, n, scalars, width);
    at += n;
  }
}
