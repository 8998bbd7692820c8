/* The search that alternates climbs over numbers with exchanges of discrete values, as
   bough/acquisition/maximise/alternate.py does it, which explains the method and is the reference in tests. */
#ifndef BOUGH_SEARCH_H
#define BOUGH_SEARCH_H

#include "climb.h"
#include "moves.h"

/* value (count) from the means and sds of all members, each (count); memory: boxes_size doubles. */
static void join_moments(const criterion_t *of, size_t count, const double *mean, const double *sd, double *memory,
                         double *value) {
    double own_mean[MOST_MEMBERS], own_sd[MOST_MEMBERS], by_mean[MOST_MEMBERS], by_sd[MOST_MEMBERS];
    size_t i;
    int k;
    for (i = 0; i < count; i++) {
        for (k = 0; k < of->members; k++) {
            own_mean[k] = mean[(size_t)k * count + i];
            own_sd[k] = sd[(size_t)k * count + i] * of->posteriors[k].sd_share;
        }
        value[i] = value_of(of, own_mean, own_sd, memory, by_mean, by_sd);
    }
}

/* The criterion (count) at points. */
static int score(const criterion_t *of, points_t a, double *value) {
    const shape_t *s = &of->models[0].shape;
    evaluator_t e;
    int i, k;
    if (prepare_evaluator(of, &e) < 0) return -1;
    for (i = 0; i < a.count; i++) {
        const unsigned char *on = a.on + (size_t)i * (size_t)s->groups;
        for (k = 0; k < of->members; k++) {
            const side_t *d = &e.sides[k];
            const work_t work = e.works[k];
            read_point(d, a.x + (size_t)i * (size_t)s->columns, on, work.w.z);
            covariance(d, d->rows, work.w.z, on, work.w, work.k);
            e.mean[k] = moments(&of->posteriors[k], d->rows, variance_of(d, on), work, &e.sd[k], &e.half[k]);
            e.sd[k] *= of->posteriors[k].sd_share;
        }
        value[i] = value_of(of, e.mean, e.sd, e.boxes_memory, e.by_mean, e.by_sd);
    }
    release_evaluator(&e, of->members);
    return 0;
}

/* The rank of the value of a discrete column nearest to x, and (place_of) the unit position of a rank; see
   bough/space/grids.py. */
static double rank_at(const grids_t *g, int column, double x) {
    double number;
    if (g->span[column] != 0.0) {
        x = x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
        number = rint(exp(g->log_low[column] + x * g->span[column]));
        number = number > g->bottom[column] ? number : g->bottom[column];
        return (number < g->top[column] ? number : g->top[column]) - g->bottom[column];
    }
    number = floor(x * g->levels[column]);
    number = number > 0.0 ? number : 0.0;
    return number < g->levels[column] - 1.0 ? number : g->levels[column] - 1.0;
}

static double place_of(const grids_t *g, int column, double rank) {
    if (g->span[column] != 0.0) return (log(g->bottom[column] + rank) - g->log_low[column]) / g->span[column];
    return (rank + 0.5) / g->levels[column];
}

/* The starts that are still searched, in contiguous arrays; at: the number of each start.

   x, low, high, real as in `search_t`; begin: where they started; gain: the value of the best exchange, later the gain */
typedef struct {
    int count, *at;
    double *x, *begin, *low, *high, *gain, *value;
    unsigned char *on, *real;
} rest_t;

