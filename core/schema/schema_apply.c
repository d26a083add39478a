// Applicators: keywords that apply schemas to the value or to parts of it.
#include "schema_rows.h"
#include "utf8.h"

// ---- Compiling --------------------------------------------------------------------------------------------

static os_status os_apply__object(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_OBJECT)) {
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"%s\" is an object of schemas.",
                     row->keyword->name);
    return OS_OK;
  }
  return os_compile_entries(self, row->value, row->keyword->name[1] == 'a', &row->as.list.entries);
}

static os_status os_apply__array(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_ARRAY) || row->value->length == 0) {
    os_compile_wrong(self, &os_rule_schema_invalid, row->value, "\"%s\" is a list of at least one schema.",
                     row->keyword->name);
    return OS_OK;
  }
  return os_compile_entries(self, row->value, false, &row->as.list.entries);
}

static os_status os_apply__additional(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  const os_schema_row *named = os_schema_row_of(node, "properties"),
                      *patterns = os_schema_row_of(node, "patternProperties");
  row->as.rest.named = named == NULL ? NULL : &named->as.list.entries;
  row->as.rest.patterns = patterns == NULL ? NULL : &patterns->as.list.entries;
  row->as.rest.named_closed = named != NULL && patterns == NULL && os_json_is(row->value, OS_JSON_FALSE);
  if (row->as.rest.named_closed) ((os_schema_row *)named)->as.list.closed = true;
  return os_compile_child(self, row->value, &row->as.rest.node);
}

static os_status os_apply__compile_items(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  const os_schema_row *prefix = os_schema_row_of(node, "prefixItems");
  row->as.rest.skip = prefix == NULL ? 0 : prefix->as.list.entries.count;
  return os_compile_child(self, row->value, &row->as.rest.node);
}

static os_status os_apply__compile_contains(os_compile *self, const os_schema_node *node,
                                            os_schema_row *row) {
  row->as.contains.least = 1;
  row->as.contains.most = UINT32_MAX;
  os_compile_count(self, os_json_member(node->json, "minContains"), &row->as.contains.least);
  os_compile_count(self, os_json_member(node->json, "maxContains"), &row->as.contains.most);
  return os_compile_child(self, row->value, &row->as.contains.node);
}

static os_status os_apply__compile_if(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  const os_json *then = os_json_member(node->json, "then"), *otherwise = os_json_member(node->json, "else");
  if (then == NULL && otherwise == NULL && !self->keeps) {
    row->keyword = NULL;
    return OS_OK;
  }
  OS_TRY(os_compile_child(self, row->value, &row->as.condition.test));
  if (then != NULL) OS_TRY(os_compile_child(self, then, &row->as.condition.then));
  if (otherwise != NULL) OS_TRY(os_compile_child(self, otherwise, &row->as.condition.otherwise));
  return OS_OK;
}

static os_status os_apply__compile_dependent_required(os_compile *self, const os_schema_node *node,
                                                      os_schema_row *row) {
  (void)node;
  if (!os_json_is(row->value, OS_JSON_OBJECT))
    os_compile_wrong(self, &os_rule_schema_invalid, row->value,
                     "\"dependentRequired\" is an object of lists.");
  return OS_OK;
}

// ---- Objects ----------------------------------------------------------------------------------------------

static os_step os_apply__properties(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step > 0 && !passed) frame->passed = false;
  if (!frame->passed && frame->report == NULL) return OS_STEP_DONE;
  const os_json *child;
  while ((child = os_frame_next_child(frame)) != NULL) {
    const os_schema_entry *entry = os_schema_find(&row->as.list.entries, os_json_key(child), child->order);
    if (entry != NULL) return os_eval_call(self, entry->node, child, frame->report);
    if (row->as.list.closed && frame->report == NULL) {
      frame->passed = false;
      return OS_STEP_DONE;
    }
  }
  return OS_STEP_DONE;
}

