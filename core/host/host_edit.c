#include "decimal.h"
#include "encode.h"
#include "graph.h"
#include "host.h"
#include "json.h"
#include "model_edit.h"
#include "value_proto.h"

// Edits of a model, given as JSON (opspec.h, opspec_model_edit). All are made, or none.

typedef struct os_host_editing {
  opspec_model *model;
  os_model_edit edit; // its arena is the Env's scratch
  const os_json_document *text;
  const os_json *item;
} os_host_editing;

// ---- Arguments --------------------------------------------------------------------------------------------

static const os_json *os_editing__get(const os_host_editing *self, const char *name) {
  return os_json_member(self->item, name);
}

static os_status os_editing__text(os_host_editing *self, const char *name, os_str *out) {
  const os_json *value = os_editing__get(self, name);
  *out = os_json_string(value);
  if (out->data == NULL) out->data = "";
  if (os_json_is(value, OS_JSON_STRING)) return OS_OK;
  return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, (os_str){"", 0}, "%s must be a text", name);
}

// `wanted`: what the member must be, for a person.
static os_status os_editing__integer(os_host_editing *self, const char *name, const char *wanted,
                                     int64_t least, int64_t *out) {
  const os_json *value = os_editing__get(self, name);
  os_str nowhere = {"", 0};
  if (!os_json_is(value, OS_JSON_NUMBER))
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere, "%s must be %s", name, wanted);
  enum { SHOWN = 40 };
  os_str text = os_json_source(self->text, value);
  os_decimal number = os_decimal_of(text);
  int shown = (int)(text.len < SHOWN ? text.len : SHOWN);
  const char *more = text.len > SHOWN ? "..." : "";
  if (!os_decimal_is_integer(&number))
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere, "%s must be %s: %.*s%s is no integer",
                          name, wanted, shown, text.data, more);
  if (!os_decimal_int64(&number, out))
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere,
                          "%s must be %s: %.*s%s does not fit into 64 bits", name, wanted, shown, text.data,
                          more);
  if (*out >= least) return OS_OK;
  return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere, "%s must be %s, not %lld", name, wanted,
                        (long long)*out);
}

static os_status os_editing__node(os_host_editing *self, const char *name, Onnx__NodeProto **out) {
  const os_json *value = os_editing__get(self, name);
  if (os_json_is(value, OS_JSON_STRING))
    return os_edit_find_node(&self->edit, -1, os_json_string(value), out);
  int64_t number;
  OS_TRY(os_editing__integer(self, name, "the name of a node or its number in the graph", 0, &number));
  return os_edit_find_node(&self->edit, number, (os_str){"", 0}, out);
}

// ---- Each edit --------------------------------------------------------------------------------------------

static os_status os_editing__rename_node(os_host_editing *self) {
  Onnx__NodeProto *node;
  os_str to;
  OS_TRY(os_editing__text(self, "to", &to));
  OS_TRY(os_editing__node(self, "renameNode", &node));
  return os_edit_rename_node(&self->edit, node, to);
}

static os_status os_editing__remove_node(os_host_editing *self) {
  Onnx__NodeProto *node;
  const os_json *replace = os_editing__get(self, "replace"), *bypass = os_editing__get(self, "bypass");
  OS_TRY(os_editing__node(self, "removeNode", &node));
  size_t count = 0, most = os_json_is(replace, OS_JSON_OBJECT) ? replace->length : 0;
  os_replacement *items = OS_ARENA_ARRAY(self->edit.arena, most, os_replacement);
  OS_TRY_ALLOC(items);
  bool wrong = replace != NULL && !os_json_is(replace, OS_JSON_OBJECT);
  OS_JSON_EACH(value, replace) {
    wrong |= os_json_string(value).len == 0;
    if (!wrong && count < most) items[count++] = (os_replacement){os_json_key(value), os_json_string(value)};
  }
  if (wrong)
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, (os_str){"", 0},
                          "replace must be an object: for outputs of the node the values that take their "
                          "places");
  if (bypass != NULL && !os_json_is(bypass, OS_JSON_BOOL))
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, (os_str){"", 0}, "bypass must be true or false");
  return os_edit_remove_node(&self->edit, node, os_json_is(bypass, OS_JSON_TRUE), items, count);
}

