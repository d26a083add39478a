// Einsum. Operands are contracted from left to right, two at a time, each time as a batch of matrix products; labels that
// nobody needs any more are summed away on the way.

#include "broadcast.h"
#include "kit.h"
#include "products.h"
#include "reduce.h"

// Labels: A-Z, a-z, then the axes of an ellipsis counted from its last one.
enum { EINSUM_LETTERS = 52, EINSUM_LABELS = EINSUM_LETTERS + OP_MAX_RANK, EINSUM_OPERANDS = 16 };

typedef struct einsum_term {
  int32_t count;
  int32_t ellipsis; // where the ellipsis stands in the term, -1 = nowhere
  uint8_t labels[OP_MAX_RANK + 1];
} einsum_term;

typedef struct einsum_equation {
  uint32_t count;
  einsum_term inputs[EINSUM_OPERANDS], output;
  bool explicit_output;
} einsum_equation;

// ---- The equation -------------------------------------------------------------------------------------------------

static int einsum__letter(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  return -1;
}

// Reads a term up to a comma, an arrow or the end. Answers what is wrong, or NULL.
static const char *einsum__term(os_str text, size_t *at, einsum_term *term) {
  *term = (einsum_term){.ellipsis = -1};
  for (; *at < text.len && text.data[*at] != ',' && text.data[*at] != '-'; ++*at) {
    char c = text.data[*at];
    int letter = einsum__letter(c);
    if (c == ' ') continue;
    if (c == '.') {
      if (term->ellipsis >= 0) return "a term has two ellipses";
      if (text.len - *at < 3 || text.data[*at + 1] != '.' || text.data[*at + 2] != '.')
        return "a dot stands alone";
      term->ellipsis = term->count;
      *at += 2;
      continue;
    }
    if (letter < 0) return "a character is neither letter, comma, ellipsis nor arrow";
    if (term->count == OP_MAX_RANK) return "a term has too many letters";
    term->labels[term->count++] = (uint8_t)letter;
  }
  return NULL;
}

static const char *einsum__parse(os_str text, einsum_equation *self) {
  *self = (einsum_equation){0};
  size_t at = 0;
  for (;;) {
    if (self->count == EINSUM_OPERANDS) return "there are too many terms";
    const char *wrong = einsum__term(text, &at, &self->inputs[self->count++]);
    if (wrong) return wrong;
    if (at == text.len) return NULL;
    if (text.data[at] == '-') break;
    at++;
  }
  if (text.len - at < 2 || text.data[at + 1] != '>') return "a minus is no arrow";
  at += 2;
  self->explicit_output = true;
  const char *wrong = einsum__term(text, &at, &self->output);
  if (wrong) return wrong;
  return at < text.len ? "something follows the output's term" : NULL;
}

// Writes out an ellipsis of `axes` axes.
static bool einsum__expand(einsum_term *term, int32_t axes) {
  if (term->ellipsis < 0) return axes == 0;
  if (axes < 0 || term->count + axes > OP_MAX_RANK) return false;
  memmove(term->labels + term->ellipsis + axes, term->labels + term->ellipsis,
          (size_t)(term->count - term->ellipsis));
  for (int32_t i = 0; i < axes; i++)
    term->labels[term->ellipsis + i] = (uint8_t)(EINSUM_LETTERS + axes - 1 - i);
  term->count += axes;
  term->ellipsis = -1;
  return true;
}

// The output's term where the equation has none: the ellipsis, then letters that occur once, in ASCII order.
static void einsum__implicit(einsum_equation *self, int32_t axes) {
  uint32_t times[EINSUM_LABELS] = {0};
  self->output = (einsum_term){.ellipsis = -1};
  for (uint32_t i = 0; i < self->count; i++)
    for (int32_t d = 0; d < self->inputs[i].count; d++) times[self->inputs[i].labels[d]]++;
  for (int32_t i = axes; i-- > 0;) self->output.labels[self->output.count++] = (uint8_t)(EINSUM_LETTERS + i);
  for (uint8_t letter = 0; letter < EINSUM_LETTERS; letter++)
    if (times[letter] == 1 && self->output.count < OP_MAX_RANK)
      self->output.labels[self->output.count++] = letter;
}

