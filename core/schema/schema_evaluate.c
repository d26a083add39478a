// The machine: frames on an explicit stack, so that neither deep values nor schemas that refer to themselves use up the
// C stack.
#include "format.h"
#include "schema_rows.h"

#include <stdarg.h>

enum {
  STEPS_DEFAULT = 1000000,
  WORK_BETWEEN_STOPS = 8192,
  WORK_LEAST = 1 << 23,
  WORK_A_NODE = 24,
  BYTES_A_UNIT = 4, // of the document's text
  WORK_A_FRAME = 4,
  WORK_A_FINDING = 50,
  MOST_KEPT = 1 << 21,
  MOST_COUNTED = 100000
};

static void os_eval__limit(os_eval *self, const char *message) {
  self->status = OS_LIMIT;
  self->limit_message = message;
}

// What was said last, if it is the same: parts of a schema, as those of the meta-schema, may ask the same of one value.
static os_finding *os_eval__told(const os_report *report, const os_rule *rule, os_str text,
                                 const os_json *value) {
  if (report->findings.count == 0 || report->full) return NULL;
  os_finding *last = report->findings.items[report->findings.count - 1];
  bool same = last->rule == rule && last->where.has_range && last->where.range.start == value->start &&
              last->fix == NULL && last->related.count == 0 && os_str_eq(last->message, text);
  return same ? last : NULL;
}

os_finding *os_eval_finding(os_eval *self, os_report *report, const os_rule *rule, const os_json *value,
                            const char *format, ...) {
  os_eval_work(self, report->full ? 1 : WORK_A_FINDING);
  if (report->full && report->counts[OS_ERROR] >= MOST_COUNTED && self->record == NULL)
    os_eval__limit(self,
                   "more than 100000 findings: the check of the document against its schema ended there");
  if (report->full && self->record == NULL)
    return os_report_add(report, rule, "%s", ""); // only counted: no text, no place
  va_list arguments;
  va_start(arguments, format);
  os_str text = os_arena_format_list(self->arena, format, arguments);
  va_end(arguments);
  if (self->record != NULL) {
    const os_frame *frame = &self->frames.items[self->frames.count - 1];
    os_unit *unit = frame->row_unit != NULL ? frame->row_unit : frame->unit;
    if (unit != NULL && unit->error.len == 0) unit->error = text;
    if (report->full) return report->spare;
  }
  os_finding *finding = os_eval__told(report, rule, text, value);
  if (finding != NULL) return finding;
  finding = os_report_add(report, rule, "%s", text.data == NULL ? "" : text.data);
  os_json_where(self->document, self->arena, value, &finding->where);
  return finding;
}

os_finding *os_eval_mismatch(os_eval *self, os_report *report, const os_schema_row *row, const os_json *value,
                             os_str expected, os_str found) {
  if (os_eval_counts_only(self, report))
    return os_eval_finding(self, report, row->keyword->rule, value, "%s", "");
  if (found.data == NULL) found = os_json_excerpt(self->document, self->arena, value);
  os_finding *finding = os_eval_finding(self, report, row->keyword->rule, value,
                                        "Expected %.*s here, found %.*s.", OS_ARG(expected), OS_ARG(found));
  finding->expected = expected;
  finding->actual = found;
  return finding;
}

bool os_eval_pattern(os_eval *self, const os_pattern *pattern, os_str text) {
  uint64_t steps = self->options == NULL || self->options->pattern_steps == 0 ? STEPS_DEFAULT
                                                                              : self->options->pattern_steps;
  bool matches = false;
  os_status status = os_pattern_match(pattern, self->arena->memory, text, &steps, &matches);
  os_eval_work(self, steps);
  if (status == OS_LIMIT)
    os_eval__limit(self, "a pattern of the schema takes too long on a string of the document");
  else if (status != OS_OK)
    self->status = status;
  return matches;
}

static inline bool os_eval__speaks_of(const os_schema_keyword *keyword, const os_json *value) {
  return keyword->types == 0 || (keyword->types & value->item.type) != 0;
}

// Schemas can be made so that their alternatives multiply.
static uint64_t os_eval__most(const os_eval *self) {
  return WORK_LEAST + WORK_A_NODE * (uint64_t)self->document->nodes + self->document->text.len / BYTES_A_UNIT;
}

