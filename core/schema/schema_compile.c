#include "format.h"
#include "schema_rows.h"

#include <stdarg.h>

os_finding *os_compile_wrong(os_compile *self, const os_rule *rule, const os_json *json, const char *format,
                             ...) {
  va_list arguments;
  va_start(arguments, format);
  char text[512];
  os_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  self->failed = true;
  os_finding *finding = os_report_add(self->report, rule, "%s", text);
  os_json_where(self->document, self->arena, json, &finding->where);
  return finding;
}

enum { WORK_LIMIT = 1 << 23 };

void os_compile_work(os_compile *self, uint64_t units) {
  self->work += units;
  if (self->work <= WORK_LIMIT || self->failed) return;
  self->failed = true;
  os_report_incomplete(self->report, "the schema takes too long to be read");
}

bool os_compile_register(os_compile *self, os_schema_node *node) {
  os_schema_node **slot = OS_PUSH(self->arena, &self->nodes);
  if (slot == NULL) return false;
  *slot = node;
  ((os_json *)(uintptr_t)node->json)->item.valueint = (int)self->nodes.count;
  return true;
}

static os_schema_node *os_compile__known(const os_compile *self, const os_json *json) {
  // What another compiling has left there names another node.
  size_t at = (size_t)json->item.valueint - 1;
  return at < self->nodes.count && self->nodes.items[at]->json == json ? self->nodes.items[at] : NULL;
}

// A schema where none was looked for, such as in an unknown keyword: it belongs to what stands around it.
static os_schema_node *os_compile__unknown(os_compile *self, const os_json *json) {
  const os_json *around = json->parent;
  os_schema_node *outer = NULL, *node = OS_ARENA_NEW(self->arena, os_schema_node);
  for (; around != NULL && outer == NULL; around = around->parent) {
    outer = os_compile__known(self, around);
    os_compile_work(self, 1);
  }
  if (node == NULL || outer == NULL) return NULL;
  node->json = json;
  node->resource = outer->resource;
  return os_compile_register(self, node) ? node : NULL;
}

os_schema_node *os_compile_node(os_compile *self, const os_json *json) {
  if (!os_json_is(json, OS_JSON_OBJECT) && !os_json_is(json, OS_JSON_BOOL)) {
    os_compile_wrong(self, &os_rule_schema_invalid, json, "A schema is an object, true or false, not %s.",
                     os_json_type_name(json));
    return NULL;
  }
  os_schema_node *node = os_compile__known(self, json);
  if (node == NULL) node = os_compile__unknown(self, json);
  if (node == NULL || node->listed) return node;
  os_schema_node **slot = OS_PUSH(self->arena, &self->list);
  if (slot == NULL) return NULL;
  node->listed = true;
  return *slot = node;
}

