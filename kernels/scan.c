// Scan (with its batched version 8) and SequenceMap.

#include "flow_rows.h"
#include "kit.h"

enum { SCAN_MOST = 1024 }; // values of a body; more are refused

// Entry i of a list attribute, 0 when the list is absent or shorter.
static int64_t scan__entry(const op_node *node, const char *name, uint32_t i) {
  size_t count;
  const int64_t *list = op_attr_ints(node, name, &count);
  return i < count ? list[i] : 0;
}

// How a node's inputs and outputs divide. Version 8 has sequence_lens first, and a batch axis in front of everything.
typedef struct scan_layout {
  bool batched;
  uint32_t first, states, scans, outs; // inputs before the states; initial states; scan inputs; scan outputs
} scan_layout;

static bool scan__layout(const op_node *node, const op_graph *body, scan_layout *out) {
  int64_t scans = op_attr_int(node, "num_scan_inputs", 0);
  size_t inputs = body ? op_graph_input_count(body) : 0, outputs = body ? op_graph_output_count(body) : 0;
  *out = (scan_layout){.batched = op_node_since(node) < 9};
  if (scans < 1 || (uint64_t)scans > inputs || inputs > SCAN_MOST || outputs < inputs - (size_t)scans)
    return false;
  out->first = out->batched ? 1 : 0;
  out->scans = (uint32_t)scans;
  out->states = (uint32_t)inputs - out->scans;
  out->outs = (uint32_t)outputs - out->states;
  return true;
}

static int64_t scan__axis(const op_node *node, const scan_layout *layout, uint32_t scan) {
  return layout->batched ? 1 : scan__entry(node, "scan_input_axes", scan);
}

static bool scan__backward(const op_node *node, const scan_layout *layout, uint32_t scan) {
  return scan__entry(node, layout->batched ? "directions" : "scan_input_directions", scan) != 0;
}

// ---- Scan: inference --------------------------------------------------------------------------------------

// What the body sees of an input: without batch axis and, of a scan input, without the scanned one.
static os_status scan__body_input(op_infer *ctx, const scan_layout *layout, uint32_t i, op_dim *length,
                                  op_dim *batch, const op_fact **out) {
  uint32_t input = layout->first + i;
  int32_t rank, axis = -1, kept = 0;
  const op_dim *dims = op_infer_dims(ctx, input, &rank);
  op_dim inner[OP_MAX_RANK];
  bool scanned = i >= layout->states;
  if (rank >= 0 && layout->batched) {
    if (rank < 1) return op_infer_fail(ctx, OP_FAULT_SHAPE, "input %u has no batch axis", (unsigned)input);
    OS_TRY(op_infer_merge_dim(ctx, *batch, dims[0], "the batch size", batch));
  }
  if (rank >= 0 && scanned) {
    int64_t written = scan__axis(op_infer_node(ctx), layout, i - layout->states);
    OS_TRY(op_infer_axis(ctx, written, rank, "scan_input_axes", &axis));
    OS_TRY(op_infer_merge_dim(ctx, *length, dims[axis], "the number of iterations", length));
  }
  for (int32_t k = layout->batched ? 1 : 0; k < rank; k++) {
    if (k != axis) inner[kept++] = dims[k];
  }
  *out = op_infer_make(ctx, op_infer_type(ctx, input), rank < 0 ? -1 : kept, inner);
  return *out ? OS_OK : OS_OUT_OF_MEMORY;
}

// An output of the node from the body's: axes are put back.
static os_status scan__set_output(op_infer *ctx, const scan_layout *layout, uint32_t i, const op_fact *row,
                                  op_dim length, op_dim batch) {
  op_infer_set_type(ctx, i, op_fact_type(row));
  int32_t rank = op_fact_rank(row), lead = layout->batched ? 1 : 0, axis = -1;
  bool scanned = i >= layout->states;
  if (rank < 0) return OS_OK;
  if (scanned && !layout->batched) {
    int64_t written = scan__entry(op_infer_node(ctx), "scan_output_axes", i - layout->states);
    OS_TRY(op_infer_axis(ctx, written, rank + 1, "scan_output_axes", &axis));
  }
  op_dim out[OP_MAX_RANK + 2];
  int32_t out_rank = 0, from = 0;
  if (lead) out[out_rank++] = batch;
  if (scanned && lead) axis = 1;
  while (from < rank || out_rank == axis) {
    if (out_rank >= OP_MAX_RANK) return OS_LIMIT;
    bool here = out_rank == axis;
    out[out_rank] = here ? length : op_fact_dims(row)[from];
    out_rank++;
    if (!here) from++;
  }
  op_infer_set_shape(ctx, i, out_rank, out);
  return OS_OK;
}

