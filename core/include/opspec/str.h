#ifndef OPSPEC_STR_H
#define OPSPEC_STR_H

#include <stddef.h>

// A borrowed run of bytes, usually UTF-8. Not NUL-ended. data may be NULL when len is 0.
typedef struct os_str {
  const char *data;
  size_t len;
} os_str;

#define OS_STR(literal) ((os_str){(literal), sizeof(literal) - 1})
#define OS_STR_INIT(literal) {(literal), sizeof(literal) - 1}

#endif