void os_eval_stop(os_eval *self) {
  self->pause = self->work + WORK_BETWEEN_STOPS;
  if (self->status == OS_OK && self->options != NULL) self->status = os_stop_check(self->options->stop);
  if (self->status == OS_OK && self->work > os_eval__most(self))
    os_eval__limit(self, "the check of the document against its schema takes too long");
}

// ---- Answers ----------------------------------------------------------------------------------------------

// Where the answer of a node for a value is, or would go.
static os_answer *os_answers__place(const os_answers *self, const os_schema_node *node,
                                    const os_json *value) {
  uint64_t hash = ((uint64_t)(uintptr_t)node * 31 + (uint64_t)(uintptr_t)value) * 0x9e3779b97f4a7c15u;
  size_t at = (size_t)(hash >> 32) & (self->room - 1);
  while (self->items[at].node != NULL && (self->items[at].node != node || self->items[at].value != value))
    at = (at + 1) & (self->room - 1);
  return &self->items[at];
}

// Whether answers of this node are kept: those that depend on the value alone and that nobody asks how they came about,
// once something is asked again and again. Findings are explained from the top down, each level by answers from below.
static bool os_answers__serve(const os_eval *self, const os_schema_node *node, const os_json *value) {
  bool often = self->explains || self->work > os_eval__most(self) / 2;
  return often && !node->tracked && !os_schema_is_name(value) && !self->schema->dynamic &&
         self->record == NULL;
}

static void os_answers__keep(os_eval *self, const os_schema_node *node, const os_json *value, bool passed) {
  os_answers *answers = &self->answers;
  if (answers->count * 2 >= answers->room) {
    os_answers more = {.room = answers->room == 0 ? 1024 : answers->room * 4, .count = answers->count};
    if (more.room > MOST_KEPT) return;
    more.items = OS_ARENA_ARRAY(self->arena, more.room, os_answer);
    if (more.items == NULL) return; // it goes without
    for (size_t i = 0; i < answers->room; i++)
      if (answers->items[i].node != NULL)
        *os_answers__place(&more, answers->items[i].node, answers->items[i].value) = answers->items[i];
    *answers = more;
  }
  os_answer *answer = os_answers__place(answers, node, value);
  answers->count += answer->node == NULL;
  *answer = (os_answer){node, value, passed};
}

// ---- Frames -----------------------------------------------------------------------------------------------

bool os_eval_quick(os_eval *self, const os_schema_node *node, const os_json *value) {
  while (node->alias != NULL) node = node->alias;
  os_eval_work(self, 1);
  if ((node->quick_types & value->item.type) == 0) return false;
  for (uint32_t i = 0; i < node->quick_count; i++) {
    const os_schema_row *row = node->quick[i];
    const os_schema_keyword *keyword = row->keyword;
    if (!os_eval__speaks_of(keyword, value)) continue;
    if (!(keyword->check != NULL ? keyword->check : keyword->quick)(self, row, value)) return false;
  }
  return self->status == OS_OK;
}

static void os_eval__endless(os_eval *self, const os_frame *frame) {
  if (self->report != NULL)
    os_eval_finding(self, self->report, &os_rule_schema_depth, frame->value,
                    "The schema refers to itself here without going into the value.");
  os_eval__limit(self, "the schema refers to itself without end");
}

// Room for one more frame, as it is: frames come and go by the hundred thousand.
static inline os_frame *os_eval__push(os_eval *self) {
  if (self->frames.count < self->frames.room) return &self->frames.items[self->frames.count++];
  return OS_PUSH(self->arena, &self->frames);
}

void os_eval_evaluated(os_eval *self, const os_frame *frame, const os_json *child) {
  if (!frame->node->tracked) return;
  os_eval_work(self, 1);
  const os_json **slot = OS_PUSH(self->arena, &self->evaluated);
  if (slot == NULL)
    self->status = OS_OUT_OF_MEMORY;
  else
    *slot = child;
}

// What was evaluated when a schema that `frame` asked for has answered.
static void os_eval__answered(os_eval *self, const os_frame *frame, const os_json *value, bool passed,
                              bool quiet) {
  if (frame->node->tracked && value != frame->value && (passed || !quiet))
    os_eval_evaluated(self, frame, value);
}

