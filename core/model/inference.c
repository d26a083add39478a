#include "inference.h"

#include "infer_types.h"
#include "model_find.h"
#include "op_rules.h"
#include "value_proto.h"

// Larger constants are decoded only when an operator asks: weights never are.
enum { MOST_CONSTANT = 1024 };
// Bodies and functions within each other; each level is a level of C calls, through the operator's own infer function.
enum { MOST_LEVELS = 100 };
// Nodes of bodies and functions: nested loops that are each inferred twice would otherwise never end.
enum { MOST_WORK = 300000 };

typedef struct os_level {
  const op_graph *graph;
  os_fact *facts;
  const os_graph_node *node; // being inferred
  struct os_level *outer;
} os_level;

typedef struct os_inference {
  os_model *model;
  os_level *top;
  uint32_t levels;
  uint64_t work, nodes; // nodes: inferred so far
  double all;           // how many there are, about; 0 = not counted yet
  os_map told;          // operators without inference that the report knows of
} os_inference;

static const os_fact os_fact__unknown = {.rank = -1};

// ---- Facts from the document ------------------------------------------------------------------------------

static const op_dim *os_fact__dims(os_inferring *self, const Onnx__TensorShapeProto *shape) {
  op_dim *dims = os_arena_alloc(self->arena, (shape->n_dim + 1) * sizeof *dims);
  if (dims == NULL) return NULL;
  for (size_t i = 0; i < shape->n_dim; i++) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    dims[i] = OP_DIM_UNKNOWN;
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
      if (op_dim_is_number(dim->dim_value)) dims[i] = dim->dim_value;
    } else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
               dim->dim_param.len > 0) {
      dims[i] = os_dims_symbol(self->dims, os_bytes_str(dim->dim_param));
    }
  }
  return dims;
}

// Types nest as messages do; facts of what lies deeper than this are not kept.
enum { MOST_NESTED = 8 };

static os_fact os_fact__of_type(os_inferring *self, const Onnx__TypeProto *type, int depth) {
  os_fact fact = os_fact__unknown;
  if (type == NULL) return fact;
  fact.type = os_type_from_proto(self->types, type);
  const Onnx__TensorShapeProto *shape = NULL;
  const Onnx__TypeProto *inner = NULL;
  switch (type->value_case) {
  case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE: shape = type->tensor_type->shape; break;
  case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE: shape = type->sparse_tensor_type->shape; break;
  case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE: inner = type->sequence_type->elem_type; break;
  case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE: inner = type->optional_type->elem_type; break;
  default: break;
  }
  if (shape != NULL && shape->n_dim <= OP_MAX_RANK) {
    fact.dims = os_fact__dims(self, shape);
    if (fact.dims != NULL) fact.rank = (int32_t)shape->n_dim;
  }
  if (inner != NULL && depth < MOST_NESTED) {
    os_fact *element = OS_ARENA_NEW(self->arena, os_fact);
    if (element != NULL) *element = os_fact__of_type(self, inner, depth + 1);
    if (element != NULL && element->type != 0) fact.element = element;
  }
  return fact;
}

os_fact os_inference_declared(os_inferring *self, const Onnx__ValueInfoProto *declared) {
  return os_fact__of_type(self, declared == NULL ? NULL : declared->type, 0);
}

// Not worth being read unless somebody asks for it.
static bool os_inference__is_outside(const os_model *model, const Onnx__TensorProto *proto) {
  os_tensor_reader reader;
  if (model->document->source.data != NULL) return false;
  return os_tensor_open(&reader, proto, os_document_origin(model->document)) == OS_OK &&
         os_tensor_is_outside(&reader);
}

