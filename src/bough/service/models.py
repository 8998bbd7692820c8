"""Requests and replies under ``/api/v1`` as Pydantic models, for validation and OpenAPI."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import Header
from pydantic import BaseModel, ConfigDict, Field, model_validator

from bough.storage import StudyRecord
from bough.strict_json import finite
from bough.study.goals import goals_of
from bough.study.records import STOPPING_RULES
from bough.trial import Trial

__all__ = [
    "Add", "Ask", "BranchOut", "Enqueue", "ErrorOut", "ExplainOut", "Fail", "Health", "Key", "NewStudy",
    "Predict", "PredictOut", "Renew", "ReportIn", "ReportOut", "StatusOut", "StudiesOut", "StudyOut",
    "Tell", "TrialOut", "TrialsOut", "study_json", "trial_json",
]  # fmt: skip

Seconds = Annotated[float, Field(gt=0, le=30 * 86400)]
Scalar = str | int | float | bool | None
Config = dict[str, Scalar]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="A random text per request; a repeated request with the same key has no second effect.",
    ),
]
Attempt = Annotated[int, Field(ge=0, lt=2**31)]
Noise = Annotated[float, Field(ge=0)] | dict[str, Annotated[float, Field(ge=0)]]


class _In(BaseModel):
    """A request: unknown fields, and text instead of a number, are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class MethodIn(_In):
    name: str
    options: dict[str, Any] = {}


class NewStudy(_In):
    """A study to create. ``space`` is the content of a space file: bough's JSON format, or ConfigSpace's.
    ``learn_from``: the names of earlier studies of this service."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    space: dict[str, Any]
    direction: Literal["minimize", "maximize"] = "minimize"
    objectives: dict[str, str] | list[str] | None = None
    constraints: Annotated[list[str], Field(max_length=100)] = []
    reference: dict[str, float] | None = None
    method: str | MethodIn = "auto"
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    stopping: Literal["median", "asha", "none"] | None = None
    learn_from: Annotated[list[str], Field(max_length=100)] = []


class Ask(_In):
    """``lease``: seconds after which a trial is handed out again unless it has a result; none by default.
    ``limit``: no trial is handed out once this many trials are finished or leased."""

    n: Annotated[int, Field(ge=1, le=100)] = 1
    lease: Seconds | None = None
    limit: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    worker: Annotated[str, Field(max_length=100)] | None = None


class _Result(_In):
    value: float | None = None
    noise: Noise | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    measures: dict[str, float] = {}
    notes: dict[str, Any] = {}


class Tell(_Result):
    """A result. ``attempt`` is the trial's attempt when it was handed out; 0 means the current one.
    ``value`` is the value of the first objective, which may be in ``measures`` instead. ``noise`` is a number
    for one objective, or an object by measure."""

    attempt: Attempt = 0


class Fail(_In):
    reason: Annotated[str, Field(max_length=20_000)]
    attempt: Attempt = 0
    measures: dict[str, float] = {}
    notes: dict[str, Any] = {}
    traceback: Annotated[str, Field(max_length=200_000)] | None = None
    learn: bool = True


class ReportIn(_In):
    """An intermediate value of a running trial at a step; ``attempt`` as for a result. ``measures``: all
    objectives and limited measures by name, instead of a value, if the study has several."""

    value: float | None = None
    measures: dict[str, float] = {}
    step: Annotated[int, Field(ge=0, lt=2**62)]
    attempt: Attempt = 0

    @model_validator(mode="after")
    def _says_something(self) -> ReportIn:
        if (self.value is None) == (not self.measures):
            raise ValueError("a report has either a value or measures")
        return self


class ReportOut(BaseModel):
    """Whether the trial should stop; it is then stored as stopped and needs no result."""

    stop: bool


class Enqueue(_In):
    config: Config


class Believe(_In):
    likely: dict[str, Any]


class Known(_Result):
    """A result without a value is a failure, and ``error`` says why it failed."""

    config: Config
    error: Annotated[str, Field(max_length=20_000)] | None = None


class Add(_In):
    """Known results."""

    results: Annotated[list[Known], Field(min_length=1, max_length=2500)]


class Held(_In):
    number: Annotated[int, Field(ge=0, lt=2**62)]
    attempt: Attempt


class Renew(_In):
    """New leases for running trials; without a lease they go back to the queue."""

    trials: Annotated[list[Held], Field(max_length=1000)]
    lease: Seconds | None


class NewBudget(_In):
    """The total cost that the trials may have: in units of reported costs, or in seconds without any.

    null removes the budget.
    """

    budget: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None


class Predict(_In):
    """measure: the objective to predict, by default the first one."""

    configs: Annotated[list[Config], Field(max_length=1000)]
    measure: str | None = None


class Explain(_In):
    """A branch, given by values of its switches; by default all branches."""

    branch: Config | None = None


class PredictOut(BaseModel):
    """In the order of the configs; null is a number that JSON cannot represent."""

    mean: list[float | None]
    sd: list[float | None]


class ErrorBody(BaseModel):
    type: str
    message: str


class ErrorOut(BaseModel):
    error: ErrorBody


class Health(BaseModel):
    status: Literal["ok"]
    version: str


class TrialOut(BaseModel):
    number: int
    config: Config
    state: Literal["queued", "running", "done", "failed", "stopped"]
    value: float | None
    noise: float | None
    cost: float | None
    error: str | None
    attempt: int
    started: float | None
    finished: float | None
    worker: str | None
    expires: float | None
    measures: dict[str, float] = {}
    notes: dict[str, Any] = {}
    traceback: str | None = None
    learn: bool = True
    noises: dict[str, float] = {}
    feasible: bool
    violated: list[str] = []
    retracted: str | None = None
    corrected: str | None = None
    value_before: float | None = None
    partial: bool = False
    resumes: int | None = None
    curve: list[tuple[int, float]] = []
    curves: dict[str, list[tuple[int, float]]] = {}


class TrialsOut(BaseModel):
    """One page of trials; ``total`` counts all matching trials, ``amendments`` the study's amendments."""

    trials: list[TrialOut]
    total: int
    amendments: int | None = None


