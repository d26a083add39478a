#include "base64.h"
#include "form_read.h"
#include "wire_rules.h"

// Reads protobuf's JSON mapping.

static os_status os_form__wrong(os_form_reader *self, const os_rule *rule, const os_plan_field *field,
                                const os_json *node, const char *wanted) {
  os_json_document document = {.text = self->input.text};
  os_str found = os_json_excerpt(&document, self->input.report->arena, node);
  return os_form_fault(self, rule, field, node->start, node->end, "%s of %s must be %s, found %.*s",
                       field->field->name, os_form_top(self)->plan->type->short_name, wanted, OS_ARG(found));
}

// Base64, or {"$b":[offset,length]}.
static bool os_form__bytes(os_form_reader *self, const os_json *node, ProtobufCBinaryData *to) {
  os_str text = os_json_string(node);
  const os_json *first = os_json_at(os_json_member(node, "$b"), 0),
                *second = first == NULL ? NULL : os_json_next(first);
  if (self->input.bytes.data != NULL && os_json_is(second, OS_JSON_NUMBER)) {
    size_t offset = (size_t)first->item.valuedouble, length = (size_t)second->item.valuedouble;
    if (offset > self->input.bytes.len || length > self->input.bytes.len - offset) return false;
    *to = os_bytes_of(os_str_slice(self->input.bytes, offset, offset + length));
    return true;
  }
  if (!os_json_is(node, OS_JSON_STRING)) return false;
  os_str bytes = {.len = 0};
  char *room = os_arena_alloc(self->input.arena, text.len / 4 * 3 + 3);
  if (room == NULL || !os_base64_read(text, room, &bytes.len)) return false;
  bytes.data = room;
  *to = os_bytes_of(bytes);
  return true;
}

static os_status os_form__scalar(os_form_reader *self, const os_plan_field *field, const os_json *node) {
  os_form_frame *frame = os_form_top(self);
  void *slot = os_form_slot(self, frame->plan, field, frame->message);
  OS_TRY_ALLOC(slot);
  if (field->type == PROTOBUF_C_TYPE_BYTES && !field->text)
    return os_form__bytes(self, node, slot)
               ? OS_OK
               : os_form__wrong(self, &os_rule_form_value, field, node, "base64");
  os_form_scalar scalar = {.json = true,
                           .text = {self->input.text.data + node->start, node->end - node->start}};
  if (os_json_is(node, OS_JSON_NUMBER)) scalar.kind = OS_FORM_NUMBER;
  if (os_json_is(node, OS_JSON_STRING))
    scalar = (os_form_scalar){OS_FORM_STRING, false, true, os_json_string(node)};
  const char *wanted = os_form_put(field, &scalar, slot);
  return wanted == NULL ? OS_OK : os_form__wrong(self, &os_rule_form_value, field, node, wanted);
}

static os_status os_form__child_object(os_form_reader *self, const os_plan_field *field,
                                       const os_json *node) {
  if (!os_json_is(node, OS_JSON_OBJECT))
    return os_form__wrong(self, &os_rule_form_value, field, node, "an object");
  os_form_frame *frame = os_form_top(self);
  ProtobufCMessage *child = os_form_child(self, frame->plan, field, frame->message);
  OS_TRY_ALLOC(child);
  OS_TRY(os_form_push(self, field, child, node->start, node->start + 1));
  os_form_top(self)->node = node;
  os_form_top(self)->next = os_json_first(node);
  return OS_OK;
}

static os_status os_form__member(os_form_reader *self, const os_json *node) {
  os_form_frame *frame = os_form_top(self);
  os_str key = os_json_key(node);
  const os_plan_field *field = os_form_find(frame->plan, key, true);
  if (field == NULL)
    return os_form_fault(self, &os_rule_form_field, NULL, node->key_start, node->key_end,
                         "%s has no field \"%.*s\"", frame->plan->type->short_name, OS_ARG(key));
  if (os_json_is(node, OS_JSON_NULL)) return OS_OK;
  if (os_form_taken(field, frame->message))
    return os_form_fault(self, &os_rule_form_field, field, node->key_start, node->key_end,
                         "%s of %s, or another member of its oneof, stands here twice", field->field->name,
                         frame->plan->type->short_name);
  if (!field->repeated)
    return field->type == PROTOBUF_C_TYPE_MESSAGE ? os_form__child_object(self, field, node)
                                                  : os_form__scalar(self, field, node);
  if (!os_json_is(node, OS_JSON_ARRAY))
    return os_form__wrong(self, &os_rule_form_value, field, node, "an array");
  if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
    OS_JSON_EACH(element, node) OS_TRY(os_form__scalar(self, field, element));
    return OS_OK;
  }
  if (os_json_first(node) == NULL) return OS_OK;
  return os_form__child_object(self, field, os_json_first(node)); // the others when this one ends
}

os_status os_form_read_json(const os_form_input *input, void **message) {
  os_form_reader self;
  os_json_document document;
  os_json_options options = {.depth = input->depth == 0 ? 0 : 2 * input->depth + 2, .duplicate_keys = true};
  uint32_t errors = input->report->counts[OS_ERROR];
  OS_TRY(os_form_begin(&self, input, message));
  OS_TRY(os_json_parse(&document, input->arena, (os_str){"", 0}, input->text, &options, input->report));
  if (input->report->counts[OS_ERROR] > errors) return OS_MALFORMED;
  if (!os_json_is(document.root, OS_JSON_OBJECT))
    return os_form_fault(&self, &os_rule_form_value, NULL, document.root->start, document.root->end,
                         "a %s is an object in JSON, not %s", input->type->short_name,
                         os_json_type_name(document.root));
  os_form_top(&self)->next = os_json_first(document.root);
  while (self.frames.count > 0) {
    os_form_frame *frame = os_form_top(&self);
    const os_json *node = frame->next;
    if (node != NULL) {
      frame->next = os_json_next(node);
      OS_TRY(os_form__member(&self, node));
      continue;
    }
    const os_plan_field *field = frame->field;
    const os_json *following = field != NULL && field->repeated ? os_json_next(frame->node) : NULL;
    self.frames.count--;
    if (following != NULL) OS_TRY(os_form__child_object(&self, field, following));
  }
  return OS_OK;
}
