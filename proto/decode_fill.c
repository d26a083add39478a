#include "decoder.h"
#include "utf8.h"
#include "wire_rules.h"

#include <inttypes.h>

static os_status os_decoder__move_list(os_decoder *self, const os_plan_field *field,
                                       ProtobufCMessage *message, size_t room) {
  size_t bytes, had = *os_plan_count(field, message);
  if (!os_size_mul(room, field->size, &bytes)) return OS_OUT_OF_MEMORY;
  void *grown = os_decoder_alloc(self, bytes, 0, field->size == 8 ? 8 : sizeof(void *));
  OS_TRY_ALLOC(grown);
  void **list = os_plan_member(field, message);
  if (had > 0) memcpy(grown, *list, had * field->size);
  *list = grown;
  return OS_OK;
}

// From now on the room of all lists of this message is known.
static os_status os_decoder__roomy(os_decoder *self, os_frame *frame) {
  frame->roomy = true;
  for (uint32_t i = 0; i < frame->plan->count; i++) {
    const os_plan_field *field = &frame->plan->fields[i];
    bool listed = field->repeated && !os_decoder_drops(self, field);
    size_t count = listed ? *os_plan_count(field, frame->message) : 0;
    if (count > 0) OS_TRY(os_decoder__move_list(self, field, frame->message, os_size_power(count)));
  }
  return OS_OK;
}

os_status os_decoder_make_room(os_decoder *self, os_frame *frame, const os_plan_field *field, size_t more) {
  ProtobufCMessage *message = frame->message;
  size_t had = *os_plan_count(field, message), room;
  if (!os_size_add(had, more, &room)) return OS_OUT_OF_MEMORY;
  if (had == 0 && !frame->roomy) return os_decoder__move_list(self, field, message, room);
  if (!frame->roomy) OS_TRY(os_decoder__roomy(self, frame));
  if (had > 0 && os_size_power(had) >= room) return OS_OK;
  return os_decoder__move_list(self, field, message, os_size_power(room));
}

// Long lists are not counted beyond so many elements but get room for twice what they have: it is little beside the elements,
// and a second look at all of the file costs more.
enum { COUNT_MOST = 64 };

// Counts on from frame->count_at: the items that follow with the same tag, as far as they are well-formed, up to `most`.
static os_status os_decoder__count_items(os_decoder *self, os_frame *frame, const os_item *first,
                                         size_t most) {
  while (frame->count_at < frame->end && frame->counted < most) {
    uint64_t left = frame->end - frame->count_at, tag, length = 0;
    size_t head = left < 20 ? (size_t)left : 20;
    OS_TRY(os_cursor_need(&self->cursor, frame->count_at, head));
    const uint8_t *p = os_cursor_at(&self->cursor, frame->count_at), *end = p + head;
    int n = os_varint_read(p, end, &tag), more = 0;
    if (n <= 0 || tag != ((uint64_t)first->number << 3 | first->wire)) break;
    if (first->wire == OS_WIRE_VARINT || first->wire == OS_WIRE_BYTES) {
      more = os_varint_read(p + n, end, &length);
      if (more <= 0) break;
      if (first->wire == OS_WIRE_VARINT) length = 0;
    } else {
      length = first->wire == OS_WIRE_64 ? 8 : 4;
    }
    if (length > left - (uint64_t)(n + more)) break;
    frame->counted++;
    frame->count_at += (uint64_t)(n + more) + length;
  }
  return OS_OK;
}

// The same for the varints of a packed record; *good: each of them is one.
static os_status os_decoder__check_varints(os_decoder *self, os_frame *frame, const os_item *item,
                                           bool *good) {
  if (frame->count_at == 0) {
    frame->count_at = item->data;
    frame->counted = frame->varint = 0;
  }
  *good = true;
  while (frame->count_at < item->end && *good) {
    OS_TRY(os_cursor_need(&self->cursor, frame->count_at, 1));
    const uint8_t *p = os_cursor_at(&self->cursor, frame->count_at);
    size_t n = (size_t)(os_cursor_limit(&self->cursor, item->end) - frame->count_at);
    for (size_t i = 0; i < n; i++) {
      if (++frame->varint > OS_VARINT_MAX) *good = false;
      if (p[i] >= 0x80) continue;
      frame->counted++;
      frame->varint = 0;
    }
    frame->count_at += n;
  }
  *good = *good && frame->varint == 0;
  frame->count_at = 0;
  return OS_OK;
}

