#include "json_scan.h"

#include "apart.h"
#include "json_index.h"
#include "json_rules.h"
#include "text_class.h"
#include "utf8.h"

bool os_scan_fail(os_scan *self, const char *at, const char *expected, const char *hint) {
  self->p = at;
  self->expected = expected;
  self->hint = hint;
  return false;
}

// The same where a place in the text is answered.
static const char *os_scan__wrong(os_scan *self, const char *at, const char *expected, const char *hint) {
  os_scan_fail(self, at, expected, hint);
  return NULL;
}

enum { NODES_AT_ONCE = 32 };

// All zeros: nodes are zeroed many at a time, which takes less than setting a few members of each.
static os_json *os_scan__node(os_scan *self) {
  if (self->spare == self->spare_end) {
    self->spare = OS_ARENA_ARRAY(self->arena, NODES_AT_ONCE, os_json);
    self->spare_end = self->spare == NULL ? NULL : self->spare + NODES_AT_ONCE;
    if (self->spare == NULL) {
      self->status = OS_OUT_OF_MEMORY;
      return NULL;
    }
  }
  self->document->nodes++;
  return self->spare++;
}

// A new last child of the open container. The first one's `prev`, which cJSON has stand for the last, is set at the end.
static os_json *os_scan__child(os_scan *self) {
  os_json *node = os_scan__node(self), *container = self->container, *last = self->last;
  if (node == NULL) return NULL;
  if (last == NULL)
    container->item.child = &node->item;
  else
    last->item.next = &node->item;
  node->item.prev = last == NULL ? NULL : &last->item;
  self->last = node;
  node->parent = container;
  node->order = container->length++;
  return node;
}

static const char *const KEY = "a key in quotation marks";
static const char *const KEY_OR_END = "a key in quotation marks or \"}\"";
static const char *const VALUE = "a value";
static const char *const VALUE_OR_END = "a value or \"]\"";
static const char *const TRAILING = "The comma before it is one too many.";
static const char *const DOUBLED = "There is a comma too many.";
static const char *const MISSING = "A comma is missing before it.";
static const char *const NO_COMMENTS = "JSON has no comments.";

// The scanner's place is a value of each function, which answers the one behind what it has read, or NULL when that is
// wrong: self->p is for those that are seldom called.

// p where a key must start (white space skipped): reads key and colon, and answers where the value is.
OS_APART static const char *os_scan__key(os_scan *self, os_json **out, const char *p) {
  const char *start = p, *end = self->end;
  if (p >= end || *p != '"') {
    bool first = self->container->length == 0;
    const char *hint = p < end && *p == '}'                  ? TRAILING
                       : p < end && *p == ','                ? DOUBLED
                       : p < end && (*p == '/' || *p == '#') ? NO_COMMENTS
                       : p < end && (*p == '\'' || *p == '_' || *p == '$' || os_is_alpha(*p))
                           ? "Keys stand in double quotation marks."
                           : NULL;
    return os_scan__wrong(self, p, first ? KEY_OR_END : KEY, hint);
  }
  os_json *node = os_scan__child(self);
  if (node == NULL) return NULL;
  *out = node;
  node->item.string = ""; // until it is read
  os_str key;
  p = os_scan_string(self, self->container, p, &key);
  if (p == NULL) return NULL;
  node->item.string = (char *)key.data;
  node->key_length = (uint32_t)key.len;
  node->key_start = (uint32_t)(start - self->text);
  node->key_end = (uint32_t)(p - self->text);
  node->order = os_json_key_hash(key);
  if (self->container->length >= OS_JSON_INDEX_FROM && !os_scan_index_member(self, self->container, node))
    return NULL;
  if (p < end && *p != ':') p = os_scan_white(p, end);
  if (p >= end || *p != ':') return os_scan__wrong(self, p, "\":\"", NULL);
  return os_scan_white(p + 1, end);
}

