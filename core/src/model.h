/* The data that Python and C exchange: arrays of numbers, nothing else. */
#ifndef BOUGH_MODEL_H
#define BOUGH_MODEL_H

/* A space as the covariance of `auto` sees it. The columns are listed so that the columns of a group's term are
   contiguous. The place of a column is its position in that list.

   column (columns)      the column at each place
   owner  (columns)      the group of that column; group 0 is the root
   levels (columns)      the number of options of a nominal column; 0 for the others, which hold numbers
   first  (terms + 1)    the places of term k are first[k] .. first[k + 1] - 1; places from first[terms] on belong to
                         no group's term
   group  (terms)        the group of each term */
typedef struct {
    int columns, groups, terms;
    const int *column, *owner, *levels, *first, *group;
} shape_t;

/* Points as Python holds them: x (count, columns), on (count, groups). */
typedef struct {
    int count;
    const double *x;
    const unsigned char *on;
} points_t;

/* Entries of theta before the length-scales: logarithms of o, s, j and phi. */
#define SCALES 4

/* The covariance with some points. theta: (SCALES + columns). */
typedef struct {
    shape_t shape;
    const double *theta;
    points_t data;
} model_t;

/* A Gaussian process conditioned on the points of a model, and the value to beat.

   rt     (rows, rows)      the transpose of L^-1, where L L' is the noisy Gram matrix
   alpha  (rows)            (L L')^-1 y */
typedef struct {
    const double *rt, *alpha;
    double best, sd_share;
} posterior_t;

/* Starts of a climb, each inside its own box.

   moving, low, high (starts, columns)   which columns move, and their bounds
   found (starts, columns)               in: the starts; out: the points reached
   value (starts)                        output */
typedef struct {
    points_t starts;
    const unsigned char *moving;
    const double *low, *high;
    double *found, *value;
} climb_t;

/* The constants of the climb, defined once, in Python. */
typedef struct {
    int steps, race;
    double value_tolerance, step_tolerance, first_step, armijo, hope;
} rules_t;

/* Moves of one column each. The moves of one base are contiguous.

   owner (count)    the base of each move
   column (count)   the column that changes, -1 for none
   x (count)        its new value
   mean, sd (count) output */
typedef struct {
    points_t bases;
    int count;
    const int *owner, *column;
    const double *x;
    double *mean, *sd;
} moves_t;

/* The values of discrete columns, and which of them an exchange tries.

   levels (columns)                  how many values there are
   bottom, top, log_low, span (columns)   of integers on a logarithmic scale; span is 0 where values are evenly spaced
   column, rank, relative (options)  a value of a column, by its rank; relative: added to the current rank of a point */
typedef struct {
    int options;
    const double *levels, *bottom, *top, *log_low, *span;
    const int *column;
    const double *rank;
    const unsigned char *relative;
} grids_t;

/* A search: climbs over numbers that alternate with exchanges.

   real, loose, discrete (starts, columns)   numbers that move freely, discrete columns that do so in the first climb, and
                                             discrete columns that are exchanged
   low, high, found, value                   as in climb_t */
typedef struct {
    points_t starts;
    const unsigned char *real, *loose, *discrete;
    const double *low, *high;
    double *found, *value;
} search_t;

/* Boxes that improve a front, for log expected hypervolume improvement. The bounds of objective j are
   bound[first[j]] .. bound[first[j + 1] - 1]; neighbouring boxes share them.

   low, high (objectives, boxes)   the indices in `bound` of each box's bounds; low is -1 without a lower bound */
typedef struct {
    int objectives, boxes;
    const int *first, *low, *high;
    const double *bound;
} boxes_t;

/* The term of a criterion for the cost; see Price in bough/acquisition/functions.py. */
typedef struct {
    double cooling, risk, caution, log_floor, unit, offset;
} price_t;

#define MOST_MEMBERS 8

/* Log expected improvement of the first `objectives` members (at most one without boxes), plus the log probabilities
   that the others are at most their `best`. With a price, the last member is the log cost. */
typedef struct {
    int members, objectives, priced;
    price_t price;
    model_t models[MOST_MEMBERS];
    posterior_t posteriors[MOST_MEMBERS];
    const boxes_t *boxes;
} criterion_t;

typedef struct {
    int (*cross)(const model_t *, points_t, int symmetric, double *out);
    int (*pull_theta)(const model_t *, points_t, int symmetric, const double *weight, const double *alpha, double *out);
    int (*pull_x)(const model_t *, points_t, const double *weight, double *out);
    int (*predict)(const model_t *, const posterior_t *, points_t, double *mean, double *sd, double *mean_slope,
                   double *sd_slope);
    int (*climb)(const criterion_t *, const rules_t *, climb_t *);
    int (*predict_moves)(const model_t *, const posterior_t *, const moves_t *);
    int (*search)(const criterion_t *, const rules_t *, const grids_t *, int rounds, double margin, const search_t *);
    int (*log_ehvi)(const boxes_t *, int count, const double *mean, const double *sd, double *out);
    const char *name;
} variant_t;

extern const variant_t bough_baseline;
#ifdef BOUGH_HAS_AVX2
extern const variant_t bough_avx2;
#endif

#endif