static os_status os_decoder__count_varints(os_decoder *self, os_frame *frame, const os_item *item) {
  while (frame->count_at < item->end) {
    OS_TRY(os_cursor_need(&self->cursor, frame->count_at, 1));
    const uint8_t *p = os_cursor_at(&self->cursor, frame->count_at);
    size_t n = (size_t)(os_cursor_limit(&self->cursor, item->end) - frame->count_at), found = 0;
    for (size_t i = 0; i < n; i++) found += p[i] < 0x80;
    frame->counted += found;
    frame->count_at += n;
  }
  return OS_OK;
}

os_status os_decoder_begin_run(os_decoder *self, os_frame *frame, const os_plan_field *field,
                               const os_item *item) {
  if (frame->run == field && frame->run_left > 0) return OS_OK;
  bool packed = field->wire != item->wire;
  size_t had = field->is_long ? *os_plan_count(field, frame->message) : 0;
  if (packed && field->wire != OS_WIRE_VARINT) {
    frame->counted = (size_t)(item->value / field->size);
  } else if (had >= COUNT_MOST) {
    frame->counted = had;
  } else {
    if (frame->count_at == 0) {
      frame->count_at = packed ? item->data : item->end;
      frame->counted = packed ? 0 : 1;
    }
    OS_TRY(packed ? os_decoder__count_varints(self, frame, item)
                  : os_decoder__count_items(self, frame, item, field->is_long ? COUNT_MOST : SIZE_MAX));
  }
  frame->count_at = 0;
  if (frame->counted > 0) OS_TRY(os_decoder_make_room(self, frame, field, frame->counted));
  frame->run = packed ? NULL : field;
  frame->run_left = packed ? 0 : frame->counted;
  return OS_OK;
}

enum { RECENT = 1024, RECENT_LENGTH = 128, SLAB_ELEMENT = 1024 };

// A text that is in the window, copied unless an equal one was a while ago.
static os_status os_decoder__text(os_decoder *self, uint64_t start, size_t n, ProtobufCBinaryData *out) {
  os_str text = {(const char *)os_cursor_at(&self->cursor, start), n};
  if (self->recent == NULL) self->recent = OS_ARENA_ARRAY(self->ask.arena, RECENT, os_str);
  OS_TRY_ALLOC(self->recent);
  os_str *known = &self->recent[os_str_hash(text, 0) % RECENT];
  if (!os_str_eq(*known, text)) {
    char *copy = os_decoder_alloc_text(self, n);
    OS_TRY_ALLOC(copy);
    memcpy(copy, text.data, n);
    *known = (os_str){copy, n};
  }
  *out = os_bytes_of(*known);
  return OS_OK;
}

// The bytes of a source that is not in memory: a view on a piece of the skeleton, or a copy.
static os_status os_decoder__near(os_decoder *self, uint64_t start, size_t n, bool text,
                                  ProtobufCBinaryData *out) {
  os_cursor *cursor = &self->cursor;
  bool windowed = n <= OS_WINDOW_LEAST;
  if (windowed || cursor->skeleton != NULL) OS_TRY(os_cursor_need(cursor, start, windowed ? n : 1));
  if (cursor->piece && os_cursor_limit(cursor, start + n) == start + n) {
    *out = (ProtobufCBinaryData){n, (uint8_t *)(uintptr_t)os_cursor_at(cursor, start)};
    return OS_OK;
  }
  if (windowed) OS_TRY(os_decoder_take(self, start, os_cursor_at(cursor, start), n));
  if (text && n <= RECENT_LENGTH && self->element == 0) return os_decoder__text(self, start, n, out);
  uint8_t *copy = os_decoder_alloc_text(self, n);
  OS_TRY_ALLOC(copy);
  if (windowed) {
    memcpy(copy, os_cursor_at(cursor, start), n);
  } else if (cursor->skeleton != NULL) {
    for (size_t done = 0, step; done < n; done += step) {
      OS_TRY(os_cursor_need(cursor, start + done, 1));
      step = (size_t)(os_cursor_limit(cursor, start + n) - start) - done;
      memcpy(copy + done, os_cursor_at(cursor, start + done), step);
    }
  } else {
    OS_TRY(os_source_read(self->ask.source, start, n, copy));
    OS_TRY(os_decoder_take(self, start, copy, n));
  }
  *out = (ProtobufCBinaryData){n, copy};
  return OS_OK;
}

