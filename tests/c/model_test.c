#include "model.h"
#include "check.h"
#include "inference.h"
#include "model_build.h"
#include "model_rules.h"

#include <stdlib.h>

static os_memory memory;
static os_arena scratch; // of the bytes

typedef struct opened {
  os_arena arena;
  os_report report;
  os_registry *registry;
  os_document *document;
  os_model *model;
  wire bytes;
} opened;

static const op_schema acme = {.domain = OS_STR_INIT("com.acme"),
                               .op_type = OS_STR_INIT("Known"),
                               .since = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .source = "test"};

// Opens, builds and checks without inference.
static void check_as(opened *self, wire bytes, os_kind kind, bool registered) {
  *self = (opened){.bytes = bytes};
  os_arena_init(&self->arena, &memory);
  os_report_init(&self->report, &self->arena, false, 0);
  self->registry = os_registry_new(&self->arena, os_types_new(&self->arena), NULL);
  if (registered) CHECK_EQ(os_registry_add(self->registry, &acme, NULL), OS_OK);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = kind};
  os_status status = os_document_open(&memory, &source, &options, &self->report, &self->document);
  if (!CHECK(status == OS_OK)) exit(1);
  CHECK_EQ(os_model_build(self->document, self->registry, NULL, &self->report, &self->model), OS_OK);
  os_check_options check = {0};
  CHECK_EQ(os_model_check(self->model, &check, &self->report), OS_OK);
}

static void check(opened *self, wire bytes) { check_as(self, bytes, OS_KIND_MODEL, false); }

static void finish(opened *self) {
  os_model_free(self->model);
  os_document_close(self->document);
  os_arena_clear(&self->arena);
}

static const os_finding *find(const opened *self, const char *rule) {
  for (size_t i = 0; i < self->report.findings.count; i++)
    if (strcmp(self->report.findings.items[i]->rule->id, rule) == 0) return self->report.findings.items[i];
  return NULL;
}

static void show(const opened *self) {
  for (size_t i = 0; i < self->report.findings.count; i++) {
    const os_finding *finding = self->report.findings.items[i];
    printf("  %s %.*s: %.*s\n", finding->rule->id, OS_ARG(finding->where.path), OS_ARG(finding->message));
  }
}

// The model has exactly this finding at error or warning level (NULL = none), at this path.
static void expect_as(wire bytes, os_kind kind, const char *rule, os_severity severity, const char *path,
                      int line) {
  opened self;
  check_as(&self, bytes, kind, false);
  uint32_t graver = self.report.counts[OS_ERROR] + self.report.counts[OS_WARNING];
  const os_finding *finding = rule == NULL ? NULL : find(&self, rule);
  bool right = rule == NULL ? graver == 0
                            : finding != NULL && finding->severity == severity &&
                                  os_str_is(finding->where.path, path) && graver == (severity != OS_INFO);
  if (!CHECK(right)) {
    printf("  line %d: expected %s at %s\n", line, rule == NULL ? "nothing" : rule, path);
    show(&self);
  }
  finish(&self);
}
#define EXPECT(bytes, rule, severity, path) \
  expect_as((bytes), OS_KIND_MODEL, (rule), (severity), (path), __LINE__)
#define EXPECT_CLEAN(bytes) expect_as((bytes), OS_KIND_MODEL, NULL, OS_ERROR, "", __LINE__)

static wire relu(void) { return JOIN(node("Relu", "x", "y", NONE), input("x", 1, "2"), output("y", 1, "2")); }

// ---- The model's fields -----------------------------------------------------------------------------------

