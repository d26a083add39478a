#include "model_find.h"

#include "format.h"

#include <stdarg.h>

static os_str os_model__print(os_arena *arena, os_str base, const char *format, va_list arguments) {
  char rest[160];
  int len = os_format_list(rest, sizeof rest, format, arguments);
  if (len <= 0) return os_arena_copy(arena, base);
  return os_arena_format(arena, "%.*s%s%s", OS_ARG(base), base.len > 0 ? "." : "", rest);
}

os_str os_model_path(os_arena *arena, os_str base, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_str path = os_model__print(arena, base, format, arguments);
  va_end(arguments);
  return path;
}

void os_where_message(os_where *where, os_str path, const void *message) {
  where->path = path;
  if (message == NULL || !os_proto_is(message, OS_PROTO_RANGED)) return;
  uint64_t start = os_proto_offset(message);
  os_where_range(where, start, start + os_proto_length(message));
  where->binary = true;
}

void os_finding_place(os_report *report, os_finding *finding, os_spot spot, const char *format, ...) {
  if (!os_report_keeps(report, finding)) return;
  os_str base = spot.graph == NULL ? OS_STR("") : spot.graph->graph.path;
  if (spot.node != NULL) {
    base = os_model_path(report->arena, base, "node[%u]", spot.node->node.index);
    os_finding_set_node(report, finding, &spot.node->node);
    if (spot.message == NULL) spot.message = spot.node->proto;
  }
  va_list arguments;
  va_start(arguments, format);
  os_str path = os_model__print(report->arena, base, format, arguments);
  va_end(arguments);
  os_where_message(&finding->where, path, spot.message);
}

os_str os_node_label(os_arena *arena, const op_node *node) {
  bool standard = node->domain.len == 0 || os_str_is(node->domain, "ai.onnx");
  os_str domain = standard ? OS_STR("") : node->domain;
  const char *blank = standard ? "" : " ";
  if (node->name.len == 0)
    return os_arena_format(arena, "%.*s%s%.*s", OS_ARG(domain), blank, OS_ARG(node->op_type));
  return os_arena_format(arena, "%.*s%s%.*s \"%.*s\"", OS_ARG(domain), blank, OS_ARG(node->op_type),
                         OS_ARG(node->name));
}

os_str os_function_label(os_arena *arena, const os_function *function) {
  return os_arena_format(arena, "%.*s:%.*s", OS_ARG(os_bytes_str(function->proto->domain)),
                         OS_ARG(os_bytes_str(function->proto->name)));
}

// The message that a value comes from, and its path.
static const void *os_find__definition(const os_graph_index *graph, int32_t number, os_report *report,
                                       os_str *path) {
  const os_graph_value *value = &graph->graph.values[number];
  os_str base = graph->graph.path;
  if (value->origin == OS_FROM_NODE) {
    const os_graph_node *node = &graph->nodes[value->producer];
    uint32_t output = 0;
    while (output + 1 < node->output_count && node->outputs[output] != number) output++;
    *path = os_model_path(report->arena, base, "node[%d].output[%u]", value->producer, output);
    return node->proto;
  }
  const Onnx__GraphProto *proto = graph->proto;
  size_t slot = (size_t)value->slot, dense = proto == NULL ? 0 : proto->n_initializer;
  if (value->is_input) {
    *path = os_model_path(report->arena, base, "input[%zu]", slot);
    return value->declared;
  }
  if (value->initializer != NULL) {
    *path = os_model_path(report->arena, base, "initializer[%zu]", slot);
    return value->initializer;
  }
  if (value->sparse_initializer != NULL) {
    *path = os_model_path(report->arena, base, "sparse_initializer[%zu]", slot - dense);
    return value->sparse_initializer;
  }
  *path = os_arena_copy(report->arena, base);
  return NULL;
}

void os_finding_define(os_report *report, os_finding *finding, const char *title, const os_graph_index *graph,
                       int32_t value) {
  if (!os_report_keeps(report, finding)) return;
  while (graph->graph.values[value].origin == OS_FROM_OUTER) {
    value = graph->graph.values[value].outer;
    graph = os_graph_index_parent(graph);
  }
  os_str path;
  const void *message = os_find__definition(graph, value, report, &path);
  os_related *related = os_finding_relate(report, finding, "%s", title);
  if (related != NULL) os_where_message(&related->where, path, message);
}
