#include "tensor_proto.h"

#include "format.h"
#include "tensor_field.h"
#include "walk.h"

#include <inttypes.h>
#include <stdarg.h>

enum { PIECE = 4096 };

static os_status os_tensor__trouble(os_tensor_reader *self, os_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static os_status os_tensor__trouble(os_tensor_reader *self, os_status status, const char *format, ...) {
  va_list arguments;
  if (self->origin.quiet) return status;
  va_start(arguments, format);
  os_format_list(self->trouble, sizeof self->trouble, format, arguments);
  va_end(arguments);
  return status;
}

static os_status os_tensor__open_external(os_tensor_reader *self) {
  os_external_entry entry = os_external_read(self->proto);
  if (entry.fault != NULL) return os_tensor__trouble(self, OS_MALFORMED, "external data: %s", entry.fault);
  int name = (int)(entry.location.len < 100 ? entry.location.len : 100);
  os_external_state state = OS_EXTERNAL_MISSING;
  if (self->origin.external != NULL)
    OS_TRY(self->origin.external->open(self->origin.external->context, entry.location, &self->file, &state));
  if (state == OS_EXTERNAL_UNREADABLE)
    return os_tensor__trouble(self, OS_UNSUPPORTED, "the file %.*s cannot be read in a synchronous call",
                              name, entry.location.data);
  if (state == OS_EXTERNAL_MISSING)
    return os_tensor__trouble(self, OS_MALFORMED, "the file %.*s is not there", name, entry.location.data);
  uint64_t need = os_tensor_raw_size(self->elem, self->count), left;
  if (entry.offset > self->file.length)
    return os_tensor__trouble(self, OS_MALFORMED,
                              "offset %" PRIu64 " is behind the end of %.*s (%" PRIu64 " bytes)",
                              entry.offset, name, entry.location.data, self->file.length);
  left = self->file.length - entry.offset;
  if (entry.has_length && entry.length < left) left = entry.length;
  if (left < need)
    return os_tensor__trouble(self, OS_MALFORMED, "%" PRIu64 " bytes are needed, %.*s has %" PRIu64 " for it",
                              need, name, entry.location.data, left);
  self->offset = entry.offset;
  return OS_OK;
}

static os_status os_tensor__open_field(os_tensor_reader *self) {
  const Onnx__TensorProto *proto = self->proto;
  os_tensor_fields fields = os_tensor_fields_of(proto);
  if (fields.used == 0 && self->count == 0) return OS_OK;
  if (fields.used != 1)
    return os_tensor__trouble(self, OS_MALFORMED, "%s",
                              fields.used == 0 ? "no value field holds its elements"
                                               : "several value fields are in use");
  self->storage = fields.first;
  uint64_t have = os_tensor_field_count(proto, self->storage);
  if (self->storage == OS_STORED_RAW) {
    uint64_t need = os_tensor_raw_size(self->elem, self->count);
    if (self->elem == OP_STRING)
      return os_tensor__trouble(self, OS_MALFORMED, "strings cannot be in raw_data");
    if (have < need)
      return os_tensor__trouble(self, OS_MALFORMED, "%" PRIu64 " bytes are needed, raw_data has %" PRIu64,
                                need, have);
    return OS_OK;
  }
  if (self->storage != os_tensor_field_for(self->elem))
    return os_tensor__trouble(self, OS_MALFORMED, "%s elements cannot be in %s", op_elem_name(self->elem),
                              os_tensor_field_name(self->storage));
  uint64_t need = os_tensor_field_need(self->elem, self->count);
  if (have < need)
    return os_tensor__trouble(self, OS_MALFORMED, "%" PRIu64 " entries are needed, %s has %" PRIu64, need,
                              os_tensor_field_name(self->storage), have);
  return OS_OK;
}

os_status os_tensor_open(os_tensor_reader *self, const Onnx__TensorProto *proto, os_tensor_origin origin) {
  self->proto = proto;
  self->origin = origin;
  self->storage = OS_STORED_NOWHERE;
  self->elem = OP_NONE;
  self->rank = 0;
  self->dims = proto->dims;
  self->count = 0;
  self->file = (os_source){0};
  self->offset = self->next = self->next_at = 0;
  self->trouble[0] = 0;
  if (os_elem_info_of(proto->data_type) == NULL)
    return os_tensor__trouble(self, OS_MALFORMED, "data_type %d is no element type", (int)proto->data_type);
  self->elem = (op_elem)proto->data_type;
  if (proto->n_dims > OP_MAX_RANK)
    return os_tensor__trouble(self, OS_UNSUPPORTED, "rank %zu is over %d", proto->n_dims, OP_MAX_RANK);
  self->rank = (int32_t)proto->n_dims;
  size_t bytes;
  if (!os_tensor_count(self->elem, self->rank, self->dims, &self->count, &bytes))
    return os_tensor__trouble(self, OS_MALFORMED, "its dims are negative or too large");
  if (os_tensor_is_external(proto)) {
    self->storage = OS_STORED_EXTERNAL;
    if (self->elem == OP_STRING)
      return os_tensor__trouble(self, OS_MALFORMED, "strings cannot be external data");
    return os_tensor__open_external(self);
  }
  return os_tensor__open_field(self);
}

// n bytes from `from` of the raw elements.
static os_status os_tensor__raw(const os_tensor_reader *self, uint64_t from, size_t n, void *to) {
  if (self->storage == OS_STORED_RAW)
    return os_bytes_read(self->origin.source, self->proto->raw_data, from, n, to);
  return os_source_read(&self->file, self->offset + from, n, to);
}

// Elements of `bits` bits each (4 or 2) of `from`, beginning with element `first`, into a byte each.
static void os_tensor__unpack(const uint8_t *from, uint64_t first, size_t n, unsigned bits, bool is_signed,
                              uint8_t *to) {
  unsigned mask = (1u << bits) - 1, sign = is_signed ? 1u << (bits - 1) : 0, per = 8 / bits;
  for (size_t i = 0; i < n; i++) {
    uint64_t at = first + i;
    unsigned value = (unsigned)from[at / per] >> (unsigned)(at % per) * bits & mask;
    to[i] = (uint8_t)((value ^ sign) - sign);
  }
}

static os_status os_tensor__read_raw(const os_tensor_reader *self, int64_t first, int64_t count,
                                     uint8_t *to) {
  const os_elem_info *info = os_elem_info_of(self->elem);
  if (info->bits >= 8) {
    uint64_t size = info->bits / 8;
    OS_TRY(os_tensor__raw(self, (uint64_t)first * size, (size_t)((uint64_t)count * size), to));
    if (self->elem == OP_BOOL)
      for (int64_t i = 0; i < count; i++) to[i] = to[i] != 0;
    return OS_OK;
  }
  uint8_t piece[PIECE];
  uint64_t per = 8 / info->bits, at = (uint64_t)first, end = at + (uint64_t)count;
  while (at < end) {
    uint64_t byte = at / per, bytes = (end + per - 1) / per - byte;
    if (bytes > PIECE) bytes = PIECE;
    OS_TRY(os_tensor__raw(self, byte, (size_t)bytes, piece));
    uint64_t n = (byte + bytes) * per - at;
    if (n > end - at) n = end - at;
    os_tensor__unpack(piece, at % per, (size_t)n, info->bits, info->kind == 'i', to);
    to += n;
    at += n;
  }
  return OS_OK;
}

// What a typed field holds: type of an entry, and bytes of it in the struct.
typedef struct os_tensor__list {
  const void *data;
  uint8_t type, width;
} os_tensor__list;

static os_tensor__list os_tensor__list_of(const os_tensor_reader *self) {
  const Onnx__TensorProto *proto = self->proto;
  switch (self->storage) {
  case OS_STORED_FLOAT: return (os_tensor__list){proto->float_data, PROTOBUF_C_TYPE_FLOAT, 4};
  case OS_STORED_DOUBLE:
    return (os_tensor__list){os_tensor_rare(proto)->double_data, PROTOBUF_C_TYPE_DOUBLE, 8};
  case OS_STORED_INT64: return (os_tensor__list){proto->int64_data, PROTOBUF_C_TYPE_INT64, 8};
  case OS_STORED_UINT64:
    return (os_tensor__list){os_tensor_rare(proto)->uint64_data, PROTOBUF_C_TYPE_UINT64, 8};
  case OS_STORED_INT32: return (os_tensor__list){proto->int32_data, PROTOBUF_C_TYPE_INT32, 4};
  default: return (os_tensor__list){0};
  }
}

os_status os_tensor_entries(os_tensor_reader *self, uint64_t first, size_t count, void *to) {
  os_tensor__list list = os_tensor__list_of(self);
  const os_far_list *far = os_tensor_far_list(self->proto, self->storage);
  if (list.width == 0) return OS_INVALID_ARGUMENT;
  if (count == 0) return OS_OK;
  if (far == NULL) {
    memcpy(to, (const char *)list.data + (size_t)first * list.width, count * list.width);
    return OS_OK;
  }
  bool direct = !far->tagged && (list.type == PROTOBUF_C_TYPE_FLOAT || list.type == PROTOBUF_C_TYPE_DOUBLE);
  if (!direct && first < self->next) self->next = 0;
  while (!direct && self->next < first) { // numbers of any length: those in front of it are passed over
    uint64_t skipped[64];
    size_t n = first - self->next < 64 ? (size_t)(first - self->next) : 64;
    OS_TRY(os_far_list_read(self->origin.source, list.type, far, self->next, n, &self->next_at, skipped));
    self->next += n;
  }
  OS_TRY(os_far_list_read(self->origin.source, list.type, far, first, count, &self->next_at, to));
  self->next = first + count;
  return OS_OK;
}

// `n` entries as elements; of narrow types several in one, from element `first` of the first entry on.
static void os_tensor__convert(const os_tensor_reader *self, const void *entries, uint64_t first, size_t n,
                               void *to) {
  const os_elem_info *info = os_elem_info_of(self->elem);
  const int32_t *from = entries;
  uint8_t *bytes = to;
  if (self->storage == OS_STORED_UINT64) {
    for (size_t i = 0; i < n; i++) ((uint32_t *)to)[i] = (uint32_t)((const uint64_t *)entries)[i];
  } else if (info->bits == 16) {
    for (size_t i = 0; i < n; i++) ((uint16_t *)to)[i] = (uint16_t)from[i];
  } else if (self->elem == OP_BOOL) {
    for (size_t i = 0; i < n; i++) bytes[i] = from[i] != 0;
  } else if (info->bits == 8) {
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)from[i];
  } else {
    uint64_t per = 8 / info->bits;
    for (size_t i = 0; i < n; i++) {
      uint8_t byte = (uint8_t)from[(first + i) / per];
      os_tensor__unpack(&byte, (first + i) % per, 1, info->bits, info->kind == 'i', bytes + i);
    }
  }
}

