#ifndef OPSPEC_AUTHOR_REGISTRY_H
#define OPSPEC_AUTHOR_REGISTRY_H

// Implementation of author.h: registering. Included by it.

#include <opspec/author.h>

typedef struct MLOperatorSchemaEntry__ {
  const MLOperatorSetId *set;
  int32_t baseline;
  const MLOperatorSchemaDescription *schema;
  MLOperatorTypeInferrer *typeInferrer;
  MLOperatorShapeInferrer *shapeInferrer;
  bool taken;             // has a kernel
  bool hidden;            // a set of another baseline had the operator of this version before
  MLOperatorSetId ownSet; // what the pointers above point to
  MLOperatorSchemaDescription ownSchema;
  struct MLOperatorSchemaEntry__ *next;
} MLOperatorSchemaEntry__;

typedef struct MLOperatorKernelEntry__ {
  const MLOperatorKernelDescription *description;
  MLOperatorKernelFactory *factory;
  MLOperatorShapeInferrer *shapeInferrer;
  struct MLOperatorKernelEntry__ *next;    // registered before
  struct MLOperatorKernelEntry__ *another; // for the same operator, other types
  bool placed;
  MLOperatorKernelDescription own;
} MLOperatorKernelEntry__;

// Role that the context is in: what its functions may do.
enum { ML_CLOSED__, ML_TYPES__, ML_SHAPES__, ML_CREATE__, ML_COMPUTE__ };

enum { ML_TEMPORARY__ = 16 };

struct MLOperatorContext {
  int role;
  const struct MLOperator__ *op;
  const MLOperatorKernelEntry__ *kernel; // chosen, else NULL
  const op_node *node;
  op_infer *infer;
  op_run *run;
  os_status trouble; // of the machinery, not of the author
  op_value *temporary[ML_TEMPORARY__];
  uint32_t temporaryCount;
};

// One operator: what its row's `user` points to.
typedef struct MLOperator__ {
  op_row row;
  MLOperatorRegistry *registry;
  const MLOperatorSchemaEntry__ *entry;   // NULL = the host knows the schema
  const MLOperatorKernelEntry__ *kernels; // NULL = there is none
} MLOperator__;

struct MLOperatorRegistry {
  MLOperatorRegistrar registrar;
  MLOperatorSchemaEntry__ *schemas;
  MLOperatorKernelEntry__ *kernels;
  const char *message;
  bool committed;
  MLOperatorContext context; // of the one call that is being made
};

static os_status MLOperatorInfer__(op_infer *infer);
static os_status MLOperatorCompute__(op_run *run);
static void MLOperatorDestroy__(void *state);
static size_t MLOperatorStateSize__(void);

static bool MLSame__(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) {
    a++;
    b++;
  }
  return *a == *b;
}

static bool MLSameDomain__(const char *a, const char *b) {
  return MLSame__(MLSame__(a, "ai.onnx") ? "" : a, MLSame__(b, "ai.onnx") ? "" : b);
}

static MLStatus MLRefuse__(MLOperatorRegistry *registry, MLStatus status, const char *message) {
  registry->message = message;
  return status;
}

const char *MLGetRegistryMessage(const MLOperatorRegistry *registry) { return registry->message; }

MLOperatorRegistry *MLCreateRegistry(const MLOperatorRegistrar *registrar) {
  MLOperatorRegistry *registry = registrar->allocate(registrar->context, sizeof *registry);
  if (registry == NULL) return NULL;
  registry->registrar = *registrar;
  registry->message = "";
  return registry;
}

// ---- Rules ------------------------------------------------------------------------------------------------

static bool MLIsArray__(MLOperatorAttributeType type) {
  return type >= MLOperatorAttributeType_FloatArray && type <= MLOperatorAttributeType_StringArray;
}

static bool MLIsAttributeType__(MLOperatorAttributeType type) {
  return (type >= MLOperatorAttributeType_Float && type <= MLOperatorAttributeType_String) ||
         MLIsArray__(type);
}

