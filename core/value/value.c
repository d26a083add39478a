#include "value.h"

#include <string.h>

enum { ALIGN = 16 };

static size_t os_value__round(size_t size) { return (size + (ALIGN - 1)) & ~(size_t)(ALIGN - 1); }

bool os_tensor_count(op_elem elem, int32_t rank, const int64_t *dims, int64_t *count, size_t *bytes) {
  size_t elements = 1;
  bool empty = false;
  for (int32_t i = 0; i < rank; i++) {
    if (dims[i] < 0) return false;
    empty |= dims[i] == 0;
  }
  for (int32_t i = 0; i < rank && !empty; i++)
    if ((uint64_t)dims[i] > SIZE_MAX || !os_size_mul(elements, (size_t)dims[i], &elements)) return false;
  if (empty) elements = 0;
  *count = (int64_t)elements;
  return os_size_mul(elements, op_elem_size(elem), bytes) && *bytes <= SIZE_MAX / 2;
}

// A value with room for its dims and for `bytes` of data behind them, 16-byte aligned.
static op_value *os_value__new(os_memory *memory, op_kind kind, op_type type, int32_t rank, size_t bytes) {
  if (rank < 0 || rank > OP_MAX_RANK) return NULL;
  size_t head = os_value__round(sizeof(struct os_value) + (size_t)rank * sizeof(int64_t)), whole;
  if (!os_size_add(head, bytes, &whole)) return NULL;
  op_value *self = os_memory_alloc(memory, whole);
  if (self == NULL) return NULL;
  memset(self, 0, sizeof *self);
  self->refs = 1;
  self->kind = kind;
  self->type = type;
  self->memory = memory;
  self->tensor.rank = rank;
  self->tensor.dims = self->inline_dims;
  self->tensor.data = (char *)self + head;
  return self;
}

static void os_value__dims(op_value *self, int32_t rank, const int64_t *dims) {
  if (rank > 0) memcpy(self->inline_dims, dims, (size_t)rank * sizeof *dims);
}

op_value *os_value_tensor(os_memory *memory, op_elem elem, int32_t rank, const int64_t *dims) {
  int64_t count;
  size_t bytes;
  if (!os_tensor_count(elem, rank, dims, &count, &bytes)) return NULL;
  op_value *self = os_value__new(memory, OP_TENSOR, op_type_tensor(elem), rank, bytes);
  if (self == NULL) return NULL;
  os_value__dims(self, rank, dims);
  self->tensor.elem = elem;
  self->tensor.count = count;
  if (elem == OP_STRING) memset(self->tensor.data, 0, bytes);
  return self;
}

op_value *os_value_borrow(os_memory *memory, op_elem elem, int32_t rank, const int64_t *dims, void *data) {
  int64_t count;
  size_t bytes;
  if (!os_tensor_count(elem, rank, dims, &count, &bytes)) return NULL;
  op_value *self = os_value__new(memory, OP_TENSOR, op_type_tensor(elem), rank, 0);
  if (self == NULL) return NULL;
  os_value__dims(self, rank, dims);
  self->tensor.elem = elem;
  self->tensor.count = count;
  self->tensor.data = data;
  self->borrowed = true;
  return self;
}

op_value *os_value_view(op_value *of, int32_t rank, const int64_t *dims) {
  op_value *self = os_value_borrow(of->memory, of->tensor.elem, rank, dims, of->tensor.data);
  if (self == NULL) return NULL;
  if (self->tensor.count != of->tensor.count) {
    op_value_release(self);
    return NULL;
  }
  op_value *owner = of->owner != NULL ? of->owner : of;
  self->owner = op_value_retain(owner);
  self->borrowed = owner->borrowed;
  return self;
}

op_value *os_value_sequence(os_memory *memory, op_type type, size_t room) {
  op_value *self = os_value__new(memory, OP_SEQUENCE, type, 0, 0);
  if (self == NULL || room == 0) return self;
  size_t bytes;
  self->items = os_size_mul(room, sizeof *self->items, &bytes) ? os_memory_alloc(memory, bytes) : NULL;
  if (self->items == NULL) {
    op_value_release(self);
    return NULL;
  }
  self->room = room;
  return self;
}