static os_step os_apply__pattern_properties(os_eval *self, os_frame *frame, const os_schema_row *row,
                                            bool passed) {
  const os_schema_entries *entries = &row->as.list.entries;
  if (frame->step > 0 && !passed) frame->passed = false;
  if (frame->step == 0) {
    frame->child = os_json_first(frame->value);
    frame->count = 0;
  }
  frame->step = 1;
  for (; frame->child != NULL; frame->child = os_json_next(frame->child), frame->count = 0) {
    while (frame->count < entries->count) {
      const os_schema_entry *entry = &entries->items[frame->count++];
      if (os_eval_pattern(self, entry->pattern, os_json_key(frame->child)))
        return os_eval_call(self, entry->node, frame->child, frame->report);
      if (self->status != OS_OK) return OS_STEP_DONE;
    }
  }
  return OS_STEP_DONE;
}

static bool os_apply__known(os_eval *self, const os_schema_row *row, const os_json *member) {
  if (row->as.rest.named != NULL &&
      os_schema_find(row->as.rest.named, os_json_key(member), member->order) != NULL)
    return true;
  if (row->as.rest.patterns == NULL) return false;
  for (uint32_t i = 0; i < row->as.rest.patterns->count; i++)
    if (os_eval_pattern(self, row->as.rest.patterns->items[i].pattern, os_json_key(member))) return true;
  return false;
}

// The known name nearest to a surplus one that the object does not have yet.
static os_str os_schema__nearest(const os_schema_entries *named, const os_json *member) {
  os_str best = {0}, key = os_json_key(member);
  unsigned least = (unsigned)(key.len < 6 ? 2 : 3) + 1;
  size_t cells = OS_SCHEMA_CELLS;
  for (uint32_t i = 0; named != NULL && i < named->count && i < OS_SCHEMA_COMPARED; i++) {
    unsigned distance = os_schema_distance(named->items[i].name, key, least, &cells);
    if (distance == least || os_json_get(member->parent, named->items[i].name) != NULL) continue;
    least = distance;
    best = named->items[i].name;
  }
  return best;
}

static os_str os_apply__names(os_eval *self, const os_schema_entries *named) {
  os_str text = {0};
  for (uint32_t i = 0; named != NULL && i < named->count && i < 24; i++)
    text = os_arena_format(self->arena, "%.*s%s%.*s", OS_ARG(text), i == 0 ? "" : ", ",
                           OS_ARG(os_utf8_head(named->items[i].name, OS_SCHEMA_LONGEST)));
  return text;
}

void os_eval_surplus(os_eval *self, os_frame *frame, const os_schema_row *row, const os_schema_entries *named,
                     const os_json *child) {
  frame->passed = false;
  os_eval_evaluated(self, frame, child);
  if (frame->report == NULL) return;
  bool member = os_json_is(frame->value, OS_JSON_OBJECT);
  if (os_eval_counts_only(self, frame->report)) {
    os_eval_finding(self, frame->report, row->keyword->rule, child, "%s", ""); // is only counted
    return;
  }
  os_str nearest = {0}, name = member ? os_json_quote_head(self->arena, os_json_key(child))
                                      : os_arena_format(self->arena, "%u", child->order);
  if (member) nearest = os_schema__nearest(named, child);
  os_finding *finding = os_eval_finding(
      self, frame->report, row->keyword->rule, child, "The %s %.*s is not known here; %s%.*s%s.",
      member ? "member" : "element", OS_ARG(name), nearest.len > 0 ? "did you mean \"" : "remove it",
      OS_ARG(nearest), nearest.len > 0 ? "\"" : "");
  finding->actual = name;
  os_str names = os_apply__names(self, named);
  if (names.len > 0) finding->expected = names;
  if (nearest.len == 0) return;
  os_str quoted = os_json_quote(self->arena, nearest);
  os_fix *fix = os_finding_fix(frame->report, finding, false, "Rename it to %.*s", OS_ARG(quoted));
  os_fix_edit(frame->report, fix, self->document->file, (os_range){child->key_start, child->key_end}, quoted);
}

// Makes a value of a member's name that stands where the name stands. `name` was zeroed once.
static void os_apply__set_name(os_json *name, const os_json *member) {
  name->item.type = cJSON_String;
  name->item.valuestring = name->item.string = member->item.string;
  name->parent = member->parent;
  name->start = member->key_start;
  name->end = member->key_end;
  name->length = name->key_length = member->key_length;
  name->order = member->order;
}

// `name`: as above.
static bool os_apply__name_passes(os_eval *self, const os_schema_row *names, os_json *name,
                                  const os_json *member) {
  os_apply__set_name(name, member);
  return os_eval_quick(self, names->as.one.node, name);
}

