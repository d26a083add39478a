#ifndef OPSPEC_EXEC_PLAN_H
#define OPSPEC_EXEC_PLAN_H

#include "loops.h"
#include "program.h"

// What a program does for one set of input types and shapes: which steps run, in which fused groups, where values lie.

enum { OS_CHAIN_MOST = 12 };

typedef struct os_chain_item {
  math_loop_id loop;
  int type; // element type of its operands
  bool unary;
  bool operand_first;    // the external operand is the loop's first one
  int32_t operand;       // value number of the external operand of a two-operand loop
  const op_value *fixed; // the operand itself where it is no value of the graph (absorbed affine)
  math_params params;
  const os_step *step; // for messages
} os_chain_item;

// Element-wise loops run one after the other over tiles that stay in cache. The first item's first operand is `head`.
typedef struct os_chain {
  int32_t head;
  uint32_t count;
  os_chain_item items[OS_CHAIN_MOST];
} os_chain;

typedef enum os_exec_kind {
  OS_EXEC_COMPUTE,
  OS_EXEC_CHAIN,
  OS_EXEC_VIEW, // output 0 is input 0's bytes with another shape
  OS_EXEC_FLOW,
  OS_EXEC_CALL,
} os_exec_kind;

typedef struct os_exec {
  os_step *step;
  os_exec_kind kind;
  bool known;                 // all tensor outputs have known shapes: no inference at run time
  bool planned;               // row->plan has been asked with these shapes
  int32_t output;             // value that output 0 goes to: the last absorbed step's
  os_chain *chain;            // OS_EXEC_CHAIN
  op_epilogue *epilogue;      // OS_EXEC_COMPUTE, NULL = none
  int32_t *epilogue_operands; // value number per item, OS_ABSENT when `operand` is fixed
  void *packed;
  int32_t packed_input; // constant that `packed` replaces, OS_ABSENT = none
  size_t scratch;
  int8_t in_place[4]; // per output: input whose bytes it may take, -1 = none
  int32_t *release;   // values that nobody needs after this step
  uint32_t release_count;
} os_exec;

typedef struct os_plan {
  struct os_plan *next;
  os_program *program;
  os_arena arena;
  uint64_t key; // hash of signature
  os_str signature;
  os_fact *facts; // per value
  os_exec *execs;
  uint32_t exec_count;
  op_value **initial; // per value: constants and values in the block; NULL = made at run time
  size_t *offsets;    // per value, SIZE_MAX = not in the block
  int32_t *last_use;  // per value: exec that reads or makes it last, -1 = none
  size_t block_size, scratch;
  int32_t *results; // values that the plan was made to give
  uint32_t result_count;
  struct os_frame *free_frames;
  uint32_t frames_in_use;
  struct {
    op_value **items;
    size_t count, room;
  } owned; // constants that belong to the plan
} os_plan;

// The plan for these values of inputs and captured values (NULL = absent) that gives `results`, cached or new.
os_status os_plan_get(os_program *program, op_value *const *values, const int32_t *results,
                      uint32_t result_count, os_trouble *trouble, os_plan **out);
void os_plan_free(os_plan *self);
// Whether the plan was made to give this value.
bool os_plan_is_result(const os_plan *self, int32_t value);
// Groups element-wise steps into chains and epilogues (fuse.c): fills execs from the steps that `needed` names.
os_status os_plan_fuse(os_plan *self, const bool *needed);
// Places values in the block (block.c) after execs stand.
os_status os_plan_place(os_plan *self);
// Which loop a step is for the facts of its inputs; loop.id 0 when none.
void os_plan_loop(const os_plan *self, const os_step *step, op_loop *loop);
// A chain of that loop alone.
os_chain os_chain_of(const os_step *step, const op_loop *loop, op_elem elem);
// Facts of an existing value.
os_fact os_fact_of_value(const op_value *value);
bool os_fact_known(const os_fact *fact); // a tensor of known type and shape

#endif
