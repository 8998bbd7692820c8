/* Climb log expected improvement from many starts in lock-step: projected BFGS, step for step as
   bough/acquisition/maximise/gradient.py does it, which explains the method and is the oracle. */
#ifndef BOUGH_CLIMB_H
#define BOUGH_CLIMB_H

#include <float.h>

#include "covariance.h"

#define SMALLEST_VARIANCE 1e-12
#define SD_FLOOR 1e-12

/* Mills's ratio Phi(-t) / phi(t) for t >= 1: directly while erfc keeps its digits, then by its continued fraction
   1 / (t + 1 / (t + 2 / (t + 3 / (t + ...)))) (Abramowitz & Stegun 26.2.14). Twenty levels of it leave an error below
   1e-15 in 1 - t Phi(-t) / phi(t) from t = 6 on, and twelve from t = 10 on. */
static double mills(double t) {
    double tail;
    int i;
    if (t < 6.0) return 1.2533141373155002512 * erfc(t * 0.70710678118654752440) * exp(0.5 * t * t);
    tail = t;
    for (i = t < 10.0 ? 20 : 12; i > 0; i--) tail = t + i / tail;
    return 1.0 / tail;
}

/* log EI and its derivatives by mean and sd; see log_ei in bough/acquisition/functions.py. */
static double log_improvement(double mean, double sd, double best, double *by_mean, double *by_sd) {
    const double half_log_two_pi = 0.91893853320467274178;
    double z, t, u, r, h, density, mass, ratio;
    sd = sd > SD_FLOOR ? sd : SD_FLOOR;
    z = (best - mean) / sd;
    if (z > -1.0) {
        density = exp(-0.5 * z * z - half_log_two_pi);
        mass = 0.5 * erfc(-z * 0.70710678118654752440);
        h = density + z * mass;
        *by_mean = -mass / h / sd;
        *by_sd = density / h / sd;
        return log(sd) + log(h);
    }
    t = -z;
    ratio = mills(t);
    if (z < -50.0) {
        u = 1.0 / (t * t);
        r = u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - 945.0 * u))));
    } else {
        r = 1.0 - t * ratio;
    }
    *by_mean = -ratio / r / sd;
    *by_sd = 1.0 / r / sd;
    return log(sd) + log(r) - 0.5 * t * t - half_log_two_pi;
}

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

/* One start on its way: it moves d coordinates, at the places `own`. */
typedef struct {
    const unsigned char *on;
    double *z, *x, *low, *high, *slope, *inverse, *direction, prior, value, length;
    int *own;
    char *held;
    int d, known, alive;
} mover_t;

/* The criterion where a start stands at x, and its slopes. */
static double criterion(const side_t *d, const posterior_t *p, mover_t *s, const double *x, work_t work,
                        double *slope) {
    double mean, sd, half, by_mean, by_sd, value;
    int i;
    for (i = 0; i < s->d; i++) s->z[s->own[i]] = (x[i] - 0.5) * d->unit[s->own[i]];
    covariance(d, d->rows, s->z, s->on, work.w, work.k);
    mean = moments(p, d->rows, s->prior, work, &sd, &half);
    value = log_improvement(mean, p->sd_share * sd, p->best, &by_mean, &by_sd);
    weigh(p, d->rows, by_mean, by_sd * p->sd_share * half, work);
    for (i = 0; i < s->d; i++) slope[i] = slope_at(d, s->own[i], s->z[s->own[i]], work.w, work.weight);
    return value;
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
static void advance(const side_t *side, const posterior_t *p, const rules_t *rules, mover_t *s, work_t work,
                    double *memory) {
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
    value = criterion(side, p, s, trial, work, trial_slope);
    gain = value - s->value;
    if (gain >= rules->armijo * fabs(promised)) {
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
static void begin(const side_t *side, const posterior_t *p, const rules_t *rules, const climb_t *c, int start,
                  mover_t *s, work_t work) {
    const shape_t *shape = side->shape;
    const size_t row = (size_t)start * (size_t)shape->columns;
    int column;
    s->on = c->starts.on + (size_t)start * (size_t)shape->groups;
    read_point(side, c->starts.x + row, s->on, s->z);
    s->prior = variance_of(side, s->on);
    s->d = 0;
    for (column = 0; column < shape->columns; column++)
        if (c->moving[row + column]) {
            const double low = c->low[row + column], high = c->high[row + column];
            double to = c->starts.x[row + column];
            to = to > low ? to : low;
            s->own[s->d] = side->place[column];
            s->x[s->d] = to < high ? to : high;
            s->low[s->d] = low;
            s->high[s->d++] = high;
        }
    s->known = 0;
    s->length = 1.0;
    memset(s->inverse, 0, sizeof(double) * (size_t)s->d * (size_t)s->d);
    s->value = criterion(side, p, s, s->x, work, s->slope);
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

static int climb(const model_t *m, const posterior_t *p, const rules_t *rules, climb_t *c) {
    const size_t d = (size_t)most_moving(c, m->shape.columns), columns = (size_t)m->shape.columns;
    const size_t starts = (size_t)c->starts.count, per_start = columns + 5 * d + d * d;
    side_t side;
    double *memory;
    mover_t *movers;
    int *own, i, l, step;
    char *held;
    work_t work;
    if (prepare_side(m, &side) < 0) return -1;
    memory = malloc(sizeof(double) * (work_size(&side) + 5 * d + starts * per_start + 1));
    movers = malloc(sizeof(mover_t) * (starts + 1));
    own = malloc(sizeof(int) * (starts * d + 1));
    held = malloc(starts * d + 1);
    if (memory && movers && own && held) {
        double *temporary = memory + work_size(&side), *next = temporary + 5 * d;
        work = work_at(memory, &side);
        for (i = 0; i < c->starts.count; i++, next += per_start) {
            mover_t *s = movers + i;
            s->z = next;
            s->x = s->z + columns;
            s->low = s->x + d;
            s->high = s->low + d;
            s->slope = s->high + d;
            s->direction = s->slope + d;
            s->inverse = s->direction + d;
            s->own = own + (size_t)i * d;
            s->held = held + (size_t)i * d;
            begin(&side, p, rules, c, i, s, work);
        }
        for (step = 0; step < rules->steps; step++) {
            int any = 0;
            for (i = 0; i < c->starts.count; i++)
                if (movers[i].alive) {
                    advance(&side, p, rules, movers + i, work, temporary);
                    any = 1;
                }
            if (!any) break;
            if (rules->race) race(rules, movers, c->starts.count);
        }
        for (i = 0; i < c->starts.count; i++) {
            for (l = 0; l < movers[i].d; l++)
                c->found[(size_t)i * columns + (size_t)m->shape.column[movers[i].own[l]]] = movers[i].x[l];
            c->value[i] = movers[i].value;
        }
        i = 0;
    } else {
        i = -1;
    }
    free(memory);
    free(movers);
    free(own);
    free(held);
    release_side(&side);
    return i;
}

#endif
