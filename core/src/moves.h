/* Mean and sd of moves of one discrete column each: at a base point with that column changed.

   A move leaves all but one column of its base as they are, so the squared distances are corrected rather
   than summed again, only two of the Matern terms are evaluated, and a new option only changes the covariances with
   data that have it or the old one. bough/acquisition/maximise/alternate.py says
   where the moves come from; in tests, predicting the moved points one by one is the reference. */
#ifndef BOUGH_MOVES_H
#define BOUGH_MOVES_H

#include "climb.h"

/* A base point, with what all its moves need. s2, k: (terms, rows) of each active group's term; rest: (rows) levels
   and the terms of all groups together; all: (rows) squared distances over all columns; whole, white: (rows) its covariances
   and L^-1 times them. away_white, away_mean: white and mean if no row had its option at the place `away`. */
typedef struct {
    double *s2, *k, *all, *rest, *whole, *white, *away_white, mean, away_mean, prior;
    int away;
} base_t;

static void prepare_base(const side_t *d, const posterior_t *post, const double *z, const unsigned char *on, base_t *base,
                         scratch_t w, double *slope) {
    const base_t b = *base;
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
            add_off(d, t, n, b.all);
            continue;
        }
        memset(s2, 0, bytes);
        memset(k, 0, bytes);
        for (p = s->first[t]; p < s->first[t + 1]; p++) add_squares(d, p, z[p], n, s2);
        add_to(n, 1.0, s2, b.all);
        add_term(d, t, n, s2, w, k, slope);
        add_to(n, 1.0, k, b.rest);
    }
    for (p = s->first[s->terms]; p < s->columns; p++) add_squares(d, p, z[p], n, b.all);
    memcpy(b.whole, b.rest, bytes);
    add_matern(n, b.all, d->scales[2], d->scales[3], b.whole, slope);
    whiten(n, post->rt, b.whole, b.white);
    base->mean = dot(n, b.whole, post->alpha);
    base->prior = variance_of(d, on);
    base->away = -1;
}

