#include "report.h"

#include "format.h"

#include <stdarg.h>
#include <stdlib.h>

typedef struct os_report_text {
  os_str file, text;
} os_report_text__entry;

void os_report_init(os_report *self, os_arena *arena, bool strict, uint32_t limit) {
  *self = (os_report){.arena = arena, .strict = strict, .limit = limit == 0 ? OS_FINDINGS_DEFAULT : limit};
}

static os_str os_report__format(os_report *self, const char *format, va_list arguments) {
  os_str text = os_arena_format_list(self->arena, format, arguments);
  if (text.data != NULL) return text;
  self->status = OS_OUT_OF_MEMORY;
  return OS_STR("");
}

// A finding that is nowhere: keeps callers free of NULL checks.
static os_finding *os_report__spare(os_report *self) {
  static os_finding nowhere; // written to only when not even a spare can be had, and never read
  if (self->spare == NULL)
    self->spare = os_arena_zalloc(self->arena, sizeof(os_finding) + sizeof(os_related));
  if (self->spare == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    nowhere = (os_finding){0};
    return &nowhere;
  }
  *self->spare = (os_finding){0};
  return self->spare;
}

static os_finding *os_report__add(os_report *self, const os_rule *rule, os_severity severity,
                                  const char *format, va_list arguments) {
  if (severity < self->gravest) severity = self->gravest;
  if (self->strict && severity == OS_WARNING) severity = OS_ERROR;
  self->counts[severity]++;
  if (self->findings.count >= self->limit) {
    if (!self->full)
      os_report_incomplete(self, "more than %u findings; the others are counted only", self->limit);
    self->full = true;
    return os_report__spare(self);
  }
  os_finding **slot = OS_PUSH(self->arena, &self->findings);
  os_finding *finding = OS_ARENA_NEW(self->arena, os_finding);
  if (slot == NULL || finding == NULL) {
    if (slot != NULL) self->findings.count--;
    self->status = OS_OUT_OF_MEMORY;
    return os_report__spare(self);
  }
  *slot = finding;
  finding->rule = rule;
  finding->severity = severity;
  finding->message = os_report__format(self, format, arguments);
  return finding;
}

os_finding *os_report_add(os_report *self, const os_rule *rule, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_finding *finding = os_report__add(self, rule, rule->severity, format, arguments);
  va_end(arguments);
  return finding;
}

os_finding *os_report_add_as(os_report *self, const os_rule *rule, os_severity severity, const char *format,
                             ...) {
  va_list arguments;
  va_start(arguments, format);
  os_finding *finding = os_report__add(self, rule, severity, format, arguments);
  va_end(arguments);
  return finding;
}

void os_report_incomplete(os_report *self, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_str reason = os_report__format(self, format, arguments);
  va_end(arguments);
  for (size_t i = 0; i < self->incomplete.count; i++)
    if (os_str_eq(self->incomplete.items[i], reason)) return;
  os_str *slot = OS_PUSH(self->arena, &self->incomplete);
  if (slot == NULL)
    self->status = OS_OUT_OF_MEMORY;
  else
    *slot = reason;
}

bool os_report_ok(const os_report *self) {
  return self->counts[OS_ERROR] == 0 && self->incomplete.count == 0 && self->status == OS_OK;
}

bool os_report_overfull(const os_report *self) {
  enum { TIMES = 10 };
  return ((uint64_t)self->counts[0] + self->counts[1] + self->counts[2]) / TIMES > self->limit;
}

void os_report_text(os_report *self, os_str file, os_str text) {
  for (size_t i = 0; i < self->texts.count; i++) {
    if (!os_str_eq(self->texts.items[i].file, file)) continue;
    self->texts.items[i].text = text;
    return;
  }
  os_report_text__entry *entry = OS_PUSH(self->arena, &self->texts);
  if (entry == NULL)
    self->status = OS_OUT_OF_MEMORY;
  else
    *entry = (os_report_text__entry){file, text};
}

static void os_report__locate(os_place_index *index, os_str file, os_where *where) {
  if (!where->has_range || where->binary || !os_str_eq(where->file, file)) return;
  where->from = os_place_find(index, where->range.start);
  where->to = os_place_find(index, where->range.end);
  where->located = true;
}

