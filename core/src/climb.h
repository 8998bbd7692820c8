/* Climb a criterion from many starts in lock-step: projected BFGS, step for step as
   bough/acquisition/maximise/gradient.py does it, which explains the method and is the reference in tests.

   The criterion is log expected improvement, of one objective or of a hypervolume, plus the log probabilities that
   limits are met, plus the term for a trial's cost. */
#ifndef BOUGH_CLIMB_H
#define BOUGH_CLIMB_H

#include <float.h>

#include "covariance.h"
#include "hypervolume.h"

#define SMALLEST_VARIANCE 1e-12

/* Scratch for the moments of one point: k, L^-1 k and a weight, each (rows). */
typedef struct {
    scratch_t w;
    double *k, *white, *weight;
} work_t;

static work_t work_at(double *memory, const side_t *d) {
    work_t work;
    work.w = scratch_at(memory, d);
    work.k = memory + scratch_size(d);
    work.white = work.k + d->rows;
    work.weight = work.white + d->rows;
    return work;
}

static size_t work_size(const side_t *d) { return scratch_size(d) + 3 * (size_t)d->rows; }

/* Mean and sd from the covariances in work.k; 0.5 / sd, or 0 where the sd is cut off. */
static double moments(const posterior_t *p, int n, double prior, work_t work, double *sd, double *half) {
    double variance;
    whiten(n, p->rt, work.k, work.white);
    variance = prior - dot(n, work.white, work.white);
    *sd = sqrt(variance > SMALLEST_VARIANCE ? variance : SMALLEST_VARIANCE);
    *half = variance > SMALLEST_VARIANCE ? 0.5 / *sd : 0.0;
    return dot(n, work.k, p->alpha);
}

/* weight = by_mean alpha + by_variance d variance / dk, from work.white. */
static void weigh(const posterior_t *p, int n, double by_mean, double by_variance, work_t work) {
    int i;
    for (i = 0; i < n; i++)
        work.weight[i] =
            by_mean * p->alpha[i] - 2.0 * by_variance * dot(n - i, p->rt + (size_t)i * n + i, work.white + i);
}

/* A criterion ready to be evaluated: a side and scratch for each member; mean, sd, by_mean, by_sd (members). */
typedef struct {
    const criterion_t *of;
    side_t sides[MOST_MEMBERS];
    work_t works[MOST_MEMBERS];
    double *memory, *boxes_memory, mean[MOST_MEMBERS], sd[MOST_MEMBERS], half[MOST_MEMBERS], by_mean[MOST_MEMBERS],
        by_sd[MOST_MEMBERS];
} evaluator_t;

static void release_evaluator(evaluator_t *e, int members) {
    while (members > 0) release_side(&e->sides[--members]);
    free(e->memory);
}

static int prepare_evaluator(const criterion_t *c, evaluator_t *e) {
    size_t size = c->boxes ? boxes_size(c->boxes) : 0;
    double *next;
    int i;
    e->of = c;
    e->memory = NULL;
    for (i = 0; i < c->members; i++) {
        if (prepare_side(&c->models[i], &e->sides[i]) < 0) {
            release_evaluator(e, i);
            return -1;
        }
        size += work_size(&e->sides[i]);
    }
    e->memory = next = malloc(sizeof(double) * (size + 1));
    if (!next) {
        release_evaluator(e, c->members);
        return -1;
    }
    for (i = 0; i < c->members; i++) {
        e->works[i] = work_at(next, &e->sides[i]);
        next += work_size(&e->sides[i]);
    }
    e->boxes_memory = next;
    return 0;
}

/* The criterion from the moments of each member, and its slopes by them; sd is already multiplied by sd_share. */
static double value_of(const criterion_t *c, const double *mean, const double *sd, double *boxes_memory, double *by_mean,
                       double *by_sd) {
    double value = c->boxes ? log_ehvi_at(c->boxes, mean, sd, boxes_memory, by_mean, by_sd) : 0.0;
    int k;
    for (k = 0; k < c->members; k++) {
        const double best = c->posteriors[k].best;
        if (c->priced && k == c->members - 1)
            value += log_price(&c->price, mean[k], sd[k], best, &by_mean[k], &by_sd[k]);
        else if (k >= c->objectives)
            value += log_probability(mean[k], sd[k], best, &by_mean[k], &by_sd[k]);
        else if (!c->boxes)
            value += log_improvement(mean[k], sd[k], best, &by_mean[k], &by_sd[k]);
    }
    return value;
}

/* One start on its way: it moves d coordinates, the columns `own`. z, prior: of each member. */
typedef struct {
    const unsigned char *on;
    double *z, *x, *low, *high, *slope, *inverse, *direction, prior[MOST_MEMBERS], value, length;
    int *own;
    char *held;
    int d, known, alive;
} mover_t;

