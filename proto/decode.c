#include "decode.h"

#include "decoder.h"
#include "wire_rules.h"

#include <inttypes.h>

// A tag and a varint fit into HEADER bytes; a whole number of the largest slabs fits into a chunk of the arena.
enum { HEADER = 24, SLAB_FIRST = 1024, SLAB_LAST = (1 << 15) - 128 };

void *os_decoder_alloc(os_decoder *self, size_t size, size_t lead, size_t align) {
  os_decoder_room *to = &self->room;
  size_t skip = (size_t)(0 - ((uintptr_t)to->slab + lead)) & (align - 1), room;
  if (!os_size_add(size, skip, &room)) return NULL;
  if (room > (size_t)(to->slab_end - to->slab)) {
    skip = (0 - lead) & (align - 1); // slabs are aligned
    if (size >= SLAB_LAST / 4) {
      char *block = size > SIZE_MAX - skip ? NULL : os_arena_zalloc(to->arena, size + skip);
      return block == NULL ? NULL : block + skip;
    }
    size_t slab = to->slab_size < size * 4 ? size * 4 : to->slab_size;
    to->slab = os_arena_zalloc(to->arena, slab);
    to->slab_end = to->slab == NULL ? NULL : to->slab + slab;
    if (to->slab == NULL) return NULL;
    to->slab_size = to->slab_size * 2 < SLAB_LAST ? to->slab_size * 2 : SLAB_LAST;
  }
  char *block = to->slab + skip;
  to->slab = block + size;
  return block;
}

void *os_decoder_alloc_text(os_decoder *self, size_t size) {
  os_decoder_room *to = &self->room;
  if (size > (size_t)(to->text_end - to->text)) {
    if (size >= SLAB_LAST / 4 || self->element > 0) return os_arena_alloc(to->arena, size);
    to->text = os_arena_alloc(to->arena, SLAB_LAST);
    to->text_end = to->text == NULL ? NULL : to->text + SLAB_LAST;
    if (to->text == NULL) return NULL;
  }
  void *block = to->text;
  to->text += size;
  return block;
}

ProtobufCMessage *os_decoder_message(os_decoder *self, const os_plan *plan, void *parent, uint64_t start,
                                     uint64_t end) {
  size_t head = os_proto_head_size(end);
  void *block = os_decoder_alloc(self, head + plan->type->sizeof_message, head, 8);
  return block == NULL ? NULL : os_proto_place(block, plan->type, parent, start, end);
}