// [start, end) as a view, or a copy or an os_far when the source is not in memory.
static os_status os_decoder__view(os_decoder *self, uint64_t start, uint64_t end, bool may_be_far,
                                  ProtobufCBinaryData *out) {
  uint64_t n = end - start;
  *out = (ProtobufCBinaryData){0, NULL};
  if (n == 0) return OS_OK;
  if (self->ask.source->data != NULL) {
    *out = (ProtobufCBinaryData){(size_t)n, (uint8_t *)(uintptr_t)self->ask.source->data + start};
    return OS_OK;
  }
  if (may_be_far && n > OS_PROTO_NEAR) {
    os_far *far = os_decoder_alloc(self, sizeof *far, 0, 8);
    OS_TRY_ALLOC(far);
    *far = (os_far){start, n};
    out->data = (uint8_t *)far;
    return OS_OK;
  }
  if (n > SIZE_MAX) return OS_OUT_OF_MEMORY;
  return os_decoder__near(self, start, (size_t)n, !may_be_far, out);
}

os_status os_decoder_keep(os_decoder *self, os_frame *frame, uint32_t number, uint32_t wire, uint64_t body,
                          uint64_t end) {
  ProtobufCMessage *message = frame->message;
  ProtobufCBinaryData view;
  OS_TRY(os_decoder__view(self, body, end, true, &view));
  unsigned n = message->n_unknown_fields;
  if ((n & (n - 1)) == 0) { // 0 or a power of two: the list is full
    size_t bytes, room = n == 0 ? 1 : (size_t)n * 2;
    if (room > UINT32_MAX / 2 || !os_size_mul(room, sizeof *message->unknown_fields, &bytes))
      return OS_OUT_OF_MEMORY;
    ProtobufCMessageUnknownField *grown = os_decoder_alloc(self, bytes, 0, sizeof(void *));
    OS_TRY_ALLOC(grown);
    if (n > 0) memcpy(grown, message->unknown_fields, n * sizeof *grown);
    message->unknown_fields = grown;
  }
  // The cast: protobuf-c's enum has no names for groups.
  message->unknown_fields[n] = (ProtobufCMessageUnknownField){
      .tag = number, .wire_type = (ProtobufCWireType)wire, .len = view.len, .data = view.data};
  message->n_unknown_fields = n + 1;
  return OS_OK;
}

static bool os_decoder__enum_has(const os_plan_field *field, int32_t value) {
  const ProtobufCEnumDescriptor *type = field->field->descriptor;
  for (unsigned i = 0; i < type->n_value_ranges; i++) {
    const ProtobufCIntRange *range = &type->value_ranges[i];
    unsigned size = range[1].orig_index - range->orig_index;
    if (value >= range->start_value && (int64_t)value - range->start_value < (int64_t)size) return true;
  }
  return false;
}

static void os_decoder__scalar(uint8_t type, uint64_t value, void *to) {
  uint32_t small;
  switch (type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64: memcpy(to, &value, 8); return;
  case PROTOBUF_C_TYPE_SINT64:
    value = (uint64_t)os_unzigzag(value);
    memcpy(to, &value, 8);
    return;
  case PROTOBUF_C_TYPE_SINT32: small = (uint32_t)os_unzigzag((uint32_t)value); break;
  case PROTOBUF_C_TYPE_BOOL: small = value != 0; break;
  default: small = (uint32_t)value; break;
  }
  memcpy(to, &small, 4);
}

static void os_decoder__check_text(os_decoder *self, const os_item *item, ProtobufCBinaryData text) {
  if (self->ask.known || os_utf8_is_ascii(os_bytes_str(text))) return;
  size_t good = os_utf8_valid(os_bytes_str(text));
  if (good == text.len) return;
  os_decoder_warn(self, &os_rule_wire_utf8, item->number, item->data, item->end,
                  "%s is not UTF-8: byte 0x%02x at position %zu of %zu",
                  os_decoder_field_name(self, item->number), text.data[good], good, text.len);
}

// Looks through an element of a long list where it lies. Sources that are not in memory have those that fit into a window.
static os_status os_decoder__skim(os_decoder *self, const os_plan_field *field, const os_item *item,
                                  bool *skimmed) {
  *skimmed = false;
  if (item->value > SKIM_MOST || os_decoder_tells(self, field)) return OS_OK;
  OS_TRY(os_cursor_need(&self->cursor, item->data, (size_t)item->value));
  const uint8_t *p = os_cursor_at(&self->cursor, item->data);
  *skimmed = self->frames.count + 1 < self->ask.depth &&
             os_decoder_skim(self, field, p, p + (size_t)item->value, item->data);
  return OS_OK;
}

