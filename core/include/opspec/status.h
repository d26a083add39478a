#ifndef OPSPEC_STATUS_H
#define OPSPEC_STATUS_H

// "I could not do my job". What is wrong with a document is a finding in a report instead (report.h).
typedef enum os_status {
#define OPSPEC_STATUS(name, number, code, text) OS_##name = number,
#include <opspec/status.def>
#undef OPSPEC_STATUS
} os_status;

// Leaves the calling function with the status of `expression` unless it is OS_OK.
#define OS_TRY(expression)                            \
  do {                                                \
    os_status os_try_status = (expression);           \
    if (os_try_status != OS_OK) return os_try_status; \
  } while (0)

// Leaves the calling function with OS_OUT_OF_MEMORY when an allocator answered NULL.
#define OS_TRY_ALLOC(pointer)                       \
  do {                                              \
    if ((pointer) == NULL) return OS_OUT_OF_MEMORY; \
  } while (0)

// Both never NULL; an unknown number gives the texts of CRASHED.
const char *os_status_code(os_status status);
const char *os_status_text(os_status status);

#endif
