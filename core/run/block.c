#include "exec_plan.h"

#include <stdlib.h>

// Where values with known sizes lie in the frame's one block: a walk in execution order with a list of free gaps, best fit.
// A view lies on what it views; an output may take the place of an input that ends at its step.

enum { GRAIN = 64 };

typedef struct os_gap {
  size_t start, end;
} os_gap;

typedef struct os_placer {
  os_plan *plan;
  int32_t *root; // per value: the value whose bytes it has (itself, unless a view or in place)
  int32_t *last; // per root: exec after which its bytes are free
  size_t *sizes; // per root, rounded
  struct {
    os_gap *items;
    size_t count, room;
  } gaps;
  size_t end; // of the block so far
} os_placer;

// Whether a value that an exec makes may lie in the block.
static bool os_placer__fits(const os_plan *plan, const os_exec *exec, int32_t v) {
  const os_fact *fact = &plan->facts[v];
  if (plan->initial[v] != NULL || plan->program->escapes[v] || os_plan_is_result(plan, v)) return false;
  if (!os_fact_known(fact) || fact->type == OP_STRING) return false;
  if (exec->kind == OS_EXEC_CHAIN || exec->kind == OS_EXEC_VIEW) return exec->known;
  const uint32_t loose = OP_ANY_VALUE | OP_DATA_SHAPE;
  return exec->kind == OS_EXEC_COMPUTE && (exec->step->row->traits & loose) == 0;
}

static size_t os_placer__size(const os_plan *plan, int32_t v) {
  int64_t count;
  size_t bytes;
  const os_fact *fact = &plan->facts[v];
  if (!os_tensor_count((op_elem)fact->type, fact->rank, fact->dims, &count, &bytes)) return SIZE_MAX;
  if (bytes > SIZE_MAX - GRAIN) return SIZE_MAX;
  return bytes == 0 ? GRAIN : (bytes + GRAIN - 1) & ~(size_t)(GRAIN - 1);
}

static int32_t os_exec__output(const os_exec *exec, uint32_t o) {
  return o == 0 ? exec->output : exec->step->source->outputs[o];
}

static uint32_t os_exec__outputs(const os_exec *exec) {
  uint32_t count = exec->step->source->output_count;
  return exec->kind == OS_EXEC_CHAIN || exec->kind == OS_EXEC_VIEW ? (count > 0) : count;
}

// Roots: candidates get themselves, views what they view, if that can lie in the block too.
static void os_placer__roots(os_placer *self) {
  os_plan *plan = self->plan;
  for (uint32_t v = 0; v < plan->program->graph->value_count; v++) self->root[v] = -1;
  for (uint32_t e = 0; e < plan->exec_count; e++) {
    const os_exec *exec = &plan->execs[e];
    for (uint32_t o = 0; o < os_exec__outputs(exec); o++) {
      int32_t v = os_exec__output(exec, o);
      if (v < 0 || !os_placer__fits(plan, exec, v)) continue;
      if (exec->kind != OS_EXEC_VIEW)
        self->root[v] = v;
      else
        self->root[v] = exec->step->source->inputs[0] < 0 ? -1 : self->root[exec->step->source->inputs[0]];
    }
  }
  // A view that is kept needs bytes that are kept. `last` serves as the set of roots that fall out.
  for (uint32_t e = plan->exec_count; e-- > 0;) {
    const os_exec *exec = &plan->execs[e];
    int32_t in = exec->kind == OS_EXEC_VIEW ? exec->step->source->inputs[0] : -1;
    if (in < 0 || exec->output < 0 || self->root[in] < 0) continue;
    int32_t root = self->root[exec->output];
    if (root < 0 || self->last[root] != 0) self->last[self->root[in]] = 1;
  }
  for (uint32_t v = 0; v < plan->program->graph->value_count; v++)
    if (self->root[v] >= 0 && self->last[self->root[v]] != 0) self->root[v] = -1;
}

