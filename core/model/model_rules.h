#ifndef OPSPEC_MODEL_RULES_H
#define OPSPEC_MODEL_RULES_H

#include "report.h"

#define OS_RULE OS_RULE_DECLARE
#include "model_rules.def"
#undef OS_RULE

extern const os_rule_table os_model_rules;

#endif
