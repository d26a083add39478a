#include "checking.h"
#include "format.h"

// Training information (onnx.proto, TrainingInfoProto), which onnx.checker does not look at: all findings are warnings.

// ---- Bindings ---------------------------------------------------------------------------------------------

static os_status os_names__of_outputs(os_map *names, const Onnx__GraphProto *graph) {
  for (size_t i = 0; graph != NULL && i < graph->n_output; i++)
    OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->output[i]->name), NULL));
  return OS_OK;
}

static os_status os_names__of_initializers(os_map *names, const Onnx__GraphProto *graph) {
  for (size_t i = 0; graph != NULL && i < graph->n_initializer; i++)
    OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->initializer[i]->name), NULL));
  for (size_t i = 0; graph != NULL && i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL)
      OS_TRY_ALLOC(os_map_put(names, os_bytes_str(graph->sparse_initializer[i]->values->name), NULL));
  return OS_OK;
}

typedef struct os_bindings {
  Onnx__StringStringEntryProto *const *entries;
  size_t count;
  const char *field;
  os_map *targets, *sources; // the training graph's initializers and outputs
  os_map
      *updated; // of updates: targets so far, which may not repeat; the main graph's outputs are sources, too
} os_bindings;

static const os_graph_value *os_training__main_value(const os_checking *self, os_str name) {
  const op_graph *main = &self->model->main->graph;
  int32_t value = os_graph_find_value(main, name);
  return value == OS_ABSENT ? NULL : &main->values[value];
}

static bool os_training__is_initializer(const os_checking *self, const os_bindings *bindings, os_str name) {
  const os_graph_value *value = os_training__main_value(self, name);
  return (value != NULL && (value->initializer != NULL || value->sparse_initializer != NULL)) ||
         os_map_get(bindings->targets, name) != NULL;
}

static bool os_training__is_output(const os_checking *self, const os_bindings *bindings, os_str name) {
  const os_graph_value *value = bindings->updated == NULL ? NULL : os_training__main_value(self, name);
  return (value != NULL && value->is_output) || os_map_get(bindings->sources, name) != NULL;
}

static os_status os_training__bindings(os_checking *self, size_t training, const os_bindings *bindings) {
  for (size_t i = 0; i < bindings->count; i++) {
    OS_TRY(os_check_pause(self));
    const Onnx__StringStringEntryProto *entry = bindings->entries[i];
    os_str key = os_bytes_str(entry->key), value = os_bytes_str(entry->value);
    os_finding *finding = NULL;
    bool added = true;
    if (bindings->updated != NULL) OS_TRY_ALLOC(os_map_put(bindings->updated, key, &added));
    if (!added)
      finding = os_report_add(self->report, &os_rule_model_training_binding, "\"%.*s\" is updated twice",
                              OS_ARG(key));
    else if (!os_training__is_initializer(self, bindings, key))
      finding = os_report_add(self->report, &os_rule_model_training_binding,
                              "\"%.*s\" is bound, but is no initializer", OS_ARG(key));
    else if (!os_training__is_output(self, bindings, value))
      finding = os_report_add(self->report, &os_rule_model_training_binding,
                              "\"%.*s\" takes \"%.*s\", which is no output of the graph", OS_ARG(key),
                              OS_ARG(value));
    if (finding == NULL || !os_report_keeps(self->report, finding)) continue;
    os_where_message(
        &finding->where,
        os_arena_format(self->report->arena, "training_info[%zu].%s[%zu]", training, bindings->field, i),
        entry);
  }
  return OS_OK;
}

static os_status os_training__keys(os_checking *self, const Onnx__TrainingInfoProto *info, size_t index) {
  char list[64];
  if (info->n_initialization_binding < 2) return OS_OK;
  os_format(list, sizeof list, "training_info[%zu].initialization_binding", index);
  return os_check_keys(self, &os_rule_onnx_entry_duplicate, OS_WARNING, info->initialization_binding,
                       info->n_initialization_binding, (os_spot){0}, list);
}

// ---- Graphs -----------------------------------------------------------------------------------------------

// The graph as it runs: the algorithm behind the main graph's nodes, as if that were around it; the initialization alone.
// It is indexed in a model of its own, so that nothing is left of it in the one that is checked.
static os_status os_training__fill(os_model *side, const Onnx__GraphProto *proto,
                                   const os_graph_index *around, os_str path) {
  os_graph_index *graph;
  OS_TRY(os_index_new(side, around, path, &graph));
  side->main = graph;
  graph->proto = proto;
  graph->imports = &side->imports;
  graph->scope = side;
  if (around != NULL) graph->owner = around->graph.node_count;
  for (size_t i = 0; i < side->graphs.count; i++) OS_TRY(os_index_fill(side, side->graphs.items[i]));
  for (size_t i = 0; i < side->graphs.count; i++) OS_TRY(os_index_order(side, side->graphs.items[i]));
  return OS_OK;
}

