#include "format.h"
#include "schema_rows.h"

#include <stdarg.h>
#include <stdlib.h>

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

os_schema_node *os_compile_node(os_compile *self, const os_json *json) {
  if (!os_json_is(json, OS_JSON_OBJECT) && !os_json_is(json, OS_JSON_BOOL)) {
    os_compile_wrong(self, &os_rule_schema_invalid, json, "A schema is an object, true or false, not %s.",
                     os_json_type_name(json));
    return NULL;
  }
  os_schema_node *node = OS_ARENA_NEW(self->arena, os_schema_node);
  if (node == NULL) return NULL;
  node->json = json;
  bool added;
  // The key is the address itself, as it lies in the node.
  os_map_entry *entry =
      os_map_put(&self->nodes, (os_str){(const char *)&node->json, sizeof node->json}, &added);
  if (entry == NULL) return NULL;
  if (!added) return entry->value.pointer;
  entry->value.pointer = node;
  os_schema_node **slot = OS_PUSH(self->arena, &self->list);
  if (slot == NULL) return NULL;
  *slot = node;
  return node;
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

static os_status os_compile__pattern(os_compile *self, const os_json *json, os_str source, os_pattern **out) {
  os_str message = {0};
  OS_TRY(os_pattern_compile(out, self->arena, source, &message));
  if (*out == NULL)
    os_compile_wrong(self, &os_rule_schema_pattern_syntax, json, "The pattern %.*s is wrong: %.*s.",
                     OS_ARG(os_json_quote(self->arena, source)), OS_ARG(message));
  return OS_OK;
}

os_status os_compile_entries(os_compile *self, const os_json *json, bool patterns, os_schema_entries *out) {
  out->items = OS_ARENA_ARRAY(self->arena, json->length + 1, os_schema_entry);
  OS_TRY_ALLOC(out->items);
  OS_JSON_EACH(child, json) {
    os_schema_entry *entry = &out->items[out->count++];
    entry->name = os_json_key(child);
    entry->hash = child->order;
    entry->node = os_compile_node(self, child);
    if (entry->node == NULL) return self->failed ? OS_OK : OS_OUT_OF_MEMORY;
    if (patterns) OS_TRY(os_compile__pattern(self, child, entry->name, &entry->pattern));
  }
  return patterns || os_json_is(json, OS_JSON_ARRAY) ? OS_OK : os_compile__slots(self, out);
}

os_schema_node *os_schema_real(os_schema_node *node) {
  for (int i = 0; node != NULL && node->alias != NULL; i++) {
    if (i > 1000) return NULL;
    node = node->alias;
  }
  return node;
}

const os_schema_row *os_schema_row_of(const os_schema_node *node, const char *keyword) {
  for (uint32_t i = 0; i < node->row_count; i++)
    if (strcmp(node->rows[i].keyword->name, keyword) == 0) return &node->rows[i];
  return NULL;
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
    const char *name = row->keyword->name;
    if (strcmp(name, "$ref") == 0) types &= os_schema_types(row->as.one.node, depth - 1);
    if (strcmp(name, "anyOf") != 0 && strcmp(name, "oneOf") != 0) continue;
    int any = 0;
    for (uint32_t j = 0; j < row->as.list.entries.count; j++)
      any |= os_schema_types(row->as.list.entries.items[j].node, depth - 1);
    types &= any;
  }
  return node->reach = types;
}

// ---- References -------------------------------------------------------------------------------------------

static os_status os_compile__name(os_compile *self, os_str base, const char *between, os_str name,
                                  const os_json *json) {
  os_str key = os_arena_format(self->arena, "%.*s%s%.*s", OS_ARG(base), between, OS_ARG(name));
  os_map_entry *entry = os_map_put(&self->anchors, key, NULL);
  OS_TRY_ALLOC(entry);
  entry->value.pointer = (void *)json;
  return OS_OK;
}

// Collects $id and $anchor of the whole document. Names are taken as they are written: nothing is fetched, so a
// reference can only lead to what the document itself calls so.
static os_status os_compile__names(os_compile *self, const os_json *root) {
  const os_json *node = root;
  os_str base = {0};
  for (;;) {
    if (os_json_is(node, OS_JSON_OBJECT)) {
      const os_json *id = os_json_member(node, "$id"), *anchor = os_json_member(node, "$anchor");
      if (os_json_is(id, OS_JSON_STRING)) {
        if (node == root) base = os_json_string(id);
        OS_TRY(os_compile__name(self, os_json_string(id), "", OS_STR(""), node));
      }
      if (os_json_is(anchor, OS_JSON_STRING)) {
        OS_TRY(os_compile__name(self, OS_STR(""), "#", os_json_string(anchor), node));
        if (base.len > 0) OS_TRY(os_compile__name(self, base, "#", os_json_string(anchor), node));
      }
    }
    const os_json *next = os_json_first(node);
    while (next == NULL) {
      if (node == root) return OS_OK;
      next = os_json_next(node);
      if (next == NULL) node = node->parent;
    }
    node = next;
  }
}

