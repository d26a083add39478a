#include "model_rules.h"

#include "rule_texts.h"

#define OS_RULE OS_RULE_DEFINE
#include "model_rules.def"
#undef OS_RULE

static const os_rule *const rules[] = {
#define OS_RULE OS_RULE_POINTER
#include "model_rules.def"
#undef OS_RULE
};

const os_rule_table os_model_rules = {rules, sizeof rules / sizeof *rules};
