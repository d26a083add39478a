// Texts that people read: blank ones, repeated ones, names in back-ticks.
#include "spec_check.h"

static bool os_text__name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// ---- Blank ------------------------------------------------------------------------------------------------

static os_str os_text__trim(os_str text) {
  while (text.len > 0 && (unsigned char)text.data[0] <= ' ') text = os_str_slice(text, 1, text.len);
  while (text.len > 0 && (unsigned char)text.data[text.len - 1] <= ' ') text.len--;
  return text;
}

static bool os_text__has_word(os_str text) {
  for (size_t i = 0; i < text.len; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) return true;
    if (c < 0x80) continue;
    if (text.len - i < 3 || memcmp(text.data + i, "\xe2\x80\xa6", 3) != 0) return true;
    i += 2; // an ellipsis
  }
  return false;
}

static bool os_text__ends_sentence(char c) {
  return c == '.' || c == '!' || c == '?' || c == ':' || c == ' ';
}

// White space, a placeholder, or nothing but punctuation.
static bool os_text__is_blank(os_str text) {
  static const char *const starts[] = {"todo", "tbd", "fixme", "xxx", "lorem", NULL};
  static const char *const whole[] = {"n/a", "na",      "placeholder", "description",
                                      "wip", "fill in", "to do",       NULL};
  os_str trimmed = os_text__trim(text);
  if (!os_text__has_word(trimmed) || os_first_word_in(trimmed, starts)) return true;
  char small[16];
  while (trimmed.len > 0 && os_text__ends_sentence(trimmed.data[trimmed.len - 1])) trimmed.len--;
  if (trimmed.len > sizeof small) return false;
  for (size_t i = 0; i < trimmed.len; i++)
    small[i] =
        trimmed.data[i] >= 'A' && trimmed.data[i] <= 'Z' ? (char)(trimmed.data[i] | 0x20) : trimmed.data[i];
  return os_str_in((os_str){small, trimmed.len}, whole);
}

// ---- Names in back-ticks ----------------------------------------------------------------------------------

