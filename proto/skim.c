#include "decoder.h"

#include "utf8.h"

// Elements of long lists that are only looked at: most say nothing that decoding them would find fault with. Whatever is not
// common, and what would stay outside as a list, is left to the decoder.

enum { DEPTH = 12 };

typedef struct os_skim_frame {
  const os_plan *plan;
  const uint8_t *end;
} os_skim_frame;

typedef struct os_skim {
  os_decoder *decoder;
  const uint8_t *first; // of the element
  uint64_t start;       // its place in the source
  const uint8_t *from;  // the skeleton has what is in front
  bool outside;         // long bytes stay outside
  size_t depth;
  os_skim_frame frames[DEPTH];
} os_skim;

static bool os_skim__take(os_skim *self, const uint8_t *to) {
  if (!self->outside || to == self->from) return true;
  uint64_t at = self->start + (uint64_t)(self->from - self->first);
  return os_decoder_take(self->decoder, at, self->from, (uint64_t)(to - self->from)) == OS_OK;
}

// A record of numbers: as many as there are of fixed size, or numbers that all end.
static bool os_skim__packed(const os_skim *self, const os_plan_field *field, const uint8_t *p, size_t n) {
  if (!field->packable || (field->payload && self->outside && n > OS_PROTO_NEAR)) return false;
  if (field->wire != OS_WIRE_VARINT) return n % field->size == 0;
  if (!field->plain) return false;
  unsigned length = 0;
  for (size_t i = 0; i < n; i++) {
    if (++length > OS_VARINT_MAX) return false;
    if (p[i] < 0x80) length = 0;
  }
  return length == 0;
}

// What follows a tag with a length: text, bytes, a message, numbers. *p is behind the length, afterwards behind the item or
// at the message's first byte.
static inline bool os_skim__bytes(os_skim *self, const os_plan_field *field, const uint8_t **p, size_t n) {
  const uint8_t *data = *p;
  *p += n;
  if (field->wire != OS_WIRE_BYTES) return os_skim__packed(self, field, data, n);
  if (field->payload && self->outside) return false; // all of them may be long
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
    if (self->depth == DEPTH || self->decoder->frames.count + self->depth >= self->decoder->ask.depth)
      return false;
    const os_plan *plan = os_plans_child(&self->decoder->plans, field);
    if (plan == NULL) return false;
    self->frames[self->depth++] = (os_skim_frame){plan, *p};
    *p = data;
    return true;
  }
  if (field->text) return os_utf8_is_ascii((os_str){(const char *)data, n});
  if (self->outside && field->far && n > OS_PROTO_NEAR) {
    if (!os_skim__take(self, data)) return false;
    self->from = *p;
  }
  return true;
}

// An item of the innermost message.
static inline bool os_skim__item(os_skim *self, const uint8_t **at) {
  const os_skim_frame *frame = &self->frames[self->depth - 1];
  const uint8_t *p = *at, *end = frame->end;
  uint32_t tag = *p++;
  if (tag >= 0x80) {
    if (p == end || *p >= 0x80) return false;
    tag = (tag & 0x7f) | (uint32_t)*p++ << 7;
  }
  if (tag >> 3 >= 64 || p == end) return false;
  unsigned index = frame->plan->by_number[tag >> 3];
  if (index == 0) return false;
  const os_plan_field *field = &frame->plan->fields[index - 1];
  uint32_t wire = tag & 7;
  uint64_t value = *p;
  int n = value < 0x80 ? 1 : 0;
  if (wire == OS_WIRE_BYTES) {
    if (n == 0) n = os_varint_read(p, end, &value);
    if (n <= 0) return false;
    p += n;
    *at = p;
    return value <= (size_t)(end - p) && os_skim__bytes(self, field, at, (size_t)value);
  }
  if (wire != field->wire || (field->payload && self->outside)) return false;
  if (wire == OS_WIRE_VARINT) {
    if (n == 0) n = os_varint_read(p, end, &value);
    *at = p + n;
    return n > 0 && (field->plain || (value < 64 && (field->small >> value & 1) != 0));
  }
  size_t size = wire == OS_WIRE_32 ? 4 : 8;
  *at = p + size;
  return (wire == OS_WIRE_32 || wire == OS_WIRE_64) && size <= (size_t)(end - p);
}

bool os_decoder_skim(os_decoder *self, const os_plan_field *field, const uint8_t *p, const uint8_t *end,
                     uint64_t start) {
  const os_plan *plan = os_plans_child(&self->plans, field);
  if (plan == NULL) return false;
  os_skim skim = {.decoder = self, .first = p, .start = start, .from = p};
  skim.outside = self->ask.source->data == NULL;
  skim.frames[0] = (os_skim_frame){plan, end};
  skim.depth = 1;
  for (;;) {
    while (p == skim.frames[skim.depth - 1].end)
      if (--skim.depth == 0) return os_skim__take(&skim, end);
    if (!os_skim__item(&skim, &p)) return false;
  }
}
