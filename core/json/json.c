#include "json.h"

#include "text.h"
#include "utf8.h"

const char *os_json_type_name(const os_json *self) {
  switch (os_json_type_of(self)) {
  case OS_JSON_NULL: return "null";
  case OS_JSON_NUMBER: return "number";
  case OS_JSON_STRING: return "string";
  case OS_JSON_ARRAY: return "array";
  case OS_JSON_OBJECT: return "object";
  default: return "boolean";
  }
}

os_json *os_json_at(const os_json *array, size_t index) {
  if (!os_json_is(array, OS_JSON_ARRAY) || index >= array->length) return NULL;
  os_json *child = os_json_first(array);
  while (child != NULL && index-- > 0) child = os_json_next(child);
  return child;
}

static size_t os_json__token_size(os_str token) {
  size_t size = token.len;
  for (size_t i = 0; i < token.len; i++) size += token.data[i] == '~' || token.data[i] == '/';
  return size;
}

static char *os_json__put_token(char *to, os_str token) {
  for (size_t i = 0; i < token.len; i++) {
    char c = token.data[i];
    if (c == '~' || c == '/') {
      *to++ = '~';
      c = c == '~' ? '0' : '1';
    }
    *to++ = c;
  }
  return to;
}

// The token of a node in its parent; digits of an index are written to `room`.
static os_str os_json__token(const os_json *self, char room[12]) {
  if (os_json_type_of(self->parent) == OS_JSON_OBJECT) return os_json_key(self);
  char *at = room + 12;
  uint32_t index = self->order;
  do *--at = (char)('0' + index % 10);
  while ((index /= 10) > 0);
  return (os_str){at, (size_t)(room + 12 - at)};
}

os_str os_json_pointer(os_arena *arena, const os_json *self) {
  char room[12];
  size_t size = 0;
  for (const os_json *node = self; node->parent != NULL; node = node->parent)
    size += 1 + os_json__token_size(os_json__token(node, room));
  char *data = size == 0 ? NULL : os_arena_alloc(arena, size);
  if (data == NULL) return OS_STR("");
  size_t end = size;
  for (const os_json *node = self; node->parent != NULL; node = node->parent) {
    os_str token = os_json__token(node, room);
    end -= 1 + os_json__token_size(token);
    data[end] = '/';
    os_json__put_token(data + end + 1, token);
  }
  return (os_str){data, size};
}

os_str os_json_pointer_add(os_arena *arena, os_str pointer, os_str token) {
  size_t size = pointer.len + 1 + os_json__token_size(token);
  char *data = os_arena_alloc(arena, size);
  if (data == NULL) return OS_STR("");
  if (pointer.len > 0) memcpy(data, pointer.data, pointer.len);
  data[pointer.len] = '/';
  os_json__put_token(data + pointer.len + 1, token);
  return (os_str){data, size};
}

static os_json *os_json__index_token(const os_json *array, os_str token) {
  size_t index = 0;
  if (token.len == 0 || token.len > 9 || (token.len > 1 && token.data[0] == '0')) return NULL;
  for (size_t i = 0; i < token.len; i++) {
    if (token.data[i] < '0' || token.data[i] > '9') return NULL;
    index = index * 10 + (size_t)(token.data[i] - '0');
  }
  return os_json_at(array, index);
}

// Whether a key, escaped as a token, is `token`: saves unescaping it.
static bool os_json__is_token(os_str key, os_str token) {
  size_t at = 0;
  for (size_t i = 0; i < key.len; i++) {
    char c = key.data[i];
    if (c == '~' || c == '/') {
      if (at + 2 > token.len || token.data[at] != '~' || token.data[at + 1] != (c == '~' ? '0' : '1'))
        return false;
      at += 2;
    } else if (at >= token.len || token.data[at++] != c)
      return false;
  }
  return at == token.len;
}

