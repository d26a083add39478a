#include "case.h"

#include "decimal.h"
#include "zip.h"

typedef struct os_case__finder {
  const os_spec_checker *checker;
  os_arena *arena;
  os_report *report;
  os_case_list *out;
} os_case__finder;

static bool os_case__ends(os_str text, const char *suffix) {
  os_str end = os_str_of(suffix);
  return text.len >= end.len && os_str_eq(os_str_slice(text, text.len - end.len, text.len), end);
}

// ---- Evidence documents -----------------------------------------------------------------------------------

// Why evidence cannot be run, in the words of the first error that was found from `first` on.
static os_status os_case__fault(os_case__finder *self, size_t first, os_str *out) {
  for (size_t i = first; i < self->report->findings.count; i++) {
    const os_finding *finding = self->report->findings.items[i];
    if (finding->severity != OS_ERROR) continue;
    *out = os_arena_format(self->arena, "the evidence itself is faulty: %.*s%s%.*s", OS_ARG(finding->message),
                           finding->where.pointer.len > 0 ? " At " : "", OS_ARG(finding->where.pointer));
    return out->data == NULL ? OS_OUT_OF_MEMORY : OS_OK;
  }
  *out = OS_STR("the evidence itself is faulty");
  return OS_OK;
}

static os_status os_case__document(os_case__finder *self, const os_spec *spec, os_str name,
                                   const os_file *file) {
  os_case *item = OS_PUSH(self->arena, self->out);
  OS_TRY_ALLOC(item);
  *item = (os_case){.name = name, .path = file->name, .spec = spec, .model.state = OS_FILE_MISSING};
  uint32_t errors = self->report->counts[OS_ERROR];
  size_t first = self->report->findings.count;
  os_spec_options options = {0};
  bool broken;
  OS_TRY(os_evidence_check(self->checker, self->arena, file->name, file->bytes, spec, &options, self->report,
                           &item->document, &broken));
  const os_json *root = item->document.root;
  bool faulty = self->report->counts[OS_ERROR] > errors;
  const os_json *operator= os_json_member(root, "operator");
  if (spec != NULL) {
    item->domain = spec->domain;
    item->op_type = spec->op_type;
    item->overload = spec->overload;
  } else if (operator!= NULL) {
    item->domain = os_json_string(os_json_member(operator, "domain"));
    item->op_type = os_json_string(os_json_member(operator, "op_type"));
    item->overload = os_json_string(os_json_member(operator, "overload"));
  } else {
    item->problem = OS_STR("the evidence does not say which operator it is about");
  }
  // Evidence for a refused signature is faulty by intention, but has the form of evidence.
  os_expected_error error = os_case_error(item);
  bool may_be_faulty = !broken && error.expected && error.stage <= OS_STAGE_CHECK;
  return faulty && !may_be_faulty ? os_case__fault(self, first, &item->problem) : OS_OK;
}

// ---- Data sets in ONNX's layout ---------------------------------------------------------------------------

static os_str os_case__join(os_arena *arena, os_str folder, os_str rest) {
  return os_arena_format(arena, "%.*s%.*s", OS_ARG(folder), OS_ARG(rest));
}

// The model beside the data sets: model.onnx, else the only .onnx file of that folder.
static os_status os_case__model(os_case__finder *self, const os_bundle *files, os_str folder, os_file *out) {
  OS_TRY(os_bundle_find(files, os_case__join(self->arena, folder, OS_STR("model.onnx")), out));
  if (out->state != OS_FILE_MISSING) return OS_OK;
  const os_file *only = NULL;
  for (size_t i = 0; i < files->count; i++) {
    os_str name = files->files[i].name;
    bool here =
        os_str_starts(name, folder) && memchr(name.data + folder.len, '/', name.len - folder.len) == NULL;
    if (!here || !os_case__ends(name, ".onnx") || os_case__ends(name, "kernel.onnx")) continue;
    if (only != NULL) return OS_OK;
    only = &files->files[i];
  }
  return only == NULL ? OS_OK : os_bundle_find(files, only->name, out);
}

static os_status os_case__add_set(os_case__finder *self, const os_spec *spec, os_str name,
                                  const os_bundle *files, os_str folder, os_str models) {
  os_case *item = OS_PUSH(self->arena, self->out);
  OS_TRY_ALLOC(item);
  *item = (os_case){.name = name, .path = folder, .spec = spec, .files = files, .folder = folder};
  OS_TRY(os_case__model(self, files, models, &item->model));
  os_file output;
  OS_TRY(os_case_file(item, self->arena, "output", 0, &output));
  if (output.state == OS_FILE_MISSING) item->problem = OS_STR("there is no data set with an output_0.pb");
  if (spec != NULL) {
    item->domain = spec->domain;
    item->op_type = spec->op_type;
    item->overload = spec->overload;
  } else if (item->model.state != OS_FILE_BYTES) {
    item->problem = OS_STR("there is no model for this data");
  }
  return OS_OK;
}

