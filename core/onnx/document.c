#include "document.h"

#include "data_check.h"
#include "map.h"
#include "onnx_rules.h"
#include "wire_rules.h"

#include <inttypes.h>

static os_finding *os_document__not(os_report *report, os_kind as, os_str evidence) {
  const ProtobufCMessageDescriptor *type = os_kind_type(as);
  os_finding *finding = os_report_add(report, &os_rule_onnx_document_kind, "this is not %s: %.*s",
                                      type == NULL ? "an ONNX document" : type->short_name, OS_ARG(evidence));
  finding->where.binary = true;
  return finding;
}

// Finds the kind, or says that there is none.
static os_status os_document__kind(os_document *self, os_report *report) {
  os_sniff sniff;
  if (self->kind != OS_KIND_UNKNOWN) return OS_OK;
  OS_TRY(os_onnx_sniff(&self->source, report->arena, &sniff)); // findings outlive the document
  self->candidates = sniff.candidates;
  self->sniffed = true;
  if (os_kind_type(sniff.kind) == NULL) {
    os_document__not(report, OS_KIND_UNKNOWN, sniff.evidence);
    return OS_MALFORMED;
  }
  self->kind = sniff.kind;
  return OS_OK;
}

// Says what else the bytes may be meant as, when they were opened as something that they are not.
static os_status os_document__doubt(os_document *self, os_report *report) {
  os_sniff sniff;
  OS_TRY(os_onnx_sniff(&self->source, report->arena, &sniff));
  const ProtobufCMessageDescriptor *type = os_kind_type(sniff.kind), *mine = os_kind_type(self->kind);
  if (!sniff.sure || type == mine || (sniff.fits >> self->kind & 1) != 0) return OS_OK;
  os_finding *finding = os_report_add_as(
      report, &os_rule_onnx_document_kind, OS_WARNING, "maybe this is no %s: the bytes fit %s%s%.*s",
      mine->short_name, type->short_name, sniff.candidates.len == 0 ? "" : ", ", OS_ARG(sniff.candidates));
  finding->where.binary = true;
  finding->expected = os_str_of(mine->short_name);
  finding->actual = os_str_of(type->short_name);
  return OS_OK;
}

const Onnx__GraphProto *os_document_graph(const os_document *self) {
  const void *outline = os_document_outline(self);
  if (self->kind == OS_KIND_MODEL) return ((const Onnx__ModelProto *)outline)->graph;
  return self->kind == OS_KIND_GRAPH ? outline : NULL;
}

// Of the main graph: a model's inputs that have an initializer need no value.
static bool os_document__asks(const ProtobufCMessageDescriptor *type) {
  return type == &onnx__tensor_proto__descriptor || type == &onnx__sparse_tensor_proto__descriptor;
}

