#include "check_operator_set.h"
#include "checking.h"
#include "format.h"

// ---- The model's own fields (checker rules A) -------------------------------------------------------------

os_status os_check_keys(os_checking *self, const os_rule *rule, os_severity severity,
                        Onnx__StringStringEntryProto *const *entries, size_t count, os_spot spot,
                        const char *list) {
  if (count < 2) return OS_OK;
  os_map keys;
  os_map_init(&keys, self->report->arena);
  for (size_t i = 0; i < count; i++) {
    OS_TRY(os_check_pause(self));
    bool added;
    os_map_entry *entry = os_map_put(&keys, os_bytes_str(entries[i]->key), &added);
    OS_TRY_ALLOC(entry);
    if (added) {
      entry->value.number = i;
      continue;
    }
    os_finding *finding = os_report_add_as(self->report, rule, severity, "the key \"%.*s\" comes twice",
                                           OS_ARG(os_bytes_str(entries[i]->key)));
    spot.message = entries[i];
    os_finding_place(self->report, finding, spot, "%s[%zu]", list, i);
    os_related *related = os_finding_relate(self->report, finding, "first here");
    if (related == NULL || !os_report_keeps(self->report, finding)) continue;
    os_str path = finding->where.path;
    while (path.len > 0 && path.data[path.len - 1] != '[') path.len--;
    path = os_arena_format(self->report->arena, "%.*s%zu]", OS_ARG(path), entry->value.number);
    os_where_message(&related->where, path, entries[entry->value.number]);
  }
  return OS_OK;
}

os_status os_check_metadata(os_checking *self, Onnx__StringStringEntryProto *const *entries, size_t count,
                            os_spot spot, const char *where, os_severity severity) {
  if (count < 2) return OS_OK;
  char list[96];
  os_format(list, sizeof list, "%smetadata_props", where);
  return os_check_keys(self, &os_rule_model_metadata_duplicate, severity, entries, count, spot, list);
}

static os_finding *os_check__root(os_checking *self, const os_rule *rule, const char *path,
                                  const void *message, const char *text) {
  os_finding *finding = os_report_add(self->report, rule, "%s", text);
  os_where_message(&finding->where, os_str_of(path), message);
  return finding;
}

static os_status os_check__imports(os_checking *self, Onnx__OperatorSetIdProto *const *imports, size_t count,
                                   os_str base) {
  os_map seen;
  os_map_init(&seen, self->report->arena);
  for (size_t i = 0; i < count; i++) {
    OS_TRY(os_check_pause(self));
    os_str domain = os_bytes_str(imports[i]->domain);
    os_str set = os_str_is(domain, "ai.onnx") ? OS_STR("") : domain;
    const os_map_entry *first = os_map_get(&seen, set);
    int64_t version = imports[i]->version;
    os_finding *finding = NULL;
    int newest = os_registry_domain_version(self->model->registry, domain);
    if (version > INT32_MAX || version < INT32_MIN)
      finding =
          os_report_add(self->report, &os_rule_model_opset_range,
                        "version %lld of \"%.*s\" does not fit 32 bits", (long long)version, OS_ARG(domain));
    else if (first != NULL && !os_str_eq(os_bytes_str(imports[first->value.number]->domain), domain))
      finding = os_report_add(self->report, &os_rule_model_opset_duplicate,
                              "the standard's domain is imported as \"\" and as \"ai.onnx\"; \"\" holds");
    else if (first != NULL)
      finding = os_report_add(self->report, &os_rule_model_opset_duplicate,
                              "\"%.*s\" is imported a second time; version %lld holds", OS_ARG(domain),
                              (long long)version);
    else if (newest > 0 && version > newest)
      finding = os_report_add(self->report, &os_rule_model_opset_newer,
                              "version %lld of \"%.*s\" is newer than %d, the newest known",
                              (long long)version, OS_ARG(domain), newest);
    else if (!imports[i]->has_version)
      finding = os_report_add_as(self->report, &os_rule_model_opset_range, OS_WARNING,
                                 "the import of \"%.*s\" says no version", OS_ARG(domain));
    else if (version < 1)
      finding = os_report_add_as(self->report, &os_rule_model_opset_range, OS_WARNING,
                                 "\"%.*s\" is imported in version %lld, and versions begin with 1",
                                 OS_ARG(domain), (long long)version);
    else if (os_str_is(domain, "ai.onnx"))
      finding = os_report_add(self->report, &os_rule_model_opset_alias,
                              "the standard's domain is spelt \"ai.onnx\"");
    if (finding != NULL && os_report_keeps(self->report, finding))
      os_where_message(&finding->where, os_model_path(self->report->arena, base, "opset_import[%zu]", i),
                       imports[i]);
    bool added;
    os_map_entry *entry = os_map_put(&seen, set, &added);
    OS_TRY_ALLOC(entry);
    if (added) entry->value.number = i;
  }
  return OS_OK;
}

