#include "data_check_parts.h"
#include "format.h"
#include "map.h"
#include "tensor_field.h"
#include "utf8.h"

#include <inttypes.h>

enum { PIECE = 4096, DATA_LOCATION = 14 };

void os_data_place(const os_data_check *self, os_finding *finding, const void *message, const os_path *path,
                   os_str field) {
  if (!os_report_keeps(self->report, finding)) return;
  os_path last = {path, field, -1};
  finding->where.path = os_path_print(&last, self->report->arena);
  finding->where.binary = true;
  if (os_proto_is(message, OS_PROTO_RANGED))
    os_where_range(&finding->where, os_proto_offset(message),
                   os_proto_offset(message) + os_proto_length(message));
}

const char *os_data_dims(const os_data_check *self, const int64_t *dims, size_t count) {
  if (self->report->full) return "";
  char text[16 * 24 + 8];
  size_t len = 0;
  text[len++] = '[';
  for (size_t i = 0; i < count && i < 16; i++)
    len += (size_t)os_format(text + len, sizeof text - len, i == 0 ? "%" PRId64 : ", %" PRId64, dims[i]);
  if (count > 16) len += (size_t)os_format(text + len, sizeof text - len, ", ...");
  os_str copy = os_arena_format(self->report->arena, "%.*s]", (int)len, text);
  return copy.len == 0 ? "" : copy.data;
}

os_status os_data_not_here(const os_data_check *self, os_status status, ProtobufCBinaryData name) {
  if (status != OS_NEEDS_HOST) return status;
  os_report_incomplete(self->report,
                       "the elements of \"%.*s\" are outside and cannot be read in a synchronous call",
                       OS_ARG(os_bytes_str(name)));
  return OS_OK;
}

bool os_data_product(const int64_t *dims, size_t count, int64_t *out) {
  *out = 1;
  bool zero = false, fits = true;
  for (size_t i = 0; i < count; i++) {
    if (dims[i] < 0) return false;
    zero |= dims[i] == 0;
    fits = fits && !__builtin_mul_overflow(*out, dims[i], out);
  }
  if (zero) *out = 0;
  return zero || fits;
}

os_status os_data_check_keys(const os_data_check *self, Onnx__StringStringEntryProto *const *entries,
                             size_t count, const void *message, const os_path *path, os_str field) {
  if (count < 2) return OS_OK;
  os_map seen;
  os_map_init(&seen, self->arena);
  for (size_t i = 0; i < count; i++) {
    bool added;
    os_str key = os_bytes_str(entries[i]->key);
    OS_TRY_ALLOC(os_map_put(&seen, key, &added));
    if (added) continue;
    os_finding *finding = os_report_add(self->report, &os_rule_onnx_entry_duplicate,
                                        "the key \"%.*s\" comes twice in %.*s", OS_ARG(key), OS_ARG(field));
    os_path list = {path, field, (int64_t)i};
    os_data_place(self, finding, message, &list, OS_STR("key"));
  }
  return OS_OK;
}

// A tensor being checked.
typedef struct os_tensor_checking {
  const os_data_check *check;
  const Onnx__TensorProto *tensor;
  const os_path *path;
  const char *name; // "c: ", or empty
  int64_t count;
  op_elem elem; // OP_NONE when data_type is not one of ours
} os_tensor_checking;

