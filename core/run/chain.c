#include "chain.h"

#include "move.h"

// All operands are brought to one merged shape; the innermost merged axis is contiguous or constant for each of them. Where
// that axis is short, operands that repeat are written out tile by tile instead, so that loops always see long runs.

enum { TILE = 2048, SHORT = 64, OPERANDS = OS_CHAIN_MOST + 1 };

typedef struct os_chain_operand {
  const char *data;
  size_t width;
  bool contiguous; // the very shape of the result
  bool scalar;
  ptrdiff_t strides[OP_MAX_RANK]; // in elements over the merged axes
} os_chain_operand;

typedef struct os_chain_job {
  const os_chain *chain;
  op_tensor *out;
  size_t out_width;
  uint32_t count; // operands: [0] = head, [i + 1] = operand of item i, if it has one
  os_chain_operand operands[OPERANDS];
  bool present[OPERANDS];
  int32_t rank; // merged
  size_t dims[OP_MAX_RANK];
} os_chain_job;

// Row-major strides of the operand over the axes of the result; 0 where it repeats. False if it does not broadcast to it.
static bool os_chain__strides(const op_tensor *operand, const op_tensor *out, ptrdiff_t *strides) {
  int32_t shift = out->rank - operand->rank;
  if (shift < 0) return false;
  ptrdiff_t stride = 1;
  for (int32_t i = out->rank; i-- > 0;) {
    int64_t dim = i < shift ? 1 : operand->dims[i - shift];
    if (dim != 1 && dim != out->dims[i]) return false;
    strides[i] = dim == 1 ? 0 : stride;
    stride *= (ptrdiff_t)dim;
  }
  return true;
}

static bool os_chain__operand(os_chain_job *job, uint32_t slot, const op_tensor *tensor) {
  os_chain_operand *operand = &job->operands[slot];
  job->present[slot] = true;
  operand->data = tensor->data;
  operand->width = op_elem_size(tensor->elem);
  operand->scalar = tensor->count == 1;
  operand->contiguous = tensor->count == job->out->count;
  return os_chain__strides(tensor, job->out, operand->strides);
}

// Drops axes of length 1 and merges neighbours that every operand walks through in one stride.
static void os_chain__merge(os_chain_job *job) {
  int32_t rank = 0;
  for (int32_t axis = 0; axis < job->out->rank; axis++) {
    size_t dim = (size_t)job->out->dims[axis];
    if (dim == 1) continue;
    bool merges = rank > 0;
    for (uint32_t o = 0; merges && o < job->count; o++) {
      if (!job->present[o]) continue;
      const ptrdiff_t *strides = job->operands[o].strides;
      merges = strides[rank - 1] == strides[axis] * (ptrdiff_t)dim;
    }
    if (!merges) {
      rank++;
      job->dims[rank - 1] = 1;
    }
    job->dims[rank - 1] *= dim;
    for (uint32_t o = 0; o < job->count; o++)
      if (job->present[o]) job->operands[o].strides[rank - 1] = job->operands[o].strides[axis];
  }
  if (rank == 0) {
    rank = 1;
    job->dims[0] = 1;
    for (uint32_t o = 0; o < job->count; o++) job->operands[o].strides[0] = 0;
  }
  job->rank = rank;
}

// One item over n elements. a: what the chain holds so far. Answers the index of an element without a result, or -1.
static ptrdiff_t os_chain__item(const os_chain_item *item, void *dst, const void *a, bool a_scalar,
                                const void *b, bool b_scalar, size_t n) {
  if (item->unary) {
    math_run_unary(item->loop, item->type, dst, a, n, &item->params);
    return -1;
  }
  const void *left = item->operand_first ? b : a, *right = item->operand_first ? a : b;
  bool left_scalar = item->operand_first ? b_scalar : a_scalar,
       right_scalar = item->operand_first ? a_scalar : b_scalar;
  int mode = n == 1 ? MATH_VV : left_scalar ? MATH_SV : right_scalar ? MATH_VS : MATH_VV;
  return math_run_binary(item->loop, item->type, dst, left, right, n, mode, &item->params);
}

// A tile of n elements from `start` of the operand, repeated as the result's shape wants it.
static void os_chain__expand(const os_chain_job *job, const os_chain_operand *operand, size_t start, size_t n,
                             char *to) {
  size_t index[OP_MAX_RANK], left = start;
  for (int32_t i = job->rank; i-- > 0;) {
    index[i] = left % job->dims[i];
    left /= job->dims[i];
  }
  int32_t last = job->rank - 1;
  size_t width = operand->width;
  while (n > 0) {
    ptrdiff_t at = 0;
    for (int32_t i = 0; i < job->rank; i++) at += (ptrdiff_t)index[i] * operand->strides[i];
    size_t run = job->dims[last] - index[last];
    if (run > n) run = n;
    const char *from = operand->data + at * (ptrdiff_t)width;
    if (operand->strides[last] == 0)
      math_fill(to, from, run, width);
    else
      memcpy(to, from, run * width);
    to += run * width;
    n -= run;
    index[last] += run;
    for (int32_t i = last; i > 0 && index[i] == job->dims[i]; i--) {
      index[i] = 0;
      index[i - 1]++;
    }
  }
}

