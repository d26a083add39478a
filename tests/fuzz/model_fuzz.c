#include "inference.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static os_status infer_any(op_infer *ctx) {
  static const char *const bodies[] = {"body", "then_branch", "else_branch"};
  for (uint32_t i = 0; i < op_infer_output_count(ctx); i++) {
    if (op_infer_has_input(ctx, i))
      op_infer_copy(ctx, i, i);
    else if (op_infer_has_input(ctx, 0))
      op_infer_copy(ctx, i, 0);
  }
  for (size_t i = 0; i < 3; i++) {
    const op_graph *body = op_attr_graph(op_infer_node(ctx), bodies[i]);
    const op_fact *inputs[4] = {NULL}, *const * outputs;
    size_t count = body == NULL ? 0 : op_graph_input_count(body);
    if (body == NULL || count > 4) continue;
    for (uint32_t j = 0; j < count; j++) inputs[j] = op_infer_input(ctx, j);
    OS_TRY(op_infer_body(ctx, body, inputs, count, &outputs, &count));
    if (count > 0) op_infer_set_fact(ctx, 0, outputs[0]);
  }
  return OS_OK;
}

static const op_row rows[] = {
    {.domain = "", .op_type = "If", .since = 1, .infer = infer_any},
    {.domain = "", .op_type = "Loop", .since = 1, .infer = infer_any},
    {.domain = "", .op_type = "Relu", .since = 1, .infer = infer_any},
    {.domain = "", .op_type = "Add", .since = 1, .infer = infer_any},
};
OP_FAMILY(fuzz, rows);

// Any bytes as a model, graph, function or operator set: built, checked and inferred without harm, and everything is given back.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const op_family *const families[] = {&op_family_fuzz, NULL};
  static const os_kind kinds[] = {OS_KIND_MODEL, OS_KIND_GRAPH, OS_KIND_FUNCTION, OS_KIND_OPERATOR_SET};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    os_memory memory = {.limit = 256 << 20};
    os_arena arena;
    os_arena_init(&arena, &memory);
    os_report report;
    os_report_init(&report, &arena, false, 0);
    os_types *types = os_types_new(&arena);
    os_registry *registry = types == NULL ? NULL : os_registry_new(&arena, types, families);
    os_source source = os_source_memory(data, size);
    os_document_options options = {.as = kinds[i]};
    os_document *document = NULL;
    os_model *model = NULL;
    if (registry != NULL && os_document_open(&memory, &source, &options, &report, &document) == OS_OK) {
      if (os_model_build(document, registry, NULL, &report, &model) == OS_OK) {
        os_check_options check = {.infer = true};
        os_model_check(model, &check, &report);
        os_report_finish(&report);
        os_model_free(model);
      }
      os_document_close(document);
    }
    os_arena_clear(&arena);
    if (memory.used != 0) abort();
  }
  return 0;
}
