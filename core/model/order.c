#include "model_index.h"

#include <stdlib.h>

// Sorting nodes: what a node reads, itself or through its bodies, must be made before it.

enum { NEW = 0, OPEN = 1, DONE = 2, IN_CYCLE = 4, MOST_CYCLES = 10 };

typedef struct os_sort {
  os_model *model;
  os_arena scratch;
  os_graph_index *graph;
  uint32_t *capture_starts; // per node, its first capture; one more at the end. NULL: there are no captures
  uint8_t *state;           // per node: the flags below
  struct os_sort_step {
    uint32_t node, next;
  } *stack;
  uint32_t depth;
  uint32_t *order;
  uint32_t count, cycles;
} os_sort;

static int os_sort__by_node(const void *left, const void *right) {
  const struct os_capture *a = left, *b = right;
  if (a->node != b->node) return a->node < b->node ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

// Node that makes what the node's read number `read` needs, OS_ABSENT when it is no node's; *value is what is read.
static int32_t os_sort__producer(const os_sort *self, uint32_t node, uint32_t read, int32_t *value) {
  const os_graph_node *of = &self->graph->nodes[node];
  *value = read < of->input_count
               ? of->inputs[read]
               : self->graph->captures.items[self->capture_starts[node] + read - of->input_count].value;
  if (*value == OS_ABSENT || self->graph->values[*value].origin != OS_FROM_NODE) return OS_ABSENT;
  return self->graph->values[*value].producer;
}

static uint32_t os_sort__reads(const os_sort *self, uint32_t node) {
  const uint32_t *starts = self->capture_starts;
  return self->graph->nodes[node].input_count + (starts == NULL ? 0 : starts[node + 1] - starts[node]);
}

static bool os_sort__is_sorted(const os_sort *self) {
  for (uint32_t i = 0; i < self->graph->graph.node_count; i++) {
    uint32_t reads = os_sort__reads(self, i);
    int32_t value;
    for (uint32_t j = 0; j < reads; j++)
      if (os_sort__producer(self, i, j, &value) >= (int32_t)i) return false;
  }
  return true;
}

// A node that reads from one that waits for it. The first few cycles are told whole, others as nodes out of order: there
// can be as many as nodes.
static os_status os_sort__cycle(os_sort *self, uint32_t again) {
  if (self->graph->shadows || self->cycles++ >= MOST_CYCLES) return OS_OK;
  uint32_t start = self->depth - 1;
  while (self->stack[start].node != again) start--;
  uint32_t count = self->depth - start;
  uint32_t *numbers = OS_ARENA_ARRAY(self->model->arena, count, uint32_t);
  OS_TRY_ALLOC(numbers);
  for (uint32_t i = 0; i < count; i++) {
    numbers[i] = self->stack[start + i].node;
    self->state[numbers[i]] |= IN_CYCLE;
  }
  os_problem *problem =
      os_index_problem(self->model, OS_PROBLEM_CYCLE, self->graph, (int32_t)again, OS_ABSENT, OS_ABSENT);
  problem->numbers = numbers;
  problem->count = count;
  return OS_OK;
}

static os_status os_sort__from(os_sort *self, uint32_t node) {
  self->state[node] = OPEN;
  self->stack[self->depth++] = (struct os_sort_step){node, 0};
  while (self->depth > 0) {
    struct os_sort_step *top = &self->stack[self->depth - 1];
    if (top->next == os_sort__reads(self, top->node)) {
      self->state[top->node] = (uint8_t)((self->state[top->node] & IN_CYCLE) | DONE);
      self->order[self->count++] = top->node;
      self->depth--;
      continue;
    }
    int32_t value, producer = os_sort__producer(self, top->node, top->next++, &value);
    if (producer == OS_ABSENT || (self->state[producer] & DONE) != 0) continue;
    if ((self->state[producer] & OPEN) != 0) {
      OS_TRY(os_sort__cycle(self, (uint32_t)producer));
      continue;
    }
    self->state[producer] = OPEN;
    self->stack[self->depth++] = (struct os_sort_step){(uint32_t)producer, 0};
  }
  return OS_OK;
}

static void os_sort__tell(os_sort *self) {
  for (uint32_t i = 0; i < self->graph->graph.node_count; i++) {
    uint32_t reads = os_sort__reads(self, i), inputs = self->graph->nodes[i].input_count;
    for (uint32_t j = 0; j < reads; j++) {
      int32_t value, producer = os_sort__producer(self, i, j, &value);
      if (producer < (int32_t)i) continue;
      if ((self->state[i] & IN_CYCLE) != 0 && (self->state[producer] & IN_CYCLE) != 0)
        continue; // told as a cycle
      os_index_problem(self->model, OS_PROBLEM_ORDER, self->graph, (int32_t)i,
                       j < inputs ? (int32_t)j : OS_ABSENT, value);
    }
  }
}

static os_status os_sort__all(os_sort *self) {
  uint32_t count = self->graph->graph.node_count;
  self->state = OS_ARENA_ARRAY(&self->scratch, count, uint8_t);
  self->stack = OS_ARENA_ARRAY(&self->scratch, count, struct os_sort_step);
  OS_TRY_ALLOC(self->state);
  OS_TRY_ALLOC(self->stack);
  for (uint32_t i = 0; i < count; i++)
    if (self->state[i] == NEW) OS_TRY(os_sort__from(self, i));
  if (!self->graph->shadows) os_sort__tell(self);
  return OS_OK;
}

static os_status os_sort__graph(os_sort *self) {
  os_graph_index *graph = self->graph;
  uint32_t count = graph->graph.node_count;
  self->order = OS_ARENA_ARRAY(self->model->arena, count, uint32_t);
  OS_TRY_ALLOC(self->order);
  if (graph->captures.count > 0) {
    self->capture_starts = OS_ARENA_ARRAY(&self->scratch, (size_t)count + 2, uint32_t);
    OS_TRY_ALLOC(self->capture_starts);
    qsort(graph->captures.items, graph->captures.count, sizeof *graph->captures.items, os_sort__by_node);
    for (uint32_t i = 0, at = 0; i <= count; i++) {
      while (at < graph->captures.count && graph->captures.items[at].node < i) at++;
      self->capture_starts[i] = at;
    }
  }
  graph->graph.order = self->order;
  if (!os_sort__is_sorted(self)) return os_sort__all(self);
  for (uint32_t i = 0; i < count; i++) self->order[i] = i;
  return OS_OK;
}

os_status os_index_order(os_model *model, os_graph_index *graph) {
  os_sort self = {.model = model, .graph = graph};
  os_arena_init(&self.scratch, model->memory);
  os_status status = os_sort__graph(&self);
  os_arena_clear(&self.scratch);
  return status;
}
