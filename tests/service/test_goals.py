"""A study with named objectives or constraints is not served yet, and the service says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.errors import StudyError
from bough.service.studies import OpenStudies
from bough.space import Float, Space
from bough.storage import open_storage
from bough.study import Study


def test_the_service_refuses_what_it_cannot_serve(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    space = Space({"x": Float(0, 1)})
    Study(space, name="several", storage=url, method="random", objectives=["a", "b"])
    Study(space, name="one", storage=url, method="random")
    served = OpenStudies(open_storage(url))
    try:
        assert served.open("one").name == "one"
        with pytest.raises(StudyError, match=r"'several' has named objectives.*use it with bough.open_study"):
            served.open("several")
    finally:
        served.close()