os_status os_check_model_header(os_checking *self) {
  const Onnx__ModelProto *proto = self->model->proto;
  if (proto == NULL) {
    if (self->model->main->imports->newest && !os_graph_is_nothing(self->model->main))
      os_check__root(self, &os_rule_model_opset_assumed, "", NULL,
                     "the operator sets are not stated here; the newest ones were assumed");
    return OS_OK;
  }
  int64_t version = proto->ir_version;
  if (version == 0) {
    os_check__root(self, &os_rule_model_ir_version_missing, "ir_version", NULL, "ir_version is not set");
  } else if (version > OS_IR_NEWEST) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_ir_version_unsupported,
                      "ir_version is %lld; the newest known is %d", (long long)version, OS_IR_NEWEST);
    os_where_message(&finding->where, OS_STR("ir_version"), NULL);
  } else if (version < 3 && proto->n_opset_import > 0) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_opset_before_ir_3,
                      "ir_version is %lld, and opset_import came with version 3", (long long)version);
    os_where_message(&finding->where, OS_STR("opset_import[0]"), proto->opset_import[0]);
  } else if (version >= 3 && proto->n_opset_import == 0) {
    os_check__root(self, &os_rule_model_opset_missing, "opset_import", NULL,
                   "the model imports no operator set");
  }
  if (proto->model_version < 0) {
    os_finding *finding = os_report_add(self->report, &os_rule_model_version_negative,
                                        "model_version is %lld", (long long)proto->model_version);
    finding->expected = OS_STR("0 or more");
    finding->actual = os_arena_format(self->report->arena, "%lld", (long long)proto->model_version);
    os_where_message(&finding->where, OS_STR("model_version"), NULL);
  }
  OS_TRY(os_check__imports(self, proto->opset_import, proto->n_opset_import, OS_STR("")));
  OS_TRY(os_check_metadata(self, proto->metadata_props, proto->n_metadata_props, (os_spot){0}, "", OS_ERROR));
  if (proto->graph == NULL)
    os_check__root(self, &os_rule_model_graph_missing, "graph", NULL, "the model has no graph");
  if (self->model->function_count > 10000) {
    os_finding *finding = os_report_add(self->report, &os_rule_model_function_count,
                                        "the model has %u functions", self->model->function_count);
    os_where_message(&finding->where, OS_STR("functions"), NULL);
  }
  return OS_OK;
}

// ---- Functions (checker rules H) --------------------------------------------------------------------------

static os_status os_check__distinct(os_checking *self, const os_function *function,
                                    const ProtobufCBinaryData *names, size_t count, const char *what) {
  os_map seen;
  os_map_init(&seen, self->report->arena);
  for (size_t i = 0; i < count; i++) {
    OS_TRY(os_check_pause(self));
    bool added;
    OS_TRY_ALLOC(os_map_put(&seen, os_bytes_str(names[i]), &added));
    if (added) continue;
    os_finding *finding = os_report_add(self->report, &os_rule_model_function_parameter,
                                        "\"%.*s\" is an %s twice", OS_ARG(os_bytes_str(names[i])), what);
    os_finding_place(self->report, finding, (os_spot){function->body, NULL, function->proto}, "%s[%zu]", what,
                     i);
  }
  return OS_OK;
}

// An attribute of a function that has the name of an input or output of it, too.
static void os_check__attribute_name(os_checking *self, const os_function *function, const os_map *values,
                                     os_str name, const char *field, size_t index) {
  if (os_map_get(values, name) == NULL) return;
  os_finding *finding =
      os_report_add_as(self->report, &os_rule_model_function_parameter, OS_WARNING,
                       "\"%.*s\" is an attribute of the function and an input or output", OS_ARG(name));
  os_finding_place(self->report, finding, (os_spot){function->body, NULL, function->proto}, "%s[%zu]", field,
                   index);
}

static os_status os_check__attribute_names(os_checking *self, const os_function *function) {
  const Onnx__FunctionProto *proto = function->proto;
  if (proto->n_attribute + proto->n_attribute_proto == 0) return OS_OK;
  os_map values;
  os_map_init(&values, self->report->arena);
  for (size_t i = 0; i < proto->n_input; i++)
    OS_TRY_ALLOC(os_map_put(&values, os_bytes_str(proto->input[i]), NULL));
  for (size_t i = 0; i < proto->n_output; i++)
    OS_TRY_ALLOC(os_map_put(&values, os_bytes_str(proto->output[i]), NULL));
  if (values.count == 0) return OS_OK;
  for (size_t i = 0; i < proto->n_attribute; i++)
    os_check__attribute_name(self, function, &values, os_bytes_str(proto->attribute[i]), "attribute", i);
  for (size_t i = 0; i < proto->n_attribute_proto; i++)
    os_check__attribute_name(self, function, &values, os_bytes_str(proto->attribute_proto[i]->name),
                             "attribute_proto", i);
  return OS_OK;
}

