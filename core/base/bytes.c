#include "bytes.h"

#include "simd.h"

int os_str_cmp(os_str a, os_str b) {
  size_t n = a.len < b.len ? a.len : b.len;
  int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
  if (order != 0) return order;
  return a.len < b.len ? -1 : a.len > b.len;
}

// The first and the last bytes of it, which may overlap, where it has a few more than one word.
void os_bytes_copy(char *to, const char *from, size_t len) {
  if (len > 128) {
    memcpy(to, from, len);
  } else if (len >= 16) {
    u8x16 last = u8x16_load(from + len - 16);
    for (size_t i = 0; i + 16 < len; i += 16) {
      u8x16 part = u8x16_load(from + i);
      memcpy(to + i, &part, sizeof part);
    }
    memcpy(to + len - 16, &last, sizeof last);
  } else if (len >= 4) {
    uint32_t words[4];
    size_t half = len >= 8 ? 4 : 0;
    memcpy(&words[0], from, 4);
    memcpy(&words[1], from + half, 4);
    memcpy(&words[2], from + len - 4 - half, 4);
    memcpy(&words[3], from + len - 4, 4);
    memcpy(to, &words[0], 4);
    memcpy(to + half, &words[1], 4);
    memcpy(to + len - 4 - half, &words[2], 4);
    memcpy(to + len - 4, &words[3], 4);
  } else
    for (size_t i = 0; i < len; i++) to[i] = from[i];
}

size_t os_str_find(os_str a, size_t from, char c) {
  for (; from + 16 <= a.len; from += 16) {
    uint32_t hit = u8x16_highs(u8x16_load(a.data + from) == (uint8_t)c);
    if (hit != 0) return from + (size_t)__builtin_ctz(hit);
  }
  if (from < a.len && a.len >= 16) { // the last 16 bytes, of which some were looked at
    size_t last = a.len - 16;
    uint32_t hit = u8x16_highs(u8x16_load(a.data + last) == (uint8_t)c) >> (from - last);
    return hit != 0 ? from + (size_t)__builtin_ctz(hit) : a.len;
  }
  while (from < a.len && a.data[from] != c) from++;
  return from;
}

bool os_str_in(os_str a, const char *const *list) {
  for (; *list != NULL; list++) {
    const char *text = *list;
    size_t i = 0;
    while (i < a.len && text[i] != 0 && a.data[i] == text[i]) i++;
    if (i == a.len && text[i] == 0) return true;
  }
  return false;
}

static uint64_t os_str__mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  return h;
}

uint64_t os_str_hash(os_str a, uint64_t seed) {
  uint64_t h = os_str__mix(seed ^ (a.len * 0x9e3779b97f4a7c15u));
  size_t i = 0;
  for (; i + 8 <= a.len; i += 8) {
    uint64_t word;
    memcpy(&word, a.data + i, 8);
    h = os_str__mix(h ^ word) * 0x9e3779b97f4a7c15u;
  }
  uint64_t tail = 0;
  if (i < a.len) memcpy(&tail, a.data + i, a.len - i);
  return os_str__mix(h ^ tail);
}