/* The criterion of a start at x. e keeps what criterion_slope needs. */
static double criterion(evaluator_t *e, mover_t *s, const double *x) {
    const criterion_t *c = e->of;
    const int columns = c->models[0].shape.columns;
    int i, k;
    for (k = 0; k < c->members; k++) {
        const side_t *d = &e->sides[k];
        double *z = s->z + (size_t)k * (size_t)columns;
        for (i = 0; i < s->d; i++) z[d->place[s->own[i]]] = (x[i] - 0.5) * d->unit[d->place[s->own[i]]];
        covariance(d, d->rows, z, s->on, e->works[k].w, e->works[k].k);
        e->mean[k] = moments(&c->posteriors[k], d->rows, s->prior[k], e->works[k], &e->sd[k], &e->half[k]);
        e->sd[k] *= c->posteriors[k].sd_share;
    }
    return value_of(c, e->mean, e->sd, e->boxes_memory, e->by_mean, e->by_sd);
}

/* The slopes of the criterion where it was evaluated last. They cost as much as the value, and the value alone is enough
   to reject a step. */
static void criterion_slope(evaluator_t *e, const mover_t *s, double *slope) {
    const criterion_t *c = e->of;
    const int columns = c->models[0].shape.columns;
    int i, k;
    for (i = 0; i < s->d; i++) slope[i] = 0.0;
    for (k = 0; k < c->members; k++) {
        const side_t *d = &e->sides[k];
        const double *z = s->z + (size_t)k * (size_t)columns;
        weigh(&c->posteriors[k], d->rows, e->by_mean[k], e->by_sd[k] * c->posteriors[k].sd_share * e->half[k],
              e->works[k]);
        for (i = 0; i < s->d; i++) {
            const int place = d->place[s->own[i]];
            slope[i] += slope_at(d, place, z[place], e->works[k].w, e->works[k].weight);
        }
    }
}

static double inner(int d, const double *a, const double *b) {
    double sum = 0.0;
    int i;
    for (i = 0; i < d; i++) sum += a[i] * b[i];
    return sum;
}

static int moves(int d, const double *direction) {
    int i;
    for (i = 0; i < d; i++)
        if (direction[i] != 0.0) return 1;
    return 0;
}

/* Which coordinates a bound holds, and the direction of the others. */
static void aim(mover_t *s, double first_step) {
    const int d = s->d;
    double along = 0.0, steepest = 0.0;
    int i, j;
    for (i = 0; i < d; i++)
        s->held[i] = (s->x[i] <= s->low[i] && s->slope[i] <= 0.0) || (s->x[i] >= s->high[i] && s->slope[i] >= 0.0) ||
                     !isfinite(s->slope[i]);
    for (i = 0; i < d; i++) {
        double sum = 0.0;
        if (!s->held[i]) {
            for (j = 0; j < d; j++)
                if (!s->held[j]) sum += s->inverse[i * d + j] * s->slope[j];
            along += sum * s->slope[i];
            if (fabs(s->slope[i]) > steepest) steepest = fabs(s->slope[i]);
        }
        s->direction[i] = sum;
    }
    if (!s->known || along <= 0.0)
        for (i = 0; i < d; i++)
            s->direction[i] = s->held[i] ? 0.0 : s->slope[i] * (first_step / (steepest > 1e-300 ? steepest : 1e-300));
}

/* BFGS update of the inverse Hessian of the negated objective. */
static void learn(mover_t *s, const double *step, const double *bend, double *moved) {
    const int d = s->d;
    const double curvature = inner(d, step, bend), bend2 = inner(d, bend, bend);
    double rho, share;
    int i, j;
    if (!(curvature > 1e-10 * sqrt(inner(d, step, step) * bend2)) || !(bend2 >= DBL_MIN)) return;
    if (!s->known) {
        memset(s->inverse, 0, sizeof(double) * (size_t)(d * d));
        for (i = 0; i < d; i++) s->inverse[i * d + i] = curvature / bend2;
    }
    rho = 1.0 / curvature;
    for (i = 0; i < d; i++) moved[i] = inner(d, s->inverse + (size_t)i * d, bend);
    share = 0.5 * rho * (1.0 + rho * inner(d, bend, moved));
    for (i = 0; i < d; i++) moved[i] = share * step[i] - rho * moved[i];
    for (i = 0; i < d; i++)
        for (j = 0; j < d; j++) s->inverse[i * d + j] += step[i] * moved[j] + moved[i] * step[j];
    s->known = 1;
}

/* One step of one start. */
static void advance(evaluator_t *e, const rules_t *rules, mover_t *s, double *memory) {
    const int d = s->d;
    double *trial = memory, *step = trial + d, *trial_slope = step + d, *bend = trial_slope + d, *moved = bend + d;
    double promised, value, gain, longest = 0.0;
    int i;
    for (i = 0; i < d; i++) {
        double to = s->x[i] + s->length * s->direction[i];
        to = to > s->low[i] ? to : s->low[i];
        trial[i] = to < s->high[i] ? to : s->high[i];
        step[i] = trial[i] - s->x[i];
        if (fabs(step[i]) > longest) longest = fabs(step[i]);
    }
    promised = inner(d, s->slope, step);
    value = criterion(e, s, trial);
    gain = value - s->value;
    if (gain >= rules->armijo * fabs(promised)) {
        criterion_slope(e, s, trial_slope);
        for (i = 0; i < d; i++) bend[i] = s->held[i] ? 0.0 : s->slope[i] - trial_slope[i];
        learn(s, step, bend, moved);
        memcpy(s->x, trial, sizeof(double) * (size_t)d);
        memcpy(s->slope, trial_slope, sizeof(double) * (size_t)d);
        s->value = value;
        s->length = 1.0;
        aim(s, rules->first_step);
        s->alive = gain > rules->value_tolerance * (1.0 + fabs(value));
    } else {
        const double drop = promised - gain;
        double factor = isfinite(drop) && drop != 0.0 ? 0.5 * promised / drop : 0.1;
        factor = factor > 0.1 ? factor : 0.1;
        s->length *= factor < 0.5 ? factor : 0.5;
        s->alive = longest > rules->step_tolerance;
    }
    s->alive = s->alive && moves(d, s->direction);
}

