#ifndef OPSPEC_JSON_H
#define OPSPEC_JSON_H

#include "arena.h"
#include "report.h"

#include <cJSON.h>

// A JSON value as it stands in its text. `item` is a real cJSON node (type, next, prev, child, valuedouble, string,
// valuestring), but its strings are views that no NUL ends: read them with os_json_string and os_json_key, and leave
// cJSON's printer, comparer and key look-ups alone. Offsets count bytes of the document's text.
typedef struct os_json {
  cJSON item;
  struct os_json *parent;      // NULL for the root
  struct os_json_index *index; // objects with many members only
  uint32_t start, end;         // the value
  uint32_t key_start, key_end; // an object's member: the key with its quotes; else 0, 0
  uint32_t length;             // array, object: children; string: bytes when decoded
  uint32_t key_length;         // bytes of the key when decoded
  uint32_t order;              // an object's member: hash of its key; an array's: its index
  uint32_t flags;
} os_json;

enum {                    // os_json.flags
  OS_JSON_INTEGER = 1,    // a number without fraction and exponent
  OS_JSON_CUT = 2,        // a container beyond the depth limit: its children were checked but not kept
  OS_JSON_DUPLICATES = 4, // an object that had a key twice; the last one was kept
};

typedef enum os_json_type {
  OS_JSON_NULL = cJSON_NULL,
  OS_JSON_FALSE = cJSON_False,
  OS_JSON_TRUE = cJSON_True,
  OS_JSON_NUMBER = cJSON_Number,
  OS_JSON_STRING = cJSON_String,
  OS_JSON_ARRAY = cJSON_Array,
  OS_JSON_OBJECT = cJSON_Object,
  OS_JSON_BOOL = cJSON_False | cJSON_True, // for os_json_is only
} os_json_type;

typedef struct os_json_document {
  os_str text;   // as given, a byte-order mark included; borrowed
  os_str file;   // what findings call it; empty = the document of the call
  os_json *root; // NULL when the text is not JSON: json.syntax or json.encoding says where
  size_t nodes;
} os_json_document;

typedef struct os_json_options {
  uint32_t depth;      // containers inside each other; 0 = OS_JSON_DEPTH_DEFAULT
  bool duplicate_keys; // they are errors (the exchange rules of operator-extension documents); else warnings
} os_json_options;

// Strict RFC 8259 in UTF-8. Rules: json.syntax and json.encoding end the scan with root NULL; json.surrogate (becomes
// U+FFFD), json.depth, json.duplicate-key and json.bom do not. Nodes live in the arena, views point into `text`.
// `report` may be NULL. OS_LIMIT for texts of 4 GiB and more; OS_OUT_OF_MEMORY; otherwise OS_OK.
os_status os_json_parse(os_json_document *out, os_arena *arena, os_str file, os_str text,
                        const os_json_options *options, os_report *report);

static inline os_json_type os_json_type_of(const os_json *self) {
  return (os_json_type)(self->item.type & 0xff);
}
static inline bool os_json_is(const os_json *self, os_json_type type) {
  return self != NULL && (self->item.type & (int)type) != 0;
}
// "null", "boolean", "number", "string", "array", "object".
const char *os_json_type_name(const os_json *self);

static inline os_json *os_json_first(const os_json *self) { return (os_json *)self->item.child; }
static inline os_json *os_json_next(const os_json *self) { return (os_json *)self->item.next; }
#define OS_JSON_EACH(child, parent)                                                     \
  for (os_json *child = (parent) == NULL ? NULL : os_json_first(parent); child != NULL; \
       child = os_json_next(child))

// Decoded; may hold NUL. Empty unless it is a string / a member.
static inline os_str os_json_string(const os_json *self) {
  return os_json_is(self, OS_JSON_STRING) ? (os_str){self->item.valuestring, self->length} : (os_str){"", 0};
}
static inline os_str os_json_key(const os_json *self) {
  return (os_str){self->item.string, self->key_length};
}
// The value's bytes as written; of a number its exact decimal text.
static inline os_str os_json_source(const os_json_document *document, const os_json *self) {
  return (os_str){document->text.data + self->start, self->end - self->start};
}

// What os_json.order of a member is.
static inline uint32_t os_json_key_hash(os_str key) {
  uint64_t a = 0, b = 0, h = key.len;
  const char *p = key.data;
  size_t left = key.len;
  for (; left > 16; p += 8, left -= 8) {
    memcpy(&a, p, 8);
    h = (h ^ a) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  a = 0;
  if (left >= 8) { // the two words may overlap
    memcpy(&a, p, 8);
    memcpy(&b, p + left - 8, 8);
  } else if (left >= 4) {
    uint32_t low, high;
    memcpy(&low, p, 4);
    memcpy(&high, p + left - 4, 4);
    a = low, b = high;
  } else if (left > 0) {
    a = (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[left / 2] << 8 |
        (unsigned char)p[left - 1];
  }
  h = (h ^ a) * 0x9e3779b97f4a7c15u;
  h ^= h >> 32;
  h = (h ^ b) * 0xd6e8feb86659fd93u;
  h = (h ^ h >> 32) *
      0x9e3779b97f4a7c15u; // the last bytes, which names mostly differ in, are in the highest bits only
  return (uint32_t)(h >> 32);
}

// Member of an object by key, O(1) but for hostile keys (then O(log n)); NULL when absent or no object.
os_json *os_json_get(const os_json *object, os_str key);
// Always inlined: the length of a literal is a constant then.
__attribute__((always_inline)) static inline os_json *os_json_member(const os_json *object, const char *key) {
  return os_json_get(object, os_str_of(key));
}
// All members that a list of names has, each at its name's place; NULL where there is none, or no object. Members that
// stand in the order of the list are found at once.
void os_json_members(const os_json *object, const os_str *names, size_t count, const os_json **out);
// Element of an array; NULL when there is none.
os_json *os_json_at(const os_json *array, size_t index);

// RFC 6901 pointer of a node; an empty string for the root and when memory is exhausted.
os_str os_json_pointer(os_arena *arena, const os_json *self);
// Node that a pointer names; NULL when there is none or the pointer is malformed.
os_json *os_json_resolve(const os_json *root, os_str pointer);
// Appends an escaped token ("a/b" -> "a~1b") to a pointer.
os_str os_json_pointer_add(os_arena *arena, os_str pointer, os_str token);

// Sets file, pointer and range of a finding's place to a value, or to a member's key. `node` NULL: the file alone.
void os_json_where(const os_json_document *document, os_arena *arena, const os_json *node, os_where *where);
void os_json_where_key(const os_json_document *document, os_arena *arena, const os_json *node,
                       os_where *where);
// Short form of a value for a message's "found": at most about 80 bytes, cut at a character, with "..." where cut. Empty
// for NULL.
os_str os_json_excerpt(const os_json_document *document, os_arena *arena, const os_json *node);
// The same for a string, quoted and escaped as JSON.
os_str os_json_quote(os_arena *arena, os_str text);
// For messages: of a long one only its beginning, with "..." behind it.
enum { OS_JSON_QUOTED = 200 };
os_str os_json_quote_head(os_arena *arena, os_str text);

extern const os_rule_table os_json_rules;

#endif
