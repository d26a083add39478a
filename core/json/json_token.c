// Strings, numbers, and containers that are only checked.
#include "decimal.h"
#include "json_rules.h"
#include "json_scan.h"
#include "text_class.h"
#include "utf8.h"

// What stands for a character behind a backslash; 0: no such escape.
static const char escapes[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                  ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};

// p behind the backslash. Answers the place behind the escape, or NULL.
static const char *os_scan__check_escape(os_scan *self, const char *p) {
  if (p < self->end && escapes[(unsigned char)*p] != 0) return p + 1;
  if (p >= self->end || *p != 'u') {
    os_scan_fail(self, p, "one of \" \\ / b f n r t u", "A backslash itself is written twice.");
    return NULL;
  }
  for (int i = 1; i <= 4; i++) {
    if (p + i < self->end && os_hex_digit(p[i]) >= 0) continue;
    os_scan_fail(self, p + i, "a hexadecimal digit", NULL);
    return NULL;
  }
  return p + 5;
}

static uint32_t os_scan__unit(const char *hex) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; i++) unit = unit << 4 | (uint32_t)os_hex_digit(hex[i]);
  return unit;
}

static void os_scan__lone(os_scan *self, const os_json *node, const char *at) {
  if (self->report == NULL) return;
  os_finding *finding =
      os_report_add(self->report, &os_rule_json_surrogate,
                    "\"%.6s\" is half of a surrogate pair; write both halves or the character itself.", at);
  if (node != NULL) os_where_pointer(&finding->where, os_json_pointer(self->arena, node));
  finding->where.file = self->document->file;
  finding->expected = OS_STR("a pair: \\uD800 to \\uDBFF, then \\uDC00 to \\uDFFF");
  finding->actual = (os_str){at, 6};
  os_where_range(&finding->where, (uint64_t)(at - self->text), (uint64_t)(at + 6 - self->text));
}

// p at the 'u' of a checked escape; writes its character and answers the place behind it.
static const char *os_scan__unicode(os_scan *self, const os_json *node, const char *p, char **to) {
  uint32_t c = os_scan__unit(p + 1);
  const char *next = p + 5;
  if (c >= 0xd800 && c < 0xe000) {
    bool pair = c < 0xdc00 && next[0] == '\\' && next[1] == 'u';
    uint32_t low = pair ? os_scan__unit(next + 2) : 0;
    if (low >= 0xdc00 && low < 0xe000) {
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      next += 6;
    } else {
      os_scan__lone(self, node, p - 1);
      c = 0xfffd;
    }
  }
  *to += os_utf8_put(*to, c);
  return next;
}

// The checked string between the quotation marks, decoded into the arena. It never grows: an escape has at least two
// bytes, and \uXXXX gives at most three.
static bool os_scan__decode(os_scan *self, const os_json *node, const char *p, const char *end, os_str *out) {
  char *start = os_arena_alloc(self->arena, (size_t)(end - p)), *to = start;
  if (start == NULL) return os_scan_memory(self);
  while (p < end) {
    if (*p != '\\') {
      const char *slash = memchr(p, '\\', (size_t)(end - p));
      size_t plain = (size_t)((slash == NULL ? end : slash) - p);
      memcpy(to, p, plain);
      to += plain;
      if (slash == NULL) break;
      p = slash;
    }
    p++;
    if (*p == 'u') {
      p = os_scan__unicode(self, node, p, &to);
      continue;
    }
    *to++ = escapes[(unsigned char)*p++];
  }
  *out = (os_str){start, (size_t)(to - start)};
  return true;
}

bool os_scan_any_string(os_scan *self, const os_json *node, os_str *out) {
  const char *start = self->p + 1, *p = start;
  bool escaped = false;
  for (;;) {
    if (p >= self->end || *p != '\\') p = os_scan_plain(p, self->end);
    if (p >= self->end) return os_scan_fail(self, p, "the quotation mark that ends the string", NULL);
    if (*p == '"') break;
    if (*p != '\\')
      return os_scan_fail(self, p, "a character of the string",
                          "Control characters are written as escapes such as \\n.");
    escaped = true;
    p = os_scan__check_escape(self, p + 1);
    if (p == NULL) return false;
  }
  self->p = p + 1;
  if (escaped) return os_scan__decode(self, node, start, p, out);
  *out = (os_str){start, (size_t)(p - start)};
  return true;
}

