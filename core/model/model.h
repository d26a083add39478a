#ifndef OPSPEC_MODEL_H
#define OPSPEC_MODEL_H

#include "document.h"
#include "graph.h"

// A model, a lone graph or a function, indexed. The document outlives it.
typedef struct os_model os_model;

// Whether documents of the kind hold operators, so that they have a model: models, graphs, functions, operator sets.
bool os_model_is_of(os_kind kind);
// Builds the index over a decoded document: a model, graph or function, or the functions of an operator set. Faults that
// keep the index from being built truly (unknown names, SSA, a cycle, recursive functions...) are findings of the checker's
// structure rules in `report`; the index is then partial: unknown inputs are OS_ABSENT. *out is never NULL with OS_OK.
// `stop` (NULL = none) is looked at while functions are expanded.
os_status os_model_build(os_document *document, os_registry *registry, const os_stop *stop, os_report *report,
                         os_model **out);
const op_graph *os_model_graph(const os_model *self);
int os_model_opset(const os_model *self, os_str domain); // imported version, 0 = not imported
// The value of an initializer, decoded when first asked for and kept until dropped; NULL with a status when external data
// is missing or it is malformed. Borrowed.
os_status os_model_constant(os_model *self, const op_graph *graph, int32_t value, const op_tensor **out);
// Frees a decoded initializer of which a packed copy is enough; asking again decodes again.
void os_model_drop_constant(os_model *self, const op_graph *graph, int32_t value);

typedef struct os_check_options {
  bool strict, infer;
  const os_stop *stop;
  const os_progress *progress; // may be NULL
} os_check_options;
// The checker: structure rules and, with infer, inference with types and declared shapes compared.
os_status os_model_check(os_model *self, const os_check_options *options, os_report *report);
// Places of findings may point into it.
void os_model_free(os_model *self);

#endif