static void test_header(void) {
  wire body = MSG(7, graph(relu()));
  EXPECT_CLEAN(model(relu()));
  EXPECT(JOIN(opset("", 21), body), "model.ir-version.missing", OS_ERROR, "ir_version");
  EXPECT(JOIN(INT(1, 99), opset("", 21), body), "model.ir-version.unsupported", OS_ERROR, "ir_version");
  EXPECT(JOIN(INT(1, 10), opset("", 21), opset("a.b", (int64_t)1 << 40), body), "model.opset.range", OS_ERROR,
         "opset_import[1]");
  EXPECT(JOIN(INT(1, 10), opset("", 13), opset("", 21), body), "model.opset.duplicate", OS_WARNING,
         "opset_import[1]");
  EXPECT(JOIN(INT(1, 10), opset("", 999), body), "model.opset.newer", OS_WARNING, "opset_import[0]");
  EXPECT(JOIN(INT(1, 10), opset("ai.onnx", 15), body), "model.opset.alias", OS_INFO, "opset_import[0]");
  EXPECT(JOIN(INT(1, 2), opset("", 1), MSG(7, graph(JOIN(input("x", 1, "2"), output("x", 1, "2"))))),
         "model.opset.before-ir-3", OS_ERROR, "opset_import[0]");
  wire twice = JOIN(MSG(14, JOIN(STR(1, "a"), STR(2, "1"))), MSG(14, JOIN(STR(1, "a"), STR(2, "2"))));
  EXPECT(JOIN(model(relu()), twice), "model.metadata.duplicate", OS_ERROR, "metadata_props[1]");
  EXPECT(JOIN(INT(1, 10), opset("", 21)), "model.graph.missing", OS_ERROR, "graph");
  opened self;
  check(&self, JOIN(INT(1, 10), body));
  CHECK(find(&self, "model.opset.missing") != NULL && find(&self, "model.node.domain") != NULL);
  finish(&self);
}

// ---- Graphs and values ------------------------------------------------------------------------------------

static void test_graphs(void) {
  wire nameless = JOIN(INT(1, 10), opset("", 21), MSG(7, relu()));
  EXPECT(nameless, "model.graph.name", OS_ERROR, "graph.name");
  EXPECT(model(JOIN(node("Relu", "x", "y", NONE), untyped(11, "x"), output("y", 1, "2"))), "model.value.type",
         OS_ERROR, "graph.input[0].type");
  EXPECT(model(JOIN(node("Relu", "x", "y", NONE), input("x", 1, "2"), output("y", 1, NULL))),
         "model.value.type", OS_ERROR, "graph.output[0].type");
  EXPECT(model(JOIN(node("Relu", "x", "y", NONE), input("x", 1, "2 -3"), output("y", 1, "2 ?"))),
         "model.value.dim", OS_WARNING, "graph.input[0].type.tensor_type.shape.dim[1]");
  EXPECT(model(JOIN(relu(), input("z", 77, "2"))), "model.value.elem-type", OS_WARNING,
         "graph.input[1].type.tensor_type.elem_type");
  EXPECT(model(JOIN(relu(), value_info("q", 1, "2"))), "model.value.info-unknown", OS_INFO,
         "graph.value_info[0]");
  EXPECT(model(JOIN(node("Relu", "x", "t", NONE), node("Relu", "t", "y", NONE), input("x", 1, "2"),
                    output("y", 1, "2"), value_info("t", 1, "2"), value_info("t", 1, "2"))),
         "model.value.info-duplicate", OS_WARNING, "graph.value_info[1]");
  EXPECT(model(JOIN(relu(), output("z", 1, "2"))), "model.graph.output-unknown", OS_ERROR, "graph.output[1]");
  EXPECT_CLEAN(
      model(JOIN(relu(), output("y", 1, "2"), output("x", 1, "2")))); // twice, and an input: both may be
}

static void test_initializers(void) {
  static const int64_t ones[] = {1, 1};
  wire w = initializer(ints_tensor("w", 2, ones));
  wire uses = JOIN(node("Identity", "w", "y", NONE), output("y", 7, "2"));
  EXPECT_CLEAN(model(JOIN(w, uses)));
  EXPECT(model(JOIN(w, w, uses)), "model.initializer.duplicate", OS_ERROR, "graph.initializer[1]");
  EXPECT(model(JOIN(w, initializer(ints_tensor("", 2, ones)), uses)), "model.initializer.name", OS_ERROR,
         "graph.initializer[1]");
  EXPECT(JOIN(INT(1, 3), opset("", 9), MSG(7, graph(JOIN(w, uses)))), "model.initializer.not-input", OS_ERROR,
         "graph.initializer[0]");
  EXPECT_CLEAN(JOIN(INT(1, 3), opset("", 9), MSG(7, graph(JOIN(w, uses, input("w", 7, "2"))))));
  EXPECT(model(JOIN(initializer(JOIN(INT(1, 3), INT(2, 7), STR(8, "w"), INT(7, 1))), uses)),
         "onnx.tensor.count", OS_ERROR, "graph.initializer[0].dims");
}

