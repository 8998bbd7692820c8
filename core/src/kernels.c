/* All computations in one file, compiled once per instruction set, with VARIANT set to its name. */
#include "covariance.h"
#include "climb.h"
#include "moves.h"
#include "search.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

static int cross(const model_t *m, points_t a, int symmetric, double *out) {
    side_t d;
    scratch_t w;
    double *memory;
    int i, j;
    if (prepare_side(m, &d) < 0) return -1;
    memory = malloc(sizeof(double) * scratch_size(&d));
    if (memory) {
        w = scratch_at(memory, &d);
        for (i = 0; i < a.count; i++) {
            const unsigned char *on = a.on + (size_t)i * (size_t)m->shape.groups;
            read_point(&d, a.x + (size_t)i * (size_t)m->shape.columns, on, w.z);
            covariance(&d, symmetric ? i + 1 : d.rows, w.z, on, w, out + (size_t)i * (size_t)d.rows);
        }
        if (symmetric)
            for (i = 0; i < a.count; i++)
                for (j = i + 1; j < a.count; j++) out[(size_t)i * a.count + j] = out[(size_t)j * a.count + i];
    }
    release_side(&d);
    free(memory);
    return memory ? 0 : -1;
}

/* sum_i weight_i d_i^2 with the squared distances of one place, over the rows from `begin` to before `end`. */
static double pull_square(const side_t *d, int place, double z, int begin, int end, const double *RESTRICT weight) {
    const double *RESTRICT zt = d->zt + (size_t)place * d->rows;
    const double apart = z < 0.0 ? d->beside[place] : d->apart[place];
    const double beside = z < 0.0 ? 0.0 : d->beside[place];
    const int nominal = d->shape->levels[place] != 0;
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, rest = 0.0;
    int i, l;
    for (i = begin; i + 8 <= end; i += 8) {
        if (nominal)
            for (l = 0; l < 8; l++) {
                const double other = zt[i + l] < 0.0 ? beside : apart;
                sum[l] += weight[i + l] * (zt[i + l] == z ? 0.0 : other);
            }
        else
            for (l = 0; l < 8; l++) {
                const double step = z - zt[i + l];
                sum[l] += weight[i + l] * step * step;
            }
    }
    for (; i < end; i++) {
        const double other = zt[i] < 0.0 ? beside : apart, step = z - zt[i];
        rest += weight[i] * (nominal ? (zt[i] == z ? 0.0 : other) : step * step);
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) + rest;
}

static void multiply(int rows, const double *RESTRICT a, const double *RESTRICT b, double *RESTRICT out) {
    int i;
    for (i = 0; i < rows; i++) out[i] = a[i] * b[i];
}

/* out (SCALES + columns): sum_ij W_ij dk_ij by log o, s, j, phi, then by the logarithm of each column's length-scale.
   symmetric: W and k are symmetric, so only the lower triangle is visited. alpha (count), or NULL: W is then
   alpha alpha' - weight. */
static int pull_theta(const model_t *m, points_t a, int symmetric, const double *weight, const double *alpha,
                      double *out) {
    const shape_t *s = &m->shape;
    const size_t n = (size_t)m->data.count;
    double *memory, *k, *part, *row, *by_column = out + SCALES;
    side_t d;
    scratch_t w;
    int i, j, t, p, g;
    memset(out, 0, sizeof(double) * (size_t)(SCALES + s->columns));
    if (prepare_side(m, &d) < 0) return -1;
    memory = malloc(sizeof(double) * (scratch_size(&d) + 3 * n));
    if (!memory) {
        release_side(&d);
        return -1;
    }
    w = scratch_at(memory, &d);
    k = memory + scratch_size(&d);
    part = k + n;
    row = part + n;
    for (i = 0; i < a.count; i++) {
        const int rows = symmetric ? i + 1 : d.rows;
        const size_t bytes = sizeof(double) * (size_t)rows;
        const unsigned char *on = a.on + (size_t)i * (size_t)s->groups;
        read_point(&d, a.x + (size_t)i * (size_t)s->columns, on, w.z);
        memcpy(row, weight + (size_t)i * n, bytes);
        if (alpha)
            for (j = 0; j < rows; j++) row[j] = alpha[i] * alpha[j] - row[j];
        if (symmetric)
            for (j = 0; j < i; j++) row[j] *= 2.0;
        memset(w.all, 0, bytes);
        for (g = 1; g < s->groups; g++)
            if (on[g]) out[0] += d.scales[0] * dot(rows, row, d.ont + (size_t)g * n);
        for (t = 0; t < s->terms; t++) {
            if (!on[s->group[t]]) {
                add_off(&d, t, rows, w.all);
                continue;
            }
            memset(w.s2, 0, bytes);
            for (p = s->first[t]; p < s->first[t + 1]; p++) add_squares(&d, p, w.z[p], rows, w.s2);
            add_to(rows, 1.0, w.s2, w.all);
            memset(k, 0, bytes);
            add_term(&d, t, rows, w.s2, w, k, w.slopes);
            out[1] += dot(rows, row, k);
            multiply(rows, row, w.slopes, part);
            for (p = s->first[t]; p < s->first[t + 1]; p++)
                by_column[s->column[p]] -= 2.0 * pull_square(&d, p, w.z[p], 0, rows, part);
        }
        for (p = s->first[s->terms]; p < s->columns; p++) add_squares(&d, p, w.z[p], rows, w.all);
        memset(k, 0, bytes);
        add_matern(rows, w.all, d.scales[2], d.scales[3], k, w.over_all);
        out[2] += dot(rows, row, k);
        multiply(rows, row, w.over_all, part);
        out[3] -= 2.0 * dot(rows, part, w.all);
        for (p = 0; p < s->columns; p++) {
            /* Where a column is inactive at both points, they do not differ in it. */
            const int begin = on[s->owner[p]] ? 0 : d.begin[s->owner[p]];
            const int end = on[s->owner[p]] || d.end[s->owner[p]] > rows ? rows : d.end[s->owner[p]];
            if (begin < end) by_column[s->column[p]] -= 2.0 * pull_square(&d, p, w.z[p], begin, end, part);
        }
    }
    free(memory);
    release_side(&d);
    return 0;
}

