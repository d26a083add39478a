#include "json_write.h"

#include "decimal.h"
#include "double_print.h"
#include "json_rules.h"
#include "utf8.h"

#include <math.h>

static void os_json__escape(os_text *out, unsigned char c) {
  static const char from[] = "\b\f\n\r\t", into[] = "bfnrt", hex[] = "0123456789abcdef";
  const char *known = c == 0 ? NULL : strchr(from, c);
  char escape[6] = {'\\', (char)c};
  size_t len = 2;
  if (known != NULL)
    escape[1] = into[known - from];
  else if (c < 0x20) {
    memcpy(escape + 1, "u00", 3);
    escape[4] = hex[c >> 4];
    escape[5] = hex[c & 15];
    len = 6;
  }
  os_text_put(out, (os_str){escape, len});
}

static void os_json__write_valid(os_text *out, os_str text) {
  size_t plain = 0;
  for (size_t i = 0; i < text.len; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    os_text_put(out, os_str_slice(text, plain, i));
    os_json__escape(out, c);
    plain = i + 1;
  }
  os_text_put(out, os_str_slice(text, plain, text.len));
}

void os_json_write_string(os_text *out, os_str text) {
  os_text_char(out, '"');
  while (text.len > 0) {
    size_t valid = os_utf8_valid(text);
    os_json__write_valid(out, (os_str){text.data, valid});
    if (valid == text.len) break;
    os_text_puts(out, "\xef\xbf\xbd");
    text = os_str_slice(text, valid + 1, text.len);
  }
  os_text_char(out, '"');
}

void os_json_write_double(os_text *out, double value) {
  char room[OS_DOUBLE_ROOM];
  if (!isfinite(value))
    os_text_puts(out, "null");
  else
    os_text_put(out, (os_str){room, os_double_print(value, room)});
}

// ---- Walking a tree without recursion ---------------------------------------------------------------------

typedef enum os_json_form { PLAIN, PRETTY, CANONICAL } os_json_form;

typedef struct os_json_writer {
  os_text *out;
  os_report *report; // CANONICAL: takes what has no such form; may be NULL
  const os_json_document *document;
  os_json_form form;
  unsigned indent;
  os_status status;
} os_json_writer;

static void os_json__write_number(os_json_writer *self, const os_json *node) {
  os_str source = os_json_source(self->document, node);
  if (self->form != CANONICAL) {
    os_text_put(self->out, source);
    return;
  }
  os_decimal value = os_decimal_of(source);
  char room[OS_DOUBLE_ROOM];
  size_t len = value.count == 0 ? 0 : os_decimal_print_shortest(&value, source, room);
  if (value.count == 0)
    os_text_char(self->out, '0');
  else if (len > 0)
    os_text_put(self->out, (os_str){room, len});
  else {
    os_text_put(self->out, source);
    if (self->report == NULL) return;
    os_finding *finding = os_report_add(self->report, &os_rule_json_number_range,
                                        "%.*s is beyond binary64, so there is no canonical form of it.",
                                        OS_ARG(os_json_excerpt(self->document, self->report->arena, node)));
    os_json_where(self->document, self->report->arena, node, &finding->where);
  }
}

static void os_json__write_scalar(os_json_writer *self, const os_json *node) {
  switch (os_json_type_of(node)) {
  case OS_JSON_STRING: os_json_write_string(self->out, os_json_string(node)); break;
  case OS_JSON_NUMBER: os_json__write_number(self, node); break;
  case OS_JSON_TRUE: os_text_puts(self->out, "true"); break;
  case OS_JSON_FALSE: os_text_puts(self->out, "false"); break;
  default: os_text_puts(self->out, "null");
  }
}

// Order of UTF-16 code units: that of UTF-8's bytes, but that U+E000 to U+FFFF come after everything beyond U+FFFF.
static int os_json__utf16_order(os_str a, os_str b) {
  size_t least = a.len < b.len ? a.len : b.len, i = 0;
  while (i < least && a.data[i] == b.data[i]) i++;
  if (i == least) return a.len < b.len ? -1 : a.len > b.len;
  unsigned x = (unsigned char)a.data[i], y = (unsigned char)b.data[i];
  if (x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0)) return x >= 0xf0 ? -1 : 1;
  return x < y ? -1 : 1;
}

static void os_json__sort_members(os_json **items, os_json **spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      size_t middle = start + width < count ? start + width : count;
      size_t end = start + 2 * width < count ? start + 2 * width : count;
      for (size_t to = start, a = start, b = middle; to < end; to++) {
        bool left = a < middle &&
                    (b >= end || os_json__utf16_order(os_json_key(items[a]), os_json_key(items[b])) <= 0);
        spare[to] = left ? items[a++] : items[b++];
      }
    }
    memcpy(items, spare, count * sizeof *items);
  }
}

