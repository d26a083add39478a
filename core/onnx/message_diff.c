#include "message_diff.h"

#include "compare.h"
#include "form.h"
#include "json_write.h"
#include "message_match.h"
#include "tensor_field.h"
#include "text.h"
#include "utf8.h"

enum {
  SHOWN = 60,          // bytes of a value in a sentence
  LISTED = 8,          // elements of a list
  PIECE = 1 << 20,     // bytes of elements that are compared at once
  LOOK = 4096,         // steps between two looks at the clock
  BUDGET = 8,          // bytes compared for each byte of both documents
  MOST_TEXT = 1 << 24, // bytes of sentences and paths: deep places have long ones
};

// Two messages that are the same thing, being compared.
typedef struct os_diff_frame {
  const os_plan *plan;
  const ProtobufCMessage *a, *b;
  const os_plan_field *step; // where they stand in the pair around them; NULL = the root
  os_match place;            // in a list
  uint32_t field;
  bool listed; // `list` is being gone through
  bool told;   // the payload was compared as values
  os_matching list;
  size_t next;
} os_diff_frame;

typedef struct os_diffing {
  os_message_diff *out;
  const os_document *a, *b;
  os_arena keep;  // frames, plans, pairs
  os_arena arena; // of one sentence
  os_plans plans;
  os_matcher matcher;
  os_text text;
  size_t told; // bytes of sentences and paths
  struct {
    os_diff_frame *items;
    size_t count, room;
  } frames;
} os_diffing;

static os_diff_frame *os_diff__top(const os_diffing *self) {
  return &self->frames.items[self->frames.count - 1];
}

// ---- Sentences --------------------------------------------------------------------------------------------

// A text of a document's, cut where it is long.
static void os_diff__quote(os_text *out, os_str text) {
  size_t n = text.len;
  if (n > SHOWN)
    for (n = SHOWN; n > SHOWN - 4 && ((unsigned char)text.data[n] & 0xc0) == 0x80;) n--;
  os_json_write_string(out, (os_str){text.data, n});
  if (n < text.len) os_text_puts(out, "...");
}

static bool os_diff__is_text(os_str bytes) {
  for (size_t i = 0; i < bytes.len; i++)
    if ((unsigned char)bytes.data[i] < ' ') return false;
  return os_utf8_valid(bytes) == bytes.len;
}

static void os_diff__scalar(os_text *out, const os_plan_field *field, const char *element) {
  if (field->type != PROTOBUF_C_TYPE_BYTES) {
    os_form_write_number(out, field, element);
    return;
  }
  ProtobufCBinaryData bytes = *(const ProtobufCBinaryData *)(const void *)element;
  os_str text = os_bytes_str(bytes);
  if (field->text || os_diff__is_text(text))
    os_diff__quote(out, text);
  else
    os_text_format(out, "%zu bytes", bytes.len);
}

static void os_diff__list(os_text *out, const os_plan_field *field, const void *message) {
  size_t count = os_plan_elements(field, message);
  const char *list = count == 0 ? NULL : os_plan_list(field, message);
  os_text_char(out, '[');
  for (size_t i = 0; i < count && i < LISTED; i++) {
    if (i > 0) os_text_puts(out, ", ");
    os_diff__scalar(out, field, list + i * field->size);
  }
  if (count > LISTED) os_text_format(out, ", ... (%zu)", count);
  os_text_char(out, ']');
}

// node "conv1" (Conv); without a name its place.
static void os_diff__label(os_diffing *self, const os_plan *plan, const os_plan_field *step, size_t place,
                           const void *message) {
  os_text *out = &self->text;
  os_text_puts(out, step->field->name);
  const os_naming *naming = os_naming_of(plan->type);
  os_str key = naming == NULL ? (os_str){"", 0} : os_naming_key(naming, plan, message, &self->arena);
  if (key.len > 0 ||
      (naming != NULL && step->repeated && plan->type == &onnx__operator_set_id_proto__descriptor)) {
    os_text_char(out, ' ');
    os_diff__quote(out, key);
  } else if (step->repeated) {
    os_text_format(out, "[%zu]", place);
  }
  const os_plan_field *note = naming == NULL || naming->note == 0 ? NULL : os_plan_find(plan, naming->note);
  if (note == NULL || os_plan_elements(note, message) == 0) return;
  os_str text = os_bytes_str(*(const ProtobufCBinaryData *)(const void *)os_plan_list(note, message));
  os_text_format(out, " (%.*s)", (int)(text.len < SHOWN ? text.len : SHOWN), text.data);
}

