// The host API natively: a kernel of the host's, runs of many shapes that fail and succeed, checks, values, evidence.
#include "host.h"
#include "check.h"
#include "even_model.h"
#include "families.h"
#include "wire_build.h"

#include <opspec/opspec.h>

#include <stdlib.h>

typedef struct counts {
  opspec_env *env;
  int created, destroyed, forgotten, inferred;
} counts;

// ---- A kernel: copies its input, refuses odd sizes ----------------------------------------------------------

static os_status create(void *context, uint32_t kernel, op_create *ctx, uint32_t *instance) {
  (void)ctx;
  ((counts *)context)->created++;
  *instance = kernel;
  return OS_OK;
}

static void destroy(void *context, uint32_t instance) {
  (void)instance;
  ((counts *)context)->destroyed++;
}

static void forget(void *context, uint32_t kernel) {
  (void)kernel;
  ((counts *)context)->forgotten++;
}

static os_status infer(void *context, uint32_t kernel, op_infer *ctx) {
  (void)kernel;
  ((counts *)context)->inferred++;
  op_infer_copy(ctx, 0, 0);
  return OS_OK;
}

static os_status compute(void *context, uint32_t instance, op_run *ctx) {
  (void)context;
  (void)instance;
  const op_tensor *x = op_run_input(ctx, 0);
  if (x->dims[0] % 2 != 0) return op_run_fail(ctx, "%lld is odd", (long long)x->dims[0]);
  op_tensor *y = op_run_output(ctx, 0);
  if (y == NULL) y = op_run_allocate(ctx, 0, x->elem, x->rank, x->dims);
  if (y == NULL) return OS_OUT_OF_MEMORY;
  memcpy(y->data, x->data, (size_t)x->count * sizeof(float));
  return OS_OK;
}

static os_str copy_of(opspec_env *env, const void *data, size_t size) {
  void *block = opspec_alloc(env, size);
  memcpy(block, data, size);
  return (os_str){block, size};
}

static os_status run(opspec_env *env, opspec_session *session, int64_t n) {
  op_value *x = opspec_tensor(env, OP_FLOAT, 1, &n);
  float *data = op_value_edit(x)->data;
  for (int64_t i = 0; i < n; i++) data[i] = (float)i;
  opspec_input input = {OS_STR("x"), x};
  opspec_run *job = NULL;
  os_status status = opspec_run_start(session, &input, 1, NULL, 0, &job);
  if (status != OS_OK) return status;
  do status = opspec_run_step(job, 100);
  while (status == OS_YIELD);
  if (status == OS_OK) {
    const op_tensor *y = op_value_tensor(opspec_run_result(job, 0));
    CHECK_EQ(y->count, n);
    if (n > 0) CHECK(((const float *)y->data)[n - 1] == (float)(1 - n));
  }
  opspec_run_free(job);
  return status;
}

static void test_runs(opspec_env *env, counts *seen, uint32_t flags) {
  opspec_operator *operator;
  opspec_model *loaded;
  opspec_session *session;
  size_t before = opspec_memory_used(env);
  int forgotten = seen->forgotten;
  CHECK_EQ(opspec_register(env, OS_STR(even_document), 0, 7, flags, &operator), OS_OK);
  CHECK_EQ(opspec_model_load(env, copy_of(env, even_model, sizeof even_model), &(opspec_files){0}, &loaded),
           OS_OK);
  CHECK_EQ(opspec_session_new(loaded, 1, 0, &session), OS_OK);
  opspec_model_free(loaded);
  size_t flat = 0;
  for (int round = 0; round < 40; round++) {
    for (int64_t n = 0; n < 20; n++) {
      os_status status = run(env, session, n);
      CHECK_EQ(status, n % 2 == 0 ? OS_OK : OS_OPERATOR_FAILED);
    }
    if (round == 3) flat = opspec_memory_used(env);
  }
  CHECK_EQ(opspec_memory_used(env), flat);
  opspec_unregister(operator);
  CHECK_EQ(seen->forgotten, forgotten);
  CHECK_EQ(run(env, session, 4), OS_OK);
  opspec_session_free(session);
  CHECK_EQ(seen->forgotten, forgotten + 1);
  CHECK_EQ(seen->created, seen->destroyed);
  CHECK(opspec_memory_used(env) < before + 8192 || before == 0);
}

