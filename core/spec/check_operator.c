// Domain, op_type, version, and what the standard says of an operator of that name.
#include "decimal.h"
#include "spec_check.h"
#include "spec_versions.h"
#include "text_class.h"

// ---- Forms ------------------------------------------------------------------------------------------------

typedef struct os_domain_form {
  bool control, other, capital, dot;
} os_domain_form;

static os_domain_form os_operator__domain_form(os_str domain) {
  os_domain_form form = {0};
  for (size_t i = 0; i < domain.len; i++) {
    unsigned char c = (unsigned char)domain.data[i];
    bool capital = c >= 'A' && c <= 'Z';
    bool known =
        capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    form.control |= c < 0x20 || c == 0x7f;
    form.other |= !known;
    form.capital |= capital;
    form.dot |= c == '.';
  }
  return form;
}

static void os_operator__check_domain(os_checking *self) {
  const os_json *node = self->spec->identity[OS_SPEC_DOMAIN];
  os_str domain = self->spec->domain;
  if (node == NULL || os_is_standard_domain(domain)) return;
  os_domain_form form = os_operator__domain_form(domain);
  os_severity severity = form.control ? OS_ERROR : form.other ? OS_WARNING : OS_INFO;
  const char *what = form.control   ? "The domain holds a control character; remove it."
                     : form.other   ? "The domain should only have letters, digits, \".\", \"_\" and \"-\"."
                     : form.capital ? "A domain is usually written with small letters."
                     : !form.dot ? "A domain is usually a reversed host name with a dot, such as com.example."
                                 : NULL;
  if (what == NULL) return;
  os_finding *finding =
      os_checking_add_as(self, &os_rule_spec_operator_domain_form, severity, node, "%s", what);
  finding->actual = os_json_quote_head(self->arena, domain);
  finding->expected = OS_STR("a reversed host name such as com.example");
}

os_str os_as_identifier(os_checking *self, os_str name) {
  char *to = os_arena_alloc(self->arena, name.len + 1);
  if (to == NULL) return name;
  size_t len = 0;
  if (name.len > 0 && name.data[0] >= '0' && name.data[0] <= '9') to[len++] = '_';
  for (size_t i = 0; i < name.len; i++)
    to[len++] = os_is_identifier((os_str){name.data + i, 1}) || (name.data[i] >= '0' && name.data[i] <= '9')
                    ? name.data[i]
                    : '_';
  return (os_str){to, len};
}

static void os_operator__check_name(os_checking *self, const os_json *node, const char *member, os_str name) {
  if (node == NULL || name.len == 0 || os_is_identifier(name)) return;
  os_str quoted = os_json_quote_head(self->arena, name);
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_operator_op_type_form, node,
                      "%s %.*s is no identifier: use letters, digits and underscores, and no digit first.",
                      member, OS_ARG(quoted));
  finding->actual = quoted;
  finding->expected = OS_STR("a C identifier");
  os_checking_fix_string(self, finding, false, node, os_as_identifier(self, name));
}

void os_check_operator(os_checking *self) {
  os_spec *spec = self->spec;
  os_operator__check_domain(self);
  os_operator__check_name(self, spec->identity[OS_SPEC_OP_TYPE], "op_type", spec->op_type);
  os_operator__check_name(self, spec->identity[OS_SPEC_OVERLOAD], "overload", spec->overload);
  const os_json *version = spec->members[OS_SPEC_VERSION];
  if (spec->version.len == 0 || os_version_known(spec->version)) return;
  os_finding *finding =
      os_checking_add(self, &os_rule_spec_version_form, version,
                      "The version %.*s is neither an integer nor SemVer (1.2.0) nor PEP 440 (1.2rc1).",
                      OS_ARG(os_json_quote_head(self->arena, spec->version)));
  finding->actual = spec->version;
  finding->expected = OS_STR("an integer, SemVer or PEP 440");
}

// ---- The standard -----------------------------------------------------------------------------------------

static os_finding *os_standard__differs(os_checking *self, const op_schema *schema, const os_json *node,
                                        os_str what) {
  os_str domain = schema->domain.len == 0 ? OS_STR("ai.onnx") : schema->domain;
  os_finding *finding = os_checking_add(self, &os_rule_spec_operator_standard_mismatch, node,
                                        "This is not the operator %.*s of %.*s, version %d: %.*s.",
                                        OS_ARG(schema->op_type), OS_ARG(domain), schema->since, OS_ARG(what));
  return finding;
}

static const char *os_standard__option(op_option option) {
  return option == OP_SINGLE ? "single" : option == OP_VARIADIC ? "variadic" : "optional";
}

static bool os_standard__has_type(const op_type *types, size_t count, op_type type) {
  for (size_t i = 0; i < count; i++)
    if (types[i] == type) return true;
  return false;
}

