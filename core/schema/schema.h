#ifndef OPSPEC_SCHEMA_H
#define OPSPEC_SCHEMA_H

#include "json.h"
#include "text.h"

// JSON Schema 2020-12 over parsed documents. A schema is compiled once into rows, one for each keyword of each
// (sub)schema, with `$ref` resolved and patterns compiled; it can then validate any number of documents.
typedef struct os_schema os_schema;

typedef struct os_schema_options {
  uint64_t pattern_steps; // what one use of a pattern may take; 0 = 1,000,000
  const os_stop *stop;    // asked now and then; may be NULL
  // Of compiling only.
  bool
      foreign; // the schema is somebody else's: its meta-schema is asked, x-runlocal-set holds, outputs are possible
  bool formats;   // `format` asserts
  uint32_t depth; // of documents that are looked up; 0 = the default
  // The text of a schema that is referred to by this URI; OS_INVALID_ARGUMENT when there is none. NULL = none ever.
  os_status (*find)(void *context, os_str uri, os_str *text);
  void *context;
} os_schema_options;

// `document` must have a root and live as long as the schema. What is wrong with the schema itself goes to `report`
// (rules schema.invalid, schema.ref, schema.pattern-syntax, schema.vocabulary, and those of the meta-schema), and *out is
// NULL when it cannot be used, or would take too long to be read: then the report is incomplete. All in `arena`, texts that
// were found included; the nodes of `document` are marked. `options` may be NULL.
os_status os_schema_compile(os_schema **out, os_arena *arena, const os_json_document *document,
                            const os_schema_options *options, os_report *report);

// Validates a value of a document. Findings (schema.<keyword>) go to `report`; with NULL only *valid is answered, which
// is the fast way. A pattern that runs too long, or a stop, makes the report incomplete (OS_LIMIT, OS_TIMEOUT or
// OS_ABORTED without a report). `node` NULL = the root.
os_status os_schema_validate(const os_schema *self, os_arena *arena, const os_json_document *document,
                             const os_json *node, const os_schema_options *options, os_report *report,
                             bool *valid);
// Appends what the standard's outputs (core, section 12) are made of: a list of units, parents before what is below them,
// each [parent's place in the list or -1, valid, kind, length of the value, last token of the keyword's location, URI of
// the resource, pointer of the schema in it, pointer of the value, error, annotation]. kind: 0 a schema, 2 a keyword that
// says nothing more, 3 one whose annotation is the last element, 4 one that tells which children it has looked at. `valid`:
// the answer of os_schema_validate. OS_LIMIT when units are missing.
os_status os_schema_write_units(const os_schema *self, os_arena *arena, const os_json_document *document,
                                const os_schema_options *options, bool valid, os_text *out);

extern const os_rule_table os_schema_rules;

#endif
