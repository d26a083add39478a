#include "products.h"

#include "broadcast.h"
#include "kit.h"

enum { PRODUCT_PIECES = 8 };

os_status product_infer(op_infer *ctx, uint32_t a_input, uint32_t b_input) {
  int32_t a_rank, b_rank;
  const op_dim *a = op_infer_dims(ctx, a_input, &a_rank), *b = op_infer_dims(ctx, b_input, &b_rank);
  if (a_rank == 0 || b_rank == 0)
    return op_infer_fail(ctx, OP_FAULT_SHAPE, "%s has rank 0, at least 1 is expected",
                         a_rank == 0 ? "A" : "B");
  if (a_rank < 0 || b_rank < 0) return OS_OK;
  op_dim inner, dims[OP_MAX_RANK];
  OS_TRY(op_infer_merge_dim(ctx, a[a_rank - 1], b[b_rank == 1 ? 0 : b_rank - 2], "inner dims of A and B",
                            &inner));
  int32_t a_batch = a_rank > 2 ? a_rank - 2 : 0, b_batch = b_rank > 2 ? b_rank - 2 : 0;
  int32_t rank = a_batch > b_batch ? a_batch : b_batch, batch = rank;
  for (int32_t d = 0; d < batch; d++) {
    int32_t ad = d - (batch - a_batch), bd = d - (batch - b_batch);
    OS_TRY(broadcast_infer_dim(ctx, ad < 0 ? 1 : a[ad], bd < 0 ? 1 : b[bd], "leading dims of A and B",
                               &dims[d]));
  }
  if (a_rank > 1) dims[rank++] = a[a_rank - 2];
  if (b_rank > 1) dims[rank++] = b[b_rank - 1];
  op_infer_set_shape(ctx, 0, rank, dims);
  return OS_OK;
}

bool product_describe(product *self, const op_tensor *a, const op_tensor *b, bool merge) {
  *self = (product){.batches = 1, .b_count = 1};
  if (a->rank < 1 || b->rank < 1) return false;
  self->m = a->rank == 1 ? 1 : (size_t)a->dims[a->rank - 2];
  self->k = (size_t)a->dims[a->rank - 1];
  self->n = b->rank == 1 ? 1 : (size_t)b->dims[b->rank - 1];
  if ((size_t)b->dims[b->rank == 1 ? 0 : b->rank - 2] != self->k) return false;
  self->a_row = (ptrdiff_t)self->k, self->a_col = 1;
  self->b_row = (ptrdiff_t)self->n, self->b_col = 1;
  int32_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
  int32_t rank = a_batch > b_batch ? a_batch : b_batch;
  size_t a_stride = 1, b_stride = 1;
  self->batch_rank = (size_t)rank;
  for (int32_t d = rank - 1; d >= 0; d--) {
    int32_t ad = d - (rank - a_batch), bd = d - (rank - b_batch);
    size_t x = ad >= 0 ? (size_t)a->dims[ad] : 1, y = bd >= 0 ? (size_t)b->dims[bd] : 1;
    if (x != y && x != 1 && y != 1) return false;
    self->batch_dims[d] = x == 1 ? y : x;
    self->a_strides[d] = x == 1 ? 0 : a_stride;
    self->b_strides[d] = y == 1 ? 0 : b_stride;
    a_stride *= x;
    b_stride *= y;
    self->batches *= self->batch_dims[d];
  }
  self->b_count = b_stride;
  // One b for a whole row of matrices of a: they are one tall matrix.
  if (merge && self->b_count == 1 && self->batches == a_stride && self->batches > 0) {
    self->m *= self->batches;
    self->batches = 1;
    self->batch_rank = 0;
  }
  return true;
}

static size_t product__round(size_t bytes) { return (bytes + 63) / 64 * 64; }

size_t product_packed_bytes(const product *self) {
  return product__round(math_gemm_packed_b_bytes(self->k, self->n));
}

void product_pack(const product *self, void *packed, const float *b) {
  for (size_t i = 0; i < self->b_count; i++)
    math_gemm_pack_b((char *)packed + i * product_packed_bytes(self), b + i * self->k * self->n, self->b_row,
                     self->b_col, self->k, self->n, 0, self->n);
}

// ---- Cutting the work ---------------------------------------------------------------------------------------

