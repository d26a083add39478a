#ifndef OPSPEC_SCHEMA_ROWS_H
#define OPSPEC_SCHEMA_ROWS_H

// Inside of the schema library: what a schema is compiled into, and the machine that evaluates it.
#include "decimal.h"
#include "json_equal.h"
#include "map.h"
#include "pattern.h"
#include "schema.h"
#include "schema_rules.h"
#include "string_format.h"

typedef struct os_schema_node os_schema_node;
typedef struct os_schema_row os_schema_row;
typedef struct os_compile os_compile;
typedef struct os_eval os_eval;
typedef struct os_frame os_frame;
typedef struct os_record os_record;
typedef struct os_unit os_unit;

// ---- Resources --------------------------------------------------------------------------------------------

// Vocabularies, as bits. OS_VOCABULARY_2020: keywords that older drafts do not have.
enum {
  OS_VOCABULARY_APPLICATOR = 1,
  OS_VOCABULARY_VALIDATION = 2,
  OS_VOCABULARY_UNEVALUATED = 4,
  OS_VOCABULARY_FORMAT = 8, // formats assert
  OS_VOCABULARY_OWN = 16,   // x-runlocal-set
  OS_VOCABULARY_2020 = 32
};

// What an $id begins: a document, or a part of one.
typedef struct os_resource {
  os_str uri; // absolute where it can be, without fragment
  const os_json *root;
  const os_json_document *document;
  int vocabularies;
  os_map *anchors; // nodes by name, and
  os_map *dynamic; // those of $dynamicAnchors; NULL = none
  bool asked;      // its meta-schema has been asked
} os_resource;

// ---- Compiled form ----------------------------------------------------------------------------------------

