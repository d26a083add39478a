#ifndef OPSPEC_AUTHOR_ROLES_H
#define OPSPEC_AUTHOR_ROLES_H

// Implementation of author.h: the context in its roles, and the functions of the rows. Included by it.

#include <opspec/author_registry.h>

// ---- Attributes -------------------------------------------------------------------------------------------

typedef struct MLValues__ {
  uint32_t count;
  int64_t integer;
  float number;
  os_str text;
  const int64_t *ints;
  const float *floats;
  const os_str *texts;
  const char *const *strings; // of a kernel's default
} MLValues__;

// What the node or its schema gives.
static bool MLNodeValues__(const op_node *node, const char *name, MLOperatorAttributeType type,
                           MLValues__ *out) {
  static const char none[] = "";
  size_t count = 1;
  *out = (MLValues__){0};
  switch (type) {
  case MLOperatorAttributeType_Int:
    out->integer = op_attr_int(node, name, 0);
    if (out->integer != op_attr_int(node, name, 1)) return false;
    out->ints = &out->integer;
    break;
  case MLOperatorAttributeType_Float:
    out->number = (float)op_attr_float(node, name, 0);
    if (out->number == 0 && op_attr_float(node, name, 1) != 0) return false;
    out->floats = &out->number;
    break;
  case MLOperatorAttributeType_String:
    out->text = op_attr_string(node, name, none);
    if (out->text.data == none) return false;
    out->texts = &out->text;
    break;
  case MLOperatorAttributeType_IntArray: out->ints = op_attr_ints(node, name, &count); break;
  case MLOperatorAttributeType_FloatArray: out->floats = op_attr_floats(node, name, &count); break;
  case MLOperatorAttributeType_StringArray: out->texts = op_attr_strings(node, name, &count); break;
  default: return false;
  }
  out->count = (uint32_t)count;
  return count > 0;
}

static bool MLDefaultValues__(const MLOperatorKernelEntry__ *kernel, const char *name,
                              MLOperatorAttributeType type, MLValues__ *out) {
  for (uint32_t i = 0; kernel != NULL && i < kernel->description->defaultAttributeCount; i++) {
    const MLOperatorAttributeNameValue *value = &kernel->description->defaultAttributes[i];
    if (value->type != type || !MLSame__(value->name, name)) continue;
    *out = (MLValues__){.count = value->valueCount};
    if (type == MLOperatorAttributeType_Int || type == MLOperatorAttributeType_IntArray)
      out->ints = value->ints;
    else if (type == MLOperatorAttributeType_Float || type == MLOperatorAttributeType_FloatArray)
      out->floats = value->floats;
    else
      out->strings = value->strings;
    return true;
  }
  return false;
}

static bool MLFindValues__(const MLOperatorContext *context, const char *name, MLOperatorAttributeType type,
                           MLValues__ *out) {
  return MLNodeValues__(context->node, name, type, out) ||
         MLDefaultValues__(context->kernel, name, type, out);
}

MLStatus MLGetAttributeElementCount(const MLOperatorContext *context, const char *name,
                                    MLOperatorAttributeType type, uint32_t *elementCount) {
  MLValues__ values;
  *elementCount = 0;
  if (context->role == ML_CLOSED__ || !MLIsAttributeType__(type)) return ML_E_INVALIDARG;
  if (MLFindValues__(context, name, type, &values)) *elementCount = values.count;
  return ML_OK;
}

MLStatus MLGetAttribute(const MLOperatorContext *context, const char *name, MLOperatorAttributeType type,
                        uint32_t elementCount, size_t elementByteSize, void *value) {
  MLValues__ values;
  if (context->role == ML_CLOSED__ || !MLFindValues__(context, name, type, &values)) return ML_E_INVALIDARG;
  if (values.count != elementCount) return ML_E_INVALIDARG;
  if (values.ints != NULL) {
    if (elementByteSize != sizeof(int64_t)) return ML_E_INVALIDARG;
    for (uint32_t i = 0; i < elementCount; i++) ((int64_t *)value)[i] = values.ints[i];
    return ML_OK;
  }
  if (values.floats == NULL || elementByteSize != sizeof(float)) return ML_E_INVALIDARG;
  for (uint32_t i = 0; i < elementCount; i++) ((float *)value)[i] = values.floats[i];
  return ML_OK;
}