static os_status os_placer__give(os_placer *self, size_t start, size_t size) {
  size_t at = 0;
  while (at < self->gaps.count && self->gaps.items[at].start < start) at++;
  bool left = at > 0 && self->gaps.items[at - 1].end == start;
  bool right = at < self->gaps.count && self->gaps.items[at].start == start + size;
  if (left && right) {
    self->gaps.items[at - 1].end = self->gaps.items[at].end;
    memmove(&self->gaps.items[at], &self->gaps.items[at + 1], (--self->gaps.count - at) * sizeof(os_gap));
  } else if (left) {
    self->gaps.items[at - 1].end += size;
  } else if (right) {
    self->gaps.items[at].start = start;
  } else {
    if (OS_PUSH(&self->plan->arena, &self->gaps) == NULL) return OS_OUT_OF_MEMORY;
    memmove(&self->gaps.items[at + 1], &self->gaps.items[at], (self->gaps.count - 1 - at) * sizeof(os_gap));
    self->gaps.items[at] = (os_gap){start, start + size};
  }
  return OS_OK;
}

static size_t os_placer__take(os_placer *self, size_t size) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < self->gaps.count; i++) {
    size_t room = self->gaps.items[i].end - self->gaps.items[i].start;
    if (room >= size &&
        (best == SIZE_MAX || room < self->gaps.items[best].end - self->gaps.items[best].start))
      best = i;
  }
  if (best != SIZE_MAX) {
    size_t start = self->gaps.items[best].start;
    self->gaps.items[best].start += size;
    if (self->gaps.items[best].start == self->gaps.items[best].end)
      memmove(&self->gaps.items[best], &self->gaps.items[best + 1],
              (--self->gaps.count - best) * sizeof(os_gap));
    return start;
  }
  // The gap at the end, if any, grows.
  size_t start = self->end;
  if (self->gaps.count > 0 && self->gaps.items[self->gaps.count - 1].end == self->end)
    start = self->gaps.items[--self->gaps.count].start;
  size_t end;
  if (!os_size_add(start, size, &end)) return SIZE_MAX;
  self->end = end;
  return start;
}

// The input whose place output `o` may take, or -1.
static int32_t os_placer__in_place(const os_placer *self, uint32_t e, uint32_t o) {
  const os_plan *plan = self->plan;
  const os_exec *exec = &plan->execs[e];
  int32_t in = -1, out = os_exec__output(exec, o);
  if (exec->kind == OS_EXEC_CHAIN) {
    in = exec->chain->head;
    for (uint32_t i = 0; i < exec->chain->count; i++)
      if (exec->chain->items[i].operand == in) return -1; // it is read again after its tile was written
    for (uint32_t i = 0; in >= 0 && i < exec->chain->count; i++) {
      int32_t operand = exec->chain->items[i].operand; // nor may another view of the same bytes be
      if (operand >= 0 && self->root[operand] >= 0 && self->root[operand] == self->root[in]) return -1;
    }
  } else if (exec->kind == OS_EXEC_COMPUTE && o < 4 && exec->in_place[o] >= 0 &&
             (uint32_t)exec->in_place[o] < exec->step->source->input_count) {
    in = exec->step->source->inputs[exec->in_place[o]];
    for (uint32_t i = 0; i < exec->step->source->input_count; i++) {
      int32_t other = exec->step->source->inputs[i];
      if (i == (uint32_t)exec->in_place[o] || other < 0 || in < 0 || self->root[other] < 0) continue;
      if (self->root[other] == self->root[in]) return -1;
    }
    for (uint32_t i = 0; exec->epilogue != NULL && i < exec->epilogue->count; i++) {
      int32_t other = exec->epilogue_operands[i];
      if (other >= 0 && in >= 0 && self->root[other] >= 0 && self->root[other] == self->root[in]) return -1;
    }
  }
  if (in < 0 || self->root[in] < 0 || self->last[self->root[in]] != (int32_t)e) return -1;
  if (os_placer__size(plan, in) != os_placer__size(plan, out)) return -1;
  return self->sizes[self->root[in]] == os_placer__size(plan, out) ? self->root[in] : -1;
}

