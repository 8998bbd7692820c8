"""A study that a bough service holds, used like a local one: ``bough.connect(url, token, name)``.

Requests that fail for a passing reason (no connection, a server that restarts, too many requests) are sent
again with the same Idempotency-Key, so that a reply that got lost never makes a second trial. Only the
standard library is needed.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import Any, cast, overload
from urllib.parse import quote, urlsplit

from bough import errors
from bough.errors import ServiceError, TrialError
from bough.space import Space
from bough.study.events import Progress
from bough.study.loop import Budget, run
from bough.study.results import failure, told
from bough.study.study import Study
from bough.study.tables import table
from bough.study.view import Status
from bough.trial import Config, Trial

__all__ = ["RemoteStudy", "connect"]

_PAGE = 1000
_PASSING = (408, 429, 502, 503, 504)


def connect(
    url: str,
    token: str | None = None,
    name: str | None = None,
    *,
    space: Space | None = None,
    direction: str = "minimize",
    method: str = "auto",
    seed: int | None = None,
    patience: float = 60.0,
    timeout: float = 300.0,
) -> RemoteStudy:
    """The study ``name`` of the service at ``url``, such as ``http://localhost:8000``.

    token:    from ``bough token create``; by default the environment variable BOUGH_TOKEN.
    space:    creates the study, with direction, method and seed, unless there is one that agrees.
    patience: seconds for which a request is sent again while the service is away.
    timeout:  seconds to wait for a reply; a proposal may take a while.
    """
    token = token or os.environ.get("BOUGH_TOKEN")
    if not token:
        raise ServiceError("pass token=, or set BOUGH_TOKEN: 'bough token create' makes one")
    if not name:
        raise ServiceError("pass the name of a study: connect(url, token, name)")
    wire = _Wire(url, token, timeout)
    if space is None:
        found = wire.call("GET", f"/studies/{quote(name, safe='')}", patience=0.0)
    else:
        wanted = {
            "name": name,
            "space": space.to_dict(),
            "direction": direction,
            "method": method,
            "seed": seed,
        }
        found = wire.call("POST", "/studies", wanted, patience=0.0)
    return RemoteStudy(wire, found, patience)


class RemoteStudy:
    """Ask for trials, tell their results, over HTTP; see ``bough.Study`` for what each method does."""

    def __init__(self, wire: _Wire, found: dict[str, Any], patience: float) -> None:
        self._wire, self._patience = wire, patience
        self._path = f"/studies/{quote(found['name'], safe='')}"
        self.name: str = found["name"]
        self.direction: str = found["direction"]
        self.seed: int = found["seed"]
        self.method: str = found["method"]["name"]
        self.space = Space.from_json(found["space"])
        self._over: list[Trial] = []  # the first trials, as far as all of them have their final state

    def __repr__(self) -> str:
        return f"RemoteStudy({self.name!r}, {self.direction}, at {self._wire.where})"

    @overload
    def ask(self, n: None = None, *, lease: float | None = None) -> Trial: ...
    @overload
    def ask(self, n: int, *, lease: float | None = None) -> list[Trial]: ...
    def ask(self, n: int | None = None, *, lease: float | None = None) -> Trial | list[Trial]:
        """The next trial to evaluate, or the next ``n`` as a list."""
        if n is not None and n < 1:
            raise TrialError(f"ask for at least 1 trial, not {n}")
        trials = self._ask(n or 1, lease, None)
        return trials[0] if n is None else trials

    def tell(
        self, trial: Trial | int, value: Any, *, noise: float | None = None, cost: float | None = None
    ) -> Trial:
        """Give a trial its result and return it as stored."""
        number, attempt = (trial.number, trial.attempt) if isinstance(trial, Trial) else (trial, 0)
        return self.record_result(told(number, value, noise, cost, attempt))

    def fail(self, trial: Trial | int, reason: str) -> Trial:
        """Say that a trial has no result, and why."""
        number, attempt = (trial.number, trial.attempt) if isinstance(trial, Trial) else (trial, 0)
        return self.record_result(failure(number, str(reason), attempt))

    def add(self, config: Config, value: Any, noise: float | None = None) -> Trial:
        """Add a result that is known already."""
        return self.add_many([(config, value, noise)])[0]

    def add_many(
        self, results: Iterable[tuple[Config, Any] | tuple[Config, Any, float | None]]
    ) -> list[Trial]:
        """Add known results, each (config, value) or (config, value, noise), in one transaction."""
        rows = []
        for config, *rest in results:
            result = told(-1, *rest)
            if result.value is None:
                raise TrialError(f"a known result must be finite: {result.error}")
            rows.append({"config": dict(config), "value": result.value, "noise": result.noise})
        return _trials(self._post("add", {"results": rows}))

    def enqueue(self, config: Config) -> Trial:
        """Have a configuration tried next, before the method proposes anything."""
        return _trials(self._post("enqueue", {"config": dict(config)}))[0]

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of their numbers."""
        found = list(self._over)
        while True:
            page = self._get(f"trials?offset={len(found)}&limit={_PAGE}")
            found += _trials(page)
            if len(found) >= page["total"] or not page["trials"]:
                break
        first_open = next((i for i, trial in enumerate(found) if not trial.over), len(found))
        self._over = found[:first_open]
        return found

    @property
    def best(self) -> Trial:
        """The trial with the best value told so far; StudyError if there is none."""
        return Trial(**self._get("best"))

    def frame(self) -> Any:
        """One row per trial: a pandas DataFrame, or dicts where pandas is absent."""
        return table(self.trials)

    def run(
        self,
        objective: Callable[[Config], Any],
        trials: int | None = None,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        timeout: float | None = None,
        trial_timeout: float | None = None,
        callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
        progress: bool | Progress | None = None,
    ) -> RemoteStudy:
        """Evaluate ``objective(config)`` here, with proposals from the service; see ``Study.run``."""
        run(
            cast(Study, self),  # the loop needs nothing of a study that is not here
            objective,
            Budget(trials, timeout, trial_timeout),
            workers=workers,
            executor=executor,
            callbacks=callbacks,
            progress=progress,
        )
        return self

    # ---- what a run needs besides -------------------------------------------------------------------

    def ask_within(self, limit: int | None, lease: float | None) -> Trial | None:
        """Like ``ask``, but None if the finished trials and those under a lease make up ``limit`` already."""
        return next(iter(self._ask(1, lease, limit)), None)

    def record_result(self, result: Trial) -> Trial:
        """Send a result, made by ``told`` or ``failure``."""
        where = f"trials/{result.number}"
        if result.state == "failed":
            body = {"reason": result.error or "failed", "attempt": result.attempt}
            return Trial(**self._post(f"{where}/fail", body))
        body = {
            "value": result.value,
            "noise": result.noise,
            "cost": result.cost,
            "attempt": result.attempt,
        }
        return Trial(**self._post(f"{where}/tell", body))

    def status(self) -> Status:
        """How far the study is, in a few numbers."""
        found = self._get("status")
        best = None if found["best"] is None else Trial(**found["best"])
        return Status(found["finished"], found["failed"], found["done"], found["leased"], best)

    def renew(self, trials: Sequence[Trial], lease: float | None) -> None:
        """Let the leases of running trials end ``lease`` seconds from now; None gives the trials back."""
        held = [{"number": trial.number, "attempt": trial.attempt} for trial in trials]
        self._post("renew", {"trials": held, "lease": lease})

    # ---- inside -------------------------------------------------------------------------------------

    def _ask(self, n: int, lease: float | None, limit: int | None) -> list[Trial]:
        worker = f"{socket.gethostname()}:{os.getpid()}"[:100]
        return _trials(self._post("ask", {"n": n, "lease": lease, "limit": limit, "worker": worker}))

    def _get(self, path: str) -> Any:
        return self._wire.call("GET", f"{self._path}/{path}", patience=self._patience)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._wire.call("POST", f"{self._path}/{path}", body, patience=self._patience)


