#ifndef OPSPEC_REPORT_H
#define OPSPEC_REPORT_H

#include "arena.h"
#include "limit.h"
#include "place.h"

typedef enum os_severity { OS_ERROR, OS_WARNING, OS_INFO } os_severity;

// What a rule is called and how grave it is. Ids are stable and dotted. `text` is the rule's number in os_rule_texts
// (rule_texts.h), which `explain` reads.
typedef struct os_rule {
  const char *id;
  uint16_t text;
  uint8_t severity; // os_severity
} os_rule;

// A folder lists its rules in NAME_rules.def as OS_RULE(c_name, id, severity, title, why, good, bad, source): title is one
// line that says what is wrong; why, why it matters and what to do; source, the document and section that the rule comes
// from. It declares them with OS_RULE_DECLARE and defines them with OS_RULE_DEFINE (and rule_texts.h); OS_RULE_POINTER
// fills the folder's table.
#define OS_RULE_DECLARE(c_name, ...) extern const os_rule os_rule_##c_name;
#define OS_RULE_DEFINE(c_name, id, severity, ...) \
  const os_rule os_rule_##c_name = {id, OS_RULE_TEXT_##c_name, severity};
#define OS_RULE_POINTER(c_name, ...) &os_rule_##c_name,

typedef struct os_rule_table {
  const os_rule *const *rules;
  size_t count;
} os_rule_table;

// A byte range [start, end) of a text or of a binary file.
typedef struct os_range {
  uint64_t start, end;
} os_range;

// Where in which file. Only what is known is set.
typedef struct os_where {
  os_str file;      // empty = the document that the call was about
  os_str pointer;   // RFC 6901, when has_pointer
  os_str path;      // graph.node[3].input[0], when not empty
  os_range range;   // when has_range
  bool has_pointer; // "" is a pointer: the whole document
  bool has_range;
  bool binary;          // range counts bytes of a binary: no lines
  os_position from, to; // filled by os_report_finish for a text
  bool located;
} os_where;

typedef struct os_related {
  os_str message;
  os_where where;
} os_related;

typedef struct os_edit {
  os_str file;
  uint64_t byte_start, byte_end;
  os_str text;
  bool binary;
} os_edit;

typedef struct os_fix {
  os_str title;
  bool safe; // the document means the same afterwards, or what its author plainly meant
  struct {
    os_edit *items;
    size_t count, room;
  } edits;
} os_fix;

typedef struct os_finding {
  const os_rule *rule;
  os_severity severity;
  os_str message;
  os_where where;
  os_str expected, actual; // data NULL = absent
  bool has_node;
  struct {
    uint32_t index;
    os_str name, op_type, domain;
  } node;
  struct {
    os_related *items;
    size_t count, room;
  } related;
  os_fix *fix; // NULL = none
} os_finding;

typedef struct os_report {
  os_arena *arena;
  bool strict;         // warnings become errors
  os_severity gravest; // what is added is no graver, before strict; OS_ERROR = as it is
  uint32_t limit;
  os_str kind; // kind of the document, for the reader
  struct {
    os_finding **items;
    size_t count, room;
  } findings;
  struct {
    os_str *items;
    size_t count, room;
  } incomplete;
  struct {
    struct os_report_text *items;
    size_t count, room;
  } texts;
  uint32_t counts[3]; // by severity, those beyond the limit included
  os_finding *spare;  // takes what is written beyond the limit; what is related to it follows
  bool full;
  const void *told; // whose faults are in here already, for writers that may be asked twice
  os_status status; // OS_OUT_OF_MEMORY sticks here
} os_report;

// Findings, texts and strings live in `arena`. limit 0 = OS_FINDINGS_DEFAULT.
void os_report_init(os_report *self, os_arena *arena, bool strict, uint32_t limit);
// Adds a finding with a printf message. Never NULL: beyond the limit or without memory the finding is counted,
// the report becomes incomplete, and what the caller sets goes to a spare.
os_finding *os_report_add(os_report *self, const os_rule *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same with a severity other than the rule's own.
os_finding *os_report_add_as(os_report *self, const os_rule *rule, os_severity severity, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));
// Says that something could not be looked at; `ok` is false from then on. The same reason counts once.
void os_report_incomplete(os_report *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool os_report_ok(const os_report *self);
// False: the finding is only counted, and working out its place is a waste.
static inline bool os_report_keeps(const os_report *self, const os_finding *finding) {
  return finding != self->spare;
}
// So many findings, those that are only counted included, that going on tells nobody anything: whoever checks stops.
bool os_report_overfull(const os_report *self);
// Tells the text of a file (empty name: the document itself), so that ranges in it get lines and columns. Borrowed
// until os_report_finish.
void os_report_text(os_report *self, os_str file, os_str text);
// Orders findings by file and place (stable) and locates their ranges. Call once, when all is written.
os_status os_report_finish(os_report *self);

// Setters copy nothing: strings must live as long as the report (use its arena).
os_related *os_finding_relate(os_report *self, os_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
os_fix *os_finding_fix(os_report *self, os_finding *finding, bool safe, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void os_fix_edit(os_report *self, os_fix *fix, os_str file, os_range range, os_str text);
void os_where_range(os_where *self, uint64_t start, uint64_t end);
void os_where_pointer(os_where *self, os_str pointer);
// 64-bit hash of rule, file, place name and message; equal for the same finding in another run.
uint64_t os_finding_fingerprint(const os_finding *self);

#endif
