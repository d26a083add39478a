#include "model_find.h"
#include "text.h"

// The problems that building the index met, as findings.

typedef struct os_telling {
  os_model *model;
  os_report *report;
  os_arena *arena; // the report's
} os_telling;

static os_str os_problem__input(const os_problem *self) {
  return os_bytes_str(self->graph->nodes[self->node].proto->input[self->slot]);
}

static const os_graph_node *os_problem__node(const os_problem *self) {
  return self->node == OS_ABSENT ? NULL : &self->graph->nodes[self->node];
}

static os_str os_problem__label(const os_telling *telling, const os_problem *self) {
  return os_node_label(telling->arena, &os_problem__node(self)->node);
}

// The nearest name that is there, for "did you mean"; empty when none is near.
static os_str os_problem__near(const os_telling *telling, const os_graph_index *graph, os_str name) {
  os_str nearest = OS_STR("");
  unsigned best = name.len < 5 ? 1 : 2;
  // Comparing with all names is for a few typing errors, not for a file that is broken as a whole.
  if (graph->names.count > 10000 || telling->report->findings.count > 20) return nearest;
  for (uint32_t i = 0; i < graph->graph.value_count; i++) {
    os_str other = graph->graph.values[i].name;
    unsigned distance = os_str_distance(name, other, best);
    if (distance > best || (distance == best && nearest.len > 0)) continue;
    nearest = other;
    best = distance;
  }
  return nearest;
}

static void os_problem__input_unknown(const os_telling *telling, const os_problem *self) {
  os_str name = os_problem__input(self), label = os_problem__label(telling, self);
  os_str near = os_problem__near(telling, self->graph, name);
  os_finding *finding =
      near.len > 0 ? os_report_add(telling->report, &os_rule_model_node_input_unknown,
                                   "%.*s reads \"%.*s\", which nothing makes; did you mean \"%.*s\"?",
                                   OS_ARG(label), OS_ARG(name), OS_ARG(near))
                   : os_report_add(telling->report, &os_rule_model_node_input_unknown,
                                   "%.*s reads \"%.*s\", which nothing makes", OS_ARG(label), OS_ARG(name));
  os_spot spot = {self->graph, os_problem__node(self), NULL};
  os_finding_place(telling->report, finding, spot, "input[%d]", self->slot);
}

static void os_problem__order(const os_telling *telling, const os_problem *self) {
  const os_graph_value *value = &self->graph->graph.values[self->value];
  os_str label = os_problem__label(telling, self);
  os_str maker = os_node_label(telling->arena, &self->graph->nodes[value->producer].node);
  os_finding *finding = os_report_add(
      telling->report, &os_rule_model_node_order,
      "%.*s%s reads \"%.*s\" before %.*s (node %d) makes it; sorting the nodes mends that", OS_ARG(label),
      self->slot == OS_ABSENT ? ", in a body," : "", OS_ARG(value->name), OS_ARG(maker), value->producer);
  os_spot spot = {self->graph, os_problem__node(self), NULL};
  if (self->slot == OS_ABSENT)
    os_finding_place(telling->report, finding, spot, "%s", "");
  else
    os_finding_place(telling->report, finding, spot, "input[%d]", self->slot);
  os_finding_define(telling->report, finding, "made here", self->graph, self->value);
}

enum { MOST_SHOWN = 12 }; // members of a cycle

static void os_problem__cycle(const os_telling *telling, const os_problem *self) {
  os_text chain;
  os_text_init(&chain, telling->arena->memory);
  // Each node of `numbers` waits for the one behind it, and the last for the first: told from maker to reader.
  for (uint32_t i = 0; i <= self->count && i < MOST_SHOWN; i++) {
    uint32_t node = self->numbers[(2 * self->count - i) % self->count];
    os_str label = os_node_label(telling->arena, &self->graph->nodes[node].node);
    os_text_format(&chain, "%s%.*s (node %u)", i == 0 ? "" : " -> ", OS_ARG(label), node);
  }
  if (self->count >= MOST_SHOWN) os_text_puts(&chain, " -> ...");
  os_str printed = os_text_str(&chain);
  os_finding *finding =
      self->count == 1
          ? os_report_add(telling->report, &os_rule_model_node_cycle, "%.*s reads its own output",
                          OS_ARG(os_problem__label(telling, self)))
          : os_report_add(telling->report, &os_rule_model_node_cycle,
                          "these %u nodes wait for each other: %.*s", self->count, OS_ARG(printed));
  os_text_clear(&chain);
  os_finding_place(telling->report, finding, (os_spot){self->graph, os_problem__node(self), NULL}, "%s", "");
}