static os_step os_apply__additional_properties(os_eval *self, os_frame *frame, const os_schema_row *row,
                                               bool passed) {
  if (row->as.rest.named_closed && frame->report == NULL) return OS_STEP_DONE; // properties has looked
  if (frame->step > 0 && !passed) frame->passed = false;
  if (!frame->passed && frame->report == NULL) return OS_STEP_DONE;
  const os_json *child;
  os_json name = {0};
  while ((child = os_frame_next_child(frame)) != NULL) {
    if (row->as.rest.names != NULL && frame->report == NULL &&
        !os_apply__name_passes(self, row->as.rest.names, &name, child)) {
      frame->passed = false;
      return OS_STEP_DONE;
    }
    if (os_apply__known(self, row, child)) continue;
    if (self->status != OS_OK) return OS_STEP_DONE;
    if (!row->as.rest.node->never || self->record != NULL)
      return os_eval_call(self, row->as.rest.node, child, frame->report);
    os_eval_surplus(self, frame, row, row->as.rest.named, child);
    if (frame->report == NULL || self->status != OS_OK) return OS_STEP_DONE;
  }
  return OS_STEP_DONE;
}

static const os_json *os_apply__name(os_eval *self, os_frame *frame, const os_json *member) {
  if (frame->name == NULL) frame->name = OS_ARENA_NEW(self->arena, os_json);
  if (frame->name == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return NULL;
  }
  os_apply__set_name(frame->name, member);
  return frame->name;
}

static os_step os_apply__property_names(os_eval *self, os_frame *frame, const os_schema_row *row,
                                        bool passed) {
  if (row->as.one.on_the_way && frame->report == NULL) return OS_STEP_DONE;
  if (frame->step > 0 && !passed) {
    frame->passed = false;
    if (frame->report == NULL) return OS_STEP_DONE;
    os_str name = os_json_quote_head(self->arena, os_json_key(frame->child));
    os_finding *finding = os_eval_finding(self, frame->report, &os_rule_schema_property_names, frame->name,
                                          "The name %.*s is not allowed here.", OS_ARG(name));
    finding->actual = name;
  }
  const os_json *child = os_frame_next_child(frame);
  if (child == NULL) return OS_STEP_DONE;
  const os_json *name = os_apply__name(self, frame, child);
  return name == NULL ? OS_STEP_DONE : os_eval_call(self, row->as.one.node, name, frame->report);
}

static os_step os_apply__dependent_schemas(os_eval *self, os_frame *frame, const os_schema_row *row,
                                           bool passed) {
  if (frame->step > 0 && !passed) frame->passed = false;
  while (frame->step < row->as.list.entries.count) {
    const os_schema_entry *entry = &row->as.list.entries.items[frame->step++];
    os_eval_work(self, 1);
    if (self->status != OS_OK) return OS_STEP_DONE;
    if (os_json_get(frame->value, entry->name) != NULL)
      return os_eval_call(self, entry->node, frame->value, frame->report);
  }
  return OS_STEP_DONE;
}

static os_step os_apply__dependent_required(os_eval *self, os_frame *frame, const os_schema_row *row,
                                            bool passed) {
  (void)passed;
  OS_JSON_EACH(names, row->value) {
    os_eval_work(self, 1);
    if (self->status != OS_OK) return OS_STEP_DONE;
    if (!os_json_is(names, OS_JSON_ARRAY) || os_json_get(frame->value, os_json_key(names)) == NULL) continue;
    os_eval_work(self, names->length);
    OS_JSON_EACH(name, names) {
      if (os_json_get(frame->value, os_json_string(name)) != NULL) continue;
      frame->passed = false;
      if (frame->report == NULL) return OS_STEP_DONE;
      os_str wanted = os_json_quote_head(self->arena, os_json_string(name)),
             by = os_json_quote_head(self->arena, os_json_key(names));
      os_finding *finding =
          os_eval_finding(self, frame->report, &os_rule_schema_dependent_required, frame->value,
                          "The member %.*s is missing here: %.*s asks for it.", OS_ARG(wanted), OS_ARG(by));
      finding->expected = wanted;
    }
  }
  return OS_STEP_DONE;
}

