#ifndef OPSPEC_AUTHOR_H
#define OPSPEC_AUTHOR_H

// The roles of MLOperatorAuthor, the interface that Windows ML has for custom operators, in C: its types, names and
// numbers, so that an operator written for it comes over role by role. An adapter over operator.h: the same source serves
// code that is linked into the build and plug-ins (plugin.h).
//
// What an author implements (kernel, factory, inferrers) is a struct whose first members are functions; what they are given
// is one opaque context, whose functions are valid as long as the call that it was given to. In any other role, and later,
// they answer ML_E_INVALIDARG. Interfaces of the GPU are reserved: there are none.
//
// In one source file of a plug-in: #define OPSPEC_AUTHOR_IMPLEMENTATION before the include.

#include <opspec/operator.h>

// ---- Numbers ----------------------------------------------------------------------------------------------

typedef int32_t MLStatus; // HRESULT: negative = failed
#define ML_OK ((MLStatus)0)
#define ML_E_NOTIMPL ((MLStatus)0x80004001)
#define ML_E_FAIL ((MLStatus)0x80004005)
#define ML_E_OUTOFMEMORY ((MLStatus)0x8007000E)
#define ML_E_INVALIDARG ((MLStatus)0x80070057)

typedef enum MLOperatorAttributeType {
  MLOperatorAttributeType_Undefined = 0,
  MLOperatorAttributeType_Float = 2,
  MLOperatorAttributeType_Int = 3, // 64 bits
  MLOperatorAttributeType_String = 4,
  MLOperatorAttributeType_FloatArray = 7,
  MLOperatorAttributeType_IntArray = 8,
  MLOperatorAttributeType_StringArray = 9,
} MLOperatorAttributeType;

// ONNX's numbers, up to complex128.
typedef enum MLOperatorTensorDataType {
  MLOperatorTensorDataType_Undefined = 0,
  MLOperatorTensorDataType_Float = 1,
  MLOperatorTensorDataType_UInt8 = 2,
  MLOperatorTensorDataType_Int8 = 3,
  MLOperatorTensorDataType_UInt16 = 4,
  MLOperatorTensorDataType_Int16 = 5,
  MLOperatorTensorDataType_Int32 = 6,
  MLOperatorTensorDataType_Int64 = 7,
  MLOperatorTensorDataType_String = 8,
  MLOperatorTensorDataType_Bool = 9,
  MLOperatorTensorDataType_Float16 = 10,
  MLOperatorTensorDataType_Double = 11,
  MLOperatorTensorDataType_UInt32 = 12,
  MLOperatorTensorDataType_UInt64 = 13,
  MLOperatorTensorDataType_Complex64 = 14,
  MLOperatorTensorDataType_Complex128 = 15,
} MLOperatorTensorDataType;

typedef enum MLOperatorEdgeType {
  MLOperatorEdgeType_Undefined = 0,
  MLOperatorEdgeType_Tensor = 1,
  MLOperatorEdgeType_SequenceTensor = 2,
  MLOperatorEdgeType_Primitive = 3,
} MLOperatorEdgeType;

typedef enum MLOperatorParameterOptions {
  MLOperatorParameterOptions_Single = 0,
  MLOperatorParameterOptions_Optional = 1,
  MLOperatorParameterOptions_Variadic = 2, // the last one only
} MLOperatorParameterOptions;

typedef enum MLOperatorSchemaEdgeTypeFormat {
  MLOperatorSchemaEdgeTypeFormat_EdgeDescription = 0,
  MLOperatorSchemaEdgeTypeFormat_Label = 1,
} MLOperatorSchemaEdgeTypeFormat;

typedef enum MLOperatorKernelOptions {
  MLOperatorKernelOptions_None = 0,
  // One kernel serves inputs of all shapes, and is not told them when it is created.
  MLOperatorKernelOptions_AllowDynamicInputShapes = 1,
} MLOperatorKernelOptions;

