// Evidence documents: their form, and what the specification of the operator says of them. Nothing is run.
#include "guess.h"
#include "schema_rules.h"
#include "spec_check.h"

// One evidence document. `shell` stands for it where findings are written; `spec` is the operator's document or NULL.
typedef struct os_evidencing {
  os_checking checking;
  os_spec shell;
  const os_spec *spec;
  os_report *report; // where findings end up; checking.report may be a scratch one
} os_evidencing;

// ---- Form -------------------------------------------------------------------------------------------------

// What the schema of evidence says is a fault of form, whatever the keyword.
static os_status os_evidence__schema(os_evidencing *self) {
  os_checking *checking = &self->checking;
  os_report scratch;
  bool valid;
  os_report_init(&scratch, checking->arena, false, 0);
  const os_schema *schema;
  OS_TRY(os_spec_evidence_schema(checking->checker, &schema));
  os_schema_options options = {.stop = checking->options->stop};
  OS_TRY(
      os_schema_validate(schema, checking->arena, &self->shell.document, NULL, &options, &scratch, &valid));
  for (size_t i = 0; i < scratch.findings.count; i++) {
    const os_finding *from = scratch.findings.items[i];
    if (from->rule == &os_rule_schema_one_of) continue; // told below, in words of evidence
    os_finding *to = os_report_add(checking->report, &os_rule_evidence_form, "%.*s", OS_ARG(from->message));
    to->where = from->where;
    to->expected = from->expected;
    to->actual = from->actual;
    to->fix = from->fix;
  }
  for (size_t i = 0; i < scratch.incomplete.count; i++)
    os_report_incomplete(checking->report, "%.*s", OS_ARG(scratch.incomplete.items[i]));
  return OS_OK;
}

// Answers whether it makes sense to look further.
static bool os_evidence__kind(os_evidencing *self) {
  const os_json *root = self->shell.document.root, *kind = os_json_member(root, "kind");
  if (os_json_is(kind, OS_JSON_STRING) && os_str_is(os_json_string(kind), OS_EVIDENCE_KIND)) {
    const os_json *outputs = os_json_member(root, "outputs"), *error = os_json_member(root, "expect_error");
    if (outputs != NULL && error != NULL) {
      os_finding *both = os_checking_add(
          &self->checking, &os_rule_evidence_form, error,
          "\"expect_error\" stands instead of \"outputs\", and both are here; remove one of them.");
      both->expected = OS_STR("\"outputs\" or \"expect_error\"");
      os_checking_relate(&self->checking, both, outputs, "the outputs");
    }
    if (outputs != NULL || error != NULL) return true;
    os_finding *finding =
        os_checking_add(&self->checking, &os_rule_evidence_form, root,
                        "There is neither \"outputs\" nor \"expect_error\": say what has to come out.");
    finding->expected = OS_STR("\"outputs\" or \"expect_error\"");
    return false;
  }
  os_finding *finding =
      os_checking_add(&self->checking, &os_rule_evidence_form, kind == NULL ? root : kind,
                      "This is no evidence document: its kind has to be \"" OS_EVIDENCE_KIND "\".");
  finding->expected = OS_STR("\"" OS_EVIDENCE_KIND "\"");
  return false;
}

static void os_evidence__operator(os_evidencing *self) {
  static const char *const members[] = {"domain", "op_type", "overload"};
  const os_json *identity = os_json_member(self->shell.document.root, "operator");
  if (identity == NULL || self->spec == NULL) return;
  const os_str own[] = {self->spec->domain, self->spec->op_type, self->spec->overload};
  for (size_t i = 0; i < 3; i++) {
    const os_json *member = os_json_member(identity, members[i]);
    if (!os_json_is(member, OS_JSON_STRING) || os_str_eq(os_json_string(member), own[i])) continue;
    os_finding *finding =
        os_checking_add(&self->checking, &os_rule_evidence_form, member,
                        "This evidence is for another operator; the specification's %s is %.*s.", members[i],
                        OS_ARG(os_json_quote_head(self->checking.arena, own[i])));
    finding->expected = own[i];
    finding->actual = os_json_string(member);
  }
}

