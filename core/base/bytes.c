#include "bytes.h"

int os_str_cmp(os_str a, os_str b) {
  size_t n = a.len < b.len ? a.len : b.len;
  int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
  if (order != 0) return order;
  return a.len < b.len ? -1 : a.len > b.len;
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

enum { DISTANCE_LEN = 64 };

unsigned os_str_distance(os_str a, os_str b, unsigned most) {
  if (a.len > DISTANCE_LEN || b.len > DISTANCE_LEN) return most + 1;
  unsigned rows[3][DISTANCE_LEN + 1];
  unsigned *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= b.len; j++) last[j] = (unsigned)j;
  for (size_t i = 1; i <= a.len; i++) {
    now[0] = (unsigned)i;
    for (size_t j = 1; j <= b.len; j++) {
      unsigned best = last[j - 1] + (a.data[i - 1] != b.data[j - 1]);
      if (last[j] + 1 < best) best = last[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
      if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
      now[j] = best;
    }
    unsigned *spare = before;
    before = last, last = now, now = spare;
  }
  return last[b.len] <= most ? last[b.len] : most + 1;
}