// Where the top is, for a reader: the messages around it that have names.
static void os_diff__context(os_diffing *self, bool removed) {
  bool any = false;
  for (size_t i = 1; i < self->frames.count; i++) {
    const os_diff_frame *frame = &self->frames.items[i];
    if (os_naming_of(frame->plan->type) == NULL) continue;
    if (any) os_text_puts(&self->text, ", ");
    any = true;
    os_diff__label(self, frame->plan, frame->step, removed ? frame->place.a : frame->place.b,
                   removed ? frame->a : frame->b);
  }
  if (any) os_text_puts(&self->text, ": ");
}

static os_str os_diff__path(os_diffing *self, const os_plan_field *field, int64_t index, bool removed) {
  os_path *steps = OS_ARENA_ARRAY(&self->arena, self->frames.count, os_path);
  if (steps == NULL) return (os_str){"", 0};
  const os_path *last = NULL;
  for (size_t i = 1; i <= self->frames.count; i++) {
    bool top = i == self->frames.count;
    const os_diff_frame *frame = top ? NULL : &self->frames.items[i];
    const os_plan_field *step = top ? field : frame->step;
    if (step == NULL) break;
    int64_t at = top ? index : !step->repeated ? -1 : (int64_t)(removed ? frame->place.a : frame->place.b);
    steps[i - 1] = (os_path){last, os_str_of(step->field->name), at};
    last = &steps[i - 1];
  }
  return os_path_print(last, self->out->arena);
}

// The sentence stands in the text.
static os_status os_diff__add(os_diffing *self, os_change_kind kind, const os_plan_field *field,
                              int64_t index) {
  os_change *change = OS_PUSH(self->out->arena, &self->out->changes);
  OS_TRY_ALLOC(change);
  if (self->text.failed) return OS_OUT_OF_MEMORY;
  change->kind = kind;
  change->path = os_diff__path(self, field, index, kind == OS_CHANGE_REMOVED);
  change->message = os_arena_copy(self->out->arena, os_text_str(&self->text));
  OS_TRY_ALLOC(change->message.data);
  self->told += change->message.len + change->path.len;
  os_arena_rewind(&self->arena);
  return OS_OK;
}

static bool os_diff__is_full(const os_diffing *self) {
  return self->out->changes.count >= self->out->limit || self->told >= MOST_TEXT;
}

// Begins a sentence; false: there are too many.
static bool os_diff__begin(os_diffing *self, bool removed) {
  if (os_diff__is_full(self)) {
    self->out->left++;
    return false;
  }
  self->text.len = 0;
  os_diff__context(self, removed);
  return true;
}

// A message that only one of both has.
static os_status os_diff__only(os_diffing *self, bool removed, const os_plan_field *field, size_t place,
                               const ProtobufCMessage *message) {
  if (!os_diff__begin(self, removed)) return OS_OK;
  const os_plan *plan = os_plans_child(&self->plans, field);
  OS_TRY_ALLOC(plan);
  os_diff__label(self, plan, field, place, message);
  os_text_puts(&self->text, removed ? " was removed." : " was added.");
  return os_diff__add(self, removed ? OS_CHANGE_REMOVED : OS_CHANGE_ADDED, field,
                      field->repeated ? (int64_t)place : -1);
}

// ---- Scalars ----------------------------------------------------------------------------------------------

static bool os_diff__equal(const os_plan_field *field, const char *a, const char *b) {
  if (field->type != PROTOBUF_C_TYPE_BYTES) return os_bytes_eq(a, b, field->size);
  return os_str_eq(os_bytes_str(*(const ProtobufCBinaryData *)(const void *)a),
                   os_bytes_str(*(const ProtobufCBinaryData *)(const void *)b));
}

