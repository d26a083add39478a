#include "decoder.h"
#include "format.h"
#include "guess.h"

#include <inttypes.h>
#include <stdarg.h>

static os_str os_decoder__path(os_decoder *self, uint32_t number) {
  os_arena *arena = self->ask.report->arena;
  size_t count = self->frames.count;
  os_path *steps = OS_ARENA_ARRAY(arena, count + 1, os_path);
  if (steps == NULL) return OS_STR("");
  const os_path *last = NULL;
  for (size_t i = 1; i < count; i++) {
    const os_frame *frame = &self->frames.items[i];
    steps[i] = (os_path){last, os_str_of(frame->field->field->name),
                         frame->field->repeated ? (int64_t)frame->index : -1};
    last = &steps[i];
  }
  const os_frame *top = os_decoder_frame(self);
  const os_plan_field *field = number == 0 ? NULL : os_plan_find(top->plan, number);
  if (field != NULL) {
    int64_t index = -1;
    if (field->repeated) index = (int64_t)*os_plan_count(field, top->message);
    if (field->packable) index = -1;
    steps[0] = (os_path){last, os_str_of(field->field->name), index};
    last = &steps[0];
  }
  return os_path_print(last, arena);
}

const char *os_decoder_field_name(os_decoder *self, uint32_t number) {
  if (self->ask.report->full) return ""; // nobody will read it
  const os_frame *frame = os_decoder_frame(self);
  const os_plan_field *field = os_plan_find(frame->plan, number);
  os_str text = field == NULL ? os_arena_format(self->ask.report->arena, "field %u", number)
                              : os_arena_format(self->ask.report->arena, "field %u (%s of %s)", number,
                                                field->field->name, frame->plan->type->short_name);
  return text.len == 0 ? "a field" : text.data;
}

const char *os_decoder_room_left(os_decoder *self, uint64_t from) {
  os_arena *arena = self->ask.report->arena;
  const os_frame *frame = os_decoder_frame(self);
  os_str text;
  uint64_t left = frame->end - from;
  if (self->frames.count == 1 && frame->start == 0 && frame->end == self->ask.source->length)
    text = os_arena_format(arena, "the rest is %" PRIu64 " (the file has %" PRIu64 ")", left, frame->end);
  else
    text = os_arena_format(arena, "the rest of the %s around it is %" PRIu64, frame->plan->type->short_name,
                           left);
  return text.len == 0 ? "there are fewer" : text.data;
}

static void os_decoder__place(os_decoder *self, os_finding *finding, uint32_t number, uint64_t start,
                              uint64_t end) {
  finding->where.path = os_decoder__path(self, number);
  finding->where.binary = true;
  os_where_range(&finding->where, start, end);
}

os_status os_decoder_fault(os_decoder *self, const os_rule *rule, uint32_t number, uint64_t start,
                           uint64_t end, const char *format, ...) {
  char message[400], head[512];
  va_list arguments;
  va_start(arguments, format);
  os_format_list(message, sizeof message, format, arguments);
  va_end(arguments);
  uint64_t length = self->ask.source->length;
  size_t n = length < sizeof head ? (size_t)length : sizeof head;
  os_guess guess = {0};
  if (os_source_read(self->ask.source, 0, n, head) == OS_OK) guess = os_guess_file((os_str){head, n}, length);
  os_finding *finding;
  if (guess.name == NULL)
    finding = os_report_add(self->ask.report, rule, "%s", message);
  else
    finding = os_report_add(self->ask.report, rule, "the file looks like %s, not a %s%s%s: %s", guess.name,
                            self->ask.type->short_name, guess.hint == NULL ? "" : "; ",
                            guess.hint == NULL ? "" : guess.hint, message);
  os_decoder__place(self, finding, number, start, end);
  return OS_MALFORMED;
}

void os_decoder_warn(os_decoder *self, const os_rule *rule, uint32_t number, uint64_t start, uint64_t end,
                     const char *format, ...) {
  if (self->ask.known) return; // it was said
  if (self->ask.report->full) {
    os_report_add(self->ask.report, rule, ""); // only counted
    return;
  }
  char message[400];
  va_list arguments;
  va_start(arguments, format);
  os_format_list(message, sizeof message, format, arguments);
  va_end(arguments);
  os_finding *finding = os_report_add(self->ask.report, rule, "%s", message);
  os_decoder__place(self, finding, number, start, end);
}
