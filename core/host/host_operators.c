#include "data_check.h"
#include "host.h"
#include "json_write.h"
#include "model_rules.h"
#include "onnx_rules.h"
#include "op_rules.h"
#include "report_json.h"
#include "rule_texts.h"
#include "spec_check.h"
#include "wire_rules.h"

// ---- What there is ----------------------------------------------------------------------------------------

static void os_host__write_types(os_text *out, opspec_env *env, const op_type *types, uint32_t count) {
  os_text_char(out, '[');
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) os_text_char(out, ',');
    os_json_write_string(out, os_types_print(env->types, &env->scratch, types[i]));
  }
  os_text_char(out, ']');
}

static void os_host__write_parameters(os_text *out, opspec_env *env, const op_schema *schema,
                                      const op_parameter *list, uint16_t count) {
  static const char *const options[] = {"single", "optional", "variadic"};
  os_text_char(out, '[');
  for (uint16_t i = 0; i < count; i++) {
    const op_parameter *parameter = &list[i];
    os_text_puts(out, i > 0 ? ",{" : "{");
    os_host_write_member(out, "name", parameter->name);
    os_text_format(out, ",\"option\":\"%s\"", options[parameter->option]);
    if (parameter->option == OP_VARIADIC)
      os_text_format(out, ",\"homogeneous\":%s,\"minArity\":%u", parameter->homogeneous ? "true" : "false",
                     parameter->min_arity);
    if (parameter->constraint >= 0) {
      const op_type_parameter *types = &schema->type_parameters[parameter->constraint];
      os_text_char(out, ',');
      os_host_write_member(out, "typeParameter", types->label);
      os_text_puts(out, ",\"types\":");
      os_host__write_types(out, env, types->types, types->count);
    }
    os_text_char(out, '}');
  }
  os_text_char(out, ']');
}

