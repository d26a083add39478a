#include "changes.h"

#include "walk.h"

enum { MOST = 16 };

typedef struct os_change {
  void *at;
  size_t n;
  uint8_t before[MOST];
} os_change;

void os_changes_begin(os_changes *self, os_memory *memory, os_arena *arena) {
  *self = (os_changes){.arena = arena};
  os_arena_init(&self->own, memory);
}

void os_changes_undo(os_changes *self) {
  while (self->changes.count > 0) {
    const os_change *change = &self->changes.items[--self->changes.count];
    memcpy(change->at, change->before, change->n);
  }
}

void os_changes_end(os_changes *self) { os_arena_clear(&self->own); }

static os_status os_changes__set(os_changes *self, void *at, const void *value, size_t n) {
  os_change *change = OS_PUSH(&self->own, &self->changes);
  OS_TRY_ALLOC(change);
  change->at = at;
  change->n = n;
  memcpy(change->before, at, n);
  memcpy(at, value, n);
  return OS_OK;
}

// Up to the root: one that was merged is edited, and the messages around it are not.
static os_status os_changes__mark(os_changes *self, void *message) {
  for (; message != NULL; message = os_proto_parent(message)) {
    if (os_proto_is(message, OS_PROTO_EDITED)) continue;
    uintptr_t marked = os_proto_head_of(message)->parent | OS_PROTO_EDITED;
    OS_TRY(os_changes__set(self, &os_proto_head_of(message)->parent, &marked, sizeof marked));
  }
  return OS_OK;
}

os_status os_changes_put(os_changes *self, void *message, void *at, const void *value, size_t n) {
  OS_TRY(os_changes__mark(self, message));
  return os_changes__set(self, at, value, n);
}

os_status os_changes_text(os_changes *self, void *message, protobuf_c_boolean *has, ProtobufCBinaryData *at,
                          os_str text) {
  const protobuf_c_boolean yes = 1;
  ProtobufCBinaryData value = os_bytes_of(os_arena_copy(self->arena, text));
  if (value.data == NULL && text.len > 0) return OS_OUT_OF_MEMORY;
  if (has != NULL) OS_TRY(os_changes_put(self, message, has, &yes, sizeof yes));
  return os_changes_put(self, message, at, &value, sizeof value);
}

os_status os_changes_list(os_changes *self, void *message, void *list, size_t *count, void **items,
                          size_t n) {
  OS_TRY(os_changes_put(self, message, list, &items, sizeof items));
  return os_changes__set(self, count, &n, sizeof n);
}

os_status os_changes_append(os_changes *self, void *message, void *list, size_t *count, void *item) {
  size_t n = *count;
  void **items = OS_ARENA_ARRAY(self->arena, n + 1, void *);
  OS_TRY_ALLOC(items);
  if (n > 0) memcpy(items, *(void **)list, n * sizeof *items);
  items[n] = item;
  return os_changes_list(self, message, list, count, items, n + 1);
}

os_status os_changes_compact(os_changes *self, void *message, void *list, size_t *count) {
  void **items = OS_ARENA_ARRAY(self->arena, *count + 1, void *), **from = *(void ***)list;
  OS_TRY_ALLOC(items);
  size_t n = 0;
  for (size_t i = 0; i < *count; i++)
    if (from[i] != NULL) items[n++] = from[i];
  return n == *count ? OS_OK : os_changes_list(self, message, list, count, items, n);
}

// ---- Copies -----------------------------------------------------------------------------------------------

typedef struct os_cloning {
  os_arena *arena, own;
  os_plans plans;
  struct {
    ProtobufCMessage **items; // copies whose fields are still those of the original
    size_t count, room;
  } left;
} os_cloning;

static os_status os_clone__head(os_cloning *self, const ProtobufCMessage *from, void *parent,
                                ProtobufCMessage **out) {
  size_t large = os_proto_is(from, OS_PROTO_LARGE) ? os_proto_head_size(UINT64_MAX) : 0,
         head = large > 0 ? large : sizeof(os_proto_head), lead = (8 - head % 8) % 8;
  char *block = os_arena_alloc(self->arena, lead + head + from->descriptor->sizeof_message);
  OS_TRY_ALLOC(block);
  memcpy(block + lead, (const char *)from - head, head + from->descriptor->sizeof_message);
  ProtobufCMessage *copy = (ProtobufCMessage *)(void *)(block + lead + head);
  os_proto_head *its = os_proto_head_of(copy);
  its->parent = (uintptr_t)parent | (its->parent & OS_PROTO_FLAGS);
  *out = copy;
  ProtobufCMessage **slot = OS_PUSH(&self->own, &self->left);
  OS_TRY_ALLOC(slot);
  *slot = copy;
  return OS_OK;
}

// Lists of messages and of bytes become its own.
static os_status os_clone__list(os_cloning *self, const os_plan_field *field, ProtobufCMessage *message,
                                size_t count) {
  size_t bytes;
  void *list = os_size_mul(count, field->size, &bytes) ? os_arena_alloc(self->arena, bytes) : NULL;
  OS_TRY_ALLOC(list);
  void **member = os_plan_member(field, message);
  memcpy(list, *member, bytes);
  *member = list;
  return OS_OK;
}

static os_status os_clone__fields(os_cloning *self, ProtobufCMessage *message) {
  const os_plan *plan = os_plans_get(&self->plans, message->descriptor);
  OS_TRY_ALLOC(plan);
  void **aside = NULL;
  for (uint32_t i = 0; i < plan->count; i++) {
    const os_plan_field *field = &plan->fields[i];
    if (field->aside != 0 && aside == NULL) {
      aside = (void **)(void *)((char *)message + field->aside);
      void *rare = *aside == NULL ? NULL : os_arena_alloc(self->arena, plan->rare->sizeof_message);
      if (*aside != NULL) OS_TRY_ALLOC(rare);
      if (rare != NULL) *aside = memcpy(rare, *aside, plan->rare->sizeof_message);
    }
    size_t count = os_plan_elements(field, message);
    bool inner = field->type == PROTOBUF_C_TYPE_MESSAGE;
    if (count == 0 || (!inner && (!field->repeated || field->type != PROTOBUF_C_TYPE_BYTES))) continue;
    if (field->repeated) OS_TRY(os_clone__list(self, field, message, count));
    ProtobufCMessage **list = (ProtobufCMessage **)(uintptr_t)os_plan_list(field, message);
    for (size_t k = 0; inner && k < count; k++) OS_TRY(os_clone__head(self, list[k], message, &list[k]));
  }
  return OS_OK;
}

os_status os_proto_clone(os_memory *memory, os_arena *arena, const void *message, void **out) {
  os_cloning self = {.arena = arena};
  os_arena_init(&self.own, memory);
  self.plans.arena = &self.own;
  ProtobufCMessage *root = NULL;
  os_status status = os_clone__head(&self, message, NULL, &root);
  while (status == OS_OK && self.left.count > 0)
    status = os_clone__fields(&self, self.left.items[--self.left.count]);
  os_arena_clear(&self.own);
  *out = root;
  return status;
}
