/* The Python module: checks the arrays, picks the variant for this processor, releases the interpreter lock.

   Only the limited API of Python 3.11 is used, so one build serves every later Python. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "model.h"

#define ABI_VERSION 2 /* bough/gp/core.py expects the same number */
#define MOST_BUFFERS 24

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

/* The data of a C-contiguous array of `size` doubles ("d") or 32-bit integers ("i"); NULL with an exception if not. */
static void *array(buffers_t *held, PyObject *object, const char *name, char kind, Py_ssize_t size, int writable) {
    Py_buffer *view = &held->views[held->count];
    const Py_ssize_t itemsize = kind == 'd' ? (Py_ssize_t)sizeof(double) : (Py_ssize_t)sizeof(int);
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) < 0)
        return NULL;
    held->count++;
    if (view->itemsize != itemsize || view->format == NULL || strchr(view->format, kind) == NULL) {
        PyErr_Format(PyExc_TypeError, "%s must hold %s", name, kind == 'd' ? "doubles" : "32-bit integers");
        return NULL;
    }
    if (view->len / itemsize != size) { /* not size * itemsize, which may overflow */
        PyErr_Format(PyExc_ValueError, "%s must have %zd entries, not %zd", name, size, view->len / itemsize);
        return NULL;
    }
    return view->buf;
}

/* A model from the tuple (rows, features, groups, zt, ont, first, group, scales). */
static int read_model(buffers_t *held, PyObject *tuple, model_t *m) {
    PyObject *zt, *ont, *first, *group, *scales;
    int k, f;
    if (!PyArg_ParseTuple(tuple, "iiiiOOOOO", &m->rows, &m->features, &m->groups, &m->terms, &zt, &ont, &first, &group,
                          &scales))
        return 0;
    if (m->rows < 0 || m->features < 0 || m->groups < 1 || m->terms < 0) {
        PyErr_SetString(PyExc_ValueError, "a model has at least one group, and no negative size");
        return 0;
    }
    m->zt = array(held, zt, "zt", 'd', (Py_ssize_t)m->features * m->rows, 0);
    if (!m->zt) return 0;
    m->ont = array(held, ont, "ont", 'd', (Py_ssize_t)m->groups * m->rows, 0);
    if (!m->ont) return 0;
    m->first = array(held, first, "first", 'i', (Py_ssize_t)m->terms + 1, 0);
    if (!m->first) return 0;
    m->group = array(held, group, "group", 'i', m->terms, 0);
    if (!m->group) return 0;
    m->scales = array(held, scales, "scales", 'd', 6, 0);
    if (!m->scales) return 0;
    for (k = 0, f = 0; k <= m->terms; f = m->first[k], k++)
        if (m->first[k] < f || m->first[k] > m->features || (k == 0 && m->first[0] != 0)) {
            PyErr_SetString(PyExc_ValueError, "first must rise from 0 to at most the number of features");
            return 0;
        }
    for (k = 0; k < m->terms; k++)
        if (m->group[k] < 0 || m->group[k] >= m->groups) {
            PyErr_SetString(PyExc_ValueError, "group names a group that does not exist");
            return 0;
        }
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

#define READ(target, object, kind, size, writable)                            \
    target = array(&held, object, #object, kind, (Py_ssize_t)(size), writable); \
    if (!target) return refuse(&held)

static PyObject *py_cross(PyObject *self, PyObject *args) {
    buffers_t held = {.count = 0};
    model_t m;
    PyObject *model, *z_object, *on_object, *out_object;
    const double *z, *on;
    double *out;
    int count, symmetric, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OiOOpO", &model, &count, &z_object, &on_object, &symmetric, &out_object)) return NULL;
    if (!read_model(&held, model, &m)) return refuse(&held);
    if (symmetric && count != m.rows) {
        PyErr_SetString(PyExc_ValueError, "symmetric: the points must be the rows of the model");
        return refuse(&held);
    }
    z = array(&held, z_object, "z", 'd', (Py_ssize_t)count * m.features, 0);
    if (!z) return refuse(&held);
    on = array(&held, on_object, "on", 'd', (Py_ssize_t)count * m.groups, 0);
    if (!on) return refuse(&held);
    out = array(&held, out_object, "out", 'd', (Py_ssize_t)count * m.rows, 1);
    if (!out) return refuse(&held);
    Py_BEGIN_ALLOW_THREADS
    failed = active->cross(&m, count, z, on, symmetric, out);
    Py_END_ALLOW_THREADS
    return answer(&held, failed);
}

static PyObject *py_pull_theta(PyObject *self, PyObject *args) {
    buffers_t held = {.count = 0};
    model_t m;
    PyObject *model, *z_object, *on_object, *weight_object, *out_object;
    const double *z, *on, *weight;
    double *out;
    int count, symmetric, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OiOOpOO", &model, &count, &z_object, &on_object, &symmetric, &weight_object,
                          &out_object))
        return NULL;
    if (!read_model(&held, model, &m)) return refuse(&held);
    if (symmetric && count != m.rows) {
        PyErr_SetString(PyExc_ValueError, "symmetric: the points must be the rows of the model");
        return refuse(&held);
    }
    z = array(&held, z_object, "z", 'd', (Py_ssize_t)count * m.features, 0);
    if (!z) return refuse(&held);
    on = array(&held, on_object, "on", 'd', (Py_ssize_t)count * m.groups, 0);
    if (!on) return refuse(&held);
    weight = array(&held, weight_object, "weight", 'd', (Py_ssize_t)count * m.rows, 0);
    if (!weight) return refuse(&held);
    out = array(&held, out_object, "out", 'd', (Py_ssize_t)5 + m.features, 1);
    if (!out) return refuse(&held);
    Py_BEGIN_ALLOW_THREADS
    failed = active->pull_theta(&m, count, z, on, symmetric, weight, out);
    Py_END_ALLOW_THREADS
    return answer(&held, failed);
}