static void test_ssa(void) {
  opened self;
  check(&self, model(JOIN(node("Neg", "x", "t", NONE), node("Abs", "x", "t", NONE), input("x", 1, "2"),
                          output("t", 1, "2"))));
  const os_finding *finding = find(&self, "model.node.ssa");
  if (CHECK(finding != NULL)) {
    CHECK_STR(finding->where.path, "graph.node[1].output[0]");
    CHECK_EQ(finding->related.count, 2);
    CHECK_STR(finding->related.items[0].where.path, "graph.node[0].output[0]");
    CHECK_STR(finding->related.items[1].where.path, "graph.node[1].output[0]");
    CHECK(finding->where.has_range && finding->where.binary);
    CHECK(finding->has_node);
    CHECK_EQ(finding->node.index, 1);
    os_str bytes = os_str_slice(self.bytes, finding->where.range.start, finding->where.range.end);
    wire expected = node_bare("Abs", "x", "t", NONE);
    CHECK_BYTES(bytes.data, bytes.len, expected.data, expected.len);
  }
  finish(&self);
  check(&self, model(JOIN(node("Neg", "x", "x", NONE), input("x", 1, "2"), output("x", 1, "2"))));
  finding = find(&self, "model.node.ssa");
  if (CHECK(finding != NULL)) CHECK_STR(finding->related.items[0].where.path, "graph.input[0]");
  finish(&self);
  EXPECT(model(JOIN(relu(), input("x", 1, "2"))), "model.graph.input-duplicate", OS_ERROR, "graph.input[1]");
}

// ---- Order ------------------------------------------------------------------------------------------------

static void test_order(void) {
  wire unsorted =
      JOIN(node("Abs", "t", "y", NONE), node("Neg", "x", "t", NONE), input("x", 1, "2"), output("y", 1, "2"));
  opened self;
  check(&self, model(unsorted));
  const os_finding *finding = find(&self, "model.node.order");
  if (CHECK(finding != NULL)) {
    CHECK_STR(finding->message, "Abs reads \"t\" before Neg (node 1) makes it; sorting the nodes mends that");
    CHECK_STR(finding->where.path, "graph.node[0].input[0]");
    CHECK_STR(finding->related.items[0].where.path, "graph.node[1].output[0]");
  }
  const op_graph *graph_ = os_model_graph(self.model);
  CHECK(graph_->order[0] == 1 && graph_->order[1] == 0);
  finish(&self);

  // A name that only a body reads: the If waits for the node that makes it.
  wire branch = JOIN(STR(2, "b"), MSG(1, node_bare("Identity", "t", "z", NONE)), untyped(12, "z"));
  wire branches = JOIN(attr_graph("then_branch", branch), attr_graph("else_branch", branch));
  wire held = JOIN(node("If", "c", "y", branches), node("Neg", "x", "t", NONE), input("x", 1, "2"),
                   input("c", 9, ""), output("y", 1, "2"));
  check(&self, model(held));
  finding = find(&self, "model.node.order");
  if (CHECK(finding != NULL)) CHECK_STR(finding->where.path, "graph.node[0]");
  CHECK_EQ(os_model_graph(self.model)->order[0], 1);
  finish(&self);

  wire cycle = JOIN(node("Add", "x b", "a", NONE), node("Neg", "a", "b", NONE), node("Abs", "x", "y", NONE),
                    input("x", 1, "2"), output("y", 1, "2"));
  check(&self, model(cycle));
  finding = find(&self, "model.node.cycle");
  if (CHECK(finding != NULL))
    CHECK_STR(finding->message,
              "these 2 nodes wait for each other: Add (node 0) -> Neg (node 1) -> Add (node 0)");
  CHECK(find(&self, "model.node.order") == NULL);
  finish(&self);
  EXPECT(model(JOIN(node("Add", "x a", "a", NONE), input("x", 1, "2"), output("a", 1, "2"))),
         "model.node.cycle", OS_ERROR, "graph.node[0]");
}

// ---- Scopes -----------------------------------------------------------------------------------------------

static wire nested_if(int depth, wire innermost) {
  wire body = innermost;
  for (int i = 0; i < depth; i++) {
    wire attributes = JOIN(attr_graph("then_branch", body), attr_graph("else_branch", body));
    char name[16];
    snprintf(name, sizeof name, "o%d", i);
    body = JOIN(STR(2, "b"), MSG(1, node_bare("If", "c", name, attributes)), untyped(12, name));
  }
  return body;
}