static os_status os_editing__metadata(os_host_editing *self) {
  os_str key, value = {NULL, 0};
  OS_TRY(os_editing__text(self, "setMetadata", &key));
  if (!os_json_is(os_editing__get(self, "value"), OS_JSON_NULL))
    OS_TRY(os_editing__text(self, "value", &value));
  return os_edit_metadata(&self->edit, key, value);
}

static os_status os_editing__opset(os_host_editing *self) {
  os_str domain;
  int64_t version = 0;
  OS_TRY(os_editing__text(self, "setOpset", &domain));
  bool remove = os_json_is(os_editing__get(self, "version"), OS_JSON_NULL);
  if (!remove) OS_TRY(os_editing__integer(self, "version", "an integer above 0, or null", 1, &version));
  return os_edit_opset(&self->edit, domain, remove, version);
}

static os_status os_editing__field(os_host_editing *self) {
  os_str name, text = os_json_string(os_editing__get(self, "value"));
  const os_json *value = os_editing__get(self, "value");
  OS_TRY(os_editing__text(self, "set", &name));
  bool is_text = os_json_is(value, OS_JSON_STRING), is_number = !is_text && !os_json_is(value, OS_JSON_NULL);
  int64_t number = 0;
  if (is_number) OS_TRY(os_editing__integer(self, "value", "a text, an integer or null", INT64_MIN, &number));
  return os_edit_field(&self->edit, name, is_text ? &text : NULL, is_number ? &number : NULL);
}

// ---- Folding ----------------------------------------------------------------------------------------------

static os_status os_editing__trouble(os_host_editing *self, os_status status, const os_trouble *trouble,
                                     const Onnx__NodeProto *node) {
  if (status == OS_OUT_OF_MEMORY) return status;
  os_str why = trouble->message.len > 0 ? trouble->message : os_str_of(os_status_text(status));
  if (status == OS_NEEDS_HOST) {
    why = OS_STR("it needs data that is outside, which load() brings in, or a kernel that answers later");
    status = OS_UNSUPPORTED;
  }
  if (status == OS_MALFORMED) status = OS_INVALID_ARGUMENT;
  return os_edit_refuse(&self->edit, status, os_edit_node_path(&self->edit, node),
                        "%.*s cannot be folded: %.*s", OS_ARG(os_edit_node_label(&self->edit, node)),
                        OS_ARG(why));
}

static bool os_editing__is_random(const op_graph *graph) {
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const op_row *row = graph->nodes[i].node.row;
    if (row != NULL && (row->traits & OP_RANDOM) != 0) return true;
  }
  return false;
}

// A tensor as a message of the document that has nothing of the value's.
static os_status os_editing__tensor(os_host_editing *self, const op_value *value, os_str name,
                                    Onnx__TensorProto **out) {
  opspec_env *env = self->model->env;
  os_arena *arena = &self->model->document->arena;
  os_text text;
  os_text_init(&text, &env->memory);
  os_status status = os_value_write(&text, &env->memory, env->types, value, name);
  os_str bytes = status == OS_OK ? os_arena_copy(arena, os_text_str(&text)) : (os_str){NULL, 0};
  os_text_clear(&text);
  OS_TRY(status);
  OS_TRY_ALLOC(bytes.data);
  os_report report;
  os_report_init(&report, self->edit.arena, false, 1);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_decoding decoding = {
      .arena = arena, .source = &source, .type = &onnx__tensor_proto__descriptor, .report = &report};
  void *message;
  OS_TRY(os_proto_decode(&decoding, &message));
  *out = message;
  return os_proto_detach(&env->memory, message);
}

