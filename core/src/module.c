/* The Python module: checks the arrays, picks the variant for this processor, releases the interpreter lock.

   Only the limited API of Python 3.11 is used, so one build serves every later Python. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "model.h"

#define ABI_VERSION 4 /* bough/gp/core.py expects the same number */
#define MOST_BUFFERS 128 /* each member of a criterion has ten */

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

/* Buffers that a call has acquired, released together. */
typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
} buffers_t;

static void release(buffers_t *held) {
    while (held->count > 0) PyBuffer_Release(&held->views[--held->count]);
}

/* The data of a C-contiguous array of `size` doubles ("d"), 32-bit integers ("i") or booleans ("?"); NULL with an
   exception if it is something else. */
static void *array(buffers_t *held, PyObject *object, const char *name, char kind, Py_ssize_t size, int writable) {
    Py_buffer *view = &held->views[held->count];
    const Py_ssize_t itemsize = kind == 'd' ? (Py_ssize_t)sizeof(double) : kind == 'i' ? (Py_ssize_t)sizeof(int) : 1;
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) < 0)
        return NULL;
    held->count++;
    if (view->itemsize != itemsize || view->format == NULL || strchr(view->format, kind) == NULL) {
        PyErr_Format(PyExc_TypeError, "%s must hold %s", name,
                     kind == 'd' ? "doubles" : kind == 'i' ? "32-bit integers" : "booleans");
        return NULL;
    }
    if (view->len / itemsize != size) { /* not size * itemsize, which may overflow */
        PyErr_Format(PyExc_ValueError, "%s must have %zd entries, not %zd", name, size, view->len / itemsize);
        return NULL;
    }
    return view->buf;
}

/* Numbers in `values` from 0 to below `end`. */
static int within(const int *values, int count, int end) {
    int i;
    for (i = 0; i < count; i++)
        if (values[i] < 0 || values[i] >= end) return 0;
    return 1;
}

static int wrong(const char *message) {
    PyErr_SetString(PyExc_ValueError, message);
    return 0;
}

