// If and Loop.

#include "flow_rows.h"
#include "kit.h"

// A body's value to one of these; more than this many carried values or outputs are refused.
enum { FLOW_MOST = 1024 };

// ---- If ---------------------------------------------------------------------------------------------------

static os_status if__branch(op_infer *ctx, const char *name, const op_fact *const **facts) {
  const op_graph *branch = op_attr_graph(op_infer_node(ctx), name);
  size_t count = 0;
  *facts = NULL;
  if (!branch) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s is missing", name);
  if (op_graph_input_count(branch) != 0) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s has %zu inputs; a branch has none", name,
                         op_graph_input_count(branch));
  }
  if (op_graph_output_count(branch) != op_infer_output_count(ctx)) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "%s has %zu outputs, the node has %u", name,
                         op_graph_output_count(branch), (unsigned)op_infer_output_count(ctx));
  }
  return op_infer_body(ctx, branch, NULL, 0, facts, &count);
}

// What both branches have in common, whichever is taken: the shape [2] and the shape [3] give one unknown dim.
static os_status if__infer(op_infer *ctx) {
  const op_fact *const *then_facts, *const *else_facts, *both;
  int32_t rank = op_infer_rank(ctx, 0);
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  for (int32_t i = 0; i < rank; i++) {
    if (dims[i] >= 0 && dims[i] != 1) {
      return op_infer_fail(ctx, OP_FAULT_SHAPE, "cond has a dim of %lld; it must be one element",
                           (long long)dims[i]);
    }
  }
  size_t count;
  const op_dim *condition = op_infer_small(ctx, 0, &count);
  if (condition && count == 1 && op_dim_is_number(condition[0])) { // the other branch may be impossible here
    OS_TRY(if__branch(ctx, condition[0] != 0 ? "then_branch" : "else_branch", &then_facts));
    for (uint32_t i = 0; then_facts && i < op_infer_output_count(ctx); i++)
      op_infer_set_fact(ctx, i, then_facts[i]);
    return OS_OK;
  }
  OS_TRY(if__branch(ctx, "then_branch", &then_facts));
  OS_TRY(if__branch(ctx, "else_branch", &else_facts));
  for (uint32_t i = 0; then_facts && else_facts && i < op_infer_output_count(ctx); i++) {
    if (!then_facts[i] || !else_facts[i]) continue;
    OS_TRY(op_infer_union(ctx, then_facts[i], else_facts[i], &both));
    op_infer_set_fact(ctx, i, both);
  }
  return OS_OK;
}

static os_status if__enter(op_flow *ctx) {
  const op_value *condition = op_flow_input(ctx, 0);
  const op_tensor *tensor = condition ? op_value_tensor(condition) : NULL;
  if (!tensor || tensor->elem != OP_BOOL || tensor->count != 1)
    return op_flow_fail(ctx, "cond must be one bool");
  bool taken = *(const uint8_t *)tensor->data != 0;
  const op_graph *branch = op_attr_graph(op_flow_node(ctx), taken ? "then_branch" : "else_branch");
  return branch ? op_flow_call(ctx, branch, NULL, 0) : op_flow_fail(ctx, "a branch is missing");
}

static os_status if__after(op_flow *ctx) {
  for (uint32_t i = 0; i < op_flow_output_count(ctx); i++) {
    op_value *value = op_flow_take_result(ctx, i);
    if (value) op_flow_set_output(ctx, i, value);
  }
  return OS_OK;
}

// ---- Loop: inference --------------------------------------------------------------------------------------

// A fact that holds in every iteration: no values, and no shape when it may change.
static const op_fact *loop__carried(op_infer *ctx, const op_fact *fact, bool shaped) {
  if (!fact) return op_infer_make(ctx, 0, -1, NULL);
  return op_infer_make(ctx, op_fact_type(fact), shaped ? op_fact_rank(fact) : -1, op_fact_dims(fact));
}

static bool loop__same_shape(const op_fact *a, const op_fact *b) {
  if (op_fact_rank(a) != op_fact_rank(b)) return false;
  for (int32_t i = 0; i < op_fact_rank(a); i++) {
    if (op_fact_dims(a)[i] != op_fact_dims(b)[i]) return false;
  }
  return true;
}

// Infers the body with carried values of fixed or unknown shape. *stable: every carried value left as it came.
static os_status loop__pass(op_infer *ctx, const op_graph *body, uint32_t carried, bool shaped,
                            const op_fact *const **outs, bool *stable) {
  const op_fact *in[FLOW_MOST + 2];
  size_t count = 0;
  in[0] = op_infer_make(ctx, op_type_tensor(OP_INT64), 0, NULL);
  in[1] = op_infer_make(ctx, op_type_tensor(OP_BOOL), 0, NULL);
  for (uint32_t i = 0; i < carried; i++) in[2 + i] = loop__carried(ctx, op_infer_input(ctx, 2 + i), shaped);
  for (uint32_t i = 0; i < carried + 2; i++) OS_TRY_ALLOC(in[i]);
  OS_TRY(op_infer_body(ctx, body, in, carried + 2, outs, &count));
  *stable = true;
  for (uint32_t i = 0; *outs && i < carried; i++) {
    const op_fact *out = (*outs)[1 + i];
    if (!out || !loop__same_shape(in[2 + i], out)) *stable = false;
  }
  return OS_OK;
}

