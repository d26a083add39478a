#ifndef OPSPEC_DECODER_H
#define OPSPEC_DECODER_H

#include "cursor.h"
#include "decode.h"
#include "plan.h"
#include "wire.h"

// The decoder's insides, shared by decode.c (walks the bytes), decode_fill.c (fills structs) and decode_fault.c (findings).
//
// When a repeated field begins, the elements that follow it directly are counted, so that a list is allocated once and
// exactly (a long one grows). Writers put all elements of a field together; where one has not, the list is moved and gets room
// for the next power of two. Progress is kept in the frames, so that a read that is not answered yet can be repeated later.

// A message being decoded.
typedef struct os_frame {
  const os_plan *plan;
  ProtobufCMessage *message;
  uint64_t start, at, end;
  const os_plan_field *packed; // a packed record is being filled, up to packed_end
  uint64_t packed_end;
  uint64_t
      back; // where to go on at packed_end, when what is being filled lies further in front; 0 = behind it
  uint32_t varint; // bytes of the number that is being counted
  bool
      roomy; // the message's lists have room for the next power of two; so are those of a message that is not ranged
  const os_plan_field *run; // the list being filled, and how many elements it still has room for
  size_t run_left;
  uint64_t
      count_at; // the elements of a run are being counted and this is how far it has come; 0 = not counting
  size_t counted;
  const os_plan_field *field; // of the message around it that this one is in; NULL for the root
  size_t index;               // in that field's list
} os_frame;

// One field as it lies in the bytes.
typedef struct os_item {
  uint32_t number, wire;
  uint64_t value; // of a varint
  uint64_t start, body, data,
      end; // tag; behind it; behind a length prefix; next field. No end for a group's start
} os_item;

// A message whose long lists are counted but not there.
typedef struct os_counted {
  const os_plan *plan;
  ProtobufCMessage *message;
} os_counted;

// Where structs, lists and texts are put.
typedef struct os_decoder_room {
  os_arena *arena;
  char *slab, *slab_end; // structs and lists are cut from it
  size_t slab_size;
  char *text, *text_end; // strings copied from a source that is not in memory
} os_decoder_room;

struct os_decoder {
  os_decoding ask;
  os_status status; // of a run that has failed for good
  os_cursor cursor;
  os_plans plans;
  os_decoder_room room,
      kept; // kept: that of the structs around the element of a long list that is decoded in the scratch
  size_t element; // frames up to and with this element; 0 = there is none
  bool dropped;   // some element was
  struct {
    os_counted *items;
    size_t count, room;
  } counted;
  const void *blank_next; // where the next element of the list goes that got an empty message last
  uint32_t blanks;        // such messages before it, one after the other
  os_str *recent;         // copied texts, by hash: names of values stand twice, names of operators very often
  struct {
    os_frame *items;
    size_t count, room;
  } frames;
  struct { // numbers of the groups being skipped, and how far that has come
    uint32_t *items;
    size_t count, room;
  } groups;
  uint64_t group_at;
  uint32_t work;
  ProtobufCMessage *root;
};

static inline os_frame *os_decoder_frame(os_decoder *self) {
  return &self->frames.items[self->frames.count - 1];
}

// Zeroed; what comes `lead` bytes after its start is aligned to `align`. NULL when memory is exhausted.
void *os_decoder_alloc(os_decoder *self, size_t size, size_t lead, size_t align);
// Not zeroed, not aligned.
void *os_decoder_alloc_text(os_decoder *self, size_t size);
// A struct with its head and the range of its bytes; `parent` NULL for the root.
ProtobufCMessage *os_decoder_message(os_decoder *self, const os_plan *plan, void *parent, uint64_t start,
                                     uint64_t end);
// Before the field is written: its struct is there.
os_status os_decoder_make_home(os_decoder *self, const os_plan *plan, const os_plan_field *field,
                               void *message);
