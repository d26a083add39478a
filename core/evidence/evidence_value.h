#ifndef OPSPEC_EVIDENCE_VALUE_H
#define OPSPEC_EVIDENCE_VALUE_H

#include "json.h"
#include "value.h"

// Values as evidence documents write them:
//   { "type": "tensor(float)", "shape": [2], "data": [1, "NaN"] }      data may be { "base64": ... }: raw_data's bytes
//   { "type": "seq(tensor(float))", "items": [values] }
//   { "type": "map(string, int64)", "entries": [[k, v], ...] }
//   { "type": "optional(tensor(float))", "value": null }
//   { "type": "sparse_tensor(float)", "shape": [3, 4], "values": [...], "indices": [...] }

typedef struct os_evidence_fault {
  os_str message;      // a sentence without a full stop
  const os_json *node; // where
} os_evidence_fault;

// null gives *out NULL. Numbers are taken from their exact text: integers must fit their type, floats are rounded once.
// OS_MALFORMED with *fault filled when the JSON says no such value. Keys of maps are brought in order.
os_status os_evidence_value(os_memory *memory, os_arena *arena, os_types *types,
                            const os_json_document *document, const os_json *node, op_value **out,
                            os_evidence_fault *fault);

#endif
