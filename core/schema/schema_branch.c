// Which alternative of an anyOf or oneOf a value means, so that the findings speak of that one alone: the one that a
// naming member selects, else the only one that takes the value's JSON type, else the one with the fewest findings.
#include "schema_rows.h"

enum {
  MOST_FOLDED = 8,
  LOOK_THROUGH = 8,
  FAR = 4, // no slip of the hand changes so many characters
  MOST_TAGGED = 64,
  MOST_MAPPED = 1000000, // names of a discriminator's mapping, times alternatives
  MOST_NAMED = 24        // values of a tag that a message lists
};

// ---- Compiling --------------------------------------------------------------------------------------------

// The string that `member` must be in an alternative: const, or the only one of an enum. Empty when there is none.
static os_str os_branch__constant(os_schema_node *node, os_str member) {
  node = os_schema_real(node);
  for (int depth = 0; node != NULL && depth < LOOK_THROUGH; depth++) {
    const os_schema_row *properties = os_schema_row_of(node, "properties");
    const os_schema_entry *entry =
        properties == NULL ? NULL
                           : os_schema_find(&properties->as.list.entries, member, os_json_key_hash(member));
    if (entry != NULL) {
      const os_schema_node *value = os_schema_real(entry->node);
      const os_json *constant = value == NULL ? NULL : os_json_member(value->json, "const");
      const os_json *list = value == NULL ? NULL : os_json_member(value->json, "enum");
      if (constant == NULL && list != NULL && list->length == 1) constant = os_json_first(list);
      return os_json_string(constant);
    }
    const os_schema_row *ref = os_schema_row_of(node, "$ref");
    node = ref == NULL ? NULL : os_schema_real(ref->as.one.node);
  }
  return OS_STR("");
}

// A member tells alternatives apart when those that take objects each have a constant for it, and no two the same.
static bool os_branch__tells_apart(const os_schema_entries *entries, os_str member, os_str *values) {
  uint32_t tagged = 0;
  for (uint32_t i = 0; i < entries->count; i++) {
    values[i] = os_branch__constant(entries->items[i].node, member);
    if (values[i].len == 0) {
      if (os_schema_types(entries->items[i].node, LOOK_THROUGH) & cJSON_Object) return false;
      continue;
    }
    tagged++;
    for (uint32_t j = 0; j < i; j++)
      if (os_str_eq(values[i], values[j])) return false;
  }
  return tagged > 0;
}

static void os_branch__discriminator(os_compile *self, const os_schema_entries *entries,
                                     const os_json *discriminator, os_schema_tag *tag, os_str *values) {
  tag->member = os_json_string(os_json_member(discriminator, "propertyName"));
  tag->values = values;
  for (uint32_t i = 0; i < entries->count; i++)
    values[i] = os_branch__constant(entries->items[i].node, tag->member);
  const os_json *mapping = os_json_member(discriminator, "mapping");
  if (mapping != NULL && mapping->length > MOST_MAPPED / entries->count) return;
  OS_JSON_EACH(target, mapping) {
    os_str pointer = os_json_string(target);
    if (pointer.len == 0 || pointer.data[0] != '#') continue;
    const os_json *json = os_json_resolve(self->document->root, os_str_slice(pointer, 1, pointer.len));
    os_compile_work(self, pointer.len + (json == NULL ? 0 : entries->count));
    if (self->failed) return;
    for (uint32_t i = 0; i < entries->count; i++)
      if (json != NULL && os_schema_real(entries->items[i].node)->json == json)
        values[i] = os_json_key(target);
  }
}

os_status os_compile_tag(os_compile *self, const os_schema_node *node, os_schema_row *row) {
  const os_schema_entries *entries = &row->as.list.entries;
  os_str *values = OS_ARENA_ARRAY(self->arena, entries->count, os_str);
  OS_TRY_ALLOC(values);
  const os_json *discriminator = os_json_member(node->json, "discriminator");
  if (os_json_is(os_json_member(discriminator, "propertyName"), OS_JSON_STRING)) {
    os_branch__discriminator(self, entries, discriminator, &row->as.list.tag, values);
    return OS_OK;
  }
  for (uint32_t i = 0; i < entries->count && entries->count <= MOST_TAGGED; i++) {
    os_schema_node *first = os_schema_real(entries->items[i].node);
    const os_schema_row *properties = first == NULL ? NULL : os_schema_row_of(first, "properties");
    for (uint32_t j = 0; properties != NULL && j < properties->as.list.entries.count; j++) {
      os_str member = properties->as.list.entries.items[j].name;
      if (!os_branch__tells_apart(entries, member, values)) continue;
      row->as.list.tag = (os_schema_tag){member, values};
      return OS_OK;
    }
    if (properties != NULL) break;
  }
  return OS_OK;
}

