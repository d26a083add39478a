// Resources: which parts of the documents are schemas, what they are called, and where references lead.
#include "schema_rows.h"
#include "schema_texts.h"
#include "uri.h"

#define STANDARD "https://json-schema.org/draft/2020-12/"

enum {
  VOCABULARIES =
      OS_VOCABULARY_APPLICATOR | OS_VOCABULARY_VALIDATION | OS_VOCABULARY_UNEVALUATED | OS_VOCABULARY_2020,
  WORK_A_SCHEMA = 32,
  WORK_A_BOOLEAN = 20,
  WORK_AN_ID = 16
};

os_str os_compile_without_fragment(os_str uri) { return os_str_slice(uri, 0, os_str_find(uri, 0, '#')); }

// As os_uri_resolve; what it costs goes with the length of both.
static os_str os_resource__uri(os_compile *self, os_str base, os_str text) {
  os_compile_work(self, (base.len + text.len) / 2);
  return os_uri_resolve(self->arena, base, text);
}

// ---- Dialects -------------------------------------------------------------------------------------------------

static int os_resource__vocabulary(os_str uri) {
  static const struct {
    const char *name;
    int bits;
  } names[] = {{"core", 0},
               {"applicator", OS_VOCABULARY_APPLICATOR},
               {"unevaluated", OS_VOCABULARY_UNEVALUATED},
               {"validation", OS_VOCABULARY_VALIDATION},
               {"meta-data", 0},
               {"format-annotation", 0},
               {"format-assertion", OS_VOCABULARY_FORMAT},
               {"content", 0}};
  os_str prefix = OS_STR(STANDARD "vocab/");
  for (size_t i = 0; os_str_starts(uri, prefix) && i < sizeof names / sizeof *names; i++)
    if (os_str_is(os_str_slice(uri, prefix.len, uri.len), names[i].name)) return names[i].bits;
  return -1;
}

// *embedded: it is the meta-schema that comes with the module.
static os_status os_resource__text(os_compile *self, os_str uri, const os_json_document **out,
                                   bool *embedded) {
  *out = NULL;
  os_str text = {0};
  bool standard =
      os_str_starts(uri, OS_STR(STANDARD "schema")) || os_str_starts(uri, OS_STR(STANDARD "meta/"));
  os_status status = OS_INVALID_ARGUMENT;
  if (self->options != NULL && self->options->find != NULL)
    status = self->options->find(self->options->context, uri, &text);
  if (status != OS_OK && status != OS_INVALID_ARGUMENT) return status;
  if (status != OS_OK && !standard) return OS_OK;
  *embedded = status != OS_OK;
  if (*embedded) text = embedded_json_schema_schema;
  os_json_document *document = OS_ARENA_NEW(self->arena, os_json_document);
  OS_TRY_ALLOC(document);
  os_json_options json = {.depth = self->options == NULL ? 0 : self->options->depth};
  os_report_text(self->report, uri, text);
  OS_TRY(os_json_parse(document, self->arena, uri, text, &json, self->report));
  if (document->root == NULL)
    self->failed = true;
  else
    *out = document;
  return OS_OK;
}

// Vocabularies of the schemas that name this meta-schema.
static os_status os_resource__dialect(os_compile *self, os_str uri, const os_json *where, int *bits) {
  const os_json_document *document = NULL;
  bool embedded, first;
  *bits = VOCABULARIES;
  uri = os_compile_without_fragment(uri);
  if (os_str_is(uri, STANDARD "schema")) return OS_OK;
  os_map_entry *entry = os_map_put(&self->dialects, uri, &first);
  OS_TRY_ALLOC(entry);
  if (!first) {
    *bits = (int)entry->value.number;
    return OS_OK;
  }
  OS_TRY(os_resource__text(self, uri, &document, &embedded));
  if (document == NULL) {
    os_finding *finding =
        os_report_add(self->report, &os_rule_schema_dialect,
                      "The dialect %.*s is not known here; the schema is read as one of draft 2020-12.",
                      OS_ARG(os_json_excerpt(self->document, self->arena, where)));
    finding->expected = OS_STR("\"" STANDARD "schema\"");
    os_json_where(self->document, self->arena, where, &finding->where);
    if (os_str_starts(uri, OS_STR("https://json-schema.org/draft/")) ||
        os_str_starts(uri, OS_STR("http://json-schema.org/draft-")))
      *bits &= ~OS_VOCABULARY_2020;
  }
  const os_json *list = document == NULL ? NULL : os_json_member(document->root, "$vocabulary");
  if (os_json_is(list, OS_JSON_OBJECT)) *bits = OS_VOCABULARY_2020;
  OS_JSON_EACH(child, os_json_is(list, OS_JSON_OBJECT) ? list : NULL) {
    os_str name = os_json_key(child);
    int bit = os_resource__vocabulary(name);
    if (bit >= 0)
      *bits |= bit;
    else if (os_json_is(child, OS_JSON_TRUE))
      os_compile_wrong(self, &os_rule_schema_vocabulary, where,
                       "The meta-schema asks for the vocabulary \"%.*s\", which is not known here.",
                       OS_ARG(name));
  }
  entry->value.number = (size_t)*bits;
  return OS_OK;
}

