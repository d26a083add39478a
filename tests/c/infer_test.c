#include "check.h"
#include "inference.h"
#include "model_build.h"
#include "model_rules.h"
#include "op_rules.h"

#include <stdlib.h>

// Inference over models, with a few small rows of our own: what each operator infers is tested with its kernel.

static os_memory memory;
static os_arena scratch;

static os_status copy_infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  return OS_OK;
}

static os_status add_infer(op_infer *ctx) {
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  OS_TRY(op_infer_broadcast(ctx, 0, 1, dims, &rank));
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  op_infer_set_shape(ctx, 0, rank, dims);
  return OS_OK;
}

static os_status shape_infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_INT64);
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  op_dim *out = op_infer_set_rank(ctx, 0, 1);
  if (out == NULL || dims == NULL) return OS_OK;
  out[0] = rank;
  op_infer_set_small(ctx, 0, dims, (size_t)rank, false);
  return OS_OK;
}

static os_status expand_infer(op_infer *ctx) { // here simply: the shape that input 1 says
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  size_t count;
  const op_dim *dims = op_infer_small(ctx, 1, &count);
  if (dims != NULL) op_infer_set_shape(ctx, 0, (int32_t)count, dims);
  return OS_OK;
}

static os_status if_infer(op_infer *ctx) {
  static const char *const branches[] = {"then_branch", "else_branch"};
  const op_fact *const *facts[2];
  size_t count;
  for (int i = 0; i < 2; i++)
    OS_TRY(op_infer_body(ctx, op_attr_graph(op_infer_node(ctx), branches[i]), NULL, 0, &facts[i], &count));
  const op_fact *both;
  OS_TRY(op_infer_union(ctx, facts[0][0], facts[1][0], &both));
  op_infer_set_fact(ctx, 0, both);
  return OS_OK;
}

// A body with as many inputs as the node, run once.
static os_status loop_infer(op_infer *ctx) {
  const op_fact *inputs[8] = {NULL};
  const op_fact *const *outputs;
  size_t count;
  const op_graph *body = op_attr_graph(op_infer_node(ctx), "body");
  for (uint32_t i = 0; i < op_infer_input_count(ctx) && i < 8; i++) inputs[i] = op_infer_input(ctx, i);
  OS_TRY(op_infer_body(ctx, body, inputs, op_infer_input_count(ctx), &outputs, &count));
  for (uint32_t i = 1; i < count; i++) op_infer_set_fact(ctx, i - 1, outputs[i]);
  return OS_OK;
}

// A body that is looked at again and again until nothing changes.
static os_status scan_infer(op_infer *ctx) {
  const op_fact *input = op_infer_input(ctx, 0), *const * outputs;
  size_t count;
  for (int i = 0; i < 4; i++)
    OS_TRY(op_infer_body(ctx, op_attr_graph(op_infer_node(ctx), "body"), &input, 1, &outputs, &count));
  op_infer_set_fact(ctx, 0, outputs[0]);
  return OS_OK;
}

static os_status softmax_infer(op_infer *ctx) {
  int32_t axis;
  OS_TRY(
      op_infer_axis(ctx, op_attr_int(op_infer_node(ctx), "axis", -1), op_infer_rank(ctx, 0), "axis", &axis));
  op_infer_copy(ctx, 0, 0);
  return OS_OK;
}

static os_status huge_infer(op_infer *ctx) {
  op_infer_set_rank(ctx, 0, OP_MAX_RANK + 1);
  return OS_OK;
}

static const op_row rows[] = {
    {.domain = "", .op_type = "Relu", .since = 1, .infer = copy_infer},
    {.domain = "", .op_type = "Neg", .since = 1, .infer = copy_infer},
    {.domain = "", .op_type = "Identity", .since = 1, .infer = copy_infer},
    {.domain = "", .op_type = "Add", .since = 1, .infer = add_infer},
    {.domain = "", .op_type = "Shape", .since = 1, .infer = shape_infer},
    {.domain = "", .op_type = "Expand", .since = 1, .infer = expand_infer},
    {.domain = "", .op_type = "If", .since = 1, .infer = if_infer},
    {.domain = "", .op_type = "Loop", .since = 1, .infer = loop_infer},
    {.domain = "", .op_type = "Scan", .since = 1, .infer = scan_infer},
    {.domain = "", .op_type = "Softmax", .since = 1, .infer = softmax_infer},
    {.domain = "", .op_type = "Tile", .since = 1, .infer = huge_infer},
};
OP_FAMILY(infer, rows);

