#ifndef OPSPEC_DATA_CHECK_PARTS_H
#define OPSPEC_DATA_CHECK_PARTS_H

#include "data_check.h"
#include "onnx_rules.h"

// What the files that check data share.

// Says where the finding is: `field` (may be empty) of the message at `path`, and the message's bytes.
void os_data_place(const os_data_check *self, os_finding *finding, const void *message, const os_path *path,
                   os_str field);
// "[2, 3]", cut after 16 dims; in the report's arena, NUL-ended.
const char *os_data_dims(const os_data_check *self, const int64_t *dims, size_t count);
// Product of dims; false when one is negative or it does not fit.
bool os_data_product(const int64_t *dims, size_t count, int64_t *out);
// OS_NEEDS_HOST, of a read, becomes a reason why the report is not complete; other statuses stay as they are.
os_status os_data_not_here(const os_data_check *self, os_status status, ProtobufCBinaryData name);
// Keys of a list that stands for a map.
os_status os_data_check_keys(const os_data_check *self, Onnx__StringStringEntryProto *const *entries,
                             size_t count, const void *message, const os_path *path, os_str field);

#endif