// Even as a function: X -> Identity -> Y. Taken back while a session uses it; a faulty body leaves nothing behind.
static void test_function(opspec_env *env) {
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_wire_arena = &arena;
  wire rest = JOIN(STR(1, "Even"), STR(4, "X"), STR(5, "Y"), MSG(9, JOIN(STR(1, ""), INT(2, 21))),
                   STR(10, "org.test"));
  wire good = JOIN(rest, MSG(7, JOIN(STR(1, "X"), STR(2, "Y"), STR(4, "Identity"))));
  wire bad = JOIN(rest, MSG(7, JOIN(STR(1, "Z"), STR(2, "Y"), STR(4, "Identity"))));
  size_t flat = 0;
  for (int round = 0; round < 8; round++) {
    opspec_operator *operator;
    opspec_model *loaded;
    opspec_session *session;
    CHECK_EQ(opspec_register_function(env, OS_STR(even_document), 0, bad, &operator), OS_MALFORMED);
    CHECK_EQ(opspec_register_function(env, OS_STR(even_document), 0, OS_STR("\1"), &operator), OS_MALFORMED);
    CHECK_EQ(opspec_register_function(env, OS_STR(even_document), 0, good, &operator), OS_OK);
    CHECK_EQ(opspec_model_load(env, copy_of(env, even_model, sizeof even_model), &(opspec_files){0}, &loaded),
             OS_OK);
    CHECK_EQ(opspec_session_new(loaded, 1, 0, &session), OS_OK);
    opspec_model_free(loaded);
    opspec_unregister(operator);
    for (int64_t n = 0; n < 4; n++) CHECK_EQ(run(env, session, n), OS_OK);
    opspec_session_free(session);
    if (round == 3) flat = opspec_memory_used(env);
  }
  CHECK_EQ(opspec_memory_used(env), flat);
  os_arena_clear(&arena);
}

static void test_check(opspec_env *env) {
  opspec_check_options options = {.full = true};
  CHECK_EQ(opspec_check(env, OS_STR("{\"a\":1,}"), &options), OS_OK);
  CHECK(opspec_output(env).len > 0);
  options.as = OS_STR("nonsense");
  CHECK_EQ(opspec_check(env, OS_STR("{}"), &options), OS_INVALID_ARGUMENT);
  CHECK_EQ(opspec_decode(env, (os_str){(const char *)even_model, sizeof even_model}, OS_STR("ModelProto")),
           OS_OK);
  opspec_decode_end(env);
  CHECK_EQ(opspec_format(env, OS_STR("{\"b\": 1.0, \"a\": [-0]}"), OS_STR("json"), OPSPEC_CANONICAL, false),
           OS_OK);
  CHECK_STR(opspec_output(env), "{\"a\":[0],\"b\":1}");
  CHECK_EQ(opspec_format(env, OS_STR("[1.0]"), OS_STR("json"), OPSPEC_JSON, false), OS_OK);
  CHECK_STR(opspec_output(env), "[\n  1.0\n]");
  CHECK_EQ(opspec_format(env, OS_STR("[1e400, 2e400]"), OS_STR("json"), OPSPEC_CANONICAL, false),
           OS_MALFORMED);
  CHECK_EQ(opspec_format(env, OS_STR("{\"a\": 1, \"a\": 1}"), OS_STR("json"), OPSPEC_CANONICAL, false),
           OS_MALFORMED);
  CHECK_EQ(opspec_format(env, OS_STR("["), OS_STR("json"), OPSPEC_CANONICAL, false), OS_MALFORMED);
  CHECK_EQ(opspec_explain(env, OS_STR("evidence.value")), OS_OK);
  CHECK_EQ(opspec_explain(env, OS_STR("evidence.valeu")), OS_INVALID_ARGUMENT);
  CHECK_EQ(opspec_operators(env), OS_OK);
}

