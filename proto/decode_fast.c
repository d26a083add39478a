#include "decoder.h"

#include "utf8.h"

// The common case of what is in memory and stays there: known fields with small tags and lengths, ASCII texts, messages that come once.
// Whatever is not that is left, untouched, to the general path, which also knows all faults.

// The frame being filled, in registers.
typedef struct os_fast {
  os_decoder *decoder;
  os_frame *frame;
  const uint8_t *bytes; // the window; counting a run may move the cursor on
  uint64_t start, stop; // its place in the source
  const uint8_t *p, *end;
  bool whole; // the frame ends in the window
} os_fast;

// Where in the window a place in the source is.
static inline const uint8_t *os_fast__at(const os_fast *self, uint64_t at) {
  return self->bytes + (size_t)(at - self->start);
}

static inline void os_fast__enter(os_fast *self) {
  os_frame *frame = self->frame = os_decoder_frame(self->decoder);
  uint64_t limit = frame->end < self->stop ? frame->end : self->stop;
  self->whole = limit == frame->end;
  self->p = os_fast__at(self, frame->at);
  self->end = os_fast__at(self, limit);
}

// Where the next element of a list goes.
static inline os_status os_fast__slot(os_fast *self, const os_plan_field *field, const os_item *item,
                                      void **slot) {
  os_frame *frame = self->frame;
  if (frame->run != field || frame->run_left == 0)
    OS_TRY(os_decoder_begin_run(self->decoder, frame, field, item));
  frame->run_left--;
  size_t *count = os_plan_count(field, frame->message);
  *slot = *(char **)os_plan_member(field, frame->message) + (*count)++ * field->size;
  return OS_OK;
}

// The same, or where a singular field's value goes, which is there then.
static inline os_status os_fast__place(os_fast *self, const os_plan_field *field, const os_item *item,
                                       void **out) {
  if (field->repeated) return os_fast__slot(self, field, item, out);
  os_plan_set_has(field, self->frame->message);
  *out = os_plan_member(field, self->frame->message);
  return OS_OK;
}

// An empty message: there is nothing to go into.
static inline os_status os_fast__blank(os_fast *self, const os_plan *plan, const os_plan_field *field,
                                       const os_item *item) {
  os_decoder *decoder = self->decoder;
  void *slot, *blank = decoder->ask.shared ? plan->blank : NULL;
  if (blank == NULL) blank = os_decoder_message(decoder, plan, self->frame->message, item->data, item->end);
  OS_TRY_ALLOC(blank);
  ((os_plan *)(uintptr_t)plan)->blank = blank;
  OS_TRY(os_fast__slot(self, field, item, &slot));
  *(void **)slot = blank;
  if ((++decoder->work & 4095) == 0) OS_TRY(os_stop_check(decoder->ask.stop));
  self->p = os_fast__at(self, item->end);
  return OS_OK;
}

static inline os_status os_fast__message(os_fast *self, const os_plan_field *field, const os_item *item) {
  os_decoder *decoder = self->decoder;
  const os_plan *plan = os_plans_child(&decoder->plans, field);
  OS_TRY_ALLOC(plan);
  if (item->data == item->end && field->repeated) return os_fast__blank(self, plan, field, item);
  void *slot = os_plan_member(field, self->frame->message);
  size_t index = field->repeated ? *os_plan_count(field, self->frame->message) : 0;
  ProtobufCMessage *message = os_decoder_message(decoder, plan, self->frame->message, item->data, item->end);
  OS_TRY_ALLOC(message);
  if (field->repeated)
    OS_TRY(os_fast__slot(self, field, item, &slot));
  else
    os_plan_set_has(field, self->frame->message);
  *(ProtobufCMessage **)slot = message;
  self->frame->at = item->end;
  OS_TRY(os_decoder_push(decoder, plan, message, field, index, item->data, item->end));
  if ((++decoder->work & 4095) == 0) OS_TRY(os_stop_check(decoder->ask.stop));
  os_fast__enter(self);
  return OS_OK;
}

static inline os_status os_fast__bytes(os_fast *self, const os_plan_field *field, const os_item *item) {
  size_t n = (size_t)(item->end - item->data);
  ProtobufCBinaryData view = {n, n == 0 ? NULL : (uint8_t *)(uintptr_t)os_fast__at(self, item->data)};
  void *slot;
  OS_TRY(os_fast__place(self, field, item, &slot));
  memcpy(slot, &view, sizeof view);
  self->p = os_fast__at(self, item->end);
  return OS_OK;
}

// A number below 128, which is the same in every integer type but the zigzag ones.
static inline os_status os_fast__number(os_fast *self, const os_plan_field *field, const os_item *item) {
  void *slot;
  OS_TRY(os_fast__place(self, field, item, &slot));
  uint32_t small = (uint32_t)item->value;
  if (field->size == 8)
    memcpy(slot, &item->value, 8);
  else
    memcpy(slot, &small, 4);
  self->p = os_fast__at(self, item->end);
  return OS_OK;
}

