#ifndef OPSPEC_LIMITS_H
#define OPSPEC_LIMITS_H

#include <opspec/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What an Env refuses to go beyond. 0 = the default.
typedef struct os_limits {
  uint64_t bytes;    // size of one document
  uint64_t memory;   // all memory of the Env
  uint32_t findings; // findings kept in one report
  uint32_t depth;    // nesting: JSON 1,000 and protobuf messages 256 unless set
} os_limits;

enum { OS_FINDINGS_DEFAULT = 1000, OS_JSON_DEPTH_DEFAULT = 1000, OS_PROTO_DEPTH_DEFAULT = 256 };

// How a long job learns that it should stop. All members may be zero: then it never does.
typedef struct os_stop {
  double (*now)(void *context); // milliseconds of a clock that never goes back
  bool (*aborted)(void *context);
  void *context;
  double deadline; // in now()'s milliseconds; 0 = none
} os_stop;

// OS_OK, OS_ABORTED or OS_TIMEOUT. Calls the host: ask every few thousand units of work, not at each.
static inline os_status os_stop_check(const os_stop *self) {
  if (self == NULL) return OS_OK;
  if (self->aborted != NULL && self->aborted(self->context)) return OS_ABORTED;
  if (self->deadline > 0 && self->now != NULL && self->now(self->context) > self->deadline) return OS_TIMEOUT;
  return OS_OK;
}

// Who is told how much of a long job is done. May be NULL, and `tell` too.
typedef struct os_progress {
  os_status (*tell)(void *context, double part); // from 0 to 1; whatever but OS_OK ends the job
  void *context;
} os_progress;

// As often as os_stop_check.
static inline os_status os_progress_tell(const os_progress *self, double part) {
  return self == NULL || self->tell == NULL ? OS_OK : self->tell(self->context, part < 1 ? part : 1);
}

#endif
