// The roles of MLOperatorAuthor: the rules of its registry, and a custom kernel in all its combinations.
#include "author_registry_native.h"
#include "check.h"
#include "families.h"
#include "host.h"
#include "model_build.h"

static opspec_env *env;
static MLOperatorRegistry *registry;
static os_arena wires;

// Of the rules of the registry those that were tested, a bit each.
static uint32_t shown;
#define RULE(number) (shown |= UINT32_C(1) << (number))

static void begin(void) {
  opspec_options options = {.families = op_families};
  CHECK_EQ(opspec_env_new(&options, &env), OS_OK);
  registry = os_author_registry(&env->arena, env->registry);
  os_wire_arena = &wires;
}

static void end(void) {
  opspec_env_free(env);
  os_arena_clear(&wires);
}

// ---- An operator: Y = X + W, perhaps without its last row ------------------------------------------------------

static struct {
  bool truncate, type_inferrer, shape_in_schema, shape_in_kernel, dynamic;
  int created, released, computed;
  MLOperatorContext *late; // of a call that is over
} now;

#define EDGE(type)                                                 \
  {                                                                \
    MLOperatorEdgeType_Tensor, { MLOperatorTensorDataType_##type } \
  }
static const MLOperatorEdgeDescription floats[] = {EDGE(Float)}, ints32[] = {EDGE(Int32)};
static const MLOperatorEdgeTypeConstraint t_float[] = {{"T1", floats, 1}}, t_int32[] = {{"T1", ints32, 1}};
#define LABEL {MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_Label, {"T1"}}
#define DESCRIBED                                                                        \
  {                                                                                      \
    MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_EdgeDescription, { \
      .edgeDescription = EDGE(Float)                                                     \
    }                                                                                    \
  }
static const MLOperatorSchemaEdgeDescription labels[] = {LABEL, LABEL}, described[] = {DESCRIBED, DESCRIBED};

static const int64_t five = 5, list[] = {1, -2, 3};
static const float half = 0.5f, fractions[] = {1.5f, 2.5f};
static const char *const words[] = {"one", "zwei"};
static const MLOperatorAttribute attributes[] = {
    {"count", MLOperatorAttributeType_Int, false},
    {"factor", MLOperatorAttributeType_Float, false},
    {"name", MLOperatorAttributeType_String, false},
    {"list", MLOperatorAttributeType_IntArray, false},
    {"parts", MLOperatorAttributeType_FloatArray, false},
    {"words", MLOperatorAttributeType_StringArray, false},
    {"nothing", MLOperatorAttributeType_IntArray, false},
};
static const MLOperatorAttributeNameValue defaults[] = {
    {"count", MLOperatorAttributeType_Int, 1, {.ints = &five}},
    {"factor", MLOperatorAttributeType_Float, 1, {.floats = &half}},
    {"name", MLOperatorAttributeType_String, 1, {.strings = words}},
    {"list", MLOperatorAttributeType_IntArray, 3, {.ints = list}},
    {"parts", MLOperatorAttributeType_FloatArray, 2, {.floats = fractions}},
    {"words", MLOperatorAttributeType_StringArray, 2, {.strings = words}},
};
enum { ATTRIBUTES = 7, DEFAULTS = 6 };

static void check_attributes(const MLOperatorContext *context) {
  uint32_t count;
  int64_t integers[3];
  float numbers[2];
  char text[8];
  CHECK_EQ(MLGetAttributeElementCount(context, "count", MLOperatorAttributeType_Int, &count), ML_OK);
  CHECK_EQ(count, 1);
  CHECK_EQ(MLGetAttribute(context, "count", MLOperatorAttributeType_Int, 1, 8, integers), ML_OK);
  CHECK_EQ(integers[0], 5);
  CHECK_EQ(MLGetAttribute(context, "count", MLOperatorAttributeType_Int, 1, 4, integers), ML_E_INVALIDARG);
  CHECK_EQ(MLGetAttribute(context, "count", MLOperatorAttributeType_Float, 1, 4, numbers), ML_E_INVALIDARG);
  CHECK_EQ(MLGetAttribute(context, "factor", MLOperatorAttributeType_Float, 1, 4, numbers), ML_OK);
  CHECK(numbers[0] == 0.5f);
  CHECK_EQ(MLGetAttribute(context, "list", MLOperatorAttributeType_IntArray, 3, 8, integers), ML_OK);
  CHECK_EQ(integers[1], -2);
  CHECK_EQ(MLGetAttribute(context, "list", MLOperatorAttributeType_IntArray, 2, 8, integers),
           ML_E_INVALIDARG);
  CHECK_EQ(MLGetAttribute(context, "parts", MLOperatorAttributeType_FloatArray, 2, 4, numbers), ML_OK);
  CHECK(numbers[1] == 2.5f);
  CHECK_EQ(MLGetStringAttributeElementLength(context, "words", 1, &count), ML_OK);
  CHECK_EQ(count, 5);
  CHECK_EQ(MLGetStringAttributeElement(context, "words", 1, 4, text), ML_E_INVALIDARG);
  CHECK_EQ(MLGetStringAttributeElement(context, "words", 1, count, text), ML_OK);
  CHECK_STR(os_str_of(text), "zwei");
  CHECK_EQ(MLGetStringAttributeElement(context, "name", 0, 8, text), ML_OK);
  CHECK_STR(os_str_of(text), "one");
  CHECK_EQ(MLGetStringAttributeElementLength(context, "words", 2, &count), ML_E_INVALIDARG);
  CHECK_EQ(MLGetAttributeElementCount(context, "nothing", MLOperatorAttributeType_IntArray, &count), ML_OK);
  CHECK_EQ(count, 0);
}

static MLStatus infer_types(MLOperatorTypeInferrer *self, MLOperatorContext *context) {
  (void)self;
  MLOperatorEdgeDescription edge;
  CHECK_EQ(MLGetInputCount(context), 2);
  CHECK(MLIsInputValid(context, 1) && !MLIsInputValid(context, 2));
  CHECK_EQ(MLGetInputEdgeDescription(context, 0, &edge), ML_OK);
  CHECK_EQ(edge.tensorDataType, MLOperatorTensorDataType_Float);
  uint32_t dims[2] = {1, 1};
  CHECK_EQ(MLSetOutputTensorShape(context, 0, 2, dims), ML_E_INVALIDARG); // not its role
  now.late = context;
  return MLSetOutputEdgeDescription(context, 0, &edge);
}

static MLStatus infer_shapes(MLOperatorShapeInferrer *self, MLOperatorContext *context) {
  (void)self;
  uint32_t count, dims[2];
  const MLOperatorTensor *constant;
  MLOperatorEdgeDescription edge;
  check_attributes(context);
  CHECK_EQ(MLGetInputTensorDimensionCount(context, 0, &count), ML_OK);
  CHECK_EQ(count, 2);
  CHECK_EQ(MLGetInputTensorShape(context, 0, 1, dims), ML_E_INVALIDARG);
  CHECK_EQ(MLGetInputTensorShape(context, 0, 2, dims), ML_OK);
  CHECK_EQ(MLGetConstantInputTensor(context, 0, &constant), ML_OK);
  CHECK(constant == NULL);
  CHECK_EQ(MLGetConstantInputTensor(context, 1, &constant), ML_OK);
  CHECK(constant != NULL && ((const float *)MLGetTensorData(constant))[5] == 6);
  CHECK_EQ(MLGetInputEdgeDescription(context, 0, &edge), ML_OK);
  CHECK_EQ(MLSetOutputEdgeDescription(context, 0, &edge), ML_E_INVALIDARG); // types are over
  if (now.truncate) dims[0]--;
  now.late = context;
  return MLSetOutputTensorShape(context, 0, 2, dims);
}

static MLStatus compute(MLOperatorKernel *self, MLOperatorContext *context) {
  (void)self;
  const MLOperatorTensor *x, *w;
  MLOperatorTensor *y;
  uint32_t dims[2];
  void *temporary;
  now.computed++;
  CHECK_EQ(MLGetInputTensor(context, 0, &x), ML_OK);
  CHECK_EQ(MLGetInputTensor(context, 1, &w), ML_OK);
  CHECK_EQ(MLGetInputTensor(context, 2, &x), ML_E_INVALIDARG);
  CHECK_EQ(MLGetInputTensor(context, 0, &x), ML_OK);
  CHECK_EQ(MLGetTensorShape(x, 2, dims), ML_OK);
  CHECK(MLIsCpuData(x) && !MLIsDataInterface(x));
  CHECK_EQ(MLGetTensorDataType(x), MLOperatorTensorDataType_Float);
  if (now.truncate) dims[0]--;
  RULE(11);
  CHECK_EQ(MLGetOutputTensor(context, 0, &y), now.shape_in_kernel ? ML_OK : ML_E_INVALIDARG);
  CHECK_EQ(MLGetOutputTensorOfShape(context, 0, 2, dims, &y), ML_OK);
  size_t bytes = (size_t)dims[0] * dims[1] * sizeof(float);
  CHECK_EQ(MLAllocateTemporaryData(context, bytes, &temporary), ML_OK);
  float *sums = temporary, *to = MLGetTensorData(y);
  const float *a = MLGetTensorData(x), *b = MLGetTensorData(w);
  for (size_t i = 0; i < bytes / sizeof(float); i++) sums[i] = a[i] + b[i];
  memcpy(to, sums, bytes);
  void *object = &object;
  MLGetExecutionInterface(context, &object);
  CHECK(object == NULL);
  return ML_OK;
}

static void release(MLOperatorKernel *self) {
  now.released++;
  free(self);
}

static MLStatus create(MLOperatorKernelFactory *self, MLOperatorContext *context, MLOperatorKernel **kernel) {
  (void)self;
  MLOperatorContext *shapes = NULL;
  MLOperatorEdgeDescription edge;
  uint32_t count, dims[2];
  now.created++;
  check_attributes(context);
  CHECK_EQ(MLGetInputCount(context), 2);
  CHECK_EQ(MLGetOutputCount(context), 1);
  CHECK(MLIsInputValid(context, 0) && !MLIsInputValid(context, 2) && MLIsOutputValid(context, 0));
  CHECK_EQ(MLGetInputEdgeDescription(context, 0, &edge), ML_OK);
  CHECK_EQ(edge.edgeType, MLOperatorEdgeType_Tensor);
  CHECK_EQ(MLHasTensorShapeDescription(context), !now.dynamic);
  RULE(12);
  CHECK_EQ(MLGetTensorShapeDescription(context, &shapes), now.dynamic ? ML_E_INVALIDARG : ML_OK);
  if (shapes != NULL) {
    CHECK_EQ(MLGetInputTensorDimensionCount(shapes, 0, &count), ML_OK);
    CHECK_EQ(MLGetInputTensorShape(shapes, 0, 2, dims), ML_OK);
    CHECK_EQ(dims[1], 2);
    CHECK_EQ(MLHasOutputShapeDescription(shapes), now.shape_in_kernel);
    MLStatus expected = now.shape_in_kernel ? ML_OK : ML_E_INVALIDARG;
    CHECK_EQ(MLGetOutputTensorDimensionCount(shapes, 0, &count), expected);
    CHECK_EQ(MLGetOutputTensorShape(shapes, 0, 2, dims), expected);
  } else {
    CHECK_EQ(MLGetInputTensorDimensionCount(context, 0, &count), ML_E_INVALIDARG);
  }
  *kernel = malloc(sizeof **kernel);
  **kernel = (MLOperatorKernel){compute, release};
  now.late = context;
  return ML_OK;
}

static MLOperatorTypeInferrer type_inferrer = {infer_types};
static MLOperatorShapeInferrer shape_inferrer = {infer_shapes};
static MLOperatorKernelFactory factory = {create};

// ---- Models ---------------------------------------------------------------------------------------------------

static wire six(void) {
  wire all = JOIN(INT(1, 3), INT(1, 2), INT(2, 1), STR(8, "w"));
  for (int i = 0; i < 6; i++) all = JOIN(all, F32(4, (float)(i + 1)));
  return MSG(5, all);
}

// x [N 2] -> y = operator(x, w), w an initializer of 1..6
static opspec_session *session_of(const char *op_type, const char *of_domain, int version) {
  wire fields = JOIN(node(op_type, "x w", "y", domain(of_domain)), six(), input("x", 1, "N 2"),
                     output("y", 1, "M 2"), STR(2, "g"));
  wire imports = of_domain[0] == '\0' ? NONE : opset(of_domain, version);
  wire bytes = JOIN(INT(1, 4), opset("", of_domain[0] == '\0' ? version : 7), imports, MSG(7, fields));
  void *block = opspec_alloc(env, bytes.len);
  memcpy(block, bytes.data, bytes.len);
  opspec_model *model;
  opspec_session *session = NULL;
  CHECK_EQ(opspec_model_load(env, (os_str){block, bytes.len}, &(opspec_files){0}, &model), OS_OK);
  opspec_session_new(model, 1, 0, &session);
  opspec_model_free(model);
  return session;
}

// Runs with x = 1, 2, ... of `rows` rows; answers rows of y, which must be sums (products), or -1.
static int64_t run(opspec_session *session, int64_t rows, bool sums) {
  const int64_t dims[] = {rows, 2};
  if (session == NULL) return -1;
  op_value *x = opspec_tensor(env, OP_FLOAT, 2, dims);
  float *data = op_value_edit(x)->data;
  for (int i = 0; i < rows * 2; i++) data[i] = (float)(i + 1);
  opspec_input input = {OS_STR("x"), x};
  opspec_run *job = NULL;
  if (opspec_run_start(session, &input, 1, NULL, 0, &job) != OS_OK) return -1;
  os_status status;
  do status = opspec_run_step(job, 100);
  while (status == OS_YIELD);
  int64_t got = -1;
  if (status == OS_OK) {
    const op_tensor *y = op_value_tensor(opspec_run_result(job, 0));
    const float *to = y->data;
    for (int i = 0; i < y->count; i++) {
      float v = (float)(i + 1);
      CHECK(to[i] == (sums ? v + v : v * v));
    }
    got = y->dims[0];
  }
  opspec_run_free(job);
  return got;
}

// ---- Rule 13: the combinations ----------------------------------------------------------------------------------

static MLOperatorSchemaDescription schema_of(bool typeLabel, bool defaultsInSchema) {
  return (MLOperatorSchemaDescription){
      .name = "Plus",
      .operatorSetVersionAtLastChange = 7,
      .inputs = typeLabel ? labels : described,
      .inputCount = 2,
      .outputs = typeLabel ? labels : described,
      .outputCount = 1,
      .typeConstraints = typeLabel ? t_float : NULL,
      .typeConstraintCount = typeLabel ? 1 : 0,
      .attributes = attributes,
      .attributeCount = ATTRIBUTES,
      .defaultAttributes = defaultsInSchema ? defaults : NULL,
      .defaultAttributeCount = defaultsInSchema ? DEFAULTS : 0,
  };
}

static void test_combination(const char *flags, const char *of_domain, bool dynamic) {
  memset(&now, 0, sizeof now);
  now.truncate = flags[0] == 'T';
  now.type_inferrer = flags[2] == 'T';
  now.shape_in_schema = flags[3] == 'T';
  now.shape_in_kernel = flags[4] == 'T';
  now.dynamic = dynamic;
  bool in_schema = flags[5] == 'T';
  begin();
  MLOperatorSchemaDescription schema = schema_of(flags[1] == 'T', in_schema);
  const MLOperatorSchemaDescription *schemas[] = {&schema};
  MLOperatorSetId set = {of_domain, 7};
  CHECK_EQ(MLRegisterOperatorSetSchema(registry, &set, 6, schemas, 1,
                                       now.type_inferrer ? &type_inferrer : NULL,
                                       now.shape_in_schema ? &shape_inferrer : NULL),
           ML_OK);
  // A later version and another domain do not matter to a model that imports 7.
  RULE(8);
  MLOperatorSchemaDescription later = schema;
  later.operatorSetVersionAtLastChange = 9;
  const MLOperatorSchemaDescription *others[] = {&later};
  MLOperatorSetId nine = {of_domain, 9}, elsewhere = {"org.elsewhere", 7};
  CHECK_EQ(MLRegisterOperatorSetSchema(registry, &nine, 7, others, 1, NULL, NULL), ML_OK);
  CHECK_EQ(MLRegisterOperatorSetSchema(registry, &elsewhere, 6, schemas, 1, NULL, NULL), ML_OK);
  MLOperatorKernelDescription kernel = {
      .domain = of_domain,
      .name = "Plus",
      .minimumOperatorSetVersion = 7,
      .executionType = MLOperatorExecutionType_Cpu,
      .typeConstraints = flags[1] == 'T' ? t_float : NULL,
      .typeConstraintCount = flags[1] == 'T' ? 1 : 0,
      .defaultAttributes = in_schema ? NULL : defaults,
      .defaultAttributeCount = in_schema ? 0 : DEFAULTS,
      .options = dynamic ? MLOperatorKernelOptions_AllowDynamicInputShapes : MLOperatorKernelOptions_None,
  };
  // Others that are not taken: for another type, for the GPU.
  MLOperatorKernelDescription integers = kernel, gpu = kernel;
  integers.typeConstraints = t_int32;
  integers.typeConstraintCount = 1;
  gpu.executionType = MLOperatorExecutionType_D3D12;
  MLOperatorKernelFactory never = {NULL};
  if (flags[1] == 'T') CHECK_EQ(MLRegisterOperatorKernel(registry, &integers, &never, NULL), ML_OK);
  CHECK_EQ(MLRegisterOperatorKernel(registry, &gpu, &never, NULL), ML_OK);
  CHECK_EQ(
      MLRegisterOperatorKernel(registry, &kernel, &factory, now.shape_in_kernel ? &shape_inferrer : NULL),
      ML_OK);
  CHECK_EQ(MLCommitRegistry(registry), OS_OK);
  CHECK_EQ(MLRegisterOperatorKernel(registry, &kernel, &factory, NULL), ML_E_INVALIDARG);
  opspec_session *session = session_of("Plus", of_domain, 7);
  CHECK(session != NULL);
  CHECK_EQ(run(session, 3, true), now.truncate ? 2 : 3);
  CHECK_EQ(run(session, 3, true), now.truncate ? 2 : 3);
  CHECK_EQ(now.created, 1);
  CHECK_EQ(run(session, 2, true), now.truncate ? 1 : 2);
  CHECK_EQ(now.created, dynamic ? 1 : 2); // other shapes, another kernel
  CHECK_EQ(now.computed, 3);
  RULE(13);
  CHECK_EQ(session_of("Plus", of_domain, 9) == NULL, true); // 9 has a schema and no kernel
  // Closed: nothing may be asked after the call.
  RULE(10);
  uint32_t count;
  MLOperatorTensor *tensor;
  CHECK_EQ(MLGetAttributeElementCount(now.late, "count", MLOperatorAttributeType_Int, &count),
           ML_E_INVALIDARG);
  CHECK_EQ(MLGetOutputTensor(now.late, 0, &tensor), ML_E_INVALIDARG);
  CHECK_EQ(MLSetOutputTensorShape(now.late, 0, 0, NULL), ML_E_INVALIDARG);
  opspec_session_free(session);
  CHECK_EQ(now.released, now.created);
  end();
}

// ---- Rule 9: a kernel against a built-in schema -----------------------------------------------------------------

static MLStatus plain_create(MLOperatorKernelFactory *self, MLOperatorContext *context,
                             MLOperatorKernel **kernel) {
  (void)self;
  (void)context;
  static MLOperatorKernel one = {compute, NULL};
  *kernel = &one;
  return ML_OK;
}

static void test_built_in(void) {
  memset(&now, 0, sizeof now);
  begin();
  MLOperatorKernelFactory plain = {plain_create};
  MLOperatorKernelDescription kernel = {.domain = "",
                                        .name = "Mul",
                                        .minimumOperatorSetVersion = 7,
                                        .executionType = MLOperatorExecutionType_Cpu};
  CHECK_EQ(MLRegisterOperatorKernel(registry, &kernel, &plain, NULL), ML_OK);
  CHECK_EQ(MLCommitRegistry(registry), OS_OK);
  opspec_session *seven = session_of("Mul", "", 7), *later = session_of("Mul", "", 21);
  RULE(9);
  CHECK_EQ(run(seven, 3, true), 3);
  CHECK_EQ(now.computed, 1);
  CHECK_EQ(run(later, 3, false), 3); // of a later version: the built-in one
  CHECK_EQ(now.computed, 1);
  opspec_session_free(seven);
  opspec_session_free(later);
  end();
}

// ---- Rules 1 to 7: what is refused ------------------------------------------------------------------------------

static void refuse_kernel(MLOperatorKernelDescription kernel, MLOperatorShapeInferrer *inferrer,
                          MLStatus status) {
  CHECK_EQ(MLRegisterOperatorKernel(registry, &kernel, &factory, inferrer), status);
  CHECK((MLGetRegistryMessage(registry)[0] == '\0') == (status == ML_OK));
}

static void test_kernels(void) {
  begin();
  const MLOperatorKernelDescription good = {.domain = "",
                                            .name = "Plus",
                                            .minimumOperatorSetVersion = 7,
                                            .executionType = MLOperatorExecutionType_Cpu};
  MLOperatorKernelDescription kernel = good;
  refuse_kernel(good, &shape_inferrer, ML_OK);
  refuse_kernel(good, &shape_inferrer, ML_E_INVALIDARG); // twice
  RULE(1);
  kernel.options = (MLOperatorKernelOptions)2;
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG);
  RULE(2);
  kernel.options = MLOperatorKernelOptions_AllowDynamicInputShapes;
  refuse_kernel(kernel, &shape_inferrer, ML_E_INVALIDARG);
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG); // twice, whatever the options are
  kernel.name = "Dynamic";
  refuse_kernel(kernel, NULL, ML_OK);
  kernel = good;
  RULE(3);
  kernel.executionOptions = 1;
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG);
  kernel = good;
  kernel.executionType = MLOperatorExecutionType_Undefined;
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG);
  kernel.executionType = (MLOperatorExecutionType)3;
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG);
  kernel.executionType = MLOperatorExecutionType_D3D12;
  refuse_kernel(kernel, NULL, ML_OK);
  kernel = good;
  const MLOperatorEdgeDescription sequence[] = {{MLOperatorEdgeType_SequenceTensor, {1}}};
  const MLOperatorEdgeTypeConstraint sequences[] = {{"T", sequence, 1}};
  RULE(4);
  kernel.typeConstraints = sequences;
  kernel.typeConstraintCount = 1;
  refuse_kernel(kernel, NULL, ML_E_NOTIMPL);
  kernel = good;
  kernel.defaultAttributeCount = 1;
  MLOperatorAttributeNameValue value = {"a", MLOperatorAttributeType_Int, 2, {.ints = list}};
  RULE(5);
  kernel.defaultAttributes = &value;
  for (int type = 0; type < 12; type++) {
    value.type = (MLOperatorAttributeType)type;
    bool array = type >= 7 && type <= 9;
    value.reserved = type == 9 ? (const void *)words : list;
    kernel.minimumOperatorSetVersion = 10 + type;
    refuse_kernel(kernel, NULL, array ? ML_OK : ML_E_INVALIDARG);
  }
  value.type = MLOperatorAttributeType_Int;
  value.valueCount = 1;
  kernel.minimumOperatorSetVersion = 30;
  refuse_kernel(kernel, NULL, ML_OK);
  // Of one version there may be several for types that have nothing in common.
  kernel.typeConstraints = t_float;
  kernel.typeConstraintCount = 1;
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG);
  kernel.minimumOperatorSetVersion = 31;
  refuse_kernel(kernel, NULL, ML_OK);
  refuse_kernel(kernel, NULL, ML_E_INVALIDARG);
  kernel.typeConstraints = t_int32;
  refuse_kernel(kernel, NULL, ML_OK);
  CHECK_EQ(MLRegisterOperatorKernel(registry, &good, NULL, NULL), ML_E_INVALIDARG);
  CHECK_EQ(MLCommitRegistry(registry), OS_UNSUPPORTED); // nobody knows Plus
  end();
}

