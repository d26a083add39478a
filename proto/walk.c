#include "walk.h"

size_t os_plan_elements(const os_plan_field *field, const void *message) {
  return field->repeated ? *os_plan_count(field, message) : os_plan_has(field, message);
}

const char *os_plan_list(const os_plan_field *field, const void *message) {
  void *member = os_plan_member(field, message);
  return field->repeated ? *(const char *const *)member : (const char *)member;
}

static os_status os_walk__push(os_walk *self, ProtobufCMessage *message) {
  os_walk_frame *frame = OS_PUSH(&self->arena, &self->frames);
  OS_TRY_ALLOC(frame);
  *frame = (os_walk_frame){.plan = os_plans_get(&self->plans, message->descriptor), .message = message};
  return frame->plan == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_walk_begin(os_walk *self, os_memory *memory, const void *message) {
  *self = (os_walk){0};
  os_arena_init(&self->arena, memory);
  self->plans.arena = &self->arena;
  return os_walk__push(self, (ProtobufCMessage *)(uintptr_t)message);
}

void os_walk_free(os_walk *self) { os_arena_clear(&self->arena); }

os_status os_walk_next(os_walk *self, os_walk_event *event) {
  if (self->closing) {
    self->closing = false;
    self->frames.count--;
  }
  os_walk_frame *frame = os_walk_top(self);
  for (; frame->field < frame->plan->count; frame->field++, frame->element = 0) {
    self->field = &frame->plan->fields[frame->field];
    self->count = os_plan_elements(self->field, frame->message);
    if (frame->element >= self->count) continue;
    self->index = frame->element;
    if (self->field->type != PROTOBUF_C_TYPE_MESSAGE) {
      frame->element = self->count;
      *event = OS_WALK_FIELD;
      return OS_OK;
    }
    frame->element++;
    *event = OS_WALK_OPEN;
    return os_walk__push(self, os_plan_child(self->field, frame->message, self->index));
  }
  self->closing = true;
  *event = self->frames.count == 1 ? OS_WALK_END : OS_WALK_CLOSE;
  if (*event == OS_WALK_END) return OS_OK;
  const os_walk_frame *outer = frame - 1;
  self->field = &outer->plan->fields[outer->field];
  self->count = os_plan_elements(self->field, outer->message);
  self->index = outer->element - 1;
  return OS_OK;
}

os_str os_walk_path(const os_walk *self, os_arena *arena, const os_plan_field *field, int64_t index) {
  os_path *steps = OS_ARENA_ARRAY(arena, self->frames.count, os_path);
  if (steps == NULL) return (os_str){"", 0};
  const os_path *last = NULL;
  for (size_t i = 0; i < self->frames.count; i++) {
    const os_walk_frame *frame = &self->frames.items[i];
    bool top = i + 1 == self->frames.count;
    const os_plan_field *step = top ? field : &frame->plan->fields[frame->field];
    if (step == NULL) break;
    int64_t at = top ? index : step->repeated ? (int64_t)frame->element - 1 : -1;
    steps[i] = (os_path){last, os_str_of(step->field->name), at};
    last = &steps[i];
  }
  return os_path_print(last, arena);
}
