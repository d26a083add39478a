#include "move.h"

#include "check.h"
#include "sample.h"

static const size_t widths[] = {1, 2, 4, 8, 16};

static void check_strided(sample_random *r) {
  enum { BYTES = 1 << 16 };
  unsigned char *src = sample_alloc(BYTES), *dst = sample_alloc(BYTES), *want = sample_alloc(BYTES);
  sample_fill(r, MATH_U8, src, BYTES);
  for (int i = 0; i < 3000; i++) {
    size_t width = widths[sample_below(r, 5)], rank = sample_below(r, 5), dims[4], order[4] = {0, 1, 2, 3},
           count = 1;
    ptrdiff_t ds[4], ss[4], s0 = 0, room = BYTES / 16;
    for (size_t d = 0; d < rank; d++)
      dims[d] = sample_below(r, 20) == 0 ? 0 : 1 + sample_below(r, rank > 2 ? 9 : 40);
    for (size_t d = 0; d < rank; d++) count *= dims[d];
    math_strides(rank, dims, ds);
    for (size_t d = rank; d > 1; d--) { // a random order of the source's axes
      size_t k = sample_below(r, d), t = order[d - 1];
      order[d - 1] = order[k], order[k] = t;
    }
    ptrdiff_t step = 1 + (ptrdiff_t)(sample_below(r, 4) == 0);
    for (size_t d = rank; d-- > 0;) {
      ss[order[d]] = sample_below(r, 8) == 0 ? 0 : step;
      step *= (ptrdiff_t)dims[order[d]] + (sample_below(r, 5) == 0);
    }
    if ((ptrdiff_t)count > room || step > room) continue;
    for (size_t d = 0; d < rank; d++) {
      if (sample_below(r, 6) || dims[d] == 0) continue;
      s0 += ss[d] * (ptrdiff_t)(dims[d] - 1); // backwards
      ss[d] = -ss[d];
    }
    memset(dst, 0x5a, BYTES), memset(want, 0x5a, BYTES);
    for (size_t e = 0; e < count; e++) {
      size_t rest = e;
      ptrdiff_t from = s0;
      for (size_t d = rank; d-- > 0; rest /= dims[d]) from += (ptrdiff_t)(rest % dims[d]) * ss[d];
      memcpy(want + e * width, src + from * (ptrdiff_t)width, width);
    }
    math_copy_strided(dst, src + s0 * (ptrdiff_t)width, width, rank, dims, ds, ss);
    if (!CHECK(memcmp(dst, want, BYTES) == 0)) printf("  width %zu, rank %zu\n", width, rank);
  }
  free(src), free(dst), free(want);
}