static os_status scan__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  const op_graph *body = op_attr_graph(node, "body");
  scan_layout layout;
  if (!body) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "body is missing");
  if (!scan__layout(node, body, &layout)) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "num_scan_inputs is %lld, the body has %zu inputs and %zu outputs",
                         (long long)op_attr_int(node, "num_scan_inputs", 0), op_graph_input_count(body),
                         op_graph_output_count(body));
  }
  uint32_t wanted = layout.first + layout.states + layout.scans;
  if (op_infer_input_count(ctx) != wanted || op_infer_output_count(ctx) > layout.states + layout.outs) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "the node has %u inputs and %u outputs, its body asks for %u and %u",
                         (unsigned)op_infer_input_count(ctx), (unsigned)op_infer_output_count(ctx),
                         (unsigned)wanted, (unsigned)(layout.states + layout.outs));
  }
  op_dim length = OP_DIM_UNKNOWN, batch = OP_DIM_UNKNOWN;
  const op_fact *in[SCAN_MOST], *const *outs;
  size_t count = 0;
  for (uint32_t i = 0; i < layout.states + layout.scans; i++) {
    OS_TRY(scan__body_input(ctx, &layout, i, &length, &batch, &in[i]));
  }
  OS_TRY(op_infer_body(ctx, body, in, layout.states + layout.scans, &outs, &count));
  for (uint32_t i = 0; outs && i < op_infer_output_count(ctx); i++) {
    const op_fact *out = outs[i];
    if (!out) continue;
    if (i < layout.states) OS_TRY(op_infer_union(ctx, in[i], out, &out));
    OS_TRY(scan__set_output(ctx, &layout, i, out, length, batch));
  }
  return OS_OK;
}

// ---- Scan: execution --------------------------------------------------------------------------------------

typedef struct scan_state {
  scan_layout layout;
  size_t batches, batch;     // 1 and 0 without batch axis
  size_t length, iterations; // of the longest sequence, of this one
  size_t t;
  op_value **arguments; // room for the body's inputs
  flow_rows *rows;      // of final states (batched only), then of scan outputs
} scan_state;

static const op_tensor *scan__input(op_flow *ctx, uint32_t input) {
  const op_value *value = op_flow_input(ctx, input);
  return value ? op_value_tensor(value) : NULL;
}

// Index `at` of axis `axis`, of batch `batch` when batched: a new tensor without these axes.
static op_value *scan__slice(op_flow *ctx, const op_tensor *in, bool batched, size_t batch, int32_t axis,
                             size_t at) {
  int64_t dims[OP_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = batched ? 1 : 0; i < in->rank; i++) {
    if (i != axis) dims[rank++] = in->dims[i];
  }
  op_value *value = op_flow_new_tensor(ctx, in->elem, rank, dims);
  if (!value) return NULL;
  op_tensor *out = op_value_edit(value);
  if (out->count == 0) return value;
  size_t width = op_elem_size(in->elem), whole = kit_extent(in, batched ? 1 : 0, in->rank) * width;
  const char *from = (const char *)in->data + batch * whole;
  if (axis < 0) {
    memcpy(out->data, from, whole);
  } else {
    size_t outer = kit_extent(in, batched ? 1 : 0, axis), bytes = kit_extent(in, axis + 1, in->rank) * width;
    for (size_t o = 0; o < outer; o++) {
      memcpy((char *)out->data + o * bytes, from + (o * (size_t)in->dims[axis] + at) * bytes, bytes);
    }
  }
  if (kit_keep(out, in) == OS_OK) return value;
  op_value_release(value);
  return NULL;
}

static void scan__drop(op_value **values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    op_value_release(values[i]);
    values[i] = NULL;
  }
}

// Runs the body with the states in `arguments` and the next slices of the scan inputs.
static os_status scan__iterate(op_flow *ctx, scan_state *state) {
  const scan_layout *layout = &state->layout;
  const op_node *node = op_flow_node(ctx);
  uint32_t inputs = layout->states + layout->scans;
  for (uint32_t s = 0; s < layout->scans; s++) {
    const op_tensor *in = scan__input(ctx, layout->first + layout->states + s);
    int32_t axis = kit_axis(scan__axis(node, layout, s), in->rank);
    size_t at = scan__backward(node, layout, s) ? state->iterations - 1 - state->t : state->t;
    op_value *slice = scan__slice(ctx, in, layout->batched, state->batch, axis, at);
    if (!slice) {
      scan__drop(state->arguments, layout->states + s);
      return OS_OUT_OF_MEMORY;
    }
    state->arguments[layout->states + s] = slice;
  }
  return op_flow_call(ctx, op_attr_graph(node, "body"), state->arguments, inputs);
}

