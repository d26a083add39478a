// The module's constant data, which lie in it deflated. wasm/toolchain/pack-data.js packs them after the link and makes
// opspec_unpack the module's start function: it runs once, before anything else does, and needs no more than the stack, at
// whose lower end the packed bytes lie until then.

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

typedef struct os_unpack_head {
  unsigned char *to;
  uint32_t length, size; // deflated and not
  unsigned char bytes[];
} os_unpack_head;

enum { OS_UNPACK_ROOM = 8192 }; // what one inflate without a window asks for, and some

typedef struct os_unpack_room {
  uint64_t words[OS_UNPACK_ROOM / 8];
  size_t used;
} os_unpack_room;

// By the linker: the lower end of the stack.
extern os_unpack_head __stack_low;

static void *os_unpack__alloc(void *context, unsigned count, unsigned size) {
  os_unpack_room *room = context;
  size_t words = ((size_t)count * size + 7) / 8;
  if (words > OS_UNPACK_ROOM / 8 - room->used) return NULL;
  void *block = room->words + room->used;
  room->used += words;
  return block;
}

static void os_unpack__free(void *context, void *block) { (void)context, (void)block; }

// A module whose data do not come out cannot be used: it traps.
__attribute__((export_name("opspec_unpack"), visibility("default"))) void opspec_unpack(void);
void opspec_unpack(void) {
  os_unpack_room room;
  room.used = 0;
  const char version = ZLIB_VERSION[0]; // all that is compared; the text itself is packed still
  z_stream stream = {.next_in = __stack_low.bytes,
                     .avail_in = __stack_low.length,
                     .next_out = __stack_low.to,
                     .avail_out = __stack_low.size,
                     .zalloc = os_unpack__alloc,
                     .zfree = os_unpack__free,
                     .opaque = &room};
  bool done = inflateInit2_(&stream, -MAX_WBITS, &version, sizeof stream) == Z_OK &&
              inflate(&stream, Z_FINISH) == Z_STREAM_END;
  if (!done) __builtin_trap();
}