static os_status os_fact__of_initializer(os_inferring *self, os_model *model, const op_graph *graph,
                                         uint32_t number, os_fact *out) {
  *out = os_fact__unknown;
  const os_graph_value *value = &graph->values[number];
  const Onnx__TensorProto *dense = value->initializer;
  const Onnx__SparseTensorProto *sparse = value->sparse_initializer;
  if (dense == NULL && (sparse == NULL || sparse->values == NULL)) return OS_OK;
  int32_t elem = dense != NULL ? dense->data_type : sparse->values->data_type;
  size_t rank = dense != NULL ? dense->n_dims : sparse->n_dims;
  const int64_t *dims = dense != NULL ? dense->dims : sparse->dims;
  if (os_elem_info_of(elem) == NULL) return OS_OK;
  out->type = op_type_tensor((op_elem)elem);
  int64_t count;
  size_t bytes;
  if (rank > OP_MAX_RANK || !os_tensor_count((op_elem)elem, (int32_t)rank, dims, &count, &bytes))
    return OS_OK;
  op_dim *own = os_arena_alloc(self->arena, (rank + 1) * sizeof *own);
  OS_TRY_ALLOC(own);
  if (rank > 0) memcpy(own, dims, rank * sizeof *own);
  out->rank = (int32_t)rank;
  out->dims = own;
  if (count > MOST_CONSTANT || (dense != NULL && os_inference__is_outside(model, dense))) {
    out->constant_of = graph;
    out->constant = (int32_t)number;
    return OS_OK;
  }
  os_status status = os_model_constant(model, graph, (int32_t)number, &out->value);
  return status == OS_OUT_OF_MEMORY ? status : OS_OK; // without the value the shape still holds
}

static const op_tensor *os_inference__load(os_inferring *self, const op_graph *graph, int32_t value) {
  const os_inference *inference = self->context;
  const op_tensor *tensor = NULL;
  return os_model_constant(inference->model, graph, value, &tensor) == OS_OK ? tensor : NULL;
}

// ---- What was declared against what comes out -------------------------------------------------------------

static void os_declared__tell(os_inferring *self, const os_graph_index *graph, const os_graph_value *value,
                              const Onnx__ValueInfoProto *declared, const os_rule *rule, os_str text,
                              const os_fact *found, const os_fact *said) {
  os_arena *arena = self->report->arena;
  os_finding *finding =
      os_report_add(self->report, rule, "\"%.*s\": %.*s", OS_ARG(value->name), OS_ARG(text));
  os_str expected = os_fact_print(self, found), actual = os_fact_print(self, said);
  finding->expected = os_arena_copy(arena, expected);
  finding->actual = os_arena_copy(arena, actual);
  os_spot spot = {graph, value->origin == OS_FROM_NODE ? &graph->nodes[value->producer] : NULL, declared};
  if (spot.node != NULL) {
    uint32_t slot = 0;
    while (slot + 1 < spot.node->output_count && &graph->graph.values[spot.node->outputs[slot]] != value)
      slot++;
    os_finding_place(self->report, finding, spot, "output[%u]", slot);
  } else {
    os_finding_place(self->report, finding, spot, "%s", "");
  }
  os_related *related = os_finding_relate(self->report, finding, "declared here");
  if (related != NULL) os_where_message(&related->where, finding->where.path, declared);
}

