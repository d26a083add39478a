// Glushkov's construction: each character of the pattern is a place; which places can come first, last and behind each
// other is known when the pattern has been read. The states of the table are the sets of places that can come next.
#include "pattern_simple.h"

#include "apart.h"

enum {
  PLACES = 256,
  STATES = 255,
  GROUPS = 8, // inside each other
  TABLE = 8192,
  SLOTS = 512, // of states by their sets: twice as many
  WORK = 8192  // unions and comparisons of sets while the table is made: patterns may come from anybody
};

struct os_pattern_simple {
  uint8_t class_of[256]; // of bytes that the pattern does not tell apart; 0: those that it has nowhere
  uint8_t *next;         // by state and class; 0: no match any more
  bool *accepts;         // by state; the first is 1
  size_t classes;
};

typedef struct os_places {
  uint64_t words[PLACES / 64];
} os_places;

// A part of the pattern: what it can begin and end with, and whether it can be nothing.
typedef struct os_part {
  os_places first, last;
  bool empty;
} os_part;

typedef struct os_group {
  os_part before, sequence; // alternatives that are read, and the one that is being read
  bool alternatives;
} os_group;

typedef struct os_building {
  const char *p, *end;
  size_t places;
  os_places follow[PLACES], having[256]; // having: by byte, places that it fits
  os_group groups[GROUPS];
  size_t depth;
  os_places wanted[STATES + 1]; // by state
  bool accepts[STATES + 1];
  uint8_t slots[SLOTS]; // states by the hash of what they want; 0: none
  size_t states, work;
} os_building;

// ---- Sets of places ---------------------------------------------------------------------------------------

static void os_places__add(os_places *self, const os_places *other) {
  for (size_t i = 0; i < PLACES / 64; i++) self->words[i] |= other->words[i];
}
static void os_places__put(os_places *self, size_t place) {
  self->words[place / 64] |= (uint64_t)1 << (place & 63);
}
static bool os_places__same(const os_places *a, const os_places *b) {
  for (size_t i = 0; i < PLACES / 64; i++)
    if (a->words[i] != b->words[i]) return false;
  return true;
}
// `count` places from `first` on.
static void os_places__run(os_places *self, size_t first, size_t count) {
  for (size_t i = 0; i < PLACES / 64; i++) {
    size_t low = i * 64 > first ? i * 64 : first,
           high = first + count < i * 64 + 64 ? first + count : i * 64 + 64;
    if (low < high) self->words[i] |= (UINT64_MAX >> (64 - (high - low))) << (low & 63);
  }
}
static size_t os_places__hash(const os_places *self) {
  uint64_t hash = 0;
  for (size_t i = 0; i < PLACES / 64; i++) hash = (hash ^ self->words[i]) * 0x9e3779b97f4a7c15;
  return (size_t)(hash >> 32);
}
// Keeps what both have; whether that is anything.
static bool os_places__meet(os_places *self, const os_places *other) {
  uint64_t any = 0;
  for (size_t i = 0; i < PLACES / 64; i++) any |= self->words[i] &= other->words[i];
  return any != 0;
}
// Adds what can follow each place of a set.
static void os_places__step(os_building *self, const os_places *places, os_places *out) {
  for (size_t i = 0; i < PLACES / 64; i++) {
    for (uint64_t left = places->words[i]; left != 0; left &= left - 1, self->work++)
      os_places__add(out, &self->follow[i * 64 + (size_t)__builtin_ctzll(left)]);
  }
}
static void os_places__link(os_building *self, const os_places *last, const os_places *first) {
  for (size_t i = 0; i < PLACES / 64; i++)
    for (uint64_t left = last->words[i]; left != 0; left &= left - 1)
      os_places__add(&self->follow[i * 64 + (size_t)__builtin_ctzll(left)], first);
}

// ---- Reading ----------------------------------------------------------------------------------------------

