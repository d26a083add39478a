#ifndef OPSPEC_SIGNATURE_DATA_H
#define OPSPEC_SIGNATURE_DATA_H

#include "bytes.h"

// The standard's signatures as generated from specs/onnx-signatures.json: small tables whose rows the registry puts
// together, and turns into an op_schema when an operator is first asked for.
//
// rows:  os_signature, in order of domain, name, since; by columns of one byte
// starts: place of each set in sets
// pool:  strings, a length byte before each; a string's number is the place of its length byte.
// lists: parameters, type parameters, attributes. Each list starts with a count byte; numbers of two bytes are
//        little-endian.
//   parameter       name (2), flags (bits 0-1 op_option, 4 heterogeneous, 8 may be empty), type parameter
//   type parameter  label (2), set
//   attribute       name (2), kind (32 required, 64 has a default); a default: float 4 bytes, int a varint with the sign
//                   in the lowest bit, string (2); of a list: a count byte before
// sets:  of types: count, number of runs, first and last id of each run
typedef struct os_signature {
  uint16_t name;
  uint16_t inputs, outputs, types, attributes; // places in lists
  uint8_t domain, since, flags;                // 1 deprecated, 2 function
  uint8_t arity[4]; // least and most inputs, least and most outputs; 255 = no bound
} os_signature;

typedef struct os_signature_domain {
  os_str name;
  int version; // newest
} os_signature_domain;

// With rows as they are read.
typedef struct os_signatures {
  const os_signature *rows; // os_signature_count
  const uint16_t *starts;   // os_signature_set_count
  const uint8_t *lists, *sets, *pool;
} os_signatures;

// rows, starts, lists, sets, pool one after the other, and where each begins.
extern const os_str os_signature_data;
extern const uint16_t os_signature_parts[];
extern const uint32_t os_signature_count, os_signature_set_count;
extern const os_signature_domain os_signature_domains[];
extern const uint32_t os_signature_domain_count;
extern const os_str
    os_signature_legacy[]; // names that were never declared, but are let pass in the standard's domain
extern const uint32_t os_signature_legacy_count;

#endif
