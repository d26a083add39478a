// Dropout. In training mode the dropped elements are those that NumPy's RandomState(seed).uniform gives, so that published
// results can be repeated.

#include "broadcast.h"
#include "kit.h"

// ---- MT19937 (Matsumoto, Nishimura 1998) ------------------------------------------------------------------------

enum { TWISTER_N = 624, TWISTER_M = 397 };

typedef struct twister {
  uint32_t state[TWISTER_N];
  uint32_t at;
} twister;

static void twister__seed(twister *self, uint32_t seed) {
  self->state[0] = seed;
  for (uint32_t i = 1; i < TWISTER_N; i++)
    self->state[i] = 1812433253u * (self->state[i - 1] ^ self->state[i - 1] >> 30) + i;
  self->at = TWISTER_N;
}

static uint32_t twister__next(twister *self) {
  uint32_t *s = self->state;
  if (self->at == TWISTER_N) {
    for (uint32_t i = 0; i < TWISTER_N; i++) {
      uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % TWISTER_N] & 0x7fffffffu);
      s[i] = s[(i + TWISTER_M) % TWISTER_N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    self->at = 0;
  }
  uint32_t y = s[self->at++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

// 53 bits in [0, 1).
static double twister__uniform(twister *self) {
  uint32_t high = twister__next(self) >> 5, low = twister__next(self) >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

// ---- The operator ---------------------------------------------------------------------------------------------------

// Up to operator set 9 the mask has the type of the data.
static os_status dropout__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  if (!op_infer_has_output(ctx, 1)) return OS_OK;
  op_infer_copy(ctx, 1, 0);
  if (op_node_since(op_infer_node(ctx)) >= 10) op_infer_set_elem(ctx, 1, OP_BOOL);
  return OS_OK;
}

static os_status dropout__plan(op_plan *ctx) {
  op_plan_in_place(ctx, 0, 0);
  return OS_OK;
}

static void dropout__fill(op_tensor *mask, double value) {
  for (int64_t i = 0; mask && i < mask->count; i++) kit_put(mask, i, value);
}

static os_status dropout__train(op_run *ctx, op_tensor *y, op_tensor *mask, double ratio) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_value *room = op_run_new_tensor(ctx, OP_UINT8, 1, (const int64_t[]){sizeof(twister)});
  OS_TRY_ALLOC(room);
  twister *random = op_value_edit(room)->data;
  bool seeded = op_attr_has(op_run_node(ctx), "seed");
  twister__seed(random,
                seeded ? (uint32_t)op_attr_int(op_run_node(ctx), "seed", 0) : (uint32_t)op_run_random(ctx));
  double scale = 1 / (1 - ratio);
  for (int64_t i = 0; i < x->count; i++) {
    double kept = twister__uniform(random) >= ratio, value = kit_double(x, i);
    value = kept != 0 ? value * scale : value * 0;
    kit_put(y, i, value);
    if (mask) kit_put(mask, i, kept);
  }
  op_value_release(room);
  return OS_OK;
}

static os_status dropout__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0), *mask = op_run_output(ctx, 1);
  const op_tensor *ratio = op_run_input(ctx, 1);
  const op_tensor *mode = op_run_input(ctx, 2);
  double drop = op_attr_float(node, "ratio", 0.5);
  bool training = false;
  if (op_node_since(node) >= 12) {
    if ((ratio && ratio->count != 1) || (mode && mode->count != 1))
      return op_run_fail(ctx, "ratio and training_mode must be scalars");
    if (ratio) drop = kit_double(ratio, 0);
    training = mode && kit_int(mode, 0) != 0;
  }
  if (training && !(drop >= 0 && drop < 1))
    return op_run_fail(ctx, "ratio is %g, expected from 0 to below 1", drop);
  if (y == NULL) return OS_OK;
  if (training && drop > 0 && elem_is_float(x->elem)) return dropout__train(ctx, y, mask, drop);
  dropout__fill(mask, 1);
  return kit_copy(y, x);
}

// From 12 on a run may differ from the next. Up to 11 nothing is dropped: inference is all that models of that age do.
static const op_row rows[] = {
    {.op_type = "Dropout",
     .since = 1,
     .traits = OP_PURE,
     .infer = dropout__infer,
     .plan = dropout__plan,
     .compute = dropout__compute},
    {.op_type = "Dropout",
     .since = 12,
     .traits = OP_RANDOM,
     .infer = dropout__infer,
     .plan = dropout__plan,
     .compute = dropout__compute},
};

OP_FAMILY(dropout, rows);