os_status os_decoder_make_home(os_decoder *self, const os_plan *plan, const os_plan_field *field,
                               void *message) {
  void **rare = (void **)(void *)((char *)message + field->aside);
  if (*rare == NULL) *rare = os_decoder_alloc(self, plan->rare->sizeof_message, 0, 8);
  return *rare == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_decoder_push(os_decoder *self, const os_plan *plan, ProtobufCMessage *message,
                          const os_plan_field *field, size_t index, uint64_t start, uint64_t end) {
  if (self->frames.count == self->frames.room &&
      !os_arena_room(self->ask.arena, (void **)&self->frames.items, self->frames.count, &self->frames.room,
                     sizeof *self->frames.items))
    return OS_OUT_OF_MEMORY;
  os_frame *frame = &self->frames.items[self->frames.count++];
  *frame = (os_frame){.plan = plan, .message = message, .field = field, .index = index, .end = end};
  frame->start = frame->at = start;
  return OS_OK;
}

os_status os_decoder_pop(os_decoder *self) {
  const os_frame *frame = os_decoder_frame(self);
  if (frame->plan->has_long && self->ask.scratch != NULL && self->element == 0) {
    os_counted *counted = OS_PUSH(self->ask.arena, &self->counted);
    OS_TRY_ALLOC(counted);
    *counted = (os_counted){frame->plan, frame->message};
  }
  if (self->element == self->frames.count) {
    if (os_decoder_tells(self, frame->field)) OS_TRY(self->ask.seen(self->ask.context, frame->message));
    os_arena_rewind(self->ask.scratch);
    self->room = self->kept;
    self->element = 0;
  }
  self->frames.count--;
  return OS_OK;
}

// Reads what is behind the tag. `p` is behind it, `limit` the end of what can be read.
static os_status os_decoder__body(os_decoder *self, const os_frame *frame, const uint8_t *p,
                                  const uint8_t *limit, os_item *item) {
  uint64_t value = 0, left = frame->end - item->body;
  int n;
  switch (item->wire) {
  case OS_WIRE_VARINT:
  case OS_WIRE_BYTES:
    n = os_varint_read(p, limit, &value);
    if (n == 0)
      return os_decoder_fault(self, &os_rule_wire_truncated, item->number, item->start, frame->end,
                              "%s at byte %" PRIu64 " ends in the middle of a number",
                              os_decoder_field_name(self, item->number), item->start);
    if (n < 0)
      return os_decoder_fault(self, &os_rule_wire_varint, item->number, item->start,
                              item->body + OS_VARINT_MAX,
                              "the number in %s at byte %" PRIu64 " is longer than ten bytes",
                              os_decoder_field_name(self, item->number), item->body);
    item->value = value;
    item->data = item->body + (uint64_t)n;
    item->end = item->data;
    if (item->wire == OS_WIRE_VARINT) return OS_OK;
    if (value > frame->end - item->data)
      return os_decoder_fault(self, &os_rule_wire_truncated, item->number, item->start, frame->end,
                              "%s at byte %" PRIu64 " declares %" PRIu64 " bytes, but %s",
                              os_decoder_field_name(self, item->number), item->start, value,
                              os_decoder_room_left(self, item->data));
    item->end += value;
    return OS_OK;
  case OS_WIRE_64:
  case OS_WIRE_32:
    n = item->wire == OS_WIRE_64 ? 8 : 4;
    if (left < (uint64_t)n)
      return os_decoder_fault(self, &os_rule_wire_truncated, item->number, item->start, frame->end,
                              "%s at byte %" PRIu64 " takes %d bytes, but %s",
                              os_decoder_field_name(self, item->number), item->start, n,
                              os_decoder_room_left(self, item->body));
    item->data = item->body;
    item->end = item->body + (uint64_t)n;
    return OS_OK;
  case OS_WIRE_GROUP:
  case OS_WIRE_END: item->data = item->end = item->body; return OS_OK;
  default:
    return os_decoder_fault(self, &os_rule_wire_type, item->number, item->start, item->body,
                            "wire type %u at byte %" PRIu64 " does not exist (%s)", item->wire, item->start,
                            os_decoder_field_name(self, item->number));
  }
}

os_status os_decoder_item(os_decoder *self, const os_frame *frame, uint64_t at, os_item *item) {
  uint64_t left = frame->end - at;
  OS_TRY(os_cursor_need(&self->cursor, at, left < HEADER ? (size_t)left : HEADER));
  const uint8_t *p = os_cursor_at(&self->cursor, at);
  item->start = at;
  if (left >= 2 && p[0] < 0x80 && p[0] >= 8 && (p[0] & 7) == OS_WIRE_BYTES && p[1] < 0x80 &&
      p[1] <= left - 2) {
    item->number = p[0] >> 3; // a small field, as most are
    item->wire = OS_WIRE_BYTES;
    item->value = p[1];
    item->body = at + 1;
    item->data = at + 2;
    item->end = at + 2 + p[1];
    return OS_OK;
  }
  const uint8_t *limit = p + (size_t)(os_cursor_limit(&self->cursor, frame->end) - at);
  uint64_t tag = 0;
  int n = os_varint_read(p, limit, &tag);
  if (n == 0)
    return os_decoder_fault(self, &os_rule_wire_truncated, 0, at, frame->end,
                            "the tag at byte %" PRIu64 " is cut: %s", at, os_decoder_room_left(self, at));
  if (n < 0)
    return os_decoder_fault(self, &os_rule_wire_varint, 0, at, at + OS_VARINT_MAX,
                            "the tag at byte %" PRIu64 " is longer than ten bytes", at);
  uint64_t number = tag >> 3;
  if (number == 0 || number > OS_FIELD_MAX)
    return os_decoder_fault(self, &os_rule_wire_tag, 0, at, at + (uint64_t)n,
                            "field number %" PRIu64 " at byte %" PRIu64 " is not possible", number, at);
  *item = (os_item){
      .number = (uint32_t)number, .wire = (uint32_t)(tag & 7), .start = at, .body = at + (uint64_t)n};
  return os_decoder__body(self, frame, p + n, limit, item);
}

static os_status os_decoder__tick(os_decoder *self) {
  return (++self->work & 4095) == 0 ? os_stop_check(self->ask.stop) : OS_OK;
}

static os_status os_decoder__too_deep(os_decoder *self, const os_item *item) {
  os_decoder_fault(self, &os_rule_wire_depth, item->number, item->start, item->body,
                   "messages are nested more than %u deep at byte %" PRIu64, self->ask.depth, item->start);
  return OS_LIMIT;
}

// An item without the bytes that a length prefix is in front of: whoever reads those takes them.
static os_status os_decoder__take_head(os_decoder *self, const os_item *item) {
  uint64_t end = item->wire == OS_WIRE_BYTES ? item->data : item->end;
  return os_decoder_take(self, item->start, os_cursor_at(&self->cursor, item->start), end - item->start);
}

// Moves to the end of the group that `item` starts; *end is behind its end tag.
static os_status os_decoder__skip_group(os_decoder *self, const os_frame *frame, const os_item *item,
                                        uint64_t *end) {
  os_item inner = *item;
  if (self->groups.count == 0) self->group_at = item->start;
  do {
    if (self->group_at >= frame->end)
      return os_decoder_fault(self, &os_rule_wire_group, item->number, item->start, frame->end,
                              "the group of %s at byte %" PRIu64 " is still open at byte %" PRIu64,
                              os_decoder_field_name(self, item->number), item->start, frame->end);
    OS_TRY(os_decoder__tick(self));
    OS_TRY(os_decoder_item(self, frame, self->group_at, &inner));
    if (self->ask.skeleton != NULL) OS_TRY(os_decoder__take_head(self, &inner));
    if (inner.wire == OS_WIRE_GROUP) {
      if (self->frames.count + self->groups.count >= self->ask.depth)
        return os_decoder__too_deep(self, &inner);
      uint32_t *number = OS_PUSH(self->ask.arena, &self->groups);
      OS_TRY_ALLOC(number);
      *number = inner.number;
    } else if (inner.wire == OS_WIRE_END) {
      uint32_t open = self->groups.items[self->groups.count - 1];
      if (open != inner.number)
        return os_decoder_fault(self, &os_rule_wire_group, item->number, inner.start, inner.body,
                                "group %u is ended by the end tag of group %u at byte %" PRIu64, open,
                                inner.number, inner.start);
      self->groups.count--;
    }
    self->group_at = inner.end;
  } while (self->groups.count > 0);
  *end = self->group_at;
  return OS_OK;
}

static os_status os_decoder__stray_end(os_decoder *self, const os_item *item) {
  return os_decoder_fault(self, &os_rule_wire_group, item->number, item->start, item->body,
                          "group %u ends at byte %" PRIu64 ", but none was begun", item->number, item->start);
}

// Fills the top frame until it ends or a message inside it begins; one item of it when the source is in memory.
static os_status os_decoder__step(os_decoder *self) {
  os_frame *frame = os_decoder_frame(self);
  size_t depth = self->frames.count;
  os_item item;
  do {
    if (frame->packed != NULL) OS_TRY(os_decoder_fill_packed(self, frame));
    if (frame->back != 0 && frame->at >= frame->packed_end) {
      frame->at = frame->back;
      frame->back = 0;
    }
    if (frame->at >= frame->end) return os_decoder_pop(self);
    OS_TRY(os_decoder__tick(self));
    OS_TRY(os_decoder_item(self, frame, frame->at, &item));
    if (item.wire == OS_WIRE_END) return os_decoder__stray_end(self, &item);
    if (self->ask.skeleton != NULL) OS_TRY(os_decoder__take_head(self, &item));
    if (item.wire == OS_WIRE_GROUP) {
      OS_TRY(os_decoder__skip_group(self, frame, &item, &item.end));
      OS_TRY(os_decoder_keep(self, frame, item.number, item.wire, item.body, item.end));
      frame->at = item.end;
      continue; // to the condition below
    }
    if (depth >= self->ask.depth && item.wire == OS_WIRE_BYTES) {
      const os_plan_field *field = os_plan_find(frame->plan, item.number);
      if (field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE) return os_decoder__too_deep(self, &item);
    }
    OS_TRY(os_decoder_fill(self, frame, &item));
  } while (self->frames.count == depth && (!os_cursor_is_lasting(&self->cursor) || frame->packed != NULL));
  return OS_OK;
}

os_status os_decoder_new(const os_decoding *decoding, os_decoder **out) {
  os_decoder *self = OS_ARENA_NEW(decoding->arena, os_decoder);
  *out = self;
  OS_TRY_ALLOC(self);
  self->ask = *decoding;
  if (self->ask.depth == 0) self->ask.depth = OS_PROTO_DEPTH_DEFAULT;
  if (self->ask.start == 0 && self->ask.end == 0) self->ask.end = decoding->source->length;
  if (self->ask.end > decoding->source->length || self->ask.start > self->ask.end) return OS_INVALID_ARGUMENT;
  if (decoding->source->length >> 44 != 0) return OS_LIMIT; // no file: numbers in findings would be cut
  self->plans.arena = decoding->arena;
  self->room = (os_decoder_room){.arena = decoding->arena, .slab_size = SLAB_FIRST};
  OS_TRY(os_cursor_init(&self->cursor, decoding->arena, decoding->source,
                        decoding->known ? decoding->skeleton : NULL));
  const os_plan *plan = os_plans_get(&self->plans, decoding->type);
  OS_TRY_ALLOC(plan);
  self->root = os_decoder_message(self, plan, NULL, self->ask.start, self->ask.end);
  OS_TRY_ALLOC(self->root);
  return os_decoder_push(self, plan, self->root, NULL, 0, self->ask.start, self->ask.end);
}

// Elements that are not there were counted all the same, for places in findings.
static void os_decoder__uncount(os_decoder *self) {
  for (size_t i = 0; i < self->counted.count; i++) {
    const os_counted *counted = &self->counted.items[i];
    for (uint32_t k = 0; k < counted->plan->count; k++)
      if (counted->plan->fields[k].is_long) *os_plan_count(&counted->plan->fields[k], counted->message) = 0;
  }
}

os_status os_decoder_run(os_decoder *self, void **message) {
  static os_status (*const rounds[])(os_decoder *self) = {os_decoder__step, os_decoder_fast};
  *message = NULL;
  bool near = os_cursor_is_lasting(&self->cursor);
  for (bool fast = near; self->status == OS_OK && self->frames.count > 0; fast = near && !fast) {
    os_status status = rounds[fast](self);
    if (status == OS_NEEDS_HOST) return status;
    self->status = status;
  }
  if (self->status != OS_OK) return self->status;
  os_decoder__uncount(self);
  *message = self->root;
  return self->status;
}

bool os_decoder_is_outline(const os_decoder *self) { return self->dropped; }

os_status os_proto_decode(const os_decoding *decoding, void **message) {
  os_decoder *decoder;
  *message = NULL;
  OS_TRY(os_decoder_new(decoding, &decoder));
  return os_decoder_run(decoder, message);
}
