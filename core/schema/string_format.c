#include "string_format.h"

#include "text_class.h"
#include "utf8.h"

// ---- Patterns -------------------------------------------------------------------------------------------------
//
// A list of characters with escapes among them is written as c*(?:%hh c*)*: each character can be read in one way only, so
// that what does not match is found out at once.

// RFC 3339. Days of each month, then of leap years.
#define DATE                                                                                                 \
  "(?:\\d{4}-(?:(?:0[13578]|1[02])-31|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])" \
  ")|"                                                                                                       \
  "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
#define MINUTES "(?:[01]\\d|2[0-3]):[0-5]\\d"
#define TIME MINUTES ":(?:[0-5]\\d|60)(?:\\.\\d+)?(?:[Zz]|[+-]" MINUTES ")"

#define HEX "[\\dA-Fa-f]"
#define ESCAPE "%" HEX "{2}"
#define BYTE "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
#define IPV4 BYTE "(?:\\." BYTE "){3}"
#define GROUP HEX "{1,4}"
// With a gap there are at most seven groups, or five and an IPv4 address, which is four more numbers.
#define IPV6                                                                                               \
  "(?:(?:" GROUP ":){7}" GROUP "|(?:" GROUP ":){6}" IPV4 "|(?!(?::*\\b" HEX "+\\b){8})(?:" GROUP           \
  "(?::" GROUP ")*)?::(?:" GROUP "(?::" GROUP ")*)?|(?!(?:[:.]*\\b" HEX "+\\b){10})(?:" GROUP "(?::" GROUP \
  ")*)?::(?:" GROUP ":)*" IPV4 ")"

// RFC 5321, section 4.1.2; `wide`, the end of a class: RFC 6531. No more than a line of the protocol can have.
#define ATOM(wide) "[A-Za-z\\d!#$%&'*+\\-/=?^_`{|}~" wide "]+"
#define QUOTED(wide) "[ !#-\\[\\]-~" wide "]*"
#define MAIL(wide, domain)                                                                                 \
  "^(?=[^]{3,320}$)(?:" ATOM(wide) "(?:\\." ATOM(wide) ")*|\"" QUOTED(wide) "(?:\\\\[ -~" wide "]" QUOTED( \
      wide) ")*\")@(?:\\[(?:" IPV4 "|IPv6:" IPV6 ")\\]|" domain ")$"

// RFC 3986; RFC 3987 with characters beyond ASCII.
#define NAME_CHARACTERS "A-Za-z\\d\\-._~!$&'()*+,;="
#define TEXT(more) "[" NAME_CHARACTERS more "]*(?:" ESCAPE "[" NAME_CHARACTERS more "]*)*"
#define REFERENCE(scheme, wide, private)                                                                   \
  "^" scheme "(?:\\/\\/(?:" TEXT(                                                                          \
      ":" wide) "@)?(?:\\[(?:" IPV6 "|[Vv]" HEX "+\\.[" NAME_CHARACTERS                                    \
                ":]+)\\]|" TEXT(wide) ")(?::\\d*)?(?=[/?#]|$)|(?!\\/\\/))" TEXT(":@/" wide) "(?:\\?" TEXT( \
                    ":@/?" wide private) ")?(?:#" TEXT(":@/?" wide) ")?$"
#define CHARACTERS "(?=\\P{NChar}*$)"
#define SCHEME "[A-Za-z][A-Za-z\\d+.\\-]*:"
#define SCHEME_OR_NONE "(?:" SCHEME "|(?![^:/?#]*:))"
#define WIDE "\u00a0-\ud7ff\uf900-\uffef\U00010000-\U000dffff\U000e1000-\U000effff"
#define PRIVATE "\ue000-\uf8ff\U000f0000-\U0010ffff"

// RFC 6570.
#define VARIABLE "(?:[\\w]|" ESCAPE ")+(?:\\.(?:[\\w]|" ESCAPE ")+)*(?::[1-9]\\d{0,3}|\\*)?"
#define LITERAL "[^\\x00-\\x20\\x7f-\\x9f\"%<>\\\\^`{|}\ufff0-\uffff\\p{NChar}]*"
#define POINTER "(?:\\/[^~/]*(?:~[01][^~/]*)*)*"

#define ANY "^"

