/* Log expected hypervolume improvement of independent objectives, as bough/acquisition/hypervolume.py computes it, which
   explains the formula and is the reference in tests. */
#ifndef BOUGH_HYPERVOLUME_H
#define BOUGH_HYPERVOLUME_H

#include "improvement.h"

#define LEAST_LOG_GAP (-1e-15)

/* log(EI(high) - EI(low)) of one box in one objective from log EI at its bounds, and its slopes; low -1 for none. */
static double log_between(const double *at, int bounds, int low, int high, double *by_mean, double *by_sd) {
    const double *mean = at + bounds, *sd = at + 2 * bounds;
    double gap, rho, rest;
    *by_mean = mean[high];
    *by_sd = sd[high];
    if (low < 0) return at[high];
    gap = at[low] - at[high];
    gap = gap < LEAST_LOG_GAP ? gap : LEAST_LOG_GAP;
    rest = -expm1(gap);
    rho = 1.0 - rest;
    *by_mean = (mean[high] - rho * mean[low]) / rest;
    *by_sd = (sd[high] - rho * sd[low]) / rest;
    return at[high] + log(rest);
}

static size_t boxes_size(const boxes_t *b) {
    return (size_t)(3 * b->first[b->objectives] + b->boxes * (2 * b->objectives + 1) + 1);
}

/* The value at one point with these moments (objectives), and its slopes by them; memory: boxes_size doubles. */
static double log_ehvi_at(const boxes_t *b, const double *mean, const double *sd, double *memory, double *by_mean,
                          double *by_sd) {
    const int bounds = b->first[b->objectives], boxes = b->boxes;
    double *at = memory, *total = at + 3 * bounds, *slopes = total + boxes, top = -INFINITY, sum = 0.0;
    int j, k;
    for (k = 0; k < boxes; k++) total[k] = 0.0;
    for (j = 0; j < b->objectives; j++) {
        for (k = b->first[j]; k < b->first[j + 1]; k++)
            at[k] = log_improvement(mean[j], sd[j], b->bound[k], at + bounds + k, at + 2 * bounds + k);
        for (k = 0; k < boxes; k++)
            total[k] += log_between(at, bounds, b->low[j * boxes + k], b->high[j * boxes + k],
                                    slopes + 2 * (j * boxes + k), slopes + 2 * (j * boxes + k) + 1);
    }
    for (k = 0; k < boxes; k++) top = total[k] > top ? total[k] : top;
    for (k = 0; k < boxes; k++) {
        total[k] = exp(total[k] - top);
        sum += total[k];
    }
    for (j = 0; j < b->objectives; j++) {
        by_mean[j] = by_sd[j] = 0.0;
        for (k = 0; k < boxes; k++) {
            by_mean[j] += total[k] / sum * slopes[2 * (j * boxes + k)];
            by_sd[j] += total[k] / sum * slopes[2 * (j * boxes + k) + 1];
        }
    }
    return top + log(sum);
}

/* mean, sd (count, objectives). out: the values (count), then their slopes by mean and by sd, each as `mean`. */
static int log_ehvi(const boxes_t *b, int count, const double *mean, const double *sd, double *out) {
    const size_t m = (size_t)b->objectives, n = (size_t)count;
    double *memory = malloc(sizeof(double) * boxes_size(b));
    size_t i;
    if (!memory) return -1;
    for (i = 0; i < n; i++)
        out[i] = log_ehvi_at(b, mean + i * m, sd + i * m, memory, out + n + i * m, out + n + n * m + i * m);
    free(memory);
    return 0;
}

#endif
