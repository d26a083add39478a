#ifndef OPSPEC_SOURCE_H
#define OPSPEC_SOURCE_H

#include "bytes.h"

#include <opspec/status.h>

// Bytes of a file: in memory as a whole, or read piece by piece (a file of many GB of which only the skeleton is kept).
typedef struct os_source {
  const uint8_t *data; // the whole file, or NULL: then `read` brings pieces
  uint64_t length;
  // Fills `to` with n bytes from `offset`; [offset, offset + n) is inside the file. OS_NEEDS_HOST: not there yet and
  // nothing written; the same call is made again when the caller resumes. Any other trouble ends the job with that status.
  os_status (*read)(void *context, uint64_t offset, size_t n, void *to);
  // Where [offset, offset + n) is in memory all the same; NULL: it is not. May be NULL.
  const uint8_t *(*find)(void *context, uint64_t offset, uint64_t n);
  void *context;
} os_source;

static inline os_source os_source_memory(const void *data, size_t length) {
  return (os_source){.data = (const uint8_t *)data, .length = length};
}
// [offset, offset + n) where it is in memory, else NULL; so it is for what is not in the source.
const uint8_t *os_source_find(const os_source *self, uint64_t offset, uint64_t n);
// Copies [offset, offset + n). OS_MALFORMED when the source ends before.
os_status os_source_read(const os_source *self, uint64_t offset, size_t n, void *to);

#endif
