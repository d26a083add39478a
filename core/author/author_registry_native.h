#ifndef OPSPEC_AUTHOR_REGISTRY_NATIVE_H
#define OPSPEC_AUTHOR_REGISTRY_NATIVE_H

#include "registry.h"

#include <opspec/author.h>

// A registry of the author's roles (opspec/author.h) whose operators end in `registry`, for code that is linked into the
// build. Everything lives in `arena`, which must outlive what is registered. NULL when memory is exhausted.
MLOperatorRegistry *os_author_registry(os_arena *arena, os_registry *registry);

#endif