static os_status os_placer__outputs(os_placer *self, uint32_t e) {
  os_plan *plan = self->plan;
  const os_exec *exec = &plan->execs[e];
  for (uint32_t o = 0; o < os_exec__outputs(exec); o++) {
    int32_t v = os_exec__output(exec, o);
    if (v < 0 || self->root[v] < 0) continue;
    if (exec->kind == OS_EXEC_VIEW) {
      plan->offsets[v] = plan->offsets[self->root[v]];
      continue;
    }
    int32_t over = os_placer__in_place(self, e, o);
    if (over >= 0) {
      plan->offsets[v] = plan->offsets[over];
      self->sizes[v] = self->sizes[over];
      self->last[over] = -1; // its place goes on as v's
      continue;
    }
    self->sizes[v] = os_placer__size(plan, v);
    if (self->sizes[v] == SIZE_MAX) return OS_OUT_OF_MEMORY;
    plan->offsets[v] = os_placer__take(self, self->sizes[v]);
    if (plan->offsets[v] == SIZE_MAX) return OS_OUT_OF_MEMORY;
  }
  return OS_OK;
}

// Roots by the exec after which they end.
static os_status os_placer__walk(os_placer *self) {
  os_plan *plan = self->plan;
  uint32_t values = plan->program->graph->value_count;
  uint32_t *starts = OS_ARENA_ARRAY(&plan->arena, plan->exec_count + 2, uint32_t);
  int32_t *ending = OS_ARENA_ARRAY(&plan->arena, values + 1, int32_t);
  OS_TRY_ALLOC(starts);
  OS_TRY_ALLOC(ending);
  for (uint32_t v = 0; v < values; v++)
    if (self->root[v] == (int32_t)v) starts[self->last[v] + 1]++;
  for (uint32_t e = 0; e < plan->exec_count; e++) starts[e + 1] += starts[e];
  uint32_t *fill = OS_ARENA_ARRAY(&plan->arena, plan->exec_count + 2, uint32_t);
  OS_TRY_ALLOC(fill);
  for (uint32_t v = 0; v < values; v++) {
    if (self->root[v] != (int32_t)v) continue;
    int32_t e = self->last[v];
    ending[starts[e] + fill[e]++] = (int32_t)v;
  }
  for (uint32_t e = 0; e < plan->exec_count; e++) {
    OS_TRY(os_placer__outputs(self, e));
    for (uint32_t i = starts[e]; i < starts[e] + fill[e]; i++)
      if (self->last[ending[i]] == (int32_t)e)
        OS_TRY(os_placer__give(self, plan->offsets[ending[i]], self->sizes[ending[i]]));
  }
  return OS_OK;
}

os_status os_plan_place(os_plan *self) {
  size_t values = self->program->graph->value_count + 1;
  os_placer placer = {.plan = self};
  placer.root = OS_ARENA_ARRAY(&self->arena, values, int32_t);
  placer.last = OS_ARENA_ARRAY(&self->arena, values, int32_t);
  placer.sizes = OS_ARENA_ARRAY(&self->arena, values, size_t);
  OS_TRY_ALLOC(placer.root);
  OS_TRY_ALLOC(placer.last);
  OS_TRY_ALLOC(placer.sizes);
  os_placer__roots(&placer);
  for (size_t v = 0; v + 1 < values; v++) placer.last[v] = -1;
  for (size_t v = 0; v + 1 < values; v++) {
    int32_t root = placer.root[v];
    if (root >= 0 && self->last_use[v] > placer.last[root]) placer.last[root] = self->last_use[v];
  }
  OS_TRY(os_placer__walk(&placer));
  self->block_size = placer.end;
  return OS_OK;
}