static MLStatus MLCheckDefaults__(MLOperatorRegistry *registry, const MLOperatorAttributeNameValue *values,
                                  uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (values[i].name == NULL || !MLIsAttributeType__(values[i].type))
      return MLRefuse__(registry, ML_E_INVALIDARG,
                        "a default attribute has no name or no type that there is");
    if (!MLIsArray__(values[i].type) && values[i].valueCount != 1)
      return MLRefuse__(registry, ML_E_INVALIDARG,
                        "a default attribute that is no array must have exactly one value");
    if (values[i].valueCount > 0 && values[i].reserved == NULL)
      return MLRefuse__(registry, ML_E_INVALIDARG, "a default attribute has no values");
  }
  return ML_OK;
}

static MLStatus MLCheckEdge__(MLOperatorRegistry *registry, const MLOperatorEdgeDescription *edge,
                              bool sequences) {
  if (edge->edgeType != MLOperatorEdgeType_Tensor &&
      !(sequences && edge->edgeType == MLOperatorEdgeType_SequenceTensor))
    return MLRefuse__(registry, ML_E_NOTIMPL,
                      sequences ? "an edge must be a tensor or a sequence of tensors"
                                : "type constraints of a kernel must name tensors");
  if (edge->tensorDataType < MLOperatorTensorDataType_Float ||
      edge->tensorDataType > MLOperatorTensorDataType_Complex128)
    return MLRefuse__(registry, ML_E_INVALIDARG, "an edge has an unknown data type");
  return ML_OK;
}

static MLStatus MLCheckConstraints__(MLOperatorRegistry *registry, const MLOperatorEdgeTypeConstraint *list,
                                     uint32_t count, bool sequences) {
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].typeLabel == NULL || list[i].allowedTypeCount == 0)
      return MLRefuse__(registry, ML_E_INVALIDARG, "a type constraint has no label or allows no type");
    for (uint32_t j = 0; j < list[i].allowedTypeCount; j++) {
      MLStatus status = MLCheckEdge__(registry, &list[i].allowedTypes[j], sequences);
      if (status != ML_OK) return status;
    }
  }
  return ML_OK;
}

static MLStatus MLCheckParameter__(MLOperatorRegistry *registry, const MLOperatorSchemaDescription *schema,
                                   const MLOperatorSchemaEdgeDescription *edge, bool last) {
  if ((uint32_t)edge->options > MLOperatorParameterOptions_Variadic)
    return MLRefuse__(registry, ML_E_NOTIMPL, "a parameter must be single, optional or variadic");
  if (edge->options == MLOperatorParameterOptions_Variadic && !last)
    return MLRefuse__(registry, ML_E_INVALIDARG, "only the last parameter may be variadic");
  if (edge->typeFormat == MLOperatorSchemaEdgeTypeFormat_EdgeDescription)
    return MLCheckEdge__(registry, &edge->edgeDescription, true);
  if (edge->typeFormat != MLOperatorSchemaEdgeTypeFormat_Label)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "the type of a parameter must be a label or an edge description");
  for (uint32_t i = 0; edge->typeLabel != NULL && i < schema->typeConstraintCount; i++)
    if (MLSame__(schema->typeConstraints[i].typeLabel, edge->typeLabel)) return ML_OK;
  return MLRefuse__(registry, ML_E_INVALIDARG, "a parameter has a label that no type constraint has");
}

static const MLOperatorAttribute *MLFindAttribute__(const MLOperatorSchemaDescription *schema,
                                                    const char *name) {
  for (uint32_t i = 0; i < schema->attributeCount; i++)
    if (MLSame__(schema->attributes[i].name, name)) return &schema->attributes[i];
  return NULL;
}