// Replaces ellipses by labels once the ranks of the operands are known, and checks the output.
static const char *einsum__resolve(einsum_equation *self, const int32_t *ranks) {
  int32_t most = 0;
  for (uint32_t i = 0; i < self->count; i++) {
    einsum_term *term = &self->inputs[i];
    int32_t axes = ranks[i] - term->count;
    if (term->ellipsis >= 0 && axes > most) most = axes;
    if (!einsum__expand(term, axes)) return "a term does not have as many letters as its operand has axes";
  }
  if (!self->explicit_output)
    einsum__implicit(self, most);
  else if (self->output.ellipsis >= 0 && !einsum__expand(&self->output, most))
    return "the output has too many axes";
  bool known[EINSUM_LABELS] = {false}, used[EINSUM_LABELS] = {false};
  for (uint32_t i = 0; i < self->count; i++)
    for (int32_t d = 0; d < self->inputs[i].count; d++) known[self->inputs[i].labels[d]] = true;
  for (int32_t d = 0; d < self->output.count; d++) {
    uint8_t label = self->output.labels[d];
    if (!known[label]) return "a letter of the output is in no input";
    if (used[label]) return "a letter occurs twice in the output";
    used[label] = true;
  }
  return NULL;
}

// ---- Inference ----------------------------------------------------------------------------------------------------

static os_status einsum__infer(op_infer *ctx) {
  os_str text = op_attr_string(op_infer_node(ctx), "equation", "");
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 0));
  einsum_equation equation;
  const char *wrong = einsum__parse(text, &equation);
  if (wrong)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`equation` is \"%.*s\": %s", (int)text.len, text.data,
                         wrong);
  if (equation.count != op_infer_input_count(ctx))
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`equation` has %u terms for %u inputs", equation.count,
                         op_infer_input_count(ctx));
  int32_t ranks[EINSUM_OPERANDS];
  for (uint32_t i = 0; i < equation.count; i++) {
    ranks[i] = op_infer_rank(ctx, i);
    if (ranks[i] < 0 && equation.inputs[i].ellipsis >= 0) return OS_OK;
    if (ranks[i] < 0) ranks[i] = equation.inputs[i].count;
  }
  wrong = einsum__resolve(&equation, ranks);
  if (wrong)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "`equation` is \"%.*s\": %s", (int)text.len, text.data, wrong);
  op_dim sizes[EINSUM_LABELS];
  for (int i = 0; i < EINSUM_LABELS; i++) sizes[i] = 1;
  for (uint32_t i = 0; i < equation.count; i++) {
    int32_t rank;
    const op_dim *dims = op_infer_dims(ctx, i, &rank);
    for (int32_t d = 0; d < equation.inputs[i].count; d++) {
      op_dim *size = &sizes[equation.inputs[i].labels[d]];
      OS_TRY(
          broadcast_infer_dim(ctx, *size, rank < 0 ? OP_DIM_UNKNOWN : dims[d], "dims of one letter", size));
    }
  }
  op_dim *out = op_infer_set_rank(ctx, 0, equation.output.count);
  for (int32_t d = 0; d < equation.output.count && out; d++) out[d] = sizes[equation.output.labels[d]];
  return OS_OK;
}

// ---- Operands -------------------------------------------------------------------------------------------------------

// A tensor by labels: those of length 1 are left out, repeated ones walk the diagonal.
typedef struct einsum_view {
  const char *data;
  op_value *owner;                  // released with the view; NULL = somebody else's
  ptrdiff_t strides[EINSUM_LABELS]; // in elements
  bool has[EINSUM_LABELS];
} einsum_view;

typedef struct einsum_job {
  op_run *ctx;
  op_elem elem; // that is computed in
  size_t width;
  size_t sizes[EINSUM_LABELS];
} einsum_job;

