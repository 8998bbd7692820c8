"""The door: methods by name, as objects, from other packages, and as old studies stored them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.auto import Auto
from bough.errors import MethodError, MissingExtraError, StudyError
from bough.history import History
from bough.points import Points
from bough.registry import BUILT_IN, REMOVED, RENAMED, describe, stored_method
from bough.space.sampling import sample_points
from bough.storage import StudyRecord, open_storage

SPACE = bough.Space(
    {"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}}), "n": bough.Int(1, 9)}, forbid=["n == 5"]
)


def objective(config: dict[str, Any]) -> float:
    return float(config.get("x", 0.7)) + 0.01 * float(config["n"])


@dataclass(frozen=True)
class FirstSample:
    """a random point"""

    skip: int = 0

    def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Points:
        return sample_points(space, 1 + self.skip, rng).take([self.skip])


# ---- objects ------------------------------------------------------------------------------------


def test_an_object_with_propose_is_a_method() -> None:
    assert isinstance(FirstSample(), bough.Strategy)
    study = bough.minimize(objective, SPACE, 6, method=FirstSample(2), seed=0, progress=False)
    assert len(study.trials) == 6
    assert (study.method.name, study.method.options) == ("FirstSample", {"skip": 2})
    assert "no reasons" in study.explain(0)["reason"]
    assert not study.has_model
    drawn = [FirstSample(2).propose(SPACE, None, np.random.default_rng([0, i])) for i in range(6)]  # type: ignore[arg-type]
    assert [t.config for t in study.trials] == [SPACE.decode(point)[0] for point in drawn]


def test_a_class_instead_of_an_object_is_named() -> None:
    with pytest.raises(MethodError, match=r"method is the class FirstSample: pass an object, FirstSample\("):
        bough.Study(SPACE, method=FirstSample)


def test_a_strategy_without_propose_is_named() -> None:
    class Maker:
        def strategy(self, space: bough.Space) -> int:
            return 3

    with pytest.raises(
        MethodError, match=r"Maker\.strategy\(space\) returned 3: return an object with propose"
    ):
        bough.Study(SPACE, method=Maker()).ask()


def test_a_stored_object_is_read_by_anyone_and_continued_with_the_object(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    bough.Study(SPACE, name="s", storage=url, method=FirstSample(), seed=0).run(objective, 3)
    read = bough.open_study("s", url)
    assert len(read.trials) == 3
    assert not read.has_model
    assert bough.plot.history(read) is not None
    for use in (read.ask, lambda: read.run(objective, 4), lambda: read.explain(0)):
        with pytest.raises(MethodError, match="study 's' uses the method 'FirstSample', which is") as error:
            use()
        assert "\n" not in str(error.value)
    bough.Study(SPACE, name="s", storage=url, method=FirstSample()).run(objective, 5)
    assert len(read.trials) == 5
    with pytest.raises(StudyError, match="its method is"):
        bough.Study(SPACE, name="s", storage=url, method=FirstSample(1))
    with pytest.raises(StudyError, match="its method is"):
        bough.Study(SPACE, name="s", storage=url, method="random")


def test_an_object_of_a_registered_class_is_stored_by_name() -> None:
    method = bough.Study(SPACE, method=Auto(exploit_every=3)).method
    assert (method.name, method.options) == ("auto", {"exploit_every": 3})


@dataclass(frozen=True)
class Wrong:
    answer: Any

    def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Any:
        return self.answer


CORRECT = SPACE.encode([{"m": "a", "x": 0.3, "n": 2}])
FOUR = SPACE.encode([{"m": "b", "n": 4}])


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"m": "a"}, "proposed a dict"),
        (Points.concat([CORRECT, CORRECT]), "proposed 2 points"),
        (CORRECT.take([]), "proposed 0 points"),
        (Points(CORRECT.x + 2.0, CORRECT.on), "outside the unit cube"),
        (Points(np.full_like(CORRECT.x, np.nan), CORRECT.on), "outside the unit cube"),
        (Points(CORRECT.x, ~CORRECT.on), "wrong activity"),
        (Points(FOUR.x + [[0, 0, 1 / 9]], FOUR.on), "forbidden"),  # n = 5
    ],
)  # fmt: skip
def test_a_wrong_proposal_is_an_error_that_says_what_is_wrong(answer: Any, complaint: str) -> None:
    study = bough.Study(SPACE, method=Wrong(answer), seed=0)
    with pytest.raises(MethodError, match=f"method 'Wrong' proposed .*{complaint.removeprefix('proposed ')}"):
        study.ask()
    assert study.trials == []


@pytest.mark.parametrize("chosen", [7, int, object(), None])
def test_anything_else_is_no_method(chosen: Any) -> None:
    with pytest.raises(MethodError, match="method must be a name"):
        bough.Study(SPACE, method=chosen)


def test_a_class_may_not_take_the_name_of_a_registered_method() -> None:
    same_name = type("random", (FirstSample,), {})
    with pytest.raises(MethodError, match="rename it"):
        describe(same_name())


def test_nothing_is_stored_when_the_method_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    url = f"sqlite:///{tmp_path / 's.db'}"
    with pytest.raises(MissingExtraError):
        bough.Study(SPACE, name="s", storage=url, method="forest")
    assert not list(tmp_path.iterdir())


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "meant"), [("TPE", "tpe"), ("Auto", "auto"), ("add_tree", "add-tree")])
def test_a_mistyped_name_gets_a_hint(typed: str, meant: str) -> None:
    with pytest.raises(MethodError, match=f"unknown method '{typed}': did you mean '{meant}'"):
        bough.method(typed)


def test_a_renamed_option_says_its_new_name() -> None:
    with pytest.raises(MethodError, match="it is now called 'exploit_every'"):
        bough.method("auto", trust=0)


@pytest.mark.parametrize("option", REMOVED["auto"])
def test_an_option_whose_rule_is_gone_says_so(option: str) -> None:
    with pytest.raises(MethodError, match=f"no option '{option}': its rule was removed"):
        bough.method("auto", **{option: 0})


def test_names_and_studies_load_neither_models_nor_scipy() -> None:
    code = (
        "import sys, bough; bough.Study; bough.methods()\n"
        "heavy = ('scipy', 'bough.papers', 'bough.gp')\n"
        "print([m for m in sys.modules if m.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- other packages -----------------------------------------------------------------------------

PACKAGE = '''
from dataclasses import dataclass
from bough.errors import MethodError
from bough.space.sampling import sample_points

@dataclass(frozen=True)
class Draw:
    """draws at random, from another package"""
    skip: int = 0

    def __post_init__(self):
        if self.skip < 0:
            raise MethodError(f"option 'skip' is {self.skip}: give 0 or more")

    def propose(self, space, history, rng):
        return sample_points(space, 1 + self.skip, rng).take([self.skip])
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution with the methods 'other-draw' and 'other-broken'."""
    site = tmp_path / "site"
    info = site / "bough_other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bough-other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[bough.methods]\nother-draw = bough_other_package:Draw\nother-broken = bough_nowhere:Draw\n"
    )
    (site / "bough_other_package.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "bough_other_package", raising=False)
    return site


@pytest.mark.usefixtures("package")
def test_an_object_as_method_imports_no_other_package() -> None:
    class Own:
        def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Points:
            return sample_points(space, 1, rng)

    bough.Study(SPACE, method=Own(), seed=0).ask()
    assert "bough_other_package" not in sys.modules


@pytest.mark.usefixtures("package")
def test_another_package_adds_a_method(tmp_path: Path) -> None:
    listed = bough.methods()
    assert listed["other-draw"] == "draws at random, from another package"
    assert "cannot be imported" in listed["other-broken"]
    assert len(listed) == len(BUILT_IN) + 2
    url = f"sqlite:///{tmp_path / 's.db'}"
    chosen = bough.method("other-draw", skip=1)
    bough.Study(SPACE, name="s", storage=url, method=chosen, seed=0).run(objective, 3)
    study = bough.open_study("s", url)
    assert study.method == chosen
    assert len(study.run(objective, 4).trials) == 4
    with pytest.raises(MethodError, match="method 'other-draw': option 'skip' is -1: give 0 or more"):
        bough.method("other-draw", skip=-1)
    with pytest.raises(MethodError, match="has no option 'hop': it takes skip"):
        bough.method("other-draw", hop=1)
    with pytest.raises(MethodError, match="did you mean 'other-draw'"):
        bough.method("Other_Draw")
    with pytest.raises(MethodError, match="'other-broken' cannot be imported from bough_nowhere:Draw"):
        bough.Study(SPACE, method="other-broken")


def test_a_study_whose_package_is_gone_says_so(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    bough.Study(SPACE, name="s", storage=url, method="other-draw", seed=0).run(objective, 2)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(package)])
    study = bough.open_study("s", url)
    assert len(study.trials) == 2
    with pytest.raises(MethodError, match="study 's' uses the method 'other-draw', which is not registered"):
        study.ask()