os_status os_compile_child(os_compile *self, const os_json *json, os_schema_node **out) {
  *out = os_compile_node(self, json);
  return *out == NULL && !self->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_compile_one(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  return os_compile_child(self, row->value, &row->as.one.node);
}

os_schema_entry *os_schema_find(const os_schema_entries *self, os_str name, uint32_t hash) {
  for (uint32_t at = hash & self->mask; self->slots[at] != 0; at = (at + 1) & self->mask) {
    os_schema_entry *entry = &self->items[self->slots[at] - 1];
    if (entry->hash == hash && os_str_eq(entry->name, name)) return entry;
  }
  return NULL;
}

static os_status os_compile__slots(os_compile *self, os_schema_entries *entries) {
  uint32_t room = 8;
  while (room < entries->count * 2) room *= 2;
  entries->slots = OS_ARENA_ARRAY(self->arena, room, uint32_t);
  OS_TRY_ALLOC(entries->slots);
  entries->mask = room - 1;
  for (uint32_t i = 0; i < entries->count; i++) {
    uint32_t at = entries->items[i].hash & entries->mask;
    while (entries->slots[at] != 0) at = (at + 1) & entries->mask;
    entries->slots[at] = i + 1;
  }
  return OS_OK;
}

os_status os_compile_pattern(os_compile *self, const os_json *json, os_str source, os_pattern **out) {
  os_map_entry *entry = os_map_put(&self->patterns, source, NULL);
  OS_TRY_ALLOC(entry);
  os_pattern *pattern = entry->value.pointer;
  os_str message = {0};
  if (pattern == NULL) {
    os_compile_work(self, os_pattern_work(source));
    if (self->failed) return OS_OK;
    OS_TRY(os_pattern_compile(&pattern, self->arena, source, &message));
  }
  if (pattern == NULL) {
    os_str quoted = os_json_quote_head(self->arena, source);
    os_compile_wrong(self, &os_rule_schema_pattern_syntax, json, "The pattern %.*s is wrong: %.*s.",
                     OS_ARG(quoted), OS_ARG(message));
  }
  *out = entry->value.pointer = pattern;
  return OS_OK;
}

os_status os_compile_entries(os_compile *self, const os_json *json, bool patterns, os_schema_entries *out) {
  out->items = OS_ARENA_ARRAY(self->arena, json->length + 1, os_schema_entry);
  OS_TRY_ALLOC(out->items);
  OS_JSON_EACH(child, json) {
    if (os_json_is(json, OS_JSON_OBJECT) && os_json_is(child, OS_JSON_ARRAY)) continue; // of "dependencies"
    os_schema_entry *entry = &out->items[out->count++];
    entry->name = os_json_key(child);
    entry->hash = child->order;
    entry->bit = out->count <= 64 ? (uint64_t)1 << (out->count - 1) : 0;
    entry->node = os_compile_node(self, child);
    if (entry->node == NULL) return self->failed ? OS_OK : OS_OUT_OF_MEMORY;
    if (patterns) OS_TRY(os_compile_pattern(self, child, entry->name, &entry->pattern));
  }
  return patterns || os_json_is(json, OS_JSON_ARRAY) ? OS_OK : os_compile__slots(self, out);
}

os_schema_node *os_schema_real(os_schema_node *node) {
  return node == NULL || node->alias == NULL ? node : node->alias;
}

const os_schema_row *os_schema_row_of(const os_schema_node *node, const char *keyword) {
  for (uint32_t i = 0; i < node->row_count; i++)
    if (strcmp(node->rows[i].keyword->name, keyword) == 0) return &node->rows[i];
  return NULL;
}

static bool os_compile__is_ref(const os_schema_row *row) { return strcmp(row->keyword->name, "$ref") == 0; }

static bool os_compile__chooses(const os_schema_row *row) {
  return row->keyword->rule == &os_rule_schema_any_of || row->keyword->rule == &os_rule_schema_one_of;
}

int os_schema_types(os_schema_node *node, int depth) {
  node = os_schema_real(node);
  if (node == NULL || depth <= 0) return 0xff;
  if (node->never) return 0;
  if (node->reach_known) return node->reach;
  node->reach_known = true; // a circle finds everything possible
  node->reach = 0xff;
  int types = node->types;
  for (uint32_t i = 0; i < node->row_count; i++) {
    const os_schema_row *row = &node->rows[i];
    if (os_compile__is_ref(row)) types &= os_schema_types(row->as.one.node, depth - 1);
    if (!os_compile__chooses(row)) continue;
    int any = 0;
    for (uint32_t j = 0; j < row->as.list.entries.count; j++)
      any |= os_schema_types(row->as.list.entries.items[j].node, depth - 1);
    types &= any;
  }
  return node->reach = types;
}

// ---- References -------------------------------------------------------------------------------------------

// Which node a $dynamicRef means that leads to a dynamic anchor: where the outermost resource has the anchor it is always
// that one, as every way begins there.
static os_status os_compile__dynamic_ref(os_compile *self, os_schema_row *row, os_str anchor) {
  const os_schema_node *outermost = os_schema_anchor(self->outermost->dynamic, anchor);
  if (outermost != NULL) {
    row->as.one.node = os_compile_node(self, outermost->json);
    return row->as.one.node == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  }
  row->as.one.dynamic = anchor;
  self->dynamic = true;
  return OS_OK;
}

static os_status os_compile__ref(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  os_status status = OS_OK;
  if (self->failed) return OS_OK;
  os_str anchor = {0};
  const os_json *target = os_json_is(row->value, OS_JSON_STRING)
                              ? os_compile_target(self, node, os_json_string(row->value), &anchor, &status)
                              : NULL;
  OS_TRY(status);
  if (target == NULL) {
    os_str found = os_json_excerpt(self->document, self->arena, row->value);
    if (!self->failed)
      os_compile_wrong(self, &os_rule_schema_ref, row->value,
                       "The reference %.*s leads nowhere in the schemas that were given.", OS_ARG(found));
    return OS_OK;
  }
  row->as.one.node = os_compile_node(self, target);
  if (row->as.one.node == NULL) return self->failed ? OS_OK : OS_OUT_OF_MEMORY;
  if (row->keyword->name[1] != 'd' || anchor.len == 0) return OS_OK;
  if (!os_str_eq(os_json_string(os_json_member(target, "$dynamicAnchor")), anchor)) return OS_OK;
  return os_compile__dynamic_ref(self, row, anchor);
}

// The outermost resource on the way here that has the anchor decides.
static os_schema_node *os_compile__dynamic(os_eval *self, const os_frame *frame, const os_schema_row *row) {
  os_schema_node *node = row->as.one.node;
  uint64_t steps = 0;
  if (row->as.one.dynamic.len == 0) return node;
  for (const os_scope *scope = frame->scope; scope != NULL; scope = scope->outer, steps++) {
    os_schema_node *outer = os_schema_anchor(scope->resource->dynamic, row->as.one.dynamic);
    if (outer != NULL) node = outer;
  }
  os_eval_work(self, steps);
  return node;
}

static os_step os_compile__ref_next(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step++ == 0)
    return os_eval_call(self, os_compile__dynamic(self, frame, row), frame->value, frame->report);
  if (!passed) frame->passed = false;
  return OS_STEP_DONE;
}