static MLStatus MLCheckAttributes__(MLOperatorRegistry *registry, const MLOperatorSchemaDescription *schema) {
  for (uint32_t i = 0; i < schema->attributeCount; i++)
    if (schema->attributes[i].name == NULL || !MLIsAttributeType__(schema->attributes[i].type))
      return MLRefuse__(registry, ML_E_INVALIDARG, "an attribute has no name or no type that there is");
  MLStatus status = MLCheckDefaults__(registry, schema->defaultAttributes, schema->defaultAttributeCount);
  if (status != ML_OK) return status;
  for (uint32_t i = 0; i < schema->defaultAttributeCount; i++) {
    const MLOperatorAttribute *attribute = MLFindAttribute__(schema, schema->defaultAttributes[i].name);
    if (attribute == NULL)
      return MLRefuse__(registry, ML_E_INVALIDARG, "a default names no attribute of the schema");
    if (attribute->type != schema->defaultAttributes[i].type)
      return MLRefuse__(registry, ML_E_INVALIDARG, "a default is not of its attribute's type");
    if (attribute->required)
      return MLRefuse__(registry, ML_E_INVALIDARG, "a required attribute cannot have a default");
  }
  return ML_OK;
}

static bool MLIsSchemaOf__(const MLOperatorSchemaEntry__ *entry, const MLOperatorSetId *set,
                           const MLOperatorSchemaDescription *schema) {
  return MLSame__(entry->schema->name, schema->name) && MLSameDomain__(entry->set->domain, set->domain) &&
         entry->schema->operatorSetVersionAtLastChange == schema->operatorSetVersionAtLastChange;
}

// A schema of the operator of this version that was registered before.
static const MLOperatorSchemaEntry__ *MLKnownSchema__(const MLOperatorRegistry *registry,
                                                      const MLOperatorSetId *set,
                                                      const MLOperatorSchemaDescription *schema) {
  const MLOperatorSchemaEntry__ *entry = registry->schemas;
  while (entry != NULL && !MLIsSchemaOf__(entry, set, schema)) entry = entry->next;
  return entry;
}

static MLStatus MLCheckSchema__(MLOperatorRegistry *registry, const MLOperatorSetId *set, int32_t baseline,
                                const MLOperatorSchemaDescription *schema) {
  if (schema == NULL || schema->name == NULL || schema->name[0] == '\0')
    return MLRefuse__(registry, ML_E_INVALIDARG, "a schema has no name");
  if (schema->operatorSetVersionAtLastChange < 1 || schema->operatorSetVersionAtLastChange > set->version)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "a schema must have changed last between version 1 and its operator set's version");
  // What lies between a baseline and a version is whole by itself: another baseline may have the operator again.
  for (const MLOperatorSchemaEntry__ *other = registry->schemas; other != NULL; other = other->next)
    if (other->baseline == baseline && MLIsSchemaOf__(other, set, schema))
      return MLRefuse__(registry, ML_E_INVALIDARG, "the operator has a schema of this version already");
  MLStatus status =
      MLCheckConstraints__(registry, schema->typeConstraints, schema->typeConstraintCount, true);
  for (uint32_t i = 0; status == ML_OK && i < schema->inputCount; i++)
    status = MLCheckParameter__(registry, schema, &schema->inputs[i], i + 1 == schema->inputCount);
  for (uint32_t i = 0; status == ML_OK && i < schema->outputCount; i++)
    status = MLCheckParameter__(registry, schema, &schema->outputs[i], i + 1 == schema->outputCount);
  return status == ML_OK ? MLCheckAttributes__(registry, schema) : status;
}

// ---- Registering ------------------------------------------------------------------------------------------