// An open container: the child to come next, as a link or as a place in a sorted list.
typedef struct os_json_frame {
  const os_json *container, *next;
  os_json **sorted;
  size_t at;
} os_json_frame;

typedef struct os_json_frames {
  os_json_frame *items;
  size_t count, room;
} os_json_frames;

static bool os_json__enter(os_json_writer *self, os_json_frames *frames, os_arena *arena,
                           const os_json *node) {
  os_json_frame *frame = OS_PUSH(arena, frames);
  if (frame == NULL) return false;
  frame->container = node;
  frame->next = os_json_first(node);
  if (self->form != CANONICAL || !os_json_is(node, OS_JSON_OBJECT) || node->length < 2) return true;
  frame->sorted = OS_ARENA_ARRAY(arena, node->length, os_json *);
  os_json **spare = OS_ARENA_ARRAY(arena, node->length, os_json *);
  if (frame->sorted == NULL || spare == NULL) return false;
  size_t count = 0;
  OS_JSON_EACH(child, node) frame->sorted[count++] = child;
  os_json__sort_members(frame->sorted, spare, count);
  frame->next = frame->sorted[0];
  return true;
}

static void os_json__advance(os_json_frame *frame) {
  frame->at++;
  if (frame->sorted == NULL)
    frame->next = os_json_next(frame->next);
  else
    frame->next = frame->at < frame->container->length ? frame->sorted[frame->at] : NULL;
}

static void os_json__line(os_json_writer *self, size_t depth) {
  if (self->form != PRETTY) return;
  os_text_char(self->out, '\n');
  for (size_t i = 0; i < self->indent + depth; i++) os_text_puts(self->out, "  ");
}

static os_status os_json__write(os_json_writer *self, os_arena *arena, const os_json *node) {
  os_json_frames frames = {0};
  for (;;) {
    bool container = os_json_is(node, OS_JSON_ARRAY) || os_json_is(node, OS_JSON_OBJECT);
    if (!container)
      os_json__write_scalar(self, node);
    else {
      os_text_char(self->out, os_json_is(node, OS_JSON_ARRAY) ? '[' : '{');
      if (!os_json__enter(self, &frames, arena, node)) return OS_OUT_OF_MEMORY;
    }
    while (frames.count > 0 && frames.items[frames.count - 1].next == NULL) {
      os_json_frame *done = &frames.items[--frames.count];
      if (done->at > 0) os_json__line(self, frames.count);
      os_text_char(self->out, os_json_is(done->container, OS_JSON_ARRAY) ? ']' : '}');
    }
    if (frames.count == 0) return self->out->failed ? OS_OUT_OF_MEMORY : OS_OK;
    os_json_frame *top = &frames.items[frames.count - 1];
    if (top->at > 0) os_text_char(self->out, ',');
    os_json__line(self, frames.count);
    node = top->next;
    os_json__advance(top);
    if (os_json_is(top->container, OS_JSON_OBJECT)) {
      os_json_write_string(self->out, os_json_key(node));
      os_text_puts(self->out, self->form == PRETTY ? ": " : ":");
    }
  }
}

static void os_json__write_own(os_json_writer *self, const os_json *node) {
  os_arena arena;
  os_arena_init(&arena, self->out->memory);
  if (os_json__write(self, &arena, node) != OS_OK) self->out->failed = true;
  os_arena_clear(&arena);
}

void os_json_write_plain(os_text *out, const os_json_document *document, const os_json *node) {
  os_json_writer writer = {.out = out, .document = document, .form = PLAIN};
  os_json__write_own(&writer, node);
}

void os_json_write_pretty(os_text *out, const os_json_document *document, const os_json *node,
                          unsigned indent) {
  os_json_writer writer = {.out = out, .document = document, .form = PRETTY, .indent = indent};
  os_json__write_own(&writer, node);
}

os_status os_json_write_canonical(os_text *out, os_arena *arena, const os_json_document *document,
                                  const os_json *node) {
  os_json_writer writer = {.out = out, .document = document, .form = CANONICAL};
  return os_json__write(&writer, arena, node);
}

os_status os_json_write_canonical_document(os_text *out, os_arena *arena, const os_json_document *document,
                                           os_report *report) {
  os_json_writer writer = {.out = out, .report = report, .document = document, .form = CANONICAL};
  return os_json__write(&writer, arena, document->root);
}
