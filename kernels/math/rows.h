/* Row-wise normalisations: each row is n contiguous elements unless said otherwise. A row's result depends on that row
 * alone, so rows may be split among threads. dst may be src. */
#ifndef OPSPEC_ROWS_H
#define OPSPEC_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* exp(x - max) / sum, or its logarithm, along n of [outer, n, inner]. A row of -inf alone gives NaN. */
void math_softmax_f32(float *dst, const float *src, size_t outer, size_t n, size_t inner, bool logarithm);
void math_softmax_f64(double *dst, const double *src, size_t outer, size_t n, size_t inner, bool logarithm);

/* y = (x - mean) / sqrt(variance + epsilon) scale[j] + bias[j]; variance is the mean square of the differences.
 * scale, bias (n elements) and the outputs mean, inverse_deviation (one per row) may be NULL. */
void math_layer_norm_f32(float *dst, const float *src, size_t rows, size_t n, float epsilon,
                         const float *scale, const float *bias, float *mean, float *inverse_deviation);
/* y = x / sqrt(mean(x^2) + epsilon) scale[j]. */
void math_rms_norm_f32(float *dst, const float *src, size_t rows, size_t n, float epsilon,
                       const float *scale);

/* Mean and variance (mean square of the differences) of each row. Either output may be NULL. */
void math_moments_f32(float *mean, float *variance, const float *src, size_t rows, size_t n);

/* Row r becomes x scale[r % period] + shift[r % period] (batch, instance, group normalisation). Either may be NULL. */
void math_scale_rows_f32(float *dst, const float *src, size_t rows, size_t n, size_t period,
                         const float *scale, const float *shift);

/* Sum of a[i] b[i], with the order of summation of the reductions. */
float math_dot_f32(const float *a, const float *b, size_t n);

#endif