static bool os_compile__ref_quick(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_eval_quick(self, row->as.one.node, value);
}

static const os_schema_keyword references[] = {{.name = "$ref",
                                                .compile = os_compile__ref,
                                                .next = os_compile__ref_next,
                                                .quick = os_compile__ref_quick,
                                                .holds = OS_HOLDS_NODE,
                                                .in_place = true},
                                               {.name = "$dynamicRef",
                                                .compile = os_compile__ref,
                                                .next = os_compile__ref_next,
                                                .quick = os_compile__ref_quick,
                                                .holds = OS_HOLDS_NODE,
                                                .vocabulary = OS_VOCABULARY_2020,
                                                .in_place = true}};
const os_schema_table os_schema_references = {references, sizeof references / sizeof *references};

// ---- Nodes into rows --------------------------------------------------------------------------------------

#define PLACE(text, where) {.name = text, .holds = where}
#define NOTE(text) {.name = text, .types = cJSON_String, .annotates = OS_ANNOTATES_VALUE}
static const os_schema_keyword others[] = {
    PLACE("then", OS_HOLDS_NODE),
    PLACE("else", OS_HOLDS_NODE),
    PLACE("$defs", OS_HOLDS_LIST),
    PLACE("definitions", OS_HOLDS_LIST),
    PLACE("minContains", OS_HOLDS_NONE),
    PLACE("maxContains", OS_HOLDS_NONE),
    NOTE("contentMediaType"),
    NOTE("contentEncoding"),
    {.name = "contentSchema", .types = cJSON_String, .holds = OS_HOLDS_NODE, .annotates = OS_ANNOTATES_VALUE},
    // As os_schema_name has them.
    PLACE("$id", OS_HOLDS_NONE),
    PLACE("$schema", OS_HOLDS_NONE),
    PLACE("$anchor", OS_HOLDS_NONE),
    PLACE("$dynamicAnchor", OS_HOLDS_NONE),
};
const os_schema_table os_schema_others = {others, sizeof others / sizeof *others};

const os_schema_table *const os_schema_tables[OS_SCHEMA_TABLES] = {
    &os_schema_assertions, &os_schema_references, &os_schema_applicators, &os_schema_unevaluated,
    &os_schema_others};

