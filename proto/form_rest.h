#ifndef OPSPEC_FORM_REST_H
#define OPSPEC_FORM_REST_H

#include "form_read.h"

// What a text says beside a syntax that cannot hold all of a message: comment lines behind it, each with a path and fields in
// the text format,
//   #: graph.node[3] {doc_string: "..."}      fields to set or to append to
//   #: graph.node[3].attribute[0] = {...}     the whole message
// so that other programs read what the syntax holds, and ours all.

// Appends the lines that make `message` of `other`, which has been read from the syntax.
os_status os_form_rest_write(os_text *out, const os_source *source, const void *message, const void *other,
                             os_report *report);
// Reads the lines in text[from, ...) into the root. Lines that do not begin with "#:" are passed over.
void os_form_rest_read(os_form_reader *self, void *root, size_t from);

#endif