#define REPORT(self, rule, field, ...)                                                                  \
  os_data_place((self)->check, os_report_add((self)->check->report, &os_rule_##rule, "%s" __VA_ARGS__), \
                (self)->tensor, (self)->path, OS_STR(field))
#define REPORT_AS(self, rule, severity, field, ...)                                                   \
  os_data_place((self)->check,                                                                        \
                os_report_add_as((self)->check->report, &os_rule_##rule, severity, "%s" __VA_ARGS__), \
                (self)->tensor, (self)->path, OS_STR(field))

enum { FLOAT6_FIRST = 27, FLOAT6_LAST = 28 }; // the standard's newest types, which nothing here reads

// Whether onnx.checker lets the tensor pass though its type is none of ours: it does so with any type whose elements are in
// raw_data or in a file, and it knows the six-bit floats.
static bool os_tensor__passes(const os_tensor_checking *self, const os_tensor_fields *fields, bool external) {
  const Onnx__TensorProto *tensor = self->tensor;
  bool six = tensor->data_type >= FLOAT6_FIRST && tensor->data_type <= FLOAT6_LAST;
  uint64_t count = (uint64_t)self->count;
  if (external) return true;
  if (count == 0) return six && fields->used == 0;
  if (fields->used == 1 && fields->first == OS_STORED_RAW)
    return !six || os_bytes_length(tensor->raw_data) >= count / 4 * 3 + (count % 4 * 6 + 7) / 8;
  return six && fields->used == 1 && fields->first == OS_STORED_INT32 && tensor->n_int32_data >= count;
}

static void os_tensor__check_type(const os_tensor_checking *self, const os_tensor_fields *fields,
                                  bool external) {
  const Onnx__TensorProto *tensor = self->tensor;
  if (!tensor->has_data_type || tensor->data_type == 0)
    REPORT(self, onnx_tensor_data_type, "data_type", "data_type is %s", self->name,
           tensor->has_data_type ? "UNDEFINED (0)" : "missing");
  else if (self->elem == OP_NONE)
    REPORT_AS(self, onnx_tensor_data_type, os_tensor__passes(self, fields, external) ? OS_WARNING : OS_ERROR,
              "data_type", "data_type %d is no element type; known are 1 (float) to %d (%s)", self->name,
              (int)tensor->data_type, OP_ELEM_COUNT - 1, op_elem_name((op_elem)(OP_ELEM_COUNT - 1)));
}

static os_status os_tensor__check_file(const os_tensor_checking *self, const os_external_entry *entry) {
  os_report *report = self->check->report;
  os_source file = {0};
  os_external_state state = OS_EXTERNAL_MISSING;
  if (self->check->origin.external == NULL) return OS_OK;
  OS_TRY(self->check->origin.external->open(self->check->origin.external->context, entry->location, &file,
                                            &state));
  if (state == OS_EXTERNAL_UNREADABLE) {
    os_report_incomplete(report, "the file %.*s cannot be read in a synchronous call; use open()",
                         OS_ARG(entry->location));
    return OS_OK;
  }
  if (state == OS_EXTERNAL_MISSING) {
    REPORT(self, onnx_external_missing, "external_data", "the file \"%.*s\" is not there", self->name,
           OS_ARG(entry->location));
    return OS_OK;
  }
  uint64_t length = entry->has_length ? entry->length : 0;
  if (entry->offset > file.length || length > file.length - entry->offset)
    REPORT(self, onnx_external_size, "external_data",
           "offset %" PRIu64 " and length %" PRIu64 " lead beyond \"%.*s\", which has %" PRIu64 " bytes",
           self->name, entry->offset, length, OS_ARG(entry->location), file.length);
  else if (self->elem != OP_NONE && self->elem != OP_STRING && !entry->has_length &&
           os_tensor_raw_size(self->elem, self->count) > file.length - entry->offset)
    REPORT(self, onnx_external_size, "external_data",
           "dims %s need %" PRIu64 " bytes, \"%.*s\" has %" PRIu64 " from offset %" PRIu64, self->name,
           os_data_dims(self->check, self->tensor->dims, self->tensor->n_dims),
           os_tensor_raw_size(self->elem, self->count), OS_ARG(entry->location), file.length - entry->offset,
           entry->offset);
  return OS_OK;
}

// Advice is given once, not for each of many tensors.
static bool os_tensor__has_told(const os_tensor_checking *self, const os_rule *rule) {
  const os_report *report = self->check->report;
  for (size_t i = 0; i < report->findings.count; i++)
    if (report->findings.items[i]->rule == rule) return true;
  return report->full;
}

static bool os_tensor__is_sha1(os_str text) {
  size_t digits = 0;
  while (digits < text.len && memchr("0123456789abcdefABCDEF", text.data[digits], 22) != NULL) digits++;
  return digits == text.len && text.len == 40;
}

static void os_tensor__check_entries(const os_tensor_checking *self, const os_external_entry *entry) {
  // The same place in the normalised path may not hold "..", not even as part of a name: so onnx.checker.
  for (size_t i = 0; i + 3 < entry->location.len + 2; i++) {
    if (memcmp(entry->location.data + i, "..", 2) != 0) continue;
    char before = i == 0 ? '/' : entry->location.data[i - 1];
    char after = i + 2 == entry->location.len ? '/' : entry->location.data[i + 2];
    if ((before == '/' || before == '\\') && (after == '/' || after == '\\')) continue; // a step up, inside
    REPORT(self, onnx_external_location, "external_data",
           "the name has two dots in a row, which onnx.checker refuses (\"%.*s\")", self->name,
           OS_ARG(entry->location));
    break;
  }
  const Onnx__TensorProto__Rare *rare = os_tensor_rare(self->tensor);
  for (size_t i = 0; i < rare->n_external_data; i++) {
    const Onnx__StringStringEntryProto *pair = rare->external_data[i];
    os_str value = os_bytes_str(pair->value);
    if (os_str_is(os_bytes_str(pair->key), "checksum") && !os_tensor__is_sha1(value))
      REPORT(self, onnx_external_entry, "external_data",
             "checksum is not the SHA-1 of a file in 40 hexadecimal digits", self->name);
  }
  if (entry->offset % 4096 != 0 && !os_tensor__has_told(self, &os_rule_onnx_external_align))
    REPORT(self, onnx_external_align, "external_data",
           "offset is %" PRIu64 ", no multiple of 4096 as it should be", self->name, entry->offset);
}

static os_status os_tensor__check_external(const os_tensor_checking *self, const os_tensor_fields *fields,
                                           bool sized) {
  const Onnx__TensorProto *tensor = self->tensor;
  if (fields->used > 0)
    REPORT(self, onnx_tensor_storage, "data_location", "the data is external, but %s is not empty",
           self->name, os_tensor_field_name(fields->first));
  if (self->elem == OP_STRING)
    REPORT_AS(self, onnx_tensor_field, OS_WARNING, "data_location",
              "STRING elements cannot be in another file, only in string_data", self->name);
  const Onnx__TensorProto__Rare *rare = os_tensor_rare(tensor);
  for (size_t i = 0; i < rare->n_external_data; i++) {
    static const char *const keys[] = {"location", "offset", "length", "checksum"};
    bool known = false;
    for (size_t k = 0; k < 4; k++) known |= os_str_is(os_bytes_str(rare->external_data[i]->key), keys[k]);
    if (!known)
      REPORT(self, onnx_external_key, "external_data", "the key \"%.*s\" of external_data is unknown",
             self->name, OS_ARG(os_bytes_str(rare->external_data[i]->key)));
  }
  OS_TRY(os_data_check_keys(self->check, rare->external_data, rare->n_external_data, tensor, self->path,
                            OS_STR("external_data")));
  os_external_entry entry = os_external_read(tensor);
  if (entry.fault != NULL) {
    bool location = entry.key[0] == 'l' && entry.key[1] == 'o';
    if (location)
      REPORT(self, onnx_external_location, "external_data", "%s (\"%.*s\")", self->name, entry.fault,
             OS_ARG(entry.location));
    else
      REPORT(self, onnx_external_entry, "external_data", "%s", self->name, entry.fault);
    return OS_OK;
  }
  os_tensor__check_entries(self, &entry);
  if (sized && entry.has_length && self->elem != OP_NONE && self->elem != OP_STRING) {
    uint64_t need = os_tensor_raw_size(self->elem, self->count);
    if (entry.length != need)
      REPORT_AS(self, onnx_external_size, entry.length < need ? OS_ERROR : OS_WARNING, "external_data",
                "dims %s need %" PRIu64 " bytes, length is %" PRIu64, self->name,
                os_data_dims(self->check, tensor->dims, tensor->n_dims), need, entry.length);
  }
  return sized ? os_tensor__check_file(self, &entry) : OS_OK;
}

static os_status os_tensor__check_bools(const os_tensor_checking *self) {
  uint8_t piece[PIECE];
  uint64_t length = os_bytes_length(self->tensor->raw_data);
  if (length > (uint64_t)self->count) length = (uint64_t)self->count;
  for (uint64_t at = 0; at < length; at += PIECE) {
    size_t n = length - at < PIECE ? (size_t)(length - at) : PIECE;
    OS_TRY(os_bytes_read(self->check->origin.source, self->tensor->raw_data, at, n, piece));
    for (size_t i = 0; i < n; i++) {
      if (piece[i] <= 1) continue;
      REPORT(self, onnx_tensor_bool, "raw_data", "element %" PRIu64 " of a BOOL tensor is the byte 0x%02x",
             self->name, at + i, piece[i]);
      return OS_OK;
    }
  }
  return OS_OK;
}

static os_status os_tensor__check_raw(const os_tensor_checking *self) {
  if (self->elem == OP_STRING) {
    REPORT(self, onnx_tensor_field, "raw_data", "STRING elements cannot be in raw_data, only in string_data",
           self->name);
    return OS_OK;
  }
  if (self->elem == OP_NONE) return OS_OK;
  uint64_t need = os_tensor_raw_size(self->elem, self->count), have = os_bytes_length(self->tensor->raw_data);
  if (have != need)
    REPORT_AS(self, onnx_tensor_raw_size, have < need ? OS_ERROR : OS_WARNING, "raw_data",
              "dims %s need %" PRIu64 " bytes, raw_data has %" PRIu64, self->name,
              os_data_dims(self->check, self->tensor->dims, self->tensor->n_dims), need, have);
  return self->elem == OP_BOOL ? os_tensor__check_bools(self) : OS_OK;
}

static bool os_tensor__check_string(const os_tensor_checking *self, uint64_t index, os_str text) {
  const char *fault = NULL;
  if (os_utf8_valid(text) < text.len)
    fault = "is not UTF-8";
  else if (text.len > 0 && text.data[text.len - 1] == 0)
    fault = "ends with a NUL";
  else if (os_str_starts(text, OS_STR("\xef\xbb\xbf")))
    fault = "begins with a byte-order mark";
  if (fault != NULL)
    REPORT(self, onnx_tensor_string, "string_data", "element %" PRIu64 " %s", self->name, index, fault);
  return fault == NULL;
}

static os_status os_tensor__check_strings(const os_tensor_checking *self) {
  os_tensor_reader reader = {.proto = self->tensor, .origin = self->check->origin};
  os_arena scratch;
  os_arena_init(&scratch, self->check->arena->memory);
  os_status status = OS_OK;
  uint64_t count = os_tensor_field_count(self->tensor, OS_STORED_STRING);
  bool good = true;
  for (uint64_t i = 0; i < count && good && status == OS_OK; i++) {
    os_str text;
    if (i % 1024 == 0) os_arena_rewind(&scratch);
    status = os_tensor_string(&reader, &scratch, i, &text);
    if (status == OS_OK) good = os_tensor__check_string(self, i, text);
  }
  os_arena_clear(&scratch);
  return status;
}

// Entries [first, first + count) that the element type cannot have: the index of the first one, or `count`.
static size_t os_tensor__beyond(op_elem elem, const void *entries, size_t count, int32_t low, int32_t high) {
  size_t i = 0;
  if (elem == OP_UINT32)
    while (i < count && ((const uint64_t *)entries)[i] <= UINT32_MAX) i++;
  else
    while (i < count && ((const int32_t *)entries)[i] >= low && ((const int32_t *)entries)[i] <= high) i++;
  return i;
}

// Narrow signed pairs written as negative numbers are common and harmless.
static void os_tensor__tell_beyond(const os_tensor_checking *self, uint64_t index, const void *entry,
                                   int32_t low, int32_t high) {
  uint64_t large;
  int32_t value;
  if (self->elem == OP_UINT32) {
    memcpy(&large, entry, sizeof large);
    REPORT(self, onnx_tensor_range, "uint64_data", "entry %" PRIu64 " is %" PRIu64 ", more than UINT32 holds",
           self->name, index, large);
    return;
  }
  memcpy(&value, entry, sizeof value);
  bool narrow = os_elem_info_of((int)self->elem)->bits < 8 && value >= -128 && value < 0;
  REPORT_AS(self, onnx_tensor_range, narrow ? OS_INFO : OS_WARNING, "int32_data",
            "entry %" PRIu64 " is %d, outside %d to %d of %s", self->name, index, value, low, high,
            op_elem_name(self->elem));
}

static os_status os_tensor__check_range(const os_tensor_checking *self, os_tensor_storage storage) {
  enum { ENTRIES = 512 };
  const os_elem_info *info = os_elem_info_of((int)self->elem);
  if (self->elem == OP_INT32 || (storage != OS_STORED_INT32 && self->elem != OP_UINT32)) return OS_OK;
  unsigned bits = info->bits < 8 ? 8 : info->bits;
  int32_t high = self->elem == OP_BOOL ? 1 : (1 << (bits & 31)) - 1, low = 0;
  if (info->kind == 'i' && info->bits >= 8) {
    low = -(1 << (bits - 1));
    high = -low - 1;
  }
  os_tensor_reader reader = {
      .proto = self->tensor, .origin = self->check->origin, .storage = storage, .elem = self->elem};
  uint64_t entries[ENTRIES], count = os_tensor_field_count(self->tensor, storage);
  for (uint64_t at = 0; at < count; at += ENTRIES) {
    size_t n = count - at < ENTRIES ? (size_t)(count - at) : ENTRIES;
    OS_TRY(os_tensor_entries(&reader, at, n, entries));
    size_t i = os_tensor__beyond(self->elem, entries, n, low, high);
    if (i == n) continue;
    size_t width = self->elem == OP_UINT32 ? 8 : 4;
    os_tensor__tell_beyond(self, at + i, (const char *)entries + i * width, low, high);
    return OS_OK;
  }
  return OS_OK;
}

static os_status os_tensor__check_typed(const os_tensor_checking *self, os_tensor_storage storage) {
  if (self->elem == OP_NONE) return OS_OK;
  os_tensor_storage right = os_tensor_field_for(self->elem);
  if (right != storage) {
    REPORT(self, onnx_tensor_field, "data_type", "%s elements are in %s; they belong in %s", self->name,
           op_elem_name(self->elem), os_tensor_field_name(storage), os_tensor_field_name(right));
    return OS_OK;
  }
  uint64_t need = os_tensor_field_need(self->elem, self->count),
           have = os_tensor_field_count(self->tensor, storage);
  // onnx.checker lets an int32 hold as many narrow elements as fit it; the text gives them a byte of it.
  unsigned bits = os_elem_info_of((int)self->elem)->bits;
  uint64_t least = bits > 0 && bits < 8 ? (need + 3) / 4 : need;
  if (have != need)
    REPORT_AS(self, onnx_tensor_count, have < least ? OS_ERROR : OS_WARNING, "dims",
              "dims %s need %" PRIu64 " entries, %s has %" PRIu64, self->name,
              os_data_dims(self->check, self->tensor->dims, self->tensor->n_dims), need,
              os_tensor_field_name(storage), have);
  OS_TRY(os_tensor__check_range(self, storage));
  return storage == OS_STORED_STRING ? os_tensor__check_strings(self) : OS_OK;
}

static void os_tensor__check_dims(const os_tensor_checking *self, bool external) {
  const Onnx__TensorProto *tensor = self->tensor;
  os_severity severity = external ? OS_WARNING : OS_ERROR;
  for (size_t i = 0; i < tensor->n_dims; i++) {
    if (tensor->dims[i] >= 0) continue;
    REPORT_AS(self, onnx_tensor_dims, severity, "dims", "dim %zu is %" PRId64, self->name, i,
              tensor->dims[i]);
    return;
  }
  REPORT_AS(self, onnx_tensor_dims, severity, "dims", "dims %s make more elements than 63 bits count",
            self->name, os_data_dims(self->check, tensor->dims, tensor->n_dims));
}

static void os_tensor__check_storage(const os_tensor_checking *self, const os_tensor_fields *fields) {
  const char *dims = os_data_dims(self->check, self->tensor->dims, self->tensor->n_dims);
  if (self->count == 0)
    REPORT(self, onnx_tensor_storage, "dims", "dims %s make no elements, but %s is not empty", self->name,
           dims, os_tensor_field_name(fields->first));
  else if (fields->used == 0)
    REPORT(self, onnx_tensor_storage, "dims",
           "dims %s make %" PRId64 " element%s, but no value field holds any", self->name, dims, self->count,
           self->count == 1 ? "" : "s");
  else
    REPORT(self, onnx_tensor_storage, "dims",
           "exactly one value field holds the elements, here both %s and %s do", self->name,
           os_tensor_field_name(fields->first), os_tensor_field_name(fields->second));
}

static os_status os_tensor__check(const os_data_check *check, const Onnx__TensorProto *tensor,
                                  const os_path *path) {
  os_str name = os_bytes_str(tensor->name);
  if (name.len > 100) name.len = 100;
  os_str prefix = name.len == 0 ? OS_STR("") : os_arena_format(check->report->arena, "%.*s: ", OS_ARG(name));
  os_tensor_checking self = {.check = check, .tensor = tensor, .path = path, .name = prefix.data};
  if (os_elem_info_of(tensor->data_type) != NULL) self.elem = (op_elem)tensor->data_type;
  os_tensor_fields fields = os_tensor_fields_of(tensor);
  for (unsigned i = 0; i < tensor->base.n_unknown_fields; i++)
    if (tensor->base.unknown_fields[i].tag == DATA_LOCATION)
      REPORT(&self, onnx_tensor_location, "data_location",
             "data_location has a value other than DEFAULT (0) and EXTERNAL (1)", self.name);
  OS_TRY(os_data_check_keys(check, os_tensor_rare(tensor)->metadata_props,
                            os_tensor_rare(tensor)->n_metadata_props, tensor, path,
                            OS_STR("metadata_props")));
  bool external = os_tensor_is_external(tensor);
  bool sized = os_data_product(tensor->dims, tensor->n_dims, &self.count);
  os_tensor__check_type(&self, &fields, external);
  if (!sized) os_tensor__check_dims(&self, external);
  if (external) return os_tensor__check_external(&self, &fields, sized);
  if (!sized) return OS_OK;
  if (self.count == 0 ? fields.used > 0 : fields.used != 1) {
    os_tensor__check_storage(&self, &fields);
    return OS_OK;
  }
  if (self.count == 0) return OS_OK;
  return fields.first == OS_STORED_RAW ? os_tensor__check_raw(&self)
                                       : os_tensor__check_typed(&self, fields.first);
}

os_status os_tensor_check(const os_data_check *check, const Onnx__TensorProto *tensor, const os_path *path) {
  return os_data_not_here(check, os_tensor__check(check, tensor, path), tensor->name);
}
