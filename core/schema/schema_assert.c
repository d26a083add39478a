// Assertions: keywords that look at one value alone.
#include "json_equal.h"
#include "schema_rows.h"
#include "utf8.h"

// ---- Texts ------------------------------------------------------------------------------------------------

static const struct {
  int type;
  const char *name;
} type_names[] = {{cJSON_Object, "object"}, {cJSON_Array, "array"},  {cJSON_String, "string"},
                  {cJSON_Number, "number"}, {cJSON_True, "boolean"}, {cJSON_False, "boolean"},
                  {cJSON_NULL, "null"}};

enum { INTEGER_ONLY = 1 << 16 }; // in a type set: numbers have to be integers

os_str os_schema_type_names(os_arena *arena, int types) {
  os_str text = {0};
  int left = types & ~INTEGER_ONLY;
  if (left & cJSON_True) left &= ~cJSON_False;
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
    if ((left & type_names[i].type) == 0) continue;
    left &= ~type_names[i].type;
    const char *name =
        type_names[i].type == cJSON_Number && (types & INTEGER_ONLY) ? "integer" : type_names[i].name;
    text = text.len == 0 ? os_str_of(name)
                         : os_arena_format(arena, "%.*s%s%s", OS_ARG(text), left == 0 ? " or " : ", ", name);
  }
  return text;
}

os_str os_schema_choices(const os_json_document *document, os_arena *arena, const os_json *array) {
  os_str text = {0};
  uint32_t at = 0;
  OS_JSON_EACH(child, array) {
    os_str value = os_json_excerpt(document, arena, child);
    const char *between = at == 0 ? "" : at + 1 == array->length ? " or " : ", ";
    if (at == 8 && array->length > 9) return os_arena_format(arena, "%.*s, ...", OS_ARG(text));
    text = os_arena_format(arena, "%.*s%s%.*s", OS_ARG(text), between, OS_ARG(value));
    at++;
  }
  return text;
}

// ---- type, enum, const ------------------------------------------------------------------------------------

static int os_assert__type_of(os_str name) {
  if (os_str_is(name, "integer")) return cJSON_Number | INTEGER_ONLY;
  int types = 0;
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
    if (os_str_is(name, type_names[i].name)) types |= type_names[i].type;
  return types;
}

static os_status os_assert__compile_type(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  bool number = false;
  const os_json *one = os_json_is(row->value, OS_JSON_ARRAY) ? os_json_first(row->value) : row->value;
  for (; one != NULL; one = os_json_next(one)) {
    int types = os_assert__type_of(os_json_string(one));
    if (types == 0) os_compile_wrong(self, &os_rule_schema_invalid, one, "\"type\" names no JSON type here.");
    number |= types == cJSON_Number;
    row->as.types |= types;
    if (one == row->value) break;
  }
  if (number) row->as.types &= ~INTEGER_ONLY;
  ((os_schema_node *)node)->types &= row->as.types & 0xff;
  return OS_OK;
}

static bool os_assert__type(os_eval *self, const os_schema_row *row, const os_json *value) {
  if ((row->as.types & value->item.type) == 0) return false;
  if ((row->as.types & INTEGER_ONLY) == 0 || !os_json_is(value, OS_JSON_NUMBER)) return true;
  if (value->flags & OS_JSON_INTEGER) return true;
  os_decimal number = os_decimal_of(os_json_source(self->document, value));
  return os_decimal_is_integer(&number);
}

static void os_assert__explain_type(os_eval *self, os_frame *frame, const os_schema_row *row,
                                    const os_json *value) {
  os_str expected = os_schema_type_names(self->arena, row->as.types),
         found = os_json_excerpt(self->document, self->arena, value);
  bool number = os_json_is(value, OS_JSON_NUMBER) && (row->as.types & cJSON_Number);
  os_finding *finding = os_eval_finding(
      self, frame->report, &os_rule_schema_type, value, "Expected %.*s here, found %s %.*s.",
      OS_ARG(expected), number ? "a number that is none:" : os_json_type_name(value), OS_ARG(found));
  finding->expected = expected;
  finding->actual = os_str_of(os_json_type_name(value));
}

