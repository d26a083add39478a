#ifndef OPSPEC_PROGRAM_H
#define OPSPEC_PROGRAM_H

#include "inference.h"
#include "session.h"
#include "text.h"
#include "value.h"

// A graph lowered to steps, once per session. What depends on shapes is a plan (plan.h).

typedef struct os_program os_program;
struct os_plan;

typedef enum os_step_kind {
  OS_STEP_COMPUTE,
  OS_STEP_FLOW, // enter and after: the row runs bodies
  OS_STEP_CALL, // a function: its graph runs in place of the node
} os_step_kind;

typedef struct os_step {
  const os_graph_node *source;
  const op_row *row; // NULL for OS_STEP_CALL
  os_step_kind kind;
  bool created;
  bool folded; // its outputs are constants of the program
  void *state;
  os_program **bodies; // programs of the node's bodies, or of the function
  uint32_t body_count;
} os_step;

struct os_program {
  os_session *session;
  os_program
      *parent; // of a body: the program whose values it captures; NULL for the main graph and functions
  const op_graph *graph;
  const bool *overridden; // per value: an initializer that a run replaces with an input; NULL = none
  os_step *steps;         // in graph->order
  uint32_t step_count;
  op_value **constants; // per value: initializers in use and folded outputs; NULL = not constant
  uint32_t *use_counts; // per value: steps that read it, and 1 more if it is a graph output
  int32_t *captured;    // values with origin OS_FROM_OUTER
  uint32_t captured_count;
  bool *
      escapes; // per value: may be kept beyond its step (body, sequence, output), so it never lies in the block
  op_value **arguments;  // room for one set of inputs, all NULL while unused
  struct os_plan *plans; // newest first
  uint32_t plan_count;
};

struct os_session {
  os_memory *memory;
  os_arena *arena; // = &own_arena
  os_arena own_arena;
  os_registry *registry;
  os_model *model;
  struct {
    os_program **items;
    size_t count, room;
  } programs; // all, parents before their bodies
  struct {
    os_program **items;
    size_t count, room;
  } mains; // of the main graph: [0] with all initializers in force, then one for each set that runs have replaced
  os_fact *input_facts; // declared, per input of the main graph
  uint64_t seed, runs;
  const os_stop *stop;    // while it is made; NULL afterwards
  os_inferring inferring; // for single steps at run time
  os_text signature;      // room for plan signatures
};

// A program of the main graph with these initializers replaced (per value; NULL = none), found or made.
os_status os_session_main(os_session *session, const bool *overridden, os_program **out);
// Lowers the graph and everything below it.
os_status os_program_new(os_session *session, const op_graph *graph, const bool *overridden,
                         os_program **out);
// Destroys node states, constants and plans; the structs go with the session's arena.
void os_program_clear(os_program *self);
// Computes the steps whose inputs are constant (fold.c). A step that fails is left to fail when it runs.
os_status os_program_fold(os_program *self);
// Whether the value is the same in every run.
bool os_program_is_constant(const os_program *self, int32_t value);
// Element types of the step's inputs into a trouble-free create; once per step.
os_status os_step_create(os_program *program, os_step *step, const op_elem *elems, os_trouble *trouble);
// The value of an initializer or folded output, made when first asked for. Borrowed.
os_status os_program_constant(os_program *self, int32_t value, op_value **out);
// Lets go of an initializer of which a packed copy is enough.
void os_program_drop_constant(os_program *self, int32_t value);
// "graph.node[3]" of a step, in the arena.
os_str os_step_path(os_arena *arena, const os_program *program, const os_step *step);
// The text with the operator's name, and the node's where it has one, before it.
os_str os_step_message(os_arena *arena, const os_step *step, os_str text);
// The program of a body of this step; NULL when the graph is none of its bodies.
os_program *os_step_body(const os_step *step, const op_graph *body);

#endif
