// Pick: an awkward one. Words (variadic string tensors of rank 1), an optional limit first: the words that are no longer than
// the limit, one string tensor for each input, in a sequence; and how many there were of each, in a tensor whose length only
// the data says (inputs without a hit are left out).
#include <opspec/operator.h>

static os_status pick_infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_sequence_of(ctx, op_type_tensor(OP_STRING)));
  if (op_infer_has_output(ctx, 1)) {
    op_infer_set_elem(ctx, 1, OP_INT64);
    op_infer_set_rank(ctx, 1, 1);
  }
  return OS_OK;
}

static int64_t pick_fits(const op_tensor *words, int64_t limit, op_tensor *to) {
  int64_t count = 0;
  for (int64_t i = 0; i < words->count; i++) {
    os_str word = ((const os_str *)words->data)[i];
    if (limit >= 0 && (int64_t)word.len > limit) continue;
    if (to != NULL && op_string_set(to, count, word) != OS_OK) return -1;
    count++;
  }
  return count;
}

static os_status pick_compute(op_run *ctx) {
  const op_tensor *limit = op_run_input(ctx, 0);
  int64_t most = limit == NULL ? -1 : *(const int64_t *)limit->data, hits = 0;
  if (limit != NULL && most < 0) return op_run_fail(ctx, "the limit %lld is below 0", (long long)most);
  op_value *sequence = op_run_new_sequence(ctx, op_type_tensor(OP_STRING));
  if (sequence == NULL) return OS_OUT_OF_MEMORY;
  for (uint32_t i = 1; i < op_run_input_count(ctx); i++) {
    const op_tensor *words = op_run_input(ctx, i);
    int64_t count = pick_fits(words, most, NULL);
    op_value *kept = op_run_new_tensor(ctx, OP_STRING, 1, &count);
    if (kept == NULL || pick_fits(words, most, op_value_edit(kept)) < 0) {
      op_value_release(kept);
      op_value_release(sequence);
      return OS_OUT_OF_MEMORY;
    }
    OS_TRY(op_sequence_insert(sequence, op_sequence_count(sequence), kept));
    if (count > 0) hits++;
  }
  if (op_run_has_output(ctx, 1)) {
    op_tensor *counts = op_run_allocate(ctx, 1, OP_INT64, 1, &hits);
    int64_t at = 0;
    for (uint32_t i = 0; counts != NULL && i < op_sequence_count(sequence); i++) {
      int64_t count = op_value_tensor(op_sequence_at(sequence, i))->count;
      if (count > 0) ((int64_t *)counts->data)[at++] = count;
    }
  }
  op_run_set_output(ctx, 0, sequence);
  return OS_OK;
}

static const op_row pick_rows[] = {{
    .domain = "org.test",
    .op_type = "Pick",
    .since = 1,
    .traits = OP_DATA_SHAPE | OP_ANY_VALUE,
    .infer = pick_infer,
    .compute = pick_compute,
}};
OP_FAMILY(pick, pick_rows);