class StudyOut(BaseModel):
    """``direction`` is the direction of the first objective. ``id`` differs for every study of a storage: a
    request with the header ``Bough-Study: ID`` means this study, not a later one of the same name."""

    id: int
    name: str
    direction: Literal["minimize", "maximize"]
    objectives: dict[str, str]
    constraints: list[str]
    reference: dict[str, float]
    method: MethodIn
    seed: int
    created: float
    trials: int
    space: dict[str, Any]
    stopping: Literal["median", "asha", "none"] = "median"


class StudiesOut(BaseModel):
    studies: list[StudyOut]


class StatusOut(BaseModel):
    """``finished`` counts done, failed and stopped trials, without those added by hand, as ``run`` does.
    ``front``: the number of trials on the front of several objectives. ``spent``: cost of finished trials,
    null if it is infinite.
    ``stop_requests``: a run stops when this number is larger than when the run began.
    ``has_model``: whether the method has a model of the objective, so ``predict`` works."""

    trials: int
    finished: int
    done: int
    failed: int
    leased: int
    stopped: int
    retracted: int
    front: int | None
    spent: float | None
    stop_requests: int
    best: TrialOut | None
    has_model: bool


class ExplainOut(BaseModel):
    """``mean`` and ``sd`` are the model's prediction at that time, ``criterion`` is its acquisition value.
    With several goals ``objectives`` has mean and sd of each, ``constraints`` the probability to meet each.
    ``rule`` names the rule that chose the trial, ``reason`` explains it in words."""

    model_config = ConfigDict(extra="allow")

    rule: str | None = None
    reason: str | None = None
    mean: float | None = None
    sd: float | None = None
    criterion: float | None = None


class BranchOut(BaseModel):
    """A branch of the space and its results; ``path`` is the value of ``branch=`` in other routes."""

    path: dict[str, str]
    label: str
    depth: int
    trials: int
    failed: int
    best: float | None


def trial_json(trial: Trial, curve: bool = False) -> dict[str, Any]:
    """A trial as JSON, without the ids of requests, which are internal; ``curve``: with its curve."""
    left_out = ("request", "holder") if curve else ("request", "holder", "curve", "curves")
    row = {name: getattr(trial, name) for name in Trial.__slots__ if name not in left_out}
    return {**row, "violated": list(trial.violated), "feasible": trial.feasible}


def study_json(record: StudyRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "direction": record.direction,
        **goals_of(record.goals, record.direction).to_dict(),
        "method": finite(json.loads(record.method)),
        "seed": record.seed,
        "created": record.created,
        "trials": record.trials,
        "space": json.loads(record.space),
        "stopping": record.stopping or STOPPING_RULES[0],
    }