/* All exchanges of the rest; the first of each start is to stay. */
static void list_moves(const grids_t *g, const search_t *c, const rest_t *r, int columns, moves_t *v, int *owner,
                       int *column, double *x) {
    int i, o, count = 0;
    for (i = 0; i < r->count; i++) {
        const size_t row = (size_t)i * (size_t)columns;
        const unsigned char *discrete = c->discrete + (size_t)r->at[i] * (size_t)columns;
        int known = -1;
        double least = 0.0, most = 0.0, here = 0.0;
        owner[count] = i;
        column[count] = -1;
        x[count++] = 0.0;
        for (o = 0; o < g->options; o++) {
            const int own = g->column[o];
            double rank;
            if (!discrete[own]) continue;
            if (own != known) {
                least = rank_at(g, own, r->low[row + (size_t)own]);
                most = rank_at(g, own, r->high[row + (size_t)own]);
                here = rank_at(g, own, r->x[row + (size_t)own]);
                known = own;
            }
            rank = g->relative[o] ? here + g->rank[o] : g->rank[o];
            if (rank == here || rank < least || rank > most) continue;
            owner[count] = i;
            column[count] = own;
            x[count++] = place_of(g, own, rank);
        }
    }
    v->count = count;
    v->owner = owner;
    v->column = column;
    v->x = x;
}

/* Make the best exchange of each of the rest. */
static void make_best(const moves_t *v, const double *value, int columns, rest_t *r) {
    int move = 0, i;
    for (i = 0; i < r->count; i++) {
        int best = move;
        double top = isnan(value[move]) ? -INFINITY : value[move];
        for (move++; move < v->count && v->owner[move] == i; move++)
            if (value[move] > top) {
                top = value[move];
                best = move;
            }
        r->gain[i] = top;
        if (v->column[best] >= 0) r->x[(size_t)i * (size_t)columns + (size_t)v->column[best]] = v->x[best];
    }
}

/* Move row i to row `kept`. */
static void keep(rest_t *r, int i, int kept, size_t columns, size_t groups) {
    const size_t from = (size_t)i, to = (size_t)kept, bytes = sizeof(double) * columns;
    r->at[to] = r->at[from];
    memmove(r->x + to * columns, r->x + from * columns, bytes);
    memmove(r->low + to * columns, r->low + from * columns, bytes);
    memmove(r->high + to * columns, r->high + from * columns, bytes);
    memmove(r->real + to * columns, r->real + from * columns, columns);
    memmove(r->on + to * groups, r->on + from * groups, groups);
}

/* Drop starts that `margin` times their gain in the last round would not make the best. */
static void drop_behind(const search_t *c, rest_t *r, double margin, size_t columns, size_t groups) {
    double best = -INFINITY;
    int i, kept = 0;
    for (i = 0; i < c->starts.count; i++)
        if (isfinite(c->value[i]) && c->value[i] > best) best = c->value[i];
    for (i = 0; i < r->count; i++)
        if (r->value[i] + margin * r->gain[i] >= best) keep(r, i, kept++, columns, groups);
    r->count = kept;
}

/* One round: the best exchange, or at first the start itself, then a climb of those that it improved. */
static int exchange(const criterion_t *of, const rules_t *rules, const grids_t *g, const search_t *c, rest_t *r, int first,
                    int *owner, int *column, double *memory) {
    const shape_t *s = &of->models[0].shape;
    const size_t columns = (size_t)s->columns, groups = (size_t)s->groups;
    const size_t most = (size_t)r->count * ((size_t)g->options + 1);
    double *x = memory, *value = x + most, *moments = value + most, *boxes = moments + 2 * (size_t)of->members * most;
    points_t rest = {r->count, r->x, r->on};
    climb_t again;
    moves_t v;
    int i, k, kept = 0;
    v.bases = rest;
    list_moves(g, c, r, s->columns, &v, owner, column, x);
    for (k = 0; k < of->members; k++) {
        v.mean = moments + (size_t)k * (size_t)v.count;
        v.sd = moments + ((size_t)of->members + (size_t)k) * (size_t)v.count;
        if (predict_moves(&of->models[k], &of->posteriors[k], &v) < 0) return -1;
    }
    join_moments(of, (size_t)v.count, moments, moments + (size_t)of->members * (size_t)v.count, boxes, value);
    make_best(&v, value, s->columns, r);
    if (first) { /* rounding to grids may have made it worse than the start */
        const points_t begin = {r->count, r->begin, r->on};
        if (score(of, begin, value) < 0) return -1;
        for (i = 0; i < r->count; i++)
            if (value[i] > r->gain[i]) {
                r->gain[i] = value[i];
                memcpy(r->x + (size_t)i * columns, r->begin + (size_t)i * columns, sizeof(double) * columns);
            }
    }
    for (i = 0; i < r->count; i++) {
        const int at = r->at[i];
        const double now = c->value[at];
        int better = r->gain[i] > now + rules->value_tolerance * (1.0 + fabs(now));
        size_t l;
        if (first) /* off-grid points cannot be proposed, so their value must not count */
            for (l = 0; l < columns; l++) better |= c->loose[(size_t)at * columns + l];
        if (!better) continue;
        keep(r, i, kept++, columns, groups);
    }
    r->count = kept;
    again.starts.count = kept;
    again.starts.x = r->x;
    again.starts.on = r->on;
    again.moving = r->real;
    again.low = r->low;
    again.high = r->high;
    again.found = r->x; /* a start is read before its result is written */
    again.value = r->value;
    if (kept && climb(of, rules, &again) < 0) return -1;
    for (i = 0; i < kept; i++) {
        memcpy(c->found + (size_t)r->at[i] * columns, r->x + (size_t)i * columns, sizeof(double) * columns);
        r->gain[i] = fabs(r->value[i] - c->value[r->at[i]]);
        c->value[r->at[i]] = r->value[i];
    }
    return 0;
}