/* The slopes (columns) by the numbers of one point that are active there; the others are left as they are. */
static void slopes_of(const side_t *d, const unsigned char *on, scratch_t w, const double *weight, double *out) {
    const shape_t *s = d->shape;
    int p;
    for (p = 0; p < s->columns; p++)
        if (!s->levels[p] && on[s->owner[p]]) out[s->column[p]] = slope_at(d, p, w.z[p], w, weight);
}

/* out (count, columns): d/dx of sum_ij W_ij k_ij; zero in inactive and nominal columns. */
static int pull_x(const model_t *m, points_t a, const double *weight, double *out) {
    const size_t columns = (size_t)m->shape.columns;
    double *memory;
    side_t d;
    scratch_t w;
    int i;
    memset(out, 0, sizeof(double) * (size_t)a.count * columns);
    if (prepare_side(m, &d) < 0) return -1;
    memory = malloc(sizeof(double) * (scratch_size(&d) + (size_t)d.rows));
    if (memory) {
        w = scratch_at(memory, &d);
        for (i = 0; i < a.count; i++) {
            const unsigned char *on = a.on + (size_t)i * (size_t)m->shape.groups;
            read_point(&d, a.x + (size_t)i * columns, on, w.z);
            covariance(&d, d.rows, w.z, on, w, memory + scratch_size(&d));
            slopes_of(&d, on, w, weight + (size_t)i * (size_t)d.rows, out + (size_t)i * columns);
        }
    }
    release_side(&d);
    free(memory);
    return memory ? 0 : -1;
}

/* mean, sd (count), and their slopes (count, columns), zero in inactive and nominal columns. */
static int predict(const model_t *m, const posterior_t *p, points_t a, double *mean, double *sd, double *mean_slope,
                   double *sd_slope) {
    const size_t columns = (size_t)m->shape.columns;
    double *memory, half;
    side_t d;
    work_t work;
    int i;
    memset(mean_slope, 0, sizeof(double) * (size_t)a.count * columns);
    memset(sd_slope, 0, sizeof(double) * (size_t)a.count * columns);
    if (prepare_side(m, &d) < 0) return -1;
    memory = malloc(sizeof(double) * (work_size(&d) + 1));
    if (memory) {
        work = work_at(memory, &d);
        for (i = 0; i < a.count; i++) {
            const unsigned char *on = a.on + (size_t)i * (size_t)m->shape.groups;
            read_point(&d, a.x + (size_t)i * columns, on, work.w.z);
            covariance(&d, d.rows, work.w.z, on, work.w, work.k);
            mean[i] = moments(p, d.rows, variance_of(&d, on), work, sd + i, &half);
            slopes_of(&d, on, work.w, p->alpha, mean_slope + (size_t)i * columns);
            weigh(p, d.rows, 0.0, half, work);
            slopes_of(&d, on, work.w, work.weight, sd_slope + (size_t)i * columns);
        }
    }
    release_side(&d);
    free(memory);
    return memory ? 0 : -1;
}

const variant_t JOIN(bough_, VARIANT) = {cross,         pull_theta, pull_x,   predict, climb,
                                         predict_moves, search,     log_ehvi, TEXT(VARIANT)};