static PyObject *py_pull_z(PyObject *self, PyObject *args) {
    buffers_t held = {.count = 0};
    model_t m;
    PyObject *model, *z_object, *on_object, *weight_object, *out_object;
    const double *z, *on, *weight;
    double *out;
    int count, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "OiOOOO", &model, &count, &z_object, &on_object, &weight_object, &out_object))
        return NULL;
    if (!read_model(&held, model, &m)) return refuse(&held);
    z = array(&held, z_object, "z", 'd', (Py_ssize_t)count * m.features, 0);
    if (!z) return refuse(&held);
    on = array(&held, on_object, "on", 'd', (Py_ssize_t)count * m.groups, 0);
    if (!on) return refuse(&held);
    weight = array(&held, weight_object, "weight", 'd', (Py_ssize_t)count * m.rows, 0);
    if (!weight) return refuse(&held);
    out = array(&held, out_object, "out", 'd', (Py_ssize_t)count * m.features, 1);
    if (!out) return refuse(&held);
    Py_BEGIN_ALLOW_THREADS
    failed = active->pull_z(&m, count, z, on, weight, out);
    Py_END_ALLOW_THREADS
    return answer(&held, failed);
}

static PyObject *py_climb(PyObject *self, PyObject *args) {
    buffers_t held = {.count = 0};
    model_t m;
    posterior_t p;
    rules_t r;
    climb_t c;
    PyObject *model, *rt, *alpha, *z, *on, *prior, *own, *unit, *x, *low, *high, *found, *found_value;
    Py_ssize_t cells;
    int failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "O(OOdd)(iiddddd)(iiOOOOOOOOOO)", &model, &rt, &alpha, &p.best, &p.sd_share,
                          &r.steps, &r.race, &r.value_tolerance, &r.step_tolerance, &r.first_step, &r.armijo, &r.hope, &c.starts,
                          &c.width, &z, &on, &prior, &own, &unit, &x, &low, &high, &found, &found_value))
        return NULL;
    if (!read_model(&held, model, &m)) return refuse(&held);
    cells = (Py_ssize_t)c.starts * c.width;
    READ(p.rt, rt, 'd', (Py_ssize_t)m.rows * m.rows, 0);
    READ(p.alpha, alpha, 'd', m.rows, 0);
    READ(c.z, z, 'd', (Py_ssize_t)c.starts * m.features, 1);
    READ(c.on, on, 'd', (Py_ssize_t)c.starts * m.groups, 0);
    READ(c.prior, prior, 'd', c.starts, 0);
    READ(c.own, own, 'i', cells, 0);
    READ(c.unit, unit, 'd', m.features, 0);
    READ(c.x, x, 'd', cells, 0);
    READ(c.low, low, 'd', cells, 0);
    READ(c.high, high, 'd', cells, 0);
    READ(c.found, found, 'd', cells, 1);
    READ(c.found_value, found_value, 'd', c.starts, 1);
    for (Py_ssize_t i = 0; i < cells; i++)
        if (c.own[i] >= m.features) {
            PyErr_SetString(PyExc_ValueError, "own names a feature that does not exist");
            return refuse(&held);
        }
    Py_BEGIN_ALLOW_THREADS
    failed = active->climb(&m, &p, &r, &c);
    Py_END_ALLOW_THREADS
    return answer(&held, failed);
}

