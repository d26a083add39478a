// From nodes to the model, as far as the document can be understood.
#include "decimal.h"
#include "format.h"
#include "spec_check.h"
#include "type_expr.h"

#include <stdarg.h>

// ---- Findings ---------------------------------------------------------------------------------------------

static os_str os_checking__format(os_checking *self, const char *format, va_list arguments) {
  if (self->report->full) return OS_STR(""); // the finding is only counted
  os_str text = os_arena_format_list(self->arena, format, arguments);
  if (text.data != NULL) return text;
  self->status = OS_OUT_OF_MEMORY;
  return OS_STR("");
}

static os_finding *os_checking__add(os_checking *self, const os_rule *rule, os_severity severity,
                                    const os_json *node, os_str message) {
  os_finding *finding = os_report_add_as(self->report, rule, severity, "%.*s", OS_ARG(message));
  if (!self->report->full) os_json_where(&self->spec->document, self->arena, node, &finding->where);
  return finding;
}

os_finding *os_checking_add(os_checking *self, const os_rule *rule, const os_json *node, const char *format,
                            ...) {
  va_list arguments;
  va_start(arguments, format);
  os_str message = os_checking__format(self, format, arguments);
  va_end(arguments);
  return os_checking__add(self, rule, rule->severity, node, message);
}

os_finding *os_checking_add_as(os_checking *self, const os_rule *rule, os_severity severity,
                               const os_json *node, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  os_str message = os_checking__format(self, format, arguments);
  va_end(arguments);
  return os_checking__add(self, rule, severity, node, message);
}

void os_checking_relate(os_checking *self, os_finding *finding, const os_json *node, const char *message) {
  if (node == NULL || self->report->full) return;
  os_related *related = os_finding_relate(self->report, finding, "%s", message);
  os_json_where(&self->spec->document, self->arena, node, &related->where);
}

static void os_checking__fix(os_checking *self, os_finding *finding, bool safe, os_str title, os_range range,
                             os_str text) {
  os_fix *fix = os_finding_fix(self->report, finding, safe, "%.*s", OS_ARG(title));
  os_fix_edit(self->report, fix, self->spec->document.file, range, text);
}

void os_checking_fix_string(os_checking *self, os_finding *finding, bool safe, const os_json *node,
                            os_str text) {
  if (self->report->full) return;
  os_str quoted = os_json_quote(self->arena, text);
  os_str title = os_arena_format(self->arena, "Write %.*s", OS_ARG(quoted));
  os_checking__fix(self, finding, safe, title, (os_range){node->start, node->end}, quoted);
}

void os_checking_fix_json(os_checking *self, os_finding *finding, bool safe, const os_json *node,
                          const char *title, os_str json) {
  os_checking__fix(self, finding, safe, os_str_of(title), (os_range){node->start, node->end}, json);
}

void os_checking_fix_key(os_checking *self, os_finding *finding, bool safe, const os_json *node,
                         os_str text) {
  if (self->report->full) return;
  os_str quoted = os_json_quote(self->arena, text);
  os_str title = os_arena_format(self->arena, "Rename it to %.*s", OS_ARG(quoted));
  os_checking__fix(self, finding, safe, title, (os_range){node->key_start, node->key_end}, quoted);
}

void os_checking_fix_remove(os_checking *self, os_finding *finding, bool safe, const os_json *node) {
  if (self->report->full) return;
  const os_json *next = os_json_next(node), *before = NULL;
  if (node != os_json_first(node->parent))
    before = (const os_json *)node->item.prev; // the first one's is the last
  os_range range = {node->key_end > 0 ? node->key_start : node->start, node->end};
  if (before != NULL)
    range.start = before->end;
  else if (next != NULL)
    range.end = next->key_end > 0 ? next->key_start : next->start;
  // Where a key stands twice, the members are not in the order of the text.
  if ((node->parent->flags & OS_JSON_DUPLICATES) == 0)
    os_checking__fix(self, finding, safe, OS_STR("Remove it"), range, OS_STR(""));
}