static bool MLFindString__(const MLOperatorContext *context, const char *name, uint32_t index, os_str *out) {
  MLValues__ values;
  if (context->role == ML_CLOSED__) return false;
  if (!MLFindValues__(context, name, MLOperatorAttributeType_String, &values) &&
      !MLFindValues__(context, name, MLOperatorAttributeType_StringArray, &values))
    return false;
  if (index >= values.count) return false;
  if (values.texts != NULL) {
    *out = values.texts[index];
    return true;
  }
  *out = (os_str){values.strings[index], 0};
  while (out->data[out->len] != '\0') out->len++;
  return true;
}

MLStatus MLGetStringAttributeElementLength(const MLOperatorContext *context, const char *name,
                                           uint32_t elementIndex, uint32_t *attributeElementByteSize) {
  os_str text;
  if (!MLFindString__(context, name, elementIndex, &text)) return ML_E_INVALIDARG;
  *attributeElementByteSize = (uint32_t)text.len + 1;
  return ML_OK;
}

MLStatus MLGetStringAttributeElement(const MLOperatorContext *context, const char *name,
                                     uint32_t elementIndex, uint32_t attributeElementByteSize,
                                     char *attributeElement) {
  os_str text;
  if (!MLFindString__(context, name, elementIndex, &text)) return ML_E_INVALIDARG;
  if (attributeElementByteSize < text.len + 1) return ML_E_INVALIDARG;
  for (size_t i = 0; i < text.len; i++) attributeElement[i] = text.data[i];
  attributeElement[text.len] = '\0';
  return ML_OK;
}

// ---- Edges ------------------------------------------------------------------------------------------------

uint32_t MLGetInputCount(const MLOperatorContext *context) {
  if (context->run != NULL) return op_run_input_count(context->run);
  return context->infer != NULL ? op_infer_input_count(context->infer) : 0;
}

uint32_t MLGetOutputCount(const MLOperatorContext *context) {
  if (context->run != NULL) return op_run_output_count(context->run);
  return context->infer != NULL ? op_infer_output_count(context->infer) : 0;
}

bool MLIsInputValid(const MLOperatorContext *context, uint32_t inputIndex) {
  if (context->run != NULL) return op_run_input_value(context->run, inputIndex) != NULL;
  return context->infer != NULL && op_infer_has_input(context->infer, inputIndex);
}

bool MLIsOutputValid(const MLOperatorContext *context, uint32_t outputIndex) {
  if (context->run != NULL) return op_run_has_output(context->run, outputIndex);
  return context->infer != NULL && op_infer_has_output(context->infer, outputIndex);
}

static MLStatus MLDescribe__(op_elem elem, bool sequence, MLOperatorEdgeDescription *edge) {
  *edge = (MLOperatorEdgeDescription){0};
  if (elem < OP_FLOAT || elem > OP_COMPLEX128) return ML_E_INVALIDARG;
  edge->edgeType = sequence ? MLOperatorEdgeType_SequenceTensor : MLOperatorEdgeType_Tensor;
  edge->tensorDataType = (MLOperatorTensorDataType)elem;
  return ML_OK;
}

