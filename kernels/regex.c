#include "regex.h"

#include "letters.h"

#include <string.h>

// Steps of the machine.
enum { STEP_CLASS, STEP_SPLIT, STEP_JUMP, STEP_ASSERT, STEP_MATCH };
// Parts: a class (a = first range, b = how many), an assertion (a = which), a pair, or a repetition of a.
enum { PART_EMPTY, PART_CLASS, PART_ASSERT, PART_JOIN, PART_EITHER, PART_REPEAT };
enum { ASSERT_BEGIN, ASSERT_END, ASSERT_LINE_BEGIN, ASSERT_LINE_END, ASSERT_WORD, ASSERT_NO_WORD };
enum { FLAG_FOLD = 1, FLAG_LINES = 2, FLAG_DOT_ALL = 4 };
enum { TASK_PART, TASK_REPEAT, TASK_LOOP, TASK_BETWEEN, TASK_PATCH_A, TASK_PATCH_B };

#define REGEX_NONE UINT32_MAX
#define REGEX_LAST 0x10ffffu
enum { REGEX_MOST_REPEATS = 1000 };

// ---- Reading ----------------------------------------------------------------------------------------------

// Open groups lie on the task stack while reading: what is joined so far, the alternatives before it, and the flags.
typedef struct regex_reader {
  regex *self;
  os_str rest;
  uint32_t depth;                // groups open
  uint32_t either, joined, last; // parts of the innermost group: alternatives, this one, its last piece
  uint8_t flags;
  bool repeated; // the last piece has been repeated already
  const char *error;
  bool too_large;
} regex_reader;

static uint32_t regex__part(regex_reader *r, regex_part part) {
  regex *self = r->self;
  if (self->part_count == self->part_room) {
    r->too_large = true;
    return REGEX_NONE;
  }
  self->parts[self->part_count] = part;
  return self->part_count++;
}

static void regex__range(regex_reader *r, uint32_t low, uint32_t high) {
  regex *self = r->self;
  if (low > high) return;
  if (self->range_count == self->range_room)
    r->too_large = true;
  else
    self->ranges[self->range_count++] = (regex_range){low, high};
}

static bool regex__peek(const regex_reader *r, const char *text) {
  size_t n = strlen(text);
  return r->rest.len >= n && memcmp(r->rest.data, text, n) == 0;
}

static void regex__skip(regex_reader *r, size_t n) { r->rest = (os_str){r->rest.data + n, r->rest.len - n}; }

static bool regex__accept(regex_reader *r, const char *text) {
  if (!regex__peek(r, text)) return false;
  regex__skip(r, strlen(text));
  return true;
}

static uint32_t regex__code(regex_reader *r) {
  uint32_t code;
  regex__skip(r, letters_next(r->rest, &code));
  return code;
}

// Turns ranges [first, count) into their complement.
static void regex__complement(regex_reader *r, uint32_t first) {
  regex *self = r->self;
  regex_range *ranges = self->ranges + first;
  uint32_t n = self->range_count - first;
  for (uint32_t i = 1; i < n; i++) {
    regex_range moved = ranges[i];
    uint32_t k = i;
    for (; k > 0 && ranges[k - 1].low > moved.low; k--) ranges[k] = ranges[k - 1];
    ranges[k] = moved;
  }
  uint32_t next = 0, kept = 0;
  bool open = true;
  for (uint32_t i = 0; i < n; i++) {
    regex_range range = ranges[i];
    if (open && range.low > next)
      ranges[kept++] = (regex_range){next, range.low - 1}; // kept <= i: never ahead of i
    if (range.high == REGEX_LAST) open = false;
    if (open && range.high >= next) next = range.high + 1;
  }
  self->range_count = first + kept;
  if (open) regex__range(r, next, REGEX_LAST);
}

static void regex__fold(regex_reader *r, uint32_t first) {
  uint32_t count = r->self->range_count;
  for (uint32_t i = first; i < count; i++) {
    regex_range range = r->self->ranges[i];
    if (range.high - range.low > 0x2000) continue; // such classes hold both cases already
    for (uint32_t code = range.low; code <= range.high; code++) {
      for (int upper = 0; upper < 2; upper++) {
        uint32_t other = letters_case(code, upper != 0);
        if (other != code) regex__range(r, other, other);
      }
    }
  }
}