typedef enum MLOperatorExecutionType {
  MLOperatorExecutionType_Undefined = 0,
  MLOperatorExecutionType_Cpu = 1,
  MLOperatorExecutionType_D3D12 = 2, // reserved: may be registered, is never chosen
} MLOperatorExecutionType;

// ---- Descriptions -----------------------------------------------------------------------------------------
//
// What a registration is given is copied; what its members point to is borrowed and must live as long as the registry.
// Strings are NUL-ended UTF-8.

typedef struct MLOperatorEdgeDescription {
  MLOperatorEdgeType edgeType;
  union {
    uint64_t reserved;
    MLOperatorTensorDataType tensorDataType; // of the tensor, or of the tensors of the sequence
  };
} MLOperatorEdgeDescription;

typedef struct MLOperatorSchemaEdgeDescription {
  MLOperatorParameterOptions options;
  MLOperatorSchemaEdgeTypeFormat typeFormat;
  union {
    const void *reserved;
    const char *typeLabel; // of one of the schema's type constraints
    MLOperatorEdgeDescription edgeDescription;
  };
} MLOperatorSchemaEdgeDescription;

typedef struct MLOperatorEdgeTypeConstraint {
  const char *typeLabel;
  const MLOperatorEdgeDescription *allowedTypes;
  uint32_t allowedTypeCount;
} MLOperatorEdgeTypeConstraint;

typedef struct MLOperatorAttribute {
  const char *name;
  MLOperatorAttributeType type;
  bool required;
} MLOperatorAttribute;

typedef struct MLOperatorAttributeNameValue {
  const char *name;
  MLOperatorAttributeType type;
  uint32_t valueCount; // 1 unless the type is an array
  union {
    const void *reserved;
    const int64_t *ints;
    const char *const *strings;
    const float *floats;
  };
} MLOperatorAttributeNameValue;

typedef struct MLOperatorSchemaDescription {
  const char *name;
  int32_t operatorSetVersionAtLastChange; // the since version
  const MLOperatorSchemaEdgeDescription *inputs;
  uint32_t inputCount;
  const MLOperatorSchemaEdgeDescription *outputs;
  uint32_t outputCount;
  const MLOperatorEdgeTypeConstraint *typeConstraints;
  uint32_t typeConstraintCount;
  const MLOperatorAttribute *attributes;
  uint32_t attributeCount;
  const MLOperatorAttributeNameValue *defaultAttributes;
  uint32_t defaultAttributeCount;
} MLOperatorSchemaDescription;

typedef struct MLOperatorSetId {
  const char *domain; // "" = ONNX's
  int32_t version;
} MLOperatorSetId;

typedef struct MLOperatorKernelDescription {
  const char *domain;
  const char *name;
  // Serves models that import this version and later ones, up to the next version for which there is a schema.
  int32_t minimumOperatorSetVersion;
  MLOperatorExecutionType executionType;
  const MLOperatorEdgeTypeConstraint
      *typeConstraints; // by labels of a registered schema; of a built-in one they are not looked at
  uint32_t typeConstraintCount;
  const MLOperatorAttributeNameValue *defaultAttributes; // where neither node nor schema gives a value
  uint32_t defaultAttributeCount;
  MLOperatorKernelOptions options;
  uint32_t executionOptions; // must be 0
} MLOperatorKernelDescription;

// ---- What an author implements ----------------------------------------------------------------------------

typedef struct MLOperatorContext MLOperatorContext;
typedef op_tensor MLOperatorTensor;

typedef struct MLOperatorKernel {
  MLStatus (*Compute)(struct MLOperatorKernel *self, MLOperatorContext *context);
  void (*Release)(struct MLOperatorKernel *self); // may be NULL
} MLOperatorKernel;

typedef struct MLOperatorKernelFactory {
  // Once per node; without AllowDynamicInputShapes again when shapes of inputs have changed.
  MLStatus (*CreateKernel)(struct MLOperatorKernelFactory *self, MLOperatorContext *context,
                           MLOperatorKernel **kernel);
} MLOperatorKernelFactory;