static void check_transpose(sample_random *r) {
  enum { MAX = 70 };
  for (int i = 0; i < 300; i++) {
    size_t width = widths[sample_below(r, 5)],
           n[3] = {1 + sample_below(r, 4), 1 + sample_below(r, MAX), 1 + sample_below(r, MAX)};
    static const size_t perms[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const size_t *perm = perms[i % 6];
    size_t bytes = n[0] * n[1] * n[2] * width;
    unsigned char *src = sample_alloc(bytes), *dst = sample_alloc(bytes);
    sample_fill(r, MATH_U8, src, bytes);
    math_transpose(dst, src, width, 3, n, perm);
    int good = 1;
    size_t at[3], out = 0;
    for (size_t a = 0; a < n[perm[0]]; a++) {
      for (size_t b = 0; b < n[perm[1]]; b++) {
        for (size_t c = 0; c < n[perm[2]]; c++, out++) {
          at[perm[0]] = a, at[perm[1]] = b, at[perm[2]] = c;
          good &=
              memcmp(dst + out * width, src + ((at[0] * n[1] + at[1]) * n[2] + at[2]) * width, width) == 0;
        }
      }
    }
    CHECK(good);
    free(src), free(dst);
  }
}

static void check_fill_and_gather(sample_random *r) {
  unsigned char value[16], dst[40 * 16], src[10 * 24], row[24];
  sample_fill(r, MATH_U8, value, 16);
  sample_fill(r, MATH_U8, src, sizeof src);
  for (size_t w = 0; w < 5; w++) {
    for (size_t n = 0; n < 40; n++) {
      memset(dst, 0, sizeof dst);
      math_fill(dst, value, n, widths[w]);
      int good = 1;
      for (size_t i = 0; i < n; i++) good &= memcmp(dst + i * widths[w], value, widths[w]) == 0;
      for (size_t i = n * widths[w]; i < sizeof dst; i++) good &= dst[i] == 0;
      CHECK(good);
    }
  }
  const int64_t indices[5] = {3, -1, 0, -10, 9}, wrong[3] = {1, 10, -11};
  for (size_t bytes = 1; bytes <= 24; bytes++) {
    CHECK_EQ(math_gather_rows(dst, src, indices, 5, 10, bytes), -1);
    for (size_t i = 0; i < 5; i++) {
      memcpy(row, src + (size_t)(indices[i] < 0 ? indices[i] + 10 : indices[i]) * bytes, bytes);
      CHECK(memcmp(dst + i * bytes, row, bytes) == 0);
    }
  }
  CHECK_EQ(math_gather_rows(dst, src, wrong, 3, 10, 4), 1);
  CHECK_EQ(math_gather_rows(dst, src, wrong + 2, 1, 10, 4), 0);
  CHECK_EQ(math_gather_rows(dst, src, wrong, 0, 0, 4), -1);
}

typedef struct shapes {
  size_t rank[3], dims[3][5], count[3];
} shapes;

// Operands of up to five axes that broadcast: each axis is 1 or the common length, leading ones may be absent.
static shapes random_shapes(sample_random *r) {
  shapes s = {{0}, {{0}}, {1, 1, 1}};
  size_t common[5], rank = sample_below(r, 6);
  for (size_t d = 0; d < 5; d++)
    common[d] = sample_below(r, 30) == 0 ? 0 : 1 + sample_below(r, d == 4 ? 9 : 4);
  if (sample_below(r, 4) == 0) common[4] = 70 + sample_below(r, 40);
  for (size_t o = 0; o < 3; o++) {
    s.rank[o] = o == 0 || rank == 0 ? rank : rank - sample_below(r, rank + 1);
    bool plain = sample_below(r, 3) == 0;
    for (size_t d = 0; d < s.rank[o]; d++) {
      s.dims[o][d] = plain || sample_below(r, 3) ? common[5 - s.rank[o] + d] : 1;
      s.count[o] *= s.dims[o][d];
    }
  }
  return s;
}

static size_t source(const shapes *s, size_t o, const size_t *out_dims, size_t out_rank, size_t e) {
  size_t at = 0, step = 1;
  for (size_t d = out_rank; d-- > 0; e /= out_dims[d]) {
    if (d + s->rank[o] < out_rank) continue;
    size_t dim = s->dims[o][d + s->rank[o] - out_rank];
    if (dim != 1) at += e % out_dims[d] * step;
    step *= dim;
  }
  return at;
}

static void check_binary(const shapes *s, const math_broadcast *plan, const size_t *out_dims, size_t out_rank,
                         sample_random *r) {
  float *a = sample_alloc(s->count[0] * 4), *b = sample_alloc(s->count[1] * 4),
        *y = sample_alloc(plan->count * 4);
  uint8_t *flags = sample_alloc(plan->count);
  int32_t *ai = sample_alloc(s->count[0] * 4), *bi = sample_alloc(s->count[1] * 4),
          *yi = sample_alloc(plan->count * 4);
  sample_floats(r, a, s->count[0], -1, 1);
  sample_floats(r, b, s->count[1], -1, 1);
  for (size_t i = 0; i < s->count[0]; i++) ai[i] = (int32_t)sample_below(r, 100);
  for (size_t i = 0; i < s->count[1]; i++) bi[i] = (int32_t)sample_below(r, 9);
  ptrdiff_t first_zero = -1, bad = -1;
  for (size_t begin = 0; begin < plan->count;) {
    size_t end = begin + 1 + sample_below(r, plan->count);
    if (end > plan->count) end = plan->count;
    math_broadcast_binary(plan, LOOP_sub_f32, MATH_F32, y, a, b, begin, end, NULL);
    math_broadcast_binary(plan, LOOP_less_f32, MATH_F32, flags, a, b, begin, end, NULL);
    ptrdiff_t zero = math_broadcast_binary(plan, LOOP_div_i32, MATH_I32, yi, ai, bi, begin, end, NULL);
    if (bad < 0) bad = zero;
    begin = end;
  }
  int good = 1;
  for (size_t e = 0; e < plan->count; e++) {
    size_t p = source(s, 0, out_dims, out_rank, e), q = source(s, 1, out_dims, out_rank, e);
    good &= y[e] == a[p] - b[q] && flags[e] == (a[p] < b[q]) && yi[e] == (bi[q] ? ai[p] / bi[q] : 0);
    if (bi[q] == 0 && first_zero < 0) first_zero = (ptrdiff_t)e;
  }
  CHECK(good);
  CHECK_EQ(bad, first_zero);
  free(a), free(b), free(y), free(flags), free(ai), free(bi), free(yi);
}

static void check_where(const shapes *s, const math_broadcast *plan, const size_t *out_dims, size_t out_rank,
                        sample_random *r) {
  uint8_t *c = sample_alloc(s->count[0]);
  uint16_t *a = sample_alloc(s->count[1] * 2), *b = sample_alloc(s->count[2] * 2),
           *y = sample_alloc(plan->count * 2);
  sample_fill(r, MATH_BOOL, c, s->count[0]);
  sample_fill(r, MATH_U16, a, s->count[1]);
  sample_fill(r, MATH_U16, b, s->count[2]);
  size_t cut = plan->count / 3;
  math_broadcast_where(plan, y, c, a, b, 2, cut, plan->count);
  math_broadcast_where(plan, y, c, a, b, 2, 0, cut);
  int good = 1;
  for (size_t e = 0; e < plan->count; e++) {
    good &= y[e] == (c[source(s, 0, out_dims, out_rank, e)] ? a[source(s, 1, out_dims, out_rank, e)]
                                                            : b[source(s, 2, out_dims, out_rank, e)]);
  }
  CHECK(good);
  free(c), free(a), free(b), free(y);
}

static void check_broadcast(sample_random *r) {
  for (int i = 0; i < 1500; i++) {
    shapes s = random_shapes(r);
    const size_t *dims[3] = {s.dims[0], s.dims[1], s.dims[2]};
    math_broadcast plan;
    size_t out_rank, out_dims[MATH_RANK];
    if (!CHECK(math_broadcast_plan(&plan, 2, s.rank, dims, &out_rank, out_dims))) continue;
    CHECK(plan.rank >= 1 && plan.rank <= 5);
    check_binary(&s, &plan, out_dims, out_rank, r);
    CHECK(math_broadcast_plan(&plan, 3, s.rank, dims, &out_rank, out_dims));
    check_where(&s, &plan, out_dims, out_rank, r);
  }
  const size_t three[1] = {3}, four[1] = {4}, ranks[2] = {1, 1}, deep[2] = {MATH_RANK + 1, 1};
  const size_t *dims[2] = {three, four};
  math_broadcast plan;
  size_t out_rank, out_dims[MATH_RANK];
  CHECK(!math_broadcast_plan(&plan, 2, ranks, dims, &out_rank, out_dims));
  CHECK(!math_broadcast_plan(&plan, 2, deep, dims, &out_rank, out_dims));
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  check_strided(&r);
  check_transpose(&r);
  check_fill_and_gather(&r);
  check_broadcast(&r);
  return CHECK_END();
}
