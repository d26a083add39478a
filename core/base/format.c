#include "format.h"

#include "digits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRECISION_MOST = 40, DIGITS = 309 + PRECISION_MOST + 2, NUMBER_ROOM = DIGITS + 16 };

typedef struct os_format_sink {
  char *to;
  size_t room, len;
} os_format_sink;

// One conversion: what stands between % and its letter, and the letter.
typedef struct os_format_spec {
  bool left, zero;
  char sign;            // what stands before a number that is not negative, or 0
  int width, precision; // precision < 0: none given
  int size;             // bytes of an integer argument
  char letter;
} os_format_spec;

static void os_sink__put(os_format_sink *self, const char *text, size_t len) {
  if (self->len < self->room && len > 0)
    os_bytes_copy(self->to + self->len, text, len < self->room - self->len ? len : self->room - self->len);
  self->len += len;
}

static void os_sink__fill(os_format_sink *self, char c, int count) {
  for (; count > 0; count--) os_sink__put(self, &c, 1);
}

// `head` is the sign's length: zeros stand behind it.
static void os_sink__field(os_format_sink *self, const os_format_spec *spec, const char *text, size_t len,
                           size_t head) {
  int pad = spec->width > (int)len ? spec->width - (int)len : 0;
  bool zeros = spec->zero && !spec->left;
  if (!spec->left && !zeros) os_sink__fill(self, ' ', pad);
  os_sink__put(self, text, head);
  if (zeros) os_sink__fill(self, '0', pad);
  os_sink__put(self, text + head, len - head);
  if (spec->left) os_sink__fill(self, ' ', pad);
}