static void os_compile__words(os_compile *self) {
  uint32_t mask = sizeof self->words.slots - 1;
  for (size_t i = 0; i < OS_SCHEMA_TABLES; i++) {
    for (size_t j = 0; j < os_schema_tables[i]->count; j++) {
      const os_schema_keyword *keyword = &os_schema_tables[i]->rows[j];
      uint32_t place = self->words.count++, hash = os_json_key_hash(os_str_of(keyword->name)),
               at = hash & mask;
      self->words.rows[place] = keyword;
      self->words.hashes[place] = hash;
      while (self->words.slots[at] != 0) at = (at + 1) & mask;
      self->words.slots[at] = (uint8_t)(place + 1);
    }
  }
}

void os_compile_members(const os_compile *self, const os_json *object, os_schema_members *out) {
  uint32_t mask = sizeof self->words.slots - 1;
  out->set = 0;
  OS_JSON_EACH(member, object) {
    uint32_t hash = member->order;
    for (uint32_t at = hash & mask; self->words.slots[at] != 0; at = (at + 1) & mask) {
      uint32_t place = self->words.slots[at] - 1u; // a name may stand twice in the tables
      if (self->words.hashes[place] != hash || !os_str_is(os_json_key(member), self->words.rows[place]->name))
        continue;
      out->set |= (uint64_t)1 << place;
      out->of[place] = member;
    }
  }
}

static os_status os_compile__row(os_compile *self, os_schema_node *node, const os_schema_keyword *keyword,
                                 const os_json *value, size_t room) {
  int vocabularies = node->resource->vocabularies;
  if (self->options != NULL && self->options->formats) vocabularies |= OS_VOCABULARY_FORMAT;
  if (self->options != NULL && self->options->foreign) vocabularies |= OS_VOCABULARY_OWN;
  if (node->row_count >= room || (keyword->vocabulary & ~vocabularies) != 0) return OS_OK;
  os_schema_row *row = &node->rows[node->row_count];
  *row = (os_schema_row){.keyword = keyword, .value = value, .document = self->document};
  OS_TRY(keyword->compile(self, node, row));
  if (row->keyword != NULL) node->row_count++; // a compile function drops a row that says nothing
  return OS_OK;
}

static os_status os_compile__rows(os_compile *self, os_schema_node *node) {
  node->types = 0xff;
  node->height = node->flat = OS_SCHEMA_TALL;
  self->document = node->resource->document;
  if (!os_json_is(node->json, OS_JSON_OBJECT)) {
    node->never = os_json_is(node->json, OS_JSON_FALSE);
    return OS_OK;
  }
  os_schema_members members;
  os_compile_members(self, node->json, &members);
  size_t room = (size_t)__builtin_popcountll(members.set);
  if (room == 0) return OS_OK;
  node->rows = OS_ARENA_ARRAY(self->arena, room + 1, os_schema_row);
  OS_TRY_ALLOC(node->rows);
  for (uint64_t set = members.set; set != 0; set &= set - 1) {
    int at = __builtin_ctzll(set);
    const os_schema_keyword *keyword = self->words.rows[at];
    if (keyword->compile != NULL) OS_TRY(os_compile__row(self, node, keyword, members.of[at], room));
  }
  return OS_OK;
}

// ---- Heights ----------------------------------------------------------------------------------------------

// The schemas of a row one after the other; NULL behind the last. Those that a row does not have are left out.
static os_schema_node *os_compile__row_child(const os_schema_row *row, uint32_t *at) {
  os_schema_node *node = NULL;
  while (node == NULL) {
    uint32_t i = (*at)++;
    switch (row->keyword->holds) {
    case OS_HOLDS_NONE: return NULL;
    case OS_HOLDS_LIST:
      if (i >= row->as.list.entries.count) return NULL;
      node = row->as.list.entries.items[i].node;
      continue;
    case OS_HOLDS_CONDITION:
      if (i > 2) return NULL;
      node = i == 0 ? row->as.condition.test : i == 1 ? row->as.condition.then : row->as.condition.otherwise;
      continue;
    case OS_HOLDS_NODE: node = row->as.one.node; break;
    case OS_HOLDS_REST: node = row->as.rest.node; break;
    case OS_HOLDS_CONTAINS: node = row->as.contains.node; break;
    }
    return i == 0 ? node : NULL;
  }
  return node;
}