static void os_problem__ssa(const os_telling *telling, const os_problem *self) {
  const os_graph_node *node = os_problem__node(self);
  os_str name = os_bytes_str(node->proto->output[self->slot]);
  os_finding *finding = os_report_add(
      telling->report, &os_rule_model_node_ssa, "\"%.*s\" is %s", OS_ARG(name),
      self->other == self->graph ? "defined a second time" : "a value of an enclosing graph already");
  os_finding_place(telling->report, finding, (os_spot){self->graph, node, NULL}, "output[%d]", self->slot);
  os_finding_define(telling->report, finding, "first defined here", self->other, self->value);
  os_related *second = os_finding_relate(telling->report, finding, "and again here");
  if (second != NULL) second->where = finding->where;
}

static void os_problem__input_twice(const os_telling *telling, const os_problem *self) {
  const os_graph_index *graph = self->graph;
  os_str name = graph->graph.values[self->value].name;
  os_finding *finding;
  const void *message = NULL;
  if (graph->proto != NULL) {
    message = graph->proto->input[self->slot];
    finding = os_report_add(telling->report, &os_rule_model_graph_input_duplicate,
                            "\"%.*s\" is an input of the graph twice", OS_ARG(name));
  } else {
    message = graph->function->proto;
    finding = os_report_add(telling->report, &os_rule_model_function_parameter,
                            "\"%.*s\" is an input of the function twice", OS_ARG(name));
  }
  os_finding_place(telling->report, finding, (os_spot){graph, NULL, message}, "input[%d]", self->slot);
  os_finding_define(telling->report, finding, "first listed here", graph, self->value);
}

static void os_problem__initializer_twice(const os_telling *telling, const os_problem *self) {
  const os_graph_value *value = &self->graph->graph.values[self->value];
  const Onnx__GraphProto *proto = self->graph->proto;
  size_t slot = (size_t)self->slot;
  bool sparse = slot >= proto->n_initializer;
  const void *message = sparse ? (const void *)proto->sparse_initializer[slot - proto->n_initializer]
                               : (const void *)proto->initializer[slot];
  os_finding *finding = os_report_add(telling->report, &os_rule_model_initializer_duplicate,
                                      "\"%.*s\" is an initializer twice", OS_ARG(value->name));
  os_spot spot = {self->graph, NULL, message};
  if (sparse)
    os_finding_place(telling->report, finding, spot, "sparse_initializer[%zu]", slot - proto->n_initializer);
  else
    os_finding_place(telling->report, finding, spot, "initializer[%zu]", slot);
  os_related *related = os_finding_relate(telling->report, finding, "first listed here");
  if (related == NULL) return;
  const void *first =
      value->initializer != NULL ? (const void *)value->initializer : (const void *)value->sparse_initializer;
  size_t at =
      value->is_input ? 0 : (size_t)value->slot; // which of the inputs it is says nothing about initializers
  while (value->is_input && at < slot && at < proto->n_initializer && proto->initializer[at] != first) at++;
  os_str path = at < proto->n_initializer
                    ? os_model_path(telling->arena, self->graph->graph.path, "initializer[%zu]", at)
                    : os_model_path(telling->arena, self->graph->graph.path, "sparse_initializer");
  os_where_message(&related->where, path, first);
}

static void os_problem__output_unknown(const os_telling *telling, const os_problem *self) {
  const os_graph_index *graph = self->graph;
  if (graph->proto == NULL) {
    os_str name = os_bytes_str(graph->function->proto->output[self->slot]);
    os_finding *finding = os_report_add(telling->report, &os_rule_model_function_output,
                                        "the function does not make its output \"%.*s\"", OS_ARG(name));
    os_finding_place(telling->report, finding, (os_spot){graph, NULL, graph->function->proto}, "output[%d]",
                     self->slot);
    return;
  }
  os_str name = os_bytes_str(graph->proto->output[self->slot]->name);
  os_str near = os_problem__near(telling, graph, name);
  bool outer = false;
  for (const os_graph_index *at = graph; !outer && (at = os_graph_index_parent(at)) != NULL;)
    outer = os_graph_find_value(&at->graph, name) != OS_ABSENT;
  os_finding *finding =
      outer          ? os_report_add(telling->report, &os_rule_model_graph_output_unknown,
                                     "output \"%.*s\" is a value of an enclosing graph; pass it through an Identity",
                                     OS_ARG(name))
      : near.len > 0 ? os_report_add(telling->report, &os_rule_model_graph_output_unknown,
                                     "nothing in the graph makes its output \"%.*s\"; did you mean \"%.*s\"?",
                                     OS_ARG(name), OS_ARG(near))
                     : os_report_add(telling->report, &os_rule_model_graph_output_unknown,
                                     "nothing in the graph makes its output \"%.*s\"", OS_ARG(name));
  os_finding_place(telling->report, finding, (os_spot){graph, NULL, graph->proto->output[self->slot]},
                   "output[%d]", self->slot);
}

