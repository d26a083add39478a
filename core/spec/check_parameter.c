// Inputs, outputs, type parameters and type expressions.
#include "spec_check.h"
#include "text_class.h"
#include "type_expr.h"
#include "utf8.h"

static os_str os_parameter__quote(os_checking *self, os_str name) {
  return self->report->full ? name : os_json_quote_head(self->arena, name); // findings are only counted
}

static void os_parameter__duplicates(os_checking *self, const os_spec_parameter *list, size_t count,
                                     const char *what) {
  os_map seen;
  os_map_init(&seen, self->arena);
  for (size_t i = 0; i < count; i++) {
    bool added;
    if (list[i].name.len == 0) continue;
    os_map_entry *entry = os_map_put(&seen, list[i].name, &added);
    if (entry == NULL) {
      self->status = OS_OUT_OF_MEMORY;
      return;
    }
    if (added) {
      entry->value.number = i;
      continue;
    }
    os_str name = os_parameter__quote(self, list[i].name);
    os_finding *finding = os_checking_add(self, &os_rule_spec_parameter_duplicate_name, list[i].name_node,
                                          "Two %s are called %.*s; rename one.", what, OS_ARG(name));
    finding->actual = name;
    os_checking_relate(self, finding, list[entry->value.number].name_node, "the first one");
  }
}

static void os_parameter__order(os_checking *self, const os_spec_parameter *list, size_t count) {
  size_t last_single = 0;
  bool any_single = false;
  for (size_t i = 0; i < count; i++) {
    if (list[i].option != OP_SINGLE) continue;
    last_single = i;
    any_single = true;
  }
  for (size_t i = 0; i < count; i++) {
    const os_json *cardinality = list[i].cardinality;
    if (list[i].option == OP_VARIADIC && i + 1 < count) {
      os_finding *finding = os_checking_add(self, &os_rule_spec_parameter_variadic_not_last, cardinality,
                                            "%.*s is variadic, so it has to be the last one.",
                                            OS_ARG(os_parameter__quote(self, list[i].name)));
      os_checking_relate(self, finding, list[i + 1].node, "this one follows it");
    }
    if (list[i].option == OP_OPTIONAL_PARAMETER && any_single && i < last_single) {
      os_finding *finding =
          os_checking_add(self, &os_rule_spec_parameter_optional_before_single, cardinality,
                          "%.*s is optional but stands before a required one: callers leave it out with an "
                          "empty name.",
                          OS_ARG(os_parameter__quote(self, list[i].name)));
      os_checking_relate(self, finding, list[last_single].node, "the required one");
    }
  }
}

// What the schema takes for a label; of others it has told.
static bool os_parameter__is_label(os_str text) {
  for (size_t i = 0; i < text.len; i++) {
    char c = text.data[i];
    if (!os_is_alpha(c) && (i == 0 || !(os_is_digit(c) || c == '_' || c == '.' || c == '-'))) return false;
  }
  return text.len > 0 && text.len <= 128;
}

static void os_parameter__types(os_checking *self, const os_spec_parameter *list, size_t count) {
  bool defined_at_all = os_json_is(self->spec->members[OS_SPEC_TYPE_PARAMETERS], OS_JSON_OBJECT);
  for (size_t i = 0; i < count; i++) {
    const os_json *node = list[i].type_node;
    if (os_json_is(node, OS_JSON_NULL))
      os_checking_add(self, &os_rule_spec_parameter_untyped, node,
                      "%.*s has no type parameter, so nothing can check its type.",
                      OS_ARG(os_parameter__quote(self, list[i].name)));
    if (!os_json_is(node, OS_JSON_STRING) || list[i].type_parameter >= 0) continue;
    if (!defined_at_all || !os_parameter__is_label(os_json_string(node))) continue;
    if (self->report->full) { // it is only counted
      os_checking_add(self, &os_rule_spec_parameter_type_parameter_unknown, node, "%s", "");
      continue;
    }
    os_str wrong = os_parameter__quote(self, os_json_string(node));
    os_str nearest = os_checking_nearest(self, os_json_string(node), OS_ROLE_TYPE_PARAMETER);
    os_finding *finding = os_checking_add(
        self, &os_rule_spec_parameter_type_parameter_unknown, node,
        "%.*s is no type parameter of this document; define it, or name one that is.", OS_ARG(wrong));
    finding->actual = wrong;
    os_checking_relate(self, finding, self->spec->members[OS_SPEC_TYPE_PARAMETERS], "the type parameters");
    if (nearest.len == 0 && self->spec->type_parameter_count == 1)
      nearest = self->spec->type_parameters[0].name;
    if (nearest.len == 0) continue;
    finding->expected = os_parameter__quote(self, nearest);
    os_checking_fix_string(self, finding, false, node, nearest);
  }
}

