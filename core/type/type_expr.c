#include "type_expr.h"

#include "text.h"

typedef struct os_type__word {
  const char *text;
  os_type_kind kind;
} os_type__word;

static const os_type__word os_type__words[] = {
    {"tensor", OS_TYPE_TENSOR}, {"sparse_tensor", OS_TYPE_SPARSE}, {"seq", OS_TYPE_SEQUENCE},
    {"map", OS_TYPE_MAP},       {"optional", OS_TYPE_OPTIONAL},    {"opaque", OS_TYPE_OPAQUE},
};

typedef struct os_type__parser {
  os_types *types;
  os_str text;
  size_t at;
  os_type_fault *fault;
  struct {
    os_type_kind kind;
    op_elem key;
  } stack[OS_TYPE_DEPTH]; // the types whose inner type is being read
  size_t depth;
} os_type__parser;

static bool os_type__is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

static bool os_type__is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void os_type__skip(os_type__parser *self) {
  while (self->at < self->text.len && os_type__is_blank(self->text.data[self->at])) self->at++;
}

static os_str os_type__read_word(os_type__parser *self) {
  os_type__skip(self);
  size_t start = self->at;
  while (self->at < self->text.len && os_type__is_word(self->text.data[self->at])) self->at++;
  return (os_str){self->text.data + start, self->at - start};
}

static bool os_type__fail(os_type__parser *self, os_type_fault_kind kind, size_t start, size_t end,
                          const char *expected) {
  *self->fault = (os_type_fault){kind, start, end - start, expected, {NULL, 0}};
  return false;
}

static bool os_type__expect(os_type__parser *self, char c, const char *expected) {
  os_type__skip(self);
  if (self->at < self->text.len && self->text.data[self->at] == c) {
    self->at++;
    return true;
  }
  return os_type__fail(self, OS_TYPE_FAULT_SYNTAX, self->at, self->at + (self->at < self->text.len),
                       expected);
}

static os_type_kind os_type__constructor(os_str word) {
  for (size_t i = 0; i < sizeof os_type__words / sizeof *os_type__words; i++)
    if (os_str_is(word, os_type__words[i].text)) return os_type__words[i].kind;
  return OS_TYPE_UNKNOWN;
}

// The element name of a tensor, sparse tensor or map key.
static bool os_type__element(os_type__parser *self, os_type_fault_kind nested, const char *expected,
                             op_elem *out) {
  os_str word = os_type__read_word(self);
  size_t start = (size_t)(word.data - self->text.data);
  if (word.len == 0)
    return os_type__fail(self, OS_TYPE_FAULT_SYNTAX, start, start + (start < self->text.len), expected);
  *out = os_elem_by_onnx_name(word);
  if (*out != OP_NONE) return true;
  bool type = os_type__constructor(word) != OS_TYPE_UNKNOWN;
  return os_type__fail(self, type ? nested : OS_TYPE_FAULT_ELEMENT, start, self->at, expected);
}

static bool os_type__map_key(os_type__parser *self, op_elem *key) {
  static const char expected[] = "an integer type or string as key of the map";
  os_type__skip(self);
  size_t start = self->at;
  if (!os_type__element(self, OS_TYPE_FAULT_MAP_KEY, expected, key)) return false;
  if (!os_elem_is_key((int)*key))
    return os_type__fail(self, OS_TYPE_FAULT_MAP_KEY, start, self->at, expected);
  return os_type__expect(self, ',', "a comma and the type of the map's values");
}

static bool os_type__opaque(os_type__parser *self, os_type *type) {
  type->name = os_type__read_word(self);
  os_type__skip(self);
  if (self->at < self->text.len && self->text.data[self->at] == ',') {
    self->at++;
    type->domain = type->name;
    type->name = os_type__read_word(self);
  }
  if (type->name.len == 0)
    return os_type__fail(self, OS_TYPE_FAULT_SYNTAX, self->at, self->at + (self->at < self->text.len),
                         "the name of the opaque type");
  return os_type__expect(self, ')', "a closing parenthesis");
}

