#ifndef OPSPEC_NODE_JSON_H
#define OPSPEC_NODE_JSON_H

#include "fact.h"
#include "text.h"

// What a kernel in the host is told of its node, as JSON.

// "opType":..., "domain":..., "sinceVersion":..., "attributes":{ name: [kind, value] }, without braces around it. kind is
// onnx.proto's number. Integers are strings, as are NaN and infinities; a string that is no UTF-8 is { "bytes": [...] };
// a tensor is { "address": of its op_value }; a type its expression; a body { "inputs": n, "outputs": n }.
void os_node_write_json(os_text *out, os_arena *scratch, const os_types *types, const op_node *node);

// { node's members, "requested": [bools], "inputs": [null or { "type", "shape", "address"?, "integers"? }] }. Dims are
// numbers, expressions as text, or null. address: of the op_value, when the whole value is known; integers: strings,
// when it is a known list of integers.
os_status os_infer_write_json(os_text *out, op_infer *ctx);
// Takes [null or { "type"?, "shape"? }]. A dim's text that an input's dim has as well is that dim, another one a symbol.
// Faults end with op_infer_fail.
os_status os_infer_read_json(op_infer *ctx, os_str json);

#endif
