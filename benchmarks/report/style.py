"""The style of methods in figures: the reference bold, ours in clear colours, peers muted, random grey.

The colours are from Okabe and Ito's palette, which people with any colour vision can distinguish, or muted
variants of it; if two lines share a colour, their dashes differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.peers import PEERS

EMPHASIS = "#d55e00"
_OURS = ("#0072b2", "#009e73", "#56b4e9", "#cc79a7", "#b58900", "#3f5fbf", "#117a65", "#8e5ea2", "#4b7f9f")
_PEERS = {
    "optuna": "#7d8799",
    "smac": "#a58d6a",
    "hyperopt": "#9b84a8",
    "ax": "#7c9a82",
    "botorch": "#b0857f",
}
_DASHES, _DOTS = ("", "5 2.5", "8 2 2 2", "2.5 1.5"), "1.5 2.5"
_BASELINES = ("random", "sobol", "lhs", "grid")


@dataclass(frozen=True)
class Look:
    """The line of a method: colour, width, dash pattern, and label."""

    colour: str
    width: float
    dash: str
    label: str


def looks(methods: Sequence[str], reference: str, labels: Mapping[str, str]) -> dict[str, Look]:
    """The style of each method; for ours and the peers it does not depend on the other methods."""
    found, ours, shared = {}, 0, dict.fromkeys(_PEERS, 0)
    for method in methods:
        label = labels.get(method, method)
        library = next((name for name in _PEERS if method.split("-")[0] == name), None)
        if method == reference:
            found[method] = Look(EMPHASIS, 2.6, "", label)
        elif method in PEERS and library:
            found[method] = Look(_PEERS[library], 1.3, _DASHES[shared[library] % 4], label)
            shared[library] += 1
        elif method in _BASELINES:
            found[method] = Look("#9a9a9a", 1.2, _DOTS, label)
        else:
            found[method] = Look(_OURS[ours % len(_OURS)], 1.5, _DASHES[ours // len(_OURS) % 4], label)
            ours += 1
    return found
