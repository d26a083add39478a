#include "base64.h"

void os_base64_write(os_text *out, os_str bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *to = bytes.len > SIZE_MAX / 2 ? NULL : os_text_extend(out, (bytes.len + 2) / 3 * 4);
  if (to == NULL) {
    out->failed = true;
    return;
  }
  const unsigned char *from = (const unsigned char *)bytes.data;
  size_t i = 0;
  for (; bytes.len - i >= 3; i += 3, to += 4) {
    uint32_t group = (uint32_t)from[i] << 16 | (uint32_t)from[i + 1] << 8 | from[i + 2];
    to[0] = digits[group >> 18];
    to[1] = digits[group >> 12 & 63];
    to[2] = digits[group >> 6 & 63];
    to[3] = digits[group & 63];
  }
  if (i == bytes.len) return;
  bool two = bytes.len - i == 2;
  uint32_t group = (uint32_t)from[i] << 16 | (two ? (uint32_t)from[i + 1] << 8 : 0);
  to[0] = digits[group >> 18];
  to[1] = digits[group >> 12 & 63];
  to[2] = two ? digits[group >> 6 & 63] : '=';
  to[3] = '=';
}

static int os_base64__digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool os_base64_read(os_str text, char *to, size_t *size) {
  while (text.len > 0 && text.data[text.len - 1] == '=') text.len--;
  uint32_t bits = 0;
  *size = 0;
  for (size_t i = 0; i < text.len; i++) {
    int digit = os_base64__digit(text.data[i]);
    if (digit < 0) return false;
    bits = bits << 6 | (uint32_t)digit;
    if (i % 4 > 0) to[(*size)++] = (char)(bits >> (6 - i % 4 * 2));
  }
  return text.len % 4 != 1;
}
