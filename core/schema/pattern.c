#include "pattern.h"

#include "pattern_simple.h"
#include "text.h"
#include "utf8.h"

#include <libregexp.h>
#include <limits.h>
#include <regexp_counted.h>

struct os_pattern {
  os_pattern_simple *simple; // not NULL: decides alone
  const uint8_t *code;
  uint32_t captures, cost; // of a step
  bool backs;              // a step may go over text that was matched before
};

// What the library's hooks get.
typedef struct os_pattern_run {
  os_memory *memory;
  const char *stack;
} os_pattern_run;

enum {
  STACK = 96 * 1024,
  MEMORY = 1 << 26,
  TEXT_LIMIT = 1 << 28,
  WIDE_LIMIT = 1 << 24,
  FEW_CAPTURES = 8,
  BYTES_A_STEP = 32,
  BYTES_A_SIMPLE_STEP = 12
};

// The library asks for these three. Stack is measured from where the run began.
int lre_check_stack_overflow(void *opaque, size_t alloca_size) {
  const os_pattern_run *run = opaque;
  ptrdiff_t used = run->stack - (const char *)__builtin_frame_address(0);
  if (used < 0) used = -used;
  return (size_t)used + alloca_size > STACK;
}

int lre_check_timeout(void *opaque) {
  (void)opaque;
  return 1; // all steps are taken
}

void *lre_realloc(void *opaque, void *block, size_t size) {
  os_pattern_run *run = opaque;
  if (size > MEMORY) return NULL;
  if (size > 0) return os_memory_realloc(run->memory, block, size);
  os_memory_free(run->memory, block);
  return NULL;
}

// Whether a match can only be where the text begins.
static bool os_pattern__anchored(os_str source) {
  int depth = 0;
  bool set = false;
  if (source.len == 0 || source.data[0] != '^') return false;
  for (size_t i = 1; i < source.len; i++) {
    char c = source.data[i];
    if (c == '\\') i++;
    if (set ? c == ']' : c == '[') set = !set;
    if (set) continue;
    depth += (c == '(') - (c == ')');
    if (c == '|' && depth == 0) return false;
  }
  return true;
}

// The library moves code at each bar, sorts a class at each character, and makes sets of properties anew each time. Tables
// of states cost some at each character, and where something is counted up to all that they may.
uint64_t os_pattern_work(os_str source) {
  enum {
    A_PATTERN = 64,
    A_PROPERTY = 2500,
    A_COUNT = 1000,
    A_PLACE = 8,
    CODE_A_STEP = 64,
    CHARACTERS_A_STEP = 32
  };
  uint64_t work = A_PATTERN, moves = 0, members = 0;
  bool set = false;
  if (source.len > 0 && source.data[0] == '^')
    work += A_PLACE * source.len + (os_str_find(source, 0, '{') < source.len ? A_COUNT : 0);
  for (size_t i = 0; i < source.len; i++) {
    char c = source.data[i];
    if (c == '\\') {
      i++;
      c = i < source.len ? source.data[i] : 0;
      if (c == 'p' || c == 'P') work += A_PROPERTY;
      moves += c == 'k';
    } else if (set ? c == ']' : c == '[') {
      set = !set;
      work += members * members / CHARACTERS_A_STEP;
      members = 0;
    } else if (c == '|')
      moves++;
    members += set && ((unsigned char)c & 0xc0) != 0x80;
  }
  work += members * members / CHARACTERS_A_STEP;
  return work + source.len + moves * source.len / CODE_A_STEP;
}

