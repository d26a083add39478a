// Attributes: names, defaults, allowed values; and sets, which attributes have most of.
#include "json_equal.h"
#include "json_write.h"
#include "spec_check.h"
#include "text_class.h"

static os_str os_attribute__quoted(os_checking *self, const os_spec_attribute *attribute) {
  return os_json_quote_head(self->arena, attribute->name);
}

// ---- Values against the kind ------------------------------------------------------------------------------

static void os_attribute__value(os_checking *self, const os_spec_attribute *attribute, const os_json *value,
                                const os_rule *rule) {
  os_value_trouble trouble = os_spec_value_trouble(self, value, attribute->kind);
  if (trouble.fault == OS_VALUE_OK) {
    if (self->status == OS_OK) self->status = os_spec_value_form(self, value, attribute->kind, rule);
    return;
  }
  os_str found = os_json_excerpt(&self->spec->document, self->arena, trouble.node);
  const char *kind = op_attr_kind_name(attribute->kind);
  os_finding *finding = NULL;
  switch (trouble.fault) {
  case OS_VALUE_INT_RANGE:
    finding = os_checking_add(self, &os_rule_spec_attribute_int_range, trouble.node,
                              "%.*s does not fit int64, in which attributes of kind %s are stored.",
                              OS_ARG(found), kind);
    trouble.expected = "-9223372036854775808 to 9223372036854775807";
    break;
  case OS_VALUE_INFINITE:
    finding = os_checking_add(self, &os_rule_spec_attribute_float_range, trouble.node,
                              "%.*s is infinite in binary32, in which attributes of kind %s are stored.",
                              OS_ARG(found), kind);
    trouble.expected = "at most 3.4028235e38 in size";
    break;
  case OS_VALUE_ZERO:
    finding = os_checking_add_as(self, &os_rule_spec_attribute_float_range, OS_WARNING, trouble.node,
                                 "%.*s becomes 0 in binary32, in which attributes of kind %s are stored.",
                                 OS_ARG(found), kind);
    trouble.expected = "0, or at least 1.4e-45 in size";
    break;
  default:
    finding = os_checking_add(
        self, rule, trouble.node, "The attribute %.*s is of kind %s: expected %s here, found %.*s.",
        OS_ARG(os_attribute__quoted(self, attribute)), kind, trouble.expected, OS_ARG(found));
    os_checking_relate(self, finding, attribute->kind_node, "the kind");
    os_spec_value_mend(self, finding, trouble.node, attribute->kind);
  }
  finding->expected = os_str_of(trouble.expected);
  finding->actual = found;
}

static bool os_attribute__is_allowed(os_checking *self, const os_spec_attribute *attribute) {
  OS_JSON_EACH(value, attribute->allowed)
  if (os_spec_same_value(self, &self->spec->document, attribute->fallback, value, attribute->kind))
    return true;
  return false;
}

static void os_attribute__default(os_checking *self, const os_spec_attribute *attribute) {
  const os_json *fallback = attribute->default_node;
  if (attribute->fallback == NULL) {
    bool optional = os_json_is(attribute->required_node, OS_JSON_FALSE);
    if (optional && os_json_is(fallback, OS_JSON_NULL))
      os_checking_add(self, &os_rule_spec_attribute_optional_without_default, fallback,
                      "%.*s may be left out and has no default: the description should say what that means.",
                      OS_ARG(os_attribute__quoted(self, attribute)));
    return;
  }
  if (attribute->required) {
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_attribute_required_with_default, fallback,
                        "%.*s is required, so its default can never apply; drop one of the two.",
                        OS_ARG(os_attribute__quoted(self, attribute)));
    os_checking_relate(self, finding, attribute->required_node, "it is required");
    os_checking_fix_json(self, finding, false, fallback, "Remove the default", OS_STR("null"));
  }
  if (attribute->kind == OP_ATTR_NONE) return;
  os_attribute__value(self, attribute, fallback, &os_rule_spec_attribute_default_type);
  if (attribute->allowed == NULL || attribute->allowed->length == 0) return;
  os_value_fault fault = os_spec_value_trouble(self, fallback, attribute->kind).fault;
  if ((fault != OS_VALUE_OK && fault != OS_VALUE_ZERO) || os_attribute__is_allowed(self, attribute)) return;
  os_str found = os_json_excerpt(&self->spec->document, self->arena, fallback);
  os_finding *finding = os_checking_add(self, &os_rule_spec_attribute_default_not_allowed, fallback,
                                        "The default %.*s of %.*s is not among its allowed values.",
                                        OS_ARG(found), OS_ARG(os_attribute__quoted(self, attribute)));
  finding->actual = found;
  finding->expected = os_json_excerpt(&self->spec->document, self->arena, attribute->allowed);
  os_checking_relate(self, finding, attribute->allowed, "the allowed values");
}