MLStatus MLGetInputEdgeDescription(const MLOperatorContext *context, uint32_t inputIndex,
                                   MLOperatorEdgeDescription *edgeDescription) {
  if (!MLIsInputValid(context, inputIndex)) return ML_E_INVALIDARG;
  op_type type = context->run != NULL ? op_value_type(op_run_input_value(context->run, inputIndex))
                                      : op_infer_type(context->infer, inputIndex);
  op_type element = 0;
  if (type >= OP_ELEM_COUNT && context->infer != NULL) element = op_infer_element_of(context->infer, type);
  if (element == 0)
    return MLDescribe__(type < OP_ELEM_COUNT ? (op_elem)type : OP_NONE, false, edgeDescription);
  return MLDescribe__(element < OP_ELEM_COUNT ? (op_elem)element : OP_NONE, true, edgeDescription);
}

MLStatus MLGetOutputEdgeDescription(const MLOperatorContext *context, uint32_t outputIndex,
                                    MLOperatorEdgeDescription *edgeDescription) {
  if (context->role != ML_CREATE__ || !MLIsOutputValid(context, outputIndex)) return ML_E_INVALIDARG;
  const op_tensor *tensor = op_run_output(context->run, outputIndex);
  return MLDescribe__(tensor == NULL ? OP_NONE : tensor->elem, false, edgeDescription);
}

MLStatus MLSetOutputEdgeDescription(MLOperatorContext *context, uint32_t outputIndex,
                                    const MLOperatorEdgeDescription *edgeDescription) {
  if (context->role != ML_TYPES__ || !MLIsOutputValid(context, outputIndex)) return ML_E_INVALIDARG;
  op_type type = (op_type)edgeDescription->tensorDataType;
  if (type < OP_FLOAT || type > OP_COMPLEX128) return ML_E_INVALIDARG;
  if (edgeDescription->edgeType == MLOperatorEdgeType_SequenceTensor)
    type = op_infer_sequence_of(context->infer, type);
  else if (edgeDescription->edgeType != MLOperatorEdgeType_Tensor)
    return ML_E_INVALIDARG;
  op_infer_set_type(context->infer, outputIndex, type);
  return ML_OK;
}

// ---- Shapes -----------------------------------------------------------------------------------------------

static bool MLDynamic__(const MLOperatorContext *context) {
  return context->kernel != NULL && context->kernel->description->options != MLOperatorKernelOptions_None;
}

bool MLHasTensorShapeDescription(const MLOperatorContext *context) {
  return context->role == ML_CREATE__ && !MLDynamic__(context);
}

MLStatus MLGetTensorShapeDescription(MLOperatorContext *context, MLOperatorContext **shapeDescription) {
  *shapeDescription = MLHasTensorShapeDescription(context) ? context : NULL;
  return *shapeDescription == NULL ? ML_E_INVALIDARG : ML_OK;
}

bool MLHasOutputShapeDescription(const MLOperatorContext *context) {
  return MLHasTensorShapeDescription(context) && context->kernel->shapeInferrer != NULL;
}

// Rank and dims of an input in the roles that may ask for them.
static const int64_t *MLInputDims__(const MLOperatorContext *context, uint32_t index, int32_t *rank) {
  *rank = -1;
  if (context->role == ML_SHAPES__) return op_infer_dims(context->infer, index, rank);
  if (!MLHasTensorShapeDescription(context)) return NULL;
  const op_tensor *tensor = op_run_input(context->run, index);
  if (tensor == NULL) return NULL;
  *rank = tensor->rank;
  return tensor->dims;
}

static MLStatus MLCopyDims__(const int64_t *dims, int32_t rank, uint32_t count, uint32_t *to) {
  if (rank < 0 || (uint32_t)rank != count) return ML_E_INVALIDARG;
  for (uint32_t i = 0; i < count; i++) {
    if (dims[i] < 0 || dims[i] > UINT32_MAX) return ML_E_INVALIDARG;
    to[i] = (uint32_t)dims[i];
  }
  return ML_OK;
}

MLStatus MLGetInputTensorDimensionCount(const MLOperatorContext *context, uint32_t inputIndex,
                                        uint32_t *dimensionCount) {
  int32_t rank;
  MLInputDims__(context, inputIndex, &rank);
  if (rank < 0) return ML_E_INVALIDARG;
  *dimensionCount = (uint32_t)rank;
  return ML_OK;
}