// One tolerance: a distance in representable values stands instead of the two other parts, not beside them.
static void os_evidence__measure(os_evidencing *self, const os_json *tolerance) {
  const os_json *ulp = os_json_member(tolerance, "ulp"), *other = os_json_member(tolerance, "rtol");
  if (other == NULL) other = os_json_member(tolerance, "atol");
  if (ulp == NULL || other == NULL) return;
  os_finding *finding =
      os_checking_add(&self->checking, &os_rule_evidence_form, ulp,
                      "\"ulp\" stands instead of \"rtol\" and \"atol\", and \"%.*s\" is here, too.",
                      OS_ARG(os_json_key(other)));
  finding->expected = OS_STR("\"ulp\", or \"rtol\" and \"atol\"");
  os_checking_relate(&self->checking, finding, other, "the other way to measure");
  os_checking_fix_remove(&self->checking, finding, false, ulp);
}

static void os_evidence__tolerance(os_evidencing *self) {
  const os_json *root = self->shell.document.root, *outputs = os_json_member(root, "outputs");
  const os_json *tolerance = os_json_member(root, "tolerance");
  if (!os_json_is(tolerance, OS_JSON_ARRAY)) {
    os_evidence__measure(self, tolerance);
    return;
  }
  OS_JSON_EACH(one, tolerance) os_evidence__measure(self, one);
  if (!os_json_is(outputs, OS_JSON_ARRAY) || tolerance->length <= outputs->length) return;
  os_finding *finding =
      os_checking_add(&self->checking, &os_rule_evidence_form, os_json_at(tolerance, outputs->length),
                      "There is no output for this tolerance: %u tolerances, %u outputs.", tolerance->length,
                      outputs->length);
  finding->expected = os_arena_format(self->checking.arena, "at most %u", outputs->length);
  finding->actual = os_arena_format(self->checking.arena, "%u", tolerance->length);
}

// ---- Arity and types --------------------------------------------------------------------------------------

typedef struct os_evidence_side {
  const char *key, *what; // "inputs", "input"
  const os_spec_parameter *parameters;
  size_t count;
} os_evidence_side;

// Types that the type parameters have been bound to, and by what.
typedef struct os_binding {
  op_type type;
  const os_json *by;
} os_binding;

static void os_evidence__absent(os_evidencing *self, const os_evidence_side *side, const os_json *list,
                                const os_json *node, size_t index) {
  os_str name = os_json_quote_head(self->checking.arena, side->parameters[index].name);
  os_finding *finding =
      os_checking_add(&self->checking, &os_rule_evidence_arity, node == NULL ? list : node,
                      "The %s %.*s is single, so it needs a value here.", side->what, OS_ARG(name));
  finding->expected = OS_STR("a value");
  os_related *related = os_finding_relate(self->checking.report, finding, "the parameter");
  os_json_where(&self->spec->document, self->checking.arena, side->parameters[index].node, &related->where);
}

static void os_evidence__type(os_evidencing *self, const os_spec_parameter *parameter, const os_json *value,
                              op_type type, os_binding *bindings) {
  if (parameter->type_parameter < 0 || type == 0) return;
  os_checking *checking = &self->checking;
  const os_spec_type_parameter *set = &self->spec->type_parameters[parameter->type_parameter];
  const os_json *node = os_json_member(value, "type");
  os_str found = os_types_print(checking->checker->types, checking->arena, type);
  if (checking->report->full || bindings[parameter->type_parameter].type == type) return;
  bool allowed = set->count == 0; // the document itself is wrong then, and has been told so
  for (size_t i = 0; i < set->count; i++) allowed |= set->types[i] == type || set->types[i] == 0;
  if (!allowed) {
    const os_json *types = os_json_member(set->node, "allowed_types");
    os_finding *finding =
        os_checking_add(checking, &os_rule_evidence_type, node,
                        "%.*s does not take %.*s: its type parameter %.*s does not allow it.",
                        OS_ARG(parameter->name), OS_ARG(found), OS_ARG(set->name));
    finding->actual = found;
    finding->expected = os_json_excerpt(&self->spec->document, checking->arena, types);
    os_related *related = os_finding_relate(checking->report, finding, "the allowed types");
    os_json_where(&self->spec->document, checking->arena, types, &related->where);
    return;
  }
  os_binding *binding = &bindings[parameter->type_parameter];
  if (binding->type == 0) {
    *binding = (os_binding){type, node};
    return;
  }
  os_str bound = os_types_print(checking->checker->types, checking->arena, binding->type);
  os_finding *finding =
      os_checking_add(checking, &os_rule_evidence_type, node,
                      "%.*s is %.*s here, but its type parameter %.*s is already %.*s in this case.",
                      OS_ARG(parameter->name), OS_ARG(found), OS_ARG(set->name), OS_ARG(bound));
  finding->actual = found;
  finding->expected = bound;
  os_checking_relate(checking, finding, binding->by, "what bound it");
}

