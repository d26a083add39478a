#ifndef OPSPEC_CHAIN_H
#define OPSPEC_CHAIN_H

#include "execute.h"

// Runs the loops of a chain over tiles of `out`, whose shape is the broadcast of all operands.
os_status os_chain_run(os_run *run, os_frame *frame, const os_exec *exec, op_tensor *out);

#endif