// Says where the declaration contradicts the fact, then takes from it what the fact lacks.
static void os_declared__merge(os_inferring *self, const os_graph_index *graph, const os_graph_value *value,
                               const Onnx__ValueInfoProto *declared, os_fact *fact) {
  os_fact said = os_inference_declared(self, declared);
  if (fact->type != 0 && said.type != 0 && fact->type != said.type) {
    os_str a = os_types_print(self->types, self->arena, fact->type);
    os_str b = os_types_print(self->types, self->arena, said.type);
    os_str text = os_arena_format(self->arena, "inferred %.*s, declared %.*s", OS_ARG(a), OS_ARG(b));
    os_declared__tell(self, graph, value, declared, &os_rule_infer_type_mismatch, text, fact, &said);
    return;
  }
  if (fact->type == 0) fact->type = said.type;
  if (fact->element == NULL) fact->element = said.element;
  if (said.rank < 0) return;
  if (fact->rank < 0) {
    fact->rank = said.rank;
    fact->dims = said.dims;
    return;
  }
  os_str a = OS_STR(""), b = OS_STR("");
  int32_t differs = fact->rank == said.rank ? -1 : OP_MAX_RANK;
  op_dim *merged = os_arena_alloc(self->arena, (size_t)(fact->rank + 1) * sizeof *merged);
  if (merged == NULL) return;
  for (int32_t i = 0; i < fact->rank && differs < 0; i++) {
    op_dim found = fact->dims[i], told = said.dims[i];
    if (op_dim_is_number(found) && op_dim_is_number(told) && found != told) differs = i;
    merged[i] = op_dim_is_number(found) || told == OP_DIM_UNKNOWN   ? found
                : op_dim_is_number(told) || found == OP_DIM_UNKNOWN ? told
                                                                    : found;
  }
  if (differs < 0) {
    fact->dims = merged;
    return;
  }
  a = os_dims_print_shape(self->dims, self->arena, fact->rank, fact->dims);
  b = os_dims_print_shape(self->dims, self->arena, said.rank, said.dims);
  os_str text = differs == OP_MAX_RANK
                    ? os_arena_format(self->arena, "inferred %.*s, declared %.*s: the ranks differ",
                                      OS_ARG(a), OS_ARG(b))
                    : os_arena_format(self->arena, "inferred %.*s, declared %.*s, dim %d", OS_ARG(a),
                                      OS_ARG(b), differs);
  os_declared__tell(self, graph, value, declared, &os_rule_infer_shape_mismatch, text, fact, &said);
}

// ---- Bodies and functions ---------------------------------------------------------------------------------

static os_inference *os_inference__of(os_inferring *self) { return self->context; }

// May another body of this size be looked into? Says once why not.
static bool os_inference__enter(os_inferring *self, const op_graph *graph) {
  os_inference *inference = os_inference__of(self);
  inference->work += graph->node_count + 1;
  if (inference->levels < MOST_LEVELS && inference->work <= MOST_WORK) return true;
  if (self->report == NULL) return false;
  if (inference->levels >= MOST_LEVELS)
    os_report_incomplete(self->report,
                         "bodies and functions are nested more than %d deep; the rest was not inferred",
                         MOST_LEVELS);
  else
    os_report_incomplete(self->report, "bodies and functions are too large to be inferred to the end");
  return false;
}

static os_fact *os_inference__facts(os_inferring *self, const op_graph *graph) {
  os_fact *facts = os_arena_alloc(self->arena, ((size_t)graph->value_count + 1) * sizeof *facts);
  if (facts == NULL) return NULL;
  for (uint32_t i = 0; i < graph->value_count; i++) facts[i] = os_fact__unknown;
  return facts;
}

static os_status os_inference__body(os_inferring *self, const op_graph *body, const op_fact *const *inputs,
                                    size_t count, const op_fact *const **outputs, size_t *output_count) {
  os_inference *inference = os_inference__of(self);
  const op_fact **results = OS_ARENA_ARRAY(self->arena, (size_t)body->output_count + 1, const op_fact *);
  OS_TRY_ALLOC(results);
  *outputs = results;
  *output_count = body->output_count;
  for (uint32_t i = 0; i < body->output_count; i++) results[i] = &os_fact__unknown;
  if (!os_inference__enter(self, body)) return OS_OK;
  const os_level *top = inference->top;
  if (count != body->input_count) {
    os_inferring_fault(self, &top->node->node, &os_rule_infer_attribute_value,
                       "the body \"%.*s\" has %u inputs, and must have %zu", OS_ARG(body->name),
                       body->input_count, count);
    return OS_OPERATOR_FAILED;
  }
  os_fact *facts = os_inference__facts(self, body);
  OS_TRY_ALLOC(facts);
  for (size_t i = 0; i < count; i++)
    if (body->inputs[i] != OS_ABSENT && inputs[i] != NULL) facts[body->inputs[i]] = *inputs[i];
  for (uint32_t v = 0; v < body->value_count; v++)
    if (body->values[v].origin == OS_FROM_OUTER && top->graph == body->parent)
      facts[v] = top->facts[body->values[v].outer];
  OS_TRY(os_inference_run(self, inference->model, body, facts));
  for (uint32_t i = 0; i < body->output_count; i++)
    if (body->outputs[i] != OS_ABSENT) results[i] = &facts[body->outputs[i]];
  return OS_OK;
}

