/* What crosses the border between Python and C: arrays of numbers, nothing else. */
#ifndef BOUGH_MODEL_H
#define BOUGH_MODEL_H

/* Data rows as the covariance of `auto` reads them, at given hyperparameters.

   zt     (features, rows)  features in units of the length-scales, zero where inactive
   ont    (groups, rows)    1 where a group is active, else 0; group 0 is the root
   first  (terms + 1)       the features of term k are first[k] .. first[k + 1] - 1; features from first[terms] on
                            belong to no additive term
   group  (terms)           the group of each additive term
   scales (6)               o, s, j, t, 1 / phi^2, 1 / ROUGH^2 */
typedef struct {
    int rows, features, groups, terms;
    const double *zt, *ont;
    const int *first, *group;
    const double *scales;
} model_t;

/* A Gaussian process conditioned on the rows of a model, and the value to beat.

   rt     (rows, rows)      the transpose of L^-1, where L L' is the noisy Gram matrix
   alpha  (rows)            (L L')^-1 y */
typedef struct {
    const double *rt, *alpha;
    double best, sd_share;
} posterior_t;

/* Starts of a climb: each moves `width` coordinates inside its own box.

   z      (starts, features)  features of the starts; overwritten
   on     (starts, groups)    activity, constant during the climb
   prior  (starts)            k(x, x), constant during the climb
   own    (starts, width)     the feature of each coordinate, -1 for one that does not move
   unit   (features)          d feature / d coordinate
   x, low, high (starts, width)
   found  (starts, width), found_value (starts): output */
typedef struct {
    int starts, width;
    double *z;
    const double *on, *prior, *unit, *x, *low, *high;
    const int *own;
    double *found, *found_value;
} climb_t;

/* The constants of the climb, defined once, in Python. */
typedef struct {
    int steps, race;
    double value_tolerance, step_tolerance, first_step, armijo, hope;
} rules_t;

/* Moves of one column each. The moves of one base stand together.

   base_z (bases, features), base_on (bases, groups), base_prior (bases): the base points, and k(x, x)
   owner (count)            the base of each move
   first, width (count)     its features: first .. first + width - 1
   start (count)            where its new values begin in z; moves may share them
   score (count)            output */
typedef struct {
    int bases, count;
    const double *base_z, *base_on, *base_prior, *z;
    const int *owner, *first, *width, *start;
    double *score;
} moves_t;

typedef struct {
    int (*cross)(const model_t *, int count, const double *z, const double *on, int symmetric, double *out);
    int (*pull_theta)(const model_t *, int count, const double *z, const double *on, int symmetric,
                      const double *weight, double *out);
    int (*pull_z)(const model_t *, int count, const double *z, const double *on, const double *weight, double *out);
    int (*climb)(const model_t *, const posterior_t *, const rules_t *, climb_t *);
    int (*score_moves)(const model_t *, const posterior_t *, const moves_t *);
    const char *name;
} variant_t;

extern const variant_t bough_baseline;
#ifdef BOUGH_HAS_AVX2
extern const variant_t bough_avx2;
#endif

#endif
