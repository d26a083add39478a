// What the operators that move, pick and generate elements say of shapes, without running anything.

#include "check.h"
#include "families.h"
#include "inference.h"
#include "model_build.h"

#include <stdlib.h>

static os_memory memory;
static os_arena scratch;
static int64_t version = 21;

typedef struct opened {
  os_arena arena;
  os_report report;
  os_registry *registry;
  os_document *document;
  os_model *model;
} opened;

static void open(opened *self, wire fields) {
  wire bytes = JOIN(INT(1, 10), opset("", version), MSG(7, graph(fields)));
  *self = (opened){0};
  os_arena_init(&self->arena, &memory);
  os_report_init(&self->report, &self->arena, false, 0);
  self->registry = os_registry_new(&self->arena, os_types_new(&self->arena), op_families);
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

static void is(int line, wire fields, const char *name, const char *expected) {
  opened self;
  os_inferring inferring;
  open(&self, fields);
  os_inference_init(&inferring, &self.arena, self.model, self.registry, &self.report);
  const op_graph *main = os_model_graph(self.model);
  os_fact *facts = OS_ARENA_ARRAY(&self.arena, main->value_count, os_fact);
  CHECK_EQ(os_inference_run(&inferring, self.model, main, facts), OS_OK);
  int32_t value = os_graph_find_value(main, os_str_of(name));
  os_str text = value == OS_ABSENT ? OS_STR("no such value") : os_fact_print(&inferring, &facts[value]);
  bool clean = self.report.counts[OS_ERROR] == 0;
  if (!CHECK(clean && os_str_eq(text, os_str_of(expected)))) {
    printf("  line %d: %.*s, expected %s\n", line, OS_ARG(text), expected);
    if (!clean) printf("  %.*s\n", OS_ARG(self.report.findings.items[0]->message));
  }
  close(&self);
}
#define IS(fields, name, expected) is(__LINE__, fields, name, expected)

static void fault(int line, wire fields, const char *expected) {
  opened self;
  open(&self, fields);
  os_check_options options = {.infer = true};
  CHECK_EQ(os_model_check(self.model, &options, &self.report), OS_OK);
  size_t found = 0;
  for (size_t i = 0; i < self.report.findings.count; i++) {
    found += os_str_eq(self.report.findings.items[i]->message, os_str_of(expected));
  }
  if (!CHECK(found == 1)) {
    printf("  line %d, expected: %s\n", line, expected);
    for (size_t i = 0; i < self.report.findings.count; i++) {
      printf("    got: %.*s\n", OS_ARG(self.report.findings.items[i]->message));
    }
  }
  close(&self);
}
#define FAULT(fields, expected) fault(__LINE__, fields, expected)

#define INTS(name, ...)                                                                    \
  initializer(ints_tensor(name, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
                          (int64_t[]){__VA_ARGS__}))
#define SCALAR(name, value) initializer(ints_tensor(name, -1, (int64_t[]){value}))
static const int64_t END = INT64_MAX;

static wire attr_ints(const char *name, int count, const int64_t *values) {
  wire all = JOIN(STR(1, name), INT(20, 7));
  for (int i = 0; i < count; i++) all = JOIN(all, INT(8, values[i]));
  return MSG(5, all);
}
#define ATTR_INTS(name, ...) \
  attr_ints(name, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

// ---- Reshape and other views ------------------------------------------------------------------------------

#define RESHAPE(shape, more, ...) \
  JOIN(input("x", 1, shape), INTS("s", __VA_ARGS__), node("Reshape", "x s", "y", more), output("y", 1, NULL))

static void test_reshape(void) {
  IS(RESHAPE("2 3 1", NONE, 0, -1), "y", "tensor(float) [2, 3]");
  IS(RESHAPE("2 3 4", NONE, 4, -1), "y", "tensor(float) [4, 6]");
  IS(RESHAPE("N 3 4", NONE, 0, -1), "y", "tensor(float) [N, 12]");
  IS(RESHAPE("? 3 4", NONE, 0, -1), "y", "tensor(float) [?, 12]");
  IS(RESHAPE("N 4", NONE, -1), "y", "tensor(float) [4*N]");
  IS(RESHAPE("0 10", NONE, -1, 10), "y", "tensor(float) [0, 10]");
  IS(RESHAPE("0 3", attr_int("allowzero", 1), -1, 2, 4), "y", "tensor(float) [0, 2, 4]");
  IS(RESHAPE("2 4", attr_int("allowzero", 1), -1, 2, 4), "y", "tensor(float) [1, 2, 4]");
  IS(RESHAPE("0 3", attr_int("allowzero", 1), 3, 0), "y", "tensor(float) [3, 0]");
  FAULT(RESHAPE("0 10", NONE, 0, 1, -1),
        "Reshape: the -1 in shape can be anything: the other dims have a product of 0");
  FAULT(RESHAPE("2 3", attr_int("allowzero", 1), 0, -1),
        "Reshape: with allowzero, shape cannot hold both 0 and -1");
  FAULT(RESHAPE("2 3", NONE, -1, -1), "Reshape: shape has -1 twice, at 0 and at 1");
  FAULT(RESHAPE("2 3", NONE, 6, -2), "Reshape: shape[1] is -2; it must be -1 or more");
  FAULT(RESHAPE("2 3", NONE, 4, 2), "Reshape: 6 elements cannot take a shape of 8 elements");
  FAULT(RESHAPE("2 3", NONE, 4, -1),
        "Reshape: 6 elements cannot be reshaped: the dims of shape other than -1 hold 4");
  FAULT(RESHAPE("6", NONE, 6, 0), "Reshape: shape[1] is 0, but the input has rank 1");
  // (a, b, 2, 3) with (a, b, -1), the way exporters write it.
  IS(JOIN(input("x", 1, "a b 2 3"), INTS("i", 0, 1), INTS("m", -1), node("Shape", "x", "xs", NONE),
          node("Gather", "xs i", "g", NONE), node("Concat", "g m", "s", attr_int("axis", 0)),
          node("Reshape", "x s", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [a, b, 6]");
  // Of a shape that is an input its length remains.
  IS(JOIN(input("x", 1, "2 N"), input("s", 7, "3"), node("Reshape", "x s", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [?, ?, ?]");
  version = 1;
  IS(JOIN(input("x", 1, "2 6"), node("Reshape", "x", "y", ATTR_INTS("shape", 3, -1)), output("y", 1, NULL)),
     "y", "tensor(float) [3, 4]");
  version = 21;
}

static void test_views(void) {
  IS(JOIN(input("x", 1, "1 N 1"), INTS("a", -1), node("Squeeze", "x a", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [1, N]");
  IS(JOIN(input("x", 1, "1 3 1"), node("Squeeze", "x", "y", NONE), output("y", 1, NULL)), "y",
     "tensor(float) [3]");
  IS(JOIN(input("x", 1, "1 N"), node("Squeeze", "x", "y", NONE), output("y", 1, NULL)), "y", "tensor(float)");
  FAULT(JOIN(input("x", 1, "2 1"), INTS("a", 0), node("Squeeze", "x a", "y", NONE), output("y", 1, NULL)),
        "Squeeze: axis 0 cannot be squeezed: its dim is 2, not 1");
  IS(JOIN(input("x", 1, "N 3"), INTS("a", 0, -1), node("Unsqueeze", "x a", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [1, N, 3, 1]");
  FAULT(JOIN(input("x", 1, "3"), INTS("a", 0, -3), node("Unsqueeze", "x a", "y", NONE), output("y", 1, NULL)),
        "Unsqueeze: axes: axis 0 is listed twice");
  IS(JOIN(input("x", 1, "N 3 4"), node("Flatten", "x", "y", attr_int("axis", -2)), output("y", 1, NULL)), "y",
     "tensor(float) [N, 12]");
  FAULT(JOIN(input("x", 1, "3"), node("Flatten", "x", "y", attr_int("axis", 2)), output("y", 1, NULL)),
        "Flatten: axis is 2; for rank 1 it must be in -1..1");
  // Values travel through views: a scalar dim is put back into a list.
  IS(JOIN(input("x", 1, "N 3"), SCALAR("z", 0), INTS("a", 0), INTS("m", -1), node("Shape", "x", "xs", NONE),
          node("Gather", "xs z", "n", NONE), node("Unsqueeze", "n a", "u", NONE),
          node("Concat", "u m", "s", attr_int("axis", 0)), node("Reshape", "x s", "y", NONE),
          output("y", 1, NULL)),
     "y", "tensor(float) [N, 3]");
  IS(JOIN(input("x", 1, "N 3 4"), node("Size", "x", "n", NONE), INTS("a", 0),
          node("Unsqueeze", "n a", "s", NONE), node("ConstantOfShape", "s", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [12*N]");
  IS(JOIN(input("x", 1, "2 N 4"), node("Shape", "x", "s", JOIN(attr_int("start", -2), attr_int("end", 9))),
          node("ConstantOfShape", "s", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [N, 4]");
}

// ---- Layout -----------------------------------------------------------------------------------------------

#define SLICE(shape, start, end, step)                                                        \
  JOIN(input("x", 1, shape), INTS("b", start), INTS("e", end), INTS("a", 0), INTS("t", step), \
       node("Slice", "x b e a t", "y", NONE), output("y", 1, NULL))

static void test_slice(void) {
  IS(SLICE("10", 2, -1, 3), "y", "tensor(float) [3]");
  IS(SLICE("10", -1, -END, -3), "y", "tensor(float) [4]");
  IS(SLICE("10", 7, 2, 1), "y", "tensor(float) [0]");
  IS(SLICE("N 4", 0, END, 1), "y", "tensor(float) [N, 4]");
  IS(SLICE("N 4", 0, INT32_MAX, 2), "y", "tensor(float) [floor((N + 1)/2), 4]");
  IS(SLICE("N", -1, -END, -1), "y", "tensor(float) [N]");
  IS(SLICE("N", 0, 0, 1), "y", "tensor(float) [0]");
  FAULT(SLICE("10", 0, 1, 0), "Slice: steps[0] is 0");
  // The last dim of a shape, cut off a symbolic list.
  IS(JOIN(input("x", 1, "N 3 4"), INTS("b", 0), INTS("e", -1), INTS("a", 0), node("Shape", "x", "s", NONE),
          node("Slice", "s b e a", "h", NONE), node("ConstantOfShape", "h", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [N, 3]");
  version = 9;
  IS(JOIN(input("x", 1, "5 6"),
          node("Slice", "x", "y", JOIN(ATTR_INTS("starts", 1), ATTR_INTS("ends", 9), ATTR_INTS("axes", 1))),
          output("y", 1, NULL)),
     "y", "tensor(float) [5, 5]");
  version = 21;
}

static void test_layout(void) {
  IS(JOIN(input("x", 1, "N 3 4"), node("Transpose", "x", "y", ATTR_INTS("perm", 2, 0, 1)),
          output("y", 1, NULL)),
     "y", "tensor(float) [4, N, 3]");
  FAULT(
      JOIN(input("x", 1, "2 3"), node("Transpose", "x", "y", ATTR_INTS("perm", 0, 0)), output("y", 1, NULL)),
      "Transpose: perm (2 entries) is no permutation of the 2 axes of the input");
  IS(JOIN(input("x", 1, "N 3"), input("z", 1, "N 4"), node("Concat", "x z x", "y", attr_int("axis", -1)),
          output("y", 1, NULL)),
     "y", "tensor(float) [N, 10]");
  IS(JOIN(input("x", 1, "N 3"), input("z", 1, "M 3"), node("Concat", "x z", "y", attr_int("axis", 0)),
          output("y", 1, NULL)),
     "y", "tensor(float) [N + M, 3]");
  FAULT(JOIN(input("x", 1, "2 3"), input("z", 1, "2"), node("Concat", "x z", "y", attr_int("axis", 0)),
             output("y", 1, NULL)),
        "Concat: input 1 has rank 1, another has rank 2");
  FAULT(JOIN(input("x", 1, "2 3"), input("z", 1, "2 4"), node("Concat", "x z", "y", attr_int("axis", 0)),
             output("y", 1, NULL)),
        "Concat: inputs of Concat is 3 in one place and 4 in another");
  IS(JOIN(input("x", 1, "N 1"), INTS("s", 1, 5), node("Expand", "x s", "y", NONE), output("y", 1, NULL)), "y",
     "tensor(float) [N, 5]");
  FAULT(JOIN(input("x", 1, "3"), INTS("s", 4), node("Expand", "x s", "y", NONE), output("y", 1, NULL)),
        "Expand: axis 0: a dim of 3 does not broadcast to 4");
  IS(JOIN(input("x", 1, "N 2"), INTS("s", 2, 3), node("Tile", "x s", "y", NONE), output("y", 1, NULL)), "y",
     "tensor(float) [2*N, 6]");
  IS(JOIN(input("x", 1, "N 4"), INTS("p", 1, 0, 2, -1), node("Pad", "x p", "y", NONE), output("y", 1, NULL)),
     "y", "tensor(float) [N + 3, 3]");
  FAULT(JOIN(input("x", 1, "4"), INTS("p", -3, -2), node("Pad", "x p", "y", NONE), output("y", 1, NULL)),
        "Pad: axis 0: pads -3 and -2 leave less than nothing of a dim of 4");
  FAULT(JOIN(input("x", 1, "4 2"), INTS("p", 1, 2), node("Pad", "x p", "y", NONE), output("y", 1, NULL)),
        "Pad: pads has 2 entries for 2 axes, expected 4");
  FAULT(JOIN(input("x", 1, "1 3 2 2"), node("DepthToSpace", "x", "y", attr_int("blocksize", 2)),
             output("y", 1, NULL)),
        "DepthToSpace: a depth of 3 is no multiple of 4");
  IS(JOIN(input("x", 1, "N 8 H 2"), node("DepthToSpace", "x", "y", attr_int("blocksize", 2)),
          output("y", 1, NULL)),
     "y", "tensor(float) [N, 2, 2*H, 4]");
}

#define SPLIT(shape, inputs, more) \
  JOIN(input("x", 1, shape), INTS("s", 2, 1, 4), node("Split", inputs, "a b c", more), output("c", 1, NULL))

static void test_split(void) {
  IS(SPLIT("7 N", "x s", NONE), "c", "tensor(float) [4, N]");
  IS(SPLIT("7", "x", attr_int("num_outputs", 3)), "c", "tensor(float) [1]");
  IS(SPLIT("2", "x", attr_int("num_outputs", 3)), "b", "tensor(float) [1]");
  IS(SPLIT("2", "x", attr_int("num_outputs", 3)), "c", "tensor(float) [0]");
  FAULT(SPLIT("6", "x s", NONE), "Split: split adds up to 7, but the dim is 6");
  FAULT(SPLIT("1", "x", attr_int("num_outputs", 3)),
        "Split: a dim of 1 in 3 parts of 1 leaves -1 for the last one");
  FAULT(SPLIT("6", "x", attr_int("num_outputs", 2)), "Split: num_outputs is 2, the node has 3 outputs");
  FAULT(SPLIT("7", "x s", attr_int("num_outputs", 3)), "Split: split and num_outputs are both given");
  version = 13;
  FAULT(SPLIT("4 1 6 6", "x", NONE), "Split: a dim of 4 cannot be split into 3 equal parts");
  IS(SPLIT("6", "x", NONE), "a", "tensor(float) [2]");
  version = 11;
  IS(SPLIT("7", "x", ATTR_INTS("split", 1, 1, 5)), "c", "tensor(float) [5]");
  version = 21;
}

// ---- Picking and generating -------------------------------------------------------------------------------

static void test_indices(void) {
  IS(JOIN(input("x", 1, "N 3 4"), input("i", 7, "2 M"), node("Gather", "x i", "y", attr_int("axis", 1)),
          output("y", 1, NULL)),
     "y", "tensor(float) [N, 2, M, 4]");
  FAULT(JOIN(input("x", 1, "3"), INTS("i", 0, -4), node("Gather", "x i", "y", NONE), output("y", 1, NULL)),
        "Gather: indices: element 1 is -4, outside of axis 0 with 3 places");
  IS(JOIN(input("x", 1, "B 3 4"), input("i", 7, "B 5 1"),
          node("GatherND", "x i", "y", attr_int("batch_dims", 1)), output("y", 1, NULL)),
     "y", "tensor(float) [B, 5, 4]");
  FAULT(JOIN(input("x", 1, "2 3"), input("i", 7, "4 3"), node("GatherND", "x i", "y", NONE),
             output("y", 1, NULL)),
        "GatherND: indices name 3 axes; data has 2 after the batch ones");
  IS(JOIN(input("i", 7, "N"), SCALAR("d", 5), INTS("v", 0, 1),
          node("OneHot", "i d v", "y", attr_int("axis", 0)), output("y", 7, NULL)),
     "y", "tensor(int64) [5, N]");
  IS(JOIN(input("x", 1, "N 3"), node("NonZero", "x", "y", NONE), output("y", 7, NULL)), "y",
     "tensor(int64) [2, ?]");
  IS(JOIN(input("x", 1, "N 3"), node("Unique", "x", "y _ i", NONE), output("i", 7, NULL)), "i",
     "tensor(int64) [3*N]");
}

static void test_generated(void) {
  IS(JOIN(input("x", 1, "N 3"), SCALAR("z", 0), SCALAR("o", 1), node("Shape", "x", "s", NONE),
          node("Gather", "s z", "n", NONE), node("Range", "z n o", "y", NONE), output("y", 7, NULL)),
     "y", "tensor(int64) [N]");
  IS(JOIN(SCALAR("a", 10), SCALAR("b", -1), SCALAR("c", -3), node("Range", "a b c", "y", NONE),
          output("y", 7, NULL)),
     "y", "tensor(int64) [4]");
  FAULT(JOIN(SCALAR("a", 1), SCALAR("b", 2), SCALAR("c", 0), node("Range", "a b c", "y", NONE),
             output("y", 7, NULL)),
        "Range: delta is 0");
  IS(JOIN(initializer(ints_tensor("s", 0, NULL)), node("ConstantOfShape", "s", "y", NONE),
          output("y", 1, NULL)),
     "y", "tensor(float) []");
  FAULT(JOIN(INTS("s", 2, -3), node("ConstantOfShape", "s", "y", NONE), output("y", 1, NULL)),
        "ConstantOfShape: input[1] is -3");
  IS(JOIN(node("Constant", "", "s", ATTR_INTS("value_ints", 2, 5)), node("ConstantOfShape", "s", "y", NONE),
          output("y", 1, NULL)),
     "y", "tensor(float) [2, 5]");
  FAULT(JOIN(node("Constant", "", "y", JOIN(attr_int("value_int", 2), ATTR_INTS("value_ints", 2))),
             output("y", 7, NULL)),
        "Constant: exactly one of value, sparse_value, value_* must be given, not 2");
  IS(JOIN(input("x", 1, "N 1 4 6"), INTS("z", 0), node("Resize", "x _ _ t", "y", NONE), INTS("t", 1, 1, 8, 3),
          output("y", 1, NULL)),
     "y", "tensor(float) [1, 1, 8, 3]");
}

// ---- Control flow -----------------------------------------------------------------------------------------

static wire branch(const char *reads) {
  return JOIN(STR(2, "b"), MSG(1, node_bare("Neg", reads, "o", NONE)), untyped(12, "o"));
}
#define IF(shape_a, shape_b)                                                                       \
  JOIN(input("c", 9, ""), input("p", 1, shape_a), input("q", 1, shape_b),                          \
       node("If", "c", "y",                                                                        \
            JOIN(attr_graph("then_branch", branch("p")), attr_graph("else_branch", branch("q")))), \
       output("y", 1, NULL))

// Adds the carried value to itself along an axis, or not, and gives it out.
static wire loop_body(bool grows) {
  wire step = grows ? MSG(1, node_bare("Concat", "v v", "w", attr_int("axis", 0)))
                    : MSG(1, node_bare("Neg", "v", "w", NONE));
  return JOIN(STR(2, "b"), step, MSG(1, node_bare("Identity", "c", "d", NONE)),
              MSG(1, node_bare("Identity", "w", "s", NONE)), info(11, "i", 7, ""), info(11, "c", 9, ""),
              untyped(11, "v"), untyped(12, "d"), untyped(12, "w"), untyped(12, "s"));
}
#define LOOP(inputs, grows)                                                                     \
  JOIN(SCALAR("m", 5), input("k", 9, ""), input("x", 1, "N 3"),                                 \
       node("Loop", inputs, "y z", attr_graph("body", loop_body(grows))), output("y", 1, NULL), \
       output("z", 1, NULL))

static void test_control(void) {
  IS(IF("2", "3"), "y", "tensor(float) [?]");
  IS(IF("", "2"), "y", "tensor(float)");
  IS(IF("N 2", "N 2"), "y", "tensor(float) [N, 2]");
  IS(LOOP("m _ x", false), "y", "tensor(float) [N, 3]");
  IS(LOOP("m _ x", false), "z", "tensor(float) [5, N, 3]");
  IS(LOOP("m k x", false), "z", "tensor(float) [?, N, 3]");
  IS(LOOP("m _ x", true), "y", "tensor(float)");
  // A body that is looked at twice, because a shape grows, tells its faults once.
  wire faulty = JOIN(loop_body(true), MSG(1, node_bare("Transpose", "v", "t", ATTR_INTS("perm", 1))));
  FAULT(JOIN(SCALAR("m", 5), input("x", 1, "3"), node("Loop", "m _ x", "y", attr_graph("body", faulty)),
             output("y", 1, NULL)),
        "Transpose: perm (1 entries) is no permutation of the 1 axes of the input");
  wire body = JOIN(STR(2, "b"), MSG(1, node_bare("Add", "h e", "o", NONE)),
                   MSG(1, node_bare("Identity", "o", "t", NONE)), untyped(11, "h"), untyped(11, "e"),
                   untyped(12, "o"), untyped(12, "t"));
  wire scan = JOIN(attr_int("num_scan_inputs", 1), attr_graph("body", body), ATTR_INTS("scan_input_axes", 1),
                   ATTR_INTS("scan_output_axes", -1));
  wire fields = JOIN(input("x", 1, "4 T"), input("h", 1, "4"), node("Scan", "h x", "y z", scan),
                     output("y", 1, NULL), output("z", 1, NULL));
  IS(fields, "y", "tensor(float) [4]");
  IS(fields, "z", "tensor(float) [4, T]");
}

int main(void) {
  os_arena_init(&scratch, &memory);
  os_wire_arena = &scratch;
  test_reshape();
  test_views();
  test_slice();
  test_layout();
  test_split();
  test_indices();
  test_generated();
  test_control();
  os_arena_clear(&scratch);
  return CHECK_END();
}