static inline const char *os_scan__digits(const char *p, const char *end) {
  while (p < end && *p >= '0' && *p <= '9') p++;
  return p;
}

// Powers that a binary64 holds exactly.
static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Numbers of up to 15 digits and small exponents need one exact multiplication or division.
static double os_scan__double(const char *start, const char *end) {
  uint64_t mantissa = 0;
  int digits = 0, exponent = 0;
  const char *p = start + (*start == '-');
  bool fraction = false;
  for (; p < end && (*p | 0x20) != 'e'; p++) {
    if (*p == '.')
      fraction = true;
    else {
      mantissa = mantissa * 10 + (uint64_t)(*p - '0');
      digits += digits > 0 || *p != '0';
      exponent -= fraction;
      if (digits > 15) return os_decimal_double((os_str){start, (size_t)(end - start)});
    }
  }
  if (p < end) {
    bool minus = p[1] == '-';
    int written = 0;
    for (p += 1 + (p[1] == '-' || p[1] == '+'); p < end && written < 1000; p++)
      written = written * 10 + (*p - '0');
    exponent += minus ? -written : written;
    if (p < end) exponent = 9999;
  }
  if (exponent < -22 || exponent > 22) return os_decimal_double((os_str){start, (size_t)(end - start)});
  double value = (double)mantissa;
  value = exponent < 0 ? value / tens[-exponent] : value * tens[exponent];
  return *start == '-' ? -value : value;
}

static bool os_scan__check_number(os_scan *self, bool *integer) {
  const char *p = self->p, *end = self->end;
  *integer = true;
  if (*p == '-') p++;
  if (p >= end || *p < '0' || *p > '9') return os_scan_fail(self, p, "a digit", NULL);
  if (*p == '0') {
    p++;
    if (p < end && *p >= '0' && *p <= '9')
      return os_scan_fail(self, p, "\".\", an exponent or the end of the number",
                          "Numbers have no leading zeros.");
  } else
    p = os_scan__digits(p, end);
  if (p < end && *p == '.') {
    *integer = false;
    const char *digits = ++p;
    p = os_scan__digits(p, end);
    if (p == digits) return os_scan_fail(self, p, "a digit", NULL);
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    *integer = false;
    p++;
    if (p < end && (*p == '+' || *p == '-')) p++;
    const char *digits = p;
    p = os_scan__digits(p, end);
    if (p == digits) return os_scan_fail(self, p, "a digit", NULL);
  }
  self->p = p;
  return true;
}

static void os_scan__put_number(os_json *node, double value) {
  node->item.type = cJSON_Number;
  node->item.valuedouble = value;
  node->item.valueint = value >= 2147483647.0    ? 2147483647
                        : value <= -2147483648.0 ? -2147483647 - 1
                                                 : (int)value;
}

// Up to 15 digits, perhaps with a point, and no exponent: most numbers. False: the general way has to look.
static inline bool os_scan__small_number(os_scan *self, os_json *node) {
  const char *start = self->p, *p = start + (*start == '-'), *digits = p;
  if (self->end - p < 36 || (*p == '0' && p[1] != '.')) return false;
  uint64_t value = 0; // wraps where there are more digits, which is not used then
  while (*p >= '0' && *p <= '9' && p - digits < 16) value = value * 10 + (*p++ - '0');
  size_t count = (size_t)(p - digits), behind = 0;
  if (count == 0) return false;
  if (*p == '.') {
    const char *point = ++p;
    while (*p >= '0' && *p <= '9' && p - point < 16) value = value * 10 + (*p++ - '0');
    behind = (size_t)(p - point);
    if (behind == 0) return false;
  }
  if (count + behind > 15 || (*p | 0x20) == 'e') return false;
  if (behind == 0) node->flags |= OS_JSON_INTEGER;
  double number = behind == 0 ? (double)value : (double)value / tens[behind];
  self->p = p;
  os_scan__put_number(node, *start == '-' ? -number : number);
  return true;
}

bool os_scan_number(os_scan *self, os_json *node) {
  const char *start = self->p;
  bool integer;
  if (os_scan__small_number(self, node)) return true;
  if (!os_scan__check_number(self, &integer)) return false;
  if (integer) node->flags |= OS_JSON_INTEGER;
  os_scan__put_number(node, os_scan__double(start, self->p));
  return true;
}

