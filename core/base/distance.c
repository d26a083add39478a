#include "bytes.h"

enum { DISTANCE_LEN = 64 };

unsigned os_str_distance(os_str a, os_str b, unsigned most) {
  if (a.len > DISTANCE_LEN || b.len > DISTANCE_LEN || a.len > b.len + most || b.len > a.len + most)
    return most + 1;
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