// Four or eight bytes.
static inline os_status os_fast__fixed(os_fast *self, const os_plan_field *field, const os_item *item) {
  void *slot;
  OS_TRY(os_fast__place(self, field, item, &slot));
  const uint8_t *data = os_fast__at(self, item->data);
  if (field->size == 8)
    memcpy(slot, data, 8);
  else
    memcpy(slot, data, 4);
  self->p = os_fast__at(self, item->end);
  return OS_OK;
}

// The next item and its field; false when it is none of the common ones.
static inline bool os_fast__item(const os_fast *self, const os_plan_field **field, os_item *item) {
  const uint8_t *p = self->p, *end = self->end;
  uint32_t tag = *p++;
  if (tag >= 0x80) {
    if (p == end || *p >= 0x80) return false;
    tag = (tag & 0x7f) | (uint32_t)*p++ << 7;
  }
  if (tag >> 3 >= 64 || p == end) return false;
  unsigned index = self->frame->plan->by_number[tag >> 3];
  if (index == 0) return false;
  *field = &self->frame->plan->fields[index - 1];
  item->number = tag >> 3;
  item->wire = tag & 7;
  if ((*field)->wire != item->wire) return false;
  item->start = self->start + (uint64_t)(self->p - self->bytes);
  item->body = self->start + (uint64_t)(p - self->bytes);
  if (item->wire == OS_WIRE_32 || item->wire == OS_WIRE_64) {
    size_t size = (*field)->size;
    item->data = item->body;
    item->end = item->body + size;
    return size <= (size_t)(end - p);
  }
  size_t value = *p++;
  item->value = value;
  item->data = item->end = self->start + (uint64_t)(p - self->bytes);
  if (item->wire == OS_WIRE_VARINT) return value < 0x80;
  if (item->wire != OS_WIRE_BYTES) return false;
  if (value >= 0x80) {
    if (p == end || *p >= 0x80) return false;
    value = (value & 0x7f) | (size_t)*p++ << 7;
    item->value = value;
    item->data++;
  }
  item->end = item->data + value;
  return value <= (size_t)(end - p);
}

enum { MOST = 1 << 14 }; // items at a time

// An element of a long list that is only looked at. False: something in it is uncommon.
static inline bool os_fast__skim(os_fast *self, const os_plan_field *field, const os_item *item) {
  os_decoder *decoder = self->decoder;
  if (item->value > SKIM_MOST || decoder->frames.count + 1 >= decoder->ask.depth ||
      os_decoder_tells(decoder, field) ||
      !os_decoder_skim(decoder, field, os_fast__at(self, item->data), os_fast__at(self, item->end),
                       item->data))
    return false;
  ++*os_plan_count(field, self->frame->message);
  decoder->dropped = true;
  self->p = os_fast__at(self, item->end);
  return true;
}

os_status os_decoder_fast(os_decoder *self) {
  os_fast fast = {.decoder = self, .bytes = self->cursor.bytes, .start = self->cursor.start};
  fast.stop = fast.start + self->cursor.len;
  const os_frame *top = os_decoder_frame(self);
  bool near = self->ask.source->data != NULL, known = self->ask.known;
  if (top->packed != NULL || top->back != 0 || top->count_at != 0 || !os_cursor_stays(&self->cursor) ||
      top->at < fast.start || top->at > fast.stop)
    return OS_OK;
  os_fast__enter(&fast);
  for (unsigned left = MOST; left > 0; left--) {
    if (fast.p == fast.end) {
      if (!fast.whole || self->element == self->frames.count || fast.frame->plan->has_long) break;
      if (--self->frames.count == 0) return OS_OK;
      os_fast__enter(&fast);
      continue;
    }
    const os_plan_field *field;
    os_item item;
    if (!os_fast__item(&fast, &field, &item)) break;
    OS_TRY(os_decoder_home(self, fast.frame->plan, field, fast.frame->message));
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
      if (os_decoder_drops(self, field)) {
        if (!os_fast__skim(&fast, field, &item)) break;
        if ((++self->work & 4095) == 0) OS_TRY(os_stop_check(self->ask.stop));
        continue;
      }
      if (self->frames.count >= self->ask.depth) break;
      if (!field->repeated && os_plan_has(field, fast.frame->message)) break;
      OS_TRY(os_fast__message(&fast, field, &item));
    } else if (field->type == PROTOBUF_C_TYPE_BYTES) {
      if (!near && !field->text && item.value > OS_PROTO_NEAR) break;
      if (!near && field->payload) break;
      os_str text = {(const char *)os_fast__at(&fast, item.data), (size_t)item.value};
      if (!known && field->text && !os_utf8_is_ascii(text)) break;
      OS_TRY(os_fast__bytes(&fast, field, &item));
    } else if (field->wire != OS_WIRE_VARINT) {
      if (!near && field->payload) break;
      OS_TRY(os_fast__fixed(&fast, field, &item));
    } else if (field->plain || (item.value < 64 && (field->small >> item.value & 1) != 0)) {
      if (!near && field->payload) break;
      OS_TRY(os_fast__number(&fast, field, &item));
    } else {
      break;
    }
  }
  fast.frame->at = fast.start + (uint64_t)(fast.p - fast.bytes);
  return OS_OK;
}