// A list of labels to move or to sum.
typedef struct einsum_list {
  size_t count, total;
  uint8_t labels[EINSUM_LABELS];
} einsum_list;

static void einsum__append(const einsum_job *job, einsum_list *list, uint8_t label) {
  list->labels[list->count++] = label;
  list->total *= job->sizes[label];
}

static bool einsum__view(const einsum_job *job, const op_tensor *tensor, const einsum_term *term,
                         einsum_view *view) {
  ptrdiff_t stride = 1;
  if (tensor->rank != term->count) return false;
  for (int32_t d = tensor->rank; d-- > 0;) {
    uint8_t label = term->labels[d];
    if (tensor->dims[d] != 1) {
      if ((size_t)tensor->dims[d] != job->sizes[label]) return false;
      view->has[label] = true;
      view->strides[label] += stride;
    }
    stride *= (ptrdiff_t)tensor->dims[d];
  }
  return true;
}

// A copy of the view in row-major order of the lists one after another. NULL when memory ran out or there are too many axes.
static op_value *einsum__pack(const einsum_job *job, const einsum_view *view, const einsum_list *lists,
                              size_t count) {
  size_t dims[EINSUM_LABELS], rank = 0, total = 1;
  ptrdiff_t from[EINSUM_LABELS], to[EINSUM_LABELS], stride = 1;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < lists[i].count; j++) {
      dims[rank] = job->sizes[lists[i].labels[j]];
      from[rank++] = view->strides[lists[i].labels[j]];
    }
  }
  if (rank > MATH_RANK) return NULL;
  for (size_t d = rank; d-- > 0;) {
    to[d] = stride;
    stride *= (ptrdiff_t)dims[d];
    if (__builtin_mul_overflow(total, dims[d], &total)) return NULL;
  }
  op_value *copy = op_run_new_tensor(job->ctx, job->elem, 1, (const int64_t[]){(int64_t)total});
  if (copy && total > 0)
    math_copy_strided(op_value_edit(copy)->data, view->data, job->width, rank, dims, to, from);
  return copy;
}

// The same with the last list summed away.
static op_value *einsum__pack_summed(const einsum_job *job, const einsum_view *view, const einsum_list *lists,
                                     size_t count) {
  op_value *copy = einsum__pack(job, view, lists, count);
  size_t kept = 1, n = lists[count - 1].total;
  if (copy == NULL || lists[count - 1].count == 0) return copy;
  for (size_t i = 0; i + 1 < count; i++) kept *= lists[i].total;
  op_value *sums = op_run_new_tensor(job->ctx, job->elem, 1, (const int64_t[]){(int64_t)kept});
  if (sums)
    math_reduce(MATH_REDUCE_SUM, (int)job->elem, op_value_edit(sums)->data, op_value_tensor(copy)->data, kept,
                n, 1);
  op_value_release(copy);
  return sums;
}

// ---- Two operands into one --------------------------------------------------------------------------------------------

static os_status einsum__multiply(const einsum_job *job, const op_value *a, const op_value *b, product *p,
                                  op_value **out) {
  int64_t total;
  if (__builtin_mul_overflow((int64_t)(p->batches * p->m), (int64_t)p->n, &total)) return OS_OUT_OF_MEMORY;
  *out = op_run_new_tensor(job->ctx, job->elem, 1, &total);
  OS_TRY_ALLOC(*out);
  void *c = op_value_edit(*out)->data;
  const void *x = op_value_tensor(a)->data, *y = op_value_tensor(b)->data;
  if (job->elem != OP_FLOAT) {
    if (product_run_plain(job->ctx, p, job->elem, c, x, y)) return OS_OK;
    return op_run_fail(job->ctx, "there is no product of %s", op_elem_name(job->elem));
  }
  op_value *scratch =
      op_run_new_tensor(job->ctx, OP_UINT8, 1, (const int64_t[]){(int64_t)product_scratch_bytes(p, false)});
  OS_TRY_ALLOC(scratch);
  p->a = x, p->b = y, p->c = c;
  product_run(job->ctx, p, op_value_edit(scratch)->data);
  op_value_release(scratch);
  return OS_OK;
}

