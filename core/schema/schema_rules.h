#ifndef OPSPEC_SCHEMA_RULES_H
#define OPSPEC_SCHEMA_RULES_H

#include "report.h"

#define OS_RULE OS_RULE_DECLARE
#include "schema_rules.def"
#undef OS_RULE

#endif
