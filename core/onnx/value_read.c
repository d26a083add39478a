#include "data_check.h"
#include "onnx_rules.h"
#include "value_proto.h"

#include <inttypes.h>

// A sequence, map or optional being read: its elements are collected before the value is made.
typedef struct os_value_frame {
  os_kind kind;
  const void *message;
  op_type expected;
  const void *const *list; // messages of the elements
  os_kind element;         // and their kind
  size_t count, done;
  op_value **items;
} os_value_frame;

typedef struct os_value_reading {
  os_tensor_origin origin;
  os_memory *memory;
  os_arena *arena;
  os_types *types;
  os_str trouble;
  struct {
    os_value_frame *items;
    size_t count, room;
  } frames;
} os_value_reading;

static os_status os_value__trouble(os_value_reading *self, os_status status, const char *text) {
  self->trouble = os_arena_copy(self->arena, os_str_of(text));
  return status;
}

static os_status os_value__tensor(os_value_reading *self, const Onnx__TensorProto *proto, op_value **out) {
  os_tensor_reader reader;
  os_status status = os_tensor_open(&reader, proto, self->origin);
  if (status != OS_OK) return os_value__trouble(self, status, reader.trouble);
  return os_tensor_value(&reader, self->memory, out);
}

static os_status os_value__sparse(os_value_reading *self, const Onnx__SparseTensorProto *proto,
                                  op_value **out) {
  op_value *values, *indices = NULL;
  if (proto->n_dims > OP_MAX_RANK) return os_value__trouble(self, OS_UNSUPPORTED, "the rank is over 16");
  OS_TRY(os_value__tensor(self, proto->values, &values));
  os_status status = OS_OK;
  if (proto->indices != NULL) {
    status = os_value__tensor(self, proto->indices, &indices);
  } else {
    indices = os_value_tensor(self->memory, OP_INT64, 1, (const int64_t[]){0});
    if (indices == NULL) status = OS_OUT_OF_MEMORY;
  }
  if (status != OS_OK) {
    op_value_release(values);
    return status;
  }
  op_type type =
      os_types_intern(self->types, (os_type){.kind = OS_TYPE_SPARSE, .elem = op_value_tensor(values)->elem});
  *out = os_value_sparse(self->memory, type, values, indices, (int32_t)proto->n_dims, proto->dims);
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static const os_kind element_kinds[] = {OS_KIND_UNKNOWN,  OS_KIND_TENSOR, OS_KIND_SPARSE_TENSOR,
                                        OS_KIND_SEQUENCE, OS_KIND_MAP,    OS_KIND_OPTIONAL};

static void os_value__list(const Onnx__SequenceProto *proto, os_value_frame *frame) {
  const void *lists[] = {NULL,
                         proto->tensor_values,
                         proto->sparse_tensor_values,
                         proto->sequence_values,
                         proto->map_values,
                         proto->optional_values};
  size_t counts[] = {0,
                     proto->n_tensor_values,
                     proto->n_sparse_tensor_values,
                     proto->n_sequence_values,
                     proto->n_map_values,
                     proto->n_optional_values};
  unsigned elem = proto->elem_type >= 0 && proto->elem_type <= 5 ? (unsigned)proto->elem_type : 0;
  frame->element = element_kinds[elem];
  frame->list = lists[elem];
  frame->count = counts[elem];
}

static os_status os_value__push(os_value_reading *self, os_kind kind, const void *message, op_type expected) {
  os_value_frame *frame = OS_PUSH(self->arena, &self->frames);
  OS_TRY_ALLOC(frame);
  *frame = (os_value_frame){.kind = kind, .message = message, .expected = expected};
  if (kind == OS_KIND_SEQUENCE) {
    os_value__list(message, frame);
  } else if (kind == OS_KIND_MAP) {
    if (!os_elem_is_key(((const Onnx__MapProto *)message)->key_type))
      return os_value__trouble(self, OS_MALFORMED, "a map has no valid key_type");
    if (((const Onnx__MapProto *)message)->values != NULL)
      os_value__list(((const Onnx__MapProto *)message)->values, frame);
  } else {
    const Onnx__OptionalProto *proto = message;
    const void *const values[] = {NULL,
                                  &proto->tensor_value,
                                  &proto->sparse_tensor_value,
                                  &proto->sequence_value,
                                  &proto->map_value,
                                  &proto->optional_value};
    unsigned elem = proto->elem_type >= 0 && proto->elem_type <= 5 ? (unsigned)proto->elem_type : 0;
    frame->element = element_kinds[elem];
    frame->list = values[elem];
    frame->count = frame->list != NULL && *frame->list != NULL;
  }
  frame->items = OS_ARENA_ARRAY(self->arena, frame->count, op_value *);
  OS_TRY_ALLOC(frame->items);
  return OS_OK;
}

// Keys of a map, all of one kind.
typedef struct os_value_keys {
  op_elem elem;
  size_t count;
  const int64_t *numbers;
  os_str *texts; // NULL for numbers
} os_value_keys;

static int os_value__compare_keys(const os_value_keys *self, size_t a, size_t b) {
  if (self->texts != NULL) return os_str_cmp(self->texts[a], self->texts[b]);
  int64_t x = self->numbers[a], y = self->numbers[b];
  if (self->elem == OP_UINT64) return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
  return (x > y) - (x < y);
}

// Merges neighbouring runs of doubling width: `order` becomes the ascending order of the keys.
static void os_value__sort(const os_value_keys *self, size_t *order, size_t *spare) {
  for (size_t i = 0; i < self->count; i++) order[i] = i;
  for (size_t width = 1; width < self->count; width *= 2) {
    for (size_t at = 0; at < self->count; at += 2 * width) {
      size_t middle = at + width < self->count ? at + width : self->count;
      size_t end = middle + width < self->count ? middle + width : self->count;
      for (size_t i = at, j = middle, k = at; k < end; k++) {
        bool left = j == end || (i < middle && os_value__compare_keys(self, order[i], order[j]) <= 0);
        spare[k] = left ? order[i++] : order[j++];
      }
    }
    memcpy(order, spare, self->count * sizeof *order);
  }
}

static os_status os_value__load_keys(os_value_reading *self, const Onnx__MapProto *proto,
                                     os_value_keys *keys) {
  *keys = (os_value_keys){.elem = (op_elem)proto->key_type, .count = proto->n_keys, .numbers = proto->keys};
  if (keys->elem != OP_STRING) return OS_OK;
  keys->count = proto->n_string_keys;
  keys->texts = OS_ARENA_ARRAY(self->arena, keys->count, os_str);
  OS_TRY_ALLOC(keys->texts);
  for (size_t i = 0; i < keys->count; i++)
    OS_TRY(os_bytes_load(self->origin.source, self->arena, proto->string_keys[i], &keys->texts[i]));
  return OS_OK;
}

// A map holds its keys in ascending order, so that equal maps look the same.
static os_status os_value__map(os_value_reading *self, os_value_frame *frame, op_type id, op_value **out) {
  os_value_keys keys;
  OS_TRY(os_value__load_keys(self, frame->message, &keys));
  if (keys.count != frame->count)
    return os_value__trouble(self, OS_MALFORMED, "keys and values differ in number");
  size_t *order = OS_ARENA_ARRAY(self->arena, keys.count, size_t),
         *spare = OS_ARENA_ARRAY(self->arena, keys.count, size_t);
  op_value **items = OS_ARENA_ARRAY(self->arena, keys.count, op_value *);
  if (order == NULL || spare == NULL || items == NULL) return OS_OUT_OF_MEMORY;
  os_value__sort(&keys, order, spare);
  op_value *sorted = os_value_tensor(self->memory, keys.elem, 1, (const int64_t[]){(int64_t)keys.count});
  OS_TRY_ALLOC(sorted);
  op_tensor *tensor = op_value_edit(sorted);
  size_t size = op_elem_size(keys.elem);
  for (size_t i = 0; i < keys.count; i++) {
    os_status status = OS_OK; // numbers are little-endian: the low bytes come first
    if (keys.texts != NULL)
      status = op_string_set(tensor, (int64_t)i, keys.texts[order[i]]);
    else
      memcpy((char *)tensor->data + i * size, &keys.numbers[order[i]], size);
    if (status != OS_OK) {
      op_value_release(sorted);
      return status;
    }
    items[i] = frame->items[order[i]];
  }
  memset(frame->items, 0, frame->count * sizeof *frame->items); // taken, also when it fails
  *out = os_value_map(self->memory, id, sorted, items, keys.count);
  return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

// Makes the value of the top frame from its items, whose references it takes when it succeeds.
static os_status os_value__make(os_value_reading *self, os_value_frame *frame, op_value **out) {
  op_type inner = 0; // an empty sequence inside may not know its type
  for (size_t i = 0; i < frame->count && inner == 0; i++) inner = op_value_type(frame->items[i]);
  if (inner == 0) inner = os_types_get(self->types, frame->expected).of;
  for (size_t i = 0; i < frame->count; i++) {
    if (op_value_type(frame->items[i]) == 0) frame->items[i]->type = inner;
    if (op_value_type(frame->items[i]) != inner)
      return os_value__trouble(self, OS_MALFORMED, "the elements have different types");
  }
  os_type type = {.of = inner};
  if (frame->kind == OS_KIND_MAP) {
    type.kind = OS_TYPE_MAP;
    type.elem = (op_elem)((const Onnx__MapProto *)frame->message)->key_type;
    return os_value__map(self, frame, inner == 0 ? 0 : os_types_intern(self->types, type), out);
  }
  type.kind = frame->kind == OS_KIND_SEQUENCE ? OS_TYPE_SEQUENCE : OS_TYPE_OPTIONAL;
  op_type id = inner == 0 ? 0 : os_types_intern(self->types, type);
  if (frame->kind == OS_KIND_OPTIONAL) {
    *out = os_value_optional(self->memory, id, frame->count > 0 ? frame->items[0] : NULL);
    if (frame->count > 0) frame->items[0] = NULL;
    return *out == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  }
  *out = os_value_sequence(self->memory, id, frame->count);
  OS_TRY_ALLOC(*out);
  for (size_t i = 0; i < frame->count; i++) {
    os_status status = op_sequence_insert(*out, i, frame->items[i]);
    frame->items[i] = NULL; // taken, also when it failed
    if (status == OS_OK) continue;
    op_value_release(*out);
    return status;
  }
  return OS_OK;
}

// Reads a tensor or sparse tensor at once; begins a frame for the others.
static os_status os_value__begin(os_value_reading *self, os_kind kind, const void *message, op_type expected,
                                 op_value **out) {
  *out = NULL;
  switch (kind) {
  case OS_KIND_TENSOR: return os_value__tensor(self, message, out);
  case OS_KIND_SPARSE_TENSOR: return os_value__sparse(self, message, out);
  case OS_KIND_SEQUENCE:
  case OS_KIND_MAP:
  case OS_KIND_OPTIONAL: return os_value__push(self, kind, message, expected);
  default: return OS_INVALID_ARGUMENT;
  }
}

static os_status os_value__run(os_value_reading *self, os_kind kind, const void *message, op_type expected,
                               op_value **out) {
  OS_TRY(os_value__begin(self, kind, message, expected, out));
  while (self->frames.count > 0) {
    os_value_frame *frame = &self->frames.items[self->frames.count - 1];
    op_value *value;
    if (frame->done < frame->count) {
      op_type inner = os_types_get(self->types, frame->expected).of;
      OS_TRY(os_value__begin(self, frame->element, frame->list[frame->done], inner, &value));
    } else {
      OS_TRY(os_value__make(self, frame, &value));
      self->frames.count--;
      if (self->frames.count == 0) *out = value;
    }
    if (value == NULL || self->frames.count == 0) continue;
    frame = &self->frames.items[self->frames.count - 1];
    frame->items[frame->done++] = value;
  }
  return OS_OK;
}

// Faults that nothing can be read with, even where onnx.checker lets them pass and they are warnings.
static bool os_value__is_unreadable(const os_finding *finding) {
  const os_rule *rule = finding->rule;
  return finding->severity == OS_ERROR || rule == &os_rule_onnx_tensor_data_type ||
         rule == &os_rule_onnx_external_entry || rule == &os_rule_onnx_map_key_type ||
         rule == &os_rule_onnx_map_keys;
}

os_status os_data_fault(os_arena *arena, const void *message, os_kind kind, os_tensor_origin origin,
                        os_str *trouble) {
  os_report report;
  os_report_init(&report, arena, false, 100);
  os_data_check check = {&report, arena, origin};
  OS_TRY(os_data_check_message(&check, message, kind, NULL));
  for (size_t i = 0; i < report.findings.count; i++) {
    const os_finding *finding = report.findings.items[i];
    if (!os_value__is_unreadable(finding)) continue;
    os_str path = finding->where.path;
    bool inner = path.len > 0 &&
                 (memchr(path.data, '[', path.len) != NULL || memchr(path.data, '.', path.len) != NULL);
    *trouble = inner ? os_arena_format(arena, "%.*s: %.*s", OS_ARG(path), OS_ARG(finding->message))
                     : finding->message;
    return OS_MALFORMED;
  }
  if (report.counts[OS_ERROR] == 0) return report.status;
  *trouble = OS_STR("there are very many faults");
  return OS_MALFORMED;
}

os_status os_value_read_message(const void *message, os_kind kind, os_tensor_origin origin, os_memory *memory,
                                os_arena *scratch, os_types *types, op_type expected, op_value **out,
                                os_str *trouble) {
  os_value_reading self = {.origin = origin, .memory = memory, .arena = scratch, .types = types};
  *out = NULL;
  os_status status = os_data_fault(scratch, message, kind, origin, &self.trouble);
  if (status == OS_OK) status = os_value__run(&self, kind, message, expected, out);
  if (status != OS_OK) {
    for (size_t i = 0; i < self.frames.count; i++)
      for (size_t j = 0; j < self.frames.items[i].done; j++) op_value_release(self.frames.items[i].items[j]);
    *out = NULL;
  }
  if (trouble != NULL) *trouble = self.trouble;
  return status;
}

os_status os_value_read(os_document *document, os_memory *memory, os_types *types, op_type expected,
                        op_value **out, os_str *trouble) {
  os_status status = os_value_read_message(document->root, document->kind, os_document_origin(document),
                                           memory, &document->arena, types, expected, out, trouble);
  os_sniff sniff;
  if (status != OS_MALFORMED || trouble == NULL ||
      os_onnx_sniff(&document->source, &document->arena, &sniff) != OS_OK)
    return status;
  const ProtobufCMessageDescriptor *type = os_kind_type(sniff.kind), *mine = os_kind_type(document->kind);
  if (sniff.sure && type != mine && (sniff.fits >> document->kind & 1) == 0)
    *trouble = os_arena_format(&document->arena, "%.*s; maybe this is no %s: the bytes fit %s%s%.*s",
                               OS_ARG(*trouble), mine->short_name, type->short_name,
                               sniff.candidates.len == 0 ? "" : ", ", OS_ARG(sniff.candidates));
  return status;
}
