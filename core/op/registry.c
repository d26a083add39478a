#include "registry.h"

#include "map.h"
#include "schema_build.h"

// A standard operator at one version: its schema is built when first asked for.
typedef struct os_registry__entry {
  const op_schema *schema;
  const op_row *row;
} os_registry__entry;

// A registered operator. `next` is the one for the same domain, op_type and overload with the next lower since version.
typedef struct os_registry__custom {
  os_operator op;
  struct os_registry__custom *next;
  uint32_t before; // standard operators that come before it in order
} os_registry__custom;

struct os_registry {
  os_arena *arena;
  os_types *types;
  os_signatures signatures;
  os_registry__entry *entries; // one per row of signatures
  const op_type **sets;
  os_map by_name;   // "domain\0op_type\0overload" -> os_registry__custom
  os_map by_domain; // number of registered operators
  struct {
    os_registry__custom **items;
    size_t count, room;
  } customs; // in order
  os_registry__custom *spare;
  const op_family *const *families;
  size_t unplaced;
  const op_row *first_unplaced;
};

static os_str os_registry__domain(os_str domain) {
  return os_str_is(domain, "ai.onnx") ? OS_STR("") : domain;
}

// ---- The standard's ---------------------------------------------------------------------------------------

static int os_registry__order(const os_registry *self, uint32_t place, os_str domain, os_str op_type) {
  const os_signature *row = &self->signatures.rows[place];
  int order = os_str_cmp(os_signature_domains[row->domain].name, domain);
  return order != 0 ? order : os_str_cmp(os_signature_string(&self->signatures, row->name), op_type);
}

