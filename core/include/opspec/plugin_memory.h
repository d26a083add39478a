#ifndef OPSPEC_PLUGIN_MEMORY_H
#define OPSPEC_PLUGIN_MEMORY_H

// Implementation of plugin.h: memory and text, with or without a libc. Included by it.

#include <opspec/plugin.h>
#include <stdarg.h>

#define OP_PLUGIN__EXPORT(name) __attribute__((export_name(#name), used)) name

#ifdef __EMSCRIPTEN__
#include <stdlib.h>
#include <string.h>
static void *op_plugin__grab(size_t bytes) { return malloc(bytes); }
static void op_plugin__drop(void *block, size_t bytes) {
  (void)bytes;
  free(block);
}
#else
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);

// The compiler must not make calls of themselves out of these.
#define OP_PLUGIN__PLAIN __attribute__((weak, no_builtin))
OP_PLUGIN__PLAIN void *memcpy(void *to, const void *from, size_t count) {
  char *a = to;
  const char *b = from;
  while (count-- > 0) *a++ = *b++;
  return to;
}
OP_PLUGIN__PLAIN void *memmove(void *to, const void *from, size_t count) {
  char *a = to;
  const char *b = from;
  if (a <= b) return memcpy(to, from, count);
  while (count-- > 0) a[count] = b[count];
  return to;
}
OP_PLUGIN__PLAIN void *memset(void *to, int byte, size_t count) {
  char *a = to;
  while (count-- > 0) *a++ = (char)byte;
  return to;
}
OP_PLUGIN__PLAIN int memcmp(const void *a, const void *b, size_t count) {
  const unsigned char *x = a, *y = b;
  for (; count > 0; count--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
OP_PLUGIN__PLAIN size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length] != '\0') length++;
  return length;
}

extern char __heap_base;
static char *op_plugin__top;       // of what was given out
static void *op_plugin__spare[32]; // dropped blocks by the power of two of their size
static unsigned op_plugin__class(size_t bytes) {
  return bytes <= 32 ? 5 : 32 - (unsigned)__builtin_clz((unsigned)bytes - 1);
}

