#include "report_json.h"
#include "utf8.h"

// Words are written on a first walk over the report, the texts that they measure on a second one.
typedef struct os_pack {
  os_text *out;
  bool texts;
} os_pack;

static const uint32_t NONE = UINT32_MAX;

static void os_pack__number(const os_pack *self, uint64_t value) {
  if (self->texts) return;
  uint32_t word = (uint32_t)value;
  char *to = os_text_extend(self->out, sizeof word);
  if (to != NULL) memcpy(to, &word, sizeof word);
}

static void os_pack__text(const os_pack *self, os_str text) {
  if (self->texts)
    os_text_put(self->out, text);
  else
    os_pack__number(self, text.len);
}

static void os_pack__optional(const os_pack *self, bool there, os_str text) {
  if (there)
    os_pack__text(self, text);
  else
    os_pack__number(self, NONE);
}

static void os_pack__where(const os_pack *self, const os_where *where) {
  os_pack__optional(self, where->file.len > 0, where->file);
  os_pack__optional(self, where->has_pointer, where->pointer);
  bool range = where->has_range && where->located;
  os_pack__number(self, range ? where->from.line : NONE);
  if (!range) return;
  os_pack__number(self, where->from.column);
  os_pack__number(self, where->from.byte);
  os_pack__number(self, where->from.utf16);
  os_pack__number(self, where->to.line);
  os_pack__number(self, where->to.column);
  os_pack__number(self, where->to.byte);
  os_pack__number(self, where->to.utf16);
}

static void os_pack__fix(const os_pack *self, const os_fix *fix) {
  os_pack__optional(self, fix != NULL, fix == NULL ? OS_STR("") : fix->title);
  if (fix == NULL) return;
  os_pack__number(self, fix->safe);
  os_pack__number(self, fix->edits.count);
  for (size_t i = 0; i < fix->edits.count; i++) {
    const os_edit *edit = &fix->edits.items[i];
    os_pack__optional(self, edit->file.len > 0, edit->file);
    os_pack__number(self, edit->byte_start);
    os_pack__number(self, edit->byte_end);
    os_pack__text(self, edit->text);
  }
}

static void os_pack__finding(const os_pack *self, const os_finding *finding) {
  static const char digits[] = "0123456789abcdef";
  char fingerprint[16];
  uint64_t rest = self->texts ? os_finding_fingerprint(finding) : 0;
  for (size_t i = sizeof fingerprint; i-- > 0; rest >>= 4) fingerprint[i] = digits[rest & 15];
  os_pack__text(self, os_str_of(finding->rule->id));
  os_pack__number(self, finding->severity);
  os_pack__text(self, finding->message);
  os_pack__where(self, &finding->where);
  os_pack__optional(self, finding->expected.data != NULL, finding->expected);
  os_pack__optional(self, finding->actual.data != NULL, finding->actual);
  os_pack__number(self, finding->related.count);
  for (size_t i = 0; i < finding->related.count; i++) {
    os_pack__text(self, finding->related.items[i].message);
    os_pack__where(self, &finding->related.items[i].where);
  }
  os_pack__fix(self, finding->fix);
  os_pack__text(self, (os_str){fingerprint, sizeof fingerprint});
}

static void os_pack__report(const os_pack *self, const os_report *report) {
  os_pack__number(self, os_report_ok(report));
  os_pack__number(self, report->incomplete.count == 0 && report->status == OS_OK);
  os_pack__number(self, report->incomplete.count);
  for (size_t i = 0; i < report->incomplete.count; i++) os_pack__text(self, report->incomplete.items[i]);
  os_pack__text(self, report->kind.len > 0 ? report->kind : OS_STR("unknown"));
  for (int i = OS_ERROR; i <= OS_INFO; i++) os_pack__number(self, report->counts[i]);
  os_pack__text(self, OS_STR(OS_RULES_VERSION));
  os_pack__number(self, report->findings.count);
  for (size_t i = 0; i < report->findings.count; i++) os_pack__finding(self, report->findings.items[i]);
}

static bool os_pack__holds_where(const os_where *where) { return where->path.len == 0 && !where->binary; }

static bool os_pack__holds(const os_finding *finding) {
  if (finding->has_node || !os_pack__holds_where(&finding->where)) return false;
  for (size_t i = 0; i < finding->related.count; i++)
    if (!os_pack__holds_where(&finding->related.items[i].where)) return false;
  for (size_t i = 0; finding->fix != NULL && i < finding->fix->edits.count; i++)
    if (finding->fix->edits.items[i].binary) return false;
  return true;
}

bool os_report_pack(os_text *out, const os_report *report) {
  uint32_t head[2] = {0};
  size_t start = out->len;
  for (size_t i = 0; i < report->findings.count; i++)
    if (!os_pack__holds(report->findings.items[i])) return false;
  if (report->findings.count == 0) return false;
  os_text_put(out, (os_str){(const char *)head, sizeof head});
  os_pack__report(&(os_pack){out, false}, report);
  size_t words = out->len - start;
  os_pack__report(&(os_pack){out, true}, report);
  if (out->failed) return true;
  head[1] = (uint32_t)(words / sizeof *head);
  memcpy(out->data + start, head, sizeof head);
  os_str texts = {out->data + start + words, out->len - start - words};
  if (os_utf8_valid(texts) == texts.len) return true;
  out->len = start; // JSON has escapes for what is no UTF-8
  return false;
}