@dataclass(frozen=True, eq=False)
class Weighted(FirstSample):
    """A method of a user with an array among its fields, which JSON cannot hold."""

    weights: Any = None


def test_a_method_with_an_array() -> None:
    study = bough.Study(SPACE, method=Weighted(weights=np.ones(3)), seed=0)
    assert (study.method.name, study.method.options) == ("Weighted", {})
    assert study.ask().number == 0


# ---- studies of version 0.1 ---------------------------------------------------------------------

OLD = [
    (
        "auto",
        {
            "guard": 3,
            "trust": 0,
            "inward": False,
            "growth": 0.1,
            "without": "levels",
            "refit_surprise_sds": 2.0,
        },
    ),
    ("add-tree", {"trust": 2, "growth": 0.2, "acquisition": "ei"}),
    ("gp", {"acquisition": "pi"}),
    ("treed", {"least": 6, "weight": 2.0, "samples": 1, "candidates": 64}),
    ("forest", {"random": 0.5}),
    ("lhs", {"rows": 4}),
    ("conditional", {"growth": 0.5, "samples": 0}),
]


@pytest.mark.parametrize(("name", "options"), OLD)
def test_a_study_stored_with_the_old_option_names_opens(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    text = json.dumps({"name": name, "options": options}, sort_keys=True)
    open_storage(url).create(StudyRecord("s", SPACE.to_json(), "minimize", text, 1), [])
    study = bough.open_study("s", url)
    assert set(study.method.options.values()) == {
        {"ei": "log-ei", "pi": "log-pi"}.get(value, value) if isinstance(value, str) else value
        for option, value in options.items()
        if option not in REMOVED.get(name, ())
    }
    assert not set(REMOVED.get(name, ())) & set(study.method.options)
    assert not set(RENAMED) & set(study.method.options)
    study.tell(study.ask(), 1.0)
    assert bough.Study(SPACE, name="s", storage=url, method=study.method).ask().number == 1


def test_every_renamed_option_is_tried_above() -> None:
    assert set(RENAMED) == {option for _, options in OLD for option in options} & set(RENAMED)
    assert stored_method('{"name": "random"}').options == {}


def test_a_study_that_left_out_a_term_of_the_covariance_that_is_gone_opens(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    text = json.dumps({"name": "auto", "options": {"without": "roughness"}})
    open_storage(url).create(StudyRecord("s", SPACE.to_json(), "minimize", text, 1), [])
    assert bough.open_study("s", url).method == bough.method("auto")
