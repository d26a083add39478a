#ifndef OPSPEC_FACT_H
#define OPSPEC_FACT_H

#include "dims.h"
#include "node.h"
#include "report.h"

// What inference knows of a value.
typedef struct os_fact {
  op_type type;        // 0 = unknown
  int32_t rank;        // -1 = unknown; tensors only
  const op_dim *dims;  // rank of them
  const op_dim *small; // elements of an integer tensor of rank 0 or 1, NULL = unknown
  uint32_t small_count;
  bool small_scalar;
  const op_tensor *value; // the whole value, NULL = unknown
  const op_graph
      *constant_of; // where value is NULL: an initializer of this graph, decoded when asked for; NULL = none
  int32_t constant; // its number there
  const op_fact *element; // of a sequence or optional: what is known of every element, NULL = nothing
  bool absent;            // input of a function that the call leaves out: whoever reads it has no input there
} os_fact;

// One inference: its tables, where findings go, and how bodies are inferred.
typedef struct os_inferring {
  os_arena *arena; // facts live here
  os_types *types;
  os_dims *dims;
  os_report *report; // NULL: the first fault goes to `message` and ends the inference
  os_str message;
  // Infers a body; set by the model's inference. `node` is the node that has it.
  os_status (*body)(struct os_inferring *self, const op_graph *body, const op_fact *const *inputs,
                    size_t count, const op_fact *const **outputs, size_t *output_count);
  // The value of an initializer; set by the model's inference. NULL when it cannot be had.
  const op_tensor *(*load)(struct os_inferring *self, const op_graph *graph, int32_t value);
  void *context; // of `body`
  // A graph was inferred to its end; may be NULL. A body may come again, with other facts.
  os_status (*seen)(struct os_inferring *self, const op_graph *graph, const os_fact *facts);
  void *seen_context;
  os_str path;                 // path of the node for findings
  const os_stop *stop;         // may be NULL
  const os_progress *progress; // of a check whose second half this is; may be NULL
  os_range range;              // bytes of the node in its document, start == end: unknown
} os_inferring;

// A fault of the node: a finding with the node, path and bytes set, to be completed by the caller. With a NULL report it goes
// to `message` and the answer is NULL: the inference ends with OS_OPERATOR_FAILED.
os_finding *os_inferring_fault(os_inferring *self, const op_node *node, const os_rule *rule,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
// Names the node in the finding. The report outlives the node, so the names are copied.
void os_finding_set_node(os_report *report, os_finding *finding, const op_node *node);
// "tensor(float) [2, N]" for messages.
os_str os_fact_print(const os_inferring *self, const op_fact *fact);

struct op_infer {
  os_inferring *inferring;
  const op_node *node;
  const op_fact *const *inputs; // NULL = absent
  uint32_t input_count;
  op_fact *const *outputs; // NULL = left out
  uint32_t output_count;
  bool failed;       // a fault was found and told
  os_status trouble; // memory, or OS_LIMIT with a rank over OP_MAX_RANK: what the row cannot answer for
};

// Runs the row's infer function. OS_OK with ctx->failed after a fault that became a finding; OS_OPERATOR_FAILED after one
// without a report.
os_status os_infer_run(op_infer *ctx, const op_row *row);

#endif