typedef struct opened {
  os_arena arena;
  os_report report;
  os_registry *registry;
  os_document *document;
  os_model *model;
} opened;

static void open(opened *self, wire bytes) {
  static const op_family *const families[] = {&op_family_infer, NULL};
  *self = (opened){0};
  os_arena_init(&self->arena, &memory);
  os_report_init(&self->report, &self->arena, false, 0);
  self->registry = os_registry_new(&self->arena, os_types_new(&self->arena), families);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = OS_KIND_MODEL};
  os_status status = os_document_open(&memory, &source, &options, &self->report, &self->document);
  if (status == OS_OK)
    status = os_model_build(self->document, self->registry, NULL, &self->report, &self->model);
  if (!CHECK(status == OS_OK)) exit(1);
}

static void close(opened *self) {
  os_model_free(self->model);
  os_document_close(self->document);
  os_arena_clear(&self->arena);
}

static void check(opened *self, wire bytes) {
  open(self, bytes);
  os_check_options options = {.infer = true};
  CHECK_EQ(os_model_check(self->model, &options, &self->report), OS_OK);
}

static void show(const opened *self) {
  for (size_t i = 0; i < self->report.findings.count; i++) {
    const os_finding *finding = self->report.findings.items[i];
    printf("  %s %.*s: %.*s\n", finding->rule->id, OS_ARG(finding->where.path), OS_ARG(finding->message));
  }
  for (size_t i = 0; i < self->report.incomplete.count; i++)
    printf("  (%.*s)\n", OS_ARG(self->report.incomplete.items[i]));
}

static const os_finding *only(const opened *self, const os_rule *rule) {
  const os_finding *found = NULL;
  for (size_t i = 0; i < self->report.findings.count; i++)
    if (self->report.findings.items[i]->rule == rule) found = self->report.findings.items[i];
  bool alone = found != NULL && self->report.counts[OS_ERROR] + self->report.counts[OS_WARNING] == 1;
  if (!CHECK(alone)) show(self);
  return found;
}

static void expect_clean(wire bytes, int line) {
  opened self;
  check(&self, bytes);
  if (!CHECK(os_report_ok(&self.report) && self.report.counts[OS_WARNING] == 0)) {
    printf("  line %d\n", line);
    show(&self);
  }
  close(&self);
}
#define EXPECT_CLEAN(bytes) expect_clean((bytes), __LINE__)

// Facts of a graph's values after inference; the text of one.
static os_str fact_of(opened *self, os_inferring *inferring, os_fact **facts, const char *name) {
  const op_graph *main = os_model_graph(self->model);
  if (*facts == NULL) {
    os_inference_init(inferring, &self->arena, self->model, self->registry, &self->report);
    *facts = OS_ARENA_ARRAY(&self->arena, main->value_count, os_fact);
    CHECK_EQ(os_inference_run(inferring, self->model, main, *facts), OS_OK);
  }
  int32_t value = os_graph_find_value(main, os_str_of(name));
  return value == OS_ABSENT ? OS_STR("no such value") : os_fact_print(inferring, &(*facts)[value]);
}

// ---- Shapes and values ------------------------------------------------------------------------------------

static void test_travelling(void) {
  static const int64_t shape[] = {2, -1};
  wire bytes =
      model(JOIN(initializer(ints_tensor("s", 2, shape)), input("x", 1, "N 3"), input("u", 1, NULL),
                 node("Shape", "x", "xs", NONE), node("Expand", "u xs", "e", NONE),
                 node("Expand", "u s", "c", NONE), node("Add", "x e", "y", NONE), output("y", 1, "N 3")));
  opened self;
  os_inferring inferring;
  os_fact *facts = NULL;
  open(&self, bytes);
  CHECK_STR(fact_of(&self, &inferring, &facts, "xs"), "tensor(int64) [2]");
  CHECK_STR(fact_of(&self, &inferring, &facts, "e"), "tensor(float) [N, 3]");
  CHECK_STR(fact_of(&self, &inferring, &facts, "c"), "tensor(float) [2, -1]");
  CHECK_STR(fact_of(&self, &inferring, &facts, "y"), "tensor(float) [N, 3]");
  CHECK_STR(fact_of(&self, &inferring, &facts, "s"), "tensor(int64) [2]");
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  close(&self);
}

// ---- Declared against inferred ----------------------------------------------------------------------------