static inline os_status os_decoder_home(os_decoder *self, const os_plan *plan, const os_plan_field *field,
                                        void *message) {
  return field->aside == 0 ? OS_OK : os_decoder_make_home(self, plan, field, message);
}
// Begins a message inside [start, end).
os_status os_decoder_push(os_decoder *self, const os_plan *plan, ProtobufCMessage *message,
                          const os_plan_field *field, size_t index, uint64_t start, uint64_t end);

// The top frame is done.
os_status os_decoder_pop(os_decoder *self);
// Takes bytes into the skeleton; `bytes` is in the cursor's window.
static inline os_status os_decoder_take(os_decoder *self, uint64_t start, const void *bytes, uint64_t n) {
  if (self->ask.skeleton == NULL || self->ask.known) return OS_OK;
  return os_skeleton_put(self->ask.skeleton, start, bytes, (size_t)n) ? OS_OK : OS_OUT_OF_MEMORY;
}
// Elements of the field are looked at and forgotten.
static inline bool os_decoder_drops(const os_decoder *self, const os_plan_field *field) {
  return field->is_long && self->ask.scratch != NULL &&
         (self->element == 0 || self->ask.seen == NULL || self->ask.asks != NULL);
}
// Somebody asks for the field's elements.
static inline bool os_decoder_tells(const os_decoder *self, const os_plan_field *field) {
  return self->ask.seen != NULL && (self->ask.asks == NULL || self->ask.asks(field->field->descriptor));
}
enum { SKIM_MOST = 1 << 14 }; // bytes: longer ones are decoded
// Looks through an element of a long list, in [p, end) of the file's bytes at `start`, that says nothing uncommon; takes its
// bytes into the skeleton. False: it has to be decoded to be sure.
bool os_decoder_skim(os_decoder *self, const os_plan_field *field, const uint8_t *p, const uint8_t *end,
                     uint64_t start);

// Makes room in the field's list for `more` elements.
os_status os_decoder_make_room(os_decoder *self, os_frame *frame, const os_plan_field *field, size_t more);
// Before an element of a repeated field is put into its list: makes room when a run begins.
os_status os_decoder_begin_run(os_decoder *self, os_frame *frame, const os_plan_field *field,
                               const os_item *item);
// The item at `at`, which is before the frame's end.
os_status os_decoder_item(os_decoder *self, const os_frame *frame, uint64_t at, os_item *item);
// With a source in memory: goes on as long as fields are common ones, or for a while: an engine runs a function that it has
// compiled better when it is called again. The top frame is then at one that is not common, or anywhere, or all is done.
os_status os_decoder_fast(os_decoder *self);
// Puts an item into the struct. May push a frame: `frame` is void then.
os_status os_decoder_fill(os_decoder *self, os_frame *frame, const os_item *item);
// Goes on with frame->packed; it is NULL when that is done.
os_status os_decoder_fill_packed(os_decoder *self, os_frame *frame);
// Keeps [body, end) as an unknown field.
os_status os_decoder_keep(os_decoder *self, os_frame *frame, uint32_t number, uint32_t wire, uint64_t body,
                          uint64_t end);

// A finding about [start, end) of the file in `field` (may be NULL) of the current message; the path is made from the
// frames. Answers OS_MALFORMED.
os_status os_decoder_fault(os_decoder *self, const os_rule *rule, uint32_t number, uint64_t start,
                           uint64_t end, const char *format, ...) __attribute__((format(printf, 6, 7)));
// The same for what is only a warning: decoding goes on.
void os_decoder_warn(os_decoder *self, const os_rule *rule, uint32_t number, uint64_t start, uint64_t end,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
// "field 3 (name)" for messages; lives in the report's arena.
const char *os_decoder_field_name(os_decoder *self, uint32_t number);
// "the rest is 12 (the file has 40)" or "the rest of the NodeProto around it is 12".
const char *os_decoder_room_left(os_decoder *self, uint64_t from);

#endif
