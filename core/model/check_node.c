#include "checking.h"
#include "text.h"

// Nodes against the schema of their operator (checker rules D).

static os_finding *os_node__find(os_checking *self, const os_graph_index *graph, const os_graph_node *node,
                                 os_finding *finding) {
  os_finding_place(self->report, finding, (os_spot){graph, node, NULL}, "%s", "");
  return finding;
}

static os_str os_node__label(os_checking *self, const os_graph_node *node) {
  return os_node_label(self->report->arena, &node->node);
}

// ---- Which operator ---------------------------------------------------------------------------------------

static bool os_domain__is_standard(const os_checking *self, os_str domain) {
  return os_registry_domain_version(self->model->registry, domain) > 0 &&
         !os_str_starts(domain, OS_STR("ai.onnx.preview"));
}

static void os_text__names(os_text *text, const os_str *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    os_text_puts(text, i == 0 ? "" : i + 1 == count ? " or " : ", ");
    os_str name = names[i].len == 0 ? OS_STR("the standard's") : names[i];
    os_text_put(text, name);
  }
}

// What may help: a later version, another domain, names that are near, and what is imported.
static void os_node__hint(os_checking *self, const os_graph_index *graph, const op_node *node, int version,
                          os_text *text) {
  const os_registry *registry = self->model->registry;
  const op_schema *later = NULL;
  int newest = os_registry_domain_version(registry, node->domain);
  for (int newer = version < 1 ? 1 : version; newer < newest && later == NULL; newer++)
    later = os_registry_find(registry, node->domain, node->op_type, node->overload, newer + 1).schema;
  os_str names[3];
  size_t count;
  bool asked = false;
  if (node->overload.len > 0) {
    os_text_format(text, "; no function has the overload \"%.*s\" of it", OS_ARG(node->overload));
  } else if (later != NULL) {
    os_text_format(text, "; it came with version %d", later->since);
  } else if ((count = os_registry_suggest(registry, node->domain, node->op_type, names, 3)) > 0 &&
             !os_str_eq(names[0], node->op_type)) {
    os_text_puts(text, "; did you mean ");
    os_text__names(text, names, count);
    os_text_char(text, '?');
    asked = true;
  } else if ((count = os_registry_domains_of(registry, node->op_type, names, 3)) > 0) {
    os_text_puts(text, "; an operator of this name is in the domain ");
    os_text__names(text, names, count);
    os_text_puts(text, ": set the node's domain and import it");
  }
  os_text_puts(text, asked ? " Imported: " : ". Imported: ");
  const os_map *imports = &graph->imports->versions;
  for (size_t i = 0; i < imports->count && i < 8; i++)
    os_text_format(text, "%s\"%.*s\" %d", i == 0 ? "" : ", ", OS_ARG(imports->entries[i].key),
                   (int)(int32_t)(uint32_t)imports->entries[i].value.number);
  if (imports->count > 8) os_text_puts(text, ", ...");
  if (imports->count == 0) os_text_puts(text, graph->imports->newest ? "the newest versions" : "nothing");
}

// The operator set whose functions are checked names the operator.
static bool os_node__is_declared(const os_checking *self, const op_node *op) {
  return self->declared.count > 0 && os_map_get(&self->declared, op->op_type) != NULL &&
         os_str_eq(op->domain, os_bytes_str(self->model->document->operator_set->domain));
}

static void os_node__unknown(os_checking *self, const os_graph_index *graph, const os_graph_node *node,
                             int version) {
  const op_node *op = &node->node;
  bool registered = os_registry_knows_domain(self->model->registry, op->domain) &&
                    os_registry_domain_version(self->model->registry, op->domain) == 0;
  bool standard = os_domain__is_standard(self, op->domain);
  bool legacy = standard && os_registry_is_legacy(self->model->registry, op->domain, op->op_type);
  // Overloads tell functions apart; onnx.checker does not look at that of another operator.
  bool overloaded =
      op->overload.len > 0 &&
      os_registry_find(self->model->registry, op->domain, op->op_type, OS_STR(""), version).schema != NULL;
  os_severity severity = ((standard && !legacy) || registered) && !overloaded ? OS_ERROR : OS_WARNING;
  os_text hint;
  os_text_init(&hint, self->report->arena->memory);
  os_node__hint(self, graph, op, version, &hint);
  os_str more = os_text_str(&hint);
  os_str domain = op->domain.len == 0 ? OS_STR("the standard's domain") : op->domain;
  os_finding *finding = graph->imports->newest
                            ? os_report_add_as(self->report, &os_rule_model_node_unknown_operator, severity,
                                               "%.*s of %.*s is not known%.*s", OS_ARG(op->op_type),
                                               OS_ARG(domain), OS_ARG(more))
                            : os_report_add_as(self->report, &os_rule_model_node_unknown_operator, severity,
                                               "%.*s of %.*s is not known in version %d%.*s",
                                               OS_ARG(op->op_type), OS_ARG(domain), version, OS_ARG(more));
  os_text_clear(&hint);
  os_node__find(self, graph, node, finding);
  if (self->full && severity == OS_WARNING) os_report_unknown_operator(self->report, op);
}