// Schemas that look at the same value as one that asks what was evaluated have to say it.
static os_status os_compile__mark(os_compile *self, os_compile_nodes *list, os_schema_node *node) {
  if (node->tracked) return OS_OK;
  node->tracked = true;
  os_schema_node **slot = OS_PUSH(self->arena, list);
  OS_TRY_ALLOC(slot);
  *slot = node;
  return OS_OK;
}

static os_status os_compile__track(os_compile *self) {
  os_compile_nodes tracked = {0};
  bool any = false; // all dynamic anchors are tracked
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i];
    for (uint32_t j = 0; j < node->row_count; j++)
      if (node->rows[j].keyword->vocabulary == OS_VOCABULARY_UNEVALUATED)
        OS_TRY(os_compile__mark(self, &tracked, node));
  }
  for (size_t i = 0; i < tracked.count; i++) {
    const os_schema_node *node = tracked.items[i];
    for (uint32_t j = 0; j < node->row_count; j++) {
      const os_schema_row *row = &node->rows[j];
      uint32_t at = 0;
      if (!row->keyword->in_place) continue;
      for (os_schema_node *below; (below = os_compile__row_child(row, &at)) != NULL;)
        OS_TRY(os_compile__mark(self, &tracked, below));
      if (any || row->keyword->compile != os_compile__ref || row->as.one.dynamic.len == 0) continue;
      any = true;
      for (size_t k = 0; k < self->list.count; k++)
        if (os_json_member(self->list.items[k]->json, "$dynamicAnchor") != NULL)
          OS_TRY(os_compile__mark(self, &tracked, self->list.items[k]));
    }
  }
  return OS_OK;
}

// Whether plain calls cannot serve: what was evaluated, and the way here, are known to frames only.
static bool os_compile__needs_frames(const os_schema_node *node) {
  if (node->tracked) return true;
  for (uint32_t i = 0; i < node->row_count; i++) {
    const os_schema_row *row = &node->rows[i];
    if (row->keyword->check == NULL && row->keyword->quick == NULL) return true;
    if (row->keyword->compile == os_compile__ref && row->as.one.dynamic.len > 0) return true;
  }
  return false;
}

static int os_compile__height(const os_schema_node *node, bool flat) {
  int height = 0;
  for (uint32_t i = 0; i < node->row_count; i++) {
    const os_schema_row *row = &node->rows[i];
    uint32_t at = 0;
    if (row->keyword->next == NULL || (flat && !row->keyword->in_place)) continue;
    for (os_schema_node *child; (child = os_compile__row_child(row, &at)) != NULL;) {
      const os_schema_node *real = os_schema_real(child);
      int below = 1 + (flat ? real->flat : real->height);
      if (below > height) height = below;
    }
  }
  return height;
}

// Everything starts as tall and comes down from below, a level a round: what refers to itself never does.
static void os_compile__heights(os_compile *self, bool flat) {
  for (int round = 0; round < OS_SCHEMA_TALL; round++) {
    bool changed = false;
    for (size_t i = self->list.count; i-- > 0;) { // what is below was mostly found later
      os_schema_node *node = self->list.items[i];
      uint8_t *known = flat ? &node->flat : &node->height;
      if (*known == 0 || os_compile__needs_frames(node)) continue;
      int height = os_compile__height(node, flat);
      if (height >= *known) continue;
      *known = (uint8_t)height;
      changed = true;
    }
    if (!changed) return;
  }
}

// Large maps have both keywords: one walk over the members serves them.
static void os_compile__names_on_the_way(os_schema_node *node, os_schema_row *row) {
  os_schema_row *names = (os_schema_row *)os_schema_row_of(node, "propertyNames");
  const os_schema_node *real = names == NULL ? NULL : os_schema_real(names->as.one.node);
  if (real == NULL || real->height == OS_SCHEMA_TALL || row->as.rest.named_closed) return;
  names->as.one.on_the_way = true;
  row->as.rest.names = names;
}