op_value *os_value_optional(os_memory *memory, op_type type, op_value *inner) {
  op_value *self = os_value_sequence(memory, type, 1);
  if (self == NULL) {
    op_value_release(inner);
    return NULL;
  }
  self->kind = OP_OPTIONAL;
  if (inner != NULL) self->items[self->count++] = inner;
  return self;
}

// Moves `count` references into the items of a new value; releases them all when that fails.
static op_value *os_value__of_items(os_memory *memory, op_kind kind, op_type type, op_value *const *items,
                                    size_t count) {
  op_value *self = os_value_sequence(memory, type, count);
  if (self == NULL) {
    for (size_t i = 0; i < count; i++) op_value_release(items[i]);
    return NULL;
  }
  self->kind = kind;
  for (size_t i = 0; i < count; i++) self->items[self->count++] = items[i];
  return self;
}

op_value *os_value_map(os_memory *memory, op_type type, op_value *keys, op_value *const *values,
                       size_t count) {
  op_value *self = os_value__of_items(memory, OP_MAP, type, values, count);
  if (self == NULL)
    op_value_release(keys);
  else
    self->keys = keys;
  return self;
}

op_value *os_value_sparse(os_memory *memory, op_type type, op_value *values, op_value *indices, int32_t rank,
                          const int64_t *dims) {
  op_elem elem = values->tensor.elem;
  op_value *self = os_value__new(memory, OP_SPARSE, type, rank, 0);
  op_value **items = self == NULL ? NULL : os_memory_alloc(memory, 2 * sizeof *items);
  if (items == NULL) {
    op_value_release(self);
    op_value_release(values);
    op_value_release(indices);
    return NULL;
  }
  os_value__dims(self, rank, dims);
  self->tensor.elem = elem;
  items[0] = values;
  items[1] = indices;
  self->items = items;
  self->count = self->room = 2;
  return self;
}

// ---- Strings ----------------------------------------------------------------------------------------------

static void os_pool__release(os_pool *pool) {
  while (pool != NULL && --pool->refs == 0) {
    os_pool *older = pool->next_chunk;
    os_memory_free(pool->memory, pool);
    pool = older;
  }
}

static os_pool *os_pool__new(os_memory *memory, size_t room, os_pool *older) {
  size_t whole;
  os_pool *self = os_size_add(sizeof *self, room, &whole) ? os_memory_alloc(memory, whole) : NULL;
  if (self != NULL) *self = (os_pool){.refs = 1, .memory = memory, .room = room, .next_chunk = older};
  return self;
}

static bool os_value__add_pool(op_value *self, os_pool *pool) {
  for (uint32_t i = 0; i < self->pool_count; i++)
    if (self->pools[i] == pool) return true;
  os_pool **pools = os_memory_realloc(self->memory, self->pools, (self->pool_count + 1) * sizeof *pools);
  if (pools == NULL) return false;
  self->pools = pools;
  pools[self->pool_count++] = pool;
  pool->refs++;
  return true;
}

enum { POOL_FIRST = 240, POOL_LARGEST = 1 << 16 };

// The newest chunk of the value's own pool (the last in its list, when nobody else holds it) with `len` bytes free.
static os_pool *os_value__pool(op_value *self, size_t len) {
  os_pool **last = self->pool_count > 0 ? &self->pools[self->pool_count - 1] : NULL;
  bool own = last != NULL && (*last)->refs == 1;
  if (own && (*last)->room - (*last)->len >= len) return *last;
  size_t room = own ? (*last)->room * 2 : POOL_FIRST;
  if (room > POOL_LARGEST) room = POOL_LARGEST;
  if (room < len) room = len;
  os_pool *chunk = os_pool__new(self->memory, room, own ? *last : NULL);
  if (chunk == NULL) return NULL;
  if (own) {
    *last = chunk;
    return chunk;
  }
  bool added = os_value__add_pool(self, chunk);
  os_pool__release(chunk); // the list holds it now, if it was added
  return added ? chunk : NULL;
}

