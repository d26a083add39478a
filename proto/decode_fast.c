#include "apart.h"
#include "decoder.h"
#include "utf8.h"

// The common case of what is in memory and stays there: known fields with small tags and lengths, ASCII texts, messages that come once.
// Whatever is not that is left, untouched, to the general path, which also knows all faults.

// All of it is one function in the end: what is below stays in registers.
#define FAST_INLINE __attribute__((always_inline)) static inline

// The frame being filled.
typedef struct os_fast {
  os_decoder *decoder;
  os_frame *frame;
  const uint8_t *bytes; // the window; counting a run may move the cursor on
  uint64_t start, stop; // its place in the source
  const uint8_t *p, *end;
  bool whole; // the frame ends in the window
} os_fast;

// A field as it lies in the window.
typedef struct os_fast_item {
  const os_plan_field *field;
  uint32_t wire, value;            // value: of a varint, which is below 128; of a length prefix
  const uint8_t *first, *at, *end; // its tag; what is behind tag and length; the next field
} os_fast_item;

// Where in the source a place in the window is, and the other way round.
FAST_INLINE uint64_t os_fast__place(const os_fast *self, const uint8_t *p) {
  return self->start + (size_t)(p - self->bytes);
}
FAST_INLINE const uint8_t *os_fast__at(const os_fast *self, uint64_t at) {
  return self->bytes + (size_t)(at - self->start);
}

FAST_INLINE void os_fast__enter(os_fast *self) {
  os_frame *frame = self->frame = os_decoder_frame(self->decoder);
  uint64_t limit = frame->end < self->stop ? frame->end : self->stop;
  self->whole = limit == frame->end;
  self->p = os_fast__at(self, frame->at);
  self->end = os_fast__at(self, limit);
}

// Counts the elements of a list that follow directly, where all of them have small tags and lengths; 0: it takes more to count
// them. `end` NULL: nobody knows where the frame ends.
static inline size_t os_fast__count(const os_item *item, const uint8_t *first, const uint8_t *p,
                                    const uint8_t *end) {
  uint8_t tag = *first;
  if (tag >= 0x80 || end == NULL || (item->wire != OS_WIRE_BYTES && item->wire != OS_WIRE_VARINT)) return 0;
  size_t count = 1;
  for (; p < end && *p == tag; count++) {
    if (end - p < 2 || p[1] >= 0x80) return 0;
    size_t n = 2 + (item->wire == OS_WIRE_BYTES ? p[1] : 0u);
    if (n > (size_t)(end - p)) return 0;
    p += n;
  }
  return p == end || *p < 0x80 ? count : 0;
}

// Before the first element of a run of them is put into its list; the item lies at `first` and the next one at `next`.
OS_APART static os_status os_fast__begin(os_decoder *decoder, os_frame *frame, const os_plan_field *field,
                                         const os_item *item, const uint8_t *first, const uint8_t *next,
                                         const uint8_t *end) {
  size_t count = os_fast__count(item, first, next, end);
  if (count == 0) return os_decoder_begin_run(decoder, frame, field, item);
  if (frame->roomy || *os_plan_count(field, frame->message) > 0) {
    OS_TRY(os_decoder_make_room(decoder, frame, field, count));
  } else {
    size_t size;
    if (!os_size_mul(count, field->size, &size)) return OS_OUT_OF_MEMORY;
    void *made = os_decoder_alloc(decoder, size, 0, field->size == 8 ? 8 : sizeof(void *));
    OS_TRY_ALLOC(made);
    *(void **)os_plan_member(field, frame->message) = made;
  }
  frame->run = field;
  frame->run_left = count;
  return OS_OK;
}

// Where the next element of a list goes.
FAST_INLINE os_status os_fast__slot(os_fast *self, const os_fast_item *item, void **slot) {
  os_frame *frame = self->frame;
  const os_plan_field *field = item->field;
  if (frame->run != field || frame->run_left == 0) {
    os_item whole = {.number = field->field->id, .wire = item->wire, .value = item->value};
    whole.start = whole.body = os_fast__place(self, item->first); // behind the tag is of no interest
    whole.data = os_fast__place(self, item->at);
    whole.end = os_fast__place(self, item->end);
    OS_TRY(os_fast__begin(self->decoder, frame, field, &whole, item->first, item->end,
                          self->whole ? self->end : NULL));
  }
  frame->run_left--;
  char *home = os_plan_home(field, frame->message);
  size_t *count = (size_t *)(void *)(home + field->quantifier);
  *slot = *(char **)(void *)(home + field->offset) + (*count)++ * field->size;
  return OS_OK;
}