// Needed where the schema does not say the types of outputs. Runs before shape inference.
typedef struct MLOperatorTypeInferrer {
  MLStatus (*InferOutputTypes)(struct MLOperatorTypeInferrer *self, MLOperatorContext *context);
} MLOperatorTypeInferrer;

// Runs when the shapes of all inputs are known.
typedef struct MLOperatorShapeInferrer {
  MLStatus (*InferOutputShapes)(struct MLOperatorShapeInferrer *self, MLOperatorContext *context);
} MLOperatorShapeInferrer;

// ---- The registry -----------------------------------------------------------------------------------------

typedef struct MLOperatorRegistry MLOperatorRegistry;

// The operators of `set.domain` that have changed after baselineVersion and up to set.version. Inferrers may be NULL.
// Nothing of it is registered when one of them breaks a rule (MLGetRegistryMessage says which).
MLStatus MLRegisterOperatorSetSchema(MLOperatorRegistry *registry, const MLOperatorSetId *set,
                                     int32_t baselineVersion,
                                     const MLOperatorSchemaDescription *const *schema, uint32_t schemaCount,
                                     MLOperatorTypeInferrer *typeInferrer,
                                     MLOperatorShapeInferrer *shapeInferrer);
// A kernel for an operator of a registered set, or for one that the host knows already. shapeInferrer may be NULL; then
// the kernel says the shapes of its outputs (MLGetOutputTensorOfShape).
MLStatus MLRegisterOperatorKernel(MLOperatorRegistry *registry, const MLOperatorKernelDescription *kernel,
                                  MLOperatorKernelFactory *factory, MLOperatorShapeInferrer *shapeInferrer);
// Why the last registration was refused; "" when it was not.
const char *MLGetRegistryMessage(const MLOperatorRegistry *registry);

// Where registrations end, one call for each operator in MLCommitRegistry. `schema` NULL: one that the host knows, for the
// domain, op_type and since of the row. Types by labels are the host's to infer before row->infer.
typedef struct MLOperatorRegistrar {
  void *context;
  void *(*allocate)(void *context, size_t bytes); // zeroed, as long as the registry; NULL when memory ran out
  os_status (*add)(void *context, const MLOperatorSchemaDescription *schema, const op_row *row);
} MLOperatorRegistrar;

MLOperatorRegistry *MLCreateRegistry(const MLOperatorRegistrar *registrar);
// Brings kernels and schemas together and hands them over. No registration after it. OS_INVALID_ARGUMENT, with a message, when
// a kernel does not fit the schema that it serves: a version above all sets of its domain, a type label or a default attribute
// that the schema does not have. Nothing is handed over then.
os_status MLCommitRegistry(MLOperatorRegistry *registry);

// ---- The context, in every role ---------------------------------------------------------------------------

// Count 0: no attribute of this name and type.
MLStatus MLGetAttributeElementCount(const MLOperatorContext *context, const char *name,
                                    MLOperatorAttributeType type, uint32_t *elementCount);
// Numbers; the element count must be the attribute's, the byte size 4 of floats and 8 of integers.
MLStatus MLGetAttribute(const MLOperatorContext *context, const char *name, MLOperatorAttributeType type,
                        uint32_t elementCount, size_t elementByteSize, void *value);
// Bytes with the closing NUL.
MLStatus MLGetStringAttributeElementLength(const MLOperatorContext *context, const char *name,
                                           uint32_t elementIndex, uint32_t *attributeElementByteSize);
MLStatus MLGetStringAttributeElement(const MLOperatorContext *context, const char *name,
                                     uint32_t elementIndex, uint32_t attributeElementByteSize,
                                     char *attributeElement);

// ---- Type inference, shape inference, creation ------------------------------------------------------------

