// StringConcat, StringSplit, StringNormalizer, RegexFullMatch, TfIdfVectorizer.

#include "broadcast.h"
#include "kit.h"
#include "letters.h"
#include "regex.h"

static bool strings__equal(os_str a, os_str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

// Room for text while an operator runs: a tensor that the caller releases.
static op_value *strings__room(op_run *ctx, size_t bytes) {
  int64_t dim = (int64_t)bytes + 1;
  return op_run_new_tensor(ctx, OP_UINT8, 1, &dim);
}

static size_t strings__longest(const op_tensor *tensor) {
  size_t longest = 0;
  for (int64_t i = 0; i < tensor->count; i++) {
    size_t len = ((const os_str *)tensor->data)[i].len;
    if (len > longest) longest = len;
  }
  return longest;
}

// ---- StringConcat -----------------------------------------------------------------------------------------

static os_status join__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_STRING);
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  OS_TRY(op_infer_broadcast(ctx, 0, 1, dims, &rank));
  op_infer_set_shape(ctx, 0, rank, dims);
  return OS_OK;
}

static os_status join__all(op_run *ctx, op_tensor *out, const math_broadcast *plan, char *room) {
  const os_str *a = op_run_input(ctx, 0)->data, *b = op_run_input(ctx, 1)->data;
  size_t index[MATH_RANK] = {0};
  for (size_t i = 0; i < plan->count; i++) {
    os_str left = a[broadcast_at(plan, 0, index)], right = b[broadcast_at(plan, 1, index)];
    if (left.len) memcpy(room, left.data, left.len);
    if (right.len) memcpy(room + left.len, right.data, right.len);
    OS_TRY(op_string_set(out, (int64_t)i, (os_str){room, left.len + right.len}));
    kit_next(plan->rank, plan->dims, index);
  }
  return OS_OK;
}

static os_status join__compute(op_run *ctx) {
  const op_tensor *a = op_run_input(ctx, 0), *b = op_run_input(ctx, 1);
  op_tensor *out = op_run_output(ctx, 0);
  if (a->elem != OP_STRING || b->elem != OP_STRING) return op_run_fail(ctx, "both inputs must be strings");
  math_broadcast plan;
  OS_TRY(broadcast_plan(ctx, &plan, 2, (const op_tensor *const[]){a, b}, out));
  if (plan.count == 0) return OS_OK;
  op_value *room = strings__room(ctx, strings__longest(a) + strings__longest(b));
  if (!room) return OS_OUT_OF_MEMORY;
  os_status status = join__all(ctx, out, &plan, op_value_edit(room)->data);
  op_value_release(room);
  return status;
}

// ---- StringSplit ------------------------------------------------------------------------------------------

// Takes the next piece off `rest`; false after the last. Without a delimiter pieces lie between runs of white space.
typedef struct split_text {
  os_str rest, delimiter;
  int64_t left; // how often may still be cut
  bool done;
} split_text;

static size_t split__blank(os_str text, size_t at) {
  return letters_blank((os_str){text.data + at, text.len - at});
}

static bool split__next_word(split_text *self, os_str *piece) {
  size_t begin = 0, blank;
  while (begin < self->rest.len && (blank = split__blank(self->rest, begin)) > 0) begin += blank;
  if (begin == self->rest.len) return false;
  size_t end = begin;
  if (self->left == 0) end = self->rest.len;
  while (end < self->rest.len && split__blank(self->rest, end) == 0) end++;
  *piece = (os_str){self->rest.data + begin, end - begin};
  self->rest = (os_str){self->rest.data + end, self->rest.len - end};
  self->left--;
  return true;
}

static bool split__next(split_text *self, os_str *piece) {
  if (self->delimiter.len == 0) return split__next_word(self, piece);
  if (self->done) return false;
  os_str rest = self->rest, delimiter = self->delimiter;
  for (size_t at = 0; self->left != 0 && at + delimiter.len <= rest.len; at++) {
    if (memcmp(rest.data + at, delimiter.data, delimiter.len) != 0) continue;
    *piece = (os_str){rest.data, at};
    self->rest = (os_str){rest.data + at + delimiter.len, rest.len - at - delimiter.len};
    self->left--;
    return true;
  }
  *piece = rest;
  self->done = true;
  return true;
}

static split_text split__begin(const op_node *node, os_str text) {
  int64_t most = op_attr_int(node, "maxsplit", -1);
  return (split_text){
      .rest = text, .delimiter = op_attr_string(node, "delimiter", ""), .left = most < 0 ? -1 : most};
}

