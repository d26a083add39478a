// Duplicate keys and look-up in objects. Keys may be hostile: nothing here is quadratic in their number.
#include "json_index.h"

#include "json_equal.h"
#include "json_rules.h"
#include "json_scan.h"

enum { LONGEST_PROBE = 48 };

static bool os_json__same_key(const os_json *a, const os_json *b) {
  return a->order == b->order && a->key_length == b->key_length &&
         os_bytes_eq(a->item.string, b->item.string, a->key_length);
}

static void os_json__unlink(os_json *object, os_json *child) {
  cJSON *item = &child->item, *first = object->item.child;
  if (item->next != NULL)
    item->next->prev = item->prev;
  else
    first->prev = item->prev;
  if (item == first)
    object->item.child = item->next;
  else
    item->prev->next = item->next;
  object->length--;
  object->flags |= OS_JSON_DUPLICATES;
}

// Takes the later of two members out, with the comma in front of it.
static void os_scan__fix_duplicate(os_scan *self, os_finding *finding, const os_json *late) {
  const char *text = self->text, *start = text + late->key_start;
  while (os_scan_is_white(start[-1])) start--;
  start--; // the comma
  while (os_scan_is_white(start[-1])) start--;
  os_fix *fix = os_finding_fix(self->report, finding, true, "Remove the second: it says the same");
  os_fix_edit(self->report, fix, self->document->file, (os_range){(uint64_t)(start - text), late->end},
              OS_STR(""));
}

// The later one stays.
static void os_scan__duplicate(os_scan *self, os_json *object, os_json *early, os_json *late) {
  os_json__unlink(object, early);
  if (self->report == NULL) return;
  os_str key = os_json_quote_head(self->arena, os_json_key(late));
  os_finding *finding = os_report_add_as(
      self->report, &os_rule_json_duplicate_key, self->duplicate_errors ? OS_ERROR : OS_WARNING,
      "The key %.*s stands twice in this object; remove one of them (the last one was kept).", OS_ARG(key));
  if (self->report->full) return; // it is only counted
  os_json_where_key(self->document, self->arena, late, &finding->where);
  os_related *related = os_finding_relate(self->report, finding, "the key stands here first");
  os_json_where_key(self->document, self->arena, early, &related->where);
  if (os_json_equal(self->document, early, self->document, late)) os_scan__fix_duplicate(self, finding, late);
}

static bool os_scan__close_small(os_scan *self, os_json *object) {
  uint64_t seen = 0;
  bool suspect = false;
  OS_JSON_EACH(child, object) {
    uint64_t bit = (uint64_t)1 << (child->order & 63);
    suspect |= (seen & bit) != 0;
    seen |= bit;
  }
  if (!suspect) return true;
  OS_JSON_EACH(late, object) {
    for (os_json *early = os_json_first(object); early != late; early = os_json_next(early)) {
      if (!os_json__same_key(early, late)) continue;
      os_scan__duplicate(self, object, early, late);
      break;
    }
  }
  return true;
}

static int os_json__order(const os_json *a, const os_json *b) {
  if (a->order != b->order) return a->order < b->order ? -1 : 1;
  return os_str_cmp(os_json_key(a), os_json_key(b));
}

static void os_json__sort(os_json **items, os_json **spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      size_t middle = start + width < count ? start + width : count;
      size_t end = start + 2 * width < count ? start + 2 * width : count;
      for (size_t to = start, a = start, b = middle; to < end; to++)
        spare[to] =
            a < middle && (b >= end || os_json__order(items[a], items[b]) <= 0) ? items[a++] : items[b++];
    }
    memcpy(items, spare, count * sizeof *items);
  }
}

// Too many keys in one place of the table: somebody chose them. A stable sort brings equal keys together.
static bool os_scan__close_sorted(os_scan *self, os_json *object, os_json_index *index) {
  size_t count = object->length, kept = 0;
  os_json **items = OS_ARENA_ARRAY(self->arena, count, os_json *);
  os_json **spare = OS_ARENA_ARRAY(self->arena, count, os_json *);
  if (items == NULL || spare == NULL) return os_scan_memory(self);
  size_t at = 0;
  OS_JSON_EACH(child, object) items[at++] = child;
  os_json__sort(items, spare, count);
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && os_json__same_key(items[kept - 1], items[i]))
      os_scan__duplicate(self, object, items[--kept], items[i]);
    items[kept++] = items[i];
  }
  index->sorted = items;
  index->count = (uint32_t)kept;
  return true;
}

