#include "schema_rules.h"

#include "rule_texts.h"
#include "schema.h"

#define OS_RULE OS_RULE_DEFINE
#include "schema_rules.def"
#undef OS_RULE

static const os_rule *const rules[] = {
#define OS_RULE OS_RULE_POINTER
#include "schema_rules.def"
#undef OS_RULE
};

const os_rule_table os_schema_rules = {rules, sizeof rules / sizeof *rules};