static void os_parameter__outputs(os_checking *self) {
  static const char *const nothing[] = {"none", "no", "stateless", "pure", "not", NULL};
  const os_json *outputs = self->spec->members[OS_SPEC_OUTPUTS];
  const os_json *effects = self->spec->members[OS_SPEC_EFFECTS];
  if (!os_json_is(outputs, OS_JSON_ARRAY) || outputs->length > 0) return;
  bool idle = os_first_word_in(os_json_string(effects), nothing);
  os_finding *finding =
      os_checking_add_as(self, &os_rule_spec_output_none, idle ? OS_ERROR : OS_WARNING, outputs,
                         idle ? "There are no outputs, and state_effects says that there are no effects "
                                "either: the operator does nothing."
                              : "There are no outputs; tools remove nodes without outputs.");
  if (idle) os_checking_relate(self, finding, effects, "what it says of effects");
}

void os_check_parameters(os_checking *self) {
  const os_spec *spec = self->spec;
  if (self->repeated & OS_ROLE_INPUT)
    os_parameter__duplicates(self, spec->inputs, spec->input_count, "inputs");
  if (self->repeated & OS_ROLE_OUTPUT)
    os_parameter__duplicates(self, spec->outputs, spec->output_count, "outputs");
  for (size_t i = 0; i < spec->output_count; i++) {
    os_str name = spec->outputs[i].name;
    if (name.len == 0 || (os_checking_parameter_roles(self, name) & OS_ROLE_INPUT) == 0) continue;
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_parameter_input_output_name, spec->outputs[i].name_node,
                        "An input is called %.*s, too; a sentence about it could mean either.",
                        OS_ARG(os_parameter__quote(self, name)));
    for (size_t j = 0; j < spec->input_count; j++) {
      if (!os_str_eq(spec->inputs[j].name, name)) continue;
      os_checking_relate(self, finding, spec->inputs[j].name_node, "the input");
      break;
    }
  }
  os_parameter__order(self, spec->inputs, spec->input_count);
  os_parameter__order(self, spec->outputs, spec->output_count);
  os_parameter__outputs(self);
  os_parameter__types(self, spec->inputs, spec->input_count);
  os_parameter__types(self, spec->outputs, spec->output_count);
}

// ---- Type parameters --------------------------------------------------------------------------------------

// Whether all of a list could be read. Where not, another finding tells.
static bool os_parameter__is_read(const os_spec *spec, os_spec_member which, size_t count) {
  const os_json *list = spec->members[which];
  return os_json_is(list, OS_JSON_ARRAY) && list->length == count;
}

// The same, and that each input says what decides its type.
static bool os_parameter__all_typed(const os_spec *spec) {
  if (!os_parameter__is_read(spec, OS_SPEC_INPUTS, spec->input_count)) return false;
  for (size_t i = 0; i < spec->input_count; i++)
    if (spec->inputs[i].type_parameter < 0) return false;
  return true;
}

void os_check_type_parameters(os_checking *self) {
  const os_spec *spec = self->spec;
  // Per type parameter: bit 0 used by inputs, bit 1 by outputs.
  unsigned char *used = OS_ARENA_ARRAY(self->arena, spec->type_parameter_count + 1, unsigned char);
  if (used == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return;
  }
  for (size_t i = 0; i < spec->input_count; i++)
    if (spec->inputs[i].type_parameter >= 0) used[spec->inputs[i].type_parameter] |= 1;
  for (size_t i = 0; i < spec->output_count; i++)
    if (spec->outputs[i].type_parameter >= 0) used[spec->outputs[i].type_parameter] |= 2;
  bool all_read = os_parameter__is_read(spec, OS_SPEC_INPUTS, spec->input_count) &&
                  os_parameter__is_read(spec, OS_SPEC_OUTPUTS, spec->output_count);
  bool undecided = !os_is_standard_domain(spec->domain) && os_parameter__all_typed(spec);
  for (size_t i = 0; i < spec->type_parameter_count; i++) {
    const os_spec_type_parameter *parameter = &spec->type_parameters[i];
    if (used[i] == 0 && all_read) {
      os_finding *finding = os_checking_add(self, &os_rule_spec_type_parameter_unused, parameter->node,
                                            "No input or output uses %.*s; remove it.",
                                            OS_ARG(os_parameter__quote(self, parameter->name)));
      os_checking_fix_remove(self, finding, false, parameter->node);
    }
    if (used[i] == 2 && parameter->count > 1 && undecided)
      os_checking_add_as(self, &os_rule_spec_type_parameter_undetermined,
                         spec->attribute_count == 0 ? OS_ERROR : OS_WARNING, parameter->node,
                         "Only outputs use %.*s and it allows %zu types: no input decides which one it is%s.",
                         OS_ARG(os_parameter__quote(self, parameter->name)), parameter->count,
                         spec->attribute_count == 0 ? ", and there is no attribute that could" : "");
    bool element = os_elem_by_onnx_name(parameter->name) != OP_NONE;
    unsigned roles = os_checking_parameter_roles(self, parameter->name);
    if (element || roles != 0)
      os_checking_add(self, &os_rule_spec_type_parameter_name_clash, parameter->node,
                      "%.*s is also the name of %s.", OS_ARG(os_parameter__quote(self, parameter->name)),
                      element                 ? "an element type"
                      : roles & OS_ROLE_INPUT ? "an input"
                                              : "an output");
  }
}

// ---- Type expressions -------------------------------------------------------------------------------------

