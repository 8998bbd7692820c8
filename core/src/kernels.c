/* One variant of everything that is compiled; built once per instruction set with VARIANT set to its name. */
#include <stdlib.h>

#include "covariance.h"
#include "climb.h"
#include "moves.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

static int cross(const model_t *m, int count, const double *z, const double *on, int symmetric, double *out) {
    double *memory = malloc(sizeof(double) * scratch_size(m));
    scratch_t w;
    int i, j;
    if (!memory) return -1;
    w = scratch_at(memory, m->rows);
    for (i = 0; i < count; i++)
        covariance(m, symmetric ? i + 1 : m->rows, z + (size_t)i * m->features, on + (size_t)i * m->groups, w,
                   out + (size_t)i * m->rows);
    if (symmetric)
        for (i = 0; i < count; i++)
            for (j = i + 1; j < count; j++) out[(size_t)i * count + j] = out[(size_t)j * count + i];
    free(memory);
    return 0;
}

/* out (5 + features): sum_ij W_ij dk_ij by log o, s, j, phi, t, then by the logarithm of each feature's length-scale.
   symmetric: W and k are symmetric, so only the lower triangle is visited. */
static int pull_theta(const model_t *m, int count, const double *z, const double *on, int symmetric,
                      const double *weight, double *out) {
    const size_t n = (size_t)(m->rows > 0 ? m->rows : 1);
    double *memory = malloc(sizeof(double) * (scratch_size(m) + 4 * n));
    double *k, *part, *row, *joint_slope, *by_feature = out + 5;
    scratch_t w;
    int i, j, t, f, g;
    if (!memory) return -1;
    w = scratch_at(memory, m->rows);
    k = memory + scratch_size(m);
    part = k + n;
    row = part + n;
    joint_slope = row + n;
    memset(out, 0, sizeof(double) * (size_t)(5 + m->features));
    for (i = 0; i < count; i++) {
        const int rows = symmetric ? i + 1 : m->rows;
        const double *zi = z + (size_t)i * m->features, *oni = on + (size_t)i * m->groups;
        memcpy(row, weight + (size_t)i * m->rows, sizeof(double) * (size_t)rows);
        if (symmetric)
            for (j = 0; j < i; j++) row[j] *= 2.0;
        memset(w.all, 0, sizeof(double) * (size_t)rows);
        for (g = 1; g < m->groups; g++)
            if (oni[g] != 0.0) out[0] += m->scales[0] * dot(rows, row, m->ont + (size_t)g * m->rows);
        for (t = 0; t < m->terms; t++) {
            double *slope = w.slopes + (size_t)t * m->rows;
            memset(w.s2, 0, sizeof(double) * (size_t)rows);
            for (f = m->first[t]; f < m->first[t + 1]; f++) add_squares(rows, zi[f], m->zt + (size_t)f * m->rows, w.s2);
            add_to(rows, 1.0, w.s2, w.all);
            if (oni[m->group[t]] == 0.0) continue;
            memset(k, 0, sizeof(double) * (size_t)rows);
            add_matern(rows, w.s2, m->scales[1], 1.0, m->ont + (size_t)m->group[t] * m->rows, k, slope);
            out[1] += dot(rows, row, k);
            for (f = m->first[t]; f < m->first[t + 1]; f++)
                by_feature[f] -= 2.0 * pull_square(rows, row, slope, zi[f], m->zt + (size_t)f * m->rows);
        }
        for (f = m->first[m->terms]; f < m->features; f++) add_squares(rows, zi[f], m->zt + (size_t)f * m->rows, w.all);
        memset(k, 0, sizeof(double) * (size_t)rows);
        add_matern(rows, w.all, m->scales[2], m->scales[4], 0, k, joint_slope);
        out[2] += dot(rows, row, k);
        memset(k, 0, sizeof(double) * (size_t)rows);
        add_matern(rows, w.all, m->scales[3], m->scales[5], 0, k, w.rough_slope);
        out[4] += dot(rows, row, k);
        for (j = 0; j < rows; j++) {
            part[j] = joint_slope[j] * w.all[j];
            w.over_all[j] = joint_slope[j] + w.rough_slope[j];
        }
        out[3] -= 2.0 * dot(rows, row, part);
        for (f = 0; f < m->features; f++)
            by_feature[f] -= 2.0 * pull_square(rows, row, w.over_all, zi[f], m->zt + (size_t)f * m->rows);
    }
    free(memory);
    return 0;
}

/* out (count, features): d/dz of sum_ij W_ij k_ij by the features of the points. */
static int pull_z(const model_t *m, int count, const double *z, const double *on, const double *weight, double *out) {
    const size_t n = (size_t)(m->rows > 0 ? m->rows : 1);
    double *memory = malloc(sizeof(double) * (scratch_size(m) + n));
    scratch_t w;
    int i, f;
    if (!memory) return -1;
    w = scratch_at(memory, m->rows);
    for (i = 0; i < count; i++) {
        const double *zi = z + (size_t)i * m->features, *oni = on + (size_t)i * m->groups;
        covariance(m, m->rows, zi, oni, w, memory + scratch_size(m));
        for (f = 0; f < m->features; f++)
            out[(size_t)i * m->features + f] =
                slope_by_feature(m, m->rows, f, zi[f], oni, w, weight + (size_t)i * m->rows);
    }
    free(memory);
    return 0;
}

const variant_t JOIN(bough_, VARIANT) = {cross, pull_theta, pull_z, climb, score_moves, TEXT(VARIANT)};