// Findings inside the function tell which call led there. Those inside a function operator's stand at the call: bytes and
// fixes of theirs would be of another document.
static void os_inference__called_from(os_inferring *self, size_t before, bool foreign, os_where call) {
  for (size_t i = before; i < self->report->findings.count; i++) {
    os_finding *finding = self->report->findings.items[i];
    os_where inner = finding->where;
    if (foreign) {
      finding->where = call;
      finding->related.count = 0;
      finding->fix = NULL;
      inner.has_range = false;
    }
    os_related *related = os_finding_relate(
        self->report, finding, foreign ? "in the function of this operator" : "called from here");
    if (related == NULL) return;
    related->where = foreign ? inner : call;
  }
}

static os_status os_inference__call(os_inferring *self, const op_infer *ctx, const op_graph *function) {
  if (!os_inference__enter(self, function)) return OS_OK;
  os_fact *facts = os_inference__facts(self, function);
  OS_TRY_ALLOC(facts);
  for (uint32_t i = 0; i < function->input_count; i++) {
    if (function->inputs[i] == OS_ABSENT) continue;
    const op_fact *given = i < ctx->input_count ? ctx->inputs[i] : NULL;
    if (given != NULL)
      facts[function->inputs[i]] = *given;
    else
      facts[function->inputs[i]].absent = true;
  }
  os_str path = self->path;
  os_range range = self->range;
  size_t before = self->report == NULL ? 0 : self->report->findings.count;
  OS_TRY(os_inference_run(self, os_inference__of(self)->model, function, facts));
  self->path = path;
  self->range = range;
  if (self->report != NULL) {
    os_where call = {.path = os_arena_copy(self->report->arena, path)};
    if (range.start != range.end) {
      os_where_range(&call, range.start, range.end);
      call.binary = true;
    }
    os_inference__called_from(self, before, os_graph_is_foreign(os_graph_index_of(function)), call);
  }
  for (uint32_t i = 0; i < ctx->output_count && i < function->output_count; i++)
    if (ctx->outputs[i] != NULL && function->outputs[i] != OS_ABSENT) {
      *ctx->outputs[i] = facts[function->outputs[i]];
      ctx->outputs[i]->absent = false;
    }
  return OS_OK;
}

// ---- Nodes ------------------------------------------------------------------------------------------------

static os_status os_inference__no_rule(os_inferring *self, const os_graph_node *of) {
  const op_node *node = &of->node;
  if (self->report == NULL) return OS_OK;
  if (of->cut != OS_CUT_NOT) {
    os_report_incomplete(self->report, "%s; the rest was not looked into", os_cut_text(of->cut));
    return OS_OK;
  }
  if (node->schema == NULL) {
    os_report_unknown_operator(self->report, node);
    return OS_OK;
  }
  bool added;
  OS_TRY_ALLOC(os_map_put(&os_inference__of(self)->told, node->op_type, &added));
  if (added)
    os_report_incomplete(self->report, "inference does not know the shapes of %.*s", OS_ARG(node->op_type));
  return OS_OK;
}

static os_status os_inference__outputs(os_inferring *self, op_infer *ctx, const os_graph_node *node) {
  const op_row *row = node->node.row;
  os_types_bound bound = {0};
  if (node->node.schema != NULL) os_types_check_inputs(ctx, &bound);
  if (ctx->failed && self->report == NULL) return OS_OPERATOR_FAILED;
  if (!ctx->failed) {
    if (row != NULL && row->infer != NULL)
      OS_TRY(os_infer_run(ctx, row));
    else if (node->function != NULL)
      OS_TRY(os_inference__call(self, ctx, node->function));
    else
      OS_TRY(os_inference__no_rule(self, node));
  }
  if (node->node.schema != NULL) os_types_check_outputs(ctx, &bound);
  return ctx->failed && self->report == NULL ? OS_OPERATOR_FAILED : OS_OK;
}