static int search(const criterion_t *of, const rules_t *rules, const grids_t *g, int rounds, double margin,
                  const search_t *c) {
    const size_t columns = (size_t)of->models[0].shape.columns, groups = (size_t)of->models[0].shape.groups;
    const size_t starts = (size_t)c->starts.count, cells = starts * columns;
    const size_t most = starts * ((size_t)g->options + 1);
    const size_t boxes = of->boxes ? boxes_size(of->boxes) : 0;
    double *memory = malloc(sizeof(double) * (4 * cells + 2 * starts + (2 + 2 * (size_t)of->members) * most + boxes + 1));
    unsigned char *flags = malloc(2 * cells + starts * groups + 1);
    int *numbers = malloc(sizeof(int) * (starts + 2 * most + 1)), turn, failed = -1;
    climb_t whole = {c->starts, flags, c->low, c->high, c->found, c->value};
    rest_t r;
    size_t i, l;
    if (memory && flags && numbers) {
        for (i = 0; i < cells; i++) flags[i] = c->real[i] || c->loose[i];
        failed = climb(of, rules, &whole);
        r.count = 0;
        r.at = numbers;
        r.x = memory;
        r.begin = r.x + cells;
        r.low = r.begin + cells;
        r.high = r.low + cells;
        r.gain = r.high + cells;
        r.value = r.gain + starts;
        r.real = flags + cells;
        r.on = r.real + cells;
        for (i = 0; i < starts; i++) {
            const size_t row = i * columns, kept = (size_t)r.count * columns;
            int any = 0;
            for (l = 0; l < columns; l++) {
                double *x = c->found + row + l;
                if (c->loose[row + l]) *x = place_of(g, (int)l, rank_at(g, (int)l, *x));
                any |= c->discrete[row + l];
            }
            if (!any) continue;
            memcpy(r.x + kept, c->found + row, sizeof(double) * columns);
            memcpy(r.begin + kept, c->starts.x + row, sizeof(double) * columns);
            memcpy(r.low + kept, c->low + row, sizeof(double) * columns);
            memcpy(r.high + kept, c->high + row, sizeof(double) * columns);
            memcpy(r.real + kept, c->real + row, columns);
            memcpy(r.on + (size_t)r.count * groups, c->starts.on + i * groups, groups);
            r.at[r.count++] = (int)i;
        }
        for (turn = 0; turn < rounds && r.count && !failed; turn++) {
            if (turn) drop_behind(c, &r, margin, columns, groups);
            if (r.count)
                failed = exchange(of, rules, g, c, &r, turn == 0, numbers + starts, numbers + starts + most,
                                  r.value + starts);
        }
    }
    free(memory);
    free(flags);
    free(numbers);
    return failed;
}

#endif
