#ifndef OPSPEC_SCHEMA_ROWS_H
#define OPSPEC_SCHEMA_ROWS_H

// Inside of the schema library: what a schema is compiled into, and the machine that evaluates it.
#include "decimal.h"
#include "map.h"
#include "pattern.h"
#include "schema.h"
#include "schema_rules.h"

typedef struct os_schema_node os_schema_node;
typedef struct os_schema_row os_schema_row;
typedef struct os_compile os_compile;
typedef struct os_eval os_eval;
typedef struct os_frame os_frame;

// ---- Compiled form ----------------------------------------------------------------------------------------

// A schema by name: of properties, and, as lists, of patternProperties and alternatives.
typedef struct os_schema_entry {
  os_str name;
  uint32_t hash; // of the name, as os_json.order has it
  os_schema_node *node;
  os_pattern *pattern;
  const os_json *json; // of dependentRequired: the list of names
} os_schema_entry;

typedef struct os_schema_entries {
  os_schema_entry *items;
  uint32_t *slots; // index + 1; NULL where names are not looked up
  uint32_t count, mask;
} os_schema_entries;

// How anyOf and oneOf find the alternative that a value means: a member whose value names it.
typedef struct os_schema_tag {
  os_str member;  // empty = none
  os_str *values; // by alternative; empty where an alternative has none
} os_schema_tag;

struct os_schema_row {
  const struct os_schema_keyword *keyword;
  const os_json *value;
  union {
    int types;
    os_decimal number;
    uint32_t count;
    struct {
      os_pattern *pattern;
    } pattern;
    struct { // $ref, not, propertyNames
      os_schema_node *node;
      bool
          on_the_way; // of propertyNames: additionalProperties goes through all members and asks for their names, too
    } one;
    struct {
      os_schema_entries entries;
      os_schema_tag tag;
      bool closed; // of properties: additionalProperties is false, and only these names are allowed
    } list;
    struct { // additionalProperties, items
      os_schema_node *node;
      const os_schema_entries *named, *patterns; // siblings
      uint32_t skip;                             // items that prefixItems speaks of
      bool named_closed;                         // the properties row fails for what it does not know
      const os_schema_row *names;                // propertyNames, when this row checks names on its way
    } rest;
    struct {
      os_schema_node *node;
      uint32_t least, most;
    } contains;
    struct {
      os_schema_node *test, *then, *otherwise;
    } condition;
  } as;
};

enum { OS_SCHEMA_TALL = 16 };

struct os_schema_node {
  const os_json *json;
  os_schema_row *rows;
  uint32_t row_count;
  os_schema_node *alias; // a schema that is nothing but a $ref: what it leads to
  bool compiled;
  bool never;     // the schema false
  uint8_t height; // levels of schemas below: 0 = assertions only; OS_SCHEMA_TALL = many, or without end
  int types;      // JSON types that it can accept, as far as its own keywords tell
  int reach;      // the same with what os_schema_types has found out
  bool reach_known;
};

struct os_schema {
  const os_json_document *document;
  os_schema_node *root;
  size_t node_count;
};

// ---- Keywords ---------------------------------------------------------------------------------------------

// Which member of os_schema_row.as holds the schemas of a row.
typedef enum os_schema_holds {
  OS_HOLDS_NONE,
  OS_HOLDS_NODE,
  OS_HOLDS_LIST,
  OS_HOLDS_REST,
  OS_HOLDS_CONTAINS,
  OS_HOLDS_CONDITION
} os_schema_holds;

typedef enum os_step { OS_STEP_DONE, OS_STEP_CALL } os_step;

typedef struct os_schema_keyword {
  const char *name;
  int types; // JSON types that it speaks of; 0 = all
  const os_rule *rule;
  os_status (*compile)(os_compile *self, const os_schema_node *node, os_schema_row *row);
  // Of an assertion: whether the value passes. With a frame whose report is set, `explain` follows a failure.
  bool (*check)(os_eval *self, const os_schema_row *row, const os_json *value);
  void (*explain)(os_eval *self, os_frame *frame, const os_schema_row *row, const os_json *value);
  // Of an applicator: called again and again, each time with the result of the schema that it asked for before.
  os_step (*next)(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed);
  // The same by plain calls, where only the answer is wanted and the schemas below are nested a known few levels.
  bool (*quick)(os_eval *self, const os_schema_row *row, const os_json *value);
  os_schema_holds holds;
} os_schema_keyword;

