#ifndef OPSPEC_STRING_FORMAT_H
#define OPSPEC_STRING_FORMAT_H

#include "pattern.h"

// What a format asks for that its pattern does not say, of a text that matches the pattern.
typedef enum os_string_format_more {
  OS_FORMAT_NO_MORE,
  OS_FORMAT_LEAP,  // a leap second ends a day of UTC
  OS_FORMAT_HOST,  // the text is a host name
  OS_FORMAT_MAIL,  // so is the part behind the @
  OS_FORMAT_REGEX, // it is a pattern
} os_string_format_more;

// A named format of strings.
typedef struct os_string_format {
  const char *name, *example;
  const char *pattern; // that the whole text matches
  os_string_format_more more;
} os_string_format;

// NULL when the name is unknown: then every string passes.
const os_string_format *os_string_format_find(os_str name);

// Of a host name in Unicode, all labels joined by full stops: IDNA2008 (RFC 5892) and the rule of directions (RFC 5893).
extern const char os_string_format_host[];

// Whether the text has what its format's pattern does not say. `host`: os_string_format_host compiled. Without memory the
// answer is false. *work gets what it took, in steps of a pattern.
bool os_string_format_check(const os_string_format *self, os_str text, const os_pattern *host,
                            os_memory *memory, uint64_t *work);

#endif