// ---- Names ------------------------------------------------------------------------------------------------

static void os_attribute__name(os_checking *self, const os_spec_attribute *attribute) {
  if (!os_is_identifier(attribute->name)) {
    os_str name = os_json_quote_head(self->arena, attribute->name),
           better = os_as_identifier(self, attribute->name);
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_attribute_name_form, attribute->node,
                        "The attribute name %.*s is no identifier; ONNX asks for one.", OS_ARG(name));
    finding->actual = name;
    finding->expected = OS_STR("a C identifier");
    if (os_checking_roles(self, better) == 0)
      os_checking_fix_key(self, finding, false, attribute->node, better);
  }
  unsigned roles = os_checking_parameter_roles(self, attribute->name);
  if (roles == 0) return;
  os_finding *finding = os_checking_add(self, &os_rule_spec_attribute_parameter_clash, attribute->node,
                                        "%s is called %.*s, too; a sentence about it could mean either.",
                                        roles & OS_ROLE_INPUT ? "An input" : "An output",
                                        OS_ARG(os_attribute__quoted(self, attribute)));
  finding->actual = attribute->name;
}

static void os_attribute__allowed(os_checking *self, const os_spec_attribute *attribute) {
  os_check_set(self, attribute->allowed);
  if (attribute->kind == OP_ATTR_NONE) return;
  OS_JSON_EACH(value, attribute->allowed)
  os_attribute__value(self, attribute, value, &os_rule_spec_attribute_value_type);
  if (attribute->required && attribute->allowed->length == 1)
    os_checking_add(self, &os_rule_spec_attribute_single_allowed, attribute->allowed,
                    "%.*s is required and has one allowed value: every node repeats a constant.",
                    OS_ARG(os_attribute__quoted(self, attribute)));
}

// int values and the payloads of tensors and graphs are read exactly.
static void os_attribute__precision(os_checking *self, const os_spec_attribute *attribute) {
  bool binary64 = attribute->kind == OP_ATTR_FLOAT || attribute->kind == OP_ATTR_FLOATS ||
                  attribute->kind == OP_ATTR_STRING || attribute->kind == OP_ATTR_STRINGS;
  if (!binary64) return;
  if (attribute->fallback != NULL) os_check_numbers(self, attribute->fallback);
  if (attribute->allowed != NULL) os_check_numbers(self, attribute->allowed);
}

void os_check_attributes(os_checking *self) {
  for (size_t i = 0; i < self->spec->attribute_count && self->status == OS_OK; i++) {
    const os_spec_attribute *attribute = &self->spec->attributes[i];
    os_attribute__name(self, attribute);
    os_attribute__default(self, attribute);
    if (attribute->allowed != NULL) os_attribute__allowed(self, attribute);
    os_attribute__precision(self, attribute);
    if (attribute->description != NULL) os_check_text(self, attribute->description);
  }
}

// ---- Sets -------------------------------------------------------------------------------------------------

typedef struct os_set_member {
  const os_json *node;
  os_str canonical;
} os_set_member;

static void os_set__sort(os_set_member *items, os_set_member *spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      size_t middle = start + width < count ? start + width : count;
      size_t end = start + 2 * width < count ? start + 2 * width : count;
      for (size_t to = start, a = start, b = middle; to < end; to++)
        spare[to] = a < middle && (b >= end || os_str_cmp(items[a].canonical, items[b].canonical) <= 0)
                        ? items[a++]
                        : items[b++];
    }
    memcpy(items, spare, count * sizeof *items);
  }
}