static void test_capture(void) {
  wire innermost = JOIN(STR(2, "b"), MSG(1, node_bare("Neg", "x", "z", NONE)), untyped(12, "z"));
  wire body = nested_if(2, innermost);
  opened self;
  check(&self, model(JOIN(node("If", "c", "y",
                               JOIN(attr_graph("then_branch", body), attr_graph("else_branch", innermost))),
                          input("x", 1, "2"), input("c", 9, ""), output("y", 1, "2"))));
  CHECK_EQ(self.report.findings.count, 0);
  const op_graph *at = os_model_graph(self.model);
  int depth = 0;
  for (const op_attribute *branch; (branch = op_node_attribute(&at->nodes[0].node, "then_branch")) != NULL;
       depth++) {
    const op_graph *inner = branch->as.graph;
    CHECK(inner->parent == at);
    int32_t value = os_graph_find_value(inner, OS_STR("x"));
    if (!CHECK(value != OS_ABSENT)) break;
    CHECK_EQ(inner->values[value].origin, OS_FROM_OUTER);
    CHECK_STR(at->values[inner->values[value].outer].name, "x");
    at = inner;
  }
  CHECK_EQ(depth, 3);
  CHECK_STR(at->path, "graph.node[0].attribute[0].g.node[0].attribute[0].g.node[0].attribute[0].g");
  finish(&self);

  wire shadows = JOIN(STR(2, "b"), MSG(1, node_bare("Neg", "x", "x", NONE)), untyped(12, "x"));
  wire late =
      JOIN(STR(2, "b"), MSG(1, node_bare("Neg", "x", "y", NONE)), untyped(12, "y")); // y comes after the If
  wire outer = JOIN(STR(2, "b"), untyped(12, "x"));
  wire around = JOIN(input("x", 1, "2"), input("c", 9, ""), output("y", 1, "2"));
  EXPECT(model(JOIN(node("If", "c", "y",
                         JOIN(attr_graph("then_branch", shadows), attr_graph("else_branch", innermost))),
                    around)),
         "model.node.ssa", OS_ERROR, "graph.node[0].attribute[0].g.node[0].output[0]");
  EXPECT_CLEAN(model(
      JOIN(node("If", "c", "y", JOIN(attr_graph("then_branch", late), attr_graph("else_branch", innermost))),
           around)));
  EXPECT(model(JOIN(node("If", "c", "y",
                         JOIN(attr_graph("then_branch", outer), attr_graph("else_branch", innermost))),
                    around)),
         "model.graph.output-unknown", OS_ERROR, "graph.node[0].attribute[0].g.output[0]");
}

// ---- Nodes ------------------------------------------------------------------------------------------------

static void test_nodes(void) {
  wire ends = JOIN(input("x", 1, "2"), output("y", 1, "2"));
#define ONE(n) model(JOIN((n), ends))
  EXPECT(ONE(node("", "x", "y", NONE)), "model.node.op-type", OS_ERROR, "graph.node[0]");
  EXPECT(ONE(node("Reluu", "x", "y", NONE)), "model.node.unknown-operator", OS_ERROR, "graph.node[0]");
  EXPECT(ONE(node("Thing", "x", "y", domain("com.acme"))), "model.node.domain", OS_ERROR, "graph.node[0]");
  EXPECT(ONE(node("Relu", "q", "y", NONE)), "model.node.input-unknown", OS_ERROR, "graph.node[0].input[0]");
  EXPECT(ONE(node("Relu", "x x", "y", NONE)), "model.node.arity", OS_ERROR, "graph.node[0]");
  EXPECT(ONE(node("Relu", "_", "y", NONE)), "model.node.missing-value", OS_ERROR, "graph.node[0].input[0]");
  EXPECT_CLEAN(ONE(node("Clip", "x _ x", "y", NONE)));
  EXPECT(ONE(node("Softmax", "x", "y", attr_int("axes", 0))), "model.attribute.unknown", OS_ERROR,
         "graph.node[0].attribute[0]");
  EXPECT_CLEAN(ONE(node("Softmax", "x", "y", attr_int("__note", 0))));
  EXPECT(ONE(node("Softmax", "x", "y", attr_float("axis", 0))), "model.attribute.type", OS_ERROR,
         "graph.node[0].attribute[0]");
  EXPECT(ONE(node("Softmax", "x", "y", MSG(5, JOIN(STR(1, "axis"), INT(3, 1))))), "model.attribute.type",
         OS_ERROR, "graph.node[0].attribute[0]");
  EXPECT(ONE(node("Softmax", "x", "y", MSG(5, JOIN(STR(1, "axis"), INT(3, 1), F32(2, 1), INT(20, 2))))),
         "model.attribute.type", OS_ERROR, "graph.node[0].attribute[0]");
  EXPECT(ONE(node("Softmax", "x", "y", JOIN(attr_int("axis", 0), attr_int("axis", 0)))),
         "model.attribute.duplicate", OS_ERROR, "graph.node[0].attribute[1]");
  EXPECT(ONE(node("Concat", "x", "y", NONE)), "model.attribute.required", OS_ERROR, "graph.node[0]");
  EXPECT(ONE(node("Constant", "", "y", MSG(5, JOIN(STR(1, "value"), INT(20, 4))))), "model.attribute.value",
         OS_ERROR, "graph.node[0].attribute[0]");
  EXPECT(ONE(node("LeakyRelu", "x", "y", attr_ref("alpha", 1, "a"))), "model.attribute.reference", OS_WARNING,
         "graph.node[0].attribute[0]");
  EXPECT(ONE(JOIN(node("Relu", "x", "t", STR(3, "n")), node("Relu", "t", "y", STR(3, "n")))),
         "model.node.name-duplicate", OS_WARNING, "graph.node[1].name");
  EXPECT(ONE(node("Upsample", "x x", "y", NONE)), "model.node.deprecated", OS_ERROR, "graph.node[0]");
  wire bytes = MSG(5, JOIN(STR(1, "mode"), MSG(4, ((wire){"\xff\xfe\x00\x92", 4})), INT(20, 3)));
  EXPECT(ONE(node("Pad", "x x", "y", bytes)), "model.attribute.utf8", OS_WARNING,
         "graph.node[0].attribute[0]");
#undef ONE
}

