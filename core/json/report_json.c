#include "report_json.h"

#include "base64.h"
#include "json_write.h"

#include <stdio.h>

// Members of an object, with the commas between them.
typedef struct os_members {
  os_text *out;
  bool any;
} os_members;

// Keys are ASCII and need no escapes.
static void os_members__key(os_members *self, const char *key) {
  size_t len = strlen(key);
  char *to = os_text_extend(self->out, len + 4);
  if (to == NULL) return;
  to[0] = self->any ? ',' : '{';
  to[1] = '"';
  os_bytes_copy(to + 2, key, len);
  to[len + 2] = '"';
  to[len + 3] = ':';
  self->any = true;
}

static void os_members__string(os_members *self, const char *key, os_str value) {
  os_members__key(self, key);
  os_json_write_string(self->out, value);
}

static void os_members__text(os_members *self, const char *key, const char *value) {
  os_members__string(self, key, os_str_of(value));
}

static void os_members__bool(os_members *self, const char *key, bool value) {
  os_members__key(self, key);
  os_text_puts(self->out, value ? "true" : "false");
}

static void os_members__number(os_members *self, const char *key, uint64_t value) {
  char room[20], *at = room + sizeof room;
  do *--at = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  os_members__key(self, key);
  os_text_put(self->out, (os_str){at, (size_t)(room + sizeof room - at)});
}

static void os_members__end(os_members *self) {
  if (!self->any) os_text_char(self->out, '{');
  os_text_char(self->out, '}');
}

static const char *const severities[] = {"error", "warning", "info"};

static void os_report__position(os_members *parent, const char *key, const os_position *position) {
  os_members__key(parent, key);
  os_members members = {parent->out, false};
  os_members__number(&members, "line", position->line);
  os_members__number(&members, "column", position->column);
  os_members__number(&members, "byte", position->byte);
  os_members__number(&members, "utf16", position->utf16);
  os_members__end(&members);
}

static void os_report__where(os_members *self, const os_where *where) {
  if (where->file.len > 0) os_members__string(self, "file", where->file);
  if (where->path.len > 0) os_members__string(self, "path", where->path);
  if (where->has_pointer) os_members__string(self, "pointer", where->pointer);
  if (where->has_range && where->located) {
    os_members__key(self, "range");
    os_members range = {self->out, false};
    os_report__position(&range, "start", &where->from);
    os_report__position(&range, "end", &where->to);
    os_members__end(&range);
  } else if (where->has_range && where->binary) {
    os_members__key(self, "bytes");
    os_text_format(self->out, "[%llu,%llu]", (unsigned long long)where->range.start,
                   (unsigned long long)where->range.end);
  }
}

static void os_report__base64(os_text *out, os_str bytes) {
  os_text_char(out, '"');
  os_base64_write(out, bytes);
  os_text_char(out, '"');
}

static void os_report__fix(os_members *parent, const os_fix *fix) {
  os_members__key(parent, "fix");
  os_members self = {parent->out, false};
  os_members__string(&self, "title", fix->title);
  os_members__bool(&self, "safe", fix->safe);
  os_members__key(&self, "edits");
  os_text_char(self.out, '[');
  for (size_t i = 0; i < fix->edits.count; i++) {
    const os_edit *edit = &fix->edits.items[i];
    if (i > 0) os_text_char(self.out, ',');
    os_members members = {self.out, false};
    if (edit->file.len > 0) os_members__string(&members, "file", edit->file);
    os_members__number(&members, "byteStart", edit->byte_start);
    os_members__number(&members, "byteEnd", edit->byte_end);
    os_members__key(&members, edit->binary ? "base64" : "text");
    if (edit->binary)
      os_report__base64(self.out, edit->text);
    else
      os_json_write_string(self.out, edit->text);
    os_members__end(&members);
  }
  os_text_char(self.out, ']');
  os_members__end(&self);
}

static void os_report__node(os_members *parent, const os_finding *finding) {
  os_members__key(parent, "node");
  os_members self = {parent->out, false};
  os_members__number(&self, "index", finding->node.index);
  os_members__string(&self, "name", finding->node.name);
  os_members__string(&self, "opType", finding->node.op_type);
  os_members__string(&self, "domain", finding->node.domain);
  os_members__end(&self);
}

