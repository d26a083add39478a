#ifndef OPSPEC_WIRE_RULES_H
#define OPSPEC_WIRE_RULES_H

#include "report.h"

#define OS_RULE OS_RULE_DECLARE
#include "wire_rules.def"
#undef OS_RULE

extern const os_rule_table os_wire_rules;

#endif
