#include "pattern.h"

#include "pattern_simple.h"
#include "text.h"
#include "utf8.h"

#include <libregexp.h>

struct os_pattern {
  os_pattern_simple *simple; // not NULL: decides alone
  const uint8_t *code;
  uint32_t captures;
};

// What the library's hooks get.
typedef struct os_pattern_run {
  os_memory *memory;
  uint64_t polls; // left; each stands for POLL steps
  const char *stack;
} os_pattern_run;

enum { POLL = 10000, STACK = 96 * 1024, TEXT_LIMIT = 1 << 28 };

// The library asks for these three. Stack is measured from where the run began.
int lre_check_stack_overflow(void *opaque, size_t alloca_size) {
  const os_pattern_run *run = opaque;
  ptrdiff_t used = run->stack - (const char *)__builtin_frame_address(0);
  if (used < 0) used = -used;
  return (size_t)used + alloca_size > STACK;
}

int lre_check_timeout(void *opaque) {
  os_pattern_run *run = opaque;
  if (run->polls == 0) return 1;
  run->polls--;
  return 0;
}

void *lre_realloc(void *opaque, void *block, size_t size) {
  os_pattern_run *run = opaque;
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

os_status os_pattern_compile(os_pattern **out, os_arena *arena, os_str source, os_str *message) {
  *out = NULL;
  char trouble[128] = "";
  os_pattern_run run = {.memory = arena->memory, .stack = __builtin_frame_address(0)};
  os_pattern *self = OS_ARENA_NEW(arena, os_pattern);
  char *ended = os_arena_alloc(arena, source.len + 1); // the parser reads a byte past the end
  if (self == NULL || ended == NULL) return OS_OUT_OF_MEMORY;
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
  self->captures = (uint32_t)lre_get_capture_count(code);
  self->code = (const uint8_t *)copy.data;
  lre_realloc(&run, code, 0);
  if (copy.data == NULL) return OS_OUT_OF_MEMORY;
  OS_TRY(os_pattern_simple_compile(&self->simple, arena, source));
  *out = self;
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

static bool os_pattern__ascii(os_str text) {
  for (size_t i = 0; i < text.len; i++)
    if ((unsigned char)text.data[i] >= 0x80) return false;
  return true;
}

os_status os_pattern_match(const os_pattern *self, os_memory *memory, os_str text, uint64_t *steps,
                           bool *matches) {
  *matches = false;
  uint64_t polls = *steps / POLL + 1;
  *steps = 0;
  if (self->simple != NULL) {
    *matches = os_pattern_simple_match(self->simple, text);
    return OS_OK;
  }
  if (text.len > TEXT_LIMIT) return OS_LIMIT;
  os_pattern_run run = {.memory = memory, .polls = polls, .stack = __builtin_frame_address(0)};
  uint8_t **captures = os_memory_alloc(memory, self->captures * 2 * sizeof *captures);
  if (captures == NULL) return OS_OUT_OF_MEMORY;
  uint16_t *wide = NULL;
  size_t len = text.len;
  if (!os_pattern__ascii(text)) {
    wide = os_memory_alloc(memory, text.len * sizeof *wide);
    if (wide != NULL)
      len = os_pattern__utf16(text, wide);
    else
      len = SIZE_MAX;
  }
  int found = LRE_RET_MEMORY_ERROR;
  if (len != SIZE_MAX)
    found = lre_exec(captures, self->code, wide != NULL ? (const uint8_t *)wide : (const uint8_t *)text.data,
                     0, (int)len, wide != NULL ? 1 : 0, &run);
  os_memory_free(memory, wide);
  os_memory_free(memory, captures);
  *matches = found == 1;
  *steps = (polls - run.polls) * POLL;
  return found < 0 ? OS_LIMIT : OS_OK;
}
