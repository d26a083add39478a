#include "check.h"
#include "dims.h"
#include "type_expr.h"

static os_memory memory;
static os_arena arena;

// ---- Elements ---------------------------------------------------------------------------------------------

static void test_elements(void) {
  CHECK_EQ(op_elem_size(OP_FLOAT), 4);
  CHECK_EQ(op_elem_size(OP_INT4), 1);
  CHECK_EQ(op_elem_size(OP_COMPLEX128), 16);
  CHECK_EQ(op_elem_size(OP_STRING), sizeof(os_str));
  CHECK_EQ(op_elem_size(OP_NONE), 0);
  CHECK_EQ(os_elem_by_onnx_name(OS_STR("double")), OP_DOUBLE);
  CHECK_EQ(os_elem_by_onnx_name(OS_STR("float64")), OP_NONE);
  CHECK_EQ(os_elem_by_js_name(OS_STR("float64")), OP_DOUBLE);
  CHECK(os_elem_info_of(0) == NULL && os_elem_info_of(27) == NULL && os_elem_info_of(-1) == NULL);
  for (int i = 1; i < OP_ELEM_COUNT; i++) {
    CHECK_EQ(os_elem_by_onnx_name(os_str_of(op_elem_name((op_elem)i))), i);
    CHECK(op_elem_size((op_elem)i) > 0);
  }
}

// ---- Types ------------------------------------------------------------------------------------------------

static op_type parse(os_types *types, const char *text, os_type_fault *fault) {
  op_type type;
  CHECK_EQ(os_type_parse(types, &arena, os_str_of(text), &type, fault), OS_OK);
  return type;
}

static void test_canonical(void) {
  static const char *const texts[][2] = {
      {"tensor(float)", "tensor(float)"},
      {"tensor( int2 )", "tensor(int2)"},
      {"sparse_tensor(complex64)", "sparse_tensor(complex64)"},
      {"seq(seq(tensor(string)))", "seq(seq(tensor(string)))"},
      {"map(int64,float)", "map(int64, float)"},
      {"map(int64, tensor(float))", "map(int64, float)"},
      {"map(string , seq( map(uint8,double) ))", "map(string, seq(map(uint8, double)))"},
      {"optional(seq(tensor(bool)))", "optional(seq(tensor(bool)))"},
      {"opaque(com.acme,Thing)", "opaque(com.acme,Thing)"},
      {"opaque(Thing)", "opaque(Thing)"},
      {" tensor(float8e4m3fn)\n", "tensor(float8e4m3fn)"},
  };
  os_types *types = os_types_new(&arena);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    os_type_fault fault;
    op_type type = parse(types, texts[i][0], &fault);
    CHECK_EQ(fault.kind, OS_TYPE_FAULT_NONE);
    os_str printed = os_types_print(types, &arena, type);
    CHECK_STR(printed, texts[i][1]);
    CHECK_EQ(parse(types, texts[i][1], &fault), type);
  }
}

static void test_interning(void) {
  os_types *types = os_types_new(&arena), *others = os_types_new(&arena);
  os_type_fault fault;
  CHECK_EQ(parse(types, "tensor(int32)", &fault), OP_INT32);
  op_type standard = parse(types, "seq(tensor(float))", &fault);
  CHECK(standard >= OP_ELEM_COUNT);
  CHECK_EQ(parse(others, "seq(tensor(float))", &fault), standard); // the standard's have fixed ids
  CHECK_EQ(parse(types, "map(int64, float)", &fault), parse(others, "map(int64,tensor(float))", &fault));
  op_type a = parse(types, "opaque(ab,c)", &fault), b = parse(types, "opaque(a,bc)", &fault);
  CHECK(a != b && a != 0 && b != 0);
  CHECK_EQ(os_types_get(types, a).kind, OS_TYPE_OPAQUE);
  CHECK_STR(os_types_get(types, a).domain, "ab");
  CHECK_EQ(os_types_get(types, 0).kind, OS_TYPE_UNKNOWN);
  CHECK_EQ(os_types_get(types, 99999).kind, OS_TYPE_UNKNOWN);
  CHECK_STR(os_types_print(types, &arena, 0), "?");
}

typedef struct fault_case {
  const char *text;
  os_type_fault_kind kind;
  size_t offset, len;
  const char *suggestion;
} fault_case;