static os_status split__infer(op_infer *ctx) {
  int32_t rank;
  const op_dim *dims = op_infer_dims(ctx, 0, &rank);
  op_infer_set_elem(ctx, 0, OP_STRING);
  op_infer_set_elem(ctx, 1, OP_INT64);
  if (rank < 0) return OS_OK;
  op_infer_set_shape(ctx, 1, rank, dims);
  op_dim *out = op_infer_set_rank(ctx, 0, rank + 1);
  for (int32_t i = 0; out && i < rank; i++) out[i] = dims[i];
  return OS_OK;
}

static os_status split__compute(op_run *ctx) {
  const op_node *node = op_run_node(ctx);
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *counts =
      op_run_has_output(ctx, 1) ? op_run_allocate(ctx, 1, OP_INT64, in->rank, in->dims) : NULL;
  if (op_run_has_output(ctx, 1) && !counts) return OS_OUT_OF_MEMORY;
  const os_str *texts = in->data;
  int64_t most = 0, dims[OP_MAX_RANK];
  os_str piece;
  for (int64_t i = 0; i < in->count; i++) {
    int64_t count = 0;
    for (split_text text = split__begin(node, texts[i]); split__next(&text, &piece);) count++;
    if (counts) ((int64_t *)counts->data)[i] = count;
    if (count > most) most = count;
  }
  if (!op_run_has_output(ctx, 0)) return OS_OK;
  if (in->rank >= OP_MAX_RANK) return op_run_fail(ctx, "the rank is too high");
  for (int32_t i = 0; i < in->rank; i++) dims[i] = in->dims[i];
  dims[in->rank] = most;
  op_tensor *out = op_run_allocate(ctx, 0, OP_STRING, in->rank + 1, dims);
  if (!out) return OS_OUT_OF_MEMORY;
  for (int64_t i = 0; most > 0 && i < in->count; i++) {
    os_str *to = (os_str *)out->data + i * most;
    for (split_text text = split__begin(node, texts[i]); split__next(&text, &piece);) *to++ = piece;
  }
  return kit_keep(out, in);
}

// ---- StringNormalizer -------------------------------------------------------------------------------------

typedef enum normalize_case {
  NORMALIZE_NONE,
  NORMALIZE_LOWER,
  NORMALIZE_UPPER,
  NORMALIZE_BAD
} normalize_case;

static normalize_case normalize__case(const op_node *node) {
  return (normalize_case)kit_word(node, "case_change_action", "NONE\0LOWER\0UPPER\0");
}

static os_status normalize__infer(op_infer *ctx) {
  op_infer_set_elem(ctx, 0, OP_STRING);
  if (normalize__case(op_infer_node(ctx)) == NORMALIZE_BAD) {
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "case_change_action must be NONE, LOWER or UPPER");
  }
  int32_t rank = op_infer_rank(ctx, 0);
  if (rank < 0) return OS_OK;
  if (rank != 1 && !(rank == 2 && (op_infer_dim(ctx, 0, 0) < 0 || op_infer_dim(ctx, 0, 0) == 1))) {
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X must have the shape [C] or [1, C], its rank is %d",
                         (int)rank);
  }
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (out && rank == 2) out[0] = 1;
  return OS_OK;
}

// Stop words are compared before the case is changed, and without regard to case unless told otherwise. `room` holds two
// texts of `room_each` bytes.
static bool normalize__stops(const op_node *node, os_str text, char *room, size_t room_each) {
  size_t count;
  const os_str *words = op_attr_strings(node, "stopwords", &count);
  bool exact = op_attr_int(node, "is_case_sensitive", 0) != 0;
  os_str folded = exact ? text : (os_str){room, letters_change(room, text, false)};
  for (size_t i = 0; i < count; i++) {
    if (letters_changed_room(words[i]) > room_each) continue; // longer than any text
    os_str word =
        exact ? words[i] : (os_str){room + room_each, letters_change(room + room_each, words[i], false)};
    if (strings__equal(folded, word)) return true;
  }
  return false;
}

static os_status normalize__all(op_run *ctx, const op_tensor *in, char *room, size_t room_each) {
  const op_node *node = op_run_node(ctx);
  normalize_case change = normalize__case(node);
  int64_t kept = 0, at = 0;
  for (int64_t i = 0; i < in->count; i++)
    kept += !normalize__stops(node, ((const os_str *)in->data)[i], room, room_each);
  int64_t dims[2] = {1, kept > 0 ? kept : 1}; // nothing left: one empty string
  op_tensor *out = op_run_allocate(ctx, 0, OP_STRING, in->rank, in->rank == 1 ? dims + 1 : dims);
  if (!out) return OS_OUT_OF_MEMORY;
  for (int64_t i = 0; i < in->count; i++) {
    os_str text = ((const os_str *)in->data)[i];
    if (normalize__stops(node, text, room, room_each)) continue;
    if (change != NORMALIZE_NONE)
      text = (os_str){room, letters_change(room, text, change == NORMALIZE_UPPER)};
    OS_TRY(op_string_set(out, at++, text));
  }
  return OS_OK;
}

