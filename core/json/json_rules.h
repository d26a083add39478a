#ifndef OPSPEC_JSON_RULES_H
#define OPSPEC_JSON_RULES_H

#include "report.h"

#define OS_RULE OS_RULE_DECLARE
#include "json_rules.def"
#undef OS_RULE

#endif
