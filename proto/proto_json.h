#ifndef OPSPEC_PROTO_JSON_H
#define OPSPEC_PROTO_JSON_H

#include "message.h"
#include "text.h"

// A message for JavaScript: JSON with the names of protobuf's JSON mapping (lowerCamelCase), absent fields absent, empty
// lists absent, enums as numbers, unknown fields left out. What JSON cannot carry is an object with one member that
// begins with '$' (no field does):
//   {"$i":"-9007199254740993"}     a 64-bit integer, to become a bigint
//   {"$b":[offset,length]}         bytes, a range of the source
//   {"$m":[address,length]}        bytes in memory, where they are no part of the source
//   {"$a":["f32",address,count]}   a list of numbers in memory, little-endian; f32, f64, i32, u32, i64, u64. The last two
//                                  become bigints. The address is aligned to the element.
//   {"$n":"NaN"}                   a float: NaN, Infinity, -Infinity
// Addresses are valid as long as the message. Bytes of a text field that are no UTF-8 become U+FFFD.
os_status os_proto_write_json(os_text *out, const os_source *source, const void *message);

#endif
