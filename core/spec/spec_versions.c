#include "spec_versions.h"

typedef struct os_version_reader {
  os_str text;
  size_t at;
} os_version_reader;

static char os_version__peek(const os_version_reader *self) {
  return self->at < self->text.len ? self->text.data[self->at] : 0;
}
static char os_version__lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }
static bool os_version__digit(char c) { return c >= '0' && c <= '9'; }
static bool os_version__word(char c) {
  return os_version__digit(c) || (os_version__lower(c) >= 'a' && os_version__lower(c) <= 'z');
}

static bool os_version__take(os_version_reader *self, char c) {
  if (os_version__peek(self) != c || c == 0) return false;
  self->at++;
  return true;
}

static bool os_version__number(os_version_reader *self) {
  size_t start = self->at;
  while (os_version__digit(os_version__peek(self))) self->at++;
  return self->at > start;
}

// The longest of the words that stands here, in any case; none: nothing is taken.
static bool os_version__one_of(os_version_reader *self, const char *const *words) {
  size_t best = 0;
  for (; *words != NULL; words++) {
    size_t len = strlen(*words), i = 0;
    while (i < len && self->at + i < self->text.len &&
           os_version__lower(self->text.data[self->at + i]) == (*words)[i])
      i++;
    if (i == len && len > best) best = len;
  }
  self->at += best;
  return best > 0;
}

static bool os_version__separator(os_version_reader *self) {
  return os_version__take(self, '.') || os_version__take(self, '-') || os_version__take(self, '_');
}

// [separator] word [separator] [number]; leaves the reader where it was when there is no such word.
static void os_version__suffix(os_version_reader *self, const char *const *words) {
  size_t start = self->at;
  os_version__separator(self);
  if (!os_version__one_of(self, words)) {
    self->at = start;
    return;
  }
  size_t behind = self->at;
  os_version__separator(self);
  if (!os_version__number(self)) self->at = behind;
}

static bool os_version__pep440(os_str version) {
  static const char *const pre[] = {"a", "b", "c", "rc", "alpha", "beta", "pre", "preview", NULL};
  static const char *const post[] = {"post", "rev", "r", NULL}, *const dev[] = {"dev", NULL};
  os_version_reader reader = {version, 0};
  if (os_version__lower(os_version__peek(&reader)) == 'v') reader.at++;
  if (!os_version__number(&reader)) return false;
  if (os_version__take(&reader, '!') && !os_version__number(&reader)) return false;
  for (;;) {
    size_t start = reader.at;
    if (os_version__take(&reader, '.') && os_version__number(&reader)) continue;
    reader.at = start;
    break;
  }
  os_version__suffix(&reader, pre);
  size_t start = reader.at;
  if (!os_version__take(&reader, '-') || !os_version__number(&reader))
    reader.at = start; // 1.0-1 is 1.0.post1
  if (reader.at == start) os_version__suffix(&reader, post);
  os_version__suffix(&reader, dev);
  if (os_version__take(&reader, '+')) {
    do {
      if (!os_version__word(os_version__peek(&reader))) return false;
      while (os_version__word(os_version__peek(&reader))) reader.at++;
    } while (os_version__separator(&reader));
  }
  return reader.at == version.len;
}

static bool os_version__core_number(os_version_reader *self) {
  size_t start = self->at;
  return os_version__number(self) && (self->at - start == 1 || self->text.data[start] != '0');
}

// Dotted words after - or +; in pre-releases a number has no leading zero.
static bool os_version__identifiers(os_version_reader *self, bool numbers) {
  do {
    size_t start = self->at;
    bool digits = true;
    while (os_version__word(os_version__peek(self)) || os_version__peek(self) == '-')
      digits &= os_version__digit(self->text.data[self->at++]);
    if (self->at == start) return false;
    if (numbers && digits && self->at - start > 1 && self->text.data[start] == '0') return false;
  } while (os_version__take(self, '.'));
  return true;
}

static bool os_version__semver(os_str version) {
  os_version_reader reader = {version, 0};
  for (int i = 0; i < 3; i++) {
    if (i > 0 && !os_version__take(&reader, '.')) return false;
    if (!os_version__core_number(&reader)) return false;
  }
  if (os_version__take(&reader, '-') && !os_version__identifiers(&reader, true)) return false;
  if (os_version__take(&reader, '+') && !os_version__identifiers(&reader, false)) return false;
  return reader.at == version.len;
}

// An integer is PEP 440, too.
bool os_version_known(os_str version) { return os_version__pep440(version) || os_version__semver(version); }

os_release os_release_of(os_str version) {
  os_release release = {0};
  os_version_reader reader = {version, 0};
  size_t start = 0;
  if (os_version__number(&reader) && os_version__take(&reader, '!')) start = reader.at; // the epoch
  reader.at = start;
  while (os_version__digit(os_version__peek(&reader))) {
    uint64_t value = 0;
    while (os_version__digit(os_version__peek(&reader)) && value < 1000000)
      value = value * 10 + (uint64_t)(reader.text.data[reader.at++] - '0');
    if (release.parts++ == 0) release.major = value;
    if (!os_version__take(&reader, '.')) break;
  }
  for (size_t i = 0; i < version.len; i++) {
    if (version.data[i] == '+') release.local = true;
    if (!release.local && version.len - i >= 4 && memcmp(version.data + i, ".dev", 4) == 0)
      release.development = true;
  }
  return release;
}