// ---- Explaining -------------------------------------------------------------------------------------------

enum { NONE = UINT32_MAX };

static os_str os_branch__tag_values(os_eval *self, const os_schema_row *row) {
  os_str text = {0};
  const os_schema_tag *tag = &row->as.list.tag;
  uint32_t named = 0;
  for (uint32_t i = 0; i < row->as.list.entries.count && named <= MOST_NAMED; i++) {
    if (tag->values[i].len == 0) continue;
    os_str value = named == MOST_NAMED ? OS_STR("...") : os_json_quote_head(self->arena, tag->values[i]);
    text = os_arena_format(self->arena, "%.*s%s%.*s", OS_ARG(text), named++ == 0 ? "" : ", ", OS_ARG(value));
  }
  return text;
}

// What an edit makes of the wrong tag: the nearest of its values, or its name in place of one that is nearly that.
static void os_branch__fix_tag(os_eval *self, os_frame *frame, const os_schema_row *row, const os_json *found,
                               os_finding *finding) {
  const os_schema_tag *tag = &row->as.list.tag;
  size_t cells = OS_SCHEMA_CELLS;
  size_t half = (found == NULL ? tag->member.len : os_json_string(found).len) / 2;
  unsigned least = half < FAR ? (unsigned)half + 1 : FAR;
  os_str best = {0};
  os_range range = {0};
  if (os_eval_counts_only(self, frame->report)) return;
  for (uint32_t i = 0; found != NULL && i < row->as.list.entries.count && i < OS_SCHEMA_COMPARED; i++) {
    if (tag->values[i].len == 0 || !os_json_is(found, OS_JSON_STRING)) continue;
    unsigned distance = os_schema_distance(tag->values[i], os_json_string(found), least, &cells);
    if (distance == least) continue;
    least = distance;
    best = tag->values[i];
    range = (os_range){found->start, found->end};
  }
  if (found == NULL) OS_JSON_EACH(member, frame->value) {
      unsigned distance = os_schema_distance(tag->member, os_json_key(member), least, &cells);
      if (distance == least) continue;
      least = distance;
      best = tag->member;
      range = (os_range){member->key_start, member->key_end};
    }
  if (best.len == 0) return;
  os_str quoted = os_json_quote(self->arena, best);
  os_fix *fix = os_finding_fix(frame->report, finding, false, "%s %.*s",
                               found == NULL ? "Rename a member to" : "Write", OS_ARG(quoted));
  os_fix_edit(frame->report, fix, self->document->file, range, quoted);
}

// The tag is missing or has a value that names no alternative.
static void os_branch__wrong_tag(os_eval *self, os_frame *frame, const os_schema_row *row,
                                 const os_json *found) {
  os_str member = os_json_quote_head(self->arena, row->as.list.tag.member),
         values = os_branch__tag_values(self, row);
  os_finding *finding;
  if (found == NULL) {
    finding = os_eval_finding(self, frame->report, row->keyword->rule, frame->value,
                              "The member %.*s is missing; it says which form this is: one of %.*s.",
                              OS_ARG(member), OS_ARG(values));
  } else {
    os_str actual = os_json_excerpt(self->document, self->arena, found);
    finding = os_eval_finding(self, frame->report, row->keyword->rule, found,
                              "%.*s says which form this is and has to be one of %.*s, not %.*s.",
                              OS_ARG(member), OS_ARG(values), OS_ARG(actual));
    finding->actual = actual;
  }
  finding->expected = values;
  os_branch__fix_tag(self, frame, row, found, finding);
}

// Answers the alternative that the tag selects. *told: there is nothing more to say.
static uint32_t os_branch__by_tag(os_eval *self, os_frame *frame, const os_schema_row *row, bool *told) {
  const os_schema_tag *tag = &row->as.list.tag;
  if (tag->member.len == 0 || !os_json_is(frame->value, OS_JSON_OBJECT)) return NONE;
  const os_json *found = os_json_get(frame->value, tag->member);
  os_eval_work(self, row->as.list.entries.count / 4);
  for (uint32_t i = 0; i < row->as.list.entries.count; i++)
    if (tag->values[i].len > 0 && os_json_is(found, OS_JSON_STRING) &&
        os_str_eq(tag->values[i], os_json_string(found)))
      return i;
  os_branch__wrong_tag(self, frame, row, found);
  *told = true;
  return NONE;
}

static bool os_branch__takes(const os_schema_row *row, uint32_t index, const os_json *value) {
  return (os_schema_types(row->as.list.entries.items[index].node, LOOK_THROUGH) & value->item.type & 0xff) !=
         0;
}

