#include "pooling.h"

#include "check.h"
#include "sample.h"

typedef struct answer {
  double largest, sum, powers;
  size_t inside, counted;
  int64_t index;
} answer;

static size_t volume(const size_t axes[3]) { return axes[0] * axes[1] * axes[2]; }

// The window of one output, element by element.
static answer visit(const math_pool_shape *s, const double *plane, size_t number, size_t p) {
  answer a = {-HUGE_VAL, 0, 0, 0, 0, 0};
  size_t o[3] = {p / s->out[2] / s->out[1], p / s->out[2] % s->out[1], p % s->out[2]};
  for (size_t k = 0; k < volume(s->kernel); k++) {
    size_t e[3] = {k / s->kernel[2] / s->kernel[1], k / s->kernel[2] % s->kernel[1], k % s->kernel[2]};
    ptrdiff_t i[3];
    bool inside = true, counted = true;
    for (int d = 0; d < 3; d++) {
      i[d] = (ptrdiff_t)(o[d] * s->stride[d] + e[d] * s->dilation[d]) - s->pad_begin[d];
      inside &= i[d] >= 0 && i[d] < (ptrdiff_t)s->in[d];
      counted &= i[d] >= -s->pad_begin[d] && i[d] < (ptrdiff_t)s->in[d] + s->pad_end[d];
    }
    a.counted += counted;
    if (!inside) continue;
    double x = plane[((size_t)i[0] * s->in[1] + (size_t)i[1]) * s->in[2] + (size_t)i[2]];
    if (a.inside++ == 0 || x > a.largest || (x != x && a.largest == a.largest)) {
      a.largest = x;
      size_t row = ((size_t)i[0] * s->in[1] + (size_t)i[1]) * s->in[2] + (size_t)i[2];
      size_t column = (size_t)i[0] + s->in[0] * ((size_t)i[1] + s->in[1] * (size_t)i[2]);
      a.index = (int64_t)(number * volume(s->in) + (s->column_major ? column : row));
    }
    a.sum += x;
    a.powers += pow(fabs(x), 3);
  }
  return a;
}

static bool random_shape(sample_random *r, math_pool_shape *s) {
  memset(s, 0, sizeof *s);
  size_t rank = 1 + sample_below(r, 3);
  s->count_include_pad = sample_below(r, 2);
  s->column_major = sample_below(r, 2);
  for (size_t d = 0; d < 3; d++) {
    s->in[d] = s->kernel[d] = s->out[d] = s->stride[d] = s->dilation[d] = 1;
    if (d < 3 - rank) continue;
    s->in[d] = 1 + sample_below(r, rank == 3 ? 6 : rank == 2 ? 19 : 700);
    s->kernel[d] = 1 + sample_below(r, 5);
    s->stride[d] = 1 + sample_below(r, 4);
    s->dilation[d] = 1 + sample_below(r, 2);
    s->pad_begin[d] = (ptrdiff_t)sample_below(r, 3), s->pad_end[d] = (ptrdiff_t)sample_below(r, 3);
    s->out[d] = math_pool_out(s->in[d], s->kernel[d], s->stride[d], s->dilation[d], s->pad_begin[d],
                              s->pad_end[d], sample_below(r, 2));
    if (s->out[d] == 0) return false;
  }
  return true;
}

static int close_to(double got, double want, double bound) {
  if (want != want) return got != got;
  return got == want || fabs(got - want) <= bound * (1 + fabs(want));
}

