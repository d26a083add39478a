// Assertions: keywords that look at one value alone.
#include "json_write.h"
#include "schema_rows.h"
#include "text_class.h"
#include "utf8.h"

// ---- Texts ------------------------------------------------------------------------------------------------

static const struct {
  int type;
  const char *name;
} type_names[] = {{cJSON_Object, "object"}, {cJSON_Array, "array"},  {cJSON_String, "string"},
                  {cJSON_Number, "number"}, {cJSON_True, "boolean"}, {cJSON_False, "boolean"},
                  {cJSON_NULL, "null"}};

static os_str os_assert__type_names(os_arena *arena, int types) {
  os_str text = {0};
  int left = types & ~OS_SCHEMA_INTEGER_ONLY;
  if (left & cJSON_True) left &= ~cJSON_False;
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
    if ((left & type_names[i].type) == 0) continue;
    left &= ~type_names[i].type;
    const char *name = type_names[i].type == cJSON_Number && (types & OS_SCHEMA_INTEGER_ONLY)
                           ? "integer"
                           : type_names[i].name;
    text = text.len == 0 ? os_str_of(name)
                         : os_arena_format(arena, "%.*s%s%s", OS_ARG(text), left == 0 ? " or " : ", ", name);
  }
  return text;
}

static bool os_assert__same_letters(os_str a, os_str b) {
  if (a.len != b.len) return false;
  for (size_t i = 0; i < a.len; i++)
    if (a.data[i] != b.data[i] && (!os_is_alpha(a.data[i]) || (a.data[i] ^ b.data[i]) != 32)) return false;
  return true;
}

unsigned os_schema_distance(os_str a, os_str b, unsigned least, size_t *cells) {
  if (least > 1 && os_assert__same_letters(a, b)) return 1;
  size_t apart = a.len < b.len ? b.len - a.len : a.len - b.len, size = a.len * b.len;
  if (apart >= least || size > *cells) return least;
  *cells -= size;
  unsigned distance = os_str_distance(a, b, least);
  return distance < least ? distance : least;
}

// The first ones of a long list, `nearest` (may be NULL) among them.
static os_str os_assert__choices(const os_json_document *document, os_arena *arena, const os_json *array,
                                 const os_json *nearest) {
  enum { SHOWN = 8 };
  os_str text = {0};
  uint32_t at = 0, shown = array->length > SHOWN + 1 ? SHOWN : array->length;
  bool near = nearest == NULL;
  OS_JSON_EACH(child, array) {
    near |= child == nearest;
    bool last = at + 1 == SHOWN && shown == SHOWN;
    os_str value = os_json_excerpt(document, arena, last && !near ? nearest : child);
    const char *between = at == 0 ? "" : at + 1 == array->length ? " or " : ", ";
    text = os_arena_format(arena, "%.*s%s%.*s", OS_ARG(text), between, OS_ARG(value));
    if (++at == shown) break;
  }
  if (shown == array->length) return text;
  return os_arena_format(arena, "%.*s or one of %u others", OS_ARG(text), array->length - shown);
}

// ---- type, enum, const ------------------------------------------------------------------------------------

static int os_assert__type_of(os_str name) {
  if (os_str_is(name, "integer")) return cJSON_Number | OS_SCHEMA_INTEGER_ONLY;
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
  if (number) row->as.types &= ~OS_SCHEMA_INTEGER_ONLY;
  ((os_schema_node *)node)->types &= row->as.types & 0xff;
  return OS_OK;
}

// A value's number. It is read digit by digit.
static os_decimal os_assert__number(os_eval *self, const os_json *value) {
  os_str text = os_json_source(self->document, value);
  os_eval_work(self, text.len / 8);
  return os_decimal_of(text);
}

static bool os_assert__type(os_eval *self, const os_schema_row *row, const os_json *value) {
  if ((row->as.types & value->item.type) == 0) return false;
  if ((row->as.types & OS_SCHEMA_INTEGER_ONLY) == 0 || !os_json_is(value, OS_JSON_NUMBER)) return true;
  if (value->flags & OS_JSON_INTEGER) return true;
  os_decimal number = os_assert__number(self, value);
  return os_decimal_is_integer(&number);
}