MLStatus MLRegisterOperatorSetSchema(MLOperatorRegistry *registry, const MLOperatorSetId *set,
                                     int32_t baselineVersion,
                                     const MLOperatorSchemaDescription *const *schema, uint32_t schemaCount,
                                     MLOperatorTypeInferrer *typeInferrer,
                                     MLOperatorShapeInferrer *shapeInferrer) {
  registry->message = "";
  if (registry->committed) return MLRefuse__(registry, ML_E_INVALIDARG, "the time for registrations is over");
  if (set == NULL || set->domain == NULL || set->version < 1 || baselineVersion < 0 ||
      baselineVersion > set->version)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "an operator set needs a domain, a version above 0 and a baseline up to it");
  for (const MLOperatorSchemaEntry__ *other = registry->schemas; other != NULL; other = other->next)
    if (MLSameDomain__(other->set->domain, set->domain) && other->set->version == set->version &&
        other->baseline == baselineVersion)
      return MLRefuse__(registry, ML_E_INVALIDARG,
                        "this version of the domain is registered with the same baseline already");
  MLOperatorSchemaEntry__ *before = registry->schemas;
  for (uint32_t i = 0; i < schemaCount; i++) {
    MLStatus status = MLCheckSchema__(registry, set, baselineVersion, schema[i]);
    MLOperatorSchemaEntry__ *entry =
        status != ML_OK ? NULL : registry->registrar.allocate(registry->registrar.context, sizeof *entry);
    if (entry == NULL) {
      registry->schemas = before;
      return status != ML_OK ? status : MLRefuse__(registry, ML_E_OUTOFMEMORY, "memory is exhausted");
    }
    *entry = (MLOperatorSchemaEntry__){.baseline = baselineVersion,
                                       .typeInferrer = typeInferrer,
                                       .shapeInferrer = shapeInferrer,
                                       .hidden = MLKnownSchema__(registry, set, schema[i]) != NULL,
                                       .next = registry->schemas,
                                       .ownSet = *set,
                                       .ownSchema = *schema[i]};
    entry->set = &entry->ownSet;
    entry->schema = &entry->ownSchema;
    registry->schemas = entry;
  }
  return ML_OK;
}

static bool MLShareType__(const MLOperatorEdgeTypeConstraint *a, const MLOperatorEdgeTypeConstraint *b) {
  for (uint32_t i = 0; i < a->allowedTypeCount; i++)
    for (uint32_t j = 0; j < b->allowedTypeCount; j++)
      if (a->allowedTypes[i].tensorDataType == b->allowedTypes[j].tensorDataType) return true;
  return false;
}

// Is there a node that both would serve?
static bool MLConflict__(const MLOperatorKernelDescription *a, const MLOperatorKernelDescription *b) {
  if (!MLSame__(a->name, b->name) || !MLSameDomain__(a->domain, b->domain) ||
      a->minimumOperatorSetVersion != b->minimumOperatorSetVersion || a->executionType != b->executionType)
    return false;
  for (uint32_t i = 0; i < a->typeConstraintCount; i++)
    for (uint32_t j = 0; j < b->typeConstraintCount; j++)
      if (MLSame__(a->typeConstraints[i].typeLabel, b->typeConstraints[j].typeLabel) &&
          !MLShareType__(&a->typeConstraints[i], &b->typeConstraints[j]))
        return false;
  return true;
}

static MLStatus MLCheckKernel__(MLOperatorRegistry *registry, const MLOperatorKernelDescription *kernel,
                                const MLOperatorKernelFactory *factory,
                                const MLOperatorShapeInferrer *shapeInferrer) {
  if (registry->committed) return MLRefuse__(registry, ML_E_INVALIDARG, "the time for registrations is over");
  if (kernel == NULL || factory == NULL || kernel->domain == NULL || kernel->name == NULL ||
      kernel->name[0] == '\0' || kernel->minimumOperatorSetVersion < 1)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "a kernel needs a factory, a domain, a name and a version above 0");
  if ((kernel->options & ~(uint32_t)MLOperatorKernelOptions_AllowDynamicInputShapes) != 0)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "the only option that a kernel may have is AllowDynamicInputShapes");
  if (kernel->options != MLOperatorKernelOptions_None && shapeInferrer != NULL)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "a kernel with AllowDynamicInputShapes cannot have a shape inferrer");
  if (kernel->executionOptions != 0)
    return MLRefuse__(registry, ML_E_INVALIDARG, "the execution options of a kernel must be 0");
  if (kernel->executionType != MLOperatorExecutionType_Cpu &&
      kernel->executionType != MLOperatorExecutionType_D3D12)
    return MLRefuse__(registry, ML_E_INVALIDARG, "a kernel must run on the CPU or the GPU");
  MLStatus status =
      MLCheckConstraints__(registry, kernel->typeConstraints, kernel->typeConstraintCount, false);
  if (status != ML_OK) return status;
  for (const MLOperatorKernelEntry__ *other = registry->kernels; other != NULL; other = other->next)
    if (MLConflict__(kernel, other->description))
      return MLRefuse__(registry, ML_E_INVALIDARG,
                        "the operator has a kernel of this version for these types already");
  return MLCheckDefaults__(registry, kernel->defaultAttributes, kernel->defaultAttributeCount);
}

