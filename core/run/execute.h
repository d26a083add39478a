#ifndef OPSPEC_EXECUTE_H
#define OPSPEC_EXECUTE_H

#include "exec_plan.h"

// Execution state: one frame per active graph, on an explicit stack.

struct op_run {
  os_run *run;
  struct os_frame *frame;
  const os_exec *exec;
  const void *packed;
  void *scratch;
  const op_epilogue *epilogue;
  const os_fact *const *out_facts; // of the step's outputs; NULL entries = left out
  bool failed;
};

struct op_flow {
  os_run *run;
  struct os_frame *frame;
  const os_exec *exec;
  void *state;
  // Call that enter or after asked for.
  os_program *callee;
  op_value **arguments;
  size_t argument_count, argument_room;
  // Outputs of the body that ended last.
  op_value **results;
  size_t result_count, result_room;
  bool entered;
};

typedef struct os_frame {
  struct os_frame *parent; // frame below on the stack
  struct os_frame *next;   // in the plan's list of free frames
  os_plan *plan;
  op_value **values;
  char *block;
  op_value **headers; // values of the block, made once per frame
  uint32_t at;        // next exec
  op_flow flow;       // of the exec in progress, if it is a flow or a call
} os_frame;

struct os_run {
  os_session *session;
  os_arena arena;      // messages and results
  os_arena step_arena; // what one step needs; rewound between them
  os_frame *top;
  os_trouble trouble;
  op_value **results;
  size_t result_count;
  char *scratch, *scratch_aligned;
  size_t scratch_size;
  op_run kernel; // context of the kernel in progress
  bool waiting;  // it waits for the host
  bool answered;
  os_status answer;
  os_str answer_message;
  uint64_t number, random;
  const os_fact *const *out_facts; // of the step that was inferred last
  size_t fold_limit;               // while folding: largest output worth keeping, in bytes; 0 = no limit
  bool done;
};

// Pushes a frame for the program with these inputs (references are taken) and the parent's captured values.
os_status os_frame_push(os_run *run, os_program *program, op_value *const *inputs, size_t count,
                        const int32_t *results, uint32_t result_count);
// Releases what the frame holds and gives it back to its plan.
void os_frame_pop(os_run *run);
void os_frame_free(os_frame *frame);
// Runs one exec of the top frame.
os_status os_exec_step(os_run *run, os_frame *frame, const os_exec *exec);
os_status os_exec_resume(os_run *run); // after the host's answer
// Asks the row's plan function for shapes that only the run knows.
os_status os_exec_plan_now(os_run *run, os_frame *frame, os_exec *exec, const os_fact *const *out_facts);
// Infers, plans and computes a step outside of any plan: what was unknown before now is known.
os_status os_exec_compute(os_run *run, os_frame *frame, const os_exec *exec);
// Creates the step's state and asks its plan function, as far as the plan's facts allow.
os_status os_exec_prepare(os_plan *plan, os_exec *exec, os_trouble *trouble);
// Control flow.
os_status os_flow_begin(os_run *run, os_frame *frame, const os_exec *exec);
os_status os_flow_after(os_run *run, os_frame *frame);
void os_flow_end(os_frame *frame);
// Notes trouble in a step once; answers the status.
os_status os_run_trouble_at(os_run *run, const os_frame *frame, const os_exec *exec, os_status status,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
// Gives a value to a slot of the frame; releases what was there.
void os_frame_set(os_frame *frame, int32_t value, op_value *reference);
// A tensor for an output. NULL when memory ran out, or when it is larger than folding wants.
op_value *os_exec_tensor(os_run *run, op_elem elem, int32_t rank, const int64_t *dims);
void *os_run_scratch(os_run *run, size_t bytes); // NULL when memory ran out

#endif