static void test_faults(void) {
  static const fault_case cases[] = {
      {"tensor(float32)", OS_TYPE_FAULT_ELEMENT, 7, 7, "tensor(float)"},
      {"tensor(fp16)", OS_TYPE_FAULT_ELEMENT, 7, 4, "tensor(float16)"},
      {"tensor(flaot)", OS_TYPE_FAULT_ELEMENT, 7, 5, "tensor(float)"},
      {"tensor(Int64)", OS_TYPE_FAULT_ELEMENT, 7, 5, "tensor(int64)"},
      {"tensor(quaternion)", OS_TYPE_FAULT_ELEMENT, 7, 10, ""},
      {"map(int64, float32)", OS_TYPE_FAULT_ELEMENT, 11, 7, "map(int64, float)"},
      {"double[]", OS_TYPE_FAULT_SYNTAX, 0, 6, "tensor(double)"},
      {"Tensor<float>", OS_TYPE_FAULT_SYNTAX, 0, 6, "tensor(float)"},
      {"float", OS_TYPE_FAULT_SYNTAX, 0, 5, "tensor(float)"},
      {"tensor(float", OS_TYPE_FAULT_SYNTAX, 12, 0, "tensor(float)"},
      {"tensor(float))", OS_TYPE_FAULT_SYNTAX, 13, 1, "tensor(float)"},
      {"List[Tensor[int8]]", OS_TYPE_FAULT_SYNTAX, 0, 4, "seq(tensor(int8))"},
      {"sequence(tensor(str))", OS_TYPE_FAULT_SYNTAX, 0, 8, "seq(tensor(string))"},
      {"dict<string, float32>", OS_TYPE_FAULT_SYNTAX, 0, 4, "map(string, float)"},
      {"tensor float", OS_TYPE_FAULT_SYNTAX, 7, 1, "tensor(float)"},
      {"seq tensor fp16", OS_TYPE_FAULT_SYNTAX, 4, 1, "seq(tensor(float16))"},
      {"optional(tensor int8)", OS_TYPE_FAULT_SYNTAX, 16, 1, "optional(tensor(int8))"},
      {"tensor float double", OS_TYPE_FAULT_SYNTAX, 7, 1, ""},
      {"float tensor", OS_TYPE_FAULT_SYNTAX, 0, 5, ""},
      {"tnsor(float)", OS_TYPE_FAULT_SYNTAX, 0, 5, "tensor(float)"},
      {"mpa(string, int64)", OS_TYPE_FAULT_SYNTAX, 0, 3, "map(string, int64)"},
      {"sparse_tesnor<int8>", OS_TYPE_FAULT_SYNTAX, 0, 13, "sparse_tensor(int8)"},
      {"thing(float)", OS_TYPE_FAULT_SYNTAX, 0, 5, ""},
      {"", OS_TYPE_FAULT_SYNTAX, 0, 0, ""},
      {"tensor()", OS_TYPE_FAULT_SYNTAX, 7, 1, ""},
      {"map(float, int64)", OS_TYPE_FAULT_MAP_KEY, 4, 5, ""},
      {"map(tensor(int64), int64)", OS_TYPE_FAULT_MAP_KEY, 4, 6, ""},
      {"map(int4, int64)", OS_TYPE_FAULT_MAP_KEY, 4, 4, ""},
      {"optional(optional(tensor(float)))", OS_TYPE_FAULT_NESTING, 9, 8, ""},
      {"sparse_tensor(seq(tensor(float)))", OS_TYPE_FAULT_NESTING, 14, 3, ""},
      {"tensor(tensor(float))", OS_TYPE_FAULT_NESTING, 7, 6, ""},
      {"opaque()", OS_TYPE_FAULT_SYNTAX, 7, 1, ""},
  };
  os_types *types = os_types_new(&arena);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    os_type_fault fault;
    CHECK_EQ(parse(types, cases[i].text, &fault), 0);
    CHECK_EQ(fault.kind, cases[i].kind);
    CHECK_EQ(fault.offset, cases[i].offset);
    CHECK_EQ(fault.len, cases[i].len);
    CHECK_STR(fault.suggestion, cases[i].suggestion);
    CHECK(fault.expected != NULL);
  }
}

static void test_depth(void) {
  os_types *types = os_types_new(&arena);
  char text[2000] = "";
  for (int depth = 63; depth <= 65; depth++) {
    text[0] = 0;
    for (int i = 0; i < depth; i++) strcat(text, "seq(");
    strcat(text, "tensor(float)");
    for (int i = 0; i < depth; i++) strcat(text, ")");
    os_type_fault fault;
    op_type type = parse(types, text, &fault);
    CHECK_EQ(type != 0, depth <= OS_TYPE_DEPTH);
    CHECK_EQ(fault.kind, depth <= OS_TYPE_DEPTH ? OS_TYPE_FAULT_NONE : OS_TYPE_FAULT_NESTING);
    if (type != 0) CHECK_STR(os_types_print(types, &arena, type), text);
  }
}