static void check_shape(sample_random *r, const math_pool_shape *s, bool with_nan) {
  enum { PLANES = 3 };
  size_t in = volume(s->in), out = volume(s->out);
  double *x = sample_alloc(PLANES * in * 8), *y = sample_alloc(PLANES * out * 8);
  float *xf = sample_alloc(PLANES * in * 4), *yf = sample_alloc(PLANES * out * 4),
        *zf = sample_alloc(PLANES * out * 4);
  int8_t *xi = sample_alloc(PLANES * in), *yi = sample_alloc(PLANES * out);
  int64_t *at = sample_alloc(PLANES * out * 8);
  for (size_t i = 0; i < PLANES * in; i++) {
    xf[i] = rintf((float)sample_uniform(r, -100, 100));
    if (with_nan && sample_below(r, 20) == 0) xf[i] = NAN;
    x[i] = (double)xf[i];
    xi[i] = xf[i] == xf[i] ? (int8_t)xf[i] : 0;
  }
  CHECK(math_max_pool(s, MATH_F32, yf, NULL, xf, 0, 1) &&
        math_max_pool(s, MATH_F32, yf, NULL, xf, 1, PLANES));
  CHECK(math_max_pool(s, MATH_F32, zf, at, xf, 0, PLANES));
  int good = 1;
  for (size_t i = 0; i < PLANES * out; i++) {
    answer a = visit(s, x + i / out * in, i / out, i % out);
    good &= close_to((double)yf[i], a.largest, 0) && close_to((double)zf[i], a.largest, 0) &&
            (a.inside == 0 || at[i] == a.index);
  }
  CHECK(good);
  CHECK(math_max_pool(s, MATH_F64, y, at, x, 0, PLANES) &&
        math_max_pool(s, MATH_I8, yi, NULL, xi, 0, PLANES));
  CHECK(math_average_pool(s, MATH_F32, yf, xf, 0, PLANES));
  CHECK(math_lp_pool(s, MATH_F32, 3, zf, xf, 0, PLANES));
  good = 1;
  for (size_t i = 0; i < PLANES * out; i++) {
    answer a = visit(s, x + i / out * in, i / out, i % out);
    size_t divisor = s->count_include_pad ? a.counted : a.inside;
    good &= close_to(y[i], a.largest, 0) && (a.inside == 0 || at[i] == a.index);
    good &= with_nan || yi[i] == (a.inside ? (int8_t)a.largest : INT8_MIN);
    good &= close_to((double)yf[i], divisor ? a.sum / (double)divisor : 0, 1e-5);
    good &= close_to((double)zf[i], pow(a.powers, 1.0 / 3), 1e-6);
  }
  CHECK(good);
  CHECK(math_average_pool(s, MATH_F64, y, x, 0, PLANES));
  good = 1;
  for (size_t i = 0; i < PLANES * out; i++) {
    answer a = visit(s, x + i / out * in, i / out, i % out);
    size_t divisor = s->count_include_pad ? a.counted : a.inside;
    good &= close_to(y[i], divisor ? a.sum / (double)divisor : 0, 1e-12);
  }
  CHECK(good);
  free(x), free(y), free(xf), free(yf), free(zf), free(xi), free(yi), free(at);
}

static void check_lengths(void) {
  CHECK_EQ(math_pool_out(4, 3, 2, 1, 0, 0, false), 1);
  CHECK_EQ(math_pool_out(4, 3, 2, 1, 0, 0, true), 2);
  CHECK_EQ(math_pool_out(2, 1, 2, 1, 0, 1, true), 1); // a last window that would begin in the end pad
  CHECK_EQ(math_pool_out(1, 3, 1, 1, 0, 0, false), 0);
}

// Windows longer than the line that the separable way joins.
static void check_wide(sample_random *r) {
  math_pool_shape s = {{1, 2, 3000}, {1, 2, 2500}, {1, 1, 26}, {1, 1, 20}, {1, 1, 1},
                       {0, 0, 0},    {0, 0, 0},    false,      false};
  check_shape(r, &s, false);
}

int main(int argc, char **argv) {
  sample_random r = sample_begin(argc, argv);
  int checked = 0;
  for (int i = 0; i < 300; i++) {
    math_pool_shape s;
    if (!random_shape(&r, &s)) continue;
    check_shape(&r, &s, i % 4 == 0);
    checked++;
  }
  CHECK(checked > 100);
  check_wide(&r);
  check_lengths();
  return CHECK_END();
}
