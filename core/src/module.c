/* The Python module: checks the arrays, picks the variant for this processor, releases the interpreter lock.

   Only the limited API of Python 3.11 is used, so one build serves every later Python. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <stdlib.h>

#include "read.h"

#define ABI_VERSION 6 /* bough/gp/core.py expects the same number */

#if defined(BOUGH_HAS_AVX2) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
static int has_avx2(void) {
    int info[4];
    __cpuid(info, 0);
    if (info[0] < 7) return 0;
    __cpuid(info, 1);
    if (!(info[2] & (1 << 12)) || !(info[2] & (1 << 27)) || !(info[2] & (1 << 28))) return 0;
    if ((_xgetbv(0) & 6) != 6) return 0;
    __cpuidex(info, 7, 0);
    return (info[1] & (1 << 5)) != 0;
}
#elif defined(BOUGH_HAS_AVX2)
static int has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static const variant_t *active = &bough_baseline;

static void choose_variant(void) {
#ifdef BOUGH_HAS_AVX2
    const char *wanted = getenv("BOUGH_CORE_VARIANT");
    if (has_avx2() && !(wanted && strcmp(wanted, "baseline") == 0)) active = &bough_avx2;
#endif
}

static PyObject *answer(buffers_t *held, int failed) {
    release(held);
    if (failed < 0) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyObject *refuse(buffers_t *held) {
    release(held);
    return NULL;
}

#define READ(target, object, kind, size, writable) READ_OR(refuse(held), target, object, kind, size, writable)

static PyObject *py_cross(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    model_t m;
    points_t a;
    PyObject *model, *points, *out_object;
    double *out;
    int symmetric, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOpO", &model, &points, &symmetric, &out_object)) return NULL;
    if (!read_model(held, model, &m) || !read_points(held, points, &m.shape, &a)) return refuse(held);
    if (symmetric && a.count != m.data.count && !wrong("symmetric: the points must be those of the model"))
        return refuse(held);
    READ(out, out_object, 'd', (Py_ssize_t)a.count * m.data.count, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->cross(&m, a, symmetric, out);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_pull_theta(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    model_t m;
    points_t a;
    PyObject *model, *points, *weights, *alphas, *out_object;
    const double *weight, *alpha = NULL;
    double *out;
    int symmetric, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOpOOO", &model, &points, &symmetric, &weights, &alphas, &out_object)) return NULL;
    if (!read_model(held, model, &m) || !read_points(held, points, &m.shape, &a)) return refuse(held);
    if (symmetric && a.count != m.data.count && !wrong("symmetric: the points must be those of the model"))
        return refuse(held);
    READ(weight, weights, 'd', (Py_ssize_t)a.count * m.data.count, 0);
    if (alphas != Py_None) {
        READ(alpha, alphas, 'd', symmetric ? a.count : -1, 0);
    }
    READ(out, out_object, 'd', (Py_ssize_t)SCALES + m.shape.columns, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->pull_theta(&m, a, symmetric, weight, alpha, out);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_pull_x(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    model_t m;
    points_t a;
    PyObject *model, *points, *weights, *out_object;
    const double *weight;
    double *out;
    int failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOO", &model, &points, &weights, &out_object)) return NULL;
    if (!read_model(held, model, &m) || !read_points(held, points, &m.shape, &a)) return refuse(held);
    READ(weight, weights, 'd', (Py_ssize_t)a.count * m.data.count, 0);
    READ(out, out_object, 'd', (Py_ssize_t)a.count * m.shape.columns, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->pull_x(&m, a, weight, out);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_predict(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    model_t m;
    posterior_t p;
    points_t a;
    PyObject *model, *posterior, *points, *means, *sds, *mean_slopes, *sd_slopes;
    double *mean, *sd, *mean_slope, *sd_slope;
    int failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &model, &posterior, &points, &means, &sds, &mean_slopes, &sd_slopes))
        return NULL;
    if (!read_model(held, model, &m) || !read_posterior(held, posterior, &m, &p) ||
        !read_points(held, points, &m.shape, &a))
        return refuse(held);
    READ(mean, means, 'd', a.count, 1);
    READ(sd, sds, 'd', a.count, 1);
    READ(mean_slope, mean_slopes, 'd', (Py_ssize_t)a.count * m.shape.columns, 1);
    READ(sd_slope, sd_slopes, 'd', (Py_ssize_t)a.count * m.shape.columns, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->predict(&m, &p, a, mean, sd, mean_slope, sd_slope);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_climb(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    criterion_t of;
    boxes_t boxes;
    rules_t r;
    climb_t c;
    PyObject *criterion, *starts, *moving, *low, *high, *found, *value;
    Py_ssize_t cells;
    int failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "O(iiddddd)OOOOOO", &criterion, &r.steps, &r.race, &r.value_tolerance,
                          &r.step_tolerance, &r.first_step, &r.armijo, &r.hope, &starts, &moving, &low, &high, &found,
                          &value))
        return NULL;
    if (!read_criterion(held, criterion, &of, &boxes) || !read_points(held, starts, &of.models[0].shape, &c.starts))
        return refuse(held);
    cells = (Py_ssize_t)c.starts.count * of.models[0].shape.columns;
    READ(c.moving, moving, '?', cells, 0);
    READ(c.low, low, 'd', cells, 0);
    READ(c.high, high, 'd', cells, 0);
    READ(c.found, found, 'd', cells, 1);
    READ(c.value, value, 'd', c.starts.count, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->climb(&of, &r, &c);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_search(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    criterion_t of;
    boxes_t boxes;
    rules_t r;
    grids_t g;
    search_t c;
    PyObject *criterion, *grids, *starts, *real, *loose, *discrete, *low, *high, *found, *value;
    Py_ssize_t cells;
    double margin;
    int rounds, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "O(iiddddd)OidOOOOOOOO", &criterion, &r.steps, &r.race, &r.value_tolerance,
                          &r.step_tolerance, &r.first_step, &r.armijo, &r.hope, &grids, &rounds, &margin, &starts, &real, &loose,
                          &discrete, &low, &high, &found, &value))
        return NULL;
    if (!read_criterion(held, criterion, &of, &boxes) || !read_grids(held, grids, &of.models[0].shape, &g) ||
        !read_points(held, starts, &of.models[0].shape, &c.starts))
        return refuse(held);
    cells = (Py_ssize_t)c.starts.count * of.models[0].shape.columns;
    READ(c.real, real, '?', cells, 0);
    READ(c.loose, loose, '?', cells, 0);
    READ(c.discrete, discrete, '?', cells, 0);
    READ(c.low, low, 'd', cells, 0);
    READ(c.high, high, 'd', cells, 0);
    READ(c.found, found, 'd', cells, 1);
    READ(c.value, value, 'd', c.starts.count, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->search(&of, &r, &g, rounds, margin, &c);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_predict_moves(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    model_t m;
    posterior_t p;
    moves_t v;
    PyObject *model, *posterior, *bases, *owner, *column, *x, *mean, *sd;
    int i, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOiOOOOO", &model, &posterior, &bases, &v.count, &owner, &column, &x, &mean, &sd))
        return NULL;
    if (!read_model(held, model, &m) || !read_posterior(held, posterior, &m, &p) ||
        !read_points(held, bases, &m.shape, &v.bases))
        return refuse(held);
    READ(v.owner, owner, 'i', v.count, 0);
    READ(v.column, column, 'i', v.count, 0);
    READ(v.x, x, 'd', v.count, 0);
    READ(v.mean, mean, 'd', v.count, 1);
    READ(v.sd, sd, 'd', v.count, 1);
    for (i = 0; i < v.count; i++)
        if (v.owner[i] < 0 || v.owner[i] >= v.bases.count || v.column[i] >= m.shape.columns) {
            wrong("a move names a base or a column that does not exist");
            return refuse(held);
        }
    Py_BEGIN_ALLOW_THREADS
    failed = active->predict_moves(&m, &p, &v);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_log_ehvi(PyObject *self, PyObject *args) {
    buffers_t buffers = {.count = 0}, *held = &buffers;
    boxes_t b;
    PyObject *boxes, *means, *sds, *found;
    const double *mean, *sd;
    double *out;
    int count, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OiOOO", &boxes, &count, &means, &sds, &found)) return NULL;
    if (!read_boxes(held, boxes, &b)) return refuse(held);
    READ(mean, means, 'd', (Py_ssize_t)b.objectives * count, 0);
    READ(sd, sds, 'd', (Py_ssize_t)b.objectives * count, 0);
    READ(out, found, 'd', (Py_ssize_t)(1 + 2 * b.objectives) * count, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->log_ehvi(&b, count, mean, sd, out);
    Py_END_ALLOW_THREADS
    return answer(held, failed);
}

static PyObject *py_variant(PyObject *self, PyObject *args) {
    (void)self;
    (void)args;
    return PyUnicode_FromString(active->name);
}

static PyMethodDef methods[] = {
    {"cross", py_cross, METH_VARARGS, "Covariances between points and the rows of a model."},
    {"pull_theta", py_pull_theta, METH_VARARGS, "Gradient of a weighted sum of covariances by the hyperparameters."},
    {"pull_x", py_pull_x, METH_VARARGS, "Gradient of a weighted sum of covariances by the points."},
    {"predict", py_predict, METH_VARARGS, "Mean and sd of a Gaussian process, and their gradients."},
    {"search", py_search, METH_VARARGS, "Climb from many starts, and exchange their discrete values."},
    {"climb", py_climb, METH_VARARGS, "Climb a criterion from many starts."},
    {"predict_moves", py_predict_moves, METH_VARARGS, "Mean and sd at points that differ from others in one column."},
    {"log_ehvi", py_log_ehvi, METH_VARARGS, "Log expected hypervolume improvement, and its slopes by mean and sd."},
    {"variant", py_variant, METH_NOARGS, "The instruction set in use."},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *module) {
    choose_variant();
    if (PyModule_AddIntConstant(module, "PRICES", 1) < 0) return -1;
    return PyModule_AddIntConstant(module, "ABI_VERSION", ABI_VERSION);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bough_core", "Compiled parts of bough; bough.gp.core is their only caller.", 0, methods,
    slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_bough_core(void) { return PyModuleDef_Init(&definition); }
