#ifndef OPSPEC_URI_H
#define OPSPEC_URI_H

#include "arena.h"

// What the reference `text`, which has no fragment, means where `base` is the base (RFC 3986, section 5.2). `base` may be
// empty.
os_str os_uri_resolve(os_arena *arena, os_str base, os_str text);
// %41 becomes A.
os_str os_uri_decode(os_arena *arena, os_str text);

#endif