static int os_compile__hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// %25 in a fragment is a percent sign; other escapes likewise.
static os_str os_compile__decode_fragment(os_arena *arena, os_str text) {
  char *to = os_arena_alloc(arena, text.len + 1);
  if (to == NULL) return text;
  size_t len = 0;
  for (size_t i = 0; i < text.len; i++) {
    int high = -1, low = -1;
    if (text.data[i] == '%' && i + 2 < text.len) {
      high = os_compile__hex(text.data[i + 1]);
      low = os_compile__hex(text.data[i + 2]);
    }
    bool escape = high >= 0 && low >= 0;
    to[len++] = escape ? (char)(high << 4 | low) : text.data[i];
    if (escape) i += 2;
  }
  return (os_str){to, len};
}

static const os_json *os_compile__target(os_compile *self, os_str ref) {
  size_t hash = 0;
  while (hash < ref.len && ref.data[hash] != '#') hash++;
  os_str id = os_str_slice(ref, 0, hash);
  os_str fragment = hash < ref.len ? os_str_slice(ref, hash + 1, ref.len) : OS_STR("");
  const os_json *base = self->document->root;
  if (id.len > 0) {
    os_map_entry *entry = os_map_get(&self->anchors, id);
    if (entry == NULL) return NULL;
    base = entry->value.pointer;
  }
  if (fragment.len == 0) return base;
  fragment = os_compile__decode_fragment(self->arena, fragment);
  if (fragment.data[0] == '/') return os_json_resolve(base, fragment);
  os_str name = os_arena_format(self->arena, "%.*s#%.*s", OS_ARG(id), OS_ARG(fragment));
  os_map_entry *entry = os_map_get(&self->anchors, name);
  return entry == NULL ? NULL : entry->value.pointer;
}

static os_status os_compile__ref(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  const os_json *target =
      os_json_is(row->value, OS_JSON_STRING) ? os_compile__target(self, os_json_string(row->value)) : NULL;
  if (target == NULL) {
    os_compile_wrong(self, &os_rule_schema_ref, row->value,
                     "The reference %.*s leads nowhere in this document.",
                     OS_ARG(os_json_excerpt(self->document, self->arena, row->value)));
    return OS_OK;
  }
  row->as.one.node = os_compile_node(self, target);
  return row->as.one.node == NULL && !self->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_step os_compile__ref_next(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step++ == 0) return os_eval_call(self, row->as.one.node, frame->value, frame->report);
  if (!passed) frame->passed = false;
  return OS_STEP_DONE;
}

static bool os_compile__ref_quick(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_eval_quick(self, row->as.one.node, value);
}

static const os_schema_keyword ref_keyword = {.name = "$ref",
                                              .compile = os_compile__ref,
                                              .next = os_compile__ref_next,
                                              .quick = os_compile__ref_quick,
                                              .holds = OS_HOLDS_NODE};

// ---- Nodes into rows --------------------------------------------------------------------------------------

static os_status os_compile__row(os_compile *self, os_schema_node *node, const os_schema_keyword *keyword,
                                 size_t room) {
  const os_json *value = os_json_member(node->json, keyword->name);
  if (value == NULL || node->row_count >= room) return OS_OK;
  os_schema_row *row = &node->rows[node->row_count];
  *row = (os_schema_row){.keyword = keyword, .value = value};
  OS_TRY(keyword->compile(self, node, row));
  if (row->keyword != NULL) node->row_count++; // a compile function drops a row that says nothing
  return OS_OK;
}

static os_status os_compile__rows(os_compile *self, os_schema_node *node) {
  node->compiled = true;
  node->types = 0xff;
  if (!os_json_is(node->json, OS_JSON_OBJECT)) {
    node->never = os_json_is(node->json, OS_JSON_FALSE);
    return OS_OK;
  }
  size_t room = node->json->length;
  node->rows = OS_ARENA_ARRAY(self->arena, room + 1, os_schema_row);
  OS_TRY_ALLOC(node->rows);
  for (size_t i = 0; i < os_schema_assertion_count; i++)
    OS_TRY(os_compile__row(self, node, &os_schema_assertions[i], room));
  OS_TRY(os_compile__row(self, node, &ref_keyword, room));
  for (size_t i = 0; i < os_schema_applicator_count; i++)
    OS_TRY(os_compile__row(self, node, &os_schema_applicators[i], room));
  return OS_OK;
}