static os_status normalize__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  size_t longest = 0, count;
  const os_str *words = op_attr_strings(op_run_node(ctx), "stopwords", &count);
  for (int64_t i = 0; i < in->count; i++) {
    size_t needs = letters_changed_room(((const os_str *)in->data)[i]);
    if (needs > longest) longest = needs;
  }
  for (size_t i = 0; i < count; i++) {
    if (letters_changed_room(words[i]) > longest) longest = letters_changed_room(words[i]);
  }
  op_value *room = strings__room(ctx, 2 * longest);
  if (!room) return OS_OUT_OF_MEMORY;
  os_status status = normalize__all(ctx, in, op_value_edit(room)->data, longest);
  op_value_release(room);
  return status;
}

// ---- RegexFullMatch ---------------------------------------------------------------------------------------

static os_status match__infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  op_infer_set_elem(ctx, 0, OP_BOOL);
  return OS_OK;
}

enum { MATCH_MOST = 1 << 20 }; // steps of a pattern

// Room for `entries` of everything, in one tensor; the sets come last.
static uint32_t *match__lay_out(regex *self, uint32_t entries, char *at) {
  self->step_room = self->range_room = self->part_room = self->task_room = entries;
  self->steps = (regex_step *)(void *)at;
  self->ranges = (regex_range *)(void *)(self->steps + entries);
  self->parts = (regex_part *)(void *)(self->ranges + entries);
  self->tasks = (regex_task *)(void *)(self->parts + entries);
  return (uint32_t *)(void *)(self->tasks + entries);
}

static size_t match__bytes(uint32_t entries) {
  size_t each = sizeof(regex_step) + sizeof(regex_range) + sizeof(regex_part) + sizeof(regex_task);
  return entries * each + 4 * ((size_t)entries + 1) * sizeof(uint32_t);
}

// Compiles into as much room as it takes. *room is the caller's to release, also on failure.
static os_status match__compile(op_run *ctx, regex *self, uint32_t **sets, op_value **room) {
  os_str pattern = op_attr_string(op_run_node(ctx), "pattern", "");
  bool too_large = true;
  const char *wrong = "the pattern is too large";
  for (uint32_t entries = 256; too_large && entries <= MATCH_MOST; entries *= 8) {
    op_value_release(*room);
    *room = strings__room(ctx, match__bytes(entries));
    if (!*room) return OS_OUT_OF_MEMORY;
    *sets = match__lay_out(self, entries, op_value_edit(*room)->data);
    wrong = regex_compile(self, pattern, &too_large);
  }
  return wrong ? op_run_fail(ctx, "pattern: %s", wrong) : OS_OK;
}

static os_status match__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  regex compiled;
  uint32_t *sets;
  op_value *room = NULL;
  os_status status = match__compile(ctx, &compiled, &sets, &room);
  for (int64_t i = 0; status == OS_OK && i < in->count; i++) {
    ((uint8_t *)out->data)[i] = regex_matches(&compiled, ((const os_str *)in->data)[i], sets);
  }
  op_value_release(room);
  return status;
}

// ---- TfIdfVectorizer --------------------------------------------------------------------------------------

// The pool of n-grams: all 1-grams first, then all 2-grams, ...; `starts` says where each length begins.
typedef struct tfidf_pool {
  const int64_t *numbers;
  const os_str *strings;
  const int64_t *starts, *columns;
  const float *weights;
  size_t items, lengths, grams, weight_count;
} tfidf_pool;

static tfidf_pool tfidf__pool(const op_node *node) {
  tfidf_pool pool = {0};
  size_t numbers, strings;
  pool.numbers = op_attr_ints(node, "pool_int64s", &numbers);
  pool.strings = op_attr_strings(node, "pool_strings", &strings);
  pool.items = strings > 0 ? strings : numbers;
  if (strings == 0) pool.strings = NULL;
  pool.starts = op_attr_ints(node, "ngram_counts", &pool.lengths);
  pool.columns = op_attr_ints(node, "ngram_indexes", &pool.grams);
  pool.weights = op_attr_floats(node, "weights", &pool.weight_count);
  return pool;
}

static int64_t tfidf__width(const tfidf_pool *pool) {
  int64_t width = 0;
  for (size_t i = 0; i < pool->grams; i++) {
    if (pool->columns[i] >= width && pool->columns[i] < INT64_MAX) width = pool->columns[i] + 1;
  }
  return width;
}