static os_json *os_json__member_token(const os_json *object, os_str token) {
  if (token.len == 0 || memchr(token.data, '~', token.len) == NULL) return os_json_get(object, token);
  OS_JSON_EACH(child, object)
  if (os_json__is_token(os_json_key(child), token)) return child;
  return NULL;
}

os_json *os_json_resolve(const os_json *root, os_str pointer) {
  const os_json *node = root;
  size_t at = 0;
  while (node != NULL && at < pointer.len) {
    if (pointer.data[at++] != '/') return NULL;
    size_t end = at;
    while (end < pointer.len && pointer.data[end] != '/') end++;
    os_str token = os_str_slice(pointer, at, end);
    node = os_json_is(node, OS_JSON_ARRAY) ? os_json__index_token(node, token)
                                           : os_json__member_token(node, token);
    at = end;
  }
  return (os_json *)node;
}

void os_json_where(const os_json_document *document, os_arena *arena, const os_json *node, os_where *where) {
  where->file = document->file;
  if (node == NULL) return;
  os_where_pointer(where, os_json_pointer(arena, node));
  // While a container is still being read its end is not known.
  os_where_range(where, node->start, node->end > node->start ? node->end : node->start + 1);
}

void os_json_where_key(const os_json_document *document, os_arena *arena, const os_json *node,
                       os_where *where) {
  os_json_where(document, arena, node, where);
  if (node != NULL && node->key_end > 0) os_where_range(where, node->key_start, node->key_end);
}

enum { EXCERPT = 77 };

static os_str os_json__cut(os_arena *arena, os_str text) {
  if (text.len <= EXCERPT + 3) return os_arena_copy(arena, text);
  os_str head = os_utf8_head(text, EXCERPT);
  return os_arena_format(arena, "%.*s...", OS_ARG(head));
}

os_str os_json_excerpt(const os_json_document *document, os_arena *arena, const os_json *node) {
  if (node == NULL) return OS_STR("");
  os_str source = os_json_source(document, node);
  // White space between tokens says nothing; strings are left as they are.
  char *to = os_arena_alloc(arena, EXCERPT + 4);
  if (to == NULL) return OS_STR("");
  size_t len = 0;
  bool string = false;
  for (size_t i = 0; i < source.len && len < EXCERPT + 4; i++) {
    char c = source.data[i];
    if (c == '"' && (i == 0 || source.data[i - 1] != '\\')) string = !string;
    bool white = !string && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
    if (!white)
      to[len++] = c;
    else if (len > 0 && to[len - 1] != ' ')
      to[len++] = ' ';
  }
  return os_json__cut(arena, (os_str){to, len});
}

os_str os_json_quote_head(os_arena *arena, os_str text) {
  os_str head = os_utf8_head(text, OS_JSON_QUOTED), quoted = os_json_quote(arena, head);
  return head.len == text.len ? quoted : os_arena_format(arena, "%.*s...", OS_ARG(quoted));
}

os_str os_json_quote(os_arena *arena, os_str text) {
  size_t room = 2;
  for (size_t i = 0; i < text.len; i++) {
    unsigned char c = (unsigned char)text.data[i];
    room += c < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
  }
  char *data = os_arena_alloc(arena, room), *to = data;
  if (data == NULL) return OS_STR("");
  *to++ = '"';
  for (size_t i = 0; i < text.len; i++) {
    unsigned char c = (unsigned char)text.data[i];
    static const char from[] = "\b\f\n\r\t", into[] = "bfnrt";
    const char *known = c == 0 ? NULL : strchr(from, c);
    if (c == '"' || c == '\\' || known != NULL) {
      *to++ = '\\';
      *to++ = known != NULL ? into[known - from] : (char)c;
    } else if (c < 0x20) {
      static const char hex[] = "0123456789abcdef";
      memcpy(to, "\\u00", 4);
      to[4] = hex[c >> 4];
      to[5] = hex[c & 15];
      to += 6;
    } else
      *to++ = (char)c;
  }
  *to++ = '"';
  return (os_str){data, (size_t)(to - data)};
}
