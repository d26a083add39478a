#ifndef OPSPEC_TEXT_H
#define OPSPEC_TEXT_H

#include "bytes.h"
#include "memory.h"

// A growing text. Trouble is sticky: after memory ran out every call does nothing and `failed` stays true, so
// that a writer checks once, at its end.
typedef struct os_text {
  os_memory *memory;
  char *data;
  size_t len, room;
  bool failed;
  // Where the text goes that does not stay: it takes what was written (false: it cannot) whenever OS_TEXT_PIECE bytes or more
  // have come together, and `data` has only what came after. NULL: all of it stays.
  bool (*take)(void *context, os_str written);
  void *context;
} os_text;

enum { OS_TEXT_PIECE = 1 << 16 };

void os_text_init(os_text *self, os_memory *memory);
void os_text_clear(os_text *self);
void os_text_put(os_text *self, os_str text);
void os_text_puts(os_text *self, const char *text);
void os_text_char(os_text *self, char c);
void os_text_format(os_text *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Room for `more` further bytes that the caller fills; NULL when memory ran out. len grows by `more`.
char *os_text_extend(os_text *self, size_t more);
static inline os_str os_text_str(const os_text *self) { return (os_str){self->data, self->len}; }

#endif
