#include "message_json.h"

#include "form.h"
#include "value_proto.h"

os_status os_message_json_fault(os_arena *arena, os_types *types, const char *message, os_str text,
                                os_str *fault, os_range *range) {
  os_report report;
  os_report_init(&report, arena, false, 10);
  os_form_input input = {.arena = arena, .report = &report, .text = text, .shared = true};
  input.type = os_proto_type_find(os_str_of(message));
  void *root;
  os_status status = os_form_read_json(&input, &root);
  *fault = (os_str){"", 0};
  *range = (os_range){0, text.len};
  for (size_t i = 0; i < report.findings.count; i++) {
    const os_finding *finding = report.findings.items[i];
    if (strncmp(finding->rule->id, "form.", 5) != 0) continue; // of the JSON itself: told where that is read
    *fault = finding->message;
    if (finding->where.has_range) *range = finding->where.range;
    return OS_OK;
  }
  if (status == OS_MALFORMED) return OS_OK;
  OS_TRY(status);
  os_tensor_origin origin = {0};
  if (input.type == &onnx__tensor_proto__descriptor)
    status = os_data_fault(arena, root, OS_KIND_TENSOR, origin, fault);
  else if (input.type == &onnx__sparse_tensor_proto__descriptor)
    status = os_data_fault(arena, root, OS_KIND_SPARSE_TENSOR, origin, fault);
  else if (input.type == &onnx__type_proto__descriptor && os_type_from_proto(types, root) == 0 &&
           ((const Onnx__TypeProto *)root)->value_case != ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE)
    *fault = OS_STR("it says no type");
  return status == OS_MALFORMED ? OS_OK : status;
}
