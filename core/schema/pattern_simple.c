#include "pattern_simple.h"

enum { MOST_PARTS = 8 };

typedef struct os_pattern_part {
  uint32_t least, most;
  bool set[256]; // by byte; of characters of several bytes all or none
} os_pattern_part;

struct os_pattern_simple {
  size_t count;
  os_pattern_part parts[MOST_PARTS];
};

typedef struct os_pattern_reader {
  const char *p, *end;
} os_pattern_reader;

static void os_pattern__add(os_pattern_part *part, unsigned from, unsigned to) {
  for (unsigned c = from; c <= to; c++) part->set[c] = true;
}

// A character that stands for itself, inside or outside of brackets; 0 otherwise.
static char os_pattern__literal(os_pattern_reader *self) {
  if (self->p >= self->end) return 0;
  char c = *self->p;
  if (c == '\\') {
    if (self->p + 1 >= self->end || strchr(".-/\\^$*+?()[]{}|", self->p[1]) == NULL || self->p[1] == 0)
      return 0;
    self->p += 2;
    return self->p[-1];
  }
  if ((unsigned char)c >= 0x80 || c < 0x20 || strchr("^$.*+?()[]{}|", c) != NULL) return 0;
  self->p++;
  return c;
}

static bool os_pattern__set(os_pattern_reader *self, os_pattern_part *part) {
  self->p++;
  bool negated = self->p < self->end && *self->p == '^';
  self->p += negated;
  while (self->p < self->end && *self->p != ']') {
    char inside = *self->p;
    char from =
        strchr(".*+?(){}$|", inside) != NULL && inside != 0 ? (self->p++, inside) : os_pattern__literal(self);
    if (from == 0) return false;
    char to = from;
    if (self->end - self->p >= 2 && self->p[0] == '-' && self->p[1] != ']') {
      self->p++;
      to = os_pattern__literal(self);
      if (to < from) return false;
    }
    os_pattern__add(part, (unsigned char)from, (unsigned char)to);
  }
  if (self->p >= self->end) return false;
  self->p++;
  for (size_t c = 0; negated && c < 256; c++) part->set[c] = !part->set[c];
  return true;
}

static bool os_pattern__number(os_pattern_reader *self, uint32_t *out) {
  const char *start = self->p;
  *out = 0;
  while (self->p < self->end && *self->p >= '0' && *self->p <= '9' && self->p - start < 8)
    *out = *out * 10 + (uint32_t)(*self->p++ - '0');
  return self->p > start;
}

static bool os_pattern__count(os_pattern_reader *self, os_pattern_part *part) {
  part->least = part->most = 1;
  char c = self->p < self->end ? *self->p : 0;
  if (c == '*' || c == '?') part->least = 0;
  if (c == '*' || c == '+') part->most = UINT32_MAX;
  if (c == '*' || c == '+' || c == '?') self->p++;
  if (c == '{') {
    self->p++;
    if (!os_pattern__number(self, &part->least)) return false;
    part->most = part->least;
    if (self->p < self->end && *self->p == ',') {
      self->p++;
      part->most = UINT32_MAX;
      if (self->p < self->end && *self->p != '}' && !os_pattern__number(self, &part->most)) return false;
    }
    if (self->p >= self->end || *self->p++ != '}') return false;
  }
  return self->p >= self->end ||
         strchr("?*+{", *self->p) == NULL; // lazy and possessive forms are left to the engine
}

// Taking as much as there is can only be wrong where the next part could have wanted some of it.
static bool os_pattern__greedy_is_right(const os_pattern_simple *self) {
  for (size_t i = 0; i + 1 < self->count; i++) {
    const os_pattern_part *part = &self->parts[i];
    if (part->least == part->most) continue;
    for (size_t j = i + 1; j < self->count; j++)
      for (size_t c = 0; c < 256; c++)
        if (part->set[c] && self->parts[j].set[c]) return false;
  }
  return true;
}

os_status os_pattern_simple_compile(os_pattern_simple **out, os_arena *arena, os_str source) {
  *out = NULL;
  os_pattern_simple simple = {0};
  if (source.len < 3 || source.data[0] != '^' || source.data[source.len - 1] != '$') return OS_OK;
  os_pattern_reader reader = {source.data + 1, source.data + source.len - 1};
  while (reader.p < reader.end) {
    if (simple.count == MOST_PARTS) return OS_OK;
    os_pattern_part *part = &simple.parts[simple.count++];
    if (*reader.p == '[') {
      if (!os_pattern__set(&reader, part)) return OS_OK;
    } else {
      char c = os_pattern__literal(&reader);
      if (c == 0) return OS_OK;
      os_pattern__add(part, (unsigned char)c, (unsigned char)c);
    }
    if (!os_pattern__count(&reader, part)) return OS_OK;
    // Characters of several bytes cannot be counted here.
    if (part->set[0xff] && (part->least > 1 || part->most != UINT32_MAX)) return OS_OK;
  }
  if (!os_pattern__greedy_is_right(&simple)) return OS_OK;
  *out = OS_ARENA_NEW(arena, os_pattern_simple);
  if (*out == NULL) return OS_OUT_OF_MEMORY;
  **out = simple;
  return OS_OK;
}

bool os_pattern_simple_match(const os_pattern_simple *self, os_str text) {
  size_t at = 0;
  for (size_t i = 0; i < self->count; i++) {
    const os_pattern_part *part = &self->parts[i];
    size_t end = text.len - at > part->most ? at + part->most : text.len, start = at;
    while (at < end && part->set[(unsigned char)text.data[at]]) at++;
    if (at - start < part->least) return false;
  }
  return at == text.len;
}