// ---- Containers beyond the depth limit: one bit per open one, set for objects -----------------------------

typedef struct os_scan_bits {
  unsigned char *items;
  size_t count, room; // in bits; bytes
} os_scan_bits;

static bool os_scan__room(os_scan *self, os_scan_bits *bits) {
  if (bits->count / 8 < bits->room) return true;
  size_t room = bits->room == 0 ? 64 : bits->room * 2;
  unsigned char *items = os_arena_grow(self->arena, bits->items, bits->room, room);
  if (items == NULL) return os_scan_memory(self);
  bits->items = items;
  bits->room = room;
  return true;
}

static bool os_scan__push(os_scan *self, os_scan_bits *bits, bool object) {
  if (!os_scan__room(self, bits)) return false;
  unsigned char bit = (unsigned char)(1u << (bits->count & 7)), *byte = &bits->items[bits->count >> 3];
  *byte = (unsigned char)(object ? *byte | bit : *byte & ~bit);
  bits->count++;
  return true;
}

// Arrays that open right behind each other, eight at once.
static bool os_scan__push_arrays(os_scan *self, os_scan_bits *bits) {
  while (bits->count % 8 == 0 && self->end - self->p >= 8 && os_bytes_eq(self->p, "[[[[[[[[", 8)) {
    if (!os_scan__room(self, bits)) return false;
    bits->items[bits->count / 8] = 0;
    bits->count += 8;
    self->p += 8;
  }
  return true;
}

static bool os_scan__top(const os_scan_bits *bits) {
  size_t last = bits->count - 1;
  return (bits->items[last >> 3] >> (last & 7)) & 1;
}

static bool os_scan__skip_key(os_scan *self, const os_json *node) {
  os_str key;
  if (self->p >= self->end || *self->p != '"')
    return os_scan_fail(self, self->p, "a key in quotation marks", NULL);
  if (!os_scan_any_string(self, node, &key)) return false;
  self->p = os_scan_white(self->p, self->end);
  if (self->p >= self->end || *self->p != ':') return os_scan_fail(self, self->p, "\":\"", NULL);
  self->p = os_scan_white(self->p + 1, self->end);
  return true;
}

// A value that is no container.
static bool os_scan__skip_scalar(os_scan *self, const os_json *node) {
  const char *p = self->p;
  os_str string;
  bool integer;
  char c = p < self->end ? *p : 0;
  if (c == '"') return os_scan_any_string(self, node, &string);
  if (c == '-' || (c >= '0' && c <= '9')) return os_scan__check_number(self, &integer);
  const char *word = c == 't' ? "true" : c == 'f' ? "false" : c == 'n' ? "null" : NULL;
  if (word == NULL) return os_scan_fail(self, p, "a value", NULL);
  for (; *word != 0; word++, p++)
    if (p >= self->end || *p != *word) return os_scan_fail(self, p, "true, false or null", NULL);
  self->p = p;
  return true;
}

// Opens containers until a scalar was read or an empty container stands open. *opened: p is behind a bracket.
static bool os_scan__skip_value(os_scan *self, const os_json *node, os_scan_bits *bits, bool *opened) {
  *opened = false;
  char c = self->p < self->end ? *self->p : 0;
  if (c != '{' && c != '[') return os_scan__skip_scalar(self, node);
  self->p++;
  *opened = true;
  return os_scan__push(self, bits, c == '{') && os_scan__push_arrays(self, bits);
}

bool os_scan_skip_container(os_scan *self, const os_json *node, bool object) {
  os_scan_bits bits = {0};
  if (!os_scan__push(self, &bits, object)) return false;
  bool opened = true;
  while (bits.count > 0) {
    bool inside = os_scan__top(&bits);
    self->p = os_scan_white(self->p, self->end);
    char c = self->p < self->end ? *self->p : 0;
    if (c == (inside ? '}' : ']')) {
      self->p++;
      bits.count--;
      opened = false;
      continue;
    }
    if (!opened) {
      if (c != ',') return os_scan_fail(self, self->p, inside ? "\",\" or \"}\"" : "\",\" or \"]\"", NULL);
      self->p = os_scan_white(self->p + 1, self->end);
    }
    if (inside && !os_scan__skip_key(self, node)) return false;
    if (!os_scan__skip_value(self, node, &bits, &opened)) return false;
  }
  return true;
}
