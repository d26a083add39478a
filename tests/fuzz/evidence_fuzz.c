// Any bytes as evidence: a .zip when they begin like one, else an evidence document. Checked, then run as far as it goes.
#include "families.h"

#include <opspec/opspec.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
  opspec_env *env;
  os_str bytes;
} input;

static os_str copy_of(opspec_env *env, os_str bytes) {
  char *block = opspec_alloc(env, bytes.len);
  if (block == NULL) abort();
  if (bytes.len > 0) memcpy(block, bytes.data, bytes.len);
  return (os_str){block, bytes.len};
}

static opspec_file file(void *context, os_str name, os_str *bytes, opspec_far *far) {
  (void)far;
  input *self = context;
  if (name.len != 6 || memcmp(name.data, "a.json", 6) != 0) return OPSPEC_FILE_MISSING;
  *bytes = copy_of(self->env, self->bytes);
  return OPSPEC_FILE_FOUND;
}

static void run_all(opspec_env *env, opspec_test *test) {
  for (size_t i = 0; i < 4; i++) {
    opspec_trial *trial;
    if (opspec_trial_start(test, i, true, &trial) != OS_OK) return;
    for (int steps = 0; steps < 50 && opspec_trial_step(trial, 10) == OS_YIELD; steps++) {
    }
    if (opspec_trial_end(trial, false) != OS_OK && opspec_memory_used(env) < 1u << 20) abort();
    opspec_trial_free(trial);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input self = {NULL, {(const char *)data, size}};
  opspec_options options = {.memory = 64u << 20,
                            .bytes = 16u << 20,
                            .families = op_families,
                            .host = {.context = &self, .file = file}};
  if (opspec_env_new(&options, &self.env) != OS_OK) abort();
  opspec_check_options check = {.full = true, .packed = size % 2 == 1};
  opspec_check(self.env, self.bytes, &check);
  bool zip = size > 2 && data[0] == 'P' && data[1] == 'K';
  os_str name = OS_STR("a.json");
  opspec_files files = {.given = !zip, .complete = true, .names = &name, .count = 1};
  opspec_test *test;
  if (opspec_test_open(self.env, zip ? copy_of(self.env, self.bytes) : (os_str){NULL, 0}, &files, &test) ==
      OS_OK) {
    run_all(self.env, test);
    opspec_test_free(test);
  }
  opspec_env_free(self.env);
  return 0;
}