static const struct regex_named {
  const char *name;
  regex_range ranges[4];
} regex_named_classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {1, 0}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}, {1, 0}}},
    {"ascii", {{0, 0x7f}, {1, 0}}},
    {"blank", {{'\t', '\t'}, {' ', ' '}, {1, 0}}},
    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}, {1, 0}}},
    {"digit", {{'0', '9'}, {1, 0}}},
    {"graph", {{'!', '~'}, {1, 0}}},
    {"lower", {{'a', 'z'}, {1, 0}}},
    {"print", {{' ', '~'}, {1, 0}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{'\t', '\r'}, {' ', ' '}, {1, 0}}},
    {"upper", {{'A', 'Z'}, {1, 0}}},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}, {1, 0}}},
    {"d", {{'0', '9'}, {1, 0}}},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}, {1, 0}}},
};

static bool regex__named(regex_reader *r, os_str name, bool negated) {
  for (size_t i = 0; i < sizeof regex_named_classes / sizeof *regex_named_classes; i++) {
    const struct regex_named *known = &regex_named_classes[i];
    if (strlen(known->name) != name.len || memcmp(known->name, name.data, name.len) != 0) continue;
    uint32_t next = 0;
    for (size_t k = 0; k < 4 && known->ranges[k].low <= known->ranges[k].high; k++) {
      if (!negated)
        regex__range(r, known->ranges[k].low, known->ranges[k].high);
      else if (known->ranges[k].low > next)
        regex__range(r, next, known->ranges[k].low - 1);
      next = known->ranges[k].high + 1;
    }
    if (negated) regex__range(r, next, REGEX_LAST);
    return true;
  }
  return false;
}

static int regex__hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// \x7f or \x{10ffff}, after the x.
static uint32_t regex__hex_code(regex_reader *r) {
  bool braces = regex__accept(r, "{");
  uint32_t code = 0;
  size_t digits = 0;
  while (r->rest.len > 0 && digits < (braces ? 8u : 2u) && regex__hex(r->rest.data[0]) >= 0) {
    code = code << 4 | (uint32_t)regex__hex(r->rest.data[0]);
    digits++;
    regex__skip(r, 1);
  }
  bool closed = !braces || regex__accept(r, "}");
  if (digits == 0 || (!braces && digits < 2) || !closed || code > REGEX_LAST) r->error = "a bad \\x escape";
  return code;
}

// The character of an escape, after the backslash; an unknown one is an error.
static uint32_t regex__escaped(regex_reader *r) {
  static const char letters[] = "aftnrv", codes[] = "\a\f\t\n\r\v";
  if (r->rest.len == 0) {
    r->error = "a backslash at the end";
    return 0;
  }
  char c = r->rest.data[0];
  const char *known = c ? strchr(letters, c) : NULL;
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  if (!letter || known) {
    uint32_t code = regex__code(r);
    return known ? (uint32_t)(unsigned char)codes[known - letters] : code;
  }
  regex__skip(r, 1);
  if (c == 'x') return regex__hex_code(r);
  bool octal = c == '0' ||
               (c >= '1' && c <= '7' && r->rest.len > 0 && r->rest.data[0] >= '0' && r->rest.data[0] <= '7');
  if (octal) {
    uint32_t code = (uint32_t)(c - '0');
    for (int i = 0; i < 2 && r->rest.len > 0 && r->rest.data[0] >= '0' && r->rest.data[0] <= '7'; i++) {
      code = code * 8 + (uint32_t)(r->rest.data[0] - '0');
      regex__skip(r, 1);
    }
    return code;
  }
  r->error = c == 'p' || c == 'P' ? "classes of Unicode properties are not supported" : "an unknown escape";
  return 0;
}

// \d, \W and the like; false when the text is something else.
static bool regex__perl_class(regex_reader *r) {
  if (r->rest.len < 2 || r->rest.data[0] != '\\') return false;
  char c = r->rest.data[1], lower = (char)(c | 32);
  if (lower != 'd' && lower != 's' && lower != 'w') return false;
  regex__named(r, (os_str){&lower, 1}, c != lower);
  regex__skip(r, 2);
  return true;
}

