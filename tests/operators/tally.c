// Tally: how often each word is there, as a map; and, where asked for, the counts as a sparse tensor over a thousand places by
// the length of the word. `descending` gives the keys the wrong way round. A map as second input is added to it.
#include <opspec/operator.h>
#include <string.h>

static int tally_compare(os_str a, os_str b) {
  int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
  return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static os_status tally_infer(op_infer *ctx) {
  op_infer_set_type(ctx, 0, op_infer_map_of(ctx, OP_STRING, op_type_tensor(OP_INT64)));
  if (op_infer_has_output(ctx, 1)) op_infer_set_type(ctx, 1, op_infer_sparse_of(ctx, OP_INT64));
  return OS_OK;
}

static int64_t tally_before(const op_value *known, os_str word) {
  if (known == NULL) return 0;
  const op_tensor *keys = op_map_keys(known);
  for (int64_t i = 0; i < keys->count; i++)
    if (tally_compare(((const os_str *)keys->data)[i], word) == 0)
      return *(const int64_t *)op_value_tensor(op_map_at(known, (size_t)i))->data;
  return 0;
}

enum { TALLY_MOST = 100 };

// The words in order, each once, with their counts.
static int64_t tally_count(const op_tensor *words, const op_value *known, bool descending, os_str *out,
                           int64_t *counts) {
  int64_t count = 0;
  for (int64_t i = 0; i < words->count && count < TALLY_MOST; i++) {
    os_str word = ((const os_str *)words->data)[i];
    int64_t at = 0;
    while (at < count && (descending ? -tally_compare(out[at], word) : tally_compare(out[at], word)) < 0)
      at++;
    if (at < count && tally_compare(out[at], word) == 0) {
      counts[at]++;
      continue;
    }
    for (int64_t k = count++; k > at; k--) {
      out[k] = out[k - 1];
      counts[k] = counts[k - 1];
    }
    out[at] = word;
    counts[at] = 1 + tally_before(known, word);
  }
  return count;
}

static os_status tally_sparse(op_run *ctx, const os_str *words, const int64_t *counts, int64_t count) {
  int64_t kept = 0, last = -1;
  op_value *values = op_run_new_tensor(ctx, OP_INT64, 1, &count);
  op_value *indices = op_run_new_tensor(ctx, OP_INT64, 1, &count);
  if (values == NULL || indices == NULL) return OS_OUT_OF_MEMORY;
  for (int64_t i = 0; i < count; i++) {
    if ((int64_t)words[i].len <= last) continue;
    last = (int64_t)words[i].len;
    ((int64_t *)op_value_edit(values)->data)[kept] = counts[i];
    ((int64_t *)op_value_edit(indices)->data)[kept++] = last;
  }
  if (kept != count) {
    op_value_release(values);
    op_value_release(indices);
    return op_run_fail(ctx, "words must grow");
  }
  int64_t dense = 1000;
  op_run_set_output(ctx, 1, op_run_new_sparse(ctx, 1, &dense, values, indices));
  return OS_OK;
}

static os_status tally_compute(op_run *ctx) {
  os_str words[TALLY_MOST];
  int64_t counts[TALLY_MOST];
  int64_t count = tally_count(op_run_input(ctx, 0), op_run_input_value(ctx, 1),
                              op_attr_int(op_run_node(ctx), "descending", 0) != 0, words, counts);
  if (op_run_has_output(ctx, 1)) OS_TRY(tally_sparse(ctx, words, counts, count));
  op_value *keys = op_run_new_tensor(ctx, OP_STRING, 1, &count), *values[TALLY_MOST];
  if (keys == NULL) return OS_OUT_OF_MEMORY;
  for (int64_t i = 0; i < count; i++) {
    OS_TRY(op_string_set(op_value_edit(keys), i, words[i]));
    values[i] = op_run_new_tensor(ctx, OP_INT64, 0, NULL);
    if (values[i] == NULL) return OS_OUT_OF_MEMORY;
    *(int64_t *)op_value_edit(values[i])->data = counts[i];
  }
  op_value *map = op_run_new_map(ctx, op_type_tensor(OP_INT64), keys, values);
  if (map == NULL) return OS_OPERATOR_FAILED;
  op_run_set_output(ctx, 0, map);
  return OS_OK;
}

static const op_row tally_rows[] = {{
    .domain = "org.test",
    .op_type = "Tally",
    .since = 1,
    .traits = OP_DATA_SHAPE | OP_ANY_VALUE,
    .infer = tally_infer,
    .compute = tally_compute,
}};
OP_FAMILY(tally, tally_rows);