MLStatus MLRegisterOperatorKernel(MLOperatorRegistry *registry, const MLOperatorKernelDescription *kernel,
                                  MLOperatorKernelFactory *factory, MLOperatorShapeInferrer *shapeInferrer) {
  registry->message = "";
  MLStatus status = MLCheckKernel__(registry, kernel, factory, shapeInferrer);
  if (status != ML_OK) return status;
  MLOperatorKernelEntry__ *entry = registry->registrar.allocate(registry->registrar.context, sizeof *entry);
  if (entry == NULL) return MLRefuse__(registry, ML_E_OUTOFMEMORY, "memory is exhausted");
  *entry = (MLOperatorKernelEntry__){
      .factory = factory, .shapeInferrer = shapeInferrer, .next = registry->kernels, .own = *kernel};
  entry->description = &entry->own;
  registry->kernels = entry;
  return ML_OK;
}

// ---- Bringing together ------------------------------------------------------------------------------------

static bool MLServes__(const MLOperatorKernelEntry__ *kernel, const MLOperatorSchemaEntry__ *entry) {
  return MLSame__(kernel->description->name, entry->schema->name) &&
         MLSameDomain__(kernel->description->domain, entry->set->domain);
}

// The schema that applies at the kernel's version: the newest up to it; failing that the oldest.
static MLOperatorSchemaEntry__ *MLSchemaOf__(MLOperatorRegistry *registry,
                                             const MLOperatorKernelEntry__ *kernel) {
  int32_t wanted = kernel->description->minimumOperatorSetVersion;
  MLOperatorSchemaEntry__ *best = NULL;
  for (MLOperatorSchemaEntry__ *entry = registry->schemas; entry != NULL; entry = entry->next) {
    if (entry->hidden || !MLServes__(kernel, entry)) continue;
    int32_t since = entry->schema->operatorSetVersionAtLastChange;
    int32_t known = best == NULL ? 0 : best->schema->operatorSetVersionAtLastChange;
    bool better = best == NULL || (known > wanted ? since < known : since > known && since <= wanted);
    if (better) best = entry;
  }
  return best;
}

static os_status MLAdd__(MLOperatorRegistry *registry, const MLOperatorSchemaEntry__ *entry,
                         const MLOperatorKernelEntry__ *kernels) {
  MLOperator__ *op = registry->registrar.allocate(registry->registrar.context, sizeof *op);
  OS_TRY_ALLOC(op);
  op->registry = registry;
  op->entry = entry;
  op->kernels = kernels;
  op->row.domain = entry != NULL ? entry->set->domain : kernels->description->domain;
  op->row.op_type = entry != NULL ? entry->schema->name : kernels->description->name;
  op->row.since = entry != NULL ? entry->schema->operatorSetVersionAtLastChange
                                : kernels->description->minimumOperatorSetVersion;
  op->row.infer = MLOperatorInfer__;
  op->row.user = op;
  if (kernels != NULL) {
    op->row.compute = MLOperatorCompute__;
    op->row.destroy = MLOperatorDestroy__;
    op->row.state_size = MLOperatorStateSize__();
    for (const MLOperatorKernelEntry__ *kernel = kernels; kernel != NULL; kernel = kernel->another)
      if (kernel->shapeInferrer == NULL) op->row.traits = OP_DATA_SHAPE;
  }
  return registry->registrar.add(registry->registrar.context, entry == NULL ? NULL : entry->schema, &op->row);
}

