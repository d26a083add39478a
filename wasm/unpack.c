// The module's constant data, which lie in it deflated (RFC 1951). wasm/toolchain/pack-data.js packs them after the link and
// makes opspec_unpack the module's start function: it runs once, before anything else does, and needs no more than the
// stack, at whose lower end the packed bytes lie until then.
//
// It is an inflate of its own because of when it runs: zlib's is one large function, and engines take longer to optimize
// that than all the rest of a start takes. It has no constants in memory, as they would be packed; and it believes what it
// reads, as the packer has looked at what comes out. Stored blocks are not read: data that deflate have none.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct os_unpack_head {
  unsigned char *to;
  uint32_t size; // of what comes out
  unsigned char bytes[];
} os_unpack_head;

enum {
  OS_UNPACK_BITS = 15, // of the longest code
  OS_UNPACK_LITERALS = 288,
  OS_UNPACK_DISTANCES = 32,
};

typedef uint16_t os_unpack_codes[1 << OS_UNPACK_BITS]; // by the next bits: symbol << 4 | bits of its code

typedef struct os_unpack {
  const unsigned char *next;
  uint64_t hold; // bits that were read and not yet taken
  uint32_t held;
  os_unpack_codes literals, distances;
} os_unpack;

// By the linker: the lower end of the stack.
extern os_unpack_head __stack_low;

static uint32_t os_unpack__take(os_unpack *self, uint32_t bits) {
  while (self->held < bits) {
    self->hold |= (uint64_t)*self->next++ << self->held;
    self->held += 8;
  }
  uint32_t value = (uint32_t)self->hold & ((1u << bits) - 1);
  self->hold >>= bits;
  self->held -= bits;
  return value;
}

static uint32_t os_unpack__symbol(os_unpack *self, const uint16_t *codes) {
  while (self->held < OS_UNPACK_BITS) {
    self->hold |= (uint64_t)*self->next++ << self->held;
    self->held += 8;
  }
  uint32_t code = codes[self->hold & ((1 << OS_UNPACK_BITS) - 1)];
  self->hold >>= code & 15;
  self->held -= code & 15;
  return code >> 4;
}

// RFC 1951 section 3.2.2. Codes lie in the stream from their highest bit on.
static void os_unpack__codes(uint16_t *codes, const unsigned char *lengths, uint32_t count) {
  uint32_t first[OS_UNPACK_BITS + 2];
  memset(first, 0, sizeof first);
  for (uint32_t i = 0; i < count; i++)
    if (lengths[i] > 0) first[lengths[i] + 1]++;
  for (uint32_t bits = 1; bits <= OS_UNPACK_BITS; bits++)
    first[bits + 1] = (first[bits + 1] + first[bits]) << 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t bits = lengths[i], code = 0;
    if (bits == 0) continue;
    for (uint32_t left = bits, rest = first[bits]++; left > 0; left--, rest >>= 1)
      code = code << 1 | (rest & 1);
    for (; code < 1 << OS_UNPACK_BITS; code += 1u << bits) codes[code] = (uint16_t)(i << 4 | bits);
  }
}

// Section 3.2.7: lengths of codes, themselves coded.
static void os_unpack__dynamic(os_unpack *self) {
  unsigned char lengths[OS_UNPACK_LITERALS + OS_UNPACK_DISTANCES];
  uint32_t literals = os_unpack__take(self, 5) + 257, distances = os_unpack__take(self, 5) + 1;
  uint32_t count = os_unpack__take(self, 4) + 4, done = 0;
  memset(lengths, 0, 19);
  for (uint32_t i = 0; i < count; i++) { // in the order 16, 17, 18, 0, 8, 7, 9, 6, 10, ...
    uint32_t at = i < 3 ? 16 + i : i == 3 ? 0 : (i & 1) != 0 ? 8 - (i - 3) / 2 : 8 + (i - 3) / 2;
    lengths[at] = (unsigned char)os_unpack__take(self, 3);
  }
  os_unpack__codes(self->literals, lengths, 19);
  while (done < literals + distances) {
    uint32_t symbol = os_unpack__symbol(self, self->literals), times = 1;
    unsigned char length = symbol < 16 ? (unsigned char)symbol : symbol == 16 ? lengths[done - 1] : 0;
    if (symbol > 15)
      times = symbol == 18 ? os_unpack__take(self, 7) + 11 : os_unpack__take(self, symbol - 14) + 3;
    while (times-- > 0) lengths[done++] = length;
  }
  os_unpack__codes(self->literals, lengths, literals);
  os_unpack__codes(self->distances, lengths + literals, distances);
}

// Section 3.2.6.
static void os_unpack__fixed(os_unpack *self) {
  unsigned char lengths[OS_UNPACK_LITERALS];
  for (uint32_t i = 0; i < OS_UNPACK_LITERALS; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  os_unpack__codes(self->literals, lengths, OS_UNPACK_LITERALS);
  memset(lengths, 5, OS_UNPACK_DISTANCES);
  os_unpack__codes(self->distances, lengths, OS_UNPACK_DISTANCES);
}

// Section 3.2.5. Answers the end of what it wrote.
static unsigned char *os_unpack__block(os_unpack *self, unsigned char *to) {
  for (;;) {
    uint32_t symbol = os_unpack__symbol(self, self->literals);
    if (symbol == 256) return to;
    if (symbol < 256) {
      *to++ = (unsigned char)symbol;
      continue;
    }
    uint32_t more = symbol < 265 || symbol == 285 ? 0 : (symbol - 261) >> 2;
    uint32_t length = symbol == 285  ? 258
                      : symbol < 265 ? symbol - 254
                                     : ((4 + ((symbol - 265) & 3)) << more) + 3 + os_unpack__take(self, more);
    uint32_t far = os_unpack__symbol(self, self->distances);
    more = far < 4 ? 0 : (far >> 1) - 1;
    uint32_t distance = far < 4 ? far + 1 : ((2 + (far & 1)) << more) + 1 + os_unpack__take(self, more);
    for (const unsigned char *from = to - distance; length > 0; length--) *to++ = *from++;
  }
}

// A module whose data do not come out cannot be used: it traps.
__attribute__((export_name("opspec_unpack"), visibility("default"))) void opspec_unpack(void);
void opspec_unpack(void) {
  os_unpack self;
  self.next = __stack_low.bytes;
  self.hold = 0;
  self.held = 0;
  unsigned char *to = __stack_low.to;
  for (bool last = false; !last;) {
    last = os_unpack__take(&self, 1) != 0;
    uint32_t kind = os_unpack__take(&self, 2);
    if (kind == 2)
      os_unpack__dynamic(&self);
    else if (kind == 1)
      os_unpack__fixed(&self);
    else
      __builtin_trap();
    to = os_unpack__block(&self, to);
  }
  if (to != __stack_low.to + __stack_low.size) __builtin_trap();
}
