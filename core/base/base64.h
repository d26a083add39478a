#ifndef OPSPEC_BASE64_H
#define OPSPEC_BASE64_H

#include "text.h"

#include <opspec/status.h>

// RFC 4648, with padding.
void os_base64_write(os_text *out, os_str bytes);
// Takes both alphabets (+/ and -_), with or without padding. `to` has room for text.len / 4 * 3 + 3 bytes. False: it is none.
bool os_base64_read(os_str text, char *to, size_t *size);

#endif
