#include "trial.h"

#include "inference.h"
#include "rule_texts.h"
#include "scalar.h"
#include "session.h"
#include "trial_inputs.h"

#define OS_RULE OS_RULE_DEFINE
#include "trial_rules.def"
#undef OS_RULE
#define OS_RULE OS_RULE_POINTER
static const os_rule *const os_trial__rules[] = {
#include "trial_rules.def"
};
#undef OS_RULE
const os_rule_table os_trial_rules = {os_trial__rules, sizeof os_trial__rules / sizeof *os_trial__rules};

struct os_trial {
  os_trial_setting setting;
  const os_case *item;
  os_arena arena;
  os_report report;
  os_trial_values values;
  os_trial_beside beside; // the model
  os_document *document;
  os_model *model;
  os_session *session;
  os_run *run;
  op_value **first;          // results of the first of two runs
  os_stage stage;            // how far it came
  bool done, failed, judged; // failed: at `stage`, as `trouble` says
  os_status trouble_status;
  os_str trouble;
  os_verdict verdict;
  os_str message;
};

// ---- Verdicts ---------------------------------------------------------------------------------------------

static void os_trial__judge(os_trial *self, os_verdict verdict, os_str message) {
  self->verdict = verdict;
  self->message = message;
  self->judged = self->done = true;
}

static os_finding *os_trial__add(os_trial *self, const os_rule *rule, os_str message, const os_json *node) {
  os_finding *finding = os_report_add(&self->report, rule, "%.*s", OS_ARG(message));
  if (node != NULL) os_json_where(&self->item->document, &self->arena, node, &finding->where);
  finding->where.file = self->item->path;
  return finding;
}

static void os_trial__fail_at(os_trial *self, os_stage stage, os_status status, os_str message) {
  self->stage = stage;
  self->failed = self->done = true;
  self->trouble_status = status;
  self->trouble = os_arena_copy(&self->arena, message);
}

// ---- Check and inference ----------------------------------------------------------------------------------

// Whether a finding counts as a refusal at its stage.
static os_stage os_trial__stage_of(const os_finding *finding) {
  return os_str_starts(os_str_of(finding->rule->id), OS_STR("infer.")) ? OS_STAGE_INFER : OS_STAGE_CHECK;
}

static bool os_str__contains(os_str text, os_str part) {
  if (part.len == 0) return true;
  for (size_t i = 0; i + part.len <= text.len; i++) {
    if (memcmp(text.data + i, part.data, part.len) == 0) return true;
  }
  return false;
}

// Declarations of outputs in a model that was made here: that they say no shape is no fault of the evidence, and what they
// should be the comparison tells better.
static bool os_trial__is_ours(const os_case *item, const os_finding *finding) {
  bool given = item->document.root == NULL && item->model.state == OS_FILE_BYTES;
  return !given && os_str_starts(finding->where.path, OS_STR("graph.output"));
}

// The error that the evidence asks for, else the first one; NULL when there is none.
static const os_finding *os_trial__refusal(const os_case *item, const os_report *report,
                                           const os_expected_error *expected) {
  const os_finding *first = NULL;
  for (size_t i = 0; i < report->findings.count; i++) {
    const os_finding *finding = report->findings.items[i];
    if (finding->severity != OS_ERROR || os_trial__is_ours(item, finding)) continue;
    if (first == NULL) first = finding;
    os_stage stage = os_trial__stage_of(finding);
    bool wanted = expected->expected && (expected->stage == OS_STAGE_ANY || expected->stage == stage) &&
                  os_str__contains(finding->message, expected->contains);
    if (wanted) return finding;
  }
  return first;
}

static os_status os_trial__check(os_trial *self, os_report *report) {
  os_check_options options = {.infer = true};
  OS_TRY(os_model_check(self->model, &options, report));
  os_expected_error expected = os_case_error(self->item);
  const os_finding *refusal = os_trial__refusal(self->item, report, &expected);
  if (refusal != NULL) os_trial__fail_at(self, os_trial__stage_of(refusal), OS_MALFORMED, refusal->message);
  return OS_OK;
}

// ---- Running ----------------------------------------------------------------------------------------------