static void test_unknown_operators(void) {
  wire nodes = JOIN(node("Knwon", "x", "y", domain("com.acme")), input("x", 1, "2"), output("y", 1, "2"));
  wire bytes = model_with(nodes, opset("com.acme", 1));
  EXPECT(bytes, "model.node.unknown-operator", OS_WARNING, "graph.node[0]");
  opened self;
  check_as(&self, bytes, OS_KIND_MODEL, true); // the domain is registered: as strict as with the standard's
  const os_finding *finding = find(&self, "model.node.unknown-operator");
  if (CHECK(finding != NULL)) {
    CHECK_EQ(finding->severity, OS_ERROR);
    CHECK_STR(finding->message, "Knwon of com.acme is not known in version 1; did you mean Known? Imported: "
                                "\"\" 21, \"com.acme\" 1");
  }
  finish(&self);
  check(&self, model(JOIN(node("Gelu", "x", "y", NONE), input("x", 1, "2"), output("y", 1, "2"))));
  CHECK_EQ(self.report.findings.count, 0);
  finish(&self);
  check(&self,
        JOIN(INT(1, 10), opset("", 19),
             MSG(7, graph(JOIN(node("Gelu", "x", "y", NONE), input("x", 1, "2"), output("y", 1, "2"))))));
  finding = find(&self, "model.node.unknown-operator");
  if (CHECK(finding != NULL))
    CHECK_STR(finding->message, "Gelu of the standard's domain is not known in version 19; it came with "
                                "version 20. Imported: \"\" 19");
  finish(&self);
  check(&self, model(JOIN(node("TreeEnsemble", "x", "y", NONE), input("x", 1, "2"), output("y", 1, "2"))));
  finding = find(&self, "model.node.unknown-operator");
  if (CHECK(finding != NULL))
    CHECK_STR(finding->message,
              "TreeEnsemble of the standard's domain is not known in version 21; an operator of this name "
              "is in the domain ai.onnx.ml: set the node's domain and import it. Imported: \"\" 21");
  finish(&self);
}

static void test_domain_alias(void) {
  wire nodes = JOIN(node("Neg", "x", "y", domain("ai.onnx")), input("x", 1, "2"), output("y", 1, "2"));
  opened self;
  check(&self, JOIN(INT(1, 10), opset("ai.onnx", 15), MSG(7, graph(nodes))));
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  CHECK_EQ(os_model_graph(self.model)->nodes[0].node.schema->since, 13);
  CHECK_EQ(os_model_opset(self.model, OS_STR("")), 15);
  finish(&self);
}

// ---- Functions --------------------------------------------------------------------------------------------

static wire calls(const char *name, wire attributes) {
  return JOIN(node(name, "x", "y", JOIN(domain("loc"), attributes)), input("x", 1, "2"), output("y", 1, "2"));
}

