#define OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/plugin.h>

#include "pick.c"

OP_PLUGIN(registry) { return op_plugin_add_family(registry, &op_family_pick); }
