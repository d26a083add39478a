// The machine: frames on an explicit stack, so that neither deep values nor schemas that refer to themselves use up the
// C stack.
#include "format.h"
#include "schema_rows.h"

#include <stdarg.h>

enum { STEPS_DEFAULT = 1000000, WORK_BETWEEN_STOPS = 8192 };

os_finding *os_eval_finding(os_eval *self, os_report *report, const os_rule *rule, const os_json *value,
                            const char *format, ...) {
  if (report->full) return os_report_add(report, rule, "%s", ""); // only counted: no text, no place
  va_list arguments;
  va_start(arguments, format);
  os_str text = os_arena_format_list(self->arena, format, arguments);
  va_end(arguments);
  os_finding *finding = os_report_add(report, rule, "%s", text.data == NULL ? "" : text.data);
  os_json_where(self->document, self->arena, value, &finding->where);
  return finding;
}

bool os_eval_pattern(os_eval *self, const os_pattern *pattern, os_str text) {
  uint64_t steps = self->options == NULL || self->options->pattern_steps == 0 ? STEPS_DEFAULT
                                                                              : self->options->pattern_steps;
  bool matches = false;
  os_status status = os_pattern_match(pattern, self->arena->memory, text, steps, &matches);
  if (status == OS_OK) return matches;
  self->status = status;
  self->limit_message = "a pattern of the schema takes too long on a string of the document";
  return false;
}

static inline bool os_eval__speaks_of(const os_schema_keyword *keyword, const os_json *value) {
  return keyword->types == 0 || (keyword->types & value->item.type) != 0;
}

static void os_eval__stop(os_eval *self) {
  if (self->options != NULL) self->status = os_stop_check(self->options->stop);
  if (self->status != OS_OK) self->limit_message = "the check of the document against its schema was stopped";
}

bool os_eval_quick(os_eval *self, const os_schema_node *node, const os_json *value) {
  while (node->alias != NULL) node = node->alias;
  if (++self->work % WORK_BETWEEN_STOPS == 0) os_eval__stop(self);
  for (uint32_t i = 0; i < node->row_count; i++) {
    const os_schema_row *row = &node->rows[i];
    const os_schema_keyword *keyword = row->keyword;
    if (!os_eval__speaks_of(keyword, value)) continue;
    if (!(keyword->check != NULL ? keyword->check : keyword->quick)(self, row, value)) return false;
  }
  return !node->never && self->status == OS_OK;
}

static void os_eval__endless(os_eval *self, const os_frame *frame) {
  if (self->report != NULL)
    os_eval_finding(self, self->report, &os_rule_schema_depth, frame->value,
                    "The schema refers to itself here without going into the value.");
  self->status = OS_LIMIT;
  self->limit_message = "the schema refers to itself without end";
}

// Room for one more frame, as it is: frames come and go by the hundred thousand.
static inline os_frame *os_eval__push(os_eval *self) {
  if (self->frames.count < self->frames.room) return &self->frames.items[self->frames.count++];
  return OS_PUSH(self->arena, &self->frames);
}

// Starts the schema that self->call names. True when *passed is already its answer.
static bool os_eval__enter(os_eval *self, bool *passed) {
  os_schema_node *node = self->call.node;
  while (node->alias != NULL) node = node->alias;
  const os_json *value = self->call.value;
  if (self->call.report == NULL && node->height < OS_SCHEMA_TALL) {
    *passed = os_eval_quick(self, node, value);
    return true;
  }
  if (++self->work % WORK_BETWEEN_STOPS == 0) os_eval__stop(self);
  uint32_t same = 0;
  if (self->frames.count > 0) {
    const os_frame *below = &self->frames.items[self->frames.count - 1];
    if (below->value == value) same = below->same + 1;
  }
  os_frame *frame = os_eval__push(self);
  if (frame == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    *passed = false;
    return true;
  }
  *frame =
      (os_frame){.node = node, .value = value, .report = self->call.report, .same = same, .passed = true};
  if (same > self->schema->node_count) os_eval__endless(self, frame);
  if (node->never) {
    frame->passed = false;
    if (frame->report != NULL)
      os_eval_finding(self, frame->report, &os_rule_schema_never, value,
                      "Nothing can stand here; remove it.");
  }
  return false;
}

static void os_eval__assert(os_eval *self, os_frame *frame, const os_schema_row *row) {
  if (row->keyword->check(self, row, frame->value) || self->status != OS_OK) return;
  frame->passed = false;
  if (frame->report == NULL) return;
  bool type = row->keyword->rule == &os_rule_schema_type;
  // A value of the wrong type is no listed value either; saying so twice helps nobody.
  bool repeats = frame->type_failed &&
                 (row->keyword->rule == &os_rule_schema_enum || row->keyword->rule == &os_rule_schema_const);
  if (type) frame->type_failed = true;
  if (!repeats) row->keyword->explain(self, frame, row, frame->value);
}

// Runs until the outermost frame has its answer.
static bool os_eval__run(os_eval *self) {
  bool passed = true;
  if (os_eval__enter(self, &passed)) return passed;
  while (self->frames.count > 0 && self->status == OS_OK) {
    os_frame *frame = &self->frames.items[self->frames.count - 1];
    if (frame->row >= frame->node->row_count || (!frame->passed && frame->report == NULL)) {
      passed = frame->passed;
      self->frames.count--;
      continue;
    }
    const os_schema_row *row = &frame->node->rows[frame->row];
    if (frame->step == 0 && !os_eval__speaks_of(row->keyword, frame->value)) {
      frame->row++;
      continue;
    }
    if (row->keyword->next == NULL) {
      os_eval__assert(self, frame, row);
      frame->row++;
      continue;
    }
    while (row->keyword->next(self, frame, row, passed) == OS_STEP_CALL) {
      if (!os_eval__enter(self, &passed)) goto entered;
      if (self->status != OS_OK) return false;
    }
    frame->row++;
    frame->step = 0;
  entered:;
  }
  return passed;
}

os_status os_schema_validate(const os_schema *self, os_arena *arena, const os_json_document *document,
                             const os_json *node, const os_schema_options *options, os_report *report,
                             bool *valid) {
  os_eval eval = {.schema = self, .arena = arena, .document = document, .options = options, .report = report};
  const os_json *value = node == NULL ? document->root : node;
  os_eval_call(&eval, self->root, value, NULL);
  *valid = os_eval__run(&eval) && eval.status == OS_OK;
  if (!*valid && report != NULL && eval.status == OS_OK) {
    eval.frames.count = 0;
    os_eval_call(&eval, self->root, value, report);
    os_eval__run(&eval);
  }
  if (eval.status == OS_OK || eval.status == OS_OUT_OF_MEMORY || report == NULL) return eval.status;
  os_report_incomplete(report, "%s", eval.limit_message);
  return OS_OK;
}
