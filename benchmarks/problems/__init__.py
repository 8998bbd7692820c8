"""Problems to optimise, each with a branching space and, if known, its optimum and the optimum's branch.

``build(name, seed)`` makes any of them; ``FAMILIES`` lists the names. The seed draws the instance of a
synthetic problem, or the split and folds of a problem on real data; other problems ignore it.
"""

import difflib
from collections.abc import Callable

from benchmarks.problems.base import Problem
from benchmarks.problems.branches import BRANCH_PROBLEMS, branch_problem
from benchmarks.problems.cash import CASH_DATA, artificial_cash, cash, cash_space
from benchmarks.problems.compress import compress
from benchmarks.problems.diverging import DIVERGES_ON, DIVERGING, diverging
from benchmarks.problems.further import FURTHER, further
from benchmarks.problems.jenatton import JENATTON, QUADRATIC, UNBALANCED, jenatton, unbalanced
from benchmarks.problems.kinds import KINDS, kind
from benchmarks.problems.mlp import MLP_DATA, mlp
from benchmarks.problems.noise import NOISE_ON, NOISY, with_noise
from benchmarks.problems.uneven import UNEVEN, uneven
from benchmarks.problems.yahpo import DEVELOPMENT, PUBLISHED, yahpo

__all__ = [
    "BRANCH_PROBLEMS",
    "FAMILIES",
    "FURTHER",
    "JENATTON",
    "PROBLEMS",
    "Problem",
    "artificial_cash",
    "branch_problem",
    "build",
    "cash",
    "cash_space",
    "compress",
    "further",
    "jenatton",
    "mlp",
    "nearest",
    "unbalanced",
    "uneven",
    "yahpo",
]

FAMILIES: dict[str, tuple[str, ...]] = {
    "jenatton": (*JENATTON, *(f"{name}-shifted" for name in JENATTON), *QUADRATIC, *UNBALANCED),
    "branches": BRANCH_PROBLEMS,
    "further": FURTHER,
    "assael": UNEVEN,
    "cash": ("cash-artificial", *(f"cash-{dataset}" for dataset in CASH_DATA)),
    "mlp": tuple(f"mlp-{dataset}" for dataset in MLP_DATA),
    "mlp-b": tuple(f"mlp-b-{dataset}" for dataset in MLP_DATA),
    "mlp-c": tuple(f"mlp-c-{dataset}" for dataset in MLP_DATA),
    "compression": ("compress", "compress-product"),
    "kinds": KINDS,
    "noise": NOISY,
    "diverging": DIVERGING,
    "yahpo-development": DEVELOPMENT,
    "yahpo-published": PUBLISHED,
}

PROBLEMS: tuple[str, ...] = tuple(name for names in FAMILIES.values() for name in names)


def build(name: str, seed: int) -> Problem:
    """Problem ``name`` of ``PROBLEMS``, instance ``seed``; ``unbalanced-n`` has a ``-shifted`` form, too."""
    for prefix, make in _BY_PREFIX.items():
        if name.startswith(prefix):
            return make(name.removeprefix(prefix), seed)
    if name in BRANCH_PROBLEMS:
        return branch_problem(name, seed)
    if name in FURTHER:
        return further(name, seed)
    if name in KINDS:
        return kind(name, seed)
    if name in DIVERGING:
        return diverging(build(name.removeprefix(DIVERGES_ON), seed), name, seed)
    if name in NOISY:
        return with_noise(build(name.removeprefix(NOISE_ON), seed), name, seed)
    if name in FAMILIES["compression"]:
        return compress(seed, product=name == "compress-product")
    if name in UNEVEN:
        return uneven(name)
    base = name.removesuffix("-shifted")
    if base in (*JENATTON, *QUADRATIC):
        return jenatton(base, shifted=base != name, seed=seed)
    raise ValueError(f"no problem {name!r}; {nearest(name)}")


def nearest(name: str) -> str:
    """A hint for a name that does not exist: problems and families with similar names."""
    near = difflib.get_close_matches(name, [*FAMILIES, *PROBLEMS], n=3)
    meant = " or ".join(repr(each) for each in dict.fromkeys(near))
    return f"did you mean {meant}?" if near else f"families are {', '.join(FAMILIES)}"


def _unbalanced(rest: str, seed: int) -> Problem:
    depth = rest.removesuffix("-shifted")
    return unbalanced(int(depth), shifted=depth != rest, seed=seed)


def _cash(dataset: str, seed: int) -> Problem:
    return artificial_cash(seed) if dataset == "artificial" else cash(dataset, seed=seed)


_BY_PREFIX: dict[str, Callable[[str, int], Problem]] = {
    "cash-": _cash,
    "mlp-b-": lambda dataset, seed: mlp(dataset, "shared", seed=seed),
    "mlp-c-": lambda dataset, seed: mlp(dataset, "between", seed=seed),
    "mlp-": lambda dataset, seed: mlp(dataset, seed=seed),
    "unbalanced-": _unbalanced,
    "yahpo-": lambda rest, seed: yahpo(f"yahpo-{rest}"),
}