static os_status loop__check_body(op_infer *ctx, const op_graph *body, uint32_t carried) {
  if (!body) return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "body is missing");
  if (op_graph_input_count(body) != carried + 2) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "body has %zu inputs, expected 2 and %u carried values",
                         op_graph_input_count(body), (unsigned)carried);
  }
  size_t outputs = op_infer_output_count(ctx);
  if (op_graph_output_count(body) < carried + 1 || op_graph_output_count(body) - 1 < outputs) {
    return op_infer_fail(
        ctx, OP_FAULT_ATTRIBUTE,
        "body has %zu outputs, expected the condition, %u carried values and %zu scan outputs",
        op_graph_output_count(body), (unsigned)carried, outputs > carried ? outputs - carried : 0);
  }
  return OS_OK;
}

// The number of iterations is sure only when nothing but the trip count ends the loop.
static op_dim loop__trips(op_infer *ctx) {
  op_dim trips = op_infer_has_input(ctx, 1) ? OP_DIM_UNKNOWN : kit_infer_number(ctx, 0);
  return op_dim_is_number(trips) && trips < 0 ? 0 : trips;
}

static os_status loop__set_scan(op_infer *ctx, uint32_t output, const op_fact *row, int32_t axis,
                                op_dim length) {
  op_infer_set_type(ctx, output, op_fact_type(row));
  int32_t rank = op_fact_rank(row);
  if (rank < 0) return OS_OK;
  op_dim *out = op_infer_set_rank(ctx, output, rank + 1);
  for (int32_t i = 0; out && i <= rank; i++)
    out[i] = i == axis ? length : op_fact_dims(row)[i > axis ? i - 1 : i];
  return OS_OK;
}

static os_status loop__infer(op_infer *ctx) {
  const op_graph *body = op_attr_graph(op_infer_node(ctx), "body");
  uint32_t inputs = op_infer_input_count(ctx), carried = inputs > 2 ? inputs - 2 : 0;
  OS_TRY(loop__check_body(ctx, body, carried));
  if (carried > FLOW_MOST)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%u carried values are too many", (unsigned)carried);
  const op_fact *const *outs;
  bool shaped = true, stable;
  OS_TRY(loop__pass(ctx, body, carried, true, &outs, &stable));
  if (!stable) {
    // A shape changes on the way; then all may, sooner or later.
    shaped = false;
    OS_TRY(loop__pass(ctx, body, carried, false, &outs, &stable));
  }
  for (uint32_t i = 0; outs && i < op_infer_output_count(ctx); i++) {
    const op_fact *out = outs[1 + i], *both;
    if (!out) continue;
    if (i >= carried) {
      OS_TRY(loop__set_scan(ctx, i, out, 0, loop__trips(ctx)));
      continue;
    }
    // The initial value comes out when there is no iteration.
    const op_fact *initial = loop__carried(ctx, op_infer_input(ctx, 2 + i), true);
    OS_TRY_ALLOC(initial);
    OS_TRY(op_infer_union(ctx, initial, out, &both));
    both = loop__carried(ctx, both, shaped || op_fact_rank(both) >= 0);
    OS_TRY_ALLOC(both);
    op_infer_set_fact(ctx, i, both);
  }
  return OS_OK;
}

// ---- Loop: execution --------------------------------------------------------------------------------------

typedef struct loop_state {
  int64_t iteration, trips;
  bool conditional; // the body's condition counts
  uint32_t carried, scans;
  op_value **arguments; // room for the body's inputs
  flow_rows *rows;      // of the scan outputs
} loop_state;

static op_value *loop__scalar(op_flow *ctx, op_elem elem, int64_t number) {
  op_value *value = op_flow_new_tensor(ctx, elem, 0, NULL);
  if (!value) return NULL;
  if (elem == OP_BOOL)
    *(uint8_t *)op_value_edit(value)->data = number != 0;
  else
    *(int64_t *)op_value_edit(value)->data = number;
  return value;
}

// One number of an input; false when it is absent.
static bool loop__input_number(op_flow *ctx, uint32_t input, int64_t *out) {
  const op_value *value = op_flow_input(ctx, input);
  const op_tensor *tensor = value ? op_value_tensor(value) : NULL;
  if (!tensor || tensor->count < 1) return false;
  *out = kit_int(tensor, 0);
  return true;
}

static void loop__drop(op_value **values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) op_value_release(values[i]);
}