static os_status os_trial__start_run(os_trial *self) {
  os_run_input *inputs = OS_ARENA_ARRAY(&self->arena, self->values.input_count + 1, os_run_input);
  OS_TRY_ALLOC(inputs);
  size_t count = 0;
  for (size_t i = 0; i < self->values.input_count; i++) {
    if (self->values.inputs[i] == NULL) continue;
    inputs[count++] = (os_run_input){self->values.input_names[i], op_value_retain(self->values.inputs[i])};
  }
  os_status status = os_run_start(self->session, inputs, count, NULL, 0, &self->run);
  if (status == OS_OK || status == OS_OUT_OF_MEMORY || self->run == NULL) return status;
  os_trial__fail_at(self, OS_STAGE_RUN, status, os_run_trouble(self->run)->message);
  return OS_OK;
}

static os_status os_trial__make_session(os_trial *self) {
  os_session_options options = {.seed = 1};
  os_trouble trouble = {.arena = &self->arena};
  os_status status = os_session_new(self->setting.memory, self->setting.registry, self->model, &options,
                                    &trouble, &self->session);
  if (status == OS_OUT_OF_MEMORY) return status;
  if (status == OS_UNSUPPORTED)
    os_trial__judge(self, OS_SKIPPED, trouble.message);
  else if (status != OS_OK)
    os_trial__fail_at(self, OS_STAGE_RUN, status, trouble.message);
  else
    return os_trial__start_run(self);
  return OS_OK;
}

// ---- Preparing --------------------------------------------------------------------------------------------

static os_status os_trial__open_model(os_trial *self, os_report *report) {
  os_str bytes = self->values.model;
  os_source source = os_source_memory(bytes.data, bytes.len);
  self->beside = (os_trial_beside){&self->arena, self->item->files, self->item->model.name};
  os_document_options options = {
      .as = OS_KIND_MODEL, .limits = self->setting.limits, .external = os_trial_external(&self->beside)};
  os_status status = os_document_open(self->setting.memory, &source, &options, report, &self->document);
  if (status == OS_OK)
    status = os_model_build(self->document, self->setting.registry, NULL, report, &self->model);
  if (status == OS_OK || status == OS_OUT_OF_MEMORY) return status;
  os_str why =
      report->findings.count > 0 ? report->findings.items[0]->message : os_str_of(os_status_text(status));
  os_trial__fail_at(self, OS_STAGE_CHECK, status, why);
  return OS_OK;
}

static os_status os_trial__prepare(os_trial *self) {
  os_trial_values *values = &self->values;
  if (self->item->problem.len > 0) {
    os_trial__judge(self, OS_ERRORED, self->item->problem);
    return OS_OK;
  }
  // Findings about the model are not findings about the evidence: they only say at which stage it failed.
  os_report report;
  os_report_init(&report, &self->arena, false, 0);
  os_status status = os_trial_values_begin(values, self->item);
  if (status == OS_OK) status = os_trial__open_model(self, &report);
  if (status == OS_OK && !self->done) status = os_trial_values_finish(values, self->model);
  if (status == OS_MALFORMED) {
    os_trial__judge(self, OS_ERRORED, values->fault);
    return OS_OK;
  }
  OS_TRY(status);
  if (!self->done && self->setting.check) OS_TRY(os_trial__check(self, &report));
  return self->done ? OS_OK : os_trial__make_session(self);
}

os_status os_trial_new(const os_trial_setting *setting, const os_case *item, os_trial **out) {
  os_trial *self = os_memory_calloc(setting->memory, sizeof *self);
  *out = self;
  OS_TRY_ALLOC(self);
  self->setting = *setting;
  self->item = item;
  os_arena_init(&self->arena, setting->memory);
  os_report_init(&self->report, &self->arena, false, 0);
  if (item->document.root != NULL) os_report_text(&self->report, item->path, item->document.text);
  self->values =
      (os_trial_values){.memory = setting->memory, .arena = &self->arena, .registry = setting->registry};
  os_status status = os_trial__prepare(self);
  if (status == OS_OK) return OS_OK;
  os_trial_free(self);
  *out = NULL;
  return status;
}

// ---- Comparing --------------------------------------------------------------------------------------------