// One step: reads a constructor. *made gets the type when it is complete; else the parser went one level deeper.
static bool os_type__open(os_type__parser *self, op_type *made) {
  os_type__skip(self);
  size_t start = self->at;
  os_str word = os_type__read_word(self);
  os_type type = {.kind = os_type__constructor(word)};
  bool in_map = self->depth > 0 && self->stack[self->depth - 1].kind == OS_TYPE_MAP;
  if (type.kind == OS_TYPE_UNKNOWN) {
    op_elem elem = os_elem_by_onnx_name(word);
    if (in_map && elem != OP_NONE) {
      *made = op_type_tensor(elem);
      return true;
    }
    bool element = in_map && word.len > 0 && (self->at >= self->text.len || self->text.data[self->at] == ')');
    size_t end = word.len > 0 ? self->at : start + (start < self->text.len);
    return os_type__fail(self, element ? OS_TYPE_FAULT_ELEMENT : OS_TYPE_FAULT_SYNTAX, start, end,
                         "tensor(...), sparse_tensor(...), seq(...), map(...), optional(...) or opaque(...)");
  }
  if (type.kind == OS_TYPE_OPTIONAL && self->depth > 0 &&
      self->stack[self->depth - 1].kind == OS_TYPE_OPTIONAL)
    return os_type__fail(self, OS_TYPE_FAULT_NESTING, start, self->at, "a type that is not optional itself");
  if (!os_type__expect(self, '(', "an opening parenthesis")) return false;
  switch (type.kind) {
  case OS_TYPE_TENSOR:
  case OS_TYPE_SPARSE:
    if (!os_type__element(self, OS_TYPE_FAULT_NESTING, "the name of an element type", &type.elem))
      return false;
    if (!os_type__expect(self, ')', "a closing parenthesis")) return false;
    *made = os_types_intern(self->types, type);
    return true;
  case OS_TYPE_OPAQUE:
    if (!os_type__opaque(self, &type)) return false;
    *made = os_types_intern(self->types, type);
    return true;
  default: break;
  }
  if (self->depth == OS_TYPE_DEPTH)
    return os_type__fail(self, OS_TYPE_FAULT_NESTING, start, self->at, "at most 64 types inside each other");
  self->stack[self->depth].kind = type.kind;
  self->stack[self->depth].key = OP_NONE;
  self->depth++;
  return type.kind != OS_TYPE_MAP || os_type__map_key(self, &self->stack[self->depth - 1].key);
}

// The type of "tensor(E)" without blanks, as most expressions are written; 0 for all others.
static op_type os_type__plain(os_str text) {
  if (text.len < 9 || !os_str_starts(text, OS_STR("tensor(")) || text.data[text.len - 1] != ')') return 0;
  op_elem elem = os_elem_by_onnx_name(os_str_slice(text, 7, text.len - 1));
  return elem == OP_NONE ? 0 : op_type_tensor(elem);
}

bool os_type_is_canonical(const os_types *types, os_arena *arena, os_str text, op_type type) {
  if (op_type_is_tensor(type)) {
    os_str name = os_str_of(op_elem_name((op_elem)type));
    return text.len == name.len + 8 && os_str_starts(text, OS_STR("tensor(")) &&
           os_bytes_eq(text.data + 7, name.data, name.len) && text.data[text.len - 1] == ')';
  }
  return os_str_eq(text, os_types_print(types, arena, type));
}

static os_status os_type__parse(os_types *types, os_str text, op_type *out, os_type_fault *fault) {
  if (text.data == NULL) text = OS_STR("");
  *fault = (os_type_fault){.kind = OS_TYPE_FAULT_NONE};
  op_type made = os_type__plain(text);
  if (made != 0) {
    *out = made;
    return OS_OK;
  }
  os_type__parser self = {.types = types, .text = text, .fault = fault};
  while (made == 0) {
    size_t depth = self.depth;
    if (!os_type__open(&self, &made)) return OS_OK;
    if (made == 0 && self.depth == depth) return OS_OUT_OF_MEMORY;
  }
  while (self.depth > 0) {
    if (!os_type__expect(&self, ')', "a closing parenthesis")) return OS_OK;
    self.depth--;
    os_type type = {.kind = self.stack[self.depth].kind, .elem = self.stack[self.depth].key, .of = made};
    made = os_types_intern(types, type);
    if (made == 0) return OS_OUT_OF_MEMORY;
  }
  os_type__skip(&self);
  if (self.at < text.len)
    os_type__fail(&self, OS_TYPE_FAULT_SYNTAX, self.at, text.len, "the end of the expression");
  else
    *out = made;
  return OS_OK;
}

// ---- What was meant ---------------------------------------------------------------------------------------

typedef struct os_type__alias {
  const char *from, *to;
} os_type__alias;