static void os_host__write_float(os_text *out, float value) {
  if (value == value && value - value == 0)
    os_text_format(out, "%.9g", (double)value);
  else
    os_text_puts(out, value != value ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

// Numbers, strings and lists of them; what is neither has no default in JSON.
static void os_host__write_default(os_text *out, const op_attribute *a) {
  switch (a->kind) {
  case OP_ATTR_FLOAT: os_host__write_float(out, a->as.f); return;
  case OP_ATTR_INT: os_text_format(out, "%lld", (long long)a->as.i); return;
  case OP_ATTR_STRING: os_json_write_string(out, a->as.s); return;
  case OP_ATTR_FLOATS:
  case OP_ATTR_INTS:
  case OP_ATTR_STRINGS: break;
  default: os_text_puts(out, "null"); return;
  }
  os_text_char(out, '[');
  for (uint32_t i = 0; i < a->count; i++) {
    if (i > 0) os_text_char(out, ',');
    if (a->kind == OP_ATTR_FLOATS)
      os_host__write_float(out, a->as.floats[i]);
    else if (a->kind == OP_ATTR_INTS)
      os_text_format(out, "%lld", (long long)a->as.ints[i]);
    else
      os_json_write_string(out, a->as.strings[i]);
  }
  os_text_char(out, ']');
}

static void os_host__write_attributes(os_text *out, const op_schema *schema) {
  os_text_char(out, '{');
  for (uint16_t i = 0; i < schema->attribute_count; i++) {
    const op_attribute_schema *attribute = &schema->attributes[i];
    if (i > 0) os_text_char(out, ',');
    os_json_write_string(out, attribute->name);
    os_text_format(out, ":{\"kind\":\"%s\",\"required\":%s", op_attr_kind_name(attribute->kind),
                   attribute->required ? "true" : "false");
    if (attribute->has_default) {
      os_text_puts(out, ",\"default\":");
      os_host__write_default(out, &attribute->fallback);
    }
    os_text_char(out, '}');
  }
  os_text_char(out, '}');
}

static void os_host__write_operator(os_text *out, opspec_env *env, os_operator operator) {
  const op_schema *schema = operator.schema;
  const op_row *row = operator.row;
  bool runs = schema->body != NULL || (row != NULL && (row->compute != NULL || row->enter != NULL ||
                                                       row->loop != NULL || (row->traits & OP_VIEW)));
  os_text_char(out, '{');
  os_host_write_member(out, "domain", schema->domain);
  os_text_char(out, ',');
  os_host_write_member(out, "name", schema->op_type);
  if (schema->overload.len > 0) {
    os_text_char(out, ',');
    os_host_write_member(out, "overload", schema->overload);
  }
  os_text_format(out, ",\"sinceVersion\":%d", schema->since);
  if (schema->deprecated) os_text_puts(out, ",\"deprecated\":true");
  if (schema->function) os_text_puts(out, ",\"function\":true");
  os_text_puts(out, ",\"inputs\":");
  os_host__write_parameters(out, env, schema, schema->inputs, schema->input_count);
  os_text_puts(out, ",\"outputs\":");
  os_host__write_parameters(out, env, schema, schema->outputs, schema->output_count);
  os_text_puts(out, ",\"attributes\":");
  os_host__write_attributes(out, schema);
  os_text_char(out, ',');
  os_host_write_member(out, "source",
                       schema->source == NULL ? OS_STR("registered") : os_str_of(schema->source));
  os_text_format(out, ",\"kernel\":%s}", runs ? "true" : "false");
}

os_status opspec_operators(opspec_env *self) {
  os_host_begin(self);
  os_text *out = &self->output;
  os_text_char(out, '[');
  for (size_t i = 0;; i++) {
    os_operator operator= os_registry_at(self->registry, i);
    if (operator.schema == NULL) break;
    if (i > 0) os_text_char(out, ',');
    os_host__write_operator(out, self, operator);
  }
  os_text_char(out, ']');
  return os_host_end(self);
}

// ---- Rules ------------------------------------------------------------------------------------------------

static const os_rule_table *const os_host__rules[] = {
    &os_json_rules, &os_schema_rules, &os_spec_rules,     &os_wire_rules,  &os_onnx_rules,
    &os_op_rules,   &os_model_rules,  &os_evidence_rules, &os_trial_rules,
};

typedef struct os_host__near {
  const char *id;
  unsigned distance;
} os_host__near;

static os_status os_host__unknown_rule(opspec_env *self, os_str name) {
  enum { NEAR = 8 };
  os_host__near best = {NULL, NEAR + 1};
  for (size_t t = 0; t < sizeof os_host__rules / sizeof *os_host__rules; t++) {
    for (size_t i = 0; i < os_host__rules[t]->count; i++) {
      const char *id = os_host__rules[t]->rules[i]->id;
      unsigned distance = os_str_distance(os_str_of(id), name, NEAR);
      if (distance < best.distance) best = (os_host__near){id, distance};
    }
  }
  os_str message = os_arena_format(&self->scratch, "there is no rule \"%.*s\"%s%s%s", OS_ARG(name),
                                   best.id == NULL ? "" : "; did you mean \"", best.id == NULL ? "" : best.id,
                                   best.id == NULL ? "" : "\"?");
  return os_host_fail(self, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
}

os_status opspec_explain(opspec_env *self, os_str name) {
  os_host_begin(self);
  for (size_t t = 0; t < sizeof os_host__rules / sizeof *os_host__rules; t++) {
    for (size_t i = 0; i < os_host__rules[t]->count; i++) {
      const os_rule *rule = os_host__rules[t]->rules[i];
      if (!os_str_is(name, rule->id)) continue;
      OS_TRY(os_rule_write(&self->output, rule, os_rule_texts.data));
      return os_host_end(self);
    }
  }
  return os_host__unknown_rule(self, name);
}

os_status opspec_rules(opspec_env *self) {
  os_host_begin(self);
  os_text_char(&self->output, '[');
  bool first = true;
  for (size_t t = 0; t < sizeof os_host__rules / sizeof *os_host__rules; t++) {
    for (size_t i = 0; i < os_host__rules[t]->count; i++) {
      if (!first) os_text_char(&self->output, ',');
      first = false;
      os_json_write_string(&self->output, os_str_of(os_host__rules[t]->rules[i]->id));
    }
  }
  os_text_char(&self->output, ']');
  return os_host_end(self);
}

// ---- Registering ------------------------------------------------------------------------------------------

static void os_host__describe_operator(opspec_env *self, const op_schema *schema) {
  os_text *out = &self->output;
  os_text_char(out, '{');
  os_host_write_member(out, "domain", schema->domain);
  os_text_char(out, ',');
  os_host_write_member(out, "name", schema->op_type);
  os_text_char(out, ',');
  os_host_write_member(out, "overload", schema->overload);
  os_text_format(out, ",\"sinceVersion\":%d}", schema->since);
}

static os_status os_host__add(opspec_operator *self, const op_schema *schema, uint32_t kernel,
                              uint32_t flags) {
  opspec_env *env = self->env;
  char *names = os_arena_alloc(&self->arena, schema->domain.len + schema->op_type.len + 2);
  OS_TRY_ALLOC(names);
  os_host_operator_init(&self->operator, schema, &env->host, kernel, flags, names);
  const op_row *linked = (flags & OPSPEC_KERNEL) != 0 ? NULL : os_registry_linked_row(env->registry, schema);
  return os_registry_add(env->registry, schema, linked != NULL ? linked : &self->operator.row);
}

static os_status os_host__register(opspec_operator *self, os_str text, int since, uint32_t kernel,
                                   uint32_t flags, os_str body, os_report *report) {
  opspec_env *env = self->env;
  const os_spec_checker *checker;
  os_spec *spec = NULL;
  os_spec_options options = {.depth = env->limits.depth, .roles = (flags & OPSPEC_ROLES) != 0};
  OS_TRY(os_host_checker(env, &checker));
  text = os_arena_copy(&self->arena, text);
  OS_TRY_ALLOC(text.data);
  OS_TRY(os_spec_check(checker, &self->arena, (os_str){"", 0}, text, &options, report, &spec));
  if (spec == NULL || !spec->valid || report->counts[OS_ERROR] > 0) return OS_MALFORMED;
  const op_schema *schema;
  OS_TRY(os_spec_schema(spec, &self->arena, env->types, since, &schema));
  if (body.data == NULL) return os_host__add(self, schema, kernel, flags);
  op_schema *own = OS_ARENA_NEW(&self->arena, op_schema);
  OS_TRY_ALLOC(own);
  *own = *schema;
  self->operator.schema = own;
  OS_TRY(os_host_function(self, own, body, report));
  return os_registry_add(env->registry, own, NULL);
}

static os_status os_host__refuse(opspec_env *env, os_status status, os_report *report) {
  os_str why = report->findings.count > 0 ? report->findings.items[0]->message : (os_str){"", 0};
  for (size_t i = 0; i < report->findings.count; i++) {
    if (report->findings.items[i]->severity != OS_ERROR) continue;
    why = report->findings.items[i]->message;
    break;
  }
  if (status == OS_INVALID_ARGUMENT)
    why = os_report_add(report, &os_rule_spec_bundle_conflict,
                        "an operator of this domain, name, overload and since version is registered already")
              ->message;
  return os_host_fail(env, status, why, (os_str){"", 0},
                      status == OS_MALFORMED || status == OS_INVALID_ARGUMENT ? report : NULL);
}

// `domain` and `op_type`, or `document`.
static os_status os_host__registration(opspec_env *env, os_str document, os_str domain, os_str op_type,
                                       int since, uint32_t kernel, uint32_t flags, os_str body,
                                       opspec_operator **out) {
  os_host_begin(env);
  *out = NULL;
  opspec_operator *self = os_memory_calloc(&env->memory, sizeof *self);
  if (self == NULL) return os_host_fail(env, OS_OUT_OF_MEMORY, (os_str){"", 0}, (os_str){"", 0}, NULL);
  self->env = env;
  os_arena_init(&self->arena, &env->memory);
  os_report report;
  os_report_init(&report, &env->scratch, false, env->limits.findings);
  os_status status = OS_UNSUPPORTED;
  if (op_type.len == 0) {
    status = os_host__register(self, document, since, kernel, flags, body, &report);
  } else {
    const op_schema *known = os_registry_find(env->registry, domain, op_type, (os_str){"", 0}, since).schema;
    if (known != NULL && known->standard) status = os_host__add(self, known, kernel, flags);
  }
  if (status == OS_OK) {
    os_host__describe_operator(env, self->operator.schema);
    *out = self;
    return os_host_end(env);
  }
  os_host__refuse(env, status, &report);
  os_host_free_operator(self);
  return status;
}

os_status opspec_register(opspec_env *env, os_str document, int since, uint32_t kernel, uint32_t flags,
                          opspec_operator **out) {
  return os_host__registration(env, document, OS_STR(""), OS_STR(""), since, kernel, flags, (os_str){NULL, 0},
                               out);
}

os_status opspec_register_function(opspec_env *env, os_str document, int since, os_str body,
                                   opspec_operator **out) {
  return os_host__registration(env, document, OS_STR(""), OS_STR(""), since, 0, 0, body, out);
}

os_status opspec_register_kernel(opspec_env *env, os_str domain, os_str op_type, int since, uint32_t kernel,
                                 uint32_t flags, opspec_operator **out) {
  return os_host__registration(env, OS_STR(""), domain, op_type, since, kernel, flags, (os_str){NULL, 0},
                               out);
}

void opspec_unregister(opspec_operator *self) {
  if (self == NULL) return;
  opspec_env *env = self->env;
  os_registry_remove(env->registry, self->operator.schema);
  self->retired_at = ++env->serial;
  self->next = env->retired;
  env->retired = self;
  os_host_sweep(env);
}
