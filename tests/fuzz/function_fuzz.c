// Any bytes as what a function operator runs: registered, then called by a model that outlives the registration.
#include "families.h"

#include <opspec/opspec.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char document[] = "{\"kind\":\"runlocal.operator-extension\",\"protocol_version\":\"1.0\","
                               "\"name\":\"even\",\"version\":\"1\","
                               "\"authority\":\"specification\",\"operator\":{\"domain\":\"org.test\",\"op_"
                               "type\":\"Even\",\"overload\":\"\"},"
                               "\"inputs\":[{\"name\":\"X\",\"cardinality\":\"single\",\"type_parameter\":"
                               "\"T\",\"description\":\"Input.\"}],"
                               "\"outputs\":[{\"name\":\"Y\",\"cardinality\":\"single\",\"type_parameter\":"
                               "\"T\",\"description\":\"Output.\"}],"
                               "\"type_parameters\":{\"T\":{\"allowed_types\":[\"tensor(float)\"],"
                               "\"description\":\"Type.\"}},\"attributes\":{},"
                               "\"input_conditions\":[],\"shape_rules\":[\"`Y` has the shape of "
                               "`X`.\"],\"boundary_behavior\":\"As it is.\","
                               "\"numerical_behavior\":\"Exact.\",\"nondeterminism\":\"None.\",\"state_"
                               "effects\":\"None.\",\"reference\":null,"
                               "\"tests\":[]}";

// x: float[N] -> Neg -> Even -> y
static const unsigned char model[] = {
    0x08, 0x0a,                                                                  // ir_version 10
    0x3a, 0x4a,                                                                  // graph
    0x0a, 0x0b, 0x0a, 0x01, 'x',  0x12, 0x01, 'a',  0x22, 0x03, 'N',  'e',  'g', // node
    0x0a, 0x16, 0x0a, 0x01, 'a',  0x12, 0x01, 'y',  0x22, 0x04, 'E',  'v',  'e',  'n',  0x3a, 0x08, // node
    'o',  'r',  'g',  '.',  't',  'e',  's',  't',                                                  //
    0x12, 0x01, 'g',                                                                                // name
    0x5a, 0x0f, 0x0a, 0x01, 'x',  0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02,       // input
    0x12, 0x00,                                                                                     //
    0x62, 0x0f, 0x0a, 0x01, 'y',  0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02,       // output
    0x12, 0x00,                                                                                     //
    0x42, 0x04, 0x0a, 0x00, 0x10, 0x15,                                                 // opset_import 21
    0x42, 0x0c, 0x0a, 0x08, 'o',  'r',  'g',  '.',  't',  'e',  's',  't',  0x10, 0x01, //
};

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
  if (opspec_register_function(env, OS_STR(document), 0, body, &operator) == OS_OK) {
    opspec_model *loaded;
    opspec_session *session = NULL;
    opspec_check_options check = {.full = true};
    void *block = opspec_alloc(env, sizeof model);
    if (block == NULL) abort();
    memcpy(block, model, sizeof model);
    if (opspec_model_load(env, (os_str){block, sizeof model}, &(opspec_files){0}, &loaded) != OS_OK) abort();
    opspec_model_check(loaded, &check);
    opspec_session_new(loaded, 1, &session);
    opspec_model_free(loaded);
    opspec_unregister(operator);
    if (session != NULL) run(env, session);
    opspec_session_free(session);
  }
  opspec_env_free(env);
  return 0;
}
