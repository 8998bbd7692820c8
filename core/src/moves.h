/* Score moves of one discrete column each: log expected improvement at a base point with that column changed.

   A move leaves all but one or two features of its base as they are, so the squared distances are corrected rather
   than summed again, and only three of the Matern terms are evaluated. bough/acquisition/maximise/alternate.py says
   where the moves come from; scoring the moved points one by one is the oracle. */
#ifndef BOUGH_MOVES_H
#define BOUGH_MOVES_H

#include "climb.h"

/* What a base point keeps for its moves. s2, k: (terms, rows) of each additive term; rest: (rows) offsets and all
   additive terms together. */
typedef struct {
    double *s2, *k, *all, *rest;
} base_t;

static void prepare_base(const model_t *m, const double *z, const double *on, base_t b, double *slope) {
    const int n = m->rows;
    const size_t bytes = sizeof(double) * (size_t)n;
    int t, f, g;
    memset(b.rest, 0, bytes);
    memset(b.all, 0, bytes);
    for (g = 1; g < m->groups; g++)
        if (on[g] != 0.0) add_to(n, m->scales[0], m->ont + (size_t)g * n, b.rest);
    for (t = 0; t < m->terms; t++) {
        double *s2 = b.s2 + (size_t)t * n, *k = b.k + (size_t)t * n;
        memset(s2, 0, bytes);
        memset(k, 0, bytes);
        for (f = m->first[t]; f < m->first[t + 1]; f++) add_squares(n, z[f], m->zt + (size_t)f * n, s2);
        add_to(n, 1.0, s2, b.all);
        if (on[m->group[t]] == 0.0) continue;
        add_matern(n, s2, m->scales[1], 1.0, m->ont + (size_t)m->group[t] * n, k, slope);
        add_to(n, 1.0, k, b.rest);
    }
    for (f = m->first[m->terms]; f < m->features; f++) add_squares(n, z[f], m->zt + (size_t)f * n, b.all);
}

/* change[i] += (to - z_i)^2 - (from - z_i)^2 */
static void add_change(int rows, double from, double to, const double *RESTRICT zt, double *RESTRICT change) {
    const double twice = to + from, step = to - from;
    int i;
    for (i = 0; i < rows; i++) change[i] += step * (twice - 2.0 * zt[i]);
}

static void add_not_below_zero(int rows, const double *RESTRICT from, const double *RESTRICT change,
                               double *RESTRICT to) {
    int i;
    for (i = 0; i < rows; i++) {
        const double sum = from[i] + change[i];
        to[i] = sum > 0.0 ? sum : 0.0;
    }
}

/* k(x, row) for a base with some features changed. */
static void moved_covariance(const model_t *m, const double *z, const double *on, base_t b, const moves_t *v, int move,
                             double *change, double *s2, double *slope, double *k) {
    const int n = m->rows, first = v->first[move], term = active_term(m, first, on);
    int l;
    memset(change, 0, sizeof(double) * (size_t)n);
    for (l = 0; l < v->width[move]; l++) {
        const double to = v->z[v->start[move] + l];
        if (to != z[first + l]) add_change(n, z[first + l], to, m->zt + (size_t)(first + l) * n, change);
    }
    memcpy(k, b.rest, sizeof(double) * (size_t)n);
    if (term >= 0) {
        add_to(n, -1.0, b.k + (size_t)term * n, k);
        add_not_below_zero(n, b.s2 + (size_t)term * n, change, s2);
        add_matern(n, s2, m->scales[1], 1.0, m->ont + (size_t)m->group[term] * n, k, slope);
    }
    add_not_below_zero(n, b.all, change, s2);
    add_matern(n, s2, m->scales[2], m->scales[4], 0, k, slope);
    add_matern(n, s2, m->scales[3], m->scales[5], 0, k, slope);
}

static int score_moves(const model_t *m, const posterior_t *p, const moves_t *v) {
    const size_t n = (size_t)(m->rows > 0 ? m->rows : 1), terms = (size_t)m->terms;
    double *memory = malloc(sizeof(double) * (2 * terms + 7) * n);
    double *change, *s2, *slope, *k, *white, by_mean, by_sd;
    base_t b;
    int move, base = -1;
    if (!memory) return -1;
    b.s2 = memory;
    b.k = b.s2 + terms * n;
    b.all = b.k + terms * n;
    b.rest = b.all + n;
    change = b.rest + n;
    s2 = change + n;
    slope = s2 + n;
    k = slope + n;
    white = k + n;
    for (move = 0; move < v->count; move++) {
        const int owner = v->owner[move];
        const double *z = v->base_z + (size_t)owner * m->features, *on = v->base_on + (size_t)owner * m->groups;
        double variance, sd;
        if (owner != base) prepare_base(m, z, on, b, slope);
        base = owner;
        moved_covariance(m, z, on, b, v, move, change, s2, slope, k);
        whiten(m->rows, p->rt, k, white);
        variance = v->base_prior[owner] - dot(m->rows, white, white);
        sd = sqrt(variance > SMALLEST_VARIANCE ? variance : SMALLEST_VARIANCE);
        v->score[move] = log_improvement(dot(m->rows, k, p->alpha), p->sd_share * sd, p->best, &by_mean, &by_sd);
    }
    free(memory);
    return 0;
}

#endif