static os_status os_assert__compile_values(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  bool list = row->keyword->rule == &os_rule_schema_enum;
  if (list && !os_json_is(row->value, OS_JSON_ARRAY)) {
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"enum\" is a list.");
    return OS_OK;
  }
  int types = 0;
  if (!list)
    types = row->value->item.type & 0xff;
  else
    OS_JSON_EACH(child, row->value) types |= child->item.type & 0xff;
  ((os_schema_node *)node)->types &= types;
  return OS_OK;
}

static bool os_assert__enum(os_eval *self, const os_schema_row *row, const os_json *value) {
  if (os_json_is(value, OS_JSON_STRING)) {
    OS_JSON_EACH(child, row->value)
    if (os_json_is(child, OS_JSON_STRING) && os_str_eq(os_json_string(child), os_json_string(value)))
      return true;
    return false;
  }
  OS_JSON_EACH(child, row->value)
  if (os_json_equal(self->schema->document, child, self->document, value)) return true;
  return false;
}

static bool os_assert__const(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_json_equal(self->schema->document, row->value, self->document, value);
}

// The listed string nearest to a string, or NULL when none is near.
static const os_json *os_assert__nearest(const os_json *list, const os_json *value) {
  const os_json *best = NULL;
  unsigned least = (unsigned)(value->length < 6 ? 2 : 3) + 1;
  if (!os_json_is(value, OS_JSON_STRING)) return NULL;
  OS_JSON_EACH(child, list) {
    if (!os_json_is(child, OS_JSON_STRING)) continue;
    unsigned distance = os_str_distance(os_json_string(child), os_json_string(value), least);
    if (distance >= least) continue;
    least = distance;
    best = child;
  }
  return best;
}

static void os_assert__replace(os_eval *self, os_report *report, os_finding *finding, const os_json *value,
                               const os_json *with, bool safe) {
  os_str text = os_arena_copy(self->arena, os_json_source(self->schema->document, with));
  os_fix *fix = os_finding_fix(report, finding, safe, "Write %.*s", OS_ARG(text));
  os_fix_edit(report, fix, self->document->file, (os_range){value->start, value->end}, text);
}

static void os_assert__explain_enum(os_eval *self, os_frame *frame, const os_schema_row *row,
                                    const os_json *value) {
  os_str choices = os_schema_choices(self->schema->document, self->arena, row->value);
  os_str found = os_json_excerpt(self->document, self->arena, value);
  const os_json *nearest = os_assert__nearest(row->value, value);
  os_finding *finding = os_eval_finding(self, frame->report, &os_rule_schema_enum, value,
                                        "Expected %.*s here, found %.*s.", OS_ARG(choices), OS_ARG(found));
  finding->expected = choices;
  finding->actual = found;
  if (nearest != NULL) os_assert__replace(self, frame->report, finding, value, nearest, false);
}

static void os_assert__explain_const(os_eval *self, os_frame *frame, const os_schema_row *row,
                                     const os_json *value) {
  os_str expected = os_json_excerpt(self->schema->document, self->arena, row->value);
  os_str found = os_json_excerpt(self->document, self->arena, value);
  os_finding *finding = os_eval_finding(self, frame->report, &os_rule_schema_const, value,
                                        "Expected %.*s here, found %.*s.", OS_ARG(expected), OS_ARG(found));
  finding->expected = expected;
  finding->actual = found;
  os_assert__replace(self, frame->report, finding, value, row->value, false);
}

// ---- Numbers ----------------------------------------------------------------------------------------------

static os_status os_assert__compile_number(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_NUMBER)) {
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"%s\" is a number.", row->keyword->name);
    return OS_OK;
  }
  row->as.number = os_decimal_of(os_json_source(self->document, row->value));
  if (row->keyword->rule != &os_rule_schema_multiple_of) return OS_OK;
  bool positive =
      row->as.number.count > 0 && !row->as.number.negative && row->as.number.count <= OS_DECIMAL_DIVISOR;
  if (!positive)
    os_compile_wrong(self, &os_rule_schema_invalid, row->value,
                     "\"multipleOf\" is more than 0 and has at most %d digits.", OS_DECIMAL_DIVISOR);
  return OS_OK;
}