static bool os_text__is_name(os_str text) {
  if (text.len == 0 || text.len > 128) return false;
  char first = text.data[0];
  if (!(first == '_' || (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'))) return false;
  for (size_t i = 0; i < text.len; i++)
    if (!os_text__name_character(text.data[i])) return false;
  return true;
}

static void os_text__add_word(os_checking *self, os_str word) {
  if (word.len > 0 && os_map_put(&self->words, word, NULL) == NULL) self->status = OS_OUT_OF_MEMORY;
}

static void os_text__add_words(os_checking *self, const os_json *value) {
  os_text__add_word(self, os_json_string(value));
  OS_JSON_EACH(item, os_json_is(value, OS_JSON_ARRAY) ? value : NULL)
  os_text__add_word(self, os_json_string(item));
}

// Words that documents set in back-ticks without meaning a name of theirs: values, and what the operator is called.
static void os_text__collect_words(os_checking *self) {
  static const char *const words[] = {"NaN",   "nan",  "inf",  "Inf",  "Infinity", "true",
                                      "false", "null", "None", "True", "False"};
  const os_spec *spec = self->spec;
  os_map_init(&self->words, self->arena);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) os_text__add_word(self, os_str_of(words[i]));
  os_text__add_word(self, spec->op_type);
  os_text__add_word(self, spec->domain);
  os_text__add_word(self, spec->name);
  for (size_t i = 0; i < spec->attribute_count; i++) {
    const os_spec_attribute *attribute = &spec->attributes[i];
    if (attribute->kind != OP_ATTR_STRING && attribute->kind != OP_ATTR_STRINGS) continue;
    os_text__add_words(self, attribute->fallback);
    os_text__add_words(self, attribute->allowed);
  }
}

static bool os_text__is_word(os_checking *self, os_str name) {
  if (self->words.arena == NULL) os_text__collect_words(self); // few documents need them
  return os_elem_by_onnx_name(name) != OP_NONE || os_map_get(&self->words, name) != NULL;
}

static void os_text__unknown(os_checking *self, const os_json *node, uint32_t at, os_str name) {
  os_str nearest = os_checking_nearest(self, name, ~0u);
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_text_unknown_name, node,
                      "`%.*s` is no parameter, attribute or type parameter.%s%.*s%s", OS_ARG(name),
                      nearest.len > 0 ? " Did you mean `" : "", OS_ARG(nearest), nearest.len > 0 ? "`?" : "");
  if (self->report->full) return;
  finding->actual = name;
  os_related *related = os_finding_relate(self->report, finding, "the name");
  related->where.file = self->spec->document.file;
  os_where_range(&related->where, at, at + name.len);
  if (nearest.len == 0) return;
  finding->expected = nearest;
  os_fix *fix = os_finding_fix(self->report, finding, false, "Write `%.*s`", OS_ARG(nearest));
  os_fix_edit(self->report, fix, self->spec->document.file, (os_range){at, at + name.len}, nearest);
}

static bool os_text__all_named(const os_json *list, const os_spec_parameter *read, size_t count) {
  if (!os_json_is(list, OS_JSON_ARRAY) || list->length != count) return false;
  for (size_t i = 0; i < count; i++)
    if (read[i].name.len == 0) return false;
  return true;
}

// Whether all that has a name could be read. Where not, the schema has said so, and a name that is not there says nothing.
static bool os_text__knows_names(os_checking *self) {
  const os_spec *spec = self->spec;
  if (self->knows_names == 0) {
    bool all = os_text__all_named(spec->members[OS_SPEC_INPUTS], spec->inputs, spec->input_count) &&
               os_text__all_named(spec->members[OS_SPEC_OUTPUTS], spec->outputs, spec->output_count) &&
               os_json_is(spec->members[OS_SPEC_TYPE_PARAMETERS], OS_JSON_OBJECT) &&
               os_json_is(self->attributes, OS_JSON_OBJECT);
    self->knows_names = all ? 1 : -1;
  }
  return self->knows_names > 0;
}

// Works on the text as written: names have no escapes.
static void os_text__names(os_checking *self, const os_json *node) {
  os_str source = os_json_source(&self->spec->document, node);
  for (size_t at = 0; (at = os_str_find(source, at, '`')) < source.len;) {
    size_t start = ++at;
    at = os_str_find(source, at, '`');
    if (at == source.len) return;
    if (os_report_overfull(self->report)) {
      os_report_incomplete(self->report, "too many findings to look at all names in texts");
      return;
    }
    os_str name = os_str_slice(source, start, at++);
    if (os_text__is_name(name) && os_checking_roles(self, name) == 0 && !os_text__is_word(self, name) &&
        os_text__knows_names(self))
      os_text__unknown(self, node, node->start + (uint32_t)start, name);
  }
}

void os_check_text(os_checking *self, const os_json *node) {
  if (!os_json_is(node, OS_JSON_STRING) || node->length == 0) return;
  if (os_text__is_blank(os_json_string(node))) {
    os_str found = os_json_excerpt(&self->spec->document, self->arena, node);
    os_finding *finding = os_checking_add(self, &os_rule_spec_text_blank, node,
                                          "%.*s says nothing; write the description.", OS_ARG(found));
    finding->actual = found;
    return;
  }
  os_text__names(self, node);
}

// ---- Repeated and missing statements ----------------------------------------------------------------------

// The same words, with white space and the full stop at the end left aside.
static os_str os_text__normal(os_checking *self, os_str text) {
  os_str trimmed = os_text__trim(text);
  char *to = os_arena_alloc(self->arena, trimmed.len + 1);
  if (to == NULL) return trimmed;
  size_t len = 0;
  for (size_t i = 0; i < trimmed.len; i++) {
    bool white = (unsigned char)trimmed.data[i] <= ' ';
    if (white && len > 0 && to[len - 1] == ' ') continue;
    to[len++] = white ? ' ' : trimmed.data[i];
  }
  while (len > 0 && to[len - 1] == '.') len--;
  return (os_str){to, len};
}

// Whether os_text__normal makes the same of both: of short lists, whose texts mostly differ soon, none is written.
static bool os_text__same(os_str a, os_str b) {
  size_t i = 0, j = 0;
  a = os_text__trim(a);
  b = os_text__trim(b);
  while (a.len > 0 && a.data[a.len - 1] == '.') a.len--;
  while (b.len > 0 && b.data[b.len - 1] == '.') b.len--;
  while (i < a.len && j < b.len) {
    bool white = (unsigned char)a.data[i] <= ' ';
    if (white != ((unsigned char)b.data[j] <= ' ') || (!white && a.data[i] != b.data[j])) return false;
    i++, j++;
    while (white && i < a.len && (unsigned char)a.data[i] <= ' ') i++;
    while (white && j < b.len && (unsigned char)b.data[j] <= ' ') j++;
  }
  return i == a.len && j == b.len;
}

static const os_json *os_text__earlier(const os_json *list, const os_json *node) {
  const os_json *early = os_json_first(list);
  for (; early != node; early = os_json_next(early))
    if (os_json_is(early, OS_JSON_STRING) && early->length > 0 &&
        os_text__same(os_json_string(early), os_json_string(node)))
      break;
  return early;
}

// The first element with the same words, which may be the node itself; NULL when memory is exhausted.
static const os_json *os_text__first(os_checking *self, os_map *seen, const os_json *node) {
  os_map_entry *entry = os_map_put(seen, os_text__normal(self, os_json_string(node)), NULL);
  if (entry == NULL) return NULL;
  if (entry->value.pointer == NULL) entry->value.pointer = (void *)node;
  return entry->value.pointer;
}

enum { SHORT_LIST = 8 };

static void os_text__repeated(os_checking *self, const os_json *list) {
  os_map seen;
  os_map_init(&seen, self->arena);
  if (!os_json_is(list, OS_JSON_ARRAY)) return;
  OS_JSON_EACH(node, list) {
    if (!os_json_is(node, OS_JSON_STRING) || node->length == 0) continue;
    const os_json *first =
        list->length <= SHORT_LIST ? os_text__earlier(list, node) : os_text__first(self, &seen, node);
    if (first == NULL) {
      self->status = OS_OUT_OF_MEMORY;
      return;
    }
    if (first == node) continue;
    os_finding *finding = os_checking_add(self, &os_rule_spec_text_repeated, node,
                                          "This statement stands here twice; remove one.");
    os_checking_relate(self, finding, first, "the first one");
    os_checking_fix_remove(self, finding, false, node);
  }
}

static bool os_text__mentions(os_str text, os_str name) {
  for (size_t i = 0; name.len > 0 && i + name.len <= text.len; i++) {
    if (text.data[i] != name.data[0] || memcmp(text.data + i, name.data, name.len) != 0) continue;
    char before = i == 0 ? ' ' : text.data[i - 1],
         after = i + name.len == text.len ? ' ' : text.data[i + name.len];
    bool ends = !os_text__name_character(after) || after == '.' || after == '-';
    if (!os_text__name_character(before) && ends) return true;
  }
  return false;
}

static void os_text__outputs(os_checking *self) {
  const os_json *rules = self->spec->members[OS_SPEC_SHAPE_RULES];
  if (!os_json_is(rules, OS_JSON_ARRAY) || self->spec->output_count == 0) return;
  OS_JSON_EACH(rule, rules) {
    for (size_t i = 0; i < self->spec->output_count && i < 64; i++)
      if (os_text__mentions(os_json_string(rule), self->spec->outputs[i].name)) return;
  }
  os_str name = self->spec->outputs[0].name;
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_shape_output_unmentioned, rules,
                      "No shape rule names an output; say which shape `%.*s` has.", OS_ARG(name));
  finding->expected = name;
}

void os_check_texts(os_checking *self) {
  static const os_spec_member lists[] = {OS_SPEC_INPUT_CONDITIONS, OS_SPEC_SHAPE_RULES};
  const os_spec *spec = self->spec;
  for (size_t i = 0; i < spec->input_count; i++) os_check_text(self, spec->inputs[i].description);
  for (size_t i = 0; i < spec->output_count; i++) os_check_text(self, spec->outputs[i].description);
  for (size_t i = 0; i < spec->type_parameter_count; i++)
    os_check_text(self, spec->type_parameters[i].description);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const os_json *list = spec->members[lists[i]];
    OS_JSON_EACH(node, os_json_is(list, OS_JSON_ARRAY) ? list : NULL) os_check_text(self, node);
    os_text__repeated(self, list);
  }
  for (int i = OS_SPEC_BOUNDARY; i <= OS_SPEC_EFFECTS; i++) os_check_text(self, spec->members[i]);
  os_text__outputs(self);
}
