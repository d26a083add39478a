#include "json_equal.h"

#include "decimal.h"

static bool os_json__same_number(const os_json_document *a_document, const os_json *a,
                                 const os_json_document *b_document, const os_json *b) {
  os_str x = os_json_source(a_document, a), y = os_json_source(b_document, b);
  // Integers of up to 15 digits are exact as binary64.
  if (a->flags & b->flags & OS_JSON_INTEGER && x.len < 16 && y.len < 16)
    return a->item.valuedouble == b->item.valuedouble;
  if (os_str_eq(x, y)) return true;
  os_decimal i = os_decimal_of(x), j = os_decimal_of(y);
  return os_decimal_compare(&i, &j) == 0;
}

static bool os_json__same_here(const os_json_document *a_document, const os_json *a,
                               const os_json_document *b_document, const os_json *b) {
  if (os_json_type_of(a) != os_json_type_of(b)) return false;
  switch (os_json_type_of(a)) {
  case OS_JSON_NUMBER: return os_json__same_number(a_document, a, b_document, b);
  case OS_JSON_STRING: return os_str_eq(os_json_string(a), os_json_string(b));
  case OS_JSON_ARRAY:
  case OS_JSON_OBJECT: return a->length == b->length;
  default: return true;
  }
}

// Both trees are walked in step; links to parents make a stack needless.
bool os_json_equal(const os_json_document *a_document, const os_json *a, const os_json_document *b_document,
                   const os_json *b) {
  const os_json *root = a;
  for (;;) {
    if (!os_json__same_here(a_document, a, b_document, b)) return false;
    const os_json *next = os_json_first(a);
    if (next != NULL) b = os_json_is(a, OS_JSON_ARRAY) ? os_json_first(b) : os_json_get(b, os_json_key(next));
    while (next == NULL) {
      if (a == root) return true;
      next = os_json_next(a);
      if (next == NULL) {
        a = a->parent;
        b = b->parent;
      } else
        b = os_json_is(a->parent, OS_JSON_ARRAY) ? os_json_next(b)
                                                 : os_json_get(b->parent, os_json_key(next));
    }
    a = next;
    if (b == NULL) return false;
  }
}

static uint64_t os_json__mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ b >> 31) * 0x9e3779b97f4a7c15u + b * 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

static uint64_t os_json__hash_here(const os_json_document *document, const os_json *node) {
  uint64_t type = (uint64_t)os_json_type_of(node);
  if (os_json_is(node, OS_JSON_STRING)) return os_str_hash(os_json_string(node), type);
  if (os_json_is(node, OS_JSON_NUMBER)) {
    os_decimal value = os_decimal_of(os_json_source(document, node));
    return os_json__mix(type, os_decimal_hash(&value));
  }
  return os_json__mix(type, node->length);
}

// The hash of a container is the sum, over everything below it, of what stands there mixed with the path to it: a sum
// does not mind the order of members.
uint64_t os_json_hash(os_arena *arena, const os_json_document *document, const os_json *root,
                      os_status *status) {
  struct {
    uint64_t *items;
    size_t count, room;
  } paths = {0};
  uint64_t path = 1, sum = os_json__hash_here(document, root);
  const os_json *node = root;
  for (;;) {
    const os_json *next = os_json_first(node);
    if (next != NULL) {
      uint64_t *slot = OS_PUSH(arena, &paths);
      if (slot == NULL) {
        *status = OS_OUT_OF_MEMORY;
        return 0;
      }
      *slot = path;
    }
    while (next == NULL) {
      if (node == root) return sum;
      next = os_json_next(node);
      if (next == NULL) {
        node = node->parent;
        paths.count--;
      }
    }
    node = next;
    path = os_json__mix(paths.items[paths.count - 1], node->order);
    sum += os_json__mix(path, os_json__hash_here(document, node));
  }
}

typedef struct os_json_hashed {
  uint64_t hash;
  const os_json *node;
} os_json_hashed;

static bool os_json__before(const os_json_hashed *a, const os_json_hashed *b) {
  return a->hash != b->hash ? a->hash < b->hash : a->node->order <= b->node->order;
}

static void os_json__sort_hashed(os_json_hashed *items, os_json_hashed *spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      size_t middle = start + width < count ? start + width : count;
      size_t end = start + 2 * width < count ? start + 2 * width : count;
      bool sorted = middle == end || !os_json__before(&items[middle], &items[middle - 1]);
      if (sorted) memcpy(spare + start, items + start, (end - start) * sizeof *items);
      for (size_t to = start, a = start, b = middle; to < end && !sorted; to++)
        spare[to] =
            a < middle && (b >= end || os_json__before(&items[a], &items[b])) ? items[a++] : items[b++];
    }
    memcpy(items, spare, count * sizeof *items);
  }
}

static const os_json *os_json__repeated_few(const os_json_document *document, const os_json *array,
                                            const os_json **earlier) {
  OS_JSON_EACH(late, array) {
    for (os_json *early = os_json_first(array); early != late; early = os_json_next(early)) {
      if (!os_json_equal(document, early, document, late)) continue;
      *earlier = early;
      return late;
    }
  }
  return NULL;
}

os_status os_json_set_init(os_json_set *self, os_arena *arena, const os_json_document *document,
                           const os_json *array) {
  os_status status = OS_OK;
  os_json_hashed *spare = OS_ARENA_ARRAY(arena, array->length, os_json_hashed);
  *self = (os_json_set){document, OS_ARENA_ARRAY(arena, array->length, os_json_hashed), 0};
  if (self->items == NULL || spare == NULL) return OS_OUT_OF_MEMORY;
  OS_JSON_EACH(child, array)
  self->items[self->count++] = (os_json_hashed){os_json_hash(arena, document, child, &status), child};
  if (status == OS_OK) os_json__sort_hashed(self->items, spare, self->count);
  return status;
}

bool os_json_set_has(const os_json_set *self, os_arena *arena, const os_json_document *document,
                     const os_json *value, os_status *status) {
  enum { MOST = 64 };
  uint64_t hash = os_json_hash(arena, document, value, status);
  size_t low = 0, high = self->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (self->items[middle].hash < hash)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t i = low; i < self->count && self->items[i].hash == hash; i++) {
    if (os_json_equal(self->document, self->items[i].node, document, value)) return true;
    if (i - low == MOST) *status = OS_LIMIT;
    if (*status != OS_OK) break;
  }
  return false;
}

const os_json *os_json_repeated(os_arena *arena, const os_json_document *document, const os_json *array,
                                const os_json **earlier, os_status *status) {
  os_json_set set;
  if (array->length <= 8) return os_json__repeated_few(document, array, earlier);
  *status = os_json_set_init(&set, arena, document, array);
  if (*status != OS_OK) return NULL;
  const os_json_hashed *items = set.items;
  size_t count = set.count;
  const os_json *found = NULL;
  size_t left = 16 * count; // comparisons of what is different and has one hash
  for (size_t i = 1; i < count; i++) {
    for (size_t j = i; j-- > 0 && items[j].hash == items[i].hash;) {
      if (!os_json_equal(document, items[j].node, document, items[i].node)) {
        if (left-- > 0) continue;
        *status = OS_LIMIT;
        return NULL;
      }
      if (found == NULL || items[i].node->order < found->order) {
        found = items[i].node;
        *earlier = items[j].node;
      }
      // All that equal this one follow it: one pair is enough.
      while (i + 1 < count && items[i + 1].hash == items[j].hash) i++;
      break;
    }
  }
  return found;
}