// ---- Dims -------------------------------------------------------------------------------------------------

static os_dims *dims;
#define CHECK_DIM(dim, text) CHECK_STR(os_dims_print(dims, &arena, (dim)), text)

static void test_sums(void) {
  op_dim n = os_dims_symbol(dims, OS_STR("N")), m = os_dims_symbol(dims, OS_STR("M"));
  CHECK_EQ(os_dims_symbol(dims, OS_STR("N")), n);
  CHECK(n < 0 && m < 0 && n != m && !op_dim_is_number(n));
  CHECK_EQ(os_dims_add(dims, os_dims_sub(dims, n, 1), 1), n);
  CHECK_EQ(os_dims_sub(dims, n, n), 0);
  CHECK_EQ(os_dims_sub(dims, 3, 5), -2);
  CHECK_EQ(os_dims_add(dims, n, m), os_dims_add(dims, m, n));
  CHECK_EQ(os_dims_mul(dims, n, os_dims_mul(dims, m, 6)),
           os_dims_mul(dims, os_dims_mul(dims, 2, n), os_dims_mul(dims, m, 3)));
  op_dim square = os_dims_mul(dims, os_dims_add(dims, n, 1), os_dims_sub(dims, n, 1));
  CHECK_DIM(square, "N*N - 1");
  CHECK_DIM(os_dims_add(dims, os_dims_mul(dims, 2, n), 1), "2*N + 1");
  CHECK_DIM(os_dims_sub(dims, 3, os_dims_mul(dims, n, m)), "-N*M + 3");
  CHECK_DIM(OP_DIM_UNKNOWN, "?");
  CHECK_DIM(7, "7");
  CHECK_DIM(-1, "-1");
  CHECK_EQ(os_dims_add(dims, n, OP_DIM_UNKNOWN), OP_DIM_UNKNOWN);
  CHECK_EQ(os_dims_mul(dims, 0, n), 0);
  CHECK_EQ(os_dims_mul(dims, 0, OP_DIM_UNKNOWN), 0);
  CHECK_EQ(os_dims_add(dims, INT64_MAX, 1), OP_DIM_UNKNOWN);
  CHECK_EQ(os_dims_mul(dims, INT64_MAX, os_dims_mul(dims, n, 2)), OP_DIM_UNKNOWN);
  CHECK_EQ(os_dims_mul(dims, -((int64_t)1 << 40), (int64_t)1 << 23), OP_DIM_UNKNOWN);
}

static void test_division(void) {
  op_dim a = os_dims_symbol(dims, OS_STR("a")), b = os_dims_symbol(dims, OS_STR("b"));
  op_dim ab = os_dims_mul(dims, a, b);
  CHECK_EQ(os_dims_floordiv(dims, os_dims_mul(dims, ab, 6), ab), 6);
  CHECK_EQ(os_dims_floordiv(dims, os_dims_mul(dims, ab, 6), os_dims_mul(dims, 3, a)),
           os_dims_mul(dims, 2, b));
  CHECK_EQ(os_dims_floordiv(dims, 7, 2), 3);
  CHECK_EQ(os_dims_floordiv(dims, -7, 2), -4);
  CHECK_EQ(os_dims_floordiv(dims, 7, -2), -4);
  CHECK_EQ(os_dims_ceildiv(dims, 7, 2), 4);
  CHECK_EQ(os_dims_ceildiv(dims, -7, 2), -3);
  CHECK_EQ(os_dims_floordiv(dims, 7, 0), OP_DIM_UNKNOWN);
  CHECK_EQ(os_dims_floordiv(dims, a, 1), a);
  CHECK_EQ(os_dims_floordiv(dims, a, a), 1);
  op_dim more = os_dims_add(dims, a, 1);
  CHECK_EQ(os_dims_floordiv(dims, os_dims_mul(dims, more, os_dims_mul(dims, b, 4)), more),
           os_dims_mul(dims, 4, b));
  CHECK_EQ(os_dims_floordiv(dims, os_dims_add(dims, os_dims_mul(dims, 4, a), 6),
                            os_dims_add(dims, os_dims_mul(dims, 2, a), 3)),
           2);
  // A convolution of stride 2 by two ways: floor((a - 1)/2) + 1 and ceil(a/2).
  op_dim half = os_dims_add(dims, os_dims_floordiv(dims, os_dims_sub(dims, a, 1), 2), 1);
  CHECK_DIM(half, "floor((a + 1)/2)");
  CHECK_EQ(half, os_dims_ceildiv(dims, a, 2));
  CHECK_EQ(os_dims_floordiv(dims, os_dims_add(dims, half, 1), 2),
           os_dims_floordiv(dims, os_dims_add(dims, a, 3), 4));
  CHECK_DIM(os_dims_floordiv(dims, os_dims_add(dims, os_dims_mul(dims, 6, a), 9), 4), "a + floor(a/2) + 2");
  CHECK_DIM(os_dims_floordiv(dims, os_dims_add(dims, os_dims_mul(dims, 2, a), 5), 4), "floor(a/2) + 1");
  CHECK_DIM(os_dims_floordiv(dims, b, a), "floor(b/a)");
  CHECK_DIM(os_dims_floordiv(dims, os_dims_add(dims, ab, b), a), "b + floor(b/a)");
  CHECK_DIM(os_dims_ceildiv(dims, os_dims_add(dims, ab, b), a), "b + ceil(b/a)");
  CHECK_DIM(os_dims_floordiv(dims, b, more), "floor(b/(a + 1))");
}