static os_status os_tensor__read_list(os_tensor_reader *self, uint64_t first, uint64_t count, void *to) {
  enum { ENTRIES = 512 };
  const os_elem_info *info = os_elem_info_of(self->elem);
  bool same = self->elem == OP_INT32 || (self->storage != OS_STORED_INT32 && self->elem != OP_UINT32);
  uint64_t parts = info->kind == 'c' ? 2 : 1, per = info->bits > 0 && info->bits < 8 ? 8 / info->bits : 1;
  if (same) return os_tensor_entries(self, first * parts, (size_t)(count * parts), to);
  uint64_t entries[ENTRIES];
  size_t width = op_elem_size(self->elem);
  for (uint64_t end = first + count; first < end;) {
    uint64_t at = first / per, n = (end - 1) / per + 1 - at;
    if (n > ENTRIES) n = ENTRIES;
    OS_TRY(os_tensor_entries(self, at, (size_t)n, entries));
    uint64_t elements = (at + n) * per - first;
    if (elements > end - first) elements = end - first;
    os_tensor__convert(self, entries, first % per, (size_t)elements, to);
    to = (char *)to + (size_t)elements * width;
    first += elements;
  }
  return OS_OK;
}

os_status os_tensor_read(os_tensor_reader *self, int64_t first, int64_t count, void *to) {
  if (first < 0 || count < 0 || first > self->count || count > self->count - first || self->elem == OP_STRING)
    return OS_INVALID_ARGUMENT;
  if (count == 0) return OS_OK;
  if (self->storage == OS_STORED_RAW || self->storage == OS_STORED_EXTERNAL)
    return os_tensor__read_raw(self, first, count, to);
  return os_tensor__read_list(self, (uint64_t)first, (uint64_t)count, to);
}

