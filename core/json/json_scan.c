#include "json_scan.h"

#include "json_index.h"
#include "json_rules.h"
#include "utf8.h"

bool os_scan_fail(os_scan *self, const char *at, const char *expected, const char *hint) {
  self->p = at;
  self->expected = expected;
  self->hint = hint;
  return false;
}

enum { NODES_AT_ONCE = 64 };

static os_json *os_scan__node(os_scan *self) {
  if (self->spare == self->spare_end) {
    self->spare = os_arena_alloc(self->arena, NODES_AT_ONCE * sizeof(os_json));
    if (self->spare == NULL) {
      self->spare_end = NULL;
      self->status = OS_OUT_OF_MEMORY;
      return NULL;
    }
    self->spare_end = self->spare + NODES_AT_ONCE;
  }
  self->document->nodes++;
  // In two halves, which compilers copy with a few stores: a call of memset for each node takes longer than the scan.
  memcpy(self->spare, &self->blank, sizeof(os_json) / 2);
  memcpy((char *)self->spare + sizeof(os_json) / 2, (const char *)&self->blank + sizeof(os_json) / 2,
         sizeof(os_json) / 2);
  return self->spare++;
}

// A new last child of the open container.
static os_json *os_scan__child(os_scan *self) {
  os_json *node = os_scan__node(self), *container = self->container;
  if (node == NULL) return NULL;
  cJSON *first = container->item.child;
  if (first == NULL) {
    container->item.child = &node->item;
    node->item.prev = &node->item;
  } else {
    first->prev->next = &node->item;
    node->item.prev = first->prev;
    first->prev = &node->item;
  }
  node->parent = container;
  node->order = container->length++;
  return node;
}

static const char *const KEY = "a key in quotation marks";
static const char *const KEY_OR_END = "a key in quotation marks or \"}\"";
static const char *const VALUE = "a value";
static const char *const VALUE_OR_END = "a value or \"]\"";
static const char *const TRAILING = "The comma before it is one too many.";

// p where a key must start (white space skipped): reads key and colon, and leaves p at the value.
static os_json *os_scan__key(os_scan *self, bool first) {
  const char *start = self->p;
  if (start >= self->end || *start != '"') {
    const char *hint = start < self->end && *start == '}'    ? TRAILING
                       : start < self->end && *start == '\'' ? "Keys stand in double quotation marks."
                                                             : NULL;
    os_scan_fail(self, start, first ? KEY_OR_END : KEY, hint);
    return NULL;
  }
  os_json *node = os_scan__child(self);
  if (node == NULL) return NULL;
  node->item.string = ""; // until it is read
  os_str key;
  if (!os_scan_string(self, self->container, &key)) return NULL;
  node->item.string = (char *)key.data;
  node->key_length = (uint32_t)key.len;
  node->key_start = (uint32_t)(start - self->text);
  node->key_end = (uint32_t)(self->p - self->text);
  node->order = os_json_key_hash(key);
  if (self->container->length >= OS_JSON_INDEX_FROM && !os_scan_index_member(self, self->container, node))
    return NULL;
  const char *p = os_scan_white(self->p, self->end);
  if (p >= self->end || *p != ':') {
    os_scan_fail(self, p, "\":\"", NULL);
    return NULL;
  }
  self->p = os_scan_white(p + 1, self->end);
  return node;
}

// First child of the container that was just opened, or NULL when it is empty (then p is at its end) or wrong.
static os_json *os_scan__first(os_scan *self) {
  self->p = os_scan_white(self->p, self->end);
  bool object = os_json_type_of(self->container) == OS_JSON_OBJECT;
  if (self->p < self->end && *self->p == (object ? '}' : ']')) return NULL;
  if (object) return os_scan__key(self, true);
  if (self->p >= self->end) {
    os_scan_fail(self, self->p, VALUE_OR_END, NULL);
    return NULL;
  }
  return os_scan__child(self);
}

// The finding stands at the outermost value from which single members lead down to the one that is too deep, since a
// pointer of a thousand zeros helps nobody.
static void os_scan__too_deep(os_scan *self, const os_json *node) {
  if (self->depth_told || self->report == NULL) return;
  self->depth_told = true;
  const os_json *outer = node;
  while (outer->parent != NULL && outer->parent->length == 1) outer = outer->parent;
  os_finding *finding = os_report_add(
      self->report, &os_rule_json_depth,
      "Arrays and objects are nested more than %u deep here; what lies deeper was not looked at.",
      self->depth_limit);
  os_json_where(self->document, self->arena, outer, &finding->where);
  os_related *related = os_finding_relate(self->report, finding, "the first one that is too deep");
  related->where.file = self->document->file;
  os_where_range(&related->where, node->start, node->start + 1);
}