static void test_values(opspec_env *env) {
  op_value *value = NULL;
  CHECK_EQ(
      opspec_value_parse(
          env, OS_STR("{\"type\":\"map(string, int64)\",\"entries\":[[\"b\",2],[\"a\",\"1\"]]}"), &value),
      OS_OK);
  CHECK_EQ(opspec_value_count(value), 2);
  const os_str *keys = opspec_value_keys(value)->data;
  CHECK_STR(keys[0], "a");
  CHECK_EQ(opspec_value_write(env, value, OS_STR("m")), OS_OK);
  op_value_release(value);
  CHECK_EQ(
      opspec_value_parse(env, OS_STR("{\"type\":\"tensor(int8)\",\"shape\":[1],\"data\":[128]}"), &value),
      OS_MALFORMED);
  CHECK_EQ(opspec_value_parse(env, OS_STR("{\"type\":\"tensor(float)\",\"shape\":[2],\"data\":[1]}"), &value),
           OS_MALFORMED);
  CHECK_EQ(opspec_value_parse(
               env, OS_STR("{\"type\":\"map(string, int64)\",\"entries\":[[\"b\",2],[\"b\",1]]}"), &value),
           OS_MALFORMED);
  CHECK_EQ(opspec_value_parse(env, OS_STR("{\"type\":\"seq(tensor(float))\",\"items\":[null]}"), &value),
           OS_MALFORMED);
  CHECK_EQ(opspec_value_parse(env, OS_STR("{\"type\":\"optional(tensor(float))\",\"value\":null}"), &value),
           OS_OK);
  CHECK_EQ(opspec_value_count(value), 0);
  op_value_release(value);
  CHECK_EQ(opspec_value_parse(
               env,
               OS_STR("{\"type\":\"sparse_tensor(float)\",\"shape\":[2,3],\"values\":[1],\"indices\":[1,2]}"),
               &value),
           OS_OK);
  op_value_release(value);
}

// ---- Bytes that stay outside ------------------------------------------------------------------------------

typedef struct outside {
  uint8_t bytes[8192];
  size_t size;
  unsigned calls;
} outside;

static os_status read_outside(void *context, uint32_t number, uint64_t offset, size_t n, void *to) {
  outside *self = context;
  CHECK_EQ(number, 7);
  if (self->calls++ % 2 == 0) return OS_NEEDS_HOST;
  memcpy(to, self->bytes + offset, n);
  return OS_OK;
}

// An edited model is new bytes and ranges of the old ones.
static void test_pieces(void) {
  enum { DATA = 5000 };
  outside *self = calloc(1, sizeof *self);
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_wire_arena = &arena;
  wire data = {calloc(1, DATA), DATA};
  wire graph = JOIN(STR(2, "g"), MSG(5, JOIN(INT(1, DATA), INT(2, 2), STR(8, "w"), MSG(9, data))));
  wire model = JOIN(INT(1, 8), STR(2, "before"), MSG(7, graph), MSG(8, INT(2, 17)));
  memcpy(self->bytes, model.data, self->size = model.len);
  opspec_options options = {.families = op_families, .host = {.context = self, .read = read_outside}};
  opspec_env *env;
  CHECK_EQ(opspec_env_new(&options, &env), OS_OK);
  opspec_model *opened;
  opspec_files files = {0};
  os_status status = opspec_model_open(env, (opspec_far){7, self->size}, OS_STR("model"), &files, &opened);
  while (status == OS_NEEDS_HOST) status = opspec_model_resume(&opened);
  CHECK_EQ(status, OS_OK);
  CHECK(opspec_memory_used(env) < 1 << 20);
  const opspec_piece *pieces;
  size_t count;
  CHECK_EQ(opspec_model_pieces(opened, &pieces, &count), OS_OK);
  CHECK_EQ(count, 1);
  CHECK(!pieces[0].fresh && pieces[0].offset == 0 && pieces[0].length == self->size);
  Onnx__ModelProto *proto = opened->document->model;
  proto->producer_name = os_bytes_of(OS_STR("behind"));
  os_proto_edited(proto);
  CHECK_EQ(opspec_model_pieces(opened, &pieces, &count), OS_OK);
  uint64_t fresh = 0;
  char text[8192];
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    const char *from =
        pieces[i].fresh ? opspec_output(env).data + fresh : (const char *)self->bytes + pieces[i].offset;
    memcpy(text + size, from, pieces[i].length);
    size += pieces[i].length;
    if (pieces[i].fresh) fresh += pieces[i].length;
  }
  CHECK(fresh < 40 && count >= 3);
  wire expected = JOIN(INT(1, 8), STR(2, "behind"), MSG(7, graph), MSG(8, INT(2, 17)));
  CHECK_BYTES(text, size, expected.data, expected.len);
  opspec_model_free(opened);
  opspec_env_free(env);
  os_arena_clear(&arena);
  free((void *)(uintptr_t)data.data);
  free(self);
}

