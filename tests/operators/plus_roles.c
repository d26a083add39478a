// Y = X + W in the roles of MLOperatorAuthor, perhaps without its last row, in all combinations of who says what: the flags
// below come from the compiler's line. What a role expects of the host and does not find is a trap.
#define OPSPEC_AUTHOR_IMPLEMENTATION
#define OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/author.h>
#include <opspec/plugin.h>

#define EXPECT(condition) \
  if (!(condition)) __builtin_trap()

#ifndef FLAGS
#define FLAGS \
  "FTFFFF" // truncate, type label, type inferrer, shape in the schema, in the kernel, defaults in the schema
#endif
#ifndef DOMAIN
#define DOMAIN "org.test"
#endif
#ifndef OPTIONS
#define OPTIONS MLOperatorKernelOptions_None
#endif
#ifndef BREAK
#define BREAK
#endif

// Of a call that is over: nothing may be asked of it.
static MLOperatorContext *late;

static bool flag(int at) { return FLAGS[at] == 'T'; }

static void expect_default(const MLOperatorContext *context) {
  int64_t value = 0;
  EXPECT(MLGetAttribute(context, "count", MLOperatorAttributeType_Int, 1, 8, &value) == ML_OK && value == 5);
}

static MLStatus infer_types(MLOperatorTypeInferrer *self, MLOperatorContext *context) {
  (void)self;
  MLOperatorEdgeDescription edge;
  uint32_t dims[2] = {1, 1};
  EXPECT(MLGetInputEdgeDescription(context, 0, &edge) == ML_OK);
  EXPECT(MLSetOutputTensorShape(context, 0, 2, dims) == ML_E_INVALIDARG); // not its role
  return MLSetOutputEdgeDescription(context, 0, &edge);
}

static MLStatus infer_shapes(MLOperatorShapeInferrer *self, MLOperatorContext *context) {
  (void)self;
  uint32_t dims[2];
  MLOperatorEdgeDescription edge;
  expect_default(context);
  EXPECT(MLGetInputTensorShape(context, 0, 2, dims) == ML_OK); // known, or it would not be asked
  EXPECT(MLGetInputEdgeDescription(context, 0, &edge) == ML_OK);
  EXPECT(MLSetOutputEdgeDescription(context, 0, &edge) == ML_E_INVALIDARG); // types are over
  if (flag(0)) dims[0]--;
  return MLSetOutputTensorShape(context, 0, 2, dims);
}

static MLStatus compute(MLOperatorKernel *self, MLOperatorContext *context) {
  (void)self;
  const MLOperatorTensor *x, *w;
  MLOperatorTensor *y;
  uint32_t dims[2];
  EXPECT(MLGetInputTensor(context, 0, &x) == ML_OK && MLGetInputTensor(context, 1, &w) == ML_OK);
  EXPECT(MLGetTensorShape(x, 2, dims) == ML_OK);
  if (flag(0)) dims[0]--;
  late = context;
  EXPECT(MLGetOutputTensor(context, 0, &y) == (flag(4) ? ML_OK : ML_E_INVALIDARG));
  EXPECT(MLGetOutputTensorOfShape(context, 0, 2, dims, &y) == ML_OK);
  for (uint32_t i = 0; i < dims[0] * dims[1]; i++)
    ((float *)MLGetTensorData(y))[i] =
        ((const float *)MLGetTensorData(x))[i] + ((const float *)MLGetTensorData(w))[i];
  return ML_OK;
}

// Outside of any call of the kernel.
static void release(MLOperatorKernel *self) {
  (void)self;
  uint32_t count, dims[] = {1, 1};
  const MLOperatorTensor *x;
  MLOperatorTensor *y;
  EXPECT(MLGetAttributeElementCount(late, "count", MLOperatorAttributeType_Int, &count) == ML_E_INVALIDARG);
  EXPECT(MLGetInputTensor(late, 0, &x) == ML_E_INVALIDARG);
  EXPECT(MLGetOutputTensorOfShape(late, 0, 2, dims, &y) == ML_E_INVALIDARG);
}

