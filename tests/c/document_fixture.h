#ifndef OS_DOCUMENT_FIXTURE_H
#define OS_DOCUMENT_FIXTURE_H

// What tests of documents need: memory that is empty at the end, a report, types.

#include "check.h"
#include "report.h"
#include "type.h"

typedef struct fixture {
  os_memory memory;
  os_arena arena;
  os_report report;
  os_types *types;
} fixture;

static void start(fixture *self) {
  *self = (fixture){0};
  os_arena_init(&self->arena, &self->memory);
  os_report_init(&self->report, &self->arena, false, 0);
  self->types = os_types_new(&self->arena);
}

static void finish(fixture *self) {
  os_arena_clear(&self->arena);
  CHECK_EQ(self->memory.used, 0);
}

#endif
