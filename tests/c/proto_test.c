#include "check.h"
#include "decode.h"
#include "encode.h"
#include "form.h"
#include "onnx-data.pb-c.h"
#include "onnx.pb-c.h"
#include "walk.h"
#include "wire_rules.h"

#include <stdbool.h>
#include <stdlib.h>

// Bytes written out in hexadecimal.
static size_t hex(const char *text, uint8_t *to) {
  size_t n = 0;
  for (; *text != 0; text++) {
    if (*text == ' ') continue;
    char pair[3] = {text[0], text[1], 0};
    to[n++] = (uint8_t)strtoul(pair, NULL, 16);
    text++;
  }
  return n;
}

typedef struct fixture {
  os_memory memory;
  os_arena arena;
  os_report report;
  uint8_t bytes[8192];
  os_source whole, source;
  os_status status;
  void *message;
  unsigned answers; // of the source that is not always ready
  os_arena scratch;
  os_skeleton skeleton;
} fixture;

// How bytes are decoded: from memory or in pieces, at once or first as an outline.
enum { PIECES = 1, OUTLINE = 2, WAYS = 4 };

static os_status read_pieces(void *context, uint64_t offset, size_t n, void *to) {
  fixture *self = context;
  if (self->answers++ % 2 == 0) return OS_NEEDS_HOST;
  return os_source_read(&self->whole, offset, n, to);
}

static os_status read_now(void *context, uint64_t offset, size_t n, void *to) {
  return os_source_read(context, offset, n, to);
}

static void run(fixture *self, const os_decoding *decoding) {
  os_decoder *decoder;
  self->status = os_decoder_new(decoding, &decoder);
  while (self->status == OS_OK && (self->status = os_decoder_run(decoder, &self->message)) == OS_NEEDS_HOST)
    self->status = OS_OK;
}

static void decode(fixture *self, const char *type, const char *text, uint32_t depth, unsigned way) {
  *self = (fixture){0};
  bool pieces = (way & PIECES) != 0;
  os_arena_init(&self->scratch, &self->memory);
  os_skeleton_init(&self->skeleton, &self->memory);
  os_arena_init(&self->arena, &self->memory);
  os_report_init(&self->report, &self->arena, false, 0);
  self->whole = os_source_memory(self->bytes, hex(text, self->bytes));
  self->source = self->whole;
  if (pieces) self->source = (os_source){.length = self->whole.length, .read = read_pieces, .context = self};
  os_decoding decoding = {.arena = &self->arena,
                          .source = &self->source,
                          .type = os_proto_type_find(os_str_of(type)),
                          .depth = depth,
                          .report = &self->report};
  if ((way & OUTLINE) != 0) {
    decoding.scratch = &self->scratch;
    decoding.skeleton = pieces ? &self->skeleton : NULL;
    run(self, &decoding);
    if (self->status != OS_OK) return;
    decoding.scratch = NULL;
    decoding.known = true;
  }
  unsigned answers = self->answers;
  run(self, &decoding);
  if ((way & OUTLINE) != 0) CHECK_EQ(self->answers, answers); // nothing is read again
}

static void finish(fixture *self) {
  os_arena_clear(&self->arena);
  os_arena_clear(&self->scratch);
  os_skeleton_clear(&self->skeleton);
  CHECK_EQ(self->memory.used, 0);
}

static os_text encode(fixture *self, bool edited) {
  os_text text;
  os_text_init(&text, &self->memory);
  os_sink sink = os_sink_text(&text);
  uint64_t size;
  if (edited) CHECK_EQ(os_proto_detach(&self->memory, self->message), OS_OK);
  CHECK_EQ(os_proto_encode(&self->memory, &self->source, self->message, &sink), OS_OK);
  CHECK_EQ(os_proto_encoded_size(&self->memory, self->message, &size), OS_OK);
  CHECK_EQ(size, text.len);
  return text;
}

// Decodes to OS_OK; written unchanged it is the same, written anew it is `again`.
static void round_trip(const char *type, const char *text, const char *again) {
  uint8_t bytes[4096];
  for (unsigned way = 0; way < WAYS; way += OUTLINE) {
    fixture self;
    decode(&self, type, text, 0, way);
    if (!CHECK(self.status == OS_OK)) return;
    os_text out = encode(&self, false);
    CHECK_BYTES(out.data, out.len, self.bytes, (size_t)self.whole.length);
    os_text_clear(&out);
    out = encode(&self, true);
    size_t n = hex(again, bytes);
    CHECK_BYTES(out.data, out.len, bytes, n);
    os_text_clear(&out);
    finish(&self);
  }
}