static void os_evidence__side(os_evidencing *self, const os_evidence_side *side, const os_json *list,
                              os_binding *bindings) {
  size_t index = 0;
  bool variadic = side->count > 0 && side->parameters[side->count - 1].option == OP_VARIADIC;
  OS_JSON_EACH(value, list) {
    size_t formal = index++;
    op_type type = 0;
    if (os_json_is(value, OS_JSON_OBJECT)) os_check_evidence_value(&self->checking, value, &type);
    if (self->spec == NULL) continue;
    if (formal >= side->count && !variadic) {
      if (formal > side->count) continue; // one finding tells of all that follow
      os_finding *finding = os_checking_add(&self->checking, &os_rule_evidence_arity, value,
                                            "The operator has %zu %s%s; there is no place for this one.",
                                            side->count, side->what, side->count == 1 ? "" : "s");
      finding->actual = os_arena_format(self->checking.arena, "%u", list->length);
      finding->expected = os_arena_format(self->checking.arena, "at most %zu", side->count);
      continue;
    }
    if (formal >= side->count) formal = side->count - 1;
    if (os_json_is(value, OS_JSON_OBJECT))
      os_evidence__type(self, &side->parameters[formal], value, type, bindings);
    else if (side->parameters[formal].option == OP_SINGLE)
      os_evidence__absent(self, side, list, value, formal);
  }
  for (; self->spec != NULL && index < side->count; index++)
    if (side->parameters[index].option == OP_SINGLE) os_evidence__absent(self, side, list, NULL, index);
}

// ---- Attributes -------------------------------------------------------------------------------------------

static const os_json *os_evidence__definition(const os_spec *spec, os_str name) {
  return os_json_get(os_json_member(spec->document.root, "attributes"), name);
}

static void os_evidence__attribute(os_evidencing *self, const os_json *value) {
  os_checking *checking = &self->checking;
  os_str name = os_json_key(value), quoted = os_json_quote_head(checking->arena, name);
  const os_json *definition = os_evidence__definition(self->spec, name);
  if (definition == NULL) {
    os_finding *finding = os_checking_add(checking, &os_rule_evidence_attribute, value,
                                          "The operator has no attribute %.*s.", OS_ARG(quoted));
    finding->actual = name;
    os_str nearest = os_checking_nearest(checking, name, OS_ROLE_ATTRIBUTE);
    if (nearest.len > 0) os_checking_fix_key(checking, finding, false, value, nearest);
    return;
  }
  os_str kind_name = os_json_string(os_json_member(definition, "kind"));
  op_attr_kind kind = os_attr_kind_of(kind_name);
  if (kind == OP_ATTR_NONE) return;
  os_value_trouble trouble = os_spec_value_trouble(checking, value, kind);
  os_str found = os_json_excerpt(&self->shell.document, checking->arena, trouble.node);
  if (trouble.fault != OS_VALUE_OK && trouble.fault != OS_VALUE_ZERO) {
    os_finding *finding = os_checking_add(checking, &os_rule_evidence_attribute, trouble.node,
                                          "The attribute %.*s is of kind %.*s: expected %s here, found %.*s.",
                                          OS_ARG(quoted), OS_ARG(kind_name), trouble.expected, OS_ARG(found));
    finding->expected = os_str_of(trouble.expected);
    finding->actual = found;
    os_spec_value_mend(checking, finding, trouble.node, kind);
    return;
  }
  if (checking->status == OS_OK)
    checking->status = os_spec_value_form(checking, value, kind, &os_rule_evidence_attribute);
  const os_json *allowed = os_json_member(definition, "allowed_values");
  if (!os_json_is(allowed, OS_JSON_ARRAY)) return;
  OS_JSON_EACH(one, allowed)
  if (os_spec_same_value(checking, &self->spec->document, one, value, kind)) return;
  os_finding *finding =
      os_checking_add(checking, &os_rule_evidence_attribute, value, "%.*s is not an allowed value of %.*s.",
                      OS_ARG(found), OS_ARG(quoted));
  finding->actual = found;
  finding->expected = os_json_excerpt(&self->spec->document, checking->arena, allowed);
  os_related *related = os_finding_relate(checking->report, finding, "the allowed values");
  os_json_where(&self->spec->document, checking->arena, allowed, &related->where);
}