static os_status os_check__function_attributes(os_checking *self, const os_function *function) {
  const Onnx__FunctionProto *proto = function->proto;
  OS_TRY(os_check__attribute_names(self, function));
  OS_TRY(os_check__distinct(self, function, proto->attribute, proto->n_attribute, "attribute"));
  if (proto->n_attribute_proto == 0) return OS_OK;
  os_map plain;
  os_map_init(&plain, self->report->arena);
  for (size_t i = 0; i < proto->n_attribute; i++)
    OS_TRY_ALLOC(os_map_put(&plain, os_bytes_str(proto->attribute[i]), NULL));
  for (size_t i = 0; i < proto->n_attribute_proto; i++) {
    bool added;
    os_str name = os_bytes_str(proto->attribute_proto[i]->name);
    OS_TRY_ALLOC(os_map_put(&plain, name, &added));
    if (added) continue;
    os_finding *finding = os_report_add(self->report, &os_rule_model_function_attribute,
                                        "the attribute \"%.*s\" is declared twice", OS_ARG(name));
    os_finding_place(self->report, finding, (os_spot){function->body, NULL, proto->attribute_proto[i]},
                     "attribute_proto[%zu]", i);
  }
  return OS_OK;
}

// The model's imports, and of each domain that it does not import the first function's: what onnx.checker holds functions
// against.
static os_status os_check__merged_imports(os_checking *self) {
  os_model *model = self->model;
  self->imports = model->imports;
  if (model->proto == NULL || model->function_count == 0) return OS_OK;
  os_map_init(&self->imports.versions, self->report->arena);
  const os_map *own = &model->imports.versions;
  for (size_t i = 0; i < own->count; i++) {
    os_map_entry *entry = os_map_put(&self->imports.versions, own->entries[i].key, NULL);
    OS_TRY_ALLOC(entry);
    entry->value = own->entries[i].value;
  }
  for (uint32_t i = 0; i < model->function_count; i++) {
    const os_map *of = &model->functions[i].imports.versions;
    for (size_t j = 0; j < of->count; j++) {
      if (os_map_get(&self->imports.versions, of->entries[j].key) != NULL) continue;
      os_map_entry *entry = os_map_put(&self->imports.versions, of->entries[j].key, NULL);
      OS_TRY_ALLOC(entry);
      entry->value = of->entries[j].value;
    }
  }
  return OS_OK;
}

static void os_check__node_opset(os_checking *self, const os_function *function, const os_graph_node *node,
                                 int of_function, int other, os_severity severity, const char *whose) {
  os_registry *registry = self->model->registry;
  const op_node *op = &node->node;
  if (other == of_function ||
      os_registry_find(registry, op->domain, op->op_type, op->overload, other).schema ==
          os_registry_find(registry, op->domain, op->op_type, op->overload, of_function).schema)
    return;
  os_finding *finding = os_report_add_as(
      self->report, &os_rule_model_function_opset, severity,
      "%.*s is another operator in version %d of \"%.*s\", which the function imports, than in %d, %s",
      OS_ARG(op->op_type), of_function, OS_ARG(op->domain), other, whose);
  os_finding_place(self->report, finding, (os_spot){function->body, node, NULL}, "%s", "");
}

// Every operator of the body is the same in the function's imports and in the others'. For onnx.checker "" and "ai.onnx" are
// two domains here.
static void os_check__function_opset(os_checking *self, const os_function *function) {
  int own, other;
  const os_graph_index *body = function->body;
  if (function->imports.newest || self->model->proto == NULL) return;
  for (uint32_t i = 0; i < body->graph.node_count; i++) {
    const os_graph_node *node = &body->nodes[i];
    os_str domain = node->node.domain;
    if (!os_imports_find(&function->imports, domain, &own)) continue;
    bool of_model = os_map_get(&self->model->imports.versions, domain) != NULL;
    const os_map_entry *known = os_map_get(&self->imports.versions, domain);
    if (known != NULL)
      os_check__node_opset(self, function, node, own, (int)(int32_t)(uint32_t)known->value.number, OS_ERROR,
                           of_model ? "the model's" : "another function's");
    if (!of_model && os_imports_find(&self->model->imports, domain, &other))
      os_check__node_opset(self, function, node, own, other, OS_WARNING, "the model's");
  }
}

