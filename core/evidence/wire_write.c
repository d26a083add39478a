#include "wire_write.h"

#include "type_expr.h"

enum { OS_WIRE_VARINT = 0, OS_WIRE_LENGTH = 2, OS_WIRE_FIXED32 = 5, OS_WIRE_LENGTH_BYTES = 5 };

static void os_wire__varint(os_text *out, uint64_t value) {
  for (; value >= 128; value >>= 7) os_text_char(out, (char)(value | 128));
  os_text_char(out, (char)value);
}

static void os_wire__tag(os_text *out, uint32_t field, uint32_t type) {
  os_wire__varint(out, (uint64_t)field << 3 | type);
}

void os_wire_int(os_text *out, uint32_t field, uint64_t value) {
  os_wire__tag(out, field, OS_WIRE_VARINT);
  os_wire__varint(out, value);
}

void os_wire_float(os_text *out, uint32_t field, float value) {
  os_wire__tag(out, field, OS_WIRE_FIXED32);
  char *to = os_text_extend(out, sizeof value);
  if (to != NULL) memcpy(to, &value, sizeof value);
}

void os_wire_bytes(os_text *out, uint32_t field, os_str bytes) {
  os_wire__tag(out, field, OS_WIRE_LENGTH);
  os_wire__varint(out, bytes.len);
  os_text_put(out, bytes);
}

size_t os_wire_open(os_text *out, uint32_t field) {
  os_wire__tag(out, field, OS_WIRE_LENGTH);
  (void)os_text_extend(out, OS_WIRE_LENGTH_BYTES);
  return out->len;
}

// The length takes its five bytes even where it is small: readers accept that.
void os_wire_close(os_text *out, size_t mark) {
  if (out->failed) return;
  size_t length = out->len - mark;
  unsigned char *to = (unsigned char *)out->data + mark - OS_WIRE_LENGTH_BYTES;
  for (int i = 0; i < OS_WIRE_LENGTH_BYTES; i++) {
    to[i] = (unsigned char)((length & 127) | (i + 1 < OS_WIRE_LENGTH_BYTES ? 128 : 0));
    length >>= 7;
  }
}

// onnx.proto, TensorShapeProto
static void os_wire__shape(os_text *out, int32_t rank, const int64_t *dims) {
  size_t shape = os_wire_open(out, 2);
  for (int32_t i = 0; i < rank; i++) {
    size_t dim = os_wire_open(out, 1);
    os_wire_int(out, 1, (uint64_t)dims[i]);
    os_wire_close(out, dim);
  }
  os_wire_close(out, shape);
}

// onnx.proto, TypeProto: a sequence, optional or map holds one further TypeProto, so a type is a chain.
void os_wire_type(os_text *out, const os_types *types, uint32_t field, op_type id, int32_t rank,
                  const int64_t *dims) {
  size_t marks[2 * OS_TYPE_DEPTH + 2];
  size_t open = 0;
  for (;;) {
    os_type type = os_types_get(types, id);
    static const uint8_t fields[] = {
        [OS_TYPE_TENSOR] = 1, [OS_TYPE_SPARSE] = 8,   [OS_TYPE_SEQUENCE] = 4,
        [OS_TYPE_MAP] = 5,    [OS_TYPE_OPTIONAL] = 9, [OS_TYPE_OPAQUE] = 7,
    };
    marks[open++] = os_wire_open(out, field);
    if (type.kind == OS_TYPE_UNKNOWN) break;
    marks[open++] = os_wire_open(out, fields[type.kind]);
    if (type.kind == OS_TYPE_TENSOR || type.kind == OS_TYPE_SPARSE || type.kind == OS_TYPE_MAP)
      os_wire_int(out, 1, (uint64_t)type.elem);
    if (type.kind == OS_TYPE_OPAQUE) {
      os_wire_bytes(out, 1, type.domain);
      os_wire_bytes(out, 2, type.name);
    }
    bool holds = type.kind == OS_TYPE_SEQUENCE || type.kind == OS_TYPE_MAP || type.kind == OS_TYPE_OPTIONAL;
    if (!holds || open + 2 > sizeof marks / sizeof *marks) {
      if (rank >= 0 && (type.kind == OS_TYPE_TENSOR || type.kind == OS_TYPE_SPARSE))
        os_wire__shape(out, rank, dims);
      break;
    }
    field = type.kind == OS_TYPE_MAP ? 2 : 1;
    id = type.of;
  }
  while (open > 0) os_wire_close(out, marks[--open]);
}
