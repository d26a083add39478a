#include "guess.h"

#include "plan.h"
#include "utf8.h"
#include "wire.h"

typedef struct os_magic {
  uint8_t at; // where in the file
  os_str bytes;
  const char *name, *hint;
} os_magic;

static const char not_onnx[] = "export the model to ONNX";
static const char unpack[] = "unpack it first";

static const os_magic magics[] = {
    {0, OS_STR_INIT("version https://git-lfs"), "a Git LFS pointer",
     "fetch the file itself with `git lfs pull`"},
    {0, OS_STR_INIT("\x1f\x8b"), "a gzip file", unpack},
    {0, OS_STR_INIT("BZh"), "a bzip2 file", unpack},
    {0,
     OS_STR_INIT("\xfd"
                 "7zXZ"),
     "an xz file", unpack},
    {0, OS_STR_INIT("\x28\xb5\x2f\xfd"), "a zstd file", unpack},
    {0, OS_STR_INIT("7z\xbc\xaf"), "a 7z archive", unpack},
    {0, OS_STR_INIT("\x93NUMPY"), "a NumPy array (.npy)", NULL},
    {0, OS_STR_INIT("\x89HDF"), "an HDF5 file (Keras)", not_onnx},
    {4, OS_STR_INIT("TFL3"), "a TensorFlow Lite model", not_onnx},
    {4, OS_STR_INIT("ORTM"), "an ORT format model", "use the .onnx file that it was made from"},
    {0, OS_STR_INIT("GGUF"), "a GGUF model", not_onnx},
    {0, OS_STR_INIT("\0asm"), "a WebAssembly module", NULL},
    {0,
     OS_STR_INIT("\x7f"
                 "ELF"),
     "a program or library", NULL},
    {0, OS_STR_INIT("\x89PNG"), "a PNG image", NULL},
    {0, OS_STR_INIT("%PDF"), "a PDF file", NULL},
    {0, OS_STR_INIT("\x80\x02}"), "a Python pickle", not_onnx},
    {0, OS_STR_INIT("\x80\x02\x8a"), "a PyTorch file", not_onnx},
    {0,
     OS_STR_INIT("\x80\x02"
                 "c"),
     "a Python pickle", not_onnx},
    {0, OS_STR_INIT("\x80\x03"), "a Python pickle", not_onnx},
    {0, OS_STR_INIT("\x80\x04\x95"), "a Python pickle", not_onnx},
    {0, OS_STR_INIT("\x80\x05\x95"), "a Python pickle", not_onnx},
};

static bool os_guess__has(os_str text, os_str part) {
  for (size_t i = 0; i + part.len <= text.len; i++)
    if (memcmp(text.data + i, part.data, part.len) == 0) return true;
  return false;
}

static bool os_guess__word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Characters of a text: no control characters but white space, and UTF-8, whose last character may be cut.
static bool os_guess__is_text(os_str head, bool cut) {
  for (size_t i = 0; i < head.len; i++) {
    unsigned char c = (unsigned char)head.data[i];
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return false;
  }
  return head.len > 0 && head.len - os_utf8_valid(head) < (cut ? 4 : 1);
}

static size_t os_guess__blanks(os_str text, size_t at) {
  while (at < text.len &&
         (text.data[at] == ' ' || text.data[at] == '\n' || text.data[at] == '\r' || text.data[at] == '\t'))
    at++;
  return at;
}

// <ir_version: 10, ...>
static bool os_guess__is_syntax(os_str text) {
  if (text.len == 0 || text.data[0] != '<') return false;
  size_t word = os_guess__blanks(text, 1), end = word;
  while (end < text.len && os_guess__word(text.data[end])) end++;
  size_t colon = os_guess__blanks(text, end);
  return end > word && colon < text.len && text.data[colon] == ':';
}

static os_guess os_guess__text(os_str head) {
  size_t at = 0;
  if (os_str_starts(head, OS_STR("\xef\xbb\xbf"))) at = 3;
  at = os_guess__blanks(head, at);
  os_str rest = os_str_slice(head, at, head.len);
  if (os_guess__is_syntax(rest))
    return (os_guess){"a model in ONNX's syntax", "convert it to its binary form first", true};
  if (rest.len > 0 && rest.data[0] == '<') {
    bool xml = os_str_starts(rest, OS_STR("<?xml"));
    return (os_guess){xml ? "an XML file" : "an HTML page",
                      xml ? NULL : "the server answered with a page in place of the file", true};
  }
  if (rest.len > 0 && (rest.data[0] == '{' || rest.data[0] == '['))
    return (os_guess){"JSON text", NULL, true};
  size_t word = 0;
  while (word < rest.len && os_guess__word(rest.data[word])) word++;
  size_t next = word;
  while (next < rest.len && rest.data[next] == ' ') next++;
  if (word > 0 && next < rest.len && (rest.data[next] == ':' || rest.data[next] == '{'))
    return (os_guess){"a protobuf in text form", "convert it to its binary form first", true};
  return (os_guess){"a text file", NULL, true};
}

// JSON in another encoding than UTF-8, or with bytes that are no text: UTF-16 has a NUL in each unit. No ONNX message begins
// with '{' or '[', which start groups, nor with a mark of UTF-16; behind white space, which begins many, all must be text.
static bool os_guess__is_damaged_json(os_str head) {
  bool wide = os_str_starts(head, OS_STR("\xff\xfe")) || os_str_starts(head, OS_STR("\xfe\xff"));
  size_t mark = wide ? 2 : os_str_starts(head, OS_STR("\xef\xbb\xbf")) ? 3 : 0, at = mark;
  while (at < head.len && strchr(" \t\r\n", head.data[at]) != NULL) at++;
  if (at >= head.len || (head.data[at] != '{' && head.data[at] != '[')) return false;
  for (size_t i = mark; mark == 0 && at > 0 && i < head.len; i++)
    if ((unsigned char)head.data[i] < 0x20 && strchr(" \t\r\n", head.data[i]) == NULL) return false;
  return true;
}