// The same, or where a singular field's value goes, which is there then.
FAST_INLINE os_status os_fast__value(os_fast *self, const os_fast_item *item, void **out) {
  self->p = item->end;
  if (item->field->repeated) return os_fast__slot(self, item, out);
  os_plan_set_has(item->field, self->frame->message);
  *out = os_plan_member(item->field, self->frame->message);
  return OS_OK;
}

FAST_INLINE const os_plan *os_fast__plan(const os_fast *self, const os_plan_field *field) {
  return field->child != NULL ? field->child : os_plans_child(&self->decoder->plans, field);
}

FAST_INLINE os_status os_fast__tick(os_decoder *decoder) {
  return (++decoder->work & 4095) == 0 ? os_stop_check(decoder->ask.stop) : OS_OK;
}

// An empty message: there is nothing to go into.
FAST_INLINE os_status os_fast__blank(os_fast *self, const os_plan *plan, const os_fast_item *item) {
  os_decoder *decoder = self->decoder;
  uint64_t at = os_fast__place(self, item->at);
  void *slot, *blank = plan->blank;
  OS_TRY(os_fast__slot(self, item, &slot));
  bool first = slot == *(void **)os_plan_member(item->field, self->frame->message);
  decoder->blanks = slot == decoder->blank_next && !first ? decoder->blanks + 1 : 1;
  decoder->blank_next = (void **)slot + 1;
  if (blank == NULL || decoder->blanks - 1 < decoder->ask.shared - 1) // 0 is never reached
    blank = os_decoder_message(decoder, plan, self->frame->message, at, at);
  OS_TRY_ALLOC(blank);
  ((os_plan *)(uintptr_t)plan)->blank = blank;
  *(void **)slot = blank;
  self->p = item->end;
  return os_fast__tick(decoder);
}

FAST_INLINE os_status os_fast__message(os_fast *self, const os_fast_item *item) {
  os_decoder *decoder = self->decoder;
  const os_plan_field *field = item->field;
  const os_plan *plan = os_fast__plan(self, field);
  OS_TRY_ALLOC(plan);
  if (item->at == item->end && field->repeated) return os_fast__blank(self, plan, item);
  uint64_t start = os_fast__place(self, item->at), end = start + item->value;
  void *slot = os_plan_member(field, self->frame->message);
  size_t index = field->repeated ? *os_plan_count(field, self->frame->message) : 0;
  ProtobufCMessage *message = os_decoder_message(decoder, plan, self->frame->message, start, end);
  OS_TRY_ALLOC(message);
  if (field->repeated)
    OS_TRY(os_fast__slot(self, item, &slot));
  else
    os_plan_set_has(field, self->frame->message);
  *(ProtobufCMessage **)slot = message;
  self->frame->at = end;
  OS_TRY(os_decoder_push(decoder, plan, message, field, index, start, end));
  os_fast__enter(self);
  return os_fast__tick(decoder);
}

FAST_INLINE os_status os_fast__bytes(os_fast *self, const os_fast_item *item) {
  ProtobufCBinaryData view = {item->value, item->value == 0 ? NULL : (uint8_t *)(uintptr_t)item->at};
  void *slot;
  OS_TRY(os_fast__value(self, item, &slot));
  memcpy(slot, &view, sizeof view);
  return OS_OK;
}

// A number below 128, which is the same in every integer type but the zigzag ones.
FAST_INLINE os_status os_fast__number(os_fast *self, const os_fast_item *item) {
  void *slot;
  OS_TRY(os_fast__value(self, item, &slot));
  uint32_t small = item->value;
  uint64_t large = small;
  if (item->field->size == 8)
    memcpy(slot, &large, 8);
  else
    memcpy(slot, &small, 4);
  return OS_OK;
}

// Four or eight bytes.
FAST_INLINE os_status os_fast__fixed(os_fast *self, const os_fast_item *item) {
  void *slot;
  OS_TRY(os_fast__value(self, item, &slot));
  if (item->field->size == 8)
    memcpy(slot, item->at, 8);
  else
    memcpy(slot, item->at, 4);
  return OS_OK;
}

