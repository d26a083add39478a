#include "check.h"
#include "document_fixture.h"
#include "message_diff.h"
#include "wire_build.h"

static os_document *open_wire(fixture *self, os_kind kind, wire bytes) {
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = kind};
  os_document *document = NULL;
  CHECK_EQ(os_document_open(&self->memory, &source, &options, &self->report, &document), OS_OK);
  return document;
}

static os_message_diff compare(fixture *self, os_kind kind, wire a, wire b, size_t limit) {
  os_document *x = open_wire(self, kind, a), *y = open_wire(self, kind, b);
  os_message_diff diff = {
      .memory = &self->memory, .arena = &self->arena, .types = self->types, .limit = limit};
  CHECK_EQ(os_message_diff_run(&diff, x, y), OS_OK);
  os_document_close(x);
  os_document_close(y);
  return diff;
}

static wire node(const char *name, const char *op, const char *input, const char *output) {
  wire named = name == NULL ? (wire){"", 0} : STR(3, name);
  return MSG(1, JOIN(STR(1, input), STR(2, output), named, STR(4, op)));
}

static void test_nodes(void) {
  fixture fixture;
  start(&fixture);
  os_wire_arena = &fixture.arena;
  wire a = JOIN(node("r", "Relu", "x", "a"), node(NULL, "Abs", "a", "b"), node(NULL, "Neg", "b", "y"));
  wire b = JOIN(node(NULL, "Exp", "x", "q"), node("r", "Relu", "q", "a"), node(NULL, "Abs", "a", "b"),
                node(NULL, "Cos", "b", "y"));
  os_message_diff diff = compare(&fixture, OS_KIND_GRAPH, a, b, 10);
  CHECK_EQ(diff.changes.count, 3);
  CHECK_STR(diff.changes.items[0].path, "node[0]");
  CHECK_STR(diff.changes.items[0].message, "node[0] (Exp) was added.");
  CHECK_EQ(diff.changes.items[0].kind, OS_CHANGE_ADDED);
  CHECK_STR(diff.changes.items[1].path, "node[1].input");
  CHECK_STR(diff.changes.items[1].message, "node \"r\" (Relu): input was [\"x\"] and is [\"q\"].");
  CHECK_STR(diff.changes.items[2].path, "node[3].op_type");
  CHECK_STR(diff.changes.items[2].message, "node[3] (Cos): op_type was \"Neg\" and is \"Cos\".");
  diff = compare(&fixture, OS_KIND_GRAPH, b, a, 10);
  CHECK_EQ(diff.changes.count, 3);
  CHECK_EQ(diff.changes.items[0].kind, OS_CHANGE_REMOVED);
  CHECK_STR(diff.changes.items[0].path, "node[0]");
  diff = compare(&fixture, OS_KIND_GRAPH, a, b, 1);
  CHECK_EQ(diff.changes.count, 1);
  CHECK_EQ(diff.left, 2);
  CHECK_EQ(compare(&fixture, OS_KIND_GRAPH, a, a, 10).changes.count, 0);
  finish(&fixture);
}

static void test_order_and_presence(void) {
  fixture fixture;
  start(&fixture);
  os_wire_arena = &fixture.arena;
  wire x = node("x", "Relu", "i", "a"), y = node("y", "Relu", "i", "b");
  os_message_diff diff = compare(&fixture, OS_KIND_GRAPH, JOIN(x, y), JOIN(y, x), 10);
  CHECK_EQ(diff.changes.count, 1);
  CHECK_EQ(diff.changes.items[0].kind, OS_CHANGE_ORDER);
  // A default that is written says nothing; the same fields in another order say the same.
  CHECK_EQ(compare(&fixture, OS_KIND_GRAPH, STR(2, "g"), JOIN(STR(10, ""), STR(2, "g")), 10).changes.count,
           0);
  CHECK_EQ(
      compare(&fixture, OS_KIND_GRAPH, JOIN(STR(2, "g"), STR(10, "d")), JOIN(STR(10, "d"), STR(2, "g")), 10)
          .changes.count,
      0);
  // Fields that nobody knows.
  CHECK_EQ(compare(&fixture, OS_KIND_GRAPH, INT(99, 1), INT(99, 1), 10).changes.count, 0);
  CHECK_STR(compare(&fixture, OS_KIND_GRAPH, INT(99, 1), INT(99, 2), 10).changes.items[0].message,
            "unknown field 99 differs.");
  finish(&fixture);
}

static void test_tensors(void) {
  fixture fixture;
  start(&fixture);
  os_wire_arena = &fixture.arena;
  wire head = JOIN(INT(1, 2), INT(2, 1));
  wire floats = JOIN(head, F32(4, 1), F32(4, 2)),
       raw = JOIN(head, MSG(9, ((wire){"\0\0\x80\x3f\0\0\0\x40", 8})));
  wire other = JOIN(head, MSG(9, ((wire){"\0\0\x80\x3f\0\0\x40\x40", 8})));
  os_message_diff diff = compare(&fixture, OS_KIND_TENSOR, floats, raw, 10);
  CHECK_EQ(diff.changes.count, 1);
  CHECK_STR(diff.changes.items[0].message,
            "the elements are the same, stored in raw_data, before in float_data.");
  diff = compare(&fixture, OS_KIND_TENSOR, floats, other, 10);
  CHECK_EQ(diff.changes.count, 1);
  CHECK_STR(diff.changes.items[0].message,
            "element [1] is 3, expected 2; 1 of 2 differ, at most by 1 (relative 0.5, 4194304 ULP).");
  // What cannot be read is compared as bytes.
  diff = compare(&fixture, OS_KIND_TENSOR, JOIN(head, MSG(9, ((wire){"\1", 1}))),
                 JOIN(head, MSG(9, ((wire){"\2", 1}))), 10);
  CHECK_EQ(diff.changes.count, 1);
  CHECK_STR(diff.changes.items[0].message, "raw_data of 1 bytes differs from byte 0 on.");
  finish(&fixture);
}

// Graphs in attributes in graphs: linear in the size, whatever the depth.
static wire nested(const char *op, int depth) {
  wire graph = node("n", op, "x", "y");
  for (int i = 0; i < depth; i++)
    graph = MSG(1, JOIN(STR(1, "c"), STR(2, "y"), STR(4, "If"), MSG(5, JOIN(STR(1, "b"), MSG(6, graph)))));
  return graph;
}

static void test_depth(void) {
  fixture fixture;
  start(&fixture);
  os_wire_arena = &fixture.arena;
  os_message_diff diff = compare(&fixture, OS_KIND_GRAPH, nested("Relu", 80), nested("Abs", 80), 10);
  CHECK_EQ(diff.changes.count, 1);
  os_str path = diff.changes.items[0].path;
  CHECK(path.len > 80 * 10);
  CHECK_STR(os_str_slice(path, path.len - 15, path.len), "node[0].op_type");
  finish(&fixture);
}

int main(void) {
  test_nodes();
  test_order_and_presence();
  test_tensors();
  test_depth();
  return CHECK_END();
}
