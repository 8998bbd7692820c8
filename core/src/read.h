/* Read the arguments that Python passes: every array is checked before its numbers are used. */
#ifndef BOUGH_READ_H
#define BOUGH_READ_H

#include <Python.h>

#include <string.h>

#include "model.h"

#define MOST_BUFFERS 128 /* each member of a criterion has ten */

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

/* Whether all `values` are from 0 to below `end`. */
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

/* A shape from the tuple (columns, groups, terms, column, owner, levels, first, group). */
static int read_shape(buffers_t *held, PyObject *tuple, shape_t *s) {
    PyObject *column, *owner, *levels, *first, *group;
    int k;
    if (!PyArg_ParseTuple(tuple, "iiiOOOOO", &s->columns, &s->groups, &s->terms, &column, &owner, &levels, &first,
                          &group))
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
    READ_OR(0, m->theta, theta, 'd', (Py_ssize_t)SCALES + m->shape.columns, 0);
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

/* A criterion from the tuple (objectives, ((model, posterior), ...), boxes or None), or with a price (..., price). */
static int read_criterion(buffers_t *held, PyObject *tuple, criterion_t *c, boxes_t *boxes) {
    PyObject *members, *box_tuple, *model, *posterior, *price = NULL;
    Py_ssize_t i, count;
    if (!PyArg_ParseTuple(tuple, "iOO|O", &c->objectives, &members, &box_tuple, &price)) return 0;
    c->priced = price != NULL;
    if (price && !PyArg_ParseTuple(price, "dddddd", &c->price.cooling, &c->price.risk, &c->price.caution,
                                   &c->price.log_floor, &c->price.unit, &c->price.offset))
        return 0;
    count = PyTuple_Size(members);
    if (count < 0) return 0;
    c->members = (int)count;
    c->boxes = box_tuple == Py_None ? NULL : boxes;
    if (count < 1 || count > MOST_MEMBERS || c->objectives < 0 || c->objectives > count - c->priced)
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

/* Grids from the tuple (options, levels, bottom, top, log_low, span, column, rank, relative). */
static int read_grids(buffers_t *held, PyObject *tuple, const shape_t *s, grids_t *g) {
    PyObject *levels, *bottom, *top, *log_low, *span, *column, *rank, *relative;
    if (!PyArg_ParseTuple(tuple, "iOOOOOOOO", &g->options, &levels, &bottom, &top, &log_low, &span, &column, &rank,
                          &relative))
        return 0;
    if (g->options < 0) return wrong("the number of options is negative");
    READ_OR(0, g->levels, levels, 'd', s->columns, 0);
    READ_OR(0, g->bottom, bottom, 'd', s->columns, 0);
    READ_OR(0, g->top, top, 'd', s->columns, 0);
    READ_OR(0, g->log_low, log_low, 'd', s->columns, 0);
    READ_OR(0, g->span, span, 'd', s->columns, 0);
    READ_OR(0, g->column, column, 'i', g->options, 0);
    READ_OR(0, g->rank, rank, 'd', g->options, 0);
    READ_OR(0, g->relative, relative, '?', g->options, 0);
    return within(g->column, g->options, s->columns) ? 1 : wrong("an option names a column that does not exist");
}

#endif
