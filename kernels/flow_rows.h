#ifndef OPSPEC_FLOW_ROWS_H
#define OPSPEC_FLOW_ROWS_H

// Scan outputs: equally shaped tensors that come one by one and become one tensor at the end.

#include <opspec/operator.h>

// All zero at first. The first row decides type and shape.
typedef struct flow_rows {
  op_elem elem;
  int32_t rank;
  int64_t dims[OP_MAX_RANK];
  size_t count, row_bytes, room; // room in bytes
  char *data;
  op_value **kept; // rows of strings, so that their bytes stay alive
  size_t kept_count, kept_room;
} flow_rows;

// Adds a row and releases it. Rows of zeros fill up what is missing before place `at`. `what` and `index` name the output in
// messages.
os_status flow_rows_add(op_flow *ctx, flow_rows *self, op_value *row, size_t at, const char *what,
                        size_t index);
// Adds rows of zeros until there are `count`; nothing without a first row.
os_status flow_rows_pad(op_flow *ctx, flow_rows *self, size_t count);
// All rows as one tensor: their number becomes axis `axis`, in reversed order if asked. With `outer` > 0 the rows are cut
// into [outer, rows / outer], both in front, and `axis` is 1. Without any row the shape is what inference said of output
// `output`, with 0 for the new axis and for unknown dims. NULL when memory ran out.
op_value *flow_rows_finish(op_flow *ctx, const flow_rows *self, uint32_t output, int32_t axis, bool reverse,
                           size_t outer);
void flow_rows_free(op_flow *ctx, flow_rows *self);

#endif