static void os_problem__at_function(const os_telling *telling, os_finding *finding,
                                    const os_function *function) {
  os_where_message(&finding->where, os_arena_copy(telling->arena, function->body->graph.path),
                   function->proto);
}

static void os_problem__recursion(const os_telling *telling, const os_problem *self) {
  os_text chain;
  os_text_init(&chain, telling->arena->memory);
  const os_function *functions = telling->model->functions;
  for (uint32_t i = 0; i <= self->count && i < MOST_SHOWN; i++) {
    os_str label = os_function_label(telling->arena, &functions[self->numbers[i % self->count]]);
    os_text_format(&chain, "%s%.*s", i == 0 ? "" : " -> ", OS_ARG(label));
  }
  if (self->count >= MOST_SHOWN) os_text_puts(&chain, " -> ...");
  os_finding *finding = os_report_add(telling->report, &os_rule_model_function_recursive,
                                      "functions call each other: %.*s", OS_ARG(os_text_str(&chain)));
  os_text_clear(&chain);
  os_problem__at_function(telling, finding, &functions[self->numbers[0]]);
}

static void os_problem__function_twice(const os_telling *telling, const os_problem *self) {
  const os_function *first = &telling->model->functions[self->numbers[0]];
  const os_function *second = &telling->model->functions[self->numbers[1]];
  os_finding *finding =
      os_report_add(telling->report, &os_rule_model_function_duplicate, "%.*s is defined twice",
                    OS_ARG(os_function_label(telling->arena, second)));
  os_problem__at_function(telling, finding, second);
  os_related *related = os_finding_relate(telling->report, finding, "first defined here");
  if (related != NULL)
    os_where_message(&related->where, os_arena_copy(telling->arena, first->body->graph.path), first->proto);
}

static void os_problem__call_depth(const os_telling *telling, const os_problem *self) {
  const os_function *function = &telling->model->functions[self->numbers[0]];
  os_finding *finding =
      os_report_add(telling->report, &os_rule_model_function_depth, "calls below %.*s are more than %d deep",
                    OS_ARG(os_function_label(telling->arena, function)), OS_CALL_DEPTH);
  os_problem__at_function(telling, finding, function);
}

static void (*const os_problem__tellers[])(const os_telling *telling, const os_problem *self) = {
    [OS_PROBLEM_INPUT_UNKNOWN] = os_problem__input_unknown,
    [OS_PROBLEM_ORDER] = os_problem__order,
    [OS_PROBLEM_CYCLE] = os_problem__cycle,
    [OS_PROBLEM_SSA] = os_problem__ssa,
    [OS_PROBLEM_INPUT_TWICE] = os_problem__input_twice,
    [OS_PROBLEM_INITIALIZER_TWICE] = os_problem__initializer_twice,
    [OS_PROBLEM_OUTPUT_UNKNOWN] = os_problem__output_unknown,
    [OS_PROBLEM_RECURSION] = os_problem__recursion,
    [OS_PROBLEM_FUNCTION_TWICE] = os_problem__function_twice,
    [OS_PROBLEM_CALL_DEPTH] = os_problem__call_depth,
};

static const os_rule *const os_problem__rules[] = {
    [OS_PROBLEM_INPUT_UNKNOWN] = &os_rule_model_node_input_unknown,
    [OS_PROBLEM_ORDER] = &os_rule_model_node_order,
    [OS_PROBLEM_CYCLE] = &os_rule_model_node_cycle,
    [OS_PROBLEM_SSA] = &os_rule_model_node_ssa,
    [OS_PROBLEM_INPUT_TWICE] = &os_rule_model_graph_input_duplicate,
    [OS_PROBLEM_INITIALIZER_TWICE] = &os_rule_model_initializer_duplicate,
    [OS_PROBLEM_OUTPUT_UNKNOWN] = &os_rule_model_graph_output_unknown,
    [OS_PROBLEM_RECURSION] = &os_rule_model_function_recursive,
    [OS_PROBLEM_FUNCTION_TWICE] = &os_rule_model_function_duplicate,
    [OS_PROBLEM_CALL_DEPTH] = &os_rule_model_function_depth,
};

void os_problems_tell_all(os_model *model, os_report *report) {
  os_telling telling = {model, report, report->arena};
  for (size_t i = 0; i < model->problems.count; i++) {
    const os_problem *problem = &model->problems.items[i];
    if (report->full)
      os_report_add(report, os_problem__rules[problem->kind], "not told"); // counted only
    else
      os_problem__tellers[problem->kind](&telling, problem);
  }
}

void os_problems_tell(os_model *model, os_report *report) {
  if (report == NULL || report->told == model) return;
  report->told = model;
  os_problems_tell_all(model, report);
  if (model->expanded_too_far)
    os_report_incomplete(report, "%s; the rest was not looked into", os_cut_text(OS_CUT_NODES));
}
