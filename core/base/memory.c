#include "memory.h"

#include <stdlib.h>
#include <string.h>

// The size stands in front of each block; 16 bytes keep the block aligned.
enum { HEADER = 16 };

static size_t *os_memory__header(const void *block) { return (size_t *)((char *)(uintptr_t)block - HEADER); }

static bool os_memory__fits(const os_memory *self, size_t more) {
  size_t total;
  return os_size_add(self->used, more, &total) && (self->limit == 0 || total <= self->limit);
}

static void os_memory__count(os_memory *self, size_t more) {
  self->used += more;
  if (self->used > self->peak) self->peak = self->used;
}

void *os_memory_alloc(os_memory *self, size_t size) {
  size_t whole;
  if (!os_size_add(size, HEADER, &whole) || !os_memory__fits(self, size)) return NULL;
  char *raw = malloc(whole);
  if (raw == NULL) return NULL;
  os_memory__count(self, size);
  void *block = raw + HEADER;
  *os_memory__header(block) = size;
  return block;
}

void *os_memory_calloc(os_memory *self, size_t size) {
  void *block = os_memory_alloc(self, size);
  if (block != NULL) memset(block, 0, size);
  return block;
}

void *os_memory_realloc(os_memory *self, void *block, size_t size) {
  if (block == NULL) return os_memory_alloc(self, size);
  size_t old = os_memory_size(block), whole;
  if (size > old && !os_memory__fits(self, size - old)) return NULL;
  if (!os_size_add(size, HEADER, &whole)) return NULL;
  char *raw = realloc((char *)block - HEADER, whole);
  if (raw == NULL) return NULL;
  self->used -= old;
  os_memory__count(self, size);
  block = raw + HEADER;
  *os_memory__header(block) = size;
  return block;
}

void os_memory_free(os_memory *self, void *block) {
  if (block == NULL) return;
  self->used -= os_memory_size(block);
  free((char *)block - HEADER);
}

size_t os_memory_size(const void *block) { return *os_memory__header(block); }
