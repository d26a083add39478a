#ifndef OPSPEC_JSON_WRITE_H
#define OPSPEC_JSON_WRITE_H

#include "json.h"
#include "text.h"

// A string with quotes, escaped as RFC 8785 wants it (shortest escapes, everything from U+0020 on as it is). Bytes that
// are no UTF-8 become U+FFFD.
void os_json_write_string(os_text *out, os_str text);
// The number in ECMAScript's shortest form; NaN and infinities become null.
void os_json_write_double(os_text *out, double value);
// The value without white space, numbers and key order as written.
void os_json_write_plain(os_text *out, const os_json_document *document, const os_json *node);
// RFC 8785: keys by UTF-16 code units, numbers as binary64. A number beyond binary64 has no such form and is written as
// its text. `arena` holds what is needed to sort.
os_status os_json_write_canonical(os_text *out, os_arena *arena, const os_json_document *document,
                                  const os_json *node);
// The whole document so. A number beyond binary64 is json.number-range.
os_status os_json_write_canonical_document(os_text *out, os_arena *arena, const os_json_document *document,
                                           os_report *report);
// The value as it would stand at `indent` levels in a document of two-blank indentation.
void os_json_write_pretty(os_text *out, const os_json_document *document, const os_json *node,
                          unsigned indent);

#endif
