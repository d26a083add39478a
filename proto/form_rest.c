#include "form_rest.h"

#include "walk.h"
#include "wire_rules.h"

// ---- Writing ----------------------------------------------------------------------------------------------

typedef struct os_rest_pair {
  const void *message, *other;
  const os_path *path;
} os_rest_pair;

typedef struct os_rest {
  os_text *out;
  const os_source *source;
  os_form_writer *writer;
  os_arena arena, scratch; // of all, of a pair
  os_plans plans;
  struct {
    os_rest_pair *items;
    size_t count, room;
  } pairs;
} os_rest;

static os_status os_rest__line(os_rest *self, const os_path *path, bool whole, const void *message) {
  os_str where = path == NULL ? (os_str){"", 0} : os_path_print(path, &self->scratch);
  os_text_puts(self->out, "\n#:");
  if (where.len > 0) os_text_char(self->out, ' ');
  os_text_put(self->out, where);
  os_text_puts(self->out, whole ? " = {" : " {");
  OS_TRY(os_form_writer_put(self->writer, message));
  os_text_char(self->out, '}');
  return OS_OK;
}

static os_status os_rest__same(os_rest *self, const os_plan_field *field, const char *a, const char *b,
                               size_t count, bool *same) {
  *same = true;
  if (field->type != PROTOBUF_C_TYPE_BYTES) {
    *same = memcmp(a, b, count * field->size) == 0;
    return OS_OK;
  }
  const ProtobufCBinaryData *x = (const void *)a, *y = (const void *)b;
  for (size_t i = 0; i < count && *same; i++) {
    os_str left, right;
    OS_TRY(os_bytes_load(self->source, &self->scratch, x[i], &left));
    OS_TRY(os_bytes_load(self->source, &self->scratch, y[i], &right));
    *same = os_str_eq(left, right);
  }
  return OS_OK;
}

// A message of the same type for what differs, unless there is one.
static os_status os_rest__some(os_rest *self, const ProtobufCMessage *message, ProtobufCMessage **some) {
  if (*some != NULL) return OS_OK;
  *some = os_proto_new(&self->scratch, message->descriptor, NULL);
  OS_TRY_ALLOC(*some);
  (*some)->unknown_fields = message->unknown_fields;
  (*some)->n_unknown_fields = message->n_unknown_fields;
  return OS_OK;
}

// Puts the field into `some`, whose fields are those of `message`.
static bool os_rest__take(os_rest *self, const os_plan *plan, const os_plan_field *field, const void *message,
                          void *some) {
  if (!os_form_home(&self->scratch, plan, field, some)) return false;
  memcpy(os_plan_member(field, some), os_plan_member(field, message),
         field->repeated ? sizeof(void *) : field->size);
  if (field->repeated)
    *os_plan_count(field, some) = *os_plan_count(field, message);
  else
    os_plan_set_has(field, some);
  return true;
}

static os_status os_rest__push(os_rest *self, const os_rest_pair *pair, const os_plan_field *field,
                               size_t count) {
  for (size_t i = count; i-- > 0;) {
    os_rest_pair *inner = OS_PUSH(&self->arena, &self->pairs);
    os_path *path = os_arena_alloc(&self->arena, sizeof *path);
    OS_TRY_ALLOC(inner);
    OS_TRY_ALLOC(path);
    *path = (os_path){pair->path, os_str_of(field->field->name), field->repeated ? (int64_t)i : -1};
    *inner =
        (os_rest_pair){os_plan_child(field, pair->message, i), os_plan_child(field, pair->other, i), path};
  }
  return OS_OK;
}

static os_status os_rest__pair(os_rest *self, os_rest_pair pair) {
  const ProtobufCMessage *message = pair.message;
  const os_plan *plan = os_plans_get(&self->plans, message->descriptor);
  ProtobufCMessage *some = NULL; // what differs
  OS_TRY_ALLOC(plan);
  size_t inner = self->pairs.count;
  os_arena_rewind(&self->scratch);
  if (message->n_unknown_fields > 0) OS_TRY(os_rest__some(self, message, &some));
  for (uint32_t i = plan->count; i-- > 0;) {
    const os_plan_field *field = &plan->fields[i];
    size_t n = os_plan_elements(field, pair.message), k = os_plan_elements(field, pair.other);
    bool same = n == k, nested = field->type == PROTOBUF_C_TYPE_MESSAGE;
    if (same && n > 0 && nested)
      OS_TRY(os_rest__push(self, &pair, field, n));
    else if (same && n > 0)
      OS_TRY(os_rest__same(self, field, os_plan_list(field, pair.message), os_plan_list(field, pair.other), n,
                           &same));
    if (same) continue;
    if (k > 0 && (n != 1 || field->repeated)) { // what is there cannot be taken away one by one
      self->pairs.count = inner;
      return os_rest__line(self, pair.path, true, pair.message);
    }
    OS_TRY(os_rest__some(self, message, &some));
    if (!os_rest__take(self, plan, field, pair.message, some)) return OS_OUT_OF_MEMORY;
  }
  return some != NULL ? os_rest__line(self, pair.path, false, some) : OS_OK;
}

