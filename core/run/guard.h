#ifndef OPSPEC_GUARD_H
#define OPSPEC_GUARD_H

#include "execute.h"

// What every kernel may rely on, whoever wrote the model: the number of inputs and outputs, that single inputs are there, that
// their types are allowed, and that one type parameter means one type. The checker says the same with more words; a run
// does not ask whether anybody checked.

enum { OS_GUARD_ABSENT = UINT32_MAX };

// types: per input of the node, 0 unknown, OS_GUARD_ABSENT. False with *message (in the arena) when the schema is broken.
bool os_guard_types(os_arena *arena, const os_types *types, const os_step *step, const op_type *inputs,
                    os_str *message);
// The same for the facts of a plan; OS_OK also where types are unknown yet.
os_status os_guard_plan(os_plan *plan, const os_step *step, os_trouble *trouble);
// The same for the values of a frame, where the plan did not know all types. `outputs`: for what a kernel has answered that
// chose the types itself; of inputs then only those that it has not taken, and lists of no elements are passed over.
os_status os_guard_values(os_run *run, const os_frame *frame, const os_exec *exec, bool outputs);

#endif
