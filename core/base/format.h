#ifndef OPSPEC_FORMAT_H
#define OPSPEC_FORMAT_H

#include "arena.h"

#include <stdarg.h>

// printf's formats: d i u x X c s e f g with flags - 0 + space, width, precision and h l z lengths. As vsnprintf: at most
// room - 1 bytes and a NUL are written, the whole length is answered. Numbers have all their digits rounded exactly;
// precisions of floating point beyond 40 are taken for 40.
int os_format_list(char *to, size_t room, const char *format, va_list arguments);
int os_format(char *to, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Ended by a NUL that is not counted; data is NULL when memory ran out.
os_str os_arena_format_list(os_arena *arena, const char *format, va_list arguments);

#endif