static os_status scan__finish(op_flow *ctx, scan_state *state) {
  const scan_layout *layout = &state->layout;
  const op_node *node = op_flow_node(ctx);
  for (uint32_t i = 0; layout->batched && i < layout->states; i++) {
    op_value *value = flow_rows_finish(ctx, &state->rows[i], i, 0, false, 0);
    OS_TRY_ALLOC(value);
    op_flow_set_output(ctx, i, value);
  }
  for (uint32_t s = 0; s < layout->outs; s++) {
    flow_rows *rows = &state->rows[layout->states + s];
    int64_t axis = 1;
    if (!layout->batched) {
      axis = scan__entry(node, "scan_output_axes", s);
      if (rows->count > 0) axis = kit_axis(axis, rows->rank + 1);
      if (axis < 0 || (rows->count > 0 && axis > rows->rank)) axis = 0;
    }
    OS_TRY(flow_rows_pad(ctx, rows, state->batches * state->length));
    bool reverse = !layout->batched && scan__entry(node, "scan_output_directions", s) != 0;
    size_t outer = layout->batched ? state->batches : 0;
    op_value *value = flow_rows_finish(ctx, rows, layout->states + s, (int32_t)axis, reverse, outer);
    OS_TRY_ALLOC(value);
    op_flow_set_output(ctx, layout->states + s, value);
    flow_rows_free(ctx, rows);
  }
  return OS_OK;
}

// Begins the sequences from state->batch on; ones without an iteration end at once.
static os_status scan__begin(op_flow *ctx, scan_state *state) {
  const scan_layout *layout = &state->layout;
  for (; state->batch < state->batches; state->batch++) {
    const op_tensor *lengths = layout->batched ? scan__input(ctx, 0) : NULL;
    int64_t iterations =
        lengths && lengths->count > 0 ? kit_int(lengths, (int64_t)state->batch) : (int64_t)state->length;
    if (iterations < 0 || (uint64_t)iterations > state->length) {
      return op_flow_fail(ctx, "sequence_lens[%zu] is %lld, the sequences have %zu elements", state->batch,
                          (long long)iterations, state->length);
    }
    state->iterations = (size_t)iterations;
    state->t = 0;
    for (uint32_t i = 0; i < layout->states; i++) {
      const op_tensor *initial = scan__input(ctx, layout->first + i);
      state->arguments[i] = layout->batched ? scan__slice(ctx, initial, true, state->batch, -1, 0)
                                            : op_value_retain(op_flow_input(ctx, layout->first + i));
      if (!state->arguments[i]) {
        scan__drop(state->arguments, i);
        return OS_OUT_OF_MEMORY;
      }
    }
    if (iterations > 0) return scan__iterate(ctx, state);
    for (uint32_t i = 0; i < layout->states; i++) {
      op_value *last = state->arguments[i];
      if (layout->batched)
        OS_TRY(flow_rows_add(ctx, &state->rows[i], last, 0, "state", i));
      else
        op_flow_set_output(ctx, i, last);
    }
  }
  return scan__finish(ctx, state);
}

// Common length of the scan inputs and number of batches; fails when they differ.
static os_status scan__measure(op_flow *ctx, scan_state *state) {
  const scan_layout *layout = &state->layout;
  int64_t length = -1, batches = -1;
  for (uint32_t i = 0; i < layout->states + layout->scans; i++) {
    const op_tensor *in = scan__input(ctx, layout->first + i);
    bool scanned = i >= layout->states;
    if (!in) return op_flow_fail(ctx, "input %u is no tensor", (unsigned)(layout->first + i));
    int64_t axis = scanned ? scan__axis(op_flow_node(ctx), layout, i - layout->states) : 0;
    if (axis < -in->rank || axis >= in->rank) {
      if (scanned || layout->batched) {
        return op_flow_fail(ctx, "input %u has rank %d, too few for axis %lld", (unsigned)(layout->first + i),
                            (int)in->rank, (long long)axis);
      }
      continue;
    }
    if (layout->batched) {
      if (batches >= 0 && batches != in->dims[0]) return op_flow_fail(ctx, "the batch sizes differ");
      batches = in->dims[0];
    }
    if (!scanned) continue;
    int64_t this_length = in->dims[kit_axis(axis, in->rank)];
    if (length >= 0 && this_length != length) {
      return op_flow_fail(ctx, "scan input %u has %lld elements, another has %lld",
                          (unsigned)(i - layout->states), (long long)this_length, (long long)length);
    }
    length = this_length;
  }
  const op_tensor *lengths = layout->batched ? scan__input(ctx, 0) : NULL;
  if (lengths && lengths->count > 0 && lengths->count != batches) {
    return op_flow_fail(ctx, "sequence_lens has %lld entries for a batch of %lld", (long long)lengths->count,
                        (long long)batches);
  }
  state->length = (size_t)length;
  state->batches = layout->batched ? (size_t)batches : 1;
  return OS_OK;
}