// A schema by name: of properties, and, as lists, of patternProperties and alternatives.
typedef struct os_schema_entry {
  os_str name;
  uint32_t hash; // of the name, as os_json.order has it
  os_schema_node *node;
  os_pattern *pattern;
  uint64_t bit; // of the first 64: 1 << its place
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
  const os_json_document *document; // where `value` is
  union {
    int types;
    os_decimal number;
    os_json_set *set; // of a long enum
    struct {
      const os_string_format *format;
      os_pattern *pattern, *host;
    } format;
    uint32_t count;
    struct {
      os_pattern *pattern;
    } pattern;
    struct { // $ref, $dynamicRef, not, propertyNames, unevaluated...
      os_schema_node *node;
      os_str dynamic; // of $dynamicRef: the anchor that is looked for; empty = as $ref
      bool
          on_the_way; // of propertyNames: additionalProperties goes through all members and asks for their names, too
    } one;
    struct {
      os_schema_entries entries;
      os_schema_tag tag;
      bool closed;     // of properties: additionalProperties is false, and only these names are allowed
      uint64_t needed; // of properties: bits of the names that `required` lists, where one walk answers both
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

enum {
  OS_SCHEMA_INTEGER_ONLY = 1 << 16, // in a set of types: numbers have to be integers
  OS_SCHEMA_TALL = 16,
  OS_SCHEMA_COMPARED = 500, // names among which the nearest is looked for
  OS_SCHEMA_CELLS = 40000,  // and how many of their characters are compared with each other
  OS_SCHEMA_LONGEST = 64    // bytes of names that messages list
};

struct os_schema_node {
  const os_json *json;
  const os_resource *resource;
  os_schema_row *rows;
  uint32_t row_count;
  uint32_t quick_count;
  const os_schema_row *
      *quick;            // rows that plain calls ask; others have said what they want in quick_types or these
  int quick_types;       // JSON types beyond which plain calls need not ask
  os_schema_node *alias; // a schema that is nothing but a $ref: what it leads to
  bool listed;           // to be compiled, or compiled
  bool tracked;          // some schema asks which members and elements were evaluated here
  bool never;            // the schema false
  uint8_t height; // levels of schemas below: 0 = assertions only; OS_SCHEMA_TALL = many, or without end
  uint8_t flat;   // the same without those that look at members and elements
  int types;      // JSON types that it can accept, as far as its own keywords tell
  int reach;      // the same with what os_schema_types has found out
  bool reach_known;
};

struct os_schema {
  os_schema_node *root;
  size_t node_count;
  bool dynamic; // has a $dynamicRef that depends on the way to it
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

// What an output says that a keyword found, when its schema passes.
typedef enum os_annotates { OS_ANNOTATES_NOTHING, OS_ANNOTATES_VALUE, OS_ANNOTATES_CHILDREN } os_annotates;

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
  // The same by plain calls, where only the answer is wanted and the schemas below are nested a known few levels. NULL: a
  // keyword that is seldom in the way has frames always. Only rows of os_schema_node.quick are asked.
  bool (*quick)(os_eval *self, const os_schema_row *row, const os_json *value);
  os_schema_holds holds;
  int vocabulary;
  bool in_place; // the schemas below look at the same value
  bool several;  // `explain` may add more than one finding
  os_annotates annotates;
} os_schema_keyword;

typedef struct os_schema_table {
  const os_schema_keyword *rows;
  size_t count;
} os_schema_table;
// The rows of a schema stand in this order: assertions, references, applicators, unevaluated. The last table has keywords
// without a compile function: places of schemas, and what is only an annotation.
enum { OS_SCHEMA_TABLES = 5, OS_SCHEMA_WORDS = 64 };
extern const os_schema_table os_schema_assertions, os_schema_references, os_schema_applicators,
    os_schema_unevaluated, os_schema_others;
extern const os_schema_table *const os_schema_tables[OS_SCHEMA_TABLES];

// ---- Compiling --------------------------------------------------------------------------------------------

// Which keywords a schema's object has, by the keywords' places in all tables taken together.
typedef struct os_schema_members {
  uint64_t set;
  const os_json *of[OS_SCHEMA_WORDS];
} os_schema_members;
// The last of them: keywords that name schemas.
typedef enum os_schema_name {
  OS_NAME_ID,
  OS_NAME_DIALECT,
  OS_NAME_ANCHOR,
  OS_NAME_DYNAMIC,
  OS_NAMES
} os_schema_name;

typedef struct os_compile_nodes {
  os_schema_node **items;
  size_t count, room;
} os_compile_nodes;

struct os_compile {
  os_arena *arena;
  const os_json_document *document; // of the schema that is being compiled
  os_report *report;
  const os_schema_options *options; // may be NULL
  os_map resources;                 // by URI
  os_map dialects;                  // vocabularies by the meta-schema's URI
  os_map patterns;                  // by their text
  os_compile_nodes nodes, // all; os_json.item.valueint of a schema is the place of its node here, from 1 on
      known,              // places of schemas in the documents
      list;               // the work list: nodes to be compiled, in order of discovery
  size_t discovered;
  struct { // all keywords, and how they are found by their names
    const os_schema_keyword *rows[OS_SCHEMA_WORDS];
    uint32_t hashes[OS_SCHEMA_WORDS], count;
    uint8_t slots[4 * OS_SCHEMA_WORDS]; // place + 1
  } words;
  const os_resource *outermost; // that of the schema that is compiled
  os_map metas;                 // meta-schemas by URI, once they were needed; NULL = there is none
  uint64_t work;
  bool failed, dynamic, keeps; // keeps: rows that every value passes stay, for outputs
};

// What was done, in units of about one keyword; too much of it ends the compiling.
void os_compile_work(os_compile *self, uint64_t units);
void os_compile_members(const os_compile *self, const os_json *object, os_schema_members *out);
static inline const os_json *os_compile_name(const os_compile *self, const os_schema_members *members,
                                             os_schema_name name) {
  uint32_t at = self->words.count - OS_NAMES + (uint32_t)name;
  return members->set >> at & 1 ? members->of[at] : NULL;
}
// Makes the node of a subschema known.
bool os_compile_register(os_compile *self, os_schema_node *node);
// NULL where there is none; `anchors` may be NULL.
os_schema_node *os_schema_anchor(const os_map *anchors, os_str name);

// schema_resource.c: finds resources, anchors and places of schemas in a document that was got by this URI.
os_status os_compile_document(os_compile *self, const os_json_document *document, os_str uri);
// Of an URI without fragment, known or loaded; NULL when there is none. OS_OUT_OF_MEMORY and the like in *status.
os_resource *os_compile_resource(os_compile *self, os_str uri, os_status *status);
// Without its fragment.
os_str os_compile_without_fragment(os_str uri);
// The schema that a reference names, which stands in `node`; NULL when there is none. *anchor: the fragment when it is a
// name.
const os_json *os_compile_target(os_compile *self, const os_schema_node *node, os_str reference,
                                 os_str *anchor, os_status *status);

// The node of a subschema, new or known; NULL when memory is exhausted or the value is no schema (then reported).
os_schema_node *os_compile_node(os_compile *self, const os_json *json);
// The same to *out; only memory is trouble.
os_status os_compile_child(os_compile *self, const os_json *json, os_schema_node **out);
// Of a row whose value is one schema.
os_status os_compile_one(os_compile *self, const os_schema_node *node, os_schema_row *row);
os_finding *os_compile_wrong(os_compile *self, const os_rule *rule, const os_json *json, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));
// A pattern that stands at `json`; NULL when it is wrong (then reported).
os_status os_compile_pattern(os_compile *self, const os_json *json, os_str source, os_pattern **out);
// A count of things; what is beyond UINT32_MAX is that. False when the value is none, which leaves *out or makes it any.
bool os_compile_count(const os_compile *self, const os_json *json, uint32_t *out);
// Compiles an object of schemas, or an array of them.
os_status os_compile_entries(os_compile *self, const os_json *json, bool patterns, os_schema_entries *out);
os_schema_entry *os_schema_find(const os_schema_entries *self, os_str name, uint32_t hash);
// The node behind an alias.
os_schema_node *os_schema_real(os_schema_node *node);
// JSON types that a schema can accept, looking through references and alternatives a few levels deep.
int os_schema_types(os_schema_node *node, int depth);
// The row of a keyword, NULL when the schema does not have it.
const os_schema_row *os_schema_row_of(const os_schema_node *node, const char *keyword);
// Finds the tag of alternatives: what a sibling `discriminator` says, else a member that is a different constant in each.
os_status os_compile_tag(os_compile *self, const os_schema_node *node, os_schema_row *row);

// ---- Evaluating -------------------------------------------------------------------------------------------

// One schema applied to one value.
// Resources on the way to a schema, each once; a tree, so that equal ways share their scopes.
typedef struct os_scope {
  const os_resource *resource;
  struct os_scope *outer, *inner, *next; // inner: first scope below; next: beside this one
} os_scope;

// What an alternative that was tried has to say.
typedef struct os_tried {
  os_report report;
  uint32_t index;
} os_tried;

struct os_frame {
  os_schema_node *node;
  const os_json *value;
  os_report *report; // NULL: only the answer is wanted, and the first failure ends the frame
  os_scope *scope;   // resources on the way here
  size_t evaluated;  // length of os_eval.evaluated when the frame began
  os_unit *unit, *row_unit;
  bool quiet; // as report NULL, also where an output is recorded
  bool keeps; // its answer goes to os_eval.answers
  bool row_passed;
  uint32_t row, step;
  uint32_t same; // frames below that hold the same value
  bool passed, type_failed;
  const os_json *child; // state of the row's applicator
  uint32_t count, chosen;
  bool all;
  os_json *name;         // a member's name as a value
  const os_json **known; // what was evaluated, a hash table by address of `mask` + 1 places; of arrays NULL
  uint32_t mask;
  uint8_t *marks;  // by index
  os_tried *tried; // alternatives that were compared, some of them
  uint32_t tries;
  uint32_t fewest;
};

// What schemas have said of values, where asking the same again has become likely. A hash table by both addresses.
typedef struct os_answer {
  const os_schema_node *node; // NULL = free
  const os_json *value;
  bool passed;
} os_answer;

typedef struct os_answers {
  os_answer *items;
  size_t count, room; // room: 0 or a power of 2
} os_answers;

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
  struct { // members and elements that were evaluated; a frame that looks has its own behind frame.evaluated
    const os_json **items;
    size_t count, room;
  } evaluated;
  os_scope *scopes;
  os_answers answers;
  bool explains;        // the document does not pass, and findings say why
  os_record *record;    // NULL unless an output is wanted
  uint64_t work, pause; // pause: the work after which stops are looked at
  os_status status;     // a limit, a stop, memory: ends all
  const char *limit_message;
};

void os_eval_stop(os_eval *self);
// What was done, in units of about one schema applied to one value.
static inline void os_eval_work(os_eval *self, uint64_t units) {
  self->work += units;
  if (self->work >= self->pause) os_eval_stop(self);
}

static inline os_step os_eval_call(os_eval *self, os_schema_node *node, const os_json *value,
                                   os_report *report) {
  self->call.node = node;
  self->call.value = value;
  self->call.report = report;
  return OS_STEP_CALL;
}
// The first child of the frame's value, then the one behind it.
static inline const os_json *os_frame_next_child(os_frame *self) {
  self->child = self->step == 0 ? os_json_first(self->value) : os_json_next(self->child);
  self->step = 1;
  return self->child;
}
// Whether findings of this report are only counted from now on: then their texts need not be made.
static inline bool os_eval_counts_only(const os_eval *self, const os_report *report) {
  return report->full && self->record == NULL;
}
// A finding of the row's rule at the value.
os_finding *os_eval_finding(os_eval *self, os_report *report, const os_rule *rule, const os_json *value,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
// "Expected ... here, found ...". `found` with data NULL: the value.
os_finding *os_eval_mismatch(os_eval *self, os_report *report, const os_schema_row *row, const os_json *value,
                             os_str expected, os_str found);
// A member or element that nothing speaks of. `named`: the names that the schema knows, or NULL.
void os_eval_surplus(os_eval *self, os_frame *frame, const os_schema_row *row, const os_schema_entries *named,
                     const os_json *child);
// os_str_distance, or `least` where it is not less; 1 where only the case of letters differs. *cells: what may still be
// done, OS_SCHEMA_CELLS at first.
unsigned os_schema_distance(os_str a, os_str b, unsigned least, size_t *cells);
// The value is of none of these types.
void os_eval_wrong_type(os_eval *self, os_report *report, const os_schema_row *row, const os_json *value,
                        int types);
// Whether a member's name is asked as a value, which has no place in the document.
static inline bool os_schema_is_name(const os_json *value) {
  return os_json_is(value->parent, OS_JSON_OBJECT) && value->key_end == 0;
}
// Answers without frames, by calls as deep as the node is high. Only for nodes that are not OS_SCHEMA_TALL.
bool os_eval_quick(os_eval *self, const os_schema_node *node, const os_json *value);
bool os_eval_pattern(os_eval *self, const os_pattern *pattern, os_str text);

// A member or element of the frame's value counts as evaluated.
void os_eval_evaluated(os_eval *self, const os_frame *frame, const os_json *child);

// schema_output.c. All may leave NULL where there is no room for more.
struct os_unit {
  os_unit *parent;
  os_schema_node *node; // of a schema's unit
  const os_schema_row *row;
  const os_json *keyword; // of an annotation that is no row
  const os_json *value;
  os_str token; // that leads here from the parent, as written in a pointer; data NULL = none
  os_str error;
  uint32_t index;
  bool valid;
};
struct os_record {
  struct {
    os_unit **items;
    size_t count, room;
  } units; // parents first
  os_report report;
};
os_unit *os_record_schema(os_eval *self, const os_frame *above, os_schema_node *node, const os_json *value);
os_unit *os_record_row(os_eval *self, const os_frame *frame, const os_schema_row *row);
// What a schema that has passed says of the value without checking it.
void os_record_annotations(os_eval *self, const os_frame *frame);
// False when something was cut.
bool os_record_write(const os_record *self, os_arena *arena, os_text *out);

// schema_branch.c: the end of an anyOf or oneOf that no alternative passed, in a frame that explains.
os_step os_branch_next(os_eval *self, os_frame *frame, const os_schema_row *row);

#endif