// Edits are made as a whole or not at all; sessions keep the model that they were made from.
static void test_edit(opspec_env *env) {
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_wire_arena = &arena;
  wire constant = MSG(1, JOIN(STR(2, "c"), STR(3, "make"), STR(4, "Constant"),
                              MSG(5, JOIN(STR(1, "value_int"), INT(3, 2), INT(20, 2)))));
  wire negative = MSG(1, JOIN(STR(1, "c"), STR(2, "n"), STR(3, "turn"), STR(4, "Neg")));
  wire sum = MSG(1, JOIN(STR(1, "x"), STR(1, "n"), STR(2, "y"), STR(4, "Add")));
  wire type = MSG(2, MSG(1, INT(1, 7)));
  wire graph = JOIN(constant, negative, sum, STR(2, "g"), MSG(11, JOIN(STR(1, "x"), type)),
                    MSG(12, JOIN(STR(1, "y"), type)));
  wire bytes = JOIN(INT(1, 8), MSG(7, graph), MSG(8, INT(2, 17)));
  void *block = opspec_alloc(env, bytes.len);
  memcpy(block, bytes.data, bytes.len);
  opspec_files files = {0};
  opspec_model *model;
  CHECK_EQ(opspec_model_load(env, (os_str){block, bytes.len}, &files, &model), OS_OK);
  opspec_session *session;
  opspec_model *before = model;
  CHECK_EQ(opspec_session_new(model, 0, 0, &session), OS_OK);
  CHECK_EQ(opspec_model_edit(&model, OS_STR("[{\"renameInput\":\"x\",\"to\":\"X\"},{\"fold\":\"nobody\"}]")),
           OS_INVALID_ARGUMENT);
  CHECK(model == before && before->refs == 2);
  CHECK_EQ(opspec_model_edit(&model, OS_STR("[{\"renameInput\":\"x\",\"to\":\"X\"},{\"fold\":\"turn\"},"
                                            "{\"setMetadata\":\"a\",\"value\":\"b\"}]")),
           OS_OK);
  CHECK(model != before && before->refs == 2);
  CHECK_EQ(opspec_model_edit(&model, OS_STR("[{\"renameNode\":0,\"to\":\"s\"},{\"removeNode\":\"s\"}]")),
           OS_INVALID_ARGUMENT);
  CHECK_EQ(opspec_model_write(model, OPSPEC_BYTES, false), OS_OK);
  wire tensor = JOIN(INT(2, 7), STR(8, "n"), STR(9, "\xfe\xff\xff\xff\xff\xff\xff\xff"));
  wire other = JOIN(MSG(1, JOIN(STR(1, "X"), STR(1, "n"), STR(2, "y"), STR(4, "Add"))), STR(2, "g"),
                    MSG(5, tensor), MSG(11, JOIN(STR(1, "X"), type)), MSG(12, JOIN(STR(1, "y"), type)));
  wire expected = JOIN(INT(1, 8), MSG(7, other), MSG(8, INT(2, 17)), MSG(14, JOIN(STR(1, "a"), STR(2, "b"))));
  os_str out = opspec_output(env);
  CHECK_BYTES(out.data, out.len, expected.data, expected.len);
  CHECK_EQ(opspec_model_nodes(model), OS_OK);
  opspec_check_options check = {.full = true};
  CHECK_EQ(opspec_model_check(model, &check), OS_OK);
  CHECK_EQ(opspec_model_write(before, OPSPEC_BYTES, false), OS_OK);
  out = opspec_output(env);
  CHECK_BYTES(out.data, out.len, bytes.data, bytes.len);
  opspec_session_free(session);
  opspec_model_free(model);
  os_arena_clear(&arena);
}