// First place in the signatures that is not before (domain, op_type).
static uint32_t os_registry__first(const os_registry *self, os_str domain, os_str op_type) {
  uint32_t low = 0, high = os_signature_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (os_registry__order(self, middle, domain, op_type) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool os_registry__is(const os_registry *self, uint32_t place, os_str domain, os_str op_type) {
  return place < os_signature_count && os_registry__order(self, place, domain, op_type) == 0;
}

static os_operator os_registry__standard(const os_registry *self, uint32_t place) {
  os_registry__entry *entry = &self->entries[place];
  if (entry->schema == NULL)
    entry->schema =
        os_schema_build(self->arena, &self->signatures, &self->signatures.rows[place], self->sets);
  return (os_operator){entry->schema, entry->schema == NULL ? NULL : entry->row};
}

// Gives the row to the versions that it serves, unless a later row has them.
static bool os_registry__place(os_registry *self, const op_row *row) {
  os_str domain = row->domain == NULL ? OS_STR("") : os_registry__domain(os_str_of(row->domain)),
         op_type = os_str_of(row->op_type);
  bool placed = false;
  for (uint32_t i = os_registry__first(self, domain, op_type); os_registry__is(self, i, domain, op_type);
       i++) {
    if (self->signatures.rows[i].since < row->since) continue;
    os_registry__entry *entry = &self->entries[i];
    if (entry->row == NULL || entry->row->since <= row->since) entry->row = row;
    placed = true;
  }
  return placed;
}

os_registry *os_registry_new(os_arena *arena, os_types *types, const op_family *const *families) {
  os_registry *self = OS_ARENA_NEW(arena, os_registry);
  if (self == NULL) return NULL;
  self->arena = arena;
  self->types = types;
  self->families = families;
  if (os_signatures_read(&self->signatures, arena) != OS_OK) return NULL;
  self->entries = OS_ARENA_ARRAY(arena, os_signature_count, os_registry__entry);
  self->sets = OS_ARENA_ARRAY(arena, os_signature_set_count, const op_type *);
  if (self->entries == NULL || self->sets == NULL) return NULL;
  os_map_init(&self->by_name, arena);
  os_map_init(&self->by_domain, arena);
  for (; families != NULL && *families != NULL; families++) {
    for (size_t i = 0; i < (*families)->count; i++) {
      const op_row *row = &(*families)->rows[i];
      if (row->schema != NULL) {
        os_status status = os_registry_add(self, row->schema, row);
        if (status == OS_OUT_OF_MEMORY) return NULL;
        if (status == OS_OK) continue;
      } else if (os_registry__place(self, row))
        continue;
      if (self->unplaced++ == 0) self->first_unplaced = row;
    }
  }
  return self;
}

os_types *os_registry_types(const os_registry *self) { return self->types; }

size_t os_registry_unplaced(const os_registry *self, const op_row **row) {
  if (row != NULL) *row = self->first_unplaced;
  return self->unplaced;
}

const op_row *os_registry_linked_row(const os_registry *self, const op_schema *schema) {
  const op_row *best = NULL;
  for (const op_family *const *family = self->families; family != NULL && *family != NULL; family++) {
    for (size_t i = 0; i < (*family)->count; i++) {
      const op_row *row = &(*family)->rows[i];
      if (row->schema != NULL || row->domain == NULL || row->since > schema->since ||
          !os_str_is(schema->op_type, row->op_type) || !os_str_is(schema->domain, row->domain))
        continue;
      if (best == NULL || row->since > best->since) best = row;
    }
  }
  return best;
}

// ---- Finding ----------------------------------------------------------------------------------------------

enum { SHORT_KEY = 256 };

// "domain\0op_type\0overload" in the buffer, or in the arena where it is too long.
static os_str os_registry__key(const os_registry *self, os_str domain, os_str op_type, os_str overload,
                               char *buffer) {
  size_t len = domain.len + op_type.len + overload.len + 2;
  char *key = len <= SHORT_KEY ? buffer : os_arena_alloc(self->arena, len);
  if (key == NULL) return (os_str){NULL, 0};
  char *to = key;
  const os_str parts[] = {domain, op_type, overload};
  for (size_t i = 0; i < 3; i++) {
    if (parts[i].len > 0) memcpy(to, parts[i].data, parts[i].len);
    to += parts[i].len;
    if (i < 2) *to++ = 0;
  }
  return (os_str){key, len};
}

static const os_registry__custom *os_registry__registered(const os_registry *self, os_str domain,
                                                          os_str op_type, os_str overload, int version) {
  if (self->customs.count == 0) return NULL;
  if (domain.len + op_type.len + overload.len + 2 > SHORT_KEY) {
    for (size_t i = self->customs.count; i-- > 0;) { // rare: no key is built for a look-up
      const op_schema *schema = self->customs.items[i]->op.schema;
      if (schema->since <= version && os_str_eq(os_registry__domain(schema->domain), domain) &&
          os_str_eq(schema->op_type, op_type) && os_str_eq(schema->overload, overload))
        return self->customs.items[i];
    }
    return NULL;
  }
  char buffer[SHORT_KEY];
  const os_map_entry *entry =
      os_map_get(&self->by_name, os_registry__key(self, domain, op_type, overload, buffer));
  const os_registry__custom *custom = entry == NULL ? NULL : entry->value.pointer;
  while (custom != NULL && custom->op.schema->since > version) custom = custom->next;
  return custom;
}

os_operator os_registry_find_standard(const os_registry *self, os_str domain, os_str op_type, os_str overload,
                                      int version) {
  domain = os_registry__domain(domain);
  uint32_t best = os_signature_count;
  if (overload.len == 0)
    for (uint32_t i = os_registry__first(self, domain, op_type); os_registry__is(self, i, domain, op_type);
         i++)
      if (self->signatures.rows[i].since <= version) best = i;
  return best == os_signature_count ? (os_operator){NULL, NULL} : os_registry__standard(self, best);
}

os_operator os_registry_find(const os_registry *self, os_str domain, os_str op_type, os_str overload,
                             int version) {
  domain = os_registry__domain(domain);
  os_operator best = os_registry_find_standard(self, domain, op_type, overload, version);
  const os_registry__custom *custom = os_registry__registered(self, domain, op_type, overload, version);
  return custom != NULL && (best.schema == NULL || best.schema->since <= custom->op.schema->since)
             ? custom->op
             : best;
}

int os_registry_domain_version(const os_registry *self, os_str domain) {
  (void)self;
  domain = os_registry__domain(domain);
  for (uint32_t i = 0; i < os_signature_domain_count; i++)
    if (os_str_eq(os_signature_domains[i].name, domain)) return os_signature_domains[i].version;
  return 0;
}

bool os_registry_knows_domain(const os_registry *self, os_str domain) {
  if (os_registry_domain_version(self, domain) > 0) return true;
  const os_map_entry *entry = os_map_get(&self->by_domain, os_registry__domain(domain));
  return entry != NULL && entry->value.number > 0;
}

// ---- Registering ------------------------------------------------------------------------------------------

static int os_schema__order(const op_schema *a, const op_schema *b) {
  int order = os_str_cmp(os_registry__domain(a->domain), os_registry__domain(b->domain));
  if (order == 0) order = os_str_cmp(a->op_type, b->op_type);
  if (order == 0) order = os_str_cmp(a->overload, b->overload);
  return order != 0 ? order : a->since - b->since;
}

// Standard operators that come before the schema, equal ones included.
static uint32_t os_schema__standard_before(const os_registry *self, const op_schema *schema) {
  os_str domain = os_registry__domain(schema->domain);
  uint32_t i = os_registry__first(self, domain, schema->op_type);
  while (os_registry__is(self, i, domain, schema->op_type) &&
         (schema->overload.len > 0 || self->signatures.rows[i].since <= schema->since))
    i++;
  return i;
}

static size_t os_registry__custom_place(const os_registry *self, const op_schema *schema) {
  size_t low = 0, high = self->customs.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (os_schema__order(self->customs.items[middle]->op.schema, schema) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static os_map_entry *os_registry__put(os_map *map, os_arena *arena, os_str key) {
  os_map_entry *entry = os_map_get(map, key);
  if (entry != NULL) return entry;
  os_str own = os_arena_copy(arena, key);
  return own.data == NULL && own.len > 0 ? NULL : os_map_put(map, own, NULL);
}

os_status os_registry_add(os_registry *self, const op_schema *schema, const op_row *row) {
  if (schema->op_type.len == 0 || schema->since < 1) return OS_INVALID_ARGUMENT;
  size_t place = os_registry__custom_place(self, schema);
  if (place < self->customs.count && os_schema__order(self->customs.items[place]->op.schema, schema) == 0)
    return OS_INVALID_ARGUMENT;
  os_str domain = os_registry__domain(schema->domain);
  char buffer[SHORT_KEY];
  os_str key = os_registry__key(self, domain, schema->op_type, schema->overload, buffer);
  OS_TRY_ALLOC(key.data);
  os_map_entry *of_domain = os_registry__put(&self->by_domain, self->arena, domain);
  os_map_entry *of_name = os_registry__put(&self->by_name, self->arena, key);
  if (of_domain == NULL || of_name == NULL) return OS_OUT_OF_MEMORY;
  os_registry__custom *custom =
      self->spare != NULL ? self->spare : OS_ARENA_NEW(self->arena, os_registry__custom);
  OS_TRY_ALLOC(custom);
  if (OS_PUSH(self->arena, &self->customs) == NULL) {
    custom->next = NULL;
    self->spare = custom;
    return OS_OUT_OF_MEMORY;
  }
  if (custom == self->spare) self->spare = custom->next;
  *custom = (os_registry__custom){.op = {schema, row}, .before = os_schema__standard_before(self, schema)};
  memmove(&self->customs.items[place + 1], &self->customs.items[place],
          (self->customs.count - 1 - place) * sizeof *self->customs.items);
  self->customs.items[place] = custom;
  os_registry__custom *head = of_name->value.pointer, **link = &head;
  while (*link != NULL && (*link)->op.schema->since > schema->since) link = &(*link)->next;
  custom->next = *link;
  *link = custom;
  of_name->value.pointer = head;
  of_domain->value.number++;
  return OS_OK;
}

void os_registry_remove(os_registry *self, const op_schema *schema) {
  size_t place = os_registry__custom_place(self, schema);
  if (place >= self->customs.count || self->customs.items[place]->op.schema != schema) return;
  os_registry__custom *custom = self->customs.items[place];
  os_str domain = os_registry__domain(schema->domain);
  char buffer[SHORT_KEY];
  os_map_entry *of_name =
      os_map_get(&self->by_name, os_registry__key(self, domain, schema->op_type, schema->overload, buffer));
  os_map_entry *of_domain = os_map_get(&self->by_domain, domain);
  if (of_name == NULL || of_domain == NULL) return;
  os_registry__custom *head = of_name->value.pointer, **link = &head;
  while (*link != NULL && *link != custom) link = &(*link)->next;
  if (*link != NULL) *link = custom->next;
  of_name->value.pointer = head;
  of_domain->value.number--;
  memmove(&self->customs.items[place], &self->customs.items[place + 1],
          (self->customs.count - 1 - place) * sizeof *self->customs.items);
  self->customs.count--;
  custom->next = self->spare;
  self->spare = custom;
}

// ---- Listing ----------------------------------------------------------------------------------------------

os_operator os_registry_at(const os_registry *self, size_t index) {
  size_t low = 0, high = self->customs.count; // first custom operator that is at `index` or behind
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (self->customs.items[middle]->before + middle < index)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < self->customs.count && self->customs.items[low]->before + low == index)
    return self->customs.items[low]->op;
  size_t place = index - low;
  return place < os_signature_count ? os_registry__standard(self, (uint32_t)place)
                                    : (os_operator){NULL, NULL};
}

typedef struct os_registry__near {
  os_str *names;
  unsigned distances[16];
  size_t room, count;
} os_registry__near;

enum { LONGEST_NAME = 64 };

static os_str os_registry__lower(os_str text, char *buffer) {
  for (size_t i = 0; i < text.len; i++) {
    char c = text.data[i];
    buffer[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
  }
  return (os_str){buffer, text.len};
}

// Keeps the name when it is among the nearest so far. Letter case does not count as a difference.
static void os_registry__offer(os_registry__near *self, os_str wanted, os_str name) {
  if (name.len > LONGEST_NAME || wanted.len > LONGEST_NAME) return;
  char a[LONGEST_NAME], b[LONGEST_NAME];
  unsigned most = wanted.len < 4 ? 1 : wanted.len < 8 ? 2 : 3;
  unsigned distance = os_str_distance(os_registry__lower(wanted, a), os_registry__lower(name, b), most);
  if (distance > most) return;
  for (size_t i = 0; i < self->count; i++)
    if (os_str_eq(self->names[i], name)) return;
  size_t at = self->count;
  while (at > 0 && self->distances[at - 1] > distance) at--;
  if (at == self->room) return;
  if (self->count < self->room) self->count++;
  for (size_t i = self->count - 1; i > at; i--) {
    self->names[i] = self->names[i - 1];
    self->distances[i] = self->distances[i - 1];
  }
  self->names[at] = name;
  self->distances[at] = distance;
}

size_t os_registry_suggest(const os_registry *self, os_str domain, os_str op_type, os_str *names,
                           size_t room) {
  os_registry__near near = {.names = names, .room = room < 16 ? room : 16};
  domain = os_registry__domain(domain);
  for (uint32_t i = 0; i < os_signature_count; i++)
    if (os_str_eq(os_signature_domains[self->signatures.rows[i].domain].name, domain) &&
        (i == 0 || self->signatures.rows[i].name != self->signatures.rows[i - 1].name))
      os_registry__offer(&near, op_type,
                         os_signature_string(&self->signatures, self->signatures.rows[i].name));
  for (size_t i = 0; i < self->customs.count; i++) {
    const op_schema *schema = self->customs.items[i]->op.schema;
    if (os_str_eq(os_registry__domain(schema->domain), domain))
      os_registry__offer(&near, op_type, schema->op_type);
  }
  return near.count;
}

static size_t os_registry__add_domain(os_str domain, os_str *domains, size_t count, size_t room) {
  for (size_t i = 0; i < count; i++)
    if (os_str_eq(domains[i], domain)) return count;
  if (count < room) domains[count++] = domain;
  return count;
}

size_t os_registry_domains_of(const os_registry *self, os_str op_type, os_str *domains, size_t room) {
  size_t count = 0;
  for (uint32_t i = 0; i < os_signature_domain_count; i++) {
    os_str domain = os_signature_domains[i].name;
    if (os_registry__is(self, os_registry__first(self, domain, op_type), domain, op_type))
      count = os_registry__add_domain(domain, domains, count, room);
  }
  for (size_t i = 0; i < self->customs.count; i++) {
    const op_schema *schema = self->customs.items[i]->op.schema;
    if (os_str_eq(schema->op_type, op_type))
      count = os_registry__add_domain(schema->domain, domains, count, room);
  }
  return count;
}

bool os_registry_is_legacy(const os_registry *self, os_str domain, os_str op_type) {
  (void)self;
  if (os_registry__domain(domain).len > 0) return false;
  for (uint32_t i = 0; i < os_signature_legacy_count; i++)
    if (os_str_eq(os_signature_legacy[i], op_type)) return true;
  return false;
}