static void regex__class_item(regex_reader *r) {
  if (regex__perl_class(r)) return;
  if (regex__peek(r, "[:")) {
    size_t end = 2;
    while (end + 1 < r->rest.len && !(r->rest.data[end] == ':' && r->rest.data[end + 1] == ']')) end++;
    bool negated = r->rest.len > 2 && r->rest.data[2] == '^';
    size_t begin = negated ? 3 : 2;
    os_str name = {r->rest.data + begin, end > begin ? end - begin : 0};
    if (end + 1 >= r->rest.len || !regex__named(r, name, negated))
      r->error = "an unknown class name";
    else
      regex__skip(r, end + 2);
    return;
  }
  uint32_t low = regex__accept(r, "\\") ? regex__escaped(r) : regex__code(r), high = low;
  if (r->rest.len >= 2 && r->rest.data[0] == '-' && r->rest.data[1] != ']') {
    regex__skip(r, 1);
    high = regex__accept(r, "\\") ? regex__escaped(r) : regex__code(r);
  }
  if (high < low) r->error = "a range that runs backwards";
  regex__range(r, low, high);
}

// A class, after its opening bracket.
static void regex__class(regex_reader *r) {
  bool negated = regex__accept(r, "^"), first = true;
  uint32_t begin = r->self->range_count;
  while (!r->error && !r->too_large && r->rest.len > 0 && (first || r->rest.data[0] != ']')) {
    regex__class_item(r);
    first = false;
  }
  if (!r->error && !regex__accept(r, "]")) r->error = "a class without its end";
  if (r->flags & FLAG_FOLD) regex__fold(r, begin);
  if (negated) regex__complement(r, begin);
}

// ---- Pieces and groups ------------------------------------------------------------------------------------

// Puts the last piece, which may still have been repeated, to what is joined.
static void regex__settle(regex_reader *r) {
  if (r->last == REGEX_NONE) return;
  if (r->joined == REGEX_NONE)
    r->joined = r->last;
  else
    r->joined = regex__part(r, (regex_part){.kind = PART_JOIN, .a = r->joined, .b = r->last});
  r->last = REGEX_NONE;
}

static void regex__piece(regex_reader *r, uint32_t part) {
  regex__settle(r);
  r->last = part;
  r->repeated = false;
}

static void regex__end_alternative(regex_reader *r) {
  regex__settle(r);
  if (r->joined == REGEX_NONE) r->joined = regex__part(r, (regex_part){.kind = PART_EMPTY});
  if (r->either == REGEX_NONE)
    r->either = r->joined;
  else
    r->either = regex__part(r, (regex_part){.kind = PART_EITHER, .a = r->either, .b = r->joined});
  r->joined = REGEX_NONE;
}

static void regex__ranges_piece(regex_reader *r, uint32_t first) {
  uint32_t count = r->self->range_count - first;
  regex__piece(r, regex__part(r, (regex_part){.kind = PART_CLASS, .a = first, .b = count}));
}

static void regex__literal(regex_reader *r, uint32_t code) {
  uint32_t first = r->self->range_count;
  regex__range(r, code, code);
  if (r->flags & FLAG_FOLD) regex__fold(r, first);
  regex__ranges_piece(r, first);
}

static void regex__assertion(regex_reader *r, uint32_t which) {
  regex__piece(r, regex__part(r, (regex_part){.kind = PART_ASSERT, .a = which}));
}

// Flags after "(?": up to and with the colon or the closing bracket. *group: a group begins.
static void regex__flags(regex_reader *r, bool *group) {
  bool on = true, any = false;
  for (; r->rest.len > 0; any = true) {
    char c = r->rest.data[0];
    regex__skip(r, 1);
    uint8_t flag = c == 'i' ? FLAG_FOLD : c == 'm' ? FLAG_LINES : c == 's' ? FLAG_DOT_ALL : 0;
    if (c == '-' && on)
      on = false;
    else if (c == ':' || (c == ')' && any)) {
      *group = c == ':';
      return;
    } else if (flag)
      r->flags = on ? r->flags | flag : (uint8_t)(r->flags & ~flag);
    else if (c != 'U')
      break; // greediness does not matter for a whole match
  }
  r->error = "an unknown kind of group";
}