static os_status tfidf__infer(op_infer *ctx) {
  tfidf_pool pool = tfidf__pool(op_infer_node(ctx));
  op_infer_set_elem(ctx, 0, OP_FLOAT);
  for (size_t i = 0; i < pool.lengths; i++) {
    if (pool.starts[i] < (i > 0 ? pool.starts[i - 1] : 0) || (uint64_t)pool.starts[i] > pool.items) {
      return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "ngram_counts[%zu] is %lld, the pool has %zu items", i,
                           (long long)pool.starts[i], pool.items);
    }
  }
  for (size_t i = 0; i < pool.grams; i++) {
    if (pool.columns[i] < 0 || pool.columns[i] > INT32_MAX) {
      return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "ngram_indexes[%zu] is %lld", i,
                           (long long)pool.columns[i]);
    }
  }
  int32_t rank = op_infer_rank(ctx, 0);
  if (rank < 0) return OS_OK;
  if (rank != 1 && rank != 2)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "X has rank %d, expected 1 or 2", (int)rank);
  op_dim *out = op_infer_set_rank(ctx, 0, rank);
  if (!out) return OS_OK;
  if (rank == 2) out[0] = op_infer_dim(ctx, 0, 0);
  out[rank - 1] = tfidf__width(&pool);
  return OS_OK;
}

static bool tfidf__same(const tfidf_pool *pool, size_t item, const op_tensor *in, size_t at) {
  if (!pool->strings) return in->elem != OP_STRING && kit_int(in, (int64_t)at) == pool->numbers[item];
  return in->elem == OP_STRING && strings__equal(((const os_str *)in->data)[at], pool->strings[item]);
}

// Number of the n-gram at `at` with items `step` apart, in pool order; SIZE_MAX when it is not in the pool.
static size_t tfidf__find(const tfidf_pool *pool, size_t n, const op_tensor *in, size_t at, size_t step) {
  size_t gram = 0;
  for (size_t length = 1; length <= pool->lengths; length++) {
    size_t begin = (size_t)pool->starts[length - 1];
    size_t end = length < pool->lengths ? (size_t)pool->starts[length] : pool->items;
    if (length < n) {
      gram += (end - begin) / length;
      continue;
    }
    for (; begin + n <= end; begin += n, gram++) {
      size_t k = 0;
      while (k < n && tfidf__same(pool, begin + k, in, at + k * step)) k++;
      if (k == n) return gram < pool->grams ? gram : SIZE_MAX;
    }
    return SIZE_MAX;
  }
  return SIZE_MAX;
}

static void tfidf__row(const op_node *node, const tfidf_pool *pool, const op_tensor *in, size_t begin,
                       size_t length, float *out) {
  os_str mode = op_attr_string(node, "mode", "TF");
  bool weighed = mode.len != 2, counted = mode.len != 3; // TF, IDF, TFIDF
  int64_t shortest = op_attr_int(node, "min_gram_length", 1),
          longest = op_attr_int(node, "max_gram_length", 1);
  int64_t skips = op_attr_int(node, "max_skip_count", 0);
  if (longest > (int64_t)pool->lengths) longest = (int64_t)pool->lengths;
  for (int64_t n = shortest < 1 ? 1 : shortest; n <= longest; n++) {
    for (size_t step = 1; step <= (size_t)(skips < 0 ? 0 : skips) + 1; step++) {
      size_t reach = (size_t)(n - 1) * step;
      if (step > 1 && (n == 1 || reach >= length)) break;
      for (size_t at = 0; at + reach < length; at++) {
        size_t gram = tfidf__find(pool, (size_t)n, in, begin + at, step);
        if (gram == SIZE_MAX) continue;
        float weight = weighed && gram < pool->weight_count ? pool->weights[gram] : 1;
        float *to = &out[pool->columns[gram]];
        *to = counted ? *to + weight : weight;
      }
    }
  }
}

static os_status tfidf__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  tfidf_pool pool = tfidf__pool(op_run_node(ctx));
  size_t rows = in->rank == 2 ? (size_t)in->dims[0] : 1, length = rows > 0 ? (size_t)in->count / rows : 0;
  size_t width = (size_t)tfidf__width(&pool);
  if ((size_t)out->count != rows * width) return kit_shape_broken(ctx, "the table of n-grams");
  kit_zero(out);
  for (size_t row = 0; row < rows; row++) {
    tfidf__row(op_run_node(ctx), &pool, in, row * length, length, (float *)out->data + row * width);
  }
  return OS_OK;
}

// ---- Rows -------------------------------------------------------------------------------------------------

#define STRINGS(name, version, more, family) \
  {.op_type = name,                          \
   .since = version,                         \
   .traits = OP_PURE | (more),               \
   .infer = family##__infer,                 \
   .compute = family##__compute}

static const op_row rows[] = {
    STRINGS("StringConcat", 20, 0, join),    STRINGS("StringSplit", 20, OP_DATA_SHAPE, split),
    STRINGS("RegexFullMatch", 20, 0, match), STRINGS("StringNormalizer", 10, OP_DATA_SHAPE, normalize),
    STRINGS("TfIdfVectorizer", 9, 0, tfidf),
};

OP_FAMILY(strings, rows);