static void test_extremes(void) {
  op_dim n = os_dims_symbol(dims, OS_STR("N")), m = os_dims_symbol(dims, OS_STR("M"));
  CHECK_EQ(os_dims_min(dims, 3, 5), 3);
  CHECK_EQ(os_dims_max(dims, 3, 5), 5);
  CHECK_EQ(os_dims_max(dims, n, 0), n);
  CHECK_EQ(os_dims_min(dims, n, 0), 0);
  CHECK_EQ(os_dims_min(dims, n, os_dims_add(dims, n, 3)), n);
  CHECK_EQ(os_dims_max(dims, os_dims_sub(dims, n, 3), n), n);
  CHECK_EQ(os_dims_min(dims, n, m), os_dims_min(dims, m, n));
  CHECK_DIM(os_dims_min(dims, n, 4), "min(N, 4)");
  CHECK_EQ(os_dims_max(dims, os_dims_floordiv(dims, n, 2), 0), os_dims_floordiv(dims, n, 2));
  CHECK_DIM(os_dims_max(dims, os_dims_sub(dims, n, 3), 0), "max(N - 3, 0)");
}

static void test_growth(void) {
  op_dim dim = os_dims_symbol(dims, OS_STR("x"));
  char name[8];
  for (int i = 0; i < 200 && dim != OP_DIM_UNKNOWN; i++) {
    snprintf(name, sizeof name, "y%d", i);
    dim = os_dims_max(dims, os_dims_mul(dims, dim, 3), os_dims_symbol(dims, os_str_of(name)));
    CHECK(os_dims_print(dims, &arena, dim).len < 4000);
  }
  CHECK_EQ(dim, OP_DIM_UNKNOWN); // grown beyond use
  op_dim product = os_dims_symbol(dims, OS_STR("x"));
  for (int i = 0; i < 20; i++) product = os_dims_mul(dims, product, product);
  CHECK_EQ(product, OP_DIM_UNKNOWN);
  op_dim shape[] = {2, os_dims_symbol(dims, OS_STR("N")), OP_DIM_UNKNOWN};
  CHECK_STR(os_dims_print_shape(dims, &arena, 3, shape), "[2, N, ?]");
  CHECK_STR(os_dims_print_shape(dims, &arena, -1, NULL), "?");
  CHECK_STR(os_dims_print_shape(dims, &arena, 0, NULL), "[]");
}

static void test_binding(void) {
  os_dims *bound = os_dims_new(&arena);
  CHECK(os_dims_bind(bound, OS_STR("N"), 4));
  CHECK_EQ(os_dims_symbol(bound, OS_STR("N")), 4);
  CHECK_EQ(os_dims_mul(bound, os_dims_symbol(bound, OS_STR("N")), 2), 8);
}

int main(void) {
  os_arena_init(&arena, &memory);
  dims = os_dims_new(&arena);
  test_elements();
  test_canonical();
  test_interning();
  test_faults();
  test_depth();
  test_sums();
  test_division();
  test_extremes();
  test_growth();
  test_binding();
  os_arena_clear(&arena);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}