static void regex__open(regex_reader *r) {
  uint8_t outer = r->flags;
  bool group = true;
  if (regex__accept(r, "?P<") || (regex__peek(r, "?<") && !regex__peek(r, "?<=") && !regex__peek(r, "?<!"))) {
    regex__accept(r, "?<");
    while (r->rest.len > 0 && r->rest.data[0] != '>') regex__skip(r, 1);
    if (!regex__accept(r, ">")) r->error = "a group name without its end";
  } else if (regex__accept(r, "?")) {
    regex__flags(r, &group);
  }
  if (r->error || !group) return;
  regex__settle(r);
  if (r->depth == r->self->task_room) {
    r->too_large = true;
    return;
  }
  r->self->tasks[r->depth] = (regex_task){.kind = outer, .part = r->either, .at = r->joined};
  r->depth++;
  r->either = r->joined = r->last = REGEX_NONE;
}

static void regex__close(regex_reader *r) {
  if (r->depth == 0) {
    r->error = "a closing bracket too many";
    return;
  }
  regex__end_alternative(r);
  uint32_t inner = r->either;
  r->depth--;
  regex_task outer = r->self->tasks[r->depth];
  r->either = outer.part;
  r->joined = outer.at;
  r->flags = outer.kind;
  regex__piece(r, inner);
}

static bool regex__number(os_str text, size_t *at, uint32_t *out) {
  size_t begin = *at;
  *out = 0;
  while (*at < text.len && text.data[*at] >= '0' && text.data[*at] <= '9') {
    *out = *out * 10 + (uint32_t)(text.data[*at] - '0');
    if (*out > REGEX_MOST_REPEATS) *out = REGEX_MOST_REPEATS + 1;
    (*at)++;
  }
  return *at > begin;
}

// {2}, {2,} or {2,3}; false when the brace is a mere character.
static bool regex__braces(regex_reader *r, uint32_t *least, uint32_t *most) {
  size_t at = 1;
  if (!regex__number(r->rest, &at, least)) return false;
  *most = *least;
  if (at < r->rest.len && r->rest.data[at] == ',') {
    at++;
    if (!regex__number(r->rest, &at, most)) *most = REGEX_NONE;
  }
  if (at >= r->rest.len || r->rest.data[at] != '}') return false;
  regex__skip(r, at + 1);
  bool bad =
      *least > REGEX_MOST_REPEATS || (*most != REGEX_NONE && (*most > REGEX_MOST_REPEATS || *most < *least));
  if (bad) r->error = "a bad repetition count";
  return true;
}

// A repetition of the last piece, if one follows.
static bool regex__repetition(regex_reader *r) {
  uint32_t least = 0, most = REGEX_NONE;
  char c = r->rest.data[0];
  if (c == '{') {
    if (!regex__braces(r, &least, &most)) return false;
  } else if (c == '*' || c == '+' || c == '?') {
    regex__skip(r, 1);
    least = c == '+';
    most = c == '?' ? 1 : REGEX_NONE;
  } else {
    return false;
  }
  if (r->last == REGEX_NONE || r->repeated) {
    r->error = "a repetition of nothing";
    return true;
  }
  regex__accept(r, "?");
  r->last = regex__part(r, (regex_part){.kind = PART_REPEAT, .a = r->last, .least = least, .most = most});
  r->repeated = true;
  return true;
}

static bool regex__escape_piece(regex_reader *r) {
  static const struct {
    const char *text;
    uint32_t which;
  } assertions[] = {
      {"\\A", ASSERT_BEGIN}, {"\\z", ASSERT_END}, {"\\b", ASSERT_WORD}, {"\\B", ASSERT_NO_WORD}};
  for (size_t i = 0; i < sizeof assertions / sizeof *assertions; i++) {
    if (!regex__accept(r, assertions[i].text)) continue;
    regex__assertion(r, assertions[i].which);
    return true;
  }
  if (regex__accept(r, "\\Q")) {
    while (r->rest.len > 0 && !regex__accept(r, "\\E")) regex__literal(r, regex__code(r));
    return true;
  }
  uint32_t first = r->self->range_count;
  if (!regex__perl_class(r)) return false;
  regex__ranges_piece(r, first);
  return true;
}