// All kernels for what this one serves, in the order of registration: the first that fits the types is taken.
static const MLOperatorKernelEntry__ *MLTogether__(MLOperatorRegistry *registry,
                                                   MLOperatorKernelEntry__ *first,
                                                   const MLOperatorSchemaEntry__ *entry) {
  MLOperatorKernelEntry__ *head = NULL;
  for (MLOperatorKernelEntry__ *kernel = first; kernel != NULL; kernel = kernel->next) {
    const MLOperatorKernelDescription *a = kernel->description, *b = first->description;
    bool same = entry != NULL ? MLSchemaOf__(registry, kernel) == entry
                              : MLSchemaOf__(registry, kernel) == NULL && MLSame__(a->name, b->name) &&
                                    MLSameDomain__(a->domain, b->domain) &&
                                    a->minimumOperatorSetVersion == b->minimumOperatorSetVersion;
    if (!same) continue;
    kernel->placed = true;
    if (a->executionType != MLOperatorExecutionType_Cpu) continue;
    kernel->another = head;
    head = kernel;
  }
  return head;
}

// What a kernel says against the schema that it serves; both may have come in any order.
static MLStatus MLCheckServed__(MLOperatorRegistry *registry, const MLOperatorKernelDescription *kernel,
                                const MLOperatorSchemaEntry__ *entry) {
  const MLOperatorSchemaDescription *schema = entry->schema;
  int32_t newest = 0;
  for (const MLOperatorSchemaEntry__ *other = registry->schemas; other != NULL; other = other->next)
    if (MLSameDomain__(other->set->domain, entry->set->domain) && other->set->version > newest)
      newest = other->set->version;
  if (kernel->minimumOperatorSetVersion > newest)
    return MLRefuse__(registry, ML_E_INVALIDARG,
                      "a kernel is for a later version than any operator set of its domain");
  for (uint32_t i = 0; i < kernel->typeConstraintCount; i++) {
    uint32_t j = 0;
    while (j < schema->typeConstraintCount &&
           !MLSame__(schema->typeConstraints[j].typeLabel, kernel->typeConstraints[i].typeLabel))
      j++;
    if (j == schema->typeConstraintCount)
      return MLRefuse__(registry, ML_E_INVALIDARG,
                        "a kernel constrains a type label that its schema does not have");
  }
  for (uint32_t i = 0; i < kernel->defaultAttributeCount; i++) {
    const MLOperatorAttribute *attribute = MLFindAttribute__(schema, kernel->defaultAttributes[i].name);
    if (attribute == NULL || attribute->type != kernel->defaultAttributes[i].type)
      return MLRefuse__(registry, ML_E_INVALIDARG,
                        "a kernel's default names no attribute of its schema, or one of another type");
  }
  return ML_OK;
}

os_status MLCommitRegistry(MLOperatorRegistry *registry) {
  registry->committed = true;
  registry->message = "";
  for (const MLOperatorKernelEntry__ *kernel = registry->kernels; kernel != NULL; kernel = kernel->next) {
    const MLOperatorSchemaEntry__ *entry = MLSchemaOf__(registry, kernel);
    if (entry != NULL && MLCheckServed__(registry, kernel->description, entry) != ML_OK)
      return OS_INVALID_ARGUMENT;
  }
  for (MLOperatorKernelEntry__ *kernel = registry->kernels; kernel != NULL; kernel = kernel->next) {
    if (kernel->placed) continue;
    MLOperatorSchemaEntry__ *entry = MLSchemaOf__(registry, kernel);
    const MLOperatorKernelEntry__ *kernels = MLTogether__(registry, kernel, entry);
    if (kernels == NULL) continue;
    OS_TRY(MLAdd__(registry, entry, kernels));
    if (entry != NULL) entry->taken = true;
  }
  for (const MLOperatorSchemaEntry__ *entry = registry->schemas; entry != NULL; entry = entry->next)
    if (!entry->taken && !entry->hidden) OS_TRY(MLAdd__(registry, entry, NULL));
  return OS_OK;
}

#endif