// A node of a function is taken out, another becomes a Constant, and what is in a graph inside follows.
static void test_edit_inside(opspec_env *env) {
  os_memory memory = {0};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_wire_arena = &arena;
  wire type = MSG(2, MSG(1, INT(1, 7)));
  wire inside = JOIN(MSG(1, JOIN(STR(1, "h"), STR(1, "n"), STR(2, "b"), STR(3, "deep"), STR(4, "Add"))),
                     STR(2, "g"), MSG(12, STR(1, "b")));
  wire constant =
      MSG(7, JOIN(STR(2, "c"), STR(4, "Constant"), MSG(5, JOIN(STR(1, "value_int"), INT(3, 2), INT(20, 2)))));
  wire negative = MSG(7, JOIN(STR(1, "c"), STR(2, "n"), STR(3, "turn"), STR(4, "Neg")));
  wire same = MSG(7, JOIN(STR(1, "a"), STR(2, "h"), STR(3, "same"), STR(4, "Identity")));
  wire branch = MSG(7, JOIN(STR(1, "t"), STR(2, "r"), STR(4, "If"),
                            JOIN(MSG(5, JOIN(STR(1, "then_branch"), MSG(6, inside), INT(20, 5))),
                                 MSG(5, JOIN(STR(1, "else_branch"), MSG(6, inside), INT(20, 5))))));
  wire function = JOIN(JOIN(STR(1, "F"), STR(4, "a"), STR(4, "t"), STR(5, "r")), constant, negative, same,
                       JOIN(branch, MSG(9, INT(2, 17)), STR(10, "d")));
  wire call = MSG(1, JOIN(STR(1, "x"), STR(1, "t"), STR(2, "y"), STR(4, "F"), STR(7, "d")));
  wire graph = JOIN(call, STR(2, "g"), MSG(11, JOIN(STR(1, "x"), type)), MSG(12, JOIN(STR(1, "y"), type)));
  wire bytes = JOIN(INT(1, 8), MSG(7, graph), MSG(8, INT(2, 17)), MSG(25, function));
  void *block = opspec_alloc(env, bytes.len);
  memcpy(block, bytes.data, bytes.len);
  opspec_files files = {0};
  opspec_model *model;
  CHECK_EQ(opspec_model_load(env, (os_str){block, bytes.len}, &files, &model), OS_OK);
  CHECK_EQ(opspec_model_edit(&model, OS_STR("[{\"removeNode\":\"same\",\"bypass\":true},{\"fold\":\"turn\"},"
                                            "{\"removeNode\":\"turn\"}]")),
           OS_INVALID_ARGUMENT);
  CHECK_EQ(opspec_model_write(model, OPSPEC_BYTES, false), OS_OK);
  os_str out = opspec_output(env);
  CHECK_BYTES(out.data, out.len, bytes.data, bytes.len);
  CHECK_EQ(
      opspec_model_edit(&model, OS_STR("[{\"removeNode\":\"same\",\"bypass\":true},{\"fold\":\"turn\"}]")),
      OS_OK);
  const Onnx__FunctionProto *edited = model->document->model->functions[0];
  CHECK_EQ(edited->n_node, 2);
  CHECK_STR(os_bytes_str(edited->node[0]->op_type), "Constant");
  CHECK_STR(os_bytes_str(edited->node[0]->output[0]), "n");
  const Onnx__NodeProto *deep = os_attribute_rare(edited->node[1]->attribute[1])->g->node[0];
  CHECK_STR(os_bytes_str(deep->input[0]), "a");
  CHECK_EQ(opspec_model_write(model, OPSPEC_BYTES, false), OS_OK);
  CHECK_EQ(opspec_model_infer(model, true, 0), OS_OK);
  opspec_model_free(model);
  os_arena_clear(&arena);
}

int main(void) {
  counts seen = {0};
  opspec_options options = {.families = op_families,
                            .host = {&seen, NULL, NULL, NULL, create, destroy, forget, infer, compute, NULL}};
  opspec_env *env;
  CHECK_EQ(opspec_env_new(&options, &env), OS_OK);
  seen.env = env;
  test_check(env);
  test_pieces();
  test_edit(env);
  test_edit_inside(env);
  test_runs(env, &seen, OPSPEC_KERNEL);
  test_runs(env, &seen, OPSPEC_KERNEL | OPSPEC_KERNEL_INFERS | OPSPEC_KERNEL_SHAPES);
  CHECK(seen.inferred > 0);
  test_function(env);
  test_values(env);
  test_check(env);
  opspec_env_free(env);
  return CHECK_END();
}