static void refuse_schema(const MLOperatorSchemaDescription *schema, int32_t version, MLStatus status) {
  MLOperatorSetId set = {"org.test", version};
  CHECK_EQ(MLRegisterOperatorSetSchema(registry, &set, 1, &schema, 1, NULL, NULL), status);
  CHECK((MLGetRegistryMessage(registry)[0] == '\0') == (status == ML_OK));
}

static void test_schemas(void) {
  begin();
  const MLOperatorSchemaDescription good = schema_of(true, true);
  MLOperatorSchemaDescription schema = good;
  refuse_schema(&good, 6, ML_E_INVALIDARG); // its last change would come later
  refuse_schema(&good, 7, ML_OK);
  refuse_schema(&good, 8, ML_E_INVALIDARG); // twice
  // Not where the baseline is another: both say the same of version 7, and the first is handed over.
  const MLOperatorSchemaDescription *list_of_good[] = {&good};
  MLOperatorSetId seven = {"org.test", 7};
  CHECK_EQ(MLRegisterOperatorSetSchema(registry, &seven, 5, list_of_good, 1, NULL, NULL), ML_OK);
  CHECK_EQ(MLRegisterOperatorSetSchema(registry, &seven, 5, list_of_good, 1, NULL, NULL), ML_E_INVALIDARG);
  schema.operatorSetVersionAtLastChange = 6;
  refuse_schema(&schema, 7, ML_E_INVALIDARG); // that set is there
  schema = good;
  schema.name = "Other";
  MLOperatorAttribute changed[ATTRIBUTES];
  memcpy(changed, attributes, sizeof changed);
  schema.attributes = changed;
  RULE(6);
  changed[0].required = true;
  refuse_schema(&schema, 10, ML_E_INVALIDARG);
  changed[0] = attributes[0];
  changed[0].type = MLOperatorAttributeType_Float;
  refuse_schema(&schema, 10, ML_E_INVALIDARG);
  changed[0] = attributes[0];
  changed[0].name = "renamed";
  refuse_schema(&schema, 10, ML_E_INVALIDARG);
  schema.attributes = attributes;
  MLOperatorSchemaEdgeDescription edges[] = {LABEL, LABEL};
  schema.inputs = edges;
  RULE(7);
  edges[1].options = (MLOperatorParameterOptions)3;
  refuse_schema(&schema, 10, ML_E_NOTIMPL);
  edges[1].options = MLOperatorParameterOptions_Single;
  edges[0].options = MLOperatorParameterOptions_Variadic;
  refuse_schema(&schema, 10, ML_E_INVALIDARG);
  edges[0] = edges[1];
  edges[1].typeFormat = (MLOperatorSchemaEdgeTypeFormat)2;
  refuse_schema(&schema, 10, ML_E_INVALIDARG);
  edges[1] = edges[0];
  edges[1].typeLabel = "T9";
  refuse_schema(&schema, 10, ML_E_INVALIDARG);
  const MLOperatorEdgeDescription primitive[] = {{MLOperatorEdgeType_Primitive, {1}}};
  const MLOperatorEdgeTypeConstraint primitives[] = {{"T1", primitive, 1}};
  schema.inputs = labels;
  schema.typeConstraints = primitives;
  refuse_schema(&schema, 10, ML_E_NOTIMPL);
  schema.typeConstraints = t_float;
  refuse_schema(&schema, 10, ML_OK);
  CHECK_EQ(MLCommitRegistry(registry), OS_OK);
  end();
}

