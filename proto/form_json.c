#include "base64.h"
#include "form_read.h"
#include "json_rules.h"
#include "wire_rules.h"

// Reads protobuf's JSON mapping.

static void os_form__wrong(os_form_reader *self, const os_plan_field *field, const os_json *node,
                           const char *wanted) {
  os_json_document document = {.text = self->input.text};
  if (self->status != OS_OK) return;
  os_str found = os_json_excerpt(&document, self->input.report->arena, node);
  os_form_fault(self, &os_rule_form_value, field, node->start, node->end, "%s of %s must be %s, found %.*s",
                field->field->name, os_form_top(self)->plan->type->short_name, wanted, OS_ARG(found));
}

// Base64, or {"$b":[offset,length]}.
static bool os_form__bytes(os_form_reader *self, const os_json *node, ProtobufCBinaryData *to) {
  os_str text = os_json_string(node), bytes = {.len = 0};
  const os_json *first = os_json_at(os_json_member(node, "$b"), 0),
                *second = first == NULL ? NULL : os_json_next(first);
  if (self->input.bytes.data != NULL && os_json_is(second, OS_JSON_NUMBER)) {
    double offset = first->item.valuedouble, end = offset + second->item.valuedouble;
    if (!(offset >= 0 && end >= offset && end <= (double)self->input.bytes.len)) return false;
    *to = os_bytes_of(os_str_slice(self->input.bytes, (size_t)offset, (size_t)end));
    return true;
  }
  if (!os_json_is(node, OS_JSON_STRING)) return false;
  char *room = os_arena_alloc(self->input.arena, text.len / 4 * 3 + 3);
  if (room == NULL) os_form_stop(self, OS_OUT_OF_MEMORY);
  if (room == NULL || !os_base64_read(text, room, &bytes.len)) return false;
  bytes.data = room;
  *to = os_bytes_of(bytes);
  return true;
}

static void os_form__scalar(os_form_reader *self, const os_plan_field *field, const os_json *node) {
  void *slot = os_form_slot(self, field, os_form_top(self)->message);
  const char *wanted = "base64";
  if (field->type == PROTOBUF_C_TYPE_BYTES && !field->text) {
    if (os_form__bytes(self, node, slot)) return;
  } else {
    os_form_scalar scalar = {.json = true,
                             .text = {self->input.text.data + node->start, node->end - node->start}};
    if (os_json_is(node, OS_JSON_NUMBER)) scalar.kind = OS_FORM_NUMBER;
    if (os_json_is(node, OS_JSON_STRING))
      scalar = (os_form_scalar){OS_FORM_STRING, false, true, os_json_string(node)};
    wanted = os_form_put(field, &scalar, slot);
  }
  if (wanted != NULL) os_form__wrong(self, field, node, wanted);
}

static void os_form__object(os_form_reader *self, const os_plan_field *field, const os_json *node) {
  if (!os_json_is(node, OS_JSON_OBJECT)) os_form__wrong(self, field, node, "an object");
  ProtobufCMessage *child = os_form_child(self, field, os_form_top(self)->message);
  os_form_push(self, field, child, node->start, node->start + 1);
  os_form_top(self)->node = node;
  os_form_top(self)->next = os_json_first(node);
}

static void os_form__member(os_form_reader *self, const os_json *node) {
  os_form_frame *frame = os_form_top(self);
  os_str key = os_json_key(node);
  const os_plan_field *field = os_form_find(frame->plan, key, true);
  if (field == NULL)
    os_form_fault(self, &os_rule_form_field, NULL, node->key_start, node->key_end, "%s has no field \"%.*s\"",
                  frame->plan->type->short_name, OS_ARG(key));
  if (field == NULL || os_json_is(node, OS_JSON_NULL)) return;
  os_form_once(self, field, frame->message, node->key_start, node->key_end);
  bool message = field->type == PROTOBUF_C_TYPE_MESSAGE;
  const os_json *element = node;
  if (field->repeated) {
    if (!os_json_is(node, OS_JSON_ARRAY)) os_form__wrong(self, field, node, "an array");
    element = os_json_first(node);
  }
  while (element != NULL && self->status == OS_OK) {
    (message ? os_form__object : os_form__scalar)(self, field, element);
    // The other messages of a list begin when this one ends.
    element = message || !field->repeated ? NULL : os_json_next(element);
  }
}

// Nothing but the depth was wrong.
static bool os_form__is_deep(const os_report *report) {
  bool deep = false;
  for (size_t i = 0; i < report->findings.count; i++) {
    const os_finding *finding = report->findings.items[i];
    if (finding->severity == OS_ERROR && finding->rule != &os_rule_json_depth) return false;
    deep |= finding->rule == &os_rule_json_depth;
  }
  return deep;
}

os_status os_form_read_json(const os_form_input *input, void **message) {
  os_form_reader self;
  os_json_document document;
  os_json_options options = {.depth = input->depth == 0 ? 0 : 2 * input->depth + 2, .duplicate_keys = true};
  uint32_t errors = input->report->counts[OS_ERROR];
  OS_TRY(os_json_parse(&document, input->arena, (os_str){"", 0}, input->text, &options, input->report));
  if (input->report->counts[OS_ERROR] > errors)
    return os_form__is_deep(input->report) ? OS_LIMIT : OS_MALFORMED;
  os_form_begin(&self, input, false, message);
  if (!os_json_is(document.root, OS_JSON_OBJECT))
    os_form_fault(&self, &os_rule_form_value, NULL, document.root->start, document.root->end,
                  "a %s is an object in JSON, not %s", input->type->short_name,
                  os_json_type_name(document.root));
  if (self.status == OS_OK) os_form_top(&self)->next = os_json_first(document.root);
  while (self.status == OS_OK && self.frames.count > 0) {
    os_form_frame *frame = os_form_top(&self);
    const os_json *node = frame->next;
    if (node != NULL) {
      frame->next = os_json_next(node);
      os_form__member(&self, node);
      continue;
    }
    const os_plan_field *field = frame->field;
    const os_json *following = field != NULL && field->repeated ? os_json_next(frame->node) : NULL;
    self.frames.count--;
    if (following != NULL) os_form__object(&self, field, following);
  }
  return self.status;
}