void os_eval_wrong_type(os_eval *self, os_report *report, const os_schema_row *row, const os_json *value,
                        int types) {
  os_str found = os_json_excerpt(self->document, self->arena, value);
  bool number = os_json_is(value, OS_JSON_NUMBER) && (types & cJSON_Number);
  const char *what = number ? "a number that is none:" : os_json_type_name(value);
  if (!os_str_is(found, what)) found = os_arena_format(self->arena, "%s %.*s", what, OS_ARG(found)); // null
  os_finding *finding =
      os_eval_mismatch(self, report, row, value, os_assert__type_names(self->arena, types), found);
  finding->actual = os_str_of(os_json_type_name(value));
}

static void os_assert__explain_type(os_eval *self, os_frame *frame, const os_schema_row *row,
                                    const os_json *value) {
  os_eval_wrong_type(self, frame->report, row, value, row->as.types);
}

enum { FEW = 16 }; // listed values that are compared one by one

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
  if (!list || row->value->length <= FEW) return OS_OK;
  row->as.set = OS_ARENA_NEW(self->arena, os_json_set);
  OS_TRY_ALLOC(row->as.set);
  return os_json_set_init(row->as.set, self->arena, self->document, row->value);
}

enum { BYTES_A_UNIT = 32 };

// What going through a value takes, in units of work: it has no more nodes than characters.
static uint64_t os_assert__extent(const os_json *value) {
  uint32_t size = value->end - value->start;
  bool container = os_json_is(value, OS_JSON_ARRAY) || os_json_is(value, OS_JSON_OBJECT);
  return 1 + size / (container ? 2 : BYTES_A_UNIT);
}

// A value against one that the schema lists.
static bool os_assert__same(os_eval *self, const os_schema_row *row, const os_json *listed,
                            const os_json *value) {
  uint32_t sizes[] = {listed->end - listed->start, value->end - value->start};
  if (os_json_is(value, OS_JSON_STRING) && os_json_is(listed, OS_JSON_STRING) &&
      (listed->length != value->length || sizes[1] < BYTES_A_UNIT))
    return os_str_eq(os_json_string(listed), os_json_string(value));
  uint64_t work = os_assert__extent(value), other = os_assert__extent(listed);
  if (listed->item.type == value->item.type) os_eval_work(self, work < other ? work : other);
  return self->status == OS_OK && os_json_equal(row->document, listed, self->document, value);
}

static bool os_assert__enum(os_eval *self, const os_schema_row *row, const os_json *value) {
  if (row->as.set != NULL) {
    os_eval_work(self, 2 * os_assert__extent(value));
    return self->status == OS_OK &&
           os_json_set_has(row->as.set, self->arena, self->document, value, &self->status);
  }
  OS_JSON_EACH(child, row->value)
  if (os_assert__same(self, row, child, value)) return true;
  return false;
}

static bool os_assert__const(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_assert__same(self, row, row->value, value);
}

// The listed string nearest to a string, or NULL when none is near.
static const os_json *os_assert__nearest(const os_json *list, const os_json *value) {
  const os_json *best = NULL;
  unsigned least = (unsigned)(value->length < 6 ? 2 : 3) + 1;
  size_t cells = OS_SCHEMA_CELLS;
  if (!os_json_is(value, OS_JSON_STRING) || list->length > OS_SCHEMA_COMPARED) return NULL;
  OS_JSON_EACH(child, list) {
    if (!os_json_is(child, OS_JSON_STRING)) continue;
    unsigned distance = os_schema_distance(os_json_string(child), os_json_string(value), least, &cells);
    if (distance == least) continue;
    least = distance;
    best = child;
  }
  return best;
}

static void os_assert__replace(os_eval *self, os_report *report, os_finding *finding, const os_json *value,
                               const os_json_document *document, const os_json *with) {
  os_str text = os_arena_copy(self->arena, os_json_source(document, with));
  os_fix *fix = os_finding_fix(report, finding, false, "Write %.*s", OS_ARG(text));
  os_fix_edit(report, fix, self->document->file, (os_range){value->start, value->end}, text);
}

static void os_assert__explain_enum(os_eval *self, os_frame *frame, const os_schema_row *row,
                                    const os_json *value) {
  const os_json *nearest = os_assert__nearest(row->value, value);
  os_finding *finding =
      os_eval_mismatch(self, frame->report, row, value,
                       os_assert__choices(row->document, self->arena, row->value, nearest), (os_str){0});
  if (nearest != NULL) os_assert__replace(self, frame->report, finding, value, row->document, nearest);
}

