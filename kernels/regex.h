#ifndef OPSPEC_REGEX_H
#define OPSPEC_REGEX_H

// Regular expressions in the syntax of RE2, for matching whole texts in time proportional to pattern times text. Alternation,
// groups (also named, without capture), classes (also [:alpha:]), Perl's \d \s \w \b, anchors, repetitions up to 1000, flags
// i, m, s, U, quoting. Not: classes of Unicode properties (\p), which are refused.

#include <opspec/operator.h>

typedef struct regex_step {
  uint8_t kind;
  uint32_t a, b; // targets; ranges of a class
} regex_step;

typedef struct regex_range {
  uint32_t low, high;
} regex_range;

// Part of a pattern while it is read; see regex.c.
typedef struct regex_part {
  uint8_t kind, flags;
  uint32_t a, b, least, most;
} regex_part;

typedef struct regex_task {
  uint8_t kind;
  uint32_t part, at, count;
} regex_task;

// Room for a pattern, laid out by the caller: the sizes are entries. regex_compile says when they are too few.
typedef struct regex {
  regex_step *steps;
  regex_range *ranges;
  regex_part *parts;
  regex_task *tasks;
  uint32_t step_room, range_room, part_room, task_room;
  uint32_t step_count, range_count, part_count;
} regex;

// NULL, or what is wrong with the pattern. *too_large: more room would help.
const char *regex_compile(regex *self, os_str pattern, bool *too_large);
// Whether the pattern matches the whole text. `sets` has room for 4 * (step_count + 1) entries.
bool regex_matches(const regex *self, os_str text, uint32_t *sets);

#endif
