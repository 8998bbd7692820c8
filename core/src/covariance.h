/* The covariance of `auto` between one point and all rows of a model (see bough/gp/kernels/nested.py):

       k = o #{shared groups but the root} + s sum_g M(r_g) + j M(r / phi) + t M(r / ROUGH)

   with M Matern-5/2 as a function of s^2 = 5 r^2; the sqrt(5) is part of the features. Loops run over the rows of the
   model, which lie side by side in memory, so that any compiler can vectorise them. */
#ifndef BOUGH_COVARIANCE_H
#define BOUGH_COVARIANCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model.h"

#ifdef _MSC_VER
#define RESTRICT __restrict
#else
#define RESTRICT restrict
#endif

/* exp(x) for x <= 0, to two units in the last place: x = n log 2 + r, a polynomial for exp(r), and n added to the
   exponent bits. The C library's exp would stop the loops around it from being vectorised. */
static inline double exp_negative(double x) {
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the low bits */
    double r, p, t;
    uint64_t bits, scale;
    x = x < -708.0 ? -708.0 : x;
    t = x * 1.4426950408889634074 + shift;
    r = t - shift;
    x = x - r * 6.93147180369123816490e-01;
    x = x - r * 1.90821492927058770002e-10;
    p = 1.0 / 6227020800.0;
    p = p * x + 1.0 / 479001600.0;
    p = p * x + 1.0 / 39916800.0;
    p = p * x + 1.0 / 3628800.0;
    p = p * x + 1.0 / 362880.0;
    p = p * x + 1.0 / 40320.0;
    p = p * x + 1.0 / 5040.0;
    p = p * x + 1.0 / 720.0;
    p = p * x + 1.0 / 120.0;
    p = p * x + 1.0 / 24.0;
    p = p * x + 1.0 / 6.0;
    p = p * x + 0.5;
    p = p * x + 1.0;
    p = p * x + 1.0;
    memcpy(&scale, &t, sizeof scale);
    memcpy(&bits, &p, sizeof bits);
    bits += scale << 52;
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* k[i] += factor M(s2[i] scale) mask[i]; slope[i] = factor scale dM/ds2 mask[i]. mask may be NULL. */
static void add_matern(int rows, const double *RESTRICT s2, double factor, double scale, const double *RESTRICT mask,
                       double *RESTRICT k, double *RESTRICT slope) {
    const double by_s2 = -factor * scale / 6.0;
    int i;
    if (mask) {
        for (i = 0; i < rows; i++) {
            double t = s2[i] * scale, s = sqrt(t), decay = exp_negative(-s) * mask[i], rise = (1.0 + s) * decay;
            k[i] += factor * (rise + t * decay * (1.0 / 3.0));
            slope[i] = by_s2 * rise;
        }
    } else {
        for (i = 0; i < rows; i++) {
            double t = s2[i] * scale, s = sqrt(t), decay = exp_negative(-s), rise = (1.0 + s) * decay;
            k[i] += factor * (rise + t * decay * (1.0 / 3.0));
            slope[i] = by_s2 * rise;
        }
    }
}

static void add_squares(int rows, double z, const double *RESTRICT zt, double *RESTRICT s2) {
    int i;
    for (i = 0; i < rows; i++) {
        double d = z - zt[i];
        s2[i] += d * d;
    }
}

static void add_to(int rows, double factor, const double *RESTRICT from, double *RESTRICT to) {
    int i;
    for (i = 0; i < rows; i++) to[i] += factor * from[i];
}

/* out = L^-1 k, from the transpose of L^-1 (rows, rows), whose lower triangle is zero. Four of its rows at a time: `out`
   is then read and written a quarter as often. */
static void whiten(int rows, const double *RESTRICT rt, const double *RESTRICT k, double *RESTRICT out) {
    const size_t n = (size_t)rows;
    int i, j;
    memset(out, 0, sizeof(double) * n);
    for (j = 0; j + 4 <= rows; j += 4) {
        const double *RESTRICT a = rt + (size_t)j * n, *RESTRICT b = a + n, *RESTRICT c = b + n, *RESTRICT d = c + n;
        const double ka = k[j], kb = k[j + 1], kc = k[j + 2], kd = k[j + 3];
        for (i = j; i < rows; i++) out[i] += (ka * a[i] + kb * b[i]) + (kc * c[i] + kd * d[i]);
    }
    for (; j < rows; j++) add_to(rows - j, k[j], rt + (size_t)j * n + j, out + j);
}

/* Eight partial sums: the order is fixed, and the loop still vectorises without -ffast-math. */
static double dot(int n, const double *RESTRICT a, const double *RESTRICT b) {
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, rest = 0.0;
    int i, l;
    for (i = 0; i + 8 <= n; i += 8)
        for (l = 0; l < 8; l++) sum[l] += a[i + l] * b[i + l];
    for (; i < n; i++) rest += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) + rest;
}

