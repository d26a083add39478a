#include "message_match.h"

#include "map.h"
#include "onnx-operators.pb-c.h"
#include "onnx.pb-c.h"
#include "tensor_proto.h"

#include <inttypes.h>
#include <stdlib.h>

static const os_naming namings[] = {
    {&onnx__node_proto__descriptor, {3}, 2, 4},
    {&onnx__value_info_proto__descriptor, {1}, 0, 0},
    {&onnx__tensor_proto__descriptor, {8}, 0, 0},
    {&onnx__attribute_proto__descriptor, {1}, 0, 0},
    {&onnx__function_proto__descriptor, {10, 1, 13}, 0, 0},
    {&onnx__operator_proto__descriptor, {1, 2}, 0, 0},
    {&onnx__operator_set_id_proto__descriptor, {1}, 0, 0},
    {&onnx__string_string_entry_proto__descriptor, {1}, 0, 0},
    {&onnx__tensor_annotation__descriptor, {1}, 0, 0},
    {&onnx__device_configuration_proto__descriptor, {1}, 0, 0},
    {&onnx__node_device_configuration_proto__descriptor, {1}, 0, 0},
    {&onnx__sharding_spec_proto__descriptor, {1}, 0, 0},
};

const os_naming *os_naming_of(const ProtobufCMessageDescriptor *type) {
  for (size_t i = 0; i < sizeof namings / sizeof *namings; i++)
    if (namings[i].type == type) return &namings[i];
  return NULL;
}

static os_str os_naming__text(const os_plan_field *field, const void *message, os_arena *arena) {
  if (field == NULL || os_plan_elements(field, message) == 0) return (os_str){"", 0};
  const char *at = os_plan_list(field, message);
  if (field->type == PROTOBUF_C_TYPE_BYTES)
    return os_bytes_str(*(const ProtobufCBinaryData *)(const void *)at);
  int64_t number;
  memcpy(&number, at, sizeof number);
  return os_arena_format(arena, "%" PRId64, number);
}

os_str os_naming_key(const os_naming *self, const os_plan *plan, const void *message, os_arena *arena) {
  os_str key = {"", 0};
  for (size_t i = 0; i < 3 && self->key[i] != 0; i++) {
    os_str part = os_naming__text(os_plan_find(plan, self->key[i]), message, arena);
    if (part.len == 0) continue;
    key = key.len == 0 ? part : os_arena_format(arena, "%.*s %.*s", OS_ARG(key), OS_ARG(part));
  }
  return key;
}

// ---- Equal bytes ------------------------------------------------------------------------------------------

static bool os_match__bytes(const os_source *source, const void *message, os_str *out) {
  if (!os_proto_is(message, OS_PROTO_RANGED) || os_proto_is(message, OS_PROTO_EDITED)) return false;
  uint64_t length = os_proto_length(message);
  const uint8_t *bytes = os_source_find(source, os_proto_offset(message), length);
  *out = (os_str){(const char *)bytes, (size_t)length};
  return bytes != NULL;
}

static bool os_match__spend(os_matcher *self, uint64_t bytes) {
  if (self->budget < bytes) return false;
  self->budget -= bytes;
  return true;
}

