#include "check.h"
#include "data_check.h"
#include "document_fixture.h"
#include "encode.h"
#include "onnx_rules.h"
#include "value_proto.h"

#include <stdbool.h>

// A tensor in the arena: only what is given is set.
static Onnx__TensorProto *tensor(fixture *self, int32_t type, size_t rank, int64_t a, int64_t b) {
  Onnx__TensorProto *proto =
      OS_PROTO_NEW(&self->arena, Onnx__TensorProto, onnx__tensor_proto__descriptor, NULL);
  proto->has_data_type = 1;
  proto->data_type = type;
  proto->n_dims = rank;
  proto->dims = OS_ARENA_ARRAY(&self->arena, 2, int64_t);
  proto->dims[0] = a;
  proto->dims[1] = b;
  return proto;
}

static void set_raw(Onnx__TensorProto *proto, const char *bytes, size_t n) {
  proto->has_raw_data = 1;
  proto->raw_data = os_bytes_of((os_str){bytes, n});
}

static void set_int32(fixture *self, Onnx__TensorProto *proto, const int32_t *values, size_t n) {
  proto->n_int32_data = n;
  proto->int32_data = OS_ARENA_ARRAY(&self->arena, n, int32_t);
  memcpy(proto->int32_data, values, n * sizeof *values);
}

static Onnx__TensorProto__Rare *rare_of(fixture *self, Onnx__TensorProto *proto) {
  if (proto->rare == NULL) proto->rare = OS_ARENA_NEW(&self->arena, Onnx__TensorProto__Rare);
  return proto->rare;
}