os_guess os_guess_file(os_str head, uint64_t length) {
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
    const os_magic *magic = &magics[i];
    if (head.len >= magic->at && os_str_starts(os_str_slice(head, magic->at, head.len), magic->bytes))
      return (os_guess){magic->name, magic->hint, i == 0};
  }
  if (os_is_zip(head)) {
    if (os_guess__has(head, OS_STR("data.pkl")))
      return (os_guess){"a PyTorch file (a zip archive)", "export the model with torch.onnx.export", false};
    return (os_guess){"a zip archive", unpack, false};
  }
  if (head.len > 9 && head.data[8] == '{' && head.data[9] == '"') { // eight bytes of length, then JSON
    uint64_t json;
    memcpy(&json, head.data, 8);
    if (json < length) return (os_guess){"a safetensors file", not_onnx, false};
  }
  if (os_guess__is_text(head, head.len < length)) return os_guess__text(head);
  if (os_guess__is_damaged_json(head)) return (os_guess){"JSON text", NULL, true};
  return (os_guess){0};
}

enum { ITEMS = 4096, SAMPLES = 8 };

typedef struct os_fit_item {
  uint32_t number, wire;
  size_t data;  // may be behind the head
  uint64_t end; // may be behind the head
} os_fit_item;

// False: malformed here. Groups are stepped into as if their fields stood outside: good enough for a guess. A header that
// is cut at the end of the head gives an item that ends there.
static bool os_fit__item(os_str head, size_t at, uint64_t end, os_fit_item *item) {
  const uint8_t *p = (const uint8_t *)head.data + at, *limit = (const uint8_t *)head.data + head.len;
  if (end < head.len) limit = (const uint8_t *)head.data + end;
  uint64_t tag = 0, value = 0;
  int n = os_varint_read(p, limit, &tag), more = 0;
  *item = (os_fit_item){.number = (uint32_t)(tag >> 3), .wire = (uint32_t)(tag & 7), .data = at, .end = end};
  if (n == 0) return end > head.len;
  if (n < 0 || tag >> 3 == 0 || tag >> 3 > OS_FIELD_MAX) return false;
  if (item->wire == OS_WIRE_VARINT || item->wire == OS_WIRE_BYTES) {
    more = os_varint_read(p + n, limit, &value);
    if (more == 0) return end > head.len;
    if (more < 0) return false;
    if (item->wire == OS_WIRE_VARINT) value = 0;
  } else if (item->wire == OS_WIRE_64 || item->wire == OS_WIRE_32) {
    value = item->wire == OS_WIRE_64 ? 8 : 4;
  } else if (item->wire > OS_WIRE_32) {
    return false;
  }
  item->data = at + (size_t)(n + more);
  if (value > end - item->data) return false;
  item->end = item->data + value;
  return true;
}

static bool os_fit__field(os_str head, const ProtobufCMessageDescriptor *type,
                          const ProtobufCFieldDescriptor *field, const os_fit_item *item) {
  if (field == NULL) return false;
  bool scalar = field->type != PROTOBUF_C_TYPE_BYTES && field->type != PROTOBUF_C_TYPE_MESSAGE;
  uint32_t wire = !scalar                                 ? OS_WIRE_BYTES
                  : field->type == PROTOBUF_C_TYPE_FLOAT  ? OS_WIRE_32
                  : field->type == PROTOBUF_C_TYPE_DOUBLE ? OS_WIRE_64
                                                          : OS_WIRE_VARINT;
  uint64_t n = item->end - item->data;
  if (scalar && field->label == PROTOBUF_C_LABEL_REPEATED && item->wire == OS_WIRE_BYTES)
    return wire == OS_WIRE_VARINT || n % (wire == OS_WIRE_32 ? 4 : 8) == 0;
  if (item->wire != wire) return false;
  if (!os_proto_field_is_text(type, field) || item->data >= head.len || n == 0) return true;
  if (n > 64) n = 64;
  if (n > head.len - item->data) n = head.len - item->data;
  return os_guess__is_text(os_str_slice(head, item->data, item->data + (size_t)n),
                           n < item->end - item->data);
}

static void os_fit__level(os_str head, const ProtobufCMessageDescriptor *type, size_t at, uint64_t end,
                          bool inner, os_fit *out) {
  unsigned samples = 0;
  for (unsigned i = 0; at < end && at < head.len && i < ITEMS; i++) {
    os_fit_item item;
    out->wire = os_fit__item(head, at, end, &item);
    if (!out->wire) { // a length that is too large still shows which field was meant
      const ProtobufCFieldDescriptor *cut = protobuf_c_message_descriptor_get_field(type, item.number);
      out->known +=
          cut != NULL && cut->type == PROTOBUF_C_TYPE_MESSAGE && item.wire == OS_WIRE_BYTES && item.data > at;
      return;
    }
    if (item.data == at) return; // the head ends here
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(type, item.number);
    bool fits = os_fit__field(head, type, field, &item);
    *(fits ? &out->known : &out->unknown) += 1;
    if (fits && !inner && field->type == PROTOBUF_C_TYPE_MESSAGE && samples++ < SAMPLES) {
      os_fit__level(head, field->descriptor, item.data, item.end, true, out);
      if (!out->wire) return;
    }
    if (item.end >= head.len) return;
    at = (size_t)item.end;
  }
}

os_fit os_proto_fit(os_str head, uint64_t length, const ProtobufCMessageDescriptor *type) {
  os_fit self = {.wire = true};
  os_fit__level(head, type, 0, length, false, &self);
  return self;
}