static os_status os_decoder__submessage(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                        const os_item *item) {
  const os_plan *plan = os_plans_child(&self->plans, field);
  OS_TRY_ALLOC(plan);
  void *member = os_plan_member(field, frame->message);
  ProtobufCMessage *message = NULL;
  size_t index = 0;
  bool merged = !field->repeated && os_plan_has(field, frame->message), ranged = false;
  if (os_decoder_drops(self, field)) {
    bool skimmed;
    OS_TRY(os_decoder__skim(self, field, item, &skimmed));
    index = (*os_plan_count(field, frame->message))++;
    self->dropped = true;
    frame->at = item->end;
    if (skimmed) return OS_OK;
    if (self->element == 0) {
      self->kept = self->room;
      self->room = (os_decoder_room){.arena = self->ask.scratch, .slab_size = SLAB_ELEMENT};
      self->element = self->frames.count + 1;
    }
    message = os_decoder_message(self, plan, frame->message, item->data, item->end);
    OS_TRY_ALLOC(message);
  } else if (merged) { // another part of the same message
    message = *(ProtobufCMessage **)member;
    ranged = os_proto_is(message, OS_PROTO_RANGED);
    os_proto_set(message, OS_PROTO_EDITED, OS_PROTO_RANGED);
  } else {
    if (field->repeated) OS_TRY(os_decoder_begin_run(self, frame, field, item));
    message = os_decoder_message(self, plan, frame->message, item->data, item->end);
    OS_TRY_ALLOC(message);
    if (field->repeated) {
      index = (*os_plan_count(field, frame->message))++;
      (*(ProtobufCMessage ***)member)[index] = message;
      frame->run_left--;
    } else {
      *(ProtobufCMessage **)member = message;
      os_plan_set_has(field, frame->message);
    }
  }
  frame->at = item->end;
  OS_TRY(os_decoder_push(self, plan, message, field, index, item->data, item->end));
  os_decoder_frame(self)->roomy = merged;
  return ranged ? os_decoder__roomy(self, os_decoder_frame(self)) : OS_OK;
}

// A value of a known field with the wire type of one element. *kept: it went to the unknown fields.
static os_status os_decoder__value(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                   const os_item *item, void *to, bool *kept) {
  if (field->wire == OS_WIRE_BYTES) {
    ProtobufCBinaryData view;
    OS_TRY(os_decoder__view(self, item->data, item->end, field->far, &view));
    if (field->text) os_decoder__check_text(self, item, view);
    memcpy(to, &view, sizeof view);
  } else if (field->wire == OS_WIRE_VARINT) {
    if (field->type == PROTOBUF_C_TYPE_ENUM && !os_decoder__enum_has(field, (int32_t)item->value)) {
      *kept = true;
      return os_decoder_keep(self, frame, item->number, OS_WIRE_VARINT, item->body, item->end);
    }
    os_decoder__scalar(field->type, item->value, to);
  } else { // counting the run may have moved the window
    OS_TRY(os_cursor_need(&self->cursor, item->data, field->size));
    memcpy(to, os_cursor_at(&self->cursor, item->data), field->size);
  }
  return OS_OK;
}

static os_status os_decoder__mismatch(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                      const os_item *item) {
  static const char *const names[] = {"a varint", "8 bytes",       "length-delimited",
                                      "a group",  "a group's end", "4 bytes"};
  if (field != NULL)
    os_decoder_warn(self, &os_rule_wire_mismatch, item->number, item->start, item->end,
                    "%s is %s by definition, found %s at byte %" PRIu64 ": it counts as unknown",
                    os_decoder_field_name(self, item->number), names[field->wire], names[item->wire],
                    item->start);
  OS_TRY(os_decoder_keep(self, frame, item->number, item->wire, item->body, item->end));
  frame->at = item->end;
  return OS_OK;
}

static os_status os_decoder__packed(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                    const os_item *item) {
  OS_TRY(os_decoder_begin_run(self, frame, field, item));
  frame->packed = field;
  frame->packed_end = item->end;
  frame->at = item->data;
  return OS_OK;
}

