#ifndef OPSPEC_FORM_BYTES_H
#define OPSPEC_FORM_BYTES_H

#include "encode.h"
#include "form.h"
#include "onnx-data.pb-c.h"
#include "onnx-operators.pb-c.h"
#include "onnx.pb-c.h"

#include <stdlib.h>

// What fuzz targets of messages share.

// Messages that hold all others, by a number.
static inline const ProtobufCMessageDescriptor *fuzzed_type(unsigned number) {
  static const ProtobufCMessageDescriptor *const types[] = {
      &onnx__model_proto__descriptor,        &onnx__tensor_proto__descriptor,
      &onnx__sequence_proto__descriptor,     &onnx__map_proto__descriptor,
      &onnx__operator_set_proto__descriptor, &onnx__type_proto__descriptor,
      &onnx__attribute_proto__descriptor};
  return types[number % (sizeof types / sizeof *types)];
}

// The bytes of the message that the text says; false when it is none.
static inline bool bytes_of(os_arena *arena, const ProtobufCMessageDescriptor *type, os_form form,
                            os_str text, os_text *out, void **message) {
  os_report report;
  os_report_init(&report, arena, false, 20);
  os_form_input input = {.arena = arena, .type = type, .report = &report, .text = text};
  os_status status =
      form == OS_FORM_JSON ? os_form_read_json(&input, message) : os_form_read_text(&input, message);
  if (status == OS_MALFORMED && report.counts[OS_ERROR] == 0) abort();
  os_sink sink = os_sink_text(out);
  return status == OS_OK && os_proto_encode(arena->memory, NULL, *message, &sink) == OS_OK;
}

#endif
