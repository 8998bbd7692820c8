/* The covariance of `auto` between one point and all rows of a model (see bough/gp/kernels/nested.py):

       k = o #{shared groups but the root} + s sum_g M(r_g) + j M(r / phi)

   with M Matern-5/2 as a function of s^2 = 5 r^2; the sqrt(5) is part of the units. Loops run over the data, which lie
   side by side in memory, so that any compiler can vectorise them. */
#ifndef BOUGH_COVARIANCE_H
#define BOUGH_COVARIANCE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
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

/* k[i] += factor M(s2[i] scale); slope[i] = factor scale dM/ds2. */
static void add_matern(int rows, const double *RESTRICT s2, double factor, double scale, double *RESTRICT k,
                       double *RESTRICT slope) {
    const double by_s2 = -factor * scale / 6.0;
    int i;
    for (i = 0; i < rows; i++) {
        const double t = s2[i] * scale, s = sqrt(t), decay = exp_negative(-s), rise = (1.0 + s) * decay;
        k[i] += factor * (rise + t * decay * (1.0 / 3.0));
        slope[i] = by_s2 * rise;
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

/* The same for TOGETHER vectors, k and out (TOGETHER, rows): each row of the matrix is read once for all of them. */
#define TOGETHER 4

static void whiten_together(int rows, const double *RESTRICT rt, const double *RESTRICT k, double *RESTRICT out) {
    const size_t n = (size_t)rows;
    double *RESTRICT out1 = out + n, *RESTRICT out2 = out1 + n, *RESTRICT out3 = out2 + n;
    int i, j;
    memset(out, 0, sizeof(double) * TOGETHER * n);
    for (j = 0; j + 2 <= rows; j += 2) {
        const double *RESTRICT a = rt + (size_t)j * n, *RESTRICT b = a + n;
        const double *ka = k + j;
        const double a0 = ka[0], b0 = ka[1], a1 = ka[n], b1 = ka[n + 1], a2 = ka[2 * n], b2 = ka[2 * n + 1];
        const double a3 = ka[3 * n], b3 = ka[3 * n + 1];
        for (i = j; i < rows; i++) {
            out[i] += a0 * a[i] + b0 * b[i];
            out1[i] += a1 * a[i] + b1 * b[i];
            out2[i] += a2 * a[i] + b2 * b[i];
            out3[i] += a3 * a[i] + b3 * b[i];
        }
    }
    if (j < rows)
        for (i = 0; i < TOGETHER; i++) out[i * n + j] += k[i * n + j] * rt[(size_t)j * n + j];
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

/* Data as the loops read them, at given hyperparameters. The coordinate z of a number is its distance from the middle in
   units of the length-scale, 0 where it is inactive; z of a nominal column is the index of the option, or INACTIVE.

   scales (4)             o, s, j, 1 / phi^2
   unit (columns)         dz / dx at each place
   apart, beside (columns)  squared distances between two options, and between an option and an inactive column
   zt (columns, rows), ont (groups, rows)   coordinates, and activity as numbers
   off (terms, rows)      the squared distance of each term from a point at which it is inactive
   place (columns), term (columns)   the place of a column; the term of the group at a place, or -1
   begin, end (groups)    the first row where a group is active, and the one after the last; rows outside are skipped,
                          which saves most work if the data are sorted
   count (groups), at (groups, rows)   in how many rows a group is active, and in which */
typedef struct {
    const shape_t *shape;
    int rows;
    double scales[4];
    double *unit, *apart, *beside, *zt, *ont, *off;
    int *place, *term, *begin, *end, *count, *at;
    double *memory;
} side_t;

#define INACTIVE (-1.0)

/* The squared distances of one place between a coordinate and all rows, added to s2. */
static void add_squares(const side_t *d, int place, double z, int rows, double *RESTRICT s2) {
    const double *RESTRICT zt = d->zt + (size_t)place * d->rows;
    const double apart = d->apart[place], beside = d->beside[place];
    int i;
    if (!d->shape->levels[place]) {
        for (i = 0; i < rows; i++) {
            const double step = z - zt[i];
            s2[i] += step * step;
        }
    } else if (z < 0.0) {
        for (i = 0; i < rows; i++) s2[i] += zt[i] < 0.0 ? 0.0 : beside;
    } else {
        for (i = 0; i < rows; i++) {
            const double other = zt[i] < 0.0 ? beside : apart;
            s2[i] += zt[i] == z ? 0.0 : other;
        }
    }
}

/* Add the squared distances of an inactive term, between a point and the first `rows` rows, to `all`. */
static void add_off(const side_t *d, int term, int rows, double *all) {
    const int group = d->shape->group[term], begin = d->begin[group], end = d->end[group] < rows ? d->end[group] : rows;
    if (begin < end) add_to(end - begin, 1.0, d->off + (size_t)term * d->rows + begin, all + begin);
}

/* The coordinates (columns) of one point. */
static void read_point(const side_t *d, const double *x, const unsigned char *on, double *z) {
    const shape_t *s = d->shape;
    int p;
    for (p = 0; p < s->columns; p++) {
        const double value = x[s->column[p]];
        if (s->levels[p])
            z[p] = on[s->owner[p]] ? floor(value * s->levels[p]) : INACTIVE;
        else
            z[p] = on[s->owner[p]] ? (value - 0.5) * d->unit[p] : 0.0;
    }
}

static int prepare_side(const model_t *m, side_t *d) {
    const shape_t *s = &m->shape;
    const size_t n = (size_t)m->data.count, columns = (size_t)s->columns, groups = (size_t)s->groups;
    const size_t terms = (size_t)s->terms;
    int i, p, g, t;
    double *z;
    d->shape = s;
    d->rows = m->data.count;
    d->memory = malloc(sizeof(double) * (4 * columns + (columns + groups + terms) * n + 1));
    d->place = malloc(sizeof(int) * (2 * columns + (3 + n) * groups));
    if (!d->memory || !d->place) {
        free(d->memory);
        free(d->place);
        return -1;
    }
    d->unit = d->memory;
    d->apart = d->unit + columns;
    d->beside = d->apart + columns;
    z = d->beside + columns;
    d->zt = z + columns;
    d->ont = d->zt + columns * n;
    d->off = d->ont + groups * n;
    d->term = d->place + columns;
    d->begin = d->term + columns;
    d->end = d->begin + groups;
    d->count = d->end + groups;
    d->at = d->count + groups;
    for (i = 0; i < 3; i++) d->scales[i] = exp(m->theta[i]);
    d->scales[3] = exp(-2.0 * m->theta[3]);
    for (p = 0; p < s->columns; p++) {
        d->unit[p] = 2.2360679774997896964 * exp(-m->theta[SCALES + s->column[p]]);
        d->apart[p] = d->unit[p] * d->unit[p];
        d->beside[p] = s->levels[p] ? 0.5 * d->apart[p] * (1.0 - 1.0 / s->levels[p]) : 0.0;
        d->place[s->column[p]] = p;
        d->term[p] = -1;
    }
    for (t = 0; t < s->terms; t++)
        for (p = s->first[t]; p < s->first[t + 1]; p++) d->term[p] = t;
    for (g = 0; g < s->groups; g++) {
        d->begin[g] = d->rows;
        d->end[g] = d->count[g] = 0;
    }
    for (i = 0; i < d->rows; i++) {
        const unsigned char *on = m->data.on + (size_t)i * groups;
        read_point(d, m->data.x + (size_t)i * columns, on, z);
        for (p = 0; p < s->columns; p++) d->zt[(size_t)p * n + i] = z[p];
        for (g = 0; g < s->groups; g++) {
            d->ont[(size_t)g * n + i] = on[g] ? 1.0 : 0.0;
            if (!on[g]) continue;
            if (d->begin[g] > i) d->begin[g] = i;
            d->end[g] = i + 1;
            d->at[(size_t)g * n + (size_t)d->count[g]++] = i;
        }
    }
    memset(d->off, 0, sizeof(double) * terms * n);
    for (t = 0; t < s->terms; t++)
        for (p = s->first[t]; p < s->first[t + 1]; p++)
            add_squares(d, p, s->levels[p] ? INACTIVE : 0.0, d->rows, d->off + (size_t)t * n);
    return 0;
}

static void release_side(side_t *d) {
    free(d->memory);
    free(d->place);
}

/* k(x, x). */
static double variance_of(const side_t *d, const unsigned char *on) {
    double levels = 0.0, functions = 0.0;
    int g, t;
    for (g = 1; g < d->shape->groups; g++) levels += on[g] ? 1.0 : 0.0;
    for (t = 0; t < d->shape->terms; t++) functions += on[d->shape->group[t]] ? 1.0 : 0.0;
    return d->scales[0] * levels + d->scales[1] * functions + d->scales[2];
}

/* Scratch of one evaluation: (terms + 6) * rows + columns doubles.
   slopes (terms, rows): s dM/d(r_g^2) of active terms; over_all (rows): the same for the term over all columns. */
typedef struct {
    double *s2, *all, *over_all, *packed, *slopes, *z;
} scratch_t;

static scratch_t scratch_at(double *memory, const side_t *d) {
    const size_t rows = (size_t)d->rows;
    scratch_t w;
    w.s2 = memory;
    w.all = w.s2 + rows;
    w.over_all = w.all + rows;
    w.packed = w.over_all + rows;
    w.slopes = w.packed + 3 * rows;
    w.z = w.slopes + (size_t)d->shape->terms * rows;
    return w;
}

static size_t scratch_size(const side_t *d) {
    return (size_t)(d->shape->terms + 6) * (size_t)d->rows + (size_t)d->shape->columns + 1;
}

/* Add an active term to the covariances with the first `rows` rows; slope: zero where the row does not have the term. */
static void add_term(const side_t *d, int term, int rows, const double *s2, scratch_t w, double *k, double *slope) {
    const int group = d->shape->group[term], *at = d->at + (size_t)group * (size_t)d->rows;
    const size_t bytes = sizeof(double) * (size_t)rows;
    double *own = w.packed, *own_k = own + d->rows, *own_slope = own_k + d->rows;
    int i, count = d->count[group];
    if (count == d->rows) {
        add_matern(rows, s2, d->scales[1], 1.0, k, slope);
        return;
    }
    while (count > 0 && at[count - 1] >= rows) count--;
    for (i = 0; i < count; i++) own[i] = s2[at[i]];
    memset(own_k, 0, bytes);
    memset(slope, 0, bytes);
    add_matern(count, own, d->scales[1], 1.0, own_k, own_slope);
    for (i = 0; i < count; i++) {
        k[at[i]] += own_k[i];
        slope[at[i]] = own_slope[i];
    }
}

/* k(x, row) of the first `rows` rows for the point with coordinates z; slopes are left in w. */
static void covariance(const side_t *d, int rows, const double *z, const unsigned char *on, scratch_t w, double *k) {
    const shape_t *s = d->shape;
    const size_t n = (size_t)d->rows, bytes = sizeof(double) * (size_t)rows;
    int t, p, g;
    memset(k, 0, bytes);
    memset(w.all, 0, bytes);
    for (g = 1; g < s->groups; g++)
        if (on[g]) add_to(rows, d->scales[0], d->ont + (size_t)g * n, k);
    for (t = 0; t < s->terms; t++) {
        if (!on[s->group[t]]) {
            add_off(d, t, rows, w.all);
            continue;
        }
        memset(w.s2, 0, bytes);
        for (p = s->first[t]; p < s->first[t + 1]; p++) add_squares(d, p, z[p], rows, w.s2);
        add_to(rows, 1.0, w.s2, w.all);
        add_term(d, t, rows, w.s2, w, k, w.slopes + (size_t)t * n);
    }
    for (p = s->first[s->terms]; p < s->columns; p++) add_squares(d, p, z[p], rows, w.all);
    add_matern(rows, w.all, d->scales[2], d->scales[3], k, w.over_all);
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

/* d/dx of sum_i weight_i k_i by the number at one place, active at the point; the slopes are those that `covariance`
   left. */
static double slope_at(const side_t *d, int place, double z, scratch_t w, const double *weight) {
    const double *zt = d->zt + (size_t)place * d->rows;
    const int term = d->term[place];
    double sum = pull_difference(d->rows, weight, w.over_all, z, zt);
    if (term >= 0) sum += pull_difference(d->rows, weight, w.slopes + (size_t)term * d->rows, z, zt);
    return 2.0 * d->unit[place] * sum;
}

#endif