// The finding stands at the outermost value from which single members lead down to the one that is too deep, since a
// pointer of a thousand zeros helps nobody.
OS_APART static void os_scan__too_deep(os_scan *self, const os_json *node) {
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

// p at the bracket. A container that is not too deep is open then.
OS_APART static const char *os_scan__open(os_scan *self, os_json *node, const char *p) {
  bool object = *p == '{';
  node->item.type = object ? cJSON_Object : cJSON_Array;
  p++;
  if (self->depth < self->depth_limit) {
    self->depth++;
    self->container = node;
    self->last = NULL;
    return p;
  }
  self->p = p;
  node->flags |= OS_JSON_CUT;
  os_scan__too_deep(self, node);
  if (!os_scan_skip_container(self, node, object)) return NULL;
  node->end = (uint32_t)(self->p - self->text);
  return self->p;
}

OS_APART static const char *os_scan__word(os_scan *self, os_json *node, const char *p, const char *word,
                                          size_t len, int type) {
  size_t i = 1;
  if ((size_t)(self->end - p) >= 5 && memcmp(p, word, 4) == 0) i = 4;
  while (i < len && p + i < self->end && p[i] == word[i]) i++;
  if (i < len)
    return os_scan__wrong(self, p + i,
                          type == cJSON_NULL   ? "null"
                          : type == cJSON_True ? "true"
                                               : "false",
                          NULL);
  node->item.type = type;
  return p + len;
}

OS_APART static const char *os_scan__no_value(os_scan *self, const char *p) {
  const char *hint = NULL;
  bool first = self->container != NULL && self->container->length == 1;
  bool array = self->container != NULL && os_json_type_of(self->container) == OS_JSON_ARRAY;
  char c = p < self->end ? *p : 0;
  if (array && c == ']' && !first) hint = TRAILING;
  if (c == '\'') hint = "Strings stand in double quotation marks.";
  if (c == '/' || c == '#') hint = NO_COMMENTS;
  if (c == ',' && array) hint = DOUBLED;
  if (c == 'N' || c == 'I') hint = "JSON has no numbers that are not finite.";
  if (self->end - p >= 4 && (memcmp(p, "None", 4) == 0 || memcmp(p, "NULL", 4) == 0))
    hint = "What is not there is null.";
  if (c == 'T' || c == 'F') hint = "true, false and null are written with small letters.";
  if (c == '+' || c == '.') hint = "A number starts with a digit or a minus sign.";
  return os_scan__wrong(self, p, array && first ? VALUE_OR_END : VALUE, hint);
}

// p at the value (white space skipped). A container is left open: self->container is `node` afterwards.
OS_APART static const char *os_scan__value(os_scan *self, os_json *node, const char *p) {
  node->start = (uint32_t)(p - self->text);
  char c = p < self->end ? *p : 0;
  if (c == '"') {
    os_str string;
    node->item.type = cJSON_String;
    p = os_scan_string(self, node, p, &string);
    if (p == NULL) return NULL;
    node->item.valuestring = (char *)string.data;
    node->length = (uint32_t)string.len;
  } else if (c == '{' || c == '[')
    return os_scan__open(self, node, p);
  else if (c == '-' || (c >= '0' && c <= '9')) {
    self->p = p;
    p = os_scan_number(self, node) ? self->p : NULL;
  } else if (c == 't')
    p = os_scan__word(self, node, p, "true", 4, cJSON_True);
  else if (c == 'f')
    p = os_scan__word(self, node, p, "false", 5, cJSON_False);
  else if (c == 'n')
    p = os_scan__word(self, node, p, "null", 4, cJSON_NULL);
  else
    p = os_scan__no_value(self, p);
  if (p != NULL) node->end = (uint32_t)(p - self->text);
  return p;
}

// p at the bracket that ends the open container.
OS_APART static const char *os_scan__close(os_scan *self, const char *p) {
  os_json *container = self->container;
  p++;
  container->end = (uint32_t)(p - self->text);
  if (self->last != NULL) container->item.child->prev = &self->last->item;
  self->p = p;
  if (os_json_type_of(container) == OS_JSON_OBJECT && container->length > 1 &&
      !os_scan_close_object(self, container))
    return NULL;
  self->last = container;
  self->container = container->parent;
  self->depth--;
  return p;
}

// Whether what would follow a comma, a key or a value, begins with this character.
static bool os_scan__may_start(char c, bool key) {
  return c == '"' || (!key && (c == '{' || c == '[' || c == '-' || os_is_digit(c)));
}

// Behind a value, or behind the bracket that opens a container: closes containers until another value has to follow, and
// answers where it, or its key, is. At the end of all self->container is NULL.
static inline const char *os_scan__after(os_scan *self, const char *p) {
  const char *end = self->end;
  while (p != NULL && self->container != NULL) {
    bool object = os_json_type_of(self->container) == OS_JSON_OBJECT, first = self->last == NULL;
    if (p < end && (unsigned char)*p <= ' ') p = os_scan_white_run(p, end);
    char c = p < end ? *p : 0;
    if (c == (object ? '}' : ']')) {
      p = os_scan__close(self, p);
      continue;
    }
    if (first) return p;
    if (c == ',') return os_scan_white(p + 1, end);
    const char *hint = c == '/' || c == '#' ? NO_COMMENTS : os_scan__may_start(c, object) ? MISSING : NULL;
    return os_scan__wrong(self, p, object ? "\",\" or \"}\"" : "\",\" or \"]\"", hint);
  }
  return p;
}

OS_APART static bool os_scan__run(os_scan *self) {
  const char *p = os_scan_white(self->p, self->end);
  os_json *node = self->document->root = os_scan__node(self);
  if (node == NULL) return false;
  for (;;) {
    p = os_scan__value(self, node, p);
    p = os_scan__after(self, p);
    if (p == NULL) return false;
    if (self->container == NULL) break;
    if (os_json_type_of(self->container) == OS_JSON_OBJECT)
      p = os_scan__key(self, &node, p);
    else
      node = os_scan__child(self);
    if (p == NULL || node == NULL) return false;
  }
  self->p = os_scan_white(p, self->end);
  return self->p == self->end ? true : os_scan_fail(self, self->p, "the end of the text", NULL);
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
  const char *comma = self->p, *before = self->p;
  bool missing = self->hint == MISSING;
  if (missing) {
    while (os_scan_is_white(before[-1])) before--;
    if (before == self->p) return; // nothing between: perhaps it is one value
    comma = before;
  } else if (self->hint == TRAILING) {
    do comma--;
    while (*comma != ',');
  }
  bool safe = !missing || memchr(before, '\n', (size_t)(self->p - before)) != NULL;
  os_fix *fix = os_finding_fix(self->report, finding, safe, missing ? "Add a comma" : "Remove the comma");
  os_range range = {(uint64_t)(comma - self->text), (uint64_t)(comma + !missing - self->text)};
  os_fix_edit(self->report, fix, self->document->file, range, missing ? OS_STR(",") : OS_STR(""));
}

OS_APART static void os_scan__report_syntax(os_scan *self) {
  os_str found = os_scan__found(self);
  os_finding *finding =
      os_report_add(self->report, &os_rule_json_syntax, "Expected %s here, found %.*s.%s%s", self->expected,
                    OS_ARG(found), self->hint == NULL ? "" : " ", self->hint == NULL ? "" : self->hint);
  finding->expected = os_str_of(self->expected);
  finding->actual = found;
  finding->where.file = self->document->file;
  uint64_t at = (uint64_t)(self->p - self->text);
  size_t size = 0;
  if (self->p < self->end) os_utf8_next((os_str){self->p, (size_t)(self->end - self->p)}, &size);
  os_where_range(&finding->where, at, at + size);
  if (self->hint == TRAILING || self->hint == DOUBLED || self->hint == MISSING)
    os_scan__fix_comma(self, finding);
}

// UTF-16: its mark, or a character and half a unit that is 0.
static bool os_scan__is_wide(os_str text) {
  if (text.len < 2) return false;
  unsigned char a = (unsigned char)text.data[0], b = (unsigned char)text.data[1];
  return (a == 0xff && b == 0xfe) || (a == 0xfe && b == 0xff) || (a == 0) != (b == 0);
}

OS_APART static void os_scan__report_encoding(os_scan *self, size_t at) {
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