static bool os_json__index_room(os_scan *self, os_json_index *index, uint32_t room) {
  os_json_slot *old = index->slots;
  uint32_t old_room = old == NULL ? 0 : index->mask + 1;
  index->slots = OS_ARENA_ARRAY(self->arena, room, os_json_slot);
  if (index->slots == NULL) return os_scan_memory(self);
  index->mask = room - 1;
  for (uint32_t i = 0; i < old_room; i++) {
    if (old[i].member == NULL) continue;
    uint32_t at = old[i].hash & index->mask;
    while (index->slots[at].member != NULL) at = (at + 1) & index->mask;
    index->slots[at] = old[i];
  }
  return true;
}

static bool os_json__index_add(os_scan *self, os_json_index *index, os_json *member) {
  if (index->crowded) return true;
  if (index->count * 2 > index->mask && !os_json__index_room(self, index, (index->mask + 1) * 2))
    return false;
  uint32_t hash = member->order, at = hash & index->mask, probes = 0;
  os_json_slot *slots = index->slots;
  while (slots[at].member != NULL &&
         !(slots[at].hash == hash && os_json__same_key(slots[at].member, member))) {
    if (++probes > LONGEST_PROBE) {
      index->crowded = true;
      return true;
    }
    at = (at + 1) & index->mask;
  }
  os_json *early = slots[at].member;
  slots[at] = (os_json_slot){member, hash};
  index->count += early == NULL;
  if (early == NULL) return true;
  struct os_json_pair *pair = OS_PUSH(self->arena, &index->repeated);
  if (pair == NULL) return os_scan_memory(self);
  *pair = (struct os_json_pair){early, member};
  return true;
}

bool os_scan_index_member(os_scan *self, os_json *object, os_json *member) {
  if (object->index != NULL) return os_json__index_add(self, object->index, member);
  os_json_index *index = OS_ARENA_NEW(self->arena, os_json_index);
  if (index == NULL || !os_json__index_room(self, index, 64)) return os_scan_memory(self);
  object->index = index;
  OS_JSON_EACH(child, object) if (!os_json__index_add(self, index, child)) return false;
  return true;
}

static bool os_scan__close_large(os_scan *self, os_json *object) {
  os_json_index *index = object->index;
  if (index->crowded) return os_scan__close_sorted(self, object, index);
  for (size_t i = 0; i < index->repeated.count; i++)
    os_scan__duplicate(self, object, index->repeated.items[i].early, index->repeated.items[i].late);
  return true;
}

bool os_scan_close_object(os_scan *self, os_json *object) {
  return object->index == NULL ? os_scan__close_small(self, object) : os_scan__close_large(self, object);
}

// No memory.fill for so few (os_arena_zalloc says why).
__attribute__((no_builtin("memset"))) void os_json_members(const os_json *object, const os_str *names,
                                                           size_t count, const os_json **out) {
  size_t guess = 0;
  for (size_t i = 0; i < count; i++) out[i] = NULL;
  OS_JSON_EACH(child, os_json_is(object, OS_JSON_OBJECT) ? object : NULL) {
    for (size_t tried = 0; tried < count; tried++) {
      size_t at = guess;
      guess = at + 1 < count ? at + 1 : 0;
      if (!os_str_eq(os_json_key(child), names[at])) continue;
      out[at] = child;
      break;
    }
  }
}

static os_json *os_json__search(const os_json_index *index, os_str key, uint32_t hash) {
  uint32_t low = 0, high = index->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    os_json *item = index->sorted[middle];
    int order = item->order != hash ? (item->order < hash ? -1 : 1) : os_str_cmp(os_json_key(item), key);
    if (order == 0) return item;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

os_json *os_json_get(const os_json *object, os_str key) {
  if (!os_json_is(object, OS_JSON_OBJECT)) return NULL;
  if (object->index == NULL) {
    OS_JSON_EACH(child, object)
    if (os_str_eq(os_json_key(child), key)) return child;
    return NULL;
  }
  uint32_t hash = os_json_key_hash(key);
  const os_json_index *index = object->index;
  if (index->sorted != NULL) return os_json__search(index, key, hash);
  for (uint32_t at = hash & index->mask; index->slots[at].member != NULL; at = (at + 1) & index->mask) {
    const os_json_slot *slot = &index->slots[at];
    if (slot->hash == hash && os_str_eq(os_json_key(slot->member), key)) return slot->member;
  }
  return NULL;
}