static char os_pattern__peek(const os_building *self) { return self->p < self->end ? *self->p : 0; }
static bool os_pattern__take(os_building *self, os_str text) {
  if ((size_t)(self->end - self->p) < text.len || !os_bytes_eq(self->p, text.data, text.len)) return false;
  self->p += text.len;
  return true;
}
// Whether a byte belongs to a character that began before it.
static bool os_pattern__follows(size_t byte) { return byte >= 0x80 && byte < 0xc0; }
static bool os_pattern__has(const char *list, char c) { return c != 0 && strchr(list, c) != NULL; }

// A character that stands for itself, 0 for all else. `special`: those that do not, here. A hyphen has an escape in sets only.
static char os_pattern__literal(os_building *self, const char *special, bool set) {
  char c = os_pattern__peek(self);
  if (c == '\\') {
    char escaped = self->end - self->p < 2 ? 0 : self->p[1];
    if (!os_pattern__has("./\\^$*+?()[]{}|", escaped) && !(set && escaped == '-')) return 0;
    self->p += 2;
    return self->p[-1];
  }
  if ((unsigned char)c >= 0x80 || c < 0x20 || os_pattern__has(special, c)) return 0;
  self->p++;
  return c;
}

// `set` is by byte; first bytes of what is no ASCII stand for whole characters.
OS_APART static bool os_pattern__set(os_building *self, bool *set) {
  self->p++;
  bool others = os_pattern__take(self, OS_STR("^"));
  while (self->p < self->end && *self->p != ']') {
    char from = os_pattern__literal(self, "", true), to = from;
    if (from == 0) return false;
    if (self->end - self->p >= 2 && self->p[0] == '-' && self->p[1] != ']') {
      self->p++;
      to = os_pattern__literal(self, "[", true);
      if (to < from) return false;
    }
    for (int c = from; c <= to; c++) set[c] = true;
  }
  if (!os_pattern__take(self, OS_STR("]"))) return false;
  for (size_t c = 0; others && c < 256; c++) set[c] = !set[c] && !os_pattern__follows(c);
  return true;
}

static bool os_pattern__number(os_building *self, uint32_t *out) {
  const char *start = self->p;
  *out = 0;
  while (os_pattern__peek(self) >= '0' && os_pattern__peek(self) <= '9' && self->p - start < 8)
    *out = *out * 10 + (uint32_t)(*self->p++ - '0');
  return self->p > start;
}

// False when the count is none. Without one it is 1.
static bool os_pattern__count(os_building *self, uint32_t *least, uint32_t *most) {
  *least = *most = 1;
  char c = os_pattern__peek(self);
  if (!os_pattern__has("*+?{", c)) return true;
  self->p++;
  if (c != '{') {
    *least = c == '+';
    if (c != '?') *most = UINT32_MAX;
  } else {
    if (!os_pattern__number(self, least)) return false;
    *most = *least;
    if (os_pattern__take(self, OS_STR(","))) {
      *most = UINT32_MAX;
      if (os_pattern__peek(self) != '}' && !os_pattern__number(self, most)) return false;
    }
    if (!os_pattern__take(self, OS_STR("}"))) return false;
  }
  os_pattern__take(self, OS_STR("?")); // as few as there can be: the answer is the same
  return *least <= *most && !os_pattern__has("*+?{", os_pattern__peek(self));
}

static void os_part__append(os_building *self, os_part *part, const os_part *next) {
  os_places__link(self, &part->last, &next->first);
  if (part->empty) os_places__add(&part->first, &next->first);
  if (!next->empty) part->last = (os_places){0};
  os_places__add(&part->last, &next->last);
  part->empty &= next->empty;
}