static bool os_scan__open(os_scan *self, os_json *node, bool object) {
  node->item.type = object ? cJSON_Object : cJSON_Array;
  self->p++;
  if (self->depth >= self->depth_limit) {
    node->flags |= OS_JSON_CUT;
    os_scan__too_deep(self, node);
    if (!os_scan_skip_container(self, node, object)) return false;
    node->end = (uint32_t)(self->p - self->text);
    return true;
  }
  self->depth++;
  self->container = node;
  return true;
}

static bool os_scan__word(os_scan *self, os_json *node, const char *word, size_t len, int type) {
  const char *p = self->p;
  size_t i = 1;
  if ((size_t)(self->end - p) >= 5 && memcmp(p, word, 4) == 0) i = 4;
  while (i < len && p + i < self->end && p[i] == word[i]) i++;
  if (i < len)
    return os_scan_fail(self, p + i,
                        type == cJSON_NULL   ? "null"
                        : type == cJSON_True ? "true"
                                             : "false",
                        NULL);
  node->item.type = type;
  self->p = p + len;
  return true;
}

static bool os_scan__no_value(os_scan *self) {
  const char *p = self->p, *hint = NULL;
  bool first = self->container != NULL && self->container->length == 1;
  bool array = self->container != NULL && os_json_type_of(self->container) == OS_JSON_ARRAY;
  char c = p < self->end ? *p : 0;
  if (array && c == ']' && !first) hint = TRAILING;
  if (c == '\'') hint = "Strings stand in double quotation marks.";
  if (c == '/' || c == '#') hint = "JSON has no comments.";
  if (c == 'N' || c == 'I') hint = "JSON has no numbers that are not finite.";
  if (c == 'T' || c == 'F') hint = "true, false and null are written with small letters.";
  if (c == '+' || c == '.') hint = "A number starts with a digit or a minus sign.";
  return os_scan_fail(self, p, array && first ? VALUE_OR_END : VALUE, hint);
}

// p at the value (white space skipped). A container is left open: self->container is `node` afterwards.
static bool os_scan__value(os_scan *self, os_json *node) {
  const char *p = self->p;
  node->start = (uint32_t)(p - self->text);
  char c = p < self->end ? *p : 0;
  bool ok;
  if (c == '"') {
    os_str string;
    node->item.type = cJSON_String;
    ok = os_scan_string(self, node, &string);
    if (ok) {
      node->item.valuestring = (char *)string.data;
      node->length = (uint32_t)string.len;
    }
  } else if (c == '{' || c == '[')
    return os_scan__open(self, node, c == '{');
  else if (c == '-' || (c >= '0' && c <= '9'))
    ok = os_scan_number(self, node);
  else if (c == 't')
    ok = os_scan__word(self, node, "true", 4, cJSON_True);
  else if (c == 'f')
    ok = os_scan__word(self, node, "false", 5, cJSON_False);
  else if (c == 'n')
    ok = os_scan__word(self, node, "null", 4, cJSON_NULL);
  else
    ok = os_scan__no_value(self);
  if (ok) node->end = (uint32_t)(self->p - self->text);
  return ok;
}

static bool os_scan__close(os_scan *self) {
  os_json *container = self->container;
  self->p++;
  container->end = (uint32_t)(self->p - self->text);
  if (os_json_type_of(container) == OS_JSON_OBJECT && container->length > 1 &&
      !os_scan_close_object(self, container))
    return false;
  self->container = container->parent;
  self->depth--;
  return true;
}

// Behind a value: closes containers until another value has to follow; *next is its node, NULL at the end of all.
static bool os_scan__after(os_scan *self, os_json **next) {
  while (self->container != NULL) {
    self->p = os_scan_white(self->p, self->end);
    bool object = os_json_type_of(self->container) == OS_JSON_OBJECT;
    char c = self->p < self->end ? *self->p : 0;
    if (c == ',') {
      self->p = os_scan_white(self->p + 1, self->end);
      *next = object ? os_scan__key(self, false) : os_scan__child(self);
      return *next != NULL;
    }
    if (c != (object ? '}' : ']'))
      return os_scan_fail(self, self->p, object ? "\",\" or \"}\"" : "\",\" or \"]\"", NULL);
    if (!os_scan__close(self)) return false;
  }
  *next = NULL;
  self->p = os_scan_white(self->p, self->end);
  return self->p == self->end ? true : os_scan_fail(self, self->p, "the end of the text", NULL);
}

static bool os_scan__run(os_scan *self) {
  os_json *node = os_scan__node(self);
  if (node == NULL) return false;
  self->document->root = node;
  self->p = os_scan_white(self->p, self->end);
  while (node != NULL) {
    if (!os_scan__value(self, node)) return false;
    if (self->container == node) {
      os_json *first = os_scan__first(self);
      if (first != NULL) {
        node = first;
        continue;
      }
      if (self->expected != NULL || self->status != OS_OK) return false;
    }
    if (!os_scan__after(self, &node)) return false;
  }
  return true;
}