static void os_assert__explain_const(os_eval *self, os_frame *frame, const os_schema_row *row,
                                     const os_json *value) {
  os_finding *finding = os_eval_mismatch(
      self, frame->report, row, value, os_json_excerpt(row->document, self->arena, row->value), (os_str){0});
  os_assert__replace(self, frame->report, finding, value, row->document, row->value);
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
  os_decimal number = os_assert__number(self, value);
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
  os_decimal number = os_assert__number(self, value);
  bool answer = false;
  // Digit by digit, each by a division or, of large divisors, by some subtractions.
  os_eval_work(self,
               number.count / 4 +
                   (row->as.number.count > 18 ? 8 * number.count * (1 + row->as.number.count / 64) : 0));
  if (self->status != OS_OK) return false;
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
  os_str bound = os_json_excerpt(row->document, self->arena, row->value);
  os_eval_mismatch(self, frame->report, row, value,
                   os_arena_format(self->arena, "%s %.*s", how, OS_ARG(bound)), (os_str){0});
}

// ---- Counts -----------------------------------------------------------------------------------------------

bool os_compile_count(const os_compile *self, const os_json *json, uint32_t *out) {
  uint64_t count;
  if (!os_json_is(json, OS_JSON_NUMBER)) return false;
  os_decimal number = os_decimal_of(os_json_source(self->document, json));
  bool fits = os_decimal_uint64(&number, &count) && count < UINT32_MAX;
  *out = fits ? (uint32_t)count : UINT32_MAX;
  return number.count == 0 || (!number.negative && os_decimal_is_integer(&number));
}

static os_status os_assert__compile_count(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  if (!os_compile_count(self, row->value, &row->as.count))
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"%s\" is an integer of at least 0.",
                     row->keyword->name);
  return OS_OK;
}

static size_t os_assert__size(os_eval *self, const os_json *value) {
  if (!os_json_is(value, OS_JSON_STRING)) return value->length;
  os_eval_work(self, value->length / BYTES_A_UNIT);
  return os_utf8_count(os_json_string(value));
}

static bool os_assert__least(os_eval *self, const os_schema_row *row, const os_json *value) {
  // A character has at most four bytes.
  if (os_json_is(value, OS_JSON_STRING) && value->length / 4 >= row->as.count && value->length > 0)
    return true;
  return os_assert__size(self, value) >= row->as.count;
}

static bool os_assert__most(os_eval *self, const os_schema_row *row, const os_json *value) {
  return value->length <= row->as.count || os_assert__size(self, value) <= row->as.count;
}

static void os_assert__explain_count(os_eval *self, os_frame *frame, const os_schema_row *row,
                                     const os_json *value) {
  bool most = row->keyword->check == os_assert__most;
  const char *what = os_json_is(value, OS_JSON_STRING)  ? "character"
                     : os_json_is(value, OS_JSON_ARRAY) ? "element"
                                                        : "member";
  size_t size = os_assert__size(self, value);
  os_str expected = os_arena_format(self->arena, "%s %u %s%s", most ? "at most" : "at least", row->as.count,
                                    what, row->as.count == 1 ? "" : "s");
  os_eval_mismatch(self, frame->report, row, value, expected, os_arena_format(self->arena, "%zu", size));
}

// ---- pattern, uniqueItems, required -----------------------------------------------------------------------

static os_status os_assert__compile_pattern(os_compile *self, const os_schema_node *node,
                                            os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_STRING)) {
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"pattern\" is a string.");
    return OS_OK;
  }
  return os_compile_pattern(self, row->value, os_json_string(row->value), &row->as.pattern.pattern);
}

static bool os_assert__pattern(os_eval *self, const os_schema_row *row, const os_json *value) {
  return os_eval_pattern(self, row->as.pattern.pattern, os_json_string(value));
}

enum { TEXT = 1000 }; // of a schema's texts no more is told