void os_report_unknown_operator(os_report *report, const op_node *node) {
  os_str domain = node->domain.len == 0 ? OS_STR("ai.onnx") : node->domain;
  os_report_incomplete(
      report, "the operator %.*s of the domain %.*s is not known, so what it gives could not be inferred",
      OS_ARG(node->op_type), OS_ARG(domain));
}

// ---- Arity ------------------------------------------------------------------------------------------------

static os_str os_node__bounds(os_arena *arena, uint16_t least, uint16_t most) {
  if (most == UINT16_MAX) return os_arena_format(arena, "at least %u", least);
  if (least == most) return os_arena_format(arena, "%u", least);
  return os_arena_format(arena, "%u to %u", least, most);
}

static void os_node__arity(os_checking *self, const os_graph_index *graph, const os_graph_node *node,
                           uint32_t count, uint16_t least, uint16_t most, const char *what) {
  if (count >= least && (most == UINT16_MAX || count <= most)) return;
  os_str bounds = os_node__bounds(self->report->arena, least, most);
  os_finding *finding =
      os_report_add(self->report, &os_rule_model_node_arity, "%.*s has %u %s, and the operator %.*s",
                    OS_ARG(os_node__label(self, node)), count, what, OS_ARG(bounds));
  finding->expected = bounds;
  finding->actual = os_arena_format(self->report->arena, "%u", count);
  os_node__find(self, graph, node, finding);
}

// A place of a variadic input is there or not; only an optional one can be left open. onnx.checker lets that pass. Outputs that nobody
// wants, as of a Loop, are left open.
static void os_node__left_open(os_checking *self, const os_graph_index *graph, const os_graph_node *node,
                               const op_schema *schema) {
  uint32_t last = schema->input_count - 1u;
  if (schema->input_count == 0 || schema->inputs[last].option != OP_VARIADIC) return;
  for (uint32_t i = last; i < node->input_count; i++) {
    if (node->proto->input[i].len > 0) continue;
    os_finding *finding =
        os_report_add_as(self->report, &os_rule_model_node_missing_value, OS_WARNING,
                         "%.*s leaves out one of its inputs \"%.*s\": only an optional input can be left out",
                         OS_ARG(os_node__label(self, node)), OS_ARG(schema->inputs[last].name));
    os_finding_place(self->report, finding, (os_spot){graph, node, NULL}, "input[%u]", i);
  }
}

static void os_node__left_out(os_checking *self, const os_graph_index *graph, const os_graph_node *node,
                              const ProtobufCBinaryData *names, uint32_t count,
                              const op_parameter *parameters, uint16_t parameter_count, const char *what) {
  for (uint32_t i = 0; i < count && i < parameter_count; i++) {
    if (names[i].len > 0 || parameters[i].option != OP_SINGLE) continue;
    os_finding *finding = os_report_add(self->report, &os_rule_model_node_missing_value,
                                        "%.*s leaves out its %s \"%.*s\", which must be there",
                                        OS_ARG(os_node__label(self, node)), what, OS_ARG(parameters[i].name));
    os_finding_place(self->report, finding, (os_spot){graph, node, NULL}, "%s[%u]", what, i);
  }
}

static void os_node__schema(os_checking *self, const os_graph_index *graph, const os_graph_node *node) {
  const op_schema *schema = node->node.schema;
  if (schema->deprecated) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_node_deprecated, "%.*s was removed in version %d",
                      OS_ARG(node->node.op_type), schema->since);
    os_node__find(self, graph, node, finding);
    return;
  }
  os_node__arity(self, graph, node, node->input_count, schema->min_inputs, schema->max_inputs, "inputs");
  os_node__arity(self, graph, node, node->output_count, schema->min_outputs, schema->max_outputs, "outputs");
  os_node__left_out(self, graph, node, node->proto->input, node->input_count, schema->inputs,
                    schema->input_count, "input");
  os_node__left_open(self, graph, node, schema);
  os_node__left_out(self, graph, node, node->proto->output, node->output_count, schema->outputs,
                    schema->output_count, "output");
}