// ---- Arrays -----------------------------------------------------------------------------------------------

static os_step os_apply__prefix_items(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step > 0 && !passed) frame->passed = false;
  uint32_t index = frame->step;
  frame->child = index == 0 ? os_json_first(frame->value) : os_json_next(frame->child);
  if (frame->child == NULL || index >= row->as.list.entries.count) return OS_STEP_DONE;
  frame->step++;
  return os_eval_call(self, row->as.list.entries.items[index].node, frame->child, frame->report);
}

static os_step os_apply__items(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step > 0 && !passed) frame->passed = false;
  if (!frame->passed && frame->report == NULL) return OS_STEP_DONE;
  const os_json *child = os_frame_next_child(frame);
  while (child != NULL && child->order < row->as.rest.skip) child = os_frame_next_child(frame);
  return child == NULL ? OS_STEP_DONE : os_eval_call(self, row->as.rest.node, child, frame->report);
}

static os_step os_apply__contains(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step == 0)
    frame->count = 0;
  else if (passed)
    frame->count++;
  const os_json *child = os_frame_next_child(frame);
  if (child != NULL) return os_eval_call(self, row->as.contains.node, child, NULL);
  uint32_t least = row->as.contains.least, most = row->as.contains.most;
  if (frame->count >= least && frame->count <= most) return OS_STEP_DONE;
  frame->passed = false;
  if (frame->report == NULL) return OS_STEP_DONE;
  bool few = frame->count < least;
  os_eval_mismatch(self, frame->report, row, frame->value,
                   os_arena_format(self->arena, "%s %u elements that match", few ? "at least" : "at most",
                                   few ? least : most),
                   os_arena_format(self->arena, "%u", frame->count));
  return OS_STEP_DONE;
}

// ---- Combinations -----------------------------------------------------------------------------------------

static os_step os_apply__all_of(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step > 0 && !passed) frame->passed = false;
  if (!frame->passed && frame->report == NULL) return OS_STEP_DONE;
  if (frame->step >= row->as.list.entries.count) return OS_STEP_DONE;
  return os_eval_call(self, row->as.list.entries.items[frame->step++].node, frame->value, frame->report);
}

// anyOf and oneOf. While step <= number of alternatives they are tried quietly; then, in a frame that explains, the
// alternative that the value means is told about.
static os_step os_apply__alternatives(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  const os_schema_entries *entries = &row->as.list.entries;
  bool any = row->keyword->rule == &os_rule_schema_any_of;
  if (frame->step > entries->count) return os_branch_next(self, frame, row);
  if (frame->step == 0)
    frame->count = 0;
  else if (passed)
    frame->count++;
  bool whole = frame->node->tracked || self->record != NULL; // every alternative counts, not only the answer
  bool decided = !whole && (any ? frame->count > 0 : frame->count > 1);
  if (!decided && frame->step < entries->count)
    return os_eval_call(self, entries->items[frame->step++].node, frame->value, NULL);
  if (frame->count == 1 || (any && frame->count > 0)) return OS_STEP_DONE;
  frame->passed = false;
  if (frame->report == NULL) return OS_STEP_DONE;
  if (frame->count > 1) {
    os_eval_finding(self, frame->report, &os_rule_schema_one_of, frame->value,
                    "More than one of the %u alternatives fits here; exactly one has to.", entries->count);
    return OS_STEP_DONE;
  }
  if (self->record != NULL) {
    os_eval_finding(self, frame->report, row->keyword->rule, frame->value,
                    "None of the %u alternatives fits here.", entries->count);
    return OS_STEP_DONE;
  }
  frame->step = entries->count + 1;
  return os_branch_next(self, frame, row);
}

static os_step os_apply__not(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  if (frame->step++ == 0) return os_eval_call(self, row->as.one.node, frame->value, NULL);
  if (!passed) return OS_STEP_DONE;
  frame->passed = false;
  if (frame->report == NULL) return OS_STEP_DONE;
  os_str found = os_json_excerpt(self->document, self->arena, frame->value);
  os_eval_finding(self, frame->report, &os_rule_schema_not, frame->value, "%.*s is ruled out here.",
                  OS_ARG(found));
  return OS_STEP_DONE;
}

