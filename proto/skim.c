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
  size_t depth;         // of `frames`: messages around the innermost one
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

// Text, bytes or numbers, all of it: n bytes at p.
static inline bool os_skim__bytes(os_skim *self, const os_plan_field *field, const uint8_t *p, size_t n) {
  if (field->wire != OS_WIRE_BYTES) return os_skim__packed(self, field, p, n);
  if (field->payload && self->outside) return false; // all of them may be long
  if (field->text) return os_utf8_is_ascii((os_str){(const char *)p, n});
  if (self->outside && field->far && n > OS_PROTO_NEAR) {
    if (!os_skim__take(self, p)) return false;
    self->from = p + n;
  }
  return true;
}

// A field that has no length: its value begins at *at.
static inline bool os_skim__number(const os_skim *self, const os_plan_field *field, uint32_t wire,
                                   const uint8_t **at, const uint8_t *end) {
  const uint8_t *p = *at;
  if (wire != field->wire || (field->payload && self->outside)) return false;
  if (wire == OS_WIRE_VARINT) {
    uint64_t value = *p;
    int n = value < 0x80 ? 1 : os_varint_read(p, end, &value);
    *at = p + n;
    return n > 0 && (field->plain || (value < 64 && (field->small >> value & 1) != 0));
  }
  size_t size = wire == OS_WIRE_32 ? 4 : 8;
  *at = p + size;
  return (wire == OS_WIRE_32 || wire == OS_WIRE_64) && size <= (size_t)(end - p);
}

// A tag of up to two bytes of a field that is known, with something behind it; NULL: there is none.
static inline const os_plan_field *os_skim__tag(const os_plan *plan, const uint8_t **at, const uint8_t *end,
                                                uint32_t *wire) {
  const uint8_t *p = *at;
  uint32_t tag = *p++;
  if (tag >= 0x80) {
    if (p == end || *p >= 0x80) return NULL;
    tag = (tag & 0x7f) | (uint32_t)*p++ << 7;
  }
  if (tag >> 3 >= 64 || p == end) return NULL;
  *at = p;
  *wire = tag & 7;
  unsigned index = plan->by_number[tag >> 3];
  return index == 0 ? NULL : &plan->fields[index - 1];
}

// The length at *at; false: it does not fit.
static inline bool os_skim__length(const uint8_t **at, const uint8_t *end, size_t *length) {
  uint64_t value = **at;
  int n = value < 0x80 ? 1 : os_varint_read(*at, end, &value);
  if (n <= 0) return false;
  *at += n;
  *length = (size_t)value;
  return value <= (size_t)(end - *at);
}

// Whether messages may be so much deeper.
static inline bool os_skim__deeper(const os_skim *self) {
  return self->depth + 1 < DEPTH && self->decoder->frames.count + self->depth + 1 < self->decoder->ask.depth;
}

bool os_decoder_skim(os_decoder *self, const os_plan_field *list, const uint8_t *p, const uint8_t *end,
                     uint64_t start) {
  const os_plan *plan = os_plans_child(&self->plans, list);
  if (plan == NULL) return false;
  os_skim skim = {.decoder = self, .first = p, .start = start, .from = p};
  skim.outside = self->ask.source->data == NULL;
  for (;;) {
    while (p == end) {
      if (skim.depth == 0) return os_skim__take(&skim, end);
      plan = skim.frames[--skim.depth].plan;
      end = skim.frames[skim.depth].end;
    }
    uint32_t wire;
    size_t length;
    const os_plan_field *field = os_skim__tag(plan, &p, end, &wire);
    if (field == NULL) return false;
    if (wire != OS_WIRE_BYTES) {
      if (!os_skim__number(&skim, field, wire, &p, end)) return false;
      continue;
    }
    if (!os_skim__length(&p, end, &length)) return false;
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
      if (!os_skim__bytes(&skim, field, p, length)) return false;
      p += length;
      continue;
    }
    const os_plan *child = os_plans_child(&self->plans, field);
    if (child == NULL || !os_skim__deeper(&skim)) return false;
    skim.frames[skim.depth++] = (os_skim_frame){plan, end};
    plan = child;
    end = p + length;
  }
}