static void os_standard__types(os_checking *self, const op_schema *schema, const op_parameter *wanted,
                               const os_spec_parameter *found) {
  if (wanted->constraint < 0 || found->type_parameter < 0) return;
  const op_type_parameter *standard = &schema->type_parameters[wanted->constraint];
  const os_spec_type_parameter *own = &self->spec->type_parameters[found->type_parameter];
  os_str text = {0};
  for (size_t i = 0; i < own->count && text.data == NULL; i++)
    if (own->types[i] != 0 && !os_standard__has_type(standard->types, standard->count, own->types[i]))
      text = os_arena_format(self->arena, "%.*s does not take %.*s", OS_ARG(found->name),
                             OS_ARG(os_types_print(self->checker->types, self->arena, own->types[i])));
  for (size_t i = 0; i < standard->count && text.data == NULL; i++)
    if (!os_standard__has_type(own->types, own->count, standard->types[i]))
      text = os_arena_format(self->arena, "%.*s also takes %.*s", OS_ARG(found->name),
                             OS_ARG(os_types_print(self->checker->types, self->arena, standard->types[i])));
  if (text.data == NULL) return;
  os_finding *finding = os_standard__differs(self, schema, own->allowed, text);
  os_checking_relate(self, finding, found->node, "the parameter that uses this type parameter");
}

static void os_standard__parameters(os_checking *self, const op_schema *schema, const char *key,
                                    const op_parameter *wanted, size_t wanted_count,
                                    const os_spec_parameter *found, size_t count) {
  const os_json *list = self->spec->members[key[0] == 'i' ? OS_SPEC_INPUTS : OS_SPEC_OUTPUTS];
  for (size_t i = 0; i < wanted_count || i < count; i++) {
    if (i >= count) {
      os_standard__differs(self, schema, list,
                           os_arena_format(self->arena, "it also has the %.*s %.*s", (int)strlen(key) - 1,
                                           key, OS_ARG(wanted[i].name)));
      return;
    }
    const os_json *name = found[i].name_node;
    if (i >= wanted_count || !os_str_eq(wanted[i].name, found[i].name)) {
      os_str text = i >= wanted_count
                        ? os_arena_format(self->arena, "it has %zu %s", wanted_count, key)
                        : os_arena_format(self->arena, "%.*s %zu is called %.*s", (int)strlen(key) - 1, key,
                                          i + 1, OS_ARG(wanted[i].name));
      os_finding *finding = os_standard__differs(self, schema, name == NULL ? found[i].node : name, text);
      if (i < wanted_count) finding->expected = wanted[i].name;
      finding->actual = found[i].name;
      return;
    }
    if (wanted[i].option != found[i].option) {
      os_str text = os_arena_format(self->arena, "%.*s is %s", OS_ARG(wanted[i].name),
                                    os_standard__option(wanted[i].option));
      os_finding *finding = os_standard__differs(self, schema, found[i].cardinality, text);
      finding->expected = os_str_of(os_standard__option(wanted[i].option));
      finding->actual = os_str_of(os_standard__option(found[i].option));
    }
    os_standard__types(self, schema, &wanted[i], &found[i]);
  }
}

static bool os_standard__same_default(os_checking *self, const op_attribute *standard, const os_json *value) {
  op_attribute own;
  if (standard->kind == OP_ATTR_TENSOR || standard->kind == OP_ATTR_GRAPH || standard->kind == OP_ATTR_SPARSE)
    return true;
  if (!os_spec_attribute_value(self->arena, self->checker->types, &self->spec->document, value,
                               standard->kind, &own))
    return true; // spec.attribute.default-type has said so
  switch (standard->kind) {
  case OP_ATTR_INT: return own.as.i == standard->as.i;
  case OP_ATTR_FLOAT: return own.as.f == standard->as.f;
  case OP_ATTR_STRING: return os_str_eq(own.as.s, standard->as.s);
  case OP_ATTR_INTS:
    return own.count == standard->count &&
           memcmp(own.as.ints, standard->as.ints, own.count * sizeof(int64_t)) == 0;
  case OP_ATTR_FLOATS:
    return own.count == standard->count &&
           memcmp(own.as.floats, standard->as.floats, own.count * sizeof(float)) == 0;
  case OP_ATTR_STRINGS:
    for (uint32_t i = 0; i < own.count && i < standard->count; i++)
      if (!os_str_eq(own.as.strings[i], standard->as.strings[i])) return false;
    return own.count == standard->count;
  default: return true;
  }
}

