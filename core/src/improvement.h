/* Scores of a Gaussian: log expected improvement and log probability, with slopes by mean and sd. */
#ifndef BOUGH_IMPROVEMENT_H
#define BOUGH_IMPROVEMENT_H

#include <math.h>

#include "model.h"

#define SD_FLOOR 1e-12
#define HALF_LOG_TWO_PI 0.91893853320467274178

/* Mills's ratio m = Phi(-t) / phi(t) for t >= 1, and 1 - t m: directly while erfc keeps its digits, then by the continued
   fraction m = 1 / (t + 1 / (t + 2 / (t + 3 / (t + ...)))) (Abramowitz & Stegun 26.2.14). Its convergents are B / A with
   A_i = t A_i-1 + i A_i-2, and the same for B (3.10.1) and so for C = A - t B. 1 - t m = C / A has no cancellation. Here
   a = A / t^(i + 1) and c = C / t^(i - 1). Twenty levels leave a relative error of about 1e-15 from t = 6 on. */
static double mills(double t, double *rest) {
    const double u = 1.0 / (t * t);
    double ratio, a = 1.0 + u, a_before = 1.0, c = 1.0, c_before = 0.0;
    int i;
    if (t < 6.0) {
        ratio = 1.2533141373155002512 * erfc(t * 0.70710678118654752440) * exp(0.5 * t * t);
        *rest = 1.0 - t * ratio;
        return ratio;
    }
    for (i = 2; i <= 20; i++) {
        const double a_next = a + i * u * a_before, c_next = c + i * u * c_before;
        a_before = a;
        c_before = c;
        a = a_next;
        c = c_next;
    }
    *rest = u * c / a;
    return (1.0 - *rest) / t;
}

/* log EI and its derivatives by mean and sd; see log_ei in bough/acquisition/functions.py. */
static double log_improvement(double mean, double sd, double best, double *by_mean, double *by_sd) {
    double z, r, h, density, mass, ratio;
    sd = sd > SD_FLOOR ? sd : SD_FLOOR;
    z = (best - mean) / sd;
    if (z > -1.0) {
        density = exp(-0.5 * z * z - HALF_LOG_TWO_PI);
        mass = 0.5 * erfc(-z * 0.70710678118654752440);
        h = density + z * mass;
        *by_mean = -mass / h / sd;
        *by_sd = density / h / sd;
        return log(sd * h);
    }
    ratio = mills(-z, &r);
    *by_mean = -ratio / r / sd;
    *by_sd = 1.0 / r / sd;
    return log(sd) + log(r) - 0.5 * z * z - HALF_LOG_TWO_PI;
}

/* log P(f <= best) and its slopes; see log_pi in bough/acquisition/functions.py. */
static double log_probability(double mean, double sd, double best, double *by_mean, double *by_sd) {
    double z, mass, ratio, slope, value;
    sd = sd > SD_FLOOR ? sd : SD_FLOOR;
    z = (best - mean) / sd;
    if (z > -1.0) {
        mass = 0.5 * erfc(-z * 0.70710678118654752440);
        slope = exp(-0.5 * z * z - HALF_LOG_TWO_PI) / mass / sd;
        value = log(mass);
    } else {
        ratio = mills(-z, &slope);
        slope = 1.0 / ratio / sd;
        value = log(ratio) - 0.5 * z * z - HALF_LOG_TWO_PI;
    }
    *by_mean = -slope;
    *by_sd = -z * slope;
    return value;
}

/* The term of a criterion for the cost, and its slopes; see Price in bough/acquisition/functions.py. */
static double log_price(const price_t *p, double mean, double sd, double most, double *by_mean, double *by_sd) {
    const double share = p->offset + p->unit * (mean + p->caution * sd);
    const double gap = fabs(share - p->log_floor);
    const double floored = (share > p->log_floor ? share : p->log_floor) + log1p(exp(-gap));
    const double slope = -p->cooling * p->unit * exp(share - floored);
    const double in_time = log_probability(mean, sd, most, by_mean, by_sd);
    *by_mean = p->risk * *by_mean + slope;
    *by_sd = p->risk * *by_sd + slope * p->caution;
    return p->risk * in_time - p->cooling * floored;
}

#endif