static void entry(fixture *self, Onnx__TensorProto *proto, const char *key, const char *value) {
  Onnx__TensorProto__Rare *rare = rare_of(self, proto);
  size_t n = rare->n_external_data;
  if (n == 0) rare->external_data = OS_ARENA_ARRAY(&self->arena, 8, Onnx__StringStringEntryProto *);
  Onnx__StringStringEntryProto *made = OS_PROTO_NEW(&self->arena, Onnx__StringStringEntryProto,
                                                    onnx__string_string_entry_proto__descriptor, proto);
  made->key = os_bytes_of(os_str_of(key));
  made->value = os_bytes_of(os_str_of(value));
  made->has_key = made->has_value = 1;
  rare->external_data[n] = made;
  rare->n_external_data = n + 1;
  proto->has_data_location = 1;
  proto->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

// The data of the tensor, element by element.
static void reads_as(const Onnx__TensorProto *proto, const void *expected, size_t bytes) {
  os_tensor_reader reader;
  char data[64];
  CHECK_EQ(os_tensor_open(&reader, proto, (os_tensor_origin){0}), OS_OK);
  size_t size = op_elem_size(reader.elem);
  CHECK_EQ((size_t)reader.count * size, bytes);
  CHECK_EQ(os_tensor_read(&reader, 0, reader.count, data), OS_OK);
  CHECK_BYTES(data, bytes, expected, bytes);
  for (int64_t i = 0; i < reader.count; i++) { // any piece can be asked for
    CHECK_EQ(os_tensor_read(&reader, i, 1, data), OS_OK);
    CHECK_BYTES(data, size, (const char *)expected + (size_t)i * size, size);
  }
  CHECK_EQ(os_tensor_read(&reader, reader.count, 1, data), OS_INVALID_ARGUMENT);
}

static void test_elements(void) {
  fixture self;
  start(&self);
  Onnx__TensorProto *int4 = tensor(&self, OP_INT4, 1, 3, 0); // 1, -1, -8 in each storage
  set_raw(int4, "\xf1\x08", 2);
  reads_as(int4, "\x01\xff\xf8", 3);
  int4 = tensor(&self, OP_INT4, 1, 3, 0);
  set_int32(&self, int4, (const int32_t[]){0xf1, 8}, 2);
  reads_as(int4, "\x01\xff\xf8", 3);
  int4->int32_data[0] = -15;
  reads_as(int4, "\x01\xff\xf8", 3);
  Onnx__TensorProto *uint4 = tensor(&self, OP_UINT4, 1, 3, 0);
  set_raw(uint4, "\xf1\xf8", 2);
  reads_as(uint4, "\x01\x0f\x08", 3);
  Onnx__TensorProto *int2 = tensor(&self, OP_INT2, 1, 5, 0);
  set_raw(int2, "\xe4\x02", 2);
  reads_as(int2, "\x00\x01\xfe\xff\xfe", 5);
  int2->data_type = OP_UINT2;
  reads_as(int2, "\x00\x01\x02\x03\x02", 5);
  Onnx__TensorProto *half = tensor(&self, OP_FLOAT16, 1, 2, 0);
  set_int32(&self, half, (const int32_t[]){0x3c00, 0xc000}, 2);
  reads_as(half, "\x00\x3c\x00\xc0", 4);
  Onnx__TensorProto *boolean = tensor(&self, OP_BOOL, 1, 3, 0);
  set_raw(boolean, "\0\1\2", 3);
  reads_as(boolean, "\0\1\1", 3);
  Onnx__TensorProto *small = tensor(&self, OP_INT8, 1, 2, 0);
  set_int32(&self, small, (const int32_t[]){-128, 127}, 2);
  reads_as(small, "\x80\x7f", 2);
  Onnx__TensorProto *complex = tensor(&self, OP_COMPLEX64, 1, 2, 0);
  float parts[] = {1, 2, 3, 4};
  complex->n_float_data = 4;
  complex->float_data = parts;
  reads_as(complex, parts, 16);
  Onnx__TensorProto *uint32 = tensor(&self, OP_UINT32, 0, 0, 0); // a scalar
  uint64_t large = 0xfffffffe;
  rare_of(&self, uint32)->n_uint64_data = 1;
  uint32->rare->uint64_data = &large;
  reads_as(uint32, "\xfe\xff\xff\xff", 4);
  Onnx__TensorProto *none = tensor(&self, OP_FLOAT, 2, 2, 0); // no elements, no data
  reads_as(none, "", 0);
  finish(&self);
}

// One finding of this rule, with this message.
static void finds(fixture *self, const Onnx__TensorProto *proto, os_severity severity, const char *rule,
                  const char *message) {
  os_report report;
  os_report_init(&report, &self->arena, false, 0);
  os_data_check check = {&report, &self->arena, {0}};
  os_path path = {NULL, OS_STR("graph.initializer"), 3};
  CHECK_EQ(os_tensor_check(&check, proto, &path), OS_OK);
  if (rule == NULL) {
    CHECK_EQ(report.findings.count, 0);
    return;
  }
  if (!CHECK(report.findings.count == 1)) return;
  const os_finding *finding = report.findings.items[0];
  CHECK_STR(os_str_of(finding->rule->id), rule);
  CHECK_STR(finding->message, message);
  CHECK_EQ(finding->severity, severity);
  CHECK(os_str_starts(finding->where.path, OS_STR("graph.initializer[3].")));
}

static void test_tensor_rules(void) {
  fixture self;
  start(&self);
  Onnx__TensorProto *proto = tensor(&self, OP_FLOAT, 1, 3, 0);
  proto->has_name = 1;
  proto->name = os_bytes_of(OS_STR("c"));
  set_raw(proto, "12345678", 8);
  finds(&self, proto, OS_ERROR, "onnx.tensor.raw-size", "c: dims [3] need 12 bytes, raw_data has 8");
  set_raw(proto, "123456789abcdef", 15);
  finds(&self, proto, OS_WARNING, "onnx.tensor.raw-size", "c: dims [3] need 12 bytes, raw_data has 15");
  set_raw(proto, "123456789abc", 12);
  finds(&self, proto, OS_ERROR, NULL, NULL);
  float value = 2;
  proto->n_float_data = 1;
  proto->float_data = &value;
  finds(&self, proto, OS_ERROR, "onnx.tensor.storage",
        "c: exactly one value field holds the elements, here both raw_data and float_data do");
  proto = tensor(&self, OP_FLOAT, 2, 2, 2);
  finds(&self, proto, OS_ERROR, "onnx.tensor.storage",
        "dims [2, 2] make 4 elements, but no value field holds any");
  proto->n_float_data = 1;
  proto->float_data = &value;
  finds(&self, proto, OS_ERROR, "onnx.tensor.count", "dims [2, 2] need 4 entries, float_data has 1");
  proto->data_type = OP_INT64;
  finds(&self, proto, OS_ERROR, "onnx.tensor.field",
        "int64 elements are in float_data; they belong in int64_data");
  proto->dims[0] = 0;
  finds(&self, proto, OS_ERROR, "onnx.tensor.storage",
        "dims [0, 2] make no elements, but float_data is not empty");
  proto->dims[0] = -1;
  finds(&self, proto, OS_ERROR, "onnx.tensor.dims", "dim 0 is -1");
  proto->dims[0] = proto->dims[1] = INT64_MAX;
  finds(&self, proto, OS_ERROR, "onnx.tensor.dims",
        "dims [9223372036854775807, 9223372036854775807] make more elements than 63 bits count");
  proto = tensor(&self, 999, 1, 1, 0);
  set_raw(proto, "1234", 4);
  finds(&self, proto, OS_WARNING, "onnx.tensor.data-type",
        "data_type 999 is no element type; known are 1 (float) to 26 (int2)");
  proto->data_type = 0;
  finds(&self, proto, OS_ERROR, "onnx.tensor.data-type", "data_type is UNDEFINED (0)");
  proto = tensor(&self, OP_INT8, 1, 1, 0);
  set_int32(&self, proto, (const int32_t[]){999}, 1);
  finds(&self, proto, OS_WARNING, "onnx.tensor.range", "entry 0 is 999, outside -128 to 127 of int8");
  proto = tensor(&self, OP_INT4, 1, 3, 0);
  set_int32(&self, proto, (const int32_t[]){-15, 8}, 2);
  finds(&self, proto, OS_INFO, "onnx.tensor.range", "entry 0 is -15, outside 0 to 255 of int4");
  proto->n_int32_data = 1;
  proto->int32_data[0] = 1;
  finds(&self, proto, OS_WARNING, "onnx.tensor.count", "dims [3] need 2 entries, int32_data has 1");
  proto = tensor(&self, OP_BOOL, 1, 3, 0);
  set_raw(proto, "\0\1\2", 3);
  finds(&self, proto, OS_WARNING, "onnx.tensor.bool", "element 2 of a BOOL tensor is the byte 0x02");
  proto = tensor(&self, OP_STRING, 1, 1, 0);
  set_raw(proto, "abc", 3);
  finds(&self, proto, OS_ERROR, "onnx.tensor.field",
        "STRING elements cannot be in raw_data, only in string_data");
  proto->raw_data = os_bytes_of(OS_STR(""));
  ProtobufCBinaryData text = os_bytes_of(OS_STR("a\xff"));
  proto->n_string_data = 1;
  proto->string_data = &text;
  finds(&self, proto, OS_WARNING, "onnx.tensor.string", "element 0 is not UTF-8");
  finish(&self);
}

static void test_locations(void) {
  static const struct {
    const char *location, *fault;
  } rows[] = {
      {"weights.bin", NULL},
      {"sub/w.bin", NULL},
      {"./w.bin", NULL},
      {"model..v2.bin", NULL},
      {"a/../w.bin", NULL},
      {"\xe5\xa3\xab\xe5\xa4\xa7.bin", NULL},
      {"", "location is empty"},
      {".", "location names a folder"},
      {"/abs", "location is absolute"},
      {"\\abs", "location is absolute"},
      {"C:\\x", "location is absolute"},
      {"../../etc/passwd", "location leads out of the model's folder"},
      {"a/../../b", "location leads out of the model's folder"},
      {"a\\..\\..\\b", "location leads out of the model's folder"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *fault = os_external_location_fault(os_str_of(rows[i].location));
    CHECK_STR(os_str_of(fault == NULL ? "" : fault), rows[i].fault == NULL ? "" : rows[i].fault);
  }
}

static os_status open_file(void *context, os_str location, os_source *out, os_external_state *state) {
  *state = os_str_is(location, "w.bin")  ? OS_EXTERNAL_FOUND
           : os_str_is(location, "blob") ? OS_EXTERNAL_UNREADABLE
                                         : OS_EXTERNAL_MISSING;
  *out = *(const os_source *)context;
  return OS_OK;
}

static void external(fixture *self, const char *location, const char *offset, const char *length,
                     const char *rule, const char *message) {
  os_source file = os_source_memory("0123456789", 10);
  os_external files = {open_file, &file};
  Onnx__TensorProto *proto = tensor(self, OP_UINT8, 1, 4, 0);
  entry(self, proto, "location", location);
  if (offset != NULL) entry(self, proto, "offset", offset);
  if (length != NULL) entry(self, proto, "length", length);
  os_report report;
  os_report_init(&report, &self->arena, false, 0);
  os_data_check check = {&report, &self->arena, {NULL, &files, false}};
  CHECK_EQ(os_tensor_check(&check, proto, NULL), OS_OK);
  // The small file has no offset that programs would like best.
  if (report.counts[OS_INFO] == 1) {
    CHECK_STR(os_str_of(report.findings.items[0]->rule->id), "onnx.external.align");
    report.findings.items++;
    report.findings.count--;
  }
  os_tensor_reader reader;
  os_status status = os_tensor_open(&reader, proto, check.origin);
  if (rule == NULL) {
    char data[4];
    CHECK_EQ(report.findings.count, 0);
    CHECK_EQ(status, OS_OK);
    CHECK_EQ(os_tensor_read(&reader, 0, 4, data), OS_OK);
    CHECK_BYTES(data, 4, message, 4);
  } else if (CHECK(report.findings.count == 1)) {
    CHECK_STR(os_str_of(report.findings.items[0]->rule->id), rule);
    CHECK_STR(report.findings.items[0]->message, message);
    CHECK_EQ(status, OS_MALFORMED);
    CHECK(reader.trouble[0] != 0);
  }
}

static void test_external(void) {
  fixture self;
  start(&self);
  external(&self, "w.bin", "3", "4", NULL, "3456");
  external(&self, "w.bin", NULL, NULL, NULL, "0123");
  external(&self, "w.bin", "-1", NULL, "onnx.external.entry", "offset is no number from 0 to 2^64 - 1");
  external(&self, "w.bin", "abc", NULL, "onnx.external.entry", "offset is no number from 0 to 2^64 - 1");
  external(&self, "w.bin", "0", "99999999999999999999", "onnx.external.entry",
           "length is no number from 0 to 2^64 - 1");
  external(&self, "w.bin", "99999999999", "4", "onnx.external.size",
           "offset 99999999999 and length 4 lead beyond \"w.bin\", which has 10 bytes");
  external(&self, "w.bin", "7", NULL, "onnx.external.size",
           "dims [4] need 4 bytes, \"w.bin\" has 3 from offset 7");
  external(&self, "w.bin", "0", "3", "onnx.external.size", "dims [4] need 4 bytes, length is 3");
  external(&self, "none.bin", NULL, NULL, "onnx.external.missing", "the file \"none.bin\" is not there");
  external(&self, "../w.bin", NULL, NULL, "onnx.external.location",
           "location leads out of the model's folder (\"../w.bin\")");
  Onnx__TensorProto *proto = tensor(&self, OP_UINT8, 1, 4, 0);
  entry(&self, proto, "location", "w.bin");
  entry(&self, proto, "__class__", "x");
  finds(&self, proto, OS_WARNING, "onnx.external.key", "the key \"__class__\" of external_data is unknown");
  os_source file = os_source_memory("0", 1);
  os_external files = {open_file, &file};
  os_data_check check = {&self.report, &self.arena, {NULL, &files, false}};
  proto = tensor(&self, OP_UINT8, 1, 4, 0);
  entry(&self, proto, "location", "blob");
  CHECK_EQ(os_tensor_check(&check, proto, NULL), OS_OK);
  CHECK_EQ(self.report.incomplete.count, 1);
  CHECK(!os_report_ok(&self.report));
  finish(&self);
}

// Opens bytes, checks and reads them; the value written again gives `again`, or the same bytes.
static void value_round_trip(const char *bytes, size_t n, os_kind kind, const char *type, const char *again,
                             size_t again_n) {
  fixture self;
  start(&self);
  os_source source = os_source_memory(bytes, n);
  os_document_options options = {.as = kind};
  os_document *document;
  os_str trouble;
  op_value *value;
  CHECK_EQ(os_document_open(&self.memory, &source, &options, &self.report, &document), OS_OK);
  if (CHECK(document != NULL)) {
    CHECK_EQ(os_document_check_data(document, &self.report), OS_OK);
    CHECK_EQ(self.report.counts[OS_ERROR], 0);
    CHECK_EQ(os_value_read(document, &self.memory, self.types, 0, &value, &trouble), OS_OK);
    CHECK_STR(trouble, "");
    if (CHECK(value != NULL)) {
      CHECK_STR(os_types_print(self.types, &self.arena, op_value_type(value)), type);
      CHECK_EQ(os_value_message_kind(value), kind);
      os_text text;
      os_text_init(&text, &self.memory);
      CHECK_EQ(os_value_write(&text, &self.memory, self.types, value, OS_STR("")), OS_OK);
      CHECK_BYTES(text.data, text.len, again == NULL ? bytes : again, again == NULL ? n : again_n);
      os_text_clear(&text);
    }
    op_value_release(value);
    os_document_close(document);
  }
  finish(&self);
}
#define ROUND_TRIP(bytes, kind, type) value_round_trip((bytes), sizeof(bytes) - 1, kind, type, NULL, 0)
#define BECOMES(bytes, kind, type, again) \
  value_round_trip((bytes), sizeof(bytes) - 1, kind, type, (again), sizeof(again) - 1)

// uint8 tensors [2] and [] (scalar), as they are written.
#define PAIR "\x08\x02\x10\x02\x4a\x02\x05\x06"
#define ONE(digit) "\x10\x02\x4a\x01" digit

static void test_values(void) {
  ROUND_TRIP(PAIR, OS_KIND_TENSOR, "tensor(uint8)");
  BECOMES("\x08\x03\x10\x16\x2a\x03\xf1\x01\x08", OS_KIND_TENSOR, "tensor(int4)",
          "\x08\x03\x10\x16\x4a\x02\xf1\x08");
  ROUND_TRIP("\x08\x02\x10\x08\x32\x03"
             "a\0b\x32\x00",
             OS_KIND_TENSOR, "tensor(string)");
  ROUND_TRIP("\x08\x00\x10\x08", OS_KIND_TENSOR, "tensor(string)");
  ROUND_TRIP("\x10\x07\x2a\x02\x10\x01", OS_KIND_MAP, "?");
  ROUND_TRIP("\x10\x08\x2a\x02\x10\x01", OS_KIND_MAP, "?");
  ROUND_TRIP("\x10\x01\x1a\x08" PAIR "\x1a\x05" ONE("\x07") "", OS_KIND_SEQUENCE, "seq(tensor(uint8))");
  // A sequence of two sequences, one of them empty: its type is that of the other.
  ROUND_TRIP("\x10\x03\x2a\x02\x10\x01\x2a\x09\x10\x01\x1a\x05" ONE("\x07"), OS_KIND_SEQUENCE,
             "seq(seq(tensor(uint8)))");
  ROUND_TRIP("\x10\x01\x1a\x05" ONE("\x07"), OS_KIND_OPTIONAL, "optional(tensor(uint8))");
  ROUND_TRIP("\x10\x00", OS_KIND_OPTIONAL, "?");
  ROUND_TRIP("\x10\x05\x3a\x02\x10\x00", OS_KIND_OPTIONAL, "?");
}

#define VALUES(a, b, c) "\x2a\x17\x10\x01\x1a\x05" ONE(a) "\x1a\x05" ONE(b) "\x1a\x05" ONE(c)

static void test_maps(void) {
  // Keys come out in ascending order: -2, 1, 3.
  BECOMES(
      "\x10\x07\x18\x03\x18\x01\x18\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01" VALUES("\x33", "\x31", "\x32"),
      OS_KIND_MAP, "map(int64, uint8)",
      "\x10\x07\x18\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x01\x18\x03" VALUES("\x32", "\x31", "\x33"));
  BECOMES("\x10\x08\x22\x01"
          "b\x22\x02"
          "ab\x22\x01"
          "a" VALUES("\x31", "\x32", "\x33"),
          OS_KIND_MAP, "map(string, uint8)",
          "\x10\x08\x22\x01"
          "a\x22\x02"
          "ab\x22\x01"
          "b" VALUES("\x33", "\x32", "\x31"));
}

// 2 of 3 x 4: linear indices 1 and 5.
#define SPARSE(second)                                                                                     \
  "\x0a\x08" PAIR "\x12\x16\x08\x02\x10\x07\x4a\x10\x01\0\0\0\0\0\0\0" second "\0\0\0\0\0\0\0\x18\x03\x18" \
  "\x04"

static void test_sparse(void) { ROUND_TRIP(SPARSE("\x05"), OS_KIND_SPARSE_TENSOR, "sparse_tensor(uint8)"); }

static void data_fault(const char *bytes, size_t n, os_kind kind, const char *rule, const char *path,
                       const char *message) {
  fixture self;
  start(&self);
  os_source source = os_source_memory(bytes, n);
  os_document_options options = {.as = kind};
  os_document *document;
  os_str trouble;
  op_value *value;
  CHECK_EQ(os_document_open(&self.memory, &source, &options, &self.report, &document), OS_OK);
  if (CHECK(document != NULL)) {
    CHECK_EQ(os_document_check_data(document, &self.report), OS_OK);
    bool found = false;
    for (size_t i = 0; i < self.report.findings.count; i++) {
      const os_finding *finding = self.report.findings.items[i];
      if (!os_str_is(os_str_of(finding->rule->id), rule)) continue;
      found = true;
      CHECK_STR(finding->message, message);
      CHECK_STR(finding->where.path, path);
      if (finding->severity != OS_ERROR) continue;
      CHECK_EQ(os_value_read(document, &self.memory, self.types, 0, &value, &trouble), OS_MALFORMED);
      CHECK(value == NULL);
      CHECK(trouble.len > 0);
    }
    CHECK(found);
    os_document_close(document);
  }
  finish(&self);
}
#define FAULT(bytes, ...) data_fault((bytes), sizeof(bytes) - 1, __VA_ARGS__)

static void test_data_rules(void) {
  FAULT(SPARSE("\x0c"), OS_KIND_SPARSE_TENSOR, "onnx.sparse.indices", "indices",
        "index 1 is 12, outside 0 to 11");
  FAULT(SPARSE("\x01"), OS_KIND_SPARSE_TENSOR, "onnx.sparse.order", "indices", "index 1 is 1 after 1");
  FAULT("\x18\x03", OS_KIND_SPARSE_TENSOR, "onnx.sparse.values", "values", "values is missing");
  FAULT("\x0a\x08" PAIR, OS_KIND_SPARSE_TENSOR, "onnx.sparse.dims", "dims",
        "dims are missing: a sparse tensor has rank 1 or more");
  FAULT("\x0a\x08" PAIR "\x18\x03\x18\x00", OS_KIND_SPARSE_TENSOR, "onnx.sparse.dims", "dims", "dim 1 is 0");
  FAULT("\x0a\x08" PAIR "\x18\x03", OS_KIND_SPARSE_TENSOR, "onnx.sparse.indices", "indices",
        "indices are missing for 2 values");
  FAULT("\x0a\x08" PAIR "\x12\x08" PAIR "\x18\x03", OS_KIND_SPARSE_TENSOR, "onnx.sparse.indices", "indices",
        "indices have data_type 2, not INT64 (7)");
  FAULT("\x1a\x08" PAIR, OS_KIND_SEQUENCE, "onnx.sequence.elem-type", "elem_type",
        "elem_type is 0 (missing), not one of 1 to 5");
  FAULT("\x10\x04\x1a\x08" PAIR, OS_KIND_SEQUENCE, "onnx.sequence.field", "elem_type",
        "elem_type is MAP, but tensor_values has 1 element");
  FAULT("\x10\x01\x1a\x08" PAIR "\x1a\x05\x10\x01\x4a\x01\x01", OS_KIND_SEQUENCE, "onnx.tensor.raw-size",
        "tensor_values[1].raw_data", "dims [] need 4 bytes, raw_data has 1");
  FAULT("\x10\x01\x1a\x08" PAIR "\x1a\x05\x10\x03\x4a\x01\x01", OS_KIND_SEQUENCE, "onnx.sequence.types",
        "tensor_values", "element 0 has data_type 2, element 1 has 3");
  FAULT("\x10\x09", OS_KIND_OPTIONAL, "onnx.optional.elem-type", "elem_type",
        "elem_type is 9, not one of 0 to 5");
  FAULT("\x10\x04\x1a\x08" PAIR, OS_KIND_OPTIONAL, "onnx.optional.field", "elem_type",
        "elem_type is MAP, but tensor_value is there");
  FAULT("\x10\x01\x18\x01\x2a\x02\x10\x01", OS_KIND_MAP, "onnx.map.key-type", "key_type",
        "key_type is 1, neither an integer type nor STRING");
  FAULT("\x10\x07\x22\x01"
        "a\x2a\x09\x10\x01\x1a\x05" ONE("\x01"),
        OS_KIND_MAP, "onnx.map.keys", "key_type", "int64 keys are in string_keys");
  FAULT("\x10\x07\x18\x01\x22\x01"
        "a\x2a\x02\x10\x01",
        OS_KIND_MAP, "onnx.map.keys", "keys", "both keys and string_keys are in use");
  FAULT("\x10\x07\x18\x01\x18\x01\x2a\x10\x10\x01\x1a\x05" ONE("\x01") "\x1a\x05" ONE("\x01"), OS_KIND_MAP,
        "onnx.map.keys", "keys", "the key 1 comes twice");
  FAULT("\x10\x03\x18\x80\x01\x2a\x09\x10\x01\x1a\x05" ONE("\x01"), OS_KIND_MAP, "onnx.map.keys", "keys",
        "the key 128 does not fit int8");
  FAULT("\x10\x07\x18\x01\x2a\x02\x10\x01", OS_KIND_MAP, "onnx.map.values", "values", "1 keys, but 0 values");
  FAULT("\x10\x07\x18\x01", OS_KIND_MAP, "onnx.map.values", "values", "values is missing");
}

static void sniffs(const char *bytes, size_t n, os_kind kind, const char *evidence, const char *candidates) {
  fixture self;
  start(&self);
  os_source source = os_source_memory(bytes, n);
  os_sniff sniff;
  CHECK_EQ(os_onnx_sniff(&source, &self.arena, &sniff), OS_OK);
  CHECK_STR(os_str_of(os_kind_name(sniff.kind)), os_kind_name(kind));
  CHECK_STR(sniff.evidence, evidence);
  CHECK_STR(sniff.candidates, candidates);
  finish(&self);
}
#define SNIFFS(bytes, ...) sniffs((bytes), sizeof(bytes) - 1, __VA_ARGS__)

#define MODEL "\x08\x07\x3a\x0f\x0a\x0a\x0a\x01x\x12\x01y\x22\x02Op\x12\x01g\x42\x02\x10\x15"

static void test_sniff(void) {
  SNIFFS("", OS_KIND_UNKNOWN, "the file is empty", "");
  SNIFFS(MODEL, OS_KIND_MODEL, "its fields are those of ModelProto", "");
  SNIFFS(PAIR, OS_KIND_TENSOR, "its fields are those of TensorProto", "");
  SNIFFS("\x10\x01\x1a\x08" PAIR "\x1a\x08" PAIR, OS_KIND_SEQUENCE, "its fields are those of SequenceProto",
         "");
  SNIFFS("\x0a\x06opt_in\x10\x01\x1a\x08" PAIR, OS_KIND_SEQUENCE, "its fields are those of SequenceProto",
         "OptionalProto");
  SNIFFS(SPARSE("\x05"), OS_KIND_SPARSE_TENSOR, "its fields are those of SparseTensorProto", "");
  SNIFFS("\x10\x07\x18\x01\x2a\x09\x10\x01\x1a\x05" ONE("\x01"), OS_KIND_MAP,
         "its fields are those of MapProto", "");
  SNIFFS("\x0a\x09ONNXOPSET\x10\x0e", OS_KIND_OPERATOR_SET, "it begins with the magic ONNXOPSET", "");
  SNIFFS("\x0a\x0a\x0a\x01x\x12\x01y\x22\x02Op\x12\x01g\x5a\x03\x0a\x01x", OS_KIND_GRAPH,
         "its fields are those of GraphProto", "");
  SNIFFS("\x0a\x01"
         "F\x22\x01x\x2a\x01y\x3a\x0a\x0a\x01x\x12\x01y\x22\x02Op\x52\x01"
         "d",
         OS_KIND_FUNCTION, "its fields are those of FunctionProto", "");
  SNIFFS("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n", OS_KIND_TEXT,
         "it looks like a Git LFS pointer; fetch the file itself with `git lfs pull`", "");
  SNIFFS("<!DOCTYPE html>\n<html>", OS_KIND_TEXT,
         "it looks like an HTML page; the server answered with a page in place of the file", "");
  SNIFFS("< ir_version : 10, opset_import: [\"\" : 21]>\ng (float x) => (float y) { y = Relu(x) }",
         OS_KIND_TEXT, "it looks like a model in ONNX's syntax; convert it to its binary form first", "");
  SNIFFS("<ir>", OS_KIND_TEXT,
         "it looks like an HTML page; the server answered with a page in place of the file", "");
  SNIFFS(" {\"kind\": 1}", OS_KIND_JSON, "it looks like JSON text", "");
  SNIFFS("PK\x03\x04\x14\0", OS_KIND_ZIP, "it looks like a zip archive; unpack it first", "");
  SNIFFS("PK\x05\x06\0\0", OS_KIND_ZIP, "it looks like a zip archive; unpack it first", "");
  SNIFFS("PK\x03\x04\x14\0archive/data.pkl", OS_KIND_ZIP,
         "it looks like a PyTorch file (a zip archive); export the model with torch.onnx.export", "");
  SNIFFS("node { op: \"Add\" }", OS_KIND_TEXT,
         "it looks like a protobuf in text form; convert it to its binary form first", "");
  SNIFFS("\x93NUMPY\x01\0", OS_KIND_UNKNOWN, "it looks like a NumPy array (.npy)", "");
  SNIFFS("\xff\xfe\xfd\xfc", OS_KIND_UNKNOWN, "its bytes fit no ONNX message", "");
}

// What opening says of bytes; `as` OS_KIND_UNKNOWN = by content.
static void opens(const char *bytes, size_t n, os_kind as, os_status status, const char *rule,
                  const char *message) {
  fixture self;
  start(&self);
  os_source source = os_source_memory(bytes, n);
  os_document_options options = {.as = as};
  os_document *document;
  CHECK_EQ(os_document_open(&self.memory, &source, &options, &self.report, &document), status);
  if (status == OS_OK && CHECK(document != NULL)) {
    CHECK_EQ(os_document_check_data(document, &self.report), OS_OK);
    CHECK(os_str_is(self.report.kind, os_kind_name(document->kind)));
  } else {
    CHECK(document == NULL);
  }
  const os_finding *last =
      self.report.findings.count == 0 ? NULL : self.report.findings.items[self.report.findings.count - 1];
  CHECK_STR(last == NULL ? OS_STR("") : os_str_of(last->rule->id), rule);
  CHECK_STR(last == NULL ? OS_STR("") : last->message, message);
  os_document_close(document);
  finish(&self);
}
#define OPENS(bytes, ...) opens((bytes), sizeof(bytes) - 1, __VA_ARGS__)

static void test_documents(void) {
  OPENS(MODEL, OS_KIND_UNKNOWN, OS_OK, "", "");
  OPENS("", OS_KIND_UNKNOWN, OS_MALFORMED, "wire.empty", "the file is empty");
  OPENS("PK\x03\x04", OS_KIND_UNKNOWN, OS_MALFORMED, "onnx.document.kind",
        "this is not an ONNX document: it looks like a zip archive; unpack it first");
  // A damaged model is still a model: the finding says where.
  OPENS("\x08\x07\x12\x01p\x3a\x0f\x0a\x0a\x0f\x01x\x12\x01y\x22\x02Op\x12\x01g", OS_KIND_UNKNOWN,
        OS_MALFORMED, "wire.type", "wire type 7 at byte 9 does not exist (field 1 (input of NodeProto))");
  OPENS("\x08\x07\x3a\x86\x80\x80\x82\x10\x0a\x00", OS_KIND_UNKNOWN, OS_MALFORMED, "wire.truncated",
        "field 7 (graph of ModelProto) at byte 2 declares 4299161606 bytes, but the rest is 2 (the file has "
        "10)");
  // An optional that is taken for a tensor: its name becomes dims.
  OPENS("\x0a\x06opt_in\x10\x01\x1a\x08" PAIR, OS_KIND_TENSOR, OS_OK, "onnx.document.kind",
        "maybe this is no TensorProto: the bytes fit SequenceProto, OptionalProto");
  OPENS("\x0a\x06opt_in\x10\x01\x1a\x05\x08\x1b\x10\x02\x48", OS_KIND_TENSOR, OS_MALFORMED, "wire.truncated",
        "field 9 at byte 16 ends in the middle of a number");
  OPENS(PAIR, OS_KIND_MODEL, OS_OK, "onnx.document.kind",
        "maybe this is no ModelProto: the bytes fit TensorProto");
  fixture self;
  start(&self);
  os_source source = os_source_memory(MODEL, sizeof MODEL - 1);
  os_limits limits = {.bytes = 10};
  os_document_options options = {.limits = &limits};
  os_document *document;
  CHECK_EQ(os_document_open(&self.memory, &source, &options, &self.report, &document), OS_LIMIT);
  CHECK_EQ(self.report.incomplete.count, 1);
  CHECK_EQ(os_kind_find(OS_STR("model")), OS_KIND_MODEL);
  CHECK_EQ(os_kind_find(OS_STR("SparseTensorProto")), OS_KIND_SPARSE_TENSOR);
  CHECK_EQ(os_kind_find(OS_STR("nothing")), OS_KIND_UNKNOWN);
  finish(&self);
}

static void test_types(void) {
  static const char *const rows[] = {"tensor(float)",       "sparse_tensor(int64)",
                                     "seq(tensor(string))", "optional(seq(tensor(float16)))",
                                     "map(int64, float)",   "seq(map(string, float))"};
  fixture self;
  start(&self);
  op_type tensor_float = op_type_tensor(OP_FLOAT), strings = op_type_tensor(OP_STRING);
  os_type made[] = {{.kind = OS_TYPE_TENSOR, .elem = OP_FLOAT},
                    {.kind = OS_TYPE_SPARSE, .elem = OP_INT64},
                    {.kind = OS_TYPE_SEQUENCE, .of = strings},
                    {.kind = OS_TYPE_OPTIONAL},
                    {.kind = OS_TYPE_MAP, .elem = OP_INT64, .of = tensor_float},
                    {.kind = OS_TYPE_SEQUENCE}};
  made[3].of =
      os_types_intern(self.types, (os_type){.kind = OS_TYPE_SEQUENCE, .of = op_type_tensor(OP_FLOAT16)});
  made[5].of =
      os_types_intern(self.types, (os_type){.kind = OS_TYPE_MAP, .elem = OP_STRING, .of = tensor_float});
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    op_type type = i == 0 ? tensor_float : os_types_intern(self.types, made[i]);
    const Onnx__TypeProto *proto = os_type_to_proto(self.types, &self.arena, type, NULL);
    if (!CHECK(proto != NULL)) continue;
    CHECK_EQ(os_type_from_proto(self.types, proto), type);
    CHECK_STR(os_types_print(self.types, &self.arena, type), rows[i]);
  }
  Onnx__TypeProto *unset = OS_PROTO_NEW(&self.arena, Onnx__TypeProto, onnx__type_proto__descriptor, NULL);
  CHECK_EQ(os_type_from_proto(self.types, unset), 0);
  finish(&self);
}

static void test_rules(void) {
  for (size_t i = 0; i < os_onnx_rules.count; i++) {
    const os_rule *rule = os_onnx_rules.rules[i];
    CHECK(strncmp(rule->id, "onnx.", 5) == 0);
    for (size_t j = 0; j < i; j++) CHECK(strcmp(rule->id, os_onnx_rules.rules[j]->id) != 0);
  }
}

int main(void) {
  test_elements();
  test_tensor_rules();
  test_locations();
  test_external();
  test_values();
  test_maps();
  test_sparse();
  test_data_rules();
  test_sniff();
  test_documents();
  test_types();
  test_rules();
  return CHECK_END();
}