// Length of the folder below `folder` that `name` lies in when that is a data set; 0 otherwise.
static size_t os_case__set_of(os_str name, os_str folder, unsigned *number) {
  if (!os_str_starts(name, folder)) return 0;
  os_str rest = os_str_slice(name, folder.len, name.len);
  const char *slash = memchr(rest.data, '/', rest.len);
  if (slash == NULL) return 0;
  size_t length = (size_t)(slash - rest.data);
  return os_data_set_number(os_str_slice(rest, 0, length), number) ? length + 1 : 0;
}

typedef struct os_case__sets {
  struct {
    unsigned number;
    os_str folder; // with its '/'
  } *items;
  size_t count, room;
} os_case__sets;

// Data sets directly below `folder`, by number.
static os_status os_case__list_sets(os_case__finder *self, const os_bundle *files, os_str folder,
                                    os_case__sets *sets) {
  for (size_t i = 0; i < files->count; i++) {
    unsigned number;
    size_t length = os_case__set_of(files->files[i].name, folder, &number);
    if (length == 0) continue;
    os_str set = os_str_slice(files->files[i].name, 0, folder.len + length);
    size_t at = sets->count;
    while (at > 0 && sets->items[at - 1].number > number) at--;
    if (at > 0 && os_str_eq(sets->items[at - 1].folder, set)) continue;
    OS_TRY_ALLOC(OS_PUSH(self->arena, sets));
    memmove(&sets->items[at + 1], &sets->items[at], (sets->count - 1 - at) * sizeof *sets->items);
    sets->items[at].number = number;
    sets->items[at].folder = set;
  }
  return OS_OK;
}

// `folder` (with its '/', or empty) holds data sets, or is one.
static os_status os_case__folder(os_case__finder *self, const os_spec *spec, os_str name,
                                 const os_bundle *files, os_str folder) {
  os_case__sets sets = {0};
  OS_TRY(os_case__list_sets(self, files, folder, &sets));
  for (size_t i = 0; i < sets.count; i++) {
    os_str set = sets.items[i].folder, last = os_str_slice(set, folder.len, set.len - 1);
    os_str title =
        name.len == 0 ? last : os_arena_format(self->arena, "%.*s/%.*s", OS_ARG(name), OS_ARG(last));
    OS_TRY(os_case__add_set(self, spec, title, files, set, folder));
  }
  return sets.count > 0 ? OS_OK : os_case__add_set(self, spec, name, files, folder, folder);
}

static os_status os_case__zip(os_case__finder *self, const os_spec *spec, os_str name, const os_file *file) {
  os_bundle *files = OS_ARENA_NEW(self->arena, os_bundle);
  OS_TRY_ALLOC(files);
  os_str trouble;
  os_status status = os_zip_read(self->arena, file->bytes, 0, files, &trouble);
  if (status == OS_OK) return os_case__folder(self, spec, name, files, (os_str){"", 0});
  if (status == OS_OUT_OF_MEMORY) return status;
  os_case *item = OS_PUSH(self->arena, self->out);
  OS_TRY_ALLOC(item);
  *item = (os_case){.name = name, .path = file->name, .spec = spec, .problem = trouble};
  return OS_OK;
}

// ---- All of a bundle --------------------------------------------------------------------------------------

static os_status os_case__named(os_case__finder *self, const os_bundle *bundle, const os_spec *spec,
                                os_str name) {
  os_file file;
  bool folder;
  OS_TRY(os_evidence_find(bundle, self->arena, spec->folder, name, &file, &folder));
  if (folder) return os_case__folder(self, spec, name, bundle, file.name);
  if (file.state == OS_FILE_BYTES && os_case__ends(file.name, ".zip"))
    return os_case__zip(self, spec, name, &file);
  if (file.state == OS_FILE_BYTES) return os_case__document(self, spec, name, &file);
  os_case *item = OS_PUSH(self->arena, self->out);
  OS_TRY_ALLOC(item);
  *item = (os_case){.name = name, .path = name, .spec = spec};
  item->problem =
      file.state == OS_FILE_MISSING ? OS_STR("the file is not there") : OS_STR("the file cannot be read");
  return OS_OK;
}