// Blocks of one product: rows by columns.
typedef struct product_cut {
  size_t rows, columns;             // of a block
  size_t row_blocks, column_blocks; // of one matrix
  size_t tasks, grain, pieces;
} product_cut;

static size_t product__ceil(size_t a, size_t b) { return (a + b - 1) / b; }

static product_cut product__cut(const product *self) {
  product_cut cut = {.rows = math_gemm_row_block(), .columns = self->n ? self->n : 1};
  size_t panel = math_gemm_panel();
  if (self->m <= cut.rows && self->n > panel) {
    // Few rows: columns are shared out, at least 2^18 multiplications a block.
    size_t work = self->k * self->m * panel + 1, panels = product__ceil(1 << 18, work);
    cut.columns = panels * panel;
  }
  cut.row_blocks = product__ceil(self->m, cut.rows);
  cut.column_blocks = product__ceil(self->n, cut.columns);
  cut.tasks = self->batches * cut.row_blocks * cut.column_blocks;
  cut.grain = product__ceil(cut.tasks, PRODUCT_PIECES);
  if (cut.grain == 0) cut.grain = 1;
  cut.pieces = product__ceil(cut.tasks, cut.grain);
  return cut;
}

typedef struct product_job {
  const product *self;
  product_cut cut;
  const char *packed;
  char *scratch;        // of all pieces
  size_t scratch_bytes; // of one
  size_t pack_bytes;    // at the end of a piece's scratch: where it packs its matrices of b
} product_job;

void product_matrices(const product *self, size_t batch, size_t *a, size_t *b) {
  *a = *b = 0;
  for (size_t d = self->batch_rank; d-- > 0;) {
    size_t at = batch % self->batch_dims[d];
    batch /= self->batch_dims[d];
    *a += at * self->a_strides[d];
    *b += at * self->b_strides[d];
  }
}

static math_gemm product__gemm(const product *self, size_t batch, size_t *b_matrix, math_epilogue *epilogue) {
  size_t a_matrix;
  product_matrices(self, batch, &a_matrix, b_matrix);
  math_gemm g = {.m = self->m, .n = self->n, .k = self->k};
  g.a = self->a + a_matrix * self->m * self->k;
  g.a_row_stride = self->a_row, g.a_col_stride = self->a_col;
  g.b = self->b ? self->b + *b_matrix * self->k * self->n : NULL;
  g.b_row_stride = self->b_row, g.b_col_stride = self->b_col;
  g.c = self->c + batch * self->m * self->n;
  g.c_row_stride = (ptrdiff_t)self->n;
  if (self->epilogue) {
    *epilogue = *self->epilogue;
    if (epilogue->residual) {
      epilogue->residual += batch * self->m * self->n;
      epilogue->residual_stride = (ptrdiff_t)self->n;
    }
    g.epilogue = epilogue;
  }
  return g;
}

static void product__blocks(void *argument, size_t begin, size_t end) {
  const product_job *job = argument;
  const product *self = job->self;
  const product_cut *cut = &job->cut;
  char *scratch = job->scratch + begin / cut->grain * job->scratch_bytes;
  for (size_t task = begin; task < end; task++) {
    size_t column = task % cut->column_blocks * cut->columns;
    size_t row = task / cut->column_blocks % cut->row_blocks * cut->rows;
    size_t batch = task / (cut->column_blocks * cut->row_blocks), b_matrix;
    math_epilogue epilogue;
    math_gemm g = product__gemm(self, batch, &b_matrix, &epilogue);
    if (job->packed) {
      g.b = NULL;
      g.b_packed = job->packed + b_matrix * product_packed_bytes(self);
    }
    size_t row_end = row + cut->rows < self->m ? row + cut->rows : self->m;
    size_t column_end = column + cut->columns < self->n ? column + cut->columns : self->n;
    math_gemm_f32(&g, row, row_end, column, column_end, scratch);
  }
}