// Members change places; what stands between them stays.
static void os_set__order(os_checking *self, const os_json *set, const os_set_member *sorted,
                          const os_set_member *wrong) {
  const os_json_document *document = &self->spec->document;
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_set_order, set,
                      "The set is not in order: %.*s has to come before %.*s (members ascend by the bytes "
                      "of their canonical JSON).",
                      OS_ARG(os_json_excerpt(document, self->arena, wrong[1].node)),
                      OS_ARG(os_json_excerpt(document, self->arena, wrong[0].node)));
  finding->actual = os_json_excerpt(document, self->arena, set);
  os_str expected = OS_STR("");
  for (uint32_t i = 0; i < set->length && i < 12; i++)
    expected = os_arena_format(self->arena, "%.*s%s%.*s", OS_ARG(expected), i == 0 ? "" : ", ",
                               OS_ARG(os_json_excerpt(document, self->arena, sorted[i].node)));
  finding->expected =
      os_arena_format(self->arena, "[%.*s%s]", OS_ARG(expected), set->length > 12 ? ", ..." : "");
  os_fix *fix = os_finding_fix(self->report, finding, true, "Sort the set");
  size_t at = 0;
  OS_JSON_EACH(child, set) {
    const os_json *now = sorted[at++].node;
    if (now == child) continue;
    os_fix_edit(self->report, fix, document->file, (os_range){child->start, child->end},
                os_json_source(document, now));
  }
}

static void os_set__repeated(os_checking *self, const os_json *set, const os_set_member *sorted) {
  const os_json_document *document = &self->spec->document;
  for (uint32_t i = 1; i < set->length; i++) {
    const os_json *a = sorted[i - 1].node, *b = sorted[i].node;
    if (!os_str_eq(sorted[i - 1].canonical, sorted[i].canonical)) continue;
    if (os_json_equal(document, a, document, b)) continue; // schema.uniqueItems says so
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_set_unique, set,
                        "%.*s and %.*s are different numbers, but both become %.*s in canonical JSON; each "
                        "form may stand once in a set.",
                        OS_ARG(os_json_excerpt(document, self->arena, a)),
                        OS_ARG(os_json_excerpt(document, self->arena, b)), OS_ARG(sorted[i].canonical));
    finding->actual = os_json_excerpt(document, self->arena, b);
    os_checking_relate(self, finding, b, "the second of the two");
  }
}

// Small numbers without fraction are their own canonical form: nothing to write.
static os_str os_set__plain(const os_json_document *document, const os_json *node) {
  os_str source = os_json_source(document, node);
  bool plain = os_json_is(node, OS_JSON_NUMBER) && (node->flags & OS_JSON_INTEGER) && source.len < 16 &&
               (source.data[0] != '-' || source.data[1] != '0');
  return plain ? source : (os_str){NULL, 0};
}

void os_check_set(os_checking *self, const os_json *set) {
  if (!os_json_is(set, OS_JSON_ARRAY) || set->length < 2 || (set->flags & OS_JSON_CUT)) return;
  if (!os_checking_few(self, set->length, "members of a set")) return;
  os_set_member few[16];
  bool small = set->length <= 8;
  os_set_member *items = small ? few : OS_ARENA_ARRAY(self->arena, set->length * 2, os_set_member);
  os_text text;
  os_text_init(&text, self->arena->memory); // allocates when it is first needed
  size_t count = 0;
  bool ordered = true, repeated = false;
  if (items == NULL) self->status = OS_OUT_OF_MEMORY;
  OS_JSON_EACH(child, set) {
    if (self->status != OS_OK) break;
    os_str canonical = os_set__plain(&self->spec->document, child);
    if (canonical.data == NULL) {
      text.len = 0;
      self->status = os_json_write_canonical(&text, self->arena, &self->spec->document, child);
      canonical = os_arena_copy(self->arena, os_text_str(&text));
    }
    if (count > 0) {
      int order = os_str_cmp(items[count - 1].canonical, canonical);
      ordered &= order <= 0;
      repeated |= order == 0;
    }
    items[count++] = (os_set_member){child, canonical};
  }
  os_text_clear(&text);
  if (self->status != OS_OK || (ordered && !repeated)) return;
  os_set_member wrong[2] = {{0}};
  for (size_t i = 1; i < count && !ordered && wrong[0].node == NULL; i++)
    if (os_str_cmp(items[i - 1].canonical, items[i].canonical) > 0)
      memcpy(wrong, items + i - 1, sizeof wrong);
  os_set__sort(items, items + count, count);
  if (!ordered) os_set__order(self, set, items, wrong);
  os_set__repeated(self, set, items);
}

void os_check_sets(os_checking *self) {
  if (self->spec->reference != NULL)
    os_check_set(self, os_json_member(self->spec->reference, "implementation"));
}
