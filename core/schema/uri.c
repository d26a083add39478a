#include "uri.h"

#include "text_class.h"

// Where the first of `stops`, characters below 64, stands in the text from `at` on; its length where there is none.
static size_t os_uri__until(os_str text, size_t at, const char *stops) {
  uint64_t set = 0;
  for (; *stops != 0; stops++) set |= (uint64_t)1 << *stops;
  for (; at < text.len; at++) {
    unsigned char c = (unsigned char)text.data[at];
    if (c < 64 && (set >> c & 1)) break;
  }
  return at;
}

// Where scheme, authority and path of a URI reference end (appendix B). Empty ones end where they begin.
typedef struct os_uri {
  size_t scheme, authority, path;
} os_uri;

static os_uri os_uri__split(os_str text) {
  os_uri uri = {0};
  size_t end = os_uri__until(text, 0, ":/?#");
  if (end > 0 && end < text.len && text.data[end] == ':') uri.scheme = end + 1;
  bool authority = os_str_starts(os_str_slice(text, uri.scheme, text.len), OS_STR("//"));
  uri.authority = authority ? os_uri__until(text, uri.scheme + 2, "/?#") : uri.scheme;
  uri.path = os_uri__until(text, uri.authority, "?#");
  return uri;
}

// Removes "." and ".." segments in place; answers the new length (section 5.2.4).
static size_t os_uri__dots(char *path, size_t len) {
  size_t to = 0, at = 0;
  bool rooted = len > 0 && path[0] == '/';
  while (at < len) {
    size_t start = at;
    if (path[at] == '/') at++;
    size_t name = at;
    while (at < len && path[at] != '/') at++;
    size_t size = at - name;
    bool two = size == 2 && path[name] == '.' && path[name + 1] == '.';
    if (!two && (size != 1 || path[name] != '.')) {
      if (to != start) memmove(path + to, path + start, at - start);
      to += at - start;
      continue;
    }
    if (two)
      while (to > 0 && path[--to] != '/') {
      }
    if (at == len && (to > 0 || rooted)) path[to++] = '/';
  }
  return to;
}

os_str os_uri_resolve(os_arena *arena, os_str base, os_str text) {
  os_uri own = os_uri__split(text), of = os_uri__split(base);
  size_t keep = of.path;
  if (own.scheme > 0)
    keep = 0;
  else if (own.authority > 0)
    keep = of.scheme;
  else if (text.len == 0)
    keep = base.len;
  else if (text.data[0] == '/')
    keep = of.authority;
  else if (text.data[0] != '?')
    while (keep > of.authority && base.data[keep - 1] != '/') keep--;
  bool root =
      keep == of.authority && keep > of.scheme && own.authority == 0 && own.path > 0 && text.data[0] != '/';
  os_str out = os_arena_format(arena, "%.*s%s%.*s", OS_ARG(os_str_slice(base, 0, keep)), root ? "/" : "",
                               OS_ARG(text));
  if (out.data == NULL) return out;
  of = os_uri__split(out);
  char *path = (char *)out.data + of.authority;
  size_t len = os_uri__dots(path, of.path - of.authority);
  memmove(path + len, path + of.path - of.authority, out.len - of.path);
  out.len -= of.path - of.authority - len;
  return out;
}

os_str os_uri_decode(os_arena *arena, os_str text) {
  char *to = os_arena_alloc(arena, text.len + 1);
  if (to == NULL) return text;
  size_t len = 0;
  for (size_t i = 0; i < text.len; i++) {
    bool escape = os_is_escape(text, i);
    to[len++] =
        escape ? (char)(os_hex_digit(text.data[i + 1]) * 16 + os_hex_digit(text.data[i + 2])) : text.data[i];
    if (escape) i += 2;
  }
  return (os_str){to, len};
}