// By the library. Leaves self->code NULL where the pattern is wrong.
static os_status os_pattern__compile(os_pattern *self, os_arena *arena, os_str source, os_str *message) {
  char trouble[128] = "";
  os_pattern_run run = {.memory = arena->memory, .stack = __builtin_frame_address(0)};
  char *ended = os_arena_alloc(arena, source.len + 1); // the parser reads a byte past the end
  OS_TRY_ALLOC(ended);
  if (source.len > 0) memcpy(ended, source.data, source.len);
  ended[source.len] = 0;
  int len = 0;
  int flags = LRE_FLAG_UNICODE | (os_pattern__anchored(source) ? LRE_FLAG_STICKY : 0);
  uint8_t *code = lre_compile(&len, trouble, sizeof trouble, ended, source.len, flags, &run);
  if (code == NULL) {
    *message = os_arena_format(arena, "%s", trouble[0] == 0 ? "not a regular expression" : trouble);
    return OS_OK;
  }
  os_str copy = os_arena_copy(arena, (os_str){(const char *)code, (size_t)len});
  int backs;
  self->captures = (uint32_t)lre_get_capture_count(code);
  self->cost = os_regexp_step_cost(code, &backs);
  self->backs = backs != 0;
  self->code = (const uint8_t *)copy.data;
  lre_realloc(&run, code, 0);
  return copy.data == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_pattern_compile(os_pattern **out, os_arena *arena, os_str source, os_str *message) {
  *out = NULL;
  os_pattern *self = OS_ARENA_NEW(arena, os_pattern);
  OS_TRY_ALLOC(self);
  OS_TRY(os_pattern_simple_compile(&self->simple, arena, source));
  if (self->simple == NULL) OS_TRY(os_pattern__compile(self, arena, source, message));
  if (self->simple != NULL || self->code != NULL) *out = self;
  return OS_OK;
}

static size_t os_pattern__utf16(os_str text, uint16_t *to) {
  size_t at = 0, count = 0;
  while (at < text.len) {
    uint32_t c = os_utf8_next(text, &at);
    if (c >= 0x10000) {
      to[count++] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
      c = 0xdc00 + (c & 0x3ff);
    }
    to[count++] = (uint16_t)c;
  }
  return count;
}

// How often the library may step, and what that is of all steps that the caller gives.
static int os_pattern__run(const os_pattern *self, os_pattern_run *run, uint8_t **captures, const void *text,
                           size_t len, bool wide, uint64_t *steps) {
  uint64_t cost = self->cost + (self->backs ? len / BYTES_A_STEP : 0), most = *steps / cost + 1;
  int given = most < INT_MAX ? (int)most : INT_MAX, left = given;
  int found = os_regexp_exec(captures, self->code, text, len, wide, run, &left);
  *steps = (uint64_t)(given - left) * cost;
  return found;
}

os_status os_pattern_match(const os_pattern *self, os_memory *memory, os_str text, uint64_t *steps,
                           bool *matches) {
  uint64_t read = 1 + text.len / BYTES_A_STEP;
  *matches = false;
  if (self->simple != NULL) {
    *matches = os_pattern_simple_match(self->simple, text);
    *steps = 1 + text.len / BYTES_A_SIMPLE_STEP;
    return OS_OK;
  }
  bool wide = !os_utf8_is_ascii(text);
  if (text.len > (wide ? WIDE_LIMIT : TEXT_LIMIT)) {
    *steps = read;
    return OS_LIMIT;
  }
  os_pattern_run run = {.memory = memory, .stack = __builtin_frame_address(0)};
  uint8_t *few[2 * FEW_CAPTURES], **captures = few;
  if (self->captures > FEW_CAPTURES)
    captures = os_memory_alloc(memory, self->captures * 2 * sizeof *captures);
  if (captures == NULL) return OS_OUT_OF_MEMORY;
  int found = LRE_RET_MEMORY_ERROR;
  if (!wide)
    found = os_pattern__run(self, &run, captures, text.data, text.len, false, steps);
  else {
    uint16_t *units = os_memory_alloc(memory, text.len * sizeof *units);
    if (units != NULL)
      found = os_pattern__run(self, &run, captures, units, os_pattern__utf16(text, units), true, steps);
    os_memory_free(memory, units);
    read *= 8;
  }
  if (captures != few) os_memory_free(memory, captures);
  *matches = found == 1;
  *steps += read;
  return found < 0 ? OS_LIMIT : OS_OK;
}
