#ifndef OPSPEC_SPEC_VERSIONS_H
#define OPSPEC_SPEC_VERSIONS_H

#include "bytes.h"

// An integer, SemVer 2.0.0, or PEP 440 in any of its spellings.
bool os_version_known(os_str version);

// What an exact PEP 440 version (the schema's ExactVersion) says of itself.
typedef struct os_release {
  unsigned parts; // numbers of the release segment
  uint64_t major;
  bool development, local;
} os_release;
os_release os_release_of(os_str version);

#endif
