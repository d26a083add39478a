#ifndef OPSPEC_FORM_FIXTURE_H
#define OPSPEC_FORM_FIXTURE_H

#include "check.h"
#include "form.h"

// A text that is read as a message of some type.

typedef struct fixture {
  os_memory memory;
  os_arena arena;
  os_report report;
  os_status status;
  void *message;
} fixture;

typedef os_status (*reader)(const os_form_input *input, void **message);

static inline void start(fixture *self) {
  *self = (fixture){0};
  os_arena_init(&self->arena, &self->memory);
  os_report_init(&self->report, &self->arena, false, 0);
}

static inline void finish(fixture *self) {
  os_arena_clear(&self->arena);
  CHECK_EQ(self->memory.used, 0);
}

static inline os_form_input input_of(fixture *self, const char *type, os_str text) {
  return (os_form_input){.arena = &self->arena,
                         .type = os_proto_type_find(os_str_of(type)),
                         .report = &self->report,
                         .text = text};
}

static inline void read_as(fixture *self, reader read, const char *type, const char *text) {
  start(self);
  os_report_text(&self->report, OS_STR(""), os_str_of(text));
  os_form_input input = input_of(self, type, os_str_of(text));
  self->status = read(&input, &self->message);
}

#endif