static os_status scan__enter(op_flow *ctx) {
  scan_state *state = op_flow_state(ctx);
  const op_node *node = op_flow_node(ctx);
  scan_layout *layout = &state->layout;
  if (!scan__layout(node, op_attr_graph(node, "body"), layout)) {
    *layout = (scan_layout){0};
    return op_flow_fail(ctx, "num_scan_inputs does not fit the body");
  }
  size_t arguments = layout->states + layout->scans, rows = layout->states + layout->outs;
  state->arguments = op_flow_realloc(ctx, NULL, arguments * sizeof *state->arguments);
  state->rows = op_flow_realloc(ctx, NULL, (rows + 1) * sizeof *state->rows);
  if (state->rows) memset(state->rows, 0, (rows + 1) * sizeof *state->rows);
  OS_TRY_ALLOC(state->arguments);
  OS_TRY_ALLOC(state->rows);
  OS_TRY(scan__measure(ctx, state));
  return scan__begin(ctx, state);
}

static os_status scan__after(op_flow *ctx) {
  scan_state *state = op_flow_state(ctx);
  const scan_layout *layout = &state->layout;
  size_t place = state->batch * state->length + state->t;
  for (uint32_t s = 0; s < layout->outs; s++) {
    op_value *row = op_flow_take_result(ctx, layout->states + s);
    OS_TRY(flow_rows_add(ctx, &state->rows[layout->states + s], row, place, "scan output", s));
  }
  for (uint32_t i = 0; i < layout->states; i++) state->arguments[i] = op_flow_take_result(ctx, i);
  if (++state->t < state->iterations) return scan__iterate(ctx, state);
  if (!layout->batched) {
    for (uint32_t i = 0; i < layout->states; i++) op_flow_set_output(ctx, i, state->arguments[i]);
    return scan__finish(ctx, state);
  }
  for (uint32_t i = 0; i < layout->states; i++) {
    os_status status = flow_rows_add(ctx, &state->rows[i], state->arguments[i], 0, "state", i);
    state->arguments[i] = NULL;
    if (status == OS_OK) continue;
    scan__drop(state->arguments, layout->states);
    return status;
  }
  state->batch++;
  return scan__begin(ctx, state);
}

static void scan__leave(op_flow *ctx) {
  scan_state *state = op_flow_state(ctx);
  for (uint32_t i = 0; state->rows && i < state->layout.states + state->layout.outs; i++) {
    flow_rows_free(ctx, &state->rows[i]);
  }
  if (state->rows) op_flow_realloc(ctx, state->rows, 0);
  if (state->arguments) op_flow_realloc(ctx, state->arguments, 0);
}

// ---- SequenceMap ------------------------------------------------------------------------------------------

static os_status map__infer(op_infer *ctx) {
  const op_graph *body = op_attr_graph(op_infer_node(ctx), "body");
  uint32_t inputs = op_infer_input_count(ctx);
  if (!body) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "body is missing");
  if (op_graph_input_count(body) != inputs || op_graph_output_count(body) != op_infer_output_count(ctx)) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                         "the node has %u inputs and %u outputs, its body %zu and %zu", (unsigned)inputs,
                         (unsigned)op_infer_output_count(ctx), op_graph_input_count(body),
                         op_graph_output_count(body));
  }
  if (inputs > SCAN_MOST)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%u inputs are too many", (unsigned)inputs);
  const op_fact *in[SCAN_MOST], *const *outs;
  size_t count = 0;
  for (uint32_t i = 0; i < inputs; i++) {
    const op_fact *fact = op_infer_input(ctx, i);
    op_type element = op_infer_element_of(ctx, op_infer_type(ctx, i));
    if (element == 0)
      in[i] = fact ? fact : op_infer_make(ctx, 0, -1, NULL);
    else
      in[i] = op_fact_element(fact) ? op_fact_element(fact) : op_infer_make(ctx, element, -1, NULL);
    OS_TRY_ALLOC(in[i]);
  }
  OS_TRY(op_infer_body(ctx, body, in, inputs, &outs, &count));
  for (uint32_t i = 0; outs && i < op_infer_output_count(ctx); i++) {
    if (!outs[i]) continue;
    op_infer_set_type(ctx, i, op_infer_sequence_of(ctx, op_fact_type(outs[i])));
    op_infer_set_element(ctx, i, outs[i]);
  }
  return OS_OK;
}

