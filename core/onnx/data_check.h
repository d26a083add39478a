#ifndef OPSPEC_DATA_CHECK_H
#define OPSPEC_DATA_CHECK_H

#include "report.h"
#include "tensor_proto.h"

// Rules of TensorProto, SparseTensorProto, SequenceProto, MapProto, OptionalProto (onnx_rules.def, onnx.*). What
// onnx.checker refuses is an error; what only the text says MUST is a warning.

typedef struct os_data_check {
  os_report *report;
  os_arena *arena; // for work; findings live in the report's
  os_tensor_origin origin;
} os_data_check;

// `path` is where the message is. With origin.external NULL, external data is only checked for its location and missing
// files are no finding; a file that cannot be read makes the report incomplete.
os_status os_tensor_check(const os_data_check *self, const Onnx__TensorProto *tensor, const os_path *path);
os_status os_sparse_check(const os_data_check *self, const Onnx__SparseTensorProto *sparse,
                          const os_path *path);
os_status os_operator_set_check(const os_data_check *self, const Onnx__OperatorSetProto *set);
// Any of the five kinds of data, with everything inside.
os_status os_data_check_message(const os_data_check *self, const void *message, os_kind kind,
                                const os_path *path);

#endif