static os_str os_scan__found(os_scan *self) {
  if (self->p >= self->end) return OS_STR("the end of the text");
  unsigned char c = (unsigned char)*self->p;
  if (c < 0x20 || c == 0x7f) return os_arena_format(self->arena, "the control character U+%04X", c);
  size_t at = 0;
  os_str rest = {self->p, (size_t)(self->end - self->p)};
  os_utf8_next(rest, &at);
  if (c == '"') return OS_STR("a quotation mark");
  return os_arena_format(self->arena, "\"%.*s\"", (int)at, self->p);
}

static void os_scan__fix_comma(os_scan *self, os_finding *finding) {
  const char *comma = self->p;
  do comma--;
  while (*comma != ',');
  os_fix *fix = os_finding_fix(self->report, finding, true, "Remove the comma");
  os_range range = {(uint64_t)(comma - self->text), (uint64_t)(comma + 1 - self->text)};
  os_fix_edit(self->report, fix, self->document->file, range, OS_STR(""));
}

static void os_scan__report_syntax(os_scan *self) {
  os_str found = os_scan__found(self);
  os_finding *finding =
      os_report_add(self->report, &os_rule_json_syntax, "Expected %s here, found %.*s.%s%s", self->expected,
                    OS_ARG(found), self->hint == NULL ? "" : " ", self->hint == NULL ? "" : self->hint);
  finding->expected = os_str_of(self->expected);
  finding->actual = found;
  finding->where.file = self->document->file;
  uint64_t at = (uint64_t)(self->p - self->text);
  os_where_range(&finding->where, at, self->p < self->end ? at + 1 : at);
  if (self->hint == TRAILING) os_scan__fix_comma(self, finding);
}

// UTF-16: its mark, or a character and half a unit that is 0.
static bool os_scan__is_wide(os_str text) {
  if (text.len < 2) return false;
  unsigned char a = (unsigned char)text.data[0], b = (unsigned char)text.data[1];
  return (a == 0xff && b == 0xfe) || (a == 0xfe && b == 0xff) || (a == 0) != (b == 0);
}

static void os_scan__report_encoding(os_scan *self, size_t at) {
  const unsigned char *bytes = (const unsigned char *)self->text;
  size_t size = self->document->text.len;
  const char *why = "";
  size_t end = at + 1;
  if (os_scan__is_wide(self->document->text))
    why = " The file looks like UTF-16.";
  else if (bytes[at] == 0xed && at + 2 < size && bytes[at + 1] >= 0xa0 && bytes[at + 1] < 0xc0) {
    why = " It begins half of a surrogate pair.";
    end = at + 3;
  }
  os_finding *finding =
      os_report_add(self->report, &os_rule_json_encoding,
                    "The byte 0x%02X is not UTF-8 here.%s Save the file as UTF-8.", bytes[at], why);
  finding->expected = OS_STR("UTF-8");
  finding->actual = os_arena_format(self->arena, "0x%02X", bytes[at]);
  finding->where.file = self->document->file;
  os_where_range(&finding->where, at, end);
}

static void os_scan__skip_bom(os_scan *self) {
  if (self->end - self->p < 3 || memcmp(self->p, "\xef\xbb\xbf", 3) != 0) return;
  self->p += 3;
  if (self->report == NULL) return;
  os_finding *finding =
      os_report_add(self->report, &os_rule_json_bom,
                    "The text starts with a byte-order mark; save it as UTF-8 without one.");
  finding->where.file = self->document->file;
  os_where_range(&finding->where, 0, 3);
  os_fix *fix = os_finding_fix(self->report, finding, true, "Remove the byte-order mark");
  os_fix_edit(self->report, fix, self->document->file, (os_range){0, 3}, OS_STR(""));
}

os_status os_json_parse(os_json_document *out, os_arena *arena, os_str file, os_str text,
                        const os_json_options *options, os_report *report) {
  *out = (os_json_document){.text = text, .file = file};
  if (text.len >= UINT32_MAX) return OS_LIMIT;
  size_t valid = os_utf8_valid(text);
  os_scan scan = {
      .p = text.data,
      .end = text.data + valid,
      .text = text.data,
      .arena = arena,
      .report = report,
      .document = out,
      .duplicate_errors = options != NULL && options->duplicate_keys,
      .depth_limit = options == NULL || options->depth == 0 ? OS_JSON_DEPTH_DEFAULT : options->depth,
  };
  if (text.len == 0) scan.p = scan.end = scan.text = "";
  if (report != NULL) os_report_text(report, file, text);
  os_scan__skip_bom(&scan);
  bool ok = os_scan__run(&scan);
  if (ok && valid == text.len) return OS_OK;
  out->root = NULL;
  if (scan.status != OS_OK) return scan.status;
  if (report == NULL) return OS_OK;
  // A text that breaks off at the bad byte is not wrong before it.
  bool wide = os_scan__is_wide(text) && valid > 0;
  if (wide || (valid < text.len && (ok || scan.p >= scan.end)))
    os_scan__report_encoding(&scan, wide ? (size_t)(text.data[0] != 0) : valid);
  else
    os_scan__report_syntax(&scan);
  return OS_OK;
}