const void *os_tensor_in_place(const os_tensor_reader *self) {
  const os_elem_info *info = os_elem_info_of(self->elem);
  if (info == NULL || info->bits < 8 || self->elem == OP_BOOL) return NULL; // any byte may stand for true
  const uint8_t *data = NULL;
  ProtobufCBinaryData raw = self->proto->raw_data;
  if (self->storage == OS_STORED_RAW && os_bytes_is_far(raw)) {
    const os_far *far = (const os_far *)(const void *)raw.data;
    data = os_source_find(self->origin.source, far->offset, far->length);
  } else if (self->storage == OS_STORED_RAW) {
    data = raw.data;
  } else if (self->storage == OS_STORED_EXTERNAL) {
    data = os_source_find(&self->file, self->offset, os_tensor_raw_size(self->elem, self->count));
  }
  unsigned align = info->bits / 8 < 8 ? info->bits / 8 : 8;
  return (uintptr_t)data % align == 0 ? data : NULL;
}

bool os_tensor_is_outside(const os_tensor_reader *self) {
  if (self->storage == OS_STORED_EXTERNAL)
    return os_source_find(&self->file, self->offset, os_tensor_raw_size(self->elem, self->count)) == NULL;
  ProtobufCBinaryData raw = self->proto->raw_data;
  const os_far_list *list = os_tensor_far_list(self->proto, self->storage);
  const os_far *far = list != NULL ? &list->bytes : (const os_far *)(const void *)raw.data;
  if (list == NULL && (self->storage != OS_STORED_RAW || !os_bytes_is_far(raw))) return false;
  return os_source_find(self->origin.source, far->offset, far->length) == NULL;
}

