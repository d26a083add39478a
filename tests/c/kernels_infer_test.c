// Shapes that kernels infer where dims are symbols, and the values that travel with them.

#include "check.h"
#include "fact.h"
#include "families.h"

#include <string.h>

static os_memory memory;
static os_arena arena;
static os_registry *registry;
static os_dims *dims;

enum { MOST = 3 };

typedef struct scene {
  os_inferring inferring;
  os_operator found;
  op_node node;
  op_attribute attributes[8];
  op_fact in[MOST], out[MOST];
  const op_fact *inputs[MOST];
  op_fact *outputs[MOST];
  uint32_t input_count;
} scene;

static scene now;

static void open(const char *op_type, int version) {
  now = (scene){0};
  now.inferring = (os_inferring){.arena = &arena, .types = os_registry_types(registry), .dims = dims};
  now.found = os_registry_find(registry, OS_STR(""), os_str_of(op_type), OS_STR(""), version);
  CHECK(now.found.row != NULL && now.found.row->infer != NULL);
  now.node = (op_node){.op_type = os_str_of(op_type), .schema = now.found.schema, .row = now.found.row};
  now.node.attributes = now.attributes;
  for (int i = 0; i < MOST; i++) now.out[i].rank = -1;
  now.outputs[0] = &now.out[0];
}

static op_fact *input(op_elem elem, int32_t rank, const op_dim *shape) {
  op_fact *fact = &now.in[now.input_count];
  *fact = (op_fact){.type = elem, .rank = rank, .dims = shape};
  now.inputs[now.input_count++] = fact;
  return fact;
}

// A one-dimensional int64 input that holds these.
static void small(const op_dim *shape, const op_dim *values) {
  op_fact *fact = input(OP_INT64, 1, shape);
  fact->small = values;
  fact->small_count = (uint32_t)shape[0];
}

// Attributes come in the order of their names.
static void ints(const char *name, uint32_t count, const int64_t *values) {
  now.attributes[now.node.attribute_count++] =
      (op_attribute){.name = os_str_of(name), .kind = OP_ATTR_INTS, .count = count, .as.ints = values};
}

static void number(const char *name, int64_t value) {
  now.attributes[now.node.attribute_count++] =
      (op_attribute){.name = os_str_of(name), .kind = OP_ATTR_INT, .as.i = value};
}

static os_status infer(void) {
  op_infer ctx = {.inferring = &now.inferring,
                  .node = &now.node,
                  .inputs = now.inputs,
                  .input_count = now.input_count,
                  .outputs = now.outputs,
                  .output_count = 1};
  return os_infer_run(&ctx, now.found.row);
}

static os_str shape(void) {
  return now.out[0].rank < 0 ? OS_STR("?")
                             : os_dims_print_shape(dims, &arena, now.out[0].rank, now.out[0].dims);
}

#define CHECK_SHAPE(text)     \
  do {                        \
    CHECK_EQ(infer(), OS_OK); \
    CHECK_STR(shape(), text); \
  } while (0)

#define DIMS(...) ((const op_dim[]){__VA_ARGS__})
#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static void test_windows(op_dim n, op_dim h) {
  open("Conv", 22);
  input(OP_FLOAT, 4, DIMS(n, 3, h, 224));
  input(OP_FLOAT, 4, DIMS(8, 3, 3, 3));
  ints("pads", 4, INTS(1, 1, 1, 1));
  ints("strides", 2, INTS(1, 2));
  CHECK_SHAPE("[N, 8, H, 112]");
  open("Conv", 22);
  input(OP_FLOAT, 4, DIMS(n, 4, h, 224));
  input(OP_FLOAT, 4, DIMS(8, 3, 3, 3));
  CHECK_EQ(infer(), OS_OPERATOR_FAILED);
  open("Conv", 11); // weights without an axis
  input(OP_FLOAT, 4, DIMS(7, 6, 1, 5));
  input(OP_FLOAT, 0, NULL);
  CHECK_EQ(infer(), OS_OPERATOR_FAILED);
  open("AveragePool", 22);
  input(OP_FLOAT, 3, DIMS(n, 1, 4));
  number("ceil_mode", 1);
  ints("kernel_shape", 1, INTS(3));
  ints("pads", 2, INTS(1, 1));
  ints("strides", 1, INTS(2));
  CHECK_SHAPE("[N, 1, 3]");
  open("MaxPool", 22); // no window fits
  input(OP_FLOAT, 3, DIMS(1, 1, 4));
  ints("dilations", 1, INTS(2));
  ints("kernel_shape", 1, INTS(3));
  ints("strides", 1, INTS(2));
  CHECK_SHAPE("[1, 1, 0]");
  open("ConvTranspose", 22);
  input(OP_FLOAT, 3, DIMS(n, 4, h));
  input(OP_FLOAT, 3, DIMS(4, 3, 2));
  ints("strides", 1, INTS(2));
  CHECK_SHAPE("[N, 3, 2*H]");
}

