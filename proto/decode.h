#ifndef OPSPEC_DECODE_H
#define OPSPEC_DECODE_H

#include "limit.h"
#include "message.h"
#include "report.h"
#include "skeleton.h"

// Wire bytes to structs (https://protobuf.dev/programming-guides/encoding). Packed and unpacked elements mix, the last
// scalar wins, singular messages merge, a oneof keeps its last member, groups are skipped. What the descriptors do not know
// (fields, enum values, groups, known fields with another wire type) is kept in `base.unknown_fields` and written back:
// there `data` is what follows the tag, and it may be far.

typedef struct os_decoding {
  os_arena *arena; // holds the structs; the source must outlive them too
  const os_source *source;
  const ProtobufCMessageDescriptor *type;
  uint64_t start, end; // the message's bytes; both 0 = the whole source
  uint32_t depth;      // messages within each other; 0 = OS_PROTO_DEPTH_DEFAULT
  const os_stop *stop; // may be NULL
  // The messages are only read: of empty ones that follow each other in a list, those from this number on may be one and
  // the same, with the place of one of them; 1: all in any lists. 0: each is its own.
  uint32_t shared;
  os_report *report; // takes a wire.* finding

  // Long lists (os_proto_field_is_long) are looked at as thoroughly as the rest, but what they say is not kept: an outline.
  // Their elements are decoded here one after the other; NULL = all is kept.
  os_arena *scratch;
  // Told of each such element (not of those inside of it) before it is forgotten; may be NULL. `asks`: of which types; NULL:
  // of all of them, and elements have their own long lists.
  os_status (*seen)(void *context, const void *element);
  bool (*asks)(const ProtobufCMessageDescriptor *type);
  void *context;
  // Of a source that is not in memory: takes, with `scratch`, what is needed to decode without it, and serves it when `known`.
  os_skeleton *skeleton;
  bool known; // the bytes were decoded before: findings were told
} os_decoding;

// OS_OK: *message is the root. OS_MALFORMED: the bytes are no such message; a finding names byte, field path, what was
// expected and found, and what the file may be instead. OS_LIMIT: nested too deep, with a finding (wire.depth).
// OS_NEEDS_HOST does not come from here: use os_decoder with sources that can answer it.
os_status os_proto_decode(const os_decoding *decoding, void **message);

// The same in steps, for sources whose `read` may answer OS_NEEDS_HOST: os_decoder_run then gives that status and goes on
// where it stopped when called again. Lives in memory of the arena; nothing to close.
typedef struct os_decoder os_decoder;
os_status os_decoder_new(const os_decoding *decoding, os_decoder **out);
os_status os_decoder_run(os_decoder *self, void **message);
// Elements of long lists were left out.
bool os_decoder_is_outline(const os_decoder *self);

#endif
