#ifndef OPSPEC_SPEC_CHECK_H
#define OPSPEC_SPEC_CHECK_H

// Inside of the spec library: what rules get, and what they share.
#include "map.h"
#include "spec.h"

#define SPEC_RULE(c_name, check, ...) OS_RULE_DECLARE(c_name, __VA_ARGS__)
#include "spec_rules.def"
#undef SPEC_RULE
#define OS_RULE OS_RULE_DECLARE
#include "evidence_rules.def"
#undef OS_RULE

// What a name in the document stands for.
typedef enum os_spec_role {
  OS_ROLE_INPUT = 1,
  OS_ROLE_OUTPUT = 2,
  OS_ROLE_TYPE_PARAMETER = 4,
  OS_ROLE_ATTRIBUTE = 8
} os_spec_role;

// One run of the rules over one document.
typedef struct os_checking {
  const os_spec_checker *checker;
  const os_spec_options *options;
  os_spec *spec;
  os_arena *arena;
  os_report *report;
  os_map names;              // of parameters and type parameters: os_spec_role bits
  unsigned repeated;         // roles in which a name stands twice
  const os_json *attributes; // the object that defines them; names are looked up in it
  os_map words;              // of check_text.c; not there until one is asked for
  int knows_names;           // of check_text.c: 1 or -1 once it was asked
  size_t types_read;         // of all type parameters
  uint32_t suggestions;      // that may still be looked for: comparing many names with many takes long
  os_status status;
} os_checking;

// A finding at a value of the document.
os_finding *os_checking_add(os_checking *self, const os_rule *rule, const os_json *node, const char *format,
                            ...) __attribute__((format(printf, 4, 5)));
os_finding *os_checking_add_as(os_checking *self, const os_rule *rule, os_severity severity,
                               const os_json *node, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void os_checking_relate(os_checking *self, os_finding *finding, const os_json *node, const char *message);
// Fixes: replaces the value by a string (quoted here), by JSON as it is, or renames the member.
void os_checking_fix_string(os_checking *self, os_finding *finding, bool safe, const os_json *node,
                            os_str text);
void os_checking_fix_json(os_checking *self, os_finding *finding, bool safe, const os_json *node,
                          const char *title, os_str json);
void os_checking_fix_key(os_checking *self, os_finding *finding, bool safe, const os_json *node, os_str text);

// Takes the value out of its list or object, with the comma that it leaves behind.
void os_checking_fix_remove(os_checking *self, os_finding *finding, bool safe, const os_json *node);

// Whether this many things of a kind may be looked at; says once what is left out.
enum { OS_CHECKED_MOST = 100000 };
bool os_checking_few(os_checking *self, size_t count, const char *what);

// The name nearest to `wrong` among those with one of the roles; empty when none is near.
os_str os_checking_nearest(os_checking *self, os_str wrong, unsigned roles);
// What a name stands for: os_spec_role bits.
static inline unsigned os_checking_roles(const os_checking *self, os_str name) {
  const os_map_entry *entry = os_map_get(&self->names, name);
  if (entry != NULL) return (unsigned)entry->value.number;
  return os_json_get(self->attributes, name) == NULL ? 0 : OS_ROLE_ATTRIBUTE;
}
// The same for parameters only.
static inline unsigned os_checking_parameter_roles(const os_checking *self, os_str name) {
  const os_map_entry *entry = os_map_get(&self->names, name);
  return entry == NULL ? 0 : (unsigned)entry->value.number & (OS_ROLE_INPUT | OS_ROLE_OUTPUT);
}

// Fills self->spec from the nodes, and self->names.
os_status os_spec_build(os_checking *self);

// A value against an attribute's kind, down to the element at fault.
typedef enum os_value_fault {
  OS_VALUE_OK,
  OS_VALUE_KIND,      // not of the kind
  OS_VALUE_INT_RANGE, // an integer outside int64
  OS_VALUE_INFINITE,  // infinite in binary32
  OS_VALUE_ZERO,      // becomes 0 in binary32
} os_value_fault;
typedef struct os_value_trouble {
  os_value_fault fault;
  const os_json *node;
  const char *expected; // in words
} os_value_trouble;
os_value_trouble os_spec_value_trouble(os_checking *self, const os_json *value, op_attr_kind kind);
// Of a value of the wrong kind that was told: the type that it was probably meant to be, where one was.
void os_spec_value_mend(os_checking *self, os_finding *finding, const os_json *value, op_attr_kind kind);
// Of a value of the right kind: tensors in the evidence form against their own types and shapes, messages in protobuf's JSON
// against what they are, told as `rule`.
os_status os_spec_value_form(os_checking *self, const os_json *value, op_attr_kind kind, const os_rule *rule);
// Equal as values of the kind: 1 and 1.0 are one int.
bool os_spec_same_value(os_checking *self, const os_json_document *a_document, const os_json *a,
                        const os_json *b, op_attr_kind kind);
op_attr_kind os_attr_kind_of(os_str name);
bool os_attr_kind_is_list(op_attr_kind kind, op_attr_kind *element);

// The nearest C90 identifier.
os_str os_as_identifier(os_checking *self, os_str name);
// First word of a text in small letters is one of `words` (a NULL-ended list).
bool os_first_word_in(os_str text, const char *const *words);

// The domains that are ONNX's own.
bool os_is_standard_domain(os_str domain);

os_spec_check_function os_check_standard, os_check_operator, os_check_parameters, os_check_type_parameters,
    os_check_types, os_check_attributes, os_check_sets, os_check_texts, os_check_reference, os_check_tests,
    os_check_files;
void os_checking_list(os_spec_checker *checker);
void os_checking_run(os_checking *self);
// What os_check_attributes does with each attribute while its nodes are at hand: a document may have many thousands.
void os_check_text(os_checking *self, const os_json *text);
void os_check_set(os_checking *self, const os_json *set);
void os_check_numbers(os_checking *self, const os_json *value);

// The schema of evidence, compiled the first time.
os_status os_spec_evidence_schema(const os_spec_checker *self, const os_schema **out);
// One file that `tests` names, evidence or not; `self` is the run over the document that names it.
os_status os_evidence_check_file(os_checking *self, const os_file *file, bool folder);
// Evidence: the value at `node` against its own type, shape and form. *type gets its type, 0 when that is none.
void os_check_evidence_value(os_checking *self, const os_json *node, op_type *type);
// Whether an object is a value in the evidence form (it has a `type` that is a string).
bool os_is_evidence_value(const os_json *node);

#endif