static os_scope *os_eval__scope(os_eval *self, os_scope *outer, const os_resource *resource) {
  uint64_t steps = 0;
  os_scope *found = NULL, **first = outer == NULL ? &self->scopes : &outer->inner;
  for (os_scope *scope = outer; scope != NULL && found == NULL; scope = scope->outer, steps++)
    if (scope->resource == resource) found = outer;
  for (os_scope *scope = *first; scope != NULL && found == NULL; scope = scope->next, steps++)
    if (scope->resource == resource) found = scope;
  os_eval_work(self, steps / 4);
  if (found != NULL) return found;
  os_scope *scope = OS_ARENA_NEW(self->arena, os_scope);
  if (scope == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return outer;
  }
  *scope = (os_scope){.resource = resource, .outer = outer, .next = *first};
  return *first = scope;
}

// Starts the schema that self->call names. True when *passed is already its answer.
static bool os_eval__enter(os_eval *self, bool *passed) {
  os_schema_node *node = self->call.node;
  while (node->alias != NULL && self->record == NULL) node = node->alias;
  const os_json *value = self->call.value;
  bool quiet = self->call.report == NULL;
  int height = value->item.child == NULL && node->flat < node->height ? node->flat : node->height;
  // Where findings are wanted, too, there are none of what passes. The outermost schema is known to fail then.
  if ((quiet || self->frames.count > 0) && height < OS_SCHEMA_TALL && self->record == NULL) {
    *passed = os_eval_quick(self, node, value);
    if (quiet || *passed) return true;
  }
  bool keeps = quiet && os_answers__serve(self, node, value);
  if (keeps && self->answers.room > 0) {
    const os_answer *answer = os_answers__place(&self->answers, node, value);
    *passed = answer->passed;
    if (answer->node != NULL) return true;
  }
  os_eval_work(self, WORK_A_FRAME);
  uint32_t same = 0;
  os_scope *scope = NULL;
  os_unit *unit = NULL;
  const os_frame *below = NULL;
  if (self->frames.count > 0) {
    below = &self->frames.items[self->frames.count - 1];
    if (below->value == value) same = below->same + 1;
    scope = below->scope;
  }
  if (self->schema->dynamic) scope = os_eval__scope(self, scope, node->resource);
  if (self->record != NULL) {
    unit = os_record_schema(self, below, node, value);
    if (quiet) self->call.report = &self->record->report;
  }
  os_frame *frame = os_eval__push(self);
  if (frame == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    *passed = false;
    return true;
  }
  *frame = (os_frame){.node = node,
                      .value = value,
                      .report = self->call.report,
                      .scope = scope,
                      .evaluated = self->evaluated.count,
                      .unit = unit,
                      .quiet = quiet,
                      .keeps = keeps,
                      .same = same,
                      .passed = true};
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
  if (os_eval_counts_only(self, frame->report) && !row->keyword->several) {
    os_eval_finding(self, frame->report, row->keyword->rule, frame->value, "%s", "");
    return;
  }
  bool type = row->keyword->rule == &os_rule_schema_type;
  // A value of the wrong type is no listed value either; saying so twice helps nobody.
  bool repeats = frame->type_failed &&
                 (row->keyword->rule == &os_rule_schema_enum || row->keyword->rule == &os_rule_schema_const);
  if (type) frame->type_failed = true;
  if (!repeats) row->keyword->explain(self, frame, row, frame->value);
}

// The top frame has its answer and goes.
static bool os_eval__leave(os_eval *self) {
  os_frame *frame = &self->frames.items[self->frames.count - 1];
  bool passed = frame->passed;
  if (self->record != NULL) os_record_annotations(self, frame);
  if (frame->keeps) os_answers__keep(self, frame->node, frame->value, passed);
  const os_frame *below = self->frames.count > 1 ? frame - 1 : NULL;
  bool inside = below != NULL && below->value == frame->value;
  if (!inside || (!passed && frame->quiet)) self->evaluated.count = frame->evaluated;
  if (below != NULL) os_eval__answered(self, below, frame->value, passed, frame->quiet);
  self->frames.count--;
  return passed;
}

static void os_eval__row_begins(os_eval *self, os_frame *frame, const os_schema_row *row) {
  frame->row_unit = os_record_row(self, frame, row);
  frame->row_passed = frame->passed;
  frame->passed = true;
}

static void os_eval__row_ends(os_frame *frame) {
  if (frame->row_unit != NULL) frame->row_unit->valid = frame->passed;
  frame->row_unit = NULL;
  frame->passed &= frame->row_passed;
}

