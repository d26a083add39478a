#ifndef OPSPEC_SCHEMA_H
#define OPSPEC_SCHEMA_H

#include "json.h"

// JSON Schema 2020-12 over parsed documents. A schema is compiled once into rows, one for each keyword of each
// (sub)schema, with `$ref` resolved and patterns compiled; it can then validate any number of documents.
typedef struct os_schema os_schema;

typedef struct os_schema_options {
  uint64_t pattern_steps; // what one use of a pattern may take; 0 = 1,000,000
  const os_stop *stop;    // asked now and then; may be NULL
} os_schema_options;

// `document` must have a root and live as long as the schema. What is wrong with the schema itself goes to `report`
// (rules schema.invalid, schema.ref, schema.pattern-syntax), and *out is NULL when it cannot be used. All in `arena`.
os_status os_schema_compile(os_schema **out, os_arena *arena, const os_json_document *document,
                            os_report *report);

// Validates a value of a document. Findings (schema.<keyword>) go to `report`; with NULL only *valid is answered, which
// is the fast way. A pattern that runs too long, or a stop, makes the report incomplete (OS_LIMIT, OS_TIMEOUT or
// OS_ABORTED without a report). `node` NULL = the root.
os_status os_schema_validate(const os_schema *self, os_arena *arena, const os_json_document *document,
                             const os_json *node, const os_schema_options *options, os_report *report,
                             bool *valid);

extern const os_rule_table os_schema_rules;

#endif