// A character or a set with its count: as many places as it can stand for, the last one for all beyond.
OS_APART static bool os_pattern__character(os_building *self, os_part *sequence) {
  bool set[256] = {0};
  uint32_t least, most;
  if (os_pattern__peek(self) == '[') {
    if (!os_pattern__set(self, set)) return false;
  } else {
    char c = os_pattern__literal(self, "^$.*+?()[]{}|", false);
    if (c == 0) return false;
    set[(unsigned char)c] = true;
  }
  if (!os_pattern__count(self, &least, &most)) return false;
  uint32_t count = most != UINT32_MAX ? most : least > 0 ? least : 1;
  if (count > PLACES - self->places) return false;
  os_part run = {.empty = least == 0};
  for (uint32_t i = 0; i < count; i++) {
    size_t place = self->places++;
    os_places__put(i == 0 ? &run.first : &self->follow[place - 1], place);
    if (i + 1 >= least) os_places__put(&run.last, place);
  }
  os_places places = {0};
  os_places__run(&places, self->places - count, count);
  for (size_t c = 0; c < sizeof set; c++)
    if (set[c]) os_places__add(&self->having[c], &places);
  if (most == UINT32_MAX) os_places__put(&self->follow[self->places - 1], self->places - 1);
  os_part__append(self, sequence, &run);
  return true;
}

static void os_group__alternative(os_group *self) {
  if (self->alternatives) {
    os_places__add(&self->sequence.first, &self->before.first);
    os_places__add(&self->sequence.last, &self->before.last);
    self->sequence.empty |= self->before.empty;
  }
  self->before = self->sequence;
  self->sequence = (os_part){.empty = true};
  self->alternatives = true;
}

static bool os_pattern__open(os_building *self) {
  if (self->depth + 1 == GROUPS) return false;
  if (!os_pattern__take(self, OS_STR("?:")) && os_pattern__peek(self) == '?') return false;
  self->groups[++self->depth] = (os_group){.sequence = {.empty = true}};
  return true;
}

// Counts of groups other than * + ? would need copies of their places.
static bool os_pattern__close(os_building *self) {
  uint32_t least, most;
  if (self->depth == 0 || os_pattern__peek(self) == '{') return false;
  os_group *group = &self->groups[self->depth--];
  os_group__alternative(group);
  if (!os_pattern__count(self, &least, &most)) return false;
  os_part *part = &group->before;
  if (most > 1) os_places__link(self, &part->last, &part->first);
  part->empty |= least == 0;
  os_part__append(self, &self->groups[self->depth].sequence, part);
  return true;
}

// Between ^ and what ends the pattern. False: not of this kind.
OS_APART static bool os_pattern__read(os_building *self) {
  self->groups[0].sequence.empty = true;
  while (self->p < self->end) {
    if (os_pattern__take(self, OS_STR("("))) {
      if (!os_pattern__open(self)) return false;
    } else if (os_pattern__take(self, OS_STR(")"))) {
      if (!os_pattern__close(self)) return false;
    } else if (self->depth > 0 && os_pattern__take(self, OS_STR("|")))
      os_group__alternative(&self->groups[self->depth]);
    else if (!os_pattern__character(self, &self->groups[self->depth].sequence))
      return false;
  }
  return self->depth == 0;
}

// ---- The table --------------------------------------------------------------------------------------------

// Class 1 is that of bytes which a character goes on with: they leave a state as it is.
OS_APART static size_t os_pattern__classes(os_building *self, os_pattern_simple *out, uint8_t *example) {
  os_places nowhere = {0};
  size_t classes = 2;
  for (size_t c = 0; c < 256; c++) {
    size_t class = os_pattern__follows(c);
    if (!os_places__same(&self->having[c], &nowhere)) {
      for (class = 2; class < classes; class ++)
        if (os_places__same(&self->having[c], &self->having[example[class]])) break;
      if (class == classes) example[classes++] = (uint8_t)c;
    }
    out->class_of[c] = (uint8_t)class;
  }
  return classes;
}