// Findings without a range come before those with one: they speak of the whole file.
static int os_report__order(const void *left, const void *right) {
  const os_finding *a = *(os_finding *const *)left, *b = *(os_finding *const *)right;
  int by_file = os_str_cmp(a->where.file, b->where.file);
  if (by_file != 0) return by_file;
  uint64_t x = a->where.has_range ? a->where.range.start + 1 : 0,
           y = b->where.has_range ? b->where.range.start + 1 : 0;
  if (x != y) return x < y ? -1 : 1;
  return (int)a->severity - (int)b->severity;
}

// Merge sort: qsort is not stable.
static void os_report__sort(os_finding **items, os_finding **spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      size_t middle = start + width < count ? start + width : count;
      size_t end = start + 2 * width < count ? start + 2 * width : count;
      size_t a = start, b = middle;
      for (size_t to = start; to < end; to++) {
        bool left = a < middle && (b >= end || os_report__order(&items[a], &items[b]) <= 0);
        spare[to] = left ? items[a++] : items[b++];
      }
    }
    memcpy(items, spare, count * sizeof *items);
  }
}

os_status os_report_finish(os_report *self) {
  size_t count = self->findings.count;
  if (count > 1) {
    os_finding **spare = OS_ARENA_ARRAY(self->arena, count, os_finding *);
    OS_TRY_ALLOC(spare);
    os_report__sort(self->findings.items, spare, count);
  }
  for (size_t t = 0; t < self->texts.count && count > 0; t++) {
    os_place_index index;
    if (!os_place_index_build(&index, self->arena, self->texts.items[t].text)) return OS_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
      os_finding *finding = self->findings.items[i];
      os_report__locate(&index, self->texts.items[t].file, &finding->where);
      for (size_t r = 0; r < finding->related.count; r++)
        os_report__locate(&index, self->texts.items[t].file, &finding->related.items[r].where);
    }
  }
  return self->status;
}

os_related *os_finding_relate(os_report *self, os_finding *finding, const char *format, ...) {
  if (!os_report_keeps(self, finding)) return (os_related *)(void *)(self->spare + 1);
  va_list arguments;
  va_start(arguments, format);
  os_str message = os_report__format(self, format, arguments);
  va_end(arguments);
  static os_related nowhere;
  os_related *related = OS_PUSH(self->arena, &finding->related);
  if (related == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    nowhere = (os_related){0};
    return &nowhere;
  }
  related->message = message;
  return related;
}

os_fix *os_finding_fix(os_report *self, os_finding *finding, bool safe, const char *format, ...) {
  if (!os_report_keeps(self, finding)) return NULL;
  va_list arguments;
  va_start(arguments, format);
  os_str title = os_report__format(self, format, arguments);
  va_end(arguments);
  os_fix *fix = OS_ARENA_NEW(self->arena, os_fix);
  if (fix == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return NULL;
  }
  fix->title = title;
  fix->safe = safe;
  finding->fix = fix;
  return fix;
}

void os_fix_edit(os_report *self, os_fix *fix, os_str file, os_range range, os_str text) {
  if (fix == NULL) return;
  os_edit *edit = OS_PUSH(self->arena, &fix->edits);
  if (edit == NULL)
    self->status = OS_OUT_OF_MEMORY;
  else
    *edit = (os_edit){.file = file, .byte_start = range.start, .byte_end = range.end, .text = text};
}

void os_where_range(os_where *self, uint64_t start, uint64_t end) {
  self->range = (os_range){start, end};
  self->has_range = true;
}

void os_where_pointer(os_where *self, os_str pointer) {
  self->pointer = pointer;
  self->has_pointer = true;
}

uint64_t os_finding_fingerprint(const os_finding *self) {
  uint64_t h = os_str_hash(os_str_of(self->rule->id), 0);
  h = os_str_hash(self->where.file, h);
  h = os_str_hash(self->where.has_pointer ? self->where.pointer : self->where.path, h);
  return os_str_hash(self->message, h);
}