// The path of a node, without printf: it is made for every node.
static os_str os_inference__path(os_arena *arena, os_str base, uint32_t node) {
  char digits[12];
  size_t count = 0;
  do digits[count++] = (char)('0' + node % 10);
  while ((node /= 10) > 0);
  char *text = os_arena_alloc(arena, base.len + count + 7), *to = text;
  if (text == NULL) return OS_STR("");
  if (base.len > 0) {
    memcpy(to, base.data, base.len);
    to += base.len;
    *to++ = '.';
  }
  memcpy(to, "node[", 5);
  to += 5;
  while (count > 0) *to++ = digits[--count];
  *to++ = ']';
  return (os_str){text, (size_t)(to - text)};
}

static os_status os_inference__trouble(os_inferring *self, const op_node *node, os_status status) {
  if (status != OS_LIMIT) return status;
  if (self->report == NULL) {
    self->message = os_arena_format(self->arena, "%.*s: the rank of an output is over %d",
                                    OS_ARG(node->op_type), OP_MAX_RANK);
    return status;
  }
  os_report_incomplete(self->report, "%.*s gives a tensor of a rank over %d", OS_ARG(node->op_type),
                       OP_MAX_RANK);
  return OS_OK;
}

// No machine has a tensor whose bytes 63 bits cannot count. A run says so by itself, as a limit.
static void os_inference__size(op_infer *ctx, uint32_t output, op_fact *fact) {
  int64_t bytes = op_type_is_tensor(fact->type) ? (int64_t)op_elem_size((op_elem)fact->type) : 1;
  bool fits = true;
  for (int32_t i = 0; i < fact->rank; i++) {
    if (!op_dim_is_number(fact->dims[i]) || fact->dims[i] == 0) return;
    fits = fits && !__builtin_mul_overflow(bytes, fact->dims[i], &bytes);
  }
  if (fits) return;
  op_infer_fail(ctx, OP_FAULT_SHAPE, "output %u has more elements than can be counted", (unsigned)output);
  fact->rank = -1; // said once, not again by all that read it
}

enum { FEW = 16 };

os_status os_inference_node(os_inferring *self, os_model *model, const op_graph *graph, uint32_t index,
                            os_fact *facts) {
  (void)model;
  const os_graph_node *node = &graph->nodes[index];
  const op_fact *few_inputs[FEW], **inputs = few_inputs;
  op_fact *few_outputs[FEW], **outputs = few_outputs;
  if (node->input_count > FEW)
    OS_TRY_ALLOC(inputs = OS_ARENA_ARRAY(self->arena, node->input_count, const op_fact *));
  if (node->output_count > FEW)
    OS_TRY_ALLOC(outputs = OS_ARENA_ARRAY(self->arena, node->output_count, op_fact *));
  op_infer ctx = {.inferring = self, .node = &node->node, .inputs = inputs, .outputs = outputs};
  for (uint32_t i = 0; i < node->input_count; i++) {
    int32_t value = node->inputs[i];
    inputs[i] = value == OS_ABSENT || facts[value].absent ? NULL : &facts[value];
    if (inputs[i] != NULL) ctx.input_count = i + 1;
  }
  ctx.output_count = node->output_count;
  for (uint32_t i = 0; i < node->output_count; i++) {
    int32_t value = node->outputs[i];
    outputs[i] = value == OS_ABSENT ? NULL : &facts[value];
    if (outputs[i] != NULL) *outputs[i] = os_fact__unknown;
  }
  os_inference *inference = os_inference__of(self);
  os_level level = {graph, facts, node, inference->top};
  if (self->report != NULL) {
    self->path = os_inference__path(self->arena, graph->path, index);
    self->range = (os_range){0, 0};
    if (os_proto_is(node->proto, OS_PROTO_RANGED)) {
      self->range.start = os_proto_offset(node->proto);
      self->range.end = self->range.start + os_proto_length(node->proto);
    }
  }
  inference->top = &level;
  os_status status = os_inference__outputs(self, &ctx, node);
  inference->top = level.outer;
  // What a fault left half said must not be taken for known by a plan.
  for (uint32_t i = 0; i < node->output_count && status != OS_OK && self->report == NULL; i++)
    if (outputs[i] != NULL) *outputs[i] = os_fact__unknown;
  if (status != OS_OK) OS_TRY(os_inference__trouble(self, &node->node, status));
  for (uint32_t i = 0; i < node->output_count && self->report != NULL; i++) {
    if (outputs[i] == NULL) continue;
    os_inference__size(&ctx, i, outputs[i]);
    const os_graph_value *value = &graph->values[node->outputs[i]];
    if (value->declared != NULL)
      os_declared__merge(self, os_graph_index_of(graph), value, value->declared, outputs[i]);
  }
  return OS_OK;
}

