#include "packed.h"

#include <zlib.h>

static void *os_packed__alloc(void *memory, unsigned count, unsigned size) {
  size_t bytes;
  return os_size_mul(count, size, &bytes) ? os_memory_alloc(memory, bytes) : NULL;
}

static void os_packed__free(void *memory, void *block) { os_memory_free(memory, block); }

os_status os_packed_read(const os_packed *self, os_arena *arena, os_str *out) {
  unsigned char *to = os_arena_alloc(arena, self->size);
  OS_TRY_ALLOC(to);
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)self->bytes,
                     .avail_in = self->length,
                     .next_out = to,
                     .avail_out = self->size,
                     .zalloc = os_packed__alloc,
                     .zfree = os_packed__free,
                     .opaque = arena->memory};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return OS_OUT_OF_MEMORY;
  int end = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (end == Z_MEM_ERROR) return OS_OUT_OF_MEMORY;
  *out = (os_str){(const char *)to, self->size};
  return end == Z_STREAM_END && stream.avail_out == 0 ? OS_OK : OS_CRASHED; // the bytes are ours
}