// Where element `index` of an expected output stands in the document.
static const os_json *os_trial__element_node(const os_trial *self, size_t output,
                                             const os_difference *difference) {
  const os_json *node = os_json_at(os_json_member(self->item->document.root, "outputs"), output);
  if (node == NULL || difference->path.len > 0 || difference->kind != OS_DIFFERS_VALUE) return node;
  const os_json *data = os_json_member(node, "data");
  const os_json *element =
      os_json_is(data, OS_JSON_ARRAY) ? os_json_at(data, (size_t)difference->first) : NULL;
  return element != NULL ? element : data != NULL ? data : node;
}

static os_status os_trial__differs(os_trial *self, size_t output, const os_difference *difference) {
  os_str text = os_difference_print(difference, &self->arena, os_registry_types(self->setting.registry));
  os_str message = os_arena_format(&self->arena, "output %zu: %.*s", output, OS_ARG(text));
  os_finding *finding =
      os_trial__add(self, &os_rule_evidence_value, message, os_trial__element_node(self, output, difference));
  if (difference->kind == OS_DIFFERS_VALUE) {
    const op_tensor *a = &difference->actual->tensor, *e = &difference->expected->tensor;
    finding->expected = os_scalar_print(&self->arena, e->elem, e->data, difference->first);
    finding->actual = os_scalar_print(&self->arena, a->elem, a->data, difference->first);
  }
  if (self->verdict == OS_PASSED) self->message = message;
  self->verdict = OS_FAILED;
  return OS_OK;
}

// A data set cannot say that its operator draws random numbers, so the model says it.
static bool os_trial__is_random(const os_trial *self) {
  const op_graph *graph = os_model_graph(self->model);
  if (self->item->document.root != NULL || self->item->tolerance != NULL) return false;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const op_row *row = graph->nodes[i].node.row;
    if (row != NULL && (row->traits & OP_RANDOM) != 0) return true;
  }
  return false;
}

// Results of the run by output of the evidence; those that it leaves out have none.
static os_status os_trial__compare(os_trial *self) {
  size_t result = 0;
  bool random = os_trial__is_random(self);
  for (size_t i = 0; i < self->values.output_count; i++) {
    if (self->values.outputs[i] == NULL) continue;
    if (result >= os_run_result_count(self->run)) {
      os_str message =
          os_arena_format(&self->arena, "output %zu: the model gives only %zu outputs", i, result);
      os_trial__add(self, &os_rule_evidence_value, message, NULL);
      os_trial__judge(self, OS_FAILED, message);
      return OS_OK;
    }
    os_tolerance tolerance = os_case_tolerance(self->item, i);
    tolerance.shape_only |= random;
    os_difference difference;
    op_value *actual = os_run_result(self->run, result++);
    OS_TRY(os_value_compare(&self->arena, actual, self->values.outputs[i], &tolerance, &difference));
    if (difference.kind != OS_SAME) OS_TRY(os_trial__differs(self, i, &difference));
  }
  return OS_OK;
}

static void os_trial__compare_runs(os_trial *self) {
  os_tolerance bits = {.bits = true};
  for (size_t i = 0; i < os_run_result_count(self->run); i++) {
    os_difference difference;
    os_status status =
        os_value_compare(&self->arena, os_run_result(self->run, i), self->first[i], &bits, &difference);
    if (status != OS_OK || difference.kind == OS_SAME) continue;
    os_str text = os_difference_print(&difference, &self->arena, os_registry_types(self->setting.registry));
    os_trial__add(self, &os_rule_evidence_nondeterministic,
                  os_arena_format(&self->arena, "output %zu of a second run: %.*s", i, OS_ARG(text)), NULL);
    return;
  }
}

