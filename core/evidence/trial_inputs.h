#ifndef OPSPEC_TRIAL_INPUTS_H
#define OPSPEC_TRIAL_INPUTS_H

#include "case.h"
#include "model.h"

// The model and the values of a case. Left-out ones are NULL.
typedef struct os_trial_values {
  os_memory *memory;
  os_arena *arena;
  os_registry *registry;
  const os_case *item;
  os_str model; // bytes of a ModelProto
  os_str fault; // why reading ended with OS_MALFORMED
  op_value **inputs, **outputs;
  os_str *input_names;
  size_t input_count, output_count;
} os_trial_values;

// Files that data of a document beside `name` lies in, out of the same bundle: an os_external's context.
typedef struct os_trial_beside {
  os_arena *arena;
  const os_bundle *files;
  os_str name;
} os_trial_beside;
os_external os_trial_external(os_trial_beside *beside);

// Fills model and, when the evidence is no data set with a model of its own, the values that the model is made from.
os_status os_trial_values_begin(os_trial_values *self, const os_case *item);
// Fills what is still missing, now that the model says which types it wants.
os_status os_trial_values_finish(os_trial_values *self, os_model *model);
void os_trial_values_release(os_trial_values *self);

#endif