static void test_products(op_dim n, op_dim h) {
  open("MatMul", 13);
  input(OP_FLOAT, 4, DIMS(n, 1, h, 16));
  input(OP_FLOAT, 3, DIMS(5, 16, 9));
  CHECK_SHAPE("[N, 5, H, 9]");
  open("MatMul", 13);
  input(OP_FLOAT, 2, DIMS(n, 16));
  input(OP_FLOAT, 2, DIMS(15, 9));
  CHECK_EQ(infer(), OS_OPERATOR_FAILED);
  open("Gemm", 6); // B is a scalar
  input(OP_DOUBLE, 2, DIMS(2, 1));
  input(OP_DOUBLE, 0, NULL);
  input(OP_DOUBLE, 1, DIMS(2));
  CHECK_EQ(infer(), OS_OPERATOR_FAILED);
}

static void test_reductions(op_dim n, op_dim h) {
  open("ReduceSum", 13);
  input(OP_FLOAT, 3, DIMS(n, h, 4));
  small(DIMS(2), DIMS(-1, 0));
  CHECK_SHAPE("[1, H, 1]");
  open("ReduceMax", 12);
  input(OP_FLOAT, 3, DIMS(n, h, 4));
  ints("axes", 1, INTS(1));
  number("keepdims", 0);
  CHECK_SHAPE("[N, 4]");
  open("ArgMax", 13);
  input(OP_FLOAT, 2, DIMS(n, 0));
  number("axis", 1);
  CHECK_EQ(infer(), OS_OPERATOR_FAILED);
}

static void test_travel(op_dim n, op_dim h) {
  open("Mul", 14);
  small(DIMS(2), DIMS(n, 3));
  small(DIMS(1), DIMS(h));
  CHECK_EQ(infer(), OS_OK);
  CHECK_EQ(now.out[0].small_count, 2);
  CHECK_STR(os_dims_print(dims, &arena, now.out[0].small[0]), "N*H");
  CHECK_STR(os_dims_print(dims, &arena, now.out[0].small[1]), "3*H");
  open("Div", 14);
  small(DIMS(2), DIMS(-7, 7));
  small(DIMS(1), DIMS(2));
  CHECK_EQ(infer(), OS_OK);
  CHECK_EQ(now.out[0].small[0], -3);
  CHECK_EQ(now.out[0].small[1], 3);
  open("Equal", 13); // a length is not -1
  small(DIMS(3), DIMS(n, -1, 5));
  small(DIMS(1), DIMS(-1));
  CHECK_EQ(infer(), OS_OK);
  CHECK_EQ(now.out[0].type, OP_BOOL);
  CHECK_EQ(now.out[0].small[0], 0);
  CHECK_EQ(now.out[0].small[1], 1);
  CHECK_EQ(now.out[0].small[2], 0);
  open("ReduceProd", 18);
  small(DIMS(3), DIMS(n, 2, 3));
  number("keepdims", 0);
  CHECK_EQ(infer(), OS_OK);
  CHECK(now.out[0].small_scalar);
  CHECK_STR(os_dims_print(dims, &arena, now.out[0].small[0]), "6*N");
}

int main(void) {
  os_arena_init(&arena, &memory);
  registry = os_registry_new(&arena, os_types_new(&arena), op_families);
  dims = os_dims_new(&arena);
  op_dim n = os_dims_symbol(dims, OS_STR("N")), h = os_dims_symbol(dims, OS_STR("H"));
  test_windows(n, h);
  test_products(n, h);
  test_reductions(n, h);
  test_travel(n, h);
  os_arena_clear(&arena);
  return CHECK_END();
}