// Flat tiles: every operand is contiguous, one element, or expanded into `room`.
static ptrdiff_t os_chain__flat(const os_chain_job *job, size_t begin, size_t end) {
  _Alignas(16) char room[2][TILE * 8];
  char *out = job->out->data;
  for (size_t start = begin; start < end; start += TILE) {
    size_t n = end - start < TILE ? end - start : TILE;
    const void *a = NULL;
    bool a_scalar = false;
    for (uint32_t i = 0; i < job->chain->count; i++) {
      const void *operands[2] = {a, NULL};
      bool scalars[2] = {a_scalar, false};
      for (uint32_t side = i == 0 ? 0 : 1; side < 2; side++) {
        uint32_t slot = side == 0 ? 0 : i + 1;
        const os_chain_operand *operand = &job->operands[slot];
        if (!job->present[slot]) continue;
        scalars[side] = operand->scalar;
        operands[side] = operand->scalar ? operand->data
                         : operand->contiguous
                             ? operand->data + start * operand->width
                             : (os_chain__expand(job, operand, start, n, room[side]), room[side]);
      }
      const os_chain_item *item = &job->chain->items[i];
      ptrdiff_t bad = os_chain__item(item, out + start * job->out_width, operands[0], scalars[0] && n > 1,
                                     operands[1], scalars[1] && n > 1, n);
      if (bad >= 0) return (ptrdiff_t)start + bad;
      a = out + start * job->out_width;
      a_scalar = false;
    }
  }
  return -1;
}

// Runs along the innermost merged axis, which is long: operands are contiguous or one element there.
static ptrdiff_t os_chain__rows(const os_chain_job *job) {
  int32_t last = job->rank - 1;
  size_t inner = job->dims[last], rows = (size_t)job->out->count / inner, index[OP_MAX_RANK] = {0};
  char *out = job->out->data;
  for (size_t row = 0; row < rows; row++) {
    for (size_t start = 0; start < inner; start += TILE) {
      size_t n = inner - start < TILE ? inner - start : TILE, flat = row * inner + start;
      const void *a = NULL;
      for (uint32_t i = 0; i < job->chain->count; i++) {
        const void *operands[2] = {a, NULL};
        bool scalars[2] = {false, false};
        for (uint32_t side = i == 0 ? 0 : 1; side < 2; side++) {
          const os_chain_operand *operand = &job->operands[side == 0 ? 0 : i + 1];
          if (!job->present[side == 0 ? 0 : i + 1]) continue;
          ptrdiff_t at = (ptrdiff_t)start * operand->strides[last];
          for (int32_t d = 0; d < last; d++) at += (ptrdiff_t)index[d] * operand->strides[d];
          operands[side] = operand->data + at * (ptrdiff_t)operand->width;
          scalars[side] = operand->strides[last] == 0 && n > 1;
        }
        ptrdiff_t bad = os_chain__item(&job->chain->items[i], out + flat * job->out_width, operands[0],
                                       scalars[0], operands[1], scalars[1], n);
        if (bad >= 0) return (ptrdiff_t)flat + bad;
        a = out + flat * job->out_width;
      }
    }
    for (int32_t d = last - 1; d >= 0 && ++index[d] == job->dims[d]; d--) index[d] = 0;
  }
  return -1;
}

static ptrdiff_t os_chain__go(os_chain_job *job) {
  bool flat = true;
  for (uint32_t o = 0; o < job->count; o++)
    flat &= !job->present[o] || job->operands[o].scalar || job->operands[o].contiguous;
  if (!flat) {
    os_chain__merge(job);
    flat = job->dims[job->rank - 1] < SHORT;
  }
  return flat ? os_chain__flat(job, 0, (size_t)job->out->count) : os_chain__rows(job);
}

static os_status os_chain__no_result(os_run *run, os_frame *frame, const os_exec *exec, ptrdiff_t at) {
  return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "division by zero at element %lld",
                           (long long)at);
}

os_status os_chain_run(os_run *run, os_frame *frame, const os_exec *exec, op_tensor *out) {
  const os_chain *chain = exec->chain;
  if (out->count == 0) return OS_OK;
  os_chain_job job;
  job.chain = chain;
  job.out = out;
  job.out_width = op_elem_size(out->elem);
  job.count = chain->count + 1;
  for (uint32_t slot = 0; slot < job.count; slot++) {
    const os_chain_item *item = slot == 0 ? NULL : &chain->items[slot - 1];
    int32_t v = slot == 0 ? chain->head : item->operand;
    const op_value *value = item != NULL && item->fixed != NULL ? item->fixed
                            : v >= 0                            ? frame->values[v]
                                                                : NULL;
    job.present[slot] = false;
    if (value == NULL && slot > 0 && item->unary) continue;
    if (value == NULL || value->kind != OP_TENSOR)
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "an operand is missing");
    if (!os_chain__operand(&job, slot, &value->tensor))
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "operands do not broadcast");
    if (value->tensor.elem != (op_elem)(slot == 0 ? chain->items[0].type : item->type))
      return os_run_trouble_at(run, frame, exec, OS_OPERATOR_FAILED, "operands differ in element type");
  }
  ptrdiff_t bad = os_chain__go(&job);
  return bad < 0 ? OS_OK : os_chain__no_result(run, frame, exec, bad);
}