static const os_rule *os_type__rule(os_type_fault_kind kind) {
  switch (kind) {
  case OS_TYPE_FAULT_ELEMENT: return &os_rule_spec_type_element;
  case OS_TYPE_FAULT_MAP_KEY: return &os_rule_spec_type_map_key;
  case OS_TYPE_FAULT_NESTING: return &os_rule_spec_type_nesting;
  default: return &os_rule_spec_type_syntax;
  }
}

// Names of element types elsewhere that can only mean one thing here.
static bool os_type__is_foreign_name(os_str name) {
  static const char *const names[] = {"float32", "float64", "fp16", "fp32",
                                      "fp64",    "half",    "bf16", "boolean"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (os_str_is(name, names[i])) return true;
  return false;
}

static void os_type__wrong(os_checking *self, const os_json *node, const os_type_fault *fault) {
  os_str text = os_json_string(node), quoted = os_parameter__quote(self, text);
  size_t end = fault->offset + fault->len > text.len ? text.len : fault->offset + fault->len;
  os_str at = fault->offset < text.len
                  ? os_str_slice(text, fault->offset, end > fault->offset ? end : fault->offset + 1)
                  : OS_STR("the end");
  size_t after = fault->offset, count = os_utf8_count(os_str_slice(text, 0, fault->offset));
  if (fault->offset < text.len && fault->len <= 1) { // a character of several bytes
    os_utf8_next(text, &after);
    at = os_str_slice(text, fault->offset, after);
  }
  at = os_utf8_head(at, OS_JSON_QUOTED);
  os_finding *finding = os_checking_add(
      self, os_type__rule(fault->kind), node,
      "%.*s is no ONNX type: expected %s at character %zu (%.*s).%s%.*s", OS_ARG(quoted), fault->expected,
      count + 1, OS_ARG(at), fault->suggestion.len > 0 ? " Probably meant: " : "", OS_ARG(fault->suggestion));
  finding->expected = fault->suggestion.len > 0 ? fault->suggestion : os_str_of(fault->expected);
  finding->actual = os_utf8_head(text, OS_JSON_QUOTED);
  bool plain =
      node->end - node->start == text.len + 2; // no escapes: offsets in the string are offsets in the text
  os_related *related = plain ? os_finding_relate(self->report, finding, "the place in the string") : NULL;
  if (related != NULL) {
    related->where.file = self->spec->document.file;
    uint64_t place = node->start + 1 + fault->offset;
    os_where_range(&related->where, place, place + (fault->offset < text.len ? at.len : 1));
  }
  if (fault->suggestion.len > 0)
    os_checking_fix_string(self, finding, os_type__is_foreign_name(at), node, fault->suggestion);
}

static void os_type__spelling(os_checking *self, const os_json *node, op_type type) {
  os_str text = os_json_string(node);
  if (os_type_is_canonical(self->checker->types, self->arena, text, type)) return;
  os_str canonical = os_types_print(self->checker->types, self->arena, type);
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_type_spelling, node, "Write %.*s instead of %.*s.",
                      OS_ARG(os_parameter__quote(self, canonical)), OS_ARG(os_parameter__quote(self, text)));
  finding->expected = canonical;
  finding->actual = os_utf8_head(text, OS_JSON_QUOTED);
  os_checking_fix_string(self, finding, true, node, canonical);
}

static void os_type__duplicate(os_checking *self, const os_spec_type_parameter *parameter,
                               const os_json *node, size_t index) {
  for (size_t i = 0; i < index && index < 256; i++) {
    if (parameter->types[i] != parameter->types[index]) continue;
    os_str text = os_json_string(node);
    os_finding *finding =
        os_checking_add(self, &os_rule_spec_type_duplicate, node, "%.*s is listed twice; remove one.",
                        OS_ARG(os_parameter__quote(self, text)));
    finding->actual = os_utf8_head(text, OS_JSON_QUOTED);
    os_checking_relate(self, finding, os_json_at(parameter->allowed, i), "the first one");
    os_checking_fix_remove(self, finding, true, node);
    return;
  }
}

void os_check_types(os_checking *self) {
  for (size_t i = 0; i < self->spec->type_parameter_count; i++) {
    const os_spec_type_parameter *parameter = &self->spec->type_parameters[i];
    size_t index = 0;
    if (parameter->count == 0) continue;
    OS_JSON_EACH(node, parameter->allowed) {
      if (index == parameter->count) break;
      op_type type = parameter->types[index];
      os_type_fault fault = {0};
      if (type != 0) {
        os_type__spelling(self, node, type);
        os_type__duplicate(self, parameter, node, index);
      } else if (os_json_is(node, OS_JSON_STRING) && node->length > 0) {
        if (self->report->full) // it is only counted
          os_checking_add(self, &os_rule_spec_type_syntax, node, "%s", "");
        else
          self->status =
              os_type_parse(self->checker->types, self->arena, os_json_string(node), &type, &fault);
        if (self->status != OS_OK) return;
        if (fault.kind != OS_TYPE_FAULT_NONE) os_type__wrong(self, node, &fault);
      }
      index++;
    }
  }
}