static int os_assert__order(os_eval *self, const os_schema_row *row, const os_json *value) {
  os_decimal number = os_decimal_of(os_json_source(self->document, value));
  return os_decimal_compare(&number, &row->as.number);
}

static bool os_assert__minimum(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_assert__order(self, row, value) >= 0;
}
static bool os_assert__maximum(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_assert__order(self, row, value) <= 0;
}
static bool os_assert__exclusive_minimum(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_assert__order(self, row, value) > 0;
}
static bool os_assert__exclusive_maximum(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_assert__order(self, row, value) < 0;
}
static bool os_assert__multiple_of(os_eval *self, const os_schema_row *row, const os_json *value) {
  os_decimal number = os_decimal_of(os_json_source(self->document, value));
  bool answer = false;
  return os_decimal_divides(&number, &row->as.number, &answer) == OS_OK && answer;
}

static void os_assert__explain_number(os_eval *self, os_frame *frame, const os_schema_row *row,
                                      const os_json *value) {
  static const struct {
    const os_rule *rule;
    const char *words;
  } words[] = {{&os_rule_schema_minimum, "at least"},
               {&os_rule_schema_maximum, "at most"},
               {&os_rule_schema_exclusive_minimum, "more than"},
               {&os_rule_schema_exclusive_maximum, "less than"},
               {&os_rule_schema_multiple_of, "a multiple of"}};
  const char *how = "";
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].rule == row->keyword->rule) how = words[i].words;
  os_str expected = os_arena_format(self->arena, "%s %.*s", how,
                                    OS_ARG(os_json_excerpt(self->schema->document, self->arena, row->value)));
  os_str found = os_json_excerpt(self->document, self->arena, value);
  os_finding *finding = os_eval_finding(self, frame->report, row->keyword->rule, value,
                                        "Expected %.*s here, found %.*s.", OS_ARG(expected), OS_ARG(found));
  finding->expected = expected;
  finding->actual = found;
}

// ---- Counts -----------------------------------------------------------------------------------------------

static os_status os_assert__compile_count(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  uint64_t count = 0;
  os_decimal number = {0};
  if (os_json_is(row->value, OS_JSON_NUMBER))
    number = os_decimal_of(os_json_source(self->document, row->value));
  bool whole = os_json_is(row->value, OS_JSON_NUMBER) && !number.negative && os_decimal_is_integer(&number);
  if (!whole)
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"%s\" is an integer of at least 0.",
                     row->keyword->name);
  else if (!os_decimal_uint64(&number, &count) || count > UINT32_MAX)
    count = UINT32_MAX;
  row->as.count = (uint32_t)count;
  return OS_OK;
}

static size_t os_assert__size(const os_json *value) {
  if (!os_json_is(value, OS_JSON_STRING)) return value->length;
  return os_utf8_count(os_json_string(value));
}

static bool os_assert__least(os_eval *self, const os_schema_row *row, const os_json *value) {
  (void)self;
  // A character has at most four bytes.
  if (os_json_is(value, OS_JSON_STRING) && value->length / 4 >= row->as.count && value->length > 0)
    return true;
  return os_assert__size(value) >= row->as.count;
}

static bool os_assert__most(os_eval *self, const os_schema_row *row, const os_json *value) {
  (void)self;
  return value->length <= row->as.count || os_assert__size(value) <= row->as.count;
}

static void os_assert__explain_count(os_eval *self, os_frame *frame, const os_schema_row *row,
                                     const os_json *value) {
  bool most = row->keyword->check == os_assert__most;
  const char *what = os_json_is(value, OS_JSON_STRING)  ? "character"
                     : os_json_is(value, OS_JSON_ARRAY) ? "element"
                                                        : "member";
  size_t size = os_assert__size(value);
  os_str expected = os_arena_format(self->arena, "%s %u %s%s", most ? "at most" : "at least", row->as.count,
                                    what, row->as.count == 1 ? "" : "s");
  os_finding *finding =
      os_eval_finding(self, frame->report, row->keyword->rule, value, "Expected %.*s here, found %s%zu.",
                      OS_ARG(expected), size == 0 ? "none: " : "", size);
  finding->expected = expected;
  finding->actual = os_arena_format(self->arena, "%zu", size);
}