// A schema that every value passes: {} or true.
static bool os_compile__always(const os_json *json) {
  return os_json_is(json, OS_JSON_TRUE) || (os_json_is(json, OS_JSON_OBJECT) && json->length == 0);
}

// Rows of additionalProperties and items that let everything pass matter only to who asks what was evaluated.
static void os_compile__drop_idle(os_compile *self, os_schema_node *node) {
  uint32_t kept = 0;
  if (node->tracked || self->keeps) return;
  for (uint32_t i = 0; i < node->row_count; i++) {
    const os_schema_row *row = &node->rows[i];
    if (row->keyword->holds == OS_HOLDS_REST && os_compile__always(row->value)) continue;
    node->rows[kept++] = *row;
  }
  node->row_count = kept;
}

// Bits of the names that `required` lists among those of `properties`; 0 when one of them is not there.
static uint64_t os_compile__needed(const os_json *required, const os_schema_entries *named) {
  uint64_t needed = 0;
  OS_JSON_EACH(name, required) {
    os_str text = os_json_string(name);
    const os_schema_entry *entry = os_schema_find(named, text, os_json_key_hash(text));
    if (entry == NULL || entry->bit == 0) return 0;
    needed |= entry->bit;
  }
  return needed;
}

// What plain calls ask: rows whose question another row or quick_types answers on its way are left out.
static os_status os_compile__quick(os_compile *self, os_schema_node *node) {
  os_schema_row *named = (os_schema_row *)os_schema_row_of(node, "properties");
  node->quick_types = node->never ? 0 : 0xff;
  node->quick = OS_ARENA_ARRAY(self->arena, node->row_count + 1, const os_schema_row *);
  OS_TRY_ALLOC(node->quick);
  for (uint32_t i = 0; i < node->row_count; i++) {
    const os_schema_row *row = &node->rows[i];
    const os_rule *rule = row->keyword->rule;
    if (rule == &os_rule_schema_type && (row->as.types & OS_SCHEMA_INTEGER_ONLY) == 0) {
      node->quick_types &= row->as.types;
      continue;
    }
    if (rule == &os_rule_schema_required && named != NULL)
      named->as.list.needed = os_compile__needed(row->value, &named->as.list.entries);
    bool answered = rule == &os_rule_schema_required ? named != NULL && named->as.list.needed != 0
                    : rule == &os_rule_schema_additional_properties ? row->as.rest.named_closed
                    : rule == &os_rule_schema_property_names        ? row->as.one.on_the_way
                                                                    : false;
    if (!answered) node->quick[node->quick_count++] = row;
  }
  return OS_OK;
}

// What needs all rows to be there: aliases, leaves, alternatives.
static os_status os_compile__finish(os_compile *self) {
  OS_TRY(os_compile__track(self));
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i];
    os_compile__drop_idle(self, node);
    if (node->row_count != 1 || node->rows[0].keyword != &references[0]) continue;
    os_schema_node *target = node->rows[0].as.one.node;
    if (!self->dynamic || target->resource == node->resource) node->alias = target;
  }
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i], *end = node;
    for (size_t j = 0; end->alias != NULL && j < self->list.count; j++) end = end->alias;
    if (end->alias != NULL) {
      self->document = node->resource->document;
      os_compile_wrong(self, &os_rule_schema_depth, node->json, "This reference leads back to itself.");
      return OS_OK;
    }
    while (node != end) {
      os_schema_node *next = node->alias;
      node->alias = end;
      node = next;
    }
  }
  os_compile__heights(self, false);
  os_compile__heights(self, true);
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i];
    self->document = node->resource->document;
    for (uint32_t j = 0; j < node->row_count; j++) {
      os_schema_row *row = &node->rows[j];
      if (row->keyword->rule == &os_rule_schema_additional_properties)
        os_compile__names_on_the_way(node, row);
      if (os_compile__chooses(row)) OS_TRY(os_compile_tag(self, node, row));
    }
    OS_TRY(os_compile__quick(self, node));
  }
  return OS_OK;
}