// ---- Heights ----------------------------------------------------------------------------------------------

static int os_compile__node_height(os_schema_node *node) {
  node = os_schema_real(node);
  return node == NULL ? 0 : node->height;
}

static int os_compile__higher(int height, os_schema_node *node) {
  int other = os_compile__node_height(node);
  return other > height ? other : height;
}

static int os_compile__row_height(const os_schema_row *row) {
  int height = 0;
  switch (row->keyword->holds) {
  case OS_HOLDS_NONE: break;
  case OS_HOLDS_NODE: return os_compile__node_height(row->as.one.node);
  case OS_HOLDS_REST: return os_compile__node_height(row->as.rest.node);
  case OS_HOLDS_CONTAINS: return os_compile__node_height(row->as.contains.node);
  case OS_HOLDS_LIST:
    for (uint32_t i = 0; i < row->as.list.entries.count; i++)
      height = os_compile__higher(height, row->as.list.entries.items[i].node);
    break;
  case OS_HOLDS_CONDITION:
    height = os_compile__higher(height, row->as.condition.test);
    height = os_compile__higher(height, row->as.condition.then);
    height = os_compile__higher(height, row->as.condition.otherwise);
  }
  return height;
}

// Everything starts as tall and comes down from below, a level a round: what refers to itself never does.
static void os_compile__heights(os_compile *self) {
  for (size_t i = 0; i < self->list.count; i++) self->list.items[i]->height = OS_SCHEMA_TALL;
  for (int round = 0; round < OS_SCHEMA_TALL; round++) {
    bool changed = false;
    for (size_t i = 0; i < self->list.count; i++) {
      os_schema_node *node = self->list.items[i];
      int height = 0;
      for (uint32_t j = 0; j < node->row_count; j++) {
        if (node->rows[j].keyword->next == NULL) continue;
        int below = os_compile__row_height(&node->rows[j]) + 1;
        if (below > height) height = below;
      }
      if (height >= node->height) continue;
      node->height = (uint8_t)height;
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

// What needs all rows to be there: aliases, leaves, alternatives.
static os_status os_compile__finish(os_compile *self) {
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i];
    if (node->row_count == 1 && node->rows[0].keyword == &ref_keyword)
      node->alias = node->rows[0].as.one.node;
  }
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i];
    if (os_schema_real(node) == NULL) {
      os_compile_wrong(self, &os_rule_schema_depth, node->json, "This reference leads back to itself.");
      return OS_OK;
    }
  }
  os_compile__heights(self);
  for (size_t i = 0; i < self->list.count; i++) {
    os_schema_node *node = self->list.items[i];
    for (uint32_t j = 0; j < node->row_count; j++) {
      const char *name = node->rows[j].keyword->name;
      if (strcmp(name, "additionalProperties") == 0) os_compile__names_on_the_way(node, &node->rows[j]);
      if (strcmp(name, "anyOf") == 0 || strcmp(name, "oneOf") == 0)
        OS_TRY(os_compile_tag(self, node, &node->rows[j]));
    }
  }
  return OS_OK;
}

os_status os_schema_compile(os_schema **out, os_arena *arena, const os_json_document *document,
                            os_report *report) {
  *out = NULL;
  os_compile compile = {.arena = arena, .document = document, .report = report};
  os_map_init(&compile.nodes, arena);
  os_map_init(&compile.anchors, arena);
  OS_TRY(os_compile__names(&compile, document->root));
  os_schema *schema = OS_ARENA_NEW(arena, os_schema);
  OS_TRY_ALLOC(schema);
  schema->document = document;
  schema->root = os_compile_node(&compile, document->root);
  if (schema->root == NULL) return compile.failed ? OS_OK : OS_OUT_OF_MEMORY;
  // Compiling a node finds more of them.
  for (size_t i = 0; i < compile.list.count; i++) OS_TRY(os_compile__rows(&compile, compile.list.items[i]));
  if (compile.failed) return OS_OK;
  OS_TRY(os_compile__finish(&compile));
  if (compile.failed) return OS_OK;
  schema->node_count = compile.list.count;
  *out = schema;
  return OS_OK;
}