static void os_report__related(os_members *parent, const os_finding *finding) {
  os_members__key(parent, "related");
  os_text_char(parent->out, '[');
  for (size_t i = 0; i < finding->related.count; i++) {
    const os_related *related = &finding->related.items[i];
    if (i > 0) os_text_char(parent->out, ',');
    os_members self = {parent->out, false};
    os_members__string(&self, "message", related->message);
    os_report__where(&self, &related->where);
    os_members__end(&self);
  }
  os_text_char(parent->out, ']');
}

static void os_report__finding(os_text *out, const os_finding *finding) {
  os_members self = {out, false};
  os_members__text(&self, "rule", finding->rule->id);
  os_members__text(&self, "severity", severities[finding->severity]);
  os_members__string(&self, "message", finding->message);
  os_report__where(&self, &finding->where);
  if (finding->has_node) os_report__node(&self, finding);
  if (finding->expected.data != NULL) os_members__string(&self, "expected", finding->expected);
  if (finding->actual.data != NULL) os_members__string(&self, "actual", finding->actual);
  os_report__related(&self, finding);
  if (finding->fix != NULL) os_report__fix(&self, finding->fix);
  os_members__key(&self, "fingerprint");
  os_text_format(out, "\"%016llx\"", (unsigned long long)os_finding_fingerprint(finding));
  os_members__end(&self);
}

static void os_report__findings(os_text *out, const os_report *report) {
  os_text_char(out, '[');
  for (size_t i = 0; i < report->findings.count; i++) {
    if (i > 0) os_text_char(out, ',');
    os_report__finding(out, report->findings.items[i]);
  }
  os_text_char(out, ']');
}

os_status os_report_write_findings(os_text *out, const os_report *report) {
  os_report__findings(out, report);
  return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

// The same as below of a report that has nothing to tell, as most have: one text but for the kind.
static void os_report__write_clean(os_text *out, os_str kind) {
  os_text_puts(out, "{\"ok\":true,\"complete\":true,\"incomplete\":[],\"kind\":");
  os_json_write_string(out, kind);
  os_text_puts(
      out, ",\"counts\":{\"error\":0,\"warning\":0,\"info\":0},\"findings\":[],\"rules\":\"" OS_RULES_VERSION
           "\"}");
}

os_status os_report_write(os_text *out, const os_report *report) {
  os_members self = {out, false};
  uint32_t told = report->counts[OS_ERROR] + report->counts[OS_WARNING] + report->counts[OS_INFO];
  if (os_report_ok(report) && told == 0 && report->kind.len > 0) {
    os_report__write_clean(out, report->kind);
    return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
  }
  os_members__bool(&self, "ok", os_report_ok(report));
  os_members__bool(&self, "complete", report->incomplete.count == 0 && report->status == OS_OK);
  os_members__key(&self, "incomplete");
  os_text_char(out, '[');
  for (size_t i = 0; i < report->incomplete.count; i++) {
    if (i > 0) os_text_char(out, ',');
    os_json_write_string(out, report->incomplete.items[i]);
  }
  os_text_char(out, ']');
  os_members__string(&self, "kind", report->kind.len > 0 ? report->kind : OS_STR("unknown"));
  os_members__key(&self, "counts");
  os_members counts = {out, false};
  for (int i = OS_ERROR; i <= OS_INFO; i++) os_members__number(&counts, severities[i], report->counts[i]);
  os_members__end(&counts);
  os_members__key(&self, "findings");
  os_report__findings(out, report);
  os_members__text(&self, "rules", OS_RULES_VERSION);
  os_members__end(&self);
  return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_rule_write(os_text *out, const os_rule *rule, const char *texts) {
  static const char *const names[] = {"title", "why", "good", "bad", "source"};
  enum { NAMES = sizeof names / sizeof *names };
  os_members self = {out, false};
  os_members__text(&self, "rule", rule->id);
  os_members__text(&self, "severity", severities[rule->severity]);
  const char *text = texts;
  for (size_t skip = (size_t)rule->text * NAMES; skip > 0; skip--) text += strlen(text) + 1;
  for (size_t i = 0; i < NAMES; i++, text += strlen(text) + 1) os_members__text(&self, names[i], text);
  os_members__end(&self);
  return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}
