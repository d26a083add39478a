#ifndef OPSPEC_PACKED_H
#define OPSPEC_PACKED_H

#include "arena.h"

#include <opspec/status.h>

// Bytes that the build deflated (specs/pack.js): texts and tables that are read seldom, or once.
typedef struct os_packed {
  const unsigned char *bytes;
  uint32_t length, size; // deflated and not
} os_packed;

// Unpacks into the arena. Callers keep what they get: each call inflates anew. OS_OUT_OF_MEMORY.
os_status os_packed_read(const os_packed *self, os_arena *arena, os_str *out);

#endif
