#include "flow_rows.h"

#include "kit.h"

static bool flow_rows__grow(op_flow *ctx, void **block, size_t *room, size_t wanted) {
  if (wanted <= *room) return true;
  size_t bytes = *room > SIZE_MAX / 2 ? wanted : *room * 2;
  if (bytes < wanted) bytes = wanted;
  void *grown = op_flow_realloc(ctx, *block, bytes);
  if (!grown) return false;
  *block = grown;
  *room = bytes;
  return true;
}

static os_status flow_rows__append(op_flow *ctx, flow_rows *self, const void *bytes) {
  void *block = self->data;
  if (self->count == SIZE_MAX || (self->row_bytes > 0 && self->count + 1 > SIZE_MAX / self->row_bytes)) {
    return OS_OUT_OF_MEMORY;
  }
  if (!flow_rows__grow(ctx, &block, &self->room, (self->count + 1) * self->row_bytes))
    return OS_OUT_OF_MEMORY;
  self->data = block;
  size_t at = self->count++ * self->row_bytes;
  if (self->row_bytes > 0 && bytes)
    memcpy(self->data + at, bytes, self->row_bytes);
  else if (self->row_bytes > 0)
    memset(self->data + at, 0, self->row_bytes);
  return OS_OK;
}

static os_status flow_rows__keep(op_flow *ctx, flow_rows *self, op_value *row) {
  void *block = self->kept;
  if (!flow_rows__grow(ctx, &block, &self->kept_room, (self->kept_count + 1) * sizeof(op_value *))) {
    return OS_OUT_OF_MEMORY;
  }
  self->kept = block;
  self->kept[self->kept_count++] = op_value_retain(row);
  return OS_OK;
}

static os_status flow_rows__add(op_flow *ctx, flow_rows *self, op_value *row, size_t at, const char *what,
                                size_t index) {
  const op_tensor *tensor = row ? op_value_tensor(row) : NULL;
  if (!tensor) return op_flow_fail(ctx, "%s %zu is no tensor", what, index);
  if (self->count == 0) {
    self->elem = tensor->elem;
    self->rank = tensor->rank;
    for (int32_t i = 0; i < tensor->rank; i++) self->dims[i] = tensor->dims[i];
    self->row_bytes = (size_t)tensor->count * op_elem_size(tensor->elem);
  } else if (tensor->elem != self->elem || !kit_same_shape(tensor, self->rank, self->dims)) {
    return op_flow_fail(ctx, "%s %zu has another type or shape in iteration %zu than before", what, index,
                        self->count);
  }
  if (tensor->elem == OP_STRING) OS_TRY(flow_rows__keep(ctx, self, row));
  while (self->count < at) OS_TRY(flow_rows__append(ctx, self, NULL));
  return flow_rows__append(ctx, self, tensor->data);
}

os_status flow_rows_add(op_flow *ctx, flow_rows *self, op_value *row, size_t at, const char *what,
                        size_t index) {
  os_status status = flow_rows__add(ctx, self, row, at, what, index);
  op_value_release(row);
  return status;
}

os_status flow_rows_pad(op_flow *ctx, flow_rows *self, size_t count) {
  while (self->count > 0 && self->count < count) OS_TRY(flow_rows__append(ctx, self, NULL));
  return OS_OK;
}

// No iteration, no row: dims that inference left open are 0, like the new axis.
static op_value *flow_rows__empty(op_flow *ctx, uint32_t output, int32_t axis, size_t outer) {
  const op_fact *fact = op_flow_output(ctx, output);
  op_type type = fact ? op_fact_type(fact) : 0;
  int32_t rank = fact ? op_fact_rank(fact) : -1;
  int64_t dims[OP_MAX_RANK] = {0};
  if (rank < 1)
    rank = 1;
  else {
    for (int32_t i = 0; i < rank; i++) dims[i] = op_fact_dims(fact)[i] > 0 ? op_fact_dims(fact)[i] : 0;
    if (axis < rank) dims[axis] = 0;
    if (outer > 0) dims[0] = (int64_t)outer;
  }
  op_elem elem = type > 0 && type < OP_ELEM_COUNT ? (op_elem)type : OP_FLOAT;
  op_value *value = op_flow_new_tensor(ctx, elem, rank, dims);
  if (value) kit_zero(op_value_edit(value));
  return value;
}

op_value *flow_rows_finish(op_flow *ctx, const flow_rows *self, uint32_t output, int32_t axis, bool reverse,
                           size_t outer) {
  if (self->count == 0) return flow_rows__empty(ctx, output, axis, outer);
  int64_t dims[OP_MAX_RANK];
  int32_t rank = 0, lead = outer > 0 ? 1 : 0;
  if (self->rank + 1 + lead > OP_MAX_RANK) return NULL;
  if (outer > 0) dims[rank++] = (int64_t)outer;
  int64_t rows = (int64_t)(outer > 0 ? self->count / outer : self->count);
  for (int32_t i = 0; i <= self->rank; i++) {
    dims[rank++] = i == axis - lead ? rows : self->dims[i > axis - lead ? i - 1 : i];
  }
  op_value *value = op_flow_new_tensor(ctx, self->elem, rank, dims);
  if (!value) return NULL;
  op_tensor *out = op_value_edit(value);
  size_t before = 1, piece = self->row_bytes;
  for (int32_t i = 0; outer == 0 && i < axis; i++) before *= (size_t)self->dims[i];
  piece = before > 0 ? piece / before : 0;
  for (size_t row = 0; piece > 0 && row < self->count; row++) {
    size_t place = reverse ? self->count - 1 - row : row;
    for (size_t b = 0; b < before; b++) {
      memcpy((char *)out->data + (b * self->count + place) * piece,
             self->data + row * self->row_bytes + b * piece, piece);
    }
  }
  for (size_t i = 0; i < self->kept_count; i++) {
    if (op_strings_share(out, op_value_tensor(self->kept[i])) == OS_OK) continue;
    op_value_release(value);
    return NULL;
  }
  return value;
}

void flow_rows_free(op_flow *ctx, flow_rows *self) {
  for (size_t i = 0; i < self->kept_count; i++) op_value_release(self->kept[i]);
  if (self->kept) op_flow_realloc(ctx, self->kept, 0);
  if (self->data) op_flow_realloc(ctx, self->data, 0);
  *self = (flow_rows){0};
}
