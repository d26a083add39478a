#include "proto_json.h"

#include "json_write.h"
#include "plan.h"
#include "wire.h"

#include <inttypes.h>
#include <math.h>

typedef struct os_proto_json_frame {
  const os_plan *plan;
  const ProtobufCMessage *message;
  uint32_t field;
  size_t element;
  bool any; // a member was written
} os_proto_json_frame;

typedef struct os_proto_json {
  os_text *out;
  const os_source *source;
  os_arena arena;
  os_plans plans;
  struct {
    os_proto_json_frame *items;
    size_t count, room;
  } frames;
} os_proto_json;

// float_data becomes floatData; a name never begins with '_'.
static void os_proto_json__name(os_text *out, const char *name) {
  os_text_char(out, '"');
  for (; *name != 0; name++) {
    if (*name == '_' && name[1] >= 'a' && name[1] <= 'z')
      os_text_char(out, (char)(*++name - 'a' + 'A'));
    else if (*name != '_')
      os_text_char(out, *name);
  }
  os_text_puts(out, "\":");
}

static void os_proto_json__float(os_text *out, double value) {
  if (isnan(value))
    os_text_puts(out, "{\"$n\":\"NaN\"}");
  else if (isinf(value))
    os_text_puts(out, value > 0 ? "{\"$n\":\"Infinity\"}" : "{\"$n\":\"-Infinity\"}");
  else if (value == 0 && signbit(value))
    os_text_puts(out, "-0");
  else
    os_json_write_double(out, value);
}

static void os_proto_json__bytes(os_proto_json *self, ProtobufCBinaryData bytes) {
  const os_source *source = self->source;
  uint64_t length = os_bytes_length(bytes);
  if (os_bytes_is_far(bytes)) {
    os_text_format(self->out, "{\"$b\":[%" PRIu64 ",%" PRIu64 "]}",
                   ((const os_far *)(const void *)bytes.data)->offset, length);
  } else if (source != NULL && source->data != NULL && (uintptr_t)bytes.data >= (uintptr_t)source->data &&
             (uintptr_t)bytes.data - (uintptr_t)source->data < source->length) {
    os_text_format(self->out, "{\"$b\":[%zu,%" PRIu64 "]}", (size_t)(bytes.data - source->data), length);
  } else {
    os_text_format(self->out, "{\"$m\":[%" PRIuPTR ",%" PRIu64 "]}", (uintptr_t)bytes.data, length);
  }
}

static void os_proto_json__scalar(os_proto_json *self, const os_plan_field *field, const char *element) {
  uint64_t large = 0;
  uint32_t small = 0;
  double value;
  float narrow;
  memcpy(field->size == 8 ? (void *)&large : (void *)&small, element, field->size == 8 ? 8 : 4);
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SINT64:
  case PROTOBUF_C_TYPE_SFIXED64:
    os_text_format(self->out, "{\"$i\":\"%" PRId64 "\"}", (int64_t)large);
    return;
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_FIXED64: os_text_format(self->out, "{\"$i\":\"%" PRIu64 "\"}", large); return;
  case PROTOBUF_C_TYPE_DOUBLE:
    memcpy(&value, &large, 8);
    os_proto_json__float(self->out, value);
    return;
  case PROTOBUF_C_TYPE_FLOAT:
    memcpy(&narrow, &small, 4);
    os_proto_json__float(self->out, (double)narrow);
    return;
  case PROTOBUF_C_TYPE_BOOL: os_text_puts(self->out, small != 0 ? "true" : "false"); return;
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_FIXED32: os_text_format(self->out, "%" PRIu32, small); return;
  default: os_text_format(self->out, "%" PRId32, (int32_t)small); return;
  }
}

static void os_proto_json__element(os_proto_json *self, const os_plan_field *field, const char *element) {
  if (field->wire != OS_WIRE_BYTES) {
    os_proto_json__scalar(self, field, element);
    return;
  }
  ProtobufCBinaryData bytes;
  memcpy(&bytes, element, sizeof bytes);
  if (field->text)
    os_json_write_string(self->out, os_bytes_str(bytes));
  else
    os_proto_json__bytes(self, bytes);
}

// Name of the typed array that holds a list of this type; NULL for lists that are written out.
static const char *os_proto_json__array(uint8_t type) {
  switch (type) {
  case PROTOBUF_C_TYPE_FLOAT: return "f32";
  case PROTOBUF_C_TYPE_DOUBLE: return "f64";
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SINT64:
  case PROTOBUF_C_TYPE_SFIXED64: return "i64";
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_FIXED64: return "u64";
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_FIXED32: return "u32";
  case PROTOBUF_C_TYPE_BOOL:
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES: return NULL;
  default: return "i32";
  }
}

static void os_proto_json__field(os_proto_json *self, const os_plan_field *field,
                                 const ProtobufCMessage *message) {
  const char *member = os_plan_member(field, message);
  if (!field->repeated) {
    os_proto_json__element(self, field, member);
    return;
  }
  const char *list = *(const char *const *)(const void *)member;
  size_t count = *os_plan_count(field, message);
  const char *array = os_proto_json__array(field->type);
  if (array != NULL) {
    os_text_format(self->out, "{\"$a\":[\"%s\",%" PRIuPTR ",%zu]}", array, (uintptr_t)list, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    os_text_char(self->out, i == 0 ? '[' : ',');
    os_proto_json__element(self, field, list + i * field->size);
  }
  os_text_char(self->out, ']');
}

static os_status os_proto_json__push(os_proto_json *self, const ProtobufCMessage *message) {
  os_proto_json_frame *frame = OS_PUSH(&self->arena, &self->frames);
  OS_TRY_ALLOC(frame);
  *frame = (os_proto_json_frame){.plan = os_plans_get(&self->plans, message->descriptor), .message = message};
  OS_TRY_ALLOC(frame->plan);
  os_text_char(self->out, '{');
  return OS_OK;
}

static os_status os_proto_json__step(os_proto_json *self) {
  os_proto_json_frame *frame = &self->frames.items[self->frames.count - 1];
  for (; frame->field < frame->plan->count; frame->field++, frame->element = 0) {
    const os_plan_field *field = &frame->plan->fields[frame->field];
    size_t count =
        field->repeated ? *os_plan_count(field, frame->message) : os_plan_has(field, frame->message);
    if (count == 0) continue;
    if (frame->element == 0) {
      if (frame->any) os_text_char(self->out, ',');
      frame->any = true;
      os_proto_json__name(self->out, field->field->name);
    }
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
      os_proto_json__field(self, field, frame->message);
      continue;
    }
    if (frame->element < count) {
      void *member = os_plan_member(field, frame->message);
      ProtobufCMessage *const *list = field->repeated ? *(ProtobufCMessage *const **)member : member;
      if (field->repeated) os_text_char(self->out, frame->element == 0 ? '[' : ',');
      return os_proto_json__push(self, list[frame->element++]);
    }
    if (field->repeated) os_text_char(self->out, ']');
  }
  os_text_char(self->out, '}');
  self->frames.count--;
  return self->out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_proto_write_json(os_text *out, const os_source *source, const void *message) {
  os_proto_json self = {.out = out, .source = source};
  os_arena_init(&self.arena, out->memory);
  self.plans.arena = &self.arena;
  os_status status = os_proto_json__push(&self, message);
  while (status == OS_OK && self.frames.count > 0) status = os_proto_json__step(&self);
  os_arena_clear(&self.arena);
  if (status == OS_OK && out->failed) status = OS_OUT_OF_MEMORY;
  return status;
}
