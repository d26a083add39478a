// Any bytes as what a function operator runs: registered, then called by a model that outlives the registration.
#include "even_model.h"
#include "families.h"

#include <opspec/opspec.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(opspec_env *env, opspec_session *session) {
  const int64_t n = 4;
  op_value *x = opspec_tensor(env, OP_FLOAT, 1, &n);
  if (x == NULL) return;
  for (int i = 0; i < 4; i++) ((float *)op_value_edit(x)->data)[i] = (float)i - 1.5f;
  opspec_input input = {OS_STR("x"), x};
  opspec_run *job = NULL;
  if (opspec_run_start(session, &input, 1, NULL, 0, &job) != OS_OK) return;
  for (int steps = 0; steps < 50 && opspec_run_step(job, 10) == OS_YIELD; steps++) {
  }
  opspec_run_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  opspec_env *env;
  opspec_operator *operator;
  opspec_options options = {.memory = 64u << 20, .bytes = 16u << 20, .families = op_families};
  if (opspec_env_new(&options, &env) != OS_OK) abort();
  os_str body = {(const char *)data, size};
  if (opspec_register_function(env, OS_STR(even_document), 0, body, &operator) == OS_OK) {
    opspec_model *loaded;
    opspec_session *session = NULL;
    opspec_check_options check = {.full = true};
    void *block = opspec_alloc(env, sizeof even_model);
    if (block == NULL) abort();
    memcpy(block, even_model, sizeof even_model);
    if (opspec_model_load(env, (os_str){block, sizeof even_model}, &(opspec_files){0}, &loaded) != OS_OK)
      abort();
    opspec_model_check(loaded, &check);
    opspec_session_new(loaded, 1, 0, &session);
    opspec_model_free(loaded);
    opspec_unregister(operator);
    if (session != NULL) run(env, session);
    opspec_session_free(session);
  }
  opspec_env_free(env);
  return 0;
}