// Whole matrices, each packed by the piece that uses it.
static void product__batches(void *argument, size_t begin, size_t end) {
  const product_job *job = argument;
  const product *self = job->self;
  char *scratch = job->scratch + begin / job->cut.grain * job->scratch_bytes;
  void *packed = scratch + job->scratch_bytes - job->pack_bytes;
  size_t held = SIZE_MAX;
  for (size_t batch = begin; batch < end; batch++) {
    size_t b_matrix;
    math_epilogue epilogue;
    math_gemm g = product__gemm(self, batch, &b_matrix, &epilogue);
    if (b_matrix != held)
      math_gemm_pack_b(packed, g.b, self->b_row, self->b_col, self->k, self->n, 0, self->n);
    held = b_matrix;
    g.b = NULL;
    g.b_packed = packed;
    math_gemm_f32(&g, 0, self->m, 0, self->n, scratch);
  }
}

static void product__panels(void *argument, size_t begin, size_t end) {
  const product_job *job = argument;
  const product *self = job->self;
  size_t panel = math_gemm_panel(), last = end * panel < self->n ? end * panel : self->n;
  math_gemm_pack_b((char *)job->packed, self->b, self->b_row, self->b_col, self->k, self->n, begin * panel,
                   last);
}

static product_job product__job(const product *self, bool b_packed) {
  product_job job = {.self = self, .cut = product__cut(self)};
  job.scratch_bytes = product__round(math_gemm_scratch_bytes(self->m, self->n, self->k));
  if (!b_packed && self->batches > 1 && math_gemm_wants_packing(self->m, self->n, self->k)) {
    job.pack_bytes = product_packed_bytes(self);
    job.scratch_bytes += job.pack_bytes;
    job.cut.grain = product__ceil(self->batches, PRODUCT_PIECES);
    job.cut.pieces = product__ceil(self->batches, job.cut.grain);
  }
  return job;
}

// ---- Running ------------------------------------------------------------------------------------------------

size_t product_scratch_bytes(const product *self, bool b_packed) {
  product_job job = product__job(self, b_packed);
  size_t bytes = job.cut.pieces * job.scratch_bytes;
  if (!b_packed && self->batches == 1 && math_gemm_wants_packing(self->m, self->n, self->k))
    bytes += product_packed_bytes(self);
  return bytes;
}

void product_run(op_run *ctx, const product *self, void *scratch) {
  if (self->m == 0 || self->n == 0 || self->batches == 0) return;
  product_job job = product__job(self, self->packed != NULL);
  job.packed = self->packed;
  job.scratch = scratch;
  if (job.pack_bytes > 0) {
    op_parallel_for(ctx, self->batches, job.cut.grain, product__batches, &job);
    return;
  }
  if (job.packed == NULL && math_gemm_wants_packing(self->m, self->n, self->k)) {
    job.packed = job.scratch;
    job.scratch += product_packed_bytes(self);
    op_parallel_for(ctx, product__ceil(self->n, math_gemm_panel()), 16, product__panels, &job);
  }
  op_parallel_for(ctx, job.cut.tasks, job.cut.grain, product__blocks, &job);
}

typedef struct plain_job {
  const product *self;
  int type;
  size_t size, rows; // rows of a task
  char *c;
  const char *a, *b;
} plain_job;

static void product__plain(void *argument, size_t begin, size_t end) {
  const plain_job *job = argument;
  const product *p = job->self;
  size_t blocks = product__ceil(p->m, job->rows);
  for (size_t task = begin; task < end; task++) {
    size_t batch = task / blocks, row = task % blocks * job->rows, a_matrix, b_matrix;
    size_t rows = row + job->rows < p->m ? job->rows : p->m - row;
    product_matrices(p, batch, &a_matrix, &b_matrix);
    const char *a =
        job->a + (a_matrix * p->m * p->k) * job->size + (ptrdiff_t)row * p->a_row * (ptrdiff_t)job->size;
    math_matmul(job->type, job->c + (batch * p->m + row) * p->n * job->size, (ptrdiff_t)p->n, a, p->a_row,
                p->a_col, job->b + b_matrix * p->k * p->n * job->size, p->b_row, p->b_col, rows, p->n, p->k);
  }
}

bool product_run_plain(op_run *ctx, const product *self, op_elem elem, void *c, const void *a,
                       const void *b) {
  if (!math_matmul((int)elem, c, 0, a, 0, 0, b, 0, 0, 0, 0, 0)) return false;
  plain_job job = {self, (int)elem, op_elem_size(elem), 16, c, a, b};
  op_parallel_for(ctx, self->batches * product__ceil(self->m, job.rows), 4, product__plain, &job);
  return true;
}
