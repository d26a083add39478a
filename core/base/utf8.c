#include "utf8.h"

#include "simd.h"

// Length of the well-formed sequence that starts at p, or 0.
static size_t os_utf8__sequence(const unsigned char *p, size_t left) {
  unsigned char lead = p[0];
  if (lead < 0x80) return 1;
  size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || left < len) return 0;
  unsigned char low = 0x80, high = 0xbf; // range of the second byte; it alone depends on the lead
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  if (p[1] < low || p[1] > high) return 0;
  for (size_t i = 2; i < len; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  return len;
}

// Sixteen bytes at p, with three before them, go on as well-formed text does: each byte that has to continue a sequence
// does, and no other; and none starts a sequence that is overlong, a surrogate or beyond U+10FFFF.
static inline bool os_utf8__goes_on(const unsigned char *p) {
  u8x16 now = u8x16_load(p), last = u8x16_load(p - 1);
  u8x16 continues = (u8x16)((now & 0xc0) == 0x80);
  u8x16 must =
      (u8x16)(last >= 0xc0) | (u8x16)(u8x16_load(p - 2) >= 0xe0) | (u8x16)(u8x16_load(p - 3) >= 0xf0);
  u8x16 wrong = continues ^ must;
  wrong |= (u8x16)((now & 0xfe) == 0xc0) | (u8x16)(now > 0xf4);
  wrong |= ((u8x16)(last == 0xe0) & (u8x16)(now < 0xa0)) | ((u8x16)(last == 0xed) & (u8x16)(now > 0x9f));
  wrong |= ((u8x16)(last == 0xf0) & (u8x16)(now < 0x90)) | ((u8x16)(last == 0xf4) & (u8x16)(now > 0x8f));
  return u8x16_highs(wrong) == 0;
}

// Where the character begins that is under way at `at`, or `at` when none is; the text before it is well-formed.
static size_t os_utf8__under_way(const unsigned char *p, size_t at, size_t least) {
  size_t start = at;
  while (start > least && at - start < 3 && (p[start - 1] & 0xc0) == 0x80) start--;
  if (start > least && p[start - 1] >= 0xc0) return start - 1;
  return at;
}

// A part of a large text, so that the engine has faster code for the parts that follow. `at` starts a character; answers
// where the last one that is whole ends.
static size_t os_utf8__part(os_str text, size_t at) {
  const unsigned char *p = (const unsigned char *)text.data;
  while (at < text.len) {
    for (; at + 64 <= text.len; at += 64) {
      const unsigned char *q = p + at;
      u8x16 all = u8x16_load(q) | u8x16_load(q + 16) | u8x16_load(q + 32) | u8x16_load(q + 48);
      if (u8x16_highs(all) != 0) break;
    }
    if (at + 8 <= text.len) {
      uint64_t word;
      memcpy(&word, p + at, 8);
      if ((word & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    if (at == text.len) break;
    size_t len = os_utf8__sequence(p + at, text.len - at);
    if (len == 0) return at;
    at += len;
    if (at < 3 || at + 16 > text.len) continue;
    size_t start = at;
    while (at + 16 <= text.len && os_utf8__goes_on(p + at)) {
      at += 16;
      if (u8x16_highs(u8x16_load(p + at - 16)) == 0) break; // ASCII has a faster way
    }
    at = os_utf8__under_way(p, at, start);
  }
  return at;
}

size_t os_utf8_valid(os_str text) {
  enum { PART = 1 << 16 };
  size_t at = 0;
  while (at < text.len) {
    size_t end = text.len - at > PART ? at + PART : text.len;
    size_t reached = os_utf8__part(os_str_slice(text, 0, end), at);
    if (reached == at || (end == text.len && reached < end)) return reached;
    at = reached;
  }
  return at;
}

uint32_t os_utf8_next(os_str text, size_t *at) {
  const unsigned char *p = (const unsigned char *)text.data + *at;
  if (p[0] < 0x80) {
    *at += 1;
    return p[0];
  }
  if (p[0] < 0xe0) {
    *at += 2;
    return (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
  }
  if (p[0] < 0xf0) {
    *at += 3;
    return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
  }
  *at += 4;
  return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 | (uint32_t)(p[2] & 0x3f) << 6 |
         (p[3] & 0x3f);
}

size_t os_utf8_count(os_str text) {
  size_t count = text.len, i = 0;
  for (; i + 16 <= text.len; i += 16)
    count -= (unsigned)__builtin_popcount(u8x16_highs((u8x16)((u8x16_load(text.data + i) & 0xc0) == 0x80)));
  for (; i < text.len; i++) count -= ((unsigned char)text.data[i] & 0xc0) == 0x80;
  return count;
}

size_t os_utf8_put(char *to, uint32_t c) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = len - 1; i > 0; i--, c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)(leads[len] | c);
  return len;
}

os_str os_utf8_head(os_str text, size_t most) {
  if (text.len <= most) return text;
  while (most > 0 && ((unsigned char)text.data[most] & 0xc0) == 0x80) most--;
  return os_str_slice(text, 0, most);
}
