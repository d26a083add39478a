#include "dims.h"

#include "dim_sum.h"
#include "map.h"
#include "text.h"

// An expression may hold this many atoms, those inside functions counted. It bounds the recursion of printing as well.
enum { MOST_ATOMS = 64 };

typedef enum os_atom_kind { ATOM_SYMBOL, ATOM_FLOOR, ATOM_CEIL, ATOM_MIN, ATOM_MAX } os_atom_kind;

typedef struct os_atom {
  os_atom_kind kind;
  os_str name; // of a symbol
  op_dim a, b; // of a function
  uint32_t size;
  bool natural; // known to be >= 0
} os_atom;

// A sum as it is kept: `count` terms, each coefficient, degree, atoms, in 32-bit words.
typedef struct os_dim_entry {
  const uint32_t *words;
  uint32_t count;
  uint32_t size; // atoms in it, those inside functions counted
} os_dim_entry;

struct os_dims {
  os_arena *arena;
  struct {
    os_atom *items;
    size_t count, room;
  } atoms;
  struct {
    os_dim_entry *items;
    size_t count, room;
  } sums;
  os_map by_name, by_function, by_sum;
};

os_dims *os_dims_new(os_arena *arena) {
  os_dims *self = OS_ARENA_NEW(arena, os_dims);
  if (self == NULL) return NULL;
  self->arena = arena;
  os_map_init(&self->by_name, arena);
  os_map_init(&self->by_function, arena);
  os_map_init(&self->by_sum, arena);
  return self;
}

static op_dim os_dim__id(size_t index) { return INT64_MIN / 2 - (op_dim)index; }
static size_t os_dim__index(op_dim dim) { return (size_t)(INT64_MIN / 2 - dim); }

// ---- Between dims and sums --------------------------------------------------------------------------------

static bool os_dims__load(const os_dims *self, op_dim dim, os_sum *sum) {
  if (dim == OP_DIM_UNKNOWN) return false;
  if (op_dim_is_number(dim)) {
    os_sum_constant(sum, dim);
    return true;
  }
  size_t index = os_dim__index(dim);
  if (index >= self->sums.count) return false;
  const os_dim_entry *entry = &self->sums.items[index];
  const uint32_t *word = entry->words;
  sum->count = entry->count;
  for (uint32_t i = 0; i < entry->count; i++) {
    os_term *term = &sum->terms[i];
    term->coefficient = (int64_t)((uint64_t)word[0] | (uint64_t)word[1] << 32);
    term->degree = word[2];
    memcpy(term->atoms, word + 3, term->degree * sizeof *word);
    word += 3 + term->degree;
  }
  return true;
}

enum { MOST_WORDS = OS_SUM_TERMS * (3 + OS_SUM_DEGREE) };

static op_dim os_dims__store(os_dims *self, const os_sum *sum) {
  int64_t number;
  if (os_sum_is_constant(sum, &number)) return op_dim_is_number(number) ? number : OP_DIM_UNKNOWN;
  uint32_t words[MOST_WORDS];
  size_t count = 0;
  uint32_t size = 0;
  for (uint32_t i = 0; i < sum->count; i++) {
    const os_term *term = &sum->terms[i];
    words[count++] = (uint32_t)(uint64_t)term->coefficient;
    words[count++] = (uint32_t)((uint64_t)term->coefficient >> 32);
    words[count++] = term->degree;
    for (uint32_t j = 0; j < term->degree; j++) {
      words[count++] = term->atoms[j];
      size += self->atoms.items[term->atoms[j]].size;
    }
  }
  if (size > MOST_ATOMS) return OP_DIM_UNKNOWN;
  os_str key = {(const char *)words, count * sizeof *words};
  os_map_entry *entry = os_map_get(&self->by_sum, key);
  if (entry != NULL) return os_dim__id(entry->value.number);
  key = os_arena_copy(self->arena, key);
  if (key.data == NULL) return OP_DIM_UNKNOWN;
  os_dim_entry *slot = OS_PUSH(self->arena, &self->sums);
  entry = slot == NULL ? NULL : os_map_put(&self->by_sum, key, NULL);
  if (entry == NULL) return OP_DIM_UNKNOWN;
  // Arena blocks are aligned for anything.
  *slot = (os_dim_entry){(const uint32_t *)(const void *)key.data, sum->count, size};
  entry->value.number = self->sums.count - 1;
  return os_dim__id(self->sums.count - 1);
}

// ---- Atoms ------------------------------------------------------------------------------------------------

static op_dim os_dims__new_atom(os_dims *self, os_atom atom, size_t *index) {
  os_atom *slot = OS_PUSH(self->arena, &self->atoms);
  if (slot == NULL) return OP_DIM_UNKNOWN;
  *slot = atom;
  *index = self->atoms.count - 1;
  os_sum sum;
  os_sum_atom(&sum, (uint32_t)*index);
  return os_dims__store(self, &sum);
}

