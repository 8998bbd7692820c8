/* Score moves of one discrete column each: log expected improvement at a base point with that column changed.

   A move leaves all but one column of its base as they are, so the squared distances are corrected rather
   than summed again, and only three of the Matern terms are evaluated. bough/acquisition/maximise/alternate.py says
   where the moves come from; scoring the moved points one by one is the oracle. */
#ifndef BOUGH_MOVES_H
#define BOUGH_MOVES_H

#include "climb.h"

/* What a base point keeps for its moves. s2, k: (terms, rows) of each additive term that is active; rest: (rows) offsets
   and all additive terms together. */
typedef struct {
    double *s2, *k, *all, *rest;
} base_t;

static void prepare_base(const side_t *d, const double *z, const unsigned char *on, base_t b, double *slope) {
    const shape_t *s = d->shape;
    const int n = d->rows;
    const size_t rows = (size_t)n, bytes = sizeof(double) * rows;
    int t, p, g;
    memset(b.rest, 0, bytes);
    memset(b.all, 0, bytes);
    for (g = 1; g < s->groups; g++)
        if (on[g]) add_to(n, d->scales[0], d->ont + (size_t)g * rows, b.rest);
    for (t = 0; t < s->terms; t++) {
        double *s2 = b.s2 + (size_t)t * rows, *k = b.k + (size_t)t * rows;
        if (!on[s->group[t]]) {
            add_to(n, 1.0, d->off + (size_t)t * rows, b.all);
            continue;
        }
        memset(s2, 0, bytes);
        memset(k, 0, bytes);
        for (p = s->first[t]; p < s->first[t + 1]; p++) add_squares(d, p, z[p], n, s2);
        add_to(n, 1.0, s2, b.all);
        add_matern(n, s2, d->scales[1], 1.0, d->ont + (size_t)s->group[t] * rows, k, slope);
        add_to(n, 1.0, k, b.rest);
    }
    for (p = s->first[s->terms]; p < s->columns; p++) add_squares(d, p, z[p], n, b.all);
}

/* change[i] = (to - z_i)^2 - (from - z_i)^2, or the same for options. */
static void find_change(const side_t *d, int place, double from, double to, double *RESTRICT change) {
    const double *RESTRICT zt = d->zt + (size_t)place * d->rows;
    const double twice = to + from, step = to - from, apart = d->apart[place];
    int i;
    if (d->shape->levels[place])
        for (i = 0; i < d->rows; i++) change[i] = (zt[i] == from ? apart : 0.0) - (zt[i] == to ? apart : 0.0);
    else
        for (i = 0; i < d->rows; i++) change[i] = step * (twice - 2.0 * zt[i]);
}

static void add_not_below_zero(int rows, const double *RESTRICT from, const double *RESTRICT change,
                               double *RESTRICT to) {
    int i;
    for (i = 0; i < rows; i++) {
        const double sum = from[i] + change[i];
        to[i] = sum > 0.0 ? sum : 0.0;
    }
}

/* k(x, row) for a base with the active column at one place moved to the coordinate `to`; place -1 for none. */
static void moved_covariance(const side_t *d, const double *z, base_t b, int place, double to, double *change,
                             double *s2, double *slope, double *k) {
    const size_t rows = (size_t)d->rows;
    const int n = d->rows, term = place < 0 ? -1 : d->term[place];
    memset(change, 0, sizeof(double) * rows);
    if (place >= 0 && to != z[place]) find_change(d, place, z[place], to, change);
    memcpy(k, b.rest, sizeof(double) * rows);
    if (term >= 0) {
        add_to(n, -1.0, b.k + (size_t)term * rows, k);
        add_not_below_zero(n, b.s2 + (size_t)term * rows, change, s2);
        add_matern(n, s2, d->scales[1], 1.0, d->ont + (size_t)d->shape->group[term] * rows, k, slope);
    }
    add_not_below_zero(n, b.all, change, s2);
    add_matern(n, s2, d->scales[2], d->scales[4], 0, k, slope);
    add_matern(n, s2, d->scales[3], d->scales[5], 0, k, slope);
}

static int score_moves(const model_t *m, const posterior_t *p, const moves_t *v) {
    const shape_t *s = &m->shape;
    const size_t n = (size_t)m->data.count, terms = (size_t)s->terms;
    side_t d;
    double *memory, *z, *change, *s2, *slope, prior = 0.0, by_mean, by_sd;
    work_t work;
    base_t b;
    int move, base = -1;
    if (prepare_side(m, &d) < 0) return -1;
    memory = malloc(sizeof(double) * (work_size(&d) + (2 * terms + 5) * n + 1));
    if (!memory) {
        release_side(&d);
        return -1;
    }
    work = work_at(memory, &d);
    z = work.w.z;
    b.s2 = memory + work_size(&d);
    b.k = b.s2 + terms * n;
    b.all = b.k + terms * n;
    b.rest = b.all + n;
    change = b.rest + n;
    s2 = change + n;
    slope = s2 + n;
    for (move = 0; move < v->count; move++) {
        const int owner = v->owner[move], place = v->column[move] < 0 ? -1 : d.place[v->column[move]];
        double mean, sd, half, to = 0.0;
        if (owner != base) {
            const unsigned char *on = v->bases.on + (size_t)owner * (size_t)s->groups;
            read_point(&d, v->bases.x + (size_t)owner * (size_t)s->columns, on, z);
            prepare_base(&d, z, on, b, slope);
            prior = variance_of(&d, on);
            base = owner;
        }
        if (place >= 0) to = s->levels[place] ? floor(v->x[move] * s->levels[place]) : (v->x[move] - 0.5) * d.unit[place];
        moved_covariance(&d, z, b, place, to, change, s2, slope, work.k);
        mean = moments(p, m->data.count, prior, work, &sd, &half);
        v->score[move] = log_improvement(mean, p->sd_share * sd, p->best, &by_mean, &by_sd);
    }
    free(memory);
    release_side(&d);
    return 0;
}

#endif