static PyObject *py_score_moves(PyObject *self, PyObject *args) {
    buffers_t held = {.count = 0};
    model_t m;
    posterior_t p;
    moves_t v;
    PyObject *model, *rt, *alpha, *base_z, *base_on, *base_prior, *owner, *first, *width, *start, *z, *score;
    int values, i, failed;
    (void)self;
    if (!PyArg_ParseTuple(args, "O(OOdd)(iiiOOOOOOOOO)", &model, &rt, &alpha, &p.best, &p.sd_share, &v.bases, &v.count,
                          &values, &base_z, &base_on, &base_prior, &owner, &first, &width, &start, &z, &score))
        return NULL;
    if (!read_model(&held, model, &m)) return refuse(&held);
    READ(p.rt, rt, 'd', (Py_ssize_t)m.rows * m.rows, 0);
    READ(p.alpha, alpha, 'd', m.rows, 0);
    READ(v.base_z, base_z, 'd', (Py_ssize_t)v.bases * m.features, 0);
    READ(v.base_on, base_on, 'd', (Py_ssize_t)v.bases * m.groups, 0);
    READ(v.base_prior, base_prior, 'd', v.bases, 0);
    READ(v.owner, owner, 'i', v.count, 0);
    READ(v.first, first, 'i', v.count, 0);
    READ(v.width, width, 'i', v.count, 0);
    READ(v.start, start, 'i', v.count, 0);
    READ(v.z, z, 'd', values, 0);
    READ(v.score, score, 'd', v.count, 1);
    for (i = 0; i < v.count; i++)
        if (v.owner[i] < 0 || v.owner[i] >= v.bases || v.first[i] < 0 || v.width[i] < 0 || v.start[i] < 0 ||
            v.width[i] > m.features - v.first[i] || v.width[i] > values - v.start[i]) {
            PyErr_SetString(PyExc_ValueError, "a move names a base, feature or value that does not exist");
            return refuse(&held);
        }
    Py_BEGIN_ALLOW_THREADS
    failed = active->score_moves(&m, &p, &v);
    Py_END_ALLOW_THREADS
    return answer(&held, failed);
}

static PyObject *py_variant(PyObject *self, PyObject *args) {
    (void)self;
    (void)args;
    return PyUnicode_FromString(active->name);
}

static PyMethodDef methods[] = {
    {"cross", py_cross, METH_VARARGS, "Covariances between points and the rows of a model."},
    {"pull_theta", py_pull_theta, METH_VARARGS, "Gradient of a weighted sum of covariances by the hyperparameters."},
    {"pull_z", py_pull_z, METH_VARARGS, "Gradient of a weighted sum of covariances by the features of the points."},
    {"climb", py_climb, METH_VARARGS, "Climb log expected improvement from many starts."},
    {"score_moves", py_score_moves, METH_VARARGS, "Log expected improvement of points that differ from others in one column."},
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