static bool os_decoder__may_leave(const os_decoder *self, const os_frame *frame, const os_plan_field *field) {
  return self->ask.source->data == NULL && field->payload && !frame->roomy &&
         *os_plan_count(field, frame->message) == 0;
}

static void os_decoder__put_far(os_frame *frame, const os_plan_field *field, const os_far_list *far) {
  *(const void **)os_plan_member(field, frame->message) = far;
  frame->at = far->bytes.offset + far->bytes.length;
}

static os_status os_decoder__leave(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                   uint64_t start, os_far_list list) {
  const os_far_list *far;
  if (self->ask.skeleton != NULL && !self->ask.known) {
    far = os_skeleton_put_list(self->ask.skeleton, start, list);
    OS_TRY_ALLOC(far);
  } else {
    os_far_list *made = os_decoder_alloc(self, sizeof *made, 0, 8);
    OS_TRY_ALLOC(made);
    *made = list;
    far = made;
  }
  os_decoder__put_far(frame, field, far);
  return OS_OK;
}

// The same of a list that was left outside when the bytes were decoded before.
static bool os_decoder__leave_known(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                    const os_item *item) {
  const os_far_list *far = self->ask.known ? os_skeleton_list(self->ask.skeleton, item->start) : NULL;
  if (far != NULL) os_decoder__put_far(frame, field, far);
  return far != NULL;
}

// A long record of numbers that can stay outside; *left: it does.
static os_status os_decoder__leave_record(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                          const os_item *item, bool *left) {
  *left = os_decoder__may_leave(self, frame, field) && item->value > OS_PROTO_NEAR;
  if (!*left || os_decoder__leave_known(self, frame, field, item)) return OS_OK;
  uint64_t count = item->value / field->size;
  if (field->wire == OS_WIRE_VARINT) {
    OS_TRY(os_decoder__check_varints(self, frame, item, left));
    count = frame->counted;
  }
  if (!*left) return OS_OK; // filling says what is wrong
  return os_decoder__leave(self, frame, field, item->start,
                           (os_far_list){{item->data, item->value}, count, false});
}

// The same for elements one by one.
static os_status os_decoder__leave_run(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                       const os_item *item, bool *left) {
  *left = os_decoder__may_leave(self, frame, field) && frame->run != field;
  if (!*left || os_decoder__leave_known(self, frame, field, item)) return OS_OK;
  if (frame->count_at == 0) {
    frame->count_at = item->end;
    frame->counted = 1;
  }
  OS_TRY(os_decoder__count_items(self, frame, item, SIZE_MAX));
  uint64_t length = frame->count_at - item->start;
  frame->count_at = 0;
  *left = length > OS_PROTO_NEAR;
  if (!*left) return OS_OK;
  return os_decoder__leave(self, frame, field, item->start,
                           (os_far_list){{item->start, length}, frame->counted, true});
}

// More of a list that was left outside: first comes what was left, then this item again.
static os_status os_decoder__bring(os_decoder *self, os_frame *frame, const os_plan_field *field,
                                   const os_far_list *far, const os_item *item) {
  uint64_t start = far->bytes.offset, length = far->bytes.length;
  os_item left = {
      .number = item->number, .wire = OS_WIRE_BYTES, .value = length, .data = start, .end = start + length};
  frame->run = NULL;
  if (far->tagged) {
    *(void **)os_plan_member(field, frame->message) = NULL;
    OS_TRY(os_decoder__roomy(self, frame)); // so it does not stay outside again
    frame->at = start;
    frame->packed_end = start + length;
  } else {
    OS_TRY(os_decoder__packed(self, frame, field, &left));
  }
  frame->back = item->start;
  return OS_OK;
}