os_status os_form_rest_write(os_text *out, const os_source *source, const void *message, const void *other,
                             os_report *report) {
  os_rest self = {.out = out, .source = source};
  os_arena_init(&self.arena, out->memory);
  os_arena_init(&self.scratch, out->memory);
  self.plans.arena = &self.arena;
  self.writer = os_form_writer_new(out, OS_FORM_LINE, source, report);
  os_rest_pair *first = OS_PUSH(&self.arena, &self.pairs);
  os_status status = first == NULL || self.writer == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  if (first != NULL) *first = (os_rest_pair){message, other, NULL};
  while (status == OS_OK && self.pairs.count > 0)
    status = os_rest__pair(&self, self.pairs.items[--self.pairs.count]);
  os_form_writer_free(self.writer);
  os_arena_clear(&self.scratch);
  os_arena_clear(&self.arena);
  return status;
}

// ---- Reading ----------------------------------------------------------------------------------------------

// The message that a path names; the lexer is at its first word, then behind it.
static ProtobufCMessage *os_rest__find(os_form_reader *self, ProtobufCMessage *message) {
  const os_lexer *lexer = &self->lexer;
  while (lexer->token == OS_TOKEN_WORD) {
    const os_plan_field *field = os_form_find(os_form_plan(self, message), lexer->value, false);
    uint64_t index = 0;
    if (field == NULL || field->type != PROTOBUF_C_TYPE_MESSAGE)
      os_form_unexpected(self, "the name of a message's field");
    os_form_next(self);
    if (os_form_take(self, '[')) {
      if (lexer->token != OS_TOKEN_NUMBER || !os_form_natural(lexer->value, &index))
        os_form_unexpected(self, "the index of an element");
      os_form_next(self);
      os_form_match(self, ']');
    }
    if (self->status != OS_OK) break;
    if (index >= os_plan_elements(field, message)) {
      os_form_fault(self, &os_rule_form_value, NULL, lexer->start, lexer->end,
                    "there is no such element of %s", field->field->name);
      break;
    }
    message = os_plan_child(field, message, (size_t)index);
    if (!os_form_take(self, '.')) break;
    if (lexer->token != OS_TOKEN_WORD) os_form_unexpected(self, "the name of a field");
  }
  return message;
}

static void os_rest__read(os_form_reader *self, void *root) {
  os_form_next(self);
  ProtobufCMessage *message = os_rest__find(self, root);
  if (os_form_take(self, '=')) {
    size_t head = sizeof *message;
    memset((char *)message + head, 0, message->descriptor->sizeof_message - head);
    message->n_unknown_fields = 0;
  }
  os_form_match(self, '{');
  self->frames.count = 0;
  os_form_push(self, NULL, message, self->lexer.start, self->lexer.end);
  if (self->status == OS_OK) os_form_fill(self, '}', true);
  if (self->lexer.token != OS_TOKEN_END) os_form_unexpected(self, "the end of the line");
}

void os_form_rest_read(os_form_reader *self, void *root, size_t from) {
  os_str text = self->input.text;
  while (from < text.len && self->status == OS_OK) {
    size_t end = from;
    while (end < text.len && text.data[end] != '\n') end++;
    os_str line = os_str_slice(text, from, end);
    size_t lead = 0;
    while (lead < line.len && (line.data[lead] == ' ' || line.data[lead] == '\t')) lead++;
    if (os_str_starts(os_str_slice(line, lead, line.len), OS_STR("#:"))) {
      self->lexer =
          (os_lexer){.text = os_str_slice(text, 0, end), .arena = self->input.arena, .end = from + lead + 2};
      os_rest__read(self, root);
    }
    from = end + 1;
  }
}