static char *os_format__digits(char *to, uint64_t value, unsigned base, char ten, int least) {
  char digits[24];
  int count = 0;
  for (; value > UINT32_MAX; value /= base) { // division of 64 bits takes longer
    unsigned digit = (unsigned)(value % base);
    digits[count++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
  }
  for (uint32_t low = (uint32_t)value; low > 0 || count < least; low /= base) {
    unsigned digit = low % base;
    digits[count++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
  }
  while (count > 0) *to++ = digits[--count];
  return to;
}

// d.ddde+xx
static char *os_format__scientific(char *to, const char *digits, int count, int exponent) {
  *to++ = digits[0];
  if (count > 1) *to++ = '.';
  for (int i = 1; i < count; i++) *to++ = digits[i];
  *to++ = 'e';
  *to++ = exponent < 1 ? '-' : '+';
  return os_format__digits(to, (uint64_t)abs(exponent - 1), 10, 'a', 2);
}

static char *os_format__positional(char *to, const char *digits, int count, int exponent, int fraction) {
  if (exponent <= 0) *to++ = '0';
  for (int i = 0; i < exponent; i++) *to++ = i < count ? digits[i] : '0';
  if (fraction > 0) *to++ = '.';
  for (int i = exponent; i < exponent + fraction; i++) *to++ = i >= 0 && i < count ? digits[i] : '0';
  return to;
}

// A value that is not negative.
static char *os_format__float(char *to, double value, char style, int precision) {
  if (!(value < INFINITY)) {
    memcpy(to, value != value ? "nan" : "inf", 3);
    return to + 3;
  }
  if (precision < 0) precision = 6;
  if (precision > PRECISION_MOST) precision = PRECISION_MOST;
  char digits[DIGITS];
  int exponent = 1, keep = style == 'e' ? precision + 1 : precision == 0 ? 1 : precision;
  memset(digits, '0', sizeof digits);
  if (value > 0) {
    if (style == 'f') {
      (void)math_to_digits(value, 1, digits, &exponent);
      keep = exponent + precision;
    }
    bool more = keep >= 0 && math_to_digits(value, keep + 1, digits, &exponent);
    keep = keep < 0 ? 0 : math_round_digits(digits, keep + 1, more, keep, &exponent);
  }
  if (style == 'f') return os_format__positional(to, digits, keep, exponent, precision);
  if (style == 'e') return os_format__scientific(to, digits, keep, exponent);
  int limit = keep;
  while (keep > 1 && digits[keep - 1] == '0') keep--;
  if (exponent < -3 || exponent > limit) return os_format__scientific(to, digits, keep, exponent);
  return os_format__positional(to, digits, keep, exponent, keep > exponent ? keep - exponent : 0);
}

static void os_format__number(os_format_sink *sink, os_format_spec *spec, bool negative, uint64_t whole,
                              double value) {
  char text[NUMBER_ROOM], *to = text;
  char sign = negative ? '-' : spec->sign;
  if (sign != 0) *to++ = sign;
  size_t head = (size_t)(to - text);
  if (strchr("efg", spec->letter) != NULL) {
    if (!(value < INFINITY)) spec->zero = false;
    to = os_format__float(to, value, spec->letter, spec->precision);
  } else {
    bool hexadecimal = (spec->letter | 0x20) == 'x';
    if (spec->precision >= 0) spec->zero = false;
    int least = spec->precision < 0 ? 1 : spec->precision < 20 ? spec->precision : 20;
    to = os_format__digits(to, whole, hexadecimal ? 16 : 10, spec->letter == 'X' ? 'A' : 'a', least);
  }
  os_sink__field(sink, spec, text, (size_t)(to - text), head);
}

static int os_format__count(const char **at) {
  int count = 0;
  for (; **at >= '0' && **at <= '9'; (*at)++) count = count * 10 + (**at - '0');
  return count;
}

static size_t os_format__string_length(const char *text, int precision) {
  if (precision == 0) return 0;
  if (precision < 0) return strlen(text);
  const char *end = memchr(text, 0, (size_t)precision);
  return end == NULL ? (size_t)precision : (size_t)(end - text);
}

static const char *os_format__flags(os_format_spec *spec, const char *format) {
  for (;; format++) {
    if (*format == '-')
      spec->left = true;
    else if (*format == '0')
      spec->zero = true;
    else if (*format == '+' || *format == ' ')
      spec->sign = *format;
    else
      return format;
  }
}

int os_format_list(char *to, size_t room, const char *format, va_list list) {
  os_format_sink sink = {.to = to, .room = room == 0 ? 0 : room - 1};
  va_list arguments;
  va_copy(arguments, list);
  for (;;) {
    const char *start = format;
    while (*format != 0 && *format != '%') format++;
    os_sink__put(&sink, start, (size_t)(format - start));
    if (*format == 0) break;
    os_format_spec spec = {.precision = -1, .size = sizeof(int)};
    format = os_format__flags(&spec, format + 1);
    if (*format == '*')
      spec.width = va_arg(arguments, int), format++;
    else
      spec.width = os_format__count(&format);
    if (*format == '.') {
      if (*++format == '*')
        spec.precision = va_arg(arguments, int), format++;
      else
        spec.precision = os_format__count(&format);
    }
    for (int longs = 0;; format++) {
      if (*format == 'l')
        spec.size = ++longs == 2 ? sizeof(long long) : sizeof(long);
      else if (*format == 'z')
        spec.size = sizeof(size_t);
      else if (*format != 'h')
        break;
    }
    spec.letter = *format++;
    switch (spec.letter) {
    case 'd':
    case 'i': {
      int64_t value = spec.size == sizeof(int) ? va_arg(arguments, int) : va_arg(arguments, long long);
      os_format__number(&sink, &spec, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0);
      break;
    }
    case 'u':
    case 'x':
    case 'X': {
      uint64_t value =
          spec.size == sizeof(int) ? va_arg(arguments, unsigned) : va_arg(arguments, unsigned long long);
      spec.sign = 0;
      os_format__number(&sink, &spec, false, value, 0);
      break;
    }
    case 'e':
    case 'f':
    case 'g': {
      double value = va_arg(arguments, double);
      os_format__number(&sink, &spec, signbit(value) != 0, 0, fabs(value));
      break;
    }
    case 's': {
      const char *text = va_arg(arguments, const char *);
      spec.zero = false;
      size_t length = os_format__string_length(text, spec.precision);
      // An empty text may have no address at all.
      os_sink__field(&sink, &spec, length == 0 ? "" : text, length, 0);
      break;
    }
    default: {
      char c = spec.letter == 'c' ? (char)va_arg(arguments, int) : spec.letter;
      spec.zero = false;
      os_sink__field(&sink, &spec, &c, 1, 0);
    }
    }
  }
  va_end(arguments);
  if (room > 0) to[sink.len < room ? sink.len : room - 1] = 0;
  return (int)sink.len;
}

int os_format(char *to, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int len = os_format_list(to, room, format, arguments);
  va_end(arguments);
  return len;
}

os_str os_arena_format_list(os_arena *arena, const char *format, va_list arguments) {
  int len = os_format_list(NULL, 0, format, arguments);
  char *data = os_arena_alloc(arena, (size_t)len + 1);
  if (data == NULL) return (os_str){NULL, 0};
  os_format_list(data, (size_t)len + 1, format, arguments);
  return (os_str){data, (size_t)len};
}