op_dim os_dims_symbol(os_dims *self, os_str name) {
  os_map_entry *entry = os_map_get(&self->by_name, name);
  if (entry != NULL) return *(const op_dim *)entry->value.pointer;
  op_dim *dim = OS_ARENA_NEW(self->arena, op_dim);
  os_str own = os_arena_copy(self->arena, name);
  if (dim == NULL || (own.data == NULL && own.len > 0)) return OP_DIM_UNKNOWN;
  size_t index;
  *dim = os_dims__new_atom(self, (os_atom){.kind = ATOM_SYMBOL, .name = own, .size = 1, .natural = true},
                           &index);
  entry = os_map_put(&self->by_name, own, NULL);
  if (entry == NULL) return OP_DIM_UNKNOWN;
  entry->value.pointer = dim;
  return *dim;
}

bool os_dims_bind(os_dims *self, os_str name, op_dim value) {
  os_dims_symbol(self, name);
  os_map_entry *entry = os_map_get(&self->by_name, name);
  if (entry == NULL) return false;
  *(op_dim *)entry->value.pointer = value;
  return true;
}

static uint32_t os_dims__size(const os_dims *self, op_dim dim) {
  return op_dim_is_number(dim) ? 0 : self->sums.items[os_dim__index(dim)].size;
}

// Is the sum known to be >= 0 whatever its symbols are?
static bool os_dims__natural(const os_dims *self, const os_sum *sum) {
  for (uint32_t i = 0; i < sum->count; i++) {
    if (sum->terms[i].coefficient < 0) return false;
    for (uint32_t j = 0; j < sum->terms[i].degree; j++)
      if (!self->atoms.items[sum->terms[i].atoms[j]].natural) return false;
  }
  return true;
}

static bool os_dims__dim_natural(const os_dims *self, op_dim dim) {
  os_sum sum;
  return os_dims__load(self, dim, &sum) && os_dims__natural(self, &sum);
}

static op_dim os_dims__function(os_dims *self, os_atom_kind kind, op_dim a, op_dim b) {
  if (a == OP_DIM_UNKNOWN || b == OP_DIM_UNKNOWN) return OP_DIM_UNKNOWN;
  if ((kind == ATOM_MIN || kind == ATOM_MAX) && a > b) {
    op_dim swap = a;
    a = b;
    b = swap;
  }
  int64_t numbers[3] = {kind, a, b};
  os_str key = {(const char *)numbers, sizeof numbers};
  os_map_entry *entry = os_map_get(&self->by_function, key);
  if (entry != NULL) {
    os_sum sum;
    os_sum_atom(&sum, (uint32_t)entry->value.number);
    return os_dims__store(self, &sum);
  }
  bool left = os_dims__dim_natural(self, a), right = os_dims__dim_natural(self, b);
  os_atom atom = {.kind = kind, .a = a, .b = b, .size = 1 + os_dims__size(self, a) + os_dims__size(self, b)};
  atom.natural = kind == ATOM_MAX ? left || right : left && right;
  if (atom.size > MOST_ATOMS) return OP_DIM_UNKNOWN;
  key = os_arena_copy(self->arena, key);
  size_t index;
  op_dim dim = key.data == NULL ? OP_DIM_UNKNOWN : os_dims__new_atom(self, atom, &index);
  entry = dim == OP_DIM_UNKNOWN ? NULL : os_map_put(&self->by_function, key, NULL);
  if (entry == NULL) return OP_DIM_UNKNOWN;
  entry->value.number = index;
  return dim;
}

// ---- Sums and products ------------------------------------------------------------------------------------

static op_dim os_dims__add(os_dims *self, op_dim a, op_dim b, int64_t factor) {
  os_sum left, right;
  if (!os_dims__load(self, a, &left) || !os_dims__load(self, b, &right)) return OP_DIM_UNKNOWN;
  return os_sum_add(&left, &left, &right, factor) ? os_dims__store(self, &left) : OP_DIM_UNKNOWN;
}

op_dim os_dims_add(os_dims *self, op_dim a, op_dim b) { return os_dims__add(self, a, b, 1); }
op_dim os_dims_sub(os_dims *self, op_dim a, op_dim b) { return os_dims__add(self, a, b, -1); }

op_dim os_dims_mul(os_dims *self, op_dim a, op_dim b) {
  if (a == 0 || b == 0) return 0;
  os_sum left, right, product;
  if (!os_dims__load(self, a, &left) || !os_dims__load(self, b, &right)) return OP_DIM_UNKNOWN;
  return os_sum_mul(&product, &left, &right) ? os_dims__store(self, &product) : OP_DIM_UNKNOWN;
}