static void os_evidence__attributes(os_evidencing *self) {
  const os_json *root = self->shell.document.root, *attributes = os_json_member(root, "attributes");
  os_checking *checking = &self->checking;
  os_map_init(&checking->names, checking->arena);
  checking->attributes = os_json_member(self->spec->document.root, "attributes");
  for (size_t i = 0; i < self->spec->attribute_count; i++) {
    const os_spec_attribute *attribute = &self->spec->attributes[i];
    if (!attribute->required || os_json_get(attributes, attribute->name) != NULL) continue;
    os_finding *finding =
        os_checking_add(checking, &os_rule_evidence_attribute, attributes == NULL ? root : attributes,
                        "The attribute %.*s is required and missing here.",
                        OS_ARG(os_json_quote_head(checking->arena, attribute->name)));
    finding->expected = attribute->name;
  }
  OS_JSON_EACH(value, os_json_is(attributes, OS_JSON_OBJECT) ? attributes : NULL)
  os_evidence__attribute(self, value);
}

// ---- All of it --------------------------------------------------------------------------------------------

static os_status os_evidence__signature(os_evidencing *self) {
  const os_spec *spec = self->spec;
  const os_json *root = self->shell.document.root;
  const os_json *inputs = os_json_member(root, "inputs"), *outputs = os_json_member(root, "outputs");
  os_binding *bindings =
      OS_ARENA_ARRAY(self->checking.arena, spec == NULL ? 1 : spec->type_parameter_count + 1, os_binding);
  OS_TRY_ALLOC(bindings);
  os_evidence_side in = {"inputs", "input", NULL, 0}, out = {"outputs", "output", NULL, 0};
  if (spec != NULL) {
    in.parameters = spec->inputs, in.count = spec->input_count;
    out.parameters = spec->outputs, out.count = spec->output_count;
  }
  if (os_json_is(inputs, OS_JSON_ARRAY)) os_evidence__side(self, &in, inputs, bindings);
  if (os_json_is(outputs, OS_JSON_ARRAY)) os_evidence__side(self, &out, outputs, bindings);
  if (spec != NULL) os_evidence__attributes(self);
  return self->checking.status;
}

static bool os_evidence__contains(os_str text, os_str part) {
  for (size_t i = 0; i + part.len <= text.len; i++)
    if (part.len == 0 || memcmp(text.data + i, part.data, part.len) == 0) return true;
  return false;
}

// Evidence that expects an error may break the signature: the finding is then what it expects. It has to be the one it
// names, unless the stage says that checking is where it has to fail.
static bool os_evidence__expected(os_evidencing *self, const os_report *scratch) {
  const os_json *expected = os_json_member(self->shell.document.root, "expect_error");
  if (expected == NULL) return false;
  os_str stage = os_json_string(os_json_member(expected, "stage")), part = os_json_string(expected);
  if (os_json_is(expected, OS_JSON_OBJECT)) part = os_json_string(os_json_member(expected, "contains"));
  if (os_str_is(stage, "check")) return true;
  if (stage.len > 0 || part.len == 0) return false;
  for (size_t i = 0; i < scratch->findings.count; i++)
    if (os_evidence__contains(scratch->findings.items[i]->message, part)) return true;
  return false;
}