static wire negates(int elem, const char *shape, wire more) {
  return model(JOIN(node("Neg", "x", "y", NONE), input("x", 1, "2 N"), output("y", elem, shape), more));
}

static void test_declared(void) {
  EXPECT_CLEAN(negates(1, "2 N", NONE));
  EXPECT_CLEAN(negates(1, "2 M", NONE));
  EXPECT_CLEAN(negates(1, "? 7", NONE)); // a name never contradicts a number
  opened self;
  check(&self, negates(1, "3 N", NONE));
  const os_finding *finding = only(&self, &os_rule_infer_shape_mismatch);
  if (finding != NULL) {
    CHECK_STR(finding->message, "\"y\": inferred [2, N], declared [3, N], dim 0");
    CHECK_STR(finding->where.path, "graph.node[0].output[0]");
    CHECK_STR(finding->expected, "tensor(float) [2, N]");
    CHECK_STR(finding->actual, "tensor(float) [3, N]");
    CHECK(finding->has_node && finding->where.has_range && finding->related.count == 1);
  }
  close(&self);
  check(&self, negates(1, "2", NONE));
  finding = only(&self, &os_rule_infer_shape_mismatch);
  if (finding != NULL) CHECK_STR(finding->message, "\"y\": inferred [2, N], declared [2]: the ranks differ");
  close(&self);
  check(&self, negates(7, "2 N", NONE));
  finding = only(&self, &os_rule_infer_type_mismatch);
  if (finding != NULL) CHECK_STR(finding->message, "\"y\": inferred tensor(float), declared tensor(int64)");
  close(&self);
  check(&self, model(JOIN(node("Neg", "x", "t", NONE), node("Neg", "t", "y", NONE), input("x", 1, "2"),
                          output("y", 1, "2"), value_info("t", 1, "9"))));
  only(&self, &os_rule_infer_shape_mismatch);
  close(&self);
  check(&self, model(JOIN(node("Neg", "x", "y", NONE), input("x", 1, "-5"), output("y", 1, "2"))));
  CHECK_EQ(self.report.counts[OS_ERROR], 1); // and the warning that a dim is negative
  close(&self);
  // An initializer against the input that it is the default of, and an output that is an input.
  static const int64_t ones[] = {1, 1};
  check(&self, model(JOIN(initializer(ints_tensor("w", 2, ones)), input("w", 1, "2"), output("w", 1, "2"))));
  CHECK(self.report.counts[OS_ERROR] >= 1);
  close(&self);
  check(&self, model(JOIN(input("x", 1, "2"), output("x", 1, "3"))));
  only(&self, &os_rule_infer_shape_mismatch);
  close(&self);
  // What the operator does not say comes from the declaration.
  os_inferring inferring;
  os_fact *facts = NULL;
  open(&self, model(JOIN(node("Neg", "x", "t", NONE), node("Neg", "t", "y", NONE), input("x", 1, "? ?"),
                         value_info("t", 1, "4 K"), output("y", 1, "4 K"))));
  CHECK_STR(fact_of(&self, &inferring, &facts, "y"), "tensor(float) [4, K]");
  close(&self);
}

// ---- Types against the schema -----------------------------------------------------------------------------

static void test_types(void) {
  opened self;
  check(&self, model(JOIN(node("Relu", "x", "y", NONE), input("x", 8, "2"), output("y", 8, "2"))));
  const os_finding *finding = only(&self, &os_rule_model_node_type);
  if (finding != NULL) {
    CHECK_STR(finding->message, "Relu: the input \"X\" is tensor(string), which version 14 does not allow");
    CHECK_STR(finding->actual, "tensor(string)");
    CHECK(os_str_starts(finding->expected, OS_STR("tensor(float), ")));
  }
  close(&self);
  check(&self, model(JOIN(node("Add", "x z", "y", NONE), input("x", 1, "2"), input("z", 11, "2"),
                          output("y", 1, "2"))));
  finding = only(&self, &os_rule_infer_type_binding);
  if (finding != NULL)
    CHECK_STR(finding->message, "Add: the input \"B\" is tensor(double), but T is already tensor(float)");
  close(&self);
  // Without an infer function the type still follows from the schema.
  os_inferring inferring;
  os_fact *facts = NULL;
  open(&self, model(JOIN(node("Sigmoid", "x", "t", NONE), node("NonZero", "x", "n", NONE),
                         input("x", 10, "2"), output("t", 10, NULL))));
  CHECK_STR(fact_of(&self, &inferring, &facts, "t"), "tensor(float16)");
  CHECK_STR(fact_of(&self, &inferring, &facts, "n"), "tensor(int64)");
  CHECK_EQ(self.report.incomplete.count, 2);
  close(&self);
}