static os_status os_document__seen(void *context, const void *element) {
  os_document *self = context;
  const Onnx__TensorProto *tensor = element;
  const ProtobufCMessage *around = os_proto_parent(os_proto_parent(element));
  if (around != NULL && around->descriptor != &onnx__model_proto__descriptor) return OS_OK;
  if (((const ProtobufCMessage *)element)->descriptor == &onnx__sparse_tensor_proto__descriptor)
    tensor = ((const Onnx__SparseTensorProto *)element)->values;
  if (tensor == NULL || tensor->name.len == 0) return OS_OK;
  os_str *name = OS_PUSH(&self->whole, &self->initializers);
  OS_TRY_ALLOC(name);
  *name = os_bytes_str(tensor->name);
  if (self->source.data == NULL) *name = os_arena_copy(&self->whole, *name);
  return name->data == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

// Of the names of initializers those that inputs or outputs have are kept.
static os_status os_document__settle_names(os_document *self) {
  const Onnx__GraphProto *graph = os_document_graph(self);
  os_map ends;
  os_map_init(&ends, &self->scratch);
  for (size_t i = 0; graph != NULL && i < graph->n_input; i++)
    OS_TRY_ALLOC(os_map_put(&ends, os_bytes_str(graph->input[i]->name), NULL));
  for (size_t i = 0; graph != NULL && i < graph->n_output; i++)
    OS_TRY_ALLOC(os_map_put(&ends, os_bytes_str(graph->output[i]->name), NULL));
  os_document_names all = self->initializers;
  self->initializers = (os_document_names){0};
  for (size_t i = 0; i < all.count; i++) {
    const os_map_entry *end = os_map_get(&ends, all.items[i]);
    if (end == NULL) continue;
    os_str *name = OS_PUSH(&self->arena, &self->initializers);
    OS_TRY_ALLOC(name);
    *name = end->key;
  }
  return OS_OK;
}

// Decodes the document's bytes again: into `arena`, or, with `seen`, element by element.
static os_status os_document__again(os_document *self, os_arena *arena, void **root,
                                    os_status (*seen)(void *context, const void *element), void *context) {
  os_decoding decoding = self->decoding;
  os_report report;
  os_report_init(&report, arena, false, 1);
  decoding.arena = arena;
  decoding.scratch = seen == NULL ? NULL : &self->scratch;
  decoding.seen = seen;
  decoding.asks = NULL;
  decoding.context = context;
  decoding.known = true;
  decoding.report = &report;
  decoding.stop = NULL;
  return os_proto_decode(&decoding, root);
}

os_status os_document_whole(os_document *self) {
  if (self->root != NULL) return OS_OK;
  void *root;
  os_status status = os_document__again(self, &self->whole, &root, NULL, NULL);
  if (status != OS_OK) os_arena_clear(&self->whole);
  self->root = root;
  return status;
}

void os_document_forget(os_document *self) {
  if (self->root == self->outline) return;
  self->root = NULL;
  os_arena_clear(&self->whole);
}

os_status os_document_each(os_document *self, os_status (*seen)(void *context, const void *message),
                           void *context) {
  if (self->root == NULL) {
    os_arena arena;
    void *root;
    os_arena_init(&arena, self->memory);
    os_status status = os_document__again(self, &arena, &root, seen, context);
    os_arena_clear(&arena);
    os_arena_clear(&self->scratch);
    OS_TRY(status);
  }
  return seen(context, os_document_outline(self));
}

// What decoding has needed on the way is given back.
static os_status os_document__settle(os_document *self, void *root) {
  self->outline = root;
  OS_TRY(os_document__settle_names(self));
  os_arena_clear(&self->scratch);
  os_arena_clear(&self->whole);
  if (os_decoder_is_outline(self->decoder)) {
    os_skeleton_trim(&self->skeleton);
  } else {
    self->root = (ProtobufCMessage *)root;
    os_skeleton_drop(&self->skeleton);
  }
  return OS_OK;
}

os_status os_document_resume(os_document *self, os_report *report) {
  void *root;
  if (self->decoder == NULL) {
    OS_TRY(os_document__kind(self, report));
    self->decoding.type = os_kind_type(self->kind);
    OS_TRY(os_decoder_new(&self->decoding, &self->decoder));
  }
  os_status status = os_decoder_run(self->decoder, &root);
  if (status == OS_MALFORMED && !self->sniffed && self->source.data != NULL)
    OS_TRY(os_document__doubt(self, report));
  OS_TRY(status);
  bool given = !self->sniffed;
  if (given && self->source.data != NULL && ((ProtobufCMessage *)root)->n_unknown_fields > 0)
    OS_TRY(os_document__doubt(self, report));
  OS_TRY(os_document__settle(self, root));
  report->kind = os_str_of(os_kind_name(self->kind));
  return OS_OK;
}

static os_status os_document__open(os_document *self, const os_document_options *options, os_report *report) {
  const os_limits *limits = options == NULL ? NULL : options->limits;
  uint64_t length = self->source.length;
  if (limits != NULL && limits->bytes > 0 && length > limits->bytes) {
    os_report_incomplete(report, "the document has %" PRIu64 " bytes, the limit is %" PRIu64, length,
                         limits->bytes);
    return OS_LIMIT;
  }
  if (length == 0) {
    os_finding *finding = os_report_add(report, &os_rule_wire_empty, "the file is empty");
    finding->where.binary = true;
    os_where_range(&finding->where, 0, 0);
    return OS_MALFORMED;
  }
  self->decoding = (os_decoding){.arena = &self->arena, .source = &self->source, .report = report};
  if (limits != NULL) self->decoding.depth = limits->depth;
  if (options != NULL) {
    self->kind = options->as;
    self->external = options->external;
    if (options->outline) {
      self->decoding.scratch = &self->scratch;
      self->decoding.seen = os_document__seen;
      self->decoding.asks = os_document__asks;
      self->decoding.context = self;
      if (self->source.data == NULL) self->decoding.skeleton = &self->skeleton;
    }
    self->decoding.stop = options->stop;
    self->decoding.shared = options->shared;
    if (self->kind != OS_KIND_UNKNOWN && os_kind_type(self->kind) == NULL) return OS_INVALID_ARGUMENT;
  }
  return os_document_resume(self, report);
}

os_status os_document_open(os_memory *memory, const os_source *source, const os_document_options *options,
                           os_report *report, os_document **out) {
  os_document *self = os_memory_calloc(memory, sizeof *self);
  *out = NULL;
  OS_TRY_ALLOC(self);
  self->memory = memory;
  self->source = *source;
  os_arena_init(&self->arena, memory);
  os_arena_init(&self->scratch, memory);
  os_arena_init(&self->whole, memory);
  os_skeleton_init(&self->skeleton, memory);
  os_status status = os_document__open(self, options, report);
  if (status != OS_OK && status != OS_NEEDS_HOST) {
    os_document_close(self);
    return status;
  }
  *out = self;
  return status;
}

void os_document_own(os_document *self, void *block) { self->owned = block; }

void os_document_close(os_document *self) {
  if (self == NULL) return;
  os_arena_clear(&self->arena);
  os_arena_clear(&self->scratch);
  os_arena_clear(&self->whole);
  os_skeleton_clear(&self->skeleton);
  os_memory_free(self->memory, self->owned);
  os_memory_free(self->memory, self);
}

os_status os_document_check_data(os_document *self, os_report *report) {
  switch (self->kind) {
  case OS_KIND_TENSOR:
  case OS_KIND_SPARSE_TENSOR:
  case OS_KIND_SEQUENCE:
  case OS_KIND_MAP:
  case OS_KIND_OPTIONAL:
  case OS_KIND_OPERATOR_SET: break;
  default: return OS_OK;
  }
  os_arena scratch;
  os_arena_init(&scratch, self->memory);
  uint32_t errors = report->counts[OS_ERROR];
  os_data_check check = {report, &scratch, os_document_origin(self)};
  os_status status = self->kind == OS_KIND_OPERATOR_SET
                         ? os_operator_set_check(&check, self->operator_set)
                         : os_data_check_message(&check, self->root, self->kind, NULL);
  if (status == OS_OK && report->counts[OS_ERROR] > errors && !self->sniffed)
    status = os_document__doubt(self, report);
  os_arena_clear(&scratch);
  return status;
}