MLStatus MLGetInputTensorShape(const MLOperatorContext *context, uint32_t inputIndex, uint32_t dimensionCount,
                               uint32_t *dimensions) {
  int32_t rank;
  const int64_t *dims = MLInputDims__(context, inputIndex, &rank);
  return MLCopyDims__(dims, rank, dimensionCount, dimensions);
}

static const op_tensor *MLOutputShape__(const MLOperatorContext *context, uint32_t index) {
  return MLHasOutputShapeDescription(context) ? op_run_output(context->run, index) : NULL;
}

MLStatus MLGetOutputTensorDimensionCount(const MLOperatorContext *context, uint32_t outputIndex,
                                         uint32_t *dimensionCount) {
  const op_tensor *tensor = MLOutputShape__(context, outputIndex);
  if (tensor == NULL) return ML_E_INVALIDARG;
  *dimensionCount = (uint32_t)tensor->rank;
  return ML_OK;
}

MLStatus MLGetOutputTensorShape(const MLOperatorContext *context, uint32_t outputIndex,
                                uint32_t dimensionCount, uint32_t *dimensions) {
  const op_tensor *tensor = MLOutputShape__(context, outputIndex);
  return tensor == NULL ? ML_E_INVALIDARG
                        : MLCopyDims__(tensor->dims, tensor->rank, dimensionCount, dimensions);
}

MLStatus MLSetOutputTensorShape(MLOperatorContext *context, uint32_t outputIndex, uint32_t dimensionCount,
                                const uint32_t *dimensions) {
  if (context->role != ML_SHAPES__ || !MLIsOutputValid(context, outputIndex)) return ML_E_INVALIDARG;
  if (dimensionCount > OP_MAX_RANK) return ML_E_INVALIDARG;
  op_dim *dims = op_infer_set_rank(context->infer, outputIndex, (int32_t)dimensionCount);
  if (dims == NULL) {
    context->trouble = OS_OUT_OF_MEMORY;
    return ML_E_OUTOFMEMORY;
  }
  for (uint32_t i = 0; i < dimensionCount; i++) dims[i] = dimensions[i];
  return ML_OK;
}

MLStatus MLGetConstantInputTensor(const MLOperatorContext *context, uint32_t inputIndex,
                                  const MLOperatorTensor **tensor) {
  *tensor = NULL;
  if (context->role != ML_SHAPES__ || !MLIsInputValid(context, inputIndex)) return ML_E_INVALIDARG;
  *tensor = op_infer_value(context->infer, inputIndex);
  return ML_OK;
}

void MLGetExecutionInterface(const MLOperatorContext *context, void **executionObject) {
  (void)context;
  *executionObject = NULL;
}

// ---- Computing --------------------------------------------------------------------------------------------

MLStatus MLGetInputTensor(MLOperatorContext *context, uint32_t inputIndex, const MLOperatorTensor **tensor) {
  *tensor = NULL;
  if (context->role != ML_COMPUTE__ || inputIndex >= op_run_input_count(context->run)) return ML_E_INVALIDARG;
  if (op_run_input_value(context->run, inputIndex) == NULL) return ML_OK;
  *tensor = op_run_input(context->run, inputIndex);
  return *tensor == NULL ? ML_E_INVALIDARG : ML_OK;
}

MLStatus MLGetOutputTensor(MLOperatorContext *context, uint32_t outputIndex, MLOperatorTensor **tensor) {
  *tensor = NULL;
  if (context->role != ML_COMPUTE__ || outputIndex >= op_run_output_count(context->run))
    return ML_E_INVALIDARG;
  if (context->kernel->shapeInferrer == NULL) return ML_E_INVALIDARG;
  if (!op_run_has_output(context->run, outputIndex)) return ML_OK;
  *tensor = op_run_output(context->run, outputIndex);
  return *tensor == NULL ? ML_E_INVALIDARG : ML_OK;
}