// ---- Faults of operators ----------------------------------------------------------------------------------

static void test_faults(void) {
  opened self;
  check(&self, model(JOIN(node("Softmax", "x", "t", attr_int("axis", 9)), node("Neg", "t", "y", NONE),
                          input("x", 1, "2 2"), output("y", 1, "2 2"))));
  const os_finding *finding = only(&self, &os_rule_infer_attribute_value);
  if (finding != NULL)
    CHECK_STR(finding->message, "Softmax: axis is 9, which is outside of [-2, 1] for rank 2");
  close(&self);
  check(&self, model(JOIN(node("Tile", "x x", "y", NONE), input("x", 7, "2"), output("y", 7, "2"))));
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  CHECK_EQ(self.report.incomplete.count, 1);
  close(&self);
  check(&self, model_with(JOIN(node("Thing", "x", "t", domain("com.acme")), node("Neg", "t", "y", NONE),
                               input("x", 1, "2"), output("y", 1, "2")),
                          opset("com.acme", 1)));
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  CHECK_EQ(self.report.counts[OS_WARNING], 1);
  if (CHECK(self.report.incomplete.count == 1))
    CHECK_STR(
        self.report.incomplete.items[0],
        "the operator Thing of the domain com.acme is not known, so what it gives could not be inferred");
  CHECK(!os_report_ok(&self.report));
  close(&self);
}

// With no report the first fault ends it.
static void test_without_report(void) {
  opened self;
  open(&self, model(JOIN(node("Softmax", "x", "y", attr_int("axis", 9)), input("x", 1, "2 2"),
                         output("y", 1, "3"))));
  os_inferring inferring;
  os_inference_init(&inferring, &self.arena, self.model, self.registry, NULL);
  const op_graph *main = os_model_graph(self.model);
  os_fact *facts = OS_ARENA_ARRAY(&self.arena, main->value_count, os_fact);
  facts[main->inputs[0]] = os_inference_declared(&inferring, main->values[main->inputs[0]].declared);
  CHECK_EQ(os_inference_run(&inferring, self.model, main, facts), OS_OPERATOR_FAILED);
  CHECK_STR(inferring.message, "Softmax: axis is 9, which is outside of [-2, 1] for rank 2");
  close(&self);
  // Declarations are not held against what is given.
  open(&self, negates(1, "9 9", NONE));
  os_inference_init(&inferring, &self.arena, self.model, self.registry, NULL);
  main = os_model_graph(self.model);
  facts = OS_ARENA_ARRAY(&self.arena, main->value_count, os_fact);
  static const op_dim given[] = {5};
  facts[main->inputs[0]] = (os_fact){.type = OP_FLOAT, .rank = 1, .dims = given};
  CHECK_EQ(os_inference_run(&inferring, self.model, main, facts), OS_OK);
  CHECK_STR(os_fact_print(&inferring, &facts[main->outputs[0]]), "tensor(float) [5]");
  close(&self);
}

// ---- Bodies and functions ---------------------------------------------------------------------------------

static wire branch_of(const char *op_type, const char *reads, const char *makes) {
  return JOIN(STR(2, "b"), MSG(1, node_bare(op_type, reads, makes, NONE)), untyped(12, makes));
}