extern const os_schema_keyword os_schema_assertions[], os_schema_applicators[];
extern const size_t os_schema_assertion_count, os_schema_applicator_count;

// ---- Compiling --------------------------------------------------------------------------------------------

struct os_compile {
  os_arena *arena;
  const os_json_document *document;
  os_report *report;
  os_map nodes;   // by the address of the subschema
  os_map anchors; // "name", or "id#name"; and "id"
  struct {
    os_schema_node **items;
    size_t count, room;
  } list; // all nodes, in order of discovery: the work list
  bool failed;
};

// The node of a subschema, new or known; NULL when memory is exhausted or the value is no schema (then reported).
os_schema_node *os_compile_node(os_compile *self, const os_json *json);
os_finding *os_compile_wrong(os_compile *self, const os_rule *rule, const os_json *json, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));
// Compiles an object of schemas, or an array of them.
os_status os_compile_entries(os_compile *self, const os_json *json, bool patterns, os_schema_entries *out);
os_schema_entry *os_schema_find(const os_schema_entries *self, os_str name, uint32_t hash);
// The node behind aliases; NULL in a circle of them.
os_schema_node *os_schema_real(os_schema_node *node);
// JSON types that a schema can accept, looking through references and alternatives a few levels deep.
int os_schema_types(os_schema_node *node, int depth);
// The row of a keyword, NULL when the schema does not have it.
const os_schema_row *os_schema_row_of(const os_schema_node *node, const char *keyword);
// Finds the tag of alternatives: what a sibling `discriminator` says, else a member that is a different constant in each.
os_status os_compile_tag(os_compile *self, const os_schema_node *node, os_schema_row *row);

// ---- Evaluating -------------------------------------------------------------------------------------------

// One schema applied to one value.
struct os_frame {
  os_schema_node *node;
  const os_json *value;
  os_report *report; // NULL: only the answer is wanted, and the first failure ends the frame
  uint32_t row, step;
  uint32_t same; // frames below that hold the same value
  bool passed, type_failed;
  const os_json *child; // state of the row's applicator
  uint32_t count, chosen;
  bool all;
  os_json *name; // a member's name as a value
  os_report *scratch;
  uint32_t fewest;
};

struct os_eval {
  const os_schema *schema;
  os_arena *arena;
  const os_json_document *document;
  const os_schema_options *options;
  os_report *report; // the caller's
  struct {
    os_frame *items;
    size_t count, room;
  } frames;
  struct { // what an applicator asks for
    os_schema_node *node;
    const os_json *value;
    os_report *report;
  } call;
  uint64_t work;
  os_status status; // a limit, a stop, memory: ends all
  const char *limit_message;
};

static inline os_step os_eval_call(os_eval *self, os_schema_node *node, const os_json *value,
                                   os_report *report) {
  self->call.node = node;
  self->call.value = value;
  self->call.report = report;
  return OS_STEP_CALL;
}
// A finding of the row's rule at the value.
os_finding *os_eval_finding(os_eval *self, os_report *report, const os_rule *rule, const os_json *value,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
// "a, b or c" of the members of an array, at most eight of them.
os_str os_schema_choices(const os_json_document *document, os_arena *arena, const os_json *array);
// "string or null"
os_str os_schema_type_names(os_arena *arena, int types);
// Answers without frames, by calls as deep as the node is high. Only for nodes that are not OS_SCHEMA_TALL.
bool os_eval_quick(os_eval *self, const os_schema_node *node, const os_json *value);
bool os_eval_pattern(os_eval *self, const os_pattern *pattern, os_str text);

// schema_branch.c: the end of an anyOf or oneOf that no alternative passed, in a frame that explains.
os_step os_branch_next(os_eval *self, os_frame *frame, const os_schema_row *row);

#endif