static const os_string_format formats[] = {
    {"date-time", "2026-11-30T08:00:00Z", "^" DATE "[Tt]" TIME "$", OS_FORMAT_LEAP},
    {"date", "2026-11-30", "^" DATE "$", OS_FORMAT_NO_MORE},
    {"time", "08:00:00Z", "^" TIME "$", OS_FORMAT_LEAP},
    // Appendix A: no unit is left out between two others.
    {"duration", "P1DT12H",
     "^P(?=[\\dT])(?!.*(?:Y\\d+D|H\\d+S|T$))(?:\\d+W|(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?:\\d+H)?(?:\\d+M)?(?"
     ":\\d+S)"
     "?)?)$",
     OS_FORMAT_NO_MORE},
    {"email", "ada@example.com", MAIL("", "[^@\\[]+"), OS_FORMAT_MAIL},
    {"idn-email", "ada@example.com",
     MAIL("\\x80-\U0010ffff", "(?:(?!-)[A-Za-z\\d\\-\\x80-\U0010ffff]+(?<!-)(?:\\.(?!$)|$))+"),
     OS_FORMAT_NO_MORE},
    {"hostname", "example.com", "^[ -~]*$", OS_FORMAT_HOST},
    {"idn-hostname", "example.com", ANY, OS_FORMAT_HOST},
    {"ipv4", "192.0.2.1", "^" IPV4 "$", OS_FORMAT_NO_MORE},
    {"ipv6", "2001:db8::1", "^" IPV6 "$", OS_FORMAT_NO_MORE},
    {"uri", "https://example.com/a", REFERENCE(SCHEME, "", ""), OS_FORMAT_NO_MORE},
    {"uri-reference", "../a#b", REFERENCE(SCHEME_OR_NONE, "", ""), OS_FORMAT_NO_MORE},
    {"iri", "https://example.com/a", REFERENCE(CHARACTERS SCHEME, WIDE, PRIVATE), OS_FORMAT_NO_MORE},
    {"iri-reference", "../a#b", REFERENCE(CHARACTERS SCHEME_OR_NONE, WIDE, PRIVATE), OS_FORMAT_NO_MORE},
    {"uuid", "123e4567-e89b-12d3-a456-426614174000", "^" HEX "{8}(?:-" HEX "{4}){3}-" HEX "{12}$",
     OS_FORMAT_NO_MORE},
    {"uri-template", "/a/{id}",
     "^" LITERAL "(?:(?:" ESCAPE "|\\{[+#./;?&=,!@|]?" VARIABLE "(?:," VARIABLE ")*\\})" LITERAL ")*$",
     OS_FORMAT_NO_MORE},
    {"json-pointer", "/a/0", "^" POINTER "$", OS_FORMAT_NO_MORE},
    {"relative-json-pointer", "1/a", "^(?:0|[1-9]\\d*)(?:[+-](?:0|[1-9]\\d*))?(?:#|" POINTER ")$",
     OS_FORMAT_NO_MORE},
    {"regex", "^[a-z]+$", ANY, OS_FORMAT_REGEX},
};

const os_string_format *os_string_format_find(os_str name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (os_str_is(name, formats[i].name)) return &formats[i];
  return NULL;
}

// ---- Host names -----------------------------------------------------------------------------------------------

// Directions: digits of Europe (EN) and Arabia (AN), marks (NSM), and what runs from right to left.
#define EUROPEAN "\\d\u06f0-\u06f9"
#define ARABIC "\u0660-\u0669\U00010d30-\U00010d39\U00010e60-\U00010e7e"
#define MARKS "\\p{Mn}\\p{Me}"
#define NEUTRAL "\\-\u200c\u200d"
#define BLOCKS "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff"
#define RIGHT "(?![" EUROPEAN ARABIC MARKS "])[" BLOCKS "]"
#define RIGHT_OR_ARABIC "(?![" EUROPEAN MARKS "])[" BLOCKS "]"
#define ONE_DIRECTION                                                                               \
  "(?:" RIGHT "(?![^.]*[" ARABIC "][^.]*[" EUROPEAN "]|[^.]*[" EUROPEAN "][^.]*[" ARABIC            \
  "])(?:[" EUROPEAN MARKS NEUTRAL BLOCKS "]*(?![" MARKS "])[" EUROPEAN BLOCKS                       \
  "])?|[^" EUROPEAN MARKS NEUTRAL BLOCKS ".](?![^.]*" RIGHT_OR_ARABIC ")(?:[^.]*(?![" MARKS NEUTRAL \
  "])[^.])?)[" MARKS "]*"

