#include "encode.h"
#include "form.h"
#include "host.h"
#include "syntax.h"
#include "walk.h"

// Messages as JavaScript's objects and as texts, and back.

void opspec_decode_end(opspec_env *self) {
  os_document_close(self->decoded);
  self->decoded = NULL;
}

// Any message of our .proto files that is no document by itself.
static os_status os_host__decode_message(opspec_env *self, const os_source *source,
                                         const ProtobufCMessageDescriptor *type, os_report *report,
                                         void **message) {
  os_decoding decoding = {.arena = &self->scratch,
                          .source = source,
                          .type = type,
                          .depth = self->limits.depth,
                          .report = report,
                          .shared = 1};
  return os_proto_decode(&decoding, message);
}

// The first error's message.
static os_str os_host__first(const os_report *report) {
  for (size_t i = 0; i < report->findings.count; i++)
    if (report->findings.items[i]->severity == OS_ERROR) return report->findings.items[i]->message;
  return (os_str){"", 0};
}

static os_status os_host__no_message(opspec_env *self, os_str as) {
  os_str message =
      os_arena_format(&self->scratch, "as: \"%.*s\" is no message that can be decoded", OS_ARG(as));
  return os_host_fail(self, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
}

// Decodes to *root, which lives until opspec_decode_end or in the scratch.
static os_status os_host__decode(opspec_env *self, const os_source *source, os_str as, os_report *report,
                                 void **root) {
  opspec_decode_end(self);
  os_document_options options = {.as = os_kind_find(as), .limits = &self->limits, .shared = 1};
  const ProtobufCMessageDescriptor *type = options.as == OS_KIND_UNKNOWN ? os_proto_type_find(as) : NULL;
  if (source->length == 0 && type == NULL) type = os_kind_type(options.as); // a message without a field
  if (options.as == OS_KIND_UNKNOWN && type == NULL) return os_host__no_message(self, as);
  os_status status = type != NULL ? os_host__decode_message(self, source, type, report, root)
                                  : os_document_open(&self->memory, source, &options, report, &self->decoded);
  if (status == OS_OK) {
    if (self->decoded != NULL) *root = self->decoded->root;
    return OS_OK;
  }
  self->decoded = NULL;
  return os_host_fail(self, status, os_host__first(report), (os_str){"", 0}, report);
}

os_status opspec_decode(opspec_env *self, os_str bytes, os_str as) {
  os_host_begin(self);
  os_report report;
  os_report_init(&report, &self->scratch, false, self->limits.findings);
  os_source source = os_source_memory(bytes.data, bytes.len);
  void *root = NULL;
  OS_TRY(os_host__decode(self, &source, as, &report, &root));
  OS_TRY(os_host_write_objects(self, root, bytes.len));
  return os_host_end(self);
}

// ---- Texts ------------------------------------------------------------------------------------------------

static os_status os_host__format_json(opspec_env *self, os_str text, opspec_form form, os_report *report) {
  os_json_document document;
  os_json_options options = {.depth = self->limits.depth, .duplicate_keys = true};
  os_report_text(report, (os_str){"", 0}, text);
  OS_TRY(os_json_parse(&document, &self->scratch, (os_str){"", 0}, text, &options, report));
  if (report->counts[OS_ERROR] > 0) return OS_MALFORMED;
  if (form == OPSPEC_CANONICAL)
    OS_TRY(os_json_write_canonical_document(&self->output, &self->scratch, &document, report));
  else
    os_json_write_pretty(&self->output, &document, document.root, 0);
  return report->counts[OS_ERROR] > 0 ? OS_MALFORMED : OS_OK;
}

static os_status os_host__no_syntax(opspec_env *self, const ProtobufCMessageDescriptor *type) {
  os_str message = os_arena_format(
      &self->scratch, "form: ONNX's syntax is of models, graphs and functions, not of %s", type->short_name);
  return os_host_fail(self, OS_UNSUPPORTED, message, (os_str){"", 0}, NULL);
}

static os_status os_host__outside(opspec_env *self) {
  return os_host_fail(self, OS_UNSUPPORTED,
                      OS_STR("what is large in the model is outside and cannot be read in a synchronous "
                             "call; load() brings it in"),
                      (os_str){"", 0}, NULL);
}

// A message in a form; what the form cannot hold is trouble unless `lossy`.
static os_status os_host__write(opspec_env *self, const os_source *source, void *root, opspec_form form,
                                bool lossy) {
  os_report lost, *told = lossy ? NULL : &lost; // telling takes longer
  os_report_init(&lost, &self->scratch, false, self->limits.findings);
  os_sink sink = os_sink_text(&self->output);
  const ProtobufCMessageDescriptor *type = ((ProtobufCMessage *)root)->descriptor;
  if (form == OPSPEC_ONNXTXT && !os_syntax_has(type)) return os_host__no_syntax(self, type);
  os_form written = form == OPSPEC_JSON     ? OS_FORM_JSON
                    : form == OPSPEC_OBJECT ? OS_FORM_SCRIPT
                                            : OS_FORM_TEXT;
  os_status status = form == OPSPEC_ONNXTXT ? os_syntax_write(&self->output, source, root, told)
                     : form == OPSPEC_BYTES ? os_proto_encode(&self->memory, source, root, &sink)
                                            : os_form_write(&self->output, written, source, root, told);
  if (status == OS_NEEDS_HOST) return os_host__outside(self);
  if (status != OS_OK) return os_host_fail(self, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  if (lost.findings.count == 0) return os_host_end(self);
  os_str message = os_arena_format(&self->scratch, "the form cannot hold all of it: %.*s",
                                   OS_ARG(lost.findings.items[0]->message));
  return os_host_fail(self, OS_UNSUPPORTED, message, (os_str){"", 0}, &lost);
}

os_status opspec_format(opspec_env *self, os_str bytes, os_str as, opspec_form form, bool lossy) {
  os_host_begin(self);
  os_report report;
  os_report_init(&report, &self->scratch, false, self->limits.findings);
  if (os_host_is_json_kind(as)) {
    os_status status = os_host__format_json(self, bytes, form, &report);
    if (status == OS_OK) return os_host_end(self);
    return os_host_fail(self, status, os_host__first(&report), (os_str){"", 0}, &report);
  }
  os_source source = os_source_memory(bytes.data, bytes.len);
  void *root = NULL;
  OS_TRY(os_host__decode(self, &source, as, &report, &root));
  os_status status = os_host__write(self, &source, root, form, lossy);
  opspec_decode_end(self);
  return status;
}

static os_status os_host__write_model(opspec_model *self, opspec_form form, bool lossy) {
  os_document *document = self->document;
  if (form == OPSPEC_BYTES && document->root == NULL) // as they are
    return os_host__write(self->env, &document->source, document->outline, form, lossy);
  os_status decoded = os_document_whole(document);
  if (decoded != OS_OK) return os_host_fail(self->env, decoded, (os_str){"", 0}, (os_str){"", 0}, NULL);
  if (form == OPSPEC_ONNXTXT) { // which reads itself again
    os_status status =
        os_proto_load_lists(&self->env->memory, &document->arena, &document->source, document->root);
    if (status == OS_NEEDS_HOST) return os_host__outside(self->env);
    if (status != OS_OK) return os_host_fail(self->env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  }
  return os_host__write(self->env, &document->source, document->root, form, lossy);
}

os_status opspec_model_write(opspec_model *self, opspec_form form, bool lossy) {
  os_host_begin(self->env);
  return os_host__write_model(self, form, lossy);
}

os_status opspec_model_send(opspec_model *self, opspec_form form, bool lossy,
                            bool (*take)(void *context, os_str written), void *context) {
  os_text *output = &self->env->output;
  os_host_begin(self->env);
  if (form != OPSPEC_ONNXTXT) {
    output->take = take;
    output->context = context;
  }
  OS_TRY(os_host__write_model(self, form, lossy));
  output->take = NULL;
  bool taken = take(context, os_text_str(output));
  output->len = 0;
  return taken ? OS_OK : OS_OUT_OF_MEMORY;
}

typedef struct os_host__cutting {
  opspec_env *env;
  const uint8_t *base; // of a document in memory
  struct {
    opspec_piece *items;
    size_t count, room;
  } pieces;
} os_host__cutting;

static os_status os_host__piece(os_host__cutting *self, opspec_piece piece) {
  opspec_piece *last = self->pieces.count == 0 ? NULL : &self->pieces.items[self->pieces.count - 1];
  if (last != NULL && last->fresh == piece.fresh &&
      (piece.fresh || last->offset + last->length == piece.offset)) {
    last->length += piece.length;
    return OS_OK;
  }
  last = OS_PUSH(&self->env->scratch, &self->pieces);
  OS_TRY_ALLOC(last);
  *last = piece;
  return OS_OK;
}

static os_status os_host__put_fresh(void *context, const void *data, size_t n) {
  os_host__cutting *self = context;
  os_text_put(&self->env->output, (os_str){data, n});
  return os_host__piece(self, (opspec_piece){.fresh = true, .length = n});
}

static os_status os_host__put_copy(void *context, uint64_t offset, uint64_t n) {
  offset += (uintptr_t)((os_host__cutting *)context)->base;
  return n == 0 ? OS_OK : os_host__piece(context, (opspec_piece){.offset = offset, .length = n});
}

os_status opspec_model_pieces(opspec_model *self, const opspec_piece **out, size_t *count) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_host__cutting cutting = {.env = env, .base = self->document->source.data};
  os_sink sink = {os_host__put_fresh, &cutting, os_host__put_copy, false};
  os_status status =
      os_proto_encode(&env->memory, &self->document->source, os_document_outline(self->document), &sink);
  *out = cutting.pieces.items;
  *count = cutting.pieces.count;
  if (status == OS_OK && env->output.failed) status = OS_OUT_OF_MEMORY;
  return status == OS_OK ? OS_OK : os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
}

static os_status os_host__read(opspec_env *self, const os_form_input *input, opspec_form form, os_sink sink) {
  void *root;
  OS_TRY(form == OPSPEC_JSON      ? os_form_read_json(input, &root)
         : form == OPSPEC_ONNXTXT ? os_syntax_read(input, &root)
                                  : os_form_read_text(input, &root));
  return os_proto_encode(&self->memory, NULL, root, &sink);
}

static const ProtobufCMessageDescriptor *os_host__type(os_str as) {
  const ProtobufCMessageDescriptor *type = os_kind_type(os_kind_find(as));
  return type != NULL ? type : os_proto_type_find(as);
}

os_status opspec_encode(opspec_env *self, os_str text, os_str bytes, os_str as, opspec_form form) {
  os_host_begin(self);
  os_report report;
  os_report_init(&report, &self->scratch, false, self->limits.findings);
  os_report_text(&report, (os_str){"", 0}, text);
  const ProtobufCMessageDescriptor *type = os_host__type(as);
  if (type == NULL) return os_host__no_message(self, as);
  if (form == OPSPEC_ONNXTXT && !os_syntax_has(type)) return os_host__no_syntax(self, type);
  os_form_input input = {.arena = &self->scratch,
                         .type = type,
                         .depth = self->limits.depth,
                         .report = &report,
                         .text = text,
                         .bytes = bytes};
  os_status status = os_host__read(self, &input, form, os_sink_text(&self->output));
  if (status == OS_OK) return os_host_end(self);
  return os_host_fail(self, status, os_host__first(&report), (os_str){"", 0}, &report);
}

static void os_host__write_layout(os_text *out, const os_plan_field *field) {
  uint32_t type = field->text ? PROTOBUF_C_TYPE_STRING : field->type;
  os_text_format(out, " %u %s %u %u ", field->field->id, field->field->name, type,
                 field->repeated + 2u * field->packed + 4u * field->oneof);
  if (type == PROTOBUF_C_TYPE_MESSAGE)
    os_text_puts(out, ((const ProtobufCMessageDescriptor *)field->field->descriptor)->name);
  const ProtobufCEnumDescriptor *values = type == PROTOBUF_C_TYPE_ENUM ? field->field->descriptor : NULL;
  for (unsigned i = 0; values != NULL && i < values->n_values; i++)
    os_text_format(out, "%s=%d,", values->values[i].name, values->values[i].value);
  os_text_char(out, '\n');
}

os_status opspec_layout(opspec_env *self, os_str as) {
  os_host_begin(self);
  const ProtobufCMessageDescriptor *type = os_host__type(as);
  if (type == NULL) return os_host__no_message(self, as);
  os_plans plans = {.arena = &self->scratch};
  if (!os_plans_all(&plans, type))
    return os_host_fail(self, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  for (const os_plan *plan = plans.first; plan != NULL; plan = plan->next) {
    os_text_format(&self->output, "%s\n", plan->type->name);
    for (uint32_t i = 0; i < plan->count; i++) os_host__write_layout(&self->output, &plan->fields[i]);
  }
  return os_host_end(self);
}