static void regex__one(regex_reader *r) {
  uint32_t first = r->self->range_count;
  if (regex__repetition(r)) return;
  if (r->rest.data[0] == '\\' && regex__escape_piece(r)) return;
  if (regex__accept(r, "("))
    regex__open(r);
  else if (regex__accept(r, ")"))
    regex__close(r);
  else if (regex__accept(r, "|"))
    regex__end_alternative(r);
  else if (regex__accept(r, "^"))
    regex__assertion(r, r->flags & FLAG_LINES ? ASSERT_LINE_BEGIN : ASSERT_BEGIN);
  else if (regex__accept(r, "$"))
    regex__assertion(r, r->flags & FLAG_LINES ? ASSERT_LINE_END : ASSERT_END);
  else if (regex__accept(r, ".")) {
    regex__range(r, 0, r->flags & FLAG_DOT_ALL ? REGEX_LAST : '\n' - 1);
    if (!(r->flags & FLAG_DOT_ALL)) regex__range(r, '\n' + 1, REGEX_LAST);
    regex__ranges_piece(r, first);
  } else if (regex__accept(r, "[")) {
    regex__class(r);
    regex__ranges_piece(r, first);
  } else {
    regex__literal(r, regex__accept(r, "\\") ? regex__escaped(r) : regex__code(r));
  }
}

// ---- Writing steps ----------------------------------------------------------------------------------------

typedef struct regex_writer {
  regex *self;
  uint32_t tasks;
  bool too_large;
} regex_writer;

static uint32_t regex__step(regex_writer *w, regex_step step) {
  if (w->self->step_count == w->self->step_room) {
    w->too_large = true;
    return 0;
  }
  w->self->steps[w->self->step_count] = step;
  return w->self->step_count++;
}

static void regex__push(regex_writer *w, regex_task task) {
  if (w->tasks == w->self->task_room)
    w->too_large = true;
  else
    w->self->tasks[w->tasks++] = task;
}

static void regex__write_part(regex_writer *w, uint32_t index) {
  regex_part part = w->self->parts[index];
  uint32_t here = w->self->step_count;
  switch (part.kind) {
  case PART_CLASS: regex__step(w, (regex_step){STEP_CLASS, part.a, part.b}); break;
  case PART_ASSERT: regex__step(w, (regex_step){STEP_ASSERT, part.a, 0}); break;
  case PART_JOIN:
    regex__push(w, (regex_task){.kind = TASK_PART, .part = part.b});
    regex__push(w, (regex_task){.kind = TASK_PART, .part = part.a});
    break;
  case PART_EITHER:
    regex__step(w, (regex_step){STEP_SPLIT, here + 1, 0});
    regex__push(w, (regex_task){.kind = TASK_BETWEEN, .part = part.b, .at = here});
    regex__push(w, (regex_task){.kind = TASK_PART, .part = part.a});
    break;
  case PART_REPEAT: regex__push(w, (regex_task){.kind = TASK_REPEAT, .part = index}); break;
  default: break;
  }
}

// One more copy of what is repeated, and the task for those after it.
static void regex__write_repeat(regex_writer *w, regex_task task) {
  regex_part part = w->self->parts[task.part];
  uint32_t here = w->self->step_count;
  bool optional = task.count >= part.least;
  if (task.count >= part.most) return;
  if (optional) regex__step(w, (regex_step){STEP_SPLIT, here + 1, 0});
  if (optional && part.most == REGEX_NONE) {
    regex__push(w, (regex_task){.kind = TASK_LOOP, .at = here});
  } else {
    if (optional) regex__push(w, (regex_task){.kind = TASK_PATCH_B, .at = here});
    regex__push(w, (regex_task){.kind = TASK_REPEAT, .part = task.part, .count = task.count + 1});
  }
  regex__push(w, (regex_task){.kind = TASK_PART, .part = part.a});
}

static void regex__write(regex_writer *w, uint32_t whole) {
  regex *self = w->self;
  regex__push(w, (regex_task){.kind = TASK_PART, .part = whole});
  while (w->tasks > 0 && !w->too_large) {
    regex_task task = self->tasks[--w->tasks];
    uint32_t here = self->step_count;
    switch (task.kind) {
    case TASK_PART: regex__write_part(w, task.part); break;
    case TASK_REPEAT: regex__write_repeat(w, task); break;
    case TASK_LOOP:
      regex__step(w, (regex_step){STEP_JUMP, task.at, 0});
      self->steps[task.at].b = self->step_count;
      break;
    case TASK_BETWEEN:
      regex__step(w, (regex_step){STEP_JUMP, 0, 0});
      self->steps[task.at].b = self->step_count;
      regex__push(w, (regex_task){.kind = TASK_PATCH_A, .at = here});
      regex__push(w, (regex_task){.kind = TASK_PART, .part = task.part});
      break;
    case TASK_PATCH_A: self->steps[task.at].a = here; break;
    default: self->steps[task.at].b = here; break;
    }
  }
  regex__step(w, (regex_step){STEP_MATCH, 0, 0});
}