// The element type of an output: as inferred, or as the first input's of the same label.
static op_elem MLOutputElem__(const MLOperatorContext *context, uint32_t index) {
  const MLOperatorSchemaDescription *schema = context->op->entry == NULL ? NULL : context->op->entry->schema;
  if (schema == NULL || schema->outputCount == 0) {
    const op_tensor *first = op_run_input(context->run, 0);
    return first == NULL ? OP_NONE : first->elem;
  }
  uint32_t at = index < schema->outputCount ? index : schema->outputCount - 1;
  const MLOperatorSchemaEdgeDescription *edge = &schema->outputs[at];
  if (edge->typeFormat == MLOperatorSchemaEdgeTypeFormat_EdgeDescription)
    return (op_elem)edge->edgeDescription.tensorDataType;
  for (uint32_t i = 0; i < schema->inputCount; i++) {
    if (schema->inputs[i].typeFormat != MLOperatorSchemaEdgeTypeFormat_Label ||
        !MLSame__(schema->inputs[i].typeLabel, edge->typeLabel))
      continue;
    const op_tensor *tensor = op_run_input(context->run, i);
    if (tensor != NULL) return tensor->elem;
  }
  for (uint32_t i = 0; i < schema->typeConstraintCount; i++)
    if (MLSame__(schema->typeConstraints[i].typeLabel, edge->typeLabel) &&
        schema->typeConstraints[i].allowedTypeCount == 1)
      return (op_elem)schema->typeConstraints[i].allowedTypes[0].tensorDataType;
  return OP_NONE;
}

MLStatus MLGetOutputTensorOfShape(MLOperatorContext *context, uint32_t outputIndex, uint32_t dimensionCount,
                                  const uint32_t *dimensionSizes, MLOperatorTensor **tensor) {
  int64_t dims[OP_MAX_RANK];
  *tensor = NULL;
  if (context->role != ML_COMPUTE__ || outputIndex >= op_run_output_count(context->run) ||
      dimensionCount > OP_MAX_RANK)
    return ML_E_INVALIDARG;
  if (!op_run_has_output(context->run, outputIndex)) return ML_OK;
  for (uint32_t i = 0; i < dimensionCount; i++) dims[i] = dimensionSizes[i];
  op_tensor *known = op_run_output(context->run, outputIndex);
  bool same = known != NULL && known->rank == (int32_t)dimensionCount;
  for (uint32_t i = 0; same && i < dimensionCount; i++) same = known->dims[i] == dims[i];
  if (known != NULL) {
    *tensor = same ? known : NULL;
    return same ? ML_OK : ML_E_INVALIDARG;
  }
  op_elem elem = MLOutputElem__(context, outputIndex);
  if (elem == OP_NONE) return ML_E_INVALIDARG;
  *tensor = op_run_allocate(context->run, outputIndex, elem, (int32_t)dimensionCount, dims);
  return *tensor == NULL ? ML_E_OUTOFMEMORY : ML_OK;
}

MLStatus MLAllocateTemporaryData(MLOperatorContext *context, size_t size, void **data) {
  *data = NULL;
  if (context->role != ML_COMPUTE__) return ML_E_INVALIDARG;
  if (context->temporaryCount == ML_TEMPORARY__) return ML_E_OUTOFMEMORY;
  int64_t bytes = (int64_t)size;
  op_value *value = op_run_new_tensor(context->run, OP_UINT8, 1, &bytes);
  if (value == NULL) return ML_E_OUTOFMEMORY;
  context->temporary[context->temporaryCount++] = value;
  *data = op_value_edit(value)->data;
  return ML_OK;
}

uint32_t MLGetTensorDimensionCount(const MLOperatorTensor *tensor) { return (uint32_t)tensor->rank; }

MLStatus MLGetTensorShape(const MLOperatorTensor *tensor, uint32_t dimensionCount, uint32_t *dimensions) {
  return MLCopyDims__(tensor->dims, tensor->rank, dimensionCount, dimensions);
}