// Runs the body with the carried values that arguments[2...] hold.
static os_status loop__iterate(op_flow *ctx, loop_state *state) {
  op_value **arguments = state->arguments;
  arguments[0] = loop__scalar(ctx, OP_INT64, state->iteration);
  arguments[1] = loop__scalar(ctx, OP_BOOL, 1);
  if (!arguments[0] || !arguments[1]) {
    loop__drop(arguments, state->carried + 2);
    return OS_OUT_OF_MEMORY;
  }
  return op_flow_call(ctx, op_attr_graph(op_flow_node(ctx), "body"), arguments, state->carried + 2);
}

static os_status loop__finish(op_flow *ctx, loop_state *state) {
  for (uint32_t i = 0; i < state->carried; i++) op_flow_set_output(ctx, i, state->arguments[2 + i]);
  for (uint32_t s = 0; s < state->scans; s++) {
    op_value *value = flow_rows_finish(ctx, &state->rows[s], state->carried + s, 0, false, 0);
    if (!value) return OS_OUT_OF_MEMORY;
    op_flow_set_output(ctx, state->carried + s, value);
    flow_rows_free(ctx, &state->rows[s]);
  }
  return OS_OK;
}

static os_status loop__enter(op_flow *ctx) {
  loop_state *state = op_flow_state(ctx);
  const op_graph *body = op_attr_graph(op_flow_node(ctx), "body");
  size_t inputs = body ? op_graph_input_count(body) : 0;
  state->carried = inputs > 2 ? (uint32_t)inputs - 2 : 0;
  size_t body_outputs = body ? op_graph_output_count(body) : 0;
  if (body_outputs < state->carried + 1) return op_flow_fail(ctx, "body has too few outputs");
  state->scans = (uint32_t)body_outputs - 1 - state->carried;
  state->arguments = op_flow_realloc(ctx, NULL, (state->carried + 2) * sizeof *state->arguments);
  state->rows = op_flow_realloc(ctx, NULL, (state->scans + 1) * sizeof *state->rows);
  if (state->rows) memset(state->rows, 0, (state->scans + 1) * sizeof *state->rows);
  OS_TRY_ALLOC(state->arguments);
  OS_TRY_ALLOC(state->rows);
  int64_t condition = 1;
  state->trips = INT64_MAX;
  bool counted = loop__input_number(ctx, 0, &state->trips);
  state->conditional = loop__input_number(ctx, 1, &condition) || !counted;
  for (uint32_t i = 0; i < state->carried; i++) {
    op_value *value = op_flow_input(ctx, 2 + i);
    state->arguments[2 + i] = value ? op_value_retain(value) : NULL;
  }
  return condition && state->trips > 0 ? loop__iterate(ctx, state) : loop__finish(ctx, state);
}

static os_status loop__after(op_flow *ctx) {
  loop_state *state = op_flow_state(ctx);
  op_value *condition = op_flow_take_result(ctx, 0);
  const op_tensor *tensor = condition ? op_value_tensor(condition) : NULL;
  bool valid = tensor && tensor->elem == OP_BOOL && tensor->count == 1;
  bool go_on = valid && (*(const uint8_t *)tensor->data || !state->conditional);
  op_value_release(condition);
  if (!valid) return op_flow_fail(ctx, "the body's condition must be one bool");
  for (uint32_t s = 0; s < state->scans; s++) {
    OS_TRY(flow_rows_add(ctx, &state->rows[s], op_flow_take_result(ctx, 1 + state->carried + s), 0,
                         "scan output", s));
  }
  for (uint32_t i = 0; i < state->carried; i++) state->arguments[2 + i] = op_flow_take_result(ctx, 1 + i);
  state->iteration++;
  return go_on && state->iteration < state->trips ? loop__iterate(ctx, state) : loop__finish(ctx, state);
}

static void loop__leave(op_flow *ctx) {
  loop_state *state = op_flow_state(ctx);
  for (uint32_t s = 0; state->rows && s < state->scans; s++) flow_rows_free(ctx, &state->rows[s]);
  if (state->rows) op_flow_realloc(ctx, state->rows, 0);
  if (state->arguments) op_flow_realloc(ctx, state->arguments, 0);
}

// ---- Rows -------------------------------------------------------------------------------------------------

static const op_row rows[] = {
    {.op_type = "If",
     .since = 1,
     .traits = OP_SUBGRAPHS | OP_ANY_VALUE,
     .infer = if__infer,
     .enter = if__enter,
     .after = if__after,
     .flow_size = sizeof(int)},
    {.op_type = "Loop",
     .since = 1,
     .traits = OP_SUBGRAPHS | OP_ANY_VALUE,
     .infer = loop__infer,
     .enter = loop__enter,
     .after = loop__after,
     .leave = loop__leave,
     .flow_size = sizeof(loop_state)},
};

OP_FAMILY(control, rows);
