#include "wire_rules.h"

#include "rule_texts.h"

#define OS_RULE OS_RULE_DEFINE
#include "wire_rules.def"
#undef OS_RULE

static const os_rule *const rules[] = {
#define OS_RULE OS_RULE_POINTER
#include "wire_rules.def"
#undef OS_RULE
};

const os_rule_table os_wire_rules = {rules, sizeof rules / sizeof *rules};