/* Scratch of one evaluation: (terms + 5) * rows doubles.
   slopes (terms, rows): s dM/d(r_g^2); over_all (rows): the same for the terms over all features. */
typedef struct {
    double *s2, *all, *rough_slope, *over_all, *joint_k, *slopes;
} scratch_t;

static scratch_t scratch_at(double *memory, int rows) {
    scratch_t w;
    w.s2 = memory;
    w.all = w.s2 + rows;
    w.rough_slope = w.all + rows;
    w.over_all = w.rough_slope + rows;
    w.joint_k = w.over_all + rows;
    w.slopes = w.joint_k + rows;
    return w;
}

static size_t scratch_size(const model_t *m) { return (size_t)(m->terms + 5) * (size_t)(m->rows > 0 ? m->rows : 1); }

/* k(x, row) of the first `rows` rows for the point with features z and activity on; slopes are left in w. */
static void covariance(const model_t *m, int rows, const double *z, const double *on, scratch_t w, double *k) {
    const int n = m->rows;
    int t, f, g;
    memset(k, 0, sizeof(double) * (size_t)rows);
    memset(w.all, 0, sizeof(double) * (size_t)rows);
    for (g = 1; g < m->groups; g++)
        if (on[g] != 0.0) add_to(rows, m->scales[0], m->ont + (size_t)g * n, k);
    for (t = 0; t < m->terms; t++) {
        memset(w.s2, 0, sizeof(double) * (size_t)rows);
        for (f = m->first[t]; f < m->first[t + 1]; f++) add_squares(rows, z[f], m->zt + (size_t)f * n, w.s2);
        add_to(rows, 1.0, w.s2, w.all);
        if (on[m->group[t]] != 0.0)
            add_matern(rows, w.s2, m->scales[1], 1.0, m->ont + (size_t)m->group[t] * n, k, w.slopes + (size_t)t * n);
    }
    for (f = m->first[m->terms]; f < m->features; f++) add_squares(rows, z[f], m->zt + (size_t)f * n, w.all);
    add_matern(rows, w.all, m->scales[2], m->scales[4], 0, k, w.over_all);
    add_matern(rows, w.all, m->scales[3], m->scales[5], 0, k, w.rough_slope);
    add_to(rows, 1.0, w.rough_slope, w.over_all);
}

/* The additive term that a feature belongs to and that is active at the point, or -1. */
static int active_term(const model_t *m, int feature, const double *on) {
    int t;
    for (t = 0; t < m->terms; t++)
        if (feature < m->first[t + 1]) return on[m->group[t]] != 0.0 ? t : -1;
    return -1;
}

/* sum_i weight_i slope_i (z - z_i) over the rows. */
static double pull_difference(int rows, const double *RESTRICT weight, const double *RESTRICT slope, double z,
                              const double *RESTRICT zt) {
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, rest = 0.0;
    int i, l;
    for (i = 0; i + 8 <= rows; i += 8)
        for (l = 0; l < 8; l++) sum[l] += weight[i + l] * slope[i + l] * (z - zt[i + l]);
    for (; i < rows; i++) rest += weight[i] * slope[i] * (z - zt[i]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) + rest;
}

static double pull_square(int rows, const double *RESTRICT weight, const double *RESTRICT slope, double z,
                          const double *RESTRICT zt) {
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, rest = 0.0;
    int i, l;
    for (i = 0; i + 8 <= rows; i += 8)
        for (l = 0; l < 8; l++) {
            double d = z - zt[i + l];
            sum[l] += weight[i + l] * slope[i + l] * d * d;
        }
    for (; i < rows; i++) {
        double d = z - zt[i];
        rest += weight[i] * slope[i] * d * d;
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) + rest;
}

/* d/dz of sum_i weight_i k_i by one feature, from the slopes that `covariance` left. */
static double slope_by_feature(const model_t *m, int rows, int feature, double z, const double *on, scratch_t w,
                               const double *weight) {
    const double *zt = m->zt + (size_t)feature * m->rows;
    const int term = active_term(m, feature, on);
    double sum = pull_difference(rows, weight, w.over_all, z, zt);
    if (term >= 0) sum += pull_difference(rows, weight, w.slopes + (size_t)term * m->rows, z, zt);
    return 2.0 * sum;
}

#endif
