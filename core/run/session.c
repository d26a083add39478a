#include "session.h"

#include "attribute_fit.h"
#include "execute.h"
#include "map.h"
#include "text.h"

// ---- Making a session -------------------------------------------------------------------------------------

static bool os_step__runs(const os_step *step) {
  if (step->kind != OS_STEP_COMPUTE) return true;
  const op_row *row = step->row;
  return row != NULL && (row->compute != NULL || row->loop != NULL || (row->traits & OP_VIEW) != 0);
}

static void os_session__name(os_text *text, os_map *seen, const os_step *step, os_arena *arena) {
  const op_node *node = &step->source->node;
  os_str name = node->domain.len == 0
                    ? os_arena_format(arena, "%.*s", OS_ARG(node->op_type))
                    : os_arena_format(arena, "%.*s::%.*s", OS_ARG(node->domain), OS_ARG(node->op_type));
  if (node->schema != NULL)
    name = os_arena_format(arena, "%.*s (version %d)", OS_ARG(name), node->schema->since);
  bool added = false;
  if (os_map_put(seen, name, &added) == NULL || !added) return;
  os_text_puts(text, text->len > 0 ? ", " : "there is no kernel for ");
  os_text_put(text, name);
}

// A function that was not put in the place of its call: a circle is a fault of the model, which the checker tells.
static os_status os_session__cut(os_cut cut, os_trouble *trouble) {
  if (cut == OS_CUT_CIRCLE) return OS_MALFORMED;
  if (trouble != NULL) trouble->message = os_str_of(os_cut_text(cut));
  return OS_LIMIT;
}

static os_status os_session__supported(os_session *self, os_trouble *trouble) {
  os_map seen;
  os_map_init(&seen, self->arena);
  os_text names;
  os_text_init(&names, self->memory);
  for (size_t p = 0; p < self->programs.count; p++) {
    const os_program *program = self->programs.items[p];
    for (uint32_t s = 0; s < program->step_count; s++) {
      const os_step *step = &program->steps[s];
      if (os_step__runs(step)) continue;
      if (step->source->cut != OS_CUT_NOT) {
        os_text_clear(&names);
        return os_session__cut(step->source->cut, trouble);
      }
      os_session__name(&names, &seen, step, self->arena);
    }
  }
  os_status status = names.failed ? OS_OUT_OF_MEMORY : names.len > 0 ? OS_UNSUPPORTED : OS_OK;
  if (status == OS_UNSUPPORTED && trouble != NULL) {
    trouble->message = os_arena_copy(trouble->arena, os_text_str(&names));
    trouble->status = OS_UNSUPPORTED;
  }
  os_text_clear(&names);
  return status;
}

// Kernels of custom operators rely on what their documents say of attributes.
static os_status os_session__attributes(os_session *self, os_trouble *trouble) {
  for (size_t p = 0; p < self->programs.count; p++) {
    const os_program *program = self->programs.items[p];
    for (uint32_t s = 0; s < program->step_count; s++) {
      const os_step *step = &program->steps[s];
      os_arena *arena = trouble == NULL ? self->arena : trouble->arena;
      os_str fault = op_attributes_fault(&step->source->node, arena);
      if (fault.len == 0 && fault.data != NULL) continue;
      OS_TRY_ALLOC(fault.data);
      if (trouble == NULL) return OS_MALFORMED;
      trouble->message = fault;
      trouble->path = os_step_path(arena, program, step);
      return OS_MALFORMED;
    }
  }
  return OS_OK;
}

os_status os_session_main(os_session *self, const bool *overridden, os_program **out) {
  const op_graph *graph = os_model_graph(self->model);
  for (size_t i = 0; i < self->mains.count; i++) {
    *out = self->mains.items[i];
    if (overridden == NULL
            ? (*out)->overridden == NULL
            : (*out)->overridden != NULL && memcmp((*out)->overridden, overridden, graph->value_count) == 0)
      return OS_OK;
  }
  os_program **slot = OS_PUSH(self->arena, &self->mains);
  OS_TRY_ALLOC(slot);
  self->mains.count--; // counted when it is complete
  bool *kept = NULL;
  if (overridden != NULL) {
    kept = OS_ARENA_ARRAY(self->arena, graph->value_count + 1, bool);
    OS_TRY_ALLOC(kept);
    memcpy(kept, overridden, graph->value_count);
  }
  size_t first = self->programs.count;
  OS_TRY(os_program_new(self, graph, kept, out));
  self->mains.items[self->mains.count++] = *out;
  if (overridden == NULL) return OS_OK; // os_session_new folds when it knows that all is supported
  for (size_t p = first; p < self->programs.count; p++) OS_TRY(os_program_fold(self->programs.items[p]));
  return OS_OK;
}

static os_status os_session__inputs(os_session *self) {
  const op_graph *graph = os_model_graph(self->model);
  self->input_facts = OS_ARENA_ARRAY(self->arena, graph->input_count + 1, os_fact);
  OS_TRY_ALLOC(self->input_facts);
  for (uint32_t i = 0; i < graph->input_count; i++) {
    self->input_facts[i].rank = -1;
    const Onnx__ValueInfoProto *declared =
        graph->inputs[i] < 0 ? NULL : graph->values[graph->inputs[i]].declared;
    if (declared != NULL) self->input_facts[i] = os_inference_declared(&self->inferring, declared);
  }
  return OS_OK;
}

static os_status os_session__make(os_session *self, const os_session_options *options, os_trouble *trouble) {
  os_program *main;
  self->stop = options == NULL ? NULL : options->stop;
  OS_TRY(os_session__inputs(self));
  OS_TRY(os_session_main(self, NULL, &main));
  OS_TRY(os_stop_check(self->stop));
  OS_TRY(os_session__supported(self, trouble));
  OS_TRY(os_session__attributes(self, trouble));
  for (size_t p = 0; p < self->programs.count; p++) {
    OS_TRY(os_stop_check(self->stop));
    OS_TRY(os_program_fold(self->programs.items[p]));
  }
  self->stop = NULL;
  return OS_OK;
}

os_status os_session_new(os_memory *memory, os_registry *registry, os_model *model,
                         const os_session_options *options, os_trouble *trouble, os_session **out) {
  os_session *self = os_memory_calloc(memory, sizeof *self);
  *out = NULL;
  OS_TRY_ALLOC(self);
  self->memory = memory;
  self->registry = registry;
  self->model = model;
  self->arena = &self->own_arena;
  self->seed = options == NULL ? 0 : options->seed;
  os_arena_init(&self->own_arena, memory);
  os_text_init(&self->signature, memory);
  os_inference_init(&self->inferring, self->arena, model, registry, NULL);
  os_status status = os_session__make(self, options, trouble);
  if (status == OS_OK) {
    *out = self;
    return OS_OK;
  }
  if (trouble != NULL && trouble->message.data == NULL) trouble->message = os_str_of(os_status_text(status));
  if (trouble != NULL) trouble->status = status;
  os_session_free(self);
  return status;
}

void os_session_free(os_session *self) {
  if (self == NULL) return;
  for (size_t p = self->programs.count; p-- > 0;) os_program_clear(self->programs.items[p]);
  os_text_clear(&self->signature);
  os_arena_clear(&self->own_arena);
  os_memory_free(self->memory, self);
}