// ---- pattern, uniqueItems, required -----------------------------------------------------------------------

static os_status os_assert__compile_pattern(os_compile *self, const os_schema_node *node,
                                            os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_STRING)) {
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"pattern\" is a string.");
    return OS_OK;
  }
  os_str message = {0};
  OS_TRY(os_pattern_compile(&row->as.pattern.pattern, self->arena, os_json_string(row->value), &message));
  if (row->as.pattern.pattern == NULL)
    os_compile_wrong(self, &os_rule_schema_pattern_syntax, row->value, "This pattern is wrong: %.*s.",
                     OS_ARG(message));
  return OS_OK;
}

static bool os_assert__pattern(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_eval_pattern(self, row->as.pattern.pattern, os_json_string(value));
}

static void os_assert__explain_pattern(os_eval *self, os_frame *frame, const os_schema_row *row,
                                       const os_json *value) {
  os_str pattern = os_json_string(row->value), found = os_json_quote(self->arena, os_json_string(value));
  // Two schemas use one description: what the pattern wants, in words.
  const os_json *words = os_json_member(frame->node->json, "description");
  os_finding *finding = os_eval_finding(
      self, frame->report, &os_rule_schema_pattern, value, "%.*s does not match the pattern %.*s.%s%.*s",
      OS_ARG(found), OS_ARG(pattern), words == NULL ? "" : " It has to be: ", OS_ARG(os_json_string(words)));
  finding->expected = pattern;
  finding->actual = found;
}

static os_status os_assert__compile_unique(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)self, (void)node;
  if (!os_json_is(row->value, OS_JSON_TRUE)) row->keyword = NULL;
  return OS_OK;
}

static bool os_assert__unique(os_eval *self, const os_schema_row *row, const os_json *value) {
  (void)row;
  const os_json *earlier;
  return os_json_repeated(self->arena, self->document, value, &earlier, &self->status) == NULL;
}

static void os_assert__explain_unique(os_eval *self, os_frame *frame, const os_schema_row *row,
                                      const os_json *value) {
  (void)row;
  const os_json *earlier = NULL;
  const os_json *late = os_json_repeated(self->arena, self->document, value, &earlier, &self->status);
  if (late == NULL) return;
  os_str found = os_json_excerpt(self->document, self->arena, late);
  os_finding *finding =
      os_eval_finding(self, frame->report, &os_rule_schema_unique_items, value,
                      "Elements %u and %u of this list are equal (%.*s); each may stand once.",
                      earlier->order, late->order, OS_ARG(found));
  finding->expected = OS_STR("different elements");
  finding->actual = found;
  os_related *related = os_finding_relate(frame->report, finding, "the second of the two");
  os_json_where(self->document, self->arena, late, &related->where);
}

static os_status os_assert__compile_required(os_compile *self, const os_schema_node *node,
                                             os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_ARRAY))
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"required\" is a list of names.");
  return OS_OK;
}

static bool os_assert__required(os_eval *self, const os_schema_row *row, const os_json *value) {
  (void)self;
  if (value->length < row->value->length) return false;
  // Documents mostly have their members in the schema's order.
  const os_json *guess = os_json_first(value);
  OS_JSON_EACH(name, row->value) {
    if (guess != NULL && os_str_eq(os_json_key(guess), os_json_string(name)))
      guess = os_json_next(guess);
    else if (os_json_get(value, os_json_string(name)) == NULL)
      return false;
  }
  return true;
}

static void os_assert__explain_required(os_eval *self, os_frame *frame, const os_schema_row *row,
                                        const os_json *value) {
  OS_JSON_EACH(name, row->value) {
    if (os_json_get(value, os_json_string(name)) != NULL) continue;
    os_str quoted = os_json_quote(self->arena, os_json_string(name));
    os_finding *finding = os_eval_finding(self, frame->report, &os_rule_schema_required, value,
                                          "The member %.*s is missing here; add it.", OS_ARG(quoted));
    finding->expected = quoted;
  }
}

