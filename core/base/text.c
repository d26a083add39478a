#include "text.h"

#include "format.h"

#include <stdarg.h>

void os_text_init(os_text *self, os_memory *memory) { *self = (os_text){.memory = memory}; }

void os_text_clear(os_text *self) {
  os_memory_free(self->memory, self->data);
  os_text_init(self, self->memory);
}

char *os_text_extend(os_text *self, size_t more) {
  size_t need;
  if (self->failed || !os_size_add(self->len, more, &need)) {
    self->failed = true;
    return NULL;
  }
  if (need > self->room && self->take != NULL && self->len >= OS_TEXT_PIECE) {
    self->failed = !self->take(self->context, os_text_str(self));
    self->len = 0;
    need = more;
    if (self->failed) return NULL;
  }
  if (need > self->room) {
    size_t room = self->room < 128 ? 256 : self->room + self->room / 2;
    if (room < need) room = need;
    char *data = os_memory_realloc(self->memory, self->data, room);
    if (data == NULL) {
      self->failed = true;
      return NULL;
    }
    self->data = data;
    self->room = room;
  }
  char *start = self->data + self->len;
  self->len = need;
  return start;
}

void os_text_put(os_text *self, os_str text) {
  if (text.len == 0) return;
  char *to = os_text_extend(self, text.len);
  if (to != NULL) os_bytes_copy(to, text.data, text.len);
}

void os_text_puts(os_text *self, const char *text) { os_text_put(self, os_str_of(text)); }

void os_text_char(os_text *self, char c) {
  char *to = os_text_extend(self, 1);
  if (to != NULL) *to = c;
}

void os_text_format(os_text *self, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char small[256];
  int len = os_format_list(small, sizeof small, format, arguments);
  if ((size_t)len < sizeof small) {
    os_text_put(self, (os_str){small, (size_t)len});
  } else {
    // The ending NUL needs a place of its own for a moment.
    char *to = os_text_extend(self, (size_t)len + 1);
    if (to != NULL) {
      os_format_list(to, (size_t)len + 1, format, arguments);
      self->len--;
    }
  }
  va_end(arguments);
}
