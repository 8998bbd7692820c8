"""The forms of the dashboard: new studies, and actions such as tell, retract, note, enqueue, stop.

The form of an action is sent to ``/act`` of a study or of a trial, which needs a token with scope "write".
Amendments store who made them. Results and queued configs are logged with the name of their sender.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, cast

import yaml

from bough import Study
from bough.errors import SpaceError, TrialError
from bough.space import Space
from bough.space.yaml import parse_yaml
from bough.storage import Amendment
from bough.strict_json import JsonError, loads
from bough.study.goals import objective_of_text, reference_of_text

__all__ = ["act_on_study", "act_on_trial", "goals_of_form", "preview", "space_of"]


def act_on_trial(study: Study, number: int, form: Mapping[str, str], who: str) -> None:
    """Perform the action of a form on a trial's page; BoughError if it is not possible."""
    action, reason = form.get("action", ""), form.get("reason", "")
    if action == "tell":
        study.tell(number, _result(form.get("value", "")))
        _audit(study, action, number, who)
    elif action == "fail":
        study.fail(number, reason or "failed by hand")
        _audit(study, action, number, who)
    elif action == "retract":
        study.retract(number, reason, by=who)
    elif action == "correct":
        study.correct(number, _result(form.get("value", "")), reason, by=who)
    elif action == "note":
        study.note(form.get("text", ""), number, by=who)
    else:
        raise TrialError(f"a page cannot {action[:40]!r} a trial")


def act_on_study(study: Study, form: Mapping[str, str], who: str) -> None:
    """Perform the action of a form on a study's page; BoughError if it is not possible."""
    action = form.get("action", "")
    if action == "enqueue":
        config = _data(form.get("config", ""), 'a config such as {"rate": 0.1}')
        if not isinstance(config, dict):
            raise TrialError('a config is an object such as {"rate": 0.1}')
        trial = study.enqueue(config)
        _audit(study, action, trial.number, who)
    elif action == "note":
        study.note(form.get("text", ""), by=who)
    elif action == "stop":
        study.stop_runs(form.get("reason", ""), by=who)
    elif action == "change":
        seen = form.get("seen", "")
        study.change(**_change(form), seen=Space.from_json(seen) if seen else None, by=who)
    else:
        raise TrialError(f"a page cannot {action[:40]!r} a study")


def preview(study: Study, form: Mapping[str, str]) -> tuple[list[str], str]:
    """The differences that a change of the space makes, one line each, and the space they are relative to."""
    study.status()  # reads changes by others
    seen = study.space
    return study.change(**_change(form), preview=True, seen=seen), seen.to_json()


def _change(form: Mapping[str, str]) -> dict[str, Any]:
    """The change that a form describes: the space, and values of added and removed parameters."""
    values = {name: _data(form.get(name, "") or "{}", name) for name in ("backfill", "fix")}
    return {"space": space_of(form.get("space", "")), **values}


def space_of(text: str) -> Space:
    """A space from JSON, or from YAML without aliases, because a few lines of aliases can fill the memory."""
    if text.lstrip().startswith("{"):
        return Space.from_json(text)
    with contextlib.suppress(yaml.YAMLError):  # parse_yaml says what is wrong
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise SpaceError("a space from a page cannot use YAML aliases (*name)")
    return Space.from_json(cast(Any, parse_yaml(text)))


def goals_of_form(form: dict[str, str]) -> dict[str, Any]:
    """The goals of a new study as arguments of ``Study``; names and limits are separated by commas."""
    objectives = dict(map(objective_of_text, _parts(form["objectives"])))
    return {
        "direction": form["direction"] if not objectives else "minimize",
        "objectives": objectives or None,
        "constraints": _parts(form["constraints"]),
        "reference": dict(map(reference_of_text, _parts(form["reference"]))) or None,
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _audit(study: Study, action: str, number: int, who: str) -> None:
    study.amend(lambda _: Amendment("audit", {"action": action}, number), by=who)


def _result(text: str) -> Any:
    return _data(text, "a number, or an object of measures")


def _data(text: str, what: str) -> Any:
    try:
        return loads(text)
    except JsonError:
        raise TrialError(f"{text[:40]!r} is not {what}") from None