static void fault(const char *type, const char *text, uint32_t depth, os_status status, const char *rule,
                  const char *path, const char *message) {
  bool guessed = strstr(message, "looks like") != NULL; // needs the beginning of the file at hand
  for (unsigned way = 0; way < WAYS; way += guessed ? OUTLINE : 1) {
    fixture self;
    decode(&self, type, text, depth, way);
    CHECK_EQ(self.status, status);
    CHECK(self.message == NULL);
    if (CHECK(self.report.findings.count == 1)) {
      const os_finding *finding = self.report.findings.items[0];
      CHECK_STR(os_str_of(finding->rule->id), rule);
      CHECK_STR(finding->where.path, path);
      CHECK_STR(finding->message, message);
      CHECK(finding->where.binary && finding->where.has_range);
    }
    finish(&self);
  }
}

static void test_values(void) {
  fixture self;
  decode(&self, "TensorProto",
         "08 02 0a 03 03 80 01"                         // dims: 2, then packed 3, 128
         "0a 01 05 08 06"                               // packed 5; 6
         "10 01 10 07"                                  // data_type twice: the last one counts
         "22 08 00 00 80 3f 00 00 00 c0 25 00 00 40 40" // float_data 1, -2 packed; 3
         "32 00 32 03 61 00 62"                         // string_data "", "a\0b"
         "38 ff ff ff ff ff ff ff ff ff 01",            // int64_data -1
         0, 0);
  CHECK_EQ(self.status, OS_OK);
  const Onnx__TensorProto *tensor = self.message;
  if (CHECK(tensor != NULL && tensor->n_dims == 5)) {
    const int64_t dims[] = {2, 3, 128, 5, 6};
    CHECK_BYTES(tensor->dims, 40, dims, 40);
    CHECK(tensor->has_data_type);
    CHECK_EQ(tensor->data_type, 7);
    const float floats[] = {1, -2, 3};
    CHECK_EQ(tensor->n_float_data, 3);
    CHECK_BYTES(tensor->float_data, 12, floats, 12);
    CHECK_EQ(tensor->n_string_data, 2);
    CHECK_BYTES(tensor->string_data[1].data, tensor->string_data[1].len, "a\0b", 3);
    CHECK_EQ(tensor->int64_data[0], -1);
    CHECK(!tensor->has_name && !tensor->has_raw_data && tensor->rare == NULL);
    CHECK_EQ(os_proto_length(tensor), self.whole.length);
  }
  finish(&self);
}

static void test_merge(void) {
  fixture self; // graph comes in three parts, with a node in each
  decode(&self, "ModelProto", "08 07 3a 07 0a 02 1a 00 12 01 61 3a 06 0a 04 1a 02 6e 32 3a 05 12 01 62 0a 00",
         0, 0);
  CHECK_EQ(self.status, OS_OK);
  const Onnx__ModelProto *model = self.message;
  if (CHECK(model != NULL && model->graph != NULL && model->graph->n_node == 3)) {
    CHECK_STR(os_bytes_str(model->graph->name), "b");
    CHECK_STR(os_bytes_str(model->graph->node[1]->name), "n2");
    CHECK(os_proto_parent(model->graph->node[1]) == model->graph);
    os_text out = encode(&self, false);
    CHECK_BYTES(out.data, out.len, self.bytes, (size_t)self.whole.length);
    os_text_clear(&out);
    model->graph->node[1]->name = os_bytes_of(OS_STR("other")); // the graph is then written in one piece
    os_proto_edited(model->graph->node[1]);
    out = encode(&self, false);
    uint8_t bytes[64];
    size_t n = hex("08 07 3a 12 0a 02 1a 00 0a 07 1a 05 6f 74 68 65 72 0a 00 12 01 62", bytes);
    CHECK_BYTES(out.data, out.len, bytes, n);
    os_text_clear(&out);
  }
  finish(&self);
  // Elements of two fields in turn, over many parts: lists move, nothing is lost.
  char text[4000] = "";
  for (int i = 0; i < 100; i++) strcat(text, "3a 06 0a 00 5a 00 0a 00 ");
  decode(&self, "ModelProto", text, 0, 0);
  CHECK_EQ(self.status, OS_OK);
  model = self.message;
  if (CHECK(model != NULL && model->graph != NULL)) {
    CHECK_EQ(model->graph->n_node, 200);
    CHECK_EQ(model->graph->n_input, 100);
    for (size_t i = 0; i < 200; i++)
      CHECK(model->graph->node[i]->base.descriptor == &onnx__node_proto__descriptor);
  }
  finish(&self);
}