static size_t os_diff__first(const os_plan_field *field, const os_diff_frame *top, size_t count) {
  if (count == 0) return 0;
  const char *x = os_plan_list(field, top->a), *y = os_plan_list(field, top->b);
  for (size_t i = 0; i < count; i++)
    if (!os_diff__equal(field, x + i * field->size, y + i * field->size)) return i;
  return count;
}

static os_status os_diff__repeated(os_diffing *self, const os_plan_field *field) {
  const os_diff_frame *top = os_diff__top(self);
  size_t n = os_plan_elements(field, top->a), m = os_plan_elements(field, top->b), least = n < m ? n : m;
  size_t first = os_diff__first(field, top, least);
  if (first == least && n == m) return OS_OK;
  if (!os_diff__begin(self, false)) return OS_OK;
  os_text *out = &self->text;
  if (n <= LISTED && m <= LISTED) {
    os_text_format(out, "%s was ", field->field->name);
    os_diff__list(out, field, top->a);
    os_text_puts(out, " and is ");
    os_diff__list(out, field, top->b);
  } else {
    if (n == m)
      os_text_format(out, "%s of %zu elements differs", field->field->name, m);
    else
      os_text_format(out, "%s had %zu elements and has %zu, which differs", field->field->name, n, m);
    os_text_format(out, " from element %zu on", first);
    if (first < least) {
      os_text_puts(out, ": that was ");
      os_diff__scalar(out, field, os_plan_list(field, top->a) + first * field->size);
      os_text_puts(out, " and is ");
      os_diff__scalar(out, field, os_plan_list(field, top->b) + first * field->size);
    }
  }
  os_text_char(out, '.');
  return os_diff__add(self,
                      n == 0   ? OS_CHANGE_ADDED
                      : m == 0 ? OS_CHANGE_REMOVED
                               : OS_CHANGE_CHANGED,
                      field, -1);
}

// Two values of bytes that are no text.
static bool os_diff__raw(os_text *out, const os_plan_field *field, const char *a, const char *b) {
  if (field->type != PROTOBUF_C_TYPE_BYTES || field->text) return false;
  os_str x = os_bytes_str(*(const ProtobufCBinaryData *)(const void *)a),
         y = os_bytes_str(*(const ProtobufCBinaryData *)(const void *)b);
  if (x.len <= SHOWN && y.len <= SHOWN && os_diff__is_text(x) && os_diff__is_text(y)) return false;
  size_t at = 0;
  while (at < x.len && at < y.len && x.data[at] == y.data[at]) at++;
  if (x.len == y.len)
    os_text_format(out, "%s of %zu bytes differs from byte %zu on.", field->field->name, x.len, at);
  else
    os_text_format(out, "%s had %zu bytes and has %zu, which differ from byte %zu on.", field->field->name,
                   x.len, y.len, at);
  return true;
}

static os_status os_diff__singular(os_diffing *self, const os_plan_field *field) {
  static const ProtobufCBinaryData nothing; // zeros of any scalar
  const os_diff_frame *top = os_diff__top(self);
  bool was = os_plan_has(field, top->a), is = os_plan_has(field, top->b);
  if (!was && !is) return OS_OK;
  const char *zero = (const char *)&nothing;
  const char *a = was ? os_plan_list(field, top->a) : zero, *b = is ? os_plan_list(field, top->b) : zero;
  if (os_diff__equal(field, a, b) && (was == is || !field->oneof)) return OS_OK;
  bool removed = was && !is;
  if (!os_diff__begin(self, removed)) return OS_OK;
  os_text *out = &self->text;
  if (was && is && os_diff__raw(out, field, a, b)) return os_diff__add(self, OS_CHANGE_CHANGED, field, -1);
  os_text_puts(out, field->field->name);
  if (was && is) {
    os_text_puts(out, " was ");
    os_diff__scalar(out, field, a);
    os_text_puts(out, " and is ");
    os_diff__scalar(out, field, b);
    os_text_char(out, '.');
    return os_diff__add(self, OS_CHANGE_CHANGED, field, -1);
  }
  os_text_char(out, ' ');
  os_diff__scalar(out, field, removed ? a : b);
  os_text_puts(out, removed ? " was removed." : " was added.");
  return os_diff__add(self, removed ? OS_CHANGE_REMOVED : OS_CHANGE_ADDED, field, -1);
}

