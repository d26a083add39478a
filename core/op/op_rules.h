#ifndef OPSPEC_OP_RULES_H
#define OPSPEC_OP_RULES_H

#include "report.h"

#define OS_RULE OS_RULE_DECLARE
#include "op_rules.def"
#undef OS_RULE

extern const os_rule_table os_op_rules;

#endif