// Code points whose combining class is that of viramas.
#define VIRAMA                                                                                              \
  "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a" \
  "\u1714"                                                                                                  \
  "\u1715\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed"  \
  "\U00010a3f\U00011046\U00011070\U0001107f\U000110b9\U00011133\U00011134\U000111c0\U00011235\U000112ea"    \
  "\U0001134d\U000113ce-\U000113d0\U00011442\U000114c2\U000115bf\U0001163f\U000116b6\U0001172b\U00011839"   \
  "\U0001193d\U0001193e\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d44\U00011d45\U00011d97"    \
  "\U00011f41\U00011f42]"
// Letters that do not join to what follows.
#define ENDS                                                                                          \
  "[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-" \
  "\u06cb\u06cd"                                                                                      \
  "\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef\u0710\u0715-\u0719\u071e\u0728\u072a\u072c]"
#define KANA "[\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Han}]"
// RFC 5892: exceptions (section 2.6), contextual rules (appendix A), then what the properties allow. No text passes in two
// ways: there would be more of them with each character.
#define CODE_POINT                                                                                          \
  "[\u00df\u03c2\u06fd\u06fe\u0f0b\u3007a-z\\d\\-]|(?<=l)\u00b7(?=l)|\u0375(?=\\p{sc=Grek})|(?<=\\p{sc="    \
  "Hebr})["                                                                                                 \
  "\u05f3\u05f4]|(?:(?=[^.]*" KANA ")|(?<=" KANA "[^.]*))\u30fb|(?<=" VIRAMA ")[\u200c\u200d]|(?<!" VIRAMA  \
  ")(?<=(?!" ENDS ")" RIGHT "[" MARKS "]*)\u200c(?=[" MARKS "]*(?!\u0621)" RIGHT                            \
  ")|(?![\\0-\\x7f\\p{CWKCF}\\p{DI}\u0640\u07fa\u302e\u302f"                                                \
  "\u303b\u3031-\u3035\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff])[\\p{Ll}\\p{Lu}\\p{Lo}\\p{Lm}\\p{Nd}\\p{Mn}" \
  "\\p{Mc}]"
#define MIXED "[^.]*[\u0660-\u0669][^.]*[\u06f0-\u06f9]|[^.]*[\u06f0-\u06f9][^.]*[\u0660-\u0669]"

const char os_string_format_host[] =
    "^(?=(?:(?![\\-\\p{M}])(?:[A-Za-z\\d\\-]+|(?=[^.]*[^.\\0-\\x7f])(?!..--|" MIXED ")(?:" CODE_POINT
    ")+)(?<!-)(?:\\.(?!$)|$))+$)(?:(?![^]*" RIGHT_OR_ARABIC ")|(?:" ONE_DIRECTION "(?:\\.|$))+$)";

// Punycode (RFC 3492).
enum {
  LABEL = 63,
  NAME = 253,
  BASE = 36,
  T_MIN = 1,
  T_MAX = 26,
  SKEW = 38,
  DAMP = 700,
  FIRST = 128,
  BIAS = 72
};

static uint32_t os_host__adapt(uint32_t delta, uint32_t points, bool first) {
  uint32_t k = 0;
  delta = first ? delta / DAMP : delta / 2;
  delta += delta / points;
  for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE) delta /= BASE - T_MIN;
  return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static uint32_t os_host__threshold(uint32_t k, uint32_t bias) {
  return k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
}

// How many characters the label takes in Punycode.
static size_t os_host__size(const uint32_t *label, size_t count) {
  uint32_t basic = 0, n = FIRST, delta = 0, bias = BIAS;
  for (size_t i = 0; i < count; i++) basic += label[i] < FIRST;
  size_t size = basic + (basic > 0);
  for (uint32_t done = basic; done < count; delta++, n++) {
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < count; i++)
      if (label[i] >= n && label[i] < next) next = label[i];
    delta += (next - n) * (done + 1);
    n = next;
    for (size_t i = 0; i < count; i++) {
      delta += label[i] < n;
      if (label[i] != n) continue;
      for (uint32_t k = BASE, q = delta;; k += BASE) {
        uint32_t t = os_host__threshold(k, bias);
        size++;
        if (q < t) break;
        q = (q - t) / (BASE - t);
      }
      bias = os_host__adapt(delta, done + 1, done == basic);
      delta = 0;
      done++;
    }
  }
  return size;
}

