#include "lexer.h"

#include "text_class.h"
#include "utf8.h"

static bool os_lexer__letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool os_lexer__digit(char c) { return c >= '0' && c <= '9'; }

// The character at `at`, 0 behind the end.
static char os_lexer__at(const os_lexer *self, size_t at) {
  return at < self->text.len ? self->text.data[at] : 0;
}

static void os_lexer__fault(os_lexer *self, size_t start, size_t end, const char *fault) {
  self->token = OS_TOKEN_FAULT;
  self->start = start;
  self->end = end < self->text.len ? end : self->text.len;
  self->fault = fault;
}

static void os_lexer__skip(os_lexer *self) {
  size_t at = self->end, note = SIZE_MAX;
  for (; at < self->text.len; at++) {
    char c = self->text.data[at];
    if (c == ' ' || (c >= '\t' && c <= '\r')) continue;
    if (c != '#') break;
    size_t start = at;
    while (at < self->text.len && self->text.data[at] != '\n') at++;
    if (os_lexer__at(self, start + 1) == ':' && note > start) note = start;
    if (os_str_is(os_str_slice(self->text, start, at), "#raw")) self->raw = true;
  }
  self->start = self->end = at;
  self->note = note > at ? at : note;
}

static size_t os_lexer__digits(const os_lexer *self, size_t at) {
  while (os_lexer__digit(os_lexer__at(self, at))) at++;
  return at;
}

static void os_lexer__number(os_lexer *self) {
  size_t at = self->start;
  if (os_lexer__at(self, at) == '0' && (os_lexer__at(self, at + 1) | 0x20) == 'x') {
    at += 2;
    while (os_lexer__digit(os_lexer__at(self, at)) || os_lexer__letter(os_lexer__at(self, at))) at++;
  } else {
    at = os_lexer__digits(self, at);
    if (os_lexer__at(self, at) == '.') at = os_lexer__digits(self, at + 1);
    if ((os_lexer__at(self, at) | 0x20) == 'e') {
      char sign = os_lexer__at(self, at + 1);
      size_t digits = at + 1 + (sign == '-' || sign == '+');
      at = os_lexer__digits(self, digits);
      if (at == digits) {
        os_lexer__fault(self, self->start, at, "an exponent has no digits");
        return;
      }
    }
    if ((os_lexer__at(self, at) | 0x20) == 'f') at++;
  }
  self->token = OS_TOKEN_NUMBER;
  self->end = at;
  self->value = os_str_slice(self->text, self->start, at);
  if (os_lexer__letter(os_lexer__at(self, at)))
    os_lexer__fault(self, self->start, at + 1, "a number ends in a letter");
}

// The escape at *at, behind its backslash, to `to`. False: there is no such escape.
static bool os_lexer__escape(const os_lexer *self, size_t *at, size_t end, char **to) {
  static const char from[] = "abfnrtv\\'\"?", into[] = "\a\b\f\n\r\t\v\\'\"?";
  char c = self->text.data[(*at)++];
  const char *known = c == 0 ? NULL : strchr(from, c);
  if (known != NULL) {
    *(*to)++ = into[known - from];
    return true;
  }
  bool octal = c >= '0' && c <= '7', point = c == 'u' || c == 'U';
  if (!octal && c != 'x' && c != 'X' && !point) return false;
  size_t most = octal ? 3 : c == 'u' ? 4 : c == 'U' ? 8 : 2, n = 0;
  uint32_t value = 0;
  if (octal) --*at;
  for (; n < most && *at < end; n++, ++*at) {
    int digit = os_hex_digit(self->text.data[*at]);
    if (digit < 0 || (octal && digit > 7)) break;
    value = value * (octal ? 8 : 16) + (uint32_t)digit;
  }
  if (point) {
    if (n < most || value > 0x10ffff || (value & 0xfffff800) == 0xd800) return false;
    *to += os_utf8_put(*to, value);
  } else {
    *(*to)++ = (char)value;
  }
  return n > 0 && (point || value < 256);
}

static void os_lexer__string(os_lexer *self) {
  char quote = self->text.data[self->start];
  size_t first = self->start + 1, at = first;
  bool escaped = false;
  for (; os_lexer__at(self, at) != quote || at >= self->text.len; at++) {
    if (at >= self->text.len || (!self->onnx && self->text.data[at] == '\n')) {
      os_lexer__fault(self, self->start, at, "a string has no end");
      return;
    }
    if (self->text.data[at] != '\\') continue;
    escaped = true;
    if (++at == self->text.len) at--;
  }
  self->token = OS_TOKEN_STRING;
  self->end = at + 1;
  self->value = os_str_slice(self->text, first, at);
  if (!escaped) return;
  char *bytes = os_arena_alloc(self->arena, at - first), *to = bytes;
  if (bytes == NULL) {
    *self = (os_lexer){.text = {"", 0}, .token = OS_TOKEN_END, .value = {"", 0}, .failed = true};
    return;
  }
  while (first < at) {
    char c = self->text.data[first++];
    if (c != '\\') {
      *to++ = c;
    } else if (self->onnx) {
      *to++ = self->text.data[first++];
    } else if (!os_lexer__escape(self, &first, at, &to)) {
      os_lexer__fault(self, first - 2, first, "a string has an escape that does not exist");
      return;
    }
  }
  self->value = (os_str){bytes, (size_t)(to - bytes)};
}

void os_lexer_next(os_lexer *self) {
  if (self->token == OS_TOKEN_FAULT) return;
  self->raw = false;
  self->before = self->end;
  os_lexer__skip(self);
  self->sign = 0;
  char c = os_lexer__at(self, self->start);
  if (self->start >= self->text.len) {
    self->token = OS_TOKEN_END;
  } else if (os_lexer__letter(c)) {
    while (os_lexer__letter(os_lexer__at(self, self->end)) || os_lexer__digit(os_lexer__at(self, self->end)))
      self->end++;
    self->token = OS_TOKEN_WORD;
    self->value = os_str_slice(self->text, self->start, self->end);
  } else if (os_lexer__digit(c) || (c == '.' && os_lexer__digit(os_lexer__at(self, self->start + 1)))) {
    os_lexer__number(self);
  } else if (c == '"' || (c == '\'' && !self->onnx)) {
    os_lexer__string(self);
  } else {
    self->token = OS_TOKEN_SIGN;
    self->sign = c;
    self->end++;
  }
}