static void test_oneof(void) {
  fixture self;
  decode(&self, "TensorShapeProto", "0a 05 08 03 12 01 4e 0a 05 12 01 4e 08 03 0a 00", 0, 0);
  const Onnx__TensorShapeProto *shape = self.message;
  if (CHECK(shape != NULL && shape->n_dim == 3)) {
    CHECK_EQ(shape->dim[0]->value_case, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM);
    CHECK_STR(os_bytes_str(shape->dim[0]->dim_param), "N");
    CHECK_EQ(shape->dim[1]->value_case, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE);
    CHECK_EQ(shape->dim[1]->dim_value, 3);
    CHECK_EQ(shape->dim[2]->value_case, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET);
  }
  finish(&self);
}

static void test_round_trips(void) {
  round_trip("ModelProto", "08 07", "08 07");
  round_trip("ModelProto", "", "");
  // Fields out of order, unknown fields of every wire type, a group with a group inside.
  round_trip("OperatorSetIdProto", "10 05 0a 01 61", "0a 01 61 10 05");
  round_trip("OperatorSetIdProto",
             "98 06 01 10 05 a2 06 02 61 62 a9 06 01 02 03 04 05 06 07 08 b5 06 01 02 03 04",
             "10 05 98 06 01 a2 06 02 61 62 a9 06 01 02 03 04 05 06 07 08 b5 06 01 02 03 04");
  round_trip("OperatorSetIdProto", "9b 06 08 01 a3 06 a4 06 12 01 61 9c 06 10 05",
             "10 05 9b 06 08 01 a3 06 a4 06 12 01 61 9c 06");
  // An enum value that the definition does not have is kept; the field counts as absent.
  round_trip("OperatorProto", "18 09 0a 01 61", "0a 01 61 18 09");
  round_trip("OperatorProto", "18 01", "18 01");
  // Packed lists are written packed, others one by one; negative int32 in ten bytes.
  round_trip("TensorProto", "08 01 0a 01 02 28 ff ff ff ff ff ff ff ff ff 01 28 05",
             "08 01 08 02 2a 0b ff ff ff ff ff ff ff ff ff 01 05");
  round_trip("SequenceProto", "12 01 73 0a 00", "0a 00 12 01 73"); // elem_type with another wire type
  round_trip("MapProto", "10 07 18 01 1a 02 02 03 22 00 2a 04 10 01 1a 00",
             "10 07 18 01 18 02 18 03 22 00 2a 04 10 01 1a 00");
}