static void test_functions(void) {
  wire leaky = JOIN(fnode("LeakyRelu", "a", "b", attr_ref("alpha", 1, "slope")));
  wire with_default =
      MSG(25, JOIN(STR(1, "F"), names(4, "a"), names(5, "b"), leaky, MSG(9, JOIN(STR(1, ""), INT(2, 21))),
                   STR(10, "loc"), MSG(11, JOIN(STR(1, "slope"), F32(2, 0.25f), INT(20, 1)))));
  opened self;
  check(&self, model_with(calls("F", attr_float("slope", 0.5f)), JOIN(opset("loc", 1), with_default)));
  CHECK_EQ(self.report.findings.count, 0);
  const op_graph *body = os_model_graph(self.model)->nodes[0].function;
  if (CHECK(body != NULL)) {
    CHECK_STR(body->path, "functions[0]");
    CHECK(op_attr_float(&body->nodes[0].node, "alpha", 9) == 0.5);
  }
  finish(&self);
  check(&self, model_with(calls("F", NONE), JOIN(opset("loc", 1), with_default)));
  body = os_model_graph(self.model)->nodes[0].function;
  if (CHECK(body != NULL)) CHECK(op_attr_float(&body->nodes[0].node, "alpha", 9) == 0.25);
  finish(&self);

  // Through two levels, and in a body of If inside of the function.
  wire branch = JOIN(STR(2, "b"), MSG(1, node_bare("LeakyRelu", "a", "z", attr_ref("alpha", 1, "slope"))),
                     untyped(12, "z"));
  wire inner = MSG(
      25,
      JOIN(STR(1, "G"), names(4, "a"), names(5, "r"), names(6, "slope"),
           fnode("Constant", "", "c", MSG(5, JOIN(STR(1, "value_int"), INT(3, 1), INT(20, 2)))),
           fnode("Cast", "c", "d", attr_int("to", 9)),
           fnode("If", "d", "r", JOIN(attr_graph("then_branch", branch), attr_graph("else_branch", branch))),
           MSG(9, JOIN(STR(1, ""), INT(2, 21))), STR(10, "loc")));
  wire outer = MSG(25, JOIN(STR(1, "F"), names(4, "p"), names(5, "q"), names(6, "k"),
                            fnode("G", "p", "q", JOIN(domain("loc"), attr_ref("slope", 1, "k"))),
                            MSG(9, JOIN(STR(1, "loc"), INT(2, 1))), STR(10, "loc")));
  check(&self, model_with(calls("F", attr_float("k", 0.125f)), JOIN(opset("loc", 1), inner, outer)));
  if (!CHECK(self.report.findings.count == 0)) show(&self);
  body = os_model_graph(self.model)->nodes[0].function;
  body = body == NULL ? NULL : body->nodes[0].function;
  const op_graph *then = body == NULL ? NULL : op_attr_graph(&body->nodes[2].node, "then_branch");
  if (CHECK(then != NULL)) CHECK(op_attr_float(&then->nodes[0].node, "alpha", 9) == 0.125);
  finish(&self);
}

static void test_recursion(void) {
  wire a = function("A", "a", "b", fnode("B", "a", "b", domain("loc")));
  wire branch = JOIN(STR(2, "g"), MSG(1, node_bare("A", "a", "z", domain("loc"))), untyped(12, "z"));
  wire b = function(
      "B", "a", "b",
      fnode("If", "a", "b", JOIN(attr_graph("then_branch", branch), attr_graph("else_branch", branch))));
  opened self;
  check(&self, model_with(calls("A", NONE), JOIN(opset("loc", 1), a, b)));
  const os_finding *finding = find(&self, "model.function.recursive");
  if (CHECK(finding != NULL))
    CHECK_STR(finding->message, "functions call each other: loc:A -> loc:B -> loc:A");
  CHECK(os_model_graph(self.model)->nodes[0].function == NULL);
  finish(&self);
  wire f = function("F", "a", "b", fnode("F", "a", "b", domain("loc")));
  EXPECT(model_with(calls("F", NONE), JOIN(opset("loc", 1), f)), "model.function.recursive", OS_ERROR,
         "functions[0]");
  EXPECT(model_with(relu(), JOIN(opset("loc", 1), function("F", "a", "b", fnode("Relu", "a", "b", NONE)),
                                 function("F", "a", "b", fnode("Relu", "a", "b", NONE)))),
         "model.function.duplicate", OS_ERROR, "functions[1]");
}