#define READ_OR(failure, target, object, kind, size, writable)                  \
    target = array(held, object, #object, kind, (Py_ssize_t)(size), writable); \
    if (!target) return failure

/* A shape from the tuple (columns, groups, terms, column, owner, levels, first, group, rough). */
static int read_shape(buffers_t *held, PyObject *tuple, shape_t *s) {
    PyObject *column, *owner, *levels, *first, *group;
    int k;
    if (!PyArg_ParseTuple(tuple, "iiiOOOOOd", &s->columns, &s->groups, &s->terms, &column, &owner, &levels, &first,
                          &group, &s->rough))
        return 0;
    if (s->columns < 0 || s->groups < 1 || s->terms < 0) return wrong("a space has a group, and no negative size");
    READ_OR(0, s->column, column, 'i', s->columns, 0);
    READ_OR(0, s->owner, owner, 'i', s->columns, 0);
    READ_OR(0, s->levels, levels, 'i', s->columns, 0);
    READ_OR(0, s->first, first, 'i', (Py_ssize_t)s->terms + 1, 0);
    READ_OR(0, s->group, group, 'i', s->terms, 0);
    if (!within(s->column, s->columns, s->columns)) return wrong("column names a column that does not exist");
    if (!within(s->owner, s->columns, s->groups) || !within(s->group, s->terms, s->groups))
        return wrong("a group that does not exist is named");
    if (s->first[0] != 0 || !within(s->first, s->terms + 1, s->columns + 1)) return wrong("first must rise from 0");
    for (k = 0; k < s->terms; k++)
        if (s->first[k + 1] < s->first[k]) return wrong("first must rise from 0");
    return 1;
}

/* Points from the tuple (count, x, on). */
static int read_points(buffers_t *held, PyObject *tuple, const shape_t *s, points_t *points) {
    PyObject *x, *on;
    if (!PyArg_ParseTuple(tuple, "iOO", &points->count, &x, &on)) return 0;
    if (points->count < 0) return wrong("the number of points is negative");
    READ_OR(0, points->x, x, 'd', (Py_ssize_t)points->count * s->columns, 0);
    READ_OR(0, points->on, on, '?', (Py_ssize_t)points->count * s->groups, 0);
    return 1;
}

/* A model from the tuple (shape, theta, points). */
static int read_model(buffers_t *held, PyObject *tuple, model_t *m) {
    PyObject *shape, *theta, *data;
    if (!PyArg_ParseTuple(tuple, "OOO", &shape, &theta, &data)) return 0;
    if (!read_shape(held, shape, &m->shape)) return 0;
    READ_OR(0, m->theta, theta, 'd', (Py_ssize_t)5 + m->shape.columns, 0);
    return read_points(held, data, &m->shape, &m->data);
}

/* A posterior from the tuple (rt, alpha, best, sd_share). */
static int read_posterior(buffers_t *held, PyObject *tuple, const model_t *m, posterior_t *p) {
    PyObject *rt, *alpha;
    if (!PyArg_ParseTuple(tuple, "OOdd", &rt, &alpha, &p->best, &p->sd_share)) return 0;
    READ_OR(0, p->rt, rt, 'd', (Py_ssize_t)m->data.count * m->data.count, 0);
    READ_OR(0, p->alpha, alpha, 'd', m->data.count, 0);
    return 1;
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
    PyObject *model, *points, *weights, *out_object;
    const double *weight;
    double *out;
    int symmetric, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOpOO", &model, &points, &symmetric, &weights, &out_object)) return NULL;
    if (!read_model(held, model, &m) || !read_points(held, points, &m.shape, &a)) return refuse(held);
    if (symmetric && a.count != m.data.count && !wrong("symmetric: the points must be those of the model"))
        return refuse(held);
    READ(weight, weights, 'd', (Py_ssize_t)a.count * m.data.count, 0);
    READ(out, out_object, 'd', (Py_ssize_t)5 + m.shape.columns, 1);
    Py_BEGIN_ALLOW_THREADS
    failed = active->pull_theta(&m, a, symmetric, weight, out);
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

/* Boxes from the tuple (objectives, boxes, first, bound, low, high). */
static int read_boxes(buffers_t *held, PyObject *tuple, boxes_t *b) {
    PyObject *first, *bound, *low, *high;
    int i;
    if (!PyArg_ParseTuple(tuple, "iiOOOO", &b->objectives, &b->boxes, &first, &bound, &low, &high)) return 0;
    if (b->objectives < 1 || b->boxes < 1) return wrong("there must be an objective and a box");
    READ_OR(0, b->first, first, 'i', (Py_ssize_t)b->objectives + 1, 0);
    for (i = 0; i < b->objectives; i++)
        if (b->first[0] != 0 || b->first[i + 1] < b->first[i]) return wrong("first must rise from 0");
    READ_OR(0, b->bound, bound, 'd', b->first[b->objectives], 0);
    READ_OR(0, b->low, low, 'i', (Py_ssize_t)b->objectives * b->boxes, 0);
    READ_OR(0, b->high, high, 'i', (Py_ssize_t)b->objectives * b->boxes, 0);
    for (i = 0; i < b->objectives * b->boxes; i++)
        if (b->low[i] >= b->first[b->objectives] || b->high[i] < 0 || b->high[i] >= b->first[b->objectives])
            return wrong("a box names a bound that does not exist");
    return 1;
}

/* A criterion from the tuple (objectives, ((model, posterior), ...), boxes or None). */
static int read_criterion(buffers_t *held, PyObject *tuple, criterion_t *c, boxes_t *boxes) {
    PyObject *members, *box_tuple, *model, *posterior;
    Py_ssize_t i, count;
    if (!PyArg_ParseTuple(tuple, "iOO", &c->objectives, &members, &box_tuple)) return 0;
    count = PyTuple_Size(members);
    if (count < 0) return 0;
    c->members = (int)count;
    c->boxes = box_tuple == Py_None ? NULL : boxes;
    if (count < 1 || count > MOST_MEMBERS || c->objectives < 0 || c->objectives > count)
        return wrong("a criterion has one to eight members");
    for (i = 0; i < count; i++) {
        if (!PyArg_ParseTuple(PyTuple_GetItem(members, i), "OO", &model, &posterior)) return 0;
        if (!read_model(held, model, &c->models[i]) || !read_posterior(held, posterior, &c->models[i], &c->posteriors[i]))
            return 0;
        if (c->models[i].shape.columns != c->models[0].shape.columns ||
            c->models[i].shape.groups != c->models[0].shape.groups)
            return wrong("the members of a criterion must be of one space");
    }
    if (!c->boxes) return c->objectives <= 1 ? 1 : wrong("several objectives need boxes");
    return read_boxes(held, box_tuple, boxes) &&
           (boxes->objectives == c->objectives ? 1 : wrong("boxes must be of the objectives"));
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
    {"climb", py_climb, METH_VARARGS, "Climb a criterion from many starts."},
    {"predict_moves", py_predict_moves, METH_VARARGS, "Mean and sd at points that differ from others in one column."},
    {"log_ehvi", py_log_ehvi, METH_VARARGS, "Log expected hypervolume improvement, and its slopes by mean and sd."},
    {"variant", py_variant, METH_NOARGS, "The instruction set in use."},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *module) {
    choose_variant();
    return PyModule_AddIntConstant(module, "ABI_VERSION", ABI_VERSION);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bough_core", "Compiled parts of bough; bough.gp.core is their only caller.", 0, methods,
    slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_bough_core(void) { return PyModuleDef_Init(&definition); }
