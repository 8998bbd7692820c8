"""Compress a trained network: section 5.2 of Ma and Blaschko 2020.

FC3 has 784 inputs, two hidden layers of 1000 units and 10 outputs, and is trained on MNIST. Each of the
first two layers is compressed by a truncated SVD (rank 10 to 500) or by pruning weights below a threshold (0
to 1); the value is eq. 11, γ L + R with γ = 0.01: L the mean squared distance of the outputs (before the
softmax) from those of the original on 50 images, R the share of the weights that is left.

``compress`` is a tree as in the paper's definition 1: the method of the first layer comes first, and below
each of its options the method of the second. ``compress-product`` has the same configurations as two
independent choices. There, no group belongs to only one path, so the semi-parametric tree has no leaf
process.

The seed draws the images. We trained the weights once (about a minute); they are kept in
``benchmarks/.cache``, so values differ from those of the paper's network. The best branch is SVD for both
layers, as in the paper: on a grid its best value is about 0.12, and those of other branches are above 0.35.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem
from benchmarks.problems.cache import FOLDER, cached
from benchmarks.problems.network import Network, train

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "mnist"
HIDDEN = (1000, 1000)
EPOCHS, IMAGES, GAMMA = 2, 50, 0.01


def compress_space(*, product: bool = False) -> bough.Space:
    """A method for each of two layers, and its one parameter; ``product``: two independent choices."""

    def layer(i: int, below: dict[str, bough.Choice]) -> bough.Choice:
        return bough.Choice(
            {
                "svd": {f"rank{i}": bough.Int(10, 500), **below},
                "prune": {f"threshold{i}": bough.Float(0, 1), **below},
            }
        )

    second = {"layer2": layer(2, {})}
    if product:
        return bough.Space({"layer1": layer(1, {}), **second})
    return bough.Space({"layer1": layer(1, second)})


def compress(seed: int = 0, *, product: bool = False) -> Problem:
    """FC3 and ``IMAGES`` test images drawn by ``seed``."""
    network, factors = _trained(FOLDER)
    images = mnist_images("t10k")
    chosen = images[np.random.default_rng([seed, 31]).permutation(len(images))[:IMAGES]]
    return Problem(
        "compress-product" if product else "compress",
        compress_space(product=product),
        cached(f"compress v2 seed {seed}", objective(network, factors, chosen)),
        None,
        lambda c: (c["layer1"], c["layer2"]),
        ("svd", "svd"),
    )


Factors = list[tuple[np.ndarray, np.ndarray]]
"""For each compressed layer U diag(s) and Vᵀ of its weights, largest singular values first."""


def factorise(network: Network) -> Factors:
    parts = []
    for weights, _ in network.layers[:-1]:
        u, s, vt = np.linalg.svd(weights, full_matrices=False)
        parts.append((u * s, vt))
    return parts


def objective(network: Network, factors: Factors, images: np.ndarray) -> Callable[[Config], float]:
    """Eq. 11 as a function of a config. ``images``: (rows, inputs)."""
    original = network.logits(images)
    total = sum(weights.size for weights, _ in network.layers)
    last, last_bias = network.layers[-1]

    def function(config: Config) -> float:
        x, left = images, last.size
        for i, ((weights, bias), (us, vt)) in enumerate(zip(network.layers, factors), 1):
            if config[f"layer{i}"] == "svd":
                rank = config[f"rank{i}"]
                z = (x @ us[:, :rank]) @ vt[:rank]
                left += rank * (us.shape[0] + vt.shape[1])
            else:
                kept = np.where(np.abs(weights) >= config[f"threshold{i}"], weights, 0)
                z = x @ kept
                left += int(np.count_nonzero(kept))
            x = np.maximum(z + bias, 0)
        distance = np.mean(np.sum((x @ last + last_bias - original) ** 2, axis=1))
        return float(GAMMA * distance + left / total)

    return function


@cache
def _trained(folder: Path) -> tuple[Network, Factors]:
    """FC3 and its factors, from the cache or trained now; the result is the same in every process."""
    file = folder / "fc3.npz"
    if not file.exists():
        network = train(
            mnist_images("train"),
            _labels("train"),
            HIDDEN,
            rng=np.random.default_rng(0),
            epochs=EPOCHS,
        )
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"w{i}": w for i, (w, _) in enumerate(network.layers)}
        arrays |= {f"b{i}": b for i, (_, b) in enumerate(network.layers)}
        for i, (us, vt) in enumerate(factorise(network)):
            arrays |= {f"us{i}": us, f"vt{i}": vt}
        unfinished = folder / f"fc3.{os.getpid()}.npz"
        np.savez(unfinished, **arrays)
        unfinished.replace(file)
    stored = np.load(file)
    layers = tuple((stored[f"w{i}"], stored[f"b{i}"]) for i in range(len(HIDDEN) + 1))
    return Network(layers, "relu"), [(stored[f"us{i}"], stored[f"vt{i}"]) for i in range(len(HIDDEN))]


def mnist_images(part: str) -> np.ndarray:
    """(rows, 784) in [0, 1]; ``part`` is ``train`` or ``t10k``."""
    raw = gzip.decompress((DATA / f"{part}-images-idx3-ubyte.gz").read_bytes())
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255


def _labels(part: str) -> np.ndarray:
    raw = gzip.decompress((DATA / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    return np.frombuffer(raw, np.uint8, offset=8).astype(int)