// First word of `nondeterminism` says that there is none.
static bool os_trial__deterministic(const os_spec *spec) {
  static const char *const words[] = {"none", "no", "not", "deterministic"};
  if (spec == NULL) return false;
  os_str text = os_json_string(os_json_member(spec->document.root, "nondeterminism"));
  char word[16] = {0};
  size_t length = 0;
  while (length < text.len && length < sizeof word - 1) {
    char c = text.data[length];
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    if (c < 'a' || c > 'z') break;
    word[length++] = c;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

static os_status os_trial__finish_run(os_trial *self) {
  if (self->first != NULL) {
    os_trial__compare_runs(self);
    self->done = true;
    return OS_OK;
  }
  self->stage = OS_STAGE_RUN;
  if (os_case_error(self->item).expected) {
    self->done = true;
    return OS_OK;
  }
  OS_TRY(os_trial__compare(self));
  size_t count = os_run_result_count(self->run);
  if (self->verdict != OS_PASSED || !os_trial__deterministic(self->item->spec)) {
    self->done = true;
    return OS_OK;
  }
  self->first = OS_ARENA_ARRAY(&self->arena, count + 1, op_value *);
  OS_TRY_ALLOC(self->first);
  for (size_t i = 0; i < count; i++) self->first[i] = op_value_retain(os_run_result(self->run, i));
  os_run_free(self->run);
  self->run = NULL;
  return os_trial__start_run(self);
}

os_status os_trial_step(os_trial *self, uint64_t budget) {
  while (!self->done) {
    os_status status = os_run_step(self->run, budget);
    if (status == OS_YIELD || status == OS_NEEDS_HOST || status == OS_OUT_OF_MEMORY) return status;
    if (status == OS_OK)
      OS_TRY(os_trial__finish_run(self));
    else
      os_trial__fail_at(self, OS_STAGE_RUN, status, os_run_trouble(self->run)->message);
    if (!self->done) return OS_YIELD;
  }
  return OS_OK;
}

void os_trial_answer(os_trial *self, os_status status, os_str message) {
  os_run_answer(self->run, status, message);
}

// ---- Judging ----------------------------------------------------------------------------------------------

static const char *os_trial__stage_name(os_stage stage) {
  static const char *const names[] = {"any stage", "the check", "inference", "the run"};
  return names[stage];
}

static void os_trial__wrong_error(os_trial *self, os_str message, const os_json *node) {
  os_finding *finding = os_trial__add(self, &os_rule_evidence_error, message, node);
  if (self->failed) finding->actual = self->trouble;
  os_trial__judge(self, OS_FAILED, message);
}

static void os_trial__judge_failure(os_trial *self, const os_expected_error *expected, bool misbehaved) {
  const char *stage = os_trial__stage_name(self->stage);
  if (self->trouble_status == OS_TIMEOUT || self->trouble_status == OS_ABORTED ||
      self->trouble_status == OS_LIMIT) {
    os_trial__judge(self, OS_ERRORED, self->trouble);
    return;
  }
  if (!expected->expected) {
    os_trial__wrong_error(
        self, os_arena_format(&self->arena, "%s failed: %.*s", stage, OS_ARG(self->trouble)), NULL);
    return;
  }
  const char *why = NULL;
  if (misbehaved)
    why = "by a fault of the kernel";
  else if (self->stage == OS_STAGE_RUN && self->trouble_status != OS_OPERATOR_FAILED)
    why = "before the kernel ran";
  else if (expected->stage != OS_STAGE_ANY && expected->stage != self->stage)
    why = "at another stage than expected";
  else if (!os_str__contains(self->trouble, expected->contains))
    why = "with another message than expected";
  if (why == NULL) return;
  os_trial__wrong_error(
      self, os_arena_format(&self->arena, "%s failed %s: %.*s", stage, why, OS_ARG(self->trouble)),
      expected->node);
}

os_verdict os_trial_end(os_trial *self, bool misbehaved, os_str *message, const os_report **report) {
  os_expected_error expected = os_case_error(self->item);
  if (!self->judged && self->failed) {
    os_trial__judge_failure(self, &expected, misbehaved);
  } else if (!self->judged && expected.expected) {
    os_str which = {"", 0};
    if (expected.contains.len > 0)
      which =
          os_arena_format(&self->arena, " with %.*s", OS_ARG(os_json_quote(&self->arena, expected.contains)));
    os_trial__wrong_error(
        self, os_arena_format(&self->arena, "no error, though one%.*s was expected", OS_ARG(which)),
        expected.node);
  }
  self->judged = self->done = true;
  os_report_finish(&self->report);
  *message = self->message;
  *report = &self->report;
  return self->verdict;
}

void os_trial_free(os_trial *self) {
  if (self == NULL) return;
  os_run_free(self->run);
  if (self->session != NULL) os_session_free(self->session);
  if (self->model != NULL) os_model_free(self->model);
  os_document_close(self->document);
  for (size_t i = 0; self->first != NULL && self->first[i] != NULL; i++) op_value_release(self->first[i]);
  os_trial_values_release(&self->values);
  os_arena_clear(&self->arena);
  os_memory_free(self->setting.memory, self);
}
