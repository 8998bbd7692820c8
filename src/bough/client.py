"""The client of a bough service: ``bough.connect(url, token, name)`` is a study used like a local one.

A request that fails for a temporary reason (no connection, a restart, a lost reply, too many requests) is
sent again with the same Idempotency-Key, so it never creates a second trial.
"""

from __future__ import annotations

import json
import math
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Unpack
from urllib.parse import quote

import numpy as np

from bough.amending_client import AmendingClient, check_tries, dict_of, trial_of, trials_of
from bough.errors import ExhaustedError, ServiceError, StudyError, TrialError
from bough.points import FloatArray
from bough.registry import Method, describe
from bough.space import Space
from bough.storage import StudyRecord
from bough.strategies.base import Strategy
from bough.study.goals import parse_goals
from bough.study.handles import checked_branch, checked_configs, checked_lease, number_and_attempt
from bough.study.other_names import hinting
from bough.study.records import STOPPING_RULES
from bough.study.results import known_results
from bough.study.running.loop import run_objective
from bough.study.running.run_options import RunOptions, listing_options
from bough.study.running.spending import checked_budget
from bough.study.stopping.races import check_no_race, in_order_of, raced_objective
from bough.study.stopping.reporting import checked_report
from bough.study.study import Study
from bough.study.trial_index import Status
from bough.trial import Config, Trial
from bough.wire import QUICK_SECONDS, HttpConnection, in_parts

__all__ = ["RemoteStudy", "connect"]

_PAGE = 1000

MOST_ASKED, MOST_ADDED = 100, 2500
"""How many trials the service hands out, and takes, with one request."""


@hinting
def connect(
    url: str,
    token: str | None = None,
    name: str | None = None,
    *,
    space: Space | None = None,
    direction: str = "minimize",
    objectives: Mapping[str, str] | Sequence[str] | None = None,
    constraints: Sequence[str] = (),
    reference: Mapping[str, float] | None = None,
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
    stopping: str | None = None,
    learn_from: str | Sequence[str] = (),
    patience: float = 60.0,
    timeout: float = 300.0,
) -> RemoteStudy:
    """The study ``name`` of the service at ``url``, such as ``http://localhost:8000``.

    token:    from ``bough token create``; by default the environment variable BOUGH_TOKEN.
    space:    creates the study, with goals, method, seed and stopping, unless a matching one exists.
    direction, objectives, constraints, reference: its goals, as for ``bough.Study``.
    learn_from: names of earlier studies of the same service.
    patience: seconds, from the first failure on, for which a request is retried while the service is down.
    timeout:  seconds that a proposal may take; other replies must come sooner. After that, the request is
              sent again.
    """
    for what, given in (("token", token), ("name", name)):
        if not isinstance(given, str | None):
            raise ServiceError(f"connect(url, token, name): {what} must be text, not {given!r:.80}")
    token = (token or os.environ.get("BOUGH_TOKEN") or "").strip()  # tokens from files end with a newline
    if not token:
        raise ServiceError("pass token=, or set BOUGH_TOKEN: 'bough token create' makes one")
    if not name:
        raise ServiceError("pass the name of a study: connect(url, token, name)")
    connection = HttpConnection(url, token)
    if space is None:
        plain = (direction, objectives, method, seed, stopping) == ("minimize", None, "auto", None, None)
        if not plain or constraints or reference or learn_from:
            raise StudyError("goals, method, seed, stopping and learn_from are for a new study: pass space=")
        found = connection.call("GET", study_path(name), patience=0.0)
    else:
        chosen = method if isinstance(method, str) else asdict(describe(method))
        goals = parse_goals(objectives, constraints, reference, direction)
        wanted: dict[str, Any] = {
            "name": name,
            "space": space.to_dict(),
            "direction": direction,
            "method": chosen,
            "seed": seed,
            "stopping": stopping,
        }
        if earlier := _names(learn_from):
            wanted["learn_from"] = earlier
        if not goals.is_plain:
            wanted |= {**goals.to_dict(), "direction": "minimize"}  # the objectives have the directions
        found = connection.call("POST", "/studies", wanted, patience=0.0, timeout=timeout)
    return RemoteStudy(connection, found, patience, timeout)


def _names(learn_from: Any) -> list[str]:
    several = isinstance(learn_from, Iterable) and not isinstance(learn_from, str)
    given = list(learn_from) if several else [learn_from]
    if not all(isinstance(each, str) for each in given):
        raise StudyError(f"learn_from takes names of studies of this service, not {learn_from!r:.80}")
    return given


def study_path(name: str) -> str:
    return f"/studies/{quote(name, safe='')}"


