#include "onnx_rules.h"

#include "rule_texts.h"

#define OS_RULE OS_RULE_DEFINE
#include "onnx_rules.def"
#undef OS_RULE

static const os_rule *const rules[] = {
#define OS_RULE OS_RULE_POINTER
#include "onnx_rules.def"
#undef OS_RULE
};

const os_rule_table os_onnx_rules = {rules, sizeof rules / sizeof *rules};