os_status os_tensor_string(os_tensor_reader *self, os_arena *arena, uint64_t index, os_str *out) {
  const os_far_list *far = os_tensor_far_list(self->proto, OS_STORED_STRING);
  if (far == NULL) return os_bytes_load(self->origin.source, arena, self->proto->string_data[index], out);
  os_far element;
  uint64_t number;
  if (index == 0) self->next_at = far->bytes.offset;
  OS_TRY(os_far_next(self->origin.source, far, &self->next_at, &element, &number));
  char *copy = element.length > SIZE_MAX ? NULL : os_arena_alloc(arena, (size_t)element.length);
  OS_TRY_ALLOC(copy);
  *out = (os_str){copy, (size_t)element.length};
  return os_source_read(self->origin.source, element.offset, out->len, copy);
}

static os_status os_tensor__strings(os_tensor_reader *self, os_memory *memory, op_tensor *tensor) {
  os_arena scratch;
  os_arena_init(&scratch, memory);
  os_status status = OS_OK;
  for (int64_t i = 0; i < self->count && status == OS_OK; i++) {
    os_str text;
    if (i % 1024 == 0) os_arena_rewind(&scratch);
    status = os_tensor_string(self, &scratch, (uint64_t)i, &text);
    if (status == OS_OK) status = op_string_set(tensor, i, text);
  }
  os_arena_clear(&scratch);
  return status;
}

os_status os_tensor_value(os_tensor_reader *self, os_memory *memory, op_value **out) {
  *out = os_value_tensor(memory, self->elem, self->rank, self->dims);
  OS_TRY_ALLOC(*out);
  op_tensor *tensor = op_value_edit(*out);
  os_status status = self->elem == OP_STRING ? os_tensor__strings(self, memory, tensor)
                                             : os_tensor_read(self, 0, self->count, tensor->data);
  if (status != OS_OK) {
    op_value_release(*out);
    *out = NULL;
  }
  return status;
}

static os_status os_tensor__pack(os_arena *arena, const op_tensor *tensor, unsigned bits,
                                 Onnx__TensorProto *proto) {
  unsigned per = 8 / bits, mask = (1u << bits) - 1;
  size_t n = (size_t)os_tensor_raw_size(tensor->elem, tensor->count);
  uint8_t *packed = os_arena_zalloc(arena, n);
  OS_TRY_ALLOC(packed);
  const uint8_t *from = tensor->data;
  for (size_t i = 0; i < (size_t)tensor->count; i++)
    packed[i / per] |= (uint8_t)((from[i] & mask) << (i % per) * bits);
  proto->raw_data = (ProtobufCBinaryData){n, n == 0 ? NULL : packed};
  return OS_OK;
}

os_status os_tensor_proto_new(os_arena *arena, const op_tensor *tensor, os_str name, void *parent,
                              Onnx__TensorProto **out) {
  const os_elem_info *info = os_elem_info_of(tensor->elem);
  if (info == NULL) return OS_INVALID_ARGUMENT;
  Onnx__TensorProto *proto = OS_PROTO_NEW(arena, Onnx__TensorProto, onnx__tensor_proto__descriptor, parent);
  *out = proto;
  OS_TRY_ALLOC(proto);
  proto->n_dims = (size_t)tensor->rank;
  proto->dims = (int64_t *)(uintptr_t)tensor->dims;
  proto->has_data_type = 1;
  proto->data_type = (int32_t)tensor->elem;
  proto->has_name = name.len > 0;
  proto->name = os_bytes_of(name);
  if (tensor->elem == OP_STRING) {
    const os_str *from = tensor->data;
    if (tensor->count == 0) return OS_OK; // the list stays NULL, see os_plan_far
    proto->n_string_data = (size_t)tensor->count;
    proto->string_data = OS_ARENA_ARRAY(arena, proto->n_string_data, ProtobufCBinaryData);
    OS_TRY_ALLOC(proto->string_data);
    for (size_t i = 0; i < proto->n_string_data; i++) proto->string_data[i] = os_bytes_of(from[i]);
    return OS_OK;
  }
  proto->has_raw_data = 1;
  if (info->bits < 8) return os_tensor__pack(arena, tensor, info->bits, proto);
  proto->raw_data = os_bytes_of((os_str){tensor->data, os_tensor_bytes(tensor)});
  return OS_OK;
}