// Runs until the outermost frame has its answer.
static bool os_eval__run(os_eval *self) {
  bool passed = true;
  if (os_eval__enter(self, &passed)) return passed;
  while (self->frames.count > 0 && self->status == OS_OK) {
    os_frame *frame = &self->frames.items[self->frames.count - 1];
    if (frame->row >= frame->node->row_count || (!frame->passed && frame->report == NULL)) {
      passed = os_eval__leave(self);
      continue;
    }
    const os_schema_row *row = &frame->node->rows[frame->row];
    if (frame->step == 0) {
      if (!os_eval__speaks_of(row->keyword, frame->value)) {
        frame->row++;
        continue;
      }
      if (self->record != NULL) os_eval__row_begins(self, frame, row);
    }
    if (row->keyword->next == NULL) {
      os_eval__assert(self, frame, row);
      if (self->record != NULL) os_eval__row_ends(frame);
      frame->row++;
      continue;
    }
    while (row->keyword->next(self, frame, row, passed) == OS_STEP_CALL) {
      const os_json *value = self->call.value;
      bool quiet = self->call.report == NULL;
      if (!os_eval__enter(self, &passed)) goto entered;
      if (self->status != OS_OK) return false;
      os_eval__answered(self, frame, value, passed, quiet);
    }
    if (self->record != NULL) os_eval__row_ends(frame);
    frame->row++;
    frame->step = 0;
  entered:;
  }
  return passed;
}

// Where telling why a value fails took too long before anything was said: the outermost alternatives, none of which fits.
static void os_eval__cut_short(os_eval *self) {
  for (size_t i = 0; i < self->frames.count; i++) {
    const os_frame *frame = &self->frames.items[i];
    const os_schema_row *row = &frame->node->rows[frame->row];
    if (frame->row >= frame->node->row_count || row->keyword->next == NULL || row->keyword->rule == NULL ||
        row->keyword->holds != OS_HOLDS_LIST)
      continue;
    os_finding *finding = os_report_add(self->report, row->keyword->rule,
                                        "None of the %u alternatives fits here; why takes too long to tell.",
                                        row->as.list.entries.count);
    os_json_where(self->document, self->arena, frame->value, &finding->where);
    return;
  }
}

os_status os_schema_validate(const os_schema *self, os_arena *arena, const os_json_document *document,
                             const os_json *node, const os_schema_options *options, os_report *report,
                             bool *valid) {
  os_eval eval = {.schema = self,
                  .arena = arena,
                  .document = document,
                  .options = options,
                  .report = report,
                  .pause = WORK_BETWEEN_STOPS};
  const os_json *value = node == NULL ? document->root : node;
  os_eval_call(&eval, self->root, value, NULL);
  *valid = os_eval__run(&eval) && eval.status == OS_OK;
  if (!*valid && report != NULL && eval.status == OS_OK) {
    eval.frames.count = 0;
    eval.explains = true;
    os_eval_call(&eval, self->root, value, report);
    uint32_t told = report->counts[OS_ERROR];
    os_eval__run(&eval);
    if (eval.status == OS_LIMIT && report->counts[OS_ERROR] == told) os_eval__cut_short(&eval);
  }
  if (eval.status == OS_OK || eval.status == OS_OUT_OF_MEMORY || report == NULL) return eval.status;
  os_report_incomplete(report, "%s",
                       eval.limit_message != NULL
                           ? eval.limit_message
                           : "the check of the document against its schema was stopped");
  return OS_OK;
}

os_status os_schema_write_units(const os_schema *self, os_arena *arena, const os_json_document *document,
                                const os_schema_options *options, bool valid, os_text *out) {
  os_record record = {0};
  os_eval eval = {.schema = self,
                  .arena = arena,
                  .document = document,
                  .options = options,
                  .record = &record,
                  .pause = WORK_BETWEEN_STOPS};
  os_report_init(&record.report, arena, false, 1);
  os_eval_call(&eval, self->root, document->root, NULL);
  os_eval__run(&eval);
  for (size_t i = 0; eval.status != OS_OK && i < eval.frames.count; i++) { // cut
    const os_frame *frame = &eval.frames.items[i];
    if (frame->unit != NULL) frame->unit->valid = valid;
    if (frame->row_unit != NULL) frame->row_unit->valid = valid;
  }
  return os_record_write(&record, arena, out) ? eval.status : OS_LIMIT;
}
