#ifndef OPSPEC_ONNX_RULES_H
#define OPSPEC_ONNX_RULES_H

#include "report.h"

#define OS_RULE OS_RULE_DECLARE
#include "onnx_rules.def"
#undef OS_RULE

extern const os_rule_table os_onnx_rules;

#endif
