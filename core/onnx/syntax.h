#ifndef OPSPEC_SYNTAX_H
#define OPSPEC_SYNTAX_H

#include "document.h"
#include "form.h"

// ONNX's own textual syntax (ONNX, docs/Syntax.md) of ModelProto, GraphProto and FunctionProto:
//   <ir_version: 8, opset_import: ["" : 17]>
//   agraph (float[N] x) => (float[N] y) { y = Relu (x) }
// What it cannot hold stands behind it, in lines that are comments to other programs (form_rest.h); a tensor whose list of
// elements begins with the comment #raw has them in raw_data. So nothing is lost but what NaNs carry.

bool os_syntax_has(const ProtobufCMessageDescriptor *type);
// form.lost as os_form_write.
os_status os_syntax_write(os_text *out, const os_source *source, const void *message, os_report *report);
// form.syntax, form.value, form.depth, form.field.
os_status os_syntax_read(const os_form_input *input, void **message);

#endif
