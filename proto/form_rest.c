#include "form_rest.h"

#include "walk.h"
#include "wire_rules.h"

// ---- Writing ----------------------------------------------------------------------------------------------

// Elements of a field of two messages, from `next` on, that are still to be compared.
typedef struct os_rest_row {
  const os_plan_field *field;
  const void *message, *other;
  os_path *path; // of the one that is being compared
  size_t next, count;
} os_rest_row;

typedef struct os_rest {
  os_text *out;
  const os_source *source;
  os_form_writer *writer;
  os_arena arena, scratch; // of all, of a pair
  os_plans plans;
  struct {
    os_rest_row *items;
    size_t count, room;
  } rows;
  os_path *paths; // that may be used again, by `parent`
  // What an empty message was compared with last, and what is written of it behind its path.
  const void *blank;
  size_t blank_start, blank_size;
  size_t line_start; // of the last line, behind its path
} os_rest;

static void os_rest__begin(os_rest *self, const os_path *path) {
  os_str where = path == NULL ? (os_str){"", 0} : os_path_print(path, &self->scratch);
  os_text_puts(self->out, "\n#:");
  if (where.len > 0) os_text_char(self->out, ' ');
  os_text_put(self->out, where);
}

static os_status os_rest__line(os_rest *self, const os_path *path, bool whole, const void *message) {
  os_rest__begin(self, path);
  self->line_start = self->out->len;
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

static os_status os_rest__push(os_rest *self, const os_path *outer, const os_plan_field *field,
                               const void *message, const void *other, size_t count) {
  os_path *path = self->paths;
  if (path != NULL)
    self->paths = (os_path *)(uintptr_t)path->parent;
  else
    path = os_arena_alloc(&self->arena, sizeof *path);
  os_rest_row *row = OS_PUSH(&self->arena, &self->rows);
  OS_TRY_ALLOC(path);
  OS_TRY_ALLOC(row);
  *path = (os_path){outer, os_str_of(field->field->name), -1};
  *row = (os_rest_row){field, message, other, path, 0, count};
  return OS_OK;
}

static void os_rest__drop(os_rest *self, size_t count) {
  while (self->rows.count > count) {
    os_path *path = self->rows.items[--self->rows.count].path;
    path->parent = self->paths;
    self->paths = path;
  }
}

static os_status os_rest__pair(os_rest *self, const ProtobufCMessage *message, const void *other,
                               const os_path *path) {
  const os_plan *plan = os_plans_get(&self->plans, message->descriptor);
  ProtobufCMessage *some = NULL; // what differs
  OS_TRY_ALLOC(plan);
  size_t inner = self->rows.count;
  os_arena_rewind(&self->scratch);
  if (message->n_unknown_fields > 0) OS_TRY(os_rest__some(self, message, &some));
  for (uint32_t i = plan->count; i-- > 0;) {
    const os_plan_field *field = &plan->fields[i];
    size_t n = os_plan_elements(field, message), k = os_plan_elements(field, other);
    bool same = n == k, nested = field->type == PROTOBUF_C_TYPE_MESSAGE;
    if (same && n > 0 && nested)
      OS_TRY(os_rest__push(self, path, field, message, other, n));
    else if (same && n > 0)
      OS_TRY(os_rest__same(self, field, os_plan_list(field, message), os_plan_list(field, other), n, &same));
    if (same) continue;
    if (k > 0 && (n != 1 || field->repeated)) { // what is there cannot be taken away one by one
      os_rest__drop(self, inner);
      return os_rest__line(self, path, true, message);
    }
    OS_TRY(os_rest__some(self, message, &some));
    if (!os_rest__take(self, plan, field, message, some)) return OS_OUT_OF_MEMORY;
  }
  return some != NULL ? os_rest__line(self, path, false, some) : OS_OK;
}

// An empty message: what is said of the one before it holds if that was read the same.
static os_status os_rest__blank(os_rest *self, const ProtobufCMessage *message, const void *other,
                                const os_path *path) {
  os_text *out = self->out;
  if (other != self->blank) {
    size_t before = out->len;
    OS_TRY(os_rest__pair(self, message, other, path));
    self->blank = other;
    self->blank_start = self->line_start;
    self->blank_size = out->len == before ? 0 : out->len - self->line_start;
    return OS_OK;
  }
  if (self->blank_size == 0) return OS_OK;
  os_arena_rewind(&self->scratch);
  os_rest__begin(self, path);
  char *to = os_text_extend(out, self->blank_size);
  OS_TRY_ALLOC(to);
  os_bytes_copy(to, out->data + self->blank_start, self->blank_size);
  return OS_OK;
}

static os_status os_rest__next(os_rest *self) {
  os_rest_row *row = &self->rows.items[self->rows.count - 1];
  const ProtobufCMessage *const *messages = (const void *)os_plan_list(row->field, row->message);
  const void *const *others = (const void *)os_plan_list(row->field, row->other);
  // Nothing is to be said of these.
  while (row->next < row->count && self->blank != NULL && self->blank_size == 0 &&
         others[row->next] == self->blank && os_proto_is_blank(messages[row->next]))
    row->next++;
  if (row->next == row->count) {
    os_rest__drop(self, self->rows.count - 1);
    return OS_OK;
  }
  size_t i = row->next++;
  if (row->field->repeated) row->path->index = (int64_t)i;
  return (os_proto_is_blank(messages[i]) ? os_rest__blank : os_rest__pair)(self, messages[i], others[i],
                                                                           row->path);
}

os_status os_form_rest_write(os_text *out, const os_source *source, const void *message, const void *other,
                             os_report *report) {
  os_rest self = {.out = out, .source = source};
  os_arena_init(&self.arena, out->memory);
  os_arena_init(&self.scratch, out->memory);
  self.plans.arena = &self.arena;
  self.writer = os_form_writer_new(out, OS_FORM_LINE, source, report);
  os_status status = self.writer == NULL ? OS_OUT_OF_MEMORY : os_rest__pair(&self, message, other, NULL);
  while (status == OS_OK && self.rows.count > 0) status = os_rest__next(&self);
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