static void *op_plugin__grab(size_t bytes) {
  if (bytes > (size_t)1 << 30) return NULL;
  unsigned size = op_plugin__class(bytes);
  if (op_plugin__spare[size] != NULL) {
    void *block = op_plugin__spare[size];
    op_plugin__spare[size] = *(void **)block;
    return block;
  }
  if (op_plugin__top == NULL) op_plugin__top = (char *)(((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15);
  size_t room = __builtin_wasm_memory_size(0) * 65536 - (size_t)op_plugin__top, wanted = (size_t)1 << size;
  if (wanted > room && __builtin_wasm_memory_grow(0, (wanted - room + 65535) / 65536) == SIZE_MAX)
    return NULL;
  void *block = op_plugin__top;
  op_plugin__top += wanted;
  return block;
}

static void op_plugin__drop(void *block, size_t bytes) {
  unsigned size = op_plugin__class(bytes);
  *(void **)block = op_plugin__spare[size];
  op_plugin__spare[size] = block;
}
#endif

// ---- Blocks of one call: freed when the host has read what the call left ----------------------------------

typedef struct op_plugin__block {
  struct op_plugin__block *next, *previous;
  size_t bytes;
  uint32_t unused;
} op_plugin__block;

static op_plugin__block *op_plugin__blocks;

static void *op_plugin__take(size_t bytes) {
  if (bytes > SIZE_MAX / 4) return NULL;
  op_plugin__block *block = op_plugin__grab(sizeof *block + bytes);
  if (block == NULL) return NULL;
  *block = (op_plugin__block){.next = op_plugin__blocks, .bytes = sizeof *block + bytes};
  if (block->next != NULL) block->next->previous = block;
  op_plugin__blocks = block;
  memset(block + 1, 0, bytes);
  return block + 1;
}

static void op_plugin__give(void *memory) {
  if (memory == NULL) return;
  op_plugin__block *block = (op_plugin__block *)memory - 1;
  if (block->next != NULL) block->next->previous = block->previous;
  if (block->previous != NULL)
    block->previous->next = block->next;
  else
    op_plugin__blocks = block->next;
  op_plugin__drop(block, block->bytes);
}

// Of the host: memory for a call's values, for an instance's, and the end of a call.
void *OP_PLUGIN__EXPORT(opspec_plugin_take)(size_t bytes);
void *opspec_plugin_take(size_t bytes) { return op_plugin__take(bytes); }
void *OP_PLUGIN__EXPORT(opspec_plugin_grab)(size_t bytes);
void *opspec_plugin_grab(size_t bytes) { return op_plugin__grab(bytes); }
void OP_PLUGIN__EXPORT(opspec_plugin_drop)(void *block, size_t bytes);
void opspec_plugin_drop(void *block, size_t bytes) { op_plugin__drop(block, bytes); }
void OP_PLUGIN__EXPORT(opspec_plugin_end)(void);
void opspec_plugin_end(void) {
  while (op_plugin__blocks != NULL) op_plugin__give(op_plugin__blocks + 1);
}

// ---- Messages ---------------------------------------------------------------------------------------------

static char op_plugin__text[512];

typedef struct op_plugin__writer {
  size_t length;
} op_plugin__writer;

static void op_plugin__put(op_plugin__writer *self, char c) {
  if (self->length < sizeof op_plugin__text) op_plugin__text[self->length++] = c;
}

static void op_plugin__number(op_plugin__writer *self, uint64_t value, unsigned base, int width, bool zero) {
  char digits[24];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[value % base];
  while ((value /= base) > 0);
  for (int i = count; i < width; i++) op_plugin__put(self, zero ? '0' : ' ');
  while (count > 0) op_plugin__put(self, digits[--count]);
}

static void op_plugin__real(op_plugin__writer *self, double value) {
  if (value != value || value - value != 0) {
    for (const char *text = value != value ? "NaN" : value > 0 ? "Infinity" : "-Infinity"; *text != 0; text++)
      op_plugin__put(self, *text);
    return;
  }
  if (value < 0) op_plugin__put(self, '-');
  value = value < 0 ? -value : value;
  uint64_t whole = value < 1e18 ? (uint64_t)value : 1000000000000000000u;
  op_plugin__number(self, whole, 10, 0, false);
  op_plugin__put(self, '.');
  op_plugin__number(self, (uint64_t)((value - (double)whole) * 1e6), 10, 6, true);
}

// printf's %s %.*s %c %d %i %u %x with l, ll, z and a width, %f %g %e (as %f). Answers the length in op_plugin__text.
static size_t op_plugin__format(const char *format, va_list arguments) {
  op_plugin__writer out = {0};
  for (; *format != '\0'; format++) {
    if (*format != '%') {
      op_plugin__put(&out, *format);
      continue;
    }
    int width = 0, size = 0;
    size_t most = SIZE_MAX;
    bool zero = *++format == '0';
    while (*format >= '0' && *format <= '9') width = width * 10 + (*format++ - '0');
    if (*format == '.' && format[1] == '*') {
      int given = va_arg(arguments, int);
      most = given < 0 ? SIZE_MAX : (size_t)given;
      format += 2;
    } else if (*format == '.') {
      do format++;
      while (*format >= '0' && *format <= '9');
    }
    for (; *format == 'l' || *format == 'z'; format++) size += *format == 'l';
    if (*format == 's') {
      const char *text = va_arg(arguments, const char *);
      for (size_t i = 0; i < most && text[i] != '\0'; i++) op_plugin__put(&out, text[i]);
    } else if (*format == 'd' || *format == 'i') {
      int64_t value = size > 1 ? va_arg(arguments, int64_t) : va_arg(arguments, int);
      if (value < 0) op_plugin__put(&out, '-');
      op_plugin__number(&out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, width, zero);
    } else if (*format == 'u' || *format == 'x') {
      uint64_t value = size > 1 ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned);
      op_plugin__number(&out, value, *format == 'u' ? 10 : 16, width, zero);
    } else if (*format == 'f' || *format == 'g' || *format == 'e') {
      op_plugin__real(&out, va_arg(arguments, double));
    } else if (*format == 'c') {
      op_plugin__put(&out, (char)va_arg(arguments, int));
    } else if (*format == '\0') {
      break;
    } else {
      op_plugin__put(&out, *format);
    }
  }
  return out.length;
}

#endif