bool os_checking_few(os_checking *self, size_t count, const char *what) {
  if (count <= OS_CHECKED_MOST) return true;
  os_report_incomplete(self->report, "more than %d %s; those behind were not looked at", (int)OS_CHECKED_MOST,
                       what);
  return false;
}

static void os_checking__nearer(os_checking *self, os_str name, os_str wrong, os_str *best, unsigned *least) {
  if (self->suggestions == 0) return;
  self->suggestions--;
  unsigned distance = os_str_distance(name, wrong, *least);
  if (distance >= *least) return;
  *least = distance;
  *best = name;
}

os_str os_checking_nearest(os_checking *self, os_str wrong, unsigned roles) {
  os_str best = {0};
  unsigned least = (wrong.len < 3 ? 1 : wrong.len < 6 ? 2 : 3) + 1;
  if (self->suggestions == 0 || self->report->full) return best;
  for (size_t i = 0; i < self->names.count; i++)
    if (self->names.entries[i].value.number & roles)
      os_checking__nearer(self, self->names.entries[i].key, wrong, &best, &least);
  if (roles & OS_ROLE_ATTRIBUTE) OS_JSON_EACH(attribute, self->attributes)
  os_checking__nearer(self, os_json_key(attribute), wrong, &best, &least);
  return best;
}

// ---- Small questions --------------------------------------------------------------------------------------

static bool os__letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

bool os_first_word_in(os_str text, const char *const *words) {
  char word[16];
  size_t len = 0, at = 0;
  while (at < text.len && (unsigned char)text.data[at] <= ' ') at++;
  char first = at < text.len ? text.data[at] | 0x20 : 0; // settles most texts
  while (*words != NULL && **words != first) words++;
  if (*words == NULL) return false;
  for (; at < text.len && os__letter(text.data[at]); at++) {
    if (len == sizeof word) return false;
    word[len++] = (char)(text.data[at] | 0x20);
  }
  return os_str_in((os_str){word, len}, words);
}