os_status os_decoder_fill(os_decoder *self, os_frame *frame, const os_item *item) {
  const os_plan_field *field = os_plan_find(frame->plan, item->number);
  if (field == NULL) return os_decoder__mismatch(self, frame, NULL, item);
  OS_TRY(os_decoder_home(self, frame->plan, field, frame->message));
  const os_far_list *far = os_plan_far(field, frame->message);
  if (far != NULL) return os_decoder__bring(self, frame, field, far, item);
  if (field->wire != item->wire) {
    if (!field->packable || item->wire != OS_WIRE_BYTES)
      return os_decoder__mismatch(self, frame, field, item);
    if (field->wire != OS_WIRE_VARINT && item->value % field->size != 0)
      return os_decoder_fault(self, &os_rule_wire_length, item->number, item->start, item->end,
                              "%s at byte %" PRIu64 " has %" PRIu64 " bytes of elements that take %u each",
                              os_decoder_field_name(self, item->number), item->start, item->value,
                              field->size);
    bool left;
    OS_TRY(os_decoder__leave_record(self, frame, field, item, &left));
    return left ? OS_OK : os_decoder__packed(self, frame, field, item);
  }
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) return os_decoder__submessage(self, frame, field, item);
  bool kept = false;
  if (field->repeated) {
    bool left;
    OS_TRY(os_decoder__leave_run(self, frame, field, item, &left));
    if (left) return OS_OK;
    OS_TRY(os_decoder_begin_run(self, frame, field, item));
    size_t *count = os_plan_count(field, frame->message);
    char *list = *(char **)os_plan_member(field, frame->message);
    OS_TRY(os_decoder__value(self, frame, field, item, list + *count * field->size, &kept));
    *count += !kept;
    frame->run_left--;
  } else {
    OS_TRY(os_decoder__value(self, frame, field, item, os_plan_member(field, frame->message), &kept));
    if (!kept) os_plan_set_has(field, frame->message);
  }
  frame->at = item->end;
  return OS_OK;
}

static os_status os_decoder__packed_varints(os_decoder *self, os_frame *frame, const os_plan_field *field) {
  uint64_t left = frame->packed_end - frame->at;
  OS_TRY(os_cursor_need(&self->cursor, frame->at, left < OS_VARINT_MAX ? (size_t)left : OS_VARINT_MAX));
  const uint8_t *from = os_cursor_at(&self->cursor, frame->at), *p = from;
  const uint8_t *end = from + (size_t)(os_cursor_limit(&self->cursor, frame->packed_end) - frame->at);
  // Where the window ends before the record does, a number may be cut there: it waits for the next window.
  const uint8_t *safe = (uint64_t)(end - from) < left ? end - OS_VARINT_MAX : end - 1;
  size_t *count = os_plan_count(field, frame->message);
  char *list = *(char **)os_plan_member(field, frame->message);
  while (p <= safe) {
    uint64_t value, at = frame->at + (uint64_t)(p - from);
    int n = os_varint_read(p, end, &value);
    if (n <= 0)
      return os_decoder_fault(self, n == 0 ? &os_rule_wire_truncated : &os_rule_wire_varint, field->field->id,
                              at, frame->packed_end, "element %zu of %s at byte %" PRIu64 " is %s", *count,
                              os_decoder_field_name(self, field->field->id), at,
                              n == 0 ? "cut" : "longer than ten bytes");
    p += n;
    if (field->type == PROTOBUF_C_TYPE_ENUM && !os_decoder__enum_has(field, (int32_t)value)) {
      OS_TRY(os_decoder_keep(self, frame, field->field->id, OS_WIRE_VARINT, at, at + (uint64_t)n));
      continue;
    }
    os_decoder__scalar(field->type, value, list + *count * field->size);
    ++*count;
  }
  frame->at += (uint64_t)(p - from);
  return OS_OK;
}

static os_status os_decoder__packed_fixed(os_decoder *self, os_frame *frame, const os_plan_field *field) {
  OS_TRY(os_cursor_need(&self->cursor, frame->at, field->size));
  uint64_t n = (os_cursor_limit(&self->cursor, frame->packed_end) - frame->at) / field->size;
  size_t *count = os_plan_count(field, frame->message);
  char *list = *(char **)os_plan_member(field, frame->message);
  memcpy(list + *count * field->size, os_cursor_at(&self->cursor, frame->at), (size_t)n * field->size);
  *count += (size_t)n;
  frame->at += n * field->size;
  return OS_OK;
}

os_status os_decoder_fill_packed(os_decoder *self, os_frame *frame) {
  while (frame->at < frame->packed_end) {
    uint64_t start = frame->at;
    OS_TRY(frame->packed->wire == OS_WIRE_VARINT ? os_decoder__packed_varints(self, frame, frame->packed)
                                                 : os_decoder__packed_fixed(self, frame, frame->packed));
    if (self->ask.skeleton != NULL)
      OS_TRY(os_decoder_take(self, start, os_cursor_at(&self->cursor, start), frame->at - start));
  }
  frame->packed = NULL;
  return OS_OK;
}