static int os_match__order(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Of what was merged of several parts only a message around it has bytes of its own.
static const void *os_match__ranged(const void *message) {
  while (message != NULL && (!os_proto_is(message, OS_PROTO_RANGED) || os_proto_is(message, OS_PROTO_EDITED)))
    message = os_proto_parent(message);
  return message;
}

os_status os_match_begin(os_matcher *self, os_memory *memory, const void *root) {
  os_walk walk;
  os_walk_event event = OS_WALK_OPEN;
  os_status status = os_walk_begin(&walk, memory, root);
  while (status == OS_OK && event != OS_WALK_END) {
    const ProtobufCMessage *message = os_walk_top(&walk)->message;
    const void *ranged = NULL;
    if (event == OS_WALK_OPEN && message->descriptor == &onnx__tensor_proto__descriptor &&
        os_tensor_is_external((const Onnx__TensorProto *)(const void *)message))
      ranged = os_match__ranged(message);
    uint64_t *at = ranged == NULL ? NULL : OS_PUSH(self->arena, &self->apart);
    if (at != NULL) *at = os_proto_offset(ranged);
    status = ranged != NULL && at == NULL ? OS_OUT_OF_MEMORY : os_walk_next(&walk, &event);
  }
  os_walk_free(&walk);
  if (self->apart.count > 1)
    qsort(self->apart.items, self->apart.count, sizeof *self->apart.items, os_match__order);
  return status;
}

static bool os_match__is_apart(const os_matcher *self, const void *a, size_t length) {
  uint64_t offset = os_proto_offset(a);
  size_t low = 0, high = self->apart.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (self->apart.items[middle] < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low < self->apart.count && self->apart.items[low] - offset <= length;
}

bool os_match_same(os_matcher *self, const void *a, const void *b) {
  os_str x, y;
  return os_match__bytes(self->a, a, &x) && os_match__bytes(self->b, b, &y) && x.len == y.len &&
         !os_match__is_apart(self, a, x.len) && os_match__spend(self, x.len) &&
         os_bytes_eq(x.data, y.data, x.len);
}

// ---- Pairs ------------------------------------------------------------------------------------------------

enum { NONE = SIZE_MAX };

typedef enum os_match_by { BY_KEY, BY_LIST, BY_BYTES } os_match_by;

// What is left of both lists once equal beginnings and ends are off.
typedef struct os_match_work {
  os_matcher *matcher;
  const os_plan *plan;
  const os_naming *naming;
  os_match_list a, b;
  size_t *mate_a, *mate_b; // index in the other, or NONE
} os_match_work;

// Data NULL: it has no such name.
static os_str os_match__name(const os_match_work *self, os_match_by by, const os_source *source,
                             const void *message) {
  os_str none = {NULL, 0}, name = none;
  if (by == BY_BYTES)
    return os_match__bytes(source, message, &name) && os_match__spend(self->matcher, name.len) ? name : none;
  if (by == BY_LIST) {
    const os_plan_field *field = os_plan_find(self->plan, self->naming->list);
    name = os_naming__text(field, message, &self->matcher->work);
  } else {
    name = os_naming_key(self->naming, self->plan, message, &self->matcher->work);
  }
  // Imports of the standard's operator set have an empty domain.
  bool may_be_empty = self->plan->type == &onnx__operator_set_id_proto__descriptor;
  return name.len > 0 ? name : may_be_empty ? (os_str){"", 0} : none;
}

// The k-th without a mate of a name in a and the k-th in b.
static os_status os_match__pair(os_match_work *self, os_match_by by) {
  os_arena *work = &self->matcher->work;
  os_map map;
  size_t *next = OS_ARENA_ARRAY(work, self->b.count, size_t);
  OS_TRY_ALLOC(next);
  os_map_init(&map, work);
  for (size_t i = self->b.count; i-- > 0;) {
    if (self->mate_b[i] != NONE) continue;
    os_str name = os_match__name(self, by, self->matcher->b, self->b.items[i]);
    if (name.data == NULL) continue;
    bool added;
    os_map_entry *entry = os_map_put(&map, name, &added);
    OS_TRY_ALLOC(entry);
    next[i] = added ? NONE : entry->value.number;
    entry->value.number = i;
  }
  for (size_t i = 0; i < self->a.count && map.count > 0; i++) {
    if (self->mate_a[i] != NONE) continue;
    os_str name = os_match__name(self, by, self->matcher->a, self->a.items[i]);
    os_map_entry *entry = name.data == NULL ? NULL : os_map_get(&map, name);
    if (entry == NULL || entry->value.number == NONE) continue;
    size_t mate = entry->value.number;
    entry->value.number = next[mate];
    self->mate_a[i] = mate;
    self->mate_b[mate] = i;
  }
  return OS_OK;
}

static void os_match__in_order(os_match_work *self) {
  for (size_t i = 0, j = 0; i < self->a.count; i++) {
    if (self->mate_a[i] != NONE) continue;
    while (j < self->b.count && self->mate_b[j] != NONE) j++;
    if (j == self->b.count) return;
    self->mate_a[i] = j;
    self->mate_b[j] = i;
  }
}

static os_status os_match__collect(const os_match_work *self, size_t first, os_matching *out) {
  os_arena *arena = self->matcher->arena;
  for (size_t i = 0; i < self->a.count; i++) out->pair_count += self->mate_a[i] != NONE;
  out->pairs = OS_ARENA_ARRAY(arena, out->pair_count, os_match);
  out->removed = OS_ARENA_ARRAY(arena, self->a.count - out->pair_count, size_t);
  out->added = OS_ARENA_ARRAY(arena, self->b.count - out->pair_count, size_t);
  if (out->pairs == NULL || out->removed == NULL || out->added == NULL) return OS_OUT_OF_MEMORY;
  os_match *pair = out->pairs;
  for (size_t i = 0; i < self->a.count; i++) {
    size_t mate = self->mate_a[i];
    if (mate == NONE) {
      out->removed[out->removed_count++] = first + i;
      continue;
    }
    *pair = (os_match){first + i, first + mate};
    out->moved = out->moved || (pair > out->pairs && pair[-1].b > pair->b);
    pair++;
  }
  for (size_t i = 0; i < self->b.count; i++)
    if (self->mate_b[i] == NONE) out->added[out->added_count++] = first + i;
  return OS_OK;
}

static os_status os_match__rest(os_match_work *self, size_t first, os_matching *out) {
  os_arena *work = &self->matcher->work;
  self->mate_a = os_arena_alloc(work, (self->a.count + 1) * sizeof(size_t));
  self->mate_b = os_arena_alloc(work, (self->b.count + 1) * sizeof(size_t));
  if (self->mate_a == NULL || self->mate_b == NULL) return OS_OUT_OF_MEMORY;
  for (size_t i = 0; i < self->a.count; i++) self->mate_a[i] = NONE;
  for (size_t i = 0; i < self->b.count; i++) self->mate_b[i] = NONE;
  if (self->naming != NULL) OS_TRY(os_match__pair(self, BY_KEY));
  if (self->naming != NULL && self->naming->list != 0) OS_TRY(os_match__pair(self, BY_LIST));
  OS_TRY(os_match__pair(self, BY_BYTES));
  if (self->naming == NULL) os_match__in_order(self);
  return os_match__collect(self, first, out);
}

// A list without elements may have no address.
static os_match_list os_match__from(os_match_list list, size_t first) {
  return (os_match_list){first == 0 ? list.items : list.items + first, list.count - first};
}

os_status os_match_lists(os_matcher *self, const os_plan *plan, os_match_list a, os_match_list b,
                         os_matching *out) {
  *out = (os_matching){0};
  size_t first = 0;
  while (first < a.count && first < b.count && os_match_same(self, a.items[first], b.items[first])) first++;
  while (a.count > first && b.count > first &&
         os_match_same(self, a.items[a.count - 1], b.items[b.count - 1])) {
    a.count--;
    b.count--;
  }
  os_match_work work = {.matcher = self,
                        .plan = plan,
                        .naming = os_naming_of(plan->type),
                        .a = os_match__from(a, first),
                        .b = os_match__from(b, first)};
  if (work.a.count == 0 && work.b.count == 0) return OS_OK;
  os_status status = os_match__rest(&work, first, out);
  os_arena_rewind(&self->work);
  return status;
}