bool os_is_standard_domain(os_str domain) {
  static const char *const domains[] = {
      "", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training", NULL};
  return os_str_in(domain, domains);
}

// ---- Building ---------------------------------------------------------------------------------------------

static void os_spec__name(os_checking *self, os_str name, os_spec_role role) {
  os_map_entry *entry = os_map_put(&self->names, name, NULL);
  if (entry == NULL) {
    self->status = OS_OUT_OF_MEMORY;
    return;
  }
  self->repeated |= entry->value.number & role;
  entry->value.number |= role;
}

static op_option os_spec__option(os_str cardinality) {
  if (os_str_is(cardinality, "optional")) return OP_OPTIONAL_PARAMETER;
  return os_str_is(cardinality, "variadic") ? OP_VARIADIC : OP_SINGLE;
}

#define MEMBERS(object, names, out) \
  os_json_members(object, names, sizeof(names) / sizeof *(names), (const os_json **)(out))

static os_status os_spec__parameters(os_checking *self, const os_json *list, os_spec_role role,
                                     os_spec_parameter **out, size_t *count) {
  static const os_str names[] = {OS_STR_INIT("name"), OS_STR_INIT("cardinality"),
                                 OS_STR_INIT("type_parameter"), OS_STR_INIT("description")};
  if (!os_json_is(list, OS_JSON_ARRAY)) return OS_OK;
  *out = OS_ARENA_ARRAY(self->arena, list->length + 1, os_spec_parameter);
  OS_TRY_ALLOC(*out);
  OS_JSON_EACH(node, list) {
    const os_json *members[4];
    if (!os_json_is(node, OS_JSON_OBJECT)) continue;
    if (!os_checking_few(self, *count + 1, "inputs or outputs")) break;
    MEMBERS(node, names, members);
    os_spec_parameter *parameter = &(*out)[(*count)++];
    *parameter = (os_spec_parameter){.node = node,
                                     .name_node = members[0],
                                     .cardinality = members[1],
                                     .type_node = members[2],
                                     .description = members[3],
                                     .name = os_json_string(members[0]),
                                     .option = os_spec__option(os_json_string(members[1])),
                                     .type_parameter = -1};
    if (parameter->name.len > 0) os_spec__name(self, parameter->name, role);
    // Type parameters came first, so their places among the names are their indices.
    const os_map_entry *entry = os_map_get(&self->names, os_json_string(parameter->type_node));
    if (entry != NULL && (size_t)(entry - self->names.entries) < self->spec->type_parameter_count)
      parameter->type_parameter = (int32_t)(entry - self->names.entries);
  }
  return OS_OK;
}

static os_status os_spec__types(os_checking *self, os_spec_type_parameter *out) {
  if (out->allowed == NULL) return OS_OK;
  out->types = OS_ARENA_ARRAY(self->arena, out->allowed->length + 1, op_type);
  OS_TRY_ALLOC(out->types);
  OS_JSON_EACH(node, out->allowed) {
    os_type_fault fault;
    if (!os_checking_few(self, ++self->types_read, "allowed types")) break;
    op_type *type = &out->types[out->count++];
    if (os_json_is(node, OS_JSON_STRING))
      OS_TRY(os_type_parse(self->checker->types, self->arena, os_json_string(node), type, &fault));
  }
  return OS_OK;
}

static os_status os_spec__type_parameters(os_checking *self, const os_json *object) {
  static const os_str names[] = {OS_STR_INIT("allowed_types"), OS_STR_INIT("description")};
  os_spec *spec = self->spec;
  if (!os_json_is(object, OS_JSON_OBJECT)) return OS_OK;
  spec->type_parameters = OS_ARENA_ARRAY(self->arena, object->length + 1, os_spec_type_parameter);
  OS_TRY_ALLOC(spec->type_parameters);
  OS_JSON_EACH(node, object) {
    const os_json *members[2];
    if (!os_json_is(node, OS_JSON_OBJECT)) continue;
    MEMBERS(node, names, members);
    os_spec_type_parameter *parameter = &spec->type_parameters[spec->type_parameter_count++];
    parameter->node = node;
    parameter->name = os_json_key(node);
    parameter->allowed = os_json_is(members[0], OS_JSON_ARRAY) ? members[0] : NULL;
    parameter->description = members[1];
    os_spec__name(self, parameter->name, OS_ROLE_TYPE_PARAMETER);
    OS_TRY(os_spec__types(self, parameter));
  }
  return OS_OK;
}

static os_status os_spec__attributes(os_checking *self, const os_json *object) {
  static const os_str names[] = {OS_STR_INIT("kind"), OS_STR_INIT("required"), OS_STR_INIT("default"),
                                 OS_STR_INIT("allowed_values"), OS_STR_INIT("description")};
  os_spec *spec = self->spec;
  if (!os_json_is(object, OS_JSON_OBJECT)) return OS_OK;
  spec->attributes = OS_ARENA_ARRAY(self->arena, object->length + 1, os_spec_attribute);
  OS_TRY_ALLOC(spec->attributes);
  OS_JSON_EACH(node, object) {
    const os_json *members[5];
    if (!os_json_is(node, OS_JSON_OBJECT)) continue;
    MEMBERS(node, names, members);
    os_spec_attribute *attribute = &spec->attributes[spec->attribute_count++];
    *attribute = (os_spec_attribute){
        .node = node,
        .name = os_json_key(node),
        .kind = os_attr_kind_of(os_json_string(members[0])),
        .required = os_json_is(members[1], OS_JSON_TRUE),
        .kind_node = members[0],
        .required_node = members[1],
        .default_node = members[2],
        .description = members[4],
        .fallback = os_json_is(members[2], OS_JSON_NULL) ? NULL : members[2],
        .allowed = os_json_is(members[3], OS_JSON_ARRAY) ? members[3] : NULL,
    };
  }
  self->attributes = object;
  return OS_OK;
}

// An integer `version` is the since version.
static int os_spec__since(os_str version) {
  int since = 0;
  for (size_t i = 0; i < version.len; i++) {
    if (version.data[i] < '0' || version.data[i] > '9' || i >= 9) return 1;
    since = since * 10 + (version.data[i] - '0');
  }
  return since > 0 ? since : 1;
}

os_status os_spec_build(os_checking *self) {
  static const os_str names[OS_SPEC_MEMBERS] = {
      [OS_SPEC_KIND_OF] = OS_STR_INIT("kind"),
      [OS_SPEC_PROTOCOL] = OS_STR_INIT("protocol_version"),
      [OS_SPEC_NAME] = OS_STR_INIT("name"),
      [OS_SPEC_VERSION] = OS_STR_INIT("version"),
      [OS_SPEC_AUTHORITY] = OS_STR_INIT("authority"),
      [OS_SPEC_OPERATOR] = OS_STR_INIT("operator"),
      [OS_SPEC_INPUTS] = OS_STR_INIT("inputs"),
      [OS_SPEC_OUTPUTS] = OS_STR_INIT("outputs"),
      [OS_SPEC_TYPE_PARAMETERS] = OS_STR_INIT("type_parameters"),
      [OS_SPEC_ATTRIBUTES] = OS_STR_INIT("attributes"),
      [OS_SPEC_INPUT_CONDITIONS] = OS_STR_INIT("input_conditions"),
      [OS_SPEC_SHAPE_RULES] = OS_STR_INIT("shape_rules"),
      [OS_SPEC_BOUNDARY] = OS_STR_INIT("boundary_behavior"),
      [OS_SPEC_NUMERICAL] = OS_STR_INIT("numerical_behavior"),
      [OS_SPEC_NONDETERMINISM] = OS_STR_INIT("nondeterminism"),
      [OS_SPEC_EFFECTS] = OS_STR_INIT("state_effects"),
      [OS_SPEC_REFERENCE] = OS_STR_INIT("reference"),
      [OS_SPEC_TESTS] = OS_STR_INIT("tests"),
  };
  static const os_str identity[OS_SPEC_IDENTITY] = {[OS_SPEC_DOMAIN] = OS_STR_INIT("domain"),
                                                    [OS_SPEC_OP_TYPE] = OS_STR_INIT("op_type"),
                                                    [OS_SPEC_OVERLOAD] = OS_STR_INIT("overload")};
  os_spec *spec = self->spec;
  const os_json *const *members = spec->members;
  MEMBERS(spec->document.root, names, spec->members);
  MEMBERS(members[OS_SPEC_OPERATOR], identity, spec->identity);
  spec->name = os_json_string(members[OS_SPEC_NAME]);
  spec->version = os_json_string(members[OS_SPEC_VERSION]);
  spec->since = os_spec__since(spec->version);
  spec->domain = os_json_string(spec->identity[OS_SPEC_DOMAIN]);
  spec->op_type = os_json_string(spec->identity[OS_SPEC_OP_TYPE]);
  spec->overload = os_json_string(spec->identity[OS_SPEC_OVERLOAD]);
  spec->reference_authority =
      os_str_is(os_json_string(members[OS_SPEC_AUTHORITY]), "reference_implementation");
  const os_json *reference = members[OS_SPEC_REFERENCE], *tests = members[OS_SPEC_TESTS];
  spec->reference = os_json_is(reference, OS_JSON_OBJECT) ? reference : NULL;
  spec->tests = os_json_is(tests, OS_JSON_ARRAY) ? tests : NULL;
  os_map_init(&self->names, self->arena);
  self->repeated = 0;
  OS_TRY(os_spec__type_parameters(self, members[OS_SPEC_TYPE_PARAMETERS]));
  OS_TRY(
      os_spec__parameters(self, members[OS_SPEC_INPUTS], OS_ROLE_INPUT, &spec->inputs, &spec->input_count));
  OS_TRY(os_spec__parameters(self, members[OS_SPEC_OUTPUTS], OS_ROLE_OUTPUT, &spec->outputs,
                             &spec->output_count));
  OS_TRY(os_spec__attributes(self, members[OS_SPEC_ATTRIBUTES]));
  return self->status;
}