// Names of other systems (NumPy, PyTorch, C, ONNX's own TensorProto), in lower case.
static const os_type__alias os_type__aliases[] = {
    {"float32", "float"},
    {"fp32", "float"},
    {"f32", "float"},
    {"single", "float"},
    {"half", "float16"},
    {"fp16", "float16"},
    {"f16", "float16"},
    {"float64", "double"},
    {"fp64", "double"},
    {"f64", "double"},
    {"bf16", "bfloat16"},
    {"boolean", "bool"},
    {"bool_", "bool"},
    {"str", "string"},
    {"utf8", "string"},
    {"text", "string"},
    {"byte", "uint8"},
    {"ubyte", "uint8"},
    {"u8", "uint8"},
    {"char", "int8"},
    {"i8", "int8"},
    {"short", "int16"},
    {"i16", "int16"},
    {"u16", "uint16"},
    {"int", "int32"},
    {"i32", "int32"},
    {"u32", "uint32"},
    {"uint", "uint32"},
    {"long", "int64"},
    {"i64", "int64"},
    {"u64", "uint64"},
    {"ulong", "uint64"},
    {"complex", "complex64"},
    {"cfloat", "complex64"},
    {"cdouble", "complex128"},
    {"i4", "int4"},
    {"u4", "uint4"},
    {"i2", "int2"},
    {"u2", "uint2"},
    {"fp4", "float4e2m1"},
    {"float4", "float4e2m1"},
    {"float8_e4m3fn", "float8e4m3fn"},
    {"float8_e4m3fnuz", "float8e4m3fnuz"},
    {"float8_e5m2", "float8e5m2"},
    {"float8_e5m2fnuz", "float8e5m2fnuz"},
    {"float8_e8m0", "float8e8m0"},
    {"float8_e8m0fnu", "float8e8m0"},
    {"float4_e2m1", "float4e2m1"},
    {"float4_e2m1fn", "float4e2m1"},
};

static const os_type__alias os_type__constructors[] = {
    {"tensor", "tensor"},
    {"ndarray", "tensor"},
    {"array", "tensor"},
    {"tensorproto", "tensor"},
    {"seq", "seq"},
    {"sequence", "seq"},
    {"list", "seq"},
    {"vector", "seq"},
    {"map", "map"},
    {"dict", "map"},
    {"optional", "optional"},
    {"option", "optional"},
    {"opaque", "opaque"},
    {"sparse_tensor", "sparse_tensor"},
    {"sparsetensor", "sparse_tensor"},
    {"sparse", "sparse_tensor"},
    {"sparse_tensor_proto", "sparse_tensor"},
};

static const char *os_type__aliased(const os_type__alias *table, size_t count, os_str word) {
  for (size_t i = 0; i < count; i++)
    if (os_str_is(word, table[i].from)) return table[i].to;
  return NULL;
}

enum { LONGEST_WORD = 32 };