MLOperatorTensorDataType MLGetTensorDataType(const MLOperatorTensor *tensor) {
  return (MLOperatorTensorDataType)tensor->elem;
}

// ---- The rows' functions ----------------------------------------------------------------------------------

static MLOperatorContext *MLOpen__(const MLOperator__ *op, const op_node *node, op_infer *infer,
                                   op_run *run) {
  MLOperatorContext *context = &op->registry->context;
  *context = (MLOperatorContext){.op = op, .node = node, .infer = infer, .run = run};
  return context;
}

static void MLClose__(MLOperatorContext *context) {
  for (uint32_t i = 0; i < context->temporaryCount; i++) op_value_release(context->temporary[i]);
  context->temporaryCount = 0;
  context->role = ML_CLOSED__;
  context->infer = NULL;
  context->run = NULL;
}

static bool MLShapesKnown__(const op_infer *infer) {
  for (uint32_t i = 0; i < op_infer_input_count(infer); i++) {
    if (!op_infer_has_input(infer, i)) continue;
    int32_t rank;
    const op_dim *dims = op_infer_dims(infer, i, &rank);
    if (rank < 0) return false;
    for (int32_t axis = 0; axis < rank; axis++)
      if (!op_dim_is_number(dims[axis])) return false;
  }
  return true;
}

static const MLOperatorKernelEntry__ *MLChoose__(const MLOperator__ *op, const MLOperatorContext *context);

static os_status MLOperatorInfer__(op_infer *infer) {
  const MLOperator__ *op = op_node_user(op_infer_node(infer));
  MLOperatorContext *context = MLOpen__(op, op_infer_node(infer), infer, NULL);
  MLOperatorTypeInferrer *types = op->entry == NULL ? NULL : op->entry->typeInferrer;
  MLOperatorShapeInferrer *shapes = op->entry == NULL ? NULL : op->entry->shapeInferrer;
  MLStatus status = ML_OK;
  if (types != NULL) {
    context->role = ML_TYPES__;
    status = types->InferOutputTypes(types, context);
  }
  if (status != ML_OK) {
    MLClose__(context);
    return op_infer_fail(infer, OP_FAULT_TYPE, "the type inferrer failed with 0x%08x", (unsigned)status);
  }
  context->kernel = MLChoose__(op, context);
  if (context->kernel != NULL && context->kernel->shapeInferrer != NULL)
    shapes = context->kernel->shapeInferrer;
  if (shapes != NULL && MLShapesKnown__(infer)) {
    context->role = ML_SHAPES__;
    status = shapes->InferOutputShapes(shapes, context);
  }
  os_status trouble = context->trouble;
  MLClose__(context);
  if (trouble != OS_OK) return trouble;
  if (status == ML_OK) return OS_OK;
  return op_infer_fail(infer, OP_FAULT_SHAPE, "the shape inferrer failed with 0x%08x", (unsigned)status);
}

// Are the types of the inputs among those that the kernel is for?
static bool MLFits__(const MLOperator__ *op, const MLOperatorKernelEntry__ *kernel,
                     const MLOperatorContext *context) {
  const MLOperatorSchemaDescription *schema = op->entry == NULL ? NULL : op->entry->schema;
  for (uint32_t i = 0; schema != NULL && i < MLGetInputCount(context); i++) {
    if (!MLIsInputValid(context, i) || schema->inputCount == 0) continue;
    const MLOperatorSchemaEdgeDescription *edge =
        &schema->inputs[i < schema->inputCount ? i : schema->inputCount - 1];
    MLOperatorEdgeDescription actual;
    if (edge->typeFormat != MLOperatorSchemaEdgeTypeFormat_Label ||
        MLGetInputEdgeDescription(context, i, &actual) != ML_OK)
      continue;
    for (uint32_t j = 0; j < kernel->description->typeConstraintCount; j++) {
      const MLOperatorEdgeTypeConstraint *constraint = &kernel->description->typeConstraints[j];
      if (!MLSame__(constraint->typeLabel, edge->typeLabel)) continue;
      bool allowed = false;
      for (uint32_t k = 0; k < constraint->allowedTypeCount; k++)
        allowed = allowed || constraint->allowedTypes[k].tensorDataType == actual.tensorDataType;
      if (!allowed) return false;
    }
  }
  return true;
}