static void os_assert__explain_pattern(os_eval *self, os_frame *frame, const os_schema_row *row,
                                       const os_json *value) {
  os_str pattern = os_utf8_head(os_json_string(row->value), TEXT),
         found = os_json_quote_head(self->arena, os_json_string(value));
  // Two schemas use one description: what the pattern wants, in words.
  const os_json *said = os_json_member(frame->node->json, "description");
  os_str words = os_utf8_head(os_json_string(said), TEXT);
  os_finding *finding = os_eval_finding(
      self, frame->report, &os_rule_schema_pattern, value, "%.*s does not match the pattern %.*s.%s%.*s",
      OS_ARG(found), OS_ARG(pattern), said == NULL ? "" : " It has to be: ", OS_ARG(words));
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
  os_eval_work(self, value->length < 2 ? 0 : 4 * os_assert__extent(value));
  return self->status == OS_OK &&
         os_json_repeated(self->arena, self->document, value, &earlier, &self->status) == NULL;
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
  const os_json *before = (const os_json *)late->item.prev; // it is not the first
  os_fix *fix = os_finding_fix(frame->report, finding, false, "Remove the second");
  os_fix_edit(frame->report, fix, self->document->file, (os_range){before->end, late->end}, OS_STR(""));
}

static os_status os_assert__compile_required(os_compile *self, const os_schema_node *node,
                                             os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_ARRAY))
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"required\" is a list of names.");
  return OS_OK;
}

static bool os_assert__required(os_eval *self, const os_schema_row *row, const os_json *value) {
  if (value->length < row->value->length) return false;
  os_eval_work(self, row->value->length / 2);
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
    if (self->status != OS_OK) return;
    if (os_eval_counts_only(self, frame->report)) {
      os_eval_finding(self, frame->report, &os_rule_schema_required, value, "%s", "");
      continue;
    }
    os_str quoted = os_json_quote_head(self->arena, os_json_string(name));
    os_finding *finding = os_eval_finding(self, frame->report, &os_rule_schema_required, value,
                                          "The member %.*s is missing here; add it.", OS_ARG(quoted));
    finding->expected = quoted;
  }
}

// ---- format -----------------------------------------------------------------------------------------------

static os_status os_assert__compile_format(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  const os_string_format *format = os_string_format_find(os_json_string(row->value));
  row->as.format.format = format;
  if (format == NULL) {
    row->keyword = NULL;
    return OS_OK;
  }
  OS_TRY(os_compile_pattern(self, row->value, os_str_of(format->pattern), &row->as.format.pattern));
  if (format->more != OS_FORMAT_HOST && format->more != OS_FORMAT_MAIL) return OS_OK;
  return os_compile_pattern(self, row->value, os_str_of(os_string_format_host), &row->as.format.host);
}

static bool os_assert__format(os_eval *self, const os_schema_row *row, const os_json *value) {
  os_str text = os_json_string(value);
  uint64_t work;
  if (row->as.format.format->more == OS_FORMAT_REGEX) os_eval_work(self, os_pattern_work(text));
  if (self->status != OS_OK || !os_eval_pattern(self, row->as.format.pattern, text)) return false;
  bool answer =
      os_string_format_check(row->as.format.format, text, row->as.format.host, self->arena->memory, &work);
  os_eval_work(self, work);
  return answer;
}

static void os_assert__explain_format(os_eval *self, os_frame *frame, const os_schema_row *row,
                                      const os_json *value) {
  const os_string_format *format = row->as.format.format;
  os_eval_mismatch(self, frame->report, row, value,
                   os_arena_format(self->arena, "%s, such as \"%s\",", format->name, format->example),
                   (os_str){0});
}

// ---- x-runlocal-set ---------------------------------------------------------------------------------------

// Where two elements stand in the order of their canonical JSON: below 0 as they should, 0 equal.
static int os_assert__set_order(os_eval *self, const os_json *a, const os_json *b) {
  os_text text[2];
  const os_json *nodes[] = {a, b};
  os_eval_work(self, os_assert__extent(a) + os_assert__extent(b));
  for (int i = 0; i < 2; i++) {
    os_text_init(&text[i], self->arena->memory);
    os_status status = os_json_write_canonical(&text[i], self->arena, self->document, nodes[i]);
    if (status != OS_OK) self->status = status;
  }
  int order = os_str_cmp(os_text_str(&text[0]), os_text_str(&text[1]));
  os_text_clear(&text[0]);
  os_text_clear(&text[1]);
  return order;
}