/* change[i] = (to - z_i)^2 - (from - z_i)^2 */
static void find_change(const side_t *d, int place, double from, double to, double *RESTRICT change) {
    const double *RESTRICT zt = d->zt + (size_t)place * d->rows;
    const double twice = to + from, step = to - from;
    int i;
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

/* k(x, row) for a base with the number at one place moved to the coordinate `to`. */
static void moved_covariance(const side_t *d, const double *z, const base_t *b, int place, double to, scratch_t w,
                             double *change, double *s2, double *slope, double *k) {
    const size_t rows = (size_t)d->rows;
    const int n = d->rows, term = d->term[place];
    find_change(d, place, z[place], to, change);
    memcpy(k, b->rest, sizeof(double) * rows);
    if (term >= 0) {
        add_to(n, -1.0, b->k + (size_t)term * rows, k);
        add_not_below_zero(n, b->s2 + (size_t)term * rows, change, s2);
        add_term(d, term, n, s2, w, k, slope);
    }
    add_not_below_zero(n, b->all, change, s2);
    add_matern(n, s2, d->scales[2], d->scales[3], k, slope);
}

/* The squared distances between the base and the rows with one option at a place change by `change`. Return what that
   adds to the mean, and update L^-1 k in `white`. */
static double shift_option(const side_t *d, const posterior_t *p, const base_t *b, int place, double option,
                           double change, double *memory, int *at, double *white) {
    const double *zt = d->zt + (size_t)place * d->rows;
    const size_t rows = (size_t)d->rows;
    const int n = d->rows, term = d->term[place];
    double *s2 = memory, *slope = s2 + rows, *k = slope + rows, mean = 0.0;
    int i, count = 0;
    for (i = 0; i < n; i++) {
        at[count] = i;
        count += zt[i] == option;
    }
    if (!count) return 0.0;
    for (i = 0; i < count; i++) k[i] = b->rest[at[i]];
    if (term >= 0) {
        const double *term_s2 = b->s2 + (size_t)term * rows, *term_k = b->k + (size_t)term * rows;
        for (i = 0; i < count; i++) {
            s2[i] = term_s2[at[i]] + change;
            s2[i] = s2[i] > 0.0 ? s2[i] : 0.0;
            k[i] -= term_k[at[i]];
        }
        add_matern(count, s2, d->scales[1], 1.0, k, slope); /* a row with an option has the term */
    }
    for (i = 0; i < count; i++) {
        s2[i] = b->all[at[i]] + change;
        s2[i] = s2[i] > 0.0 ? s2[i] : 0.0;
    }
    add_matern(count, s2, d->scales[2], d->scales[3], k, slope);
    for (i = 0; i < count; i++) {
        const int row = at[i];
        const double step = k[i] - b->whole[row];
        mean += step * p->alpha[row];
        add_to(n - row, step, p->rt + (size_t)row * rows + row, white + row);
    }
    return mean;
}

/* Mean, and L^-1 k in `white`, of a base with another option at a place, or of the base itself (place -1). A new option
   changes the covariances with two kinds of rows only: those with the old option, the same for all moves of a column, and
   those with the new one. */
static double mean_of_option(const side_t *d, const posterior_t *p, const double *z, base_t *b, int place, double to,
                             double *memory, int *at, double *white) {
    const size_t bytes = sizeof(double) * (size_t)d->rows;
    if (place < 0 || to == z[place]) {
        memcpy(white, b->white, bytes);
        return b->mean;
    }
    if (b->away != place) {
        memcpy(b->away_white, b->white, bytes);
        b->away_mean = b->mean + shift_option(d, p, b, place, z[place], d->apart[place], memory, at, b->away_white);
        b->away = place;
    }
    memcpy(white, b->away_white, bytes);
    return b->away_mean + shift_option(d, p, b, place, to, -d->apart[place], memory, at, white);
}

/* Moves of numbers change all covariances, so they wait until several can be whitened together.
   k, white (TOGETHER, rows) */
typedef struct {
    int count, move[TOGETHER];
    double prior[TOGETHER], *k, *white;
} waiting_t;

static void finish(const side_t *d, const posterior_t *p, const moves_t *v, waiting_t *w) {
    const size_t n = (size_t)d->rows;
    int i;
    if (w->count == TOGETHER)
        whiten_together(d->rows, p->rt, w->k, w->white);
    else
        for (i = 0; i < w->count; i++) whiten(d->rows, p->rt, w->k + i * n, w->white + i * n);
    for (i = 0; i < w->count; i++) {
        const double *white = w->white + i * n, variance = w->prior[i] - dot(d->rows, white, white);
        v->mean[w->move[i]] = dot(d->rows, w->k + i * n, p->alpha);
        v->sd[w->move[i]] = sqrt(variance > SMALLEST_VARIANCE ? variance : SMALLEST_VARIANCE);
    }
    w->count = 0;
}

static int predict_moves(const model_t *m, const posterior_t *p, const moves_t *v) {
    const shape_t *s = &m->shape;
    const size_t n = (size_t)m->data.count, terms = (size_t)s->terms;
    side_t d;
    double *memory, *temporary, *z;
    work_t work;
    waiting_t wait = {0};
    base_t b = {0};
    int move, base = -1, *at;
    if (prepare_side(m, &d) < 0) return -1;
    memory = malloc(sizeof(double) * (work_size(&d) + (2 * terms + 9 + 2 * TOGETHER) * n + 1));
    at = malloc(sizeof(int) * (n + 1));
    if (memory && at) {
        work = work_at(memory, &d);
        z = work.w.z;
        b.s2 = memory + work_size(&d);
        b.k = b.s2 + terms * n;
        b.all = b.k + terms * n;
        b.rest = b.all + n;
        b.whole = b.rest + n;
        b.white = b.whole + n;
        b.away_white = b.white + n;
        wait.k = b.away_white + n;
        wait.white = wait.k + TOGETHER * n;
        temporary = wait.white + TOGETHER * n;
        for (move = 0; move < v->count; move++) {
            const int owner = v->owner[move], place = v->column[move] < 0 ? -1 : d.place[v->column[move]];
            double variance, to;
            if (owner != base) {
                const unsigned char *on = v->bases.on + (size_t)owner * (size_t)s->groups;
                read_point(&d, v->bases.x + (size_t)owner * (size_t)s->columns, on, z);
                prepare_base(&d, p, z, on, &b, work.w, temporary);
                base = owner;
            }
            if (place >= 0 && !s->levels[place]) {
                to = (v->x[move] - 0.5) * d.unit[place];
                moved_covariance(&d, z, &b, place, to, work.w, temporary, temporary + n, temporary + 2 * n,
                                 wait.k + (size_t)wait.count * n);
                wait.prior[wait.count] = b.prior;
                wait.move[wait.count++] = move;
                if (wait.count == TOGETHER) finish(&d, p, v, &wait);
                continue;
            }
            to = place < 0 ? 0.0 : floor(v->x[move] * s->levels[place]);
            v->mean[move] = mean_of_option(&d, p, z, &b, place, to, temporary, at, work.white);
            variance = b.prior - dot(d.rows, work.white, work.white);
            v->sd[move] = sqrt(variance > SMALLEST_VARIANCE ? variance : SMALLEST_VARIANCE);
        }
        finish(&d, p, v, &wait);
    }
    release_side(&d);
    move = memory && at ? 0 : -1;
    free(memory);
    free(at);
    return move;
}

#endif