static void test_faults(void) {
  fault("ModelProto", "3a 05 0a", 0, OS_MALFORMED, "wire.truncated", "graph",
        "field 7 (graph of ModelProto) at byte 0 declares 5 bytes, but the rest is 1 (the file has 3)");
  fault("ModelProto", "08 07 3a 86 80 80 82 10 00", 0, OS_MALFORMED, "wire.truncated", "graph",
        "field 7 (graph of ModelProto) at byte 2 declares 4299161606 bytes, but the rest is 1 (the file has "
        "9)");
  fault("ModelProto", "3a 08 0a 00 0a 04 2a 02 0f 00", 0, OS_MALFORMED, "wire.type",
        "graph.node[1].attribute[0].name",
        "wire type 7 at byte 8 does not exist (field 1 (name of AttributeProto))");
  fault("ModelProto", "3a 04 0a 02 0a 09", 0, OS_MALFORMED, "wire.truncated", "graph.node[0].input[0]",
        "field 1 (input of NodeProto) at byte 4 declares 9 bytes, but the rest of the NodeProto around it is "
        "0");
  fault("ModelProto", "08 07 00 01", 0, OS_MALFORMED, "wire.tag", "",
        "field number 0 at byte 2 is not possible");
  fault("ModelProto", "08 ff ff ff ff ff ff ff ff ff ff 01", 0, OS_MALFORMED, "wire.varint", "ir_version",
        "the number in field 1 (ir_version of ModelProto) at byte 1 is longer than ten bytes");
  fault("ModelProto", "08 ff", 0, OS_MALFORMED, "wire.truncated", "ir_version",
        "field 1 (ir_version of ModelProto) at byte 0 ends in the middle of a number");
  fault("ModelProto", "80", 0, OS_MALFORMED, "wire.truncated", "",
        "the tag at byte 0 is cut: the rest is 1 (the file has 1)");
  fault("TensorProto", "22 03 00 00 80", 0, OS_MALFORMED, "wire.length", "float_data",
        "field 4 (float_data of TensorProto) at byte 0 has 3 bytes of elements that take 4 each");
  fault("TensorProto", "25 00 00 80", 0, OS_MALFORMED, "wire.truncated", "float_data",
        "field 4 (float_data of TensorProto) at byte 0 takes 4 bytes, but the rest is 3 (the file has 4)");
  fault("TensorProto", "0a 02 01 80", 0, OS_MALFORMED, "wire.truncated", "dims",
        "element 1 of field 1 (dims of TensorProto) at byte 3 is cut");
  fault("ModelProto", "0c", 0, OS_MALFORMED, "wire.group", "ir_version",
        "group 1 ends at byte 0, but none was begun");
  fault("ModelProto", "9b 06 08 01", 0, OS_MALFORMED, "wire.group", "",
        "the group of field 99 at byte 0 is still open at byte 4");
  fault("ModelProto", "9b 06 a4 06", 0, OS_MALFORMED, "wire.group", "",
        "group 99 is ended by the end tag of group 100 at byte 2");
  // A Git LFS pointer.
  fault(
      "ModelProto",
      "76 65 72 73 69 6f 6e 20 68 74 74 70 73 3a 2f 2f 67 69 74 2d 6c 66 73 2e 67 69 74 68 75 62 2e 63 6f 6d",
      0, OS_MALFORMED, "wire.type", "metadata_props[0]",
      "the file looks like a Git LFS pointer, not a ModelProto; fetch the file itself with `git lfs pull`: "
      "wire type 6 at byte "
      "0 does not exist (field 14 (metadata_props of ModelProto))");
}

static void test_depth(void) {
  const char *nested =
      "22 06 0a 04 22 02 0a 00"; // sequence_type.elem_type.sequence_type.elem_type: five messages
  fault("TypeProto", nested, 4, OS_LIMIT, "wire.depth", "sequence_type.elem_type.sequence_type.elem_type",
        "messages are nested more than 4 deep at byte 6");
  fixture self;
  decode(&self, "TypeProto", nested, 5, 0);
  CHECK_EQ(self.status, OS_OK);
  finish(&self);
  fault("ModelProto", "9b 06 9b 06 9b 06 9c 06 9c 06 9c 06", 3, OS_LIMIT, "wire.depth", "",
        "messages are nested more than 3 deep at byte 4");
}

static void test_warnings(void) {
  fixture self;
  decode(&self, "ModelProto", "0d 07 00 00 00 12 02 61 ff", 0, 0);
  CHECK_EQ(self.status, OS_OK);
  if (CHECK(self.report.findings.count == 2)) {
    CHECK_STR(self.report.findings.items[0]->message,
              "field 1 (ir_version of ModelProto) is a varint by definition, found 4 bytes at byte 0: it "
              "counts as unknown");
    CHECK_STR(os_str_of(self.report.findings.items[1]->rule->id), "wire.utf8");
    CHECK_STR(self.report.findings.items[1]->where.path, "producer_name");
    CHECK_EQ(self.report.findings.items[1]->severity, OS_WARNING);
  }
  CHECK(!((const Onnx__ModelProto *)self.message)->has_ir_version);
  finish(&self);
}

// Numbers one by one, more of them than a window holds.
static void test_pieces_of_a_run(void) {
  enum { COUNT = 800 };
  char *text = malloc(COUNT * 10 + 10);
  *text = 0;
  for (int i = 0; i < COUNT; i++) sprintf(text + strlen(text), "25%02x000000", i % 256);
  fixture self;
  decode(&self, "TensorProto", text, 0, PIECES);
  CHECK_EQ(self.status, OS_OK);
  Onnx__TensorProto *tensor = self.message;
  if (CHECK(tensor != NULL)) {
    CHECK_EQ(tensor->n_float_data, 0); // outside, with their tags
    self.source = (os_source){.length = self.whole.length, .read = read_now, .context = &self.whole};
    os_text out = encode(&self, true);
    CHECK_BYTES(out.data, out.len, self.bytes, (size_t)self.whole.length);
    os_text_clear(&out);
    CHECK_EQ(os_proto_load_lists(&self.memory, &self.arena, &self.source, tensor), OS_OK);
  }
  if (CHECK(tensor != NULL && tensor->n_float_data == COUNT))
    for (int i = 0; i < COUNT; i++)
      CHECK_EQ(((const uint32_t *)(const void *)tensor->float_data)[i], i % 256);
  finish(&self);
  free(text);
}