// a becomes a b, with the labels that are in `keep`.
static os_status einsum__contract(const einsum_job *job, einsum_view *a, const einsum_view *b,
                                  const bool *keep) {
  enum { BATCH, ROWS, COLUMNS, INNER, A_ALONE, B_ALONE, LISTS };
  einsum_list lists[LISTS];
  for (int i = 0; i < LISTS; i++) lists[i] = (einsum_list){.total = 1};
  for (uint8_t label = 0; label < EINSUM_LABELS; label++) {
    if (a->has[label] && b->has[label])
      einsum__append(job, &lists[keep[label] ? BATCH : INNER], label);
    else if (a->has[label])
      einsum__append(job, &lists[keep[label] ? ROWS : A_ALONE], label);
    else if (b->has[label])
      einsum__append(job, &lists[keep[label] ? COLUMNS : B_ALONE], label);
  }
  op_value *left = einsum__pack_summed(
      job, a, (const einsum_list[]){lists[BATCH], lists[ROWS], lists[INNER], lists[A_ALONE]}, 4);
  op_value *right = einsum__pack_summed(
      job, b, (const einsum_list[]){lists[BATCH], lists[INNER], lists[COLUMNS], lists[B_ALONE]}, 4);
  product p = {.batches = lists[BATCH].total,
               .batch_rank = 1,
               .batch_dims = {lists[BATCH].total},
               .a_strides = {1},
               .b_strides = {1}};
  p.m = lists[ROWS].total, p.n = lists[COLUMNS].total, p.k = lists[INNER].total, p.b_count = p.batches;
  p.a_row = (ptrdiff_t)p.k, p.a_col = 1, p.b_row = (ptrdiff_t)p.n, p.b_col = 1;
  op_value *out = NULL;
  os_status status = left && right ? einsum__multiply(job, left, right, &p, &out) : OS_OUT_OF_MEMORY;
  op_value_release(left);
  op_value_release(right);
  op_value_release(a->owner);
  *a = (einsum_view){.owner = out};
  OS_TRY(status);
  a->data = op_value_tensor(out)->data;
  ptrdiff_t stride = 1;
  static const int order[] = {COLUMNS, ROWS, BATCH};
  for (int i = 0; i < 3; i++) {
    for (size_t j = lists[order[i]].count; j-- > 0;) {
      uint8_t label = lists[order[i]].labels[j];
      a->has[label] = true;
      a->strides[label] = stride;
      stride *= (ptrdiff_t)job->sizes[label];
    }
  }
  return OS_OK;
}

// ---- Computing --------------------------------------------------------------------------------------------------------

// The type to compute in: sums of small integers keep the low bits of wider ones.
static op_elem einsum__wide(op_elem elem) {
  if (elem_is_narrow(elem)) return OP_FLOAT;
  switch (elem) {
  case OP_UINT8:
  case OP_INT8:
  case OP_UINT16:
  case OP_INT16: return OP_INT32;
  default: return elem;
  }
}

static os_status einsum__open(const einsum_job *job, const op_tensor *tensor, const einsum_term *term,
                              einsum_view *view) {
  *view = (einsum_view){.data = tensor->data};
  if (!einsum__view(job, tensor, term, view))
    return op_run_fail(job->ctx, "an operand does not fit the equation");
  if (tensor->elem == job->elem) return OS_OK;
  view->owner = op_run_new_tensor(job->ctx, job->elem, tensor->rank, tensor->dims);
  OS_TRY_ALLOC(view->owner);
  view->data = op_value_tensor(view->owner)->data;
  if (math_cast((void *)view->data, (int)job->elem, tensor->data, (int)tensor->elem, (size_t)tensor->count,
                NULL))
    return OS_OK;
  return op_run_fail(job->ctx, "%s cannot be summed", op_elem_name(tensor->elem));
}

