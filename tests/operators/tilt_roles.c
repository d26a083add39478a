// Tilt (tilt.c) in the roles of MLOperatorAuthor.
#define OPSPEC_AUTHOR_IMPLEMENTATION
#define OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/author.h>
#include <opspec/plugin.h>

enum { MOST = 8 };

// The shape that two shapes broadcast to.
static MLStatus broadcast(const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *to,
                          uint32_t *rank) {
  *rank = m > n ? m : n;
  for (uint32_t i = 0; i < *rank; i++) {
    uint32_t x = i + m < *rank ? 1 : a[i + m - *rank], y = i + n < *rank ? 1 : b[i + n - *rank];
    if (x != y && x != 1 && y != 1) return ML_E_INVALIDARG;
    to[i] = x == 1 ? y : x;
  }
  return ML_OK;
}

static MLStatus infer(MLOperatorShapeInferrer *self, MLOperatorContext *context) {
  (void)self;
  uint32_t a[MOST], b[MOST], to[MOST], m, n, rank;
  if (MLGetInputTensorDimensionCount(context, 0, &m) != ML_OK || m > MOST) return ML_E_INVALIDARG;
  if (MLGetInputTensorDimensionCount(context, 1, &n) != ML_OK || n > MOST) return ML_E_INVALIDARG;
  if (MLGetInputTensorShape(context, 0, m, a) != ML_OK) return ML_E_FAIL;
  if (MLGetInputTensorShape(context, 1, n, b) != ML_OK) return ML_E_FAIL;
  if (broadcast(a, m, b, n, to, &rank) != ML_OK) return ML_E_INVALIDARG;
  return MLSetOutputTensorShape(context, 0, rank, to);
}

static uint32_t place(const uint32_t *dims, uint32_t rank, const uint32_t *out, uint32_t outRank,
                      uint32_t at) {
  uint32_t index = 0, step = 1;
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t own = dims[rank - 1 - i], whole = out[outRank - 1 - i];
    if (own != 1) index += at % whole * step;
    step *= own;
    at /= whole;
  }
  return index;
}

static MLStatus compute(MLOperatorKernel *self, MLOperatorContext *context) {
  (void)self;
  const MLOperatorTensor *x, *slope;
  MLOperatorTensor *y;
  float softness;
  uint32_t a[MOST], b[MOST], to[MOST];
  if (MLGetInputTensor(context, 0, &x) != ML_OK || MLGetInputTensor(context, 1, &slope) != ML_OK)
    return ML_E_FAIL;
  if (MLGetOutputTensor(context, 0, &y) != ML_OK) return ML_E_FAIL;
  if (MLGetAttribute(context, "softness", MLOperatorAttributeType_Float, 1, sizeof softness, &softness) !=
      ML_OK)
    return ML_E_FAIL;
  uint32_t m = MLGetTensorDimensionCount(x), n = MLGetTensorDimensionCount(slope),
           rank = MLGetTensorDimensionCount(y);
  MLGetTensorShape(x, m, a);
  MLGetTensorShape(slope, n, b);
  MLGetTensorShape(y, rank, to);
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= to[i];
  const float *from = MLGetTensorData(x), *slopes = MLGetTensorData(slope);
  float *values = MLGetTensorData(y);
  for (uint32_t i = 0; i < count; i++) {
    float v = from[place(a, m, to, rank, i)];
    float bent = slopes[place(b, n, to, rank, i)] * v;
    float soft = softness * (v < 0 ? -v : v);
    values[i] = v < 0 ? bent / (1 + soft) : v;
  }
  return ML_OK;
}

static MLStatus create(MLOperatorKernelFactory *self, MLOperatorContext *context, MLOperatorKernel **kernel) {
  (void)self;
  (void)context;
  static MLOperatorKernel one = {compute, NULL};
  *kernel = &one;
  return ML_OK;
}

static const MLOperatorEdgeDescription floats[] = {
    {MLOperatorEdgeType_Tensor, {MLOperatorTensorDataType_Float}}};
static const MLOperatorEdgeTypeConstraint types[] = {{"T", floats, 1}};
static const MLOperatorSchemaEdgeDescription edges[] = {
    {MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_Label, {"T"}},
    {MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_Label, {"T"}},
};
static const MLOperatorAttribute attributes[] = {{"softness", MLOperatorAttributeType_Float, false}};
static const float quarter = 0.25f;
static const MLOperatorAttributeNameValue defaults[] = {
    {"softness", MLOperatorAttributeType_Float, 1, {.floats = &quarter}}};

#ifndef BREAK
#define BREAK
#endif

OP_AUTHOR_PLUGIN(registry) {
  static MLOperatorKernelFactory factory = {create};
  static MLOperatorShapeInferrer shapes = {infer};
  MLOperatorSchemaDescription schema = {
      .name = "Tilt",
      .operatorSetVersionAtLastChange = 1,
      .inputs = edges,
      .inputCount = 2,
      .outputs = edges,
      .outputCount = 1,
      .typeConstraints = types,
      .typeConstraintCount = 1,
      .attributes = attributes,
      .attributeCount = 1,
      .defaultAttributes = defaults,
      .defaultAttributeCount = 1,
  };
  MLOperatorSetId set = {"org.test", 1};
  MLOperatorKernelDescription kernel = {.domain = "org.test",
                                        .name = "Tilt",
                                        .minimumOperatorSetVersion = 1,
                                        .executionType = MLOperatorExecutionType_Cpu};
  MLOperatorShapeInferrer *inferrer = &shapes;
  BREAK; // a test breaks one of the rules here
  const MLOperatorSchemaDescription *schemas[] = {&schema};
  MLStatus status = MLRegisterOperatorSetSchema(registry, &set, 0, schemas, 1, NULL, &shapes);
  return status != ML_OK ? status : MLRegisterOperatorKernel(registry, &kernel, &factory, inferrer);
}
