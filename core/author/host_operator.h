#ifndef OPSPEC_HOST_OPERATOR_H
#define OPSPEC_HOST_OPERATOR_H

#include "signature.h"

#include <opspec/opspec.h>

// An operator whose kernel lives in the host: a row that forwards to opspec_host.
typedef struct os_host_operator {
  op_row row;
  const op_schema *schema;
  const opspec_host *host;
  uint32_t kernel, flags; // OPSPEC_KERNEL...
} os_host_operator;

// Fills `self`, which must not move afterwards; strings of the schema must be NUL-free. Names are copied into `names`,
// room for their lengths + 2 bytes. Without a kernel only types are inferred.
void os_host_operator_init(os_host_operator *self, const op_schema *schema, const opspec_host *host,
                           uint32_t kernel, uint32_t flags, char *names);

// Gives each output the type that its type parameter has at the inputs, or the only one that it allows.
void os_infer_by_signature(op_infer *ctx, const op_schema *schema);

#endif
