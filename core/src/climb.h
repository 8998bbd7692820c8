/* Climb log expected improvement from many starts in lock-step: projected BFGS, step for step as
   bough/acquisition/maximise/gradient.py does it, which explains the method and is the oracle. */
#ifndef BOUGH_CLIMB_H
#define BOUGH_CLIMB_H

#include <float.h>
#include <stdlib.h>

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

typedef struct {
    scratch_t w;
    double *k, *white, *weight;
} work_t;

/* The criterion where one start is, and its slopes by the coordinates that it may move. */
static double criterion(const model_t *m, const posterior_t *p, const climb_t *c, int start, work_t work,
                        double *slope) {
    const int n = m->rows;
    const double *z = c->z + (size_t)start * m->features, *on = c->on + (size_t)start * m->groups;
    double mean, variance, sd, half, by_mean, by_sd, value;
    int i;
    covariance(m, n, z, on, work.w, work.k);
    mean = dot(n, work.k, p->alpha);
    whiten(n, p->rt, work.k, work.white);
    variance = c->prior[start] - dot(n, work.white, work.white);
    sd = sqrt(variance > SMALLEST_VARIANCE ? variance : SMALLEST_VARIANCE);
    half = variance > SMALLEST_VARIANCE ? 0.5 / sd : 0.0;
    value = log_improvement(mean, p->sd_share * sd, p->best, &by_mean, &by_sd);
    by_sd *= p->sd_share * -2.0 * half;
    for (i = 0; i < n; i++)
        work.weight[i] = by_mean * p->alpha[i] + by_sd * dot(n - i, p->rt + (size_t)i * n + i, work.white + i);
    for (i = 0; i < c->width; i++) {
        const int f = c->own[(size_t)start * c->width + i];
        slope[i] = f < 0 ? 0.0 : c->unit[f] * slope_by_feature(m, n, f, z[f], on, work.w, work.weight);
    }
    return value;
}

static void place(const model_t *m, const climb_t *c, int start, const double *x) {
    int i;
    for (i = 0; i < c->width; i++) {
        const int f = c->own[(size_t)start * c->width + i];
        if (f >= 0) c->z[(size_t)start * m->features + f] = (x[i] - 0.5) * c->unit[f];
    }
}

/* One start on its way. */
typedef struct {
    double *x, *slope, *inverse, *direction, value, length;
    const double *low, *high;
    char *held;
    int known, alive;
} mover_t;

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
static void aim(int d, mover_t *s, double first_step) {
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
static void learn(int d, mover_t *s, const double *step, const double *bend, double *moved) {
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
static void advance(const model_t *m, const posterior_t *p, const rules_t *rules, climb_t *c, int start, mover_t *s,
                    work_t work, double *memory) {
    const int d = c->width;
    double *trial = memory, *step = trial + d, *trial_slope = step + d, *bend = trial_slope + d, *moved = bend + d;
    double promised, value, gain, longest = 0.0;
    int i, accepted;
    for (i = 0; i < d; i++) {
        double to = s->x[i] + s->length * s->direction[i];
        to = to > s->low[i] ? to : s->low[i];
        trial[i] = to < s->high[i] ? to : s->high[i];
        step[i] = trial[i] - s->x[i];
        if (fabs(step[i]) > longest) longest = fabs(step[i]);
    }
    promised = inner(d, s->slope, step);
    place(m, c, start, trial);
    value = criterion(m, p, c, start, work, trial_slope);
    gain = value - s->value;
    accepted = gain >= rules->armijo * fabs(promised);
    if (accepted) {
        for (i = 0; i < d; i++) bend[i] = s->held[i] ? 0.0 : s->slope[i] - trial_slope[i];
        learn(d, s, step, bend, moved);
        memcpy(s->x, trial, sizeof(double) * (size_t)d);
        memcpy(s->slope, trial_slope, sizeof(double) * (size_t)d);
        s->value = value;
        s->length = 1.0;
        aim(d, s, rules->first_step);
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

static int climb(const model_t *m, const posterior_t *p, const rules_t *rules, climb_t *c) {
    const size_t d = (size_t)c->width, starts = (size_t)c->starts, n = (size_t)(m->rows > 0 ? m->rows : 1);
    const size_t per_start = 3 * d + d * d;
    double *memory = malloc(sizeof(double) * (scratch_size(m) + 3 * n + 5 * d + starts * per_start + 1));
    mover_t *movers = malloc(sizeof(mover_t) * (starts + 1));
    char *held = malloc(starts * d + 1);
    double *temporary, *own;
    work_t work;
    int i, step, any;
    size_t l;
    if (!memory || !movers || !held) {
        free(memory);
        free(movers);
        free(held);
        return -1;
    }
    work.w = scratch_at(memory, m->rows);
    work.k = memory + scratch_size(m);
    work.white = work.k + n;
    work.weight = work.white + n;
    temporary = work.weight + n;
    own = temporary + 5 * d;
    for (i = 0; i < c->starts; i++) {
        mover_t *s = movers + i;
        double *mine = own + (size_t)i * per_start;
        s->x = mine;
        s->slope = mine + d;
        s->direction = mine + 2 * d;
        s->inverse = mine + 3 * d;
        s->held = held + (size_t)i * d;
        s->low = c->low + (size_t)i * d;
        s->high = c->high + (size_t)i * d;
        s->known = 0;
        s->length = 1.0;
        for (l = 0; l < d; l++) {
            double to = c->x[(size_t)i * d + l];
            to = to > s->low[l] ? to : s->low[l];
            s->x[l] = to < s->high[l] ? to : s->high[l];
        }
        memset(s->inverse, 0, sizeof(double) * d * d);
        place(m, c, i, s->x);
        s->value = criterion(m, p, c, i, work, s->slope);
        aim(c->width, s, rules->first_step);
        s->alive = isfinite(s->value) && moves(c->width, s->direction);
    }
    for (step = 0; step < rules->steps; step++) {
        double best = -INFINITY;
        any = 0;
        for (i = 0; i < c->starts; i++)
            if (movers[i].alive) {
                advance(m, p, rules, c, i, movers + i, work, temporary);
                any = 1;
            }
        if (!any) break;
        if (!rules->race) continue;
        for (i = 0; i < c->starts; i++)
            if (isfinite(movers[i].value) && movers[i].value > best) best = movers[i].value;
        for (i = 0; i < c->starts; i++) {
            mover_t *s = movers + i;
            if (s->alive && s->known &&
                !(s->value + rules->hope * 0.5 * inner(c->width, s->slope, s->direction) >= best))
                s->alive = 0;
        }
    }
    for (i = 0; i < c->starts; i++) {
        memcpy(c->found + (size_t)i * d, movers[i].x, sizeof(double) * d);
        c->found_value[i] = movers[i].value;
    }
    free(memory);
    free(movers);
    free(held);
    return 0;
}

#endif
