#include "rule_texts.h"
#include "spec_check.h"

#define SPEC_RULE(c_name, check, ...) OS_RULE_DEFINE(c_name, __VA_ARGS__)
#include "spec_rules.def"
#undef SPEC_RULE
#define OS_RULE OS_RULE_DEFINE
#include "evidence_rules.def"
#undef OS_RULE

static const os_rule *const spec_rules[] = {
#define SPEC_RULE(c_name, check, ...) OS_RULE_POINTER(c_name)
#include "spec_rules.def"
#undef SPEC_RULE
};
const os_rule_table os_spec_rules = {spec_rules, sizeof spec_rules / sizeof *spec_rules};

static const os_rule *const evidence_rules[] = {
#define OS_RULE OS_RULE_POINTER
#include "evidence_rules.def"
#undef OS_RULE
};
const os_rule_table os_evidence_rules = {evidence_rules, sizeof evidence_rules / sizeof *evidence_rules};

static os_spec_check_function *const checks[] = {
#define SPEC_RULE(c_name, check, ...) check,
#include "spec_rules.def"
#undef SPEC_RULE
};

void os_checking_list(os_spec_checker *checker) {
  checker->check_count = 0;
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    bool again = checks[i] == NULL;
    for (size_t j = 0; j < checker->check_count && !again; j++) again = checker->checks[j] == checks[i];
    if (!again) checker->checks[checker->check_count++] = checks[i];
  }
}

void os_checking_run(os_checking *self) {
  for (size_t i = 0; i < self->checker->check_count && self->status == OS_OK; i++)
    self->checker->checks[i](self);
}