// ---- Calls of functions -----------------------------------------------------------------------------------

static os_status os_node__call(os_checking *self, const os_graph_index *graph, const os_graph_node *node,
                               const os_function *function) {
  const Onnx__FunctionProto *proto = function->proto;
  os_str label = os_function_label(self->report->arena, function);
  if (node->input_count > proto->n_input || node->output_count > proto->n_output) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_function_call,
                      "the call gives %u inputs and takes %u outputs; %.*s has %zu and %zu",
                      node->input_count, node->output_count, OS_ARG(label), proto->n_input, proto->n_output);
    os_node__find(self, graph, node, finding);
  }
  if (proto->n_attribute == 0) return OS_OK;
  os_map given;
  os_map_init(&given, self->report->arena);
  for (size_t i = 0; i < node->proto->n_attribute; i++)
    OS_TRY_ALLOC(os_map_put(&given, os_bytes_str(node->proto->attribute[i]->name), NULL));
  for (size_t i = 0; i < proto->n_attribute; i++) {
    os_str name = os_bytes_str(proto->attribute[i]);
    if (os_map_get(&given, name) != NULL) continue;
    os_finding *finding = os_report_add_as(
        self->report, &os_rule_model_function_call, OS_INFO, // bodies may do without
        "the call does not give \"%.*s\", for which %.*s has no default", OS_ARG(name), OS_ARG(label));
    os_node__find(self, graph, node, finding);
  }
  return OS_OK;
}

// The standard's domain is imported as "ai.onnx", which is no import of "" for nodes of functions.
static bool os_node__only_spelt(const os_graph_index *graph, const op_node *op) {
  return graph->function != NULL && op->domain.len == 0 && !graph->imports->newest &&
         os_map_get(&graph->imports->versions, op->domain) == NULL;
}

// ---- The node ---------------------------------------------------------------------------------------------

os_status os_check_node(os_checking *self, const os_graph_index *graph, const os_graph_node *node) {
  const op_node *op = &node->node;
  os_report *report = self->report;
  if (op->op_type.len == 0) {
    os_node__find(self, graph, node,
                  os_report_add(report, &os_rule_model_node_op_type, "the node names no operator"));
    return os_check_node_attributes(self, graph, node);
  }
  if (node->input_count == 0 && node->output_count == 0)
    os_node__find(self, graph, node,
                  os_report_add(report, &os_rule_model_node_no_values, "%.*s has neither inputs nor outputs",
                                OS_ARG(os_node__label(self, node))));
  else if (node->output_count == 0)
    os_node__find(self, graph, node,
                  os_report_add(report, &os_rule_model_node_no_output, "%.*s has no output",
                                OS_ARG(os_node__label(self, node))));
  int version;
  os_function *function = os_function_find(self->model, op->domain, op->op_type, op->overload);
  if (!os_imports_find(graph->imports, op->domain, &version) || os_node__only_spelt(graph, op)) {
    os_str domain = op->domain.len == 0 ? OS_STR("the standard's domain") : op->domain;
    os_node__find(self, graph, node,
                  os_report_add(report, &os_rule_model_node_domain,
                                "%.*s is of %.*s, which %s does not import",
                                OS_ARG(os_node__label(self, node)), OS_ARG(domain),
                                graph->in_function ? "the function" : "the model"));
  } else if (op->schema != NULL) {
    os_node__schema(self, graph, node);
  } else if (function == NULL && os_node__is_declared(self, op)) {
    // its signature is said nowhere
  } else if (function == NULL) {
    os_node__unknown(self, graph, node, version);
  } else {
    OS_TRY(os_node__call(self, graph, node, function));
  }
  OS_TRY(os_check_node_attributes(self, graph, node));
  OS_TRY(os_check_devices(self, graph, node));
  return os_check_metadata(self, os_node_rare(node->proto)->metadata_props,
                           os_node_rare(node->proto)->n_metadata_props, (os_spot){graph, node, NULL}, "",
                           OS_WARNING);
}