// What is left of the operands, in the output's order.
static os_status einsum__project(const einsum_job *job, const einsum_view *view, const einsum_term *output,
                                 op_tensor *y) {
  if (y == NULL) return OS_OK;
  einsum_list lists[2] = {{.total = 1}, {.total = 1}};
  bool kept[EINSUM_LABELS] = {false};
  for (int32_t d = 0; d < output->count; d++) {
    kept[output->labels[d]] = true;
    if (job->sizes[output->labels[d]] != 1) einsum__append(job, &lists[0], output->labels[d]);
  }
  for (uint8_t label = 0; label < EINSUM_LABELS; label++)
    if (view->has[label] && !kept[label]) einsum__append(job, &lists[1], label);
  op_value *sums = einsum__pack_summed(job, view, lists, 2);
  OS_TRY_ALLOC(sums);
  bool fits = op_value_tensor(sums)->count == y->count;
  if (fits)
    math_cast(y->data, (int)y->elem, op_value_tensor(sums)->data, (int)job->elem, (size_t)y->count, NULL);
  op_value_release(sums);
  return fits ? OS_OK : kit_shape_broken(job->ctx, "the equation");
}

static os_status einsum__run(einsum_job *job, const einsum_equation *equation) {
  einsum_view view, next;
  os_status status = einsum__open(job, op_run_input(job->ctx, 0), &equation->inputs[0], &view);
  for (uint32_t i = 1; i < equation->count && status == OS_OK; i++) {
    bool keep[EINSUM_LABELS] = {false};
    for (int32_t d = 0; d < equation->output.count; d++) keep[equation->output.labels[d]] = true;
    for (uint32_t j = i + 1; j < equation->count; j++)
      for (int32_t d = 0; d < equation->inputs[j].count; d++) keep[equation->inputs[j].labels[d]] = true;
    status = einsum__open(job, op_run_input(job->ctx, i), &equation->inputs[i], &next);
    if (status == OS_OK) status = einsum__contract(job, &view, &next, keep);
    op_value_release(next.owner);
  }
  if (status == OS_OK) status = einsum__project(job, &view, &equation->output, op_run_output(job->ctx, 0));
  op_value_release(view.owner);
  return status;
}

static os_status einsum__compute(op_run *ctx) {
  einsum_equation equation;
  int32_t ranks[EINSUM_OPERANDS];
  const char *wrong = einsum__parse(op_attr_string(op_run_node(ctx), "equation", ""), &equation);
  if (wrong == NULL && equation.count != op_run_input_count(ctx))
    wrong = "the equation has another number of terms";
  for (uint32_t i = 0; wrong == NULL && i < equation.count; i++) {
    ranks[i] = op_run_input(ctx, i)->rank;
    if (op_run_input(ctx, i)->elem != op_run_input(ctx, 0)->elem) wrong = "the inputs differ in type";
  }
  if (wrong == NULL) wrong = einsum__resolve(&equation, ranks);
  if (wrong) return op_run_fail(ctx, "%s", wrong);
  einsum_job job = {.ctx = ctx, .elem = einsum__wide(op_run_input(ctx, 0)->elem)};
  job.width = op_elem_size(job.elem);
  for (int i = 0; i < EINSUM_LABELS; i++) job.sizes[i] = 1;
  for (uint32_t i = 0; i < equation.count; i++)
    for (int32_t d = 0; d < equation.inputs[i].count; d++)
      if (op_run_input(ctx, i)->dims[d] != 1)
        job.sizes[equation.inputs[i].labels[d]] = (size_t)op_run_input(ctx, i)->dims[d];
  return einsum__run(&job, &equation);
}

static const op_row rows[] = {
    OP_ROW("Einsum", 12, OP_PURE, einsum__infer, einsum__compute),
};

OP_FAMILY(einsum, rows);
