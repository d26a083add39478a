#include "type.h"

#include "map.h"
#include "standard_types.h"
#include "text.h"

struct os_types {
  os_arena *arena;
  struct {
    os_type *items;
    size_t count, room;
  } types; // types.items[id - OP_ELEM_COUNT]
  os_map ids;
};

os_types *os_types_new(os_arena *arena) {
  os_types *self = OS_ARENA_NEW(arena, os_types);
  if (self == NULL) return NULL;
  self->arena = arena;
  os_map_init(&self->ids, arena);
  for (uint32_t i = 0; i < os_standard_type_count; i++) {
    const os_standard_type *type = &os_standard_types[i];
    os_type made = {.kind = (os_type_kind)type->kind, .elem = (op_elem)type->elem, .of = type->of};
    if (os_types_intern(self, made) != OP_ELEM_COUNT + i) return NULL;
  }
  return self;
}

typedef struct os_type__head {
  uint32_t kind, elem, of, domain_len;
} os_type__head;

enum { SHORT_KEY = 128 };

// The bytes that tell a type from all others, in `buffer` where they fit.
static os_str os_type__key(os_types *self, const os_type *type, char *buffer) {
  os_type__head head = {(uint32_t)type->kind, (uint32_t)type->elem, type->of, (uint32_t)type->domain.len};
  size_t len = sizeof head + type->domain.len + type->name.len;
  char *key = len <= SHORT_KEY ? buffer : os_arena_alloc(self->arena, len);
  if (key == NULL) return (os_str){NULL, 0};
  memcpy(key, &head, sizeof head);
  if (type->domain.len > 0) memcpy(key + sizeof head, type->domain.data, type->domain.len);
  if (type->name.len > 0) memcpy(key + sizeof head + type->domain.len, type->name.data, type->name.len);
  return (os_str){key, len};
}

op_type os_types_intern(os_types *self, os_type type) {
  if (type.kind == OS_TYPE_UNKNOWN) return 0;
  if (type.kind == OS_TYPE_TENSOR) return op_type_tensor(type.elem);
  char buffer[SHORT_KEY];
  os_str key = os_type__key(self, &type, buffer);
  if (key.data == NULL) return 0;
  os_map_entry *entry = os_map_get(&self->ids, key);
  if (entry != NULL) return (op_type)entry->value.number;
  if (key.data == buffer) key = os_arena_copy(self->arena, key);
  os_str domain = os_arena_copy(self->arena, type.domain), name = os_arena_copy(self->arena, type.name);
  if (key.data == NULL || (domain.data == NULL && domain.len > 0) || (name.data == NULL && name.len > 0))
    return 0;
  os_type *slot = OS_PUSH(self->arena, &self->types);
  if (slot == NULL) return 0;
  *slot = (os_type){type.kind, type.elem, type.of, domain, name};
  entry = os_map_put(&self->ids, key, NULL);
  if (entry == NULL) {
    self->types.count--;
    return 0;
  }
  op_type id = (op_type)(OP_ELEM_COUNT + self->types.count - 1);
  entry->value.number = id;
  return id;
}

os_type os_types_get(const os_types *self, op_type id) {
  if (op_type_is_tensor(id)) return (os_type){.kind = OS_TYPE_TENSOR, .elem = (op_elem)id};
  size_t index = (size_t)id - OP_ELEM_COUNT;
  if (id < OP_ELEM_COUNT || index >= self->types.count) return (os_type){.kind = OS_TYPE_UNKNOWN};
  return self->types.items[index];
}

static void os_type__open(os_text *text, const os_type *type) {
  switch (type->kind) {
  case OS_TYPE_TENSOR: os_text_format(text, "tensor(%s", op_elem_name(type->elem)); break;
  case OS_TYPE_SPARSE: os_text_format(text, "sparse_tensor(%s", op_elem_name(type->elem)); break;
  case OS_TYPE_SEQUENCE: os_text_puts(text, "seq("); break;
  case OS_TYPE_OPTIONAL: os_text_puts(text, "optional("); break;
  case OS_TYPE_MAP: os_text_format(text, "map(%s, ", op_elem_name(type->elem)); break;
  case OS_TYPE_OPAQUE:
    os_text_puts(text, "opaque(");
    if (type->domain.len > 0) {
      os_text_put(text, type->domain);
      os_text_char(text, ',');
    }
    os_text_put(text, type->name);
    break;
  case OS_TYPE_UNKNOWN: os_text_char(text, '?'); break;
  }
}

os_str os_types_print(const os_types *self, os_arena *arena, op_type id) {
  os_text text;
  os_text_init(&text, arena->memory);
  size_t open = 0; // a type has at most one inner type, so nesting is a chain
  for (bool in_map = false;;) {
    os_type type = os_types_get(self, id);
    if (in_map && type.kind == OS_TYPE_TENSOR) { // a map's scalar value stands without tensor()
      os_text_puts(&text, op_elem_name(type.elem));
      break;
    }
    os_type__open(&text, &type);
    if (type.kind == OS_TYPE_UNKNOWN) break;
    open++;
    in_map = type.kind == OS_TYPE_MAP;
    if (type.kind != OS_TYPE_SEQUENCE && type.kind != OS_TYPE_OPTIONAL && type.kind != OS_TYPE_MAP) break;
    id = type.of;
  }
  while (open-- > 0) os_text_char(&text, ')');
  os_str printed = text.failed ? OS_STR("") : os_arena_copy(arena, os_text_str(&text));
  os_text_clear(&text);
  return printed.data == NULL ? OS_STR("") : printed;
}
