// Fuzzes what a loaded model goes through: check, session, run on zeros, with limits on memory and steps.
#include "families.h"
#include "inference.h"
#include "session.h"

enum { MEMORY = 64 << 20, STEPS = 2000, UNKNOWN_DIM = 2, LARGEST_DIM = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Zeros of the declared type and shape; unknown dims get a small size, large ones are cut.
static op_value *run_fuzz_zeros(os_memory *memory, const os_fact *fact) {
  int64_t dims[OP_MAX_RANK] = {0};
  if (!op_type_is_tensor(fact->type)) return NULL;
  int32_t rank = fact->rank < 0 ? 1 : fact->rank;
  for (int32_t i = 0; i < rank; i++) {
    int64_t dim = fact->rank < 0 || fact->dims[i] < 0 ? UNKNOWN_DIM : fact->dims[i];
    dims[i] = dim > LARGEST_DIM ? LARGEST_DIM : dim;
  }
  op_value *value = os_value_tensor(memory, (op_elem)fact->type, rank, dims);
  if (value != NULL) memset(value->tensor.data, 0, os_tensor_bytes(&value->tensor));
  return value;
}

static void run_fuzz_run(os_memory *memory, os_arena *arena, os_registry *registry, os_model *model,
                         os_session *session) {
  const op_graph *graph = os_model_graph(model);
  os_run_input *inputs = OS_ARENA_ARRAY(arena, graph->input_count + 1, os_run_input);
  if (inputs == NULL) return;
  os_inferring inferring;
  os_inference_init(&inferring, arena, model, registry, NULL);
  size_t count = 0;
  for (uint32_t i = 0; i < graph->input_count; i++) {
    int32_t v = graph->inputs[i];
    if (v < 0 || graph->values[v].declared == NULL) continue;
    os_fact fact = os_inference_declared(&inferring, graph->values[v].declared);
    op_value *value = run_fuzz_zeros(memory, &fact);
    if (value != NULL) inputs[count++] = (os_run_input){.name = graph->values[v].name, .value = value};
  }
  os_run *run = NULL;
  if (os_run_start(session, inputs, count, NULL, 0, &run) == OS_OK) os_run_step(run, STEPS);
  os_run_free(run);
}

static void run_fuzz_model(os_memory *memory, os_arena *arena, os_document *document) {
  os_types *types = os_types_new(arena);
  os_registry *registry = types == NULL ? NULL : os_registry_new(arena, types, op_families);
  os_report report;
  os_report_init(&report, arena, false, 100);
  os_model *model = NULL;
  if (registry == NULL || os_model_build(document, registry, NULL, &report, &model) != OS_OK) return;
  os_check_options options = {.infer = true};
  os_model_check(model, &options, &report);
  os_session *session = NULL;
  os_trouble trouble = {.arena = arena};
  if (os_session_new(memory, registry, model, NULL, &trouble, &session) == OS_OK)
    run_fuzz_run(memory, arena, registry, model, session);
  os_session_free(session);
  os_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  os_memory memory = {.limit = MEMORY};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_document_options options = {.as = OS_KIND_MODEL};
  os_report report;
  os_report_init(&report, &arena, false, 100);
  os_source source = os_source_memory(data, size);
  os_document *document = NULL;
  if (os_document_open(&memory, &source, &options, &report, &document) == OS_OK)
    run_fuzz_model(&memory, &arena, document);
  os_document_close(document);
  os_arena_clear(&arena);
  if (memory.used != 0) __builtin_trap(); // a leak
  return 0;
}