// Compiles what is reachable from `root`, a schema of a document that was found by os_compile_document.
static os_status os_compile__whole(os_compile *self, const os_json *root, os_schema **out) {
  os_schema *schema = OS_ARENA_NEW(self->arena, os_schema);
  OS_TRY_ALLOC(schema);
  schema->root = os_compile_node(self, root);
  if (schema->root == NULL) return self->failed ? OS_OK : OS_OUT_OF_MEMORY;
  self->outermost = schema->root->resource;
  // Compiling a node finds more of them.
  for (size_t i = 0; i < self->list.count; i++) OS_TRY(os_compile__rows(self, self->list.items[i]));
  if (!self->failed) OS_TRY(os_compile__finish(self));
  if (self->failed) return OS_OK;
  schema->node_count = self->list.count;
  schema->dynamic = self->dynamic;
  *out = schema;
  return OS_OK;
}

static void os_compile__init(os_compile *self, os_arena *arena, const os_schema_options *options,
                             os_report *report) {
  *self = (os_compile){.arena = arena, .report = report, .options = options};
  os_map_init(&self->resources, arena);
  os_map_init(&self->dialects, arena);
  os_map_init(&self->patterns, arena);
  os_map_init(&self->metas, arena);
  os_compile__words(self);
}

// Compiles the meta-schema of this URI; *out is NULL when there is none.
static os_status os_compile__meta(os_compile *self, os_str uri, os_schema **out) {
  os_schema_options options = *self->options;
  os_compile meta;
  options.foreign = options.formats = false;
  os_compile__init(&meta, self->arena, &options, self->report);
  os_status status = OS_OK;
  const os_resource *resource = os_compile_resource(&meta, uri, &status);
  if (resource != NULL && !meta.failed) status = os_compile__whole(&meta, resource->root, out);
  self->failed |= meta.failed;
  return status;
}

// Asks the meta-schemas of all documents that somebody gave.
static os_status os_compile__ask_meta(os_compile *self) {
  os_str standard = OS_STR("https://json-schema.org/draft/2020-12/schema");
  for (size_t i = 0; i < self->resources.count && !self->failed; i++) {
    os_resource *resource = self->resources.entries[i].value.pointer;
    os_str uri = os_json_string(os_json_member(resource->root, "$schema"));
    if (resource->asked || resource->root->parent != NULL || os_str_starts(resource->uri, standard)) continue;
    resource->asked = true;
    uri = uri.len == 0 ? standard : os_compile_without_fragment(uri);
    bool first, valid = true;
    os_map_entry *entry = os_map_put(&self->metas, uri, &first);
    OS_TRY_ALLOC(entry);
    os_schema *schema = first ? NULL : entry->value.pointer;
    if (first) OS_TRY(os_compile__meta(self, uri, &schema));
    entry->value.pointer = schema;
    if (schema == NULL) continue; // an older draft, or a meta-schema that nobody gave
    OS_TRY(os_schema_validate(schema, self->arena, resource->document, NULL, self->options, self->report,
                              &valid));
    self->failed |= !valid;
  }
  return OS_OK;
}

os_status os_schema_compile(os_schema **out, os_arena *arena, const os_json_document *document,
                            const os_schema_options *options, os_report *report) {
  *out = NULL;
  os_compile compile;
  os_compile__init(&compile, arena, options, report);
  compile.keeps = options != NULL && options->foreign;
  OS_TRY(os_compile_document(&compile, document, OS_STR("")));
  if (compile.keeps && !compile.failed) OS_TRY(os_compile__ask_meta(&compile));
  if (compile.failed) return OS_OK;
  os_schema *schema = NULL;
  OS_TRY(os_compile__whole(&compile, document->root, &schema));
  // Documents that references have led to.
  if (compile.keeps && !compile.failed) OS_TRY(os_compile__ask_meta(&compile));
  if (!compile.failed) *out = schema;
  return OS_OK;
}
