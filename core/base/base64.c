#include "base64.h"

void os_base64_write(os_text *out, os_str bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *to = bytes.len > SIZE_MAX / 2 ? NULL : os_text_extend(out, (bytes.len + 2) / 3 * 4);
  if (to == NULL) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < bytes.len; i += 3) {
    uint32_t group = 0;
    size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
    for (size_t j = 0; j < 3; j++) group = group << 8 | (j < have ? (unsigned char)bytes.data[i + j] : 0);
    for (size_t j = 0; j < 4; j++) *to++ = j <= have ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
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