// ---- Discovery ------------------------------------------------------------------------------------------------

static os_schema_node *os_resource__place(os_compile *self, const os_json *json,
                                          const os_resource *resource) {
  os_schema_node *node = OS_ARENA_NEW(self->arena, os_schema_node);
  if (node == NULL) return NULL;
  os_compile_work(self, os_json_is(json, OS_JSON_BOOL) ? WORK_A_BOOLEAN : WORK_A_SCHEMA);
  node->json = json;
  node->resource = resource;
  os_schema_node **slot = OS_PUSH(self->arena, &self->known);
  if (slot == NULL || !os_compile_register(self, node)) return NULL;
  return *slot = node;
}

static bool os_resource__schema(const os_json *json) {
  return os_json_is(json, OS_JSON_OBJECT) || os_json_is(json, OS_JSON_BOOL);
}

static os_status os_resource__children(os_compile *self, const os_schema_node *node,
                                       const os_schema_members *members) {
  for (uint64_t set = members->set; set != 0; set &= set - 1) {
    int at = __builtin_ctzll(set);
    const os_schema_keyword *keyword = self->words.rows[at];
    const os_json *value = members->of[at];
    if (keyword->holds == OS_HOLDS_NONE) continue;
    if (keyword->holds != OS_HOLDS_LIST) {
      if (os_resource__schema(value)) OS_TRY_ALLOC(os_resource__place(self, value, node->resource));
      continue;
    }
    if (!os_json_is(value, OS_JSON_ARRAY) && !os_json_is(value, OS_JSON_OBJECT)) continue;
    OS_JSON_EACH(child, value) {
      if (self->failed) break;
      if (os_resource__schema(child)) OS_TRY_ALLOC(os_resource__place(self, child, node->resource));
    }
  }
  return OS_OK;
}

os_schema_node *os_schema_anchor(const os_map *anchors, os_str name) {
  const os_map_entry *entry = anchors == NULL ? NULL : os_map_get(anchors, name);
  return entry == NULL ? NULL : entry->value.pointer;
}

// What another schema is called already, unless it says the same.
static void os_resource__twice(os_compile *self, const os_json *name, const os_json_document *document,
                               const os_json *other, const os_json *own) {
  uint32_t size = other->end - other->start, own_size = own->end - own->start;
  os_compile_work(self, size < own_size ? size : own_size);
  if (self->failed || os_json_equal(document, other, self->document, own)) return;
  os_finding *finding = os_report_add(self->report, &os_rule_schema_id, "%.*s names another schema already.",
                                      OS_ARG(os_json_excerpt(self->document, self->arena, name)));
  os_json_where(self->document, self->arena, name, &finding->where);
  os_related *related = os_finding_relate(self->report, finding, "the other one");
  os_json_where(document, self->arena, other, &related->where);
}

static os_status os_resource__anchor(os_compile *self, os_map **anchors, os_schema_node *node,
                                     const os_json *name) {
  if (!os_json_is(name, OS_JSON_STRING)) return OS_OK;
  if (*anchors == NULL) {
    *anchors = OS_ARENA_NEW(self->arena, os_map);
    OS_TRY_ALLOC(*anchors);
    os_map_init(*anchors, self->arena);
  }
  os_map_entry *entry = os_map_put(*anchors, os_json_string(name), NULL);
  OS_TRY_ALLOC(entry);
  const os_schema_node *other = entry->value.pointer;
  if (other != NULL && other != node) os_resource__twice(self, name, self->document, other->json, node->json);
  entry->value.pointer = node;
  return OS_OK;
}

static os_status os_resource__anchors(os_compile *self, os_schema_node *node,
                                      const os_schema_members *members) {
  os_resource *resource = (os_resource *)node->resource;
  const os_json *dynamic = os_compile_name(self, members, OS_NAME_DYNAMIC);
  OS_TRY(os_resource__anchor(self, &resource->anchors, node, os_compile_name(self, members, OS_NAME_ANCHOR)));
  OS_TRY(os_resource__anchor(self, &resource->anchors, node, dynamic));
  OS_TRY(os_resource__anchor(self, &resource->dynamic, node, dynamic));
  if (!os_json_is(dynamic, OS_JSON_STRING)) return OS_OK;
  return os_compile_node(self, node->json) == NULL ? OS_OUT_OF_MEMORY : OS_OK;
}

static os_resource *os_resource__new(os_compile *self, os_schema_node *node, const os_json_document *document,
                                     os_str uri) {
  os_resource *resource = OS_ARENA_NEW(self->arena, os_resource);
  os_map_entry *entry = os_map_put(&self->resources, uri, NULL);
  if (resource == NULL || entry == NULL) return NULL;
  *resource = (os_resource){.uri = uri, .root = node->json, .document = document};
  resource->vocabularies = node->resource == NULL ? VOCABULARIES : node->resource->vocabularies;
  node->resource = entry->value.pointer = resource;
  return resource;
}