static os_status os_editing__run(os_host_editing *self, os_session *session, const os_constant_part *part,
                                 os_trouble *trouble, Onnx__TensorProto **tensors) {
  os_run *run = NULL;
  os_status status = os_run_start(session, NULL, 0, part->outputs, part->output_count, &run);
  while (status == OS_OK || status == OS_YIELD) {
    status = os_run_step(run, UINT32_MAX);
    if (status != OS_YIELD) break;
  }
  if (status != OS_OK && run != NULL) {
    *trouble = *os_run_trouble(run);
    trouble->message = os_arena_copy(self->edit.arena, trouble->message);
  }
  for (size_t i = 0; status == OS_OK && i < part->output_count; i++) {
    const op_value *value = os_run_result(run, i);
    if (op_value_kind(value) != OP_TENSOR) {
      trouble->message = OS_STR("it gives values that are no tensors");
      status = OS_UNSUPPORTED;
    } else {
      status = os_editing__tensor(self, value, part->outputs[i], &tensors[i]);
    }
  }
  os_run_free(run);
  return status;
}

static os_status os_editing__fold(os_host_editing *self) {
  opspec_env *env = self->model->env;
  Onnx__NodeProto *node;
  os_constant_part part;
  OS_TRY(os_editing__node(self, "fold", &node));
  OS_TRY(os_edit_constant_part(&self->edit, node, &part));
  Onnx__TensorProto **tensors = OS_ARENA_ARRAY(self->edit.arena, part.output_count, Onnx__TensorProto *);
  OS_TRY_ALLOC(tensors);
  os_document document = *self->model->document;
  document.model = part.model;
  os_report report;
  os_report_init(&report, self->edit.arena, false, env->limits.findings);
  os_trouble trouble = {.arena = self->edit.arena};
  os_session_options options = {0};
  os_model *model = NULL;
  os_session *session = NULL;
  os_status status = os_model_build(&document, env->registry, NULL, &report, &model);
  if (status == OS_OK && os_editing__is_random(os_model_graph(model))) {
    trouble.message = OS_STR("its values differ from run to run");
    status = OS_UNSUPPORTED;
  }
  if (status == OS_OK)
    status = os_session_new(&env->memory, env->registry, model, &options, &trouble, &session);
  if (status == OS_OK) status = os_editing__run(self, session, &part, &trouble, tensors);
  if (status != OS_OK) status = os_editing__trouble(self, status, &trouble, node);
  if (session != NULL) os_session_free(session);
  if (model != NULL) os_model_free(model);
  OS_TRY(status);
  return os_edit_put_constants(&self->edit, node, &part, tensors);
}

// ---- All of them ------------------------------------------------------------------------------------------

// The first member says what is to be done; the others are those that `members` lists.
static const struct {
  const char *name, *members[2];
  os_status (*make)(os_host_editing *self); // NULL: os_rename_kind `rename`
  os_rename_kind rename;
} os_editing__kinds[] = {
    {"renameInput", {"to", NULL}, NULL, OS_RENAME_INPUT},
    {"renameOutput", {"to", NULL}, NULL, OS_RENAME_OUTPUT},
    {"renameValue", {"to", NULL}, NULL, OS_RENAME_VALUE},
    {"renameNode", {"to", NULL}, os_editing__rename_node, 0},
    {"removeNode", {"bypass", "replace"}, os_editing__remove_node, 0},
    {"fold", {NULL, NULL}, os_editing__fold, 0},
    {"setMetadata", {"value", NULL}, os_editing__metadata, 0},
    {"setOpset", {"version", NULL}, os_editing__opset, 0},
    {"set", {"value", NULL}, os_editing__field, 0},
};
enum { KINDS = sizeof os_editing__kinds / sizeof *os_editing__kinds };

static os_status os_editing__kind(os_host_editing *self, size_t *out) {
  os_str nowhere = {"", 0};
  if (!os_json_is(self->item, OS_JSON_OBJECT))
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere, "must be an object");
  for (*out = 0; *out < KINDS; ++*out)
    if (os_editing__get(self, os_editing__kinds[*out].name) != NULL) break;
  if (*out == KINDS) {
    os_str names = OS_STR("");
    for (size_t i = 0; i < KINDS; i++)
      names = os_arena_format(self->edit.arena, "%.*s%s%s", OS_ARG(names), i == 0 ? "" : ", ",
                              os_editing__kinds[i].name);
    return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere, "has none of %.*s", OS_ARG(names));
  }
  const char *name = os_editing__kinds[*out].name, *const *members = os_editing__kinds[*out].members;
  OS_JSON_EACH(value, self->item) {
    os_str key = os_json_key(value);
    bool known = os_str_is(key, name);
    for (size_t i = 0; i < 2; i++) known |= members[i] != NULL && os_str_is(key, members[i]);
    if (!known)
      return os_edit_refuse(&self->edit, OS_INVALID_ARGUMENT, nowhere, "%s has no \"%.*s\"", name,
                            OS_ARG(key));
  }
  return OS_OK;
}