static void test_bodies(void) {
  opened self;
  os_inferring inferring;
  os_fact *facts = NULL;
  wire branches = JOIN(attr_graph("then_branch", branch_of("Neg", "x", "p")),
                       attr_graph("else_branch", branch_of("Neg", "z", "q")));
  open(&self, model(JOIN(node("If", "c", "y", branches), input("c", 9, ""), input("x", 1, "2 3"),
                         input("z", 1, "2 4"), output("y", 1, NULL))));
  CHECK_STR(fact_of(&self, &inferring, &facts, "y"), "tensor(float) [2, ?]");
  close(&self);
  branches = JOIN(attr_graph("then_branch", branch_of("Neg", "x", "p")),
                  attr_graph("else_branch", branch_of("Softmax", "s", "q")));
  check(&self, model(JOIN(node("If", "c", "y", branches), input("c", 9, ""), input("x", 1, "2"),
                          input("s", 1, ""), output("y", 1, "?"))));
  const os_finding *finding = only(&self, &os_rule_infer_attribute_value);
  if (finding != NULL) CHECK_STR(finding->where.path, "graph.node[0].attribute[1].g.node[0]");
  close(&self);
  // Captures of the right scope, two levels down.
  wire deep = JOIN(STR(2, "b"), MSG(1, node_bare("If", "c", "o", branches)), untyped(12, "o"));
  wire outer = JOIN(attr_graph("then_branch", deep), attr_graph("else_branch", branch_of("Neg", "x", "w")));
  facts = NULL;
  open(&self, model(JOIN(node("If", "c", "y", outer), input("c", 9, ""), input("x", 1, "2"),
                         input("s", 1, "2"), output("y", 1, "2"))));
  CHECK_STR(fact_of(&self, &inferring, &facts, "y"), "tensor(float) [2]");
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  close(&self);
  // A body with another number of inputs than it gets.
  wire body = JOIN(STR(2, "b"), untyped(11, "i"), untyped(12, "i"));
  check(&self, model(JOIN(node("Loop", "m c", "y", attr_graph("body", body)), input("m", 7, ""),
                          input("c", 9, ""), output("y", 1, "2"))));
  finding = only(&self, &os_rule_infer_attribute_value);
  if (finding != NULL) CHECK_STR(finding->message, "Loop: the body \"b\" has 1 inputs, and must have 2");
  close(&self);
}

static void test_functions(void) {
  wire adds = function("F", "a b", "r", fnode("Add", "a b", "r", NONE));
  opened self;
  check(&self, model_with(JOIN(node("F", "x z", "y", domain("loc")), input("x", 1, "2"), input("z", 1, "3"),
                               output("y", 1, "2")),
                          JOIN(opset("loc", 1), adds)));
  const os_finding *finding = only(&self, &os_rule_infer_shape_operator);
  if (finding != NULL) {
    CHECK_STR(finding->where.path, "functions[0].node[0]");
    if (CHECK(finding->related.count == 1)) CHECK_STR(finding->related.items[0].where.path, "graph.node[0]");
  }
  close(&self);
  check(&self, model_with(JOIN(node("F", "x x", "y", domain("loc")), input("x", 1, "2"), output("y", 1, "3")),
                          JOIN(opset("loc", 1), adds)));
  only(&self, &os_rule_infer_shape_mismatch);
  close(&self);
  // An input that the call leaves out is none inside of the function.
  wire pads = function("G", "a b", "r", fnode("Clip", "a b", "r", NONE));
  os_inferring inferring;
  os_fact *facts = NULL;
  open(&self, model_with(JOIN(node("G", "x", "y", domain("loc")), input("x", 1, "2"), output("y", 1, NULL)),
                         JOIN(opset("loc", 1), pads)));
  CHECK_STR(fact_of(&self, &inferring, &facts, "y"), "tensor(float)");
  close(&self);
}

// Loops within each other whose bodies are inferred again and again would take forever.
static void test_budget(void) {
  wire body = JOIN(STR(2, "b"), untyped(11, "v"), MSG(1, node_bare("Neg", "v", "w", NONE)), untyped(12, "w"));
  for (int i = 0; i < 20; i++) { // 4^20 runs of the innermost body
    char name[8], inside[8];
    snprintf(inside, sizeof inside, "v%d", i);
    snprintf(name, sizeof name, "w%d", i);
    wire scan =
        node_bare("Scan", inside, name, JOIN(attr_graph("body", body), attr_int("num_scan_inputs", 1)));
    body = JOIN(STR(2, "b"), untyped(11, inside), MSG(1, scan), untyped(12, name));
  }
  opened self;
  check(&self,
        model(JOIN(node("Scan", "x", "y", JOIN(attr_graph("body", body), attr_int("num_scan_inputs", 1))),
                   input("x", 1, "2"), output("y", 1, "2"))));
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  if (CHECK(self.report.incomplete.count == 1))
    CHECK_STR(self.report.incomplete.items[0],
              "bodies and functions are too large to be inferred to the end");
  close(&self);
}

int main(void) {
  os_arena_init(&scratch, &memory);
  os_wire_arena = &scratch;
  test_travelling();
  test_declared();
  test_types();
  test_faults();
  test_without_report();
  test_bodies();
  test_functions();
  test_budget();
  os_arena_clear(&scratch);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