// The state of this set; 0 when there are too many.
static size_t os_pattern__state(os_building *self, const os_places *wanted, bool accepts) {
  size_t slot = (os_places__hash(wanted) + accepts) % SLOTS;
  for (size_t state; (state = self->slots[slot]) != 0; slot = (slot + 1) % SLOTS)
    if (self->accepts[state] == accepts && os_places__same(&self->wanted[state], wanted)) return state;
  if (self->states == STATES) return 0;
  self->wanted[++self->states] = *wanted;
  self->accepts[self->states] = accepts;
  return self->slots[slot] = (uint8_t)self->states;
}

// Writes the rows of all states, which finds more of them. False: the table would be too large.
OS_APART static bool os_pattern__rows(os_building *self, const uint8_t *example, size_t classes,
                                      uint8_t *rows) {
  const os_part *whole = &self->groups[0].sequence;
  os_pattern__state(self, &whole->first, whole->empty);
  for (size_t i = 1; i <= self->states; i++) {
    if ((i + 1) * classes > TABLE) return false;
    rows[i * classes + 1] = (uint8_t)i;
    for (size_t class = 2; class < classes; class ++) {
      os_places now = self->wanted[i], wanted = {0};
      if (!os_places__meet(&now, &self->having[example[class]])) continue;
      os_places__step(self, &now, &wanted);
      size_t next = os_pattern__state(self, &wanted, os_places__meet(&now, &whole->last));
      if (next == 0 || self->work > WORK) return false;
      rows[i * classes + class] = (uint8_t)next;
    }
  }
  return true;
}

OS_APART static os_status os_pattern__table(os_building *self, os_pattern_simple **out, os_arena *arena,
                                            os_arena *scratch) {
  uint8_t example[256];
  os_pattern_simple *simple = OS_ARENA_NEW(arena, os_pattern_simple);
  uint8_t *rows = OS_ARENA_ARRAY(scratch, TABLE, uint8_t);
  OS_TRY_ALLOC(simple);
  OS_TRY_ALLOC(rows);
  simple->classes = os_pattern__classes(self, simple, example);
  if (!os_pattern__rows(self, example, simple->classes, rows)) return OS_OK;
  size_t size = (self->states + 1) * simple->classes;
  simple->next = os_arena_alloc(arena, size);
  simple->accepts = os_arena_alloc(arena, self->states + 1);
  OS_TRY_ALLOC(simple->next);
  OS_TRY_ALLOC(simple->accepts);
  memcpy(simple->next, rows, size);
  memcpy(simple->accepts, self->accepts, self->states + 1);
  *out = simple;
  return OS_OK;
}

os_status os_pattern_simple_compile(os_pattern_simple **out, os_arena *arena, os_str source) {
  static const os_str ends[] = {OS_STR_INIT("(?![\\s\\S])"), OS_STR_INIT("$")};
  *out = NULL;
  if (source.len == 0 || source.data[0] != '^') return OS_OK;
  size_t end = 0;
  for (size_t i = 0; i < 2 && end == 0; i++)
    if (source.len > ends[i].len &&
        os_bytes_eq(source.data + source.len - ends[i].len, ends[i].data, ends[i].len))
      end = source.len - ends[i].len;
  if (end == 0 || source.data[end - 1] == '\\') return OS_OK;
  os_arena scratch;
  os_arena_init(&scratch, arena->memory);
  os_building *building = OS_ARENA_NEW(&scratch, os_building);
  os_status status = OS_OUT_OF_MEMORY;
  if (building != NULL) {
    building->p = source.data + 1;
    building->end = source.data + end;
    status = os_pattern__read(building) ? os_pattern__table(building, out, arena, &scratch) : OS_OK;
  }
  os_arena_clear(&scratch);
  return status;
}

bool os_pattern_simple_match(const os_pattern_simple *self, os_str text) {
  size_t state = 1;
  for (size_t i = 0; i < text.len; i++) {
    state = self->next[state * self->classes + self->class_of[(unsigned char)text.data[i]]];
    if (state == 0) return false;
  }
  return self->accepts[state];
}