static os_status os_diff__unknown(os_diffing *self) {
  const os_diff_frame *top = os_diff__top(self);
  const ProtobufCMessage *a = top->a, *b = top->b;
  unsigned i = 0;
  for (; i < a->n_unknown_fields && i < b->n_unknown_fields; i++) {
    const ProtobufCMessageUnknownField *x = &a->unknown_fields[i], *y = &b->unknown_fields[i];
    if (x->tag != y->tag || x->wire_type != y->wire_type || x->len != y->len ||
        (x->len > 0 && memcmp(x->data, y->data, x->len) != 0))
      break;
  }
  if (i == a->n_unknown_fields && i == b->n_unknown_fields) return OS_OK;
  if (!os_diff__begin(self, false)) return OS_OK;
  const ProtobufCMessage *has = i < b->n_unknown_fields ? b : a;
  os_text_format(&self->text, "unknown field %u %s.", (unsigned)has->unknown_fields[i].tag,
                 i >= a->n_unknown_fields   ? "was added"
                 : i >= b->n_unknown_fields ? "was removed"
                                            : "differs");
  return os_diff__add(self, OS_CHANGE_CHANGED, NULL, -1);
}

// ---- Tensors ----------------------------------------------------------------------------------------------

// Pieces of two tensors. Those of the first difference are kept for its sentence.
typedef struct os_diff_pieces {
  op_value *a, *b, *first_a, *first_b;
  int64_t n; // elements of a piece
} os_diff_pieces;

static void os_diff__drop_pieces(os_diff_pieces *self) {
  op_value_release(self->a);
  op_value_release(self->b);
  self->a = self->b = NULL;
}

