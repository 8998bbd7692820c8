"""The options that everything which runs a study shares: ``run``, ``minimize``, ``maximize``, ``optimize``.

``Study.run`` says what each one means and has its default. The others take ``**options: Unpack[RunOptions]``:
type checkers and editors read the names here, and ``listing_options`` shows them to ``help`` and notebooks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from bough.study.running.events import ProgressOption
    from bough.study.running.objective import OnError
    from bough.trial import Trial

__all__ = ["LocalRunOptions", "RunOptions", "listing_options"]

F = TypeVar("F", bound=Callable[..., Any])


class RunOptions(TypedDict, total=False):
    """Options of a run, wherever the study is."""

    workers: int | None
    executor: Executor | None
    timeout: float | None
    trial_timeout: float | None
    callbacks: Sequence[Callable[[Any, Trial], Any]]
    progress: ProgressOption
    on_error: OnError
    budget: float | None
    until: str | None


class LocalRunOptions(RunOptions, total=False):
    """Options of a run whose study is in this process."""

    instances: Iterable[Any] | None


def listing_options(source: Callable[..., Any], options: type) -> Callable[[F], F]:
    """Let the signature of a function list what its ``**options`` may be, with the defaults of ``source``."""

    def decorate(function: F) -> F:
        shown = inspect.signature(function)
        own = [each for each in shown.parameters.values() if each.kind is not each.VAR_KEYWORD]
        known = inspect.signature(source).parameters
        listed = [known[name] for name in options.__annotations__]
        function.__signature__ = shown.replace(parameters=[*own, *listed])  # type: ignore[attr-defined]
        return function

    return decorate
