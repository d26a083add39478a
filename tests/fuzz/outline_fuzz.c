// Bytes as a model, a graph or a function: an outline and what is decoded of it afterwards, from memory and piece by piece,
// say what decoding at once says. The first byte says which message; pieces are those of a file that is as often as that
// longer than a window.

#include "decode.h"
#include "encode.h"
#include "form.h"
#include "onnx.pb-c.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static os_status read_piece(void *context, uint64_t offset, size_t n, void *to) {
  return os_source_read(context, offset, n, to);
}

typedef struct fixture {
  os_memory memory;
  os_arena arena, scratch;
  os_source whole, source;
  os_skeleton skeleton;
  os_report report;
  void *message;
  size_t seen;
} fixture;

static os_status count(void *context, const void *message) {
  const ProtobufCMessage *element = message;
  ((fixture *)context)->seen += element->descriptor != NULL;
  return OS_OK;
}

static os_status decode(fixture *self, const ProtobufCMessageDescriptor *type, os_decoding decoding) {
  decoding.arena = &self->arena;
  decoding.source = &self->source;
  decoding.type = type;
  decoding.report = &self->report;
  return os_proto_decode(&decoding, &self->message);
}

static os_status outlined(fixture *self, const ProtobufCMessageDescriptor *type, bool pieces) {
  if (pieces)
    self->source = (os_source){.length = self->whole.length, .read = read_piece, .context = &self->whole};
  os_decoding decoding = {.scratch = &self->scratch, .skeleton = pieces ? &self->skeleton : NULL};
  OS_TRY(decode(self, type, decoding));
  size_t findings = self->report.findings.count;
  decoding.known = true;
  decoding.seen = count;
  decoding.context = self;
  if (decode(self, type, decoding) != OS_OK) abort();
  decoding.scratch = NULL;
  if (decode(self, type, decoding) != OS_OK || self->report.findings.count != findings) abort();
  return OS_OK;
}

static void same_findings(const os_report *a, const os_report *b) {
  if (a->findings.count != b->findings.count) abort();
  for (size_t i = 0; i < a->findings.count; i++) {
    const os_finding *x = a->findings.items[i], *y = b->findings.items[i];
    if (x->rule != y->rule || !os_str_eq(x->message, y->message) ||
        !os_str_eq(x->where.path, y->where.path) || x->where.range.start != y->where.range.start ||
        x->where.range.end != y->where.range.end)
      abort();
  }
}

// As text, which has unknown fields, and as bytes that are written anew.
static void same_messages(fixture *a, fixture *b) {
  fixture *both[] = {a, b};
  os_text texts[2], bytes[2];
  for (size_t i = 0; i < 2; i++) {
    fixture *self = both[i];
    os_text_init(&texts[i], &self->memory);
    os_text_init(&bytes[i], &self->memory);
    os_sink sink = os_sink_text(&bytes[i]);
    os_form_write(&texts[i], OS_FORM_TEXT, &self->source, self->message, NULL);
    if (os_proto_detach(&self->memory, self->message) != OS_OK ||
        os_proto_encode(&self->memory, &self->source, self->message, &sink) != OS_OK)
      abort();
  }
  if (!os_str_eq(os_text_str(&texts[0]), os_text_str(&texts[1])) ||
      !os_str_eq(os_text_str(&bytes[0]), os_text_str(&bytes[1])))
    abort();
  for (size_t i = 0; i < 2; i++) {
    os_text_clear(&texts[i]);
    os_text_clear(&bytes[i]);
  }
}

static void begin(fixture *self, os_str bytes) {
  *self = (fixture){0};
  os_arena_init(&self->arena, &self->memory);
  os_arena_init(&self->scratch, &self->memory);
  os_skeleton_init(&self->skeleton, &self->memory);
  os_report_init(&self->report, &self->arena, false, 20);
  self->source = self->whole = os_source_memory(bytes.data, bytes.len);
}

static void end(fixture *self) {
  os_arena_clear(&self->arena);
  os_arena_clear(&self->scratch);
  os_skeleton_clear(&self->skeleton);
  if (self->memory.used != 0) abort();
}

// The bytes, again and again.
static os_str repeated(os_str bytes, size_t times) {
  char *all = malloc(bytes.len * times + 1);
  for (size_t i = 0; all != NULL && i < times && bytes.len > 0; i++)
    memcpy(all + i * bytes.len, bytes.data, bytes.len);
  return (os_str){all, all == NULL ? 0 : bytes.len * times};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ProtobufCMessageDescriptor *const types[] = {
      &onnx__model_proto__descriptor, &onnx__graph_proto__descriptor, &onnx__function_proto__descriptor};
  if (size == 0) return 0;
  const ProtobufCMessageDescriptor *type = types[data[0] % 3];
  os_str given = {(const char *)data + 1, size - 1};
  size_t times = 1 + data[0] / 3 % 8 * (given.len < 2000 ? 8 : 1);
  os_str bytes = repeated(given, times);
  for (int pieces = 0; pieces < 2; pieces++) {
    fixture plain, outline;
    begin(&plain, bytes);
    begin(&outline, bytes);
    if (pieces) plain.source = (os_source){.length = bytes.len, .read = read_piece, .context = &plain.whole};
    os_status status = decode(&plain, type, (os_decoding){0});
    if (outlined(&outline, type, pieces) != status) abort();
    same_findings(&plain.report, &outline.report);
    if (status == OS_OK) same_messages(&plain, &outline);
    end(&plain);
    end(&outline);
  }
  free((char *)(uintptr_t)bytes.data);
  return 0;
}