static os_step os_apply__if(os_eval *self, os_frame *frame, const os_schema_row *row, bool passed) {
  uint32_t step = frame->step++;
  if (step == 0) return os_eval_call(self, row->as.condition.test, frame->value, NULL);
  os_schema_node *branch = passed ? row->as.condition.then : row->as.condition.otherwise;
  if (step == 1 && branch != NULL) return os_eval_call(self, branch, frame->value, frame->report);
  if (step == 2 && !passed) frame->passed = false;
  return OS_STEP_DONE;
}

// ---- Plain calls ------------------------------------------------------------------------------------------

// The entry of a member, or NULL. `guess`: where the one before was, plus 1: documents mostly keep the schema's order.
static inline const os_schema_entry *os_quick__entry(const os_schema_entries *entries, uint32_t *guess,
                                                     const os_json *member) {
  os_str key = os_json_key(member);
  if (*guess < entries->count) {
    const os_schema_entry *next = &entries->items[*guess];
    if (next->hash == member->order && next->name.len == key.len &&
        os_bytes_eq(next->name.data, key.data, key.len)) {
      ++*guess;
      return next;
    }
  }
  const os_schema_entry *entry = os_schema_find(entries, key, member->order);
  if (entry != NULL) *guess = (uint32_t)(entry - entries->items) + 1;
  return entry;
}

static bool os_quick__properties(os_eval *self, const os_schema_row *row, const os_json *value) {
  uint64_t missing = row->as.list.needed;
  uint32_t guess = 0;
  OS_JSON_EACH(child, value) {
    const os_schema_entry *entry = os_quick__entry(&row->as.list.entries, &guess, child);
    if (entry == NULL ? row->as.list.closed : !os_eval_quick(self, entry->node, child)) return false;
    if (entry != NULL) missing &= ~entry->bit;
  }
  return missing == 0;
}

static bool os_quick__pattern_properties(os_eval *self, const os_schema_row *row, const os_json *value) {
  OS_JSON_EACH(child, value) {
    for (uint32_t i = 0; i < row->as.list.entries.count; i++) {
      const os_schema_entry *entry = &row->as.list.entries.items[i];
      if (os_eval_pattern(self, entry->pattern, os_json_key(child)) &&
          !os_eval_quick(self, entry->node, child))
        return false;
      if (self->status != OS_OK) return false;
    }
  }
  return true;
}

static bool os_quick__additional(os_eval *self, const os_schema_row *row, const os_json *value) {
  os_json name = {0};
  OS_JSON_EACH(child, value) {
    if (row->as.rest.names != NULL && !os_apply__name_passes(self, row->as.rest.names, &name, child))
      return false;
    if (!os_apply__known(self, row, child) && !os_eval_quick(self, row->as.rest.node, child)) return false;
  }
  return true;
}

static bool os_quick__names(os_eval *self, const os_schema_row *row, const os_json *value) {
  os_json name = {0};
  OS_JSON_EACH(child, value) if (!os_apply__name_passes(self, row, &name, child)) return false;
  return true;
}

static bool os_quick__items(os_eval *self, const os_schema_row *row, const os_json *value) {
  OS_JSON_EACH(child, value)
  if (child->order >= row->as.rest.skip && !os_eval_quick(self, row->as.rest.node, child)) return false;
  return true;
}

static bool os_quick__all_of(os_eval *self, const os_schema_row *row, const os_json *value) {
  for (uint32_t i = 0; i < row->as.list.entries.count; i++)
    if (!os_eval_quick(self, row->as.list.entries.items[i].node, value)) return false;
  return true;
}

static bool os_quick__any_of(os_eval *self, const os_schema_row *row, const os_json *value) {
  for (uint32_t i = 0; i < row->as.list.entries.count; i++)
    if (os_eval_quick(self, row->as.list.entries.items[i].node, value)) return true;
  return false;
}

static bool os_quick__one_of(os_eval *self, const os_schema_row *row, const os_json *value) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < row->as.list.entries.count && count < 2; i++)
    count += os_eval_quick(self, row->as.list.entries.items[i].node, value);
  return count == 1;
}

static bool os_quick__not(os_eval *self, const os_schema_row *row, const os_json *value) {
  return !os_eval_quick(self, row->as.one.node, value);
}