// Renames of values that follow each other are made in one go. *made: how many, or which one was refused.
static os_status os_editing__rename(os_host_editing *self, size_t left, size_t *made) {
  OS_TRY(os_edit_settle(&self->edit));
  os_rename *renames = OS_ARENA_ARRAY(self->edit.arena, left, os_rename);
  OS_TRY_ALLOC(renames);
  size_t count = 0;
  *made = 0;
  for (const os_json *item = self->item; item != NULL; item = os_json_next(item)) {
    size_t kind;
    const os_json *before = self->item;
    self->item = item;
    bool known = os_editing__kind(self, &kind) == OS_OK && os_editing__kinds[kind].make == NULL;
    if (!known) {
      self->item = before;
      break;
    }
    *made = count;
    OS_TRY(os_editing__text(self, os_editing__kinds[kind].name, &renames[count].from));
    OS_TRY(os_editing__text(self, "to", &renames[count].to));
    renames[count++].kind = os_editing__kinds[kind].rename;
  }
  OS_TRY(os_edit_rename(&self->edit, renames, count, made));
  *made = count - 1;
  return OS_OK;
}

static os_status os_editing__all(os_host_editing *self, const os_json *list, size_t *at) {
  const os_json *next = os_json_first(list);
  for (*at = 0; next != NULL; ++*at, next = os_json_next(next)) {
    size_t kind, made = 0;
    self->item = next;
    OS_TRY(os_editing__kind(self, &kind));
    os_status status = os_editing__kinds[kind].make != NULL
                           ? os_editing__kinds[kind].make(self)
                           : os_editing__rename(self, list->length - *at, &made);
    *at += made;
    OS_TRY(status);
    for (; made > 0; made--) next = os_json_next(next);
  }
  return os_edit_finish(&self->edit);
}

static os_status os_editing__fail(os_host_editing *self, os_status status, size_t at) {
  opspec_env *env = self->model->env;
  if (self->edit.message.len == 0) return os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  os_str message = os_arena_format(&env->scratch, "edits[%zu]: %.*s", at, OS_ARG(self->edit.message));
  return os_host_fail(env, status, message, self->edit.path, NULL);
}

// A model of its own over the same bytes: sessions go on with the one that they were made from.
static os_status os_host__fork(opspec_model *from, opspec_model **out) {
  opspec_env *env = from->env;
  opspec_model *self;
  OS_TRY(os_host_new_model(env, &(opspec_files){0}, &self));
  os_document *document = os_memory_calloc(&env->memory, sizeof *document);
  os_status status = document == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  void *root = NULL;
  if (document != NULL) {
    self->document = document;
    document->memory = &env->memory;
    os_arena_init(&document->arena, &env->memory);
    document->source = from->document->source;
    document->kind = from->document->kind;
    document->external = from->document->external;
    os_arena_init(&document->scratch, &env->memory);
    os_arena_init(&document->whole, &env->memory);
    os_skeleton_init(&document->skeleton, &env->memory);
    status = os_proto_clone(&env->memory, &document->arena, from->document->root, &root);
    document->outline = document->root = root;
  }
  if (status == OS_OK) status = os_host_add_findings(&self->report, &from->report, from->decoded);
  self->decoded = from->decoded;
  self->edited = from->edited;
  if (status != OS_OK) {
    opspec_model_free(self);
    return os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  }
  *out = self;
  return OS_OK;
}