os_status os_check_function(os_checking *self, const os_function *function) {
  const Onnx__FunctionProto *proto = function->proto;
  const os_graph_index *body = function->body;
  os_spot spot = {body, NULL, proto};
  if (proto->name.len == 0) {
    os_finding *finding = os_report_add(self->report, &os_rule_model_function_name, "a function has no name");
    os_finding_place(self->report, finding, spot, "name");
  }
  if (!proto->has_domain) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_model_function_name, "the function \"%.*s\" has no domain",
                      OS_ARG(os_bytes_str(proto->name)));
    os_finding_place(self->report, finding, spot, "domain");
  }
  OS_TRY(os_check__imports(self, proto->opset_import, proto->n_opset_import, body->graph.path));
  OS_TRY(os_check__distinct(self, function, proto->output, proto->n_output, "output"));
  OS_TRY(os_check__function_attributes(self, function));
  OS_TRY(os_check_metadata(self, proto->metadata_props, proto->n_metadata_props, spot, "", OS_WARNING));
  OS_TRY(os_check_function_defaults(self, function));
  os_check_reserved(self, &proto->base, spot, "", OS_ABSENT);
  os_check__function_opset(self, function);
  return OS_OK;
}

// ---- Operator sets ----------------------------------------------------------------------------------------

static os_status os_check__declared(os_checking *self) {
  const os_document *document = self->model->document;
  os_map_init(&self->declared, self->report->arena);
  if (document->kind != OS_KIND_OPERATOR_SET || self->model->function_count == 0) return OS_OK;
  const Onnx__OperatorSetProto *set = document->operator_set;
  for (size_t i = 0; i < set->n_operator_; i++)
    OS_TRY_ALLOC(os_map_put(&self->declared, os_bytes_str(set->operator_[i]->op_type), NULL));
  return OS_OK;
}

// ---- The whole --------------------------------------------------------------------------------------------

static os_status os_check__structure(os_checking *self) {
  os_model *model = self->model;
  OS_TRY(os_check_model_header(self));
  OS_TRY(os_check_configurations(self));
  OS_TRY(os_check__merged_imports(self));
  OS_TRY(os_check__declared(self));
  OS_TRY(os_check_operator_set(self));
  for (uint32_t i = 0; i < model->function_count; i++) {
    OS_TRY(os_check_pause(self));
    OS_TRY(os_check_function(self, &model->functions[i]));
  }
  for (size_t i = 0; i < model->graphs.count; i++) {
    const os_graph_index *graph = model->graphs.items[i];
    if (graph->instance || os_graph_is_nothing(graph)) continue;
    OS_TRY(os_check_pause(self));
    OS_TRY(os_check_graph(self, graph));
  }
  return os_check_training(self);
}

// What a check goes through, about.
static double os_check__units(const os_model *model) {
  double units = 1;
  for (size_t i = 0; i < model->graphs.count; i++) {
    const os_graph_index *graph = model->graphs.items[i];
    if (!graph->instance && !os_graph_is_nothing(graph))
      units += graph->graph.node_count + (double)graph->graph.value_count;
  }
  return units;
}

// A limit or a stop ends a check; what was found so far is told.
static os_status os_check__end(os_report *report, os_status status) {
  if (status == OS_TIMEOUT)
    os_report_incomplete(report, "the time limit was reached");
  else if (status == OS_ABORTED)
    os_report_incomplete(report, "the caller cancelled");
  else if (status == OS_LIMIT && os_report_overfull(report))
    os_report_incomplete(report, "the rest was not looked at: there are too many faults");
  else if (status == OS_LIMIT)
    os_report_incomplete(report, "the model is too large to be checked");
  else
    return status;
  return OS_OK;
}

os_status os_model_check(os_model *self, const os_check_options *options, os_report *report) {
  os_checking checking = {
      .model = self, .top = self->main, .report = report, .full = options->infer, .stop = options->stop};
  checking.progress = options->progress;
  // Inference is the other half.
  checking.each = (options->infer ? 0.5 : 1) / os_check__units(self);
  checking.data = (os_data_check){report, report->arena, os_document_origin(self->document)};
  os_problems_tell(self, report);
  os_status status = os_check__structure(&checking);
  // What a lone function computes with the attributes of its calls cannot be inferred from it.
  const os_function *lone = self->main->function;
  if (status == OS_OK && options->infer && (lone == NULL || lone->attributes.count == 0))
    status = os_model_check_inference(self, options, report);
  OS_TRY(os_check__end(report, status));
  return report->status;
}
