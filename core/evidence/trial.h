#ifndef OPSPEC_TRIAL_H
#define OPSPEC_TRIAL_H

#include "case.h"
#include "model.h"

extern const os_rule_table os_trial_rules; // evidence.value, evidence.error, evidence.nondeterministic

// One case being executed: the way of every model, made, checked, inferred and run; then its outputs are compared.
typedef struct os_trial os_trial;

typedef struct os_trial_setting {
  os_memory *memory;
  os_registry *registry;
  const os_limits *limits;
  bool check; // the model check and inference come first
} os_trial_setting;

typedef enum os_verdict { OS_PASSED, OS_FAILED, OS_SKIPPED, OS_ERRORED } os_verdict;

// Everything up to the run's first step. What is wrong is the verdict's business; only exhausted memory is a status.
os_status os_trial_new(const os_trial_setting *setting, const os_case *item, os_trial **out);
// OS_OK: ask for the verdict. OS_YIELD, OS_NEEDS_HOST: as os_run_step.
os_status os_trial_step(os_trial *self, uint64_t budget);
void os_trial_answer(os_trial *self, os_status status, os_str message);
// Judges. `misbehaved`: the kernel failed by a fault of its own. The report is finished; both live until os_trial_free.
os_verdict os_trial_end(os_trial *self, bool misbehaved, os_str *message, const os_report **report);
void os_trial_free(os_trial *self); // accepts NULL

#endif