// A kernel and the schema that it serves, in the order that they stand here.
static void test_served(void) {
  static const MLOperatorEdgeTypeConstraint t9[] = {{"T9", &t_float[0].allowedTypes[0], 1}};
  static const MLOperatorAttributeNameValue other[] = {
      {"other", MLOperatorAttributeType_Int, 1, {.ints = list}}};
  const MLOperatorKernelDescription good = {.domain = "org.test",
                                            .name = "Plus",
                                            .minimumOperatorSetVersion = 7,
                                            .executionType = MLOperatorExecutionType_Cpu};
  const MLOperatorSchemaDescription schema = schema_of(true, true), *schemas[] = {&schema};
  for (int i = 0; i < 4; i++) {
    begin();
    MLOperatorKernelDescription kernel = good;
    if (i == 1) kernel.minimumOperatorSetVersion = 99;
    if (i == 2) kernel.typeConstraints = t9;
    if (i == 2) kernel.typeConstraintCount = 1;
    if (i == 3) kernel.defaultAttributes = other;
    if (i == 3) kernel.defaultAttributeCount = 1;
    MLOperatorSetId set = {"org.test", 7};
    CHECK_EQ(MLRegisterOperatorKernel(registry, &kernel, &factory, NULL), ML_OK);
    CHECK_EQ(MLRegisterOperatorSetSchema(registry, &set, 1, schemas, 1, NULL, NULL), ML_OK);
    CHECK_EQ(MLCommitRegistry(registry), i == 0 ? OS_OK : OS_INVALID_ARGUMENT);
    CHECK((MLGetRegistryMessage(registry)[0] == '\0') == (i == 0));
    end();
  }
}

int main(void) {
  os_memory memory = {0};
  os_arena_init(&wires, &memory);
  static const char *const combinations[] = {"FTFFFF", "FFFFFF", "FTTFFT", "TFFFTF", "TTTTTT"};
  for (int i = 0; i < 5; i++) {
    test_combination(combinations[i], "org.test", false);
    test_combination(combinations[i], "", false);
    if (combinations[i][4] == 'F') test_combination(combinations[i], "org.test", true);
  }
  test_built_in();
  test_kernels();
  test_schemas();
  test_served();
  int count = 0;
  for (int rule = 1; rule <= 13; rule++) count += (int)(shown >> rule & 1);
  printf("rules of the registry: %d of 13 through C\n", count);
  CHECK_EQ(count, 13);
  return CHECK_END();
}