// Outputs of the algorithm may be the main graph's values.
static void os_training__forgive(os_model *side, const os_graph_index *around) {
  size_t kept = 0;
  for (size_t i = 0; i < side->problems.count; i++) {
    const os_problem *problem = &side->problems.items[i];
    bool fine =
        around != NULL && problem->kind == OS_PROBLEM_OUTPUT_UNKNOWN && problem->graph == side->main &&
        os_graph_find_value(&around->graph, os_bytes_str(side->main->proto->output[problem->slot]->name)) !=
            OS_ABSENT;
    if (!fine) side->problems.items[kept++] = *problem;
  }
  side->problems.count = kept;
}

static os_status os_training__check(os_checking *self, os_model *side, const os_graph_index *around) {
  os_checking inner = *self;
  inner.model = side;
  inner.top = side->main;
  os_training__forgive(side, around);
  os_problems_tell_all(side, self->report);
  for (size_t i = 0; i < side->graphs.count; i++)
    if (!side->graphs.items[i]->instance) OS_TRY(os_check_graph(&inner, side->graphs.items[i]));
  return OS_OK;
}

static os_status os_training__graph(os_checking *self, const Onnx__GraphProto *proto, os_graph_index *around,
                                    size_t training, const char *field) {
  if (proto == NULL || os_proto_length(proto) == 0) return OS_OK; // an empty graph stands for none
  os_model *side = os_memory_calloc(self->model->memory, sizeof *side);
  OS_TRY_ALLOC(side);
  *side = *self->model;
  os_arena_init(&side->own, side->memory);
  side->arena = &side->own;
  side->lazies = NULL;
  side->instance_nodes = OS_INSTANCE_NODES; // nothing in functions is looked at again
  memset(&side->graphs, 0, sizeof side->graphs);
  memset(&side->problems, 0, sizeof side->problems);
  memset(&side->chain, 0, sizeof side->chain);
  os_graph_index kept = {0}; // what the graph around is told of, it forgets
  if (around != NULL) {
    kept.captures = around->captures;
    memset(&around->captures, 0, sizeof around->captures);
  }
  os_severity gravest = self->report->gravest;
  self->report->gravest = OS_WARNING;
  os_str path = os_arena_format(self->report->arena, "training_info[%zu].%s", training, field);
  os_status status = os_training__fill(side, proto, around, path);
  if (status == OS_OK) status = os_training__check(self, side, around);
  self->report->gravest = gravest;
  if (around != NULL) around->captures = kept.captures;
  os_model_free(side);
  return status;
}

// ---- The whole --------------------------------------------------------------------------------------------

os_status os_check_training(os_checking *self) {
  const Onnx__ModelProto *model = self->model->proto;
  if (model == NULL || model->n_training_info == 0) return OS_OK;
  os_arena *arena = self->report->arena;
  os_map updated;
  os_map_init(&updated, arena);
  for (size_t i = 0; i < model->n_training_info; i++) {
    const Onnx__TrainingInfoProto *info = model->training_info[i];
    os_map targets, initial, results;
    os_map_init(&targets, arena);
    os_map_init(&initial, arena);
    os_map_init(&results, arena);
    OS_TRY(os_names__of_initializers(&targets, info->algorithm));
    OS_TRY(os_names__of_outputs(&initial, info->initialization));
    OS_TRY(os_names__of_outputs(&results, info->algorithm));
    if (info->initialization != NULL && info->initialization->n_input > 0) {
      os_finding *finding = os_report_add(self->report, &os_rule_model_training_binding,
                                          "the initialization has %zu inputs, and must have none",
                                          info->initialization->n_input);
      os_where_message(&finding->where, os_arena_format(arena, "training_info[%zu].initialization", i),
                       info->initialization);
    }
    OS_TRY(os_training__graph(self, info->initialization, NULL, i, "initialization"));
    OS_TRY(os_training__graph(self, info->algorithm, self->model->main, i, "algorithm"));
    OS_TRY(os_training__keys(self, info, i));
    os_bindings first = {info->initialization_binding,
                         info->n_initialization_binding,
                         "initialization_binding",
                         &targets,
                         &initial,
                         NULL};
    os_bindings update = {
        info->update_binding, info->n_update_binding, "update_binding", &targets, &results, &updated};
    OS_TRY(os_training__bindings(self, i, &first));
    OS_TRY(os_training__bindings(self, i, &update));
  }
  return OS_OK;
}