static os_status os_diff__piece(const os_diffing *self, os_diff_pieces *pieces, op_elem elem, int64_t n) {
  if (pieces->a != NULL && pieces->n == n) return OS_OK;
  os_diff__drop_pieces(pieces);
  pieces->n = n;
  pieces->a = os_value_tensor(self->out->memory, elem, 1, &n);
  pieces->b = os_value_tensor(self->out->memory, elem, 1, &n);
  return pieces->a == NULL || pieces->b == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_status os_diff__pieces(os_diffing *self, os_tensor_reader *x, os_tensor_reader *y,
                                 os_diff_pieces *pieces, os_difference *out) {
  os_tolerance exact = {0};
  size_t size = op_elem_size(x->elem);
  int64_t most = (int64_t)(PIECE / size);
  for (int64_t at = 0; at < x->count; at += most) {
    int64_t n = x->count - at < most ? x->count - at : most;
    OS_TRY(os_stop_check(self->out->stop));
    OS_TRY(os_diff__piece(self, pieces, x->elem, n));
    void *a = op_value_edit(pieces->a)->data, *b = op_value_edit(pieces->b)->data;
    OS_TRY(os_tensor_read(x, at, n, a));
    OS_TRY(os_tensor_read(y, at, n, b));
    if (memcmp(a, b, (size_t)n * size) == 0) continue;
    os_difference found;
    OS_TRY(os_value_compare(&self->arena, pieces->b, pieces->a, &exact, &found));
    bool first = out->kind == OS_SAME && found.kind != OS_SAME;
    os_difference_add(out, &found, at);
    if (!first) continue;
    pieces->first_a = pieces->a;
    pieces->first_b = pieces->b;
    pieces->a = pieces->b = NULL;
  }
  return OS_OK;
}

// The elements cannot be looked at: counted once, whatever the fields of the two messages say.
static os_status os_diff__unread(os_diffing *self, const char *side, const char *why) {
  os_message_diff *out = self->out;
  if (out->unread++ > 0) return OS_OK;
  self->text.len = 0;
  os_diff__context(self, false);
  os_text_format(&self->text, "%s: %s", side, why);
  out->unread_why = os_arena_copy(out->arena, os_text_str(&self->text));
  out->unread_path = os_diff__path(self, NULL, -1, false);
  os_arena_rewind(&self->arena);
  return self->text.failed || out->unread_why.data == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static const char *os_diff__why(const os_document *document, const os_tensor_reader *reader) {
  return document->external.open == NULL ? "its files were not given" : reader->trouble;
}

static os_status os_diff__elements(os_diffing *self, os_diff_frame *top, os_tensor_reader *x,
                                   os_tensor_reader *y) {
  os_diff_pieces pieces = {0};
  op_tensor whole = {.elem = x->elem, .rank = x->rank, .dims = x->dims, .count = x->count};
  os_difference difference = {.whole = &whole};
  os_status status = os_diff__pieces(self, x, y, &pieces, &difference);
  if (status == OS_NEEDS_HOST) {
    status = os_diff__unread(self, "a or b", "a Blob cannot be read in a synchronous call");
  } else if (status == OS_OK) {
    top->told = true;
    bool differs = difference.kind != OS_SAME;
    if ((differs || x->storage != y->storage) && os_diff__begin(self, false)) {
      if (differs) {
        os_text_put(&self->text, os_difference_print(&difference, &self->arena, self->out->types));
        os_text_char(&self->text, '.');
      } else {
        os_text_format(&self->text, "the elements are the same, stored in %s, before in %s.",
                       os_tensor_field_name(y->storage), os_tensor_field_name(x->storage));
      }
      status = os_diff__add(self, OS_CHANGE_CHANGED, NULL, -1);
    }
  }
  os_diff__drop_pieces(&pieces);
  op_value_release(pieces.first_a);
  op_value_release(pieces.first_b);
  return status;
}

// Why elements cannot be read is told of those in other files alone.
static os_tensor_origin os_diff__origin(const os_document *document, const Onnx__TensorProto *tensor) {
  os_tensor_origin origin = os_document_origin(document);
  origin.quiet = !os_tensor_is_external(tensor);
  return origin;
}

// The elements of two tensors as values, wherever they are. What cannot be read is compared as any other message.
static os_status os_diff__tensor(os_diffing *self, os_diff_frame *top) {
  const Onnx__TensorProto *a = (const void *)top->a, *b = (const void *)top->b;
  bool same_dims = a->n_dims == b->n_dims &&
                   (a->n_dims == 0 || memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0);
  top->told = !same_dims || a->data_type != b->data_type;
  if (top->told || (a->raw_data.len > 0 && os_str_eq(os_bytes_str(a->raw_data), os_bytes_str(b->raw_data))))
    return OS_OK;
  os_tensor_reader x, y;
  os_status status = os_tensor_open(&x, a, os_diff__origin(self->a, a));
  if (status == OS_OUT_OF_MEMORY) return status;
  if (status != OS_OK)
    return os_tensor_is_external(a) ? os_diff__unread(self, "a", os_diff__why(self->a, &x)) : OS_OK;
  status = os_tensor_open(&y, b, os_diff__origin(self->b, b));
  if (status == OS_OUT_OF_MEMORY) return status;
  if (status != OS_OK)
    return os_tensor_is_external(b) ? os_diff__unread(self, "b", os_diff__why(self->b, &y)) : OS_OK;
  return x.elem == OP_STRING ? OS_OK : os_diff__elements(self, top, &x, &y);
}

static bool os_diff__is_payload(const os_diff_frame *top, const os_plan_field *field) {
  enum { RAW_DATA = 9 };
  return top->plan->type == &onnx__tensor_proto__descriptor &&
         (field->payload || field->field->id == RAW_DATA);
}

// ---- Messages ---------------------------------------------------------------------------------------------

static os_status os_diff__push(os_diffing *self, const os_plan_field *step, os_match place,
                               const ProtobufCMessage *a, const ProtobufCMessage *b) {
  if (os_match_same(&self->matcher, a, b)) return OS_OK;
  os_diff_frame *frame = OS_PUSH(&self->keep, &self->frames);
  OS_TRY_ALLOC(frame);
  *frame = (os_diff_frame){.a = a, .b = b, .step = step, .place = place};
  frame->plan = os_plans_get(&self->plans, a->descriptor);
  OS_TRY_ALLOC(frame->plan);
  return frame->plan->type == &onnx__tensor_proto__descriptor ? os_diff__tensor(self, frame) : OS_OK;
}

static os_match_list os_diff__messages(const os_plan_field *field, const void *message) {
  return (os_match_list){*(ProtobufCMessage *const **)os_plan_member(field, message),
                         os_plan_elements(field, message)};
}

// Pairs the elements and tells those that have no mate.
static os_status os_diff__lists(os_diffing *self, const os_plan_field *field) {
  os_diff_frame *top = os_diff__top(self);
  os_match_list a = os_diff__messages(field, top->a), b = os_diff__messages(field, top->b);
  top->listed = true;
  top->next = 0;
  top->list = (os_matching){0};
  if (a.count == 0 && b.count == 0) return OS_OK;
  const os_plan *plan = os_plans_child(&self->plans, field);
  OS_TRY_ALLOC(plan);
  OS_TRY(os_match_lists(&self->matcher, plan, a, b, &top->list));
  const os_matching *list = &top->list;
  for (size_t i = 0; i < list->removed_count; i++)
    OS_TRY(os_diff__only(self, true, field, list->removed[i], a.items[list->removed[i]]));
  for (size_t i = 0; i < list->added_count; i++)
    OS_TRY(os_diff__only(self, false, field, list->added[i], b.items[list->added[i]]));
  if (!list->moved || !os_diff__begin(self, false)) return OS_OK;
  os_text_format(&self->text, "%s has elements in another order.", field->field->name);
  return os_diff__add(self, OS_CHANGE_ORDER, field, -1);
}

static os_status os_diff__message(os_diffing *self, const os_plan_field *field) {
  const os_diff_frame *top = os_diff__top(self);
  bool was = os_plan_has(field, top->a), is = os_plan_has(field, top->b);
  const ProtobufCMessage *a = was ? os_plan_child(field, top->a, 0) : NULL,
                         *b = is ? os_plan_child(field, top->b, 0) : NULL;
  if (was && is) return os_diff__push(self, field, (os_match){0, 0}, a, b);
  return was ? os_diff__only(self, true, field, 0, a) : is ? os_diff__only(self, false, field, 0, b) : OS_OK;
}

static os_status os_diff__step(os_diffing *self) {
  os_diff_frame *top = os_diff__top(self);
  if (top->field == top->plan->count) {
    OS_TRY(os_diff__unknown(self));
    self->frames.count--;
    return OS_OK;
  }
  const os_plan_field *field = &top->plan->fields[top->field];
  if (top->listed) {
    if (top->next < top->list.pair_count) {
      os_match pair = top->list.pairs[top->next++];
      return os_diff__push(self, field, pair, os_plan_child(field, top->a, pair.a),
                           os_plan_child(field, top->b, pair.b));
    }
    top->listed = false;
    top->field++;
    return OS_OK;
  }
  if (self->frames.count == 1 && field->field->id == self->out->skip) {
    top->field++;
    return OS_OK;
  }
  if (field->type == PROTOBUF_C_TYPE_MESSAGE && field->repeated) return os_diff__lists(self, field);
  top->field++;
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) return os_diff__message(self, field);
  if (top->told && os_diff__is_payload(top, field)) return OS_OK;
  return field->repeated ? os_diff__repeated(self, field) : os_diff__singular(self, field);
}

os_status os_message_diff_run(os_message_diff *out, const os_document *a, const os_document *b) {
  os_diffing self = {.out = out, .a = a, .b = b};
  os_arena_init(&self.keep, out->memory);
  os_arena_init(&self.arena, out->memory);
  os_text_init(&self.text, out->memory);
  self.plans.arena = &self.keep;
  self.matcher = (os_matcher){.arena = &self.keep, .a = &a->source, .b = &b->source};
  self.matcher.budget = BUDGET * (a->source.length + b->source.length);
  os_arena_init(&self.matcher.work, out->memory);
  os_status status = os_match_begin(&self.matcher, out->memory, a->root);
  if (status == OS_OK) status = os_diff__push(&self, NULL, (os_match){0, 0}, a->root, b->root);
  for (uint32_t steps = 0; status == OS_OK && self.frames.count > 0; steps++) {
    if (steps % LOOK == 0) status = os_stop_check(out->stop);
    if (status == OS_OK) status = os_diff__step(&self);
  }
  os_arena_clear(&self.matcher.work);
  os_text_clear(&self.text);
  os_arena_clear(&self.arena);
  os_arena_clear(&self.keep);
  return status;
}
