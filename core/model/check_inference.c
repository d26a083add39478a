#include "inference.h"
#include "model_index.h"

static os_status os_inference__check(os_inferring *inferring, os_model *model) {
  const op_graph *graph = &model->main->graph;
  os_fact *facts = OS_ARENA_ARRAY(inferring->arena, (size_t)graph->value_count + 1, os_fact);
  OS_TRY_ALLOC(facts);
  return os_inference_run(inferring, model, graph, facts);
}

os_status os_model_check_inference(os_model *model, const os_check_options *options, os_report *report) {
  os_arena arena;
  os_arena_init(&arena, model->memory);
  os_inferring inferring;
  os_inference_init(&inferring, &arena, model, model->registry, report);
  inferring.stop = options->stop;
  inferring.progress = options->progress;
  os_status status = inferring.dims == NULL || inferring.context == NULL
                         ? OS_OUT_OF_MEMORY
                         : os_inference__check(&inferring, model);
  os_arena_clear(&arena);
  return status;
}