os_status opspec_model_edit(opspec_model **model, os_str edits) {
  opspec_env *env = (*model)->env;
  os_host_begin(env);
  os_json_document text;
  os_report report;
  os_report_init(&report, &env->scratch, false, 1);
  OS_TRY(os_json_parse(&text, &env->scratch, (os_str){"", 0}, edits, NULL, &report));
  bool broken = report.counts[OS_ERROR] > 0 && report.findings.count > 0;
  if (broken || !os_json_is(text.root, OS_JSON_ARRAY)) {
    os_str why = broken ? report.findings.items[0]->message : OS_STR("must be a list of edits");
    os_str message = os_arena_format(&env->scratch, "edits: %.*s", OS_ARG(why));
    return os_host_fail(env, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
  }
  os_status decoded = os_document_whole((*model)->document);
  if (decoded != OS_OK) return os_host_fail(env, decoded, (os_str){"", 0}, (os_str){"", 0}, NULL);
  if ((*model)->document->kind != OS_KIND_MODEL || (*model)->document->model->graph == NULL)
    return os_host_fail(env, OS_UNSUPPORTED, OS_STR("this is no model with a graph"), (os_str){"", 0}, NULL);
  opspec_model *from = *model, *self = from;
  if (from->refs > 1) OS_TRY(os_host__fork(from, &self));
  if (self->model != NULL) os_model_free(self->model);
  self->model = NULL;
  os_host_editing editing = {
      .model = self,
      .text = &text,
      .edit = {.memory = &env->memory, .arena = &env->scratch, .model = self->document->model}};
  os_changes_begin(&editing.edit.edit, &env->memory, &self->document->arena);
  size_t at = 0;
  os_status status = os_editing__all(&editing, text.root, &at);
  os_edit_end(&editing.edit);
  if (status != OS_OK) os_changes_undo(&editing.edit.edit);
  self->edited |= editing.edit.edit.changes.count > 0;
  os_changes_end(&editing.edit.edit);
  if (status != OS_OK) {
    os_editing__fail(&editing, status, at);
    if (self != from) opspec_model_free(self);
    return status;
  }
  if (self != from) self->base = from; // with the handle's reference
  *model = self;
  return os_host_describe(self);
}

// ---- Findings ---------------------------------------------------------------------------------------------

typedef struct os_host_moved {
  uint64_t from, length, to;
} os_host_moved;

static os_status os_moving__skip(void *context, const void *data, size_t n) {
  (void)data;
  ((os_host_moving *)context)->at += n;
  return OS_OK;
}

static os_status os_moving__copy(void *context, uint64_t offset, uint64_t n) {
  os_host_moving *self = context;
  os_host_moved *piece = OS_PUSH(self->arena, &self->pieces);
  OS_TRY_ALLOC(piece);
  *piece = (os_host_moved){offset, n, self->at};
  self->at += n;
  return OS_OK;
}

// Pieces are few, or findings are. Places in what was written anew are counted on from `length`, that of the old bytes.
static void os_moving__where(const os_host_moving *self, uint64_t length, os_where *where) {
  if (!where->binary || !where->has_range) return;
  if (where->range.start >= length) {
    os_where_range(where, where->range.start - length, where->range.end - length);
    return;
  }
  where->has_range = false;
  for (size_t i = 0; i < self->pieces.count; i++) {
    const os_host_moved *piece = &self->pieces.items[i];
    if (where->range.start < piece->from || where->range.end > piece->from + piece->length) continue;
    os_where_range(where, where->range.start - piece->from + piece->to,
                   where->range.end - piece->from + piece->to);
    return;
  }
}

os_status os_host_begin_moving(opspec_model *self, os_host_moving *out) {
  *out = (os_host_moving){.arena = &self->env->scratch};
  if (!self->edited) return OS_OK;
  os_sink sink = {os_moving__skip, out, os_moving__copy, true};
  return os_proto_encode(&self->env->memory, &self->document->source, self->document->root, &sink);
}

void os_host_move(const opspec_model *self, const os_host_moving *moving, os_report *report) {
  uint64_t length = self->document->source.length;
  for (size_t i = 0; self->edited && i < report->findings.count; i++) {
    os_finding *finding = report->findings.items[i];
    os_moving__where(moving, length, &finding->where);
    for (size_t k = 0; k < finding->related.count; k++)
      os_moving__where(moving, length, &finding->related.items[k].where);
    if (finding->where.binary) finding->fix = NULL;
  }
}