const char *regex_compile(regex *self, os_str pattern, bool *too_large) {
  regex_reader r = {
      .self = self, .rest = pattern, .either = REGEX_NONE, .joined = REGEX_NONE, .last = REGEX_NONE};
  self->step_count = self->range_count = self->part_count = 0;
  while (r.rest.len > 0 && !r.error && !r.too_large) regex__one(&r);
  if (!r.error && !r.too_large && r.depth > 0) r.error = "a group without its end";
  if (!r.error && !r.too_large) regex__end_alternative(&r);
  *too_large = r.too_large;
  if (r.error || r.too_large) return r.error ? r.error : "the pattern is too large";
  regex_writer w = {.self = self};
  regex__write(&w, r.either);
  *too_large = w.too_large;
  return w.too_large ? "the pattern is too large" : NULL;
}

// ---- Matching ---------------------------------------------------------------------------------------------

// A set of steps in order of arrival, with a sparse index that needs no clearing.
typedef struct regex_set {
  uint32_t count;
  uint32_t *list, *place;
} regex_set;

static bool regex__put(regex_set *set, uint32_t step) {
  uint32_t at = set->place[step];
  if (at < set->count && set->list[at] == step) return false;
  set->place[step] = set->count;
  set->list[set->count++] = step;
  return true;
}

static bool regex__is_word(uint32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') ||
         code == '_';
}

// before, after: code points around the place, REGEX_NONE at the ends.
static bool regex__holds(uint32_t which, uint32_t before, uint32_t after) {
  switch (which) {
  case ASSERT_BEGIN: return before == REGEX_NONE;
  case ASSERT_END: return after == REGEX_NONE;
  case ASSERT_LINE_BEGIN: return before == REGEX_NONE || before == '\n';
  case ASSERT_LINE_END: return after == REGEX_NONE || after == '\n';
  default: return (regex__is_word(before) != regex__is_word(after)) == (which == ASSERT_WORD);
  }
}

// Follows steps that read nothing; the list itself is the queue, so that none is followed twice.
static void regex__follow(const regex *self, regex_set *set, uint32_t before, uint32_t after) {
  for (uint32_t i = 0; i < set->count; i++) {
    regex_step step = self->steps[set->list[i]];
    if (step.kind == STEP_SPLIT || step.kind == STEP_JUMP) regex__put(set, step.a);
    if (step.kind == STEP_SPLIT) regex__put(set, step.b);
    if (step.kind == STEP_ASSERT && regex__holds(step.a, before, after)) regex__put(set, set->list[i] + 1);
  }
}

static bool regex__in_class(const regex *self, regex_step step, uint32_t code) {
  for (uint32_t i = 0; i < step.b; i++) {
    if (code >= self->ranges[step.a + i].low && code <= self->ranges[step.a + i].high) return true;
  }
  return false;
}

bool regex_matches(const regex *self, os_str text, uint32_t *sets) {
  size_t n = self->step_count + 1;
  memset(sets, 0, 4 * n * sizeof *sets);
  regex_set now = {0, sets, sets + n}, next = {0, sets + 2 * n, sets + 3 * n};
  uint32_t before = REGEX_NONE, code = REGEX_NONE;
  regex__put(&now, 0);
  for (;;) {
    size_t length = text.len > 0 ? letters_next(text, &code) : 0;
    if (length == 0) code = REGEX_NONE;
    regex__follow(self, &now, before, code);
    if (length == 0 || now.count == 0) break;
    next.count = 0;
    for (uint32_t i = 0; i < now.count; i++) {
      regex_step step = self->steps[now.list[i]];
      if (step.kind == STEP_CLASS && regex__in_class(self, step, code)) regex__put(&next, now.list[i] + 1);
    }
    regex_set swap = now;
    now = next;
    next = swap;
    before = code;
    text = (os_str){text.data + length, text.len - length};
  }
  for (uint32_t i = 0; i < now.count; i++) {
    if (self->steps[now.list[i]].kind == STEP_MATCH) return text.len == 0;
  }
  return false;
}