// ---- Division ---------------------------------------------------------------------------------------------

static bool os_dims__negate(os_sum *sum) {
  for (uint32_t i = 0; i < sum->count; i++)
    if (__builtin_sub_overflow(0, sum->terms[i].coefficient, &sum->terms[i].coefficient)) return false;
  return true;
}

// Is the sum one floordiv by a number plus a constant? floor((floor(x/m) + k)/n) is floor((x + k*m)/(m*n)).
static bool os_dims__flatten(const os_dims *self, os_sum *sum, int64_t *divisor) {
  if (sum->count == 0 || sum->count > 2 || (sum->count == 2 && sum->terms[1].degree > 0)) return false;
  const os_term *term = &sum->terms[0];
  if (term->degree != 1 || term->coefficient != 1) return false;
  const os_atom *atom = &self->atoms.items[term->atoms[0]];
  if (atom->kind != ATOM_FLOOR || !op_dim_is_number(atom->b) || atom->b <= 0) return false;
  os_sum inner, constant;
  int64_t shift;
  if (__builtin_mul_overflow(os_sum_constant_part(sum), atom->b, &shift)) return false;
  if (__builtin_mul_overflow(*divisor, atom->b, divisor)) return false;
  os_sum_constant(&constant, shift);
  return os_dims__load(self, atom->a, &inner) && os_sum_add(sum, &inner, &constant, 1);
}