// $id, $schema and the anchors of one schema.
static os_status os_resource__names(os_compile *self, os_schema_node *node,
                                    const os_schema_members *members) {
  const os_json *id = os_compile_name(self, members, OS_NAME_ID),
                *dialect = os_compile_name(self, members, OS_NAME_DIALECT);
  os_str name = os_compile_without_fragment(os_json_string(id));
  os_resource *resource = node->json == node->resource->root ? (os_resource *)node->resource : NULL;
  if (name.len > 0) {
    os_str uri = os_resource__uri(self, node->resource->uri, name);
    os_compile_work(self, WORK_AN_ID);
    const os_map_entry *known = os_map_get(&self->resources, uri);
    const os_resource *other = known == NULL ? NULL : known->value.pointer;
    if (other != NULL && other != resource)
      os_resource__twice(self, id, other->document, other->root, node->json);
    if (resource == NULL) {
      resource = os_resource__new(self, node, node->resource->document, uri);
      OS_TRY_ALLOC(resource);
    } else { // a document goes by both names
      os_map_entry *entry = os_map_put(&self->resources, uri, NULL);
      OS_TRY_ALLOC(entry);
      entry->value.pointer = resource;
      resource->uri = uri;
    }
  }
  if (resource != NULL && os_json_is(dialect, OS_JSON_STRING))
    OS_TRY(os_resource__dialect(self, os_json_string(dialect), dialect, &resource->vocabularies));
  return os_resource__anchors(self, node, members);
}

os_status os_compile_document(os_compile *self, const os_json_document *document, os_str uri) {
  if (!os_resource__schema(document->root)) {
    const os_json_document *before = self->document;
    self->document = document;
    os_compile_wrong(self, &os_rule_schema_invalid, document->root,
                     "A schema is an object, true or false, not %s.", os_json_type_name(document->root));
    self->document = before;
    return OS_OK;
  }
  os_schema_node *root = os_resource__place(self, document->root, NULL);
  OS_TRY_ALLOC(root);
  OS_TRY_ALLOC(os_resource__new(self, root, document, uri));
  const os_json_document *before = self->document;
  self->document = document;
  // Finding a meta-schema does not come back here, so that one walk is under way at a time.
  for (; self->discovered < self->known.count && !self->failed; self->discovered++) {
    os_schema_node *node = self->known.items[self->discovered];
    os_schema_members members;
    if (!os_json_is(node->json, OS_JSON_OBJECT)) continue;
    os_compile_members(self, node->json, &members);
    if (members.set == 0) continue;
    OS_TRY(os_resource__names(self, node, &members));
    OS_TRY(os_resource__children(self, node, &members));
  }
  self->document = before;
  return OS_OK;
}

os_resource *os_compile_resource(os_compile *self, os_str uri, os_status *status) {
  os_map_entry *entry = os_map_get(&self->resources, uri);
  if (entry != NULL) return entry->value.pointer;
  const os_json_document *document;
  bool embedded;
  uri = os_arena_copy(self->arena, uri);
  *status = os_resource__text(self, uri, &document, &embedded);
  if (*status != OS_OK || document == NULL) return NULL;
  os_str own = uri;
  if (embedded) own = OS_STR(STANDARD "schema");
  *status = os_compile_document(self, document, own);
  if (*status != OS_OK) return NULL;
  entry = os_map_get(&self->resources, uri);
  return entry == NULL ? NULL : entry->value.pointer;
}

const os_json *os_compile_target(os_compile *self, const os_schema_node *node, os_str reference,
                                 os_str *anchor, os_status *status) {
  os_str uri = os_compile_without_fragment(reference);
  os_str fragment = {"", 0};
  if (uri.len < reference.len) fragment = os_str_slice(reference, uri.len + 1, reference.len);
  os_resource *resource = (os_resource *)node->resource;
  if (uri.len > 0)
    resource = os_compile_resource(self, os_resource__uri(self, node->resource->uri, uri), status);
  if (resource == NULL) return NULL;
  if (fragment.len == 0) return resource->root;
  if (memchr(fragment.data, '%', fragment.len) != NULL) fragment = os_uri_decode(self->arena, fragment);
  if (fragment.data[0] == '/') {
    const os_json *target = os_json_resolve(resource->root, fragment);
    uint64_t steps = fragment.len / 8;
    for (const os_json *json = target; json != NULL; json = json->parent) // elements are found by counting
      if (os_json_is(json->parent, OS_JSON_ARRAY)) steps += json->order;
    os_compile_work(self, steps);
    return target;
  }
  *anchor = fragment;
  const os_schema_node *named = os_schema_anchor(resource->anchors, fragment);
  return named == NULL ? NULL : named->json;
}
