#ifndef OPSPEC_REPORT_JSON_H
#define OPSPEC_REPORT_JSON_H

#include "report.h"
#include "text.h"

// Version of the rule set: an id never changes its meaning; new rules enter as warnings for one minor version.
#define OS_RULES_VERSION "1.0.0"

// A finished report as the JSON that JavaScript reads: { ok, complete, incomplete, kind, counts, findings, rules } with
// the members of a finding as they are named in the package's types. `text` of an edit of a binary is base64 and is
// called `base64` there. OS_OUT_OF_MEMORY when `out` has failed.
os_status os_report_write(os_text *out, const os_report *report);
// The same in words of 32 bits, which are read faster: 0, the number of words, then `ok`, `complete`, the texts of
// `incomplete`, `kind`, the counts, `rules`, the findings; lists begin with their length, and of a text there is its
// length in bytes. All texts stand one after the other behind the words, in UTF-8. A member that is absent is UINT32_MAX:
// of a range its first line, of a fix its title. False, and nothing written, for what has no place there: no finding at
// all, places and edits in binaries, texts that are no UTF-8.
bool os_report_pack(os_text *out, const os_report *report);
// Only the findings, as a JSON array.
os_status os_report_write_findings(os_text *out, const os_report *report);
// A rule as { rule, severity, title, why, good, bad, source }. `texts`: os_rule_texts (rule_texts.h).
os_status os_rule_write(os_text *out, const os_rule *rule, const char *texts);

#endif