os_status op_string_set(op_tensor *tensor, int64_t index, os_str text) {
  op_value *self = (op_value *)tensor;
  os_str *element = (os_str *)tensor->data + index;
  if (text.len == 0) {
    *element = (os_str){NULL, 0};
    return OS_OK;
  }
  os_pool *pool = os_value__pool(self, text.len);
  OS_TRY_ALLOC(pool);
  char *to = pool->data + pool->len;
  memcpy(to, text.data, text.len);
  pool->len += text.len;
  *element = (os_str){to, text.len};
  return OS_OK;
}

os_status op_strings_share(op_tensor *to, const op_tensor *from) {
  const op_value *source = (const op_value *)from;
  if (source->owner != NULL) source = source->owner;
  for (uint32_t i = 0; i < source->pool_count; i++)
    if (!os_value__add_pool((op_value *)to, source->pools[i])) return OS_OUT_OF_MEMORY;
  return OS_OK;
}

// ---- Any value --------------------------------------------------------------------------------------------

op_kind op_value_kind(const op_value *value) { return value->kind; }
op_type op_value_type(const op_value *value) { return value->type; }

const op_tensor *op_value_tensor(const op_value *value) {
  return value->kind == OP_TENSOR ? &value->tensor : NULL;
}

op_tensor *op_value_edit(op_value *tensor) { return &tensor->tensor; }

op_value *op_value_retain(op_value *value) {
  value->refs++;
  return value;
}

static void os_value__free(op_value *self) {
  for (uint32_t i = 0; i < self->pool_count; i++) os_pool__release(self->pools[i]);
  os_memory_free(self->memory, self->pools);
  os_memory_free(self->memory, self->items);
  os_memory_free(self->memory, self);
}

// What a value that is about to go holds is pushed on a list that runs through `owner`, so that deep nesting needs no
// stack: at that moment `owner` of a value without references is free for it.
static op_value *os_value__drop(op_value *value, op_value *doomed) {
  if (value == NULL || --value->refs > 0) return doomed;
  if (value->owner != NULL) {
    op_value *owner = value->owner;
    value->owner = NULL;
    doomed = os_value__drop(owner, doomed); // an owner has no owner: one level
  }
  value->owner = doomed;
  return value;
}

void op_value_release(op_value *value) {
  op_value *doomed = os_value__drop(value, NULL);
  while (doomed != NULL) {
    op_value *self = doomed;
    doomed = self->owner;
    for (size_t i = 0; i < self->count; i++) doomed = os_value__drop(self->items[i], doomed);
    doomed = os_value__drop(self->keys, doomed);
    os_value__free(self);
  }
}

size_t op_sequence_count(const op_value *sequence) { return sequence->count; }
op_value *op_sequence_at(const op_value *sequence, size_t index) { return sequence->items[index]; }
op_value *op_optional_value(const op_value *optional) {
  return optional->count == 0 ? NULL : optional->items[0];
}

const op_tensor *op_map_keys(const op_value *map) { return &map->keys->tensor; }
op_value *op_map_at(const op_value *map, size_t index) { return map->items[index]; }

const op_tensor *op_sparse_shape(const op_value *sparse) { return &sparse->tensor; }
const op_tensor *op_sparse_values(const op_value *sparse) { return op_value_tensor(sparse->items[0]); }
const op_tensor *op_sparse_indices(const op_value *sparse) { return op_value_tensor(sparse->items[1]); }

os_status op_sequence_insert(op_value *sequence, size_t index, op_value *element) {
  if (sequence->count == sequence->room) {
    size_t room = sequence->room < 4 ? 8 : sequence->room * 2, bytes;
    op_value **items = os_size_mul(room, sizeof *items, &bytes)
                           ? os_memory_realloc(sequence->memory, sequence->items, bytes)
                           : NULL;
    if (items == NULL) {
      op_value_release(element);
      return OS_OUT_OF_MEMORY;
    }
    sequence->items = items;
    sequence->room = room;
  }
  memmove(&sequence->items[index + 1], &sequence->items[index],
          (sequence->count - index) * sizeof *sequence->items);
  sequence->items[index] = element;
  sequence->count++;
  return OS_OK;
}

void op_sequence_remove(op_value *sequence, size_t index) {
  op_value *element = sequence->items[index];
  sequence->count--;
  memmove(&sequence->items[index], &sequence->items[index + 1],
          (sequence->count - index) * sizeof *sequence->items);
  op_value_release(element);
}