class RemoteStudy(AmendingClient):
    """Ask for trials, tell their results, over HTTP; see ``bough.Study`` for what each method does."""

    def __init__(
        self, connection: HttpConnection, found: dict[str, Any], patience: float, timeout: float
    ) -> None:
        self._connection, self._patience, self._timeout = connection, patience, timeout
        self._path = study_path(found["name"])
        # Someone may delete the study and create another one of that name, which is not ours to change.
        self._headers = {"Bough-Study": str(found["id"])} if "id" in found else {}
        self.name: str = found["name"]
        self.direction: str = found["direction"]
        self.goals = parse_goals(found["objectives"], found["constraints"], found["reference"])
        self.seed: int = found["seed"]
        self.stopping: str = found["stopping"]
        self.method = Method(found["method"]["name"], found["method"]["options"])
        self._space = Space.from_json(found["space"])
        self._over: list[Trial] = []  # the first trials, up to the first unfinished one
        self._amendments = 0  # how many amendments those include

    def __repr__(self) -> str:
        return f"RemoteStudy({self.name!r}, {self.goals.heading}, at {self._connection.where})"

    def report(self, trial: Trial | int, value: float | Mapping[str, float], step: int) -> bool:
        """Report an intermediate value; returns whether the trial should stop, and was stored as stopped."""
        number, attempt = number_and_attempt(trial)
        given = checked_report(number, attempt, value, step, self.goals, self.name)
        told = {"measures": given.measures} if given.measures else {"value": given.value}
        body = {**told, "step": given.step, "attempt": attempt}
        return bool(self._post(f"trials/{number}/report", body)["stop"])

    def add_many(
        self, results: Iterable[tuple[Config, Any] | tuple[Config, Any, float | None]]
    ) -> list[Trial]:
        """Add known results, each (config, value) or (config, value, noise).

        All of them are added in one transaction, or, if there are more than 2,500 or more than about 3 MB of
        JSON, in several. If one of these is refused, the ones before it stay.
        """
        rows = []
        for config, result in known_results(results, self.goals):
            failed = {} if result.error is None else {"error": result.error}
            rows.append({"config": dict_of(config, "a config"), **self._result_json(result), **failed})
        added: list[Trial] = []
        for part in in_parts(rows, MOST_ADDED):
            added += trials_of(self._post("add", {"results": part}, self._timeout))
        return added

    def enqueue(self, config: Config) -> Trial:
        """Have a configuration tried next, before the method proposes anything."""
        return trials_of(self._post("enqueue", {"config": dict_of(config, "a config")}))[0]

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of their numbers."""
        found, tries = list(self._over), 0
        while True:
            page = self._get(f"trials?offset={len(found)}&limit={_PAGE}&curves=true")
            if self._amendments != (now := page.get("amendments") or 0):  # results may have been corrected
                self._amendments, self._over = now, []
                if found:
                    found, tries = [], tries + 1
                    check_tries(tries, self.name)
                    continue
            found += trials_of(page)
            if len(found) >= page["total"] or not page["trials"]:
                break
        first_open = next((i for i, trial in enumerate(found) if not trial.is_finished), len(found))
        self._over = found[:first_open]
        return found

    @property
    def space(self) -> Space:
        """The current space, which others may change at any time."""
        found = self._get()["space"]
        if found != self._space.to_dict():
            self._space = Space.from_json(found)
        return self._space

    def trial(self, number: int) -> Trial:
        """The trial of that number; TrialError if there is none."""
        return trial_of(self._get(f"trials/{number_and_attempt(number)[0]}"))

    @property
    def record(self) -> StudyRecord:
        """The study without its trials, as a storage would keep it."""
        found = self._get()
        return StudyRecord(
            found["name"],
            Space.from_json(found["space"]).to_json(),
            found["direction"],
            json.dumps(found["method"], sort_keys=True),
            found["seed"],
            found["created"],
            found["trials"],
            goals=self.goals.to_json(),
            stopping=None if found["stopping"] == STOPPING_RULES[0] else found["stopping"],
        )

    @property
    def best(self) -> Trial:
        """The feasible trial with the best value told so far; StudyError if there is none."""
        return trial_of(self._get("best"))

    @property
    def front(self) -> list[Trial]:
        """The feasible trials that no other one dominates, the best of the first objective first."""
        return trials_of(self._get("front"))

    def hypervolume(self, reference: Mapping[str, float] | None = None) -> float:
        """The volume between the front and a reference point; see ``bough.Study``."""
        given = "" if reference is None else f"?reference={quote(json.dumps(dict(reference)), safe='')}"
        found = self._get(f"hypervolume{given}")["hypervolume"]
        return math.inf if found is None else float(found)

    def reference(self) -> dict[str, float]:
        """The reference point of ``hypervolume``, by objective: given, or inferred from the trials so far."""
        found = self._get("hypervolume")["reference"]
        return {name: math.nan if value is None else value for name, value in found.items()}

    def explain(
        self, trial: Trial | int | None = None, *, branch: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Why the method chose a trial, or facts about branches; see ``Study.explain``."""
        if trial is None:
            asked = {"branch": None if branch is None else dict(checked_branch(branch))}
            return dict(self._post("explain", asked, self._timeout))
        if branch is not None:
            raise TrialError("explain a trial or a branch, not both")
        return dict(self._get(f"trials/{number_and_attempt(trial)[0]}/explain", self._timeout))

    @property
    def has_model(self) -> bool:
        """Whether the method has a model of the objective, so ``predict`` works."""
        return bool(self._get("status")["has_model"])

    def predict(
        self, configs: Sequence[Config], *, measure: str | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The posterior mean and standard deviation of the method's model at n ``configs``, each (n,).

        measure: the objective to predict, by default the first one.
        """
        named = {} if measure is None else {"measure": measure}
        configs = list(checked_configs(configs))
        moments = np.empty((2, len(configs)))
        for start in range(0, len(configs), _PAGE):
            page = slice(start, start + _PAGE)
            asked = {"configs": [dict(each) for each in configs[page]], **named}
            found = self._post("predict", asked, self._timeout)
            moments[:, page] = found["mean"], found["sd"]
        return moments[0], moments[1]

    @listing_options(Study.run, RunOptions)
    def run(
        self,
        objective: Callable[..., Any],
        trials: int | None = None,
        *,
        instances: Iterable[Any] | None = None,
        **options: Unpack[RunOptions],
    ) -> RemoteStudy:
        """Evaluate ``objective(config)`` here, with proposals from the service; see ``Study.run``."""
        if instances is None:
            check_no_race(self)
        else:
            order = in_order_of(
                instances, lambda given: self._post("instances", {"instances": given})["instances"]
            )
            objective = raced_objective(objective, order, self.goals)
        return run_objective(self, objective, trials, **options)

    # ---- for ``run`` -------------------------------------------------------------------

    def ask_within(
        self, limit: int | None, lease: float | None, *, worker: str | None = None
    ) -> Trial | None:
        """Like ``ask``, but None if the finished and the leased trials together already reach ``limit``."""
        return next(iter(self.ask_up_to(1, limit=limit, lease=lease, worker=worker)), None)

    def ask_up_to(
        self, n: int, *, limit: int | None = None, lease: float | None = None, worker: str | None = None
    ) -> list[Trial]:
        worker = (worker or f"{socket.gethostname()}:{os.getpid()}")[:100]
        lease = None if lease is None else checked_lease(lease)
        trials: list[Trial] = []
        while len(trials) < n:
            wanted = min(n - len(trials), MOST_ASKED)
            body = {"n": wanted, "lease": lease, "limit": limit, "worker": worker}
            try:
                found = trials_of(self._post("ask", body, self._timeout))
            except (ExhaustedError, ServiceError):
                if not trials:
                    raise
                break  # those of the requests before are leased to the caller
            trials += found
            if len(found) < wanted:
                break
        return trials

    def record_result(self, result: Trial) -> Trial:
        """Send a result, made by ``told`` or ``failure``."""
        where = f"trials/{result.number}"
        if result.state == "stopped":  # the report that stopped it also stored it
            return self.trial(result.number)
        if result.state != "failed":
            body = {"attempt": result.attempt, **self._result_json(result)}
            return trial_of(self._post(f"{where}/tell", body))
        body = {
            "reason": result.error or "failed",
            "attempt": result.attempt,
            "measures": result.measures,
            "notes": result.notes,
            "traceback": result.traceback,
            **({} if result.learn else {"learn": False}),
        }
        return trial_of(self._post(f"{where}/fail", body))

    def status(self) -> Status:
        """The progress of the study in numbers."""
        found = self._get("status")
        best = None if found["best"] is None else trial_of(found["best"])
        return Status(
            found["finished"],
            found["failed"],
            found["done"],
            found["leased"],
            best,
            found["trials"],
            found["stopped"],
            found.get("retracted", 0),
            math.inf if found["spent"] is None else found["spent"],
            stop_requests=found.get("stop_requests", 0),
        )

    def set_budget(self, budget: float | None) -> None:
        """Set the total cost that the trials may have; None removes the budget."""
        self._post("budget", {"budget": None if budget is None else checked_budget(budget)})

    def renew(self, trials: Sequence[Trial], lease: float | None) -> None:
        """Let the leases of running trials end ``lease`` seconds from now; None puts them into the queue."""
        lease = None if lease is None else checked_lease(lease)
        held = [{"number": trial.number, "attempt": trial.attempt} for trial in trials]
        for start in range(0, len(held), _PAGE):
            self._post("renew", {"trials": held[start : start + _PAGE], "lease": lease})

    # ---- inside -------------------------------------------------------------------------------------

    def _result_json(self, result: Trial) -> dict[str, Any]:
        row = {name: getattr(result, name) for name in ("value", "cost", "measures", "notes")}
        if not self.goals.objectives:  # the value follows from the measures
            del row["value"]
        return {**row, "noise": result.noises or result.noise}

    def _get(self, path: str = "", timeout: float = QUICK_SECONDS) -> Any:
        return self._call("GET", path, None, timeout)

    def _post(self, path: str, body: dict[str, Any], timeout: float = QUICK_SECONDS) -> Any:
        return self._call("POST", path, body, timeout)

    def _call(self, method: str, path: str, body: Any, timeout: float) -> Any:
        path = f"{self._path}/{path}".rstrip("/")
        return self._connection.call(
            method, path, body, patience=self._patience, timeout=timeout, headers=self._headers
        )
