#ifndef OPSPEC_MESSAGE_JSON_H
#define OPSPEC_MESSAGE_JSON_H

#include "report.h"
#include "type.h"

// The first thing that is wrong with a text of JSON that says a TensorProto, SparseTensorProto, GraphProto or TypeProto
// (`message`): a sentence without a full stop and where in the text; empty = nothing.
os_status os_message_json_fault(os_arena *arena, os_types *types, const char *message, os_str text,
                                os_str *fault, os_range *range);

#endif