static os_status os_evidence__merge(os_evidencing *self, const os_report *scratch) {
  for (size_t i = 0; i < scratch->findings.count; i++) {
    os_finding *from = scratch->findings.items[i];
    os_finding *to =
        os_report_add_as(self->report, from->rule, from->severity, "%.*s", OS_ARG(from->message));
    os_str message = to->message;
    os_severity severity = to->severity;
    *to = *from;
    to->message = message;
    to->severity = severity;
  }
  for (size_t i = 0; i < scratch->incomplete.count; i++)
    os_report_incomplete(self->report, "%.*s", OS_ARG(scratch->incomplete.items[i]));
  return scratch->status;
}

os_status os_evidence_check(const os_spec_checker *checker, os_arena *arena, os_str file, os_str text,
                            const os_spec *spec, const os_spec_options *options, os_report *report,
                            os_json_document *out, bool *broken) {
  static const os_spec_options nothing;
  uint32_t errors = report->counts[OS_ERROR];
  bool unasked;
  if (options == NULL) options = &nothing;
  if (broken == NULL) broken = &unasked;
  *broken = true;
  if (report->kind.len == 0) report->kind = OS_STR("evidence");
  os_evidencing self = {.spec = spec, .report = report};
  os_json_options json = {.depth = options->depth, .duplicate_keys = true};
  OS_TRY(os_json_parse(&self.shell.document, arena, file, text, &json, report));
  if (out != NULL) *out = self.shell.document;
  if (self.shell.document.root == NULL) return OS_OK;
  self.checking = (os_checking){.checker = checker,
                                .options = options,
                                .spec = &self.shell,
                                .arena = arena,
                                .report = report,
                                .suggestions = 10000};
  if (!os_evidence__kind(&self)) return OS_OK;
  OS_TRY(os_evidence__schema(&self));
  os_evidence__tolerance(&self);
  *broken = report->counts[OS_ERROR] > errors;
  os_report scratch;
  os_report_init(&scratch, arena, report->strict, 100);
  self.checking.report = &scratch;
  os_evidence__operator(&self);
  OS_TRY(os_evidence__signature(&self));
  if (os_evidence__expected(&self, &scratch)) return OS_OK;
  return os_evidence__merge(&self, &scratch);
}

// ---- Files that `tests` names -----------------------------------------------------------------------------

static bool os_evidence__ends(os_str name, const char *suffix) {
  size_t len = strlen(suffix);
  return name.len >= len && memcmp(name.data + name.len - len, suffix, len) == 0;
}

static void os_evidence__no_form(os_checking *self, os_str name, const char *why) {
  os_finding *finding = os_report_add(self->report, &os_rule_evidence_form, "This is no evidence: %s.", why);
  finding->where.file = name;
}

os_status os_evidence_check_file(os_checking *self, const os_file *file, bool folder) {
  if (folder) {
    os_str data = os_arena_format(self->arena, "%.*stest_data_set_0/", OS_ARG(file->name));
    if (!os_bundle_has_folder(self->options->bundle, data))
      os_evidence__no_form(self, os_str_slice(file->name, 0, file->name.len - 1),
                           "a folder of tests holds folders test_data_set_0, test_data_set_1, ...");
    return OS_OK;
  }
  bool zip = os_is_zip(file->bytes);
  if (zip || os_evidence__ends(file->name, ".onnx")) return OS_OK; // read where evidence is run
  if (!os_evidence__ends(file->name, ".json") && strcmp(os_json_kind(file->bytes), "unknown") == 0) {
    os_evidence__no_form(self, file->name,
                         "expected an evidence document (JSON), a zip, a folder or a model");
    return OS_OK;
  }
  return os_evidence_check(self->checker, self->arena, file->name, file->bytes, self->spec, self->options,
                           self->report, NULL, NULL);
}
