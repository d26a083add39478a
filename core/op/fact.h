#ifndef OPSPEC_FACT_H
#define OPSPEC_FACT_H

#include "dims.h"
#include "node.h"
#include "report.h"

// What inference knows of a value.
struct os_fact {
  op_type type;       // 0 = unknown
  int32_t rank;       // -1 = unknown; tensors only
  const op_dim *dims; // rank of them
  const op_dim *small; // elements of an integer tensor of rank 0 or 1, NULL = unknown
  uint32_t small_count;
  bool small_scalar;
  const op_tensor *value;  // the whole value, NULL = unknown
  const op_fact *element; // of a sequence or optional: what is known of every element, NULL = nothing
};

// One inference: its tables, where findings go, and how bodies are inferred.
typedef struct os_inferring {
  os_arena *arena; // facts live here
  os_types *types;
  os_dims *dims;
  os_report *report; // NULL: the first fault goes to `message` and ends the inference
  os_str message;
  // Infers a body; set by the model's inference. `node` is the node that has it.
  os_status (*body)(struct os_inferring *self, const op_graph *body, const op_fact *const *inputs, size_t count,
                    const op_fact *const **outputs, size_t *output_count);
  void *context; // of `body`
  os_str path;   // path of the node for findings
} os_inferring;

struct op_infer {
  os_inferring *inferring;
  const op_node *node;
  const op_fact *const *inputs; // NULL = absent
  uint32_t input_count;
  op_fact *const *outputs; // NULL = left out
  uint32_t output_count;
  bool failed;
};

#endif