static bool os_quick__if(os_eval *self, const os_schema_row *row, const os_json *value) {
  bool test = os_eval_quick(self, row->as.condition.test, value);
  os_schema_node *branch = test ? row->as.condition.then : row->as.condition.otherwise;
  return branch == NULL || os_eval_quick(self, branch, value);
}

// ---- The table: a row may look at the rows above it --------------------------------------------------------

#define APPLICATOR(text, speaks_of, rule_or_null, compile_as, ask, answer, where, ...) \
  {.name = text,                                                                       \
   .types = speaks_of,                                                                 \
   .rule = rule_or_null,                                                               \
   .compile = compile_as,                                                              \
   .next = ask,                                                                        \
   .quick = answer,                                                                    \
   .holds = where,                                                                     \
   __VA_ARGS__}
#define TELLS .annotates = OS_ANNOTATES_CHILDREN
#define IN_PLACE .in_place = true

static const os_schema_keyword applicators[] = {
    APPLICATOR("properties", cJSON_Object, NULL, os_apply__object, os_apply__properties, os_quick__properties,
               OS_HOLDS_LIST, TELLS, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("patternProperties", cJSON_Object, NULL, os_apply__object, os_apply__pattern_properties,
               os_quick__pattern_properties, OS_HOLDS_LIST, TELLS, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("additionalProperties", cJSON_Object, &os_rule_schema_additional_properties,
               os_apply__additional, os_apply__additional_properties, os_quick__additional, OS_HOLDS_REST,
               TELLS, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("propertyNames", cJSON_Object, &os_rule_schema_property_names, os_compile_one,
               os_apply__property_names, os_quick__names, OS_HOLDS_NODE,
               .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("dependentSchemas", cJSON_Object, NULL, os_apply__object, os_apply__dependent_schemas, NULL,
               OS_HOLDS_LIST, IN_PLACE, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("dependentRequired", cJSON_Object, &os_rule_schema_dependent_required,
               os_apply__compile_dependent_required, os_apply__dependent_required, NULL, OS_HOLDS_NONE,
               .vocabulary = OS_VOCABULARY_VALIDATION),
    // Of older drafts: names as in the one, schemas as in the other.
    APPLICATOR("dependencies", cJSON_Object, &os_rule_schema_dependent_required,
               os_apply__compile_dependent_required, os_apply__dependent_required, NULL, OS_HOLDS_NONE,
               .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("dependencies", cJSON_Object, NULL, os_apply__object, os_apply__dependent_schemas, NULL,
               OS_HOLDS_LIST, IN_PLACE, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("prefixItems", cJSON_Array, NULL, os_apply__array, os_apply__prefix_items, NULL, OS_HOLDS_LIST,
               TELLS, .vocabulary = OS_VOCABULARY_APPLICATOR | OS_VOCABULARY_2020),
    APPLICATOR("items", cJSON_Array, NULL, os_apply__compile_items, os_apply__items, os_quick__items,
               OS_HOLDS_REST, TELLS, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("contains", cJSON_Array, &os_rule_schema_contains, os_apply__compile_contains,
               os_apply__contains, NULL, OS_HOLDS_CONTAINS, TELLS, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("allOf", 0, NULL, os_apply__array, os_apply__all_of, os_quick__all_of, OS_HOLDS_LIST, IN_PLACE,
               .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("anyOf", 0, &os_rule_schema_any_of, os_apply__array, os_apply__alternatives, os_quick__any_of,
               OS_HOLDS_LIST, IN_PLACE, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("oneOf", 0, &os_rule_schema_one_of, os_apply__array, os_apply__alternatives, os_quick__one_of,
               OS_HOLDS_LIST, IN_PLACE, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("not", 0, &os_rule_schema_not, os_compile_one, os_apply__not, os_quick__not, OS_HOLDS_NODE,
               IN_PLACE, .vocabulary = OS_VOCABULARY_APPLICATOR),
    APPLICATOR("if", 0, NULL, os_apply__compile_if, os_apply__if, os_quick__if, OS_HOLDS_CONDITION, IN_PLACE,
               .vocabulary = OS_VOCABULARY_APPLICATOR),
};

const os_schema_table os_schema_applicators = {applicators, sizeof applicators / sizeof *applicators};
