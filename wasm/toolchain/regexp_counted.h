#ifndef OPSPEC_REGEXP_COUNTED_H
#define OPSPEC_REGEXP_COUNTED_H

#include <stddef.h>
#include <stdint.h>

// What one step of a compiled expression costs at most, in units of a usual one: how many captures go back and forth, and
// how far it can run between two steps. *text is 1 when a step may also go over what was matched before.
uint32_t os_regexp_step_cost(const uint8_t *code, int *text);

// As lre_exec from the start of the text. lre_check_timeout is asked after *steps steps, and should then end it; *steps gets
// how many were left. wide: 0 = bytes, 1 = UTF-16 (`len` units).
int os_regexp_exec(uint8_t **capture, const uint8_t *code, const void *text, size_t len, int wide,
                   void *opaque, int *steps);

#endif