/* A start before its first step. */
static void begin(evaluator_t *e, const rules_t *rules, const climb_t *c, int start, mover_t *s) {
    const shape_t *shape = e->sides[0].shape;
    const size_t columns = (size_t)shape->columns, row = (size_t)start * columns;
    int column, k;
    s->on = c->starts.on + (size_t)start * (size_t)shape->groups;
    for (k = 0; k < e->of->members; k++) {
        read_point(&e->sides[k], c->starts.x + row, s->on, s->z + (size_t)k * columns);
        s->prior[k] = variance_of(&e->sides[k], s->on);
    }
    s->d = 0;
    for (column = 0; column < shape->columns; column++)
        if (c->moving[row + column]) {
            const double low = c->low[row + column], high = c->high[row + column];
            double to = c->starts.x[row + column];
            to = to > low ? to : low;
            s->own[s->d] = column;
            s->x[s->d] = to < high ? to : high;
            s->low[s->d] = low;
            s->high[s->d++] = high;
        }
    s->known = 0;
    s->length = 1.0;
    memset(s->inverse, 0, sizeof(double) * (size_t)s->d * (size_t)s->d);
    s->value = criterion(e, s, s->x);
    criterion_slope(e, s, s->slope);
    aim(s, rules->first_step);
    s->alive = isfinite(s->value) && moves(s->d, s->direction);
}

static void race(const rules_t *rules, mover_t *movers, int starts) {
    double best = -INFINITY;
    int i;
    for (i = 0; i < starts; i++)
        if (isfinite(movers[i].value) && movers[i].value > best) best = movers[i].value;
    for (i = 0; i < starts; i++) {
        mover_t *s = movers + i;
        if (s->alive && s->known && !(s->value + rules->hope * 0.5 * inner(s->d, s->slope, s->direction) >= best))
            s->alive = 0;
    }
}

static int most_moving(const climb_t *c, int columns) {
    int i, column, most = 0;
    for (i = 0; i < c->starts.count; i++) {
        int count = 0;
        for (column = 0; column < columns; column++) count += c->moving[(size_t)i * (size_t)columns + column] != 0;
        most = count > most ? count : most;
    }
    return most;
}

static int climb(const criterion_t *of, const rules_t *rules, climb_t *c) {
    const size_t columns = (size_t)of->models[0].shape.columns, d = (size_t)most_moving(c, of->models[0].shape.columns);
    const size_t starts = (size_t)c->starts.count, per_start = columns * (size_t)of->members + 5 * d + d * d;
    evaluator_t e;
    double *memory;
    mover_t *movers;
    int *own, i, l, step, done = 0;
    char *held;
    if (prepare_evaluator(of, &e) < 0) return -1;
    memory = malloc(sizeof(double) * (5 * d + starts * per_start + 1));
    movers = malloc(sizeof(mover_t) * (starts + 1));
    own = malloc(sizeof(int) * (starts * d + 1));
    held = malloc(starts * d + 1);
    if (memory && movers && own && held) {
        double *next = memory + 5 * d;
        for (i = 0; i < c->starts.count; i++, next += per_start) {
            mover_t *s = movers + i;
            s->x = next;
            s->low = s->x + d;
            s->high = s->low + d;
            s->slope = s->high + d;
            s->direction = s->slope + d;
            s->inverse = s->direction + d;
            s->z = s->inverse + d * d;
            s->own = own + (size_t)i * d;
            s->held = held + (size_t)i * d;
            begin(&e, rules, c, i, s);
        }
        for (step = 0; step < rules->steps; step++) {
            int any = 0;
            for (i = 0; i < c->starts.count; i++)
                if (movers[i].alive) {
                    advance(&e, rules, movers + i, memory);
                    any = 1;
                }
            if (!any) break;
            if (rules->race) race(rules, movers, c->starts.count);
        }
        for (i = 0; i < c->starts.count; i++) {
            for (l = 0; l < movers[i].d; l++) c->found[(size_t)i * columns + (size_t)movers[i].own[l]] = movers[i].x[l];
            c->value[i] = movers[i].value;
        }
        done = 1;
    }
    free(memory);
    free(movers);
    free(own);
    free(held);
    release_evaluator(&e, of->members);
    return done ? 0 : -1;
}

#endif