static int64_t os_dims__gcd(int64_t a, int64_t b) {
  if (a < 0) a = -a;
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Divides sum and divisor by what all coefficients but the constant have in common with the divisor; the constant rounds
// down, which changes nothing of the floor.
static void os_dims__reduce(os_sum *sum, int64_t *divisor) {
  int64_t common = *divisor;
  for (uint32_t i = 0; i < sum->count; i++)
    if (sum->terms[i].degree > 0) common = os_dims__gcd(sum->terms[i].coefficient, common);
  if (common <= 1) return;
  *divisor /= common;
  for (uint32_t i = 0; i < sum->count; i++) sum->terms[i].coefficient /= common; // all >= 0 here
  if (sum->count > 0 && sum->terms[sum->count - 1].coefficient == 0) sum->count--;
}

static op_dim os_dims__floor_number(os_dims *self, os_sum *sum, int64_t divisor) {
  while (true) {
    os_sum flat = *sum;
    int64_t deeper = divisor;
    if (!os_dims__flatten(self, &flat, &deeper)) break;
    *sum = flat;
    divisor = deeper;
  }
  os_sum by, quotient, rest;
  os_sum_constant(&by, divisor);
  if (!os_sum_divide(sum, &by, &quotient, &rest)) return OP_DIM_UNKNOWN;
  os_dims__reduce(&rest, &divisor);
  int64_t number;
  if (os_sum_is_constant(&rest, &number)) return os_dims__store(self, &quotient); // 0 <= number < divisor
  op_dim whole = os_dims__store(self, &quotient), part = os_dims__store(self, &rest);
  if (divisor > 1) part = os_dims__function(self, ATOM_FLOOR, part, divisor);
  return os_dims_add(self, whole, part);
}

static op_dim os_dims__divide(os_dims *self, op_dim a, op_dim b, bool up) {
  os_sum left, right, quotient, rest;
  if (b == 0 || !os_dims__load(self, a, &left) || !os_dims__load(self, b, &right)) return OP_DIM_UNKNOWN;
  int64_t number;
  if (os_sum_is_constant(&right, &number)) {
    if (number < 0 && (!os_dims__negate(&left) || __builtin_sub_overflow(0, number, &number)))
      return OP_DIM_UNKNOWN;
    os_sum last;
    os_sum_constant(&last, number - 1);
    if (up && !os_sum_add(&left, &left, &last, 1)) return OP_DIM_UNKNOWN;
    return os_dims__floor_number(self, &left, number);
  }
  if (!os_sum_divide(&left, &right, &quotient, &rest)) return OP_DIM_UNKNOWN;
  if (rest.count == 0) return os_dims__store(self, &quotient);
  os_atom_kind kind = up ? ATOM_CEIL : ATOM_FLOOR;
  if (right.count > 1) return os_dims__function(self, kind, a, b);
  op_dim part = os_dims__function(self, kind, os_dims__store(self, &rest), b);
  return os_dims_add(self, os_dims__store(self, &quotient), part);
}

op_dim os_dims_floordiv(os_dims *self, op_dim a, op_dim b) { return os_dims__divide(self, a, b, false); }
op_dim os_dims_ceildiv(os_dims *self, op_dim a, op_dim b) { return os_dims__divide(self, a, b, true); }

// ---- Least and greatest -----------------------------------------------------------------------------------

static op_dim os_dims__extreme(os_dims *self, op_dim a, op_dim b, bool greatest) {
  if (a == b) return a;
  os_sum left, right, difference;
  if (!os_dims__load(self, a, &left) || !os_dims__load(self, b, &right)) return OP_DIM_UNKNOWN;
  if (os_sum_add(&difference, &left, &right, -1) && os_dims__natural(self, &difference))
    return greatest ? a : b;
  if (os_sum_add(&difference, &right, &left, -1) && os_dims__natural(self, &difference))
    return greatest ? b : a;
  return os_dims__function(self, greatest ? ATOM_MAX : ATOM_MIN, a, b);
}

op_dim os_dims_min(os_dims *self, op_dim a, op_dim b) { return os_dims__extreme(self, a, b, false); }
op_dim os_dims_max(os_dims *self, op_dim a, op_dim b) { return os_dims__extreme(self, a, b, true); }

// ---- Printing ---------------------------------------------------------------------------------------------

static void os_dims__put(const os_dims *self, os_text *text, op_dim dim);

// An operand of a fraction: in parentheses unless it is one symbol, function or number.
static void os_dims__put_operand(const os_dims *self, os_text *text, op_dim dim) {
  bool plain = op_dim_is_number(dim);
  if (!plain) {
    const os_dim_entry *entry = &self->sums.items[os_dim__index(dim)];
    plain = entry->count == 1 && entry->words[0] == 1 && entry->words[1] == 0 && entry->words[2] == 1;
  }
  if (!plain) os_text_char(text, '(');
  os_dims__put(self, text, dim);
  if (!plain) os_text_char(text, ')');
}

static void os_dims__put_atom(const os_dims *self, os_text *text, const os_atom *atom) {
  static const char *const names[] = {
      [ATOM_FLOOR] = "floor", [ATOM_CEIL] = "ceil", [ATOM_MIN] = "min", [ATOM_MAX] = "max"};
  if (atom->kind == ATOM_SYMBOL) {
    os_text_put(text, atom->name);
    return;
  }
  bool fraction = atom->kind == ATOM_FLOOR || atom->kind == ATOM_CEIL;
  os_text_format(text, "%s(", names[atom->kind]);
  if (fraction)
    os_dims__put_operand(self, text, atom->a);
  else
    os_dims__put(self, text, atom->a);
  os_text_puts(text, fraction ? "/" : ", ");
  if (fraction)
    os_dims__put_operand(self, text, atom->b);
  else
    os_dims__put(self, text, atom->b);
  os_text_char(text, ')');
}

// Recursion is bounded by MOST_ATOMS.
static void os_dims__put(const os_dims *self, os_text *text, op_dim dim) {
  if (dim == OP_DIM_UNKNOWN) {
    os_text_char(text, '?');
    return;
  }
  if (op_dim_is_number(dim)) {
    os_text_format(text, "%lld", (long long)dim);
    return;
  }
  const os_dim_entry *entry = &self->sums.items[os_dim__index(dim)];
  const uint32_t *word = entry->words;
  for (uint32_t i = 0; i < entry->count; i++) {
    uint64_t size = (uint64_t)word[0] | (uint64_t)word[1] << 32;
    uint32_t degree = word[2];
    bool negative = word[1] >> 31 != 0;
    if (negative) size = 0 - size;
    if (i > 0)
      os_text_puts(text, negative ? " - " : " + ");
    else if (negative)
      os_text_char(text, '-');
    if (size != 1 || degree == 0) os_text_format(text, "%llu", (unsigned long long)size);
    for (uint32_t j = 0; j < degree; j++) {
      if (j > 0 || size != 1) os_text_char(text, '*');
      os_dims__put_atom(self, text, &self->atoms.items[word[3 + j]]);
    }
    word += 3 + degree;
  }
}

static os_str os_dims__finish(os_text *text, os_arena *arena) {
  os_str printed = text->failed ? OS_STR("?") : os_arena_copy(arena, os_text_str(text));
  os_text_clear(text);
  return printed.data == NULL ? OS_STR("?") : printed;
}

os_str os_dims_print(const os_dims *self, os_arena *arena, op_dim dim) {
  os_text text;
  os_text_init(&text, arena->memory);
  os_dims__put(self, &text, dim);
  return os_dims__finish(&text, arena);
}

os_str os_dims_print_shape(const os_dims *self, os_arena *arena, int32_t rank, const op_dim *dims) {
  if (rank < 0) return OS_STR("?");
  os_text text;
  os_text_init(&text, arena->memory);
  os_text_char(&text, '[');
  for (int32_t i = 0; i < rank; i++) {
    if (i > 0) os_text_puts(&text, ", ");
    os_dims__put(self, &text, dims[i]);
  }
  os_text_char(&text, ']');
  return os_dims__finish(&text, arena);
}