// Decodes the characters from `at` on, in place; answers the number of code points, 0 when it is no Punycode of something
// that needs it.
static size_t os_host__decode(uint32_t *label, size_t at, size_t end) {
  size_t count = 0, last = at;
  uint32_t text[LABEL], n = FIRST, index = 0, bias = BIAS;
  for (size_t i = at; i < end; i++)
    if ((text[i] = label[i]) == '-') last = i;
  for (; at < last; at++) label[count++] = text[at];
  at += count > 0;
  while (at < end) {
    uint32_t start = index, weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
      int c = at < end ? (int)text[at++] : 0;
      uint32_t digit = os_is_digit(c) ? (uint32_t)c - '0' + 26 : ((uint32_t)c | 32) - 'a';
      if (digit >= BASE || digit > (INT32_MAX - index) / weight) return 0;
      index += digit * weight;
      uint32_t t = os_host__threshold(k, bias);
      if (digit < t) break;
      if (weight > INT32_MAX / (BASE - t)) return 0;
      weight *= BASE - t;
    }
    bias = os_host__adapt(index - start, (uint32_t)++count, start == 0);
    n += index / (uint32_t)count;
    index %= (uint32_t)count;
    if (n > 0x10ffff || (n >> 11) == 0xd800 >> 11) return 0;
    memmove(label + index + 1, label + index, (count - 1 - index) * sizeof *label);
    label[index++] = n;
  }
  return index == 0 ? 0 : count;
}

static bool os_host__encoded(const uint32_t *label, size_t count) {
  return count > 4 && (label[0] | 32) == 'x' && (label[1] | 32) == 'n' && label[2] == '-' && label[3] == '-';
}

// Spells the name in Unicode, after which the pattern decides. Lengths are those of the name in ASCII.
static bool os_host__check(os_str text, const os_pattern *host, os_memory *memory, uint64_t *work) {
  char name[(NAME + LABEL) * 4];
  uint32_t label[LABEL];
  size_t at = 0, len = 0, size = 0;
  for (bool more = true; more;) {
    size_t count = 0;
    bool wide = false;
    more = false;
    while (at < text.len && !more) {
      uint32_t c = os_utf8_next(text, &at);
      more = c == '.' || c == 0x3002 || c == 0xff0e || c == 0xff61;
      if (more) break;
      if (count == LABEL) return false;
      label[count++] = c;
      wide |= c >= 0x80;
    }
    size_t ascii = wide ? 4 + os_host__size(label, count) : count;
    if (!wide && os_host__encoded(label, count)) count = os_host__decode(label, 4, count);
    size += ascii + 1;
    if (count == 0 || ascii > LABEL || size > NAME + 1) return false;
    for (size_t i = 0; i < count; i++) len += os_utf8_put(name + len, label[i]);
    if (more) name[len++] = '.';
  }
  bool matches;
  *work = NAME * 10000;
  return os_pattern_match(host, memory, (os_str){name, len}, work, &matches) == OS_OK && matches;
}

// ---- What patterns do not say -----------------------------------------------------------------------------------

static int os_leap__minutes(const char *text) { // of "hh:mm"
  return ((text[0] - '0') * 10 + text[1] - '0') * 60 + (text[3] - '0') * 10 + text[4] - '0';
}

static bool os_leap__check(os_str text) {
  bool date = text.len > 10 && (text.data[10] | 32) == 't';
  const char *time = text.data + (date ? 11 : 0), *end = text.data + text.len;
  if (time[6] != '6') return true;
  int minutes = os_leap__minutes(time);
  if (end[-3] == ':') minutes += os_leap__minutes(end - 5) * (end[-6] == '-' ? 1 : -1);
  return (minutes + 1440) % 1440 == 1439;
}

static bool os_regex__check(os_str text, os_memory *memory) {
  os_arena arena;
  os_arena_init(&arena, memory);
  os_pattern *pattern = NULL;
  os_str message;
  bool ok = os_pattern_compile(&pattern, &arena, text, &message) == OS_OK && pattern != NULL;
  os_arena_clear(&arena);
  return ok;
}

bool os_string_format_check(const os_string_format *self, os_str text, const os_pattern *host,
                            os_memory *memory, uint64_t *work) {
  size_t at = text.len;
  *work = 0;
  switch (self->more) {
  case OS_FORMAT_NO_MORE: break;
  case OS_FORMAT_LEAP: return os_leap__check(text);
  case OS_FORMAT_REGEX: return os_regex__check(text, memory);
  case OS_FORMAT_MAIL:
    if (text.data[at - 1] == ']') break; // an address
    while (text.data[at - 1] != '@') at--;
    return os_host__check(os_str_slice(text, at, text.len), host, memory, work);
  case OS_FORMAT_HOST: return os_host__check(text, host, memory, work);
  }
  return true;
}
