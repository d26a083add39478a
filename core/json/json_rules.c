#include "json_rules.h"

#include "json.h"
#include "rule_texts.h"

#define OS_RULE OS_RULE_DEFINE
#include "json_rules.def"
#undef OS_RULE

static const os_rule *const rules[] = {
#define OS_RULE OS_RULE_POINTER
#include "json_rules.def"
#undef OS_RULE
};

const os_rule_table os_json_rules = {rules, sizeof rules / sizeof *rules};
