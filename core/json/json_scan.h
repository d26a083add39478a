#ifndef OPSPEC_JSON_SCAN_H
#define OPSPEC_JSON_SCAN_H

#include "json.h"

// State of one scan. The pieces of the scanner share it; nobody else includes this.
typedef struct os_scan {
  const char *p, *end; // what is left; `end` is the end of the well-formed UTF-8
  const char *text;
  os_arena *arena;
  os_report *report; // may be NULL
  os_json_document *document;
  bool duplicate_errors;
  os_json *spare, *spare_end; // nodes not yet used
  os_json blank;              // what they start as: zeros
  os_json *container;         // innermost open one that has nodes
  uint32_t depth, depth_limit;
  bool depth_told;
  const char *expected; // after a failure: what could stand at p
  const char *hint;     // may be NULL
  os_status status;
} os_scan;

// All answer false after a failure; p then stands where the text is wrong (or status says otherwise).
bool os_scan_fail(os_scan *self, const char *at, const char *expected, const char *hint);
static inline bool os_scan_memory(os_scan *self) {
  self->status = OS_OUT_OF_MEMORY;
  return false;
}

// p at the opening quotation mark. The decoded bytes are a view of the text, or in the arena where there are escapes.
// Lone surrogates are reported at `node`.
bool os_scan_string(os_scan *self, const os_json *node, os_str *out);
// p at '-' or a digit.
bool os_scan_number(os_scan *self, os_json *node);
// p behind the opening bracket of a container that is too deep: checks it without keeping nodes.
bool os_scan_skip_container(os_scan *self, const os_json *node, bool object);

// Called when an object's OS_JSON_INDEX_FROMth member has its key, and for each that follows, while the node is at hand.
bool os_scan_index_member(os_scan *self, os_json *object, os_json *member);
// Called at the end of an object: finds duplicate keys and keeps the last of each.
bool os_scan_close_object(os_scan *self, os_json *object);

// First byte that is no JSON white space.
static inline const char *os_scan_white(const char *p, const char *end) {
  while (p < end) {
    if ((unsigned char)*p > ' ') return p;
    uint64_t word;
    if (*p == ' ' && end - p >= 8) {
      memcpy(&word, p, 8);
      if (word == 0x2020202020202020u) {
        p += 8;
        continue;
      }
    }
    if (*p != ' ' && *p != '\n' && *p != '\r' && *p != '\t') return p;
    p++;
  }
  return p;
}

#endif