static void os_branch__no_type(os_eval *self, os_frame *frame, const os_schema_row *row) {
  int types = 0;
  for (uint32_t i = 0; i < row->as.list.entries.count; i++)
    types |= os_schema_types(row->as.list.entries.items[i].node, LOOK_THROUGH);
  os_eval_wrong_type(self, frame->report, row, frame->value, types);
}

// The first alternative from `from` on that takes the value's type.
static uint32_t os_branch__candidate(const os_schema_row *row, const os_json *value, uint32_t from) {
  for (uint32_t i = from; i < row->as.list.entries.count; i++)
    if (os_branch__takes(row, i, value)) return i;
  return NONE;
}

static os_step os_branch__tell(os_eval *self, os_frame *frame, const os_schema_row *row, uint32_t index) {
  frame->all = true; // the last call of this row
  frame->chosen = index;
  frame->count = (uint32_t)frame->report->findings.count;
  return os_eval_call(self, row->as.list.entries.items[index].node, frame->value, frame->report);
}

// Where the alternative that is tried now is kept: one after the other, then all in the last place.
static os_tried *os_branch__place(const os_frame *frame) {
  return &frame->tried[frame->tries <= MOST_FOLDED ? frame->tries : MOST_FOLDED + 1];
}

static os_step os_branch__try(os_eval *self, os_frame *frame, const os_schema_row *row, uint32_t index) {
  frame->step = row->as.list.entries.count + 2 + index;
  if (frame->tried == NULL) frame->tried = OS_ARENA_ARRAY(self->arena, MOST_FOLDED + 2, os_tried);
  if (frame->tried == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return OS_STEP_DONE;
  }
  // What it says first may be folded under the chosen one; the others are only counted.
  os_tried *tried = os_branch__place(frame);
  os_report_init(&tried->report, self->arena, false, 1);
  tried->index = index;
  if (frame->tries > MOST_FOLDED) {
    tried->report.limit = 0;
    tried->report.full = true;
  }
  return os_eval_call(self, row->as.list.entries.items[index].node, frame->value, &tried->report);
}

// Under the first finding of the alternative that was told about: where the others fail.
static void os_branch__fold(os_frame *frame, const os_schema_row *row) {
  os_report *report = frame->report;
  if (frame->tried == NULL || report->findings.count <= frame->count) return;
  os_finding *finding = report->findings.items[frame->count];
  uint32_t count = row->as.list.entries.count, told = 0;
  for (uint32_t i = 0; i < frame->tries && i <= MOST_FOLDED && told < MOST_FOLDED; i++) {
    const os_tried *tried = &frame->tried[i];
    const os_report *other = &tried->report;
    if (tried->index == frame->chosen || other->findings.count == 0) continue;
    told++;
    os_related *related = os_finding_relate(report, finding, "Alternative %u of %u: %.*s", tried->index + 1,
                                            count, OS_ARG(other->findings.items[0]->message));
    related->where = other->findings.items[0]->where;
  }
}

static os_step os_branch__choose(os_eval *self, os_frame *frame, const os_schema_row *row) {
  bool told = false;
  frame->all = false;
  frame->tried = NULL;
  frame->tries = 0;
  frame->chosen = NONE;
  frame->fewest = UINT32_MAX;
  uint32_t index = os_branch__by_tag(self, frame, row, &told);
  if (told) return OS_STEP_DONE;
  if (index != NONE) return os_branch__tell(self, frame, row, index);
  index = os_branch__candidate(row, frame->value, 0);
  if (index == NONE) {
    os_branch__no_type(self, frame, row);
    return OS_STEP_DONE;
  }
  // Comparing alternatives while an outer one is being compared would take exponential time: there the first serves.
  bool only = os_branch__candidate(row, frame->value, index + 1) == NONE;
  if (only || frame->report != self->report || os_eval_counts_only(self, frame->report))
    return os_branch__tell(self, frame, row, index);
  return os_branch__try(self, frame, row, index);
}

os_step os_branch_next(os_eval *self, os_frame *frame, const os_schema_row *row) {
  uint32_t count = row->as.list.entries.count;
  if (frame->step == count + 1) {
    if (frame->all) { // the chosen one has been told about
      frame->all = false;
      os_branch__fold(frame, row);
      return OS_STEP_DONE;
    }
    return os_branch__choose(self, frame, row);
  }
  uint32_t index = frame->step - count - 2;
  uint32_t errors = os_branch__place(frame)->report.counts[OS_ERROR];
  frame->tries++;
  if (errors < frame->fewest) {
    frame->fewest = errors;
    frame->chosen = index;
  }
  uint32_t next = os_branch__candidate(row, frame->value, index + 1);
  if (next != NONE) return os_branch__try(self, frame, row, next);
  frame->step = count + 1;
  return os_branch__tell(self, frame, row, frame->chosen);
}
