#include "fused.h"

#include "broadcast.h"
#include "kit.h"

static bool fused__take_add(fused *self, const op_tensor *operand, const op_tensor *out, int channel_kind,
                            float scale) {
  math_epilogue *e = &self->epilogue;
  bool before_loop = e->loop == LOOP_NONE;
  if (operand->elem != OP_FLOAT) return false;
  if (operand->count == out->count && kit_same_shape(operand, out->rank, out->dims) && operand->count != 1) {
    if (e->residual) return false;
    e->residual = operand->data;
    e->residual_scale = scale;
    e->residual_last = !before_loop;
    return true;
  }
  if (!before_loop || e->bias || e->residual) return false;
  e->bias = operand->data;
  e->bias_scale = scale;
  e->bias_kind = operand->count == 1 ? MATH_BIAS_SCALAR : channel_kind;
  return true;
}

static bool fused__take_scale(fused *self, const op_tensor *operand) {
  math_epilogue *e = &self->epilogue;
  if (operand->count != 1 || operand->elem != OP_FLOAT || e->alpha != 1.0f || e->bias || e->residual ||
      e->loop != LOOP_NONE)
    return false;
  e->alpha = *(const float *)operand->data;
  return true;
}

static bool fused__take_loop(fused *self, const op_loop *loop) {
  math_epilogue *e = &self->epilogue;
  if (e->loop != LOOP_NONE || (e->residual && e->residual_last)) return false;
  e->loop = (math_loop_id)loop->id;
  memcpy(&self->params, loop->params, sizeof self->params);
  e->params = &self->params;
  return true;
}

void fused_take(fused *self, const op_epilogue *items, const op_tensor *out, int channel_kind) {
  if (items == NULL || out->elem != OP_FLOAT) return;
  for (; self->taken < items->count; self->taken++) {
    const op_loop *loop = &items->items[self->taken].loop;
    const op_tensor *operand = items->items[self->taken].operand;
    bool first = items->items[self->taken].operand_first, taken = false;
    if (loop->count == 1)
      taken = fused__take_loop(self, loop);
    else if (loop->id == LOOP_add_f32)
      taken = fused__take_add(self, operand, out, channel_kind, 1.0f);
    else if (loop->id == LOOP_sub_f32 && !first)
      taken = fused__take_add(self, operand, out, channel_kind, -1.0f);
    else if (loop->id == LOOP_mul_f32)
      taken = fused__take_scale(self, operand);
    if (!taken) return;
  }
}

os_status fused_finish(op_run *ctx, const fused *self, op_tensor *out) {
  const op_epilogue *items = op_run_epilogue(ctx);
  for (uint32_t i = self->taken; items && i < items->count; i++) {
    const op_loop *loop = &items->items[i].loop;
    const op_tensor *operand = items->items[i].operand;
    math_params params;
    memcpy(&params, loop->params, sizeof params);
    math_loop_id id = (math_loop_id)loop->id;
    if (loop->count == 1)
      OS_TRY(broadcast_unary(ctx, id, out, out, &params));
    else if (items->items[i].operand_first)
      OS_TRY(broadcast_binary(ctx, id, out, operand, out, -1, &params));
    else
      OS_TRY(broadcast_binary(ctx, id, out, out, operand, -1, &params));
  }
  return OS_OK;
}
