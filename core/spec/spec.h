#ifndef OPSPEC_SPEC_H
#define OPSPEC_SPEC_H

#include "bundle.h"
#include "json.h"
#include "registry.h"
#include "schema.h"

// Operator-extension documents: a custom operator, completely described. Nothing is executed here.

#define OS_SPEC_KIND "runlocal.operator-extension"
#define OS_EVIDENCE_KIND "opspec.evidence"

typedef struct os_spec_parameter {
  const os_json *node;
  const os_json *name_node, *cardinality, *type_node, *description; // members; NULL = absent
  os_str name;
  op_option option;
  int32_t type_parameter; // index; -1 = none or not known
} os_spec_parameter;

typedef struct os_spec_type_parameter {
  const os_json *node;
  const os_json *allowed; // the member allowed_types when it is a list, else NULL
  const os_json *description;
  os_str name;
  op_type *types; // allowed_types in the registry's table; 0 where one is not a type
  size_t count;
} os_spec_type_parameter;

typedef struct os_spec_attribute {
  const os_json *node;
  os_str name;
  op_attr_kind kind; // OP_ATTR_NONE when `kind` is not one
  bool required;
  const os_json *kind_node, *required_node, *default_node, *description; // members; NULL = absent
  const os_json *fallback; // default_node, but NULL where that is null
  const os_json *allowed;  // array of allowed values, NULL: any
} os_spec_attribute;

// Members of the document and of `operator`, in the order of the schema.
typedef enum os_spec_member {
  OS_SPEC_KIND_OF,
  OS_SPEC_PROTOCOL,
  OS_SPEC_NAME,
  OS_SPEC_VERSION,
  OS_SPEC_AUTHORITY,
  OS_SPEC_OPERATOR,
  OS_SPEC_INPUTS,
  OS_SPEC_OUTPUTS,
  OS_SPEC_TYPE_PARAMETERS,
  OS_SPEC_ATTRIBUTES,
  OS_SPEC_INPUT_CONDITIONS,
  OS_SPEC_SHAPE_RULES,
  OS_SPEC_BOUNDARY,
  OS_SPEC_NUMERICAL,
  OS_SPEC_NONDETERMINISM,
  OS_SPEC_EFFECTS,
  OS_SPEC_REFERENCE,
  OS_SPEC_TESTS,
  OS_SPEC_MEMBERS
} os_spec_member;
typedef enum os_spec_identity {
  OS_SPEC_DOMAIN,
  OS_SPEC_OP_TYPE,
  OS_SPEC_OVERLOAD,
  OS_SPEC_IDENTITY
} os_spec_identity;

// A document as far as it could be understood. Lists skip what has not even the right JSON type.
typedef struct os_spec {
  os_json_document document;
  const os_json *members[OS_SPEC_MEMBERS], *identity[OS_SPEC_IDENTITY]; // NULL = absent
  os_str folder;    // of a bundle: what stands before the document's file name, with its '/'
  bool well_formed; // passes the schema
  bool valid;       // has no finding at error level
  os_str name, version, domain, op_type, overload;
  int since; // an integer `version`, else 1
  bool reference_authority;
  os_spec_parameter *inputs, *outputs;
  size_t input_count, output_count;
  os_spec_type_parameter *type_parameters;
  size_t type_parameter_count;
  os_spec_attribute *attributes;
  size_t attribute_count;
  const os_json *reference; // NULL when null or absent
  const os_json *tests;     // array of names
} os_spec;

struct os_checking;
typedef void os_spec_check_function(struct os_checking *self);

// What checking needs of one Env: the compiled schemas and the operators of the standard.
typedef struct os_spec_checker {
  const os_registry *registry;
  os_types *types;
  os_schema *extension;               // of specs/
  struct os_spec_later *later;        // what not every caller needs, made when it is asked for
  os_spec_check_function *checks[16]; // each once, in the order of the rules that they look for
  size_t check_count;
} os_spec_checker;

// Compiles the embedded schemas into the arena. `registry` must outlive the checker.
os_status os_spec_checker_init(os_spec_checker *self, os_arena *arena, const os_registry *registry);

typedef struct os_spec_options {
  uint32_t depth;          // of JSON; 0 = the default
  const os_bundle *bundle; // NULL: no files were given, so nothing is said about files
  bool skip_evidence;      // do not look into the files that `tests` names
  bool roles;              // an operator that ONNX does not know may be in its domain
  const os_stop *stop;
} os_spec_options;

// Text -> nodes -> schema -> rules, and the evidence that `tests` names when a bundle is given. Sets report->kind to
// "spec". Findings go to `report`, which is not finished; texts are registered with it. *out (may be NULL) gets the
// model, or NULL when the text is no JSON object.
os_status os_spec_check(const os_spec_checker *self, os_arena *arena, os_str file, os_str text,
                        const os_spec_options *options, os_report *report, os_spec **out);

typedef struct os_spec_list {
  os_spec **items;
  size_t count, room;
} os_spec_list;

// A bundle: the JSON file whose kind is OS_SPEC_KIND is the document, the other files are what it names. Several
// documents are checked each with the files of its folder, and against each other (spec.bundle.conflict). Sets
// report->kind to "bundle". `specs` may be NULL.
os_status os_bundle_check(const os_spec_checker *self, os_arena *arena, const os_spec_options *options,
                          os_report *report, os_spec_list *specs);

// spec.bundle.conflict among documents that were loaded together.
os_status os_specs_compare(os_arena *arena, os_spec *const *specs, size_t count, os_report *report);

// An evidence document (JSON) against its specification; `spec` NULL: only its form. Sets report->kind to "evidence"
// when it is empty. *out (may be NULL) gets the parsed document; *broken (may be NULL): errors were found that no expected
// error explains, as they are of its form and not of what it says of the operator.
os_status os_evidence_check(const os_spec_checker *self, os_arena *arena, os_str file, os_str text,
                            const os_spec *spec, const os_spec_options *options, os_report *report,
                            os_json_document *out, bool *broken);
// The file that an entry of `tests` means: itself, or with ".json" or ".zip", or a folder of that name (then *folder is
// true and file->name ends in '/'). State OS_FILE_MISSING when there is none.
os_status os_evidence_find(const os_bundle *bundle, os_arena *arena, os_str folder_of_spec, os_str test,
                           os_file *file, bool *folder);

// Any JSON text: what it is by its `kind` ("spec", "evidence", "json"), and its check.
os_status os_json_check(const os_spec_checker *self, os_arena *arena, os_str file, os_str text,
                        const os_spec_options *options, os_report *report);
// "spec", "evidence" or "json" by the root's `kind`; cheap. "unknown" when the text does not start like JSON.
const char *os_json_kind(os_str text);
// Whether a file of a bundle is an operator-extension document: by its kind, or by a name in .opspec.json where it is no
// evidence, so that one whose kind is wrong is told about.
bool os_file_is_spec(const os_file *file);

// The operator as the registry takes it. since 0 = the document's own. Needs a valid document; strings point into its
// text, everything else lives in the arena. `types` is the table of the checker. Defaults of kind tensor, sparse_tensor and graph are not carried over.
os_status os_spec_schema(const os_spec *self, os_arena *arena, os_types *types, int since,
                         const op_schema **out);
// The value of an attribute from JSON, exact. false when it is not of that kind.
bool os_spec_attribute_value(os_arena *arena, os_types *types, const os_json_document *document,
                             const os_json *value, op_attr_kind kind, op_attribute *out);

extern const os_rule_table os_spec_rules;     // spec.*
extern const os_rule_table os_evidence_rules; // evidence.form, arity, type, attribute

#endif
