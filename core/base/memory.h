#ifndef OPSPEC_MEMORY_H
#define OPSPEC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Counts what one Env has allocated and refuses what would pass `limit` bytes (0 = no limit but the machine's).
// Every allocation of the core goes through one of these, so that disposing and leaks can be measured.
typedef struct os_memory {
  size_t used;
  size_t peak;
  size_t limit;
} os_memory;

// Answers 16-byte aligned, uninitialised memory, or NULL. `size` 0 is allowed and gives a unique pointer.
void *os_memory_alloc(os_memory *self, size_t size);
void *os_memory_calloc(os_memory *self, size_t size);
// Keeps the first min(old, new) bytes. NULL leaves the old block as it was.
void *os_memory_realloc(os_memory *self, void *block, size_t size);
// Accepts NULL.
void os_memory_free(os_memory *self, void *block);
// Size that the block was asked for, in bytes.
size_t os_memory_size(const void *block);

// a * b and a + b into *out; false when the result does not fit size_t.
// The least power of two that is not less; 0 of 0. Of more than half of all sizes it is the greatest there is.
static inline size_t os_size_power(size_t n) {
  if (n <= 1) return n;
  unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)n - 1), most = 8 * sizeof n - 1;
  return (size_t)1 << (bits < most ? bits : most);
}
static inline bool os_size_mul(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool os_size_add(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }

#endif