uint32_t MLGetInputCount(const MLOperatorContext *context);
uint32_t MLGetOutputCount(const MLOperatorContext *context);
bool MLIsInputValid(const MLOperatorContext *context, uint32_t inputIndex);
bool MLIsOutputValid(const MLOperatorContext *context, uint32_t outputIndex);
MLStatus MLGetInputEdgeDescription(const MLOperatorContext *context, uint32_t inputIndex,
                                   MLOperatorEdgeDescription *edgeDescription);

// Type inference
MLStatus MLSetOutputEdgeDescription(MLOperatorContext *context, uint32_t outputIndex,
                                    const MLOperatorEdgeDescription *edgeDescription);

// Shape inference, and creation through MLGetTensorShapeDescription
MLStatus MLGetInputTensorDimensionCount(const MLOperatorContext *context, uint32_t inputIndex,
                                        uint32_t *dimensionCount);
MLStatus MLGetInputTensorShape(const MLOperatorContext *context, uint32_t inputIndex, uint32_t dimensionCount,
                               uint32_t *dimensions);
MLStatus MLSetOutputTensorShape(MLOperatorContext *context, uint32_t outputIndex, uint32_t dimensionCount,
                                const uint32_t *dimensions);
// The value of an input that is the same in every run; NULL (and ML_OK) of any other. Shape inference only.
MLStatus MLGetConstantInputTensor(const MLOperatorContext *context, uint32_t inputIndex,
                                  const MLOperatorTensor **tensor);

// Creation
MLStatus MLGetOutputEdgeDescription(const MLOperatorContext *context, uint32_t outputIndex,
                                    MLOperatorEdgeDescription *edgeDescription);
bool MLHasTensorShapeDescription(const MLOperatorContext *context); // false with AllowDynamicInputShapes
MLStatus MLGetTensorShapeDescription(MLOperatorContext *context, MLOperatorContext **shapeDescription);
bool MLHasOutputShapeDescription(const MLOperatorContext *context); // true with a shape inferrer
MLStatus MLGetOutputTensorDimensionCount(const MLOperatorContext *context, uint32_t outputIndex,
                                         uint32_t *dimensionCount);
MLStatus MLGetOutputTensorShape(const MLOperatorContext *context, uint32_t outputIndex,
                                uint32_t dimensionCount, uint32_t *dimensions);
// NULL: reserved for the GPU.
void MLGetExecutionInterface(const MLOperatorContext *context, void **executionObject);

// ---- Computing --------------------------------------------------------------------------------------------

// NULL (and ML_OK) for an optional input that is not there; fails when it is no tensor.
MLStatus MLGetInputTensor(MLOperatorContext *context, uint32_t inputIndex, const MLOperatorTensor **tensor);
// Of the shape that the shape inferrer gave; fails without one. NULL (and ML_OK) for an output that the node leaves out.
MLStatus MLGetOutputTensor(MLOperatorContext *context, uint32_t outputIndex, MLOperatorTensor **tensor);
MLStatus MLGetOutputTensorOfShape(MLOperatorContext *context, uint32_t outputIndex, uint32_t dimensionCount,
                                  const uint32_t *dimensionSizes, MLOperatorTensor **tensor);
// Until Compute returns; 16-byte aligned, uninitialised.
MLStatus MLAllocateTemporaryData(MLOperatorContext *context, size_t size, void **data);

uint32_t MLGetTensorDimensionCount(const MLOperatorTensor *tensor);
MLStatus MLGetTensorShape(const MLOperatorTensor *tensor, uint32_t dimensionCount, uint32_t *dimensions);
MLOperatorTensorDataType MLGetTensorDataType(const MLOperatorTensor *tensor);
static inline bool MLIsCpuData(const MLOperatorTensor *tensor) { return tensor != NULL; }
static inline bool MLIsDataInterface(const MLOperatorTensor *tensor) { return tensor == NULL; }
static inline void *MLGetTensorData(const MLOperatorTensor *tensor) { return tensor->data; }

#ifdef OPSPEC_AUTHOR_IMPLEMENTATION
#include <opspec/author_registry.h>
#include <opspec/author_roles.h>
#endif

#endif