// ---- The table --------------------------------------------------------------------------------------------

#define NUMBERS cJSON_Number
#define STRINGS cJSON_String
#define ARRAYS cJSON_Array
#define OBJECTS cJSON_Object

const os_schema_keyword os_schema_assertions[] = {
    {"type", 0, &os_rule_schema_type, os_assert__compile_type, os_assert__type, os_assert__explain_type, NULL,
     NULL, OS_HOLDS_NONE},
    {"const", 0, &os_rule_schema_const, os_assert__compile_values, os_assert__const, os_assert__explain_const,
     NULL, NULL, OS_HOLDS_NONE},
    {"enum", 0, &os_rule_schema_enum, os_assert__compile_values, os_assert__enum, os_assert__explain_enum,
     NULL, NULL, OS_HOLDS_NONE},
    {"minimum", NUMBERS, &os_rule_schema_minimum, os_assert__compile_number, os_assert__minimum,
     os_assert__explain_number, NULL, NULL, OS_HOLDS_NONE},
    {"maximum", NUMBERS, &os_rule_schema_maximum, os_assert__compile_number, os_assert__maximum,
     os_assert__explain_number, NULL, NULL, OS_HOLDS_NONE},
    {"exclusiveMinimum", NUMBERS, &os_rule_schema_exclusive_minimum, os_assert__compile_number,
     os_assert__exclusive_minimum, os_assert__explain_number, NULL, NULL, OS_HOLDS_NONE},
    {"exclusiveMaximum", NUMBERS, &os_rule_schema_exclusive_maximum, os_assert__compile_number,
     os_assert__exclusive_maximum, os_assert__explain_number, NULL, NULL, OS_HOLDS_NONE},
    {"multipleOf", NUMBERS, &os_rule_schema_multiple_of, os_assert__compile_number, os_assert__multiple_of,
     os_assert__explain_number, NULL, NULL, OS_HOLDS_NONE},
    {"minLength", STRINGS, &os_rule_schema_min_length, os_assert__compile_count, os_assert__least,
     os_assert__explain_count, NULL, NULL, OS_HOLDS_NONE},
    {"maxLength", STRINGS, &os_rule_schema_max_length, os_assert__compile_count, os_assert__most,
     os_assert__explain_count, NULL, NULL, OS_HOLDS_NONE},
    {"pattern", STRINGS, &os_rule_schema_pattern, os_assert__compile_pattern, os_assert__pattern,
     os_assert__explain_pattern, NULL, NULL, OS_HOLDS_NONE},
    {"minItems", ARRAYS, &os_rule_schema_min_items, os_assert__compile_count, os_assert__least,
     os_assert__explain_count, NULL, NULL, OS_HOLDS_NONE},
    {"maxItems", ARRAYS, &os_rule_schema_max_items, os_assert__compile_count, os_assert__most,
     os_assert__explain_count, NULL, NULL, OS_HOLDS_NONE},
    {"uniqueItems", ARRAYS, &os_rule_schema_unique_items, os_assert__compile_unique, os_assert__unique,
     os_assert__explain_unique, NULL, NULL, OS_HOLDS_NONE},
    {"required", OBJECTS, &os_rule_schema_required, os_assert__compile_required, os_assert__required,
     os_assert__explain_required, NULL, NULL, OS_HOLDS_NONE},
    {"minProperties", OBJECTS, &os_rule_schema_min_properties, os_assert__compile_count, os_assert__least,
     os_assert__explain_count, NULL, NULL, OS_HOLDS_NONE},
    {"maxProperties", OBJECTS, &os_rule_schema_max_properties, os_assert__compile_count, os_assert__most,
     os_assert__explain_count, NULL, NULL, OS_HOLDS_NONE},
};

const size_t os_schema_assertion_count = sizeof os_schema_assertions / sizeof *os_schema_assertions;