// Each function calls the next one twice: 2^n nodes if they were all written out.
static void test_expansion(void) {
  wire functions = opset("loc", 1);
  char name[8], next[8];
  for (int i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "F%d", i);
    snprintf(next, sizeof next, "F%d", i + 1);
    wire body = JOIN(fnode(next, "a", "t", domain("loc")), fnode(next, "t", "b", domain("loc")));
    functions = JOIN(functions, function(name, "a", "b", body));
  }
  functions = JOIN(functions, function("F40", "a", "b", fnode("Relu", "a", "b", NONE)));
  opened self;
  check(&self, model_with(calls("F0", NONE), functions));
  CHECK_EQ(self.report.counts[OS_ERROR], 0);
  CHECK_EQ(self.report.incomplete.count, 1);
  finish(&self);
  wire chain = opset("loc", 1);
  for (int i = 0; i < 120; i++) {
    snprintf(name, sizeof name, "F%d", i);
    snprintf(next, sizeof next, "F%d", i + 1);
    chain = JOIN(chain, function(name, "a", "b", fnode(next, "a", "b", domain("loc"))));
  }
  chain = JOIN(chain, function("F120", "a", "b", fnode("Relu", "a", "b", NONE)));
  EXPECT(model_with(calls("F0", NONE), chain), "model.function.depth", OS_ERROR, "functions[20]");
}

static void test_function_rules(void) {
  wire good = fnode("Relu", "a", "b", NONE);
  wire tail = JOIN(opset("loc", 1));
#define WITH(f) model_with(relu(), JOIN(tail, (f)))
  EXPECT_CLEAN(WITH(function("F", "a", "b", good)));
  EXPECT(WITH(function("", "a", "b", good)), "model.function.name", OS_ERROR, "functions[0].name");
  EXPECT(WITH(function("F", "a a", "b", good)), "model.function.parameter", OS_ERROR,
         "functions[0].input[1]");
  EXPECT(WITH(function("F", "a", "b b", good)), "model.function.parameter", OS_ERROR,
         "functions[0].output[1]");
  EXPECT(WITH(function("F", "a", "b z", good)), "model.function.output", OS_WARNING,
         "functions[0].output[1]");
  EXPECT(WITH(function("F", "a", "b", fnode("Relu", "x", "b", NONE))), "model.node.input-unknown", OS_ERROR,
         "functions[0].node[0].input[0]"); // a name of the main graph
  EXPECT(WITH(function("F", "a", "b", JOIN(good, names(6, "k k")))), "model.function.parameter", OS_ERROR,
         "functions[0].attribute[1]");
  EXPECT(WITH(function("F", "a", "b", fnode("Softmax", "a", "b", attr_ref("axis", 2, "k")))),
         "model.attribute.reference", OS_WARNING, "functions[0].node[0].attribute[0]");
  EXPECT(model_with(JOIN(node("F", "x x", "y", domain("loc")), input("x", 1, "2"), output("y", 1, "2")),
                    JOIN(tail, function("F", "a", "b", good))),
         "model.function.call", OS_WARNING, "graph.node[0]");
  wire older = MSG(25, JOIN(STR(1, "F"), names(4, "a"), names(5, "b"), good,
                            MSG(9, JOIN(STR(1, ""), INT(2, 13))), STR(10, "loc")));
  EXPECT(WITH(older), "model.function.opset", OS_ERROR, "functions[0].node[0]");
#undef WITH
}

// ---- Lone graphs and functions, constants, repeated telling -------------------------------------------------

static void test_lone(void) {
  expect_as(graph(relu()), OS_KIND_GRAPH, NULL, OS_ERROR, "", __LINE__);
  expect_as(graph(node("Relu", "x", "y", NONE)), OS_KIND_GRAPH, "model.node.input-unknown", OS_ERROR,
            "node[0].input[0]", __LINE__);
  wire lone = JOIN(STR(1, "F"), names(4, "a"), names(5, "b"), fnode("Relu", "a", "b", NONE), STR(10, "loc"),
                   MSG(9, JOIN(STR(1, ""), INT(2, 13))));
  expect_as(lone, OS_KIND_FUNCTION, NULL, OS_ERROR, "", __LINE__);
  opened self;
  check_as(&self, lone, OS_KIND_FUNCTION, false);
  CHECK_EQ(os_model_graph(self.model)->nodes[0].node.schema->since, 13);
  CHECK_EQ(os_model_opset(self.model, OS_STR("")), 13);
  finish(&self);
}