typedef struct map_state {
  size_t index, count;
  op_value **outputs; // sequences as they grow
  uint32_t output_count;
} map_state;

static os_status map__iterate(op_flow *ctx, map_state *state) {
  uint32_t inputs = op_flow_input_count(ctx);
  op_value **arguments = op_flow_realloc(ctx, NULL, (inputs + 1) * sizeof *arguments);
  OS_TRY_ALLOC(arguments);
  for (uint32_t i = 0; i < inputs; i++) {
    op_value *value = op_flow_input(ctx, i);
    if (value && op_value_kind(value) == OP_SEQUENCE) value = op_sequence_at(value, state->index);
    arguments[i] = value ? op_value_retain(value) : NULL;
  }
  os_status status = op_flow_call(ctx, op_attr_graph(op_flow_node(ctx), "body"), arguments, inputs);
  op_flow_realloc(ctx, arguments, 0);
  return status;
}

// Hands the sequences over; empty ones get the element type that inference found.
static os_status map__finish(op_flow *ctx, map_state *state) {
  for (uint32_t i = 0; i < state->output_count; i++) {
    if (!state->outputs[i]) {
      const op_fact *fact = op_flow_output(ctx, i), *element = fact ? op_fact_element(fact) : NULL;
      state->outputs[i] =
          op_flow_new_sequence(ctx, element ? op_fact_type(element) : op_type_tensor(OP_FLOAT));
      OS_TRY_ALLOC(state->outputs[i]);
    }
    op_flow_set_output(ctx, i, state->outputs[i]);
    state->outputs[i] = NULL;
  }
  return OS_OK;
}

static os_status map__enter(op_flow *ctx) {
  map_state *state = op_flow_state(ctx);
  const op_value *first = op_flow_input(ctx, 0);
  if (!first || op_value_kind(first) != OP_SEQUENCE) return op_flow_fail(ctx, "input 0 is no sequence");
  state->count = op_sequence_count(first);
  for (uint32_t i = 1; i < op_flow_input_count(ctx); i++) {
    const op_value *value = op_flow_input(ctx, i);
    if (value && op_value_kind(value) == OP_SEQUENCE && op_sequence_count(value) != state->count) {
      return op_flow_fail(ctx, "input %u has %zu elements, input 0 has %zu", (unsigned)i,
                          op_sequence_count(value), state->count);
    }
  }
  uint32_t outputs = op_flow_output_count(ctx);
  state->outputs = op_flow_realloc(ctx, NULL, (outputs + 1) * sizeof *state->outputs);
  OS_TRY_ALLOC(state->outputs);
  memset(state->outputs, 0, (outputs + 1) * sizeof *state->outputs);
  state->output_count = outputs;
  return state->count > 0 ? map__iterate(ctx, state) : map__finish(ctx, state);
}

static os_status map__after(op_flow *ctx) {
  map_state *state = op_flow_state(ctx);
  for (uint32_t i = 0; i < state->output_count; i++) {
    op_value *value = op_flow_take_result(ctx, i);
    if (!value) return op_flow_fail(ctx, "the body gave no output %u", (unsigned)i);
    if (!state->outputs[i]) state->outputs[i] = op_flow_new_sequence(ctx, op_value_type(value));
    if (!state->outputs[i]) {
      op_value_release(value);
      return OS_OUT_OF_MEMORY;
    }
    OS_TRY(op_sequence_insert(state->outputs[i], state->index, value));
  }
  return ++state->index < state->count ? map__iterate(ctx, state) : map__finish(ctx, state);
}

static void map__leave(op_flow *ctx) {
  map_state *state = op_flow_state(ctx);
  for (uint32_t i = 0; state->outputs && i < state->output_count; i++) op_value_release(state->outputs[i]);
  if (state->outputs) op_flow_realloc(ctx, state->outputs, 0);
}

// ---- Rows -------------------------------------------------------------------------------------------------

#define FLOW(name, version, family)       \
  {.op_type = name,                       \
   .since = version,                      \
   .traits = OP_SUBGRAPHS | OP_ANY_VALUE, \
   .infer = family##__infer,              \
   .enter = family##__enter,              \
   .after = family##__after,              \
   .leave = family##__leave,              \
   .flow_size = sizeof(family##_state)}

static const op_row rows[] = {
    FLOW("Scan", 8, scan), // 8: batched
    FLOW("SequenceMap", 17, map),
};

OP_FAMILY(scan, rows);
