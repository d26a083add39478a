// An operator set as a text (first byte 1: JSON, 2: wire bytes): it is checked twice with the same findings, written in each form
// and read again as the same, and its functions are built and checked as those of a model.

#include "form_bytes.h"
#include "inference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct set_fuzz {
  os_memory memory;
  os_arena arena;
} set_fuzz;

// Wire bytes of the text; false when it is no operator set.
static bool set_of(set_fuzz *self, os_form form, os_str text, os_text *out) {
  void *message;
  return bytes_of(&self->arena, &onnx__operator_set_proto__descriptor, form, text, out, &message);
}

static uint64_t check(os_document *document, os_report *report) {
  os_status status = os_document_check_data(document, report);
  if (status != OS_OK && status != OS_OUT_OF_MEMORY && status != OS_LIMIT) abort();
  uint64_t all = report->findings.count;
  for (size_t i = 0; i < report->findings.count; i++)
    all = all * 31 + os_finding_fingerprint(report->findings.items[i]);
  return all;
}

static void check_functions(set_fuzz *self, os_document *document, os_report *report) {
  static const op_family *const families[] = {NULL};
  os_types *types = os_types_new(&self->arena);
  os_registry *registry = types == NULL ? NULL : os_registry_new(&self->arena, types, families);
  os_model *model = NULL;
  if (registry == NULL || os_model_build(document, registry, NULL, report, &model) != OS_OK) return;
  os_check_options options = {.infer = true};
  os_model_check(model, &options, report);
  os_model_free(model);
}

// `ours`: the bytes are as our encoder writes them. In others the numbers of fields that nobody knows may be written at
// length, so that the forms have to agree with each other only.
static void run(set_fuzz *self, os_str bytes, bool ours) {
  static const os_form forms[] = {OS_FORM_JSON, OS_FORM_TEXT, OS_FORM_LINE};
  os_report reports[3];
  for (size_t i = 0; i < 3; i++) os_report_init(&reports[i], &self->arena, false, 100);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = OS_KIND_OPERATOR_SET};
  os_document *document;
  if (os_document_open(&self->memory, &source, &options, &reports[0], &document) != OS_OK) return;
  os_text plain, text, again;
  os_text_init(&plain, &self->memory);
  os_text_init(&text, &self->memory);
  os_text_init(&again, &self->memory);
  if (check(document, &reports[1]) != check(document, &reports[2]) &&
      self->memory.used < self->memory.limit / 2)
    abort();
  check_functions(self, document, &reports[1]);
  os_sink sink = os_sink_text(&plain);
  bool good = os_proto_detach(&self->memory, document->root) == OS_OK &&
              os_proto_encode(&self->memory, &source, document->root, &sink) == OS_OK;
  for (size_t i = 0; good && i < 3; i++) {
    os_report lost;
    os_report_init(&lost, &self->arena, false, 20);
    text.len = again.len = 0;
    if (os_form_write(&text, forms[i], &source, document->root, &lost) != OS_OK) continue;
    bool read = set_of(self, forms[i], os_text_str(&text), &again);
    if (!read && self->memory.used < self->memory.limit / 2) abort();
    if (!read || lost.findings.count > 0) continue;
    if (!ours) {
      ours = true;
      plain.len = 0;
      os_text_put(&plain, os_text_str(&again));
    }
    if (!os_str_eq(os_text_str(&plain), os_text_str(&again))) abort();
  }
  os_text_clear(&plain);
  os_text_clear(&text);
  os_text_clear(&again);
  os_document_close(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  set_fuzz self = {.memory = {.limit = (size_t)256 << 20}};
  os_arena_init(&self.arena, &self.memory);
  os_text bytes;
  os_text_init(&bytes, &self.memory);
  os_str given = {(const char *)data + 1, size - 1};
  if (data[0] % 3 == 2)
    run(&self, given, false);
  else if (set_of(&self, data[0] % 3 == 1 ? OS_FORM_JSON : OS_FORM_TEXT, given, &bytes) && bytes.len > 0)
    run(&self, os_text_str(&bytes), true);
  os_text_clear(&bytes);
  os_arena_clear(&self.arena);
  if (self.memory.used != 0) abort();
  return 0;
}