// The first element that does not come behind the one before it; NULL when it is a set in order.
static const os_json *os_assert__misplaced(os_eval *self, const os_json *value) {
  const os_json *before = NULL;
  OS_JSON_EACH(child, value) {
    if (before != NULL && os_assert__set_order(self, before, child) >= 0) return child;
    if (self->status != OS_OK) return NULL;
    before = child;
  }
  return NULL;
}

static bool os_assert__set(os_eval *self, const os_schema_row *row, const os_json *value) {
  (void)row;
  return os_assert__misplaced(self, value) == NULL;
}

static void os_assert__explain_set(os_eval *self, os_frame *frame, const os_schema_row *row,
                                   const os_json *value) {
  (void)row;
  const os_json *late = os_assert__misplaced(self, value);
  if (late == NULL) return;
  os_str found = os_json_excerpt(self->document, self->arena, late);
  os_finding *finding = os_eval_finding(self, frame->report, &os_rule_schema_set, value,
                                        "This list is a set: element %u (%.*s) has to come behind the one "
                                        "before it, in the order of the bytes of "
                                        "their canonical JSON, and stand once.",
                                        late->order, OS_ARG(found));
  finding->actual = found;
}

// ---- The table --------------------------------------------------------------------------------------------

#define ASSERTION(text, speaks_of, rule_of, compile_as, ask, tell) \
  {.name = text,                                                   \
   .types = speaks_of,                                             \
   .rule = &os_rule_schema_##rule_of,                              \
   .compile = os_assert__##compile_as,                             \
   .check = os_assert__##ask,                                      \
   .explain = os_assert__explain_##tell,                           \
   .vocabulary = OS_VOCABULARY_VALIDATION}
#define NUMBERS cJSON_Number
#define STRINGS cJSON_String
#define ARRAYS cJSON_Array
#define OBJECTS cJSON_Object

static const os_schema_keyword assertions[] = {
    ASSERTION("type", 0, type, compile_type, type, type),
    ASSERTION("const", 0, const, compile_values, const, const),
    ASSERTION("enum", 0, enum, compile_values, enum, enum),
    ASSERTION("minimum", NUMBERS, minimum, compile_number, minimum, number),
    ASSERTION("maximum", NUMBERS, maximum, compile_number, maximum, number),
    ASSERTION("exclusiveMinimum", NUMBERS, exclusive_minimum, compile_number, exclusive_minimum, number),
    ASSERTION("exclusiveMaximum", NUMBERS, exclusive_maximum, compile_number, exclusive_maximum, number),
    ASSERTION("multipleOf", NUMBERS, multiple_of, compile_number, multiple_of, number),
    ASSERTION("minLength", STRINGS, min_length, compile_count, least, count),
    ASSERTION("maxLength", STRINGS, max_length, compile_count, most, count),
    ASSERTION("pattern", STRINGS, pattern, compile_pattern, pattern, pattern),
    ASSERTION("minItems", ARRAYS, min_items, compile_count, least, count),
    ASSERTION("maxItems", ARRAYS, max_items, compile_count, most, count),
    ASSERTION("uniqueItems", ARRAYS, unique_items, compile_unique, unique, unique),
    {.name = "required",
     .types = OBJECTS,
     .rule = &os_rule_schema_required,
     .compile = os_assert__compile_required,
     .check = os_assert__required,
     .explain = os_assert__explain_required,
     .vocabulary = OS_VOCABULARY_VALIDATION,
     .several = true},
    ASSERTION("minProperties", OBJECTS, min_properties, compile_count, least, count),
    ASSERTION("maxProperties", OBJECTS, max_properties, compile_count, most, count),
    {.name = "format",
     .types = STRINGS,
     .rule = &os_rule_schema_format,
     .compile = os_assert__compile_format,
     .check = os_assert__format,
     .explain = os_assert__explain_format,
     .vocabulary = OS_VOCABULARY_FORMAT,
     .annotates = OS_ANNOTATES_VALUE},
    {.name = "x-runlocal-set",
     .types = ARRAYS,
     .rule = &os_rule_schema_set,
     .compile = os_assert__compile_unique,
     .check = os_assert__set,
     .explain = os_assert__explain_set,
     .vocabulary = OS_VOCABULARY_OWN,
     .annotates = OS_ANNOTATES_VALUE},
};

const os_schema_table os_schema_assertions = {assertions, sizeof assertions / sizeof *assertions};
