#include "place.h"

#include "simd.h"
#include "utf8.h"

enum { STRIDE = 1024 };

typedef struct os_place_mark {
  os_position position;
} os_place_mark;

// Moves `p` over one character (or a whole line end) of the text.
static os_position os_place__step(os_str text, os_position p) {
  const unsigned char *at = (const unsigned char *)text.data + p.byte;
  size_t left = text.len - (size_t)p.byte;
  bool cr_lf = at[0] == '\r' && left > 1 && at[1] == '\n';
  if (at[0] == '\n' || at[0] == '\r') {
    unsigned len = cr_lf ? 2 : 1;
    return (os_position){p.line + 1, 1, p.byte + len, p.utf16 + len};
  }
  size_t len = at[0] < 0xc2 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 1;
  if (len > left) len = 1;
  for (size_t i = 1; i < len; i++)
    if ((at[i] & 0xc0) != 0x80) len = 1;
  return (os_position){p.line, p.column + 1, p.byte + len, p.utf16 + (len == 4 ? 2 : 1)};
}

// Moves `p` over sixteen bytes of well-formed text without "\r", all of them ASCII where `plain`. It may come to stand
// inside a character, which is counted then.
static inline void os_place__block(os_position *p, u8x16 bytes, bool plain) {
  uint32_t feeds = u8x16_highs((u8x16)(bytes == '\n')), starts = 0xffff;
  p->byte += 16;
  if (plain)
    p->utf16 += 16;
  else {
    starts = ~u8x16_highs((u8x16)((bytes & 0xc0) == 0x80)) & 0xffff;
    p->utf16 += (uint32_t)__builtin_popcount(starts) +
                (uint32_t)__builtin_popcount(u8x16_highs((u8x16)(bytes >= 0xf0)));
  }
  if (feeds != 0) {
    p->line += (uint32_t)__builtin_popcount(feeds);
    p->column = 1;
    starts &= 0xfffffffeu << (31 - __builtin_clz(feeds)); // characters behind the last one
  }
  p->column += (uint32_t)__builtin_popcount(starts);
}

// The same over many blocks of text whose characters have several bytes; ends where a character starts.
static os_position os_place__skip_wide(os_str text, os_position p, uint64_t end) {
  enum { AT_ONCE = 64 };
  uint64_t least = p.byte, most = end - p.byte > AT_ONCE ? p.byte + AT_ONCE : end;
  uint64_t valid = least + os_utf8_valid(os_str_slice(text, (size_t)least, (size_t)most));
  while (p.byte + 16 <= valid) {
    u8x16 bytes = u8x16_load(text.data + p.byte);
    if (u8x16_highs((u8x16)(bytes == '\r')) != 0) break;
    os_place__block(&p, bytes, false);
  }
  if (p.byte == least || p.byte >= valid || ((unsigned char)text.data[p.byte] & 0xc0) != 0x80) return p;
  do p.byte--;
  while (((unsigned char)text.data[p.byte] & 0xc0) == 0x80);
  p.column--;
  p.utf16 -= (unsigned char)text.data[p.byte] >= 0xf0 ? 2 : 1;
  return p;
}

// Moves `p` over characters, sixteen bytes at once, as long as it stays before `end`. Line ends are "\n" there.
static os_position os_place__skip(os_str text, os_position p, uint64_t end) {
  while (p.byte + 16 <= end) {
    u8x16 bytes = u8x16_load(text.data + p.byte);
    if (u8x16_highs((u8x16)(bytes == '\r')) != 0) break;
    if (u8x16_highs(bytes) == 0) {
      os_place__block(&p, bytes, true);
      continue;
    }
    os_position next = os_place__skip_wide(text, p, end);
    if (next.byte == p.byte) break;
    p = next;
  }
  return p;
}

bool os_place_index_build(os_place_index *self, os_arena *arena, os_str text) {
  *self = (os_place_index){.text = text, .reached = {1, 1, 0, 0}};
  self->marks = OS_ARENA_ARRAY(arena, text.len / STRIDE + 1, os_place_mark);
  return self->marks != NULL;
}

// Sets marks until the one for this offset is there, or the text has ended.
static void os_place__reach(os_place_index *self, size_t wanted) {
  os_str text = self->text;
  os_position p = self->reached;
  while (self->count <= wanted) {
    uint64_t mark = (uint64_t)self->count * STRIDE;
    if (p.byte >= mark) {
      self->marks[self->count++].position = p;
      continue;
    }
    if (p.byte >= text.len) break;
    p = os_place__skip(text, p, mark < text.len ? mark : text.len);
    if (p.byte < mark && p.byte < text.len) p = os_place__step(text, p);
  }
  self->reached = p;
}

os_position os_place_find(os_place_index *self, uint64_t byte) {
  if (byte > self->text.len) byte = self->text.len;
  size_t at = (size_t)(byte / STRIDE);
  os_place__reach(self, at);
  if (at >= self->count) at = self->count - 1;
  // A mark stands at the first character that starts at or behind its offset, so it may be one too far.
  if (at > 0 && self->marks[at].position.byte > byte) at--;
  os_position p = self->marks[at].position;
  while (p.byte < byte) {
    p = os_place__skip(self->text, p, byte);
    if (p.byte == byte) break;
    os_position next = os_place__step(self->text, p);
    if (next.byte > byte) break;
    p = next;
  }
  return p;
}
