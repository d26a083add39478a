#ifndef OPSPEC_GUESS_H
#define OPSPEC_GUESS_H

#include "message.h"

// What a file is that does not decode, judged by how it begins.
typedef struct os_guess {
  const char *name; // "a Git LFS pointer"; NULL = no idea
  const char *hint; // what to do about it; NULL = nothing to add
  bool text;        // it is some text
} os_guess;
os_guess os_guess_file(os_str head, uint64_t length);

// A zip archive begins with its first file or, where there is none, with its end.
static inline bool os_is_zip(os_str head) {
  return os_str_starts(head, OS_STR("PK\3\4")) || os_str_starts(head, OS_STR("PK\5\6"));
}

// How well bytes fit a message type when its outermost fields, and a sample of those one level below, are looked at.
typedef struct os_fit {
  bool wire; // they are well-formed as far as looked at; else the counts are of what comes before the fault
  uint32_t known;   // fields of the type with its wire type
  uint32_t unknown; // others
} os_fit;
// `head` = the first bytes of a file of `length` bytes, or all of them.
os_fit os_proto_fit(os_str head, uint64_t length, const ProtobufCMessageDescriptor *type);

#endif
