#ifndef OPSPEC_SESSION_H
#define OPSPEC_SESSION_H

#include "model.h"
#include "value.h"

// A model made ready to run, and its runs. A session borrows its model and registry: both outlive it.
typedef struct os_session os_session;
typedef struct os_run os_run;

// What ended a job: one sentence for a person and where it happened. Strings live in `arena`.
typedef struct os_trouble {
  os_arena *arena;
  os_status status;
  os_str message;
  os_str path; // "graph.node[3]", empty = nowhere in particular
} os_trouble;

typedef struct os_session_options {
  uint64_t seed;       // of random operators
  const os_stop *stop; // for making the session; borrowed during the call
} os_session_options;

// Finds a kernel for every node, makes node states, folds constants. On failure *trouble (its arena set by the caller) says
// why. OS_UNSUPPORTED names every operator without a kernel.
os_status os_session_new(os_memory *memory, os_registry *registry, os_model *model,
                         const os_session_options *options, os_trouble *trouble, os_session **out);
void os_session_free(os_session *self);

typedef struct os_run_input {
  os_str name;
  op_value *value; // the run takes the reference
} os_run_input;

// A run with these inputs, giving the named outputs (any values of the main graph; count 0 = the model's outputs). Missing,
// unknown, wrongly typed or wrongly shaped inputs are OS_INVALID_ARGUMENT. *out is set unless memory is exhausted, also on
// failure, so that os_run_trouble can be asked.
os_status os_run_start(os_session *session, const os_run_input *inputs, size_t input_count,
                       const os_str *outputs, size_t output_count, os_run **out);
// Goes on for about `budget` steps: OS_OK done; OS_YIELD call again; OS_NEEDS_HOST a kernel waits for the host, which calls
// os_run_answer; else it failed and trouble says why.
os_status os_run_step(os_run *self, uint64_t budget);
// The host has finished what a kernel left open (OS_OK; outputs were set on the kernel's op_run), or it failed.
void os_run_answer(os_run *self, os_status status, os_str message);
size_t os_run_result_count(const os_run *self);
// Borrowed; owned bytes, valid beyond the run when retained. NULL before the end.
op_value *os_run_result(const os_run *self, size_t index);
const os_trouble *os_run_trouble(const os_run *self);
void os_run_free(os_run *self); // accepts NULL; also ends a run that has not come to its end

// Whether an output of this call of a kernel could not be had, which ends the run.
bool os_run_starved(const op_run *ctx);

#endif
