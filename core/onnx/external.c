#include "tensor_proto.h"

static bool os_external__separator(char c) { return c == '/' || c == '\\'; }

const char *os_external_location_fault(os_str location) {
  if (location.len == 0) return "location is empty";
  if (memchr(location.data, 0, location.len) != NULL) return "location has a NUL";
  char first = (char)(location.data[0] | 0x20);
  if (os_external__separator(location.data[0]) ||
      (location.len > 1 && first >= 'a' && first <= 'z' && location.data[1] == ':'))
    return "location is absolute";
  int depth = 0;
  for (size_t at = 0; at < location.len;) {
    size_t end = at;
    while (end < location.len && !os_external__separator(location.data[end])) end++;
    os_str part = os_str_slice(location, at, end);
    if (os_str_is(part, "..")) {
      if (--depth < 0) return "location leads out of the model's folder";
    } else if (part.len > 0 && !os_str_is(part, ".")) {
      depth++;
    }
    at = end + 1;
  }
  return depth == 0 ? "location names a folder" : NULL;
}

static bool os_external__number(os_str text, uint64_t *out) {
  uint64_t value = 0;
  for (size_t i = 0; i < text.len; i++) {
    unsigned digit = (unsigned)(text.data[i] - '0');
    if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, digit, &value))
      return false;
  }
  *out = value;
  return text.len > 0;
}

os_external_entry os_external_read(const Onnx__TensorProto *proto) {
  os_external_entry self = {0};
  bool located = false;
  const Onnx__TensorProto__Rare *rare = os_tensor_rare(proto);
  for (size_t i = 0; i < rare->n_external_data; i++) {
    const Onnx__StringStringEntryProto *entry = rare->external_data[i];
    os_str key = os_bytes_str(entry->key), value = os_bytes_str(entry->value);
    if (os_str_is(key, "location")) {
      located = true;
      self.location = value;
    } else if (os_str_is(key, "offset") && !os_external__number(value, &self.offset)) {
      self.fault = "offset is no number from 0 to 2^64 - 1";
      self.key = "offset";
    } else if (os_str_is(key, "length")) {
      self.has_length = os_external__number(value, &self.length);
      if (!self.has_length) {
        self.fault = "length is no number from 0 to 2^64 - 1";
        self.key = "length";
      }
    }
  }
  const char *fault = located ? os_external_location_fault(self.location) : "external_data has no location";
  if (fault != NULL) {
    self.fault = fault;
    self.key = "location";
  }
  return self;
}