def _trials(page: dict[str, Any]) -> list[Trial]:
    return [Trial(**row) for row in page["trials"]]


class _Wire:
    """Requests to one service; each thread keeps a connection of its own, and so does a forked child."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServiceError(f"{url!r} is not the address of a service: use http://HOST:PORT")
        self.where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/") + "/api/v1"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._timeout = timeout
        self._mine = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_mine"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _mine=threading.local())

    def call(self, method: str, path: str, body: Any = None, *, patience: float) -> Any:
        """The JSON reply; what the service refuses is raised as the error that it names."""
        try:
            text = None if body is None else json.dumps(body, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ServiceError(f"this cannot be sent as JSON: {error}") from None
        headers = {**self._headers, "Idempotency-Key": secrets.token_hex(16)}
        if text is not None:
            headers["Content-Type"] = "application/json"
        deadline, pause = time.monotonic() + patience, 0.1
        while True:
            fault = None
            try:
                status, reply = self._send(method, self._prefix + path, text, headers)
                if status not in _PASSING:
                    return self._read(status, reply)
                fault = _message(reply) or f"status {status}"
            except (OSError, http.client.HTTPException) as error:
                self._close()
                fault = str(error) or type(error).__name__
            if time.monotonic() + pause > deadline:
                raise ServiceError(f"{self.where} cannot be reached: {fault}")
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, 5.0)

    def _send(self, method: str, path: str, text: str | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = self._connection()
        connection.request(method, path, text, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def _connection(self) -> http.client.HTTPConnection:
        held: tuple[int, http.client.HTTPConnection] | None = getattr(self._mine, "held", None)
        if held is None or held[0] != os.getpid():
            if self._secure:
                fresh: http.client.HTTPConnection = http.client.HTTPSConnection(
                    self._host, self._port, timeout=self._timeout, context=ssl.create_default_context()
                )
            else:
                fresh = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
            held = self._mine.held = os.getpid(), fresh
        return held[1]

    def _close(self) -> None:
        held = getattr(self._mine, "held", None)
        if held is not None:
            held[1].close()

    def _read(self, status: int, reply: bytes) -> Any:
        if status == 204:
            return None
        if 200 <= status < 300:
            try:
                return json.loads(reply)
            except ValueError:
                raise ServiceError(f"{self.where} did not answer as a bough service does") from None
        raise _error(reply, status, self.where)


def _message(reply: bytes) -> str | None:
    try:
        return str(json.loads(reply)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return None


def _error(reply: bytes, status: int, where: str) -> Exception:
    """The error of ours that a reply names."""
    message = _message(reply)
    if message is None:
        return ServiceError(f"{where} answered with status {status}: is it a bough service?")
    name = json.loads(reply)["error"].get("type")
    kind = getattr(errors, name, ServiceError) if name in errors.__all__ else ServiceError
    made: Exception = kind(message)
    return made