// Strings that stay outside, and more of them further on.
static void test_far_strings(void) {
  enum { COUNT = 300 };
  char *text = malloc(COUNT * 30 + 100);
  *text = 0;
  for (int i = 0; i < COUNT; i++) sprintf(text + strlen(text), "3204%08x", i);
  size_t alone = strlen(text);
  for (int more = 0; more < 2; more++) {
    text[alone] = 0;
    if (more) strcat(text, "42 01 61 32 01 7a");
    fixture self;
    decode(&self, "TensorProto", text, 0, PIECES);
    CHECK_EQ(self.status, OS_OK);
    Onnx__TensorProto *tensor = self.message;
    if (CHECK(tensor != NULL)) {
      CHECK_EQ(tensor->n_string_data, more ? COUNT + 1 : 0);
      self.source = (os_source){.length = self.whole.length, .read = read_now, .context = &self.whole};
      CHECK_EQ(os_proto_load_lists(&self.memory, &self.arena, &self.source, tensor), OS_OK);
      if (CHECK(tensor->n_string_data == (size_t)(COUNT + more)))
        CHECK_BYTES(tensor->string_data[258].data, tensor->string_data[258].len, "\0\0\x01\x02", 4);
      if (more) CHECK_STR(os_bytes_str(tensor->string_data[COUNT]), "z");
    }
    finish(&self);
  }
  free(text);
}

// A record of numbers that stays outside, alone and with more of the same list before or behind it.
static void test_far_lists(void) {
  enum { COUNT = 700 };
  static const struct {
    const char *before, *behind;
    bool far;
    size_t count;
  } rows[] = {{"", "", true, COUNT},
              {"08 01", "42 01 61", true, COUNT},
              {"", "28 ff ff ff ff ff ff ff ff ff 01", false, COUNT + 1},
              {"28 05", "", false, COUNT + 1},
              {"32 00 32 01 61", "", true, COUNT},
              {"", "2a 02 05 06 08 07", false, COUNT + 2}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char *text = malloc(COUNT * 6 + 200);
    sprintf(text, "%s 10 06 2a d0 0a ", rows[r].before); // int32_data, packed: 1360 bytes
    for (int i = 0; i < COUNT; i++) strcat(text, i < 40 ? "05" : "ac02");
    strcat(text, rows[r].behind);
    fixture self;
    decode(&self, "TensorProto", text, 0, PIECES);
    CHECK_EQ(self.status, OS_OK);
    Onnx__TensorProto *tensor = self.message;
    if (CHECK(tensor != NULL)) {
      CHECK_EQ(tensor->n_int32_data, rows[r].far ? 0 : rows[r].count);
      CHECK(tensor->int32_data != NULL);
      self.source = (os_source){.length = self.whole.length, .read = read_now, .context = &self.whole};
      os_text out = encode(&self, true);
      if (rows[r].far) CHECK(out.len > 0 && out.len <= (size_t)self.whole.length + 1);
      os_text_clear(&out);
      CHECK_EQ(os_proto_load_lists(&self.memory, &self.arena, &self.source, tensor), OS_OK);
      CHECK_EQ(tensor->n_int32_data, rows[r].count);
      CHECK_EQ(tensor->int32_data[rows[r].count - 10], 300);
    }
    finish(&self);
    free(text);
  }
}