// The next item and its field; false when it is none of the common ones.
FAST_INLINE bool os_fast__item(const os_fast *self, os_fast_item *item) {
  const uint8_t *p = item->first = self->p, *end = self->end;
  uint32_t tag = *p++;
  if (tag >= 0x80) {
    if (p == end || *p >= 0x80) return false;
    tag = (tag & 0x7f) | (uint32_t)*p++ << 7;
  }
  if (tag >> 3 >= 64 || p == end) return false;
  unsigned index = self->frame->plan->by_number[tag >> 3];
  if (index == 0) return false;
  const os_plan_field *field = item->field = &self->frame->plan->fields[index - 1];
  item->wire = tag & 7;
  if (field->wire != item->wire) return false;
  if (item->wire == OS_WIRE_32 || item->wire == OS_WIRE_64) {
    item->value = 0;
    item->at = p;
    item->end = p + field->size;
    return field->size <= (size_t)(end - p);
  }
  uint32_t value = *p++;
  item->at = item->end = p;
  item->value = value;
  if (item->wire == OS_WIRE_VARINT) return value < 0x80;
  if (item->wire != OS_WIRE_BYTES) return false;
  if (value >= 0x80) {
    if (p == end || *p >= 0x80) return false;
    item->value = value = (value & 0x7f) | (uint32_t)*p++ << 7;
    item->at = p;
  }
  item->end = p + value;
  return value <= (size_t)(end - p);
}

enum { MOST = 1 << 14 }; // items at a time

// An element of a long list that is only looked at. False: something in it is uncommon.
FAST_INLINE bool os_fast__skim(os_fast *self, const os_fast_item *item) {
  os_decoder *decoder = self->decoder;
  if (item->value > SKIM_MOST || decoder->frames.count + 1 >= decoder->ask.depth ||
      os_decoder_tells(decoder, item->field) ||
      !os_decoder_skim(decoder, item->field, item->at, item->end, os_fast__place(self, item->at)))
    return false;
  ++*os_plan_count(item->field, self->frame->message);
  decoder->dropped = true;
  self->p = item->end;
  return true;
}

// What a field is that is no message. *more: it was a common one.
FAST_INLINE os_status os_fast__scalar(os_fast *self, const os_fast_item *item, bool *more) {
  const os_plan_field *field = item->field;
  bool near = self->decoder->ask.source->data != NULL;
  *more = near || !field->payload;
  if (field->type == PROTOBUF_C_TYPE_BYTES) {
    os_str text = {(const char *)item->at, item->value};
    *more = *more && (near || !field->far || item->value <= OS_PROTO_NEAR) &&
            (self->decoder->ask.known || !field->text || os_utf8_is_ascii(text));
    return *more ? os_fast__bytes(self, item) : OS_OK;
  }
  if (field->wire != OS_WIRE_VARINT) return *more ? os_fast__fixed(self, item) : OS_OK;
  *more = *more && (field->plain || (item->value < 64 && (field->small >> item->value & 1) != 0));
  return *more ? os_fast__number(self, item) : OS_OK;
}

os_status os_decoder_fast(os_decoder *self) {
  os_fast fast = {.decoder = self, .bytes = self->cursor.bytes, .start = self->cursor.start};
  fast.stop = fast.start + self->cursor.len;
  const os_frame *top = os_decoder_frame(self);
  if (top->packed != NULL || top->back != 0 || top->count_at != 0 || !os_cursor_stays(&self->cursor) ||
      top->at < fast.start || top->at > fast.stop)
    return OS_OK;
  os_fast__enter(&fast);
  bool more = true;
  for (unsigned left = MOST; left > 0 && more; left--) {
    if (fast.p == fast.end) {
      if (!fast.whole || self->element == self->frames.count || fast.frame->plan->has_long) break;
      if (--self->frames.count == 0) return OS_OK;
      os_fast__enter(&fast);
      continue;
    }
    os_fast_item item;
    if (!os_fast__item(&fast, &item)) break;
    const os_plan_field *field = item.field;
    OS_TRY(os_decoder_home(self, fast.frame->plan, field, fast.frame->message));
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
      OS_TRY(os_fast__scalar(&fast, &item, &more));
    } else if (os_decoder_drops(self, field)) {
      if (!os_fast__skim(&fast, &item)) break;
      OS_TRY(os_fast__tick(self));
    } else {
      if (self->frames.count >= self->ask.depth) break;
      if (!field->repeated && os_plan_has(field, fast.frame->message)) break;
      OS_TRY(os_fast__message(&fast, &item));
    }
  }
  fast.frame->at = os_fast__place(&fast, fast.p);
  return OS_OK;
}
