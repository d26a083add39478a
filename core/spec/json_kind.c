// What a JSON text is, found without building nodes.
#include "spec.h"

static size_t os_kind__white(os_str text, size_t at) {
  while (at < text.len && strchr(" \t\r\n", text.data[at]) != NULL && text.data[at] != 0) at++;
  return at;
}

// at = the opening quotation mark; answers the place behind the closing one.
static size_t os_kind__string(os_str text, size_t at) {
  for (at++; at < text.len && text.data[at] != '"'; at++)
    if (text.data[at] == '\\') at++;
  return at < text.len ? at + 1 : text.len;
}

// The value of the outermost object's member "kind" as written between its quotation marks; empty when there is none.
static os_str os_kind__value(os_str text, size_t at) {
  size_t depth = 0;
  while (at < text.len) {
    char c = text.data[at];
    if (c == '{' || c == '[') depth++;
    if (c == '}' || c == ']') depth--;
    if (depth == 0) break;
    if (c != '"') {
      at++;
      continue;
    }
    size_t end = os_kind__string(text, at);
    bool kind = depth == 1 && end - at == 6 && memcmp(text.data + at, "\"kind\"", 6) == 0;
    at = os_kind__white(text, end);
    if (!kind || at >= text.len || text.data[at] != ':') continue;
    at = os_kind__white(text, at + 1);
    if (at >= text.len || text.data[at] != '"') return OS_STR("");
    end = os_kind__string(text, at);
    return end - at >= 2 ? os_str_slice(text, at + 1, end - 1) : OS_STR("");
  }
  return OS_STR("");
}

const char *os_json_kind(os_str text) {
  size_t at = text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  at = os_kind__white(text, at);
  if (at >= text.len || strchr("{[\"-0123456789tfn", text.data[at]) == NULL || text.data[at] == 0)
    return "unknown";
  if (text.data[at] != '{') return "json";
  os_str kind = os_kind__value(text, at);
  if (os_str_is(kind, OS_SPEC_KIND)) return "spec";
  return os_str_is(kind, OS_EVIDENCE_KIND) ? "evidence" : "json";
}