// Without a document: every data set and every evidence document.
static os_status os_case__everything(os_case__finder *self, const os_bundle *bundle) {
  os_str last = {NULL, 0};
  for (size_t i = 0; i < bundle->count; i++) {
    os_str name = bundle->files[i].name;
    os_file file;
    if (os_case__ends(name, ".json")) {
      OS_TRY(os_bundle_read(bundle, i, &file));
      if (file.state == OS_FILE_BYTES && strcmp(os_json_kind(file.bytes), "evidence") == 0)
        OS_TRY(os_case__document(self, NULL, name, &file));
    }
    // The folder that holds a data set, once.
    for (size_t at = 0; at < name.len; at++) {
      os_str folder = os_str_slice(name, 0, at);
      unsigned number;
      if (at > 0 && name.data[at - 1] != '/') continue;
      if (os_case__set_of(name, folder, &number) == 0) continue;
      if (last.data == NULL || !os_str_eq(last, folder)) {
        os_str title = folder.len == 0 ? folder : os_str_slice(folder, 0, folder.len - 1);
        OS_TRY(os_case__folder(self, NULL, title, bundle, folder));
        last = folder;
      }
      break;
    }
  }
  return OS_OK;
}

os_status os_cases_find(const os_spec_checker *checker, os_arena *arena, const os_bundle *bundle,
                        const os_spec_list *specs, os_report *report, os_case_list *out) {
  os_case__finder self = {checker, arena, report, out};
  if (specs->count == 0) return os_case__everything(&self, bundle);
  for (size_t i = 0; i < specs->count; i++) {
    OS_JSON_EACH(test, specs->items[i]->tests) {
      if (!os_json_is(test, OS_JSON_STRING)) continue;
      OS_TRY(os_case__named(&self, bundle, specs->items[i], os_json_string(test)));
    }
  }
  return OS_OK;
}

// ---- What a document says ---------------------------------------------------------------------------------

os_expected_error os_case_error(const os_case *self) {
  const os_json *node = os_json_member(self->document.root, "expect_error");
  os_expected_error out = {.expected = node != NULL, .node = node};
  if (os_json_is(node, OS_JSON_STRING)) out.contains = os_json_string(node);
  if (!os_json_is(node, OS_JSON_OBJECT)) return out;
  out.contains = os_json_string(os_json_member(node, "contains"));
  os_str stage = os_json_string(os_json_member(node, "stage"));
  if (os_str_is(stage, "check"))
    out.stage = OS_STAGE_CHECK;
  else if (os_str_is(stage, "infer"))
    out.stage = OS_STAGE_INFER;
  else if (os_str_is(stage, "run"))
    out.stage = OS_STAGE_RUN;
  return out;
}

static double os_case__number(const os_case *self, const os_json *node, double fallback) {
  return os_json_is(node, OS_JSON_NUMBER) ? os_decimal_double(os_json_source(&self->document, node))
                                          : fallback;
}

os_tolerance os_case_tolerance(const os_case *self, size_t output) {
  os_tolerance out = os_tolerance_default();
  if (self->tolerance != NULL) return *self->tolerance;
  if (self->document.root == NULL) {
    out.rtol = 1e-3;
    out.atol = 1e-7;
    out.unsigned_zero = true;
    return out;
  }
  out.shape_only = os_str_is(os_json_string(os_json_member(self->document.root, "compare")), "shape");
  const os_json *node = os_json_member(self->document.root, "tolerance");
  if (os_json_is(node, OS_JSON_ARRAY)) node = os_json_at(node, output);
  out.unsigned_zero = os_json_is(os_json_member(self->document.root, "signed_zero"), OS_JSON_FALSE);
  if (!os_json_is(node, OS_JSON_OBJECT)) return out;
  out.rtol = os_case__number(self, os_json_member(node, "rtol"), out.rtol);
  out.atol = os_case__number(self, os_json_member(node, "atol"), out.atol);
  const os_json *ulp = os_json_member(node, "ulp"), *zero = os_json_member(node, "signed_zero");
  if (os_json_is(ulp, OS_JSON_NUMBER)) {
    double most = os_case__number(self, ulp, 0);
    out.has_ulp = true;
    out.ulp = most < 0 ? 0 : most > 9e18 ? UINT64_MAX : (uint64_t)most;
  }
  if (zero != NULL) out.unsigned_zero = os_json_is(zero, OS_JSON_FALSE);
  return out;
}

os_status os_case_file(const os_case *self, os_arena *arena, const char *stem, size_t index, os_file *out) {
  os_str name = os_arena_format(arena, "%.*s%s_%zu.pb", OS_ARG(self->folder), stem, index);
  return os_bundle_find(self->files, name, out);
}