static void os_standard__attribute(os_checking *self, const op_schema *schema,
                                   const os_spec_attribute *attribute) {
  const op_attribute_schema *standard = op_schema_attribute(schema, attribute->name);
  os_str name = attribute->name;
  if (standard == NULL) {
    os_standard__differs(self, schema, attribute->node,
                         os_arena_format(self->arena, "it has no attribute %.*s", OS_ARG(name)));
    return;
  }
  const os_json *kind = attribute->kind_node, *fallback = attribute->default_node;
  if (standard->kind != attribute->kind && kind != NULL) {
    os_finding *finding =
        os_standard__differs(self, schema, kind,
                             os_arena_format(self->arena, "its attribute %.*s is of kind %s", OS_ARG(name),
                                             op_attr_kind_name(standard->kind)));
    finding->expected = os_str_of(op_attr_kind_name(standard->kind));
    finding->actual = os_json_string(kind);
    return;
  }
  if (standard->required != attribute->required)
    os_standard__differs(self, schema, attribute->required_node,
                         os_arena_format(self->arena, "its attribute %.*s is %s", OS_ARG(name),
                                         standard->required ? "required" : "optional"));
  if (fallback == NULL ||
      (standard->has_default == (attribute->fallback != NULL) &&
       (attribute->fallback == NULL || os_standard__same_default(self, &standard->fallback, fallback))))
    return;
  os_standard__differs(self, schema, fallback,
                       os_arena_format(self->arena, "its attribute %.*s has %s default", OS_ARG(name),
                                       !standard->has_default        ? "no"
                                       : attribute->fallback == NULL ? "a"
                                                                     : "another"));
}

static void os_standard__attributes(os_checking *self, const op_schema *schema) {
  const os_json *object = self->spec->members[OS_SPEC_ATTRIBUTES];
  if (!os_json_is(object, OS_JSON_OBJECT)) return;
  for (size_t i = 0; i < self->spec->attribute_count; i++)
    os_standard__attribute(self, schema, &self->spec->attributes[i]);
  for (uint32_t i = 0; i < schema->attribute_count; i++) {
    os_str name = schema->attributes[i].name;
    if (os_json_get(object, name) != NULL) continue;
    os_finding *finding = os_standard__differs(
        self, schema, object, os_arena_format(self->arena, "it also has the attribute %.*s", OS_ARG(name)));
    finding->expected = name;
  }
}

// The version of the standard that is meant: an integer `version`, else the newest.
static int os_standard__version(const os_spec *spec) {
  for (size_t i = 0; i < spec->version.len; i++)
    if (spec->version.data[i] < '0' || spec->version.data[i] > '9') return INT32_MAX;
  return spec->version.len == 0 ? INT32_MAX : spec->since;
}

void os_check_standard(os_checking *self) {
  const os_spec *spec = self->spec;
  const os_json *op_type = spec->identity[OS_SPEC_OP_TYPE];
  bool known = os_json_is(self->spec->identity[OS_SPEC_DOMAIN], OS_JSON_STRING) && spec->op_type.len > 0;
  if (!known || !os_is_standard_domain(spec->domain) || self->checker->registry == NULL) return;
  int version = os_standard__version(spec);
  const os_registry *registry = self->checker->registry;
  const op_schema *schema =
      os_registry_find_standard(registry, spec->domain, spec->op_type, spec->overload, version).schema;
  if (schema != NULL) {
    os_standard__parameters(self, schema, "inputs", schema->inputs, schema->input_count, spec->inputs,
                            spec->input_count);
    os_standard__parameters(self, schema, "outputs", schema->outputs, schema->output_count, spec->outputs,
                            spec->output_count);
    os_standard__attributes(self, schema);
    return;
  }
  schema = os_registry_find_standard(registry, spec->domain, spec->op_type, spec->overload, INT32_MAX).schema;
  if (schema != NULL) {
    os_checking_add(self, &os_rule_spec_operator_standard_mismatch, spec->members[OS_SPEC_VERSION],
                    "The standard has no %.*s at version %d.", OS_ARG(spec->op_type), version);
    return;
  }
  if (self->options->roles) return;
  os_str domain = spec->domain.len == 0 ? OS_STR("ai.onnx (the empty domain)") : spec->domain;
  os_finding *finding = os_checking_add(
      self, &os_rule_spec_operator_domain_reserved, op_type,
      "ONNX has no operator %.*s, and only ONNX adds operators to %.*s; use a domain of your own.",
      OS_ARG(spec->op_type), OS_ARG(domain));
  os_checking_relate(self, finding, self->spec->identity[OS_SPEC_DOMAIN], "the domain");
  os_str names[3];
  size_t count = os_registry_suggest(registry, spec->domain, spec->op_type, names, 3);
  if (count > 0) finding->expected = names[0];
  finding->actual = spec->op_type;
}

// ---- Numbers that readers lose ----------------------------------------------------------------------------

void os_check_numbers(os_checking *self, const os_json *root) {
  const os_json *node = root;
  for (;;) {
    if (os_json_is(node, OS_JSON_NUMBER) && (node->flags & OS_JSON_INTEGER) && node->end - node->start > 15) {
      os_str source = os_json_source(&self->spec->document, node);
      os_decimal number = os_decimal_of(source);
      if (!os_decimal_exact_double(&number, node->item.valuedouble)) {
        os_finding *finding = os_checking_add(self, &os_rule_json_number_precision, node,
                                              "Readers that use binary64 take %.*s for %.0f.", OS_ARG(source),
                                              node->item.valuedouble);
        finding->actual = source;
      }
    }
    const os_json *next = os_json_first(node);
    while (next == NULL) {
      if (node == root) return;
      next = os_json_next(node);
      if (next == NULL) node = node->parent;
    }
    node = next;
  }
}