static void test_constants(void) {
  static const int64_t values[] = {3, 5};
  opened self;
  check(&self, model(JOIN(initializer(ints_tensor("w", 2, values)),
                          node("Constant", "", "y", attr_tensor("value", ints_tensor("", 2, values))),
                          output("y", 7, "2"), output("w", 7, "2"))));
  const op_graph *at = os_model_graph(self.model);
  const op_tensor *tensor = NULL;
  int32_t w = os_graph_find_value(at, OS_STR("w"));
  CHECK_EQ(os_model_constant(self.model, at, w, &tensor), OS_OK);
  CHECK(tensor != NULL && tensor->elem == OP_INT64 && ((const int64_t *)tensor->data)[1] == 5);
  os_model_drop_constant(self.model, at, w);
  CHECK_EQ(os_model_constant(self.model, at, w, &tensor), OS_OK);
  CHECK_EQ(os_model_constant(self.model, at, os_graph_find_value(at, OS_STR("y")), &tensor),
           OS_INVALID_ARGUMENT);
  tensor = op_attr_tensor(&at->nodes[0].node, "value");
  CHECK(tensor != NULL && ((const int64_t *)tensor->data)[0] == 3);
  CHECK(op_attr_tensor(&at->nodes[0].node, "value") == tensor);
  CHECK_EQ(self.report.findings.count, 0);
  finish(&self);

  wire dense = JOIN(INT(1, 2), INT(2, 7), STR(8, "s"), INT(7, 4), INT(7, 6)),
       places = ints_tensor("", 2, (const int64_t[]){1, 2});
  wire sparse = MSG(15, JOIN(MSG(1, dense), MSG(2, places), INT(3, 4)));
  check(&self, model(JOIN(sparse, node("Identity", "s", "y", NONE), output("y", 7, "4"))));
  at = os_model_graph(self.model);
  CHECK_EQ(os_model_constant(self.model, at, os_graph_find_value(at, OS_STR("s")), &tensor), OS_OK);
  if (CHECK(tensor->count == 4)) {
    const int64_t *data = tensor->data;
    CHECK(data[0] == 0 && data[1] == 4 && data[2] == 6 && data[3] == 0);
  }
  finish(&self);
}

static void test_told_once(void) {
  opened self;
  check(&self, model(JOIN(node("Neg", "q", "y", NONE), output("y", 1, "2"))));
  uint32_t first = self.report.counts[OS_ERROR];
  CHECK_EQ(first, 1);
  os_report again;
  os_report_init(&again, &self.arena, false, 0);
  os_check_options options = {0};
  CHECK_EQ(os_model_check(self.model, &options, &again), OS_OK);
  CHECK_EQ(again.counts[OS_ERROR], 1);
  finish(&self);
}

// Many nodes, all wrong in the same way: counted, kept up to the limit, no quadratic work.
static void test_many_faults(void) {
  wire one = JOIN(names(1, "q"), STR(4, "Neg")), all = NONE;
  one = MSG(1, one);
  for (int i = 0; i < 15; i++) one = JOIN(one, one);
  all = one;
  opened self;
  check(&self, model(all));
  CHECK_EQ(self.report.findings.count, OS_FINDINGS_DEFAULT);
  CHECK(self.report.counts[OS_ERROR] >= 10 * OS_FINDINGS_DEFAULT); // then nobody goes on
  CHECK_EQ(self.report.incomplete.count, 2);
  finish(&self);
}

static void test_rules(void) {
  for (size_t i = 0; i < os_model_rules.count; i++) {
    const os_rule *rule = os_model_rules.rules[i];
    // Operator sets are held against the registry here, too.
    CHECK(strncmp(rule->id, "model.", 6) == 0 || strncmp(rule->id, "onnx.opset.", 11) == 0);
    for (size_t j = 0; j < i; j++) CHECK(strcmp(rule->id, os_model_rules.rules[j]->id) != 0);
  }
}

int main(void) {
  os_arena_init(&scratch, &memory);
  os_wire_arena = &scratch;
  test_header();
  test_graphs();
  test_initializers();
  test_ssa();
  test_order();
  test_capture();
  test_nodes();
  test_unknown_operators();
  test_domain_alias();
  test_functions();
  test_recursion();
  test_expansion();
  test_function_rules();
  test_lone();
  test_constants();
  test_told_once();
  test_many_faults();
  test_rules();
  os_arena_clear(&scratch);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