// ---- Graphs -----------------------------------------------------------------------------------------------

// Fills in what the graph says of inputs and initializers.
static os_status os_inference__begin(os_inferring *self, os_model *model, const op_graph *graph,
                                     os_fact *facts) {
  for (uint32_t v = 0; v < graph->value_count; v++) {
    const os_graph_value *value = &graph->values[v];
    if (facts[v].type == 0) {
      bool absent = facts[v].absent;
      facts[v] = os_fact__unknown;
      facts[v].absent = absent;
      if (value->origin == OS_FROM_INITIALIZER)
        OS_TRY(os_fact__of_initializer(self, model, graph, v, &facts[v]));
    }
    bool given = value->origin == OS_FROM_INPUT || value->origin == OS_FROM_INITIALIZER;
    if (self->report != NULL && given && value->declared != NULL && !facts[v].absent)
      os_declared__merge(self, os_graph_index_of(graph), value, value->declared, &facts[v]);
  }
  return OS_OK;
}

// An output that is an input as well, or in value_info, has a second declaration.
static void os_inference__end(os_inferring *self, const op_graph *graph, os_fact *facts) {
  const Onnx__GraphProto *proto = os_graph_index_of(graph)->proto;
  for (uint32_t i = 0; proto != NULL && i < graph->output_count; i++) {
    int32_t v = graph->outputs[i];
    if (v != OS_ABSENT && graph->values[v].declared != proto->output[i])
      os_declared__merge(self, os_graph_index_of(graph), &graph->values[v], proto->output[i], &facts[v]);
  }
}

// How many nodes there are to be inferred: bodies that are run in several places, by each of them.
static double os_inference__nodes(const os_model *model) {
  double nodes = 1;
  for (size_t i = 0; i < model->graphs.count; i++) nodes += model->graphs.items[i]->graph.node_count;
  return nodes;
}

os_status os_inference_run(os_inferring *self, os_model *model, const op_graph *graph, os_fact *facts) {
  os_inference *inference = os_inference__of(self);
  inference->levels++;
  os_status status = os_inference__begin(self, model, graph, facts);
  for (uint32_t i = 0; i < graph->node_count && status == OS_OK; i++) {
    status = os_inference_node(self, model, graph, graph->order[i], facts);
    if (status != OS_OK || (inference->nodes++ & 255) != 255) continue;
    status = self->report != NULL && os_report_overfull(self->report) ? OS_LIMIT : os_stop_check(self->stop);
    if (inference->all == 0) inference->all = os_inference__nodes(model);
    if (status == OS_OK)
      status = os_progress_tell(self->progress, 0.5 + 0.5 * (double)inference->nodes / inference->all);
  }
  if (status == OS_OK && self->report != NULL) os_inference__end(self, graph, facts);
  if (status == OS_OK && self->seen != NULL) status = self->seen(self, graph, facts);
  inference->levels--;
  return status;
}

void os_inference_init(os_inferring *self, os_arena *arena, os_model *model, os_registry *registry,
                       os_report *report) {
  *self = (os_inferring){.arena = arena,
                         .types = os_registry_types(registry),
                         .dims = os_dims_new(arena),
                         .report = report,
                         .body = os_inference__body,
                         .load = os_inference__load};
  os_inference *inference = OS_ARENA_NEW(arena, os_inference);
  self->context = inference;
  if (inference == NULL) return;
  inference->model = model;
  os_map_init(&inference->told, arena);
}
