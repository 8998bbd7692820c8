"""A multi-layer perceptron in NumPy, fast on small data: softmax outputs, Adam, and nothing else.

All weights and biases are in one vector, so a step of Adam is a few operations for any number of layers;
``Network.layers`` are views into it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Array = np.ndarray

ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    # name: the function, and its derivative as a function of its output
    "identity": (lambda z: z, np.ones_like),
    "logistic": (lambda z: 0.5 * (1 + np.tanh(0.5 * z)), lambda a: a * (1 - a)),
    "tanh": (np.tanh, lambda a: 1 - a * a),
    "relu": (lambda z: np.maximum(z, 0), lambda a: (a > 0).astype(a.dtype)),
}


@dataclass(frozen=True)
class Network:
    """layers: (weights (inputs, outputs), biases (outputs,)) of each layer, the last one linear."""

    layers: tuple[tuple[Array, Array], ...]
    activation: str

    def logits(self, features: Array) -> Array:
        """(rows, classes) outputs before the softmax."""
        return _forward(self.layers, features, ACTIVATIONS[self.activation][0])[-1]


def train(
    features: Array,
    labels: Array,
    hidden: Sequence[int],
    *,
    rng: np.random.Generator,
    activation: str = "relu",
    penalty: float = 0.0,
    rate: float = 1e-3,
    tolerance: float = 0.0,
    epochs: int = 200,
    batch: int = 200,
) -> Network:
    """Adam on batches, up to ``epochs``, or until two epochs in a row gain less than the share ``tolerance``.

    features: (rows, inputs), whose type is that of all computations; labels: (rows,) 0..classes-1.
    ``penalty`` is the weight of half the squared norm of all weights, divided by the rows of a batch.
    Training stops if it diverges to values that are not finite.
    """
    rows, inputs = features.shape
    sizes = [inputs, *hidden, int(labels.max()) + 1]
    shapes = list(pairwise(sizes))
    theta = np.zeros(sum(a * b + b for a, b in shapes), dtype=features.dtype)
    layers, gradient = _views(theta, shapes), np.zeros_like(theta)
    slopes = _views(gradient, shapes)
    for weights, _ in layers:  # Glorot and Bengio 2010, eq. 16
        bound = np.sqrt(6.0 / sum(weights.shape))
        weights[:] = rng.uniform(-bound, bound, weights.shape)
    function, derivative = ACTIVATIONS[activation]
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    step, best, stale = 0, np.inf, 0
    for _ in range(epochs):
        order, total = rng.permutation(rows), 0.0
        for begin in range(0, rows, batch):
            chosen = order[begin : begin + batch]
            outputs = _forward(layers, features[chosen], function)
            shifted = outputs[-1] - outputs[-1].max(axis=1, keepdims=True)
            chance = np.exp(shifted)
            norm = chance.sum(axis=1, keepdims=True)
            right = (np.arange(len(chosen)), labels[chosen])
            total += float(np.log(norm).sum() - shifted[right].sum())
            chance /= norm
            chance[right] -= 1
            back = chance / len(chosen)
            for i in reversed(range(len(layers))):
                weights, _ = layers[i]
                slopes[i][0][:] = outputs[i].T @ back + (penalty / len(chosen)) * weights
                slopes[i][1][:] = back.sum(axis=0)
                if i > 0:
                    back = (back @ weights.T) * derivative(outputs[i])
            step += 1
            _adam(theta, gradient, first, second, rate, step)
        loss = total / rows
        if not np.isfinite(loss):
            break
        stale = stale + 1 if loss > best * (1 - tolerance) else 0
        best = min(best, loss)
        if stale >= 2:
            break
    return Network(tuple(layers), activation)


def _adam(theta: Array, gradient: Array, first: Array, second: Array, rate: float, step: int) -> None:
    """Kingma and Ba 2015, algorithm 1 in the efficient order of section 2; in place."""
    first += 0.1 * (gradient - first)
    second += 0.001 * (gradient * gradient - second)
    size = rate * math.sqrt(1 - 0.999**step) / (1 - 0.9**step)  # a plain float: the arrays keep their type
    theta -= size * first / (np.sqrt(second) + 1e-8)


def _forward(
    layers: Sequence[tuple[Array, Array]], features: Array, function: Callable[[Array], Array]
) -> list[Array]:
    """The input, the output of every hidden layer, and the logits."""
    outputs = [features]
    for i, (weights, biases) in enumerate(layers):
        z = outputs[-1] @ weights + biases
        outputs.append(function(z) if i < len(layers) - 1 else z)
    return outputs


def _views(theta: Array, shapes: Sequence[tuple[int, int]]) -> list[tuple[Array, Array]]:
    """Weights and biases of each layer as views into ``theta``."""
    views, at = [], 0
    for inputs, outputs in shapes:
        weights = theta[at : at + inputs * outputs].reshape(inputs, outputs)
        at += inputs * outputs
        views.append((weights, theta[at : at + outputs]))
        at += outputs
    return views
