"""Gives an AI assistant tools for studies, over the Model Context Protocol.

Reading is always allowed: studies, best, front, branches, trials, explain. Asking and telling are tools only
if the server was started with ``write=True``. The assistant gets the same one-line errors as a user.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from bough.errors import BoughError, MissingExtraError, TrialError
from bough.storage import Storage
from bough.strict_json import finite
from bough.study import open_study, studies
from bough.trial import Trial

__all__ = ["make_server"]

F = TypeVar("F", bound=Callable[..., Any])

MOST_TRIALS = 100
"""The most trials in one reply."""

INSTRUCTIONS = (
    "bough optimises black-box functions over spaces that branch. A study has trials; each is a config and, "
    "once told, a value. Ask for a trial, evaluate its config, then tell the value."
)


def make_server(storage: str | Storage, *, write: bool = False) -> Any:
    """An MCP server for the studies of a storage; MissingExtraError without the package ``mcp``."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ModuleNotFoundError:
        raise MissingExtraError("an MCP server needs the package mcp: pip install 'bough-opt[mcp]'") from None

    server = MCPServer("bough", instructions=INSTRUCTIONS)

    def writing(function: F, annotations: Any = None) -> F:
        """Make the function a tool, with bough's errors as errors of the tool."""

        @functools.wraps(function)
        def wrapped(*args: Any, **named: Any) -> Any:
            try:
                return finite(function(*args, **named))
            except BoughError as error:
                raise ToolError(str(error)) from None

        server.tool(annotations=annotations)(wrapped)
        return function

    # An assistant may call a reading tool without asking its user.
    reading = functools.partial(writing, annotations=ToolAnnotations(read_only_hint=True))

    @reading
    def list_studies() -> dict[str, Any]:
        """All studies, with the number of trials of each."""
        found = studies(storage)
        return {"studies": [{"name": each.name, "trials": each.trials} for each in found]}

    @reading
    def describe_study(study: str) -> dict[str, Any]:
        """The space, the goals, the method and the progress of a study."""
        opened = open_study(study, storage)
        status = opened.status()
        return {
            "space": opened.space.to_dict(),
            "goal": opened.goals.describe(),
            "method": opened.method.name,
            "done": status.done,
            "failed": status.failed,
            "trials": status.trials,
        }

    @reading
    def best(study: str) -> dict[str, Any]:
        """The trial with the best value so far."""
        return _trial(open_study(study, storage).best)

    @reading
    def front(study: str) -> dict[str, Any]:
        """The trials of a study with several objectives that no other trial dominates."""
        return {"trials": [_trial(trial) for trial in open_study(study, storage).front[:MOST_TRIALS]]}

    @reading
    def trials(study: str, first: int = 0) -> dict[str, Any]:
        """Up to 100 trials of a study, from number ``first`` on."""
        if first < 0:
            raise TrialError(f"first must be the number of a trial, from 0 on, not {first}")
        found = open_study(study, storage).trials
        return {
            "trials": [_trial(trial) for trial in found[first : first + MOST_TRIALS]],
            "total": len(found),
        }

    @reading
    def branches(study: str) -> dict[str, Any]:
        """The branches of the space: their trials, and what the model expects there."""
        return open_study(study, storage).explain()

    @reading
    def explain(study: str, number: int) -> dict[str, Any]:
        """Why a trial was chosen: the model's prediction, and the reason in words."""
        return open_study(study, storage).explain(number)

    if not write:
        return server

    @writing
    def ask(study: str) -> dict[str, Any]:
        """The next trial to evaluate. Evaluate its config, then tell or fail its number."""
        return _trial(open_study(study, storage).ask(worker="mcp"))

    @writing
    def tell(study: str, number: int, value: float | dict[str, Any]) -> dict[str, Any]:
        """Give a trial its result: a number, or an object of measures by name."""
        return _trial(open_study(study, storage).tell(number, value))

    @writing
    def fail(study: str, number: int, reason: str) -> dict[str, Any]:
        """Say that a trial has no result, and why."""
        return _trial(open_study(study, storage).fail(number, reason))

    return server


def _trial(trial: Trial) -> dict[str, Any]:
    """The fields of a trial that an assistant needs."""
    row: dict[str, Any] = {"number": trial.number, "state": trial.state, "config": trial.config}
    names = ("value", "noise", "cost", "error", "retracted", "corrected")
    row |= {name: getattr(trial, name) for name in names if getattr(trial, name) is not None}
    return {**row, **({"measures": trial.measures} if trial.measures else {})}
