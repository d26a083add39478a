#ifndef OPSPEC_JSON_SCAN_H
#define OPSPEC_JSON_SCAN_H

#include "json.h"
#include "simd.h"

// State of one scan. The pieces of the scanner share it; nobody else includes this.
typedef struct os_scan {
  const char *p, *end; // what is left; `end` is the end of the well-formed UTF-8
  const char *text;
  os_arena *arena;
  os_report *report; // may be NULL
  os_json_document *document;
  bool duplicate_errors;
  os_json *spare, *spare_end; // nodes not yet used
  os_json *container;         // innermost open one that has nodes
  os_json *last;              // its last child so far
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
bool os_scan_any_string(os_scan *self, const os_json *node, os_str *out);
// p at '-' or a digit.
bool os_scan_number(os_scan *self, os_json *node);
// p behind the opening bracket of a container that is too deep: checks it without keeping nodes.
bool os_scan_skip_container(os_scan *self, const os_json *node, bool object);

// Called when an object's OS_JSON_INDEX_FROMth member has its key, and for each that follows, while the node is at hand.
bool os_scan_index_member(os_scan *self, os_json *object, os_json *member);
// Called at the end of an object: finds duplicate keys and keeps the last of each.
bool os_scan_close_object(os_scan *self, os_json *object);

static inline bool os_scan_is_white(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The same from where white space stands.
static inline const char *os_scan_white_run(const char *p, const char *end) {
  for (; end - p >= 16; p += 16) {
    u8x16 bytes = u8x16_load(p);
    uint32_t other =
        ~u8x16_highs((bytes == ' ') | (bytes == '\n') | (bytes == '\r') | (bytes == '\t')) & 0xffff;
    if (other != 0) return p + __builtin_ctz(other);
  }
  while (p < end && os_scan_is_white(*p)) p++;
  return p;
}

// First byte that is no JSON white space. Mostly there is none, or a single blank.
static inline const char *os_scan_white(const char *p, const char *end) {
  if (p < end && *p == ' ') p++;
  return p < end && (unsigned char)*p <= ' ' ? os_scan_white_run(p, end) : p;
}

// First byte that a string cannot hold as it is: quotation mark, backslash, control character; or the end.
static inline const char *os_scan_plain(const char *p, const char *end) {
  for (; end - p >= 16; p += 16) {
    u8x16 bytes = u8x16_load(p);
    uint32_t hit = u8x16_highs((bytes == '"') | (bytes == '\\') | (bytes < 0x20));
    if (hit != 0) return p + __builtin_ctz(hit);
  }
  while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) p++;
  return p;
}

// p at the opening quotation mark; answers the place behind the closing one, or NULL. os_scan_any_string serves strings
// with escapes and wrong ones.
static inline const char *os_scan_string(os_scan *self, const os_json *node, const char *p, os_str *out) {
  const char *start = p + 1, *quote = os_scan_plain(start, self->end);
  if (quote >= self->end || *quote != '"') {
    self->p = p;
    return os_scan_any_string(self, node, out) ? self->p : NULL;
  }
  *out = (os_str){start, (size_t)(quote - start)};
  return quote + 1;
}

#endif