static const MLOperatorKernelEntry__ *MLChoose__(const MLOperator__ *op, const MLOperatorContext *context) {
  for (const MLOperatorKernelEntry__ *kernel = op->kernels; kernel != NULL; kernel = kernel->another)
    if (MLFits__(op, kernel, context)) return kernel;
  return NULL;
}

enum { ML_KEY__ = 96 };

// A node's kernel and the shapes that it was made for.
typedef struct MLState__ {
  MLOperatorKernel *kernel;
  const MLOperatorKernelEntry__ *entry;
  uint32_t count; // of `key`; ML_KEY__ + 1 = they did not fit
  int64_t key[ML_KEY__];
} MLState__;

static size_t MLOperatorStateSize__(void) { return sizeof(MLState__); }

static void MLOperatorDestroy__(void *memory) {
  MLState__ *state = memory;
  if (state->kernel != NULL && state->kernel->Release != NULL) state->kernel->Release(state->kernel);
  state->kernel = NULL;
}

// Compares and remembers types and shapes of the inputs.
static bool MLSameShapes__(MLState__ *state, const op_run *run) {
  uint32_t at = 0;
  bool same = true;
  for (uint32_t i = 0; i < op_run_input_count(run); i++) {
    const op_tensor *tensor = op_run_input(run, i);
    int32_t rank = tensor == NULL ? -1 : tensor->rank;
    for (int32_t axis = -1; axis < rank; axis++) {
      int64_t item = axis >= 0 ? tensor->dims[axis] : tensor == NULL ? -1 : rank * 64 + (int)tensor->elem;
      if (at == ML_KEY__) {
        state->count = ML_KEY__ + 1;
        return false;
      }
      same = same && at < state->count && state->key[at] == item;
      state->key[at++] = item;
    }
  }
  same = same && at == state->count;
  state->count = at;
  return same;
}

static os_status MLEnsureKernel__(const MLOperator__ *op, MLState__ *state, MLOperatorContext *context) {
  op_run *run = context->run;
  if (state->kernel != NULL && (MLDynamic__(context) || MLSameShapes__(state, run))) return OS_OK;
  MLOperatorDestroy__(state);
  state->entry = context->kernel = MLChoose__(op, context);
  if (state->entry == NULL) return op_run_fail(run, "no kernel takes inputs of these types");
  MLSameShapes__(state, run);
  context->role = ML_CREATE__;
  MLStatus status = state->entry->factory->CreateKernel(state->entry->factory, context, &state->kernel);
  context->role = ML_CLOSED__;
  if (status == ML_OK && state->kernel != NULL) return OS_OK;
  state->kernel = NULL;
  return op_run_fail(run, "the kernel could not be created: 0x%08x", (unsigned)status);
}

static os_status MLOperatorCompute__(op_run *run) {
  const MLOperator__ *op = op_node_user(op_run_node(run));
  MLState__ *state = op_run_state(run);
  MLOperatorContext *context = MLOpen__(op, op_run_node(run), NULL, run);
  context->kernel = state->entry;
  os_status status = MLEnsureKernel__(op, state, context);
  if (status != OS_OK) {
    MLClose__(context);
    return status;
  }
  context->role = ML_COMPUTE__;
  MLStatus answer = state->kernel->Compute(state->kernel, context);
  MLClose__(context);
  return answer == ML_OK ? OS_OK : op_run_fail(run, "the kernel failed with 0x%08x", (unsigned)answer);
}

#endif