static MLStatus create(MLOperatorKernelFactory *self, MLOperatorContext *context, MLOperatorKernel **kernel) {
  (void)self;
  static MLOperatorKernel one = {compute, release};
  MLOperatorContext *shapes = NULL;
  uint32_t count, dims[2];
  const bool dynamic = OPTIONS == MLOperatorKernelOptions_AllowDynamicInputShapes;
  expect_default(context);
  EXPECT(MLHasTensorShapeDescription(context) == !dynamic);
  EXPECT(MLGetTensorShapeDescription(context, &shapes) == (dynamic ? ML_E_INVALIDARG : ML_OK));
  if (shapes == NULL) {
    EXPECT(MLGetInputTensorDimensionCount(context, 0, &count) == ML_E_INVALIDARG);
  } else {
    EXPECT(MLGetInputTensorShape(shapes, 0, 2, dims) == ML_OK && dims[1] == 2);
    EXPECT(MLHasOutputShapeDescription(shapes) == flag(4));
    EXPECT(MLGetOutputTensorShape(shapes, 0, 2, dims) == (flag(4) ? ML_OK : ML_E_INVALIDARG));
  }
  *kernel = &one;
  return ML_OK;
}

#define EDGE(type)                                                 \
  {                                                                \
    MLOperatorEdgeType_Tensor, { MLOperatorTensorDataType_##type } \
  }
static const MLOperatorEdgeDescription floats[] = {EDGE(Float)};
static const MLOperatorEdgeTypeConstraint types[] = {{"T", floats, 1}};
#define LABEL {MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_Label, {"T"}}
#define DESCRIBED                                                                        \
  {                                                                                      \
    MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_EdgeDescription, { \
      .edgeDescription = EDGE(Float)                                                     \
    }                                                                                    \
  }
static const MLOperatorSchemaEdgeDescription labels[] = {LABEL, LABEL}, described[] = {DESCRIBED, DESCRIBED};
static const MLOperatorAttribute attributes[] = {{"count", MLOperatorAttributeType_Int, false}};
static const int64_t five = 5, both[] = {5, 6};
static const MLOperatorAttributeNameValue defaults[] = {
    {"count", MLOperatorAttributeType_Int, 1, {.ints = &five}}};

static MLStatus add_later(MLOperatorRegistry *registry, const MLOperatorSchemaDescription *schema) {
  MLOperatorSchemaDescription later = *schema;
  later.operatorSetVersionAtLastChange = 9;
  const MLOperatorSchemaDescription *list[] = {&later};
  MLOperatorSetId nine = {DOMAIN, 9};
  return MLRegisterOperatorSetSchema(registry, &nine, 7, list, 1, NULL, NULL);
}

OP_AUTHOR_PLUGIN(registry) {
  static MLOperatorKernelFactory factory = {create};
  static MLOperatorTypeInferrer type_inferrer = {infer_types};
  static MLOperatorShapeInferrer shape_inferrer = {infer_shapes};
  MLOperatorSchemaDescription schema = {
      .name = "Plus",
      .operatorSetVersionAtLastChange = 7,
      .inputs = flag(1) ? labels : described,
      .inputCount = 2,
      .outputs = flag(1) ? labels : described,
      .outputCount = 1,
      .typeConstraints = flag(1) ? types : NULL,
      .typeConstraintCount = flag(1) ? 1 : 0,
      .attributes = attributes,
      .attributeCount = 1,
      .defaultAttributes = flag(5) ? defaults : NULL,
      .defaultAttributeCount = flag(5) ? 1 : 0,
  };
  MLOperatorKernelDescription kernel = {
      .domain = DOMAIN,
      .name = "Plus",
      .minimumOperatorSetVersion = 7,
      .executionType = MLOperatorExecutionType_Cpu,
      .defaultAttributes = flag(5) ? NULL : defaults,
      .defaultAttributeCount = flag(5) ? 0 : 1,
      .options = OPTIONS,
  };
  MLOperatorSetId set = {DOMAIN, 7};
  MLOperatorTypeInferrer *of_types = flag(2) ? &type_inferrer : NULL;
  MLOperatorShapeInferrer *in_schema = flag(3) ? &shape_inferrer : NULL;
  MLOperatorShapeInferrer *in_kernel = flag(4) ? &shape_inferrer : NULL;
  (void)both;
  BREAK; // a test breaks one of the rules here
  const MLOperatorSchemaDescription *schemas[] = {&schema};
  MLStatus status = MLRegisterOperatorSetSchema(registry, &set, 6, schemas, 1, of_types, in_schema);
  if (status == ML_OK) status = add_later(registry, &schema);
  return status != ML_OK ? status : MLRegisterOperatorKernel(registry, &kernel, &factory, in_kernel);
}
