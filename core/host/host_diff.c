#include "compare.h"
#include "host.h"
#include "json_write.h"
#include "message_diff.h"
#include "value_proto.h"

// Two documents of one kind, compared.

enum {
  CHANGES = 10000,
  OPERATORS = 8, // of an operator set: they are compared by whoever knows what their versions mean
};

// One of both, with the files beside it.
typedef struct os_host__side {
  os_document *document;
  os_host_files files;
} os_host__side;

static os_status os_host__open_side(opspec_env *self, os_str bytes, os_kind kind, char side, bool files,
                                    os_host__side *out) {
  os_report report;
  os_report_init(&report, &self->scratch, false, self->limits.findings);
  os_source source = os_source_memory(bytes.data, bytes.len);
  os_document_options options = {.as = kind, .limits = &self->limits};
  OS_TRY(os_host_files_open(&out->files, self, &self->scratch, &(opspec_files){.given = files}));
  out->files.side = side;
  options.external = out->files.external;
  os_status status = os_document_open(&self->memory, &source, &options, &report, &out->document);
  if (status == OS_OK) return OS_OK;
  out->document = NULL;
  os_str why =
      report.findings.count > 0 ? report.findings.items[0]->message : os_str_of(os_status_text(status));
  os_str message = os_arena_format(&self->scratch, "%c: %.*s", side, OS_ARG(why));
  return os_host_fail(self, status, message, (os_str){"", 0}, &report);
}

static void os_host__write_number(os_text *out, const char *name, double value) {
  os_text_format(out, ",\"%s\":", name);
  os_json_write_double(out, value);
}

// { kind, within, path, message, ... } of values that are not the same; nothing of those that are, or that cannot be read.
static os_status os_host__diff_values(opspec_env *self, os_document *a, os_document *b) {
  static const char *const kinds[] = {"", "kind", "type", "shape", "count", "empty", "key", "elements"};
  op_value *x = NULL, *y = NULL;
  os_tolerance exact = {0}, usual = os_tolerance_default();
  os_difference difference = {0}, grave = {0};
  os_text *out = &self->output;
  os_status status = os_value_read(a, &self->memory, self->types, 0, &x, NULL);
  if (status == OS_OK) status = os_value_read(b, &self->memory, self->types, 0, &y, NULL);
  bool read = status == OS_OK;
  if (read) status = os_value_compare(&self->scratch, y, x, &exact, &difference);
  if (read && status == OS_OK) status = os_value_compare(&self->scratch, y, x, &usual, &grave);
  os_text_format(out, "{\"read\":%s", read ? "true" : "false");
  if (read && status == OS_OK && difference.kind != OS_SAME) {
    const os_difference *told = grave.kind != OS_SAME ? &grave : &difference;
    os_text_format(out, ",\"kind\":\"%s\",\"within\":%s,", kinds[told->kind],
                   grave.kind == OS_SAME ? "true" : "false");
    os_host_write_member(out, "path", told->path);
    os_text_char(out, ',');
    os_host_write_member(out, "message", os_difference_print(told, &self->scratch, self->types));
    if (told->kind == OS_DIFFERS_VALUE) {
      os_host__write_number(out, "first", (double)told->first);
      os_host__write_number(out, "differing", (double)told->differing);
      os_host__write_number(out, "count", (double)told->count);
    }
    if (told->kind == OS_DIFFERS_VALUE && told->has_metrics) {
      os_host__write_number(out, "maxAbs", told->max_abs);
      os_host__write_number(out, "maxRel", told->max_rel);
      os_host__write_number(out, "maxUlp", (double)told->max_ulp);
    }
  }
  os_text_char(out, '}');
  op_value_release(x);
  op_value_release(y);
  return status == OS_OUT_OF_MEMORY || read ? status : OS_OK;
}

static void os_host__write_unread(os_text *out, const os_message_diff *diff) {
  if (diff->unread == 0) return;
  os_text_format(out, ",\"unread\":{\"count\":%zu,", diff->unread);
  os_host_write_member(out, "path", diff->unread_path);
  os_text_char(out, ',');
  os_host_write_member(out, "why", diff->unread_why);
  os_text_char(out, '}');
}

static void os_host__write_changes(os_text *out, const os_message_diff *diff) {
  static const char *const kinds[] = {"added", "removed", "changed", "order"};
  os_text_puts(out, "\"changes\":[");
  for (size_t i = 0; i < diff->changes.count; i++) {
    const os_change *change = &diff->changes.items[i];
    os_text_format(out, "%s{\"change\":\"%s\",", i == 0 ? "" : ",", kinds[change->kind]);
    os_host_write_member(out, "path", change->path);
    os_text_char(out, ',');
    os_host_write_member(out, "message", change->message);
    os_text_char(out, '}');
  }
  os_text_format(out, "],\"left\":%zu", diff->left);
}

static os_status os_host__diff(opspec_env *self, os_document *a, os_document *b, double timeout) {
  os_stop stop = os_host_stop(self, timeout);
  os_message_diff diff = {.memory = &self->memory,
                          .arena = &self->scratch,
                          .types = self->types,
                          .stop = &stop,
                          .limit = CHANGES,
                          .skip = a->kind == OS_KIND_OPERATOR_SET ? OPERATORS : 0};
  OS_TRY(os_message_diff_run(&diff, a, b));
  os_text_char(&self->output, '{');
  os_host__write_changes(&self->output, &diff);
  os_host__write_unread(&self->output, &diff);
  if (a->kind >= OS_KIND_TENSOR && a->kind <= OS_KIND_OPTIONAL) {
    os_text_puts(&self->output, ",\"value\":");
    OS_TRY(os_host__diff_values(self, a, b));
  }
  os_text_char(&self->output, '}');
  return OS_OK;
}

os_status opspec_diff(opspec_env *self, os_str a, os_str b, os_str as, const bool files[2],
                      double timeout_ms) {
  os_host_begin(self);
  os_kind kind = os_kind_find(as);
  if (kind == OS_KIND_UNKNOWN) {
    os_str message = os_arena_format(&self->scratch, "as: \"%.*s\" is no document", OS_ARG(as));
    return os_host_fail(self, OS_INVALID_ARGUMENT, message, (os_str){"", 0}, NULL);
  }
  os_host__side sides[2] = {0};
  os_status status = os_host__open_side(self, a, kind, 'a', files[0], &sides[0]);
  if (status == OS_OK) status = os_host__open_side(self, b, kind, 'b', files[1], &sides[1]);
  if (status == OS_OK) {
    status = os_host__diff(self, sides[0].document, sides[1].document, timeout_ms);
    status = status == OS_OK ? os_host_end(self)
                             : os_host_fail(self, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
  }
  for (size_t i = 0; i < 2; i++) {
    os_document_close(sides[i].document);
    os_host_files_close(&sides[i].files);
  }
  return status;
}