// Whatever a source gives piece by piece is what it gives as a whole; large payloads stay where they are.
static void test_pieces(void) {
  enum { LARGE = 3000 };
  char *text = malloc(LARGE * 2 + 100);
  strcpy(text, "08 01 10 02 42 03 61 62 63 4a b8 17 "); // raw_data of 3000 bytes
  for (int i = 0; i < LARGE; i++) sprintf(text + strlen(text), "%02x", i % 256);
  fixture self;
  decode(&self, "TensorProto", text, 0, PIECES);
  CHECK_EQ(self.status, OS_OK);
  const Onnx__TensorProto *tensor = self.message;
  if (CHECK(tensor != NULL)) {
    CHECK(os_bytes_is_far(tensor->raw_data));
    CHECK_EQ(os_bytes_length(tensor->raw_data), LARGE);
    CHECK_STR(os_bytes_str(tensor->name), "abc");
    uint8_t piece[4];
    self.answers = 1;
    CHECK_EQ(os_bytes_read(&self.source, tensor->raw_data, 254, 4, piece), OS_OK);
    CHECK_BYTES(piece, 4, "\xfe\xff\x00\x01", 4);
    CHECK_EQ(os_bytes_read(&self.source, tensor->raw_data, LARGE - 2, 4, piece), OS_MALFORMED);
    self.source = self.whole; // the offsets are the file's
    os_text out = encode(&self, true);
    CHECK_BYTES(out.data, out.len, self.bytes, (size_t)self.whole.length);
    os_text_clear(&out);
  }
  finish(&self);
  free(text);
}

static void test_new(void) {
  fixture self = {0};
  os_arena_init(&self.arena, &self.memory);
  Onnx__ModelProto *model = OS_PROTO_NEW(&self.arena, Onnx__ModelProto, onnx__model_proto__descriptor, NULL);
  model->has_ir_version = 1;
  model->ir_version = 300;
  model->graph = OS_PROTO_NEW(&self.arena, Onnx__GraphProto, onnx__graph_proto__descriptor, model);
  model->graph->has_name = 1;
  model->graph->name = os_bytes_of(OS_STR("g"));
  self.message = model;
  os_text out = encode(&self, false);
  CHECK_BYTES(out.data, out.len, "\x08\xac\x02\x3a\x03\x12\x01g", 8);
  os_text_clear(&out);
  finish(&self);
}

static void test_json(void) {
  fixture self;
  decode(&self, "AttributeProto",
         "0a 01 61 15 00 00 00 80 18 ff ff ff ff ff ff ff ff ff 01 22 02 ff 00 a0 01 07 40 05 40 06 4a 01 62 "
         "b2 01 04 0a 02 08 01",
         0, 0);
  CHECK_EQ(self.status, OS_OK);
  const Onnx__AttributeProto *attribute = self.message;
  os_text out;
  os_text_init(&out, &self.memory);
  if (CHECK(attribute != NULL)) {
    CHECK_EQ(os_form_write(&out, OS_FORM_SCRIPT, &self.source, attribute, NULL), OS_OK);
    char expected[500];
    snprintf(
        expected, sizeof expected,
        "{\"name\":\"a\",\"f\":-0.0,\"i\":{\"$i\":\"-1\"},\"s\":{\"$b\":[21,2]},\"ints\":{\"$a\":[\"i64\","
        "%zu,2]},\"strings\":[{\"$b\":[32,1]}],"
        "\"type\":7,\"sparseTensor\":{\"values\":{\"dims\":{\"$a\":[\"i64\",%zu,1]}}}}",
        (size_t)attribute->ints, (size_t)attribute->rare->sparse_tensor->values->dims);
    CHECK_STR(out, expected);
  }
  os_text_clear(&out);
  finish(&self);
}

static void test_rules(void) {
  for (size_t i = 0; i < os_wire_rules.count; i++) {
    const os_rule *rule = os_wire_rules.rules[i];
    CHECK(strncmp(rule->id, "wire.", 5) == 0 || strncmp(rule->id, "form.", 5) == 0);
  }
}

static void test_path(void) {
  fixture self = {0};
  os_arena_init(&self.arena, &self.memory);
  os_path graph = {NULL, OS_STR("graph"), -1}, node = {&graph, OS_STR("node"), 12345678901},
          none = {&node, OS_STR(""), -1};
  os_path field = {&none, OS_STR("name"), -1};
  CHECK_STR(os_path_print(&field, &self.arena), "graph.node[12345678901].name");
  CHECK_STR(os_path_print(NULL, &self.arena), "");
  finish(&self);
}

int main(void) {
  test_values();
  test_merge();
  test_oneof();
  test_round_trips();
  test_faults();
  test_depth();
  test_warnings();
  test_pieces();
  test_pieces_of_a_run();
  test_far_lists();
  test_far_strings();
  test_new();
  test_json();
  test_rules();
  test_path();
  return CHECK_END();
}