static os_str os_type__lower(os_str word, char *buffer) {
  for (size_t i = 0; i < word.len; i++) {
    char c = word.data[i];
    buffer[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
  }
  return (os_str){buffer, word.len};
}

op_elem os_elem_guess(os_str name) {
  char buffer[LONGEST_WORD];
  if (name.len == 0 || name.len > sizeof buffer) return OP_NONE;
  os_str lower = os_type__lower(name, buffer);
  if (os_elem_by_onnx_name(lower) != OP_NONE) return os_elem_by_onnx_name(lower);
  const char *alias =
      os_type__aliased(os_type__aliases, sizeof os_type__aliases / sizeof *os_type__aliases, lower);
  if (alias != NULL) return os_elem_by_onnx_name(os_str_of(alias));
  op_elem nearest = OP_NONE;
  unsigned best = lower.len >= 5 ? 2 : 1;
  for (int i = 1; i < OP_ELEM_COUNT; i++) {
    unsigned distance = os_str_distance(lower, os_str_of(os_elem_info_of(i)->onnx), best);
    if (distance > best || (distance == best && nearest != OP_NONE)) continue;
    nearest = (op_elem)i;
    best = distance;
  }
  return nearest;
}

// A constructor that a word means; `misspelt` ones too, where one alone is near.
static const char *os_type__meant(os_str lower, bool misspelt) {
  const size_t count = sizeof os_type__constructors / sizeof *os_type__constructors;
  const char *nearest = os_type__aliased(os_type__constructors, count, lower);
  if (nearest != NULL || !misspelt) return nearest;
  unsigned best = lower.len >= 5 ? 2 : 1;
  bool several = false;
  for (size_t i = 0; i < count; i++) {
    const os_type__alias *row = &os_type__constructors[i];
    unsigned distance = os_str_distance(lower, os_str_of(row->from), best);
    if (distance > best) continue;
    several = distance == best && nearest != NULL && strcmp(nearest, row->to) != 0;
    nearest = row->to;
    best = distance;
  }
  return several ? NULL : nearest;
}

// What follows a word of a guess.
typedef enum os_type__next { OS_TYPE_NEXT_OTHER, OS_TYPE_NEXT_PAREN, OS_TYPE_NEXT_WORD } os_type__next;

// One word of a guess: a constructor where a parenthesis follows, or where one is missing (*opened then), an element name
// elsewhere. False when it is neither.
static bool os_type__guess_word(os_text *out, os_str word, os_type__next next, bool *bare, bool *opened) {
  char buffer[LONGEST_WORD];
  *opened = false;
  if (word.len > sizeof buffer) return false;
  os_str lower = os_type__lower(word, buffer);
  const char *constructor =
      next == OS_TYPE_NEXT_OTHER ? NULL : os_type__meant(lower, next == OS_TYPE_NEXT_PAREN);
  if (constructor != NULL) {
    os_text_puts(out, constructor);
    *opened = next == OS_TYPE_NEXT_WORD;
    if (*opened) os_text_char(out, '(');
    return true;
  }
  op_elem elem = os_elem_guess(word);
  if (elem == OP_NONE) return false;
  *bare = out->len == 0;
  os_text_puts(out, op_elem_name(elem));
  return true;
}

static char os_type__paren(char c) {
  if (c == '<' || c == '[' || c == '{' || c == '(') return '(';
  if (c == '>' || c == ']' || c == '}' || c == ')') return ')';
  return 0;
}

static size_t os_type__after_blanks(os_str text, size_t at) {
  while (at < text.len && os_type__is_blank(text.data[at])) at++;
  return at;
}

// Rewrites other systems' brackets and names: "double[]", "Tensor<float>", "tensor(float32". False when it cannot.
static bool os_type__rewrite(os_str text, os_text *out) {
  size_t open = 0, at = 0;
  bool bare = false;
  while ((at = os_type__after_blanks(text, at)) < text.len) {
    char c = text.data[at];
    if (os_type__is_word(c)) {
      size_t start = at;
      while (at < text.len && os_type__is_word(text.data[at])) at++;
      size_t next = os_type__after_blanks(text, at);
      os_type__next follows = next == text.len                         ? OS_TYPE_NEXT_OTHER
                              : os_type__paren(text.data[next]) == '(' ? OS_TYPE_NEXT_PAREN
                              : os_type__is_word(text.data[next])      ? OS_TYPE_NEXT_WORD
                                                                       : OS_TYPE_NEXT_OTHER;
      bool opened;
      if (!os_type__guess_word(out, os_str_slice(text, start, at), follows, &bare, &opened)) return false;
      open += opened;
      continue;
    }
    at++;
    if (c == ',')
      os_text_puts(out, ", ");
    else if (os_type__paren(c) == '(') {
      size_t next = os_type__after_blanks(text, at);
      if (next < text.len && os_type__paren(text.data[next]) == ')') {
        at = next + 1; // "[]" says tensor, and the element name stands before it
        continue;
      }
      os_text_char(out, '(');
      open++;
    } else if (os_type__paren(c) == ')') {
      if (open == 0) continue;
      os_text_char(out, ')');
      open--;
    } else
      return false;
  }
  while (open-- > 0) os_text_char(out, ')');
  if (!bare) return true;
  char *end = os_text_extend(out, 8);
  if (end == NULL) return false;
  memmove(out->data + 7, out->data, out->len - 8);
  memcpy(out->data, "tensor(", 7);
  out->data[out->len - 1] = ')';
  return true;
}

enum { LONGEST_GUESS = 1024 };

static void os_type__suggest(os_types *types, os_arena *arena, os_str text, os_type_fault *fault) {
  if (text.len > LONGEST_GUESS) return;
  os_text guess;
  os_text_init(&guess, arena->memory);
  op_type meant = 0;
  os_type_fault other;
  if (os_type__rewrite(text, &guess) && !guess.failed &&
      os_type__parse(types, os_text_str(&guess), &meant, &other) == OS_OK && meant != 0)
    fault->suggestion = os_types_print(types, arena, meant);
  os_text_clear(&guess);
}

os_status os_type_parse(os_types *types, os_arena *arena, os_str text, op_type *out, os_type_fault *fault) {
  *out = 0;
  OS_TRY(os_type__parse(types, text, out, fault));
  if (fault->kind != OS_TYPE_FAULT_NONE) os_type__suggest(types, arena, text, fault);
  return OS_OK;
}
